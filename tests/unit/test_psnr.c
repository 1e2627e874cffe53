/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * psnr, float_psnr and float_moment through the meter: what their definitions say, the same bits at
 * every processor level, number of threads and, where HIPVMAF_RUNTIME names a runtime, on its GPU;
 * libvmaf's figures of clips from formulas; limits and names.
 *
 *   test_psnr --write FOLDER   writes those clips, for measuring them with libvmaf */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clips.h"
#include "kernels/common/meter.h"
#include "kernels/cpu/level.h"
#include "kernels/hip/backend.h"
#include "psnr_figures.h"

#define ALL          "psnr=enable_mse=true:enable_apsnr=true,float_psnr,float_moment"
#define MOST_THREADS 3
#define MOST_FRAMES  3
#define MOST_SCORES  16
#define TOLERANCE    1e-12 /* of formulas, relative */

/* Clips: all planes of a pair */

enum { PLAIN, PADDED, INTERLEAVED, SWAPPED, LAYOUTS }; /* SWAPPED: interleaved, Cr first */

typedef struct Pair {
    HvFormat format;
    Clip plane[HV_MAX_PLANES]; /* each with a format of its own */
    HvPicture picture[CLIP_PICTURES];
    gpointer memory[CLIP_PICTURES][HV_MAX_PLANES];
} Pair;

static HvFormat format_of(unsigned width, unsigned height, unsigned depth, unsigned sampling)
{
    switch (sampling) {
    case 400:
        return (HvFormat){width, height, depth, 1, 0, 0};
    case 420:
        return (HvFormat){width, height, depth, 3, 1, 1};
    case 422:
        return (HvFormat){width, height, depth, 3, 1, 0};
    default:
        return (HvFormat){width, height, depth, 3, 0, 0};
    }
}

/* Words hold random bits beside the sample. */
static void write_plane(const Clip *clip, int picture, const HvPlane *plane, uint64_t *state)
{
    unsigned bytes = hv_format_sample_bytes(&clip->format), width = clip->format.width;
    uint16_t mask = ((1u << clip->format.depth) - 1) << plane->shift;
    for (unsigned y = 0; y < clip->format.height; y++)
        for (unsigned x = 0; x < width; x++) {
            uint16_t word = clip->sample[picture][y * width + x] << plane->shift;
            word |= clip_random(state) & ~mask;
            memcpy((guint8 *)plane->data + y * plane->stride + x * plane->step, &word, bytes);
        }
}

/* Exactly as much as the plane needs, and random where no sample is. */
static gpointer plane_memory(const Clip *clip, HvPlane *plane, size_t row, unsigned padding,
                             uint64_t *state)
{
    plane->stride = row + padding;
    size_t size = plane->stride * (clip->format.height - 1) + row;
    guint8 *memory = g_malloc(size);
    for (size_t i = 0; i < size; i++)
        memory[i] = clip_random(state);
    plane->data = memory;
    return memory;
}

static void lay_out(Pair *pair, int picture, int layout, uint64_t *state)
{
    unsigned bytes = hv_format_sample_bytes(&pair->format);
    unsigned padding = layout == PLAIN ? 0 : bytes * (1 + clip_random(state) % 20);
    unsigned shift = layout % 2 && bytes == 2 ? 16 - pair->format.depth : 0;
    gboolean interleaved = layout >= INTERLEAVED;
    HvPlane *plane = pair->picture[picture].plane;
    for (unsigned i = 0; i < pair->format.n_planes; i++) {
        const Clip *clip = &pair->plane[i];
        unsigned step = bytes << (i && interleaved);
        plane[i] = (HvPlane){NULL, 0, step, shift};
        if (i == 2 && interleaved) {
            plane[2] = plane[1];
            *(layout == SWAPPED ? &plane[1].data : &plane[2].data) =
                (guint8 *)plane[1].data + bytes;
            continue;
        }
        pair->memory[picture][i] =
            plane_memory(clip, &plane[i], clip->format.width * step, padding, state);
    }
    for (unsigned i = 0; i < pair->format.n_planes; i++)
        write_plane(&pair->plane[i], picture, &plane[i], state);
}

static Pair pair_new(ClipKind kind, const HvFormat *format, const int *layout, uint64_t seed)
{
    Pair pair = {.format = *format};
    for (unsigned i = 0; i < format->n_planes; i++)
        pair.plane[i] = clip_new((kind + i) % CLIP_KINDS, hv_format_plane_width(format, i),
                                 hv_format_plane_height(format, i), format->depth, seed + i);
    for (int p = 0; p < CLIP_PICTURES; p++)
        lay_out(&pair, p, layout[p], &seed);
    return pair;
}

