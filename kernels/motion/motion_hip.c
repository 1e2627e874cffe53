/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion on a GPU: its memory there, and the launches of its kernel (motion.hip).
 *
 * Each frame's kernel leaves a copy of the reference's luma in a ring of planes, where that of a
 * later frame, in another slot's stream, finds it. A frame's kernel runs after that of the frame it
 * is compared with, so there need be only twice as many planes as the two are apart: what is
 * written over was last read by that very frame. At a flush every frame was collected. */
#include "kernels/hip/arena.h"
#include "kernels/hip/backend.h"
#include "kernels/motion/motion.h"
#include "kernels/motion/motion_device.h"

/* What one pair needs; `result` is pinned, the rest device memory. */
typedef struct Slot {
    HvDevice sum;
    HvDevice buffers; /* the HvMotionBuffers that name it */
    HvMotionSum *result;
} Slot;

struct HvMetric {
    HvMotion base;
    HvMotionFixed fixed;
    HvHip *hip;
    HvStaging *staging;
    HvArena *arena;
    const HvHipKernel *kernel;
    HvDevice fixed_copy, planes;
    unsigned distance, slots, n_planes;
    Slot *slot;
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

static gboolean make_slot(HvMetric *m, unsigned i, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->staging, i);
    Slot *slot = &m->slot[i];
    slot->result = hv_arena_pinned(m->arena, sizeof *slot->result, error);
    if (!slot->result || !hv_arena_device(m->arena, sizeof *slot->result, &slot->sum, error))
        return FALSE;
    HvMotionBuffers b = {.luma = hv_device_pointer(staged->plane[0][0].data),
                         .planes = hv_device_pointer(m->planes),
                         .sum = hv_device_pointer(slot->sum)};
    return hv_arena_buffers(m->arena, "HvMotionBuffers", &b, sizeof b, hv_motion_buffer_pointers,
                            HV_MOTION_BUFFER_POINTERS, &slot->buffers, error);
}

static gboolean make(HvMetric *m, GError **error)
{
    fix(&m->fixed, &m->base.format);
    m->kernel = hv_hip_kernel(m->hip, "motion_difference", error);
    if (!m->kernel ||
        !hv_arena_constant(m->arena, &m->fixed, sizeof m->fixed, &m->fixed_copy, error) ||
        !hv_arena_device(m->arena, m->n_planes * m->fixed.plane_bytes, &m->planes, error))
        return FALSE;
    for (unsigned i = 0; i < m->n_planes; i++)
        if (!(m->written[i] = hv_arena_event(m->arena, error)))
            return FALSE;
    for (unsigned i = 0; i < m->slots; i++)
        if (!make_slot(m, i, error))
            return FALSE;
    return TRUE;
}

static void destroy(HvMetric *m)
{
    hv_arena_free(m->arena);
    g_free(m->written);
    g_free(m->slot);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *m = g_new0(HvMetric, 1);
    hv_motion_init(&m->base, setup);
    m->distance = hv_motion_distance(&m->base.params);
    m->staging = hv_hip_backend_staging(setup->backend);
    m->hip = hv_staging_hip(m->staging);
    m->arena = hv_arena_new(m->staging);
    m->slots = hv_staging_slots(m->staging);
    m->n_planes = 2 * m->distance;
    m->slot = g_new0(Slot, m->slots);
    m->written = g_new0(HvHipEvent *, m->n_planes);
    if (!m->base.params.force_zero && !make(m, error)) {
        destroy(m);
        return NULL;
    }
    return m;
}

static gboolean launch(HvMetric *m, const Slot *slot, const HvSlot *staged, uint32_t earlier,
                       GError **error)
{
    const HvStagedPlane *luma = &staged->plane[0][0];
    const HvArgument arguments[] = {hv_pointer(slot->buffers),
                                    hv_pointer(m->fixed_copy),
                                    hv_u32(luma->pitch),
                                    hv_u32(luma->shift),
                                    hv_u32((uint32_t)(m->frames % m->n_planes)),
                                    hv_u32(earlier)};
    return hv_hip_launch(m->hip, m->kernel,
                         hv_divide_up(m->base.format.width, HV_MOTION_TILE_COLUMNS),
                         hv_divide_up(m->base.format.height, HV_MOTION_TILE_ROWS), 1,
                         staged->stream, arguments, G_N_ELEMENTS(arguments), error);
}

/* The frame's sum, once the earlier frame's copy is there. */
static gboolean compare(HvMetric *m, const Slot *slot, const HvSlot *staged, GError **error)
{
    uint32_t earlier = (uint32_t)((m->frames - m->distance) % m->n_planes);
    return hv_hip_stream_wait_event(m->hip, staged->stream, m->written[earlier], error) &&
           hv_hip_fill(m->hip, slot->sum, 0, sizeof *slot->result, staged->stream, error) &&
           launch(m, slot, staged, earlier, error) &&
           hv_hip_download(m->hip, slot->result, slot->sum, sizeof *slot->result, staged->stream,
                           error);
}

static gboolean measure(HvMetric *m, const Slot *slot, const HvSlot *staged, GError **error)
{
    gboolean compares = m->frames >= m->distance;
    return (compares ? compare(m, slot, staged, error)
                     : launch(m, slot, staged, HV_MOTION_NO_PLANE, error)) &&
           hv_hip_event_record(m->hip, m->written[m->frames % m->n_planes], staged->stream, error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    if (m->base.params.force_zero)
        return TRUE;
    if (!hv_staging_check_luma(m->staging, subject->slot, "motion", error) ||
        !measure(m, &m->slot[subject->slot], staged, error))
        return FALSE;
    m->frames++;
    return TRUE;
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    uint64_t sad = m->base.params.force_zero ? 0 : *m->slot[subject->slot].result;
    hv_motion_window_add(&m->base.window, sad, &m->base.format, scores);
    return TRUE;
}

static void flush(HvMetric *m, HvFlush how)
{
    m->frames = 0;
    hv_motion_window_flush(&m->base.window, how);
}

const HvMetricOps hv_motion_hip_ops = {
    .create = create,
    .submit = submit,
    .collect = collect,
    .flush = flush,
    .destroy = destroy,
};
