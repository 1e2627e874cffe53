/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF as a metric: its options, score names, limits and figures. */
#include "kernels/vif/vif.h"

#include <math.h>
#include <pthread.h>

#define MEMBER(name)   offsetof(HvVifParams, name)
#define LOG_TABLE_HASH 0xd6509fd850265c09u

static const HvOption options[] = {
    {"debug", NULL, "also report numerators and denominators", HV_OPTION_BOOL, FALSE, MEMBER(debug),
     FALSE, 0, 1},
    {"vif_enhn_gain_limit", "egl", "how far enhanced contrast may count; 1: not at all",
     HV_OPTION_DOUBLE, TRUE, MEMBER(enhn_gain_limit), 100.0, 1.0, 100.0},
    {"vif_skip_scale0", "ssclz", "leave out the finest scale", HV_OPTION_BOOL, TRUE,
     MEMBER(skip_scale0), FALSE, 0, 1},
    {NULL}};

static const char *const names[] = {"integer_vif_scale0", "integer_vif_scale1",
                                    "integer_vif_scale2", "integer_vif_scale3", NULL};

static const char *const debug_names[] = {"integer_vif_scale0",
                                          "integer_vif_scale1",
                                          "integer_vif_scale2",
                                          "integer_vif_scale3",
                                          "integer_vif",
                                          "integer_vif_num",
                                          "integer_vif_den",
                                          "integer_vif_num_scale0",
                                          "integer_vif_den_scale0",
                                          "integer_vif_num_scale1",
                                          "integer_vif_den_scale1",
                                          "integer_vif_num_scale2",
                                          "integer_vif_den_scale2",
                                          "integer_vif_num_scale3",
                                          "integer_vif_den_scale3",
                                          NULL};

/* Gaussians whose width falls with the scale. */
const HvVifFilter hv_vif_filter[HV_VIF_SCALES] = {
    {8, {HV_VIF_TAPS0}}, {4, {HV_VIF_TAPS1}}, {2, {HV_VIF_TAPS2}}, {1, {HV_VIF_TAPS3}}};

static const char *const *score_names(const void *params)
{
    return ((const HvVifParams *)params)->debug ? debug_names : names;
}

/* Smaller ones have no coarsest scale to mirror. */
static gboolean validate(const void *params, const HvFormat *format, GError **error)
{
    if (format && (format->width < 16 || format->height < 16)) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "vif measures pictures from 16x16 up, not %ux%u", format->width,
                    format->height);
        return FALSE;
    }
    return TRUE;
}

void hv_vif_plan_init(HvVifPlan *plan, const HvVifParams *params, const HvFormat *format)
{
    plan->params = *params;
    plan->depth = format->depth;
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        plan->width[scale] = format->width >> scale;
        plan->height[scale] = format->height >> scale;
    }
}

static uint16_t log_table[HV_VIF_LOG_SIZE + 1];
static uint64_t log_table_hash;

/* The logarithm in double, rounded to float, is what a correctly rounded log2f gives. */
static void make_log_table(void)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (int i = 0; i < HV_VIF_LOG_SIZE; i++) {
        float log = (float)log2((double)(HV_VIF_LOG_FIRST + i));
        log_table[i] = (uint16_t)round(log * 2048);
        for (int byte = 0; byte < 2; byte++)
            hash = (hash ^ (log_table[i] >> 8 * byte & 0xff)) * 0x100000001b3u;
    }
    log_table_hash = hash;
}

const uint16_t *hv_vif_log_table(GError **error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_log_table);
    if (log_table_hash == LOG_TABLE_HASH)
        return log_table;
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                "vif cannot measure here: this machine's C library computes another table of "
                "logarithms (%016" G_GINT64_MODIFIER "x)",
                log_table_hash);
    return NULL;
}

/* log / 2048 + flat pixels, less what distortion added to them, relative to 255^2. */
static float numerator(const HvVifSums *s)
{
    return s->num_log / 2048.0 + (s->count_flat - (s->num_flat / 16384.0) / 65025.0);
}

static float denominator(const HvVifSums *s)
{
    return s->den_log / 2048.0 + s->count_flat;
}

void hv_vif_deliver(const HvVifPlan *plan, const HvVifSums *sums, HvScores *scores)
{
    double *value = scores->value, *totals = value + HV_VIF_SCALES;
    double *parts = totals + 3, num_sum = 0, den_sum = 0;
    gboolean debug = plan->params.debug;
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        gboolean skipped = scale == 0 && plan->params.skip_scale0;
        float num = skipped ? 0.0f : numerator(&sums[scale]);
        float den = skipped ? -1.0f : denominator(&sums[scale]);
        value[scale] = skipped ? 0.0f : num / den;
        num_sum += num;
        den_sum += skipped ? 0.0f : den;
        if (debug) {
            parts[2 * scale] = num;
            parts[2 * scale + 1] = den;
        }
    }
    if (debug) {
        totals[0] = den_sum == 0.0 ? 1.0 : num_sum / den_sum;
        totals[1] = num_sum;
        totals[2] = den_sum;
    }
    hv_scores_done(scores);
}

const HvMetricInfo hv_vif_info = {
    .name = "vif",
    .help = "visual information that the distorted picture keeps of the reference's",
    .options = options,
    .params_size = sizeof(HvVifParams),
    .score_names = score_names,
    .validate = validate,
    .cpu = &hv_vif_cpu_ops,
    .hip = &hv_vif_hip_ops,
};
