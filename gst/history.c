/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of frames that wait: see history.h. */

#include "history.h"

/* What all pools of one history hold together; in flight, pairs may outlive the history. */
typedef struct
{
  guintptr taken, allocated;    /* bytes; atomic */
} Use;

struct _GstHipVmafHistory
{
  GstHipVmafScorer *scorer;
  guint64 max_bytes;
  gboolean luma;
  Use *use;                     /* atomic reference-counted box */
  GstBufferPool *pool;          /* of buffers of `size`; NULL before the first frame */
  gsize size;
};

/* A pool that counts */

#define GST_TYPE_HIP_VMAF_HISTORY_POOL (gst_hip_vmaf_history_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstHipVmafHistoryPool, gst_hip_vmaf_history_pool, GST,
    HIP_VMAF_HISTORY_POOL, GstBufferPool)
     struct _GstHipVmafHistoryPool
     {
       GstBufferPool parent;
       Use *use;
       gsize size;
     };

G_DEFINE_TYPE (GstHipVmafHistoryPool, gst_hip_vmaf_history_pool,
    GST_TYPE_BUFFER_POOL);

     static GstBufferPoolClass *parent_pool_class (void)
{
  return GST_BUFFER_POOL_CLASS (gst_hip_vmaf_history_pool_parent_class);
}

static GstFlowReturn
gst_hip_vmaf_history_pool_alloc_buffer (GstBufferPool * pool,
    GstBuffer ** buffer, GstBufferPoolAcquireParams * params)
{
  GstHipVmafHistoryPool *self = GST_HIP_VMAF_HISTORY_POOL (pool);
  GstFlowReturn flow = parent_pool_class ()->alloc_buffer (pool, buffer,
      params);

  if (flow == GST_FLOW_OK)
    g_atomic_pointer_add (&self->use->allocated, self->size);
  return flow;
}

static void
gst_hip_vmaf_history_pool_free_buffer (GstBufferPool * pool, GstBuffer * buffer)
{
  GstHipVmafHistoryPool *self = GST_HIP_VMAF_HISTORY_POOL (pool);

  parent_pool_class ()->free_buffer (pool, buffer);
  g_atomic_pointer_add (&self->use->allocated, -(gssize) self->size);
}

static GstFlowReturn
gst_hip_vmaf_history_pool_acquire_buffer (GstBufferPool * pool,
    GstBuffer ** buffer, GstBufferPoolAcquireParams * params)
{
  GstHipVmafHistoryPool *self = GST_HIP_VMAF_HISTORY_POOL (pool);
  GstFlowReturn flow = parent_pool_class ()->acquire_buffer (pool, buffer,
      params);

  if (flow == GST_FLOW_OK)
    g_atomic_pointer_add (&self->use->taken, self->size);
  return flow;
}

static void
gst_hip_vmaf_history_pool_release_buffer (GstBufferPool * pool,
    GstBuffer * buffer)
{
  GstHipVmafHistoryPool *self = GST_HIP_VMAF_HISTORY_POOL (pool);

  /* Only then is there one to take. */
  parent_pool_class ()->release_buffer (pool, buffer);
  g_atomic_pointer_add (&self->use->taken, -(gssize) self->size);
}

static void
gst_hip_vmaf_history_pool_finalize (GObject * object)
{
  GstHipVmafHistoryPool *self = GST_HIP_VMAF_HISTORY_POOL (object);
  Use *use = self->use;

  /* This frees the buffers. */
  G_OBJECT_CLASS (gst_hip_vmaf_history_pool_parent_class)->finalize (object);
  g_atomic_rc_box_release (use);
}

static void
gst_hip_vmaf_history_pool_init (GstHipVmafHistoryPool * self)
{
}

static void
gst_hip_vmaf_history_pool_class_init (GstHipVmafHistoryPoolClass * klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_hip_vmaf_history_pool_finalize;
  pool_class->alloc_buffer = gst_hip_vmaf_history_pool_alloc_buffer;
  pool_class->free_buffer = gst_hip_vmaf_history_pool_free_buffer;
  pool_class->acquire_buffer = gst_hip_vmaf_history_pool_acquire_buffer;
  pool_class->release_buffer = gst_hip_vmaf_history_pool_release_buffer;
}

