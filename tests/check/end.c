/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How streams end: EOS, flushes, and state changes. */
#include "common.h"

/* How many objects of the timeline come before the first one of the kind. */
static guint
place (Rig * rig, Kind kind, guint nth)
{
  gpointer wanted = rig_object (rig, kind, nth);
  guint index;

  fail_unless (wanted != NULL);
  fail_unless (g_ptr_array_find (rig->timeline, wanted, &index));
  return index;
}

static void
expect_ordered_end (Rig * rig, guint frames)
{
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), frames);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, EOS), 1);
  fail_unless (place (rig, FRAME_MESSAGE, frames - 1) < place (rig,
          POOLED_MESSAGE, 0));
  fail_unless (place (rig, POOLED_MESSAGE, 0) < place (rig, EOS, 0));
}

static void
expect_indices (Rig * rig, guint from, guint start, guint n)
{
  gint index;

  for (guint i = 0; i < n; i++) {
    fail_unless (gst_structure_get_int (rig_score (rig, FRAME_MESSAGE,
                from + i), "index", &index));
    fail_unless_equals_int (index, start + i);
  }
}

/* The frames that are in the meter at EOS are scored first, then comes the pooled message, then
 * EOS. */
GST_START_TEST (test_eos_waits_for_the_meter)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, "0 40 eos");
  feed_script (&rig->dist, "0 40 eos");
  rig_wait (rig, BUFFER, 2);
  rig_wait_at_gate (rig);
  fail_if (rig_waited (rig, EOS, 1, 500));
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_open_gate (rig);
  rig_wait (rig, EOS, 1);
  expect_ordered_end (rig, 2);
  rig_free (rig);
}

GST_END_TEST;

/* The reference ends long before: what is left of dist is consumed as far as it matters. */
GST_START_TEST (test_ref_ends_first)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 eos");
  feed_script (&rig->dist, "0");
  fail_if (rig_waited (rig, EOS, 1, 300));
  feed_script (&rig->dist, "40 80 120 160 200 240 280 320 360 400 eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  expect_ordered_end (rig, 3);
  feed_settle (&rig->dist);
  rig_free (rig);
}

GST_END_TEST;

/* Once the last reference frame is decided, EOS does not wait for dist's end: neither where dist
 * has more (0), nor where it has nothing more to give (1). */
GST_START_TEST (test_ref_ends_dist_goes_on)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 eos");
  feed_script (&rig->dist, __i__ ? "0 40 80" : "0 40 80 120 160");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  expect_ordered_end (rig, 3);
  rig_free (rig);
}

GST_END_TEST;

/* The distorted stream ends long before: the reference passes to its end. */
GST_START_TEST (test_dist_ends_first)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->dist, "0 40 80 eos");
  feed_script (&rig->ref, "0 40 80 120 160 200 240 280 320 360");
  rig_wait (rig, BUFFER, 10);
  feed_script (&rig->ref, "400 eos");
  rig_wait (rig, EOS, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3");
  rig_expect_stats (rig, "ref-frames=11 ref-unpaired=8 dist-unpaired=0");
  expect_ordered_end (rig, 3);
  rig_free (rig);
}

GST_END_TEST;

/* EOS that an application sends to the element; a second one changes nothing. */
GST_START_TEST (test_eos_sent_to_element)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig->message_delay = 20000;
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 40 80 120");
  rig_wait (rig, BUFFER, 4);
  gst_element_send_event (rig->element, gst_event_new_eos ());
  rig_wait (rig, EOS, 1);
  gst_element_send_event (rig->element, gst_event_new_eos ());
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  fail_if (rig_waited (rig, POOLED_MESSAGE, 2, 300));
  expect_ordered_end (rig, 4);
  rig_free (rig);
}

GST_END_TEST;

/* EOS sent to a pipeline of live sources, as gst-launch-1.0 -e does. */
GST_START_TEST (test_eos_sent_to_pipeline)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc is-live=true ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=100/1 ! tee name=t"
      " ! queue ! q.ref_sink  t. ! queue ! q.dist_sink  hipvmaf name=q "
      "frame-message=true ! fakesink", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  guint frames = 0, pooled = 0;
  gboolean ended = FALSE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    const GstStructure *s = message ? gst_message_get_structure (message) :
        NULL;
    fail_unless (message && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (!ended && gst_structure_has_name (s, "VMAF")) {
      fail_unless_equals_int (pooled, 0);
      if (g_str_equal (gst_structure_get_string (s, "type"), "pooled"))
        pooled++;
      else if (++frames == 10)
        gst_element_send_event (pipeline, gst_event_new_eos ());
    }
    gst_message_unref (message);
  }
  fail_unless_equals_int (pooled, 1);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static void
