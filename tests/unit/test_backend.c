/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter with a backend: one made for it, which does its work only when it is waited for, knows
 * what state each slot is in, and fails where it is told to. */
#include <string.h>

#include "sink.h"

enum { SLOTS = 3 };

/* The backend */

typedef enum Call { NOTHING, STAGE, SUBMIT, SEAL, WAIT, COLLECT, N_CALLS } Call;
typedef enum State { IDLE, STAGED, SEALED, WAITED } State;

typedef struct Fake {
    HvBackend base;
    HvLock lock;
    HvCond cond;
    Call fails;  /* this call, */
    unsigned at; /* counted from 0; it and all after it */
    unsigned count[N_CALLS];
    unsigned awaited;       /* a wait begins only when so many pairs are sealed */
    unsigned out, most_out; /* pairs staged and not waited for */
    unsigned last_slot, n_quiesced, n_freed;
    int instances; /* of metrics */
    struct {
        State state;
        const HvPicture *reference, *distorted;
        unsigned result; /* 0 until the device has got to it */
    } slot[SLOTS];
} Fake;

static const char *const call_names[N_CALLS] = {"nothing", "stage", "submit",
                                                "seal",    "wait",  "collect"};

static gboolean goes_well(Fake *fake, Call call, GError **error)
{
    gboolean ok = fake->fails != call || fake->count[call] < fake->at;
    fake->count[call]++;
    if (!ok)
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s failed", call_names[call]);
    return ok;
}

static gboolean fake_stage(HvBackend *backend, unsigned slot, const HvPicture *reference,
                           const HvPicture *distorted, GError **error)
{
    Fake *fake = (Fake *)backend;
    g_assert_cmpuint(slot, ==, fake->count[STAGE] % SLOTS);
    g_assert_true(fake->slot[slot].state == IDLE || fake->slot[slot].state == WAITED);
    if (!goes_well(fake, STAGE, error))
        return FALSE;
    fake->last_slot = slot;
    fake->slot[slot].state = STAGED;
    fake->slot[slot].reference = reference;
    fake->slot[slot].distorted = distorted;
    fake->slot[slot].result = 0;
    fake->out++;
    fake->most_out = MAX(fake->most_out, fake->out);
    return TRUE;
}

static gboolean fake_seal(HvBackend *backend, unsigned slot, GError **error)
{
    Fake *fake = (Fake *)backend;
    g_assert_cmpint(fake->slot[slot].state, ==, STAGED);
    if (!goes_well(fake, SEAL, error))
        return FALSE;
    fake->slot[slot].state = SEALED;
    return TRUE;
}

/* The device reads the pictures only now. */
static void execute(Fake *fake, unsigned slot)
{
    fake->slot[slot].result = sink_value(fake->slot[slot].reference);
    g_assert_cmpuint(sink_value(fake->slot[slot].distorted), ==, fake->slot[slot].result + 1);
    fake->slot[slot].state = WAITED;
    fake->out--;
}

static gboolean fake_wait(HvBackend *backend, unsigned slot, GError **error)
{
    Fake *fake = (Fake *)backend;
    g_assert_cmpint(fake->slot[slot].state, ==, SEALED);
    hv_lock(&fake->lock);
    while (fake->count[SEAL] < fake->awaited)
        hv_cond_wait(&fake->cond, &fake->lock);
    hv_unlock(&fake->lock);
    if (!goes_well(fake, WAIT, error))
        return FALSE;
    execute(fake, slot);
    return TRUE;
}

static void fake_quiesce(HvBackend *backend)
{
    Fake *fake = (Fake *)backend;
    for (unsigned i = 0; i < SLOTS; i++)
        if (fake->slot[i].state == STAGED || fake->slot[i].state == SEALED)
            execute(fake, i);
    fake->n_quiesced++;
}

static void fake_free(HvBackend *backend)
{
    Fake *fake = (Fake *)backend;
    g_assert_cmpint(fake->instances, ==, 0);
    fake->n_freed++;
}

static const HvBackendOps fake_ops = {fake_stage, fake_seal, fake_wait, fake_quiesce, fake_free};

static Fake *fake_new(Call fails, unsigned at)
{
    Fake *fake = g_new0(Fake, 1);
    fake->base.ops = &fake_ops;
    fake->base.slots = SLOTS;
    fake->fails = fails;
    fake->at = at;
    hv_lock_init(&fake->lock);
    hv_cond_init(&fake->cond);
    return fake;
}

/* Waits begin once so many pairs are sealed. */
static void fake_allow(Fake *fake, unsigned sealed)
{
    hv_lock(&fake->lock);
    fake->awaited = sealed;
    hv_cond_broadcast(&fake->cond);
    hv_unlock(&fake->lock);
}

