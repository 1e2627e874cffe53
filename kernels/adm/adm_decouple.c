/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM's decoupling and contrast sensitivity of one row: what the distorted picture kept of the
 * reference's structure, what it added, and what both contribute to masking. */
#include "kernels/adm/adm_hot.h"
#include "kernels/adm/adm_reciprocal.h"

/* Where a row's results go. */
typedef struct Out {
    int32_t *split[HV_ADM_PARTS][HV_ADM_ANGLES], *share[HV_ADM_PARTS], *own[HV_ADM_PARTS];
} Out;

static Out find_out(const HvAdmScratch *scratch, int row)
{
    Out out;
    for (int part = 0; part < HV_ADM_PARTS; part++) {
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
            out.split[part][angle] = scratch->split[row & 1][part][angle];
        out.share[part] = scratch->share[row % 3][part];
        out.own[part] = scratch->own[row & 1][part];
    }
    return out;
}

/* Adds one coefficient's contributions to masking at scale 0. */
static inline void weigh0(const HvAdmScale *s, int angle, int32_t value, int32_t *share,
                          int32_t *own)
{
    int32_t product = (int32_t)((uint32_t)value * s->i_factor[angle]);
    int32_t weighted = hv_adm_csf0(product, hv_adm_csf0_shift[angle], hv_adm_csf0_round[angle]);
    *share += hv_adm_share30_0(weighted);
    *own += hv_adm_share15_0(weighted) - hv_adm_share30_0(weighted);
}

static void decouple0_scalar(const HvAdmBlock *block, const Out *out)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    const HvAdmScratch *scratch = block->scratch;
    double limit = block->plan->params.enhn_gain_limit;
    for (int j = 0; j < block->columns; j++) {
        int32_t o_hv = scratch->band[0][0][j], t_hv = scratch->band[1][0][j];
        int32_t diagonal = scratch->band[0][HV_ADM_DIAGONAL][j];
        int32_t o[] = {hv_adm_low_half(o_hv), hv_adm_high_half(o_hv), hv_adm_low_half(diagonal)};
        int32_t t[] = {hv_adm_low_half(t_hv), hv_adm_high_half(t_hv), hv_adm_high_half(diagonal)};
        int aligned = hv_adm_aligned(o[0], o[1], t[0], t[1]);
        int32_t share[2] = {0, 0}, own[2] = {0, 0};
        HvAdmSplit split[HV_ADM_ANGLES];
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
            split[angle] = hv_adm_decouple(o[angle], t[angle], aligned, limit, 0);
            weigh0(s, angle, split[angle].restored, &share[0], &own[0]);
            weigh0(s, angle, split[angle].additive, &share[1], &own[1]);
        }
        out->split[0][0][j] = hv_adm_word(split[0].restored, split[1].restored);
        out->split[1][0][j] = hv_adm_word(split[0].additive, split[1].additive);
        out->split[0][HV_ADM_DIAGONAL][j] = hv_adm_word(split[2].restored, split[2].additive);
        for (int part = 0; part < HV_ADM_PARTS; part++) {
            out->share[part][j] = share[part];
            out->own[part][j] = own[part];
        }
    }
}

#ifdef HV_VEC

typedef struct Split {
    HvVec restored, additive;
} Split;

/* A gain above 1 counts as 1, and twice the reference's magnitude is enough to get there: cut to
 * that, products stay within 32 bits at scale 0. */
static inline HvVec cut_target(HvVec t, HvVec magnitude)
{
    return hv_min_u32(hv_abs_s32(t), hv_shift_left_s32(magnitude, 1));
}

/* The gain is 0 where reference and distorted have different signs. */
static inline HvVec limit_gain(HvVec gain, HvVec o, HvVec t)
{
    HvMask opposed = hv_less_s32(hv_xor(o, t), hv_zero());
    return hv_select(opposed, hv_min_u32(gain, hv_set_s32(32768)), hv_zero());
}

/* Before its sign counts. */
static inline HvVec quotient0(HvVec magnitude, HvVec target)
{
    HvVec product = hv_mul_s32(hv_adm_reciprocal_lanes(magnitude), target);
    return hv_shift_right_u32(hv_add_s32(product, hv_set_s32(16384)), 15);
}

static inline HvVec gain0(HvVec o, HvVec t)
{
    HvVec magnitude = hv_abs_s32(o);
    return limit_gain(quotient0(magnitude, cut_target(t, magnitude)), o, t);
}

