/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * NVIDIA's driver in HIP's clothes. The `_v2` names are the 64-bit ABI; the plain ones are not. */
#include <stdatomic.h>
#include <string.h>

#include "kernels/common/lock.h"
#include "runtime.h"

/* The driver's own numbers and layouts, from its ABI, so that no CUDA header is needed. */
enum {
    ATTRIBUTE_CAPABILITY_MAJOR = 75,
    ATTRIBUTE_CAPABILITY_MINOR = 76,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_SIZE = 6,
    MEMORY_HOST = 1,
    MEMORY_DEVICE = 2,
    MOST_DEVICES = 64
};

typedef struct Copy2D {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    uint64_t from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    uint64_t to_device;
    void *to_array;
    size_t to_pitch;
    size_t row_bytes, rows;
} Copy2D;

typedef struct Cuda {
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*device_name)(char *name, int size, int device);
    int (*attribute)(int *value, int attribute, int device);
    int (*context_retain)(void **context, int device);
    int (*context_release)(int device);
    int (*context_set)(void *context);
    int (*error_string)(int status, const char **text);
    int (*malloc)(uint64_t *out, size_t bytes);
    int (*free)(uint64_t memory);
    int (*host_malloc)(void **out, size_t bytes, unsigned flags);
    int (*host_free)(void *memory);
    int (*stream_create)(void **out, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*stream_wait_event)(void *stream, void *event, unsigned flags);
    int (*event_create)(void **out, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    int (*event_synchronize)(void *event);
    int (*upload)(uint64_t to, const void *from, size_t bytes, void *stream);
    int (*upload_2d)(const Copy2D *copy, void *stream);
    int (*download)(void *to, uint64_t from, size_t bytes, void *stream);
    int (*fill)(uint64_t to, unsigned char value, size_t bytes, void *stream);
    int (*module_load)(void **out, const void *code, unsigned n, int *options, void **values);
    int (*module_unload)(void *module);
    int (*module_function)(void **out, void *module, const char *name);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **arguments, void **extra);
} Cuda;

/* These have HIP's signatures. Drivers from CUDA 11.4 on have them all; cuGraphInstantiate has had
 * three signatures, the one WithFlags one. */
static const HvSymbol graph_symbols[] = {
    {offsetof(HvRuntime, capture_begin), "cuStreamBeginCapture_v2"},
    {offsetof(HvRuntime, capture_end), "cuStreamEndCapture"},
    {offsetof(HvRuntime, graph_nodes), "cuGraphGetNodes"},
    {offsetof(HvRuntime, graph_instantiate), "cuGraphInstantiateWithFlags"},
    {offsetof(HvRuntime, graph_destroy), "cuGraphDestroy"},
    {offsetof(HvRuntime, graph_launch), "cuGraphLaunch"},
    {offsetof(HvRuntime, instance_destroy), "cuGraphExecDestroy"},
};

