/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the benchmark measures with: "make" writes a pair of raw clips; "measure" reads such a pair
 * as libvmaf's vmaf tool does and measures it with the meter, so that whole processes compare;
 * "memory" has the clips in memory before its clock starts, and "latency" hands over a pair only
 * when the one before is scored, as libvmafbench does. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "kernels/common/lock.h"
#include "kernels/common/meter.h"
#include "kernels/common/metric.h"
#include "kernels/common/pool.h"
#include "kernels/cpu/level.h"
#include "kernels/vmaf/model.h"

/* Pairs in flight: one being measured, one waiting; a third is being read. */
#define DEPTH   2
#define N_SLOTS (DEPTH + 1)
/* Pairs measured before the clock starts, where start-up does not count. */
#define WARM_UP 2

typedef struct Bench Bench;

/* The memory of one pair that is read; the owner of a pair on its way through the meter. */
typedef struct Slot {
    Bench *bench;
    uint8_t *reference, *distorted;
    gboolean busy;
} Slot;

struct Bench {
    HvFormat format;
    FILE *reference, *distorted;           /* from files */
    char *reference_clip, *distorted_clip; /* from memory */
    HvMeter *meter;
    HvModels *models;
    HvPredictor *predictor;
    double *model_scores;
    HvPool *pool;
    HvLock lock; /* guards busy of every slot */
    HvCond freed;
    Slot slot[N_SLOTS];
    gboolean failed;
};

/* ---- clips ---- */

