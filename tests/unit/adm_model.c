/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plain model of ADM: whole frames, one step after the other, every integer in 64 bits and cut
 * where docs/adm.md says so. */
#include "adm_model.h"

#include <math.h>
#include <stdlib.h>

typedef int64_t i64;

enum { H, V, D, A, BANDS };

/* One band or low band. */
typedef struct Map {
    int w, h;
    i64 *at;
} Map;

static Map map_new(int w, int h)
{
    Map m = {w, h, calloc((size_t)w * h, sizeof(i64))};
    return m;
}

static i64 shift_down(i64 x, int n)
{
    return x >> n;
}

/* Sums wrap at 64 bits. */
static i64 add(i64 a, i64 b)
{
    return (i64)((uint64_t)a + (uint64_t)b);
}

static i64 rs(i64 x, int n)
{
    return n > 0 ? shift_down(add(x, (i64)1 << (n - 1)), n) : x;
}

static int log_up(i64 n)
{
    int k = 0;
    while (((i64)1 << k) < n)
        k++;
    return k;
}

static int index_of(int i, int n)
{
    if (i == -1)
        i = 1;
    if (i >= n)
        i = 2 * n - 1 - i;
    return i < 0 ? 0 : i;
}

static i64 get(const Map *m, int x, int y)
{
    return m->at[(size_t)index_of(y, m->h) * m->w + index_of(x, m->w)];
}

static const int low_taps[4] = {15826, 27411, 7345, -4240};
static const int high_taps[4] = {-4240, -7345, 27411, -15826};

static i64 keep(i64 x, int scale)
{
    return scale == 0 ? (int16_t)x : (int32_t)x;
}

static Map filter_down(const Map *in, const int *taps, int shift, int scale)
{
    Map out = map_new(in->w, (in->h + 1) / 2);
    for (int y = 0; y < out.h; y++)
        for (int x = 0; x < out.w; x++) {
            i64 sum = 0;
            for (int k = 0; k < 4; k++)
                sum += taps[k] * get(in, x, 2 * y - 1 + k);
            out.at[(size_t)y * out.w + x] = keep(rs(sum, shift), scale);
        }
    return out;
}

static Map filter_across(const Map *in, const int *taps, int shift, int scale)
{
    Map out = map_new((in->w + 1) / 2, in->h);
    for (int y = 0; y < out.h; y++)
        for (int x = 0; x < out.w; x++) {
            i64 sum = 0;
            for (int k = 0; k < 4; k++)
                sum += taps[k] * get(in, 2 * x - 1 + k, y);
            out.at[(size_t)y * out.w + x] = keep(rs(sum, shift), scale);
        }
    return out;
}

static void transform(const Map *in, int scale, int depth, Map *band)
{
    static const int vertical[4] = {0, 0, 16, 16}, horizontal[4] = {16, 15, 16, 15};
    int shift = scale ? vertical[scale] : depth;
    Map low = filter_down(in, low_taps, shift, scale),
        high = filter_down(in, high_taps, shift, scale);
    band[A] = filter_across(&low, low_taps, horizontal[scale], scale);
    band[V] = filter_across(&low, high_taps, horizontal[scale], scale);
    band[H] = filter_across(&high, low_taps, horizontal[scale], scale);
    band[D] = filter_across(&high, high_taps, horizontal[scale], scale);
    free(low.at);
    free(high.at);
}

static int is_aligned(i64 oh, i64 ov, i64 th, i64 tv)
{
    const float c = 0.999695420265197753906250f;
    float dot = (float)(oh * th + ov * tv);
    float oo = (float)(oh * oh + ov * ov), tt = (float)(th * th + tv * tv);
    double d = dot / 4096.0;
    return dot >= 0 && d * d >= c * (oo / 4096.0) * (tt / 4096.0);
}

