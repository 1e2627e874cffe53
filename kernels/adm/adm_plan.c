/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What follows from ADM's parameters and the picture size. */
#include "kernels/adm/adm.h"

#include <math.h>

const int hv_adm_csf0_shift[HV_ADM_ANGLES] = {15, 15, 17};
const int hv_adm_csf0_round[HV_ADM_ANGLES] = {16384, 16384, 65535};
const int hv_adm_mask0_shift[HV_ADM_ANGLES] = {10, 10, 12};
const int hv_adm_square0_shift[HV_ADM_ANGLES] = {29, 29, 30};
const int hv_adm_den_square_shift[HV_ADM_SCALES] = {0, 31, 30, 31};
const int hv_adm_dwt_shift[HV_ADM_SCALES][2] = {{0, 16}, {0, 15}, {16, 16}, {16, 15}};

/* The smallest n with 2^n >= value. */
static int ceil_log2(uint64_t value)
{
    return value > 1 ? 64 - __builtin_clzll(value - 1) : 0;
}

/* The tenth at either end that is left out of the sums. */
static int border(int size)
{
    return size * 0.1 - 0.5;
}

static void scale_region(HvAdmScale *s, int in_width, int in_height)
{
    s->in_width = in_width;
    s->in_height = in_height;
    s->width = (in_width + 1) / 2;
    s->height = (in_height + 1) / 2;
    s->left = border(s->width);
    s->top = border(s->height);
    s->right = s->width - s->left;
    s->bottom = s->height - s->top;
}

/* Shifts keep the sums of the largest coefficients within 64 bits. */
static void scale_shifts(HvAdmScale *s, int scale)
{
    int columns = s->right - s->left, rows = s->bottom - s->top;
    int width_shift = ceil_log2(s->width);
    s->row_shift = ceil_log2(s->height);
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
        s->cube_shift[angle] = scale                      ? width_shift
                               : angle == HV_ADM_DIAGONAL ? MAX(width_shift - 3, 0)
                                                          : MAX(width_shift - 4, 0);
    s->den_cube_shift = scale ? ceil_log2(columns) : 0;
    s->den_row_shift = scale ? ceil_log2(rows) : MAX(ceil_log2((uint64_t)columns * rows) - 20, 0);
}

/* Figures at which the reference implementation rounds the usual viewing condition by hand. */
static gboolean usual_viewing(const HvAdmParams *params)
{
    return params->csf_mode == HV_ADM_CSF_WATSON &&
           fabs(params->norm_view_dist * params->ref_display_height - 3.0 * 1080) < 1.0e-8;
}

static void scale_factors(HvAdmScale *s, int scale, const HvAdmParams *params)
{
    static const uint32_t usual[HV_ADM_ANGLES] = {36453, 36453, 49417};
    static const int bits0[HV_ADM_ANGLES] = {21, 21, 23};
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        s->factor[angle] = hv_adm_csf_factor(params, scale, angle == HV_ADM_DIAGONAL);
        if (scale)
            s->i_factor[angle] = (uint32_t)(int64_t)ldexp(s->factor[angle], 32);
        else if (usual_viewing(params))
            s->i_factor[angle] = usual[angle];
        else
            s->i_factor[angle] = (uint16_t)(int64_t)ldexp(s->factor[angle], bits0[angle]);
    }
}

void hv_adm_plan_init(HvAdmPlan *plan, const HvAdmParams *params, const HvFormat *format)
{
    plan->params = *params;
    plan->width = format->width;
    plan->height = format->height;
    plan->depth = format->depth;
    int width = format->width, height = format->height;
    for (int scale = 0; scale < HV_ADM_SCALES; scale++) {
        HvAdmScale *s = &plan->scale[scale];
        scale_region(s, width, height);
        scale_shifts(s, scale);
        scale_factors(s, scale, params);
        width = s->width;
        height = s->height;
    }
}
