/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The emulator itself: what is right passes, and each kind of mistake is seen. Every case is a
 * process of its own, as most end in an abort.
 *   test_emulator LIBRARY */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTIONS(F)                                                                               \
    F(hipGetDeviceCount, int *)                                                                    \
    F(hipSetDevice, int)                                                                           \
    F(hipGetDevicePropertiesR0600, void *, int)                                                    \
    F(hipMalloc, void *, size_t)                                                                   \
    F(hipFree, void *)                                                                             \
    F(hipHostMalloc, void *, size_t, unsigned)                                                     \
    F(hipHostFree, void *)                                                                         \
    F(hipStreamCreateWithFlags, void *, unsigned)                                                  \
    F(hipStreamDestroy, void *)                                                                    \
    F(hipStreamSynchronize, void *)                                                                \
    F(hipStreamWaitEvent, void *, void *, unsigned)                                                \
    F(hipEventCreateWithFlags, void *, unsigned)                                                   \
    F(hipEventDestroy, void *)                                                                     \
    F(hipEventRecord, void *, void *)                                                              \
    F(hipEventSynchronize, void *)                                                                 \
    F(hipEventQuery, void *)                                                                       \
    F(hipMemcpyHtoDAsync, void *, const void *, size_t, void *)                                    \
    F(hipMemcpyDtoHAsync, void *, const void *, size_t, void *)                                    \
    F(hipMemcpy2DAsync, void *, size_t, const void *, size_t, size_t, size_t, int, void *)         \
    F(hipMemsetD8Async, void *, unsigned char, size_t, void *)                                     \
    F(hipModuleLoadData, void *, const void *)                                                     \
    F(hipModuleUnload, void *)                                                                     \
    F(hipModuleGetFunction, void *, void *, const char *)                                          \
    F(hipModuleLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
      unsigned, void *, void **, void **)                                                          \
    F(hipStreamBeginCapture, void *, int)                                                          \
    F(hipStreamEndCapture, void *, void *)                                                         \
    F(hipGraphGetNodes, void *, void *, size_t *)                                                  \
    F(hipGraphInstantiateWithFlags, void *, void *, unsigned long long)                            \
    F(hipGraphDestroy, void *)                                                                     \
    F(hipGraphExecDestroy, void *)                                                                 \
    F(hipGraphLaunch, void *, void *)                                                              \
    F(emu_fail, const char *)

#define DECLARE(name, ...) static int (*name)(__VA_ARGS__);
FUNCTIONS(DECLARE)
static unsigned (*emu_leaks)(void);

/* As in kernels.hip. */
typedef struct EmulatorBuffers {
    uint64_t in, out;
    uint32_t n;
} EmulatorBuffers;
enum { THREADS = 128, N = 1000, BLOCKS = (N + THREADS - 1) / THREADS };

static void load(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        printf("Bail out! %s\n", dlerror());
        exit(1);
    }
#define FIND(name, ...) *(void **)&name = dlsym(handle, #name);
    FUNCTIONS(FIND)
    *(void **)&emu_leaks = dlsym(handle, "emu_leaks");
}

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int status_ = (call);                                                                      \
        if (status_) {                                                                             \
            fprintf(stderr, "%s: %d\n", #call, status_);                                           \
            _exit(3);                                                                              \
        }                                                                                          \
    } while (0)
#define HOLDS(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what);                             \
            _exit(4);                                                                              \
        }                                                                                          \
    } while (0)

/* The right way, in parts that the cases put together wrongly. */
static void *stream, *module;
static uint32_t *host;        /* pinned: N numbers */
static uint64_t in, out, sum; /* device memory */
static EmulatorBuffers buffers;
static uint64_t buffers_on_device;

