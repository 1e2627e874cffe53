/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Prediction by the built-in models, against libvmaf's figures, and what becomes of a score, worked
 * out by hand. */
#include <math.h>
#include <string.h>

#include "kernels/vmaf/svr.h"
#include "svr_figures.h"

static const HvModelData *model(const char *name)
{
    const HvModelData *data = hv_builtin_models;
    while (strcmp(data->name, name))
        data++;
    g_assert_cmpuint(data->n_features, ==, 6);
    return data;
}

/* Last bits depend on the C library's exp(). */
static void check(double got, double want)
{
    if (!(fabs(got - want) <= 1e-11))
        g_error("%.17g, not %.17g", got, want);
}

static double predict(const char *name, const double *features, gboolean transform, gboolean clip)
{
    const HvModelData *data = model(name);
    g_assert_false(data->bootstrap);
    return hv_svr_finish(data->svr, hv_svr_predict(data->svr, 6, features), transform, clip);
}

static void test_models(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++) {
        const struct Figures *f = &figures[i];
        check(predict("vmaf_v0.6.1", f->features, FALSE, TRUE), f->plain);
        check(predict("vmaf_v0.6.1", f->features, TRUE, TRUE), f->transformed);
        check(predict("vmaf_v0.6.1", f->features, FALSE, FALSE), f->unclipped);
        check(predict("vmaf_4k_v0.6.1", f->features, FALSE, TRUE), f->plain_4k);
        check(predict("vmaf_v0.6.1neg", f->neg_features, FALSE, TRUE), f->neg);
        check(predict("vmaf_4k_v0.6.1neg", f->neg_features, FALSE, TRUE), f->neg_4k);
    }
}

static void test_bootstrap(void)
{
    const HvModelData *data = model("vmaf_b_v0.6.3");
    double scores[20];
    g_assert_true(data->bootstrap);
    g_assert_cmpuint(data->n_svrs, ==, G_N_ELEMENTS(scores) + 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++) {
        const struct Figures *f = &figures[i];
        for (unsigned k = 0; k < G_N_ELEMENTS(scores); k++)
            scores[k] = hv_svr_predict(&data->svr[k + 1], 6, f->features);
        HvBootstrap b = hv_svr_bootstrap(&data->svr[1], scores, G_N_ELEMENTS(scores), FALSE, TRUE);
        check(b.bagging, f->bagging);
        check(b.stddev, f->stddev);
        check(b.low, f->low);
        check(b.high, f->high);
    }
}

/* A regression whose score is its one feature, or what is made of it. */
static HvSvr identity(HvScoreTransform transform)
{
    return (HvSvr){.transform = transform};
}

static void test_polynomial(void)
{
    HvSvr svr = identity((HvScoreTransform){.polynomial = TRUE, .p = {1, 2, -0.5}});
    g_assert_cmpfloat(hv_svr_finish(&svr, 2, FALSE, TRUE), ==, 2);
    g_assert_cmpfloat(hv_svr_finish(&svr, 2, TRUE, TRUE), ==, 3);
    svr.transform.enabled = TRUE;
    g_assert_cmpfloat(hv_svr_finish(&svr, 4, FALSE, TRUE), ==, 1);
    svr.transform.out_gte_in = TRUE;
    g_assert_cmpfloat(hv_svr_finish(&svr, 4, FALSE, TRUE), ==, 4);
    g_assert_cmpfloat(hv_svr_finish(&svr, 2, FALSE, TRUE), ==, 3);
    svr.transform.out_gte_in = FALSE;
    svr.transform.out_lte_in = TRUE;
    g_assert_cmpfloat(hv_svr_finish(&svr, 4, FALSE, TRUE), ==, 1);
    g_assert_cmpfloat(hv_svr_finish(&svr, 2, FALSE, TRUE), ==, 2);
}

