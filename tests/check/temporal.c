/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Metrics that look at neighbouring frames: nothing of them is lost at an end, and nothing goes
 * from one stream into the next. */
#include "common.h"

/* Motion on a reference that changes from frame to frame. */
static Rig *
moving_rig (guint first_picture)
{
  Rig *rig =
      rig_new ("features", "adm,motion=debug=true", "async-depth", 8, NULL);

  rig->ref.fixed_picture = FALSE;
  rig->ref.picture = rig->dist.picture = first_picture;
  return rig;
}

static gdouble
score (Rig * rig, guint n, const gchar * name)
{
  const GstStructure *message = rig_score (rig, FRAME_MESSAGE, n);
  gdouble value;

  fail_unless (message != NULL, "no frame message %u", n);
  fail_unless (gst_structure_get_double (message, name, &value), "no %s", name);
  return value;
}

/* The messages of `rig` from the nth on are those of a stream of its own, but for the index. */
static void
expect_like_own_stream (Rig * rig, guint nth, Rig * own)
{
  guint n = rig_count (own, FRAME_MESSAGE);

  fail_unless (n > 0);
  for (guint i = 0; i < n; i++) {
    static const gchar *names[] = { "integer_motion", "integer_motion2",
      "integer_adm2"
    };
    for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
      gdouble here = score (rig, nth + i, names[k]);
      gdouble there = score (own, i, names[k]);
      fail_unless (here == there, "%s of frame %u: %.17g, not %.17g", names[k],
          nth + i, here, there);
    }
  }
}

static void
expect_indices (Rig * rig, guint n)
{
  gint index;

  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), n);
  for (guint i = 0; i < n; i++) {
    fail_unless (gst_structure_get_int (rig_score (rig, FRAME_MESSAGE, i),
            "index", &index));
    fail_unless_equals_int (index, i);
  }
}

/* Every frame has its scores, in order, the last one too. */
GST_START_TEST (test_last_frame)
{
  Rig *rig = moving_rig (1);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120", "0 40 80 120");
  expect_indices (rig, 4);
  fail_unless (score (rig, 0, "integer_motion") == 0);
  for (guint i = 1; i < 4; i++)
    fail_unless (score (rig, i, "integer_motion") > 0);
  rig_free (rig);
}

GST_END_TEST;

/* A stream of one frame. */
GST_START_TEST (test_single_frame)
{
  Rig *rig = moving_rig (1);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0", "0");
  expect_indices (rig, 1);
  fail_unless (score (rig, 0, "integer_motion") == 0);
  rig_free (rig);
}

GST_END_TEST;

/* After a flush of both pads nothing is remembered of the frames before it. */
GST_START_TEST (test_flush)
{
  Rig *rig = moving_rig (1), *own = moving_rig (5);
  guint32 seqnum = gst_util_seqnum_next ();
  guint before;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 40 80 120");
  rig_wait (rig, FRAME_MESSAGE, 3);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  rig_wait (rig, BUFFER, 4);
  feed_flush_start (&rig->ref, seqnum);
  feed_flush_start (&rig->dist, seqnum);
  feed_flush_stop (&rig->ref, seqnum);
  feed_flush_stop (&rig->dist, seqnum);
  before = rig_count (rig, FRAME_MESSAGE);
  feed_segment (&rig->ref, 0, 0, 0, 1.0);
  feed_segment (&rig->dist, 0, 0, 0, 1.0);
  rig_play (rig, "0 40 80", "0 40 80");
  rig_start_streams (own, "format=I420");
  rig_play (own, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), before + 3);
  expect_like_own_stream (rig, before, own);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_count (rig,
          FRAME_MESSAGE) + rig_stat (rig, "flushed"));
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* Nor after a change of caps; and the last frame before it is not lost. */
GST_START_TEST (test_change_of_caps)
{
  Rig *rig = moving_rig (1), *own = moving_rig (4);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  feed_caps (&rig->ref, "format=I420_10LE");
  feed_caps (&rig->dist, "format=I420_10LE");
  rig_play (rig, "120 160 200", "120 160 200");
  rig_start_streams (own, "format=I420_10LE");
  rig_play (own, "0 40 80", "0 40 80");
  expect_indices (rig, 6);
  expect_like_own_stream (rig, 3, own);
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* Nor from one run to the next. */
GST_START_TEST (test_runs)
{
  Rig *rig = moving_rig (1), *own = moving_rig (4);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  gst_element_set_state (rig->element, GST_STATE_READY);
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  feed_begin (&rig->ref, "format=I420");
  feed_begin (&rig->dist, "format=I420");
  feed_script (&rig->ref, "0 40 80 eos");
  feed_script (&rig->dist, "0 40 80 eos");
  rig_wait (rig, EOS, 2);
  rig_start_streams (own, "format=I420");
  rig_play (own, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 6);
  expect_like_own_stream (rig, 3, own);
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* Stopped without EOS, the frame whose motion waits for the next one is scored as a last one. */
GST_START_TEST (test_stop)
{
  Rig *rig = moving_rig (1), *own = moving_rig (1);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, BUFFER, 3);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  gst_element_set_state (rig->element, GST_STATE_READY);
  rig_start_streams (own, "format=I420");
  rig_play (own, "0 40 80", "0 40 80");
  expect_indices (rig, 3);
  expect_like_own_stream (rig, 0, own);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* With room for one pair only, a metric that waits for the next frame gets it. */
GST_START_TEST (test_least_depth)
{
  Rig *rig =
      rig_new ("features", "adm,motion=debug=true", "async-depth", 1, NULL);
  Rig *deep = moving_rig (1);

  rig->ref.fixed_picture = FALSE;
  rig->ref.picture = 1;
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120", "0 40 80 120");
  rig_start_streams (deep, "format=I420");
  rig_play (deep, "0 40 80 120", "0 40 80 120");
  expect_indices (rig, 4);
  rig_expect_same_scores (rig, deep);
  rig_free (rig);
  rig_free (deep);
}

GST_END_TEST;

static Suite *
temporal_suite (void)
{
  Suite *suite = suite_create ("temporal");
  TCase *tests = leak_checked_case (suite, "temporal");

  tcase_add_test (tests, test_last_frame);
  tcase_add_test (tests, test_single_frame);
  tcase_add_test (tests, test_flush);
  tcase_add_test (tests, test_change_of_caps);
  tcase_add_test (tests, test_runs);
  tcase_add_test (tests, test_stop);
  tcase_add_test (tests, test_least_depth);
  return suite;
}

GST_CHECK_MAIN (temporal);
