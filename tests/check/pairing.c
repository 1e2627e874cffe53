/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which frames are measured together. */
#include "common.h"

/* A case: both scripts, the caps' frame rate and the buffers' durations in ms (0: none) of each
 * stream, and what must come of it. */
typedef struct
{
  const gchar *what;
  const gchar *ref, *dist;
  const gchar *ref_rate, *dist_rate;
  guint ref_ms, dist_ms;
  const gchar *pairs;
  const gchar *stats;
} Case;

#define RATE "25/1"

static const Case cases[] = {
  {"equal times", "0 40 80", "0 40 80", RATE, RATE, 40, 40,
        "0:1 40:2 80:3",
      "pairs=3 ref-frames=3 ref-unpaired=0 dist-frames=3 dist-unpaired=0"},
  {"twice the rate on dist", "0 40 80 120", "0 20 40 60 80 100 120 140",
        RATE, "50/1", 40, 20, "0:1 40:3 80:5 120:7",
      "pairs=4 ref-frames=4 ref-unpaired=0"},
  {"twice the rate on ref", "0 20 40 60 80 100", "0 40 80", "50/1", RATE, 20,
        40, "0:1 40:2 80:3",
      "pairs=3 ref-frames=6 ref-unpaired=3 dist-frames=3 dist-unpaired=0"},
  {"25 against 30", "0 40 80 120 160 200", "0 33 67 100 133 167 200", RATE,
        "30/1", 40, 33, "0:1 40:2 80:3 120:5 160:6 200:7",
      "pairs=6 ref-unpaired=0 dist-unpaired=1"},
  {"jitter below half", "0 40 80 120", "19 21 99 101", RATE, RATE, 40, 40,
      "0:1 40:2 80:3 120:4", "pairs=4 ref-unpaired=0 dist-unpaired=0"},
  {"exactly half is no pair", "0 40 80", "20 60 100", RATE, RATE, 40, 40, "",
      "pairs=0 ref-unpaired=3 dist-unpaired=3"},
  {"above half", "0 80 160", "21 101 181", RATE, RATE, 40, 40, "",
      "pairs=0 ref-unpaired=3 dist-unpaired=3"},
  {"the shorter duration is ref's", "0 40 80", "9 52 80", RATE, RATE, 20, 40,
      "0:1 80:3", "pairs=2 ref-unpaired=1 dist-unpaired=1"},
  {"the shorter duration is dist's", "0 40 80", "9 52 80", RATE, RATE, 40, 20,
      "0:1 80:3", "pairs=2 ref-unpaired=1 dist-unpaired=1"},
  {"the duration from the rate", "0 40 80", "9 52 80", RATE, "50/1", 0, 0,
      "0:1 80:3", "pairs=2 ref-unpaired=1 dist-unpaired=1"},
  {"the duration from the distance", "0 100 200", "0 149 251", "0/1", "0/1",
      0, 0, "0:1 100:2", "pairs=2 ref-unpaired=1 dist-unpaired=1"},
  {"one dropped on dist", "0 40 80 120 160", "0 40 120 160", RATE, RATE, 40,
      40, "0:1 40:2 120:3 160:4", "pairs=4 ref-unpaired=1 dist-unpaired=0"},
  {"one dropped on ref", "0 40 120 160", "0 40 80 120 160", RATE, RATE, 40,
      40, "0:1 40:2 120:4 160:5", "pairs=4 ref-unpaired=0 dist-unpaired=1"},
  {"the first ones dropped on dist", "0 40 80 120", "80 120", RATE, RATE, 40,
      40, "80:1 120:2", "pairs=2 ref-unpaired=2 dist-unpaired=0"},
  {"the first ones dropped on ref", "80 120", "0 40 80 120", RATE, RATE, 40,
      40, "80:3 120:4", "pairs=2 ref-unpaired=0 dist-unpaired=2"},
  {"one too many on dist", "0 40 80 120", "0 40 60 80 120", RATE, RATE, 40,
      40, "0:1 40:2 80:4 120:5", "pairs=4 ref-unpaired=0 dist-unpaired=1"},
  {"one too many on ref", "0 40 60 80 120", "0 40 80 120", RATE, RATE, 40, 40,
      "0:1 40:2 80:3 120:4", "pairs=4 ref-unpaired=1 dist-unpaired=0"},
  {"the same time twice on dist", "0 40 80", "0 40 40 80", RATE, RATE, 40, 40,
      "0:1 40:2 80:4", "pairs=3 ref-unpaired=0 dist-unpaired=1"},
  {"the last frame repeated", "0 40 80", "0 40 80 120", RATE, RATE, 40, 40,
      "0:1 40:2 80:3", "pairs=3 ref-unpaired=0"},
  {"the earlier on a tie", "0 40 80", "0 30 50 80", RATE, RATE, 40, 40,
      "0:1 40:2 80:4", "pairs=3 ref-unpaired=0 dist-unpaired=1"},
  {"the nearer, if later", "0 40 80", "0 29 45 80", RATE, RATE, 40, 40,
      "0:1 40:3 80:4", "pairs=3 ref-unpaired=0 dist-unpaired=1"},
  {"the nearer ref frame", "0 30 80", "16 80", RATE, RATE, 40, 40,
      "30:1 80:2", "pairs=2 ref-unpaired=1 dist-unpaired=0"},
  {"no PTS on ref", "0 - - 120", "0 40 80 120", RATE, RATE, 40, 40,
      "0:1 40:2 80:3 120:4", "pairs=4 ref-unpaired=0 dist-unpaired=0"},
  {"no PTS on dist", "0 40 80 120", "0 - - 120", RATE, RATE, 40, 40,
      "0:1 40:2 80:3 120:4", "pairs=4 ref-unpaired=0 dist-unpaired=0"},
  {"no PTS and no duration", "0 40 80 120", "0 - - 120", RATE, RATE, 40, 0,
      "0:1 40:2 80:3 120:4", "pairs=4 ref-unpaired=0 dist-unpaired=0"},
  {"a GAP event on dist", "0 40 80", "0 gap@40+40 80", RATE, RATE, 40, 40,
      "0:1 80:2", "pairs=2 ref-unpaired=1 dist-frames=2 dist-unpaired=0"},
  {"a GAP event on ref", "0 gap@40+40 80", "0 40 80", RATE, RATE, 40, 40,
      "0:1 80:3", "pairs=2 ref-frames=2 ref-unpaired=0 dist-unpaired=1"},
  {"an empty buffer on dist", "0 40 80", "0 empty@40+40 80", RATE, RATE, 40,
      40, "0:1 80:2", "pairs=2 ref-unpaired=1 dist-frames=2 dist-unpaired=0"},
  {"an empty buffer on ref", "0 empty@40+40 80", "0 40 80", RATE, RATE, 40,
      40, "0:1 80:3", "pairs=2 ref-frames=2 ref-unpaired=0 dist-unpaired=1"},
  {"gaps on both", "0 gap@40+80 120", "0 gap@40+80 120", RATE, RATE, 40, 40,
      "0:1 120:2", "pairs=2 ref-frames=2 dist-frames=2 ref-unpaired=0"},
  {"a full-size frame with the GAP flag", "0 flagged@40 80",
        "0 flagged@40 80", RATE, RATE, 40, 40, "0:1 40:2 80:3",
      "pairs=3 ref-unpaired=0 dist-unpaired=0"},
  {"no distorted frame at all", "0 40 80", "", RATE, RATE, 40, 40, "",
      "pairs=0 ref-frames=3 ref-unpaired=3 dist-frames=0"},
  {"no reference frame at all", "", "0 40 80", RATE, RATE, 40, 40, "",
      "pairs=0 ref-frames=0"},
};

