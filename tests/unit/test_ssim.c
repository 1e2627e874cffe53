/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM and MS-SSIM give the same bits at every processor level and number of threads, and what a
 * plain model gives that rounds as libvmaf does; their limits, decibels and names. */
#include <math.h>
#include <string.h>

#include "clips.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/slices.h"
#include "kernels/ssim/ssim.h"

#define MOST_SCORES  16 /* of float_ms_ssim with enable_lcs */
#define MOST_THREADS 3

/* A mean is rounded to float at its end. */
#define FLOAT_STEP 6.0e-8
#define TOLERANCE  1.0e-6

static HvSlices *slices[MOST_THREADS + 1];

static const HvMetricInfo *const infos[] = {&hv_float_ssim_info, &hv_float_ms_ssim_info};

static HvSsimParams read_options(HvSsimKind kind, const char *options)
{
    HvSsimParams params = {0};
    GError *error = NULL;
    hv_options_init(infos[kind]->options, &params);
    hv_options_parse(infos[kind]->options, infos[kind]->name, options, &params, &error);
    g_assert_no_error(error);
    return params;
}

static unsigned count_scores(HvSsimKind kind, const HvSsimParams *params)
{
    return g_strv_length((char **)infos[kind]->score_names(params));
}

static gboolean set_level(HvLevel level)
{
    g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(level), TRUE);
    return hv_level() == level;
}

static void measure(HvSsimKind kind, const HvSsimParams *params, const Clip *clip,
                    const Layout *layout, unsigned threads, double *score)
{
    const HvMetricOps *ops = infos[kind]->cpu;
    gpointer memory[CLIP_PICTURES];
    HvPicture picture[CLIP_PICTURES];
    GError *error = NULL;
    HvMetricSetup setup = {&clip->format, params, slices[threads], NULL};
    HvScores scores = {score, NULL};
    for (int p = 0; p < CLIP_PICTURES; p++)
        picture[p] = clip_lay_out(clip, p, layout, &memory[p]);
    HvSubject subject = {&picture[0], &picture[1], 0};
    g_assert_true(infos[kind]->validate(params, &clip->format, &error));
    HvMetric *metric = ops->create(&setup, &error);
    g_assert_no_error(error);
    /* twice: nothing of a pair may be left for the next one */
    for (int i = 0; i < 2; i++)
        g_assert_true(ops->collect(metric, &subject, &scores, &error));
    ops->destroy(metric);
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(memory[p]);
}

/* The model: whole planes of floats, one sample after the other, the filters written down in full,
 * every step rounded as libvmaf's is. */

typedef struct Image {
    int width, height;
    float *sample[CLIP_PICTURES];
} Image;

static const float window[11] = {0.001028f, 0.007599f, 0.036001f, 0.109361f, 0.213006f, 0.266012f,
                                 0.213006f, 0.109361f, 0.036001f, 0.007599f, 0.001028f};

/* Millionths. */
static float low_pass(int y, int x)
{
    static const int table[9][9] = {
        {714, -450, -2090, 7132, 16114, 7132, -2090, -450, 714},
        {-450, 283, 1316, -4490, -10146, -4490, 1316, 283, -450},
        {-2090, 1316, 6115, -20867, -47149, -20867, 6115, 1316, -2090},
        {7132, -4490, -20867, 71207, 160885, 71207, -20867, -4490, 7132},
        {16114, -10146, -47149, 160885, 363505, 160885, -47149, -10146, 16114},
        {7132, -4490, -20867, 71207, 160885, 71207, -20867, -4490, 7132},
        {-2090, 1316, 6115, -20867, -47149, -20867, 6115, 1316, -2090},
        {-450, 283, 1316, -4490, -10146, -4490, 1316, 283, -450},
        {714, -450, -2090, 7132, 16114, 7132, -2090, -450, 714}};
    return (float)(table[y][x] / 1e6);
}

static float *new_plane(const Image *im)
{
    return g_new(float, im->width * im->height);
}

