/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Following an offset, frame by frame: docs/alignment.md says how, and what the figures below come
 * to. */

#include "alignmentstate.h"

#include <math.h>

/* Reference frames that are waited for beyond the one that is expected last. */
#define MARGIN 4

/* Frames at one offset before it is told; and how many frames a drift is before that is. */
#define STEADY 8
#define DRIFT 2

/* What a path through the frames costs. A frame costs how much farther it is than the nearest one,
 * relative to that. */
#define COST_MAX 8.0f
#define COST_MISSING 0.2f       /* no reference frame where one is expected */
#define COST_REPEAT 1.0f
#define COST_SKIP 1.0f
#define COST_SKIP_MORE 0.25f    /* for each frame after the first */
#define COST_JUMP 6.0f
/* By how much it must be better to leave the offset, and than any other way to leave it. */
#define GAIN 1.5f
#define LEAD 1.0f

/* Where fewer cells make up a distance, chance does. */
#define MANY_CELLS 600.0f

/* A path through the frames that wait, by the offset of each, in steps from the one that holds. */
typedef struct
{
  gint first, last;
  gfloat straight;              /* the cost of no change */
  gfloat *costs, *next_costs;
  gint *heads, *next_heads;
  gfloat *emissions;
} Paths;

/* Brings the least distance up to date with reference frames that have come since. */
static void
update_least (GstHipVmafAlignment * self, Distorted * distorted)
{
  gint64 reach = self->max_offset + self->step;
  guint nth = distorted->compared < self->first_seq ? 0
      : distorted->compared + 1 - self->first_seq;
  const Reference *nearest = NULL;

  for (; nth < n_references (self); nth++) {
    const Reference *reference = reference_at (self, nth);
    gfloat apart;

    if (reference->time > distorted->time + reach)
      break;
    distorted->compared = self->first_seq + nth;
    if (reference->time < distorted->time - reach)
      continue;
    apart = gst_hip_vmaf_alignment_distance (self, distorted, nth);
    if (apart < distorted->least) {
      distorted->least = apart;
      nearest = reference;
    }
  }
  if (nearest != NULL)
    distorted->spread = gst_hip_vmaf_fingerprint_spread (&nearest->print,
        &distorted->print);
}

static guint
look_ahead (GstHipVmafAlignment * self)
{
  return MIN (AHEAD, self->limit / 2);
}

/* What distances of this frame are relative to. */
static gfloat
scale_of (GstHipVmafAlignment * self, const Distorted * distorted)
{
  gfloat chance = sqrtf (MANY_CELLS / MAX (distorted->spread, 1));

  return MAX (MAX (distorted->least, self->usual / 2) * MAX (chance, 1), FLOOR);
}

/* What the frame costs at this offset; `otherwise` where no reference frame is there. */
static gfloat
cost_at (GstHipVmafAlignment * self, Distorted * distorted, gint64 offset,
    gfloat otherwise)
{
  gint at = gst_hip_vmaf_alignment_nearest (self, distorted->time - offset);

  if (at < 0)
    return otherwise;
  return MIN ((gst_hip_vmaf_alignment_distance (self, distorted,
              at) - distorted->least)
      / scale_of (self, distorted), COST_MAX);
}

static void
set_emissions (GstHipVmafAlignment * self, const Paths * paths,
    Distorted * distorted)
{
  for (gint i = paths->first; i <= paths->last; i++)
    paths->emissions[i - paths->first] = cost_at (self, distorted,
        self->offset + i * self->step, i == 0 ? COST_MISSING : COST_MAX);
}

/* What no change costs. */
static gfloat
straight_cost (GstHipVmafAlignment * self, guint n)
{
  gfloat cost = 0;

  for (guint i = 0; i < n; i++) {
    Distorted *distorted = distorted_at (self, i);

    if (!distorted->readable)
      continue;
    update_least (self, distorted);
    cost += cost_at (self, distorted, self->offset, COST_MISSING);
  }
  return cost;
}

static void
offer (Paths * paths, gint to, gfloat cost, gint head)
{
  if (cost < paths->next_costs[to]) {
    paths->next_costs[to] = cost;
    paths->next_heads[to] = head;
  }
}

/* One frame on: to stay costs nothing, a repeated frame makes the stream a step later, skipped ones
 * make it earlier. At the first frame, `heads` are the steps themselves. */
