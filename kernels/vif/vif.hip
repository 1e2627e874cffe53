/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF on a GPU: one launch a scale. A block filters a tile of both pictures in its shared memory,
 * adds up the tile's information, and makes the next scale's part of it on the way.
 *
 * The arithmetic is vif_arith.h's, as on the CPU. */
#include "kernels/vif/vif_device.h"

enum { MEAN1, MEAN2, SQUARE1, SQUARE2, PRODUCT, COLUMNS };
enum { TILE_X = HV_VIF_TILE_COLUMNS, TILE_Y = HV_VIF_TILE_ROWS };

/* How far a scale's filter reaches to either side. */
template <int SCALE> struct Half {
    static constexpr int value = SCALE == 0 ? 8 : SCALE == 1 ? 4 : SCALE == 2 ? 2 : 1;
};

/* A scale's tap at distance k, for constant k. */
template <int SCALE> HV_INLINE uint32_t tap(int k)
{
    constexpr uint16_t taps[HV_VIF_SCALES][HV_VIF_MAX_HALF + 1] = {
        {HV_VIF_TAPS0}, {HV_VIF_TAPS1}, {HV_VIF_TAPS2}, {HV_VIF_TAPS3}};
    return taps[SCALE][k];
}

/* A block's tile with what its filters reach, and what the vertical ones leave. */
template <int SCALE> struct Memory {
    static constexpr int HALF = Half<SCALE>::value;
    static constexpr int SPAN_X = TILE_X + 2 * HALF, SPAN_Y = TILE_Y + 2 * HALF;
    uint16_t in[2][SPAN_Y][SPAN_X];
    uint32_t column[COLUMNS][TILE_Y][SPAN_X];
    uint16_t next[2][TILE_Y / 2][SPAN_X];
};

/* Both pictures of one scale. */
struct Source {
    HV_GLOBAL(const uint8_t) data[2];
    uint32_t pitch[2]; /* bytes */
    int shift[2];
    int mask;
};

template <int BYTES> HV_INLINE uint16_t load(const Source &source, int picture, int x, int y)
{
    HV_GLOBAL(const uint8_t) row = source.data[picture] + (uint32_t)y * source.pitch[picture];
    if (BYTES == 1)
        return row[x];
    uint32_t word = ((HV_GLOBAL(const uint16_t))row)[x];
    return (uint16_t)((word >> (source.shift[picture] & 15)) & source.mask);
}

/* The tile, mirrored where it reaches beyond the picture. */
template <int SCALE, int BYTES>
HV_INLINE void load_tile(const Source &source, int x0, int y0, int width, int height,
                         Memory<SCALE> *memory)
{
    typedef Memory<SCALE> M;
    for (int i = threadIdx.x; i < M::SPAN_Y * M::SPAN_X; i += HV_VIF_BLOCK) {
        int r = i / M::SPAN_X, c = i % M::SPAN_X;
        int x = x0 + c - M::HALF, y = y0 + r - M::HALF;
        if (x >= width + M::HALF || y >= height + M::HALF)
            continue;
        x = hv_vif_mirror(x, width);
        y = hv_vif_mirror(y, height);
        memory->in[0][r][c] = load<BYTES>(source, 0, x, y);
        memory->in[1][r][c] = load<BYTES>(source, 1, x, y);
    }
}

HV_INLINE uint32_t round_shift(uint64_t value, int shift)
{
    return (uint32_t)(shift ? (value + ((uint64_t)1 << (shift - 1))) >> shift : value);
}

/* Sums of squares of 8-bit samples fit 32 bits. */
template <int BYTES> struct Wide {
    typedef uint64_t type;
};
template <> struct Wide<1> {
    typedef uint32_t type;
};

/* One column of the tile's row r: means and moments. */
template <int SCALE, int BYTES>
HV_INLINE void vertical(Memory<SCALE> *memory, int r, int c, int mean_shift, int square_shift)
{
    typedef Memory<SCALE> M;
    typedef typename Wide<BYTES>::type Sum;
    uint32_t mean1 = 0, mean2 = 0;
    Sum square1 = 0, square2 = 0, product = 0;
    HV_UNROLL
    for (int k = -M::HALF; k <= M::HALF; k++) {
        uint32_t x = memory->in[0][r + M::HALF + k][c], y = memory->in[1][r + M::HALF + k][c];
        uint32_t t = tap<SCALE>(k < 0 ? -k : k), tx = t * x, ty = t * y;
        mean1 += tx;
        mean2 += ty;
        square1 += (Sum)tx * x;
        square2 += (Sum)ty * y;
        product += (Sum)tx * y;
    }
    memory->column[MEAN1][r][c] = round_shift(mean1, mean_shift);
    memory->column[MEAN2][r][c] = round_shift(mean2, mean_shift);
    memory->column[SQUARE1][r][c] = round_shift(square1, square_shift);
    memory->column[SQUARE2][r][c] = round_shift(square2, square_shift);
    memory->column[PRODUCT][r][c] = round_shift(product, square_shift);
}

