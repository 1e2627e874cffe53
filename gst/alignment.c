/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Alignment: see alignment.h. The frames that wait and their times; who decides about them. */

#include "alignmentstate.h"

/* Until frames have come to tell. */
#define DEFAULT_PERIOD (40 * GST_MSECOND)

#define KNOWN 512               /* distances remembered of each distorted frame; a power of 2 */

/* Frames */

static guint
n_frames (GstHipVmafAlignment * self, GstHipVmafSide side)
{
  return side == GST_HIP_VMAF_REFERENCE ? n_references (self)
      : n_distorted (self);
}

static void
drop_reference (GstHipVmafAlignment * self)
{
  gst_queue_array_pop_head_struct (self->references);
  self->first_seq++;
}

static void
drop_distorted (GstHipVmafAlignment * self)
{
  Distorted *head = gst_queue_array_pop_head_struct (self->distorted);

  g_free (head->known);
}

void
gst_hip_vmaf_alignment_drop (GstHipVmafAlignment * self)
{
  if (n_distorted (self) > 0)
    drop_distorted (self);
}

void
gst_hip_vmaf_alignment_flush (GstHipVmafAlignment * self, GstHipVmafSide side)
{
  if (side == GST_HIP_VMAF_REFERENCE) {
    while (n_references (self) > 0)
      drop_reference (self);
    self->last_seq = self->newest_seq = 0;
  } else {
    while (n_distorted (self) > 0)
      drop_distorted (self);
  }
}

void
gst_hip_vmaf_alignment_reset (GstHipVmafAlignment * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    gst_hip_vmaf_alignment_flush (self, side);
    self->ended[side] = FALSE;
    self->period[side] = DEFAULT_PERIOD;
  }
  self->step = DEFAULT_PERIOD;
  self->follows = TRUE;
  self->decided = self->has_news = FALSE;
  self->offset = self->assumed;
  self->left = self->looking = self->lost = FALSE;
  self->usual = 0;
  self->steady = 0;
}

GstHipVmafAlignment *
gst_hip_vmaf_alignment_new (gint64 offset, gint64 max_offset)
{
  GstHipVmafAlignment *self = g_new0 (GstHipVmafAlignment, 1);

  self->assumed = offset;
  self->max_offset = max_offset;
  self->limit = G_MAXUINT;
  self->first_seq = 1;
  self->references = gst_queue_array_new_for_struct (sizeof (Reference), 64);
  self->distorted = gst_queue_array_new_for_struct (sizeof (Distorted), 64);
  for (guint i = 0; i < 2; i++) {
    self->costs[i] = g_array_new (FALSE, FALSE, sizeof (gfloat));
    self->heads[i] = g_array_new (FALSE, FALSE, sizeof (gint));
  }
  self->emissions = g_array_new (FALSE, FALSE, sizeof (gfloat));
  gst_hip_vmaf_alignment_reset (self);
  return self;
}

void
gst_hip_vmaf_alignment_free (GstHipVmafAlignment * self)
{
  gst_hip_vmaf_alignment_reset (self);
  gst_queue_array_free (self->references);
  gst_queue_array_free (self->distorted);
  for (guint i = 0; i < 2; i++) {
    g_array_unref (self->costs[i]);
    g_array_unref (self->heads[i]);
  }
  g_array_unref (self->emissions);
  g_free (self);
}

void
gst_hip_vmaf_alignment_set_limit (GstHipVmafAlignment * self, guint frames)
{
  self->limit = frames;
}

void
gst_hip_vmaf_alignment_set_ended (GstHipVmafAlignment * self,
    GstHipVmafSide side, gboolean ended)
{
  self->ended[side] = ended;
}

gboolean
gst_hip_vmaf_alignment_follows_frames (const GstHipVmafAlignment * self)
{
  return self->follows;
}

