/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's logarithm for all lanes of a vector, without the table: gathering from it costs more than
 * all else in a row's sums. A test goes through every entry. */
#ifndef HV_VIF_LOG_H
#define HV_VIF_LOG_H

#include "kernels/cpu/vec.h"
#include "kernels/vif/vif_arith.h"

#ifdef HV_VEC

/* 2048 * log2(m) of m in an eighth of [1, 2) is this whole number, less 127 * 2048, for the bias of
 * a float's exponent, and the logarithm of m times this reciprocal, which is close to 1. Of all
 * such pairs these round to the table's entry everywhere; docs/vif.md says how they were found. */
static const float hv_vif_log_reciprocal[16] = {
    0.94121623f,  0.84203589f,  0.762283087f, 0.695476949f, 0.639917433f, 0.592594743f,
    0.552685916f, 0.516163111f, 0.94121623f,  0.84203589f,  0.762283087f, 0.695476949f,
    0.639917433f, 0.592594743f, 0.552685916f, 0.516163111f};
enum { BIAS = 127 * 2048 };
static const int32_t hv_vif_log_base[16] = {179 - BIAS,  508 - BIAS,  802 - BIAS,  1073 - BIAS,
                                            1319 - BIAS, 1546 - BIAS, 1752 - BIAS, 1954 - BIAS,
                                            179 - BIAS,  508 - BIAS,  802 - BIAS,  1073 - BIAS,
                                            1319 - BIAS, 1546 - BIAS, 1752 - BIAS, 1954 - BIAS};

/* 2048 * log2(1 + r) for r within 1/16 of 0, by its series. */
static inline HvVecF hv_vif_log_series(HvVecF r)
{
    HvVecF sum = hv_set_f32(-738.659861f);
    sum = hv_mul_add_f32(sum, r, hv_set_f32(984.879815f));
    sum = hv_mul_add_f32(sum, r, hv_set_f32(-1477.31972f));
    sum = hv_mul_add_f32(sum, r, hv_set_f32(2954.63945f));
    return hv_mul_f32(sum, r);
}

/* hv_vif_log2() of each lane; x from 2^16 to 2^31. As a float, x has its 16 leading bits, which
 * alone count, in the upper bits of the mantissa: the bit after them is cleared, so that no
 * rounding reaches them. */
static inline HvVec hv_vif_log2_lanes(HvVec x)
{
    x = hv_xor(x, hv_and(x, hv_shift_right_u32(x, 16)));
    HvVec bits = hv_bits_f32(hv_to_f32(x));
    HvVec eighth = hv_shift_right_u32(bits, 20); /* in its lowest three bits */
    HvVec m = hv_or(hv_and(bits, hv_set_s32(0x007fff00)), hv_set_s32(0x3f800000));
    HvVecF r = hv_mul_add_f32(hv_f32_of_bits(m), hv_permute_f32(hv_vif_log_reciprocal, eighth),
                              hv_set_f32(-1.0f));
    HvVec part =
        hv_add_s32(hv_to_s32(hv_vif_log_series(r)), hv_permute_s32(hv_vif_log_base, eighth));
    return hv_add_s32(part, hv_and(hv_shift_right_u32(bits, 12), hv_set_s32(~2047)));
}

#endif

#endif
