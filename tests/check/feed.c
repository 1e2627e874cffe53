/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rig's upstream: pads that push what a test queues, and answer what upstream is asked. */
#include "feed.h"

static gboolean
feed_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  Feed *feed = gst_pad_get_element_private (pad);
  GstFormat format;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_LATENCY:
      gst_query_set_latency (query, feed->live, feed->latency,
          feed->max_latency);
      return TRUE;
    case GST_QUERY_DURATION:
      feed->queries++;
      gst_query_set_duration (query, GST_FORMAT_TIME, feed->duration);
      return TRUE;
    case GST_QUERY_POSITION:
      feed->queries++;
      gst_query_set_position (query, GST_FORMAT_TIME, feed->duration / 2);
      return TRUE;
    case GST_QUERY_SEEKING:
      feed->queries++;
      gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
      gst_query_set_seeking (query, format, !feed->unseekable, 0,
          feed->duration);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
feed_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  Feed *feed = gst_pad_get_element_private (pad);

  g_mutex_lock (&feed->rig->lock);
  feed->events[(GST_EVENT_TYPE (event) >> GST_EVENT_NUM_SHIFT) & 0xff]++;
  g_cond_broadcast (&feed->rig->cond);
  g_mutex_unlock (&feed->rig->lock);
  gst_event_unref (event);
  return TRUE;
}

static gpointer
feed_run (gpointer data)
{
  Feed *feed = data;
  gpointer item;

  while ((item = g_async_queue_pop (feed->items)) != feed) {
    GstFlowReturn flow = GST_FLOW_OK;
    gboolean is_buffer = GST_IS_BUFFER (item);

    if (is_buffer)
      flow = gst_pad_push (feed->pad, item);
    else
      gst_pad_push_event (feed->pad, item);
    g_mutex_lock (&feed->rig->lock);
    if (is_buffer)
      feed->flow = flow;
    feed->pushed++;
    g_cond_broadcast (&feed->rig->cond);
    g_mutex_unlock (&feed->rig->lock);
  }
  return NULL;
}

void
feed_init (Feed * feed, Rig * rig)
{
  feed->rig = rig;
  feed->items = g_async_queue_new ();
  feed->frame_duration = FRAME_MS * GST_MSECOND;
  feed->duration = 3 * GST_SECOND;
  feed->max_latency = GST_CLOCK_TIME_NONE;
  feed->pad = gst_pad_new ("feed", GST_PAD_SRC);
  gst_pad_set_element_private (feed->pad, feed);
  gst_pad_set_query_function (feed->pad, feed_query);
  gst_pad_set_event_function (feed->pad, feed_event);
}

void
feed_link (Feed * feed, const gchar * name)
{
  GstPad *peer = gst_element_get_static_pad (feed->rig->element, name);

  fail_unless (peer != NULL, "no pad %s", name);
  gst_pad_set_active (feed->pad, TRUE);
  fail_unless_equals_int (gst_pad_link (feed->pad, peer), GST_PAD_LINK_OK);
  gst_object_unref (peer);
}

void
feed_run_thread (Feed * feed)
{
  feed->thread = g_thread_new ("feed", feed_run, feed);
}

void
feed_clear (Feed * feed)
{
  gpointer item;

  if (feed->thread) {
    g_async_queue_push (feed->items, feed);
    g_thread_join (feed->thread);
  }
  gst_pad_set_active (feed->pad, FALSE);
  while ((item = g_async_queue_try_pop (feed->items)))
    gst_mini_object_unref (item);
  g_async_queue_unref (feed->items);
  gst_object_unref (feed->pad);
}

void
feed_push (Feed * feed, gpointer object)
{
  g_mutex_lock (&feed->rig->lock);
  feed->queued++;
  g_mutex_unlock (&feed->rig->lock);
  g_async_queue_push (feed->items, object);
}

