/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Properties set in every order, twice, in every state, with any value that they take: they say what
 * they were set to, no run is disturbed, and what cannot be is an error message. */
#include "common.h"

#include <glib/gstdio.h>

static gchar *results_path;

static void
set_up (void)
{
  gchar *folder = g_dir_make_tmp ("hipvmaf-properties-XXXXXX", NULL);

  results_path = g_build_filename (folder, "results", NULL);
  g_free (folder);
}

static void
tear_down (void)
{
  gchar *folder = g_path_get_dirname (results_path);

  g_unlink (results_path);
  fail_unless_equals_int (g_rmdir (folder), 0);
  g_free (folder);
  g_clear_pointer (&results_path, g_free);
}

/* The element's own that can be set at any time. */
static GPtrArray *
settable (GstElement * element)
{
  GPtrArray *found = g_ptr_array_new ();
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    if (specs[i]->owner_type == G_OBJECT_TYPE (element)
        && specs[i]->flags & G_PARAM_WRITABLE
        && !(specs[i]->flags & G_PARAM_CONSTRUCT_ONLY))
      g_ptr_array_add (found, specs[i]);
  }
  g_free (specs);
  fail_unless (found->len >= 20);
  return found;
}

static const gchar *
any_string (GRand * random, const gchar * name)
{
  static const gchar *const models[] = { "", "vmaf_v0.6.1neg", "no-such",
    "vmaf_4k_v0.6.1,vmaf_b_v0.6.3", "/", NULL
  };
  static const gchar *const features[] = { "adm", "motion=debug=true,vif",
    "adm=nothing=1", "", ",", NULL
  };
  const gchar *const results[] = { results_path, results_path, "",
    "/nowhere/results", "/", NULL
  };
  static const gchar *const scores[] = { "", "score", "integer_adm2", "no-such",
    ",", NULL
  };
  static const gchar *const labels[] = { "", "a=b,c=", "a", "pad=b", ",", NULL
  };
  guint i = g_rand_int_range (random, 0, 6);

  return g_str_equal (name, "model-filename") ? models[i]
      : g_str_equal (name, "features") ? features[i]
      : g_str_equal (name, "alert-score") ? scores[i]
      : g_str_equal (name, "metrics-labels") ? labels[i] : results[i];
}

static void
any_value (GRand * random, GParamSpec * spec, GValue * value)
{
  g_value_init (value, spec->value_type);
  if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_value_set_boolean (value, g_rand_boolean (random));
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    guint min = G_PARAM_SPEC_UINT (spec)->minimum;

    g_value_set_uint (value, g_rand_int_range (random, min, min + 8));
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    g_value_set_int (value, g_rand_int_range (random, -1, 3));
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    g_value_set_int64 (value, g_rand_int_range (random, -2, 3) * FRAME_MS
        * (gint64) GST_MSECOND);
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    g_value_set_uint64 (value, g_rand_int_range (random, 0, 3) * FRAME_MS
        * GST_MSECOND);
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    g_value_set_double (value, g_rand_boolean (random) ?
        G_PARAM_SPEC_DOUBLE (spec)->minimum : g_rand_double_range (random, -1,
            101));
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;

    g_value_set_enum (value, klass->values[g_rand_int_range (random, 0,
                klass->n_values)].value);
  } else {
    fail_unless (G_IS_PARAM_SPEC_STRING (spec), "what is %s?", spec->name);
    g_value_set_string (value, any_string (random, spec->name));
  }
}

/* No string and an empty one are the same to the element. */
static gboolean
is_same (GParamSpec * spec, const GValue * a, const GValue * b)
{
  if (!G_IS_PARAM_SPEC_STRING (spec))
    return g_param_values_cmp (spec, a, b) == 0;
  return g_strcmp0 (g_value_get_string (a) ? g_value_get_string (a) : "",
      g_value_get_string (b) ? g_value_get_string (b) : "") == 0;
}

