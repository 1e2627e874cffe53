/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion's hot loop on the CPU: one block of rows, compiled once per processor level. */
#ifndef HV_MOTION_HOT_H
#define HV_MOTION_HOT_H

#include "kernels/cpu/level.h"
#include "kernels/motion/motion.h"

/* Up to this depth differences, and the sum of two, fit 16 bits. */
#define HV_MOTION_NARROW_DEPTH 14

/* Elements after each row that vectors may read or write in passing. */
#define HV_MOTION_PAD 32

/* One thread's rows, `width` elements each and HV_MOTION_PAD more, zeroed when allocated. */
typedef struct HvMotionScratch {
    void *difference[HV_MOTION_TAPS]; /* by row modulo HV_MOTION_TAPS; int16_t up to
                                         HV_MOTION_NARROW_DEPTH, else int32_t */
    /* of one row, HV_MOTION_RADIUS more on either side: values, or their halves rounded down and
     * what is left of them */
    int32_t *filtered;
    int16_t *half, *rest;
} HvMotionScratch;

/* Planes hold packed rows of `stride` bytes, samples as in HvPlane but with a shift of 0. */
typedef struct HvMotionBlock {
    const HvFormat *format;
    int first, last;        /* rows [first, last) */
    const HvPlane *current; /* the reference's luma, as it came */
    void *copy;             /* plane that rows [first, last) of it are copied to */
    const void *earlier;    /* plane that it is compared with; NULL: it is only copied */
    size_t stride;
    const HvMotionScratch *scratch;
} HvMotionBlock;

/* The sum of the absolute filtered differences of the block's rows. */
uint64_t hv_motion_block_baseline(const HvMotionBlock *block);
uint64_t hv_motion_block_v3(const HvMotionBlock *block);
uint64_t hv_motion_block_v4(const HvMotionBlock *block);
uint64_t hv_motion_block_vnni(const HvMotionBlock *block);

#endif
