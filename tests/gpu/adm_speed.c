/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Times ADM on a GPU.
 *
 *   adm_speed WIDTH HEIGHT DEPTH [SLOTS]
 *
 * prints the milliseconds of GPU time a pair (pairs that lie on the device, queued one after the
 * other in one stream, divided by their number), pairs a second end to end from pinned and from
 * other memory, what the pinned copy's bandwidth, measured in the same run, allows, and the device
 * memory of a slot. */
#include "adm_gpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 400, RUNS = 5 };

static AdmGpu gpu;
static HvHip *hip;

static double milliseconds(gint64 since)
{
    return (g_get_monotonic_time() - since) / 1000.0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value)
{
    qsort(value, RUNS, sizeof *value, by_value);
    return value[RUNS / 2];
}

static void must(gboolean fine, GError *const *error)
{
    if (!fine)
        g_error("%s", (*error)->message);
}

/* The pair that slot 0 holds, again and again. */
static double time_kernels(const HvSubject *subject)
{
    const HvSlot *slot = hv_staging_slot(hv_hip_backend_staging(gpu.backend), 0);
    GError *error = NULL;
    AdmResult ignored;
    gint64 since = g_get_monotonic_time();
    for (int i = 0; i < PAIRS; i++) {
        must(hv_adm_hip_ops.submit(gpu.metric, subject, &error), &error);
        /* does not wait: says that the slot may be used again, which in its stream it may */
        adm_collect(&hv_adm_hip_ops, gpu.metric, subject, &ignored);
    }
    must(hv_hip_stream_wait(hip, slot->stream, &error), &error);
    return milliseconds(since) / PAIRS;
}

static double time_pairs(const HvPicture *picture, unsigned slots)
{
    AdmResult ignored;
    gint64 since = g_get_monotonic_time();
    for (unsigned i = 0; i < PAIRS + slots; i++) {
        if (i >= slots)
            adm_gpu_collect(&gpu, i % slots, &ignored);
        if (i < PAIRS)
            adm_gpu_submit(&gpu, i % slots, &picture[0], &picture[1]);
    }
    return milliseconds(since) / PAIRS;
}

static double time_uploads(const HvPicture *picture)
{
    const HvSlot *slot = hv_staging_slot(hv_hip_backend_staging(gpu.backend), 0);
    GError *error = NULL;
    gint64 since = g_get_monotonic_time();
    for (int i = 0; i < PAIRS; i++)
        for (int p = 0; p < CLIP_PICTURES; p++)
            must(hv_hip_upload(hip, slot->plane[p][0].data, picture[p].plane[0].data,
                               picture[p].plane[0].stride * gpu.format.height, slot->stream,
                               &error),
                 &error);
    must(hv_hip_stream_wait(hip, slot->stream, &error), &error);
    return milliseconds(since) / PAIRS;
}

static void report(const HvPicture *pinned, const HvPicture *pageable, unsigned slots,
                   size_t slot_bytes)
{
    double kernels[RUNS], ends[RUNS], other[RUNS], uploads[RUNS];
    HvSubject subject = {&pinned[0], &pinned[1], 0};
    AdmResult ignored;
    double bytes = 2.0 * pinned[0].plane[0].stride * gpu.format.height;
    double samples = (double)gpu.format.width * gpu.format.height;
    adm_gpu_submit(&gpu, 0, &pinned[0], &pinned[1]);
    adm_gpu_collect(&gpu, 0, &ignored);
    time_kernels(&subject);
    for (int i = 0; i < RUNS; i++) {
        kernels[i] = time_kernels(&subject);
        ends[i] = time_pairs(pinned, slots);
        other[i] = time_pairs(pageable, slots);
        uploads[i] = time_uploads(pinned);
    }
    double upload = median(uploads), end = median(ends);
    printf("%ux%u, %u bits, %u slots on %s (%s), medians of %d runs of %d pairs\n",
           gpu.format.width, gpu.format.height, gpu.format.depth, slots, hv_hip_device_name(hip),
           hv_hip_target(hip), RUNS, PAIRS);
    printf("  GPU time a pair:           %8.4f ms\n", median(kernels));
    printf("  end to end, pinned:        %8.1f pairs/s (%.4f ms)\n", 1000 / end, end);
    printf("  end to end, other memory:  %8.1f pairs/s\n", 1000 / median(other));
    printf("  upload limit:              %8.1f pairs/s (%.4f ms, %.2f GB/s)\n", 1000 / upload,
           upload, bytes / upload / 1e6);
    printf("  device memory of a slot:   %8.2f bytes a luma sample (%.1f MiB)\n",
           slot_bytes / samples, slot_bytes / 1048576.0);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: adm_speed WIDTH HEIGHT DEPTH [SLOTS]\n");
        return 2;
    }
    unsigned slots = argc > 4 ? (unsigned)atoi(argv[4]) : 4;
    Clip clip = clip_new(CLIP_BLURRED, (unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]),
                         (unsigned)atoi(argv[3]), 1);
    Layout layout = {0};
    HvAdmParams params = adm_params("");
    GError *error = NULL;
    HvPicture pinned[CLIP_PICTURES], pageable[CLIP_PICTURES];
    gpointer memory[CLIP_PICTURES], host[CLIP_PICTURES];
    hip = adm_gpu_open();
    size_t before = hv_hip_allocated(hip);
    gpu = adm_gpu_new(hip, &clip.format, &params, slots);
    size_t slot_bytes = (hv_hip_allocated(hip) - before) / slots;
    for (int p = 0; p < CLIP_PICTURES; p++) {
        pageable[p] = clip_lay_out(&clip, p, &layout, &memory[p]);
        host[p] = hv_hip_malloc_pinned(hip, clip_plane_bytes(&clip, &layout), &error);
        must(host[p] != NULL, &error);
        pinned[p] = clip_write(&clip, p, &layout, host[p]);
    }
    report(pinned, pageable, slots, slot_bytes);
    adm_gpu_free(&gpu);
    for (int p = 0; p < CLIP_PICTURES; p++) {
        hv_hip_free_pinned(hip, host[p]);
        g_free(memory[p]);
    }
    clip_free(&clip);
    hv_hip_unref(hip);
    adm_measure_end();
    return 0;
}
