/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads libvmaf's JSON model files: one object with a "model_dict", or a collection of those under
 * "0", "1", ... Everything is checked here, so that prediction need not. */
#include "kernels/vmaf/model_json.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "kernels/common/error.h"

#define MAX_DEPTH  16
#define MAX_MODELS 200
#define MAX_KNOTS  1000

typedef struct Reader {
    HvModelFile *file;
    const char *origin;
    GError **error;
} Reader;

/* `where` is a place in the file. Always FALSE. */
G_GNUC_PRINTF(3, 4)
static gboolean fail(const Reader *r, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    char *valid = g_utf8_make_valid(what, -1);
    g_set_error(r->error, HV_ERROR, HV_ERROR_MODEL, "%s: %s %s", r->origin, where, valid);
    g_free(valid);
    g_free(what);
    return FALSE;
}

/* ---- text ---- */

/* json-glib recurses with every bracket and takes more than JSON: this lets through only what is
 * made of JSON's characters and not nested deeply. */
typedef struct Scan {
    unsigned line, depth;
    gboolean in_string, escaped;
} Scan;

static const char *scan_char(Scan *scan, char c)
{
    scan->line += c == '\n';
    if (scan->in_string) {
        gboolean ends = c == '"' && !scan->escaped;
        scan->escaped = c == '\\' && !scan->escaped;
        scan->in_string = !ends;
        return c ? NULL : "has a zero byte";
    }
    scan->in_string = c == '"';
    if (c == '[' || c == '{')
        scan->depth++;
    else if (c == ']' || c == '}')
        scan->depth--;
    else if (!c || !strchr("\",:+-.0123456789eEtrufalsn \t\r\n", c))
        return "is not JSON";
    return scan->depth > MAX_DEPTH ? "is nested too deeply, or closes what is not open" : NULL;
}

static gboolean scan_text(const Reader *r, const char *text, gsize length)
{
    Scan scan = {.line = 1};
    const char *what = NULL;
    for (gsize i = 0; i < length && !what; i++)
        what = scan_char(&scan, text[i]);
    if (!what)
        return TRUE;
    char *where = g_strdup_printf("line %u", scan.line);
    fail(r, where, "%s", what);
    g_free(where);
    return FALSE;
}

/* ---- values ---- */

static gboolean is_value(JsonNode *node, GType type)
{
    return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type;
}

static gboolean read_number(JsonNode *node, double *value)
{
    if (!is_value(node, G_TYPE_DOUBLE) && !is_value(node, G_TYPE_INT64))
        return FALSE;
    *value = json_node_get_double(node);
    return isfinite(*value);
}

static gboolean is_string(JsonNode *node, const char *text)
{
    return is_value(node, G_TYPE_STRING) && !strcmp(json_node_get_string(node), text);
}

/* A member that is there and not null. */
static JsonNode *member(JsonObject *object, const char *name)
{
    JsonNode *node = json_object_get_member(object, name);
    return node && !JSON_NODE_HOLDS_NULL(node) ? node : NULL;
}

