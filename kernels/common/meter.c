/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter: a bounded queue, one thread that measures, results in order.
 *
 * A pair passes through three queues, all in the order of submission: `waiting` (given to us),
 * `begun` (given to the metrics) and `measured` (its pictures are done with; it waits for late
 * scores, or behind a pair that does). `submitted - finished` counts those that the thread
 * has not got through. A drop starts a new generation; the thread clears away what
 * belongs to an older one before it does anything else.
 *
 * Where a backend measures, as many pairs are begun as it has slots, in turn, and each is waited
 * for when it is collected. When anything of it fails it is given up for good: the metrics that
 * were on it go on as CPU instances, beginning with the pair begun earliest, whose pictures are
 * still there. Where such an instance has to know earlier pictures, those of the pairs collected
 * last are kept mapped (`kept`), or copied when a drain wants them back, or nothing else comes. */
#include "meter.h"

#include <string.h>

#include "kernels/cpu/slices.h"
#include "lock.h"

/* How long pictures are kept from their owner while nothing else comes: it may have no more. */
#define KEPT_US (100 * G_TIME_SPAN_MILLISECOND)

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
    double *result;     /* the scores as they are handed out */
    HvBackend *backend; /* NULL where there is none, or none any more */
    unsigned next_slot;
    GError *broken; /* why the backend was lost, where nothing took over */

    pthread_t thread;
    HvLock lock;
    HvCond work, change; /* wakes the thread; wakes everyone else */

    /* Under the lock. */
    GQueue waiting, unused;
    guint64 submitted, finished;
    guint64 generation, cleared; /* `cleared`: the generation that the thread has come to */
    guint64 stream, reached; /* counts the ends asked for; those that the metrics have come to */
    guint64 ended_after;     /* how many pairs came before the last end */
    guint64 wanted_back;     /* pairs up to this one are to be done with their pictures */
    guint64 oldest_kept;     /* `number` of the first pair that is not; the thread's to set */
    unsigned unsettled;      /* pairs of this generation that are neither scored nor failed */
    gboolean interrupted, quit, exited, abandoned;
};

/* Frames */

static HvMeterFrame *frame_new(const HvMeter *meter)
{
    size_t head = sizeof(HvMeterFrame) + meter->n_tenants * sizeof(HvScores);
    HvMeterFrame *frame = g_malloc0(head + meter->n_values * sizeof(double));
    frame->values = (double *)((char *)frame + head);
    for (unsigned i = 0; i < meter->n_tenants; i++)
        frame->scores[i].value = frame->values + meter->tenants[i].first_value;
    frame->link.data = frame->kept_link.data = frame;
    return frame;
}

static HvMeterFrame *frame_pop(GQueue *queue)
{
    GList *link = g_queue_pop_head_link(queue);
    return link ? link->data : NULL;
}

static void frames_free(GQueue *queue)
{
    for (HvMeterFrame *frame; (frame = frame_pop(queue));)
        g_free(frame);
}

void hv_scores_done(HvScores *scores)
{
    if (!scores->frame)
        return;
    scores->frame->pending--;
    scores->frame = NULL;
}

/* Takes a pair out of those that are to be scored; the caller then scores it or reports it as
 * failed. FALSE when there is nothing to say of it any more. */
static gboolean frame_settle(HvMeter *meter, HvMeterFrame *frame)
{
    hv_lock(&meter->lock);
    gboolean alive = !frame->settled && frame->generation == meter->generation;
    if (alive)
        meter->unsettled--;
    hv_unlock(&meter->lock);
    frame->settled = TRUE;
    return alive;
}

/* The owner's last call. */
static void frame_release(HvMeter *meter, HvMeterFrame *frame)
{
    if (!frame->released)
        meter->callbacks.owner_free(frame->pair.owner);
    frame->released = TRUE;
}

/* Nothing more comes of the pair. While its pictures are kept the frame is, and the owner where
 * they are the owner's. */
static void frame_recycle(HvMeter *meter, HvMeterFrame *frame)
{
    frame->through = TRUE;
    if (!frame->kept || frame->copy)
        frame_release(meter, frame);
    if (frame->kept)
        return;
    hv_lock(&meter->lock);
    g_queue_push_head_link(&meter->unused, &frame->link);
    hv_unlock(&meter->lock);
}

/* The pictures of the pairs collected last */

/* Done with them, and with the owner where that was all it was still needed for. */
static void frame_pictures_done(HvMeter *meter, HvMeterFrame *frame)
{
    meter->callbacks.pictures_done(frame->pair.owner);
    if (frame->settled)
        frame_release(meter, frame);
}

