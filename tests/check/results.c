/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Results files: that they hold what the messages said, are whole whenever they are there, and what
 * becomes of a stream when they cannot be written. */
#include "common.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

/* A folder for each test, and the file's path in it. */
static gchar *folder, *path;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("hipvmaf-results-XXXXXX", NULL);
  fail_unless (folder != NULL);
  path = g_build_filename (folder, "results", NULL);
}

static guint
files_in_folder (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  g_dir_close (dir);
  return n;
}

/* Nothing but the file is left. */
static void
tear_down (void)
{
  g_unlink (path);
  fail_unless_equals_int (files_in_folder (), 0);
  fail_unless_equals_int (g_rmdir (folder), 0);
  g_clear_pointer (&path, g_free);
  g_clear_pointer (&folder, g_free);
}

static gchar *
contents (void)
{
  GError *error = NULL;
  gchar *text;

  g_file_get_contents (path, &text, NULL, &error);
  fail_unless (error == NULL, "%s", error ? error->message : "");
  return text;
}

static JsonParser *
parse_json (void)
{
  JsonParser *parser = json_parser_new ();
  GError *error = NULL;

  json_parser_load_from_file (parser, path, &error);
  fail_unless (error == NULL, "%s", error ? error->message : "");
  return parser;
}

static JsonObject *
root (JsonParser * parser)
{
  return json_node_get_object (json_parser_get_root (parser));
}

static JsonArray *
frames (JsonParser * parser)
{
  return json_object_get_array_member (root (parser), "frames");
}

static guint
n_frames (void)
{
  JsonParser *parser = parse_json ();
  guint n = json_array_get_length (frames (parser));

  g_object_unref (parser);
  return n;
}

static gdouble
score_of (const GstStructure * message, const gchar * name)
{
  gdouble score;

  fail_unless (gst_structure_get_double (message, name, &score), "no %s", name);
  return score;
}

/* Every number of `object` is the message's under that name, which is all the message has. */
static void
expect_scores (JsonObject * object, const GstStructure * message, gdouble error)
{
  GList *names = json_object_get_members (object);
  guint n = 0;

  for (gint i = 0; i < gst_structure_n_fields (message); i++)
    n += gst_structure_get_field_type (message,
        gst_structure_nth_field_name (message, i)) == G_TYPE_DOUBLE;
  fail_unless_equals_int (json_object_get_size (object), n);
  for (GList * name = names; name != NULL; name = name->next)
    fail_unless (fabs (json_object_get_double_member (object, name->data)
            - score_of (message, name->data)) <= error, "%s",
        (gchar *) name->data);
  g_list_free (names);
}

static void
expect_pooled (JsonParser * parser, const GstStructure * message, gdouble error)
{
  JsonObject *pooled =
      json_object_get_object_member (root (parser), "pooled_metrics");
  JsonObject *adm2 = json_object_get_object_member (pooled, "integer_adm2");
  gdouble min = json_object_get_double_member (adm2, "min");
  gdouble max = json_object_get_double_member (adm2, "max");

  fail_unless_equals_int (json_object_get_size (adm2), 4);
  fail_unless (min < max);
  fail_unless (json_object_get_double_member (adm2, "harmonic_mean") > min);
  fail_unless (fabs (json_object_get_double_member (adm2, "mean")
          - score_of (message, "integer_adm2")) <= error);
}

static void
expect_json (Rig * rig, const gint * indices, guint n, gdouble error)
{
  JsonParser *parser = parse_json ();

  fail_unless_equals_int (json_array_get_length (frames (parser)), n);
  for (guint i = 0; i < n; i++) {
    JsonObject *frame = json_array_get_object_element (frames (parser), i);

    fail_unless_equals_int (json_object_get_int_member (frame, "frameNum"),
        indices[i]);
    expect_scores (json_object_get_object_member (frame, "metrics"),
        rig_score (rig, FRAME_MESSAGE, i), error);
  }
  expect_pooled (parser, rig_score (rig, POOLED_MESSAGE, 0), error);
  fail_unless (json_object_get_double_member (root (parser), "fps") > 0);
  fail_unless (g_str_has_prefix (json_object_get_string_member (root (parser),
              "version"), "3.2.0"));
  g_object_unref (parser);
}

static const gint first_five[] = { 0, 1, 2, 3, 4 };

