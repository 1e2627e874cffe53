/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Holds streams' motion on a GPU against the CPU's, each through a meter: scores that look at later
 * frames and the copies of earlier ones that a GPU keeps must be right from the first frame of a
 * stream to the last, and after every way in which one can end.
 *
 *   motion_streams [FROM TO STEP [PART PARTS]]   every STEPth of the sizes from FROM to TO, both
 *                                                ways (16 80 1); what else there is goes round
 *
 * Ends with 1 at the first difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/clips.h"
#include "kernels/common/meter.h"
#include "kernels/hip/backend.h"

enum { N_VALUES = 3, MOST_FRAMES = 64 };

static const char *const option_sets[] = {
    "motion=debug=true",
    "motion=debug=true:mffw=true",
    "motion=debug=true:mffw=true:mma=true:mfw=1.5",
    "motion=debug=true:mbf=0.5:mbo=12:mmxv=18",
    "motion=debug=true:mma=true",
    "motion=debug=true:force_0=true",
};
static const unsigned depths[] = {8, 10, 12, 16};

static HvHip *hip;
static unsigned long frames_held;

/* One meter, and what came of it. */
typedef struct Run {
    HvMeter *meter;
    unsigned n_scored, n_failed;
    unsigned frame[MOST_FRAMES];
    double value[MOST_FRAMES][N_VALUES];
} Run;

typedef struct Owner {
    gpointer memory[CLIP_PICTURES];
    unsigned frame;
} Owner;

static void on_scored(gpointer user, gpointer owner, const double *scores)
{
    Run *run = user;
    g_assert_cmpuint(run->n_scored, <, MOST_FRAMES);
    run->frame[run->n_scored] = ((Owner *)owner)->frame;
    memcpy(run->value[run->n_scored++], scores, sizeof run->value[0]);
}

static void on_pictures_done(gpointer data)
{
    Owner *owner = data;
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_clear_pointer(&owner->memory[p], g_free);
}

static void on_failed(gpointer user, const GError *error)
{
    g_printerr("%s\n", error->message);
    ((Run *)user)->n_failed++;
}

static void on_lost(gpointer user, const GError *error)
{
    g_printerr("%s\n", error->message);
    exit(1);
}

static void run_open(Run *run, const HvFormat *format, const char *features, unsigned slots,
                     gboolean on_gpu)
{
    static const HvMeterCallbacks callbacks = {on_scored, on_pictures_done, g_free, on_failed,
                                               NULL,      on_lost,          on_lost};
    HvMeterConfig config = {.format = *format,
                            .features = hv_features_parse(features, NULL),
                            .threads = 1,
                            .depth = slots};
    GError *error = NULL;
    *run = (Run){0};
    if (on_gpu) {
        ((HvFeature *)g_ptr_array_index(config.features, 0))->on_gpu = TRUE;
        config.backend = hv_hip_backend_new(hip, format, slots, FALSE, &error);
        g_assert_no_error(error);
    }
    run->meter = hv_meter_new(&config, &callbacks, run, &error);
    g_assert_no_error(error);
    g_ptr_array_unref(config.features);
}

/* The frame in a random layout. Only the GPU's has the true distorted picture beside it, which
 * must not count. */
static void run_push(Run *run, const Clip *clip, unsigned frame, gboolean unscored, gboolean on_gpu,
                     uint64_t *state)
{
    Owner *owner = g_new0(Owner, 1);
    HvPair pair = {.owner = owner, .unscored = unscored};
    HvPicture *picture[] = {&pair.reference, &pair.distorted};
    unsigned bytes = hv_format_sample_bytes(&clip->format);
    owner->frame = frame;
    for (int p = 0; p < CLIP_PICTURES; p++) {
        Layout layout = {.padding = clip_random(state) % 4 * 8 * bytes,
                         .offset = clip_random(state) % 5 * bytes,
                         .shift =
                             bytes == 2 && clip_random(state) % 2 ? 16 - clip->format.depth : 0,
                         .garbage = TRUE};
        *picture[p] = clip_lay_out(clip, on_gpu ? p : CLIP_REFERENCE, &layout, &owner->memory[p]);
    }
    g_assert_true(hv_meter_submit(run->meter, &pair));
}

typedef enum Ending { END, DROP, DROP_AT_ONCE, ENDINGS } Ending;

static void run_end(Run *run, Ending ending)
{
    if (ending != DROP_AT_ONCE)
        g_assert_true(hv_meter_drain(run->meter, ending == END, -1));
    if (ending != END)
        hv_meter_drop(run->meter);
    g_assert_true(hv_meter_drain(run->meter, FALSE, -1));
}

/* Of what was dropped without a wait, nobody knows how much was scored before: then the scores that
 * both have must agree. */