static void fake_end(Fake *fake)
{
    g_assert_cmpuint(fake->n_freed, ==, 1);
    g_assert_cmpuint(fake->out, ==, 0);
    g_assert_cmpint(fake->instances, ==, 0);
    hv_cond_clear(&fake->cond);
    hv_lock_clear(&fake->lock);
    g_free(fake);
}

/* Metrics: on the CPU their second score is 0, on the GPU 1. */

struct HvMetric {
    Fake *fake;
    unsigned previous;
    HvScores *owed;
    unsigned past[2], distance; /* values of the pairs before, the last one first */
    unsigned n_submitted;
};

static int cpu_instances;

static HvMetric *gpu_create(const HvMetricSetup *setup, GError **error)
{
    HvMetric *metric = g_new0(HvMetric, 1);
    metric->fake = (Fake *)setup->backend;
    g_assert_nonnull(metric->fake);
    metric->fake->instances++;
    return metric;
}

/* Nothing of it may be running. */
static void gpu_destroy(HvMetric *metric)
{
    g_assert_cmpuint(metric->fake->out, ==, 0);
    g_assert_cmpuint(metric->fake->n_freed, ==, 0);
    metric->fake->instances--;
    g_free(metric);
}

static gboolean gpu_submit(HvMetric *metric, const HvSubject *subject, GError **error)
{
    g_assert_cmpint(metric->fake->slot[subject->slot].state, ==, STAGED);
    metric->n_submitted++;
    return goes_well(metric->fake, SUBMIT, error);
}

static gboolean gpu_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                            GError **error)
{
    g_assert_cmpint(metric->fake->slot[subject->slot].state, ==, WAITED);
    if (!goes_well(metric->fake, COLLECT, error))
        return FALSE;
    scores->value[0] = metric->fake->slot[subject->slot].result;
    scores->value[1] = 1;
    hv_scores_done(scores);
    return TRUE;
}

static HvMetric *cpu_create(const HvMetricSetup *setup, GError **error)
{
    g_assert_null(setup->backend);
    g_atomic_int_inc(&cpu_instances);
    return g_new0(HvMetric, 1);
}

static void cpu_destroy(HvMetric *metric)
{
    g_assert_null(metric->owed);
    g_atomic_int_add(&cpu_instances, -1);
    g_free(metric);
}

static gboolean cpu_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                            GError **error)
{
    scores->value[0] = sink_value(subject->reference);
    scores->value[1] = 0;
    hv_scores_done(scores);
    return TRUE;
}

/* How far the reference is from the one before. */
static gboolean step_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                             GError **error)
{
    unsigned value = sink_value(subject->reference);
    scores->value[0] = metric->previous ? value - metric->previous : 0;
    scores->value[1] = 0;
    metric->previous = value;
    hv_scores_done(scores);
    return TRUE;
}

static void step_flush(HvMetric *metric, HvFlush how)
{
    metric->previous = 0;
}

/* Scores come with the next picture's. */
static void pay(HvMetric *metric, HvScores *next)
{
    if (metric->owed)
        hv_scores_done(metric->owed);
    metric->owed = next;
}

static gboolean late_gpu_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                                 GError **error)
{
    if (!goes_well(metric->fake, COLLECT, error))
        return FALSE;
    scores->value[0] = metric->fake->slot[subject->slot].result;
    scores->value[1] = 1;
    pay(metric, scores);
    return TRUE;
}

static gboolean late_cpu_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                                 GError **error)
{
    unsigned value = sink_value(subject->reference);
    g_assert_cmpuint(value, !=, metric->previous);
    metric->previous = value;
    scores->value[0] = sink_value(subject->reference);
    scores->value[1] = 0;
    pay(metric, scores);
    return TRUE;
}

static void late_flush(HvMetric *metric, HvFlush how)
{
    if (how == HV_FLUSH_END)
        pay(metric, NULL);
    metric->owed = NULL;
    metric->previous = 0;
}

/* How far the reference is from one of those before, told with the next picture's. Where the CPU
 * takes over, it has to see those again. */
static void past_collect(HvMetric *metric, unsigned value, unsigned where, HvScores *scores)
{
    unsigned from = metric->past[metric->distance - 1];
    g_assert_cmpuint(value, !=, metric->past[0]);
    scores->value[0] = from ? value - from : 0;
    scores->value[1] = where;
    metric->past[1] = metric->past[0];
    metric->past[0] = value;
    pay(metric, scores);
}

static gboolean past_gpu_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                                 GError **error)
{
    if (!goes_well(metric->fake, COLLECT, error))
        return FALSE;
    past_collect(metric, metric->fake->slot[subject->slot].result, 1, scores);
    return TRUE;
}

static gboolean past_cpu_collect(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                                 GError **error)
{
    past_collect(metric, sink_value(subject->reference), 0, scores);
    return TRUE;
}

