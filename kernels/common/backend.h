/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where metrics can measure beside the CPU, as the meter sees it: something with a fixed number of
 * slots, each of which takes one pair at a time. kernels/hip implements it. */
#ifndef HV_BACKEND_H
#define HV_BACKEND_H

#include "error.h"
#include "picture.h"

typedef struct HvBackend HvBackend;

/* All of it called from the meter's thread, but for quiesce() and free(). Slots are used in turn,
 * each again only after its wait(). */
typedef struct HvBackendOps {
    /* Queues what brings the pair to the device. The pictures stay mapped until wait(). */
    gboolean (*stage)(HvBackend *backend, unsigned slot, const HvPicture *reference,
                      const HvPicture *distorted, GError **error);
    /* After the metrics have queued their work: marks its end. */
    gboolean (*seal)(HvBackend *backend, unsigned slot, GError **error);
    /* Waits for that end. After it, a metric's collect() finds its results. */
    gboolean (*wait)(HvBackend *backend, unsigned slot, GError **error);
    /* Waits for all that was queued, whether it fails or not: what metrics own can then be freed.
     */
    void (*quiesce)(HvBackend *backend);
    void (*free)(HvBackend *backend);
} HvBackendOps;

struct HvBackend {
    const HvBackendOps *ops;
    unsigned slots;
};

#endif