static i64 restore(i64 o, i64 t, int aligned, double limit)
{
    i64 gain = 32768;
    if (o != 0) {
        i64 m = llabs(o);
        int n = 0;
        while ((m >> n) >= 32768)
            n++;
        m = rs(m, n);
        i64 q = ((i64)1 << 30) / m;
        gain = rs((o < 0 ? -q : q) * t, 15 + n);
        gain = gain < 0 ? 0 : gain > 32768 ? 32768 : gain;
    }
    i64 r = rs(gain * o, 15);
    if (aligned && gain > 0 && o > 0)
        r = (i64)fmin((double)r * limit, (double)t);
    if (aligned && gain > 0 && o < 0)
        r = (i64)fmax((double)r * limit, (double)t);
    return r;
}

static void decouple(const Map *o, const Map *t, double limit, Map *restored, Map *added)
{
    for (int b = 0; b < 3; b++) {
        restored[b] = map_new(o[b].w, o[b].h);
        added[b] = map_new(o[b].w, o[b].h);
    }
    for (size_t i = 0; i < (size_t)o[H].w * o[H].h; i++) {
        int aligned = is_aligned(o[H].at[i], o[V].at[i], t[H].at[i], t[V].at[i]);
        for (int b = 0; b < 3; b++) {
            restored[b].at[i] = restore(o[b].at[i], t[b].at[i], aligned, limit);
            added[b].at[i] = t[b].at[i] - restored[b].at[i];
        }
    }
}

static float watson(float r, int s, int diagonal)
{
    static const float amplitude[4][2] = {
        {0.67234f, 0.72709f}, {0.41317f, 0.49428f}, {0.22727f, 0.28688f}, {0.11792f, 0.15214f}};
    const float a = 0.495f, k = 0.466f, f0 = 0.401f, g = diagonal ? 0.534f : 1.0f;
    float t = (float)log10(pow(2.0, s + 1) * f0 * g / r);
    float e = k * t * t;
    float q = (float)(2.0 * a * pow(10.0, e) / amplitude[s][diagonal]);
    return 1.0f / q;
}

static float barten(float r, int s, double scale)
{
    static const float row[2][4] = {{0.334278f, 3.79542f, 1.07327f, 6.4635f},
                                    {0.394533f, 2.7755f, 1.16577f, 7.45665f}};
    static const float a_i[4] = {0.424838596301290f, 0.572435103936480f, 0.000167576239164937f,
                                 0.00255872352306433f};
    static const float b_i[4] = {0.028f, 0.37f, 37, 360};
    float f = (float)(r / pow(2, s + 1));
    float left = (float)log10(20.0f), right = (float)log10(150.0f), here = (float)log10(100.0);
    float p[4], mtf = 0;
    for (int i = 0; i < 4; i++)
        p[i] = row[0][i] + ((row[1][i] - row[0][i]) / (right - left)) * (here - left);
    float a = (float)(1.0f + pow(p[0] * f, p[1]));
    float b = (float)(1.0f / pow(1 - exp(-pow(f / 7, 2)), p[2]));
    float n = (float)(p[3] / pow(a * b, 0.5));
    for (int i = 0; i < 4; i++)
        mtf = (float)(mtf + a_i[i] * exp(-b_i[i] * f));
    float rod = (float)(30.162f * pow(pow(4.0627f / 100.0f, 1.6596f) + 1, -0.2712f));
    return (float)(n * mtf * rod * scale);
}

static void find_factors(AdmModel *m)
{
    float r = (float)(m->norm_view_dist * m->ref_display_height * M_PI / 180.0);
    for (int s = 0; s < 4; s++)
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            if (m->csf_mode == 0)
                m->factor[s][diagonal] = watson(r, s, diagonal);
            if (m->csf_mode == 1)
                m->factor[s][diagonal] = barten(r, s, diagonal ? m->csf_diag_scale : m->csf_scale);
        }
}

static i64 fixed_factor(const AdmModel *m, int s, int b)
{
    double factor = m->factor[s][b == D];
    if (s)
        return (uint32_t)(i64)(factor * 4294967296.0);
    if (m->csf_mode == 0 && fabs(m->norm_view_dist * m->ref_display_height - 3240) < 1e-8)
        return b == D ? 49417 : 36453;
    return (uint16_t)(i64)(factor * (b == D ? 8388608.0 : 2097152.0));
}

