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

static void across_near(float *restrict out, const float *in, float base)
{
    for (int j = 0; j < STRIP; j++)
        out[j] = hv_ssim_blur_near(in + j, 1, base);
}

/* All five from the same loads, of which most straddle two lines of the cache. */
static void across_float(float (*restrict out)[STRIP], const float *x, const float *y)
{
    for (int j = 0; j < STRIP; j++) {
        HvSsimMoments sums = hv_ssim_blur_row_float(x + j, y + j);
        out[HV_SSIM_X][j] = sums.mean1;
        out[HV_SSIM_Y][j] = sums.mean2;
        out[HV_SSIM_XX][j] = sums.square1;
        out[HV_SSIM_YY][j] = sums.square2;
        out[HV_SSIM_XY][j] = sums.product;
    }
}

/* A row of both pictures from the strip's left side on, as floats. */
static void load_row(const HvSsimWindows *w, int row)
{
    for (int p = 0; p < HV_SSIM_PICTURES; p++) {
        const HvSsimImage *in = &w->in[p];
        hv_ssim_fetch(in, row + HV_SSIM_AHEAD, w->left, HV_SSIM_STRIP_IN);
        int n = MIN(HV_SSIM_STRIP_IN, in->width - w->left);
        float *to = w->scratch->in[row % 2][p];
        if (in->bytes != sizeof(float))
            HV_HOT(hv_ssim_load)(in, row, w->left, n, to);
    }
}

static const float *find_samples(const HvSsimWindows *w, int picture, int row)
{
    const HvSsimImage *in = &w->in[picture];
    if (in->bytes == sizeof(float))
        return (const float *)((const char *)in->data + row * in->stride) + w->left;
    return w->scratch->in[row % 2][picture];
}

/* A row of both pictures, filtered horizontally; the strip's full width, though less may count. */
static void filter_row(const HvSsimWindows *w, int row)
{
    HvSsimScratch *s = w->scratch;
    float(*out)[STRIP] = s->across[row % HV_SSIM_RING];
    const float *x = find_samples(w, 0, row), *y = find_samples(w, 1, row);
    if (w->care == HV_SSIM_FLOAT) {
        across_float(out, x, y);
        return;
    }
    const float *in[] = {x, y, s->product[0], s->product[1], s->product[2]};
    multiply(s->product[0], x, x);
    multiply(s->product[1], y, y);
    multiply(s->product[2], x, y);
    for (int i = 0; i < HV_SSIM_ROWS; i++)
        (w->care == HV_SSIM_NEAR ? across_near : across)(out[i], in[i], base_of(i));
}

/* Two rows of windows, one below the other, take these from `row` on. */
static void find_rows(const HvSsimScratch *s, int row, const float **rows)
{
    for (int k = 0; k < HV_SSIM_RING; k++)
        rows[k] = s->across[(row + k) % HV_SSIM_RING][0];
}

#define GATHER(r, j)                                                                               \
    {                                                                                              \
        r[0][j], r[1][j], r[2][j], r[3][j], r[4][j], r[5][j], r[6][j], r[7][j], r[8][j], r[9][j],  \
            r[10][j], r[11][j]                                                                     \
    }

static void down(float *restrict upper, float *restrict lower, const float *const *rows, int i,
                 float base)
{
    const float *r[HV_SSIM_RING];
    memcpy(r, rows, sizeof r);
    for (int j = 0; j < STRIP; j++) {
        const float x[HV_SSIM_RING] = GATHER(r, i * STRIP + j);
        upper[j] = hv_ssim_blur(x, 1, base);
        lower[j] = hv_ssim_blur(x + 1, 1, base);
    }
}

static void down_near(float *restrict upper, float *restrict lower, const float *const *rows, int i,
                      float base)
{
    const float *r[HV_SSIM_RING];
    memcpy(r, rows, sizeof r);
    for (int j = 0; j < STRIP; j++) {
        const float x[HV_SSIM_RING] = GATHER(r, i * STRIP + j);
        upper[j] = hv_ssim_blur_near(x, 1, base);
        lower[j] = hv_ssim_blur_near(x + 1, 1, base);
    }
}

