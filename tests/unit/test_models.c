/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sets of models: files that are right, files that are wrong and what is said of them, names, the
 * metrics that are asked for, and predictions. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "kernels/vmaf/model.h"

/* A model of two features and two support vectors. */
static const char plain[] =
    "{\"param_dict\": {\"C\": 4.0}, \"model_dict\": {"
    "\"model_type\": \"LIBSVMNUSVR\", \"norm_type\": \"linear_rescale\", "
    "\"score_clip\": [0, 50.0], "
    "\"score_transform\": {\"p0\": 1.0, \"p1\": 0.5, \"p2\": null, \"knots\": [[0, 0], [50, 100]], "
    "\"out_gte_in\": \"true\", \"enabled\": false}, "
    "\"feature_names\": [\"VMAF_integer_feature_adm2_score\", "
    "\"VMAF_integer_feature_motion2_score\"], "
    "\"feature_opts_dicts\": [{\"adm_enhn_gain_limit\": 1.0}, {\"motion_moving_average\": true}], "
    "\"slopes\": [0.01, 2.0, 0.5], \"intercepts\": [-0.5, 0.25, 1.0], "
    "\"model\": \"svm_type nu_svr\\nkernel_type rbf\\ngamma 0.04\\nnr_class 2\\ntotal_sv 2\\n"
    "rho -1.5\\nSV\\n-4 1:0.5 2:0.25 \\n2.5 2:1e-1 \\n\"}}";

static double plain_score(double adm2, double motion2)
{
    double a = 2 * adm2 + 0.25, m = 0.5 * motion2 + 1;
    double sum = -4 * exp(-0.04 * ((a - 0.5) * (a - 0.5) + (m - 0.25) * (m - 0.25))) +
                 2.5 * exp(-0.04 * (a * a + (m - 0.1) * (m - 0.1))) + 1.5;
    return (sum + 0.5) / 0.01;
}

static char *replace(const char *text, const char *from, const char *to)
{
    char **parts = g_strsplit(text, from, 2);
    g_assert_nonnull(parts[1]);
    char *result = g_strjoinv(to, parts);
    g_strfreev(parts);
    return result;
}

/* A collection of n models like the plain one, that differ in rho. */
static char *make_collection(unsigned n)
{
    GString *text = g_string_new("{");
    char *one = replace(plain, "LIBSVMNUSVR", "BOOTSTRAP_LIBSVMNUSVR");
    for (unsigned i = 0; i < n; i++) {
        char *rho = g_strdup_printf("rho -1.5%u", i);
        char *model = replace(one, "rho -1.5", rho);
        g_string_append_printf(text, "%s\"%u\": %s", i ? ", " : "", i, model);
        g_free(model);
        g_free(rho);
    }
    g_free(one);
    g_string_append(text, "}");
    return g_string_free(text, FALSE);
}

static HvModels *parse(const char *text, HvModelSettings settings)
{
    GError *error = NULL;
    HvModels *models = hv_models_parse(text, strlen(text), "dir/my model.json", &settings, &error);
    g_assert_no_error(error);
    return models;
}

static void check_names(const HvModels *models, const char *const *want)
{
    unsigned n;
    const char *const *names = hv_models_score_names(models, &n);
    g_assert_cmpuint(n, ==, g_strv_length((char **)want));
    for (unsigned i = 0; i <= n; i++)
        g_assert_cmpstr(names[i], ==, want[i]);
}

static const char *const inputs[] = {"other", "integer_motion2_mma", "integer_adm2_egl_1"};

/* For adm2 0.75 and motion2 4. */
static void run(HvModels *models, double *out)
{
    const double scores[] = {99, 4, 0.75};
    GError *error = NULL;
    HvPredictor *predictor = hv_predictor_new(models, inputs, G_N_ELEMENTS(inputs), &error);
    g_assert_no_error(error);
    hv_models_unref(models);
    hv_predictor_run(predictor, scores, out);
    hv_predictor_free(predictor);
}

#define CHECK(got, want) g_assert_cmpfloat_with_epsilon(got, want, 1e-11)

