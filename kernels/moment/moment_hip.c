/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments on a GPU: their memory there, and the launches of their kernel (moment.hip). */
#include "kernels/hip/metric.h"
#include "kernels/moment/moment.h"
#include "kernels/moment/moment_device.h"

#include <assert.h>

static_assert(sizeof(HvMomentSums) == HV_MOMENT_TOTALS * sizeof(HvMomentTotal),
              "as kernels add them up");

static const char *const kernels[] = {"moment_plane", NULL};

struct HvMetric {
    HvHipMetric gpu; /* whose result is HvMomentSums of each picture */
    HvFormat format;
};

static gboolean launch_picture(HvMetric *m, unsigned slot, const HvSlot *staged, unsigned picture,
                               GError **error)
{
    const HvStagedPlane *luma = &staged->plane[picture][0];
    const HvArgument arguments[] = {
        hv_pointer(luma->data),
        hv_pointer(m->gpu.result[slot].device + picture * sizeof(HvMomentSums)),
        hv_u32(m->format.width),
        hv_u32(m->format.height),
        hv_u32(m->format.depth),
        hv_u32(luma->pitch),
        hv_u32(luma->shift)};
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[0],
                         hv_divide_up(m->format.width, HV_MOMENT_BLOCK),
                         hv_divide_up(m->format.height, HV_MOMENT_ROWS), 1, staged->stream,
                         arguments, G_N_ELEMENTS(arguments), error);
}

static gboolean launch(HvMetric *m, unsigned slot, const HvSlot *staged, GError **error)
{
    for (unsigned p = 0; p < HV_MOMENT_PICTURES; p++)
        if (!launch_picture(m, slot, staged, p, error))
            return FALSE;
    return TRUE;
}

static const HvHipMetricOps own = {
    .kernels = kernels,
    .adds = TRUE,
    .launch = launch,
};

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    m->format = *setup->format;
    m->gpu = (HvHipMetric){&own, "float_moment", HV_MOMENT_PICTURES * sizeof(HvMomentSums)};
    return hv_hip_metric_make(m, setup, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_moment_deliver(&m->format, m->gpu.result[subject->slot].host, scores);
    return TRUE;
}

const HvMetricOps hv_moment_hip_ops = {
    .create = create,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};
