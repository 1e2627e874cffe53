/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's instance, shared by the files of this room. */

#ifndef GST_HIP_VMAF_H
#define GST_HIP_VMAF_H

#include <gst/base/gstaggregator.h>

#include "alignment.h"
#include "enums.h"
#include "gpu.h"
#include "history.h"
#include "openmetrics.h"
#include "pairing.h"
#include "scorer.h"

#include "kernels/common/lock.h"

G_BEGIN_DECLS

#define GST_TYPE_HIP_VMAF (gst_hip_vmaf_get_type ())
G_DECLARE_FINAL_TYPE (GstHipVmaf, gst_hip_vmaf, GST, HIP_VMAF, GstAggregator)

GST_DEBUG_CATEGORY_EXTERN (gst_hip_vmaf_debug);

/* What is said to the user once a run. */
typedef enum
{
  GST_HIP_VMAF_SAID_MISMATCH = 1 << 0,
  GST_HIP_VMAF_SAID_INTERLACED = 1 << 1,
  GST_HIP_VMAF_SAID_COLORS = 1 << 2,
  GST_HIP_VMAF_SAID_UNTIMED = 1 << 3,
  GST_HIP_VMAF_SAID_UNREADABLE = 1 << 4,
  GST_HIP_VMAF_SAID_REFUSED = 1 << 5,
  GST_HIP_VMAF_SAID_SLOW = 1 << 6,
  GST_HIP_VMAF_SAID_LATENCY = 1 << 7
} GstHipVmafSaid;

/* One sink pad's stream. Belongs to the streaming thread but for the atomic members. */
typedef struct
{
  GstHipVmafFormat *format;     /* of the last CAPS event */
  gboolean has_segment;         /* since the start or the last flush */
  GstClockTime last_pts, last_duration; /* of the frame before */
  GstBuffer *held;              /* the last one taken, still on its pad; or NULL */
  GstClockTime held_pts;
  gboolean held_waits;          /* the pairing has it, or had */
  gboolean held_copied;         /* as a copy */
  gboolean ended;               /* no more of it will come */
  gboolean has_reached;         /* whether anything had a running time since the last flush */
  gint64 reached;               /* and then, the last one, or a gap's end; alignment only */
  gboolean timed;               /* whether a frame had a running time, ever in this run */
  gint64 earliest, latest;      /* and then, the first and the last of them */
  gint flushed;                 /* atomic: what is queued of it is to be dropped */
  gboolean flushing;            /* between FLUSH_START and FLUSH_STOP; object lock */
  guint32 flush_seqnum;         /* of the last FLUSH_START; object lock */
} GstHipVmafStream;

struct _GstHipVmaf
{
  GstAggregator parent;

  GstAggregatorPad *pad[GST_HIP_VMAF_N_SIDES];

  /* Properties, under the object lock. */
  gchar *model_filename, *features;
  gboolean enable_transform, phone_model, disable_clip, conf_interval;
  GstHipVmafBackend backend;
  guint threads, subsample, async_depth;
  gint device_id;
  GstClockTime gpu_timeout, gpu_retry;
  guint extras;                 /* a bit for each of gst_hip_vmaf_extras */
  gchar *results_filename;      /* or NULL */
  GstHipVmafResultsFormat results_format;
  guint results_precision;
  GstHipVmafLogLevel log_level;
  GstHipVmafAlignmentMode alignment;
  gint64 offset;                /* ns, positive where the distorted stream is late */
  guint64 max_offset, max_history_bytes;
  HvPoolMethod pool_method;
  gint frame_message;           /* atomic */
  GstHipVmafLivePolicy live_policy;
  guint64 timeout;
  guint64 interval, alert_duration;
  gdouble alert_below;
  gchar *alert_score, *metrics_location, *metrics_labels;

  /* The run. The pointer is written under the object lock; it stays after READY for `stats`. */
  GstHipVmafScorer *scorer;
  GstHipVmafOpenMetrics *metrics;       /* or NULL */

