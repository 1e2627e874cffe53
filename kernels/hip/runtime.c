/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Finding and loading the runtime; HIP's own functions. */
#include "runtime.h"

#include <gmodule.h>
#include <string.h>

#define MEMBER(name) offsetof(HvRuntime, name)

static const HvSymbol hip_symbols[] = {
    {MEMBER(init), "hipInit"},
    {MEMBER(device_count), "hipGetDeviceCount"},
    {MEMBER(device_name), "hipDeviceGetName"},
    {MEMBER(set_device), "hipSetDevice"},
    {MEMBER(error_string), "hipGetErrorString"},
    {MEMBER(malloc), "hipMalloc"},
    {MEMBER(free), "hipFree"},
    {MEMBER(host_malloc), "hipHostMalloc"},
    {MEMBER(host_free), "hipHostFree"},
    {MEMBER(stream_create), "hipStreamCreateWithFlags"},
    {MEMBER(stream_destroy), "hipStreamDestroy"},
    {MEMBER(stream_synchronize), "hipStreamSynchronize"},
    {MEMBER(stream_wait_event), "hipStreamWaitEvent"},
    {MEMBER(event_create), "hipEventCreateWithFlags"},
    {MEMBER(event_destroy), "hipEventDestroy"},
    {MEMBER(event_record), "hipEventRecord"},
    {MEMBER(event_query), "hipEventQuery"},
    {MEMBER(event_synchronize), "hipEventSynchronize"},
    {MEMBER(upload), "hipMemcpyHtoDAsync"},
    {MEMBER(upload_2d), "hipMemcpy2DAsync"},
    {MEMBER(download), "hipMemcpyDtoHAsync"},
    {MEMBER(fill), "hipMemsetAsync"},
    {MEMBER(load_data), "hipModuleLoadData"},
    {MEMBER(module_unload), "hipModuleUnload"},
    {MEMBER(module_function), "hipModuleGetFunction"},
    {MEMBER(launch), "hipModuleLaunchKernel"},
};

/* Since HIP 5.0. hipGraphInstantiate has had two signatures, the one WithFlags one. */
static const HvSymbol graph_symbols[] = {
    {MEMBER(capture_begin), "hipStreamBeginCapture"},
    {MEMBER(capture_end), "hipStreamEndCapture"},
    {MEMBER(graph_nodes), "hipGraphGetNodes"},
    {MEMBER(graph_instantiate), "hipGraphInstantiateWithFlags"},
    {MEMBER(graph_destroy), "hipGraphDestroy"},
    {MEMBER(graph_launch), "hipGraphLaunch"},
    {MEMBER(instance_destroy), "hipGraphExecDestroy"},
};

/* Both layouts of hipDeviceProp_t that ever were: the name of the target stands at this offset. */
static const struct {
    const char *name;
    size_t target_offset;
} properties_versions[] = {{"hipGetDevicePropertiesR0600", 1160}, {"hipGetDeviceProperties", 396}};

enum { PROPERTIES_SIZE = 4096 }; /* more than any version writes */

/* HIP: a device is there for whoever sets it. */
static int open_device(int device)
{
    return 0;
}

static void close_device(int device)
{
}

/* "gfx90a:sramecc+:xnack-"; features after a colon are how it is set up, not what it is. */
static int target(const HvRuntime *runtime, char *name, size_t size, int device)
{
    char properties[PROPERTIES_SIZE] = {0};
    int status = runtime->properties(properties, device);
    if (status)
        return status;
    properties[PROPERTIES_SIZE - 1] = 0;
    const char *found = properties + runtime->target_offset;
    g_strlcpy(name, g_str_has_prefix(found, "gfx") ? found : "unknown", size);
    name[strcspn(name, ":")] = 0;
    return 0;
}

static int module_load(const HvRuntime *runtime, void **out, const void *code, char *log,
                       size_t log_size)
{
    return runtime->load_data(out, code);
}

gboolean hv_runtime_symbols(void *table, void *library, const HvSymbol *symbols, unsigned n,
                            char **why)
{
    for (unsigned i = 0; i < n; i++) {
        gpointer function;
        if (!g_module_symbol(library, symbols[i].name, &function) || !function) {
            *why = g_strdup_printf("it has no %s", symbols[i].name);
            return FALSE;
        }
        memcpy((char *)table + symbols[i].member, &function, sizeof function);
    }
    return TRUE;
}

void hv_runtime_graphs(HvRuntime *runtime, void *library, const HvSymbol *symbols, unsigned n)
{
    HvRuntime with = *runtime;
    char *why = NULL;
    if (g_strcmp0(g_getenv("HIPVMAF_GRAPHS"), "0") &&
        hv_runtime_symbols(&with, library, symbols, n, &why))
        *runtime = with;
    g_free(why);
}

static gboolean load_properties(HvRuntime *runtime, GModule *library, char **why)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(properties_versions); i++) {
        HvSymbol symbol = {MEMBER(properties), properties_versions[i].name};
        g_clear_pointer(why, g_free);
        if (hv_runtime_symbols(runtime, library, &symbol, 1, why)) {
            runtime->target_offset = properties_versions[i].target_offset;
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean load_hip(HvRuntime *runtime, GModule *library, char **why)
{
    *runtime = (HvRuntime){
        .platform = "amd",
        .open_device = open_device,
        .close_device = close_device,
        .target = target,
        .module_load = module_load,
    };
    hv_runtime_graphs(runtime, library, graph_symbols, G_N_ELEMENTS(graph_symbols));
    return hv_runtime_symbols(runtime, library, hip_symbols, G_N_ELEMENTS(hip_symbols), why) &&
           load_properties(runtime, library, why);
}

char **hv_runtime_candidates(void)
{
    static const char *const known[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        "libcuda.so.1", NULL};
    const char *chosen = g_getenv("HIPVMAF_RUNTIME");
    const char *const only[] = {chosen, NULL};
    return g_strdupv((char **)(chosen && *chosen ? only : known));
}

gboolean hv_runtime_load(HvRuntime *runtime, const char *library, char **why)
{
    GModule *module = g_module_open(library, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
    gpointer symbol;
    *why = NULL;
    if (!module) {
        *why = g_strdup(g_module_error());
        return FALSE;
    }
    g_module_make_resident(module);
    if (g_module_symbol(module, "hipInit", &symbol))
        return load_hip(runtime, module, why);
    if (g_module_symbol(module, "cuInit", &symbol))
        return hv_runtime_load_cuda(runtime, module, why);
    *why = g_strdup("it is no HIP or CUDA runtime");
    return FALSE;
}

const char *hv_runtime_call_name(const HvRuntime *runtime, size_t member)
{
    if (!strcmp(runtime->platform, "nvidia"))
        return hv_runtime_cuda_name(member);
    if (member == MEMBER(module_load))
        member = MEMBER(load_data);
    for (unsigned i = 0; i < G_N_ELEMENTS(hip_symbols); i++)
        if (hip_symbols[i].member == member)
            return hip_symbols[i].name;
    for (unsigned i = 0; i < G_N_ELEMENTS(graph_symbols); i++)
        if (graph_symbols[i].member == member)
            return graph_symbols[i].name;
    return properties_versions[runtime->target_offset == properties_versions[1].target_offset].name;
}
