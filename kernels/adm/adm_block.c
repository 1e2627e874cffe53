/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One block of rows of one scale of ADM: which row needs what, and when. */
#include "kernels/adm/adm_hot.h"

void HV_HOT(hv_adm_block)(const HvAdmBlock *block)
{
    const HvAdmScale *s = hv_adm_block_scale(block);
    int first = MAX(block->first, s->top), last = MIN(block->last, s->bottom);
    gboolean sums = first < last && !(block->scale == 0 && block->plan->params.skip_scale0);
    /* the thresholds of the first and last row need one more row on either side */
    int from = sums ? MAX(first - 1, 0) : block->last;
    int to = sums ? MIN(last + 1, s->height) : block->last;

    for (int row = MIN(block->first, from); row < MAX(block->last, to); row++) {
        gboolean low = block->out[0] && row >= block->first && row < block->last;
        gboolean bands = row >= from && row < to;
        if (low || bands)
            HV_HOT(hv_adm_dwt_row)(block, row, low, bands);
        if (!bands)
            continue;
        HV_HOT(hv_adm_decouple_row)(block, row);
        if (row >= first && row < last)
            HV_HOT(hv_adm_reference_row)(block);
        if (row > first)
            HV_HOT(hv_adm_mask_row)(block, row - 1);
        if (row == s->height - 1 && row < last)
            HV_HOT(hv_adm_mask_row)(block, row);
    }
}
