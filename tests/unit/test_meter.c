/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter, with metrics made for it: one that is done at once, one that needs later pictures, one
 * that works ahead, one that fails. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "sink.h"
#include "threads.h"

/* Metrics */

typedef struct Params {
    int delay;  /* frames after which scores come */
    int every;  /* one frame in so many fails, 0: none */
    int usec;   /* how long a frame takes */
    gboolean x; /* becomes part of the name */
} Params;

static const HvOption options[] = {
    {.name = "delay", .type = HV_OPTION_INT, .offset = offsetof(Params, delay), .max = 8},
    {.name = "every", .type = HV_OPTION_INT, .offset = offsetof(Params, every), .max = 1000},
    {.name = "usec", .type = HV_OPTION_INT, .offset = offsetof(Params, usec), .max = 1000000},
    {.name = "x", .type = HV_OPTION_BOOL, .offset = offsetof(Params, x), .in_name = TRUE},
    {NULL},
};

struct HvMetric {
    const Params *params;
    GQueue owed; /* HvScores that wait for later pictures */
    GQueue begun;
    unsigned previous; /* value of the reference before, 0: none */
};

static int instances;

static HvMetric *test_create(const HvMetricSetup *setup, GError **error)
{
    g_assert_cmpuint(setup->format->width, ==, SINK_SIDE);
    HvMetric *metric = g_new0(HvMetric, 1);
    metric->params = setup->params;
    g_atomic_int_inc(&instances);
    return metric;
}

static void test_destroy(HvMetric *metric)
{
    g_assert_cmpuint(metric->owed.length, ==, 0);
    g_assert_cmpuint(metric->begun.length, ==, 0);
    g_free(metric);
    g_atomic_int_add(&instances, -1);
}

static gboolean fails(const HvMetric *metric, unsigned value, GError **error)
{
    if (!metric->params->every || value % metric->params->every)
        return FALSE;
    g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "cannot measure %u", value);
    return TRUE;
}

static gboolean plain_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                              GError **error)
{
    if (metric->params->usec)
        g_usleep(metric->params->usec);
    if (fails(metric, sink_value(subject->reference), error))
        return FALSE;
    scores->value[0] = sink_value(subject->reference);
    scores->value[1] = sink_value(subject->reference) + sink_value(subject->distorted);
    hv_scores_done(scores);
    return TRUE;
}

/* Its scores: the reference's value minus the one before (0 at the start of a stream), and how many
 * frames they came late. */
static gboolean late_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                             GError **error)
{
    unsigned value = sink_value(subject->reference);
    scores->value[0] = metric->previous ? value - metric->previous : 0;
    metric->previous = value;
    if (fails(metric, value, error))
        return FALSE;
    g_queue_push_tail(&metric->owed, scores);
    while (metric->owed.length > (unsigned)metric->params->delay) {
        HvScores *oldest = g_queue_pop_head(&metric->owed);
        oldest->value[1] = metric->params->delay;
        hv_scores_done(oldest);
    }
    return TRUE;
}

static void late_flush(HvMetric *metric, HvFlush how)
{
    HvScores *scores;
    while ((scores = g_queue_pop_head(&metric->owed)))
        if (how == HV_FLUSH_END) {
            scores->value[1] = metric->owed.length;
            hv_scores_done(scores);
        }
    metric->previous = 0;
}

/* Never hands over anything. */
static gboolean mute_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                             GError **error)
{
    return TRUE;
}

static gboolean ahead_submit(HvMetric *metric, const HvSubject *subject, GError **error)
{
    if (fails(metric, sink_value(subject->reference), error))
        return FALSE;
    g_queue_push_tail(&metric->begun, GUINT_TO_POINTER(sink_value(subject->reference)));
    return TRUE;
}

static gboolean ahead_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                              GError **error)
{
    scores->value[1] = metric->begun.length;
    scores->value[0] = GPOINTER_TO_UINT(g_queue_pop_head(&metric->begun));
    g_assert_cmpfloat(scores->value[0], ==, sink_value(subject->reference));
    hv_scores_done(scores);
    return TRUE;
}

