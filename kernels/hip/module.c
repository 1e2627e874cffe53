/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The embedded code on a device, and the wrapper through which its kernels are launched. */
#include <string.h>

#include "internal.h"

enum { LOG_SIZE = 4096 };

static gboolean has_code(const char *platform)
{
    gboolean nvidia = !strcmp(platform, "nvidia");
    for (const HvImage *image = hv_images; image->name; image++)
        if (!(nvidia ? (const void *)image->ptx : (const void *)image->bundle))
            return FALSE;
    return hv_images[0].name != NULL;
}

char *hv_hip_describe_code(void)
{
    gboolean amd = has_code("amd"), nvidia = has_code("nvidia");
    if (!amd && !nvidia)
        return g_strdup("none");
    return g_strconcat(amd ? hv_hip_targets : "", amd && nvidia ? " and " : "",
                       nvidia ? "PTX for NVIDIA" : "", NULL);
}

/* What a user can do about it: the build lacks code for this GPU, or the driver did not like it. */
static void set_load_error(const HvHip *hip, const HvImage *image, int status, char *log,
                           GError **error)
{
    GError *cause = NULL;
    hv_hip_check(hip, status, HV_CALL(module_load), image->name, &cause);
    if (status == HV_STATUS_NO_BINARY) {
        char *code = hv_hip_describe_code();
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                    "this build has no code for %s, which is %s; it has: %s (%s)", hip->name,
                    hip->target, code, cause->message);
        g_free(code);
        g_error_free(cause);
    } else {
        if (*log)
            g_prefix_error(&cause, "%s: ", g_strchomp(g_strdelimit(log, "\n", ' ')));
        g_propagate_error(error, cause);
    }
}

static gboolean load_image(HvHip *hip, const HvImage *image, GError **error)
{
    const HvRuntime *runtime = &hip->runtime;
    gboolean nvidia = !strcmp(runtime->platform, "nvidia");
    const void *code = nvidia ? (const void *)image->ptx : (const void *)image->bundle;
    char log[LOG_SIZE] = "";
    int status = HV_STATUS_NO_BINARY;
    if (code)
        status =
            runtime->module_load(runtime, &hip->modules[hip->n_modules], code, log, sizeof log);
    if (status) {
        set_load_error(hip, image, status, log, error);
        return FALSE;
    }
    hip->n_modules++;
    return TRUE;
}

static gboolean find_kernel(HvHip *hip, const HvKernelInfo *info, GError **error)
{
    HvHipKernel *kernel = &hip->kernels[hip->n_kernels];
    int status =
        hip->runtime.module_function(&kernel->function, hip->modules[info->image], info->name);
    kernel->info = info;
    hip->n_kernels++;
    return hv_hip_check(hip, status, HV_CALL(module_function), info->name, error);
}

gboolean hv_hip_load_kernels(HvHip *hip, GError **error)
{
    unsigned n_images = 0, n_kernels = 0;
    while (hv_images[n_images].name)
        n_images++;
    while (hv_kernels[n_kernels].name)
        n_kernels++;
    hip->modules = g_new0(void *, n_images);
    hip->kernels = g_new0(HvHipKernel, n_kernels);
    if (!hv_hip_enter(hip, error))
        return FALSE;
    for (unsigned i = 0; i < n_images; i++)
        if (!load_image(hip, &hv_images[i], error))
            return FALSE;
    for (unsigned i = 0; i < n_kernels; i++)
        if (!find_kernel(hip, &hv_kernels[i], error))
            return FALSE;
    return TRUE;
}

void hv_hip_unload_kernels(HvHip *hip)
{
    gboolean answers = hv_hip_enter_to_free(hip);
    while (answers && hip->n_modules)
        hip->runtime.module_unload(hip->modules[--hip->n_modules]);
    g_free(hip->modules);
    g_free(hip->kernels);
}

