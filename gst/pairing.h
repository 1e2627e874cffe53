/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which distorted frame belongs to which reference frame, by running time. Pure logic over two
 * short queues; it knows no element. Not thread-safe: one thread at a time. */

#ifndef GST_HIP_VMAF_PAIRING_H
#define GST_HIP_VMAF_PAIRING_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_HIP_VMAF_REFERENCE,
  GST_HIP_VMAF_DISTORTED,
  GST_HIP_VMAF_N_SIDES
} GstHipVmafSide;

typedef enum
{
  GST_HIP_VMAF_FRAME_TIMED,
  GST_HIP_VMAF_FRAME_UNTIMED,   /* has no running time that could pair it */
  GST_HIP_VMAF_FRAME_GAP        /* no picture from time to time + duration */
} GstHipVmafFrameKind;

/* One frame of one side. Only the first three members decide about its pair. */
typedef struct
{
  GstHipVmafFrameKind kind;
  gint64 time;                  /* running time in ns, negative before the segment */
  GstClockTime duration;        /* GST_CLOCK_TIME_NONE if unknown */

  GstBuffer *buffer;            /* owned; NULL for a gap */
  gpointer format;              /* owned GstHipVmafFormat, see pictures.h; or NULL */
  gboolean luma;                /* the buffer holds the luma alone, see history.h */
  GstClockTime pts;             /* the buffer's, or the one concluded for it */
  GstClockTime stream_time;
  gint64 utc;                   /* microseconds since 1970 when live, else 0 */
  gboolean repeated;            /* shows the reference frame that the one before it shows */
} GstHipVmafFrame;

typedef enum
{
  GST_HIP_VMAF_PAIR,            /* both frames are handed out: measure them */
  GST_HIP_VMAF_UNPAIRED_REFERENCE,      /* the reference frame is handed out */
  GST_HIP_VMAF_UNPAIRED_DISTORTED,      /* the distorted frame is handed out */
  GST_HIP_VMAF_UNPAIRED_BOTH,   /* both are handed out; they have nothing to do with each other */
  GST_HIP_VMAF_UNDECIDED        /* gst_hip_vmaf_pairing_wants() says what is missing */
} GstHipVmafOutcome;

typedef struct _GstHipVmafPairing GstHipVmafPairing;

GstHipVmafPairing *gst_hip_vmaf_pairing_new (void);
void gst_hip_vmaf_pairing_free (GstHipVmafPairing * pairing);

/* Takes the frame. Frames of one side come in the order of their stream. */
void gst_hip_vmaf_pairing_add (GstHipVmafPairing * pairing,
    GstHipVmafSide side, const GstHipVmafFrame * frame);

/* Whether no more frames of this side will come. */
void gst_hip_vmaf_pairing_set_ended (GstHipVmafPairing * pairing,
    GstHipVmafSide side, gboolean ended);

/* Decides about the earliest frames; call until GST_HIP_VMAF_UNDECIDED. The caller owns what it
 * is handed. */
GstHipVmafOutcome gst_hip_vmaf_pairing_next (GstHipVmafPairing * pairing,
    GstHipVmafFrame * reference, GstHipVmafFrame * distorted);

/* Whether another frame of this side is needed to go on; as of the last call of next(). */
gboolean gst_hip_vmaf_pairing_wants (GstHipVmafPairing * pairing,
    GstHipVmafSide side);

/* Frames (gaps not counted) that are not decided yet. */
guint gst_hip_vmaf_pairing_waiting (GstHipVmafPairing * pairing,
    GstHipVmafSide side);

/* Frames and gaps. */
guint gst_hip_vmaf_pairing_length (GstHipVmafPairing * pairing,
    GstHipVmafSide side);

/* Whether neither frames nor gaps are left. */
gboolean gst_hip_vmaf_pairing_is_empty (GstHipVmafPairing * pairing,
    GstHipVmafSide side);

/* Hands out the earliest frame of the side, TRUE, if its running time is before `time`. */
gboolean gst_hip_vmaf_pairing_expire (GstHipVmafPairing * pairing,
    GstHipVmafSide side, gint64 time, GstHipVmafFrame * frame);

/* Hands out the earliest entry of the side, TRUE, until there is none. */
gboolean gst_hip_vmaf_pairing_pop (GstHipVmafPairing * pairing,
    GstHipVmafSide side, GstHipVmafFrame * frame);

G_END_DECLS

#endif
