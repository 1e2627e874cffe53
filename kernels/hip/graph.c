/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graphs, where the runtime has them. */
#include "internal.h"

/* Other threads may do meanwhile what they like. */
enum { THREAD_LOCAL = 1 };

_Thread_local unsigned hv_hip_queued;

gboolean hv_hip_capture_begin(HvHip *hip, HvHipStream *stream)
{
    hv_hip_queued = 0;
    return hip->runtime.capture_begin && hv_hip_enter(hip, NULL) &&
           !hip->runtime.capture_begin(stream, THREAD_LOCAL);
}

/* Nothing failed; and HIP has had functions that run at once what they should capture. */
static gboolean is_whole(const HvRuntime *runtime, void *graph)
{
    size_t nodes = 0;
    return !runtime->graph_nodes(graph, NULL, &nodes) && nodes >= hv_hip_queued;
}

HvHipGraph *hv_hip_capture_end(HvHip *hip, HvHipStream *stream)
{
    const HvRuntime *runtime = &hip->runtime;
    void *graph = NULL, *instance = NULL;
    if (!hv_hip_enter_to_free(hip) || runtime->capture_end(stream, &graph))
        return NULL;
    if (is_whole(runtime, graph) && runtime->graph_instantiate(&instance, graph, 0))
        instance = NULL;
    runtime->graph_destroy(graph);
    return instance;
}

gboolean hv_hip_graph_launch(HvHip *hip, HvHipGraph *graph, HvHipStream *stream, GError **error)
{
    return hv_hip_enter(hip, error) && hv_hip_check(hip, hip->runtime.graph_launch(graph, stream),
                                                    HV_CALL(graph_launch), NULL, error);
}

void hv_hip_graph_free(HvHip *hip, HvHipGraph *graph)
{
    if (graph && hv_hip_enter_to_free(hip))
        hip->runtime.instance_destroy(graph);
}
