/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is skipped when measuring cannot keep up, what is said of streams that find no partners in
 * each other, and that no score is another for either. */
#include "common.h"

#define FRAMES 60

static Rig *
moving_rig (const gchar * policy, gboolean live)
{
  Rig *rig = rig_new ("features", "adm,motion=debug=true", "async-depth", 2,
      NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "live-policy", policy);
  rig->ref.live = rig->dist.live = live;
  rig->ref.fixed_picture = FALSE;
  return rig;
}

/* A pair for each of these frames. */
static void
push_pairs (Rig * rig, guint begin, guint end)
{
  for (guint i = begin; i < end; i++) {
    rig->ref.picture = rig->dist.picture = i % 31 + 1;
    feed_push (&rig->dist, feed_frame (&rig->dist, i * FRAME_MS * GST_MSECOND));
    feed_push (&rig->ref, feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND));
  }
}

/* The same, neither stream far ahead of the other: live, nothing would pair that is. */
static void
push_in_step (Rig * rig, guint begin, guint end)
{
  for (guint i = begin; i < end; i += 5) {
    push_pairs (rig, i, i + 5);
    feed_settle (&rig->ref);
    feed_settle (&rig->dist);
  }
}

static gdouble
score (const GstStructure * message, const gchar * name)
{
  gdouble value;

  fail_unless (gst_structure_get_double (message, name, &value), "%s", name);
  return value;
}

static gint
index_of (const GstStructure * message)
{
  gint index;

  fail_unless (gst_structure_get_int (message, "index", &index));
  return index;
}

/* The run in which nothing is skipped. */
static Rig *
whole_run (guint frames)
{
  Rig *rig = moving_rig ("auto", FALSE);

  rig_start_streams (rig, "format=I420");
  push_pairs (rig, 0, frames);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), frames);
  return rig;
}

static guint
warnings_of_skipping (Rig * rig)
{
  guint found = 0;
  gchar *text;

  for (guint i = 0; (text = rig_text (rig, WARNING_MESSAGE, i)) != NULL; i++) {
    found += strstr (text, "skipped") != NULL;
    g_free (text);
  }
  return found;
}

/* Waits until there are more than that many. */
static void
await_stat (Rig * rig, const gchar * field, guint64 more_than)
{
  for (guint i = 0; rig_stat (rig, field) <= more_than && i < 1000; i++)
    g_usleep (10000);
  fail_unless (rig_stat (rig, field) > more_than);
}

static void
expect_all_accounted_for (Rig * rig)
{
  fail_unless_equals_uint64 (rig_stat (rig, "ref-frames"), rig_stat (rig,
          "pairs") + rig_stat (rig, "ref-unpaired"));
  fail_unless_equals_uint64 (rig_stat (rig, "dist-frames"), rig_stat (rig,
          "pairs") + rig_stat (rig, "dist-unpaired"));
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_stat (rig,
          "scored") + rig_stat (rig, "skipped") + rig_stat (rig, "flushed")
      + rig_stat (rig, "failed"));
}

/* Skipping: live (0), or because it is asked for (1). What is scored has the scores that it has
 * where nothing is skipped, motion too, be it with the frame before it or the one after it
 * skipped. */
GST_START_TEST (test_skipped)
{
  Rig *rig = moving_rig (__i__ ? "skip" : "auto", !__i__);
  Rig *whole = whole_run (FRAMES);
  guint before = 0;

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  push_in_step (rig, 0, 45);
  rig_wait (rig, BUFFER, 44);
  await_stat (rig, "skipped", 10);
  rig_open_gate (rig);
  push_in_step (rig, 45, FRAMES);
  rig_play (rig, "", "");
  fail_unless_equals_int (warnings_of_skipping (rig), 1);
  fail_unless (rig_count (rig, FRAME_MESSAGE) > 10);
  for (guint i = 0; i < rig_count (rig, FRAME_MESSAGE); i++) {
    static const gchar *names[] = { "integer_motion", "integer_motion2",
      "integer_motion3", "integer_adm2"
    };
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    guint index = index_of (message);

    before += index > 0 && i > 0
        && index_of (rig_score (rig, FRAME_MESSAGE, i - 1)) + 1 < (gint) index;
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      fail_unless (score (message, names[k]) == score (rig_score (whole,
                  FRAME_MESSAGE, index), names[k]), "%s of frame %u", names[k],
          index);
  }
  fail_unless (before > 0, "nothing was skipped between scored frames");
  expect_all_accounted_for (rig);
  rig_free (rig);
  rig_free (whole);
}

