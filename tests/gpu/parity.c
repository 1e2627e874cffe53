/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Holds a metric on a GPU against the CPU (compare.h): every score, and ADM's integer sums, must be
 * the same, to the bit where the metric is made of integers.
 *
 *   parity METRIC sizes [FROM TO STEP [PART PARTS]]   every STEPth of the sizes from FROM to TO,
 *                                                     both ways (larger ones of a metric that
 *                                                     measures no small ones); depth, options and
 *                                                     contents go round
 *   parity METRIC options                             every option set at every depth
 *   parity METRIC size WIDTH HEIGHT                   one size at every depth
 *   parity METRIC clip REFERENCE DISTORTED FRAMES     raw clips, named as in ../shared/clips
 *
 * METRIC is a name, or `all` for one after the other. Ends with 1 at the first difference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { SLOTS = 3 };

static const unsigned depths[] = {8, 10, 12, 16};

static HvHip *hip;
static unsigned long pairs;
static guint64 by_graph; /* of these */

/* In layouts of which each lasts for so many pairs. */
static void hold_stream(const Compared *what, GPtrArray *features, const HvFormat *format, Gpu *gpu,
                        unsigned n, unsigned alike, unsigned kind, uint64_t *state)
{
    GError *error = NULL;
    Stream *stream = stream_new(what, features, format, n);
    stream_make(stream, kind, alike, state);
    stream_measure(stream);
    gpu_must(stream_hold(stream, gpu, &error), &error);
    stream_free(stream);
    pairs += n;
}

/* Different contents in all slots at once, in a stream that is laid out alike for a while, then in
 * streams of all lengths that the metric is held on. */
static void hold_format(const Compared *what, unsigned width, unsigned height, unsigned depth,
                        const char *options, unsigned kind)
{
    GError *error = NULL;
    Gpu gpu;
    GPtrArray *features = compared_features(what, options);
    HvFormat format =
        compared_format(features, width + what->larger, height + what->larger, depth, kind);
    uint64_t state = width * 100003 + height * 17 + kind;
    gpu_must(gpu_fit(features, &format, &error), &error);
    gpu_must(gpu_init(&gpu, hip, &format, features, SLOTS, &error), &error);
    hold_stream(what, features, &format, &gpu, what->alike + 1, what->alike, kind, &state);
    for (const unsigned *n = what->lengths; *n; n++) {
        hold_stream(what, features, &format, &gpu, *n, 1, kind, &state);
        kind += *n;
    }
    by_graph += gpu_by_graph(&gpu);
    gpu_clear(&gpu);
    g_ptr_array_unref(features);
}

static const char *option_set(const Compared *what, unsigned i)
{
    return what->options[i % g_strv_length((char **)what->options)];
}

static void hold_sizes(const Compared *what, unsigned from, unsigned to, unsigned step,
                       unsigned part, unsigned parts)
{
    unsigned n = 0;
    for (unsigned height = from; height <= to; height++)
        for (unsigned width = from; width <= to; width++, n++) {
            if (n % step || n / step % parts != part)
                continue;
            /* mixed, so that what goes round does not go with the width */
            unsigned mix = n * 2654435761u >> 16;
            hold_format(what, width, height, depths[mix % G_N_ELEMENTS(depths)],
                        option_set(what, mix / 4), mix);
        }
}

static void hold_options(const Compared *what)
{
    for (unsigned o = 0; what->options[o]; o++)
        for (unsigned d = 0; d < G_N_ELEMENTS(depths); d++) {
            hold_format(what, 176, 144, depths[d], what->options[o], 2 * o + d);
            hold_format(what, 203, 131, depths[d], what->options[o], o + 3 * d);
        }
}

static void hold_size(const Compared *what, unsigned width, unsigned height)
{
    for (unsigned d = 0; d < G_N_ELEMENTS(depths); d++)
        hold_format(what, width, height, depths[d], option_set(what, d % 2), d);
}

/* From NAME.WIDTHxHEIGHT.FORMAT.yuv */
static HvFormat parse_name(const char *path)
{
    static const struct {
        const char *name;
        HvFormat format;
    } known[] = {{"I420", {0, 0, 8, 3, 1, 1}},       {"I420_10LE", {0, 0, 10, 3, 1, 1}},
                 {"I420_12LE", {0, 0, 12, 3, 1, 1}}, {"Y42B", {0, 0, 8, 3, 1, 0}},
                 {"Y444", {0, 0, 8, 3, 0, 0}},       {"GRAY16_LE", {0, 0, 16, 1, 0, 0}}};
    char *base = g_path_get_basename(path), **part = g_strsplit(base, ".", 4);
    HvFormat format = {0};
    for (unsigned i = 0; g_strv_length(part) == 4 && i < G_N_ELEMENTS(known); i++)
        if (!strcmp(known[i].name, part[2])) {
            format = known[i].format;
            if (sscanf(part[1], "%ux%u", &format.width, &format.height) != 2)
                format.depth = 0;
        }
    g_strfreev(part);
    g_free(base);
    if (!format.depth) {
        fprintf(stderr, "%s: no NAME.WxH.FORMAT.yuv of a known format\n", path);
        exit(2);
    }
    return format;
}

