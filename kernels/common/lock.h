/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Mutex, condition and thread over pthread, which ThreadSanitizer understands (GMutex and GCond are
 * futexes inside a GLib that it does not see). Conditions use the monotonic clock. */
#ifndef HV_LOCK_H
#define HV_LOCK_H

#include <glib.h>
#include <pthread.h>

typedef struct HvLock {
    pthread_mutex_t mutex;
} HvLock;

typedef struct HvCond {
    pthread_cond_t cond;
} HvCond;

void hv_lock_init(HvLock *lock);
void hv_lock_clear(HvLock *lock);
void hv_lock(HvLock *lock);
void hv_unlock(HvLock *lock);

void hv_cond_init(HvCond *cond);
void hv_cond_clear(HvCond *cond);
void hv_cond_wait(HvCond *cond, HvLock *lock);
/* FALSE once g_get_monotonic_time() has passed `until_us`. */
gboolean hv_cond_wait_until(HvCond *cond, HvLock *lock, gint64 until_us);
void hv_cond_broadcast(HvCond *cond);

/* Starts a thread, to be joined or detached by the caller; debuggers show the name's first 15
 * characters. FALSE and HV_ERROR_MEMORY when the system grants no further thread. */
gboolean hv_thread_start(pthread_t *thread, const char *name, void *(*func)(void *), void *data,
                         GError **error);

#endif
