/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A thread that waits for a device: see waiter.h. */
#include "waiter.h"

#include "kernels/common/lock.h"

struct HvWaiter {
    HvRuntime runtime;
    int device;

    HvLock turn; /* held by the caller whose call it is */
    HvLock lock; /* for all below */
    HvCond change;
    unsigned holders; /* the owner and the thread; the last one frees */
    int (*wait)(void *);
    void *object;
    int status;
    gboolean due, done, lost, quit; /* `lost`: a call did not come back in time */
};

/* Under the lock, which is released. */
static void let_go(HvWaiter *waiter)
{
    gboolean last = --waiter->holders == 0;
    hv_unlock(&waiter->lock);
    if (!last)
        return;
    hv_cond_clear(&waiter->change);
    hv_lock_clear(&waiter->lock);
    hv_lock_clear(&waiter->turn);
    g_free(waiter);
}

static void *waiter_main(void *data)
{
    HvWaiter *waiter = data;
    hv_lock(&waiter->lock);
    while (!waiter->quit) {
        if (!waiter->due) {
            hv_cond_wait(&waiter->change, &waiter->lock);
            continue;
        }
        waiter->due = FALSE;
        int (*wait)(void *) = waiter->wait;
        void *object = waiter->object;
        hv_unlock(&waiter->lock);
        int status = wait(object);
        hv_lock(&waiter->lock);
        waiter->status = status;
        waiter->done = TRUE;
        hv_cond_broadcast(&waiter->change);
    }
    let_go(waiter);
    return NULL;
}

HvWaiter *hv_waiter_new(const HvRuntime *runtime, int device, GError **error)
{
    HvWaiter *waiter = g_new0(HvWaiter, 1);
    pthread_t thread;
    waiter->runtime = *runtime;
    waiter->device = device;
    waiter->holders = 2;
    hv_lock_init(&waiter->turn);
    hv_lock_init(&waiter->lock);
    hv_cond_init(&waiter->change);
    if (hv_thread_start(&thread, "hv-gpu-wait", waiter_main, waiter, error)) {
        pthread_detach(thread);
        return waiter;
    }
    waiter->holders = 1;
    hv_waiter_free(waiter);
    return NULL;
}

static void wait_done(HvWaiter *waiter, gint64 until)
{
    while (!waiter->done && !waiter->lost)
        if (!hv_cond_wait_until(&waiter->change, &waiter->lock, until))
            waiter->lost = !waiter->done;
}

gboolean hv_waiter_wait(HvWaiter *waiter, int (*wait)(void *), void *object, gint64 timeout_us,
                        int *status)
{
    hv_lock(&waiter->turn);
    hv_lock(&waiter->lock);
    waiter->wait = wait;
    waiter->object = object;
    waiter->due = !waiter->lost;
    waiter->done = FALSE;
    hv_cond_broadcast(&waiter->change);
    wait_done(waiter, g_get_monotonic_time() + timeout_us);
    gboolean answered = !waiter->lost;
    *status = waiter->status;
    hv_unlock(&waiter->lock);
    hv_unlock(&waiter->turn);
    return answered;
}

static int set_device(void *data)
{
    const HvWaiter *waiter = data;
    return waiter->runtime.set_device(waiter->device);
}

gboolean hv_waiter_enter(HvWaiter *waiter, gint64 timeout_us, int *status)
{
    return hv_waiter_wait(waiter, set_device, waiter, timeout_us, status);
}

void hv_waiter_free(HvWaiter *waiter)
{
    if (!waiter)
        return;
    hv_lock(&waiter->lock);
    waiter->quit = TRUE;
    hv_cond_broadcast(&waiter->change);
    let_go(waiter);
}
