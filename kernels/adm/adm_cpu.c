/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on the CPU: its memory, and the sharing of rows among threads. */
#include "kernels/adm/adm_hot.h"
#include "kernels/cpu/cutter.h"
#include "kernels/cpu/slices.h"

#include <math.h>
#include <string.h>

/* Rows that a block should have at least: two more are computed at its ends. */
#define MIN_BLOCK_ROWS 24

static void (*const block_at[HV_N_LEVELS])(const HvAdmBlock *block) = HV_AT_LEVELS(hv_adm_block);

struct HvMetric {
    HvAdmPlan plan;
    HvSlices *slices;
    void (*block)(const HvAdmBlock *block);
    HvAdmBlock frame[HV_ADM_SCALES]; /* what all blocks of a scale share */
    unsigned threads;
    HvAdmScratch *scratch;            /* one a thread */
    HvAdmSums (*sums)[HV_ADM_SCALES]; /* one set a thread */
    gpointer memory;                  /* all rows and low bands */
    HvPlane luma[HV_ADM_PICTURES];
};

/* One scale of one picture pair, cut into blocks of rows. */
typedef struct Run {
    HvMetric *metric;
    int scale;
    unsigned blocks;
} Run;

static int32_t *cut_row(HvCutter *cutter, int width)
{
    int32_t *row = hv_cut(cutter, hv_row_bytes((width + 2 * HV_ADM_PAD) * sizeof *row));
    return row ? row + HV_ADM_PAD : NULL;
}

static void cut_scratch(HvCutter *cutter, HvAdmScratch *s, const HvAdmPlan *plan)
{
    int in = plan->width, n = plan->scale[0].width;
    for (int p = 0; p < HV_ADM_PICTURES; p++) {
        s->low[p] = cut_row(cutter, in);
        s->high[p] = cut_row(cutter, in);
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
            s->band[p][angle] = cut_row(cutter, n);
    }
    for (int part = 0; part < HV_ADM_PARTS; part++) {
        for (int k = 0; k < 2; k++) {
            for (int angle = 0; angle < HV_ADM_ANGLES; angle++)
                s->split[k][part][angle] = cut_row(cutter, n);
            s->own[k][part] = cut_row(cutter, n);
        }
        for (int k = 0; k < 3; k++)
            s->share[k][part] = cut_row(cutter, n);
        s->column[part] = cut_row(cutter, n);
    }
}

/* The low bands of scales 0 to 2; the last scale's is not used. */
static void cut_bands(HvCutter *cutter, HvMetric *m)
{
    for (int scale = 0; scale + 1 < HV_ADM_SCALES; scale++) {
        const HvAdmScale *s = &m->plan.scale[scale];
        HvAdmBlock *above = &m->frame[scale], *below = &m->frame[scale + 1];
        size_t sample = scale == 0 ? sizeof(int16_t) : sizeof(int32_t);
        size_t stride = hv_row_bytes((s->width + HV_ADM_PAD) * sample);
        for (int p = 0; p < HV_ADM_PICTURES; p++)
            below->in[p] = above->out[p] = hv_cut(cutter, stride * s->height + 64);
        below->in_stride = above->out_stride = stride;
    }
}

static void cut_all(HvCutter *cutter, HvMetric *m)
{
    for (unsigned i = 0; i < m->threads; i++)
        cut_scratch(cutter, &m->scratch[i], &m->plan);
    cut_bands(cutter, m);
}

/* Whether the vector loops hold: at scale 0 a weighted coefficient (the largest is 22931, from the
 * filters' gains) and its share of 16/15 must fit 16 bits, and the limit of enhancement must be
 * whole; at the other scales factors must be positive as signed words. */
static gboolean vector_exact(const HvAdmPlan *plan, int scale)
{
    const HvAdmScale *s = &plan->scale[scale];
    double limit = plan->params.enhn_gain_limit;
    if (scale == 0)
        return s->i_factor[HV_ADM_HORIZONTAL] <= 43800 && limit == floor(limit);
    return s->i_factor[HV_ADM_HORIZONTAL] <= G_MAXINT32 &&
           s->i_factor[HV_ADM_DIAGONAL] <= G_MAXINT32;
}

static void init_frame(HvMetric *m)
{
    for (int scale = 0; scale < HV_ADM_SCALES; scale++) {
        const HvAdmScale *s = &m->plan.scale[scale];
        HvAdmBlock *b = &m->frame[scale];
        b->plan = &m->plan;
        b->scale = scale;
        b->column0 = MAX(s->left - 1, 0);
        b->columns = MIN(s->right + 1, s->width) - b->column0;
        b->vector_exact = vector_exact(&m->plan, scale);
        for (int p = 0; p < HV_ADM_PICTURES; p++)
            b->luma[p] = &m->luma[p];
    }
}

static void destroy(HvMetric *m)
{
    g_free(m->memory);
    g_free(m->scratch);
    g_free(m->sums);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_adm_plan_init(&m->plan, setup->params, setup->format);
    m->slices = setup->slices;
    m->threads = hv_slices_threads(setup->slices);
    m->scratch = g_new0(HvAdmScratch, m->threads);
    m->sums = g_malloc0_n(m->threads, sizeof *m->sums);
    m->block = block_at[hv_level()];
    HvCutter cutter = {NULL, 0};
    cut_all(&cutter, m);
    size_t bytes = cutter.used;
    m->memory = hv_cutter_allocate(&cutter);
    if (!m->memory) {
        g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "adm found no %" G_GSIZE_FORMAT " bytes",
                    bytes);
        destroy(m);
        return NULL;
    }
    cut_all(&cutter, m);
    init_frame(m);
    return m;
}

static void run_block(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    HvAdmBlock block = run->metric->frame[run->scale];
    int rows = run->metric->plan.scale[run->scale].height;
    block.first = (int)((int64_t)rows * job / run->blocks);
    block.last = (int)((int64_t)rows * (job + 1) / run->blocks);
    block.scratch = &run->metric->scratch[worker];
    block.sums = &run->metric->sums[worker][run->scale];
    run->metric->block(&block);
}

/* Rows near the top and bottom cost less: several blocks a thread even that out. */
static unsigned count_blocks(const HvMetric *m, int rows)
{
    unsigned most = MAX(rows / MIN_BLOCK_ROWS, 1);
    return m->threads == 1 ? 1 : MIN(4 * m->threads, most);
}

static void add_sums(HvAdmSums *to, const HvAdmSums *from)
{
    for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
        to->reference[angle] += from->reference[angle];
        to->restored[angle] = hv_adm_add(to->restored[angle], from->restored[angle]);
        to->additive[angle] = hv_adm_add(to->additive[angle], from->additive[angle]);
    }
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    m->luma[HV_ADM_REFERENCE] = subject->reference->plane[0];
    m->luma[HV_ADM_DISTORTED] = subject->distorted->plane[0];
    memset(m->sums, 0, m->threads * sizeof *m->sums);
    for (int scale = 0; scale < HV_ADM_SCALES; scale++) {
        Run run = {m, scale, count_blocks(m, m->plan.scale[scale].height)};
        hv_slices_run(m->slices, run.blocks, run_block, &run);
    }
    for (unsigned i = 1; i < m->threads; i++)
        for (int scale = 0; scale < HV_ADM_SCALES; scale++)
            add_sums(&m->sums[0][scale], &m->sums[i][scale]);
    hv_adm_deliver(&m->plan, m->sums[0], scores);
    return TRUE;
}

const HvMetricOps hv_adm_cpu_ops = {
    .create = create,
    .collect = collect,
    .destroy = destroy,
};
