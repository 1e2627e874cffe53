/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's vertical filter: one row of means, squares and products out of up to 17 rows of both
 * pictures. Results are 16-bit halves offset by -2^15, which the horizontal pass multiplies as
 * signed words; since all taps add up to 2^16, the offset is 2^31 in its sums. */
#include "kernels/cpu/vec.h"
#include "kernels/vif/vif_hot.h"

/* The rows that a filter reads, in the order of its taps. */
typedef struct Rows {
    const void *row[HV_VIF_PICTURES][2 * HV_VIF_MAX_PAIRS];
    int n;
    int bytes, shift[HV_VIF_PICTURES], mask;
    int mean_shift, square_shift;
} Rows;

static int tap_offset(const HvVifPairs *f, int tap)
{
    return f->first + tap / 2 * f->step + tap % 2;
}

static Rows find_rows(const HvVifBlock *block, const HvVifPairs *f, int row)
{
    int height = block->plan->height[block->scale], depth = block->plan->depth;
    Rows rows = {.n = 2 * f->pairs, .bytes = block->in[0].bytes, .mask = block->in[0].mask};
    for (int p = 0; p < HV_VIF_PICTURES; p++) {
        const HvVifImage *in = &block->in[p];
        for (int k = 0; k < rows.n; k++) {
            /* the last tap may be a 0 that only fills its pair */
            int at = f->tap[k] ? tap_offset(f, k) : 0;
            rows.row[p][k] = (const char *)in->data + hv_vif_mirror(row + at, height) * in->stride;
        }
        rows.shift[p] = in->shift;
    }
    rows.mean_shift = block->scale ? 16 : depth;
    rows.square_shift = block->scale ? 16 : 2 * (depth - 8);
    return rows;
}

/* What lies beyond the ends of a row that was filtered. */
static void pad_row(int16_t *row, int width, int half)
{
    for (int i = 1; i <= half; i++) {
        row[-i] = row[i];
        row[width - 1 + i] = row[width - 1 - i];
    }
}

static inline uint32_t sample(const Rows *rows, int p, int k, int j)
{
    const void *row = rows->row[p][k];
    if (rows->bytes == 1)
        return ((const uint8_t *)row)[j];
    return ((const uint16_t *)row)[j] >> rows->shift[p] & rows->mask;
}

static inline int16_t offset16(uint32_t value)
{
    return (int16_t)((int32_t)value - 32768);
}

static inline uint64_t round_shift(uint64_t value, int shift)
{
    return shift ? (value + ((uint64_t)1 << (shift - 1))) >> shift : value;
}

static void store_square(const HvVifBlock *block, int to, int j, uint64_t sum, int shift)
{
    uint32_t value = (uint32_t)round_shift(sum, shift);
    block->row[to][j] = offset16(value >> 16);
    block->row[to + 1][j] = offset16(value & 0xffff);
}

static void vertical_scalar(const HvVifBlock *block, const HvVifPairs *f, const Rows *rows,
                            int from, int to, gboolean moments)
{
    for (int j = from; j < to; j++) {
        uint32_t mean1 = 0, mean2 = 0;
        uint64_t square1 = 0, square2 = 0, product = 0;
        for (int k = 0; k < rows->n; k++) {
            uint32_t x = sample(rows, 0, k, j), y = sample(rows, 1, k, j);
            uint32_t tap = (uint16_t)f->tap[k];
            mean1 += tap * x;
            mean2 += tap * y;
            square1 += (uint64_t)(tap * x) * x;
            square2 += (uint64_t)(tap * y) * y;
            product += (uint64_t)(tap * x) * y;
        }
        block->row[HV_VIF_MEAN1][j] = offset16((uint32_t)round_shift(mean1, rows->mean_shift));
        block->row[HV_VIF_MEAN2][j] = offset16((uint32_t)round_shift(mean2, rows->mean_shift));
        if (moments) {
            store_square(block, HV_VIF_SQUARE1, j, square1, rows->square_shift);
            store_square(block, HV_VIF_SQUARE2, j, square2, rows->square_shift);
            store_square(block, HV_VIF_PRODUCT, j, product, rows->square_shift);
        }
    }
}

#ifdef HV_VEC

/* Sums of pairs of 16-bit samples times taps, for 2 * HV_LANES columns in the order of unpacking.
 */
typedef struct Sum {
    HvVec low, high;
} Sum;

static inline void add_pair(Sum *sum, HvVec a, HvVec b, HvVec taps)
{
    sum->low = hv_add_products(sum->low, hv_unpack_low_s16(a, b), taps);
    sum->high = hv_add_products(sum->high, hv_unpack_high_s16(a, b), taps);
}

static inline HvVec load_samples(const Rows *rows, int p, int k, int j)
{
    return hv_and(
        hv_shift_right_u16_by(hv_load((const uint16_t *)rows->row[p][k] + j), rows->shift[p]),
        hv_set_s16(rows->mask));
}

