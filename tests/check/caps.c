/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the caps of the two streams may be, what must match, and what comes of a mismatch. */
#include "common.h"

typedef struct
{
  const gchar *ref, *dist;
  const gchar *words[8];        /* of the error, NULL-terminated */
} Mismatch;

#define FIX "videoconvert ! videoscale ! video/x-raw,format="

static const Mismatch mismatches[] = {
  {"width=64, height=48", "width=96, height=64", {"64x48", "96x64",
          FIX "I420,width=64,height=48"}},
  {"width=64, height=48", "width=80, height=48", {"64x48", "80x48",
          FIX "I420,width=64,height=48"}},
  {"width=64, height=48", "width=64, height=50", {"64x48", "64x50",
          FIX "I420,width=64,height=48"}},
  {"format=I420", "format=Y444", {"I420", "Y444",
          FIX "I420,width=64,height=48"}},
  {"format=NV12", "format=GRAY8", {"NV12", "GRAY8",
          FIX "NV12,width=64,height=48"}},
  {"format=Y42B", "format=I420", {"Y42B", "I420",
          FIX "Y42B,width=64,height=48"}},
  {"format=I420", "format=I420_10LE", {"I420_10LE",
          FIX "I420,width=64,height=48"}},
  {"format=P010_10LE", "format=NV12", {"NV12",
          FIX "P010_10LE,width=64,height=48"}},
  {"format=P016_LE", "format=P010_10LE", {"P010_10LE",
          FIX "P016_LE,width=64,height=48"}},
  {"interlace-mode=progressive", "interlace-mode=interleaved",
      {"progressive", "interleaved"}},
  {"interlace-mode=interleaved, field-order=top-field-first",
        "interlace-mode=interleaved, field-order=bottom-field-first",
      {"top-field-first", "bottom-field-first"}},
};

/* At the first pair it is an error that names both and says how to get on. */
GST_START_TEST (test_mismatch)
{
  const Mismatch *test = &mismatches[__i__];
  Rig *rig = rig_new (NULL);

  rig_start (rig);
  feed_begin (&rig->ref, test->ref);
  feed_begin (&rig->dist, test->dist);
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, ERROR_MESSAGE, 1);
  rig_expect_text (rig, ERROR_MESSAGE, test->words);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Below 16 samples a side nothing is measured; 16 are enough. */
GST_START_TEST (test_too_small)
{
  static const gchar *small[] = { "width=15, height=48",
    "width=64, height=15", "width=1, height=1"
  };
  static const gchar *named[] = { "15x48", "64x15", "1x1" };
  const gchar *words[] = { named[__i__], "16x16", NULL };
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, small[__i__]);
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, ERROR_MESSAGE, 1);
  rig_expect_text (rig, ERROR_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_smallest)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "width=16, height=16");
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  rig_free (rig);
}

GST_END_TEST;

static void
change_caps (Rig * rig, const gchar * fields)
{
  feed_caps (&rig->ref, fields);
  feed_caps (&rig->dist, fields);
}

/* ... and in mid-stream, where such frames pass unmeasured, and one warning says it all. */
GST_START_TEST (test_too_small_later)
{
  const gchar *words[] = { "16x16 up, not 8x8. Such frames", NULL };
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  change_caps (rig, "width=8, height=8");
  feed_script (&rig->ref, "80 120");
  feed_script (&rig->dist, "80 120");
  change_caps (rig, "format=I420");
  rig_play (rig, "160", "160");
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_expect_stats (rig, "pairs=5 scored=3 failed=2");
  rig_free (rig);
}

GST_END_TEST;

/* Both change in mid-stream: a new meter, indices that go on, the scores of a stream that was
 * so from its start, one pooled message. */
