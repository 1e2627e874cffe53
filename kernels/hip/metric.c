/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all metrics on a GPU do alike. */
#include "metric.h"

#include "backend.h"

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
    if (make(metric, error))
        return metric;
    hv_hip_metric_destroy(metric);
    return NULL;
}

void hv_hip_metric_destroy(HvMetric *metric)
{
    hv_arena_free(gpu_of(metric)->arena);
    g_free(metric);
}

gboolean hv_hip_metric_submit(HvMetric *metric, const HvSubject *subject, GError **error)
{
    const HvHipMetric *gpu = gpu_of(metric);
    unsigned slot = subject->slot;
    const HvHipMetricOps *ops = gpu->ops;
    const HvHipResult *result = &gpu->result[slot];
    const HvSlot *staged = hv_staging_slot(gpu->staging, slot);
    if (ops->counts_in_32_bits && !hv_staging_check_luma(gpu->staging, slot, gpu->name, error))
        return FALSE;
    if (ops->adds &&
        !hv_hip_fill(gpu->hip, result->device, 0, gpu->result_bytes, staged->stream, error))
        return FALSE;
    return ops->launch(metric, slot, staged, error) &&
           hv_hip_download(gpu->hip, result->host, result->device, gpu->result_bytes,
                           staged->stream, error);
}