static void free_image(Image *im)
{
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(im->sample[p]);
}

static Image model_input(const Clip *clip)
{
    Image im = {clip->format.width, clip->format.height, {NULL}};
    for (int p = 0; p < CLIP_PICTURES; p++) {
        im.sample[p] = new_plane(&im);
        for (int i = 0; i < im.width * im.height; i++)
            im.sample[p][i] = (float)clip->sample[p][i] / (float)(1 << (clip->format.depth - 8));
    }
    return im;
}

static int mirrored(int i, int n)
{
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

/* Every step-th sample of a picture filtered with size x size taps; those of a box where NULL. */
static Image model_shrink(const Image *im, int step, int size, float (*tap)(int y, int x))
{
    Image out = {im->width / step + im->width % 2, im->height / step + im->height % 2, {NULL}};
    float even = 1.0f / (float)(size * size);
    for (int p = 0; p < CLIP_PICTURES; p++) {
        out.sample[p] = new_plane(&out);
        for (int i = 0; i < out.width * out.height; i++) {
            double sum = 0;
            for (int k = 0; k < size * size; k++) {
                int y = mirrored(i / out.width * step - size / 2 + k / size, im->height);
                int x = mirrored(i % out.width * step - size / 2 + k % size, im->width);
                float weight = tap ? tap(k / size, k % size) : even;
                sum += im->sample[p][y * im->width + x] * weight;
            }
            out.sample[p][i] = (float)sum;
        }
    }
    return out;
}

/* The windows' weighted sums of a * b, or of a where b is NULL. */
static float *model_blur(const Image *im, const float *a, const float *b)
{
    float *row = new_plane(im), *out = new_plane(im);
    int n = im->width;
    for (int i = 0; i < n * im->height; i++) {
        double sum = 0;
        for (int k = 0; k < 11 && i % n + 10 < n; k++)
            sum += (b ? a[i + k] * b[i + k] : a[i + k]) * window[k];
        row[i] = (float)sum;
    }
    for (int i = 0; i < n * (im->height - 10); i++) {
        double sum = 0;
        for (int k = 0; k < 11; k++)
            sum += row[i + k * n] * window[k];
        out[i] = (float)sum;
    }
    g_free(row);
    return out;
}

typedef struct Terms {
    double ssim, l, c, s;
} Terms;

static void add_window(Terms *sum, float mean1, float mean2, float var1, float var2,
                       float covariance)
{
    float k1 = 0.01f * 255, k2 = 0.03f * 255, c1 = k1 * k1, c2 = k2 * k2, c3 = c2 / 2;
    var1 = MAX(var1 - mean1 * mean1, 0.0f);
    var2 = MAX(var2 - mean2 * mean2, 0.0f);
    covariance -= mean1 * mean2;
    float both = (float)sqrt(var1 * var2);
    if (covariance < 0 && both <= 0)
        covariance = 0;
    double l = (2.0 * mean1 * mean2 + c1) / (mean1 * mean1 + mean2 * mean2 + c1);
    double c = (2.0 * both + c2) / (var1 + var2 + c2), s = (covariance + c3) / (both + c3);
    sum->ssim += l * c * s;
    sum->l += l;
    sum->c += c;
    sum->s += s;
}

static Terms model_terms(const Image *im)
{
    const float *x = im->sample[0], *y = im->sample[1];
    float *moment[] = {model_blur(im, x, NULL), model_blur(im, y, NULL), model_blur(im, x, x),
                       model_blur(im, y, y), model_blur(im, x, y)};
    Terms sum = {0};
    for (int i = 0; i < im->width * (im->height - 10); i++)
        if (i % im->width + 10 < im->width)
            add_window(&sum, moment[0][i], moment[1][i], moment[2][i], moment[3][i], moment[4][i]);
    for (guint k = 0; k < G_N_ELEMENTS(moment); k++)
        g_free(moment[k]);
    double n = (im->width - 10.0) * (im->height - 10.0);
    return (Terms){(float)(sum.ssim / n), (float)(sum.l / n), (float)(sum.c / n),
                   (float)(sum.s / n)};
}

static void model_single(const Clip *clip, int factor, double *score)
{
    Image im = model_input(clip);
    if (factor > 1) {
        Image small = model_shrink(&im, factor, factor, NULL);
        free_image(&im);
        im = small;
    }
    Terms terms = model_terms(&im);
    memcpy(score, &terms, sizeof terms);
    free_image(&im);
}

static void model_multi(const Clip *clip, double *score)
{
    static const float power[] = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};
    Image im = model_input(clip);
    score[0] = 1;
    for (int scale = 0; scale < 5; scale++) {
        Terms terms = model_terms(&im);
        score[0] *= pow(terms.l, scale == 4 ? power[4] : 0) * pow(terms.c, power[scale]) *
                    pow(MAX(terms.s, 0), power[scale]);
        score[1 + scale] = terms.l;
        score[6 + scale] = terms.c;
        score[11 + scale] = terms.s;
        Image half = model_shrink(&im, 2, 9, low_pass);
        free_image(&im);
        im = half;
    }
    free_image(&im);
}

