/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The wavelet transform of one row of ADM's bands: a vertical pass over four rows above, then a
 * horizontal pass. */
#include "kernels/adm/adm_hot.h"
#include "kernels/cpu/vec.h"

/* Four rows of samples: of the plane at scale 0, of the low band above at the others; and the two
 * that the next row of the transform reads first. */
typedef struct Rows {
    const void *row[4], *ahead[2];
} Rows;

static Rows find_rows(const void *data, ptrdiff_t stride, int row, int height)
{
    Rows rows;
    for (int k = 0; k < 4; k++)
        rows.row[k] = (const char *)data + hv_adm_mirror(2 * row - 1 + k, height) * stride;
    for (int k = 0; k < 2; k++)
        rows.ahead[k] = (const char *)data + MIN(2 * row + 3 + k, height - 1) * stride;
    return rows;
}

/* Samples beyond the ends of a filtered row, for the horizontal taps. */
static void pad16(int16_t *row, int width)
{
    int16_t left = row[hv_adm_mirror(-1, width)];
    int16_t right = row[hv_adm_mirror(width, width)], right1 = row[hv_adm_mirror(width + 1, width)];
    row[-1] = left;
    row[width] = right;
    row[width + 1] = right1;
}

static void pad32(int32_t *row, int width)
{
    int32_t left = row[hv_adm_mirror(-1, width)];
    int32_t right = row[hv_adm_mirror(width, width)], right1 = row[hv_adm_mirror(width + 1, width)];
    row[-1] = left;
    row[width] = right;
    row[width + 1] = right1;
}

static inline int32_t centred(const void *row, int j, int bytes, int shift, int depth)
{
    int32_t word = bytes == 1 ? ((const uint8_t *)row)[j] : ((const uint16_t *)row)[j];
    return hv_adm_centred(word, shift, depth);
}

static inline void vertical0_scalar(const Rows *rows, int from, int to, int bytes, int shift,
                                    int depth, int16_t *low, int16_t *high)
{
    for (int j = from; j < to; j++) {
        int32_t s0 = centred(rows->row[0], j, bytes, shift, depth);
        int32_t s1 = centred(rows->row[1], j, bytes, shift, depth);
        int32_t s2 = centred(rows->row[2], j, bytes, shift, depth);
        int32_t s3 = centred(rows->row[3], j, bytes, shift, depth);
        low[j] = hv_adm_round16(hv_adm_low16(s0, s1, s2, s3), depth);
        if (high)
            high[j] = hv_adm_round16(hv_adm_high16(s0, s1, s2, s3), depth);
    }
}

#ifdef HV_VEC

typedef struct Taps {
    HvVec low01, low23, high01, high23;
} Taps;

static inline Taps load_taps(void)
{
    Taps taps = {hv_set_s32(hv_adm_word(HV_ADM_LO0, HV_ADM_LO1)),
                 hv_set_s32(hv_adm_word(HV_ADM_LO2, HV_ADM_LO3)),
                 hv_set_s32(hv_adm_word(HV_ADM_HI0, HV_ADM_HI1)),
                 hv_set_s32(hv_adm_word(HV_ADM_HI2, HV_ADM_HI3))};
    return taps;
}

static inline HvVec load_centred(const void *row, int j, int bytes, int shift, int depth)
{
    if (bytes == 1)
        return hv_load_u8_less_128((const uint8_t *)row + j);
    HvVec v = hv_shift_right_u16_by(hv_load((const uint16_t *)row + j), shift);
    return hv_sub_s16(hv_and(v, hv_set_s16((1 << depth) - 1)), hv_set_s16(1 << (depth - 1)));
}

static inline HvVec filter_pairs(HvVec s01, HvVec s23, HvVec f01, HvVec f23)
{
    return hv_add_products(hv_mul_add_pairs(s01, f01), s23, f23);
}