/* Lets go of all kept pairs but the last `most`. */
static void keep_only(HvMeter *meter, unsigned most)
{
    while (meter->kept.length > most) {
        HvMeterFrame *frame = g_queue_pop_head_link(&meter->kept)->data;
        frame->kept = FALSE;
        if (!frame->copy)
            frame_pictures_done(meter, frame);
        g_clear_pointer(&frame->copy, g_free);
        if (frame->through)
            frame_recycle(meter, frame);
    }
}

static void keep(HvMeter *meter, HvMeterFrame *frame)
{
    frame->kept = TRUE;
    g_queue_push_tail_link(&meter->kept, &frame->kept_link);
    keep_only(meter, meter->look_back);
}

static void copy_pictures(HvMeter *meter, HvMeterFrame *frame)
{
    size_t bytes = hv_picture_bytes(&meter->format);
    frame->copy = g_malloc(2 * bytes);
    hv_picture_copy(&meter->format, &frame->pair.reference, frame->copy);
    hv_picture_copy(&meter->format, &frame->pair.distorted, (char *)frame->copy + bytes);
    frame_pictures_done(meter, frame);
}

/* The kept pair that was submitted first of those whose pictures are the owner's still. */
static HvMeterFrame *first_mapped(const HvMeter *meter)
{
    for (GList *link = meter->kept.head; link; link = link->next)
        if (!((HvMeterFrame *)link->data)->copy)
            return link->data;
    return NULL;
}

/* The thread */

/* Takes `error`; NULL where a metric gave none. */
static void fail(HvMeter *meter, HvMeterFrame *frame, const Tenant *tenant, GError *error)
{
    if (!error)
        error = g_error_new(HV_ERROR, HV_ERROR_BACKEND, "%s could not measure a frame",
                            tenant->info->name);
    if (frame_settle(meter, frame))
        meter->callbacks.failed(meter->user, error);
    g_error_free(error);
}

static void add_to_aggregates(HvMeter *meter, const HvMeterFrame *frame)
{
    for (unsigned i = 0; i < meter->summed->len; i++) {
        const Summed *summed = &g_array_index(meter->summed, Summed, i);
        hv_aggregates_add(meter->aggregates, summed->entry, frame->values + summed->first_value);
    }
}

static void score(HvMeter *meter, HvMeterFrame *frame)
{
    add_to_aggregates(meter, frame);
    for (unsigned i = 0; i < meter->source->len; i++)
        meter->result[i] = frame->values[g_array_index(meter->source, unsigned, i)];
    meter->callbacks.scored(meter->user, frame->pair.owner, meter->result);
}

/* Hands out what is complete, up to the first pair that still waits for a score. */
static void deliver(HvMeter *meter)
{
    HvMeterFrame *frame;
    while ((frame = g_queue_peek_head(&meter->measured)) && !frame->pending) {
        frame_pop(&meter->measured);
        if (frame_settle(meter, frame))
            score(meter, frame);
        frame_recycle(meter, frame);
    }
}

/* The pair fails if one of the metrics that were on the backend still owes its scores, and nothing
 * took over from it. */
static void fail_owed(HvMeter *meter, HvMeterFrame *frame, const GError *why)
{
    for (unsigned i = 0; i < meter->n_tenants; i++)
        if (meter->tenants[i].on_gpu && !meter->tenants[i].took_over && frame->scores[i].frame) {
            hv_scores_done(&frame->scores[i]);
            fail(meter, frame, &meter->tenants[i], g_error_copy(why));
        }
}

static void fail_all_owed(HvMeter *meter, GQueue *queue, const GError *why)
{
    for (GList *link = queue->head; link; link = link->next)
        fail_owed(meter, link->data, why);
}

static void submit_to(HvMeter *meter, HvMeterFrame *frame, unsigned i)
{
    const Tenant *tenant = &meter->tenants[i];
    GError *error = NULL;
    if (tenant->ops->submit && !tenant->ops->submit(tenant->metric, &frame->subject, &error)) {
        hv_scores_done(&frame->scores[i]);
        fail(meter, frame, tenant, error);
    }
}

/* Losing the backend */

static void free_backend(HvMeter *meter)
{
    if (meter->backend)
        meter->backend->ops->free(meter->backend);
    meter->backend = NULL;
}

