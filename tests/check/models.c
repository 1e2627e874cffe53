/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Models: their scores in messages, and when they come. */
#include "common.h"

#include <math.h>

static gdouble
get_score (const GstStructure * message, const gchar * name)
{
  gdouble score;

  fail_unless (gst_structure_get_double (message, name, &score), "no %s", name);
  return score;
}

/* The pooled score is the mean of the frames'. */
static void
expect_mean (Rig * rig, const gchar * name, guint frames)
{
  gdouble sum = 0;

  for (guint i = 0; i < frames; i++)
    sum += get_score (rig_score (rig, FRAME_MESSAGE, i), name);
  fail_unless (fabs (get_score (rig_score (rig, POOLED_MESSAGE, 0), name)
          - sum / frames) < 1e-9);
}

/* An element made without a word gives VMAF, for one frame as for many. */
GST_START_TEST (test_default)
{
  static const gchar *const scripts[] = { "0", "0 40", "0 40 80 120 160" };
  static const gchar *const names[] = { "score", "vmaf_v0.6.1", "integer_adm2",
    "integer_motion2", "integer_vif_scale0", "integer_vif_scale3"
  };
  static const guint frames[] = { 1, 2, 5 };
  Rig *rig = rig_new (NULL);

  g_object_set (rig->element, "model-filename", "vmaf_v0.6.1", "features", "",
      NULL);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, scripts[__i__], scripts[__i__]);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), frames[__i__]);
  for (guint i = 0; i < frames[__i__]; i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    gint index;
    gdouble score = get_score (message, "score");

    fail_unless (gst_structure_get_int (message, "index", &index));
    fail_unless_equals_int (index, i);
    fail_unless (score >= 0 && score <= 100);
    fail_unless_equals_float (get_score (message, "vmaf_v0.6.1"), score);
    fail_if (gst_structure_has_field (message, "vmaf_bagging"));
  }
  for (guint k = 0; k < G_N_ELEMENTS (names); k++)
    expect_mean (rig, names[k], frames[__i__]);
  rig_free (rig);
}

GST_END_TEST;

/* Several models, and a metric that one of them needs too. */
GST_START_TEST (test_list)
{
  static const gchar *const names[] = { "score", "vmaf_v0.6.1neg",
    "vmaf_b_v0.6.3", "vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo",
    "vmaf_ci_p95_hi", "integer_adm2_egl_1", "integer_adm2", "integer_adm_num"
  };
  Rig *rig = rig_new ("model-filename", " vmaf_v0.6.1neg, vmaf_b_v0.6.3",
      "features", "adm=debug=true", "conf-interval", TRUE, NULL);
  const GstStructure *message;

  rig_start_streams (rig, "format=I420_10LE");
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  for (guint k = 0; k < G_N_ELEMENTS (names); k++)
    expect_mean (rig, names[k], 3);
  message = rig_score (rig, FRAME_MESSAGE, 1);
  fail_unless_equals_float (get_score (message, "score"),
      get_score (message, "vmaf_v0.6.1neg"));
  fail_unless (get_score (message, "vmaf_ci_p95_lo")
      <= get_score (message, "vmaf_ci_p95_hi"));
  rig_free (rig);
}

GST_END_TEST;

/* The transform lifts scores, and is one whichever property asks for it. */
GST_START_TEST (test_settings)
{
  static const gchar *const settings[] = { "disable-clip", "enable-transform",
    "phone-model"
  };
  gdouble scores[G_N_ELEMENTS (settings)];

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    Rig *rig = rig_new ("model-filename", " vmaf_v0.6.1", settings[i], TRUE,
        NULL);

    rig_start_streams (rig, "format=I420");
    rig_play (rig, "0 40", "0 40");
    scores[i] = get_score (rig_score (rig, POOLED_MESSAGE, 0), "score");
    rig_free (rig);
  }
  fail_if (scores[0] == scores[1]);
  fail_unless_equals_float (scores[1], scores[2]);
}

