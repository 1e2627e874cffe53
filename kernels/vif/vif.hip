/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF on a GPU: vif_next0 to 2 make the pictures of scales 1 to 3, vif_sums measures all scales at
 * once. Vertical filters work on columns, a thread each, whose samples stay in registers; what they
 * leave is filtered horizontally out of shared memory, a run of neighbouring pixels a thread.
 *
 * The arithmetic is vif_arith.h's, as on the CPU. */
#include "kernels/vif/vif_device.h"

enum { TILE_X = HV_VIF_TILE_COLUMNS, TILE_Y = HV_VIF_TILE_ROWS, RUN = HV_VIF_RUN };
enum { NEXT_X = HV_VIF_NEXT_COLUMNS, NEXT_Y = HV_VIF_NEXT_ROWS };

/* Elements from one row of shared memory to the next: of two rows that are read at once, one lies in
 * the banks that the other leaves. */
enum { ROW = HV_VIF_BLOCK + 16 };

/* What the vertical filter leaves of a pixel: both means, and the second moments. */
enum { MEANS, SQUARE1, SQUARE2, PRODUCT, WORDS };

/* What the horizontal one leaves: HvVifMoments, member by member. */
enum { MOMENTS = 5 };

/* How far a scale's filter reaches to either side. */
template <int SCALE> struct Half {
    static constexpr int value = SCALE == 0 ? 8 : SCALE == 1 ? 4 : SCALE == 2 ? 2 : 1;
};

/* A scale's tap at distance k, for constant k; 0 beyond the filter. */
template <int SCALE> HV_INLINE constexpr uint32_t tap(int k)
{
    constexpr uint16_t taps[HV_VIF_SCALES][HV_VIF_MAX_HALF + 1] = {
        {HV_VIF_TAPS0}, {HV_VIF_TAPS1}, {HV_VIF_TAPS2}, {HV_VIF_TAPS3}};
    return k < -Half<SCALE>::value || k > Half<SCALE>::value ? 0 : taps[SCALE][k < 0 ? -k : k];
}

/* Both pictures of one scale. */
struct Source {
    HV_GLOBAL(const uint8_t) data[2];
    uint32_t pitch[2]; /* bytes */
    int shift[2];
    int mask;
    int width, height;
};

template <int BYTES> HV_INLINE uint32_t load(const Source &source, int picture, int x, int y)
{
    HV_GLOBAL(const uint8_t) row = source.data[picture] + (uint32_t)y * source.pitch[picture];
    if (BYTES == 1)
        return row[x];
    uint32_t word = ((HV_GLOBAL(const uint16_t))row)[x];
    return (word >> (source.shift[picture] & 15)) & (uint32_t)source.mask;
}

/* The index that stands for `i`; what is further beyond the end than a filter reaches, which no
 * pixel of the picture needs, is anything inside. */