const HvHipKernel *hv_hip_kernel(HvHip *hip, const char *name, GError **error)
{
    for (unsigned i = 0; i < hip->n_kernels; i++)
        if (!strcmp(hip->kernels[i].info->name, name))
            return &hip->kernels[i];
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "this build has no kernel %s", name);
    return NULL;
}

/* Launches */

static const char *const type_names[] = {
    [HV_ARGUMENT_POINTER] = "a pointer",
    [HV_ARGUMENT_U32] = "a 32-bit number",
    [HV_ARGUMENT_U64] = "a 64-bit number",
};

static gboolean refuse(const HvKernelInfo *info, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean refuse(const HvKernelInfo *info, GError **error, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *why = g_strdup_vprintf(format, list);
    va_end(list);
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "kernel %s was not launched: %s", info->name,
                why);
    g_free(why);
    return FALSE;
}

static gboolean check_argument(HvHip *hip, const HvKernelInfo *info, unsigned i,
                               const HvArgument *argument, GError **error)
{
    gboolean pointer = argument->type == HV_ARGUMENT_POINTER;
    unsigned size = argument->type == HV_ARGUMENT_U32 ? 4 : 8;
    if (pointer != (info->argument[i].is_pointer != 0) || size != info->argument[i].size)
        return refuse(info, error, "argument %u is given %s; the kernel takes %s of %u bytes", i,
                      type_names[argument->type],
                      info->argument[i].is_pointer ? "a pointer" : "a number",
                      (unsigned)info->argument[i].size);
    if (pointer && !hv_hip_is_device(hip, argument->value, 1))
        return refuse(info, error,
                      "argument %u, 0x%" G_GINT64_MODIFIER "x, is not in the device's memory", i,
                      argument->value);
    return TRUE;
}

static gboolean check_launch(HvHip *hip, const HvKernelInfo *info, const HvArgument *arguments,
                             unsigned n, GError **error)
{
    if (n != info->n_arguments)
        return refuse(info, error, "%u arguments are given; the kernel takes %u", n,
                      info->n_arguments);
    for (unsigned i = 0; i < n; i++)
        if (!check_argument(hip, info, i, &arguments[i], error))
            return FALSE;
    return TRUE;
}

gboolean hv_hip_launch(HvHip *hip, const HvHipKernel *kernel, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, HvHipStream *stream, const HvArgument *arguments,
                       unsigned n_arguments, GError **error)
{
    const HvKernelInfo *info = kernel->info;
    union {
        uint32_t u32;
        uint64_t u64;
    } value[HV_MAX_ARGUMENTS];
    void *address[HV_MAX_ARGUMENTS];

    hv_hip_queued++;
    if (!check_launch(hip, info, arguments, n_arguments, error))
        return FALSE;
    if (!grid_x || !grid_y || !grid_z)
        return refuse(info, error, "its grid is %ux%ux%u blocks", grid_x, grid_y, grid_z);
    for (unsigned i = 0; i < n_arguments; i++) {
        if (arguments[i].type == HV_ARGUMENT_U32)
            value[i].u32 = (uint32_t)arguments[i].value;
        else
            value[i].u64 = arguments[i].value;
        address[i] = &value[i];
    }
    if (!hv_hip_enter(hip, error))
        return FALSE;
    int status = hip->runtime.launch(kernel->function, grid_x, grid_y, grid_z, info->threads, 1, 1,
                                     0, stream, address, NULL);
    return hv_hip_check(hip, status, HV_CALL(launch), info->name, error);
}

gboolean hv_hip_check_struct(HvHip *hip, const char *name, gconstpointer host_copy,
                             const size_t *pointer_offsets, unsigned n, GError **error)
{
    for (unsigned i = 0; i < n; i++) {
        HvDevice address;
        memcpy(&address, (const char *)host_copy + pointer_offsets[i], sizeof address);
        if (!hv_hip_is_device(hip, address, 1)) {
            g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                        "%s: the pointer at offset %zu, 0x%" G_GINT64_MODIFIER
                        "x, is not in the device's memory",
                        name, pointer_offsets[i], address);
            return FALSE;
        }
    }
    return TRUE;
}
