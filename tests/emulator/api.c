/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of HIP that the emulator has: checks of what comes in, failures on demand, devices,
 * modules. A call that is not here is one that kernels/hip must not use. */
#include "emulator.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    NO_BINARY_FOR_GPU = 209,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_FAILURE = 719,
    CAPTURE_UNSUPPORTED = 900,
    UNKNOWN = 999
};

enum { KIND_UP = 1, KIND_DOWN = 2, KIND_DEVICE = 3 };
enum { THREAD_LOCAL = 1 }; /* a mode of captures */

typedef struct Module {
    int device;
    struct Module *next;
} Module;

typedef struct Function {
    const EmuKernel *kernel;
    Module *module;
    struct Function *next;
} Function;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current_device; /* 0 in a thread that set none */
static __thread unsigned captures;  /* that this thread has begun, and not ended */
static EmuKernel *kernels;
static Module *modules;
static Function *functions;

void emu_register(EmuKernel *kernel)
{
    kernel->next = kernels;
    kernels = kernel;
}

const EmuKernel *emu_kernel_named(const char *name)
{
    const EmuKernel *kernel = kernels;
    while (kernel && strcmp(kernel->name, name))
        kernel = kernel->next;
    return kernel;
}

static int device_count(void)
{
    int count = atoi(emu_setting("HIP_EMULATOR_DEVICES", "2"));
    return count < 0 ? 0 : count > EMU_MAX_DEVICES ? EMU_MAX_DEVICES : count;
}

static unsigned wavefront(void)
{
    return (unsigned)atoi(emu_setting("HIP_EMULATOR_WAVEFRONT", WAVEFRONT));
}

static const char *target(void)
{
    return emu_setting("HIP_EMULATOR_ARCH", wavefront() == 64 ? TARGET_64 : TARGET_32);
}

/* Calls are counted, and fail, by HIP_EMULATOR_FAIL: "hipMalloc:3" its third call, "#17" the 17th
 * of all, "+" after it: and all from then on (of that name), "=2" at the end: with that code,
 * "=hang": it returns only when emu_fail() is called, which says it all anew from within a test.
 * Several stand with commas between. */
typedef struct Count {
    const char *name;
    unsigned long calls;
} Count;
static Count counts[64];
static unsigned long all_calls;
static char *fail_spec;
static bool fail_read;
static unsigned long fail_changes, hanging;
static pthread_cond_t fail_change = PTHREAD_COND_INITIALIZER;
enum { HANG = -1 };

static unsigned long count_call(const char *name)
{
    unsigned i = 0;
    while (counts[i].name && strcmp(counts[i].name, name))
        i++;
    counts[i].name = name;
    all_calls++;
    return ++counts[i].calls;
}

static int usual_failure(const char *name)
{
    static const struct {
        const char *name;
        int code;
    } usual[] = {{"hipMalloc", OUT_OF_MEMORY},       {"hipHostMalloc", OUT_OF_MEMORY},
                 {"hipGetDeviceCount", NO_DEVICE},   {"hipInit", NO_DEVICE},
                 {"hipSetDevice", INVALID_DEVICE},   {"hipModuleLoadData", NO_BINARY_FOR_GPU},
                 {"hipModuleGetFunction", NOT_FOUND}};
    for (unsigned i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!strcmp(usual[i].name, name))
            return usual[i].code;
    return UNKNOWN;
}

/* What one part of the specification, up to `end`, says of this call. */
static int injected(const char *part, const char *end, const char *name, unsigned long call)
{
    const char *mark = memchr(part, *part == '#' ? '#' : ':', (size_t)(end - part));
    if (!mark)
        return SUCCESS;
    if (*part == '#')
        call = all_calls;
    else if (strncmp(part, name, (size_t)(mark - part)) || name[mark - part])
        return SUCCESS;
    char *after;
    unsigned long from = strtoul(mark + 1, &after, 10);
    bool on = *after == '+';
    if (on)
        after++;
    if (call != from && !(on && call > from))
        return SUCCESS;
    if (*after != '=')
        return usual_failure(name);
    return strncmp(after + 1, "hang", 4) ? atoi(after + 1) : HANG;
}

