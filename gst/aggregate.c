/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's way through the element: taken from its pad, paired, offered to the meter; the
 * reference is pushed on, and only then is there a wait for room in the meter. All of it runs on
 * the streaming thread of src. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

/* How long a live reference frame waits for its partner beyond the latency. */
#define LIVE_PATIENCE GST_SECOND

/* And how many of them do, whatever their times say. */
#define LIVE_FRAMES 300

/* Running times are kept away from where sums of them overflow: 73 years. */
#define MAX_TIME ((guint64) G_MAXINT64 / 4)

/* Frames in */

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
              GST_PAD_NAME (self->pad[side]),
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

static void
release (GstHipVmafFrame * frame)
{
  gst_clear_buffer (&frame->buffer);
  g_clear_pointer (&frame->format, gst_hip_vmaf_format_unref);
}

static void
leave_unpaired (GstHipVmaf * self, GstHipVmafSide side, GstHipVmafFrame * frame)
{
  if (frame->kind != GST_HIP_VMAF_FRAME_GAP) {
    GST_LOG_OBJECT (self->pad[side], "unpaired: %" GST_STIME_FORMAT,
        GST_STIME_ARGS (frame->time));
    gst_hip_vmaf_scorer_count (self->scorer,
        G_STRUCT_OFFSET (GstHipVmafStats, unpaired) + side * sizeof (guint64),
        1);
  }
  release (frame);
}

static GstBuffer *
init_frame (GstHipVmafFrame * frame, GstBuffer * buffer)
{
  memset (frame, 0, sizeof (*frame));
  frame->kind = GST_HIP_VMAF_FRAME_UNTIMED;
  frame->pts = frame->duration = frame->stream_time = GST_CLOCK_TIME_NONE;
  frame->buffer = buffer;
  return buffer;
}

/* A buffer without data stands for the time in which there is no picture. */
static void
add_gap (GstHipVmaf * self, GstHipVmafSide side, GstHipVmafFrame * frame)
{
  frame->buffer = NULL;
  frame->kind = GST_HIP_VMAF_FRAME_GAP;
  gst_hip_vmaf_pairing_add (self->pairing, side, frame);
}

/* Takes a buffer off the pad. Returns it (a reference for the caller) with what is known of it in
 * `frame`, or NULL. */
static GstBuffer *
take (GstHipVmaf * self, GstHipVmafSide side, GstHipVmafFrame * frame)
{
  GstHipVmafStream *stream = &self->stream[side];
  GstBuffer *buffer = gst_aggregator_pad_pop_buffer (self->pad[side]);
  gboolean inside;

  if (init_frame (frame, buffer) == NULL)
    return NULL;
  inside = set_times (self, side, frame);
  if (gst_buffer_get_size (buffer) == 0) {
    if (inside && frame->kind == GST_HIP_VMAF_FRAME_TIMED)
      add_gap (self, side, frame);
    return buffer;
  }

  gst_hip_vmaf_scorer_count (self->scorer,
      G_STRUCT_OFFSET (GstHipVmafStats, frames) + side * sizeof (guint64), 1);
  gst_buffer_ref (buffer);
  if (!inside) {
    leave_unpaired (self, side, frame);
    return buffer;
  }
  if (stream->format != NULL)
    frame->format = gst_hip_vmaf_format_ref (stream->format);
  else
    frame->kind = GST_HIP_VMAF_FRAME_UNTIMED;
  if (side == GST_HIP_VMAF_REFERENCE && frame->kind == GST_HIP_VMAF_FRAME_TIMED)
    self->newest_time = frame->time;
  gst_hip_vmaf_pairing_add (self->pairing, side, frame);
  return buffer;
}

/* A gap of the distorted stream stays on its pad until it is used up: the base class goes on with
 * the reference only while both pads have something. TRUE when there is one. */
static gboolean
hold_gap (GstHipVmaf * self)
{
  GstAggregatorPad *pad = self->pad[GST_HIP_VMAF_DISTORTED];
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (pad);
  GstHipVmafFrame frame;

  if (buffer != NULL && gst_buffer_get_size (buffer) == 0) {
    init_frame (&frame, buffer);
    if (set_times (self, GST_HIP_VMAF_DISTORTED, &frame)
        && frame.kind == GST_HIP_VMAF_FRAME_TIMED) {
      add_gap (self, GST_HIP_VMAF_DISTORTED, &frame);
      self->gap_held = TRUE;
    }
  }
  gst_clear_buffer (&buffer);
  return self->gap_held;
}

static void
let_gap_go (GstHipVmaf * self)
{
  if (!self->gap_held
      || gst_hip_vmaf_pairing_has_gap (self->pairing, GST_HIP_VMAF_DISTORTED))
    return;
  gst_aggregator_pad_drop_buffer (self->pad[GST_HIP_VMAF_DISTORTED]);
  self->gap_held = FALSE;
}

