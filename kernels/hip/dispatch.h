/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which metrics are measured on the GPU, and what VMAF_HIP_DISPATCH makes of it. */
#ifndef HV_DISPATCH_H
#define HV_DISPATCH_H

#include "kernels/common/metric.h"

/* Whether this build can measure it on a GPU: the metric has a `hip` implementation, and its
 * kernels (the image of the metric's name) are embedded. FALSE for a name that there is not. */
gboolean hv_hip_supports(const char *metric);

/* Sets every feature's on_gpu: TRUE where the GPU can measure it and `text` does not say otherwise.
 * `text` is VMAF_HIP_DISPATCH's value, or NULL: "metric:word" separated by commas, where the metric
 * may be "all" and the word is "disable" or "none" (the CPU measures it) or "direct" (the GPU does,
 * as it does anyway). What is said of one metric comes before what is said of all, and later words
 * before earlier ones; space and empty entries are skipped.
 * NULL, or a sentence for the user, which the caller frees, about what of `text` has no effect. */
char *hv_hip_dispatch(const char *text, GPtrArray *features);

/* The same with other tables of metrics. */
gboolean hv_hip_supports_from(const HvMetricInfo *const *metrics, const char *metric);
char *hv_hip_dispatch_from(const HvMetricInfo *const *metrics, const char *text,
                           GPtrArray *features);

#endif
