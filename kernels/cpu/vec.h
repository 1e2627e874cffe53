/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The widest integer and float vectors of the processor level that a file is compiled for, under
 * one set of names, so that a hot loop is written once. HV_VEC is defined where there are any
 * (x86-64 v3 and up); without it a file has its scalar loops only.
 *
 * Names say operation and lane: s16, s32, u32, s64, u64, f32. "even" operations read the low 32
 * bits of each 64-bit lane. HvVec holds HV_LANES lanes of 32 bits. Loads and stores need no
 * alignment. */
#ifndef HV_VEC_H
#define HV_VEC_H

#include <stdint.h>

/* Asks for a line of memory that will be read about a row later, into the second cache. A new
 * picture's rows come from memory, and at each row's start the processor has yet to notice. */
static inline void hv_prefetch(const void *p)
{
    __builtin_prefetch(p, 0, 2);
}

#if defined __AVX512BW__ && defined __AVX512DQ__ && defined __AVX512VL__ && defined __AVX512CD__

#include <immintrin.h>

#define HV_VEC   512
#define HV_LANES 16
typedef __m512i HvVec;
typedef __m512 HvVecF;
typedef __mmask16 HvMask;

static inline HvVec hv_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

static inline void hv_store(void *p, HvVec v)
{
    _mm512_storeu_si512(p, v);
}

/* HV_LANES samples of 16 bits, sign-extended to 32. */
static inline HvVec hv_load_s16_s32(const void *p)
{
    return _mm512_cvtepi16_epi32(_mm256_loadu_si256(p));
}

/* 2 * HV_LANES samples of 8 bits, zero-extended to 16. */
static inline HvVec hv_load_u8_s16(const void *p)
{
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256(p));
}

/* The same less 128. */
static inline HvVec hv_load_u8_less_128(const void *p)
{
    return _mm512_cvtepi8_epi16(_mm256_xor_si256(_mm256_loadu_si256(p), _mm256_set1_epi8(-128)));
}

/* The low 16 bits of each 32-bit lane. */
static inline void hv_store_low16(void *p, HvVec v)
{
    _mm256_storeu_si256(p, _mm512_cvtepi32_epi16(v));
}

/* The low 32 bits of each 64-bit lane: HV_LANES / 2 words. */
static inline void hv_store_low32(void *p, HvVec v)
{
    _mm256_storeu_si256(p, _mm512_cvtepi64_epi32(v));
}

static inline HvVec hv_set_s16(int x)
{
    return _mm512_set1_epi16(x);
}

static inline HvVec hv_set_s32(int x)
{
    return _mm512_set1_epi32(x);
}

/* Two 16-bit numbers, the first in the lower half of each 32-bit lane. */
static inline HvVec hv_set_pair(int low, int high)
{
    return _mm512_set1_epi32((int)((unsigned)(low & 0xffff) | (unsigned)high << 16));
}

static inline HvVec hv_set_s64(int64_t x)
{
    return _mm512_set1_epi64(x);
}

static inline HvVec hv_zero(void)
{
    return _mm512_setzero_si512();
}

static inline HvVec hv_add_s16(HvVec a, HvVec b)
{
    return _mm512_add_epi16(a, b);
}

static inline HvVec hv_sub_s16(HvVec a, HvVec b)
{
    return _mm512_sub_epi16(a, b);
}

static inline HvVec hv_abs_s16(HvVec a)
{
    return _mm512_abs_epi16(a);
}

static inline HvVec hv_max_u16(HvVec a, HvVec b)
{
    return _mm512_max_epu16(a, b);
}

static inline HvVec hv_min_u16(HvVec a, HvVec b)
{
    return _mm512_min_epu16(a, b);
}

static inline HvVec hv_max_s16(HvVec a, HvVec b)
{
    return _mm512_max_epi16(a, b);
}

static inline HvVec hv_min_s16(HvVec a, HvVec b)
{
    return _mm512_min_epi16(a, b);
}

