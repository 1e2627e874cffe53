/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Types of the element's properties: see enums.h. */

#include "enums.h"

#include "gpu.h"
#include "results.h"

#include "kernels/common/pool.h"

static GType
get_type (gsize * type, const gchar * name, const GEnumValue * values)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, g_enum_register_static (name, values));
  return *type;
}

/**
 * GstHipVmafBackend:
 * @GST_HIP_VMAF_BACKEND_AUTO: a GPU where there is one and it can, else the CPU
 * @GST_HIP_VMAF_BACKEND_CPU: the CPU
 * @GST_HIP_VMAF_BACKEND_HIP: a GPU, through HIP
 *
 * What measures.
 */
GType
gst_hip_vmaf_backend_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_HIP_VMAF_BACKEND_AUTO,
        "A GPU where there is one and it can, else the CPU", "auto"},
    {GST_HIP_VMAF_BACKEND_CPU, "The CPU", "cpu"},
    {GST_HIP_VMAF_BACKEND_HIP, "A GPU, through HIP", "hip"},
    {0, NULL, NULL}
  };

  return get_type (&type, "GstHipVmafBackend", values);
}

/**
 * GstHipVmafPoolMethod:
 * @HV_POOL_MIN: the least score
 * @HV_POOL_MAX: the greatest score
 * @HV_POOL_MEAN: the arithmetic mean
 * @HV_POOL_HARMONIC: n / sum (1 / (score + 1)) - 1
 *
 * How the scores of all frames become one.
 */
GType
gst_hip_vmaf_pool_method_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {HV_POOL_MIN, "Minimum value", "min"},
    {HV_POOL_MAX, "Maximum value", "max"},
    {HV_POOL_MEAN, "Arithmetic mean", "mean"},
    {HV_POOL_HARMONIC, "Harmonic mean", "harmonic_mean"},
    {0, NULL, NULL}
  };

  return get_type (&type, "GstHipVmafPoolMethod", values);
}

/**
 * GstHipVmafResultsFormat:
 * @GST_HIP_VMAF_RESULTS_NONE: JSON, if there is a file name at all
 * @GST_HIP_VMAF_RESULTS_XML: XML
 * @GST_HIP_VMAF_RESULTS_JSON: JSON
 * @GST_HIP_VMAF_RESULTS_CSV: comma-separated values
 * @GST_HIP_VMAF_RESULTS_SUB: MicroDVD subtitles
 *
 * The layouts of results files, which are libvmaf's.
 */
GType
gst_hip_vmaf_results_format_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_HIP_VMAF_RESULTS_NONE, "None: JSON if there is a file name", "none"},
    {GST_HIP_VMAF_RESULTS_XML, "XML", "xml"},
    {GST_HIP_VMAF_RESULTS_CSV, "Comma-separated values", "csv"},
    {GST_HIP_VMAF_RESULTS_JSON, "JSON", "json"},
    {GST_HIP_VMAF_RESULTS_SUB, "Subtitles (MicroDVD)", "sub"},
    {0, NULL, NULL}
  };

  return get_type (&type, "GstHipVmafResultsFormat", values);
}

/**
 * GstHipVmafLogLevel:
 * @GST_HIP_VMAF_LOG_NONE: only what GST_DEBUG asks for
 * @GST_HIP_VMAF_LOG_ERROR: errors
 * @GST_HIP_VMAF_LOG_WARNING: and warnings
 * @GST_HIP_VMAF_LOG_INFO: and what is worth knowing
 * @GST_HIP_VMAF_LOG_DEBUG: and what helps finding faults
 *
 * What is logged at least.
 */
GType
gst_hip_vmaf_log_level_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_HIP_VMAF_LOG_NONE, "No more than GST_DEBUG asks for", "none"},
    {GST_HIP_VMAF_LOG_ERROR, "Error", "error"},
    {GST_HIP_VMAF_LOG_WARNING, "Warning", "warning"},
    {GST_HIP_VMAF_LOG_INFO, "Info", "info"},
    {GST_HIP_VMAF_LOG_DEBUG, "Debug", "debug"},
    {0, NULL, NULL}
  };

  return get_type (&type, "GstHipVmafLogLevel", values);
}

/**
 * GstHipVmafAlignmentMode:
 * @GST_HIP_VMAF_ALIGNMENT_NONE: by running time
 * @GST_HIP_VMAF_ALIGNMENT_OFFSET: by running time less the offset property
 * @GST_HIP_VMAF_ALIGNMENT_AUTO: by what they show
 *
 * How frames find their partners.
 */
GType
gst_hip_vmaf_alignment_mode_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_HIP_VMAF_ALIGNMENT_NONE, "By running time", "none"},
    {GST_HIP_VMAF_ALIGNMENT_OFFSET,
        "By running time, the distorted stream's less offset", "offset"},
    {GST_HIP_VMAF_ALIGNMENT_AUTO, "By what they show", "auto"},
    {0, NULL, NULL}
  };

  return get_type (&type, "GstHipVmafAlignmentMode", values);
}

/**
 * GstHipVmafLivePolicy:
 * @GST_HIP_VMAF_LIVE_AUTO: skip when live, block otherwise
 * @GST_HIP_VMAF_LIVE_SKIP: leave pairs unscored
 * @GST_HIP_VMAF_LIVE_BLOCK: hold the streams back
 *
 * What is done when measuring cannot keep up.
 */
GType
gst_hip_vmaf_live_policy_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {GST_HIP_VMAF_LIVE_AUTO, "Skip when live, block otherwise", "auto"},
    {GST_HIP_VMAF_LIVE_SKIP, "Leave pairs unscored", "skip"},
    {GST_HIP_VMAF_LIVE_BLOCK, "Hold the streams back", "block"},
    {0, NULL, NULL}
  };

  return get_type (&type, "GstHipVmafLivePolicy", values);
}
