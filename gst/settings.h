/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From the properties to what a run is made of. */

#ifndef GST_HIP_VMAF_SETTINGS_H
#define GST_HIP_VMAF_SETTINGS_H

#include "gsthipvmaf.h"

G_BEGIN_DECLS

/* The models, the metrics that they and the properties ask for, and the results file. FALSE after an
 * element error. What the config holds then is to be cleared in any case. */
gboolean gst_hip_vmaf_settings_read (GstHipVmaf * self,
    GstHipVmafScorerConfig * config);

/* Gives up what the config still holds. */
void gst_hip_vmaf_settings_clear (GstHipVmafScorerConfig * config);

/* The file of metrics, if there is to be one, of the scorer that the element has. FALSE after an
 * element error. */
gboolean gst_hip_vmaf_settings_open_metrics (GstHipVmaf * self);

G_END_DECLS

#endif
