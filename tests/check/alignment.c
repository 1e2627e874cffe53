/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams with an offset between them: who pairs with whom, what waits where and for how long, and
 * that waiting as a copy changes no score. */
#include "common.h"

static Rig *
offset_rig (gint offset_ms, gboolean live)
{
  Rig *rig = rig_new ("force-live", live, NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "alignment", "offset");
  g_object_set (rig->element, "offset", offset_ms * (gint64) GST_MSECOND, NULL);
  return rig;
}

static gchar *
times (guint n)
{
  GString *script = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (script, "%u ", i * FRAME_MS);
  return g_string_free (script, FALSE);
}

/* Who pairs with whom */

typedef struct
{
  gint offset;                  /* ms */
  const gchar *ref, *dist, *pairs, *stats;
} Case;

static const Case cases[] = {
  {0, "0 40 80", "0 40 80", "0:1 40:2 80:3", "pairs=3"},
  {80, "0 40 80 120", "0 40 80 120 160 200", "0:3 40:4 80:5 120:6",
      "pairs=4 ref-unpaired=0 dist-frames=6 dist-unpaired=2"},
  {-80, "0 40 80 120 160", "0 40 80", "80:1 120:2 160:3",
      "pairs=3 ref-frames=5 ref-unpaired=2 dist-unpaired=0"},
  {2000, "0 40", "0 40 2000 2040", "0:3 40:4", "pairs=2 dist-unpaired=2"},
  {-2000, "0 40 2000 2040", "0 40", "2000:1 2040:2", "pairs=2"},
  {75, "0 40 80", "80 120 160", "0:1 40:2 80:3", "pairs=3"},
  {80, "0 40 80 120 160", "80 gap@120+80 200 240", "0:1 120:2 160:3",
      "pairs=3 ref-unpaired=2"},
  {-80, "0 40 gap@80+80 160 200", "0 40 80 120", "160:3 200:4",
      "pairs=2 dist-unpaired=2"},
  {40, "0 40 80", "", "", "pairs=0 ref-unpaired=3"},
  {40, "", "0 40 80", "", "pairs=0"},
};

GST_START_TEST (test_case)
{
  const Case *test = &cases[__i__];
  Rig *rig = offset_rig (test->offset, FALSE);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, test->ref, test->dist);
  rig_expect_pairs (rig, test->pairs);
  rig_expect_stats (rig, test->stats);
  rig_free (rig);
}

GST_END_TEST;

/* Who waits where */

/* With either sign, a tee without any queue runs to its end: the reference comes first at a pad or
 * last. */
GST_START_TEST (test_in_step)
{
  static const gchar *branches[] = {
    "t. ! v.ref_sink t. ! v.dist_sink", "t. ! v.dist_sink t. ! v.ref_sink"
  };
  gchar *text = g_strdup_printf ("videotestsrc num-buffers=50 ! video/x-raw,"
      "format=I420,width=64,height=48,framerate=25/1 ! tee name=t %s "
      "hipvmaf name=v features=adm model-filename=\"\" alignment=offset "
      "offset=%d ! fakesink", branches[__i__ % 2],
      __i__ < 2 ? 400000000 : -400000000);

  pipeline_expect_pairs (text, 40);
  g_free (text);
}

GST_END_TEST;

/* Counts the buffers that went back to where they came from. */
static void
on_free (gpointer count, GstMiniObject * buffer)
{
  g_atomic_int_inc ((gint *) count);
}

static void
push_counted (Feed * feed, guint i, gint * count)
{
  GstBuffer *buffer = feed_frame (feed, i * FRAME_MS * GST_MSECOND);

  gst_mini_object_weak_ref (GST_MINI_OBJECT (buffer), on_free, count);
  feed_push (feed, buffer);
}

static void
wait_for_count (gint * count, gint n)
{
  for (guint i = 0; i < 2000 && g_atomic_int_get (count) < n; i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (count) >= n, "%d of %d buffers came back",
      g_atomic_int_get (count), n);
}

/* Live, the reference goes on at once and waits as a copy, longer than it would without the offset:
 * its buffers go back while nothing came to dist_sink yet. */