/* Squares and products of 16-bit samples in their lower and upper halves, offset. */
static inline void add_squares(Sum *upper, Sum *lower, HvVec xa, HvVec xb, HvVec ya, HvVec yb,
                               HvVec taps)
{
    HvVec offset = hv_set_s16(-32768);
    add_pair(lower, hv_xor(hv_mul_low_s16(xa, ya), offset), hv_xor(hv_mul_low_s16(xb, yb), offset),
             taps);
    add_pair(upper, hv_xor(hv_mul_high_u16(xa, ya), offset),
             hv_xor(hv_mul_high_u16(xb, yb), offset), taps);
}

/* Takes the offset out of a sum, rounds and shifts it. */
static inline HvVec settle(HvVec sum, HvVec round, int shift)
{
    return hv_shift_right_u32_by(hv_add_s32(hv_xor(sum, hv_set_s32(G_MININT32)), round), shift);
}

static inline void store_offset(int16_t *to, HvVec low, HvVec high)
{
    HvVec offset = hv_set_s32(32768);
    hv_store(to, hv_pack_s32(hv_sub_s32(low, offset), hv_sub_s32(high, offset)));
}

static inline void store_means(int16_t *to, const Sum *sum, int shift)
{
    HvVec round = hv_set_s32(1 << (shift - 1));
    store_offset(to, settle(sum->low, round, shift), settle(sum->high, round, shift));
}

/* Joins the sums of upper and lower halves: the upper one's counts 2^16 times. */
static inline HvVec join_square(HvVec upper, HvVec lower, int shift)
{
    HvVec value = settle(lower, hv_set_s32(shift ? 1 << (shift - 1) : 0), shift);
    return hv_add_s32(value,
                      hv_shift_left_s32_by(hv_xor(upper, hv_set_s32(G_MININT32)), 16 - shift));
}

static inline void store_halves(int16_t *const *row, int j, HvVec low, HvVec high)
{
    HvVec mask = hv_set_s32(0xffff);
    store_offset(row[0] + j, hv_shift_right_u32(low, 16), hv_shift_right_u32(high, 16));
    store_offset(row[1] + j, hv_and(low, mask), hv_and(high, mask));
}

static inline void vertical_at(const HvVifBlock *block, const HvVifPairs *f, const Rows *rows,
                               int j, gboolean moments)
{
    Sum zero = {hv_zero(), hv_zero()};
    Sum mean1 = zero, mean2 = zero, upper[3] = {zero, zero, zero}, lower[3] = {zero, zero, zero};
    HvVec offset = hv_set_s16(-32768);
    int shift = rows->square_shift;
    for (int k = 0; k < rows->n; k += 2) {
        HvVec taps = hv_set_pair(f->tap[k], f->tap[k + 1]);
        HvVec xa = load_samples(rows, 0, k, j), xb = load_samples(rows, 0, k + 1, j);
        HvVec ya = load_samples(rows, 1, k, j), yb = load_samples(rows, 1, k + 1, j);
        add_pair(&mean1, hv_xor(xa, offset), hv_xor(xb, offset), taps);
        add_pair(&mean2, hv_xor(ya, offset), hv_xor(yb, offset), taps);
        if (moments) {
            add_squares(&upper[0], &lower[0], xa, xb, xa, xb, taps);
            add_squares(&upper[1], &lower[1], ya, yb, ya, yb, taps);
            add_squares(&upper[2], &lower[2], xa, xb, ya, yb, taps);
        }
    }
    store_means(block->row[HV_VIF_MEAN1] + j, &mean1, rows->mean_shift);
    store_means(block->row[HV_VIF_MEAN2] + j, &mean2, rows->mean_shift);
    for (int i = 0; i < 3 && moments; i++)
        store_halves(block->row + HV_VIF_SQUARE1 + 2 * i, j,
                     join_square(upper[i].low, lower[i].low, shift),
                     join_square(upper[i].high, lower[i].high, shift));
}

/* 8 bits: samples less 128, x and y, of two rows with the same tap, added, and their squares and
 * products, less LESS: all fit a signed word. */
#define LESS 128
typedef struct Folded {
    HvVec x, y, xx, yy, xy;
} Folded;

static inline HvVec load_8(const Rows *rows, int p, int k, int j)
{
    return hv_load_u8_less_128((const uint8_t *)rows->row[p][k] + j);
}

static inline Folded middle_row(const Rows *rows, int k, int j)
{
    HvVec x = load_8(rows, 0, k, j), y = load_8(rows, 1, k, j);
    return (Folded){x, y, hv_mul_low_s16(x, x), hv_mul_low_s16(y, y), hv_mul_low_s16(x, y)};
}

static inline HvVec fold_products(HvVec xa, HvVec ya, HvVec xb, HvVec yb)
{
    HvVec sum = hv_add_s16(hv_mul_low_s16(xa, ya), hv_mul_low_s16(xb, yb));
    return hv_sub_s16(sum, hv_set_s16(LESS));
}

