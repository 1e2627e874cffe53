/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's logarithm for all lanes of a vector, without the table: gathering from it costs more than
 * all else in a row's sums. A test goes through every entry. */
#ifndef HV_VIF_LOG_H
#define HV_VIF_LOG_H

#include "kernels/cpu/vec.h"
#include "kernels/vif/vif_arith.h"

#ifdef HV_VEC

/* A logarithm in two parts that are summed apart: 2048 times the first, and the second. */
typedef struct HvVifLogLanes {
    HvVec whole, part;
} HvVifLogLanes;

/* 2048 * log2(1 + r), by its series, rounded to a whole number: in the lowest bits of the mantissa
 * of 1.5 * 2^23. */
static inline HvVec hv_vif_log_series(HvVecF r)
{
    const float series[] = {HV_VIF_LOG_SERIES};
    HvVecF sum = hv_set_f32(series[3]);
    for (int i = 2; i >= 0; i--)
        sum = hv_mul_add_f32(sum, r, hv_set_f32(series[i]));
    return hv_bits_f32(hv_mul_add_f32(sum, r, hv_set_f32(12582912.0f)));
}

/* hv_vif_log2_pieces() of each lane, plus HV_VIF_LOG_BIAS in `part`. */
#define HV_VIF_LOG_BIAS 0x4b400000
static inline HvVifLogLanes hv_vif_log2_lanes(HvVec x)
{
    HvVec bits = hv_bits_f32(hv_leading_f32(x));
    HvVec eighth = hv_shift_right_u32(bits, 20); /* in its lowest three bits */
    HvVec m = hv_and_or(bits, hv_set_s32(0x007fff00), hv_set_s32(0x3f800000));
    HvVecF reciprocal = hv_permute8_f32(hv_vif_log_pieces.reciprocal, eighth);
    HvVecF r = hv_mul_add_f32(hv_f32_of_bits(m), reciprocal, hv_set_f32(-1.0f));
    HvVec base = hv_permute8_s32(hv_vif_log_pieces.base, eighth);
    return (HvVifLogLanes){hv_shift_right_u32(bits, 23), hv_add_s32(hv_vif_log_series(r), base)};
}

#endif

#endif
