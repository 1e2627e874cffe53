/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the messages hold, when they come, and how scores are pooled. */
#include "common.h"

static const gchar *const plain_names[] = { "integer_adm2", "integer_aim",
  "integer_adm3", "integer_adm_scale0", "integer_adm_scale1",
  "integer_adm_scale2", "integer_adm_scale3"
};

static const gchar *const debug_names[] = { "integer_adm", "integer_adm_num",
  "integer_adm_den", "integer_adm_num_scale0", "integer_adm_den_scale0",
  "integer_adm_num_scale1", "integer_adm_den_scale1",
  "integer_adm_num_scale2", "integer_adm_den_scale2",
  "integer_adm_num_scale3", "integer_adm_den_scale3"
};

static const gchar *const times[] = { "timestamp", "stream-time",
  "running-time", "duration"
};

static void
expect_scores (const GstStructure * message, const gchar * const *names,
    guint n, gboolean there)
{
  for (guint i = 0; i < n; i++) {
    fail_unless_equals_int (gst_structure_has_field_typed (message, names[i],
            G_TYPE_DOUBLE), there);
  }
}

static guint64
get_time (const GstStructure * message, const gchar * name)
{
  guint64 time;

  fail_unless (gst_structure_get_uint64 (message, name, &time), "%s", name);
  return time;
}

/* The fields and their types, without a model: no score. */
GST_START_TEST (test_fields)
{
  Rig *rig = rig_new ("features", __i__ ? "adm=debug=true" : "adm", NULL);
  Kind kinds[] = { FRAME_MESSAGE, POOLED_MESSAGE };

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "0 40");
  for (guint k = 0; k < 2; k++) {
    const GstStructure *message = rig_score (rig, kinds[k], 0);
    GstMessage *whole = rig_object (rig, kinds[k], 0);
    fail_unless (GST_MESSAGE_SRC (whole) == GST_OBJECT (rig->element));
    for (guint i = 0; i < G_N_ELEMENTS (times); i++)
      get_time (message, times[i]);
    fail_unless_equals_int (gst_structure_has_field_typed (message, "index",
            G_TYPE_INT), k == 0);
    fail_if (gst_structure_has_field (message, "score"));
    fail_if (gst_structure_has_field (message, "psnr-y"));
    fail_if (gst_structure_has_field (message, "utc"));
    fail_if (gst_structure_has_field (message, "timecode"));
    expect_scores (message, plain_names, G_N_ELEMENTS (plain_names), TRUE);
    expect_scores (message, debug_names, G_N_ELEMENTS (debug_names), __i__);
  }
  rig_free (rig);
}

GST_END_TEST;

/* The times are the reference frame's. */
GST_START_TEST (test_times)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_segment (&rig->ref, 1000 * GST_MSECOND, 300 * GST_MSECOND,
      5000 * GST_MSECOND, 1.0);
  feed_segment (&rig->dist, 300 * GST_MSECOND, 300 * GST_MSECOND, 0, 1.0);
  rig_play (rig, "1000 1040 1080", "300 345 380");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  for (guint i = 0; i < 3; i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    fail_unless_equals_uint64 (get_time (message, "timestamp"),
        (1000 + i * FRAME_MS) * GST_MSECOND);
    fail_unless_equals_uint64 (get_time (message, "stream-time"),
        (5000 + i * FRAME_MS) * GST_MSECOND);
    fail_unless_equals_uint64 (get_time (message, "running-time"),
        (300 + i * FRAME_MS) * GST_MSECOND);
    fail_unless_equals_uint64 (get_time (message, "duration"),
        FRAME_MS * GST_MSECOND);
  }
  rig_free (rig);
}

GST_END_TEST;

/* The pooled message's timestamp is the last measured frame's, its duration reaches from the
 * first to the last one. */
