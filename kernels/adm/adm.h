/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM's parameters, what follows from them for a picture size, the integer sums that a backend
 * delivers, and the scores made from them. docs/adm.md describes the metric. */
#ifndef HV_ADM_H
#define HV_ADM_H

#include "kernels/adm/adm_arith.h"
#include "kernels/common/metric.h"

enum { HV_ADM_HORIZONTAL, HV_ADM_VERTICAL, HV_ADM_DIAGONAL, HV_ADM_ANGLES };

typedef enum HvAdmCsfMode {
    HV_ADM_CSF_WATSON,
    HV_ADM_CSF_BARTEN,
    HV_ADM_CSF_BLEND,
    HV_ADM_CSF_BLEND_MAE
} HvAdmCsfMode;

/* libvmaf's options of `adm`, by their names less the prefix. */
typedef struct HvAdmParams {
    gboolean debug, skip_aim, skip_scale0;
    double csf_scale, csf_diag_scale, dlm_weight, enhn_gain_limit, norm_view_dist, noise_weight;
    double min_val;
    int ref_display_height, csf_mode;
} HvAdmParams;

/* One scale. Bands have `width` x `height` coefficients; only those in columns [left, right) and
 * rows [top, bottom) are summed. Shifts that would be below 1 are 0. */
typedef struct HvAdmScale {
    int in_width, in_height; /* of the low band (at scale 0, the luma plane) it is made from */
    int width, height;
    int left, right, top, bottom;
    float factor[HV_ADM_ANGLES];      /* contrast sensitivity, for the denominator */
    uint32_t i_factor[HV_ADM_ANGLES]; /* in fixed point: 2^21, 2^21, 2^23 at scale 0, else 2^32 */
    int cube_shift[HV_ADM_ANGLES];    /* of a masked cube */
    int row_shift;                    /* of a row's sum of masked cubes */
    int den_cube_shift, den_row_shift;
} HvAdmScale;

typedef struct HvAdmPlan {
    HvAdmParams params;
    unsigned width, height, depth;
    HvAdmScale scale[HV_ADM_SCALES];
} HvAdmPlan;

/* The sums over one scale, by angle: cubes of the reference, of the restored picture where it
 * exceeds masking, and of the added impairments where they do. */
typedef struct HvAdmSums {
    uint64_t reference[HV_ADM_ANGLES];
    int64_t restored[HV_ADM_ANGLES];
    int64_t additive[HV_ADM_ANGLES];
} HvAdmSums;

typedef struct HvAdmScores {
    double adm2, aim, adm3;
    double num, den;
    double scale_num[HV_ADM_SCALES], scale_den[HV_ADM_SCALES], scale[HV_ADM_SCALES];
} HvAdmScores;

/* Fixed terms of the arithmetic, by scale or angle. */
extern const int hv_adm_csf0_shift[HV_ADM_ANGLES], hv_adm_csf0_round[HV_ADM_ANGLES];
extern const int hv_adm_mask0_shift[HV_ADM_ANGLES], hv_adm_square0_shift[HV_ADM_ANGLES];
#define HV_ADM_SQUARE_SHIFT 30                           /* of a masked square at scales 1 to 3 */
extern const int hv_adm_den_square_shift[HV_ADM_SCALES]; /* scale 0 has none */
/* The transform's shifts at scales 1 to 3: vertical, horizontal. */
extern const int hv_adm_dwt_shift[HV_ADM_SCALES][2];

/* The contrast sensitivity of one scale, for the horizontal and vertical bands (diagonal FALSE) or
 * the diagonal one. */
float hv_adm_csf_factor(const HvAdmParams *params, int scale, gboolean diagonal);

/* FALSE where the mode has no figures for the viewing distance and display height. */
gboolean hv_adm_csf_known(const HvAdmParams *params);

/* The viewing conditions that the blended modes have figures for, as text for a message. */
const char *hv_adm_csf_conditions(void);

/* Fills a plan; the size is at least 16x16. */
void hv_adm_plan_init(HvAdmPlan *plan, const HvAdmParams *params, const HvFormat *format);

/* The scores from the sums of all scales: the one float tail of every backend. sums[0] is not
 * read when scale 0 is skipped, `additive` not when AIM is. */
void hv_adm_score(const HvAdmPlan *plan, const HvAdmSums *sums, HvAdmScores *scores);

/* Writes the scores in the order of their names and hands them over. */
void hv_adm_deliver(const HvAdmPlan *plan, const HvAdmSums *sums, HvScores *scores);

extern const HvMetricInfo hv_adm_info;
extern const HvMetricOps hv_adm_cpu_ops, hv_adm_hip_ops;

#endif
