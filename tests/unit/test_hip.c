/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * kernels/hip on a runtime made for it: what is found and not found, launches, memory, staging, and
 * every call failing in turn. The images are the test's own. */
#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "fake_hip.h"
#include "kernels/hip/backend.h"

static const uint8_t bundle[] = "no code";
const HvImage hv_images[] = {{"first", bundle, sizeof bundle, NULL}, {0}};
const HvKernelInfo hv_kernels[] = {
    {"toy", 0, 64, 3, {{0, 8, 1}, {8, 4, 0}, {16, 8, 0}}},
    {0},
};
const char *const hv_hip_targets = "gfx900;gfx90a";

static FakeHip *fake;

static void reset(void)
{
    g_assert_cmpint(fake->live, ==, 0);
    g_assert_cmpint(fake->bad, ==, 0);
    *fake = (FakeHip){
        .devices = 2, .target = "gfx90a:sramecc+:xnack-", .status = 999, .fails_total = -1};
    g_setenv("HIPVMAF_RUNTIME", g_getenv("FAKE_HIP"), TRUE);
}

static HvHip *open_one(void)
{
    GError *error = NULL;
    HvHip *hip = hv_hip_open(-1, &error);
    g_assert_no_error(error);
    return hip;
}

static void check_closed(int device_id, const char *expected)
{
    GError *error = NULL;
    g_assert_null(hv_hip_open(device_id, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_BACKEND);
    if (!strstr(error->message, expected))
        g_error("\"%s\" is not in \"%s\"", expected, error->message);
    g_error_free(error);
}

static void check_fails(const char *call, int status, const char *expected)
{
    reset();
    fake->fails = call;
    fake->status = status;
    check_closed(-1, expected);
}

static void test_open(void)
{
    reset();
    HvHip *hip = open_one();
    g_assert_cmpstr(hv_hip_platform(hip), ==, "amd");
    g_assert_cmpstr(hv_hip_device_name(hip), ==, "First GPU");
    g_assert_cmpstr(hv_hip_target(hip), ==, "gfx90a");
    hv_hip_unref(hip);
    hip = hv_hip_open(1, NULL);
    g_assert_cmpstr(hv_hip_device_name(hip), ==, "Second GPU");
    hv_hip_unref(hip);

    reset();
    fake->target = "Radeon";
    hip = open_one();
    g_assert_cmpstr(hv_hip_target(hip), ==, "unknown");
    hv_hip_unref(hip);
}

static void test_not_found(void)
{
    reset();
    g_setenv("HIPVMAF_RUNTIME", "/nowhere/libamdhip64.so.9", TRUE);
    check_closed(-1, "/nowhere/libamdhip64.so.9: cannot open shared object file");
    g_setenv("HIPVMAF_RUNTIME", "libm.so.6", TRUE);
    check_closed(-1, "libm.so.6: it is no HIP or CUDA runtime");
    reset();
    fake->devices = 0;
    check_closed(-1, "it finds no GPU");
    check_fails("hipInit", 100, "it finds no GPU; hipInit says: so it was told (100)");
    check_fails("hipGetDeviceCount", 101, "it finds no GPU; hipGetDeviceCount says");
    check_fails("hipInit", 3, ": hipInit says: so it was told (3)");
    check_fails("hipModuleLoadData", 209,
                "this build has no code for First GPU, which is gfx90a; it has: gfx900;gfx90a");
    check_fails("hipModuleLoadData", 1, "hipModuleLoadData for first failed on Second GPU");
    check_fails("hipModuleGetFunction", 500, "hipModuleGetFunction for toy failed on First GPU");
    reset();
    check_closed(2, "it has 2 GPUs, numbered from 0, and none with device-id 2");
}

/* Nothing is set: all the names are tried. This holds where no GPU is. */
static void test_all_names(void)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        "libcuda.so.1"};
    GError *error = NULL;
    reset();
    g_unsetenv("HIPVMAF_RUNTIME");
    HvHip *hip = hv_hip_open(-1, &error);
    if (hip) {
        hv_hip_unref(hip);
        g_test_skip("there is a GPU");
        return;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_nonnull(strstr(error->message, names[i]));
    g_error_free(error);
}

