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

/* The filters, where the samples have 16 bits: the results have 32. */
HV_INLINE int32_t hv_adm_low16(int32_t s0, int32_t s1, int32_t s2, int32_t s3)
{
    return HV_ADM_LO0 * s0 + HV_ADM_LO1 * s1 + HV_ADM_LO2 * s2 + HV_ADM_LO3 * s3;
}

HV_INLINE int32_t hv_adm_high16(int32_t s0, int32_t s1, int32_t s2, int32_t s3)
{
    return HV_ADM_HI0 * s0 + HV_ADM_HI1 * s1 + HV_ADM_HI2 * s2 + HV_ADM_HI3 * s3;
}

/* The filters, where they have 32. */
HV_INLINE int64_t hv_adm_low(int64_t s0, int64_t s1, int64_t s2, int64_t s3)
{
    return HV_ADM_LO0 * s0 + HV_ADM_LO1 * s1 + HV_ADM_LO2 * s2 + HV_ADM_LO3 * s3;
}

HV_INLINE int64_t hv_adm_high(int64_t s0, int64_t s1, int64_t s2, int64_t s3)
{
    return HV_ADM_HI0 * s0 + HV_ADM_HI1 * s1 + HV_ADM_HI2 * s2 + HV_ADM_HI3 * s3;
}

/* A sample, less the middle of the range. Bits above the depth are no part of it. */
HV_INLINE int32_t hv_adm_centred(int32_t word, int shift, int depth)
{
    return ((word >> shift) & ((1 << depth) - 1)) - (1 << (depth - 1));
}

/* The same of byte k of four 8-bit samples. */
HV_INLINE int32_t hv_adm_centred8(uint32_t bytes, int k)
{
    return (int8_t)((bytes ^ 0x80808080u) >> 8 * k);
}

/* The filters' results at scale 0, to 16 bits: after the vertical pass (shift: the depth) and after
 * the horizontal one (shift: 16). */
HV_INLINE int32_t hv_adm_round16(int32_t value, int shift)
{
    return (int16_t)((value + (1 << (shift - 1))) >> shift);
}

/* A sum that wraps: with factors that wrapped themselves, sums of cubes need more than 64 bits. */
HV_INLINE int64_t hv_adm_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* An arithmetic right shift that rounds half up, by 0 to 62; a shift of 0 leaves the value alone.
 */