static void past_flush(HvMetric *metric, HvFlush how)
{
    late_flush(metric, how);
    metric->past[0] = metric->past[1] = 0;
}

static unsigned past_look_back(const void *params)
{
    return *(const gboolean *)params ? 2 : 1;
}

static HvMetric *past_create(HvMetric *metric, const HvMetricSetup *setup)
{
    metric->distance = past_look_back(setup->params);
    return metric;
}

static HvMetric *past_gpu_create(const HvMetricSetup *setup, GError **error)
{
    return past_create(gpu_create(setup, error), setup);
}

static HvMetric *past_cpu_create(const HvMetricSetup *setup, GError **error)
{
    return past_create(cpu_create(setup, error), setup);
}

static void past_take_over(HvMetric *metric, HvMetric *lost, const HvSubject *const *earlier,
                           unsigned n)
{
    unsigned collected = !!lost->past[0] + !!lost->past[1];
    g_assert_cmpuint(n, ==, MIN(collected, metric->distance));
    for (unsigned i = 0; i < n; i++) {
        metric->past[i] = sink_value(earlier[n - 1 - i]->reference);
        g_assert_cmpuint(metric->past[i], ==, lost->past[i]);
        g_assert_cmpuint(sink_value(earlier[n - 1 - i]->distorted), ==, lost->past[i] + 1);
    }
    metric->owed = g_steal_pointer(&lost->owed);
}

/* Back on a GPU: what it was shown are the pairs before, in the slots used last. */
static void past_return(HvMetric *metric, HvMetric *from, const HvSubject *const *earlier,
                        unsigned n)
{
    const Fake *fake = metric->fake;
    unsigned collected = !!from->past[0] + !!from->past[1];
    g_assert_cmpuint(n, ==, 0);
    g_assert_cmpuint(metric->n_submitted, ==, MIN(collected, metric->distance));
    for (unsigned i = 0; i < metric->n_submitted; i++) {
        metric->past[i] = fake->slot[(fake->last_slot + SLOTS - i) % SLOTS].result;
        g_assert_cmpuint(metric->past[i], ==, from->past[i]);
    }
    metric->owed = g_steal_pointer(&from->owed);
}

static HvMetric *fail_create(const HvMetricSetup *setup, GError **error)
{
    g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "no memory");
    return NULL;
}

static const char *const *both_names(const void *params)
{
    static const char *const names[] = {"both", "both_where", NULL};
    return names;
}

static const char *const *step_names(const void *params)
{
    static const char *const names[] = {"step", "step_where", NULL};
    return names;
}

static const char *const *late_names(const void *params)
{
    static const char *const names[] = {"late", "late_where", NULL};
    return names;
}

static const char *const *past_names(const void *params)
{
    static const char *const names[] = {"past", "past_where", NULL};
    return names;
}

static const HvMetricOps both_gpu = {gpu_create, gpu_submit, gpu_collect, NULL, gpu_destroy};
static const HvMetricOps both_cpu = {cpu_create, NULL, cpu_collect, NULL, cpu_destroy};
static const HvMetricOps step_cpu = {cpu_create, NULL, step_collect, step_flush, cpu_destroy};
static const HvMetricOps late_gpu = {gpu_create, gpu_submit, late_gpu_collect, late_flush,
                                     gpu_destroy};
static const HvMetricOps late_cpu = {cpu_create, NULL, late_cpu_collect, late_flush, cpu_destroy};
static const HvMetricOps poor_cpu = {fail_create, NULL, cpu_collect, NULL, cpu_destroy};
static const HvMetricOps poor_gpu = {fail_create, gpu_submit, gpu_collect, NULL, gpu_destroy};

static const HvMetricOps past_gpu = {
    past_gpu_create, gpu_submit, past_gpu_collect, past_flush, gpu_destroy, past_return, NULL};
static const HvMetricOps past_cpu = {past_cpu_create, NULL,           past_cpu_collect, past_flush,
                                     cpu_destroy,     past_take_over, past_look_back};

static const HvOption options[] = {{NULL}};
static const HvOption past_options[] = {
    {"far", NULL, "from the one before the previous one", HV_OPTION_BOOL, FALSE, 0, FALSE, 0, 1},
    {NULL}};