template <int SCALE, int BYTES>
HV_INLINE void vertical_tile(Memory<SCALE> *memory, int x0, int y0, int width, int height,
                             int depth)
{
    typedef Memory<SCALE> M;
    int mean_shift = SCALE ? 16 : depth & 31, square_shift = SCALE ? 16 : (2 * (depth - 8)) & 31;
    for (int i = threadIdx.x; i < TILE_Y * M::SPAN_X; i += HV_VIF_BLOCK) {
        int r = i / M::SPAN_X, c = i % M::SPAN_X;
        if (y0 + r < height && x0 + c < width + 2 * M::HALF)
            vertical<SCALE, BYTES>(memory, r, c, mean_shift, square_shift);
    }
}

/* Every second row, with the next scale's filter. */
template <int SCALE>
HV_INLINE void vertical_next(Memory<SCALE> *memory, int x0, int y0, int width, int height,
                             int depth)
{
    typedef Memory<SCALE> M;
    constexpr int HALF = Half<SCALE + 1>::value;
    int shift = SCALE ? 16 : depth & 31;
    for (int i = threadIdx.x; i < TILE_Y / 2 * M::SPAN_X; i += HV_VIF_BLOCK) {
        int r = i / M::SPAN_X, c = i % M::SPAN_X;
        if (y0 + 2 * r >= height || x0 + c >= width + 2 * M::HALF)
            continue;
        uint32_t mean1 = 0, mean2 = 0;
        HV_UNROLL
        for (int k = -HALF; k <= HALF; k++) {
            uint32_t t = tap<SCALE + 1>(k < 0 ? -k : k);
            mean1 += t * memory->in[0][2 * r + M::HALF + k][c];
            mean2 += t * memory->in[1][2 * r + M::HALF + k][c];
        }
        memory->next[0][r][c] = (uint16_t)round_shift(mean1, shift);
        memory->next[1][r][c] = (uint16_t)round_shift(mean2, shift);
    }
}

template <int SCALE> HV_INLINE uint32_t mean_at(const uint32_t *row)
{
    uint32_t sum = 0;
    HV_UNROLL
    for (int k = -Half<SCALE>::value; k <= Half<SCALE>::value; k++)
        sum += tap<SCALE>(k < 0 ? -k : k) * row[Half<SCALE>::value + k];
    return sum;
}

template <int SCALE> HV_INLINE uint32_t square_at(const uint32_t *row)
{
    uint64_t sum = 32768;
    HV_UNROLL
    for (int k = -Half<SCALE>::value; k <= Half<SCALE>::value; k++)
        sum += (uint64_t)tap<SCALE>(k < 0 ? -k : k) * row[Half<SCALE>::value + k];
    return (uint32_t)(sum >> 16);
}

template <int SCALE>
HV_INLINE void sum_tile(const Memory<SCALE> *memory, int x0, int y0, int width, int height,
                        HV_GLOBAL(const uint16_t) table, double limit, HvVifSums *sums)
{
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += HV_VIF_BLOCK) {
        int r = i / TILE_X, c = i % TILE_X;
        if (y0 + r >= height || x0 + c >= width)
            continue;
        HvVifMoments m = {mean_at<SCALE>(&memory->column[MEAN1][r][c]),
                          mean_at<SCALE>(&memory->column[MEAN2][r][c]),
                          square_at<SCALE>(&memory->column[SQUARE1][r][c]),
                          square_at<SCALE>(&memory->column[SQUARE2][r][c]),
                          square_at<SCALE>(&memory->column[PRODUCT][r][c])};
        hv_vif_add(sums, &m, table, limit);
    }
}

/* Every second column of every second row: the next scale's pixels. */
template <int SCALE>
HV_INLINE void halve_tile(const Memory<SCALE> *memory, int x0, int y0, const HvVifFixed *fixed,
                          const HvVifBuffers *buffers)
{
    constexpr int REACH = Half<SCALE>::value, HALF = Half<SCALE + 1>::value;
    int width = fixed->width[SCALE + 1], height = fixed->height[SCALE + 1];
    for (int i = threadIdx.x; i < TILE_Y * TILE_X / 2; i += HV_VIF_BLOCK) {
        int picture = i / (TILE_Y * TILE_X / 4), at = i % (TILE_Y * TILE_X / 4);
        int r = at / (TILE_X / 2), c = at % (TILE_X / 2), x = x0 / 2 + c, y = y0 / 2 + r;
        if (x >= width || y >= height)
            continue;
        uint32_t sum = 32768;
        HV_UNROLL
        for (int k = -HALF; k <= HALF; k++)
            sum += tap<SCALE + 1>(k < 0 ? -k : k) * memory->next[picture][r][2 * c + REACH + k];
        buffers->image[SCALE][picture][(uint32_t)y * fixed->stride[SCALE + 1] + (uint32_t)x] =
            (uint16_t)(sum >> 16);
    }
}