/* Whether any 16-bit lane, without a sign, is above x. */
static inline int hv_any_above_u16(HvVec a, int x)
{
    return _mm512_cmpgt_epu16_mask(a, _mm512_set1_epi16(x)) != 0;
}

static inline HvVec hv_mul_low_s16(HvVec a, HvVec b)
{
    return _mm512_mullo_epi16(a, b);
}

static inline HvVec hv_mul_high_s16(HvVec a, HvVec b)
{
    return _mm512_mulhi_epi16(a, b);
}

/* (a * b + 2^14) >> 15. */
static inline HvVec hv_mul_round_s16(HvVec a, HvVec b)
{
    return _mm512_mulhrs_epi16(a, b);
}

/* Logical, by a count that is the same for all lanes but not a constant. */
static inline HvVec hv_shift_right_u16_by(HvVec a, int n)
{
    return _mm512_srl_epi16(a, _mm_cvtsi32_si128(n));
}

/* 1 in every 16-bit lane that is not 0. */
static inline HvVec hv_nonzero_s16(HvVec a)
{
    return _mm512_maskz_set1_epi16(_mm512_test_epi16_mask(a, a), 1);
}

/* Products of pairs of 16-bit lanes, added, per 32-bit lane. */
static inline HvVec hv_mul_add_pairs(HvVec a, HvVec b)
{
    return _mm512_madd_epi16(a, b);
}

/* sum + hv_mul_add_pairs(a, b), modulo 2^32. Elsewhere than with VNNI, gcc 12 would add several of
 * them as a tree, for which it has too few registers: the empty statement keeps their order. */
static inline HvVec hv_add_products(HvVec sum, HvVec a, HvVec b)
{
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(sum, a, b);
#else
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
    __asm__("" : "+v"(sum));
    return sum;
#endif
}

/* Interleaves 16-bit lanes within 128-bit blocks, and its inverse for 32-bit lanes that fit. */
static inline HvVec hv_unpack_low_s16(HvVec a, HvVec b)
{
    return _mm512_unpacklo_epi16(a, b);
}

static inline HvVec hv_unpack_high_s16(HvVec a, HvVec b)
{
    return _mm512_unpackhi_epi16(a, b);
}

static inline HvVec hv_pack_s32(HvVec a, HvVec b)
{
    return _mm512_packs_epi32(a, b);
}

static inline HvVec hv_add_s32(HvVec a, HvVec b)
{
    return _mm512_add_epi32(a, b);
}

static inline HvVec hv_sub_s32(HvVec a, HvVec b)
{
    return _mm512_sub_epi32(a, b);
}

static inline HvVec hv_mul_s32(HvVec a, HvVec b)
{
    return _mm512_mullo_epi32(a, b);
}

static inline HvVec hv_abs_s32(HvVec a)
{
    return _mm512_abs_epi32(a);
}

static inline HvVec hv_min_s32(HvVec a, HvVec b)
{
    return _mm512_min_epi32(a, b);
}

static inline HvVec hv_max_s32(HvVec a, HvVec b)
{
    return _mm512_max_epi32(a, b);
}

static inline HvVec hv_min_u32(HvVec a, HvVec b)
{
    return _mm512_min_epu32(a, b);
}

#define hv_shift_right_s16(a, n) _mm512_srai_epi16(a, n)
#define hv_shift_left_s32(a, n)  _mm512_slli_epi32(a, n)
#define hv_shift_right_s32(a, n) _mm512_srai_epi32(a, n)
#define hv_shift_right_u32(a, n) _mm512_srli_epi32(a, n)
#define hv_shift_right_u64(a, n) _mm512_srli_epi64(a, n)