static const HvMetricInfo infos[] = {
    {.name = "both",
     .options = options,
     .params_size = 1,
     .score_names = both_names,
     .cpu = &both_cpu,
     .hip = &both_gpu},
    {.name = "step",
     .options = options,
     .params_size = 1,
     .score_names = step_names,
     .cpu = &step_cpu},
    {.name = "late",
     .options = options,
     .params_size = 1,
     .score_names = late_names,
     .cpu = &late_cpu,
     .hip = &late_gpu},
    {.name = "past",
     .options = past_options,
     .params_size = sizeof(gboolean),
     .score_names = past_names,
     .cpu = &past_cpu,
     .hip = &past_gpu},
    {.name = "only",
     .options = options,
     .params_size = 1,
     .score_names = both_names,
     .hip = &both_gpu},
    {.name = "poor",
     .options = options,
     .params_size = 1,
     .score_names = both_names,
     .cpu = &poor_cpu,
     .hip = &both_gpu},
    {.name = "stillborn",
     .options = options,
     .params_size = 1,
     .score_names = both_names,
     .cpu = &both_cpu,
     .hip = &poor_gpu},
    {.name = "lag",
     .options = options,
     .params_size = 1,
     .score_names = late_names,
     .cpu = &late_cpu},
};
static const HvMetricInfo *const table[] = {&infos[0], &infos[1], &infos[2], &infos[3], &infos[4],
                                            &infos[5], &infos[6], &infos[7], NULL};

static HvMeter *meter_try(const char *text, Fake *fake, gboolean fallback, Sink *sink,
                          GError **error)
{
    GPtrArray *features = hv_features_parse_from(table, text, NULL);
    for (unsigned i = 0; i < features->len; i++)
        ((HvFeature *)g_ptr_array_index(features, i))->on_gpu = TRUE;
    HvMeterConfig config = {sink_format, features, 1, SLOTS + 1, fake ? &fake->base : NULL,
                            fallback};
    HvMeter *meter = hv_meter_new(&config, &sink_callbacks, sink, error);
    g_ptr_array_unref(features);
    return meter;
}

static HvMeter *meter_make(const char *text, Fake *fake, gboolean fallback, Sink *sink)
{
    GError *error = NULL;
    HvMeter *meter = meter_try(text, fake, fallback, sink, &error);
    g_assert_no_error(error);
    hv_meter_score_names(meter, &sink->n_names);
    return meter;
}

static void submit_one(HvMeter *meter, Sink *sink, unsigned value, gboolean unscored)
{
    HvPair pair = sink_pair(sink, value);
    pair.unscored = unscored;
    g_assert_true(hv_meter_submit(meter, &pair));
}

static void submit(HvMeter *meter, Sink *sink, unsigned from, unsigned to)
{
    for (unsigned value = from; value <= to; value++)
        submit_one(meter, sink, value, FALSE);
}

static void finish(HvMeter *meter, Sink *sink, Fake *fake)
{
    hv_meter_free(meter, FOREVER);
    g_assert_cmpuint(sink->n_done, ==, sink->n_freed);
    g_assert_cmpint(g_atomic_int_get(&cpu_instances), ==, 0);
    sink_free(sink);
    fake_end(fake);
}

/* Tests */

static void test_order(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(NOTHING, 0);
    HvMeter *meter = meter_make("both,step", fake, TRUE, sink);
    submit(meter, sink, 1, 50);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 50);
    for (unsigned i = 0; i < 50; i++) {
        const double expected[] = {i + 1, 1, i > 0, 0};
        g_assert_cmpuint(sink->order[i], ==, i + 1);
        g_assert_cmpmem(sink->scores[i], sizeof expected, expected, sizeof expected);
    }
    g_assert_cmpuint(sink->n_fell_back + sink->n_broke + sink->n_failed, ==, 0);
    g_assert_cmpuint(fake->count[COLLECT], ==, 50);
    finish(meter, sink, fake);
}

/* As many pairs as there are slots are on the device before the first is waited for. If not, this
 * hangs. */
static void test_ahead(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(NOTHING, 0);
    HvMeter *meter = meter_make("both", fake, TRUE, sink);
    sink_block(sink, TRUE);
    submit(meter, sink, 1, 1);
    sink_await(sink, &sink->waiting, 1);
    fake_allow(fake, 1 + SLOTS);
    submit(meter, sink, 2, 1 + SLOTS);
    sink_block(sink, FALSE);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(fake->most_out, ==, SLOTS);
    g_assert_cmpuint(sink->n_scored, ==, 1 + SLOTS);
    finish(meter, sink, fake);
}

/* What is right of 20 pairs, however many of them the GPU measured. */
static unsigned check_scores(const Sink *sink, unsigned step)
{
    unsigned on_gpu = 0;
    for (unsigned i = 0; i < sink->n_scored; i++) {
        g_assert_cmpuint(sink->order[i], ==, i + 1);
        g_assert_cmpfloat(sink->scores[i][0], ==, i + 1);
        if (sink->scores[i][1] == 1)
            g_assert_cmpuint(on_gpu++, ==, i);
        if (step)
            g_assert_cmpfloat(sink->scores[i][2], ==, i > 0);
    }
    return on_gpu;
}

