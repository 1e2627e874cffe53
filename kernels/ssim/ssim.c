/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM and MS-SSIM as metrics: their options, score names, limits and figures. */
#include "kernels/ssim/ssim.h"

#include <math.h>
#include <stddef.h>

#define MEMBER(name) offsetof(HvSsimParams, name)

/* A side of MS-SSIM's picture, so that the window fits into the coarsest scale. */
#define MULTI_LEAST (HV_SSIM_TAPS << (HV_SSIM_SCALES - 1))

/* float_ssim's; float_ms_ssim has all but the first. */
static const HvOption options[] = {
    {"scale", NULL, "how many times smaller pictures are measured; 0: as their size asks",
     HV_OPTION_INT, FALSE, MEMBER(scale), 0, 0, 10},
    {"enable_lcs", NULL, "also report luminance, contrast and structure", HV_OPTION_BOOL, FALSE,
     MEMBER(enable_lcs), FALSE, 0, 1},
    {"enable_db", NULL, "report decibels", HV_OPTION_BOOL, FALSE, MEMBER(enable_db), FALSE, 0, 1},
    {"clip_db", NULL, "limit decibels to what one wrong sample would give", HV_OPTION_BOOL, FALSE,
     MEMBER(clip_db), FALSE, 0, 1},
    {NULL}};

static const char *const single_names[] = {"float_ssim", NULL};
static const char *const single_lcs_names[] = {"float_ssim", "float_ssim_l", "float_ssim_c",
                                               "float_ssim_s", NULL};
static const char *const multi_names[] = {"float_ms_ssim", NULL};
static const char *const multi_lcs_names[] = {"float_ms_ssim",
                                              "float_ms_ssim_l_scale0",
                                              "float_ms_ssim_l_scale1",
                                              "float_ms_ssim_l_scale2",
                                              "float_ms_ssim_l_scale3",
                                              "float_ms_ssim_l_scale4",
                                              "float_ms_ssim_c_scale0",
                                              "float_ms_ssim_c_scale1",
                                              "float_ms_ssim_c_scale2",
                                              "float_ms_ssim_c_scale3",
                                              "float_ms_ssim_c_scale4",
                                              "float_ms_ssim_s_scale0",
                                              "float_ms_ssim_s_scale1",
                                              "float_ms_ssim_s_scale2",
                                              "float_ms_ssim_s_scale3",
                                              "float_ms_ssim_s_scale4",
                                              NULL};

/* MS-SSIM's exponents of contrast and of structure; luminance has the last one, and at the other
 * scales none. */
static const float exponent[HV_SSIM_SCALES] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};

static const char *const *single_score_names(const void *params)
{
    return ((const HvSsimParams *)params)->enable_lcs ? single_lcs_names : single_names;
}

static const char *const *multi_score_names(const void *params)
{
    return ((const HvSsimParams *)params)->enable_lcs ? multi_lcs_names : multi_names;
}

static int choose_factor(const HvSsimParams *params, const HvFormat *format)
{
    int side = (int)MIN(format->width, format->height);
    return params->scale ? params->scale : MAX((side + 128) / 256, 1);
}

/* One more for any odd length, as libvmaf has it. */
static int shrunk(unsigned length, int factor)
{
    return factor == 1 ? (int)length : (int)length / factor + (int)(length & 1);
}

static gboolean validate_single(const void *params, const HvFormat *format, GError **error)
{
    const HvSsimParams *p = params;
    if (!format)
        return TRUE;
    int factor = choose_factor(p, format), least = factor * HV_SSIM_TAPS;
    if (shrunk(format->width, factor) >= HV_SSIM_TAPS &&
        shrunk(format->height, factor) >= HV_SSIM_TAPS)
        return TRUE;
    char *when = p->scale > 1 ? g_strdup_printf(" with scale=%d", p->scale) : g_strdup("");
    g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                "float_ssim%s measures pictures from %dx%d up, not %ux%u", when, least, least,
                format->width, format->height);
    g_free(when);
    return FALSE;
}

static gboolean validate_multi(const void *params, const HvFormat *format, GError **error)
{
    if (format && (format->width < MULTI_LEAST || format->height < MULTI_LEAST)) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "float_ms_ssim measures pictures from %dx%d up, not %ux%u", MULTI_LEAST,
                    MULTI_LEAST, format->width, format->height);
        return FALSE;
    }
    return TRUE;
}

static HvSsimCare choose_care(const HvSsimPlan *plan, int scale)
{
    const int *width = plan->scale_width, *height = plan->scale_height;
    if (plan->kind == HV_SSIM_SINGLE || !hv_ssim_is_large(width[0], height[0]))
        return HV_SSIM_EXACT;
    return hv_ssim_is_large(width[scale], height[scale]) ? HV_SSIM_FLOAT : HV_SSIM_NEAR;
}

