/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The rig: one element between two feeds and a downstream that writes everything down. */
#include "common.h"
#include "feed.h"

/* The timeline ------------------------------------------------------------------------------- */

static Kind
message_kind (GstMessage * message)
{
  const GstStructure *s = gst_message_get_structure (message);

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      return ERROR_MESSAGE;
    case GST_MESSAGE_WARNING:
      return WARNING_MESSAGE;
    case GST_MESSAGE_INFO:
      return INFO_MESSAGE;
    case GST_MESSAGE_ELEMENT:
      if (gst_structure_has_name (s, "VMAF")) {
        const gchar *type = gst_structure_get_string (s, "type");
        return g_strcmp0 (type, "frame") == 0 ? FRAME_MESSAGE :
            g_strcmp0 (type, "pooled") == 0 ? POOLED_MESSAGE : OTHER;
      }
      return OTHER;
    default:
      return OTHER;
  }
}

static Kind
kind_of (gpointer object)
{
  if (GST_IS_BUFFER (object))
    return BUFFER;
  if (GST_IS_EVENT (object))
    return GST_EVENT_TYPE (object) == GST_EVENT_EOS ? EOS : EVENT;
  return message_kind (object);
}

/* Takes the object. */
static Kind
write_down (Rig * rig, gpointer object)
{
  Kind kind = kind_of (object);

  g_mutex_lock (&rig->lock);
  rig->counts[kind]++;
  if (rig->count_only && (kind == BUFFER || kind == FRAME_MESSAGE))
    gst_mini_object_unref (object);
  else
    g_ptr_array_add (rig->timeline, object);
  g_cond_broadcast (&rig->cond);
  g_mutex_unlock (&rig->lock);
  return kind;
}

static GstBusSyncReply
take_message (GstBus * bus, GstMessage * message, gpointer data)
{
  Rig *rig = data;

  if (write_down (rig, message) == FRAME_MESSAGE) {
    if (rig->message_delay)
      g_usleep (rig->message_delay);
    g_mutex_lock (&rig->lock);
    rig->at_gate++;
    g_cond_broadcast (&rig->cond);
    while (rig->gate_closed)
      g_cond_wait (&rig->cond, &rig->lock);
    rig->at_gate--;
    g_mutex_unlock (&rig->lock);
  }
  return GST_BUS_DROP;
}

/* Downstream --------------------------------------------------------------------------------- */

static GstFlowReturn
sink_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Rig *rig = gst_pad_get_element_private (pad);

  if (rig->sink_delay)
    g_usleep (rig->sink_delay);
  write_down (rig, buffer);
  if (rig->sink_limit && rig_count (rig, BUFFER) >= rig->sink_limit)
    return GST_FLOW_EOS;
  return GST_FLOW_OK;
}

static gboolean
sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  write_down (gst_pad_get_element_private (pad), event);
  return TRUE;
}

static gboolean
answer_allocation (Rig * rig, GstQuery * query)
{
  if (rig->downstream_pool)
    gst_query_add_allocation_pool (query, rig->downstream_pool, WIDTH * HEIGHT
        * 2, 3, 7);
  if (rig->downstream_meta) {
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  }
  return rig->downstream_pool || rig->downstream_meta;
}

static gboolean
sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  Rig *rig = gst_pad_get_element_private (pad);
  GstCaps *filter, *caps;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_ALLOCATION:
      return answer_allocation (rig, query);
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      caps = rig->downstream_caps ? gst_caps_ref (rig->downstream_caps) :
          gst_caps_new_any ();
      if (filter) {
        GstCaps *all = caps;
        caps = gst_caps_intersect (filter, all);
        gst_caps_unref (all);
      }
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    default:
      break;
  }
  return gst_pad_query_default (pad, parent, query);
}

static void
link_sink (Rig * rig)
{
  GstPad *src = gst_element_get_static_pad (rig->element, "src");

  fail_unless (src != NULL);
  rig->sink = gst_pad_new ("sink", GST_PAD_SINK);
  gst_pad_set_element_private (rig->sink, rig);
  gst_pad_set_chain_function (rig->sink, sink_chain);
  gst_pad_set_event_function (rig->sink, sink_event);
  gst_pad_set_query_function (rig->sink, sink_query);
  gst_pad_set_active (rig->sink, TRUE);
  fail_unless_equals_int (gst_pad_link (src, rig->sink), GST_PAD_LINK_OK);
  gst_object_unref (src);
}

/* Life --------------------------------------------------------------------------------------- */

const gchar *
check_backend (void)
{
  const gchar *backend = g_getenv ("CHECK_BACKEND");

  return backend != NULL ? backend : "cpu";
}

