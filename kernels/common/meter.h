/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter: a bounded queue of picture pairs, measured by all requested metrics on a thread of
 * its own, results handed back in the order of submission.
 *
 * Threads: submit, try_submit, drain and drop may be called from any thread, one at a time for
 * submit; interrupt from any thread at any time. Callbacks come from the meter's thread, without
 * any lock of the meter held. */
#ifndef HV_METER_H
#define HV_METER_H

#include "metric.h"

typedef struct HvMeter HvMeter;

/* One pair on its way through the meter. `owner` is the caller's: it says whose scores these are
 * and keeps the pictures mapped. */
typedef struct HvPair {
    HvPicture reference, distorted;
    gpointer owner;
} HvPair;

typedef struct HvMeterCallbacks {
    /* The pair's scores: scores[i] has the name hv_meter_score_names()[i]. Never called for a pair
     * that was dropped. May block: the queue fills, and submit waits or refuses. */
    void (*scored)(gpointer user, gpointer owner, const double *scores);
    /* The pictures are no longer read. Comes before scored() where a backend copies them. */
    void (*pictures_done)(gpointer owner);
    /* The meter is done with the pair, scored or dropped. The last call for this owner. */
    void (*owner_free)(gpointer owner);
    /* Measuring a pair failed; its pair is dropped, the next ones are tried. */
    void (*failed)(gpointer user, const GError *error);
    /* When the meter is gone; frees user. NULL if there is nothing to do. From any thread. */
    void (*user_free)(gpointer user);
} HvMeterCallbacks;

typedef struct HvMeterConfig {
    HvFormat format;
    GPtrArray *features; /* of HvFeature; referenced by the meter */
    unsigned threads;    /* that share one picture's rows, at least 1 */
    unsigned depth;      /* pairs that may be in flight, at least 1 */
} HvMeterConfig;

/* NULL and an error when a metric refuses the format or memory is short. Takes `user` (freed by
 * user_free) only on success. */
HvMeter *hv_meter_new(const HvMeterConfig *config, const HvMeterCallbacks *callbacks, gpointer user,
                      GError **error);

/* Names of all scores, in the order of the scores array; n of them, owned by the meter. */
const char *const *hv_meter_score_names(const HvMeter *meter, unsigned *n);

/* Takes the pair and returns TRUE; FALSE, taking nothing, when `depth` pairs are in flight
 * (submitted, and neither scored nor dropped yet). */
gboolean hv_meter_try_submit(HvMeter *meter, const HvPair *pair);

/* Waits for room, then takes the pair and returns TRUE. FALSE, taking nothing, when interrupted. */
gboolean hv_meter_submit(HvMeter *meter, const HvPair *pair);

/* Waits until no pair is in flight and every callback has returned. With `end`, metrics deliver the
 * scores that were waiting for later pictures: the stream ended. FALSE when interrupted, or when
 * `timeout_us` microseconds passed (negative: no limit). */
gboolean hv_meter_drain(HvMeter *meter, gboolean end, gint64 timeout_us);

/* Drops every pair in flight and what metrics remember; returns how many pairs will never be
 * scored. Does not wait for the pair being measured or for a callback that is running. */
unsigned hv_meter_drop(HvMeter *meter);

/* While set, submit and drain return FALSE at once, also those that are waiting. */
void hv_meter_interrupt(HvMeter *meter, gboolean set);

/* Ends the meter: drops what is in flight and gives up the caller's reference. Waits at most
 * `timeout_us` for the meter's thread; a thread that is stuck in a callback past that keeps what
 * it needs and cleans up by itself when it gets out. */
void hv_meter_free(HvMeter *meter, gint64 timeout_us);

#endif
