/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a results file says: libvmaf's layouts (output.c), as text in three parts. The frames are
 * appended one by one and never change; head and tail (the pooled scores) are those of the moment.
 * One thread at a time. */

#ifndef GST_HIP_VMAF_RESULTS_H
#define GST_HIP_VMAF_RESULTS_H

#include "kernels/common/aggregates.h"

G_BEGIN_DECLS

/* Numbered as libvmaf's enum VmafOutputFormat. */
typedef enum
{
  GST_HIP_VMAF_RESULTS_NONE,
  GST_HIP_VMAF_RESULTS_XML,
  GST_HIP_VMAF_RESULTS_JSON,
  GST_HIP_VMAF_RESULTS_CSV,
  GST_HIP_VMAF_RESULTS_SUB
} GstHipVmafResultsFormat;

typedef struct _GstHipVmafResults GstHipVmafResults;

/* Numbers have `precision` significant digits; 0 is what libvmaf prints: six decimals, sixteen where
 * a fraction would vanish in six. The format is not NONE. */
GstHipVmafResults *gst_hip_vmaf_results_new (GstHipVmafResultsFormat format,
    guint precision);
void gst_hip_vmaf_results_free (GstHipVmafResults * results);

/* The scores of the frames from here on, n of them, and how large their pictures are; a file that
 * holds several sizes gives the first. May be called again; names that are new come after the
 * others. Any text is a name: what the layout cannot hold is escaped or made "_". */
void gst_hip_vmaf_results_begin (GstHipVmafResults * results,
    const gchar * const *names, guint n, guint width, guint height);

/* Appends a frame to `text`; scores[i] is that of names[i]. */
void gst_hip_vmaf_results_add (GstHipVmafResults * results, gint index,
    const gdouble * scores, GString * text);

/* How many names there were; the head and the frames of files with fewer are those of another layout. */
guint gst_hip_vmaf_results_columns (GstHipVmafResults * results);

/* Appends what comes before the frames; `fps` is how many were measured per second. */
void gst_hip_vmaf_results_head (GstHipVmafResults * results, gdouble fps,
    GString * text);
/* Appends what comes after them, with the scores of the whole stream such as "apsnr_y". */
void gst_hip_vmaf_results_tail (GstHipVmafResults * results,
    HvAggregates * aggregates, GString * text);

G_END_DECLS

#endif