/* The second device is taken where the first one has no code. */
static void test_next_device(void)
{
    reset();
    fake->fails_total = 5; /* hipInit, count, name, properties, set, load */
    fake->status = 209;
    HvHip *hip = open_one();
    g_assert_cmpstr(hv_hip_device_name(hip), ==, "Second GPU");
    hv_hip_unref(hip);
}

static void check_refused(HvHip *hip, const HvHipKernel *kernel, const HvArgument *arguments,
                          unsigned n, unsigned grid, const char *expected)
{
    GError *error = NULL;
    g_assert_false(hv_hip_launch(hip, kernel, grid, 1, 1, NULL, arguments, n, &error));
    g_assert_cmpstr(error->message, ==, expected);
    g_error_free(error);
}

static void test_launch(void)
{
    reset();
    HvHip *hip = open_one();
    HvDevice memory;
    GError *error = NULL;
    g_assert_true(hv_hip_malloc(hip, 100, &memory, NULL));
    g_assert_cmpuint(hv_hip_allocated(hip), ==, 100);
    const HvHipKernel *toy = hv_hip_kernel(hip, "toy", NULL);
    g_assert_null(hv_hip_kernel(hip, "tool", &error));
    g_assert_cmpstr(error->message, ==, "this build has no kernel tool");
    g_clear_error(&error);

    const HvArgument good[] = {hv_pointer(memory + 99), hv_u32(7), {HV_ARGUMENT_U64, 1ull << 40}};
    g_assert_true(hv_hip_launch(hip, toy, 2, 3, 4, NULL, good, 3, NULL));
    const unsigned grid[] = {2, 3, 4}, block[] = {64, 1, 1};
    const size_t arguments[] = {memory + 99, 7, 1ull << 40};
    g_assert_cmpmem(fake->grid, sizeof grid, grid, sizeof grid);
    g_assert_cmpmem(fake->block, sizeof block, block, sizeof block);
    g_assert_cmpmem(fake->arguments, sizeof arguments, arguments, sizeof arguments);

    HvArgument bad[3];
    check_refused(hip, toy, good, 2, 1,
                  "kernel toy was not launched: 2 arguments are given; the kernel takes 3");
    memcpy(bad, good, sizeof good);
    bad[1].type = HV_ARGUMENT_U64;
    check_refused(hip, toy, bad, 3, 1,
                  "kernel toy was not launched: argument 1 is given a 64-bit number; the kernel "
                  "takes a number of 4 bytes");
    bad[1] = good[1];
    bad[2].type = HV_ARGUMENT_POINTER;
    check_refused(hip, toy, bad, 3, 1,
                  "kernel toy was not launched: argument 2 is given a pointer; the kernel takes a "
                  "number of 8 bytes");
    bad[2] = good[2];
    bad[0].value = memory + 100;
    char *expected = g_strdup_printf("kernel toy was not launched: argument 0, 0x%" PRIx64
                                     ", is not in the device's memory",
                                     memory + 100);
    check_refused(hip, toy, bad, 3, 1, expected);
    g_free(expected);
    check_refused(hip, toy, good, 3, 0, "kernel toy was not launched: its grid is 0x1x1 blocks");
    fake->fails = "hipModuleLaunchKernel";
    check_refused(hip, toy, good, 3, 1,
                  "hipModuleLaunchKernel for toy failed on First GPU: so it was told (999)");
    hv_hip_free(hip, memory);
    hv_hip_unref(hip);
}

