/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element on a GPU that fails, hangs, comes back, or is shared; the GPU is the emulator in
 * HIPVMAF_RUNTIME. Memory of a device that hangs is given up, so what is not released is looked at
 * test by test here. */
#include "emulated.h"

static gboolean may_leak;

static void
begin (void)
{
  may_leak = FALSE;
}

/* Threads that try a GPU again end by themselves. */
static void
expect_no_leaks (void)
{
  for (guint i = 0; i < 500 && !may_leak && emu_leaks () > 0; i++)
    g_usleep (10000);
  fail_unless (may_leak || emu_leaks () == 0);
}

static const gchar *const mid_stream[] = {
  "hipMemcpyHtoDAsync:7+", "hipModuleLaunchKernel:9+", "hipEventRecord:3+",
  "hipEventSynchronize:1+", "hipEventSynchronize:4+", "hipMemcpyDtoHAsync:5+",
  "hipSetDevice:80+"
};

/* One warning, and the CPU's scores for that very pair and all after it. */
GST_START_TEST (test_falls_back)
{
  static const gchar *const words[] = { "GPU", "CPU", NULL };
  Rig *cpu = play ("cpu", "format=I420");
  Rig *rig;

  emu_fail (mid_stream[__i__]);
  rig = play ("auto", "format=I420");
  rig_expect_same_scores (cpu, rig);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), N_PAIRS);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_expect_stats (rig, "failed=0");
  expect_stat (rig, NULL, "backend", "cpu");
  expect_stat (rig, "placement", "adm", "cpu");
  expect_status (rig, "lost: ");
  emu_fail (NULL);
  rig_free (cpu);
  rig_free (rig);
}

GST_END_TEST;

static gboolean
is_refused (Rig * rig)
{
  gboolean refused;

  g_mutex_lock (&rig->lock);
  refused = rig->ref.flow == GST_FLOW_ERROR;
  g_mutex_unlock (&rig->lock);
  return refused;
}

/* backend=hip: one error, and the streams are told to end. */
GST_START_TEST (test_breaks)
{
  static const gchar *const words[] = { "backend=hip", "backend=auto", NULL };
  Rig *rig = rig_new (NULL);

  emu_fail (mid_stream[__i__]);
  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", "hip");
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, TIMES);
  feed_script (&rig->dist, TIMES);
  rig_wait (rig, ERROR_MESSAGE, 1);
  for (guint i = 0; i < 500 && !is_refused (rig); i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, (20 + i) * FRAME_MS *
            GST_MSECOND));
    feed_push (&rig->dist, feed_frame (&rig->dist, (20 + i) * FRAME_MS *
            GST_MSECOND));
    g_usleep (20000);
  }
  fail_unless (is_refused (rig));
  rig_expect_text (rig, ERROR_MESSAGE, words);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 1);
  expect_status (rig, "lost: ");
  emu_fail (NULL);
  rig_free (rig);
}

GST_END_TEST;

/* What comes after a change of caps is lost with the GPU, too: no score of it, and no pooled ones. */
GST_START_TEST (test_breaks_before_other_caps)
{
  Rig *rig = rig_on ("hip", FEATURES);

  emu_fail (__i__ ? "hipEventSynchronize:2" : "hipEventRecord:5");
  rig_start_streams (rig, "format=NV12,width=40,height=34");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  feed_caps (&rig->ref, "format=I420_10LE,width=34,height=40");
  feed_caps (&rig->dist, "format=I420_10LE,width=34,height=40");
  feed_script (&rig->ref, "120 160 200 240 eos");
  feed_script (&rig->dist, "120 160 200 240 eos");
  rig_wait (rig, ERROR_MESSAGE, 1);
  g_usleep (200 * G_TIME_SPAN_MILLISECOND);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 1);
  emu_fail (NULL);
  rig_free (rig);
}

GST_END_TEST;

/* The metrics of this test, or those of the default model. */
static Rig *
play_or_model (const gchar * backend, gboolean model)
{
  Rig *rig = rig_on (backend, model ? "" : FEATURES);

  if (model)
    g_object_set (rig->element, "model-filename", "vmaf_v0.6.1", NULL);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, TIMES, TIMES);
  return rig;
}

