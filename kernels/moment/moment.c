/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments as a metric: its score names, and the scores made from sums. */
#include "kernels/moment/moment.h"

static const HvOption options[] = {{NULL}};

static const char *const *score_names(const void *params)
{
    static const char *const names[] = {"float_moment_ref1st", "float_moment_dis1st",
                                        "float_moment_ref2nd", "float_moment_dis2nd", NULL};
    return names;
}

void hv_moment_deliver(const HvFormat *format, const HvMomentSums *sums, HvScores *scores)
{
    double samples = (double)format->width * format->height;
    double step = 1u << (format->depth - 8); /* of 8-bit samples */
    for (int p = 0; p < HV_MOMENT_PICTURES; p++) {
        scores->value[p] = (double)sums[p].first / step / samples;
        scores->value[HV_MOMENT_PICTURES + p] = (double)sums[p].second / (step * step) / samples;
    }
    hv_scores_done(scores);
}

const HvMetricInfo hv_moment_info = {
    .name = "float_moment",
    .help = "means of luma and of its square, in both pictures",
    .options = options,
    .params_size = 1,
    .score_names = score_names,
    .cpu = &hv_moment_cpu_ops,
    .hip = &hv_moment_hip_ops,
    .image = "moment",
};
