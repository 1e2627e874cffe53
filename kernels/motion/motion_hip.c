/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion on a GPU: its memory there, and the launches of its kernel (motion.hip).
 *
 * Each frame's kernel leaves a copy of the reference's luma in a ring of planes, where that of a
 * later frame, in another slot's stream, finds it. A frame's kernel runs after that of the frame it
 * is compared with, so there need be only twice as many planes as the two are apart: what is
 * written over was last read by that very frame. At a flush every frame was collected. */
#include "kernels/hip/metric.h"
#include "kernels/motion/motion.h"
#include "kernels/motion/motion_device.h"

static const char *const kernels[] = {"motion_difference", NULL};

struct HvMetric {
    HvHipMetric gpu;
    HvMotion base;
    HvMotionFixed fixed;
    HvDevice fixed_copy, planes;
    unsigned distance, n_planes;
    HvDevice *buffers;    /* one a slot: the HvMotionBuffers that name its memory */
    HvHipEvent **written; /* one a plane: its frame's kernel has run */
    guint64 frames;       /* submitted in this stream; frame n's plane is n modulo n_planes */
};

static void fix(HvMotionFixed *fixed, const HvFormat *format)
{
    fixed->width = (int32_t)format->width;
    fixed->height = (int32_t)format->height;
    fixed->depth = (int32_t)format->depth;
    fixed->sample_bytes = (int32_t)hv_format_sample_bytes(format);
    /* never more than a staged plane's pitch, and the next plane aligned */
    fixed->stride = (format->width * hv_format_sample_bytes(format) + 15) & ~15u;
    fixed->plane_bytes = ((uint64_t)fixed->stride * format->height + 255) & ~(uint64_t)255;
}

static gboolean make(HvMetric *m, GError **error)
{
    if (m->base.params.force_zero)
        return TRUE;
    fix(&m->fixed, &m->base.format);
    m->buffers = hv_arena_host(m->gpu.arena, m->gpu.slots * sizeof *m->buffers);
    m->written = hv_arena_host(m->gpu.arena, m->n_planes * sizeof *m->written);
    for (unsigned i = 0; i < m->n_planes; i++)
        if (!(m->written[i] = hv_arena_event(m->gpu.arena, error)))
            return FALSE;
    return hv_arena_constant(m->gpu.arena, &m->fixed, sizeof m->fixed, &m->fixed_copy, error) &&
           hv_arena_device(m->gpu.arena, m->n_planes * m->fixed.plane_bytes, &m->planes, error);
}

static gboolean make_slot(HvMetric *m, unsigned i, GError **error)
{
    if (m->base.params.force_zero)
        return TRUE;
    const HvSlot *staged = hv_staging_slot(m->gpu.staging, i);
    HvMotionBuffers b = {.luma = hv_device_pointer(staged->plane[0][0].data),
                         .planes = hv_device_pointer(m->planes),
                         .sum = hv_device_pointer(m->gpu.result[i].device)};
    return hv_arena_buffers(m->gpu.arena, "HvMotionBuffers", &b, sizeof b,
                            hv_motion_buffer_pointers, HV_MOTION_BUFFER_POINTERS, &m->buffers[i],
                            error);
}

/* The next frame's plane, and that of the frame it is compared with, if there is one. */
static uint32_t plane_of(const HvMetric *m)
{
    return (uint32_t)(m->frames % m->n_planes);
}

static gboolean compares(const HvMetric *m)
{
    return m->frames >= m->distance;
}

static uint32_t earlier_plane(const HvMetric *m)
{
    return (uint32_t)((m->frames - m->distance) % m->n_planes);
}

static gboolean wait_for_earlier(HvMetric *m, unsigned i, const HvSlot *staged, GError **error)
{
    return !compares(m) || hv_hip_stream_wait_event(m->gpu.hip, staged->stream,
                                                    m->written[earlier_plane(m)], error);
}

static gboolean launch(HvMetric *m, unsigned i, const HvSlot *staged, GError **error)
{
    const HvStagedPlane *luma = &staged->plane[0][0];
    const HvArgument arguments[] = {
        hv_pointer(m->buffers[i]), hv_pointer(m->fixed_copy),
        hv_u32(luma->pitch),       hv_u32(luma->shift),
        hv_u32(plane_of(m)),       hv_u32(compares(m) ? earlier_plane(m) : HV_MOTION_NO_PLANE)};
    return hv_hip_launch(m->gpu.hip, m->gpu.kernel[0],
                         hv_divide_up(m->base.format.width, HV_MOTION_TILE_COLUMNS),
                         hv_divide_up(m->base.format.height, HV_MOTION_TILE_ROWS), 1,
                         staged->stream, arguments, G_N_ELEMENTS(arguments), error);
}

static gboolean mark_written(HvMetric *m, unsigned i, const HvSlot *staged, GError **error)
{
    return hv_hip_event_record(m->gpu.hip, m->written[plane_of(m)], staged->stream, error);
}

/* What the first frames of a stream do is not done again. */
static unsigned variant(const HvMetric *m)
{
    return compares(m) ? plane_of(m) : m->n_planes;
}

HvMotionWindow *hv_motion_hip_window(HvMetric *m)
{
    return &m->base.window;
}

static const HvHipMetricOps own = {
    .kernels = kernels,
    .adds = TRUE,
    .counts_in_32_bits = TRUE,
    .make = make,
    .make_slot = make_slot,
    .launch = launch,
    .before = wait_for_earlier,
    .after = mark_written,
    .variant = variant,
};

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_motion_init(&m->base, setup);
    m->distance = hv_motion_distance(&m->base.params);
    m->n_planes = 2 * m->distance;
    m->gpu = (HvHipMetric){&own, "motion", sizeof(HvMotionSum), m->n_planes};
    return hv_hip_metric_make(m, setup, error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    if (m->base.params.force_zero)
        return TRUE;
    if (!hv_hip_metric_submit(m, subject, error))
        return FALSE;
    m->frames++;
    return TRUE;
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    const HvMotionSum *sad = m->gpu.result[subject->slot].host;
    hv_motion_window_add(&m->base.window, *sad, &m->base.format, scores);
    return TRUE;
}

static void flush(HvMetric *m, HvFlush how)
{
    m->frames = 0;
    hv_motion_window_flush(&m->base.window, how);
}

/* The planes are those that were submitted. */
static void take_over(HvMetric *m, HvMetric *from, const HvSubject *const *earlier, unsigned n)
{
    hv_motion_window_take_over(&m->base.window, hv_motion_cpu_window(from));
}

const HvMetricOps hv_motion_hip_ops = {
    .create = create,
    .submit = submit,
    .collect = collect,
    .flush = flush,
    .destroy = hv_hip_metric_destroy,
    .take_over = take_over,
};