GST_START_TEST (test_change_of_both)
{
  Rig *rig = rig_new (NULL), *alone = rig_new (NULL);
  gint index;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  change_caps (rig, "format=I420_10LE, width=96, height=66");
  rig_play (rig, "80 120 160", "80 120 160");
  rig_start_streams (alone, "format=I420_10LE, width=96, height=66");
  alone->dist.picture = 3;
  rig_play (alone, "80 120 160", "80 120 160");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 5);
  for (guint i = 0; i < 5; i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    gdouble here, there;
    fail_unless (gst_structure_get_int (message, "index", &index));
    fail_unless_equals_int (index, i);
    if (i < 2)
      continue;
    gst_structure_get_double (message, "integer_adm2", &here);
    gst_structure_get_double (rig_score (alone, FRAME_MESSAGE, i - 2),
        "integer_adm2", &there);
    fail_unless (here == there, "%.17g and %.17g", here, there);
  }
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  rig_expect_story (rig, "stream-start caps segment 0 40 caps 80 120 160 eos");
  rig_free (rig);
  rig_free (alone);
}

GST_END_TEST;

/* Frames are compared with the caps that each came with: one stream that changes two frames
 * late loses those two, with one WARNING, and no more. */
GST_START_TEST (test_change_apart)
{
  Rig *rig = rig_new (NULL);
  gint index;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_caps (&rig->ref, "width=96, height=64");
  feed_script (&rig->dist, "0 40 80 120");
  feed_caps (&rig->dist, "width=96, height=64");
  rig_play (rig, "80 120 160 200", "160 200");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 4);
  for (guint i = 0; i < 4; i++) {
    static const guint times[] = { 0, 40, 160, 200 };
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    guint64 timestamp;
    fail_unless (gst_structure_get_int (message, "index", &index));
    fail_unless_equals_int (index, i);
    fail_unless (gst_structure_get_uint64 (message, "timestamp", &timestamp));
    fail_unless_equals_uint64 (timestamp, times[i] * GST_MSECOND);
  }
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, BUFFER), 6);
  rig_expect_stats (rig, "pairs=4 ref-frames=6 ref-unpaired=2 dist-frames=6 "
      "dist-unpaired=2");
  rig_free (rig);
}

GST_END_TEST;

/* A mismatch that stays: one WARNING that names both, the stream passes to its end. */
GST_START_TEST (test_mismatch_later)
{
  static const gchar *words[] = { "64x48", "96x64", NULL };
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  /* The first score must have been made. */
  rig_wait (rig, FRAME_MESSAGE, 1);
  feed_caps (&rig->dist, "width=96, height=64");
  rig_play (rig, "80 120 160 200 240", "80 120 160 200 240");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, BUFFER), 7);
  rig_expect_stats (rig, "pairs=2 ref-unpaired=5 dist-unpaired=5");
  rig_free (rig);
}

GST_END_TEST;

static GstCaps *
sink_caps (Feed * feed)
{
  return gst_pad_peer_query_caps (feed->pad, NULL);
}

/* dist_sink answers its template whatever ref_sink and downstream have; ref_sink its template
 * within downstream's caps, whatever dist_sink has. */
GST_START_TEST (test_caps_queries)
{
  Rig *rig = rig_new (NULL);
  GstPad *pad = gst_element_get_static_pad (rig->element, "dist_sink");
  GstCaps *template = gst_pad_get_pad_template_caps (pad), *caps, *expected;

  rig->downstream_caps = gst_caps_from_string
      ("video/x-raw,format={I420,NV12},width=64,height=[1,100]");
  rig_start (rig);
  feed_begin (&rig->dist, "format=Y444, width=96");
  feed_settle (&rig->dist);
  caps = sink_caps (&rig->ref);
  expected = gst_caps_intersect (template, rig->downstream_caps);
  fail_unless (gst_caps_is_equal (caps, expected), "ref_sink: %s",
      gst_caps_to_string (caps));
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  feed_begin (&rig->ref, "format=I420");
  feed_settle (&rig->ref);
  caps = sink_caps (&rig->dist);
  fail_unless (gst_caps_is_equal (caps, template), "dist_sink: %s",
      gst_caps_to_string (caps));
  gst_caps_unref (caps);
  gst_caps_unref (template);
  gst_object_unref (pad);
  rig_free (rig);
}

GST_END_TEST;

