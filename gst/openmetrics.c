/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The file of metrics: see openmetrics.h. */

#include "openmetrics.h"

#include <math.h>
#include <string.h>

#include "kernels/common/error.h"
#include "kernels/common/lock.h"

#define PERIOD_US G_USEC_PER_SEC

struct _GstHipVmafOpenMetrics
{
  GstElement *element;
  GstHipVmafScorer *scorer;
  gchar *location, *labels;
  pthread_t thread;
  gboolean warned;              /* of the thread */

  HvLock lock;
  HvCond change;
  gboolean quit;                /* under the lock */
};

/* Labels */

/* Those that samples have besides. */
static const gchar *const own_labels[] = { "element", "backend", "device",
  "target", "pad", "score", "statistic", NULL
};

static void
append_label (GString * text, const gchar * name, const gchar * value)
{
  g_string_append_printf (text, "%s%s=\"", text->len > 0 ? "," : "", name);
  for (; *value != '\0'; value++) {
    if (*value == '\n')
      g_string_append (text, "\\n");
    else if (*value == '"' || *value == '\\')
      g_string_append_printf (text, "\\%c", *value);
    else
      g_string_append_c (text, *value);
  }
  g_string_append_c (text, '"');
}

static gboolean
is_label (const gchar * name)
{
  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return FALSE;
  for (const gchar * c = name; *c != '\0'; c++) {
    if (!g_ascii_isalnum (*c) && *c != '_')
      return FALSE;
  }
  return !g_str_has_prefix (name, "__");
}

/* `word` is cut in two. */
static gboolean
add_label (GString * text, GHashTable * names, gchar * word, GError ** error)
{
  gchar *value = strchr (word, '=');
  const gchar *wrong = NULL;

  if (value != NULL)
    *value++ = '\0';
  g_strstrip (word);
  if (value == NULL)
    wrong = "has no value";
  else if (!is_label (word))
    wrong = "is no name of a label: letters, digits and underscores, no digit "
        "first, not two underscores first";
  else if (g_strv_contains (own_labels, word))
    wrong = "is a label that the element sets";
  else if (!g_hash_table_add (names, word))
    wrong = "comes twice";
  else if (!g_utf8_validate (value, -1, NULL))
    wrong = "has a value that is not UTF-8";
  if (wrong != NULL) {
    g_set_error (error, HV_ERROR, HV_ERROR_OPTION, "metrics-labels: \"%s\" %s. "
        "It takes name=value,name=value", word, wrong);
    return FALSE;
  }
  append_label (text, word, value);
  return TRUE;
}

gchar *
gst_hip_vmaf_openmetrics_labels (const gchar * element, const gchar * text,
    GError ** error)
{
  GString *labels = g_string_new (NULL);
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);
  gchar **words = g_strsplit (text, ",", -1);
  gboolean ok = TRUE;

  append_label (labels, "element", element);
  for (gchar ** word = words; ok && *word != NULL; word++)
    ok = add_label (labels, names, *word, error);
  g_strfreev (words);
  g_hash_table_unref (names);
  return g_string_free (labels, !ok);
}

/* What is in the file */

/* A counter's samples have _total behind its name; so OpenMetrics has it, and the older format,
 * which then sees a metric of no type, does not mind. */
static void
append_family (GString * text, const gchar * name, const gchar * type,
    const gchar * help)
{
  g_string_append_printf (text, "# HELP hipvmaf_%s %s\n# TYPE hipvmaf_%s %s\n",
      name, help, name, type);
}

static void
append_sample (GString * text, const gchar * name, const gchar * labels,
    const gchar * more, const gchar * value)
{
  g_string_append_printf (text, "hipvmaf_%s{%s%s%s} %s\n", name, labels,
      more[0] != '\0' ? "," : "", more, value);
}

static void
append_integer (GString * text, const gchar * name, const gchar * labels,
    const gchar * more, guint64 value)
{
  gchar buffer[32];

  g_snprintf (buffer, sizeof (buffer), "%" G_GUINT64_FORMAT, value);
  append_sample (text, name, labels, more, buffer);
}

static void
append_double (GString * text, const gchar * name, const gchar * labels,
    const gchar * more, gdouble value)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan (value))
    strcpy (buffer, "NaN");
  else if (isinf (value))
    strcpy (buffer, value > 0 ? "+Inf" : "-Inf");
  else
    g_ascii_dtostr (buffer, sizeof (buffer), value);
  append_sample (text, name, labels, more, buffer);
}

static void
append_gauge (GString * text, const gchar * labels, const gchar * name,
    const gchar * help, gdouble value)
{
  append_family (text, name, "gauge", help);
  append_double (text, name, labels, "", value);
}