static void hold(const Run *cpu, const Run *gpu, Ending ending, const HvFormat *format,
                 const char *options)
{
    unsigned n = MIN(cpu->n_scored, gpu->n_scored);
    g_assert_cmpuint(cpu->n_failed + gpu->n_failed, ==, 0);
    if (ending != DROP_AT_ONCE)
        g_assert_cmpuint(cpu->n_scored, ==, gpu->n_scored);
    for (unsigned i = 0; i < n; i++) {
        g_assert_cmpuint(cpu->frame[i], ==, gpu->frame[i]);
        if (!memcmp(cpu->value[i], gpu->value[i], sizeof cpu->value[i]))
            continue;
        g_printerr("%ux%u, %u bits, \"%s\": frame %u has motion %.17g, %.17g, %.17g on the GPU, "
                   "not %.17g, %.17g, %.17g\n",
                   format->width, format->height, format->depth, options, cpu->frame[i],
                   gpu->value[i][0], gpu->value[i][1], gpu->value[i][2], cpu->value[i][0],
                   cpu->value[i][1], cpu->value[i][2]);
        exit(1);
    }
    frames_held += n;
}

/* One stream in both meters; every `each`th frame is to be scored. */
static void hold_stream(Run *cpu, Run *gpu, const HvFormat *format, const char *options,
                        unsigned frames, unsigned each, Ending ending, uint64_t *state)
{
    cpu->n_scored = gpu->n_scored = 0;
    for (unsigned n = 0; n < frames; n++) {
        ClipKind kind = (ClipKind)(clip_random(state) % CLIP_KINDS);
        Clip clip =
            clip_new(kind, format->width, format->height, format->depth, clip_random(state));
        run_push(cpu, &clip, n, n % each != 0, FALSE, state);
        run_push(gpu, &clip, n, n % each != 0, TRUE, state);
        clip_free(&clip);
    }
    run_end(cpu, ending);
    run_end(gpu, ending);
    hold(cpu, gpu, ending, format, options);
}

/* Streams of several lengths, one after the other, with more slots than frames and with fewer. */
static void hold_format(const HvFormat *format, const char *options, unsigned slots, unsigned first)
{
    static const unsigned lengths[] = {1, 3, 2, 5, 4};
    uint64_t state = format->width * 100003 + format->height * 17 + first;
    Run cpu, gpu;
    run_open(&cpu, format, options, slots, FALSE);
    run_open(&gpu, format, options, slots, TRUE);
    for (unsigned i = 0; i < 3; i++, first++)
        hold_stream(&cpu, &gpu, format, options, lengths[first % G_N_ELEMENTS(lengths)],
                    first % 4 == 3 ? 3 : 1, (Ending)(first % ENDINGS), &state);
    hv_meter_free(cpu.meter, -1);
    hv_meter_free(gpu.meter, -1);
}

static HvFormat luma(unsigned width, unsigned height, unsigned depth)
{
    return (HvFormat){width, height, depth, 1, 0, 0};
}

static void hold_sizes(unsigned from, unsigned to, unsigned step, unsigned part, unsigned parts)
{
    unsigned n = 0;
    for (unsigned height = from; height <= to; height++)
        for (unsigned width = from; width <= to; width++, n++) {
            if (n % step || n / step % parts != part)
                continue;
            /* mixed, so that what goes round does not go with the width */
            unsigned mix = n * 2654435761u >> 12;
            HvFormat format = luma(width, height, depths[mix % G_N_ELEMENTS(depths)]);
            hold_format(&format, option_sets[mix / 4 % G_N_ELEMENTS(option_sets)], 1 + mix / 24 % 5,
                        mix);
        }
}

/* A minute's worth of frames, at sizes of several tiles, with every number of slots. */
static void hold_long(void)
{
    for (unsigned slots = 1; slots <= 5; slots++)
        for (unsigned window = 0; window < 2; window++) {
            HvFormat format = luma(131, 67, depths[(slots + window) % G_N_ELEMENTS(depths)]);
            uint64_t state = 10 * slots + window;
            Run cpu, gpu;
            run_open(&cpu, &format, option_sets[window], slots, FALSE);
            run_open(&gpu, &format, option_sets[window], slots, TRUE);
            hold_stream(&cpu, &gpu, &format, option_sets[window], 60, 1, END, &state);
            g_assert_cmpuint(gpu.n_scored, ==, 60);
            hv_meter_free(cpu.meter, -1);
            hv_meter_free(gpu.meter, -1);
        }
}

static unsigned number(char **argv, int argc, int i, unsigned fallback)
{
    return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    hip = hv_hip_open(-1, &error);
    if (!hip) {
        g_printerr("%s\n", error->message);
        return 2;
    }
    hold_long();
    hold_sizes(number(argv, argc, 1, 16), number(argv, argc, 2, 80), number(argv, argc, 3, 1),
               number(argv, argc, 4, 0), number(argv, argc, 5, 1));
    printf("%s (%s): %lu frames, CPU and GPU the same to the bit\n", hv_hip_device_name(hip),
           hv_hip_target(hip), frames_held);
    hv_hip_unref(hip);
    return frames_held ? 0 : 2;
}
