/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's horizontal filter and what follows it: one row's moments and their information, or the
 * means that become a row of the next scale. */
#include "kernels/vif/vif_hot.h"
#include "kernels/vif/vif_log.h"

#ifdef HV_VEC

/* Columns that are filtered at a time, so that what the filters leave stays in the first cache. */
#define TILE 640

/* Filtered rows of a tile: of its even columns and of its odd ones. */
typedef struct Tile {
    int32_t value[HV_VIF_ROWS][2][TILE / 2];
} Tile;

/* One row of offset halves, filtered, and `start`: lane l belongs to column 2 * l of `row`. */
static inline HvVec filter_lanes(const int16_t *row, const HvVifPairs *f, int pairs, HvVec start)
{
    HvVec sum = start;
    for (int k = 0; k < pairs; k++) {
        HvVec taps = hv_set_pair(f->tap[2 * k], f->tap[2 * k + 1]);
        HvVec pair = hv_load(row + f->first + k * f->step);
        sum = hv_add_products(sum, pair, taps);
    }
    return sum;
}

/* Both parities from the same pairs of samples: the odd columns' taps are one place further. */
static inline void filter_tile_wide(const int16_t *row, const HvVifPairs *f, int pairs, int columns,
                                    HvVec start, int32_t (*out)[TILE / 2])
{
    HvVec taps[2][HV_VIF_MAX_PAIRS];
    for (int k = 0; k < pairs; k++) {
        taps[0][k] = hv_set_pair(f->tap[2 * k], f->tap[2 * k + 1]);
        taps[1][k] = hv_set_pair(k ? f->tap[2 * k - 1] : 0, f->tap[2 * k]);
    }
    for (int j = 0; j < columns; j += 2 * HV_LANES) {
        HvVec even = start, odd = start;
        for (int k = 0; k < pairs; k++) {
            HvVec pair = hv_load(row + j + f->first + 2 * k);
            even = hv_add_products(even, pair, taps[0][k]);
            odd = hv_add_products(odd, pair, taps[1][k]);
        }
        hv_store(out[0] + j / 2, even);
        hv_store(out[1] + j / 2, odd);
    }
}

static inline void filter_tile_narrow(const int16_t *row, const HvVifPairs *f, int columns,
                                      HvVec start, int32_t (*out)[TILE / 2])
{
    for (int j = 0; j < columns; j += 2 * HV_LANES) {
        hv_store(out[0] + j / 2, filter_lanes(row + j, f, 2, start));
        hv_store(out[1] + j / 2, filter_lanes(row + j + 1, f, 2, start));
    }
}

/* The offset of 2^31, and for lower halves half of what they are then cut by. */
static inline HvVec filter_start(int row)
{
    gboolean lower = row > HV_VIF_SQUARE1 && (row - HV_VIF_SQUARE1) % 2;
    return hv_set_s32(lower ? G_MININT32 + 32768 : G_MININT32);
}

static void filter_tile(const HvVifBlock *block, int first, int columns, Tile *tile)
{
    const HvVifPairs *f = &block->filter;
    for (int i = 0; i < HV_VIF_ROWS; i++) {
        const int16_t *row = block->row[i] + first;
        HvVec start = filter_start(i);
        if (f->pairs == 9)
            filter_tile_wide(row, f, 9, columns, start, tile->value[i]);
        else if (f->pairs == 5)
            filter_tile_wide(row, f, 5, columns, start, tile->value[i]);
        else if (f->pairs == 3)
            filter_tile_wide(row, f, 3, columns, start, tile->value[i]);
        else
            filter_tile_narrow(row, f, columns, start, tile->value[i]);
    }
}

/* A square or product from its filtered halves. */
static inline HvVec join_square(const Tile *tile, int i, int parity, int at)
{
    HvVec upper = hv_load(tile->value[i][parity] + at);
    return hv_add_s32(upper, hv_shift_right_u32(hv_load(tile->value[i + 1][parity] + at), 16));
}

/* (a * b + 2^31) >> 32. */
static inline HvVec mul_means(HvVec a, HvVec b)
{
    HvVec half = hv_set_s64((int64_t)1 << 31);
    HvVec even = hv_add_s64(hv_mul_even_u32(a, b), half);
    HvVec odd = hv_mul_even_u32(hv_shift_right_u64(a, 32), hv_shift_right_u64(b, 32));
    return hv_join_high32(even, hv_add_s64(odd, half));
}

typedef struct Lanes {
    HvVec num_log, den_log; /* 32-bit: they are emptied after each row */
    HvVec num_flat;         /* 64-bit */
    int64_t count_flat;
} Lanes;

/* The residual's variance, and the part of the signal in it; half of the lanes. */
static inline void split_half(HvVecD var1, HvVecD var2, HvVecD cov, HvVecD limit, HvVecD *residual,
                              HvVecD *signal)
{
    HvVecD gain = hv_div_f64(cov, hv_add_f64(var1, hv_set_f64(65536 * 1.0e-10)));
    *residual = hv_sub_f64(var2, hv_mul_f64(gain, cov));
    gain = hv_min_f64(gain, limit);
    *signal = hv_mul_f64(hv_mul_f64(gain, gain), var1);
}