static void
set_one (GstElement * element, GRand * random, GParamSpec * spec)
{
  GValue value = G_VALUE_INIT, now = G_VALUE_INIT;

  any_value (random, spec, &value);
  g_object_set_property (G_OBJECT (element), spec->name, &value);
  g_object_set_property (G_OBJECT (element), spec->name, &value);
  g_value_init (&now, spec->value_type);
  g_object_get_property (G_OBJECT (element), spec->name, &now);
  fail_unless (is_same (spec, &value, &now), "%s", spec->name);
  g_value_unset (&value);
  g_value_unset (&now);
}

/* All of them, in an order of its own. */
static void
set_all (GstElement * element, GRand * random)
{
  GPtrArray *specs = settable (element);

  while (specs->len > 0)
    set_one (element, random, g_ptr_array_steal_index (specs,
            g_rand_int_range (random, 0, specs->len)));
  g_ptr_array_unref (specs);
}

static void
set_sane (GstElement * element)
{
  GPtrArray *specs = settable (element);

  for (guint i = 0; i < specs->len; i++) {
    GParamSpec *spec = g_ptr_array_index (specs, i);

    g_object_set_property (G_OBJECT (element), spec->name,
        g_param_spec_get_default_value (spec));
  }
  g_ptr_array_unref (specs);
  g_object_set (element, "model-filename", "", "features", "adm",
      "frame-message", TRUE, "results-filename", results_path, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", check_backend ());
}

/* In states without data, up and down: a start that fails says why. */
GST_START_TEST (test_states)
{
  GRand *random = g_rand_new_with_seed (__i__);
  Rig *rig = rig_new (NULL);

  gst_debug_set_active (FALSE);
  for (guint step = 0; step < 20; step++) {
    guint errors = rig_count (rig, ERROR_MESSAGE);
    GstState state = g_rand_int_range (random, GST_STATE_NULL,
        GST_STATE_PLAYING + 1);

    set_all (rig->element, random);
    if (gst_element_set_state (rig->element, state) == GST_STATE_CHANGE_FAILURE)
      fail_unless (rig_count (rig, ERROR_MESSAGE) > errors);
  }
  gst_element_set_state (rig->element, GST_STATE_NULL);
  set_sane (rig->element);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "0 40");
  rig_expect_pairs (rig, "0:1 40:2");
  fail_unless (g_file_test (results_path, G_FILE_TEST_EXISTS));
  rig_free (rig);
  g_rand_free (random);
}

GST_END_TEST;

/* Messages may be switched off when a score comes. */
static void
wait_scored (Rig * rig, guint n)
{
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  while (rig_stat (rig, "scored") < n && g_get_monotonic_time () < end)
    g_usleep (5000);
  fail_unless_equals_uint64 (rig_stat (rig, "scored"), n);
}

/* While a stream is measured: all but frame-message, pool-method and log-level wait for the next
 * start. */
GST_START_TEST (test_running)
{
  GRand *random = g_rand_new_with_seed (1000 + __i__);
  Rig *rig = rig_new (NULL);

  gst_debug_set_active (FALSE);
  set_sane (rig->element);
  rig_start_streams (rig, "format=I420");
  for (guint i = 0; i < 8; i++) {
    set_all (rig->element, random);
    feed_push (&rig->ref, feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND));
    feed_push (&rig->dist, feed_frame (&rig->dist, i * FRAME_MS * GST_MSECOND));
    if (g_rand_boolean (random))
      wait_scored (rig, i + 1);
    else
      rig_wait (rig, BUFFER, i + 1);
  }
  wait_scored (rig, 8);
  set_all (rig->element, random);
  rig_play (rig, "", "");
  rig_expect_stats (rig, "pairs=8 scored=8 failed=0");
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless (g_file_test (results_path, G_FILE_TEST_EXISTS));
  rig_free (rig);
  g_rand_free (random);
}

GST_END_TEST;

