/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM's hot loops on the CPU: one block of rows of one scale, from the low band above it to sums.
 * Compiled once per processor level. No full-size intermediate but the low bands: everything else
 * lives in a few rows of scratch memory. */
#ifndef HV_ADM_HOT_H
#define HV_ADM_HOT_H

#include "kernels/adm/adm.h"
#include "kernels/cpu/level.h"

/* Elements before and after each row of scratch memory and each row of a low band: what vectors
 * may read or write in passing. */
#define HV_ADM_PAD 32

enum { HV_ADM_RESTORED, HV_ADM_ADDITIVE, HV_ADM_PARTS };
enum { HV_ADM_REFERENCE, HV_ADM_DISTORTED, HV_ADM_PICTURES };

/* One thread's rows, zeroed when allocated. Bands, splits and shares count columns from
 * HvAdmBlock.column0. At scale 0, where coefficients have 16 bits, two share a word: the low half
 * first, the high half second. */
typedef struct HvAdmScratch {
    /* the vertical filters' results; 16-bit at scale 0 */
    int32_t *low[HV_ADM_PICTURES], *high[HV_ADM_PICTURES];
    /* scale 0: [picture][0] horizontal and vertical, [0][2] the diagonals of both pictures */
    int32_t *band[HV_ADM_PICTURES][HV_ADM_ANGLES];
    /* of even and odd rows; scale 0: [part][0] horizontal and vertical, [0][2] the diagonals of
     * both parts; scales 1 to 3: magnitudes after contrast sensitivity */
    int32_t *split[2][HV_ADM_PARTS][HV_ADM_ANGLES];
    /* what coefficients contribute to their neighbours' thresholds, by row modulo 3 */
    int32_t *share[3][HV_ADM_PARTS];
    /* what they contribute to their own beyond that */
    int32_t *own[2][HV_ADM_PARTS];
    /* the shares of three rows, added */
    int32_t *column[HV_ADM_PARTS];
} HvAdmScratch;

typedef struct HvAdmBlock {
    const HvAdmPlan *plan;
    int scale;
    int first, last;      /* rows of this scale: [first, last) */
    int column0, columns; /* the columns that the sums need, neighbours included */
    gboolean
        vector_exact; /* no 16-bit lane can overflow, the gain limit is whole: vectors may run */
    const HvPlane *luma[HV_ADM_PICTURES]; /* scale 0 */
    const void *in[HV_ADM_PICTURES]; /* scales 1 to 3: the low band above, 16-bit from scale 0 */
    void *out[HV_ADM_PICTURES];      /* this scale's low band, or NULL where none is needed */
    ptrdiff_t in_stride, out_stride; /* bytes */
    HvAdmScratch *scratch;
    HvAdmSums *sums; /* added to */
} HvAdmBlock;

/* One row of the wavelet transform: the low band into out when `low`, the others into scratch when
 * `bands`. */
#define HV_DECLARE_HOT(level)                                                                      \
    void hv_adm_block_##level(const HvAdmBlock *block);                                            \
    void hv_adm_dwt_row_##level(const HvAdmBlock *block, int row, gboolean low, gboolean bands);   \
    void hv_adm_decouple_row_##level(const HvAdmBlock *block, int row);                            \
    void hv_adm_reference_row_##level(const HvAdmBlock *block);                                    \
    void hv_adm_mask_row_##level(const HvAdmBlock *block, int row);

HV_DECLARE_HOT(baseline)
HV_DECLARE_HOT(v3)
HV_DECLARE_HOT(v4)
HV_DECLARE_HOT(vnni)

static inline const HvAdmScale *hv_adm_block_scale(const HvAdmBlock *block)
{
    return &block->plan->scale[block->scale];
}

/* Halves of a word. */
static inline int32_t hv_adm_low_half(int32_t word)
{
    return (int16_t)word;
}

static inline int32_t hv_adm_high_half(int32_t word)
{
    return word >> 16;
}

static inline int32_t hv_adm_word(int32_t low, int32_t high)
{
    return (int32_t)((uint32_t)(uint16_t)low | (uint32_t)high << 16);
}

#endif
