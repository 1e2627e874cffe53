/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Formats and frames: see pictures.h. */

#include "pictures.h"

GstHipVmafFormat *
gst_hip_vmaf_format_new (const GstCaps * caps)
{
  GstHipVmafFormat *self = g_atomic_rc_box_new0 (GstHipVmafFormat);
  const GstVideoFormatInfo *finfo;

  if (!gst_video_info_from_caps (&self->info, caps)) {
    gst_hip_vmaf_format_unref (self);
    return NULL;
  }
  finfo = self->info.finfo;
  self->format.width = GST_VIDEO_INFO_WIDTH (&self->info);
  self->format.height = GST_VIDEO_INFO_HEIGHT (&self->info);
  self->format.depth = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0);
  self->format.n_planes = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo);
  if (self->format.n_planes > 1) {
    self->format.chroma_shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (finfo, 1);
    self->format.chroma_shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (finfo, 1);
  }
  gst_video_info_set_format (&self->luma, self->format.depth > 8 ?
      GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8, self->format.width,
      self->format.height);
  return self;
}

GstHipVmafFormat *
gst_hip_vmaf_format_ref (GstHipVmafFormat * format)
{
  return g_atomic_rc_box_acquire (format);
}

void
gst_hip_vmaf_format_unref (GstHipVmafFormat * format)
{
  g_atomic_rc_box_release (format);
}

gboolean
gst_hip_vmaf_format_is_interlaced (const GstHipVmafFormat * format)
{
  return GST_VIDEO_INFO_IS_INTERLACED (&format->info);
}

static gboolean
sampling_matches (const HvFormat * a, const HvFormat * b)
{
  return a->width == b->width && a->height == b->height
      && a->depth == b->depth && a->n_planes == b->n_planes
      && a->chroma_shift_x == b->chroma_shift_x
      && a->chroma_shift_y == b->chroma_shift_y;
}

static gboolean
fields_match (const GstVideoInfo * a, const GstVideoInfo * b)
{
  if (GST_VIDEO_INFO_INTERLACE_MODE (a) != GST_VIDEO_INFO_INTERLACE_MODE (b))
    return FALSE;
  return !GST_VIDEO_INFO_IS_INTERLACED (a)
      || GST_VIDEO_INFO_FIELD_ORDER (a) == GST_VIDEO_INFO_FIELD_ORDER (b);
}

gboolean
gst_hip_vmaf_format_matches (const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted)
{
  return reference == distorted
      || (sampling_matches (&reference->format, &distorted->format)
      && fields_match (&reference->info, &distorted->info));
}

gboolean
gst_hip_vmaf_format_colors_differ (const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted)
{
  const GstVideoColorimetry *a = &reference->info.colorimetry;
  const GstVideoColorimetry *b = &distorted->info.colorimetry;

  return (a->range && b->range && a->range != b->range)
      || (a->matrix && b->matrix && a->matrix != b->matrix)
      || (a->transfer && b->transfer
      && !gst_video_transfer_function_is_equivalent (a->transfer,
          reference->format.depth, b->transfer, distorted->format.depth));
}

static const gchar *
sampling_name (const HvFormat * format)
{
  if (format->n_planes == 1)
    return "luma only";
  if (format->chroma_shift_x && format->chroma_shift_y)
    return "4:2:0";
  return format->chroma_shift_x ? "4:2:2" : "4:4:4";
}

gchar *
gst_hip_vmaf_format_describe (const GstHipVmafFormat * format)
{
  const GstVideoInfo *info = &format->info;
  const gchar *mode =
      gst_video_interlace_mode_to_string (GST_VIDEO_INFO_INTERLACE_MODE (info));
  const gchar *order = NULL;

  if (GST_VIDEO_INFO_IS_INTERLACED (info))
    order = gst_video_field_order_to_string (GST_VIDEO_INFO_FIELD_ORDER (info));
  return g_strdup_printf ("%s %ux%u (%s, %u bits, %s%s%s)",
      GST_VIDEO_INFO_NAME (info), format->format.width, format->format.height,
      sampling_name (&format->format), format->format.depth, mode,
      order != NULL ? " " : "", order != NULL ? order : "");
}

