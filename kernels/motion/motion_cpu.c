/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion on the CPU: its memory, and the sharing of rows among threads. */
#include "kernels/cpu/cutter.h"
#include "kernels/cpu/slices.h"
#include "kernels/motion/motion_hot.h"

#include <string.h>

/* Rows that a block should have at least: four more are subtracted at its ends. */
#define MIN_BLOCK_ROWS 24
#define MAX_PLANES     3

static uint64_t (*const block_at[HV_N_LEVELS])(const HvMotionBlock *block) =
    HV_AT_LEVELS(hv_motion_block);

struct HvMetric {
    HvMotion base;
    HvSlices *slices;
    uint64_t (*block)(const HvMotionBlock *block);
    unsigned threads, planes;
    HvMotionScratch *scratch; /* one a thread */
    uint64_t *sad;            /* one a thread */
    gpointer memory;
    size_t stride;
    void *plane[MAX_PLANES]; /* copies of the reference's luma, by frame modulo `planes` */
};

/* One picture, cut into blocks of rows. */
typedef struct Run {
    HvMetric *metric;
    HvMotionBlock frame;
    unsigned blocks;
} Run;

/* A row with a border on either side. */
static void *cut_row(HvCutter *cutter, unsigned width, size_t element)
{
    char *row =
        hv_cut(cutter, hv_row_bytes((width + 2 * HV_MOTION_RADIUS + HV_MOTION_PAD) * element));
    return row ? row + HV_MOTION_RADIUS * element : NULL;
}

static void cut_scratch(HvCutter *cutter, HvMotionScratch *s, const HvFormat *format)
{
    gboolean narrow = format->depth <= HV_MOTION_NARROW_DEPTH;
    for (int k = 0; k < HV_MOTION_TAPS; k++)
        s->difference[k] =
            cut_row(cutter, format->width, narrow ? sizeof(int16_t) : sizeof(int32_t));
    s->filtered = cut_row(cutter, format->width, sizeof *s->filtered);
    s->half = cut_row(cutter, format->width, sizeof *s->half);
    s->rest = cut_row(cutter, format->width, sizeof *s->rest);
}

static void cut_all(HvCutter *cutter, HvMetric *m)
{
    for (unsigned i = 0; i < m->threads; i++)
        cut_scratch(cutter, &m->scratch[i], &m->base.format);
    for (unsigned i = 0; i < m->planes; i++)
        m->plane[i] = hv_cut(cutter, m->stride * m->base.format.height);
}

static void destroy(HvMetric *m)
{
    g_free(m->memory);
    g_free(m->scratch);
    g_free(m->sad);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_motion_init(&m->base, setup);
    m->slices = setup->slices;
    m->threads = hv_slices_threads(setup->slices);
    m->scratch = g_new0(HvMotionScratch, m->threads);
    m->sad = g_new0(uint64_t, m->threads);
    m->stride = hv_row_bytes(m->base.format.width * hv_format_sample_bytes(&m->base.format));
    m->planes = m->base.params.force_zero ? 0 : hv_motion_distance(&m->base.params) + 1;
    m->block = block_at[hv_level()];
    HvCutter cutter = {NULL, 0};
    cut_all(&cutter, m);
    size_t bytes = cutter.used;
    m->memory = hv_cutter_allocate(&cutter);
    if (!m->memory) {
        g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "motion found no %" G_GSIZE_FORMAT " bytes",
                    bytes);
        destroy(m);
        return NULL;
    }
    cut_all(&cutter, m);
    return m;
}

static void run_block(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    HvMotionBlock block = run->frame;
    int64_t rows = run->metric->base.format.height;
    block.first = (int)(rows * job / run->blocks);
    block.last = (int)(rows * (job + 1) / run->blocks);
    block.scratch = &run->metric->scratch[worker];
    run->metric->sad[worker] += run->metric->block(&block);
}

static unsigned count_blocks(const HvMetric *m)
{
    return m->threads == 1 ? 1 : CLAMP(m->base.format.height / MIN_BLOCK_ROWS, 1, 4 * m->threads);
}

/* Copies the reference's luma as that frame's; where it is compared, the sum of its differences. */
static uint64_t measure(HvMetric *m, guint64 frame, const HvPlane *luma, gboolean compare)
{
    unsigned distance = hv_motion_distance(&m->base.params);
    Run run = {.metric = m, .blocks = count_blocks(m)};
    run.frame = (HvMotionBlock){
        .format = &m->base.format,
        .current = luma,
        .copy = m->plane[frame % m->planes],
        .stride = m->stride,
    };
    if (compare)
        run.frame.earlier = m->plane[(frame - distance) % m->planes];
    memset(m->sad, 0, m->threads * sizeof *m->sad);
    hv_slices_run(m->slices, run.blocks, run_block, &run);
    uint64_t sad = 0;
    for (unsigned i = 0; i < m->threads; i++)
        sad += m->sad[i];
    return sad;
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    HvMotionWindow *window = &m->base.window;
    uint64_t sad = 0;
    if (!m->base.params.force_zero)
        sad = measure(m, window->frames, &subject->reference->plane[0],
                      hv_motion_window_needs(window));
    hv_motion_window_add(window, sad, &m->base.format, scores);
    return TRUE;
}

HvMotionWindow *hv_motion_cpu_window(HvMetric *m)
{
    return &m->base.window;
}

static unsigned look_back(const void *params)
{
    const HvMotionParams *p = params;
    return p->force_zero ? 0 : hv_motion_distance(p);
}

static void take_over(HvMetric *m, HvMetric *lost, const HvSubject *const *earlier, unsigned n)
{
    HvMotionWindow *window = &m->base.window;
    hv_motion_window_take_over(window, hv_motion_hip_window(lost));
    for (unsigned i = 0; i < n; i++)
        measure(m, window->frames - n + i, &earlier[i]->reference->plane[0], FALSE);
}

static void flush(HvMetric *m, HvFlush how)
{
    hv_motion_window_flush(&m->base.window, how);
}

const HvMetricOps hv_motion_cpu_ops = {
    .create = create,
    .collect = collect,
    .flush = flush,
    .destroy = destroy,
    .take_over = take_over,
    .look_back = look_back,
};