static gulong
count_all_calls (gboolean model)
{
  gulong n;

  emu_fail (NULL);
  rig_free (play_or_model ("auto", model));
  n = emu_calls (NULL);
  fail_unless (n > 100, "%lu calls", n);
  return n;
}

/* Call by call (of the model's every seventh), alone or with all after it: auto never loses a pair
 * nor fails. */
GST_START_TEST (test_every_call)
{
  gboolean model = __i__ / 2;
  gulong n = count_all_calls (model);
  Rig *cpu = play_or_model ("cpu", model);

  for (gulong i = 1; i <= n; i += model ? 7 : 1) {
    gchar *spec = g_strdup_printf ("#%lu%s", i, __i__ % 2 ? "+" : "");
    Rig *rig;

    emu_fail (spec);
    rig = play_or_model ("auto", model);
    fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), N_PAIRS);
    fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
    fail_unless (rig_count (rig, WARNING_MESSAGE) <= 1);
    rig_expect_same_scores (cpu, rig);
    emu_fail (NULL);
    rig_free (rig);
    g_free (spec);
  }
  rig_free (cpu);
}

GST_END_TEST;

/* The same with backend=hip: the scores, or an error, and one only. */
GST_START_TEST (test_every_call_required)
{
  gulong n = count_all_calls (FALSE);
  guint errors = 0;

  for (gulong i = 1; i <= n; i++) {
    gchar *spec = g_strdup_printf ("#%lu", i);
    Rig *rig = rig_on ("hip", FEATURES);

    emu_fail (spec);
    if (rig_start (rig) != GST_STATE_CHANGE_FAILURE) {
      feed_begin (&rig->ref, "format=I420");
      feed_begin (&rig->dist, "format=I420");
      feed_script (&rig->ref, TIMES " eos");
      feed_script (&rig->dist, TIMES " eos");
      while (rig_count (rig, ERROR_MESSAGE) == 0
          && !rig_waited (rig, EOS, 1, 10));
    }
    gst_element_set_state (rig->element, GST_STATE_NULL);
    fail_unless (rig_count (rig, ERROR_MESSAGE) <= 1);
    fail_unless (rig_count (rig, ERROR_MESSAGE) == 1
        || rig_count (rig, FRAME_MESSAGE) == N_PAIRS, "call %lu", i);
    errors += rig_count (rig, ERROR_MESSAGE);
    emu_fail (NULL);
    rig_free (rig);
    g_free (spec);
  }
  fail_unless (errors > n / 2, "%u errors from %lu calls", errors, n);
}

GST_END_TEST;

/* A hang */

/* So long that no answer of the emulator's ever takes it. */
#define PATIENCE "3000000000"

static Rig *
patient_rig (const gchar * timeout)
{
  Rig *rig = rig_on ("auto", FEATURES);

  gst_util_set_object_arg (G_OBJECT (rig->element), "gpu-timeout", timeout);
  return rig;
}

/* The waits for a pair, for what a metric copies when it is made, and for a device that has failed
 * in another way before. */
static const gchar *const hangs[] = {
  "hipEventSynchronize:1=hang", "hipEventSynchronize:4=hang",
  "hipStreamSynchronize:1=hang", "hipStreamSynchronize:7=hang",
  "hipEventRecord:9+,hipStreamSynchronize:20+=hang"
};

/* As any other failure, once the time is over; and the way to NULL is not barred. */
GST_START_TEST (test_hangs)
{
  static const gchar *const words[] = { "GPU", "no answer within 0.300", NULL };
  Rig *cpu = play ("cpu", "format=I420");
  Rig *rig = patient_rig ("300000000");

  may_leak = TRUE;
  emu_fail (hangs[__i__]);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, TIMES, TIMES);
  rig_expect_same_scores (cpu, rig);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), N_PAIRS);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  if (strstr (hangs[__i__], "+") == NULL)
    rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_expect_stats (rig, "failed=0");
  expect_stat (rig, NULL, "backend", "cpu");
  rig_free (cpu);
  rig_free (rig);
  emu_fail (NULL);
}

GST_END_TEST;

