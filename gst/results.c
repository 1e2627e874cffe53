/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The text of results files: see results.h.
 *
 * JSON's strings are json-glib's. Its numbers and its layout are not: json-glib prints a double with
 * 17 digits and a document as a whole, and a file here has six decimals and grows for hours. */

#include "results.h"

#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "kernels/common/pool.h"

/* Which libvmaf's scores these are, and who measured them; in the place of libvmaf's own version,
 * which reads 3.2.0 or, between releases, 3.2.0-5-gb2a3c00. */
#define RESULTS_VERSION "3.2.0-hipvmaf-" VERSION

typedef struct
{
  gchar *name;
  gchar *key;                   /* as the format writes it */
} Column;

struct _GstHipVmafResults
{
  GstHipVmafResultsFormat format;
  guint precision;
  guint width, height;
  GArray *columns;              /* of Column: every name that there was */
  GArray *position;             /* of guint: which column the i-th score is */
  GArray *names;                /* of const gchar *: the columns' names, score by score */
  GArray *row;                  /* of gdouble *: a CSV row's cells, column by column */
  HvPool *pool;
  gboolean has_frames;
};

static void
clear_column (gpointer data)
{
  g_free (((Column *) data)->name);
  g_free (((Column *) data)->key);
}

GstHipVmafResults *
gst_hip_vmaf_results_new (GstHipVmafResultsFormat format, guint precision)
{
  GstHipVmafResults *results = g_new0 (GstHipVmafResults, 1);

  results->format = format;
  results->precision = precision;
  results->columns = g_array_new (FALSE, FALSE, sizeof (Column));
  g_array_set_clear_func (results->columns, clear_column);
  results->position = g_array_new (FALSE, FALSE, sizeof (guint));
  results->names = g_array_new (FALSE, FALSE, sizeof (gchar *));
  results->row = g_array_new (FALSE, TRUE, sizeof (gdouble *));
  results->pool = hv_pool_new ();
  return results;
}

void
gst_hip_vmaf_results_free (GstHipVmafResults * results)
{
  if (results == NULL)
    return;
  g_array_unref (results->columns);
  g_array_unref (results->position);
  g_array_unref (results->names);
  g_array_unref (results->row);
  hv_pool_free (results->pool);
  g_free (results);
}

/* Names */

static gchar *
json_string (const gchar * name)
{
  JsonNode *node = json_node_init_string (json_node_alloc (), name);
  gchar *text = json_to_string (node, FALSE);

  json_node_unref (node);
  return text;
}

/* The name of an XML attribute: a letter or "_", then letters, digits, "_", "-" and ".". */
static gchar *
xml_attribute (const gchar * name)
{
  gchar *text = g_str_to_ascii (name, "C");

  g_strcanon (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.", '_');
  if (!g_ascii_isalpha (*text) && *text != '_') {
    gchar *bare = text;

    text = g_strconcat ("_", bare, NULL);
    g_free (bare);
  }
  return text;
}

/* RFC 4180 */
static gchar *
csv_field (const gchar * name)
{
  gchar **parts;
  gchar *doubled, *text;

  if (strpbrk (name, ",\"\r\n") == NULL)
    return g_strdup (name);
  parts = g_strsplit (name, "\"", -1);
  doubled = g_strjoinv ("\"\"", parts);
  text = g_strconcat ("\"", doubled, "\"", NULL);
  g_strfreev (parts);
  g_free (doubled);
  return text;
}

static gchar *
escape (GstHipVmafResultsFormat format, const gchar * name)
{
  switch (format) {
    case GST_HIP_VMAF_RESULTS_JSON:
      return json_string (name);
    case GST_HIP_VMAF_RESULTS_XML:
      return xml_attribute (name);
    case GST_HIP_VMAF_RESULTS_CSV:
      return csv_field (name);
    default:
      return g_strdelimit (g_strdup (name), "|{}\r\n", '_');
  }
}

static const Column *
column_at (GstHipVmafResults * results, guint i)
{
  return &g_array_index (results->columns, Column, i);
}

/* Different names stay different: two attributes of one name are no XML. */
static gchar *
unique_key (GstHipVmafResults * results, const gchar * name)
{
  gchar *key = escape (results->format, name);

  for (guint i = 0; i < results->columns->len; i++) {
    if (strcmp (column_at (results, i)->key, key) == 0) {
      gchar *taken = key;

      key = g_strconcat (taken, "_", NULL);
      g_free (taken);
      i = -1;
    }
  }
  return key;
}

static guint
column_for (GstHipVmafResults * results, const gchar * name)
{
  Column column;
  guint i;

  for (i = 0; i < results->columns->len; i++) {
    if (strcmp (column_at (results, i)->name, name) == 0)
      return i;
  }
  column.key = unique_key (results, name);
  column.name = g_strdup (name);
  g_array_append_val (results->columns, column);
  return i;
}

void
gst_hip_vmaf_results_begin (GstHipVmafResults * results,
    const gchar * const *names, guint n, guint width, guint height)
{
  g_array_set_size (results->position, 0);
  g_array_set_size (results->names, 0);
  for (guint i = 0; i < n; i++) {
    guint position = column_for (results, names[i]);
    const gchar *name = column_at (results, position)->name;

    g_array_append_val (results->position, position);
    g_array_append_val (results->names, name);
  }
  if (results->width == 0) {
    results->width = width;
    results->height = height;
  }
}

guint
gst_hip_vmaf_results_columns (GstHipVmafResults * results)
{
  return results->columns->len;
}

/* Numbers: in the C locale, whatever the application's */

static void
append_formatted (GString * text, const gchar * format, gdouble value)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE + 320];  /* DBL_MAX has 309 digits */

  g_string_append (text, g_ascii_formatd (buffer, sizeof (buffer), format,
          value));
}