GST_START_TEST (test_live_late)
{
  Rig *rig = offset_rig (1600, TRUE);
  gint freed = 0;

  rig->count_only = TRUE;
  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->dist);
  for (guint i = 0; i < 60; i++)
    push_counted (&rig->ref, i, &freed);
  rig_wait (rig, BUFFER, 60);
  wait_for_count (&freed, 59);
  fail_unless_equals_uint64 (rig_stat (rig, "ref-unpaired"), 0);
  feed_script (&rig->dist, "1600 1640 1680");
  rig_wait (rig, FRAME_MESSAGE, 3);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_expect_stats (rig, "pairs=3 ref-frames=60 ref-unpaired=57 "
      "dist-unpaired=0");
  fail_unless_equals_int (g_atomic_int_get (&freed), 60);
  rig_free (rig);
}

GST_END_TEST;

/* Live and early, the distorted stream is taken as it comes and waits for the reference. */
GST_START_TEST (test_live_early)
{
  Rig *rig = offset_rig (-1600, TRUE);
  gchar *script = times (60);
  gint freed = 0;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0");
  rig_wait (rig, BUFFER, 1);
  for (guint i = 0; i < 20; i++)
    push_counted (&rig->dist, i, &freed);
  wait_for_count (&freed, 19);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), 0);
  feed_script (&rig->ref, script + strlen ("0 "));
  rig_play (rig, "", "");
  rig_expect_stats (rig, "pairs=20 ref-unpaired=40 dist-unpaired=0");
  g_free (script);
  rig_free (rig);
}

GST_END_TEST;

/* Live, a downstream that holds up each buffer, as a sink does that waits for the clock, does not keep
 * the distorted stream waiting until the reference has caught up. */
GST_START_TEST (test_live_slow_sink)
{
  Rig *rig = offset_rig (80, TRUE);
  gchar *script = times (60);

  rig->sink_delay = 20000;
  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->dist);
  feed_script (&rig->ref, script);
  rig_wait (rig, BUFFER, 5);
  feed_script (&rig->dist, script);
  rig_wait (rig, BUFFER, 30);
  fail_unless (rig_stat (rig, "dist-frames") >= 20);
  rig_play (rig, "", "");
  rig_expect_stats (rig, "pairs=58 ref-frames=60 dist-frames=60");
  g_free (script);
  rig_free (rig);
}

GST_END_TEST;

/* max-history-bytes holds, whatever max-offset allows, and says so; what waits longest is given up.
 * Not live, frames beyond it stay where they are, and none is lost. */
