/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pooling over the frames of a stream, per score name. */
#ifndef HV_POOL_H
#define HV_POOL_H

#include <glib.h>

/* Numbered as libvmaf's enum VmafPoolingMethod. */
typedef enum HvPoolMethod {
    HV_POOL_MIN = 1,
    HV_POOL_MAX,
    HV_POOL_MEAN,
    HV_POOL_HARMONIC
} HvPoolMethod;

typedef struct HvPool HvPool;

/* In constant memory, a few sums for each name; `keeping`, 8 bytes more for each score that is
 * added. */
HvPool *hv_pool_new(void);
HvPool *hv_pool_new_keeping(void);
void hv_pool_free(HvPool *pool);
void hv_pool_clear(HvPool *pool);

/* Adds one frame's scores. Names new to the pool are appended in the order in which they come. */
void hv_pool_add(HvPool *pool, const char *const *names, const double *scores, unsigned n);

/* How many different names there are; the i-th name, owned by the pool; over how many frames that
 * had a number for it. */
unsigned hv_pool_size(const HvPool *pool);
const char *hv_pool_name(const HvPool *pool, unsigned i);
guint64 hv_pool_frames(const HvPool *pool, unsigned i);

/* libvmaf's definitions (libvmaf.c, vmaf_feature_score_pooled): sums in frame order in double;
 * harmonic is n / sum(1 / (score + 1)) - 1. A score that is not a number is left out; NAN where no
 * frame has counted. */
double hv_pool_value(const HvPool *pool, unsigned i, HvPoolMethod method);

/* The percentile, 0 to 100: of the n values in ascending order that at (n - 1) * percent / 100,
 * counted from 0, on the straight line between its neighbours, reckoned from the nearer one
 * (numpy.percentile's default, method "linear"). For pools that keep; NAN where no frame has
 * counted. */
double hv_pool_percentile(HvPool *pool, unsigned i, double percent);

#endif