static void set_gpu_metrics_aside(HvMeter *meter)
{
    meter->backend->ops->quiesce(meter->backend);
    for (unsigned i = 0; i < meter->n_tenants; i++)
        if (meter->tenants[i].on_gpu)
            meter->tenants[i].lost = g_steal_pointer(&meter->tenants[i].metric);
}

static void destroy_lost_metrics(HvMeter *meter)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        Tenant *tenant = &meter->tenants[i];
        if (tenant->lost)
            tenant->info->hip->destroy(tenant->lost);
        tenant->lost = NULL;
    }
    free_backend(meter);
}

/* FALSE when one cannot be made; those that were are kept, unused. */
static gboolean make_cpu_metrics(HvMeter *meter, GError **error)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        Tenant *tenant = &meter->tenants[i];
        if (!tenant->on_gpu)
            continue;
        if (!tenant->info->cpu) {
            g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s cannot be measured on the CPU",
                        tenant->info->name);
            return FALSE;
        }
        tenant->ops = tenant->info->cpu;
        tenant->setup.backend = NULL;
        tenant->metric = tenant->ops->create(&tenant->setup, error);
        if (!tenant->metric)
            return FALSE;
    }
    return TRUE;
}

/* Where the metric can, what it owes and remembers goes over from the backend to the CPU. */
static void take_over(HvMeter *meter, unsigned i)
{
    Tenant *tenant = &meter->tenants[i];
    const HvMeterFrame *begun = g_queue_peek_head(&meter->begun);
    unsigned n = 0, needed = hv_metric_look_back(tenant->info, tenant->params);
    if (!tenant->ops->take_over)
        return;
    const HvSubject **earlier = g_new(const HvSubject *, meter->kept.length + 1);
    for (GList *link = meter->kept.head; link; link = link->next)
        earlier[n++] = &((HvMeterFrame *)link->data)->subject;
    if (begun && i < begun->collected)
        earlier[n++] = &begun->subject;
    needed = MIN(needed, n);
    tenant->ops->take_over(tenant->metric, tenant->lost, earlier + n - needed, needed);
    tenant->took_over = TRUE;
    g_free(earlier);
}

static void take_all_over(HvMeter *meter)
{
    for (unsigned i = 0; i < meter->n_tenants; i++)
        if (meter->tenants[i].on_gpu)
            take_over(meter, i);
    meter->look_back = 0;
    keep_only(meter, 0);
}

/* Whether the metric, moved to the CPU, is still to measure a pair that was begun. */
static gboolean is_still_due(const HvMeter *meter, const HvMeterFrame *frame, unsigned i)
{
    const Tenant *tenant = &meter->tenants[i];
    return tenant->moved && frame->scores[i].frame && !(tenant->took_over && i < frame->collected);
}

/* The metrics that moved get all pairs that were begun and that they still owe scores for. */
static void move_to_cpu(HvMeter *meter)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        Tenant *tenant = &meter->tenants[i];
        tenant->moved = tenant->on_gpu;
        tenant->on_gpu = FALSE;
        meter->ahead |= tenant->ops->submit != NULL;
        for (GList *link = meter->begun.head; link; link = link->next)
            if (is_still_due(meter, link->data, i))
                submit_to(meter, link->data, i);
    }
}

/* Takes `error`. Scores of pairs in `measured` that a metric still owes are lost with it where none
 * takes them over: their pictures are gone. */
static void go_on_with_cpu(HvMeter *meter, GError *error)
{
    take_all_over(meter);
    destroy_lost_metrics(meter);
    meter->callbacks.fell_back(meter->user, error);
    fail_all_owed(meter, &meter->measured, error);
    g_error_free(error);
    move_to_cpu(meter);
}

/* Takes `error`. */
static void go_on_with_nothing(HvMeter *meter, GError *error)
{
    destroy_lost_metrics(meter);
    meter->look_back = 0;
    keep_only(meter, 0);
    meter->broken = error;
    meter->callbacks.broke(meter->user, error);
    fail_all_owed(meter, &meter->measured, error);
    fail_all_owed(meter, &meter->begun, error);
}

/* Takes `error`; NULL where the backend gave none. */
static void lose_backend(HvMeter *meter, GError *error)
{
    GError *why = NULL;
    if (!error)
        error = g_error_new(HV_ERROR, HV_ERROR_BACKEND, "the GPU could not measure a frame");
    set_gpu_metrics_aside(meter);
    if (meter->fallback && make_cpu_metrics(meter, &why)) {
        go_on_with_cpu(meter, error);
        return;
    }
    if (why)
        g_prefix_error(&error, "%s; and ", why->message);
    g_clear_error(&why);
    go_on_with_nothing(meter, error);
}

