/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The `features` text, with a table of two metrics. */
#include <string.h>

#include "kernels/common/metric.h"

typedef struct Params {
    gboolean debug;
    int mode;
} Params;

static const HvOption options[] = {
    {.name = "debug", .type = HV_OPTION_BOOL, .offset = offsetof(Params, debug)},
    {.name = "mode", .type = HV_OPTION_INT, .offset = offsetof(Params, mode), .max = 3},
    {NULL},
};

static gboolean validate(const void *data, const HvFormat *format, GError **error)
{
    const Params *params = data;
    g_assert_null(format);
    if (!params->debug || params->mode != 3)
        return TRUE;
    g_set_error(error, HV_ERROR, HV_ERROR_OPTION, "two: debug and mode=3 do not go together");
    return FALSE;
}

static const HvMetricInfo one = {.name = "one", .options = options, .params_size = sizeof(Params)};
static const HvMetricInfo two = {
    .name = "two", .options = options, .params_size = sizeof(Params), .validate = validate};
static const HvMetricInfo *const metrics[] = {&one, &two, NULL};

static GPtrArray *parse(const char *text, unsigned n)
{
    GError *error = NULL;
    GPtrArray *features = hv_features_parse_from(metrics, text, &error);
    g_assert_no_error(error);
    g_assert_nonnull(features);
    g_assert_cmpuint(features->len, ==, n);
    return features;
}

static void check(const GPtrArray *features, unsigned i, const HvMetricInfo *info, gboolean debug,
                  int mode)
{
    const HvFeature *feature = g_ptr_array_index(features, i);
    const Params *params = feature->params;
    g_assert_true(feature->info == info);
    g_assert_cmpint(params->debug, ==, debug);
    g_assert_cmpint(params->mode, ==, mode);
}

static void check_error(const char *text, HvErrorCode code, const char *message)
{
    GError *error = NULL;
    g_assert_null(hv_features_parse_from(metrics, text, &error));
    g_assert_error(error, HV_ERROR, (int)code);
    g_assert_cmpstr(error->message, ==, message);
    g_error_free(error);
}

static void test_lists(void)
{
    GPtrArray *features = parse("two=debug=true:mode=2,one", 2);
    check(features, 0, &two, TRUE, 2);
    check(features, 1, &one, FALSE, 0);
    g_ptr_array_unref(features);

    features = parse(" one , two = mode = 1 ", 2);
    check(features, 0, &one, FALSE, 0);
    check(features, 1, &two, FALSE, 1);
    g_ptr_array_unref(features);

    features = parse(",one=,, ,two=:mode=1:,", 2);
    check(features, 0, &one, FALSE, 0);
    check(features, 1, &two, FALSE, 1);
    g_ptr_array_unref(features);
}

static void test_empty(void)
{
    const char *texts[] = {NULL, "", " ", ",", " , ,"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        g_ptr_array_unref(parse(texts[i], 0));
}

static void test_repeated(void)
{
    GPtrArray *features = parse("one,one=mode=1,one=debug=false,two,one=mode=1:debug=false,one", 3);
    check(features, 0, &one, FALSE, 0);
    check(features, 1, &one, FALSE, 1);
    check(features, 2, &two, FALSE, 0);
    g_ptr_array_unref(features);
}

/* "debug" adds scores: one entry with it serves both who ask for it and who do not. */
static void test_debug(void)
{
    GPtrArray *features = parse("one=mode=2,one=mode=2:debug=true,one=debug=true,one", 2);
    check(features, 0, &one, TRUE, 2);
    check(features, 1, &one, TRUE, 0);
    const Params same = {TRUE, 2}, other = {FALSE, 1};
    hv_features_add(features, &one, &same);
    g_assert_cmpuint(features->len, ==, 2);
    hv_features_add(features, &two, &same);
    hv_features_add(features, &one, &other);
    g_assert_cmpuint(features->len, ==, 4);
    check(features, 2, &two, TRUE, 2);
    check(features, 3, &one, FALSE, 1);
    g_ptr_array_unref(features);
}

static void test_errors(void)
{
    check_error("one,foo", HV_ERROR_UNKNOWN_METRIC,
                "there is no metric \"foo\"; there are: one, two");
    check_error("One", HV_ERROR_UNKNOWN_METRIC, "there is no metric \"One\"; there are: one, two");
    check_error("foo=bar=1", HV_ERROR_UNKNOWN_METRIC,
                "there is no metric \"foo\"; there are: one, two");
    check_error("=debug=true", HV_ERROR_UNKNOWN_METRIC,
                "there is no metric \"\"; there are: one, two");
    check_error("one two", HV_ERROR_UNKNOWN_METRIC,
                "there is no metric \"one two\"; there are: one, two");
    check_error("one,two=foo=1", HV_ERROR_OPTION, "two has no option \"foo\"; it has debug, mode");
    check_error("two=debug", HV_ERROR_OPTION, "debug of two has no value; it takes true or false");
    check_error("two=debug=true:mode=3", HV_ERROR_OPTION,
                "two: debug and mode=3 do not go together");

    static const HvMetricInfo *const none[] = {NULL};
    GError *error = NULL;
    g_assert_null(hv_features_parse_from(none, "one", &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_UNKNOWN_METRIC);
    g_assert_cmpstr(error->message, ==, "there is no metric \"one\"; there are: none");
    g_error_free(error);
}

/* The real table: every name is found, with its defaults. */
static void test_table(void)
{
    for (unsigned i = 0; hv_metrics[i]; i++) {
        GError *error = NULL;
        GPtrArray *features = hv_features_parse(hv_metrics[i]->name, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(features->len, ==, 1);
        const HvFeature *feature = g_ptr_array_index(features, 0);
        g_assert_true(feature->info == hv_metrics[i]);
        g_ptr_array_unref(features);
    }
    GError *error = NULL;
    g_assert_null(hv_features_parse("no-such-metric", &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_UNKNOWN_METRIC);
    g_error_free(error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/features/lists", test_lists);
    g_test_add_func("/features/empty", test_empty);
    g_test_add_func("/features/repeated", test_repeated);
    g_test_add_func("/features/debug", test_debug);
    g_test_add_func("/features/errors", test_errors);
    g_test_add_func("/features/table", test_table);
    return g_test_run();
}
