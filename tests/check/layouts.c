/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The text of results files: any name, any number, scores that come and go; and more of it than
 * there is room for. */
#include <gst/check/gstcheck.h>

#include <json-glib/json-glib.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include <glib/gstdio.h>

#include "gst/resultsfile.h"

/* Names that no metric has, to be escaped. */
static const gchar *const hostile[] =
    { "a_b_", "a_b", "a+b", "a b", "\"<&>'\\", "1,2|3",
  "\xc3\xa9t\xc3\xa9", ""
};

static HvAggregates *aggregates;

static const char *const *
no_names (const void *params)
{
  static const char *const none[] = { NULL };

  return none;
}

static double
sum_of (const double *sums)
{
  return *sums;
}

static const HvAggregate how = {.names = no_names,.n_sums = 1,.score = sum_of };

static gchar *
document (GstHipVmafResultsFormat format, guint precision,
    const gchar * const *names, guint n, const gdouble * scores)
{
  GstHipVmafResults *results = gst_hip_vmaf_results_new (format, precision);
  GString *text = g_string_new (NULL);
  gdouble one = 1.5;

  aggregates = hv_aggregates_new ();
  hv_aggregates_add (aggregates, hv_aggregates_find (aggregates, "a\"gg",
          &how), &one);
  gst_hip_vmaf_results_begin (results, names, n, 64, 48);
  gst_hip_vmaf_results_head (results, 12.345, text);
  gst_hip_vmaf_results_add (results, 0, scores, text);
  gst_hip_vmaf_results_add (results, 7, scores, text);
  gst_hip_vmaf_results_tail (results, aggregates, text);
  gst_hip_vmaf_results_free (results);
  hv_aggregates_free (aggregates);
  return g_string_free (text, FALSE);
}