static void
extend (GstHipVmafAlignment * self, Paths * paths, gboolean is_head)
{
  gint n = paths->last - paths->first + 1, cheapest = 0, skip_from = -1;
  gfloat skip = FAR;

  for (gint i = 0; i < n; i++) {
    paths->next_costs[i] = paths->costs[i];
    paths->next_heads[i] = paths->heads[i];
    if (paths->costs[i] < paths->costs[cheapest])
      cheapest = i;
  }
  for (gint i = n - 1; i >= 0; i--) {
    if (self->follows) {
      skip += COST_SKIP_MORE;
      if (i + 1 < n && paths->costs[i + 1] + COST_SKIP < skip) {
        skip = paths->costs[i + 1] + COST_SKIP;
        skip_from = i + 1;
      }
      if (skip_from >= 0)
        offer (paths, i, skip, paths->heads[skip_from]);
      if (i > 0)
        offer (paths, i, paths->costs[i - 1] + COST_REPEAT,
            paths->heads[i - 1]);
    }
    offer (paths, i, paths->costs[cheapest] + COST_JUMP,
        paths->heads[cheapest]);
  }
  for (gint i = 0; i < n; i++) {
    paths->costs[i] = paths->next_costs[i] + paths->emissions[i];
    paths->heads[i] = is_head ? i : paths->next_heads[i];
  }
}

static void
prepare (GstHipVmafAlignment * self, Paths * paths)
{
  guint n;

  gst_hip_vmaf_alignment_range (self, self->offset, &paths->first,
      &paths->last);
  paths->first = MIN (paths->first, 0);
  paths->last = MAX (paths->last, 0);
  n = paths->last - paths->first + 1;
  for (guint i = 0; i < 2; i++) {
    g_array_set_size (self->costs[i], n);
    g_array_set_size (self->heads[i], n);
  }
  g_array_set_size (self->emissions, n);
  paths->costs = (gfloat *) self->costs[0]->data;
  paths->next_costs = (gfloat *) self->costs[1]->data;
  paths->heads = (gint *) self->heads[0]->data;
  paths->next_heads = (gint *) self->heads[1]->data;
  paths->emissions = (gfloat *) self->emissions->data;
  for (guint i = 0; i < n; i++)
    paths->costs[i] = FAR;
  paths->costs[-paths->first] = 0;
  paths->heads[-paths->first] = -paths->first;
}

/* The step of the first frame on the best path, if that is clearly better than no change and than
 * paths on which the first frame is another one; else 0. */
static gint
choose_head (const Paths * paths)
{
  gint n = paths->last - paths->first + 1, best = -paths->first;
  gfloat other = FAR;

  for (gint i = 0; i < n; i++) {
    if (paths->costs[i] < paths->costs[best])
      best = i;
  }
  if (paths->heads[best] == -paths->first
      || paths->straight - paths->costs[best] < GAIN)
    return 0;
  for (gint i = 0; i < n; i++) {
    if (paths->heads[i] != paths->heads[best])
      other = MIN (other, paths->costs[i]);
  }
  return other - paths->costs[best] >= LEAD ?
      paths->heads[best] + paths->first : 0;
}

static gint
find_head (GstHipVmafAlignment * self)
{
  guint n = MIN (n_distorted (self), look_ahead (self) + 1);
  Paths paths;

  paths.straight = straight_cost (self, n);
  if (paths.straight < GAIN)
    return 0;
  prepare (self, &paths);
  for (guint i = 0; i < n; i++) {
    if (!distorted_at (self, i)->readable)
      continue;
    set_emissions (self, &paths, distorted_at (self, i));
    extend (self, &paths, i == 0);
  }
  return choose_head (&paths);
}

/* Where the frame is expected. */
static gint
expected (GstHipVmafAlignment * self, const Distorted * distorted)
{
  gint at =
      gst_hip_vmaf_alignment_nearest (self, distorted->time - self->offset);

  /* Times that are not even: two frames in a row do not show the same one. */
  if (self->follows && at >= 0 && self->first_seq + at == self->last_seq
      && (guint) at + 1 < n_references (self)
      && reference_at (self, at + 1)->time < distorted->time - self->offset
      + self->step)
    at++;
  return at;
}

