/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Times metrics on a GPU.
 *
 *   speed METRICS WIDTH HEIGHT DEPTH [SLOTS [METERS]]
 *
 * METRICS are as in the element's `features`: "adm", "adm,vif". All measure the same staged pair.
 * Prints the milliseconds of GPU time a pair (pairs that lie on the device, queued one after the
 * other in one stream, divided by their number), the same with the streams of all slots in turn, as
 * the meter queues them, the host's time to queue a pair, pairs a second end to end from pinned and
 * from other memory, what the pinned copy's bandwidth, measured in the same run, allows, and the
 * device memory of a slot. With METERS, also pairs a second, from pinned memory, of so many meters
 * at once, each fed by a thread of its own: all of them together. */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/clips.h"
#include "gpu.h"
#include "meters.h"

enum { PAIRS = 400, RUNS = 5, MOST_SCORES = 64 };
/* Pairs that are queued without a wait where the host's time counts: no queue is full by then. */
enum { BURST = 10 };

static HvHip *hip;
static HvFormat format;
static Gpu gpu;

/* Scores that nobody reads; some metrics hold on to them for some pairs. */
static double ignored_value[MOST_SCORES];
static HvScores ignored[GPU_METRICS];

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

static HvStaging *staging(void)
{
    return hv_hip_backend_staging(gpu.backend);
}

/* Queues pairs that the first so many slots hold, in turn, again and again. */
static void queue_pairs(const HvPicture *pair, unsigned slots, unsigned pairs)
{
    GError *error = NULL;
    for (unsigned i = 0; i < pairs; i++) {
        HvSubject subject = {&pair[0], &pair[1], i % slots};
        for (unsigned m = 0; m < gpu.features->len; m++) {
            const HvMetricOps *ops = gpu_ops(&gpu, m);
            gpu_must(ops->submit(gpu.metric[m], &subject, &error), &error);
            /* does not wait: says that the slot may be used again, which in its stream it may */
            gpu_must(ops->collect(gpu.metric[m], &subject, &ignored[m], &error), &error);
        }
    }
}

static void wait_for_slots(unsigned slots)
{
    GError *error = NULL;
    for (unsigned i = 0; i < slots; i++)
        gpu_must(hv_hip_stream_wait(hip, hv_staging_slot(staging(), i)->stream, &error), &error);
}

static double time_kernels(const HvPicture *pair, unsigned slots)
{
    gint64 since = g_get_monotonic_time();
    queue_pairs(pair, slots, PAIRS);
    wait_for_slots(slots);
    return milliseconds(since) / PAIRS;
}

static double time_queueing(const HvPicture *pair)
{
    double time = 0;
    for (unsigned i = 0; i < PAIRS / BURST; i++) {
        gint64 since = g_get_monotonic_time();
        queue_pairs(pair, gpu.backend->slots, BURST);
        time += milliseconds(since);
        wait_for_slots(gpu.backend->slots);
    }
    return time / PAIRS;
}

static double time_pairs(const HvPicture *pair)
{
    GError *error = NULL;
    unsigned slots = gpu.backend->slots;
    gint64 since = g_get_monotonic_time();
    for (unsigned i = 0; i < PAIRS + slots; i++) {
        gpu_must(i < slots || gpu_collect(&gpu, pair, ignored, &error), &error);
        gpu_must(i >= PAIRS || gpu_submit(&gpu, pair, &error), &error);
    }
    return milliseconds(since) / PAIRS;
}

static size_t luma_bytes(const HvPicture *picture)
{
    return (size_t)picture->plane[0].stride * format.height;
}

static double time_uploads(const HvPicture *pair)
{
    const HvSlot *slot = hv_staging_slot(staging(), 0);
    GError *error = NULL;
    gint64 since = g_get_monotonic_time();
    for (unsigned i = 0; i < PAIRS; i++)
        for (int p = 0; p < CLIP_PICTURES; p++)
            gpu_must(hv_hip_upload(hip, slot->plane[p][0].data, pair[p].plane[0].data,
                                   luma_bytes(&pair[p]), slot->stream, &error),
                     &error);
    gpu_must(hv_hip_stream_wait(hip, slot->stream, &error), &error);
    return milliseconds(since) / PAIRS;
}