static void
begin (Feed * feed, const gchar * rate, guint duration)
{
  gchar *fields = g_strdup_printf ("framerate=(fraction)%s", rate);

  feed_begin (feed, fields);
  feed->frame_duration = duration ? duration * GST_MSECOND :
      GST_CLOCK_TIME_NONE;
  g_free (fields);
}

GST_START_TEST (test_case)
{
  const Case *test = &cases[__i__];
  Rig *rig = rig_new (NULL);

  GST_INFO ("%s", test->what);
  rig_start (rig);
  begin (&rig->ref, test->ref_rate, test->ref_ms);
  begin (&rig->dist, test->dist_rate, test->dist_ms);
  rig_play (rig, test->ref, test->dist);
  rig_expect_pairs (rig, test->pairs);
  rig_expect_stats (rig, test->stats);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE),
      rig_stat (rig, "pairs") == 0 && rig_stat (rig, "ref-frames") > 0);
  rig_free (rig);
}

GST_END_TEST;

/* Running times pair, whatever the segments. */
typedef struct
{
  const gchar *what;
  guint ref_start, ref_base, dist_start, dist_base;     /* ms */
  gdouble ref_rate;
  guint ref_ms;                 /* the reference buffers' duration */
  const gchar *ref, *dist, *pairs, *stats;
} SegmentCase;

