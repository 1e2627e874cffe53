/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A results file on disk. Whatever happens, the file under its name is a whole document: it is
 * written beside it and renamed, every few seconds by a thread of its own and at the end. That a
 * long file is copied each time costs a twentieth of that thread's time at most: the longer it
 * takes, the longer is the wait for the next time.
 *
 * What is no regular file (a pipe, /dev/stdout), or cannot be replaced, is written once, at the end.
 *
 * Threads: any; close and free after all other calls but add, which may come late and is ignored
 * then. */

#ifndef GST_HIP_VMAF_RESULTS_FILE_H
#define GST_HIP_VMAF_RESULTS_FILE_H

#include "results.h"

G_BEGIN_DECLS

typedef struct _GstHipVmafResultsFile GstHipVmafResultsFile;

/* Something could not be written, said once: what there is stays, and the next time all is tried
 * again. From any thread. */
typedef void (*GstHipVmafResultsFailed) (gpointer user, const GError * error);

/* NULL and a GFileError when the file could not be written to as things are. Nothing is written
 * before a frame has been added. */
GstHipVmafResultsFile *gst_hip_vmaf_results_file_new (const gchar * path,
    GstHipVmafResultsFormat format, guint precision,
    GstHipVmafResultsFailed failed, gpointer user, GError ** error);

/* Where the scores of the whole stream are; they outlive the file. Before the first frame. */
void gst_hip_vmaf_results_file_set_aggregates (GstHipVmafResultsFile * file,
    HvAggregates * aggregates);

/* See gst_hip_vmaf_results_begin(). The speed counts from the first call. */
void gst_hip_vmaf_results_file_begin (GstHipVmafResultsFile * file,
    const gchar * const *names, guint n, guint width, guint height);
void gst_hip_vmaf_results_file_add (GstHipVmafResultsFile * file, gint index,
    const gdouble * scores);

/* Brings the file up to date, as the end of the stream asks for; more may follow. */
void gst_hip_vmaf_results_file_complete (GstHipVmafResultsFile * file);
/* The same, and the last time. */
void gst_hip_vmaf_results_file_close (GstHipVmafResultsFile * file);
/* NULL is nothing; a file that is not closed keeps what it had last. */
void gst_hip_vmaf_results_file_free (GstHipVmafResultsFile * file);

G_END_DECLS

#endif