send_eos (GstElement * element, gpointer unused)
{
  gst_element_send_event (element, gst_event_new_eos ());
}

/* ... while the streaming thread waits for room in the meter: nothing that was taken is lost. */
GST_START_TEST (test_eos_sent_to_busy_element)
{
  Rig *rig = rig_new ("async-depth", 1, NULL);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 40 80 120");
  rig_wait_at_gate (rig);
  rig_wait (rig, BUFFER, 2);
  gst_element_call_async (rig->element, send_eos, NULL, NULL);
  fail_if (rig_waited (rig, EOS, 1, 300));
  rig_open_gate (rig);
  rig_wait (rig, EOS, 1);
  fail_unless (rig_count (rig, FRAME_MESSAGE) >= 2);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_count (rig,
          FRAME_MESSAGE));
  expect_ordered_end (rig, rig_count (rig, FRAME_MESSAGE));
  rig_free (rig);
}

GST_END_TEST;

/* ... while nothing comes in at all. */
GST_START_TEST (test_eos_sent_to_idle_element)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  gst_element_send_event (rig->element, gst_event_new_eos ());
  rig_wait (rig, EOS, 1);
  expect_ordered_end (rig, 2);
  rig_free (rig);
}

GST_END_TEST;

/* Downstream that has enough ends the stream, in the same order; what was paired is measured. */
GST_START_TEST (test_downstream_has_enough)
{
  Rig *rig = rig_new ("async-depth", 1, NULL);

  rig->sink_limit = 3;
  rig->message_delay = 50000;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 160 200");
  feed_script (&rig->dist, "0 40 80 120 160 200");
  rig_wait (rig, POOLED_MESSAGE, 1);
  rig_wait (rig, EOS, 1);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless (rig_count (rig, FRAME_MESSAGE) >= 3);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_count (rig,
          FRAME_MESSAGE));
  expect_ordered_end (rig, rig_count (rig, FRAME_MESSAGE));
  rig_free (rig);
}

GST_END_TEST;

/* EOS comes also when nothing was measured. */
GST_START_TEST (test_empty_streams)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Without a single pair the end says so, and why: no frames (0), other times (1), and the other way
 * round (2). */
GST_START_TEST (test_nothing_pairs)
{
  static const gchar *scripts[][2] = { {"0 40 80", ""},
  {"0 40 80", "5000 5040"}, {"5000 5040", "0 40 80"}
  };
  static const gchar *words[][4] = { {"dist_sink", "no frame"},
  {"0.000", "0.080", "5.000"}, {"5.000", "5.040", "0.000"}
  };
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, scripts[__i__][0], scripts[__i__][1]);
  rig_wait (rig, WARNING_MESSAGE, 1);
  rig_expect_text (rig, WARNING_MESSAGE, words[__i__]);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* ... and only then: with one pair it does not. */
GST_START_TEST (test_one_pair)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "80 5000");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Both pads as one seek does, which went to the sources (0) or came through the element (1), or as
 * two do, one to each source (2). */
static void
flush_both (Rig * rig, gint how)
{
  GstEvent *seek = gst_event_new_seek (1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0);
  guint32 seqnum = gst_event_get_seqnum (seek);
  guint32 other = how == 2 ? gst_util_seqnum_next () : seqnum;

  if (how == 1)
    fail_unless (gst_pad_push_event (rig->sink, gst_event_ref (seek)));
  gst_event_unref (seek);
  feed_flush_start (&rig->ref, seqnum);
  feed_flush_start (&rig->dist, other);
  feed_flush_stop (&rig->ref, seqnum);
  feed_flush_stop (&rig->dist, other);
  feed_segment (&rig->ref, 0, 0, 0, 1.0);
  feed_segment (&rig->dist, 0, 0, 0, 1.0);
}