gchar *
gst_hip_vmaf_format_describe_colors (const GstHipVmafFormat * format)
{
  gchar *text = gst_video_colorimetry_to_string (&format->info.colorimetry);

  return text != NULL ? text : g_strdup ("unknown");
}

gchar *
gst_hip_vmaf_format_fix (const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted)
{
  const gchar *fields = "";

  if (!fields_match (&reference->info, &distorted->info))
    fields = GST_VIDEO_INFO_IS_INTERLACED (&reference->info) ?
        "deinterlace (on both branches) ! " : "deinterlace ! ";
  return g_strdup_printf ("%svideoconvert ! videoscale ! "
      "video/x-raw,format=%s,width=%u,height=%u", fields,
      GST_VIDEO_INFO_NAME (&reference->info), reference->format.width,
      reference->format.height);
}

/* GStreamer 1.22 says that V of P010, P012 and P016 is one byte after U. It is one word after it. */
static guint
sample_offset (const GstVideoFrame * frame, guint component)
{
  guint offset = GST_VIDEO_FRAME_COMP_POFFSET (frame, component);

  return GST_VIDEO_FRAME_COMP_DEPTH (frame, component) > 8 ?
      GST_ROUND_UP_2 (offset) : offset;
}

static void
fill_planes (HvPicture * picture, const GstVideoFrame * frame)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    HvPlane *plane = &picture->plane[c];

    plane->data = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame,
        GST_VIDEO_FRAME_COMP_PLANE (frame, c)) + sample_offset (frame, c);
    plane->stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, c);
    plane->step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
    plane->shift = GST_VIDEO_FORMAT_INFO_SHIFT (frame->info.finfo, c);
  }
}

static gboolean
planes_are_readable (const HvPicture * picture, const HvFormat * format)
{
  guint bytes = hv_format_sample_bytes (format);

  for (guint i = 0; i < format->n_planes; i++) {
    const HvPlane *plane = &picture->plane[i];
    ptrdiff_t row = (ptrdiff_t) (hv_format_plane_width (format, i) - 1)
        * plane->step + bytes;

    if (plane->stride < row)
      return FALSE;
    if (bytes == 2 && (((guintptr) plane->data | plane->stride) & 1) != 0)
      return FALSE;
  }
  return TRUE;
}

/* Replaces the mapped frame by a copy in GStreamer's default layout. */
static gboolean
copy_frame (GstVideoFrame * frame, const GstVideoInfo * info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame copy;
  gboolean done;

  if (buffer == NULL) {
    gst_video_frame_unmap (frame);
    return FALSE;
  }
  done = gst_video_frame_map (&copy, info, buffer, GST_MAP_WRITE);
  if (done) {
    done = gst_video_frame_copy (&copy, frame);
    gst_video_frame_unmap (&copy);
  }
  gst_video_frame_unmap (frame);
  done = done && gst_video_frame_map (frame, info, buffer, GST_MAP_READ);
  gst_buffer_unref (buffer);
  return done;
}

gboolean
gst_hip_vmaf_picture_map (HvPicture * picture, GstVideoFrame * frame,
    const GstHipVmafFormat * format, GstBuffer * buffer)
{
  if (!gst_video_frame_map (frame, &format->info, buffer, GST_MAP_READ))
    return FALSE;
  if ((guint) GST_VIDEO_FRAME_WIDTH (frame) != format->format.width
      || (guint) GST_VIDEO_FRAME_HEIGHT (frame) != format->format.height
      || GST_VIDEO_FRAME_FORMAT (frame) !=
      GST_VIDEO_INFO_FORMAT (&format->info)) {
    gst_video_frame_unmap (frame);
    return FALSE;
  }
  fill_planes (picture, frame);
  if (planes_are_readable (picture, &format->format))
    return TRUE;
  if (!copy_frame (frame, &format->info))
    return FALSE;
  fill_planes (picture, frame);
  return TRUE;
}

gboolean
gst_hip_vmaf_picture_map_luma (HvPicture * picture, GstVideoFrame * frame,
    const GstHipVmafFormat * format, GstBuffer * buffer)
{
  if (!gst_video_frame_map (frame, &format->luma, buffer, GST_MAP_READ))
    return FALSE;
  fill_planes (picture, frame);
  return TRUE;
}
