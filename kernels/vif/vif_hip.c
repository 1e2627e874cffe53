/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF on a GPU: its memory there, and the launches of its kernels (vif.hip). */
#include "kernels/hip/backend.h"
#include "kernels/vif/vif.h"
#include "kernels/vif/vif_device.h"

#include <string.h>

enum { REFERENCE, DISTORTED, PICTURES };
enum { IMAGES = HV_VIF_SCALES - 1 };

/* What one pair needs on the device. */
typedef struct Slot {
    HvDevice image[IMAGES][PICTURES], totals;
    HvDevice buffers; /* the HvVifBuffers that name them */
} Slot;

/* Pinned host memory: results, and what is copied to the device when all is made. */
typedef struct Host {
    HvVifFixed fixed;
    uint16_t log_table[HV_VIF_LOG_SIZE];
    struct HostSlot {
        HvVifBuffers buffers;
        HvVifSums sums[HV_VIF_SCALES];
    } slot[];
} Host;

struct HvMetric {
    HvVifPlan plan;
    HvHip *hip;
    HvStaging *staging;
    const HvHipKernel *kernel[HV_VIF_SCALES];
    HvDevice fixed, log_table;
    unsigned slots;
    Slot *slot;
    Host *host;
};

static void fix(HvVifFixed *fixed, const HvVifPlan *plan)
{
    for (int scale = 0; scale < HV_VIF_SCALES; scale++) {
        fixed->width[scale] = plan->width[scale];
        fixed->height[scale] = plan->height[scale];
        fixed->stride[scale] = (plan->width[scale] + 127) & ~127;
    }
    fixed->depth = plan->depth;
    fixed->sample_bytes = plan->depth > 8 ? 2 : 1;
    fixed->skip_scale0 = plan->params.skip_scale0;
    fixed->gain_limit = plan->params.enhn_gain_limit;
}

static gboolean make_memory(HvMetric *m, Slot *slot, GError **error)
{
    const HvVifFixed *fixed = &m->host->fixed;
    for (int i = 0; i < IMAGES; i++)
        for (int p = 0; p < PICTURES; p++) {
            size_t samples = (size_t)fixed->stride[i + 1] * fixed->height[i + 1];
            if (!hv_hip_malloc(m->hip, samples * sizeof(uint16_t), &slot->image[i][p], error))
                return FALSE;
        }
    return hv_hip_malloc(m->hip, HV_VIF_SCALES * sizeof(HvVifSums), &slot->totals, error) &&
           hv_hip_malloc(m->hip, sizeof(HvVifBuffers), &slot->buffers, error);
}

/* Names the slot's memory to the kernels, by a struct that stays on the device. */
static gboolean make_buffers(HvMetric *m, unsigned i, GError **error)
{
    const HvSlot *staged = hv_staging_slot(m->staging, i);
    const Slot *slot = &m->slot[i];
    HvVifBuffers *b = &m->host->slot[i].buffers;
    for (int p = 0; p < PICTURES; p++) {
        b->luma[p] = hv_device_pointer(staged->plane[p][0].data);
        for (int k = 0; k < IMAGES; k++)
            b->image[k][p] = hv_device_pointer(slot->image[k][p]);
    }
    b->totals = hv_device_pointer(slot->totals);
    b->log_table = hv_device_pointer(m->log_table);
    return hv_hip_check_struct(m->hip, "HvVifBuffers", b, hv_vif_buffer_pointers,
                               HV_VIF_BUFFER_POINTERS, error) &&
           hv_hip_upload(m->hip, slot->buffers, b, sizeof *b, staged->stream, error) &&
           hv_hip_stream_wait(m->hip, staged->stream, error);
}

/* What all slots share. */
static gboolean make_fixed(HvMetric *m, const uint16_t *log_table, GError **error)
{
    HvHipStream *stream = hv_staging_slot(m->staging, 0)->stream;
    Host *host = m->host;
    fix(&host->fixed, &m->plan);
    memcpy(host->log_table, log_table, sizeof host->log_table);
    return hv_hip_malloc(m->hip, sizeof host->fixed, &m->fixed, error) &&
           hv_hip_malloc(m->hip, sizeof host->log_table, &m->log_table, error) &&
           hv_hip_upload(m->hip, m->fixed, &host->fixed, sizeof host->fixed, stream, error) &&
           hv_hip_upload(m->hip, m->log_table, host->log_table, sizeof host->log_table, stream,
                         error) &&
           hv_hip_stream_wait(m->hip, stream, error);
}

