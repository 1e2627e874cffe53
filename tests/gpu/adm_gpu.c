/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on a GPU without a meter. */
#include "adm_gpu.h"

#include <stdlib.h>

static void must(gboolean fine, GError *const *error)
{
    if (fine)
        return;
    g_printerr("%s\n", *error ? (*error)->message : "no GPU, and no error either");
    exit(2);
}

HvHip *adm_gpu_open(void)
{
    GError *error = NULL;
    HvHip *hip = hv_hip_open(-1, &error);
    must(hip != NULL, &error);
    return hip;
}

AdmGpu adm_gpu_new(HvHip *hip, const HvFormat *format, const HvAdmParams *params, unsigned slots)
{
    AdmGpu gpu = {*format, *params, NULL, NULL};
    GError *error = NULL;
    gpu.backend = hv_hip_backend_new(hip, format, slots, FALSE, &error);
    must(gpu.backend != NULL, &error);
    HvMetricSetup setup = {format, params, NULL, gpu.backend};
    gpu.metric = hv_adm_hip_ops.create(&setup, &error);
    must(gpu.metric != NULL, &error);
    return gpu;
}

void adm_gpu_free(AdmGpu *gpu)
{
    gpu->backend->ops->quiesce(gpu->backend);
    hv_adm_hip_ops.destroy(gpu->metric);
    gpu->backend->ops->free(gpu->backend);
}

void adm_gpu_submit(AdmGpu *gpu, unsigned slot, const HvPicture *reference,
                    const HvPicture *distorted)
{
    GError *error = NULL;
    HvSubject subject = {reference, distorted, slot};
    const HvBackendOps *ops = gpu->backend->ops;
    must(ops->stage(gpu->backend, slot, reference, distorted, &error), &error);
    must(hv_adm_hip_ops.submit(gpu->metric, &subject, &error), &error);
    must(ops->seal(gpu->backend, slot, &error), &error);
}

void adm_gpu_collect(AdmGpu *gpu, unsigned slot, AdmResult *result)
{
    GError *error = NULL;
    HvSubject subject = {NULL, NULL, slot};
    must(gpu->backend->ops->wait(gpu->backend, slot, &error), &error);
    adm_collect(&hv_adm_hip_ops, gpu->metric, &subject, result);
}