gboolean
gst_hip_vmaf_alignment_is_looking (const GstHipVmafAlignment * self)
{
  return !self->decided || (self->looking && !self->lost);
}

gboolean
gst_hip_vmaf_alignment_was_limited (const GstHipVmafAlignment * self)
{
  return self->limited;
}

gint64
gst_hip_vmaf_alignment_delay (const GstHipVmafAlignment * self)
{
  return self->max_offset + (COMMON + AHEAD)
      * MAX (self->period[GST_HIP_VMAF_REFERENCE],
      self->period[GST_HIP_VMAF_DISTORTED]);
}

gboolean
gst_hip_vmaf_alignment_news (GstHipVmafAlignment * self,
    GstHipVmafAlignmentNews * news)
{
  if (!self->has_news)
    return FALSE;
  self->has_news = FALSE;
  *news = self->news;
  return TRUE;
}

/* Reference frames that no distorted frame can show any more. */
static void
prune (GstHipVmafAlignment * self)
{
  gint64 newest, oldest;

  if (n_references (self) == 0)
    return;
  newest = time_at (self, GST_HIP_VMAF_REFERENCE, n_references (self) - 1);
  oldest = newest - 2 * gst_hip_vmaf_alignment_delay (self);
  if (n_distorted (self) > 0)
    oldest = MAX (oldest, time_at (self, GST_HIP_VMAF_DISTORTED, 0)
        - self->max_offset - 2 * self->step);
  while (n_references (self) > 1 && reference_at (self, 0)->time < oldest)
    drop_reference (self);
}

static void
add_reference (GstHipVmafAlignment * self, gint64 time,
    const GstHipVmafFingerprint * print)
{
  guint n = n_references (self);
  Reference reference;

  if (n > 0 && time <= reference_at (self, n - 1)->time)
    gst_hip_vmaf_alignment_flush (self, GST_HIP_VMAF_REFERENCE);
  if (print == NULL)
    return;
  reference.time = time;
  reference.print = *print;
  gst_queue_array_push_tail_struct (self->references, &reference);
  prune (self);
}

void
gst_hip_vmaf_alignment_add (GstHipVmafAlignment * self, GstHipVmafSide side,
    gint64 time, const GstHipVmafFingerprint * print)
{
  Distorted distorted = {.time = time,.readable = print != NULL,.least = FAR };

  if (side == GST_HIP_VMAF_REFERENCE) {
    add_reference (self, time, print);
    return;
  }
  if (print != NULL) {
    distorted.print = *print;
    distorted.known = g_new0 (Known, KNOWN);
  }
  gst_queue_array_push_tail_struct (self->distorted, &distorted);
}

/* Times */

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

gint64
gst_hip_vmaf_alignment_median (gint64 * times, guint n)
{
  qsort (times, n, sizeof (*times), compare_times);
  return times[n / 2];
}

static void
update_period (GstHipVmafAlignment * self, GstHipVmafSide side)
{
  gint64 between[PERIODS];
  guint n = n_frames (self, side), count = 0;

  for (guint i = n; i-- > 1 && count < PERIODS;) {
    gint64 period = time_at (self, side, i) - time_at (self, side, i - 1);

    if (period > 0)
      between[count++] = period;
  }
  if (count >= MIN (PERIODS, AHEAD) / 2)
    self->period[side] = gst_hip_vmaf_alignment_median (between, count);
}

void
gst_hip_vmaf_alignment_update_periods (GstHipVmafAlignment * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    update_period (self, side);
}

void
gst_hip_vmaf_alignment_update_step (GstHipVmafAlignment * self)
{
  gint64 r, d;

  gst_hip_vmaf_alignment_update_periods (self);
  r = self->period[GST_HIP_VMAF_REFERENCE];
  d = self->period[GST_HIP_VMAF_DISTORTED];
  self->follows = ABS (r - d) * 25 <= r;
  self->step = self->follows ? r : MIN (r, d);
}

