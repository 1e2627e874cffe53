/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs ADM on a pair without a meter, and takes its integer sums as it hands them over. */
#ifndef ADM_MEASURE_H
#define ADM_MEASURE_H

#include "clips.h"
#include "kernels/adm/adm.h"
#include "kernels/cpu/level.h"

#define ADM_SCORES 18 /* with debug */
#define ADM_SUMS   (HV_ADM_SCALES * sizeof(HvAdmSums) / sizeof(int64_t))

typedef struct AdmResult {
    HvAdmSums sums[HV_ADM_SCALES];
    double score[ADM_SCORES]; /* in the order of the names */
} AdmResult;

/* How to measure; fields left 0 are the plain case. */
typedef struct AdmHow {
    HvLevel level;
    unsigned threads; /* 1 to 3; 0 is 1 */
    gboolean used;    /* the instance has measured a pair of extremes before */
    int fill;         /* fresh scratch memory holds this byte; above 255: noise */
} AdmHow;

/* Reads an option text; debug is always on. It must be right. */
HvAdmParams adm_params(const char *options);

/* Whether the processor and the build have this level. */
gboolean adm_has_level(HvLevel level);

/* Collects a pair from an instance of any backend; it must succeed. */
void adm_collect(const HvMetricOps *ops, HvMetric *metric, const HvSubject *subject,
                 AdmResult *result);

/* The integer sums of the pair collected last, on any backend: scale by scale, in the order of
 * HvAdmSums; ADM_SUMS of them. */
const int64_t *adm_sums(void);

AdmResult adm_measure(const HvAdmParams *params, const HvFormat *format, const HvPicture *reference,
                      const HvPicture *distorted, AdmHow how);

/* The same of a clip that is laid out plainly. */
AdmResult adm_measure_clip(const HvAdmParams *params, const Clip *clip, AdmHow how);

/* Fails, naming the case, unless both are the same to the bit. */
void adm_assert_same(const AdmResult *a, const AdmResult *b, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Ends the threads. */
void adm_measure_end(void);

#endif
