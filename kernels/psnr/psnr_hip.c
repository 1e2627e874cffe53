/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR on a GPU: its memory there, and the launches of its kernel (psnr.hip). */
#include "kernels/hip/metric.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr/psnr_device.h"

#include <assert.h>

static_assert(sizeof(HvPsnrTotal) == sizeof(uint64_t), "as kernels add them up");

static const char *const kernels[] = {"psnr_plane", NULL};

struct HvMetric {
    HvHipMetric gpu; /* whose result is a uint64_t a plane */
    HvPsnrPlan plan;
};

static gboolean launch_plane(HvMetric *m, unsigned slot, const HvSlot *staged, unsigned i,
                             GError **error)
{
    const HvStagedPlane *r = &staged->plane[0][i], *d = &staged->plane[1][i];
    unsigned width = m->plan.width[i], height = m->plan.height[i];
    const HvArgument arguments[] = {hv_pointer(r->data),
                                    hv_pointer(d->data),
                                    hv_pointer(m->gpu.result[slot].device + i * sizeof(uint64_t)),
                                    hv_u32(width),
                                    hv_u32(height),
                                    hv_u32(m->plan.depth),
                                    hv_u32(r->pitch),
                                    hv_u32(r->shift),
                                    hv_u32(r->step),
                                    hv_u32(d->pitch),
                                    hv_u32(d->shift),
                                    hv_u32(d->step)};
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[0], hv_divide_up(width, HV_PSNR_BLOCK),
                         hv_divide_up(height, HV_PSNR_ROWS), 1, staged->stream, arguments,
                         G_N_ELEMENTS(arguments), error);
}

static gboolean launch(HvMetric *m, unsigned slot, const HvSlot *staged, GError **error)
{
    for (unsigned i = 0; i < m->plan.n_planes; i++)
        if (!launch_plane(m, slot, staged, i, error))
            return FALSE;
    return TRUE;
}

static const HvHipMetricOps own = {
    .kernels = kernels,
    .adds = TRUE,
    .launch = launch,
};

static HvMetric *create(const HvMetricSetup *setup, const char *name, const HvPsnrPlan *plan,
                        GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    m->plan = *plan;
    m->gpu = (HvHipMetric){&own, name, HV_MAX_PLANES * sizeof(uint64_t)};
    return hv_hip_metric_make(m, setup, error);
}

static HvMetric *create_psnr(const HvMetricSetup *setup, GError **error)
{
    HvPsnrPlan plan;
    hv_psnr_plan_init(&plan, setup->params, setup->format);
    return create(setup, "psnr", &plan, error);
}

static HvMetric *create_float_psnr(const HvMetricSetup *setup, GError **error)
{
    HvPsnrPlan plan;
    hv_float_psnr_plan_init(&plan, setup->format);
    return create(setup, "float_psnr", &plan, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    m->plan.deliver(&m->plan, m->gpu.result[subject->slot].host, scores);
    return TRUE;
}

const HvMetricOps hv_psnr_hip_ops = {
    .create = create_psnr,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};

const HvMetricOps hv_float_psnr_hip_ops = {
    .create = create_float_psnr,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};
