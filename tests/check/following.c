/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Alignment without an element: little pictures from formulas, their fingerprints, and what is
 * decided about each distorted frame. */
#include <gst/check/gstcheck.h>

#include "gst/alignment.h"
#include "texture.h"

#define COLUMNS GST_HIP_VMAF_FINGERPRINT_COLUMNS
#define ROWS GST_HIP_VMAF_FINGERPRINT_ROWS
#define PERIOD (40 * GST_MSECOND)
#define MAX_OFFSET (2 * GST_SECOND)
#define NONE -1000000           /* a distorted frame that shows no reference frame */

/* Pictures ----------------------------------------------------------------------------------- */

/* What a clip shows: the number of the moment is its content. */
typedef enum
{
  MOVING,                       /* a texture that wanders at random */
  SLOW,                         /* the same, a twentieth as fast */
  BLACK,
  STILL,
  STROBE,                       /* two pictures by turns */
  WHEEL,                        /* a movement that comes back every eight frames */
  N_SCENES
} Scene;

/* What is on top. */
typedef enum
{
  CLEAN,
  NOISY,                        /* every sample */
  SPECKLED,                     /* one in a hundred */
  GRAINY                        /* every sample of the reference, little of the other */
} Noise;

/* Where the camera is at a moment. */
static gdouble
wander (gint moment, guint axis)
{
  gdouble place = 500 + moment * 0.02;

  for (guint k = 0; k < 5; k++) {
    gint slow = (moment + 100000) >> k;
    gdouble part = (((moment + 100000) & ((1 << k) - 1)) / (gdouble) (1 << k));
    gdouble a = lattice (slow, 100 + axis * 10 + k);
    gdouble b = lattice (slow + 1, 100 + axis * 10 + k);
    place += (a + (b - a) * part) * (0.4 + k * 0.5);
  }
  return place;
}

static gdouble
paint (Scene scene, gint moment, gint x, gint y)
{
  static gdouble place[2];
  static gint known = NONE;

  switch (scene) {
    case MOVING:
      if (known != moment) {
        place[0] = wander (moment, 0);
        place[1] = wander (moment, 1);
        known = moment;
      }
      return 255 * texture (x + place[0], y + place[1], 4);
    case SLOW:
      return 255 * texture (x + 500 + moment * 0.05, y + 500 + moment * 0.02,
          4);
    case STILL:
      return 255 * texture (x + 500, y + 500, 4);
    case STROBE:
      return 255 * texture (x + 500 + (moment & 1) * 100, y + 500, 4);
    case WHEEL:
      return 255 * texture (x + 500 + (moment & 7) * 3, y + 500, 4);
    default:
      return 16;
  }
}

/* What comes back is painted once. */
static gdouble
sample (Scene scene, gint moment, gint x, gint y)
{
  static gfloat painted[N_SCENES][8][ROWS][COLUMNS];
  gfloat *known = &painted[scene][moment & 7][y][x];

  if (scene == MOVING || scene == SLOW)
    return paint (scene, moment, x, y);
  if (*known == 0)
    *known = paint (scene, moment, x, y);
  return *known;
}

static gdouble
noise_at (Noise noise, guint32 seed, gint x, gint y, gboolean is_ref)
{
  guint32 value = mix (seed * 0x9e3779b9u + mix (y * 64 + x));
  gdouble level = (value & 0xffff) / 32768.0 - 1;

  switch (noise) {
    case NOISY:
      return level * 2;
    case SPECKLED:
      return (value >> 16) % 100 == 0 ? level * 8 : 0;
    case GRAINY:
      return is_ref ? level * 6 : level * 0.5;
    default:
      return 0;
  }
}

