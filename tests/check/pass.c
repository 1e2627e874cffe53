/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * src is the reference stream: buffers, caps, segments, events, queries, QoS, allocation. */
#include "common.h"

/* The very buffers, with what hangs on them, come out: nothing is copied or written. */
GST_START_TEST (test_buffers_untouched)
{
  Rig *rig = rig_new (NULL);
  GstBuffer *given[3];

  rig_start_streams (rig, "format=I420");
  for (guint i = 0; i < 3; i++) {
    given[i] = feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND);
    GST_BUFFER_DTS (given[i]) = i;
    GST_BUFFER_OFFSET (given[i]) = 7 + i;
    gst_buffer_add_video_region_of_interest_meta (given[i], "face", 1, 2, 3, 4);
    feed_push (&rig->ref, gst_buffer_ref (given[i]));
  }
  rig_play (rig, "", "0 40 80");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out = rig_object (rig, BUFFER, i);
    fail_unless (out == given[i], "buffer %u is another one", i);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out),
        i * FRAME_MS * GST_MSECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DTS (out), i);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out),
        FRAME_MS * GST_MSECOND);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (out), 7 + i);
    fail_unless (gst_buffer_get_video_region_of_interest_meta_id (out, 0));
    gst_buffer_unref (given[i]);
  }
  rig_free (rig);
}

GST_END_TEST;

static GstEvent *
out_event (Rig * rig, GstEventType type, guint n)
{
  for (guint i = 0;; i++) {
    GstEvent *event = rig_object (rig, EVENT, i);
    if (!event || (GST_EVENT_TYPE (event) == type && n-- == 0))
      return event;
  }
}

/* The reference's caps, fields of other people's included; none of dist's. */
GST_START_TEST (test_caps)
{
  Rig *rig = rig_new (NULL);
  const gchar *fields = "format=NV12, colorimetry=(string)bt709, "
      "pixel-aspect-ratio=(fraction)4/3, flavour=(string)plain";
  GstCaps *caps, *expected = video_caps (fields);

  rig_start (rig);
  feed_begin (&rig->ref, fields);
  feed_begin (&rig->dist, "format=I420, colorimetry=(string)bt709");
  rig_play (rig, "0 40", "0 40");
  gst_event_parse_caps (out_event (rig, GST_EVENT_CAPS, 0), &caps);
  fail_unless (gst_caps_is_equal (caps, expected), "%s",
      gst_caps_to_string (caps));
  fail_unless (out_event (rig, GST_EVENT_CAPS, 1) == NULL);
  gst_caps_unref (expected);
  rig_free (rig);
}

GST_END_TEST;

static void
expect_segment (Rig * rig, guint n, guint start, guint base, guint time)
{
  const GstSegment *segment;
  GstEvent *event = out_event (rig, GST_EVENT_SEGMENT, n);

  fail_unless (event != NULL, "segment %u did not come", n);
  gst_event_parse_segment (event, &segment);
  fail_unless (segment->format == GST_FORMAT_TIME);
  fail_unless_equals_uint64 (segment->start, start * GST_MSECOND);
  fail_unless_equals_uint64 (segment->base, base * GST_MSECOND);
  fail_unless_equals_uint64 (segment->time, time * GST_MSECOND);
}

