/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU against a GPU, for every metric that has kernels. */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/adm_measure.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/slices.h"

static const char *const adm_options[] = {
    "",
    "adm_enhn_gain_limit=1",
    "adm_enhn_gain_limit=1.2",
    "adm_csf_mode=1",
    "adm_csf_mode=1:adm_csf_scale=50:adm_csf_diag_scale=50",
    "adm_csf_mode=1:adm_csf_scale=0.0208:adm_csf_diag_scale=0.006:adm_enhn_gain_limit=1",
    "adm_csf_mode=2",
    "adm_csf_mode=3:adm_norm_view_dist=5:adm_ref_display_height=2160:adm_enhn_gain_limit=2.5",
    "adm_skip_aim=true",
    "adm_skip_scale0=true",
    "adm_skip_scale0=true:adm_skip_aim=true:adm_enhn_gain_limit=7",
    "adm_norm_view_dist=24:adm_ref_display_height=4320",
    NULL,
};

static const char *const vif_options[] = {
    "",
    "vif_enhn_gain_limit=1",
    "vif_enhn_gain_limit=1.7:debug=false",
    "vif_skip_scale0=true",
    "vif_skip_scale0=true:vif_enhn_gain_limit=1.2",
    NULL,
};

static const char *const psnr_options[] = {
    "enable_mse=true:enable_apsnr=true",
    "enable_chroma=false:enable_mse=true",
    "reduced_hbd_peak=true:min_sse=0.5",
    NULL,
};

static const char *const no_options[] = {"", NULL};

static const char *const ssim_options[] = {"enable_lcs=true", "", NULL};
static const char *const smaller_ssim_options[] = {"enable_lcs=true:scale=2", "scale=3",
                                                   "enable_lcs=true:scale=7", NULL};

static const char *const motion_options[] = {
    "",
    "motion_five_frame_window=true",
    "motion_five_frame_window=true:motion_moving_average=true:motion_fps_weight=1.5",
    "motion_blend_factor=0.5:motion_blend_offset=12:motion_max_val=18",
    "motion_force_zero=true",
    NULL,
};

/* More pairs than slots; streams of every length up to that. */
static const unsigned six[] = {6, 0}, four[] = {4, 0}, each[] = {1, 2, 3, 5, 0};

/* With three slots: each measures a pair, makes a graph of the second one, the first uses it again,
 * and is then given another layout. Motion has up to twelve graphs. */
enum { ALIKE = 7, ALIKE_MOTION = 28 };

const Compared compared[] = {
    {.metric = "adm",
     .options = adm_options,
     .lengths = six,
     .alike = ALIKE,
     .n_sums = ADM_SUMS,
     .sums = adm_sums},
    {.metric = "vif", .options = vif_options, .lengths = four, .alike = ALIKE},
    {.metric = "motion", .options = motion_options, .lengths = each, .alike = ALIKE_MOTION},
    {.metric = "psnr", .options = psnr_options, .lengths = four, .alike = ALIKE},
    {.metric = "float_psnr", .options = no_options, .lengths = four, .alike = ALIKE},
    {.metric = "float_moment", .options = no_options, .lengths = four, .alike = ALIKE},
    {.metric = "float_ssim", .options = ssim_options, .lengths = four, .alike = ALIKE},
    {.metric = "float_ssim",
     .options = smaller_ssim_options,
     .lengths = four,
     .alike = ALIKE,
     .larger = 61},
    {.metric = "float_ms_ssim",
     .options = ssim_options,
     .lengths = four,
     .alike = ALIKE,
     .larger = 160},
    {.metric = NULL},
};

static const HvMetricInfo *find_info(const char *metric)
{
    const HvMetricInfo *const *info = hv_metrics;
    while (strcmp((*info)->name, metric))
        info++;
    return *info;
}

/* What shows most, where the options say nothing about it. */
static const char *debug_of(const HvMetricInfo *info, const char *options)
{
    for (const HvOption *option = info->options; option->name; option++)
        if (!strcmp(option->name, "debug") && !strstr(options, "debug"))
            return ":debug=true";
    return "";
}

GPtrArray *compared_features(const Compared *what, const char *options)
{
    const char *debug = debug_of(find_info(what->metric), options);
    char *text = g_strconcat(what->metric, "=", options, debug, NULL);
    GError *error = NULL;
    GPtrArray *features = hv_features_parse(text, &error);
    gpu_must(features != NULL, &error);
    g_free(text);
    return features;
}

HvFormat compared_format(GPtrArray *features, unsigned width, unsigned height, unsigned depth,
                         unsigned mix)
{
    static const HvFormat chroma[] = {{0, 0, 0, 3, 1, 1}, {0, 0, 0, 3, 1, 0}, {0, 0, 0, 3, 0, 0}};
    HvFormat format = {.n_planes = 1};
    if (gpu_needs_chroma(features))
        format = chroma[mix % G_N_ELEMENTS(chroma)];
    format.width = width;
    format.height = height;
    format.depth = depth;
    return format;
}

