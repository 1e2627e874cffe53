/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a kernel: blocks one after the other in random order, the threads of a block as fibers that
 * change only at barriers, between two barriers in random order. The compiler calls the hooks at
 * the end for every access to memory. */
#define _GNU_SOURCE
#include "emulator.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_THREADS 1024
#define STACK       ((size_t)64 << 10)
#define GUARD       ((size_t)4096)

EmuDim threadIdx, blockIdx, blockDim, gridDim;
unsigned warpSize;
void emu_barrier(const char *file, unsigned line);

/* Where all kernels' __shared__ variables are. */
extern char __start_emu_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_emu_shared[] __attribute__((weak, visibility("hidden")));

/* A fiber runs one thread after another, until one waits at a barrier: then it is that thread's. */
typedef struct Fiber {
    void *stack_pointer;
    unsigned thread;
} Fiber;

/* The last store and load of a byte of shared memory: epoch << 16 | thread. */
typedef struct Trace {
    uint64_t stored, loaded;
} Trace;
#define ATOMICALLY 0xfffeu
#define SEVERAL    0xffffu

static struct {
    const EmuLaunch *launch;
    void *arguments[EMU_MAX_ARGUMENTS];
    unsigned threads, started, stride, first;
    uint64_t epoch, block_epoch; /* counts barriers, over all blocks */
    unsigned thread;
    Fiber *fiber;               /* that runs */
    void *scheduler;            /* its stack pointer */
    Fiber *parked[MAX_THREADS]; /* by thread */
    unsigned waiting;
    const char *barrier_file;
    unsigned barrier_line;
    bool given_up;
} now;

static char *stacks;
static Fiber fibers[MAX_THREADS];
static Fiber *idle[MAX_THREADS];
static unsigned n_idle, n_fibers;
static Trace *traces;
static uintptr_t image[2]; /* of this library */

#if defined __x86_64__
/* Keeps what a call keeps, and goes on with the other stack. */
void emu_switch(void **save, void *load) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".hidden emu_switch\n"
        ".globl emu_switch\n"
        "emu_switch:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
        "ret\n"
        ".popsection\n");

static void fiber_main(void);

static void *fiber_start(char *top)
{
    void **at = (void **)top;
    *--at = NULL; /* as after a call: the stack is 8 off a multiple of 16 */
    *--at = (void *)fiber_main;
    for (unsigned i = 0; i < 6; i++)
        *--at = NULL;
    return at;
}
#else
#include <ucontext.h>
static void fiber_main(void);

static void emu_switch(void **save, void *load)
{
    ucontext_t here;
    *save = &here;
    swapcontext(&here, load);
}

static void *fiber_start(char *top)
{
    ucontext_t *context = (ucontext_t *)(top - sizeof *context - 64);
    getcontext(context);
    context->uc_stack.ss_sp = top - STACK + GUARD;
    context->uc_stack.ss_size = STACK - GUARD - sizeof *context - 128;
    context->uc_link = NULL;
    makecontext(context, fiber_main, 0);
    return context;
}
#endif

static size_t shared_size(void)
{
    return (size_t)(__stop_emu_shared - __start_emu_shared);
}

/* Where this library is: the kernels' tables of constants, threadIdx and its like. */
static int find_own_image(struct dl_phdr_info *info, size_t size, void *user)
{
    uintptr_t *own = user, end = 0, self = (uintptr_t)find_own_image;
    bool mine = false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        mine |= self - start < part->p_memsz;
        end = start + part->p_memsz;
    }
    own[0] = info->dlpi_addr;
    own[1] = end;
    return mine;
}