static void
print_of (GstHipVmafFingerprint * print, Scene scene, gint moment, Noise noise,
    guint32 seed, gboolean is_ref)
{
  const HvFormat format = {.width = COLUMNS,.height = ROWS,.depth = 16,
    .n_planes = 1
  };
  static guint16 samples[ROWS][COLUMNS];
  const HvPlane plane = {.data = samples,.stride = sizeof (samples[0]),
    .step = 2
  };

  for (gint y = 0; y < ROWS; y++) {
    for (gint x = 0; x < COLUMNS; x++) {
      gdouble value = sample (scene, moment, x, y)
          + noise_at (noise, seed, x, y, is_ref);
      samples[y][x] = CLAMP (value, 0, 255) * 257;
    }
  }
  gst_hip_vmaf_fingerprint (print, &plane, &format);
}

/* Running it --------------------------------------------------------------------------------- */

typedef struct
{
  gint64 time;                  /* ns */
  gint moment;                  /* that it shows */
  gint scene;                   /* and of which; or -1: of the one that is running */
} Shown;

typedef struct
{
  Scene scene;
  Noise noise;
  GArray *ref, *dist;           /* of Shown */
  GArray *aligned;              /* of GstHipVmafAligned */
  GArray *news;                 /* of GstHipVmafAlignmentNews */
  gint64 ahead;                 /* how much earlier the reference comes; ns */
} Sim;

static Sim *
sim_new (Scene scene, Noise noise)
{
  Sim *sim = g_new0 (Sim, 1);

  sim->scene = scene;
  sim->noise = noise;
  sim->ref = g_array_new (FALSE, FALSE, sizeof (Shown));
  sim->dist = g_array_new (FALSE, FALSE, sizeof (Shown));
  sim->aligned = g_array_new (FALSE, FALSE, sizeof (GstHipVmafAligned));
  sim->news = g_array_new (FALSE, FALSE, sizeof (GstHipVmafAlignmentNews));
  return sim;
}

static void
sim_free (Sim * sim)
{
  g_array_unref (sim->ref);
  g_array_unref (sim->dist);
  g_array_unref (sim->aligned);
  g_array_unref (sim->news);
  g_free (sim);
}

static void
show_at (GArray * stream, gint64 time, gint moment)
{
  Shown shown = { time, moment, -1 };

  g_array_append_val (stream, shown);
}

/* Moments from `moment` on, a frame each, right after what there is. */
static void
show (GArray * stream, gint moment, guint n)
{
  for (guint i = 0; i < n; i++)
    show_at (stream, stream->len * PERIOD, moment + i);
}

static void
hold (GArray * stream, gint moment, guint n)
{
  for (guint i = 0; i < n; i++)
    show_at (stream, stream->len * PERIOD, moment);
}

static void
pump (Sim * sim, GstHipVmafAlignment * alignment)
{
  GstHipVmafAligned aligned;
  GstHipVmafAlignmentNews news;

  while (gst_hip_vmaf_alignment_next (alignment, FALSE, &aligned)) {
    g_array_append_val (sim->aligned, aligned);
    if (gst_hip_vmaf_alignment_news (alignment, &news))
      g_array_append_val (sim->news, news);
  }
}

/* Both streams in step, or the reference ahead. */
static void
sim_run (Sim * sim)
{
  GstHipVmafAlignment *alignment = gst_hip_vmaf_alignment_new (0, MAX_OFFSET);
  GstHipVmafFingerprint print;
  guint r = 0, d = 0;

  while (r < sim->ref->len || d < sim->dist->len) {
    const Shown *ref = &g_array_index (sim->ref, Shown, r);
    const Shown *dist = &g_array_index (sim->dist, Shown, d);
    gboolean is_ref = d == sim->dist->len
        || (r < sim->ref->len && ref->time <= dist->time + sim->ahead);
    GstHipVmafSide side = is_ref ? GST_HIP_VMAF_REFERENCE
        : GST_HIP_VMAF_DISTORTED;
    const Shown *shown;

    shown = is_ref ? ref : dist;
    print_of (&print, shown->scene >= 0 ? (Scene) shown->scene : sim->scene,
        shown->moment, sim->noise, is_ref ? r : 0x10000000 + d, is_ref);
    gst_hip_vmaf_alignment_add (alignment, side, is_ref ? ref->time
        : dist->time, &print);
    r += is_ref;
    d += !is_ref;
    gst_hip_vmaf_alignment_set_ended (alignment, GST_HIP_VMAF_REFERENCE,
        r == sim->ref->len);
    gst_hip_vmaf_alignment_set_ended (alignment, GST_HIP_VMAF_DISTORTED,
        d == sim->dist->len);
    pump (sim, alignment);
  }
  fail_unless_equals_int (sim->aligned->len, sim->dist->len);
  gst_hip_vmaf_alignment_free (alignment);
}

