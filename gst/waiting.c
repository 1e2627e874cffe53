/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that wait for their partners where the streams are to be aligned: they wait as copies, so
 * that the reference can go on and both streams are read in step, by their own running times.
 * docs/alignment.md. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

/* Life */

static gboolean
needs_chroma (const GPtrArray * features)
{
  for (guint i = 0; i < features->len; i++) {
    const HvFeature *feature = g_ptr_array_index (features, i);

    if (feature->info->needs_chroma)
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
}

void
gst_hip_vmaf_waiting_stats (GstHipVmaf * self, GstStructure * stats)
{
  guint64 bytes = self->history != NULL ?
      gst_hip_vmaf_history_bytes (self->history) : 0;

  if (self->run_alignment == GST_HIP_VMAF_ALIGNMENT_NONE)
    return;
  gst_structure_set (stats,
      "alignment-offset", G_TYPE_INT64, self->run_offset,
      "history-bytes", G_TYPE_UINT64, bytes,
      "history-limit", G_TYPE_STRING,
      g_atomic_int_get (&self->history_was_full) ? "max-history-bytes"
      : "max-offset", NULL);
}

/* Room */

/* Live, a new frame is worth more than the oldest one. FALSE when nothing is left to give up. */
static gboolean
give_up_oldest (GstHipVmaf * self)
{
  GstHipVmafSide side = gst_hip_vmaf_pairing_waiting (self->pairing,
      GST_HIP_VMAF_REFERENCE) >= gst_hip_vmaf_pairing_waiting (self->pairing,
      GST_HIP_VMAF_DISTORTED) ? GST_HIP_VMAF_REFERENCE : GST_HIP_VMAF_DISTORTED;
  GstHipVmafFrame frame;

  if (gst_hip_vmaf_pairing_pop (self->pairing, side, &frame)) {
    gst_hip_vmaf_leave_unpaired (self, side, &frame);
    return TRUE;
  }
  return gst_hip_vmaf_skip_oldest (self);
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

void
gst_hip_vmaf_wait (GstHipVmaf * self, GstHipVmafSide side,
    GstHipVmafFrame * frame)
{
  GstHipVmafStream *stream = &self->stream[side];

  stream->held_copied = FALSE;
  if (self->history != NULL) {
    note_reached (stream, frame);
    if (side == GST_HIP_VMAF_DISTORTED)
      frame->time -= self->run_offset;
    if (frame->kind == GST_HIP_VMAF_FRAME_TIMED) {
      while (self->live && !has_room (self, frame->format)
          && give_up_oldest (self));
      stream->held_copied = gst_hip_vmaf_history_keep (self->history, frame);
    }
  }
  gst_hip_vmaf_pairing_add (self->pairing, side, frame);
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

gboolean
gst_hip_vmaf_next_side (GstHipVmaf * self, GstHipVmafSide * side)
{
  *side = gst_hip_vmaf_is_ahead (self, GST_HIP_VMAF_REFERENCE)
      && self->stream[GST_HIP_VMAF_REFERENCE].has_reached ?
      GST_HIP_VMAF_DISTORTED : GST_HIP_VMAF_REFERENCE;
  if (has_room (self, self->stream[*side].format)
      && !is_over (self, GST_HIP_VMAF_REFERENCE)
      && !is_over (self, GST_HIP_VMAF_DISTORTED))
    return TRUE;

  /* As much as is needed, as where nothing waits here. */
  *side = gst_hip_vmaf_pairing_wants (self->pairing, GST_HIP_VMAF_REFERENCE) ?
      GST_HIP_VMAF_REFERENCE : GST_HIP_VMAF_DISTORTED;
  return gst_hip_vmaf_pairing_wants (self->pairing, *side);
}
