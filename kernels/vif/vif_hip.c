/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF on a GPU: its memory there, and the launches of its kernels (vif.hip). */
#include "kernels/hip/arena.h"
#include "kernels/hip/backend.h"
#include "kernels/vif/vif.h"
#include "kernels/vif/vif_device.h"

enum { REFERENCE, DISTORTED, PICTURES };
enum { IMAGES = HV_VIF_SCALES - 1 };

enum { SUMS_BYTES = HV_VIF_SCALES * sizeof(HvVifSums) };

/* What one pair needs; `result` is pinned, the rest device memory. */
typedef struct Slot {
    HvDevice image[IMAGES][PICTURES], totals;
    HvDevice buffers;  /* the HvVifBuffers that name them */
    HvVifSums *result; /* of each scale */
} Slot;

struct HvMetric {
    HvVifPlan plan;
    HvVifFixed fixed;
    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *kernel[HV_VIF_SCALES];
    HvDevice fixed_copy, log_table;
    unsigned slots;
    Slot *slot;
};

static void fix(HvVifFixed *fixed, const HvVifPlan *plan)
{
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        fixed->width[scale] = plan->width[scale];
        fixed->height[scale] = plan->height[scale];
        fixed->stride[scale] = (plan->width[scale] + 127) & ~127;
    }
    fixed->depth = plan->depth;
    fixed->sample_bytes = plan->depth > 8 ? 2 : 1;
    fixed->skip_scale0 = plan->params.skip_scale0;
    fixed->gain_limit = plan->params.enhn_gain_limit;
}

static gboolean make_memory(HvMetric *m, Slot *slot, GError **error)
{
    const HvVifFixed *fixed = &m->fixed;
    for (int i = 0; i < IMAGES; i++)
        for (int p = 0; p < PICTURES; p++) {
            size_t samples = (size_t)fixed->stride[i + 1] * fixed->height[i + 1];
            if (!hv_arena_device(m->arena, samples * sizeof(uint16_t), &slot->image[i][p], error))
                return FALSE;
        }
    slot->result = hv_arena_pinned(m->arena, SUMS_BYTES, error);
    return slot->result && hv_arena_device(m->arena, SUMS_BYTES, &slot->totals, error);
}

/* Names the slot's memory to the kernels, by a struct that stays on the device. */
static gboolean make_buffers(HvMetric *m, unsigned i, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->staging, i);
    Slot *slot = &m->slot[i];
    HvVifBuffers b = {.totals = hv_device_pointer(slot->totals),
                      .log_table = hv_device_pointer(m->log_table)};
    for (int p = 0; p < PICTURES; p++) {
        b.luma[p] = hv_device_pointer(staged->plane[p][0].data);
        for (int k = 0; k < IMAGES; k++)
            b.image[k][p] = hv_device_pointer(slot->image[k][p]);
    }
    return hv_arena_buffers(m->arena, "HvVifBuffers", &b, sizeof b, hv_vif_buffer_pointers,
                            HV_VIF_BUFFER_POINTERS, &slot->buffers, error);
}

static gboolean find_kernels(HvMetric *m, GError **error)
{
    static const char *const names[] = {"vif_scale0", "vif_scale1", "vif_scale2", "vif_scale3"};
    for (int scale = 0; scale < HV_VIF_SCALES; scale++)
        if (!(m->kernel[scale] = hv_hip_kernel(m->hip, names[scale], error)))
            return FALSE;
    return TRUE;
}

static gboolean make(HvMetric *m, const uint16_t *log_table, GError **error)
{
    fix(&m->fixed, &m->plan);
    if (!find_kernels(m, error) ||
        !hv_arena_constant(m->arena, &m->fixed, sizeof m->fixed, &m->fixed_copy, error) ||
        !hv_arena_constant(m->arena, log_table, HV_VIF_LOG_SIZE * sizeof *log_table, &m->log_table,
                           error))
        return FALSE;
    for (unsigned i = 0; i < m->slots; i++)
        if (!make_memory(m, &m->slot[i], error) || !make_buffers(m, i, error))
            return FALSE;
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
    const uint16_t *log_table = hv_vif_log_table(error);
    if (!log_table)
        return NULL;
    HvMetric *m = g_new0(HvMetric, 1);
    hv_vif_plan_init(&m->plan, setup->params, setup->format);
    m->staging = hv_hip_backend_staging(setup->backend);
    m->hip = hv_staging_hip(m->staging);
    m->arena = hv_arena_new(m->staging);
    m->slots = hv_staging_slots(m->staging);
    m->slot = g_new0(Slot, m->slots);
    if (!make(m, log_table, error)) {
        destroy(m);
        return NULL;
    }
    return m;
}

static gboolean launch(HvMetric *m, const Slot *slot, const HvSlot *staged, int scale,
                       GError **error)
{
    const HvStagedPlane *r = &staged->plane[REFERENCE][0], *d = &staged->plane[DISTORTED][0];
    const HvArgument arguments[] = {hv_pointer(slot->buffers), hv_pointer(m->fixed_copy),
                                    hv_u32(r->pitch),          hv_u32(r->shift),
                                    hv_u32(d->pitch),          hv_u32(d->shift)};
    return hv_hip_launch(m->hip, m->kernel[scale],
                         hv_divide_up(m->plan.width[scale], HV_VIF_TILE_COLUMNS),
                         hv_divide_up(m->plan.height[scale], HV_VIF_TILE_ROWS), 1, staged->stream,
                         arguments, scale ? 2 : G_N_ELEMENTS(arguments), error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    const Slot *slot = &m->slot[subject->slot];
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    if (!hv_staging_check_luma(m->staging, subject->slot, "vif", error) ||
        !hv_hip_fill(m->hip, slot->totals, 0, SUMS_BYTES, staged->stream, error))
        return FALSE;
    for (int scale = 0; scale < HV_VIF_SCALES; scale++)
        if (!launch(m, slot, staged, scale, error))
            return FALSE;
    return hv_hip_download(m->hip, slot->result, slot->totals, SUMS_BYTES, staged->stream, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_vif_deliver(&m->plan, m->slot[subject->slot].result, scores);
    return TRUE;
}

const HvMetricOps hv_vif_hip_ops = {
    .create = create,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};