static inline Folded fold_rows(const Rows *rows, int ka, int kb, int j)
{
    HvVec xa = load_8(rows, 0, ka, j), xb = load_8(rows, 0, kb, j);
    HvVec ya = load_8(rows, 1, ka, j), yb = load_8(rows, 1, kb, j);
    return (Folded){hv_add_s16(xa, xb), hv_add_s16(ya, yb), fold_products(xa, xa, xb, xb),
                    fold_products(ya, ya, yb, yb), fold_products(xa, ya, xb, yb)};
}

/* A mean of samples less 128 is the mean, offset. */
static inline void store_means_8(int16_t *to, const Sum *sum)
{
    HvVec round = hv_set_s32(128);
    hv_store(to, hv_pack_s32(hv_shift_right_s32(hv_add_s32(sum->low, round), 8),
                             hv_shift_right_s32(hv_add_s32(sum->high, round), 8)));
}

/* x and y without the subtraction: xy = (x-128)(y-128) + 128 (x-128) + 128 (y-128) + 2^14. */
static inline HvVec restore(HvVec product, HvVec x, HvVec y)
{
    HvVec linear = hv_shift_left_s32(hv_add_s32(x, y), 7);
    return hv_add_s32(hv_add_s32(product, linear), hv_set_s32(1 << 30));
}

static inline void store_square_8(int16_t *const *row, int j, const Sum *product, const Sum *x,
                                  const Sum *y)
{
    store_halves(row, j, restore(product->low, x->low, y->low),
                 restore(product->high, x->high, y->high));
}

/* 8 bits: rows with the same tap are added before they are multiplied. */
static inline void vertical_8_at(const HvVifBlock *block, const HvVifPairs *f, const Rows *rows,
                                 int half, int j, gboolean moments)
{
    const int16_t *tap = f->tap + half;
    HvVec less = hv_set_s32((65536 - tap[0]) / 2 * LESS);
    Sum zero = {hv_zero(), hv_zero()}, start = {less, less};
    Sum x = zero, y = zero, xx = start, yy = start, xy = start;
#pragma GCC unroll 5
    for (int k = 0; k <= half; k += 2) {
        HvVec taps = hv_set_pair(tap[k], k < half ? tap[k + 1] : 0);
        Folded a = k ? fold_rows(rows, half - k, half + k, j) : middle_row(rows, half, j);
        Folded b = k < half ? fold_rows(rows, half - k - 1, half + k + 1, j) : a;
        add_pair(&x, a.x, b.x, taps);
        add_pair(&y, a.y, b.y, taps);
        if (moments) {
            add_pair(&xx, a.xx, b.xx, taps);
            add_pair(&yy, a.yy, b.yy, taps);
            add_pair(&xy, a.xy, b.xy, taps);
        }
    }
    store_means_8(block->row[HV_VIF_MEAN1] + j, &x);
    store_means_8(block->row[HV_VIF_MEAN2] + j, &y);
    if (moments) {
        store_square_8(block->row + HV_VIF_SQUARE1, j, &xx, &x, &x);
        store_square_8(block->row + HV_VIF_SQUARE2, j, &yy, &y, &y);
        store_square_8(block->row + HV_VIF_PRODUCT, j, &xy, &x, &y);
    }
}

/* `half` is that of the filter where samples have 8 bits, else 0. */
static inline void vertical_lanes(const HvVifBlock *block, const HvVifPairs *f, const Rows *rows,
                                  int width, int half, gboolean moments)
{
    for (int j = 0; j < width; j += 2 * HV_LANES) {
        /* the last vector overlaps the one before it: pictures are read within their rows only */
        int at = MIN(j, width - 2 * HV_LANES);
        if (half)
            vertical_8_at(block, f, rows, half, at, moments);
        else
            vertical_at(block, f, rows, at, moments);
    }
}

static gboolean vertical_vector(const HvVifBlock *block, const HvVifPairs *f, const Rows *rows,
                                int width, gboolean moments)
{
    if (width < 2 * HV_LANES)
        return FALSE;
    if (rows->bytes == 1 && moments)
        vertical_lanes(block, f, rows, width, 8, TRUE);
    else if (rows->bytes == 1)
        vertical_lanes(block, f, rows, width, 4, FALSE);
    else if (moments)
        vertical_lanes(block, f, rows, width, 0, TRUE);
    else
        vertical_lanes(block, f, rows, width, 0, FALSE);
    return TRUE;
}

#else

static gboolean vertical_vector(const HvVifBlock *block, const HvVifPairs *f, const Rows *rows,
                                int width, gboolean moments)
{
    return FALSE;
}

#endif

void HV_HOT(hv_vif_vertical)(const HvVifBlock *block, const HvVifPairs *filter, int row,
                             gboolean moments)
{
    int width = block->plan->width[block->scale], n = moments ? HV_VIF_ROWS : HV_VIF_SQUARE1;
    Rows rows = find_rows(block, filter, row);
    if (!vertical_vector(block, filter, &rows, width, moments))
        vertical_scalar(block, filter, &rows, 0, width, moments);
    for (int i = 0; i < n; i++)
        pad_row(block->row[i], width, -filter->first);
}
