/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The scores of one stretch of running time, from k * length up to (k + 1) * length, and then of
 * the next. Not thread-safe. */

#ifndef GST_HIP_VMAF_INTERVAL_H
#define GST_HIP_VMAF_INTERVAL_H

#include "messages.h"

G_BEGIN_DECLS

typedef struct _GstHipVmafInterval GstHipVmafInterval;

/* `length` in nanoseconds, not 0. */
GstHipVmafInterval *gst_hip_vmaf_interval_new (GstClockTime length);
void gst_hip_vmaf_interval_free (GstHipVmafInterval * interval);

/* Adds a frame's scores: scores[i] has names[i]; `time` is its running time, also where that is
 * negative. When it does not belong to the window of the frames before, or that one is full, this
 * ends it and returns its message, the caller's; else NULL. A window takes 8 bytes for each score
 * of each frame, of 2^20 frames at most. */
GstStructure *gst_hip_vmaf_interval_add (GstHipVmafInterval * interval,
    const GstHipVmafTimes * times, gint64 time, gint64 utc,
    const gchar * const *names, const gdouble * scores, guint n);

/* Ends the window early; NULL where no frame is in it. */
GstStructure *gst_hip_vmaf_interval_end (GstHipVmafInterval * interval);

G_END_DECLS

#endif
