/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's logarithm for all lanes of a vector, without the table: gathering from it costs more than
 * all else in a row's sums. A test goes through every entry. */
#ifndef HV_VIF_LOG_H
#define HV_VIF_LOG_H

#include "kernels/cpu/vec.h"
#include "kernels/vif/vif_arith.h"

#ifdef HV_VEC

/* 2048 * log2(1 + r), by its series. */
static inline HvVecF hv_vif_log_series(HvVecF r)
{
    const float series[] = {HV_VIF_LOG_SERIES};
    HvVecF sum = hv_set_f32(series[3]);
    for (int i = 2; i >= 0; i--)
        sum = hv_mul_add_f32(sum, r, hv_set_f32(series[i]));
    return hv_mul_f32(sum, r);
}

/* hv_vif_log2_pieces() of each lane. */
static inline HvVec hv_vif_log2_lanes(HvVec x)
{
    x = hv_xor(x, hv_and(x, hv_shift_right_u32(x, 16)));
    HvVec bits = hv_bits_f32(hv_to_f32(x));
    HvVec eighth = hv_shift_right_u32(bits, 20); /* in its lowest three bits */
    HvVec m = hv_or(hv_and(bits, hv_set_s32(0x007fff00)), hv_set_s32(0x3f800000));
    HvVecF reciprocal = hv_permute8_f32(hv_vif_log_pieces.reciprocal, eighth);
    HvVecF r = hv_mul_add_f32(hv_f32_of_bits(m), reciprocal, hv_set_f32(-1.0f));
    HvVec part = hv_add_s32(hv_to_s32(hv_vif_log_series(r)),
                            hv_permute8_s32(hv_vif_log_pieces.base, eighth));
    return hv_add_s32(part, hv_and(hv_shift_right_u32(bits, 12), hv_set_s32(~2047)));
}

#endif

#endif