static void check_fall_back(Call call, unsigned at)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(call, at);
    HvMeter *meter = meter_make("both,step", fake, TRUE, sink);
    char *expected = g_strdup_printf("%s failed", call_names[call]);
    submit(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_fell_back, ==, 1);
    g_assert_cmpuint(sink->n_broke, ==, 0);
    g_assert_cmpstr(sink->loss, ==, expected);
    g_assert_cmpuint(sink->n_failed, ==, 0);
    g_assert_cmpuint(sink->n_scored, ==, 20);
    g_assert_cmpuint(sink->n_freed, ==, 20);
    unsigned on_gpu = check_scores(sink, 1);
    g_assert_cmpuint(on_gpu, ==, sink->scored_before_loss);
    g_assert_cmpuint(on_gpu, <=, at);
    g_assert_cmpuint(on_gpu + SLOTS, >=, at + (call >= WAIT ? SLOTS : 1));
    g_assert_cmpuint(fake->n_freed, ==, 1);
    g_assert_cmpuint(fake->count[call], ==, at + 1);
    finish(meter, sink, fake);
    g_free(expected);
}

static void check_break(Call call, unsigned at)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(call, at);
    HvMeter *meter = meter_make("step,both", fake, FALSE, sink);
    submit(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_fell_back, ==, 0);
    g_assert_cmpuint(sink->n_broke, ==, 1);
    g_assert_cmpuint(sink->n_scored, ==, sink->scored_before_loss);
    g_assert_cmpuint(sink->n_scored + sink->n_failed, ==, 20);
    g_assert_cmpuint(sink->n_freed, ==, 20);
    g_assert_cmpstr(sink->error, ==, sink->loss);
    g_assert_cmpuint(sink->n_scored, <=, at);
    finish(meter, sink, fake);
}

static void test_failures(void)
{
    for (Call call = STAGE; call < N_CALLS; call++)
        for (unsigned at = 0; at < 9; at += 1 + at / 2) {
            check_fall_back(call, at);
            check_break(call, at);
        }
}

/* There is nothing to fall back to. */
static void check_no_way_back(const char *text, const char *message)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(WAIT, 4);
    HvMeter *meter = meter_make(text, fake, TRUE, sink);
    submit(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_fell_back, ==, 0);
    g_assert_cmpuint(sink->n_broke, ==, 1);
    g_assert_cmpstr(sink->loss, ==, message);
    g_assert_cmpuint(sink->n_scored, ==, 4);
    g_assert_cmpuint(sink->n_failed, ==, 16);
    finish(meter, sink, fake);
}

static void test_no_way_back(void)
{
    check_no_way_back("only", "only cannot be measured on the CPU; and wait failed");
    check_no_way_back("step,poor", "no memory; and wait failed");
}

/* A score that the GPU still owed for a pair whose pictures are gone is reported as failed. */
static void test_late(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(WAIT, 5);
    HvMeter *meter = meter_make("late", fake, TRUE, sink);
    submit(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_fell_back, ==, 1);
    g_assert_cmpuint(sink->n_failed, ==, 1);
    g_assert_cmpstr(sink->error, ==, "wait failed");
    g_assert_cmpuint(sink->n_scored, ==, 19);
    for (unsigned i = 0; i < 19; i++) {
        g_assert_cmpuint(sink->order[i], ==, i + 1 + (i >= 4));
        g_assert_cmpfloat(sink->scores[i][0], ==, sink->order[i]);
        g_assert_cmpfloat(sink->scores[i][1], ==, i < 4);
    }
    finish(meter, sink, fake);
}

/* The n-th pair's value; differences tell all apart. */
static unsigned far_value(unsigned n)
{
    return 1 + n * n;
}

static void submit_far(HvMeter *meter, Sink *sink, unsigned from, unsigned to)
{
    for (unsigned n = from; n < to; n++)
        submit_one(meter, sink, far_value(n), FALSE);
}

/* Pair n's difference as the i-th score of its stream, which began with pair `first`. */
static void check_past(const Sink *sink, unsigned i, unsigned n, unsigned first, unsigned distance,
                       unsigned at)
{
    unsigned from = n - first >= distance ? far_value(n - distance) : far_value(n);
    g_assert_cmpuint(sink->order[i], ==, far_value(n));
    g_assert_cmpfloat(sink->scores[i][at], ==, far_value(n) - from);
}

static const struct {
    const char *features;
    unsigned distance, at; /* where past's scores are */
} pasts[] = {
    {"past", 1, 0},      {"past=far=true", 2, 0},      {"past,both", 1, 0},
    {"both,past", 1, 2}, {"past=far=true,both", 2, 0}, {"both,past=far=true", 2, 2},
};

