/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The staging pool: a fixed number of slots, each with what one pair needs on the device beside the
 * metrics' own buffers. All is allocated when the pool is made, nothing while pairs go through. */
#ifndef HV_STAGING_H
#define HV_STAGING_H

#include "kernels/hip/hip.h"

typedef struct HvStaging HvStaging;

/* A plane as staged: rows of `pitch` bytes, samples `step` bytes apart, words to be shifted right
 * by `shift`. The pitch is a multiple of 16: the source's, or the row rounded up to 256. The bytes
 * between a row's end and the next row are undefined, and may differ from frame to frame, as the
 * pitch may. `data` is aligned to 256, but for the second plane of interleaved chroma.
 * Luma's is set when the pool is made and never changes. */
typedef struct HvStagedPlane {
    HvDevice data;
    uint32_t pitch, shift, step;
} HvStagedPlane;

typedef struct HvSlot {
    HvStagedPlane plane[2][HV_MAX_PLANES]; /* [0] reference, [1] distorted; Y, Cb, Cr */
    HvHipStream *stream;                   /* in which the slot's copies and kernels run in order */
} HvSlot;

/* `chroma`: stage all planes, else luma alone. */
HvStaging *hv_staging_new(HvHip *hip, const HvFormat *format, unsigned slots, gboolean chroma,
                          GError **error);
void hv_staging_free(HvStaging *staging); /* waits for what runs */
HvHip *hv_staging_hip(const HvStaging *staging);
unsigned hv_staging_slots(const HvStaging *staging);
const HvSlot *hv_staging_slot(const HvStaging *staging, unsigned slot);

/* Queues the copies of both pictures into the slot: one linear copy where the source's pitch allows
 * (the slot's pitch is then the source's), through the slot's pinned bounce buffer where the source
 * is not pinned. The pictures must stay as they are until hv_staging_wait(). */
gboolean hv_staging_stage(HvStaging *staging, unsigned slot, const HvPicture *reference,
                          const HvPicture *distorted, GError **error);
/* Metrics' kernels count a plane's bytes in 32 bits: FALSE and an error, in the name of the metric,
 * where a staged luma plane has more. */
gboolean hv_staging_check_luma(const HvStaging *staging, unsigned slot, const char *metric,
                               GError **error);
/* Marks the end of the slot's work; waits for it. */
gboolean hv_staging_seal(HvStaging *staging, unsigned slot, GError **error);
gboolean hv_staging_wait(HvStaging *staging, unsigned slot, GError **error);
/* Waits for all that is queued in any slot, whether it fails or not. */
void hv_staging_quiesce(HvStaging *staging);

#endif