static inline HvVec hv_shift_right_s32_by(HvVec a, int n)
{
    return _mm512_sra_epi32(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_right_u32_by(HvVec a, int n)
{
    return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_left_s32_by(HvVec a, int n)
{
    return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_right_u64_by(HvVec a, int n)
{
    return _mm512_srl_epi64(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_left_lanes_u32(HvVec a, HvVec n)
{
    return _mm512_sllv_epi32(a, n);
}

static inline HvVec hv_shift_right_lanes_u32(HvVec a, HvVec n)
{
    return _mm512_srlv_epi32(a, n);
}

static inline HvVec hv_shift_left_lanes_u64(HvVec a, HvVec n)
{
    return _mm512_sllv_epi64(a, n);
}

static inline HvVec hv_shift_right_lanes_u64(HvVec a, HvVec n)
{
    return _mm512_srlv_epi64(a, n);
}

static inline HvVec hv_leading_zeros_u32(HvVec a)
{
    return _mm512_lzcnt_epi32(a);
}

static inline HvVec hv_and(HvVec a, HvVec b)
{
    return _mm512_and_si512(a, b);
}

static inline HvVec hv_or(HvVec a, HvVec b)
{
    return _mm512_or_si512(a, b);
}

static inline HvVec hv_xor(HvVec a, HvVec b)
{
    return _mm512_xor_si512(a, b);
}

/* (a & b) | c. */
static inline HvVec hv_and_or(HvVec a, HvVec b, HvVec c)
{
    return _mm512_ternarylogic_epi32(a, b, c, 0xea);
}

/* b in the bytes where all bits of `which` are set, a where none is. */
static inline HvVec hv_select_bits(HvVec which, HvVec a, HvVec b)
{
    return _mm512_ternarylogic_epi32(which, b, a, 0xca);
}

static inline HvVec hv_add_s64(HvVec a, HvVec b)
{
    return _mm512_add_epi64(a, b);
}

static inline HvVec hv_sub_s64(HvVec a, HvVec b)
{
    return _mm512_sub_epi64(a, b);
}

static inline HvVec hv_mul_even_u32(HvVec a, HvVec b)
{
    return _mm512_mul_epu32(a, b);
}

static inline HvVec hv_mul_even_s32(HvVec a, HvVec b)
{
    return _mm512_mul_epi32(a, b);
}

/* The low halves of the 64-bit lanes of `even`, the low halves of `odd` above them. */
static inline HvVec hv_join_low32(HvVec even, HvVec odd)
{
    return _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA);
}

/* The same of the high halves. */
static inline HvVec hv_join_high32(HvVec even, HvVec odd)
{
    return _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
}

/* The low 16 bits of each 32-bit lane from `low`, the high ones from `high`. */
static inline HvVec hv_join_halves(HvVec low, HvVec high)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, low, high);
}

/* Modulo 2^64, as all of these; the compiler's own reduction adds signed numbers. */
static inline int64_t hv_sum_s64(HvVec a)
{
    __m256i half = _mm256_add_epi64(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
    __m128i quarter =
        _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    uint64_t low = _mm_cvtsi128_si64(quarter), high = _mm_extract_epi64(quarter, 1);
    return (int64_t)(low + high);
}

static inline HvMask hv_less_s32(HvVec a, HvVec b)
{
    return _mm512_cmplt_epi32_mask(a, b);
}

static inline HvMask hv_mask_and(HvMask a, HvMask b)
{
    return a & b;
}

static inline unsigned hv_mask_bits(HvMask a)
{
    return a;
}

/* All bits of each lane whose own is set. */
static inline HvVec hv_mask_lanes(HvMask a)
{
    return _mm512_movm_epi32(a);
}

static inline HvMask hv_mask_from_bits(unsigned bits)
{
    return bits;
}

/* b where the mask is set, else a. */
static inline HvVec hv_select(HvMask m, HvVec a, HvVec b)
{
    return _mm512_mask_blend_epi32(m, a, b);
}

/* The first n lanes of a, 0 elsewhere. */
static inline HvVec hv_first_lanes(HvVec a, int n)
{
    return _mm512_maskz_mov_epi32((1u << n) - 1, a);
}

static inline HvVecF hv_set_f32(float x)
{
    return _mm512_set1_ps(x);
}

static inline HvVecF hv_to_f32(HvVec a)
{
    return _mm512_cvtepi32_ps(a);
}

/* Of numbers from 0 to 2^31, the 16 leading bits as they are; those below may differ. */
static inline HvVecF hv_leading_f32(HvVec a)
{
    return _mm512_cvt_roundepi32_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

static inline HvVec hv_to_s32(HvVecF a)
{
    return _mm512_cvtps_epi32(a);
}

static inline HvVecF hv_add_f32(HvVecF a, HvVecF b)
{
    return _mm512_add_ps(a, b);
}

static inline HvVecF hv_sub_f32(HvVecF a, HvVecF b)
{
    return _mm512_sub_ps(a, b);
}

static inline HvVecF hv_mul_f32(HvVecF a, HvVecF b)
{
    return _mm512_mul_ps(a, b);
}

/* a * b + c, rounded once. */
static inline HvVecF hv_mul_add_f32(HvVecF a, HvVecF b, HvVecF c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* c - a * b, rounded once. */
static inline HvVecF hv_sub_product_f32(HvVecF c, HvVecF a, HvVecF b)
{
    return _mm512_fnmadd_ps(a, b, c);
}

/* One of the 8 numbers at `table` for each lane, by the lowest three bits of its index. */
static inline HvVecF hv_permute8_f32(const float *table, HvVec index)
{
    return _mm512_permutexvar_ps(index, _mm512_broadcast_f32x8(_mm256_loadu_ps(table)));
}

static inline HvVec hv_permute8_s32(const int32_t *table, HvVec index)
{
    return _mm512_permutexvar_epi32(
        index, _mm512_broadcast_i32x8(_mm256_loadu_si256((const __m256i *)table)));
}

/* The same bits. */
static inline HvVec hv_bits_f32(HvVecF a)
{
    return _mm512_castps_si512(a);
}

static inline HvVecF hv_f32_of_bits(HvVec a)
{
    return _mm512_castsi512_ps(a);
}

static inline HvVecF hv_abs_f32(HvVecF a)
{
    return _mm512_abs_ps(a);
}

/* About 1 / a, to 12 bits or better; how exactly depends on the processor. */
static inline HvVecF hv_reciprocal_f32(HvVecF a)
{
    return _mm512_rcp14_ps(a);
}

static inline HvMask hv_less_f32(HvVecF a, HvVecF b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline HvMask hv_not_less_f32(HvVecF a, HvVecF b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}

/* a * b in double for each 32-bit lane, limited by `target`, cut to an integer: the lesser of the
 * two where `least` is set, else the greater. */
static inline HvVec hv_scale_toward(HvVec a, double b, HvVec target, HvMask least)
{
    __m512d scale = _mm512_set1_pd(b);
    __m512d a0 = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(a)), scale);
    __m512d a1 = _mm512_mul_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1)), scale);
    __m512d t0 = _mm512_cvtepi32_pd(_mm512_castsi512_si256(target));
    __m512d t1 = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(target, 1));
    __m512d r0 = _mm512_mask_min_pd(_mm512_max_pd(a0, t0), (__mmask8)least, a0, t0);
    __m512d r1 = _mm512_mask_min_pd(_mm512_max_pd(a1, t1), (__mmask8)(least >> 8), a1, t1);
    __m512i low = _mm512_castsi256_si512(_mm512_cvttpd_epi32(r0));
    return _mm512_inserti64x4(low, _mm512_cvttpd_epi32(r1), 1);
}

typedef __m512d HvVecD; /* HV_LANES / 2 lanes */

static inline HvVec hv_mul_high_u16(HvVec a, HvVec b)
{
    return _mm512_mulhi_epu16(a, b);
}

static inline HvMask hv_mask_and_not(HvMask a, HvMask b)
{
    return a & ~b;
}

/* The first n lanes. */
static inline HvMask hv_first_mask(int n)
{
    return (1u << n) - 1;
}

static inline HvVecD hv_set_f64(double x)
{
    return _mm512_set1_pd(x);
}

/* The lower and the upper lanes. */
static inline HvVecD hv_low_f64(HvVec a)
{
    return _mm512_cvtepi32_pd(_mm512_castsi512_si256(a));
}

static inline HvVecD hv_high_f64(HvVec a)
{
    return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1));
}