static inline void vertical0_at(const Rows *rows, int j, int bytes, int shift, int depth,
                                const Taps *taps, int16_t *low, int16_t *high)
{
    HvVec round = hv_set_s32(1 << (depth - 1));
    for (int k = 0; k < 2; k++)
        hv_prefetch((const char *)rows->ahead[k] + j * bytes);
    HvVec s0 = load_centred(rows->row[0], j, bytes, shift, depth);
    HvVec s1 = load_centred(rows->row[1], j, bytes, shift, depth);
    HvVec s2 = load_centred(rows->row[2], j, bytes, shift, depth);
    HvVec s3 = load_centred(rows->row[3], j, bytes, shift, depth);
    HvVec a01 = hv_unpack_low_s16(s0, s1), b01 = hv_unpack_high_s16(s0, s1);
    HvVec a23 = hv_unpack_low_s16(s2, s3), b23 = hv_unpack_high_s16(s2, s3);
    HvVec la = hv_add_s32(filter_pairs(a01, a23, taps->low01, taps->low23), round);
    HvVec lb = hv_add_s32(filter_pairs(b01, b23, taps->low01, taps->low23), round);
    hv_store(low + j,
             hv_pack_s32(hv_shift_right_s32_by(la, depth), hv_shift_right_s32_by(lb, depth)));
    if (high) {
        HvVec ha = hv_add_s32(filter_pairs(a01, a23, taps->high01, taps->high23), round);
        HvVec hb = hv_add_s32(filter_pairs(b01, b23, taps->high01, taps->high23), round);
        hv_store(high + j,
                 hv_pack_s32(hv_shift_right_s32_by(ha, depth), hv_shift_right_s32_by(hb, depth)));
    }
}

#endif

/* `high` may be NULL: the low band alone needs no vertical detail. The plane is read within its
 * rows only: the last vector overlaps the one before it. */
static inline void vertical0(const Rows *rows, int width, int bytes, int shift, int depth,
                             int16_t *low, int16_t *high)
{
#ifdef HV_VEC
    if (width >= 2 * HV_LANES) {
        Taps taps = load_taps();
        for (int j = 0; j + 2 * HV_LANES <= width; j += 2 * HV_LANES)
            vertical0_at(rows, j, bytes, shift, depth, &taps, low, high);
        vertical0_at(rows, width - 2 * HV_LANES, bytes, shift, depth, &taps, low, high);
        return;
    }
#endif
    vertical0_scalar(rows, 0, width, bytes, shift, depth, low, high);
}

static inline int16_t tap_low16(const int16_t *t, int j)
{
    const int16_t *s = t + 2 * j;
    return hv_adm_round16(hv_adm_low16(s[-1], s[0], s[1], s[2]), 16);
}

static inline int16_t tap_high16(const int16_t *t, int j)
{
    const int16_t *s = t + 2 * j;
    return hv_adm_round16(hv_adm_high16(s[-1], s[0], s[1], s[2]), 16);
}

static void horizontal0_low(const int16_t *t, int width, int16_t *out)
{
#ifdef HV_VEC
    Taps taps = load_taps();
    HvVec round = hv_set_s32(32768);
    for (int j = 0; j < width; j += HV_LANES) {
        HvVec s01 = hv_load(t + 2 * j - 1), s23 = hv_load(t + 2 * j + 1);
        HvVec v = hv_add_s32(filter_pairs(s01, s23, taps.low01, taps.low23), round);
        hv_store_low16(out + j, hv_shift_right_u32(v, 16));
    }
#else
    for (int j = 0; j < width; j++)
        out[j] = tap_low16(t, j);
#endif
}

/* The detail bands of both pictures, packed as HvAdmScratch says. */
static void horizontal0_bands(const HvAdmBlock *block)
{
    HvAdmScratch *scratch = block->scratch;
    const int16_t *low[2], *high[2];
    for (int p = 0; p < HV_ADM_PICTURES; p++) {
        low[p] = (const int16_t *)scratch->low[p] + 2 * block->column0;
        high[p] = (const int16_t *)scratch->high[p] + 2 * block->column0;
    }
#ifdef HV_VEC
    Taps taps = load_taps();
    HvVec round = hv_set_s32(32768);
    for (int j = 0; j < block->columns; j += HV_LANES) {
        HvVec diagonal[2];
        for (int p = 0; p < HV_ADM_PICTURES; p++) {
            HvVec l01 = hv_load(low[p] + 2 * j - 1), l23 = hv_load(low[p] + 2 * j + 1);
            HvVec h01 = hv_load(high[p] + 2 * j - 1), h23 = hv_load(high[p] + 2 * j + 1);
            HvVec v = hv_add_s32(filter_pairs(l01, l23, taps.high01, taps.high23), round);
            HvVec h = hv_add_s32(filter_pairs(h01, h23, taps.low01, taps.low23), round);
            diagonal[p] = hv_add_s32(filter_pairs(h01, h23, taps.high01, taps.high23), round);
            hv_store(scratch->band[p][0] + j, hv_join_halves(hv_shift_right_u32(h, 16), v));
        }
        hv_store(scratch->band[0][HV_ADM_DIAGONAL] + j,
                 hv_join_halves(hv_shift_right_u32(diagonal[0], 16), diagonal[1]));
    }
#else
    for (int j = 0; j < block->columns; j++) {
        for (int p = 0; p < HV_ADM_PICTURES; p++)
            scratch->band[p][0][j] = hv_adm_word(tap_low16(high[p], j), tap_high16(low[p], j));
        scratch->band[0][HV_ADM_DIAGONAL][j] =
            hv_adm_word(tap_high16(high[0], j), tap_high16(high[1], j));
    }
#endif
}

