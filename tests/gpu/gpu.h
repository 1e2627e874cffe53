/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Metrics on a GPU without a meter: pairs staged, measured and collected in turn. */
#ifndef GPU_H
#define GPU_H

#include "kernels/common/metric.h"
#include "kernels/hip/backend.h"

enum { GPU_METRICS = 16 };

typedef struct Gpu {
    GPtrArray *features; /* of HvFeature; all have `hip` operations */
    HvBackend *backend;
    HvMetric *metric[GPU_METRICS];
    unsigned submitted, collected;
} Gpu;

gboolean gpu_needs_chroma(GPtrArray *features);
/* Fits the features' parameters to a format, and validates them: before all else. */
gboolean gpu_fit(GPtrArray *features, const HvFormat *format, GError **error);

/* FALSE and an error, and nothing is left, on failure. `format` and `features` outlive it. */
gboolean gpu_init(Gpu *gpu, HvHip *hip, const HvFormat *format, GPtrArray *features, unsigned slots,
                  GError **error);
/* Waits for what runs, whether it fails or not. */
void gpu_clear(Gpu *gpu);

/* The `hip` operations of a metric. */
const HvMetricOps *gpu_ops(const Gpu *gpu, unsigned metric);

/* Queues a pair in the next slot, whose earlier pair was collected. */
gboolean gpu_submit(Gpu *gpu, const HvPicture *pair, GError **error);
/* Waits for the pair submitted earliest; `scores` are one for each metric. */
gboolean gpu_collect(Gpu *gpu, const HvPicture *pair, HvScores *scores, GError **error);
/* How many pairs, counted by metric, were queued by a graph. */
guint64 gpu_by_graph(const Gpu *gpu);
/* What waits for later pictures, of metrics that do: the end of a stream. */
void gpu_flush(Gpu *gpu);

/* Ends the program with the error's message unless all is fine. */
void gpu_must(gboolean fine, GError *const *error);

#endif
