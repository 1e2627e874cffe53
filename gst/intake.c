/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames off the pads: what is known of each, and how long its buffer stays on its pad. The base
 * class goes on only while both pads have something, so a buffer that the other stream has still to
 * come up to stays where it is: the other one need not send more than it takes to get there. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

/* Running times are kept away from where sums of them overflow: 73 years. */
#define MAX_TIME ((guint64) G_MAXINT64 / 4)

static GstClockTime
frame_duration (const GstHipVmafStream * stream, GstBuffer * buffer,
    GstClockTime pts)
{
  const GstVideoInfo *info = stream->format ? &stream->format->info : NULL;

  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    return GST_BUFFER_DURATION (buffer);
  if (info != NULL && GST_VIDEO_INFO_FPS_N (info) > 0)
    return gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info),
        GST_VIDEO_INFO_FPS_N (info));
  if (GST_CLOCK_TIME_IS_VALID (stream->last_pts) && pts > stream->last_pts)
    return pts - stream->last_pts;
  return GST_CLOCK_TIME_NONE;
}

static GstClockTime
frame_pts (const GstHipVmafStream * stream, GstBuffer * buffer,
    const GstSegment * segment)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    return GST_BUFFER_PTS (buffer);
  if (!GST_CLOCK_TIME_IS_VALID (stream->last_pts))
    return segment->start;
  if (!GST_CLOCK_TIME_IS_VALID (stream->last_duration))
    return stream->last_pts;
  return stream->last_pts + stream->last_duration;
}

static void
get_segment (GstAggregatorPad * pad, GstSegment * segment)
{
  GST_OBJECT_LOCK (pad);
  *segment = pad->segment;
  GST_OBJECT_UNLOCK (pad);
}

/* When the frame was captured, as far as the clock of the pipeline tells. */
static gint64
capture_time (GstHipVmaf * self, gint64 time)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gint64 age = 0;

  if (GST_CLOCK_TIME_IS_VALID (now))
    age = ((gint64) now - time) / (gint64) GST_USECOND;
  return g_get_real_time () - age;
}

static GstClockTime
end_of (GstClockTime start, GstClockTime duration)
{
  if (!GST_CLOCK_TIME_IS_VALID (duration))
    return start;
  return duration < GST_CLOCK_TIME_NONE - start ? start + duration
      : GST_CLOCK_TIME_NONE;
}

/* FALSE when the frame lies outside the segment: it is not part of the stream. */
static gboolean
set_times (GstHipVmaf * self, GstHipVmafSide side, GstHipVmafFrame * frame)
{
  GstHipVmafStream *stream = &self->stream[side];
  GstSegment segment;
  guint64 time = 0;
  gint sign;

  get_segment (self->pad[side], &segment);
  if (segment.format != GST_FORMAT_TIME || segment.rate <= 0) {
    if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_UNTIMED))
      GST_ELEMENT_WARNING (self, STREAM, FORMAT,
          ("%s has a segment in %s at rate %g: only segments in time that play "
              "forward can be paired. Its frames pass unmeasured.",
              GST_PAD_NAME (self->pad[side]), segment.format ==
              GST_FORMAT_UNDEFINED ? "no format" :
              gst_format_get_name (segment.format), segment.rate), (NULL));
    return TRUE;
  }
  frame->pts = frame_pts (stream, frame->buffer, &segment);
  frame->duration = frame_duration (stream, frame->buffer, frame->pts);
  stream->last_pts = frame->pts;
  stream->last_duration = frame->duration;
  if (!gst_segment_clip (&segment, GST_FORMAT_TIME, frame->pts,
          end_of (frame->pts, frame->duration), NULL, NULL))
    return FALSE;
  sign = gst_segment_to_running_time_full (&segment, GST_FORMAT_TIME,
      frame->pts, &time);
  frame->kind = GST_HIP_VMAF_FRAME_TIMED;
  frame->time = sign * (gint64) MIN (time, MAX_TIME);
  frame->stream_time =
      gst_segment_to_stream_time (&segment, GST_FORMAT_TIME, frame->pts);
  if (self->live && side == GST_HIP_VMAF_REFERENCE)
    frame->utc = capture_time (self, frame->time);
  return TRUE;
}

void
gst_hip_vmaf_release (GstHipVmafFrame * frame)
{
  gst_clear_buffer (&frame->buffer);
  g_clear_pointer (&frame->format, gst_hip_vmaf_format_unref);
}

void
gst_hip_vmaf_leave_unpaired (GstHipVmaf * self, GstHipVmafSide side,
    GstHipVmafFrame * frame)
{
  if (frame->kind != GST_HIP_VMAF_FRAME_GAP) {
    GST_LOG_OBJECT (self->pad[side], "unpaired: %" GST_STIME_FORMAT,
        GST_STIME_ARGS (frame->time));
    gst_hip_vmaf_scorer_count (self->scorer,
        G_STRUCT_OFFSET (GstHipVmafStats, unpaired) + side * sizeof (guint64),
        1);
  }
  gst_hip_vmaf_release (frame);
}

