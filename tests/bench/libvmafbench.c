/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What hvbench is compared with: libvmaf measures the same clips through its public interface, with
 * the pictures in memory before the clock starts, so that neither reading nor start-up counts.
 * "memory" and "latency" are what they are in hvbench; "cuda" hands over pictures that lie on the
 * GPU, where libvmaf was built for CUDA. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include <libvmaf/libvmaf.h>
#ifdef HAVE_LIBVMAF_CUDA
#include <gmodule.h>
#include <libvmaf/libvmaf_cuda.h>
#endif

/* Pairs measured before the clock starts, as in hvbench. */
#define WARM_UP 2
/* How long libvmaf is left alone before it is asked again for a score. */
#define POLL_US 20

/* A feature and a score that is there as soon as a picture is measured. */
typedef struct Feature {
    const char *name, *score;
} Feature;

static const Feature features[] = {
    {"adm", "VMAF_integer_feature_adm2_score"},
    {"vif", "VMAF_integer_feature_vif_scale3_score"},
    {"motion", "VMAF_integer_feature_motion_sad_score"},
    {"psnr", "psnr_y"},
    {"float_ssim", "float_ssim"},
    {"float_ms_ssim", "float_ms_ssim"},
};

/* Those that the model needs. */
enum { MODEL_FEATURES = 3 };

typedef struct Bench {
    unsigned width, height, depth;
    const char *feature, *model_name; /* one of them */
    VmafContext *vmaf;
    VmafModel *model;
    VmafPicture *reference, *distorted;
    unsigned frames;
} Bench;

static void must(int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "libvmafbench: %s: %d\n", what, error);
    exit(1);
}

static double seconds_since(gint64 start)
{
    return (double)(g_get_monotonic_time() - start) / 1e6;
}

/* ---- clips ---- */

static size_t frame_bytes(const Bench *bench)
{
    size_t chroma = (size_t)(bench->width / 2) * (bench->height / 2);
    return ((size_t)bench->width * bench->height + 2 * chroma) * (bench->depth > 8 ? 2 : 1);
}

static void fill(const Bench *bench, VmafPicture *picture, const char *from)
{
    must(vmaf_picture_alloc(picture, VMAF_PIX_FMT_YUV420P, bench->depth, bench->width,
                            bench->height),
         "no memory for a picture");
    for (unsigned plane = 0; plane < 3; plane++) {
        size_t row = (size_t)picture->w[plane] * (bench->depth > 8 ? 2 : 1);
        char *to = picture->data[plane];
        for (unsigned y = 0; y < picture->h[plane]; y++, from += row, to += picture->stride[plane])
            memcpy(to, from, row);
    }
}

static VmafPicture *load(Bench *bench, const char *path)
{
    GError *error = NULL;
    char *clip;
    gsize size;

    if (!g_file_get_contents(path, &clip, &size, &error)) {
        fprintf(stderr, "libvmafbench: %s\n", error->message);
        exit(1);
    }
    bench->frames = (unsigned)(size / frame_bytes(bench));
    must(bench->frames <= WARM_UP, "too few frames");
    VmafPicture *pictures = g_new0(VmafPicture, bench->frames);
    for (unsigned n = 0; n < bench->frames; n++)
        fill(bench, &pictures[n], clip + n * frame_bytes(bench));
    g_free(clip);
    return pictures;
}

/* ---- libvmaf ---- */

static void open_vmaf(Bench *bench, unsigned threads)
{
    const char *mask = g_getenv("LIBVMAF_CPUMASK");
    VmafConfiguration configuration = {
        .log_level = VMAF_LOG_LEVEL_NONE,
        .n_threads = threads,
        .n_subsample = 1,
        .cpumask = mask ? g_ascii_strtoull(mask, NULL, 0) : 0,
    };
    must(vmaf_init(&bench->vmaf, configuration), "vmaf_init");
}

/* The GPU's extractors have names of their own; a model finds them. */
static void use(Bench *bench, const char *suffix)
{
    if (bench->model_name) {
        VmafModelConfig configuration = {.name = "vmaf"};
        must(vmaf_model_load(&bench->model, &configuration, bench->model_name), "the model");
        must(vmaf_use_features_from_model(bench->vmaf, bench->model), "the model's features");
    } else {
        char *name = g_strconcat(bench->feature, suffix, NULL);
        must(vmaf_use_feature(bench->vmaf, name, NULL), name);
        g_free(name);
    }
}

/* libvmaf takes the pictures, and lets go of them when it has measured them. */
static void hand_over(Bench *bench, unsigned n)
{
    must(vmaf_read_pictures(bench->vmaf, &bench->reference[n], &bench->distorted[n], n),
         "vmaf_read_pictures");
}

static gboolean has_score(Bench *bench, const char *name, unsigned n)
{
    double score;
    return !vmaf_feature_score_at_index(bench->vmaf, name, &score, n);
}

