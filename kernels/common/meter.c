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
 * for when it is collected. When anything of it fails it is given up: the metrics that
 * were on it go on as CPU instances, beginning with the pair begun earliest, whose pictures are
 * still there. Where such an instance has to know earlier pictures, those of the pairs collected
 * last are kept mapped (`kept`), or copied when a drain wants them back, or nothing else comes.
 *
 * The way back is the same: a backend that is offered is first `coming`, until as many pairs are
 * kept as its metrics have to see, and takes over between two pairs. */
#include "meter_parts.h"

#include <string.h>

/* How long pictures are kept from their owner while nothing else comes: it may have no more. */
#define KEPT_US (100 * G_TIME_SPAN_MILLISECOND)

/* The thread */

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
        hv_frame_pop(&meter->measured);
        if (hv_frame_settle(meter, frame))
            score(meter, frame);
        hv_frame_recycle(meter, frame);
    }
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
            hv_meter_submit_to(meter, frame, i);
    }
    if (meter->broken)
        hv_meter_fail_owed(meter, frame, meter->broken);
    else if (is_for_gpu(meter, frame) && !begin_on_gpu(meter, frame, &error))
        hv_meter_lose_backend(meter, error);
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
        gboolean due = moved ? hv_meter_is_still_due(meter, frame, i)
                             : !tenant->on_gpu && frame->scores[i].frame != NULL;
        if (due &&
            !tenant->ops->collect(tenant->metric, &frame->subject, &frame->scores[i], &error)) {
            hv_scores_done(&frame->scores[i]);
            hv_frame_fail(meter, frame, tenant, error);
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
        hv_meter_lose_backend(meter, error);
        collect_from_cpu(meter, frame, TRUE);
    }
    hv_frame_pop(&meter->begun);
    meter->shown++;
    hv_meter_keep(meter, frame);
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
    meter->shown = 0;
    hv_meter_keep_only(meter, 0);
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
            hv_frame_fail(meter, frame, debtor(meter, frame), NULL);
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
    while ((frame = hv_frame_pop(&meter->measured)))
        hv_frame_recycle(meter, frame);
    while ((frame = hv_frame_pop(dropped))) {
        hv_frame_pictures_done(meter, frame);
        hv_frame_recycle(meter, frame);
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

/* Pairs of a new stream wait until the metrics know of the end of the one before, and all until a
 * backend that is ready is put to use. */
static gboolean can_begin(const HvMeter *meter)
{
    return next_waiting(meter) && next_stream(meter) == meter->reached &&
           meter->begun.length < most_begun(meter) && !hv_meter_can_regain_backend(meter);
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
    hv_frame_copy_pictures(meter, hv_meter_first_mapped(meter));
    hv_lock(&meter->lock);
}

static void step_begin(HvMeter *meter)
{
    HvMeterFrame *frame = hv_frame_pop(&meter->waiting);
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

static void step_expect(HvMeter *meter)
{
    HvBackend *backend = g_steal_pointer(&meter->offered);
    hv_unlock(&meter->lock);
    hv_meter_expect_backend(meter, backend);
    hv_lock(&meter->lock);
}

static void step_regain(HvMeter *meter)
{
    hv_unlock(&meter->lock);
    hv_meter_regain_backend(meter);
    hv_lock(&meter->lock);
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
    else if (meter->offered)
        step_expect(meter);
    else if (can_begin(meter))
        step_begin(meter);
    else if (meter->begun.length)
        step_collect(meter);
    else if (hv_meter_can_regain_backend(meter))
        step_regain(meter);
    else if (next_stream(meter) != meter->reached)
        step_end(meter);
    else
        return FALSE;
    const HvMeterFrame *mapped = hv_meter_first_mapped(meter);
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

static void free_unused_backend(HvBackend *backend)
{
    if (backend)
        backend->ops->free(backend);
}

static void meter_destroy(HvMeter *meter)
{
    destroy_metrics(meter);
    hv_meter_free_backend(meter);
    free_unused_backend(meter->coming);
    free_unused_backend(meter->offered);
    g_clear_error(&meter->broken);
    hv_slices_free(meter->slices);
    hv_frames_free(&meter->unused);
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
    gboolean ok = hv_meter_prepare(meter, MAX(config->threads, 1), error);
    if (ok)
        unused = take_unused_backend(meter);
    if (!ok || !hv_thread_start(&meter->thread, "hv-meter", meter_main, meter, error)) {
        meter->callbacks.user_free = NULL;
        destroy_metrics(meter);
        meter->backend = NULL; /* the caller's still */
        meter_destroy(meter);
        return NULL;
    }
    free_unused_backend(unused);
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
    HvMeterFrame *frame = hv_frame_pop(&meter->unused);
    if (!frame)
        frame = hv_frame_new(meter);
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

void hv_meter_offer(HvMeter *meter, HvBackend *backend)
{
    hv_lock(&meter->lock);
    HvBackend *unseen = meter->offered;
    meter->offered = backend;
    hv_cond_broadcast(&meter->work);
    hv_unlock(&meter->lock);
    free_unused_backend(unseen);
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
