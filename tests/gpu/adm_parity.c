/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Holds ADM on a GPU against the CPU: every integer sum and every score must be the same to the
 * bit.
 *
 *   adm_parity sizes [FROM TO STEP [PART PARTS]]   every STEPth of the sizes from FROM to TO, both
 *                                                  ways; depth, options and contents go round
 *   adm_parity options                             every option set at every depth
 *   adm_parity size WIDTH HEIGHT                   one size at every depth
 *   adm_parity clip REFERENCE DISTORTED FRAMES     raw clips, named as in ../shared/clips
 *
 * Ends with 1 at the first difference. */
#include "adm_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 3

static const char *const option_sets[] = {
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
};
static const unsigned depths[] = {8, 10, 12, 16};

static HvHip *hip;
static unsigned long pairs;

static void fill_layout(Layout *layout, unsigned depth, uint64_t *state)
{
    unsigned bytes = depth > 8 ? 2 : 1;
    layout->padding = clip_random(state) % 4 * 8 * bytes + clip_random(state) % 3 * bytes;
    layout->offset = clip_random(state) % 5 * bytes;
    layout->shift = bytes == 2 && clip_random(state) % 2 ? 16 - depth : 0;
    layout->garbage = TRUE;
}

/* One more pair of a kind, in a random layout. */
typedef struct Pair {
    Clip clip;
    gpointer memory[CLIP_PICTURES];
    HvPicture picture[CLIP_PICTURES];
} Pair;

static Pair pair_new(ClipKind kind, const HvFormat *format, uint64_t *state)
{
    Pair pair;
    pair.clip = clip_new(kind, format->width, format->height, format->depth, clip_random(state));
    for (int p = 0; p < CLIP_PICTURES; p++) {
        Layout layout;
        fill_layout(&layout, format->depth, state);
        pair.picture[p] = clip_lay_out(&pair.clip, p, &layout, &pair.memory[p]);
    }
    return pair;
}

static void pair_free(Pair *pair)
{
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(pair->memory[p]);
    clip_free(&pair->clip);
}

/* Different contents in all slots at once, twice. */
static void hold_format(const HvFormat *format, const char *options, unsigned first_kind)
{
    HvAdmParams params = adm_params(options);
    AdmGpu gpu = adm_gpu_new(hip, format, &params, SLOTS);
    uint64_t state = format->width * 100003 + format->height * 17 + first_kind;
    for (unsigned round = 0; round < 2; round++) {
        Pair pair[SLOTS];
        unsigned kind[SLOTS];
        for (unsigned i = 0; i < SLOTS; i++) {
            kind[i] = (first_kind + round * SLOTS + i) % CLIP_KINDS;
            pair[i] = pair_new(kind[i], format, &state);
            adm_gpu_submit(&gpu, i, &pair[i].picture[0], &pair[i].picture[1]);
        }
        for (unsigned i = 0; i < SLOTS; i++, pairs++) {
            AdmHow how = {HV_LEVEL_BASELINE, 1, FALSE, 0};
            AdmResult result = {0};
            AdmResult cpu =
                adm_measure(&params, format, &pair[i].picture[0], &pair[i].picture[1], how);
            adm_gpu_collect(&gpu, i, &result);
            adm_assert_same(&cpu, &result, "CPU and GPU: %ux%u, %u bits, contents %u, \"%s\"",
                            format->width, format->height, format->depth, kind[i], options);
            pair_free(&pair[i]);
        }
    }
    adm_gpu_free(&gpu);
}

static HvFormat luma(unsigned width, unsigned height, unsigned depth)
{
    HvFormat format = {width, height, depth, 1, 0, 0};
    return format;
}

static void hold_sizes(unsigned from, unsigned to, unsigned step, unsigned part, unsigned parts)
{
    unsigned n = 0;
    for (unsigned height = from; height <= to; height++)
        for (unsigned width = from; width <= to; width++, n++) {
            if (n % step || n / step % parts != part)
                continue;
            /* mixed, so that what goes round does not go with the width */
            unsigned mix = n * 2654435761u >> 16;
            HvFormat format = luma(width, height, depths[mix % G_N_ELEMENTS(depths)]);
            hold_format(&format, option_sets[mix / 4 % G_N_ELEMENTS(option_sets)], mix);
        }
}

static void hold_options(void)
{
    for (unsigned o = 0; o < G_N_ELEMENTS(option_sets); o++)
        for (unsigned d = 0; d < G_N_ELEMENTS(depths); d++) {
            HvFormat even = luma(176, 144, depths[d]), odd = luma(203, 131, depths[d]);
            hold_format(&even, option_sets[o], 2 * o + d);
            hold_format(&odd, option_sets[o], o + 3 * d);
        }
}

