/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on a GPU, in three launches: the low bands of all scales; everything else about the bands,
 * from the low band above to each row's total; totals to sums. Bands, splits and shares never leave
 * a block: what its rim needs of its neighbours it computes again, which costs less than memory.
 *
 * The arithmetic is adm_arith.h's, as on the CPU. */
#include "kernels/adm/adm_device.h"

enum { HORIZONTAL, VERTICAL, DIAGONAL, ANGLES };
enum { RESTORED, ADDITIVE, PARTS };

/* A staged luma plane. */
struct Plane {
    HV_GLOBAL(const uint8_t) data;
    uint32_t pitch;
    int shift;
};

/* Four samples in a column or row, and what filters make of them. */
struct Taps {
    int32_t s[4];
};

struct Filtered {
    int32_t low, high;
};

HV_INLINE Filtered filter0(const Taps &t, int shift)
{
    return {hv_adm_round16(hv_adm_low16(t.s[0], t.s[1], t.s[2], t.s[3]), shift),
            hv_adm_round16(hv_adm_high16(t.s[0], t.s[1], t.s[2], t.s[3]), shift)};
}

HV_INLINE int32_t filter_low(const Taps &t, int shift)
{
    return (int32_t)hv_adm_round_shift(hv_adm_low(t.s[0], t.s[1], t.s[2], t.s[3]), shift);
}

HV_INLINE int32_t filter_high(const Taps &t, int shift)
{
    return (int32_t)hv_adm_round_shift(hv_adm_high(t.s[0], t.s[1], t.s[2], t.s[3]), shift);
}

/* The four rows that make a band's row. */
struct Rows {
    uint32_t at[4];
};

HV_INLINE Rows rows_of(int row, int height, uint32_t stride)
{
    Rows rows;
    HV_UNROLL
    for (int k = 0; k < 4; k++)
        rows.at[k] = (uint32_t)hv_adm_mirror(2 * row - 1 + k, height) * stride;
    return rows;
}

/* Column x of the plane. */
HV_INLINE Taps load_plane(const HvAdmFixed *fixed, const Plane &plane, int x, const Rows &rows)
{
    Taps t;
    if (fixed->sample_bytes == 1) {
        HV_UNROLL
        for (int k = 0; k < 4; k++)
            t.s[k] = plane.data[rows.at[k] + (uint32_t)x];
    } else {
        HV_UNROLL
        for (int k = 0; k < 4; k++)
            t.s[k] = *(HV_GLOBAL(const uint16_t))(plane.data + rows.at[k] + 2 * (uint32_t)x);
    }
    HV_UNROLL
    for (int k = 0; k < 4; k++)
        t.s[k] = hv_adm_centred(t.s[k], plane.shift, fixed->depth);
    return t;
}

template <typename Pointer> HV_INLINE Taps load_band(Pointer band, int x, const Rows &rows)
{
    Taps t;
    HV_UNROLL
    for (int k = 0; k < 4; k++)
        t.s[k] = band[rows.at[k] + (uint32_t)x];
    return t;
}

/* ---- The low bands. A block makes a tile of scale 2's from the picture, and on the way the parts
 * of scale 0's and 1's above it. ---- */

enum {
    TILE2_X = HV_ADM_PYRAMID_COLUMNS,
    TILE2_Y = HV_ADM_PYRAMID_ROWS,
    /* with what the filters reach: one before, one after */
    SPAN1_X = 2 * TILE2_X + 2,
    SPAN1_Y = 2 * TILE2_Y + 2,
    SPAN0_X = 2 * SPAN1_X + 2,
    SPAN0_Y = 2 * SPAN1_Y + 2,
    SPAN_X = 2 * SPAN0_X + 2
};

struct PyramidMemory {
    int16_t vertical0[SPAN0_Y][SPAN_X];
    int16_t low0[SPAN0_Y][SPAN0_X];
    int32_t vertical1[SPAN1_Y][SPAN0_X];
    int32_t low1[SPAN1_Y][SPAN1_X];
    int32_t vertical2[TILE2_Y][SPAN1_X];
};

