/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The integer arithmetic of ADM, one coefficient at a time: what every backend must agree on to
 * the bit. docs/adm.md explains each step and names its source. Plain integers and IEEE floats,
 * no library call: the same text compiles for the host and for GPUs. */
#ifndef HV_ADM_ARITH_H
#define HV_ADM_ARITH_H

#include <stdint.h>

#ifndef HV_INLINE
#define HV_INLINE static inline
#endif

#define HV_ADM_SCALES 4

/* Daubechies 4-tap analysis filters, times 2^15. */
#define HV_ADM_LO0 15826
#define HV_ADM_LO1 27411
#define HV_ADM_LO2 7345
#define HV_ADM_LO3 (-4240)
#define HV_ADM_HI0 (-4240)
#define HV_ADM_HI1 (-7345)
#define HV_ADM_HI2 27411
#define HV_ADM_HI3 (-15826)

/* cos(1 degree) squared, rounded to float: the least squared cosine at which a distorted gradient
 * still counts as the reference's, enhanced. */
#define HV_ADM_COS2 0.999695420265197753906250f

/* One band coefficient, split in what keeps the reference's structure and what was added. */
typedef struct HvAdmSplit {
    int32_t restored, additive;
} HvAdmSplit;

/* The index that stands for `i`, at most two beyond either end, in a row of n samples: -1 is 1, and
 * n and above mirror with the last sample repeated. Holds down to n = 1. */
HV_INLINE int hv_adm_mirror(int i, int n)
{
    if (i < 0)
        i = -i;
    if (i >= n)
        i = 2 * n - 1 - i;
    return i < 0 ? 0 : i;
}

HV_INLINE int64_t hv_adm_low(int64_t s0, int64_t s1, int64_t s2, int64_t s3)
{
    return HV_ADM_LO0 * s0 + HV_ADM_LO1 * s1 + HV_ADM_LO2 * s2 + HV_ADM_LO3 * s3;
}

HV_INLINE int64_t hv_adm_high(int64_t s0, int64_t s1, int64_t s2, int64_t s3)
{
    return HV_ADM_HI0 * s0 + HV_ADM_HI1 * s1 + HV_ADM_HI2 * s2 + HV_ADM_HI3 * s3;
}

/* An arithmetic right shift that rounds half up; a shift of 0 leaves the value alone. */
HV_INLINE int64_t hv_adm_round_shift(int64_t value, int shift)
{
    return shift > 0 ? (value + ((int64_t)1 << (shift - 1))) >> shift : value;
}

HV_INLINE uint32_t hv_adm_abs(int32_t value)
{
    return value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
}

HV_INLINE int hv_adm_bits(uint32_t value)
{
    return value ? 32 - __builtin_clz(value) : 0;
}

/* Whether the angle between the (horizontal, vertical) gradients of reference and distorted is
 * below one degree. Each product sum is rounded to float, as the reference implementation does. */
HV_INLINE int hv_adm_aligned(int32_t oh, int32_t ov, int32_t th, int32_t tv)
{
    float dot = (float)((int64_t)oh * th + (int64_t)ov * tv);
    float o_sq = (float)((int64_t)oh * oh + (int64_t)ov * ov);
    float t_sq = (float)((int64_t)th * th + (int64_t)tv * tv);
    double dot_sq = ((double)dot / 4096.0) * ((double)dot / 4096.0);
    return dot >= 0.0f &&
           dot_sq >= (double)HV_ADM_COS2 * ((double)o_sq / 4096.0) * ((double)t_sq / 4096.0);
}

/* The gain t / o in Q15, limited to 0 and 1: o is cut to 15 significant bits and its reciprocal
 * taken as floor(2^30 / o). Where o is 0 the gain is 1. */