/* Whether a metric on the backend has the pair, or is to get it. */
static gboolean is_for_gpu(const HvMeter *meter, const HvMeterFrame *frame)
{
    for (unsigned i = 0; i < meter->n_tenants && meter->backend; i++)
        if (meter->tenants[i].on_gpu && frame->scores[i].frame)
            return TRUE;
    return FALSE;
}

static gboolean begin_on_gpu(HvMeter *meter, HvMeterFrame *frame, GError **error)
{
    HvBackend *backend = meter->backend;
    unsigned slot = frame->subject.slot = meter->next_slot;
    meter->next_slot = (slot + 1) % backend->slots;
    if (!backend->ops->stage(backend, slot, frame->subject.reference, frame->subject.distorted,
                             error))
        return FALSE;
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        const Tenant *tenant = &meter->tenants[i];
        if (tenant->on_gpu && frame->scores[i].frame &&
            !tenant->ops->submit(tenant->metric, &frame->subject, error))
            return FALSE;
    }
    return backend->ops->seal(backend, slot, error);
}

/* Gives the pair to the metrics. One that fails to take it does not collect it either. */
static void begin(HvMeter *meter, HvMeterFrame *frame)
{
    GError *error = NULL;
    frame->pending = meter->n_tenants;
    frame->collected = 0;
    g_queue_push_tail_link(&meter->begun, &frame->link);
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        frame->scores[i].frame = frame;
        if (frame->pair.unscored && !meter->tenants[i].ops->flush)
            hv_scores_done(&frame->scores[i]);
        else if (!meter->tenants[i].on_gpu)
            submit_to(meter, frame, i);
    }
    if (meter->broken)
        fail_owed(meter, frame, meter->broken);
    else if (is_for_gpu(meter, frame) && !begin_on_gpu(meter, frame, &error))
        lose_backend(meter, error);
}

static gboolean collect_from_gpu(HvMeter *meter, HvMeterFrame *frame, GError **error)
{
    HvBackend *backend = meter->backend;
    if (!backend->ops->wait(backend, frame->subject.slot, error))
        return FALSE;
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        const Tenant *tenant = &meter->tenants[i];
        if (tenant->on_gpu && frame->scores[i].frame &&
            !tenant->ops->collect(tenant->metric, &frame->subject, &frame->scores[i], error))
            return FALSE;
        frame->collected = i + 1;
    }
    return TRUE;
}

/* From all metrics on the CPU, or only from those that have just come there. Where one fails, the
 * others get to see the pictures all the same: those that remember earlier ones must miss none. */
static void collect_from_cpu(HvMeter *meter, HvMeterFrame *frame, gboolean moved)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        const Tenant *tenant = &meter->tenants[i];
        GError *error = NULL;
        gboolean due = moved ? is_still_due(meter, frame, i)
                             : !tenant->on_gpu && frame->scores[i].frame != NULL;
        if (due &&
            !tenant->ops->collect(tenant->metric, &frame->subject, &frame->scores[i], &error)) {
            hv_scores_done(&frame->scores[i]);
            fail(meter, frame, tenant, error);
        }
    }
}

/* Finishes the pair begun earliest; the CPU does its part while the GPU works. */
static void collect(HvMeter *meter)
{
    HvMeterFrame *frame = g_queue_peek_head(&meter->begun);
    GError *error = NULL;
    collect_from_cpu(meter, frame, FALSE);
    if (is_for_gpu(meter, frame) && !collect_from_gpu(meter, frame, &error)) {
        lose_backend(meter, error);
        collect_from_cpu(meter, frame, TRUE);
    }
    frame_pop(&meter->begun);
    keep(meter, frame);
    g_queue_push_tail_link(&meter->measured, &frame->link);
}

/* No metric remembers anything after it. */
static void flush(HvMeter *meter, HvFlush how)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        const Tenant *tenant = &meter->tenants[i];
        if (tenant->metric && tenant->ops->flush)
            tenant->ops->flush(tenant->metric, how);
    }
    keep_only(meter, 0);
}

static const Tenant *debtor(const HvMeter *meter, const HvMeterFrame *frame)
{
    unsigned i = 0;
    while (!frame->scores[i].frame)
        i++;
    return &meter->tenants[i];
}

/* The stream ended: whatever waited for later pictures comes now, or never. */
static void finish_stream(HvMeter *meter)
{
    HvMeterFrame *frame;
    flush(meter, HV_FLUSH_END);
    deliver(meter);
    while ((frame = g_queue_peek_head(&meter->measured))) {
        if (frame->pending)
            fail(meter, frame, debtor(meter, frame), NULL);
        frame->pending = 0;
        deliver(meter);
    }
}

