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

/* A filtered sample has 17 bits; its half, rounded down, has 16, and its last bit is the rest. */
static void filter_columns_lanes(const HvMotionBlock *block, int row)
{
    int bits = (int)block->format->depth, width = (int)block->format->width;
    const HvMotionScratch *scratch = block->scratch;
    const int16_t *d[HV_MOTION_TAPS];
    HvVec one = hv_set_s16(1), last = hv_set_s32(1);
    HvVec taps = pair(HV_MOTION_OUTER, HV_MOTION_INNER);
    HvVec centre = pair(HV_MOTION_CENTRE, 1 << (bits - 1));
    find_rows(block, row, (const void **)d);
    for (int j = 0; j < width; j += 2 * HV_LANES) {
        HvVec outer = hv_add_s16(hv_load(d[0] + j), hv_load(d[4] + j));
        HvVec inner = hv_add_s16(hv_load(d[1] + j), hv_load(d[3] + j));
        HvVec middle = hv_load(d[2] + j);
        HvVec low = column_sum(hv_unpack_low_s16(outer, inner), hv_unpack_low_s16(middle, one),
                               taps, centre, bits);
        HvVec high = column_sum(hv_unpack_high_s16(outer, inner), hv_unpack_high_s16(middle, one),
                                taps, centre, bits);
        hv_store(scratch->half + j,
                 hv_pack_s32(hv_shift_right_s32(low, 1), hv_shift_right_s32(high, 1)));
        hv_store(scratch->rest + j, hv_pack_s32(hv_and(low, last), hv_and(high, last)));
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

static uint32_t filter_row_lanes(const HvMotionScratch *scratch, int width)
{
    const int16_t *h = scratch->half, *r = scratch->rest;
    uint32_t lane[HV_LANES], total = 0;
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
    hv_store(lane, sum);
    for (int i = 0; i < HV_LANES; i++)
        total += lane[i];
    for (; j < width; j++) {
        int outer = 2 * (h[j - 2] + h[j + 2]) + r[j - 2] + r[j + 2];
        int inner = 2 * (h[j - 1] + h[j + 1]) + r[j - 1] + r[j + 1];
        total += magnitude(hv_motion_filter(outer, inner, 2 * h[j] + r[j], HV_MOTION_ROW_BITS));
    }
    return total;
}

#endif

uint64_t HV_HOT(hv_motion_block)(const HvMotionBlock *block)
{
    uint64_t sum = 0;
    int height = (int)block->format->height, next = MAX(block->first - HV_MOTION_RADIUS, 0);
    for (int row = block->first; row < block->last; row++) {
        copy_row(block, row);
        if (!block->earlier)
            continue;
        for (; next <= MIN(row + HV_MOTION_RADIUS, height - 1); next++)
            subtract_row(block, next);
#ifdef HV_VEC
        if (is_narrow(block)) {
            filter_columns_lanes(block, row);
            sum += filter_row_lanes(block->scratch, (int)block->format->width);
            continue;
        }
#endif
        sum += measure_row(block, row);
    }
    return sum;
}
