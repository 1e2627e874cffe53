/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the element's tests share: pictures from formulas, a rig that feeds the element object by
 * object and writes down all that comes out of it in one timeline, and the leak check. */
#ifndef CHECK_COMMON_H
#define CHECK_COMMON_H

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

#define WIDTH 64
#define HEIGHT 48
#define FRAME_MS 40

typedef struct Rig Rig;
typedef struct Feed Feed;

/* What the timeline holds. */
typedef enum
{
  FRAME_MESSAGE,
  POOLED_MESSAGE,
  ERROR_MESSAGE,
  WARNING_MESSAGE,
  INFO_MESSAGE,
  BUFFER,
  EVENT,
  EOS,
  OTHER,
  N_KINDS
} Kind;

/* The upstream of one sink pad. Objects are pushed in order from a thread of its own. */
struct Feed
{
  Rig *rig;
  GstPad *pad;
  GThread *thread;
  GAsyncQueue *items;
  GstVideoInfo info;            /* of the caps queued last */
  GstClockTime frame_duration;  /* that frames of a script get */
  guint picture;                /* that the next frame of a script shows */
  gboolean fixed_picture;       /* every frame shows the same picture */
  guint queued, pushed;         /* objects; pushed is under the rig's lock */
  GstFlowReturn flow;           /* of the last buffer; under the rig's lock */
  gboolean live;                /* what a LATENCY query is told */
  GstClockTime latency, max_latency;
  gint64 duration;              /* what DURATION, POSITION and SEEKING queries are told */
  gboolean unseekable;
  guint queries;                /* of those three, how many came */
  guint events[256];            /* upstream events by GST_EVENT_TYPE >> GST_EVENT_NUM_SHIFT */
};

/* The element with its bus, its feeds and its downstream. Set the plain members before
 * rig_start(). */
struct Rig
{
  GstElement *element;
  GstBus *bus;
  Feed ref, dist;
  GstPad *sink;
  gboolean no_sink, no_dist;    /* leave src or dist_sink unlinked */
  gboolean count_only;          /* keep no objects, for long runs */
  gulong sink_delay, message_delay;     /* microseconds: a slow downstream, a slow scorer */
  guint sink_limit;             /* buffers after which downstream says EOS; 0: never */
  GstCaps *downstream_caps;     /* what downstream takes; NULL is anything */
  GstBufferPool *downstream_pool;       /* what it proposes */
  gboolean downstream_meta;     /* whether it takes GstVideoMeta and GstVideoCropMeta */

  GMutex lock;
  GCond cond;
  GPtrArray *timeline;          /* of GstMiniObject */
  guint counts[N_KINDS];
  gboolean gate_closed;
  guint at_gate;
};

/* Pictures ---------------------------------------------------------------------------------- */

/* Picture 0 is the reference, every other number a differently distorted copy of it. The samples
 * depend on the number, the component and the depth only, not on the layout. */
GstBuffer *picture_new (const GstVideoInfo * info, guint number);

/* The same samples behind a GstVideoMeta: `lead` bytes before each plane, `extra` bytes after each
 * row, all of it filled with a pattern. */
GstBuffer *picture_new_padded (const GstVideoInfo * info, guint number,
    gsize lead, gint extra);

/* "format=I420" and so on: the caps of a WIDTH x HEIGHT, 25/1 stream with these fields changed or
 * added. */
GstCaps *video_caps (const gchar * fields);

/* The rig ------------------------------------------------------------------------------------ */

/* What measures in this run of the suite, "cpu" or "hip": CHECK_BACKEND. */
const gchar *check_backend (void);
/* A hipvmaf that is made with these properties, and frame-message on. It has no models and
 * features=adm unless others are asked for; " vmaf_v0.6.1", with the space, asks for the default. */
Rig *rig_new (const gchar * first_property, ...);
/* Links, activates and goes to PLAYING; returns what the state change did. */
GstStateChangeReturn rig_start (Rig * rig);
/* rig_start(), then on both feeds stream-start, caps and a plain TIME segment. */
void rig_start_streams (Rig * rig, const gchar * fields);
void rig_free (Rig * rig);

/* Both scripts (see feed_script), EOS after each, and the wait for EOS. */
void rig_play (Rig * rig, const gchar * ref, const gchar * dist);

guint rig_count (Rig * rig, Kind kind);
/* Waits (generously) until there are n of the kind, fails otherwise. */
void rig_wait (Rig * rig, Kind kind, guint n);
/* FALSE when there are not n of the kind after so many milliseconds. */
gboolean rig_waited (Rig * rig, Kind kind, guint n, guint milliseconds);
/* The nth object of the kind, from 0, the rig's; NULL if there is none. */
gpointer rig_object (Rig * rig, Kind kind, guint n);
const GstStructure *rig_score (Rig * rig, Kind kind, guint n);
/* The text that a user reads: of the nth ERROR, WARNING or INFO message. Free it. */
gchar *rig_text (Rig * rig, Kind kind, guint n);
void rig_expect_text (Rig * rig, Kind kind, const gchar * const *words);

/* While closed, the thread that posts a frame message is held in the post: a stalled meter. */
void rig_close_gate (Rig * rig);
void rig_open_gate (Rig * rig);
void rig_wait_at_gate (Rig * rig);

/* What left src, in order: "stream-start caps segment 0 40 tag 80 eos", buffers by PTS in ms. */
void rig_expect_story (Rig * rig, const gchar * story);
/* Which frames were measured: "0:1 40:2", reference PTS in ms and number of the distorted
 * picture. For WIDTH x HEIGHT I420 and pictures 1 to 31. */
void rig_expect_pairs (Rig * rig, const gchar * pairs);
/* "pairs=3 dist-unpaired=1": these fields of `stats`. */
void rig_expect_stats (Rig * rig, const gchar * fields);
guint64 rig_stat (Rig * rig, const gchar * field);
/* Both runs gave the same scores, bit by bit, for the same indices. */
void rig_expect_same_scores (Rig * one, Rig * other);

/* Feeds -------------------------------------------------------------------------------------- */

/* Takes the object. */
void feed_push (Feed * feed, gpointer object);
void feed_caps (Feed * feed, const gchar * fields);
void feed_segment (Feed * feed, GstClockTime start, GstClockTime base,
    GstClockTime time, gdouble rate);
void feed_begin (Feed * feed, const gchar * fields);
/* Words: "40" a frame at 40 ms, "-" one without PTS, "gap@40+80" a GAP event, "empty@40+80" a
 * zero-size buffer, "flagged@40" a full-size one with the GAP flag, "eos". */
void feed_script (Feed * feed, const gchar * script);
GstBuffer *feed_frame (Feed * feed, GstClockTime pts);
/* Waits until all that was queued has been taken by the element. */
void feed_settle (Feed * feed);
/* Flushes the pad as the seek with this seqnum does; what is queued and not yet pushed is dropped. */
void feed_flush_start (Feed * feed, guint32 seqnum);
void feed_flush_stop (Feed * feed, guint32 seqnum);

/* Plays these words of gst-launch's, with an hipvmaf named "v", to the end: so many pairs. */
void pipeline_expect_pairs (const gchar * text, guint64 expected);

/* Suites ------------------------------------------------------------------------------------- */

/* A test case in which every test ends with the leak check. */
TCase *leak_checked_case (Suite * suite, const gchar * name);

#endif
