/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One INFO message when the element has waited for long with one pad full and the other empty: a
 * tee whose branches take different time stands still for ever unless a queue is large enough. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

#define PATIENCE_US (5 * G_TIME_SPAN_SECOND)
#define PERIOD (500 * GST_MSECOND)

void
gst_hip_vmaf_starvation_note (GstHipVmaf * self, gboolean ref_has,
    gboolean dist_has)
{
  gint starved = -1;

  if (ref_has != dist_has)
    starved = ref_has ? GST_HIP_VMAF_DISTORTED : GST_HIP_VMAF_REFERENCE;
  GST_OBJECT_LOCK (self);
  if (self->starved != starved) {
    self->starved = starved;
    self->starved_since = g_get_monotonic_time ();
  }
  GST_OBJECT_UNLOCK (self);
}

static void
post (GstElement * element, gpointer data)
{
  GstHipVmaf *self = GST_HIP_VMAF (element);
  GstHipVmafSide side = GPOINTER_TO_INT (data);
  GstPad *starved = GST_PAD (self->pad[side]);
  GstPad *full = GST_PAD (self->pad[!side]);
  gchar *text;

  if (!gst_pad_is_linked (starved))
    text = g_strdup_printf ("%s is starved: it is not linked, and %s has been "
        "full for 5 seconds. Link %s, or set force-live=true for a feed that "
        "may be absent.", GST_PAD_NAME (starved), GST_PAD_NAME (full),
        GST_PAD_NAME (starved));
  else
    text = g_strdup_printf ("%s is starved: it has got no frame for 5 seconds "
        "while %s is full. If both come from one tee, the branch to %s needs "
        "an unlimited queue: queue max-size-buffers=0 max-size-bytes=0 "
        "max-size-time=0", GST_PAD_NAME (starved), GST_PAD_NAME (full),
        GST_PAD_NAME (full));
  /* As debug text too: gst-launch-1.0 shows nothing else of an INFO message. */
  GST_ELEMENT_INFO (self, STREAM, FAILED, ("%s", text), ("%s", text));
  g_free (text);
}

static gboolean
check (GstClock * clock, GstClockTime time, GstClockID id, gpointer user_data)
{
  GstHipVmaf *self = user_data;
  gint starved;
  gboolean due;

  GST_OBJECT_LOCK (self);
  starved = self->starved;
  due = starved >= 0 && !self->starvation_said
      && g_get_monotonic_time () - self->starved_since >= PATIENCE_US;
  GST_OBJECT_UNLOCK (self);
  if (!due || GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency
          (GST_AGGREGATOR (self))))
    return TRUE;

  GST_OBJECT_LOCK (self);
  self->starvation_said = TRUE;
  GST_OBJECT_UNLOCK (self);
  /* This thread belongs to everybody's clock; an application may hold up a message. */
  gst_element_call_async (GST_ELEMENT (self), post, GINT_TO_POINTER (starved),
      NULL);
  return TRUE;
}

void
gst_hip_vmaf_starvation_start (GstHipVmaf * self)
{
  GstClock *clock = gst_system_clock_obtain ();

  self->starved = -1;
  self->starvation_said = FALSE;
  self->starvation_timer = gst_clock_new_periodic_id (clock,
      gst_clock_get_time (clock) + PERIOD, PERIOD);
  gst_clock_id_wait_async (self->starvation_timer, check,
      gst_object_ref (self), gst_object_unref);
  gst_object_unref (clock);
}

void
gst_hip_vmaf_starvation_stop (GstHipVmaf * self)
{
  if (self->starvation_timer == NULL)
    return;
  gst_clock_id_unschedule (self->starvation_timer);
  gst_clock_id_unref (self->starvation_timer);
  self->starvation_timer = NULL;
}
