/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Properties: what there is, the defaults, and the error that a wrong value gets. */
#include "common.h"

typedef struct
{
  const gchar *property, *value;
  const gchar *words[5];        /* of the error, NULL-terminated */
} WrongValue;

static const WrongValue wrong_values[] = {
  {"features", "nosuch", {"nosuch", "adm"}},
  {"features", "adm,nosuch=a=1", {"nosuch", "adm"}},
  {"features", "adm=nosuch=1", {"nosuch", "adm_enhn_gain_limit",
          "adm_csf_mode", "debug"}},
  {"features", "adm=adm_enhn_gain_limit=1000", {"adm_enhn_gain_limit", "1000",
          "1", "100"}},
  {"features", "adm=adm_enhn_gain_limit=0.5", {"adm_enhn_gain_limit", "0.5"}},
  {"features", "adm=adm_enhn_gain_limit=much", {"adm_enhn_gain_limit",
          "much"}},
  {"features", "adm=adm_csf_mode=77", {"adm_csf_mode", "77"}},
  {"features", "adm=debug=perhaps", {"debug", "perhaps"}},
  {"features", "adm=debug", {"debug"}},
  {"model-filename", "vmaf_v9", {"vmaf_v9", "No such file", "vmaf_v0.6.1",
          "vmaf_b_v0.6.3"}},
  {"model-filename", "vmaf_v0.6.1,/dev/null", {"/dev/null", "regular file"}},
  {"conf-interval", "true", {"conf-interval", "vmaf_b_v0.6.3"}},
  {"backend", "hip", {"hip", "cpu"}},
};

/* Every one is an element error that names what is wrong and what there is. */
GST_START_TEST (test_wrong_value)
{
  const WrongValue *test = &wrong_values[__i__];
  Rig *rig = rig_new (NULL);

  g_object_set (rig->element, "model-filename", "vmaf_v0.6.1", NULL);
  if (g_str_equal (test->property, "backend"))
    g_setenv ("HIPVMAF_RUNTIME", "/nowhere", TRUE);
  gst_util_set_object_arg (G_OBJECT (rig->element), test->property,
      test->value);
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, ERROR_MESSAGE, 1);
  rig_expect_text (rig, ERROR_MESSAGE, test->words);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

/* After an error, with the value put right, it works. */
GST_START_TEST (test_put_right)
{
  Rig *rig = rig_new ("features", "nosuch", NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0");
  feed_script (&rig->dist, "0");
  rig_wait (rig, ERROR_MESSAGE, 1);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  g_object_set (rig->element, "features", "adm", NULL);
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  feed_begin (&rig->ref, "format=I420");
  feed_begin (&rig->dist, "format=I420");
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  rig_free (rig);
}

GST_END_TEST;

/* The options' aliases and repeated entries are read as libvmaf's. */
GST_START_TEST (test_features)
{
  static const struct
  {
    const gchar *features, *name;
  } tests[] = {
    {"adm", "integer_adm2"},
    {"adm,adm", "integer_adm2"},
    {"adm=adm_enhn_gain_limit=1.0", "integer_adm2_egl_1"},
    {"adm=egl=1.0", "integer_adm2_egl_1"},
    {"adm,adm=egl=1.0:debug=true", "integer_adm_num_scale3_egl_1"},
    {"adm,adm=egl=1.0:debug=true", "integer_adm2"},
    {"adm=debug=true", "integer_adm_den"},
  };
  Rig *rig = rig_new ("features", tests[__i__].features, NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  fail_unless (gst_structure_has_field_typed (rig_score (rig, FRAME_MESSAGE,
              1), tests[__i__].name, G_TYPE_DOUBLE));
  fail_unless (gst_structure_has_field_typed (rig_score (rig, POOLED_MESSAGE,
              0), tests[__i__].name, G_TYPE_DOUBLE));
  rig_free (rig);
}

GST_END_TEST;

/* A buffer that is smaller than its caps say is no picture: one WARNING, and the stream goes on. */
GST_START_TEST (test_short_buffer)
{
  Rig *rig = rig_new (NULL);
  Feed *feed = __i__ ? &rig->dist : &rig->ref;

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0");
  feed_script (&rig->dist, "0");
  for (guint i = 1; i < 4; i++) {
    GstBuffer *buffer = feed_frame (feed, i * FRAME_MS * GST_MSECOND);
    gst_buffer_set_size (buffer, 100);
    feed_push (feed, buffer);
  }
  feed_script (feed == &rig->ref ? &rig->dist : &rig->ref, "40 80 120");
  rig_play (rig, "160", "160");
  fail_unless_equals_int (rig_count (rig, BUFFER), 5);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

static void
expect_default (GstElement * element, const gchar * property,
    const gchar * expected)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS
      (element), property);
  GValue value = G_VALUE_INIT;
  gchar *text;

  fail_unless (spec != NULL, "no property %s", property);
  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (element), property, &value);
  text = G_VALUE_HOLDS_STRING (&value) ?
      g_strdup (g_value_get_string (&value)) : gst_value_serialize (&value);
  fail_unless (g_strcmp0 (text, expected) == 0, "%s is %s, not %s", property,
      text, expected);
  g_free (text);
  g_value_unset (&value);
}