GST_START_TEST (test_pooled_times)
{
  Rig *rig = rig_new (NULL);
  const GstStructure *message;

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120 160 200", "40 80 120 160");
  message = rig_score (rig, POOLED_MESSAGE, 0);
  fail_unless_equals_uint64 (get_time (message, "timestamp"),
      160 * GST_MSECOND);
  fail_unless_equals_uint64 (get_time (message, "stream-time"),
      160 * GST_MSECOND);
  fail_unless_equals_uint64 (get_time (message, "running-time"),
      160 * GST_MSECOND);
  fail_unless_equals_uint64 (get_time (message, "duration"), 4 * FRAME_MS
      * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

/* A frame that began before its segment does has no running time to be told; the pooled duration
 * reaches from it all the same. */
GST_START_TEST (test_begins_before_its_segment)
{
  Rig *rig = rig_new (NULL);
  const GstStructure *message;

  rig_start_streams (rig, "format=I420");
  feed_segment (&rig->ref, 100 * GST_MSECOND, 0, 100 * GST_MSECOND, 1.0);
  feed_segment (&rig->dist, 100 * GST_MSECOND, 0, 100 * GST_MSECOND, 1.0);
  rig_play (rig, "80 120 160", "80 120 160");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  message = rig_score (rig, FRAME_MESSAGE, 0);
  fail_unless_equals_uint64 (get_time (message, "timestamp"), 80 * GST_MSECOND);
  fail_unless_equals_uint64 (get_time (message, "running-time"),
      GST_CLOCK_TIME_NONE);
  message = rig_score (rig, POOLED_MESSAGE, 0);
  fail_unless_equals_uint64 (get_time (message, "running-time"),
      60 * GST_MSECOND);
  fail_unless_equals_uint64 (get_time (message, "duration"), 120 * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

/* One message a pair, in order, with every number of threads, and always the same scores. */
GST_START_TEST (test_order_and_threads)
{
  static const guint threads[] = { 0, 1, 2, 3, 4 };
  Rig *rigs[G_N_ELEMENTS (threads)];
  gint index;

  for (guint t = 0; t < G_N_ELEMENTS (threads); t++) {
    rigs[t] = rig_new ("threads", threads[t], "features", "adm=debug=true",
        "model-filename", " vmaf_v0.6.1", "psnr", TRUE, "ssim", TRUE, NULL);
    rig_start_streams (rigs[t], "width=161, height=91");
    rig_play (rigs[t], "0 40 80 120 160 200 240 280 320 360",
        "0 40 80 120 160 200 240 280 320 360");
    fail_unless_equals_int (rig_count (rigs[t], FRAME_MESSAGE), 10);
    for (guint i = 0; i < 10; i++) {
      const GstStructure *message = rig_score (rigs[t], FRAME_MESSAGE, i);
      fail_unless (gst_structure_get_int (message, "index", &index));
      fail_unless_equals_int (index, i);
      fail_unless_equals_uint64 (get_time (message, "timestamp"), i * FRAME_MS
          * GST_MSECOND);
    }
    rig_expect_same_scores (rigs[0], rigs[t]);
  }
  for (guint t = 0; t < G_N_ELEMENTS (threads); t++)
    rig_free (rigs[t]);
}

GST_END_TEST;

/* Index % subsample == 0 is measured, the others are not; indices and scores are those of the
 * whole run. */
GST_START_TEST (test_subsample)
{
  Rig *rig = rig_new ("subsample", 3, NULL);
  gint index;

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120 160 200 240 280", "0 40 80 120 160 200 240 280");
  rig_expect_pairs (rig, "0:1 120:4 240:7");
  for (guint i = 0; i < 3; i++) {
    gst_structure_get_int (rig_score (rig, FRAME_MESSAGE, i), "index", &index);
    fail_unless_equals_int (index, 3 * i);
  }
  rig_expect_stats (rig, "pairs=8 ref-unpaired=0 dist-unpaired=0");
  rig_free (rig);
}

GST_END_TEST;

/* Without frame-message only the pooled message comes, with the same value. */
GST_START_TEST (test_no_frame_messages)
{
  Rig *rig = rig_new (NULL), *with = rig_new (NULL);
  gdouble score, expected;

  g_object_set (rig->element, "frame-message", FALSE, NULL);
  rig_start_streams (rig, "format=I420");
  rig_start_streams (with, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  rig_play (with, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  gst_structure_get_double (rig_score (rig, POOLED_MESSAGE, 0),
      "integer_adm2", &score);
  gst_structure_get_double (rig_score (with, POOLED_MESSAGE, 0),
      "integer_adm2", &expected);
  fail_unless (score == expected);
  rig_free (rig);
  rig_free (with);
}

GST_END_TEST;

static gdouble
pool (Rig * rig, const gchar * method, const gchar * name)
{
  guint n = rig_count (rig, FRAME_MESSAGE);
  gdouble sum = 0, inverse = 0, min = G_MAXDOUBLE, max = -G_MAXDOUBLE, score;

  for (guint i = 0; i < n; i++) {
    gst_structure_get_double (rig_score (rig, FRAME_MESSAGE, i), name, &score);
    sum += score;
    inverse += 1.0 / (score + 1.0);
    min = MIN (min, score);
    max = MAX (max, score);
  }
  return g_str_equal (method, "min") ? min : g_str_equal (method, "max") ? max :
      g_str_equal (method, "mean") ? sum / n : n / inverse - 1.0;
}

/* Every name's pooled value follows from its frame messages, to the bit. */
GST_START_TEST (test_pool_method)
{
  static const gchar *methods[] = { "min", "max", "mean", "harmonic_mean" };
  Rig *rig = rig_new ("features", "adm=debug=true", NULL);
  const GstStructure *pooled;

  gst_util_set_object_arg (G_OBJECT (rig->element), "pool-method",
      methods[__i__]);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120 160 200 240", "0 40 80 120 160 200 240");
  pooled = rig_score (rig, POOLED_MESSAGE, 0);
  for (guint i = 0; i < G_N_ELEMENTS (plain_names) + G_N_ELEMENTS (debug_names);
      i++) {
    const gchar *name = i < G_N_ELEMENTS (plain_names) ? plain_names[i] :
        debug_names[i - G_N_ELEMENTS (plain_names)];
    gdouble value, expected = pool (rig, methods[__i__], name);
    fail_unless (gst_structure_get_double (pooled, name, &value), "%s", name);
    fail_unless (value == expected, "%s: %.17g, not %.17g", name, value,
        expected);
  }
  rig_free (rig);
}

GST_END_TEST;

/* The reference's timecode, where it has one. */
GST_START_TEST (test_timecode)
{
  Rig *rig = rig_new (NULL);
  GstBuffer *buffer;

  rig_start_streams (rig, "format=I420");
  buffer = feed_frame (&rig->ref, 0);
  gst_buffer_add_video_time_code_meta_full (buffer, 25, 1, NULL, 0, 10, 20, 30,
      7, 0);
  feed_push (&rig->ref, buffer);
  buffer = feed_frame (&rig->dist, 0);
  gst_buffer_add_video_time_code_meta_full (buffer, 25, 1, NULL, 0, 1, 1, 1, 1,
      0);
  feed_push (&rig->dist, buffer);
  rig_play (rig, "40", "40");
  fail_unless_equals_string (gst_structure_get_string (rig_score (rig,
              FRAME_MESSAGE, 0), "timecode"), "10:20:30:07");
  fail_if (gst_structure_has_field (rig_score (rig, FRAME_MESSAGE, 1),
          "timecode"));
  rig_free (rig);
}

GST_END_TEST;

/* When live, a frame message says the time of day. */
GST_START_TEST (test_utc)
{
  Rig *rig = rig_new (NULL);
  const gchar *text;
  GDateTime *utc, *now;

  rig->ref.live = rig->dist.live = TRUE;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->dist, "0");
  feed_settle (&rig->dist);
  feed_script (&rig->ref, "0");
  rig_wait (rig, FRAME_MESSAGE, 1);
  text = gst_structure_get_string (rig_score (rig, FRAME_MESSAGE, 0), "utc");
  fail_unless (text != NULL, "no utc");
  utc = g_date_time_new_from_iso8601 (text, NULL);
  fail_unless (utc != NULL, "%s is no ISO 8601", text);
  now = g_date_time_new_now_utc ();
  fail_unless (ABS (g_date_time_difference (now, utc)) < G_TIME_SPAN_MINUTE);
  g_date_time_unref (now);
  g_date_time_unref (utc);
  rig_free (rig);
}

GST_END_TEST;

/* ... when the frame was captured, by the clock of the pipeline. */
GST_START_TEST (test_utc_of_another_moment)
{
  Rig *rig = rig_new (NULL);
  gint64 begin = g_get_real_time (), end, then;
  GDateTime *utc;

  rig->ref.live = rig->dist.live = TRUE;
  rig_start_streams (rig, "format=I420");
  end = g_get_real_time ();
  feed_script (&rig->dist, "1000000");
  feed_settle (&rig->dist);
  feed_script (&rig->ref, "1000000");
  rig_wait (rig, FRAME_MESSAGE, 1);
  utc = g_date_time_new_from_iso8601 (gst_structure_get_string (rig_score (rig,
              FRAME_MESSAGE, 0), "utc"), NULL);
  then = g_date_time_to_unix (utc) - 1000;
  fail_unless (then >= begin / G_USEC_PER_SEC - 1
      && then <= end / G_USEC_PER_SEC + 1);
  g_date_time_unref (utc);
  rig_free (rig);
}

GST_END_TEST;

/* The statistics can be read at any time. */
GST_START_TEST (test_stats_while_running)
{
  Rig *rig = rig_new (NULL);

  rig_expect_stats (rig, "pairs=0 ref-frames=0 dist-frames=0 flushed=0");
  rig_start_streams (rig, "format=I420");
  rig_expect_stats (rig, "pairs=0");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  rig_expect_stats (rig, "pairs=2");
  rig_play (rig, "80", "80");
  rig_expect_stats (rig, "pairs=3 ref-frames=3 ref-unpaired=0 dist-frames=3 "
      "dist-unpaired=0 flushed=0");
  rig_free (rig);
}

GST_END_TEST;

/* ... and say where the measuring was done, and how fast. */
GST_START_TEST (test_stats_after_all)
{
  Rig *rig = rig_new (NULL);
  GstStructure *stats;
  gdouble fps;

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "fps", &fps));
  fail_unless (fps > 0);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      check_backend ());
  fail_unless (gst_structure_has_field_typed (stats, "device", G_TYPE_STRING));
  fail_unless (strlen (gst_structure_get_string (stats, "target")) > 0);
  gst_structure_free (stats);
  rig_expect_stats (rig, "scored=3");
  rig_free (rig);
}

GST_END_TEST;

/* frame-message can be changed on the way. */
GST_START_TEST (test_frame_message_toggled)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  g_object_set (rig->element, "frame-message", FALSE, NULL);
  rig_play (rig, "80 120", "80 120");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  rig_expect_stats (rig, "pairs=4 scored=4");
  rig_free (rig);
}

GST_END_TEST;

/* Each of psnr, ssim and ms-ssim has its field; where `features` asks for the metric with options, it
 * is measured as that says, once. */
GST_START_TEST (test_extras)
{
  static const gchar *const properties[] = { "psnr", "ssim" };
  static const gchar *const fields[] = { "psnr-y", "ssim" };
  static const gchar *const scores[] = { "psnr_y", "float_ssim" };
  static const gchar *const features[] = { "adm,psnr=enable_mse=true",
    "adm,float_ssim=enable_db=true"
  };
  static const gchar *const more[] = { "mse_y", "float_ssim" };

  for (guint twice = 0; twice < 2; twice++) {
    Rig *rig = rig_new ("features", twice ? features[__i__] : "adm",
        properties[__i__], TRUE, NULL);
    const GstStructure *message;
    gdouble value, other;

    rig_start_streams (rig, "format=I420");
    rig_play (rig, "0 40", "0 40");
    for (guint k = 0; k < 2; k++) {
      message = rig_score (rig, k ? POOLED_MESSAGE : FRAME_MESSAGE, 0);
      fail_unless (gst_structure_get_double (message, fields[__i__], &value));
      fail_unless (gst_structure_get_double (message, scores[__i__], &other));
      fail_unless_equals_float (value, other);
      fail_unless (value > (twice || __i__ == 0 ? 5 : 0));
      fail_if (gst_structure_has_field (message, fields[!__i__]));
      fail_unless_equals_int (gst_structure_has_field (message, more[__i__]),
          twice || __i__ == 1);
    }
    rig_free (rig);
  }
}

GST_END_TEST;

static Suite *
messages_suite (void)
{
  Suite *suite = suite_create ("messages");
  TCase *tests = leak_checked_case (suite, "messages");

  tcase_add_loop_test (tests, test_fields, 0, 2);
  tcase_add_test (tests, test_times);
  tcase_add_test (tests, test_pooled_times);
  tcase_add_test (tests, test_begins_before_its_segment);
  tcase_add_test (tests, test_order_and_threads);
  tcase_add_test (tests, test_subsample);
  tcase_add_test (tests, test_no_frame_messages);
  tcase_add_loop_test (tests, test_pool_method, 0, 4);
  tcase_add_loop_test (tests, test_extras, 0, 2);
  tcase_add_test (tests, test_timecode);
  tcase_add_test (tests, test_utc);
  tcase_add_test (tests, test_utc_of_another_moment);
  tcase_add_test (tests, test_frame_message_toggled);
  tcase_add_test (tests, test_stats_while_running);
  tcase_add_test (tests, test_stats_after_all);
  return suite;
}

GST_CHECK_MAIN (messages);