/* A seek: indices go on, no pooled message for it, the pooled score covers both parts. */
GST_START_TEST (test_flush_both)
{
  Rig *rig = rig_new (NULL);
  gdouble sum = 0, score, mean;
  guint64 duration;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 40 80 120");
  rig_wait (rig, FRAME_MESSAGE, 4);
  flush_both (rig, __i__);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_play (rig, "0 40 80", "0 40 80");
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4 0:5 40:6 80:7");
  expect_indices (rig, 0, 0, 7);
  expect_ordered_end (rig, 7);
  for (guint i = 0; i < 7; i++) {
    gst_structure_get_double (rig_score (rig, FRAME_MESSAGE, i),
        "integer_adm2", &score);
    sum += score;
  }
  gst_structure_get_double (rig_score (rig, POOLED_MESSAGE, 0), "integer_adm2",
      &mean);
  fail_unless (mean == sum / 7, "%.17g, not %.17g", mean, sum / 7);
  fail_unless (gst_structure_get_uint64 (rig_score (rig, POOLED_MESSAGE, 0),
          "duration", &duration));
  fail_unless_equals_uint64 (duration, (4 + 3) * FRAME_MS * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

/* A flushing seek that one of the streams cannot do does nothing. */
GST_START_TEST (test_seek_refused)
{
  Rig *rig = rig_new (NULL);

  rig->dist.unseekable = TRUE;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  fail_if (gst_pad_push_event (rig->sink, gst_event_new_seek (1.0,
              GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0,
              GST_SEEK_TYPE_NONE, 0)));
  rig_play (rig, "80 120", "80 120");
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4");
  rig_free (rig);
}

GST_END_TEST;

/* Pairs in flight are dropped by a flush and counted; no index comes twice. */
GST_START_TEST (test_flush_drops_pairs)
{
  Rig *rig = rig_new ("async-depth", 8, NULL);
  guint64 flushed;
  gint index = -1, last = -1;
  guint n;

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, "0 40 80 120");
  feed_script (&rig->dist, "0 40 80 120");
  rig_wait (rig, BUFFER, 4);
  rig_wait_at_gate (rig);
  flush_both (rig, __i__);
  flushed = rig_stat (rig, "flushed");
  fail_unless (flushed == 3, "%" G_GUINT64_FORMAT " pairs flushed", flushed);
  rig_open_gate (rig);
  rig_play (rig, "0 40 80", "0 40 80");
  rig_expect_pairs (rig, "0:1 0:5 40:6 80:7");
  n = rig_count (rig, FRAME_MESSAGE);
  for (guint i = 0; i < n; i++) {
    gst_structure_get_int (rig_score (rig, FRAME_MESSAGE, i), "index", &index);
    fail_unless (index > last, "index %d after %d", index, last);
    last = index;
  }
  expect_ordered_end (rig, 4);
  rig_free (rig);
}

GST_END_TEST;

/* Flushes that come while frames are under way, again and again. */
GST_START_TEST (test_many_flushes)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  for (guint i = 0; i < 30; i++) {
    rig->ref.picture = 0;
    feed_script (&rig->ref, "0 40 80 120 160 200");
    feed_script (&rig->dist, "0 40 80 120 160 200");
    g_usleep (i % 7 * 1000);
    flush_both (rig, i % 3);
  }
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless (rig_count (rig, FRAME_MESSAGE) >= 2);
  rig_free (rig);
}

GST_END_TEST;

static void
flush_one (Feed * feed)
{
  guint32 seqnum = gst_util_seqnum_next ();

  feed_flush_start (feed, seqnum);
  feed_flush_stop (feed, seqnum);
  feed_segment (feed, 0, 0, 0, 1.0);
}

/* After a flush of one pad, when nothing waits, it goes on as it was. */
GST_START_TEST (test_flush_one)
{
  Rig *rig = rig_new (NULL);
  Feed *one = __i__ ? &rig->dist : &rig->ref;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  flush_one (one);
  rig_play (rig, "80 120", "80 120");
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4");
  expect_indices (rig, 0, 0, 4);
  expect_ordered_end (rig, 4);
  rig_free (rig);
}

GST_END_TEST;

