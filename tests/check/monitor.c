/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers while the stream runs: figures of intervals, alerts, and the file of metrics, each against
 * what follows from the frame messages. */
#include "common.h"

#include <glib/gstdio.h>
#include <math.h>

#define MS(n) ((guint64) (n) * GST_MSECOND)

/* The nth VMAF message of that type; NULL if there is none. */
static const GstStructure *
message (Rig * rig, const gchar * type, guint n)
{
  const GstStructure *found;

  for (guint i = 0; (found = rig_score (rig, OTHER, i)) != NULL; i++) {
    if (gst_structure_has_name (found, "VMAF")
        && g_str_equal (gst_structure_get_string (found, "type"), type)
        && n-- == 0)
      return found;
  }
  return NULL;
}

static guint
count (Rig * rig, const gchar * type)
{
  guint n = 0;

  while (message (rig, type, n) != NULL)
    n++;
  return n;
}

static guint64
number (const GstStructure * message, const gchar * name)
{
  guint64 value;

  fail_unless (gst_structure_get_uint64 (message, name, &value), "%s", name);
  return value;
}

static gdouble
score (const GstStructure * message, const gchar * name)
{
  gdouble value;

  fail_unless (gst_structure_get_double (message, name, &value), "%s", name);
  return value;
}

/* Intervals ---------------------------------------------------------------------------------- */

static gint
compare (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* The 5th percentile by its definition: sorted, and between the two at (n - 1) * 0.05. */
static gdouble
p5 (const gdouble * values, guint n)
{
  gdouble *sorted = g_memdup2 (values, n * sizeof (*values));
  gdouble at = (n - 1) * 0.05, value;
  guint i = (guint) at;

  qsort (sorted, n, sizeof (*sorted), compare);
  value = i + 1 < n ? sorted[i] + (sorted[i + 1] - sorted[i]) * (at - i) :
      sorted[i];
  g_free (sorted);
  return value;
}

static void
expect_figures (const GstStructure * interval, const gchar * name,
    const gdouble * values, guint n)
{
  gdouble sum = 0, inverse = 0, min = values[0], max = values[0];
  const struct
  {
    const gchar *field;
    gdouble *value;
  } extremes[] = { {"min", &min}, {"max", &max} };

  for (guint i = 0; i < n; i++) {
    sum += values[i];
    inverse += 1 / (values[i] + 1);
    min = MIN (min, values[i]);
    max = MAX (max, values[i]);
  }
  fail_unless (score (interval, name) == sum / n, "mean of %s", name);
  for (guint i = 0; i < 2; i++)
    fail_unless (score (gst_value_get_structure (gst_structure_get_value
                (interval, extremes[i].field)), name) == *extremes[i].value,
        "%s of %s", extremes[i].field, name);
  fail_unless (score (gst_value_get_structure (gst_structure_get_value
              (interval, "harmonic-mean")), name) == n / inverse - 1,
      "harmonic mean of %s", name);
  fail_unless (fabs (score (gst_value_get_structure (gst_structure_get_value
                  (interval, "p5")), name) - p5 (values, n)) < 1e-12,
      "5th percentile of %s", name);
}

/* The interval is that of the frame messages from `start` to before `end`, in every score. */
static void
expect_interval (Rig * rig, const GstStructure * interval, guint start,
    guint end)
{
  const GstStructure *begin = rig_score (rig, FRAME_MESSAGE, start);
  const GstStructure *last = rig_score (rig, FRAME_MESSAGE, end - 1);
  gdouble values[64];
  guint scores = 0;

  fail_unless_equals_uint64 (number (interval, "frames"), end - start);
  fail_unless_equals_uint64 (number (interval, "timestamp"), number (begin,
          "timestamp"));
  fail_unless_equals_uint64 (number (interval, "stream-time"), number (begin,
          "stream-time"));
  fail_unless_equals_uint64 (number (interval, "running-time"), number (begin,
          "running-time"));
  fail_unless_equals_uint64 (number (interval, "duration"), number (last,
          "running-time") + number (last, "duration") - number (begin,
          "running-time"));
  for (gint i = 0; i < gst_structure_n_fields (begin); i++) {
    const gchar *name = gst_structure_nth_field_name (begin, i);

    if (!gst_structure_has_field_typed (begin, name, G_TYPE_DOUBLE))
      continue;
    for (guint k = start; k < end; k++)
      values[k - start] = score (rig_score (rig, FRAME_MESSAGE, k), name);
    expect_figures (interval, name, values, end - start);
    scores++;
  }
  fail_unless (scores >= 7);
}

/* All frame messages fall into intervals, by running time, and there are no others. */
static void
expect_intervals (Rig * rig, guint64 length)
{
  guint start = 0, n = 0, frames = rig_count (rig, FRAME_MESSAGE);

  for (guint i = 1; i <= frames; i++) {
    if (i < frames && number (rig_score (rig, FRAME_MESSAGE, i),
            "running-time") / length == number (rig_score (rig, FRAME_MESSAGE,
                start), "running-time") / length)
      continue;
    fail_unless (message (rig, "interval", n) != NULL, "interval %u", n);
    expect_interval (rig, message (rig, "interval", n++), start, i);
    start = i;
  }
  fail_unless_equals_int (count (rig, "interval"), n);
}

static void
play_frames (Rig * rig, guint begin, guint n)
{
  for (guint i = begin; i < begin + n; i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, MS (i * FRAME_MS)));
    feed_push (&rig->dist, feed_frame (&rig->dist, MS (i * FRAME_MS)));
  }
}

