/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * alignment=auto: streams that are late, early, spliced, frozen or of another rate get the scores
 * that the same frames have side by side. Clips are made by formula: a texture that wanders at
 * random, and for the distorted stream noise on it. */
#include "common.h"
#include "texture.h"

#define CLIP_WIDTH 96
#define CLIP_HEIGHT 54
#define CAPS "format=I420, width=96, height=54"
#define FEATURES "adm,motion=debug=true"
#define FIRST_MOMENT -80
#define LAST_MOMENT 280
#define CLIP 140                /* frames, unless a test needs more */

/* Clips -------------------------------------------------------------------------------------- */

static void
paint (guint8 * luma, gint moment, gdouble x, gdouble y, gboolean noisy)
{
  for (gint row = 0; row < CLIP_HEIGHT; row++) {
    for (gint column = 0; column < CLIP_WIDTH; column++) {
      guint32 noise = mix (moment * 0x9e3779b9u + mix (row * 1024 + column));
      gdouble value = 16 + 220 * texture (x + column, y + row, 8);

      if (noisy)
        value += (noise & 15) - 7.5;
      luma[row * CLIP_WIDTH + column] = CLAMP (value, 0, 255);
    }
  }
}

/* What the clip shows at a moment, reference or distorted. */
static GstBuffer *
picture_at (gint moment, gboolean distorted)
{
  static guint8 *known[2][LAST_MOMENT - FIRST_MOMENT];
  static gdouble place[2][LAST_MOMENT - FIRST_MOMENT];
  gint nth = moment - FIRST_MOMENT;
  const gsize luma = CLIP_WIDTH * CLIP_HEIGHT;
  GstBuffer *buffer;

  fail_unless (nth >= 0 && nth < LAST_MOMENT - FIRST_MOMENT);
  for (guint axis = 0; axis < 2 && place[axis][nth] == 0; axis++) {
    place[axis][0] = 1000;
    for (gint i = 1; i < LAST_MOMENT - FIRST_MOMENT; i++)
      place[axis][i] = place[axis][i - 1] + 4 * lattice (i / 9, 50 + axis) - 1;
  }
  if (!known[distorted][nth]) {
    known[distorted][nth] = g_malloc (luma);
    paint (known[distorted][nth], moment, place[0][nth], place[1][nth],
        distorted);
  }
  buffer = gst_buffer_new_allocate (NULL, luma * 3 / 2, NULL);
  gst_buffer_memset (buffer, luma, 128, luma / 2);
  gst_buffer_fill (buffer, 0, known[distorted][nth], luma);
  return buffer;
}

static void
push_at (Feed * feed, GstClockTime time, GstClockTime duration, gint moment)
{
  GstBuffer *buffer = picture_at (moment, feed == &feed->rig->dist);

  GST_BUFFER_PTS (buffer) = time;
  GST_BUFFER_DURATION (buffer) = duration;
  feed_push (feed, buffer);
}

/* n moments from `moment` on, from the nth frame on. */
static guint
push_clip (Feed * feed, guint nth, gint moment, guint n)
{
  for (guint i = 0; i < n; i++)
    push_at (feed, (nth + i) * FRAME_MS * GST_MSECOND, FRAME_MS * GST_MSECOND,
        moment + i);
  return nth + n;
}

/* One moment n times. */
static guint
push_still (Feed * feed, guint nth, gint moment, guint n)
{
  for (guint i = 0; i < n; i++)
    push_clip (feed, nth + i, moment, 1);
  return nth + n;
}

/* Runs --------------------------------------------------------------------------------------- */

static Rig *
clip_rig (gboolean aligned)
{
  Rig *rig = rig_new ("features", FEATURES, NULL);

  if (aligned)
    gst_util_set_object_arg (G_OBJECT (rig->element), "alignment", "auto");
  rig_start_streams (rig, CAPS);
  return rig;
}