/* Four samples around column 2x of a row that begins with column `first`, of n in all. */
template <typename Sample> HV_INLINE Taps taps_in_row(const Sample *row, int x, int first, int n)
{
    Taps t;
    HV_UNROLL
    for (int k = 0; k < 4; k++)
        t.s[k] = row[hv_adm_mirror(2 * x - 1 + k, n) - first];
    return t;
}

/* Likewise four samples around row 2y of a column. */
template <typename Sample>
HV_INLINE Taps taps_in_column(const Sample *column, int stride, int y, int first, int n)
{
    Taps t;
    HV_UNROLL
    for (int k = 0; k < 4; k++)
        t.s[k] = column[(hv_adm_mirror(2 * y - 1 + k, n) - first) * stride];
    return t;
}

/* Where a block's tile and what it reaches begin. */
struct Origin {
    int x2, y2, x1, y1, x0, y0, x;
};

HV_INLINE void pyramid0(const HvAdmFixed *fixed, const Plane &plane, HV_GLOBAL(int16_t) out,
                        const Origin &at, PyramidMemory *memory)
{
    const HvAdmFixedScale *s = &fixed->scale[0];
    for (int i = threadIdx.x; i < SPAN0_Y * SPAN_X; i += HV_ADM_BLOCK) {
        int r = i / SPAN_X, c = i % SPAN_X, y = at.y0 + r, x = at.x + c;
        if (y < 0 || y >= s->height || x < 0 || x >= s->in_width)
            continue;
        Taps t = load_plane(fixed, plane, x, rows_of(y, s->in_height, plane.pitch));
        memory->vertical0[r][c] = (int16_t)filter0(t, fixed->depth).low;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SPAN0_Y * SPAN0_X; i += HV_ADM_BLOCK) {
        int r = i / SPAN0_X, c = i % SPAN0_X, y = at.y0 + r, x = at.x0 + c;
        if (y < 0 || y >= s->height || x < 0 || x >= s->width)
            continue;
        Taps t = taps_in_row(memory->vertical0[r], x, at.x, s->in_width);
        int32_t low = filter0(t, 16).low;
        memory->low0[r][c] = (int16_t)low;
        if (y >= 4 * at.y2 && y < 4 * (at.y2 + TILE2_Y) && x >= 4 * at.x2 &&
            x < 4 * (at.x2 + TILE2_X))
            out[(uint32_t)y * s->stride + (uint32_t)x] = (int16_t)low;
    }
    __syncthreads();
}