/* Whatever fails and when: scores that the GPU still owed come from the CPU. */
static void check_take_over(unsigned k, Call call, unsigned at)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(call, at);
    HvMeter *meter = meter_make(pasts[k].features, fake, TRUE, sink);
    sink->keeps = TRUE;
    submit_far(meter, sink, 0, 12);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_fell_back, ==, 1);
    g_assert_cmpuint(sink->n_failed, ==, 0);
    g_assert_cmpuint(sink->n_scored, ==, 12);
    g_assert_cmpuint(sink->n_freed, ==, 12);
    for (unsigned n = 0; n < 12; n++)
        check_past(sink, n, n, 0, pasts[k].distance, pasts[k].at);
    finish(meter, sink, fake);
}

/* Nobody takes over: what was owed fails, and no pictures were kept for that. */
static void check_no_take_over(unsigned k, Call call, unsigned at)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(call, at);
    HvMeter *meter = meter_make(pasts[k].features, fake, FALSE, sink);
    submit_far(meter, sink, 0, 12);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_broke, ==, 1);
    g_assert_cmpuint(sink->n_scored + sink->n_failed, ==, 12);
    for (unsigned n = 0; n < sink->n_scored; n++)
        check_past(sink, n, n, 0, pasts[k].distance, pasts[k].at);
    finish(meter, sink, fake);
}

static void test_take_over(void)
{
    for (unsigned k = 0; k < G_N_ELEMENTS(pasts); k++)
        for (Call call = STAGE; call < N_CALLS; call++)
            for (unsigned at = 0; at < 12; at++) {
                check_take_over(k, call, at);
                check_no_take_over(k, call, at);
            }
}

/* A second backend takes over from the CPU, which took over from a first one or measured from the
 * start; it may fail, too. Every score is what it would be. */
typedef struct Return {
    const char *features;
    unsigned distance, at; /* as in `pasts` */
    unsigned before;       /* pairs before it is offered */
    gboolean drains, ends; /* between */
} Return;

/* Whether the second one fails before it is put to use: so many pairs are shown to it first. */
static gboolean is_refused(const Return *r, const Fake *second)
{
    unsigned shown = r->ends || !r->before ? 0 : r->distance;
    return second->fails != NOTHING && second->fails != COLLECT && second->at < shown;
}

static void check_return(const Return *r, Fake *first, Fake *second)
{
    Sink *sink = sink_new();
    HvMeter *meter = meter_make(r->features, first, TRUE, sink);
    sink->keeps = TRUE;
    submit_far(meter, sink, 0, r->before);
    if (r->drains)
        g_assert_true(hv_meter_drain(meter, r->ends, FOREVER));
    hv_meter_offer(meter, &second->base);
    submit_far(meter, sink, r->before, 12);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    if (r->drains)
        g_assert_cmpuint(sink->n_refused, ==, is_refused(r, second));
    g_assert_cmpuint(sink->n_refused + sink->n_regained, ==, 1);
    g_assert_cmpuint(sink->n_failed, ==, 0);
    g_assert_cmpuint(sink->n_scored, ==, 12);
    for (unsigned n = 0; n < 12; n++)
        check_past(sink, n, n, r->ends && n >= r->before ? r->before : 0, r->distance, r->at);
    gboolean lost = sink->n_regained && second->n_freed;
    g_assert_cmpuint(sink->n_fell_back, ==, (first != NULL) + lost);
    g_assert_cmpfloat(sink->scores[11][r->at + 1], ==, sink->n_regained && !lost);
    if (first)
        fake_end(first);
    finish(meter, sink, second);
}

static void test_return(void)
{
    for (unsigned k = 0; k < G_N_ELEMENTS(pasts); k++)
        for (unsigned before = 0; before < 6; before++)
            for (unsigned how = 0; how < 3; how++)
                for (Call call = NOTHING; call < N_CALLS; call++)
                    for (unsigned at = 0; at < (call == NOTHING ? 1 : 5); at++) {
                        Return r = {pasts[k].features, pasts[k].distance,
                                    pasts[k].at,       before,
                                    how > 0,           how > 1};
                        check_return(&r, NULL, fake_new(call, at));
                        if (before && how)
                            check_return(&r, fake_new(WAIT, 0), fake_new(call, at));
                    }
}

/* Where a backend measures already, or nothing may take its place, none is taken. */
static void test_return_unwanted(void)
{
    for (unsigned broken = 0; broken < 2; broken++) {
        Sink *sink = sink_new();
        Fake *first = fake_new(broken ? WAIT : NOTHING, 0), *second = fake_new(NOTHING, 0);
        HvMeter *meter = meter_make("both", first, FALSE, sink);
        submit(meter, sink, 1, 3);
        g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
        hv_meter_offer(meter, &second->base);
        submit(meter, sink, 4, 6);
        g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
        g_assert_cmpuint(sink->n_scored, ==, broken ? 0 : 6);
        g_assert_cmpuint(sink->n_regained + sink->n_refused, ==, 0);
        fake_end(second);
        finish(meter, sink, first);
    }
}