/* Windows of 1, 2 to 3, 25 frames, and longer than the stream; with a model, whose scores come one
 * frame later. */
GST_START_TEST (test_intervals)
{
  static const guint lengths[] = { 40, 100, 1000, 60000 };
  guint64 length = MS (lengths[__i__ % 4]);
  Rig *rig = rig_new ("interval", length, "model-filename", __i__ < 4 ? "" :
      " vmaf_v0.6.1", NULL);

  rig_start_streams (rig, "format=I420");
  play_frames (rig, 0, 60);
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 60);
  expect_intervals (rig, length);
  rig_free (rig);
}

GST_END_TEST;

/* None is posted unless it is asked for. */
GST_START_TEST (test_no_intervals)
{
  Rig *rig = rig_new (NULL);

  rig_start_streams (rig, "format=I420");
  play_frames (rig, 0, 5);
  rig_play (rig, "", "");
  fail_unless_equals_int (count (rig, "interval"), 0);
  rig_free (rig);
}

GST_END_TEST;

/* An interval comes before the message of the first frame beyond it; one without frames does not
 * come; the last one comes before the pooled message. */
GST_START_TEST (test_order)
{
  Rig *rig = rig_new ("interval", MS (100), NULL);
  GString *order = g_string_new (NULL);

  rig_start_streams (rig, "format=I420");
  rig_play (rig, "0 40 80 120 360 400", "0 40 80 120 360 400");
  for (guint i = 0; i < rig->timeline->len; i++) {
    gpointer object = g_ptr_array_index (rig->timeline, i);
    const GstStructure *s = GST_IS_MESSAGE (object) ?
        gst_message_get_structure (object) : NULL;

    if (s != NULL && gst_structure_has_name (s, "VMAF"))
      g_string_append_c (order, gst_structure_get_string (s, "type")[0]);
  }
  fail_unless_equals_string (order->str, "fffifififip");
  g_string_free (order, TRUE);
  rig_free (rig);
}

GST_END_TEST;

/* The window ends early where the stream does or becomes another one: by other caps, a flush, a
 * stop. */
GST_START_TEST (test_cut)
{
  Rig *rig = rig_new ("interval", MS (60000), NULL);
  guint32 seqnum = gst_util_seqnum_next ();

  rig_start_streams (rig, "format=I420");
  play_frames (rig, 0, 3);
  feed_caps (&rig->ref, "format=I420_10LE");
  feed_caps (&rig->dist, "format=I420_10LE");
  play_frames (rig, 3, 2);
  rig_wait (rig, FRAME_MESSAGE, 5);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  fail_unless_equals_int (count (rig, "interval"), 1);
  expect_interval (rig, message (rig, "interval", 0), 0, 3);
  feed_flush_start (&rig->ref, seqnum);
  feed_flush_start (&rig->dist, seqnum);
  feed_flush_stop (&rig->ref, seqnum);
  feed_flush_stop (&rig->dist, seqnum);
  fail_unless_equals_int (count (rig, "interval"), 2);
  expect_interval (rig, message (rig, "interval", 1), 3, 5);
  feed_segment (&rig->ref, 0, 0, 0, 1.0);
  feed_segment (&rig->dist, 0, 0, 0, 1.0);
  play_frames (rig, 0, 4);
  rig_wait (rig, FRAME_MESSAGE, 9);
  feed_settle (&rig->ref);
  feed_settle (&rig->dist);
  gst_element_set_state (rig->element, GST_STATE_READY);
  fail_unless_equals_int (count (rig, "interval"), 3);
  expect_interval (rig, message (rig, "interval", 2), 5, 9);
  rig_free (rig);
}

