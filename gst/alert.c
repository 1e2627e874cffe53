/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A sliding mean against a threshold: see alert.h. */

#include "alert.h"

#include <math.h>

#include <gst/base/gstqueuearray.h>

/* Bounds memory and time, whatever times the frames have. */
#define MAX_FRAMES (1 << 18)

typedef struct
{
  gint64 time;
  gdouble score;
} Entry;

struct _GstHipVmafAlert
{
  gdouble below;
  gint64 duration;
  GstQueueArray *entries;       /* of the last `duration` */
  gint64 since;                 /* time of the first one after a restart */
  gint64 end;                   /* of the last one */
  gboolean raised;
};

GstHipVmafAlert *
gst_hip_vmaf_alert_new (gdouble below, GstClockTime duration)
{
  GstHipVmafAlert *alert = g_new0 (GstHipVmafAlert, 1);

  alert->below = below;
  alert->duration = (gint64) MIN (duration, (guint64) G_MAXINT64 / 4);
  alert->entries = gst_queue_array_new_for_struct (sizeof (Entry), 64);
  return alert;
}

void
gst_hip_vmaf_alert_free (GstHipVmafAlert * alert)
{
  if (alert == NULL)
    return;
  gst_queue_array_free (alert->entries);
  g_free (alert);
}

void
gst_hip_vmaf_alert_restart (GstHipVmafAlert * alert)
{
  gst_queue_array_clear (alert->entries);
}

static Entry *
entry_at (GstHipVmafAlert * alert, guint i)
{
  return gst_queue_array_peek_nth_struct (alert->entries, i);
}

/* Summed anew each time: a running sum would gather rounding errors for as long as it runs. */
static gdouble
mean (GstHipVmafAlert * alert, guint n)
{
  gdouble sum = 0;

  for (guint i = 0; i < n; i++)
    sum += entry_at (alert, i)->score;
  return sum / n;
}

static void
append (GstHipVmafAlert * alert, gint64 time, gint64 length, gdouble score)
{
  Entry entry = { time, score };

  if (!gst_queue_array_is_empty (alert->entries)
      && (time > alert->end + alert->duration || time + length < alert->end))
    gst_hip_vmaf_alert_restart (alert);
  if (gst_queue_array_is_empty (alert->entries))
    alert->since = time;
  alert->end = time + length;
  gst_queue_array_push_tail_struct (alert->entries, &entry);
  while (entry_at (alert, 0)->time < MIN (alert->end - alert->duration, time)
      || gst_queue_array_get_length (alert->entries) > MAX_FRAMES)
    gst_queue_array_pop_head_struct (alert->entries);
}

gboolean
gst_hip_vmaf_alert_add (GstHipVmafAlert * alert, gint64 time,
    GstClockTime duration, gdouble score, GstHipVmafAlertFinding * finding)
{
  gint64 length = GST_CLOCK_TIME_IS_VALID (duration) ?
      (gint64) MIN (duration, (guint64) G_MAXINT64 / 4) : 0;

  if (isnan (score))
    return FALSE;
  append (alert, time, length, score);
  if (alert->end - alert->since < alert->duration)
    return FALSE;
  finding->frames = gst_queue_array_get_length (alert->entries);
  finding->mean = mean (alert, finding->frames);
  finding->duration = alert->end - entry_at (alert, 0)->time;
  if ((finding->mean < alert->below) == alert->raised)
    return FALSE;
  alert->raised = !alert->raised;
  gst_hip_vmaf_alert_restart (alert);
  return TRUE;
}

gboolean
gst_hip_vmaf_alert_is_raised (const GstHipVmafAlert * alert)
{
  return alert->raised;
}
