/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Types of the element's properties. Numbers and nicks are those of GStreamer's vmaf element, whose
 * numbers are libvmaf's. */

#ifndef GST_HIP_VMAF_ENUMS_H
#define GST_HIP_VMAF_ENUMS_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_HIP_VMAF_LOG_NONE,
  GST_HIP_VMAF_LOG_ERROR,
  GST_HIP_VMAF_LOG_WARNING,
  GST_HIP_VMAF_LOG_INFO,
  GST_HIP_VMAF_LOG_DEBUG
} GstHipVmafLogLevel;

#define GST_HIP_VMAF_N_LOG_LEVELS (GST_HIP_VMAF_LOG_DEBUG + 1)

typedef enum
{
  GST_HIP_VMAF_ALIGNMENT_NONE,
  GST_HIP_VMAF_ALIGNMENT_OFFSET,
  GST_HIP_VMAF_ALIGNMENT_AUTO
} GstHipVmafAlignmentMode;

typedef enum
{
  GST_HIP_VMAF_LIVE_AUTO,
  GST_HIP_VMAF_LIVE_SKIP,
  GST_HIP_VMAF_LIVE_BLOCK
} GstHipVmafLivePolicy;

/* Of GstHipVmafBackend, HvPoolMethod, GstHipVmafResultsFormat, GstHipVmafLogLevel and
 * GstHipVmafAlignmentMode. */
#define GST_TYPE_HIP_VMAF_BACKEND (gst_hip_vmaf_backend_get_type ())
GType gst_hip_vmaf_backend_get_type (void);
#define GST_TYPE_HIP_VMAF_POOL_METHOD (gst_hip_vmaf_pool_method_get_type ())
GType gst_hip_vmaf_pool_method_get_type (void);
#define GST_TYPE_HIP_VMAF_RESULTS_FORMAT (gst_hip_vmaf_results_format_get_type ())
GType gst_hip_vmaf_results_format_get_type (void);
#define GST_TYPE_HIP_VMAF_LOG_LEVEL (gst_hip_vmaf_log_level_get_type ())
GType gst_hip_vmaf_log_level_get_type (void);
#define GST_TYPE_HIP_VMAF_ALIGNMENT_MODE \
    (gst_hip_vmaf_alignment_mode_get_type ())
GType gst_hip_vmaf_alignment_mode_get_type (void);
#define GST_TYPE_HIP_VMAF_LIVE_POLICY (gst_hip_vmaf_live_policy_get_type ())
GType gst_hip_vmaf_live_policy_get_type (void);

G_END_DECLS

#endif
