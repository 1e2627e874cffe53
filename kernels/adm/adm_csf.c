/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Contrast sensitivity of the wavelet bands. The types of intermediate values matter: they are
 * those of the reference implementation, so that the factors agree to the bit. */
#include "kernels/adm/adm.h"

#include <math.h>

/* Watson, Yang, Solomon, Villasenor, "Visibility of Wavelet Quantization Noise", IEEE Trans. Image
 * Processing 6(8), 1997: table IV for luma, with g of the horizontal and vertical and of the
 * diagonal orientation, and table V, basis function amplitudes by level, for the same two. */
static const float watson_a = 0.495f, watson_k = 0.466f, watson_f0 = 0.401f;
static const float watson_g[2] = {1.0f, 0.534f};
static const float watson_amplitude[HV_ADM_SCALES][2] = {
    {0.67234f, 0.72709f}, {0.41317f, 0.49428f}, {0.22727f, 0.28688f}, {0.11792f, 0.15214f}};

/* Barten's model as HDR-VDP-2 has it (Mantiuk, Kim, Rempel, Heidrich, ACM Trans. Graphics 30(4),
 * 2011; figures of version 2.2.1), for luminances of 20 and 150 cd/m2, between which that of the
 * display lies. */
static const double barten_luminance = 100.0;
static const float barten_anchor[2] = {20.0f, 150.0f};
static const float barten_parameter[2][4] = {{0.334278f, 3.79542f, 1.07327f, 6.4635f},
                                             {0.394533f, 2.7755f, 1.16577f, 7.45665f}};
static const float barten_rod_cone[4] = {30.162f, 4.0627f, 1.6596f, 0.2712f};
static const float barten_mtf_a[4] = {0.424838596301290f, 0.572435103936480f, 0.000167576239164937f,
                                      0.00255872352306433f};
static const float barten_mtf_b[4] = {0.028f, 0.37f, 37.0f, 360.0f};

/* libvmaf 3.2, barten_csf_tools.h: the blend of both models, fitted for these viewing conditions;
 * by orientation and scale. Below 3 heights of 1080 lines integer ADM cannot measure. */
typedef struct Blend {
    int height;
    double distance;
    float factor[2][HV_ADM_SCALES];
} Blend;

#define BLENDS 6
static const char blend_conditions[] =
    "adm_norm_view_dist 3 or 5 with adm_ref_display_height 1080, 1.5, 3 or 5 with 2160, 5 with 720";
static const Blend blends[2][BLENDS] = {
    {{1080,
      3.0,
      {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.004302f, 0.011778f, 0.023918f, 0.035901f}}},
     {1080,
      5.0,
      {{0.004212f, 0.014809f, 0.029642f, 0.047464f}, {0.000984f, 0.005852f, 0.0146f, 0.027574f}}},
     {2160,
      1.5,
      {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.004302f, 0.011778f, 0.023918f, 0.035901f}}},
     {2160,
      3.0,
      {{0.00226f, 0.01183f, 0.025026f, 0.04295f}, {0.000479f, 0.004302f, 0.011778f, 0.023918f}}},
     {2160,
      5.0,
      {{0.000092f, 0.004212f, 0.014809f, 0.029642f}, {0.000050f, 0.000984f, 0.005852f, 0.0146f}}},
     {720,
      5.0,
      {{0.010144f, 0.022561f, 0.040309f, 0.05672f}, {0.003463f, 0.010282f, 0.021839f, 0.034641f}}}},
    {{1080,
      3.0,
      {{0.011249f, 0.022606f, 0.035930f, 0.045673f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
     {1080,
      5.0,
      {{0.004052f, 0.013939f, 0.026298f, 0.038833f}, {0.000927f, 0.005544f, 0.013415f, 0.024515f}}},
     {2160,
      1.5,
      {{0.011249f, 0.022606f, 0.035930f, 0.045673f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
     {2160,
      3.0,
      {{0.002166f, 0.011249f, 0.022606f, 0.035930f}, {0.000447f, 0.004097f, 0.010921f, 0.021430f}}},
     {2160,
      5.0,
      {{0.000077f, 0.004052f, 0.013939f, 0.026298f}, {0.000045f, 0.000927f, 0.005544f, 0.013415f}}},
     {720,
      5.0,
      {{0.009689f, 0.020577f, 0.034162f, 0.044523f},
       {0.003302f, 0.009579f, 0.019661f, 0.030318f}}}}};

/* Pixels per degree of visual angle (Watson et al., equation 1). */
static float display_resolution(const HvAdmParams *params)
{
    return params->norm_view_dist * params->ref_display_height * M_PI / 180.0;
}

/* The reciprocal of the quantization step that is just visible (equation 9). */
static float watson_factor(const HvAdmParams *params, int scale, gboolean diagonal)
{
    float r = display_resolution(params);
    float t = log10(pow(2.0, scale + 1) * watson_f0 * watson_g[diagonal] / r);
    float exponent = watson_k * t * t;
    float step = 2.0 * watson_a * pow(10.0, exponent) / watson_amplitude[scale][diagonal];
    return 1.0f / step;
}

static float barten_interpolate(int parameter, float position, float low, float high)
{
    float left = barten_parameter[0][parameter], right = barten_parameter[1][parameter];
    return left + ((right - left) / (high - low)) * (position - low);
}

static float optical_transfer(float frequency)
{
    float sum = 0.0f;
    for (int i = 0; i < 4; i++)
        sum += barten_mtf_a[i] * exp(-barten_mtf_b[i] * frequency);
    return sum;
}

static float barten_sensitivity(float luminance)
{
    const float *p = barten_rod_cone;
    return p[0] * pow(pow(p[1] / luminance, p[2]) + 1, -p[3]);
}

static float barten_factor(const HvAdmParams *params, int scale, gboolean diagonal)
{
    float frequency = display_resolution(params) / pow(2, scale + 1);
    float low = log10(barten_anchor[0]), high = log10(barten_anchor[1]);
    float position = log10(barten_luminance);
    float parameter[4];
    for (int i = 0; i < 4; i++)
        parameter[i] = barten_interpolate(i, position, low, high);
    float fine = 1.0f + pow(parameter[0] * frequency, parameter[1]);
    float coarse = 1.0f / pow(1 - exp(-pow(frequency / 7, 2)), parameter[2]);
    float neural = parameter[3] / pow(fine * coarse, 0.5);
    float optical = neural * optical_transfer(frequency) * barten_sensitivity(barten_luminance);
    return optical * (diagonal ? params->csf_diag_scale : params->csf_scale);
}

static const Blend *find_blend(const HvAdmParams *params)
{
    const Blend *table = blends[params->csf_mode == HV_ADM_CSF_BLEND_MAE];
    for (int i = 0; i < BLENDS; i++)
        if (table[i].height == params->ref_display_height &&
            table[i].distance == params->norm_view_dist)
            return &table[i];
    return NULL;
}

gboolean hv_adm_csf_known(const HvAdmParams *params)
{
    return params->csf_mode < HV_ADM_CSF_BLEND || find_blend(params);
}

const char *hv_adm_csf_conditions(void)
{
    return blend_conditions;
}

float hv_adm_csf_factor(const HvAdmParams *params, int scale, gboolean diagonal)
{
    switch (params->csf_mode) {
    case HV_ADM_CSF_WATSON:
        return watson_factor(params, scale, diagonal);
    case HV_ADM_CSF_BARTEN:
        return barten_factor(params, scale, diagonal);
    default:
        return find_blend(params)->factor[diagonal][scale];
    }
}