static void pair_free(Pair *pair)
{
    for (unsigned i = 0; i < pair->format.n_planes; i++) {
        clip_free(&pair->plane[i]);
        for (int p = 0; p < CLIP_PICTURES; p++)
            g_free(pair->memory[p][i]);
    }
}

/* Measuring */

typedef struct Scores {
    unsigned n, n_aggregates, frames;
    char *name[2 * MOST_SCORES];
    double value[MOST_FRAMES][MOST_SCORES], aggregate[HV_MAX_PLANES];
} Scores;

typedef struct How {
    HvLevel level;
    unsigned threads;
    HvHip *hip; /* NULL: on the CPU */
} How;

static void on_scored(gpointer user, gpointer owner, const double *values)
{
    Scores *scores = user;
    memcpy(scores->value[scores->frames++], values, scores->n * sizeof *values);
}

static void on_failed(gpointer user, const GError *error)
{
    g_error("%s", error->message);
}

static void on_done(gpointer owner)
{
}

static const HvMeterCallbacks callbacks = {
    .scored = on_scored,
    .pictures_done = on_done,
    .owner_free = on_done,
    .failed = on_failed,
    .fell_back = on_failed,
    .broke = on_failed,
};

static GPtrArray *parse(const char *text, gboolean on_gpu)
{
    GError *error = NULL;
    GPtrArray *features = hv_features_parse(text, &error);
    g_assert_no_error(error);
    for (unsigned i = 0; i < features->len; i++)
        ((HvFeature *)g_ptr_array_index(features, i))->on_gpu = on_gpu;
    return features;
}

static HvMeter *meter_new(const char *text, const HvFormat *format, const How *how,
                          HvAggregates *aggregates, Scores *scores)
{
    GError *error = NULL;
    GPtrArray *features = parse(text, how->hip != NULL);
    HvMeterConfig config = {*format, features, how->threads, 2, .aggregates = aggregates};
    if (how->hip)
        config.backend = hv_hip_backend_new(how->hip, format, 2, TRUE, &error);
    g_assert_no_error(error);
    HvMeter *meter = hv_meter_new(&config, &callbacks, scores, &error);
    g_assert_no_error(error);
    g_ptr_array_unref(features);
    return meter;
}

static void take_names(Scores *scores, HvMeter *meter, HvAggregates *aggregates)
{
    const char *const *names = hv_meter_score_names(meter, &scores->n);
    g_assert_cmpuint(scores->n, <=, MOST_SCORES);
    scores->n_aggregates = hv_aggregates_size(aggregates);
    for (unsigned i = 0; i < scores->n; i++)
        scores->name[i] = g_strdup(names[i]);
    for (unsigned i = 0; i < scores->n_aggregates; i++)
        scores->name[scores->n + i] = g_strdup(hv_aggregates_name(aggregates, i));
}

static Scores measure(const char *text, Pair *pair, unsigned frames, const How *how)
{
    Scores scores = {0};
    HvAggregates *aggregates = hv_aggregates_new();
    g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(how->level), TRUE);
    HvMeter *meter = meter_new(text, &pair->format, how, aggregates, &scores);
    take_names(&scores, meter, aggregates);
    for (unsigned i = 0; i < frames; i++) {
        HvPair submitted = {pair[i].picture[0], pair[i].picture[1], NULL, FALSE};
        g_assert_true(hv_meter_submit(meter, &submitted));
    }
    g_assert_true(hv_meter_drain(meter, TRUE, -1));
    g_assert_cmpuint(scores.frames, ==, frames);
    for (unsigned i = 0; i < scores.n_aggregates; i++)
        scores.aggregate[i] = hv_aggregates_value(aggregates, i);
    hv_meter_free(meter, -1);
    hv_aggregates_free(aggregates);
    return scores;
}

static void scores_clear(Scores *scores)
{
    for (unsigned i = 0; i < scores->n + scores->n_aggregates; i++)
        g_free(scores->name[i]);
}

static double score(const Scores *scores, unsigned frame, const char *name)
{
    for (unsigned i = 0; i < scores->n + scores->n_aggregates; i++)
        if (!strcmp(scores->name[i], name))
            return i < scores->n ? scores->value[frame][i] : scores->aggregate[i - scores->n];
    g_error("there is no score %s", name);
}

/* Definitions */

static const char *const plane_names[] = {"y", "cb", "cr"};