static const SegmentCase segment_cases[] = {
  {"another start", 1000, 0, 0, 0, 1.0, 40, "1000 1040 1080", "0 40 80",
      "1000:1 1040:2 1080:3", "pairs=3"},
  {"another base", 0, 500, 500, 500, 1.0, 40, "0 40 80", "500 540 580",
      "0:1 40:2 80:3", "pairs=3"},
  {"a base of its own", 0, 80, 0, 0, 1.0, 40, "0 40 80", "0 40 80 120 160",
      "0:3 40:4 80:5", "pairs=3 dist-unpaired=2"},
  {"twice the speed", 0, 0, 0, 0, 2.0, 80, "0 80 160", "0 40 80",
      "0:1 80:2 160:3", "pairs=3"},
  {"frames before the segment", 80, 0, 80, 0, 1.0, 40, "0 40 80 120",
      "0 40 80 120", "80:3 120:4", "pairs=2"},
};

GST_START_TEST (test_segments)
{
  const SegmentCase *test = &segment_cases[__i__];
  Rig *rig = rig_new (NULL);

  GST_INFO ("%s", test->what);
  rig_start_streams (rig, "format=I420");
  rig->ref.frame_duration = test->ref_ms * GST_MSECOND;
  feed_segment (&rig->ref, test->ref_start * GST_MSECOND,
      test->ref_base * GST_MSECOND, 0, test->ref_rate);
  feed_segment (&rig->dist, test->dist_start * GST_MSECOND,
      test->dist_base * GST_MSECOND, 0, 1.0);
  rig_play (rig, test->ref, test->dist);
  rig_expect_pairs (rig, test->pairs);
  rig_expect_stats (rig, test->stats);
  rig_free (rig);
}

GST_END_TEST;

/* A new segment in mid-stream, not at the same frame on both pads. */
GST_START_TEST (test_segment_change)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_segment (&rig->ref, 5000 * GST_MSECOND, 80 * GST_MSECOND, 0, 1.0);
  rig_play (rig, "5000 5040", "0 40 80 120");
  rig_expect_pairs (rig, "0:1 40:2 5000:3 5040:4");
  rig_free (rig);
}

GST_END_TEST;

/* An offset of a pad is part of running time. */
GST_START_TEST (test_pad_offset)
{
  Rig *rig = rig_new (NULL);

  rig_start (rig);
  gst_pad_set_offset (rig->dist.pad, 80 * GST_MSECOND);
  feed_begin (&rig->ref, "format=I420");
  feed_begin (&rig->dist, "format=I420");
  rig_play (rig, "0 40 80 120", "0 40 80 120");
  rig_expect_pairs (rig, "80:1 120:2");
  rig_free (rig);
}

GST_END_TEST;

/* A gap on dist settles the frames that it covers: they go on before anything follows it. */
GST_START_TEST (test_gap_settles)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 gap@40+400");
  rig_wait (rig, BUFFER, 4);
  rig_play (rig, "160 200 440", "440");
  rig_expect_pairs (rig, "0:1 440:2");
  rig_expect_stats (rig, "ref-unpaired=5 dist-unpaired=0");
  rig_free (rig);
}

GST_END_TEST;

/* Random losses on either side, from a fixed seed: every frame that is there on both sides is
 * measured, with its own partner. */