static void down_float(float *restrict upper, float *restrict lower, const float *const *rows,
                       int i)
{
    const float *r[HV_SSIM_RING];
    memcpy(r, rows, sizeof r);
    for (int j = 0; j < STRIP; j++) {
        const float x[HV_SSIM_RING] = GATHER(r, i * STRIP + j);
        upper[j] = hv_ssim_blur_float(x, 1);
        lower[j] = hv_ssim_blur_float(x + 1, 1);
    }
}

static inline HvSsimMoments moments_at(const float (*moment)[STRIP], int j)
{
    return (HvSsimMoments){moment[HV_SSIM_X][j], moment[HV_SSIM_Y][j], moment[HV_SSIM_XX][j],
                           moment[HV_SSIM_YY][j], moment[HV_SSIM_XY][j]};
}

static void compare(const float (*moment)[STRIP], HvSsimSums *sums, int n)
{
    int64_t ssim = 0, l = 0, c = 0, structure = 0;
    for (int j = 0; j < n; j++) {
        HvSsimMoments moments = moments_at(moment, j);
        HvSsimTerms terms = hv_ssim_compare(&moments);
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

static void compare_cs(const float (*moment)[STRIP], HvSsimSums *sums, int n)
{
    int64_t c = 0, structure = 0;
    for (int j = 0; j < n; j++) {
        HvSsimMoments moments = moments_at(moment, j);
        HvSsimTerms terms = hv_ssim_compare(&moments);
        c += hv_ssim_fixed(terms.c);
        structure += hv_ssim_fixed(terms.s);
    }
    sums->c += c;
    sums->s += structure;
}

_Static_assert(HV_SSIM_STRIP <= HV_SSIM_CUT_WINDOWS, "a row's terms fit into 32 bits");

static void compare_cut(const float (*moment)[STRIP], HvSsimSums *sums, int n)
{
    int32_t l = 0, c = 0, structure = 0;
    for (int j = 0; j < n; j++) {
        HvSsimMoments moments = moments_at(moment, j);
        HvSsimCutTerms terms = hv_ssim_compare_cut(&moments);
        l += terms.l;
        c += terms.c;
        structure += terms.s;
    }
    sums->l += (int64_t)l * HV_SSIM_CUT_UNIT;
    sums->c += (int64_t)c * HV_SSIM_CUT_UNIT;
    sums->s += (int64_t)structure * HV_SSIM_CUT_UNIT;
}

static void compare_cut_cs(const float (*moment)[STRIP], HvSsimSums *sums, int n)
{
    int32_t c = 0, structure = 0;
    for (int j = 0; j < n; j++) {
        HvSsimMoments moments = moments_at(moment, j);
        HvSsimCutTerms terms = hv_ssim_compare_cut(&moments);
        c += terms.c;
        structure += terms.s;
    }
    sums->c += (int64_t)c * HV_SSIM_CUT_UNIT;
    sums->s += (int64_t)structure * HV_SSIM_CUT_UNIT;
}

static void (*choose_comparison(const HvSsimWindows *w))(const float (*)[STRIP], HvSsimSums *, int)
{
    if (w->care == HV_SSIM_EXACT)
        return w->luminance ? compare : compare_cs;
    return w->luminance ? compare_cut : compare_cut_cs;
}

/* Two rows of windows, of which `n` count; the lower one's last row may be any numbers. */
static void sum_rows(const HvSsimWindows *w, int row, int n)
{
    HvSsimScratch *s = w->scratch;
    const float *rows[HV_SSIM_RING];
    find_rows(s, row, rows);
    for (int i = 0; i < HV_SSIM_ROWS; i++)
        if (w->care == HV_SSIM_FLOAT)
            down_float(s->moment[0][i], s->moment[1][i], rows, i);
        else
            (w->care == HV_SSIM_NEAR ? down_near : down)(s->moment[0][i], s->moment[1][i], rows, i,
                                                         base_of(i));
    for (int k = 0; k < n; k++)
        choose_comparison(w)(s->moment[k], &s->sums[w->scale], w->right - w->left);
}

void HV_HOT(hv_ssim_windows)(const HvSsimWindows *windows)
{
    int next = windows->first, end = windows->last + HV_SSIM_TAPS - 1;
    load_row(windows, next);
    for (int row = windows->first; row < windows->last; row += 2) {
        int n = MIN(windows->last - row, 2);
        for (; next < row + n + HV_SSIM_TAPS - 1; next++) {
            if (next + 1 < end)
                load_row(windows, next + 1);
            filter_row(windows, next);
        }
        sum_rows(windows, row, n);
    }
}
