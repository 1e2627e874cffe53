/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that wait for their partners where the streams are to be aligned: they wait as copies, so
 * that the reference can go on and both streams are read in step, by their own running times. What
 * the distorted frames' times are to the reference is decided here, by `offset` or by what they
 * show; the pairing does the rest. docs/alignment.md. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

/* Life */

static gboolean
needs_chroma (const GPtrArray * features)
{
  for (guint i = 0; i < features->len; i++) {
    const HvFeature *feature = g_ptr_array_index (features, i);

    if (feature->info->needs_chroma != NULL
        && feature->info->needs_chroma (feature->params))
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_hip_vmaf_waiting_check (GstHipVmaf * self)
{
  gint64 offset;
  guint64 max;

  GST_OBJECT_LOCK (self);
  self->run_alignment = self->alignment;
  offset = self->run_alignment != GST_HIP_VMAF_ALIGNMENT_NONE ?
      self->offset : 0;
  max = self->max_offset;
  GST_OBJECT_UNLOCK (self);
  self->run_offset = offset;
  if ((guint64) ABS (offset) <= max)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("offset=%" G_GINT64_FORMAT " is farther than max-offset=%"
          G_GUINT64_FORMAT ": frames wait no longer than that. Set max-offset "
          "to as much, at least.", offset, max), (NULL));
  return FALSE;
}

void
gst_hip_vmaf_waiting_start (GstHipVmaf * self, const GPtrArray * features)
{
  if (self->run_alignment == GST_HIP_VMAF_ALIGNMENT_NONE)
    return;
  GST_OBJECT_LOCK (self);
  self->history = gst_hip_vmaf_history_new (self->scorer,
      self->max_history_bytes, !needs_chroma (features));
  if (self->run_alignment == GST_HIP_VMAF_ALIGNMENT_AUTO)
    self->aligner = gst_hip_vmaf_alignment_new (self->run_offset,
        self->max_offset);
  GST_OBJECT_UNLOCK (self);
  self->history_was_full = FALSE;
}

void
gst_hip_vmaf_waiting_stop (GstHipVmaf * self)
{
  GstHipVmafHistory *history;

  GST_OBJECT_LOCK (self);
  history = g_steal_pointer (&self->history);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&history, gst_hip_vmaf_history_free);
  g_clear_pointer (&self->aligner, gst_hip_vmaf_alignment_free);
}

void
gst_hip_vmaf_waiting_stats (GstHipVmaf * self, const GstHipVmafStats * stats,
    GstStructure * structure)
{
  guint64 bytes = self->history != NULL ?
      gst_hip_vmaf_history_bytes (self->history) : 0;

  if (self->run_alignment == GST_HIP_VMAF_ALIGNMENT_NONE)
    return;
  gst_structure_set (structure,
      "alignment-offset", G_TYPE_INT64,
      stats->aligned ? stats->offset : self->run_offset,
      "alignment-confidence", G_TYPE_DOUBLE, stats->confidence,
      "repeated", G_TYPE_UINT64, stats->repeated,
      "repeated-pairs", G_TYPE_UINT64, stats->repeated_pairs,
      "dropped", G_TYPE_UINT64, stats->dropped,
      "history-bytes", G_TYPE_UINT64, bytes,
      "history-limit", G_TYPE_STRING,
      g_atomic_int_get (&self->history_was_full) ? "max-history-bytes"
      : "max-offset", NULL);
}

/* Room */

/* Hands out the earliest distorted frame that is not decided. */
static gboolean
pop_undecided (GstHipVmaf * self, GstHipVmafFrame * frame)
{
  GstHipVmafFrame *head = g_queue_pop_head (&self->undecided);

  if (head == NULL)
    return FALSE;
  gst_hip_vmaf_alignment_drop (self->aligner);
  *frame = *head;
  g_free (head);
  return TRUE;
}

/* Live, a new frame is worth more than the oldest one. FALSE when nothing is left to give up. */
static gboolean
give_up_oldest (GstHipVmaf * self)
{
  guint n_ref = gst_hip_vmaf_pairing_waiting (self->pairing,
      GST_HIP_VMAF_REFERENCE);
  guint n_dist = gst_hip_vmaf_pairing_waiting (self->pairing,
      GST_HIP_VMAF_DISTORTED) + self->undecided.length;
  GstHipVmafSide side = n_ref >= n_dist ? GST_HIP_VMAF_REFERENCE
      : GST_HIP_VMAF_DISTORTED;
  GstHipVmafFrame frame;

  if (gst_hip_vmaf_pairing_pop (self->pairing, side, &frame)
      || (side == GST_HIP_VMAF_DISTORTED && pop_undecided (self, &frame))) {
    gst_hip_vmaf_leave_unpaired (self, side, &frame);
    return TRUE;
  }
  return gst_hip_vmaf_forget_shown (self) || gst_hip_vmaf_skip_oldest (self);
}

