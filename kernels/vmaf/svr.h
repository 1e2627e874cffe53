/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arithmetic of prediction. Doubles, in libvmaf's order of operations, so that the last bits
 * are the same. */
#ifndef HV_SVR_H
#define HV_SVR_H

#include "kernels/vmaf/model_data.h"

/* The regression of one frame's features, n_features of them, neither transformed nor clipped. */
double hv_svr_predict(const HvSvr *svr, unsigned n_features, const double *features);

/* What becomes of it: transformed (where the model does, or with `force`) and, with `clip`, held to
 * the model's range. */
double hv_svr_finish(const HvSvr *svr, double score, gboolean force_transform, gboolean clip);

typedef struct HvBootstrap {
    double bagging, stddev, low, high;
} HvBootstrap;

/* Mean, standard deviation and 95% interval of the predictions of a collection's n resampled
 * models, as hv_svr_predict() gave them; sorts them. `svr` says how they are transformed and
 * clipped. */
HvBootstrap hv_svr_bootstrap(const HvSvr *svr, double *scores, unsigned n, gboolean force_transform,
                             gboolean clip);

#endif
