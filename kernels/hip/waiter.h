/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A thread that waits for a device in its caller's place, so that the caller can give up on one
 * that never answers. */
#ifndef HV_WAITER_H
#define HV_WAITER_H

#include "kernels/hip/runtime.h"

typedef struct HvWaiter HvWaiter;

/* NULL and an error when the system grants no further thread. */
HvWaiter *hv_waiter_new(const HvRuntime *runtime, int device, GError **error);

/* Sets the device for the thread, once and for all. As hv_waiter_wait(). */
gboolean hv_waiter_enter(HvWaiter *waiter, gint64 timeout_us, int *status);

/* Calls wait(object), a function of the runtime's, and puts into `status` what it returned. FALSE
 * where `timeout_us` microseconds passed before it did; it may still be in there then, and this
 * waiter is good for nothing more. From any thread; calls take turns. */
gboolean hv_waiter_wait(HvWaiter *waiter, int (*wait)(void *), void *object, gint64 timeout_us,
                        int *status);

/* Waits for nothing: a call that does not come back keeps what it needs. Nothing for NULL. */
void hv_waiter_free(HvWaiter *waiter);

#endif