GST_END_TEST;

/* A frame that began before its segment did is in the window before the first one. */
GST_START_TEST (test_negative_time)
{
  Rig *rig = rig_new ("interval", MS (1000), NULL);
  const GstStructure *interval;

  rig_start_streams (rig, "format=I420");
  feed_segment (&rig->ref, MS (100), 0, MS (100), 1.0);
  feed_segment (&rig->dist, MS (100), 0, MS (100), 1.0);
  rig_play (rig, "80 120 160", "80 120 160");
  interval = message (rig, "interval", 0);
  fail_unless_equals_uint64 (number (interval, "frames"), 1);
  fail_unless_equals_uint64 (number (interval, "timestamp"), MS (80));
  fail_unless_equals_uint64 (number (interval, "running-time"),
      GST_CLOCK_TIME_NONE);
  expect_interval (rig, message (rig, "interval", 1), 1, 3);
  rig_free (rig);
}

GST_END_TEST;

/* The last one is in `stats`, too. */
GST_START_TEST (test_stats)
{
  Rig *rig = rig_new ("interval", MS (80), NULL);
  GstStructure *stats, *interval;

  rig_start_streams (rig, "format=I420");
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_if (gst_structure_has_field (stats, "interval"));
  gst_structure_free (stats);
  rig_play (rig, "0 40 80 120", "0 40 80 120");
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "interval", GST_TYPE_STRUCTURE,
          &interval, NULL));
  fail_unless (gst_structure_is_equal (interval, message (rig, "interval", 1)));
  gst_structure_free (interval);
  gst_structure_free (stats);
  rig_free (rig);
}

GST_END_TEST;

/* Two elements at once, with different windows: each has its own figures, of the same scores. */
GST_START_TEST (test_two_elements)
{
  Rig *rigs[2];

  for (guint i = 0; i < 2; i++) {
    rigs[i] = rig_new ("interval", MS (i ? 100 : 400), NULL);
    rig_start_streams (rigs[i], "format=I420");
  }
  for (guint n = 0; n < 60; n += 10) {
    for (guint i = 0; i < 2; i++)
      play_frames (rigs[i], n, 10);
  }
  for (guint i = 0; i < 2; i++) {
    rig_play (rigs[i], "", "");
    expect_intervals (rigs[i], MS (i ? 100 : 400));
  }
  rig_expect_same_scores (rigs[0], rigs[1]);
  rig_free (rigs[0]);
  rig_free (rigs[1]);
}

GST_END_TEST;

/* Alerts ------------------------------------------------------------------------------------- */

/* A distorted frame for each letter: 'g' is the reference's picture itself, 'b' another one, '-'
 * none. */
static void
play_quality (Rig * rig, const gchar * quality)
{
  rig->dist.fixed_picture = TRUE;
  for (guint i = 0; quality[i] != '\0'; i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, MS (i * FRAME_MS)));
    rig->dist.picture = quality[i] == 'b' ? 15 : 0;
    if (quality[i] != '-')
      feed_push (&rig->dist, feed_frame (&rig->dist, MS (i * FRAME_MS)));
  }
  rig_play (rig, "", "");
}

/* "alert@4 recovered@10": the messages, and at which frame. */
static gchar *
alerts (Rig * rig)
{
  GString *text = g_string_new (NULL);
  const GstStructure *found;

  for (guint i = 0; (found = rig_score (rig, OTHER, i)) != NULL; i++) {
    const gchar *type = gst_structure_has_name (found, "VMAF") ?
        gst_structure_get_string (found, "type") : "";

    if (g_str_equal (type, "alert") || g_str_equal (type, "recovered"))
      g_string_append_printf (text, "%s%s@%u", text->len ? " " : "", type,
          (guint) (number (found, "running-time") / MS (FRAME_MS)));
  }
  return g_string_free (text, FALSE);
}

