/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Windows of running time: see interval.h. */

#include "interval.h"

/* Bounds the memory, whatever times the frames have. */
#define MAX_FRAMES (1 << 20)

struct _GstHipVmafInterval
{
  gint64 length;
  HvPool *pool;
  guint64 frames;               /* in the window; 0: it is not begun */
  gint64 window;                /* which one it is */
  GstHipVmafTimes first;        /* of its first frame */
  gint64 begin, end;            /* running times between which its frames are */
  gint64 utc;
};

GstHipVmafInterval *
gst_hip_vmaf_interval_new (GstClockTime length)
{
  GstHipVmafInterval *interval = g_new0 (GstHipVmafInterval, 1);

  interval->length = (gint64) MIN (length, (guint64) G_MAXINT64);
  interval->pool = hv_pool_new_keeping ();
  return interval;
}

void
gst_hip_vmaf_interval_free (GstHipVmafInterval * interval)
{
  if (interval == NULL)
    return;
  hv_pool_free (interval->pool);
  g_free (interval);
}

/* Rounded down, also below 0. */
static gint64
window_of (const GstHipVmafInterval * interval, gint64 time)
{
  gint64 window = time / interval->length;

  return window - (time < window * interval->length);
}

static void
begin (GstHipVmafInterval * interval, const GstHipVmafTimes * times,
    gint64 time, gint64 utc)
{
  interval->window = window_of (interval, time);
  interval->first = *times;
  interval->begin = interval->end = time;
  interval->utc = utc;
}

GstStructure *
gst_hip_vmaf_interval_add (GstHipVmafInterval * interval,
    const GstHipVmafTimes * times, gint64 time, gint64 utc,
    const gchar * const *names, const gdouble * scores, guint n)
{
  GstStructure *message = NULL;
  gint64 length = 0;

  if (interval->frames == MAX_FRAMES
      || interval->window != window_of (interval, time))
    message = gst_hip_vmaf_interval_end (interval);
  if (interval->frames == 0)
    begin (interval, times, time, utc);
  if (GST_CLOCK_TIME_IS_VALID (times->duration))
    length = (gint64) MIN (times->duration, (guint64) G_MAXINT64 / 2);
  interval->begin = MIN (interval->begin, time);
  interval->end = MAX (interval->end, time + length);
  interval->frames++;
  hv_pool_add (interval->pool, names, scores, n);
  return message;
}

GstStructure *
gst_hip_vmaf_interval_end (GstHipVmafInterval * interval)
{
  GstHipVmafTimes times = interval->first;
  GstStructure *message;

  if (interval->frames == 0)
    return NULL;
  times.duration = interval->end - interval->begin;
  message = gst_hip_vmaf_message_interval (&times, interval->frames,
      interval->utc, interval->pool);
  hv_pool_clear (interval->pool);
  interval->frames = 0;
  return message;
}
