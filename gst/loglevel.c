/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The log-level property: see loglevel.h. */

#include "loglevel.h"

GST_DEBUG_CATEGORY_EXTERN (gst_hip_vmaf_debug);

static const GstDebugLevel thresholds[GST_HIP_VMAF_N_LOG_LEVELS] = {
  [GST_HIP_VMAF_LOG_NONE] = GST_LEVEL_NONE,
  [GST_HIP_VMAF_LOG_ERROR] = GST_LEVEL_ERROR,
  [GST_HIP_VMAF_LOG_WARNING] = GST_LEVEL_WARNING,
  [GST_HIP_VMAF_LOG_INFO] = GST_LEVEL_INFO,
  [GST_HIP_VMAF_LOG_DEBUG] = GST_LEVEL_DEBUG
};

void
gst_hip_vmaf_log_level_change (GstHipVmafLogLevel from, GstHipVmafLogLevel to)
{
  static GMutex lock;
  static guint elements[GST_HIP_VMAF_N_LOG_LEVELS];     /* with a level above NONE */
  GstDebugLevel threshold = GST_LEVEL_NONE;

  if (from == to)
    return;
  g_mutex_lock (&lock);
  if (from != GST_HIP_VMAF_LOG_NONE)
    elements[from]--;
  if (to != GST_HIP_VMAF_LOG_NONE)
    elements[to]++;
  for (guint i = 0; i < GST_HIP_VMAF_N_LOG_LEVELS; i++) {
    if (elements[i] > 0)
      threshold = thresholds[i];
  }
  gst_debug_category_reset_threshold (gst_hip_vmaf_debug);
  if (threshold > gst_debug_category_get_threshold (gst_hip_vmaf_debug))
    gst_debug_category_set_threshold (gst_hip_vmaf_debug, threshold);
  g_mutex_unlock (&lock);
}
