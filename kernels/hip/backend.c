/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The staging pool as the meter's backend. */
#include "backend.h"

typedef struct HipBackend {
    HvBackend base;
    HvStaging *staging;
} HipBackend;

HvStaging *hv_hip_backend_staging(HvBackend *backend)
{
    return ((HipBackend *)backend)->staging;
}

static gboolean stage(HvBackend *backend, unsigned slot, const HvPicture *reference,
                      const HvPicture *distorted, GError **error)
{
    return hv_staging_stage(hv_hip_backend_staging(backend), slot, reference, distorted, error);
}

static gboolean seal(HvBackend *backend, unsigned slot, GError **error)
{
    return hv_staging_seal(hv_hip_backend_staging(backend), slot, error);
}

static gboolean await(HvBackend *backend, unsigned slot, GError **error)
{
    return hv_staging_wait(hv_hip_backend_staging(backend), slot, error);
}

static void quiesce(HvBackend *backend)
{
    hv_staging_quiesce(hv_hip_backend_staging(backend));
}

static void backend_free(HvBackend *backend)
{
    hv_staging_free(hv_hip_backend_staging(backend));
    g_free(backend);
}

static const HvBackendOps ops = {stage, seal, await, quiesce, backend_free};

HvBackend *hv_hip_backend_new(HvHip *hip, const HvFormat *format, unsigned slots, gboolean chroma,
                              GError **error)
{
    HvStaging *staging = hv_staging_new(hip, format, slots, chroma, error);
    if (!staging)
        return NULL;
    HipBackend *backend = g_new0(HipBackend, 1);
    backend->base.ops = &ops;
    backend->base.slots = slots;
    backend->staging = staging;
    return &backend->base;
}
