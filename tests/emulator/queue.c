/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams: work waits in them until something waits for it, and then runs in one of the orders that
 * events and streams allow. HIP_EMULATOR_ORDER=random also runs some of it early. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static EmuStream *streams;
static EmuEvent *events;
int emu_device_error[EMU_MAX_DEVICES];

static void event_unref(EmuEvent *event)
{
    if (--event->refs)
        return;
    for (EmuEvent **at = &events; *at; at = &(*at)->next) {
        if (*at == event) {
            *at = event->next;
            break;
        }
    }
    free(event);
}

EmuEvent *emu_event_new(int device)
{
    EmuEvent *event = calloc(1, sizeof *event);
    event->device = device;
    event->refs = 1;
    event->next = events;
    events = event;
    emu_object_made("events");
    return event;
}

void emu_event_destroy(EmuEvent *event)
{
    event->destroyed = true;
    event_unref(event); /* work that marks or awaits it holds it yet */
    emu_object_gone("events");
}

bool emu_event_exists(const EmuEvent *event)
{
    const EmuEvent *at = events;
    while (at && at != event)
        at = at->next;
    return at && !at->destroyed;
}

EmuStream *emu_stream_new(int device)
{
    EmuStream *stream = calloc(1, sizeof *stream);
    stream->device = device;
    stream->next = streams;
    streams = stream;
    emu_object_made("streams");
    return stream;
}

void emu_stream_free(EmuStream *stream)
{
    emu_wait_stream(stream);
    for (EmuStream **at = &streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    for (EmuEvent *event = events; event; event = event->next)
        if (event->stream == stream)
            event->stream = NULL;
    free(stream);
    emu_object_gone("streams");
}

bool emu_stream_exists(const EmuStream *stream)
{
    const EmuStream *at = streams;
    while (at && at != stream)
        at = at->next;
    return at != NULL;
}

static void run_copy(EmuStream *stream, const EmuWork *work)
{
    for (size_t y = 0; y < work->copy.rows; y++) {
        uintptr_t to = work->copy.to + y * work->copy.to_pitch;
        uintptr_t from = work->copy.from + y * work->copy.from_pitch;
        /* Freed since the call? */
        if (emu_memory_near(to) && !emu_memory_at(to, work->copy.row))
            emu_violation("a copy or fill runs into %s", emu_memory_describe(to, work->copy.row));
        else if (work->kind == EMU_FILL)
            memset((void *)to, work->value, work->copy.row);
        else if (emu_memory_near(from) && !emu_memory_at(from, work->copy.row))
            emu_violation("a copy reads %s", emu_memory_describe(from, work->copy.row));
        else
            memmove((void *)to, (void *)from, work->copy.row);
        emu_memory_wrote(to, work->copy.row);
    }
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void run_first(EmuStream *stream)
{
    EmuWork *work = stream->first;
    stream->first = work->next;
    if (!stream->first)
        stream->last = NULL;
    if (work->kind == EMU_RECORD || work->kind == EMU_WAIT) {
        EmuEvent *event = work->mark.event;
        if (work->kind == EMU_RECORD && event->done < work->mark.count) {
            event->done = work->mark.count;
            event->time = now_ms();
        }
        event_unref(event);
    } else if (work->kind == EMU_LAUNCH) {
        if (!emu_device_error[stream->device] && !emu_grid_run(&work->launch))
            emu_device_error[stream->device] = 700;
    } else {
        run_copy(stream, work);
    }
    if (work->instance)
        work->instance->queued--;
    free(work);
}

static bool can_run(const EmuStream *stream)
{
    const EmuWork *first = stream->first;
    return first && (first->kind != EMU_WAIT || first->mark.event->done >= first->mark.count);
}

/* Not a later record of the same event, which may itself have to wait. */
static bool is_awaited_record(const EmuWork *work, const EmuWork *wait)
{
    return work->kind == EMU_RECORD && work->mark.event == wait->mark.event &&
           work->mark.count == wait->mark.count;
}

/* The stream whose first work has to run before this stream's can. An event that is awaited was
 * recorded in a stream before, so this ends. */
static EmuStream *needed_first(EmuStream *stream)
{
    while (!can_run(stream)) {
        const EmuWork *wait = stream->first;
        EmuStream *other = streams;
        for (; other; other = other->next) {
            const EmuWork *work = other->first;
            while (work && !is_awaited_record(work, wait))
                work = work->next;
            if (work)
                break;
        }
        if (!other)
            abort();
        stream = other;
    }
    return stream;
}

static EmuStream *any_runnable(const EmuStream *but)
{
    unsigned n = 0;
    EmuStream *chosen = NULL;
    for (EmuStream *stream = streams; stream; stream = stream->next)
        if (stream != but && can_run(stream) && emu_random() % ++n == 0)
            chosen = stream;
    return chosen;
}

/* Runs work until `stream` has `left` pieces: only what those ahead need, or others' in between,
 * or all others' before. */
typedef enum Policy { LATE, MIXED, OTHERS_FIRST } Policy;
static void run_one_for(EmuStream *stream, Policy policy)
{
    EmuStream *other = NULL;
    if (policy != LATE)
        other = any_runnable(policy == OTHERS_FIRST ? stream : NULL);
    run_first(other ? other : needed_first(stream));
}

static Policy choose(void)
{
    unsigned dice = (unsigned)(emu_random() % 8);
    return dice < 4 ? LATE : dice < 7 ? MIXED : OTHERS_FIRST;
}

void emu_wait_stream(EmuStream *stream)
{
    Policy policy = choose();
    if (!stream->first)
        return;
    emu_memory_open();
    while (stream->first)
        run_one_for(stream, policy);
    emu_memory_close();
}

/* The stream in which the event's latest record still waits. */
static EmuStream *records(const EmuEvent *event)
{
    for (EmuStream *stream = streams; stream; stream = stream->next)
        for (const EmuWork *work = stream->first; work; work = work->next)
            if (work->kind == EMU_RECORD && work->mark.event == event &&
                work->mark.count == event->recorded)
                return stream;
    return NULL;
}

void emu_wait_event(EmuEvent *event)
{
    Policy policy = choose();
    EmuStream *stream = records(event);
    if (!stream || event->done >= event->recorded)
        return;
    emu_memory_open();
    while (event->done < event->recorded)
        run_one_for(stream, policy);
    emu_memory_close();
}

void emu_wait_device(int device)
{
    for (EmuStream *stream = streams; stream; stream = stream->next)
        if (device < 0 || stream->device == device)
            emu_wait_stream(stream);
}

void emu_progress(void)
{
    EmuStream *stream = emu_random() % 2 ? any_runnable(NULL) : NULL;
    if (!stream)
        return;
    emu_memory_open();
    run_first(stream);
    emu_memory_close();
}

void emu_queue(EmuStream *stream, const EmuWork *work)
{
    if (stream->capture) {
        emu_graph_add(stream->capture, work);
        return;
    }
    EmuWork *copy = malloc(sizeof *copy);
    *copy = *work;
    copy->next = NULL;
    if (copy->instance)
        copy->instance->queued++;
    if (copy->kind == EMU_RECORD)
        copy->mark.count = ++copy->mark.event->recorded;
    else if (copy->kind == EMU_WAIT)
        copy->mark.count = copy->mark.event->recorded;
    if (copy->kind == EMU_RECORD || copy->kind == EMU_WAIT)
        copy->mark.event->refs++;
    *(stream->last ? &stream->last->next : &stream->first) = copy;
    stream->last = copy;
    if (!strcmp(emu_setting("HIP_EMULATOR_ORDER", "late"), "random"))
        emu_progress();
}