GST_END_TEST;

/* Where even that is too much to keep, what follows is a new stream: its first frame does not move.
 * No frame has the distance to one that is not the one before it. */
GST_START_TEST (test_cut)
{
  const guint frames = 700;
  Rig *rig = moving_rig ("auto", TRUE), *whole;
  guint still = 0;

  g_object_set (rig->element, "features", "motion=debug=true", NULL);
  whole = whole_run (frames + 20);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  push_in_step (rig, 0, frames);
  rig_open_gate (rig);
  /* Time to get through what was passed, so that a pair that is scored comes next. */
  g_usleep (1000000);
  push_in_step (rig, frames, frames + 20);
  rig_play (rig, "", "");
  rig_expect_stats (rig, "ref-unpaired=0 dist-unpaired=0");
  for (guint i = 0; i < rig_count (rig, FRAME_MESSAGE); i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    guint index = index_of (message);
    gdouble motion = score (message, "integer_motion");

    if (index == 0 || motion != 0)
      fail_unless (motion == score (rig_score (whole, FRAME_MESSAGE, index),
              "integer_motion"), "motion of frame %u", index);
    else
      still++;
  }
  /* None where that took longer: then a pair that was passed came first. */
  fail_unless (still <= 1);
  expect_all_accounted_for (rig);
  rig_free (rig);
  rig_free (whole);
}

GST_END_TEST;

/* Blocking, also where the streams are live: nothing is skipped, and the reference waits. */
GST_START_TEST (test_block)
{
  Rig *rig = moving_rig (__i__ ? "block" : "auto", __i__);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  push_pairs (rig, 0, 6);
  rig_wait_at_gate (rig);
  await_stat (rig, "pairs", 3);
  push_pairs (rig, 6, 20);
  fail_if (rig_waited (rig, BUFFER, 15, 500));
  rig_open_gate (rig);
  push_in_step (rig, 20, FRAMES);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), FRAMES);
  rig_expect_stats (rig, "skipped=0");
  fail_unless_equals_int (warnings_of_skipping (rig), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Unpaired ----------------------------------------------------------------------------------- */

/* The nth VMAF message of that type. */
static const GstStructure *
state_message (Rig * rig, const gchar * type, guint n)
{
  const GstStructure *found;

  for (guint i = 0; (found = rig_score (rig, OTHER, i)) != NULL; i++) {
    if (gst_structure_has_name (found, "VMAF")
        && g_str_equal (gst_structure_get_string (found, "type"), type)
        && n-- == 0)
      return found;
  }
  return NULL;
}

static const GstStructure *
await (Rig * rig, const gchar * type, guint n)
{
  gint64 end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;
  const GstStructure *found;

  while ((found = state_message (rig, type, n)) == NULL
      && g_get_monotonic_time () < end)
    g_usleep (10000);
  fail_unless (found != NULL, "no message %s", type);
  return found;
}

static void
expect_silent (const GstStructure * message, const gchar * silent)
{
  guint64 duration;

  fail_unless_equals_string (gst_structure_get_string (message, "silent"),
      silent);
  fail_unless (gst_structure_get_uint64 (message, "duration", &duration));
  fail_unless (duration >= GST_SECOND);
}

static gboolean
stats_paired (Rig * rig)
{
  GstStructure *stats;
  gboolean paired;

  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_boolean (stats, "paired", &paired));
  gst_structure_free (stats);
  return paired;
}

static Rig *
watching_rig (gboolean live)
{
  Rig *rig = moving_rig ("auto", live);

  g_object_set (rig->element, "timeout", GST_SECOND, NULL);
  return rig;
}

/* The distorted stream stops: the reference flows, it is said, what waited for the next frame is
 * scored without it, and when the stream comes back measuring goes on as at a beginning. */
