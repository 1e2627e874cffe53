/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A meter that loses its backend, and one that gets one back. */
#include "meter_parts.h"

void hv_meter_submit_to(HvMeter *meter, HvMeterFrame *frame, unsigned i)
{
    const Tenant *tenant = &meter->tenants[i];
    GError *error = NULL;
    if (tenant->ops->submit && !tenant->ops->submit(tenant->metric, &frame->subject, &error)) {
        hv_scores_done(&frame->scores[i]);
        hv_frame_fail(meter, frame, tenant, error);
    }
}

void hv_meter_fail_owed(HvMeter *meter, HvMeterFrame *frame, const GError *why)
{
    for (unsigned i = 0; i < meter->n_tenants; i++)
        if (meter->tenants[i].on_gpu && !meter->tenants[i].took_over && frame->scores[i].frame) {
            hv_scores_done(&frame->scores[i]);
            hv_frame_fail(meter, frame, &meter->tenants[i], g_error_copy(why));
        }
}

static void fail_all_owed(HvMeter *meter, GQueue *queue, const GError *why)
{
    for (GList *link = queue->head; link; link = link->next)
        hv_meter_fail_owed(meter, link->data, why);
}

void hv_meter_free_backend(HvMeter *meter)
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
    hv_meter_free_backend(meter);
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
    hv_meter_keep_only(meter, 0);
}

gboolean hv_meter_is_still_due(const HvMeter *meter, const HvMeterFrame *frame, unsigned i)
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
            if (hv_meter_is_still_due(meter, link->data, i))
                hv_meter_submit_to(meter, link->data, i);
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
    hv_meter_keep_only(meter, 0);
    meter->broken = error;
    meter->callbacks.broke(meter->user, error);
    fail_all_owed(meter, &meter->measured, error);
    fail_all_owed(meter, &meter->begun, error);
}

void hv_meter_lose_backend(HvMeter *meter, GError *error)
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

/* Getting one back */

/* One that remembers pictures must be able to hand over what it knows. */
static gboolean can_return(const HvMeter *meter, unsigned i)
{
    const HvFeature *feature = g_ptr_array_index(meter->features, i);
    const HvMetricInfo *info = feature->info;
    return feature->on_gpu && info->hip && info->cpu && !meter->tenants[i].on_gpu &&
           (!info->cpu->flush || info->hip->take_over);
}

void hv_meter_expect_backend(HvMeter *meter, HvBackend *backend)
{
    if (meter->backend || meter->coming || meter->broken) {
        backend->ops->free(backend);
        return;
    }
    meter->coming = backend;
    for (unsigned i = 0; i < meter->n_tenants; i++)
        if (can_return(meter, i))
            meter->look_back = MAX(meter->look_back, hv_metric_look_back(meter->tenants[i].info,
                                                                         meter->tenants[i].params));
}

gboolean hv_meter_can_regain_backend(const HvMeter *meter)
{
    return meter->coming && meter->kept.length >= MIN(meter->look_back, meter->shown);
}

static gboolean make_next_metrics(HvMeter *meter, GError **error)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        Tenant *tenant = &meter->tenants[i];
        HvMetricSetup setup = tenant->setup;
        setup.backend = meter->coming;
        if (can_return(meter, i) && !(tenant->next = tenant->info->hip->create(&setup, error)))
            return FALSE;
    }
    return TRUE;
}

/* Shows a kept pair to the metrics that look back at least that far. */
static gboolean show(HvMeter *meter, HvSubject *subject, unsigned age, GError **error)
{
    HvBackend *backend = meter->coming;
    subject->slot = meter->next_slot;
    meter->next_slot = (meter->next_slot + 1) % backend->slots;
    if (!backend->ops->stage(backend, subject->slot, subject->reference, subject->distorted, error))
        return FALSE;
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        const Tenant *tenant = &meter->tenants[i];
        if (tenant->next && hv_metric_look_back(tenant->info, tenant->params) >= age &&
            !tenant->info->hip->submit(tenant->next, subject, error))
            return FALSE;
    }
    return backend->ops->seal(backend, subject->slot, error) &&
           backend->ops->wait(backend, subject->slot, error);
}

static gboolean show_kept(HvMeter *meter, GError **error)
{
    unsigned age = meter->kept.length;
    meter->next_slot = 0;
    for (GList *link = meter->kept.head; link; link = link->next) {
        HvSubject subject = ((HvMeterFrame *)link->data)->subject;
        if (!show(meter, &subject, age--, error))
            return FALSE;
    }
    return TRUE;
}

static void move_to_gpu(HvMeter *meter)
{
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        Tenant *tenant = &meter->tenants[i];
        if (!tenant->next)
            continue;
        if (tenant->info->hip->take_over)
            tenant->info->hip->take_over(tenant->next, tenant->metric, NULL, 0);
        tenant->ops->destroy(tenant->metric);
        tenant->metric = g_steal_pointer(&tenant->next);
        tenant->ops = tenant->info->hip;
        tenant->setup.backend = meter->coming;
        tenant->on_gpu = TRUE;
        tenant->moved = tenant->took_over = FALSE;
    }
    meter->backend = g_steal_pointer(&meter->coming);
}

static void stay_on_cpu(HvMeter *meter)
{
    HvBackend *backend = g_steal_pointer(&meter->coming);
    backend->ops->quiesce(backend);
    for (unsigned i = 0; i < meter->n_tenants; i++) {
        Tenant *tenant = &meter->tenants[i];
        if (tenant->next)
            tenant->info->hip->destroy(g_steal_pointer(&tenant->next));
    }
    backend->ops->free(backend);
    meter->look_back = 0;
    hv_meter_keep_only(meter, 0);
}

void hv_meter_regain_backend(HvMeter *meter)
{
    GError *error = NULL;
    if (make_next_metrics(meter, &error) && show_kept(meter, &error))
        move_to_gpu(meter);
    else
        stay_on_cpu(meter);
    meter->callbacks.regained(meter->user, error);
    g_clear_error(&error);
}