static const struct
{
  guint duration;               /* ms */
  const gchar *quality, *alerts;
} qualities[] = {
  {0, "gbgg", "alert@1 recovered@2"},
  {200, "gggggggggg", ""},
  /* One bad frame in five is not low in the mean, two are. */
  {200, "ggggggbggggggg", ""},
  {200, "ggggggbbggggggggggggg", "alert@7 recovered@12"},
  /* A whole window of its own until it says anything, and after each word. */
  {200, "bbbb", ""},
  {200, "bbbbbbbb", "alert@4"},
  {200, "bbbbbgbgbgbgbggggggggg", "alert@4 recovered@15"},
  {200, "ggggggbbggggggbbggggg", "alert@7 recovered@12 alert@17"},
  /* After a pause as long, too. */
  {200, "ggggg-------bbbbbgg", "alert@16"},
};

/* Threshold: the mean of four good frames and one and a half bad ones, of five. */
static gdouble
threshold (void)
{
  Rig *rig = rig_new (NULL);
  gdouble good, bad;

  rig_start_streams (rig, "format=I420");
  play_quality (rig, "gb");
  good = score (rig_score (rig, FRAME_MESSAGE, 0), "integer_adm2");
  bad = score (rig_score (rig, FRAME_MESSAGE, 1), "integer_adm2");
  fail_unless (bad < good);
  rig_free (rig);
  return good - (good - bad) * 1.5 / 5;
}

GST_START_TEST (test_alerts)
{
  Rig *rig = rig_new ("alert-below", threshold (), "alert-duration",
      MS (qualities[__i__].duration), "alert-score", "integer_adm2", NULL);
  gchar *found;

  rig_start_streams (rig, "format=I420");
  play_quality (rig, qualities[__i__].quality);
  found = alerts (rig);
  fail_unless_equals_string (found, qualities[__i__].alerts);
  g_free (found);
  rig_free (rig);
}

GST_END_TEST;

/* What an alert says: the mean over the frames that made it, and which score. */
GST_START_TEST (test_alert_fields)
{
  gdouble below = threshold (), sum = 0;
  Rig *rig = rig_new ("alert-below", below, "alert-duration", MS (200),
      "alert-score", "integer_adm2", NULL);
  const GstStructure *alert;
  GstStructure *stats;
  gboolean raised;

  rig_start_streams (rig, "format=I420");
  play_quality (rig, "ggggggbbg");
  alert = message (rig, "alert", 0);
  for (guint i = 3; i < 8; i++)
    sum += score (rig_score (rig, FRAME_MESSAGE, i), "integer_adm2");
  fail_unless (score (alert, "integer_adm2") == sum / 5);
  fail_unless (score (alert, "alert-below") == below);
  fail_unless_equals_string (gst_structure_get_string (alert, "name"),
      "integer_adm2");
  fail_unless_equals_uint64 (number (alert, "frames"), 5);
  fail_unless_equals_uint64 (number (alert, "duration"), MS (200));
  fail_unless_equals_uint64 (number (alert, "timestamp"), MS (280));
  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_boolean (stats, "alert", &raised) && raised);
  gst_structure_free (stats);
  rig_free (rig);
}

GST_END_TEST;

/* Without alert-score it is the first model's score. */
GST_START_TEST (test_alert_of_the_model)
{
  Rig *rig = rig_new ("model-filename", " vmaf_v0.6.1", "alert-below", 101.0,
      "alert-duration", MS (80), NULL);
  const GstStructure *alert;

  rig_start_streams (rig, "format=I420");
  play_quality (rig, "bbb");
  alert = message (rig, "alert", 0);
  fail_unless (alert != NULL);
  fail_unless_equals_string (gst_structure_get_string (alert, "name"), "score");
  fail_unless (score (alert, "score") == (score (rig_score (rig, FRAME_MESSAGE,
                  0), "vmaf_v0.6.1") + score (rig_score (rig, FRAME_MESSAGE,
                  1), "vmaf_v0.6.1")) / 2);
  rig_free (rig);
}

GST_END_TEST;