/* ... those too that the element has and waits with: what was ahead is gone. */
GST_START_TEST (test_flush_one_that_is_ahead)
{
  Rig *rig = rig_new (NULL);
  Feed *one = __i__ ? &rig->dist : &rig->ref;
  Feed *other = __i__ ? &rig->ref : &rig->dist;

  rig_start_streams (rig, "format=I420");
  feed_script (one, "0 400");
  feed_script (other, "0 40 80");
  rig_wait (rig, FRAME_MESSAGE, 1);
  feed_settle (other);
  flush_one (one);
  rig->dist.picture = 10;
  feed_script (one, "120 160");
  feed_script (other, "120 160");
  rig_play (rig, "400 440", "400 440");
  rig_expect_pairs (rig, "0:1 120:10 160:11 400:12 440:13");
  rig_free (rig);
}

GST_END_TEST;

/* ... and what is known of the frames before: one without PTS begins with its segment. */
GST_START_TEST (test_flush_one_forgets)
{
  Rig *rig = rig_new (NULL);
  Feed *one = __i__ ? &rig->dist : &rig->ref;
  Feed *other = __i__ ? &rig->ref : &rig->dist;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  flush_one (one);
  feed_segment (one, 200 * GST_MSECOND, 80 * GST_MSECOND, 0, 1.0);
  feed_script (one, "- -");
  feed_script (other, "80 120");
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 4);
  rig_expect_stats (rig, "pairs=4 ref-unpaired=0 dist-unpaired=0");
  rig_free (rig);
}

GST_END_TEST;

/* ... and leaves the pairs that are in flight alone. */
GST_START_TEST (test_flush_one_keeps_pairs)
{
  Rig *rig = rig_new ("async-depth", 8, NULL);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, BUFFER, 3);
  rig_wait_at_gate (rig);
  flush_one (&rig->dist);
  rig_open_gate (rig);
  rig_play (rig, "120", "120");
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4");
  rig_expect_stats (rig, "flushed=0");
  rig_free (rig);
}

GST_END_TEST;

/* FLUSH_START ends whatever the streaming thread waits for: room in the meter (0), the drain at
 * EOS (1). */
GST_START_TEST (test_flush_ends_waits)
{
  Rig *rig = rig_new ("async-depth", 1, NULL);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, __i__ ? "0 eos" : "0 40 80 120 160");
  feed_script (&rig->dist, __i__ ? "0 eos" : "0 40 80 120 160");
  rig_wait_at_gate (rig);
  g_usleep (100000);
  flush_both (rig, FALSE);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_open_gate (rig);
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  rig_free (rig);
}

GST_END_TEST;

/* Every pair is somewhere. */
static void
expect_whole_stats (Rig * rig)
{
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_stat (rig, "scored")
      + rig_stat (rig, "flushed") + rig_stat (rig, "skipped") + rig_stat (rig,
          "failed"));
}

/* set_state(NULL) with a stalled meter: with a frame at the gate (0), with the queue full (1),
 * with EOS waiting (2), with several in flight (3). The contract says a second; a loaded machine
 * gets another one. */
