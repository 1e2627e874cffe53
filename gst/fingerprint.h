/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a picture looks like, in little: enough to tell frames apart, cheap to make and to compare. */

#ifndef GST_HIP_VMAF_FINGERPRINT_H
#define GST_HIP_VMAF_FINGERPRINT_H

#include <glib.h>

#include "kernels/common/picture.h"

G_BEGIN_DECLS

#define GST_HIP_VMAF_FINGERPRINT_COLUMNS 48
#define GST_HIP_VMAF_FINGERPRINT_ROWS 27
#define GST_HIP_VMAF_FINGERPRINT_CELLS \
    (GST_HIP_VMAF_FINGERPRINT_COLUMNS * GST_HIP_VMAF_FINGERPRINT_ROWS)

/* Means of the luma over a grid, less their mean, over their standard deviation: a change of
 * brightness or contrast changes nothing. */
typedef struct
{
  gint16 cell[GST_HIP_VMAF_FINGERPRINT_CELLS];  /* times 1024; 0 where pictures are smaller */
  guint n_cells;
  gfloat contrast;              /* the standard deviation, in steps of 8 bits */
} GstHipVmafFingerprint;

/* Of the picture's luma. Reads a few rows of each cell. */
void gst_hip_vmaf_fingerprint (GstHipVmafFingerprint * print,
    const HvPlane * luma, const HvFormat * format);

/* How far they are from each other: the mean of absolute differences, in steps of 8 bits at the higher
 * contrast of the two. */
gfloat gst_hip_vmaf_fingerprint_distance (const GstHipVmafFingerprint * print,
    const GstHipVmafFingerprint * other);

/* How many cells make up that distance: where they are few, chance does. */
gfloat gst_hip_vmaf_fingerprint_spread (const GstHipVmafFingerprint * print,
    const GstHipVmafFingerprint * other);

G_END_DECLS

#endif
