/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion: sums against a direct evaluation of their definition, at every processor level and thread
 * count; scores of whole streams against figures measured with libvmaf 3.2's plain C path. */
#include <stdlib.h>
#include <string.h>

#include "kernels/common/meter.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/slices.h"
#include "kernels/motion/motion.h"

#define N_VALUES 3

/* ---- pictures made from formulas ---- */

static uint32_t hash(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Frame n: a ramp that moves, with noise. */
static unsigned sample(unsigned x, unsigned y, unsigned n, unsigned depth)
{
    unsigned noise = hash((y * 4096 + x) * 64 + n) >> 16;
    unsigned ramp = (x * 1500 + y * 900 + n * n * 700) & 0xffff;
    return ((noise + 3 * ramp) >> 2) >> (16 - depth);
}

/* Only the extremes, the other one in the next frame: the largest differences of either sign. */
static unsigned extreme(unsigned x, unsigned y, unsigned n, unsigned depth)
{
    unsigned on = ((hash(y / 7 * 512 + x / 7) >> 3) + n) & 1;
    return on ? (1u << depth) - 1 : 0;
}

typedef unsigned (*Scene)(unsigned x, unsigned y, unsigned n, unsigned depth);

/* `pad` bytes follow each row, and the samples sit `shift` bits up. */
static HvPicture make_picture(const HvFormat *format, Scene scene, unsigned n, unsigned shift,
                              unsigned pad)
{
    unsigned bytes = hv_format_sample_bytes(format);
    size_t stride = format->width * bytes + pad;
    uint8_t *data = g_malloc(stride * format->height);
    memset(data, 0xa5, stride * format->height);
    for (unsigned y = 0; y < format->height; y++)
        for (unsigned x = 0; x < format->width; x++) {
            unsigned value = scene(x, y, n, format->depth) << shift;
            if (format->depth + shift < 16)
                value |= (x ^ n) << (format->depth + shift); /* bits that do not count */
            memcpy(data + y * stride + x * bytes, &(uint16_t){(uint16_t)GUINT16_TO_LE(value)},
                   bytes);
        }
    HvPicture picture = {.plane[0] = {data, (ptrdiff_t)stride, bytes, shift}};
    return picture;
}

static void free_picture(HvPicture *picture)
{
    g_free((gpointer)picture->plane[0].data);
}

/* ---- the definition ---- */

static int mirror(int i, int n)
{
    return i < 0 ? -i : i >= n ? 2 * n - i - 2 : i;
}

static const int64_t taps[5] = {3571, 16004, 26386, 16004, 3571};

static int64_t rounded(int64_t sum, int bits)
{
    return (sum + ((int64_t)1 << (bits - 1))) >> bits;
}

static uint64_t direct_sad(const HvFormat *f, Scene scene, unsigned from, unsigned to)
{
    int w = (int)f->width, h = (int)f->height;
    int64_t *row = g_new(int64_t, w);
    uint64_t sad = 0;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            int64_t sum = 0;
            for (int k = 0; k < 5; k++) {
                unsigned at = (unsigned)mirror(y + k - 2, h);
                sum += taps[k] * ((int64_t)scene((unsigned)x, at, from, f->depth) -
                                  (int64_t)scene((unsigned)x, at, to, f->depth));
            }
            row[x] = rounded(sum, (int)f->depth);
        }
        for (int x = 0; x < w; x++) {
            int64_t sum = 0;
            for (int k = 0; k < 5; k++)
                sum += taps[k] * row[mirror(x + k - 2, w)];
            sad += (uint64_t)llabs(rounded(sum, 16));
        }
    }
    g_free(row);
    return sad;
}

static double direct_motion(const HvFormat *f, Scene scene, unsigned from, unsigned to)
{
    return (double)direct_sad(f, scene, from, to) / 256.0 / (f->width * f->height);
}

/* ---- one pair of frames ---- */

