/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arithmetic of VIF, one sample at a time: what every backend must agree on to the bit.
 * docs/vif.md explains each step and names its source. Plain integers and IEEE doubles, no library
 * call: the same text compiles for the host and for GPUs. */
#ifndef HV_VIF_ARITH_H
#define HV_VIF_ARITH_H

#include "kernels/hip/device.h"

#include <stdint.h>

#ifndef HV_INLINE
#define HV_INLINE static inline
#endif

#define HV_VIF_SCALES   4
#define HV_VIF_MAX_HALF 8 /* half the widest filter */

/* The variance of the visual noise, 2, with 16 fractional bits. */
#define HV_VIF_NOISE 131072

/* log2 of 16-bit numbers from 2^15 on, with 11 fractional bits. */
#define HV_VIF_LOG_FIRST 32768
#define HV_VIF_LOG_SIZE  32768

/* libvmaf 3.2, integer_vif.h: half of each scale's symmetric filter, the middle tap first. All taps
 * of a filter add up to 2^16. */
#define HV_VIF_TAPS0 7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489
#define HV_VIF_TAPS1 14692, 12590, 7925, 3663, 1244
#define HV_VIF_TAPS2 26386, 16004, 3571
#define HV_VIF_TAPS3 43728, 10904

/* What a backend sums over one scale. Pixels whose reference variance is below the noise's count
 * in the two `flat` sums, the others in the logarithms. */
typedef struct HvVifSums {
    int64_t num_log, den_log;     /* 11 fractional bits */
    int64_t num_flat, count_flat; /* the distorted variance, 16 fractional bits; pixels */
} HvVifSums;

/* Local means (16-bit samples, 32 fractional bits in all) and second moments of one pixel. */
typedef struct HvVifMoments {
    uint32_t mean1, mean2;
    uint32_t square1, square2, product;
} HvVifMoments;

/* The index that stands for `i`, at most 8 beyond either end, in a row of n samples, which is long
 * enough: mirrored without repeating the edge. */
HV_INLINE int hv_vif_mirror(int i, int n)
{
    if (i < 0)
        return -i;
    return i < n ? i : 2 * (n - 1) - i;
}

/* A product and a sum, rounded once. */
#ifndef HV_FMA
#define HV_FMA(a, b, c)  __builtin_fma(a, b, c)
#define HV_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#endif

/* log2 without the table. 2048 * log2(m) of m in an eighth of [1, 2) is a whole number (the base,
 * less 127 * 2048 for the bias of a float's exponent) and the logarithm of m times a reciprocal,
 * which is close to 1. Of all such pairs these round to the table's entry everywhere: docs/vif.md
 * says how they were found, and a test goes through every entry. */
typedef struct HvVifLogPieces {
    float reciprocal[8];
    int32_t base[8];
} HvVifLogPieces;

static const HvVifLogPieces hv_vif_log_pieces = {
    {0.94121623f, 0.84203589f, 0.762283087f, 0.695476949f, 0.639917433f, 0.592594743f, 0.552685916f,
     0.516163111f},
    {179 - 127 * 2048, 508 - 127 * 2048, 802 - 127 * 2048, 1073 - 127 * 2048, 1319 - 127 * 2048,
     1546 - 127 * 2048, 1752 - 127 * 2048, 1954 - 127 * 2048}};

/* Coefficients of 2048 * log2(1 + r), for r within 1/16 of 0, from r's on. */
#define HV_VIF_LOG_SERIES 2954.63945f, -1477.31972f, 984.879815f, -738.659861f

/* log2(x) with 11 fractional bits, of x from 2^16 to 2^31, by its 16 leading bits. As a float, x
 * has them in the upper bits of the mantissa: the bit after them is cleared, so that no rounding
 * reaches them. Adding 1.5 * 2^23 rounds to the nearest number. */
HV_INLINE int32_t hv_vif_log2_pieces(const HvVifLogPieces *pieces, uint32_t x)
{
    const float series[] = {HV_VIF_LOG_SERIES};
    union {
        float f;
        uint32_t bits;
    } whole, m, part;
    whole.f = (float)(x & ~(x >> 16));
    m.bits = (whole.bits & 0x007fff00) | 0x3f800000;
    unsigned eighth = whole.bits >> 20 & 7;
    float r = HV_FMAF(m.f, pieces->reciprocal[eighth], -1.0f);
    float sum = HV_FMAF(HV_FMAF(series[3], r, series[2]), r, series[1]);
    part.f = HV_FMAF(sum, r, series[0]) * r + 12582912.0f;
    return (int32_t)(part.bits - 0x4b400000 + (whole.bits >> 12 & ~2047u)) + pieces->base[eighth];
}

