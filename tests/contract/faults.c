/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A metric on the emulator from opening the device to closing it, with every call of HIP failing
 * once: the failure is told, nothing is left behind. The contract test also builds it with mistakes
 * in the host's code, and wants to see it fail.
 *
 *   HIPVMAF_RUNTIME=LIBRARY faults METRIC */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../gpu/compare.h"

/* Each slot makes a graph of its second pair; the last pairs are laid out in another way. */
enum { WIDTH = 37, HEIGHT = 29, DEPTH = 8, SLOTS = 2, PAIRS = 8, ALIKE = 6 };

static void (*emu_fail)(const char *spec);
static unsigned long (*emu_calls)(const char *name);
static unsigned (*emu_leaks)(void);

static GPtrArray *features;
static Stream *stream;

/* Calls that bring a result about. A metric may do without some. */
static const char *const calls[] = {
    "hipInit",
    "hipGetDeviceCount",
    "hipMalloc",
    "hipHostMalloc",
    "hipStreamCreateWithFlags",
    "hipEventCreateWithFlags",
    "hipMemcpyHtoDAsync",
    "hipMemcpyDtoHAsync",
    "hipMemsetAsync",
    "hipModuleLoadData",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipEventRecord",
    "hipEventSynchronize",
    "hipStreamWaitEvent",
    "hipStreamSynchronize",
    "hipGraphLaunch",
};
enum { N_CALLS = G_N_ELEMENTS(calls) };
static gboolean needed[N_CALLS];

/* Calls without which pairs cost the host more, but nothing is lost. */
static const char *const dispensable[] = {
    "hipStreamBeginCapture",
    "hipStreamEndCapture",
    "hipGraphGetNodes",
    "hipGraphInstantiateWithFlags",
};
static unsigned long graphs; /* that were queued without a failure */

/* Before quiescing, which makes some of these too, and survives their failure. */
static void note_calls(void)
{
    for (unsigned i = 0; i < N_CALLS; i++)
        needed[i] = emu_calls(calls[i]) > 0;
    graphs = emu_calls("hipGraphLaunch");
}

static gboolean live(gboolean noted, GError **error)
{
    Gpu gpu;
    HvHip *hip = hv_hip_open(0, error);
    if (!hip)
        return FALSE;
    gboolean fine = gpu_init(&gpu, hip, &stream->format, features, SLOTS, error);
    if (fine) {
        fine = stream_hold(stream, &gpu, error);
        if (noted)
            note_calls();
        gpu_clear(&gpu);
    }
    hv_hip_unref(hip);
    return fine;
}

/* One life with calls made to fail; whether it ended as it should. */
static gboolean live_with(const char *spec, gboolean must_fail, gboolean must_not)
{
    GError *error = NULL;
    emu_fail(spec);
    gboolean fine = live(!spec, &error);
    gboolean told = fine ? !error : error && *error->message;
    unsigned leaks = emu_leaks();
    if (!told || leaks || (must_fail && fine) || (must_not && !fine)) {
        printf("# with %s: %s, %u leaks: %s\n", spec ? spec : "no failure",
               fine ? "fine" : "failed", leaks, error ? error->message : "no error");
        g_clear_error(&error);
        return FALSE;
    }
    g_clear_error(&error);
    return TRUE;
}

static gboolean find_emulator(void)
{
    void *library = dlopen(g_getenv("HIPVMAF_RUNTIME"), RTLD_NOW);
    if (!library)
        return FALSE;
    *(void **)&emu_fail = dlsym(library, "emu_fail");
    *(void **)&emu_calls = dlsym(library, "emu_calls");
    *(void **)&emu_leaks = dlsym(library, "emu_leaks");
    return emu_fail && emu_calls && emu_leaks;
}

static gboolean each_call(const char *failing, unsigned long n)
{
    for (unsigned long i = 1; i <= n; i++) {
        char *spec = g_strdup_printf(failing, i);
        gboolean fine = live_with(spec, FALSE, FALSE);
        g_free(spec);
        if (!fine)
            return FALSE;
    }
    return TRUE;
}

/* Each of these that a life needs has to end it by failing for the first time. */
static gboolean essential(void)
{
    for (unsigned i = 0; i < N_CALLS; i++) {
        char *spec = g_strconcat(calls[i], ":1", NULL);
        gboolean fine = !needed[i] || live_with(spec, TRUE, FALSE);
        g_free(spec);
        if (!fine)
            return FALSE;
    }
    return TRUE;
}

/* Each of them at any time; and all. */
static gboolean without_graphs(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(dispensable); i++)
        for (unsigned n = 1; n <= SLOTS + 1; n++) {
            char *spec = g_strdup_printf("%s:%u%s", dispensable[i], n, n > SLOTS ? "" : "+");
            gboolean fine = live_with(spec, FALSE, TRUE);
            g_free(spec);
            if (!fine)
                return FALSE;
        }
    return TRUE;
}

static gboolean result(unsigned number, const char *name, gboolean good)
{
    printf("%s %u - %s\n", good ? "ok" : "not ok", number, name);
    return good;
}

static void make_stream(const Compared *what)
{
    GError *error = NULL;
    uint64_t state = 1;
    features = compared_features(what, "");
    HvFormat format = compared_format(features, WIDTH, HEIGHT, DEPTH, 0);
    gpu_must(gpu_fit(features, &format, &error), &error);
    stream = stream_new(what, features, &format, PAIRS);
    stream_make(stream, CLIP_NEAR, ALIKE, &state);
    stream_measure(stream);
}

static gboolean test(void)
{
    printf("1..6\n");
    gboolean good = result(1, "no call fails", live_with(NULL, FALSE, TRUE));
    unsigned long n = emu_calls(NULL);
    good = result(2, "calls without which there is no result", good && essential()) && good;
    good = result(3, "each call fails once", good && each_call("#%lu", n)) && good;
    good = result(4, "from each call on, all fail", good && each_call("#%lu+", n)) && good;
    good = result(5, "graphs were made", graphs >= SLOTS) && good;
    return result(6, "graphs cannot be made", good && without_graphs()) && good;
}

int main(int argc, char **argv)
{
    if (!find_emulator()) {
        printf("1..0 # SKIP HIPVMAF_RUNTIME is no emulator\n");
        return 77;
    }
    if (!hv_images[0].name || !hv_images[0].bundle) {
        printf("1..0 # SKIP built without hipcc\n");
        return 77;
    }
    const Compared *what = compared;
    while (what->metric && (argc != 2 || strcmp(what->metric, argv[1])))
        what++;
    if (!what->metric) {
        fprintf(stderr, "usage: faults METRIC\n");
        return 2;
    }
    make_stream(what);
    gboolean good = test();
    stream_free(stream);
    g_ptr_array_unref(features);
    return !good;
}
