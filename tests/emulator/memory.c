/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The emulator's memory: one reserved range of addresses, in which every allocation of a device and
 * every pinned one stands between guard pages. The host cannot touch a device's pages but while
 * work runs. Addresses are not used again while others are left, so that late uses show. */
#define _GNU_SOURCE
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE   ((size_t)4096)
#define RANGE  ((size_t)1 << 36)
#define SLOT   16 /* bits: allocations begin at multiples of 64 KiB */
#define SLOTS  (RANGE >> SLOT)
#define POISON 0xa5

static uintptr_t range;
static EmuMemory **slots;   /* by address, freed ones too */
static EmuMemory *memories; /* those not freed */
static EmuMemory *remains;  /* freed ones, for naming who comes too late */
static size_t next_slot, used[EMU_MAX_DEVICES];
static bool check_written;

static bool range_ready(void)
{
    if (range)
        return true;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *all = mmap(NULL, RANGE, PROT_NONE, flags, -1, 0);
    void *table = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (all == MAP_FAILED || table == MAP_FAILED)
        return false;
    range = (uintptr_t)all;
    slots = table;
    check_written = strcmp(emu_setting("HIP_EMULATOR_INITCHECK", "1"), "0") != 0;
    return true;
}

static void unlink_memory(EmuMemory **list, EmuMemory *memory)
{
    for (EmuMemory **at = list; *at; at = &(*at)->next) {
        if (*at == memory) {
            *at = memory->next;
            break;
        }
    }
}

/* The first of `count` slots that are free; those freed longest ago are taken when all were used
 * once. SLOTS when there are none. */
static size_t take_slots(size_t count)
{
    for (size_t tried = 0, run = 0; tried < 2 * SLOTS; tried++, next_slot++) {
        if (next_slot >= SLOTS)
            next_slot = run = 0;
        EmuMemory *there = slots[next_slot];
        run = there && !there->freed ? 0 : run + 1;
        if (run < count)
            continue;
        size_t first = ++next_slot - count;
        for (size_t i = first; i < first + count; i++) {
            EmuMemory *old = slots[i];
            if (!old)
                continue;
            for (size_t j = (old->body - range) >> SLOT; j < SLOTS && slots[j] == old; j++)
                slots[j] = NULL;
            unlink_memory(&remains, old);
            free(old);
        }
        return first;
    }
    return SLOTS;
}

