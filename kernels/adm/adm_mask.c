/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM's contrast masking and the sums over one row: cubes of what exceeds the threshold that the
 * other part's neighbourhood sets, and cubes of the reference. */
#include "kernels/adm/adm_hot.h"
#include "kernels/cpu/vec.h"

static void add_three(int32_t *restrict sum, const int32_t *a, const int32_t *b, const int32_t *c,
                      int n)
{
    for (int j = 0; j < n; j++)
        sum[j] = (int32_t)((uint32_t)a[j] + (uint32_t)b[j] + (uint32_t)c[j]);
}

/* Adds the shares of the rows above, at and below, by column, and what lies beyond the ends. */
static void add_rows(const HvAdmBlock *block, int row, int part)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    const HvAdmScratch *scratch = block->scratch;
    const int32_t *above = scratch->share[hv_adm_mirror(row - 1, s->height) % 3][part];
    const int32_t *at = scratch->share[row % 3][part];
    const int32_t *below = scratch->share[hv_adm_mirror(row + 1, s->height) % 3][part];
    int32_t *column = scratch->column[part];
    add_three(column, above, at, below, block->columns);
    if (s->left == 0) {
        column[-1] = column[hv_adm_mirror(-1, s->width)];
        column[s->width] = column[hv_adm_mirror(s->width, s->width)];
    }
}

/* One row's sums go into the scale's with this rounding. */
static void add_row_sum(int64_t *sum, int64_t row_sum, int shift)
{
    *sum = hv_adm_add(*sum, hv_adm_round_shift(row_sum, shift));
}

#ifdef HV_VEC

/* Sums of 64-bit lanes of masked cubes. Each cube is shifted without its sign, offset by 2^63 so
 * that none is lost; the offsets are taken out of the sum at the end. */
typedef struct CubeSum {
    HvVec sum, square_round, cube_round;
    int square_shift, cube_shift;
} CubeSum;

static inline CubeSum cube_sum(int square_shift, int cube_shift)
{
    uint64_t cube_round = (1ull << 63) + (cube_shift > 0 ? 1ull << (cube_shift - 1) : 0);
    CubeSum c = {hv_zero(), hv_set_s64(1ll << (square_shift - 1)), hv_set_s64((int64_t)cube_round),
                 square_shift, cube_shift};
    return c;
}

static inline HvVec cube_even(const CubeSum *c, HvVec x)
{
    HvVec square =
        hv_shift_right_u64_by(hv_add_s64(hv_mul_even_u32(x, x), c->square_round), c->square_shift);
    HvVec cube = hv_add_s64(hv_mul_even_s32(square, x), c->cube_round);
    return hv_shift_right_u64_by(cube, c->cube_shift);
}

/* x: magnitudes less thresholds; below 0 nothing is left. Lanes from n on do not count. */
static inline void add_cubes(CubeSum *c, HvVec x, int n)
{
    x = hv_max_s32(x, hv_zero());
    if (G_UNLIKELY(n < HV_LANES))
        x = hv_first_lanes(x, n);
    c->sum = hv_add_s64(c->sum, cube_even(c, x));
    c->sum = hv_add_s64(c->sum, cube_even(c, hv_shift_right_u64(x, 32)));
}

static int64_t cube_total(const CubeSum *c, int columns)
{
    uint64_t lanes = (uint64_t)(columns + HV_LANES - 1) / HV_LANES * HV_LANES;
    return (int64_t)((uint64_t)hv_sum_s64(c->sum) - lanes * ((1ull << 63) >> c->cube_shift));
}

static inline HvVec threshold_lanes(const HvAdmScratch *scratch, int row, int part, int j)
{
    const int32_t *column = scratch->column[part] + j;
    HvVec sides = hv_add_s32(hv_load(column - 1), hv_load(column + 1));
    HvVec own = hv_load(scratch->own[row & 1][part] + j);
    return hv_add_s32(hv_add_s32(sides, hv_load(column)), own);
}