/* Each with the member of HvRuntime whose part it plays. */
static const struct {
    HvSymbol symbol;
    size_t plays;
} cuda_functions[] = {
    {{offsetof(Cuda, init), "cuInit"}, offsetof(HvRuntime, init)},
    {{offsetof(Cuda, device_count), "cuDeviceGetCount"}, offsetof(HvRuntime, device_count)},
    {{offsetof(Cuda, device_name), "cuDeviceGetName"}, offsetof(HvRuntime, device_name)},
    {{offsetof(Cuda, attribute), "cuDeviceGetAttribute"}, offsetof(HvRuntime, target)},
    {{offsetof(Cuda, context_retain), "cuDevicePrimaryCtxRetain"},
     offsetof(HvRuntime, open_device)},
    {{offsetof(Cuda, context_release), "cuDevicePrimaryCtxRelease_v2"},
     offsetof(HvRuntime, close_device)},
    {{offsetof(Cuda, context_set), "cuCtxSetCurrent"}, offsetof(HvRuntime, set_device)},
    {{offsetof(Cuda, error_string), "cuGetErrorString"}, offsetof(HvRuntime, error_string)},
    {{offsetof(Cuda, malloc), "cuMemAlloc_v2"}, offsetof(HvRuntime, malloc)},
    {{offsetof(Cuda, free), "cuMemFree_v2"}, offsetof(HvRuntime, free)},
    {{offsetof(Cuda, host_malloc), "cuMemHostAlloc"}, offsetof(HvRuntime, host_malloc)},
    {{offsetof(Cuda, host_free), "cuMemFreeHost"}, offsetof(HvRuntime, host_free)},
    {{offsetof(Cuda, stream_create), "cuStreamCreate"}, offsetof(HvRuntime, stream_create)},
    {{offsetof(Cuda, stream_destroy), "cuStreamDestroy_v2"}, offsetof(HvRuntime, stream_destroy)},
    {{offsetof(Cuda, stream_synchronize), "cuStreamSynchronize"},
     offsetof(HvRuntime, stream_synchronize)},
    {{offsetof(Cuda, stream_wait_event), "cuStreamWaitEvent"},
     offsetof(HvRuntime, stream_wait_event)},
    {{offsetof(Cuda, event_create), "cuEventCreate"}, offsetof(HvRuntime, event_create)},
    {{offsetof(Cuda, event_destroy), "cuEventDestroy_v2"}, offsetof(HvRuntime, event_destroy)},
    {{offsetof(Cuda, event_record), "cuEventRecord"}, offsetof(HvRuntime, event_record)},
    {{offsetof(Cuda, event_query), "cuEventQuery"}, offsetof(HvRuntime, event_query)},
    {{offsetof(Cuda, event_synchronize), "cuEventSynchronize"},
     offsetof(HvRuntime, event_synchronize)},
    {{offsetof(Cuda, upload), "cuMemcpyHtoDAsync_v2"}, offsetof(HvRuntime, upload)},
    {{offsetof(Cuda, upload_2d), "cuMemcpy2DAsync_v2"}, offsetof(HvRuntime, upload_2d)},
    {{offsetof(Cuda, download), "cuMemcpyDtoHAsync_v2"}, offsetof(HvRuntime, download)},
    {{offsetof(Cuda, fill), "cuMemsetD8Async"}, offsetof(HvRuntime, fill)},
    {{offsetof(Cuda, module_load), "cuModuleLoadDataEx"}, offsetof(HvRuntime, module_load)},
    {{offsetof(Cuda, module_unload), "cuModuleUnload"}, offsetof(HvRuntime, module_unload)},
    {{offsetof(Cuda, module_function), "cuModuleGetFunction"},
     offsetof(HvRuntime, module_function)},
    {{offsetof(Cuda, launch), "cuLaunchKernel"}, offsetof(HvRuntime, launch)},
};

/* The thunks have HIP's signatures, which leave no room for the table: one driver a process. */
static Cuda cuda;
static void *cuda_library; /* that filled it */
static HvLock cuda_lock = {PTHREAD_MUTEX_INITIALIZER};
static _Atomic(void *) contexts[MOST_DEVICES];

static uint64_t address(const void *pointer)
{
    return (uintptr_t)pointer;
}

static int open_device(int device)
{
    void *context = NULL;
    if (device >= MOST_DEVICES)
        return HV_STATUS_BAD_DEVICE;
    int status = cuda.context_retain(&context, device);
    if (!status)
        atomic_store(&contexts[device], context);
    return status;
}

static void close_device(int device)
{
    cuda.context_release(device);
}

static int set_device(int device)
{
    return cuda.context_set(atomic_load(&contexts[device]));
}

static int target(const HvRuntime *runtime, char *name, size_t size, int device)
{
    int major = 0, minor = 0;
    int status = cuda.attribute(&major, ATTRIBUTE_CAPABILITY_MAJOR, device);
    if (!status)
        status = cuda.attribute(&minor, ATTRIBUTE_CAPABILITY_MINOR, device);
    g_snprintf(name, size, "sm_%d%d", major, minor);
    return status;
}