/* Other threads' calls go on. */
static int hang(void)
{
    unsigned long changes = fail_changes;
    hanging++;
    while (changes == fail_changes)
        pthread_cond_wait(&fail_change, &lock);
    hanging--;
    pthread_cond_broadcast(&fail_change);
    return UNKNOWN;
}

static int injection(const char *name)
{
    if (!fail_read) {
        const char *spec = emu_setting("HIP_EMULATOR_FAIL", NULL);
        fail_spec = spec ? strdup(spec) : NULL;
        fail_read = true;
    }
    unsigned long call = count_call(name);
    for (const char *part = fail_spec; part;) {
        const char *end = part + strcspn(part, ",");
        int code = injected(part, end, name, call);
        if (code == HANG)
            return hang();
        if (code)
            return code;
        part = *end ? end + 1 : NULL;
    }
    return SUCCESS;
}

/* Makes calls fail as HIP_EMULATOR_FAIL does (NULL: none), counting from now, after all that hang
 * have returned. */
API void emu_fail(const char *spec);
API void emu_fail(const char *spec)
{
    pthread_mutex_lock(&lock);
    fail_changes++;
    pthread_cond_broadcast(&fail_change);
    while (hanging)
        pthread_cond_wait(&fail_change, &lock);
    free(fail_spec);
    fail_spec = spec ? strdup(spec) : NULL;
    fail_read = true;
    memset(counts, 0, sizeof counts);
    all_calls = 0;
    pthread_mutex_unlock(&lock);
}