void
feed_caps (Feed * feed, const gchar * fields)
{
  GstCaps *caps = video_caps (fields);

  /* Fails for what GstVideoInfo does not know, such as alternate without its feature. */
  if (!gst_video_info_from_caps (&feed->info, caps))
    gst_video_info_set_format (&feed->info, GST_VIDEO_FORMAT_I420, WIDTH,
        HEIGHT);
  feed_push (feed, gst_event_new_caps (caps));
  gst_caps_unref (caps);
}

void
feed_segment (Feed * feed, GstClockTime start, GstClockTime base,
    GstClockTime time, gdouble rate)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = start;
  segment.base = base;
  segment.time = time;
  segment.rate = rate;
  if (rate < 0)
    segment.stop = 10 * GST_SECOND;
  feed_push (feed, gst_event_new_segment (&segment));
}

void
feed_begin (Feed * feed, const gchar * fields)
{
  feed_push (feed, gst_event_new_stream_start (feed == &feed->rig->ref ?
          "reference" : "distorted"));
  feed_caps (feed, fields);
  feed_segment (feed, 0, 0, 0, 1.0);
}

GstBuffer *
feed_frame (Feed * feed, GstClockTime pts)
{
  GstBuffer *buffer = picture_new (&feed->info, feed->picture);

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = feed->frame_duration;
  if (!feed->fixed_picture)
    feed->picture++;
  return buffer;
}

static void
push_word (Feed * feed, const gchar * word)
{
  const gchar *at = strchr (word, '@'), *plus = strchr (word, '+');
  GstClockTime pts = g_ascii_strtoull (at ? at + 1 : word, NULL, 10)
      * GST_MSECOND;
  GstClockTime duration = plus ? g_ascii_strtoull (plus + 1, NULL, 10)
      * GST_MSECOND : GST_CLOCK_TIME_NONE;
  GstBuffer *buffer;

  if (g_str_equal (word, "eos")) {
    feed_push (feed, gst_event_new_eos ());
  } else if (g_str_has_prefix (word, "gap@")) {
    feed_push (feed, gst_event_new_gap (pts, duration));
  } else if (g_str_has_prefix (word, "empty@")) {
    buffer = gst_buffer_new ();
    GST_BUFFER_PTS (buffer) = pts;
    GST_BUFFER_DURATION (buffer) = duration;
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    feed_push (feed, buffer);
  } else {
    buffer = feed_frame (feed, word[0] == '-' ? GST_CLOCK_TIME_NONE : pts);
    if (g_str_has_prefix (word, "flagged@"))
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    feed_push (feed, buffer);
  }
}

void
feed_script (Feed * feed, const gchar * script)
{
  gchar **words = g_strsplit (script, " ", -1);

  for (gchar ** word = words; *word; word++) {
    if (**word)
      push_word (feed, *word);
  }
  g_strfreev (words);
}

void
feed_settle (Feed * feed)
{
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  gboolean settled;

  g_mutex_lock (&feed->rig->lock);
  while (feed->pushed < feed->queued
      && g_cond_wait_until (&feed->rig->cond, &feed->rig->lock, end));
  settled = feed->pushed >= feed->queued;
  g_mutex_unlock (&feed->rig->lock);
  fail_unless (settled, "the element did not take all of %s",
      feed == &feed->rig->ref ? "ref_sink" : "dist_sink");
}

static void
push_flush (Feed * feed, GstEvent * event, guint32 seqnum)
{
  gst_event_set_seqnum (event, seqnum);
  gst_pad_push_event (feed->pad, event);
}

void
feed_flush_start (Feed * feed, guint32 seqnum)
{
  gpointer item;

  push_flush (feed, gst_event_new_flush_start (), seqnum);
  /* Only then: until the pad refuses it, a buffer must not come without its segment. */
  while ((item = g_async_queue_try_pop (feed->items))) {
    gst_mini_object_unref (item);
    g_mutex_lock (&feed->rig->lock);
    feed->pushed++;
    g_mutex_unlock (&feed->rig->lock);
  }
  feed_settle (feed);
}

void
feed_flush_stop (Feed * feed, guint32 seqnum)
{
  push_flush (feed, gst_event_new_flush_stop (TRUE), seqnum);
}
