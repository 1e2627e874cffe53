/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion's hot loop: differences of a row, the vertical filter over five of them, the horizontal
 * one, and the sum. Plain loops over 32-bit lanes, which the compiler vectorises; up to 14 bits,
 * where there are vectors, products of 16-bit lanes. */
#include "kernels/cpu/vec.h"
#include "kernels/motion/motion_hot.h"

#include <string.h>

static int is_narrow(const HvMotionBlock *block)
{
    return block->format->depth <= HV_MOTION_NARROW_DEPTH;
}

static const void *current_row(const HvMotionBlock *block, int row)
{
    return (const char *)block->current->data + row * block->current->stride;
}

/* How a word becomes a sample: bits above the depth do not count. */
typedef struct Unpack {
    unsigned shift;
    uint16_t mask;
} Unpack;

static Unpack unpacking(const HvMotionBlock *block)
{
    unsigned depth = block->format->depth;
    return (Unpack){block->current->shift, (uint16_t)((1u << depth) - 1)};
}

static void copy16(uint16_t *restrict out, const uint16_t *from, Unpack unpack, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = (uint16_t)(from[j] >> unpack.shift & unpack.mask);
}

static void copy_row(const HvMotionBlock *block, int row)
{
    void *to = (char *)block->copy + row * block->stride;
    if (block->format->depth == 8)
        memcpy(to, current_row(block, row), block->format->width);
    else
        copy16(to, current_row(block, row), unpacking(block), block->format->width);
}

static void subtract8(int16_t *restrict out, const uint8_t *a, const uint8_t *b, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = (int16_t)(a[j] - b[j]);
}

static void subtract_narrow(int16_t *restrict out, const uint16_t *a, const uint16_t *b,
                            Unpack unpack, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = (int16_t)(a[j] - (b[j] >> unpack.shift & unpack.mask));
}

static void subtract_wide(int32_t *restrict out, const uint16_t *a, const uint16_t *b,
                          Unpack unpack, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = a[j] - (b[j] >> unpack.shift & unpack.mask);
}

static void subtract_row(const HvMotionBlock *block, int row)
{
    unsigned width = block->format->width;
    void *out = block->scratch->difference[row % HV_MOTION_TAPS];
    const void *a = (const char *)block->earlier + row * block->stride;
    const void *b = current_row(block, row);
    if (block->format->depth == 8)
        subtract8(out, a, b, width);
    else if (is_narrow(block))
        subtract_narrow(out, a, b, unpacking(block), width);
    else
        subtract_wide(out, a, b, unpacking(block), width);
}

static void filter_narrow(int32_t *restrict out, const int16_t *const *d, unsigned width, int bits)
{
    const int16_t *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4];
    for (unsigned j = 0; j < width; j++)
        out[j] = hv_motion_filter(d0[j] + d4[j], d1[j] + d3[j], d2[j], bits);
}

static void filter_wide(int32_t *restrict out, const int32_t *const *d, unsigned width, int bits)
{
    const int32_t *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4];
    for (unsigned j = 0; j < width; j++)
        out[j] = hv_motion_filter(d0[j] + d4[j], d1[j] + d3[j], d2[j], bits);
}

/* The rows of differences that the filter takes for one row. */
static void find_rows(const HvMotionBlock *block, int row, const void **d)
{
    int height = (int)block->format->height;
    for (int k = 0; k < HV_MOTION_TAPS; k++)
        d[k] =
            block->scratch
                ->difference[hv_motion_mirror(row - HV_MOTION_RADIUS + k, height) % HV_MOTION_TAPS];
}

static void filter_columns(const HvMotionBlock *block, int row)
{
    int depth = (int)block->format->depth;
    const void *d[HV_MOTION_TAPS];
    find_rows(block, row, d);
    if (is_narrow(block))
        filter_narrow(block->scratch->filtered, (const int16_t *const *)d, block->format->width,
                      depth);
    else
        filter_wide(block->scratch->filtered, (const int32_t *const *)d, block->format->width,
                    depth);
}

static uint32_t magnitude(int32_t x)
{
    return (uint32_t)(x < 0 ? -x : x);
}

/* No row of up to 65537 samples exceeds 32 bits. */
static uint32_t filter_row(int32_t *y, int width)
{
    uint32_t sum = 0;
    for (int k = 1; k <= HV_MOTION_RADIUS; k++) {
        y[-k] = y[hv_motion_mirror(-k, width)];
        y[width - 1 + k] = y[hv_motion_mirror(width - 1 + k, width)];
    }
    for (int j = 0; j < width; j++)
        sum += magnitude(
            hv_motion_filter(y[j - 2] + y[j + 2], y[j - 1] + y[j + 1], y[j], HV_MOTION_ROW_BITS));
    return sum;
}