/* The GPU has to do it where the whole suite is to run there; auto would hide it if it did not. */
static void
choose_backend (GstElement * element)
{
  gint backend;

  g_object_get (element, "backend", &backend, NULL);
  if (backend == 0 && g_str_equal (check_backend (), "hip"))
    gst_util_set_object_arg (G_OBJECT (element), "backend", "hip");
}

/* Most tests are not about scores: one metric that needs no later frame, and no model, unless they
 * ask for more. */
static void
choose_metrics (GstElement * element)
{
  gchar *model, *features;

  g_object_get (element, "model-filename", &model, "features", &features, NULL);
  if (g_str_equal (model, "vmaf_v0.6.1"))
    g_object_set (element, "model-filename", "", NULL);
  if (g_str_equal (features, ""))
    g_object_set (element, "features", "adm", NULL);
  g_free (model);
  g_free (features);
}

Rig *
rig_new (const gchar * first_property, ...)
{
  Rig *rig = g_new0 (Rig, 1);
  va_list properties;

  va_start (properties, first_property);
  rig->element = gst_element_factory_make_valist ("hipvmaf", first_property,
      properties);
  va_end (properties);
  fail_unless (rig->element != NULL, "no element hipvmaf");
  gst_object_ref_sink (rig->element);
  choose_backend (rig->element);
  choose_metrics (rig->element);
  g_object_set (rig->element, "frame-message", TRUE, NULL);

  g_mutex_init (&rig->lock);
  g_cond_init (&rig->cond);
  rig->timeline = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_mini_object_unref);
  rig->bus = gst_bus_new ();
  gst_bus_set_sync_handler (rig->bus, take_message, rig, NULL);
  gst_element_set_bus (rig->element, rig->bus);
  feed_init (&rig->ref, rig);
  feed_init (&rig->dist, rig);
  rig->ref.fixed_picture = TRUE;
  rig->dist.picture = 1;
  return rig;
}

GstStateChangeReturn
rig_start (Rig * rig)
{
  GstClock *clock = gst_system_clock_obtain ();
  GstStateChangeReturn changed;

  gst_element_set_clock (rig->element, clock);
  gst_element_set_base_time (rig->element, gst_clock_get_time (clock));
  gst_object_unref (clock);
  feed_link (&rig->ref, "ref_sink");
  if (!rig->no_dist)
    feed_link (&rig->dist, "dist_sink");
  if (!rig->no_sink)
    link_sink (rig);
  changed = gst_element_set_state (rig->element, GST_STATE_PLAYING);
  feed_run_thread (&rig->ref);
  feed_run_thread (&rig->dist);
  return changed;
}

void
rig_start_streams (Rig * rig, const gchar * fields)
{
  rig_start (rig);
  feed_begin (&rig->ref, fields);
  if (!rig->no_dist)
    feed_begin (&rig->dist, fields);
}

void
rig_free (Rig * rig)
{
  rig_open_gate (rig);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  feed_clear (&rig->ref);
  feed_clear (&rig->dist);
  if (rig->sink) {
    gst_pad_set_active (rig->sink, FALSE);
    gst_object_unref (rig->sink);
  }
  gst_element_set_bus (rig->element, NULL);
  gst_bus_set_sync_handler (rig->bus, NULL, NULL, NULL);
  gst_object_unref (rig->bus);
  g_ptr_array_unref (rig->timeline);
  gst_object_unref (rig->element);
  gst_clear_caps (&rig->downstream_caps);
  gst_clear_object (&rig->downstream_pool);
  g_mutex_clear (&rig->lock);
  g_cond_clear (&rig->cond);
  g_free (rig);
}

void
rig_play (Rig * rig, const gchar * ref, const gchar * dist)
{
  feed_script (&rig->ref, ref);
  feed_script (&rig->dist, dist);
  feed_script (&rig->ref, "eos");
  feed_script (&rig->dist, "eos");
  rig_wait (rig, EOS, 1);
}

/* Looking at it ------------------------------------------------------------------------------ */

guint
rig_count (Rig * rig, Kind kind)
{
  guint n;

  g_mutex_lock (&rig->lock);
  n = rig->counts[kind];
  g_mutex_unlock (&rig->lock);
  return n;
}

gboolean
rig_waited (Rig * rig, Kind kind, guint n, guint milliseconds)
{
  gint64 end = g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;
  gboolean there;

  g_mutex_lock (&rig->lock);
  while (rig->counts[kind] < n
      && g_cond_wait_until (&rig->cond, &rig->lock, end));
  there = rig->counts[kind] >= n;
  g_mutex_unlock (&rig->lock);
  return there;
}