/* log2(x) with 11 fractional bits, of x from 2^16 to 2^31, by its 16 leading bits: read on the
 * host, computed on a GPU, where 32 lanes would read from 32 places. */
#ifdef HV_KERNEL
typedef const HvVifLogPieces *HvVifLog;

HV_INLINE int32_t hv_vif_log2(HvVifLog log, uint32_t x)
{
    return hv_vif_log2_pieces(log, x);
}
#else
typedef const uint16_t *HvVifLog;

HV_INLINE int32_t hv_vif_log2(HvVifLog log, uint32_t x)
{
    int shift = 16 - __builtin_clz(x);
    return log[(x >> shift) - HV_VIF_LOG_FIRST] + 2048 * shift;
}
#endif

/* a / b, correctly rounded as IEEE division is, for positive a and b whose mantissa is not all
 * ones, from an estimate of 1 / b to 12 bits or better: Newton's steps bring the reciprocal within
 * a unit in the last place, one more rounds it correctly, and the quotient follows from it and its
 * remainder (Markstein, "Computation of elementary functions on the IBM RISC System/6000
 * processor", IBM J. Res. Dev. 34(1), 1990). A GPU's compiler takes three times the instructions,
 * to scale for the extremes of the exponent. */
HV_INLINE double hv_vif_divide_from(double a, double b, double estimate)
{
    double r = estimate;
    r = HV_FMA(r, HV_FMA(-b, r, 1.0), r);
    r = HV_FMA(r, HV_FMA(-b, r, 1.0), r);
    r = HV_FMA(r, HV_FMA(-b, r, 1.0), r);
    r = HV_FMA(r, HV_FMA(-b, r, 1.0), r);
    double q = a * r;
    return HV_FMA(HV_FMA(-b, q, a), r, q);
}

/* The same: the host's processor divides well. */
HV_INLINE double hv_vif_divide(double a, double b)
{
#ifdef HV_KERNEL
    return hv_vif_divide_from(a, b, (double)HV_RECIPROCAL_ESTIMATE((float)b));
#else
    return a / b;
#endif
}

/* Adds one pixel: Sheikh and Bovik's information that the reference carries (den) and that the
 * distorted picture keeps of it (num), with the gain g = cov / var and the residual's variance.
 * Every quantity within the logarithms stays below 2^31: g * g * var1 is at most var2. */
HV_INLINE void hv_vif_add(HvVifSums *sums, const HvVifMoments *m, HvVifLog log, double gain_limit)
{
    const uint64_t half = (uint64_t)1 << 31;
    int32_t var1 = (int32_t)(m->square1 - (uint32_t)(((uint64_t)m->mean1 * m->mean1 + half) >> 32));
    int32_t var2 = (int32_t)(m->square2 - (uint32_t)(((uint64_t)m->mean2 * m->mean2 + half) >> 32));
    int32_t cov = (int32_t)(m->product - (uint32_t)(((uint64_t)m->mean1 * m->mean2 + half) >> 32));
    if (var2 < 0)
        var2 = 0;
    /* Each sum gets its own addition: of alternatives that end alike, compilers make one through
     * an address chosen at run time, and the sums would have to be in memory. */
    int flat = var1 < HV_VIF_NOISE;
    sums->num_flat += flat ? var2 : 0;
    sums->count_flat += flat;
    sums->den_log += flat ? 0 : hv_vif_log2(log, (uint32_t)(HV_VIF_NOISE + var1)) - 2048 * 17;
    if (flat || cov <= 0 || var2 <= 0)
        return;
    double gain = hv_vif_divide(cov, var1 + 65536 * 1.0e-10);
    int32_t residual = (int32_t)(var2 - gain * cov);
    if (residual < 0)
        residual = 0;
    if (gain > gain_limit)
        gain = gain_limit;
    uint32_t noise = (uint32_t)(residual + HV_VIF_NOISE);
    uint32_t signal = (uint32_t)(int32_t)(gain * gain * var1) + noise;
    sums->num_log += hv_vif_log2(log, signal) - hv_vif_log2(log, noise);
}

#endif