static void test_memory(void)
{
    reset();
    HvHip *hip = open_one();
    HvDevice memory[20];
    GError *error = NULL;
    for (unsigned i = 0; i < 20; i++)
        g_assert_true(hv_hip_malloc(hip, 10 + i, &memory[i], NULL));
    for (unsigned i = 0; i < 20; i += 2)
        hv_hip_free(hip, memory[i]);
    for (unsigned i = 1; i < 20; i += 2) {
        g_assert_true(hv_hip_is_device(hip, memory[i], 10 + i));
        g_assert_true(hv_hip_is_device(hip, memory[i] + 9 + i, 1));
        g_assert_false(hv_hip_is_device(hip, memory[i] + 1, 10 + i));
        g_assert_false(hv_hip_is_device(hip, memory[i] - 1, 1));
        g_assert_false(hv_hip_is_device(hip, memory[i - 1], 1));
    }
    const struct {
        HvDevice a, b;
    } good = {memory[1], memory[3] + 12}, bad = {memory[1], memory[3] + 13};
    const size_t offsets[] = {0, 8};
    g_assert_true(hv_hip_check_struct(hip, "good", &good, offsets, 2, NULL));
    g_assert_false(hv_hip_check_struct(hip, "bad", &bad, offsets, 2, &error));
    g_assert_true(g_str_has_prefix(error->message, "bad: the pointer at offset 8, 0x"));
    g_clear_error(&error);

    HvHipStream *stream = hv_hip_stream_new(hip, NULL);
    char *pinned = hv_hip_malloc_pinned(hip, 8, NULL), back[8];
    g_assert_true(hv_hip_is_pinned(hip, pinned, 8));
    g_assert_false(hv_hip_is_pinned(hip, pinned, 9));
    memcpy(pinned, "abcdefg", 8);
    g_assert_true(hv_hip_upload(hip, memory[1], pinned, 8, stream, NULL));
    g_assert_true(hv_hip_fill(hip, memory[1] + 1, 'x', 2, stream, NULL));
    g_assert_true(hv_hip_download(hip, back, memory[1], 8, stream, NULL));
    g_assert_true(hv_hip_stream_wait(hip, stream, NULL));
    g_assert_cmpstr(back, ==, "axxdefg");
    g_assert_false(hv_hip_upload(hip, memory[1], pinned, 12, stream, &error));
    g_assert_true(g_str_has_prefix(error->message, "hipMemcpyHtoDAsync was not called: 12 bytes"));
    g_clear_error(&error);
    hv_hip_stream_free(hip, stream);
    hv_hip_free_pinned(hip, pinned);
    for (unsigned i = 1; i < 20; i += 2)
        hv_hip_free(hip, memory[i]);
    g_assert_cmpuint(hv_hip_allocated(hip), ==, 0);
    hv_hip_unref(hip);
}

/* Staging */

typedef struct Layout {
    HvFormat format;
    int stride, chroma_stride; /* bytes; negative: from bottom to top */
    gboolean interleaved, cr_first, pinned;
    int uploads, uploads_2d; /* that both pictures should take */
    unsigned pitch;          /* expected, of luma; 0: any */
} Layout;

/* What the sample is that stands there. */
static unsigned sample_at(unsigned side, unsigned plane, unsigned x, unsigned y)
{
    return (side * 7919 + plane * 104729 + y * 131 + x * 31 + x * y) & 0xff;
}

static void put(void *at, unsigned bytes, unsigned value)
{
    guint16 word = (guint16)(value * 257);
    memcpy(at, &word, bytes);
}

static void fill_plane(const HvFormat *format, unsigned side, unsigned i, const HvPlane *plane)
{
    for (unsigned y = 0; y < hv_format_plane_height(format, i); y++)
        for (unsigned x = 0; x < hv_format_plane_width(format, i); x++)
            put((char *)plane->data + (ptrdiff_t)y * plane->stride + x * plane->step,
                hv_format_sample_bytes(format), sample_at(side, i, x, y));
}

/* A plane at the end of `memory`'s used part. */
static char *place(char **memory, ptrdiff_t stride, unsigned rows, char **first)
{
    size_t size = (size_t)ABS(stride) * rows;
    *first = stride < 0 ? *memory + (rows - 1) * -stride : *memory;
    *memory += size;
    return *first;
}

static void make_picture(const Layout *layout, unsigned side, char *memory, HvPicture *picture)
{
    const HvFormat *format = &layout->format;
    unsigned sample = hv_format_sample_bytes(format);
    char *first;
    for (unsigned i = 0; i < format->n_planes; i++) {
        HvPlane *plane = &picture->plane[i];
        gboolean shared = i && layout->interleaved;
        *plane = (HvPlane){NULL, i ? layout->chroma_stride : layout->stride,
                           shared ? 2 * sample : sample, side ? 6 : 0};
        if (shared && i == 2)
            plane->data =
                (char *)picture->plane[1].data + (layout->cr_first ? -(int)sample : (int)sample);
        else
            plane->data = place(&memory, plane->stride, hv_format_plane_height(format, i), &first);
        if (shared && i == 1 && layout->cr_first)
            plane->data = (char *)plane->data + sample;
    }
    for (unsigned i = 0; i < format->n_planes; i++)
        fill_plane(format, side, i, &picture->plane[i]);
}