static int automatic_factor(const Clip *clip)
{
    return MAX((int)lround(MIN(clip->format.width, clip->format.height) / 256.0), 1);
}

static void assert_near(HvSsimKind kind, const double *a, const double *b, double tolerance,
                        const Clip *clip, const char *what)
{
    HvSsimParams params = read_options(kind, "enable_lcs=true");
    for (unsigned i = 0; i < count_scores(kind, &params); i++)
        if (tolerance > 0 ? !(ABS(a[i] - b[i]) <= tolerance) : memcmp(&a[i], &b[i], sizeof a[i]))
            g_error("%s of %s: %ux%u, %u bits: score %u is %.17g, not %.17g", what,
                    infos[kind]->name, clip->format.width, clip->format.height, clip->format.depth,
                    i, b[i], a[i]);
}

/* Every level and number of threads against the baseline with one thread. */
static void assert_levels_agree(HvSsimKind kind, const Clip *clip, const char *options)
{
    HvSsimParams params = read_options(kind, options);
    Layout plain = {0};
    double first[MOST_SCORES], other[MOST_SCORES];
    set_level(HV_LEVEL_BASELINE);
    measure(kind, &params, clip, &plain, 1, first);
    for (HvLevel level = 0; level < HV_N_LEVELS; level++)
        for (unsigned threads = 1; threads <= MOST_THREADS && set_level(level); threads++) {
            measure(kind, &params, clip, &plain, threads, other);
            assert_near(kind, first, other, 0, clip, hv_level_name(level));
        }
}

static void assert_model_agrees(HvSsimKind kind, const Clip *clip, const char *options,
                                double tolerance)
{
    HvSsimParams params = read_options(kind, options);
    Layout plain = {0};
    double own[MOST_SCORES], model[MOST_SCORES];
    set_level(HV_N_LEVELS - 1);
    measure(kind, &params, clip, &plain, 1, own);
    if (kind == HV_SSIM_SINGLE)
        model_single(clip, params.scale ? params.scale : automatic_factor(clip), model);
    else
        model_multi(clip, model);
    assert_near(kind, model, own, tolerance, clip, "the model");
}

static void test_every_size(void)
{
    for (unsigned width = 16; width <= 80; width++)
        for (unsigned height = 16; height <= 80; height += width % 3 + 1) {
            unsigned turn = width + height;
            gboolean halved = MIN(width, height) >= 22 && turn % 4 == 0;
            Clip clip = clip_new(turn % CLIP_KINDS, width, height, 8, turn);
            assert_levels_agree(HV_SSIM_SINGLE, &clip,
                                halved ? "enable_lcs=true:scale=2" : "enable_lcs=true");
            clip_free(&clip);
        }
}