/* Clears away everything of older generations; `dropped` are those that no metric has seen. */
static void clear(HvMeter *meter, GQueue *dropped)
{
    HvMeterFrame *frame;
    while (!g_queue_is_empty(&meter->begun))
        collect(meter);
    flush(meter, HV_FLUSH_DROP);
    while ((frame = frame_pop(&meter->measured)))
        frame_recycle(meter, frame);
    while ((frame = frame_pop(dropped))) {
        frame_pictures_done(meter, frame);
        frame_recycle(meter, frame);
    }
}

/* Moves the pairs of older generations, which are at the front, from `waiting` to `dropped`. */
static void take_dropped(HvMeter *meter, GQueue *dropped)
{
    HvMeterFrame *frame;
    while ((frame = g_queue_peek_head(&meter->waiting)) && frame->generation != meter->generation)
        g_queue_push_tail_link(dropped, g_queue_pop_head_link(&meter->waiting));
}

static const HvMeterFrame *next_waiting(const HvMeter *meter)
{
    return meter->waiting.head ? meter->waiting.head->data : NULL;
}

/* The stream that the metrics come to next. */
static guint64 next_stream(const HvMeter *meter)
{
    const HvMeterFrame *frame = next_waiting(meter);
    return frame ? frame->stream : meter->stream;
}

/* How many pairs the metrics may have that are not collected. */
static unsigned most_begun(const HvMeter *meter)
{
    if (meter->backend)
        return meter->backend->slots;
    return meter->ahead ? meter->depth : 1;
}

/* Pairs of a new stream wait until the metrics know of the end of the one before. */
static gboolean can_begin(const HvMeter *meter)
{
    return next_waiting(meter) && next_stream(meter) == meter->reached &&
           meter->begun.length < most_begun(meter);
}

/* A drain, or whoever submits, may be waiting for the pictures of a kept pair. */
static gboolean must_copy(const HvMeter *meter)
{
    return meter->oldest_kept <= meter->wanted_back;
}

/* Under the lock, as all that follows; the lock is released while metrics and callbacks run. */
static void step_clear(HvMeter *meter)
{
    GQueue dropped = G_QUEUE_INIT;
    guint64 generation = meter->generation;
    take_dropped(meter, &dropped);
    guint64 gone = meter->begun.length + dropped.length;
    hv_unlock(&meter->lock);
    clear(meter, &dropped);
    hv_lock(&meter->lock);
    meter->finished += gone;
    meter->cleared = generation;
}

static void step_copy(HvMeter *meter)
{
    hv_unlock(&meter->lock);
    copy_pictures(meter, first_mapped(meter));
    hv_lock(&meter->lock);
}

static void step_begin(HvMeter *meter)
{
    HvMeterFrame *frame = frame_pop(&meter->waiting);
    hv_unlock(&meter->lock);
    begin(meter, frame);
    hv_lock(&meter->lock);
}

static void step_collect(HvMeter *meter)
{
    hv_unlock(&meter->lock);
    collect(meter);
    deliver(meter);
    hv_lock(&meter->lock);
    meter->finished++;
}

static void step_end(HvMeter *meter)
{
    guint64 stream = next_stream(meter);
    hv_unlock(&meter->lock);
    finish_stream(meter);
    hv_lock(&meter->lock);
    meter->reached = stream;
}

/* One step; FALSE when there is nothing to do. */
static gboolean step(HvMeter *meter)
{
    if (meter->cleared != meter->generation)
        step_clear(meter);
    else if (must_copy(meter))
        step_copy(meter);
    else if (can_begin(meter))
        step_begin(meter);
    else if (meter->begun.length)
        step_collect(meter);
    else if (next_stream(meter) != meter->reached)
        step_end(meter);
    else
        return FALSE;
    const HvMeterFrame *mapped = first_mapped(meter);
    meter->oldest_kept = mapped ? mapped->number : G_MAXUINT64;
    hv_cond_broadcast(&meter->change);
    return TRUE;
}

static void destroy_metrics(HvMeter *meter)
{
    if (meter->backend)
        meter->backend->ops->quiesce(meter->backend);
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        if (meter->tenants[i].metric)
            meter->tenants[i].ops->destroy(meter->tenants[i].metric);
        g_free(meter->tenants[i].params);
    }
    meter->n_tenants = 0;
}

