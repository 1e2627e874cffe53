/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The interface that every metric implements, once for each backend. A metric knows no other
 * metric and nothing of GStreamer. */
#ifndef HV_METRIC_H
#define HV_METRIC_H

#include "backend.h"
#include "error.h"
#include "options.h"
#include "picture.h"

typedef struct HvSlices HvSlices;
typedef struct HvMetric HvMetric;

/* The scores of one metric for one pair. The metric fills `value` (one entry for each of its score
 * names, in their order; then, for each of its aggregates' names, what the pair adds to its sums)
 * and then calls hv_scores_done() once: at once, or, where it needs later pictures, from a later
 * collect() or from flush(). Valid until then. */
typedef struct HvScores {
    double *value;
    struct HvMeterFrame *frame;
} HvScores;

/* Hands the scores over, from the meter's thread. Does nothing where `frame` is NULL, so that a
 * metric can be driven without a meter. */
void hv_scores_done(HvScores *scores);

/* What an instance is made for. All of it outlives the instance. */
typedef struct HvMetricSetup {
    const HvFormat *format;
    const void *params; /* the metric's own struct, parsed, fitted to the format and validated */
    HvSlices *slices;   /* the threads that share a picture's rows */
    HvBackend *backend; /* for the `hip` operations: where the pairs are staged; else NULL */
} HvMetricSetup;

/* One pair, as a metric gets it. */
typedef struct HvSubject {
    const HvPicture *reference, *distorted; /* on the host */
    unsigned slot;                          /* of the backend, where it was staged */
} HvSubject;

typedef enum HvFlush {
    HV_FLUSH_END, /* the stream ended: every pending score is delivered */
    HV_FLUSH_DROP /* a discontinuity: pending scores are forgotten, without hv_scores_done() */
} HvFlush;

/* One backend's implementation. Calls for one instance never overlap; all but create() and
 * destroy() come from the meter's thread. */
typedef struct HvMetricOps {
    /* NULL and an error (HV_ERROR_SIZE, _BACKEND, _MEMORY) on failure. */
    HvMetric *(*create)(const HvMetricSetup *setup, GError **error);
    /* Begins to measure a pair; the pictures stay mapped until collect() of the same pair returns.
     * Asynchronous backends queue their work here, and get as many pairs ahead as are in flight;
     * NULL where collect() does everything, which no `hip` operations may. After a failure the pair
     * is not collected. */
    gboolean (*submit)(HvMetric *metric, const HvSubject *subject, GError **error);
    /* Finishes the pair submitted earliest; on a backend, after its slot was waited for. Scores are
     * the metric's until hv_scores_done(); after a failure it must not touch them. Called also
     * where another metric failed to measure the pair, so that a metric that remembers pictures
     * misses none. */
    gboolean (*collect)(HvMetric *metric, const HvSubject *subject, HvScores *scores,
                        GError **error);
    /* Forgets all earlier pictures; every submitted pair has been collected before. NULL where a
     * metric remembers none. */
    void (*flush)(HvMetric *metric, HvFlush how);
    /* Where the backend failed, also with pairs that were submitted and never collected; the
     * backend is still there and quiet then. */
    void (*destroy)(HvMetric *metric);
    /* `metric` is new, and `from` is an instance of the same parameters: of the CPU's operations,
     * one on a backend that failed; of a backend's, one on the CPU. Takes over the scores that
     * `from` still owes and what it remembers. `earlier` are the pairs that it collected last in
     * this stream, the latest one last: as many as look_back() says, or all that there were; they
     * are to be read here and not later. A backend's instance gets them by submit() before,
     * without a collect(), and none here. NULL where every score is there when a pair is
     * collected. */
    void (*take_over)(HvMetric *metric, HvMetric *from, const HvSubject *const *earlier,
                      unsigned n);
    unsigned (*look_back)(const void *params); /* of the CPU's, with take_over(); NULL: no pair */
} HvMetricOps;

#define HV_AGGREGATE_SUMS 4 /* at most */

/* A metric's scores over a whole stream: each is made from a few sums over its pairs. */
typedef struct HvAggregate {
    /* As HvMetricInfo's score_names. */
    const char *const *(*names)(const void *params);
    unsigned n_sums; /* for each name */
    /* From the sums over at least one pair, whose formats may differ. */
    double (*score)(const double *sums);
} HvAggregate;

typedef struct HvMetricInfo {
    const char *name; /* libvmaf's name of the feature extractor, as in `features` */
    const char *help;
    const HvOption *options;
    size_t params_size;
    /* Changes parameters that this format has no use for; they may still be refused. NULL where
     * there are none such. */
    void (*fit)(void *params, const HvFormat *format);
    /* Whether it looks at chroma; NULL where it never does. */
    gboolean (*needs_chroma)(const void *params);
    /* The base names of the scores that these parameters give, in order; NULL-terminated, static.
     * Options are appended to them by hv_options_score_name(). */
    const char *const *(*score_names)(const void *params);
    /* FALSE and an error when the parameters do not go together or the format cannot be measured
     * (HV_ERROR_OPTION, HV_ERROR_SIZE); `format` is NULL when only parameters are to be checked. */
    gboolean (*validate)(const void *params, const HvFormat *format, GError **error);
    const HvAggregate *aggregate; /* NULL where it has none */
    const HvMetricOps *cpu;
    const HvMetricOps *hip; /* NULL where the metric has no kernels */
    const char *image;      /* the file with its kernels, without its suffix; NULL: as `name` */
} HvMetricInfo;

/* Every metric there is, NULL-terminated: the one place that names them all (metrics.c). */
extern const HvMetricInfo *const hv_metrics[];

/* A metric and its parsed parameters: one entry of the `features` property. */
typedef struct HvFeature {
    const HvMetricInfo *info;
    gpointer params;
    gboolean on_gpu; /* measured through `hip` where the meter has a backend; FALSE when parsed */
} HvFeature;

/* An empty array of HvFeature, which owns them. */
GPtrArray *hv_features_new(void);

/* Appends the metric with a copy of these parameters, unless the array has it with the same. Where
 * it has it with other parameters only in that one of the two has "debug", which adds scores and
 * changes none, that one entry gives all the scores. */
void hv_features_add(GPtrArray *features, const HvMetricInfo *info, const void *params);

/* Whether one of the metrics remembers pictures: then no pair may be left out (HvPair.unscored). */
gboolean hv_features_remember(const GPtrArray *features);

/* How many pairs' pictures the CPU needs to take over from a backend; of several metrics, of those
 * that are `on_gpu`, the most. */
unsigned hv_metric_look_back(const HvMetricInfo *info, const void *params);
unsigned hv_features_look_back(const GPtrArray *features);

/* Reads "adm=debug=true:adm_csf_mode=2,vif" into a GPtrArray of HvFeature (owned by the array,
 * freed with it); NULL and "" give an empty one. Space around names and empty entries are skipped;
 * "adm=" is "adm". Entries are added by hv_features_add().
 * NULL and an error when a metric or option is unknown (the message lists what there is) or a
 * value is wrong; parameters are validated, without a format. */
GPtrArray *hv_features_parse(const char *text, GError **error);

/* The same with another table of metrics. */
GPtrArray *hv_features_parse_from(const HvMetricInfo *const *metrics, const char *text,
                                  GError **error);

#endif
