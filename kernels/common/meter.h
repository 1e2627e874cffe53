/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter: a bounded queue of picture pairs, measured by all requested metrics on a thread of
 * its own, results handed back in the order of submission.
 *
 * A pair is in flight from its submission until the meter's thread is through with it: until it is
 * measured, and every pair that was complete by then is scored. A pair that only waits for a later
 * picture (motion needs the next one) is not in flight: it would wait for ever. Nor is one of which
 * only the pictures are kept: where a metric on the backend remembers pictures that the CPU would
 * have to see to take over, those of the pairs measured last stay mapped, hv_features_look_back()
 * of them, at most until the end of the stream, a drop, a drain or a tenth of a second in which
 * nothing came.
 *
 * Threads: submit, try_submit, pass, drain, drop and interrupt may be called from any thread at any
 * time, but not from a callback, where submit and drain would wait for themselves. Callbacks come
 * from the meter's thread, without any lock of the meter held. */
#ifndef HV_METER_H
#define HV_METER_H

#include "aggregates.h"

typedef struct HvMeter HvMeter;

/* One pair on its way through the meter. `owner` is the caller's: it says whose scores these are
 * and keeps the pictures mapped. */
typedef struct HvPair {
    HvPicture reference, distorted;
    gpointer owner;
    gboolean unscored; /* only for metrics that remember pictures, so that they miss none; of such a
                          pair comes no scored() and no failed() */
} HvPair;

/* All must be set, but for user_free, and the last three where there is no backend. */
typedef struct HvMeterCallbacks {
    /* The pair's scores: scores[i] has the name hv_meter_score_names()[i]. Never called for a pair
     * that was dropped. May block: the queue fills, and submit waits or refuses. */
    void (*scored)(gpointer user, gpointer owner, const double *scores);
    /* The pictures are no longer read. Comes once for every pair, as soon as no metric needs them:
     * before owner_free(), and before scored() unless they are kept. */
    void (*pictures_done)(gpointer owner);
    /* The meter is done with the pair, scored or dropped. The last call for this owner. */
    void (*owner_free)(gpointer owner);
    /* Measuring a pair failed, once for each such pair; it is dropped, the next ones are tried. */
    void (*failed)(gpointer user, const GError *error);
    /* When the meter is gone; frees user. NULL if there is nothing to do. From the thread that
     * frees the meter, or from the meter's where that was given up. */
    void (*user_free)(gpointer user);
    /* The backend failed and is given up. Comes once for each, before the first score of a pair
     * that is measured (or measured again) on the CPU in its place. */
    void (*fell_back)(gpointer user, const GError *error);
    /* The same where nothing takes its place. Comes once; then every pair that it has not measured
     * fails, each with its failed(). */
    void (*broke)(gpointer user, const GError *error);
    /* The backend of hv_meter_offer() measures from the next pair on; or, with an error, it could
     * not be put to use and is gone. */
    void (*regained)(gpointer user, const GError *error);
} HvMeterCallbacks;

typedef struct HvMeterConfig {
    HvFormat format;
    GPtrArray *features; /* of HvFeature; referenced by the meter */
    unsigned threads;    /* that share one picture's rows, at least 1 */
    unsigned depth;      /* pairs that may be in flight, at least 1; those that are dropped count
                            until the meter's thread has let go of them */
    HvBackend *backend;  /* that measures the features which are `on_gpu` and can be measured there,
                            or NULL; as many pairs are staged ahead as it has slots. The meter takes
                            it on success */
    gboolean fallback;   /* when it fails, the CPU takes over: see HvMeterCallbacks */
    HvAggregates *aggregates; /* what each pair adds to, before its scored(); or NULL. It is the
                                 caller's, there until user_free() */
} HvMeterConfig;

/* NULL and an error when a metric refuses the format or memory is short. Takes `user` (freed by
 * user_free) only on success. All memory is taken here, but for pairs beyond `depth` that wait for
 * later pictures: theirs grows once to what the metrics need. */
HvMeter *hv_meter_new(const HvMeterConfig *config, const HvMeterCallbacks *callbacks, gpointer user,
                      GError **error);

/* Names of all scores, in the order of the scores array; n of them (and a NULL), owned by the
 * meter. Where two features give the same name, the first one's score goes under it. */
const char *const *hv_meter_score_names(const HvMeter *meter, unsigned *n);

/* Takes the pair and returns TRUE; FALSE, taking nothing, when `depth` pairs are in flight. */
gboolean hv_meter_try_submit(HvMeter *meter, const HvPair *pair);

/* Waits for room, then takes the pair and returns TRUE. FALSE, taking nothing, when interrupted. */
gboolean hv_meter_submit(HvMeter *meter, const HvPair *pair);

/* For a pair that there is no time to score: takes it as unscored and returns TRUE where fewer than
 * `most` pairs are in flight, be that more than `depth`; else FALSE, taking nothing. Metrics that
 * remember pictures miss none, so the scores of the pairs around it are what they would be. */
gboolean hv_meter_pass(HvMeter *meter, const HvPair *pair, unsigned most);

/* Waits until none of the pairs submitted before is in flight and their callbacks have returned,
 * those of dropped pairs too; kept pictures are copied, so that theirs come. With `end`, metrics
 * deliver the scores that were waiting for later pictures: the stream ended, and what is submitted
 * from now on is a new one. FALSE when interrupted, or when `timeout_us` microseconds passed
 * (negative: no limit); an end that was being waited for comes all the same. */
gboolean hv_meter_drain(HvMeter *meter, gboolean end, gint64 timeout_us);

/* After fell_back(), or where the meter was made without a backend though there are features that
 * are `on_gpu`: those go (back) to this one, which the meter takes, between two pairs, without any
 * difference in the scores. Comes to regained(), or to nothing where the meter ends before. Waits
 * for nothing. */
void hv_meter_offer(HvMeter *meter, HvBackend *backend);

/* Drops every pair that is not scored yet and what metrics remember; returns how many pairs that
 * were, not counting those that had failed or are `unscored`. Waits for nothing: a scored() or
 * failed() that the meter's thread has already decided on, at most one, may still begin or be
 * running on return (it is not among those counted; a drain waits for it). After it, none comes for
 * a pair submitted before. owner_free() of dropped pairs comes from the meter's thread, soon. */
unsigned hv_meter_drop(HvMeter *meter);

/* While set, submit and drain return FALSE at once, also those that are waiting; try_submit does
 * not wait and is not concerned. */
void hv_meter_interrupt(HvMeter *meter, gboolean set);

/* Ends the meter: drops what is in flight and gives up the caller's reference. Waits at most
 * `timeout_us` for the meter's thread; a thread that is stuck in a callback past that keeps what
 * it needs and cleans up by itself when it gets out (so it does at once when this is called from a
 * callback). A negative timeout waits without limit. No other call may be running or follow; the
 * only callbacks that still come are pictures_done(), owner_free(), user_free() and the one in
 * which the thread is stuck. */
void hv_meter_free(HvMeter *meter, gint64 timeout_us);

#endif
