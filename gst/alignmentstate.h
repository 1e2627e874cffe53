/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What waits to be aligned, as those see it that decide about it: alignment.c keeps it, finding.c
 * looks for an offset, following.c for changes of it. For nobody else. */

#ifndef GST_HIP_VMAF_ALIGNMENT_STATE_H
#define GST_HIP_VMAF_ALIGNMENT_STATE_H

#include <gst/base/gstqueuearray.h>

#include "alignment.h"

G_BEGIN_DECLS

/* Frames that both streams must have in common before an offset is found, and how many are looked
 * at before one is followed. */
#define COMMON 24
#define AHEAD 12

/* Distances in time that a median is taken of. */
#define PERIODS 25

/* Distances below this, in steps of 8 bits, are all the same. */
#define FLOOR 0.05f

#define FAR G_MAXFLOAT

typedef struct
{
  gint64 time;
  GstHipVmafFingerprint print;
} Reference;

typedef struct
{
  guint64 seq;                  /* of the reference frame, from 1 */
  gfloat distance;
} Known;

typedef struct
{
  gint64 time;
  gboolean readable;
  GstHipVmafFingerprint print;
  Known *known;                 /* by seq modulo KNOWN */
  guint64 compared;             /* seq of the last reference frame that is in these: */
  gfloat least, spread;         /* the least distance, and how many cells make it up */
} Distorted;

struct _GstHipVmafAlignment
{
  gint64 assumed, max_offset;
  guint limit;
  gboolean limited;

  GstQueueArray *references;    /* of Reference, in order of time */
  GstQueueArray *distorted;     /* of Distorted */
  guint64 first_seq;            /* of references */
  gint found;                   /* the reference frame that was looked for last; a hint */
  gboolean ended[GST_HIP_VMAF_N_SIDES];
  gint64 period[GST_HIP_VMAF_N_SIDES];
  gint64 step;                  /* between offsets that are told apart */
  gboolean follows;             /* frame by frame */

  gboolean decided;             /* there is an offset */
  gint64 offset;
  gfloat usual;                 /* distance of frames that match, running mean; 0 if unknown */
  guint64 last_seq, newest_seq; /* of the reference frame shown last, and of the latest one ever;
                                   0 if none was */
  gboolean looking;             /* the first frame that waits is not what was expected */
  gboolean lost;                /* nor was the last one, and nothing else was found for it */

  gint64 told;                  /* the offset that was told last */
  gboolean left;                /* whether it was left since */
  guint steady;                 /* and then, frames since the last change */
  gboolean has_news;
  GstHipVmafAlignmentNews news;

  GArray *costs[2];             /* of gfloat, by offset: of the best path to there */
  GArray *heads[2];             /* of gint: the offset of its first frame */
  GArray *emissions;            /* of gfloat: of one frame at each offset */
};

/* The two queues */

static inline Reference *
reference_at (GstHipVmafAlignment * self, guint nth)
{
  return gst_queue_array_peek_nth_struct (self->references, nth);
}

static inline Distorted *
distorted_at (GstHipVmafAlignment * self, guint nth)
{
  return gst_queue_array_peek_nth_struct (self->distorted, nth);
}

static inline guint
n_references (GstHipVmafAlignment * self)
{
  return gst_queue_array_get_length (self->references);
}

static inline guint
n_distorted (const GstHipVmafAlignment * self)
{
  return gst_queue_array_get_length (self->distorted);
}

static inline gint64
time_at (GstHipVmafAlignment * self, GstHipVmafSide side, guint nth)
{
  return side == GST_HIP_VMAF_REFERENCE ? reference_at (self, nth)->time
      : distorted_at (self, nth)->time;
}

/* Times. Of these, the median; sorts them. */
gint64 gst_hip_vmaf_alignment_median (gint64 * times, guint n);
/* From the frames that wait. */
void gst_hip_vmaf_alignment_update_periods (GstHipVmafAlignment * self);
void gst_hip_vmaf_alignment_update_step (GstHipVmafAlignment * self);

/* The index of the reference frame at this time, the earlier on a tie, or -1. */
gint gst_hip_vmaf_alignment_nearest (GstHipVmafAlignment * self, gint64 time);
/* How many there are from this time on. */
guint gst_hip_vmaf_alignment_references_from (GstHipVmafAlignment * self,
    gint64 time);
/* How far it is from the nth reference frame; remembered. */
gfloat gst_hip_vmaf_alignment_distance (GstHipVmafAlignment * self,
    Distorted * distorted, guint nth);
/* The offsets that may be, in steps from `base`. */
void gst_hip_vmaf_alignment_range (GstHipVmafAlignment * self, gint64 base,
    gint * first, gint * last);
/* The offset that holds is news, from this time on. */
void gst_hip_vmaf_alignment_tell (GstHipVmafAlignment * self,
    GstHipVmafAlignmentReason reason, gdouble confidence, gint64 time);

/* finding.c */
/* Whether enough has come of both streams; and then, or when no more will come. */
gboolean gst_hip_vmaf_alignment_can_find (GstHipVmafAlignment * self);
void gst_hip_vmaf_alignment_find (GstHipVmafAlignment * self);

/* following.c */
/* Whether enough has come to decide about the earliest distorted frame; and the decision. */
gboolean gst_hip_vmaf_alignment_can_follow (GstHipVmafAlignment * self);
void gst_hip_vmaf_alignment_follow (GstHipVmafAlignment * self,
    Distorted * head, GstHipVmafAligned * aligned);

G_END_DECLS

#endif