/* Its segments, each before the buffers that it is for, and PTS unaltered in them. */
GST_START_TEST (test_segments)
{
  Rig *rig = rig_new (NULL);

  rig_start (rig);
  feed_push (&rig->ref, gst_event_new_stream_start ("reference"));
  feed_caps (&rig->ref, "format=I420");
  feed_segment (&rig->ref, 1000 * GST_MSECOND, 500 * GST_MSECOND,
      7000 * GST_MSECOND, 1.0);
  feed_push (&rig->dist, gst_event_new_stream_start ("distorted"));
  feed_caps (&rig->dist, "format=I420");
  feed_segment (&rig->dist, 200 * GST_MSECOND, 500 * GST_MSECOND, 0, 1.0);
  feed_script (&rig->ref, "1000 1040");
  feed_segment (&rig->ref, 3000 * GST_MSECOND, 580 * GST_MSECOND,
      9000 * GST_MSECOND, 1.0);
  rig_play (rig, "3000 3040", "200 240 280 320");
  rig_expect_story (rig, "stream-start caps segment 1000 1040 segment 3000 "
      "3040 eos");
  expect_segment (rig, 0, 1000, 500, 7000);
  expect_segment (rig, 1, 3000, 580, 9000);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 4);
  rig_free (rig);
}

GST_END_TEST;

static GstEvent *
custom (const gchar * name)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new_empty (name));
}

static GstEvent *
title (const gchar * text)
{
  return gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, text, NULL));
}

static guint
upstream_events (Feed * feed, GstEventType type)
{
  guint n;

  g_mutex_lock (&feed->rig->lock);
  n = feed->events[(type >> GST_EVENT_NUM_SHIFT) & 0xff];
  g_mutex_unlock (&feed->rig->lock);
  return n;
}

/* What downstream wants to be asked again is asked of the reference's source alone. */
GST_START_TEST (test_reconfigure)
{
  Rig *rig = rig_new (NULL);
  guint ref, dist;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0");
  feed_script (&rig->dist, "0");
  rig_wait (rig, BUFFER, 1);
  ref = upstream_events (&rig->ref, GST_EVENT_RECONFIGURE);
  dist = upstream_events (&rig->dist, GST_EVENT_RECONFIGURE);
  fail_unless (gst_pad_push_event (rig->sink, gst_event_new_reconfigure ()));
  fail_unless_equals_int (upstream_events (&rig->ref, GST_EVENT_RECONFIGURE),
      ref + 1);
  fail_unless_equals_int (upstream_events (&rig->dist, GST_EVENT_RECONFIGURE),
      dist);
  rig_play (rig, "40", "40");
  rig_free (rig);
}

GST_END_TEST;

typedef struct
{
  GstPad *pad;
  gint answered;                /* atomic */
} Drain;

static gpointer
ask_drain (gpointer data)
{
  Drain *drain = data;
  GstQuery *query = gst_query_new_drain ();

  gst_pad_peer_query (drain->pad, query);
  g_atomic_int_set (&drain->answered, TRUE);
  gst_query_unref (query);
  return NULL;
}

/* Upstream that wants its buffers back is answered when they are measured. */
GST_START_TEST (test_drain)
{
  Rig *rig = rig_new (NULL);
  Drain drain = { __i__ ? rig->ref.pad : rig->dist.pad, FALSE };
  GThread *thread;

  rig_start_streams (rig, "format=I420");
  rig_close_gate (rig);
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait_at_gate (rig);
  rig_wait (rig, BUFFER, 2);
  thread = g_thread_new ("drain", ask_drain, &drain);
  g_usleep (300000);
  fail_if (g_atomic_int_get (&drain.answered));
  rig_open_gate (rig);
  g_thread_join (thread);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  rig_play (rig, "80", "80");
  rig_free (rig);
}

GST_END_TEST;