/* What is measured of a plane: odd chroma rounded down. */
static unsigned measured(unsigned size, unsigned plane, unsigned shift)
{
    return plane ? size >> shift : size;
}

static double samples_of(const HvFormat *format, unsigned plane)
{
    return (double)measured(format->width, plane, format->chroma_shift_x) *
           measured(format->height, plane, format->chroma_shift_y);
}

static double sse_of(const Pair *pair, unsigned plane)
{
    const HvFormat *format = &pair->format;
    const Clip *clip = &pair->plane[plane];
    double sum = 0; /* exact: at most 53 bits at these sizes */
    for (unsigned y = 0; y < measured(format->height, plane, format->chroma_shift_y); y++)
        for (unsigned x = 0; x < measured(format->width, plane, format->chroma_shift_x); x++) {
            unsigned at = y * clip->format.width + x;
            double d = (double)clip->sample[0][at] - clip->sample[1][at];
            sum += d * d;
        }
    return sum;
}

static void assert_near(double value, double expected, const Pair *pair, const char *name)
{
    if (!(fabs(value - expected) <= TOLERANCE * MAX(fabs(expected), 1)))
        g_error("%s of %ux%u at %u bits is %.17g, not %.17g", name, pair->format.width,
                pair->format.height, pair->format.depth, value, expected);
}

static void check_psnr(const Scores *scores, Pair *pair, unsigned frames, unsigned plane)
{
    double peak = (1 << pair->format.depth) - 1, samples = samples_of(&pair->format, plane);
    double total = 0, limit = 6 * pair->format.depth + 12;
    char *psnr = g_strconcat("psnr_", plane_names[plane], NULL);
    char *mse = g_strconcat("mse_", plane_names[plane], NULL);
    char *apsnr = g_strconcat("apsnr_", plane_names[plane], NULL);
    for (unsigned i = 0; i < frames; i++) {
        double sse = sse_of(&pair[i], plane);
        total += sse;
        assert_near(score(scores, i, mse), sse / samples, pair, mse);
        assert_near(score(scores, i, psnr), MIN(limit, 20 * log10(peak / sqrt(sse / samples))),
                    pair, psnr);
    }
    assert_near(score(scores, 0, apsnr),
                MIN(10 * log10(peak * peak * samples * frames / total),
                    ceil(10 * log10(2 * peak * peak * samples * frames))),
                pair, apsnr);
    g_free(psnr);
    g_free(mse);
    g_free(apsnr);
}

static void check_float_psnr(const Scores *scores, const Pair *pair, unsigned frame)
{
    double scale = 1 << (pair->format.depth - 8), peak = ((1 << pair->format.depth) - 1) / scale;
    double mse = sse_of(&pair[frame], 0) / (scale * scale) / samples_of(&pair->format, 0);
    assert_near(score(scores, frame, "float_psnr"),
                MIN(6 * pair->format.depth + 12, 20 * log10(peak / sqrt(mse))), pair, "float_psnr");
}

/* As libvmaf says it: scaled floats, squared in float, added up in double. */
static void check_moments(const Scores *scores, const Pair *pair, unsigned frame)
{
    static const char *const names[][CLIP_PICTURES] = {
        {"float_moment_ref1st", "float_moment_dis1st"},
        {"float_moment_ref2nd", "float_moment_dis2nd"}};
    const Clip *luma = &pair[frame].plane[0];
    unsigned n = luma->format.width * luma->format.height;
    for (int p = 0; p < CLIP_PICTURES; p++) {
        double first = 0, second = 0;
        for (unsigned i = 0; i < n; i++) {
            volatile float sample = (float)luma->sample[p][i] / (1 << (luma->format.depth - 8));
            volatile float square = sample * sample;
            first += sample;
            second += square;
        }
        assert_near(score(scores, frame, names[0][p]), first / n, pair, names[0][p]);
        assert_near(score(scores, frame, names[1][p]), second / n, pair, names[1][p]);
    }
}

static void check_definitions(const Scores *scores, Pair *pair, unsigned frames)
{
    for (unsigned i = 0; i < pair->format.n_planes; i++)
        check_psnr(scores, pair, frames, i);
    for (unsigned i = 0; i < frames; i++) {
        check_float_psnr(scores, pair, i);
        check_moments(scores, pair, i);
    }
    g_assert_cmpuint(scores->n_aggregates, ==, pair->format.n_planes);
    g_assert_cmpuint(scores->n, ==, 2 * pair->format.n_planes + 5);
}