static const struct
{
  const gchar *property, *value;
  Kind kind;
  const gchar *words[4];
} mistakes[] = {
  {"alert-below", "70", ERROR_MESSAGE, {"alert-below", "model-filename",
          "alert-score=", NULL}},
  {"alert-score", "vmaf", WARNING_MESSAGE, {"alert-score", "alert-below",
          NULL}},
  {"metrics-labels", "a=b", WARNING_MESSAGE, {"metrics-labels",
          "metrics-location", NULL}},
  {"metrics-labels", "a", ERROR_MESSAGE, {"metrics-labels", "\"a\"",
          "name=value", NULL}},
  {"metrics-labels", "1a=b", ERROR_MESSAGE, {"\"1a\"", "digit", NULL}},
  {"metrics-labels", "__a=b", ERROR_MESSAGE, {"\"__a\"", NULL}},
  {"metrics-labels", "a=b,a=c", ERROR_MESSAGE, {"\"a\"", "twice", NULL}},
  {"metrics-labels", "pad=b", ERROR_MESSAGE, {"\"pad\"", "element", NULL}},
  {"metrics-location", "/no/such/folder/x.prom", ERROR_MESSAGE,
      {"metrics-location=/no/such/folder/x.prom", "No such file", NULL}},
};

/* Settings that make no sense are said when the element starts. */
GST_START_TEST (test_mistakes)
{
  Rig *rig = rig_new (NULL);
  gboolean is_error = mistakes[__i__].kind == ERROR_MESSAGE;

  gst_util_set_object_arg (G_OBJECT (rig->element), mistakes[__i__].property,
      mistakes[__i__].value);
  fail_unless_equals_int (rig_start (rig) == GST_STATE_CHANGE_FAILURE,
      is_error);
  fail_unless_equals_int (rig_count (rig, mistakes[__i__].kind), 1);
  rig_expect_text (rig, mistakes[__i__].kind, mistakes[__i__].words);
  rig_free (rig);
}

GST_END_TEST;

