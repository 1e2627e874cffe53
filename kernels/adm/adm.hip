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

/* Four samples side by side. */
struct Quad {
    int32_t s[4];
};

HV_INLINE Taps column_of(const Quad *row, int k)
{
    return {{row[0].s[k], row[1].s[k], row[2].s[k], row[3].s[k]}};
}

/* Rows of samples that filters read: of a plane or of a low band. */
template <typename Sample> struct Rows {
    HV_GLOBAL(const uint8_t) data;
    uint32_t pitch; /* bytes */
    int width, height;
    int shift, depth; /* of a plane's words */
};

typedef uint8_t Byte;
typedef uint16_t Word;
typedef int16_t Low0; /* of scale 0's low band */
typedef int32_t Low;

HV_INLINE int32_t value_of(const Rows<Byte> &, int32_t word)
{
    return hv_adm_centred(word, 0, 8);
}

HV_INLINE int32_t value_of(const Rows<Word> &rows, int32_t word)
{
    return hv_adm_centred(word, rows.shift, rows.depth);
}

HV_INLINE int32_t value_of(const Rows<Low0> &, int32_t word)
{
    return word;
}

HV_INLINE int32_t value_of(const Rows<Low> &, int32_t word)
{
    return word;
}

/* Four samples at once: planes and low bands begin, and their rows lie, at multiples of 16 bytes.
 */
HV_INLINE Quad load_quad(const Rows<Byte> &, HV_GLOBAL(const uint8_t) at)
{
    uint32_t words = *(HV_GLOBAL(const uint32_t))at;
    return {{hv_adm_centred8(words, 0), hv_adm_centred8(words, 1), hv_adm_centred8(words, 2),
             hv_adm_centred8(words, 3)}};
}

HV_INLINE Quad load_quad(const Rows<Word> &rows, HV_GLOBAL(const uint8_t) at)
{
    uint64_t words = *(HV_GLOBAL(const uint64_t))at;
    return {{value_of(rows, (uint16_t)words), value_of(rows, (uint16_t)(words >> 16)),
             value_of(rows, (uint16_t)(words >> 32)), value_of(rows, (uint16_t)(words >> 48))}};
}

HV_INLINE Quad load_quad(const Rows<Low0> &, HV_GLOBAL(const uint8_t) at)
{
    uint64_t words = *(HV_GLOBAL(const uint64_t))at;
    return {
        {(int16_t)words, (int16_t)(words >> 16), (int16_t)(words >> 32), (int16_t)(words >> 48)}};
}

HV_INLINE Quad load_quad(const Rows<Low> &, HV_GLOBAL(const uint8_t) at)
{
    HV_GLOBAL(const uint64_t) words = (HV_GLOBAL(const uint64_t))at;
    uint64_t left = words[0], right = words[1];
    return {{(int32_t)left, (int32_t)(left >> 32), (int32_t)right, (int32_t)(right >> 32)}};
}

/* Columns x to x + 3, x a multiple of 4, of N rows from y on, mirrored where there is none. */
template <int N, typename Sample>
HV_INLINE void load_quads(const Rows<Sample> &rows, int x, int y, Quad *quad)
{
    uint32_t at[N];
    if (y >= 0 && y + N <= rows.height) {
        HV_UNROLL
        for (int k = 0; k < N; k++)
            at[k] = (uint32_t)(y + k) * rows.pitch;
    } else {
        HV_UNROLL
        for (int k = 0; k < N; k++)
            at[k] = (uint32_t)hv_adm_mirror(y + k, rows.height) * rows.pitch;
    }
    if (x >= 0 && x + 4 <= rows.width) {
        HV_UNROLL
        for (int k = 0; k < N; k++)
            quad[k] = load_quad(rows, rows.data + at[k] + (uint32_t)x * sizeof(Sample));
        return;
    }
    HV_UNROLL
    for (int j = 0; j < 4; j++) {
        uint32_t column = (uint32_t)hv_adm_mirror(x + j, rows.width) * sizeof(Sample);
        HV_UNROLL
        for (int k = 0; k < N; k++)
            quad[k].s[j] = value_of(rows, *(HV_GLOBAL(const Sample))(rows.data + at[k] + column));
    }
}