static void hold_size(unsigned width, unsigned height)
{
    for (unsigned d = 0; d < G_N_ELEMENTS(depths); d++) {
        HvFormat format = luma(width, height, depths[d]);
        hold_format(&format, option_sets[d % 2], d);
    }
}

/* NAME.WIDTHxHEIGHT.FORMAT.yuv */
static HvFormat parse_name(const char *path, size_t *frame_bytes)
{
    static const struct {
        const char *name;
        unsigned depth, halves; /* of a luma plane, in a frame */
    } known[] = {{"I420", 8, 3}, {"I420_10LE", 10, 3}, {"I420_12LE", 12, 3},
                 {"Y42B", 8, 4}, {"Y444", 8, 6},       {"GRAY16_LE", 16, 2}};
    char *base = g_path_get_basename(path), **part = g_strsplit(base, ".", 4);
    HvFormat format = {0};
    if (g_strv_length(part) == 4 && sscanf(part[1], "%ux%u", &format.width, &format.height) == 2)
        for (unsigned i = 0; i < G_N_ELEMENTS(known); i++)
            if (!strcmp(known[i].name, part[2])) {
                size_t chroma_w = (format.width + 1) / 2, chroma_h = (format.height + 1) / 2;
                size_t w = format.width, h = format.height;
                size_t samples = w * h + (known[i].halves == 3   ? 2 * chroma_w * chroma_h
                                          : known[i].halves == 4 ? 2 * chroma_w * h
                                          : known[i].halves == 6 ? 2 * w * h
                                                                 : 0);
                format = luma(format.width, format.height, known[i].depth);
                *frame_bytes = samples * hv_format_sample_bytes(&format);
            }
    g_strfreev(part);
    g_free(base);
    if (!format.depth) {
        fprintf(stderr, "%s: no NAME.WxH.FORMAT.yuv of a known format\n", path);
        exit(2);
    }
    return format;
}

static HvPicture picture_at(const HvFormat *format, char *data)
{
    unsigned bytes = hv_format_sample_bytes(format);
    HvPicture picture = {{{data, (ptrdiff_t)format->width * bytes, bytes, 0}}};
    return picture;
}

static void hold_clip(const char *const *path, unsigned frames)
{
    size_t frame_bytes = 0, size[2];
    HvFormat format = parse_name(path[0], &frame_bytes);
    HvAdmParams params = adm_params("");
    char *data[2];
    for (int p = 0; p < 2; p++)
        if (!g_file_get_contents(path[p], &data[p], &size[p], NULL)) {
            fprintf(stderr, "%s cannot be read\n", path[p]);
            exit(2);
        }
    AdmGpu gpu = adm_gpu_new(hip, &format, &params, 1);
    for (unsigned i = 0; i < frames && (i + 1) * frame_bytes <= MIN(size[0], size[1]); i++) {
        HvPicture picture[2] = {picture_at(&format, data[0] + i * frame_bytes),
                                picture_at(&format, data[1] + i * frame_bytes)};
        AdmHow how = {HV_LEVEL_BASELINE, 1, FALSE, 0};
        AdmResult cpu = adm_measure(&params, &format, &picture[0], &picture[1], how), result = {0};
        adm_gpu_submit(&gpu, 0, &picture[0], &picture[1]);
        adm_gpu_collect(&gpu, 0, &result);
        adm_assert_same(&cpu, &result, "CPU and GPU: %s, frame %u", path[0], i);
        printf("frame %u: adm2 %.17g on both\n", i, result.score[0]);
        pairs++;
    }
    adm_gpu_free(&gpu);
    g_free(data[0]);
    g_free(data[1]);
}

static unsigned number(char **argv, int argc, int i, unsigned fallback)
{
    return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "sizes";
    hip = adm_gpu_open();
    if (!strcmp(what, "sizes")) {
        hold_sizes(number(argv, argc, 2, 16), number(argv, argc, 3, 80), number(argv, argc, 4, 1),
                   number(argv, argc, 5, 0), number(argv, argc, 6, 1));
    } else if (!strcmp(what, "options")) {
        hold_options();
    } else if (!strcmp(what, "size") && argc == 4) {
        hold_size(number(argv, argc, 2, 0), number(argv, argc, 3, 0));
    } else if (!strcmp(what, "clip") && argc == 5) {
        hold_clip((const char *const *)argv + 2, number(argv, argc, 4, 0));
    } else {
        fprintf(stderr, "usage: see the top of adm_parity.c\n");
        return 2;
    }
    printf("%s (%s): %lu pairs, CPU and GPU the same to the bit\n", hv_hip_device_name(hip),
           hv_hip_target(hip), pairs);
    hv_hip_unref(hip);
    adm_measure_end();
    return pairs ? 0 : 2;
}
