/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Live streams never wait; others wait for each other, and say so when that takes long. */
#include "common.h"

#define SHORT_WAIT 500          /* ms in which something must not happen */

/* Live by its feeds, or by force-live. */
static Rig *
live_rig (gboolean forced)
{
  Rig *rig = rig_new ("force-live", forced, NULL);

  rig->ref.live = rig->dist.live = !forced;
  return rig;
}

/* A silent distorted stream does not hold the reference up: not before its caps (0), nor after
 * them (1), nor after a few frames (2). */
static void
run_silent (gboolean forced, gint how_far)
{
  Rig *rig = live_rig (forced);

  rig_start (rig);
  feed_begin (&rig->ref, "format=I420");
  if (how_far > 0)
    feed_begin (&rig->dist, "format=I420");
  if (how_far > 1)
    feed_script (&rig->dist, "0 40");
  else
    feed_settle (&rig->dist);
  /* Before the base class has asked for the latency its pads take one buffer, so a second one may
   * be in only when the reference has begun. */
  feed_script (&rig->ref, "0 40 80 120 160 200 240 280 320 360");
  rig_wait (rig, BUFFER, 10);
  feed_settle (&rig->dist);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_free (rig);
}

GST_START_TEST (test_silent_dist)
{
  run_silent (FALSE, __i__);
}

GST_END_TEST;

GST_START_TEST (test_silent_dist_forced)
{
  run_silent (TRUE, __i__);
}

GST_END_TEST;

/* Nor does one that was never linked. */
GST_START_TEST (test_unlinked_dist)
{
  Rig *rig = live_rig (__i__);

  rig->no_dist = TRUE;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 160 200");
  rig_wait (rig, BUFFER, 6);
  feed_script (&rig->ref, "eos");
  rig_wait (rig, EOS, 1);
  rig_expect_stats (rig, "pairs=0 ref-frames=6 ref-unpaired=6");
  rig_free (rig);
}

GST_END_TEST;

/* The frames that wait for a partner have a limit, whatever their times are. */
GST_START_TEST (test_limit_of_waiting)
{
  Rig *rig = live_rig (__i__);

  rig->ref.frame_duration = GST_USECOND;
  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->dist);
  for (guint i = 0; i < 400; i++)
    feed_push (&rig->ref, feed_frame (&rig->ref, i * GST_USECOND));
  rig_wait (rig, BUFFER, 400);
  fail_unless (rig_stat (rig, "ref-unpaired") >= 99);
  fail_unless (rig_stat (rig, "ref-unpaired") <= 100);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_free (rig);
}

GST_END_TEST;

/* What is there in time is measured. */
GST_START_TEST (test_live_pairs)
{
  Rig *rig = live_rig (__i__);
  GstBuffer *buffer;

  rig_start_streams (rig, "format=I420");
  for (guint i = 0; i < 5; i++) {
    buffer = feed_frame (&rig->dist, i * FRAME_MS * GST_MSECOND);
    feed_push (&rig->dist, buffer);
    feed_settle (&rig->dist);
    feed_push (&rig->ref, feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND));
    rig_wait (rig, BUFFER, i + 1);
  }
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4 160:5");
  rig_free (rig);
}

GST_END_TEST;

/* What comes late still finds the reference frame that went by before it. */
GST_START_TEST (test_live_late_dist)
{
  Rig *rig = live_rig (__i__);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  rig_wait (rig, BUFFER, 3);
  feed_script (&rig->dist, "0 40 80");
  feed_script (&rig->ref, "120");
  feed_script (&rig->dist, "120");
  rig_wait (rig, BUFFER, 4);
  rig_wait (rig, FRAME_MESSAGE, 3);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4");
  rig_free (rig);
}

GST_END_TEST;

/* A stalled meter does not hold a live stream up, although every frame has its partner. */
GST_START_TEST (test_live_never_waits_for_the_meter)
{
  static const gchar *script = "40 80 120 160 200 240 280 320 360 400 440 480";
  Rig *rig = rig_new ("force-live", __i__, "async-depth", 1, NULL);

  rig->ref.live = rig->dist.live = !__i__;
  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->dist, "0");
  feed_settle (&rig->dist);
  feed_script (&rig->ref, "0");
  rig_wait_at_gate (rig);
  feed_script (&rig->dist, script);
  feed_script (&rig->ref, script);
  rig_wait (rig, BUFFER, 13);
  rig_open_gate (rig);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_free (rig);
}

GST_END_TEST;

/* Live, a feed may be silent: nothing is said of starving. */
GST_START_TEST (test_live_silence_is_no_starving)
{
  Rig *rig = live_rig (FALSE);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->dist, "0 40 80 120");
  fail_if (rig_waited (rig, INFO_MESSAGE, 1, 6500));
  rig_free (rig);
}

GST_END_TEST;