HV_INLINE int32_t hv_adm_gain(int32_t o, int32_t t)
{
    if (o == 0)
        return 32768;
    uint32_t magnitude = hv_adm_abs(o);
    int shift = hv_adm_bits(magnitude) - 15;
    if (shift < 0)
        shift = 0;
    uint32_t divisor = (magnitude + ((1u << shift) >> 1)) >> shift;
    int64_t product = (int64_t)(0x40000000u / divisor) * (o < 0 ? -(int64_t)t : (int64_t)t);
    int64_t gain = hv_adm_round_shift(product, 15 + shift);
    return gain < 0 ? 0 : gain > 32768 ? 32768 : (int32_t)gain;
}

/* Decouples one coefficient: o of the reference, t of the distorted. `limit`, at least 1, bounds
 * how far an aligned coefficient may be enhanced. */
HV_INLINE HvAdmSplit hv_adm_decouple(int32_t o, int32_t t, int aligned, double limit)
{
    int32_t gain = hv_adm_gain(o, t);
    int32_t restored = (int32_t)(((int64_t)gain * o + 16384) >> 15);
    if (aligned && gain > 0 && o != 0) {
        double enhanced = restored * limit;
        double target = t;
        restored = (int32_t)(o > 0 ? (enhanced < target ? enhanced : target)
                                   : (enhanced > target ? enhanced : target));
    }
    HvAdmSplit split = {restored, t - restored};
    return split;
}

/* Contrast sensitivity at scale 0 of one coefficient, to 16 bits. The product has 21 fractional
 * bits in the horizontal and vertical bands (shift 15, round 16384), 23 in the diagonal one (shift
 * 17, round 65535). */
HV_INLINE int32_t hv_adm_csf0(int32_t product, int shift, int32_t round)
{
    return (int16_t)((int32_t)((uint32_t)product + (uint32_t)round) >> shift);
}

/* 1/30 and 1/15 of a weighted coefficient's magnitude: its share in the masking threshold of its
 * neighbours and in its own, at scale 0. */
HV_INLINE int32_t hv_adm_share30_0(int32_t weighted)
{
    return (int16_t)((4369u * hv_adm_abs(weighted) + 2048u) >> 12);
}

HV_INLINE int32_t hv_adm_share15_0(int32_t weighted)
{
    return (int16_t)((8738u * hv_adm_abs(weighted) + 2048u) >> 12);
}

/* The same at scales 1 to 3; `factor` has 32 fractional bits. */
HV_INLINE int32_t hv_adm_csf(int32_t value, uint32_t factor)
{
    return (int32_t)(((int64_t)factor * value + (1 << 27)) >> 28);
}

/* The rounding term is -2^31, not 2^31: so the reference implementation has it, and the share of
 * 0 is -1. */
HV_INLINE int32_t hv_adm_share30(int32_t weighted)
{
    return (int32_t)(((int64_t)143165577 * hv_adm_abs(weighted) - ((int64_t)1 << 31)) >> 32);
}

HV_INLINE int32_t hv_adm_share15(int32_t weighted)
{
    return (int32_t)(((int64_t)286331153 * hv_adm_abs(weighted) - ((int64_t)1 << 31)) >> 32);
}

/* The cube of what exceeds the masking threshold. */
HV_INLINE int64_t hv_adm_masked_cube(uint32_t magnitude, uint32_t threshold, int square_shift,
                                     int cube_shift)
{
    int32_t x = (int32_t)(magnitude - threshold);
    if (x < 0)
        x = 0;
    int32_t square = (int32_t)hv_adm_round_shift((int64_t)x * x, square_shift);
    return hv_adm_round_shift((int64_t)square * x, cube_shift);
}

/* The cube of a reference coefficient at scales 1 to 3, for the denominator. The square's rounding
 * term is a whole unit, not half of one: so the reference implementation has it. */
HV_INLINE uint64_t hv_adm_cube(uint32_t magnitude, int square_shift, int cube_shift)
{
    uint64_t square =
        ((uint64_t)magnitude * magnitude + ((uint64_t)1 << square_shift)) >> square_shift;
    return (uint64_t)hv_adm_round_shift((int64_t)(square * magnitude), cube_shift);
}

#endif