/* What nobody came to is freed with the meter. */
static void test_return_unseen(void)
{
    Sink *sink = sink_new();
    Fake *first = fake_new(NOTHING, 0), *second = fake_new(NOTHING, 0);
    HvMeter *meter = meter_make("past", NULL, TRUE, sink);
    sink->keeps = TRUE;
    submit_far(meter, sink, 0, 2);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    hv_meter_offer(meter, &first->base);
    hv_meter_offer(meter, &second->base);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_regained, ==, 0);
    finish(meter, sink, first);
    fake_end(second);
}

/* The pictures of as many pairs as the CPU would need are kept, until a drain wants them back, or
 * nothing else comes: then copies of them are. */
static void check_kept(unsigned distance, unsigned drains)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(WAIT, 8);
    HvMeter *meter = meter_make(distance == 1 ? "past" : "past=far=true", fake, TRUE, sink);
    sink->keeps = TRUE;
    sink_block(sink, TRUE);
    submit_far(meter, sink, 0, 4);
    sink_await(sink, &sink->waiting, 1);
    g_assert_cmpuint(sink->n_done, ==, 2 - distance);
    sink_block(sink, FALSE);
    submit_far(meter, sink, 4, 8);
    if (!drains)
        sink_await(sink, &sink->n_done, 8);
    for (unsigned i = 0; i < drains; i++) {
        g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
        g_assert_cmpuint(sink->n_done, ==, 8);
        g_assert_cmpuint(sink->n_freed, ==, 7);
    }
    submit_far(meter, sink, 8, 12);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_fell_back, ==, 1);
    g_assert_cmpuint(sink->n_scored, ==, 12);
    for (unsigned n = 0; n < 12; n++)
        check_past(sink, n, n, 0, distance, 0);
    finish(meter, sink, fake);
}

static void test_kept(void)
{
    for (unsigned distance = 1; distance <= 2; distance++)
        for (unsigned drains = 0; drains < 3; drains++)
            check_kept(distance, drains);
}

/* After an end or a drop nothing of the stream before is kept, nor taken over. */
static void check_kept_streams(unsigned distance, gboolean drop, unsigned at)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(WAIT, at);
    HvMeter *meter = meter_make(distance == 1 ? "past" : "past=far=true", fake, TRUE, sink);
    sink->keeps = TRUE;
    submit_far(meter, sink, 0, 5);
    g_assert_true(hv_meter_drain(meter, !drop, FOREVER));
    g_assert_cmpuint(hv_meter_drop(meter), ==, drop);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_done, ==, 5);
    g_assert_cmpuint(sink->n_freed, ==, 5);
    submit_far(meter, sink, 5, 12);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_failed, ==, 0);
    g_assert_cmpuint(sink->n_scored, ==, 12 - drop);
    for (unsigned n = 0; n < 12; n++)
        if (n < 5 - (unsigned)drop || n >= 5)
            check_past(sink, n < 5 ? n : n - drop, n, n < 5 ? 0 : 5, distance, 0);
    finish(meter, sink, fake);
}

static void test_kept_streams(void)
{
    for (unsigned at = 0; at < 12; at++)
        for (unsigned distance = 1; distance <= 2; distance++) {
            check_kept_streams(distance, FALSE, at);
            check_kept_streams(distance, TRUE, at);
        }
}

/* Pairs that are not to be scored are kept, too: the CPU has to see them. */
static void test_kept_unscored(void)
{
    for (unsigned at = 0; at < 12; at++) {
        Sink *sink = sink_new();
        Fake *fake = fake_new(WAIT, at);
        HvMeter *meter = meter_make("past=far=true", fake, TRUE, sink);
        sink->keeps = TRUE;
        for (unsigned n = 0; n < 12; n++)
            submit_one(meter, sink, far_value(n), n % 3 != 0);
        g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
        g_assert_cmpuint(sink->n_failed, ==, 0);
        g_assert_cmpuint(sink->n_scored, ==, 4);
        g_assert_cmpuint(sink->n_freed, ==, 12);
        for (unsigned n = 0; n < 12; n += 3)
            check_past(sink, n / 3, n, 0, 2, 0);
        finish(meter, sink, fake);
    }
}

/* Metrics on the CPU get every pair once, also that in whose middle the GPU was lost. */
static void test_lag(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(COLLECT, 5);
    HvMeter *meter = meter_make("lag,both", fake, TRUE, sink);
    submit(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, FALSE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 19);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 20);
    g_assert_cmpuint(check_scores(sink, 0), ==, 0);
    for (unsigned i = 0; i < 20; i++) {
        g_assert_cmpfloat(sink->scores[i][2], ==, i + 1);
        g_assert_cmpfloat(sink->scores[i][3], ==, i < 5);
    }
    finish(meter, sink, fake);
}

