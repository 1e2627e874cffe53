/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A text file with the figures of a run, for scrapers of metrics such as Prometheus's node_exporter.
 * Written by a thread of its own, at the start, once a second and at the end, each time as a whole:
 * who opens it sees one state. It is valid OpenMetrics and valid in Prometheus's older text format. */

#ifndef GST_HIP_VMAF_OPENMETRICS_H
#define GST_HIP_VMAF_OPENMETRICS_H

#include "scorer.h"

G_BEGIN_DECLS

typedef struct _GstHipVmafOpenMetrics GstHipVmafOpenMetrics;

/* Labels from "channel=one,site=paris", each as name="value", with the element's name as
 * `element` before them; NULL and an error where a name is none, or one that we use. */
gchar *gst_hip_vmaf_openmetrics_labels (const gchar * element,
    const gchar * text, GError ** error);

/* Writes the file, and starts the thread if that worked; else NULL and an error. Later trouble is
 * one WARNING of the element's. `labels` as above. Refers to `scorer`. */
GstHipVmafOpenMetrics *gst_hip_vmaf_openmetrics_new (GstElement * element,
    GstHipVmafScorer * scorer, const gchar * location, const gchar * labels,
    GError ** error);

/* Writes the last state, with hipvmaf_up 0, and ends the thread. */
void gst_hip_vmaf_openmetrics_free (GstHipVmafOpenMetrics * metrics);

G_END_DECLS

#endif