static uint32_t measure_row(const HvMotionBlock *block, int row)
{
    filter_columns(block, row);
    return filter_row(block->scratch->filtered, (int)block->format->width);
}

#ifdef HV_VEC

/* Both 16-bit halves of a 32-bit lane. */
static inline HvVec pair(int low, int high)
{
    return hv_set_s32((int32_t)((uint32_t)low | (uint32_t)high << 16));
}

/* One half of the lanes: taps times samples, in pairs, the rounding term times 1. */
static inline HvVec column_sum(HvVec outer_inner, HvVec centre_one, HvVec taps, HvVec centre,
                               int bits)
{
    HvVec sum = hv_add_products(hv_mul_add_pairs(outer_inner, taps), centre_one, centre);
    return hv_shift_right_s32_by(sum, bits);
}

/* The row that comes in by the last tap: of which it is the difference, and where that and its copy
 * go; and the row that comes in next. */
typedef struct Entering {
    const void *current, *earlier, *current_ahead, *earlier_ahead;
    int16_t *difference;
    void *copy; /* NULL: another block copies it */
    Unpack unpack;
} Entering;

static Entering entering_row(const HvMotionBlock *block, int row)
{
    int ahead = MIN(row + 1, (int)block->format->height - 1);
    Entering e = {.current = current_row(block, row),
                  .earlier = (const char *)block->earlier + row * block->stride,
                  .current_ahead = current_row(block, ahead),
                  .earlier_ahead = (const char *)block->earlier + ahead * block->stride,
                  .difference = block->scratch->difference[row % HV_MOTION_TAPS],
                  .unpack = unpacking(block)};
    if (row < block->last)
        e.copy = (char *)block->copy + row * block->stride;
    return e;
}

/* By itself. */
static void enter_row(const HvMotionBlock *block, int row)
{
    if (row < block->last)
        copy_row(block, row);
    subtract_row(block, row);
}

/* Its difference at 2 * HV_LANES columns. */
static inline HvVec enter(const Entering *e, int j, gboolean bytes)
{
    HvVec now, before;
    int at = bytes ? j : 2 * j;
    hv_prefetch((const char *)e->current_ahead + at);
    hv_prefetch((const char *)e->earlier_ahead + at);
    if (bytes) {
        now = hv_load_u8_s16((const uint8_t *)e->current + j);
        before = hv_load_u8_s16((const uint8_t *)e->earlier + j);
        if (e->copy)
            memcpy((uint8_t *)e->copy + j, (const uint8_t *)e->current + j, 2 * HV_LANES);
    } else {
        now = hv_shift_right_u16_by(hv_load((const uint16_t *)e->current + j), e->unpack.shift);
        now = hv_and(now, hv_set_s16(e->unpack.mask));
        before = hv_load((const uint16_t *)e->earlier + j);
        if (e->copy)
            hv_store((uint16_t *)e->copy + j, now);
    }
    HvVec difference = hv_sub_s16(before, now);
    hv_store(e->difference + j, difference);
    return difference;
}

/* Filtered samples of 2 * HV_LANES columns, in the order of unpacking. */
typedef struct Columns {
    HvVec low, high;
} Columns;

/* `last` is what the last tap takes. */
static inline Columns filter_columns_at(const int16_t *const *d, HvVec last, int j, int bits)
{
    HvVec one = hv_set_s16(1), taps = pair(HV_MOTION_OUTER, HV_MOTION_INNER);
    HvVec centre = pair(HV_MOTION_CENTRE, 1 << (bits - 1));
    HvVec outer = hv_add_s16(hv_load(d[0] + j), last), middle = hv_load(d[2] + j);
    HvVec inner = hv_add_s16(hv_load(d[1] + j), hv_load(d[3] + j));
    return (Columns){column_sum(hv_unpack_low_s16(outer, inner), hv_unpack_low_s16(middle, one),
                                taps, centre, bits),
                     column_sum(hv_unpack_high_s16(outer, inner), hv_unpack_high_s16(middle, one),
                                taps, centre, bits)};
}

/* Cut to 16 bits; the largest magnitude of each lane so far. */
static inline HvVec store_whole(int16_t *to, Columns c, HvVec most)
{
    HvVec y = hv_pack_s32(c.low, c.high);
    hv_store(to, y);
    return hv_max_u16(most, hv_abs_s16(y));
}

/* Filtered samples as they are, but 17 bits do not fit: FALSE where one of them needs that. Between
 * frames of one scene differences are seldom that large over five rows. */
static gboolean filter_columns_whole(const HvMotionBlock *block, int row)
{
    int bits = (int)block->format->depth, width = (int)block->format->width;
    const int16_t *d[HV_MOTION_TAPS];
    HvVec most = hv_zero();
    find_rows(block, row, (const void **)d);
    for (int j = 0; j < width; j += 2 * HV_LANES)
        most = store_whole(block->scratch->half + j,
                           filter_columns_at(d, hv_load(d[4] + j), j, bits), most);
    return !hv_any_above_u16(most, G_MAXINT16 - 1);
}

