/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * VMAF models: which metrics they need, and the scores that they make of theirs.
 *
 * A set of models is read once and never changes: any thread may use it. A predictor belongs to
 * one thread at a time. */
#ifndef HV_MODEL_H
#define HV_MODEL_H

#include "kernels/common/metric.h"

typedef struct HvModels HvModels;
typedef struct HvPredictor HvPredictor;

typedef struct HvModelSettings {
    gboolean enable_transform; /* also where the model has its score transform switched off */
    gboolean disable_clip;
    gboolean conf_interval; /* the further scores of bootstrap collections, too */
} HvModelSettings;

/* Reads a comma-separated list of built-in names and paths of libvmaf's JSON files (a text that
 * names a file is one path, commas or not). NULL and "" give an empty set; empty entries and
 * repeated ones are skipped. NULL and an error (HV_ERROR_MODEL, or another of this domain where an
 * option of a feature is wrong) that says which model, where in it, and why. */
HvModels *hv_models_load(const char *text, const HvModelSettings *settings, GError **error);
HvModels *hv_models_ref(HvModels *models);
void hv_models_unref(HvModels *models);

/* The same for one model in memory; `origin` names it in errors, and its base name without ".json"
 * its score. */
HvModels *hv_models_parse(const char *data, gsize length, const char *origin,
                          const HvModelSettings *settings, GError **error);

/* Adds what the models need to be measured to an array of HvFeature (hv_features_new()). */
void hv_models_add_features(const HvModels *models, GPtrArray *features);

/* Names of the models' scores: none for an empty set; else "score", which is the first model's,
 * then each model's under its name, followed, where asked for, by a bootstrap collection's
 * "PREFIX_bagging", "_stddev", "_ci_p95_lo" and "_ci_p95_hi"; PREFIX is "vmaf" for the first
 * collection, its name for others. NULL-terminated, n of them, owned by the set. */
const char *const *hv_models_score_names(const HvModels *models, unsigned *n);

/* The names of the built-in models, NULL-terminated. */
const char *const *hv_models_builtin_names(void);

/* Finds the models' inputs among the names of a meter's scores. NULL and an error when one is
 * missing, or when a name of hv_models_score_names() is among them. Keeps a reference to `models`.
 */
HvPredictor *hv_predictor_new(HvModels *models, const char *const *names, unsigned n,
                              GError **error);
void hv_predictor_free(HvPredictor *predictor);

/* Writes the models' scores of one frame, in the order of their names. `scores` are the meter's. */
void hv_predictor_run(HvPredictor *predictor, const double *scores, double *out);

#endif
