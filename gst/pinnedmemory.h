/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory that the GPU copies from without a detour, for buffers of the upstream elements. */

#ifndef GST_HIP_VMAF_PINNED_MEMORY_H
#define GST_HIP_VMAF_PINNED_MEMORY_H

#include <gst/gst.h>

#include "kernels/hip/hip.h"

G_BEGIN_DECLS

/* An allocator of pinned memory; ordinary memory where the runtime grants none, so that a stream
 * never fails for it. Any thread may use it; what it allocated may outlive it. */
GstAllocator *gst_hip_vmaf_pinned_allocator_new (HvHip * hip);

G_END_DECLS

#endif
