/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Options: values, every error's text, and the names of scores. */
#include "kernels/common/error.h"
#include "kernels/common/options.h"

typedef struct Params {
    gboolean debug, skip;
    int mode;
    double scale, limit;
} Params;

/* Not in alphabetical order: score names are. */
static const HvOption table[] = {
    {.name = "debug", .type = HV_OPTION_BOOL, .offset = offsetof(Params, debug)},
    {.name = "x_skip",
     .alias = "sk",
     .type = HV_OPTION_BOOL,
     .in_name = TRUE,
     .offset = offsetof(Params, skip)},
    {.name = "x_scale",
     .alias = "scf",
     .type = HV_OPTION_DOUBLE,
     .in_name = TRUE,
     .offset = offsetof(Params, scale),
     .fallback = 1,
     .min = -0.5,
     .max = 50},
    {.name = "x_mode",
     .alias = "m",
     .type = HV_OPTION_INT,
     .in_name = TRUE,
     .offset = offsetof(Params, mode),
     .fallback = 0,
     .min = -2,
     .max = 3},
    {.name = "a_limit",
     .type = HV_OPTION_DOUBLE,
     .in_name = TRUE,
     .offset = offsetof(Params, limit),
     .fallback = 100,
     .min = 1,
     .max = 100},
    {NULL},
};

