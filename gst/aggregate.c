/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's way through the element: taken from its pad, paired, offered to the meter; the
 * reference is pushed on, and only then is there a wait for room in the meter. All of it runs on
 * the streaming thread of src. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

/* Reference frames that were not shown in a row and are still measured by metrics that look at
 * neighbours; after more than that, the stream begins anew for them. */
#define MAX_PASSED_OVER 64

/* How long a live reference frame waits for its partner beyond the latency. */
#define LIVE_PATIENCE GST_SECOND

/* And how many of them do, whatever their times say. */
#define LIVE_FRAMES 300

/* What pairs that wait for the meter may take; and as much again those that are only passed. */
#define LIVE_BYTES ((gsize) 512 << 20)

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

/* FALSE when they are no pair after all: the caller still has them. */
static gboolean
accept (GstHipVmaf * self, GstHipVmafFrame * reference,
    GstHipVmafFrame * distorted)
{
  GstHipVmafPair *pair = NULL;
  gboolean measured = self->next_index % self->run_subsample == 0;
  gboolean begins;

  if (!check_formats (self, reference->format, distorted->format))
    return FALSE;
  warn_about_formats (self, reference->format, distorted->format);
  if (measured || self->run_remembers) {
    pair = gst_hip_vmaf_pair_new (self->scorer, reference, distorted,
        self->next_index);
    if (pair == NULL) {
      if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_UNREADABLE))
        GST_ELEMENT_WARNING (self, STREAM, FORMAT,
            ("A buffer cannot be read as its caps say (it is too small, or its "
                "memory cannot be mapped): such frames count as unpaired."),
            (NULL));
      return FALSE;
    }
    pair->pair.unscored = !measured;
    g_queue_push_tail (&self->ready, pair);
  }
  begins = gst_hip_vmaf_watch_note_pair (self);
  if (pair != NULL)
    pair->begins = begins;
  self->next_index++;
  GST_HIP_VMAF_COUNT (self->scorer, pairs, 1);
  gst_hip_vmaf_release (reference);
  gst_hip_vmaf_release (distorted);
  return TRUE;
}

/* Frames that are shown again, and those that are never */

static void
copy_frame (GstHipVmafFrame * copy, const GstHipVmafFrame * frame)
{
  *copy = *frame;
  gst_buffer_ref (copy->buffer);
  gst_hip_vmaf_format_ref (copy->format);
}

static void
forget_passed_over (GstHipVmaf * self)
{
  GstHipVmafFrame *frame;

  while ((frame = g_queue_pop_head (&self->passed_over)) != NULL) {
    gst_hip_vmaf_release (frame);
    g_free (frame);
  }
  self->n_passed_over = 0;
}

gboolean
gst_hip_vmaf_forget_shown (GstHipVmaf * self)
{
  gboolean any = self->shown.buffer != NULL;

  forget_passed_over (self);
  gst_hip_vmaf_release (&self->shown);
  return any;
}

/* A reference frame without a partner. If one that comes later is shown it was dropped, and metrics
 * that compare neighbours of the reference are to see it all the same. */
static void
pass_over (GstHipVmaf * self, GstHipVmafFrame * frame)
{
  if (self->shown.buffer != NULL && frame->kind == GST_HIP_VMAF_FRAME_TIMED
      && gst_hip_vmaf_alignment_follows_frames (self->aligner)) {
    self->n_passed_over++;
    if (self->run_remembers && self->n_passed_over <= MAX_PASSED_OVER) {
      GstHipVmafFrame *copy = g_new (GstHipVmafFrame, 1);

      copy_frame (copy, frame);
      g_queue_push_tail (&self->passed_over, copy);
    }
  }
  gst_hip_vmaf_leave_unpaired (self, GST_HIP_VMAF_REFERENCE, frame);
}

static void
count_dropped (GstHipVmaf * self, const GstHipVmafFormat * format)
{
  GstHipVmafFrame *frame;

  GST_HIP_VMAF_COUNT (self->scorer, dropped, self->n_passed_over);
  while (self->n_passed_over <= MAX_PASSED_OVER
      && (frame = g_queue_pop_head (&self->passed_over)) != NULL) {
    GstHipVmafPair *pair = gst_hip_vmaf_format_matches (frame->format, format) ?
        gst_hip_vmaf_pair_new (self->scorer, frame, frame,
        self->next_index) : NULL;

    if (pair != NULL) {
      pair->pair.unscored = TRUE;
      g_queue_push_tail (&self->ready, pair);
    }
    gst_hip_vmaf_release (frame);
    g_free (frame);
  }
  forget_passed_over (self);
}