/* FALSE when the pad has nothing. */
static gboolean
take_distorted (GstHipVmaf * self)
{
  GstHipVmafFrame frame;
  GstBuffer *buffer;

  if (hold_gap (self))
    return TRUE;
  buffer = take (self, GST_HIP_VMAF_DISTORTED, &frame);
  if (buffer == NULL)
    return FALSE;
  gst_buffer_unref (buffer);
  return TRUE;
}

/* Pairs */

/* FALSE when the two cannot be measured against each other: an error before anything was, else
 * something to wait out. */
static gboolean
check_formats (GstHipVmaf * self, const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted)
{
  gchar *ref_text, *dist_text, *fix;

  if (gst_hip_vmaf_format_matches (reference, distorted))
    return TRUE;
  ref_text = gst_hip_vmaf_format_describe (reference);
  dist_text = gst_hip_vmaf_format_describe (distorted);
  fix = gst_hip_vmaf_format_fix (reference, distorted);
  if (self->next_index == 0) {
    self->failed = TRUE;
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The reference is %s but the distorted stream is %s: they cannot be "
            "compared. Put this before dist_sink: %s", ref_text, dist_text,
            fix), (NULL));
  } else if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_MISMATCH)) {
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The reference is now %s but the distorted stream is %s: such frames "
            "count as unpaired until they match again. If they should match, "
            "put this before dist_sink: %s", ref_text, dist_text, fix), (NULL));
  }
  g_free (ref_text);
  g_free (dist_text);
  g_free (fix);
  return FALSE;
}

static void
warn_about_formats (GstHipVmaf * self, const GstHipVmafFormat * reference,
    const GstHipVmafFormat * distorted)
{
  if (gst_hip_vmaf_format_is_interlaced (reference)
      && gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_INTERLACED))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The streams are interlaced: frames are measured as they are, both "
            "fields woven. For progressive figures put deinterlace before both "
            "sink pads."), (NULL));
  if (gst_hip_vmaf_format_colors_differ (reference, distorted)
      && gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_COLORS)) {
    gchar *ref_text = gst_hip_vmaf_format_describe_colors (reference);
    gchar *dist_text = gst_hip_vmaf_format_describe_colors (distorted);

    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The reference's colorimetry is %s, the distorted stream's is %s: the "
            "samples are compared as they are, which understates the quality "
            "if they really differ.", ref_text, dist_text), (NULL));
    g_free (ref_text);
    g_free (dist_text);
  }
}

static void
accept (GstHipVmaf * self, GstHipVmafFrame * reference,
    GstHipVmafFrame * distorted)
{
  GstHipVmafPair *pair = NULL;
  gboolean measured = self->next_index % self->run_subsample == 0;

  if (!check_formats (self, reference->format, distorted->format)) {
    leave_unpaired (self, GST_HIP_VMAF_REFERENCE, reference);
    leave_unpaired (self, GST_HIP_VMAF_DISTORTED, distorted);
    return;
  }
  warn_about_formats (self, reference->format, distorted->format);
  if (measured) {
    pair = gst_hip_vmaf_pair_new (reference, distorted, self->next_index);
    if (pair == NULL) {
      if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_UNREADABLE))
        GST_ELEMENT_WARNING (self, STREAM, FORMAT,
            ("A buffer cannot be read as its caps say (it is too small, or its "
                "memory cannot be mapped): such frames count as unpaired."),
            (NULL));
      leave_unpaired (self, GST_HIP_VMAF_REFERENCE, reference);
      leave_unpaired (self, GST_HIP_VMAF_DISTORTED, distorted);
      return;
    }
    g_queue_push_tail (&self->ready, pair);
  }
  self->next_index++;
  GST_HIP_VMAF_COUNT (self->scorer, pairs, 1);
  release (reference);
  release (distorted);
}

static void
decide (GstHipVmaf * self)
{
  GstHipVmafFrame reference, distorted;

  while (!self->failed) {
    switch (gst_hip_vmaf_pairing_next (self->pairing, &reference, &distorted)) {
      case GST_HIP_VMAF_PAIR:
        accept (self, &reference, &distorted);
        break;
      case GST_HIP_VMAF_UNPAIRED_REFERENCE:
        leave_unpaired (self, GST_HIP_VMAF_REFERENCE, &reference);
        break;
      case GST_HIP_VMAF_UNPAIRED_DISTORTED:
        leave_unpaired (self, GST_HIP_VMAF_DISTORTED, &distorted);
        break;
      case GST_HIP_VMAF_UNPAIRED_BOTH:
        leave_unpaired (self, GST_HIP_VMAF_REFERENCE, &reference);
        leave_unpaired (self, GST_HIP_VMAF_DISTORTED, &distorted);
        break;
      case GST_HIP_VMAF_UNDECIDED:
        let_gap_go (self);
        return;
    }
  }
}

