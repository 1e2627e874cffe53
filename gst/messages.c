/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Message structures: see messages.h. */

#include "messages.h"

static GstStructure *
new_message (const gchar * type, const GstHipVmafTimes * times)
{
  return gst_structure_new ("VMAF",
      "timestamp", G_TYPE_UINT64, times->timestamp,
      "stream-time", G_TYPE_UINT64, times->stream_time,
      "running-time", G_TYPE_UINT64, times->running_time,
      "duration", G_TYPE_UINT64, times->duration,
      "type", G_TYPE_STRING, type, NULL);
}

static void
set_double (GstStructure * structure, const gchar * name, gdouble value)
{
  GValue gvalue = G_VALUE_INIT;

  g_value_init (&gvalue, G_TYPE_DOUBLE);
  g_value_set_double (&gvalue, value);
  gst_structure_take_value (structure, name, &gvalue);
}

static void
set_utc (GstStructure * structure, gint64 utc)
{
  GDateTime *seconds = g_date_time_new_from_unix_utc (utc / G_USEC_PER_SEC);
  GDateTime *time = g_date_time_add (seconds, utc % G_USEC_PER_SEC);
  gchar *text = g_date_time_format_iso8601 (time);

  gst_structure_set (structure, "utc", G_TYPE_STRING, text, NULL);
  g_free (text);
  g_date_time_unref (time);
  g_date_time_unref (seconds);
}

GstStructure *
gst_hip_vmaf_message_frame (const GstHipVmafTimes * times, gint index,
    const gchar * const *names, const gdouble * scores, guint n,
    const gchar * timecode, gint64 utc)
{
  GstStructure *structure = new_message ("frame", times);

  gst_structure_set (structure, "index", G_TYPE_INT, index, NULL);
  if (timecode != NULL)
    gst_structure_set (structure, "timecode", G_TYPE_STRING, timecode, NULL);
  if (utc != 0)
    set_utc (structure, utc);
  for (guint i = 0; i < n; i++)
    set_double (structure, names[i], scores[i]);
  return structure;
}

GstStructure *
gst_hip_vmaf_message_pooled (const GstHipVmafTimes * times,
    const HvPool * pool, HvAggregates * aggregates, HvPoolMethod method)
{
  GstStructure *structure = new_message ("pooled", times);

  for (guint i = 0; i < hv_pool_size (pool); i++)
    set_double (structure, hv_pool_name (pool, i),
        hv_pool_value (pool, i, method));
  for (guint i = 0; i < hv_aggregates_size (aggregates); i++)
    set_double (structure, hv_aggregates_name (aggregates, i),
        hv_aggregates_value (aggregates, i));
  return structure;
}

static GstStructure *
pooled_values (const HvPool * pool, const gchar * name, HvPoolMethod method)
{
  GstStructure *structure = gst_structure_new_empty (name);

  for (guint i = 0; i < hv_pool_size (pool); i++)
    set_double (structure, hv_pool_name (pool, i),
        hv_pool_value (pool, i, method));
  return structure;
}

static GstStructure *
percentiles (HvPool * pool, const gchar * name, gdouble percent)
{
  GstStructure *structure = gst_structure_new_empty (name);

  for (guint i = 0; i < hv_pool_size (pool); i++)
    set_double (structure, hv_pool_name (pool, i),
        hv_pool_percentile (pool, i, percent));
  return structure;
}

/* Takes `values`; its name is the field's. */
static void
set_values (GstStructure * structure, GstStructure * values)
{
  GValue gvalue = G_VALUE_INIT;

  g_value_init (&gvalue, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&gvalue, values);
  gst_structure_take_value (structure, gst_structure_get_name (values),
      &gvalue);
}

GstStructure *
gst_hip_vmaf_message_interval (const GstHipVmafTimes * times, guint64 frames,
    gint64 utc, HvPool * pool)
{
  GstStructure *structure = new_message ("interval", times);

  gst_structure_set (structure, "frames", G_TYPE_UINT64, frames, NULL);
  if (utc != 0)
    set_utc (structure, utc);
  for (guint i = 0; i < hv_pool_size (pool); i++)
    set_double (structure, hv_pool_name (pool, i),
        hv_pool_value (pool, i, HV_POOL_MEAN));
  set_values (structure, pooled_values (pool, "min", HV_POOL_MIN));
  set_values (structure, pooled_values (pool, "max", HV_POOL_MAX));
  set_values (structure, pooled_values (pool, "harmonic-mean",
          HV_POOL_HARMONIC));
  set_values (structure, percentiles (pool, "p5", 5));
  return structure;
}