static void
expect_latency (Rig * rig, gboolean live, GstClockTime latency)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean is_live;
  GstClockTime min;

  fail_unless (gst_pad_peer_query (rig->sink, query));
  gst_query_parse_latency (query, &is_live, &min, NULL);
  fail_unless_equals_int (is_live, live);
  fail_unless_equals_uint64 (min, latency);
  gst_query_unref (query);
}

/* No latency is added to upstream's, but GstAggregator's own property's. */
GST_START_TEST (test_latency)
{
  Rig *rig = live_rig (FALSE);

  rig->ref.latency = 30 * GST_MSECOND;
  rig->dist.latency = 70 * GST_MSECOND;
  rig_start_streams (rig, "format=I420");
  expect_latency (rig, TRUE, 70 * GST_MSECOND);
  g_object_set (rig->element, "latency", (guint64) 20 * GST_MSECOND, NULL);
  expect_latency (rig, TRUE, 90 * GST_MSECOND);
  rig_free (rig);

  rig = live_rig (TRUE);
  rig_start_streams (rig, "format=I420");
  expect_latency (rig, TRUE, 0);
  rig_free (rig);

  rig = rig_new (NULL);
  rig_start_streams (rig, "format=I420");
  expect_latency (rig, FALSE, 0);
  rig_free (rig);
}

GST_END_TEST;

/* Latencies in ms, the greatest being what the branch can hold; what downstream is told; and the
 * pad that needs a queue, if any does. */
typedef struct
{
  gint ref, ref_max, dist, dist_max, told;
  const gchar *pad;
} Latencies;

static const Latencies misfits[] = {
  {40, 200, 0, 0, 40, "dist_sink"},
  {0, 0, 70, 70, 0, NULL},
  {10, 30, 70, 90, 30, NULL},
  {60, 20, 0, 1000, 60, "ref_sink"},
  {0, 1000, 60, 20, 60, "dist_sink"},
};

static void
set_latencies (Rig * rig, const Latencies * latencies)
{
  rig->ref.live = rig->dist.live = TRUE;
  rig->ref.latency = latencies->ref * GST_MSECOND;
  rig->ref.max_latency = latencies->ref_max * GST_MSECOND;
  rig->dist.latency = latencies->dist * GST_MSECOND;
  rig->dist.max_latency = latencies->dist_max * GST_MSECOND;
}

/* Branches that cannot hold frames as long as they should do not keep live streams from being
 * live, whatever the distorted one does. One warning says which needs a queue. */
GST_START_TEST (test_latencies_that_do_not_fit)
{
  const Latencies *test = &misfits[__i__ / 2];
  const gchar *words[] = { test->pad, "queue", NULL };
  Rig *rig = rig_new ("force-live", __i__ & 1, NULL);

  set_latencies (rig, test);
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 160 200");
  rig_wait (rig, BUFFER, 6);
  expect_latency (rig, TRUE, test->told * GST_MSECOND);
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, FRAME_MESSAGE, 3);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), test->pad != NULL);
  if (test->pad != NULL)
    rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

/* The reference cannot be held for as long as the distorted stream takes, but is waited with. */
GST_START_TEST (test_late_by_its_latency)
{
  const Latencies latencies = { 0, 0, 3000, 3000, 0, NULL };
  Rig *rig = rig_new (NULL);

  set_latencies (rig, &latencies);
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 2900 2940");
  rig_wait (rig, BUFFER, 4);
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "2900 2940 eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 2900:3 2940:4");
  rig_free (rig);
}

GST_END_TEST;

/* Not live, the reference moves in step with the distorted stream. */
GST_START_TEST (test_in_step)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 160 200 240 280 320 360");
  fail_if (rig_waited (rig, BUFFER, 1, SHORT_WAIT));
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, BUFFER, 2);
  fail_if (rig_waited (rig, BUFFER, 5, SHORT_WAIT));
  rig_play (rig, "", "120 160 200 240 280 320 360");
  fail_unless_equals_int (rig_count (rig, BUFFER), 10);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 10);
  rig_free (rig);
}

GST_END_TEST;

/* One pad full and the other empty for 5 s is one INFO that names the starved pad and the way
 * out; when the other comes after all, everything is measured. */
