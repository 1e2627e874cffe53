/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM's windows: five moments of each, by a horizontal and a vertical pass, and the sums of what
 * they say. Plain loops, which the compiler vectorises. */
#include "kernels/ssim/ssim_hot.h"

#include <string.h>

#define STRIP HV_SSIM_STRIP

static void multiply(float *restrict out, const float *a, const float *b)
{
    for (int j = 0; j < HV_SSIM_STRIP_IN; j++)
        out[j] = a[j] * b[j];
}

static float base_of(int i)
{
    return i <= HV_SSIM_Y ? HV_SSIM_SAMPLES : HV_SSIM_SQUARES;
}

static void across(float *restrict out, const float *in, float base)
{
    for (int j = 0; j < STRIP; j++)
        out[j] = hv_ssim_blur(in + j, 1, base);
}

static void across_single(float *restrict out, const float *in)
{
    for (int j = 0; j < STRIP; j++)
        out[j] = hv_ssim_blur_single(in + j, 1);
}

/* A picture's row from the strip's left side on, as floats. */
static const float *find_samples(const HvSsimWindows *w, int picture, int row)
{
    const HvSsimImage *in = &w->in[picture];
    if (in->bytes == sizeof(float))
        return (const float *)((const char *)in->data + row * in->stride) + w->left;
    float *to = w->scratch->in[picture];
    HV_HOT(hv_ssim_load)(in, row, w->left, MIN(HV_SSIM_STRIP_IN, in->width - w->left), to);
    return to;
}

/* A row of both pictures, filtered horizontally; the strip's full width, though less may count. */
static void filter_row(const HvSsimWindows *w, int row)
{
    HvSsimScratch *s = w->scratch;
    const float *x = find_samples(w, 0, row), *y = find_samples(w, 1, row);
    const float *in[] = {x, y, s->in[HV_SSIM_XX], s->in[HV_SSIM_YY], s->in[HV_SSIM_XY]};
    multiply(s->in[HV_SSIM_XX], x, x);
    multiply(s->in[HV_SSIM_YY], y, y);
    multiply(s->in[HV_SSIM_XY], x, y);
    for (int i = 0; i < HV_SSIM_ROWS; i++)
        if (w->exact)
            across(s->across[i][row % HV_SSIM_TAPS], in[i], base_of(i));
        else
            across_single(s->across[i][row % HV_SSIM_TAPS], in[i]);
}

/* The rows that a window takes, from `row` on. */
static void find_rows(const HvSsimScratch *s, int i, int row, const float **rows)
{
    for (int k = 0; k < HV_SSIM_TAPS; k++)
        rows[k] = s->across[i][(row + k) % HV_SSIM_TAPS];
}

#define GATHER(r, j)                                                                               \
    {                                                                                              \
        r[0][j], r[1][j], r[2][j], r[3][j], r[4][j], r[5][j], r[6][j], r[7][j], r[8][j], r[9][j],  \
            r[10][j]                                                                               \
    }

static void down(float *restrict out, const float *const *rows, float base)
{
    const float *r[HV_SSIM_TAPS];
    memcpy(r, rows, sizeof r);
    for (int j = 0; j < STRIP; j++) {
        const float x[HV_SSIM_TAPS] = GATHER(r, j);
        out[j] = hv_ssim_blur(x, 1, base);
    }
}

static void down_single(float *restrict out, const float *const *rows)
{
    const float *r[HV_SSIM_TAPS];
    memcpy(r, rows, sizeof r);
    for (int j = 0; j < STRIP; j++) {
        const float x[HV_SSIM_TAPS] = GATHER(r, j);
        out[j] = hv_ssim_blur_single(x, 1);
    }
}

static inline HvSsimTerms compare_at(const HvSsimScratch *s, int j)
{
    HvSsimMoments moments = {s->moment[HV_SSIM_X][j], s->moment[HV_SSIM_Y][j],
                             s->moment[HV_SSIM_XX][j], s->moment[HV_SSIM_YY][j],
                             s->moment[HV_SSIM_XY][j]};
    return hv_ssim_compare(&moments);
}

static void compare(const HvSsimScratch *s, HvSsimSums *sums, int n)
{
    int64_t ssim = 0, l = 0, c = 0, structure = 0;
    for (int j = 0; j < n; j++) {
        HvSsimTerms terms = compare_at(s, j);
        ssim += hv_ssim_fixed(terms.l * terms.c * terms.s);
        l += hv_ssim_fixed(terms.l);
        c += hv_ssim_fixed(terms.c);
        structure += hv_ssim_fixed(terms.s);
    }
    sums->ssim += ssim;
    sums->l += l;
    sums->c += c;
    sums->s += structure;
}

static void compare_cs(const HvSsimScratch *s, HvSsimSums *sums, int n)
{
    int64_t c = 0, structure = 0;
    for (int j = 0; j < n; j++) {
        HvSsimTerms terms = compare_at(s, j);
        c += hv_ssim_fixed(terms.c);
        structure += hv_ssim_fixed(terms.s);
    }
    sums->c += c;
    sums->s += structure;
}

static void sum_row(const HvSsimWindows *w, int row)
{
    HvSsimScratch *s = w->scratch;
    const float *rows[HV_SSIM_TAPS];
    for (int i = 0; i < HV_SSIM_ROWS; i++) {
        find_rows(s, i, row, rows);
        if (w->exact)
            down(s->moment[i], rows, base_of(i));
        else
            down_single(s->moment[i], rows);
    }
    if (w->luminance)
        compare(s, &s->sums[w->scale], w->right - w->left);
    else
        compare_cs(s, &s->sums[w->scale], w->right - w->left);
}

void HV_HOT(hv_ssim_windows)(const HvSsimWindows *windows)
{
    int next = windows->first;
    for (int row = windows->first; row < windows->last; row++) {
        for (; next < row + HV_SSIM_TAPS; next++)
            filter_row(windows, next);
        sum_row(windows, row);
    }
}