static inline Split decouple0(HvVec o, HvVec t, HvMask aligned, HvVec limit)
{
    HvVec gain = gain0(o, t);
    HvVec restored = hv_shift_right_s32(hv_add_s32(hv_mul_s32(gain, o), hv_set_s32(16384)), 15);
    HvVec enhanced = hv_mul_s32(restored, limit);
    HvMask negative = hv_less_s32(o, hv_zero());
    enhanced = hv_select(negative, hv_min_s32(enhanced, t), hv_max_s32(enhanced, t));
    HvMask enhances = hv_mask_and(aligned, hv_less_s32(hv_zero(), gain));
    restored = hv_select(enhances, restored, enhanced);
    Split split = {restored, hv_sub_s32(t, restored)};
    return split;
}

static inline HvVec low_halves(HvVec v)
{
    return hv_shift_right_s32(hv_shift_left_s32(v, 16), 16);
}

static inline HvVec join_pair(HvVec low, HvVec high)
{
    return hv_join_halves(low, hv_shift_left_s32(high, 16));
}

/* Of two coefficients in the halves of each word: the gain, negative, so that 1 in Q15 fits. */
static inline HvVec less_gain0_pair(HvVec o, HvVec t)
{
    HvVec magnitude = hv_abs_s16(o), low = hv_set_s32(0xffff), one = hv_set_s32(32768);
    HvVec target = hv_min_u16(hv_abs_s16(t), hv_add_s16(magnitude, magnitude));
    HvVec h = quotient0(hv_and(magnitude, low), hv_and(target, low));
    HvVec v = quotient0(hv_shift_right_u32(magnitude, 16), hv_shift_right_u32(target, 16));
    HvVec gain = join_pair(hv_min_u32(h, one), hv_min_u32(v, one));
    HvVec opposed = hv_shift_right_s16(hv_xor(o, t), 15);
    return hv_select_bits(opposed, hv_sub_s16(hv_zero(), gain), hv_zero());
}

/* The same of both; a whole limit times what `most` = 32767 / limit allows is 32668 at least, which
 * no coefficient reaches. */
static inline Split decouple0_pair(HvVec o, HvVec t, HvMask aligned, HvVec limit, HvVec most)
{
    HvVec less = less_gain0_pair(o, t), zero = hv_zero();
    HvVec restored = hv_mul_round_s16(less, hv_sub_s16(zero, o));
    HvVec cut = hv_max_s16(hv_min_s16(restored, most), hv_sub_s16(zero, most));
    HvVec enhanced = hv_mul_low_s16(cut, limit);
    enhanced =
        hv_select_bits(hv_shift_right_s16(o, 15), hv_min_s16(enhanced, t), hv_max_s16(enhanced, t));
    HvVec enhances = hv_and(hv_mask_lanes(aligned), hv_shift_right_s16(less, 15));
    restored = hv_select_bits(enhances, restored, enhanced);
    Split split = {restored, hv_sub_s16(t, restored)};
    return split;
}

/* Decides from float estimates which lanes are aligned; `unsure` are those too close to the limit
 * for the estimates' error, which is below 2^-20. */
static inline HvMask estimate_aligned(HvVecF dot, HvVecF o_sq, HvVecF t_sq, unsigned *unsure)
{
    HvVecF zero = hv_set_f32(0.0f), both = hv_mul_f32(o_sq, t_sq);
    HvVecF dot_sq = hv_mul_f32(dot, dot), least = hv_mul_f32(both, hv_set_f32(HV_ADM_COS2));
    HvVecF distance = hv_abs_f32(hv_sub_f32(dot_sq, least));
    HvMask close = hv_less_f32(distance, hv_mul_f32(both, hv_set_f32(1.0f / (1 << 18))));
    *unsure = hv_mask_bits(hv_mask_and(close, hv_less_f32(zero, dot)));
    return hv_mask_and(hv_not_less_f32(dot, zero), hv_not_less_f32(dot_sq, least));
}

static HvMask settle_aligned(HvMask aligned, unsigned unsure, const int32_t *oh, const int32_t *ov,
                             const int32_t *th, const int32_t *tv)
{
    unsigned bits = hv_mask_bits(aligned);
    for (; unsure; unsure &= unsure - 1) {
        int lane = __builtin_ctz(unsure);
        bits &= ~(1u << lane);
        bits |= (unsigned)hv_adm_aligned(oh[lane], ov[lane], th[lane], tv[lane]) << lane;
    }
    return hv_mask_from_bits(bits);
}