/* Its serialized events stand between the same buffers as they came; dist's go no further. */
GST_START_TEST (test_events_in_place)
{
  Rig *rig = rig_new (NULL);
  GstTagList *tags;
  gchar *text;

  rig_start_streams (rig, "format=I420");
  feed_push (&rig->dist, title ("distorted"));
  feed_push (&rig->dist, custom ("distorted"));
  feed_script (&rig->ref, "0");
  feed_push (&rig->ref, title ("reference"));
  feed_script (&rig->ref, "40 80");
  feed_push (&rig->ref, custom ("reference"));
  feed_script (&rig->ref, "120 gap@160+40");
  feed_script (&rig->dist, "0 40 80");
  feed_push (&rig->dist, custom ("distorted"));
  rig_play (rig, "200 empty@240+40", "120 200");
  rig_expect_story (rig, "stream-start caps segment 0 tag 40 80 "
      "custom-downstream 120 gap 200 gap eos");
  gst_event_parse_tag (out_event (rig, GST_EVENT_TAG, 0), &tags);
  fail_unless (gst_tag_list_get_string (tags, GST_TAG_TITLE, &text));
  fail_unless_equals_string (text, "reference");
  g_free (text);
  fail_unless (gst_event_has_name (out_event (rig,
              GST_EVENT_CUSTOM_DOWNSTREAM, 0), "reference"));
  rig_free (rig);
}

GST_END_TEST;

static const gchar *stories_of_early_events[] = {
  "stream-start tag caps segment 1000 1040 1080 eos",
  "stream-start caps tag segment 1000 1040 1080 eos",
  "stream-start caps segment 1000 1040 flush-start flush-stop tag segment 1080 "
      "eos"
};

/* ... before its segment, too, and before its caps: at the start (0, 1), and after a flush (2). */
GST_START_TEST (test_events_before_the_segment)
{
  Rig *rig = rig_new (NULL);
  guint32 seqnum = gst_util_seqnum_next ();

  rig_start (rig);
  feed_begin (&rig->dist, "format=I420");
  feed_push (&rig->ref, gst_event_new_stream_start ("reference"));
  if (__i__ == 0)
    feed_push (&rig->ref, title ("before caps"));
  feed_caps (&rig->ref, "format=I420");
  if (__i__ == 1)
    feed_push (&rig->ref, title ("before the segment"));
  feed_segment (&rig->ref, 1000 * GST_MSECOND, 0, 0, 1.0);
  feed_script (&rig->ref, "1000 1040");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 2);
  rig_wait (rig, BUFFER, 2);
  if (__i__ == 2) {
    feed_flush_start (&rig->ref, seqnum);
    feed_flush_start (&rig->dist, seqnum);
    feed_flush_stop (&rig->ref, seqnum);
    feed_flush_stop (&rig->dist, seqnum);
    feed_push (&rig->ref, title ("after a flush"));
    feed_segment (&rig->ref, 1080 * GST_MSECOND, 80 * GST_MSECOND, 0, 1.0);
    feed_segment (&rig->dist, 0, 0, 0, 1.0);
  }
  rig_play (rig, "1080", "80");
  rig_expect_story (rig, stories_of_early_events[__i__]);
  expect_segment (rig, 0, 1000, 0, 0);
  if (__i__ == 2)
    expect_segment (rig, 1, 1080, 80, 0);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  rig_free (rig);
}

GST_END_TEST;

/* A gap keeps its flags, and passes where times mean nothing. */
GST_START_TEST (test_gap_kept_as_it_is)
{
  Rig *rig = rig_new (NULL);
  GstEvent *gap = gst_event_new_gap (40 * GST_MSECOND, 40 * GST_MSECOND);
  GstSegment segment;
  GstGapFlags flags;

  gst_event_set_gap_flags (gap, GST_GAP_FLAG_MISSING_DATA);
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0");
  feed_push (&rig->ref, gap);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  feed_push (&rig->ref, gst_event_new_segment (&segment));
  feed_script (&rig->ref, "80 gap@120+40");
  rig_play (rig, "160", "0 80 160");
  rig_expect_story (rig, "stream-start caps segment 0 gap segment 80 gap 160 "
      "eos");
  gst_event_parse_gap_flags (out_event (rig, GST_EVENT_GAP, 0), &flags);
  fail_unless_equals_int (flags, GST_GAP_FLAG_MISSING_DATA);
  rig_free (rig);
}

GST_END_TEST;