GST_END_TEST;

/* Frames before a change of size are scored as a stream that ended; the one after it is a first
 * one, with no motion. */
GST_START_TEST (test_size_change)
{
  Rig *rig = rig_new ("model-filename", " vmaf_v0.6.1", NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  feed_caps (&rig->ref, "format=I420,width=96,height=64");
  feed_caps (&rig->dist, "format=I420,width=96,height=64");
  rig_play (rig, "120 160", "120 160");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 5);
  for (guint i = 0; i < 5; i++)
    get_score (rig_score (rig, FRAME_MESSAGE, i), "score");
  fail_unless_equals_float (get_score (rig_score (rig, FRAME_MESSAGE, 3),
          "integer_motion2"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Motion is between frames that follow each other, also where not all are scored: scores with
 * subsample are those of the whole run. */
GST_START_TEST (test_subsample)
{
  static const gchar script[] = "0 40 80 120 160 200 240";
  Rig *all = rig_new ("model-filename", " vmaf_v0.6.1", NULL);
  Rig *some = rig_new ("model-filename", " vmaf_v0.6.1", "subsample", 3, NULL);

  all->ref.fixed_picture = some->ref.fixed_picture = FALSE;
  rig_start_streams (all, "format=I420");
  rig_play (all, script, script);
  rig_start_streams (some, "format=I420");
  rig_play (some, script, script);
  fail_unless_equals_int (rig_count (all, FRAME_MESSAGE), 7);
  fail_unless_equals_int (rig_count (some, FRAME_MESSAGE), 3);
  for (guint i = 0; i < 3; i++) {
    const GstStructure *one = rig_score (some, FRAME_MESSAGE, i);
    const GstStructure *other = rig_score (all, FRAME_MESSAGE, 3 * i);

    fail_unless (gst_structure_is_equal (one, other));
    fail_unless (i == 0 || get_score (one, "integer_motion2") > 0);
  }
  expect_mean (some, "score", 3);
  rig_expect_stats (some, "pairs=7 scored=3 flushed=0 skipped=0");
  rig_free (all);
  rig_free (some);
}

GST_END_TEST;

/* A flush drops the frame whose motion waits for the next one; the frame after it is a first one. */
GST_START_TEST (test_flush)
{
  Rig *rig = rig_new ("model-filename", " vmaf_v0.6.1", NULL);
  guint32 seqnum = gst_util_seqnum_next ();
  Feed *feeds[] = { &rig->ref, &rig->dist };

  rig->ref.fixed_picture = FALSE;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, FRAME_MESSAGE, 2);
  for (guint i = 0; i < 2; i++)
    feed_flush_start (feeds[i], seqnum);
  for (guint i = 0; i < 2; i++) {
    feed_flush_stop (feeds[i], seqnum);
    feed_segment (feeds[i], 0, 0, 0, 1.0);
  }
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 4);
  fail_unless (get_score (rig_score (rig, FRAME_MESSAGE, 1),
          "integer_motion2") > 0);
  fail_unless_equals_float (get_score (rig_score (rig, FRAME_MESSAGE, 2),
          "integer_motion2"), 0);
  fail_unless (get_score (rig_score (rig, FRAME_MESSAGE, 3),
          "integer_motion2") > 0);
  rig_expect_stats (rig, "flushed=1 scored=4");
  rig_free (rig);
}

GST_END_TEST;

static Suite *
models_suite (void)
{
  Suite *suite = suite_create ("models");
  TCase *tests = leak_checked_case (suite, "models");

  tcase_add_loop_test (tests, test_default, 0, 3);
  tcase_add_test (tests, test_list);
  tcase_add_test (tests, test_settings);
  tcase_add_test (tests, test_size_change);
  tcase_add_test (tests, test_subsample);
  tcase_add_test (tests, test_flush);
  return suite;
}

GST_CHECK_MAIN (models);