/* Names and defaults are the vmaf element's, and the design's. */
GST_START_TEST (test_defaults)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);
  GParamSpec *spec;

  gst_object_ref_sink (element);
  expect_default (element, "model-filename", "vmaf_v0.6.1");
  expect_default (element, "features", "");
  expect_default (element, "enable-transform", "false");
  expect_default (element, "phone-model", "false");
  expect_default (element, "disable-clip", "false");
  expect_default (element, "conf-interval", "false");
  expect_default (element, "threads", "0");
  expect_default (element, "subsample", "1");
  expect_default (element, "frame-message", "false");
  expect_default (element, "pool-method", "mean");
  expect_default (element, "backend", "auto");
  expect_default (element, "force-live", "false");
  spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element),
      "force-live");
  fail_unless (spec->flags & G_PARAM_CONSTRUCT_ONLY);
  spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats");
  fail_unless (spec->flags & G_PARAM_READABLE);
  fail_if (spec->flags & G_PARAM_WRITABLE);
  fail_unless (g_type_is_a (spec->value_type, GST_TYPE_STRUCTURE));
  gst_object_unref (element);
}

GST_END_TEST;

/* Every type that the plugin registers has a name of its own. */
GST_START_TEST (test_type_names)
{
  static const gchar *enums[] = { "pool-method", "backend" };
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);

  gst_object_ref_sink (element);
  fail_unless (g_str_has_prefix (G_OBJECT_TYPE_NAME (element), "GstHipVmaf"));
  for (guint i = 0; i < G_N_ELEMENTS (enums); i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS
        (element), enums[i]);
    fail_unless (g_str_has_prefix (g_type_name (spec->value_type),
            "GstHipVmaf"), "%s", g_type_name (spec->value_type));
  }
  gst_object_unref (element);
}

GST_END_TEST;

/* auto takes what there is, without a WARNING, and `stats` says what that was. */
GST_START_TEST (test_backend)
{
  Rig *rig = rig_new (NULL);
  GstStructure *stats;

  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", __i__ ? "cpu" :
      "auto");
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
      __i__ ? "cpu" : check_backend ());
  gst_structure_free (stats);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
errors_suite (void)
{
  Suite *suite = suite_create ("errors");
  TCase *tests = leak_checked_case (suite, "errors");

  tcase_add_loop_test (tests, test_wrong_value, 0, G_N_ELEMENTS (wrong_values));
  tcase_add_test (tests, test_put_right);
  tcase_add_loop_test (tests, test_features, 0, 7);
  tcase_add_loop_test (tests, test_short_buffer, 0, 2);
  tcase_add_test (tests, test_defaults);
  tcase_add_test (tests, test_type_names);
  tcase_add_loop_test (tests, test_backend, 0, 2);
  return suite;
}

GST_CHECK_MAIN (errors);
