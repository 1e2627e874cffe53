/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pooling, against values worked out by hand. */
#include <math.h>

#include "kernels/common/pool.h"

static const char *const names[] = {"a", "b", "c"};

static void test_methods(void)
{
    HvPool *pool = hv_pool_new();
    g_assert_cmpuint(hv_pool_size(pool), ==, 0);
    const double frames[][2] = {{1, -0.5}, {3, 7}, {0, 0.25}};
    for (unsigned i = 0; i < G_N_ELEMENTS(frames); i++)
        hv_pool_add(pool, names, frames[i], 2);

    g_assert_cmpuint(hv_pool_size(pool), ==, 2);
    g_assert_cmpstr(hv_pool_name(pool, 0), ==, "a");
    g_assert_cmpstr(hv_pool_name(pool, 1), ==, "b");
    g_assert_cmpuint(hv_pool_frames(pool, 0), ==, 3);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MIN), ==, 0);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MAX), ==, 3);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MEAN), ==, 4.0 / 3);
    /* 3 / (1/2 + 1/4 + 1/1) - 1 */
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_HARMONIC), ==, 3 / 1.75 - 1);
    g_assert_cmpfloat(hv_pool_value(pool, 1, HV_POOL_MIN), ==, -0.5);
    g_assert_cmpfloat(hv_pool_value(pool, 1, HV_POOL_MAX), ==, 7);
    g_assert_cmpfloat(hv_pool_value(pool, 1, HV_POOL_MEAN), ==, 2.25);
    /* 3 / (2 + 1/8 + 4/5) - 1 */
    g_assert_cmpfloat_with_epsilon(hv_pool_value(pool, 1, HV_POOL_HARMONIC), 3 / 2.925 - 1, 1e-15);
    hv_pool_free(pool);
}

/* 1 + 2^-53 is 1 in double, so a sum that starts with the 1 differs from one that ends with it. */
static void test_frame_order(void)
{
    const double tiny = ldexp(1, -53), scores[] = {1, tiny, tiny};
    HvPool *pool = hv_pool_new();
    for (unsigned i = 0; i < 3; i++)
        hv_pool_add(pool, names, &scores[i], 1);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MEAN), ==, 1.0 / 3);
    hv_pool_clear(pool);
    for (unsigned i = 3; i-- > 0;)
        hv_pool_add(pool, names, &scores[i], 1);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MEAN), ==, (1 + 2 * tiny) / 3);
    hv_pool_free(pool);
}

static void test_not_numbers(void)
{
    const double first[] = {NAN, 2, NAN}, second[] = {5, NAN, NAN}, third[] = {7, INFINITY, NAN};
    HvPool *pool = hv_pool_new();
    hv_pool_add(pool, names, first, 3);
    hv_pool_add(pool, names, second, 3);
    hv_pool_add(pool, names, third, 3);
    g_assert_cmpuint(hv_pool_frames(pool, 0), ==, 2);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MEAN), ==, 6);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MIN), ==, 5);
    g_assert_cmpfloat(hv_pool_value(pool, 1, HV_POOL_MAX), ==, INFINITY);
    g_assert_cmpuint(hv_pool_frames(pool, 2), ==, 0);
    for (HvPoolMethod method = HV_POOL_MIN; method <= HV_POOL_HARMONIC; method++)
        g_assert_true(isnan(hv_pool_value(pool, 2, method)));
    hv_pool_free(pool);
}

static void test_names(void)
{
    const char *const other[] = {"c", "a"}, *const again[] = {"b", "c"};
    const double scores[] = {10, 20};
    HvPool *pool = hv_pool_new();
    hv_pool_add(pool, other, scores, 2);
    hv_pool_add(pool, again, scores, 2);
    g_assert_cmpuint(hv_pool_size(pool), ==, 3);
    g_assert_cmpstr(hv_pool_name(pool, 0), ==, "c");
    g_assert_cmpstr(hv_pool_name(pool, 1), ==, "a");
    g_assert_cmpstr(hv_pool_name(pool, 2), ==, "b");
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MEAN), ==, 15);
    g_assert_cmpfloat(hv_pool_value(pool, 1, HV_POOL_MEAN), ==, 20);
    g_assert_cmpfloat(hv_pool_value(pool, 2, HV_POOL_MEAN), ==, 10);
    hv_pool_clear(pool);
    g_assert_cmpuint(hv_pool_size(pool), ==, 0);
    hv_pool_add(pool, again, scores, 1);
    g_assert_cmpstr(hv_pool_name(pool, 0), ==, "b");
    hv_pool_free(pool);
}

/* Figures worked out by hand; in whatever order the values come, and again when more have come. */
static void test_percentiles(void)
{
    const double odd[] = {9, 1, NAN, 4, 7, 2}, even[] = {10, 40, 20, 30};
    HvPool *pool = hv_pool_new_keeping();
    hv_pool_add(pool, names, &odd[2], 1);
    g_assert_true(isnan(hv_pool_percentile(pool, 0, 50)));
    hv_pool_add(pool, names, odd, 1);
    for (unsigned percent = 0; percent <= 100; percent += 5)
        g_assert_cmpfloat(hv_pool_percentile(pool, 0, percent), ==, 9);
    for (unsigned i = 1; i < G_N_ELEMENTS(odd); i++)
        hv_pool_add(pool, names, &odd[i], 1);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 0), ==, 1);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 5), ==, 1 + 1 * (4 * 0.05));
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 50), ==, 4);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 95), ==, 9 - 2 * (1 - (4 * 0.95 - 3)));
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 100), ==, 9);
    g_assert_cmpfloat(hv_pool_value(pool, 0, HV_POOL_MEAN), ==, 23.0 / 5);

    hv_pool_clear(pool);
    for (unsigned i = 0; i < G_N_ELEMENTS(even); i++)
        hv_pool_add(pool, names, &even[i], 1);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 50), ==, 25);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 5), ==, 10 + 10 * (3 * 0.05));

    /* Rounding shows from which neighbour it is reckoned: 0.27999999999999997 from the other. */
    const double two[] = {0.7, 0.1};
    hv_pool_clear(pool);
    for (unsigned i = 0; i < G_N_ELEMENTS(two); i++)
        hv_pool_add(pool, names, &two[i], 1);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 30), ==, 0.28);
    hv_pool_free(pool);
}

static void test_infinite_percentiles(void)
{
    const double scores[] = {INFINITY, 1, INFINITY, INFINITY};
    HvPool *pool = hv_pool_new_keeping();
    for (unsigned i = 0; i < G_N_ELEMENTS(scores); i++)
        hv_pool_add(pool, names, &scores[i], 1);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 0), ==, 1);
    g_assert_cmpfloat(hv_pool_percentile(pool, 0, 90), ==, INFINITY);
    hv_pool_free(pool);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pool/methods", test_methods);
    g_test_add_func("/pool/frame-order", test_frame_order);
    g_test_add_func("/pool/not-numbers", test_not_numbers);
    g_test_add_func("/pool/names", test_names);
    g_test_add_func("/pool/percentiles", test_percentiles);
    g_test_add_func("/pool/infinite-percentiles", test_infinite_percentiles);
    return g_test_run();
}