/* How often a function was called; NULL: all of them. */
API unsigned long emu_calls(const char *name);
API unsigned long emu_calls(const char *name)
{
    unsigned long calls = 0;
    pthread_mutex_lock(&lock);
    if (!name)
        calls = all_calls;
    for (unsigned i = 0; name && counts[i].name; i++)
        if (!strcmp(counts[i].name, name))
            calls = counts[i].calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

/* What may be called while the thread captures: what its capture may consist of. Events could be
 * part of one, and of others then; the emulator has no such graphs. */
static int check_capture(const char *name)
{
    static const char *const legal[] = {"hipSetDevice",          "hipModuleGetFunction",
                                        "hipModuleLaunchKernel", "hipMemsetAsync",
                                        "hipMemcpyDtoHAsync",    "hipStreamEndCapture"};
    if (!captures)
        return SUCCESS;
    for (unsigned i = 0; i < sizeof legal / sizeof *legal; i++)
        if (!strcmp(legal[i], name))
            return SUCCESS;
    emu_violation("%s: the calling thread captures a stream", name);
    return CAPTURE_UNSUPPORTED;
}

/* Every function begins with enter() and ends with leave(): what to return if not 0 comes from the
 * former. Functions that release do so even when they are made to fail, as errors of earlier work
 * come back from them. */
static int enter(const char *name)
{
    pthread_mutex_lock(&lock);
    if (!emu_seed)
        emu_random();
    int status = injection(name);
    if (!status)
        status = check_capture(name);
    return status ? status : emu_device_error[current_device];
}

static int leave(int status)
{
    pthread_mutex_unlock(&lock);
    return status;
}

/* The checks that every object of a device gets. */
static int check_device(const char *call, const char *what, int device)
{
    if (device == current_device)
        return SUCCESS;
    emu_violation("%s: the %s belongs to device %d, the calling thread's is %d", call, what, device,
                  current_device);
    return INVALID_HANDLE;
}

static int check_stream(const char *call, EmuStream *stream)
{
    bool exists = stream && emu_stream_exists(stream);
    if (exists && stream->capture && stream->capturer != &captures) {
        emu_violation("%s: another thread captures the stream", call);
        return CAPTURE_UNSUPPORTED;
    }
    if (exists)
        return check_device(call, "stream", stream->device);
    emu_violation("%s: %s", call, stream ? "no such stream" : "the default stream orders all work");
    return INVALID_HANDLE;
}

static int check_event(const char *call, EmuEvent *event)
{
    if (event && emu_event_exists(event))
        return check_device(call, "event", event->device);
    emu_violation("%s: no such event", call);
    return INVALID_HANDLE;
}

API int hipInit(unsigned flags);
API int hipInit(unsigned flags)
{
    int status = enter("hipInit");
    return leave(status ? status : device_count() ? SUCCESS : NO_DEVICE);
}

API int hipDriverGetVersion(int *version);
API int hipDriverGetVersion(int *version)
{
    int status = enter("hipDriverGetVersion");
    *version = 60000000;
    return leave(status);
}

API int hipRuntimeGetVersion(int *version);
API int hipRuntimeGetVersion(int *version)
{
    int status = enter("hipRuntimeGetVersion");
    *version = 60000000;
    return leave(status);
}

API int hipGetDeviceCount(int *count);
API int hipGetDeviceCount(int *count)
{
    int status = enter("hipGetDeviceCount");
    *count = status ? 0 : device_count();
    return leave(status ? status : *count ? SUCCESS : NO_DEVICE);
}

API int hipSetDevice(int device);
API int hipSetDevice(int device)
{
    int status = enter("hipSetDevice");
    if (!status && (device < 0 || device >= device_count()))
        status = INVALID_DEVICE;
    if (!status)
        current_device = device;
    return leave(status);
}

API int hipGetDevice(int *device);
API int hipGetDevice(int *device)
{
    int status = enter("hipGetDevice");
    *device = current_device;
    return leave(status);
}

static int device_status(int status, int device)
{
    return status ? status : device >= 0 && device < device_count() ? SUCCESS : INVALID_DEVICE;
}

API int hipDeviceGetName(char *name, int size, int device);
API int hipDeviceGetName(char *name, int size, int device)
{
    int status = device_status(enter("hipDeviceGetName"), device);
    if (!status)
        snprintf(name, (size_t)size, "HIP emulator %d, wavefronts of %u", device, wavefront());
    return leave(status);
}

/* The layout of ROCm 6 and 7. */
API int hipGetDevicePropertiesR0600(void *properties, int device);
API int hipGetDevicePropertiesR0600(void *properties, int device)
{
    int status = device_status(enter("hipGetDevicePropertiesR0600"), device);
    if (!status) {
        char *at = properties;
        int lanes = (int)wavefront();
        size_t total = (size_t)8 << 30;
        memset(at, 0, 1472);
        snprintf(at, 256, "HIP emulator, wavefronts of %d", lanes);
        memcpy(at + 288, &total, sizeof total);
        memcpy(at + 308, &lanes, sizeof lanes);
        snprintf(at + 1160, 256, "%s%s", target(), lanes == 64 ? ":sramecc+:xnack-" : "");
    }
    return leave(status);
}

API int hipMemGetInfo(size_t *free_bytes, size_t *total);
API int hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    int status = enter("hipMemGetInfo");
    *total = (size_t)8 << 30;
    *free_bytes = *total - emu_memory_used(current_device);
    return leave(status);
}

API const char *hipGetErrorName(int status);
API const char *hipGetErrorName(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {{SUCCESS, "hipSuccess"},
                 {INVALID_VALUE, "hipErrorInvalidValue"},
                 {OUT_OF_MEMORY, "hipErrorOutOfMemory"},
                 {NO_DEVICE, "hipErrorNoDevice"},
                 {INVALID_DEVICE, "hipErrorInvalidDevice"},
                 {NO_BINARY_FOR_GPU, "hipErrorNoBinaryForGpu"},
                 {INVALID_HANDLE, "hipErrorInvalidHandle"},
                 {NOT_FOUND, "hipErrorNotFound"},
                 {NOT_READY, "hipErrorNotReady"},
                 {ILLEGAL_ADDRESS, "hipErrorIllegalAddress"},
                 {LAUNCH_FAILURE, "hipErrorLaunchFailure"},
                 {CAPTURE_UNSUPPORTED, "hipErrorStreamCaptureUnsupported"}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status)
            return names[i].name;
    return "hipErrorUnknown";
}

API const char *hipGetErrorString(int status);
API const char *hipGetErrorString(int status)
{
    return hipGetErrorName(status);
}