static gchar *
hostile_document (GstHipVmafResultsFormat format)
{
  static const gdouble scores[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

  return document (format, 0, hostile, G_N_ELEMENTS (hostile), scores);
}

GST_START_TEST (test_json_names)
{
  gchar *text = hostile_document (GST_HIP_VMAF_RESULTS_JSON);
  GError *error = NULL;
  JsonNode *node = json_from_string (text, &error);
  JsonObject *root, *metrics;
  JsonArray *frames;

  fail_unless (node != NULL, "%s in %s", error ? error->message : "", text);
  root = json_node_get_object (node);
  frames = json_object_get_array_member (root, "frames");
  fail_unless_equals_int (json_array_get_length (frames), 2);
  metrics = json_object_get_object_member (json_array_get_object_element
      (frames, 1), "metrics");
  fail_unless_equals_int (json_object_get_size (metrics),
      G_N_ELEMENTS (hostile));
  for (guint i = 0; i < G_N_ELEMENTS (hostile); i++)
    fail_unless_equals_float (json_object_get_double_member (metrics,
            hostile[i]), i);
  fail_unless_equals_float (json_object_get_double_member
      (json_object_get_object_member (root, "aggregate_metrics"), "a\"gg"),
      1.5);
  json_node_unref (node);
  g_free (text);
}

GST_END_TEST;

typedef struct
{
  guint frames, attributes, metrics;
  gchar *names;
} Seen;

static void
on_start (GMarkupParseContext * context, const gchar * element,
    const gchar ** names, const gchar ** values, gpointer data, GError ** error)
{
  Seen *seen = data;

  if (g_str_equal (element, "frame")) {
    seen->frames++;
    seen->attributes = g_strv_length ((gchar **) names);
  } else if (g_str_equal (element, "metric")) {
    fail_unless_equals_string (names[0], "name");
    fail_unless_equals_string (values[0], hostile[seen->metrics++]);
  } else if (g_str_equal (element, "aggregate_metrics")) {
    fail_unless_equals_string (names[0], "a_gg");
    fail_unless_equals_string (values[0], "1.500000");
  } else if (g_str_equal (element, "fyi")) {
    fail_unless_equals_string (values[0], "12.35");
  } else if (g_str_equal (element, "params")) {
    fail_unless_equals_string (values[0], "64");
    fail_unless_equals_string (values[1], "48");
  }
}

GST_START_TEST (test_xml_names)
{
  static const GMarkupParser parser = {.start_element = on_start };
  gchar *text = hostile_document (GST_HIP_VMAF_RESULTS_XML);
  Seen seen = { 0 };
  GMarkupParseContext *context = g_markup_parse_context_new (&parser, 0, &seen,
      NULL);
  GError *error = NULL;

  fail_unless (g_markup_parse_context_parse (context, text, -1, &error)
      && g_markup_parse_context_end_parse (context, &error), "%s in %s",
      error ? error->message : "", text);
  fail_unless_equals_int (seen.frames, 2);
  fail_unless_equals_int (seen.attributes, 1 + G_N_ELEMENTS (hostile));
  fail_unless_equals_int (seen.metrics, G_N_ELEMENTS (hostile));
  fail_unless (strstr (text, " a_b_=\"0.000000\" a_b=\"1.000000\" "
          "a_b__=\"2.000000\" a_b___=\"3.000000\" ") != NULL);
  g_markup_parse_context_free (context);
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_line_names)
{
  gchar *csv = hostile_document (GST_HIP_VMAF_RESULTS_CSV);
  gchar *sub = hostile_document (GST_HIP_VMAF_RESULTS_SUB);

  fail_unless (g_str_has_prefix (csv,
          "Frame,a_b_,a_b,a+b,a b,\"\"\"<&>'\\\",\"1,2|3\""
          ",\xc3\xa9t\xc3\xa9,,\n0,0.000000,1.000000,"), "%s", csv);
  fail_unless (strstr (sub,
          "{7}{8}frame: 7|a_b_: 0.000000|a_b: 1.000000|a+b: 2.000000|a b: "
          "3.000000|\"<&>'\\: 4.000000|1,2_3: 5.000000|") != NULL, "%s", sub);
  g_free (csv);
  g_free (sub);
}

GST_END_TEST;

/* As libvmaf prints them. */
GST_START_TEST (test_numbers)
{
  static const gchar *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
  const gdouble scores[] = { 1e-7, 2 / 3.0, -2.0000002499999998, DBL_MAX, NAN,
    INFINITY, -INFINITY
  };
  static const gchar *const expected[] = { "\n7,0.0000001000000000,0.666667,"
        "-2.0000002499999998,17976931348623157",
    "\n7,9.9999999999999995e-08,0.66666666666666663,-2.0000002499999998,"
        "1.7976931348623157e+308,nan,inf,-inf,\n"
  };
  gchar *text = document (GST_HIP_VMAF_RESULTS_CSV, __i__ ? 17 : 0, names, 7,
      scores);

  fail_unless (strstr (text, expected[__i__]) != NULL, "%s", text);
  fail_unless (g_str_has_suffix (text, ",nan,inf,-inf,\n"), "%s", text);
  g_free (text);
  text = document (GST_HIP_VMAF_RESULTS_JSON, 0, names, 7, scores);
  fail_unless (strstr (text, "\"e\": null,\n        \"f\": null,\n") != NULL,
      "%s", text);
  g_free (text);
}

GST_END_TEST;

/* A score that comes late is a column after the others; rows without one have an empty cell. */
GST_START_TEST (test_columns)
{
  static const gchar *const early[] = { "y", "u" }, *const late[] = { "w",
    "y"
  };
  static const gdouble scores[] = { 1, 2 };
  GstHipVmafResults *results =
      gst_hip_vmaf_results_new (GST_HIP_VMAF_RESULTS_CSV, 6);
  GString *text = g_string_new (NULL), *head = g_string_new (NULL);

  gst_hip_vmaf_results_begin (results, early, 2, 64, 48);
  gst_hip_vmaf_results_add (results, 0, scores, text);
  gst_hip_vmaf_results_begin (results, late, 2, 32, 48);
  gst_hip_vmaf_results_add (results, 1, scores, text);
  gst_hip_vmaf_results_head (results, 1, head);
  fail_unless_equals_string (head->str, "Frame,y,u,w,\n");
  fail_unless_equals_string (text->str, "0,1,2,\n1,2,,1,\n");
  g_string_free (text, TRUE);
  g_string_free (head, TRUE);
  gst_hip_vmaf_results_free (results);
}

GST_END_TEST;

typedef struct
{
  gint times;                   /* atomic */
  gchar *last;
} Failures;

static void
on_failed (gpointer user, const GError * error)
{
  Failures *failures = user;

  g_free (failures->last);
  failures->last = g_strdup (error->message);
  g_atomic_int_inc (&failures->times);
}

static guint
count_frames (const gchar * path)
{
  JsonParser *parser = json_parser_new ();
  guint n;

  fail_unless (json_parser_load_from_file (parser, path, NULL));
  n = json_array_get_length (json_object_get_array_member (json_node_get_object
          (json_parser_get_root (parser)), "frames"));
  g_object_unref (parser);
  return n;
}

static void
limit_files (gsize size)
{
  struct rlimit limit;

  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &limit);
  limit.rlim_cur = size > 0 ? size : limit.rlim_max;
  setrlimit (RLIMIT_FSIZE, &limit);
}

