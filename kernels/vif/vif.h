/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's parameters, its filters, the sums that a backend delivers, and the scores made from them.
 * docs/vif.md describes the metric. */
#ifndef HV_VIF_H
#define HV_VIF_H

#include "kernels/common/metric.h"
#include "kernels/vif/vif_arith.h"

typedef struct HvVifParams {
    gboolean debug, skip_scale0;
    double enhn_gain_limit;
} HvVifParams;

/* A symmetric filter of 2 * half + 1 taps, the middle one first; all taps add up to 2^16. */
typedef struct HvVifFilter {
    int half;
    uint16_t tap[HV_VIF_MAX_HALF + 1];
} HvVifFilter;

extern const HvVifFilter hv_vif_filter[HV_VIF_SCALES];

typedef struct HvVifPlan {
    HvVifParams params;
    int width[HV_VIF_SCALES], height[HV_VIF_SCALES], depth;
} HvVifPlan;

/* The size is at least 16x16. */
void hv_vif_plan_init(HvVifPlan *plan, const HvVifParams *params, const HvFormat *format);

/* round(log2f(i) * 2048) for i from HV_VIF_LOG_FIRST on, HV_VIF_LOG_SIZE entries and one of
 * padding; made once, never freed. Any thread. NULL and an error where this machine's C library
 * makes another table than the one all backends agree on. */
const uint16_t *hv_vif_log_table(GError **error);

/* Writes the scores of one pair in the order of their names and hands them over: the one float
 * tail of every backend. sums[0] is not read when scale 0 is skipped. */
void hv_vif_deliver(const HvVifPlan *plan, const HvVifSums *sums, HvScores *scores);

extern const HvMetricInfo hv_vif_info;
extern const HvMetricOps hv_vif_cpu_ops, hv_vif_hip_ops;

#endif
