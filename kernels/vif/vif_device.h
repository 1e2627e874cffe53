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
    HV_VIF_BLOCK = 256, /* threads */
    /* pixels of a block's tile */
    HV_VIF_TILE_COLUMNS = 64,
    HV_VIF_TILE_ROWS = 16,
    /* HvVifSums, member by member */
    HV_VIF_TOTALS = 4
};

typedef unsigned long long HvVifTotal;

/* What one pair's kernels work on: device memory of one slot. */
typedef struct HvVifBuffers {
    HV_GLOBAL(const uint8_t) luma[2];                /* as staged: reference, distorted */
    HV_GLOBAL(uint16_t) image[HV_VIF_SCALES - 1][2]; /* of scales 1 to 3 */
    HV_GLOBAL(HvVifTotal) totals;                    /* [scale][HV_VIF_TOTALS], 0 at first */
    HV_GLOBAL(const uint16_t) log_table;
} HvVifBuffers;

/* Every pointer of it. */
#define HV_VIF_BUFFER_POINTERS 10
static const size_t hv_vif_buffer_pointers[HV_VIF_BUFFER_POINTERS] = {
    0,
    8,
    16,
    24,
    32,
    40,
    48,
    56,
    offsetof(HvVifBuffers, totals),
    offsetof(HvVifBuffers, log_table)};

static_assert(sizeof(HvVifBuffers) == 8 * HV_VIF_BUFFER_POINTERS, "pointers only");
static_assert(offsetof(HvVifBuffers, image) == 16 && offsetof(HvVifBuffers, totals) == 64,
              "as on the host");

/* What no frame changes. */
typedef struct HvVifFixed {
    int32_t width[HV_VIF_SCALES], height[HV_VIF_SCALES];
    uint32_t stride[HV_VIF_SCALES]; /* of images, in samples; scale 0 has none */
    int32_t depth, sample_bytes;
    int32_t skip_scale0, padding;
    double gain_limit;
} HvVifFixed;

static_assert(sizeof(HvVifFixed) == 72 && offsetof(HvVifFixed, stride) == 32 &&
                  offsetof(HvVifFixed, gain_limit) == 64,
              "as on the host");

#endif