static int allocate(const char *call, void **out, size_t size, int device)
{
    int status = enter(call);
    if (!status && (!out || !size))
        status = INVALID_VALUE;
    if (!status) {
        EmuMemory *memory = emu_memory_new(size, device);
        *out = memory ? (void *)memory->base : NULL;
        status = memory ? SUCCESS : OUT_OF_MEMORY;
    }
    return leave(status);
}

API int hipMalloc(void **out, size_t size);
API int hipMalloc(void **out, size_t size)
{
    return allocate("hipMalloc", out, size, current_device);
}

API int hipHostMalloc(void **out, size_t size, unsigned flags);
API int hipHostMalloc(void **out, size_t size, unsigned flags)
{
    return allocate("hipHostMalloc", out, size, EMU_PINNED);
}

/* Both ways to free memory wait for all work first, says HIP's documentation. */
static int release(const char *call, void *memory, bool pinned)
{
    int status = enter(call);
    if (memory) {
        const EmuMemory *known = emu_memory_near((uintptr_t)memory);
        int wrong = known && known->device >= 0 ? check_device(call, "memory", known->device) : 0;
        if (!wrong)
            emu_wait_device(known ? known->device : EMU_PINNED);
        if (!wrong && !emu_memory_free((uintptr_t)memory, pinned))
            wrong = INVALID_VALUE;
        status = wrong ? wrong : status;
    }
    return leave(status);
}

API int hipFree(void *memory);
API int hipFree(void *memory)
{
    return release("hipFree", memory, false);
}

API int hipHostFree(void *memory);
API int hipHostFree(void *memory)
{
    return release("hipHostFree", memory, true);
}

API int hipStreamCreateWithFlags(EmuStream **out, unsigned flags);
API int hipStreamCreateWithFlags(EmuStream **out, unsigned flags)
{
    int status = enter("hipStreamCreateWithFlags");
    if (!status && flags != 1) {
        emu_violation("hipStreamCreateWithFlags: a stream that waits for the default stream");
        status = INVALID_VALUE;
    }
    if (!status)
        *out = emu_stream_new(current_device);
    return leave(status);
}

API int hipStreamDestroy(EmuStream *stream);
API int hipStreamDestroy(EmuStream *stream)
{
    int status = enter("hipStreamDestroy");
    int wrong = check_stream("hipStreamDestroy", stream);
    if (!wrong && stream->capture) {
        emu_violation("hipStreamDestroy: the stream's capture was not ended");
        wrong = CAPTURE_UNSUPPORTED;
    }
    if (!wrong)
        emu_stream_free(stream);
    return leave(wrong ? wrong : status);
}

/* Errors of the work that ran come back from the wait for it. */
static int after_work(int device)
{
    return emu_device_error[device];
}

API int hipStreamSynchronize(EmuStream *stream);
API int hipStreamSynchronize(EmuStream *stream)
{
    /* One that is made to fail has waited all the same: else nothing could ever be freed safely. */
    int injected = enter("hipStreamSynchronize");
    int status = check_stream("hipStreamSynchronize", stream);
    if (!status) {
        emu_wait_stream(stream);
        status = after_work(stream->device);
    }
    return leave(injected ? injected : status);
}

API int hipStreamQuery(EmuStream *stream);
API int hipStreamQuery(EmuStream *stream)
{
    int status = enter("hipStreamQuery");
    if (!status)
        status = check_stream("hipStreamQuery", stream);
    if (!status) {
        emu_progress();
        status = after_work(stream->device);
        if (!status && stream->first)
            status = NOT_READY;
    }
    return leave(status);
}

API int hipDeviceSynchronize(void);
API int hipDeviceSynchronize(void)
{
    int status = enter("hipDeviceSynchronize");
    if (!status) {
        emu_wait_device(current_device);
        status = after_work(current_device);
    }
    return leave(status);
}

API int hipEventCreateWithFlags(EmuEvent **out, unsigned flags);
API int hipEventCreateWithFlags(EmuEvent **out, unsigned flags)
{
    int status = enter("hipEventCreateWithFlags");
    if (!status)
        *out = emu_event_new(current_device);
    return leave(status);
}

