/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the emulator has to say: violations, leaks, and the one line a process that tests read. */
#include "emulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t emu_seed;
unsigned long emu_violations, emu_launches;

static struct {
    const char *what;
    long alive;
} objects[8];

const char *emu_setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

uint64_t emu_random(void)
{
    static uint64_t state;
    if (!state) {
        const char *given = emu_setting("HIP_EMULATOR_SEED", NULL);
        emu_seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) ^ (uint64_t)getpid();
        state = emu_seed * 0x9e3779b97f4a7c15u + 1;
    }
    /* xorshift64* */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du >> 16;
}

static FILE *report_open(void)
{
    const char *path = emu_setting("HIP_EMULATOR_REPORT", NULL);
    return path ? fopen(path, "ae") : NULL;
}

static void say(const char *kind, const char *text)
{
    fprintf(stderr, "hip-emulator: %s: %s\n", kind, text);
    FILE *report = report_open();
    if (report) {
        fprintf(report, "%s: %s\n", kind, text);
        fclose(report);
    }
}

void emu_violation(const char *format, ...)
{
    char what[512], text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    const char *where = emu_grid_where();
    snprintf(text, sizeof text, "%s%s%s (HIP_EMULATOR_SEED=%llu)", where ? where : "",
             where ? ": " : "", what, (unsigned long long)emu_seed);
    say("violation", text);
    emu_violations++;
    if (strcmp(emu_setting("HIP_EMULATOR_VIOLATIONS", "abort"), "continue"))
        abort();
    if (where)
        emu_grid_abandon();
}

static long *alive(const char *what)
{
    unsigned i = 0;
    while (objects[i].what && strcmp(objects[i].what, what))
        i++;
    objects[i].what = what;
    return &objects[i].alive;
}

void emu_object_made(const char *what)
{
    ++*alive(what);
}

void emu_object_gone(const char *what)
{
    --*alive(what);
}

unsigned emu_leaks(void) __attribute__((visibility("default")));
/* Says what is not released; returns how many. Also for tests that look in between. */
unsigned emu_leaks(void)
{
    unsigned leaks = emu_memory_leaks();
    for (unsigned i = 0; objects[i].what; i++) {
        if (objects[i].alive <= 0)
            continue;
        char text[64];
        snprintf(text, sizeof text, "%ld %s", objects[i].alive, objects[i].what);
        say("leak", text);
        leaks += (unsigned)objects[i].alive;
    }
    return leaks;
}

__attribute__((destructor)) static void at_exit(void)
{
    unsigned leaks = emu_leaks();
    FILE *report = report_open();
    if (report) {
        fprintf(report, "exit: %lu launches, %lu violations, %u leaks\n", emu_launches,
                emu_violations, leaks);
        fclose(report);
    }
    if (leaks && !strcmp(emu_setting("HIP_EMULATOR_LEAKS", "report"), "abort"))
        abort();
}
