/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several meters on one GPU. */
#include "meters.h"

#include "kernels/common/meter.h"

enum { WARM_UP = 20, FOREVER = -1 };

typedef struct Feed {
    HvMeter *meter;
    GThread *thread;
    HvPair pair;
    unsigned pairs;
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

static gpointer feed_thread(gpointer user)
{
    feed(user, ((Feed *)user)->pairs);
    return NULL;
}

static HvMeter *make_meter(HvHip *hip, const HvFormat *format, GPtrArray *features, unsigned slots)
{
    GError *error = NULL;
    HvMeterConfig config = {.format = *format, .features = features, .threads = 1, .depth = slots};
    config.backend = hv_hip_backend_new(hip, format, slots, gpu_needs_chroma(features), &error);
    gpu_must(config.backend != NULL, &error);
    HvMeter *meter = hv_meter_new(&config, &callbacks, NULL, &error);
    gpu_must(meter != NULL, &error);
    return meter;
}

gint64 meters_time(HvHip *hip, const HvFormat *format, GPtrArray *features, unsigned slots,
                   unsigned meters, const HvPicture *pair, unsigned pairs)
{
    Feed *feeds = g_new0(Feed, meters);
    for (unsigned i = 0; i < features->len; i++)
        ((HvFeature *)g_ptr_array_index(features, i))->on_gpu = TRUE;
    for (unsigned i = 0; i < meters; i++) {
        feeds[i].meter = make_meter(hip, format, features, slots);
        feeds[i].pair = (HvPair){.reference = pair[0], .distorted = pair[1]};
        feeds[i].pairs = pairs;
        feed(&feeds[i], WARM_UP);
    }
    gint64 since = g_get_monotonic_time();
    for (unsigned i = 0; i < meters; i++)
        feeds[i].thread = g_thread_new("feed", feed_thread, &feeds[i]);
    for (unsigned i = 0; i < meters; i++)
        g_thread_join(feeds[i].thread);
    gint64 time = g_get_monotonic_time() - since;
    for (unsigned i = 0; i < meters; i++)
        hv_meter_free(feeds[i].meter, FOREVER);
    g_free(feeds);
    return time;
}