static const char *const *plain_names(const void *params)
{
    static const char *const names[] = {"value", "sum", NULL};
    return names;
}

static const char *const *late_names(const void *params)
{
    static const char *const names[] = {"step", "late", NULL};
    return names;
}

static const char *const *mute_names(const void *params)
{
    static const char *const names[] = {"mute", NULL};
    return names;
}

static const char *const *ahead_names(const void *params)
{
    static const char *const names[] = {"ahead", "begun", NULL};
    return names;
}

/* Its scores: the value, and over the stream the mean of values, made from two sums. */
static gboolean whole_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                              GError **error)
{
    unsigned value = sink_value(subject->reference);
    if (fails(metric, value, error))
        return FALSE;
    scores->value[0] = scores->value[1] = value + (metric->params->x ? 100 : 0);
    scores->value[2] = 1;
    hv_scores_done(scores);
    return TRUE;
}

static const char *const *whole_names(const void *params)
{
    static const char *const names[] = {"each", NULL};
    return names;
}

static const char *const *whole_aggregate_names(const void *params)
{
    static const char *const names[] = {"mean", NULL};
    return names;
}

static double whole_mean(const double *sums)
{
    return sums[0] / sums[1];
}

static const HvAggregate whole_aggregate = {whole_aggregate_names, 2, whole_mean};

/* Pictures of luma alone are measured in no time. */
static void whole_fit(void *params, const HvFormat *format)
{
    if (format->n_planes == 1)
        ((Params *)params)->usec = 0;
}

static gboolean needs_time(const void *params)
{
    return ((const Params *)params)->usec > 0;
}

static gboolean always(const void *params)
{
    return TRUE;
}

static gboolean refuse(const void *params, const HvFormat *of, GError **error)
{
    if (!of)
        return TRUE;
    g_set_error(error, HV_ERROR, HV_ERROR_SIZE, "picky takes nothing");
    return FALSE;
}

static HvMetric *fail_create(const HvMetricSetup *setup, GError **error)
{
    g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "no memory for stillborn");
    return NULL;
}

static const HvMetricOps plain_ops = {test_create, NULL, plain_collect, NULL, test_destroy};
static const HvMetricOps late_ops = {test_create, NULL, late_collect, late_flush, test_destroy};
static const HvMetricOps mute_ops = {test_create, NULL, mute_collect, NULL, test_destroy};
static const HvMetricOps ahead_ops = {test_create, ahead_submit, ahead_collect, NULL, test_destroy};
static const HvMetricOps whole_ops = {test_create, NULL, whole_collect, NULL, test_destroy};
static const HvMetricOps stillborn_ops = {fail_create, NULL, plain_collect, NULL, test_destroy};

static const HvMetricInfo infos[] = {
    {.name = "plain",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = plain_names,
     .cpu = &plain_ops},
    {.name = "late",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = late_names,
     .cpu = &late_ops},
    {.name = "mute",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = mute_names,
     .cpu = &mute_ops},
    {.name = "ahead",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = ahead_names,
     .cpu = &ahead_ops},
    {.name = "picky",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = plain_names,
     .validate = refuse,
     .cpu = &plain_ops},
    {.name = "stillborn",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = plain_names,
     .cpu = &stillborn_ops},
    {.name = "chroma",
     .options = options,
     .params_size = sizeof(Params),
     .needs_chroma = always,
     .score_names = plain_names,
     .cpu = &plain_ops},
    {.name = "nowhere",
     .options = options,
     .params_size = sizeof(Params),
     .score_names = plain_names},
    {.name = "whole",
     .options = options,
     .params_size = sizeof(Params),
     .fit = whole_fit,
     .needs_chroma = needs_time,
     .score_names = whole_names,
     .aggregate = &whole_aggregate,
     .cpu = &whole_ops},
};
static const HvMetricInfo *const table[] = {&infos[0], &infos[1], &infos[2], &infos[3], &infos[4],
                                            &infos[5], &infos[6], &infos[7], &infos[8], NULL};

