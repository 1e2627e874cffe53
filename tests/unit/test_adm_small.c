/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The smallest pictures, where rows are shorter than vectors and scales have one coefficient: quick
 * enough to run under valgrind, which sees reads of memory that nothing wrote and outside of it.
 * (Its processor has no AVX-512: there, the baseline and v3 are tested.) */
#include "adm_measure.h"

/* All levels agree, so that what they read is not without effect. */
static void test_depth(gconstpointer depth)
{
    HvAdmParams params = adm_params("");
    for (unsigned width = 16; width <= 40; width++)
        for (unsigned height = 16; height <= 40; height++) {
            Clip clip = clip_new(CLIP_NOISE, width, height, GPOINTER_TO_UINT(depth), width);
            AdmResult first = adm_measure_clip(&params, &clip, (AdmHow){HV_LEVEL_BASELINE});
            for (HvLevel level = HV_LEVEL_V3; level < HV_N_LEVELS && adm_has_level(level);
                 level++) {
                AdmResult other = adm_measure_clip(&params, &clip, (AdmHow){level});
                adm_assert_same(&first, &other, "%ux%u, %s", width, height, hv_level_name(level));
            }
            clip_free(&clip);
        }
    for (HvLevel level = 0; level < HV_N_LEVELS; level++)
        g_test_message("%s is %s", hv_level_name(level),
                       adm_has_level(level) ? "tested" : "not there");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/adm/small/8-bit", GUINT_TO_POINTER(8), test_depth);
    g_test_add_data_func("/adm/small/10-bit", GUINT_TO_POINTER(10), test_depth);
    int status = g_test_run();
    adm_measure_end();
    return status;
}
