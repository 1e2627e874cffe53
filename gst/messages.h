/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The structures that the element shows the application: "VMAF" in element messages, laid out as
 * those of GStreamer's vmaf element, and the `stats` property. */

#ifndef GST_HIP_VMAF_MESSAGES_H
#define GST_HIP_VMAF_MESSAGES_H

#include <gst/gst.h>

#include "kernels/common/aggregates.h"
#include "kernels/common/pool.h"

G_BEGIN_DECLS

typedef struct
{
  GstClockTime timestamp, stream_time, running_time, duration;
} GstHipVmafTimes;

typedef enum
{
  GST_HIP_VMAF_ALERT_NONE,      /* is not asked for */
  GST_HIP_VMAF_ALERT_CLEAR,
  GST_HIP_VMAF_ALERT_RAISED
} GstHipVmafAlertState;

typedef enum
{
  GST_HIP_VMAF_PAIRED_UNKNOWN,  /* nobody looks: not live */
  GST_HIP_VMAF_PAIRED_YES,
  GST_HIP_VMAF_PAIRED_NO
} GstHipVmafPairedState;

typedef struct
{
  guint64 pairs;                /* frames that found their partner */
  guint64 frames[2];            /* taken from each pad, by GstHipVmafSide */
  guint64 unpaired[2];          /* of those, without a partner */
  guint64 flushed;              /* pairs dropped by a flush */
  guint64 skipped;              /* pairs that measuring could not keep up with */
  guint64 failed;               /* pairs that could not be measured */
  guint64 scored;               /* pairs with scores */
  gdouble fps;                  /* scored pairs per second of wall time */
  const gchar *backend, *device, *target;
  const gchar *platform;        /* of the GPU: "amd", "nvidia"; "" on the CPU */
  gchar *gpu_status;            /* what became of the GPU; the caller's, or NULL */
  GstStructure *placement;      /* each metric's backend; the caller's, or NULL */
  guint slots;                  /* on the GPU */
  guint64 device_memory;        /* bytes, in all slots and what they share */
  guint threads;
  gint64 scored_utc;            /* when the last score came: microseconds since 1970, or 0 */
  GstStructure *interval;       /* message of the last interval; the caller's, or NULL */
  GstHipVmafAlertState alert;
  GstHipVmafPairedState paired; /* whether the streams find partners in each other */
  gboolean aligned;             /* by what frames show, since an offset is known; and then: */
  gint64 offset;                /* ns, positive where the distorted stream is late */
  gdouble confidence;           /* see alignment.h */
  guint64 repeated;             /* distorted frames that show again what was shown before */
  guint64 repeated_pairs;       /* pairs whose reference frame was in the pair before */
  guint64 dropped;              /* reference frames that were never shown, though later ones were */
} GstHipVmafStats;

/* Frees what is the caller's. */
void gst_hip_vmaf_stats_clear (GstHipVmafStats * stats);

/* scores[i] goes under names[i]; `timecode` may be NULL; `utc` in microseconds since 1970, 0 to
 * leave it out. The caller owns what is returned. */
GstStructure *gst_hip_vmaf_message_frame (const GstHipVmafTimes * times,
    gint index, const gchar * const *names, const gdouble * scores, guint n,
    const gchar * timecode, gint64 utc);

GstStructure *gst_hip_vmaf_message_pooled (const GstHipVmafTimes * times,
    const HvPool * pool, HvAggregates * aggregates, HvPoolMethod method);

/* The pool keeps its values; `utc` as above, of the first frame. */
GstStructure *gst_hip_vmaf_message_interval (const GstHipVmafTimes * times,
    guint64 frames, gint64 utc, HvPool * pool);

/* The mean of the score of that name is below `below`, or no longer; `utc` as above, of the last
 * frame. */
GstStructure *gst_hip_vmaf_message_alert (const GstHipVmafTimes * times,
    gboolean raised, const gchar * name, gdouble mean, gdouble below,
    guint frames, gint64 utc);

/* No frames have found partners for `lasted`, and `silent` says which pads brought none; or they do
 * again, after `lasted`. `running_time` is the pipeline's. */
GstStructure *gst_hip_vmaf_message_unpaired (GstClockTime running_time,
    GstClockTime lasted, const gchar * silent);
GstStructure *gst_hip_vmaf_message_paired (GstClockTime running_time,
    GstClockTime lasted);

GstStructure *gst_hip_vmaf_message_stats (const GstHipVmafStats * stats);

G_END_DECLS

#endif