/* The fake's device memory can be looked at. */
static void check_plane(const Layout *layout, unsigned side, unsigned i, const HvStagedPlane *plane)
{
    unsigned sample = hv_format_sample_bytes(&layout->format);
    g_assert_cmpuint(plane->pitch % 16, ==, 0);
    g_assert_cmpuint(plane->shift, ==, side ? 6 : 0);
    for (unsigned y = 0; y < hv_format_plane_height(&layout->format, i); y++)
        for (unsigned x = 0; x < hv_format_plane_width(&layout->format, i); x++) {
            char expected[2];
            const char *at =
                (const char *)(uintptr_t)plane->data + (size_t)y * plane->pitch + x * plane->step;
            put(expected, sample, sample_at(side, i, x, y));
            g_assert_cmpmem(at, sample, expected, sample);
        }
}

static void check_layout(const Layout *layout)
{
    enum { SIZE = 1 << 20 };
    reset();
    HvHip *hip = open_one();
    HvBackend *backend = hv_hip_backend_new(hip, &layout->format, 2, TRUE, NULL);
    HvStaging *staging = hv_hip_backend_staging(backend);
    char *memory[2];
    HvPicture picture[2];
    for (unsigned side = 0; side < 2; side++) {
        memory[side] = layout->pinned ? hv_hip_malloc_pinned(hip, SIZE, NULL) : g_malloc(SIZE);
        make_picture(layout, side, memory[side], &picture[side]);
    }
    int live = fake->live;
    for (unsigned slot = 0; slot < 2; slot++) {
        fake->uploads = fake->uploads_2d = 0;
        g_assert_true(backend->ops->stage(backend, slot, &picture[0], &picture[1], NULL));
        g_assert_true(backend->ops->seal(backend, slot, NULL));
        g_assert_true(backend->ops->wait(backend, slot, NULL));
        g_assert_cmpint(fake->uploads, ==, layout->uploads);
        g_assert_cmpint(fake->uploads_2d, ==, layout->uploads_2d);
        const HvSlot *shown = hv_staging_slot(staging, slot);
        for (unsigned side = 0; side < 2; side++)
            for (unsigned i = 0; i < layout->format.n_planes; i++)
                check_plane(layout, side, i, &shown->plane[side][i]);
        if (layout->pitch)
            g_assert_cmpuint(shown->plane[0][0].pitch, ==, layout->pitch);
    }
    g_assert_cmpint(fake->live, ==, live); /* nothing is made while pairs go through */
    for (unsigned side = 0; side < 2; side++) {
        if (layout->pinned)
            hv_hip_free_pinned(hip, memory[side]);
        else
            g_free(memory[side]);
    }
    backend->ops->free(backend);
    hv_hip_unref(hip);
}