static HvMeter *meter_try(const char *text, unsigned depth, Sink *sink, GError **error)
{
    GPtrArray *features = hv_features_parse_from(table, text, NULL);
    HvMeterConfig config = {sink_format, features, 2, depth};
    HvMeter *meter = hv_meter_new(&config, &sink_callbacks, sink, error);
    g_ptr_array_unref(features);
    return meter;
}

static HvMeter *meter_make(const char *text, unsigned depth, Sink *sink)
{
    GError *error = NULL;
    HvMeter *meter = meter_try(text, depth, sink, &error);
    g_assert_no_error(error);
    g_assert_nonnull(meter);
    hv_meter_score_names(meter, &sink->n_names);
    return meter;
}

static gboolean submit(HvMeter *meter, Sink *sink, unsigned value)
{
    HvPair pair = sink_pair(sink, value);
    gboolean taken = hv_meter_submit(meter, &pair);
    if (!taken)
        g_free(pair.owner);
    return taken;
}

static gboolean try_submit(HvMeter *meter, Sink *sink, unsigned value)
{
    HvPair pair = sink_pair(sink, value);
    gboolean taken = hv_meter_try_submit(meter, &pair);
    if (!taken)
        g_free(pair.owner);
    return taken;
}

static void submit_all(HvMeter *meter, Sink *sink, unsigned from, unsigned to)
{
    for (unsigned value = from; value <= to; value++)
        g_assert_true(submit(meter, sink, value));
}

static void finish(HvMeter *meter, Sink *sink)
{
    hv_meter_free(meter, FOREVER);
    g_assert_cmpuint(sink->n_done, ==, sink->n_freed);
    g_assert_cmpint(g_atomic_int_get(&instances), ==, 0);
    sink_free(sink);
}

/* Tests */

static void test_names(void)
{
    Sink *sink = sink_new();
    HvMeter *meter =
        meter_make("plain=x=true,late,plain,plain=usec=1,late=x=true:delay=1", 2, sink);
    static const char *const expected[] = {"value_x", "sum_x",  "step",   "late", "value",
                                           "sum",     "step_x", "late_x", NULL};
    unsigned n;
    const char *const *names = hv_meter_score_names(meter, &n);
    g_assert_cmpuint(n, ==, 8);
    for (unsigned i = 0; i <= n; i++)
        g_assert_cmpstr(names[i], ==, expected[i]);
    finish(meter, sink);
}

static void check_refused(const char *text, HvErrorCode code, const char *message)
{
    Sink *sink = sink_new();
    GError *error = NULL;
    g_assert_null(meter_try(text, 1, sink, &error));
    g_assert_error(error, HV_ERROR, (int)code);
    g_assert_cmpstr(error->message, ==, message);
    g_error_free(error);
    g_assert_cmpuint(sink->n_user_free, ==, 0);
    g_assert_cmpint(g_atomic_int_get(&instances), ==, 0);
    sink_callbacks.user_free(sink);
    sink_free(sink);
}

static void test_refused(void)
{
    check_refused("plain,picky", HV_ERROR_SIZE, "picky takes nothing");
    check_refused("late,plain,stillborn", HV_ERROR_MEMORY, "no memory for stillborn");
    check_refused("plain,chroma", HV_ERROR_SIZE,
                  "chroma measures chroma, which this format does not have");
    check_refused("nowhere", HV_ERROR_BACKEND, "nowhere cannot be measured on the CPU");
}

/* One thread shares rows, one is the meter's. */
static void test_no_thread(void)
{
    threads_grant(0);
    check_refused("plain", HV_ERROR_MEMORY,
                  "cannot start the thread hv-slice: Resource temporarily unavailable");
    threads_grant(1);
    check_refused("plain,late", HV_ERROR_MEMORY,
                  "cannot start the thread hv-meter: Resource temporarily unavailable");
    threads_grant(-1);
}

