/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a metric holds on a device beside the staged pictures: work memory, parameters, structs that
 * kernels take by pointer, pinned memory for what comes back, events, and lists of these. All of it
 * is taken when the metric is made and freed together. Not for several threads at once. */
#ifndef HV_ARENA_H
#define HV_ARENA_H

#include "kernels/hip/staging.h"

typedef struct HvArena HvArena;

/* For a metric that measures what `staging` stages; it outlives the arena. */
HvArena *hv_arena_new(HvStaging *staging);
/* Nothing that uses the memory may run any more. Nothing for NULL. */
void hv_arena_free(HvArena *arena);

/* Device memory; contents are undefined. */
gboolean hv_arena_device(HvArena *arena, size_t bytes, HvDevice *out, GError **error);
/* Pinned host memory, zeroed; NULL and an error on failure. */
gpointer hv_arena_pinned(HvArena *arena, size_t bytes, GError **error);
/* Other host memory, zeroed. */
gpointer hv_arena_host(HvArena *arena, size_t bytes);
/* NULL and an error on failure. */
HvHipEvent *hv_arena_event(HvArena *arena, GError **error);
/* Device memory that holds a copy of `value`, which is read before this returns. */
gboolean hv_arena_constant(HvArena *arena, gconstpointer value, size_t bytes, HvDevice *out,
                           GError **error);
/* The same for a struct with pointer members at these n offsets, each of which is checked to lie
 * within this device's memory first. `name` is for the error. */
gboolean hv_arena_buffers(HvArena *arena, const char *name, gconstpointer value, size_t bytes,
                          const size_t *pointer_offsets, unsigned n, HvDevice *out, GError **error);

#endif