static void meter_destroy(HvMeter *meter)
{
    destroy_metrics(meter);
    free_backend(meter);
    g_clear_error(&meter->broken);
    hv_slices_free(meter->slices);
    frames_free(&meter->unused);
    g_free(meter->tenants);
    g_free(meter->result);
    g_ptr_array_unref(meter->names);
    g_array_unref(meter->source);
    g_array_unref(meter->summed);
    g_ptr_array_unref(meter->features);
    hv_cond_clear(&meter->change);
    hv_cond_clear(&meter->work);
    hv_lock_clear(&meter->lock);
    if (meter->callbacks.user_free)
        meter->callbacks.user_free(meter->user);
    g_free(meter);
}

/* Until there may be something to do. */
static void wait_work(HvMeter *meter)
{
    if (meter->oldest_kept == G_MAXUINT64)
        hv_cond_wait(&meter->work, &meter->lock);
    else if (!hv_cond_wait_until(&meter->work, &meter->lock, g_get_monotonic_time() + KEPT_US))
        meter->wanted_back = meter->submitted;
}

static void *meter_main(void *data)
{
    HvMeter *meter = data;
    hv_lock(&meter->lock);
    for (;;) {
        if (step(meter))
            continue;
        if (meter->quit)
            break;
        wait_work(meter);
    }
    gboolean abandoned = meter->abandoned;
    meter->exited = TRUE;
    hv_cond_broadcast(&meter->change);
    hv_unlock(&meter->lock);
    if (abandoned)
        meter_destroy(meter);
    return NULL;
}

/* Making */

static gboolean has_name(const HvMeter *meter, const char *name)
{
    for (unsigned i = 0; i < meter->names->len; i++)
        if (!strcmp(g_ptr_array_index(meter->names, i), name))
            return TRUE;
    return FALSE;
}

/* Two features of one metric may give the same score twice; the first one's is kept. */
static void add_names(HvMeter *meter, const Tenant *tenant)
{
    const HvMetricInfo *info = tenant->info;
    for (const char *const *base = info->score_names(tenant->params); *base; base++) {
        char *name = hv_options_score_name(info->options, tenant->params, *base);
        if (has_name(meter, name)) {
            g_free(name);
        } else {
            g_ptr_array_add(meter->names, name);
            g_array_append_val(meter->source, meter->n_values);
        }
        meter->n_values++;
    }
}

static gboolean is_summed(const HvMeter *meter, unsigned entry)
{
    for (unsigned i = 0; i < meter->summed->len; i++)
        if (g_array_index(meter->summed, Summed, i).entry == entry)
            return TRUE;
    return FALSE;
}

/* The same for scores over the whole stream. */
static void add_aggregates(HvMeter *meter, const Tenant *tenant)
{
    const HvMetricInfo *info = tenant->info;
    if (!info->aggregate)
        return;
    for (const char *const *base = info->aggregate->names(tenant->params); *base; base++) {
        if (meter->aggregates) {
            char *name = hv_options_score_name(info->options, tenant->params, *base);
            Summed summed = {hv_aggregates_find(meter->aggregates, name, info->aggregate),
                             meter->n_values};
            if (!is_summed(meter, summed.entry))
                g_array_append_val(meter->summed, summed);
            g_free(name);
        }
        meter->n_values += info->aggregate->n_sums;
    }
}

static gboolean runs_on_gpu(const HvFeature *feature, const HvBackend *backend)
{
    return backend && feature->on_gpu && feature->info->hip;
}

static gboolean check_tenant(const HvMeter *meter, const Tenant *tenant, GError **error)
{
    const HvMetricInfo *info = tenant->info;
    if (info->needs_chroma && info->needs_chroma(tenant->params) &&
        meter->format.n_planes < HV_MAX_PLANES) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "%s measures chroma, which this format does not have", info->name);
        return FALSE;
    }
    if (!tenant->ops) {
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s cannot be measured on the CPU",
                    info->name);
        return FALSE;
    }
    return !info->validate || info->validate(tenant->params, &meter->format, error);
}

static gboolean make_tenant(HvMeter *meter, Tenant *tenant, GError **error)
{
    const HvMetricInfo *info = tenant->info;
    if (info->fit)
        info->fit(tenant->params, &meter->format);
    if (!check_tenant(meter, tenant, error))
        return FALSE;
    tenant->metric = tenant->ops->create(&tenant->setup, error);
    return tenant->metric != NULL;
}

