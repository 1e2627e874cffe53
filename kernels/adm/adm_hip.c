/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on a GPU: its memory there, and the launches of its kernels (adm.hip). */
#include "kernels/adm/adm.h"
#include "kernels/adm/adm_device.h"
#include "kernels/hip/metric.h"

#include <math.h>
#include <string.h>

enum { LUMA_REFERENCE, LUMA_DISTORTED, PICTURES };
enum { LOW_BANDS = HV_ADM_SCALES - 1 };
enum { PYRAMID, BANDS, FINISH };

static const char *const kernels[] = {"adm_pyramid", "adm_bands", "adm_finish", NULL};

/* What one pair needs beside its result, which is HvAdmSums of each scale. */
typedef struct Slot {
    HvDevice low[LOW_BANDS][PICTURES], totals;
    HvDevice buffers; /* the HvAdmBuffers that name them */
    /* Whether totals are zeros: no pair's kernels were left unfinished. */
    gboolean clean;
} Slot;

struct HvMetric {
    HvHipMetric gpu;
    HvAdmPlan plan;
    HvAdmFixed fixed;
    HvDevice fixed_copy;
    Slot *slot; /* of each slot */
};

static void fix_scale(HvAdmFixedScale *f, const HvAdmPlan *plan, int scale)
{
    const HvAdmScale *s = &plan->scale[scale];
    f->in_width = s->in_width;
    f->in_height = s->in_height;
    f->width = s->width;
    f->height = s->height;
    f->left = s->left;
    f->right = s->right;
    f->top = s->top;
    f->bottom = s->bottom;
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        f->i_factor[angle] = s->i_factor[angle];
        f->cube_shift[angle] = s->cube_shift[angle];
    }
    f->row_shift = s->row_shift;
    f->den_square_shift = hv_adm_den_square_shift[scale];
    f->den_cube_shift = s->den_cube_shift;
    f->den_row_shift = s->den_row_shift;
    f->vertical_shift = hv_adm_dwt_shift[scale][0];
    f->horizontal_shift = hv_adm_dwt_shift[scale][1];
    f->stride = (s->width + 63) & ~63;
}

/* Also cuts the picture: tiles of the last scale come first in the grid. */
static void fix(HvAdmFixed *fixed, const HvAdmPlan *plan)
{
    unsigned tile_row = 0, row = 0;
    double limit = plan->params.enhn_gain_limit;
    for (int scale = HV_ADM_SCALES - 1; scale >= 0; scale--) {
        HvAdmFixedScale *f = &fixed->scale[scale];
        fix_scale(f, plan, scale);
        f->first_row = row;
        f->first_tile_row = tile_row;
        row += f->bottom - f->top;
        if (scale == 0 && plan->params.skip_scale0)
            continue;
        f->tile_columns = hv_divide_up(f->right - (f->left & ~1),
                                       scale ? HV_ADM_TILE_COLUMNS : HV_ADM_TILE_COLUMNS0);
        tile_row += hv_divide_up(f->bottom - f->top, HV_ADM_TILE_ROWS);
    }
    fixed->limit = limit;
    fixed->whole_limit = limit == floor(limit) ? (int)limit : 0;
    fixed->depth = plan->depth;
    fixed->sample_bytes = plan->depth > 8 ? 2 : 1;
    fixed->additive = !plan->params.skip_aim;
}

/* Rows of totals: scale 0's come last. */
static size_t totals_bytes(const HvAdmFixed *fixed)
{
    const HvAdmFixedScale *f = &fixed->scale[0];
    return (f->first_row + f->bottom - f->top) * HV_ADM_TOTALS * sizeof(HvAdmTotal);
}

static gboolean make_memory(HvMetric *m, Slot *slot, GError **error)
{
    for (int scale = 0; scale < LOW_BANDS; scale++) {
        const HvAdmFixedScale *f = &m->fixed.scale[scale];
        size_t bytes = (size_t)f->stride * f->height * (scale ? sizeof(int32_t) : sizeof(int16_t));
        for (int p = 0; p < PICTURES; p++)
            if (!hv_arena_device(m->gpu.arena, bytes, &slot->low[scale][p], error))
                return FALSE;
    }
    return hv_arena_device(m->gpu.arena, totals_bytes(&m->fixed), &slot->totals, error);
}

