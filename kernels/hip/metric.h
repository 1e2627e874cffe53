/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What all metrics' `hip` operations do alike: find kernels, take memory for each slot, queue a
 * pair's work, let results come back. A room adds its own memory and launches. Threads: as for
 * HvMetricOps.
 *
 * Pairs of a slot that are staged alike are measured by the same calls: these become a graph, where
 * the runtime has graphs, and the host queues each such pair at the cost of one call. */
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
    /* Queues the kernels that measure the pair in the slot, and nothing else. What it does may
     * depend on the staged planes and the variant alone: a graph may do it in its place. */
    gboolean (*launch)(HvMetric *metric, unsigned slot, const HvSlot *staged, GError **error);
    /* What is to be queued before and after that, each time anew, events too; or NULL. */
    gboolean (*before)(HvMetric *metric, unsigned slot, const HvSlot *staged, GError **error);
    gboolean (*after)(HvMetric *metric, unsigned slot, const HvSlot *staged, GError **error);
    /* Which variant of the same work the pair is that is submitted next: `variants` or more for one
     * that will not come again. NULL where there is one. */
    unsigned (*variant)(const HvMetric *metric);
} HvHipMetricOps;

/* What a pair's kernels leave. */
typedef struct HvHipResult {
    HvDevice device;
    gpointer host; /* pinned: where it is when the slot was waited for */
} HvHipResult;

typedef struct HvHipRepeat HvHipRepeat; /* pairs that are measured by the same calls */

/* What each such metric begins with. It sets those before hip; its own functions read the others.
 */
typedef struct HvHipMetric {
    const HvHipMetricOps *ops;
    const char *name; /* for errors */
    size_t result_bytes;
    unsigned variants; /* 0 is as 1 */

    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *kernel[HV_HIP_METRIC_KERNELS]; /* in the order of their names */
    unsigned slots;
    HvHipResult *result; /* one a slot */

    gboolean has_graphs; /* until making one fails */
    HvHipRepeat *repeat; /* one a variant and slot */
    guint64 by_graph;    /* pairs that a graph queued */
} HvHipMetric;

/* Takes all that the metric, which is made by g_new(), needs on the device, and returns it; on
 * failure NULL and an error, and it is freed. */
HvMetric *hv_hip_metric_make(HvMetric *metric, const HvMetricSetup *setup, GError **error);

/* HvMetricOps of each. */
gboolean hv_hip_metric_submit(HvMetric *metric, const HvSubject *subject, GError **error);
void hv_hip_metric_destroy(HvMetric *metric);

#endif
