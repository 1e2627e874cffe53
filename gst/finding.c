/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finding an offset: docs/alignment.md says how, and what the figures below come to. */

#include "alignmentstate.h"

/* Distances relative to what is usual between frames. The best must be this near, and the others
 * this much farther: those beside it, and those farther off. */
#define NEAR 0.9f
#define USUAL_MAX 1.5f
#define BESIDE 1.03f
#define BEYOND 1.1f
#define BESIDE_FRAMES 2

static gint
compare_floats (gconstpointer a, gconstpointer b)
{
  gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return x < y ? -1 : x > y;
}

/* The least of best and others so far. */
typedef struct
{
  gint64 base;                  /* offsets are whole steps from here */
  gint best;
  gfloat score, beside, beyond;
} Search;

/* By how much times of the distorted stream differ from those of whole steps. */
static gint64
find_phase (GstHipVmafAlignment * self)
{
  guint n = MIN (n_distorted (self), PERIODS);
  gint64 differences[PERIODS], first;

  if (n == 0 || n_references (self) == 0)
    return 0;
  first = time_at (self, GST_HIP_VMAF_DISTORTED, 0)
      - time_at (self, GST_HIP_VMAF_REFERENCE, 0);
  for (guint i = 0; i < n; i++) {
    gint64 difference = time_at (self, GST_HIP_VMAF_DISTORTED, i)
        - time_at (self, GST_HIP_VMAF_REFERENCE, 0) - first;
    gint64 rest = (difference % self->step + self->step) % self->step;

    differences[i] = rest > self->step / 2 ? rest - self->step : rest;
  }
  return (first + gst_hip_vmaf_alignment_median (differences, n)) % self->step;
}

/* What is usual between this frame and those of the reference. */
static gfloat
usual_distance (GstHipVmafAlignment * self, Distorted * distorted)
{
  guint n = n_references (self);
  gfloat *distances = g_new (gfloat, n);
  gfloat median;

  for (guint i = 0; i < n; i++)
    distances[i] = gst_hip_vmaf_alignment_distance (self, distorted, i);
  qsort (distances, n, sizeof (*distances), compare_floats);
  median = distances[n / 2];
  g_free (distances);
  return MAX (median, FLOOR);
}

/* How far frames are from each other at this offset, 1 being usual; FAR where too few meet. */
static gfloat
score_offset (GstHipVmafAlignment * self, gint64 offset, const gfloat * usual)
{
  guint smaller = MIN (n_distorted (self), n_references (self));
  guint enough = MIN (COMMON, MAX (smaller / 2, 4)), met = 0;
  gfloat sum = 0;

  for (guint i = 0; i < n_distorted (self); i++) {
    Distorted *distorted = distorted_at (self, i);
    gint at = distorted->readable ?
        gst_hip_vmaf_alignment_nearest (self, distorted->time - offset) : -1;

    if (at < 0)
      continue;
    sum +=
        MIN (gst_hip_vmaf_alignment_distance (self, distorted, at) / usual[i],
        USUAL_MAX);
    met++;
  }
  return met >= enough ? sum / met : FAR;
}

static void
search_offsets (GstHipVmafAlignment * self, Search * search)
{
  guint n = n_distorted (self);
  gfloat *usual = g_new0 (gfloat, n);
  gint first, last;
  gfloat *scores;

  for (guint i = 0; i < n; i++) {
    if (distorted_at (self, i)->readable)
      usual[i] = usual_distance (self, distorted_at (self, i));
  }
  search->base = find_phase (self);
  search->score = search->beside = search->beyond = FAR;
  gst_hip_vmaf_alignment_range (self, search->base, &first, &last);
  scores = g_new (gfloat, MAX (last - first + 1, 0));
  for (gint j = first; j <= last; j++) {
    scores[j - first] = score_offset (self, search->base + j * self->step,
        usual);
    if (scores[j - first] < search->score) {
      search->score = scores[j - first];
      search->best = j;
    }
  }
  for (gint j = first; j <= last; j++) {
    gint away = ABS (j - search->best);
    gfloat *other = away <= BESIDE_FRAMES ? &search->beside : &search->beyond;

    if (away > 0)
      *other = MIN (*other, scores[j - first]);
  }
  g_free (scores);
  g_free (usual);
}