HV_INLINE int clamp_mirror(int i, int n, int half)
{
    int last = n - 1 + half;
    return hv_vif_mirror(i < last ? i : last, n);
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

/* Rows of a column that are filtered at a time: more need registers, and instructions, that cost
 * more than loading samples twice. */
enum { ROWS = TILE_Y / 2 };

/* So many rows of one column, filtered vertically. */
template <int BYTES> struct Column {
    uint32_t mean1[ROWS], mean2[ROWS];
    typename Wide<BYTES>::type square1[ROWS], square2[ROWS], product[ROWS];
};

template <int SCALE, int BYTES>
HV_INLINE void add_row(Column<BYTES> *column, int k, uint32_t p, uint32_t q)
{
    typedef typename Wide<BYTES>::type Sum;
    uint32_t pp = p * p, qq = q * q, pq = p * q;
    HV_UNROLL
    for (int r = 0; r < ROWS; r++) {
        uint32_t t = tap<SCALE>(k - r - Half<SCALE>::value);
        column->mean1[r] += t * p;
        column->mean2[r] += t * q;
        column->square1[r] += (Sum)t * pp;
        column->square2[r] += (Sum)t * qq;
        column->product[r] += (Sum)t * pq;
    }
}

/* Rows of the column at x from `first` of the tile on. */
template <int SCALE, int BYTES>
HV_INLINE void filter_rows(const Source &source, int x, int y0, int first, int depth,
                           uint32_t (*word)[TILE_Y][ROW])
{
    constexpr int HALF = Half<SCALE>::value;
    int mean_shift = SCALE ? 16 : depth & 31, square_shift = SCALE ? 16 : (2 * (depth - 8)) & 31;
    Column<BYTES> column;
    HV_UNROLL
    for (int r = 0; r < ROWS; r++) {
        column.mean1[r] = column.mean2[r] = 0;
        column.square1[r] = column.square2[r] = column.product[r] = 0;
    }
    HV_UNROLL
    for (int k = 0; k < ROWS + 2 * HALF; k++) {
        int y = clamp_mirror(y0 + first + k - HALF, source.height, HALF);
        add_row<SCALE>(&column, k, load<BYTES>(source, 0, x, y), load<BYTES>(source, 1, x, y));
    }
    HV_UNROLL
    for (int r = 0; r < ROWS; r++) {
        word[MEANS][first + r][threadIdx.x] = round_shift(column.mean1[r], mean_shift) |
                                              round_shift(column.mean2[r], mean_shift) << 16;
        word[SQUARE1][first + r][threadIdx.x] = round_shift(column.square1[r], square_shift);
        word[SQUARE2][first + r][threadIdx.x] = round_shift(column.square2[r], square_shift);
        word[PRODUCT][first + r][threadIdx.x] = round_shift(column.product[r], square_shift);
    }
}

template <int SCALE, int BYTES>
HV_INLINE void filter_column(const Source &source, int x, int y0, int depth,
                             uint32_t (*word)[TILE_Y][ROW])
{
    HV_NO_UNROLL
    for (int first = 0; first < TILE_Y; first += ROWS)
        filter_rows<SCALE, BYTES>(source, x, y0, first, depth, word);
}

/* Both means of a run of pixels, unshifted. */
template <int SCALE>
HV_INLINE void filter_means(const uint32_t *word, uint32_t *mean1, uint32_t *mean2)
{
    constexpr int HALF = Half<SCALE>::value;
    HV_UNROLL
    for (int i = 0; i < RUN; i++)
        mean1[i] = mean2[i] = 0;
    HV_UNROLL
    for (int k = 0; k < RUN + 2 * HALF; k++) {
        uint32_t low = word[k] & 0xffff, high = word[k] >> 16;
        HV_UNROLL
        for (int i = 0; i < RUN; i++) {
            uint32_t t = tap<SCALE>(k - i - HALF);
            mean1[i] += t * low;
            mean2[i] += t * high;
        }
    }
}

template <int SCALE> HV_INLINE void filter_squares(const uint32_t *word, uint32_t *square)
{
    constexpr int HALF = Half<SCALE>::value;
    uint64_t sum[RUN];
    HV_UNROLL
    for (int i = 0; i < RUN; i++)
        sum[i] = 32768;
    HV_UNROLL
    for (int k = 0; k < RUN + 2 * HALF; k++) {
        uint32_t value = word[k];
        HV_UNROLL
        for (int i = 0; i < RUN; i++)
            sum[i] += (uint64_t)tap<SCALE>(k - i - HALF) * value;
    }
    HV_UNROLL
    for (int i = 0; i < RUN; i++)
        square[i] = (uint32_t)(sum[i] >> 16);
}

/* What a tile's steps leave for the next one. */
union Shared {
    uint32_t word[WORDS][TILE_Y][ROW];
    uint32_t moment[MOMENTS][TILE_Y * TILE_X];
    HvVifTotal part[HV_VIF_TOTALS][HV_VIF_BLOCK];
};

/* The thread's run of pixels, filtered horizontally: TILE_X / RUN threads a row. Runs lie in shared
 * memory one after the other, and each pixel's information is a step of its own: with all of it
 * unrolled in one place, instructions would come slower than they are executed. */
template <int SCALE> HV_INLINE void filter_run(Shared *shared)
{
    uint32_t row = threadIdx.x / (TILE_X / RUN), first = threadIdx.x % (TILE_X / RUN) * RUN;
    uint32_t moment[MOMENTS][RUN];
    filter_means<SCALE>(&shared->word[MEANS][row][first], moment[0], moment[1]);
    HV_UNROLL
    for (int m = 2; m < MOMENTS; m++)
        filter_squares<SCALE>(&shared->word[m - 1][row][first], moment[m]);
    __syncthreads();
    HV_UNROLL
    for (int m = 0; m < MOMENTS; m++)
        HV_UNROLL
        for (int i = 0; i < RUN; i++)
            shared->moment[m][threadIdx.x * RUN + i] = moment[m][i];
}

/* Pixels that lie in the picture, each of which some thread adds. */
HV_INLINE void add_pixels(const Shared *shared, int columns, int rows, HvVifLog log, double limit,
                          HvVifSums *sums)
{
    HV_NO_UNROLL
    for (int at = (int)threadIdx.x; at < TILE_Y * TILE_X; at += HV_VIF_BLOCK) {
        HvVifMoments m = {shared->moment[0][at], shared->moment[1][at], shared->moment[2][at],
                          shared->moment[3][at], shared->moment[4][at]};
        if (at / TILE_X < rows && at % TILE_X < columns)
            hv_vif_add(sums, &m, log, limit);
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

template <int SCALE, int BYTES>
HV_INLINE void measure_tile(const Source &source, int tile_row, const HvVifBuffers *buffers,
                            const HvVifFixed *fixed, const HvVifLogPieces *log, Shared *shared)
{
    constexpr int HALF = Half<SCALE>::value;
    int x0 = (int)blockIdx.x * TILE_X, y0 = tile_row * TILE_Y;
    HvVifSums sums = {0, 0, 0, 0};
    if ((int)threadIdx.x < TILE_X + 2 * HALF)
        filter_column<SCALE, BYTES>(
            source, clamp_mirror(x0 + (int)threadIdx.x - HALF, source.width, HALF), y0,
            fixed->depth, shared->word);
    __syncthreads();
    filter_run<SCALE>(shared);
    __syncthreads();
    add_pixels(shared, source.width - x0, source.height - y0, log, fixed->gain_limit, &sums);
    __syncthreads();
    reduce(&sums, shared->part, buffers->totals + SCALE * HV_VIF_TOTALS);
}

HV_INLINE Source luma_source(const HvVifBuffers *buffers, const HvVifFixed *fixed,
                             uint32_t reference_pitch, uint32_t reference_shift,
                             uint32_t distorted_pitch, uint32_t distorted_shift)
{
    Source source = {{buffers->luma[0], buffers->luma[1]},
                     {reference_pitch, distorted_pitch},
                     {(int)reference_shift, (int)distorted_shift},
                     (1 << (fixed->depth & 31)) - 1,
                     fixed->width[0],
                     fixed->height[0]};
    return source;
}

template <int SCALE>
HV_INLINE Source image_source(const HvVifBuffers *buffers, const HvVifFixed *fixed)
{
    uint32_t pitch = 2 * fixed->stride[SCALE];
    Source source = {{(HV_GLOBAL(const uint8_t))buffers->image[SCALE - 1][0],
                      (HV_GLOBAL(const uint8_t))buffers->image[SCALE - 1][1]},
                     {pitch, pitch},
                     {0, 0},
                     0xffff,
                     fixed->width[SCALE],
                     fixed->height[SCALE]};
    return source;
}

/* The block's row of tiles within its scale, or -1 where it has none there. */
HV_INLINE int tile_row(const HvVifFixed *fixed, int scale)
{
    return blockIdx.x < fixed->tile_columns[scale]
               ? (int)(blockIdx.y - fixed->first_tile_row[scale])
               : -1;
}

/* A scale's tiles are rows of blocks, the coarsest scale's first: their blocks are few. */
HV_KERNEL(HV_VIF_BLOCK)
vif_sums(const HvVifBuffers *buffers, const HvVifFixed *fixed, uint32_t reference_pitch,
         uint32_t reference_shift, uint32_t distorted_pitch, uint32_t distorted_shift)
{
    __shared__ Shared shared;
    __shared__ HvVifLogPieces log;
    if (threadIdx.x < 8) {
        log.reciprocal[threadIdx.x] = fixed->log.reciprocal[threadIdx.x];
        log.base[threadIdx.x] = fixed->log.base[threadIdx.x];
    }
    int scale = HV_VIF_SCALES - 1;
    while (scale > 0 && blockIdx.y >= fixed->first_tile_row[scale - 1])
        scale--;
    int row = tile_row(fixed, scale);
    if (row < 0)
        return;
    if (scale == 3) {
        measure_tile<3, 2>(image_source<3>(buffers, fixed), row, buffers, fixed, &log, &shared);
    } else if (scale == 2) {
        measure_tile<2, 2>(image_source<2>(buffers, fixed), row, buffers, fixed, &log, &shared);
    } else if (scale == 1) {
        measure_tile<1, 2>(image_source<1>(buffers, fixed), row, buffers, fixed, &log, &shared);
    } else {
        Source source = luma_source(buffers, fixed, reference_pitch, reference_shift,
                                    distorted_pitch, distorted_shift);
        if (fixed->sample_bytes == 1)
            measure_tile<0, 1>(source, row, buffers, fixed, &log, &shared);
        else
            measure_tile<0, 2>(source, row, buffers, fixed, &log, &shared);
    }
}

/* The next scale's picture: its filter, every second row and column */

typedef uint16_t Next[2][NEXT_Y][HV_VIF_BLOCK];

/* Every second row of one column of both pictures. */
template <int SCALE, int BYTES>
HV_INLINE void halve_column(const Source &source, int x, int y0, int depth, Next next)
{
    constexpr int HALF = Half<SCALE + 1>::value;
    int shift = SCALE ? 16 : depth & 31;
    uint32_t sum[2][NEXT_Y];
    HV_UNROLL
    for (int r = 0; r < NEXT_Y; r++)
        sum[0][r] = sum[1][r] = 0;
    HV_UNROLL
    for (int k = 0; k < 2 * NEXT_Y - 1 + 2 * HALF; k++) {
        int y = clamp_mirror(y0 + k - HALF, source.height, HALF);
        uint32_t p = load<BYTES>(source, 0, x, y), q = load<BYTES>(source, 1, x, y);
        HV_UNROLL
        for (int r = 0; r < NEXT_Y; r++) {
            uint32_t t = tap<SCALE + 1>(k - 2 * r - HALF);
            sum[0][r] += t * p;
            sum[1][r] += t * q;
        }
    }
    HV_UNROLL
    for (int r = 0; r < NEXT_Y; r++) {
        next[0][r][threadIdx.x] = (uint16_t)round_shift(sum[0][r], shift);
        next[1][r][threadIdx.x] = (uint16_t)round_shift(sum[1][r], shift);
    }
}

/* Every second column of what the vertical filter left. */
template <int SCALE>
HV_INLINE void halve_rows(const Next next, int x0, int y0, const HvVifBuffers *buffers,
                          const HvVifFixed *fixed)
{
    constexpr int HALF = Half<SCALE + 1>::value;
    int columns = fixed->width[SCALE + 1] - x0, rows = fixed->height[SCALE + 1] - y0;
    for (int i = (int)threadIdx.x; i < 2 * NEXT_Y * NEXT_X; i += HV_VIF_BLOCK) {
        int picture = i / (NEXT_Y * NEXT_X), r = i / NEXT_X % NEXT_Y, c = i % NEXT_X;
        if (r >= rows || c >= columns)
            continue;
        uint32_t sum = 32768;
        HV_UNROLL
        for (int k = 0; k <= 2 * HALF; k++)
            sum += tap<SCALE + 1>(k - HALF) * next[picture][r][2 * c + k];
        uint32_t at = (uint32_t)(y0 + r) * fixed->stride[SCALE + 1] + (uint32_t)(x0 + c);
        buffers->image[SCALE][picture][at] = (uint16_t)(sum >> 16);
    }
}

template <int SCALE, int BYTES>
HV_INLINE void halve_tile(const Source &source, const HvVifBuffers *buffers,
                          const HvVifFixed *fixed, Next next)
{
    constexpr int HALF = Half<SCALE + 1>::value;
    int x0 = (int)blockIdx.x * NEXT_X, y0 = (int)blockIdx.y * NEXT_Y;
    if ((int)threadIdx.x < 2 * NEXT_X - 1 + 2 * HALF)
        halve_column<SCALE, BYTES>(
            source, clamp_mirror(2 * x0 + (int)threadIdx.x - HALF, source.width, HALF), 2 * y0,
            fixed->depth, next);
    __syncthreads();
    halve_rows<SCALE>(next, x0, y0, buffers, fixed);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_next0(const HvVifBuffers *buffers, const HvVifFixed *fixed, uint32_t reference_pitch,
          uint32_t reference_shift, uint32_t distorted_pitch, uint32_t distorted_shift)
{
    __shared__ Next next;
    Source source = luma_source(buffers, fixed, reference_pitch, reference_shift, distorted_pitch,
                                distorted_shift);
    if (fixed->sample_bytes == 1)
        halve_tile<0, 1>(source, buffers, fixed, next);
    else
        halve_tile<0, 2>(source, buffers, fixed, next);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_next1(const HvVifBuffers *buffers, const HvVifFixed *fixed)
{
    __shared__ Next next;
    halve_tile<1, 2>(image_source<1>(buffers, fixed), buffers, fixed, next);
}

HV_KERNEL(HV_VIF_BLOCK)
vif_next2(const HvVifBuffers *buffers, const HvVifFixed *fixed)
{
    __shared__ Next next;
    halve_tile<2, 2>(image_source<2>(buffers, fixed), buffers, fixed, next);
}
