/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One run of the element, READY to READY: the meter, rebuilt when the format changes, the scores
 * that came out of it, their messages and the statistics.
 *
 * Threads: submit, drain and drop belong to the streaming thread (or to whoever knows that it is
 * not running); interrupt and the statistics to any thread. Scores arrive on the meter's thread,
 * which keeps its own reference: a run outlives the element's interest where an application holds
 * that thread up. */

#ifndef GST_HIP_VMAF_SCORER_H
#define GST_HIP_VMAF_SCORER_H

#include "gpu.h"
#include "messages.h"
#include "monitor.h"
#include "pairing.h"
#include "pictures.h"
#include "resultsfile.h"

#include "kernels/common/meter.h"
#include "kernels/vmaf/model.h"

G_BEGIN_DECLS

typedef struct _GstHipVmafScorer GstHipVmafScorer;

/* A pair of mapped frames on its way through the meter. */
typedef struct _GstHipVmafPair
{
  HvPair pair;
  HvFormat format;
  GstVideoFrame frame[GST_HIP_VMAF_N_SIDES];
  guint mapped;                 /* how many of them are */
  guint flushes;                /* that had been when it was submitted */
  gboolean begins;              /* it has nothing to do with the pair before it */
  gint64 time;                  /* the reference frame's running time */
  GstHipVmafTimes times;
  gint index;
  gboolean repeated;            /* the same reference frame as in the pair before */
  gint64 utc;
  gchar *timecode;
  struct _GstHipVmafSpares *spares;     /* where it goes */
  struct _GstHipVmafPair *next; /* there */
} GstHipVmafPair;

/* A property of GStreamer's vmaf element that stands for a metric, and the field that its score has
 * in messages besides libvmaf's. */
typedef struct
{
  const gchar *field, *score;
  const gchar *metric, *feature;        /* as in `features` */
} GstHipVmafExtra;

#define GST_HIP_VMAF_N_EXTRAS 3
extern const GstHipVmafExtra gst_hip_vmaf_extras[GST_HIP_VMAF_N_EXTRAS];

typedef struct
{
  GPtrArray *features;          /* of HvFeature, those of the models too; referenced */
  HvModels *models;             /* referenced */
  guint threads, depth;
  guint extras;                 /* a bit for each that has its field */
  GstHipVmafGpu gpu;            /* taken from here */
  GstHipVmafResultsFile *results;       /* taken from here; NULL for none */
  GstHipVmafMonitorConfig monitor;      /* taken from here */
} GstHipVmafScorerConfig;

typedef enum
{
  GST_HIP_VMAF_SUBMIT_TAKEN,
  GST_HIP_VMAF_SUBMIT_LATER,    /* no room, interrupted or broken: the pair stays the caller's */
  GST_HIP_VMAF_SUBMIT_REFUSED   /* these pictures cannot be measured: it stays the caller's */
} GstHipVmafSubmit;

/* `element` posts the messages; while *frame_message is set (read atomically) one for each pair. */
GstHipVmafScorer *gst_hip_vmaf_scorer_new (GstElement * element,
    GstHipVmafScorerConfig * config, const gint * frame_message);

/* Maps the frames of a matching pair; NULL when one cannot be mapped. The frames stay the
 * caller's. The pair's memory is used again for later ones; it may outlive the scorer. */
GstHipVmafPair *gst_hip_vmaf_pair_new (GstHipVmafScorer * scorer,
    const GstHipVmafFrame * reference, const GstHipVmafFrame * distorted,
    gint index);
void gst_hip_vmaf_pair_free (GstHipVmafPair * pair);


/* Scores `pairs`, which wait for room, and what is in flight, as far as that is done within half a
 * second, ends the meter and completes the results file; the statistics stay. Returns within 0.7
 * seconds and the time that the file takes. Takes out of `pairs` those that were submitted. */
void gst_hip_vmaf_scorer_stop (GstHipVmafScorer * scorer, GQueue * pairs);
GstHipVmafScorer *gst_hip_vmaf_scorer_ref (GstHipVmafScorer * scorer);
void gst_hip_vmaf_scorer_unref (GstHipVmafScorer * scorer);

/* While set, nothing here waits. */
void gst_hip_vmaf_scorer_interrupt (GstHipVmafScorer * scorer, gboolean set);

/* Takes the pair if there is room, or with `wait` when there is. A pair of another format than
 * the one before ends what was in flight and makes a new meter. `error` is set when refused. */
GstHipVmafSubmit gst_hip_vmaf_scorer_submit (GstHipVmafScorer * scorer,
    GstHipVmafPair * pair, gboolean wait, GError ** error);

/* Shows a pair that there is no time to score to the metrics that remember frames, and takes it, if
 * fewer than `most` pairs are in flight. Otherwise, or where none remembers, it stays the caller's;
 * then the next pair is to them the first of a stream. */
gboolean gst_hip_vmaf_scorer_pass (GstHipVmafScorer * scorer,
    GstHipVmafPair * pair, guint most);

/* As if the stream had ended with the last pair: what waits for the next one is scored without. */
void gst_hip_vmaf_scorer_break (GstHipVmafScorer * scorer);

/* Whether the GPU failed where nothing may take its place; the element error was posted. */
gboolean gst_hip_vmaf_scorer_is_broken (GstHipVmafScorer * scorer);

/* How many pairs' pictures a meter may hold at once. */
guint gst_hip_vmaf_scorer_held (GstHipVmafScorer * scorer);

/* An allocator of memory that suits what measures; NULL where any does. The caller's. */
GstAllocator *gst_hip_vmaf_scorer_allocator (GstHipVmafScorer * scorer);

/* Whether a meter could be made, ever in this run. */
gboolean gst_hip_vmaf_scorer_has_measured (GstHipVmafScorer * scorer);

/* Waits for what is in flight; FALSE when interrupted. */
gboolean gst_hip_vmaf_scorer_drain (GstHipVmafScorer * scorer);

/* The end of the stream: waits for all scores, completes the results file and posts the pooled
 * message, once until the next drop. FALSE when interrupted. */
gboolean gst_hip_vmaf_scorer_finish (GstHipVmafScorer * scorer,
    HvPoolMethod method);

/* A flush: forgets what is in flight, counted as flushed. */
void gst_hip_vmaf_scorer_drop (GstHipVmafScorer * scorer);

/* Counters of the streaming side: adds to the member at this address inside stats. */
void gst_hip_vmaf_scorer_count (GstHipVmafScorer * scorer, gsize member,
    guint64 n);
#define GST_HIP_VMAF_COUNT(scorer, member, n) \
    gst_hip_vmaf_scorer_count (scorer, G_STRUCT_OFFSET (GstHipVmafStats, member), n)

/* What `stats` is to say of that; from any thread. */
void gst_hip_vmaf_scorer_set_paired (GstHipVmafScorer * scorer,
    GstHipVmafPairedState paired);

void gst_hip_vmaf_scorer_set_offset (GstHipVmafScorer * scorer, gint64 offset,
    gdouble confidence);

/* The caller clears what it gets. */
void gst_hip_vmaf_scorer_stats (GstHipVmafScorer * scorer,
    GstHipVmafStats * stats);

G_END_DECLS

#endif