static GPtrArray *
long_names (guint n)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (names, g_strdup_printf ("%01600u", i));
  return names;
}

/* 75 MB of frames; with `full`, on a disk that has room for them only at the end. Returns how many
 * of them are missing then. */
static guint
write_many (gboolean full)
{
  const guint frames = 1200;
  gchar *path = g_strdup_printf ("%s/hipvmaf-many-%d", g_get_tmp_dir (),
      getpid ());
  GPtrArray *names = long_names (40);
  gdouble scores[40] = { 0 };
  Failures failures = { 0 };
  HvAggregates *none = hv_aggregates_new ();
  GstHipVmafResultsFile *file = gst_hip_vmaf_results_file_new (path,
      GST_HIP_VMAF_RESULTS_JSON, 0, on_failed, &failures, NULL);
  guint missing = 0;

  limit_files (full ? 1000 : 0);
  gst_hip_vmaf_results_file_set_aggregates (file, none);
  gst_hip_vmaf_results_file_begin (file, (const gchar * const *) names->pdata,
      names->len, 64, 48);
  for (guint i = 0; i < frames; i++) {
    gst_hip_vmaf_results_file_add (file, i, scores);
    if (i == 0)
      gst_hip_vmaf_results_file_complete (file);
  }
  fail_unless_equals_int (g_atomic_int_get (&failures.times), full);
  fail_unless (g_file_test (path, G_FILE_TEST_EXISTS) == !full);
  limit_files (0);
  gst_hip_vmaf_results_file_close (file);
  if (failures.times == 2)
    missing = atoi (failures.last);
  fail_unless_equals_int (count_frames (path) + missing, frames);
  gst_hip_vmaf_results_file_free (file);
  hv_aggregates_free (none);
  g_ptr_array_unref (names);
  g_free (failures.last);
  g_unlink (path);
  g_free (path);
  return missing;
}

/* While nothing can be written, frames wait in memory, but not without end; how many are missing is
 * said. */
GST_START_TEST (test_lost)
{
  fail_unless (write_many (TRUE) > 0);
}

GST_END_TEST;

/* Where writing works, none is lost, however fast they come. */
GST_START_TEST (test_fast)
{
  fail_unless_equals_int (write_many (FALSE), 0);
}

GST_END_TEST;

static Suite *
layouts_suite (void)
{
  Suite *suite = suite_create ("layouts");
  TCase *tests = tcase_create ("layouts");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_json_names);
  tcase_add_test (tests, test_xml_names);
  tcase_add_test (tests, test_line_names);
  tcase_add_loop_test (tests, test_numbers, 0, 2);
  tcase_add_test (tests, test_columns);
  tcase_add_test (tests, test_lost);
  tcase_add_test (tests, test_fast);
  return suite;
}

GST_CHECK_MAIN (layouts);
