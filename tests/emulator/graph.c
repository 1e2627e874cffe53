/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Graphs: work that was captured in place of being queued. */
#include "emulator.h"

#include <stdlib.h>

static EmuGraph *graphs;

static const char *kind_of(const EmuGraph *graph)
{
    return graph->is_instance ? "instances of graphs" : "graphs";
}

static EmuGraph *make(int device, bool is_instance)
{
    EmuGraph *graph = calloc(1, sizeof *graph);
    graph->device = device;
    graph->is_instance = is_instance;
    graph->next = graphs;
    graphs = graph;
    emu_object_made(kind_of(graph));
    return graph;
}

EmuGraph *emu_graph_new(int device)
{
    return make(device, false);
}

void emu_graph_add(EmuGraph *graph, const EmuWork *work)
{
    EmuWork *copy = malloc(sizeof *copy);
    *copy = *work;
    copy->next = NULL;
    *(graph->last ? &graph->last->next : &graph->first) = copy;
    graph->last = copy;
    graph->nodes++;
}

EmuGraph *emu_graph_instance(const EmuGraph *graph)
{
    EmuGraph *instance = make(graph->device, true);
    for (const EmuWork *work = graph->first; work; work = work->next) {
        EmuWork of_instance = *work;
        of_instance.instance = instance;
        emu_graph_add(instance, &of_instance);
    }
    return instance;
}

void emu_graph_free(EmuGraph *graph)
{
    EmuGraph **at = &graphs;
    while (*at != graph)
        at = &(*at)->next;
    *at = graph->next;
    while (graph->first) {
        EmuWork *work = graph->first;
        graph->first = work->next;
        free(work);
    }
    emu_object_gone(kind_of(graph));
    free(graph);
}

bool emu_graph_exists(const EmuGraph *graph, bool is_instance)
{
    const EmuGraph *at = graphs;
    while (at && at != graph)
        at = at->next;
    return at && at->is_instance == is_instance;
}
