/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What VIF's kernels and the host that launches them share: the buffer struct that each slot has
 * one of in device memory, the fixed parameters that each instance has one of, and how pictures are
 * cut into blocks. Sizes and offsets are asserted: both sides must see the same. */
#ifndef HV_VIF_DEVICE_H
#define HV_VIF_DEVICE_H

#include "kernels/hip/device.h"

#include "kernels/vif/vif_arith.h"

#include <assert.h>
#include <stddef.h>

enum {
    HV_VIF_BLOCK = 128, /* threads: the columns that a tile's filters reach, one each */
    /* vif_sums: pixels of a block's tile; a thread has a run of a row */
    HV_VIF_TILE_COLUMNS = 112,
    HV_VIF_TILE_ROWS = 8,
    HV_VIF_RUN = 7,
    /* vif_next0 to 2: the next scale's pixels that a block makes */
    HV_VIF_NEXT_COLUMNS = 60,
    HV_VIF_NEXT_ROWS = 4,
    /* HvVifSums, member by member */
    HV_VIF_TOTALS = 4
};

static_assert(HV_VIF_TILE_COLUMNS + 2 * HV_VIF_MAX_HALF <= HV_VIF_BLOCK &&
                  HV_VIF_TILE_COLUMNS * HV_VIF_TILE_ROWS == HV_VIF_BLOCK * HV_VIF_RUN &&
                  2 * HV_VIF_NEXT_COLUMNS + 2 * 4 <= HV_VIF_BLOCK,
              "a thread for every column and every run");

typedef unsigned long long HvVifTotal;

/* What one pair's kernels work on: device memory of one slot. */
typedef struct HvVifBuffers {
    HV_GLOBAL(const uint8_t) luma[2];                /* as staged: reference, distorted */
    HV_GLOBAL(uint16_t) image[HV_VIF_SCALES - 1][2]; /* of scales 1 to 3 */
    HV_GLOBAL(HvVifTotal) totals;                    /* [scale][HV_VIF_TOTALS], 0 at first */
} HvVifBuffers;

/* Every pointer of it. */
#define HV_VIF_BUFFER_POINTERS 9
static const size_t hv_vif_buffer_pointers[HV_VIF_BUFFER_POINTERS] = {
    0, 8, 16, 24, 32, 40, 48, 56, offsetof(HvVifBuffers, totals)};

static_assert(sizeof(HvVifBuffers) == 8 * HV_VIF_BUFFER_POINTERS, "pointers only");
static_assert(offsetof(HvVifBuffers, image) == 16 && offsetof(HvVifBuffers, totals) == 64,
              "as on the host");

/* What no frame changes. */
typedef struct HvVifFixed {
    int32_t width[HV_VIF_SCALES], height[HV_VIF_SCALES];
    uint32_t stride[HV_VIF_SCALES];         /* of images, in samples; scale 0 has none */
    uint32_t tile_columns[HV_VIF_SCALES];   /* of vif_sums; 0 where the scale is left out */
    uint32_t first_tile_row[HV_VIF_SCALES]; /* in the grid, which the coarsest scale begins */
    int32_t depth, sample_bytes;
    double gain_limit;
    HvVifLogPieces log;
} HvVifFixed;

static_assert(sizeof(HvVifFixed) == 160 && offsetof(HvVifFixed, stride) == 32 &&
                  offsetof(HvVifFixed, gain_limit) == 88 && offsetof(HvVifFixed, log) == 96,
              "as on the host");

#endif
