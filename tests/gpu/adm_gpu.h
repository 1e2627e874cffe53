/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM on a GPU without a meter: pairs staged, measured and collected slot by slot. */
#ifndef ADM_GPU_H
#define ADM_GPU_H

#include "../unit/adm_measure.h"
#include "kernels/hip/backend.h"

typedef struct AdmGpu {
    HvFormat format;
    HvAdmParams params;
    HvBackend *backend;
    HvMetric *metric;
} AdmGpu;

/* Every failure ends the program with the error's message. */
HvHip *adm_gpu_open(void);
AdmGpu adm_gpu_new(HvHip *hip, const HvFormat *format, const HvAdmParams *params, unsigned slots);
void adm_gpu_free(AdmGpu *gpu);

/* Queues a pair in a slot, whose earlier pair was collected. */
void adm_gpu_submit(AdmGpu *gpu, unsigned slot, const HvPicture *reference,
                    const HvPicture *distorted);
/* Waits for the slot's pair. */
void adm_gpu_collect(AdmGpu *gpu, unsigned slot, AdmResult *result);

#endif
