/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sums of samples and of their squares over a block of rows: loops that the compiler makes vectors
 * of. */
#include "kernels/moment/moment_arith.h"
#include "kernels/moment/moment_hot.h"

/* Up to this depth squares are exact, and a 32-bit sum holds enough of them to be worth it. */
#define NARROW_DEPTH 12

/* How many squares it holds. */
static int run_length(unsigned depth)
{
    uint32_t max = (1u << depth) - 1;
    return (int)(UINT32_MAX / (max * max));
}

static void add_bytes(const uint8_t *row, int n, HvMomentSums *sums)
{
    uint32_t first = 0, second = 0;
    for (int i = 0; i < n; i++) {
        int16_t x = row[i];
        first += (uint32_t)x;
        second += (uint32_t)(x * x);
    }
    sums->first += first;
    sums->second += second;
}

static void add_narrow(const uint16_t *row, int n, int shift, uint16_t mask, HvMomentSums *sums)
{
    uint32_t first = 0, second = 0;
    for (int i = 0; i < n; i++) {
        int16_t x = (int16_t)((uint16_t)(row[i] >> shift) & mask);
        first += (uint32_t)x;
        second += (uint32_t)(x * x);
    }
    sums->first += first;
    sums->second += second;
}

static void add_wide(const uint16_t *row, int n, int shift, uint16_t mask, HvMomentSums *sums)
{
    uint64_t first = 0, second = 0;
    for (int i = 0; i < n; i++) {
        uint16_t x = (uint16_t)(row[i] >> shift) & mask;
        first += x;
        second += hv_moment_square(x);
    }
    sums->first += first;
    sums->second += second;
}

static void add_row(const HvPlane *plane, const void *row, const HvFormat *format,
                    HvMomentSums *sums)
{
    int width = (int)format->width, shift = (int)plane->shift, most = run_length(format->depth);
    uint16_t mask = (uint16_t)((1u << format->depth) - 1);
    if (format->depth > NARROW_DEPTH) {
        add_wide(row, width, shift, mask, sums);
        return;
    }
    for (int i = 0; i < width; i += most)
        if (format->depth == 8)
            add_bytes((const uint8_t *)row + i, MIN(width - i, most), sums);
        else
            add_narrow((const uint16_t *)row + i, MIN(width - i, most), shift, mask, sums);
}

void HV_HOT(hv_moment_block)(const HvPlane *plane, const HvFormat *format, int first, int last,
                             HvMomentSums *sums)
{
    for (int y = first; y < last; y++)
        add_row(plane, (const char *)plane->data + y * plane->stride, format, sums);
}
