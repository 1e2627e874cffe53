/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR as a metric: its options, score names and limits, and the scores made from sums. */
#include "kernels/psnr/psnr.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define MEMBER(name) offsetof(HvPsnrParams, name)

/* None of them changes a score's name. */
static const HvOption options[] = {
    {"enable_chroma", NULL, "measure Cb and Cr too", HV_OPTION_BOOL, FALSE, MEMBER(enable_chroma),
     TRUE, 0, 1},
    {"enable_mse", NULL, "also report the mean squared error", HV_OPTION_BOOL, FALSE,
     MEMBER(enable_mse), FALSE, 0, 1},
    {"enable_apsnr", NULL, "also report the PSNR of the whole stream's squared errors",
     HV_OPTION_BOOL, FALSE, MEMBER(enable_apsnr), FALSE, 0, 1},
    {"reduced_hbd_peak", NULL, "take 255 times a power of two for the peak above 8 bits",
     HV_OPTION_BOOL, FALSE, MEMBER(reduced_hbd_peak), FALSE, 0, 1},
    {"min_sse", NULL, "the sum of squared errors that limits the PSNR; 0: the bit depth does",
     HV_OPTION_DOUBLE, FALSE, MEMBER(min_sse), 0.0, 0.0, DBL_MAX},
    {NULL}};

static const char *const *score_names(const void *params)
{
    static const char *const luma[] = {"psnr_y", NULL};
    static const char *const all[] = {"psnr_y", "psnr_cb", "psnr_cr", NULL};
    static const char *const luma_mse[] = {"psnr_y", "mse_y", NULL};
    static const char *const all_mse[] = {"psnr_y",  "mse_y",  "psnr_cb", "mse_cb",
                                          "psnr_cr", "mse_cr", NULL};
    const HvPsnrParams *p = params;
    if (p->enable_mse)
        return p->enable_chroma ? all_mse : luma_mse;
    return p->enable_chroma ? all : luma;
}

static const char *const *aggregate_names(const void *params)
{
    static const char *const none[] = {NULL};
    static const char *const luma[] = {"apsnr_y", NULL};
    static const char *const all[] = {"apsnr_y", "apsnr_cb", "apsnr_cr", NULL};
    const HvPsnrParams *p = params;
    if (!p->enable_apsnr)
        return none;
    return p->enable_chroma ? all : luma;
}

static void fit(void *params, const HvFormat *format)
{
    if (format->n_planes == 1)
        ((HvPsnrParams *)params)->enable_chroma = FALSE;
}

static gboolean needs_chroma(const void *params)
{
    return ((const HvPsnrParams *)params)->enable_chroma;
}

/* Chroma of odd sizes is rounded down, so that there may be none. */
static gboolean validate(const void *params, const HvFormat *format, GError **error)
{
    if (!format || !needs_chroma(params))
        return TRUE;
    if (format->width >> format->chroma_shift_x && format->height >> format->chroma_shift_y)
        return TRUE;
    g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                "psnr measures pictures from %ux%u up with this format's chroma, not %ux%u; "
                "enable_chroma=false leaves it out",
                1u << format->chroma_shift_x, 1u << format->chroma_shift_y, format->width,
                format->height);
    return FALSE;
}

enum { SSE, SAMPLES, ENERGY, N_SUMS }; /* ENERGY: samples times the peak squared */

static void deliver(const HvPsnrPlan *plan, const uint64_t *sse, HvScores *scores)
{
    const HvPsnrParams *p = &plan->params;
    double *value = scores->value;
    double peak2 = plan->peak * plan->peak;
    for (unsigned i = 0; i < plan->n_planes; i++) {
        double mse = (double)sse[i] / ((double)plan->width[i] * plan->height[i]);
        *value++ = MIN(10 * log10(peak2 / MAX(mse, 1e-16)), plan->limit[i]);
        if (p->enable_mse)
            *value++ = mse;
    }
    for (unsigned i = 0; i < plan->n_planes && p->enable_apsnr; i++, value += N_SUMS) {
        value[SSE] = (double)sse[i];
        value[SAMPLES] = (double)plan->width[i] * plan->height[i];
        value[ENERGY] = peak2 * value[SAMPLES];
    }
    hv_scores_done(scores);
}