/* What is measured is one part, what masks it the other. */
static void mask_lanes(const HvAdmBlock *block, int row, int part, int64_t *sum)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    const HvAdmScratch *scratch = block->scratch;
    const int32_t *const *split = (const int32_t *const *)scratch->split[row & 1][part];
    const int32_t *diagonals = scratch->split[row & 1][0][HV_ADM_DIAGONAL];
    int from = s->left - block->column0, columns = s->right - s->left;
    CubeSum c[HV_ADM_ANGLES];
    HvVec factor[HV_ADM_ANGLES];
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        int square = block->scale ? HV_ADM_SQUARE_SHIFT : hv_adm_square0_shift[angle];
        c[angle] = cube_sum(square, s->cube_shift[angle]);
        factor[angle] = hv_set_s32(s->i_factor[angle]);
    }
    for (int j = 0; j < columns; j += HV_LANES) {
        int n = MIN(columns - j, HV_LANES), at = from + j;
        HvVec threshold = threshold_lanes(scratch, row, !part, at);
        HvVec h, v, d;
        if (block->scale) {
            h = hv_sub_s32(hv_load(split[0] + at), threshold);
            v = hv_sub_s32(hv_load(split[1] + at), threshold);
            d = hv_sub_s32(hv_load(split[2] + at), threshold);
        } else {
            HvVec hv = hv_abs_s16(hv_load(split[0] + at));
            HvVec dd = hv_abs_s16(hv_load(diagonals + at)), low = hv_set_s32(0xffff);
            HvVec t10 = hv_shift_left_s32(threshold, 10), t12 = hv_shift_left_s32(threshold, 12);
            h = hv_sub_s32(hv_mul_s32(hv_and(hv, low), factor[0]), t10);
            v = hv_sub_s32(hv_mul_s32(hv_shift_right_u32(hv, 16), factor[1]), t10);
            d = part ? hv_shift_right_u32(dd, 16) : hv_and(dd, low);
            d = hv_sub_s32(hv_mul_s32(d, factor[2]), t12);
        }
        add_cubes(&c[0], h, n);
        add_cubes(&c[1], v, n);
        add_cubes(&c[2], d, n);
    }
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
        add_row_sum(&sum[angle], cube_total(&c[angle], columns), s->row_shift);
}

/* Sums of cubes at scale 0 need no shift: magnitudes have 15 bits. */
static inline HvVec cube0(HvVec sum, HvVec x, int n)
{
    if (G_UNLIKELY(n < HV_LANES))
        x = hv_first_lanes(x, n);
    HvVec square = hv_mul_s32(x, x);
    sum = hv_add_s64(sum, hv_mul_even_u32(square, x));
    return hv_add_s64(sum,
                      hv_mul_even_u32(hv_shift_right_u64(square, 32), hv_shift_right_u64(x, 32)));
}

static void reference0_lanes(const HvAdmBlock *block, uint64_t *row_sum)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    const HvAdmScratch *scratch = block->scratch;
    int from = s->left - block->column0, columns = s->right - s->left;
    HvVec sum[HV_ADM_ANGLES] = {hv_zero(), hv_zero(), hv_zero()}, low = hv_set_s32(0xffff);
    for (int j = 0; j < columns; j += HV_LANES) {
        int n = MIN(columns - j, HV_LANES), at = from + j;
        HvVec hv = hv_abs_s16(hv_load(scratch->band[0][0] + at));
        HvVec d = hv_abs_s16(hv_load(scratch->band[0][HV_ADM_DIAGONAL] + at));
        sum[0] = cube0(sum[0], hv_and(hv, low), n);
        sum[1] = cube0(sum[1], hv_shift_right_u32(hv, 16), n);
        sum[2] = cube0(sum[2], hv_and(d, low), n);
    }
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
        row_sum[angle] = (uint64_t)hv_sum_s64(sum[angle]);
}

static inline HvVec cube123(HvVec x, HvVec round, int square_shift, HvVec cube_round,
                            int cube_shift)
{
    HvVec square = hv_shift_right_u64_by(hv_add_s64(hv_mul_even_u32(x, x), round), square_shift);
    return hv_shift_right_u64_by(hv_add_s64(hv_mul_even_u32(square, x), cube_round), cube_shift);
}

static void reference123_lanes(const HvAdmBlock *block, uint64_t *row_sum)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    int from = s->left - block->column0, columns = s->right - s->left;
    int square = hv_adm_den_square_shift[block->scale], shift = s->den_cube_shift;
    HvVec round = hv_set_s64(1ll << square);
    HvVec cube_round = hv_set_s64(shift > 0 ? 1ll << (shift - 1) : 0);
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        const int32_t *band = block->scratch->band[0][angle] + from;
        HvVec sum = hv_zero();
        for (int j = 0; j < columns; j += HV_LANES) {
            HvVec x = hv_abs_s32(hv_load(band + j));
            if (columns - j < HV_LANES)
                x = hv_first_lanes(x, columns - j);
            sum = hv_add_s64(sum, cube123(x, round, square, cube_round, shift));
            x = hv_shift_right_u64(x, 32);
            sum = hv_add_s64(sum, cube123(x, round, square, cube_round, shift));
        }
        row_sum[angle] = (uint64_t)hv_sum_s64(sum);
    }
}

