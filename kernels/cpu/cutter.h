/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts one allocation into parts aligned to 64 bytes: once without memory, to count, then with it.
 */
#ifndef HV_CUTTER_H
#define HV_CUTTER_H

#include <glib.h>

typedef struct HvCutter {
    char *base; /* NULL while counting; aligned to 64 bytes */
    size_t used;
} HvCutter;

/* The next part, or NULL while counting. */
static inline void *hv_cut(HvCutter *cutter, size_t bytes)
{
    size_t at = cutter->used;
    cutter->used += (bytes + 63) & ~(size_t)63;
    return cutter->base ? cutter->base + at : NULL;
}

/* The bytes that a row takes of at least this many: an odd number of cache lines. Rows a power of
 * two apart share the few places that the first cache has for them, and drive each other out. */
static inline size_t hv_row_bytes(size_t bytes)
{
    return ((bytes + 63) & ~(size_t)63) | 64;
}

/* Allocates zeroed memory for what was counted, to be freed with g_free(), and starts over in it.
 * NULL where memory is short. */
static inline gpointer hv_cutter_allocate(HvCutter *cutter)
{
    gpointer memory = g_try_malloc0(cutter->used + 64);
    *cutter = (HvCutter){(char *)(((guintptr)memory + 63) & ~(guintptr)63), 0};
    return memory;
}

#endif
