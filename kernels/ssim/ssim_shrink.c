/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pictures made smaller for SSIM and MS-SSIM, and the loading of their samples. Plain loops, which
 * the compiler vectorises. */
#include "kernels/ssim/ssim_hot.h"

#include <string.h>

static const void *row_at(const HvSsimImage *in, int row)
{
    return (const char *)in->data + hv_ssim_mirror(row, in->height) * in->stride;
}

static void load8(float *restrict to, const uint8_t *from, int n)
{
    for (int j = 0; j < n; j++)
        to[j] = (float)from[j];
}

static void load16(float *restrict to, const uint16_t *from, int n, const HvSsimImage *in)
{
    int shift = in->shift, mask = in->mask;
    float unit = in->unit;
    for (int j = 0; j < n; j++)
        to[j] = (float)(from[j] >> shift & mask) * unit;
}

static void load_inside(const HvSsimImage *in, const void *row, int from, int n, float *to)
{
    if (in->bytes == 1)
        load8(to, (const uint8_t *)row + from, n);
    else if (in->bytes == 2)
        load16(to, (const uint16_t *)row + from, n, in);
    else
        memcpy(to, (const float *)row + from, n * sizeof *to);
}

void HV_HOT(hv_ssim_load)(const HvSsimImage *in, int row, int from, int n, float *to)
{
    int left = MAX(-from, 0), right = MIN(n, in->width - from);
    load_inside(in, row_at(in, row), from + left, right - left, to + left);
    for (int j = 0; j < left; j++)
        to[j] = to[hv_ssim_mirror(from + j, in->width) - from];
    for (int j = right; j < n; j++)
        to[j] = to[hv_ssim_mirror(from + j, in->width) - from];
}

static void add_row8(double *restrict sum, const uint8_t *row, int n, float weight)
{
    for (int j = 0; j < n; j++)
        sum[j] += (double)((float)row[j] * weight);
}

static void add_row16(double *restrict sum, const uint16_t *row, int n, float weight,
                      const HvSsimImage *in)
{
    int shift = in->shift, mask = in->mask;
    for (int j = 0; j < n; j++)
        sum[j] += (double)((float)(row[j] >> shift & mask) * weight);
}

/* One row of means. Sums of columns first: they are exact, so any order gives the same. */
static void box_row(const HvSsimShrink *shrink, int y)
{
    const HvSsimImage *in = &shrink->in;
    int factor = shrink->factor, half = factor / 2, width = in->width;
    float weight = 1.0f / (float)(factor * factor) * in->unit;
    float *out = (float *)((char *)shrink->out + y * shrink->out_stride);
    double *column = shrink->scratch->column;
    memset(column, 0, width * sizeof *column);
    for (int k = 0; k < factor; k++) {
        const void *row = row_at(in, y * factor - half + k);
        if (in->bytes == 1)
            add_row8(column, row, width, weight);
        else
            add_row16(column, row, width, weight, in);
    }
    for (int j = 1; j <= half + 1; j++) {
        column[-j] = column[j - 1];
        column[width - 1 + j] = column[width - j];
    }
    for (int x = 0; x < shrink->out_width; x++) {
        double sum = 0;
        for (int k = 0; k < factor; k++)
            sum += column[x * factor - half + k];
        out[x] = (float)sum;
    }
}

void HV_HOT(hv_ssim_box)(const HvSsimShrink *shrink)
{
    for (int y = shrink->first; y < shrink->last; y++)
        box_row(shrink, y);
}

static void part(float *restrict even, float *restrict odd, const float *sample)
{
    for (int j = 0; j < HV_SSIM_HALF_IN; j++) {
        even[j] = sample[2 * j];
        odd[j] = sample[2 * j + 1];
    }
}

static void part8(float *restrict even, float *restrict odd, const uint8_t *sample)
{
    for (int j = 0; j < HV_SSIM_HALF_IN; j++) {
        even[j] = (float)sample[2 * j];
        odd[j] = (float)sample[2 * j + 1];
    }
}

static int slot(int row)
{
    return (row + HV_SSIM_LOW_TAPS) % HV_SSIM_LOW_TAPS;
}

static inline void filter_at(HvSsimLowRow *row, const float *even, const float *odd, int j, int d,
                             HvSsimCare care)
{
    HvSsimSum sum = hv_ssim_low_pass(even + j, odd + j, d, care);
    row->high[d / 2][j] = sum.high;
    row->low[d / 2][j] = sum.low;
}

/* By themselves, so that the compiler knows that no two of these overlap, and without an inner
 * loop, which would keep it from making vectors. */
static G_GNUC_NO_INLINE void filter_even(HvSsimLowRow *restrict row, const float *even,
                                         const float *odd)
{
    for (int j = 0; j < HV_SSIM_STRIP; j++) {
        filter_at(row, even, odd, j, 0, HV_SSIM_EXACT);
        filter_at(row, even, odd, j, 2, HV_SSIM_EXACT);
        filter_at(row, even, odd, j, 4, HV_SSIM_EXACT);
    }
}