API int hipEventDestroy(EmuEvent *event);
API int hipEventDestroy(EmuEvent *event)
{
    int status = enter("hipEventDestroy");
    int wrong = check_event("hipEventDestroy", event);
    if (!wrong)
        emu_event_destroy(event);
    return leave(wrong ? wrong : status);
}

static int queue_mark(const char *call, EmuKind kind, EmuEvent *event, EmuStream *stream)
{
    int status = enter(call);
    if (!status)
        status = check_stream(call, stream);
    if (!status)
        status = check_event(call, event);
    if (!status) {
        EmuWork work = {.kind = kind, .mark = {.event = event}};
        emu_queue(stream, &work);
    }
    return leave(status);
}

API int hipEventRecord(EmuEvent *event, EmuStream *stream);
API int hipEventRecord(EmuEvent *event, EmuStream *stream)
{
    return queue_mark("hipEventRecord", EMU_RECORD, event, stream);
}

API int hipStreamWaitEvent(EmuStream *stream, EmuEvent *event, unsigned flags);
API int hipStreamWaitEvent(EmuStream *stream, EmuEvent *event, unsigned flags)
{
    return queue_mark("hipStreamWaitEvent", EMU_WAIT, event, stream);
}

API int hipEventSynchronize(EmuEvent *event);
API int hipEventSynchronize(EmuEvent *event)
{
    int injected = enter("hipEventSynchronize");
    int status = check_event("hipEventSynchronize", event);
    if (!status) {
        emu_wait_event(event);
        status = after_work(event->device);
    }
    return leave(injected ? injected : status);
}

API int hipEventQuery(EmuEvent *event);
API int hipEventQuery(EmuEvent *event)
{
    int status = enter("hipEventQuery");
    if (!status)
        status = check_event("hipEventQuery", event);
    if (!status) {
        emu_progress();
        status = after_work(event->device);
        if (!status && event->done < event->recorded)
            status = NOT_READY;
    }
    return leave(status);
}

API int hipEventElapsedTime(float *ms, EmuEvent *from, EmuEvent *to);
API int hipEventElapsedTime(float *ms, EmuEvent *from, EmuEvent *to)
{
    int status = enter("hipEventElapsedTime");
    if (!status)
        status = check_event("hipEventElapsedTime", from);
    if (!status)
        status = check_event("hipEventElapsedTime", to);
    if (!status && (from->done < from->recorded || to->done < to->recorded))
        status = NOT_READY;
    if (!status)
        *ms = (float)(to->time - from->time);
    return leave(status);
}

/* One side of a copy: all of it in one allocation of this device, or, on the host's side, in pinned
 * or ordinary memory. */
static int check_side(const char *call, const char *side, const void *memory, size_t bytes,
                      bool on_device)
{
    uintptr_t at = (uintptr_t)memory;
    const EmuMemory *inside = emu_memory_at(at, bytes);
    bool good = on_device ? inside && inside->device == current_device
                : inside  ? inside->device == EMU_PINNED
                          : at && !emu_memory_near(at);
    if (good)
        return SUCCESS;
    emu_violation("%s: %s is %s", call, side, emu_memory_describe(at, bytes));
    return ILLEGAL_ADDRESS;
}

static size_t extent(size_t pitch, size_t row, size_t rows)
{
    return pitch * (rows - 1) + row;
}

static int queue_copy(const char *call, const EmuWork *work, int kind, EmuStream *stream)
{
    int status = enter(call);
    if (!status)
        status = check_stream(call, stream);
    size_t row = work->copy.row, rows = work->copy.rows;
    if (!status && (kind < KIND_UP || kind > KIND_DEVICE || !row || !rows ||
                    (rows > 1 && (row > work->copy.to_pitch || row > work->copy.from_pitch))))
        status = INVALID_VALUE;
    if (!status)
        status = check_side(call, "the destination", (void *)work->copy.to,
                            extent(work->copy.to_pitch, row, rows), kind != KIND_DOWN);
    if (!status && work->kind == EMU_COPY)
        status = check_side(call, "the source", (void *)work->copy.from,
                            extent(work->copy.from_pitch, row, rows), kind != KIND_UP);
    if (!status && stream->capture && kind == KIND_DOWN &&
        !emu_memory_at(work->copy.to, work->copy.row)) {
        emu_violation("%s: a graph copies to memory that is not pinned", call);
        status = CAPTURE_UNSUPPORTED;
    }
    if (!status)
        emu_queue(stream, work);
    return leave(status);
}

