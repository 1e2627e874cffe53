/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pairing by running time: two frames match when they differ by less than half of the shorter
 * duration; each is used once, with the nearest, the earlier on a tie. */

#include "pairing.h"

#include <gst/base/gstqueuearray.h>

/* Frames that are this near, in ns, are of one time but for rounding: no rival is waited for. */
#define ROUNDING 1000

struct _GstHipVmafPairing
{
  GstQueueArray *queue[GST_HIP_VMAF_N_SIDES];   /* of GstHipVmafFrame */
  gboolean ended[GST_HIP_VMAF_N_SIDES];
  gboolean wants[GST_HIP_VMAF_N_SIDES];
};

GstHipVmafPairing *
gst_hip_vmaf_pairing_new (void)
{
  GstHipVmafPairing *pairing = g_new0 (GstHipVmafPairing, 1);

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    pairing->queue[side] =
        gst_queue_array_new_for_struct (sizeof (GstHipVmafFrame), 8);
    pairing->wants[side] = TRUE;
  }
  return pairing;
}

void
gst_hip_vmaf_pairing_free (GstHipVmafPairing * pairing)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    gst_queue_array_free (pairing->queue[side]);
  g_free (pairing);
}

void
gst_hip_vmaf_pairing_add (GstHipVmafPairing * pairing, GstHipVmafSide side,
    const GstHipVmafFrame * frame)
{
  gst_queue_array_push_tail_struct (pairing->queue[side], (gpointer) frame);
}

void
gst_hip_vmaf_pairing_set_ended (GstHipVmafPairing * pairing,
    GstHipVmafSide side, gboolean ended)
{
  pairing->ended[side] = ended;
}

static GstHipVmafFrame *
peek (GstHipVmafPairing * pairing, GstHipVmafSide side, guint nth)
{
  if (nth >= gst_queue_array_get_length (pairing->queue[side]))
    return NULL;
  return gst_queue_array_peek_nth_struct (pairing->queue[side], nth);
}

gboolean
gst_hip_vmaf_pairing_pop (GstHipVmafPairing * pairing, GstHipVmafSide side,
    GstHipVmafFrame * frame)
{
  GstHipVmafFrame *head =
      gst_queue_array_pop_head_struct (pairing->queue[side]);

  if (head == NULL)
    return FALSE;
  *frame = *head;
  return TRUE;
}

gboolean
gst_hip_vmaf_pairing_wants (GstHipVmafPairing * pairing, GstHipVmafSide side)
{
  return pairing->wants[side];
}

guint
gst_hip_vmaf_pairing_waiting (GstHipVmafPairing * pairing, GstHipVmafSide side)
{
  GstHipVmafFrame *frame;
  guint count = 0;

  for (guint i = 0; (frame = peek (pairing, side, i)) != NULL; i++)
    count += frame->kind != GST_HIP_VMAF_FRAME_GAP;
  return count;
}

guint
gst_hip_vmaf_pairing_length (GstHipVmafPairing * pairing, GstHipVmafSide side)
{
  return gst_queue_array_get_length (pairing->queue[side]);
}

gboolean
gst_hip_vmaf_pairing_is_empty (GstHipVmafPairing * pairing, GstHipVmafSide side)
{
  return gst_queue_array_is_empty (pairing->queue[side]);
}

gboolean
gst_hip_vmaf_pairing_expire (GstHipVmafPairing * pairing, GstHipVmafSide side,
    gint64 time, GstHipVmafFrame * frame)
{
  GstHipVmafFrame *head = peek (pairing, side, 0);

  return head != NULL && head->time < time
      && gst_hip_vmaf_pairing_pop (pairing, side, frame);
}

static guint64
distance (const GstHipVmafFrame * a, const GstHipVmafFrame * b)
{
  return a->time < b->time ? (guint64) b->time - (guint64) a->time
      : (guint64) a->time - (guint64) b->time;
}

