/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events and queries of the three pads. src is the reference stream: what comes in on ref_sink
 * goes out in its place among the frames, what comes in on dist_sink does not. */

#include "gsthipvmaf.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

static GstPad *
ref_pad (GstHipVmaf * self)
{
  return GST_PAD (self->pad[GST_HIP_VMAF_REFERENCE]);
}

static GstPad *
src_pad (GstHipVmaf * self)
{
  return GST_AGGREGATOR_SRC_PAD (GST_AGGREGATOR (self));
}

gboolean
gst_hip_vmaf_push_event (GstHipVmaf * self, GstEvent * event)
{
  /* The base class sends stream-start, caps and segment only before buffers. An empty list makes
   * it do so now; the probe on src keeps the list itself from going anywhere. Before the reference
   * has a segment the base class would make one up: then no more than a stream-start. */
  if (self->stream[GST_HIP_VMAF_REFERENCE].has_segment)
    gst_aggregator_finish_buffer_list (GST_AGGREGATOR (self),
        gst_buffer_list_new_sized (1));
  else
    gst_aggregator_set_src_caps (GST_AGGREGATOR (self), NULL);
  return gst_pad_push_event (src_pad (self), event);
}

/* The base class's own stream-start is replaced by the reference's. */
static GstPadProbeReturn
replace_stream_start (GstHipVmaf * self, GstPadProbeInfo * info)
{
  if (self->stream_start != NULL
      && GST_PAD_PROBE_INFO_EVENT (info) != self->stream_start) {
    gst_event_unref (GST_PAD_PROBE_INFO_EVENT (info));
    GST_PAD_PROBE_INFO_DATA (info) = gst_event_ref (self->stream_start);
  }
  self->stream_start_sent = TRUE;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
hold_eos (GstHipVmaf * self)
{
  HvPoolMethod method;

  GST_OBJECT_LOCK (self);
  method = self->pool_method;
  GST_OBJECT_UNLOCK (self);
  if (self->scorer != NULL && !gst_hip_vmaf_scorer_finish (self->scorer,
          method)) {
    GST_DEBUG_OBJECT (self, "EOS dropped: flushing or stopping");
    return GST_PAD_PROBE_DROP;
  }
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn
gst_hip_vmaf_src_probe (GstPad * pad, GstPadProbeInfo * info, gpointer user)
{
  GstHipVmaf *self = GST_HIP_VMAF (user);

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    return gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info)) == 0 ?
        GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))) {
    case GST_EVENT_EOS:
      return hold_eos (self);
    case GST_EVENT_STREAM_START:
      return replace_stream_start (self, info);
    default:
      return GST_PAD_PROBE_OK;
  }
}

/* Events from upstream */

static gboolean
chain_up (GstHipVmaf * self, GstAggregatorPad * pad, GstEvent * event)
{
  return gst_hip_vmaf_parent_class_get ()->sink_event (GST_AGGREGATOR (self),
      pad, event);
}

static gboolean
handle_caps (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  GstHipVmafFormat *format;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  format = gst_hip_vmaf_format_new (caps);
  if (format == NULL || GST_VIDEO_INFO_INTERLACE_MODE (&format->info) ==
      GST_VIDEO_INTERLACE_MODE_ALTERNATE) {
    self->failed = TRUE;
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("%s cannot take these caps: single fields (interlace-mode=alternate) "
            "and incomplete caps cannot be measured. Put deinterlace before "
            "it.", GST_PAD_NAME (self->pad[side])), ("%" GST_PTR_FORMAT, caps));
    g_clear_pointer (&format, gst_hip_vmaf_format_unref);
    gst_event_unref (event);
    return FALSE;
  }
  g_clear_pointer (&self->stream[side].format, gst_hip_vmaf_format_unref);
  self->stream[side].format = format;
  if (side == GST_HIP_VMAF_REFERENCE)
    gst_aggregator_set_src_caps (GST_AGGREGATOR (self), caps);
  gst_event_unref (event);
  return TRUE;
}