#else

static inline uint64_t reference_cube(const HvAdmBlock *block, int angle, int j)
{
    const HvAdmScratch *scratch = block->scratch;
    if (block->scale)
        return hv_adm_cube(hv_adm_abs(scratch->band[0][angle][j]),
                           hv_adm_den_square_shift[block->scale],
                           hv_adm_block_scale(block)->den_cube_shift);
    int32_t word = scratch->band[0][angle == HV_ADM_DIAGONAL ? HV_ADM_DIAGONAL : 0][j];
    uint64_t x =
        hv_adm_abs(angle == HV_ADM_VERTICAL ? hv_adm_high_half(word) : hv_adm_low_half(word));
    return x * x * x;
}

static void reference_scalar(const HvAdmBlock *block, uint64_t *row_sum)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        row_sum[angle] = 0;
        for (int j = s->left - block->column0; j < s->right - block->column0; j++)
            row_sum[angle] += reference_cube(block, angle, j);
    }
}

#endif

static inline uint32_t threshold_at(const HvAdmScratch *scratch, int row, int part, int j)
{
    const int32_t *column = scratch->column[part] + j;
    return (uint32_t)column[-1] + (uint32_t)column[0] + (uint32_t)column[1] +
           (uint32_t)scratch->own[row & 1][part][j];
}

/* A coefficient's magnitude times its contrast sensitivity, at scale 0 and at the others. */
static inline uint32_t magnitude_at(const HvAdmBlock *block, int row, int part, int angle, int j)
{
    int32_t *const(*split)[HV_ADM_ANGLES] =
        (int32_t *const(*)[HV_ADM_ANGLES])block->scratch->split[row & 1];
    if (block->scale)
        return (uint32_t)split[part][angle][j];
    int32_t word = angle == HV_ADM_DIAGONAL ? split[0][HV_ADM_DIAGONAL][j] : split[part][0][j];
    gboolean high = angle == HV_ADM_DIAGONAL ? part == HV_ADM_ADDITIVE : angle == HV_ADM_VERTICAL;
    int32_t value = high ? hv_adm_high_half(word) : hv_adm_low_half(word);
    uint32_t factor = hv_adm_block_scale(block)->i_factor[angle];
    return hv_adm_abs((int32_t)((uint32_t)value * factor));
}

static void mask_scalar(const HvAdmBlock *block, int row, int part, int64_t *sum)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    int64_t row_sum[HV_ADM_ANGLES] = {0};
    for (int j = s->left - block->column0; j < s->right - block->column0; j++) {
        uint32_t threshold = threshold_at(block->scratch, row, !part, j);
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
            int up = block->scale ? 0 : hv_adm_mask0_shift[angle];
            int square = block->scale ? HV_ADM_SQUARE_SHIFT : hv_adm_square0_shift[angle];
            int64_t cube = hv_adm_masked_cube(magnitude_at(block, row, part, angle, j),
                                              threshold << up, square, s->cube_shift[angle]);
            row_sum[angle] = hv_adm_add(row_sum[angle], cube);
        }
    }
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
        add_row_sum(&sum[angle], row_sum[angle], s->row_shift);
}

void HV_HOT(hv_adm_reference_row)(const HvAdmBlock *block)
{
    uint64_t row_sum[HV_ADM_ANGLES];
#ifdef HV_VEC
    if (block->scale == 0)
        reference0_lanes(block, row_sum);
    else
        reference123_lanes(block, row_sum);
#else
    reference_scalar(block, row_sum);
#endif
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
        block->sums->reference[angle] += (uint64_t)hv_adm_round_shift(
            (int64_t)row_sum[angle], hv_adm_block_scale(block)->den_row_shift);
}

void HV_HOT(hv_adm_mask_row)(const HvAdmBlock *block, int row)
{
    gboolean aim = !block->plan->params.skip_aim;
    int64_t *sums[] = {block->sums->restored, block->sums->additive};
    add_rows(block, row, HV_ADM_ADDITIVE);
    if (aim)
        add_rows(block, row, HV_ADM_RESTORED);
    for (int part = 0; part < (aim ? HV_ADM_PARTS : 1); part++) {
#ifdef HV_VEC
        if (block->vector_exact) {
            mask_lanes(block, row, part, sums[part]);
            continue;
        }
#endif
        mask_scalar(block, row, part, sums[part]);
    }
}
