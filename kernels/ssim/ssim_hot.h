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

/* Rows that two rows of windows take. */
#define HV_SSIM_RING (HV_SSIM_TAPS + 1)

/* One picture: samples as they came, of 1 or 2 bytes, or floats in the range of 8 bits, after whose
 * rows HV_SSIM_STRIP_IN more may be read. */
typedef struct HvSsimImage {
    const void *data;
    ptrdiff_t stride;
    int width, height, bytes;
    int shift, mask; /* of a word */
    float unit;      /* what a sample is multiplied with */
} HvSsimImage;

/* One row's sums (HvSsimSum), for the distances from the middle that it can be at: by half of that,
 * an even row's 0, 2 and 4, an odd row's 1 and 3. */
typedef struct HvSsimLowRow {
    float high[HV_SSIM_LOW_REACH / 2 + 1][HV_SSIM_STRIP];
    float low[HV_SSIM_LOW_REACH / 2 + 1][HV_SSIM_STRIP];
} HvSsimLowRow;

/* One thread's memory. A row is loaded before the one above it is filtered: loads that straddle
 * what has just been stored would wait. */
typedef struct HvSsimScratch {
    float in[2][HV_SSIM_PICTURES][HV_SSIM_STRIP_IN]; /* by row modulo 2 */
    float product[HV_SSIM_ROWS - HV_SSIM_XX][HV_SSIM_STRIP_IN];
    float across[HV_SSIM_RING][HV_SSIM_ROWS][HV_SSIM_STRIP]; /* by row modulo HV_SSIM_RING */
    float moment[2][HV_SSIM_ROWS][HV_SSIM_STRIP];            /* of two rows of windows */
    float sample[2 * HV_SSIM_HALF_IN];
    /* columns of it, by row modulo 2 */
    float even[2][HV_SSIM_HALF_IN], odd[2][HV_SSIM_HALF_IN];
    HvSsimLowRow low[HV_SSIM_LOW_TAPS]; /* by row modulo HV_SSIM_LOW_TAPS */
    double *column;                     /* of a whole row, with what lies beyond its ends */
    HvSsimSums sums[HV_SSIM_SCALES];
} HvSsimScratch;

/* Windows whose first samples are in rows [first, last) and columns [left, right), at most
 * HV_SSIM_STRIP of these; their sums are added to the scale's. */
typedef struct HvSsimWindows {
    HvSsimImage in[HV_SSIM_PICTURES];
    int first, last, left, right;
    int scale;
    HvSsimCare care;
    gboolean luminance;
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

/* A processor foresees rows that are read from end to end, but not those of strips. */
#define HV_SSIM_AHEAD 2

/* Has samples [from, from + n) of a row brought into the cache. */
static inline void hv_ssim_fetch(const HvSsimImage *in, int row, int from, int n)
{
    const char *first = (const char *)in->data + CLAMP(row, 0, in->height - 1) * in->stride;
    for (int at = from * in->bytes; at < (from + n) * in->bytes; at += 64)
        __builtin_prefetch(first + at);
}

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