  /* The streaming thread's. */
  GstHipVmafPairing *pairing;
  GstHipVmafStream stream[GST_HIP_VMAF_N_SIDES];
  GQueue ready;                 /* of GstHipVmafPair that wait for room in the meter */
  guint run_subsample, run_depth;
  GstHipVmafLivePolicy run_policy;
  gboolean run_remembers;       /* metrics need every pair, also those that get no scores */
  GstHipVmafAlignmentMode run_alignment;
  GstHipVmafHistory *history;   /* NULL without alignment; written under the object lock */
  gint history_was_full;        /* atomic */
  gint64 run_offset;            /* `offset`, where it counts */
  GstHipVmafAlignment *aligner; /* NULL unless alignment=auto, and so are all of these: */
  GQueue undecided;             /* of GstHipVmafFrame: distorted frames that the aligner has */
  GstHipVmafFrame shown;        /* the reference frame of the last pair, if it has a buffer */
  GQueue passed_over;           /* of GstHipVmafFrame: those since, as far as metrics need them */
  guint n_passed_over;
  gboolean reference_came;      /* since the last distorted frame */
  gint next_index;
  gint64 newest_time;           /* running time of the last reference frame */
  gboolean live;
  gboolean failed;              /* an error was posted: nothing goes on */
  GstEvent *stream_start;       /* the reference's, for src */
  gboolean stream_start_sent;

  gint eos_requested;           /* atomic: an EOS event was sent to the element */
  guint said;                   /* atomic: GstHipVmafSaid */
  GstClockTime lateness;        /* see gst_hip_vmaf_lateness(); object lock */

  /* watch.c, under the object lock */
  GstClockID watch_timer;       /* NULL where nobody looks */
  gint64 watch_timeout;         /* microseconds, as all times here */
  gint64 watch_since;           /* what was before does not count */
  gint64 watch_pair;            /* when the last pair was found */
  gint64 watch_frame[GST_HIP_VMAF_N_SIDES];     /* when the last frame was taken */
  gint64 unpaired_at;           /* when they had no longer found partners; 0: they do */
  gboolean break_due;           /* the pair that follows has nothing to do with the last one */
  GQueue watch_messages;        /* of GstStructure, still to be posted */
  HvLock watch_posting;         /* one thread at a time, so that their order holds */

  /* starvation.c, under the object lock */
  GstClockID starvation_timer;
  gint starved;                 /* GstHipVmafSide, or -1 */
  gint64 starved_since;
  gboolean starvation_said;
};

/* aggregate.c: pairs to the meter, the reference out */
GstFlowReturn gst_hip_vmaf_aggregate (GstAggregator * agg, gboolean timeout);
GstClockTime gst_hip_vmaf_get_next_time (GstAggregator * agg);

/* intake.c: frames off the pads */
/* Gives the pad's next buffer to the pairing; it stays on the pad, held, until it is let go. FALSE
 * when there is none. */
gboolean gst_hip_vmaf_take (GstHipVmaf * self, GstHipVmafSide side);
/* Takes the held buffer off its pad and returns it; NULL when a flush was faster. */
GstBuffer *gst_hip_vmaf_let_go (GstHipVmaf * self, GstHipVmafSide side);
void gst_hip_vmaf_release (GstHipVmafFrame * frame);
/* Releases the frame and counts it. */
void gst_hip_vmaf_leave_unpaired (GstHipVmaf * self, GstHipVmafSide side,
    GstHipVmafFrame * frame);
/* Drops what is queued of a pad that was flushed; TRUE if there was one. */
gboolean gst_hip_vmaf_apply_flush (GstHipVmaf * self);
/* Drops everything that is in flight; the streaming thread is stopped. */
void gst_hip_vmaf_drop_all (GstHipVmaf * self);

/* Gives up the oldest pair that waits for room in the meter, counted as skipped; FALSE when there is
 * none. */
gboolean gst_hip_vmaf_skip_oldest (GstHipVmaf * self);

/* Gives up what is remembered of the last pair; FALSE when that was nothing. */
gboolean gst_hip_vmaf_forget_shown (GstHipVmaf * self);

/* waiting.c: frames that wait for their partners */
/* Reads the settings; FALSE after an element error. */
gboolean gst_hip_vmaf_waiting_check (GstHipVmaf * self);
void gst_hip_vmaf_waiting_start (GstHipVmaf * self, const GPtrArray * features);
void gst_hip_vmaf_waiting_stop (GstHipVmaf * self);
/* Adds what `stats` says of it. Under the object lock. */
void gst_hip_vmaf_waiting_stats (GstHipVmaf * self,
    const GstHipVmafStats * stats, GstStructure * structure);
