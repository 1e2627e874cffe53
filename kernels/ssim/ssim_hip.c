/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM and MS-SSIM on a GPU: their memory there, and the launches of their kernels (ssim.hip). */
#include "kernels/hip/arena.h"
#include "kernels/hip/backend.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_device.h"

#include <assert.h>

enum { REFERENCE, DISTORTED, PICTURES };

static_assert(sizeof(HvSsimSums) == HV_SSIM_TOTALS * sizeof(HvSsimTotal), "as kernels add them up");

typedef struct Kernels {
    const HvHipKernel *windows_luma, *windows_image, *halve_luma, *halve_image, *box;
} Kernels;

/* What one pair needs. */
typedef struct Slot {
    HvDevice image[HV_SSIM_SCALES]; /* both pictures of scales that are made */
    HvDevice totals;                /* HvSsimSums of each scale */
    HvSsimSums *result;             /* pinned */
} Slot;

struct HvMetric {
    HvSsimPlan plan;
    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    Kernels kernel;
    unsigned slots;
    Slot *slot;
};

static const char *name_of(const HvMetric *m)
{
    return m->plan.kind == HV_SSIM_SINGLE ? "float_ssim" : "float_ms_ssim";
}

static size_t sums_bytes(const HvMetric *m)
{
    return m->plan.scales * sizeof(HvSsimSums);
}

/* Of an image's rows, in samples. */
static uint32_t stride_of(const HvSsimPlan *plan, int scale)
{
    return ((uint32_t)plan->scale_width[scale] + 63) & ~63u;
}

static size_t picture_bytes(const HvSsimPlan *plan, int scale)
{
    return (size_t)stride_of(plan, scale) * plan->scale_height[scale] * sizeof(float);
}

static gboolean make_slot(HvMetric *m, Slot *slot, GError **error)
{
    slot->result = hv_arena_pinned(m->arena, sums_bytes(m), error);
    if (!slot->result || !hv_arena_device(m->arena, sums_bytes(m), &slot->totals, error))
        return FALSE;
    for (int scale = 0; scale < m->plan.scales; scale++)
        if (hv_ssim_is_made(&m->plan, scale) &&
            !hv_arena_device(m->arena, PICTURES * picture_bytes(&m->plan, scale),
                             &slot->image[scale], error))
            return FALSE;
    return TRUE;
}