static inline HvMask aligned_lanes(HvMask aligned, unsigned unsure, HvVec oh, HvVec ov, HvVec th,
                                   HvVec tv)
{
    if (G_LIKELY(!unsure))
        return aligned;
    int32_t lane[4][HV_LANES];
    hv_store(lane[0], oh);
    hv_store(lane[1], ov);
    hv_store(lane[2], th);
    hv_store(lane[3], tv);
    return settle_aligned(aligned, unsure, lane[0], lane[1], lane[2], lane[3]);
}

/* A 16-bit lane times a factor below 2^16, in 16-bit pieces: factors of 2^15 and above are taken
 * as 2^15 and the rest. */
typedef struct Factor0 {
    HvVec rest, whole; /* `whole` has all bits set where 2^15 was taken out */
} Factor0;

static inline Factor0 split_factor(uint32_t factor)
{
    Factor0 f = {hv_set_s16(factor & 0x7fff), hv_set_s16(factor & 0x8000 ? -1 : 0)};
    return f;
}

static inline HvVec csf0(HvVec x, const Factor0 *f)
{
    return hv_add_s16(hv_and(x, f->whole), hv_mul_round_s16(x, f->rest));
}

/* (product + 65535) >> 17 from the product's halves: its upper half, plus one unless the lower is
 * 0, halved. */
static inline HvVec csf0_diagonal(HvVec x, HvVec factor, HvVec negative)
{
    HvVec upper = hv_add_s16(hv_mul_high_s16(x, factor), hv_and(x, negative));
    HvVec carry = hv_nonzero_s16(hv_mul_low_s16(x, factor));
    return hv_shift_right_s16(hv_add_s16(upper, carry), 1);
}

typedef struct Weight {
    HvVec share, own;
} Weight;

/* Shares of 1/30 and 1/15: 4369/4096 and 8738/4096 as whole parts and 273/4096 and 546/4096. From
 * 15360 on the second is cut to 16 bits. */
static inline Weight weigh_lanes0(HvVec weighted)
{
    HvVec c = hv_abs_s16(weighted);
    HvVec n = hv_mul_round_s16(c, hv_set_s16(273 << 3));
    HvVec o = hv_mul_round_s16(c, hv_set_s16(546 << 3));
    Weight w = {hv_add_s16(c, n), hv_add_s16(hv_add_s16(c, c), o)};
    return w;
}

static inline HvVec add_pair(HvVec pair, HvVec other)
{
    return hv_add_products(other, pair, hv_set_s16(1));
}

static inline void weigh0_lanes(const Out *out, int j, HvVec restored, HvVec additive,
                                HvVec diagonal, const Factor0 *f, HvVec fd, HvVec fd_negative)
{
    Weight r = weigh_lanes0(csf0(restored, f)), a = weigh_lanes0(csf0(additive, f));
    Weight d = weigh_lanes0(csf0_diagonal(diagonal, fd, fd_negative));
    HvVec low = hv_set_s32(0xffff);
    HvVec share_r = add_pair(r.share, hv_and(d.share, low));
    HvVec share_a = add_pair(a.share, hv_shift_right_u32(d.share, 16));
    hv_store(out->share[0] + j, share_r);
    hv_store(out->share[1] + j, share_a);
    hv_store(out->own[0] + j, hv_sub_s32(add_pair(r.own, hv_and(d.own, low)), share_r));
    hv_store(out->own[1] + j, hv_sub_s32(add_pair(a.own, hv_shift_right_u32(d.own, 16)), share_a));
}

static void decouple0_lanes(const HvAdmBlock *block, const Out *out)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    const HvAdmScratch *scratch = block->scratch;
    int whole = (int)block->plan->params.enhn_gain_limit;
    HvVec limit = hv_set_s32(whole), limit16 = hv_set_s16(whole);
    HvVec most = hv_set_s16(G_MAXINT16 / whole);
    Factor0 f = split_factor(s->i_factor[HV_ADM_HORIZONTAL]);
    HvVec fd = hv_set_s16(s->i_factor[HV_ADM_DIAGONAL]);
    HvVec fd_negative = hv_set_s16(s->i_factor[HV_ADM_DIAGONAL] & 0x8000 ? -1 : 0);
    for (int j = 0; j < block->columns; j += HV_LANES) {
        HvVec o = hv_load(scratch->band[0][0] + j), t = hv_load(scratch->band[1][0] + j);
        HvVec d = hv_load(scratch->band[0][HV_ADM_DIAGONAL] + j);
        unsigned unsure;
        HvMask aligned =
            estimate_aligned(hv_to_f32(hv_mul_add_pairs(o, t)), hv_to_f32(hv_mul_add_pairs(o, o)),
                             hv_to_f32(hv_mul_add_pairs(t, t)), &unsure);
        aligned = aligned_lanes(aligned, unsure, low_halves(o), hv_shift_right_s32(o, 16),
                                low_halves(t), hv_shift_right_s32(t, 16));
        Split hv = decouple0_pair(o, t, aligned, limit16, most);
        Split dd = decouple0(low_halves(d), hv_shift_right_s32(d, 16), aligned, limit);
        HvVec diagonal = join_pair(dd.restored, dd.additive);
        hv_store(out->split[0][0] + j, hv.restored);
        hv_store(out->split[1][0] + j, hv.additive);
        hv_store(out->split[0][HV_ADM_DIAGONAL] + j, diagonal);
        weigh0_lanes(out, j, hv.restored, hv.additive, diagonal, &f, fd, fd_negative);
    }
}