static GstBufferPool *
pool_new (GstHipVmafHistory * history, gsize size)
{
  GstHipVmafHistoryPool *self =
      g_object_new (GST_TYPE_HIP_VMAF_HISTORY_POOL, NULL);
  GstBufferPool *pool = GST_BUFFER_POOL (gst_object_ref_sink (self));
  GstAllocator *allocator = gst_hip_vmaf_scorer_allocator (history->scorer);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  self->use = g_atomic_rc_box_acquire (history->use);
  self->size = size;
  gst_buffer_pool_config_set_params (config, NULL, size, 0, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  gst_buffer_pool_set_config (pool, config);
  gst_clear_object (&allocator);
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

/* The history */

GstHipVmafHistory *
gst_hip_vmaf_history_new (GstHipVmafScorer * scorer, guint64 max_bytes,
    gboolean luma)
{
  GstHipVmafHistory *history = g_new0 (GstHipVmafHistory, 1);

  history->scorer = scorer;
  history->max_bytes = max_bytes;
  history->luma = luma;
  history->use = g_atomic_rc_box_new0 (Use);
  return history;
}

static void
drop_pool (GstHipVmafHistory * history)
{
  if (history->pool == NULL)
    return;
  gst_buffer_pool_set_active (history->pool, FALSE);
  gst_clear_object (&history->pool);
}

void
gst_hip_vmaf_history_free (GstHipVmafHistory * history)
{
  drop_pool (history);
  g_atomic_rc_box_release (history->use);
  g_free (history);
}

static const GstVideoInfo *
layout_of (GstHipVmafHistory * history, const GstHipVmafFormat * format)
{
  return history->luma ? &format->luma : &format->info;
}

guint
gst_hip_vmaf_history_capacity (GstHipVmafHistory * history,
    const GstHipVmafFormat * format)
{
  guint64 frames = history->max_bytes / layout_of (history, format)->size;

  return MIN (frames, G_MAXINT);
}

gboolean
gst_hip_vmaf_history_has_room (GstHipVmafHistory * history,
    const GstHipVmafFormat * format)
{
  guint64 taken = (guintptr) g_atomic_pointer_get (&history->use->taken);

  return taken + layout_of (history, format)->size <= history->max_bytes;
}

static void
copy_words (guint16 * to, const guint16 * from, guint shift, guint width)
{
  for (guint i = 0; i < width; i++)
    to[i] = from[i] >> shift;
}

/* In one piece where the rows allow: libc is faster at that. */
static void
copy_bytes (guint8 * to, gint to_stride, const HvPlane * luma,
    const HvFormat * format)
{
  const guint8 *from = luma->data;

  if (luma->stride == to_stride) {
    memcpy (to, from, (gsize) to_stride * (format->height - 1)
        + format->width);
    return;
  }
  for (guint y = 0; y < format->height; y++)
    memcpy (to + (gsize) y * to_stride, from + (ptrdiff_t) y * luma->stride,
        format->width);
}

static void
copy_luma (GstVideoFrame * frame, const HvPlane * luma, const HvFormat * format)
{
  guint8 *to = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

  if (format->depth == 8) {
    copy_bytes (to, stride, luma, format);
    return;
  }
  for (guint y = 0; y < format->height; y++)
    copy_words ((guint16 *) (to + (gsize) y * stride),
        (const guint16 *) ((const guint8 *) luma->data
            + (ptrdiff_t) y * luma->stride), luma->shift, format->width);
}

static gboolean
copy_picture (GstHipVmafHistory * history, GstBuffer * copy,
    const GstVideoFrame * frame, const HvPicture * picture,
    const GstHipVmafFormat * format)
{
  GstVideoFrame to;

  if (!gst_video_frame_map (&to, layout_of (history, format), copy,
          GST_MAP_WRITE))
    return FALSE;
  if (history->luma)
    copy_luma (&to, &picture->plane[0], &format->format);
  else
    gst_video_frame_copy (&to, frame);
  gst_video_frame_unmap (&to);
  return TRUE;
}

static void
copy_timecode (GstBuffer * to, GstBuffer * from)
{
  GstVideoTimeCodeMeta *meta = gst_buffer_get_video_time_code_meta (from);

  if (meta != NULL)
    gst_buffer_add_video_time_code_meta (to, &meta->tc);
}

static GstBuffer *
acquire (GstHipVmafHistory * history, const GstHipVmafFormat * format)
{
  gsize size = layout_of (history, format)->size;
  GstBuffer *buffer = NULL;

  if (!gst_hip_vmaf_history_has_room (history, format))
    return NULL;
  if (history->pool == NULL || history->size != size) {
    drop_pool (history);
    history->pool = pool_new (history, size);
    history->size = size;
  }
  if (gst_buffer_pool_acquire_buffer (history->pool, &buffer,
          NULL) != GST_FLOW_OK)
    return NULL;
  return buffer;
}

gboolean
gst_hip_vmaf_history_keep (GstHipVmafHistory * history, GstHipVmafFrame * frame)
{
  GstBuffer *copy = acquire (history, frame->format);
  GstVideoFrame mapped;
  HvPicture picture;
  gboolean done;

  if (copy == NULL)
    return FALSE;
  done = gst_hip_vmaf_picture_map (&picture, &mapped, frame->format,
      frame->buffer);
  if (done) {
    done = copy_picture (history, copy, &mapped, &picture, frame->format);
    gst_video_frame_unmap (&mapped);
  }
  if (!done) {
    gst_buffer_unref (copy);
    return FALSE;
  }
  copy_timecode (copy, frame->buffer);
  gst_buffer_unref (frame->buffer);
  frame->buffer = copy;
  frame->luma = history->luma;
  return TRUE;
}

guint64
gst_hip_vmaf_history_bytes (GstHipVmafHistory * history)
{
  return (guintptr) g_atomic_pointer_get (&history->use->allocated);
}