HV_INLINE int64_t hv_adm_round_shift(int64_t value, int shift)
{
    return hv_adm_add(value, ((int64_t)1 << shift) >> 1) >> shift;
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

/* The same, from estimates in float where they are clear: their error is below 2^-20 of what is
 * compared. Where 64-bit and double arithmetic is slow, this is not. */
HV_INLINE int hv_adm_aligned_soon(int32_t oh, int32_t ov, int32_t th, int32_t tv)
{
    float foh = (float)oh, fov = (float)ov, fth = (float)th, ftv = (float)tv;
    float dot = foh * fth + fov * ftv;
    float both = (foh * foh + fov * fov) * (fth * fth + ftv * ftv);
    float excess = dot * dot - both * HV_ADM_COS2;
    float doubt = both * (1.0f / (1 << 18));
    if (dot > 0.0f && excess < doubt && -excess < doubt)
        return hv_adm_aligned(oh, ov, th, tv);
    return dot >= 0.0f && excess >= 0.0f;
}

/* floor(2^30 / m) for m from 1 to 2^15, from an estimate of 1 / m whose error is at most 2^-17 of
 * it: the remainder makes it exact, twice, so that the estimate's error, and how the processor
 * rounds, do not reach the result. */
HV_INLINE uint32_t hv_adm_reciprocal_from(uint32_t m, float estimate)
{
    int32_t q = (int32_t)(estimate * 1073741824.0f);
    int32_t rest = (1 << 30) - (int32_t)((uint32_t)q * m);
    int32_t more = (int32_t)((float)rest * estimate);
    rest -= more * (int32_t)m;
    q += more;
    return (uint32_t)(q + (rest >= (int32_t)m) - (rest < 0));
}

#ifndef HV_RECIPROCAL_ESTIMATE
#define HV_RECIPROCAL_ESTIMATE(x) (1.0f / (x))
#endif

/* The same where integers divide slowly. */
HV_INLINE uint32_t hv_adm_reciprocal(uint32_t m)
{
    return hv_adm_reciprocal_from(m, HV_RECIPROCAL_ESTIMATE((float)m));
}

/* The gain t / o in Q15, limited to 0 and 1: o is cut to 15 significant bits and its reciprocal
 * taken as floor(2^30 / o). Where o is 0 the gain is 1, where the signs differ it is 0. */
HV_INLINE int32_t hv_adm_gain(int32_t o, int32_t t)
{
    if (o == 0)
        return 32768;
    if ((o ^ t) < 0)
        return 0;
    uint32_t magnitude = hv_adm_abs(o);
    int shift = hv_adm_bits(magnitude) - 15;
    if (shift < 0)
        shift = 0;
    uint32_t divisor = (magnitude + ((1u << shift) >> 1)) >> shift;
    uint64_t product = (uint64_t)hv_adm_reciprocal(divisor) * hv_adm_abs(t);
    uint64_t gain = (product + ((uint64_t)1 << (14 + shift))) >> (15 + shift);
    return gain > 32768 ? 32768 : (int32_t)gain;
}

/* The same at scale 0, where coefficients have 16 bits. Twice the reference's magnitude is enough
 * for a gain of 1: cut to that, products stay within 32 bits. */
HV_INLINE int32_t hv_adm_gain0(int32_t o, int32_t t)
{
    uint32_t magnitude = hv_adm_abs(o), target = hv_adm_abs(t);
    if (target > 2 * magnitude)
        target = 2 * magnitude;
    uint32_t gain = (hv_adm_reciprocal(magnitude | !magnitude) * target + 16384) >> 15;
    gain = gain > 32768 ? 32768 : gain;
    return o == 0 ? 32768 : (o ^ t) < 0 ? 0 : (int32_t)gain;
}

/* What an aligned coefficient counts as: the restored one enhanced by `limit`, but no more than the
 * distorted one, t. `o` has t's sign. */
HV_INLINE int32_t hv_adm_enhance(int32_t o, int32_t t, int32_t restored, double limit)
{
    double enhanced = restored * limit, target = t;
    return (int32_t)(o > 0 ? (enhanced < target ? enhanced : target)
                           : (enhanced > target ? enhanced : target));
}

/* The same for a whole limit, which doubles hold exactly. */
HV_INLINE int32_t hv_adm_enhance_whole(int32_t o, int32_t t, int32_t restored, int32_t limit)
{
    int64_t enhanced = (int64_t)restored * limit;
    return (int32_t)(o > 0 ? (enhanced < t ? enhanced : t) : (enhanced > t ? enhanced : t));
}

/* The same at scale 0, for a limit of at most 100: 32 bits hold everything. */
HV_INLINE int32_t hv_adm_enhance0_whole(int32_t o, int32_t t, int32_t restored, int32_t limit)
{
    int32_t enhanced = restored * limit;
    return o > 0 ? (enhanced < t ? enhanced : t) : (enhanced > t ? enhanced : t);
}

/* Decouples one coefficient: o of the reference, t of the distorted. `limit`, at least 1, bounds
 * how far an aligned coefficient may be enhanced. `whole` is the same where it is whole, else 0; it
 * may always be 0, and spares doubles where it is not. */
HV_INLINE HvAdmSplit hv_adm_decouple(int32_t o, int32_t t, int aligned, double limit, int32_t whole)
{
    int32_t gain = hv_adm_gain(o, t);
    int32_t restored = (int32_t)(((int64_t)gain * o + 16384) >> 15);
    if (aligned && gain > 0 && o != 0)
        restored = whole ? hv_adm_enhance_whole(o, t, restored, whole)
                         : hv_adm_enhance(o, t, restored, limit);
    HvAdmSplit split = {restored, t - restored};
    return split;
}

/* The same at scale 0. */
HV_INLINE HvAdmSplit hv_adm_decouple0(int32_t o, int32_t t, int aligned, double limit,
                                      int32_t whole)
{
    int32_t gain = hv_adm_gain0(o, t);
    int32_t restored = (gain * o + 16384) >> 15;
    if (aligned && gain > 0 && o != 0)
        restored = whole ? hv_adm_enhance0_whole(o, t, restored, whole)
                         : hv_adm_enhance(o, t, restored, limit);
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