/* The moment that the reference shows at this time, or NONE. */
static gint
moment_at (Sim * sim, gint64 time)
{
  for (guint i = 0; i < sim->ref->len; i++) {
    const Shown *shown = &g_array_index (sim->ref, Shown, i);

    if (ABS (shown->time - time) < 10 * (gint64) GST_MSECOND)
      return shown->moment;
  }
  return NONE;
}

/* Distorted frames that were matched to another moment than they show; those whose moment the
 * reference never showed do not count. */
static guint
wrong_frames (Sim * sim)
{
  guint wrong = 0, i = 0;

  for (i = 0; i < sim->dist->len; i++) {
    const Shown *shown = &g_array_index (sim->dist, Shown, i);
    const GstHipVmafAligned *aligned =
        &g_array_index (sim->aligned, GstHipVmafAligned, i);
    gboolean known = FALSE;

    for (guint k = 0; k < sim->ref->len; k++)
      known |= g_array_index (sim->ref, Shown, k).moment == shown->moment;
    if (known && moment_at (sim, aligned->time) != shown->moment) {
      GST_INFO ("frame %u shows %d, not %d", i, shown->moment,
          moment_at (sim, aligned->time));
      wrong++;
    }
  }
  return wrong;
}

static guint
repeated_frames (Sim * sim)
{
  guint repeated = 0;

  for (guint i = 0; i < sim->aligned->len; i++)
    repeated += g_array_index (sim->aligned, GstHipVmafAligned, i).repeated;
  return repeated;
}

static const GstHipVmafAlignmentNews *
news_at (Sim * sim, guint n)
{
  fail_unless (n < sim->news->len, "%u news", sim->news->len);
  return &g_array_index (sim->news, GstHipVmafAlignmentNews, n);
}

/* Tests -------------------------------------------------------------------------------------- */

/* Every offset is found, before the first frame is decided. */
GST_START_TEST (test_offsets)
{
  for (gint offset = -50; offset <= 50; offset++) {
    Sim *sim = sim_new (MOVING, NOISY);

    show (sim->ref, 0, 140);
    show (sim->dist, -offset, 140);
    sim_run (sim);
    fail_unless_equals_int (sim->news->len, 1);
    fail_unless_equals_int (news_at (sim, 0)->reason,
        GST_HIP_VMAF_ALIGNMENT_FOUND);
    fail_unless_equals_int64 (news_at (sim, 0)->offset,
        offset * (gint64) PERIOD);
    fail_unless_equals_int (news_at (sim, 0)->frames, offset);
    fail_unless_equals_int (wrong_frames (sim), 0);
    fail_unless_equals_int (repeated_frames (sim), 0);
    sim_free (sim);
  }
}

GST_END_TEST;

/* Whichever stream comes first. */
GST_START_TEST (test_ahead)
{
  static const gint offsets[] = { -50, -20, 20, 50 };

  for (gint ahead = -6; ahead <= 6; ahead += 2) {
    for (guint i = 0; i < G_N_ELEMENTS (offsets); i++) {
      Sim *sim = sim_new (MOVING, NOISY);

      sim->ahead = ahead * (gint64) GST_SECOND;
      show (sim->ref, 0, 200);
      show (sim->dist, -offsets[i], 200);
      sim_run (sim);
      fail_unless_equals_int (sim->news->len, 1);
      fail_unless_equals_int (news_at (sim, 0)->reason,
          GST_HIP_VMAF_ALIGNMENT_FOUND);
      fail_unless_equals_int (news_at (sim, 0)->frames, offsets[i]);
      fail_unless_equals_int (wrong_frames (sim), 0);
      sim_free (sim);
    }
  }
}