/* Stopped while it is waited for: the meter is left behind, and ends by itself. */
GST_START_TEST (test_stop_in_hang)
{
  Rig *rig = patient_rig (PATIENCE);
  gint64 begun;

  may_leak = TRUE;
  emu_fail ("hipEventSynchronize:1=hang");
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  feed_settle (&rig->ref);
  begun = g_get_monotonic_time ();
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless (g_get_monotonic_time () - begun < 2 * G_TIME_SPAN_SECOND);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  rig_free (rig);
  g_usleep (3500 * G_TIME_SPAN_MILLISECOND);
  emu_fail (NULL);
}

GST_END_TEST;

/* Without a limit the device may take its time. */
GST_START_TEST (test_no_timeout)
{
  Rig *rig = patient_rig ("0");

  emu_fail ("hipEventSynchronize:3=hang");
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, TIMES " eos");
  feed_script (&rig->dist, TIMES " eos");
  fail_if (rig_waited (rig, EOS, 1, 700));
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  emu_fail (NULL);
  rig_wait (rig, EOS, 1);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), N_PAIRS);
  rig_free (rig);
}

GST_END_TEST;

/* And back */

#define MILLISECOND "1000000"

static void
push_pair (Rig * rig, guint n)
{
  feed_push (&rig->ref, feed_frame (&rig->ref, n * FRAME_MS * GST_MSECOND));
  feed_push (&rig->dist, feed_frame (&rig->dist, n * FRAME_MS * GST_MSECOND));
}

/* Feeds pairs until the GPU is lost; returns how many. */
static guint
feed_until_warned (Rig * rig)
{
  guint n;

  for (n = 0; rig_count (rig, WARNING_MESSAGE) == 0; n++) {
    fail_unless (n < 1000);
    push_pair (rig, n);
    feed_settle (&rig->ref);
    g_usleep (1000);
  }
  return n;
}

static gboolean
has_backend (Rig * rig, const gchar * expected)
{
  gchar *text = stat_text (rig, NULL, "backend");
  gboolean has = g_strcmp0 (text, expected) == 0;

  g_free (text);
  return has;
}

/* Feeds pairs until that measures them; from the nth on, and returns the next number. */
static guint
feed_until (Rig * rig, guint n, const gchar * backend)
{
  guint end = n + 1000;

  while (!has_backend (rig, backend)) {
    fail_unless (n < end, "after %u pairs %s does not measure", n, backend);
    push_pair (rig, n++);
    feed_settle (&rig->ref);
    g_usleep (1000);
  }
  return n;
}

/* The scores of so many pairs, all measured on the CPU, are those of the rig. */
static void
expect_scores_of_cpu (Rig * rig, guint n_pairs)
{
  Rig *cpu = rig_on ("cpu", FEATURES);

  rig_start_streams (cpu, "format=I420");
  for (guint n = 0; n < n_pairs; n++)
    push_pair (cpu, n);
  rig_play (cpu, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), n_pairs);
  rig_expect_same_scores (cpu, rig);
  rig_free (cpu);
}

static const gchar *const passing[] = {
  "hipModuleLaunchKernel:9", "hipEventSynchronize:4", "hipEventRecord:7",
  "hipMalloc:3", "hipEventSynchronize:2=hang"
};

/* What failed once is tried again, and measures again, twice over. */
GST_START_TEST (test_comes_back)
{
  static const gchar *const words[] = { "GPU works again", NULL };
  Rig *rig = patient_rig ("200000000");
  guint n;

  may_leak = strstr (passing[__i__], "hang") != NULL;
  gst_util_set_object_arg (G_OBJECT (rig->element), "gpu-retry", MILLISECOND);
  emu_fail (passing[__i__]);
  rig_start_streams (rig, "format=I420");
  n = feed_until_warned (rig);
  n = feed_until (rig, n, "hip");
  rig_expect_text (rig, INFO_MESSAGE, words);
  expect_status (rig, "in use");
  emu_fail ("hipGraphLaunch:5");
  n = feed_until (rig, n, "cpu");
  n = feed_until (rig, n, "hip");
  for (guint end = n + 5; n < end; n++)
    push_pair (rig, n);
  rig_play (rig, "", "");
  expect_stat (rig, NULL, "backend", "hip");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 2);
  fail_unless_equals_int (rig_count (rig, INFO_MESSAGE), 2);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  expect_scores_of_cpu (rig, n);
  rig_free (rig);
  emu_fail (NULL);
}

GST_END_TEST;