/* Frames of equal time always match, also where no duration is known. */
static gboolean
matches (const GstHipVmafFrame * a, const GstHipVmafFrame * b)
{
  /* An unknown duration is the largest number, so the known one is the shorter. */
  GstClockTime shorter = MIN (a->duration, b->duration);
  guint64 apart = distance (a, b);

  if (apart == 0)
    return TRUE;
  return GST_CLOCK_TIME_IS_VALID (shorter) && apart < shorter
      && apart < shorter - apart;
}

static GstHipVmafOutcome
want (GstHipVmafPairing * pairing, gboolean reference, gboolean distorted)
{
  pairing->wants[GST_HIP_VMAF_REFERENCE] = reference;
  pairing->wants[GST_HIP_VMAF_DISTORTED] = distorted;
  return GST_HIP_VMAF_UNDECIDED;
}

static GstHipVmafOutcome
want_side (GstHipVmafPairing * pairing, GstHipVmafSide side)
{
  return want (pairing, side == GST_HIP_VMAF_REFERENCE,
      side == GST_HIP_VMAF_DISTORTED);
}

static GstHipVmafOutcome
unpaired (GstHipVmafSide side)
{
  return side == GST_HIP_VMAF_REFERENCE ? GST_HIP_VMAF_UNPAIRED_REFERENCE
      : GST_HIP_VMAF_UNPAIRED_DISTORTED;
}

/* The two earliest frames match. The frame after the earlier of them may be nearer to the other,
 * and so on: every such rival is strictly nearer than the pair before it, so the chain ends, and
 * the pair at its end is certain. Going back from there every second pair holds. */
static GstHipVmafOutcome
decide_match (GstHipVmafPairing * pairing)
{
  guint nth[GST_HIP_VMAF_N_SIDES] = { 0, 0 };
  GstHipVmafSide first_earlier = GST_HIP_VMAF_REFERENCE;
  guint rivals = 0;

  for (;;) {
    GstHipVmafFrame *r = peek (pairing, GST_HIP_VMAF_REFERENCE,
        nth[GST_HIP_VMAF_REFERENCE]);
    GstHipVmafFrame *d = peek (pairing, GST_HIP_VMAF_DISTORTED,
        nth[GST_HIP_VMAF_DISTORTED]);
    guint64 apart = distance (r, d);
    GstHipVmafSide earlier = r->time < d->time ? GST_HIP_VMAF_REFERENCE
        : GST_HIP_VMAF_DISTORTED;
    GstHipVmafFrame *later = earlier == GST_HIP_VMAF_REFERENCE ? d : r;
    GstHipVmafFrame *rival;

    if (rivals == 0)
      first_earlier = earlier;
    if (apart < ROUNDING)
      break;
    rival = peek (pairing, earlier, nth[earlier] + 1);
    if (rival == NULL && !pairing->ended[earlier])
      return want_side (pairing, earlier);
    if (rival == NULL || rival->kind != GST_HIP_VMAF_FRAME_TIMED
        || !matches (rival, later) || distance (rival, later) >= apart)
      break;
    nth[earlier]++;
    rivals++;
  }
  return rivals % 2 == 0 ? GST_HIP_VMAF_PAIR : unpaired (first_earlier);
}

/* In range of a sum; 0 if unknown. */
static gint64
length_of (const GstHipVmafFrame * frame)
{
  if (!GST_CLOCK_TIME_IS_VALID (frame->duration))
    return 0;
  return (gint64) MIN (frame->duration, (guint64) G_MAXINT64 / 4);
}

/* A frame belongs to a gap of the other side when its middle comes before the gap's end: a frame
 * that begins a rounding error before the end still waits for the frame after the gap. */
static gboolean
is_covered (const GstHipVmafFrame * frame, const GstHipVmafFrame * gap)
{
  return frame->time + length_of (frame) / 2 < gap->time + length_of (gap);
}

static void
drop_head (GstHipVmafPairing * pairing, GstHipVmafSide side)
{
  GstHipVmafFrame gap;

  gst_hip_vmaf_pairing_pop (pairing, side, &gap);
}

