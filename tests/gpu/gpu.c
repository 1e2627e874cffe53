/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Metrics on a GPU without a meter. */
#include "gpu.h"

#include <stdlib.h>

#include "kernels/hip/metric.h"

const HvMetricOps *gpu_ops(const Gpu *gpu, unsigned i)
{
    return ((const HvFeature *)g_ptr_array_index(gpu->features, i))->info->hip;
}

gboolean gpu_needs_chroma(GPtrArray *features)
{
    for (unsigned i = 0; i < features->len; i++) {
        const HvFeature *feature = g_ptr_array_index(features, i);
        if (feature->info->needs_chroma && feature->info->needs_chroma(feature->params))
            return TRUE;
    }
    return FALSE;
}

gboolean gpu_fit(GPtrArray *features, const HvFormat *format, GError **error)
{
    for (unsigned i = 0; i < features->len; i++) {
        const HvFeature *feature = g_ptr_array_index(features, i);
        const HvMetricInfo *info = feature->info;
        if (info->fit)
            info->fit(feature->params, format);
        if (info->validate && !info->validate(feature->params, format, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean make_metric(Gpu *gpu, const HvFormat *format, unsigned i, GError **error)
{
    const HvFeature *feature = g_ptr_array_index(gpu->features, i);
    HvMetricSetup setup = {format, feature->params, NULL, gpu->backend};
    if (!feature->info->hip) {
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s has no kernels", feature->info->name);
        return FALSE;
    }
    return (gpu->metric[i] = feature->info->hip->create(&setup, error)) != NULL;
}

gboolean gpu_init(Gpu *gpu, HvHip *hip, const HvFormat *format, GPtrArray *features, unsigned slots,
                  GError **error)
{
    *gpu = (Gpu){.features = features};
    g_assert_cmpuint(features->len, <=, GPU_METRICS);
    gpu->backend = hv_hip_backend_new(hip, format, slots, gpu_needs_chroma(features), error);
    if (!gpu->backend)
        return FALSE;
    for (unsigned i = 0; i < features->len; i++)
        if (!make_metric(gpu, format, i, error)) {
            gpu_clear(gpu);
            return FALSE;
        }
    return TRUE;
}

void gpu_clear(Gpu *gpu)
{
    gpu->backend->ops->quiesce(gpu->backend);
    for (unsigned i = 0; i < gpu->features->len; i++)
        if (gpu->metric[i])
            gpu_ops(gpu, i)->destroy(gpu->metric[i]);
    gpu->backend->ops->free(gpu->backend);
}

gboolean gpu_submit(Gpu *gpu, const HvPicture *pair, GError **error)
{
    const HvBackendOps *ops = gpu->backend->ops;
    HvSubject subject = {&pair[0], &pair[1], gpu->submitted++ % gpu->backend->slots};
    if (!ops->stage(gpu->backend, subject.slot, &pair[0], &pair[1], error))
        return FALSE;
    for (unsigned i = 0; i < gpu->features->len; i++)
        if (!gpu_ops(gpu, i)->submit(gpu->metric[i], &subject, error))
            return FALSE;
    return ops->seal(gpu->backend, subject.slot, error);
}

gboolean gpu_collect(Gpu *gpu, const HvPicture *pair, HvScores *scores, GError **error)
{
    HvSubject subject = {&pair[0], &pair[1], gpu->collected++ % gpu->backend->slots};
    if (!gpu->backend->ops->wait(gpu->backend, subject.slot, error))
        return FALSE;
    for (unsigned i = 0; i < gpu->features->len; i++)
        if (!gpu_ops(gpu, i)->collect(gpu->metric[i], &subject, &scores[i], error))
            return FALSE;
    return TRUE;
}

void gpu_flush(Gpu *gpu)
{
    for (unsigned i = 0; i < gpu->features->len; i++)
        if (gpu_ops(gpu, i)->flush)
            gpu_ops(gpu, i)->flush(gpu->metric[i], HV_FLUSH_END);
}

guint64 gpu_by_graph(const Gpu *gpu)
{
    guint64 pairs = 0;
    for (unsigned i = 0; i < gpu->features->len; i++)
        pairs += ((const HvHipMetric *)gpu->metric[i])->by_graph;
    return pairs;
}

void gpu_must(gboolean fine, GError *const *error)
{
    if (fine)
        return;
    g_printerr("%s\n", *error ? (*error)->message : "no error says what failed");
    exit(2);
}
