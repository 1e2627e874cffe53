/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The log-level property: how much the plugin's debug category logs at least. There is one category
 * for all elements of the process, so the most talkative one decides. */

#ifndef GST_HIP_VMAF_LOG_LEVEL_H
#define GST_HIP_VMAF_LOG_LEVEL_H

#include "enums.h"

G_BEGIN_DECLS

/* An element's level becomes `to`; it was `from`, NONE at first and again at last. What GST_DEBUG
 * asks for beyond that stays. From any thread. */
void gst_hip_vmaf_log_level_change (GstHipVmafLogLevel from,
    GstHipVmafLogLevel to);

G_END_DECLS

#endif