static void test_order(void)
{
    for (unsigned depth = 1; depth <= 4; depth++) {
        Sink *sink = sink_new();
        HvMeter *meter = meter_make("plain=usec=50,ahead", depth, sink);
        submit_all(meter, sink, 1, 300);
        g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
        g_assert_cmpuint(sink->n_scored, ==, 300);
        g_assert_cmpuint(sink->n_freed, ==, 300);
        for (unsigned i = 0; i < 300; i++) {
            g_assert_cmpuint(sink->order[i], ==, i + 1);
            g_assert_cmpfloat(sink->scores[i][0], ==, i + 1);
            g_assert_cmpfloat(sink->scores[i][1], ==, 2 * i + 3);
            g_assert_cmpfloat(sink->scores[i][2], ==, i + 1);
            g_assert_cmpfloat(sink->scores[i][3], <=, depth);
        }
        finish(meter, sink);
    }
}

/* While a callback holds the meter up, pairs are begun no further than `depth`, and the metric that
 * works ahead has them all. */
static void test_ahead(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("ahead", 3, sink);
    sink_block(sink, TRUE);
    submit_all(meter, sink, 1, 1);
    sink_await(sink, &sink->waiting, 1);
    submit_all(meter, sink, 2, 3);
    sink_block(sink, FALSE);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 3);
    g_assert_cmpfloat(sink->scores[1][1], ==, 2);
    g_assert_cmpfloat(sink->scores[2][1], ==, 1);
    finish(meter, sink);
}

static void test_no_features(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("", 2, sink);
    g_assert_cmpuint(sink->n_names, ==, 0);
    submit_all(meter, sink, 1, 10);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 10);
    finish(meter, sink);
}

/* A callback that blocks fills the queue; pictures that were measured are given back before. */
static void test_back_pressure(void)
{
    for (unsigned depth = 1; depth <= 3; depth++) {
        Sink *sink = sink_new();
        HvMeter *meter = meter_make("plain", depth, sink);
        sink_block(sink, TRUE);
        for (unsigned i = 1; i <= depth; i++)
            g_assert_true(try_submit(meter, sink, i));
        g_assert_false(try_submit(meter, sink, depth + 1));
        sink_await(sink, &sink->waiting, 1);
        g_assert_cmpuint(sink->n_done, ==, 1);
        g_assert_cmpuint(sink->n_freed, ==, 0);
        g_assert_false(try_submit(meter, sink, depth + 1));
        g_assert_false(hv_meter_drain(meter, FALSE, 20000));
        sink_block(sink, FALSE);
        g_assert_true(submit(meter, sink, depth + 1));
        g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
        g_assert_true(try_submit(meter, sink, depth + 2));
        g_assert_true(hv_meter_drain(meter, FALSE, 10 * G_USEC_PER_SEC));
        g_assert_cmpuint(sink->n_scored, ==, depth + 2);
        finish(meter, sink);
    }
}

/* Pairs that are passed have room where no others have, up to a number; they get no scores, and a
 * metric that remembers misses none. */
static void test_pass(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=1", 1, sink);
    g_assert_true(submit(meter, sink, 1));
    sink_block(sink, TRUE);
    g_assert_true(submit(meter, sink, 2));
    sink_await(sink, &sink->waiting, 1); /* with the first pair's score, the second in flight */
    g_assert_false(try_submit(meter, sink, 3));
    for (unsigned value = 3; value <= 6; value++) {
        HvPair pair = sink_pair(sink, value);
        gboolean taken = hv_meter_pass(meter, &pair, 4);
        g_assert_cmpint(taken, ==, value < 6);
        if (!taken)
            g_free(pair.owner);
    }
    sink_block(sink, FALSE);
    g_assert_true(submit(meter, sink, 7));
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 3);
    g_assert_cmpuint(sink->n_freed, ==, 6);
    g_assert_cmpuint(sink->order[2], ==, 7);
    g_assert_cmpfloat(sink->scores[2][2], ==, 2); /* from 5, the last one passed */
    finish(meter, sink);
}