/* As long as it does not work, nothing more is said. */
GST_START_TEST (test_stays_away)
{
  static const gchar *const failing[] = {
    "hipModuleLaunchKernel:9+", "hipMalloc:40+", "hipSetDevice:60+"
  };
  Rig *rig = patient_rig (PATIENCE);
  guint n;

  gst_util_set_object_arg (G_OBJECT (rig->element), "gpu-retry", MILLISECOND);
  emu_fail (failing[__i__]);
  rig_start_streams (rig, "format=I420");
  n = feed_until (rig, 0, "cpu");
  for (guint end = n + 30; n < end; n++) {
    push_pair (rig, n);
    g_usleep (2000);
  }
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, INFO_MESSAGE), 0);
  expect_status (rig, "lost: ");
  expect_scores_of_cpu (rig, n);
  rig_free (rig);
  emu_fail (NULL);
}

GST_END_TEST;

/* The GPU that works again is the next meter's, too. */
GST_START_TEST (test_comes_back_with_other_caps)
{
  Rig *rig = patient_rig (PATIENCE);

  gst_util_set_object_arg (G_OBJECT (rig->element), "gpu-retry", MILLISECOND);
  emu_fail ("hipEventRecord:5");
  rig_start_streams (rig, "format=NV12,width=40,height=34");
  feed_until_warned (rig);
  g_usleep (200 * G_TIME_SPAN_MILLISECOND);
  feed_caps (&rig->ref, "format=I420_10LE,width=34,height=40");
  feed_caps (&rig->dist, "format=I420_10LE,width=34,height=40");
  feed_until (rig, 1000, "hip");
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, INFO_MESSAGE), 1);
  rig_expect_stats (rig, "failed=0");
  rig_free (rig);
  emu_fail (NULL);
}

GST_END_TEST;

/* Shared */

#define N_SHARING 3

/* Several elements on one device, all at once. */
GST_START_TEST (test_shared)
{
  Rig *cpu = play ("cpu", "format=I420");
  Rig *rigs[N_SHARING];

  for (guint i = 0; i < N_SHARING; i++) {
    rigs[i] = rig_on ("hip", FEATURES);
    rig_start_streams (rigs[i], "format=I420");
  }
  for (guint i = 0; i < N_SHARING; i++) {
    feed_script (&rigs[i]->ref, TIMES " eos");
    feed_script (&rigs[i]->dist, TIMES " eos");
  }
  for (guint i = 0; i < N_SHARING; i++) {
    rig_wait (rigs[i], EOS, 1);
    expect_stat (rigs[i], NULL, "backend", "hip");
    rig_expect_same_scores (cpu, rigs[i]);
    expect_silence (rigs[i]);
  }
  for (guint i = 0; i < N_SHARING; i++)
    rig_free (rigs[i]);
  rig_free (cpu);
}

GST_END_TEST;

/* A failure that one of them meets is its own. */
GST_START_TEST (test_shared_failure)
{
  Rig *cpu = play ("cpu", "format=I420");
  Rig *rigs[N_SHARING];
  guint lost = 0;

  for (guint i = 0; i < N_SHARING; i++) {
    rigs[i] = rig_on ("auto", FEATURES);
    rig_start_streams (rigs[i], "format=I420");
  }
  emu_fail (__i__ ? "hipModuleLaunchKernel:20" : "hipEventSynchronize:6");
  for (guint i = 0; i < N_SHARING; i++) {
    feed_script (&rigs[i]->ref, TIMES " eos");
    feed_script (&rigs[i]->dist, TIMES " eos");
  }
  for (guint i = 0; i < N_SHARING; i++) {
    rig_wait (rigs[i], EOS, 1);
    rig_expect_same_scores (cpu, rigs[i]);
    fail_unless_equals_int (rig_count (rigs[i], ERROR_MESSAGE), 0);
    lost += rig_count (rigs[i], WARNING_MESSAGE);
  }
  fail_unless_equals_int (lost, 1);
  for (guint i = 0; i < N_SHARING; i++)
    rig_free (rigs[i]);
  rig_free (cpu);
  emu_fail (NULL);
}

GST_END_TEST;

/* At random */

#define N_RANDOM_SHARES 50
#define N_RANDOM_RUNS 20        /* a share */
#define SMALL "format=I420,width=20,height=18"