static Params parse(const char *text)
{
    Params params = {0};
    GError *error = NULL;
    hv_options_init(table, &params);
    gboolean ok = hv_options_parse(table, "x", text, &params, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return params;
}

static void check_error(const char *text, const char *message)
{
    Params params = {0};
    GError *error = NULL;
    hv_options_init(table, &params);
    g_assert_false(hv_options_parse(table, "x", text, &params, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_OPTION);
    g_assert_cmpstr(error->message, ==, message);
    g_error_free(error);
}

static void test_defaults(void)
{
    const char *texts[] = {NULL, "", " ", ":", " : :"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        Params params = parse(texts[i]);
        g_assert_false(params.debug);
        g_assert_false(params.skip);
        g_assert_cmpint(params.mode, ==, 0);
        g_assert_cmpfloat(params.scale, ==, 1);
        g_assert_cmpfloat(params.limit, ==, 100);
    }
}

static void test_values(void)
{
    Params params = parse("debug=true:x_mode=3:x_scale=0.1:a_limit=1e1:x_skip=true");
    g_assert_true(params.debug);
    g_assert_true(params.skip);
    g_assert_cmpint(params.mode, ==, 3);
    g_assert_cmpfloat(params.scale, ==, 0.1);
    g_assert_cmpfloat(params.limit, ==, 10);

    params = parse(" m = -2 :: scf = -.5 : sk=false: ");
    g_assert_cmpint(params.mode, ==, -2);
    g_assert_cmpfloat(params.scale, ==, -0.5);
    g_assert_false(params.skip);

    params = parse("m=+1:scf=50");
    g_assert_cmpint(params.mode, ==, 1);
    g_assert_cmpfloat(params.scale, ==, 50);
}

static void test_unknown(void)
{
    static const HvOption none[] = {{NULL}};
    GError *error = NULL;
    const char *has = "debug, x_skip (sk), x_scale (scf), x_mode (m), a_limit";
    char *foo = g_strdup_printf("x has no option \"foo\"; it has %s", has);
    char *case_matters = g_strdup_printf("x has no option \"DEBUG\"; it has %s", has);
    char *nameless = g_strdup_printf("x has no option \"\"; it has %s", has);
    check_error("debug=true:foo=1", foo);
    check_error("foo", foo);
    check_error("DEBUG=true", case_matters);
    check_error("=true", nameless);
    g_free(foo);
    g_free(case_matters);
    g_free(nameless);

    g_assert_false(hv_options_parse(none, "y", "foo=1", NULL, &error));
    g_assert_error(error, HV_ERROR, HV_ERROR_OPTION);
    g_assert_cmpstr(error->message, ==, "y has no option \"foo\"; it has none");
    g_error_free(error);
}

static void test_malformed(void)
{
    check_error("debug", "debug of x has no value; it takes true or false");
    check_error("debug=", "debug of x has no value; it takes true or false");
    check_error("m= ", "x_mode of x has no value; it takes a whole number from -2 to 3");
    check_error("scf", "x_scale of x has no value; it takes a number from -0.5 to 50");

    check_error("debug=yes", "debug=yes of x is malformed; it takes true or false");
    check_error("debug=True", "debug=True of x is malformed; it takes true or false");
    check_error("debug=1", "debug=1 of x is malformed; it takes true or false");

    const char *not_whole[] = {"1.5", "one", "1 2", "0x1", "-", "1e0", "1-", "--1", "1=1"};
    for (unsigned i = 0; i < G_N_ELEMENTS(not_whole); i++) {
        char *text = g_strdup_printf("x_mode=%s", not_whole[i]);
        char *message = g_strdup_printf(
            "x_mode=%s of x is malformed; it takes a whole number from -2 to 3", not_whole[i]);
        check_error(text, message);
        g_free(text);
        g_free(message);
    }
    const char *no_number[] = {"a", "1,5", "0x1p1", "nan", "inf", "1e", "1.5.", "1 1", "-"};
    for (unsigned i = 0; i < G_N_ELEMENTS(no_number); i++) {
        char *text = g_strdup_printf("x_scale=%s", no_number[i]);
        char *message = g_strdup_printf(
            "x_scale=%s of x is malformed; it takes a number from -0.5 to 50", no_number[i]);
        check_error(text, message);
        g_free(text);
        g_free(message);
    }
}

static void test_range(void)
{
    check_error("x_mode=4", "x_mode=4 of x is out of range: -2 to 3");
    check_error("m=-3", "x_mode=-3 of x is out of range: -2 to 3");
    check_error("m=4294967297", "x_mode=4294967297 of x is out of range: -2 to 3");
    check_error("m=99999999999999999999999", "x_mode=99999999999999999999999 of x is out of range: "
                                             "-2 to 3");
    check_error("scf=50.000001", "x_scale=50.000001 of x is out of range: -0.5 to 50");
    check_error("scf=1e999", "x_scale=1e999 of x is out of range: -0.5 to 50");
    check_error("a_limit=0.999999999", "a_limit=0.999999999 of x is out of range: 1 to 100");
}

static void test_twice(void)
{
    check_error("m=1:m=1", "x_mode of x is given twice");
    check_error("x_mode=1:debug=true:m=2", "x_mode of x is given twice");
}

static void check_name(const char *text, const char *expected)
{
    Params params = parse(text);
    char *name = hv_options_score_name(table, &params, "integer_x2");
    g_assert_cmpstr(name, ==, expected);
    g_free(name);
}

static void test_score_names(void)
{
    check_name("", "integer_x2");
    check_name("debug=true", "integer_x2");
    check_name("m=0:scf=1:sk=false:a_limit=100", "integer_x2");
    check_name("m=-0:scf=1.0", "integer_x2");
    check_name("sk=true", "integer_x2_sk");
    check_name("m=-1", "integer_x2_m_-1");
    check_name("scf=0.123456789", "integer_x2_scf_0.123457");
    check_name("scf=-0", "integer_x2_scf_0");
    check_name("scf=0.00001", "integer_x2_scf_1e-05");
    check_name("sk=true:scf=2:m=3:a_limit=1.5:debug=true", "integer_x2_a_limit_1.5_m_3_scf_2_sk");
}

static void test_equal(void)
{
    Params a = parse("m=1:debug=false"), b = parse("x_mode=1"), c = parse("m=1:debug=true");
    g_assert_true(hv_options_equal(table, &a, &b));
    g_assert_false(hv_options_equal(table, &a, &c));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/options/defaults", test_defaults);
    g_test_add_func("/options/values", test_values);
    g_test_add_func("/options/unknown", test_unknown);
    g_test_add_func("/options/malformed", test_malformed);
    g_test_add_func("/options/range", test_range);
    g_test_add_func("/options/twice", test_twice);
    g_test_add_func("/options/score-names", test_score_names);
    g_test_add_func("/options/equal", test_equal);
    return g_test_run();
}
