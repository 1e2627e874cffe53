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

/* As the properties say it. */
typedef struct
{
  GstHipVmafBackend backend;
  gint device_id;
  GstClockTime timeout;         /* of one answer of the device's; 0: none */
  GstClockTime retry;           /* after a failure; 0: never */
} GstHipVmafGpuSettings;

typedef struct
{
  GstHipVmafGpuSettings settings;
  HvHip *hip;                   /* NULL: the CPU measures everything */
  gboolean required;            /* the CPU is not to take over */
  gchar *status;                /* why there is no GPU, or that it is used; for `stats` */
} GstHipVmafGpu;

/* Opens the device where the settings ask for one, and sets on_gpu of every HvFeature in `features`.
 * Reads VMAF_HIP_DISPATCH and HIPVMAF_RUNTIME. FALSE after an element error. */
gboolean gst_hip_vmaf_gpu_open (GstHipVmafGpu * gpu, GstElement * element,
    const GstHipVmafGpuSettings * settings, GPtrArray * features);
void gst_hip_vmaf_gpu_clear (GstHipVmafGpu * gpu);

/* The device alone, with its timeout; the caller's. NULL and an error. */
HvHip *gst_hip_vmaf_gpu_open_device (const GstHipVmafGpuSettings * settings,
    GError ** error);

/* How many of the features are measured on the GPU. */
guint gst_hip_vmaf_gpu_count (GPtrArray * features);

G_END_DECLS

#endif