static void
leave_both (GstHipVmaf * self, GstHipVmafFrame * reference,
    GstHipVmafFrame * distorted)
{
  gst_hip_vmaf_leave_unpaired (self, GST_HIP_VMAF_REFERENCE, reference);
  gst_hip_vmaf_leave_unpaired (self, GST_HIP_VMAF_DISTORTED, distorted);
}

static void
accept_shown (GstHipVmaf * self, GstHipVmafFrame * reference,
    GstHipVmafFrame * distorted)
{
  GstHipVmafFrame copy;

  if (self->aligner == NULL) {
    if (!accept (self, reference, distorted))
      leave_both (self, reference, distorted);
    return;
  }
  count_dropped (self, reference->format);
  copy_frame (&copy, reference);
  distorted->repeated = FALSE;
  if (!accept (self, reference, distorted)) {
    leave_both (self, reference, distorted);
    gst_hip_vmaf_release (&copy);
    return;
  }
  gst_hip_vmaf_release (&self->shown);
  self->shown = copy;
}

/* A distorted frame that no reference frame is left for. It may show the last one again. */
static void
accept_shown_again (GstHipVmaf * self, GstHipVmafFrame * distorted)
{
  GstHipVmafFrame reference;

  if (!distorted->repeated || self->shown.buffer == NULL
      || self->shown.time != distorted->time
      || !gst_hip_vmaf_format_matches (self->shown.format, distorted->format)) {
    gst_hip_vmaf_leave_unpaired (self, GST_HIP_VMAF_DISTORTED, distorted);
    return;
  }
  copy_frame (&reference, &self->shown);
  if (!accept (self, &reference, distorted)) {
    gst_hip_vmaf_release (&reference);
    gst_hip_vmaf_leave_unpaired (self, GST_HIP_VMAF_DISTORTED, distorted);
    return;
  }
  GST_HIP_VMAF_COUNT (self->scorer, repeated_pairs, 1);
}

static void
decide (GstHipVmaf * self)
{
  GstHipVmafFrame reference, distorted;

  while (gst_hip_vmaf_waiting_decide (self, FALSE));
  while (!self->failed) {
    switch (gst_hip_vmaf_pairing_next (self->pairing, &reference, &distorted)) {
      case GST_HIP_VMAF_PAIR:
        accept_shown (self, &reference, &distorted);
        break;
      case GST_HIP_VMAF_UNPAIRED_REFERENCE:
        pass_over (self, &reference);
        break;
      case GST_HIP_VMAF_UNPAIRED_DISTORTED:
        accept_shown_again (self, &distorted);
        break;
      case GST_HIP_VMAF_UNPAIRED_BOTH:
        leave_both (self, &reference, &distorted);
        break;
      case GST_HIP_VMAF_UNDECIDED:
        return;
    }
  }
}

/* To the meter */

static void
refuse (GstHipVmaf * self, const GError * error)
{
  GST_HIP_VMAF_COUNT (self->scorer, failed, 1);
  if (g_error_matches (error, HV_ERROR, HV_ERROR_BACKEND)) {
    self->failed = TRUE;
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("backend=hip: %s.",
            error->message), (NULL));
  } else if (!gst_hip_vmaf_scorer_has_measured (self->scorer)) {
    self->failed = TRUE;
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", error->message), (NULL));
  } else if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_REFUSED)) {
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("%s. Such frames pass unmeasured.", error->message), (NULL));
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
        self->failed |= gst_hip_vmaf_scorer_is_broken (self->scorer);
        return;
      case GST_HIP_VMAF_SUBMIT_REFUSED:
        gst_hip_vmaf_pair_free (g_queue_pop_head (&self->ready));
        refuse (self, error);
        g_error_free (error);
        break;
    }
  }
}

static gboolean
skips (GstHipVmaf * self)
{
  if (self->run_policy == GST_HIP_VMAF_LIVE_AUTO)
    return self->live;
  return self->run_policy == GST_HIP_VMAF_LIVE_SKIP;
}

/* How many pairs may wait for the meter. */
static guint
live_pairs (GstHipVmaf * self)
{
  GstHipVmafFormat *format = self->stream[GST_HIP_VMAF_REFERENCE].format;
  gsize size = format != NULL ? GST_VIDEO_INFO_SIZE (&format->info) : 1;

  return CLAMP (LIVE_BYTES / (2 * MAX (size, 1)), 1, LIVE_FRAMES);
}

