/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How late the distorted stream is, from what its frames show, and which reference frame each of
 * them shows. Pure logic over fingerprints and running times; it knows no element and no picture.
 * docs/alignment.md says what it does. Not thread-safe: one thread at a time. */

#ifndef GST_HIP_VMAF_ALIGNMENT_H
#define GST_HIP_VMAF_ALIGNMENT_H

#include "fingerprint.h"
#include "pairing.h"

G_BEGIN_DECLS

typedef enum
{
  GST_HIP_VMAF_ALIGNMENT_FOUND, /* before the first frame was decided */
  GST_HIP_VMAF_ALIGNMENT_ASSUMED,       /* there was nothing to go by */
  GST_HIP_VMAF_ALIGNMENT_JUMPED,
  GST_HIP_VMAF_ALIGNMENT_DRIFTED        /* by frames, in small parts of one */
} GstHipVmafAlignmentReason;

/* An offset that holds from some frame on. */
typedef struct
{
  GstHipVmafAlignmentReason reason;
  gint64 offset;                /* ns, positive where the distorted stream is late */
  gint frames;                  /* the same in frames of the reference */
  gdouble confidence;           /* how much nearer frames are than at the next best offset: 0 for
                                   as near, 1 for identical */
  gint64 time;                  /* running time in the reference from which on it holds */
} GstHipVmafAlignmentNews;

/* What became of the earliest distorted frame. */
typedef struct
{
  gint64 time;                  /* running time of the reference frame that it shows; where there is
                                   none, the time that it would have */
  gboolean repeated;            /* that frame, or a later one, was shown before */
} GstHipVmafAligned;

typedef struct _GstHipVmafAlignment GstHipVmafAlignment;

/* Looks for offsets from -max_offset to max_offset; `offset` (ns, in that range) is assumed where
 * frames say nothing. */
GstHipVmafAlignment *gst_hip_vmaf_alignment_new (gint64 offset,
    gint64 max_offset);
void gst_hip_vmaf_alignment_free (GstHipVmafAlignment * alignment);

/* How many frames of each side can wait: with few, less far is looked. No limit at first. */
void gst_hip_vmaf_alignment_set_limit (GstHipVmafAlignment * alignment,
    guint frames);

/* The next frame of a side; `print` is copied. NULL for a gap of the distorted stream, and for what
 * cannot be read. */
void gst_hip_vmaf_alignment_add (GstHipVmafAlignment * alignment,
    GstHipVmafSide side, gint64 time, const GstHipVmafFingerprint * print);

/* Whether no more frames of this side will come. */
void gst_hip_vmaf_alignment_set_ended (GstHipVmafAlignment * alignment,
    GstHipVmafSide side, gboolean ended);

/* Decides about the earliest distorted frame, TRUE, as soon as enough has come of both sides; with
 * `force` from what there is. Call until FALSE. */
gboolean gst_hip_vmaf_alignment_next (GstHipVmafAlignment * alignment,
    gboolean force, GstHipVmafAligned * aligned);

/* Drops the earliest distorted frame, undecided. */
void gst_hip_vmaf_alignment_drop (GstHipVmafAlignment * alignment);

/* Hands out the offset, TRUE, once after each change. It comes no later than the frames do from
 * which on it holds at the start, and a few after them at a jump. */
gboolean gst_hip_vmaf_alignment_news (GstHipVmafAlignment * alignment,
    GstHipVmafAlignmentNews * news);

/* Whether frames are followed one by one: both streams have one rate. If not, only the offset
 * is. As of the last decision. */
gboolean gst_hip_vmaf_alignment_follows_frames (const GstHipVmafAlignment *
    alignment);

/* Whether it waits for frames to tell what the offset is, at the start or at a jump. As of the last
 * call of next(). */
gboolean gst_hip_vmaf_alignment_is_looking (const GstHipVmafAlignment *
    alignment);

/* Whether the limit kept it from looking as far as max_offset, ever. */
gboolean gst_hip_vmaf_alignment_was_limited (const GstHipVmafAlignment *
    alignment);

/* The longest time, in ns, that the reference may be read ahead of a decision, its offset not
 * counted. */
gint64 gst_hip_vmaf_alignment_delay (const GstHipVmafAlignment * alignment);

/* Forgets the frames of a side that was flushed; the offset stays. */
void gst_hip_vmaf_alignment_flush (GstHipVmafAlignment * alignment,
    GstHipVmafSide side);

/* Forgets everything, as after new(). */
void gst_hip_vmaf_alignment_reset (GstHipVmafAlignment * alignment);

G_END_DECLS

#endif
