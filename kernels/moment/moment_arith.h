/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments: the one piece of arithmetic that the CPU and the kernels share. */
#ifndef HV_MOMENT_ARITH_H
#define HV_MOMENT_ARITH_H

#include "kernels/hip/device.h"

#ifndef HV_INLINE
#define HV_INLINE static inline
#endif

/* A sample's square as libvmaf's float holds it: to 24 bits, ties to even. Up to 12 bits a sample
 * that is exact; of 65535 it is 2^32 - 131072, so it always fits. */
HV_INLINE uint32_t hv_moment_square(uint32_t sample)
{
    float value = (float)sample;
    return (uint32_t)(value * value);
}

#endif
