/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Picture pairs made from formulas: integers only, so that they are the same everywhere. */
#include "clips.h"

#include <string.h>

uint64_t clip_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int limit(int value, int max)
{
    return CLAMP(value, 0, max);
}

/* A wave of triangles, from -256 to 256 over a period. */
static int triangle(int position, int period)
{
    int phase = position % period * 1024 / period;
    return phase < 512 ? phase - 256 : 768 - phase;
}

/* One sample of both pictures. */
static void make_sample(ClipKind kind, int x, int y, int width, int max, uint64_t *state, int *s)
{
    uint64_t random = clip_random(state);
    int a = random % (max + 1), b = (random >> 32) % (max + 1), half = (max + 1) / 2;
    int texture = triangle(3 * x + y, 23) + triangle(x + 5 * y, 31) + (int)(random % 32) - 16;
    uint64_t block = (uint64_t)(x / 6) * 7919 + (uint64_t)(y / 5) * 104729;
    int tile = clip_random(&block) % (max + 1);
    int pairs[CLIP_KINDS][CLIP_PICTURES] = {
        [CLIP_NOISE] = {a, b},
        [CLIP_NEAR] = {a, limit(a + (int)(random >> 40) % 3 - 1, max)},
        [CLIP_ENHANCED] = {half + texture * (max / 8) / 512, half + texture * (max / 5) / 512},
        [CLIP_BLURRED] = {tile, limit((3 * tile + half) / 4 + (b - half) / 16, max)},
        [CLIP_GRADIENT] = {(int)((int64_t)max * (x + y / 2) / (2 * width)) & max,
                           (int)((int64_t)max * ((x + y / 2) / 4 * 4) / (2 * width)) & max},
        [CLIP_EQUAL] = {a, a},
        [CLIP_FLAT] = {0, max},
        [CLIP_CHECKER] = {(x + y) & 1 ? max : 0, (x + y) & 1 ? 0 : max},
        [CLIP_STRIPES] = {x & 2 ? max : 0, y & 2 ? max : 0},
        [CLIP_EXTREME] = {random & 1 ? max : 0, random & 2 ? max : 0},
    };
    for (int p = 0; p < CLIP_PICTURES; p++)
        s[p] = limit(pairs[kind][p], max);
}

Clip clip_new(ClipKind kind, unsigned width, unsigned height, unsigned depth, uint64_t seed)
{
    Clip clip = {{width, height, depth, 1, 0, 0}, {NULL}};
    uint64_t state = seed;
    for (int p = 0; p < CLIP_PICTURES; p++)
        clip.sample[p] = g_new(uint16_t, width * height);
    for (unsigned i = 0; i < width * height; i++) {
        int s[CLIP_PICTURES];
        make_sample(kind, i % width, i / width, width, (1 << depth) - 1, &state, s);
        for (int p = 0; p < CLIP_PICTURES; p++)
            clip.sample[p][i] = s[p];
    }
    return clip;
}

void clip_free(Clip *clip)
{
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_clear_pointer(&clip->sample[p], g_free);
}

static size_t row_bytes(const Clip *clip)
{
    return (size_t)clip->format.width * hv_format_sample_bytes(&clip->format);
}

size_t clip_plane_bytes(const Clip *clip, const Layout *layout)
{
    return (row_bytes(clip) + layout->padding) * (clip->format.height - 1) + row_bytes(clip);
}

HvPicture clip_write(const Clip *clip, int picture, const Layout *layout, void *first_sample)
{
    unsigned bytes = hv_format_sample_bytes(&clip->format), width = clip->format.width;
    size_t stride = row_bytes(clip) + layout->padding;
    uint64_t state = 0x5eed + picture;
    uint16_t mask = ((1u << clip->format.depth) - 1) << layout->shift;
    for (unsigned y = 0; y < clip->format.height; y++) {
        guint8 *row = (guint8 *)first_sample + y * stride;
        for (unsigned x = 0; x < width; x++) {
            uint16_t word = clip->sample[picture][y * width + x] << layout->shift;
            if (layout->garbage)
                word |= clip_random(&state) & ~mask;
            memcpy(row + x * bytes, &word, bytes);
        }
        if (layout->garbage && y + 1 < clip->format.height)
            for (size_t i = row_bytes(clip); i < stride; i++)
                row[i] = clip_random(&state);
    }
    HvPicture made = {{{first_sample, (ptrdiff_t)stride, bytes, layout->shift}}};
    return made;
}

HvPicture clip_lay_out(const Clip *clip, int picture, const Layout *layout, gpointer *memory)
{
    *memory = g_malloc(layout->offset + clip_plane_bytes(clip, layout));
    return clip_write(clip, picture, layout, (char *)*memory + layout->offset);
}