static i64 weighted(i64 x, i64 f, int s, int b)
{
    if (s)
        return (int32_t)rs(x * f, 28);
    return b == D ? (int16_t)shift_down(x * f + 65535, 17) : (int16_t)shift_down(x * f + 16384, 15);
}

static i64 share30(i64 c, int s)
{
    const i64 half = (i64)1 << 31;
    return s ? (int32_t)shift_down(143165577 * llabs(c) - half, 32)
             : (int16_t)shift_down(4369 * llabs(c) + 2048, 12);
}

static i64 share15(i64 c, int s)
{
    const i64 half = (i64)1 << 31;
    return s ? (int32_t)shift_down(286331153 * llabs(c) - half, 32)
             : (int16_t)shift_down(8738 * llabs(c) + 2048, 12);
}

static int beside(int i, int n)
{
    if (n == 1)
        return 0;
    return i < 0 ? 1 : i >= n ? n - 1 : i;
}

static i64 threshold(const AdmModel *m, const Map *part, int s, int x, int y)
{
    i64 sum = 0;
    for (int b = 0; b < 3; b++) {
        i64 f = fixed_factor(m, s, b);
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int at_x = beside(x + dx, part[b].w), at_y = beside(y + dy, part[b].h);
                i64 c = weighted(part[b].at[(size_t)at_y * part[b].w + at_x], f, s, b);
                sum += dx || dy ? share30(c, s) : share15(c, s);
            }
    }
    return (int32_t)sum;
}

static int edge(int n)
{
    return (int)(n * 0.1 - 0.5);
}

static int above_zero(int n)
{
    return n > 0 ? n : 0;
}

static int cube_shift(int w, int s, int b)
{
    return s ? log_up(w) : above_zero(log_up(w) - (b == D ? 3 : 4));
}

/* The part's cubes of what exceeds the thresholds that `masking` sets. */
static void numerator(const AdmModel *m, const Map *part, const Map *masking, int s, i64 *sum)
{
    int w = part[H].w, h = part[H].h, left = edge(w), top = edge(h);
    for (int b = 0; b < 3; b++)
        sum[b] = 0;
    for (int y = top; y < h - top; y++) {
        i64 row[3] = {0};
        for (int x = left; x < w - left; x++) {
            i64 thr = threshold(m, masking, s, x, y);
            for (int b = 0; b < 3; b++) {
                i64 f = fixed_factor(m, s, b), value = part[b].at[(size_t)y * w + x];
                i64 e = s ? llabs(weighted(value, f, s, b)) - thr
                          : llabs(value * f) - thr * (b == D ? 4096 : 1024);
                e = e > 0 ? e : 0;
                i64 e2 = (int32_t)rs(e * e, s || b == D ? 30 : 29);
                row[b] = add(row[b], rs(e2 * e, cube_shift(w, s, b)));
            }
        }
        for (int b = 0; b < 3; b++)
            sum[b] = add(sum[b], rs(row[b], log_up(h)));
    }
}

static void denominator(const Map *o, int s, i64 *sum)
{
    static const int square_shift[4] = {0, 31, 30, 31};
    int w = o[H].w, h = o[H].h, left = edge(w), top = edge(h);
    int columns = w - 2 * left, rows = h - 2 * top;
    int row_shift = s ? log_up(rows) : above_zero(log_up((i64)columns * rows) - 20);
    for (int b = 0; b < 3; b++) {
        sum[b] = 0;
        for (int y = top; y < h - top; y++) {
            i64 row = 0;
            for (int x = left; x < w - left; x++) {
                i64 value = llabs(o[b].at[(size_t)y * w + x]), k = square_shift[s];
                i64 square = s ? shift_down(value * value + ((i64)1 << k), k) : value * value;
                row += rs(square * value, s ? log_up(columns) : 0);
            }
            sum[b] += rs(row, row_shift);
        }
    }
}

static float root(float x)
{
    return powf(x, 1.0f / 3.0f);
}