static gboolean
has_room (GstHipVmaf * self, const GstHipVmafFormat * format)
{
  if (format == NULL || gst_hip_vmaf_history_has_room (self->history, format))
    return TRUE;
  g_atomic_int_set (&self->history_was_full, TRUE);
  return FALSE;
}

/* Frames */

static void
note_reached (GstHipVmafStream * stream, const GstHipVmafFrame * frame)
{
  gint64 end = frame->time;

  if (frame->kind == GST_HIP_VMAF_FRAME_UNTIMED)
    return;
  if (frame->kind == GST_HIP_VMAF_FRAME_GAP
      && GST_CLOCK_TIME_IS_VALID (frame->duration))
    end += MIN (frame->duration, (GstClockTime) G_MAXINT64 / 4);
  stream->reached = end;
  stream->has_reached = TRUE;
}

static gboolean
read_fingerprint (const GstHipVmafFrame * frame, GstHipVmafFingerprint * print)
{
  const GstHipVmafFormat *format = frame->format;
  GstVideoFrame mapped;
  HvPicture picture;

  if (frame->kind != GST_HIP_VMAF_FRAME_TIMED
      || !(frame->luma ? gst_hip_vmaf_picture_map_luma :
          gst_hip_vmaf_picture_map) (&picture, &mapped, format, frame->buffer))
    return FALSE;
  gst_hip_vmaf_fingerprint (print, &picture.plane[0], &format->format);
  gst_video_frame_unmap (&mapped);
  return TRUE;
}

/* How many frames of each side may wait: what fits, less those that are being measured. */
static void
limit_aligner (GstHipVmaf * self, const GstHipVmafFormat * format)
{
  guint capacity = gst_hip_vmaf_history_capacity (self->history, format);
  guint measured = 2 * (self->run_depth + 2);

  gst_hip_vmaf_alignment_set_limit (self->aligner,
      MAX ((capacity - MIN (capacity, measured)) / 2, 4));
}

/* While frames come on both sides and the offset is looked for, it is no wonder that none pair. */
static void
note_search (GstHipVmaf * self, GstHipVmafSide side)
{
  if (!gst_hip_vmaf_alignment_is_looking (self->aligner))
    return;
  if (side == GST_HIP_VMAF_DISTORTED && self->reference_came)
    gst_hip_vmaf_watch_note_search (self);
  self->reference_came = side == GST_HIP_VMAF_REFERENCE;
}

/* To the aligner as well, or first. */
static void
wait_for_alignment (GstHipVmaf * self, GstHipVmafSide side,
    GstHipVmafFrame * frame)
{
  GstHipVmafFingerprint print;
  gboolean readable = read_fingerprint (frame, &print);

  if (readable) {
    limit_aligner (self, frame->format);
    note_search (self, side);
  }
  if (side == GST_HIP_VMAF_REFERENCE) {
    if (readable)
      gst_hip_vmaf_alignment_add (self->aligner, side, frame->time, &print);
    gst_hip_vmaf_pairing_add (self->pairing, side, frame);
  } else if (frame->kind == GST_HIP_VMAF_FRAME_UNTIMED) {
    while (gst_hip_vmaf_waiting_decide (self, TRUE));
    gst_hip_vmaf_pairing_add (self->pairing, side, frame);
  } else {
    gst_hip_vmaf_alignment_add (self->aligner, side, frame->time,
        readable ? &print : NULL);
    g_queue_push_tail (&self->undecided, g_memdup2 (frame, sizeof (*frame)));
  }
}

void
gst_hip_vmaf_wait (GstHipVmaf * self, GstHipVmafSide side,
    GstHipVmafFrame * frame)
{
  GstHipVmafStream *stream = &self->stream[side];

  stream->held_copied = FALSE;
  if (self->history == NULL) {
    gst_hip_vmaf_pairing_add (self->pairing, side, frame);
    return;
  }
  note_reached (stream, frame);
  if (frame->kind == GST_HIP_VMAF_FRAME_TIMED) {
    while (self->live && !has_room (self, frame->format)
        && give_up_oldest (self));
    stream->held_copied = gst_hip_vmaf_history_keep (self->history, frame);
  }
  if (self->aligner != NULL) {
    wait_for_alignment (self, side, frame);
    return;
  }
  if (side == GST_HIP_VMAF_DISTORTED)
    frame->time -= self->run_offset;
  gst_hip_vmaf_pairing_add (self->pairing, side, frame);
}

void
gst_hip_vmaf_set_ended (GstHipVmaf * self, GstHipVmafSide side, gboolean ended)
{
  self->stream[side].ended = ended;
  if (self->aligner != NULL)
    gst_hip_vmaf_alignment_set_ended (self->aligner, side, ended);
  gst_hip_vmaf_pairing_set_ended (self->pairing, side, ended
      && (side == GST_HIP_VMAF_REFERENCE || self->undecided.length == 0));
}