/* The frames of the reference from `moment` on and their own distorted ones. */
static Rig *
hand_aligned (gint moment, guint n)
{
  Rig *rig = clip_rig (FALSE);

  push_clip (&rig->ref, 0, moment, n);
  push_clip (&rig->dist, 0, moment, n);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), n);
  return rig;
}

/* The nth message of type "alignment". */
static const GstStructure *
alignment_message (Rig * rig, guint n)
{
  const GstStructure *message;

  for (guint i = 0; (message = rig_score (rig, OTHER, i)); i++) {
    if (gst_structure_has_name (message, "VMAF")
        && g_str_equal (gst_structure_get_string (message, "type"),
            "alignment") && n-- == 0)
      return message;
  }
  return NULL;
}

static void
expect_alignment (Rig * rig, guint n, const gchar * reason, gint frames)
{
  const GstStructure *message = alignment_message (rig, n);
  gint64 offset;
  gint offset_frames;
  gdouble confidence;

  fail_unless (message != NULL, "no alignment message %u", n);
  fail_unless_equals_string (gst_structure_get_string (message, "reason"),
      reason);
  fail_unless (gst_structure_get_int64 (message, "offset", &offset));
  fail_unless (gst_structure_get_int (message, "offset-frames",
          &offset_frames));
  fail_unless (gst_structure_get_double (message, "confidence", &confidence));
  fail_unless_equals_int (offset_frames, frames);
  fail_unless_equals_int64 (offset, frames * FRAME_MS * (gint64) GST_MSECOND);
  if (g_str_equal (reason, "assumed"))
    fail_unless (confidence < 0.1, "confidence of %g", confidence);
  else
    fail_unless (confidence > 0.1 && confidence <= 1, "confidence of %g",
        confidence);
}

/* Of each pad, all frames are known. */
static void
expect_frames (Rig * rig)
{
  guint64 pairs = rig_stat (rig, "pairs");

  fail_unless_equals_uint64 (rig_stat (rig, "dist-frames"),
      pairs + rig_stat (rig, "dist-unpaired"));
  fail_unless_equals_uint64 (rig_stat (rig, "ref-frames"),
      pairs - rig_stat (rig, "repeated-pairs") + rig_stat (rig,
          "ref-unpaired"));
}

static void
expect_accounts (Rig * rig)
{
  expect_frames (rig);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_stat (rig, "scored"));
}

static guint64
time_of (const GstStructure * message)
{
  guint64 time;

  fail_unless (gst_structure_get_uint64 (message, "timestamp", &time));
  return time;
}

/* Every score of `rig` is the one that this frame of the reference has in `own`, but for frames that
 * are shown again and what they are shown after. Returns how many there are. */
static guint
expect_own_scores (Rig * rig, Rig * own)
{
  static const gchar *names[] = { "integer_adm2", "integer_motion",
    "integer_motion2", "integer_motion3"
  };
  guint n = rig_count (rig, FRAME_MESSAGE), compared = 0;

  for (guint i = 0; i < n; i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    const GstStructure *next = rig_score (rig, FRAME_MESSAGE, i + 1);
    guint64 time = time_of (message);
    const GstStructure *known = rig_score (own, FRAME_MESSAGE,
        time / (FRAME_MS * GST_MSECOND));

    if (gst_structure_has_field (message, "repeated")
        || (next && gst_structure_has_field (next, "repeated")))
      continue;
    fail_unless_equals_uint64 (time_of (known), time);
    for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
      gdouble here, there;
      fail_unless (gst_structure_get_double (message, names[k], &here));
      fail_unless (gst_structure_get_double (known, names[k], &there));
      /* The last one's motion knows no next frame. */
      fail_unless (here == there || (!next && k > 1),
          "%s at %" G_GUINT64_FORMAT " ms: %.17g, not %.17g", names[k],
          time / GST_MSECOND, here, there);
    }
    compared++;
  }
  return compared;
}

/* Tests -------------------------------------------------------------------------------------- */