/* To the meter */

static void
refuse (GstHipVmaf * self, const GError * error)
{
  GST_HIP_VMAF_COUNT (self->scorer, failed, 1);
  if (!gst_hip_vmaf_scorer_has_measured (self->scorer)) {
    self->failed = TRUE;
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", error->message), (NULL));
  } else if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_REFUSED)) {
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("%s Such frames pass unmeasured.", error->message), (NULL));
  }
}

static void
submit (GstHipVmaf * self, gboolean wait)
{
  GstHipVmafPair *pair;

  while (!self->failed && (pair = g_queue_peek_head (&self->ready)) != NULL) {
    GError *error = NULL;

    switch (gst_hip_vmaf_scorer_submit (self->scorer, pair, wait, &error)) {
      case GST_HIP_VMAF_SUBMIT_TAKEN:
        g_queue_pop_head (&self->ready);
        break;
      case GST_HIP_VMAF_SUBMIT_LATER:
        return;
      case GST_HIP_VMAF_SUBMIT_REFUSED:
        gst_hip_vmaf_pair_free (g_queue_pop_head (&self->ready));
        refuse (self, error);
        g_error_free (error);
        break;
    }
  }
}

/* Live, nothing is waited for: what is too late for its partner or for the meter is given up. */
static void
expire (GstHipVmaf * self, GstClockTime latency)
{
  gint64 oldest = self->newest_time - (gint64) (latency + LIVE_PATIENCE);
  GstHipVmafFrame frame;
  GstHipVmafPair *pair;

  while (gst_hip_vmaf_pairing_expire (self->pairing, GST_HIP_VMAF_REFERENCE,
          oldest, &frame)
      || (gst_hip_vmaf_pairing_waiting (self->pairing, GST_HIP_VMAF_REFERENCE)
          > LIVE_FRAMES && gst_hip_vmaf_pairing_pop (self->pairing,
              GST_HIP_VMAF_REFERENCE, &frame)))
    leave_unpaired (self, GST_HIP_VMAF_REFERENCE, &frame);
  while ((pair = g_queue_peek_head (&self->ready)) != NULL
      && (pair->time < oldest || self->ready.length > LIVE_FRAMES)) {
    gst_hip_vmaf_pair_free (g_queue_pop_head (&self->ready));
    GST_HIP_VMAF_COUNT (self->scorer, skipped, 1);
    if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_SLOW))
      GST_ELEMENT_WARNING (self, STREAM, FAILED,
          ("Measuring cannot keep up with the live streams: pairs are skipped. "
              "Use more threads, or measure every second frame: subsample=2."),
          (NULL));
  }
}

/* The reference out */

static GstFlowReturn
push (GstHipVmaf * self, GstBuffer * buffer, const GstHipVmafFrame * frame)
{
  GstFlowReturn flow;

  if (gst_buffer_get_size (buffer) == 0) {
    GstEvent *gap = NULL;

    if (GST_CLOCK_TIME_IS_VALID (frame->pts))
      gap = gst_event_new_gap (frame->pts, GST_BUFFER_DURATION (buffer));
    if (gap != NULL
        && gst_buffer_get_custom_meta (buffer, "GstAggregatorMissingDataMeta"))
      gst_event_set_gap_flags (gap, GST_GAP_FLAG_MISSING_DATA);
    gst_buffer_unref (buffer);
    if (gap != NULL)
      gst_hip_vmaf_push_event (self, gap);
    return GST_FLOW_OK;
  }
  gst_aggregator_selected_samples (GST_AGGREGATOR (self),
      GST_BUFFER_PTS (buffer), GST_BUFFER_DTS (buffer),
      GST_BUFFER_DURATION (buffer), NULL);
  flow = gst_aggregator_finish_buffer (GST_AGGREGATOR (self), buffer);
  return flow == GST_FLOW_NOT_LINKED ? GST_FLOW_OK : flow;
}

/* The last decisions: no more frames will come. */
static GstFlowReturn
finish (GstHipVmaf * self, GstFlowReturn flow)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    gst_hip_vmaf_pairing_set_ended (self->pairing, side, TRUE);
  decide (self);
  submit (self, TRUE);
  return self->failed ? GST_FLOW_ERROR : flow;
}

static void
note_ends (GstHipVmaf * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    GstAggregatorPad *pad = self->pad[side];
    gboolean absent = self->live && !gst_pad_is_linked (GST_PAD (pad));

    gst_hip_vmaf_pairing_set_ended (self->pairing, side,
        gst_aggregator_pad_is_eos (pad) || absent);
  }
}

/* Takes what is needed to go on: live, the reference in any case. What the distorted stream has is
 * taken only for a reference frame, so that the end does not depend on who comes first. TRUE if
 * there was anything. */
