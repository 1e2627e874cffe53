/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's hot loops on the CPU: one block of rows of one scale, and the rows of the next scale made
 * from them. Compiled once per processor level. */
#ifndef HV_VIF_HOT_H
#define HV_VIF_HOT_H

#include "kernels/cpu/level.h"
#include "kernels/vif/vif.h"

enum { HV_VIF_REFERENCE, HV_VIF_DISTORTED, HV_VIF_PICTURES };

/* What the vertical pass leaves of a row: the means of both pictures, and the squares and the
 * product in their upper and lower halves. */
enum {
    HV_VIF_MEAN1,
    HV_VIF_MEAN2,
    HV_VIF_SQUARE1,
    HV_VIF_SQUARE2 = HV_VIF_SQUARE1 + 2,
    HV_VIF_PRODUCT = HV_VIF_SQUARE2 + 2,
    HV_VIF_ROWS = HV_VIF_PRODUCT + 2
};

/* Elements before and after each row: what filters need and vectors read or write in passing. */
#define HV_VIF_PAD 64

/* Pairs of neighbouring taps: tap[2k] and tap[2k+1] belong to the samples at first + 2k and first +
 * 2k + 1, or, where `narrow`, to those at first + k and first + k + 1. Every tap is below 2^15. */
#define HV_VIF_MAX_PAIRS 9
typedef struct HvVifPairs {
    int first, pairs, step;
    int16_t tap[2 * HV_VIF_MAX_PAIRS];
} HvVifPairs;

/* One picture at one scale. */
typedef struct HvVifImage {
    const void *data;
    ptrdiff_t stride;
    int bytes, shift, mask; /* of a sample: its size, its place in the word, its bits */
} HvVifImage;

typedef struct HvVifBlock {
    const HvVifPlan *plan;
    int scale, first, last; /* rows [first, last) */
    gboolean sums;          /* FALSE: only the next scale's rows are wanted */
    const uint16_t *log_table;
    HvVifPairs filter, next_filter;
    HvVifImage in[HV_VIF_PICTURES];
    uint16_t *out[HV_VIF_PICTURES]; /* the next scale's pictures, or NULL */
    ptrdiff_t out_stride;           /* bytes */
    /* One thread's rows, zeroed when allocated. Samples are offset by -2^15. */
    int16_t *row[HV_VIF_ROWS];
    HvVifSums *total; /* added to */
} HvVifBlock;

#define HV_DECLARE_HOT(level)                                                                      \
    void hv_vif_block_##level(const HvVifBlock *block);                                            \
    void hv_vif_vertical_##level(const HvVifBlock *block, const HvVifPairs *filter, int row,       \
                                 gboolean moments);                                                \
    void hv_vif_sum_row_##level(const HvVifBlock *block);                                          \
    void hv_vif_halve_row_##level(const HvVifBlock *block, int row);

HV_DECLARE_HOT(baseline)
HV_DECLARE_HOT(v3)
HV_DECLARE_HOT(v4)
HV_DECLARE_HOT(vnni)

#endif
