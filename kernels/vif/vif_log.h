/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's logarithm for all lanes of a vector. Gathering from the table costs more than all else in
 * the row's sums, so the value is computed; only where it comes out close to halfway between two
 * numbers, where rounding decides, does the table. A test goes through every entry. */
#ifndef HV_VIF_LOG_H
#define HV_VIF_LOG_H

#include "kernels/cpu/vec.h"
#include "kernels/vif/vif_arith.h"

#ifdef HV_VEC

/* How close to halfway counts as close: the computed value is within 0.0005 of 2048 * log2(x), the
 * table within 0.0013. */
#define HV_VIF_LOG_MARGIN 0.003f

/* Reciprocals of the middles of eighths of [1, 2), and 2048 times their logarithms, negative. */
static const float hv_vif_log_reciprocal[16] = {
    0.941176474f, 0.842105269f, 0.761904776f, 0.695652187f, 0.639999986f, 0.592592597f,
    0.551724136f, 0.516129017f, 0.941176474f, 0.842105269f, 0.761904776f, 0.695652187f,
    0.639999986f, 0.592592597f, 0.551724136f, 0.516129017f};
static const float hv_vif_log_base[16] = {179.123886f, 507.755524f, 803.466003f, 1072.25488f,
                                          1318.61755f, 1546.00952f, 1757.14514f, 1954.19409f,
                                          179.123886f, 507.755524f, 803.466003f, 1072.25488f,
                                          1318.61755f, 1546.00952f, 1757.14514f, 1954.19409f};

/* 2048 * log2(1 + r) for r within 1/17 of 0, by its series. */
static inline HvVecF hv_vif_log_series(HvVecF r)
{
    HvVecF sum = hv_set_f32(590.927917f);
    sum = hv_mul_add_f32(sum, r, hv_set_f32(-738.659851f));
    sum = hv_mul_add_f32(sum, r, hv_set_f32(984.879822f));
    sum = hv_mul_add_f32(sum, r, hv_set_f32(-1477.3197f));
    sum = hv_mul_add_f32(sum, r, hv_set_f32(2954.6394f));
    return hv_mul_f32(sum, r);
}

/* hv_vif_log2() of each lane; x from 2^16 to 2^31. */
static inline HvVec hv_vif_log2_lanes(const uint16_t *table, HvVec x)
{
    HvVec shift = hv_sub_s32(hv_set_s32(16), hv_leading_zeros_u32(x));
    HvVec index = hv_sub_s32(hv_shift_right_lanes_u32(x, shift), hv_set_s32(HV_VIF_LOG_FIRST));
    HvVec eighth = hv_shift_right_u32(index, 12);
    HvVecF one = hv_set_f32(1.0f),
           m = hv_mul_add_f32(hv_to_f32(index), hv_set_f32(1.0f / HV_VIF_LOG_FIRST), one);
    HvVecF r = hv_mul_add_f32(m, hv_permute_f32(hv_vif_log_reciprocal, eighth), hv_set_f32(-1.0f));
    HvVecF log = hv_add_f32(hv_vif_log_series(r), hv_permute_f32(hv_vif_log_base, eighth));
    HvVec value = hv_to_s32(log);
    HvVecF apart = hv_abs_f32(hv_sub_f32(log, hv_to_f32(value)));
    value = hv_add_s32(value, hv_set_s32(15 * 2048));
    if (hv_mask_bits(hv_less_f32(hv_set_f32(0.5f - HV_VIF_LOG_MARGIN), apart)))
        value = hv_gather_u16(table, index);
    return hv_add_s32(value, hv_shift_left_s32(shift, 11));
}

#endif

#endif
