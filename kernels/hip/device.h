/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What .hip files and the structs that they share with the host are written with. Kernels see one
 * language whether hipcc, nvcc or the tests' emulator compiles them:
 *
 *   HV_KERNEL(threads) name(arguments)   an extern "C" kernel for blocks of exactly that many
 * threads HV_GLOBAL(type) p                    a pointer to device memory inside a struct
 *
 * and HIP's own __shared__, __syncthreads(), threadIdx, blockIdx, atomicAdd(). Nothing depends on
 * the width of a wavefront. */
#ifndef HV_DEVICE_H
#define HV_DEVICE_H

#include <stdint.h>

#if defined __HIPCC__ && !defined __CUDACC__ && !defined HV_EMULATOR
#include <hip/hip_runtime.h>
#endif

/* Device code that compiles for a GPU, or for the emulator in its place. */
#if defined __HIPCC__ || defined __CUDACC__ || defined HV_EMULATOR
#define HV_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define HV_INLINE          static __device__ __forceinline__
#endif

/* An estimate of 1 / x, to 12 bits or better, for arithmetic whose result does not depend on it. */
#if defined __CUDA_ARCH__
HV_INLINE float hv_estimate(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#define HV_RECIPROCAL_ESTIMATE(x) hv_estimate(x)
#elif defined __AMDGCN__
#define HV_RECIPROCAL_ESTIMATE(x) __builtin_amdgcn_rcpf(x)
#else
#define HV_RECIPROCAL_ESTIMATE(x) (1.0f / (x))
#endif

/* Before a loop that must vanish, so that what it indexes stays in registers; and before one that
 * must not. */
#if defined __HIP_DEVICE_COMPILE__ || defined __CUDACC__
#define HV_UNROLL    _Pragma("unroll")
#define HV_NO_UNROLL _Pragma("unroll 1")
#else
#define HV_UNROLL
#define HV_NO_UNROLL
#endif

/* Without the address space the AMD compiler cannot know that a pointer loaded from memory is
 * global, and makes flat instructions of every access through it. */
#if defined __HIP_DEVICE_COMPILE__ && defined __AMDGCN__
#define HV_GLOBAL(type) __attribute__((address_space(1))) type *
#else
#define HV_GLOBAL(type) type *
#endif

#endif