static uint64_t device_memory(size_t bytes)
{
    void *memory;
    MUST(hipMalloc(&memory, bytes));
    return (uintptr_t)memory;
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void put_buffers(void)
{
    MUST(hipMemcpyHtoDAsync(at(buffers_on_device), &buffers, sizeof buffers, stream));
    MUST(hipStreamSynchronize(stream));
}

/* The smallest bundle that has code for the target. */
static const void *bundle(void)
{
    static struct {
        char magic[24];
        uint64_t n, offset, size, length;
        char name[40];
    } b = {"__CLANG_OFFLOAD_BUNDLE__", 1, 4096, 0, 0, ""};
    char properties[4096];
    MUST(hipGetDevicePropertiesR0600(properties, 0));
    const char *target = properties + 1160;
    snprintf(b.name, sizeof b.name, "hipv4-amdgcn-amd-amdhsa--%.*s", (int)strcspn(target, ":"),
             target);
    b.length = strlen(b.name);
    return &b;
}

static void begin_on(int device)
{
    void *memory;
    MUST(hipSetDevice(device));
    MUST(hipStreamCreateWithFlags(&stream, 1));
    MUST(hipModuleLoadData(&module, bundle()));
    MUST(hipHostMalloc(&memory, N * 4, 1));
    host = memory;
    in = device_memory(N * 4);
    out = device_memory(N * 4);
    sum = device_memory(8);
    buffers_on_device = device_memory(sizeof buffers);
    buffers = (EmulatorBuffers){in, out, N};
    put_buffers();
}

static void begin(void)
{
    begin_on(0);
}

static void finish(void)
{
    MUST(hipFree(at(in)));
    MUST(hipFree(at(out)));
    MUST(hipFree(at(sum)));
    MUST(hipFree(at(buffers_on_device)));
    MUST(hipHostFree(host));
    MUST(hipModuleUnload(module));
    MUST(hipStreamDestroy(stream));
    HOLDS(emu_leaks() == 0);
}

static void upload(void)
{
    for (uint32_t i = 0; i < N; i++)
        host[i] = i;
    MUST(hipMemcpyHtoDAsync(at(in), host, N * 4, stream));
}

static int launch_in(void *where, const char *kernel, unsigned blocks, void **arguments)
{
    void *function;
    MUST(hipModuleGetFunction(&function, module, kernel));
    return hipModuleLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, where, arguments, NULL);
}

static int launch(const char *kernel, unsigned blocks, uint64_t pointer, uint64_t second,
                  uint64_t third)
{
    void *arguments[] = {&pointer, &second, &third};
    return launch_in(stream, kernel, blocks, arguments);
}

static void scale(void)
{
    MUST(launch("test_scale", BLOCKS, buffers_on_device, 3, 7));
}

static void download(void)
{
    MUST(hipMemcpyDtoHAsync(host, at(out), N * 4, stream));
}

static bool scaled(void)
{
    for (uint32_t i = 0; i < N; i++)
        if (host[i] != i * 3 + 7)
            return false;
    return true;
}

static void sum_with(const char *kernel)
{
    uint64_t result;
    begin();
    upload();
    MUST(hipMemsetD8Async(at(sum), 0, 8, stream));
    MUST(launch(kernel, BLOCKS, buffers_on_device, sum, 0));
    MUST(hipMemcpyDtoHAsync(&result, at(sum), 8, stream));
    MUST(hipStreamSynchronize(stream));
    HOLDS(result == N * (N - 1) / 2);
    finish();
}

static void right(void)
{
    begin();
    upload();
    scale();
    download();
    MUST(hipStreamSynchronize(stream));
    HOLDS(scaled());
    finish();
}

static void right_sum(void)
{
    sum_with("test_sum");
}

static void right_on_second_device(void)
{
    begin_on(1);
    upload();
    scale();
    download();
    MUST(hipStreamSynchronize(stream));
    HOLDS(scaled());
    finish();
}

static void missing_wait(void)
{
    begin();
    upload();
    scale();
    download();
    HOLDS(host[0] == 0 && host[1] == 1); /* what upload() put there */
    MUST(hipStreamSynchronize(stream));
    HOLDS(scaled());
    finish();
}

static void source_changed_early(void)
{
    begin();
    upload();
    host[5] = 77;
    scale();
    download();
    MUST(hipStreamSynchronize(stream));
    HOLDS(host[5] == 77 * 3 + 7);
    finish();
}

