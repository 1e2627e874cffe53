/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers while the stream runs: figures of windows of running time, and word when a score is too
 * low. May be called from any thread; posts from the calling one. */

#ifndef GST_HIP_VMAF_MONITOR_H
#define GST_HIP_VMAF_MONITOR_H

#include "messages.h"

G_BEGIN_DECLS

typedef struct
{
  GstClockTime interval;        /* of the windows; 0: none */
  gboolean silent;              /* they are only for whoever asks, see monitor_stats() */
  gdouble alert_below;          /* GST_HIP_VMAF_NO_ALERT: never */
  GstClockTime alert_duration;
  gchar *alert_score;           /* which score; empty: the first. Taken from here */
} GstHipVmafMonitorConfig;

/* Nothing is below it. */
#define GST_HIP_VMAF_NO_ALERT (-G_MAXDOUBLE)

typedef struct _GstHipVmafMonitor GstHipVmafMonitor;

/* `element` posts the messages. */
GstHipVmafMonitor *gst_hip_vmaf_monitor_new (GstElement * element,
    GstHipVmafMonitorConfig * config);
void gst_hip_vmaf_monitor_free (GstHipVmafMonitor * monitor);

/* The names of the scores that will come; FALSE when alert_score is none of them. */
gboolean gst_hip_vmaf_monitor_begin (GstHipVmafMonitor * monitor,
    const gchar * const *names, guint n, GError ** error);

/* A frame's scores; `time` is its running time, also where that is negative. */
void gst_hip_vmaf_monitor_add (GstHipVmafMonitor * monitor,
    const GstHipVmafTimes * times, gint64 time, gint64 utc,
    const gchar * const *names, const gdouble * scores, guint n);

/* What comes now has nothing to do with what was: the end, a flush, other caps. */
void gst_hip_vmaf_monitor_end (GstHipVmafMonitor * monitor);

/* Sets stats->interval and stats->alert. */
void gst_hip_vmaf_monitor_stats (GstHipVmafMonitor * monitor,
    GstHipVmafStats * stats);

G_END_DECLS

#endif