/* Found exactly, and the scores are those of the frames side by side from the first one on. */
static void
try_offset (gint offset)
{
  Rig *rig = clip_rig (TRUE);
  guint pairs = CLIP - ABS (offset);
  Rig *own = hand_aligned (MAX (-offset, 0), pairs);

  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, -offset, CLIP);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", offset);
  fail_unless (alignment_message (rig, 1) == NULL);
  rig_expect_same_scores (rig, own);
  expect_accounts (rig);
  rig_expect_stats (rig, "ref-frames=140 repeated=0 dropped=0");
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), pairs);
  fail_unless_equals_uint64 (rig_stat (rig, "ref-unpaired"), ABS (offset));
  rig_free (rig);
  rig_free (own);
}

/* Ten of them a time; on the emulator, which is slow, the first. */
GST_START_TEST (test_offsets)
{
  gint first = -50 + 10 * __i__;
  gint last = g_str_equal (check_backend (), "hip") ? first : first + 9;

  for (gint offset = first; offset <= MIN (last, 50); offset++)
    try_offset (offset);
}

GST_END_TEST;

typedef struct
{
  const gchar *what;
  gint shift;                   /* moments that the distorted stream leaves out, or goes back */
  guint held;                   /* frames that show one moment before that */
  gint frames;                  /* the offset after it */
  const gchar *stats;
} Fault;

/* 150 frames, the last of them showing moment 144, then the fault, then 90 frames; the reference has
 * 260. What is shown again is measured again only if it is the last frame that was shown. */
static const Fault faults[] = {
  {"a splice that skips 7", 7, 0, -2,
      "pairs=235 repeated=0 dropped=7 ref-unpaired=25 dist-unpaired=5"},
  {"a splice that goes back 7", -7, 0, 12,
      "pairs=229 repeated=7 dropped=0 ref-unpaired=32 dist-unpaired=11"},
  {"a dropped frame", 1, 0, 4,
      "pairs=235 repeated=0 dropped=1 ref-unpaired=25 dist-unpaired=5"},
  {"a frame shown twice", 0, 1, 6,
      "pairs=236 repeated=1 dropped=0 ref-unpaired=25 dist-unpaired=5"},
  {"a frame shown in the place of the next", 1, 1, 5,
      "pairs=236 repeated=1 dropped=1 ref-unpaired=25 dist-unpaired=5"},
  {"a freeze of ten that leaves ten out", 10, 10, 5,
      "pairs=245 repeated=10 dropped=10 ref-unpaired=25 dist-unpaired=5"},
  {"a freeze of ten that leaves none out", 0, 10, 15,
      "pairs=245 repeated=10 dropped=0 ref-unpaired=25 dist-unpaired=5"},
};