static void dwt_row0(const HvAdmBlock *block, int row, gboolean low, gboolean bands)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    int depth = block->plan->depth;
    for (int p = 0; p < HV_ADM_PICTURES; p++) {
        const HvPlane *luma = block->luma[p];
        Rows rows = find_rows(luma->data, luma->stride, row, s->in_height);
        int16_t *t_low = (int16_t *)block->scratch->low[p];
        int16_t *t_high = bands ? (int16_t *)block->scratch->high[p] : NULL;
        if (depth == 8)
            vertical0(&rows, s->in_width, 1, 0, 8, t_low, t_high);
        else
            vertical0(&rows, s->in_width, 2, luma->shift, depth, t_low, t_high);
        pad16(t_low, s->in_width);
        if (bands)
            pad16(t_high, s->in_width);
        if (low)
            horizontal0_low(t_low, s->width,
                            (int16_t *)((char *)block->out[p] + row * block->out_stride));
    }
    if (bands)
        horizontal0_bands(block);
}

/* Scale 1: 16-bit samples, and a vertical pass that keeps every bit. */
static void vertical1(const Rows *rows, int width, int32_t *low, int32_t *high)
{
    const int16_t *const *r = (const int16_t *const *)rows->row;
#ifdef HV_VEC
    Taps taps = load_taps();
    for (int j = 0; j < width; j += HV_LANES) {
        HvVec s01 = hv_join_halves(hv_load_s16_s32(r[0] + j),
                                   hv_shift_left_s32(hv_load_s16_s32(r[1] + j), 16));
        HvVec s23 = hv_join_halves(hv_load_s16_s32(r[2] + j),
                                   hv_shift_left_s32(hv_load_s16_s32(r[3] + j), 16));
        hv_store(low + j, filter_pairs(s01, s23, taps.low01, taps.low23));
        hv_store(high + j, filter_pairs(s01, s23, taps.high01, taps.high23));
    }
#else
    for (int j = 0; j < width; j++) {
        low[j] = hv_adm_low16(r[0][j], r[1][j], r[2][j], r[3][j]);
        high[j] = hv_adm_high16(r[0][j], r[1][j], r[2][j], r[3][j]);
    }
#endif
}

#ifdef HV_VEC

typedef struct WideTaps {
    HvVec tap[4];
} WideTaps;

static inline WideTaps wide_low(void)
{
    WideTaps t = {{hv_set_s64(HV_ADM_LO0), hv_set_s64(HV_ADM_LO1), hv_set_s64(HV_ADM_LO2),
                   hv_set_s64(HV_ADM_LO3)}};
    return t;
}

static inline WideTaps wide_high(void)
{
    WideTaps t = {{hv_set_s64(HV_ADM_HI0), hv_set_s64(HV_ADM_HI1), hv_set_s64(HV_ADM_HI2),
                   hv_set_s64(HV_ADM_HI3)}};
    return t;
}

/* Four samples in the even lanes, filtered to 64 bits and shifted; the low 32 bits count. */
static inline HvVec filter_wide(const HvVec *s, const WideTaps *t, HvVec round, int shift)
{
    HvVec a = hv_add_s64(hv_mul_even_s32(s[0], t->tap[0]), hv_mul_even_s32(s[1], t->tap[1]));
    HvVec b = hv_add_s64(hv_mul_even_s32(s[2], t->tap[2]), hv_mul_even_s32(s[3], t->tap[3]));
    return hv_shift_right_u64_by(hv_add_s64(hv_add_s64(a, b), round), shift);
}

