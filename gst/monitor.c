/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers while the stream runs: see monitor.h. */

#include "monitor.h"

#include "alert.h"
#include "interval.h"

#include "kernels/common/error.h"
#include "kernels/common/lock.h"

struct _GstHipVmafMonitor
{
  GstElement *element;
  GstHipVmafMonitorConfig config;

  HvLock lock;                  /* for all below */
  GstHipVmafInterval *interval; /* or NULL */
  GstStructure *last;           /* message of the last window; or NULL */
  GstHipVmafAlert *alert;       /* or NULL */
  guint alert_index;            /* of its score */
};

GstHipVmafMonitor *
gst_hip_vmaf_monitor_new (GstElement * element,
    GstHipVmafMonitorConfig * config)
{
  GstHipVmafMonitor *monitor = g_new0 (GstHipVmafMonitor, 1);

  monitor->element = element;
  monitor->config = *config;
  config->alert_score = NULL;
  hv_lock_init (&monitor->lock);
  if (monitor->config.interval > 0)
    monitor->interval = gst_hip_vmaf_interval_new (monitor->config.interval);
  if (monitor->config.alert_below > GST_HIP_VMAF_NO_ALERT)
    monitor->alert = gst_hip_vmaf_alert_new (monitor->config.alert_below,
        monitor->config.alert_duration);
  return monitor;
}

void
gst_hip_vmaf_monitor_free (GstHipVmafMonitor * monitor)
{
  gst_hip_vmaf_interval_free (monitor->interval);
  g_clear_pointer (&monitor->last, gst_structure_free);
  gst_hip_vmaf_alert_free (monitor->alert);
  hv_lock_clear (&monitor->lock);
  g_free (monitor->config.alert_score);
  g_free (monitor);
}

gboolean
gst_hip_vmaf_monitor_begin (GstHipVmafMonitor * monitor,
    const gchar * const *names, guint n, GError ** error)
{
  const gchar *wanted = monitor->config.alert_score;
  GString *list;
  guint i = 0;

  if (monitor->alert == NULL)
    return TRUE;
  while (*wanted != '\0' && i < n && !g_str_equal (names[i], wanted))
    i++;
  if (i < n) {
    hv_lock (&monitor->lock);
    monitor->alert_index = i;
    hv_unlock (&monitor->lock);
    return TRUE;
  }
  list = g_string_new (NULL);
  for (i = 0; i < n; i++)
    g_string_append_printf (list, "%s%s", i ? ", " : "", names[i]);
  g_set_error (error, HV_ERROR, HV_ERROR_OPTION, "alert-score=%s is none of "
      "the scores that are measured: %s", wanted, list->str);
  g_string_free (list, TRUE);
  return FALSE;
}

/* Takes the structure; NULL is nothing to post. */
static void
post (GstHipVmafMonitor * monitor, GstStructure * structure)
{
  if (structure != NULL)
    gst_element_post_message (monitor->element,
        gst_message_new_element (GST_OBJECT (monitor->element), structure));
}

/* Takes the message of a window that ended, NULL if none did; what is to be posted of it. Under
 * the lock. */
static GstStructure *
keep (GstHipVmafMonitor * monitor, GstStructure * message)
{
  if (message == NULL)
    return NULL;
  g_clear_pointer (&monitor->last, gst_structure_free);
  monitor->last = message;
  return monitor->config.silent ? NULL : gst_structure_copy (message);
}

/* Under the lock. */
static GstStructure *
judge (GstHipVmafMonitor * monitor, const GstHipVmafTimes * times, gint64 time,
    gint64 utc, const gchar * name, gdouble score)
{
  GstHipVmafAlertFinding finding;
  GstHipVmafTimes found = *times;

  if (!gst_hip_vmaf_alert_add (monitor->alert, time, times->duration, score,
          &finding))
    return NULL;
  found.duration = finding.duration;
  return gst_hip_vmaf_message_alert (&found,
      gst_hip_vmaf_alert_is_raised (monitor->alert), name, finding.mean,
      monitor->config.alert_below, finding.frames, utc);
}

void
gst_hip_vmaf_monitor_add (GstHipVmafMonitor * monitor,
    const GstHipVmafTimes * times, gint64 time, gint64 utc,
    const gchar * const *names, const gdouble * scores, guint n)
{
  GstStructure *ended = NULL, *alert = NULL;

  hv_lock (&monitor->lock);
  if (monitor->interval != NULL)
    ended = keep (monitor, gst_hip_vmaf_interval_add (monitor->interval, times,
            time, utc, names, scores, n));
  if (monitor->alert != NULL)
    alert = judge (monitor, times, time, utc, names[monitor->alert_index],
        scores[monitor->alert_index]);
  hv_unlock (&monitor->lock);
  post (monitor, ended);
  post (monitor, alert);
}

void
gst_hip_vmaf_monitor_end (GstHipVmafMonitor * monitor)
{
  GstStructure *ended = NULL;

  hv_lock (&monitor->lock);
  if (monitor->interval != NULL)
    ended = keep (monitor, gst_hip_vmaf_interval_end (monitor->interval));
  if (monitor->alert != NULL)
    gst_hip_vmaf_alert_restart (monitor->alert);
  hv_unlock (&monitor->lock);
  post (monitor, ended);
}

void
gst_hip_vmaf_monitor_stats (GstHipVmafMonitor * monitor,
    GstHipVmafStats * stats)
{
  hv_lock (&monitor->lock);
  if (monitor->last != NULL)
    stats->interval = gst_structure_copy (monitor->last);
  if (monitor->alert != NULL)
    stats->alert = gst_hip_vmaf_alert_is_raised (monitor->alert) ?
        GST_HIP_VMAF_ALERT_RAISED : GST_HIP_VMAF_ALERT_CLEAR;
  hv_unlock (&monitor->lock);
}