static JsonArray *member_array(JsonObject *object, const char *name)
{
    JsonNode *node = member(object, name);
    return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static JsonObject *node_object(JsonNode *node)
{
    return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static gboolean read_numbers(const Reader *r, JsonObject *dict, const char *name, unsigned n,
                             double *values)
{
    JsonArray *array = member_array(dict, name);
    if (!array)
        return fail(r, name, "is missing, or no list");
    if (json_array_get_length(array) != n)
        return fail(r, name, "has %u numbers, not %u", json_array_get_length(array), n);
    for (unsigned i = 0; i < n; i++)
        if (!read_number(json_array_get_element(array, i), &values[i]))
            return fail(r, name, "[%u] is not a finite number", i);
    return TRUE;
}

/* "true" or "false", as word or string; absent is FALSE. */
static gboolean read_flag(const Reader *r, JsonObject *object, const char *name, gboolean *flag)
{
    JsonNode *node = member(object, name);
    *flag =
        is_string(node, "true") || (is_value(node, G_TYPE_BOOLEAN) && json_node_get_boolean(node));
    return !node || *flag || is_string(node, "false") || is_value(node, G_TYPE_BOOLEAN) ||
           fail(r, name, "is neither true nor false");
}

static const char *keep_text(HvModelFile *file, const char *text)
{
    gsize size = strlen(text) + 1;
    return memcpy(hv_model_file_alloc(file, size, 1), text, size);
}

/* ---- features ---- */

/* Appends "name=value" to options. What separates options must not be in them. */
static gboolean append_option(const Reader *r, GString *options, const char *name, JsonNode *node)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    const char *value = digits;
    double number;
    if (read_number(node, &number))
        g_ascii_formatd(digits, sizeof digits, "%.17g", number);
    else if (is_value(node, G_TYPE_BOOLEAN))
        value = json_node_get_boolean(node) ? "true" : "false";
    else if (is_value(node, G_TYPE_STRING))
        value = json_node_get_string(node);
    else
        return fail(r, "feature_opts_dicts", "has a value of \"%.64s\" that no option takes", name);
    if (strpbrk(name, ":=,") || strpbrk(value, ":=,"))
        return fail(r, "feature_opts_dicts", "has an option \"%.64s\" that no feature has", name);
    g_string_append_printf(options, "%s%s=%s", options->len ? ":" : "", name, value);
    return TRUE;
}

static gboolean read_options(const Reader *r, JsonNode *node, const char **text)
{
    JsonObject *object = node_object(node);
    if (!object)
        return fail(r, "feature_opts_dicts", "has an element that is no object");
    GString *options = g_string_new(NULL);
    GList *names = json_object_get_members(object);
    gboolean ok = TRUE;
    for (GList *name = names; ok && name; name = name->next)
        ok = append_option(r, options, name->data, json_object_get_member(object, name->data));
    *text = ok && options->len ? keep_text(r->file, options->str) : NULL;
    g_list_free(names);
    g_string_free(options, TRUE);
    return ok;
}

static gboolean read_features(const Reader *r, JsonObject *dict, HvModelFeature **features,
                              unsigned *n)
{
    JsonArray *names = member_array(dict, "feature_names");
    *n = names ? json_array_get_length(names) : 0;
    if (*n < 1 || *n > HV_MODEL_MAX_FEATURES)
        return fail(r, "feature_names", "is not a list of 1 to %d names", HV_MODEL_MAX_FEATURES);
    *features = hv_model_file_alloc(r->file, *n, sizeof **features);
    for (unsigned i = 0; i < *n; i++) {
        JsonNode *node = json_array_get_element(names, i);
        if (!is_value(node, G_TYPE_STRING))
            return fail(r, "feature_names", "[%u] is no string", i);
        (*features)[i].name = keep_text(r->file, json_node_get_string(node));
    }
    if (!member(dict, "feature_opts_dicts"))
        return TRUE;
    JsonArray *options = member_array(dict, "feature_opts_dicts");
    if (!options || json_array_get_length(options) != *n)
        return fail(r, "feature_opts_dicts", "is not a list of %u objects", *n);
    for (unsigned i = 0; i < *n; i++)
        if (!read_options(r, json_array_get_element(options, i), &(*features)[i].options))
            return FALSE;
    return TRUE;
}

static gboolean same_features(const HvModelData *data, const HvModelFeature *features, unsigned n)
{
    gboolean same = n == data->n_features;
    for (unsigned i = 0; same && i < n; i++)
        same = !strcmp(data->feature[i].name, features[i].name) &&
               !g_strcmp0(data->feature[i].options, features[i].options);
    return same;
}

/* ---- what becomes of a score ---- */

static gboolean read_polynomial(const Reader *r, JsonObject *object, HvScoreTransform *t)
{
    static const char *const names[] = {"p0", "p1", "p2"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        JsonNode *node = member(object, names[i]);
        if (node && !read_number(node, &t->p[i]))
            return fail(r, "score_transform", "%s is not a finite number", names[i]);
        t->polynomial |= node != NULL;
    }
    return TRUE;
}

static gboolean read_knot(JsonNode *node, HvKnot *knot)
{
    JsonArray *pair = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
    return pair && json_array_get_length(pair) == 2 &&
           read_number(json_array_get_element(pair, 0), &knot->x) &&
           read_number(json_array_get_element(pair, 1), &knot->y);
}

static gboolean read_knots(const Reader *r, JsonObject *object, HvScoreTransform *t)
{
    if (!member(object, "knots"))
        return TRUE;
    JsonArray *array = member_array(object, "knots");
    unsigned n = array ? json_array_get_length(array) : 0;
    if (n < 2 || n > MAX_KNOTS)
        return fail(r, "score_transform", "knots is not a list of 2 to %d pairs", MAX_KNOTS);
    HvKnot *knot = hv_model_file_alloc(r->file, n, sizeof *knot);
    for (unsigned i = 0; i < n; i++) {
        if (!read_knot(json_array_get_element(array, i), &knot[i]))
            return fail(r, "score_transform", "knots[%u] is not a pair of finite numbers", i);
        if (i > 0 && !(knot[i - 1].x < knot[i].x && knot[i - 1].y <= knot[i].y))
            return fail(r, "score_transform", "knots[%u] does not rise from the one before", i);
    }
    t->knot = knot;
    t->n_knots = n;
    return TRUE;
}

static gboolean read_transform(const Reader *r, JsonObject *dict, HvScoreTransform *t)
{
    JsonNode *node = member(dict, "score_transform");
    JsonObject *object = node_object(node);
    if (!node)
        return TRUE;
    if (!object)
        return fail(r, "score_transform", "is no object");
    return read_flag(r, object, "enabled", &t->enabled) && read_polynomial(r, object, t) &&
           read_knots(r, object, t) && read_flag(r, object, "out_lte_in", &t->out_lte_in) &&
           read_flag(r, object, "out_gte_in", &t->out_gte_in);
}

static gboolean read_clip(const Reader *r, JsonObject *dict, HvSvr *svr)
{
    double range[2];
    if (!member(dict, "score_clip"))
        return TRUE;
    if (!read_numbers(r, dict, "score_clip", 2, range))
        return FALSE;
    if (range[0] > range[1])
        return fail(r, "score_clip", "has a least value above the greatest");
    svr->clip = TRUE;
    svr->min = range[0];
    svr->max = range[1];
    return TRUE;
}

/* ---- scaling ---- */

static gboolean read_scaling(const Reader *r, JsonObject *dict, unsigned n, HvSvr *svr)
{
    JsonNode *type = member(dict, "norm_type");
    svr->rescale = is_string(type, "linear_rescale");
    if (!svr->rescale)
        return is_string(type, "none") ||
               fail(r, "norm_type", "is neither \"linear_rescale\" nor \"none\"");
    double *slopes = hv_model_file_alloc(r->file, n + 1, sizeof *slopes);
    double *intercepts = hv_model_file_alloc(r->file, n + 1, sizeof *intercepts);
    if (!read_numbers(r, dict, "slopes", n + 1, slopes) ||
        !read_numbers(r, dict, "intercepts", n + 1, intercepts))
        return FALSE;
    if (slopes[0] == 0)
        return fail(r, "slopes", "[0] is 0: no score can be had from it");
    svr->slope = slopes[0];
    svr->intercept = intercepts[0];
    svr->slopes = slopes + 1;
    svr->intercepts = intercepts + 1;
    return TRUE;
}

/* The one feature whose name contains `part`; n where there is none or more than one. */
static unsigned find_feature(const HvModelFeature *features, unsigned n, const char *part)
{
    unsigned found = n;
    for (unsigned i = 0; i < n; i++)
        if (strstr(features[i].name, part))
            found = found == n ? i : n + 1;
    return MIN(found, n);
}

static gboolean read_chroma_correction(const Reader *r, JsonObject *dict,
                                       const HvModelFeature *features, unsigned n, HvSvr *svr)
{
    const char *where = "chroma_correction_parameter";
    JsonNode *node = member(dict, where);
    if (!node)
        return TRUE;
    if (!read_number(node, &svr->chroma_correction))
        return fail(r, where, "is not a finite number");
    svr->luma = find_feature(features, n, "adm3");
    svr->chroma = find_feature(features, n, "speed_chroma");
    if (svr->luma == n || svr->chroma == n)
        return fail(r, where, "needs one feature adm3 and one speed_chroma");
    if (svr->rescale && (svr->slopes[svr->luma] == 0 || svr->slopes[svr->chroma] == 0))
        return fail(r, where, "needs slopes of adm3 and speed_chroma that are not 0");
    return TRUE;
}

/* ---- models ---- */

static gboolean read_type(const Reader *r, JsonObject *dict, gboolean *bootstrap)
{
    JsonNode *type = member(dict, "model_type");
    *bootstrap =
        is_string(type, "BOOTSTRAP_LIBSVMNUSVR") || is_string(type, "RESIDUEBOOTSTRAP_LIBSVMNUSVR");
    return *bootstrap || is_string(type, "LIBSVMNUSVR") ||
           fail(r, "model_type",
                "is none of LIBSVMNUSVR, BOOTSTRAP_LIBSVMNUSVR and "
                "RESIDUEBOOTSTRAP_LIBSVMNUSVR");
}

static gboolean read_svm(const Reader *r, JsonObject *dict, unsigned n, HvSvr *svr)
{
    JsonNode *node = member(dict, "model");
    char *message = NULL;
    if (!is_value(node, G_TYPE_STRING))
        return fail(r, "model", "is missing, or no string");
    gboolean ok = hv_svm_parse(r->file, json_node_get_string(node), n, svr, &message) ||
                  fail(r, "model,", "%s", message);
    g_free(message);
    return ok;
}

/* The i-th model; the first one's type and features are the collection's. */
static gboolean read_model(const Reader *r, JsonNode *node, unsigned i, HvSvr *svr)
{
    HvModelData *data = &r->file->data;
    HvModelFeature *features = NULL;
    unsigned n = 0;
    gboolean bootstrap;
    JsonObject *dict =
        node_object(node) ? node_object(member(node_object(node), "model_dict")) : NULL;
    if (!dict)
        return fail(r, "model_dict", "is missing, or no object");
    if (!read_type(r, dict, &bootstrap) || !read_features(r, dict, &features, &n))
        return FALSE;
    if (i == 0) {
        data->bootstrap = bootstrap;
        data->feature = features;
        data->n_features = n;
    } else if (!bootstrap || !data->bootstrap) {
        return fail(r, "model_type", "is not a bootstrap model's");
    } else if (!same_features(data, features, n)) {
        return fail(r, "feature_names", "or feature_opts_dicts differ from the first model's");
    }
    return read_scaling(r, dict, n, svr) && read_chroma_correction(r, dict, features, n, svr) &&
           read_transform(r, dict, &svr->transform) && read_clip(r, dict, svr) &&
           read_svm(r, dict, n, svr);
}

/* How many models the collection has; FALSE and an error where that is no collection. */
static gboolean count_models(const Reader *r, JsonObject *object, unsigned *n)
{
    char key[16];
    unsigned numbered = 0;
    JsonObjectIter iter;
    const char *name;
    json_object_iter_init(&iter, object);
    while (json_object_iter_next(&iter, &name, NULL))
        numbered += *name && strspn(name, "0123456789") == strlen(name);
    for (*n = 0; g_snprintf(key, sizeof key, "%u", *n), json_object_has_member(object, key);)
        ++*n;
    if (numbered == 0)
        return fail(r, "the file", "has neither a \"model_dict\" nor models \"0\", \"1\", ...");
    if (numbered > *n)
        return fail(r, "the file", "has no model \"%u\", though it has %u models", *n, numbered);
    if (*n < 2)
        return fail(r, "the file", "has one model: a collection has two at least");
    return *n <= MAX_MODELS ||
           fail(r, "the file", "has %u models, more than %u", *n, (unsigned)MAX_MODELS);
}

static gboolean read_collection(const Reader *r, JsonObject *object)
{
    unsigned n;
    char key[16];
    if (!count_models(r, object, &n))
        return FALSE;
    HvSvr *svr = hv_model_file_alloc(r->file, n, sizeof *svr);
    gboolean ok = TRUE;
    for (unsigned i = 0; ok && i < n; i++) {
        g_snprintf(key, sizeof key, "%u", i);
        char *origin = g_strdup_printf("%s: model %s", r->origin, key);
        Reader inner = {r->file, origin, r->error};
        ok = read_model(&inner, json_object_get_member(object, key), i, &svr[i]);
        g_free(origin);
    }
    r->file->data.svr = svr;
    r->file->data.n_svrs = n;
    return ok;
}

static gboolean read_root(const Reader *r, JsonNode *root)
{
    JsonObject *object = node_object(root);
    if (!object)
        return fail(r, "the file", "is no JSON object");
    if (!json_object_has_member(object, "model_dict"))
        return read_collection(r, object);
    HvSvr *svr = hv_model_file_alloc(r->file, 1, sizeof *svr);
    r->file->data.svr = svr;
    r->file->data.n_svrs = 1;
    gboolean ok = read_model(r, root, 0, svr);
    r->file->data.bootstrap = FALSE; /* there is nothing to take an interval of */
    return ok;
}

HvModelFile *hv_model_file_parse(const char *text, gsize length, const char *origin, GError **error)
{
    HvModelFile *file = g_new0(HvModelFile, 1);
    file->memory = g_ptr_array_new_with_free_func(g_free);
    Reader r = {file, origin, error};
    GError *broken = NULL;
    JsonParser *parser = json_parser_new_immutable();
    gboolean ok = scan_text(&r, text, length);
    if (ok &&
        (length > G_MAXSSIZE || !json_parser_load_from_data(parser, text, (gssize)length, &broken)))
        ok = fail(&r, "JSON:", "%s", broken ? broken->message : "too long");
    ok = ok && read_root(&r, json_parser_get_root(parser));
    g_clear_error(&broken);
    g_object_unref(parser);
    if (ok)
        return file;
    hv_model_file_free(file);
    return NULL;
}

gpointer hv_model_file_alloc(HvModelFile *file, gsize n, gsize size)
{
    gpointer memory = g_malloc0_n(MAX(n, 1), size);
    g_ptr_array_add(file->memory, memory);
    return memory;
}

void hv_model_file_free(HvModelFile *file)
{
    if (!file)
        return;
    g_ptr_array_unref(file->memory);
    g_free(file);
}
