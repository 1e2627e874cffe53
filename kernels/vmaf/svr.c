/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arithmetic of prediction: see svr.h and docs/vmaf.md. */
#include "kernels/vmaf/svr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void scale(const HvSvr *svr, unsigned n, const double *features, double *x)
{
    for (unsigned i = 0; i < n; i++)
        x[i] = svr->rescale ? svr->slopes[i] * features[i] + svr->intercepts[i] : features[i];
}

static double unscale(const HvSvr *svr, double x, unsigned i)
{
    return svr->rescale ? (x - svr->intercepts[i]) / svr->slopes[i] : x;
}

/* A chroma feature of exactly 0 stands for one that could not be told: it is guessed from luma. */
static void correct_chroma(const HvSvr *svr, double *x)
{
    double p = svr->chroma_correction;
    unsigned i = svr->chroma;
    if (p == 0 || unscale(svr, x[i], i) != 0)
        return;
    double guess = -p * unscale(svr, x[svr->luma], svr->luma) + p;
    x[i] = svr->rescale ? svr->slopes[i] * guess + svr->intercepts[i] : guess;
}

double hv_svr_predict(const HvSvr *svr, unsigned n_features, const double *features)
{
    double x[HV_MODEL_MAX_FEATURES] = {0}, sum = 0;
    scale(svr, n_features, features, x);
    correct_chroma(svr, x);
    for (unsigned k = 0; k < svr->n_supports; k++) {
        const double *point = svr->points + (size_t)svr->support[k].point * n_features;
        double square = 0;
        for (unsigned i = 0; i < n_features; i++)
            square += (x[i] - point[i]) * (x[i] - point[i]);
        sum += svr->support[k].weight * exp(-svr->gamma * square);
    }
    sum -= svr->rho;
    return svr->rescale ? (sum - svr->intercept) / svr->slope : sum;
}

/* The value at x of the line through two knots; a first knot at 0 is taken as its offset. */
static double on_line(const HvKnot *a, const HvKnot *b, double x)
{
    if (a->y == b->y)
        return a->y;
    if (a->x == 0)
        return (b->y - a->y) / b->x * x + a->y;
    double slope = (b->y - a->y) / (b->x - a->x);
    return slope * x + (a->y - a->x * slope);
}

static double between_knots(const HvScoreTransform *t, double x)
{
    unsigned i = 0;
    if (isnan(x))
        return x;
    /* where two pieces meet, the later one counts */
    while (i + 2 < t->n_knots && x >= t->knot[i + 1].x)
        i++;
    return on_line(&t->knot[i], &t->knot[i + 1], x);
}

static double transform(const HvScoreTransform *t, double x)
{
    double y = x;
    if (t->polynomial)
        y = t->p[0] + t->p[1] * x + t->p[2] * x * x;
    if (t->n_knots > 0)
        y = between_knots(t, y);
    if (t->out_lte_in && y > x)
        y = x;
    if (t->out_gte_in && y < x)
        y = x;
    return y;
}

double hv_svr_finish(const HvSvr *svr, double score, gboolean force_transform, gboolean clip)
{
    if (svr->transform.enabled || force_transform)
        score = transform(&svr->transform, score);
    if (clip && svr->clip) {
        score = score < svr->min ? svr->min : score;
        score = score > svr->max ? svr->max : score;
    }
    return score;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted scores, linear between the two nearest. */
static double percentile(const double *scores, unsigned n, double percent)
{
    double at = percent * (n - 1) / 100.0;
    unsigned left = (unsigned)floor(at), right = (unsigned)ceil(at);
    if (left == right)
        return scores[left];
    return scores[left] * (right - at) + scores[right] * (at - left);
}

HvBootstrap hv_svr_bootstrap(const HvSvr *svr, double *scores, unsigned n, gboolean force_transform,
                             gboolean clip)
{
    const double delta = 0.01;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++)
        sum += scores[i];
    double mean = sum / n;
    for (unsigned i = 0; i < n; i++)
        squares += (scores[i] - mean) * (scores[i] - mean);
    qsort(scores, n, sizeof *scores, by_value);

    /* the deviation follows the slope that transforming and clipping have at the mean */
    double above = hv_svr_finish(svr, mean + delta, force_transform, clip);
    double below = hv_svr_finish(svr, mean - delta, force_transform, clip);
    double low = percentile(scores, n, 2.5), high = percentile(scores, n, 97.5);
    return (HvBootstrap){
        .bagging = hv_svr_finish(svr, mean, force_transform, clip),
        .stddev = sqrt(squares / n) * ((above - below) / (2.0 * delta)),
        .low = hv_svr_finish(svr, low, force_transform, clip),
        .high = hv_svr_finish(svr, high, force_transform, clip),
    };
}