static float pool_numerator(const i64 *sum, int w, int h, int s, float noise)
{
    static const int bits[4] = {52, 45, 39, 36};
    float band[3];
    for (int b = 0; b < 3; b++) {
        int shift = (s == 0 && b == D ? 57 : bits[s]) - cube_shift(w, s, b) - log_up(h);
        float cubes =
            s ? (float)sum[b] / (float)pow(2, shift) : (float)((double)sum[b] / pow(2, shift));
        band[b] = root(cubes) + noise;
    }
    return (band[H] + band[V]) + band[D];
}

static float pool_denominator(const AdmModel *m, const i64 *sum, int w, int h, int s, float noise)
{
    static const int bits[4] = {18, 32, 27, 23};
    int columns = w - 2 * edge(w), rows = h - 2 * edge(h);
    int shift = s ? bits[s] - log_up(columns) - log_up(rows)
                  : bits[0] - above_zero(log_up((i64)columns * rows) - 20);
    float band[3];
    for (int b = 0; b < 3; b++)
        band[b] =
            root((float)((double)(uint64_t)sum[b] / pow(2, shift) * pow(m->factor[s][b == D], 3))) +
            noise;
    return (band[H] + band[V]) + band[D];
}

/* One scale, from its four bands to its sums and its part of the scores. */
static void measure_scale(AdmModel *m, const Map *o, const Map *t, int s, double *aim_num)
{
    int w = o[H].w, h = o[H].h;
    float noise = root((float)((h - 2 * edge(h)) * (w - 2 * edge(w)) * m->noise_weight));
    Map restored[3], added[3];
    decouple(o, t, m->enhn_gain_limit, restored, added);
    numerator(m, restored, added, s, m->restored[s]);
    denominator(o, s, m->reference[s]);
    m->scale_num[s] = pool_numerator(m->restored[s], w, h, s, noise);
    m->scale_den[s] = pool_denominator(m, m->reference[s], w, h, s, noise);
    if (!m->skip_aim) {
        numerator(m, added, restored, s, m->additive[s]);
        *aim_num += pool_numerator(m->additive[s], w, h, s, 0);
    }
    for (int b = 0; b < 3; b++) {
        free(restored[b].at);
        free(added[b].at);
    }
}

static void score(AdmModel *m, double aim_num)
{
    double least = 1e-10 * ((double)m->width * m->height) / (1920.0 * 1080.0);
    m->num = m->den = 0;
    for (int s = 0; s < 4; s++) {
        m->num += m->scale_num[s];
        m->den += m->scale_den[s];
        m->scale[s] = m->scale_den[s] == 0 ? 1 : m->scale_num[s] / m->scale_den[s];
    }
    m->num = m->num < least ? 0 : m->num;
    m->den = m->den < least ? 0 : m->den;
    m->adm2 = m->den == 0 ? 1 : m->num / m->den;
    m->aim = m->den == 0 ? 0 : aim_num / m->den;
    m->adm3 = fmax(m->adm2 * m->dlm_weight + (1 - m->aim) * (1 - m->dlm_weight), m->min_val);
}

static void free_bands(Map *band, int n)
{
    for (int b = 0; b < n; b++)
        free(band[b].at);
}

void adm_model(AdmModel *m, const uint16_t *reference, const uint16_t *distorted)
{
    const uint16_t *picture[2] = {reference, distorted};
    Map in[2];
    double aim_num = 0;
    find_factors(m);
    for (int p = 0; p < 2; p++) {
        in[p] = map_new(m->width, m->height);
        for (size_t i = 0; i < (size_t)m->width * m->height; i++)
            in[p].at[i] = (picture[p][i] & ((1 << m->depth) - 1)) - (1 << (m->depth - 1));
    }
    for (int s = 0; s < 4; s++) {
        Map band[2][BANDS];
        for (int p = 0; p < 2; p++) {
            transform(&in[p], s, m->depth, band[p]);
            free(in[p].at);
            in[p] = band[p][A];
        }
        if (s == 0 && m->skip_scale0) {
            m->scale_num[0] = 0;
            m->scale_den[0] = 1e-10f;
        } else {
            measure_scale(m, band[0], band[1], s, &aim_num);
        }
        for (int p = 0; p < 2; p++)
            free_bands(band[p], 3);
    }
    for (int p = 0; p < 2; p++)
        free(in[p].at);
    score(m, aim_num);
}