/* Uploads in another stream than the kernel's; whether the result was right. */
static void two_streams(bool with_event)
{
    void *second, *event;
    begin();
    MUST(hipStreamCreateWithFlags(&second, 1));
    MUST(hipEventCreateWithFlags(&event, 2));
    upload();
    MUST(hipEventRecord(event, stream));
    void *first = stream;
    stream = second;
    if (with_event)
        MUST(hipStreamWaitEvent(stream, event, 0));
    scale();
    download();
    MUST(hipStreamSynchronize(stream));
    HOLDS(scaled());
    stream = first;
    MUST(hipStreamDestroy(second));
    MUST(hipEventDestroy(event));
    finish();
}

static void right_event(void)
{
    two_streams(true);
}

static void missing_event(void)
{
    two_streams(false);
}

static void right_event_wait(void)
{
    void *event;
    begin();
    MUST(hipEventCreateWithFlags(&event, 2));
    MUST(hipEventSynchronize(event)); /* never recorded */
    upload();
    scale();
    download();
    MUST(hipEventRecord(event, stream));
    MUST(hipEventSynchronize(event));
    HOLDS(scaled());
    MUST(hipEventRecord(event, stream));
    int status = 600, tries = 0;
    while (status == 600 && tries++ < 1000)
        status = hipEventQuery(event);
    MUST(status);
    MUST(hipEventDestroy(event));
    finish();
}

/* A wait is for the record before it, not for a later one, which here waits itself. */
static void recorded_again(void)
{
    void *streams[3], *events[2];
    begin();
    for (unsigned i = 0; i < 3; i++)
        MUST(hipStreamCreateWithFlags(&streams[i], 1));
    for (unsigned i = 0; i < 2; i++)
        MUST(hipEventCreateWithFlags(&events[i], 2));
    MUST(hipEventRecord(events[0], streams[0]));
    MUST(hipStreamWaitEvent(streams[1], events[0], 0));
    MUST(hipEventRecord(events[1], streams[1]));
    MUST(hipStreamWaitEvent(streams[2], events[1], 0));
    MUST(hipEventRecord(events[0], streams[2]));
    MUST(hipStreamSynchronize(streams[2]));
    for (unsigned i = 0; i < 3; i++)
        MUST(hipStreamDestroy(streams[i]));
    for (unsigned i = 0; i < 2; i++)
        MUST(hipEventDestroy(events[i]));
    finish();
}

static void right_rectangle(void)
{
    uint8_t from[4 * 10], back[64];
    for (unsigned i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)i;
    begin();
    MUST(hipMemsetD8Async(at(in), 0xee, 64, stream));
    MUST(hipMemcpy2DAsync(at(in), 16, from, 10, 7, 4, 1, stream));
    MUST(hipMemcpyDtoHAsync(back, at(in), 64, stream));
    MUST(hipStreamSynchronize(stream));
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 16; x++)
            HOLDS(back[y * 16 + x] == (x < 7 ? y * 10 + x : 0xee));
    finish();
}

static void host_pointer(void)
{
    static EmulatorBuffers on_host;
    begin();
    MUST(launch("test_scale", 1, (uintptr_t)&on_host, 3, 7));
}

static void host_pointer_in_struct(void)
{
    static uint32_t on_host[N];
    begin();
    buffers.in = (uintptr_t)on_host;
    put_buffers();
    scale();
    MUST(hipStreamSynchronize(stream));
}

static void missing_barrier(void)
{
    sum_with("test_missing_barrier");
}

static void wave64_only(void)
{
    sum_with("test_wave64_only");
}

static void out_kernel(const char *kernel, uint64_t argument)
{
    begin();
    MUST(launch(kernel, 1, out, argument, 0));
    MUST(hipStreamSynchronize(stream));
}

static void different_barriers(void)
{
    out_kernel("test_different_barriers", 0);
}

static void unwritten_shared(void)
{
    out_kernel("test_unwritten_shared", 0);
}

static void shift(void)
{
    out_kernel("test_shift", 32);
}

static void overrun(void)
{
    begin();
    MUST(launch("test_overrun", BLOCKS, buffers_on_device, 0, 0));
    MUST(hipStreamSynchronize(stream));
}

static void copy_overrun(void)
{
    begin();
    MUST(hipMemsetD8Async(at(out), 0, N * 4 + 1, stream));
}

static void unwritten(void)
{
    begin();
    scale();
    MUST(hipStreamSynchronize(stream));
}

