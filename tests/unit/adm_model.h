/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plain model of ADM, written from docs/adm.md and sharing no code with kernels/adm. */
#ifndef ADM_MODEL_H
#define ADM_MODEL_H

#include <stdint.h>

typedef struct AdmModel {
    int width, height, depth;
    int csf_mode; /* 0 and 1 are computed; of the blends the caller gives the factors */
    int ref_display_height, skip_aim, skip_scale0;
    double norm_view_dist, csf_scale, csf_diag_scale, enhn_gain_limit, noise_weight;
    double dlm_weight, min_val;
    float factor[4][2]; /* by scale: horizontal and vertical, diagonal */

    /* results, by scale and band: horizontal, vertical, diagonal */
    int64_t reference[4][3], restored[4][3], additive[4][3];
    double adm2, aim, adm3, num, den, scale_num[4], scale_den[4], scale[4];
} AdmModel;

/* Measures one pair of pictures, tightly packed. */
void adm_model(AdmModel *m, const uint16_t *reference, const uint16_t *distorted);

#endif