static gboolean add_tenant(HvMeter *meter, const HvFeature *feature, GError **error)
{
    Tenant *tenant = &meter->tenants[meter->n_tenants];
    gboolean on_gpu = runs_on_gpu(feature, meter->backend);
    gpointer params = g_memdup2(feature->params, feature->info->params_size);
    *tenant = (Tenant){
        .info = feature->info,
        .ops = on_gpu ? feature->info->hip : feature->info->cpu,
        .setup = {&meter->format, params, meter->slices, on_gpu ? meter->backend : NULL},
        .params = params,
        .on_gpu = on_gpu,
        .first_value = meter->n_values,
    };
    meter->n_tenants++;
    if (!make_tenant(meter, tenant, error))
        return FALSE;
    meter->ahead |= tenant->ops->submit != NULL;
    if (on_gpu && meter->fallback)
        meter->look_back = MAX(meter->look_back, hv_metric_look_back(tenant->info, tenant->params));
    add_names(meter, tenant);
    add_aggregates(meter, tenant);
    return TRUE;
}

/* Everything but the thread. */
static gboolean meter_prepare(HvMeter *meter, unsigned threads, GError **error)
{
    meter->slices = hv_slices_new(threads, error);
    if (!meter->slices)
        return FALSE;
    for (unsigned i = 0; i < meter->features->len; i++)
        if (!add_tenant(meter, g_ptr_array_index(meter->features, i), error))
            return FALSE;
    meter->result = g_new(double, meter->names->len + 1); /* not NULL where there are no scores */
    g_ptr_array_add(meter->names, NULL);
    for (unsigned i = 0; i < meter->depth; i++)
        g_queue_push_head_link(&meter->unused, &frame_new(meter)->link);
    return TRUE;
}

/* A backend that no metric measures on is not to be bothered with pairs; NULL if one does. */
static HvBackend *take_unused_backend(HvMeter *meter)
{
    HvBackend *backend = meter->backend;
    for (unsigned i = 0; i < meter->n_tenants; i++)
        if (meter->tenants[i].on_gpu)
            return NULL;
    meter->backend = NULL;
    return backend;
}

HvMeter *hv_meter_new(const HvMeterConfig *config, const HvMeterCallbacks *callbacks, gpointer user,
                      GError **error)
{
    HvMeter *meter = g_new0(HvMeter, 1);
    HvBackend *unused = NULL;
    meter->format = config->format;
    meter->features = g_ptr_array_ref(config->features);
    meter->depth = MAX(config->depth, 1);
    meter->backend = config->backend;
    meter->fallback = config->fallback;
    meter->oldest_kept = G_MAXUINT64;
    meter->tenants = g_new0(Tenant, meter->features->len);
    meter->names = g_ptr_array_new_with_free_func(g_free);
    meter->source = g_array_new(FALSE, FALSE, sizeof(unsigned));
    meter->summed = g_array_new(FALSE, FALSE, sizeof(Summed));
    meter->aggregates = config->aggregates;
    hv_lock_init(&meter->lock);
    hv_cond_init(&meter->work);
    hv_cond_init(&meter->change);
    meter->callbacks = *callbacks;
    meter->user = user;
    gboolean ok = meter_prepare(meter, MAX(config->threads, 1), error);
    if (ok)
        unused = take_unused_backend(meter);
    if (!ok || !hv_thread_start(&meter->thread, "hv-meter", meter_main, meter, error)) {
        meter->callbacks.user_free = NULL;
        destroy_metrics(meter);
        meter->backend = NULL; /* the caller's still */
        meter_destroy(meter);
        return NULL;
    }
    if (unused)
        unused->ops->free(unused);
    return meter;
}

const char *const *hv_meter_score_names(const HvMeter *meter, unsigned *n)
{
    if (n)
        *n = meter->source->len;
    return (const char *const *)meter->names->pdata;
}

/* Use */

static guint64 in_flight(const HvMeter *meter)
{
    return meter->submitted - meter->finished;
}

static gboolean has_room(const HvMeter *meter)
{
    return in_flight(meter) < meter->depth;
}

/* More frames than `depth` are in use only where metrics deliver late or pairs are passed: that
 * grows to what they need and stays there. */
static void submit(HvMeter *meter, const HvPair *pair)
{
    HvMeterFrame *frame = frame_pop(&meter->unused);
    if (!frame)
        frame = frame_new(meter);
    frame->pair = *pair;
    frame->subject = (HvSubject){&frame->pair.reference, &frame->pair.distorted, 0};
    frame->generation = meter->generation;
    frame->stream = meter->stream;
    frame->settled = pair->unscored;
    frame->released = frame->through = FALSE;
    frame->number = ++meter->submitted;
    g_queue_push_tail_link(&meter->waiting, &frame->link);
    meter->unsettled += !pair->unscored;
    hv_cond_broadcast(&meter->work);
}

