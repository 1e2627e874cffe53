/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR on a GPU: the squared differences of one plane, a launch each. A thread has a column of its
 * block's tile; sums are integers, so their order does not matter. */
#include "kernels/psnr/psnr_device.h"

/* How a plane is read: value = word >> shift & mask, `step` bytes from a sample to the next. */
struct Source {
    const uint8_t *data;
    uint32_t pitch, shift, step;
};

HV_INLINE uint32_t load(const Source &source, uint32_t x, uint32_t y, uint32_t depth)
{
    const uint8_t *at = source.data + (uint64_t)y * source.pitch + (uint64_t)x * source.step;
    if (depth == 8)
        return *at;
    return (*(const uint16_t *)at >> (source.shift & 15)) & ((1u << (depth & 31)) - 1);
}

/* Adds up what the block's threads have, and adds that to the total. */
HV_INLINE void reduce(HvPsnrTotal sum, HvPsnrTotal *part, HvPsnrTotal *total)
{
    uint32_t thread = threadIdx.x;
    part[thread] = sum;
    for (uint32_t half = HV_PSNR_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        if (thread < half)
            part[thread] += part[thread + half];
    }
    if (thread == 0)
        atomicAdd(total, part[0]);
}

/* Grid: a block a tile of the plane. */
HV_KERNEL(HV_PSNR_BLOCK)
psnr_plane(const uint8_t *reference, const uint8_t *distorted, HvPsnrTotal *total, uint32_t width,
           uint32_t height, uint32_t depth, uint32_t reference_pitch, uint32_t reference_shift,
           uint32_t reference_step, uint32_t distorted_pitch, uint32_t distorted_shift,
           uint32_t distorted_step)
{
    __shared__ HvPsnrTotal part[HV_PSNR_BLOCK];
    Source a = {reference, reference_pitch, reference_shift, reference_step};
    Source b = {distorted, distorted_pitch, distorted_shift, distorted_step};
    uint32_t x = blockIdx.x * HV_PSNR_BLOCK + threadIdx.x, y = blockIdx.y * HV_PSNR_ROWS;
    uint32_t end = y + HV_PSNR_ROWS < height ? y + HV_PSNR_ROWS : height;
    HvPsnrTotal sum = 0;
    for (; x < width && y < end; y++) {
        uint32_t d = load(a, x, y, depth) - load(b, x, y, depth);
        sum += d * d;
    }
    reduce(sum, part, total);
}