static gboolean find_kernels(HvMetric *m, GError **error)
{
    const struct {
        const HvHipKernel **kernel;
        const char *name;
    } wanted[] = {{&m->kernel.windows_luma, "ssim_windows_luma"},
                  {&m->kernel.windows_image, "ssim_windows_image"},
                  {&m->kernel.halve_luma, "ssim_halve_luma"},
                  {&m->kernel.halve_image, "ssim_halve_image"},
                  {&m->kernel.box, "ssim_box"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(wanted); i++)
        if (!(*wanted[i].kernel = hv_hip_kernel(m->hip, wanted[i].name, error)))
            return FALSE;
    return TRUE;
}

static gboolean make(HvMetric *m, GError **error)
{
    if (!find_kernels(m, error))
        return FALSE;
    for (unsigned i = 0; i < m->slots; i++)
        if (!make_slot(m, &m->slot[i], error))
            return FALSE;
    return TRUE;
}

static void destroy(HvMetric *m)
{
    hv_arena_free(m->arena);
    g_free(m->slot);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, HvSsimKind kind, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_ssim_plan_init(&m->plan, kind, setup->params, setup->format);
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

static HvMetric *create_single(const HvMetricSetup *setup, GError **error)
{
    return create(setup, HV_SSIM_SINGLE, error);
}

static HvMetric *create_multi(const HvMetricSetup *setup, GError **error)
{
    return create(setup, HV_SSIM_MULTI, error);
}

/* A float argument. */
static HvArgument hv_f32(float value)
{
    union {
        float value;
        uint32_t bits;
    } number = {value};
    return hv_u32(number.bits);
}

/* What is made of each staged picture: smaller by a whole factor, or scale 1. */
static gboolean launch_luma(HvMetric *m, const Slot *slot, const HvSlot *staged, int picture,
                            int scale, GError **error)
{
    const HvSsimPlan *plan = &m->plan;
    const HvStagedPlane *in = &staged->plane[picture][0];
    unsigned width = plan->scale_width[scale], height = plan->scale_height[scale];
    HvDevice out = slot->image[scale] + picture * picture_bytes(plan, scale);
    float weight = scale ? 1.0f : 1.0f / (float)(plan->factor * plan->factor);
    /* the last three are the factor's */
    const HvArgument arguments[] = {
        hv_pointer(in->data), hv_pointer(out),     hv_u32(plan->width),
        hv_u32(plan->height), hv_u32(plan->depth), hv_f32(weight * hv_ssim_unit(plan)),
        hv_u32(in->pitch),    hv_u32(in->shift),   hv_u32(stride_of(plan, scale)),
        hv_u32(width),        hv_u32(height),      hv_u32(plan->factor)};
    return hv_hip_launch(m->hip, scale ? m->kernel.halve_luma : m->kernel.box,
                         hv_divide_up(width, HV_SSIM_SMALL_COLUMNS),
                         hv_divide_up(height, HV_SSIM_SMALL_ROWS), 1, staged->stream, arguments,
                         G_N_ELEMENTS(arguments) - (scale ? 3 : 0), error);
}

/* A scale made from the one before it, both pictures. */
static gboolean launch_halve(HvMetric *m, const Slot *slot, const HvSlot *staged, int scale,
                             GError **error)
{
    const HvSsimPlan *plan = &m->plan;
    const HvArgument arguments[] = {
        hv_pointer(slot->image[scale - 1]),   hv_pointer(slot->image[scale]),
        hv_u32(plan->scale_width[scale - 1]), hv_u32(plan->scale_height[scale - 1]),
        hv_u32(stride_of(plan, scale - 1)),   hv_u32(stride_of(plan, scale))};
    return hv_hip_launch(m->hip, m->kernel.halve_image,
                         hv_divide_up(plan->scale_width[scale], HV_SSIM_SMALL_COLUMNS),
                         hv_divide_up(plan->scale_height[scale], HV_SSIM_SMALL_ROWS), PICTURES,
                         staged->stream, arguments, G_N_ELEMENTS(arguments), error);
}

static gboolean launch_smaller(HvMetric *m, const Slot *slot, const HvSlot *staged, int scale,
                               GError **error)
{
    if (!hv_ssim_is_made(&m->plan, scale))
        return TRUE;
    if (scale && hv_ssim_is_made(&m->plan, scale - 1))
        return launch_halve(m, slot, staged, scale, error);
    return launch_luma(m, slot, staged, REFERENCE, scale, error) &&
           launch_luma(m, slot, staged, DISTORTED, scale, error);
}

static gboolean launch_windows(HvMetric *m, const Slot *slot, const HvSlot *staged, int scale,
                               GError **error)
{
    const HvSsimPlan *plan = &m->plan;
    const HvStagedPlane *r = &staged->plane[REFERENCE][0], *d = &staged->plane[DISTORTED][0];
    unsigned columns = plan->scale_width[scale], rows = plan->scale_height[scale];
    HvArgument totals = hv_pointer(slot->totals + scale * sizeof(HvSsimSums));
    HvArgument width = hv_u32(columns), height = hv_u32(rows);
    HvArgument wanted = hv_u32((plan->exact[scale] ? HV_SSIM_EXACT : 0) |
                               (plan->luminance[scale] ? HV_SSIM_LUMINANCE : 0));
    const HvArgument of_luma[] = {hv_pointer(r->data),
                                  hv_pointer(d->data),
                                  totals,
                                  width,
                                  height,
                                  hv_u32(plan->depth),
                                  hv_f32(hv_ssim_unit(plan)),
                                  wanted,
                                  hv_u32(r->pitch),
                                  hv_u32(r->shift),
                                  hv_u32(d->pitch),
                                  hv_u32(d->shift)};
    const HvArgument of_image[] = {hv_pointer(slot->image[scale]), totals, width, height,
                                   hv_u32(stride_of(plan, scale)), wanted};
    gboolean made = hv_ssim_is_made(plan, scale);
    return hv_hip_launch(m->hip, made ? m->kernel.windows_image : m->kernel.windows_luma,
                         hv_divide_up(columns - HV_SSIM_TAPS + 1, HV_SSIM_TILE_COLUMNS),
                         hv_divide_up(rows - HV_SSIM_TAPS + 1, HV_SSIM_TILE_ROWS), 1,
                         staged->stream, made ? of_image : of_luma,
                         made ? G_N_ELEMENTS(of_image) : G_N_ELEMENTS(of_luma), error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    const Slot *slot = &m->slot[subject->slot];
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    if (!hv_staging_check_luma(m->staging, subject->slot, name_of(m), error) ||
        !hv_hip_fill(m->hip, slot->totals, 0, sums_bytes(m), staged->stream, error))
        return FALSE;
    for (int scale = 0; scale < m->plan.scales; scale++)
        if (!launch_smaller(m, slot, staged, scale, error) ||
            !launch_windows(m, slot, staged, scale, error))
            return FALSE;
    return hv_hip_download(m->hip, slot->result, slot->totals, sums_bytes(m), staged->stream,
                           error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_ssim_deliver(&m->plan, m->slot[subject->slot].result, scores);
    return TRUE;
}

const HvMetricOps hv_float_ssim_hip_ops = {
    .create = create_single,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};

const HvMetricOps hv_float_ms_ssim_hip_ops = {
    .create = create_multi,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};
