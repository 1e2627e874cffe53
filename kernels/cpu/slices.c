/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that share the rows of one picture. Jobs are claimed with an atomic counter; a worker
 * enters and leaves a run under the lock, so a run need not wait for workers that woke too late to
 * find a job. Before it sleeps, a thread looks for a moment whether what it waits for comes: frames
 * come in quick succession, and to be woken takes as long, on a virtual machine above all. */
#include "slices.h"

#include <stdatomic.h>

#include "kernels/common/lock.h"

enum { SPIN_US = 150 };

typedef struct Worker {
    HvSlices *slices;
    unsigned number;
    pthread_t thread;
} Worker;

struct HvSlices {
    unsigned threads;
    gboolean spins;
    Worker *workers; /* threads - 1 of them are threads of ours, numbered from 1 */
    unsigned started;

    HvLock lock;
    HvCond begun, left;
    gboolean open; /* the run may be entered */
    gboolean quit;
    /* Written under the lock; outside of it only a hint. */
    atomic_uint run;    /* counts runs, so that a worker enters each only once */
    atomic_uint inside; /* workers that have entered the run and not left it */

    /* Of the current run; written while nobody is inside. */
    HvSliceFunc func;
    void *data;
    unsigned n_jobs;
    atomic_uint next;
};

/* Looks at the counter until it is not `value` any more; FALSE when that takes long. */
static gboolean spin(const HvSlices *slices, const atomic_uint *counter, unsigned value)
{
    gint64 until = slices->spins ? g_get_monotonic_time() + SPIN_US : 0;
    while (atomic_load_explicit(counter, memory_order_relaxed) == value)
        if (g_get_monotonic_time() >= until)
            return FALSE;
    return TRUE;
}

static void work(HvSlices *slices, unsigned worker)
{
    unsigned job;
    while ((job = atomic_fetch_add_explicit(&slices->next, 1, memory_order_relaxed)) <
           slices->n_jobs)
        slices->func(slices->data, job, worker);
}

/* Waits for a run other than the one seen last; FALSE when there will be none. */
static gboolean enter(HvSlices *slices, unsigned *seen)
{
    spin(slices, &slices->run, *seen);
    hv_lock(&slices->lock);
    while (!slices->quit && (!slices->open || slices->run == *seen))
        hv_cond_wait(&slices->begun, &slices->lock);
    gboolean entered = !slices->quit;
    if (entered)
        slices->inside++;
    *seen = slices->run;
    hv_unlock(&slices->lock);
    return entered;
}

static void leave(HvSlices *slices)
{
    hv_lock(&slices->lock);
    if (--slices->inside == 0)
        hv_cond_broadcast(&slices->left);
    hv_unlock(&slices->lock);
}

static void *worker_main(void *data)
{
    Worker *worker = data;
    unsigned seen = 0;
    while (enter(worker->slices, &seen)) {
        work(worker->slices, worker->number);
        leave(worker->slices);
    }
    return NULL;
}

HvSlices *hv_slices_new(unsigned threads, GError **error)
{
    HvSlices *slices = g_new0(HvSlices, 1);
    slices->threads = MAX(threads, 1);
    slices->spins = slices->threads <= g_get_num_processors();
    slices->workers = g_new0(Worker, slices->threads);
    hv_lock_init(&slices->lock);
    hv_cond_init(&slices->begun);
    hv_cond_init(&slices->left);
    for (unsigned i = 1; i < slices->threads; i++) {
        Worker *worker = &slices->workers[i];
        worker->slices = slices;
        worker->number = i;
        if (!hv_thread_start(&worker->thread, "hv-slice", worker_main, worker, error)) {
            hv_slices_free(slices);
            return NULL;
        }
        slices->started++;
    }
    return slices;
}

void hv_slices_free(HvSlices *slices)
{
    if (!slices)
        return;
    hv_lock(&slices->lock);
    slices->quit = TRUE;
    hv_cond_broadcast(&slices->begun);
    hv_unlock(&slices->lock);
    for (unsigned i = 1; i <= slices->started; i++)
        pthread_join(slices->workers[i].thread, NULL);
    hv_cond_clear(&slices->left);
    hv_cond_clear(&slices->begun);
    hv_lock_clear(&slices->lock);
    g_free(slices->workers);
    g_free(slices);
}

unsigned hv_slices_threads(const HvSlices *slices)
{
    return slices->threads;
}

/* Lets the workers in. */
static void begin(HvSlices *slices, unsigned n_jobs, HvSliceFunc func, void *data)
{
    hv_lock(&slices->lock);
    slices->func = func;
    slices->data = data;
    slices->n_jobs = n_jobs;
    atomic_store_explicit(&slices->next, 0, memory_order_relaxed);
    slices->open = TRUE;
    slices->run++;
    hv_cond_broadcast(&slices->begun);
    hv_unlock(&slices->lock);
}

/* When every job is claimed: lets nobody in any more, and waits for those that are inside. */
static void end(HvSlices *slices)
{
    hv_lock(&slices->lock);
    slices->open = FALSE;
    hv_unlock(&slices->lock);

    unsigned inside;
    while ((inside = slices->inside) && spin(slices, &slices->inside, inside))
        ;
    hv_lock(&slices->lock);
    while (slices->inside)
        hv_cond_wait(&slices->left, &slices->lock);
    hv_unlock(&slices->lock);
}

void hv_slices_run(HvSlices *slices, unsigned n_jobs, HvSliceFunc func, void *data)
{
    if (slices->threads == 1 || n_jobs < 2) {
        for (unsigned job = 0; job < n_jobs; job++)
            func(data, job, 0);
        return;
    }
    begin(slices, n_jobs, func, data);
    work(slices, 0);
    end(slices);
}