template <typename Sample>
HV_INLINE Rows<Sample> plane_rows(const HvAdmFixed *fixed, const Plane &plane)
{
    const HvAdmFixedScale *s = &fixed->scale[0];
    return {plane.data, plane.pitch, s->in_width, s->in_height, plane.shift, fixed->depth};
}

template <typename Sample>
HV_INLINE Rows<Sample> band_rows(HV_GLOBAL(const Sample) band, const HvAdmFixedScale *of)
{
    return {(HV_GLOBAL(const uint8_t))band,
            of->stride * (uint32_t)sizeof(Sample),
            of->width,
            of->height,
            0,
            0};
}

/* Two words that are read or written at once. */
struct alignas(8) Pair {
    int32_t first, second;
};

HV_INLINE int32_t join_halves(int32_t low, int32_t high)
{
    return (int32_t)((uint32_t)(uint16_t)low | (uint32_t)high << 16);
}

/* ---- The low bands. A block makes a tile of scale 2's from the picture, and on the way the parts
 * of scale 0's and 1's above it. ---- */

enum {
    TILE2_X = HV_ADM_PYRAMID_COLUMNS,
    TILE2_Y = HV_ADM_PYRAMID_ROWS,
    /* With what the filters reach: one before, one after. Columns that lie side by side in words
     * begin further left, so that the first is a multiple of 4. */
    SPAN1_X = 2 * TILE2_X + 2,
    SPAN1_Y = 2 * TILE2_Y + 2,
    SPAN0_X = 4 * TILE2_X + 8,
    SPAN0_Y = 2 * SPAN1_Y + 2,
    SPAN_X = 8 * TILE2_X + 16,
    /* Rows that a thread filters in one go, four and two columns wide. */
    RUN0 = 3,
    RUN1 = 3
};

struct PyramidMemory {
    int32_t low0[SPAN0_Y][SPAN0_X / 2]; /* two samples a word */
    union {
        Pair vertical0[SPAN0_Y][SPAN_X / 4]; /* two samples a word */
        struct {
            Pair vertical1[SPAN1_Y][SPAN0_X / 2];
            int32_t low1[SPAN1_Y][SPAN1_X];
            int32_t vertical2[TILE2_Y][SPAN1_X];
        };
    };
};

/* Four samples around column 2x of a row that begins with column `first`, of n in all. */
HV_INLINE Taps taps_in_row(const int32_t *row, int x, int first, int n)
{
    Taps t;
    HV_UNROLL
    for (int k = 0; k < 4; k++)
        t.s[k] = row[hv_adm_mirror(2 * x - 1 + k, n) - first];
    return t;
}

/* Likewise four samples around row 2y of a column. */
HV_INLINE Taps taps_in_column(const int32_t *column, int stride, int y, int first, int n)
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

/* Rows before the first and after the last hold what nobody reads. */
template <typename Sample>
HV_INLINE void pyramid0_vertical(const HvAdmFixed *fixed, const Rows<Sample> &rows,
                                 const Origin &at, PyramidMemory *memory)
{
    constexpr int QUADS = SPAN_X / 4, RUNS = (SPAN0_Y + RUN0 - 1) / RUN0;
    for (int i = threadIdx.x; i < QUADS * RUNS; i += HV_ADM_BLOCK) {
        int q = i % QUADS, first = i / QUADS * RUN0, x = at.x + 4 * q;
        Quad row[2 * RUN0 + 2];
        load_quads<2 * RUN0 + 2>(rows, x, 2 * (at.y0 + first) - 1, row);
        HV_UNROLL
        for (int k = 0; k < RUN0; k++) {
            int32_t low[4];
            HV_UNROLL
            for (int j = 0; j < 4; j++)
                low[j] = filter0(column_of(row + 2 * k, j), fixed->depth).low;
            if (first + k < SPAN0_Y)
                memory->vertical0[first + k][q] = {join_halves(low[0], low[1]),
                                                   join_halves(low[2], low[3])};
        }
    }
}