GST_START_TEST (test_fault)
{
  const Fault *fault = &faults[__i__];
  Rig *rig = clip_rig (TRUE), *own = hand_aligned (0, 260);
  guint again = 0, n;

  GST_INFO ("%s", fault->what);
  push_clip (&rig->ref, 0, 0, 260);
  n = push_clip (&rig->dist, 0, -5, 150);
  n = push_still (&rig->dist, n, 144, fault->held);
  push_clip (&rig->dist, n, 145 + fault->shift, 90);
  rig_play (rig, "", "");
  rig_expect_stats (rig, fault->stats);
  expect_accounts (rig);
  expect_alignment (rig, 0, "found", 5);
  if (fault->frames != 5)
    expect_alignment (rig, 1, "jump", fault->frames);
  else
    fail_unless (alignment_message (rig, 1) == NULL);
  for (guint i = 0; i < rig_count (rig, FRAME_MESSAGE); i++)
    again += gst_structure_has_field (rig_score (rig, FRAME_MESSAGE, i),
        "repeated");
  fail_unless_equals_int (again, fault->shift < 0 ? 1 : fault->held);
  fail_unless_equals_int (expect_own_scores (rig, own),
      rig_stat (rig, "pairs") - again - (again > 0));
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* 25 frames a second against 50: the same with the offset that was found, every second frame of the
 * reference without a partner. */
GST_START_TEST (test_rates)
{
  Rig *rig = clip_rig (TRUE), *own = clip_rig (FALSE);

  for (guint i = 0; i < 240; i++) {
    push_at (&rig->ref, i * 20 * GST_MSECOND, 20 * GST_MSECOND, i);
    if (i % 2 == 0) {
      push_at (&rig->dist, i * 20 * GST_MSECOND, 40 * GST_MSECOND,
          (gint) i - 10);
      push_at (&own->ref, i * 20 * GST_MSECOND, 40 * GST_MSECOND, i);
      push_at (&own->dist, i * 20 * GST_MSECOND, 40 * GST_MSECOND, i);
    }
  }
  rig_play (rig, "", "");
  rig_play (own, "", "");
  rig_expect_stats (rig, "pairs=115 ref-frames=240 ref-unpaired=125 "
      "dist-frames=120 dist-unpaired=5 repeated=0 dropped=0");
  fail_unless_equals_int (expect_own_scores (rig, own), 115);
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* Frames come faster than they would: no pair is to be skipped for that. */
static Rig *
live_rig (void)
{
  Rig *rig = rig_new ("features", FEATURES, "force-live", TRUE, NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "alignment", "auto");
  gst_util_set_object_arg (G_OBJECT (rig->element), "live-policy", "block");
  return rig;
}

/* Live, the reference goes on at once; what comes later is found all the same. */
GST_START_TEST (test_live)
{
  Rig *rig = live_rig ();
  Rig *own = hand_aligned (0, 120);

  rig_start_streams (rig, CAPS);
  feed_settle (&rig->dist);
  for (guint i = 0; i < CLIP; i++) {
    push_clip (&rig->ref, i, i, 1);
    rig_wait (rig, BUFFER, i + 1);
    if (i >= 20)
      push_clip (&rig->dist, i, (gint) i - 20, 1);
    feed_settle (&rig->dist);
  }
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 20);
  expect_accounts (rig);
  rig_expect_stats (rig, "pairs=120 ref-frames=140 ref-unpaired=20 "
      "dist-frames=120");
  fail_unless_equals_int (expect_own_scores (rig, own), 120);
  rig_free (rig);
  rig_free (own);
}

GST_END_TEST;

/* Live, without a distorted stream, the reference goes on, what waits is bounded, and it is measured
 * as soon as there is one. */
GST_START_TEST (test_live_late_join)
{
  Rig *rig = live_rig ();

  g_object_set (rig->element, "max-offset", 400 * GST_MSECOND, NULL);
  rig_start_streams (rig, CAPS);
  feed_settle (&rig->dist);
  push_clip (&rig->ref, 0, 0, 180);
  rig_wait (rig, BUFFER, 180);
  /* Of 7.2 s wait the delays of the alignment, and a second; soon after the last one went. */
  for (guint i = 0; i < 2000 && rig_stat (rig, "ref-unpaired") <= 100; i++)
    g_usleep (10000);
  fail_unless (rig_stat (rig, "ref-unpaired") > 100);
  for (guint i = 0; i < 80; i++) {
    push_clip (&rig->dist, 180 + i, 177 + i, 1);
    push_clip (&rig->ref, 180 + i, 180 + i, 1);
    feed_settle (&rig->dist);
    feed_settle (&rig->ref);
  }
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 3);
  expect_accounts (rig);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), 80);
  rig_free (rig);
}

GST_END_TEST;

static guint
count_unpaired (Rig * rig)
{
  const GstStructure *message;
  guint n = 0;

  for (guint i = 0; (message = rig_score (rig, OTHER, i)); i++)
    n += gst_structure_has_name (message, "VMAF")
        && g_str_equal (gst_structure_get_string (message, "type"), "unpaired");
  return n;
}

/* As long as frames come on both sides, looking for the offset is no reason for an alarm; without a
 * distorted stream there is one. */