static void
append_state (GString * text, const gchar * labels,
    const GstHipVmafStats * stats, gboolean up)
{
  GString *more = g_string_new (NULL);

  append_gauge (text, labels, "up",
      "1 while the element runs, 0 in what it leaves behind.", up);
  append_label (more, "backend", stats->backend);
  append_label (more, "device", stats->device);
  append_label (more, "target", stats->target);
  append_family (text, "measured_by", "gauge", "1, with what measures.");
  append_integer (text, "measured_by", labels, more->str, 1);
  g_string_free (more, TRUE);
}

typedef struct
{
  const gchar *name, *help, *more;
  gsize member;
} Counter;

static const Counter counters[] = {
  {"frames", "Frames taken.", "pad=\"ref_sink\"",
      G_STRUCT_OFFSET (GstHipVmafStats, frames[0])},
  {"frames", NULL, "pad=\"dist_sink\"",
      G_STRUCT_OFFSET (GstHipVmafStats, frames[1])},
  {"unpaired_frames", "Of those, without a partner.", "pad=\"ref_sink\"",
      G_STRUCT_OFFSET (GstHipVmafStats, unpaired[0])},
  {"unpaired_frames", NULL, "pad=\"dist_sink\"",
      G_STRUCT_OFFSET (GstHipVmafStats, unpaired[1])},
  {"pairs", "Frames that found their partner.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, pairs)},
  {"scored_pairs", "Pairs with scores.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, scored)},
  {"skipped_pairs", "Pairs that came too fast to be measured.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, skipped)},
  {"flushed_pairs", "Pairs that a seek or a stop dropped.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, flushed)},
  {"failed_pairs", "Pairs that could not be measured.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, failed)}
};

static const Counter alignment_counters[] = {
  {"repeated_frames", "Distorted frames that show again what was shown.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, repeated)},
  {"repeated_pairs", "Pairs whose reference frame was in the pair before.", "",
      G_STRUCT_OFFSET (GstHipVmafStats, repeated_pairs)},
  {"dropped_frames", "Reference frames that were not shown, but later ones.",
      "", G_STRUCT_OFFSET (GstHipVmafStats, dropped)}
};

static void
append_counters (GString * text, const gchar * labels,
    const GstHipVmafStats * stats, const Counter * counter, guint n)
{
  for (; n-- > 0; counter++) {
    gchar *name = g_strconcat (counter->name, "_total", NULL);

    if (counter->help != NULL)
      append_family (text, counter->name, "counter", counter->help);
    append_integer (text, name, labels, counter->more,
        G_STRUCT_MEMBER (guint64, stats, counter->member));
    g_free (name);
  }
}

static void
append_alignment (GString * text, const gchar * labels,
    const GstHipVmafStats * stats)
{
  append_counters (text, labels, stats, alignment_counters,
      G_N_ELEMENTS (alignment_counters));
  append_gauge (text, labels, "alignment_offset_seconds",
      "How late the distorted stream is.",
      (gdouble) stats->offset / GST_SECOND);
  append_gauge (text, labels, "alignment_confidence",
      "How much nearer frames are there than elsewhere: 0 to 1.",
      stats->confidence);
}

static void
append_score (GString * text, const gchar * labels, const gchar * score,
    const gchar * statistic, const GstStructure * values)
{
  GString *more;
  gdouble value;

  if (!gst_structure_get_double (values, score, &value))
    return;
  more = g_string_new (NULL);
  append_label (more, "score", score);
  append_label (more, "statistic", statistic);
  append_double (text, "score", labels, more->str, value);
  g_string_free (more, TRUE);
}

static void
append_interval (GString * text, const gchar * labels,
    const GstStructure * interval)
{
  static const gchar *const statistics[][2] = { {"min", "min"},
  {"max", "max"}, {"harmonic-mean", "harmonic_mean"}, {"p5", "p5"}
  };
  guint64 frames = 0, duration = 0;

  gst_structure_get_uint64 (interval, "frames", &frames);
  gst_structure_get_uint64 (interval, "duration", &duration);
  append_gauge (text, labels, "interval_frames",
      "Pairs scored in the last interval.", frames);
  append_gauge (text, labels, "interval_seconds",
      "From its first frame's start to its last one's end.",
      (gdouble) duration / GST_SECOND);
  append_family (text, "score", "gauge", "Scores over the last interval.");
  for (gint i = 0; i < gst_structure_n_fields (interval); i++) {
    const gchar *score = gst_structure_nth_field_name (interval, i);

    append_score (text, labels, score, "mean", interval);
    for (guint k = 0; k < G_N_ELEMENTS (statistics); k++)
      append_score (text, labels, score, statistics[k][1],
          gst_value_get_structure (gst_structure_get_value (interval,
                  statistics[k][0])));
  }
}

static gchar *
compose (GstHipVmafOpenMetrics * metrics, gboolean up)
{
  GString *text = g_string_new (NULL);
  GstHipVmafStats stats;

  gst_hip_vmaf_scorer_stats (metrics->scorer, &stats);
  append_state (text, metrics->labels, &stats, up);
  append_counters (text, metrics->labels, &stats, counters,
      G_N_ELEMENTS (counters));
  if (stats.aligned)
    append_alignment (text, metrics->labels, &stats);
  append_gauge (text, metrics->labels, "scored_pairs_per_second",
      "Over the whole run.", stats.fps);
  if (stats.scored_utc != 0)
    append_gauge (text, metrics->labels, "last_score_timestamp_seconds",
        "When the last score came, in seconds since 1970.",
        (gdouble) stats.scored_utc / G_USEC_PER_SEC);
  if (stats.paired != GST_HIP_VMAF_PAIRED_UNKNOWN)
    append_gauge (text, metrics->labels, "paired",
        "0 while no frames have found partners for timeout, live.",
        stats.paired == GST_HIP_VMAF_PAIRED_YES);
  if (stats.alert != GST_HIP_VMAF_ALERT_NONE)
    append_gauge (text, metrics->labels, "alert",
        "1 while the score is below alert-below.",
        stats.alert == GST_HIP_VMAF_ALERT_RAISED);
  if (stats.interval != NULL)
    append_interval (text, metrics->labels, stats.interval);
  g_string_append (text, "# EOF\n");
  gst_hip_vmaf_stats_clear (&stats);
  return g_string_free (text, FALSE);
}

/* A new file in the same folder takes the old one's place; its name ends in random letters, so
 * that it is none of *.prom. Scrapers have other users. */
static gboolean
write_file (GstHipVmafOpenMetrics * metrics, gboolean up, GError ** error)
{
  gchar *text = compose (metrics, up);
  gboolean ok = g_file_set_contents_full (metrics->location, text, -1,
      G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);

  g_free (text);
  return ok;
}

/* Its thread */

static void
warn (GstElement * element, gpointer text)
{
  GST_ELEMENT_WARNING (element, RESOURCE, WRITE,
      ("metrics-location: %s. It is tried again every second.",
          (const gchar *) text), (NULL));
}

/* An application may hold up a message; this thread is waited for when the element stops. */
static void
write_or_warn (GstHipVmafOpenMetrics * metrics, gboolean up)
{
  GError *error = NULL;

  if (write_file (metrics, up, &error))
    return;
  if (!metrics->warned)
    gst_element_call_async (metrics->element, warn, g_strdup (error->message),
        g_free);
  metrics->warned = TRUE;
  g_error_free (error);
}

static void *
run (void *data)
{
  GstHipVmafOpenMetrics *metrics = data;
  gint64 next = g_get_monotonic_time ();
  gboolean quit = FALSE;

  while (!quit) {
    /* From now on, not from when it was due: at most once a second, also after a hold-up. */
    next = g_get_monotonic_time () + PERIOD_US;
    hv_lock (&metrics->lock);
    while (!metrics->quit
        && hv_cond_wait_until (&metrics->change, &metrics->lock, next));
    quit = metrics->quit;
    hv_unlock (&metrics->lock);
    write_or_warn (metrics, !quit);
  }
  return NULL;
}

static void
destroy (GstHipVmafOpenMetrics * metrics)
{
  gst_hip_vmaf_scorer_unref (metrics->scorer);
  hv_cond_clear (&metrics->change);
  hv_lock_clear (&metrics->lock);
  g_free (metrics->location);
  g_free (metrics->labels);
  g_free (metrics);
}

GstHipVmafOpenMetrics *
gst_hip_vmaf_openmetrics_new (GstElement * element, GstHipVmafScorer * scorer,
    const gchar * location, const gchar * labels, GError ** error)
{
  GstHipVmafOpenMetrics *metrics = g_new0 (GstHipVmafOpenMetrics, 1);

  metrics->element = element;
  metrics->scorer = gst_hip_vmaf_scorer_ref (scorer);
  metrics->location = g_strdup (location);
  metrics->labels = g_strdup (labels);
  hv_lock_init (&metrics->lock);
  hv_cond_init (&metrics->change);
  if (write_file (metrics, TRUE, error) && hv_thread_start (&metrics->thread,
          "hv-metrics", run, metrics, error))
    return metrics;
  destroy (metrics);
  return NULL;
}

void
gst_hip_vmaf_openmetrics_free (GstHipVmafOpenMetrics * metrics)
{
  if (metrics == NULL)
    return;
  hv_lock (&metrics->lock);
  metrics->quit = TRUE;
  hv_cond_broadcast (&metrics->change);
  hv_unlock (&metrics->lock);
  pthread_join (metrics->thread, NULL);
  destroy (metrics);
}
