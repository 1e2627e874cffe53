/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on a GPU: its memory there, and the launches of its kernels (adm.hip). */
#include "kernels/adm/adm.h"
#include "kernels/adm/adm_device.h"
#include "kernels/hip/arena.h"
#include "kernels/hip/backend.h"

#include <math.h>
#include <string.h>

enum { LUMA_REFERENCE, LUMA_DISTORTED, PICTURES };
enum { LOW_BANDS = HV_ADM_SCALES - 1 };
enum { SUMS_BYTES = HV_ADM_SCALES * sizeof(HvAdmSums) };

/* What one pair needs; `result` is pinned, the rest device memory. */
typedef struct Slot {
    HvDevice low[LOW_BANDS][PICTURES], totals;
    HvDevice buffers; /* the HvAdmBuffers that name them */
    HvDevice sums;
    HvAdmSums *result; /* of each scale */
    /* Whether totals are zeros: no pair's kernels were left unfinished. */
    gboolean clean;
} Slot;

struct HvMetric {
    HvAdmPlan plan;
    HvAdmFixed fixed;
    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *pyramid, *bands, *finish;
    HvDevice fixed_copy;
    unsigned slots;
    Slot *slot;
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
            if (!hv_arena_device(m->arena, bytes, &slot->low[scale][p], error))
                return FALSE;
    }
    slot->result = hv_arena_pinned(m->arena, SUMS_BYTES, error);
    return slot->result &&
           hv_arena_device(m->arena, totals_bytes(&m->fixed), &slot->totals, error) &&
           hv_arena_device(m->arena, SUMS_BYTES, &slot->sums, error);
}

/* Names the slot's memory to the kernels, by a struct that stays on the device. */
static gboolean make_buffers(HvMetric *m, unsigned i, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->staging, i);
    Slot *slot = &m->slot[i];
    HvAdmBuffers b = {.totals = hv_device_pointer(slot->totals)};
    for (int p = 0; p < PICTURES; p++) {
        b.luma[p] = hv_device_pointer(staged->plane[p][0].data);
        b.low0[p] = hv_device_pointer(slot->low[0][p]);
        b.low1[p] = hv_device_pointer(slot->low[1][p]);
        b.low2[p] = hv_device_pointer(slot->low[2][p]);
    }
    return hv_arena_buffers(m->arena, "HvAdmBuffers", &b, sizeof b, hv_adm_buffer_pointers,
                            HV_ADM_BUFFER_POINTERS, &slot->buffers, error);
}

static gboolean find_kernels(HvMetric *m, GError **error)
{
    return (m->pyramid = hv_hip_kernel(m->hip, "adm_pyramid", error)) &&
           (m->bands = hv_hip_kernel(m->hip, "adm_bands", error)) &&
           (m->finish = hv_hip_kernel(m->hip, "adm_finish", error));
}

static gboolean make(HvMetric *m, GError **error)
{
    fix(&m->fixed, &m->plan);
    if (!find_kernels(m, error) ||
        !hv_arena_constant(m->arena, &m->fixed, sizeof m->fixed, &m->fixed_copy, error))
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
    HvMetric *m = g_new0(HvMetric, 1);
    hv_adm_plan_init(&m->plan, setup->params, setup->format);
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

/* adm_finish leaves zeros, where it got to run. */
static gboolean clear_totals(HvMetric *m, Slot *slot, HvHipStream *stream, GError **error)
{
    gboolean clean = slot->clean;
    slot->clean = FALSE;
    return clean || hv_hip_fill(m->hip, slot->totals, 0, totals_bytes(&m->fixed), stream, error);
}

static gboolean launch(HvMetric *m, const Slot *slot, const HvSlot *staged, GError **error)
{
    const HvAdmFixed *fixed = &m->fixed;
    const HvStagedPlane *r = &staged->plane[LUMA_REFERENCE][0];
    const HvStagedPlane *d = &staged->plane[LUMA_DISTORTED][0];
    const HvArgument pictures[] = {hv_pointer(slot->buffers), hv_pointer(m->fixed_copy),
                                   hv_u32(r->pitch),          hv_u32(r->shift),
                                   hv_u32(d->pitch),          hv_u32(d->shift)};
    const HvArgument totals[] = {hv_pointer(m->fixed_copy), hv_pointer(slot->totals),
                                 hv_pointer(slot->sums)};
    unsigned columns = 0;
    for (int scale = 0; scale < HV_ADM_SCALES; scale++)
        columns = MAX(columns, fixed->scale[scale].tile_columns);
    unsigned rows = fixed->scale[0].first_tile_row;
    if (fixed->scale[0].tile_columns)
        rows += hv_divide_up(fixed->scale[0].bottom - fixed->scale[0].top, HV_ADM_TILE_ROWS);
    return hv_hip_launch(m->hip, m->pyramid,
                         hv_divide_up(fixed->scale[2].width, HV_ADM_PYRAMID_COLUMNS),
                         hv_divide_up(fixed->scale[2].height, HV_ADM_PYRAMID_ROWS), PICTURES,
                         staged->stream, pictures, G_N_ELEMENTS(pictures), error) &&
           hv_hip_launch(m->hip, m->bands, columns, rows, 1, staged->stream, pictures,
                         G_N_ELEMENTS(pictures), error) &&
           hv_hip_launch(m->hip, m->finish, HV_ADM_SCALES, 1, 1, staged->stream, totals,
                         G_N_ELEMENTS(totals), error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    Slot *slot = &m->slot[subject->slot];
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    return hv_staging_check_luma(m->staging, subject->slot, "adm", error) &&
           clear_totals(m, slot, staged->stream, error) && launch(m, slot, staged, error) &&
           hv_hip_download(m->hip, slot->result, slot->sums, SUMS_BYTES, staged->stream, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    Slot *slot = &m->slot[subject->slot];
    slot->clean = TRUE;
    hv_adm_deliver(&m->plan, slot->result, scores);
    return TRUE;
}

const HvMetricOps hv_adm_hip_ops = {
    .create = create,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};