/* Flat, then rising twice; the pieces at the ends reach on. */
static void test_knots(void)
{
    const HvKnot flat[] = {{10, 5}, {20, 5}, {40, 25}, {60, 85}}, rising[] = {{0, 7}, {4, 15}};
    HvSvr svr = identity((HvScoreTransform){.enabled = TRUE, .knot = flat, .n_knots = 4});
    const double want[][2] = {{-3, 5},  {10, 5},  {15, 5},  {20, 5},  {30, 15},
                              {40, 25}, {50, 55}, {60, 85}, {70, 115}};
    for (unsigned i = 0; i < G_N_ELEMENTS(want); i++)
        g_assert_cmpfloat(hv_svr_finish(&svr, want[i][0], FALSE, TRUE), ==, want[i][1]);
    svr.transform.knot = rising;
    svr.transform.n_knots = 2;
    g_assert_cmpfloat(hv_svr_finish(&svr, -1, FALSE, TRUE), ==, 5);
    g_assert_cmpfloat(hv_svr_finish(&svr, 10, FALSE, TRUE), ==, 27);
    g_assert_true(isnan(hv_svr_finish(&svr, NAN, FALSE, TRUE)));
}

static void test_clip(void)
{
    HvSvr svr = {.clip = TRUE, .min = 0, .max = 100};
    g_assert_cmpfloat(hv_svr_finish(&svr, -1, FALSE, TRUE), ==, 0);
    g_assert_cmpfloat(hv_svr_finish(&svr, 101, FALSE, TRUE), ==, 100);
    g_assert_cmpfloat(hv_svr_finish(&svr, 101, FALSE, FALSE), ==, 101);
    svr.clip = FALSE;
    g_assert_cmpfloat(hv_svr_finish(&svr, -1, FALSE, TRUE), ==, -1);
}

/* Two features, one support vector: 3 exp(-0.5 ((2a+1 - 1)^2 + (b-1 - 2)^2)) + 0.25, unscaled. */
static void test_scaling(void)
{
    const double points[] = {1, 2}, slopes[] = {2, 1}, intercepts[] = {1, -1};
    const HvSupport support = {0, 3};
    HvSvr svr = {.gamma = 0.5,
                 .rho = -0.25,
                 .points = points,
                 .support = &support,
                 .n_supports = 1,
                 .rescale = TRUE,
                 .slope = 0.5,
                 .intercept = 0.25,
                 .slopes = slopes,
                 .intercepts = intercepts};
    const double features[] = {0.5, 4};
    check(hv_svr_predict(&svr, 2, features), (3 * exp(-0.5 * 2) + 0.25 - 0.25) / 0.5);
    svr.rescale = FALSE;
    check(hv_svr_predict(&svr, 2, features), 3 * exp(-0.5 * 4.25) + 0.25);
}

/* A chroma feature of 0 becomes p - p * luma, and only that. */
static void test_chroma(void)
{
    const double points[] = {0, 0}, slopes[] = {1, 2}, intercepts[] = {0, 0.5};
    const HvSupport support = {0, 1};
    HvSvr svr = {.gamma = 1,
                 .points = points,
                 .support = &support,
                 .n_supports = 1,
                 .rescale = TRUE,
                 .slope = 1,
                 .slopes = slopes,
                 .intercepts = intercepts,
                 .chroma_correction = 4,
                 .luma = 0,
                 .chroma = 1};
    const double none[] = {0.75, 0}, some[] = {0.75, 0.125};
    check(hv_svr_predict(&svr, 2, none), exp(-(0.75 * 0.75 + 2.5 * 2.5)));
    check(hv_svr_predict(&svr, 2, some), exp(-(0.75 * 0.75 + 0.75 * 0.75)));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/svr/models", test_models);
    g_test_add_func("/svr/bootstrap", test_bootstrap);
    g_test_add_func("/svr/polynomial", test_polynomial);
    g_test_add_func("/svr/knots", test_knots);
    g_test_add_func("/svr/clip", test_clip);
    g_test_add_func("/svr/scaling", test_scaling);
    g_test_add_func("/svr/chroma", test_chroma);
    return g_test_run();
}