GST_END_TEST;

/* Faults in the middle of a stream with an offset. */
typedef struct
{
  const gchar *what;
  gint shift;                   /* moments that the distorted stream leaves out, or goes back */
  guint held;                   /* frames that show one moment before that */
  guint repeated;
  gint frames;                  /* the offset after it, in frames */
  gboolean told;
} Fault;

static const Fault faults[] = {
  {"none", 0, 0, 0, 5, FALSE},
  {"a splice that skips 7", 7, 0, 0, -2, TRUE},
  {"a splice that goes back 7", -7, 0, 7, 12, TRUE},
  {"a splice that skips 40", 40, 0, 0, -35, TRUE},
  {"a splice that goes back 40", -40, 0, 40, 45, TRUE},
  {"a dropped frame", 1, 0, 0, 4, TRUE},
  {"a frame shown twice", 0, 1, 1, 6, TRUE},
  {"a frame shown in the place of the next", 1, 1, 1, 5, FALSE},
  {"a freeze of ten that leaves ten out", 10, 10, 10, 5, FALSE},
  {"a freeze of ten that leaves out none", 0, 10, 10, 15, TRUE},
  {"a freeze of thirty that leaves thirty out", 30, 30, 30, 5, FALSE},
};

GST_START_TEST (test_fault)
{
  const Fault *fault = &faults[__i__];
  Sim *sim = sim_new (MOVING, NOISY);

  GST_INFO ("%s", fault->what);
  show (sim->ref, 0, 300);
  show (sim->dist, -5, 150);
  hold (sim->dist, 144, fault->held);
  show (sim->dist, 145 + fault->shift, 120);
  sim_run (sim);
  fail_unless_equals_int (wrong_frames (sim), 0);
  fail_unless_equals_int (repeated_frames (sim), fault->repeated);
  fail_unless_equals_int (news_at (sim, sim->news->len - 1)->frames,
      fault->frames);
  if (fault->held == 0 || !fault->told)
    fail_unless_equals_int (sim->news->len, 1 + fault->told);
  sim_free (sim);
}

GST_END_TEST;

/* What is late for as long as a change takes to be told, and then no longer, is none. */
GST_START_TEST (test_excursion)
{
  Sim *sim = sim_new (MOVING, NOISY);

  show (sim->ref, 0, 300);
  show (sim->dist, 0, 150);
  hold (sim->dist, 149, 5);
  show (sim->dist, 150, 10);
  show (sim->dist, 165, 100);
  sim_run (sim);
  fail_unless_equals_int (wrong_frames (sim), 0);
  fail_unless_equals_int (repeated_frames (sim), 5);
  fail_unless_equals_int (sim->news->len, 1);
  sim_free (sim);
}

GST_END_TEST;

/* A frame is missing, and the times say so. */
GST_START_TEST (test_hole)
{
  Sim *sim = sim_new (MOVING, NOISY);

  for (guint i = 0; i < 200; i++) {
    show_at (sim->ref, i * PERIOD, i);
    if (i != 120)
      show_at (sim->dist, (i + 8) * PERIOD, i);
  }
  sim_run (sim);
  fail_unless_equals_int (wrong_frames (sim), 0);
  fail_unless_equals_int (sim->news->len, 1);
  fail_unless_equals_int (news_at (sim, 0)->frames, 8);
  sim_free (sim);
}

GST_END_TEST;

/* Distorted frames whose time is that of a reference frame: `matched`, and how many of those show
 * another moment. */
