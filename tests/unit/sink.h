/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a meter under test is fed with, pairs of one value each, and the side that gets its results:
 * it counts callbacks, keeps scores, and can hold the meter up. */
#ifndef HV_TEST_SINK_H
#define HV_TEST_SINK_H

#include "kernels/common/lock.h"
#include "kernels/common/meter.h"

enum { SINK_SIDE = 16, SINK_MOST = 4096, SINK_NAMES = 8, FOREVER = -1 };
extern const HvFormat sink_format;

/* Lives until the meter and the test have let go of it. */
typedef struct Sink {
    HvLock lock;
    HvCond cond;
    unsigned n_names; /* set by the test from hv_meter_score_names() */
    unsigned n_scored, n_done, n_freed, n_failed, n_fell_back, n_broke, n_user_free;
    unsigned n_regained, n_refused; /* backends that were offered: put to use, or not */
    unsigned order[SINK_MOST];      /* the values of the pairs, as they were scored */
    double scores[SINK_MOST][SINK_NAMES];
    char *error;                 /* of the last failure */
    char *loss;                  /* the error with which the backend was given up */
    unsigned scored_before_loss; /* what n_scored was then */
    gboolean keeps;              /* pairs may be scored whose pictures are still in use */
    gboolean blocked;            /* scored() waits until this is FALSE */
    unsigned waiting;            /* scored() calls that do */
    unsigned accepted;           /* the lowest value that may still be scored */
} Sink;

/* For a meter whose user is a Sink, and whose pairs are of sink_pair(). */
extern const HvMeterCallbacks sink_callbacks;

Sink *sink_new(void);
/* After the meter's user_free(). */
void sink_free(Sink *sink);

void sink_block(Sink *sink, gboolean blocked);
/* Waits until one of the sink's counters has that value. */
void sink_await(Sink *sink, const unsigned *counter, unsigned value);

/* A pair of sink_format, the reference all `value`, the distorted picture all of one more. Its
 * memory is spoilt when the meter is done with the pictures, so that a metric that would still read
 * them measures nonsense. g_free() frees the owner of a pair that no meter took. */
HvPair sink_pair(Sink *sink, unsigned value);

/* The value that a picture is all of. */
unsigned sink_value(const HvPicture *picture);

#endif
