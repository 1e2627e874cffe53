/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF gives the same bits at every processor level and number of threads, those of a plain model,
 * and, on clips from formulas, those of libvmaf; its limits and names. */
#include <string.h>

#include "clips.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/slices.h"
#include "kernels/vif/vif.h"
#include "vif_log_lanes.h"

#define SCORES       15 /* with debug */
#define MOST_THREADS 3

static HvSlices *slices[MOST_THREADS + 1];

static HvVifParams read_options(const char *options)
{
    HvVifParams params;
    GError *error = NULL;
    hv_options_init(hv_vif_info.options, &params);
    hv_options_parse(hv_vif_info.options, "vif", options, &params, &error);
    g_assert_no_error(error);
    params.debug = TRUE;
    return params;
}

static gboolean set_level(HvLevel level)
{
    g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(level), TRUE);
    return hv_level() == level;
}

static void measure(const HvVifParams *params, const Clip *clip, const Layout *layout,
                    unsigned threads, double *score)
{
    gpointer memory[CLIP_PICTURES];
    HvPicture picture[CLIP_PICTURES];
    GError *error = NULL;
    HvMetricSetup setup = {&clip->format, params, slices[threads], NULL};
    HvScores scores = {score, NULL};
    for (int p = 0; p < CLIP_PICTURES; p++)
        picture[p] = clip_lay_out(clip, p, layout, &memory[p]);
    HvSubject subject = {&picture[0], &picture[1], 0};
    HvMetric *metric = hv_vif_cpu_ops.create(&setup, &error);
    g_assert_no_error(error);
    /* twice: nothing of a pair may be left for the next one */
    for (int i = 0; i < 2; i++)
        g_assert_true(hv_vif_cpu_ops.collect(metric, &subject, &scores, &error));
    hv_vif_cpu_ops.destroy(metric);
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(memory[p]);
}

/* The model: one pixel after the other, whole planes, the filters as they are written down. */

typedef struct Image {
    int width, height;
    uint16_t *sample[CLIP_PICTURES];
} Image;

static int tap_of(int scale, int offset)
{
    return hv_vif_filter[scale].tap[ABS(offset)];
}

static int mirrored(int i, int n)
{
    return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
}

static uint64_t rounded(uint64_t value, int bits)
{
    return bits ? (value + (1ull << (bits - 1))) >> bits : value;
}

/* One column of the vertical pass: means (a == b) or moments. */
static uint64_t model_column(const Image *im, int filter, const uint16_t *a, const uint16_t *b,
                             int x, int y)
{
    uint64_t sum = 0;
    for (int k = -hv_vif_filter[filter].half; k <= hv_vif_filter[filter].half; k++) {
        int at = mirrored(y + k, im->height) * im->width + x;
        sum += (uint64_t)tap_of(filter, k) * a[at] * (b ? b[at] : 1);
    }
    return sum;
}

static uint64_t model_filter(const Image *im, int filter, int bits, const uint16_t *a,
                             const uint16_t *b, int x, int y)
{
    uint64_t sum = 0;
    for (int k = -hv_vif_filter[filter].half; k <= hv_vif_filter[filter].half; k++)
        sum += tap_of(filter, k) *
               rounded(model_column(im, filter, a, b, mirrored(x + k, im->width), y), bits);
    return sum;
}

static HvVifSums model_sums(const Image *im, int scale, int depth, double limit)
{
    const uint16_t *table = hv_vif_log_table(NULL), *const *s = (const uint16_t *const *)im->sample;
    int mean_bits = scale ? 16 : depth, square_bits = scale ? 16 : 2 * (depth - 8);
    HvVifSums sums = {0};
    for (int y = 0; y < im->height; y++)
        for (int x = 0; x < im->width; x++) {
            HvVifMoments m = {
                (uint32_t)model_filter(im, scale, mean_bits, s[0], NULL, x, y),
                (uint32_t)model_filter(im, scale, mean_bits, s[1], NULL, x, y),
                (uint32_t)rounded(model_filter(im, scale, square_bits, s[0], s[0], x, y), 16),
                (uint32_t)rounded(model_filter(im, scale, square_bits, s[1], s[1], x, y), 16),
                (uint32_t)rounded(model_filter(im, scale, square_bits, s[0], s[1], x, y), 16)};
            hv_vif_add(&sums, &m, table, limit);
        }
    return sums;
}

