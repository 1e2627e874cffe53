/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM's hot loops on the CPU: the pictures made smaller, and the windows' sums. Compiled once per
 * processor level. */
#ifndef HV_SSIM_HOT_H
#define HV_SSIM_HOT_H

#include "kernels/cpu/level.h"

/* Filters mostly add. Where a processor has units of their own for multiplying with an addition,
 * one addition in four goes there, times a 1 that the compiler must not know. */
extern const float hv_ssim_one;
#ifdef __FMA__
#define HV_SSIM_PLUS(a, b) __builtin_fmaf(b, hv_ssim_one, a)
#endif

#include "kernels/ssim/ssim.h"

enum { HV_SSIM_REFERENCE, HV_SSIM_DISTORTED, HV_SSIM_PICTURES };

/* Pictures go in strips of columns, so that what a strip needs stays in the cache. Where there is
 * room, a little more is loaded, to a multiple of what vectors take at a time. */
#define HV_SSIM_STRIP    96
#define HV_SSIM_STRIP_IN (HV_SSIM_STRIP + 32)
#define HV_SSIM_HALF_IN  (HV_SSIM_STRIP + 16)

/* What is filtered: both pictures, their squares and their product. */
enum { HV_SSIM_X, HV_SSIM_Y, HV_SSIM_XX, HV_SSIM_YY, HV_SSIM_XY, HV_SSIM_ROWS };

/* One picture: samples as they came, of 1 or 2 bytes, or floats in the range of 8 bits, after whose
 * rows HV_SSIM_STRIP_IN more may be read. */
typedef struct HvSsimImage {
    const void *data;
    ptrdiff_t stride;
    int width, height, bytes;
    int shift, mask; /* of a word */
    float unit;      /* what a sample is multiplied with */
} HvSsimImage;

/* One thread's memory. */
typedef struct HvSsimScratch {
    float in[HV_SSIM_ROWS][HV_SSIM_STRIP_IN];
    float across[HV_SSIM_ROWS][HV_SSIM_TAPS][HV_SSIM_STRIP]; /* by row modulo HV_SSIM_TAPS */
    float moment[HV_SSIM_ROWS][HV_SSIM_STRIP];
    float sample[2 * HV_SSIM_HALF_IN];
    /* even and odd columns, by row modulo HV_SSIM_LOW_TAPS */
    float even[HV_SSIM_LOW_TAPS][HV_SSIM_HALF_IN], odd[HV_SSIM_LOW_TAPS][HV_SSIM_HALF_IN];
    float high[HV_SSIM_STRIP], low[HV_SSIM_STRIP]; /* HvSsimSum */
    double *column; /* of a whole row, with what lies beyond its ends */
    HvSsimSums sums[HV_SSIM_SCALES];
} HvSsimScratch;

/* Windows whose first samples are in rows [first, last) and columns [left, right), at most
 * HV_SSIM_STRIP of these; their sums are added to the scale's. */
typedef struct HvSsimWindows {
    HvSsimImage in[HV_SSIM_PICTURES];
    int first, last, left, right;
    int scale;
    gboolean exact, luminance;
    HvSsimScratch *scratch;
} HvSsimWindows;

/* Rows [first, last) of a smaller picture. */
typedef struct HvSsimShrink {
    HvSsimImage in;
    float *out;
    ptrdiff_t out_stride; /* bytes */
    int out_width, first, last;
    int factor; /* of hv_ssim_box */
    HvSsimScratch *scratch;
} HvSsimShrink;

/* hv_ssim_box: the means of factor x factor samples. hv_ssim_halve: every second row and column of
 * the low-pass filtered picture. hv_ssim_load: samples [from, from + n) of a row, which may lie
 * beyond its ends. */
#define HV_DECLARE_HOT(level)                                                                      \
    void hv_ssim_windows_##level(const HvSsimWindows *windows);                                    \
    void hv_ssim_box_##level(const HvSsimShrink *shrink);                                          \
    void hv_ssim_halve_##level(const HvSsimShrink *shrink);                                        \
    void hv_ssim_load_##level(const HvSsimImage *in, int row, int from, int n, float *to);

HV_DECLARE_HOT(baseline)
HV_DECLARE_HOT(v3)
HV_DECLARE_HOT(v4)
HV_DECLARE_HOT(vnni)

#endif
