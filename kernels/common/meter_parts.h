/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the meter's files share. */
#ifndef HV_METER_PARTS_H
#define HV_METER_PARTS_H

#include "kernels/cpu/slices.h"
#include "lock.h"
#include "meter.h"

typedef struct HvMeterFrame {
    GList link;      /* in one of the queues, or in the free list */
    GList kept_link; /* in `kept`, beside that */
    HvPair pair;
    HvSubject subject; /* what of the pair the metrics see */
    guint64 generation, stream;
    guint64 number;     /* of pairs submitted up to it */
    unsigned collected; /* the metrics on the backend before this one have collected it */
    unsigned pending;   /* metrics that still owe their scores */
    gboolean settled;   /* scored, failed or dropped */
    gboolean released;  /* the owner is gone */
    gboolean kept;      /* in `kept`: its pictures are there */
    gboolean through;   /* in no other queue any more */
    gpointer copy;      /* that the pictures are in, once they are done with; NULL: the owner's */
    double *values;     /* of all metrics, one after the other: scores, terms of aggregates */
    HvScores scores[];  /* of each metric; `frame` is NULL once they are done */
} HvMeterFrame;

/* One metric at work. */
typedef struct Tenant {
    const HvMetricInfo *info;
    const HvMetricOps *ops;
    HvMetricSetup setup;
    gpointer params;      /* fitted to the format */
    HvMetric *metric;     /* NULL once the backend is lost and nothing took over */
    HvMetric *lost;       /* what it was on the backend, while another takes over from it */
    HvMetric *next;       /* what it will be on a backend that is being put to use */
    gboolean on_gpu;      /* measures on the backend */
    gboolean moved;       /* did so until that was lost; now on the CPU */
    gboolean took_over;   /* and knows what it had collected there */
    unsigned first_value; /* where its part of a frame's values begins */
} Tenant;

/* A score over the whole stream. */
typedef struct Summed {
    unsigned entry;       /* of the aggregates */
    unsigned first_value; /* where its terms are among a frame's values */
} Summed;

struct HvMeter {
    HvFormat format;
    GPtrArray *features;
    HvMeterCallbacks callbacks;
    gpointer user;
    unsigned depth;

    HvSlices *slices;
    Tenant *tenants;
    unsigned n_tenants, n_values;
    gboolean ahead; /* some metric begins a pair before the one before it is collected */
    gboolean fallback;

    GPtrArray *names;
    GArray *source; /* unsigned: which of a frame's values goes under each name */
    GArray *summed; /* Summed */
    HvAggregates *aggregates;

    /* Of the thread alone. */
    GQueue begun, measured, kept;
    unsigned look_back; /* how many pairs are kept */
    guint64 shown;      /* how many the metrics have collected in this stream */
    double *result;     /* the scores as they are handed out */
    HvBackend *backend; /* NULL where there is none, or none any more */
    HvBackend *coming;  /* to be put to use once enough pairs are kept */
    unsigned next_slot;
    GError *broken; /* why the backend was lost, where nothing took over */

    pthread_t thread;
    HvLock lock;
    HvCond work, change; /* wakes the thread; wakes everyone else */

    /* Under the lock. */
    GQueue waiting, unused;
    HvBackend *offered; /* not seen by the thread yet */
    guint64 submitted, finished;
    guint64 generation, cleared; /* `cleared`: the generation that the thread has come to */
    guint64 stream, reached; /* counts the ends asked for; those that the metrics have come to */
    guint64 ended_after;     /* how many pairs came before the last end */
    guint64 wanted_back;     /* pairs up to this one are to be done with their pictures */
    guint64 oldest_kept;     /* `number` of the first pair that is not; the thread's to set */
    unsigned unsettled;      /* pairs of this generation that are neither scored nor failed */
    gboolean interrupted, quit, exited, abandoned;
};

/* meter_frames.c. Of the thread alone, but for hv_frame_new() and hv_frames_free(). */

HvMeterFrame *hv_frame_new(const HvMeter *meter);
HvMeterFrame *hv_frame_pop(GQueue *queue); /* NULL when it is empty */
void hv_frames_free(GQueue *queue);

/* Takes a pair out of those that are to be scored; the caller then scores it or reports it as
 * failed. FALSE when there is nothing to say of it any more. */
gboolean hv_frame_settle(HvMeter *meter, HvMeterFrame *frame);
/* The pair fails. Takes `error`; NULL where a metric gave none. */
void hv_frame_fail(HvMeter *meter, HvMeterFrame *frame, const Tenant *tenant, GError *error);
/* Nothing more comes of the pair. While its pictures are kept the frame is, and the owner where
 * they are the owner's. */
void hv_frame_recycle(HvMeter *meter, HvMeterFrame *frame);
/* Done with them, and with the owner where that was all it was still needed for. */
void hv_frame_pictures_done(HvMeter *meter, HvMeterFrame *frame);

/* Keeps the pictures of a pair that was collected, and lets go of those of the earliest one where
 * that makes more than `look_back`. */
void hv_meter_keep(HvMeter *meter, HvMeterFrame *frame);
/* Lets go of all kept pairs but the last `most`. */
void hv_meter_keep_only(HvMeter *meter, unsigned most);
/* The kept pair that was submitted first of those whose pictures are the owner's still. */
HvMeterFrame *hv_meter_first_mapped(const HvMeter *meter);
/* Makes a kept pair's pictures our own. */
void hv_frame_copy_pictures(HvMeter *meter, HvMeterFrame *frame);

/* meter_make.c: metrics, names and frames; everything but the meter's thread. */
gboolean hv_meter_prepare(HvMeter *meter, unsigned threads, GError **error);

/* meter_backend.c. Of the thread alone. */

void hv_meter_submit_to(HvMeter *meter, HvMeterFrame *frame, unsigned tenant);
/* The pair fails if one of the metrics that were on the backend still owes its scores, and nothing
 * took over from it. */
void hv_meter_fail_owed(HvMeter *meter, HvMeterFrame *frame, const GError *why);
/* Takes `error`; NULL where the backend gave none. */
void hv_meter_lose_backend(HvMeter *meter, GError *error);
void hv_meter_free_backend(HvMeter *meter);
/* Whether the metric, moved to the CPU, is still to measure a pair that was begun. */
gboolean hv_meter_is_still_due(const HvMeter *meter, const HvMeterFrame *frame, unsigned tenant);

/* Begins to keep the pairs that this backend will want to see. Takes it. */
void hv_meter_expect_backend(HvMeter *meter, HvBackend *backend);
/* Whether those are there. */
gboolean hv_meter_can_regain_backend(const HvMeter *meter);
/* Puts the backend that was expected to use, or does without. No pair may have been begun that is
 * not collected. */
void hv_meter_regain_backend(HvMeter *meter);

#endif