static void test_depths(void)
{
    for (unsigned i = 0; i < 60; i++) {
        Clip clip = clip_new(i % CLIP_KINDS, 16 + i * 7 % 83, 16 + i * 5 % 41, 8 + i % 9, i);
        assert_levels_agree(HV_SSIM_SINGLE, &clip, "enable_lcs=true");
        assert_model_agrees(HV_SSIM_SINGLE, &clip, "enable_lcs=true", FLOAT_STEP);
        clip_free(&clip);
    }
}

static void test_model(void)
{
    for (unsigned i = 0; i < 120; i++) {
        Clip clip = clip_new(i % CLIP_KINDS, 16 + i * 3 % 65, 16 + i * 11 % 65, 8, i);
        assert_model_agrees(HV_SSIM_SINGLE, &clip, "enable_lcs=true", FLOAT_STEP);
        clip_free(&clip);
    }
}

/* Pictures made smaller by a given factor, odd sizes and multiples of it too. */
static void test_factors(void)
{
    for (int factor = 2; factor <= 10; factor++)
        for (unsigned i = 0; i < 12; i++) {
            unsigned width = 11 * factor + 3 * i, height = 12 * factor + 7 * i;
            char *options = g_strdup_printf("enable_lcs=true:scale=%d", factor);
            Clip clip = clip_new(i % CLIP_KINDS, width, height, i % 4 ? 8 : 16, i);
            assert_model_agrees(HV_SSIM_SINGLE, &clip, options, FLOAT_STEP);
            assert_levels_agree(HV_SSIM_SINGLE, &clip, options);
            clip_free(&clip);
            g_free(options);
        }
}

/* What the size asks for: 1 below 384, then 2, from 640 on 3. */
static void test_automatic_factor(void)
{
    static const struct {
        unsigned width, height;
    } sizes[] = {{383, 500}, {384, 384}, {401, 639}, {641, 643}, {650, 640}};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        Clip clip = clip_new(CLIP_BLURRED, sizes[i].width, sizes[i].height, 8, i);
        assert_model_agrees(HV_SSIM_SINGLE, &clip, "enable_lcs=true", FLOAT_STEP);
        assert_levels_agree(HV_SSIM_SINGLE, &clip, "enable_lcs=true");
        clip_free(&clip);
    }
}

static void test_multi(void)
{
    static const struct {
        unsigned width, height;
    } sizes[] = {{176, 176}, {177, 176}, {176, 191}, {183, 201}, {260, 180}, {353, 287}};
    for (unsigned i = 0; i < 2 * CLIP_KINDS; i++) {
        unsigned at = i % G_N_ELEMENTS(sizes);
        Clip clip = clip_new(i % CLIP_KINDS, sizes[at].width, sizes[at].height, 8 + i % 9, i);
        assert_model_agrees(HV_SSIM_MULTI, &clip, "enable_lcs=true", FLOAT_STEP);
        assert_levels_agree(HV_SSIM_MULTI, &clip, "enable_lcs=true");
        clip_free(&clip);
    }
}

/* Above 2^20 samples, where MS-SSIM's windows are added in single precision. */
static void test_large(void)
{
    static const ClipKind kinds[] = {CLIP_NOISE, CLIP_ENHANCED, CLIP_BLURRED, CLIP_GRADIENT,
                                     CLIP_EXTREME};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        Clip clip = clip_new(kinds[i], 1025 + i, 1024, i % 2 ? 8 : 10, i);
        assert_model_agrees(HV_SSIM_MULTI, &clip, "enable_lcs=true", TOLERANCE);
        if (i == 0)
            assert_levels_agree(HV_SSIM_MULTI, &clip, "enable_lcs=true");
        clip_free(&clip);
    }
}

/* Light, of next to no contrast, the same again every few samples: windows whose rounding counts
 * most and does not average out. It shows in the finest scale's contrast and structure, and, by
 * their exponents, little in the score. */