gboolean hv_meter_try_submit(HvMeter *meter, const HvPair *pair)
{
    hv_lock(&meter->lock);
    gboolean room = has_room(meter);
    if (room)
        submit(meter, pair);
    hv_unlock(&meter->lock);
    return room;
}

gboolean hv_meter_pass(HvMeter *meter, const HvPair *pair, unsigned most)
{
    HvPair unscored = *pair;
    unscored.unscored = TRUE;
    hv_lock(&meter->lock);
    gboolean room = in_flight(meter) < most;
    if (room)
        submit(meter, &unscored);
    hv_unlock(&meter->lock);
    return room;
}

gboolean hv_meter_submit(HvMeter *meter, const HvPair *pair)
{
    hv_lock(&meter->lock);
    while (!meter->interrupted && !has_room(meter))
        hv_cond_wait(&meter->change, &meter->lock);
    gboolean taken = !meter->interrupted;
    if (taken)
        submit(meter, pair);
    hv_unlock(&meter->lock);
    return taken;
}

/* When a wait of that length ends; negative: never. */
static gint64 deadline(gint64 timeout_us)
{
    gint64 now = g_get_monotonic_time();
    return timeout_us < 0 || timeout_us > G_MAXINT64 - now ? -1 : now + timeout_us;
}

/* FALSE when the time is over. */
static gboolean wait_change(HvMeter *meter, gint64 until)
{
    if (until >= 0)
        return hv_cond_wait_until(&meter->change, &meter->lock, until);
    hv_cond_wait(&meter->change, &meter->lock);
    return TRUE;
}

/* Whether the thread is through with that many pairs and their pictures, and has come to that
 * stream. */
static gboolean is_drained(const HvMeter *meter, guint64 pairs, guint64 stream)
{
    return meter->finished >= pairs && meter->oldest_kept > pairs &&
           meter->cleared == meter->generation && meter->reached >= stream;
}

/* Nothing where no pair was submitted since the last end. */
static void end_stream(HvMeter *meter)
{
    if (meter->submitted == meter->ended_after)
        return;
    meter->ended_after = meter->submitted;
    meter->stream++;
    hv_cond_broadcast(&meter->work);
}

gboolean hv_meter_drain(HvMeter *meter, gboolean end, gint64 timeout_us)
{
    gint64 until = deadline(timeout_us);
    hv_lock(&meter->lock);
    if (end && !meter->interrupted)
        end_stream(meter);
    guint64 pairs = meter->submitted, stream = end ? meter->stream : 0;
    if (!end && !meter->interrupted) {
        meter->wanted_back = pairs; /* at an end all are let go of */
        hv_cond_broadcast(&meter->work);
    }
    while (!meter->interrupted && !is_drained(meter, pairs, stream))
        if (!wait_change(meter, until))
            break;
    gboolean drained = !meter->interrupted && is_drained(meter, pairs, stream);
    hv_unlock(&meter->lock);
    return drained;
}

static unsigned drop(HvMeter *meter)
{
    unsigned lost = meter->unsettled;
    meter->unsettled = 0;
    meter->ended_after = meter->submitted;
    meter->generation++;
    hv_cond_broadcast(&meter->work);
    return lost;
}

unsigned hv_meter_drop(HvMeter *meter)
{
    hv_lock(&meter->lock);
    unsigned lost = drop(meter);
    hv_unlock(&meter->lock);
    return lost;
}

void hv_meter_interrupt(HvMeter *meter, gboolean set)
{
    hv_lock(&meter->lock);
    meter->interrupted = set;
    hv_cond_broadcast(&meter->change);
    hv_unlock(&meter->lock);
}

void hv_meter_free(HvMeter *meter, gint64 timeout_us)
{
    if (!meter)
        return;
    gint64 until = deadline(timeout_us);
    gboolean own = pthread_equal(pthread_self(), meter->thread); /* in a callback */
    hv_lock(&meter->lock);
    drop(meter);
    meter->quit = TRUE;
    while (!meter->exited && !own && wait_change(meter, until))
        ;
    gboolean exited = meter->exited;
    meter->abandoned = !exited;
    if (!exited)
        pthread_detach(meter->thread);
    hv_unlock(&meter->lock);
    if (exited) {
        pthread_join(meter->thread, NULL);
        meter_destroy(meter);
    }
}
