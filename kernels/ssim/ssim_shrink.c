/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pictures made smaller for SSIM and MS-SSIM, and the loading of their samples. Plain loops, which
 * the compiler vectorises. */
#include "kernels/ssim/ssim_hot.h"

#include <string.h>

static const float low_taps[HV_SSIM_LOW_REACH + 1][HV_SSIM_LOW_REACH + 1] = HV_SSIM_LOW_FILTER;

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

static int slot(int row)
{
    return (row + HV_SSIM_LOW_TAPS) % HV_SSIM_LOW_TAPS;
}

/* A row of the larger picture, which may lie beyond its edge, for n columns from `left` on. */
static void load_row(const HvSsimShrink *shrink, int row, int left, int n)
{
    HvSsimScratch *s = shrink->scratch;
    int from = 2 * left - HV_SSIM_LOW_REACH, needed = 2 * (n + HV_SSIM_LOW_REACH);
    int inside = MIN(2 * HV_SSIM_HALF_IN, shrink->in.width - from);
    HV_HOT(hv_ssim_load)(&shrink->in, row, from, MAX(needed, inside), s->sample);
    part(s->even[slot(row)], s->odd[slot(row)], s->sample);
}

/* By itself, so that the compiler knows that no two of these overlap. */
static G_GNUC_NO_INLINE void add_row(float *restrict high, float *restrict low, const float *even,
                                     const float *odd, const float *taps)
{
    for (int j = 0; j < HV_SSIM_STRIP; j++) {
        HvSsimSum sum = hv_ssim_low_pass((HvSsimSum){high[j], low[j]}, even + j, odd + j, taps);
        high[j] = sum.high;
        low[j] = sum.low;
    }
}

static void halve_row(HvSsimScratch *s, int row, int n, float *restrict out)
{
    for (int j = 0; j < HV_SSIM_STRIP; j++) {
        s->high[j] = HV_SSIM_SAMPLES;
        s->low[j] = 0;
    }
    for (int y = -HV_SSIM_LOW_REACH; y <= HV_SSIM_LOW_REACH; y++)
        add_row(s->high, s->low, s->even[slot(row + y)], s->odd[slot(row + y)], low_taps[ABS(y)]);
    for (int j = 0; j < n; j++)
        out[j] = hv_ssim_rounded((HvSsimSum){s->high[j], s->low[j]}, HV_SSIM_SAMPLES);
}

static void halve_strip(const HvSsimShrink *shrink, int left, int n)
{
    int next = 2 * shrink->first - HV_SSIM_LOW_REACH;
    for (int y = shrink->first; y < shrink->last; y++) {
        float *out = (float *)((char *)shrink->out + y * shrink->out_stride) + left;
        for (; next <= 2 * y + HV_SSIM_LOW_REACH; next++)
            load_row(shrink, next, left, n);
        halve_row(shrink->scratch, 2 * y, n, out);
    }
}

void HV_HOT(hv_ssim_halve)(const HvSsimShrink *shrink)
{
    for (int left = 0; left < shrink->out_width; left += HV_SSIM_STRIP)
        halve_strip(shrink, left, MIN(HV_SSIM_STRIP, shrink->out_width - left));
}