static EmuWork linear(EmuKind kind, const void *to, const void *from, size_t bytes)
{
    return (EmuWork){.kind = kind,
                     .copy = {.to = (uintptr_t)to,
                              .from = (uintptr_t)from,
                              .to_pitch = bytes,
                              .from_pitch = bytes,
                              .row = bytes,
                              .rows = 1}};
}

API int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, EmuStream *stream);
API int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, EmuStream *stream)
{
    EmuWork work = linear(EMU_COPY, to, from, bytes);
    return queue_copy("hipMemcpyAsync", &work, kind, stream);
}

API int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, EmuStream *stream);
API int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, EmuStream *stream)
{
    EmuWork work = linear(EMU_COPY, to, from, bytes);
    return queue_copy("hipMemcpyHtoDAsync", &work, KIND_UP, stream);
}

API int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, EmuStream *stream);
API int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, EmuStream *stream)
{
    EmuWork work = linear(EMU_COPY, to, from, bytes);
    return queue_copy("hipMemcpyDtoHAsync", &work, KIND_DOWN, stream);
}

API int hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, EmuStream *stream);
API int hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, EmuStream *stream)
{
    EmuWork work = linear(EMU_COPY, to, from, bytes);
    return queue_copy("hipMemcpyDtoDAsync", &work, KIND_DEVICE, stream);
}

API int hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t row,
                         size_t rows, int kind, EmuStream *stream);
API int hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t row,
                         size_t rows, int kind, EmuStream *stream)
{
    EmuWork work = {.kind = EMU_COPY,
                    .copy = {.to = (uintptr_t)to,
                             .from = (uintptr_t)from,
                             .to_pitch = to_pitch,
                             .from_pitch = from_pitch,
                             .row = row,
                             .rows = rows}};
    return queue_copy("hipMemcpy2DAsync", &work, kind, stream);
}

API int hipMemsetD8Async(void *to, unsigned char value, size_t bytes, EmuStream *stream);
API int hipMemsetD8Async(void *to, unsigned char value, size_t bytes, EmuStream *stream)
{
    EmuWork work = linear(EMU_FILL, to, NULL, bytes);
    work.value = value;
    return queue_copy("hipMemsetD8Async", &work, KIND_UP, stream);
}

API int hipMemsetAsync(void *to, int value, size_t bytes, EmuStream *stream);
API int hipMemsetAsync(void *to, int value, size_t bytes, EmuStream *stream)
{
    EmuWork work = linear(EMU_FILL, to, NULL, bytes);
    work.value = (uint8_t)value;
    return queue_copy("hipMemsetAsync", &work, KIND_UP, stream);
}

/* Whether a bundle has code for the emulated target; what runs is what the C++ compiler made. */
static bool has_target(const char *bundle)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    uint64_t entries, field[3];
    if (memcmp(bundle, magic, sizeof magic - 1))
        return false;
    bundle += sizeof magic - 1;
    memcpy(&entries, bundle, sizeof entries);
    bundle += sizeof entries;
    size_t length = strlen(target());
    for (uint64_t i = 0; i < entries; i++) {
        memcpy(field, bundle, sizeof field);
        const char *name = bundle + sizeof field;
        bundle = name + field[2];
        if (field[2] > length && bundle[-(long)length - 1] == '-' &&
            !memcmp(bundle - length, target(), length))
            return true;
    }
    return false;
}

API int hipModuleLoadData(Module **out, const void *image);
API int hipModuleLoadData(Module **out, const void *image)
{
    int status = enter("hipModuleLoadData");
    if (!status && !has_target(image))
        status = NO_BINARY_FOR_GPU;
    if (!status) {
        Module *module = calloc(1, sizeof *module);
        module->device = current_device;
        module->next = modules;
        modules = *out = module;
        emu_object_made("modules");
    }
    return leave(status);
}