static void test_plain(void)
{
    double out[2], score = plain_score(0.75, 4);
    HvModels *models = parse(plain, (HvModelSettings){0});
    check_names(models, (const char *const[]){"score", "my_model", NULL});
    run(models, out);
    g_assert_cmpfloat(out[0], ==, 50);
    g_assert_cmpfloat(out[1], ==, out[0]);
    g_assert_cmpfloat(score, >, 50);

    run(parse(plain, (HvModelSettings){.disable_clip = TRUE}), out);
    CHECK(out[0], score);
    run(parse(plain, (HvModelSettings){.disable_clip = TRUE, .enable_transform = TRUE}), out);
    CHECK(out[0], MAX((1 + 0.5 * score) * 2, score));
}

static void test_features(void)
{
    HvModels *models = parse(plain, (HvModelSettings){0});
    GPtrArray *features = hv_features_parse("motion=mma=true:debug=true", NULL);
    hv_models_add_features(models, features);
    hv_models_add_features(models, features);
    g_assert_cmpuint(features->len, ==, 2);
    const HvFeature *motion = g_ptr_array_index(features, 0), *adm = g_ptr_array_index(features, 1);
    g_assert_cmpstr(motion->info->name, ==, "motion");
    g_assert_cmpstr(adm->info->name, ==, "adm");
    char *name = hv_options_score_name(adm->info->options, adm->params, "integer_adm2");
    g_assert_cmpstr(name, ==, "integer_adm2_egl_1");
    g_free(name);
    g_ptr_array_unref(features);
    hv_models_unref(models);
}

static void test_collection(void)
{
    char *text = make_collection(4);
    double out[6], base = plain_score(0.75, 4);
    HvModels *models = parse(text, (HvModelSettings){.disable_clip = TRUE});
    check_names(models, (const char *const[]){"score", "my_model", NULL});
    run(models, out);
    CHECK(out[0], base);

    models = parse(text, (HvModelSettings){.disable_clip = TRUE, .conf_interval = TRUE});
    check_names(models, (const char *const[]){"score", "my_model", "vmaf_bagging", "vmaf_stddev",
                                              "vmaf_ci_p95_lo", "vmaf_ci_p95_hi", NULL});
    run(models, out);
    /* models 1 to 3 are 1, 2 and 3 above: rho differs by 0.01 */
    CHECK(out[0], base);
    CHECK(out[2], base + 2);
    CHECK(out[3], sqrt(2.0 / 3));
    CHECK(out[4], base + 1 + 0.05);
    CHECK(out[5], base + 3 - 0.05);
    g_free(text);
}

