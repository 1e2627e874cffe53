/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments of luma (libvmaf's float_moment): the sums that a backend delivers, and the scores made
 * from them. docs/psnr.md describes the metric. */
#ifndef HV_MOMENT_H
#define HV_MOMENT_H

#include "kernels/common/metric.h"

#include <stdint.h>

enum { HV_MOMENT_REFERENCE, HV_MOMENT_DISTORTED, HV_MOMENT_PICTURES };

/* One picture's samples, and their squares by hv_moment_square(). */
typedef struct HvMomentSums {
    uint64_t first, second;
} HvMomentSums;

/* Writes the scores of one pair in the order of their names and hands them over: the one float
 * tail of every backend. */
void hv_moment_deliver(const HvFormat *format, const HvMomentSums *sums, HvScores *scores);

extern const HvMetricInfo hv_moment_info;
extern const HvMetricOps hv_moment_cpu_ops, hv_moment_hip_ops;

#endif
