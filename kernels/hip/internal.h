/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the files of kernels/hip share. */
#ifndef HV_HIP_INTERNAL_H
#define HV_HIP_INTERNAL_H

#include "hip.h"
#include "kernels/common/lock.h"
#include "runtime.h"
#include "waiter.h"

/* A range of memory that was allocated here. */
typedef struct HvRange {
    uint64_t begin;
    size_t bytes;
} HvRange;

struct HvHipKernel {
    const HvKernelInfo *info;
    void *function;
};

struct HvHip {
    gatomicrefcount refs;
    HvRuntime runtime;
    int device;
    char name[256], target[256];
    void **modules; /* one for each image */
    unsigned n_modules;
    HvHipKernel *kernels; /* in the order of hv_kernels */
    unsigned n_kernels;

    HvWaiter *waiter; /* NULL: waits have no end but the device's answer */
    gint64 timeout_us;
    gint silent; /* it gave no answer in that time: no call may be made any more */

    HvLock lock;                           /* for the two below */
    GArray *device_memory, *pinned_memory; /* of HvRange, by address */
};

#define HV_CALL(member) offsetof(HvRuntime, member)

/* Makes the device the calling thread's. FALSE and an error where that fails, or where the device
 * has stopped answering: then no call may follow, and what is to be freed is left as it is. */
gboolean hv_hip_enter(HvHip *hip, GError **error);

/* The same before something is freed: failures of the runtime do not matter then. */
gboolean hv_hip_enter_to_free(HvHip *hip);

/* TRUE where status is 0; else FALSE, and an error that says that `call` of the runtime failed
 * for `what` (NULL: nothing more to say), and why. */
gboolean hv_hip_check(const HvHip *hip, int status, size_t call, const char *what, GError **error);

/* Launches, fills and copies that the calling thread asked for since its latest
 * hv_hip_capture_begin(), refused and failed ones too: a graph is to have as many nodes. */
extern _Thread_local unsigned hv_hip_queued;

/* module.c: loads all code and finds all kernels. `log_size` bytes of what the driver's compiler
 * says become part of the error. */
gboolean hv_hip_load_kernels(HvHip *hip, GError **error);
void hv_hip_unload_kernels(HvHip *hip);

static inline void *hv_hip_pointer(HvDevice memory)
{
    return (void *)(uintptr_t)memory;
}

#endif
