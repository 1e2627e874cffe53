/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all metrics on a GPU do alike. */
#include "metric.h"

#include <string.h>

#include "backend.h"

struct HvHipRepeat {
    HvStagedPlane plane[2][HV_MAX_PLANES]; /* of the latest pair */
    unsigned alike;                        /* pairs with these planes, one after the other */
    unsigned dropped;                      /* graphs, when the planes changed */
    HvHipGraph *graph;                     /* or NULL */
};

/* A graph is made once 2^dropped pairs were staged alike: planes that change all the time are not
 * worth one. */
enum { MOST_DROPPED = 10 };

/* Every one begins with it. */
static HvHipMetric *gpu_of(HvMetric *metric)
{
    return (HvHipMetric *)metric;
}

static gboolean find_kernels(HvHipMetric *gpu, GError **error)
{
    for (unsigned i = 0; gpu->ops->kernels[i]; i++)
        if (!(gpu->kernel[i] = hv_hip_kernel(gpu->hip, gpu->ops->kernels[i], error)))
            return FALSE;
    return TRUE;
}

static gboolean make_slot(HvMetric *metric, unsigned slot, GError **error)
{
    HvHipMetric *gpu = gpu_of(metric);
    HvHipResult *result = &gpu->result[slot];
    result->host = hv_arena_pinned(gpu->arena, gpu->result_bytes, error);
    return result->host && hv_arena_device(gpu->arena, gpu->result_bytes, &result->device, error) &&
           (!gpu->ops->make_slot || gpu->ops->make_slot(metric, slot, error));
}

static gboolean make(HvMetric *metric, GError **error)
{
    HvHipMetric *gpu = gpu_of(metric);
    if (!find_kernels(gpu, error) || (gpu->ops->make && !gpu->ops->make(metric, error)))
        return FALSE;
    for (unsigned i = 0; i < gpu->slots; i++)
        if (!make_slot(metric, i, error))
            return FALSE;
    return TRUE;
}

HvMetric *hv_hip_metric_make(HvMetric *metric, const HvMetricSetup *setup, GError **error)
{
    HvHipMetric *gpu = gpu_of(metric);
    gpu->staging = hv_hip_backend_staging(setup->backend);
    gpu->hip = hv_staging_hip(gpu->staging);
    gpu->arena = hv_arena_new(gpu->staging);
    gpu->slots = hv_staging_slots(gpu->staging);
    gpu->result = hv_arena_host(gpu->arena, gpu->slots * sizeof *gpu->result);
    gpu->variants = MAX(gpu->variants, 1);
    gpu->repeat = g_new0(HvHipRepeat, gpu->slots * gpu->variants);
    gpu->has_graphs = TRUE;
    if (make(metric, error))
        return metric;
    hv_hip_metric_destroy(metric);
    return NULL;
}

void hv_hip_metric_destroy(HvMetric *metric)
{
    HvHipMetric *gpu = gpu_of(metric);
    /* first, as runtimes wait for all work before they free memory, also for work that could not be
     * waited for */
    hv_arena_free(gpu->arena);
    for (unsigned i = 0; i < gpu->slots * gpu->variants; i++)
        hv_hip_graph_free(gpu->hip, gpu->repeat[i].graph);
    g_free(gpu->repeat);
    g_free(metric);
}

/* What a graph can do. */
static gboolean queue(HvMetric *metric, unsigned slot, const HvSlot *staged, GError **error)
{
    const HvHipMetric *gpu = gpu_of(metric);
    const HvHipResult *result = &gpu->result[slot];
    if (gpu->ops->adds &&
        !hv_hip_fill(gpu->hip, result->device, 0, gpu->result_bytes, staged->stream, error))
        return FALSE;
    return gpu->ops->launch(metric, slot, staged, error) &&
           hv_hip_download(gpu->hip, result->host, result->device, gpu->result_bytes,
                           staged->stream, error);
}

/* NULL where that fails, for whatever reason: queue() will say which. A graph that lacks what
 * failed there is none. */
static HvHipGraph *capture(HvMetric *metric, unsigned slot, const HvSlot *staged)
{
    HvHipMetric *gpu = gpu_of(metric);
    HvHipGraph *graph = NULL;
    if (hv_hip_capture_begin(gpu->hip, staged->stream)) {
        queue(metric, slot, staged, NULL);
        graph = hv_hip_capture_end(gpu->hip, staged->stream);
    }
    gpu->has_graphs = graph != NULL;
    return graph;
}

static gboolean is_alike(const HvHipRepeat *repeat, const HvSlot *staged)
{
    for (unsigned p = 0; p < 2; p++)
        for (unsigned i = 0; i < HV_MAX_PLANES; i++) {
            const HvStagedPlane *a = &repeat->plane[p][i], *b = &staged->plane[p][i];
            if (a->data != b->data || a->pitch != b->pitch || a->shift != b->shift ||
                a->step != b->step)
                return FALSE;
        }
    return TRUE;
}

/* No pair of the slot is on the device when it is submitted to. */
static void start_anew(HvHipMetric *gpu, HvHipRepeat *repeat, const HvSlot *staged)
{
    if (repeat->graph && repeat->dropped < MOST_DROPPED)
        repeat->dropped++;
    hv_hip_graph_free(gpu->hip, repeat->graph);
    repeat->graph = NULL;
    repeat->alike = 0;
    memcpy(repeat->plane, staged->plane, sizeof repeat->plane);
}

static gboolean queue_or_repeat(HvMetric *metric, unsigned slot, const HvSlot *staged,
                                GError **error)
{
    HvHipMetric *gpu = gpu_of(metric);
    unsigned variant = gpu->ops->variant ? gpu->ops->variant(metric) : 0;
    if (variant >= gpu->variants)
        return queue(metric, slot, staged, error);
    HvHipRepeat *repeat = &gpu->repeat[slot * gpu->variants + variant];
    if (!is_alike(repeat, staged))
        start_anew(gpu, repeat, staged);
    if (!repeat->graph && gpu->has_graphs && repeat->alike++ >= 1u << repeat->dropped)
        repeat->graph = capture(metric, slot, staged);
    if (!repeat->graph)
        return queue(metric, slot, staged, error);
    gpu->by_graph++;
    return hv_hip_graph_launch(gpu->hip, repeat->graph, staged->stream, error);
}

gboolean hv_hip_metric_submit(HvMetric *metric, const HvSubject *subject, GError **error)
{
    const HvHipMetric *gpu = gpu_of(metric);
    const HvHipMetricOps *ops = gpu->ops;
    unsigned slot = subject->slot;
    const HvSlot *staged = hv_staging_slot(gpu->staging, slot);
    if (ops->counts_in_32_bits && !hv_staging_check_luma(gpu->staging, slot, gpu->name, error))
        return FALSE;
    return (!ops->before || ops->before(metric, slot, staged, error)) &&
           queue_or_repeat(metric, slot, staged, error) &&
           (!ops->after || ops->after(metric, slot, staged, error));
}
