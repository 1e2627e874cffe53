/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the kernel of moments and the host that launches it cut planes into blocks. */
#ifndef HV_MOMENT_DEVICE_H
#define HV_MOMENT_DEVICE_H

#include "kernels/moment/moment_arith.h"

enum {
    HV_MOMENT_BLOCK = 256, /* threads, and columns of a block's tile */
    HV_MOMENT_ROWS = 16,   /* of the tile */
    HV_MOMENT_TOTALS = 2   /* of a picture: HvMomentSums, member by member */
};

typedef unsigned long long HvMomentTotal;

#endif
