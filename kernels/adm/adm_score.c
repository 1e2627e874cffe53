/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From integer sums to scores: the one float tail of every backend. Cube roots are powf(x, 1/3),
 * as in the reference implementation; cbrt would differ in the last bits. */
#include "kernels/adm/adm.h"

#include <math.h>

static float cube_root(float value)
{
    return powf(value, 1.0f / 3.0f);
}

/* The noise floor that is added to each pooled band. */
static float noise(const HvAdmScale *s, double weight)
{
    return cube_root((double)(s->bottom - s->top) * (s->right - s->left) * weight);
}

/* Fractional bits of the sums, before the shifts for range. */
static int masked_bits(int scale, int angle)
{
    static const int bits[HV_ADM_SCALES] = {52, 45, 39, 36};
    return scale == 0 && angle == HV_ADM_DIAGONAL ? 57 : bits[scale];
}

static int reference_bits(int scale)
{
    static const int bits[HV_ADM_SCALES] = {18, 32, 27, 23};
    return bits[scale];
}

static float numerator(const HvAdmScale *s, int scale, const int64_t *sum, double noise_weight)
{
    float band[HV_ADM_ANGLES];
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        int bits = masked_bits(scale, angle) - s->cube_shift[angle] - s->row_shift;
        float cubes =
            scale ? ldexpf((float)sum[angle], -bits) : (float)ldexp((double)sum[angle], -bits);
        band[angle] = cube_root(cubes) + noise(s, noise_weight);
    }
    return band[HV_ADM_HORIZONTAL] + band[HV_ADM_VERTICAL] + band[HV_ADM_DIAGONAL];
}

static float denominator(const HvAdmScale *s, int scale, const uint64_t *sum, double noise_weight)
{
    int bits = reference_bits(scale) - s->den_cube_shift - s->den_row_shift;
    float band[HV_ADM_ANGLES];
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        double cubes = ldexp((double)sum[angle], -bits) * pow(s->factor[angle], 3);
        band[angle] = cube_root(cubes) + noise(s, noise_weight);
    }
    return band[HV_ADM_HORIZONTAL] + band[HV_ADM_VERTICAL] + band[HV_ADM_DIAGONAL];
}

static void score_total(const HvAdmPlan *plan, double aim_num, HvAdmScores *out)
{
    const HvAdmParams *p = &plan->params;
    double limit = 1e-10 * ((double)plan->width * plan->height) / (1920.0 * 1080.0);
    if (out->num < limit)
        out->num = 0;
    if (out->den < limit)
        out->den = 0;
    out->adm2 = out->den == 0 ? 1 : out->num / out->den;
    out->aim = out->den == 0 ? 0 : aim_num / out->den;
    double blend = out->adm2 * p->dlm_weight + (1 - out->aim) * (1 - p->dlm_weight);
    out->adm3 = MAX(blend, p->min_val);
}

void hv_adm_score(const HvAdmPlan *plan, const HvAdmSums *sums, HvAdmScores *out)
{
    const HvAdmParams *p = &plan->params;
    double aim_num = 0;
    out->num = out->den = 0;
    for (int scale = 0; scale < HV_ADM_SCALES; scale++) {
        const HvAdmScale *s = &plan->scale[scale];
        float num = 0.0f, den = 1e-10f, aim = 0.0f;
        if (scale || !p->skip_scale0) {
            num = numerator(s, scale, sums[scale].restored, p->noise_weight);
            den = denominator(s, scale, sums[scale].reference, p->noise_weight);
            if (!p->skip_aim)
                aim = numerator(s, scale, sums[scale].additive, 0.0);
        }
        out->num += num;
        out->den += den;
        aim_num += aim;
        out->scale_num[scale] = num;
        out->scale_den[scale] = den;
        /* a reference without any structure: nothing was lost */
        out->scale[scale] = den == 0.0f ? 1 : out->scale_num[scale] / out->scale_den[scale];
    }
    score_total(plan, aim_num, out);
}
