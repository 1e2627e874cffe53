/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF on a GPU: its memory there, and the launches of its kernels (vif.hip). */
#include "kernels/hip/metric.h"
#include "kernels/vif/vif.h"
#include "kernels/vif/vif_device.h"

enum { REFERENCE, DISTORTED, PICTURES };
enum { IMAGES = HV_VIF_SCALES - 1 };

/* The kernel that makes the picture of each scale after the first, and the one for their sums. */
static const char *const kernels[] = {"vif_next0", "vif_next1", "vif_next2", "vif_sums", NULL};

/* What one pair needs beside its result, which is HvVifSums of each scale. */
typedef struct Slot {
    HvDevice image[IMAGES][PICTURES];
    HvDevice buffers; /* the HvVifBuffers that name them */
} Slot;

struct HvMetric {
    HvHipMetric gpu;
    HvVifPlan plan;
    HvVifFixed fixed;
    HvDevice fixed_copy;
    Slot *slot; /* of each slot */
};

/* Also cuts the picture: tiles of the last scale come first in the grid. */
static void fix(HvVifFixed *fixed, const HvVifPlan *plan)
{
    unsigned tile_row = 0;
    for (int scale = HV_VIF_SCALES - 1; scale >= 0; scale--) {
        fixed->width[scale] = plan->width[scale];
        fixed->height[scale] = plan->height[scale];
        fixed->stride[scale] = (plan->width[scale] + 127) & ~127;
        fixed->first_tile_row[scale] = tile_row;
        if (scale == 0 && plan->params.skip_scale0)
            continue;
        fixed->tile_columns[scale] = hv_divide_up(plan->width[scale], HV_VIF_TILE_COLUMNS);
        tile_row += hv_divide_up(plan->height[scale], HV_VIF_TILE_ROWS);
    }
    fixed->depth = plan->depth;
    fixed->sample_bytes = plan->depth > 8 ? 2 : 1;
    fixed->gain_limit = plan->params.enhn_gain_limit;
    fixed->log = hv_vif_log_pieces;
}

static gboolean make_memory(HvMetric *m, Slot *slot, GError **error)
{
    const HvVifFixed *fixed = &m->fixed;
    for (int i = 0; i < IMAGES; i++)
        for (int p = 0; p < PICTURES; p++) {
            size_t samples = (size_t)fixed->stride[i + 1] * fixed->height[i + 1];
            if (!hv_arena_device(m->gpu.arena, samples * sizeof(uint16_t), &slot->image[i][p],
                                 error))
                return FALSE;
        }
    return TRUE;
}

/* Names the slot's memory to the kernels, by a struct that stays on the device. */
static gboolean make_buffers(HvMetric *m, unsigned i, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->gpu.staging, i);
    Slot *slot = &m->slot[i];
    HvVifBuffers b = {.totals = hv_device_pointer(m->gpu.result[i].device)};
    for (int p = 0; p < PICTURES; p++) {
        b.luma[p] = hv_device_pointer(staged->plane[p][0].data);
        for (int k = 0; k < IMAGES; k++)
            b.image[k][p] = hv_device_pointer(slot->image[k][p]);
    }
    return hv_arena_buffers(m->gpu.arena, "HvVifBuffers", &b, sizeof b, hv_vif_buffer_pointers,
                            HV_VIF_BUFFER_POINTERS, &slot->buffers, error);
}

static gboolean make(HvMetric *m, GError **error)
{
    m->slot = hv_arena_host(m->gpu.arena, m->gpu.slots * sizeof(Slot));
    return hv_arena_constant(m->gpu.arena, &m->fixed, sizeof m->fixed, &m->fixed_copy, error);
}

static gboolean make_slot(HvMetric *m, unsigned i, GError **error)
{
    return make_memory(m, &m->slot[i], error) && make_buffers(m, i, error);
}

/* Makes the picture of the scale after this one. Pictures have a pitch and a shift at scale 0 only.
 */
static gboolean launch_next(HvMetric *m, const HvSlot *staged, int scale,
                            const HvArgument *arguments, unsigned n, GError **error)
{
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[scale],
                         hv_divide_up(m->plan.width[scale + 1], HV_VIF_NEXT_COLUMNS),
                         hv_divide_up(m->plan.height[scale + 1], HV_VIF_NEXT_ROWS), 1,
                         staged->stream, arguments, scale ? 2 : n, error);
}

static gboolean launch(HvMetric *m, unsigned i, const HvSlot *staged, GError **error)
{
    const HvStagedPlane *r = &staged->plane[REFERENCE][0], *d = &staged->plane[DISTORTED][0];
    const HvArgument arguments[] = {hv_pointer(m->slot[i].buffers),
                                    hv_pointer(m->fixed_copy),
                                    hv_u32(r->pitch),
                                    hv_u32(r->shift),
                                    hv_u32(d->pitch),
                                    hv_u32(d->shift)};
    const HvVifFixed *fixed = &m->fixed;
    unsigned columns = MAX(fixed->tile_columns[0], fixed->tile_columns[1]);
    unsigned rows = fixed->first_tile_row[0];
    if (fixed->tile_columns[0])
        rows += hv_divide_up(fixed->height[0], HV_VIF_TILE_ROWS);
    for (int scale = 0; scale < IMAGES; scale++)
        if (!launch_next(m, staged, scale, arguments, G_N_ELEMENTS(arguments), error))
            return FALSE;
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[IMAGES], columns, rows, 1, staged->stream,
                         arguments, G_N_ELEMENTS(arguments), error);
}

static const HvHipMetricOps own = {
    .kernels = kernels,
    .adds = TRUE,
    .counts_in_32_bits = TRUE,
    .make = make,
    .make_slot = make_slot,
    .launch = launch,
};

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_vif_plan_init(&m->plan, setup->params, setup->format);
    fix(&m->fixed, &m->plan);
    m->gpu = (HvHipMetric){&own, "vif", HV_VIF_SCALES * sizeof(HvVifSums)};
    return hv_hip_metric_make(m, setup, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_vif_deliver(&m->plan, m->gpu.result[subject->slot].host, scores);
    return TRUE;
}

const HvMetricOps hv_vif_hip_ops = {
    .create = create,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};