static void grid_ready(void)
{
    if (stacks)
        return;
    stacks = mmap(NULL, MAX_THREADS * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    traces = calloc(shared_size() + 1, sizeof *traces);
    if (stacks == MAP_FAILED || !traces)
        abort();
    dl_iterate_phdr(find_own_image, image);
    for (unsigned i = 0; i < MAX_THREADS; i++)
        mprotect(stacks + i * STACK, GUARD, PROT_NONE);
}

static void fiber_reset(Fiber *fiber)
{
    fiber->stack_pointer = fiber_start(stacks + ((size_t)(fiber - fibers) + 1) * STACK);
}

static Fiber *fiber_take(void)
{
    if (n_idle)
        return idle[--n_idle];
    Fiber *fiber = &fibers[n_fibers++];
    fiber_reset(fiber);
    return fiber;
}

static void become(unsigned thread)
{
    now.thread = thread;
    threadIdx.x = thread % blockDim.x;
    threadIdx.y = thread / blockDim.x % blockDim.y;
    threadIdx.z = thread / blockDim.x / blockDim.y;
}

static unsigned in_order(unsigned i)
{
    return (unsigned)((now.first + (uint64_t)i * now.stride) % now.threads);
}

static void fiber_main(void)
{
    for (;;) {
        Fiber *self = now.fiber;
        while (now.started < now.threads) {
            self->thread = in_order(now.started++);
            become(self->thread);
            now.launch->kernel->call(now.arguments);
        }
        idle[n_idle++] = self;
        emu_switch(&self->stack_pointer, now.scheduler);
    }
}

static void resume(Fiber *fiber)
{
    now.fiber = fiber;
    emu_switch(&now.scheduler, fiber->stack_pointer);
}

void emu_barrier(const char *file, unsigned line)
{
    if (now.waiting && (now.barrier_line != line || strcmp(now.barrier_file, file)))
        emu_violation("waits at the barrier in line %u while others wait at that in line %u", line,
                      now.barrier_line);
    now.barrier_file = file;
    now.barrier_line = line;
    now.waiting++;
    now.parked[now.thread] = now.fiber;
    Fiber *self = now.fiber;
    emu_switch(&self->stack_pointer, now.scheduler);
}

static unsigned common_divisor(unsigned a, unsigned b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Every number below n once: first + i * stride. */
static void shuffle(unsigned n, unsigned *first, unsigned *stride)
{
    *first = (unsigned)(emu_random() % n);
    do
        *stride = 1 + (unsigned)(emu_random() % n);
    while (common_divisor(*stride, n) != 1);
}

static void run_block(void)
{
    now.block_epoch = ++now.epoch;
    now.started = now.waiting = 0;
    memset(now.parked, 0, now.threads * sizeof *now.parked);
    shuffle(now.threads, &now.first, &now.stride);
    while (now.started < now.threads && !now.given_up)
        resume(fiber_take());
    while (now.waiting && !now.given_up) {
        now.epoch++;
        now.waiting = 0;
        Fiber *passed[MAX_THREADS];
        memcpy(passed, now.parked, now.threads * sizeof *passed);
        memset(now.parked, 0, now.threads * sizeof *now.parked);
        shuffle(now.threads, &now.first, &now.stride);
        for (unsigned i = 0; i < now.threads && !now.given_up; i++) {
            unsigned thread = in_order(i);
            if (!passed[thread])
                continue;
            become(thread);
            resume(passed[thread]);
        }
    }
}

bool emu_grid_run(const EmuLaunch *launch)
{
    grid_ready();
    now.launch = launch;
    now.given_up = false;
    gridDim = launch->grid;
    blockDim = launch->block;
    warpSize = launch->wavefront;
    now.threads = launch->block.x * launch->block.y * launch->block.z;
    for (unsigned i = 0; i < launch->kernel->n_arguments; i++)
        now.arguments[i] = (void *)&launch->value[i];
    unsigned blocks = gridDim.x * gridDim.y * gridDim.z, first, stride;
    shuffle(blocks, &first, &stride);
    for (unsigned i = 0; i < blocks && !now.given_up; i++) {
        unsigned block = (unsigned)((first + (uint64_t)i * stride) % blocks);
        blockIdx.x = block % gridDim.x;
        blockIdx.y = block / gridDim.x % gridDim.y;
        blockIdx.z = block / gridDim.x / gridDim.y;
        run_block();
    }
    now.launch = NULL;
    emu_launches++;
    return !now.given_up;
}

const char *emu_grid_where(void)
{
    static char text[160];
    if (!now.launch)
        return NULL;
    snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)",
             now.launch->kernel->name, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
             threadIdx.z);
    return text;
}

int emu_grid_device(void)
{
    return now.launch->device;
}

void emu_grid_abandon(void)
{
    now.given_up = true;
    n_fibers = n_idle = 0; /* no fiber goes on */
    void *never;
    emu_switch(&never, now.scheduler);
    abort();
}

