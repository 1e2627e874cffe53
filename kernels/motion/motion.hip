/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion on a GPU: one launch a frame. A block copies its tile of the reference's luma for later
 * frames, takes the difference to the earlier frame's copy, and filters that in shared memory.
 *
 * The arithmetic is motion_arith.h's, as on the CPU. */
#include "kernels/motion/motion_device.h"

enum { TILE_X = HV_MOTION_TILE_COLUMNS, TILE_Y = HV_MOTION_TILE_ROWS };
enum { SPAN_X = TILE_X + 2 * HV_MOTION_RADIUS, SPAN_Y = TILE_Y + 2 * HV_MOTION_RADIUS };

/* A block's tile with what its filters reach; sums take the place of differences, which nobody reads
 * by then. */
union Memory {
    struct {
        int32_t difference[SPAN_Y][SPAN_X], column[TILE_Y][SPAN_X];
    };
    uint32_t part[HV_MOTION_BLOCK];
};

/* The picture, a copy of it to be made, and an earlier one's copy, if there is one. */
struct Planes {
    HV_GLOBAL(const uint8_t) luma;
    HV_GLOBAL(uint8_t) copy;
    HV_GLOBAL(const uint8_t) earlier;
    uint32_t pitch, stride; /* bytes: of luma; of copies */
    int shift, mask;
};

template <int BYTES> HV_INLINE int load(const Planes &planes, int x, int y)
{
    HV_GLOBAL(const uint8_t) row = planes.luma + (uint32_t)y * planes.pitch;
    if (BYTES == 1)
        return row[x];
    return (((HV_GLOBAL(const uint16_t))row)[x] >> (planes.shift & 15)) & planes.mask;
}

template <int BYTES> HV_INLINE int load_earlier(const Planes &planes, int x, int y)
{
    HV_GLOBAL(const uint8_t) row = planes.earlier + (uint32_t)y * planes.stride;
    return BYTES == 1 ? row[x] : ((HV_GLOBAL(const uint16_t))row)[x];
}

template <int BYTES> HV_INLINE void keep(const Planes &planes, int x, int y, int sample)
{
    HV_GLOBAL(uint8_t) row = planes.copy + (uint32_t)y * planes.stride;
    if (BYTES == 1)
        row[x] = (uint8_t)sample;
    else
        ((HV_GLOBAL(uint16_t))row)[x] = (uint16_t)sample;
}

template <int BYTES>
HV_INLINE void copy_tile(const Planes &planes, int x0, int y0, int width, int height)
{
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += HV_MOTION_BLOCK) {
        int x = x0 + i % TILE_X, y = y0 + i / TILE_X;
        if (x < width && y < height)
            keep<BYTES>(planes, x, y, load<BYTES>(planes, x, y));
    }
}

/* The differences, mirrored where the tile reaches beyond the picture; copies on the way what is
 * the tile's own. */
template <int BYTES>
HV_INLINE void subtract_tile(const Planes &planes, int x0, int y0, int width, int height,
                             Memory *memory)
{
    for (int i = threadIdx.x; i < SPAN_Y * SPAN_X; i += HV_MOTION_BLOCK) {
        int r = i / SPAN_X, c = i % SPAN_X;
        int x = x0 + c - HV_MOTION_RADIUS, y = y0 + r - HV_MOTION_RADIUS;
        if (x >= width + HV_MOTION_RADIUS || y >= height + HV_MOTION_RADIUS)
            continue;
        int from_x = hv_motion_mirror(x, width), from_y = hv_motion_mirror(y, height);
        int sample = load<BYTES>(planes, from_x, from_y);
        memory->difference[r][c] = load_earlier<BYTES>(planes, from_x, from_y) - sample;
        if (x >= x0 && x < x0 + TILE_X && x < width && y >= y0 && y < y0 + TILE_Y && y < height)
            keep<BYTES>(planes, x, y, sample);
    }
}

HV_INLINE void filter_columns(Memory *memory, int x0, int y0, int width, int height, int depth)
{
    for (int i = threadIdx.x; i < TILE_Y * SPAN_X; i += HV_MOTION_BLOCK) {
        int r = i / SPAN_X, c = i % SPAN_X;
        if (y0 + r >= height || x0 + c >= width + 2 * HV_MOTION_RADIUS)
            continue;
        int32_t outer = memory->difference[r][c] + memory->difference[r + 4][c];
        int32_t inner = memory->difference[r + 1][c] + memory->difference[r + 3][c];
        memory->column[r][c] =
            hv_motion_filter(outer, inner, memory->difference[r + 2][c], depth & 31);
    }
}

/* A block's sum fits 32 bits: 2048 magnitudes of up to 65535. */
HV_INLINE uint32_t sum_rows(const Memory *memory, int x0, int y0, int width, int height)
{
    uint32_t sum = 0;
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += HV_MOTION_BLOCK) {
        int r = i / TILE_X, c = i % TILE_X;
        if (y0 + r >= height || x0 + c >= width)
            continue;
        const int32_t *y = &memory->column[r][c];
        int32_t x = hv_motion_filter(y[0] + y[4], y[1] + y[3], y[2], HV_MOTION_ROW_BITS);
        sum += (uint32_t)(x < 0 ? -x : x);
    }
    return sum;
}

/* Adds up what the block's threads have, and adds that to the frame's sum. */
HV_INLINE void reduce(uint32_t sum, uint32_t *part, HV_GLOBAL(HvMotionSum) total)
{
    uint32_t thread = threadIdx.x;
    part[thread] = sum;
    for (uint32_t half = HV_MOTION_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        if (thread < half)
            part[thread] += part[thread + half];
    }
    if (thread == 0)
        atomicAdd((HvMotionSum *)total, (HvMotionSum)part[0]);
}

template <int BYTES>
HV_INLINE void run(const Planes &planes, const HvMotionFixed *fixed, bool compared, Memory *memory,
                   HV_GLOBAL(HvMotionSum) total)
{
    int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    int width = fixed->width, height = fixed->height;
    if (!compared) {
        copy_tile<BYTES>(planes, x0, y0, width, height);
        return;
    }
    subtract_tile<BYTES>(planes, x0, y0, width, height, memory);
    __syncthreads();
    filter_columns(memory, x0, y0, width, height, fixed->depth);
    __syncthreads();
    reduce(sum_rows(memory, x0, y0, width, height), memory->part, total);
}

/* Grid: a block a tile. `copy` and `earlier` are numbers of planes; with HV_MOTION_NO_PLANE for
 * `earlier` the frame is only copied. */
HV_KERNEL(HV_MOTION_BLOCK)
motion_difference(const HvMotionBuffers *buffers, const HvMotionFixed *fixed, uint32_t pitch,
                  uint32_t shift, uint32_t copy, uint32_t earlier)
{
    __shared__ Memory memory;
    bool compared = earlier != HV_MOTION_NO_PLANE;
    Planes planes = {buffers->luma,
                     buffers->planes + copy * fixed->plane_bytes,
                     buffers->planes + (compared ? earlier : copy) * fixed->plane_bytes,
                     pitch,
                     fixed->stride,
                     (int)shift,
                     (1 << (fixed->depth & 31)) - 1};
    if (fixed->sample_bytes == 1)
        run<1>(planes, fixed, compared, &memory, buffers->sum);
    else
        run<2>(planes, fixed, compared, &memory, buffers->sum);
}
