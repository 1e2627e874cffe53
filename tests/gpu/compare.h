/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of pairs measured on the CPU, and held against what a GPU says of them. */
#ifndef COMPARE_H
#define COMPARE_H

#include "../unit/clips.h"
#include "gpu.h"

/* How a metric is held. */
typedef struct Compared {
    const char *metric;
    const char *const *options;   /* sets of them, NULL-terminated; debug is on where not said */
    const unsigned *lengths;      /* of the streams that one instance measures, 0-terminated */
    unsigned alike;               /* pairs of one layout that show every graph: see compare.c */
    double tolerance;             /* 0: every score is the same to the bit */
    unsigned n_sums;              /* integers that the scores are made from, and */
    const int64_t *(*sums)(void); /* those of the pair that was collected last, or NULL */
    unsigned larger; /* what is added to both sides of all sizes, where it measures no small ones */
} Compared;

/* Every metric that is held, ended by one without a name. */
extern const Compared compared[];

/* The metric with these options, which must be right. */
GPtrArray *compared_features(const Compared *what, const char *options);

/* A format with the planes that they look at; the sampling of chroma goes round with `mix`. */
HvFormat compared_format(GPtrArray *features, unsigned width, unsigned height, unsigned depth,
                         unsigned mix);

/* What one side says of a stream. */
typedef struct Said {
    double *value; /* of all pairs, one after the other */
    HvScores *scores;
    int64_t *sums;
} Said;

typedef struct Stream {
    const Compared *what;
    const HvFeature *feature;
    HvFormat format;
    unsigned n, n_scores, n_held;
    HvPicture (*pair)[CLIP_PICTURES];
    gpointer *memory; /* of pictures that the stream made */
    Said cpu, gpu;
    const char *told; /* begins the line that each pair is to be told in, or NULL */
} Stream;

/* A stream of n pairs, whose pictures are to be set. `features` outlives it. */
Stream *stream_new(const Compared *what, GPtrArray *features, const HvFormat *format, unsigned n);
void stream_free(Stream *stream);

/* Makes its pictures: contents of all kinds in turn, from `kind` on, in random layouts, of which
 * each lasts for so many pairs. */
void stream_make(Stream *stream, unsigned kind, unsigned alike, uint64_t *state);

/* Measures it on the CPU: the baseline, one thread. */
void stream_measure(Stream *stream);

/* Measures it on the GPU, as many pairs ahead as there are slots, and compares all scores and sums.
 * FALSE and an error where the GPU fails; a difference ends the program with 1, saying where. */
gboolean stream_hold(Stream *stream, Gpu *gpu, GError **error);

#endif
