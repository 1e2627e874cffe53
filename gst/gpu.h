/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The choice of what measures, as a run of the element starts. */

#ifndef GST_HIP_VMAF_GPU_H
#define GST_HIP_VMAF_GPU_H

#include <gst/gst.h>

#include "kernels/hip/hip.h"

G_BEGIN_DECLS

typedef enum
{
  GST_HIP_VMAF_BACKEND_AUTO,
  GST_HIP_VMAF_BACKEND_CPU,
  GST_HIP_VMAF_BACKEND_HIP
} GstHipVmafBackend;

typedef struct
{
  HvHip *hip;                   /* NULL: the CPU measures everything */
  gboolean required;            /* the CPU is not to take over */
  gchar *status;                /* why there is no GPU, or that it is used; for `stats` */
} GstHipVmafGpu;

/* Opens the device where `backend` asks for one, and sets on_gpu of every HvFeature in `features`.
 * Reads VMAF_HIP_DISPATCH and HIPVMAF_RUNTIME. FALSE after an element error. */
gboolean gst_hip_vmaf_gpu_open (GstHipVmafGpu * gpu, GstElement * element,
    GstHipVmafBackend backend, gint device_id, GPtrArray * features);
void gst_hip_vmaf_gpu_clear (GstHipVmafGpu * gpu);

/* How many of the features are measured on the GPU. */
guint gst_hip_vmaf_gpu_count (GPtrArray * features);

G_END_DECLS

#endif
