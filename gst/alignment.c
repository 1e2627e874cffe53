/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Alignment: see alignment.h, and docs/alignment.md for what the figures below come to. */

#include "alignment.h"

#include <gst/base/gstqueuearray.h>
#include <math.h>

/* Frames that both streams must have in common before an offset is found, and how many are looked
 * at before one is followed. */
#define COMMON 24
#define AHEAD 12

/* Reference frames that are waited for beyond the one that is expected last. */
#define MARGIN 4

/* Frames at one offset before it is told; and how many frames a drift is before that is. */
#define STEADY 8
#define DRIFT 2

/* Finding: distances relative to what is usual between frames. The best must be this near, and the
 * others this much farther: those beside it, and those farther off. */
#define NEAR 0.9f
#define USUAL_MAX 1.5f
#define BESIDE 1.03f
#define BEYOND 1.1f
#define BESIDE_FRAMES 2

/* Following: what a path through the frames costs. A frame costs how much farther it is than the
 * nearest one, relative to that. */
#define COST_MAX 8.0f
#define COST_MISSING 0.2f       /* no reference frame where one is expected */
#define COST_REPEAT 1.0f
#define COST_SKIP 1.0f
#define COST_SKIP_MORE 0.25f    /* for each frame after the first */
#define COST_JUMP 6.0f
/* By how much it must be better to leave the offset, and than any other way to leave it. */
#define GAIN 1.5f
#define LEAD 1.0f

/* Distances below this, in steps of 8 bits, are all the same. */
#define FLOOR 0.05f

/* Where fewer cells make up a distance, chance does. */
#define MANY_CELLS 600.0f

/* Until frames have come to tell. */
#define DEFAULT_PERIOD (40 * GST_MSECOND)

#define KNOWN 512               /* distances remembered of each distorted frame; a power of 2 */
#define PERIODS 25              /* distances in time that the median is taken of */
#define FAR G_MAXFLOAT

typedef struct
{
  gint64 time;
  GstHipVmafFingerprint print;
} Reference;

typedef struct
{
  guint64 seq;                  /* of the reference frame, from 1 */
  gfloat distance;
} Known;

typedef struct
{
  gint64 time;
  gboolean readable;
  GstHipVmafFingerprint print;
  Known *known;                 /* by seq modulo KNOWN */
  guint64 compared;             /* seq of the last reference frame that is in these: */
  gfloat least, spread;         /* the least distance, and how many cells make it up */
} Distorted;

struct _GstHipVmafAlignment
{
  gint64 assumed, max_offset;
  guint limit;
  gboolean limited;

  GstQueueArray *references;    /* of Reference, in order of time */
  GstQueueArray *distorted;     /* of Distorted */
  guint64 first_seq;            /* of references */
  gint found;                   /* the reference frame that was looked for last; a hint */
  gboolean ended[GST_HIP_VMAF_N_SIDES];
  gint64 period[GST_HIP_VMAF_N_SIDES];
  gint64 step;                  /* between offsets that are told apart */
  gboolean follows;             /* frame by frame */

  gboolean decided;             /* there is an offset */
  gint64 offset;
  gfloat usual;                 /* distance of frames that match, running mean; 0 if unknown */
  guint64 last_seq, newest_seq; /* of the reference frame shown last, and of the latest one ever;
                                   0 if none was */

  gint64 told;                  /* the offset that was told last */
  gboolean left;                /* whether it was left since */
  guint steady;                 /* and then, frames since the last change */
  gboolean has_news;
  GstHipVmafAlignmentNews news;

  GArray *costs[2];             /* of gfloat, by offset: of the best path to there */
  GArray *heads[2];             /* of gint: the offset of its first frame */
  GArray *emissions;            /* of gfloat: of one frame at each offset */
};

/* The two queues */

static Reference *
reference_at (GstHipVmafAlignment * self, guint nth)
{
  return gst_queue_array_peek_nth_struct (self->references, nth);
}

static Distorted *
distorted_at (GstHipVmafAlignment * self, guint nth)
{
  return gst_queue_array_peek_nth_struct (self->distorted, nth);
}

static guint
n_references (GstHipVmafAlignment * self)
{
  return gst_queue_array_get_length (self->references);
}

static guint
n_distorted (const GstHipVmafAlignment * self)
{
  return gst_queue_array_get_length (self->distorted);
}

