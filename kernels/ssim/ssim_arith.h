/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arithmetic of SSIM and MS-SSIM, one sample at a time: what every backend must agree on to the
 * bit. docs/ssim.md explains each step and names its source. IEEE floats and doubles, each
 * operation rounded: the same text compiles for the host and for GPUs.
 *
 * Filters round as libvmaf's do: each product to float, and their sum, which libvmaf has in double.
 * For MS-SSIM of large pictures all or small products are added in float, the outermost samples
 * first, and before they are multiplied those that have the same tap. */
#ifndef HV_SSIM_ARITH_H
#define HV_SSIM_ARITH_H

#include "kernels/hip/device.h"

#include <stdint.h>

#ifndef HV_INLINE
#define HV_INLINE static inline
#endif

/* A sum, rounded. */
#ifndef HV_SSIM_PLUS
#define HV_SSIM_PLUS(a, b) ((a) + (b))
#endif

#define HV_SSIM_SCALES 5

/* How a scale's sums are made. Rounding as libvmaf's takes most of the time, and averages out over
 * many windows. */
typedef enum HvSsimCare {
    HV_SSIM_FLOAT, /* in one float */
    HV_SSIM_NEAR,  /* in two where products are large */
    HV_SSIM_EXACT  /* in two: the last place is libvmaf's, too */
} HvSsimCare;

/* The window is 11x11, the low-pass filter before halving 9x9. */
#define HV_SSIM_TAPS      11
#define HV_SSIM_REACH     5
#define HV_SSIM_LOW_TAPS  9
#define HV_SSIM_LOW_REACH 4

/* Of HV_SSIM_NEAR: how far from the window's middle products are added with care. */
#define HV_SSIM_CARE 3

/* (0.01 * 255)^2, (0.03 * 255)^2 and half of that, in float. */
#define HV_SSIM_C1 ((0.01f * 255) * (0.01f * 255))
#define HV_SSIM_C2 ((0.03f * 255) * (0.03f * 255))
#define HV_SSIM_C3 (HV_SSIM_C2 / 2.0f)

/* What a backend sums over one scale's windows, 32 fractional bits: no order of them changes it. */
typedef struct HvSsimSums {
    int64_t ssim, l, c, s;
} HvSsimSums;

/* Weighted sums over one window. */
typedef struct HvSsimMoments {
    float mean1, mean2, square1, square2, product;
} HvSsimMoments;

/* Luminance, contrast and structure. */
typedef struct HvSsimTerms {
    double l, c, s;
} HvSsimTerms;

/* A number below 2^19 in magnitude, to 32 fractional bits: those of the sum with 1.5 * 2^20, whose
 * last place they are. */
HV_INLINE int64_t hv_ssim_fixed(double x)
{
    union {
        double value;
        int64_t bits;
    } number = {x + 1572864.0};
    return number.bits - 0x4138000000000000;
}

/* libvmaf 3.2, iqa/ssim_tools.h: the window's taps at distance k, for constant k. */
HV_INLINE float hv_ssim_tap(int k)
{
    const float taps[HV_SSIM_REACH + 1] = {0.266012f, 0.213006f, 0.109361f,
                                           0.036001f, 0.007599f, 0.001028f};
    return taps[k < 0 ? -k : k];
}

/* MS-SSIM's scales with more samples are HV_SSIM_FLOAT, what is made of them HV_SSIM_NEAR. SSIM
 * makes large pictures small. */
HV_INLINE int hv_ssim_is_large(int width, int height)
{
    return (int64_t)width * height > 1 << 20;
}

/* libvmaf 3.2, ms_ssim.c: the low-pass filter's taps, by the distances in rows and in columns. */
#define HV_SSIM_LOW_FILTER                                                                         \
    {                                                                                              \
        {0.363505f, 0.160885f, -0.047149f, -0.010146f, 0.016114f},                                 \
            {0.160885f, 0.071207f, -0.020867f, -0.004490f, 0.007132f},                             \
            {-0.047149f, -0.020867f, 0.006115f, 0.001316f, -0.002090f},                            \
            {-0.010146f, -0.004490f, 0.001316f, 0.000283f, -0.000450f},                            \
        {                                                                                          \
            0.016114f, 0.007132f, -0.002090f, -0.000450f, 0.000714f                                \
        }                                                                                          \
    }

/* The index that stands for `i`, at most n beyond either end, in a row of n samples: mirrored, the
 * edge repeated. */
HV_INLINE int hv_ssim_mirror(int i, int n)
{
    if (i < 0)
        return -1 - i;
    return i < n ? i : 2 * n - 1 - i;
}

/* A sum of floats to more places than a float has, without doubles: `high` begins at 1.5 * 2^k, so
 * that it stays on one grid, and `low` has what of each number lies between its lines. k is such
 * that the numbers' magnitudes add up to less than 2^(k - 1): those of samples to 1140, which the
 * low-pass filter can make of 255 by the fifth scale, and those that it adds up on the way. */
typedef struct HvSsimSum {
    float high, low;
} HvSsimSum;