static void report(const char *metrics, const HvPicture *pinned, const HvPicture *pageable,
                   size_t slot_bytes)
{
    double kernels[RUNS], steady[RUNS], queueing[RUNS], ends[RUNS], other[RUNS], uploads[RUNS];
    time_pairs(pinned);
    time_kernels(pinned, 1);
    for (int i = 0; i < RUNS; i++) {
        kernels[i] = time_kernels(pinned, 1);
        steady[i] = time_kernels(pinned, gpu.backend->slots);
        queueing[i] = time_queueing(pinned);
        ends[i] = time_pairs(pinned);
        other[i] = time_pairs(pageable);
        uploads[i] = time_uploads(pinned);
    }
    double upload = median(uploads), end = median(ends);
    printf("%s, %ux%u, %u bits, %u slots on %s (%s), medians of %d runs of %d pairs\n", metrics,
           format.width, format.height, format.depth, gpu.backend->slots, hv_hip_device_name(hip),
           hv_hip_target(hip), RUNS, PAIRS);
    printf("  GPU time a pair:           %8.4f ms\n", median(kernels));
    printf("  GPU time, all slots:       %8.4f ms\n", median(steady));
    printf("  host time to queue it:     %8.4f ms\n", median(queueing));
    printf("  end to end, pinned:        %8.1f pairs/s (%.4f ms)\n", 1000 / end, end);
    printf("  end to end, other memory:  %8.1f pairs/s\n", 1000 / median(other));
    printf("  upload limit:              %8.1f pairs/s (%.4f ms, %.2f GB/s)\n", 1000 / upload,
           upload, 2 * luma_bytes(pinned) / upload / 1e6);
    printf("  device memory of a slot:   %8.2f bytes a luma sample (%.1f MiB)\n",
           slot_bytes / ((double)format.width * format.height), slot_bytes / 1048576.0);
}

static void report_meters(GPtrArray *features, const HvPicture *pair, unsigned slots,
                          unsigned meters)
{
    double rate[RUNS];
    for (int i = 0; i < RUNS; i++)
        rate[i] = 1e6 * PAIRS * meters /
                  (double)meters_time(hip, &format, features, slots, meters, pair, PAIRS);
    printf("  %3u meters at once:        %8.1f pairs/s\n", meters, median(rate));
}

static void time_metrics(const char *metrics, unsigned slots, unsigned meters)
{
    Layout layout = {0};
    GError *error = NULL;
    HvPicture pinned[CLIP_PICTURES], pageable[CLIP_PICTURES];
    gpointer memory[CLIP_PICTURES], host[CLIP_PICTURES];
    Clip clip = clip_new(CLIP_BLURRED, format.width, format.height, format.depth, 1);
    GPtrArray *features = hv_features_parse(metrics, &error);
    gpu_must(features != NULL && gpu_fit(features, &format, &error), &error);
    size_t before = hv_hip_allocated(hip);
    gpu_must(gpu_init(&gpu, hip, &format, features, slots, &error), &error);
    size_t slot_bytes = (hv_hip_allocated(hip) - before) / slots;
    for (int p = 0; p < CLIP_PICTURES; p++) {
        pageable[p] = clip_lay_out(&clip, p, &layout, &memory[p]);
        host[p] = hv_hip_malloc_pinned(hip, clip_plane_bytes(&clip, &layout), &error);
        gpu_must(host[p] != NULL, &error);
        pinned[p] = clip_write(&clip, p, &layout, host[p]);
    }
    report(metrics, pinned, pageable, slot_bytes);
    gpu_clear(&gpu);
    if (meters)
        report_meters(features, pinned, slots, meters);
    for (int p = 0; p < CLIP_PICTURES; p++) {
        hv_hip_free_pinned(hip, host[p]);
        g_free(memory[p]);
    }
    g_ptr_array_unref(features);
    clip_free(&clip);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    if (argc < 5) {
        fprintf(stderr, "usage: speed METRICS WIDTH HEIGHT DEPTH [SLOTS [METERS]]\n");
        return 2;
    }
    format.width = (unsigned)atoi(argv[2]);
    format.height = (unsigned)atoi(argv[3]);
    format.depth = (unsigned)atoi(argv[4]);
    format.n_planes = 1;
    for (unsigned i = 0; i < GPU_METRICS; i++)
        ignored[i].value = ignored_value;
    hip = hv_hip_open(-1, &error);
    gpu_must(hip != NULL, &error);
    time_metrics(argv[1], argc > 5 ? (unsigned)atoi(argv[5]) : 4,
                 argc > 6 ? (unsigned)atoi(argv[6]) : 0);
    hv_hip_unref(hip);
    return 0;
}