/* From whole steps to what the times of frames that match really differ by. */
static void
refine_offset (GstHipVmafAlignment * self)
{
  gint64 *rests = g_new (gint64, n_distorted (self));
  gint64 rest;
  guint n = 0;

  for (guint i = 0; i < n_distorted (self); i++) {
    gint64 time = time_at (self, GST_HIP_VMAF_DISTORTED, i) - self->offset;
    gint at = gst_hip_vmaf_alignment_nearest (self, time);

    if (at >= 0)
      rests[n++] = time - reference_at (self, at)->time;
  }
  rest = n > 0 ? gst_hip_vmaf_alignment_median (rests, n) : 0;
  /* Of two rates, most frames may lie between those of the other. */
  if (self->follows || ABS (rest) < self->step / 4)
    self->offset += rest;
  g_free (rests);
}

void
gst_hip_vmaf_alignment_find (GstHipVmafAlignment * self)
{
  Search search = { 0 };
  gdouble confidence = 0;
  gboolean found = FALSE;

  gst_hip_vmaf_alignment_update_step (self);
  if (n_references (self) > 0)
    search_offsets (self, &search);
  if (n_references (self) > 0 && search.score < FAR) {
    gfloat other = MIN (search.beside, search.beyond);

    found = search.score <= NEAR && other < FAR
        && search.beside >= BESIDE * search.score + BESIDE - 1
        && search.beyond >= BEYOND * search.score + BEYOND - 1;
    if (other < FAR && other > 0)
      confidence = 1 - search.score / other;
  }
  self->offset = found ? search.base + search.best * self->step : self->assumed;
  self->decided = TRUE;
  if (found)
    refine_offset (self);
  gst_hip_vmaf_alignment_tell (self, found ? GST_HIP_VMAF_ALIGNMENT_FOUND
      : GST_HIP_VMAF_ALIGNMENT_ASSUMED, confidence,
      time_at (self, GST_HIP_VMAF_DISTORTED, 0) - self->offset);
}

/* Whether the distorted stream has come far enough for all offsets to have frames in common. */
static gboolean
has_enough_distorted (GstHipVmafAlignment * self, gint64 common)
{
  guint n = n_distorted (self);
  gint64 from = time_at (self, GST_HIP_VMAF_DISTORTED, 0);

  if (self->ended[GST_HIP_VMAF_DISTORTED])
    return TRUE;
  if (n_references (self) > 0)
    from = MAX (from, reference_at (self, 0)->time + self->max_offset);
  if (n > COMMON && time_at (self, GST_HIP_VMAF_DISTORTED, n - 1)
      >= from + common)
    return TRUE;
  self->limited |= n >= self->limit;
  return n >= self->limit;
}

/* And the reference. */
static gboolean
has_enough_references (GstHipVmafAlignment * self, gint64 common)
{
  guint n = n_references (self);
  gint64 from = time_at (self, GST_HIP_VMAF_DISTORTED, 0);

  if (self->ended[GST_HIP_VMAF_REFERENCE])
    return TRUE;
  if (n == 0)
    return FALSE;
  if (n > COMMON && reference_at (self, n - 1)->time >= common
      + MAX (from + self->max_offset, reference_at (self, 0)->time))
    return TRUE;
  if (gst_hip_vmaf_alignment_references_from (self, from) < self->limit)
    return FALSE;
  self->limited = TRUE;
  return TRUE;
}

gboolean
gst_hip_vmaf_alignment_can_find (GstHipVmafAlignment * self)
{
  gint64 common;

  gst_hip_vmaf_alignment_update_periods (self);
  common = COMMON * MAX (self->period[GST_HIP_VMAF_REFERENCE],
      self->period[GST_HIP_VMAF_DISTORTED]);
  return has_enough_distorted (self, common)
      && has_enough_references (self, common);
}