void hv_ssim_plan_init(HvSsimPlan *plan, HvSsimKind kind, const HvSsimParams *params,
                       const HvFormat *format)
{
    *plan = (HvSsimPlan){.params = *params,
                         .kind = kind,
                         .depth = (int)format->depth,
                         .width = (int)format->width,
                         .height = (int)format->height,
                         .factor = 1,
                         .scales = HV_SSIM_SCALES};
    if (kind == HV_SSIM_SINGLE) {
        plan->factor = choose_factor(params, format);
        plan->scales = 1;
    }
    plan->scale_width[0] = shrunk(format->width, plan->factor);
    plan->scale_height[0] = shrunk(format->height, plan->factor);
    for (int scale = 1; scale < plan->scales; scale++) {
        plan->scale_width[scale] = (plan->scale_width[scale - 1] + 1) / 2;
        plan->scale_height[scale] = (plan->scale_height[scale - 1] + 1) / 2;
    }
    for (int scale = 0; scale < plan->scales; scale++) {
        plan->luminance[scale] = params->enable_lcs || scale + 1 == plan->scales;
        plan->care[scale] = choose_care(plan, scale);
    }
}

gboolean hv_ssim_is_made(const HvSsimPlan *plan, int scale)
{
    return scale || plan->factor > 1;
}

float hv_ssim_unit(const HvSsimPlan *plan)
{
    return 1.0f / (float)(1 << (plan->depth - 8));
}

static double mean(const HvSsimPlan *plan, int scale, int64_t sum)
{
    double windows = (double)(plan->scale_width[scale] - HV_SSIM_TAPS + 1) *
                     (plan->scale_height[scale] - HV_SSIM_TAPS + 1);
    return (float)((double)sum / 4294967296.0 / windows);
}

/* SSIM of the whole, which may have come out a little above 1. */
static double to_db(const HvSsimPlan *plan, double ssim)
{
    double most = INFINITY;
    if (plan->params.clip_db) {
        double peak = (1 << plan->depth) - 1, error = 0.5 / ((double)plan->width * plan->height);
        most = ceil(10.0 * log10(peak * peak / error));
    }
    double db = -10.0 * log10(1.0 - ssim);
    return db < most ? db : most;
}

/* A mean structure below 0 has no power: such pictures have nothing in common. */
static double multi(const HvSsimPlan *plan, const HvSsimSums *sums)
{
    double product = 1.0;
    for (int scale = 0; scale < plan->scales; scale++) {
        double power = exponent[scale], s = MAX(mean(plan, scale, sums[scale].s), 0.0);
        double l = scale + 1 < plan->scales ? 1.0 : pow(mean(plan, scale, sums[scale].l), power);
        product *= l * pow(mean(plan, scale, sums[scale].c), power) * pow(s, power);
    }
    return product;
}

void hv_ssim_deliver(const HvSsimPlan *plan, const HvSsimSums *sums, HvScores *scores)
{
    double *value = scores->value, *lcs = value + 1;
    value[0] = plan->kind == HV_SSIM_SINGLE ? mean(plan, 0, sums[0].ssim) : multi(plan, sums);
    if (plan->params.enable_db)
        value[0] = to_db(plan, value[0]);
    if (plan->params.enable_lcs)
        for (int scale = 0; scale < plan->scales; scale++) {
            lcs[scale] = mean(plan, scale, sums[scale].l);
            lcs[plan->scales + scale] = mean(plan, scale, sums[scale].c);
            lcs[2 * plan->scales + scale] = mean(plan, scale, sums[scale].s);
        }
    hv_scores_done(scores);
}

const HvMetricInfo hv_float_ssim_info = {
    .name = "float_ssim",
    .help = "structural similarity: luminance, contrast and structure of small windows",
    .options = options,
    .params_size = sizeof(HvSsimParams),
    .score_names = single_score_names,
    .validate = validate_single,
    .cpu = &hv_float_ssim_cpu_ops,
    .hip = &hv_float_ssim_hip_ops,
    .image = "ssim",
};

const HvMetricInfo hv_float_ms_ssim_info = {
    .name = "float_ms_ssim",
    .help = "structural similarity at five scales",
    .options = options + 1,
    .params_size = sizeof(HvSsimParams),
    .score_names = multi_score_names,
    .validate = validate_multi,
    .cpu = &hv_float_ms_ssim_cpu_ops,
    .hip = &hv_float_ms_ssim_hip_ops,
    .image = "ssim",
};