/* A skipped pair still shows the metrics that remember frames what came between its neighbours:
 * that costs little, and their scores are those that they would have had. */
gboolean
gst_hip_vmaf_skip_oldest (GstHipVmaf * self)
{
  GstHipVmafPair *pair = g_queue_pop_head (&self->ready);

  if (pair == NULL)
    return FALSE;
  GST_HIP_VMAF_COUNT (self->scorer, skipped, !pair->pair.unscored);
  if (!gst_hip_vmaf_scorer_pass (self->scorer, pair,
          self->run_depth + live_pairs (self)))
    gst_hip_vmaf_pair_free (pair);
  if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_SLOW))
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("Measuring cannot keep up with the streams: pairs are skipped. Use "
            "more threads, or measure every second frame: subsample=2."),
        (NULL));
  return TRUE;
}

/* How long frames wait because the distorted stream is late, or may be. */
static GstClockTime
known_delay (GstHipVmaf * self)
{
  return self->aligner != NULL ? gst_hip_vmaf_alignment_delay (self->aligner)
      : MAX (self->run_offset, 0);
}

/* How many reference frames may wait. Copies have a limit of their own. */
static guint
live_frames (GstHipVmaf * self)
{
  GstHipVmafFormat *format = self->stream[GST_HIP_VMAF_REFERENCE].format;

  if (self->history == NULL || format == NULL)
    return LIVE_FRAMES;
  return MAX (LIVE_FRAMES, gst_hip_vmaf_history_capacity (self->history,
          format));
}

/* Live, nothing is waited for: what is too late for its partner is given up. */
static void
expire (GstHipVmaf * self, gint64 oldest)
{
  GstHipVmafFrame frame;

  while (gst_hip_vmaf_pairing_expire (self->pairing, GST_HIP_VMAF_REFERENCE,
          oldest, &frame))
    gst_hip_vmaf_leave_unpaired (self, GST_HIP_VMAF_REFERENCE, &frame);
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    while (gst_hip_vmaf_pairing_length (self->pairing, side)
        > live_frames (self)
        && gst_hip_vmaf_pairing_pop (self->pairing, side, &frame))
      gst_hip_vmaf_leave_unpaired (self, side, &frame);
  }
}

/* Gives the meter what it has room for; what has waited too long for that is skipped, or waited
 * for. */
static void
keep_up (GstHipVmaf * self, gint64 oldest)
{
  GstHipVmafPair *pair;

  if (!skips (self)) {
    submit (self, TRUE);
    return;
  }
  while ((pair = g_queue_peek_head (&self->ready)) != NULL
      && (pair->time < oldest || self->ready.length > live_pairs (self)))
    gst_hip_vmaf_skip_oldest (self);
}

/* What is older than this has waited long enough. */
static gint64
oldest_time (GstHipVmaf * self, GstClockTime latency)
{
  if (self->live)
    latency += gst_hip_vmaf_lateness (self);
  else
    latency = 0;
  return self->newest_time - (gint64) (latency + LIVE_PATIENCE
      + known_delay (self));
}

/* The reference out */

static GstFlowReturn
push_gap (GstHipVmaf * self, GstBuffer * buffer, GstClockTime pts)
{
  GstEvent *event;

  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return GST_FLOW_OK;
  event = gst_event_new_gap (pts, GST_BUFFER_DURATION (buffer));
  if (gst_buffer_get_custom_meta (buffer, "GstAggregatorMissingDataMeta"))
    gst_event_set_gap_flags (event, GST_GAP_FLAG_MISSING_DATA);
  gst_hip_vmaf_push_event (self, event);
  return GST_FLOW_OK;
}

static GstFlowReturn
push (GstHipVmaf * self)
{
  GstClockTime pts = self->stream[GST_HIP_VMAF_REFERENCE].held_pts;
  GstBuffer *buffer = gst_hip_vmaf_let_go (self, GST_HIP_VMAF_REFERENCE);
  GstFlowReturn flow;

  if (buffer == NULL)
    return GST_FLOW_OK;
  if (gst_buffer_get_size (buffer) == 0) {
    flow = push_gap (self, buffer, pts);
    gst_buffer_unref (buffer);
    return flow;
  }
  gst_aggregator_selected_samples (GST_AGGREGATOR (self),
      GST_BUFFER_PTS (buffer), GST_BUFFER_DTS (buffer),
      GST_BUFFER_DURATION (buffer), NULL);
  flow = gst_aggregator_finish_buffer (GST_AGGREGATOR (self), buffer);
  return flow == GST_FLOW_NOT_LINKED ? GST_FLOW_OK : flow;
}