/* Adds up what the block's threads have, and adds that to the scale's totals. */
HV_INLINE void reduce(const HvVifSums *sums, HvVifTotal (*part)[HV_VIF_BLOCK],
                      HV_GLOBAL(HvVifTotal) totals)
{
    uint32_t thread = threadIdx.x;
    part[0][thread] = (HvVifTotal)sums->num_log;
    part[1][thread] = (HvVifTotal)sums->den_log;
    part[2][thread] = (HvVifTotal)sums->num_flat;
    part[3][thread] = (HvVifTotal)sums->count_flat;
    for (uint32_t half = HV_VIF_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        for (uint32_t i = thread; i < HV_VIF_TOTALS * half; i += HV_VIF_BLOCK)
            part[i / half][i % half] += part[i / half][i % half + half];
    }
    __syncthreads();
    if (thread < HV_VIF_TOTALS)
        atomicAdd((HvVifTotal *)(totals + thread), part[thread][0]);
}

template <int SCALE> union Shared {
    Memory<SCALE> memory;
    HvVifTotal part[HV_VIF_TOTALS][HV_VIF_BLOCK];
};

template <int SCALE, int BYTES>
HV_INLINE void measure_tile(const HvVifBuffers *buffers, const HvVifFixed *fixed,
                            const Source &source, Shared<SCALE> *shared)
{
    int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    int width = fixed->width[SCALE], height = fixed->height[SCALE];
    bool summed = SCALE || !fixed->skip_scale0;
    HvVifSums sums = {0, 0, 0, 0};
    load_tile<SCALE, BYTES>(source, x0, y0, width, height, &shared->memory);
    __syncthreads();
    if (summed)
        vertical_tile<SCALE, BYTES>(&shared->memory, x0, y0, width, height, fixed->depth);
    if constexpr (SCALE + 1 < HV_VIF_SCALES)
        vertical_next<SCALE>(&shared->memory, x0, y0, width, height, fixed->depth);
    __syncthreads();
    if constexpr (SCALE + 1 < HV_VIF_SCALES)
        halve_tile<SCALE>(&shared->memory, x0, y0, fixed, buffers);
    if (!summed)
        return;
    sum_tile<SCALE>(&shared->memory, x0, y0, width, height, buffers->log_table,
                    fixed->gain_limit, &sums);
    __syncthreads();
    reduce(&sums, shared->part, buffers->totals + SCALE * HV_VIF_TOTALS);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_scale0(const HvVifBuffers *buffers, const HvVifFixed *fixed, uint32_t reference_pitch,
           uint32_t reference_shift, uint32_t distorted_pitch, uint32_t distorted_shift)
{
    __shared__ Shared<0> shared;
    Source source = {{buffers->luma[0], buffers->luma[1]},
                     {reference_pitch, distorted_pitch},
                     {(int)reference_shift, (int)distorted_shift},
                     (1 << (fixed->depth & 31)) - 1};
    if (fixed->sample_bytes == 1)
        measure_tile<0, 1>(buffers, fixed, source, &shared);
    else
        measure_tile<0, 2>(buffers, fixed, source, &shared);
}

template <int SCALE>
HV_INLINE void measure_image(const HvVifBuffers *buffers, const HvVifFixed *fixed,
                             Shared<SCALE> *shared)
{
    uint32_t pitch = 2 * fixed->stride[SCALE];
    Source source = {{(HV_GLOBAL(const uint8_t))buffers->image[SCALE - 1][0],
                      (HV_GLOBAL(const uint8_t))buffers->image[SCALE - 1][1]},
                     {pitch, pitch},
                     {0, 0},
                     0xffff};
    measure_tile<SCALE, 2>(buffers, fixed, source, shared);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_scale1(const HvVifBuffers *buffers, const HvVifFixed *fixed)
{
    __shared__ Shared<1> shared;
    measure_image<1>(buffers, fixed, &shared);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_scale2(const HvVifBuffers *buffers, const HvVifFixed *fixed)
{
    __shared__ Shared<2> shared;
    measure_image<2>(buffers, fixed, &shared);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_scale3(const HvVifBuffers *buffers, const HvVifFixed *fixed)
{
    __shared__ Shared<3> shared;
    measure_image<3>(buffers, fixed, &shared);
}
