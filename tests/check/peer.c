/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * That a program written for GStreamer 1.28's vmaf element finds what it looks for: pads,
 * properties with their types, ranges and defaults, the message. The pipeline is like that of the
 * element's own test (tests/check/elements/vmaf.c there), with its name changed. */
#include "common.h"

typedef struct
{
  GMainLoop *loop;
  gboolean ended;
  guint frames;
  GstStructure *last;           /* of the messages named VMAF */
} Watcher;

static void
take_scores (Watcher * watcher, const GstStructure * structure)
{
  if (!gst_structure_has_name (structure, "VMAF"))
    return;
  g_clear_pointer (&watcher->last, gst_structure_free);
  watcher->last = gst_structure_copy (structure);
  watcher->frames +=
      g_str_equal (gst_structure_get_string (structure, "type"), "frame");
}

static gboolean
on_message (GstBus * bus, GstMessage * message, gpointer data)
{
  Watcher *watcher = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
    case GST_MESSAGE_WARNING:
      fail ("%" GST_PTR_FORMAT, message);
      break;
    case GST_MESSAGE_EOS:
      watcher->ended = TRUE;
      g_main_loop_quit (watcher->loop);
      break;
    case GST_MESSAGE_ELEMENT:
      take_scores (watcher, gst_message_get_structure (message));
      break;
    default:
      break;
  }
  return TRUE;
}

#define RED_PICTURES(n) "videotestsrc num-buffers=" #n " pattern=solid-color " \
    "foreground-color=0x00ff0000 ! " \
    "video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! "

static void
play (Watcher * watcher, const gchar * properties)
{
  gchar *text = g_strdup_printf (RED_PICTURES (5) "v.ref_sink "
      "hipvmaf name=v frame-message=true threads=0 %s ! fakesink "
      RED_PICTURES (5) "v.dist_sink", properties);
  GstElement *pipeline = gst_parse_launch (text, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);

  g_object_set (pipeline, "async-handling", TRUE, NULL);
  watcher->loop = g_main_loop_new (NULL, FALSE);
  gst_bus_add_watch (bus, on_message, watcher);
  fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING)
      == GST_STATE_CHANGE_FAILURE);
  g_main_loop_run (watcher->loop);
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_main_loop_unref (watcher->loop);
  g_free (text);
}

static void
expect_fields (const GstStructure * structure)
{
  static const gchar *const times[] = { "timestamp", "stream-time",
    "running-time", "duration"
  };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    fail_unless (gst_structure_has_field_typed (structure, times[i],
            G_TYPE_UINT64), "%s", times[i]);
  fail_unless (gst_structure_has_field_typed (structure, "score",
          G_TYPE_DOUBLE));
  fail_unless (gst_structure_has_field_typed (structure, "type",
          G_TYPE_STRING));
}

GST_START_TEST (test_identical_frames)
{
  Watcher watcher = { NULL };

  play (&watcher, "");
  fail_unless (watcher.ended);
  fail_unless_equals_int (watcher.frames, 5);
  fail_unless (watcher.last != NULL);
  expect_fields (watcher.last);
  fail_unless_equals_string (gst_structure_get_string (watcher.last, "type"),
      "pooled");
  gst_structure_free (watcher.last);
}

GST_END_TEST;

/* With psnr, ssim and ms-ssim each is there, under that element's name as under libvmaf's; nothing
 * differs, and PSNR is as large as it gets. */
GST_START_TEST (test_extras)
{
  static const gchar *const names[] = { "psnr-y", "ssim", "ms-ssim" };
  static const gchar *const same[] =
      { "psnr_y", "float_ssim", "float_ms_ssim" };
  static const gdouble expected[] = { 60, 1, 1 };
  Watcher watcher = { NULL };
  gdouble value, other;

  play (&watcher, "psnr=true ssim=true ms-ssim=true");
  fail_unless_equals_int (watcher.frames, 5);
  expect_fields (watcher.last);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    fail_unless (gst_structure_get_double (watcher.last, names[i], &value));
    fail_unless (gst_structure_get_double (watcher.last, same[i], &other));
    fail_unless_equals_float (value, other);
    fail_unless (ABS (value - expected[i]) < 1e-6, "%s is %f", names[i], value);
  }
  fail_if (gst_structure_has_field (watcher.last, "psnr_cb"));
  gst_structure_free (watcher.last);
}

GST_END_TEST;

typedef struct
{
  const gchar *name, *kind;
  gint64 min, max, standard;
} Property;

/* As that element has them. */
static const Property properties[] = {
  {"disable-clip", "gboolean", 0, 1, FALSE},
  {"enable-transform", "gboolean", 0, 1, FALSE},
  {"phone-model", "gboolean", 0, 1, FALSE},
  {"psnr", "gboolean", 0, 1, FALSE},
  {"ssim", "gboolean", 0, 1, FALSE},
  {"ms-ssim", "gboolean", 0, 1, FALSE},
  {"conf-interval", "gboolean", 0, 1, FALSE},
  {"frame-message", "gboolean", 0, 1, FALSE},
  {"threads", "guint", 0, G_MAXINT, 0},
  {"subsample", "guint", 1, 128, 1},
  {"pool-method", "GstHipVmafPoolMethod", 0, 0, 3},
  {"results-format", "GstHipVmafResultsFormat", 0, 0, 0},
  {"log-level", "GstHipVmafLogLevel", 0, 0, 0}
};