static Image model_halve(const Image *im, int scale, int depth)
{
    Image half = {im->width / 2, im->height / 2, {NULL}};
    for (int p = 0; p < CLIP_PICTURES; p++) {
        half.sample[p] = g_new(uint16_t, half.width * half.height);
        for (int y = 0; y < half.height; y++)
            for (int x = 0; x < half.width; x++)
                half.sample[p][y * half.width + x] =
                    (uint16_t)rounded(model_filter(im, scale + 1, scale ? 16 : depth, im->sample[p],
                                                   NULL, 2 * x, 2 * y),
                                      16);
    }
    return half;
}

static void model(const HvVifParams *params, const Clip *clip, double *score)
{
    HvVifSums sums[HV_VIF_SCALES];
    HvVifPlan plan;
    HvScores scores = {score, NULL};
    Image im = {clip->format.width,
                clip->format.height,
                {g_memdup2(clip->sample[0], clip->format.width * clip->format.height * 2),
                 g_memdup2(clip->sample[1], clip->format.width * clip->format.height * 2)}};
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        sums[scale] = model_sums(&im, scale, clip->format.depth, params->enhn_gain_limit);
        Image next = model_halve(&im, MIN(scale, HV_VIF_SCALES - 2), clip->format.depth);
        for (int p = 0; p < CLIP_PICTURES; p++)
            g_free(im.sample[p]);
        im = next;
    }
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(im.sample[p]);
    hv_vif_plan_init(&plan, params, &clip->format);
    hv_vif_deliver(&plan, sums, &scores);
}

static void assert_same(const double *a, const double *b, const Clip *clip, const char *what)
{
    for (int i = 0; i < SCORES; i++)
        if (memcmp(&a[i], &b[i], sizeof a[i]))
            g_error("%s: %ux%u, %u bits: score %d is %.17g, not %.17g", what, clip->format.width,
                    clip->format.height, clip->format.depth, i, b[i], a[i]);
}

/* Every level and number of threads against the baseline with one thread. */
static void assert_agree(ClipKind kind, unsigned width, unsigned height, unsigned depth,
                         const char *options, gboolean with_model)
{
    HvVifParams params = read_options(options);
    Clip clip = clip_new(kind, width, height, depth, width * 1000 + height);
    Layout plain = {0};
    double first[SCORES], other[SCORES];
    set_level(HV_LEVEL_BASELINE);
    measure(&params, &clip, &plain, 1, first);
    if (with_model) {
        model(&params, &clip, other);
        assert_same(other, first, &clip, "the model");
    }
    for (HvLevel level = 0; level < HV_N_LEVELS; level++)
        for (unsigned threads = 1; threads <= MOST_THREADS && set_level(level); threads++) {
            measure(&params, &clip, &plain, threads, other);
            assert_same(first, other, &clip, hv_level_name(level));
        }
    clip_free(&clip);
}

static void test_every_size(void)
{
    static const char *const options[] = {"", "egl=1", "egl=1.7", "vif_skip_scale0=true"};
    for (unsigned width = 16; width <= 80; width++)
        for (unsigned height = 16; height <= 80; height += width % 3 + 1)
            assert_agree((width + height) % CLIP_KINDS, width, height, 8,
                         options[(width + height) % 4], FALSE);
}

static void test_depths(void)
{
    for (unsigned i = 0; i < 60; i++)
        assert_agree(i % CLIP_KINDS, 16 + i * 7 % 83, 16 + i * 5 % 41, 9 + i % 8, "", FALSE);
}

static void test_model(void)
{
    for (unsigned i = 0; i < 24; i++)
        assert_agree(i % CLIP_KINDS, 16 + i, 16 + i * 7 % 31, i % 3 ? 8 + 2 * (i % 5) : 8, "",
                     TRUE);
}