/* Both sides have a frame. FALSE when one was a gap that is used up: look again. */
static gboolean
decide_heads (GstHipVmafPairing * pairing, const GstHipVmafFrame * r,
    const GstHipVmafFrame * d, GstHipVmafOutcome * outcome)
{
  gboolean r_gap = r->kind == GST_HIP_VMAF_FRAME_GAP;
  gboolean d_gap = d->kind == GST_HIP_VMAF_FRAME_GAP;

  if (r_gap || d_gap) {
    if (d_gap && !r_gap && r->kind == GST_HIP_VMAF_FRAME_TIMED
        && is_covered (r, d)) {
      *outcome = GST_HIP_VMAF_UNPAIRED_REFERENCE;
      return TRUE;
    }
    if (r_gap && !d_gap && d->kind == GST_HIP_VMAF_FRAME_TIMED
        && is_covered (d, r)) {
      *outcome = GST_HIP_VMAF_UNPAIRED_DISTORTED;
      return TRUE;
    }
    if (r_gap && d_gap)
      drop_head (pairing, r->time <= d->time ? GST_HIP_VMAF_REFERENCE
          : GST_HIP_VMAF_DISTORTED);
    else
      drop_head (pairing, r_gap ? GST_HIP_VMAF_REFERENCE
          : GST_HIP_VMAF_DISTORTED);
    return FALSE;
  }

  /* Streams that cannot be paired pass in step, so that neither starves the other. */
  if (r->kind == GST_HIP_VMAF_FRAME_UNTIMED
      || d->kind == GST_HIP_VMAF_FRAME_UNTIMED)
    *outcome = GST_HIP_VMAF_UNPAIRED_BOTH;
  else if (matches (r, d))
    *outcome = decide_match (pairing);
  else
    *outcome = unpaired (r->time < d->time ? GST_HIP_VMAF_REFERENCE
        : GST_HIP_VMAF_DISTORTED);
  return TRUE;
}

static GstHipVmafOutcome
decide (GstHipVmafPairing * pairing)
{
  for (;;) {
    GstHipVmafFrame *r = peek (pairing, GST_HIP_VMAF_REFERENCE, 0);
    GstHipVmafFrame *d = peek (pairing, GST_HIP_VMAF_DISTORTED, 0);
    GstHipVmafOutcome outcome;

    if (r != NULL && d != NULL) {
      if (decide_heads (pairing, r, d, &outcome))
        return outcome;
    } else if (r == NULL && d == NULL) {
      return want (pairing, TRUE, TRUE);
    } else {
      GstHipVmafSide here = r != NULL ? GST_HIP_VMAF_REFERENCE
          : GST_HIP_VMAF_DISTORTED;
      GstHipVmafSide missing = r != NULL ? GST_HIP_VMAF_DISTORTED
          : GST_HIP_VMAF_REFERENCE;

      if (!pairing->ended[missing])
        return want_side (pairing, missing);
      if ((r != NULL ? r : d)->kind != GST_HIP_VMAF_FRAME_GAP)
        return unpaired (here);
      drop_head (pairing, here);
    }
  }
}

GstHipVmafOutcome
gst_hip_vmaf_pairing_next (GstHipVmafPairing * pairing,
    GstHipVmafFrame * reference, GstHipVmafFrame * distorted)
{
  GstHipVmafOutcome outcome = decide (pairing);

  if (outcome == GST_HIP_VMAF_PAIR || outcome == GST_HIP_VMAF_UNPAIRED_BOTH
      || outcome == GST_HIP_VMAF_UNPAIRED_REFERENCE)
    gst_hip_vmaf_pairing_pop (pairing, GST_HIP_VMAF_REFERENCE, reference);
  if (outcome == GST_HIP_VMAF_PAIR || outcome == GST_HIP_VMAF_UNPAIRED_BOTH
      || outcome == GST_HIP_VMAF_UNPAIRED_DISTORTED)
    gst_hip_vmaf_pairing_pop (pairing, GST_HIP_VMAF_DISTORTED, distorted);
  return outcome;
}
