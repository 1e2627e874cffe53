/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Video formats and frames of GStreamer as the pictures that kernels/ measures. */

#ifndef GST_HIP_VMAF_PICTURES_H
#define GST_HIP_VMAF_PICTURES_H

#include <gst/video/video.h>

#include "kernels/common/picture.h"

G_BEGIN_DECLS

#define GST_HIP_VMAF_FORMATS \
    "{ I420, YV12, NV12, NV21, Y42B, Y444, I420_10LE, I420_12LE, I422_10LE, " \
    "I422_12LE, Y444_10LE, Y444_12LE, P010_10LE, P012_LE, P016_LE, GRAY8, GRAY16_LE }"

/* What one CAPS event said; shared by the frames that came with it. Immutable. */
typedef struct
{
  GstVideoInfo info;
  GstVideoInfo luma;            /* of the luma alone, packed */
  HvFormat format;
} GstHipVmafFormat;

/* NULL when the caps are no raw video that can be read. */
GstHipVmafFormat *gst_hip_vmaf_format_new (const GstCaps * caps);
GstHipVmafFormat *gst_hip_vmaf_format_ref (GstHipVmafFormat * format);
void gst_hip_vmaf_format_unref (GstHipVmafFormat * format);

gboolean gst_hip_vmaf_format_is_interlaced (const GstHipVmafFormat * format);

/* Whether frames of the two can be measured against each other. */
gboolean gst_hip_vmaf_format_matches (const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted);

/* Whether both say, differently, what the samples mean: range, matrix or transfer. */
gboolean gst_hip_vmaf_format_colors_differ (const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted);

/* For messages to the user; the caller frees them. */
gchar *gst_hip_vmaf_format_describe (const GstHipVmafFormat * format);
gchar *gst_hip_vmaf_format_describe_colors (const GstHipVmafFormat * format);
/* The elements that make `distorted` match `reference`. */
gchar *gst_hip_vmaf_format_fix (const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted);

/* Maps the buffer for reading; the picture points into the frame, which the caller unmaps. FALSE
 * when the buffer cannot be mapped as this format. A layout that kernels/ cannot read (odd
 * addresses of 16-bit samples, rows from bottom to top) is copied into one that it can. */
gboolean gst_hip_vmaf_picture_map (HvPicture * picture, GstVideoFrame * frame,
    const GstHipVmafFormat * format, GstBuffer * buffer);

/* The same for a buffer that holds the luma alone, laid out as format->luma, words without a shift;
 * the picture has no other planes. */
gboolean gst_hip_vmaf_picture_map_luma (HvPicture * picture,
    GstVideoFrame * frame, const GstHipVmafFormat * format, GstBuffer * buffer);

G_END_DECLS

#endif