static const char *error_string(int status)
{
    const char *text = NULL;
    return !cuda.error_string(status, &text) && text ? text : "unknown error";
}

static int memory_malloc(void **out, size_t bytes)
{
    uint64_t memory = 0;
    int status = cuda.malloc(&memory, bytes);
    *out = (void *)(uintptr_t)memory;
    return status;
}

static int memory_free(void *memory)
{
    return cuda.free(address(memory));
}

static int upload(void *to, void *from, size_t bytes, void *stream)
{
    return cuda.upload(address(to), from, bytes, stream);
}

static int upload_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                     size_t row_bytes, size_t rows, int kind, void *stream)
{
    Copy2D copy = {
        .from_type = MEMORY_HOST,
        .from_host = from,
        .from_pitch = from_pitch,
        .to_type = MEMORY_DEVICE,
        .to_device = address(to),
        .to_pitch = to_pitch,
        .row_bytes = row_bytes,
        .rows = rows,
    };
    return cuda.upload_2d(&copy, stream);
}

static int download(void *to, void *from, size_t bytes, void *stream)
{
    return cuda.download(to, address(from), bytes, stream);
}

static int fill(void *to, int byte, size_t bytes, void *stream)
{
    return cuda.fill(address(to), (unsigned char)byte, bytes, stream);
}

static int module_load(const HvRuntime *runtime, void **out, const void *code, char *log,
                       size_t log_size)
{
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void *values[] = {log, (void *)log_size};
    return cuda.module_load(out, code, G_N_ELEMENTS(options), options, values);
}

static gboolean fill_table(void *library, char **why)
{
    gboolean ok = TRUE;
    hv_lock(&cuda_lock);
    for (unsigned i = 0; i < G_N_ELEMENTS(cuda_functions) && ok && cuda_library != library; i++)
        ok = hv_runtime_symbols(&cuda, library, &cuda_functions[i].symbol, 1, why);
    if (ok)
        cuda_library = library;
    hv_unlock(&cuda_lock);
    return ok;
}

gboolean hv_runtime_load_cuda(HvRuntime *runtime, void *library, char **why)
{
    if (!fill_table(library, why))
        return FALSE;
    *runtime = (HvRuntime){
        .platform = "nvidia",
        .init = cuda.init,
        .device_count = cuda.device_count,
        .device_name = cuda.device_name,
        .set_device = set_device,
        .open_device = open_device,
        .close_device = close_device,
        .target = target,
        .error_string = error_string,
        .malloc = memory_malloc,
        .free = memory_free,
        .host_malloc = cuda.host_malloc,
        .host_free = cuda.host_free,
        .stream_create = cuda.stream_create,
        .stream_destroy = cuda.stream_destroy,
        .stream_synchronize = cuda.stream_synchronize,
        .stream_wait_event = cuda.stream_wait_event,
        .event_create = cuda.event_create,
        .event_destroy = cuda.event_destroy,
        .event_record = cuda.event_record,
        .event_query = cuda.event_query,
        .event_synchronize = cuda.event_synchronize,
        .upload = upload,
        .upload_2d = upload_2d,
        .download = download,
        .fill = fill,
        .module_load = module_load,
        .module_unload = cuda.module_unload,
        .module_function = cuda.module_function,
        .launch = cuda.launch,
    };
    hv_runtime_graphs(runtime, library, graph_symbols, G_N_ELEMENTS(graph_symbols));
    return TRUE;
}

const char *hv_runtime_cuda_name(size_t member)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(cuda_functions); i++)
        if (cuda_functions[i].plays == member)
            return cuda_functions[i].symbol.name;
    for (unsigned i = 0; i < G_N_ELEMENTS(graph_symbols); i++)
        if (graph_symbols[i].member == member)
            return graph_symbols[i].name;
    return "the driver";
}
