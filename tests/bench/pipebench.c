/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What GStreamer costs beside the measuring: the element measures the same clips as hvbench does in
 * its way "memory", from buffers that are there before the clock starts, pushed into its pads by
 * two threads. Prints what hvbench prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gst/video/video.h>

/* Pairs measured before the clock starts, as in hvbench. */
#define WARM_UP 2
/* How long nothing more must be scored for the warm-up to be over. */
#define QUIET_US 300000
#define RATE     25

/* What feeds one sink pad of the element. */
typedef struct Source {
    GstPad *pad;
    GThread *thread;
    GstCaps *caps;
    char *clip;
    GPtrArray *buffers; /* of GstBuffer, frames of the clip */
    unsigned frames;    /* that are pushed */
    const char *name;
    GMutex *lock;
    GCond *changed;
    gboolean *warm;
} Source;

typedef struct Bench {
    GstVideoInfo info;
    GstElement *element;
    GstPad *sink;
    Source source[2];
    GMutex lock; /* guards what follows */
    GCond changed;
    gboolean warm, ended;
} Bench;

static void must(gboolean fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "pipebench: %s\n", what);
    exit(1);
}

/* ---- upstream ---- */

static void load(Source *source, const GstVideoInfo *info, const char *path)
{
    GError *error = NULL;
    gsize size, bytes = GST_VIDEO_INFO_SIZE(info);

    must(g_file_get_contents(path, &source->clip, &size, &error), error ? error->message : path);
    source->frames = (unsigned)(size / bytes);
    must(source->frames > WARM_UP, "too few frames");
    source->buffers = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
    for (unsigned n = 0; n < source->frames; n++) {
        GstBuffer *buffer = gst_buffer_new_wrapped_full(
            GST_MEMORY_FLAG_READONLY, source->clip + n * bytes, bytes, 0, bytes, NULL, NULL);
        GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(n, GST_SECOND, RATE);
        GST_BUFFER_DURATION(buffer) = GST_SECOND / RATE;
        g_ptr_array_add(source->buffers, buffer);
    }
}

static void wait_for(GMutex *lock, GCond *changed, const gboolean *what)
{
    g_mutex_lock(lock);
    while (!*what)
        g_cond_wait(changed, lock);
    g_mutex_unlock(lock);
}

static void announce(GMutex *lock, GCond *changed, gboolean *what)
{
    g_mutex_lock(lock);
    *what = TRUE;
    g_cond_broadcast(changed);
    g_mutex_unlock(lock);
}

static gpointer feed(gpointer data)
{
    Source *source = data;
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source->pad, gst_event_new_stream_start(source->name));
    gst_pad_push_event(source->pad, gst_event_new_caps(source->caps));
    gst_pad_push_event(source->pad, gst_event_new_segment(&segment));
    for (unsigned n = 0; n < source->frames; n++) {
        if (n == WARM_UP)
            wait_for(source->lock, source->changed, source->warm);
        must(gst_pad_push(source->pad, gst_buffer_ref(g_ptr_array_index(source->buffers, n))) ==
                 GST_FLOW_OK,
             "the element takes no more");
    }
    gst_pad_push_event(source->pad, gst_event_new_eos());
    return NULL;
}

/* The aggregator asks for the latency until it gets an answer. */
static gboolean answer(GstPad *pad, GstObject *parent, GstQuery *query)
{
    if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
        return gst_pad_query_default(pad, parent, query);
    gst_query_set_latency(query, FALSE, 0, GST_CLOCK_TIME_NONE);
    return TRUE;
}

static void source_open(Bench *bench, Source *source, const char *path, const char *sink)
{
    source->name = sink;
    source->lock = &bench->lock;
    source->changed = &bench->changed;
    source->warm = &bench->warm;
    source->caps = gst_video_info_to_caps(&bench->info);
    load(source, &bench->info, path);
    source->pad = gst_pad_new(NULL, GST_PAD_SRC);
    gst_pad_set_query_function(source->pad, answer);
    GstPad *peer = gst_element_get_static_pad(bench->element, sink);
    if (!peer)
        peer = gst_element_request_pad_simple(bench->element, sink);
    must(peer && gst_pad_link(source->pad, peer) == GST_PAD_LINK_OK, "no such pad");
    gst_object_unref(peer);
    gst_pad_set_active(source->pad, TRUE);
}

/* ---- downstream ---- */

static GstFlowReturn take(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
    gst_buffer_unref(buffer);
    return GST_FLOW_OK;
}