GST_START_TEST (test_no_alarm)
{
  Rig *rig = live_rig ();

  g_object_set (rig->element, "timeout", 600 * GST_MSECOND, NULL);
  rig_start_streams (rig, CAPS);
  for (guint i = 0; i < 40; i++) {
    push_clip (&rig->ref, i, i, 1);
    if (__i__ == 0)
      push_clip (&rig->dist, i, i, 1);
    g_usleep (40000);
  }
  fail_unless_equals_int (rig_stat (rig, "pairs"), 0);
  fail_unless_equals_int (count_unpaired (rig), __i__);
  rig_play (rig, "", "");
  rig_free (rig);
}

GST_END_TEST;

/* Nor is looking for what became of it, when it jumps; frames that cannot find partners are. */
GST_START_TEST (test_no_alarm_at_jump)
{
  Rig *rig = live_rig ();

  g_object_set (rig->element, "timeout", GST_SECOND, "max-offset",
      1400 * GST_MSECOND, NULL);
  rig_start_streams (rig, CAPS);
  for (guint i = 0; i < CLIP; i++) {
    gboolean after = i >= 80;

    push_clip (&rig->ref, i, i, 1);
    push_clip (&rig->dist, after && __i__ ? i + 250 : i,
        after ? (gint) i - 20 : (gint) i, 1);
    g_usleep (40000);
  }
  fail_unless_equals_int (count_unpaired (rig), __i__);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 0);
  if (__i__ == 0)
    expect_alignment (rig, 1, "jump", 20);
  expect_frames (rig);
  rig_free (rig);
}

GST_END_TEST;

/* What says nothing is paired as `offset` says. */
GST_START_TEST (test_assumed)
{
  Rig *rig = rig_new ("offset", (gint64) 3 * FRAME_MS * GST_MSECOND, NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "alignment", "auto");
  rig_start_streams (rig, CAPS);
  push_still (&rig->ref, 0, 0, CLIP);
  push_still (&rig->dist, 0, 0, CLIP);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "assumed", 3);
  fail_unless (alignment_message (rig, 1) == NULL);
  expect_accounts (rig);
  rig_expect_stats (rig, "pairs=137 ref-unpaired=3 dist-unpaired=3 repeated=0 "
      "dropped=0");
  rig_free (rig);
}

GST_END_TEST;

/* Few bytes: what fits is looked at, whether it is live or not. */
GST_START_TEST (test_limit)
{
  guint64 bytes = 80 * CLIP_WIDTH * CLIP_HEIGHT * 11 / 10;
  Rig *rig = rig_new ("features", FEATURES, "max-history-bytes", bytes,
      "force-live", __i__, NULL);
  GstStructure *stats;

  gst_util_set_object_arg (G_OBJECT (rig->element), "alignment", "auto");
  gst_util_set_object_arg (G_OBJECT (rig->element), "live-policy", "block");
  rig_start_streams (rig, CAPS);
  for (guint i = 0; i < CLIP; i++) {
    push_clip (&rig->ref, i, i, 1);
    if (__i__)
      rig_wait (rig, BUFFER, i + 1);
    push_clip (&rig->dist, i, (gint) i - 5, 1);
    if (__i__)
      feed_settle (&rig->dist);
  }
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 5);
  expect_accounts (rig);
  rig_expect_stats (rig, "ref-frames=140 pairs=135");
  fail_unless (rig_stat (rig, "history-bytes") <= bytes);
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "history-limit"),
      "max-history-bytes");
  gst_structure_free (stats);
  rig_free (rig);
}

GST_END_TEST;

/* Hardly any bytes: it goes on, and every frame is accounted for. */
GST_START_TEST (test_no_room)
{
  guint64 bytes = __i__ / 2 * 3 * CLIP_WIDTH * CLIP_HEIGHT;
  Rig *rig = rig_new ("max-history-bytes", bytes, "force-live", __i__ % 2,
      NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "alignment", "auto");
  rig_start_streams (rig, CAPS);
  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, -5, CLIP);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, BUFFER), CLIP);
  expect_frames (rig);
  fail_unless (rig_stat (rig, "history-bytes") <= bytes);
  rig_free (rig);
}