GST_START_TEST (test_distorted_stops)
{
  Rig *rig = watching_rig (TRUE), *whole = whole_run (10);
  guint n;

  rig_start_streams (rig, "format=I420");
  push_pairs (rig, 0, 5);
  rig_wait (rig, BUFFER, 5);
  fail_unless (state_message (rig, "unpaired", 0) == NULL);
  for (guint i = 5; state_message (rig, "unpaired", 0) == NULL; i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND));
    rig_wait (rig, BUFFER, i + 1);
    g_usleep (FRAME_MS * 1000);
    fail_unless (i < 200);
  }
  expect_silent (await (rig, "unpaired", 0), "dist_sink");
  feed_push (&rig->ref, feed_frame (&rig->ref, 8000 * GST_MSECOND));
  rig_wait (rig, FRAME_MESSAGE, 5);
  fail_unless (!stats_paired (rig));
  push_pairs (rig, 300, 310);
  await (rig, "paired", 0);
  rig_play (rig, "", "");
  fail_unless (state_message (rig, "unpaired", 1) == NULL);
  fail_unless (state_message (rig, "paired", 1) == NULL);
  n = rig_count (rig, FRAME_MESSAGE);
  fail_unless_equals_int (n, 15);
  for (guint i = 5; i < n; i++)
    fail_unless ((score (rig_score (rig, FRAME_MESSAGE, i), "integer_motion")
            == 0) == (i == 5));
  fail_unless (score (rig_score (rig, FRAME_MESSAGE, 4), "integer_motion2")
      == score (rig_score (whole, FRAME_MESSAGE, 4), "integer_motion"));
  expect_all_accounted_for (rig);
  rig_free (rig);
  rig_free (whole);
}

GST_END_TEST;

/* The reference stops (0), neither stream comes (1), or both do and nothing pairs (2). */
GST_START_TEST (test_silent)
{
  static const gchar *const silent[] = { "ref_sink", "both", "none" };
  Rig *rig = watching_rig (TRUE);

  rig_start_streams (rig, "format=I420");
  push_pairs (rig, 0, 3);
  rig_wait (rig, BUFFER, 3);
  feed_settle (&rig->dist);
  if (__i__ == 0)
    feed_push (&rig->dist, feed_frame (&rig->dist, 120 * GST_MSECOND));
  for (guint i = 0; __i__ == 2 && state_message (rig, "unpaired", 0) == NULL;
      i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, (200 + 40 * i)
            * GST_MSECOND));
    feed_push (&rig->dist, feed_frame (&rig->dist, (220 + 40 * i)
            * GST_MSECOND));
    g_usleep (FRAME_MS * 1000);
    fail_unless (i < 200);
  }
  expect_silent (await (rig, "unpaired", 0), silent[__i__]);
  push_pairs (rig, 400, 402);
  await (rig, "paired", 0);
  rig_free (rig);
}

GST_END_TEST;

/* Not live (0), or with timeout=0 (1), nobody counts; nor while PAUSED (2), nor after the end (3). */
GST_START_TEST (test_nothing_to_say)
{
  Rig *rig = watching_rig (__i__ != 0);

  if (__i__ == 1)
    g_object_set (rig->element, "timeout", G_GUINT64_CONSTANT (0), NULL);
  rig_start_streams (rig, "format=I420");
  push_pairs (rig, 0, 3);
  rig_wait (rig, BUFFER, __i__ == 0 ? 2 : 3);
  if (__i__ == 2)
    gst_element_set_state (rig->element, GST_STATE_PAUSED);
  if (__i__ == 3)
    rig_play (rig, "", "");
  g_usleep (2000000);
  fail_unless (state_message (rig, "unpaired", 0) == NULL);
  rig_free (rig);
}

GST_END_TEST;

/* Gaps without end on a stream that finds no partner take no memory without end. */
GST_START_TEST (test_gaps)
{
  Rig *rig = watching_rig (TRUE);

  rig->count_only = TRUE;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0");
  rig_wait (rig, BUFFER, 1);
  for (guint i = 0; i < 2000; i++)
    feed_script (&rig->ref, "gap@40+0");
  /* The oldest gave way. */
  await_stat (rig, "ref-unpaired", 0);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
skips_suite (void)
{
  Suite *suite = suite_create ("skips");
  TCase *tests = leak_checked_case (suite, "skips");

  tcase_add_loop_test (tests, test_skipped, 0, 2);
  tcase_add_test (tests, test_cut);
  tcase_add_loop_test (tests, test_block, 0, 2);
  tcase_add_test (tests, test_distorted_stops);
  tcase_add_loop_test (tests, test_silent, 0, 3);
  tcase_add_loop_test (tests, test_nothing_to_say, 0, 4);
  tcase_add_test (tests, test_gaps);
  return suite;
}

GST_CHECK_MAIN (skips);