/* The motion from frame 0 to frame 1, as the metric gives it. */
static double measured_motion(const HvFormat *format, Scene scene, HvSlices *slices, unsigned shift,
                              unsigned pad)
{
    HvMotionParams params;
    hv_options_init(hv_motion_info.options, &params);
    params.debug = TRUE;
    HvMetricSetup setup = {format, &params, slices, NULL};
    HvMetric *metric = hv_motion_cpu_ops.create(&setup, NULL);
    double values[2][N_VALUES];
    HvScores scores[2] = {{values[0], NULL}, {values[1], NULL}};
    for (unsigned n = 0; n < 2; n++) {
        HvPicture picture = make_picture(format, scene, n, shift, pad);
        HvSubject subject = {&picture, &picture, 0};
        g_assert_true(hv_motion_cpu_ops.collect(metric, &subject, &scores[n], NULL));
        free_picture(&picture);
    }
    hv_motion_cpu_ops.flush(metric, HV_FLUSH_END);
    hv_motion_cpu_ops.destroy(metric);
    g_assert_cmpfloat(values[0][2], ==, 0);
    return values[1][2];
}

static const char *const levels[] = {"baseline", "v3", "v4", "vnni"};

static void check_sizes(unsigned depth, unsigned from, unsigned to, unsigned step)
{
    HvSlices *slices[] = {hv_slices_new(1, NULL), hv_slices_new(3, NULL)};
    for (unsigned width = from; width <= to; width += step)
        for (unsigned height = from; height <= to; height += step) {
            HvFormat format = {.width = width, .height = height, .depth = depth, .n_planes = 1};
            double want = direct_motion(&format, sample, 0, 1);
            for (unsigned level = 0; level < G_N_ELEMENTS(levels); level++) {
                g_setenv("HIPVMAF_CPU_LEVEL", levels[level], TRUE);
                for (unsigned i = 0; i < G_N_ELEMENTS(slices); i++)
                    g_assert_cmpfloat(measured_motion(&format, sample, slices[i], 0, width % 3 * 2),
                                      ==, want);
            }
        }
    g_unsetenv("HIPVMAF_CPU_LEVEL");
    hv_slices_free(slices[0]);
    hv_slices_free(slices[1]);
}

static void test_sizes(void)
{
    check_sizes(8, 16, 80, 1);
    check_sizes(8, 3, 15, 1);
    check_sizes(10, 16, 80, 7);
    check_sizes(16, 3, 83, 4);
}

static void test_depths(void)
{
    HvSlices *slices = hv_slices_new(2, NULL);
    HvFormat format = {.width = 75, .height = 53, .n_planes = 1};
    for (format.depth = 8; format.depth <= 16; format.depth++)
        for (unsigned level = 0; level < G_N_ELEMENTS(levels); level++) {
            g_setenv("HIPVMAF_CPU_LEVEL", levels[level], TRUE);
            unsigned shift = format.depth == 8 ? 0 : 16 - format.depth;
            g_assert_cmpfloat(measured_motion(&format, extreme, slices, 0, 0), ==,
                              direct_motion(&format, extreme, 0, 1));
            g_assert_cmpfloat(measured_motion(&format, sample, slices, shift, 6), ==,
                              direct_motion(&format, sample, 0, 1));
        }
    g_unsetenv("HIPVMAF_CPU_LEVEL");
    hv_slices_free(slices);
}

/* ---- streams ---- */

typedef struct Stream {
    HvFormat format;
    HvMeter *meter;
    unsigned n_scored, n_failed;
    double value[64][N_VALUES];
} Stream;

typedef struct Owner {
    HvPicture picture;
    unsigned index;
} Owner;

static void on_scored(gpointer user, gpointer owner, const double *scores)
{
    Stream *stream = user;
    g_assert_cmpuint(((Owner *)owner)->index, ==, stream->n_scored);
    memcpy(stream->value[stream->n_scored++], scores,
           sizeof stream->value[0]); /* motion is first */
}

/* Nothing may read a picture after this. */
static void on_pictures_done(gpointer owner)
{
    free_picture(&((Owner *)owner)->picture);
}

static void on_failed(gpointer user, const GError *error)
{
    ((Stream *)user)->n_failed++;
}