static void said_init(Said *said, const Stream *stream)
{
    said->value = g_new0(double, stream->n * stream->n_scores);
    said->scores = g_new0(HvScores, stream->n);
    said->sums = g_new0(int64_t, stream->n * stream->what->n_sums);
    for (unsigned i = 0; i < stream->n; i++)
        said->scores[i].value = said->value + i * stream->n_scores;
}

/* What no arithmetic makes; a score can be another NaN. */
static const uint64_t unsaid = 0x7ff85a1dbadc0de5;

static void said_forget(Said *said, const Stream *stream)
{
    for (unsigned i = 0; i < stream->n * stream->n_scores; i++)
        memcpy(&said->value[i], &unsaid, sizeof unsaid);
}

static void said_clear(Said *said)
{
    g_free(said->value);
    g_free(said->scores);
    g_free(said->sums);
}

/* After the pair was collected. */
static void said_sums(Said *said, const Compared *what, unsigned pair)
{
    if (what->n_sums)
        memcpy(said->sums + pair * what->n_sums, what->sums(), what->n_sums * sizeof *said->sums);
}

/* Those of aggregates too. */
static unsigned count_scores(const HvFeature *feature)
{
    const HvMetricInfo *info = feature->info;
    unsigned n = g_strv_length((char **)info->score_names(feature->params));
    if (info->aggregate)
        n += info->aggregate->n_sums *
             g_strv_length((char **)info->aggregate->names(feature->params));
    return n;
}

Stream *stream_new(const Compared *what, GPtrArray *features, const HvFormat *format, unsigned n)
{
    Stream *stream = g_new0(Stream, 1);
    stream->what = what;
    stream->feature = g_ptr_array_index(features, 0);
    stream->format = *format;
    stream->n = n;
    stream->n_scores = count_scores(stream->feature);
    stream->pair = g_malloc0_n(n, sizeof *stream->pair);
    stream->memory = g_new0(gpointer, n * CLIP_PICTURES * HV_MAX_PLANES);
    said_init(&stream->cpu, stream);
    said_init(&stream->gpu, stream);
    return stream;
}

void stream_free(Stream *stream)
{
    for (unsigned i = 0; i < stream->n * CLIP_PICTURES * HV_MAX_PLANES; i++)
        g_free(stream->memory[i]);
    g_free(stream->memory);
    g_free(stream->pair);
    said_clear(&stream->cpu);
    said_clear(&stream->gpu);
    g_free(stream);
}

/* Half of them with a stride that the device keeps. */
static Layout random_layout(const HvFormat *format, unsigned width, uint64_t *state)
{
    unsigned depth = format->depth, bytes = hv_format_sample_bytes(format);
    Layout layout;
    if (clip_random(state) % 2)
        layout.padding = -(width * bytes) % 16 + clip_random(state) % 4 * 16;
    else
        layout.padding = clip_random(state) % 4 * 8 * bytes + clip_random(state) % 3 * bytes;
    layout.offset = clip_random(state) % 5 * bytes;
    layout.shift = bytes == 2 && clip_random(state) % 2 ? 16 - depth : 0;
    layout.garbage = TRUE;
    return layout;
}

static void make_plane(Stream *stream, unsigned pair, unsigned plane, ClipKind kind,
                       Layout layout[CLIP_PICTURES], gboolean anew, uint64_t *state)
{
    const HvFormat *format = &stream->format;
    unsigned width = hv_format_plane_width(format, plane);
    gpointer *memory = stream->memory + (pair * HV_MAX_PLANES + plane) * CLIP_PICTURES;
    Clip clip = clip_new(kind, width, hv_format_plane_height(format, plane), format->depth,
                         clip_random(state));
    for (int p = 0; p < CLIP_PICTURES; p++) {
        if (anew)
            layout[p] = random_layout(format, width, state);
        stream->pair[pair][p].plane[plane] =
            clip_lay_out(&clip, p, &layout[p], &memory[p]).plane[0];
    }
    clip_free(&clip);
}

void stream_make(Stream *stream, unsigned kind, unsigned alike, uint64_t *state)
{
    Layout layout[HV_MAX_PLANES][CLIP_PICTURES];
    for (unsigned i = 0; i < stream->n; i++)
        for (unsigned plane = 0; plane < stream->format.n_planes; plane++)
            make_plane(stream, i, plane, (kind + i) % CLIP_KINDS, layout[plane], i % alike == 0,
                       state);
}

