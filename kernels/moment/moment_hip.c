/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments on a GPU: their memory there, and the launches of their kernel (moment.hip). */
#include "kernels/hip/arena.h"
#include "kernels/hip/backend.h"
#include "kernels/moment/moment.h"
#include "kernels/moment/moment_device.h"

#include <assert.h>

enum { SUMS_BYTES = HV_MOMENT_PICTURES * sizeof(HvMomentSums) };

static_assert(sizeof(HvMomentSums) == HV_MOMENT_TOTALS * sizeof(HvMomentTotal),
              "as kernels add them up");

/* What one pair needs. */
typedef struct Slot {
    HvDevice totals;      /* one HvMomentSums a picture */
    HvMomentSums *result; /* pinned */
} Slot;

struct HvMetric {
    HvFormat format;
    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *kernel;
    unsigned slots;
    Slot *slot;
};

static gboolean make(HvMetric *m, GError **error)
{
    if (!(m->kernel = hv_hip_kernel(m->hip, "moment_plane", error)))
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

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    m->format = *setup->format;
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

static gboolean launch(HvMetric *m, const Slot *slot, const HvSlot *staged, unsigned picture,
                       GError **error)
{
    const HvStagedPlane *luma = &staged->plane[picture][0];
    const HvArgument arguments[] = {
        hv_pointer(luma->data),  hv_pointer(slot->totals + picture * sizeof(HvMomentSums)),
        hv_u32(m->format.width), hv_u32(m->format.height),
        hv_u32(m->format.depth), hv_u32(luma->pitch),
        hv_u32(luma->shift)};
    return hv_hip_launch(m->hip, m->kernel, hv_divide_up(m->format.width, HV_MOMENT_BLOCK),
                         hv_divide_up(m->format.height, HV_MOMENT_ROWS), 1, staged->stream,
                         arguments, G_N_ELEMENTS(arguments), error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    const Slot *slot = &m->slot[subject->slot];
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    if (!hv_hip_fill(m->hip, slot->totals, 0, SUMS_BYTES, staged->stream, error))
        return FALSE;
    for (unsigned p = 0; p < HV_MOMENT_PICTURES; p++)
        if (!launch(m, slot, staged, p, error))
            return FALSE;
    return hv_hip_download(m->hip, slot->result, slot->totals, SUMS_BYTES, staged->stream, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_moment_deliver(&m->format, m->slot[subject->slot].result, scores);
    return TRUE;
}

const HvMetricOps hv_moment_hip_ops = {
    .create = create,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};
