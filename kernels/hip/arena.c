/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A metric's memory on a device, its pinned memory and events: lists of what there is to free. */
#include "arena.h"

#include <string.h>

struct HvArena {
    HvHip *hip;
    HvHipStream *stream; /* that copies go through */
    GArray *device;      /* HvDevice */
    GPtrArray *pinned, *host, *events;
};

HvArena *hv_arena_new(HvStaging *staging)
{
    HvArena *arena = g_new0(HvArena, 1);
    arena->hip = hv_hip_ref(hv_staging_hip(staging));
    arena->stream = hv_staging_slot(staging, 0)->stream;
    arena->device = g_array_new(FALSE, FALSE, sizeof(HvDevice));
    arena->pinned = g_ptr_array_new();
    arena->host = g_ptr_array_new_with_free_func(g_free);
    arena->events = g_ptr_array_new();
    return arena;
}

void hv_arena_free(HvArena *arena)
{
    if (!arena)
        return;
    for (unsigned i = 0; i < arena->device->len; i++)
        hv_hip_free(arena->hip, g_array_index(arena->device, HvDevice, i));
    for (unsigned i = 0; i < arena->pinned->len; i++)
        hv_hip_free_pinned(arena->hip, g_ptr_array_index(arena->pinned, i));
    for (unsigned i = 0; i < arena->events->len; i++)
        hv_hip_event_free(arena->hip, g_ptr_array_index(arena->events, i));
    g_array_unref(arena->device);
    g_ptr_array_unref(arena->pinned);
    g_ptr_array_unref(arena->host);
    g_ptr_array_unref(arena->events);
    hv_hip_unref(arena->hip);
    g_free(arena);
}

gboolean hv_arena_device(HvArena *arena, size_t bytes, HvDevice *out, GError **error)
{
    if (!hv_hip_malloc(arena->hip, bytes, out, error))
        return FALSE;
    g_array_append_val(arena->device, *out);
    return TRUE;
}

gpointer hv_arena_pinned(HvArena *arena, size_t bytes, GError **error)
{
    gpointer memory = hv_hip_malloc_pinned(arena->hip, bytes, error);
    if (!memory)
        return NULL;
    g_ptr_array_add(arena->pinned, memory);
    return memset(memory, 0, bytes);
}

gpointer hv_arena_host(HvArena *arena, size_t bytes)
{
    gpointer memory = g_malloc0(bytes);
    g_ptr_array_add(arena->host, memory);
    return memory;
}

HvHipEvent *hv_arena_event(HvArena *arena, GError **error)
{
    HvHipEvent *event = hv_hip_event_new(arena->hip, error);
    if (event)
        g_ptr_array_add(arena->events, event);
    return event;
}

gboolean hv_arena_constant(HvArena *arena, gconstpointer value, size_t bytes, HvDevice *out,
                           GError **error)
{
    if (!hv_arena_device(arena, bytes, out, error))
        return FALSE;
    gboolean copied = hv_hip_upload(arena->hip, *out, value, bytes, arena->stream, error) &&
                      hv_hip_stream_wait(arena->hip, arena->stream, error);
    if (!copied)
        hv_hip_stream_quiesce(arena->hip, arena->stream); /* `value` and the memory may go now */
    return copied;
}

gboolean hv_arena_buffers(HvArena *arena, const char *name, gconstpointer value, size_t bytes,
                          const size_t *pointer_offsets, unsigned n, HvDevice *out, GError **error)
{
    return hv_hip_check_struct(arena->hip, name, value, pointer_offsets, n, error) &&
           hv_arena_constant(arena, value, bytes, out, error);
}
