/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR on a GPU: its memory there, and the launches of its kernel (psnr.hip). */
#include "kernels/hip/arena.h"
#include "kernels/hip/backend.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr/psnr_device.h"

#include <assert.h>

enum { SUMS_BYTES = HV_MAX_PLANES * sizeof(uint64_t) };

static_assert(sizeof(HvPsnrTotal) == sizeof(uint64_t), "as kernels add them up");

/* What one pair needs. */
typedef struct Slot {
    HvDevice totals;  /* one a plane */
    uint64_t *result; /* pinned */
} Slot;

struct HvMetric {
    HvPsnrPlan plan;
    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *kernel;
    unsigned slots;
    Slot *slot;
};

static gboolean make(HvMetric *m, GError **error)
{
    if (!(m->kernel = hv_hip_kernel(m->hip, "psnr_plane", error)))
        return FALSE;
    for (unsigned i = 0; i < m->slots; i++) {
        Slot *slot = &m->slot[i];
        slot->result = hv_arena_pinned(m->arena, SUMS_BYTES, error);
        if (!slot->result || !hv_arena_device(m->arena, SUMS_BYTES, &slot->totals, error))
            return FALSE;
    }
    return TRUE;
}

static void destroy(HvMetric *m)
{
    hv_arena_free(m->arena);
    g_free(m->slot);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, const HvPsnrPlan *plan, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    m->plan = *plan;
    m->staging = hv_hip_backend_staging(setup->backend);
    m->hip = hv_staging_hip(m->staging);
    m->arena = hv_arena_new(m->staging);
    m->slots = hv_staging_slots(m->staging);
    m->slot = g_new0(Slot, m->slots);
    if (!make(m, error)) {
        destroy(m);
        return NULL;
    }
    return m;
}

static HvMetric *create_psnr(const HvMetricSetup *setup, GError **error)
{
    HvPsnrPlan plan;
    hv_psnr_plan_init(&plan, setup->params, setup->format);
    return create(setup, &plan, error);
}

static HvMetric *create_float_psnr(const HvMetricSetup *setup, GError **error)
{
    HvPsnrPlan plan;
    hv_float_psnr_plan_init(&plan, setup->format);
    return create(setup, &plan, error);
}

static gboolean launch(HvMetric *m, const Slot *slot, const HvSlot *staged, unsigned i,
                       GError **error)
{
    const HvStagedPlane *r = &staged->plane[0][i], *d = &staged->plane[1][i];
    unsigned width = m->plan.width[i], height = m->plan.height[i];
    const HvArgument arguments[] = {
        hv_pointer(r->data), hv_pointer(d->data), hv_pointer(slot->totals + i * sizeof(uint64_t)),
        hv_u32(width),       hv_u32(height),      hv_u32(m->plan.depth),
        hv_u32(r->pitch),    hv_u32(r->shift),    hv_u32(r->step),
        hv_u32(d->pitch),    hv_u32(d->shift),    hv_u32(d->step)};
    return hv_hip_launch(m->hip, m->kernel, hv_divide_up(width, HV_PSNR_BLOCK),
                         hv_divide_up(height, HV_PSNR_ROWS), 1, staged->stream, arguments,
                         G_N_ELEMENTS(arguments), error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    const Slot *slot = &m->slot[subject->slot];
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    if (!hv_hip_fill(m->hip, slot->totals, 0, SUMS_BYTES, staged->stream, error))
        return FALSE;
    for (unsigned i = 0; i < m->plan.n_planes; i++)
        if (!launch(m, slot, staged, i, error))
            return FALSE;
    return hv_hip_download(m->hip, slot->result, slot->totals, SUMS_BYTES, staged->stream, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    m->plan.deliver(&m->plan, m->slot[subject->slot].result, scores);
    return TRUE;
}

const HvMetricOps hv_psnr_hip_ops = {
    .create = create_psnr,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};

const HvMetricOps hv_float_psnr_hip_ops = {
    .create = create_float_psnr,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};
