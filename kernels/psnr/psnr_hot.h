/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR's hot loop on the CPU: squared differences, compiled once per processor level. */
#ifndef HV_PSNR_HOT_H
#define HV_PSNR_HOT_H

#include "kernels/common/picture.h"
#include "kernels/cpu/level.h"

#include <stdint.h>

/* Rows [first, last) of one plane of both pictures, `width` samples each. */
typedef struct HvPsnrBlock {
    const HvPlane *reference, *distorted;
    unsigned depth;
    int width, first, last;
} HvPsnrBlock;

/* The sum of the block's squared differences. */
uint64_t hv_psnr_block_baseline(const HvPsnrBlock *block);
uint64_t hv_psnr_block_v3(const HvPsnrBlock *block);
uint64_t hv_psnr_block_v4(const HvPsnrBlock *block);
uint64_t hv_psnr_block_vnni(const HvPsnrBlock *block);

#endif
