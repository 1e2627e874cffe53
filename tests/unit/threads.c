/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The linker leads all calls of pthread_create here (--wrap). */
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int granted = -1;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *),
                          void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *),
                          void *data);

void threads_grant(int n)
{
    granted = n;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *),
                          void *data)
{
    if (granted == 0)
        return EAGAIN;
    if (granted > 0)
        granted--;
    return __real_pthread_create(thread, attr, func, data);
}