/* Both, cut to integers. */
static inline HvVec hv_cut_f64(HvVecD low, HvVecD high)
{
    __m512i l = _mm512_castsi256_si512(_mm512_cvttpd_epi32(low));
    return _mm512_inserti64x4(l, _mm512_cvttpd_epi32(high), 1);
}

static inline HvVecD hv_add_f64(HvVecD a, HvVecD b)
{
    return _mm512_add_pd(a, b);
}

static inline HvVecD hv_sub_f64(HvVecD a, HvVecD b)
{
    return _mm512_sub_pd(a, b);
}

static inline HvVecD hv_mul_f64(HvVecD a, HvVecD b)
{
    return _mm512_mul_pd(a, b);
}

static inline HvVecD hv_div_f64(HvVecD a, HvVecD b)
{
    return _mm512_div_pd(a, b);
}

static inline HvVecD hv_min_f64(HvVecD a, HvVecD b)
{
    return _mm512_min_pd(a, b);
}

#elif defined __AVX2__ && defined __FMA__ && defined __BMI2__

#include <immintrin.h>

#define HV_VEC   256
#define HV_LANES 8
typedef __m256i HvVec;
typedef __m256 HvVecF;
typedef __m256i HvMask; /* all bits of a 32-bit lane */

static inline HvVec hv_load(const void *p)
{
    return _mm256_loadu_si256(p);
}