static void test_light_pattern(void)
{
    Clip clip = clip_new(CLIP_FLAT, 1030, 1027, 8, 1);
    HvSsimParams params = read_options(HV_SSIM_MULTI, "enable_lcs=true");
    Layout plain = {0};
    double own[MOST_SCORES], model[MOST_SCORES];
    for (unsigned i = 0; i < 1030 * 1027; i++) {
        unsigned x = i % 1030, y = i / 1030;
        clip.sample[0][i] = 253 + (x % 3 == 0) + (y % 4 == 1);
        clip.sample[1][i] = 250 + (x % 5 == 0) * 3 + (y % 2);
    }
    set_level(HV_N_LEVELS - 1);
    measure(HV_SSIM_MULTI, &params, &clip, &plain, 1, own);
    model_multi(&clip, model);
    g_assert_cmpfloat(ABS(own[0] - model[0]), <, 3.0e-5);
    model[0] = own[0];
    model[6] += CLAMP(own[6] - model[6], -4.0e-4, 4.0e-4);
    model[11] += CLAMP(own[11] - model[11], -4.0e-4, 4.0e-4);
    assert_near(HV_SSIM_MULTI, model, own, TOLERANCE, &clip, "the model");
    clip_free(&clip);
}

/* Without enable_lcs less is computed. */
static void test_score_alone(void)
{
    for (int kind = 0; kind < 2; kind++) {
        HvSsimParams all = read_options(kind, "enable_lcs=true"), one = read_options(kind, "");
        Clip clip = clip_new(CLIP_BLURRED, 191, 177, 8, 3);
        Layout plain = {0};
        double first[MOST_SCORES], other[MOST_SCORES];
        set_level(HV_N_LEVELS - 1);
        measure(kind, &all, &clip, &plain, 1, first);
        measure(kind, &one, &clip, &plain, 1, other);
        g_assert_cmpfloat(first[0], ==, other[0]);
        clip_free(&clip);
    }
}

/* Strides, shifts, and what lies beside the samples. */
static void test_layouts(void)
{
    static const Layout layouts[] = {{0, 0, 6, TRUE}, {14, 2, 0, TRUE}, {2, 6, 4, TRUE}};
    Layout plain = {0};
    double first[MOST_SCORES], other[MOST_SCORES];
    Clip clip = clip_new(CLIP_BLURRED, 201, 187, 10, 5);
    for (HvLevel level = 0; level < HV_N_LEVELS && set_level(level); level++)
        for (int kind = 0; kind < 2; kind++) {
            HvSsimParams params = read_options(kind, "enable_lcs=true");
            measure(kind, &params, &clip, &plain, 1, first);
            for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
                measure(kind, &params, &clip, &layouts[i], 1, other);
                assert_near(kind, first, other, 0, &clip, "layout");
            }
        }
    clip_free(&clip);
}

static double score_of(HvSsimKind kind, const char *options, const Clip *clip)
{
    HvSsimParams params = read_options(kind, options);
    Layout plain = {0};
    double score[MOST_SCORES];
    set_level(HV_N_LEVELS - 1);
    measure(kind, &params, clip, &plain, 1, score);
    return score[0];
}

static void test_decibels(void)
{
    Clip black = clip_new(CLIP_EQUAL, 192, 180, 10, 1);
    Clip other = clip_new(CLIP_NEAR, 192, 180, 10, 1);
    double most = ceil(10 * log10(1023.0 * 1023.0 * 2 * 192 * 180));
    for (int p = 0; p < CLIP_PICTURES; p++)
        memset(black.sample[p], 0, 192 * 180 * sizeof(uint16_t));
    for (int kind = 0; kind < 2; kind++) {
        double ssim = score_of(kind, "", &other);
        g_assert_cmpfloat(score_of(kind, "", &black), ==, 1);
        g_assert_cmpfloat(score_of(kind, "enable_db=true", &black), ==, INFINITY);
        g_assert_cmpfloat(score_of(kind, "enable_db=true:clip_db=true", &black), ==, most);
        g_assert_cmpfloat(score_of(kind, "clip_db=true", &black), ==, 1);
        g_assert_cmpfloat(score_of(kind, "enable_db=true", &other), ==, -10 * log10(1 - ssim));
    }
    clip_free(&black);
    clip_free(&other);
}

