/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * PSNR on the CPU: the sharing of rows among threads. */
#include "kernels/cpu/slices.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr/psnr_hot.h"

#include <string.h>

/* Few enough that Cb and Cr of one block, where they are interleaved, come from the cache. */
#define BLOCK_ROWS 32

static uint64_t (*const block_at[HV_N_LEVELS])(const HvPsnrBlock *block) =
    HV_AT_LEVELS(hv_psnr_block);

/* One thread's sums, on a line of the cache of their own. */
typedef union Sums {
    uint64_t sse[HV_MAX_PLANES];
    char line[64];
} Sums;

struct HvMetric {
    HvPsnrPlan plan;
    HvSlices *slices;
    uint64_t (*block)(const HvPsnrBlock *block);
    unsigned threads;
    Sums *sums; /* one a thread */
};

typedef struct Run {
    HvMetric *metric;
    const HvSubject *subject;
    unsigned blocks;
} Run;

static HvMetric *create(const HvMetricSetup *setup)
{
    HvMetric *m = g_new0(HvMetric, 1);
    m->slices = setup->slices;
    m->threads = hv_slices_threads(setup->slices);
    m->sums = g_new0(Sums, m->threads);
    m->block = block_at[hv_level()];
    return m;
}

static HvMetric *create_psnr(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = create(setup);
    hv_psnr_plan_init(&m->plan, setup->params, setup->format);
    return m;
}

static HvMetric *create_float_psnr(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = create(setup);
    hv_float_psnr_plan_init(&m->plan, setup->format);
    return m;
}

static void run_block(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    HvMetric *m = run->metric;
    for (unsigned i = 0; i < m->plan.n_planes; i++) {
        guint64 rows = m->plan.height[i];
        HvPsnrBlock block = {&run->subject->reference->plane[i],
                             &run->subject->distorted->plane[i],
                             m->plan.depth,
                             (int)m->plan.width[i],
                             (int)(rows * job / run->blocks),
                             (int)(rows * (job + 1) / run->blocks)};
        m->sums[worker].sse[i] += m->block(&block);
    }
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    uint64_t sse[HV_MAX_PLANES] = {0};
    Run run = {m, subject, (m->plan.height[0] + BLOCK_ROWS - 1) / BLOCK_ROWS};
    memset(m->sums, 0, m->threads * sizeof *m->sums);
    hv_slices_run(m->slices, run.blocks, run_block, &run);
    for (unsigned t = 0; t < m->threads; t++)
        for (unsigned i = 0; i < m->plan.n_planes; i++)
            sse[i] += m->sums[t].sse[i];
    m->plan.deliver(&m->plan, sse, scores);
    return TRUE;
}

static void destroy(HvMetric *m)
{
    g_free(m->sums);
    g_free(m);
}

const HvMetricOps hv_psnr_cpu_ops = {
    .create = create_psnr,
    .collect = collect,
    .destroy = destroy,
};

const HvMetricOps hv_float_psnr_cpu_ops = {
    .create = create_float_psnr,
    .collect = collect,
    .destroy = destroy,
};
