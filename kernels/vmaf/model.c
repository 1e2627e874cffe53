/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sets of models: where they come from, what they need, and what their scores are called. */
#include "kernels/vmaf/model.h"

#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "kernels/vmaf/model_json.h"
#include "kernels/vmaf/model_set.h"

/* The largest of libvmaf's has 0.4 MiB. */
#define MAX_FILE_SIZE (8 << 20)

static void input_clear(gpointer data)
{
    HvModelInput *input = data;
    g_free(input->params);
    g_free(input->score);
}

static void model_free(gpointer data)
{
    HvModel *model = data;
    hv_model_file_free(model->file);
    g_array_unref(model->inputs);
    g_free(model->name);
    g_free(model);
}

HvModels *hv_models_ref(HvModels *models)
{
    g_atomic_ref_count_inc(&models->refs);
    return models;
}

void hv_models_unref(HvModels *models)
{
    if (!models || !g_atomic_ref_count_dec(&models->refs))
        return;
    g_ptr_array_unref(models->model);
    g_ptr_array_unref(models->names);
    g_free(models);
}

static HvModels *models_new(const HvModelSettings *settings)
{
    HvModels *models = g_new0(HvModels, 1);
    g_atomic_ref_count_init(&models->refs);
    models->settings = *settings;
    models->model = g_ptr_array_new_with_free_func(model_free);
    models->names = g_ptr_array_new_with_free_func(g_free);
    return models;
}

/* ---- features ---- */

/* libvmaf's name of a feature, as its scores are called: "VMAF_integer_feature_adm2_score" is
 * "integer_adm2", "Cambi_feature_cambi_score" is "cambi". Others are called as they are. */
static char *score_base(const char *feature)
{
    const char *middle = strstr(feature, "_feature_");
    if (!middle || !g_str_has_suffix(middle, "_score"))
        return g_strdup(feature);
    const char *name = middle + strlen("_feature_");
    gsize ends = strlen("_score");
    if (strlen(name) <= ends)
        return g_strdup(feature);
    char *base = g_strndup(name, strlen(name) - ends);
    if (g_str_has_prefix(feature, "VMAF_integer_feature_")) {
        char *integer = g_strconcat("integer_", base, NULL);
        g_free(base);
        base = integer;
    }
    return base;
}

/* The metric that gives that score without asking for more. */
static const HvMetricInfo *find_metric(const char *base)
{
    for (const HvMetricInfo *const *info = hv_metrics; *info; info++) {
        gpointer params = g_malloc0((*info)->params_size);
        hv_options_init((*info)->options, params);
        gboolean found = g_strv_contains((*info)->score_names(params), base);
        g_free(params);
        if (found)
            return *info;
    }
    return NULL;
}

static gboolean resolve_feature(const char *origin, const HvModelFeature *feature,
                                HvModelInput *input, GError **error)
{
    char *base = score_base(feature->name);
    input->info = find_metric(base);
    if (!input->info) {
        char *valid = g_utf8_make_valid(feature->name, -1);
        g_set_error(error, HV_ERROR, HV_ERROR_MODEL,
                    "%s: the model needs %s, which no metric of this build measures", origin,
                    valid);
        g_free(valid);
        g_free(base);
        return FALSE;
    }
    const HvOption *options = input->info->options;
    input->params = g_malloc0(input->info->params_size);
    hv_options_init(options, input->params);
    gboolean ok =
        hv_options_parse(options, input->info->name, feature->options, input->params, error) &&
        (!input->info->validate || input->info->validate(input->params, NULL, error));
    if (ok)
        input->score = hv_options_score_name(options, input->params, base);
    else
        g_prefix_error(error, "%s: ", origin);
    g_free(base);
    return ok;
}

static gboolean resolve_features(const char *origin, HvModel *model, GError **error)
{
    const HvModelData *data = model->data;
    g_array_set_size(model->inputs, data->n_features);
    for (unsigned i = 0; i < data->n_features; i++)
        if (!resolve_feature(origin, &data->feature[i],
                             &g_array_index(model->inputs, HvModelInput, i), error))
            return FALSE;
    return TRUE;
}

