/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments on a GPU: the sums of one picture's luma, a launch each. A thread has a column of its
 * block's tile; sums are integers, so their order does not matter. */
#include "kernels/moment/moment_device.h"

HV_INLINE uint32_t load(const uint8_t *row, uint32_t x, uint32_t depth, uint32_t shift)
{
    if (depth == 8)
        return row[x];
    return (((const uint16_t *)row)[x] >> (shift & 15)) & ((1u << (depth & 31)) - 1);
}

/* Adds up what the block's threads have, and adds that to the totals. */
HV_INLINE void reduce(HvMomentTotal first, HvMomentTotal second,
                      HvMomentTotal (*part)[HV_MOMENT_BLOCK], HvMomentTotal *totals)
{
    uint32_t thread = threadIdx.x;
    part[0][thread] = first;
    part[1][thread] = second;
    for (uint32_t half = HV_MOMENT_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        if (thread < half) {
            part[0][thread] += part[0][thread + half];
            part[1][thread] += part[1][thread + half];
        }
    }
    __syncthreads();
    if (thread < HV_MOMENT_TOTALS)
        atomicAdd(&totals[thread], part[thread][0]);
}

/* Grid: a block a tile of the plane. */
HV_KERNEL(HV_MOMENT_BLOCK)
moment_plane(const uint8_t *luma, HvMomentTotal *totals, uint32_t width, uint32_t height,
             uint32_t depth, uint32_t pitch, uint32_t shift)
{
    __shared__ HvMomentTotal part[HV_MOMENT_TOTALS][HV_MOMENT_BLOCK];
    uint32_t x = blockIdx.x * HV_MOMENT_BLOCK + threadIdx.x, y = blockIdx.y * HV_MOMENT_ROWS;
    uint32_t end = y + HV_MOMENT_ROWS < height ? y + HV_MOMENT_ROWS : height;
    HvMomentTotal first = 0, second = 0;
    for (; x < width && y < end; y++) {
        uint32_t sample = load(luma + (uint64_t)y * pitch, x, depth, shift);
        first += sample;
        second += hv_moment_square(sample);
    }
    reduce(first, second, part, totals);
}