static guint
wrong_times (Sim * sim, guint * matched)
{
  guint wrong = 0, r = 0;

  *matched = 0;
  for (guint i = 0; i < sim->dist->len; i++) {
    gint64 time = g_array_index (sim->aligned, GstHipVmafAligned, i).time;
    const Shown *ref;

    while (r + 1 < sim->ref->len
        && g_array_index (sim->ref, Shown, r).time < time
        - 5 * (gint64) GST_MSECOND)
      r++;
    ref = &g_array_index (sim->ref, Shown, r);
    if (ABS (ref->time - time) > 5 * (gint64) GST_MSECOND)
      continue;
    (*matched)++;
    if (ref->moment != g_array_index (sim->dist, Shown, i).moment)
      GST_INFO ("frame %u shows %d, not %d", i, g_array_index (sim->dist,
              Shown, i).moment, ref->moment);
    wrong += ref->moment != g_array_index (sim->dist, Shown, i).moment;
  }
  return wrong;
}

/* Two rates, and a distorted stream that is 200 ms late: it shows what the reference shows at its
 * time. */
typedef struct
{
  gint64 ref, dist;             /* periods, ns */
  gint64 phase;                 /* since when the reference has shown what is shown first */
  guint frames;                 /* of the distorted stream */
  guint repeated, matched;
} Rates;

static const Rates rates[] = {
  {20000000, 40000000, 1000, 200, 0, 195},      /* 25 against 50: five frames before the reference begins */
  {40000000, 20000000, 1000, 400, 0, 195},      /* 50 against 25: every second one */
  {33366667, 33333333, 20000000, 3000, 3, 2994},        /* 30 against 29.97: it has shown three frames twice */
  {33333333, 33366667, 20000000, 3000, 0, 2994},
  {41708333, 41666667, 20000000, 3000, 3, 2995},        /* 24 against 23.976 */
  {41666667, 41708333, 20000000, 3000, 0, 2995},
};

GST_START_TEST (test_rates)
{
  const Rates *test = &rates[__i__];
  gint64 late = 200 * GST_MSECOND, end = test->frames * test->dist;
  Sim *sim = sim_new (MOVING, NOISY);
  guint matched;

  for (gint i = 0; i * test->ref < end; i++)
    show_at (sim->ref, i * test->ref, i);
  for (gint i = 0; i < (gint) test->frames; i++) {
    gint64 shown = i * test->dist - late + test->phase;
    show_at (sim->dist, i * test->dist, shown < 0 ? (shown + 1) / test->ref - 1
        : shown / test->ref);
  }
  sim_run (sim);
  /* Where the picture hardly moves, which of two frames was shown twice is anyone's guess. */
  fail_unless (wrong_times (sim, &matched) <= test->repeated);
  fail_unless (matched >= test->matched, "%u matched", matched);
  fail_unless_equals_int (repeated_frames (sim), test->repeated);
  fail_unless_equals_int (sim->news->len, 1);
  sim_free (sim);
}

GST_END_TEST;

/* Frames at any times, the same on both sides but for the offset. */
GST_START_TEST (test_variable_rate)
{
  Sim *sim = sim_new (MOVING, NOISY);
  gint64 time = 0;
  guint matched;

  for (gint i = 0; i < 400; i++) {
    show_at (sim->ref, time, i);
    show_at (sim->dist, time + 123 * GST_MSECOND, i);
    time += (20 + mix (i) % 60) * GST_MSECOND;
  }
  sim_run (sim);
  fail_unless_equals_int (wrong_times (sim, &matched), 0);
  fail_unless_equals_int (matched, 400);
  sim_free (sim);
}

GST_END_TEST;

