/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR's parameters, the sums that a backend delivers, and the scores made from them: of the metric
 * `psnr` and of `float_psnr`. docs/psnr.md describes both. */
#ifndef HV_PSNR_H
#define HV_PSNR_H

#include "kernels/common/metric.h"

#include <stdint.h>

typedef struct HvPsnrParams {
    gboolean enable_chroma, enable_mse, enable_apsnr, reduced_hbd_peak;
    double min_sse;
} HvPsnrParams;

typedef struct HvPsnrPlan HvPsnrPlan;
struct HvPsnrPlan {
    HvPsnrParams params; /* all 0 for float_psnr */
    unsigned depth, n_planes;
    unsigned width[HV_MAX_PLANES], height[HV_MAX_PLANES]; /* what is measured of each plane */
    double peak, limit[HV_MAX_PLANES];
    /* Writes the scores of one pair in the order of their names and hands them over: the one float
     * tail of every backend. `sse` is the sum of squared differences of each plane. */
    void (*deliver)(const HvPsnrPlan *plan, const uint64_t *sse, HvScores *scores);
};

/* For formats that validate() has taken. */
void hv_psnr_plan_init(HvPsnrPlan *plan, const HvPsnrParams *params, const HvFormat *format);
void hv_float_psnr_plan_init(HvPsnrPlan *plan, const HvFormat *format);

extern const HvMetricInfo hv_psnr_info, hv_float_psnr_info;
extern const HvMetricOps hv_psnr_cpu_ops, hv_float_psnr_cpu_ops;
extern const HvMetricOps hv_psnr_hip_ops, hv_float_psnr_hip_ops;

#endif
