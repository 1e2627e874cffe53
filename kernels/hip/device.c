/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finding a GPU that this build has code for. */
#include "internal.h"

gboolean hv_hip_check(const HvHip *hip, int status, size_t call, const char *what, GError **error)
{
    if (!status)
        return TRUE;
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s%s%s failed on %s: %s (%d)",
                hv_runtime_call_name(&hip->runtime, call), what ? " for " : "", what ? what : "",
                hip->name[0] ? hip->name : "the GPU", hip->runtime.error_string(status), status);
    return FALSE;
}

static gboolean is_silent(HvHip *hip, GError **error)
{
    if (!g_atomic_int_get(&hip->silent))
        return FALSE;
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s gave no answer within %.3f seconds",
                hip->name, (double)hip->timeout_us / G_USEC_PER_SEC);
    return TRUE;
}

gboolean hv_hip_enter(HvHip *hip, GError **error)
{
    return !is_silent(hip, error) && hv_hip_check(hip, hip->runtime.set_device(hip->device),
                                                  HV_CALL(set_device), NULL, error);
}

gboolean hv_hip_enter_to_free(HvHip *hip)
{
    if (is_silent(hip, NULL))
        return FALSE;
    hip->runtime.set_device(hip->device);
    return TRUE;
}

/* Not with each wait, which must not fail because its thread has no device: what the device works
 * on may be freed after it. */
static gboolean enter_waiter(HvHip *hip, GError **error)
{
    int status = 0;
    if (!hv_waiter_enter(hip->waiter, hip->timeout_us, &status)) {
        g_atomic_int_set(&hip->silent, TRUE);
        return !is_silent(hip, error);
    }
    return hv_hip_check(hip, status, HV_CALL(set_device), NULL, error);
}

gboolean hv_hip_set_timeout(HvHip *hip, gint64 timeout_us, GError **error)
{
    hip->timeout_us = timeout_us;
    if (hip->waiter)
        return TRUE;
    hip->waiter = hv_waiter_new(&hip->runtime, hip->device, error);
    return hip->waiter && enter_waiter(hip, error);
}

static gboolean identify(HvHip *hip, GError **error)
{
    const HvRuntime *runtime = &hip->runtime;
    int status = runtime->device_name(hip->name, sizeof hip->name - 1, hip->device);
    if (!hv_hip_check(hip, status, HV_CALL(device_name), NULL, error))
        return FALSE;
    status = runtime->target(runtime, hip->target, sizeof hip->target, hip->device);
    return hv_hip_check(hip, status, HV_CALL(target), NULL, error);
}

static void hip_free(HvHip *hip)
{
    hv_hip_unload_kernels(hip);
    if (!is_silent(hip, NULL))
        hip->runtime.close_device(hip->device);
    hv_waiter_free(hip->waiter);
    g_array_unref(hip->device_memory);
    g_array_unref(hip->pinned_memory);
    hv_lock_clear(&hip->lock);
    g_free(hip);
}

static HvHip *open_device(const HvRuntime *runtime, int device, GError **error)
{
    HvHip *hip = g_new0(HvHip, 1);
    hip->runtime = *runtime;
    hip->device = device;
    if (!identify(hip, error) ||
        !hv_hip_check(hip, runtime->open_device(device), HV_CALL(open_device), NULL, error)) {
        g_free(hip);
        return NULL;
    }
    g_atomic_ref_count_init(&hip->refs);
    hip->device_memory = g_array_new(FALSE, FALSE, sizeof(HvRange));
    hip->pinned_memory = g_array_new(FALSE, FALSE, sizeof(HvRange));
    hv_lock_init(&hip->lock);
    if (!hv_hip_load_kernels(hip, error)) {
        hip_free(hip);
        return NULL;
    }
    return hip;
}

/* Appends to the list of what was tried, a clause each. */
static void note(GString *tried, const char *library, const char *why)
{
    g_string_append_printf(tried, "%s%s: %s", tried->len ? "; " : "", library, why);
}

/* dlopen's reasons begin with the library's name. */
static void note_missing(GString *tried, const char *library, const char *why)
{
    size_t length = strlen(library);
    if (g_str_has_prefix(why, library) && why[length] == ':')
        why += length + 1 + strspn(why + length + 1, " ");
    note(tried, library, why);
}

static void note_status(GString *tried, const char *library, const HvRuntime *runtime, size_t call,
                        int status)
{
    gboolean none = status == HV_STATUS_NO_DEVICE || status == HV_STATUS_BAD_DEVICE;
    char *why =
        g_strdup_printf("%s%s says: %s (%d)", none ? "it finds no GPU; " : "",
                        hv_runtime_call_name(runtime, call), runtime->error_string(status), status);
    note(tried, library, why);
    g_free(why);
}

/* How many GPUs the runtime has; 0 after a note. */
static int count_devices(const HvRuntime *runtime, const char *library, GString *tried)
{
    int n = 0, status = runtime->init(0);
    if (status) {
        note_status(tried, library, runtime, HV_CALL(init), status);
        return 0;
    }
    status = runtime->device_count(&n);
    if (status)
        note_status(tried, library, runtime, HV_CALL(device_count), status);
    else if (n <= 0)
        note(tried, library, "it finds no GPU");
    return status ? 0 : MAX(n, 0);
}

static void note_range(GString *tried, const char *library, int device_id, int n)
{
    char *why = g_strdup_printf("it has %d GPU%s, numbered from 0, and none with device-id %d", n,
                                n == 1 ? "" : "s", device_id);
    note(tried, library, why);
    g_free(why);
}

/* The first of a library's GPUs that works, or the one asked for. */
static HvHip *open_library(const char *library, int device_id, GString *tried)
{
    HvRuntime runtime;
    char *why = NULL;
    HvHip *hip = NULL;
    if (!hv_runtime_load(&runtime, library, &why)) {
        note_missing(tried, library, why);
        g_free(why);
        return NULL;
    }
    g_free(why);
    int n = count_devices(&runtime, library, tried);
    if (n && device_id >= n)
        note_range(tried, library, device_id, n);
    for (int i = MAX(device_id, 0); i < n && !hip; i++) {
        GError *error = NULL;
        hip = open_device(&runtime, i, &error);
        if (error)
            note(tried, library, error->message);
        g_clear_error(&error);
        if (device_id >= 0)
            break;
    }
    return hip;
}

HvHip *hv_hip_open(int device_id, GError **error)
{
    if (!hv_images[0].name) {
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                    "this build has no GPU kernels: it was made without hipcc and nvcc");
        return NULL;
    }
    char **candidates = hv_runtime_candidates();
    GString *tried = g_string_new(NULL);
    HvHip *hip = NULL;
    for (char **library = candidates; *library && !hip; library++)
        hip = open_library(*library, device_id, tried);
    if (!hip)
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                    "no GPU can be used. What was looked for, and what came of it: %s", tried->str);
    g_string_free(tried, TRUE);
    g_strfreev(candidates);
    return hip;
}

HvHip *hv_hip_ref(HvHip *hip)
{
    g_atomic_ref_count_inc(&hip->refs);
    return hip;
}

void hv_hip_unref(HvHip *hip)
{
    if (hip && g_atomic_ref_count_dec(&hip->refs))
        hip_free(hip);
}

const char *hv_hip_platform(const HvHip *hip)
{
    return hip->runtime.platform;
}

const char *hv_hip_device_name(const HvHip *hip)
{
    return hip->name;
}

const char *hv_hip_target(const HvHip *hip)
{
    return hip->target;
}
