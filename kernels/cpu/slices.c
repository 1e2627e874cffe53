/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that share the rows of one picture. Jobs are claimed with an atomic counter; a worker
 * enters and leaves a run under the lock, so a run need not wait for workers that woke too late to
 * find a job. */
#include "slices.h"

#include <stdatomic.h>

#include "kernels/common/lock.h"

typedef struct Worker {
    HvSlices *slices;
    unsigned number;
    pthread_t thread;
} Worker;

struct HvSlices {
    unsigned threads;
    Worker *workers; /* threads - 1 of them are threads of ours, numbered from 1 */
    unsigned started;

    HvLock lock;
    HvCond begun, left;
    gboolean open; /* a run may be entered */
    gboolean quit;
    unsigned inside; /* workers that have entered the run and not left it */
    guint64 run;     /* counts runs, so that a worker enters each only once */

    /* Of the current run; written while nobody is inside. */
    HvSliceFunc func;
    void *data;
    unsigned n_jobs;
    atomic_uint next;
};

static void work(HvSlices *slices, unsigned worker)
{
    unsigned job;
    while ((job = atomic_fetch_add_explicit(&slices->next, 1, memory_order_relaxed)) <
           slices->n_jobs)
        slices->func(slices->data, job, worker);
}

static void *worker_main(void *data)
{
    Worker *worker = data;
    HvSlices *slices = worker->slices;
    guint64 seen = 0;
    hv_lock(&slices->lock);
    while (!slices->quit) {
        if (!slices->open || slices->run == seen) {
            hv_cond_wait(&slices->begun, &slices->lock);
            continue;
        }
        seen = slices->run;
        slices->inside++;
        hv_unlock(&slices->lock);
        work(slices, worker->number);
        hv_lock(&slices->lock);
        if (--slices->inside == 0)
            hv_cond_broadcast(&slices->left);
    }
    hv_unlock(&slices->lock);
    return NULL;
}

HvSlices *hv_slices_new(unsigned threads, GError **error)
{
    HvSlices *slices = g_new0(HvSlices, 1);
    slices->threads = MAX(threads, 1);
    slices->workers = g_new0(Worker, slices->threads);
    hv_lock_init(&slices->lock);
    hv_cond_init(&slices->begun);
    hv_cond_init(&slices->left);
    for (unsigned i = 1; i < slices->threads; i++) {
        Worker *worker = &slices->workers[i];
        *worker = (Worker){.slices = slices, .number = i};
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

void hv_slices_run(HvSlices *slices, unsigned n_jobs, HvSliceFunc func, void *data)
{
    if (slices->threads == 1 || n_jobs < 2) {
        for (unsigned job = 0; job < n_jobs; job++)
            func(data, job, 0);
        return;
    }
    hv_lock(&slices->lock);
    slices->func = func;
    slices->data = data;
    slices->n_jobs = n_jobs;
    atomic_store_explicit(&slices->next, 0, memory_order_relaxed);
    slices->open = TRUE;
    slices->run++;
    hv_cond_broadcast(&slices->begun);
    hv_unlock(&slices->lock);

    work(slices, 0);

    hv_lock(&slices->lock);
    slices->open = FALSE;
    while (slices->inside)
        hv_cond_wait(&slices->left, &slices->lock);
    hv_unlock(&slices->lock);
}