GST_START_TEST (test_starved)
{
  const gchar *words[] = { __i__ ? "ref_sink" : "dist_sink", "queue",
    "max-size-", NULL
  };
  Rig *rig = rig_new (NULL);
  Feed *full = __i__ ? &rig->dist : &rig->ref;
  Feed *starved = __i__ ? &rig->ref : &rig->dist;
  gint64 begin = g_get_monotonic_time ();

  rig_start_streams (rig, "format=I420");
  feed_script (full, "0 40 80 120 eos");
  rig_wait (rig, INFO_MESSAGE, 1);
  fail_unless (g_get_monotonic_time () - begin > 4 * G_TIME_SPAN_SECOND);
  rig_expect_text (rig, INFO_MESSAGE, words);
  fail_if (rig_waited (rig, INFO_MESSAGE, 2, 6000));
  feed_script (starved, "0 40 80 120 eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* The INFO of a pipeline that does not move; NULL when it came to its end. */
static gchar *
run_tee (const gchar * reference_queue, const gchar * other)
{
  gchar *text = g_strdup_printf ("videotestsrc num-buffers=90 ! video/x-raw,"
      "format=I420,width=64,height=48,framerate=25/1 ! tee name=t  t. ! %s ! "
      "q.ref_sink  t. ! %s ! q.dist_sink  hipvmaf name=q ! fakesink",
      reference_queue, other);
  GstElement *pipeline = gst_parse_launch (text, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *info = NULL;
  gchar *said = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_EOS |
      GST_MESSAGE_ERROR | GST_MESSAGE_INFO);
  fail_unless (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_INFO) {
    gst_message_parse_info (message, &info, NULL);
    said = g_strdup (info->message);
    g_error_free (info);
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (text);
  return said;
}

/* A tee without any queue: both pads are fed by one thread. It needs none where nothing keeps
 * frames back, be dist in time (0), a little late (1) or early (2). */
GST_START_TEST (test_tee_without_queues)
{
  static const gint64 offsets[] = { 0, 5, -5 };
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=50 ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! tee name=t "
      "t. ! q.ref_sink  t. ! q.dist_sink  hipvmaf name=q ! fakesink", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "q");
  GstPad *pad = gst_element_get_static_pad (element, "dist_sink");
  GstPad *peer = gst_pad_get_peer (pad);
  GstMessage *message;
  GstStructure *stats;
  guint64 pairs;

  gst_pad_set_offset (peer, offsets[__i__] * GST_MSECOND);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS |
      GST_MESSAGE_ERROR | GST_MESSAGE_INFO);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "pairs", &pairs));
  fail_unless_equals_uint64 (pairs, 50);
  gst_structure_free (stats);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (peer);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static void
expect_tee_deadlock (const gchar * other)
{
  gchar *said = run_tee ("queue", other);

  fail_unless (said != NULL, "nothing was said, or nothing stood still");
  fail_unless (strstr (said, "dist_sink") != NULL, "%s", said);
  fail_unless (strstr (said, "queue") != NULL, "%s", said);
  g_free (said);
  said = run_tee ("queue max-size-buffers=0 max-size-bytes=0 max-size-time=0",
      other);
  fail_unless (said == NULL, "%s", said);
}

/* A branch that keeps 60 frames back, as an encoder with a long lookahead does, against a queue
 * of one second. */
GST_START_TEST (test_tee)
{
  expect_tee_deadlock ("queue max-size-buffers=0 max-size-bytes=0 "
      "max-size-time=0 min-threshold-buffers=60");
}

GST_END_TEST;

GST_START_TEST (test_tee_x264)
{
  GstElementFactory *encoder = gst_element_factory_find ("x264enc");
  GstElementFactory *decoder = gst_element_factory_find ("avdec_h264");

  if (encoder && decoder)
    expect_tee_deadlock ("queue ! x264enc bitrate=100 ! avdec_h264");
  else
    g_print ("test_tee_x264 skipped: no x264enc or no avdec_h264\n");
  gst_clear_object (&encoder);
  gst_clear_object (&decoder);
}

GST_END_TEST;

static Suite *
live_suite (void)
{
  Suite *suite = suite_create ("live");
  TCase *tests = leak_checked_case (suite, "live");
  TCase *foreign = tcase_create ("foreign");

  tcase_add_loop_test (tests, test_silent_dist, 0, 3);
  tcase_add_loop_test (tests, test_silent_dist_forced, 0, 3);
  tcase_add_loop_test (tests, test_unlinked_dist, 0, 2);
  tcase_add_loop_test (tests, test_limit_of_waiting, 0, 2);
  tcase_add_loop_test (tests, test_live_pairs, 0, 2);
  tcase_add_loop_test (tests, test_live_late_dist, 0, 2);
  tcase_add_loop_test (tests, test_live_never_waits_for_the_meter, 0, 2);
  tcase_add_test (tests, test_live_silence_is_no_starving);
  tcase_add_test (tests, test_latency);
  tcase_add_loop_test (tests, test_latencies_that_do_not_fit, 0,
      2 * G_N_ELEMENTS (misfits));
  tcase_add_test (tests, test_late_by_its_latency);
  tcase_add_test (tests, test_in_step);
  tcase_add_loop_test (tests, test_starved, 0, 2);
  tcase_add_loop_test (tests, test_tee_without_queues, 0, 3);
  tcase_add_test (tests, test_tee);
  /* Loading libav leaves its type finders behind: no leak check here. */
  tcase_add_test (foreign, test_tee_x264);
  suite_add_tcase (suite, foreign);
  return suite;
}

GST_CHECK_MAIN (live);
