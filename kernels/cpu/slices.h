/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that share the rows of one picture. */
#ifndef HV_SLICES_H
#define HV_SLICES_H

#include <glib.h>

typedef struct HvSlices HvSlices;

/* One job of a run: `job` counts from 0; `worker`, below hv_slices_threads(), names the thread, so
 * that each can have scratch memory of its own. */
typedef void (*HvSliceFunc)(void *data, unsigned job, unsigned worker);

/* `threads` counts the caller of run too: 1 makes no thread. NULL and an error where a thread
 * cannot be made. */
HvSlices *hv_slices_new(unsigned threads, GError **error);
void hv_slices_free(HvSlices *slices);
unsigned hv_slices_threads(const HvSlices *slices);

/* Runs jobs 0 to n_jobs - 1, in order of their start, on all threads and the caller; returns when
 * all are done and their writes are visible. One run at a time. */
void hv_slices_run(HvSlices *slices, unsigned n_jobs, HvSliceFunc func, void *data);

#endif