void stream_measure(Stream *stream)
{
    const HvMetricOps *ops = stream->feature->info->cpu;
    GError *error = NULL;
    g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(HV_LEVEL_BASELINE), TRUE);
    HvSlices *slices = hv_slices_new(1, &error);
    gpu_must(slices != NULL, &error);
    HvMetricSetup setup = {&stream->format, stream->feature->params, slices, NULL};
    HvMetric *metric = ops->create(&setup, &error);
    gpu_must(metric != NULL, &error);
    said_forget(&stream->cpu, stream);
    for (unsigned i = 0; i < stream->n; i++) {
        HvSubject subject = {&stream->pair[i][0], &stream->pair[i][1], 0};
        gpu_must(!ops->submit || ops->submit(metric, &subject, &error), &error);
        gpu_must(ops->collect(metric, &subject, &stream->cpu.scores[i], &error), &error);
        said_sums(&stream->cpu, stream->what, i);
    }
    if (ops->flush)
        ops->flush(metric, HV_FLUSH_END);
    ops->destroy(metric);
    hv_slices_free(slices);
}

static gboolean agree(double cpu, double gpu, double tolerance)
{
    return tolerance > 0 ? fabs(cpu - gpu) <= tolerance : !memcmp(&cpu, &gpu, sizeof cpu);
}

static char *score_name(const Stream *stream, unsigned score)
{
    const HvFeature *feature = stream->feature;
    const char *const *names = feature->info->score_names(feature->params);
    unsigned n = g_strv_length((char **)names);
    return score < n ? hv_options_score_name(feature->info->options, feature->params, names[score])
                     : g_strdup_printf("term %u of the aggregates", score - n);
}

static void fail(const Stream *stream, unsigned pair, const char *name, const char *cpu,
                 const char *gpu)
{
    printf("%s, %ux%u, %u bits, pair %u of %u: %s is %s on the CPU, %s on the GPU\n",
           stream->what->metric, stream->format.width, stream->format.height, stream->format.depth,
           pair, stream->n, name, cpu, gpu);
    fflush(stdout);
    _Exit(1);
}

static void compare_score(const Stream *stream, unsigned pair, unsigned score)
{
    double cpu = stream->cpu.scores[pair].value[score], gpu = stream->gpu.scores[pair].value[score];
    if (!agree(cpu, gpu, stream->what->tolerance))
        fail(stream, pair, score_name(stream, score), g_strdup_printf("%.17g", cpu),
             g_strdup_printf("%.17g", gpu));
}

static void compare_sum(const Stream *stream, unsigned pair, unsigned sum)
{
    unsigned at = pair * stream->what->n_sums + sum;
    int64_t cpu = stream->cpu.sums[at], gpu = stream->gpu.sums[at];
    if (cpu != gpu)
        fail(stream, pair, g_strdup_printf("sum %u", sum), g_strdup_printf("%" PRId64, cpu),
             g_strdup_printf("%" PRId64, gpu));
}

static void compare_pair(const Stream *stream, unsigned pair)
{
    for (unsigned i = 0; i < stream->what->n_sums; i++)
        compare_sum(stream, pair, i);
    for (unsigned i = 0; i < stream->n_scores; i++)
        compare_score(stream, pair, i);
    if (stream->told) {
        char *name = score_name(stream, 0);
        printf("%s %u: %s %.17g on both\n", stream->told, pair, name,
               stream->gpu.scores[pair].value[0]);
        g_free(name);
    }
}

/* Whether the GPU's scores of that pair are there. */
static gboolean is_told(const Stream *stream, unsigned pair)
{
    for (unsigned i = 0; i < stream->n_scores; i++)
        if (!memcmp(&stream->gpu.scores[pair].value[i], &unsaid, sizeof unsaid))
            return FALSE;
    return TRUE;
}

static void compare_told(Stream *stream)
{
    for (; stream->n_held < stream->n && is_told(stream, stream->n_held); stream->n_held++)
        compare_pair(stream, stream->n_held);
}

static gboolean collect(Stream *stream, Gpu *gpu, unsigned pair, GError **error)
{
    if (!gpu_collect(gpu, stream->pair[pair], &stream->gpu.scores[pair], error))
        return FALSE;
    said_sums(&stream->gpu, stream->what, pair);
    compare_told(stream);
    return TRUE;
}

gboolean stream_hold(Stream *stream, Gpu *gpu, GError **error)
{
    unsigned slots = gpu->backend->slots;
    said_forget(&stream->gpu, stream);
    stream->n_held = 0;
    for (unsigned i = 0; i < stream->n + slots; i++) {
        if (i >= slots && !collect(stream, gpu, i - slots, error))
            return FALSE;
        if (i < stream->n && !gpu_submit(gpu, stream->pair[i], error))
            return FALSE;
    }
    gpu_flush(gpu);
    compare_told(stream);
    if (stream->n_held < stream->n)
        fail(stream, stream->n_held, "the first score", "there", "missing");
    return TRUE;
}
