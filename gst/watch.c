/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Live streams that find no partners in each other: one message when that has lasted for `timeout`,
 * another when it is over. A timer looks, because a stream that stops calls nobody. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

#define PERIOD (100 * GST_MSECOND)

/* What came on the streams meanwhile */

void
gst_hip_vmaf_watch_note_frame (GstHipVmaf * self, GstHipVmafSide side)
{
  GST_OBJECT_LOCK (self);
  self->watch_frame[side] = g_get_monotonic_time ();
  GST_OBJECT_UNLOCK (self);
}

gboolean
gst_hip_vmaf_watch_note_pair (GstHipVmaf * self)
{
  gboolean begins;

  GST_OBJECT_LOCK (self);
  self->watch_pair = g_get_monotonic_time ();
  begins = self->break_due;
  self->break_due = FALSE;
  GST_OBJECT_UNLOCK (self);
  return begins;
}

/* Without pairs yet, but on the way to them. */
void
gst_hip_vmaf_watch_note_search (GstHipVmaf * self)
{
  GST_OBJECT_LOCK (self);
  if (self->unpaired_at == 0)
    self->watch_pair = g_get_monotonic_time ();
  GST_OBJECT_UNLOCK (self);
}

gboolean
gst_hip_vmaf_watch_take_break (GstHipVmaf * self)
{
  gboolean due;

  GST_OBJECT_LOCK (self);
  due = self->break_due;
  self->break_due = FALSE;
  GST_OBJECT_UNLOCK (self);
  return due;
}

/* Messages */

static void
post (GstElement * element, gpointer unused)
{
  GstHipVmaf *self = GST_HIP_VMAF (element);
  GstStructure *structure;

  hv_lock (&self->watch_posting);
  GST_OBJECT_LOCK (self);
  structure = g_queue_pop_head (&self->watch_messages);
  GST_OBJECT_UNLOCK (self);
  gst_element_post_message (element,
      gst_message_new_element (GST_OBJECT (self), structure));
  hv_unlock (&self->watch_posting);
}

/* Which pads have brought no frame for `timeout`. Under the object lock. */
static const gchar *
silent (GstHipVmaf * self, const gboolean * has_buffer, gint64 now)
{
  gboolean quiet[GST_HIP_VMAF_N_SIDES];

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    quiet[side] = !has_buffer[side]
        && now - self->watch_frame[side] >= self->watch_timeout;
  if (quiet[GST_HIP_VMAF_REFERENCE])
    return quiet[GST_HIP_VMAF_DISTORTED] ? "both" : "ref_sink";
  return quiet[GST_HIP_VMAF_DISTORTED] ? "dist_sink" : "none";
}

/* The timer */

/* Whether time counts: live, playing, and the reference not at its end. */
static gboolean
counts (GstHipVmaf * self)
{
  GstState state;

  GST_OBJECT_LOCK (self);
  state = GST_STATE (self);
  GST_OBJECT_UNLOCK (self);
  return state == GST_STATE_PLAYING
      && GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR
          (self)))
      && !gst_aggregator_pad_is_eos (self->pad[GST_HIP_VMAF_REFERENCE]);
}

/* Under the object lock: what there is to say, or NULL. */
static GstStructure *
judge (GstHipVmaf * self, const gboolean * has_buffer, GstClockTime running,
    gint64 now)
{
  if (self->unpaired_at != 0) {
    GstClockTime lasted;

    if (self->watch_pair <= self->unpaired_at)
      return NULL;
    lasted = (self->watch_pair - self->unpaired_at + self->watch_timeout)
        * GST_USECOND;
    self->unpaired_at = 0;
    return gst_hip_vmaf_message_paired (running, lasted);
  }
  if (now - MAX (self->watch_since, self->watch_pair) < self->watch_timeout)
    return NULL;
  self->unpaired_at = now;
  self->break_due = TRUE;
  return gst_hip_vmaf_message_unpaired (running,
      self->watch_timeout * GST_USECOND, silent (self, has_buffer, now));
}

static gboolean
check (GstClock * clock, GstClockTime time, GstClockID id, gpointer user_data)
{
  GstHipVmaf *self = user_data;
  GstClockTime running =
      gst_element_get_current_running_time (GST_ELEMENT (self));
  gboolean counting = counts (self);
  gint64 now = g_get_monotonic_time ();
  GstStructure *message = NULL;
  gboolean has_buffer[GST_HIP_VMAF_N_SIDES];

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    has_buffer[side] = gst_aggregator_pad_has_buffer (self->pad[side]);
  GST_OBJECT_LOCK (self);
  if (!counting)
    self->watch_since = now;
  else if (self->watch_timer != NULL)
    message = judge (self, has_buffer, running, now);
  if (counting && self->scorer != NULL)
    gst_hip_vmaf_scorer_set_paired (self->scorer, self->unpaired_at != 0 ?
        GST_HIP_VMAF_PAIRED_NO : GST_HIP_VMAF_PAIRED_YES);
  if (message != NULL)
    g_queue_push_tail (&self->watch_messages, message);
  GST_OBJECT_UNLOCK (self);
  /* This thread belongs to everybody's clock; an application may hold up a message. */
  if (message != NULL)
    gst_element_call_async (GST_ELEMENT (self), post, NULL, NULL);
  return TRUE;
}

void
gst_hip_vmaf_watch_start (GstHipVmaf * self)
{
  GstClock *clock = gst_system_clock_obtain ();
  gint64 now = g_get_monotonic_time ();
  GstClockID timer = NULL;

  GST_OBJECT_LOCK (self);
  self->watch_timeout = (gint64) (self->timeout / GST_USECOND);
  self->watch_since = self->watch_pair = now;
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    self->watch_frame[side] = now;
  self->unpaired_at = 0;
  self->break_due = FALSE;
  if (self->timeout > 0)
    timer = self->watch_timer = gst_clock_new_periodic_id (clock,
        gst_clock_get_time (clock) + PERIOD, PERIOD);
  GST_OBJECT_UNLOCK (self);
  if (timer != NULL)
    gst_clock_id_wait_async (timer, check, gst_object_ref (self),
        gst_object_unref);
  gst_object_unref (clock);
}

void
gst_hip_vmaf_watch_stop (GstHipVmaf * self)
{
  GstClockID timer;

  GST_OBJECT_LOCK (self);
  timer = g_steal_pointer (&self->watch_timer);
  GST_OBJECT_UNLOCK (self);
  if (timer == NULL)
    return;
  gst_clock_id_unschedule (timer);
  gst_clock_id_unref (timer);
}