/* Gives the frame to the pairing, or first to the aligner; takes it. */
void gst_hip_vmaf_wait (GstHipVmaf * self, GstHipVmafSide side,
    GstHipVmafFrame * frame);
/* Gives the pairing the next distorted frame, TRUE, that is decided; with `force` one that is not. */
gboolean gst_hip_vmaf_waiting_decide (GstHipVmaf * self, gboolean force);
/* Whether no more frames of this side will come. */
void gst_hip_vmaf_set_ended (GstHipVmaf * self, GstHipVmafSide side,
    gboolean ended);
/* What waits of a flushed side is dropped; after reset() the offset is looked for anew. */
void gst_hip_vmaf_waiting_flush (GstHipVmaf * self, GstHipVmafSide side);
void gst_hip_vmaf_waiting_reset (GstHipVmaf * self);
/* Whether one more frame can be copied. */
gboolean gst_hip_vmaf_has_room (GstHipVmaf * self);
/* With alignment: whether what was read of the stream is later than what was read of the other; and
 * from which to read next, FALSE when neither is needed. */
gboolean gst_hip_vmaf_is_ahead (GstHipVmaf * self, GstHipVmafSide side);
gboolean gst_hip_vmaf_next_side (GstHipVmaf * self, GstHipVmafSide * side);

/* pads.c: events and queries */
gboolean gst_hip_vmaf_sink_event (GstAggregator * agg, GstAggregatorPad * pad,
    GstEvent * event);
gboolean gst_hip_vmaf_sink_query (GstAggregator * agg, GstAggregatorPad * pad,
    GstQuery * query);
gboolean gst_hip_vmaf_src_event (GstAggregator * agg, GstEvent * event);
gboolean gst_hip_vmaf_src_query (GstAggregator * agg, GstQuery * query);
GstPadProbeReturn gst_hip_vmaf_src_probe (GstPad * pad, GstPadProbeInfo * info,
    gpointer self);
/* Pushes a serialized event in place; takes it. */
gboolean gst_hip_vmaf_push_event (GstHipVmaf * self, GstEvent * event);
/* As if the streams had ended; from any thread. */
void gst_hip_vmaf_end_pads (GstHipVmaf * self);

/* starvation.c: tells the user why a pipeline stands still */
void gst_hip_vmaf_starvation_start (GstHipVmaf * self);
void gst_hip_vmaf_starvation_stop (GstHipVmaf * self);
/* What the pads hold, as the streaming thread begins to wait; none when it goes on. */
void gst_hip_vmaf_starvation_note (GstHipVmaf * self, gboolean ref_has,
    gboolean dist_has);

/* watch.c: tells the user of a live stream that the two find no partners in each other */
void gst_hip_vmaf_watch_start (GstHipVmaf * self);
void gst_hip_vmaf_watch_stop (GstHipVmaf * self);
void gst_hip_vmaf_watch_note_frame (GstHipVmaf * self, GstHipVmafSide side);
/* TRUE when this pair is the first after a time without. */
gboolean gst_hip_vmaf_watch_note_pair (GstHipVmaf * self);
/* Frames come on both sides, and it is looked for what pairs them: no alarm yet. */
void gst_hip_vmaf_watch_note_search (GstHipVmaf * self);
/* TRUE once, when such a time has begun and no pair was noted since. */
gboolean gst_hip_vmaf_watch_take_break (GstHipVmaf * self);

/* The base class's methods, for those that override them. */
GstAggregatorClass *gst_hip_vmaf_parent_class_get (void);

/* latency.c: live streams, whatever their latencies are */
/* On the sink pads, for what the peer answers. */
GstPadProbeReturn gst_hip_vmaf_latency_probe (GstPad * pad,
    GstPadProbeInfo * info, gpointer self);
/* How much later than the latency of src the distorted stream may come; from any thread. */
GstClockTime gst_hip_vmaf_lateness (GstHipVmaf * self);

/* TRUE the first time in a run; from any thread. */
gboolean gst_hip_vmaf_say_once (GstHipVmaf * self, GstHipVmafSaid what);

static inline GstHipVmafSide
gst_hip_vmaf_side (GstHipVmaf * self, GstAggregatorPad * pad)
{
  return pad == self->pad[GST_HIP_VMAF_REFERENCE] ? GST_HIP_VMAF_REFERENCE
      : GST_HIP_VMAF_DISTORTED;
}

G_END_DECLS

#endif