/* One call or two of all, alone or with all after it; or one that hangs. */
static gchar *
random_failure (GRand * random, gulong n_calls, gboolean * silent)
{
  guint kind = g_rand_int_range (random, 0, 8);
  gulong first = g_rand_int_range (random, 1, n_calls);
  gulong second = first + g_rand_int_range (random, 1, n_calls);

  *silent = kind == 7;
  switch (kind) {
    case 7:
      return g_strdup_printf ("hip%sSynchronize:%d=hang",
          g_rand_boolean (random) ? "Event" : "Stream",
          g_rand_int_range (random, 1, 8));
    case 6:
      return g_strdup_printf ("#%lu,#%lu+", first, second);
    case 4:
    case 5:
      return g_strdup_printf ("#%lu,#%lu", first, second);
    case 2:
    case 3:
      return g_strdup_printf ("#%lu+", first);
    default:
      return g_strdup_printf ("#%lu", first);
  }
}

static void
play_with_failure (GRand * random, gulong n_calls, Rig * cpu, guint run)
{
  gboolean silent, retries = g_rand_boolean (random);
  gchar *spec = random_failure (random, n_calls, &silent);
  Rig *rig = patient_rig (silent ? "50000000" : PATIENCE);

  may_leak |= silent;
  g_object_set (rig->element, "async-depth", g_rand_int_range (random, 1, 5),
      "gpu-retry", retries ? (guint64) g_rand_int_range (random, 1,
          2 * GST_MSECOND) : 0, NULL);
  emu_fail (spec);
  rig_start_streams (rig, SMALL);
  rig_play (rig, TIMES, TIMES);
  fail_unless (rig_count (rig, FRAME_MESSAGE) == N_PAIRS
      && rig_count (rig, ERROR_MESSAGE) == 0
      && (retries || rig_count (rig, WARNING_MESSAGE) <= 1),
      "run %u, with %s: %u pairs, %u errors, %u warnings", run, spec,
      rig_count (rig, FRAME_MESSAGE), rig_count (rig, ERROR_MESSAGE),
      rig_count (rig, WARNING_MESSAGE));
  rig_expect_same_scores (cpu, rig);
  rig_free (rig);
  emu_fail (NULL);
  g_free (spec);
}

/* Whatever fails and when, every pair has its score, and it is the CPU's. */
GST_START_TEST (test_random)
{
  gulong n_calls = count_all_calls (FALSE);
  Rig *cpu = play ("cpu", SMALL);
  GRand *random = g_rand_new_with_seed (__i__);

  for (guint run = 0; run < N_RANDOM_RUNS; run++)
    play_with_failure (random, n_calls, cpu, run);
  g_rand_free (random);
  rig_free (cpu);
}

GST_END_TEST;

static Suite *
survival_suite (void)
{
  Suite *suite = suite_create ("survival");
  TCase *tcase = leak_checked_case (suite, "survival");

  emulated_add_fixture (tcase);
  tcase_add_checked_fixture (tcase, begin, expect_no_leaks);
  tcase_set_timeout (tcase, 200);
  tcase_add_loop_test (tcase, test_falls_back, 0, G_N_ELEMENTS (mid_stream));
  tcase_add_loop_test (tcase, test_breaks, 0, G_N_ELEMENTS (mid_stream));
  tcase_add_loop_test (tcase, test_breaks_before_other_caps, 0, 2);
  tcase_add_loop_test (tcase, test_every_call, 0, 4);
  tcase_add_test (tcase, test_every_call_required);
  tcase_add_loop_test (tcase, test_hangs, 0, G_N_ELEMENTS (hangs));
  tcase_add_test (tcase, test_stop_in_hang);
  tcase_add_test (tcase, test_no_timeout);
  tcase_add_loop_test (tcase, test_comes_back, 0, G_N_ELEMENTS (passing));
  tcase_add_loop_test (tcase, test_stays_away, 0, 3);
  tcase_add_test (tcase, test_comes_back_with_other_caps);
  tcase_add_test (tcase, test_shared);
  tcase_add_loop_test (tcase, test_shared_failure, 0, 2);
  tcase_add_loop_test (tcase, test_random, 0, N_RANDOM_SHARES);
  return suite;
}

GST_CHECK_MAIN (survival);