/* Every way of measuring */

static HvHip *gpu; /* NULL: none was asked for */

static void assert_same(const Scores *a, const Scores *b, const Pair *pair, const char *what)
{
    if (memcmp(a->value, b->value, sizeof a->value) ||
        memcmp(a->aggregate, b->aggregate, sizeof a->aggregate))
        g_error("%s: %ux%u, %u bits, shifts %u and %u", what, pair->format.width,
                pair->format.height, pair->format.depth, pair->format.chroma_shift_x,
                pair->format.chroma_shift_y);
}

static gboolean has_level(HvLevel level)
{
    g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(level), TRUE);
    return hv_level() == level;
}

static void check_way(const Scores *first, Pair *pair, unsigned frames, How how)
{
    Scores other = measure(ALL, pair, frames, &how);
    assert_same(first, &other, pair, how.hip ? "GPU" : hv_level_name(how.level));
    scores_clear(&other);
}

/* The definitions, and the bits of the baseline with one thread in every other way. */
static void check(Pair *pair, unsigned frames)
{
    How plain = {HV_LEVEL_BASELINE, 1, NULL};
    Scores first = measure(ALL, pair, frames, &plain);
    check_definitions(&first, pair, frames);
    if (gpu) {
        check_way(&first, pair, frames, (How){HV_LEVEL_BASELINE, 1, gpu});
    } else {
        for (HvLevel level = 0; level < HV_N_LEVELS && has_level(level); level++)
            check_way(&first, pair, frames, (How){level, 1 + level % MOST_THREADS, NULL});
        check_way(&first, pair, frames, (How){HV_N_LEVELS - 1, 1, NULL});
    }
    scores_clear(&first);
}

static const unsigned samplings[] = {420, 422, 444, 400};

/* What goes round is counted by n. */
static void check_nth(unsigned n, unsigned width, unsigned height, unsigned depth)
{
    HvFormat format = format_of(width, height, depth, samplings[n % G_N_ELEMENTS(samplings)]);
    Pair pair[MOST_FRAMES];
    unsigned frames = 1 + n / 4 % MOST_FRAMES;
    for (unsigned i = 0; i < frames; i++) {
        int layout[CLIP_PICTURES] = {(n / 3 + i) % LAYOUTS, (n / 12 + 2 * i) % LAYOUTS};
        pair[i] = pair_new((n + i) % CLIP_KINDS, &format, layout, n * 1000 + i);
    }
    check(pair, frames);
    for (unsigned i = 0; i < frames; i++)
        pair_free(&pair[i]);
}

static void test_every_size(void)
{
    unsigned n = 0, step = gpu ? 7 : 1;
    for (unsigned width = 16; width <= 80; width++)
        for (unsigned height = 16 + width % (5 * step); height <= 80; height += 5 * step, n++)
            check_nth(n, width, height, 8);
}

static void test_depths(void)
{
    for (unsigned n = 0; n < (gpu ? 150 : 600); n++)
        check_nth(n, 16 + n * 7 % 83, 16 + n * 5 % 41, 9 + n % 8);
}

/* Rows and planes on which 32-bit sums would overflow. */
static void test_large(void)
{
    static const struct {
        ClipKind kind;
        unsigned width, height, depth, sampling;
    } cases[] = {{CLIP_FLAT, 66052, 16, 8, 420},   {CLIP_FLAT, 66100, 17, 8, 444},
                 {CLIP_FLAT, 4105, 64, 10, 422},   {CLIP_CHECKER, 1026, 67, 11, 420},
                 {CLIP_FLAT, 641, 203, 12, 444},   {CLIP_FLAT, 333, 217, 16, 420},
                 {CLIP_EXTREME, 641, 363, 8, 420}, {CLIP_NOISE, 641, 363, 16, 444}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        HvFormat format =
            format_of(cases[i].width, cases[i].height, cases[i].depth, cases[i].sampling);
        int plain[CLIP_PICTURES] = {PLAIN, PLAIN}, mixed[CLIP_PICTURES] = {PADDED, INTERLEAVED};
        Pair pair = pair_new(cases[i].kind, &format, i % 2 ? mixed : plain, i);
        check(&pair, 1);
        pair_free(&pair);
    }
}

/* Options */

static const How usual = {HV_LEVEL_BASELINE, 1, NULL};

static double score_of(const char *text, Pair *pair, const char *name)
{
    Scores scores = measure(text, pair, 1, &usual);
    double value = score(&scores, 0, name);
    scores_clear(&scores);
    return value;
}