GST_START_TEST (test_random_losses)
{
  Rig *rig = rig_new (NULL);
  GRand *rand = g_rand_new_with_seed (42 + __i__);
  GString *ref = g_string_new (NULL), *dist = g_string_new (NULL);
  GString *pairs = g_string_new (NULL);
  guint picture = 0;

  for (guint i = 0; i < 60 && picture < 31; i++) {
    guint time = i * FRAME_MS, late = time + g_rand_int_range (rand, 0, 20);
    gboolean has_ref = g_rand_int_range (rand, 0, 4) > 0;
    gboolean has_dist = g_rand_int_range (rand, 0, 4) > 0;
    if (has_ref)
      g_string_append_printf (ref, "%u ", time);
    if (has_dist) {
      g_string_append_printf (dist, "%u ", late);
      picture++;
    }
    if (has_ref && has_dist)
      g_string_append_printf (pairs, "%s%u:%u", pairs->len ? " " : "", time,
          picture);
  }
  rig_start_streams (rig, "format=I420");
  rig_play (rig, ref->str, dist->str);
  rig_expect_pairs (rig, pairs->str);
  g_string_free (ref, TRUE);
  g_string_free (dist, TRUE);
  g_string_free (pairs, TRUE);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

/* One frame of a random stream. */
typedef struct
{
  gint64 time, duration;        /* ms */
  gint partner;                 /* index on the other side, or -1 */
} Frame;

/* A frame rate, jitter of up to a quarter of a frame, one frame in five lost. */
static void
random_stream (GRand * rand, Frame * frames, guint n)
{
  static const gint periods[] = { 16, 20, 33, 40 };
  gint period = periods[g_rand_int_range (rand, 0, 4)];
  gint64 time = g_rand_int_range (rand, 0, 60) + period / 4;

  for (guint i = 0; i < n; i++) {
    frames[i].time =
        time + g_rand_int_range (rand, -period / 4, period / 4 + 1);
    frames[i].duration = period;
    frames[i].partner = -1;
    time += g_rand_int_range (rand, 0, 5) ? period : 2 * period;
  }
}

/* The rule as the design words it, without any thought of streaming: of all matches that are left,
 * the nearest one holds, the earlier on a tie. */
static void
pair_by_rule (Frame * ref, guint n_ref, Frame * dist, guint n_dist)
{
  for (;;) {
    gint64 best = G_MAXINT64, best_time = 0;
    guint best_r = 0, best_d = 0;
    for (guint r = 0; r < n_ref; r++) {
      for (guint d = 0; d < n_dist; d++) {
        gint64 apart = ABS (ref[r].time - dist[d].time);
        gint64 time = ref[r].time + dist[d].time;
        if (ref[r].partner >= 0 || dist[d].partner >= 0
            || 2 * apart >= MIN (ref[r].duration, dist[d].duration))
          continue;
        if (apart < best || (apart == best && time < best_time)) {
          best = apart;
          best_time = time;
          best_r = r;
          best_d = d;
        }
      }
    }
    if (best == G_MAXINT64)
      return;
    ref[best_r].partner = best_d;
    dist[best_d].partner = best_r;
  }
}

static void
push_stream (Feed * feed, const Frame * frames, guint n)
{
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = feed_frame (feed, frames[i].time * GST_MSECOND);
    GST_BUFFER_DURATION (buffer) = frames[i].duration * GST_MSECOND;
    feed_push (feed, buffer);
  }
}

#define RANDOM_FRAMES 30

/* Plays both streams: the element's pairs are the rule's. */
static void
expect_rule (Frame * ref, guint n_ref, Frame * dist, guint n_dist,
    const gchar * caps)
{
  GString *pairs = g_string_new (NULL);
  Rig *rig = rig_new (NULL);

  pair_by_rule (ref, n_ref, dist, n_dist);
  for (guint i = 0; i < n_ref; i++) {
    if (ref[i].partner >= 0)
      g_string_append_printf (pairs, "%s%d:%d", pairs->len ? " " : "",
          (gint) ref[i].time, ref[i].partner + 1);
  }
  rig_start_streams (rig, caps);
  push_stream (&rig->ref, ref, n_ref);
  push_stream (&rig->dist, dist, n_dist);
  rig_play (rig, "", "");
  rig_expect_pairs (rig, pairs->str);
  fail_unless_equals_int (rig_count (rig, BUFFER), n_ref);
  g_string_free (pairs, TRUE);
  rig_free (rig);
}

/* Two rates, jitter and losses. */
GST_START_TEST (test_random_times)
{
  GRand *rand = g_rand_new_with_seed (1000 + __i__);
  Frame ref[RANDOM_FRAMES], dist[RANDOM_FRAMES];

  random_stream (rand, ref, RANDOM_FRAMES);
  random_stream (rand, dist, RANDOM_FRAMES);
  expect_rule (ref, RANDOM_FRAMES, dist, RANDOM_FRAMES, "format=I420");
  g_rand_free (rand);
}

GST_END_TEST;

/* Both sides show the same moments at a variable rate, dist a little off, and each loses some. A
 * frame lasts until the next one of its side. */