#endif

/* Scales 2 and 3: 32-bit samples. */
static void vertical2(const Rows *rows, int width, int shift, int32_t *low, int32_t *high)
{
    const int32_t *const *r = (const int32_t *const *)rows->row;
#ifdef HV_VEC
    WideTaps tl = wide_low(), th = wide_high();
    HvVec round = hv_set_s64((int64_t)1 << (shift - 1));
    for (int j = 0; j < width; j += HV_LANES) {
        HvVec even[4], odd[4];
        for (int k = 0; k < 4; k++) {
            even[k] = hv_load(r[k] + j);
            odd[k] = hv_shift_right_u64(even[k], 32);
        }
        hv_store(low + j, hv_join_low32(filter_wide(even, &tl, round, shift),
                                        filter_wide(odd, &tl, round, shift)));
        hv_store(high + j, hv_join_low32(filter_wide(even, &th, round, shift),
                                         filter_wide(odd, &th, round, shift)));
    }
#else
    for (int j = 0; j < width; j++) {
        low[j] = (int32_t)hv_adm_round_shift(hv_adm_low(r[0][j], r[1][j], r[2][j], r[3][j]), shift);
        high[j] =
            (int32_t)hv_adm_round_shift(hv_adm_high(r[0][j], r[1][j], r[2][j], r[3][j]), shift);
    }
#endif
}

/* Columns [from, from + columns) of the low or high filter along a row, to out[0] and on. */
static void horizontal(const int32_t *t, int from, int columns, int shift, gboolean high,
                       int32_t *out)
{
    t += 2 * from;
#ifdef HV_VEC
    WideTaps taps = high ? wide_high() : wide_low();
    HvVec round = hv_set_s64((int64_t)1 << (shift - 1));
    for (int j = 0; j < columns; j += HV_LANES / 2) {
        HvVec a = hv_load(t + 2 * j - 1), b = hv_load(t + 2 * j + 1);
        HvVec s[4] = {a, hv_shift_right_u64(a, 32), b, hv_shift_right_u64(b, 32)};
        hv_store_low32(out + j, filter_wide(s, &taps, round, shift));
    }
#else
    for (int j = 0; j < columns; j++) {
        const int32_t *s = t + 2 * j;
        int64_t v =
            high ? hv_adm_high(s[-1], s[0], s[1], s[2]) : hv_adm_low(s[-1], s[0], s[1], s[2]);
        out[j] = (int32_t)hv_adm_round_shift(v, shift);
    }
#endif
}

static void dwt_row123(const HvAdmBlock *block, int row, gboolean low, gboolean bands)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    HvAdmScratch *scratch = block->scratch;
    int vertical = hv_adm_dwt_shift[block->scale][0], shift = hv_adm_dwt_shift[block->scale][1];
    for (int p = 0; p < HV_ADM_PICTURES; p++) {
        Rows rows = find_rows(block->in[p], block->in_stride, row, s->in_height);
        int32_t *t_low = scratch->low[p], *t_high = scratch->high[p];
        if (block->scale == 1)
            vertical1(&rows, s->in_width, t_low, t_high);
        else
            vertical2(&rows, s->in_width, vertical, t_low, t_high);
        pad32(t_low, s->in_width);
        pad32(t_high, s->in_width);
        if (low)
            horizontal(t_low, 0, s->width, shift, FALSE,
                       (int32_t *)((char *)block->out[p] + row * block->out_stride));
        if (bands) {
            int from = block->column0, n = block->columns;
            horizontal(t_low, from, n, shift, TRUE, scratch->band[p][HV_ADM_VERTICAL]);
            horizontal(t_high, from, n, shift, FALSE, scratch->band[p][HV_ADM_HORIZONTAL]);
            horizontal(t_high, from, n, shift, TRUE, scratch->band[p][HV_ADM_DIAGONAL]);
        }
    }
}

void HV_HOT(hv_adm_dwt_row)(const HvAdmBlock *block, int row, gboolean low, gboolean bands)
{
    if (block->scale == 0)
        dwt_row0(block, row, low, bands);
    else
        dwt_row123(block, row, low, bands);
}