static const gchar *
number_format (GstHipVmafResults * results, gdouble value, gchar * buffer)
{
  gdouble fraction = fabs (value) - floor (fabs (value));

  if (results->precision > 0) {
    g_snprintf (buffer, 8, "%%.%ug", results->precision);
    return buffer;
  }
  return fraction > 0 && fraction < 1e-6 ? "%.16f" : "%.6f";
}

static void
append_number (GstHipVmafResults * results, GString * text, gdouble value)
{
  gchar buffer[8];

  if (isfinite (value))
    append_formatted (text, number_format (results, value, buffer), value);
  else if (results->format == GST_HIP_VMAF_RESULTS_JSON)
    g_string_append (text, "null");
  else
    g_string_append (text, isnan (value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* Frames */

static void
add_json (GstHipVmafResults * results, gint index, const gdouble * scores,
    GString * text)
{
  g_string_append_printf (text, "%s    {\n      \"frameNum\": %d,\n"
      "      \"metrics\": {\n", results->has_frames ? ",\n" : "\n", index);
  for (guint i = 0; i < results->position->len; i++) {
    guint position = g_array_index (results->position, guint, i);

    g_string_append_printf (text, "        %s: ",
        column_at (results, position)->key);
    append_number (results, text, scores[i]);
    g_string_append (text, i + 1 < results->position->len ? ",\n" : "\n");
  }
  g_string_append (text, "      }\n    }");
}

static void
add_xml (GstHipVmafResults * results, gint index, const gdouble * scores,
    GString * text)
{
  g_string_append_printf (text, "    <frame frameNum=\"%d\" ", index);
  for (guint i = 0; i < results->position->len; i++) {
    guint position = g_array_index (results->position, guint, i);

    g_string_append_printf (text, "%s=\"", column_at (results, position)->key);
    append_number (results, text, scores[i]);
    g_string_append (text, "\" ");
  }
  g_string_append (text, "/>\n");
}

/* A score that these frames do not have leaves its cell empty. */
static void
add_csv (GstHipVmafResults * results, gint index, const gdouble * scores,
    GString * text)
{
  GArray *row = results->row;

  g_array_set_size (row, 0);
  g_array_set_size (row, results->columns->len);
  for (guint i = 0; i < results->position->len; i++)
    g_array_index (row, const gdouble *,
        g_array_index (results->position, guint, i)) = &scores[i];
  g_string_append_printf (text, "%d,", index);
  for (guint i = 0; i < row->len; i++) {
    const gdouble *cell = g_array_index (row, const gdouble *, i);

    if (cell != NULL)
      append_number (results, text, *cell);
    g_string_append_c (text, ',');
  }
  g_string_append_c (text, '\n');
}

static void
add_sub (GstHipVmafResults * results, gint index, const gdouble * scores,
    GString * text)
{
  g_string_append_printf (text, "{%d}{%d}frame: %d|", index, index + 1, index);
  for (guint i = 0; i < results->position->len; i++) {
    guint position = g_array_index (results->position, guint, i);

    g_string_append_printf (text, "%s: ", column_at (results, position)->key);
    append_number (results, text, scores[i]);
    g_string_append_c (text, '|');
  }
  g_string_append_c (text, '\n');
}

void
gst_hip_vmaf_results_add (GstHipVmafResults * results, gint index,
    const gdouble * scores, GString * text)
{
  hv_pool_add (results->pool, (const char *const *) results->names->data,
      scores, results->names->len);
  switch (results->format) {
    case GST_HIP_VMAF_RESULTS_JSON:
      add_json (results, index, scores, text);
      break;
    case GST_HIP_VMAF_RESULTS_XML:
      add_xml (results, index, scores, text);
      break;
    case GST_HIP_VMAF_RESULTS_CSV:
      add_csv (results, index, scores, text);
      break;
    default:
      add_sub (results, index, scores, text);
      break;
  }
  results->has_frames = TRUE;
}

/* The stream */

static void
append_fps (GstHipVmafResults * results, GString * text, gdouble fps)
{
  if (isfinite (fps))
    append_formatted (text, "%.2f", fps);
  else
    append_number (results, text, fps);
}

void
gst_hip_vmaf_results_head (GstHipVmafResults * results, gdouble fps,
    GString * text)
{
  switch (results->format) {
    case GST_HIP_VMAF_RESULTS_JSON:
      g_string_append (text, "{\n  \"version\": \"" RESULTS_VERSION "\",\n"
          "  \"fps\": ");
      append_fps (results, text, fps);
      g_string_append (text, ",\n  \"frames\": [");
      break;
    case GST_HIP_VMAF_RESULTS_XML:
      g_string_append_printf (text, "<VMAF version=\"" RESULTS_VERSION "\">\n"
          "  <params qualityWidth=\"%u\" qualityHeight=\"%u\" />\n"
          "  <fyi fps=\"", results->width, results->height);
      append_fps (results, text, fps);
      g_string_append (text, "\" />\n  <frames>\n");
      break;
    case GST_HIP_VMAF_RESULTS_CSV:
      g_string_append (text, "Frame,");
      for (guint i = 0; i < results->columns->len; i++)
        g_string_append_printf (text, "%s,", column_at (results, i)->key);
      g_string_append_c (text, '\n');
      break;
    default:
      break;
  }
}

static const struct
{
  HvPoolMethod method;
  const gchar *name;
} pooled[] = {
  {HV_POOL_MIN, "min"},
  {HV_POOL_MAX, "max"},
  {HV_POOL_MEAN, "mean"},
  {HV_POOL_HARMONIC, "harmonic_mean"}
};

static void
append_json_pooled (GstHipVmafResults * results, GString * text)
{
  for (guint i = 0; i < hv_pool_size (results->pool); i++) {
    gchar *key = json_string (hv_pool_name (results->pool, i));

    g_string_append_printf (text, "%s    %s: {", i > 0 ? ",\n" : "\n", key);
    for (guint k = 0; k < G_N_ELEMENTS (pooled); k++) {
      g_string_append_printf (text, "%s      \"%s\": ", k > 0 ? ",\n" : "\n",
          pooled[k].name);
      append_number (results, text, hv_pool_value (results->pool, i,
              pooled[k].method));
    }
    g_string_append (text, "\n    }");
    g_free (key);
  }
}

static void
append_json_tail (GstHipVmafResults * results, HvAggregates * aggregates,
    GString * text)
{
  g_string_append (text, "\n  ],\n  \"pooled_metrics\": {");
  append_json_pooled (results, text);
  g_string_append (text, "\n  },\n  \"aggregate_metrics\": {");
  for (guint i = 0; i < hv_aggregates_size (aggregates); i++) {
    gchar *key = json_string (hv_aggregates_name (aggregates, i));

    g_string_append_printf (text, "%s\n    %s: ", i > 0 ? "," : "", key);
    append_number (results, text, hv_aggregates_value (aggregates, i));
    g_free (key);
  }
  g_string_append (text, "\n  }\n}\n");
}

static void
append_xml_pooled (GstHipVmafResults * results, GString * text)
{
  for (guint i = 0; i < hv_pool_size (results->pool); i++) {
    gchar *name = g_markup_escape_text (hv_pool_name (results->pool, i), -1);

    g_string_append_printf (text, "    <metric name=\"%s\" ", name);
    for (guint k = 0; k < G_N_ELEMENTS (pooled); k++) {
      g_string_append_printf (text, "%s=\"", pooled[k].name);
      append_number (results, text, hv_pool_value (results->pool, i,
              pooled[k].method));
      g_string_append (text, "\" ");
    }
    g_string_append (text, "/>\n");
    g_free (name);
  }
}

static void
append_xml_tail (GstHipVmafResults * results, HvAggregates * aggregates,
    GString * text)
{
  g_string_append (text, "  </frames>\n  <pooled_metrics>\n");
  append_xml_pooled (results, text);
  g_string_append (text, "  </pooled_metrics>\n  <aggregate_metrics ");
  for (guint i = 0; i < hv_aggregates_size (aggregates); i++) {
    gchar *name = xml_attribute (hv_aggregates_name (aggregates, i));

    g_string_append_printf (text, "%s=\"", name);
    append_number (results, text, hv_aggregates_value (aggregates, i));
    g_string_append (text, "\" ");
    g_free (name);
  }
  g_string_append (text, "/>\n</VMAF>\n");
}

void
gst_hip_vmaf_results_tail (GstHipVmafResults * results,
    HvAggregates * aggregates, GString * text)
{
  if (results->format == GST_HIP_VMAF_RESULTS_JSON)
    append_json_tail (results, aggregates, text);
  else if (results->format == GST_HIP_VMAF_RESULTS_XML)
    append_xml_tail (results, aggregates, text);
}