GST_START_TEST (test_variable_rate)
{
  GRand *rand = g_rand_new_with_seed (3000 + __i__);
  Frame side[2][RANDOM_FRAMES];
  guint n[2] = { 0, 0 };

  for (gint64 time = 10; n[0] < RANDOM_FRAMES && n[1] < RANDOM_FRAMES;
      time += g_rand_int_range (rand, 20, 100)) {
    for (guint s = 0; s < 2; s++) {
      Frame *frame = &side[s][n[s]];
      if (g_rand_int_range (rand, 0, 5) == 0)
        continue;
      frame->time = s ? time + g_rand_int_range (rand, -4, 5) : time;
      frame->duration = 20;
      frame->partner = -1;
      if (n[s] > 0)
        frame[-1].duration = frame->time - frame[-1].time;
      n[s]++;
    }
  }
  expect_rule (side[0], n[0], side[1], n[1], "framerate=(fraction)0/1");
  g_rand_free (rand);
}

GST_END_TEST;

/* Words for a script that no sane stream would have: times that jump, gaps anywhere. */
static guint
wild_script (GRand * rand, GString * script)
{
  guint frames = 0;

  for (guint i = 0; i < 60; i++) {
    guint time = g_rand_int_range (rand, 0, 1000);
    guint kind = g_rand_int_range (rand, 0, 10);
    if (kind == 0)
      g_string_append_printf (script, "gap@%u+%u ", time, time / 4);
    else if (kind == 1)
      g_string_append_printf (script, "empty@%u+%u ", time, time / 4);
    else if (kind == 2)
      g_string_append (script, "- ");
    else
      g_string_append_printf (script, "%u ", kind < 6 ? i * FRAME_MS : time);
    frames += kind > 1;
  }
  return frames;
}

/* Whatever comes, every reference frame goes on, every frame that was taken is either in a pair
 * or counted as unpaired, and the stream ends. */
GST_START_TEST (test_wild_streams)
{
  GRand *rand = g_rand_new_with_seed (2000 + __i__);
  GString *ref = g_string_new (NULL), *dist = g_string_new (NULL);
  Rig *rig = rig_new (NULL);
  guint n = wild_script (rand, ref);

  wild_script (rand, dist);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, ref->str, dist->str);
  fail_unless_equals_int (rig_count (rig, BUFFER), n);
  fail_unless_equals_uint64 (rig_stat (rig, "ref-frames"), n);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs") + rig_stat (rig,
          "ref-unpaired"), n);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs") + rig_stat (rig,
          "dist-unpaired"), rig_stat (rig, "dist-frames"));
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_count (rig,
          FRAME_MESSAGE));
  g_string_free (ref, TRUE);
  g_string_free (dist, TRUE);
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

/* A stream that is ahead lets the other one come after it, and need not send more for that. */
GST_START_TEST (test_ahead)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 160 200 240 280 320 360 400");
  feed_script (&rig->dist, "0 400");
  rig_wait (rig, BUFFER, 10);
  rig_play (rig, "440", "440");
  rig_expect_pairs (rig, "0:1 400:2 440:3");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_ref_ahead)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 400");
  feed_script (&rig->dist, "0 40 80 120 160 200 240 280 320 360");
  feed_settle (&rig->dist);
  rig_play (rig, "440", "400 440");
  rig_expect_pairs (rig, "0:1 400:11 440:12");
  rig_free (rig);
}

GST_END_TEST;

static Suite *
pairing_suite (void)
{
  Suite *suite = suite_create ("pairing");
  TCase *tests = leak_checked_case (suite, "pairing");

  tcase_add_loop_test (tests, test_case, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tests, test_segments, 0, G_N_ELEMENTS (segment_cases));
  tcase_add_test (tests, test_segment_change);
  tcase_add_test (tests, test_pad_offset);
  tcase_add_test (tests, test_gap_settles);
  tcase_add_test (tests, test_ahead);
  tcase_add_test (tests, test_ref_ahead);
  tcase_add_loop_test (tests, test_random_losses, 0, 8);
  tcase_add_loop_test (tests, test_random_times, 0, 60);
  tcase_add_loop_test (tests, test_variable_rate, 0, 60);
  tcase_add_loop_test (tests, test_wild_streams, 0, 20);
  return suite;
}

GST_CHECK_MAIN (pairing);