void
rig_wait (Rig * rig, Kind kind, guint n)
{
  static const gchar *names[N_KINDS] = { "frame messages", "pooled messages",
    "errors", "warnings", "infos", "buffers", "events", "EOS", "others"
  };

  if (!rig_waited (rig, kind, n, 20000)) {
    gchar *error = rig_text (rig, ERROR_MESSAGE, 0);
    fail ("%u %s, not %u, after 20 s; error: %s", rig_count (rig, kind),
        names[kind], n, error ? error : "none");
  }
}

gpointer
rig_object (Rig * rig, Kind kind, guint n)
{
  gpointer found = NULL;

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->timeline->len && !found; i++) {
    gpointer object = g_ptr_array_index (rig->timeline, i);
    if (kind_of (object) == kind && n-- == 0)
      found = object;
  }
  g_mutex_unlock (&rig->lock);
  return found;
}

const GstStructure *
rig_score (Rig * rig, Kind kind, guint n)
{
  GstMessage *message = rig_object (rig, kind, n);

  return message ? gst_message_get_structure (message) : NULL;
}

gchar *
rig_text (Rig * rig, Kind kind, guint n)
{
  GstMessage *message = rig_object (rig, kind, n);
  GError *error = NULL;
  gchar *text;

  if (!message)
    return NULL;
  if (kind == ERROR_MESSAGE)
    gst_message_parse_error (message, &error, NULL);
  else if (kind == WARNING_MESSAGE)
    gst_message_parse_warning (message, &error, NULL);
  else
    gst_message_parse_info (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

void
rig_expect_text (Rig * rig, Kind kind, const gchar * const *words)
{
  gchar *text = rig_text (rig, kind, 0);

  fail_unless (text != NULL, "no such message");
  for (; *words; words++)
    fail_unless (strstr (text, *words) != NULL, "'%s' is not in: %s", *words,
        text);
  g_free (text);
}

/* The gate ----------------------------------------------------------------------------------- */

static void
set_gate (Rig * rig, gboolean closed)
{
  g_mutex_lock (&rig->lock);
  rig->gate_closed = closed;
  g_cond_broadcast (&rig->cond);
  g_mutex_unlock (&rig->lock);
}

void
rig_close_gate (Rig * rig)
{
  set_gate (rig, TRUE);
}

void
rig_open_gate (Rig * rig)
{
  set_gate (rig, FALSE);
}

void
rig_wait_at_gate (Rig * rig)
{
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  gboolean held;

  g_mutex_lock (&rig->lock);
  while (!rig->at_gate && g_cond_wait_until (&rig->cond, &rig->lock, end));
  held = rig->at_gate > 0;
  g_mutex_unlock (&rig->lock);
  fail_unless (held, "no frame message came to the gate");
}

/* Stories, pairs, statistics ----------------------------------------------------------------- */

static void
append_word (GString * story, gpointer object)
{
  if (GST_IS_BUFFER (object)) {
    GstClockTime pts = GST_BUFFER_PTS (object);
    if (GST_CLOCK_TIME_IS_VALID (pts))
      g_string_append_printf (story, " %" G_GUINT64_FORMAT, pts / GST_MSECOND);
    else
      g_string_append (story, " -");
  } else if (GST_IS_EVENT (object)) {
    g_string_append_printf (story, " %s", GST_EVENT_TYPE_NAME (object));
  }
}

void
rig_expect_story (Rig * rig, const gchar * story)
{
  GString *text = g_string_new (NULL);

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->timeline->len; i++)
    append_word (text, g_ptr_array_index (rig->timeline, i));
  g_mutex_unlock (&rig->lock);
  fail_unless_equals_string (g_strstrip (text->str), story);
  g_string_free (text, TRUE);
}

#define KNOWN_PICTURES 32

/* The score that each distorted picture gets, from a run in which frame n is picture n + 1. */
static const gdouble *
known_scores (void)
{
  static gdouble scores[KNOWN_PICTURES];
  static gboolean known;
  Rig *rig;

  if (known)
    return scores;
  rig = rig_new (NULL);
  rig_start_streams (rig, "format=I420");
  for (guint i = 1; i < KNOWN_PICTURES; i++) {
    feed_push (&rig->ref, feed_frame (&rig->ref, i * FRAME_MS * GST_MSECOND));
    feed_push (&rig->dist, feed_frame (&rig->dist, i * FRAME_MS * GST_MSECOND));
  }
  rig_play (rig, "", "");
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), KNOWN_PICTURES - 1);
  for (guint i = 1; i < KNOWN_PICTURES; i++) {
    fail_unless (gst_structure_get_double (rig_score (rig, FRAME_MESSAGE,
                i - 1), "integer_adm2", &scores[i]));
    for (guint j = 1; j < i; j++)
      fail_unless (scores[i] != scores[j]);
  }
  rig_free (rig);
  known = TRUE;
  return scores;
}