static gint64
standard_value (GParamSpec * spec)
{
  const GValue *value = g_param_spec_get_default_value (spec);

  if (G_IS_PARAM_SPEC_BOOLEAN (spec))
    return g_value_get_boolean (value);
  if (G_IS_PARAM_SPEC_ENUM (spec))
    return g_value_get_enum (value);
  fail_unless (G_IS_PARAM_SPEC_UINT (spec));
  return g_value_get_uint (value);
}

GST_START_TEST (test_properties)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    const Property *expected = &properties[i];
    GParamSpec *spec = g_object_class_find_property (klass, expected->name);

    fail_unless (spec != NULL, "no %s", expected->name);
    fail_unless ((spec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE);
    fail_unless_equals_string (g_type_name (spec->value_type), expected->kind);
    fail_unless (standard_value (spec) == expected->standard, "%s",
        expected->name);
    if (G_IS_PARAM_SPEC_UINT (spec)) {
      fail_unless (G_PARAM_SPEC_UINT (spec)->minimum == expected->min);
      fail_unless (G_PARAM_SPEC_UINT (spec)->maximum == expected->max);
    }
  }
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (test_strings)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);
  gchar *model, *results;

  g_object_get (element, "model-filename", &model, "results-filename",
      &results, NULL);
  fail_unless_equals_string (model, "vmaf_v0.6.1");
  fail_unless (results == NULL);
  g_free (model);
  gst_object_unref (element);
}

GST_END_TEST;

typedef struct
{
  const gchar *property, *nick;
  gint value;
} Choice;

static const Choice choices[] = {
  {"pool-method", "min", 1},
  {"pool-method", "max", 2},
  {"pool-method", "mean", 3},
  {"pool-method", "harmonic_mean", 4},
  {"results-format", "none", 0},
  {"results-format", "xml", 1},
  {"results-format", "json", 2},
  {"results-format", "csv", 3},
  {"results-format", "sub", 4},
  {"log-level", "none", 0},
  {"log-level", "error", 1},
  {"log-level", "warning", 2},
  {"log-level", "info", 3},
  {"log-level", "debug", 4}
};

/* By number as by nick. */
GST_START_TEST (test_enums)
{
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);
  gint value;

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    gst_util_set_object_arg (G_OBJECT (element), choices[i].property,
        choices[i].nick);
    g_object_get (element, choices[i].property, &value, NULL);
    fail_unless_equals_int (value, choices[i].value);
    g_object_set (element, choices[i].property, choices[i].value, NULL);
  }
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (test_pads)
{
  static const gchar *const names[] = { "ref_sink", "dist_sink", "src" };
  GstElement *element = gst_element_factory_make ("hipvmaf", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstPad *pad = gst_element_get_static_pad (element, names[i]);

    fail_unless (pad != NULL, "no %s", names[i]);
    gst_object_unref (pad);
  }
  gst_object_unref (element);
}

GST_END_TEST;

static GstDebugLevel
threshold (void)
{
  GstDebugCategory *category;

  GST_DEBUG_CATEGORY_GET (category, "hipvmaf");
  return gst_debug_category_get_threshold (category);
}

/* log-level raises what is logged; the most talkative of the elements decides, and none of it stays
 * when they are gone. */
GST_START_TEST (test_log_level)
{
  GstElement *one = gst_element_factory_make ("hipvmaf", NULL);
  GstElement *other = gst_element_factory_make ("hipvmaf", NULL);
  GstDebugLevel before = threshold ();

  fail_unless (before < GST_LEVEL_INFO);
  gst_util_set_object_arg (G_OBJECT (one), "log-level", "info");
  fail_unless_equals_int (threshold (), GST_LEVEL_INFO);
  gst_util_set_object_arg (G_OBJECT (other), "log-level", "debug");
  fail_unless_equals_int (threshold (), GST_LEVEL_DEBUG);
  gst_util_set_object_arg (G_OBJECT (other), "log-level", "warning");
  fail_unless_equals_int (threshold (), GST_LEVEL_INFO);
  gst_object_unref (one);
  fail_unless_equals_int (threshold (), MAX (before, GST_LEVEL_WARNING));
  gst_object_unref (other);
  fail_unless_equals_int (threshold (), before);
}

GST_END_TEST;

static Suite *
peer_suite (void)
{
  Suite *suite = suite_create ("peer");
  TCase *tests = leak_checked_case (suite, "peer");

  tcase_add_test (tests, test_identical_frames);
  tcase_add_test (tests, test_extras);
  tcase_add_test (tests, test_properties);
  tcase_add_test (tests, test_strings);
  tcase_add_test (tests, test_enums);
  tcase_add_test (tests, test_pads);
  tcase_add_test (tests, test_log_level);
  return suite;
}

GST_CHECK_MAIN (peer);