static void stream_open(Stream *stream, const char *features)
{
    static const HvMeterCallbacks callbacks = {
        .scored = on_scored,
        .pictures_done = on_pictures_done,
        .owner_free = g_free,
        .failed = on_failed,
    };
    *stream = (Stream){.format = {.width = 48, .height = 36, .depth = 8, .n_planes = 1}};
    HvMeterConfig config = {stream->format, hv_features_parse(features, NULL), 2, 2};
    stream->meter = hv_meter_new(&config, &callbacks, stream, NULL);
    g_assert_nonnull(stream->meter);
    g_ptr_array_unref(config.features);
}

/* Frame n of the scene, as the index-th that is to be scored, or unscored. */
static void stream_push_as(Stream *stream, unsigned n, unsigned index, gboolean unscored)
{
    Owner *owner = g_new0(Owner, 1);
    owner->index = index;
    owner->picture = make_picture(&stream->format, sample, n, 0, 0);
    HvPair pair = {owner->picture, owner->picture, owner, unscored};
    g_assert_true(hv_meter_submit(stream->meter, &pair));
}

static void stream_push(Stream *stream, unsigned n, unsigned index)
{
    stream_push_as(stream, n, index, FALSE);
}

static void stream_close(Stream *stream, unsigned frames)
{
    g_assert_true(hv_meter_drain(stream->meter, TRUE, -1));
    g_assert_cmpuint(stream->n_scored, ==, frames);
    g_assert_cmpuint(stream->n_failed, ==, 0);
    hv_meter_free(stream->meter, -1);
}

static void run_stream(Stream *stream, const char *features, unsigned frames)
{
    stream_open(stream, features);
    for (unsigned n = 0; n < frames; n++)
        stream_push(stream, n, n);
    stream_close(stream, frames);
}

/* With the default options: motion of a frame, then the lesser of it and the next one's. */
static void test_lengths(void)
{
    static const unsigned lengths[] = {1, 2, 3, 5, 60};
    for (unsigned i = 0; i < G_N_ELEMENTS(lengths); i++) {
        Stream stream;
        unsigned frames = lengths[i];
        double motion[61] = {0};
        run_stream(&stream, "motion=debug=true", frames);
        for (unsigned n = 1; n < frames; n++)
            motion[n] = direct_motion(&stream.format, sample, n - 1, n);
        for (unsigned n = 0; n < frames; n++) {
            double motion2 = n + 1 < frames && n > 0 ? MIN(motion[n], motion[n + 1]) : motion[n];
            g_assert_cmpfloat(stream.value[n][0], ==, motion2);
            g_assert_cmpfloat(stream.value[n][1], ==, n == 0 && frames > 1 ? motion[1] : motion2);
            g_assert_cmpfloat(stream.value[n][2], ==, motion[n]);
        }
    }
}

#include "motion_figures.h"

/* libvmaf's figures: motion2 and motion3 of every frame, for several options and lengths. */
static void test_figures(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++) {
        Stream stream;
        run_stream(&stream, figures[i].features, figures[i].frames);
        for (unsigned n = 0; n < figures[i].frames; n++)
            for (unsigned k = 0; k < 2; k++)
                if (stream.value[n][k] != figures[i].value[n][k])
                    g_error("%s, %u frames: frame %u has %.17g, not %.17g", figures[i].features,
                            figures[i].frames, n, stream.value[n][k], figures[i].value[n][k]);
    }
}

/* Scores wait for one later frame, no longer; with the five-frame window for two at the start. */
static void test_delay(void)
{
    static const unsigned waits[] = {0, 1, 2, 3, 4}, five[] = {0, 0, 2, 3, 4};
    for (unsigned window = 0; window < 2; window++) {
        Stream stream;
        stream_open(&stream, window ? "motion=debug=true:mffw=true" : "motion=debug=true");
        for (unsigned n = 0; n < G_N_ELEMENTS(waits); n++) {
            stream_push(&stream, n, n);
            g_assert_true(hv_meter_drain(stream.meter, FALSE, -1));
            g_assert_cmpuint(stream.n_scored, ==, window ? five[n] : waits[n]);
        }
        stream_close(&stream, 5);
    }
}

/* Pairs that get no scores are seen by motion, and only by what remembers; a drop does not count
 * them. */
