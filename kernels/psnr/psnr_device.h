/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How PSNR's kernel and the host that launches it cut planes into blocks. */
#ifndef HV_PSNR_DEVICE_H
#define HV_PSNR_DEVICE_H

#include "kernels/hip/device.h"

enum {
    HV_PSNR_BLOCK = 256, /* threads, and columns of a block's tile */
    HV_PSNR_ROWS = 16    /* of the tile */
};

typedef unsigned long long HvPsnrTotal;

#endif