static void no_barrier(unsigned other, const char *did)
{
    char who[32] = "several threads";
    if (other < now.threads)
        snprintf(who, sizeof who, "thread %u", other);
    emu_violation("no barrier since %s %s this __shared__ memory", who, did);
}

/* Shared memory: no thread may see another's store, nor overwrite what another used, without a
 * barrier between; and nothing is there before this block stored it. */
static void shared_access(size_t at, size_t size, EmuAccess access)
{
    for (Trace *trace = traces + at; trace < traces + at + size; trace++) {
        uint64_t stored = trace->stored, loaded = trace->loaded;
        unsigned by = stored & 0xffff, reader = loaded & 0xffff;
        if (access != EMU_STORE && stored >> 16 < now.block_epoch)
            emu_violation("loads __shared__ memory that its block has not stored");
        if (stored >> 16 == now.epoch && by != now.thread &&
            !(by == ATOMICALLY && access == EMU_ATOMIC))
            no_barrier(by, "stored");
        if (access != EMU_LOAD && loaded >> 16 == now.epoch && reader != now.thread)
            no_barrier(reader, "loaded");
        if (access == EMU_LOAD)
            trace->loaded =
                now.epoch << 16 |
                (loaded >> 16 == now.epoch && (loaded & 0xffff) != now.thread ? SEVERAL
                                                                              : now.thread);
        else
            trace->stored = now.epoch << 16 | (access == EMU_ATOMIC ? ATOMICALLY : now.thread);
    }
}

bool emu_grid_is_own(uintptr_t address, size_t size, EmuAccess access)
{
    uintptr_t at = address - (uintptr_t)__start_emu_shared;
    if (at < shared_size() && size <= shared_size() - at) {
        shared_access(at, size, access);
        return true;
    }
    if (address - (uintptr_t)stacks < MAX_THREADS * STACK)
        return true;
    return access == EMU_LOAD && address >= image[0] && address + size <= image[1];
}

/* The hooks that -fsanitize=thread puts before every access. */
#define HOOK(name, size, access)                                                                   \
    void __tsan_##name(uintptr_t address);                                                         \
    void __tsan_##name(uintptr_t address)                                                          \
    {                                                                                              \
        emu_memory_access(address, size, access);                                                  \
    }
HOOK(read1, 1, EMU_LOAD)
HOOK(read2, 2, EMU_LOAD)
HOOK(read4, 4, EMU_LOAD)
HOOK(read8, 8, EMU_LOAD)
HOOK(read16, 16, EMU_LOAD)
HOOK(write1, 1, EMU_STORE)
HOOK(write2, 2, EMU_STORE)
HOOK(write4, 4, EMU_STORE)
HOOK(write8, 8, EMU_STORE)
HOOK(write16, 16, EMU_STORE)

void __tsan_read_range(uintptr_t address, size_t size);
void __tsan_read_range(uintptr_t address, size_t size)
{
    emu_memory_access(address, size, EMU_LOAD);
}

void __tsan_write_range(uintptr_t address, size_t size);
void __tsan_write_range(uintptr_t address, size_t size)
{
    emu_memory_access(address, size, EMU_STORE);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

/* What C does not define, and GPUs do each in their own way. */
typedef struct Place {
    const char *file;
    uint32_t line, column;
} Place;
#define UNDEFINED(name, what)                                                                      \
    void __ubsan_handle_##name(const Place *place);                                                \
    void __ubsan_handle_##name(const Place *place)                                                 \
    {                                                                                              \
        emu_violation("%s, %s:%u", what, place->file, place->line);                                \
    }
UNDEFINED(shift_out_of_bounds, "a shift by a count that is out of range")
UNDEFINED(add_overflow, "an addition overflows")
UNDEFINED(sub_overflow, "a subtraction overflows")
UNDEFINED(mul_overflow, "a multiplication overflows")
UNDEFINED(negate_overflow, "a negation overflows")
UNDEFINED(divrem_overflow, "a division by zero, or one that overflows")
UNDEFINED(out_of_bounds, "an index is out of bounds")
UNDEFINED(float_cast_overflow, "a float is converted to an integer that cannot hold it")
UNDEFINED(type_mismatch_v1, "a misaligned access")