/* What remains of a row's information but the logarithms. */
typedef struct Information {
    HvVec noise, both;
} Information;

static inline Information split_information(const HvVifBlock *block, HvVec var1, HvVec var2,
                                            HvVec cov)
{
    HvVecD limit = hv_set_f64(block->plan->params.enhn_gain_limit), residual[2], signal[2];
    split_half(hv_low_f64(var1), hv_low_f64(var2), hv_low_f64(cov), limit, &residual[0],
               &signal[0]);
    split_half(hv_high_f64(var1), hv_high_f64(var2), hv_high_f64(cov), limit, &residual[1],
               &signal[1]);
    HvVec noise = hv_max_s32(hv_cut_f64(residual[0], residual[1]), hv_zero());
    noise = hv_add_s32(noise, hv_set_s32(HV_VIF_NOISE));
    return (Information){noise, hv_add_s32(hv_cut_f64(signal[0], signal[1]), noise)};
}

/* What the rows of a filtered tile become: variances, the distorted one at least 0, and covariance;
 * then what logarithms are taken of. */
enum { VARIANCE1 = HV_VIF_MEAN1, VARIANCE2 = HV_VIF_MEAN2, COVARIANCE = HV_VIF_SQUARE1 };
enum { REFERENCE = VARIANCE1, NOISE = VARIANCE2, BOTH = COVARIANCE };

static inline void find_variances(Tile *tile, int parity, int n)
{
    for (int at = 0; at < n; at += HV_LANES) {
        HvVec mean1 = hv_load(tile->value[HV_VIF_MEAN1][parity] + at);
        HvVec mean2 = hv_load(tile->value[HV_VIF_MEAN2][parity] + at);
        HvVec square1 = join_square(tile, HV_VIF_SQUARE1, parity, at);
        HvVec square2 = join_square(tile, HV_VIF_SQUARE2, parity, at);
        HvVec product = join_square(tile, HV_VIF_PRODUCT, parity, at);
        HvVec var2 = hv_max_s32(hv_sub_s32(square2, mul_means(mean2, mean2)), hv_zero());
        hv_store(tile->value[VARIANCE1][parity] + at, hv_sub_s32(square1, mul_means(mean1, mean1)));
        hv_store(tile->value[VARIANCE2][parity] + at, var2);
        hv_store(tile->value[COVARIANCE][parity] + at,
                 hv_sub_s32(product, mul_means(mean1, mean2)));
    }
}

/* Sums the flat pixels. What does not count is made the noise alone, whose logarithms add nothing.
 */
static inline void find_information(const HvVifBlock *block, Lanes *sum, Tile *tile, int parity,
                                    int n)
{
    HvVec zero = hv_zero(), level = hv_set_s32(HV_VIF_NOISE), flat_sum = sum->num_flat;
    int64_t count = 0;
    for (int at = 0; at < n; at += HV_LANES) {
        HvVec var1 = hv_load(tile->value[VARIANCE1][parity] + at);
        HvVec var2 = hv_load(tile->value[VARIANCE2][parity] + at);
        HvVec cov = hv_load(tile->value[COVARIANCE][parity] + at);
        HvMask valid = hv_first_mask(MIN(n - at, HV_LANES));
        HvMask flat = hv_mask_and(valid, hv_less_s32(var1, level));
        HvMask rich = hv_mask_and_not(valid, flat);
        HvMask kept =
            hv_mask_and(hv_mask_and(rich, hv_less_s32(zero, cov)), hv_less_s32(zero, var2));
        HvVec v = hv_select(flat, zero, var2);
        flat_sum = hv_add_s64(flat_sum, hv_shift_right_u64(v, 32));
        flat_sum = hv_add_s64(flat_sum, hv_and(v, hv_set_s64(0xffffffff)));
        count += __builtin_popcount(hv_mask_bits(flat));
        Information i = split_information(block, hv_select(kept, level, var1),
                                          hv_select(kept, zero, var2), hv_select(kept, zero, cov));
        hv_store(tile->value[REFERENCE][parity] + at,
                 hv_add_s32(hv_select(rich, zero, var1), level));
        hv_store(tile->value[NOISE][parity] + at, i.noise);
        hv_store(tile->value[BOTH][parity] + at, i.both);
    }
    sum->num_flat = flat_sum;
    sum->count_flat += count;
}