GST_START_TEST (test_limit)
{
  gboolean live = __i__;
  Rig *rig = offset_rig (1600, live);
  gchar *script = times (60);
  GstStructure *stats;

  g_object_set (rig->element, "max-history-bytes",
      (guint64) 10 * WIDTH * HEIGHT, NULL);
  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->dist);
  if (live) {
    feed_script (&rig->ref, script);
    rig_wait (rig, BUFFER, 60);
    rig_expect_stats (rig, "ref-frames=60 ref-unpaired=50");
    /* They need room, too. */
    rig_play (rig, "", "3840 3880 3920 3960");
    rig_expect_stats (rig, "pairs=4 ref-unpaired=56 dist-unpaired=0");
  } else {
    rig_play (rig,
        "0 40 80 120 160 200 240 280 320 360 400 440 480 520 560 600", script);
    rig_expect_stats (rig, "pairs=16 ref-unpaired=0 dist-unpaired=40");
  }
  fail_unless (rig_stat (rig, "history-bytes") <= 10 * WIDTH * HEIGHT);
  fail_unless (rig_stat (rig, "history-bytes") > 0);
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "history-limit"),
      "max-history-bytes");
  gst_structure_free (stats);
  g_free (script);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_too_far)
{
  const gchar *words[] = { "offset=2001000000", "max-offset=2000000000", NULL };
  Rig *rig = offset_rig (2001, FALSE);

  fail_unless_equals_int (rig_start (rig), GST_STATE_CHANGE_FAILURE);
  rig_expect_text (rig, ERROR_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

/* After a flush of both pads the streams begin anew, with the same offset. */
GST_START_TEST (test_flush)
{
  Rig *rig = offset_rig (80, FALSE);
  guint32 seqnum = gst_util_seqnum_next ();

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 40 80 120");
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  rig_wait (rig, FRAME_MESSAGE, 1);
  feed_flush_start (&rig->ref, seqnum);
  feed_flush_start (&rig->dist, seqnum);
  feed_flush_stop (&rig->ref, seqnum);
  feed_flush_stop (&rig->dist, seqnum);
  feed_segment (&rig->ref, 0, 0, 0, 1.0);
  feed_segment (&rig->dist, 0, 0, 0, 1.0);
  rig_play (rig, "0 40 80", "80 120 160");
  fail_unless_equals_uint64 (rig_stat (rig, "ref-frames"),
      rig_stat (rig, "pairs") + rig_stat (rig, "ref-unpaired"));
  fail_unless_equals_uint64 (rig_stat (rig, "dist-frames"),
      rig_stat (rig, "pairs") + rig_stat (rig, "dist-unpaired"));
  fail_unless (rig_stat (rig, "pairs") >= 4);
  rig_free (rig);
}

GST_END_TEST;

/* What waits */

/* A copy has the samples of its frame, in any layout. */
static Rig *
measure (const gchar * format, gboolean copied)
{
  Rig *rig = copied ? offset_rig (0, FALSE) : rig_new (NULL);
  gboolean chroma = !g_str_has_prefix (format, "GRAY");
  gchar *fields = g_strdup_printf ("format=%s, width=97, height=51", format);

  if (chroma)
    g_object_set (rig->element, "features", "adm,psnr", NULL);
  rig_start_streams (rig, fields);
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  fail_unless_equals_int (gst_structure_has_field (rig_score (rig,
              FRAME_MESSAGE, 0), "psnr_cb"), chroma);
  g_free (fields);
  return rig;
}

GST_START_TEST (test_same_scores)
{
  static const gchar *formats[] = { "I420", "NV12", "Y42B", "GRAY8",
    "I420_10LE", "P010_10LE", "P012_LE", "P016_LE", "GRAY16_LE"
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    Rig *plain = measure (formats[i], FALSE);
    Rig *copied = measure (formats[i], TRUE);

    rig_expect_same_scores (plain, copied);
    rig_free (plain);
    rig_free (copied);
  }
}

GST_END_TEST;

/* Sizes that change in mid-stream. */
GST_START_TEST (test_size_change)
{
  Rig *rig = offset_rig (80, FALSE);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80 120 160");
  feed_caps (&rig->ref, "format=I420, width=96");
  feed_caps (&rig->dist, "format=I420, width=96");
  rig_play (rig, "120 160 200", "200 240 280");
  rig_expect_stats (rig, "pairs=6 scored=6 ref-unpaired=0 dist-unpaired=2");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_timecode)
{
  Rig *rig = offset_rig (40, FALSE);
  GstBuffer *buffer;

  rig_start_streams (rig, "format=I420");
  buffer = feed_frame (&rig->ref, 0);
  gst_buffer_add_video_time_code_meta_full (buffer, 25, 1, NULL,
      GST_VIDEO_TIME_CODE_FLAGS_NONE, 10, 11, 12, 13, 0);
  feed_push (&rig->ref, buffer);
  rig_play (rig, "40", "0 40 80");
  fail_unless_equals_string (gst_structure_get_string (rig_score (rig,
              FRAME_MESSAGE, 0), "timecode"), "10:11:12:13");
  fail_unless (!gst_structure_has_field (rig_score (rig, FRAME_MESSAGE, 1),
          "timecode"));
  rig_free (rig);
}

GST_END_TEST;

static Suite *
alignment_suite (void)
{
  Suite *suite = suite_create ("alignment");
  TCase *tests = leak_checked_case (suite, "alignment");

  tcase_add_loop_test (tests, test_case, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tests, test_in_step, 0, 4);
  tcase_add_test (tests, test_live_late);
  tcase_add_test (tests, test_live_early);
  tcase_add_test (tests, test_live_slow_sink);
  tcase_add_loop_test (tests, test_limit, 0, 2);
  tcase_add_test (tests, test_too_far);
  tcase_add_test (tests, test_flush);
  tcase_add_test (tests, test_same_scores);
  tcase_add_test (tests, test_size_change);
  tcase_add_test (tests, test_timecode);
  return suite;
}

GST_CHECK_MAIN (alignment);
