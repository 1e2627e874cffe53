/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all metrics' `hip` operations do alike: find kernels, take memory for each slot, queue a
 * pair's work, let results come back. A room adds its own memory and launches. Threads: as for
 * HvMetricOps. */
#ifndef HV_HIP_METRIC_H
#define HV_HIP_METRIC_H

#include "kernels/common/metric.h"
#include "kernels/hip/arena.h"

#define HV_HIP_METRIC_KERNELS 5 /* at most */

/* What is a metric's own; static. */
typedef struct HvHipMetricOps {
    const char *const *kernels; /* their names, NULL-terminated */
    gboolean adds;              /* kernels add to a pair's result: it is to be 0 before them */
    gboolean counts_in_32_bits; /* the bytes of a luma plane: larger ones are refused */
    /* Takes what all slots share, and what each slot needs beside its result; from the arena. NULL
     * where that is nothing. */
    gboolean (*make)(HvMetric *metric, GError **error);
    gboolean (*make_slot)(HvMetric *metric, unsigned slot, GError **error);
    /* Queues the kernels that measure the pair in the slot. */
    gboolean (*launch)(HvMetric *metric, unsigned slot, const HvSlot *staged, GError **error);
} HvHipMetricOps;

/* What a pair's kernels leave. */
typedef struct HvHipResult {
    HvDevice device;
    gpointer host; /* pinned: where it is when the slot was waited for */
} HvHipResult;

/* What each such metric begins with. It sets the first three; its own functions read the others. */
typedef struct HvHipMetric {
    const HvHipMetricOps *ops;
    const char *name; /* for errors */
    size_t result_bytes;

    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *kernel[HV_HIP_METRIC_KERNELS]; /* in the order of their names */
    unsigned slots;
    HvHipResult *result; /* one a slot */
} HvHipMetric;

/* Takes all that the metric, which is made by g_new(), needs on the device, and returns it; on
 * failure NULL and an error, and it is freed. */
HvMetric *hv_hip_metric_make(HvMetric *metric, const HvMetricSetup *setup, GError **error);

/* HvMetricOps of each. */
gboolean hv_hip_metric_submit(HvMetric *metric, const HvSubject *subject, GError **error);
void hv_hip_metric_destroy(HvMetric *metric);

#endif
