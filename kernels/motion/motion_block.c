/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion's hot loop: differences of a row, the vertical filter over five of them, the horizontal
 * one, and the sum. Plain loops over 32-bit lanes, which the compiler vectorises. */
#include "kernels/motion/motion_hot.h"

#include <string.h>

static int is_narrow(const HvMotionBlock *block)
{
    return block->format->depth <= HV_MOTION_NARROW_DEPTH;
}

static const void *current_row(const HvMotionBlock *block, int row)
{
    return (const char *)block->current->data + row * block->current->stride;
}

/* How a word becomes a sample: bits above the depth do not count. */
typedef struct Unpack {
    unsigned shift;
    uint16_t mask;
} Unpack;

static Unpack unpacking(const HvMotionBlock *block)
{
    unsigned depth = block->format->depth;
    return (Unpack){block->current->shift, (uint16_t)((1u << depth) - 1)};
}

static void copy16(uint16_t *restrict out, const uint16_t *from, Unpack unpack, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = (uint16_t)(from[j] >> unpack.shift & unpack.mask);
}

static void copy_row(const HvMotionBlock *block, int row)
{
    void *to = (char *)block->copy + row * block->stride;
    if (block->format->depth == 8)
        memcpy(to, current_row(block, row), block->format->width);
    else
        copy16(to, current_row(block, row), unpacking(block), block->format->width);
}

static void subtract8(int16_t *restrict out, const uint8_t *a, const uint8_t *b, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = (int16_t)(a[j] - b[j]);
}

static void subtract_narrow(int16_t *restrict out, const uint16_t *a, const uint16_t *b,
                            Unpack unpack, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = (int16_t)(a[j] - (b[j] >> unpack.shift & unpack.mask));
}

static void subtract_wide(int32_t *restrict out, const uint16_t *a, const uint16_t *b,
                          Unpack unpack, unsigned width)
{
    for (unsigned j = 0; j < width; j++)
        out[j] = a[j] - (b[j] >> unpack.shift & unpack.mask);
}

static void subtract_row(const HvMotionBlock *block, int row)
{
    unsigned width = block->format->width;
    void *out = block->scratch->difference[row % HV_MOTION_TAPS];
    const void *a = (const char *)block->earlier + row * block->stride;
    const void *b = current_row(block, row);
    if (block->format->depth == 8)
        subtract8(out, a, b, width);
    else if (is_narrow(block))
        subtract_narrow(out, a, b, unpacking(block), width);
    else
        subtract_wide(out, a, b, unpacking(block), width);
}

static void filter_narrow(int32_t *restrict out, const int16_t *const *d, unsigned width, int bits)
{
    const int16_t *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4];
    for (unsigned j = 0; j < width; j++)
        out[j] = hv_motion_filter(d0[j] + d4[j], d1[j] + d3[j], d2[j], bits);
}

static void filter_wide(int32_t *restrict out, const int32_t *const *d, unsigned width, int bits)
{
    const int32_t *d0 = d[0], *d1 = d[1], *d2 = d[2], *d3 = d[3], *d4 = d[4];
    for (unsigned j = 0; j < width; j++)
        out[j] = hv_motion_filter(d0[j] + d4[j], d1[j] + d3[j], d2[j], bits);
}

static void filter_columns(const HvMotionBlock *block, int row)
{
    const HvMotionScratch *scratch = block->scratch;
    int height = (int)block->format->height, depth = (int)block->format->depth;
    const void *d[HV_MOTION_TAPS];
    for (int k = 0; k < HV_MOTION_TAPS; k++)
        d[k] =
            scratch
                ->difference[hv_motion_mirror(row - HV_MOTION_RADIUS + k, height) % HV_MOTION_TAPS];
    if (is_narrow(block))
        filter_narrow(scratch->filtered, (const int16_t *const *)d, block->format->width, depth);
    else
        filter_wide(scratch->filtered, (const int32_t *const *)d, block->format->width, depth);
}

/* No row of up to 65537 samples exceeds 32 bits. */
static uint32_t filter_row(int32_t *y, int width)
{
    uint32_t sum = 0;
    for (int k = 1; k <= HV_MOTION_RADIUS; k++) {
        y[-k] = y[hv_motion_mirror(-k, width)];
        y[width - 1 + k] = y[hv_motion_mirror(width - 1 + k, width)];
    }
    for (int j = 0; j < width; j++) {
        int32_t x =
            hv_motion_filter(y[j - 2] + y[j + 2], y[j - 1] + y[j + 1], y[j], HV_MOTION_ROW_BITS);
        sum += (uint32_t)(x < 0 ? -x : x);
    }
    return sum;
}

uint64_t HV_HOT(hv_motion_block)(const HvMotionBlock *block)
{
    uint64_t sum = 0;
    int height = (int)block->format->height, next = MAX(block->first - HV_MOTION_RADIUS, 0);
    for (int row = block->first; row < block->last; row++) {
        copy_row(block, row);
        if (!block->earlier)
            continue;
        for (; next <= MIN(row + HV_MOTION_RADIUS, height - 1); next++)
            subtract_row(block, next);
        filter_columns(block, row);
        sum += filter_row(block->scratch->filtered, (int)block->format->width);
    }
    return sum;
}