static gboolean find_kernels(HvMetric *m, GError **error)
{
    static const char *const names[] = {"vif_scale0", "vif_scale1", "vif_scale2", "vif_scale3"};
    for (int scale = 0; scale < HV_VIF_SCALES; scale++)
        if (!(m->kernel[scale] = hv_hip_kernel(m->hip, names[scale], error)))
            return FALSE;
    return TRUE;
}

static gboolean make(HvMetric *m, const uint16_t *log_table, GError **error)
{
    size_t bytes = sizeof(Host) + m->slots * sizeof m->host->slot[0];
    m->host = hv_hip_malloc_pinned(m->hip, bytes, error);
    if (!m->host)
        return FALSE;
    memset(m->host, 0, bytes);
    if (!find_kernels(m, error) || !make_fixed(m, log_table, error))
        return FALSE;
    for (unsigned i = 0; i < m->slots; i++)
        if (!make_memory(m, &m->slot[i], error) || !make_buffers(m, i, error))
            return FALSE;
    return TRUE;
}

static void destroy(HvMetric *m)
{
    for (unsigned i = 0; i < m->slots; i++) {
        const Slot *slot = &m->slot[i];
        for (int k = 0; k < IMAGES; k++)
            for (int p = 0; p < PICTURES; p++)
                hv_hip_free(m->hip, slot->image[k][p]);
        hv_hip_free(m->hip, slot->totals);
        hv_hip_free(m->hip, slot->buffers);
    }
    hv_hip_free(m->hip, m->fixed);
    hv_hip_free(m->hip, m->log_table);
    hv_hip_free_pinned(m->hip, m->host);
    hv_hip_unref(m->hip);
    g_free(m->slot);
    g_free(m);
}

static HvMetric *create(const HvMetricSetup *setup, GError **error)
{
    const uint16_t *log_table = hv_vif_log_table(error);
    if (!log_table)
        return NULL;
    HvMetric *m = g_new0(HvMetric, 1);
    hv_vif_plan_init(&m->plan, setup->params, setup->format);
    m->staging = hv_hip_backend_staging(setup->backend);
    m->hip = hv_hip_ref(hv_staging_hip(m->staging));
    m->slots = hv_staging_slots(m->staging);
    m->slot = g_new0(Slot, m->slots);
    if (!make(m, log_table, error)) {
        hv_staging_quiesce(m->staging); /* what a failed wait left running */
        destroy(m);
        return NULL;
    }
    return m;
}

static gboolean launch(HvMetric *m, const Slot *slot, const HvSlot *staged, int scale,
                       GError **error)
{
    const HvStagedPlane *r = &staged->plane[REFERENCE][0], *d = &staged->plane[DISTORTED][0];
    const HvArgument arguments[] = {hv_pointer(slot->buffers), hv_pointer(m->fixed),
                                    hv_u32(r->pitch),          hv_u32(r->shift),
                                    hv_u32(d->pitch),          hv_u32(d->shift)};
    return hv_hip_launch(m->hip, m->kernel[scale],
                         hv_divide_up(m->plan.width[scale], HV_VIF_TILE_COLUMNS),
                         hv_divide_up(m->plan.height[scale], HV_VIF_TILE_ROWS), 1, staged->stream,
                         arguments, scale ? 2 : G_N_ELEMENTS(arguments), error);
}

static gboolean submit(HvMetric *m, const HvSubject *subject, GError **error)
{
    const Slot *slot = &m->slot[subject->slot];
    const HvSlot *staged = hv_staging_slot(m->staging, subject->slot);
    size_t bytes = HV_VIF_SCALES * sizeof(HvVifSums);
    if (!hv_staging_check_luma(m->staging, subject->slot, "vif", error) ||
        !hv_hip_fill(m->hip, slot->totals, 0, bytes, staged->stream, error))
        return FALSE;
    for (int scale = 0; scale < HV_VIF_SCALES; scale++)
        if (!launch(m, slot, staged, scale, error))
            return FALSE;
    return hv_hip_download(m->hip, m->host->slot[subject->slot].sums, slot->totals, bytes,
                           staged->stream, error);
}

static gboolean collect(HvMetric *m, const HvSubject *subject, HvScores *scores, GError **error)
{
    hv_vif_deliver(&m->plan, m->host->slot[subject->slot].sums, scores);
    return TRUE;
}

const HvMetricOps hv_vif_hip_ops = {
    .create = create,
    .submit = submit,
    .collect = collect,
    .destroy = destroy,
};
