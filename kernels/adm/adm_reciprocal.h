/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM's reciprocal for all lanes of a vector. A test goes through every divisor. */
#ifndef HV_ADM_RECIPROCAL_H
#define HV_ADM_RECIPROCAL_H

#include "kernels/cpu/vec.h"

#ifdef HV_VEC

/* floor(2^30 / m) for m from 1 to 2^15, from an estimate of 1 / m whose error is at most 1.5 *
 * 2^-12 of it. One of Newton's steps brings the quotient within 2^8 / m; the rest of the division
 * gives what is missing. With half of a unit more than that rest, it is no multiple of m, and at
 * least 1 / 2m from one when it is divided: the estimate's error, and how the processor rounds, do
 * not reach the result. The nearest whole number to a quotient less a half is the one below it. */
static inline HvVec hv_adm_reciprocal_lanes_from(HvVec m, HvVecF estimate)
{
    HvVecF half = hv_set_f32(0.5f), one = hv_set_f32(1.0f);
    HvVecF error = hv_sub_product_f32(one, hv_to_f32(m), estimate);
    HvVecF y = hv_mul_add_f32(estimate, error, estimate);
    HvVec q = hv_to_s32(hv_mul_f32(y, hv_set_f32(1073741824.0f)));
    HvVecF rest = hv_to_f32(hv_sub_s32(hv_set_s32(1 << 30), hv_mul_s32(q, m)));
    HvVecF more = hv_mul_add_f32(hv_add_f32(rest, half), y, hv_set_f32(-0.5f));
    return hv_add_s32(q, hv_to_s32(more));
}

static inline HvVec hv_adm_reciprocal_lanes(HvVec m)
{
    return hv_adm_reciprocal_lanes_from(m, hv_reciprocal_f32(hv_to_f32(m)));
}

#endif

#endif
