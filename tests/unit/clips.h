/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Picture pairs made from formulas, and ways to lay them out in memory. */
#ifndef CLIPS_H
#define CLIPS_H

#include <stdint.h>

#include "kernels/common/picture.h"

typedef enum ClipKind {
    CLIP_NOISE,    /* both random, independent */
    CLIP_NEAR,     /* random; the distorted differs by 1 here and there */
    CLIP_ENHANCED, /* a soft texture; the distorted has more of the same contrast */
    CLIP_BLURRED,  /* random blocks; the distorted is smoothed and noisy */
    CLIP_GRADIENT, /* a slope; the distorted in steps */
    CLIP_EQUAL,    /* random, twice the same */
    CLIP_FLAT,     /* black against white */
    CLIP_CHECKER,  /* 0 and the maximum by turns, against the inverse */
    CLIP_STRIPES,  /* columns of two, against rows of two */
    CLIP_EXTREME,  /* random, only 0 and the maximum, in both */
    CLIP_KINDS
} ClipKind;

enum { CLIP_REFERENCE, CLIP_DISTORTED, CLIP_PICTURES };

/* A pair, tightly packed, one word a sample. */
typedef struct Clip {
    HvFormat format;
    uint16_t *sample[CLIP_PICTURES];
} Clip;

Clip clip_new(ClipKind kind, unsigned width, unsigned height, unsigned depth, uint64_t seed);
void clip_free(Clip *clip);

/* How a plane lies in memory. */
typedef struct Layout {
    unsigned padding; /* bytes between rows */
    unsigned offset;  /* bytes before the first sample */
    unsigned shift;   /* of words */
    gboolean garbage; /* random bits where no sample is, also above and below it in its word */
} Layout;

/* The bytes that a plane takes from its first sample to its last. */
size_t clip_plane_bytes(const Clip *clip, const Layout *layout);

/* Writes one picture's luma to memory, and says where it is. */
HvPicture clip_write(const Clip *clip, int picture, const Layout *layout, void *first_sample);

/* The same in memory of its own, exactly as large as needed; *memory is to be freed. */
HvPicture clip_lay_out(const Clip *clip, int picture, const Layout *layout, gpointer *memory);

/* splitmix64 (Steele, Lea, Flood, 2014). */
uint64_t clip_random(uint64_t *state);

#endif
