/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What SSIM's kernels and the host that launches them share: how pictures are cut into blocks, and
 * what is asked of the windows. */
#ifndef HV_SSIM_DEVICE_H
#define HV_SSIM_DEVICE_H

#include "kernels/hip/device.h"

#include "kernels/ssim/ssim_arith.h"

enum {
    HV_SSIM_BLOCK = 256, /* threads */
    /* windows of a block's tile */
    HV_SSIM_TILE_COLUMNS = 32,
    HV_SSIM_TILE_ROWS = 16,
    /* samples of a smaller picture that a block makes: one a thread */
    HV_SSIM_SMALL_COLUMNS = 32,
    HV_SSIM_SMALL_ROWS = 8,
    /* HvSsimSums, member by member */
    HV_SSIM_TOTALS = 4
};

/* HvSsimPlan's `care` and `luminance`, together. */
enum { HV_SSIM_CARE_MASK = 3, HV_SSIM_LUMINANCE = 4 };

typedef unsigned long long HvSsimTotal;

#endif
