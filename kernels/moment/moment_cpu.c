/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Moments on the CPU: the sharing of rows among threads. */
#include "kernels/cpu/slices.h"
#include "kernels/moment/moment_hot.h"

#include <string.h>

#define BLOCK_ROWS 32

typedef void (*Block)(const HvPlane *plane, const HvFormat *format, int first, int last,
                      HvMomentSums *sums);

static const Block block_at[HV_N_LEVELS] = HV_AT_LEVELS(hv_moment_block);

/* One thread's sums, on a line of the cache of their own. */
typedef union Sums {
    HvMomentSums picture[HV_MOMENT_PICTURES];
    char line[64];
} Sums;

struct HvMetric {
    HvFormat format;
    HvSlices *slices;
    Block block;
    unsigned threads;
    Sums *sums; /* one a thread */
};

typedef struct Run {
    HvMetric *metric;
    const HvPlane *luma[HV_MOMENT_PICTURES];
    unsigned blocks;
} Run;

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    m->format = *setup->format;
    m->slices = setup->slices;
    m->threads = hv_slices_threads(setup->slices);
    m->sums = g_new0(Sums, m->threads);
    m->block = block_at[hv_level()];
    return m;
}

static void run_block(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    const HvFormat *format = &run->metric->format;
    guint64 rows = format->height;
    int first = (int)(rows * job / run->blocks), last = (int)(rows * (job + 1) / run->blocks);
    for (int p = 0; p < HV_MOMENT_PICTURES; p++)
        run->metric->block(run->luma[p], format, first, last,
                           &run->metric->sums[worker].picture[p]);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    HvMomentSums sums[HV_MOMENT_PICTURES] = {{0}};
    Run run = {m,
               {&subject->reference->plane[0], &subject->distorted->plane[0]},
               (m->format.height + BLOCK_ROWS - 1) / BLOCK_ROWS};
    memset(m->sums, 0, m->threads * sizeof *m->sums);
    hv_slices_run(m->slices, run.blocks, run_block, &run);
    for (unsigned t = 0; t < m->threads; t++)
        for (int p = 0; p < HV_MOMENT_PICTURES; p++) {
            sums[p].first += m->sums[t].picture[p].first;
            sums[p].second += m->sums[t].picture[p].second;
        }
    hv_moment_deliver(&m->format, sums, scores);
    return TRUE;
}

static void destroy(HvMetric *m)
{
    g_free(m->sums);
    g_free(m);
}

const HvMetricOps hv_moment_cpu_ops = {
    .create = create,
    .collect = collect,
    .destroy = destroy,
};