/* As precise as asked for; a name without a format is JSON. The file is there at EOS. */
GST_START_TEST (test_json)
{
  static const guint precisions[] = { 17, 0, 5 };
  static const gdouble errors[] = { 0, 5e-7, 5e-5 };
  Rig *rig = rig_new ("results-filename", path, "results-precision",
      precisions[__i__], NULL);

  if (__i__ == 0)
    gst_util_set_object_arg (G_OBJECT (rig->element), "results-format", "json");
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120 160", "0 40 80 120 160");
  expect_json (rig, first_five, 5, errors[__i__]);
  rig_free (rig);
}

GST_END_TEST;

/* Only measured frames are listed, under their own numbers. */
GST_START_TEST (test_subsample)
{
  static const gint indices[] = { 0, 3, 6 };
  Rig *rig = rig_new ("results-filename", path, "results-precision", 17,
      "subsample", 3, NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120 160 200 240", "0 40 80 120 160 200 240");
  expect_json (rig, indices, 3, 0);
  rig_free (rig);
}

GST_END_TEST;

static guint
occurrences (const gchar * text, const gchar * what)
{
  guint n = 0;

  for (const gchar * at = text; (at = strstr (at, what)) != NULL; at++)
    n++;
  return n;
}

/* Numbers are the same in all layouts. */
GST_START_TEST (test_layouts)
{
  static const gchar *const formats[] = { "xml", "csv", "sub" };
  static const gchar *const begins[] = { "<VMAF version=\"3.2.0",
    "Frame,integer_adm2,", "{0}{1}frame: 0|integer_adm2: "
  };
  static const gchar *const ends[] = { "</VMAF>\n", ",\n", "|\n" };
  static const gchar *const frame[] = { "<frame frameNum=\"%d\" ", "\n%d,",
    "frame: %d|"
  };
  Rig *rig = rig_new ("results-filename", path, "results-precision", 17, NULL);
  gchar *text, buffer[G_ASCII_DTOSTR_BUF_SIZE], *what;

  gst_util_set_object_arg (G_OBJECT (rig->element), "results-format",
      formats[__i__]);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  text = contents ();
  fail_unless (g_str_has_prefix (text, begins[__i__]), "%s", text);
  fail_unless (g_str_has_suffix (text, ends[__i__]), "%s", text);
  for (guint i = 0; i < 3; i++) {
    what = g_strdup_printf (frame[__i__], i);
    fail_unless_equals_int (occurrences (text, what), 1);
    g_free (what);
    g_ascii_formatd (buffer, sizeof (buffer), "%.17g",
        score_of (rig_score (rig, FRAME_MESSAGE, i), "integer_adm2"));
    fail_unless (strstr (text, buffer) != NULL, "no %s in %s", buffer, text);
  }
  g_free (text);
  rig_free (rig);
}

GST_END_TEST;

/* The first model's score is "vmaf", others have their names. */
GST_START_TEST (test_models)
{
  Rig *rig = rig_new ("results-filename", path, "results-precision", 17,
      "model-filename", "vmaf_v0.6.1neg,vmaf_b_v0.6.3", "conf-interval", TRUE,
      NULL);
  static const gchar *const names[] = { "vmaf_b_v0.6.3", "vmaf_bagging",
    "vmaf_ci_p95_hi", "integer_motion2"
  };
  JsonParser *parser;

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  parser = parse_json ();
  for (guint i = 0; i < 3; i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    JsonObject *metrics =
        json_object_get_object_member (json_array_get_object_element (frames
            (parser), i), "metrics");

    fail_unless_equals_float (json_object_get_double_member (metrics, "vmaf"),
        score_of (message, "score"));
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      fail_unless_equals_float (json_object_get_double_member (metrics,
              names[k]), score_of (message, names[k]));
    fail_if (json_object_has_member (metrics, "score"));
    fail_if (json_object_has_member (metrics, "vmaf_v0.6.1neg"));
  }
  g_object_unref (parser);
  rig_free (rig);
}

GST_END_TEST;

/* Stopped before EOS: what is measured by then is in the file, and the file is whole. */
GST_START_TEST (test_stop)
{
  Rig *rig = rig_new ("results-filename", path, NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40 80");
  feed_script (&rig->dist, "0 40 80");
  rig_wait (rig, FRAME_MESSAGE, 3);
  fail_if (g_file_test (path, G_FILE_TEST_EXISTS));
  gst_element_set_state (rig->element, __i__ ? GST_STATE_NULL :
      GST_STATE_READY);
  fail_unless_equals_int (n_frames (), 3);
  rig_free (rig);
  fail_unless_equals_int (n_frames (), 3);
}

GST_END_TEST;

/* An application that holds up a message holds up no stop, and what was scored is in the file; what is
 * scored later is not. */
GST_START_TEST (test_stop_with_stalled_meter)
{
  Rig *rig = rig_new ("results-filename", path, NULL);
  gint64 begin;

  rig_close_gate (rig);
  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait_at_gate (rig);
  begin = g_get_monotonic_time ();
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless (g_get_monotonic_time () - begin < 3 * G_TIME_SPAN_SECOND);
  fail_unless_equals_int (n_frames (), 1);
  /* The thread at the gate needs a moment to let go of what it has. */
  rig_open_gate (rig);
  g_usleep (500000);
  fail_unless_equals_int (n_frames (), 1);
  rig_free (rig);
}

GST_END_TEST;

/* It is brought up to date while the stream runs; it has the mode of the file before it. */
GST_START_TEST (test_kept_up_to_date)
{
  Rig *rig = rig_new ("results-filename", path, NULL);
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  struct stat info;

  fail_unless (g_file_set_contents_full (path, "older", -1,
          G_FILE_SET_CONTENTS_NONE, 0640, NULL));
  rig_start_streams (rig, "format=I420");
  for (guint round = 0; round < 2; round++) {
    feed_script (&rig->ref, round ? "80 120" : "0 40");
    feed_script (&rig->dist, round ? "80 120" : "0 40");
    rig_wait (rig, FRAME_MESSAGE, 2 * round + 2);
    while (g_get_monotonic_time () < end) {
      gchar *text = contents ();
      gboolean there = strstr (text, round ? "\"frameNum\": 3" :
          "\"frameNum\": 1") != NULL;
      g_free (text);
      if (there)
        break;
      g_usleep (20000);
    }
    fail_unless_equals_int (n_frames (), 2 * round + 2);
    fail_unless_equals_int (files_in_folder (), 1);
  }
  fail_unless_equals_int (g_stat (path, &info), 0);
  fail_unless_equals_int (info.st_mode & 0777, 0640);
  rig_free (rig);
}

GST_END_TEST;

static void
flush_both (Rig * rig)
{
  guint32 seqnum = gst_util_seqnum_next ();
  Feed *feeds[] = { &rig->ref, &rig->dist };

  for (guint i = 0; i < 2; i++)
    feed_flush_start (feeds[i], seqnum);
  for (guint i = 0; i < 2; i++) {
    feed_flush_stop (feeds[i], seqnum);
    feed_segment (feeds[i], 0, 0, 0, 1.0);
  }
}

/* A flush, other caps, an end that was none: one file, and the index goes on. */
GST_START_TEST (test_one_file)
{
  Rig *rig = rig_new ("results-filename", path, "results-precision", 17, NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0", "0");
  fail_unless_equals_int (n_frames (), 1);
  flush_both (rig);
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, FRAME_MESSAGE, 3);
  feed_caps (&rig->ref, "format=I420,width=80,height=64");
  feed_caps (&rig->dist, "format=I420,width=80,height=64");
  feed_script (&rig->ref, "80 120 eos");
  feed_script (&rig->dist, "80 120 eos");
  rig_wait (rig, EOS, 2);
  rig_wait (rig, POOLED_MESSAGE, 2);
  fail_unless_equals_int (n_frames (), 5);
  rig_free (rig);
}

GST_END_TEST;

/* A run that measured nothing leaves the file of the one before it. */
GST_START_TEST (test_nothing_measured)
{
  Rig *rig = rig_new ("results-filename", path, NULL);
  gchar *text;

  fail_unless (g_file_set_contents (path, "older", -1, NULL));
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "");
  rig_free (rig);
  text = contents ();
  fail_unless_equals_string (text, "older");
  g_free (text);
}

GST_END_TEST;

/* A run without a name leaves the file of the one before it. */
GST_START_TEST (test_runs)
{
  Rig *rig = rig_new ("results-filename", path, NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (n_frames (), 3);
  gst_element_set_state (rig->element, GST_STATE_READY);
  g_object_set (rig->element, "results-filename", "", NULL);
  fail_unless (gst_element_set_state (rig->element, GST_STATE_PAUSED)
      != GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int (n_frames (), 3);
  rig_free (rig);
}

GST_END_TEST;

/* Where there can be no file, the start says so. */
GST_START_TEST (test_unwritable)
{
  gchar *below = g_build_filename (path, "results.json", NULL);
  gchar *nowhere = g_build_filename (folder, "no", "results.json", NULL);
  gchar *pipe = g_build_filename (folder, "pipe", NULL);
  gchar *ring = g_build_filename (folder, "ring", NULL);
  gchar *slash = g_build_filename (folder, "new/", NULL);
  gchar *name = g_strnfill (256, 'n');
  gchar *longest = g_build_filename (folder, name, NULL);
  const gchar *paths[] = { nowhere, folder, below, pipe, ring, slash, longest };
  static const gchar *const words[][4] = {
    {"results-filename", "No such file", "folder that exists", NULL},
    {"results-filename", "Is a directory", NULL},
    {"results-filename", "Not a directory", NULL},
    {"results-filename", "No such device", NULL},
    {"results-filename", "symbolic links", NULL},
    {"results-filename", "No such file", NULL},
    {"results-filename", "File name too long", NULL}
  };
  Rig *rig = rig_new ("results-filename", paths[__i__], NULL);

  fail_unless (g_file_set_contents (path, "", 0, NULL));
  fail_unless_equals_int (mkfifo (pipe, 0600), 0);
  fail_unless_equals_int (symlink ("ring", ring), 0);
  fail_unless (gst_element_set_state (rig->element, GST_STATE_PAUSED)
      == GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 1);
  rig_expect_text (rig, ERROR_MESSAGE, words[__i__]);
  rig_free (rig);
  g_unlink (pipe);
  g_unlink (ring);
  g_free (ring);
  g_free (slash);
  g_free (name);
  g_free (longest);
  g_free (below);
  g_free (nowhere);
  g_free (pipe);
}

GST_END_TEST;

/* A link to a file that is not there yet, `..` behind a link to a folder, and a folder below /dev:
 * the file is where the system says that such a path leads. */
GST_START_TEST (test_where_links_lead)
{
  gchar *deep = g_build_filename (folder, "other", "deep", NULL);
  gchar *target = g_build_filename (folder, "other", "new.json", NULL);
  gchar *link = g_build_filename (folder, "link", NULL);
  gchar *behind = g_build_filename (link, "..", "new.json", NULL);
  gchar *shared = g_strdup_printf ("/dev/shm/hipvmaf-results-%d", getpid ());
  const gchar *given[] = { link, behind, shared };
  const gchar *meant[] = { target, target, shared };
  Rig *rig;

  if (__i__ == 2 && g_access ("/dev/shm", W_OK) != 0)
    goto out;
  fail_unless_equals_int (g_mkdir_with_parents (deep, 0700), 0);
  fail_unless_equals_int (symlink (__i__ ? "other/deep" : "other/new.json",
          link), 0);
  rig = rig_new ("results-filename", given[__i__], NULL);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "0 40");
  rig_free (rig);
  fail_unless (g_file_test (meant[__i__], G_FILE_TEST_IS_REGULAR));
  fail_unless (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_unlink (meant[__i__]);
  g_unlink (link);
  g_rmdir (deep);
  g_free (deep);
  deep = g_build_filename (folder, "other", NULL);
  g_rmdir (deep);
out:
  g_free (deep);
  g_free (target);
  g_free (link);
  g_free (behind);
  g_free (shared);
}

GST_END_TEST;

/* The superuser may write to anything: nobody does it. */
static void
be_nobody (gboolean nobody)
{
  if (getuid () != 0)
    return;
  if (nobody) {
    fail_unless_equals_int (chown (folder, 65534, 65534), 0);
    fail_unless_equals_int (chown (path, 65534, 65534), 0);
  }
  fail_unless_equals_int (seteuid (nobody ? 65534 : 0), 0);
}

/* A read-only file is left alone; where the folder cannot be written to, the file itself is. */
GST_START_TEST (test_permissions)
{
  Rig *rig = rig_new ("results-filename", path, NULL);

  fail_unless (g_file_set_contents_full (path, "older", -1,
          G_FILE_SET_CONTENTS_NONE, __i__ ? 0600 : 0400, NULL));
  fail_unless_equals_int (g_chmod (folder, __i__ ? 0500 : 0700), 0);
  be_nobody (TRUE);
  if (__i__ == 0) {
    static const gchar *const words[] = { "Permission denied", NULL };

    fail_unless (gst_element_set_state (rig->element, GST_STATE_PAUSED)
        == GST_STATE_CHANGE_FAILURE);
    rig_expect_text (rig, ERROR_MESSAGE, words);
  } else {
    rig_start_streams (rig, "format=I420");
    rig_play (rig, "0 40", "0 40");
    fail_unless_equals_int (n_frames (), 2);
    fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  }
  rig_free (rig);
  be_nobody (FALSE);
  g_chmod (folder, 0700);
}

GST_END_TEST;

/* A device that is full. */
GST_START_TEST (test_full_device)
{
  static const gchar *const words[] = { "results", "No space left",
    "Measuring goes on", NULL
  };
  Rig *rig = rig_new ("results-filename", path, NULL);

  fail_unless_equals_int (symlink ("/dev/full", path), 0);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80", "0 40 80");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 3);
  fail_unless_equals_int (rig_count (rig, POOLED_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

/* A disk that is full in mid-stream: one warning, the file of before stays whole; when there is room
 * again, nothing is missing. */
GST_START_TEST (test_full_disk)
{
  static const gchar *const words[] = { "results", "File too large",
    "Measuring goes on", NULL
  };
  Rig *rig = rig_new ("results-filename", path, NULL);
  struct rlimit before, low;

  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &before);
  low = before;
  low.rlim_cur = 3000;
  setrlimit (RLIMIT_FSIZE, &low);
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
  fail_unless_equals_int (n_frames (), 2);

  flush_both (rig);
  feed_script (&rig->ref, "80 120 160 200 240 280 320 eos");
  feed_script (&rig->dist, "80 120 160 200 240 280 320 eos");
  rig_wait (rig, POOLED_MESSAGE, 2);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  fail_unless_equals_int (n_frames (), 2);

  setrlimit (RLIMIT_FSIZE, &before);
  gst_element_set_state (rig->element, GST_STATE_READY);
  fail_unless_equals_int (n_frames (), 9);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  rig_free (rig);
}

GST_END_TEST;

static gpointer
read_pipe (gpointer fd)
{
  GString *text = g_string_new (NULL);
  gchar buffer[100];
  gssize n;

  while ((n = read (GPOINTER_TO_INT (fd), buffer, sizeof (buffer))) > 0)
    g_string_append_len (text, buffer, n);
  return g_string_free (text, FALSE);
}

/* A pipe gets the whole document once, at the end; a reader that has left is no more than a
 * warning. */
GST_START_TEST (test_pipe)
{
  Rig *rig = rig_new ("results-filename", path, NULL);
  GThread *reader = NULL;
  int fd;

  fail_unless_equals_int (mkfifo (path, 0600), 0);
  fd = open (path, O_RDONLY | O_NONBLOCK);
  fcntl (fd, F_SETFL, 0);
  rig_start_streams (rig, "format=I420");
  if (__i__ == 0)
    reader = g_thread_new ("reader", read_pipe, GINT_TO_POINTER (fd));
  else
    close (fd);
  rig_play (rig, "0 40 80", "0 40 80");
  gst_element_set_state (rig->element, GST_STATE_NULL);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), __i__);
  rig_free (rig);
  if (reader != NULL) {
    gchar *text = g_thread_join (reader);

    fail_unless (g_str_has_suffix (text, "\n}\n"), "%s", text);
    fail_unless_equals_int (occurrences (text, "frameNum"), 3);
    g_free (text);
    close (fd);
  }
}

GST_END_TEST;

/* A format and no name: said, and no more. */
GST_START_TEST (test_no_name)
{
  static const gchar *const words[] = { "results-format", "results-filename",
    NULL
  };
  Rig *rig = rig_new (NULL);

  gst_util_set_object_arg (G_OBJECT (rig->element), "results-format", "csv");
  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0", "0");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
results_suite (void)
{
  Suite *suite = suite_create ("results");
  TCase *tests = leak_checked_case (suite, "results");

  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, test_json, 0, 3);
  tcase_add_test (tests, test_subsample);
  tcase_add_loop_test (tests, test_layouts, 0, 3);
  tcase_add_test (tests, test_models);
  tcase_add_loop_test (tests, test_stop, 0, 2);
  tcase_add_test (tests, test_stop_with_stalled_meter);
  tcase_add_test (tests, test_kept_up_to_date);
  tcase_add_test (tests, test_one_file);
  tcase_add_test (tests, test_nothing_measured);
  tcase_add_test (tests, test_runs);
  tcase_add_loop_test (tests, test_unwritable, 0, 7);
  tcase_add_loop_test (tests, test_where_links_lead, 0, 3);
  tcase_add_loop_test (tests, test_permissions, 0, 2);
  tcase_add_test (tests, test_full_device);
  tcase_add_test (tests, test_full_disk);
  tcase_add_loop_test (tests, test_pipe, 0, 2);
  tcase_add_test (tests, test_no_name);
  return suite;
}

GST_CHECK_MAIN (results);