/* Scores that come late keep the order, need more frames than `depth`, and come at the end. */
static void test_late(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=5", 1, sink);
    submit_all(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_done, ==, 20);
    g_assert_cmpuint(sink->n_scored, ==, 15);
    g_assert_cmpuint(sink->n_freed, ==, 15);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 20);
    g_assert_cmpuint(sink->n_freed, ==, 20);
    for (unsigned i = 0; i < 20; i++) {
        g_assert_cmpuint(sink->order[i], ==, i + 1);
        g_assert_cmpfloat(sink->scores[i][0], ==, i + 1);
        g_assert_cmpfloat(sink->scores[i][2], ==, i > 0);
        g_assert_cmpfloat(sink->scores[i][3], ==, i < 15 ? 5 : 19 - i);
    }
    finish(meter, sink);
}

/* After an end the next pair is the first of a new stream. */
static void test_reuse(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=1", 2, sink);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    submit_all(meter, sink, 1, 3);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_true(hv_meter_drain(meter, TRUE, 0));
    submit_all(meter, sink, 10, 12);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(hv_meter_drop(meter), ==, 0);
    submit_all(meter, sink, 20, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 7);
    static const double steps[] = {0, 1, 1, 0, 1, 1, 0};
    for (unsigned i = 0; i < 7; i++)
        g_assert_cmpfloat(sink->scores[i][2], ==, steps[i]);
    finish(meter, sink);
}

/* An end that was asked for comes before pairs submitted after it, also when its wait was over. */
static void test_end_timed_out(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=1", 3, sink);
    submit_all(meter, sink, 1, 1);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    sink_block(sink, TRUE);
    submit_all(meter, sink, 2, 2);
    sink_await(sink, &sink->waiting, 1);
    submit_all(meter, sink, 3, 3);
    g_assert_false(hv_meter_drain(meter, TRUE, 1000));
    submit_all(meter, sink, 10, 10);
    sink_block(sink, FALSE);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 4);
    static const double steps[] = {0, 1, 1, 0};
    for (unsigned i = 0; i < 4; i++)
        g_assert_cmpfloat(sink->scores[i][2], ==, steps[i]);
    finish(meter, sink);
}

static HvMeter *meter_with(HvAggregates *aggregates, const char *text, Sink *sink)
{
    GPtrArray *features = hv_features_parse_from(table, text, NULL);
    HvMeterConfig config = {sink_format, features, 2, 2, .aggregates = aggregates};
    HvMeter *meter = hv_meter_new(&config, &sink_callbacks, sink, NULL);
    g_assert_nonnull(meter);
    g_ptr_array_unref(features);
    hv_meter_score_names(meter, &sink->n_names);
    return meter;
}

/* Scores over the stream: of the pairs that are scored, over meters; each name once; and parameters
 * fitted to the format. */
static void test_aggregates(void)
{
    HvAggregates *aggregates = hv_aggregates_new();
    Sink *sink = sink_new();
    HvMeter *meter = meter_with(aggregates, "plain,whole=every=5,whole=usec=1,whole=x=true", sink);
    g_assert_cmpuint(hv_aggregates_size(aggregates), ==, 2);
    g_assert_cmpstr(hv_aggregates_name(aggregates, 0), ==, "mean");
    g_assert_cmpstr(hv_aggregates_name(aggregates, 1), ==, "mean_x");
    g_assert_true(isnan(hv_aggregates_value(aggregates, 0)));
    submit_all(meter, sink, 1, 6);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpfloat(hv_aggregates_value(aggregates, 0), ==, 16.0 / 5);
    g_assert_cmpfloat(hv_aggregates_value(aggregates, 1), ==, 100 + 16.0 / 5);
    finish(meter, sink);

    sink = sink_new();
    meter = meter_with(aggregates, "whole,late=delay=3", sink);
    submit_all(meter, sink, 9, 14);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 3);
    g_assert_cmpuint(hv_meter_drop(meter), ==, 3);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(hv_aggregates_size(aggregates), ==, 2);
    g_assert_cmpfloat(hv_aggregates_value(aggregates, 0), ==, (16.0 + 9 + 10 + 11) / 8);
    g_assert_cmpfloat(hv_aggregates_value(aggregates, 1), ==, 100 + 16.0 / 5);
    finish(meter, sink);
    hv_aggregates_free(aggregates);
}

