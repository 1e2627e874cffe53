/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VIF's logarithm of vectors against its table, compiled once per processor level. */
#include "vif_log_lanes.h"

#include "kernels/cpu/level.h"
#include "kernels/vif/vif_log.h"

#ifdef HV_VEC

/* Every entry of the table, with the bits below it all 0 and all 1. */
unsigned HV_HOT(vif_log_mismatches)(const uint16_t *table)
{
    unsigned bad = 0;
    for (int shift = 2; shift < 16; shift++)
        for (uint32_t i = HV_VIF_LOG_FIRST; i < 2 * HV_VIF_LOG_FIRST; i += HV_LANES / 2) {
            uint32_t x[HV_LANES], low = (1u << (shift - 1)) - 1;
            int32_t log[HV_LANES];
            for (uint32_t lane = 0; lane < HV_LANES; lane++)
                x[lane] = (i + lane / 2) << (shift - 1) | (lane % 2 ? low : 0);
            HvVifLogLanes lanes = hv_vif_log2_lanes(hv_load(x));
            HvVec whole =
                hv_sub_s32(hv_shift_left_s32(lanes.whole, 11), hv_set_s32(HV_VIF_LOG_BIAS));
            hv_store(log, hv_add_s32(whole, lanes.part));
            for (int lane = 0; lane < HV_LANES; lane++)
                bad += log[lane] != hv_vif_log2(table, x[lane]);
        }
    return bad;
}

#else

/* There are no vectors at this level. */
unsigned HV_HOT(vif_log_mismatches)(const uint16_t *table)
{
    return 0;
}

#endif