static Module **find_module(const Module *module)
{
    Module **at = &modules;
    while (*at && *at != module)
        at = &(*at)->next;
    return at;
}

static int check_module(const char *call, Module *module)
{
    if (module && *find_module(module))
        return check_device(call, "module", module->device);
    emu_violation("%s: no such module", call);
    return INVALID_HANDLE;
}

API int hipModuleUnload(Module *module);
API int hipModuleUnload(Module *module)
{
    int status = enter("hipModuleUnload");
    int wrong = check_module("hipModuleUnload", module);
    if (!wrong) {
        for (Function **at = &functions; *at;) {
            Function *function = *at;
            if (function->module != module) {
                at = &function->next;
                continue;
            }
            *at = function->next;
            free(function);
        }
        *find_module(module) = module->next;
        free(module);
        emu_object_gone("modules");
    }
    return leave(wrong ? wrong : status);
}

API int hipModuleGetFunction(Function **out, Module *module, const char *name);
API int hipModuleGetFunction(Function **out, Module *module, const char *name)
{
    int status = enter("hipModuleGetFunction");
    if (!status)
        status = check_module("hipModuleGetFunction", module);
    const EmuKernel *kernel = status ? NULL : emu_kernel_named(name);
    if (!status && !kernel)
        status = NOT_FOUND;
    if (!status) {
        Function *function = calloc(1, sizeof *function);
        *function = (Function){kernel, module, functions};
        functions = *out = function;
    }
    return leave(status);
}

static int check_function(Function *function)
{
    const Function *at = functions;
    while (at && at != function)
        at = at->next;
    if (at)
        return check_device("hipModuleLaunchKernel", "kernel", at->module->device);
    emu_violation("hipModuleLaunchKernel: no such kernel, or its module is unloaded");
    return INVALID_HANDLE;
}

static int check_grid(const EmuLaunch *launch)
{
    const EmuDim *grid = &launch->grid, *block = &launch->block;
    unsigned threads = block->x * block->y * block->z;
    if (!grid->x || !grid->y || !grid->z || grid->y > 65535 || grid->z > 65535) {
        emu_violation("hipModuleLaunchKernel: kernel %s: a grid of %u x %u x %u blocks",
                      launch->kernel->name, grid->x, grid->y, grid->z);
        return INVALID_VALUE;
    }
    if (threads == launch->kernel->threads)
        return SUCCESS;
    emu_violation("hipModuleLaunchKernel: kernel %s: blocks of %u threads, it is made for %u",
                  launch->kernel->name, threads, launch->kernel->threads);
    return INVALID_VALUE;
}

/* Takes the arguments' values; a pointer has to lead to memory that the device can reach. */
static int take_arguments(EmuLaunch *launch, void *const *arguments)
{
    const EmuKernel *kernel = launch->kernel;
    for (unsigned i = 0; i < kernel->n_arguments; i++) {
        memcpy(&launch->value[i], arguments[i], kernel->argument[i].size);
        if (!kernel->argument[i].is_pointer)
            continue;
        uintptr_t address = (uintptr_t)launch->value[i];
        const EmuMemory *memory = emu_memory_at(address, 1);
        if (memory && (memory->device == EMU_PINNED || memory->device == launch->device))
            continue;
        emu_violation("hipModuleLaunchKernel: kernel %s: argument %u is %s", kernel->name, i,
                      emu_memory_describe(address, 1));
        return ILLEGAL_ADDRESS;
    }
    return SUCCESS;
}

API int hipModuleLaunchKernel(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                              EmuStream *stream, void **arguments, void **extra);
API int hipModuleLaunchKernel(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                              EmuStream *stream, void **arguments, void **extra)
{
    int status = enter("hipModuleLaunchKernel");
    if (!status)
        status = check_stream("hipModuleLaunchKernel", stream);
    if (!status)
        status = check_function(function);
    if (!status && (extra || shared))
        status = INVALID_VALUE;
    if (!status) {
        EmuWork work = {.kind = EMU_LAUNCH,
                        .launch = {.kernel = function->kernel,
                                   .grid = {grid_x, grid_y, grid_z},
                                   .block = {block_x, block_y, block_z},
                                   .device = stream->device,
                                   .wavefront = wavefront()}};
        status = check_grid(&work.launch);
        if (!status)
            status = take_arguments(&work.launch, arguments);
        if (!status)
            emu_queue(stream, &work);
    }
    return leave(status);
}