static void
drop_distorted (GstHipVmaf * self)
{
  GstBuffer *buffer = gst_hip_vmaf_let_go (self, GST_HIP_VMAF_DISTORTED);

  gst_clear_buffer (&buffer);
}

/* Whether the held buffer can leave its pad because its frame waits elsewhere: live, in any case.
 * Otherwise, where the stream is ahead it stays, so that the other one can come up to it. */
static gboolean
waits_elsewhere (GstHipVmaf * self, GstHipVmafSide side)
{
  if (self->history == NULL)
    return FALSE;
  return self->live || (self->stream[side].held_copied
      && !gst_hip_vmaf_is_ahead (self, side));
}

/* Decides as far as that goes, offers the meter what came of it, and lets go of the buffers that
 * need not stay on their pads. A reference frame stays while there is no distorted one at hand: as
 * soon as there is, a second one may be needed to tell which is nearer, and in a pipeline without
 * queues it comes only after the next reference frame. */
static GstFlowReturn
settle (GstHipVmaf * self)
{
  GstHipVmafStream *ref = &self->stream[GST_HIP_VMAF_REFERENCE];
  GstHipVmafStream *dist = &self->stream[GST_HIP_VMAF_DISTORTED];
  gboolean no_ref, no_dist;

  decide (self);
  submit (self, FALSE);
  no_ref = gst_hip_vmaf_pairing_is_empty (self->pairing,
      GST_HIP_VMAF_REFERENCE);
  no_dist = gst_hip_vmaf_pairing_is_empty (self->pairing,
      GST_HIP_VMAF_DISTORTED) && self->undecided.length == 0;
  if (dist->held != NULL && (!dist->held_waits || no_dist
          || waits_elsewhere (self, GST_HIP_VMAF_DISTORTED)))
    drop_distorted (self);
  if (ref->held != NULL && (self->live || !ref->held_waits || no_ref
          || !no_dist || waits_elsewhere (self, GST_HIP_VMAF_REFERENCE)))
    return push (self);
  return GST_FLOW_OK;
}

static gdouble
seconds (gint64 time)
{
  return (gdouble) time / GST_SECOND;
}

/* A reference of which no frame found a partner: what did it meet? */
static void
warn_if_nothing_paired (GstHipVmaf * self)
{
  GstHipVmafStream *ref = &self->stream[GST_HIP_VMAF_REFERENCE];
  GstHipVmafStream *dist = &self->stream[GST_HIP_VMAF_DISTORTED];

  if (self->next_index > 0 || !ref->timed
      || g_atomic_int_get (&self->said) & (GST_HIP_VMAF_SAID_UNTIMED |
          GST_HIP_VMAF_SAID_UNREADABLE))
    return;
  if (!dist->timed)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("Nothing was measured: no frame came to dist_sink."), (NULL));
  else
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("Nothing was measured: the reference's frames have running times from "
            "%.3f to %.3f s, those read of the distorted stream from %.3f to "
            "%.3f s, and frames pair when they differ by less than half a frame. "
            "Shift one of the streams, for example by gst_pad_set_offset().",
            seconds (ref->earliest), seconds (ref->latest),
            seconds (dist->earliest), seconds (dist->latest)), (NULL));
}

/* No more frames will come: the last decisions. */
static GstFlowReturn
finish (GstHipVmaf * self, GstFlowReturn flow)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    gst_hip_vmaf_set_ended (self, side, TRUE);
  settle (self);
  submit (self, TRUE);
  if (self->failed)
    return GST_FLOW_ERROR;
  if (flow == GST_FLOW_EOS)
    warn_if_nothing_paired (self);
  return flow;
}

static void
note_ends (GstHipVmaf * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    GstAggregatorPad *pad = self->pad[side];
    gboolean absent = self->live && !gst_pad_is_linked (GST_PAD (pad));

    gst_hip_vmaf_set_ended (self, side, gst_aggregator_pad_is_eos (pad)
        || absent);
  }
}

/* Takes what is needed to go on: live, the reference in any case. What the distorted stream has is
 * taken only for a reference frame, so that the end does not depend on who comes first. `any` is set
 * if anything moved. */