static inline void hv_store(void *p, HvVec v)
{
    _mm256_storeu_si256(p, v);
}

static inline HvVec hv_load_s16_s32(const void *p)
{
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(p));
}

static inline HvVec hv_load_u8_s16(const void *p)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(p));
}

static inline HvVec hv_load_u8_less_128(const void *p)
{
    return _mm256_cvtepi8_epi16(_mm_xor_si128(_mm_loadu_si128(p), _mm_set1_epi8(-128)));
}

static inline void hv_store_low16(void *p, HvVec v)
{
    const __m256i order =
        _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9,
                         12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    __m256i low = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, order), 0x08);
    _mm_storeu_si128(p, _mm256_castsi256_si128(low));
}

static inline void hv_store_low32(void *p, HvVec v)
{
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    _mm_storeu_si128(p, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(v, order)));
}

static inline HvVec hv_set_s16(int x)
{
    return _mm256_set1_epi16(x);
}

static inline HvVec hv_set_s32(int x)
{
    return _mm256_set1_epi32(x);
}

static inline HvVec hv_set_pair(int low, int high)
{
    return _mm256_set1_epi32((int)((unsigned)(low & 0xffff) | (unsigned)high << 16));
}

static inline HvVec hv_set_s64(int64_t x)
{
    return _mm256_set1_epi64x(x);
}

static inline HvVec hv_zero(void)
{
    return _mm256_setzero_si256();
}

static inline HvVec hv_add_s16(HvVec a, HvVec b)
{
    return _mm256_add_epi16(a, b);
}

static inline HvVec hv_sub_s16(HvVec a, HvVec b)
{
    return _mm256_sub_epi16(a, b);
}

static inline HvVec hv_abs_s16(HvVec a)
{
    return _mm256_abs_epi16(a);
}

static inline HvVec hv_max_u16(HvVec a, HvVec b)
{
    return _mm256_max_epu16(a, b);
}

static inline HvVec hv_min_u16(HvVec a, HvVec b)
{
    return _mm256_min_epu16(a, b);
}

static inline HvVec hv_max_s16(HvVec a, HvVec b)
{
    return _mm256_max_epi16(a, b);
}

static inline HvVec hv_min_s16(HvVec a, HvVec b)
{
    return _mm256_min_epi16(a, b);
}

static inline int hv_any_above_u16(HvVec a, int x)
{
    HvVec above = _mm256_subs_epu16(a, _mm256_set1_epi16(x));
    return !_mm256_testz_si256(above, above);
}