API int hipStreamBeginCapture(EmuStream *stream, int mode);
API int hipStreamBeginCapture(EmuStream *stream, int mode)
{
    int status = enter("hipStreamBeginCapture");
    if (!status)
        status = check_stream("hipStreamBeginCapture", stream);
    if (!status && mode != THREAD_LOCAL) {
        emu_violation("hipStreamBeginCapture: a mode that minds what other threads do");
        status = INVALID_VALUE;
    }
    if (!status) {
        stream->capture = emu_graph_new(stream->device);
        stream->capturer = &captures;
        captures++;
    }
    return leave(status);
}

/* Ends it even when made to fail. */
API int hipStreamEndCapture(EmuStream *stream, EmuGraph **out);
API int hipStreamEndCapture(EmuStream *stream, EmuGraph **out)
{
    int status = enter("hipStreamEndCapture");
    int wrong = check_stream("hipStreamEndCapture", stream);
    *out = NULL;
    if (!wrong && !stream->capture) {
        emu_violation("hipStreamEndCapture: the stream captures nothing");
        wrong = INVALID_VALUE;
    }
    if (!wrong) {
        if (status)
            emu_graph_free(stream->capture);
        else
            *out = stream->capture;
        stream->capture = NULL;
        captures--;
    }
    return leave(wrong ? wrong : status);
}

static int check_graph(const char *call, const EmuGraph *graph, bool is_instance)
{
    if (graph && emu_graph_exists(graph, is_instance))
        return check_device(call, "graph", graph->device);
    emu_violation("%s: no such graph", call);
    return INVALID_VALUE;
}

API int hipGraphGetNodes(EmuGraph *graph, void **nodes, size_t *n);
API int hipGraphGetNodes(EmuGraph *graph, void **nodes, size_t *n)
{
    int status = enter("hipGraphGetNodes");
    if (!status)
        status = check_graph("hipGraphGetNodes", graph, false);
    if (!status && nodes)
        status = INVALID_VALUE; /* nodes are no objects here */
    if (!status)
        *n = graph->nodes;
    return leave(status);
}

API int hipGraphInstantiateWithFlags(EmuGraph **out, EmuGraph *graph, unsigned long long flags);
API int hipGraphInstantiateWithFlags(EmuGraph **out, EmuGraph *graph, unsigned long long flags)
{
    int status = enter("hipGraphInstantiateWithFlags");
    if (!status)
        status = check_graph("hipGraphInstantiateWithFlags", graph, false);
    if (!status && flags)
        status = INVALID_VALUE;
    if (!status)
        *out = emu_graph_instance(graph);
    return leave(status);
}

static int destroy_graph(const char *call, EmuGraph *graph, bool is_instance)
{
    int status = enter(call);
    int wrong = check_graph(call, graph, is_instance);
    if (!wrong && graph->queued) {
        emu_violation("%s: the graph may be running", call);
        wrong = INVALID_VALUE;
    }
    if (!wrong)
        emu_graph_free(graph);
    return leave(wrong ? wrong : status);
}

API int hipGraphDestroy(EmuGraph *graph);
API int hipGraphDestroy(EmuGraph *graph)
{
    return destroy_graph("hipGraphDestroy", graph, false);
}

API int hipGraphExecDestroy(EmuGraph *instance);
API int hipGraphExecDestroy(EmuGraph *instance)
{
    return destroy_graph("hipGraphExecDestroy", instance, true);
}

API int hipGraphLaunch(EmuGraph *instance, EmuStream *stream);
API int hipGraphLaunch(EmuGraph *instance, EmuStream *stream)
{
    int status = enter("hipGraphLaunch");
    if (!status)
        status = check_stream("hipGraphLaunch", stream);
    if (!status)
        status = check_graph("hipGraphLaunch", instance, true);
    for (const EmuWork *work = status ? NULL : instance->first; work; work = work->next)
        emu_queue(stream, work);
    return leave(status);
}