GST_END_TEST;

/* After a flush of both pads the offset is looked for anew. */
GST_START_TEST (test_flush)
{
  Rig *rig = clip_rig (TRUE);
  guint32 seqnum = gst_util_seqnum_next ();

  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, -5, CLIP);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  rig_wait (rig, FRAME_MESSAGE, 60);
  feed_flush_start (&rig->ref, seqnum);
  feed_flush_start (&rig->dist, seqnum);
  feed_flush_stop (&rig->ref, seqnum);
  feed_flush_stop (&rig->dist, seqnum);
  feed_segment (&rig->ref, 0, 0, 0, 1.0);
  feed_segment (&rig->dist, 0, 0, 0, 1.0);
  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, 12, CLIP);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 5);
  expect_alignment (rig, 1, "found", -12);
  expect_frames (rig);
  rig_free (rig);
}

GST_END_TEST;

/* A flush of one pad drops only its frames: the offset stays. */
GST_START_TEST (test_flush_one)
{
  Rig *rig = clip_rig (TRUE);
  Feed *feed = __i__ ? &rig->ref : &rig->dist;

  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, -5, CLIP);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  rig_wait (rig, FRAME_MESSAGE, 60);
  feed_flush_start (feed, 77);
  feed_flush_stop (feed, 77);
  feed_segment (feed, 0, 0, 0, 1.0);
  push_clip (&rig->ref, CLIP, CLIP, 60);
  push_clip (&rig->dist, CLIP, CLIP - 5, 60);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 5);
  fail_unless (alignment_message (rig, 1) == NULL);
  fail_unless (rig_stat (rig, "pairs") > 110);
  expect_frames (rig);
  rig_free (rig);
}

GST_END_TEST;

static void
flush (Feed * feed, guint32 seqnum)
{
  feed_settle (feed);
  feed_flush_start (feed, seqnum);
  feed_flush_stop (feed, seqnum);
  feed_segment (feed, 0, 0, 0, 1.0);
}

/* Reference frames that were flushed are not there to be found: what shows them is unpaired, and the
 * next offset is that of frames that are there. */
GST_START_TEST (test_flushed_reference)
{
  Rig *rig = clip_rig (TRUE);

  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, 0, CLIP);
  flush (&rig->dist, 76);
  flush (&rig->ref, 77);
  push_clip (&rig->ref, CLIP, CLIP + 10, 100);
  push_clip (&rig->dist, CLIP, CLIP - 20, 110);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 0);
  expect_alignment (rig, 1, "jump", 30);
  fail_unless (alignment_message (rig, 2) == NULL);
  expect_frames (rig);
  rig_free (rig);
}

GST_END_TEST;

/* A tee without any queue runs to its end. */
GST_START_TEST (test_in_step)
{
  gchar *text = g_strdup_printf ("videotestsrc num-buffers=150 pattern=smpte75 "
      "horizontal-speed=3 ! video/x-raw,format=I420,width=96,height=54,"
      "framerate=25/1 ! tee name=t %s hipvmaf name=v features=adm "
      "model-filename=\"\" alignment=auto ! fakesink",
      __i__ ? "t. ! v.ref_sink t. ! v.dist_sink"
      : "t. ! v.dist_sink t. ! v.ref_sink");

  pipeline_expect_pairs (text, 150);
  g_free (text);
}

GST_END_TEST;