static size_t plane_bytes(const HvFormat *format, unsigned plane)
{
    return (size_t)hv_format_plane_width(format, plane) * hv_format_plane_height(format, plane) *
           hv_format_sample_bytes(format);
}

/* A frame whose planes are packed; returns where the next one begins. */
static char *set_picture(HvPicture *picture, const HvFormat *format, char *data)
{
    unsigned bytes = hv_format_sample_bytes(format);
    for (unsigned p = 0; p < format->n_planes; p++) {
        ptrdiff_t stride = (ptrdiff_t)hv_format_plane_width(format, p) * bytes;
        picture->plane[p] = (HvPlane){data, stride, bytes, 0};
        data += plane_bytes(format, p);
    }
    return data;
}

static void hold_frames(const Compared *what, const HvFormat *format, char **data, unsigned frames)
{
    GError *error = NULL;
    Gpu gpu;
    GPtrArray *features = compared_features(what, "");
    gpu_must(gpu_fit(features, format, &error), &error);
    Stream *stream = stream_new(what, features, format, frames);
    stream->told = "frame";
    for (int p = 0; p < CLIP_PICTURES; p++)
        for (unsigned i = 0; i < frames; i++)
            data[p] = set_picture(&stream->pair[i][p], format, data[p]);
    stream_measure(stream);
    gpu_must(gpu_init(&gpu, hip, format, features, 1, &error), &error);
    gpu_must(stream_hold(stream, &gpu, &error), &error);
    by_graph += gpu_by_graph(&gpu);
    gpu_clear(&gpu);
    stream_free(stream);
    g_ptr_array_unref(features);
    pairs += frames;
}

static void hold_clip(const Compared *what, const char *const *path, unsigned frames)
{
    HvFormat format = parse_name(path[0]);
    size_t frame_bytes = 0, size[CLIP_PICTURES];
    char *data[CLIP_PICTURES];
    for (unsigned p = 0; p < format.n_planes; p++)
        frame_bytes += plane_bytes(&format, p);
    for (int p = 0; p < CLIP_PICTURES; p++)
        if (!g_file_get_contents(path[p], &data[p], &size[p], NULL)) {
            fprintf(stderr, "%s cannot be read\n", path[p]);
            exit(2);
        }
    char *at[] = {data[0], data[1]};
    hold_frames(what, &format, at, MIN(frames, MIN(size[0], size[1]) / frame_bytes));
    g_free(data[0]);
    g_free(data[1]);
}

static unsigned number(char **argv, int argc, int i, unsigned fallback)
{
    return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : fallback;
}

/* FALSE where the arguments say nothing that there is. */
static gboolean hold(const Compared *what, int argc, char **argv)
{
    const char *how = argv[2];
    if (!strcmp(how, "sizes"))
        hold_sizes(what, number(argv, argc, 3, 16), number(argv, argc, 4, 80),
                   MAX(number(argv, argc, 5, 1), 1), number(argv, argc, 6, 0),
                   MAX(number(argv, argc, 7, 1), 1));
    else if (!strcmp(how, "options"))
        hold_options(what);
    else if (!strcmp(how, "size") && argc == 5)
        hold_size(what, number(argv, argc, 3, 0), number(argv, argc, 4, 0));
    else if (!strcmp(how, "clip") && argc == 6)
        hold_clip(what, (const char *const *)argv + 3, number(argv, argc, 5, 0));
    else
        return FALSE;
    return pairs > 0;
}

static void report(const Compared *what)
{
    char *how = what->tolerance > 0 ? g_strdup_printf("within %g of each other", what->tolerance)
                                    : g_strdup("the same to the bit");
    printf("%s on %s (%s): %lu pairs, %" G_GUINT64_FORMAT " of them by a graph, CPU and GPU %s\n",
           what->metric, hv_hip_device_name(hip), hv_hip_target(hip), pairs, by_graph, how);
    g_free(how);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    gboolean held = FALSE;
    setvbuf(stdout, NULL, _IOLBF, 0); /* whoever waits for an emulator sees how far it is */
    hip = hv_hip_open(-1, &error);
    gpu_must(hip != NULL, &error);
    for (const Compared *what = compared; what->metric && argc > 2; what++)
        if (!strcmp(argv[1], what->metric) || !strcmp(argv[1], "all")) {
            pairs = 0;
            by_graph = 0;
            held = hold(what, argc, argv);
            if (!held)
                break;
            report(what);
        }
    hv_hip_unref(hip);
    if (!held)
        fprintf(stderr, "usage: see the top of parity.c\n");
    return held ? 0 : 2;
}
