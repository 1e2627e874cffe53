/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on the emulator from opening the device to closing it, with every call of HIP failing once:
 * the failure is told, nothing is left behind. The contract test also builds it with mistakes in
 * the host's code, and wants to see it fail.
 *
 *   HIPVMAF_RUNTIME=LIBRARY adm_faults */
#include <dlfcn.h>
#include <stdio.h>

#include "../unit/adm_measure.h"
#include "kernels/hip/backend.h"

enum { WIDTH = 37, HEIGHT = 29, DEPTH = 8, SLOTS = 2, PAIRS = 3 };

static void (*emu_fail)(const char *spec);
static unsigned long (*emu_calls)(const char *name);
static unsigned (*emu_leaks)(void);

static Clip clip;
static HvPicture picture[CLIP_PICTURES];
static HvAdmParams params;
static AdmResult cpu;

static gboolean measure(HvBackend *backend, HvMetric *metric, unsigned slot, GError **error)
{
    HvSubject subject = {&picture[0], &picture[1], slot};
    return backend->ops->stage(backend, slot, &picture[0], &picture[1], error) &&
           hv_adm_hip_ops.submit(metric, &subject, error) &&
           backend->ops->seal(backend, slot, error);
}

static gboolean collect(HvBackend *backend, HvMetric *metric, unsigned slot, GError **error)
{
    AdmResult gpu = {0};
    HvSubject subject = {NULL, NULL, slot};
    if (!backend->ops->wait(backend, slot, error))
        return FALSE;
    adm_collect(&hv_adm_hip_ops, metric, &subject, &gpu);
    adm_assert_same(&cpu, &gpu, "a pair in slot %u", slot);
    return TRUE;
}

static gboolean measure_all(HvBackend *backend, HvMetric *metric, GError **error)
{
    for (unsigned i = 0; i < PAIRS; i++)
        for (unsigned slot = 0; slot < SLOTS; slot++)
            if ((i && !collect(backend, metric, slot, error)) ||
                !measure(backend, metric, slot, error))
                return FALSE;
    return collect(backend, metric, 0, error) && collect(backend, metric, 1, error);
}

static gboolean use_backend(HvBackend *backend, GError **error)
{
    HvMetricSetup setup = {&clip.format, &params, NULL, backend};
    HvMetric *metric = hv_adm_hip_ops.create(&setup, error);
    if (!metric)
        return FALSE;
    gboolean fine = measure_all(backend, metric, error);
    backend->ops->quiesce(backend);
    hv_adm_hip_ops.destroy(metric);
    return fine;
}

static gboolean live(GError **error)
{
    HvHip *hip = hv_hip_open(0, error);
    if (!hip)
        return FALSE;
    HvBackend *backend = hv_hip_backend_new(hip, &clip.format, SLOTS, FALSE, error);
    gboolean fine = backend && use_backend(backend, error);
    if (backend)
        backend->ops->free(backend);
    hv_hip_unref(hip);
    return fine;
}

/* One life with calls made to fail; whether it ended as it should. */
static gboolean live_with(const char *spec, gboolean must_fail)
{
    GError *error = NULL;
    emu_fail(spec);
    gboolean fine = live(&error);
    gboolean told = fine ? !error : error && *error->message;
    unsigned leaks = emu_leaks();
    if (!told || leaks || (must_fail && fine) || (!spec && !fine)) {
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

static gboolean each_call(const char *format, unsigned long calls)
{
    for (unsigned long i = 1; i <= calls; i++) {
        char *spec = g_strdup_printf(format, i);
        gboolean fine = live_with(spec, FALSE);
        g_free(spec);
        if (!fine)
            return FALSE;
    }
    return TRUE;
}

/* Each of these, failing for the first time, has to end the life. */
static gboolean essential(void)
{
    static const char *const calls[] = {
        "hipInit",
        "hipGetDeviceCount",
        "hipMalloc",
        "hipHostMalloc",
        "hipStreamCreateWithFlags",
        "hipEventCreateWithFlags",
        "hipMemcpyHtoDAsync",
        "hipMemcpyDtoHAsync",
        "hipMemsetD8Async",
        "hipModuleLoadData",
        "hipModuleGetFunction",
        "hipModuleLaunchKernel",
        "hipEventRecord",
        "hipEventSynchronize",
        "hipStreamSynchronize",
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        char *spec = g_strconcat(calls[i], ":1", NULL);
        gboolean fine = live_with(spec, TRUE);
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

int main(void)
{
    if (!find_emulator()) {
        printf("1..0 # SKIP HIPVMAF_RUNTIME is no emulator\n");
        return 77;
    }
    if (!hv_images[0].name || !hv_images[0].bundle) {
        printf("1..0 # SKIP built without hipcc\n");
        return 77;
    }
    Layout layout = {0};
    gpointer memory[CLIP_PICTURES];
    clip = clip_new(CLIP_NEAR, WIDTH, HEIGHT, DEPTH, 1);
    for (int p = 0; p < CLIP_PICTURES; p++)
        picture[p] = clip_lay_out(&clip, p, &layout, &memory[p]);
    params = adm_params("");
    cpu = adm_measure_clip(&params, &clip, (AdmHow){0});

    printf("1..4\n");
    gboolean good = result(1, "no call fails", live_with(NULL, FALSE));
    unsigned long calls = emu_calls(NULL);
    good = result(2, "calls without which there is no result", good && essential()) && good;
    good = result(3, "each call fails once", good && each_call("#%lu", calls)) && good;
    good = result(4, "from each call on, all fail", good && each_call("#%lu+", calls)) && good;
    adm_measure_end();
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(memory[p]);
    clip_free(&clip);
    return !good;
}