GST_START_TEST (test_stop_with_stalled_meter)
{
  static const gchar *scripts[] =
      { "0", "0 40 80 120 160 200 240", "0 40 eos", "0 40 80 120 160 200 240" };
  Rig *rig = rig_new ("async-depth", __i__ == 3 ? 5 : 1, NULL);
  gint64 begin;

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, scripts[__i__]);
  feed_script (&rig->dist, scripts[__i__]);
  rig_wait_at_gate (rig);
  g_usleep (100000);
  begin = g_get_monotonic_time ();
  fail_unless_equals_int (gst_element_set_state (rig->element,
          GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  fail_unless (g_get_monotonic_time () - begin < 2 * G_TIME_SPAN_SECOND,
      "%d ms", (gint) ((g_get_monotonic_time () - begin) / 1000));
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  expect_whole_stats (rig);
  /* The thread at the gate comes back into the meter, which must still be there. */
  rig_open_gate (rig);
  g_usleep (300000);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* The element works again after a stop that left a stuck thread behind. */
GST_START_TEST (test_restart_after_stall)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait_at_gate (rig);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  rig_open_gate (rig);
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  feed_begin (&rig->ref, "format=I420");
  feed_begin (&rig->dist, "format=I420");
  rig->dist.picture = 1;
  rig_play (rig, "0 40 80", "0 40 80");
  expect_indices (rig, rig_count (rig, FRAME_MESSAGE) - 3, 0, 3);
  rig_free (rig);
}

GST_END_TEST;

/* PAUSED to READY without EOS: what is in flight is scored, nothing is pooled. */
GST_START_TEST (test_stop_scores_what_is_in_flight)
{
  Rig *rig = rig_new ("async-depth", 8, NULL);

  rig->message_delay = 20000;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 160 200");
  feed_script (&rig->dist, "0 40 80 120 160 200");
  rig_wait (rig, BUFFER, 6);
  gst_element_set_state (rig->element, GST_STATE_READY);
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4 160:5 200:6");
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* READY and back, after EOS and without it: the index starts at 0, nothing is left over. */
GST_START_TEST (test_repeated_runs)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  for (guint run = 0; run < 4; run++) {
    feed_script (&rig->ref, "0 40 80");
    feed_script (&rig->dist, "0 40 80");
    if (run != 1) {
      feed_script (&rig->ref, "eos");
      feed_script (&rig->dist, "eos");
      rig_wait (rig, EOS, run > 1 ? run : run + 1);
    }
    rig_wait (rig, FRAME_MESSAGE, 3 * (run + 1));
    rig_expect_stats (rig, "pairs=3 flushed=0");
    expect_indices (rig, 3 * run, 0, 3);
    feed_settle (&rig->ref);
    feed_settle (&rig->dist);
    gst_element_set_state (rig->element, run & 1 ? GST_STATE_READY :
        GST_STATE_NULL);
    gst_element_set_state (rig->element, GST_STATE_PLAYING);
    feed_begin (&rig->ref, "format=I420");
    feed_begin (&rig->dist, "format=I420");
    rig->dist.picture = 1;
  }
  rig_expect_pairs (rig, "0:1 40:2 80:3 0:1 40:2 80:3 0:1 40:2 80:3 "
      "0:1 40:2 80:3");
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 3);
  rig_free (rig);
}

GST_END_TEST;

/* Nothing but state changes. */
GST_START_TEST (test_states)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);

  gst_object_ref_sink (element);
  for (guint i = 0; i < 10; i++) {
    gst_element_set_state (element, i & 1 ? GST_STATE_PLAYING :
        GST_STATE_PAUSED);
    gst_element_set_state (element, i & 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
end_suite (void)
{
  Suite *suite = suite_create ("end");
  TCase *tests = leak_checked_case (suite, "end");

  tcase_add_test (tests, test_states);
  tcase_add_test (tests, test_empty_streams);
  tcase_add_loop_test (tests, test_nothing_pairs, 0, 3);
  tcase_add_test (tests, test_one_pair);
  tcase_add_test (tests, test_eos_waits_for_the_meter);
  tcase_add_test (tests, test_ref_ends_first);
  tcase_add_loop_test (tests, test_ref_ends_dist_goes_on, 0, 2);
  tcase_add_test (tests, test_dist_ends_first);
  tcase_add_test (tests, test_eos_sent_to_element);
  tcase_add_test (tests, test_eos_sent_to_busy_element);
  tcase_add_test (tests, test_eos_sent_to_idle_element);
  tcase_add_test (tests, test_eos_sent_to_pipeline);
  tcase_add_test (tests, test_downstream_has_enough);
  tcase_add_loop_test (tests, test_flush_both, 0, 3);
  tcase_add_test (tests, test_seek_refused);
  tcase_add_loop_test (tests, test_flush_drops_pairs, 0, 3);
  tcase_add_test (tests, test_many_flushes);
  tcase_add_loop_test (tests, test_flush_one, 0, 2);
  tcase_add_loop_test (tests, test_flush_one_that_is_ahead, 0, 2);
  tcase_add_loop_test (tests, test_flush_one_forgets, 0, 2);
  tcase_add_test (tests, test_flush_one_keeps_pairs);
  tcase_add_loop_test (tests, test_flush_ends_waits, 0, 2);
  tcase_add_loop_test (tests, test_stop_with_stalled_meter, 0, 4);
  tcase_add_test (tests, test_restart_after_stall);
  tcase_add_test (tests, test_stop_scores_what_is_in_flight);
  tcase_add_test (tests, test_repeated_runs);
  return suite;
}

GST_CHECK_MAIN (end);