/* Without aggregates their terms are left where they are, after everything else here: an address
 * sanitizer sees where there is no room for them. */
static void test_no_aggregates(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,whole", 2, sink);
    submit_all(meter, sink, 1, 2);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_names, ==, 3);
    g_assert_cmpfloat(sink->scores[1][1], ==, 5);
    g_assert_cmpfloat(sink->scores[1][2], ==, 2);
    finish(meter, sink);
}

/* Pairs that fail are gone at once, others keep their order; temporal metrics see all pictures. */
static void check_failing(const char *text, unsigned before_end)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make(text, 2, sink);
    submit_all(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_failed, ==, 4);
    g_assert_cmpuint(sink->n_scored, ==, before_end);
    g_assert_cmpuint(sink->n_freed, ==, before_end + 4);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_failed, ==, 4);
    g_assert_cmpstr(sink->error, ==, "cannot measure 20");
    g_assert_cmpuint(sink->n_scored, ==, 16);
    g_assert_cmpuint(sink->n_done, ==, 20);
    g_assert_cmpuint(sink->n_freed, ==, 20);
    for (unsigned i = 0, value = 0; i < 16; i++) {
        value += value % 5 == 4 ? 2 : 1;
        g_assert_cmpuint(sink->order[i], ==, value);
        g_assert_cmpfloat(sink->scores[i][2], ==, i > 0);
    }
    finish(meter, sink);
}

static void test_failing(void)
{
    check_failing("plain=every=5,late=delay=2", 15);
    check_failing("plain=every=5,late=every=5:delay=2", 14);
    check_failing("plain,late=every=5:delay=2", 14);
    check_failing("plain=every=5,late=delay=2,ahead=every=5", 15);
}

/* Scores that do not come even at the end are a failure, not a wait for ever. */
static void test_mute(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,mute", 2, sink);
    submit_all(meter, sink, 1, 5);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 0);
    g_assert_cmpuint(sink->n_failed, ==, 5);
    g_assert_cmpuint(sink->n_freed, ==, 5);
    g_assert_cmpstr(sink->error, ==, "mute could not measure a frame");
    finish(meter, sink);
}

/* Interrupts from another thread */

static void *interrupt_main(void *data)
{
    g_usleep(20000);
    hv_meter_interrupt(data, TRUE);
    return NULL;
}

static void interrupt_soon(HvMeter *meter, pthread_t *thread)
{
    g_assert_cmpint(pthread_create(thread, NULL, interrupt_main, meter), ==, 0);
}

static void test_interrupt(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=1", 1, sink);
    pthread_t thread;
    submit_all(meter, sink, 1, 1);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    sink_block(sink, TRUE);
    submit_all(meter, sink, 2, 2);
    sink_await(sink, &sink->waiting, 1);

    interrupt_soon(meter, &thread);
    g_assert_false(submit(meter, sink, 3));
    pthread_join(thread, NULL);
    g_assert_false(hv_meter_drain(meter, FALSE, FOREVER));

    hv_meter_interrupt(meter, FALSE);
    interrupt_soon(meter, &thread);
    g_assert_false(hv_meter_drain(meter, TRUE, FOREVER));
    pthread_join(thread, NULL);

    sink_block(sink, FALSE);
    sink_await(sink, &sink->n_scored, 2);
    g_assert_false(submit(meter, sink, 3));
    g_assert_false(hv_meter_drain(meter, FALSE, FOREVER));
    hv_meter_interrupt(meter, FALSE);
    g_assert_true(submit(meter, sink, 3));
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 3);
    finish(meter, sink);
}

/* Drops */