HV_INLINE void pyramid0(const HvAdmFixed *fixed, const Plane &plane, HV_GLOBAL(int16_t) out,
                        const Origin &at, PyramidMemory *memory)
{
    constexpr int PAIRS = SPAN0_X / 2;
    const HvAdmFixedScale *s = &fixed->scale[0];
    if (fixed->sample_bytes == 1)
        pyramid0_vertical(fixed, plane_rows<Byte>(fixed, plane), at, memory);
    else
        pyramid0_vertical(fixed, plane_rows<Word>(fixed, plane), at, memory);
    __syncthreads();
    for (int i = threadIdx.x; i < SPAN0_Y * PAIRS; i += HV_ADM_BLOCK) {
        int r = i / PAIRS, p = i % PAIRS, y = at.y0 + r, x = at.x0 + 2 * p;
        const int32_t *word = (const int32_t *)memory->vertical0[r] + 2 * p;
        /* what the first and the last column of the span would need beyond the row is not there:
         * nobody needs them */
        int32_t before = word[p ? -1 : 0], a = word[0], b = word[1];
        int32_t after = word[p + 1 < PAIRS ? 2 : 1];
        Taps left = {{before >> 16, (int16_t)a, a >> 16, (int16_t)b}};
        Taps right = {{a >> 16, (int16_t)b, b >> 16, (int16_t)after}};
        int32_t low = join_halves(filter0(left, 16).low, filter0(right, 16).low);
        memory->low0[r][p] = low;
        if (y >= 4 * at.y2 && y < 4 * (at.y2 + TILE2_Y) && y < s->height && x >= 4 * at.x2 &&
            x < 4 * (at.x2 + TILE2_X) && x < s->width)
            *(HV_GLOBAL(int32_t))(out + (uint32_t)y * s->stride + (uint32_t)x) = low;
    }
    __syncthreads();
}

/* Columns before the first and after the last hold what nobody reads. */
HV_INLINE void pyramid1_vertical(const HvAdmFixedScale *s, const Origin &at, PyramidMemory *memory)
{
    constexpr int PAIRS = SPAN0_X / 2, RUNS = SPAN1_Y / RUN1;
    static_assert(SPAN1_Y % RUN1 == 0, "whole runs");
    for (int i = threadIdx.x; i < PAIRS * RUNS; i += HV_ADM_BLOCK) {
        int p = i % PAIRS, first = i / PAIRS * RUN1;
        Quad row[2 * RUN1 + 2];
        HV_UNROLL
        for (int k = 0; k < 2 * RUN1 + 2; k++) {
            int r = hv_adm_mirror(2 * (at.y1 + first) - 1 + k, s->in_height) - at.y0;
            r = r < 0 ? 0 : r >= SPAN0_Y ? SPAN0_Y - 1 : r;
            int32_t word = memory->low0[r][p];
            row[k].s[0] = (int16_t)word;
            row[k].s[1] = word >> 16;
        }
        HV_UNROLL
        for (int k = 0; k < RUN1; k++) {
            Taps a = column_of(row + 2 * k, 0), b = column_of(row + 2 * k, 1);
            memory->vertical1[first + k][p] = {hv_adm_low16(a.s[0], a.s[1], a.s[2], a.s[3]),
                                               hv_adm_low16(b.s[0], b.s[1], b.s[2], b.s[3])};
        }
    }
}