static void
count_selected (GstElement * element, GstSegment * segment, GstClockTime pts,
    GstClockTime dts, GstClockTime duration, GstStructure * info, guint * n)
{
  fail_unless_equals_uint64 (pts, *n * FRAME_MS * GST_MSECOND);
  fail_unless_equals_uint64 (duration, FRAME_MS * GST_MSECOND);
  ++*n;
}

/* GstAggregator's signal, before each buffer. */
GST_START_TEST (test_samples_selected)
{
  Rig *rig = rig_new (NULL);
  guint n = 0;

  g_object_set (rig->element, "emit-signals", TRUE, NULL);
  g_signal_connect (rig->element, "samples-selected",
      G_CALLBACK (count_selected), &n);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (n, 3);
  rig_free (rig);
}

GST_END_TEST;

/* A gap keeps its place and its times. */
GST_START_TEST (test_gap_times)
{
  Rig *rig = rig_new (NULL);
  GstClockTime timestamp, duration;

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 gap@40+80 120 empty@160+40", "0 120");
  rig_expect_story (rig, "stream-start caps segment 0 gap 120 gap eos");
  gst_event_parse_gap (out_event (rig, GST_EVENT_GAP, 0), &timestamp,
      &duration);
  fail_unless_equals_uint64 (timestamp, 40 * GST_MSECOND);
  fail_unless_equals_uint64 (duration, 80 * GST_MSECOND);
  gst_event_parse_gap (out_event (rig, GST_EVENT_GAP, 1), &timestamp,
      &duration);
  fail_unless_equals_uint64 (timestamp, 160 * GST_MSECOND);
  fail_unless_equals_uint64 (duration, 40 * GST_MSECOND);
  rig_free (rig);
}

GST_END_TEST;

/* QOS stops here, a seek goes on to both. */
GST_START_TEST (test_qos_stops)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, BUFFER, 2);
  gst_pad_push_event (rig->sink, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW,
          0.1, 500 * GST_MSECOND, 40 * GST_MSECOND));
  gst_pad_push_event (rig->sink, gst_event_new_qos (GST_QOS_TYPE_THROTTLE,
          2.0, 0, 40 * GST_MSECOND));
  gst_pad_push_event (rig->sink, gst_event_new_seek (1.0, GST_FORMAT_TIME,
          GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0));
  rig_play (rig, "80", "80");
  fail_unless_equals_int (upstream_events (&rig->ref, GST_EVENT_QOS), 0);
  fail_unless_equals_int (upstream_events (&rig->dist, GST_EVENT_QOS), 0);
  fail_unless_equals_int (upstream_events (&rig->ref, GST_EVENT_SEEK), 1);
  fail_unless_equals_int (upstream_events (&rig->dist, GST_EVENT_SEEK), 1);
  rig_free (rig);
}

GST_END_TEST;

static GstPadProbeReturn
count_qos (GstPad * pad, GstPadProbeInfo * info, gpointer count)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_QOS)
    g_atomic_int_inc ((gint *) count);
  return GST_PAD_PROBE_OK;
}

static void
watch_qos (GstElement * pipeline, const gchar * name, const gchar * pad_name,
    gint * count)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstPad *pad = gst_element_get_static_pad (element, pad_name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, count_qos, count,
      NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
}

/* The same with a sink that is late and says so. */
GST_START_TEST (test_slow_sink)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=40 ! "
      "video/x-raw,format=I420,width=64,height=48,framerate=500/1 ! tee name=t"
      " ! queue ! identity name=a ! q.ref_sink  t. ! queue ! identity name=b !"
      " q.dist_sink  hipvmaf name=q ! identity name=late sleep-time=5000 !"
      " fakesink sync=true qos=true max-lateness=1000000", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  gint late = 0, upstream = 0;
  GstElement *element;
  GstStructure *stats;
  GstMessage *message;
  guint64 pairs;

  watch_qos (pipeline, "late", "src", &late);
  watch_qos (pipeline, "a", "src", &upstream);
  watch_qos (pipeline, "b", "src", &upstream);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_EOS |
      GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  fail_unless (g_atomic_int_get (&late) > 0, "the sink was never late");
  fail_unless_equals_int (g_atomic_int_get (&upstream), 0);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "q");
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "pairs", &pairs));
  fail_unless_equals_uint64 (pairs, 40);
  gst_structure_free (stats);
  gst_object_unref (element);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* SEEKING, DURATION and POSITION are the reference's. */