/* How much nearer the frames that wait are at the offset that holds than at any other. */
static gdouble
confidence (GstHipVmafAlignment * self)
{
  guint n = MIN (n_distorted (self), look_ahead (self) + 1);
  gfloat here = 0, other = FAR;
  gint first, last;

  gst_hip_vmaf_alignment_range (self, self->offset, &first, &last);
  for (gint j = first; j <= last; j++) {
    gfloat sum = 0;
    guint met = 0;

    for (guint i = 0; i < n; i++) {
      Distorted *distorted = distorted_at (self, i);
      gint at = distorted->readable ? gst_hip_vmaf_alignment_nearest (self,
          distorted->time - self->offset - j * self->step) : -1;

      if (at >= 0) {
        sum += gst_hip_vmaf_alignment_distance (self, distorted, at);
        met++;
      }
    }
    if (j == 0 && met > 0)
      here = sum / met;
    else if (met > n / 2)
      other = MIN (other, sum / met);
  }
  return other > 0 && other < FAR ? 1 - here / other : 0;
}

/* A change is told when it has lasted, and will: a frame that is shown twice in the place of the next
 * one changes nothing. */
static void
note_steadiness (GstHipVmafAlignment * self, gboolean changed, gint64 time)
{
  gint64 away = ABS (self->offset - self->told);

  self->steady = changed ? 0 : self->steady + 1;
  self->left |= changed;
  if (self->steady < STEADY)
    return;
  if (self->left && away * 4 >= self->step * 3) {
    gdouble sure = confidence (self);

    if (sure <= 0)
      return;
    gst_hip_vmaf_alignment_tell (self, GST_HIP_VMAF_ALIGNMENT_JUMPED, sure,
        time);
  } else if (away >= DRIFT * self->step)
    gst_hip_vmaf_alignment_tell (self, GST_HIP_VMAF_ALIGNMENT_DRIFTED,
        confidence (self), time);
  self->left = FALSE;
}

void
gst_hip_vmaf_alignment_follow (GstHipVmafAlignment * self, Distorted * head,
    GstHipVmafAligned * aligned)
{
  gint step = find_head (self), at;
  guint64 seq;

  self->offset += step * self->step;
  at = step == 0 ? expected (self, head)
      : gst_hip_vmaf_alignment_nearest (self, head->time - self->offset);
  aligned->time = head->time - self->offset;
  self->lost = at < 0;
  if (at >= 0) {
    gfloat apart = gst_hip_vmaf_alignment_distance (self, head, at);

    seq = self->first_seq + at;
    aligned->repeated = self->follows && seq <= self->newest_seq;
    self->last_seq = seq;
    self->newest_seq = MAX (self->newest_seq, seq);
    if (step == 0)
      self->usual += (apart - self->usual) / (self->usual > 0 ? 16 : 1);
    if (self->follows) {
      aligned->time = reference_at (self, at)->time;
      /* Clocks drift. */
      self->offset += (head->time - aligned->time - self->offset) / 32;
    }
  }
  note_steadiness (self, step != 0, aligned->time);
}

/* Whether the first frame is as near to the one that is expected as frames use to be. */
static gboolean
is_as_expected (GstHipVmafAlignment * self, Distorted * head)
{
  gint at = gst_hip_vmaf_alignment_nearest (self, head->time - self->offset);

  return at >= 0
      && gst_hip_vmaf_alignment_distance (self, head,
      at) <= MAX (2 * self->usual, FLOOR);
}

/* Enough frames ahead to tell a change from noise. Where a frame is not what it should be, the
 * reference frame that it shows may be any one up to the greatest lead. */
gboolean
gst_hip_vmaf_alignment_can_follow (GstHipVmafAlignment * self)
{
  guint n = n_references (self), ahead = look_ahead (self);
  Distorted *head = distorted_at (self, 0);
  gint64 last, newest;

  self->looking = FALSE;
  if (n_distorted (self) <= ahead && !self->ended[GST_HIP_VMAF_DISTORTED])
    return FALSE;
  if (self->ended[GST_HIP_VMAF_REFERENCE])
    return TRUE;
  if (n == 0)
    return FALSE;
  last = time_at (self, GST_HIP_VMAF_DISTORTED, MIN (ahead,
          n_distorted (self) - 1));
  newest = reference_at (self, n - 1)->time;
  if (newest < last - self->offset + MARGIN * self->step)
    return FALSE;
  self->looking = newest < last + self->max_offset
      && !is_as_expected (self, head)
      && gst_hip_vmaf_alignment_references_from (self,
      head->time - self->offset) < self->limit;
  return !self->looking;
}