/* Times that jump, gaps anywhere, moments at random. */
static guint
push_wild (Feed * feed, GRand * rand)
{
  guint frames = 0;

  for (guint i = 0; i < 100; i++) {
    guint time = g_rand_int_range (rand, 0, 10) ? i * FRAME_MS
        : (guint) g_rand_int_range (rand, 0, 4000);
    gint moment = g_rand_int_range (rand, 0, 10) ? (gint) i
        : g_rand_int_range (rand, 0, 100);

    if (g_rand_int_range (rand, 0, 15) == 0) {
      feed_push (feed, gst_event_new_gap (time * GST_MSECOND,
              g_rand_int_range (rand, 1, 200) * GST_MSECOND));
    } else {
      push_at (feed, g_rand_int_range (rand, 0, 20) ? time * GST_MSECOND
          : GST_CLOCK_TIME_NONE, FRAME_MS * GST_MSECOND, moment);
      frames++;
    }
  }
  return frames;
}

/* Whatever comes, every reference frame goes on, every frame that was taken is in a pair or counted
 * as unpaired, and the stream ends. */
GST_START_TEST (test_wild_streams)
{
  static const gchar *modes[] = { "auto", "offset" };
  GRand *rand = g_rand_new_with_seed (4000 + __i__);
  Rig *rig = rig_new ("features", FEATURES, "force-live", __i__ / 2 % 2,
      "offset", g_rand_int_range (rand, -200, 200) * (gint64) GST_MSECOND,
      "max-offset", 400 * GST_MSECOND, NULL);
  guint n;

  gst_util_set_object_arg (G_OBJECT (rig->element), "alignment",
      modes[__i__ % 2]);
  if (__i__ / 4 % 2)
    g_object_set (rig->element, "max-history-bytes",
        (guint64) 30 * CLIP_WIDTH * CLIP_HEIGHT, NULL);
  rig_start_streams (rig, CAPS);
  n = push_wild (&rig->ref, rand);
  push_wild (&rig->dist, rand);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, BUFFER), n);
  fail_unless_equals_uint64 (rig_stat (rig, "ref-frames"), n);
  expect_frames (rig);
  fail_unless_equals_uint64 (rig_stat (rig, "pairs"), rig_count (rig,
          FRAME_MESSAGE) + rig_stat (rig, "skipped"));
  g_rand_free (rand);
  rig_free (rig);
}

GST_END_TEST;

/* The size changes in mid-stream. */
GST_START_TEST (test_size_change)
{
  Rig *rig = clip_rig (TRUE);

  push_clip (&rig->ref, 0, 0, CLIP);
  push_clip (&rig->dist, 0, -5, CLIP);
  feed_caps (&rig->ref, "format=I420, width=48, height=108");
  feed_caps (&rig->dist, "format=I420, width=48, height=108");
  push_clip (&rig->ref, CLIP, CLIP, 60);
  push_clip (&rig->dist, CLIP, CLIP, 60);
  rig_play (rig, "", "");
  expect_alignment (rig, 0, "found", 5);
  expect_accounts (rig);
  rig_expect_stats (rig, "ref-frames=200");
  fail_unless (rig_stat (rig, "pairs") > 185);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
aligning_suite (void)
{
  Suite *suite = suite_create ("aligning");
  TCase *tests = leak_checked_case (suite, "aligning");

  tcase_add_loop_test (tests, test_offsets, 0, 11);
  tcase_add_loop_test (tests, test_fault, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tests, test_rates);
  tcase_add_test (tests, test_live);
  tcase_add_test (tests, test_live_late_join);
  tcase_add_loop_test (tests, test_no_alarm, 0, 2);
  tcase_add_loop_test (tests, test_no_alarm_at_jump, 0, 2);
  tcase_add_test (tests, test_assumed);
  tcase_add_loop_test (tests, test_limit, 0, 2);
  tcase_add_loop_test (tests, test_no_room, 0, 6);
  tcase_add_test (tests, test_flush);
  tcase_add_loop_test (tests, test_flush_one, 0, 2);
  tcase_add_test (tests, test_flushed_reference);
  tcase_add_loop_test (tests, test_in_step, 0, 2);
  tcase_add_loop_test (tests, test_wild_streams, 0, 24);
  tcase_add_test (tests, test_size_change);
  return suite;
}

GST_CHECK_MAIN (aligning);