static inline HvVec odd(HvVec v)
{
    return hv_shift_right_u64(v, 32);
}

/* The product of reciprocal and target, shifted, is rounded by its last bit, for which 32 bits have
 * room: twice the gain is below 2^18. */
static inline HvVec gain123(HvVec o, HvVec t)
{
    HvVec magnitude = hv_abs_s32(o), one = hv_set_s32(1);
    HvVec shift =
        hv_max_s32(hv_sub_s32(hv_set_s32(17), hv_leading_zeros_u32(magnitude)), hv_zero());
    HvVec round = hv_shift_right_u32(hv_shift_left_lanes_u32(one, shift), 1);
    HvVec q =
        hv_adm_reciprocal_lanes(hv_shift_right_lanes_u32(hv_add_s32(magnitude, round), shift));
    HvVec target = cut_target(t, magnitude), n = hv_add_s32(shift, hv_set_s32(14));
    HvVec even = hv_shift_right_lanes_u64(hv_mul_even_u32(q, target), hv_and(n, hv_set_s64(0xff)));
    HvVec twice =
        hv_join_low32(even, hv_shift_right_lanes_u64(hv_mul_even_u32(odd(q), odd(target)), odd(n)));
    return limit_gain(hv_shift_right_u32(hv_add_s32(twice, one), 1), o, t);
}

/* (a * b + round) >> n, the low 32 bits, of signed lanes. */
static inline HvVec mul_shift(HvVec a, HvVec b, int64_t round, int n)
{
    HvVec r = hv_set_s64(round);
    HvVec x = hv_add_s64(hv_mul_even_s32(a, b), r),
          y = hv_add_s64(hv_mul_even_s32(odd(a), odd(b)), r);
    return hv_join_low32(hv_shift_right_u64_by(x, n), hv_shift_right_u64_by(y, n));
}

/* How far a coefficient may be enhanced. A whole limit is multiplied in 32 bits, with magnitudes
 * cut to what they hold: the product is then 2^31 - 100 at least, and no distorted coefficient is
 * larger (by the filters' gains, 2.11 * 10^9 at the most, at scale 1). */
typedef struct Limit {
    double exact;
    gboolean whole;
    HvVec factor, most, least;
} Limit;

static Limit find_limit(double limit)
{
    int factor = (int)limit, most = G_MAXINT32 / factor;
    return (Limit){limit, factor == limit, hv_set_s32(factor), hv_set_s32(most), hv_set_s32(-most)};
}

static inline HvVec enhance(HvVec restored, HvVec o, HvVec t, const Limit *limit)
{
    HvMask positive = hv_less_s32(hv_zero(), o);
    if (G_UNLIKELY(!limit->whole))
        return hv_scale_toward(restored, limit->exact, t, positive);
    restored = hv_min_s32(hv_max_s32(restored, limit->least), limit->most);
    restored = hv_mul_s32(restored, limit->factor);
    return hv_select(positive, hv_max_s32(restored, t), hv_min_s32(restored, t));
}

static inline Split decouple123(HvVec o, HvVec t, HvMask aligned, const Limit *limit)
{
    HvVec gain = gain123(o, t);
    HvVec restored = mul_shift(gain, o, 16384, 15);
    HvMask enhances = hv_mask_and(aligned, hv_less_s32(hv_zero(), gain));
    restored = hv_select(enhances, restored, enhance(restored, o, t, limit));
    Split split = {restored, hv_sub_s32(t, restored)};
    return split;
}

/* The upper halves of x * factor - 2^31. */
static inline HvVec share_lanes(HvVec x, int factor)
{
    HvVec f = hv_set_s32(factor), round = hv_set_s64((int64_t)1 << 31);
    return hv_join_high32(hv_sub_s64(hv_mul_even_u32(x, f), round),
                          hv_sub_s64(hv_mul_even_u32(odd(x), f), round));
}