GST_START_TEST (test_queries)
{
  Rig *rig = rig_new (NULL);
  GstQuery *seeking = gst_query_new_seeking (GST_FORMAT_TIME);
  gint64 value, end;
  gboolean seekable;

  rig->ref.duration = 3 * GST_SECOND;
  rig->dist.duration = 9 * GST_SECOND;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, BUFFER, 2);
  fail_unless (gst_pad_peer_query_duration (rig->sink, GST_FORMAT_TIME,
          &value));
  fail_unless_equals_int64 (value, 3 * GST_SECOND);
  fail_unless (gst_pad_peer_query_position (rig->sink, GST_FORMAT_TIME,
          &value));
  fail_unless_equals_int64 (value, 3 * GST_SECOND / 2);
  fail_unless (gst_pad_peer_query (rig->sink, seeking));
  gst_query_parse_seeking (seeking, NULL, &seekable, NULL, &end);
  fail_unless (seekable);
  fail_unless_equals_int64 (end, 3 * GST_SECOND);
  fail_unless_equals_int (rig->ref.queries, 3);
  fail_unless_equals_int (rig->dist.queries, 0);
  gst_query_unref (seeking);
  rig_free (rig);
}

GST_END_TEST;

/* With src unlinked measuring goes on, to the pooled message. */
GST_START_TEST (test_unlinked)
{
  Rig *rig = rig_new (NULL);

  rig->no_sink = TRUE;
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80 120 eos");
  feed_script (&rig->dist, "0 40 80 120 eos");
  rig_wait (rig, POOLED_MESSAGE, 1);
  rig_expect_pairs (rig, "0:1 40:2 80:3 120:4");
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* Passed unmeasured with one WARNING: segments that are not in TIME, and negative rates. */
GST_START_TEST (test_unmeasurable_segment)
{
  Rig *rig = rig_new (NULL);
  Feed *odd = __i__ & 1 ? &rig->dist : &rig->ref;
  GstSegment segment;

  rig_start_streams (rig, "format=I420");
  if (__i__ & 2) {
    feed_segment (odd, 0, 0, 0, -1.0);
  } else {
    gst_segment_init (&segment, GST_FORMAT_BYTES);
    feed_push (odd, gst_event_new_segment (&segment));
  }
  rig_play (rig, "0 40 80 120", "0 40 80 120");
  fail_unless_equals_int (rig_count (rig, BUFFER), 4);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  rig_expect_stats (rig, "pairs=0");
  rig_free (rig);
}

GST_END_TEST;

/* ... and measured again when a plain segment comes. */
GST_START_TEST (test_measurable_again)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  feed_segment (&rig->ref, 0, 80 * GST_MSECOND, 0, -1.0);
  feed_segment (&rig->dist, 0, 80 * GST_MSECOND, 0, -1.0);
  feed_script (&rig->ref, "2040 2000");
  feed_script (&rig->dist, "2040 2000");
  feed_segment (&rig->ref, 0, 10 * GST_SECOND, 0, 1.0);
  feed_segment (&rig->dist, 0, 10 * GST_SECOND, 0, 1.0);
  rig_play (rig, "0 40", "0 40");
  rig_expect_pairs (rig, "0:1 40:2 0:5 40:6");
  fail_unless_equals_int (rig_count (rig, BUFFER), 6);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_free (rig);
}

GST_END_TEST;