void
gst_hip_vmaf_waiting_flush (GstHipVmaf * self, GstHipVmafSide side)
{
  GstHipVmafFrame frame;

  if (self->aligner == NULL)
    return;
  while (side == GST_HIP_VMAF_DISTORTED && pop_undecided (self, &frame))
    gst_hip_vmaf_leave_unpaired (self, side, &frame);
  gst_hip_vmaf_alignment_flush (self->aligner, side);
  gst_hip_vmaf_forget_shown (self);
}

void
gst_hip_vmaf_waiting_reset (GstHipVmaf * self)
{
  if (self->aligner != NULL)
    gst_hip_vmaf_alignment_reset (self->aligner);
}

/* Decisions */

static void
tell (GstHipVmaf * self, const GstHipVmafAlignmentNews * news)
{
  static const gchar *reasons[] = { "found", "assumed", "jump", "drift" };
  GstClockTime time = news->time >= 0 ? (GstClockTime) news->time
      : GST_CLOCK_TIME_NONE;

  gst_hip_vmaf_scorer_set_offset (self->scorer, news->offset, news->confidence);
  if (gst_hip_vmaf_alignment_was_limited (self->aligner))
    g_atomic_int_set (&self->history_was_full, TRUE);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("VMAF", "type", G_TYPE_STRING, "alignment",
              "running-time", G_TYPE_UINT64, time,
              "offset", G_TYPE_INT64, news->offset,
              "offset-frames", G_TYPE_INT, news->frames,
              "confidence", G_TYPE_DOUBLE, news->confidence,
              "reason", G_TYPE_STRING, reasons[news->reason], NULL)));
}

gboolean
gst_hip_vmaf_waiting_decide (GstHipVmaf * self, gboolean force)
{
  GstHipVmafAlignmentNews news;
  GstHipVmafAligned aligned;
  GstHipVmafFrame *frame;

  if (self->aligner == NULL
      || !gst_hip_vmaf_alignment_next (self->aligner, force, &aligned))
    return FALSE;
  if (gst_hip_vmaf_alignment_news (self->aligner, &news))
    tell (self, &news);
  frame = g_queue_pop_head (&self->undecided);
  frame->time = aligned.time;
  frame->repeated = aligned.repeated;
  GST_HIP_VMAF_COUNT (self->scorer, repeated, aligned.repeated);
  gst_hip_vmaf_pairing_add (self->pairing, GST_HIP_VMAF_DISTORTED, frame);
  g_free (frame);
  gst_hip_vmaf_set_ended (self, GST_HIP_VMAF_DISTORTED,
      self->stream[GST_HIP_VMAF_DISTORTED].ended);
  return TRUE;
}

/* Whose turn it is */

/* Times of one moment differ by rounding, and a little more. */
#define SLACK (5 * GST_MSECOND)

gboolean
gst_hip_vmaf_is_ahead (GstHipVmaf * self, GstHipVmafSide side)
{
  GstHipVmafStream *here = &self->stream[side];
  GstHipVmafStream *there = &self->stream[!side];

  return !there->has_reached
      || (here->has_reached && here->reached > there->reached + (gint64) SLACK);
}

static gboolean
is_over (GstHipVmaf * self, GstHipVmafSide side)
{
  return gst_aggregator_pad_is_eos (self->pad[side])
      && !gst_aggregator_pad_has_buffer (self->pad[side]);
}

/* The same where a side has ended or there is no room: as much as is needed. */
static gboolean
needed_side (GstHipVmaf * self, GstHipVmafSide * side)
{
  gboolean wants_ref = gst_hip_vmaf_pairing_wants (self->pairing,
      GST_HIP_VMAF_REFERENCE);
  guint waiting = gst_hip_vmaf_pairing_waiting (self->pairing,
      GST_HIP_VMAF_REFERENCE);

  /* The pairing does not know of frames that the aligner has. */
  if (self->aligner != NULL)
    wants_ref = !is_over (self, GST_HIP_VMAF_REFERENCE)
        && (waiting == 0 || is_over (self, GST_HIP_VMAF_DISTORTED));
  *side = wants_ref ? GST_HIP_VMAF_REFERENCE : GST_HIP_VMAF_DISTORTED;
  return wants_ref || waiting > 0;
}

gboolean
gst_hip_vmaf_has_room (GstHipVmaf * self)
{
  return has_room (self, self->stream[GST_HIP_VMAF_REFERENCE].format)
      && has_room (self, self->stream[GST_HIP_VMAF_DISTORTED].format);
}

gboolean
gst_hip_vmaf_next_side (GstHipVmaf * self, GstHipVmafSide * side)
{
  gboolean begun = self->stream[GST_HIP_VMAF_REFERENCE].has_reached;

  if (!gst_hip_vmaf_has_room (self) || is_over (self, GST_HIP_VMAF_REFERENCE)
      || is_over (self, GST_HIP_VMAF_DISTORTED))
    return needed_side (self, side);
  *side = begun && gst_hip_vmaf_is_ahead (self, GST_HIP_VMAF_REFERENCE) ?
      GST_HIP_VMAF_DISTORTED : GST_HIP_VMAF_REFERENCE;
  return TRUE;
}