EmuMemory *emu_memory_new(size_t size, int device)
{
    if (!range_ready() || !size || size > RANGE / 4)
        return NULL;
    size_t body = (size + PAGE - 1) / PAGE * PAGE;
    size_t count = (body + 2 * PAGE + ((size_t)1 << SLOT) - 1) >> SLOT;
    size_t slot = take_slots(count);
    EmuMemory *memory = slot < SLOTS ? calloc(1, sizeof *memory) : NULL;
    if (!memory)
        return NULL;
    memory->body = range + (slot << SLOT) + PAGE;
    memory->body_size = body;
    /* Against the guard page at the end, as far as the alignment of 256 allows. */
    memory->base = memory->body + (body - size) / 256 * 256;
    memory->size = size;
    memory->device = device;
    if (mprotect((void *)memory->body, body, PROT_READ | PROT_WRITE)) {
        free(memory);
        return NULL;
    }
    memset((void *)memory->body, POISON, body);
    if (device != EMU_PINNED) {
        memory->written = mmap(NULL, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        mprotect((void *)memory->body, body, PROT_NONE);
        used[device] += size;
    }
    for (size_t i = slot; i < slot + count; i++)
        slots[i] = memory;
    memory->next = memories;
    memories = memory;
    return memory;
}

bool emu_memory_free(uintptr_t base, bool pinned)
{
    EmuMemory *memory = emu_memory_near(base);
    if (!memory || memory->freed || memory->base != base ||
        pinned != (memory->device == EMU_PINNED)) {
        emu_violation("%s of %s", pinned ? "hipHostFree" : "hipFree", emu_memory_describe(base, 1));
        return false;
    }
    memory->freed = true;
    unlink_memory(&memories, memory);
    memory->next = remains;
    remains = memory;
    madvise((void *)memory->body, memory->body_size, MADV_DONTNEED);
    mprotect((void *)memory->body, memory->body_size, PROT_NONE);
    if (memory->written) {
        munmap(memory->written, memory->size);
        used[memory->device] -= memory->size;
    }
    return true;
}

EmuMemory *emu_memory_near(uintptr_t address)
{
    return range && address - range < RANGE ? slots[(address - range) >> SLOT] : NULL;
}

EmuMemory *emu_memory_at(uintptr_t address, size_t size)
{
    EmuMemory *memory = emu_memory_near(address);
    bool inside = memory && !memory->freed && address >= memory->base && size <= memory->size &&
                  address - memory->base <= memory->size - size;
    return inside ? memory : NULL;
}

const char *emu_memory_describe(uintptr_t address, size_t size)
{
    static char text[160];
    const EmuMemory *memory = emu_memory_near(address);
    if (!memory) {
        snprintf(text, sizeof text, "%p, which is %s", (void *)address,
                 range && address - range < RANGE ? "no allocation" : "ordinary host memory");
        return text;
    }
    char owner[32] = "pinned host memory";
    if (memory->device != EMU_PINNED)
        snprintf(owner, sizeof owner, "device %d", memory->device);
    const char *freed = memory->freed ? "freed " : "";
    if (address < memory->base)
        snprintf(text, sizeof text, "%p, %zu bytes before a %s%zu-byte allocation of %s",
                 (void *)address, (size_t)(memory->base - address), freed, memory->size, owner);
    else
        snprintf(text, sizeof text, "%p, bytes %zu to %zu of a %s%zu-byte allocation of %s",
                 (void *)address, (size_t)(address - memory->base),
                 (size_t)(address - memory->base) + size - 1, freed, memory->size, owner);
    return text;
}

void emu_memory_wrote(uintptr_t address, size_t size)
{
    EmuMemory *memory = emu_memory_at(address, size);
    if (memory && memory->written)
        memset(memory->written + (address - memory->base), 1, size);
}

static void protect_all(int how)
{
    for (EmuMemory *memory = memories; memory; memory = memory->next)
        if (memory->device != EMU_PINNED)
            mprotect((void *)memory->body, memory->body_size, how);
}

void emu_memory_open(void)
{
    protect_all(PROT_READ | PROT_WRITE);
}

void emu_memory_close(void)
{
    protect_all(PROT_NONE);
}

size_t emu_memory_used(int device)
{
    return used[device];
}

unsigned emu_memory_leaks(void)
{
    unsigned leaks = 0;
    for (const EmuMemory *memory = memories; memory; memory = memory->next) {
        if (memory->device == EMU_PINNED)
            fprintf(stderr, "hip-emulator: leak: %zu bytes of pinned memory\n", memory->size);
        else
            fprintf(stderr, "hip-emulator: leak: %zu bytes of device %d\n", memory->size,
                    memory->device);
        leaks++;
    }
    return leaks;
}

/* Whether all those bytes were written; they are the allocation's. */
static inline bool was_written(const uint8_t *written, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!written[i])
            return false;
    return true;
}

void emu_memory_access(uintptr_t address, size_t size, EmuAccess access)
{
    static const char *const verb[] = {"loads", "stores", "changes"};
    EmuMemory *memory = emu_memory_at(address, size);
    if (memory && memory->device == EMU_PINNED)
        return;
    if (memory && memory->device == emu_grid_device()) {
        uint8_t *written = memory->written + (address - memory->base);
        if (access != EMU_STORE && check_written && !was_written(written, size))
            emu_violation("loads what nothing has written, %s", emu_memory_describe(address, size));
        if (access != EMU_LOAD)
            memset(written, 1, size);
        return;
    }
    if (emu_grid_is_own(address, size, access))
        return;
    emu_violation("%s %zu bytes at %s", verb[access], size, emu_memory_describe(address, size));
}