/* Magnitudes after contrast sensitivity, and their shares of 1/30 and 1/15, added up. */
static inline HvVec weigh123(HvVec value, uint32_t factor, Weight *sum)
{
    HvVec x = hv_abs_s32(mul_shift(value, hv_set_s32(factor), 1 << 27, 28));
    sum->share = hv_add_s32(sum->share, share_lanes(x, 143165577));
    sum->own = hv_add_s32(sum->own, share_lanes(x, 286331153));
    return x;
}

static inline HvMask aligned123(HvVec oh, HvVec ov, HvVec th, HvVec tv)
{
    HvVecF foh = hv_to_f32(oh), fov = hv_to_f32(ov), fth = hv_to_f32(th), ftv = hv_to_f32(tv);
    HvVecF dot = hv_add_f32(hv_mul_f32(foh, fth), hv_mul_f32(fov, ftv));
    HvVecF o_sq = hv_add_f32(hv_mul_f32(foh, foh), hv_mul_f32(fov, fov));
    HvVecF t_sq = hv_add_f32(hv_mul_f32(fth, fth), hv_mul_f32(ftv, ftv));
    unsigned unsure;
    HvMask aligned = estimate_aligned(dot, o_sq, t_sq, &unsure);
    return aligned_lanes(aligned, unsure, oh, ov, th, tv);
}

static void decouple123_lanes(const HvAdmBlock *block, const Out *out)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    int32_t *const(*band)[HV_ADM_ANGLES] = (int32_t *const(*)[HV_ADM_ANGLES])block->scratch->band;
    Limit limit = find_limit(block->plan->params.enhn_gain_limit);
    for (int j = 0; j < block->columns; j += HV_LANES) {
        HvVec o[HV_ADM_ANGLES], t[HV_ADM_ANGLES];
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
            o[angle] = hv_load(band[0][angle] + j);
            t[angle] = hv_load(band[1][angle] + j);
        }
        HvMask aligned = aligned123(o[0], o[1], t[0], t[1]);
        Weight restored = {hv_zero(), hv_zero()}, additive = restored;
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
            Split split = decouple123(o[angle], t[angle], aligned, &limit);
            uint32_t factor = s->i_factor[angle];
            hv_store(out->split[0][angle] + j, weigh123(split.restored, factor, &restored));
            hv_store(out->split[1][angle] + j, weigh123(split.additive, factor, &additive));
        }
        hv_store(out->share[0] + j, restored.share);
        hv_store(out->own[0] + j, hv_sub_s32(restored.own, restored.share));
        hv_store(out->share[1] + j, additive.share);
        hv_store(out->own[1] + j, hv_sub_s32(additive.own, additive.share));
    }
}

#endif

static void decouple123_scalar(const HvAdmBlock *block, const Out *out)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    const HvAdmScratch *scratch = block->scratch;
    double limit = block->plan->params.enhn_gain_limit;
    for (int j = 0; j < block->columns; j++) {
        int aligned = hv_adm_aligned(scratch->band[0][0][j], scratch->band[0][1][j],
                                     scratch->band[1][0][j], scratch->band[1][1][j]);
        uint32_t share[2] = {0, 0}, own[2] = {0, 0};
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
            HvAdmSplit split = hv_adm_decouple(scratch->band[0][angle][j],
                                               scratch->band[1][angle][j], aligned, limit, 0);
            int32_t value[2] = {split.restored, split.additive};
            for (int part = 0; part < HV_ADM_PARTS; part++) {
                int32_t weighted = hv_adm_csf(value[part], s->i_factor[angle]);
                uint32_t share30 = hv_adm_share30(weighted);
                out->split[part][angle][j] = (int32_t)hv_adm_abs(weighted);
                share[part] += share30;
                own[part] += (uint32_t)hv_adm_share15(weighted) - share30;
            }
        }
        for (int part = 0; part < HV_ADM_PARTS; part++) {
            out->share[part][j] = (int32_t)share[part];
            out->own[part][j] = (int32_t)own[part];
        }
    }
}

void HV_HOT(hv_adm_decouple_row)(const HvAdmBlock *block, int row)
{
    Out out = find_out(block->scratch, row);
#ifdef HV_VEC
    if (block->vector_exact) {
        if (block->scale == 0)
            decouple0_lanes(block, &out);
        else
            decouple123_lanes(block, &out);
        return;
    }
#endif
    if (block->scale == 0)
        decouple0_scalar(block, &out);
    else
        decouple123_scalar(block, &out);
}