static gboolean
handle_segment (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  GstAggregatorPad *pad = self->pad[side];
  GstSegment segment;

  if (side == GST_HIP_VMAF_REFERENCE) {
    gst_event_copy_segment (event, &segment);
    chain_up (self, pad, event);
    gst_aggregator_update_segment (GST_AGGREGATOR (self), &segment);
    self->stream[side].has_segment = TRUE;
    return TRUE;
  }
  /* The base class would stamp the events of src with this event's sequence number. */
  GST_OBJECT_LOCK (pad);
  gst_event_copy_segment (event, &pad->segment);
  GST_OBJECT_UNLOCK (pad);
  gst_event_unref (event);
  return TRUE;
}

/* In a segment that is not in TIME the base class cannot make a buffer of it. */
static gboolean
handle_gap (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  GstAggregatorPad *pad = self->pad[side];

  if (pad->segment.format == GST_FORMAT_TIME)
    return chain_up (self, pad, event);
  if (side == GST_HIP_VMAF_REFERENCE)
    return gst_hip_vmaf_push_event (self, event);
  gst_event_unref (event);
  return TRUE;
}

static gboolean
handle_stream_start (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  if (side == GST_HIP_VMAF_REFERENCE) {
    gst_event_replace (&self->stream_start, event);
    if (self->stream_start_sent)
      gst_pad_push_event (src_pad (self), gst_event_ref (event));
  }
  return chain_up (self, self->pad[side], event);
}

void
gst_hip_vmaf_end_pads (GstHipVmaf * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    chain_up (self, self->pad[side], gst_event_new_eos ());
}

/* With all reference frames decided, nothing more of the distorted stream matters: the base class
 * would wait for it. */
static gboolean
handle_eos (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  gboolean res = chain_up (self, self->pad[side], event);

  if (side == GST_HIP_VMAF_REFERENCE
      && gst_hip_vmaf_pairing_waiting (self->pairing,
          GST_HIP_VMAF_REFERENCE) == 0)
    chain_up (self, self->pad[GST_HIP_VMAF_DISTORTED], gst_event_new_eos ());
  return res;
}

/* The base class takes two flushes for one of the whole element when their sequence numbers agree.
 * Sources that were flushed by two calls have two numbers: a flush that begins while the other
 * side's lasts belongs to it. TRUE when it is the whole element that begins to flush. */
static gboolean
note_flush (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  GstHipVmafStream *here = &self->stream[side];
  GstHipVmafStream *there = &self->stream[!side];
  gboolean start = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START;
  gboolean whole = FALSE;

  GST_OBJECT_LOCK (self);
  if (start) {
    here->flush_seqnum = there->flushing ? there->flush_seqnum
        : gst_event_get_seqnum (event);
    whole = here->flush_seqnum == there->flush_seqnum;
  }
  here->flushing = start;
  gst_event_set_seqnum (event, here->flush_seqnum);
  GST_OBJECT_UNLOCK (self);
  return whole;
}

static gboolean
handle_flush (GstHipVmaf * self, GstHipVmafSide side, GstEvent * event)
{
  event = gst_event_make_writable (event);
  if (note_flush (self, side, event))
    gst_hip_vmaf_scorer_interrupt (self->scorer, TRUE);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    g_atomic_int_set (&self->stream[side].flushed, TRUE);
  return chain_up (self, self->pad[side], event);
}

gboolean
gst_hip_vmaf_sink_event (GstAggregator * agg, GstAggregatorPad * pad,
    GstEvent * event)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);
  GstHipVmafSide side = gst_hip_vmaf_side (self, pad);

  if (GST_EVENT_IS_SERIALIZED (event)
      && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    gst_hip_vmaf_apply_flush (self);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      return handle_flush (self, side, event);
    case GST_EVENT_STREAM_START:
      return handle_stream_start (self, side, event);
    case GST_EVENT_CAPS:
      return handle_caps (self, side, event);
    case GST_EVENT_SEGMENT:
      return handle_segment (self, side, event);
    case GST_EVENT_GAP:
      return handle_gap (self, side, event);
    case GST_EVENT_EOS:
      return handle_eos (self, side, event);
    default:
      break;
  }
  if (side == GST_HIP_VMAF_DISTORTED) {
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_IS_SERIALIZED (event))
    gst_hip_vmaf_push_event (self, event);
  else
    gst_pad_push_event (src_pad (self), event);
  return TRUE;
}