/* Pairs on the device are dropped; the slots go on in turn. */
static void check_drop(Call call, unsigned at)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(call, at);
    HvMeter *meter = meter_make("both,step", fake, TRUE, sink);
    sink_block(sink, TRUE);
    submit(meter, sink, 1, 1);
    sink_await(sink, &sink->waiting, 1);
    submit(meter, sink, 2, 1 + SLOTS);
    g_assert_cmpuint(hv_meter_drop(meter), ==, SLOTS);
    sink_block(sink, FALSE);
    submit(meter, sink, 10, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 12);
    g_assert_cmpuint(sink->n_failed, ==, 0);
    g_assert_cmpuint(sink->n_freed, ==, 12 + SLOTS);
    for (unsigned i = 1; i < 12; i++) {
        g_assert_cmpuint(sink->order[i], ==, 9 + i);
        g_assert_cmpfloat(sink->scores[i][0], ==, 9 + i);
        g_assert_cmpfloat(sink->scores[i][2], ==, i > 1);
    }
    g_assert_cmpuint(sink->n_fell_back, ==, call != NOTHING);
    finish(meter, sink, fake);
}

static void test_drop(void)
{
    check_drop(NOTHING, 0);
    check_drop(WAIT, 1);
    check_drop(COLLECT, 2);
}

static void test_free_in_flight(void)
{
    for (Call call = NOTHING; call < N_CALLS; call++) {
        Sink *sink = sink_new();
        Fake *fake = fake_new(call, 1);
        HvMeter *meter = meter_make("both,step", fake, call % 2, sink);
        submit(meter, sink, 1, SLOTS + 1);
        finish(meter, sink, fake);
    }
}

/* Pairs that only metrics on the CPU need are not brought to the device. */
static void test_unscored(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(WAIT, 4);
    HvMeter *meter = meter_make("both,step", fake, TRUE, sink);
    for (unsigned value = 1; value <= 20; value++)
        submit_one(meter, sink, value, value % 2 == 0);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 10);
    g_assert_cmpuint(sink->n_fell_back, ==, 1);
    g_assert_cmpuint(fake->count[STAGE], <=, 4 + SLOTS);
    for (unsigned i = 0; i < 10; i++) {
        const double expected[] = {2 * i + 1, i<4, i> 0, 0};
        g_assert_cmpmem(sink->scores[i], sizeof expected, expected, sizeof expected);
    }
    finish(meter, sink, fake);
}

/* No metric measures on it. */
static void test_unused(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(STAGE, 0);
    HvMeter *meter = meter_make("step", fake, TRUE, sink);
    g_assert_cmpuint(fake->n_freed, ==, 1);
    submit(meter, sink, 1, 20);
    g_assert_true(hv_meter_drain(meter, TRUE, FOREVER));
    g_assert_cmpuint(sink->n_scored, ==, 20);
    g_assert_cmpuint(fake->count[STAGE], ==, 0);
    finish(meter, sink, fake);
}

/* The backend stays the caller's. */
static void test_refused(void)
{
    Sink *sink = sink_new();
    Fake *fake = fake_new(NOTHING, 0);
    GError *error = NULL;
    g_assert_null(meter_try("both,stillborn", fake, TRUE, sink, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_MEMORY);
    g_error_free(error);
    g_assert_cmpuint(fake->n_freed, ==, 0);
    fake->base.ops->free(&fake->base);
    sink_callbacks.user_free(sink);
    finish(NULL, sink, fake);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/backend/order", test_order);
    g_test_add_func("/backend/ahead", test_ahead);
    g_test_add_func("/backend/failures", test_failures);
    g_test_add_func("/backend/no-way-back", test_no_way_back);
    g_test_add_func("/backend/late", test_late);
    g_test_add_func("/backend/take-over", test_take_over);
    g_test_add_func("/backend/return", test_return);
    g_test_add_func("/backend/return-unwanted", test_return_unwanted);
    g_test_add_func("/backend/return-unseen", test_return_unseen);
    g_test_add_func("/backend/kept", test_kept);
    g_test_add_func("/backend/kept-streams", test_kept_streams);
    g_test_add_func("/backend/kept-unscored", test_kept_unscored);
    g_test_add_func("/backend/lag", test_lag);
    g_test_add_func("/backend/drop", test_drop);
    g_test_add_func("/backend/free-in-flight", test_free_in_flight);
    g_test_add_func("/backend/unscored", test_unscored);
    g_test_add_func("/backend/unused", test_unused);
    g_test_add_func("/backend/refused", test_refused);
    return g_test_run();
}