/* What the reference carries, and what the distorted picture keeps of it. */
static inline void add_logarithms(Lanes *sum, const Tile *tile, int parity, int n)
{
    HvVec noise_alone = hv_set_s32(HV_VIF_LOG_BIAS + 2048 * 17), whole_num = hv_zero();
    HvVec num = sum->num_log, den = sum->den_log, whole_den = hv_zero();
    for (int at = 0; at < n; at += HV_LANES) {
        HvVifLogLanes reference = hv_vif_log2_lanes(hv_load(tile->value[REFERENCE][parity] + at));
        HvVifLogLanes noise = hv_vif_log2_lanes(hv_load(tile->value[NOISE][parity] + at));
        HvVifLogLanes both = hv_vif_log2_lanes(hv_load(tile->value[BOTH][parity] + at));
        whole_den = hv_add_s32(whole_den, reference.whole);
        den = hv_add_s32(den, hv_sub_s32(reference.part, noise_alone));
        whole_num = hv_add_s32(whole_num, hv_sub_s32(both.whole, noise.whole));
        num = hv_add_s32(num, hv_sub_s32(both.part, noise.part));
    }
    sum->num_log = hv_add_s32(num, hv_shift_left_s32(whole_num, 11));
    sum->den_log = hv_add_s32(den, hv_shift_left_s32(whole_den, 11));
}

/* The sum of 32-bit lanes. */
static int64_t total32(HvVec v)
{
    HvVec low = hv_and(v, hv_set_s64(0xffffffff));
    return hv_sum_s64(hv_add_s64(low, hv_shift_right_u64(v, 32)));
}

/* Every second column of a tile. Three short loops: in one, each vector would wait for the one
 * before it longer than processors look ahead. */
static void sum_parity(const HvVifBlock *block, Lanes *sum, Tile *tile, int parity, int n)
{
    find_variances(tile, parity, n);
    find_information(block, sum, tile, parity, n);
    add_logarithms(sum, tile, parity, n);
}

void HV_HOT(hv_vif_sum_row)(const HvVifBlock *block)
{
    int width = block->plan->width[block->scale];
    Lanes sum = {hv_zero(), hv_zero(), hv_zero(), 0};
    Tile tile;
    for (int first = 0; first < width; first += TILE) {
        int columns = MIN(width - first, TILE);
        filter_tile(block, first, columns, &tile);
        sum_parity(block, &sum, &tile, 0, (columns + 1) / 2);
        sum_parity(block, &sum, &tile, 1, columns / 2);
    }
    block->total->num_log += total32(sum.num_log);
    block->total->den_log += total32(sum.den_log);
    block->total->num_flat += hv_sum_s64(sum.num_flat);
    block->total->count_flat += sum.count_flat;
}

static void halve_row(const int16_t *row, const HvVifPairs *f, int width, uint16_t *out)
{
    HvVec start = hv_set_s32(G_MININT32 + 32768);
    for (int j = 0; j < width; j += HV_LANES) {
        HvVec sum = filter_lanes(row + 2 * j, f, f->pairs, start);
        hv_store_low16(out + j, hv_shift_right_u32(sum, 16));
    }
}

#else

/* One column of a row of offset halves, filtered. */
static inline uint32_t filter_at(const int16_t *row, const HvVifPairs *f)
{
    uint32_t sum = 1u << 31;
    for (int k = 0; k < f->pairs; k++) {
        const int16_t *at = row + f->first + k * f->step;
        sum += (uint32_t)(at[0] * f->tap[2 * k]) + (uint32_t)(at[1] * f->tap[2 * k + 1]);
    }
    return sum;
}

static inline uint32_t filter_square(int16_t *const *row, int j, const HvVifPairs *f)
{
    return filter_at(row[0] + j, f) + ((filter_at(row[1] + j, f) + 32768) >> 16);
}

void HV_HOT(hv_vif_sum_row)(const HvVifBlock *block)
{
    const HvVifPairs *f = &block->filter;
    int16_t *const *row = block->row;
    int width = block->plan->width[block->scale];
    for (int j = 0; j < width; j++) {
        HvVifMoments m = {filter_at(row[HV_VIF_MEAN1] + j, f), filter_at(row[HV_VIF_MEAN2] + j, f),
                          filter_square(row + HV_VIF_SQUARE1, j, f),
                          filter_square(row + HV_VIF_SQUARE2, j, f),
                          filter_square(row + HV_VIF_PRODUCT, j, f)};
        hv_vif_add(block->total, &m, block->log_table, block->plan->params.enhn_gain_limit);
    }
}

static void halve_row(const int16_t *row, const HvVifPairs *f, int width, uint16_t *out)
{
    for (int j = 0; j < width; j++)
        out[j] = (uint16_t)((filter_at(row + 2 * j, f) + 32768) >> 16);
}

#endif

void HV_HOT(hv_vif_halve_row)(const HvVifBlock *block, int row)
{
    int width = block->plan->width[block->scale + 1];
    for (int p = 0; p < HV_VIF_PICTURES; p++)
        halve_row(block->row[HV_VIF_MEAN1 + p], &block->next_filter, width,
                  (uint16_t *)((char *)block->out[p] + row * block->out_stride));
}
