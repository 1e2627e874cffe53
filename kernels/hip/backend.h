/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The staging pool as the meter's backend. */
#ifndef HV_HIP_BACKEND_H
#define HV_HIP_BACKEND_H

#include "kernels/common/backend.h"
#include "kernels/hip/staging.h"

/* Takes a reference on hip. Arguments and errors as for hv_staging_new(). */
HvBackend *hv_hip_backend_new(HvHip *hip, const HvFormat *format, unsigned slots, gboolean chroma,
                              GError **error);

/* For metrics' `hip` operations, whose backend is always one of these. */
HvStaging *hv_hip_backend_staging(HvBackend *backend);

#endif