/* Whether the nth is the first reference frame that is not before this time, or the last one. */
static gboolean
is_first (GstHipVmafAlignment * self, gint nth, gint last, gint64 time)
{
  return nth >= 0 && nth <= last
      && (nth == last || reference_at (self, nth)->time >= time)
      && (nth == 0 || reference_at (self, nth - 1)->time < time);
}

/* That one; mostly it is beside the one that was looked for before. */
static gint
find_first (GstHipVmafAlignment * self, gint last, gint64 time)
{
  gint low = 0, high = last;

  for (gint nth = self->found + 1; nth >= self->found - 1; nth--) {
    if (is_first (self, nth, last, time))
      return nth;
  }
  while (low < high) {
    gint middle = (low + high) / 2;

    if (reference_at (self, middle)->time < time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

gint
gst_hip_vmaf_alignment_nearest (GstHipVmafAlignment * self, gint64 time)
{
  gint64 reach = self->period[GST_HIP_VMAF_REFERENCE] * 9 / 16;
  gint last = (gint) n_references (self) - 1, low;

  if (last < 0)
    return -1;
  low = self->found = find_first (self, last, time);
  if (low > 0 && time - reference_at (self, low - 1)->time
      <= ABS (reference_at (self, low)->time - time))
    low--;
  return ABS (reference_at (self, low)->time - time) <= reach ? low : -1;
}

guint
gst_hip_vmaf_alignment_references_from (GstHipVmafAlignment * self, gint64 time)
{
  guint n = n_references (self), first;

  if (n == 0)
    return 0;
  first = find_first (self, n - 1, time);
  return reference_at (self, first)->time < time ? 0 : n - first;
}

gfloat
gst_hip_vmaf_alignment_distance (GstHipVmafAlignment * self,
    Distorted * distorted, guint nth)
{
  guint64 seq = self->first_seq + nth;
  Known *known = &distorted->known[seq % KNOWN];

  if (known->seq != seq) {
    known->seq = seq;
    known->distance =
        gst_hip_vmaf_fingerprint_distance (&reference_at (self, nth)->print,
        &distorted->print);
  }
  return known->distance;
}

void
gst_hip_vmaf_alignment_range (GstHipVmafAlignment * self, gint64 base,
    gint * first, gint * last)
{
  gint64 reach = self->max_offset + self->step / 2;

  *first = -(gint) ((reach + base) / self->step);
  *last = (gint) ((reach - base) / self->step);
}

/* Decisions */

void
gst_hip_vmaf_alignment_tell (GstHipVmafAlignment * self,
    GstHipVmafAlignmentReason reason, gdouble confidence, gint64 time)
{
  gint64 half = self->offset < 0 ? -self->step / 2 : self->step / 2;

  self->told = self->offset;
  self->steady = 0;
  self->has_news = TRUE;
  self->news.reason = reason;
  self->news.offset = self->offset;
  self->news.frames = (self->offset + half) / self->step;
  self->news.confidence = CLAMP (confidence, 0, 1);
  self->news.time = time;
}

gboolean
gst_hip_vmaf_alignment_next (GstHipVmafAlignment * self, gboolean force,
    GstHipVmafAligned * aligned)
{
  Distorted *head;

  if (n_distorted (self) == 0)
    return FALSE;
  if (!self->decided && !force && !gst_hip_vmaf_alignment_can_find (self))
    return FALSE;
  if (!self->decided)
    gst_hip_vmaf_alignment_find (self);
  head = distorted_at (self, 0);
  if (head->readable && !force && !gst_hip_vmaf_alignment_can_follow (self))
    return FALSE;
  gst_hip_vmaf_alignment_update_step (self);
  aligned->repeated = FALSE;
  aligned->time = head->time - self->offset;
  if (head->readable)
    gst_hip_vmaf_alignment_follow (self, head, aligned);
  drop_distorted (self);
  prune (self);
  return TRUE;
}
