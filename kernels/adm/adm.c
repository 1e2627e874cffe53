/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM as a metric: its options, score names and limits. */
#include "kernels/adm/adm.h"

#include <stddef.h>

#define MEMBER(name) offsetof(HvAdmParams, name)

static const HvOption options[] = {
    {"debug", NULL, "also report numerators and denominators", HV_OPTION_BOOL, FALSE, MEMBER(debug),
     FALSE, 0, 1},
    {"adm_csf_scale", "scf", "scale of the contrast sensitivity, horizontal and vertical bands",
     HV_OPTION_DOUBLE, TRUE, MEMBER(csf_scale), 1.0, 0.0, 50.0},
    {"adm_csf_diag_scale", "scfd", "scale of the contrast sensitivity, diagonal band",
     HV_OPTION_DOUBLE, TRUE, MEMBER(csf_diag_scale), 1.0, 0.0, 50.0},
    {"adm_dlm_weight", "dlmw", "weight of detail loss in adm3; the rest is additive impairment",
     HV_OPTION_DOUBLE, TRUE, MEMBER(dlm_weight), 0.5, 0.0, 1.0},
    {"adm_enhn_gain_limit", "egl", "how far enhanced contrast may count; 1: not at all",
     HV_OPTION_DOUBLE, TRUE, MEMBER(enhn_gain_limit), 100.0, 1.0, 100.0},
    {"adm_norm_view_dist", "nvd", "viewing distance in heights of the display", HV_OPTION_DOUBLE,
     TRUE, MEMBER(norm_view_dist), 3.0, 0.75, 24.0},
    {"adm_ref_display_height", "rdh", "height of the display in lines", HV_OPTION_INT, TRUE,
     MEMBER(ref_display_height), 1080, 1, 4320},
    {"adm_csf_mode", "csf", "contrast sensitivity: 0 Watson, 1 Barten, 2 and 3 blends of both",
     HV_OPTION_INT, TRUE, MEMBER(csf_mode), HV_ADM_CSF_WATSON, 0, 3},
    {"adm_noise_weight", "nw", "noise floor added to every band", HV_OPTION_DOUBLE, TRUE,
     MEMBER(noise_weight), 0.03125, 0.0, 1500.0},
    {"adm_skip_aim", NULL, "do not measure additive impairment", HV_OPTION_BOOL, FALSE,
     MEMBER(skip_aim), FALSE, 0, 1},
    {"adm_skip_scale0", "ssz", "leave out the finest scale", HV_OPTION_BOOL, TRUE,
     MEMBER(skip_scale0), FALSE, 0, 1},
    {"adm_min_val", "min", "least value of adm3", HV_OPTION_DOUBLE, TRUE, MEMBER(min_val), 0.0, 0.0,
     1.0},
    {NULL}};

static const char *const names[] = {
    "integer_adm2",       "integer_aim",        "integer_adm3",       "integer_adm_scale0",
    "integer_adm_scale1", "integer_adm_scale2", "integer_adm_scale3", NULL};

static const char *const debug_names[] = {"integer_adm2",
                                          "integer_aim",
                                          "integer_adm3",
                                          "integer_adm_scale0",
                                          "integer_adm_scale1",
                                          "integer_adm_scale2",
                                          "integer_adm_scale3",
                                          "integer_adm",
                                          "integer_adm_num",
                                          "integer_adm_den",
                                          "integer_adm_num_scale0",
                                          "integer_adm_den_scale0",
                                          "integer_adm_num_scale1",
                                          "integer_adm_den_scale1",
                                          "integer_adm_num_scale2",
                                          "integer_adm_den_scale2",
                                          "integer_adm_num_scale3",
                                          "integer_adm_den_scale3",
                                          NULL};

static const char *const *score_names(const void *params)
{
    return ((const HvAdmParams *)params)->debug ? debug_names : names;
}

void hv_adm_deliver(const HvAdmPlan *plan, const HvAdmSums *sums, HvScores *scores)
{
    HvAdmScores s;
    double *value = scores->value;
    hv_adm_score(plan, sums, &s);
    *value++ = s.adm2;
    *value++ = s.aim;
    *value++ = s.adm3;
    for (int scale = 0; scale < HV_ADM_SCALES; scale++)
        *value++ = s.scale[scale];
    if (plan->params.debug) {
        *value++ = s.adm2;
        *value++ = s.num;
        *value++ = s.den;
        for (int scale = 0; scale < HV_ADM_SCALES; scale++) {
            *value++ = s.scale_num[scale];
            *value++ = s.scale_den[scale];
        }
    }
    hv_scores_done(scores);
}

/* Larger pictures were never tried. */
#define MAX_SAMPLES (1 << 30)

/* At coarser angular resolutions fixed point has no headroom, at smaller sizes the last scale has
 * no coefficient. */
static gboolean validate(const void *params, const HvFormat *format, GError **error)
{
    const HvAdmParams *p = params;
    if (p->norm_view_dist * p->ref_display_height < 3.0 * 1080) {
        g_set_error(error, HV_ERROR, HV_ERROR_OPTION,
                    "adm needs adm_norm_view_dist * adm_ref_display_height of at least 3240, not "
                    "%g * %d",
                    p->norm_view_dist, p->ref_display_height);
        return FALSE;
    }
    if (!hv_adm_csf_known(p)) {
        g_set_error(error, HV_ERROR, HV_ERROR_OPTION,
                    "adm_csf_mode=%d of adm has no figures for adm_norm_view_dist=%g with "
                    "adm_ref_display_height=%d; it has %s",
                    p->csf_mode, p->norm_view_dist, p->ref_display_height, hv_adm_csf_conditions());
        return FALSE;
    }
    if (format && (format->width < 16 || format->height < 16)) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "adm measures pictures from 16x16 up, not %ux%u", format->width,
                    format->height);
        return FALSE;
    }
    if (format && (guint64)format->width * format->height > MAX_SAMPLES) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "adm measures pictures of up to 2^30 samples, not %ux%u", format->width,
                    format->height);
        return FALSE;
    }
    return TRUE;
}

const HvMetricInfo hv_adm_info = {
    .name = "adm",
    .help = "detail loss and additive impairment in wavelet bands",
    .options = options,
    .params_size = sizeof(HvAdmParams),
    .score_names = score_names,
    .validate = validate,
    .cpu = &hv_adm_cpu_ops,
    .hip = &hv_adm_hip_ops,
};