/* One file cannot be both. */
GST_START_TEST (test_same_file)
{
  const gchar *words[] = { "metrics-location", "results-filename", NULL };
  gchar *folder = g_dir_make_tmp ("check-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "q.prom", NULL);
  Rig *rig = rig_new ("metrics-location", path, "results-filename", path, NULL);

  fail_unless_equals_int (rig_start (rig), GST_STATE_CHANGE_FAILURE);
  rig_expect_text (rig, ERROR_MESSAGE, words);
  rig_free (rig);
  g_remove (path);
  fail_unless (g_rmdir (folder) == 0);
  g_free (path);
  g_free (folder);
}

GST_END_TEST;

/* A score that is none is found out with the first pair. */
GST_START_TEST (test_unknown_alert_score)
{
  const gchar *words[] = { "alert-score=vmaf_v1", "integer_adm2", NULL };
  Rig *rig = rig_new ("alert-below", 0.5, "alert-score", "vmaf_v1", NULL);

  rig_start_streams (rig, "format=I420");
  feed_script (&rig->ref, "0 40");
  feed_script (&rig->dist, "0 40");
  rig_wait (rig, ERROR_MESSAGE, 1);
  rig_expect_text (rig, ERROR_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

/* Metrics ------------------------------------------------------------------------------------ */

/* Waits until the text is in the file. */
static void
expect_in_file (const gchar * path, const gchar * text)
{
  gint64 end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;
  gchar *contents = NULL;

  do {
    g_free (contents);
    contents = NULL;
    g_usleep (20000);
    g_file_get_contents (path, &contents, NULL, NULL);
  } while ((contents == NULL || strstr (contents, text) == NULL)
      && g_get_monotonic_time () < end);
  fail_unless (contents != NULL && strstr (contents, text) != NULL,
      "'%s' is not in: %s", text, contents);
  g_free (contents);
}

/* The file is there at the start, follows the run, and says at the end that it is over; nothing
 * else is left in its folder. tests/check/openmetrics.py holds its format to the standards. */
GST_START_TEST (test_metrics)
{
  gchar *folder = g_dir_make_tmp ("check-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "q.prom", NULL);
  Rig *rig = rig_new ("interval", MS (80), "metrics-location", path,
      "metrics-labels", "channel=one", "name", "q", NULL);
  gchar *text;
  GStatBuf status;

  rig_start_streams (rig, "format=I420");
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless (strstr (text, "hipvmaf_up{element=\"q\",channel=\"one\"} 1\n"));
  g_free (text);
  play_frames (rig, 0, 5);
  rig_wait (rig, FRAME_MESSAGE, 5);
  expect_in_file (path, "hipvmaf_scored_pairs_total{element=\"q\","
      "channel=\"one\"} 5\n");
  expect_in_file (path, "score=\"integer_adm2\",statistic=\"p5\"} ");
  rig_play (rig, "200", "200");
  gst_element_set_state (rig->element, GST_STATE_READY);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless (strstr (text, "hipvmaf_up{element=\"q\",channel=\"one\"} 0\n"));
  fail_unless (strstr (text, "hipvmaf_pairs_total{element=\"q\",channel="
          "\"one\"} 6\n"));
  g_free (text);
  fail_unless (g_stat (path, &status) == 0);
  fail_unless_equals_int (status.st_mode & 0444, 0444);
  rig_free (rig);
  fail_unless (g_remove (path) == 0);
  fail_unless (g_rmdir (folder) == 0, "something was left in %s", folder);
  g_free (path);
  g_free (folder);
}

GST_END_TEST;

/* A folder that goes away is one warning, however long it is gone, and measuring goes on. */
GST_START_TEST (test_metrics_trouble)
{
  gchar *folder = g_dir_make_tmp ("check-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "q.prom", NULL);
  const gchar *words[] = { "metrics-location", "q.prom", NULL };
  Rig *rig = rig_new ("metrics-location", path, NULL);

  rig_start_streams (rig, "format=I420");
  fail_unless (g_remove (path) == 0 && g_rmdir (folder) == 0);
  rig_wait (rig, WARNING_MESSAGE, 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  fail_if (rig_waited (rig, WARNING_MESSAGE, 2, 2500));
  fail_unless (g_mkdir (folder, 0755) == 0);
  expect_in_file (path, "# EOF\n");
  rig_play (rig, "0 40", "0 40");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 2);
  rig_free (rig);
  fail_unless (g_remove (path) == 0 && g_rmdir (folder) == 0);
  g_free (path);
  g_free (folder);
}

GST_END_TEST;

/* Without an interval of its own, the file has figures all the same, and none are posted. */
GST_START_TEST (test_metrics_without_interval)
{
  gchar *folder = g_dir_make_tmp ("check-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "q.prom", NULL);
  Rig *rig = rig_new ("metrics-location", path, NULL);

  rig_start_streams (rig, "format=I420");
  play_frames (rig, 249, 2);
  rig_wait (rig, FRAME_MESSAGE, 2);
  expect_in_file (path, "hipvmaf_interval_frames{element=\"hipvmaf");
  rig_play (rig, "", "");
  fail_unless_equals_int (count (rig, "interval"), 0);
  rig_free (rig);
  fail_unless (g_remove (path) == 0 && g_rmdir (folder) == 0);
  g_free (path);
  g_free (folder);
}

GST_END_TEST;

static Suite *
monitor_suite (void)
{
  Suite *suite = suite_create ("monitor");
  TCase *tests = leak_checked_case (suite, "monitor");

  tcase_add_loop_test (tests, test_intervals, 0, 8);
  tcase_add_test (tests, test_no_intervals);
  tcase_add_test (tests, test_order);
  tcase_add_test (tests, test_cut);
  tcase_add_test (tests, test_negative_time);
  tcase_add_test (tests, test_stats);
  tcase_add_test (tests, test_two_elements);
  tcase_add_loop_test (tests, test_alerts, 0, G_N_ELEMENTS (qualities));
  tcase_add_test (tests, test_alert_fields);
  tcase_add_test (tests, test_alert_of_the_model);
  tcase_add_loop_test (tests, test_mistakes, 0, G_N_ELEMENTS (mistakes));
  tcase_add_test (tests, test_same_file);
  tcase_add_test (tests, test_unknown_alert_score);
  tcase_add_test (tests, test_metrics);
  tcase_add_test (tests, test_metrics_trouble);
  tcase_add_test (tests, test_metrics_without_interval);
  return suite;
}

GST_CHECK_MAIN (monitor);
