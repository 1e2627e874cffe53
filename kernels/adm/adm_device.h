/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ADM's kernels and the host that launches them share: the buffer struct that each slot has
 * one of in device memory, the fixed parameters that each instance has one of, and how pictures are
 * cut into blocks. Sizes and offsets are asserted: both sides must see the same. */
#ifndef HV_ADM_DEVICE_H
#define HV_ADM_DEVICE_H

#include "kernels/hip/device.h"

#include "kernels/adm/adm_arith.h"

#include <assert.h>
#include <stddef.h>

enum {
    HV_ADM_BLOCK = 256, /* threads */

    /* adm_pyramid: of scale 2's low band */
    HV_ADM_PYRAMID_COLUMNS = 16,
    HV_ADM_PYRAMID_ROWS = 8,

    /* adm_bands: of the coefficients that are summed; at scale 0 and at the others */
    HV_ADM_TILE_COLUMNS0 = 64,
    HV_ADM_TILE_COLUMNS = 32,
    HV_ADM_TILE_ROWS = 8,

    /* Totals of a row: cubes of the reference, the restored and the additive part, by angle. */
    HV_ADM_TOTALS = 9,

    /* adm_finish: threads of the one block that each scale has */
    HV_ADM_FINISH_BLOCK = 64 * HV_ADM_TOTALS
};

typedef unsigned long long HvAdmTotal;

/* What one pair's kernels work on: device memory of one slot. */
typedef struct HvAdmBuffers {
    HV_GLOBAL(const uint8_t) luma[2]; /* as staged: reference, distorted */
    HV_GLOBAL(int16_t) low0[2];       /* low bands of scale 0, */
    HV_GLOBAL(int32_t) low1[2];       /* 1 */
    HV_GLOBAL(int32_t) low2[2];       /* and 2; scale 3's is not used */
    /* [row][HV_ADM_TOTALS], of all scales; adm_finish leaves zeros for the next pair */
    HV_GLOBAL(HvAdmTotal) totals;
} HvAdmBuffers;

/* Every pointer of it. */
#define HV_ADM_BUFFER_POINTERS 9
static const size_t hv_adm_buffer_pointers[HV_ADM_BUFFER_POINTERS] = {
    offsetof(HvAdmBuffers, luma),  offsetof(HvAdmBuffers, luma) + 8,
    offsetof(HvAdmBuffers, low0),  offsetof(HvAdmBuffers, low0) + 8,
    offsetof(HvAdmBuffers, low1),  offsetof(HvAdmBuffers, low1) + 8,
    offsetof(HvAdmBuffers, low2),  offsetof(HvAdmBuffers, low2) + 8,
    offsetof(HvAdmBuffers, totals)};

static_assert(sizeof(HvAdmBuffers) == 8 * HV_ADM_BUFFER_POINTERS, "pointers only");
static_assert(offsetof(HvAdmBuffers, low0) == 16 && offsetof(HvAdmBuffers, totals) == 64,
              "as on the host");

/* One scale; see HvAdmScale. */
typedef struct HvAdmFixedScale {
    int32_t in_width, in_height, width, height;
    int32_t left, right, top, bottom;
    uint32_t i_factor[3];
    int32_t cube_shift[3];
    int32_t row_shift, den_square_shift, den_cube_shift, den_row_shift;
    int32_t vertical_shift, horizontal_shift; /* of the transform, scales 1 to 3 */
    uint32_t stride;                          /* of its low band, in samples */
    uint32_t first_row;                       /* of the totals */
    uint32_t first_tile_row, tile_columns;    /* in adm_bands' grid */
} HvAdmFixedScale;

/* What no frame changes. */
typedef struct HvAdmFixed {
    HvAdmFixedScale scale[HV_ADM_SCALES];
    double limit;        /* of enhancement */
    int32_t whole_limit; /* the same where it is whole, else 0 */
    int32_t depth, sample_bytes;
    int32_t additive; /* whether additive impairment is measured */
} HvAdmFixed;

static_assert(sizeof(HvAdmFixedScale) == 96 && offsetof(HvAdmFixedScale, i_factor) == 32 &&
                  offsetof(HvAdmFixedScale, stride) == 80,
              "as on the host");
static_assert(sizeof(HvAdmFixed) == 408 && offsetof(HvAdmFixed, limit) == 384 &&
                  offsetof(HvAdmFixed, additive) == 404,
              "as on the host");

#endif
