/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF on the CPU: its memory, and the sharing of rows among threads. */
#include "kernels/cpu/cutter.h"
#include "kernels/cpu/slices.h"
#include "kernels/vif/vif_hot.h"

#include <string.h>

/* Every row is computed from scratch, so blocks may be small. */
#define BLOCK_ROWS 16

typedef struct Thread {
    int16_t *row[HV_VIF_ROWS];
    HvVifSums sums[HV_VIF_SCALES];
} Thread;

static void (*const block_at[HV_N_LEVELS])(const HvVifBlock *block) = HV_AT_LEVELS(hv_vif_block);

struct HvMetric {
    HvVifPlan plan;
    HvSlices *slices;
    void (*block)(const HvVifBlock *block);
    HvVifBlock frame[HV_VIF_SCALES]; /* what all blocks of a scale share */
    unsigned threads;
    Thread *thread;
    gpointer memory;
};

typedef struct Run {
    HvMetric *metric;
    int scale;
} Run;

/* Taps of the next-wider kind in pairs. The widest of the coarsest filter does not fit a signed
 * word: it is halved, and its sample counts twice. */
static HvVifPairs make_pairs(const HvVifFilter *f)
{
    if (f->half == 1)
        return (HvVifPairs){.first = -1,
                            .pairs = 2,
                            .step = 1,
                            .tap = {(int16_t)f->tap[1], (int16_t)(f->tap[0] / 2),
                                    (int16_t)(f->tap[0] / 2), (int16_t)f->tap[1]}};
    HvVifPairs p = {.first = -f->half, .pairs = f->half + 1, .step = 2};
    for (int k = 0; k <= 2 * f->half; k++)
        p.tap[k] = (int16_t)f->tap[ABS(k - f->half)];
    return p;
}

static size_t row_bytes(const HvVifPlan *plan)
{
    return hv_row_bytes((plan->width[0] + 2 * HV_VIF_PAD) * sizeof(int16_t));
}

static size_t image_stride(const HvVifPlan *plan, int scale)
{
    return hv_row_bytes((plan->width[scale] + HV_VIF_PAD) * sizeof(uint16_t));
}

/* All rows of all threads, then the pictures of scales 1 to 3; zeroed. */
static gboolean allocate(HvMetric *m, GError **error)
{
    size_t row = row_bytes(&m->plan), size = m->threads * HV_VIF_ROWS * row + 64;
    for (int scale = 1; scale < HV_VIF_SCALES; scale++)
        size += HV_VIF_PICTURES * image_stride(&m->plan, scale) * m->plan.height[scale];
    m->memory = g_try_malloc0(size);
    if (!m->memory) {
        g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "vif found no %" G_GSIZE_FORMAT " bytes",
                    size);
        return FALSE;
    }
    char *at = (char *)(((uintptr_t)m->memory + 63) & ~(uintptr_t)63);
    for (unsigned i = 0; i < m->threads; i++)
        for (int k = 0; k < HV_VIF_ROWS; k++, at += row)
            m->thread[i].row[k] = (int16_t *)at + HV_VIF_PAD;
    for (int scale = 1; scale < HV_VIF_SCALES; scale++) {
        size_t stride = image_stride(&m->plan, scale);
        m->frame[scale - 1].out_stride = stride;
        for (int p = 0; p < HV_VIF_PICTURES; p++, at += stride * m->plan.height[scale]) {
            m->frame[scale - 1].out[p] = (uint16_t *)at;
            m->frame[scale].in[p] = (HvVifImage){at, stride, 2, 0, 0xffff};
        }
    }
    return TRUE;
}

static void init_frame(HvMetric *m, const uint16_t *log_table)
{
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        HvVifBlock *b = &m->frame[scale];
        b->plan = &m->plan;
        b->scale = scale;
        b->sums = scale || !m->plan.params.skip_scale0;
        b->log_table = log_table;
        b->filter = make_pairs(&hv_vif_filter[scale]);
        if (scale + 1 < HV_VIF_SCALES)
            b->next_filter = make_pairs(&hv_vif_filter[scale + 1]);
    }
}

static void destroy(HvMetric *m)
{
    g_free(m->memory);
    g_free(m->thread);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    const uint16_t *log_table = hv_vif_log_table(error);
    if (!log_table)
        return NULL;
    HvMetric *m = g_new0(HvMetric, 1);
    hv_vif_plan_init(&m->plan, setup->params, setup->format);
    m->slices = setup->slices;
    m->threads = hv_slices_threads(setup->slices);
    m->thread = g_new0(Thread, m->threads);
    m->block = block_at[hv_level()];
    init_frame(m, log_table);
    if (!allocate(m, error)) {
        destroy(m);
        return NULL;
    }
    return m;
}

static void run_block(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    Thread *thread = &run->metric->thread[worker];
    HvVifBlock block = run->metric->frame[run->scale];
    block.first = job * BLOCK_ROWS;
    block.last = MIN(block.first + BLOCK_ROWS, run->metric->plan.height[run->scale]);
    memcpy(block.row, thread->row, sizeof block.row);
    block.total = &thread->sums[run->scale];
    run->metric->block(&block);
}

static void set_input(HvMetric *m, const HvSubject *subject)
{
    const HvPicture *pictures[] = {subject->reference, subject->distorted};
    int depth = m->plan.depth;
    for (int p = 0; p < HV_VIF_PICTURES; p++) {
        const HvPlane *luma = &pictures[p]->plane[0];
        m->frame[0].in[p] = (HvVifImage){luma->data, luma->stride, depth > 8 ? 2 : 1,
                                         (int)luma->shift, (1 << depth) - 1};
    }
}

static void add_sums(HvVifSums *to, const HvVifSums *from)
{
    to->num_log += from->num_log;
    to->den_log += from->den_log;
    to->num_flat += from->num_flat;
    to->count_flat += from->count_flat;
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    HvVifSums sums[HV_VIF_SCALES] = {0};
    set_input(m, subject);
    for (unsigned i = 0; i < m->threads; i++)
        memset(m->thread[i].sums, 0, sizeof m->thread[i].sums);
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        Run run = {m, scale};
        unsigned blocks = (m->plan.height[scale] + BLOCK_ROWS - 1) / BLOCK_ROWS;
        hv_slices_run(m->slices, blocks, run_block, &run);
    }
    for (unsigned i = 0; i < m->threads; i++)
        for (int scale = 0; scale < HV_VIF_SCALES; scale++)
            add_sums(&sums[scale], &m->thread[i].sums[scale]);
    hv_vif_deliver(&m->plan, sums, scores);
    return TRUE;
}

const HvMetricOps hv_vif_cpu_ops = {
    .create = create,
    .collect = collect,
    .destroy = destroy,
};
