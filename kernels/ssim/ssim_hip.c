/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM and MS-SSIM on a GPU: their memory there, and the launches of their kernels (ssim.hip). */
#include "kernels/hip/metric.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_device.h"

#include <assert.h>

enum { REFERENCE, DISTORTED, PICTURES };

static_assert(sizeof(HvSsimSums) == HV_SSIM_TOTALS * sizeof(HvSsimTotal), "as kernels add them up");

enum { WINDOWS_LUMA, WINDOWS_IMAGE, HALVE_LUMA, HALVE_IMAGE, BOX };

static const char *const kernels[] = {"ssim_windows_luma", "ssim_windows_image", "ssim_halve_luma",
                                      "ssim_halve_image",  "ssim_box",           NULL};

/* What one pair needs beside its result, which is HvSsimSums of each scale. */
typedef struct Slot {
    HvDevice image[HV_SSIM_SCALES]; /* both pictures of scales that are made */
} Slot;

struct HvMetric {
    HvHipMetric gpu;
    HvSsimPlan plan;
    Slot *slot; /* of each slot */
};

/* Of an image's rows, in samples. */
static uint32_t stride_of(const HvSsimPlan *plan, int scale)
{
    return ((uint32_t)plan->scale_width[scale] + 63) & ~63u;
}

static size_t picture_bytes(const HvSsimPlan *plan, int scale)
{
    return (size_t)stride_of(plan, scale) * plan->scale_height[scale] * sizeof(float);
}

static gboolean make(HvMetric *m, GError **error)
{
    m->slot = hv_arena_host(m->gpu.arena, m->gpu.slots * sizeof(Slot));
    return TRUE;
}

static gboolean make_slot(HvMetric *m, unsigned i, GError **error)
{
    for (int scale = 0; scale < m->plan.scales; scale++)
        if (hv_ssim_is_made(&m->plan, scale) &&
            !hv_arena_device(m->gpu.arena, PICTURES * picture_bytes(&m->plan, scale),
                             &m->slot[i].image[scale], error))
            return FALSE;
    return TRUE;
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
    return hv_hip_launch(m->gpu.hip, scale ? m->gpu.kernel[HALVE_LUMA] : m->gpu.kernel[BOX],
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
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[HALVE_IMAGE],
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

static gboolean launch_windows(HvMetric *m, unsigned slot, const HvSlot *staged, int scale,
                               GError **error)
{
    const HvSsimPlan *plan = &m->plan;
    const HvStagedPlane *r = &staged->plane[REFERENCE][0], *d = &staged->plane[DISTORTED][0];
    unsigned columns = plan->scale_width[scale], rows = plan->scale_height[scale];
    HvArgument totals = hv_pointer(m->gpu.result[slot].device + scale * sizeof(HvSsimSums));
    HvArgument width = hv_u32(columns), height = hv_u32(rows);
    HvArgument wanted =
        hv_u32((unsigned)plan->care[scale] | (plan->luminance[scale] ? HV_SSIM_LUMINANCE : 0));
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
    const HvArgument of_image[] = {hv_pointer(m->slot[slot].image[scale]), totals, width, height,
                                   hv_u32(stride_of(plan, scale)),         wanted};
    gboolean made = hv_ssim_is_made(plan, scale);
    return hv_hip_launch(
        m->gpu.hip, made ? m->gpu.kernel[WINDOWS_IMAGE] : m->gpu.kernel[WINDOWS_LUMA],
        hv_divide_up(columns - HV_SSIM_TAPS + 1, HV_SSIM_TILE_COLUMNS),
        hv_divide_up(rows - HV_SSIM_TAPS + 1, HV_SSIM_TILE_ROWS), 1, staged->stream,
        made ? of_image : of_luma, made ? G_N_ELEMENTS(of_image) : G_N_ELEMENTS(of_luma), error);
}

static gboolean launch(HvMetric *m, unsigned slot, const HvSlot *staged, GError **error)
{
    for (int scale = 0; scale < m->plan.scales; scale++)
        if (!launch_smaller(m, &m->slot[slot], staged, scale, error) ||
            !launch_windows(m, slot, staged, scale, error))
            return FALSE;
    return TRUE;
}

static const HvHipMetricOps own = {
    .kernels = kernels,
    .adds = TRUE,
    .counts_in_32_bits = TRUE,
    .make = make,
    .make_slot = make_slot,
    .launch = launch,
};

static HvMetric *create(const HvMetricSetup *setup, HvSsimKind kind, const char *name,
                        GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_ssim_plan_init(&m->plan, kind, setup->params, setup->format);
    m->gpu = (HvHipMetric){&own, name, m->plan.scales * sizeof(HvSsimSums)};
    return hv_hip_metric_make(m, setup, error);
}

static HvMetric *create_single(const HvMetricSetup *setup, GError **error)
{
    return create(setup, HV_SSIM_SINGLE, "float_ssim", error);
}

static HvMetric *create_multi(const HvMetricSetup *setup, GError **error)
{
    return create(setup, HV_SSIM_MULTI, "float_ms_ssim", error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_ssim_deliver(&m->plan, m->gpu.result[subject->slot].host, scores);
    return TRUE;
}

const HvMetricOps hv_float_ssim_hip_ops = {
    .create = create_single,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};

const HvMetricOps hv_float_ms_ssim_hip_ops = {
    .create = create_multi,
    .submit = hv_hip_metric_submit,
    .collect = collect,
    .destroy = hv_hip_metric_destroy,
};