static inline HvVec hv_mul_low_s16(HvVec a, HvVec b)
{
    return _mm256_mullo_epi16(a, b);
}

static inline HvVec hv_mul_high_s16(HvVec a, HvVec b)
{
    return _mm256_mulhi_epi16(a, b);
}

static inline HvVec hv_mul_round_s16(HvVec a, HvVec b)
{
    return _mm256_mulhrs_epi16(a, b);
}

static inline HvVec hv_shift_right_u16_by(HvVec a, int n)
{
    return _mm256_srl_epi16(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_nonzero_s16(HvVec a)
{
    __m256i zero = _mm256_cmpeq_epi16(a, _mm256_setzero_si256());
    return _mm256_add_epi16(zero, _mm256_set1_epi16(1));
}

static inline HvVec hv_mul_add_pairs(HvVec a, HvVec b)
{
    return _mm256_madd_epi16(a, b);
}

static inline HvVec hv_add_products(HvVec sum, HvVec a, HvVec b)
{
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
    __asm__("" : "+x"(sum));
    return sum;
}

static inline HvVec hv_unpack_low_s16(HvVec a, HvVec b)
{
    return _mm256_unpacklo_epi16(a, b);
}

static inline HvVec hv_unpack_high_s16(HvVec a, HvVec b)
{
    return _mm256_unpackhi_epi16(a, b);
}

static inline HvVec hv_pack_s32(HvVec a, HvVec b)
{
    return _mm256_packs_epi32(a, b);
}

static inline HvVec hv_add_s32(HvVec a, HvVec b)
{
    return _mm256_add_epi32(a, b);
}

static inline HvVec hv_sub_s32(HvVec a, HvVec b)
{
    return _mm256_sub_epi32(a, b);
}

static inline HvVec hv_mul_s32(HvVec a, HvVec b)
{
    return _mm256_mullo_epi32(a, b);
}

static inline HvVec hv_abs_s32(HvVec a)
{
    return _mm256_abs_epi32(a);
}

static inline HvVec hv_min_s32(HvVec a, HvVec b)
{
    return _mm256_min_epi32(a, b);
}

static inline HvVec hv_max_s32(HvVec a, HvVec b)
{
    return _mm256_max_epi32(a, b);
}

static inline HvVec hv_min_u32(HvVec a, HvVec b)
{
    return _mm256_min_epu32(a, b);
}

#define hv_shift_right_s16(a, n) _mm256_srai_epi16(a, n)
#define hv_shift_left_s32(a, n)  _mm256_slli_epi32(a, n)
#define hv_shift_right_s32(a, n) _mm256_srai_epi32(a, n)
#define hv_shift_right_u32(a, n) _mm256_srli_epi32(a, n)
#define hv_shift_right_u64(a, n) _mm256_srli_epi64(a, n)

static inline HvVec hv_shift_right_s32_by(HvVec a, int n)
{
    return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_right_u32_by(HvVec a, int n)
{
    return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_left_s32_by(HvVec a, int n)
{
    return _mm256_sll_epi32(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_right_u64_by(HvVec a, int n)
{
    return _mm256_srl_epi64(a, _mm_cvtsi32_si128(n));
}

static inline HvVec hv_shift_left_lanes_u32(HvVec a, HvVec n)
{
    return _mm256_sllv_epi32(a, n);
}

static inline HvVec hv_shift_right_lanes_u32(HvVec a, HvVec n)
{
    return _mm256_srlv_epi32(a, n);
}

static inline HvVec hv_shift_left_lanes_u64(HvVec a, HvVec n)
{
    return _mm256_sllv_epi64(a, n);
}

static inline HvVec hv_shift_right_lanes_u64(HvVec a, HvVec n)
{
    return _mm256_srlv_epi64(a, n);
}

/* From the exponent of the float that the value converts to; its lower bits are cleared first, so
 * that rounding cannot carry into the next power of two. Values below 2^31. */
static inline HvVec hv_leading_zeros_u32(HvVec a)
{
    __m256i top = _mm256_andnot_si256(_mm256_srli_epi32(a, 1), a);
    __m256i exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(top)), 23);
    return _mm256_min_epi32(_mm256_sub_epi32(_mm256_set1_epi32(158), exponent),
                            _mm256_set1_epi32(32));
}

static inline HvVec hv_and(HvVec a, HvVec b)
{
    return _mm256_and_si256(a, b);
}

static inline HvVec hv_or(HvVec a, HvVec b)
{
    return _mm256_or_si256(a, b);
}

static inline HvVec hv_xor(HvVec a, HvVec b)
{
    return _mm256_xor_si256(a, b);
}

static inline HvVec hv_and_or(HvVec a, HvVec b, HvVec c)
{
    return _mm256_or_si256(_mm256_and_si256(a, b), c);
}

static inline HvVec hv_select_bits(HvVec which, HvVec a, HvVec b)
{
    return _mm256_blendv_epi8(a, b, which);
}

static inline HvVec hv_add_s64(HvVec a, HvVec b)
{
    return _mm256_add_epi64(a, b);
}

static inline HvVec hv_sub_s64(HvVec a, HvVec b)
{
    return _mm256_sub_epi64(a, b);
}

static inline HvVec hv_mul_even_u32(HvVec a, HvVec b)
{
    return _mm256_mul_epu32(a, b);
}

static inline HvVec hv_mul_even_s32(HvVec a, HvVec b)
{
    return _mm256_mul_epi32(a, b);
}

static inline HvVec hv_join_low32(HvVec even, HvVec odd)
{
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

static inline HvVec hv_join_high32(HvVec even, HvVec odd)
{
    return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

static inline HvVec hv_join_halves(HvVec low, HvVec high)
{
    return _mm256_blend_epi16(low, high, 0xaa);
}

static inline int64_t hv_sum_s64(HvVec a)
{
    __m128i half = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    uint64_t low = _mm_cvtsi128_si64(half), high = _mm_extract_epi64(half, 1);
    return (int64_t)(low + high);
}

static inline HvMask hv_less_s32(HvVec a, HvVec b)
{
    return _mm256_cmpgt_epi32(b, a);
}

static inline HvMask hv_mask_and(HvMask a, HvMask b)
{
    return _mm256_and_si256(a, b);
}

static inline HvVec hv_mask_lanes(HvMask a)
{
    return a;
}

static inline unsigned hv_mask_bits(HvMask a)
{
    return _mm256_movemask_ps(_mm256_castsi256_ps(a));
}

static inline HvMask hv_mask_from_bits(unsigned bits)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), lane), lane);
}

static inline HvVec hv_select(HvMask m, HvVec a, HvVec b)
{
    return _mm256_blendv_epi8(a, b, m);
}

static inline HvVec hv_first_lanes(HvVec a, int n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_and_si256(a, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane));
}

static inline HvVecF hv_set_f32(float x)
{
    return _mm256_set1_ps(x);
}

static inline HvVecF hv_to_f32(HvVec a)
{
    return _mm256_cvtepi32_ps(a);
}

/* The bit after the 16 leading ones is cleared, so that no rounding reaches them. */
static inline HvVecF hv_leading_f32(HvVec a)
{
    return _mm256_cvtepi32_ps(_mm256_andnot_si256(_mm256_srli_epi32(a, 16), a));
}

static inline HvVec hv_to_s32(HvVecF a)
{
    return _mm256_cvtps_epi32(a);
}

static inline HvVecF hv_add_f32(HvVecF a, HvVecF b)
{
    return _mm256_add_ps(a, b);
}

static inline HvVecF hv_sub_f32(HvVecF a, HvVecF b)
{
    return _mm256_sub_ps(a, b);
}

static inline HvVecF hv_mul_f32(HvVecF a, HvVecF b)
{
    return _mm256_mul_ps(a, b);
}

/* a * b + c, rounded once. */
static inline HvVecF hv_mul_add_f32(HvVecF a, HvVecF b, HvVecF c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline HvVecF hv_sub_product_f32(HvVecF c, HvVecF a, HvVecF b)
{
    return _mm256_fnmadd_ps(a, b, c);
}

/* One of the 8 numbers at `table` for each lane, by the lowest three bits of its index. */
static inline HvVecF hv_permute8_f32(const float *table, HvVec index)
{
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), index);
}

