/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of frames that wait for their partners: of the planes that are measured, packed, in memory
 * that is used again, so that the buffers of the upstream elements go back to them at once. */

#ifndef GST_HIP_VMAF_HISTORY_H
#define GST_HIP_VMAF_HISTORY_H

#include "scorer.h"

G_BEGIN_DECLS

typedef struct _GstHipVmafHistory GstHipVmafHistory;

/* Holds at most `max_bytes`; with `luma` the luma alone. The memory is what suits `scorer`, which
 * outlives the history; what was copied may outlive both. For one thread, but for bytes(). */
GstHipVmafHistory *gst_hip_vmaf_history_new (GstHipVmafScorer * scorer,
    guint64 max_bytes, gboolean luma);
void gst_hip_vmaf_history_free (GstHipVmafHistory * history);

/* How many frames of this format fit. */
guint gst_hip_vmaf_history_capacity (GstHipVmafHistory * history,
    const GstHipVmafFormat * format);

/* Whether one more does. */
gboolean gst_hip_vmaf_history_has_room (GstHipVmafHistory * history,
    const GstHipVmafFormat * format);

/* Puts a copy in the place of the frame's buffer. FALSE, with the frame as it was, when there is no
 * room or the buffer cannot be read. */
gboolean gst_hip_vmaf_history_keep (GstHipVmafHistory * history,
    GstHipVmafFrame * frame);

/* The bytes that are allocated now. Any thread. */
guint64 gst_hip_vmaf_history_bytes (GstHipVmafHistory * history);

G_END_DECLS

#endif
