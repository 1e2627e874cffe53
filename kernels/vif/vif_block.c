/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One block of rows of one scale of VIF: the sums of each, and every second row of the next. */
#include "kernels/vif/vif_hot.h"

void HV_HOT(hv_vif_block)(const HvVifBlock *block)
{
    int next_height = block->out[0] ? block->plan->height[block->scale + 1] : 0;
    for (int row = block->first; row < block->last; row++) {
        if (block->sums) {
            HV_HOT(hv_vif_vertical)(block, &block->filter, row, TRUE);
            HV_HOT(hv_vif_sum_row)(block);
        }
        if (row % 2 == 0 && row / 2 < next_height) {
            HV_HOT(hv_vif_vertical)(block, &block->next_filter, row, FALSE);
            HV_HOT(hv_vif_halve_row)(block, row / 2);
        }
    }
}