static gboolean measured(Bench *bench, unsigned n)
{
    if (bench->model) {
        for (unsigned i = 0; i < MODEL_FEATURES; i++)
            if (!has_score(bench, features[i].score, n))
                return FALSE;
        return TRUE;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(features); i++)
        if (!strcmp(features[i].name, bench->feature))
            return has_score(bench, features[i].score, n);
    must(-1, "no such feature");
    return FALSE;
}

static void wait_for(Bench *bench, unsigned n)
{
    while (!measured(bench, n))
        g_usleep(POLL_US);
}

static void end(Bench *bench)
{
    must(vmaf_read_pictures(bench->vmaf, NULL, NULL, 0), "the end of the stream");
}

/* As a check that the same was measured: the last frame's score, VMAF or the feature's own. */
static void print_score(Bench *bench, unsigned n)
{
    double score = 0;
    if (bench->model)
        must(vmaf_score_at_index(bench->vmaf, bench->model, &score, n), "the model's score");
    else
        for (unsigned i = 0; i < G_N_ELEMENTS(features); i++)
            if (!strcmp(features[i].name, bench->feature))
                vmaf_feature_score_at_index(bench->vmaf, features[i].score, &score, n);
    printf(" last=%.10g\n", score);
}

static void measure_memory(Bench *bench)
{
    for (unsigned n = 0; n < WARM_UP; n++)
        hand_over(bench, n);
    for (unsigned n = 0; n < WARM_UP; n++)
        wait_for(bench, n);
    gint64 start = g_get_monotonic_time();
    for (unsigned n = WARM_UP; n < bench->frames; n++)
        hand_over(bench, n);
    end(bench);
    printf("frames=%u seconds=%.6f", bench->frames - WARM_UP, seconds_since(start));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_latency(Bench *bench)
{
    unsigned counted = bench->frames - WARM_UP;
    double *each = g_new(double, bench->frames), all = 0;

    for (unsigned n = 0; n < bench->frames; n++) {
        gint64 start = g_get_monotonic_time();
        hand_over(bench, n);
        wait_for(bench, n);
        each[n] = seconds_since(start);
        all += n < WARM_UP ? 0 : each[n];
    }
    end(bench);
    qsort(each + WARM_UP, counted, sizeof *each, by_value);
    printf("frames=%u seconds=%.6f latency_ms=%.4f", counted, all,
           each[WARM_UP + counted / 2] * 1000);
    g_free(each);
}

static int measure_on_cpu(Bench *bench, const char *how, char **clips, unsigned threads)
{
    /* So that what libvmaf frees is not given back to the kernel while the clock runs. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, G_MAXINT);
    bench->reference = load(bench, clips[0]);
    bench->distorted = load(bench, clips[1]);
    open_vmaf(bench, threads);
    use(bench, "");
    if (!strcmp(how, "latency"))
        measure_latency(bench);
    else
        measure_memory(bench);
    print_score(bench, bench->frames - 1);
    vmaf_close(bench->vmaf);
    vmaf_model_destroy(bench->model);
    g_free(bench->reference);
    g_free(bench->distorted);
    return 0;
}

/* ---- libvmaf on CUDA ---- */

#ifdef HAVE_LIBVMAF_CUDA
/* Pairs of a run, those before its clock starts, and runs. */
enum { CUDA_PAIRS = 420, CUDA_WARM_UP = 20, CUDA_RUNS = 5 };

/* What is needed of the driver's interface, so that pictures on the GPU hold the clip. */
typedef struct Cuda {
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*upload)(uint64_t to, const void *from, size_t bytes);
    void *context;
} Cuda;

static void cuda_open(Cuda *cuda)
{
    GModule *driver = g_module_open("libcuda.so.1", 0);
    must(!driver, "no libcuda.so.1");
    must(!g_module_symbol(driver, "cuInit", (gpointer *)&cuda->init) ||
             !g_module_symbol(driver, "cuDevicePrimaryCtxRetain", (gpointer *)&cuda->retain) ||
             !g_module_symbol(driver, "cuCtxPushCurrent_v2", (gpointer *)&cuda->push) ||
             !g_module_symbol(driver, "cuCtxPopCurrent_v2", (gpointer *)&cuda->pop) ||
             !g_module_symbol(driver, "cuMemcpyHtoD_v2", (gpointer *)&cuda->upload),
         "libcuda.so.1");
    must(cuda->init(0), "cuInit");
    must(cuda->retain(&cuda->context, 0), "cuDevicePrimaryCtxRetain");
}

static void upload(Cuda *cuda, const Bench *bench, const VmafPicture *to, const VmafPicture *from)
{
    void *context;
    must(cuda->push(cuda->context), "cuCtxPushCurrent");
    for (unsigned plane = 0; plane < 3; plane++) {
        size_t row = (size_t)from->w[plane] * (bench->depth > 8 ? 2 : 1);
        for (unsigned y = 0; to->data[plane] && y < from->h[plane]; y++)
            must(cuda->upload((uint64_t)to->data[plane] + (uint64_t)(y * to->stride[plane]),
                              (const char *)from->data[plane] + y * from->stride[plane], row),
                 "cuMemcpyHtoD");
    }
    must(cuda->pop(&context), "cuCtxPopCurrent");
}

/* libvmaf hands out the same few pictures in turn. Each is filled when it comes for the first time,
 * and must come as the reference, or as the distorted one, ever after. */
static void fetch(Bench *bench, Cuda *cuda, GHashTable *roles, VmafPicture *to,
                  const VmafPicture *clip, const char *role)
{
    must(vmaf_cuda_fetch_preallocated_picture(bench->vmaf, to), "no picture on the GPU");
    const char *known = g_hash_table_lookup(roles, to->data[0]);
    if (!known) {
        unsigned n = g_hash_table_size(roles) / 2;
        upload(cuda, bench, to, &clip[n % bench->frames]);
        g_hash_table_insert(roles, to->data[0], (gpointer)role);
    }
    must(known && known != role, "libvmaf exchanged the pictures");
}

static double cuda_run(Bench *bench, Cuda *cuda)
{
    VmafCudaConfiguration configuration = {.cu_ctx = cuda->context};
    VmafCudaPictureConfiguration pictures = {
        .pic_params = {bench->width, bench->height, bench->depth, VMAF_PIX_FMT_YUV420P},
        .pic_prealloc_method = VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE,
    };
    GHashTable *roles = g_hash_table_new(NULL, NULL);
    VmafCudaState *state;
    gint64 start = 0;

    open_vmaf(bench, 0);
    must(vmaf_cuda_state_init(&state, configuration), "vmaf_cuda_state_init");
    must(vmaf_cuda_import_state(bench->vmaf, state), "vmaf_cuda_import_state");
    must(vmaf_cuda_preallocate_pictures(bench->vmaf, pictures), "vmaf_cuda_preallocate_pictures");
    use(bench, "_cuda");
    for (unsigned n = 0; n < CUDA_PAIRS; n++) {
        VmafPicture reference, distorted;
        fetch(bench, cuda, roles, &reference, bench->reference, "reference");
        fetch(bench, cuda, roles, &distorted, bench->distorted, "distorted");
        if (n == CUDA_WARM_UP)
            start = g_get_monotonic_time();
        must(vmaf_read_pictures(bench->vmaf, &reference, &distorted, n), "vmaf_read_pictures");
    }
    end(bench);
    double each = seconds_since(start) * 1000 / (CUDA_PAIRS - CUDA_WARM_UP);
    printf("ms_a_pair=%.4f", each);
    print_score(bench, CUDA_PAIRS - 1);
    vmaf_close(bench->vmaf);
    vmaf_model_destroy(bench->model);
    bench->model = NULL;
    g_hash_table_unref(roles);
    return each;
}

static int measure_on_cuda(Bench *bench, char **clips)
{
    double each[CUDA_RUNS];
    Cuda cuda;

    bench->reference = load(bench, clips[0]);
    bench->distorted = load(bench, clips[1]);
    cuda_open(&cuda);
    for (unsigned i = 0; i < CUDA_RUNS; i++)
        each[i] = cuda_run(bench, &cuda);
    qsort(each, CUDA_RUNS, sizeof *each, by_value);
    printf(
        "libvmaf %s on CUDA, %s, %ux%u, %u bits: %.4f ms a pair, median of %d runs of %d pairs\n",
        vmaf_version(), bench->model_name ? bench->model_name : bench->feature, bench->width,
        bench->height, bench->depth, each[CUDA_RUNS / 2], CUDA_RUNS, CUDA_PAIRS - CUDA_WARM_UP);
    return 0;
}
#else
static int measure_on_cuda(Bench *bench, char **clips)
{
    must(-1, "this libvmaf was built without CUDA");
    return 1;
}
#endif

int main(int argc, char **argv)
{
    Bench bench = {0};

    if (argc < 9 ||
        (strcmp(argv[1], "memory") && strcmp(argv[1], "latency") && strcmp(argv[1], "cuda"))) {
        fprintf(stderr,
                "usage: libvmafbench memory|latency|cuda REF DIST WIDTH HEIGHT BITS THREADS "
                "FEATURE [MODEL]\n"
                "Clips are raw planar 4:2:0. With MODEL, FEATURE is ignored.\n"
                "LIBVMAF_CPUMASK: bits of processor features not to use.\n");
        return 2;
    }
    bench.width = (unsigned)atoi(argv[4]);
    bench.height = (unsigned)atoi(argv[5]);
    bench.depth = (unsigned)atoi(argv[6]);
    bench.feature = argv[8];
    bench.model_name = argc > 9 ? argv[9] : NULL;
    if (!strcmp(argv[1], "cuda"))
        return measure_on_cuda(&bench, argv + 2);
    return measure_on_cpu(&bench, argv[1], argv + 2, (unsigned)atoi(argv[7]));
}