static void test_identical(void)
{
    static const struct {
        unsigned depth;
        double limit;
    } cases[] = {{8, 60}, {10, 72}, {12, 84}, {16, 108}};
    int plain[CLIP_PICTURES] = {PLAIN, PLAIN};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        HvFormat format = format_of(33, 17, cases[i].depth, 400);
        Pair pair = pair_new(CLIP_EQUAL, &format, plain, 1);
        g_assert_cmpfloat(score_of("psnr", &pair, "psnr_y"), ==, cases[i].limit);
        g_assert_cmpfloat(score_of("float_psnr", &pair, "float_psnr"), ==, cases[i].limit);
        g_assert_cmpfloat(score_of("psnr=enable_mse=true", &pair, "mse_y"), ==, 0);
        pair_free(&pair);
    }
}

static void test_options(void)
{
    int plain[CLIP_PICTURES] = {PLAIN, PLAIN};
    HvFormat format = format_of(33, 17, 10, 420);
    Pair equal = pair_new(CLIP_EQUAL, &format, plain, 1);
    Pair flat = pair_new(CLIP_FLAT, &format, plain, 1);
    /* ceil(10 log10(1023^2 / (0.5 / (33 * 17)))), and with Cb's 16 * 8 samples */
    g_assert_cmpfloat(score_of("psnr=min_sse=0.5", &equal, "psnr_y"), ==, 91);
    pair_free(&equal);
    equal = pair_new((CLIP_EQUAL + CLIP_KINDS - 1) % CLIP_KINDS, &format, plain, 1);
    g_assert_cmpfloat(score_of("psnr=min_sse=0.5", &equal, "psnr_cb"), ==, 85);
    assert_near(score_of("psnr=reduced_hbd_peak=true", &flat, "psnr_y"), 20 * log10(1020.0 / 1023),
                &flat, "psnr_y");
    assert_near(score_of("psnr=reduced_hbd_peak=true:enable_apsnr=true", &flat, "apsnr_y"),
                20 * log10(1020.0 / 1023), &flat, "apsnr_y");
    pair_free(&equal);
    pair_free(&flat);
}

static void check_names(const char *text, unsigned sampling, const char *expected)
{
    int plain[CLIP_PICTURES] = {PLAIN, PLAIN};
    HvFormat format = format_of(16, 16, 8, sampling);
    Pair pair = pair_new(CLIP_NOISE, &format, plain, 1);
    Scores scores = measure(text, &pair, 1, &usual);
    char *names = g_strjoinv(" ", scores.name);
    g_assert_cmpstr(names, ==, expected);
    g_free(names);
    scores_clear(&scores);
    pair_free(&pair);
}

static void test_names(void)
{
    check_names("psnr", 420, "psnr_y psnr_cb psnr_cr");
    check_names("psnr", 400, "psnr_y");
    check_names("psnr=enable_chroma=false", 444, "psnr_y");
    check_names("psnr=enable_mse=true", 422, "psnr_y mse_y psnr_cb mse_cb psnr_cr mse_cr");
    check_names("psnr=enable_mse=true", 400, "psnr_y mse_y");
    check_names("psnr=enable_apsnr=true:min_sse=0.5:reduced_hbd_peak=true", 420,
                "psnr_y psnr_cb psnr_cr apsnr_y apsnr_cb apsnr_cr");
    check_names("psnr=enable_apsnr=true", 400, "psnr_y apsnr_y");
    check_names("float_psnr,float_moment", 420,
                "float_psnr float_moment_ref1st float_moment_dis1st float_moment_ref2nd "
                "float_moment_dis2nd");
}