static void
note_time (GstHipVmaf * self, GstHipVmafSide side, gint64 time)
{
  GstHipVmafStream *stream = &self->stream[side];

  if (side == GST_HIP_VMAF_REFERENCE)
    self->newest_time = time;
  stream->earliest = stream->timed ? MIN (stream->earliest, time) : time;
  stream->latest = stream->timed ? MAX (stream->latest, time) : time;
  stream->timed = TRUE;
}

/* What is to become of the buffer in the pairing; FALSE when it has no part in it. */
static gboolean
add_frame (GstHipVmaf * self, GstHipVmafSide side, GstHipVmafFrame * frame,
    gboolean inside)
{
  GstHipVmafStream *stream = &self->stream[side];

  if (gst_buffer_get_size (frame->buffer) == 0) {
    gst_clear_buffer (&frame->buffer);
    if (!inside || frame->kind != GST_HIP_VMAF_FRAME_TIMED)
      return FALSE;
    frame->kind = GST_HIP_VMAF_FRAME_GAP;
    gst_hip_vmaf_wait (self, side, frame);
    return TRUE;
  }

  gst_hip_vmaf_scorer_count (self->scorer,
      G_STRUCT_OFFSET (GstHipVmafStats, frames) + side * sizeof (guint64), 1);
  gst_hip_vmaf_watch_note_frame (self, side);
  if (!inside) {
    gst_hip_vmaf_leave_unpaired (self, side, frame);
    return FALSE;
  }
  if (stream->format != NULL)
    frame->format = gst_hip_vmaf_format_ref (stream->format);
  else
    frame->kind = GST_HIP_VMAF_FRAME_UNTIMED;
  if (frame->kind == GST_HIP_VMAF_FRAME_TIMED)
    note_time (self, side, frame->time);
  gst_hip_vmaf_wait (self, side, frame);
  return TRUE;
}

gboolean
gst_hip_vmaf_take (GstHipVmaf * self, GstHipVmafSide side)
{
  GstHipVmafStream *stream = &self->stream[side];
  GstHipVmafFrame frame = {
    .kind = GST_HIP_VMAF_FRAME_UNTIMED,
    .duration = GST_CLOCK_TIME_NONE,
    .pts = GST_CLOCK_TIME_NONE,
    .stream_time = GST_CLOCK_TIME_NONE
  };
  gboolean inside;

  g_assert (stream->held == NULL);
  /* What comes after a flush of either pad must not meet what came before it. */
  do {
    gst_clear_buffer (&frame.buffer);
    frame.buffer = gst_aggregator_pad_peek_buffer (self->pad[side]);
    if (frame.buffer == NULL)
      return FALSE;
  } while (gst_hip_vmaf_apply_flush (self));
  inside = set_times (self, side, &frame);
  stream->held = gst_buffer_ref (frame.buffer);
  stream->held_pts = frame.pts;
  stream->held_waits = add_frame (self, side, &frame, inside);
  return TRUE;
}

GstBuffer *
gst_hip_vmaf_let_go (GstHipVmaf * self, GstHipVmafSide side)
{
  GstHipVmafStream *stream = &self->stream[side];
  GstBuffer *held = g_steal_pointer (&stream->held);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->pad[side]);

  /* A flush took it off the pad, and there may be another one by now. */
  if (buffer != held)
    gst_clear_buffer (&held);
  else
    gst_aggregator_pad_drop_buffer (self->pad[side]);
  gst_clear_buffer (&buffer);
  return held;
}

/* Flushes */

static void
drop_side (GstHipVmaf * self, GstHipVmafSide side)
{
  GstHipVmafStream *stream = &self->stream[side];
  GstHipVmafFrame frame;

  while (gst_hip_vmaf_pairing_pop (self->pairing, side, &frame))
    gst_hip_vmaf_leave_unpaired (self, side, &frame);
  gst_hip_vmaf_waiting_flush (self, side);
  stream->has_segment = stream->has_reached = FALSE;
  stream->last_pts = stream->last_duration = GST_CLOCK_TIME_NONE;
  gst_clear_buffer (&stream->held);
}

gboolean
gst_hip_vmaf_apply_flush (GstHipVmaf * self)
{
  gboolean any = FALSE;

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    if (g_atomic_int_compare_and_exchange (&self->stream[side].flushed, TRUE,
            FALSE)) {
      drop_side (self, side);
      any = TRUE;
    }
  }
  return any;
}

void
gst_hip_vmaf_drop_all (GstHipVmaf * self)
{
  GstHipVmafPair *pair;

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    g_atomic_int_set (&self->stream[side].flushed, FALSE);
    drop_side (self, side);
  }
  while ((pair = g_queue_pop_head (&self->ready)) != NULL) {
    GST_HIP_VMAF_COUNT (self->scorer, flushed, !pair->pair.unscored);
    gst_hip_vmaf_pair_free (pair);
  }
  gst_hip_vmaf_waiting_reset (self);
  gst_hip_vmaf_scorer_drop (self->scorer);
}