static void test_large(void)
{
    assert_agree(CLIP_NOISE, 641, 203, 8, "", FALSE);
    assert_agree(CLIP_BLURRED, 333, 217, 10, "egl=1", FALSE);
}

static void test_logarithms(void)
{
    unsigned (*const mismatches[HV_N_LEVELS])(const uint16_t *) = HV_AT_LEVELS(vif_log_mismatches);
    const uint16_t *table = hv_vif_log_table(NULL);
    g_assert_nonnull(table);
    for (HvLevel level = 0; level < HV_N_LEVELS; level++)
        if (set_level(level))
            g_assert_cmpuint(mismatches[level](table), ==, 0);
    for (int shift = 1; shift < 16; shift++)
        for (uint32_t i = HV_VIF_LOG_FIRST; i < 2 * HV_VIF_LOG_FIRST; i++) {
            uint32_t x = i << shift, rest = (1u << shift) - 1;
            g_assert_cmpint(hv_vif_log2_pieces(&hv_vif_log_pieces, x), ==, hv_vif_log2(table, x));
            g_assert_cmpint(hv_vif_log2_pieces(&hv_vif_log_pieces, x | rest), ==,
                            hv_vif_log2(table, x));
        }
}

/* The division that GPUs use is IEEE's, whatever the estimate. */
static void test_division(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 3000000; i++) {
        double b = HV_VIF_NOISE + clip_random(&state) % (1u << (17 + i % 14)) + 65536 * 1.0e-10;
        double a = 1 + clip_random(&state) % (1u << (1 + i % 30));
        double error = ((double)(clip_random(&state) % 2001) - 1000) / 1000 / 4096;
        g_assert_true(hv_vif_divide_from(a, b, 1 / b * (1 + error)) == a / b);
    }
}

/* Strides, shifts, and what lies beside the samples. */
static void test_layouts(void)
{
    static const Layout layouts[] = {{0, 0, 6, TRUE}, {14, 2, 0, TRUE}, {2, 6, 4, TRUE}};
    HvVifParams params = read_options("");
    Layout plain = {0};
    double first[SCORES], other[SCORES];
    Clip clip = clip_new(CLIP_BLURRED, 71, 37, 10, 5);
    for (HvLevel level = 0; level < HV_N_LEVELS && set_level(level); level++) {
        measure(&params, &clip, &plain, 1, first);
        for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
            measure(&params, &clip, &layouts[i], 1, other);
            assert_same(first, other, &clip, "layout");
        }
    }
    clip_free(&clip);
}

static void test_refusals(void)
{
    HvFormat small = {16, 15, 8, 1, 0, 0};
    HvVifParams params = read_options("");
    GError *error = NULL;
    g_assert_false(hv_vif_info.validate(&params, &small, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_SIZE);
    g_assert_cmpstr(error->message, ==, "vif measures pictures from 16x16 up, not 16x15");
    g_clear_error(&error);
}

static void test_names(void)
{
    HvVifParams params = read_options("egl=1:ssclz=true");
    char *name = hv_options_score_name(hv_vif_info.options, &params, "integer_vif_scale2");
    g_assert_cmpstr(name, ==, "integer_vif_scale2_egl_1_ssclz");
    g_free(name);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    g_test_init(&argc, &argv, NULL);
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++)
        slices[threads] = hv_slices_new(threads, &error);
    g_assert_no_error(error);
    g_test_add_func("/vif/every-size", test_every_size);
    g_test_add_func("/vif/depths", test_depths);
    g_test_add_func("/vif/model", test_model);
    g_test_add_func("/vif/large", test_large);
    g_test_add_func("/vif/logarithms", test_logarithms);
    g_test_add_func("/vif/division", test_division);
    g_test_add_func("/vif/layouts", test_layouts);
    g_test_add_func("/vif/refusals", test_refusals);
    g_test_add_func("/vif/names", test_names);
    int result = g_test_run();
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++)
        hv_slices_free(slices[threads]);
    return result;
}
