/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Whether a score is too low for too long: its mean over the frames of the last while, against a
 * threshold. Not thread-safe. */

#ifndef GST_HIP_VMAF_ALERT_H
#define GST_HIP_VMAF_ALERT_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstHipVmafAlert GstHipVmafAlert;

/* What was found when the state changed. */
typedef struct
{
  gdouble mean;
  guint frames;
  GstClockTime duration;        /* from the first one's start to the last one's end */
} GstHipVmafAlertFinding;

/* `duration` in nanoseconds; with 0 every frame is judged by itself. */
GstHipVmafAlert *gst_hip_vmaf_alert_new (gdouble below, GstClockTime duration);
void gst_hip_vmaf_alert_free (GstHipVmafAlert * alert);

/* Adds a frame (a score that is not a number is left out). TRUE when the state changed, with what
 * made it so. It changes when the frames of the last `duration` are below the threshold in the
 * mean, or are no longer, but only once that long has passed since the first frame, the last
 * change, a restart, or a pause as long. */
gboolean gst_hip_vmaf_alert_add (GstHipVmafAlert * alert, gint64 time,
    GstClockTime duration, gdouble score, GstHipVmafAlertFinding * finding);

gboolean gst_hip_vmaf_alert_is_raised (const GstHipVmafAlert * alert);

/* What follows has nothing to do with what was; the state stays. */
void gst_hip_vmaf_alert_restart (GstHipVmafAlert * alert);

G_END_DECLS

#endif
