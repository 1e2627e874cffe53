/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM's and MS-SSIM's parameters, the sizes of what is compared, the sums that a backend delivers,
 * and the scores made from them. docs/ssim.md describes both metrics. */
#ifndef HV_SSIM_H
#define HV_SSIM_H

#include "kernels/common/metric.h"
#include "kernels/ssim/ssim_arith.h"

/* libvmaf's options of `float_ssim` and `float_ms_ssim`; the latter has no scale. */
typedef struct HvSsimParams {
    gboolean enable_lcs, enable_db, clip_db;
    int scale; /* 0: by the size */
} HvSsimParams;

typedef enum HvSsimKind {
    HV_SSIM_SINGLE, /* float_ssim */
    HV_SSIM_MULTI   /* float_ms_ssim: at five scales */
} HvSsimKind;

typedef struct HvSsimPlan {
    HvSsimParams params;
    HvSsimKind kind;
    int depth, width, height; /* of the picture */
    int factor;               /* by which it is made smaller before scale 0; 1: not */
    int scales, scale_width[HV_SSIM_SCALES], scale_height[HV_SSIM_SCALES];
    gboolean luminance[HV_SSIM_SCALES]; /* whether l is asked for there */
    HvSsimCare care[HV_SSIM_SCALES];    /* with which its windows are measured */
} HvSsimPlan;

/* The metric measures the format. */
void hv_ssim_plan_init(HvSsimPlan *plan, HvSsimKind kind, const HvSsimParams *params,
                       const HvFormat *format);

/* Whether what is measured at the scale is made from something larger. */
gboolean hv_ssim_is_made(const HvSsimPlan *plan, int scale);

/* What a stored sample, which has plan->depth bits, is multiplied with: 1 for 8 bits. */
float hv_ssim_unit(const HvSsimPlan *plan);

/* Writes the scores of one pair in the order of their names and hands them over: the one float tail
 * of every backend. Sums of what is not asked for are not read. */
void hv_ssim_deliver(const HvSsimPlan *plan, const HvSsimSums *sums, HvScores *scores);

extern const HvMetricInfo hv_float_ssim_info, hv_float_ms_ssim_info;
extern const HvMetricOps hv_float_ssim_cpu_ops, hv_float_ms_ssim_cpu_ops;
extern const HvMetricOps hv_float_ssim_hip_ops, hv_float_ms_ssim_hip_ops;

#endif