/* Queries from upstream */

static void
answer_caps (GstQuery * query, GstCaps * caps)
{
  GstCaps *filter;

  gst_query_parse_caps (query, &filter);
  if (filter != NULL) {
    GstCaps *filtered =
        gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (caps);
    caps = filtered;
  }
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
}

/* The template, intersected with what the peer of `other` takes; NULL for the template alone. */
static GstCaps *
template_caps (GstPad * pad, GstPad * other)
{
  GstCaps *caps = gst_pad_get_pad_template_caps (pad);

  if (other != NULL) {
    GstCaps *peer = gst_pad_peer_query_caps (other, caps);
    GstCaps *both = gst_caps_intersect_full (peer, caps,
        GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (peer);
    gst_caps_unref (caps);
    caps = both;
  }
  return caps;
}

static gboolean
are_single_fields (const GstCaps * caps)
{
  return !gst_caps_is_empty (caps) && !gst_caps_is_any (caps)
      && gst_caps_features_contains (gst_caps_get_features (caps, 0),
      GST_CAPS_FEATURE_FORMAT_INTERLACED);
}

/* Whether the pad can take these caps. Downstream says for itself whether it takes what ref_sink
 * passes on: asked here, a pad that answers with the caps that it has would bar every change.
 * Single fields are let in for an error that says what is wrong with them: refused here, they would
 * be no more than "not negotiated". */
static void
answer_accept_caps (GstPad * pad, GstQuery * query)
{
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *caps;

  gst_query_parse_accept_caps (query, &caps);
  gst_query_set_accept_caps_result (query, gst_caps_is_subset (caps, template)
      || are_single_fields (caps));
  gst_caps_unref (template);
}

/* Buffers that stay here: in the meter, and one on either side of it. */
static guint
held_buffers (GstHipVmaf * self)
{
  return gst_hip_vmaf_scorer_held (self->scorer) + 2;
}

static gboolean
offer_pool (GstHipVmaf * self, GstQuery * query)
{
  GstVideoInfo info;
  GstAllocator *allocator;
  GstAllocationParams params;
  GstStructure *config;
  GstBufferPool *pool;
  gboolean need_pool;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  allocator = gst_hip_vmaf_scorer_allocator (self->scorer);
  gst_allocation_params_init (&params);
  if (allocator != NULL)
    gst_query_add_allocation_param (query, allocator, &params);
  if (!need_pool) {
    gst_query_add_allocation_pool (query, NULL, info.size, held_buffers (self),
        0);
    gst_clear_object (&allocator);
    return TRUE;
  }
  pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, info.size,
      held_buffers (self), 0);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  gst_clear_object (&allocator);
  if (gst_buffer_pool_set_config (pool, config))
    gst_query_add_allocation_pool (query, pool, info.size,
        held_buffers (self), 0);
  gst_object_unref (pool);
  return TRUE;
}

/* The pool that downstream proposed has to last for what is held here, too. */
static void
raise_minimum (GstHipVmaf * self, GstQuery * query)
{
  GstBufferPool *pool;
  guint size, min, max;

  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  min += held_buffers (self);
  if (max == 0 || min <= max)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  if (pool != NULL)
    gst_object_unref (pool);
}

static gboolean
propose_allocation (GstHipVmaf * self, GstHipVmafSide side, GstQuery * query)
{
  guint index;

  if (side == GST_HIP_VMAF_DISTORTED) {
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    return offer_pool (self, query);
  }
  gst_pad_peer_query (src_pad (self), query);
  /* The crop would change what is measured. */
  while (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE,
          &index))
    gst_query_remove_nth_allocation_meta (query, index);
  if (gst_query_get_n_allocation_pools (query) == 0)
    return offer_pool (self, query);
  raise_minimum (self, query);
  return TRUE;
}

/* Upstream wants its buffers back. */
static gboolean
handle_drain (GstHipVmaf * self, GstHipVmafSide side, GstQuery * query)
{
  gst_hip_vmaf_scorer_drain (self->scorer);
  if (side == GST_HIP_VMAF_REFERENCE && gst_pad_is_linked (src_pad (self)))
    return gst_pad_peer_query (src_pad (self), query);
  return TRUE;
}

