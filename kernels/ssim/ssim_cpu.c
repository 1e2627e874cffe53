/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM and MS-SSIM on the CPU: their memory, and the sharing of rows among threads. */
#include "kernels/cpu/cutter.h"
#include "kernels/cpu/slices.h"
#include "kernels/ssim/ssim_hot.h"

#include <string.h>

/* Rows that a block should have at least: ten more are filtered at its end. */
#define MIN_BLOCK_ROWS 64

const float hv_ssim_one = 1.0f;

typedef struct Functions {
    void (*windows)(const HvSsimWindows *windows);
    void (*box)(const HvSsimShrink *shrink);
    void (*halve)(const HvSsimShrink *shrink);
} Functions;

static void (*const windows_at[HV_N_LEVELS])(const HvSsimWindows *) = HV_AT_LEVELS(hv_ssim_windows);
static void (*const box_at[HV_N_LEVELS])(const HvSsimShrink *) = HV_AT_LEVELS(hv_ssim_box);
static void (*const halve_at[HV_N_LEVELS])(const HvSsimShrink *) = HV_AT_LEVELS(hv_ssim_halve);

struct HvMetric {
    HvSsimPlan plan;
    HvSlices *slices;
    Functions call;
    unsigned threads;
    HvSsimScratch **scratch; /* one a thread */
    /* Both pictures as they came, and what is compared at each scale. */
    HvSsimImage picture[HV_SSIM_PICTURES], image[HV_SSIM_SCALES][HV_SSIM_PICTURES];
    gpointer memory;
};

static void cut_image(HvCutter *cutter, HvMetric *m, int scale)
{
    int width = m->plan.scale_width[scale], height = m->plan.scale_height[scale];
    ptrdiff_t stride = (ptrdiff_t)((width * sizeof(float) + 63) & ~(size_t)63);
    for (int p = 0; p < HV_SSIM_PICTURES; p++)
        m->image[scale][p] = (HvSsimImage){
            .data = hv_cut(cutter, stride * height + HV_SSIM_STRIP_IN * sizeof(float)),
            .stride = stride,
            .width = width,
            .height = height,
            .bytes = sizeof(float),
        };
}

static void cut_all(HvCutter *cutter, HvMetric *m)
{
    size_t beyond = m->plan.factor / 2 + 1;
    for (unsigned i = 0; i < m->threads; i++) {
        HvSsimScratch *scratch = hv_cut(cutter, sizeof *scratch);
        double *column = hv_cut(cutter, (m->plan.width + 2 * beyond) * sizeof *column);
        m->scratch[i] = scratch;
        if (scratch)
            scratch->column = column + beyond;
    }
    for (int scale = 0; scale < m->plan.scales; scale++)
        if (hv_ssim_is_made(&m->plan, scale))
            cut_image(cutter, m, scale);
}

static void destroy(HvMetric *m)
{
    g_free(m->memory);
    g_free(m->scratch);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, HvSsimKind kind, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_ssim_plan_init(&m->plan, kind, setup->params, setup->format);
    m->slices = setup->slices;
    m->threads = hv_slices_threads(setup->slices);
    m->scratch = g_new0(HvSsimScratch *, m->threads);
    m->call = (Functions){windows_at[hv_level()], box_at[hv_level()], halve_at[hv_level()]};
    HvCutter cutter = {NULL, 0};
    cut_all(&cutter, m);
    size_t bytes = cutter.used;
    m->memory = hv_cutter_allocate(&cutter);
    if (!m->memory) {
        g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "%s found no %" G_GSIZE_FORMAT " bytes",
                    kind == HV_SSIM_SINGLE ? "float_ssim" : "float_ms_ssim", bytes);
        destroy(m);
        return NULL;
    }
    cut_all(&cutter, m);
    return m;
}

static HvMetric *create_single(const HvMetricSetup *setup, GError **error)
{
    return create(setup, HV_SSIM_SINGLE, error);
}

static HvMetric *create_multi(const HvMetricSetup *setup, GError **error)
{
    return create(setup, HV_SSIM_MULTI, error);
}