#define HV_SSIM_SAMPLES 6144.0f
#define HV_SSIM_SQUARES 6291456.0f

HV_INLINE HvSsimSum hv_ssim_add(HvSsimSum sum, float x)
{
    float high = HV_SSIM_PLUS(sum.high, x);
    return (HvSsimSum){high, sum.low + (x - (high - sum.high))};
}

/* The same, for every other number: the additions are shared out better. */
HV_INLINE HvSsimSum hv_ssim_add_too(HvSsimSum sum, float x)
{
    float high = HV_SSIM_PLUS(sum.high, x);
    return (HvSsimSum){high, HV_SSIM_PLUS(sum.low, x - (high - sum.high))};
}

HV_INLINE float hv_ssim_rounded(HvSsimSum sum, float base)
{
    return (sum.high - base) + sum.low;
}

/* One pass of the window over 11 samples, or squares, that are `step` apart. */
HV_INLINE float hv_ssim_blur(const float *x, int step, float base)
{
    HvSsimSum sum = {base, 0};
    HV_UNROLL
    for (int k = 0; k < HV_SSIM_TAPS - 1; k += 2) {
        sum = hv_ssim_add(sum, x[k * step] * hv_ssim_tap(k - HV_SSIM_REACH));
        sum = hv_ssim_add_too(sum, x[(k + 1) * step] * hv_ssim_tap(k + 1 - HV_SSIM_REACH));
    }
    sum = hv_ssim_add(sum, x[(HV_SSIM_TAPS - 1) * step] * hv_ssim_tap(HV_SSIM_REACH));
    return hv_ssim_rounded(sum, base);
}

/* With care for the seven in the middle only, the others added first, those of equal taps before
 * they are multiplied. */
HV_INLINE float hv_ssim_blur_near(const float *x, int step, float base)
{
    HvSsimSum sum = {base, 0};
    HV_UNROLL
    for (int k = 0; k < HV_SSIM_REACH - HV_SSIM_CARE; k++)
        sum.low +=
            (x[k * step] + x[(HV_SSIM_TAPS - 1 - k) * step]) * hv_ssim_tap(k - HV_SSIM_REACH);
    HV_UNROLL
    for (int k = HV_SSIM_REACH - HV_SSIM_CARE; k < HV_SSIM_REACH; k++) {
        float tap = hv_ssim_tap(k - HV_SSIM_REACH);
        sum = hv_ssim_add(sum, x[k * step] * tap);
        sum = hv_ssim_add_too(sum, x[(HV_SSIM_TAPS - 1 - k) * step] * tap);
    }
    sum = hv_ssim_add(sum, x[HV_SSIM_REACH * step] * hv_ssim_tap(0));
    return hv_ssim_rounded(sum, base);
}

HV_INLINE float hv_ssim_blur_float(const float *x, int step)
{
    float sum = 0;
    HV_UNROLL
    for (int k = 0; k < HV_SSIM_REACH; k++)
        sum += (x[k * step] + x[(HV_SSIM_TAPS - 1 - k) * step]) * hv_ssim_tap(k - HV_SSIM_REACH);
    return sum + x[HV_SSIM_REACH * step] * hv_ssim_tap(0);
}

/* The same of a row of both pictures, their squares and their product. */
HV_INLINE HvSsimMoments hv_ssim_blur_row_float(const float *x, const float *y)
{
    HvSsimMoments sum = {0, 0, 0, 0, 0};
    HV_UNROLL
    for (int k = 0; k < HV_SSIM_REACH; k++) {
        float tap = hv_ssim_tap(k - HV_SSIM_REACH);
        float x1 = x[k], x2 = x[HV_SSIM_TAPS - 1 - k], y1 = y[k], y2 = y[HV_SSIM_TAPS - 1 - k];
        sum.mean1 += (x1 + x2) * tap;
        sum.mean2 += (y1 + y2) * tap;
        sum.square1 += (x1 * x1 + x2 * x2) * tap;
        sum.square2 += (y1 * y1 + y2 * y2) * tap;
        sum.product += (x1 * y1 + x2 * y2) * tap;
    }
    float tap = hv_ssim_tap(0), x0 = x[HV_SSIM_REACH], y0 = y[HV_SSIM_REACH];
    sum.mean1 += x0 * tap;
    sum.mean2 += y0 * tap;
    sum.square1 += x0 * x0 * tap;
    sum.square2 += y0 * y0 * tap;
    sum.product += x0 * y0 * tap;
    return sum;
}

/* How far from the middle of a row, which is at distance d from the middle one, the low-pass
 * filter's products are added with care. */
HV_INLINE int hv_ssim_low_care(int d, HvSsimCare care)
{
    return care == HV_SSIM_EXACT || d < 2 ? HV_SSIM_LOW_REACH : d < 3 ? 2 : 1;
}

/* A row of the low-pass filter, at distance d from the middle one: its nine samples are even[0],
 * odd[0], even[1], ... even[4]. Rows' high parts have no base, and are exact added up. For constant
 * d and care, HV_SSIM_NEAR or HV_SSIM_EXACT. */
