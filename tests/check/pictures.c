/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Test pictures from formulas, in every layout. */
#include "common.h"

static guint32
mix (guint32 value)
{
  value = (value ^ (value >> 16)) * 0x7feb352du;
  value = (value ^ (value >> 15)) * 0x846ca68bu;
  return value ^ (value >> 16);
}

static gint
triangle (gint position, gint period)
{
  gint phase = position % period;
  return 2 * phase < period ? phase : period - phase;
}

/* A 16-bit sample: waves and a little grain, and for the distorted ones noise on top. */
static guint
sample (guint number, guint component, gint x, gint y)
{
  guint32 place = mix (component * 0x10001u + (guint) y * 4099u + (guint) x);
  gint value = 0x3000 + triangle (x + y / 3, 23) * 0xa00 +
      triangle (y + component * 5, 31) * 0x500 + (gint) (place & 0x3ff);

  if (number > 0) {
    gint noise = (gint) (mix (place + number * 0x9e3779b9u) & 0xff) - 128;
    value += noise * (gint) (8 + 2 * (number % 16));
  }
  return (guint) CLAMP (value, 0, 0xffff);
}

/* GStreamer says 1, in samples, for where V is in P010 and its kin; it means 2 bytes. */
static guint8 *
first_sample (GstVideoFrame * frame, guint component)
{
  if (component == 2 && GST_VIDEO_FRAME_N_PLANES (frame) == 2
      && GST_VIDEO_FRAME_COMP_DEPTH (frame, 2) > 8)
    return (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, 1) + 2;
  return GST_VIDEO_FRAME_COMP_DATA (frame, component);
}

static void
paint_component (GstVideoFrame * frame, guint number, guint component)
{
  guint depth = GST_VIDEO_FRAME_COMP_DEPTH (frame, component);
  guint shift = frame->info.finfo->shift[component];
  gint stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, component);
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component);
  guint8 *row = first_sample (frame, component);

  for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (frame, component); y++) {
    for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (frame, component); x++) {
      guint value = (sample (number, component, x, y) >> (16 - depth)) << shift;

      /* By bytes: a word may be at an odd address. */
      row[x * step] = value & 0xff;
      if (depth > 8)
        row[x * step + 1] = value >> 8;
    }
    row += stride;
  }
}

static void
paint (GstBuffer * buffer, const GstVideoInfo * info, guint number)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
    paint_component (&frame, number, c);
  gst_video_frame_unmap (&frame);
}

GstBuffer *
picture_new (const GstVideoInfo * info, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);

  gst_buffer_memset (buffer, 0, 0xa5, info->size);
  paint (buffer, info, number);
  return buffer;
}

GstBuffer *
picture_new_padded (const GstVideoInfo * info, guint number, gsize lead,
    gint extra)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0, }, size = 0;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0, };
  GstBuffer *buffer;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    gint component[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component (info->finfo, p, component);
    offset[p] = size + lead;
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE (info, p) + extra;
    size = offset[p] + (gsize) stride[p] *
        GST_VIDEO_INFO_COMP_HEIGHT (info, component[0]);
  }
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, 0x5a, size);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info), offset,
      stride);
  paint (buffer, info, number);
  return buffer;
}

GstCaps *
video_caps (const gchar * fields)
{
  gchar *text = g_strdup_printf ("x, %s", fields);
  GstStructure *given = gst_structure_from_string (text, NULL);
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      "I420", "width", G_TYPE_INT, WIDTH, "height", G_TYPE_INT, HEIGHT,
      "framerate", GST_TYPE_FRACTION, 25, 1, NULL);

  fail_unless (given != NULL, "unreadable caps fields: %s", fields);
  for (gint i = 0; i < gst_structure_n_fields (given); i++) {
    const gchar *name = gst_structure_nth_field_name (given, i);
    gst_caps_set_value (caps, name, gst_structure_get_value (given, name));
  }
  gst_structure_free (given);
  g_free (text);
  return caps;
}
