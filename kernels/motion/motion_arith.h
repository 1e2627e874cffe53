/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The integer arithmetic of motion, one sample at a time: what every backend must agree on to the
 * bit. docs/motion.md explains it and names its source. Plain 32-bit integers: the same text
 * compiles for the host and for GPUs. */
#ifndef HV_MOTION_ARITH_H
#define HV_MOTION_ARITH_H

#include <stdint.h>

#ifndef HV_INLINE
#define HV_INLINE static inline
#endif

/* The five-tap low-pass filter, times 2^16: outer, inner, centre, inner, outer. */
#define HV_MOTION_OUTER  3571
#define HV_MOTION_INNER  16004
#define HV_MOTION_CENTRE 26386
#define HV_MOTION_TAPS   5
#define HV_MOTION_RADIUS 2

/* The horizontal pass leaves a sample in the vertical pass's format, whose 8 integer bits and 8
 * fractional ones stand for any depth. */
#define HV_MOTION_ROW_BITS 16

/* The index that stands for `i`, at most HV_MOTION_RADIUS beyond either end, in a row of n samples,
 * 3 or more: mirrored, the edge sample not repeated. */
HV_INLINE int hv_motion_mirror(int i, int n)
{
    if (i < 0)
        return -i;
    return i < n ? i : 2 * n - 2 - i;
}

/* One filtered sample, floor(sum of taps / 2^bits + 1/2), from the sum of the two outer samples, of
 * the two inner ones, and the centre; none of the five above 65535 in magnitude. The sum of taps
 * may need 34 bits; its half, rounded down, needs 32, and gives the same. The vertical pass's bits
 * are the picture's depth, the horizontal one's HV_MOTION_ROW_BITS. */
HV_INLINE int32_t hv_motion_filter(int32_t outer, int32_t inner, int32_t centre, int bits)
{
    int32_t half = ((HV_MOTION_OUTER * outer) >> 1) + HV_MOTION_INNER / 2 * inner +
                   HV_MOTION_CENTRE / 2 * centre;
    return (half + (1 << (bits - 2))) >> (bits - 1);
}

#endif