/* The same, while the row of the last tap comes in. Pictures are read within their rows only: the
 * last vector overlaps the one before it. */
static inline gboolean enter_columns_whole(const HvMotionBlock *block, int row, gboolean bytes)
{
    int bits = (int)block->format->depth, width = (int)block->format->width;
    Entering e = entering_row(block, row + HV_MOTION_RADIUS);
    const int16_t *d[HV_MOTION_TAPS];
    int16_t *half = block->scratch->half;
    HvVec most = hv_zero();
    find_rows(block, row, (const void **)d);
    for (int j = 0; j < width; j += 2 * HV_LANES) {
        int at = MIN(j, width - 2 * HV_LANES);
        HvVec last = enter(&e, at, bytes);
        most = store_whole(half + at, filter_columns_at(d, last, at, bits), most);
    }
    return !hv_any_above_u16(most, G_MAXINT16 - 1);
}

/* The half of a filtered sample, rounded down, has 16 bits, and its last bit is the rest. */
static void filter_columns_halves(const HvMotionBlock *block, int row)
{
    const HvMotionScratch *scratch = block->scratch;
    const int16_t *d[HV_MOTION_TAPS];
    HvVec last = hv_set_s32(1);
    find_rows(block, row, (const void **)d);
    for (int j = 0; j < (int)block->format->width; j += 2 * HV_LANES) {
        Columns c = filter_columns_at(d, hv_load(d[4] + j), j, (int)block->format->depth);
        hv_store(scratch->half + j,
                 hv_pack_s32(hv_shift_right_s32(c.low, 1), hv_shift_right_s32(c.high, 1)));
        hv_store(scratch->rest + j, hv_pack_s32(hv_and(c.low, last), hv_and(c.high, last)));
    }
}

static void mirror_row(int16_t *row, int width)
{
    for (int k = 1; k <= HV_MOTION_RADIUS; k++) {
        row[-k] = row[hv_motion_mirror(-k, width)];
        row[width - 1 + k] = row[hv_motion_mirror(width - 1 + k, width)];
    }
}

/* Half of what the rests sum up to, rounded down, less 2^14; 16 bits hold it. */
static inline HvVec rest_sum(const int16_t *rest)
{
    HvVec outer = hv_add_s16(hv_load(rest - 2), hv_load(rest + 2));
    HvVec inner = hv_add_s16(hv_load(rest - 1), hv_load(rest + 1));
    HvVec sum = hv_shift_right_s16(hv_mul_low_s16(outer, hv_set_s16(HV_MOTION_OUTER)), 1);
    sum = hv_add_s16(sum, hv_mul_low_s16(inner, hv_set_s16(HV_MOTION_INNER / 2)));
    sum = hv_add_s16(sum, hv_mul_low_s16(hv_load(rest), hv_set_s16(HV_MOTION_CENTRE / 2)));
    return hv_sub_s16(sum, hv_set_s16(1 << 14));
}

/* One half of the lanes. The sum of halves and rests lacks 2^15: 1 after the shift. */
static inline HvVec row_value(HvVec left, HvVec middle, HvVec right, HvVec one)
{
    HvVec sum = hv_mul_add_pairs(left, pair(HV_MOTION_OUTER, HV_MOTION_INNER));
    sum = hv_add_products(sum, middle, pair(HV_MOTION_CENTRE, HV_MOTION_INNER));
    sum = hv_add_products(sum, right, pair(HV_MOTION_OUTER, 1));
    return hv_abs_s32(hv_add_s32(hv_shift_right_s32(sum, 15), one));
}

static uint32_t sum_lanes(HvVec sum)
{
    uint32_t lane[HV_LANES], total = 0;
    hv_store(lane, sum);
    for (int i = 0; i < HV_LANES; i++)
        total += lane[i];
    return total;
}

static uint32_t filter_row_halves(const HvMotionScratch *scratch, int width)
{
    const int16_t *h = scratch->half, *r = scratch->rest;
    HvVec sum = hv_zero(), one = hv_set_s32(1);
    int j = 0;
    mirror_row(scratch->half, width);
    mirror_row(scratch->rest, width);
    for (; j + 2 * HV_LANES <= width; j += 2 * HV_LANES) {
        HvVec a = hv_load(h + j - 2), b = hv_load(h + j - 1), c = hv_load(h + j);
        HvVec d = hv_load(h + j + 1), e = hv_load(h + j + 2), rest = rest_sum(r + j);
        sum = hv_add_s32(sum, row_value(hv_unpack_low_s16(a, b), hv_unpack_low_s16(c, d),
                                        hv_unpack_low_s16(e, rest), one));
        sum = hv_add_s32(sum, row_value(hv_unpack_high_s16(a, b), hv_unpack_high_s16(c, d),
                                        hv_unpack_high_s16(e, rest), one));
    }
    uint32_t total = sum_lanes(sum);
    for (; j < width; j++) {
        int outer = 2 * (h[j - 2] + h[j + 2]) + r[j - 2] + r[j + 2];
        int inner = 2 * (h[j - 1] + h[j + 1]) + r[j - 1] + r[j + 1];
        total += magnitude(hv_motion_filter(outer, inner, 2 * h[j] + r[j], HV_MOTION_ROW_BITS));
    }
    return total;
}