HV_INLINE void pyramid1(const HvAdmFixed *fixed, HV_GLOBAL(int32_t) out, const Origin &at,
                        PyramidMemory *memory)
{
    const HvAdmFixedScale *s = &fixed->scale[1];
    for (int i = threadIdx.x; i < SPAN1_Y * SPAN0_X; i += HV_ADM_BLOCK) {
        int r = i / SPAN0_X, c = i % SPAN0_X, y = at.y1 + r, x = at.x0 + c;
        if (y < 0 || y >= s->height || x < 0 || x >= s->in_width)
            continue;
        Taps t = taps_in_column(&memory->low0[0][c], SPAN0_X, y, at.y0, s->in_height);
        memory->vertical1[r][c] = hv_adm_low16(t.s[0], t.s[1], t.s[2], t.s[3]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SPAN1_Y * SPAN1_X; i += HV_ADM_BLOCK) {
        int r = i / SPAN1_X, c = i % SPAN1_X, y = at.y1 + r, x = at.x1 + c;
        if (y < 0 || y >= s->height || x < 0 || x >= s->width)
            continue;
        Taps t = taps_in_row(memory->vertical1[r], x, at.x0, s->in_width);
        int32_t low = filter_low(t, s->horizontal_shift & 63);
        memory->low1[r][c] = low;
        if (y >= 2 * at.y2 && y < 2 * (at.y2 + TILE2_Y) && x >= 2 * at.x2 &&
            x < 2 * (at.x2 + TILE2_X))
            out[(uint32_t)y * s->stride + (uint32_t)x] = low;
    }
    __syncthreads();
}

HV_INLINE void pyramid2(const HvAdmFixed *fixed, HV_GLOBAL(int32_t) out, const Origin &at,
                        PyramidMemory *memory)
{
    const HvAdmFixedScale *s = &fixed->scale[2];
    for (int i = threadIdx.x; i < TILE2_Y * SPAN1_X; i += HV_ADM_BLOCK) {
        int r = i / SPAN1_X, c = i % SPAN1_X, y = at.y2 + r, x = at.x1 + c;
        if (y >= s->height || x < 0 || x >= s->in_width)
            continue;
        Taps t = taps_in_column(&memory->low1[0][c], SPAN1_X, y, at.y1, s->in_height);
        memory->vertical2[r][c] = filter_low(t, s->vertical_shift & 63);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TILE2_Y * TILE2_X; i += HV_ADM_BLOCK) {
        int r = i / TILE2_X, c = i % TILE2_X, y = at.y2 + r, x = at.x2 + c;
        if (y >= s->height || x >= s->width)
            continue;
        Taps t = taps_in_row(memory->vertical2[r], x, at.x1, s->in_width);
        out[(uint32_t)y * s->stride + (uint32_t)x] = filter_low(t, s->horizontal_shift & 63);
    }
}

/* Grid: scale 2's low band in tiles, by picture. Pitches are bytes. */
HV_KERNEL(HV_ADM_BLOCK)
adm_pyramid(const HvAdmBuffers *buffers, const HvAdmFixed *fixed, uint32_t reference_pitch,
            uint32_t reference_shift, uint32_t distorted_pitch, uint32_t distorted_shift)
{
    __shared__ PyramidMemory memory;
    int picture = blockIdx.z;
    Plane plane = {buffers->luma[picture], picture ? distorted_pitch : reference_pitch,
                   (int)((picture ? distorted_shift : reference_shift) & 15)};
    Origin at;
    at.x2 = (int)blockIdx.x * TILE2_X;
    at.y2 = (int)blockIdx.y * TILE2_Y;
    at.x1 = 2 * at.x2 - 1;
    at.y1 = 2 * at.y2 - 1;
    at.x0 = 2 * at.x1 - 1;
    at.y0 = 2 * at.y1 - 1;
    at.x = 2 * at.x0 - 1;
    pyramid0(fixed, plane, buffers->low0[picture], at, &memory);
    pyramid1(fixed, buffers->low1[picture], at, &memory);
    pyramid2(fixed, buffers->low2[picture], at, &memory);
}

/* ---- The detail bands, from the low band above to totals of rows. ---- */

/* What a coefficient's parts contribute to the thresholds of its neighbours. */
struct alignas(8) Shares {
    uint32_t restored, additive;
};

/* The tile of a block: coefficients that it sums, and one more on every side. Threads stand in rows
 * of 32; each has `EACH` coefficients, 32 columns apart. */
template <bool FINEST> struct Tile {
    static constexpr int LANES = 32;
    static constexpr int COLUMNS = FINEST ? HV_ADM_TILE_COLUMNS0 : HV_ADM_TILE_COLUMNS;
    static constexpr int ROWS = HV_ADM_TILE_ROWS;
    static constexpr int EACH = COLUMNS / LANES;
    static constexpr int SPAN_COLUMNS = COLUMNS + 2, SPAN_ROWS = ROWS + 2;
    static constexpr int RIM = 2 * SPAN_COLUMNS + 2 * ROWS;
    /* Columns of the vertical filters' results; the even ones of a row come first. */
    static constexpr int HALF = SPAN_COLUMNS + 1, WIDTH = 2 * HALF;
    /* Words of a filtered sample: low and high in one at scale 0. */
    static constexpr int PLANES = FINEST ? 2 : 4;
    static constexpr int WORDS = PLANES * SPAN_ROWS * WIDTH;

    int32_t filtered[PLANES][SPAN_ROWS][WIDTH];
    Shares share[SPAN_ROWS][SPAN_COLUMNS];
};

static_assert(HV_ADM_BLOCK == 32 * HV_ADM_TILE_ROWS, "a thread for each column and row");

/* One row of lanes of each total, with a word to spare so that memory's banks differ. */
struct Reduction {
    HvAdmTotal lane[HV_ADM_TOTALS * HV_ADM_TILE_ROWS][33];
};

union BandsMemory {
    Tile<true> finest;
    Tile<false> other;
    Reduction reduction;
};

/* What a thread keeps of a coefficient until its neighbours' shares are known. */
struct Kept {
    uint32_t magnitude[PARTS][ANGLES], own[PARTS];
};

struct Bands {
    int32_t o[ANGLES], t[ANGLES];
};

/* What is the same for all coefficients of a block. */
struct Context {
    const HvAdmFixed *fixed;
    const HvAdmFixedScale *s;
    int scale, x0, y0; /* the first coefficient that is summed */
};

/* Fills tile->filtered: slot (r, j) is row y0 - 1 + r, input column 2 * (x0 - 1) - 1 + j. */
HV_INLINE void filter_rows(const Context &c, const HvAdmBuffers *, const Plane &reference,
                           const Plane &distorted, Tile<true> *tile)
{
    typedef Tile<true> T;
    for (int i = threadIdx.x; i < T::WORDS; i += HV_ADM_BLOCK) {
        int picture = i / (T::SPAN_ROWS * T::WIDTH), r = i / T::WIDTH % T::SPAN_ROWS;
        int j = i % T::WIDTH, x = hv_adm_mirror(2 * c.x0 - 3 + j, c.s->in_width);
        Plane plane = {picture ? distorted.data : reference.data,
                       picture ? distorted.pitch : reference.pitch,
                       picture ? distorted.shift : reference.shift};
        Rows rows = rows_of(c.y0 - 1 + r, c.s->in_height, plane.pitch);
        Filtered f = filter0(load_plane(c.fixed, plane, x, rows), c.fixed->depth);
        tile->filtered[picture][r][(j & 1) * T::HALF + (j >> 1)] =
            (int32_t)((uint32_t)(uint16_t)f.low | (uint32_t)f.high << 16);
    }
}

HV_INLINE void filter_rows(const Context &c, const HvAdmBuffers *buffers, const Plane &,
                           const Plane &, Tile<false> *tile)
{
    typedef Tile<false> T;
    uint32_t stride = c.fixed->scale[c.scale - 1].stride;
    int shift = c.s->vertical_shift & 63;
    for (int i = threadIdx.x; i < T::WORDS / 2; i += HV_ADM_BLOCK) {
        int picture = i / (T::SPAN_ROWS * T::WIDTH), r = i / T::WIDTH % T::SPAN_ROWS;
        int j = i % T::WIDTH, x = hv_adm_mirror(2 * c.x0 - 3 + j, c.s->in_width);
        Rows rows = rows_of(c.y0 - 1 + r, c.s->in_height, stride);
        Filtered f;
        if (c.scale == 1) {
            Taps t = load_band(buffers->low0[picture], x, rows);
            f.low = hv_adm_low16(t.s[0], t.s[1], t.s[2], t.s[3]);
            f.high = hv_adm_high16(t.s[0], t.s[1], t.s[2], t.s[3]);
        } else {
            Taps t =
                load_band(c.scale == 2 ? buffers->low1[picture] : buffers->low2[picture], x, rows);
            f.low = filter_low(t, shift);
            f.high = filter_high(t, shift);
        }
        int at = (j & 1) * T::HALF + (j >> 1);
        tile->filtered[2 * picture][r][at] = f.low;
        tile->filtered[2 * picture + 1][r][at] = f.high;
    }
}

template <typename T> HV_INLINE Taps taps_at(const T *tile, int plane, int r, int j)
{
    const int32_t *row = tile->filtered[plane][r] + j;
    return {{row[0], row[T::HALF], row[1], row[T::HALF + 1]}};
}

/* The bands of both pictures in slot (r, j) of the span. */
HV_INLINE Bands read_bands(const Context &, const Tile<true> *tile, int r, int j)
{
    int32_t band[2][ANGLES];
    HV_UNROLL
    for (int p = 0; p < 2; p++) {
        Taps low = taps_at(tile, p, r, j), high = low;
        HV_UNROLL
        for (int k = 0; k < 4; k++) {
            low.s[k] = (int16_t)low.s[k];
            high.s[k] >>= 16;
        }
        band[p][VERTICAL] = filter0(low, 16).high;
        band[p][HORIZONTAL] = filter0(high, 16).low;
        band[p][DIAGONAL] = filter0(high, 16).high;
    }
    return {{band[0][0], band[0][1], band[0][2]}, {band[1][0], band[1][1], band[1][2]}};
}

HV_INLINE Bands read_bands(const Context &c, const Tile<false> *tile, int r, int j)
{
    int shift = c.s->horizontal_shift & 63;
    int32_t band[2][ANGLES];
    HV_UNROLL
    for (int p = 0; p < 2; p++) {
        Taps low = taps_at(tile, 2 * p, r, j), high = taps_at(tile, 2 * p + 1, r, j);
        band[p][VERTICAL] = filter_high(low, shift);
        band[p][HORIZONTAL] = filter_low(high, shift);
        band[p][DIAGONAL] = filter_high(high, shift);
    }
    return {{band[0][0], band[0][1], band[0][2]}, {band[1][0], band[1][1], band[1][2]}};
}

template <bool FINEST>
HV_INLINE HvAdmSplit decouple(const HvAdmFixed *fixed, int32_t o, int32_t t, int aligned)
{
    if (!fixed->whole_limit)
        return hv_adm_decouple(o, t, aligned, fixed->limit);
    if (FINEST)
        return hv_adm_decouple0_whole(o, t, aligned, fixed->whole_limit);
    return hv_adm_decouple_whole(o, t, aligned, fixed->whole_limit);
}

/* What a part of a coefficient, in one band, contributes to masking and keeps. */
template <bool FINEST>
HV_INLINE uint32_t weigh(uint32_t factor, int angle, int32_t value, uint32_t *share, uint32_t *own)
{
    if (FINEST) {
        int32_t weighted =
            hv_adm_csf0((int32_t)((uint32_t)value * factor), angle == DIAGONAL ? 17 : 15,
                        angle == DIAGONAL ? 65535 : 16384);
        uint32_t share30 = (uint32_t)hv_adm_share30_0(weighted);
        *share += share30;
        *own += (uint32_t)hv_adm_share15_0(weighted) - share30;
        return hv_adm_abs((int32_t)((uint32_t)(int16_t)value * factor));
    }
    int32_t weighted = hv_adm_csf(value, factor);
    uint32_t share30 = (uint32_t)hv_adm_share30(weighted);
    *share += share30;
    *own += (uint32_t)hv_adm_share15(weighted) - share30;
    return hv_adm_abs(weighted);
}

/* Decouples the coefficient in slot (r, j) and leaves its shares in the tile. */
template <bool FINEST>
HV_INLINE void settle(const Context &c, Tile<FINEST> *tile, int r, int j, const Bands &b,
                      Kept *kept)
{
    int aligned = hv_adm_aligned_soon(b.o[0], b.o[1], b.t[0], b.t[1]);
    uint32_t share[PARTS] = {0, 0};
    kept->own[RESTORED] = kept->own[ADDITIVE] = 0;
    HV_UNROLL
    for (int angle = 0; angle < ANGLES; angle++) {
        HvAdmSplit split = decouple<FINEST>(c.fixed, b.o[angle], b.t[angle], aligned);
        uint32_t factor = c.s->i_factor[angle];
        kept->magnitude[RESTORED][angle] =
            weigh<FINEST>(factor, angle, split.restored, &share[RESTORED], &kept->own[RESTORED]);
        kept->magnitude[ADDITIVE][angle] =
            weigh<FINEST>(factor, angle, split.additive, &share[ADDITIVE], &kept->own[ADDITIVE]);
    }
    tile->share[r][j] = {share[RESTORED], share[ADDITIVE]};
}

/* Whether a coefficient is summed, or next to one that is. */
HV_INLINE bool is_needed(const HvAdmFixedScale *s, int x, int y)
{
    return x >= 0 && x < s->width && x <= s->right && y >= 0 && y < s->height && y <= s->bottom;
}

template <bool FINEST> HV_INLINE void settle_rim(const Context &c, Tile<FINEST> *tile)
{
    typedef Tile<FINEST> T;
    for (int i = threadIdx.x; i < T::RIM; i += HV_ADM_BLOCK) {
        int r, j;
        if (i < 2 * T::SPAN_COLUMNS) {
            r = i < T::SPAN_COLUMNS ? 0 : T::SPAN_ROWS - 1;
            j = i < T::SPAN_COLUMNS ? i : i - T::SPAN_COLUMNS;
        } else {
            r = 1 + ((i - 2 * T::SPAN_COLUMNS) >> 1);
            j = i & 1 ? T::SPAN_COLUMNS - 1 : 0;
        }
        if (!is_needed(c.s, c.x0 - 1 + j, c.y0 - 1 + r))
            continue;
        Kept kept;
        settle<FINEST>(c, tile, r, j, read_bands(c, tile, r, j), &kept);
    }
}

template <bool FINEST> HV_INLINE HvAdmTotal reference_cube(const HvAdmFixedScale *s, int32_t o)
{
    HvAdmTotal x = hv_adm_abs(o);
    if (FINEST)
        return x * x * x;
    return hv_adm_cube((uint32_t)x, s->den_square_shift & 63, s->den_cube_shift & 63);
}

/* The shares of a coefficient and its eight neighbours, those beyond the band mirrored. */
template <bool FINEST>
HV_INLINE Shares add_shares(const Context &c, const Tile<FINEST> *tile, int x, int y)
{
    Shares sum = {0, 0};
    int column[3] = {hv_adm_mirror(x - 1, c.s->width) - c.x0 + 1, x - c.x0 + 1,
                     hv_adm_mirror(x + 1, c.s->width) - c.x0 + 1};
    int row[3] = {hv_adm_mirror(y - 1, c.s->height) - c.y0 + 1, y - c.y0 + 1,
                  hv_adm_mirror(y + 1, c.s->height) - c.y0 + 1};
    HV_UNROLL
    for (int i = 0; i < 3; i++) {
        HV_UNROLL
        for (int k = 0; k < 3; k++) {
            Shares share = tile->share[row[i]][column[k]];
            sum.restored += share.restored;
            sum.additive += share.additive;
        }
    }
    return sum;
}

template <bool FINEST>
HV_INLINE void add_cubes(const HvAdmFixedScale *s, const uint32_t *magnitude, uint32_t threshold,
                         HvAdmTotal *total)
{
    HV_UNROLL
    for (int angle = 0; angle < ANGLES; angle++) {
        int up = !FINEST ? 0 : angle == DIAGONAL ? 12 : 10;
        int square = FINEST && angle != DIAGONAL ? 29 : 30;
        total[angle] += (HvAdmTotal)hv_adm_masked_cube(magnitude[angle], threshold << up, square,
                                                       s->cube_shift[angle] & 63);
    }
}

HV_INLINE void add_total(HV_GLOBAL(HvAdmTotal) at, HvAdmTotal value)
{
    atomicAdd((HvAdmTotal *)at, value);
}

/* Adds up the totals of each row of threads, and adds those to the picture's. */
HV_INLINE void reduce(const HvAdmFixedScale *s, int y0, const HvAdmTotal *total,
                      HV_GLOBAL(HvAdmTotal) totals, Reduction *reduction)
{
    int lane = threadIdx.x & 31, row = threadIdx.x >> 5;
    HV_UNROLL
    for (int k = 0; k < HV_ADM_TOTALS; k++)
        reduction->lane[row * HV_ADM_TOTALS + k][lane] = total[k];
    __syncthreads();
    int i = threadIdx.x, y = y0 + i / HV_ADM_TOTALS;
    if (i >= HV_ADM_TOTALS * HV_ADM_TILE_ROWS || y >= s->bottom)
        return;
    HvAdmTotal sum = 0;
    HV_UNROLL
    for (int k = 0; k < 32; k++)
        sum += reduction->lane[i][k];
    if (sum)
        add_total(totals + (s->first_row + (uint32_t)(y0 - s->top)) * HV_ADM_TOTALS + i, sum);
}

template <bool FINEST>
HV_INLINE void measure_tile(const Context &c, const HvAdmBuffers *buffers, const Plane &reference,
                            const Plane &distorted, BandsMemory *memory, Tile<FINEST> *tile)
{
    typedef Tile<FINEST> T;
    int x = c.x0 + (int)(threadIdx.x & 31), y = c.y0 + (int)(threadIdx.x >> 5);
    HvAdmTotal total[HV_ADM_TOTALS] = {0};
    Kept kept[T::EACH];
    filter_rows(c, buffers, reference, distorted, tile);
    __syncthreads();
    HV_UNROLL
    for (int k = 0; k < T::EACH; k++) {
        int r = y - c.y0 + 1, j = x - c.x0 + 1 + k * T::LANES;
        if (!is_needed(c.s, x + k * T::LANES, y))
            continue;
        Bands b = read_bands(c, tile, r, j);
        settle<FINEST>(c, tile, r, j, b, &kept[k]);
        if (x + k * T::LANES < c.s->right)
            HV_UNROLL
        for (int angle = 0; angle < ANGLES; angle++)
            total[angle] += reference_cube<FINEST>(c.s, b.o[angle]);
    }
    settle_rim<FINEST>(c, tile);
    __syncthreads();
    HV_UNROLL
    for (int k = 0; k < T::EACH; k++) {
        if (x + k * T::LANES >= c.s->right || y >= c.s->bottom)
            continue;
        Shares shares = add_shares<FINEST>(c, tile, x + k * T::LANES, y);
        add_cubes<FINEST>(c.s, kept[k].magnitude[RESTORED], shares.additive + kept[k].own[ADDITIVE],
                          total + 3);
        if (c.fixed->additive)
            add_cubes<FINEST>(c.s, kept[k].magnitude[ADDITIVE],
                              shares.restored + kept[k].own[RESTORED], total + 6);
    }
    __syncthreads();
    reduce(c.s, c.y0, total, buffers->totals, &memory->reduction);
}

/* Grid: columns of tiles, and rows of tiles of all scales, the last scale's first. */
HV_KERNEL(HV_ADM_BLOCK)
adm_bands(const HvAdmBuffers *buffers, const HvAdmFixed *fixed, uint32_t reference_pitch,
          uint32_t reference_shift, uint32_t distorted_pitch, uint32_t distorted_shift)
{
    __shared__ BandsMemory memory;
    Context c;
    c.fixed = fixed;
    c.scale = 3;
    while (c.scale > 0 && blockIdx.y >= fixed->scale[c.scale - 1].first_tile_row)
        c.scale--;
    c.s = &fixed->scale[c.scale];
    if (blockIdx.x >= c.s->tile_columns)
        return;
    c.x0 = c.s->left + (int)blockIdx.x * (c.scale ? HV_ADM_TILE_COLUMNS : HV_ADM_TILE_COLUMNS0);
    c.y0 = c.s->top + (int)(blockIdx.y - c.s->first_tile_row) * HV_ADM_TILE_ROWS;
    Plane reference = {buffers->luma[0], reference_pitch, (int)(reference_shift & 15)};
    Plane distorted = {buffers->luma[1], distorted_pitch, (int)(distorted_shift & 15)};
    if (c.scale == 0)
        measure_tile<true>(c, buffers, reference, distorted, &memory, &memory.finest);
    else
        measure_tile<false>(c, buffers, reference, distorted, &memory, &memory.other);
}

/* ---- From totals of rows to sums. ---- */

/* Grid: a block a scale. Each row's total is rounded once; `sums` are HvAdmSums, a scale each. */
HV_KERNEL(HV_ADM_FINISH_BLOCK)
adm_finish(const HvAdmFixed *fixed, HvAdmTotal *totals, HvAdmTotal *sums)
{
    __shared__ HvAdmTotal part[HV_ADM_FINISH_BLOCK];
    const HvAdmFixedScale *s = &fixed->scale[blockIdx.x];
    uint32_t thread = threadIdx.x, kind = thread % HV_ADM_TOTALS;
    uint32_t rows = (uint32_t)(s->bottom - s->top);
    int shift = (kind < ANGLES ? s->den_row_shift : s->row_shift) & 63;
    HvAdmTotal sum = 0;
    totals += s->first_row * HV_ADM_TOTALS;
    for (uint32_t i = thread; i < rows * HV_ADM_TOTALS; i += HV_ADM_FINISH_BLOCK) {
        sum += (HvAdmTotal)hv_adm_round_shift((int64_t)totals[i], shift);
        totals[i] = 0;
    }
    part[thread] = sum;
    for (uint32_t half = HV_ADM_FINISH_BLOCK / 2; half >= HV_ADM_TOTALS; half /= 2) {
        __syncthreads();
        if (thread < half)
            part[thread] += part[thread + half];
    }
    if (thread < HV_ADM_TOTALS)
        sums[blockIdx.x * HV_ADM_TOTALS + thread] = part[thread];
}
