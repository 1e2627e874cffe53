/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM's reciprocal of vectors against divisions, compiled once per processor level. */
#include "adm_reciprocal_lanes.h"

#include "kernels/adm/adm_reciprocal.h"
#include "kernels/cpu/level.h"

#ifdef HV_VEC

static unsigned differing(HvVec quotients, const int32_t *m)
{
    int32_t q[HV_LANES];
    unsigned bad = 0;
    hv_store(q, quotients);
    for (int lane = 0; lane < HV_LANES; lane++)
        bad += q[lane] != (1 << 30) / m[lane];
    return bad;
}

/* Every divisor, with this processor's estimate and with those up to the bounds of any. */
unsigned HV_HOT(adm_reciprocal_mismatches)(void)
{
    unsigned bad = 0;
    for (int first = 1; first <= 32768; first += HV_LANES) {
        int32_t m[HV_LANES];
        for (int lane = 0; lane < HV_LANES; lane++)
            m[lane] = first + lane;
        bad += differing(hv_adm_reciprocal_lanes(hv_load(m)), m);
        for (int k = -16; k <= 16; k++) {
            float estimate[HV_LANES];
            for (int lane = 0; lane < HV_LANES; lane++)
                estimate[lane] = (float)(1.0 / m[lane] * (1 + k / 16.0 * 1.5 / 4096));
            HvVecF y = hv_f32_of_bits(hv_load(estimate));
            bad += differing(hv_adm_reciprocal_lanes_from(hv_load(m), y), m);
        }
    }
    return bad;
}

#else

/* There are no vectors at this level. */
unsigned HV_HOT(adm_reciprocal_mismatches)(void)
{
    return 0;
}

#endif