void hv_models_add_features(const HvModels *models, GPtrArray *features)
{
    for (unsigned i = 0; i < models->model->len; i++) {
        const HvModel *model = g_ptr_array_index(models->model, i);
        for (unsigned k = 0; k < model->inputs->len; k++) {
            const HvModelInput *input = &g_array_index(model->inputs, HvModelInput, k);
            hv_features_add(features, input->info, input->params);
        }
    }
}

/* ---- names ---- */

static gboolean has_name(const HvModels *models, const char *name)
{
    return g_ptr_array_find_with_equal_func(models->names, name, g_str_equal, NULL);
}

static gboolean add_name(HvModels *models, const char *origin, char *name, GError **error)
{
    /* what messages have beside scores */
    static const char *const taken[] = {"type",        "index",        "timestamp",
                                        "stream-time", "running-time", "duration",
                                        "timecode",    "utc",          NULL};
    gboolean ok = !has_name(models, name) && !g_strv_contains(taken, name);
    if (!ok)
        g_set_error(error, HV_ERROR, HV_ERROR_MODEL,
                    "%s: its score would be called %s, and so is another value: rename the file",
                    origin, name);
    g_ptr_array_add(models->names, name);
    return ok;
}

static gboolean is_first_collection(const HvModels *models, const HvModel *model)
{
    for (unsigned i = 0; i < models->model->len; i++) {
        const HvModel *other = g_ptr_array_index(models->model, i);
        if (other->data->bootstrap)
            return other == model;
    }
    return FALSE;
}

static gboolean add_model_names(HvModels *models, const char *origin, const HvModel *model,
                                GError **error)
{
    static const char *const suffixes[] = {"bagging", "stddev", "ci_p95_lo", "ci_p95_hi"};
    if (!models->names->len)
        g_ptr_array_add(models->names, g_strdup("score"));
    if (!add_name(models, origin, g_strdup(model->name), error))
        return FALSE;
    if (!models->settings.conf_interval || !model->data->bootstrap)
        return TRUE;
    const char *prefix = is_first_collection(models, model) ? "vmaf" : model->name;
    for (unsigned i = 0; i < G_N_ELEMENTS(suffixes); i++)
        if (!add_name(models, origin, g_strdup_printf("%s_%s", prefix, suffixes[i]), error))
            return FALSE;
    return TRUE;
}