static GstQuery *
ask_allocation (Feed * feed, const gchar * fields)
{
  GstCaps *caps = video_caps (fields);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (feed->pad, query));
  gst_caps_unref (caps);
  return query;
}

/* dist_sink offers enough buffers and GstVideoMeta, never GstVideoCropMeta. */
GST_START_TEST (test_allocation_dist)
{
  Rig *rig = rig_new ("async-depth", 4, NULL);
  GstBufferPool *pool;
  GstQuery *query;
  guint min, max;

  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->dist);
  query = ask_allocation (&rig->dist, "format=I420");
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE,
          NULL));
  fail_if (gst_query_find_allocation_meta (query,
          GST_VIDEO_CROP_META_API_TYPE, NULL));
  fail_unless (gst_query_get_n_allocation_pools (query) > 0);
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, &min, &max);
  fail_unless (min >= 4 + 2, "%u buffers", min);
  fail_unless_equals_int (max, 0);
  gst_clear_object (&pool);
  gst_query_unref (query);
  rig_free (rig);
}

GST_END_TEST;

/* ref_sink keeps downstream's pool, with buffers for itself on top, and offers GstVideoMeta only if
 * downstream has it. */
GST_START_TEST (test_allocation_ref)
{
  Rig *rig = rig_new ("async-depth", 1, NULL);
  GstBufferPool *pool, *proposed = gst_buffer_pool_new ();
  GstQuery *query;
  guint min, max;

  rig->downstream_meta = __i__;
  rig->downstream_pool = gst_object_ref (proposed);
  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->ref);
  query = ask_allocation (&rig->ref, "format=I420");
  fail_unless_equals_int (gst_query_find_allocation_meta (query,
          GST_VIDEO_META_API_TYPE, NULL), __i__);
  fail_if (gst_query_find_allocation_meta (query,
          GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, &min, &max);
  fail_unless (pool == proposed);
  fail_unless_equals_int (min, 3 + 1 + 2);
  fail_unless_equals_int (max, 7);
  gst_clear_object (&pool);
  gst_object_unref (proposed);
  gst_query_unref (query);
  rig_free (rig);
}

GST_END_TEST;

/* Without an answer from downstream ref_sink offers no GstVideoMeta. */
GST_START_TEST (test_allocation_ref_alone)
{
  Rig *rig = rig_new (NULL);
  GstCaps *caps = video_caps ("format=I420");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  rig_start_streams (rig, "format=I420");
  feed_settle (&rig->ref);
  if (gst_pad_peer_query (rig->ref.pad, query))
    fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE,
            NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
pass_suite (void)
{
  Suite *suite = suite_create ("pass");
  TCase *tests = leak_checked_case (suite, "pass");

  tcase_add_test (tests, test_buffers_untouched);
  tcase_add_test (tests, test_caps);
  tcase_add_test (tests, test_segments);
  tcase_add_test (tests, test_reconfigure);
  tcase_add_loop_test (tests, test_drain, 0, 2);
  tcase_add_test (tests, test_samples_selected);
  tcase_add_test (tests, test_gap_kept_as_it_is);
  tcase_add_test (tests, test_events_in_place);
  tcase_add_loop_test (tests, test_events_before_the_segment, 0,
      G_N_ELEMENTS (stories_of_early_events));
  tcase_add_test (tests, test_gap_times);
  tcase_add_test (tests, test_qos_stops);
  tcase_add_test (tests, test_slow_sink);
  tcase_add_test (tests, test_queries);
  tcase_add_test (tests, test_unlinked);
  tcase_add_loop_test (tests, test_unmeasurable_segment, 0, 4);
  tcase_add_test (tests, test_measurable_again);
  tcase_add_test (tests, test_allocation_dist);
  tcase_add_loop_test (tests, test_allocation_ref, 0, 2);
  tcase_add_test (tests, test_allocation_ref_alone);
  return suite;
}

GST_CHECK_MAIN (pass);