static gboolean heed(GstPad *pad, GstObject *parent, GstEvent *event)
{
    Bench *bench = gst_pad_get_element_private(pad);

    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
        announce(&bench->lock, &bench->changed, &bench->ended);
    gst_event_unref(event);
    return TRUE;
}

static void sink_open(Bench *bench)
{
    GstPad *peer = gst_element_get_static_pad(bench->element, "src");

    bench->sink = gst_pad_new(NULL, GST_PAD_SINK);
    gst_pad_set_chain_function(bench->sink, take);
    gst_pad_set_event_function(bench->sink, heed);
    gst_pad_set_element_private(bench->sink, bench);
    gst_pad_set_active(bench->sink, TRUE);
    gst_pad_link(peer, bench->sink);
    gst_object_unref(peer);
}

/* ---- measuring ---- */

static guint64 scored(Bench *bench)
{
    GstStructure *stats;
    guint64 n = 0;

    g_object_get(bench->element, "stats", &stats, NULL);
    gst_structure_get_uint64(stats, "scored", &n);
    gst_structure_free(stats);
    return n;
}

static void wait_for_warm_up(Bench *bench)
{
    guint64 before;

    do {
        before = scored(bench);
        g_usleep(QUIET_US);
    } while (!before || scored(bench) != before);
}

static void bench_open(Bench *bench, char **clips, const char *threads, const char *features,
                       const char *model)
{
    bench->element = gst_element_factory_make("hipvmaf", NULL);
    must(bench->element != NULL, "no element hipvmaf: set GST_PLUGIN_PATH");
    gst_object_ref_sink(bench->element);
    gst_util_set_object_arg(G_OBJECT(bench->element), "backend", "cpu");
    gst_util_set_object_arg(G_OBJECT(bench->element), "threads", threads);
    g_object_set(bench->element, "features", features, "model-filename", model, NULL);
    sink_open(bench);
    gst_element_set_state(bench->element, GST_STATE_PLAYING);
    source_open(bench, &bench->source[0], clips[0], "ref_sink");
    source_open(bench, &bench->source[1], clips[1], "dist_sink");
}

static void bench_close(Bench *bench)
{
    gst_element_set_state(bench->element, GST_STATE_NULL);
    for (unsigned i = 0; i < 2; i++) {
        g_thread_join(bench->source[i].thread);
        gst_caps_unref(bench->source[i].caps);
        gst_object_unref(bench->source[i].pad);
    }
    gst_object_unref(bench->element);
    for (unsigned i = 0; i < 2; i++) {
        g_ptr_array_unref(bench->source[i].buffers);
        g_free(bench->source[i].clip);
    }
    gst_object_unref(bench->sink);
}

static void measure(Bench *bench, gboolean warm_up)
{
    for (unsigned i = 0; i < 2; i++)
        bench->source[i].thread = g_thread_new("source", feed, &bench->source[i]);
    if (warm_up)
        wait_for_warm_up(bench);
    gint64 start = g_get_monotonic_time();
    announce(&bench->lock, &bench->changed, &bench->warm);
    wait_for(&bench->lock, &bench->changed, &bench->ended);
    double seconds = (double)(g_get_monotonic_time() - start) / 1e6;
    must(scored(bench) == bench->source[0].frames, "not everything was scored");
    printf("frames=%u seconds=%.6f\n", bench->source[0].frames - WARM_UP, seconds);
}

int main(int argc, char **argv)
{
    Bench bench = {0};

    if (argc < 8) {
        fprintf(stderr,
                "usage: pipebench REF DIST WIDTH HEIGHT BITS THREADS FEATURES [MODEL [FRAMES]]\n"
                "Clips are raw planar 4:2:0; FRAMES: push so many, with no warm-up,\n"
                "where instructions are counted.\n");
        return 2;
    }
    gst_init(NULL, NULL);
    gst_video_info_set_format(
        &bench.info, strcmp(argv[5], "8") ? GST_VIDEO_FORMAT_I420_10LE : GST_VIDEO_FORMAT_I420,
        (guint)atoi(argv[3]), (guint)atoi(argv[4]));
    GST_VIDEO_INFO_FPS_N(&bench.info) = RATE;
    bench_open(&bench, argv + 1, argv[6], argv[7], argc > 8 ? argv[8] : "");
    for (unsigned i = 0; argc > 9 && i < 2; i++)
        bench.source[i].frames = MIN(bench.source[i].frames, (unsigned)atoi(argv[9]));
    measure(&bench, argc <= 9);
    bench_close(&bench);
    return 0;
}