static void test_staging(void)
{
    static const HvFormat yuv420 = {33, 17, 8, 3, 1, 1}, deep420 = {33, 17, 10, 3, 1, 1},
                          yuv444 = {33, 17, 8, 3, 0, 0}, yuv422 = {33, 17, 12, 3, 1, 0},
                          grey = {300, 20, 8, 1, 0, 0}, grey16 = {300, 20, 16, 1, 0, 0},
                          exact = {256, 16, 8, 1, 0, 0};
    const Layout layouts[] = {
        /* not pinned: through the bounce buffer, with the source's pitch or ours */
        {yuv420, 36, 20, .uploads = 6, .pitch = 256},
        {yuv420, 48, 32, .uploads = 6, .pitch = 48},
        {yuv420, -48, -32, .uploads = 6, .pitch = 256},
        {yuv420, 33, 17, .uploads = 6, .pitch = 256},
        {deep420, 66, 34, .uploads = 6, .pitch = 256},
        {deep420, 80, 48, .uploads = 6, .pitch = 80},
        {yuv444, 48, 48, .uploads = 6, .pitch = 48},
        {yuv422, 80, 80, .uploads = 6, .pitch = 80},
        {yuv420, 48, 48, TRUE, FALSE, .uploads = 4, .pitch = 48},
        {yuv420, 36, 36, TRUE, TRUE, .uploads = 4, .pitch = 256},
        {deep420, 68, 68, TRUE, FALSE, .uploads = 4, .pitch = 256},
        {deep420, 272, 272, TRUE, TRUE, .uploads = 4, .pitch = 272},
        {grey, 304, 0, .uploads = 2, .pitch = 304},
        {grey16, 600, 0, .uploads = 2, .pitch = 768},
        {exact, 512, 0, .uploads = 2, .pitch = 512},
        {exact, 544, 0, .uploads = 2, .pitch = 256}, /* does not fit */
        /* pinned: as it lies, as a rectangle, or bounced where that would be slow */
        {yuv420, 48, 32, .pinned = TRUE, .uploads = 6, .pitch = 48},
        {yuv420, 36, 20, .pinned = TRUE, .uploads_2d = 6, .pitch = 256},
        {yuv420, 33, 17, .pinned = TRUE, .uploads = 6, .pitch = 256},
        {yuv420, -48, -32, .pinned = TRUE, .uploads = 6, .pitch = 256},
        {yuv420, 48, 48, TRUE, TRUE, TRUE, .uploads = 4, .pitch = 48},
        {deep420, 68, 68, TRUE, FALSE, TRUE, .uploads_2d = 4, .pitch = 256},
        {exact, 2048, 0, .pinned = TRUE, .uploads_2d = 2, .pitch = 256},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(layouts); i++)
        check_layout(&layouts[i]);
}

/* One run: open, make a pool, stage, launch. FALSE when any of it fails; nothing is left over. */
static gboolean run(GError **error)
{
    static const HvFormat format = {33, 17, 8, 1, 0, 0};
    static char samples[17 * 48];
    HvPicture picture = {.plane = {{samples, 36, 1, 0}}};
    HvHip *hip = hv_hip_open(0, error);
    HvBackend *backend = hip ? hv_hip_backend_new(hip, &format, 2, TRUE, error) : NULL;
    gboolean ok = FALSE;
    if (backend) {
        HvDevice memory = hv_staging_slot(hv_hip_backend_staging(backend), 0)->plane[0][0].data;
        const HvHipKernel *toy = hv_hip_kernel(hip, "toy", error);
        ok = backend->ops->stage(backend, 0, &picture, &picture, error);
        memory = hv_staging_slot(hv_hip_backend_staging(backend), 0)->plane[0][0].data;
        const HvArgument arguments[] = {hv_pointer(memory), hv_u32(1), {HV_ARGUMENT_U64, 2}};
        ok = ok && hv_hip_launch(hip, toy, 1, 1, 1, NULL, arguments, 3, error) &&
             backend->ops->seal(backend, 0, error) && backend->ops->wait(backend, 0, error);
        backend->ops->quiesce(backend);
        backend->ops->free(backend);
    }
    hv_hip_unref(hip);
    return ok;
}

/* Whatever fails, the error says so and all that was made is freed, once. The calls of the end are
 * let fail, too: nobody can do anything about that. */
static void test_every_call(void)
{
    reset();
    g_assert_true(run(NULL));
    int n = fake->total, failed = 0;
    for (int i = 0; i < n; i++) {
        GError *error = NULL;
        reset();
        fake->fails_total = i;
        if (!run(&error)) {
            failed++;
            g_assert_error(error, HV_ERROR, HV_ERROR_BACKEND);
            g_assert_nonnull(strstr(error->message, "so it was told (999)"));
            g_error_free(error);
        } else {
            g_assert_no_error(error);
        }
    }
    g_test_message("%d of %d calls matter", failed, n);
    g_assert_cmpint(failed, >, n / 2);
    reset();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    void *library = dlopen(g_getenv("FAKE_HIP"), RTLD_NOW);
    g_assert_nonnull(library);
    fake = dlsym(library, "fake_hip");
    g_test_add_func("/hip/open", test_open);
    g_test_add_func("/hip/not-found", test_not_found);
    g_test_add_func("/hip/all-names", test_all_names);
    g_test_add_func("/hip/next-device", test_next_device);
    g_test_add_func("/hip/launch", test_launch);
    g_test_add_func("/hip/memory", test_memory);
    g_test_add_func("/hip/staging", test_staging);
    g_test_add_func("/hip/every-call", test_every_call);
    return g_test_run();
}