static inline HvVec hv_permute8_s32(const int32_t *table, HvVec index)
{
    return _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)table), index);
}

/* The same bits. */
static inline HvVec hv_bits_f32(HvVecF a)
{
    return _mm256_castps_si256(a);
}

static inline HvVecF hv_f32_of_bits(HvVec a)
{
    return _mm256_castsi256_ps(a);
}

static inline HvVecF hv_abs_f32(HvVecF a)
{
    return _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
}

static inline HvVecF hv_reciprocal_f32(HvVecF a)
{
    return _mm256_rcp_ps(a);
}

static inline HvMask hv_less_f32(HvVecF a, HvVecF b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}

static inline HvMask hv_not_less_f32(HvVecF a, HvVecF b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GE_OQ));
}

static inline __m128i hv_scale_toward_half(__m128i a, __m256d b, __m128i target, __m128i least)
{
    __m256d scaled = _mm256_mul_pd(_mm256_cvtepi32_pd(a), b);
    __m256d limit = _mm256_cvtepi32_pd(target);
    __m256d choose = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(least));
    return _mm256_cvttpd_epi32(
        _mm256_blendv_pd(_mm256_max_pd(scaled, limit), _mm256_min_pd(scaled, limit), choose));
}

static inline HvVec hv_scale_toward(HvVec a, double b, HvVec target, HvMask least)
{
    __m256d scale = _mm256_set1_pd(b);
    __m128i low =
        hv_scale_toward_half(_mm256_castsi256_si128(a), scale, _mm256_castsi256_si128(target),
                             _mm256_castsi256_si128(least));
    __m128i high = hv_scale_toward_half(_mm256_extracti128_si256(a, 1), scale,
                                        _mm256_extracti128_si256(target, 1),
                                        _mm256_extracti128_si256(least, 1));
    return _mm256_set_m128i(high, low);
}