static void test_drop(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=2", 3, sink);
    submit_all(meter, sink, 1, 2);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(hv_meter_drop(meter), ==, 2);
    g_assert_cmpuint(hv_meter_drop(meter), ==, 0);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_freed, ==, 2);

    submit_all(meter, sink, 10, 12);
    sink_await(sink, &sink->n_scored, 1);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    sink_block(sink, TRUE);
    submit_all(meter, sink, 13, 13);
    sink_await(sink, &sink->waiting, 1);
    submit_all(meter, sink, 14, 15);
    /* 11 is in its callback; 12 and 13 wait for later pictures, 14 and 15 for the thread. */
    g_assert_cmpuint(hv_meter_drop(meter), ==, 4);
    g_assert_false(try_submit(meter, sink, 20));
    g_assert_false(hv_meter_drain(meter, FALSE, 1000));
    sink_block(sink, FALSE);
    submit_all(meter, sink, 20, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    static const unsigned order[] = {10, 11, 20};
    g_assert_cmpuint(sink->n_scored, ==, 3);
    g_assert_cmpmem(sink->order, sizeof order, order, sizeof order);
    g_assert_cmpfloat(sink->scores[2][2], ==, 0);
    g_assert_cmpuint(sink->n_freed, ==, 9);
    finish(meter, sink);
}

/* One thread submits, another drops and drains: each pair is scored, failed or dropped, once. */
typedef struct Feeder {
    HvMeter *meter;
    Sink *sink;
    unsigned n;
    gboolean over; /* under the sink's lock */
} Feeder;

static void *feeder_main(void *data)
{
    Feeder *feeder = data;
    for (unsigned i = 1; i <= feeder->n; i++)
        submit(feeder->meter, feeder->sink, i);
    hv_lock(&feeder->sink->lock);
    feeder->over = TRUE;
    hv_unlock(&feeder->sink->lock);
    return NULL;
}

static gboolean feeder_over(Feeder *feeder)
{
    hv_lock(&feeder->sink->lock);
    gboolean over = feeder->over;
    hv_unlock(&feeder->sink->lock);
    return over;
}

static void check_stress(const char *text, unsigned depth)
{
    Sink *sink = sink_new();
    Feeder feeder = {meter_make(text, depth, sink), sink, 3000};
    pthread_t thread;
    unsigned dropped = 0, rounds = 0;
    g_assert_cmpint(pthread_create(&thread, NULL, feeder_main, &feeder), ==, 0);
    while (!feeder_over(&feeder)) {
        switch (rounds++ % 4) {
        case 0:
            dropped += hv_meter_drop(feeder.meter);
            break;
        case 1:
            hv_meter_drain(feeder.meter, FALSE, 100);
            break;
        case 2:
            g_assert_true(hv_meter_drain(feeder.meter, TRUE, FOREVER));
            break;
        default:
            g_usleep(rounds % 300);
        }
    }
    pthread_join(thread, NULL);
    g_assert_true(hv_meter_drain(feeder.meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored + sink->n_failed + dropped, ==, feeder.n);
    g_assert_cmpuint(sink->n_freed, ==, feeder.n);
    for (unsigned i = 1; i < sink->n_scored; i++)
        g_assert_cmpuint(sink->order[i - 1], <, sink->order[i]);
    for (unsigned i = 0; i < sink->n_scored; i++)
        g_assert_cmpfloat(sink->scores[i][0], ==, sink->order[i]);
    g_test_message("%s: %u scored, %u failed, %u dropped in %u rounds", text, sink->n_scored,
                   sink->n_failed, dropped, rounds);
    finish(feeder.meter, sink);
}

static void test_stress(void)
{
    for (unsigned depth = 1; depth <= 4; depth++) {
        check_stress("plain", depth);
        check_stress("plain=usec=20,late=delay=1", depth);
        check_stress("plain=every=7,late=delay=3:every=11", depth);
        check_stress("plain,ahead=every=5", depth);
    }
}

/* No result of a pair begins to be handed out once drop() has returned and a drain has seen the
 * callback out that was running. */
static void test_drop_is_final(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain=usec=30,late=delay=1", 4, sink);
    unsigned value = 1;
    for (unsigned round = 0; round < 300; round++) {
        submit_all(meter, sink, value, value + 3);
        g_usleep(round % 150);
        hv_meter_drop(meter);
        value += 4;
        g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
        hv_lock(&sink->lock);
        g_assert_cmpuint(sink->n_freed, ==, value - 1);
        sink->accepted = value;
        hv_unlock(&sink->lock);
    }
    finish(meter, sink);
}

/* The end of the meter */

static void test_free_drops(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain=usec=2000,late=delay=3", 8, sink);
    submit_all(meter, sink, 1, 8);
    hv_meter_free(meter, FOREVER);
    g_assert_cmpuint(sink->n_freed, ==, 8);
    g_assert_cmpuint(sink->n_scored, <, 8);
    sink_free(sink);
}

static void test_free_stuck(void)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make("plain,late=delay=0", 4, sink);
    sink_block(sink, TRUE);
    submit_all(meter, sink, 1, 4);
    sink_await(sink, &sink->waiting, 1);
    gint64 begun = g_get_monotonic_time();
    hv_meter_free(meter, 50000);
    gint64 took = g_get_monotonic_time() - begun;
    g_assert_cmpint(took, >=, 50000);
    g_assert_cmpint(took, <, 5 * G_USEC_PER_SEC);
    g_assert_cmpuint(sink->n_user_free, ==, 0);
    g_assert_cmpint(g_atomic_int_get(&instances), ==, 2);

    sink_block(sink, FALSE);
    sink_await(sink, &sink->n_user_free, 1);
    g_assert_cmpuint(sink->n_scored, ==, 1);
    g_assert_cmpuint(sink->n_freed, ==, 4);
    g_assert_cmpint(g_atomic_int_get(&instances), ==, 0);
    sink_free(sink);
}

