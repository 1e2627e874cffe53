/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Included before each .hip file when the emulator is built: the part of HIP's language that hipcc
 * and nvcc both have, for a C++ compiler. */
#ifndef EMULATED_H
#define EMULATED_H

#include "tests/emulator/emulator.h"
#include <math.h>
#include <type_traits>
#include <utility>

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
/* One block runs at a time, so its shared memory can be static. */
#define __shared__ static __attribute__((section("emu_shared")))
/* registry.py finds the kernels by this. */
#ifndef EMU_LIST_KERNELS
#define __launch_bounds__(threads)
#endif

extern "C" {
extern EmuDim threadIdx, blockIdx, blockDim, gridDim;
extern unsigned warpSize;
void emu_barrier(const char *file, unsigned line);
void emu_memory_access(uintptr_t address, size_t size, EmuAccess access);
}

#define __syncthreads() emu_barrier(__FILE__, __LINE__)
static inline void __threadfence(void)
{
}

/* Atomics, for the types that CUDA has them for too. */
#define EMU_UNCHECKED static inline __attribute__((no_sanitize("thread", "undefined")))
template <typename T>
constexpr bool emu_has_atomics = std::is_same<T, int>::value || std::is_same<T, unsigned>::value ||
                                 std::is_same<T, unsigned long long>::value;
template <typename T> struct EmuSame {
    typedef T type;
};
template <typename T, typename F> EMU_UNCHECKED T emu_atomic(T *at, F change)
{
    static_assert(emu_has_atomics<T>, "atomics are for int, unsigned and unsigned long long");
    emu_memory_access((uintptr_t)at, sizeof *at, EMU_ATOMIC);
    T old = *at;
    *at = change(old);
    return old;
}
#define EMU_ATOMIC_FUNCTION(name, result)                                                          \
    template <typename T> EMU_UNCHECKED T name(T *at, typename EmuSame<T>::type value)             \
    {                                                                                              \
        return emu_atomic(                                                                         \
            at, [value](T old) __attribute__((no_sanitize("undefined")))->T { return result; });   \
    }
EMU_ATOMIC_FUNCTION(atomicAdd, (T)((unsigned long long)old + (unsigned long long)value))
EMU_ATOMIC_FUNCTION(atomicMin, old < value ? old : value)
EMU_ATOMIC_FUNCTION(atomicMax, old > value ? old : value)
EMU_ATOMIC_FUNCTION(atomicOr, old | value)
EMU_ATOMIC_FUNCTION(atomicAnd, old &value)
EMU_ATOMIC_FUNCTION(atomicXor, old ^ value)
EMU_ATOMIC_FUNCTION(atomicExch, value)
template <typename T>
EMU_UNCHECKED T atomicCAS(T *at, typename EmuSame<T>::type expected, typename EmuSame<T>::type next)
{
    return emu_atomic(at, [=](T old) -> T { return old == expected ? next : old; });
}

template <typename T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}
template <typename T> static inline T max(T a, T b)
{
    return a < b ? b : a;
}
static inline int __clz(int value)
{
    return value ? __builtin_clz((unsigned)value) : 32;
}
static inline int __clzll(long long value)
{
    return value ? __builtin_clzll((unsigned long long)value) : 64;
}
static inline int __popc(unsigned value)
{
    return __builtin_popcount(value);
}
static inline int __mulhi(int a, int b)
{
    return (int)((long long)a * b >> 32);
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline long long __mul64hi(long long a, long long b)
{
    return (long long)((__int128)a * b >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#define EMU_VECTORS(type, name)                                                                    \
    struct alignas(2 * sizeof(type)) name##2                                                       \
    {                                                                                              \
        type x, y;                                                                                 \
    };                                                                                             \
    struct alignas(4 * sizeof(type)) name##4                                                       \
    {                                                                                              \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    static inline name##2 make_##name##2(type x, type y)                                           \
    {                                                                                              \
        return {x, y};                                                                             \
    }                                                                                              \
    static inline name##4 make_##name##4(type x, type y, type z, type w)                           \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
EMU_VECTORS(unsigned char, uchar)
EMU_VECTORS(short, short)
EMU_VECTORS(unsigned short, ushort)
EMU_VECTORS(int, int)
EMU_VECTORS(unsigned, uint)
EMU_VECTORS(float, float)

/* A kernel's arguments, told from its type, and the call that unpacks them. */
template <typename... A> struct EmuSignature;
template <typename... A> struct EmuSignature<void (*)(A...)> {
    template <void (*kernel)(A...), size_t... I>
    __attribute__((no_sanitize("thread", "undefined"))) static void
    unpack(void *const *arguments, std::index_sequence<I...>)
    {
        kernel(*static_cast<typename std::remove_const<A>::type *>(arguments[I])...);
    }
    template <void (*kernel)(A...)>
    __attribute__((no_sanitize("thread", "undefined"))) static void call(void *const *arguments)
    {
        unpack<kernel>(arguments, std::index_sequence_for<A...>());
    }
    static constexpr EmuKernel describe(const char *name, unsigned threads,
                                        void (*call)(void *const *))
    {
        static_assert(sizeof...(A) <= EMU_MAX_ARGUMENTS, "too many arguments");
        return {name, threads, sizeof...(A), {{(unsigned)sizeof(A), std::is_pointer<A>::value}...},
                call, nullptr};
    }
};

#endif