static void check_refused(const char *text, unsigned width, unsigned height, unsigned sampling,
                          const char *message)
{
    GError *error = NULL;
    GPtrArray *features = parse(text, FALSE);
    HvMeterConfig config = {format_of(width, height, 8, sampling), features, 1, 1};
    g_assert_null(hv_meter_new(&config, &callbacks, NULL, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_SIZE);
    g_assert_cmpstr(error->message, ==, message);
    g_clear_error(&error);
    g_ptr_array_unref(features);
}

static void test_refused(void)
{
    GError *error = NULL;
    check_refused("psnr", 16, 1, 420,
                  "psnr measures pictures from 2x2 up with this format's chroma, not 16x1; "
                  "enable_chroma=false leaves it out");
    check_refused("psnr", 1, 16, 422,
                  "psnr measures pictures from 2x1 up with this format's chroma, not 1x16; "
                  "enable_chroma=false leaves it out");
    g_assert_null(hv_features_parse("psnr=min_sse=-1", &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_OPTION);
    g_clear_error(&error);
}

/* One pixel is enough. */
static void test_small(void)
{
    int plain[CLIP_PICTURES] = {PLAIN, PLAIN};
    for (unsigned width = 1; width < 16; width++) {
        HvFormat format = format_of(width, 1 + width % 3, 8 + width % 9, width % 2 ? 444 : 400);
        Pair pair = pair_new(CLIP_NOISE, &format, plain, width);
        check(&pair, 1);
        pair_free(&pair);
    }
}

/* libvmaf's figures */

static Pair figure_pair(const PsnrFigures *figures, unsigned frame)
{
    int plain[CLIP_PICTURES] = {PLAIN, PLAIN};
    HvFormat format = format_of(figures->width, figures->height, figures->depth, figures->sampling);
    return pair_new((figures->kind + frame) % CLIP_KINDS, &format, plain, frame);
}

static void test_figures(void)
{
    for (const PsnrFigures *figures = psnr_figures; figures->width; figures++) {
        Pair pair[PSNR_FRAMES];
        for (unsigned i = 0; i < PSNR_FRAMES; i++)
            pair[i] = figure_pair(figures, i);
        Scores scores = measure(ALL, pair, PSNR_FRAMES, &usual);
        for (const PsnrFigure *figure = figures->figure; figure->name; figure++)
            if (fabs(score(&scores, figure->frame, figure->name) - figure->value) >
                (strcmp(figure->name, "float_psnr") ? 1e-9 : 1e-6))
                g_error("%s of frame %u, %ux%u at %u bits: %.17g, not %.17g", figure->name,
                        figure->frame, figures->width, figures->height, figures->depth,
                        score(&scores, figure->frame, figure->name), figure->value);
        scores_clear(&scores);
        for (unsigned i = 0; i < PSNR_FRAMES; i++)
            pair_free(&pair[i]);
    }
}

/* Of chroma, what libvmaf's pictures hold: rounded down. */
static void write_picture(FILE *file, const Pair *pair, int picture)
{
    unsigned bytes = hv_format_sample_bytes(&pair->format);
    for (unsigned i = 0; i < pair->format.n_planes; i++)
        for (unsigned y = 0; y < measured(pair->format.height, i, pair->format.chroma_shift_y); y++)
            for (unsigned x = 0; x < measured(pair->format.width, i, pair->format.chroma_shift_x);
                 x++)
                fwrite(&pair->plane[i].sample[picture][y * pair->plane[i].format.width + x], bytes,
                       1, file);
}

/* I_ref.yuv and I_dis.yuv, and a line "I WIDTH HEIGHT SAMPLING DEPTH" to stdout. */
static int write_clips(const char *folder)
{
    static const char *const sides[] = {"ref", "dis"};
    for (unsigned i = 0; psnr_figures[i].width; i++) {
        const PsnrFigures *figures = &psnr_figures[i];
        printf("%u %u %u %u %u\n", i, figures->width, figures->height, figures->sampling,
               figures->depth);
        for (int p = 0; p < CLIP_PICTURES; p++) {
            char *path = g_strdup_printf("%s/%u_%s.yuv", folder, i, sides[p]);
            FILE *file = fopen(path, "wb");
            g_assert_nonnull(file);
            for (unsigned frame = 0; frame < PSNR_FRAMES; frame++) {
                Pair pair = figure_pair(figures, frame);
                write_picture(file, &pair, p);
                pair_free(&pair);
            }
            g_assert_cmpint(fclose(file), ==, 0);
            g_free(path);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    g_test_init(&argc, &argv, NULL);
    if (argc == 3 && !strcmp(argv[1], "--write"))
        return write_clips(argv[2]);
    if (g_getenv("HIPVMAF_RUNTIME"))
        gpu = hv_hip_open(-1, &error);
    g_assert_no_error(error);
    g_test_add_func("/psnr/every-size", test_every_size);
    g_test_add_func("/psnr/depths", test_depths);
    g_test_add_func("/psnr/large", test_large);
    g_test_add_func("/psnr/small", test_small);
    g_test_add_func("/psnr/identical", test_identical);
    g_test_add_func("/psnr/options", test_options);
    g_test_add_func("/psnr/figures", test_figures);
    g_test_add_func("/psnr/names", test_names);
    g_test_add_func("/psnr/refused", test_refused);
    int result = g_test_run();
    hv_hip_unref(gpu);
    return result;
}