HV_INLINE HvSsimSum hv_ssim_low_pass(const float *even, const float *odd, int d, HvSsimCare care)
{
    const float taps[HV_SSIM_LOW_REACH + 1][HV_SSIM_LOW_REACH + 1] = HV_SSIM_LOW_FILTER;
    const float x[HV_SSIM_LOW_TAPS] = {even[0], odd[0],  even[1], odd[1], even[2],
                                       odd[2],  even[3], odd[3],  even[4]};
    int reach = hv_ssim_low_care(d, care);
    HvSsimSum sum = {HV_SSIM_SAMPLES, 0};
    HV_UNROLL
    for (int k = HV_SSIM_LOW_REACH; k > reach; k--)
        sum.low += (x[HV_SSIM_LOW_REACH - k] + x[HV_SSIM_LOW_REACH + k]) * taps[d][k];
    HV_UNROLL
    for (int k = reach; k > 0; k--) {
        sum = hv_ssim_add(sum, x[HV_SSIM_LOW_REACH - k] * taps[d][k]);
        sum = hv_ssim_add_too(sum, x[HV_SSIM_LOW_REACH + k] * taps[d][k]);
    }
    sum = hv_ssim_add(sum, x[HV_SSIM_LOW_REACH] * taps[d][0]);
    sum.high -= HV_SSIM_SAMPLES;
    return sum;
}

/* The square root, rounded to float. Rounding a double's that is off in its last places gives the
 * same, since no float's root comes that close to halfway between two floats; so does division. */
HV_INLINE float hv_ssim_root(float x)
{
#ifdef HV_KERNEL
    return (float)sqrt((double)x);
#else
    return __builtin_sqrtf(x);
#endif
}

HV_INLINE float hv_ssim_divide(float a, float b)
{
#ifdef HV_KERNEL
    return (float)((double)a / (double)b);
#else
    return a / b;
#endif
}

/* What the three comparisons are made of: variances, covariance, and the root of the variances'
 * product. Where one of the variances is 0, a negative covariance is rounding and nothing else. */
typedef struct HvSsimSpread {
    float mean11, mean22, var1, var2, covariance, both;
} HvSsimSpread;

HV_INLINE HvSsimSpread hv_ssim_spread(const HvSsimMoments *m)
{
    HvSsimSpread r;
    r.mean11 = m->mean1 * m->mean1;
    r.mean22 = m->mean2 * m->mean2;
    float var1 = m->square1 - r.mean11, var2 = m->square2 - r.mean22;
    float covariance = m->product - m->mean1 * m->mean2;
    r.var1 = var1 > 0.0f ? var1 : 0.0f;
    r.var2 = var2 > 0.0f ? var2 : 0.0f;
    r.both = hv_ssim_root(r.var1 * r.var2);
    float least = r.both * -1e30f; /* below any covariance, or 0 */
    r.covariance = covariance > least ? covariance : least;
    return r;
}

/* Wang, Bovik, Sheikh and Simoncelli's three comparisons. */
HV_INLINE HvSsimTerms hv_ssim_compare(const HvSsimMoments *m)
{
    HvSsimSpread r = hv_ssim_spread(m);
    HvSsimTerms terms;
    terms.l = (2.0 * (double)m->mean1 * (double)m->mean2 + (double)HV_SSIM_C1) /
              (double)(r.mean11 + r.mean22 + HV_SSIM_C1);
    terms.c = (2.0 * (double)r.both + (double)HV_SSIM_C2) / (double)(r.var1 + r.var2 + HV_SSIM_C2);
    terms.s = (double)hv_ssim_divide(r.covariance + HV_SSIM_C3, r.both + HV_SSIM_C3);
    return terms;
}

/* The same where not HV_SSIM_EXACT: to 24 fractional bits, cut. */
typedef struct HvSsimCutTerms {
    int32_t l, c, s;
} HvSsimCutTerms;

#define HV_SSIM_CUT_UNIT    256 /* one in HvSsimSums's fractional bits */
#define HV_SSIM_CUT_WINDOWS 96  /* so many add up in 32 bits, were each 1.3 */

HV_INLINE HvSsimCutTerms hv_ssim_compare_cut(const HvSsimMoments *m)
{
    HvSsimSpread r = hv_ssim_spread(m);
    float l =
        hv_ssim_divide(2.0f * (m->mean1 * m->mean2) + HV_SSIM_C1, r.mean11 + r.mean22 + HV_SSIM_C1);
    float c = hv_ssim_divide(2.0f * r.both + HV_SSIM_C2, r.var1 + r.var2 + HV_SSIM_C2);
    float s = hv_ssim_divide(r.covariance + HV_SSIM_C3, r.both + HV_SSIM_C3);
    return (HvSsimCutTerms){(int32_t)(l * 16777216.0f), (int32_t)(c * 16777216.0f),
                            (int32_t)(s * 16777216.0f)};
}

#endif