/* One WARNING that names both; measuring goes on. */
GST_START_TEST (test_colorimetry)
{
  static const struct
  {
    const gchar *ref, *dist;
    const gchar *words[3];
  } tests[] = {
    {"1:4:7:1", "2:4:7:1", {NULL}},     /* range */
    {"bt709", "bt601", {"bt709", "bt601"}},
    {"2:3:7:1", "2:3:14:1", {NULL}},    /* transfer */
  };
  Rig *rig = rig_new (NULL);
  gchar *ref = g_strdup_printf ("colorimetry=(string)%s", tests[__i__].ref);
  gchar *dist = g_strdup_printf ("colorimetry=(string)%s", tests[__i__].dist);

  rig_start (rig);
  feed_begin (&rig->ref, ref);
  feed_begin (&rig->dist, dist);
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, tests[__i__].words);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  g_free (ref);
  g_free (dist);
  rig_free (rig);
}

GST_END_TEST;

/* What says the same in other words is no difference. */
GST_START_TEST (test_same_colorimetry)
{
  Rig *rig = rig_new (NULL);

  rig_start (rig);
  feed_begin (&rig->ref, "colorimetry=(string)bt709");
  feed_begin (&rig->dist, "colorimetry=(string)2:3:5:1");
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  rig_free (rig);
}

GST_END_TEST;

/* Interleaved frames are measured as they are, with one WARNING. */
GST_START_TEST (test_interleaved)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "interlace-mode=interleaved, "
      "field-order=top-field-first");
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  rig_free (rig);
}

GST_END_TEST;

/* Downstream says for itself whether it takes other caps, when they reach it: not when it is asked
 * before, where it may name what it has. */
GST_START_TEST (test_accept_caps)
{
  Rig *rig = rig_new (NULL);
  GstCaps *other = video_caps ("format=Y444_10LE, width=320, height=240");
  GstCaps *packed = video_caps ("format=YUY2");

  rig->downstream_caps = video_caps ("format=I420");
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0", "0");
  fail_unless (gst_pad_peer_query_accept_caps (rig->ref.pad, other));
  fail_unless (gst_pad_peer_query_accept_caps (rig->dist.pad, other));
  fail_if (gst_pad_peer_query_accept_caps (rig->ref.pad, packed));
  fail_if (gst_pad_peer_query_accept_caps (rig->dist.pad, packed));
  gst_caps_unref (other);
  gst_caps_unref (packed);
  rig_free (rig);
}

GST_END_TEST;

/* alternate is refused, with the feature that it comes with and without. */
GST_START_TEST (test_alternate)
{
  const gchar *words[] = { "ref_sink", "alternate", "deinterlace", NULL };
  Rig *rig = rig_new (NULL);
  GstCaps *caps = video_caps ("interlace-mode=alternate");

  if (__i__)
    gst_caps_set_features (caps, 0, gst_caps_features_new
        (GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL));
  rig_start_streams (rig, "format=I420");
  feed_push (&rig->ref, gst_event_new_caps (caps));
  feed_script (&rig->ref, "0");
  rig_wait (rig, ERROR_MESSAGE, 1);
  rig_expect_text (rig, ERROR_MESSAGE, words);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
caps_suite (void)
{
  Suite *suite = suite_create ("caps");
  TCase *tests = leak_checked_case (suite, "caps");

  tcase_add_loop_test (tests, test_mismatch, 0, G_N_ELEMENTS (mismatches));
  tcase_add_loop_test (tests, test_too_small, 0, 3);
  tcase_add_test (tests, test_smallest);
  tcase_add_test (tests, test_too_small_later);
  tcase_add_test (tests, test_change_of_both);
  tcase_add_test (tests, test_change_apart);
  tcase_add_test (tests, test_mismatch_later);
  tcase_add_test (tests, test_caps_queries);
  tcase_add_loop_test (tests, test_colorimetry, 0, 3);
  tcase_add_test (tests, test_same_colorimetry);
  tcase_add_test (tests, test_interleaved);
  tcase_add_test (tests, test_accept_caps);
  tcase_add_loop_test (tests, test_alternate, 0, 2);
  return suite;
}

GST_CHECK_MAIN (caps);
