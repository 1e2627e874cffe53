/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The hot loop of moments on the CPU, compiled once per processor level. */
#ifndef HV_MOMENT_HOT_H
#define HV_MOMENT_HOT_H

#include "kernels/cpu/level.h"
#include "kernels/moment/moment.h"

/* Adds rows [first, last) of a luma plane to the sums. */
void hv_moment_block_baseline(const HvPlane *plane, const HvFormat *format, int first, int last,
                              HvMomentSums *sums);
void hv_moment_block_v3(const HvPlane *plane, const HvFormat *format, int first, int last,
                        HvMomentSums *sums);
void hv_moment_block_v4(const HvPlane *plane, const HvFormat *format, int first, int last,
                        HvMomentSums *sums);
void hv_moment_block_vnni(const HvPlane *plane, const HvFormat *format, int first, int last,
                          HvMomentSums *sums);

#endif