static void test_unscored(void)
{
    Stream stream;
    stream_open(&stream, "motion=debug=true,adm");
    for (unsigned n = 0; n < 7; n++)
        stream_push_as(&stream, n, n / 3, n % 3 != 0);
    g_assert_true(hv_meter_drain(stream.meter, TRUE, -1));
    g_assert_cmpuint(stream.n_scored, ==, 3);
    for (unsigned i = 1; i < 3; i++)
        g_assert_cmpfloat(stream.value[i][2], ==,
                          direct_motion(&stream.format, sample, 3 * i - 1, 3 * i));
    stream_push_as(&stream, 7, 3, FALSE);
    stream_push_as(&stream, 8, 3, TRUE);
    stream_push_as(&stream, 9, 3, FALSE);
    g_assert_true(hv_meter_drain(stream.meter, FALSE, -1));
    g_assert_cmpuint(hv_meter_drop(stream.meter), ==, 1);
    stream_close(&stream, 4);
}

/* After a discontinuity, and after an end, the next frame is a first one; what waited at a
 * discontinuity is not scored. */
static void test_restart(void)
{
    Stream stream;
    stream_open(&stream, "motion=debug=true");
    stream_push(&stream, 0, 0);
    stream_push(&stream, 1, 1);
    g_assert_true(hv_meter_drain(stream.meter, FALSE, -1));
    g_assert_cmpuint(hv_meter_drop(stream.meter), ==, 1);
    g_assert_cmpuint(stream.n_scored, ==, 1);
    stream_push(&stream, 5, 1);
    stream_push(&stream, 6, 2);
    g_assert_true(hv_meter_drain(stream.meter, TRUE, -1));
    g_assert_cmpuint(stream.n_scored, ==, 3);
    stream_push(&stream, 9, 3);
    stream_push(&stream, 10, 4);
    stream_close(&stream, 5);
    for (unsigned start = 1; start < 5; start += 2) {
        unsigned n = start == 1 ? 5 : 9;
        double motion = direct_motion(&stream.format, sample, n, n + 1);
        g_assert_cmpfloat(stream.value[start][2], ==, 0);
        g_assert_cmpfloat(stream.value[start][1], ==, motion);
        g_assert_cmpfloat(stream.value[start + 1][2], ==, motion);
    }
}

static void test_names(void)
{
    static const char *const want[] = {
        "integer_motion2_mbf_0.5_mbo_12_mffw_force_0_mfw_2_mmxv_18_mma",
        "integer_motion3_mbf_0.5_mbo_12_mffw_force_0_mfw_2_mmxv_18_mma", NULL};
    HvMotionParams params;
    hv_options_init(hv_motion_info.options, &params);
    g_assert_true(hv_options_parse(hv_motion_info.options, "motion",
                                   "force_0=true:mbf=0.5:mbo=12:mfw=2:motion_max_val=18:"
                                   "motion_five_frame_window=true:mma=true",
                                   &params, NULL));
    const char *const *names = hv_motion_info.score_names(&params);
    for (unsigned i = 0; want[i]; i++) {
        char *name = hv_options_score_name(hv_motion_info.options, &params, names[i]);
        g_assert_cmpstr(name, ==, want[i]);
        g_free(name);
    }
    g_assert_null(names[2]);
}

static void test_too_small(void)
{
    HvFormat format = {.width = 2, .height = 16, .depth = 8, .n_planes = 1};
    HvMotionParams params;
    GError *error = NULL;
    hv_options_init(hv_motion_info.options, &params);
    g_assert_false(hv_motion_info.validate(&params, &format, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_SIZE);
    g_assert_cmpstr(error->message, ==, "motion measures pictures from 3x3 up, not 2x16");
    g_clear_error(&error);
    format.width = 3;
    g_assert_true(hv_motion_info.validate(&params, &format, &error));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/motion/sizes", test_sizes);
    g_test_add_func("/motion/depths", test_depths);
    g_test_add_func("/motion/lengths", test_lengths);
    g_test_add_func("/motion/figures", test_figures);
    g_test_add_func("/motion/delay", test_delay);
    g_test_add_func("/motion/unscored", test_unscored);
    g_test_add_func("/motion/restart", test_restart);
    g_test_add_func("/motion/names", test_names);
    g_test_add_func("/motion/too-small", test_too_small);
    return g_test_run();
}