static guint
recognise (const GstStructure * message)
{
  const gdouble *scores = known_scores ();
  gdouble score;

  fail_unless (gst_structure_get_double (message, "integer_adm2", &score));
  for (guint i = 1; i < KNOWN_PICTURES; i++) {
    if (scores[i] == score)
      return i;
  }
  return 0;
}

void
rig_expect_pairs (Rig * rig, const gchar * pairs)
{
  GString *text = g_string_new (NULL);
  guint64 timestamp;

  for (guint i = 0; i < rig_count (rig, FRAME_MESSAGE); i++) {
    const GstStructure *message = rig_score (rig, FRAME_MESSAGE, i);
    fail_unless (gst_structure_get_uint64 (message, "timestamp", &timestamp));
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT ":%u", i ? " " : "",
        timestamp / GST_MSECOND, recognise (message));
  }
  fail_unless_equals_string (text->str, pairs);
  g_string_free (text, TRUE);
}

guint64
rig_stat (Rig * rig, const gchar * field)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (rig->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &value),
      "stats have no uint64 %s", field);
  gst_structure_free (stats);
  return value;
}

void
rig_expect_stats (Rig * rig, const gchar * fields)
{
  gchar **words = g_strsplit (fields, " ", -1);

  for (gchar ** word = words; *word; word++) {
    gchar **sides = g_strsplit (*word, "=", 2);
    guint64 value = rig_stat (rig, sides[0]);
    fail_unless (value == g_ascii_strtoull (sides[1], NULL, 10),
        "%s is expected, it is %" G_GUINT64_FORMAT, *word, value);
    g_strfreev (sides);
  }
  g_strfreev (words);
}

static void
expect_same_structure (const GstStructure * a, const GstStructure * b)
{
  guint scores = 0;

  fail_unless_equals_int (gst_structure_n_fields (a),
      gst_structure_n_fields (b));
  for (gint i = 0; i < gst_structure_n_fields (a); i++) {
    const gchar *name = gst_structure_nth_field_name (a, i);
    gdouble x, y;
    if (!gst_structure_get_double (a, name, &x))
      continue;
    fail_unless (gst_structure_get_double (b, name, &y), "%s", name);
    fail_unless (x == y, "%s: %.17g and %.17g", name, x, y);
    scores++;
  }
  fail_unless (scores > 0, "no score in the message");
}

void
rig_expect_same_scores (Rig * one, Rig * other)
{
  guint n = rig_count (one, FRAME_MESSAGE);

  fail_unless (n > 0);
  fail_unless_equals_int (n, rig_count (other, FRAME_MESSAGE));
  for (guint i = 0; i < n; i++)
    expect_same_structure (rig_score (one, FRAME_MESSAGE, i),
        rig_score (other, FRAME_MESSAGE, i));
}

/* Leaks -------------------------------------------------------------------------------------- */

static GstTracer *
leaks_tracer (void)
{
  GList *tracers = gst_tracing_get_active_tracers ();
  GstTracer *found = NULL;

  for (GList * item = tracers; item; item = item->next) {
    if (g_str_equal (G_OBJECT_TYPE_NAME (item->data), "GstLeaksTracer"))
      found = gst_object_ref (item->data);
  }
  g_list_free_full (tracers, gst_object_unref);
  return found;
}

/* Runs after each test; the tracer is there when GST_TRACERS names it, as tests/check's
 * meson.build does. */
static void
expect_no_leaks (void)
{
  GstTracer *tracer = leaks_tracer ();
  GstStructure *live;
  const GValue *list;

  if (!tracer)
    return;
  g_signal_emit_by_name (tracer, "get-live-objects", &live);
  list = gst_structure_get_value (live, "live-objects-list");
  if (gst_value_list_get_size (list) > 0) {
    gchar *text = gst_structure_to_string (live);
    fail ("%u objects leaked: %.1000s", gst_value_list_get_size (list), text);
  }
  gst_structure_free (live);
  gst_object_unref (tracer);
}

void
pipeline_expect_pairs (const gchar * text, guint64 expected)
{
  GstElement *pipeline = gst_parse_launch (text, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "v");
  GstMessage *message;
  GstStructure *stats;
  guint64 pairs;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "it stands still");
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "pairs", &pairs));
  fail_unless_equals_uint64 (pairs, expected);
  gst_structure_free (stats);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

TCase *
leak_checked_case (Suite * suite, const gchar * name)
{
  TCase *tests = tcase_create (name);

  tcase_add_checked_fixture (tests, NULL, expect_no_leaks);
  suite_add_tcase (suite, tests);
  return tests;
}