typedef __m256d HvVecD; /* HV_LANES / 2 lanes */

static inline HvVec hv_mul_high_u16(HvVec a, HvVec b)
{
    return _mm256_mulhi_epu16(a, b);
}

static inline HvMask hv_mask_and_not(HvMask a, HvMask b)
{
    return _mm256_andnot_si256(b, a);
}

static inline HvMask hv_first_mask(int n)
{
    return hv_mask_from_bits((1u << n) - 1);
}

static inline HvVecD hv_set_f64(double x)
{
    return _mm256_set1_pd(x);
}

static inline HvVecD hv_low_f64(HvVec a)
{
    return _mm256_cvtepi32_pd(_mm256_castsi256_si128(a));
}

static inline HvVecD hv_high_f64(HvVec a)
{
    return _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1));
}

static inline HvVec hv_cut_f64(HvVecD low, HvVecD high)
{
    return _mm256_set_m128i(_mm256_cvttpd_epi32(high), _mm256_cvttpd_epi32(low));
}

static inline HvVecD hv_add_f64(HvVecD a, HvVecD b)
{
    return _mm256_add_pd(a, b);
}

static inline HvVecD hv_sub_f64(HvVecD a, HvVecD b)
{
    return _mm256_sub_pd(a, b);
}

static inline HvVecD hv_mul_f64(HvVecD a, HvVecD b)
{
    return _mm256_mul_pd(a, b);
}

static inline HvVecD hv_div_f64(HvVecD a, HvVecD b)
{
    return _mm256_div_pd(a, b);
}

static inline HvVecD hv_min_f64(HvVecD a, HvVecD b)
{
    return _mm256_min_pd(a, b);
}

#endif

#endif