static void poison(void)
{
    begin();
    setenv("HIP_EMULATOR_INITCHECK", "0", 1);
    MUST(hipMemcpyDtoHAsync(host, at(in), N * 4, stream));
    MUST(hipStreamSynchronize(stream));
    for (unsigned i = 0; i < N; i++)
        HOLDS(host[i] == 0xa5a5a5a5);
    finish();
}

static void poison_in_kernel(void)
{
    setenv("HIP_EMULATOR_INITCHECK", "0", 1);
    begin();
    scale();
    download();
    MUST(hipStreamSynchronize(stream));
    HOLDS(host[9] == (uint32_t)(0xa5a5a5a5u * 3 + 7));
    finish();
}

static void foreign_memory(void)
{
    begin();
    MUST(hipSetDevice(1));
    uint64_t other = device_memory(N * 4);
    MUST(hipSetDevice(0));
    buffers.out = other;
    put_buffers();
    upload();
    scale();
    MUST(hipStreamSynchronize(stream));
}

static void foreign_argument(void)
{
    begin();
    MUST(hipSetDevice(1));
    uint64_t other = device_memory(N * 4);
    MUST(hipSetDevice(0));
    MUST(launch("test_lanes", 1, other, 0, 0));
}

static void foreign_stream(void)
{
    begin();
    MUST(hipSetDevice(1));
    upload();
}

static void *without_device(void *user)
{
    upload();
    return NULL;
}

static void unset_device(void)
{
    pthread_t thread;
    begin_on(1);
    pthread_create(&thread, NULL, without_device, NULL);
    pthread_join(thread, NULL);
}

static void host_touches_device(void)
{
    begin();
    signal(SIGSEGV, SIG_DFL);
    *(volatile uint32_t *)at(out) = 1;
}

/* Freeing waits for what runs; this comes after it. */
static void used_after_free(void)
{
    begin();
    upload();
    MUST(hipFree(at(in)));
    scale();
    MUST(hipStreamSynchronize(stream));
}

static void freed_twice(void)
{
    begin();
    MUST(hipFree(at(in)));
    MUST(hipFree(at(in)));
}

static void default_stream(void)
{
    begin();
    stream = NULL;
    upload();
}