/* Names the slot's memory to the kernels, by a struct that stays on the device. */
static gboolean make_buffers(HvMetric *m, unsigned i, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->gpu.staging, i);
    Slot *slot = &m->slot[i];
    HvAdmBuffers b = {.totals = hv_device_pointer(slot->totals)};
    for (int p = 0; p < PICTURES; p++) {
        b.luma[p] = hv_device_pointer(staged->plane[p][0].data);
        b.low0[p] = hv_device_pointer(slot->low[0][p]);
        b.low1[p] = hv_device_pointer(slot->low[1][p]);
        b.low2[p] = hv_device_pointer(slot->low[2][p]);
    }
    return hv_arena_buffers(m->gpu.arena, "HvAdmBuffers", &b, sizeof b, hv_adm_buffer_pointers,
                            HV_ADM_BUFFER_POINTERS, &slot->buffers, error);
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

/* adm_finish leaves zeros, where it got to run. */
static gboolean clear_totals(HvMetric *m, unsigned i, const HvSlot *staged, GError **error)
{
    Slot *slot = &m->slot[i];
    gboolean clean = slot->clean;
    slot->clean = FALSE;
    return clean ||
           hv_hip_fill(m->gpu.hip, slot->totals, 0, totals_bytes(&m->fixed), staged->stream, error);
}

static gboolean launch(HvMetric *m, unsigned i, const HvSlot *staged, GError **error)
{
    const Slot *slot = &m->slot[i];
    const HvAdmFixed *fixed = &m->fixed;
    const HvStagedPlane *r = &staged->plane[LUMA_REFERENCE][0];
    const HvStagedPlane *d = &staged->plane[LUMA_DISTORTED][0];
    const HvArgument pictures[] = {hv_pointer(slot->buffers), hv_pointer(m->fixed_copy),
                                   hv_u32(r->pitch),          hv_u32(r->shift),
                                   hv_u32(d->pitch),          hv_u32(d->shift)};
    const HvArgument totals[] = {hv_pointer(m->fixed_copy), hv_pointer(slot->totals),
                                 hv_pointer(m->gpu.result[i].device)};
    unsigned columns = 0;
    for (int scale = 0; scale < HV_ADM_SCALES; scale++)
        columns = MAX(columns, fixed->scale[scale].tile_columns);
    unsigned rows = fixed->scale[0].first_tile_row;
    if (fixed->scale[0].tile_columns)
        rows += hv_divide_up(fixed->scale[0].bottom - fixed->scale[0].top, HV_ADM_TILE_ROWS);
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[PYRAMID],
                         hv_divide_up(fixed->scale[2].width, HV_ADM_PYRAMID_COLUMNS),
                         hv_divide_up(fixed->scale[2].height, HV_ADM_PYRAMID_ROWS), PICTURES,
                         staged->stream, pictures, G_N_ELEMENTS(pictures), error) &&
           hv_hip_launch(m->gpu.hip, m->gpu.kernel[BANDS], columns, rows, 1, staged->stream,
                         pictures, G_N_ELEMENTS(pictures), error) &&
           hv_hip_launch(m->gpu.hip, m->gpu.kernel[FINISH], HV_ADM_SCALES, 1, 1, staged->stream,
                         totals, G_N_ELEMENTS(totals), error);
}

static const HvHipMetricOps own = {
    .kernels = kernels,
    .counts_in_32_bits = TRUE,
    .make = make,
    .make_slot = make_slot,
    .launch = launch,
    .before = clear_totals,
};

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_adm_plan_init(&m->plan, setup->params, setup->format);
    fix(&m->fixed, &m->plan);
    m->gpu = (HvHipMetric){&own, "adm", HV_ADM_SCALES * sizeof(HvAdmSums)};
    return hv_hip_metric_make(m, setup, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    m->slot[subject->slot].clean = TRUE;
    hv_adm_deliver(&m->plan, m->gpu.result[subject->slot].host, scores);
    return TRUE;
}

const HvMetricOps hv_adm_hip_ops = {
    .create = create,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};