gboolean
gst_hip_vmaf_sink_query (GstAggregator * agg, GstAggregatorPad * pad,
    GstQuery * query)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);
  GstHipVmafSide side = gst_hip_vmaf_side (self, pad);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      answer_caps (query, template_caps (GST_PAD (pad),
              side == GST_HIP_VMAF_REFERENCE ? src_pad (self) : NULL));
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      answer_accept_caps (GST_PAD (pad), query);
      return TRUE;
    case GST_QUERY_ALLOCATION:
      return propose_allocation (self, side, query);
    case GST_QUERY_DRAIN:
      return handle_drain (self, side, query);
    default:
      return gst_hip_vmaf_parent_class_get ()->sink_query (agg, pad, query);
  }
}

/* From downstream */

static gboolean
is_seekable (GstHipVmaf * self, GstFormat format)
{
  gboolean all = TRUE;

  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES && all; side++) {
    GstQuery *query = gst_query_new_seeking (format);

    if (!gst_pad_is_linked (GST_PAD (self->pad[side])))
      all = FALSE;
    else if (gst_pad_peer_query (GST_PAD (self->pad[side]), query))
      gst_query_parse_seeking (query, NULL, &all, NULL, NULL);
    gst_query_unref (query);
  }
  return all;
}

/* The base class stops its task for a flushing seek and starts it again only when both pads were
 * flushed: a seek that one side cannot do would end the stream for good. */
static gboolean
handle_seek (GstHipVmaf * self, GstEvent * event)
{
  GstSeekFlags flags;
  GstFormat format;
  gboolean res;

  gst_event_parse_seek (event, NULL, &format, &flags, NULL, NULL, NULL, NULL);
  if (!(flags & GST_SEEK_FLAG_FLUSH))
    return gst_hip_vmaf_parent_class_get ()->src_event (GST_AGGREGATOR (self),
        event);
  if (!is_seekable (self, format)) {
    GST_INFO_OBJECT (self, "seek refused: not both streams can seek");
    gst_event_unref (event);
    return FALSE;
  }
  gst_hip_vmaf_scorer_interrupt (self->scorer, TRUE);
  res = gst_hip_vmaf_parent_class_get ()->src_event (GST_AGGREGATOR (self),
      event);
  if (!res)
    gst_hip_vmaf_scorer_interrupt (self->scorer, FALSE);
  return res;
}

gboolean
gst_hip_vmaf_src_event (GstAggregator * agg, GstEvent * event)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_QOS:
      /* No decoder may drop what is to be measured because a display is late. */
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_RECONFIGURE:
    case GST_EVENT_NAVIGATION:
      return gst_pad_push_event (ref_pad (self), event);
    case GST_EVENT_SEEK:
      if (self->scorer != NULL)
        return handle_seek (self, event);
      break;
    default:
      break;
  }
  return gst_hip_vmaf_parent_class_get ()->src_event (agg, event);
}

/* With force-live the base class acts live but does not say so. */
static gboolean
answer_latency (GstHipVmaf * self, GstQuery * query)
{
  GstAggregator *agg = GST_AGGREGATOR (self);
  GstClockTime min, max;

  if (!gst_hip_vmaf_parent_class_get ()->src_query (agg, query))
    return FALSE;
  gst_query_parse_latency (query, NULL, &min, &max);
  if (gst_aggregator_get_force_live (agg))
    gst_query_set_latency (query, TRUE, min, max);
  return TRUE;
}

gboolean
gst_hip_vmaf_src_query (GstAggregator * agg, GstQuery * query)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      answer_caps (query, template_caps (src_pad (self), ref_pad (self)));
      return TRUE;
    case GST_QUERY_LATENCY:
      return answer_latency (self, query);
    case GST_QUERY_SEEKING:
    case GST_QUERY_DURATION:
    case GST_QUERY_POSITION:
    case GST_QUERY_SEGMENT:
    case GST_QUERY_CONVERT:
    case GST_QUERY_FORMATS:
    case GST_QUERY_URI:
      return gst_pad_peer_query (ref_pad (self), query);
    default:
      return gst_hip_vmaf_parent_class_get ()->src_query (agg, query);
  }
}