static void wrong_block(void)
{
    void *function;
    begin();
    MUST(hipModuleGetFunction(&function, module, "test_lanes"));
    void *arguments[] = {&out};
    MUST(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}

/* Graphs */

static void *graph, *instance;

static void capture(void)
{
    MUST(hipStreamBeginCapture(stream, 1));
    scale();
    download();
    MUST(hipStreamEndCapture(stream, &graph));
}

static void instantiate(void)
{
    capture();
    MUST(hipGraphInstantiateWithFlags(&instance, graph, 0));
    MUST(hipGraphDestroy(graph));
}

static void right_graph(void)
{
    size_t nodes = 0;
    begin();
    upload();
    capture();
    MUST(hipGraphGetNodes(graph, NULL, &nodes));
    HOLDS(nodes == 2);
    MUST(hipGraphInstantiateWithFlags(&instance, graph, 0));
    MUST(hipGraphDestroy(graph));
    MUST(hipStreamSynchronize(stream));
    HOLDS(host[0] == 0 && host[1] == 1); /* nothing of it has run */
    for (unsigned i = 0; i < 3; i++) {
        upload();
        MUST(hipGraphLaunch(instance, stream));
        MUST(hipStreamSynchronize(stream));
        HOLDS(scaled());
    }
    MUST(hipGraphExecDestroy(instance));
    finish();
}

static void wait_in_capture(void)
{
    begin();
    MUST(hipStreamBeginCapture(stream, 1));
    MUST(hipStreamSynchronize(stream));
}

static void allocation_in_capture(void)
{
    begin();
    MUST(hipStreamBeginCapture(stream, 1));
    device_memory(8);
}

static void upload_in_capture(void)
{
    begin();
    MUST(hipStreamBeginCapture(stream, 1));
    upload();
}

static void event_in_capture(void)
{
    void *event;
    begin();
    MUST(hipEventCreateWithFlags(&event, 2));
    MUST(hipStreamBeginCapture(stream, 1));
    MUST(hipEventRecord(event, stream));
}

static void pageable_in_graph(void)
{
    static uint32_t pageable[N];
    begin();
    MUST(hipStreamBeginCapture(stream, 1));
    host = pageable;
    download();
}

static void *waits(void *user)
{
    hipSetDevice(0);
    hipStreamSynchronize(stream);
    return NULL;
}

static void captured_by_another(void)
{
    pthread_t thread;
    begin();
    MUST(hipStreamBeginCapture(stream, 1));
    pthread_create(&thread, NULL, waits, NULL);
    pthread_join(thread, NULL);
}

static void global_capture(void)
{
    begin();
    MUST(hipStreamBeginCapture(stream, 0));
}

static void end_without_begin(void)
{
    begin();
    MUST(hipStreamEndCapture(stream, &graph));
}

static void failed_end(void)
{
    begin();
    emu_fail("hipStreamEndCapture:1");
    MUST(hipStreamBeginCapture(stream, 1));
    scale();
    HOLDS(hipStreamEndCapture(stream, &graph) == 999 && !graph);
    finish(); /* where nothing is left of it */
}

static void graph_used_after_free(void)
{
    begin();
    upload();
    instantiate();
    MUST(hipFree(at(out)));
    MUST(hipGraphLaunch(instance, stream));
    MUST(hipStreamSynchronize(stream));
}

static void graph_freed_early(void)
{
    begin();
    upload();
    instantiate();
    MUST(hipGraphLaunch(instance, stream));
    MUST(hipGraphExecDestroy(instance));
}

static void graph_freed_twice(void)
{
    begin();
    instantiate();
    MUST(hipGraphExecDestroy(instance));
    MUST(hipGraphExecDestroy(instance));
}

static void graph_launched(void)
{
    begin();
    capture();
    MUST(hipGraphLaunch(graph, stream));
}

static void foreign_graph(void)
{
    begin();
    instantiate();
    MUST(hipSetDevice(1));
    MUST(hipStreamCreateWithFlags(&stream, 1));
    MUST(hipGraphLaunch(instance, stream));
}

static void graph_leaks(void)
{
    begin();
    instantiate();
    exit(0);
}

static void leaks(void)
{
    void *event;
    begin();
    MUST(hipEventCreateWithFlags(&event, 2));
    exit(0); /* the report comes at the exit */
}

static void failures(void)
{
    void *memory;
    int count;
    emu_fail("hipMalloc:2,#5=719,hipStreamCreateWithFlags:1+");
    MUST(hipMalloc(&memory, 8));       /* 1 */
    HOLDS(hipMalloc(&memory, 8) == 2); /* 2 */
    MUST(hipFree(memory));             /* 3 */
    MUST(hipMalloc(&memory, 8));       /* 4 */
    HOLDS(hipFree(memory) == 719);     /* 5: freed all the same */
    HOLDS(hipStreamCreateWithFlags(&stream, 1) == 999);
    HOLDS(hipStreamCreateWithFlags(&stream, 1) == 999);
    MUST(hipGetDeviceCount(&count));
    emu_fail("#2+");
    MUST(hipGetDeviceCount(&count));
    HOLDS(hipGetDeviceCount(&count) == 100);
    HOLDS(hipSetDevice(0) == 101);
    emu_fail(NULL);
    MUST(hipSetDevice(0));
    HOLDS(emu_leaks() == 0);
}

static void violations_continue(void)
{
    setenv("HIP_EMULATOR_VIOLATIONS", "continue", 1);
    begin();
    HOLDS(launch("test_lanes", 1, (uintptr_t)&buffers, 0, 0) == 700);
    scale(); /* reads what nothing has written */
    HOLDS(hipStreamSynchronize(stream) == 700);
    HOLDS(hipStreamSynchronize(stream) == 700); /* and so on */
    HOLDS(hipFree(at(in)) == 700);
}

static void order_of(const char *seed, uint32_t *order)
{
    int ends[2];
    HOLDS(pipe(ends) == 0);
    pid_t child = fork();
    if (!child) {
        uint64_t counter;
        setenv("HIP_EMULATOR_SEED", seed, 1);
        begin();
        counter = sum;
        MUST(hipMemsetD8Async(at(counter), 0, 8, stream));
        MUST(launch("test_order", N / THREADS, out, counter, 0));
        download();
        MUST(hipStreamSynchronize(stream));
        _exit(write(ends[1], host, N * 4) != N * 4);
    }
    close(ends[1]);
    HOLDS(read(ends[0], order, N * 4) == N * 4);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void orders(void)
{
    uint32_t first[N], second[N], again[N];
    unsigned changes = 0, blocks = 0;
    order_of("1", first);
    order_of("2", second);
    order_of("1", again);
    HOLDS(!memcmp(first, again, sizeof first));
    HOLDS(memcmp(first, second, sizeof first));
    for (unsigned i = 1; i < N / THREADS * THREADS; i++) {
        changes += first[i] != first[i - 1] + 1;
        blocks += first[i] / THREADS != first[i - 1] / THREADS;
    }
    HOLDS(changes > N / THREADS && blocks == N / THREADS - 1);
}

static void lanes_are(uint32_t lanes)
{
    uint32_t found;
    char properties[4096];
    begin();
    MUST(launch("test_lanes", 1, out, 0, 0));
    MUST(hipMemcpyDtoHAsync(&found, at(out), 4, stream));
    MUST(hipStreamSynchronize(stream));
    HOLDS(found == lanes);
    MUST(hipGetDevicePropertiesR0600(properties, 0));
    HOLDS(!memcmp(properties + 308, &lanes, 4));
    HOLDS(!strncmp(properties + 1160, lanes == 64 ? "gfx9" : "gfx1", 4));
    finish();
}

static void lanes_64(void)
{
    setenv("HIP_EMULATOR_WAVEFRONT", "64", 1);
    lanes_are(64);
}

static void lanes_32(void)
{
    setenv("HIP_EMULATOR_WAVEFRONT", "32", 1);
    lanes_are(32);
}

static void other_target(void)
{
    const void *image = bundle();
    setenv("HIP_EMULATOR_ARCH", "gfx1201x", 1);
    HOLDS(hipModuleLoadData(&module, image) == 209);
}

static void no_devices(void)
{
    int count;
    setenv("HIP_EMULATOR_DEVICES", "0", 1);
    HOLDS(hipGetDeviceCount(&count) == 100);
}

/* A case, and what the process has to say when it ends in an abort (NULL: it must exit with 0). */
static const struct {
    const char *name;
    void (*run)(void);
    const char *violation;
    int signal;
} cases[] = {
    {"upload, kernel, download", right, NULL, 0},
    {"barriers and atomics", right_sum, NULL, 0},
    {"the second device", right_on_second_device, NULL, 0},
    {"an event between streams", right_event, NULL, 0},
    {"a wait for an event", right_event_wait, NULL, 0},
    {"an event recorded again", recorded_again, NULL, 0},
    {"a rectangle is copied", right_rectangle, NULL, 0},
    {"without a wait there is no result", missing_wait, NULL, 0},
    {"a source changed before the wait", source_changed_early, NULL, 0},
    {"a missing event between streams", missing_event, "loads what nothing has written", SIGABRT},
    {"a host pointer as an argument", host_pointer, "kernel test_scale: argument 0 is 0x", SIGABRT},
    {"a host pointer in a struct", host_pointer_in_struct, "ordinary host memory", SIGABRT},
    {"a missing barrier", missing_barrier, "no barrier since", SIGABRT},
    {"a kernel for wavefronts of 64 alone", wave64_only, "__shared__", SIGABRT},
    {"threads at different barriers", different_barriers, "waits at the barrier", SIGABRT},
    {"__shared__ memory read before it is written", unwritten_shared, "has not stored", SIGABRT},
    {"a shift by 32", shift, "shift by a count", SIGABRT},
    {"a store past an allocation", overrun, "bytes 4000 to 4003 of a 4000-byte", SIGABRT},
    {"a fill past an allocation", copy_overrun, "the destination is", SIGABRT},
    {"a load of what nothing wrote", unwritten, "loads what nothing has written", SIGABRT},
    {"fresh memory is poisoned", poison, NULL, 0},
    {"a kernel reads poison", poison_in_kernel, NULL, 0},
    {"memory of another device, in a struct", foreign_memory, "device 1", SIGABRT},
    {"memory of another device, as an argument", foreign_argument, "device 1", SIGABRT},
    {"a stream of another device", foreign_stream, "belongs to device 0", SIGABRT},
    {"a thread that set no device", unset_device, "belongs to device 1", SIGABRT},
    {"the host touches device memory", host_touches_device, "", SIGSEGV},
    {"work on freed memory", used_after_free, "a freed 4000-byte", SIGABRT},
    {"memory freed twice", freed_twice, "hipFree of", SIGABRT},
    {"the default stream", default_stream, "the default stream", SIGABRT},
    {"a wrong block size", wrong_block, "it is made for 128", SIGABRT},
    {"a graph, thrice", right_graph, NULL, 0},
    {"a wait in a capture", wait_in_capture, "hipStreamSynchronize: the calling thread captures",
     SIGABRT},
    {"an allocation in a capture", allocation_in_capture, "hipMalloc: the calling thread captures",
     SIGABRT},
    {"an upload in a capture", upload_in_capture, "hipMemcpyHtoDAsync: the calling thread",
     SIGABRT},
    {"an event in a capture", event_in_capture, "hipEventRecord: the calling thread", SIGABRT},
    {"a graph copies to memory not pinned", pageable_in_graph, "not pinned", SIGABRT},
    {"a wait for what another thread captures", captured_by_another, "another thread captures",
     SIGABRT},
    {"a capture that minds other threads", global_capture, "minds what other threads do", SIGABRT},
    {"the end of no capture", end_without_begin, "captures nothing", SIGABRT},
    {"a capture that fails is ended", failed_end, NULL, 0},
    {"a graph on freed memory", graph_used_after_free, "a freed 4000-byte", SIGABRT},
    {"a graph freed while it runs", graph_freed_early, "may be running", SIGABRT},
    {"a graph freed twice", graph_freed_twice, "no such graph", SIGABRT},
    {"a graph without an instance is launched", graph_launched, "no such graph", SIGABRT},
    {"a graph of another device", foreign_graph, "belongs to device 0", SIGABRT},
    {"a graph that leaks is told", graph_leaks, "leak: 1 instances of graphs", 0},
    {"leaks are told", leaks, "leak: 1 events", 0},
    {"calls fail on demand", failures, NULL, 0},
    {"violations as errors", violations_continue, "argument 0 is 0x", 0},
    {"orders differ by seed", orders, NULL, 0},
    {"wavefronts of 64", lanes_64, NULL, 0},
    {"wavefronts of 32", lanes_32, NULL, 0},
    {"code for another target", other_target, NULL, 0},
    {"no device", no_devices, NULL, 0},
};

/* Runs one case in a process; what it wrote to stderr. */
static int run_case(void (*run)(void), const char *seed, char *said, size_t size)
{
    int ends[2], status;
    if (pipe(ends))
        abort();
    pid_t child = fork();
    if (!child) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        if (seed)
            setenv("HIP_EMULATOR_SEED", seed, 1);
        run();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(ends[0], said + used, size - 1 - used)) > 0)
        used += (size_t)got;
    said[used] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static bool as_expected(unsigned i, int status, const char *said)
{
    bool ended = cases[i].signal ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal
                                 : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ended && (cases[i].violation ? strstr(said, cases[i].violation) != NULL : !*said);
}

/* What depends on the order of work: a mistake must show with some seed, and what is right hold
 * with all. */
static bool over_seeds(unsigned i, char *said, size_t size)
{
    unsigned seen = 0, seeds = 12;
    for (unsigned s = 1; s <= seeds; s++) {
        char seed[8];
        snprintf(seed, sizeof seed, "%u", s);
        seen += as_expected(i, run_case(cases[i].run, seed, said, size), said);
    }
    return cases[i].run == missing_event ? seen > 0 : seen == seeds;
}

int main(int argc, char **argv)
{
    static char said[1 << 16];
    unsigned n = sizeof cases / sizeof *cases, bad = 0;
    load(argv[1]);
    printf("1..%u\n", n);
    fflush(stdout);
    for (unsigned i = 0; i < n; i++) {
        bool good = over_seeds(i, said, sizeof said);
        bad += !good;
        printf("%s %u - %s\n", good ? "ok" : "not ok", i + 1, cases[i].name);
        if (!good)
            printf("# %s\n", said);
        fflush(stdout);
    }
    return bad != 0;
}