static void test_wrong_predictor(void)
{
    GError *error = NULL;
    HvModels *models = parse(plain, (HvModelSettings){0});
    g_assert_null(hv_predictor_new(models, inputs, 2, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_MODEL);
    g_assert_cmpstr(error->message, ==, "my_model needs integer_adm2_egl_1, which is not measured");
    g_clear_error(&error);
    const char *const clash[] = {"my_model"};
    g_assert_null(hv_predictor_new(models, clash, 1, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_MODEL);
    g_clear_error(&error);
    hv_models_unref(models);
}

/* ---- what is wrong, and what is said of it ---- */

static void check_error(const char *text, gsize length, const char *message)
{
    GError *error = NULL;
    HvModelSettings settings = {0};
    g_assert_null(hv_models_parse(text, length, "x.json", &settings, &error));
    g_assert_nonnull(error);
    g_assert_true(error->domain == HV_ERROR);
    if (!strstr(error->message, message) || !g_str_has_prefix(error->message, "x.json: "))
        g_error("\"%s\" is not in \"%s\"", message, error->message);
    g_error_free(error);
}

static const struct Wrong {
    const char *from, *to, *message;
} wrong[] = {
    {"{\"param", "[{\"param", "JSON: "},
    {"\"C\": 4.0", "\"C\": \x01", "line 1 is not JSON"},
    {"\"C\": 4.0", "\"C\": /* [ */ 4", "line 1 is not JSON"},
    {"\"C\": 4.0", "\"C\": [[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]", "line 1 is nested too deeply"},
    {"\"C\": 4.0", "\"C\": ]4", "line 1 "},
    {"\"model_dict\": {", "\"model_dict\": null, \"x\": {", "model_dict is missing"},
    {"\"model_dict\"", "\"0\"", "the file has one model: a collection has two"},
    {"\"model_dict\"", "\"model\"", "the file has neither"},
    {"\"LIBSVM", "\"LIBLINEAR", "model_type is none of"},
    {"\"linear_rescale\"", "\"clip_0to1\"", "norm_type is neither"},
    {"\"slopes\": [0.01, 2.0, 0.5]", "\"slopes\": [0.01, 2.0]", "slopes has 2 numbers, not 3"},
    {"\"slopes\": [0.01, 2.0, 0.5]", "\"slopes\": 1", "slopes is missing, or no list"},
    {"\"slopes\": [0.01, 2.0, 0.5]", "\"slopes\": [0.01, 2.0, \"x\"]",
     "slopes [2] is not a finite number"},
    {"\"slopes\": [0.01,", "\"slopes\": [0,", "slopes [0] is 0"},
    {"-0.5, 0.25, 1.0", "-0.5, 0.25, 1e999", "intercepts [2] is not a finite number"},
    {"[0, 50.0]", "[0, 50.0, 3]", "score_clip has 3 numbers, not 2"},
    {"[0, 50.0]", "[0, -1]", "score_clip has a least value"},
    {"\"p1\": 0.5", "\"p1\": []", "score_transform p1 is not a finite number"},
    {"[50, 100]", "[50]", "score_transform knots[1] is not a pair"},
    {"[50, 100]", "7", "score_transform knots[1] is not a pair"},
    {"[50, 100]", "[0, 100]", "score_transform knots[1] does not rise"},
    {"[[0, 0], [50, 100]]", "[[0, 0]]", "score_transform knots is not a list of 2"},
    {"\"out_gte_in\": \"true\"", "\"out_gte_in\": 1", "out_gte_in is neither true nor false"},
    {"\"VMAF_integer_feature_adm2_score\"", "7", "feature_names [0] is no string"},
    {"VMAF_integer_feature_adm2_score", "Psychic_feature_psychic_score",
     "the model needs Psychic_feature_psychic_score, which no metric"},
    {"VMAF_integer_feature_adm2_score", "_feature__score", "the model needs _feature__score"},
    {"VMAF_integer_feature_adm2_score", "x_feature_score", "the model needs x_feature_score"},
    {"[{\"adm_enhn_gain_limit\": 1.0}, ", "[", "feature_opts_dicts is not a list of 2"},
    {"{\"adm_enhn_gain_limit\": 1.0}", "3", "feature_opts_dicts has an element that is no object"},
    {"\"adm_enhn_gain_limit\": 1.0", "\"adm_enhn_gain_limit\": []",
     "feature_opts_dicts has a value"},
    {"\"adm_enhn_gain_limit\": 1.0", "\"adm_enhn_gain_limit\": 0.5", "is out of range: 1 to 100"},
    {"\"adm_enhn_gain_limit\": 1.0", "\"adm_magic\": 0.5", "adm has no option \"adm_magic\""},
    {"\"adm_enhn_gain_limit\": 1.0", "\"debug=true:adm_csf_mode\": 1",
     "feature_opts_dicts has an option"},
    {"nu_svr", "c_svc", "model, line 1: svm_type is not nu_svr"},
    {"rbf", "linear", "model, line 2: kernel_type is not rbf"},
    {"gamma 0.04", "gamma x", "model, line 3: gamma is not followed by a number"},
    {"gamma 0.04", "gamma -1", "model, line 3: gamma is below 0"},
    {"gamma 0.04\\n", "", "gamma or rho is missing"},
    {"nr_class 2", "nr_class 3", "model, line 4: nr_class"},
    {"total_sv 2", "total_sv 3", "there are 2 support vectors"},
    {"total_sv 2", "total_sv 1", "model, line 9: there are more support vectors"},
    {"total_sv 2", "total_sv 4294967298", "total_sv is not a whole number"},
    {"rho -1.5", "wat -1.5", "model, line 6: unknown word \"wat\""},
    {"-4 1:0.5", "x 1:0.5", "model, line 8: no coefficient"},
    {"1:0.5", "3:0.5", "model, line 8: index 3"},
    {"1:0.5", "0:0.5", "model, line 8: index 0"},
    {"1:0.5", "2:0.5", "model, line 8: index 2"},
    {"1:0.5", "1:inf", "model, line 8: index 1 has no number"},
    {"1:0.5", "1;0.5", "is not index:value"},
    {"\"model\": \"", "\"model\": 3, \"x\": \"", "model is missing, or no string"},
    {"\"slopes\"", "\"chroma_correction_parameter\": 3, \"slopes\"",
     "chroma_correction_parameter needs one feature adm3"},
};

static void test_wrong(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        char *text = replace(plain, wrong[i].from, wrong[i].to);
        check_error(text, strlen(text), wrong[i].message);
        g_free(text);
    }
    check_error("", 0, "the file is no JSON object");
    check_error("[]", 2, "the file is no JSON object");
    check_error("3", 1, "the file is no JSON object");
    check_error("{\"a\0b\": 1}", 10, "line 1 has a zero byte");
}

static void test_wrong_collection(void)
{
    char *good = make_collection(3), *text = replace(good, "\"2\":", "\"3\":");
    check_error(text, strlen(text), "the file has no model \"2\", though it has 3 models");
    g_free(text);
    text = make_collection(2);
    hv_models_unref(parse(text, (HvModelSettings){0}));
    g_free(text);
    text = make_collection(201);
    check_error(text, strlen(text), "the file has 201 models, more than 200");
    g_free(text);
    text = replace(good, "BOOTSTRAP_", "");
    check_error(text, strlen(text), "model 1: model_type is not a bootstrap");
    g_free(text);
    char *last = strstr(good, "\"1\":");
    memcpy(strstr(last, "motion_moving"), "motion_movinx", 13);
    check_error(good, strlen(good), "model 1: feature_names or feature_opts_dicts differ");
    g_free(good);
}

/* Every way of cutting the text short, and many small damages: an error that says where, or a model
 * that predicts. Under ASan and valgrind this finds what the reader does wrong. */
static void try_text(const char *text, gsize length)
{
    GError *error = NULL;
    HvModelSettings settings = {.enable_transform = TRUE, .conf_interval = FALSE};
    HvModels *models = hv_models_parse(text, length, "x.json", &settings, &error);
    if (!models) {
        g_assert_nonnull(error);
        g_assert_true(g_str_has_prefix(error->message, "x.json: "));
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
        g_error_free(error);
        return;
    }
    g_assert_no_error(error);
    HvPredictor *predictor = hv_predictor_new(models, inputs, G_N_ELEMENTS(inputs), NULL);
    const double scores[] = {99, 4, 0.75};
    double out[2];
    if (predictor)
        hv_predictor_run(predictor, scores, out);
    hv_predictor_free(predictor);
    hv_models_unref(models);
}

static void damage(GString *text)
{
    static const char *const pieces[] = {"\"", "{", "}", "[",     "]",    ",",     ":",     "\\",
                                         "0",  "-", "9", "1e308", "null", "true",  "\\n",   " ",
                                         "\0", "/", "e", "\xff",  "nan",  "total", "\\u00", "1:"};
    gsize at = (gsize)g_test_rand_int_range(0, (gint32)text->len);
    switch (g_test_rand_int_range(0, 4)) {
    case 0:
        text->str[at] = (char)g_test_rand_int();
        break;
    case 1: {
        gsize n = (gsize)g_test_rand_int_range(1, 40);
        g_string_erase(text, (gssize)at, (gssize)MIN(text->len - at, n));
        break;
    }
    case 2:
        g_string_insert(text, (gssize)at, pieces[g_test_rand_int_range(0, G_N_ELEMENTS(pieces))]);
        break;
    default: {
        gsize from = (gsize)g_test_rand_int_range(0, (gint32)text->len);
        char *copy = g_strndup(text->str + from, (gsize)g_test_rand_int_range(1, 60));
        g_string_insert(text, (gssize)at, copy);
        g_free(copy);
    }
    }
}

static void test_damaged(void)
{
    char *collection = make_collection(3);
    const char *const texts[] = {plain, collection};
    for (gsize length = 0; length < sizeof plain; length++)
        try_text(plain, length);
    for (unsigned i = 0; i < (g_test_thorough() ? 400000 : 6000); i++) {
        GString *text = g_string_new(texts[i & 1]);
        for (int n = g_test_rand_int_range(1, 4); n > 0 && text->len; n--)
            damage(text);
        try_text(text->str, text->len);
        g_string_free(text, TRUE);
    }
    g_free(collection);
}

/* ---- lists of files ---- */

typedef struct Files {
    char *dir, *one, *two, *comma;
} Files;

static void files_open(Files *files, gconstpointer data)
{
    files->dir = g_dir_make_tmp("hipvmaf-models-XXXXXX", NULL);
    files->one = g_build_filename(files->dir, "one.json", NULL);
    files->two = g_build_filename(files->dir, "two.json", NULL);
    files->comma = g_build_filename(files->dir, "1,2.json", NULL);
    char *collection = make_collection(3);
    g_assert_true(g_file_set_contents(files->one, plain, -1, NULL));
    g_assert_true(g_file_set_contents(files->two, collection, -1, NULL));
    g_assert_true(g_file_set_contents(files->comma, plain, -1, NULL));
    g_free(collection);
}

static void files_close(Files *files, gconstpointer data)
{
    g_remove(files->one);
    g_remove(files->two);
    g_remove(files->comma);
    g_rmdir(files->dir);
    g_free(files->one);
    g_free(files->two);
    g_free(files->comma);
    g_free(files->dir);
}

static void check_list(const char *text, gboolean interval, const char *const *names)
{
    GError *error = NULL;
    HvModelSettings settings = {.conf_interval = interval};
    HvModels *models = hv_models_load(text, &settings, &error);
    g_assert_no_error(error);
    check_names(models, names);
    hv_models_unref(models);
}

static void check_list_error(const char *text, gboolean interval, const char *message)
{
    GError *error = NULL;
    HvModelSettings settings = {.conf_interval = interval};
    g_assert_null(hv_models_load(text, &settings, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_MODEL);
    if (!strstr(error->message, message))
        g_error("\"%s\" is not in \"%s\"", message, error->message);
    g_error_free(error);
}

static void test_list(Files *files, gconstpointer data)
{
    check_list(NULL, FALSE, (const char *const[]){NULL});
    check_list(" , ", TRUE, (const char *const[]){NULL});
    char *list = g_strdup_printf(" %s,,%s,%s", files->one, files->two, files->one);
    check_list(list, FALSE, (const char *const[]){"score", "one", "two", NULL});
    check_list(list, TRUE,
               (const char *const[]){"score", "one", "two", "vmaf_bagging", "vmaf_stddev",
                                     "vmaf_ci_p95_lo", "vmaf_ci_p95_hi", NULL});
    check_list(files->comma, FALSE, (const char *const[]){"score", "model_1_2", NULL});
    g_free(list);
}

static void test_list_errors(Files *files, gconstpointer data)
{
    check_list_error("vmaf_v9", FALSE, "vmaf_v9: No such file or directory. model-filename takes");
    check_list_error("vmaf_v9", FALSE, "vmaf_v0.6.1, vmaf_v0.6.1neg, vmaf_4k_v0.6.1");
    check_list_error(files->dir, FALSE, "it is no regular file");
    check_list_error("/dev/zero", FALSE, "it is no regular file");
    check_list_error(files->one, TRUE, "one has no confidence interval");
    char *other = g_build_filename(files->dir, ".", "one.json", NULL);
    char *list = g_strdup_printf("%s,%s", files->one, other);
    check_list_error(list, FALSE, "its score would be called one, and so is another");
    g_free(list);
    g_free(other);
}

/* ---- the built-in models ---- */

/* All of them, what they ask for, and what they are called. */
static void test_builtin(void)
{
    HvModelSettings settings = {.conf_interval = TRUE};
    GError *error = NULL;
    char *list = g_strjoinv(",", (char **)hv_models_builtin_names());
    HvModels *models = hv_models_load(list, &settings, &error);
    GPtrArray *features = hv_features_new();
    g_assert_no_error(error);
    check_names(models,
                (const char *const[]){"score", "vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1",
                                      "vmaf_4k_v0.6.1neg", "vmaf_b_v0.6.3", "vmaf_bagging",
                                      "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi", NULL});
    hv_models_add_features(models, features);
    g_assert_cmpuint(features->len, ==, 5); /* adm and vif twice, the motion of both once */
    g_ptr_array_unref(features);
    hv_models_unref(models);
    g_free(list);
}

static const char *const v061_inputs[] = {"integer_adm2",
                                          "integer_motion2",
                                          "integer_vif_scale0",
                                          "integer_vif_scale1",
                                          "integer_vif_scale2",
                                          "integer_vif_scale3",
                                          "integer_adm2_egl_1",
                                          "integer_vif_scale0_egl_1",
                                          "integer_vif_scale1_egl_1",
                                          "integer_vif_scale2_egl_1",
                                          "integer_vif_scale3_egl_1"};

static void predict(const char *name, const double *scores, double *out)
{
    HvModelSettings settings = {.conf_interval = strstr(name, "_b_") != NULL,
                                .enable_transform = TRUE};
    GError *error = NULL;
    HvModels *models = hv_models_load(name, &settings, &error);
    g_assert_no_error(error);
    HvPredictor *predictor =
        hv_predictor_new(models, v061_inputs, G_N_ELEMENTS(v061_inputs), &error);
    g_assert_no_error(error);
    hv_predictor_run(predictor, scores, out);
    hv_predictor_free(predictor);
    hv_models_unref(models);
}

/* libvmaf's files, where they are beside the checkout, say the same as the built-in tables. */
static void test_files(void)
{
    const char *shared = g_getenv("HIPVMAF_SHARED");
    char *dir = g_build_filename(shared ? shared : "", "models", NULL);
    if (!shared || !g_file_test(dir, G_FILE_TEST_IS_DIR))
        g_test_skip("there is no folder ../shared/models beside the checkout");
    for (const char *const *name = hv_models_builtin_names(); *name && !g_test_failed(); name++) {
        char *file = g_strconcat(dir, "/", *name, ".json", NULL);
        for (unsigned i = 0; i < 20 && g_file_test(file, G_FILE_TEST_EXISTS); i++) {
            double scores[G_N_ELEMENTS(v061_inputs)], a[6] = {0}, b[6] = {0};
            for (unsigned k = 0; k < G_N_ELEMENTS(scores); k++)
                scores[k] = g_test_rand_double_range(0, k == 1 ? 20 : 1);
            predict(*name, scores, a);
            predict(file, scores, b);
            g_assert_cmpmem(a, sizeof a, b, sizeof b);
        }
        g_free(file);
    }
    g_free(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/models/plain", test_plain);
    g_test_add_func("/models/features", test_features);
    g_test_add_func("/models/collection", test_collection);
    g_test_add_func("/models/wrong-predictor", test_wrong_predictor);
    g_test_add_func("/models/wrong", test_wrong);
    g_test_add_func("/models/wrong-collection", test_wrong_collection);
    g_test_add_func("/models/damaged", test_damaged);
    g_test_add_func("/models/builtin", test_builtin);
    g_test_add_func("/models/files", test_files);
    g_test_add("/models/list", Files, NULL, files_open, test_list, files_close);
    g_test_add("/models/list-errors", Files, NULL, files_open, test_list_errors, files_close);
    return g_test_run();
}