static void set_input(HvMetric *m, const HvSubject *subject)
{
    const HvPicture *pictures[] = {subject->reference, subject->distorted};
    for (int p = 0; p < HV_SSIM_PICTURES; p++) {
        const HvPlane *luma = &pictures[p]->plane[0];
        m->picture[p] = (HvSsimImage){
            .data = luma->data,
            .stride = luma->stride,
            .width = m->plan.width,
            .height = m->plan.height,
            .bytes = m->plan.depth > 8 ? 2 : 1,
            .shift = (int)luma->shift,
            .mask = (1 << m->plan.depth) - 1,
            .unit = hv_ssim_unit(&m->plan),
        };
        if (!hv_ssim_is_made(&m->plan, 0))
            m->image[0][p] = m->picture[p];
    }
}

/* One scale, or the making of one, cut into jobs: blocks of rows, of each strip of columns or of
 * each picture. */
typedef struct Run {
    HvMetric *metric;
    int scale, rows;
    unsigned blocks;
} Run;

static Run make_run(HvMetric *m, int scale, int rows, unsigned parts)
{
    unsigned wanted = m->threads == 1 ? 1 : hv_slices_threads(m->slices) * 4 / parts + 1;
    return (Run){m, scale, rows, CLAMP(wanted, 1, (unsigned)MAX(rows / MIN_BLOCK_ROWS, 1))};
}

static int first_row(const Run *run, unsigned block)
{
    return (int)((gint64)run->rows * block / run->blocks);
}

static void run_shrink(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    HvMetric *m = run->metric;
    unsigned p = job / run->blocks, block = job % run->blocks;
    const HvSsimImage *out = &m->image[run->scale][p];
    HvSsimShrink shrink = {
        .in = run->scale ? m->image[run->scale - 1][p] : m->picture[p],
        .out = (float *)out->data,
        .out_stride = out->stride,
        .out_width = out->width,
        .first = first_row(run, block),
        .last = first_row(run, block + 1),
        .factor = m->plan.factor,
        .scratch = m->scratch[worker],
    };
    (run->scale ? m->call.halve : m->call.box)(&shrink);
}

static void run_windows(void *data, unsigned job, unsigned worker)
{
    const Run *run = data;
    HvMetric *m = run->metric;
    unsigned strip = job / run->blocks, block = job % run->blocks;
    int left = (int)strip * HV_SSIM_STRIP;
    HvSsimWindows windows = {
        .first = first_row(run, block),
        .last = first_row(run, block + 1),
        .left = left,
        .right = MIN(left + HV_SSIM_STRIP, m->plan.scale_width[run->scale] - HV_SSIM_TAPS + 1),
        .scale = run->scale,
        .care = m->plan.care[run->scale],
        .luminance = m->plan.luminance[run->scale],
        .scratch = m->scratch[worker],
    };
    memcpy(windows.in, m->image[run->scale], sizeof windows.in);
    m->call.windows(&windows);
}

static void measure_scale(HvMetric *m, int scale)
{
    const HvSsimPlan *plan = &m->plan;
    unsigned columns = plan->scale_width[scale] - HV_SSIM_TAPS + 1;
    unsigned strips = (columns + HV_SSIM_STRIP - 1) / HV_SSIM_STRIP;
    if (hv_ssim_is_made(plan, scale)) {
        Run run = make_run(m, scale, plan->scale_height[scale], HV_SSIM_PICTURES);
        hv_slices_run(m->slices, HV_SSIM_PICTURES * run.blocks, run_shrink, &run);
    }
    Run run = make_run(m, scale, plan->scale_height[scale] - HV_SSIM_TAPS + 1, strips);
    hv_slices_run(m->slices, strips * run.blocks, run_windows, &run);
}

static void add_sums(HvSsimSums *to, const HvSsimSums *from)
{
    to->ssim += from->ssim;
    to->l += from->l;
    to->c += from->c;
    to->s += from->s;
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    HvSsimSums sums[HV_SSIM_SCALES] = {0};
    set_input(m, subject);
    for (unsigned i = 0; i < m->threads; i++)
        memset(m->scratch[i]->sums, 0, sizeof m->scratch[i]->sums);
    for (int scale = 0; scale < m->plan.scales; scale++)
        measure_scale(m, scale);
    for (unsigned i = 0; i < m->threads; i++)
        for (int scale = 0; scale < m->plan.scales; scale++)
            add_sums(&sums[scale], &m->scratch[i]->sums[scale]);
    hv_ssim_deliver(&m->plan, sums, scores);
    return TRUE;
}

const HvMetricOps hv_float_ssim_cpu_ops = {
    .create = create_single,
    .collect = collect,
    .destroy = destroy,
};

const HvMetricOps hv_float_ms_ssim_cpu_ops = {
    .create = create_multi,
    .collect = collect,
    .destroy = destroy,
};