static uint32_t hash(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Texture of several scales on a triangle wave, as 16-bit luma: detail in every wavelet band. */
static unsigned scene(unsigned x, unsigned y)
{
    unsigned wave = (x * 97 + y * 61) & 0xffff;
    unsigned fine = hash(x * 7919 + y) & 0xffff;
    unsigned coarse = hash((x >> 3) * 104729 + (y >> 3)) & 0xffff;

    wave = wave < 0x8000 ? wave * 2 : (0xffff - wave) * 2;
    return (wave * 4 + coarse * 3 + fine) >> 3;
}

/* The scene pans, so that no two frames are alike; the distorted one has lost its fine steps. */
static unsigned sample(unsigned x, unsigned y, unsigned n, unsigned depth, gboolean distorted)
{
    unsigned value = scene(x + 5 * n, y + 3 * n);

    if (distorted)
        value = (value + scene(x + 5 * n + 1, y + 3 * n)) / 2 / 4096 * 4096 + 2048;
    return value >> (16 - depth);
}

static void store(uint8_t *to, unsigned i, unsigned value, unsigned depth)
{
    if (depth == 8) {
        to[i] = (uint8_t)value;
    } else {
        to[2 * i] = (uint8_t)value;
        to[2 * i + 1] = (uint8_t)(value >> 8);
    }
}

static size_t plane_bytes(const HvFormat *format, unsigned plane)
{
    return (size_t)hv_format_plane_width(format, plane) * hv_format_plane_height(format, plane) *
           hv_format_sample_bytes(format);
}

static size_t picture_bytes(const HvFormat *format)
{
    return plane_bytes(format, 0) + 2 * plane_bytes(format, 1);
}

static void fill_picture(uint8_t *to, const HvFormat *format, unsigned n, gboolean distorted)
{
    unsigned luma = format->width * format->height;
    unsigned all = (unsigned)(picture_bytes(format) / hv_format_sample_bytes(format));

    for (unsigned y = 0, i = 0; y < format->height; y++)
        for (unsigned x = 0; x < format->width; x++, i++)
            store(to, i, sample(x, y, n, format->depth, distorted), format->depth);
    for (unsigned i = luma; i < all; i++)
        store(to, i, 1u << (format->depth - 1), format->depth);
}

static gboolean make_clip(const char *path, const HvFormat *format, unsigned frames,
                          gboolean distorted)
{
    size_t bytes = picture_bytes(format);
    uint8_t *picture = g_malloc(bytes);
    FILE *file = fopen(path, "wb");
    gboolean ok = file != NULL;

    for (unsigned n = 0; ok && n < frames; n++) {
        fill_picture(picture, format, n, distorted);
        ok = fwrite(picture, 1, bytes, file) == bytes;
    }
    if (file && fclose(file))
        ok = FALSE;
    if (!ok)
        fprintf(stderr, "hvbench: %s: %s\n", path, strerror(errno));
    g_free(picture);
    return ok;
}

/* ---- measuring ---- */

static void on_scored(gpointer user, gpointer owner, const double *scores)
{
    Bench *bench = user;
    unsigned n;
    const char *const *names = hv_meter_score_names(bench->meter, &n);

    hv_predictor_run(bench->predictor, scores, bench->model_scores);
    hv_pool_add(bench->pool, names, scores, n);
    names = hv_models_score_names(bench->models, &n);
    hv_pool_add(bench->pool, names, bench->model_scores, n);
}

/* Before the scores where those wait for a later picture: the slot must not. */
static void on_pictures_done(gpointer owner)
{
    Slot *slot = owner;

    if (!slot)
        return;
    hv_lock(&slot->bench->lock);
    slot->busy = FALSE;
    hv_cond_broadcast(&slot->bench->freed);
    hv_unlock(&slot->bench->lock);
}

static void on_owner_free(gpointer owner)
{
}

static void on_failed(gpointer user, const GError *error)
{
    Bench *bench = user;

    fprintf(stderr, "hvbench: %s\n", error->message);
    bench->failed = TRUE;
}

static Slot *take_slot(Bench *bench)
{
    Slot *found = NULL;

    hv_lock(&bench->lock);
    while (!found) {
        for (unsigned i = 0; i < N_SLOTS && !found; i++)
            if (!bench->slot[i].busy)
                found = &bench->slot[i];
        if (!found)
            hv_cond_wait(&bench->freed, &bench->lock);
    }
    found->busy = TRUE;
    hv_unlock(&bench->lock);
    return found;
}

static HvPicture picture_of(const HvFormat *format, const uint8_t *data)
{
    HvPicture picture = {0};
    unsigned bytes = hv_format_sample_bytes(format);

    for (unsigned i = 0; i < format->n_planes; i++) {
        picture.plane[i] = (HvPlane){
            .data = data,
            .stride = (ptrdiff_t)(hv_format_plane_width(format, i) * bytes),
            .step = bytes,
        };
        data += plane_bytes(format, i);
    }
    return picture;
}

/* What a way of measuring found. */
typedef struct Timing {
    unsigned frames;
    double seconds;
    double latency; /* seconds, or 0 */
} Timing;

static double seconds_since(gint64 start)
{
    return (double)(g_get_monotonic_time() - start) / 1e6;
}

static void measure_files(Bench *bench, Timing *timing)
{
    size_t bytes = picture_bytes(&bench->format);
    gint64 start = g_get_monotonic_time();

    for (;;) {
        Slot *slot = take_slot(bench);
        HvPair pair = {.owner = slot};

        if (fread(slot->reference, 1, bytes, bench->reference) != bytes ||
            fread(slot->distorted, 1, bytes, bench->distorted) != bytes)
            break;
        pair.reference = picture_of(&bench->format, slot->reference);
        pair.distorted = picture_of(&bench->format, slot->distorted);
        hv_meter_submit(bench->meter, &pair);
        timing->frames++;
    }
    hv_meter_drain(bench->meter, TRUE, -1);
    timing->seconds = seconds_since(start);
}

static void submit_from_memory(Bench *bench, unsigned n)
{
    size_t at = n * picture_bytes(&bench->format);
    HvPair pair = {
        .reference = picture_of(&bench->format, (const uint8_t *)bench->reference_clip + at),
        .distorted = picture_of(&bench->format, (const uint8_t *)bench->distorted_clip + at),
    };
    hv_meter_submit(bench->meter, &pair);
}

static void measure_memory(Bench *bench, unsigned frames, Timing *timing)
{
    gint64 start;

    for (unsigned n = 0; n < WARM_UP; n++)
        submit_from_memory(bench, n);
    hv_meter_drain(bench->meter, FALSE, -1);
    start = g_get_monotonic_time();
    for (unsigned n = WARM_UP; n < frames; n++)
        submit_from_memory(bench, n);
    hv_meter_drain(bench->meter, TRUE, -1);
    timing->seconds = seconds_since(start);
    timing->frames = frames - WARM_UP;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A drained meter has scored what can be scored: all but what waits for the next picture. */
static void measure_latency(Bench *bench, unsigned frames, Timing *timing)
{
    double *each = g_new(double, frames);

    for (unsigned n = 0; n < frames; n++) {
        gint64 start = g_get_monotonic_time();
        submit_from_memory(bench, n);
        hv_meter_drain(bench->meter, FALSE, -1);
        each[n] = seconds_since(start);
        timing->seconds += n < WARM_UP ? 0 : each[n];
    }
    hv_meter_drain(bench->meter, TRUE, -1);
    timing->frames = frames - WARM_UP;
    qsort(each + WARM_UP, timing->frames, sizeof *each, by_value);
    timing->latency = each[WARM_UP + timing->frames / 2];
    g_free(each);
}

/* The meter, and what predicts from its scores. */
static gboolean make_meter(Bench *bench, const char *features, const char *model, unsigned threads,
                           GError **error)
{
    static const HvMeterCallbacks callbacks = {.scored = on_scored,
                                               .pictures_done = on_pictures_done,
                                               .owner_free = on_owner_free,
                                               .failed = on_failed};
    static const HvModelSettings settings;
    HvMeterConfig config = {.format = bench->format, .threads = threads, .depth = DEPTH};
    const char *const *names;
    unsigned n;

    bench->models = hv_models_load(model, &settings, error);
    if (!bench->models)
        return FALSE;
    config.features = hv_features_parse(features, error);
    if (!config.features)
        return FALSE;
    hv_models_add_features(bench->models, config.features);
    bench->meter = hv_meter_new(&config, &callbacks, bench, error);
    g_ptr_array_unref(config.features);
    if (!bench->meter)
        return FALSE;
    names = hv_meter_score_names(bench->meter, &n);
    bench->predictor = hv_predictor_new(bench->models, names, n, error);
    hv_models_score_names(bench->models, &n);
    bench->model_scores = g_new(double, n + 1);
    return bench->predictor != NULL;
}

static gboolean open_files(Bench *bench, const char *reference, const char *distorted)
{
    bench->reference = fopen(reference, "rb");
    bench->distorted = fopen(distorted, "rb");
    if (!bench->reference || !bench->distorted) {
        fprintf(stderr, "hvbench: %s or %s: %s\n", reference, distorted, strerror(errno));
        return FALSE;
    }
    hv_lock_init(&bench->lock);
    hv_cond_init(&bench->freed);
    for (unsigned i = 0; i < N_SLOTS; i++)
        bench->slot[i] = (Slot){bench, g_malloc(picture_bytes(&bench->format)),
                                g_malloc(picture_bytes(&bench->format)), FALSE};
    return TRUE;
}

/* How many pairs the two clips hold; 0 where they cannot be used. */
static unsigned load_clips(Bench *bench, const char *reference, const char *distorted)
{
    gsize reference_size, distorted_size;
    GError *error = NULL;

    if (!g_file_get_contents(reference, &bench->reference_clip, &reference_size, &error) ||
        !g_file_get_contents(distorted, &bench->distorted_clip, &distorted_size, &error)) {
        fprintf(stderr, "hvbench: %s\n", error->message);
        g_clear_error(&error);
        return 0;
    }
    gsize frames = MIN(reference_size, distorted_size) / picture_bytes(&bench->format);
    if (frames > WARM_UP)
        return (unsigned)frames;
    fprintf(stderr, "hvbench: there must be more than %d frames\n", WARM_UP);
    return 0;
}

static void bench_close(Bench *bench)
{
    if (bench->meter)
        hv_meter_free(bench->meter, -1);
    hv_predictor_free(bench->predictor);
    hv_models_unref(bench->models);
    g_free(bench->model_scores);
    hv_pool_free(bench->pool);
    for (unsigned i = 0; i < N_SLOTS; i++) {
        g_free(bench->slot[i].reference);
        g_free(bench->slot[i].distorted);
    }
    g_free(bench->reference_clip);
    g_free(bench->distorted_clip);
    if (bench->reference)
        fclose(bench->reference);
    if (bench->distorted)
        fclose(bench->distorted);
}

static void print_result(const Bench *bench, const Timing *timing)
{
    printf("level=%s frames=%u seconds=%.6f", hv_level_name(hv_level()), timing->frames,
           timing->seconds);
    if (timing->latency > 0)
        printf(" latency_ms=%.4f", timing->latency * 1000);
    for (unsigned i = 0; i < hv_pool_size(bench->pool); i++)
        printf(" %s=%.17g", hv_pool_name(bench->pool, i),
               hv_pool_value(bench->pool, i, HV_POOL_MEAN));
    printf("\n");
}

static gboolean run(Bench *bench, const char *how, const char *reference, const char *distorted)
{
    Timing timing = {0};
    gboolean files = !strcmp(how, "measure");
    unsigned frames = files ? 0 : load_clips(bench, reference, distorted);

    if (files ? !open_files(bench, reference, distorted) : !frames)
        return FALSE;
    if (files)
        measure_files(bench, &timing);
    else if (!strcmp(how, "memory"))
        measure_memory(bench, frames, &timing);
    else
        measure_latency(bench, frames, &timing);
    print_result(bench, &timing);
    if (bench->failed || !timing.frames)
        fprintf(stderr, "hvbench: nothing measured, or not everything\n");
    return !bench->failed && timing.frames;
}

static int measure(const char *how, const HvFormat *format, char **clips, unsigned threads,
                   const char *features, const char *model)
{
    Bench bench = {.format = *format, .pool = hv_pool_new()};
    GError *error = NULL;
    gboolean good = make_meter(&bench, features, model, threads, &error);

    if (good) {
        good = run(&bench, how, clips[0], clips[1]);
    } else {
        fprintf(stderr, "hvbench: %s\n", error->message);
        g_clear_error(&error);
    }
    bench_close(&bench);
    return !good;
}

static gboolean known(const char *how)
{
    return !strcmp(how, "make") || !strcmp(how, "measure") || !strcmp(how, "memory") ||
           !strcmp(how, "latency");
}

int main(int argc, char **argv)
{
    HvFormat format = {.n_planes = 3, .chroma_shift_x = 1, .chroma_shift_y = 1};

    if (argc < 8 || !known(argv[1])) {
        fprintf(stderr,
                "usage: hvbench make REF DIST WIDTH HEIGHT BITS FRAMES\n"
                "       hvbench measure|memory|latency REF DIST WIDTH HEIGHT BITS THREADS FEATURES "
                "[MODEL]\n"
                "Clips are raw planar 4:2:0.\n");
        return 2;
    }
    format.width = (unsigned)atoi(argv[4]);
    format.height = (unsigned)atoi(argv[5]);
    format.depth = (unsigned)atoi(argv[6]);
    if (!strcmp(argv[1], "make"))
        return !(make_clip(argv[2], &format, (unsigned)atoi(argv[7]), FALSE) &&
                 make_clip(argv[3], &format, (unsigned)atoi(argv[7]), TRUE));
    return measure(argv[1], &format, argv + 2, (unsigned)atoi(argv[7]), argc > 8 ? argv[8] : "adm",
                   argc > 9 ? argv[9] : NULL);
}
