/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels for the emulator's own tests: some right, some each with one mistake that it must see. */
#include "kernels/hip/device.h"

#define THREADS 128

typedef struct EmulatorBuffers {
    HV_GLOBAL(const uint32_t) in;
    HV_GLOBAL(uint32_t) out;
    uint32_t n;
} EmulatorBuffers;

HV_INLINE uint32_t index_of(void)
{
    return blockIdx.x * THREADS + threadIdx.x;
}

/* out[i] = in[i] * factor + term: no barrier. */
HV_KERNEL(THREADS) test_scale(const EmulatorBuffers *b, uint32_t factor, uint64_t term)
{
    uint32_t i = index_of();
    if (i < b->n)
        b->out[i] = b->in[i] * factor + (uint32_t)term;
}

/* Sums all of in into a 64-bit word: barriers, atomics. */
HV_KERNEL(THREADS) test_sum(const EmulatorBuffers *b, unsigned long long *sum)
{
    __shared__ uint32_t part[THREADS];
    uint32_t t = threadIdx.x, i = index_of();
    part[t] = i < b->n ? b->in[i] : 0;
    __syncthreads();
    for (uint32_t half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(sum, (unsigned long long)part[0]);
}

/* What test_sum would be without the barrier in its loop. */
HV_KERNEL(THREADS) test_missing_barrier(const EmulatorBuffers *b, unsigned long long *sum)
{
    __shared__ uint32_t part[THREADS];
    uint32_t t = threadIdx.x, i = index_of();
    part[t] = i < b->n ? b->in[i] : 0;
    __syncthreads();
    for (uint32_t half = THREADS / 2; half > 0; half /= 2)
        if (t < half)
            part[t] += part[t + half];
    if (t == 0)
        atomicAdd(sum, (unsigned long long)part[0]);
}

/* Sums the lanes of what it takes for a wavefront of 64, with a barrier only between those. */
HV_KERNEL(THREADS) test_wave64_only(const EmulatorBuffers *b, unsigned long long *sum)
{
    __shared__ uint32_t part[THREADS];
    uint32_t t = threadIdx.x, i = index_of();
    part[t] = i < b->n ? b->in[i] : 0;
    if (t % 64 == 0) {
        for (uint32_t lane = 1; lane < 64; lane++)
            part[t] += part[t + lane];
        atomicAdd(sum, (unsigned long long)part[t]);
    }
}

HV_KERNEL(THREADS) test_different_barriers(uint32_t *out)
{
    if (threadIdx.x < THREADS / 2)
        __syncthreads();
    else
        __syncthreads();
    out[index_of()] = 1;
}

HV_KERNEL(THREADS) test_overrun(const EmulatorBuffers *b)
{
    uint32_t i = index_of();
    if (i <= b->n)
        b->out[i] = 1;
}

HV_KERNEL(THREADS) test_unwritten_shared(uint32_t *out)
{
    __shared__ uint32_t part[THREADS];
    if (threadIdx.x > 0)
        part[threadIdx.x] = 1;
    __syncthreads();
    out[index_of()] = part[THREADS - 1 - threadIdx.x];
}

HV_KERNEL(THREADS) test_shift(uint32_t *out, uint32_t count)
{
    out[index_of()] = 1u << count;
}

/* Each thread of every block in turn: the order in which they ran. */
HV_KERNEL(THREADS) test_order(uint32_t *order, unsigned *next)
{
    order[atomicAdd(next, 1u)] = index_of();
}

HV_KERNEL(THREADS) test_lanes(uint32_t *out)
{
    if (index_of() == 0)
        *out = warpSize;
}
