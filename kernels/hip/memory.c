/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Memory, streams, events and copies. */
#include "internal.h"

enum {
    PORTABLE = 1,         /* pinned for every device */
    NON_BLOCKING = 1,     /* not ordered with the default stream */
    BLOCKING_UNTIMED = 3, /* a waiting thread sleeps; nobody asks for times */
    HOST_TO_DEVICE = 1    /* a kind of copy */
};

/* Ranges, sorted by address */

/* How many of them begin at or below `address`. */
static unsigned count_up_to(const GArray *ranges, uint64_t address)
{
    unsigned low = 0, high = ranges->len;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (g_array_index(ranges, HvRange, middle).begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_range(HvHip *hip, GArray *ranges, uint64_t begin, size_t bytes)
{
    HvRange range = {begin, bytes};
    hv_lock(&hip->lock);
    g_array_insert_val(ranges, count_up_to(ranges, begin), range);
    hv_unlock(&hip->lock);
}

static void remove_range(HvHip *hip, GArray *ranges, uint64_t begin)
{
    hv_lock(&hip->lock);
    unsigned after = count_up_to(ranges, begin);
    if (after && g_array_index(ranges, HvRange, after - 1).begin == begin)
        g_array_remove_index(ranges, after - 1);
    hv_unlock(&hip->lock);
}

static gboolean has_range(HvHip *hip, const GArray *ranges, uint64_t address, size_t bytes)
{
    gboolean within = FALSE;
    hv_lock(&hip->lock);
    unsigned after = count_up_to(ranges, address);
    if (after) {
        const HvRange *range = &g_array_index(ranges, HvRange, after - 1);
        uint64_t offset = address - range->begin;
        within = offset < range->bytes && bytes <= range->bytes - offset;
    }
    hv_unlock(&hip->lock);
    return within;
}

gboolean hv_hip_is_device(HvHip *hip, HvDevice address, size_t bytes)
{
    return has_range(hip, hip->device_memory, address, bytes);
}

gboolean hv_hip_is_pinned(HvHip *hip, gconstpointer memory, size_t bytes)
{
    return has_range(hip, hip->pinned_memory, (uintptr_t)memory, bytes);
}

size_t hv_hip_allocated(HvHip *hip)
{
    size_t sum = 0;
    hv_lock(&hip->lock);
    for (unsigned i = 0; i < hip->device_memory->len; i++)
        sum += g_array_index(hip->device_memory, HvRange, i).bytes;
    hv_unlock(&hip->lock);
    return sum;
}

/* Memory */

static gboolean check_malloc(HvHip *hip, int status, size_t call, size_t bytes, GError **error)
{
    char what[48];
    g_snprintf(what, sizeof what, "%zu bytes", bytes);
    return hv_hip_check(hip, status, call, what, error);
}

gboolean hv_hip_malloc(HvHip *hip, size_t bytes, HvDevice *out, GError **error)
{
    void *memory = NULL;
    *out = 0;
    bytes = MAX(bytes, 1);
    if (!hv_hip_enter(hip, error) ||
        !check_malloc(hip, hip->runtime.malloc(&memory, bytes), HV_CALL(malloc), bytes, error))
        return FALSE;
    *out = (uintptr_t)memory;
    add_range(hip, hip->device_memory, *out, bytes);
    return TRUE;
}

void hv_hip_free(HvHip *hip, HvDevice memory)
{
    if (!memory)
        return;
    remove_range(hip, hip->device_memory, memory);
    if (hv_hip_enter_to_free(hip))
        hip->runtime.free(hv_hip_pointer(memory));
}

gpointer hv_hip_malloc_pinned(HvHip *hip, size_t bytes, GError **error)
{
    void *memory = NULL;
    bytes = MAX(bytes, 1);
    if (!hv_hip_enter(hip, error) ||
        !check_malloc(hip, hip->runtime.host_malloc(&memory, bytes, PORTABLE), HV_CALL(host_malloc),
                      bytes, error))
        return NULL;
    add_range(hip, hip->pinned_memory, (uintptr_t)memory, bytes);
    return memory;
}

void hv_hip_free_pinned(HvHip *hip, gpointer memory)
{
    if (!memory)
        return;
    remove_range(hip, hip->pinned_memory, (uintptr_t)memory);
    if (hv_hip_enter_to_free(hip))
        hip->runtime.host_free(memory);
}

/* Streams and events */

HvHipStream *hv_hip_stream_new(HvHip *hip, GError **error)
{
    void *stream = NULL;
    if (!hv_hip_enter(hip, error) ||
        !hv_hip_check(hip, hip->runtime.stream_create(&stream, NON_BLOCKING),
                      HV_CALL(stream_create), NULL, error))
        return NULL;
    return stream;
}

/* Calls wait(object); FALSE where no answer came in time. */
static gboolean wait_for(HvHip *hip, int (*wait)(void *), void *object, int *status)
{
    if (!hip->waiter)
        *status = wait(object);
    else if (!hv_waiter_wait(hip->waiter, wait, object, hip->timeout_us, status))
        g_atomic_int_set(&hip->silent, TRUE);
    return !g_atomic_int_get(&hip->silent);
}

/* In the device. */
static gboolean wait_and_check(HvHip *hip, int (*wait)(void *), void *object, size_t call,
                               GError **error)
{
    int status = 0;
    if (!wait_for(hip, wait, object, &status))
        return hv_hip_enter(hip, error); /* which says why not */
    return hv_hip_check(hip, status, call, NULL, error);
}

/* A first wait may fail for something that failed long before; the second one then still waits. */
void hv_hip_stream_quiesce(HvHip *hip, HvHipStream *stream)
{
    int status;
    if (stream && hv_hip_enter_to_free(hip) &&
        wait_for(hip, hip->runtime.stream_synchronize, stream, &status) && status)
        wait_for(hip, hip->runtime.stream_synchronize, stream, &status);
}

void hv_hip_stream_free(HvHip *hip, HvHipStream *stream)
{
    hv_hip_stream_quiesce(hip, stream);
    if (stream && hv_hip_enter_to_free(hip))
        hip->runtime.stream_destroy(stream);
}

gboolean hv_hip_stream_wait(HvHip *hip, HvHipStream *stream, GError **error)
{
    return hv_hip_enter(hip, error) && wait_and_check(hip, hip->runtime.stream_synchronize, stream,
                                                      HV_CALL(stream_synchronize), error);
}

gboolean hv_hip_stream_wait_event(HvHip *hip, HvHipStream *stream, HvHipEvent *event,
                                  GError **error)
{
    return hv_hip_enter(hip, error) &&
           hv_hip_check(hip, hip->runtime.stream_wait_event(stream, event, 0),
                        HV_CALL(stream_wait_event), NULL, error);
}

HvHipEvent *hv_hip_event_new(HvHip *hip, GError **error)
{
    void *event = NULL;
    if (!hv_hip_enter(hip, error) ||
        !hv_hip_check(hip, hip->runtime.event_create(&event, BLOCKING_UNTIMED),
                      HV_CALL(event_create), NULL, error))
        return NULL;
    return event;
}

void hv_hip_event_free(HvHip *hip, HvHipEvent *event)
{
    if (event && hv_hip_enter_to_free(hip))
        hip->runtime.event_destroy(event);
}

gboolean hv_hip_event_record(HvHip *hip, HvHipEvent *event, HvHipStream *stream, GError **error)
{
    return hv_hip_enter(hip, error) && hv_hip_check(hip, hip->runtime.event_record(event, stream),
                                                    HV_CALL(event_record), NULL, error);
}

gboolean hv_hip_event_wait(HvHip *hip, HvHipEvent *event, GError **error)
{
    if (!hv_hip_enter(hip, error))
        return FALSE;
    /* Most often it is over, and no thread need be woken to see that. */
    int status = hip->waiter ? hip->runtime.event_query(event) : HV_STATUS_NOT_READY;
    if (status != HV_STATUS_NOT_READY)
        return hv_hip_check(hip, status, HV_CALL(event_query), NULL, error);
    return wait_and_check(hip, hip->runtime.event_synchronize, event, HV_CALL(event_synchronize),
                          error);
}

/* Copies. What is copied to or from is checked: the device does not forgive. */

static gboolean check_device(HvHip *hip, HvDevice memory, size_t bytes, size_t call, GError **error)
{
    hv_hip_queued++;
    if (hv_hip_is_device(hip, memory, bytes))
        return TRUE;
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                "%s was not called: %zu bytes at 0x%" G_GINT64_MODIFIER
                "x are not all in the device's memory",
                hv_runtime_call_name(&hip->runtime, call), bytes, memory);
    return FALSE;
}

gboolean hv_hip_upload(HvHip *hip, HvDevice to, gconstpointer from, size_t bytes,
                       HvHipStream *stream, GError **error)
{
    return check_device(hip, to, bytes, HV_CALL(upload), error) && hv_hip_enter(hip, error) &&
           hv_hip_check(hip, hip->runtime.upload(hv_hip_pointer(to), (void *)from, bytes, stream),
                        HV_CALL(upload), NULL, error);
}

gboolean hv_hip_upload_2d(HvHip *hip, HvDevice to, size_t to_pitch, gconstpointer from,
                          size_t from_pitch, size_t row_bytes, size_t rows, HvHipStream *stream,
                          GError **error)
{
    if (!row_bytes || !rows)
        return TRUE;
    return check_device(hip, to, (rows - 1) * to_pitch + row_bytes, HV_CALL(upload_2d), error) &&
           hv_hip_enter(hip, error) &&
           hv_hip_check(hip,
                        hip->runtime.upload_2d(hv_hip_pointer(to), to_pitch, from, from_pitch,
                                               row_bytes, rows, HOST_TO_DEVICE, stream),
                        HV_CALL(upload_2d), NULL, error);
}

gboolean hv_hip_download(HvHip *hip, gpointer to, HvDevice from, size_t bytes, HvHipStream *stream,
                         GError **error)
{
    return check_device(hip, from, bytes, HV_CALL(download), error) && hv_hip_enter(hip, error) &&
           hv_hip_check(hip, hip->runtime.download(to, hv_hip_pointer(from), bytes, stream),
                        HV_CALL(download), NULL, error);
}

gboolean hv_hip_fill(HvHip *hip, HvDevice to, uint8_t value, size_t bytes, HvHipStream *stream,
                     GError **error)
{
    return check_device(hip, to, bytes, HV_CALL(fill), error) && hv_hip_enter(hip, error) &&
           hv_hip_check(hip, hip->runtime.fill(hv_hip_pointer(to), value, bytes, stream),
                        HV_CALL(fill), NULL, error);
}

static gboolean probe(HvHip *hip, HvDevice memory, HvHipStream *stream, GError **error)
{
    return stream && hv_hip_fill(hip, memory, 0, 1, stream, error) &&
           hv_hip_stream_wait(hip, stream, error);
}

gboolean hv_hip_probe(HvHip *hip, GError **error)
{
    HvDevice memory;
    if (!hv_hip_malloc(hip, 1, &memory, error))
        return FALSE;
    HvHipStream *stream = hv_hip_stream_new(hip, error);
    gboolean fine = probe(hip, memory, stream, error);
    hv_hip_stream_free(hip, stream);
    hv_hip_free(hip, memory);
    return fine;
}
