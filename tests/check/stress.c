/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * No frame is lost when measuring is slow, and memory stays where it is. */
#include "common.h"

static void
feed_frames (Rig * rig, guint from, guint n)
{
  for (guint i = from; i < from + n; i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND));
    feed_push (&rig->dist, feed_frame (&rig->dist, i * FRAME_MS * GST_MSECOND));
  }
}

/* 200 frames through a meter that takes its time, with little and with much room in it. */
GST_START_TEST (test_slow_measuring)
{
  static const guint depths[] = { 1, 2, 16 };
  Rig *rig = rig_new ("async-depth", depths[__i__], NULL);
  gint index;

  rig->message_delay = 3000;
  rig_start_streams (rig, "width=32, height=32");
  feed_frames (rig, 0, 200);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, BUFFER), 200);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 200);
  for (guint i = 0; i < 200; i++) {
    gst_structure_get_int (rig_score (rig, FRAME_MESSAGE, i), "index", &index);
    fail_unless_equals_int (index, i);
  }
  rig_expect_stats (rig, "pairs=200 ref-unpaired=0 dist-unpaired=0 flushed=0");
  rig_free (rig);
}

GST_END_TEST;

/* A stalled meter holds a stream that is not live up, within the room that it has. */
GST_START_TEST (test_back_pressure)
{
  Rig *rig = rig_new ("async-depth", 2, NULL);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_frames (rig, 0, 30);
  rig_wait_at_gate (rig);
  /* 2 pairs in flight, and the reference of the one that waits is already downstream. */
  fail_if (rig_waited (rig, BUFFER, 5, 500));
  rig_open_gate (rig);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 30);
  rig_free (rig);
}

GST_END_TEST;

/* A slow downstream. */
GST_START_TEST (test_slow_downstream)
{
  Rig *rig = rig_new (NULL);

  rig->sink_delay = 3000;
  rig_start_streams (rig, "width=32, height=32");
  feed_frames (rig, 0, 100);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, BUFFER), 100);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 100);
  rig_free (rig);
}

GST_END_TEST;

static gsize
resident_bytes (void)
{
  gchar *text;
  gsize pages;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  pages = g_ascii_strtoull (strchr (text, ' '), NULL, 10);
  g_free (text);
  return pages * 4096;
}

#define BATCH 50

/* 64 bytes a frame would be half a megabyte; ASan keeps what was freed for a while. */
#ifdef __SANITIZE_ADDRESS__
#define ALLOWANCE 4000000
#else
#define ALLOWANCE 500000
#endif

/* Ten thousand frames: after the first two thousand, memory grows no more. */
GST_START_TEST (test_constant_memory)
{
  Rig *rig = rig_new (NULL);
  gsize early = 0, late;

  rig->count_only = TRUE;
  rig_start_streams (rig, "width=16, height=16");
  for (guint i = 0; i < 10000; i += BATCH) {
    if (i == 2000)
      early = resident_bytes ();
    feed_frames (rig, i, BATCH);
    rig_wait (rig, FRAME_MESSAGE, i + BATCH);
  }
  late = resident_bytes ();
  fail_unless (late < early + ALLOWANCE, "%" G_GSIZE_FORMAT " bytes more",
      late - early);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 10000);
  rig_free (rig);
}

GST_END_TEST;

/* The same with frames that find no partner. */
GST_START_TEST (test_constant_memory_unpaired)
{
  Rig *rig = rig_new (NULL);
  gsize early = 0, late;

  rig->count_only = TRUE;
  rig_start_streams (rig, "width=16, height=16");
  for (guint i = 0; i < 5000; i += BATCH) {
    if (i == 1000)
      early = resident_bytes ();
    for (guint j = i; j < i + BATCH; j++) {
      GstClockTime pts = j * FRAME_MS * GST_MSECOND;
      feed_push (&rig->ref, feed_frame (&rig->ref, pts));
      feed_push (&rig->dist, feed_frame (&rig->dist, pts + 20 * GST_MSECOND));
    }
    rig_wait (rig, BUFFER, i + BATCH - 2);
  }
  late = resident_bytes ();
  fail_unless (late < early + ALLOWANCE, "%" G_GSIZE_FORMAT " bytes more",
      late - early);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
stress_suite (void)
{
  Suite *suite = suite_create ("stress");
  TCase *tests = leak_checked_case (suite, "stress");

  tcase_add_loop_test (tests, test_slow_measuring, 0, 3);
  tcase_add_test (tests, test_back_pressure);
  tcase_add_test (tests, test_slow_downstream);
  tcase_add_test (tests, test_constant_memory);
  tcase_add_test (tests, test_constant_memory_unpaired);
  return suite;
}

GST_CHECK_MAIN (stress);
