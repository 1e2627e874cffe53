/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The two ends of a meter under test. */
#include "sink.h"

#include <string.h>

enum { SAMPLES = SINK_SIDE * SINK_SIDE };

const HvFormat sink_format = {SINK_SIDE, SINK_SIDE, 16, 1, 0, 0};

typedef struct Owner {
    Sink *sink;
    unsigned value;
    gboolean done;
    guint16 samples[2][SAMPLES];
} Owner;

/* Changes a counter, which someone may wait for. */
static void count(Sink *sink, unsigned *counter)
{
    hv_lock(&sink->lock);
    ++*counter;
    hv_cond_broadcast(&sink->cond);
    hv_unlock(&sink->lock);
}

static void on_scored(gpointer user, gpointer data, const double *scores)
{
    Sink *sink = user;
    Owner *owner = data;
    hv_lock(&sink->lock);
    g_assert_true(owner->done || sink->keeps);
    g_assert_cmpuint(sink->n_scored, <, SINK_MOST);
    g_assert_cmpuint(sink->n_names, <=, SINK_NAMES);
    g_assert_cmpuint(owner->value, >=, sink->accepted);
    if (sink->n_names)
        memcpy(sink->scores[sink->n_scored], scores, sink->n_names * sizeof(double));
    sink->order[sink->n_scored++] = owner->value;
    sink->waiting++;
    hv_cond_broadcast(&sink->cond);
    while (sink->blocked)
        hv_cond_wait(&sink->cond, &sink->lock);
    sink->waiting--;
    hv_unlock(&sink->lock);
}

static void on_pictures_done(gpointer data)
{
    Owner *owner = data;
    g_assert_false(owner->done);
    owner->done = TRUE;
    memset(owner->samples, 0xa5, sizeof owner->samples);
    count(owner->sink, &owner->sink->n_done);
}

static void on_owner_free(gpointer data)
{
    Owner *owner = data;
    g_assert_true(owner->done);
    count(owner->sink, &owner->sink->n_freed);
    g_free(owner);
}

static void on_failed(gpointer user, const GError *error)
{
    Sink *sink = user;
    hv_lock(&sink->lock);
    sink->n_failed++;
    g_free(sink->error);
    sink->error = g_strdup(error->message);
    hv_unlock(&sink->lock);
}

static void on_loss(Sink *sink, unsigned *counter, const GError *error)
{
    hv_lock(&sink->lock);
    ++*counter;
    g_free(sink->loss);
    sink->loss = g_strdup(error->message);
    sink->scored_before_loss = sink->n_scored;
    hv_unlock(&sink->lock);
}

static void on_fell_back(gpointer user, const GError *error)
{
    on_loss(user, &((Sink *)user)->n_fell_back, error);
}

static void on_broke(gpointer user, const GError *error)
{
    on_loss(user, &((Sink *)user)->n_broke, error);
}

static void on_regained(gpointer user, const GError *error)
{
    Sink *sink = user;
    count(sink, error ? &sink->n_refused : &sink->n_regained);
}

static void on_user_free(gpointer user)
{
    count(user, &((Sink *)user)->n_user_free);
}

const HvMeterCallbacks sink_callbacks = {on_scored, on_pictures_done, on_owner_free,
                                         on_failed, on_user_free,     on_fell_back,
                                         on_broke,  on_regained};

Sink *sink_new(void)
{
    Sink *sink = g_new0(Sink, 1);
    hv_lock_init(&sink->lock);
    hv_cond_init(&sink->cond);
    return sink;
}

void sink_free(Sink *sink)
{
    g_assert_cmpuint(sink->n_user_free, ==, 1);
    hv_cond_clear(&sink->cond);
    hv_lock_clear(&sink->lock);
    g_free(sink->error);
    g_free(sink->loss);
    g_free(sink);
}

void sink_block(Sink *sink, gboolean blocked)
{
    hv_lock(&sink->lock);
    sink->blocked = blocked;
    hv_cond_broadcast(&sink->cond);
    hv_unlock(&sink->lock);
}

void sink_await(Sink *sink, const unsigned *counter, unsigned value)
{
    hv_lock(&sink->lock);
    while (*counter != value)
        hv_cond_wait(&sink->cond, &sink->lock);
    hv_unlock(&sink->lock);
}

HvPair sink_pair(Sink *sink, unsigned value)
{
    Owner *owner = g_new0(Owner, 1);
    owner->sink = sink;
    owner->value = value;
    HvPair pair = {.owner = owner};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < SAMPLES; j++)
            owner->samples[i][j] = value + i;
        HvPicture *picture = i ? &pair.distorted : &pair.reference;
        picture->plane[0] = (HvPlane){owner->samples[i], SINK_SIDE * 2, 2, 0};
    }
    return pair;
}

unsigned sink_value(const HvPicture *picture)
{
    const guint16 *samples = picture->plane[0].data;
    return samples[SAMPLES - 1];
}
