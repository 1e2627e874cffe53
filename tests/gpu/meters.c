/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several meters on one GPU. */
#include "meters.h"

#include "kernels/common/meter.h"

enum { WARM_UP = 20, FOREVER = -1 };

/* What is the same for all. */
typedef struct Meters {
    HvHip *hip;
    const HvFormat *format;
    GPtrArray *features;
    unsigned slots, pairs;
} Meters;

typedef struct Feed {
    const Meters *all;
    HvMeter *meter;
    GThread *thread;
    HvPair pair;
} Feed;

static void on_scored(gpointer user, gpointer owner, const double *scores)
{
}

static void on_gone(gpointer owner)
{
}

static void on_failed(gpointer user, const GError *error)
{
    gpu_must(FALSE, (GError *const *)&error);
}

static const HvMeterCallbacks callbacks = {
    .scored = on_scored,
    .pictures_done = on_gone,
    .owner_free = on_gone,
    .failed = on_failed,
    .fell_back = on_failed,
    .broke = on_failed,
};

static void feed(Feed *feed, unsigned pairs)
{
    for (unsigned i = 0; i < pairs; i++)
        hv_meter_submit(feed->meter, &feed->pair);
    hv_meter_drain(feed->meter, FALSE, FOREVER);
}

static HvMeter *make_meter(const Meters *all)
{
    GError *error = NULL;
    HvMeterConfig config = {
        .format = *all->format, .features = all->features, .threads = 1, .depth = all->slots};
    config.backend = hv_hip_backend_new(all->hip, all->format, all->slots,
                                        gpu_needs_chroma(all->features), &error);
    gpu_must(config.backend != NULL, &error);
    HvMeter *meter = hv_meter_new(&config, &callbacks, NULL, &error);
    gpu_must(meter != NULL, &error);
    return meter;
}

/* Takes and frees device memory, too, while others make their graphs. */
static gpointer begin_thread(gpointer user)
{
    Feed *of = user;
    for (unsigned i = 0; i < 2; i++) {
        if (of->meter)
            hv_meter_free(of->meter, FOREVER);
        of->meter = make_meter(of->all);
        feed(of, WARM_UP);
    }
    return NULL;
}

static gpointer feed_thread(gpointer user)
{
    Feed *of = user;
    feed(of, of->all->pairs);
    return NULL;
}

static void in_threads(Feed *feeds, unsigned n, GThreadFunc run)
{
    for (unsigned i = 0; i < n; i++)
        feeds[i].thread = g_thread_new("feed", run, &feeds[i]);
    for (unsigned i = 0; i < n; i++)
        g_thread_join(feeds[i].thread);
}

gint64 meters_time(HvHip *hip, const HvFormat *format, GPtrArray *features, unsigned slots,
                   unsigned meters, const HvPicture *pair, unsigned pairs)
{
    Meters all = {hip, format, features, slots, pairs};
    Feed *feeds = g_new0(Feed, meters);
    for (unsigned i = 0; i < features->len; i++)
        ((HvFeature *)g_ptr_array_index(features, i))->on_gpu = TRUE;
    for (unsigned i = 0; i < meters; i++)
        feeds[i] = (Feed){.all = &all, .pair = {.reference = pair[0], .distorted = pair[1]}};
    in_threads(feeds, meters, begin_thread);
    gint64 since = g_get_monotonic_time();
    in_threads(feeds, meters, feed_thread);
    gint64 time = g_get_monotonic_time() - since;
    for (unsigned i = 0; i < meters; i++)
        hv_meter_free(feeds[i].meter, FOREVER);
    g_free(feeds);
    return time;
}