static gboolean
take_all (GstHipVmaf * self, GstBuffer ** out, GstHipVmafFrame * frame)
{
  gboolean any;

  *out = NULL;
  if (self->live || gst_hip_vmaf_pairing_wants (self->pairing,
          GST_HIP_VMAF_REFERENCE))
    *out = take (self, GST_HIP_VMAF_REFERENCE, frame);
  any = *out != NULL;
  decide (self);
  while (!self->failed && gst_hip_vmaf_pairing_wants (self->pairing,
          GST_HIP_VMAF_DISTORTED)
      && !gst_hip_vmaf_pairing_wants (self->pairing, GST_HIP_VMAF_REFERENCE)
      && take_distorted (self)) {
    any = TRUE;
    decide (self);
  }
  return any;
}

static gboolean
is_over (GstHipVmaf * self)
{
  return gst_aggregator_pad_is_eos (self->pad[GST_HIP_VMAF_REFERENCE])
      && !gst_aggregator_pad_has_buffer (self->pad[GST_HIP_VMAF_REFERENCE])
      && gst_hip_vmaf_pairing_waiting (self->pairing,
      GST_HIP_VMAF_REFERENCE) == 0;
}

GstFlowReturn
gst_hip_vmaf_aggregate (GstAggregator * agg, gboolean timeout)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);
  GstClockTime latency = gst_aggregator_get_latency (agg);
  GstFlowReturn flow = GST_FLOW_OK;
  GstHipVmafFrame frame;
  GstBuffer *out;
  gboolean any;

  gst_hip_vmaf_starvation_note (self, FALSE, FALSE);
  gst_hip_vmaf_apply_flush (self);
  if (self->failed)
    return GST_FLOW_ERROR;
  if (g_atomic_int_get (&self->eos_requested))
    return finish (self, GST_FLOW_EOS);

  self->live = GST_CLOCK_TIME_IS_VALID (latency);
  note_ends (self);
  decide (self);
  any = take_all (self, &out, &frame);
  submit (self, FALSE);
  if (out != NULL)
    flow = push (self, out, &frame);
  if (self->failed)
    return GST_FLOW_ERROR;
  if (flow == GST_FLOW_EOS || flow == GST_FLOW_ERROR)
    return finish (self, flow);

  if (self->live)
    expire (self, latency);
  else
    submit (self, TRUE);
  if (is_over (self) || (timeout && !any && gst_aggregator_pad_is_eos
          (self->pad[GST_HIP_VMAF_REFERENCE])))
    return finish (self, GST_FLOW_EOS);
  return self->failed ? GST_FLOW_ERROR : flow;
}

GstClockTime
gst_hip_vmaf_get_next_time (GstAggregator * agg)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);
  GstAggregatorPad *ref = self->pad[GST_HIP_VMAF_REFERENCE];
  GstAggregatorPad *dist = self->pad[GST_HIP_VMAF_DISTORTED];
  gboolean ref_has = gst_aggregator_pad_has_buffer (ref);
  gboolean dist_has = gst_aggregator_pad_has_buffer (dist);
  gboolean waiting =
      gst_hip_vmaf_pairing_waiting (self->pairing, GST_HIP_VMAF_REFERENCE) > 0;

  gst_hip_vmaf_starvation_note (self, ref_has, dist_has);
  if (ref_has)
    return 0;
  /* A partner that a reference frame waits for need not wait for the next reference frame. */
  if (dist_has && waiting
      && gst_hip_vmaf_pairing_wants (self->pairing, GST_HIP_VMAF_DISTORTED))
    return 0;
  if (!gst_aggregator_pad_is_eos (ref))
    return GST_CLOCK_TIME_NONE;
  return waiting ? MAX (self->newest_time, 0) + LIVE_PATIENCE : 0;
}

/* Flushes */

static void
drop_side (GstHipVmaf * self, GstHipVmafSide side)
{
  GstHipVmafStream *stream = &self->stream[side];
  GstHipVmafFrame frame;

  while (gst_hip_vmaf_pairing_pop (self->pairing, side, &frame))
    leave_unpaired (self, side, &frame);
  stream->last_pts = stream->last_duration = GST_CLOCK_TIME_NONE;
  if (side == GST_HIP_VMAF_DISTORTED)
    self->gap_held = FALSE;
}

void
gst_hip_vmaf_apply_flush (GstHipVmaf * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    if (g_atomic_int_compare_and_exchange (&self->stream[side].flushed, TRUE,
            FALSE))
      drop_side (self, side);
  }
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
    gst_hip_vmaf_pair_free (pair);
    GST_HIP_VMAF_COUNT (self->scorer, flushed, 1);
  }
  gst_hip_vmaf_scorer_drop (self->scorer);
}
