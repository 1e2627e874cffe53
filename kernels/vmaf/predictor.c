/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From a meter's scores to the models' scores. */
#include <string.h>

#include "kernels/vmaf/model_set.h"
#include "kernels/vmaf/svr.h"

struct HvPredictor {
    HvModels *models;
    GArray *sources;   /* unsigned: which of the meter's scores each input of each model is */
    double *bootstrap; /* the predictions of one collection */
};

static gboolean find(const char *const *names, unsigned n, const char *name, unsigned *at)
{
    for (*at = 0; *at < n; ++*at)
        if (!strcmp(names[*at], name))
            return TRUE;
    return FALSE;
}

static gboolean bind_model(HvPredictor *predictor, const HvModel *model, const char *const *names,
                           unsigned n, GError **error)
{
    for (unsigned i = 0; i < model->inputs->len; i++) {
        const char *score = g_array_index(model->inputs, HvModelInput, i).score;
        unsigned at;
        if (!find(names, n, score, &at)) {
            g_set_error(error, HV_ERROR, HV_ERROR_MODEL, "%s needs %s, which is not measured",
                        model->name, score);
            return FALSE;
        }
        g_array_append_val(predictor->sources, at);
    }
    return TRUE;
}

static gboolean check_names(const HvModels *models, const char *const *names, unsigned n,
                            GError **error)
{
    unsigned at;
    for (const char *const *name = hv_models_score_names(models, NULL); *name; name++)
        if (find(names, n, *name, &at)) {
            g_set_error(error, HV_ERROR, HV_ERROR_MODEL,
                        "a model's score would be called %s, and so is a metric's: rename the file",
                        *name);
            return FALSE;
        }
    return TRUE;
}

HvPredictor *hv_predictor_new(HvModels *models, const char *const *names, unsigned n,
                              GError **error)
{
    HvPredictor *predictor = g_new0(HvPredictor, 1);
    gboolean ok = check_names(models, names, n, error);
    unsigned most = 1;
    predictor->models = hv_models_ref(models);
    predictor->sources = g_array_new(FALSE, FALSE, sizeof(unsigned));
    for (unsigned i = 0; ok && i < models->model->len; i++) {
        const HvModel *model = g_ptr_array_index(models->model, i);
        most = MAX(most, model->data->n_svrs);
        ok = bind_model(predictor, model, names, n, error);
    }
    predictor->bootstrap = g_new(double, most);
    if (ok)
        return predictor;
    hv_predictor_free(predictor);
    return NULL;
}

void hv_predictor_free(HvPredictor *predictor)
{
    if (!predictor)
        return;
    hv_models_unref(predictor->models);
    g_array_unref(predictor->sources);
    g_free(predictor->bootstrap);
    g_free(predictor);
}

static double *run_bootstrap(HvPredictor *predictor, const HvModelData *data, const double *x,
                             double *out)
{
    const HvModelSettings *settings = &predictor->models->settings;
    for (unsigned i = 1; i < data->n_svrs; i++)
        predictor->bootstrap[i - 1] = hv_svr_predict(&data->svr[i], data->n_features, x);
    HvBootstrap b = hv_svr_bootstrap(&data->svr[1], predictor->bootstrap, data->n_svrs - 1,
                                     settings->enable_transform, !settings->disable_clip);
    *out++ = b.bagging;
    *out++ = b.stddev;
    *out++ = b.low;
    *out++ = b.high;
    return out;
}

/* Writes what the model's names say; returns where the next model's scores go. */
static double *run_model(HvPredictor *predictor, const HvModelData *data, const double *x,
                         double *out)
{
    const HvModelSettings *settings = &predictor->models->settings;
    double score = hv_svr_predict(&data->svr[0], data->n_features, x);
    *out++ =
        hv_svr_finish(&data->svr[0], score, settings->enable_transform, !settings->disable_clip);
    if (settings->conf_interval && data->bootstrap)
        out = run_bootstrap(predictor, data, x, out);
    return out;
}

void hv_predictor_run(HvPredictor *predictor, const double *scores, double *out)
{
    const GPtrArray *models = predictor->models->model;
    const unsigned *source = (const unsigned *)predictor->sources->data;
    double *next = out + 1;
    for (unsigned i = 0; i < models->len; i++) {
        const HvModelData *data = ((const HvModel *)g_ptr_array_index(models, i))->data;
        double x[HV_MODEL_MAX_FEATURES];
        for (unsigned k = 0; k < data->n_features; k++)
            x[k] = scores[*source++];
        next = run_model(predictor, data, x, next);
    }
    if (models->len)
        out[0] = out[1];
}
