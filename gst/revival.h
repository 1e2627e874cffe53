/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GPU that failed is tried again, on a thread of its own: its driver may never return. */

#ifndef GST_HIP_VMAF_REVIVAL_H
#define GST_HIP_VMAF_REVIVAL_H

#include "gpu.h"

G_BEGIN_DECLS

typedef struct _GstHipVmafRevival GstHipVmafRevival;

/* Opens the device every settings->retry nanoseconds, for the first time when that is over, until it
 * does something. NULL where there is no thread to be had. */
GstHipVmafRevival *gst_hip_vmaf_revival_new (const GstHipVmafGpuSettings *
    settings);

/* The device, once, and the caller's; NULL before and after. From any thread; waits for nothing. */
HvHip *gst_hip_vmaf_revival_take (GstHipVmafRevival * revival);

/* Waits for nothing. Nothing for NULL. */
void gst_hip_vmaf_revival_free (GstHipVmafRevival * revival);

G_END_DECLS

#endif
