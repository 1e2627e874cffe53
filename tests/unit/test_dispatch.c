/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What VMAF_HIP_DISPATCH does, with a table of metrics and images of the test's own. */
#include <string.h>

#include "kernels/hip/dispatch.h"
#include "kernels/hip/image.h"

static const uint8_t bundle[] = "no code";
const HvImage hv_images[] = {
    {"adm", bundle, sizeof bundle, NULL}, {"vif", NULL, 0, "ptx"}, {"motion", NULL, 0, NULL}, {0}};
const HvKernelInfo hv_kernels[] = {{0}};
const char *const hv_hip_targets = "";

static const HvOption options[] = {{NULL}};
static const HvMetricOps ops;
static const HvMetricInfo adm = {.name = "adm", .options = options, .params_size = 1, .hip = &ops},
                          vif = {.name = "vif", .options = options, .params_size = 1, .hip = &ops},
                          /* kernels without an image, and the other way round */
    motion = {.name = "motion", .options = options, .params_size = 1, .hip = &ops},
                          ciede = {.name = "ciede", .options = options, .params_size = 1};
static const HvMetricInfo *const table[] = {&adm, &vif, &motion, &ciede, NULL};

/* Two metrics whose kernels are in another one's file, which has none of motion's. */
static const HvMetricInfo
    float_adm = {.name = "float_adm", .options = options, .hip = &ops, .image = "adm"},
    float_motion = {.name = "float_motion", .options = options, .hip = &ops, .image = "motion"};
static const HvMetricInfo *const shared[] = {&float_adm, &float_motion, NULL};

/* `expected`: of adm, vif, motion and ciede. */
static void check(const char *text, const char *expected, const char *warning)
{
    GPtrArray *features = hv_features_parse_from(table, "adm,vif,motion,ciede", NULL);
    char *got = hv_hip_dispatch_from(table, text, features);
    char where[5] = "";
    for (unsigned i = 0; i < 4; i++)
        where[i] = ((HvFeature *)g_ptr_array_index(features, i))->on_gpu ? 'g' : 'c';
    g_assert_cmpstr(where, ==, expected);
    g_assert_cmpstr(got, ==, warning);
    g_free(got);
    g_ptr_array_unref(features);
}

static void test_supports(void)
{
    g_assert_true(hv_hip_supports_from(table, "adm"));
    g_assert_true(hv_hip_supports_from(table, "vif"));
    g_assert_false(hv_hip_supports_from(table, "motion"));
    g_assert_false(hv_hip_supports_from(table, "ciede"));
    g_assert_false(hv_hip_supports_from(table, "all"));
    g_assert_false(hv_hip_supports_from(table, ""));
    g_assert_true(hv_hip_supports_from(shared, "float_adm"));
    g_assert_false(hv_hip_supports_from(shared, "float_motion"));
    g_assert_false(hv_hip_supports_from(shared, "adm"));
}

static void test_words(void)
{
    check(NULL, "ggcc", NULL);
    check("", "ggcc", NULL);
    check(" , ,", "ggcc", NULL);
    check("adm:direct", "ggcc", NULL);
    check("adm:disable", "cgcc", NULL);
    check("vif:none", "gccc", NULL);
    check("vif:disable,ciede:none", "gccc", NULL);
    check(" vif : disable ,, adm:none ", "cccc", NULL);
    check("all:disable", "cccc", NULL);
    check("all:direct", "ggcc", NULL);
    check("all:disable,adm:direct", "gccc", NULL);
    check("adm:direct,all:none", "gccc", NULL);
    check("adm:disable,adm:direct", "ggcc", NULL);
    check("adm:direct,adm:disable", "cgcc", NULL);
}

static void test_warnings(void)
{
    check("adn:disable", "ggcc",
          "VMAF_HIP_DISPATCH: \"adn:disable\": there is no such metric; there are: all, adm, vif, "
          "motion, ciede");
    check("adm:off,vif:none", "gccc",
          "VMAF_HIP_DISPATCH: \"adm:off\": after the colon comes one of: direct, disable, none");
    check("vif", "ggcc",
          "VMAF_HIP_DISPATCH: \"vif\": after the colon comes one of: direct, disable, none");
    check("all:gpu", "ggcc",
          "VMAF_HIP_DISPATCH: \"all:gpu\": after the colon comes one of: direct, disable, none");
    check("motion:direct,adm:none", "cgcc",
          "VMAF_HIP_DISPATCH: \"motion:direct\": this build measures it on the CPU only; on a GPU "
          "it measures: adm, vif");
    check("x:y,vif:a:b", "ggcc",
          "VMAF_HIP_DISPATCH: \"x:y\": there is no such metric; there are: all, adm, vif, motion, "
          "ciede; \"vif:a:b\": after the colon comes one of: direct, disable, none");
}

/* What the program's own table says is what hv_hip_supports() says. */
static void test_own_table(void)
{
    for (unsigned i = 0; hv_metrics[i]; i++)
        g_assert_cmpint(hv_hip_supports(hv_metrics[i]->name), ==,
                        hv_hip_supports_from(hv_metrics, hv_metrics[i]->name));
    GPtrArray *features = hv_features_parse("adm", NULL);
    HvFeature *feature = g_ptr_array_index(features, 0);
    g_assert_null(hv_hip_dispatch(NULL, features));
    g_assert_cmpint(feature->on_gpu, ==, feature->info->hip != NULL);
    g_assert_null(hv_hip_dispatch("all:disable", features));
    g_assert_false(feature->on_gpu);
    g_ptr_array_unref(features);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dispatch/supports", test_supports);
    g_test_add_func("/dispatch/words", test_words);
    g_test_add_func("/dispatch/warnings", test_warnings);
    g_test_add_func("/dispatch/own-table", test_own_table);
    return g_test_run();
}
