/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Squared differences of a block of rows: loops that the compiler makes vectors of, with the
 * distance between samples constant in each. */
#include "kernels/psnr/psnr_hot.h"

#define INLINE static inline __attribute__((always_inline))

/* Up to this depth a 32-bit sum holds enough squares to be worth it. */
#define NARROW_DEPTH 12

/* How many squares it holds. */
static int run_length(unsigned depth)
{
    uint32_t max = (1u << depth) - 1;
    return (int)(UINT32_MAX / (max * max));
}

INLINE uint32_t bytes(const uint8_t *a, const uint8_t *b, int n, int step_a, int step_b)
{
    uint32_t sum = 0;
    for (int i = 0; i < n; i++) {
        int16_t d = (int16_t)(a[i * step_a] - b[i * step_b]);
        sum += (uint32_t)(d * d);
    }
    return sum;
}

/* How words are read: value = word >> shift & mask. */
typedef struct Words {
    int shift_a, shift_b;
    uint16_t mask;
} Words;

INLINE uint16_t value(uint16_t word, int shift, uint16_t mask)
{
    return (uint16_t)(word >> shift) & mask;
}

INLINE uint32_t narrow(const uint16_t *a, const uint16_t *b, int n, int step_a, int step_b,
                       Words how)
{
    uint32_t sum = 0;
    for (int i = 0; i < n; i++) {
        int16_t d = (int16_t)(value(a[i * step_a], how.shift_a, how.mask) -
                              value(b[i * step_b], how.shift_b, how.mask));
        sum += (uint32_t)(d * d);
    }
    return sum;
}

INLINE uint64_t wide(const uint16_t *a, const uint16_t *b, int n, int step_a, int step_b, Words how)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        uint32_t d = (uint32_t)value(a[i * step_a], how.shift_a, how.mask) -
                     value(b[i * step_b], how.shift_b, how.mask);
        sum += d * d;
    }
    return sum;
}

INLINE uint64_t byte_row(const uint8_t *a, const uint8_t *b, int n, int step_a, int step_b)
{
    uint64_t sum = 0;
    int most = run_length(8);
    for (int i = 0; i < n; i += most)
        sum += bytes(a + (ptrdiff_t)i * step_a, b + (ptrdiff_t)i * step_b, MIN(n - i, most), step_a,
                     step_b);
    return sum;
}

INLINE uint64_t word_row(const uint16_t *a, const uint16_t *b, int n, int step_a, int step_b,
                         Words how, unsigned depth)
{
    uint64_t sum = 0;
    if (depth > NARROW_DEPTH)
        return wide(a, b, n, step_a, step_b, how);
    int most = run_length(depth);
    for (int i = 0; i < n; i += most)
        sum += narrow(a + (ptrdiff_t)i * step_a, b + (ptrdiff_t)i * step_b, MIN(n - i, most),
                      step_a, step_b, how);
    return sum;
}

/* Steps are counted in samples: 1, or 2 in interleaved chroma. */
INLINE uint64_t row_of(const HvPsnrBlock *block, const void *a, const void *b, int step_a,
                       int step_b)
{
    Words how = {(int)block->reference->shift, (int)block->distorted->shift,
                 (uint16_t)((1u << block->depth) - 1)};
    if (block->depth == 8)
        return byte_row(a, b, block->width, step_a, step_b);
    return word_row(a, b, block->width, step_a, step_b, how, block->depth);
}

static uint64_t measure_row(const HvPsnrBlock *block, const void *a, const void *b)
{
    unsigned bytes_each = block->depth > 8 ? 2 : 1;
    gboolean twice_a = block->reference->step > bytes_each;
    gboolean twice_b = block->distorted->step > bytes_each;
    if (twice_a)
        return twice_b ? row_of(block, a, b, 2, 2) : row_of(block, a, b, 2, 1);
    return twice_b ? row_of(block, a, b, 1, 2) : row_of(block, a, b, 1, 1);
}

uint64_t HV_HOT(hv_psnr_block)(const HvPsnrBlock *block)
{
    const HvPlane *a = block->reference, *b = block->distorted;
    uint64_t sum = 0;
    for (int y = block->first; y < block->last; y++)
        sum += measure_row(block, (const char *)a->data + y * a->stride,
                           (const char *)b->data + y * b->stride);
    return sum;
}