/* Scenes that say nothing: whatever is on top of them, no jump in ten thousand frames. */
GST_START_TEST (test_says_nothing)
{
  static const Scene scenes[] = { BLACK, STILL, STROBE, WHEEL };
  Scene scene = scenes[__i__ / 4];
  Sim *sim = sim_new (scene, __i__ % 4);

  show (sim->ref, 0, 10000);
  show (sim->dist, 0, 10000);
  sim_run (sim);
  fail_unless_equals_int (sim->news->len, 1);
  fail_unless_equals_int (news_at (sim, 0)->reason,
      GST_HIP_VMAF_ALIGNMENT_ASSUMED);
  fail_unless_equals_int64 (news_at (sim, 0)->offset, 0);
  fail_unless_equals_int (repeated_frames (sim), 0);
  for (guint i = 0; i < sim->aligned->len; i++)
    fail_unless_equals_int64 (g_array_index (sim->aligned, GstHipVmafAligned,
            i).time, i * PERIOD);
  sim_free (sim);
}

GST_END_TEST;

/* After a scene that did, the offset that was found in it stays. */
GST_START_TEST (test_keeps_the_last)
{
  static const Scene scenes[] = { BLACK, STILL, STROBE, WHEEL };
  const guint late = 8, said = 150, silent = 3000;
  Scene scene = scenes[__i__ / 4];
  Sim *sim = sim_new (MOVING, __i__ % 4);

  for (guint i = 0; i < 2 * said + silent; i++) {
    gboolean quiet = i >= said && i < said + silent;

    show_at (sim->ref, i * PERIOD, i);
    show_at (sim->dist, (i + late) * PERIOD, i);
    if (quiet) {
      g_array_index (sim->ref, Shown, i).scene = scene;
      g_array_index (sim->dist, Shown, i).scene = scene;
    }
  }
  sim_run (sim);
  fail_unless_equals_int (sim->news->len, 1);
  fail_unless_equals_int (news_at (sim, 0)->frames, late);
  fail_unless_equals_int (wrong_frames (sim), 0);
  fail_unless_equals_int (repeated_frames (sim), 0);
  sim_free (sim);
}

GST_END_TEST;

/* What could not be found at first is found as soon as a scene says something. */
GST_START_TEST (test_found_later)
{
  static const Scene scenes[] = { BLACK, STILL, STROBE, WHEEL };
  static const gint late[] = { 8, -8, 40, -40 };
  const gint silent = 300;
  Sim *sim = sim_new (scenes[__i__ / 4], NOISY);
  guint wrong = 0;

  for (gint i = 0; i < silent + 200; i++) {
    gint there = i - late[__i__ % 4];

    show_at (sim->ref, i * PERIOD, i);
    show_at (sim->dist, i * PERIOD, there);
    if (i >= silent)
      g_array_index (sim->ref, Shown, i).scene = MOVING;
    if (there >= silent)
      g_array_index (sim->dist, Shown, i).scene = MOVING;
  }
  sim_run (sim);
  for (guint i = 0; i < sim->dist->len; i++) {
    const Shown *shown = &g_array_index (sim->dist, Shown, i);

    if (shown->scene == MOVING && shown->moment < silent + 200)
      wrong += moment_at (sim, g_array_index (sim->aligned, GstHipVmafAligned,
              i).time) != shown->moment;
  }
  fail_unless_equals_int (news_at (sim, 0)->reason,
      GST_HIP_VMAF_ALIGNMENT_ASSUMED);
  fail_unless_equals_int (news_at (sim, sim->news->len - 1)->frames,
      late[__i__ % 4]);
  fail_unless_equals_int (wrong, 0);
  sim_free (sim);
}

GST_END_TEST;

static Suite *
following_suite (void)
{
  Suite *suite = suite_create ("following");
  TCase *tests = tcase_create ("following");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_offsets);
  tcase_add_test (tests, test_ahead);
  tcase_add_loop_test (tests, test_fault, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tests, test_excursion);
  tcase_add_test (tests, test_hole);
  tcase_add_loop_test (tests, test_rates, 0, G_N_ELEMENTS (rates));
  tcase_add_test (tests, test_variable_rate);
  tcase_add_loop_test (tests, test_says_nothing, 0, 16);
  tcase_add_loop_test (tests, test_keeps_the_last, 0, 16);
  tcase_add_loop_test (tests, test_found_later, 0, 16);
  return suite;
}

GST_CHECK_MAIN (following);