GstStructure *
gst_hip_vmaf_message_alert (const GstHipVmafTimes * times, gboolean raised,
    const gchar * name, gdouble mean, gdouble below, guint frames, gint64 utc)
{
  GstStructure *structure = new_message (raised ? "alert" : "recovered", times);

  gst_structure_set (structure, "frames", G_TYPE_UINT64, (guint64) frames,
      "name", G_TYPE_STRING, name, "alert-below", G_TYPE_DOUBLE, below, NULL);
  if (utc != 0)
    set_utc (structure, utc);
  set_double (structure, name, mean);
  return structure;
}

static GstStructure *
new_state_message (const gchar * type, GstClockTime running_time,
    GstClockTime lasted)
{
  GstStructure *structure = gst_structure_new ("VMAF",
      "running-time", G_TYPE_UINT64, running_time,
      "duration", G_TYPE_UINT64, lasted, "type", G_TYPE_STRING, type, NULL);

  set_utc (structure, g_get_real_time ());
  return structure;
}

GstStructure *
gst_hip_vmaf_message_unpaired (GstClockTime running_time,
    GstClockTime lasted, const gchar * silent)
{
  GstStructure *structure =
      new_state_message ("unpaired", running_time, lasted);

  gst_structure_set (structure, "silent", G_TYPE_STRING, silent, NULL);
  return structure;
}

GstStructure *
gst_hip_vmaf_message_paired (GstClockTime running_time, GstClockTime lasted)
{
  return new_state_message ("paired", running_time, lasted);
}

void
gst_hip_vmaf_stats_clear (GstHipVmafStats * stats)
{
  g_clear_pointer (&stats->gpu_status, g_free);
  g_clear_pointer (&stats->placement, gst_structure_free);
  g_clear_pointer (&stats->interval, gst_structure_free);
}

GstStructure *
gst_hip_vmaf_message_stats (const GstHipVmafStats * stats)
{
  GstStructure *structure = gst_structure_new ("hipvmaf-stats",
      "pairs", G_TYPE_UINT64, stats->pairs,
      "ref-frames", G_TYPE_UINT64, stats->frames[0],
      "ref-unpaired", G_TYPE_UINT64, stats->unpaired[0],
      "dist-frames", G_TYPE_UINT64, stats->frames[1],
      "dist-unpaired", G_TYPE_UINT64, stats->unpaired[1],
      "flushed", G_TYPE_UINT64, stats->flushed,
      "skipped", G_TYPE_UINT64, stats->skipped,
      "failed", G_TYPE_UINT64, stats->failed,
      "scored", G_TYPE_UINT64, stats->scored,
      "fps", G_TYPE_DOUBLE, stats->fps,
      "backend", G_TYPE_STRING, stats->backend,
      "device", G_TYPE_STRING, stats->device,
      "target", G_TYPE_STRING, stats->target,
      "threads", G_TYPE_UINT, stats->threads, NULL);

  if (stats->gpu_status != NULL)
    gst_structure_set (structure,
        "gpu-status", G_TYPE_STRING, stats->gpu_status, NULL);
  if (stats->placement != NULL)
    gst_structure_set (structure,
        "placement", GST_TYPE_STRUCTURE, stats->placement, NULL);
  if (stats->interval != NULL)
    gst_structure_set (structure,
        "interval", GST_TYPE_STRUCTURE, stats->interval, NULL);
  if (stats->alert != GST_HIP_VMAF_ALERT_NONE)
    gst_structure_set (structure, "alert", G_TYPE_BOOLEAN,
        stats->alert == GST_HIP_VMAF_ALERT_RAISED, NULL);
  if (stats->paired != GST_HIP_VMAF_PAIRED_UNKNOWN)
    gst_structure_set (structure, "paired", G_TYPE_BOOLEAN,
        stats->paired == GST_HIP_VMAF_PAIRED_YES, NULL);
  if (stats->slots > 0)
    gst_structure_set (structure,
        "platform", G_TYPE_STRING, stats->platform,
        "slots", G_TYPE_UINT, stats->slots,
        "device-memory", G_TYPE_UINT64, stats->device_memory,
        "device-memory-per-slot", G_TYPE_UINT64,
        stats->device_memory / stats->slots, NULL);
  return structure;
}