static GstFlowReturn
take_all (GstHipVmaf * self, gboolean * any)
{
  GstFlowReturn flow = settle (self);

  if (flow == GST_FLOW_OK && (self->live
          || gst_hip_vmaf_pairing_wants (self->pairing, GST_HIP_VMAF_REFERENCE))
      && gst_hip_vmaf_take (self, GST_HIP_VMAF_REFERENCE)) {
    *any = TRUE;
    flow = settle (self);
  }
  while (flow == GST_FLOW_OK && !self->failed
      && gst_hip_vmaf_pairing_wants (self->pairing, GST_HIP_VMAF_DISTORTED)
      && !gst_hip_vmaf_pairing_wants (self->pairing, GST_HIP_VMAF_REFERENCE)) {
    if (self->stream[GST_HIP_VMAF_DISTORTED].held != NULL) {
      *any = TRUE;
      drop_distorted (self);
    }
    if (!gst_hip_vmaf_take (self, GST_HIP_VMAF_DISTORTED))
      break;
    *any = TRUE;
    flow = settle (self);
  }
  return flow;
}

/* What is measured gives back its memory, and what is not decided is, from what there is. */
static void
make_room (GstHipVmaf * self)
{
  while (!self->failed && !gst_hip_vmaf_has_room (self)) {
    submit (self, TRUE);
    if (!gst_hip_vmaf_scorer_drain (self->scorer)
        || gst_hip_vmaf_has_room (self)
        || !gst_hip_vmaf_waiting_decide (self, TRUE))
      return;
    decide (self);
  }
}

/* The same where the streams are aligned: both are read in step, by their own running times, and
 * live, all that there is. */
static GstFlowReturn
take_in_step (GstHipVmaf * self, gboolean * any)
{
  GstFlowReturn flow = settle (self);
  GstHipVmafSide side;

  while (flow == GST_FLOW_OK && !self->failed
      && gst_hip_vmaf_next_side (self, &side)) {
    if (self->stream[side].held != NULL) {
      *any = TRUE;
      if (side == GST_HIP_VMAF_DISTORTED)
        drop_distorted (self);
      else
        flow = push (self);
    }
    if (flow != GST_FLOW_OK || !gst_hip_vmaf_take (self, side))
      break;
    *any = TRUE;
    flow = settle (self);
    if (self->aligner != NULL)
      make_room (self);
  }
  return flow;
}

static GstFlowReturn
take_what_there_is (GstHipVmaf * self, gboolean * any)
{
  GstFlowReturn flow = settle (self);

  /* One at a time: downstream may hold up each, and the distorted stream must not wait for all. */
  if (flow == GST_FLOW_OK && gst_hip_vmaf_take (self, GST_HIP_VMAF_REFERENCE)) {
    *any = TRUE;
    flow = settle (self);
  }
  while (flow == GST_FLOW_OK && !self->failed
      && gst_hip_vmaf_take (self, GST_HIP_VMAF_DISTORTED)) {
    *any = TRUE;
    flow = settle (self);
  }
  return flow;
}

static GstFlowReturn
take (GstHipVmaf * self, gboolean * any)
{
  if (self->history == NULL)
    return take_all (self, any);
  return self->live ? take_what_there_is (self, any)
      : take_in_step (self, any);
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
  gboolean any = FALSE;
  GstFlowReturn flow;
  gint64 oldest;

  gst_hip_vmaf_starvation_note (self, FALSE, FALSE);
  gst_hip_vmaf_apply_flush (self);
  self->failed |= gst_hip_vmaf_scorer_is_broken (self->scorer);
  if (self->failed)
    return GST_FLOW_ERROR;
  if (g_atomic_int_get (&self->eos_requested))
    return finish (self, GST_FLOW_EOS);

  self->live = GST_CLOCK_TIME_IS_VALID (latency);
  note_ends (self);
  flow = take (self, &any);
  if (self->failed)
    return GST_FLOW_ERROR;
  if (flow == GST_FLOW_EOS || flow == GST_FLOW_ERROR)
    return finish (self, flow);

  oldest = oldest_time (self, latency);
  if (self->live)
    expire (self, oldest);
  keep_up (self, oldest);
  if (g_queue_is_empty (&self->ready) && gst_hip_vmaf_watch_take_break (self))
    gst_hip_vmaf_scorer_break (self->scorer);
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
  if (dist_has && (self->history != NULL || (waiting
              && gst_hip_vmaf_pairing_wants (self->pairing,
                  GST_HIP_VMAF_DISTORTED))))
    return 0;
  if (!gst_aggregator_pad_is_eos (ref))
    return GST_CLOCK_TIME_NONE;
  return waiting ? MAX (self->newest_time, 0) + gst_hip_vmaf_lateness (self)
      + LIVE_PATIENCE + known_delay (self) : 0;
}