/* A file's base name without ".json", as a field of a message can be called. */
static char *name_of_path(const char *path)
{
    char *name = g_path_get_basename(path);
    if (g_str_has_suffix(name, ".json"))
        name[strlen(name) - strlen(".json")] = 0;
    g_strcanon(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.+-", '_');
    if (!g_ascii_isalpha(*name)) {
        char *longer = g_strconcat("model_", name, NULL);
        g_free(name);
        name = longer;
    }
    return name;
}

/* ---- loading ---- */

/* Takes `file`, which is NULL where `data` is built in, and `name`. */
static gboolean add_model(HvModels *models, const char *origin, char *name, HvModelFile *file,
                          const HvModelData *data, GError **error)
{
    HvModel *model = g_new0(HvModel, 1);
    model->name = name;
    model->file = file;
    model->data = data;
    model->inputs = g_array_new(FALSE, TRUE, sizeof(HvModelInput));
    g_array_set_clear_func(model->inputs, input_clear);
    g_ptr_array_add(models->model, model);
    return resolve_features(origin, model, error) && add_model_names(models, origin, model, error);
}

static gboolean add_text(HvModels *models, const char *text, gsize length, const char *origin,
                         GError **error)
{
    HvModelFile *file = hv_model_file_parse(text, length, origin, error);
    return file && add_model(models, origin, name_of_path(origin), file, &file->data, error);
}

static const HvModelData *find_builtin(const char *name)
{
    for (const HvModelData *data = hv_builtin_models; data->name; data++)
        if (!strcmp(data->name, name))
            return data;
    return NULL;
}

static gboolean fail_file(const char *origin, const char *why, GError **error)
{
    char *names = g_strjoinv(", ", (char **)hv_models_builtin_names());
    g_set_error(
        error, HV_ERROR, HV_ERROR_MODEL,
        "%s: %s. model-filename takes the path of a libvmaf JSON model or a built-in one: %s",
        origin, why, names);
    g_free(names);
    return FALSE;
}

/* Regular files only: a pipe could block for ever, a device never end. */
static gboolean check_file(const char *path, const char *origin, GError **error)
{
    GStatBuf info;
    if (g_stat(path, &info) != 0)
        return fail_file(origin, g_strerror(errno), error);
    if (!S_ISREG(info.st_mode))
        return fail_file(origin, "it is no regular file", error);
    if (info.st_size > MAX_FILE_SIZE)
        return fail_file(origin, "it is larger than any model", error);
    return TRUE;
}

static gboolean add_file(HvModels *models, const char *path, GError **error)
{
    char *text = NULL, *origin = g_filename_display_name(path);
    gsize length;
    GError *broken = NULL;
    gboolean ok = check_file(path, origin, error);
    if (ok && !g_file_get_contents(path, &text, &length, &broken)) {
        ok = fail_file(origin, broken->message, error);
        g_error_free(broken);
    }
    ok = ok && add_text(models, text, length, origin, error);
    g_free(origin);
    g_free(text);
    return ok;
}

static gboolean add_entry(HvModels *models, const char *entry, GError **error)
{
    const HvModelData *builtin = find_builtin(entry);
    if (builtin)
        return add_model(models, entry, g_strdup(entry), NULL, builtin, error);
    return add_file(models, entry, error);
}

static gboolean add_list(HvModels *models, const char *text, GError **error)
{
    gboolean ok = TRUE;
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    char **entries = g_strsplit(text, ",", -1);
    for (char **entry = entries; ok && *entry; entry++)
        if (*g_strstrip(*entry) && g_hash_table_add(seen, *entry))
            ok = add_entry(models, *entry, error);
    g_hash_table_unref(seen);
    g_strfreev(entries);
    return ok;
}

/* An interval that was asked for and cannot be given. */
static gboolean check_interval(const HvModels *models, GError **error)
{
    if (!models->settings.conf_interval || !models->model->len)
        return TRUE;
    for (unsigned i = 0; i < models->model->len; i++)
        if (((HvModel *)g_ptr_array_index(models->model, i))->data->bootstrap)
            return TRUE;
    const HvModel *first = g_ptr_array_index(models->model, 0);
    g_set_error(
        error, HV_ERROR, HV_ERROR_MODEL,
        "%s has no confidence interval: conf-interval needs a bootstrap collection, such as "
        "vmaf_b_v0.6.3",
        first->name);
    return FALSE;
}

static HvModels *finish(HvModels *models, gboolean ok, GError **error)
{
    ok = ok && check_interval(models, error);
    g_ptr_array_add(models->names, NULL);
    if (ok)
        return models;
    hv_models_unref(models);
    return NULL;
}

HvModels *hv_models_load(const char *text, const HvModelSettings *settings, GError **error)
{
    HvModels *models = models_new(settings);
    gboolean ok = TRUE;
    if (text && strchr(text, ',') && g_file_test(text, G_FILE_TEST_IS_REGULAR))
        ok = add_file(models, text, error);
    else if (text)
        ok = add_list(models, text, error);
    return finish(models, ok, error);
}

HvModels *hv_models_parse(const char *data, gsize length, const char *origin,
                          const HvModelSettings *settings, GError **error)
{
    HvModels *models = models_new(settings);
    return finish(models, add_text(models, data, length, origin, error), error);
}

const char *const *hv_models_score_names(const HvModels *models, unsigned *n)
{
    if (n)
        *n = models->names->len - 1;
    return (const char *const *)models->names->pdata;
}

const char *const *hv_models_builtin_names(void)
{
    static const char *const names[] = {"vmaf_v0.6.1",       "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1",
                                        "vmaf_4k_v0.6.1neg", "vmaf_b_v0.6.3",  NULL};
    return names;
}