static G_GNUC_NO_INLINE void filter_odd(HvSsimLowRow *restrict row, const float *even,
                                        const float *odd)
{
    for (int j = 0; j < HV_SSIM_STRIP; j++) {
        filter_at(row, even, odd, j, 1, HV_SSIM_EXACT);
        filter_at(row, even, odd, j, 3, HV_SSIM_EXACT);
    }
}

static G_GNUC_NO_INLINE void filter_even_near(HvSsimLowRow *restrict row, const float *even,
                                              const float *odd)
{
    for (int j = 0; j < HV_SSIM_STRIP; j++) {
        filter_at(row, even, odd, j, 0, HV_SSIM_NEAR);
        filter_at(row, even, odd, j, 2, HV_SSIM_NEAR);
        filter_at(row, even, odd, j, 4, HV_SSIM_NEAR);
    }
}

static G_GNUC_NO_INLINE void filter_odd_near(HvSsimLowRow *restrict row, const float *even,
                                             const float *odd)
{
    for (int j = 0; j < HV_SSIM_STRIP; j++) {
        filter_at(row, even, odd, j, 1, HV_SSIM_NEAR);
        filter_at(row, even, odd, j, 3, HV_SSIM_NEAR);
    }
}

/* Even and odd columns of a row of the larger picture, which may lie beyond its edge, for n columns
 * of the smaller one from `left` on. Only what lies inside is read where it is. */
static void load_row(const HvSsimShrink *shrink, int row, int left, int n)
{
    const HvSsimImage *in = &shrink->in;
    HvSsimScratch *s = shrink->scratch;
    int from = 2 * left - HV_SSIM_LOW_REACH, needed = 2 * (n + HV_SSIM_LOW_REACH);
    float *even = s->even[row & 1], *odd = s->odd[row & 1];
    gboolean inside = from >= 0 && from + 2 * HV_SSIM_HALF_IN <= in->width;
    hv_ssim_fetch(in, row + HV_SSIM_AHEAD, MAX(from, 0), needed);
    if (inside && in->bytes == 1) {
        part8(even, odd, (const uint8_t *)row_at(in, row) + from);
    } else if (inside && in->bytes == sizeof(float)) {
        part(even, odd, (const float *)row_at(in, row) + from);
    } else {
        int more = MIN(2 * HV_SSIM_HALF_IN, in->width - from);
        HV_HOT(hv_ssim_load)(in, row, from, MAX(needed, more), s->sample);
        part(even, odd, s->sample);
    }
}

static void filter_row(const HvSsimShrink *shrink, int row)
{
    HvSsimScratch *s = shrink->scratch;
    HvSsimLowRow *out = &s->low[slot(row)];
    const float *even = s->even[row & 1], *odd = s->odd[row & 1];
    if (hv_ssim_is_large(shrink->in.width, shrink->in.height))
        (row % 2 ? filter_odd_near : filter_even_near)(out, even, odd);
    else
        (row % 2 ? filter_odd : filter_even)(out, even, odd);
}

/* The rows around `row`, added from the uppermost on. */
static void halve_row(const HvSsimScratch *s, int row, int n, float *restrict out)
{
    const HvSsimLowRow *in[HV_SSIM_LOW_TAPS];
    for (int k = 0; k < HV_SSIM_LOW_TAPS; k++)
        in[k] = &s->low[slot(row + k - HV_SSIM_LOW_REACH)];
    for (int j = 0; j < n; j++) {
        HvSsimSum sum = {0, 0};
        for (int k = 0; k < HV_SSIM_LOW_TAPS; k++) {
            int d = ABS(k - HV_SSIM_LOW_REACH);
            sum.high += in[k]->high[d / 2][j];
            sum.low += in[k]->low[d / 2][j];
        }
        out[j] = sum.high + sum.low;
    }
}

static void halve_strip(const HvSsimShrink *shrink, int left, int n)
{
    int next = 2 * shrink->first - HV_SSIM_LOW_REACH;
    load_row(shrink, next, left, n);
    for (int y = shrink->first; y < shrink->last; y++) {
        float *out = (float *)((char *)shrink->out + y * shrink->out_stride) + left;
        for (; next <= 2 * y + HV_SSIM_LOW_REACH; next++) {
            load_row(shrink, next + 1, left, n);
            filter_row(shrink, next);
        }
        halve_row(shrink->scratch, 2 * y, n, out);
    }
}

void HV_HOT(hv_ssim_halve)(const HvSsimShrink *shrink)
{
    for (int left = 0; left < shrink->out_width; left += HV_SSIM_STRIP)
        halve_strip(shrink, left, MIN(HV_SSIM_STRIP, shrink->out_width - left));
}
