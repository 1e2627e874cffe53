/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What libvmaf says of some clips. */
#ifndef ADM_GOLDEN_H
#define ADM_GOLDEN_H

#include "adm_measure.h"

typedef struct AdmGolden {
    ClipKind kind;
    unsigned width, height, depth;
    uint64_t seed;
    const char *options;
    double score[ADM_SCORES];
} AdmGolden;

extern const AdmGolden adm_golden[];
extern const unsigned adm_n_golden;

/* Writes the clips into a folder, for measuring them with another program: I_ref.yuv and I_dis.yuv
 * are the luma of line I, and a line "I WIDTH HEIGHT DEPTH OPTIONS" goes to stdout. Returns an exit
 * status. */
int adm_golden_write(const char *folder);

#endif
