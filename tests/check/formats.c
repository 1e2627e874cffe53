/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every format, layout and stride gives the scores of its samples. */
#include "common.h"

typedef struct
{
  const gchar *format;
  const gchar *plain;           /* the format that has the same luma in the plainest layout */
} Format;

static const Format formats[] = {
  {"I420", "I420"}, {"YV12", "I420"}, {"NV12", "I420"}, {"NV21", "I420"},
  {"Y42B", "I420"}, {"Y444", "I420"}, {"GRAY8", "I420"},
  {"I420_10LE", "I420_10LE"}, {"I422_10LE", "I420_10LE"},
  {"Y444_10LE", "I420_10LE"}, {"P010_10LE", "I420_10LE"},
  {"I420_12LE", "I420_12LE"}, {"I422_12LE", "I420_12LE"},
  {"Y444_12LE", "I420_12LE"}, {"P012_LE", "I420_12LE"},
  {"GRAY16_LE", "GRAY16_LE"}, {"P016_LE", "GRAY16_LE"},
};

static const gint sizes[][2] = { {161, 91}, {64, 48}, {97, 50}, {40, 33} };

typedef struct
{
  const gchar *ref, *dist;
  const gint *size;
  gsize lead;                   /* of the padded layout; 0 with extra 0: GStreamer's own */
  gint extra;
} Layout;

static GstBuffer *
frame (Feed * feed, const Layout * layout, guint number, guint i)
{
  GstBuffer *buffer = layout->lead || layout->extra ?
      picture_new_padded (&feed->info, number, layout->lead, layout->extra) :
      picture_new (&feed->info, number);

  GST_BUFFER_PTS (buffer) = i * FRAME_MS * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = FRAME_MS * GST_MSECOND;
  return buffer;
}

/* Three frames measured in this layout. */
static Rig *
measure (const Layout * layout)
{
  Rig *rig = rig_new ("features", "adm=debug=true", NULL);
  gchar *size = g_strdup_printf ("width=%d, height=%d", layout->size[0],
      layout->size[1]);
  gchar *ref = g_strdup_printf ("format=%s, %s", layout->ref, size);
  gchar *dist = g_strdup_printf ("format=%s, %s", layout->dist, size);

  rig_start (rig);
  feed_begin (&rig->ref, ref);
  feed_begin (&rig->dist, dist);
  for (guint i = 0; i < 3; i++) {
    feed_push (&rig->ref, frame (&rig->ref, layout, 0, i));
    feed_push (&rig->dist, frame (&rig->dist, layout, i + 1, i));
  }
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  g_free (size);
  g_free (ref);
  g_free (dist);
  return rig;
}

static void
expect_same (const Layout * one, const Layout * other)
{
  Rig *a = measure (one), *b = measure (other);

  rig_expect_same_scores (a, b);
  rig_free (a);
  rig_free (b);
}

/* Both streams in the format, and each one alone where the format may differ. */
GST_START_TEST (test_format)
{
  const Format *format = &formats[__i__];
  gboolean same_chroma = g_str_equal (format->plain, "I420") ?
      __i__ < 4 : g_str_has_prefix (format->format, "P01")
      && !g_str_equal (format->format, "P016_LE");

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Layout plain = { format->plain, format->plain, sizes[s], 0, 0 };
    Layout both = { format->format, format->format, sizes[s], 0, 0 };
    Layout ref = { format->format, format->plain, sizes[s], 0, 0 };
    Layout dist = { format->plain, format->format, sizes[s], 0, 0 };
    expect_same (&plain, &both);
    if (same_chroma) {
      expect_same (&plain, &ref);
      expect_same (&plain, &dist);
    }
  }
}

GST_END_TEST;

/* Offsets and strides that are odd for bytes, and odd numbers of words for words. */
GST_START_TEST (test_padded)
{
  const gchar *name = formats[__i__].format;
  gboolean bytes = g_str_equal (formats[__i__].plain, "I420");
  gsize lead = bytes ? 3 : 6;
  gint extra = bytes ? 7 : 14;

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Layout plain = { name, name, sizes[s], 0, 0 };
    Layout padded = { name, name, sizes[s], lead, extra };
    expect_same (&plain, &padded);
  }
}

GST_END_TEST;

/* Words at odd addresses, which not every processor can read: under the sanitizers this fails if
 * they are read there, without vectors. */
GST_START_TEST (test_odd_addresses)
{
  const gchar *name = formats[__i__].format;

  g_setenv ("HIPVMAF_CPU_LEVEL", "baseline", TRUE);
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Layout plain = { name, name, sizes[s], 0, 0 };
    Layout odd_plane = { name, name, sizes[s], 3, 14 };
    Layout odd_rows = { name, name, sizes[s], 6, 7 };

    expect_same (&plain, &odd_plane);
    expect_same (&plain, &odd_rows);
  }
}

GST_END_TEST;

/* The distorted samples count: the reference against itself is perfect, and only that. */
GST_START_TEST (test_identical)
{
  Rig *rig = rig_new (NULL);
  gdouble score;

  rig_start_streams (rig, "format=I420");
  rig->dist.picture = 0;
  rig_play (rig, "0 40 80", "0 40 80");
  for (guint i = 0; i < 3; i++) {
    fail_unless (gst_structure_get_double (rig_score (rig, FRAME_MESSAGE, i),
            "integer_adm2", &score));
    if (i == 0)
      fail_unless (score > 0.9999 && score < 1.0001, "%.17g", score);
    else
      fail_unless (score > 0.1 && score < 0.9999, "%.17g", score);
  }
  rig_free (rig);
}

GST_END_TEST;

static gboolean
has_format (GstCaps * caps, const gchar * format)
{
  GstCaps *wanted = gst_caps_new_simple ("video/x-raw", "format",
      G_TYPE_STRING, format, NULL);
  gboolean has = gst_caps_can_intersect (caps, wanted);

  gst_caps_unref (wanted);
  return has;
}

/* The templates list these formats, all sizes and nothing else. */
GST_START_TEST (test_templates)
{
  static const gchar *pads[] = { "ref_sink", "dist_sink", "src" };
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);

  gst_object_ref_sink (element);
  for (guint p = 0; p < G_N_ELEMENTS (pads); p++) {
    GstPad *pad = gst_element_get_static_pad (element, pads[p]);
    GstCaps *caps = gst_pad_get_pad_template_caps (pad);
    GstCaps *tiny = gst_caps_from_string
        ("video/x-raw,format=I420,width=1,height=1,framerate=0/1");
    for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
      fail_unless (has_format (caps, formats[f].format), "%s on %s",
          formats[f].format, pads[p]);
    fail_if (has_format (caps, "RGB"));
    fail_if (has_format (caps, "YUY2"));
    fail_if (has_format (caps, "I420_10BE"));
    fail_unless (gst_caps_can_intersect (caps, tiny));
    gst_caps_unref (tiny);
    gst_caps_unref (caps);
    gst_object_unref (pad);
  }
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
formats_suite (void)
{
  Suite *suite = suite_create ("formats");
  TCase *tests = leak_checked_case (suite, "formats");

  tcase_add_test (tests, test_templates);
  tcase_add_test (tests, test_identical);
  tcase_add_loop_test (tests, test_format, 0, G_N_ELEMENTS (formats));
  tcase_add_loop_test (tests, test_padded, 0, G_N_ELEMENTS (formats));
  tcase_add_loop_test (tests, test_odd_addresses, 0, G_N_ELEMENTS (formats));
  return suite;
}

GST_CHECK_MAIN (formats);
