/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A HIP runtime for the tests, which runs the kernels on the CPU: what its parts share. README.md
 * says what it checks and how it is told what to do. Everything here is called with emu_lock held,
 * and one kernel runs at a time. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_MAX_ARGUMENTS 16
#define EMU_MAX_DEVICES   8
#define EMU_PINNED        (-1) /* in the place of a device: host memory that devices can reach */

/* One kernel, as the C++ compiler described it. */
typedef struct EmuKernel {
    const char *name;
    unsigned threads; /* of a block */
    unsigned n_arguments;
    struct {
        unsigned size;
        bool is_pointer;
    } argument[EMU_MAX_ARGUMENTS];
    void (*call)(void *const *arguments);
    struct EmuKernel *next;
} EmuKernel;

typedef struct EmuDim {
    unsigned x, y, z;
} EmuDim;

/* From the constructor of each file of kernels. */
void emu_register(EmuKernel *kernel);
const EmuKernel *emu_kernel_named(const char *name);

/* report.c: what a GPU would have punished, and what was never released. */

/* Says so, with the kernel and thread if one runs, and aborts; where HIP_EMULATOR_VIOLATIONS is
 * "continue", comes back (from within a kernel, it does not: the launch is given up). */
void emu_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t emu_random(void);
extern uint64_t emu_seed;
const char *emu_setting(const char *name, const char *otherwise);
void emu_object_made(const char *what);
void emu_object_gone(const char *what);
extern unsigned long emu_violations, emu_launches;

/* memory.c */
typedef struct EmuMemory {
    uintptr_t base;
    size_t size;
    int device; /* or EMU_PINNED */
    bool freed;
    uint8_t *written; /* a byte for each byte that was; device memory only */
    uintptr_t body;   /* pages that can be read and written */
    size_t body_size;
    struct EmuMemory *next;
} EmuMemory;

EmuMemory *emu_memory_new(size_t size, int device); /* NULL: out of memory */
bool emu_memory_free(uintptr_t base, bool pinned);
/* The allocation, freed or not, in whose surroundings the address is; else NULL. */
EmuMemory *emu_memory_near(uintptr_t address);
/* That which holds all of it and is not freed. */
EmuMemory *emu_memory_at(uintptr_t address, size_t size);
/* "12 bytes past a 400-byte allocation of device 0" and the like, in a static buffer. */
const char *emu_memory_describe(uintptr_t address, size_t size);
void emu_memory_wrote(uintptr_t address, size_t size);
void emu_memory_open(void); /* device memory becomes readable, for as long as work runs */
void emu_memory_close(void);
size_t emu_memory_used(int device);
unsigned emu_memory_leaks(void); /* says each */

typedef enum EmuAccess { EMU_LOAD, EMU_STORE, EMU_ATOMIC } EmuAccess;
/* Holds one access of the running kernel against what it may touch. */
void emu_memory_access(uintptr_t address, size_t size, EmuAccess access);

/* grid.c */
typedef struct EmuLaunch {
    const EmuKernel *kernel;
    EmuDim grid, block;
    int device;
    unsigned wavefront;
    uint64_t value[EMU_MAX_ARGUMENTS]; /* the arguments' bytes */
} EmuLaunch;

/* Runs all blocks; false when it was given up. */
bool emu_grid_run(const EmuLaunch *launch);
/* "kernel adm_dwt, block (1,2,0), thread 3" or NULL. */
const char *emu_grid_where(void);
int emu_grid_device(void);
/* Gives up the running launch; does not return. */
void emu_grid_abandon(void) __attribute__((noreturn));
bool emu_grid_is_own(uintptr_t address, size_t size, EmuAccess access); /* stack, __shared__ */

/* queue.c: streams and events. A wait runs what has to run. */
typedef struct EmuEvent {
    int device;
    uint64_t recorded, done; /* how many times */
    double time;             /* ms, of the last record that was done */
    unsigned refs;
    struct EmuStream *stream; /* of the last record */
    struct EmuEvent *next;
    bool destroyed;
} EmuEvent;

typedef enum EmuKind { EMU_COPY, EMU_FILL, EMU_LAUNCH, EMU_RECORD, EMU_WAIT } EmuKind;
typedef struct EmuWork {
    EmuKind kind;
    union {
        struct {
            uintptr_t to, from;
            size_t to_pitch, from_pitch, row, rows;
        } copy; /* also of a fill */
        EmuLaunch launch;
        struct {
            EmuEvent *event;
            uint64_t count;
        } mark;
    };
    uint8_t value;
    struct EmuGraph *instance; /* that queued it, or NULL */
    struct EmuWork *next;
} EmuWork;

/* graph.c: what a stream captures becomes a graph, and instances are made of that. */
typedef struct EmuGraph {
    int device;
    bool is_instance;
    EmuWork *first, *last;
    size_t nodes;
    unsigned queued; /* work of an instance that has not run yet */
    struct EmuGraph *next;
} EmuGraph;

EmuGraph *emu_graph_new(int device);
void emu_graph_add(EmuGraph *graph, const EmuWork *work);
EmuGraph *emu_graph_instance(const EmuGraph *graph);
void emu_graph_free(EmuGraph *graph);
bool emu_graph_exists(const EmuGraph *graph, bool is_instance);

typedef struct EmuStream {
    int device;
    EmuWork *first, *last;
    EmuGraph *capture;    /* what is queued goes there; or NULL */
    const void *capturer; /* the thread that began that */
    struct EmuStream *next;
} EmuStream;

EmuStream *emu_stream_new(int device);
void emu_stream_free(EmuStream *stream);
bool emu_stream_exists(const EmuStream *stream);
EmuEvent *emu_event_new(int device);
void emu_event_destroy(EmuEvent *event);
bool emu_event_exists(const EmuEvent *event);
void emu_queue(EmuStream *stream, const EmuWork *work);
/* Runs until the stream is empty, the event recorded, or the device idle (-1: all). */
void emu_wait_stream(EmuStream *stream);
void emu_wait_event(EmuEvent *event);
void emu_wait_device(int device);
/* What a query may find done: perhaps one more piece of work. */
void emu_progress(void);
/* An error that every later call of the device gets: a launch that was given up. */
extern int emu_device_error[EMU_MAX_DEVICES];

#ifdef __cplusplus
}
#endif
#endif
