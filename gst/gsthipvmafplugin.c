/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plugin: registers the element. */

#include "gsthipvmaf.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  return gst_element_register (plugin, "hipvmaf", GST_RANK_NONE,
      GST_TYPE_HIP_VMAF);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, hipvmaf,
    "Full-reference video quality (libvmaf's metrics)", plugin_init, VERSION,
    "LGPL", "gst-hipvmaf", "gst-hipvmaf")