static gint64
time_at (GstHipVmafAlignment * self, GstHipVmafSide side, guint nth)
{
  return side == GST_HIP_VMAF_REFERENCE ? reference_at (self, nth)->time
      : distorted_at (self, nth)->time;
}

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
  self->left = FALSE;
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
gst_hip_vmaf_alignment_is_decided (const GstHipVmafAlignment * self)
{
  return self->decided;
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

static gint
compare_floats (gconstpointer a, gconstpointer b)
{
  gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return x < y ? -1 : x > y;
}

static gint64
median_of_times (gint64 * times, guint n)
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
    self->period[side] = median_of_times (between, count);
}

static void
update_step (GstHipVmafAlignment * self)
{
  gint64 r, d;

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    update_period (self, side);
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

/* The index of the reference frame at this time, the earlier on a tie, or -1. */
static gint
nearest (GstHipVmafAlignment * self, gint64 time)
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

static gfloat
distance (GstHipVmafAlignment * self, Distorted * distorted, guint nth)
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

/* Brings the least distance up to date with reference frames that have come since. */
static void
update_least (GstHipVmafAlignment * self, Distorted * distorted)
{
  gint64 reach = self->max_offset + self->step;
  guint nth = distorted->compared < self->first_seq ? 0
      : distorted->compared + 1 - self->first_seq;

  for (; nth < n_references (self); nth++) {
    const Reference *reference = reference_at (self, nth);
    gfloat apart;

    if (reference->time > distorted->time + reach)
      break;
    distorted->compared = self->first_seq + nth;
    if (reference->time < distorted->time - reach)
      continue;
    apart = distance (self, distorted, nth);
    if (apart < distorted->least) {
      distorted->least = apart;
      distorted->spread = gst_hip_vmaf_fingerprint_spread (&reference->print,
          &distorted->print);
    }
  }
}

/* The range of offsets, in steps from `base`. */
static void
offset_range (GstHipVmafAlignment * self, gint64 base, gint * first,
    gint * last)
{
  gint64 reach = self->max_offset + self->step / 2;

  *first = -(gint) ((reach + base) / self->step);
  *last = (gint) ((reach - base) / self->step);
}

/* Finding an offset */

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
  return (first + median_of_times (differences, n)) % self->step;
}