/* The ends of every range; what is beyond them is refused by the type. */
GST_START_TEST (test_ranges)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);
  GPtrArray *specs = settable (element);

  for (guint i = 0; i < specs->len; i++) {
    GParamSpecUInt *spec = g_ptr_array_index (specs, i);
    const gchar *name = G_PARAM_SPEC (spec)->name;
    guint value;

    if (!G_IS_PARAM_SPEC_UINT (spec))
      continue;
    g_object_set (element, name, spec->minimum, NULL);
    g_object_get (element, name, &value, NULL);
    fail_unless_equals_int (value, spec->minimum);
    g_object_set (element, name, spec->maximum, NULL);
    g_object_get (element, name, &value, NULL);
    fail_unless_equals_int (value, spec->maximum);
  }
  g_ptr_array_unref (specs);
  gst_object_unref (element);
}

GST_END_TEST;

/* What gst-inspect shows: each has a sentence, and says when it may be changed. */
GST_START_TEST (test_described)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);
  GPtrArray *specs = settable (element);

  for (guint i = 0; i < specs->len; i++) {
    GParamSpec *spec = g_ptr_array_index (specs, i);

    fail_unless (strlen (g_param_spec_get_blurb (spec)) > 20, "%s", spec->name);
    fail_unless (spec->flags & (GST_PARAM_MUTABLE_READY
            | GST_PARAM_MUTABLE_PLAYING), "%s", spec->name);
    if (G_IS_PARAM_SPEC_ENUM (spec))
      fail_unless (g_str_has_prefix (g_type_name (spec->value_type),
              "GstHipVmaf"), "%s", spec->name);
  }
  g_ptr_array_unref (specs);
  gst_object_unref (element);
}

GST_END_TEST;

/* Settings can be kept under a name, and are there again; but for what GstPreset of 1.22 escapes once
 * more than it takes back (commas). */
GST_START_TEST (test_preset)
{
  GRand *random = g_rand_new_with_seed (7);
  GstElement *one = gst_element_factory_make ("hipvmaf", NULL);
  GstElement *other = gst_element_factory_make ("hipvmaf", NULL);
  GPtrArray *specs = settable (one);

  fail_unless (GST_IS_PRESET (one));
  set_all (one, random);
  for (guint i = 0; i < specs->len; i++) {
    if (G_IS_PARAM_SPEC_STRING (g_ptr_array_index (specs, i)))
      g_object_set (one, G_PARAM_SPEC (g_ptr_array_index (specs, i))->name,
          results_path, NULL);
  }
  fail_unless (gst_preset_save_preset (GST_PRESET (one), "check"));
  fail_unless (gst_preset_load_preset (GST_PRESET (other), "check"));
  for (guint i = 0; i < specs->len; i++) {
    GParamSpec *spec = g_ptr_array_index (specs, i);
    GValue a = G_VALUE_INIT, b = G_VALUE_INIT;

    g_value_init (&a, spec->value_type);
    g_value_init (&b, spec->value_type);
    g_object_get_property (G_OBJECT (one), spec->name, &a);
    g_object_get_property (G_OBJECT (other), spec->name, &b);
    fail_unless (is_same (spec, &a, &b), "%s", spec->name);
    g_value_unset (&a);
    g_value_unset (&b);
  }
  fail_unless (gst_preset_delete_preset (GST_PRESET (one), "check"));
  g_ptr_array_unref (specs);
  gst_object_unref (one);
  gst_object_unref (other);
  g_rand_free (random);
}

GST_END_TEST;

static Suite *
properties_suite (void)
{
  Suite *suite = suite_create ("properties");
  TCase *tests = leak_checked_case (suite, "properties");

  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, test_states, 0, 12);
  tcase_add_loop_test (tests, test_running, 0, 12);
  tcase_add_test (tests, test_preset);
  tcase_add_test (tests, test_ranges);
  tcase_add_test (tests, test_described);
  return suite;
}

GST_CHECK_MAIN (properties);
