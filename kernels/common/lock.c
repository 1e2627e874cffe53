/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mutex, condition and thread over pthread. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "lock.h"

#include <errno.h>
#include <time.h>

#include "error.h"

/* None of these calls fails but for a fault in this program or for want of memory. */
static void must(int rc, const char *what)
{
    if (G_UNLIKELY(rc != 0))
        g_error("%s: %s", what, g_strerror(rc));
}

void hv_lock_init(HvLock *lock)
{
    must(pthread_mutex_init(&lock->mutex, NULL), "pthread_mutex_init");
}

void hv_lock_clear(HvLock *lock)
{
    must(pthread_mutex_destroy(&lock->mutex), "pthread_mutex_destroy");
}

void hv_lock(HvLock *lock)
{
    must(pthread_mutex_lock(&lock->mutex), "pthread_mutex_lock");
}

void hv_unlock(HvLock *lock)
{
    must(pthread_mutex_unlock(&lock->mutex), "pthread_mutex_unlock");
}

void hv_cond_init(HvCond *cond)
{
    pthread_condattr_t attr;
    must(pthread_condattr_init(&attr), "pthread_condattr_init");
    must(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), "pthread_condattr_setclock");
    must(pthread_cond_init(&cond->cond, &attr), "pthread_cond_init");
    must(pthread_condattr_destroy(&attr), "pthread_condattr_destroy");
}

void hv_cond_clear(HvCond *cond)
{
    must(pthread_cond_destroy(&cond->cond), "pthread_cond_destroy");
}

void hv_cond_wait(HvCond *cond, HvLock *lock)
{
    must(pthread_cond_wait(&cond->cond, &lock->mutex), "pthread_cond_wait");
}

gboolean hv_cond_wait_until(HvCond *cond, HvLock *lock, gint64 until_us)
{
    struct timespec until = {until_us / G_USEC_PER_SEC, until_us % G_USEC_PER_SEC * 1000};
    int rc = pthread_cond_timedwait(&cond->cond, &lock->mutex, &until);
    if (rc == ETIMEDOUT)
        return FALSE;
    must(rc, "pthread_cond_timedwait");
    return TRUE;
}

void hv_cond_broadcast(HvCond *cond)
{
    must(pthread_cond_broadcast(&cond->cond), "pthread_cond_broadcast");
}

gboolean hv_thread_start(pthread_t *thread, const char *name, void *(*func)(void *), void *data,
                         GError **error)
{
    int rc = pthread_create(thread, NULL, func, data);
    if (rc) {
        g_set_error(error, HV_ERROR, HV_ERROR_MEMORY, "cannot start the thread %s: %s", name,
                    g_strerror(rc));
        return FALSE;
    }
    pthread_setname_np(*thread, name);
    return TRUE;
}