/* What is usual between this frame and those of the reference. */
static gfloat
usual_distance (GstHipVmafAlignment * self, Distorted * distorted)
{
  guint n = n_references (self);
  gfloat *distances = g_new (gfloat, n);
  gfloat median;

  for (guint i = 0; i < n; i++)
    distances[i] = distance (self, distorted, i);
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
        nearest (self, distorted->time - offset) : -1;

    if (at < 0)
      continue;
    sum += MIN (distance (self, distorted, at) / usual[i], USUAL_MAX);
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
  offset_range (self, search->base, &first, &last);
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

static void
tell (GstHipVmafAlignment * self, GstHipVmafAlignmentReason reason,
    gdouble confidence, gint64 time)
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

/* From whole steps to what the times of frames that match really differ by. */
static void
refine_offset (GstHipVmafAlignment * self)
{
  gint64 *rests = g_new (gint64, n_distorted (self));
  gint64 rest;
  guint n = 0;

  for (guint i = 0; i < n_distorted (self); i++) {
    gint64 time = time_at (self, GST_HIP_VMAF_DISTORTED, i) - self->offset;
    gint at = nearest (self, time);

    if (at >= 0)
      rests[n++] = time - reference_at (self, at)->time;
  }
  rest = n > 0 ? median_of_times (rests, n) : 0;
  /* Of two rates, most frames may lie between those of the other. */
  if (self->follows || ABS (rest) < self->step / 4)
    self->offset += rest;
  g_free (rests);
}

static void
find_offset (GstHipVmafAlignment * self)
{
  Search search = { 0 };
  gdouble confidence = 0;
  gboolean found = FALSE;

  update_step (self);
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
  tell (self, found ? GST_HIP_VMAF_ALIGNMENT_FOUND
      : GST_HIP_VMAF_ALIGNMENT_ASSUMED, confidence,
      time_at (self, GST_HIP_VMAF_DISTORTED, 0) - self->offset);
}

/* Reference frames from this time on. */
static guint
references_from (GstHipVmafAlignment * self, gint64 time)
{
  guint n = n_references (self), first;

  if (n == 0)
    return 0;
  first = find_first (self, n - 1, time);
  return reference_at (self, first)->time < time ? 0 : n - first;
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
  if (references_from (self, from) < self->limit)
    return FALSE;
  self->limited = TRUE;
  return TRUE;
}

static gboolean
can_find (GstHipVmafAlignment * self)
{
  gint64 common;

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    update_period (self, side);
  common = COMMON * MAX (self->period[GST_HIP_VMAF_REFERENCE],
      self->period[GST_HIP_VMAF_DISTORTED]);
  return has_enough_distorted (self, common)
      && has_enough_references (self, common);
}

/* Following it */

/* A path through the frames that wait, by the offset of each, in steps from the one that holds. */
typedef struct
{
  gint first, last;
  gfloat straight;              /* the cost of no change */
  gfloat *costs, *next_costs;
  gint *heads, *next_heads;
  gfloat *emissions;
} Paths;

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
  gint at = nearest (self, distorted->time - offset);

  if (at < 0)
    return otherwise;
  return MIN ((distance (self, distorted, at) - distorted->least)
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

  offset_range (self, self->offset, &paths->first, &paths->last);
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
  gint at = nearest (self, distorted->time - self->offset);

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

  offset_range (self, self->offset, &first, &last);
  for (gint j = first; j <= last; j++) {
    gfloat sum = 0;
    guint met = 0;

    for (guint i = 0; i < n; i++) {
      Distorted *distorted = distorted_at (self, i);
      gint at = distorted->readable ? nearest (self, distorted->time
          - self->offset - j * self->step) : -1;

      if (at >= 0) {
        sum += distance (self, distorted, at);
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

/* A change is told when it has lasted: a frame that is shown twice in the place of the next one
 * changes nothing. */
static void
note_steadiness (GstHipVmafAlignment * self, gboolean changed, gint64 time)
{
  gint64 away = ABS (self->offset - self->told);

  self->steady = changed ? 0 : self->steady + 1;
  self->left |= changed;
  if (self->steady < STEADY)
    return;
  if (self->left && away * 4 >= self->step * 3)
    tell (self, GST_HIP_VMAF_ALIGNMENT_JUMPED, confidence (self), time);
  else if (away >= DRIFT * self->step)
    tell (self, GST_HIP_VMAF_ALIGNMENT_DRIFTED, confidence (self), time);
  self->left = FALSE;
}

static void
match (GstHipVmafAlignment * self, Distorted * head,
    GstHipVmafAligned * aligned)
{
  gint step = find_head (self), at;
  guint64 seq;

  self->offset += step * self->step;
  at = step == 0 ? expected (self, head)
      : nearest (self, head->time - self->offset);
  aligned->time = head->time - self->offset;
  if (at >= 0) {
    gfloat apart = distance (self, head, at);

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
  gint at = nearest (self, head->time - self->offset);

  return at >= 0 && distance (self, head, at) <= MAX (2 * self->usual, FLOOR);
}

/* Enough frames ahead to tell a change from noise. Where a frame is not what it should be, the
 * reference frame that it shows may be any one up to the greatest lead. */
static gboolean
is_ready (GstHipVmafAlignment * self)
{
  guint n = n_references (self), ahead = look_ahead (self);
  Distorted *head = distorted_at (self, 0);
  gint64 last, newest;

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
  return newest >= last + self->max_offset || is_as_expected (self, head)
      || references_from (self, head->time - self->offset) >= self->limit;
}

gboolean
gst_hip_vmaf_alignment_next (GstHipVmafAlignment * self, gboolean force,
    GstHipVmafAligned * aligned)
{
  Distorted *head;

  if (n_distorted (self) == 0)
    return FALSE;
  if (!self->decided && !force && !can_find (self))
    return FALSE;
  if (!self->decided)
    find_offset (self);
  head = distorted_at (self, 0);
  if (head->readable && !force && !is_ready (self))
    return FALSE;
  update_step (self);
  aligned->repeated = FALSE;
  aligned->time = head->time - self->offset;
  if (head->readable)
    match (self, head, aligned);
  drop_distorted (self);
  prune (self);
  return TRUE;
}