/* Half a squared error in all is what limits it. */
static double apsnr(const double *sum)
{
    double peak2 = sum[ENERGY] / sum[SAMPLES];
    double value = 10 * (log10(peak2) + log10(sum[SAMPLES]) - log10(sum[SSE]));
    return MIN(value, ceil(10 * log10(sum[ENERGY] * 2)));
}

static const HvAggregate aggregate = {aggregate_names, N_SUMS, apsnr};

static void set_planes(HvPsnrPlan *plan, const HvFormat *format, unsigned n)
{
    plan->depth = format->depth;
    plan->n_planes = n;
    for (unsigned i = 0; i < n; i++) {
        plan->width[i] = format->width >> (i ? format->chroma_shift_x : 0);
        plan->height[i] = format->height >> (i ? format->chroma_shift_y : 0);
    }
}

void hv_psnr_plan_init(HvPsnrPlan *plan, const HvPsnrParams *params, const HvFormat *format)
{
    *plan = (HvPsnrPlan){.params = *params, .deliver = deliver};
    set_planes(plan, format, params->enable_chroma ? HV_MAX_PLANES : 1);
    plan->peak = params->reduced_hbd_peak ? 255u << (format->depth - 8) : (1u << format->depth) - 1;
    for (unsigned i = 0; i < plan->n_planes; i++) {
        double least = params->min_sse / ((double)plan->width[i] * plan->height[i]);
        plan->limit[i] = params->min_sse != 0 ? ceil(10 * log10(plan->peak * plan->peak / least))
                                              : 6 * format->depth + 12;
    }
}

const HvMetricInfo hv_psnr_info = {
    .name = "psnr",
    .help = "peak signal-to-noise ratio of Y, Cb and Cr, in decibels",
    .options = options,
    .params_size = sizeof(HvPsnrParams),
    .fit = fit,
    .needs_chroma = needs_chroma,
    .score_names = score_names,
    .validate = validate,
    .aggregate = &aggregate,
    .cpu = &hv_psnr_cpu_ops,
    .hip = &hv_psnr_hip_ops,
};

/* float_psnr: of luma, in steps of 8-bit samples */

static const HvOption no_options[] = {{NULL}};

static const char *const *float_score_names(const void *params)
{
    static const char *const names[] = {"float_psnr", NULL};
    return names;
}

static double step(unsigned depth)
{
    return 1u << (depth - 8);
}

static void float_deliver(const HvPsnrPlan *plan, const uint64_t *sse, HvScores *scores)
{
    double size = step(plan->depth);
    double noise = (double)*sse / (size * size) / ((double)*plan->width * *plan->height);
    *scores->value = MIN(10 * log10(plan->peak * plan->peak / MAX(noise, 1e-10)), *plan->limit);
    hv_scores_done(scores);
}

void hv_float_psnr_plan_init(HvPsnrPlan *plan, const HvFormat *format)
{
    *plan = (HvPsnrPlan){.deliver = float_deliver};
    set_planes(plan, format, 1);
    plan->peak = ((1u << format->depth) - 1) / step(format->depth);
    *plan->limit = 6 * format->depth + 12;
}

const HvMetricInfo hv_float_psnr_info = {
    .name = "float_psnr",
    .help = "peak signal-to-noise ratio of luma, as libvmaf's floating-point code gives it",
    .options = no_options,
    .params_size = 1,
    .score_names = float_score_names,
    .cpu = &hv_float_psnr_cpu_ops,
    .hip = &hv_float_psnr_hip_ops,
    .image = "psnr",
};
