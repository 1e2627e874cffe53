/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the peers of the sink pads say of their latency. With the base class, streams are live only
 * if every branch can hold its frames for as long as the slowest one takes; otherwise it would hold
 * the reference for the distorted stream. Here the reference passes without waiting, so what does
 * not fit is made to fit, and said once. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

static void
warn (GstHipVmaf * self, GstHipVmafSide side, GstClockTime needed,
    GstClockTime max)
{
  const gchar *name = GST_PAD_NAME (self->pad[side]);

  if (gst_hip_vmaf_say_once (self, GST_HIP_VMAF_SAID_LATENCY))
    GST_ELEMENT_WARNING (self, CORE, CLOCK,
        ("The branch of %s can hold a frame back for %" G_GUINT64_FORMAT " ms "
            "only, and the live streams come up to %" G_GUINT64_FORMAT " ms "
            "late: frames may be lost there. Put a queue before %s.", name,
            max / GST_MSECOND, needed / GST_MSECOND, name), (NULL));
}

/* Of a reference that is not live, nothing and everything. */
static void
ask_reference (GstHipVmaf * self, GstClockTime * min, GstClockTime * max)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (GST_PAD (self->pad[GST_HIP_VMAF_REFERENCE]), query))
    gst_query_parse_latency (query, &live, min, max);
  gst_query_unref (query);
  if (!live) {
    *min = 0;
    *max = GST_CLOCK_TIME_NONE;
  }
}

static void
set_lateness (GstHipVmaf * self, GstClockTime lateness)
{
  GST_OBJECT_LOCK (self);
  self->lateness = lateness;
  GST_OBJECT_UNLOCK (self);
}

static void
fit_reference (GstHipVmaf * self, GstQuery * query)
{
  GstClockTime min, max;

  gst_query_parse_latency (query, NULL, &min, &max);
  if (max >= min)
    return;
  warn (self, GST_HIP_VMAF_REFERENCE, min, max);
  gst_query_set_latency (query, TRUE, min, min);
}

/* src gives the reference, so what the distorted stream's branch can hold limits nothing; and the
 * time that it takes counts for src only as far as the reference can be held. For the rest, frames
 * wait for their partners after they have passed. */
static void
fit_distorted (GstHipVmaf * self, GstQuery * query)
{
  GstClockTime min, max, told, ref_min, ref_max;

  gst_query_parse_latency (query, NULL, &min, &max);
  ask_reference (self, &ref_min, &ref_max);
  if (max < MAX (min, ref_min))
    warn (self, GST_HIP_VMAF_DISTORTED, MAX (min, ref_min), max);
  told = MIN (min, ref_max);
  gst_query_set_latency (query, TRUE, told, GST_CLOCK_TIME_NONE);
  set_lateness (self, min - told);
}

GstPadProbeReturn
gst_hip_vmaf_latency_probe (GstPad * pad, GstPadProbeInfo * info, gpointer user)
{
  GstHipVmaf *self = GST_HIP_VMAF (user);
  gboolean is_ref = pad == GST_PAD (self->pad[GST_HIP_VMAF_REFERENCE]);
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  gboolean live;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return GST_PAD_PROBE_OK;
  gst_query_parse_latency (query, &live, NULL, NULL);
  if (live && is_ref)
    fit_reference (self, query);
  else if (live)
    fit_distorted (self, query);
  else if (!is_ref)
    set_lateness (self, 0);
  return GST_PAD_PROBE_OK;
}

GstClockTime
gst_hip_vmaf_lateness (GstHipVmaf * self)
{
  GstClockTime lateness;

  GST_OBJECT_LOCK (self);
  lateness = self->lateness;
  GST_OBJECT_UNLOCK (self);
  return lateness;
}