/* Rounding leaves MS-SSIM a little below 1, as libvmaf's is. */
static void test_equal(void)
{
    Clip clip = clip_new(CLIP_EQUAL, 192, 180, 8, 1);
    g_assert_cmpfloat(score_of(HV_SSIM_SINGLE, "", &clip), ==, 1);
    g_assert_cmpfloat(ABS(score_of(HV_SSIM_MULTI, "", &clip) - 1), <=, FLOAT_STEP);
    clip_free(&clip);
}

/* A picture against its inverse: structure is negative, which MS-SSIM counts as none. */
static void test_inverse(void)
{
    Clip clip = clip_new(CLIP_NOISE, 180, 180, 8, 1);
    for (unsigned i = 0; i < 180 * 180; i++)
        clip.sample[1][i] = 255 - clip.sample[0][i];
    g_assert_cmpfloat(score_of(HV_SSIM_SINGLE, "", &clip), <, -0.9);
    g_assert_cmpfloat(score_of(HV_SSIM_MULTI, "", &clip), ==, 0);
    clip_free(&clip);
}

static void assert_refused(HvSsimKind kind, const char *options, unsigned width, unsigned height,
                           const char *message)
{
    HvFormat format = {width, height, 8, 1, 0, 0};
    HvSsimParams params = read_options(kind, options);
    GError *error = NULL;
    g_assert_false(infos[kind]->validate(&params, &format, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_SIZE);
    g_assert_cmpstr(error->message, ==, message);
    g_clear_error(&error);
}

static void test_refusals(void)
{
    assert_refused(HV_SSIM_MULTI, "", 176, 175,
                   "float_ms_ssim measures pictures from 176x176 up, not 176x175");
    assert_refused(HV_SSIM_MULTI, "", 175, 1080,
                   "float_ms_ssim measures pictures from 176x176 up, not 175x1080");
    assert_refused(HV_SSIM_SINGLE, "", 10, 16,
                   "float_ssim measures pictures from 11x11 up, not 10x16");
    assert_refused(HV_SSIM_SINGLE, "scale=3", 40, 32,
                   "float_ssim with scale=3 measures pictures from 33x33 up, not 40x32");
}

static void test_names(void)
{
    HvSsimParams params = read_options(HV_SSIM_SINGLE, "enable_db=true:clip_db=true:scale=2");
    char *name = hv_options_score_name(hv_float_ssim_info.options, &params, "float_ssim");
    g_assert_cmpstr(name, ==, "float_ssim");
    g_free(name);
    g_assert_cmpuint(count_scores(HV_SSIM_SINGLE, &params), ==, 1);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    g_test_init(&argc, &argv, NULL);
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++)
        slices[threads] = hv_slices_new(threads, &error);
    g_assert_no_error(error);
    g_test_add_func("/ssim/every-size", test_every_size);
    g_test_add_func("/ssim/depths", test_depths);
    g_test_add_func("/ssim/model", test_model);
    g_test_add_func("/ssim/factors", test_factors);
    g_test_add_func("/ssim/automatic-factor", test_automatic_factor);
    g_test_add_func("/ssim/multi", test_multi);
    g_test_add_func("/ssim/large", test_large);
    g_test_add_func("/ssim/light-pattern", test_light_pattern);
    g_test_add_func("/ssim/score-alone", test_score_alone);
    g_test_add_func("/ssim/layouts", test_layouts);
    g_test_add_func("/ssim/decibels", test_decibels);
    g_test_add_func("/ssim/equal", test_equal);
    g_test_add_func("/ssim/inverse", test_inverse);
    g_test_add_func("/ssim/refusals", test_refusals);
    g_test_add_func("/ssim/names", test_names);
    int result = g_test_run();
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++)
        hv_slices_free(slices[threads]);
    return result;
}