/* Magnitudes of 2 * HV_LANES columns of whole samples. Pairs of neighbours as they lie in memory,
 * of columns j - 2, j and j + 2 and on, hold what an even column needs as well as what the odd one
 * after it does. */
static inline HvVec whole_values(const int16_t *y, HvVec round)
{
    HvVec left = hv_load(y - 2), middle = hv_load(y), right = hv_load(y + 2);
    HvVec even = hv_add_products(round, left, pair(HV_MOTION_OUTER, HV_MOTION_INNER));
    HvVec odd = hv_add_products(round, left, pair(0, HV_MOTION_OUTER));
    even = hv_add_products(even, middle, pair(HV_MOTION_CENTRE, HV_MOTION_INNER));
    odd = hv_add_products(odd, middle, pair(HV_MOTION_INNER, HV_MOTION_CENTRE));
    even = hv_add_products(even, right, pair(HV_MOTION_OUTER, 0));
    odd = hv_add_products(odd, right, pair(HV_MOTION_INNER, HV_MOTION_OUTER));
    return hv_abs_s16(hv_join_halves(hv_shift_right_u32(even, HV_MOTION_ROW_BITS), odd));
}

static uint32_t filter_row_whole(int16_t *y, int width)
{
    HvVec sum = hv_zero(), round = hv_set_s32(1 << (HV_MOTION_ROW_BITS - 1)), one = hv_set_s16(1);
    int j = 0;
    mirror_row(y, width);
    for (; j + 2 * HV_LANES <= width; j += 2 * HV_LANES)
        sum = hv_add_products(sum, whole_values(y + j, round), one);
    uint32_t total = sum_lanes(sum);
    for (; j < width; j++)
        total += magnitude(
            hv_motion_filter(y[j - 2] + y[j + 2], y[j - 1] + y[j + 1], y[j], HV_MOTION_ROW_BITS));
    return total;
}

/* Rows that are taken in halves at once after one that did not fit whole: it is seldom alone. */
#define LARGE_ROWS 7

static uint32_t measure_row_lanes(const HvMotionBlock *block, int row, int *large)
{
    int width = (int)block->format->width, entering = row + HV_MOTION_RADIUS;
    gboolean enters = entering < (int)block->format->height, whole = FALSE;
    if (*large > 0 && enters)
        enter_row(block, entering);
    else if (*large == 0 && !enters)
        whole = filter_columns_whole(block, row);
    else if (*large == 0 && block->format->depth == 8)
        whole = enter_columns_whole(block, row, TRUE);
    else if (*large == 0)
        whole = enter_columns_whole(block, row, FALSE);
    if (whole)
        return filter_row_whole(block->scratch->half, width);
    *large = *large ? *large - 1 : LARGE_ROWS;
    filter_columns_halves(block, row);
    return filter_row_halves(block->scratch, width);
}

/* Rows up to the first one's last tap come in by themselves, the others as rows are filtered. */
static uint64_t measure_lanes(const HvMotionBlock *block)
{
    uint64_t sum = 0;
    int first = block->first, height = (int)block->format->height, large = 0;
    for (int row = first; row < MIN(first + HV_MOTION_RADIUS, block->last); row++)
        copy_row(block, row);
    for (int row = MAX(first - HV_MOTION_RADIUS, 0); row < MIN(first + HV_MOTION_RADIUS, height);
         row++)
        subtract_row(block, row);
    for (int row = first; row < block->last; row++)
        sum += measure_row_lanes(block, row, &large);
    return sum;
}

#endif

uint64_t HV_HOT(hv_motion_block)(const HvMotionBlock *block)
{
    uint64_t sum = 0;
    int height = (int)block->format->height, next = MAX(block->first - HV_MOTION_RADIUS, 0);
#ifdef HV_VEC
    if (block->earlier && is_narrow(block) && block->format->width >= 2 * HV_LANES)
        return measure_lanes(block);
#endif
    for (int row = block->first; row < block->last; row++) {
        copy_row(block, row);
        if (!block->earlier)
            continue;
        for (; next <= MIN(row + HV_MOTION_RADIUS, height - 1); next++)
            subtract_row(block, next);
        sum += measure_row(block, row);
    }
    return sum;
}