HV_INLINE void pyramid1(const HvAdmFixed *fixed, HV_GLOBAL(int32_t) out, const Origin &at,
                        PyramidMemory *memory)
{
    const HvAdmFixedScale *s = &fixed->scale[1];
    pyramid1_vertical(s, at, memory);
    __syncthreads();
    for (int i = threadIdx.x; i < SPAN1_Y * SPAN1_X; i += HV_ADM_BLOCK) {
        int r = i / SPAN1_X, c = i % SPAN1_X, y = at.y1 + r, x = at.x1 + c;
        if (y < 0 || y >= s->height || x < 0 || x >= s->width)
            continue;
        Taps t = taps_in_row((const int32_t *)memory->vertical1[r], x, at.x0, s->in_width);
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
adm_pyramid(const HvAdmBuffers *__restrict__ buffers, const HvAdmFixed *__restrict__ fixed,
            uint32_t reference_pitch, uint32_t reference_shift, uint32_t distorted_pitch,
            uint32_t distorted_shift)
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
    at.x0 = 4 * at.x2 - 4;
    at.y0 = 2 * at.y1 - 1;
    at.x = 8 * at.x2 - 8;
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
    /* Columns of the vertical filters' results, from 2 * x0 - 4 on; those of even number come
     * first in a row. */
    static constexpr int HALF = SPAN_COLUMNS + 2, WIDTH = 2 * HALF, QUADS = WIDTH / 4;
    /* Rows that a thread filters in one go. */
    static constexpr int RUN = FINEST ? 2 : 1, RUNS = SPAN_ROWS / RUN;
    /* Words of a filtered sample: low and high in one at scale 0. */
    static constexpr int PLANES = FINEST ? 2 : 4;

    static_assert(SPAN_ROWS % RUN == 0, "whole runs");

    Pair filtered[PLANES][SPAN_ROWS][WIDTH / 2];
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

/* What a thread keeps of a coefficient until its neighbours' shares are known: by part and angle,
 * magnitudes after contrast sensitivity; at scale 0, to save registers, both parts as they are, of
 * 16 bits each, in one word. */
template <bool FINEST> struct Kept {
    uint32_t magnitude[PARTS][ANGLES], own[PARTS];
};

template <> struct Kept<true> {
    int32_t split[ANGLES];
    uint32_t own[PARTS];
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

/* Writes four columns of a row, the even ones and the odd ones. */
template <typename T> HV_INLINE void store_quad(Pair *row, int q, const int32_t *s)
{
    row[q] = {s[0], s[2]};
    row[T::HALF / 2 + q] = {s[1], s[3]};
}

/* Fills tile->filtered for both pictures: row r is y0 - 1 + r. */
template <typename Sample>
HV_INLINE void filter_planes(const Context &c, const Plane &reference, const Plane &distorted,
                             Tile<true> *tile)
{
    typedef Tile<true> T;
    for (int i = threadIdx.x; i < 2 * T::QUADS * T::RUNS; i += HV_ADM_BLOCK) {
        int q = i % T::QUADS, picture = i / T::QUADS & 1, first = i / (2 * T::QUADS) * T::RUN;
        Plane plane = {picture ? distorted.data : reference.data,
                       picture ? distorted.pitch : reference.pitch,
                       picture ? distorted.shift : reference.shift};
        Quad row[2 * T::RUN + 2];
        load_quads<2 * T::RUN + 2>(plane_rows<Sample>(c.fixed, plane), 2 * c.x0 - 4 + 4 * q,
                                   2 * (c.y0 - 1 + first) - 1, row);
        HV_UNROLL
        for (int k = 0; k < T::RUN; k++) {
            int32_t word[4];
            HV_UNROLL
            for (int j = 0; j < 4; j++) {
                Filtered f = filter0(column_of(row + 2 * k, j), c.fixed->depth);
                word[j] = join_halves(f.low, f.high);
            }
            store_quad<T>(tile->filtered[picture][first + k], q, word);
        }
    }
}

template <typename Sample>
HV_INLINE void filter_bands(const Context &c, HV_GLOBAL(Sample) reference,
                            HV_GLOBAL(Sample) distorted, Tile<false> *tile)
{
    typedef Tile<false> T;
    const HvAdmFixedScale *above = &c.fixed->scale[c.scale - 1];
    int shift = c.s->vertical_shift & 63;
    for (int i = threadIdx.x; i < 2 * T::QUADS * T::RUNS; i += HV_ADM_BLOCK) {
        int q = i % T::QUADS, picture = i / T::QUADS & 1, first = i / (2 * T::QUADS) * T::RUN;
        Quad row[2 * T::RUN + 2];
        load_quads<2 * T::RUN + 2>(band_rows<Sample>(picture ? distorted : reference, above),
                                   2 * c.x0 - 4 + 4 * q, 2 * (c.y0 - 1 + first) - 1, row);
        HV_UNROLL
        for (int k = 0; k < T::RUN; k++) {
            int32_t low[4], high[4];
            HV_UNROLL
            for (int j = 0; j < 4; j++) {
                Taps t = column_of(row + 2 * k, j);
                /* scale 1 keeps every bit, and 32 hold them */
                low[j] = sizeof(Sample) == 2 ? hv_adm_low16(t.s[0], t.s[1], t.s[2], t.s[3])
                                             : filter_low(t, shift);
                high[j] = sizeof(Sample) == 2 ? hv_adm_high16(t.s[0], t.s[1], t.s[2], t.s[3])
                                              : filter_high(t, shift);
            }
            store_quad<T>(tile->filtered[2 * picture][first + k], q, low);
            store_quad<T>(tile->filtered[2 * picture + 1][first + k], q, high);
        }
    }
}

HV_INLINE void filter_low_bands(const Context &c, const HvAdmBuffers *buffers, Tile<false> *tile)
{
    if (c.scale == 1)
        filter_bands<Low0>(c, buffers->low0[0], buffers->low0[1], tile);
    else if (c.scale == 2)
        filter_bands<Low>(c, buffers->low1[0], buffers->low1[1], tile);
    else
        filter_bands<Low>(c, buffers->low2[0], buffers->low2[1], tile);
}

template <typename T> HV_INLINE Taps taps_at(const T *tile, int plane, int r, int j)
{
    const int32_t *even = (const int32_t *)tile->filtered[plane][r] + j, *odd = even + T::HALF;
    return {{odd[0], even[1], odd[1], even[2]}};
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
    if (FINEST)
        return hv_adm_decouple0(o, t, aligned, fixed->limit, fixed->whole_limit);
    return hv_adm_decouple(o, t, aligned, fixed->limit, fixed->whole_limit);
}

/* Adds what a part of a coefficient, in one band, contributes to masking. */
HV_INLINE void weigh0(uint32_t factor, int angle, int32_t value, uint32_t *share, uint32_t *own)
{
    int32_t product = (int32_t)((uint32_t)value * factor);
    int32_t weighted =
        hv_adm_csf0(product, angle == DIAGONAL ? 17 : 15, angle == DIAGONAL ? 65535 : 16384);
    uint32_t share30 = (uint32_t)hv_adm_share30_0(weighted);
    *share += share30;
    *own += (uint32_t)hv_adm_share15_0(weighted) - share30;
}

/* The same at scales 1 to 3; returns the magnitude. */
HV_INLINE uint32_t weigh(uint32_t factor, int32_t value, uint32_t *share, uint32_t *own)
{
    int32_t weighted = hv_adm_csf(value, factor);
    uint32_t share30 = (uint32_t)hv_adm_share30(weighted);
    *share += share30;
    *own += (uint32_t)hv_adm_share15(weighted) - share30;
    return hv_adm_abs(weighted);
}

HV_INLINE void keep(uint32_t factor, int angle, HvAdmSplit split, uint32_t *share, Kept<true> *kept)
{
    weigh0(factor, angle, split.restored, &share[RESTORED], &kept->own[RESTORED]);
    weigh0(factor, angle, split.additive, &share[ADDITIVE], &kept->own[ADDITIVE]);
    kept->split[angle] = join_halves(split.restored, split.additive);
}

HV_INLINE void keep(uint32_t factor, int angle, HvAdmSplit split, uint32_t *share,
                    Kept<false> *kept)
{
    kept->magnitude[RESTORED][angle] =
        weigh(factor, split.restored, &share[RESTORED], &kept->own[RESTORED]);
    kept->magnitude[ADDITIVE][angle] =
        weigh(factor, split.additive, &share[ADDITIVE], &kept->own[ADDITIVE]);
}

HV_INLINE uint32_t magnitude_of(uint32_t factor, int part, int angle, const Kept<true> &kept)
{
    int32_t value = part == RESTORED ? (int16_t)kept.split[angle] : kept.split[angle] >> 16;
    return hv_adm_abs((int32_t)((uint32_t)value * factor));
}

HV_INLINE uint32_t magnitude_of(uint32_t, int part, int angle, const Kept<false> &kept)
{
    return kept.magnitude[part][angle];
}

/* Decouples the coefficient in slot (r, j) and leaves its shares in the tile. */
template <bool FINEST>
HV_INLINE void settle(const Context &c, Tile<FINEST> *tile, int r, int j, const Bands &b,
                      Kept<FINEST> *kept)
{
    int aligned = hv_adm_aligned_soon(b.o[0], b.o[1], b.t[0], b.t[1]);
    uint32_t share[PARTS] = {0, 0};
    kept->own[RESTORED] = kept->own[ADDITIVE] = 0;
    HV_UNROLL
    for (int angle = 0; angle < ANGLES; angle++)
        keep(c.s->i_factor[angle], angle,
             decouple<FINEST>(c.fixed, b.o[angle], b.t[angle], aligned), share, kept);
    tile->share[r][j] = {share[RESTORED], share[ADDITIVE]};
}

/* Whether a column is one of those that are summed. */
HV_INLINE bool is_summed(const HvAdmFixedScale *s, int x)
{
    return x >= s->left && x < s->right;
}

/* Whether a coefficient is summed, or next to one that is. */
HV_INLINE bool is_needed(const HvAdmFixedScale *s, int x, int y)
{
    return x >= 0 && x >= s->left - 1 && x < s->width && x <= s->right && y >= 0 && y < s->height &&
           y <= s->bottom;
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
        Kept<FINEST> kept;
        settle<FINEST>(c, tile, r, j, read_bands(c, tile, r, j), &kept);
    }
}

template <bool FINEST>
HV_INLINE void add_reference(const HvAdmFixedScale *s, const int32_t *o, HvAdmTotal *total)
{
    HV_UNROLL
    for (int angle = 0; angle < ANGLES; angle++) {
        HvAdmTotal x = hv_adm_abs(o[angle]);
        total[angle] +=
            FINEST ? x * x * x
                   : hv_adm_cube((uint32_t)x, s->den_square_shift & 63, s->den_cube_shift & 63);
    }
}

/* The shares of a coefficient and its eight neighbours, those beyond the band mirrored. */
template <bool FINEST>
HV_INLINE Shares add_shares(const Context &c, const Tile<FINEST> *tile, int x, int y)
{
    Shares sum = {0, 0};
    if (c.s->left > 0 && c.s->top > 0) {
        const Shares *first = &tile->share[y - c.y0][x - c.x0];
        HV_UNROLL
        for (int i = 0; i < 9; i++) {
            sum.restored += first[i / 3 * Tile<FINEST>::SPAN_COLUMNS + i % 3].restored;
            sum.additive += first[i / 3 * Tile<FINEST>::SPAN_COLUMNS + i % 3].additive;
        }
        return sum;
    }
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
HV_INLINE void add_cubes(const HvAdmFixedScale *s, int part, const Kept<FINEST> &kept,
                         uint32_t threshold, HvAdmTotal *total)
{
    HV_UNROLL
    for (int angle = 0; angle < ANGLES; angle++) {
        int up = !FINEST ? 0 : angle == DIAGONAL ? 12 : 10;
        int square = FINEST && angle != DIAGONAL ? 29 : 30;
        uint32_t magnitude = magnitude_of(s->i_factor[angle], part, angle, kept);
        total[angle] += (HvAdmTotal)hv_adm_masked_cube(magnitude, threshold << up, square,
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

/* From the filtered rows in the tile to totals. */
template <bool FINEST>
HV_INLINE void measure_tile(const Context &c, HV_GLOBAL(HvAdmTotal) totals, BandsMemory *memory,
                            Tile<FINEST> *tile)
{
    typedef Tile<FINEST> T;
    int x = c.x0 + (int)(threadIdx.x & 31), y = c.y0 + (int)(threadIdx.x >> 5);
    HvAdmTotal total[HV_ADM_TOTALS] = {0};
    Kept<FINEST> kept[T::EACH];
    __syncthreads();
    settle_rim<FINEST>(c, tile); /* first, while little is kept in registers */
    HV_UNROLL
    for (int k = 0; k < T::EACH; k++) {
        int r = y - c.y0 + 1, j = x - c.x0 + 1 + k * T::LANES;
        if (!is_needed(c.s, x + k * T::LANES, y))
            continue;
        Bands b = read_bands(c, tile, r, j);
        settle<FINEST>(c, tile, r, j, b, &kept[k]);
        if (is_summed(c.s, x + k * T::LANES))
            add_reference<FINEST>(c.s, b.o, total);
    }
    __syncthreads();
    HV_UNROLL
    for (int k = 0; k < T::EACH; k++) {
        if (!is_summed(c.s, x + k * T::LANES) || y >= c.s->bottom)
            continue;
        Shares shares = add_shares<FINEST>(c, tile, x + k * T::LANES, y);
        add_cubes<FINEST>(c.s, RESTORED, kept[k], shares.additive + kept[k].own[ADDITIVE],
                          total + 3);
        if (c.fixed->additive)
            add_cubes<FINEST>(c.s, ADDITIVE, kept[k], shares.restored + kept[k].own[RESTORED],
                              total + 6);
    }
    __syncthreads();
    reduce(c.s, c.y0, total, totals, &memory->reduction);
}

/* Grid: columns of tiles, and rows of tiles of all scales, the last scale's first. */
HV_KERNEL(HV_ADM_BLOCK)
adm_bands(const HvAdmBuffers *__restrict__ buffers, const HvAdmFixed *__restrict__ fixed,
          uint32_t reference_pitch, uint32_t reference_shift, uint32_t distorted_pitch,
          uint32_t distorted_shift)
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
    c.x0 =
        (c.s->left & ~1) + (int)blockIdx.x * (c.scale ? HV_ADM_TILE_COLUMNS : HV_ADM_TILE_COLUMNS0);
    c.y0 = c.s->top + (int)(blockIdx.y - c.s->first_tile_row) * HV_ADM_TILE_ROWS;
    if (c.scale == 0) {
        Plane reference = {buffers->luma[0], reference_pitch, (int)(reference_shift & 15)};
        Plane distorted = {buffers->luma[1], distorted_pitch, (int)(distorted_shift & 15)};
        if (fixed->sample_bytes == 1)
            filter_planes<Byte>(c, reference, distorted, &memory.finest);
        else
            filter_planes<Word>(c, reference, distorted, &memory.finest);
        measure_tile<true>(c, buffers->totals, &memory, &memory.finest);
    } else {
        filter_low_bands(c, buffers, &memory.other);
        measure_tile<false>(c, buffers->totals, &memory, &memory.other);
    }
}

/* ---- From totals of rows to sums. ---- */

/* Totals that a thread reads before it goes on. */
enum { FINISH_RUN = 8 };

/* Grid: a block a scale. Each row's total is rounded once; `sums` are HvAdmSums, a scale each. */
HV_KERNEL(HV_ADM_FINISH_BLOCK)
adm_finish(const HvAdmFixed *__restrict__ fixed, HvAdmTotal *totals, HvAdmTotal *sums)
{
    __shared__ HvAdmTotal part[HV_ADM_FINISH_BLOCK];
    const HvAdmFixedScale *s = &fixed->scale[blockIdx.x];
    uint32_t thread = threadIdx.x, kind = thread % HV_ADM_TOTALS;
    uint32_t rows = (uint32_t)(s->bottom - s->top);
    int shift = (kind < ANGLES ? s->den_row_shift : s->row_shift) & 63;
    HvAdmTotal sum = 0;
    totals += s->first_row * HV_ADM_TOTALS;
    for (uint32_t i = thread; i < rows * HV_ADM_TOTALS; i += FINISH_RUN * HV_ADM_FINISH_BLOCK) {
        HvAdmTotal total[FINISH_RUN];
        HV_UNROLL
        for (uint32_t k = 0; k < FINISH_RUN; k++) {
            uint32_t at = i + k * HV_ADM_FINISH_BLOCK;
            total[k] = at < rows * HV_ADM_TOTALS ? totals[at] : 0;
        }
        HV_UNROLL
        for (uint32_t k = 0; k < FINISH_RUN; k++) {
            uint32_t at = i + k * HV_ADM_FINISH_BLOCK;
            sum += (HvAdmTotal)hv_adm_round_shift((int64_t)total[k], shift);
            if (at < rows * HV_ADM_TOTALS)
                totals[at] = 0;
        }
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