/* A callback ends its own meter. */
static HvMeter *suicidal;

static void scored_and_free(gpointer user, gpointer owner, const double *scores)
{
    sink_callbacks.scored(user, owner, scores);
    hv_meter_free(suicidal, FOREVER);
}

static void test_free_from_callback(void)
{
    Sink *sink = sink_new();
    HvMeterCallbacks own = sink_callbacks;
    own.scored = scored_and_free;
    GPtrArray *features = hv_features_parse_from(table, "plain", NULL);
    HvMeterConfig config = {sink_format, features, 1, 4};
    suicidal = hv_meter_new(&config, &own, sink, NULL);
    g_assert_nonnull(suicidal);
    sink->n_names = 2;
    sink_block(sink, TRUE);
    submit_all(suicidal, sink, 1, 4);
    sink_block(sink, FALSE);
    sink_await(sink, &sink->n_user_free, 1);
    g_assert_cmpuint(sink->n_scored, ==, 1);
    g_assert_cmpuint(sink->n_freed, ==, 4);
    g_ptr_array_unref(features);
    sink_free(sink);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/meter/names", test_names);
    g_test_add_func("/meter/refused", test_refused);
    g_test_add_func("/meter/no-thread", test_no_thread);
    g_test_add_func("/meter/order", test_order);
    g_test_add_func("/meter/ahead", test_ahead);
    g_test_add_func("/meter/no-features", test_no_features);
    g_test_add_func("/meter/back-pressure", test_back_pressure);
    g_test_add_func("/meter/pass", test_pass);
    g_test_add_func("/meter/late", test_late);
    g_test_add_func("/meter/reuse", test_reuse);
    g_test_add_func("/meter/end-timed-out", test_end_timed_out);
    g_test_add_func("/meter/aggregates", test_aggregates);
    g_test_add_func("/meter/no-aggregates", test_no_aggregates);
    g_test_add_func("/meter/failing", test_failing);
    g_test_add_func("/meter/mute", test_mute);
    g_test_add_func("/meter/interrupt", test_interrupt);
    g_test_add_func("/meter/drop", test_drop);
    g_test_add_func("/meter/stress", test_stress);
    g_test_add_func("/meter/drop-is-final", test_drop_is_final);
    g_test_add_func("/meter/free-drops", test_free_drops);
    g_test_add_func("/meter/free-stuck", test_free_stuck);
    g_test_add_func("/meter/free-from-callback", test_free_from_callback);
    return g_test_run();
}
