/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element: properties and life. */

/**
 * SECTION:element-hipvmaf
 * @title: hipvmaf
 * @short_description: measures how far a distorted stream is from its reference
 *
 * Pairs the frames of two streams by running time, measures every pair with libvmaf's metrics and
 * posts the scores as element messages whose structure is named "VMAF". The reference passes
 * through.
 *
 * The fields of a message:
 *
 * - "type"         #G_TYPE_STRING  "frame" for one pair, "pooled" for the stream, "interval" for
 *                                  a stretch of it; "alert", "recovered", "unpaired", "paired" and
 *                                  "alignment" have other fields
 * - "timestamp"    #G_TYPE_UINT64  the reference frame's PTS, in nanoseconds
 * - "stream-time"  #G_TYPE_UINT64  its stream time
 * - "running-time" #G_TYPE_UINT64  its running time
 * - "duration"     #G_TYPE_UINT64  its duration
 * - "index"        #G_TYPE_INT     counts the pairs from 0 (frame messages)
 * - "timecode"     #G_TYPE_STRING  where the reference carries one (frame messages)
 * - "utc"          #G_TYPE_STRING  when it was captured, ISO 8601 (frame messages, live)
 * - "score"        #G_TYPE_DOUBLE  the first model's
 * - "psnr-y", "ssim", "ms-ssim" #G_TYPE_DOUBLE with the properties psnr, ssim and ms-ssim
 * - every score    #G_TYPE_DOUBLE  under the model's or libvmaf's name, such as "vmaf_v0.6.1" and
 *                                  "integer_adm2"
 *
 * The pooled message comes before EOS. Its timestamp is the last measured frame's and its
 * duration reaches from the first to the last. An interval message's scores are means; it has
 * structures "min", "max", "harmonic-mean" and "p5" with the same fields.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m hipvmaf name=v frame-message=true ! fakesink \
 *   filesrc location=original.mkv ! decodebin ! queue ! v.ref_sink \
 *   filesrc location=encoded.mp4 ! decodebin ! queue ! v.dist_sink
 * ]|
 */

#include "enums.h"
#include "loglevel.h"
#include "settings.h"

GST_DEBUG_CATEGORY (gst_hip_vmaf_debug);
#define GST_CAT_DEFAULT gst_hip_vmaf_debug

#define DEFAULT_MODEL_FILENAME "vmaf_v0.6.1"
#define DEFAULT_FEATURES ""
#define DEFAULT_ENABLE_TRANSFORM FALSE
#define DEFAULT_PHONE_MODEL FALSE
#define DEFAULT_DISABLE_CLIP FALSE
#define DEFAULT_CONF_INTERVAL FALSE
#define DEFAULT_BACKEND GST_HIP_VMAF_BACKEND_AUTO
#define DEFAULT_THREADS 0
#define DEFAULT_SUBSAMPLE 1
#define DEFAULT_FRAME_MESSAGE FALSE
#define DEFAULT_POOL_METHOD HV_POOL_MEAN
#define DEFAULT_INTERVAL 0
#define DEFAULT_ALERT_BELOW GST_HIP_VMAF_NO_ALERT
#define DEFAULT_ALERT_DURATION GST_SECOND
#define DEFAULT_ALERT_SCORE ""
#define DEFAULT_METRICS_LOCATION ""
#define DEFAULT_METRICS_LABELS ""
#define DEFAULT_FORCE_LIVE FALSE
#define DEFAULT_LIVE_POLICY GST_HIP_VMAF_LIVE_AUTO
#define DEFAULT_TIMEOUT (2 * GST_SECOND)
#define DEFAULT_ALIGNMENT GST_HIP_VMAF_ALIGNMENT_NONE
#define DEFAULT_OFFSET 0
#define DEFAULT_MAX_OFFSET (2 * GST_SECOND)
#define DEFAULT_MAX_HISTORY_BYTES (G_GUINT64_CONSTANT (512) << 20)
#define DEFAULT_ASYNC_DEPTH 3
#define DEFAULT_DEVICE_ID -1
#define DEFAULT_GPU_TIMEOUT (10 * GST_SECOND)
#define DEFAULT_GPU_RETRY 0
#define DEFAULT_EXTRA FALSE
#define DEFAULT_RESULTS_FILENAME NULL
#define DEFAULT_RESULTS_FORMAT GST_HIP_VMAF_RESULTS_NONE
#define DEFAULT_RESULTS_PRECISION 0
#define DEFAULT_LOG_LEVEL GST_HIP_VMAF_LOG_NONE

/* More threads than rows to share help nobody. */
#define MAX_THREADS 256

enum
{
  PROP_0,
  PROP_MODEL_FILENAME,
  PROP_ENABLE_TRANSFORM,
  PROP_PHONE_MODEL,
  PROP_DISABLE_CLIP,
  PROP_CONF_INTERVAL,
  PROP_PSNR,
  PROP_SSIM,
  PROP_MS_SSIM,
  PROP_FEATURES,
  PROP_BACKEND,
  PROP_THREADS,
  PROP_SUBSAMPLE,
  PROP_FRAME_MESSAGE,
  PROP_POOL_METHOD,
  PROP_INTERVAL,
  PROP_ALERT_BELOW,
  PROP_ALERT_DURATION,
  PROP_ALERT_SCORE,
  PROP_METRICS_LOCATION,
  PROP_METRICS_LABELS,
  PROP_FORCE_LIVE,
  PROP_LIVE_POLICY,
  PROP_TIMEOUT,
  PROP_ALIGNMENT,
  PROP_OFFSET,
  PROP_MAX_OFFSET,
  PROP_MAX_HISTORY_BYTES,
  PROP_ASYNC_DEPTH,
  PROP_DEVICE_ID,
  PROP_GPU_TIMEOUT,
  PROP_GPU_RETRY,
  PROP_RESULTS_FILENAME,
  PROP_RESULTS_FORMAT,
  PROP_RESULTS_PRECISION,
  PROP_LOG_LEVEL,
  PROP_STATS
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_HIP_VMAF_FORMATS)));

static GstStaticPadTemplate ref_template = GST_STATIC_PAD_TEMPLATE ("ref_sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_HIP_VMAF_FORMATS)));

static GstStaticPadTemplate dist_template = GST_STATIC_PAD_TEMPLATE
    ("dist_sink",
    GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_HIP_VMAF_FORMATS)));

G_DEFINE_TYPE_WITH_CODE (GstHipVmaf, gst_hip_vmaf, GST_TYPE_AGGREGATOR,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL));

GstAggregatorClass *
gst_hip_vmaf_parent_class_get (void)
{
  return GST_AGGREGATOR_CLASS (gst_hip_vmaf_parent_class);
}

gboolean
gst_hip_vmaf_say_once (GstHipVmaf * self, GstHipVmafSaid what)
{
  return (g_atomic_int_or (&self->said, what) & what) == 0;
}

/* Properties */

static void
set_string (gchar ** member, const GValue * value)
{
  g_free (*member);
  *member = g_value_dup_string (value);
  if (*member == NULL)
    *member = g_strdup ("");
}

static void
set_extra (GstHipVmaf * self, guint extra, const GValue * value)
{
  if (g_value_get_boolean (value))
    self->extras |= 1u << extra;
  else
    self->extras &= ~(1u << extra);
}

static void
get_extra (GstHipVmaf * self, guint extra, GValue * value)
{
  g_value_set_boolean (value, (self->extras & 1u << extra) != 0);
}

static void
set_log_level (GstHipVmaf * self, GstHipVmafLogLevel level)
{
  gst_hip_vmaf_log_level_change (self->log_level, level);
  self->log_level = level;
}

static void
gst_hip_vmaf_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstHipVmaf *self = GST_HIP_VMAF (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODEL_FILENAME:
      set_string (&self->model_filename, value);
      break;
    case PROP_ENABLE_TRANSFORM:
      self->enable_transform = g_value_get_boolean (value);
      break;
    case PROP_PHONE_MODEL:
      self->phone_model = g_value_get_boolean (value);
      break;
    case PROP_DISABLE_CLIP:
      self->disable_clip = g_value_get_boolean (value);
      break;
    case PROP_CONF_INTERVAL:
      self->conf_interval = g_value_get_boolean (value);
      break;
    case PROP_PSNR:
    case PROP_SSIM:
    case PROP_MS_SSIM:
      set_extra (self, id - PROP_PSNR, value);
      break;
    case PROP_FEATURES:
      set_string (&self->features, value);
      break;
    case PROP_BACKEND:
      self->backend = g_value_get_enum (value);
      break;
    case PROP_THREADS:
      self->threads = g_value_get_uint (value);
      break;
    case PROP_SUBSAMPLE:
      self->subsample = g_value_get_uint (value);
      break;
    case PROP_FRAME_MESSAGE:
      g_atomic_int_set (&self->frame_message, g_value_get_boolean (value));
      break;
    case PROP_POOL_METHOD:
      self->pool_method = g_value_get_enum (value);
      break;
    case PROP_INTERVAL:
      self->interval = g_value_get_uint64 (value);
      break;
    case PROP_LIVE_POLICY:
      self->live_policy = g_value_get_enum (value);
      break;
    case PROP_TIMEOUT:
      self->timeout = g_value_get_uint64 (value);
      break;
    case PROP_ALERT_BELOW:
      self->alert_below = g_value_get_double (value);
      break;
    case PROP_ALERT_DURATION:
      self->alert_duration = g_value_get_uint64 (value);
      break;
    case PROP_ALERT_SCORE:
      set_string (&self->alert_score, value);
      break;
    case PROP_METRICS_LOCATION:
      set_string (&self->metrics_location, value);
      break;
    case PROP_METRICS_LABELS:
      set_string (&self->metrics_labels, value);
      break;
    case PROP_FORCE_LIVE:
      gst_aggregator_set_force_live (GST_AGGREGATOR (self),
          g_value_get_boolean (value));
      break;
    case PROP_ALIGNMENT:
      self->alignment = g_value_get_enum (value);
      break;
    case PROP_OFFSET:
      self->offset = g_value_get_int64 (value);
      break;
    case PROP_MAX_OFFSET:
      self->max_offset = g_value_get_uint64 (value);
      break;
    case PROP_MAX_HISTORY_BYTES:
      self->max_history_bytes = g_value_get_uint64 (value);
      break;
    case PROP_ASYNC_DEPTH:
      self->async_depth = g_value_get_uint (value);
      break;
    case PROP_DEVICE_ID:
      self->device_id = g_value_get_int (value);
      break;
    case PROP_GPU_TIMEOUT:
      self->gpu_timeout = g_value_get_uint64 (value);
      break;
    case PROP_GPU_RETRY:
      self->gpu_retry = g_value_get_uint64 (value);
      break;
    case PROP_RESULTS_FILENAME:
      g_free (self->results_filename);
      self->results_filename = g_value_dup_string (value);
      break;
    case PROP_RESULTS_FORMAT:
      self->results_format = g_value_get_enum (value);
      break;
    case PROP_RESULTS_PRECISION:
      self->results_precision = g_value_get_uint (value);
      break;
    case PROP_LOG_LEVEL:
      set_log_level (self, g_value_get_enum (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
get_stats (GstHipVmaf * self)
{
  GstHipVmafStats stats = {
    .backend = "none",.device = "none",.target = "none",.platform = ""
  };
  GstStructure *structure;

  if (self->scorer != NULL)
    gst_hip_vmaf_scorer_stats (self->scorer, &stats);
  structure = gst_hip_vmaf_message_stats (&stats);
  gst_hip_vmaf_waiting_stats (self, &stats, structure);
  gst_hip_vmaf_stats_clear (&stats);
  return structure;
}

static void
gst_hip_vmaf_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstHipVmaf *self = GST_HIP_VMAF (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODEL_FILENAME:
      g_value_set_string (value, self->model_filename);
      break;
    case PROP_ENABLE_TRANSFORM:
      g_value_set_boolean (value, self->enable_transform);
      break;
    case PROP_PHONE_MODEL:
      g_value_set_boolean (value, self->phone_model);
      break;
    case PROP_DISABLE_CLIP:
      g_value_set_boolean (value, self->disable_clip);
      break;
    case PROP_CONF_INTERVAL:
      g_value_set_boolean (value, self->conf_interval);
      break;
    case PROP_PSNR:
    case PROP_SSIM:
    case PROP_MS_SSIM:
      get_extra (self, id - PROP_PSNR, value);
      break;
    case PROP_FEATURES:
      g_value_set_string (value, self->features);
      break;
    case PROP_BACKEND:
      g_value_set_enum (value, self->backend);
      break;
    case PROP_THREADS:
      g_value_set_uint (value, self->threads);
      break;
    case PROP_SUBSAMPLE:
      g_value_set_uint (value, self->subsample);
      break;
    case PROP_FRAME_MESSAGE:
      g_value_set_boolean (value, g_atomic_int_get (&self->frame_message));
      break;
    case PROP_POOL_METHOD:
      g_value_set_enum (value, self->pool_method);
      break;
    case PROP_INTERVAL:
      g_value_set_uint64 (value, self->interval);
      break;
    case PROP_LIVE_POLICY:
      g_value_set_enum (value, self->live_policy);
      break;
    case PROP_TIMEOUT:
      g_value_set_uint64 (value, self->timeout);
      break;
    case PROP_ALERT_BELOW:
      g_value_set_double (value, self->alert_below);
      break;
    case PROP_ALERT_DURATION:
      g_value_set_uint64 (value, self->alert_duration);
      break;
    case PROP_ALERT_SCORE:
      g_value_set_string (value, self->alert_score);
      break;
    case PROP_METRICS_LOCATION:
      g_value_set_string (value, self->metrics_location);
      break;
    case PROP_METRICS_LABELS:
      g_value_set_string (value, self->metrics_labels);
      break;
    case PROP_FORCE_LIVE:
      g_value_set_boolean (value,
          gst_aggregator_get_force_live (GST_AGGREGATOR (self)));
      break;
    case PROP_ALIGNMENT:
      g_value_set_enum (value, self->alignment);
      break;
    case PROP_OFFSET:
      g_value_set_int64 (value, self->offset);
      break;
    case PROP_MAX_OFFSET:
      g_value_set_uint64 (value, self->max_offset);
      break;
    case PROP_MAX_HISTORY_BYTES:
      g_value_set_uint64 (value, self->max_history_bytes);
      break;
    case PROP_ASYNC_DEPTH:
      g_value_set_uint (value, self->async_depth);
      break;
    case PROP_DEVICE_ID:
      g_value_set_int (value, self->device_id);
      break;
    case PROP_GPU_TIMEOUT:
      g_value_set_uint64 (value, self->gpu_timeout);
      break;
    case PROP_GPU_RETRY:
      g_value_set_uint64 (value, self->gpu_retry);
      break;
    case PROP_RESULTS_FILENAME:
      g_value_set_string (value, self->results_filename);
      break;
    case PROP_RESULTS_FORMAT:
      g_value_set_enum (value, self->results_format);
      break;
    case PROP_RESULTS_PRECISION:
      g_value_set_uint (value, self->results_precision);
      break;
    case PROP_LOG_LEVEL:
      g_value_set_enum (value, self->log_level);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, get_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

/* Life */

static void
reset_run (GstHipVmaf * self)
{
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++) {
    GstHipVmafStream *stream = &self->stream[side];

    g_clear_pointer (&stream->format, gst_hip_vmaf_format_unref);
    memset (stream, 0, sizeof (*stream));
    stream->last_pts = stream->last_duration = GST_CLOCK_TIME_NONE;
  }
  gst_clear_event (&self->stream_start);
  self->stream_start_sent = FALSE;
  self->next_index = 0;
  self->newest_time = 0;
  self->live = self->failed = FALSE;
  g_atomic_int_set (&self->said, 0);
  g_atomic_int_set (&self->eos_requested, FALSE);
}

static void
set_scorer (GstHipVmaf * self, GstHipVmafScorer * scorer)
{
  GstHipVmafScorer *old;

  GST_OBJECT_LOCK (self);
  old = self->scorer;
  self->scorer = scorer;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&old, gst_hip_vmaf_scorer_unref);
}

static gboolean
gst_hip_vmaf_start (GstAggregator * agg)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);
  GstHipVmafScorerConfig config = { 0 };
  GstHipVmafGpuSettings gpu;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  gpu = (GstHipVmafGpuSettings) {
  self->backend, self->device_id, self->gpu_timeout, self->gpu_retry};
  config.threads = self->threads;
  config.depth = self->run_depth = self->async_depth;
  self->run_subsample = self->subsample;
  self->run_policy = self->live_policy;
  GST_OBJECT_UNLOCK (self);
  if (config.threads == 0)
    config.threads = g_get_num_processors ();
  config.threads = MIN (config.threads, MAX_THREADS);

  ok = gst_hip_vmaf_waiting_check (self)
      && gst_hip_vmaf_settings_read (self, &config)
      && gst_hip_vmaf_gpu_open (&config.gpu, GST_ELEMENT (self), &gpu,
      config.features);
  if (ok) {
    GST_INFO_OBJECT (self, "%u metrics, %u threads, up to %u pairs in flight%s",
        config.features->len, config.threads, config.depth,
        config.results != NULL ? ", and a results file" : "");
    self->run_remembers = hv_features_remember (config.features);
    reset_run (self);
    set_scorer (self, gst_hip_vmaf_scorer_new (GST_ELEMENT (self), &config,
            &self->frame_message));
    ok = gst_hip_vmaf_settings_open_metrics (self);
    if (!ok)
      set_scorer (self, NULL);
  }
  if (ok) {
    self->pairing = gst_hip_vmaf_pairing_new ();
    gst_hip_vmaf_waiting_start (self, config.features);
    gst_hip_vmaf_starvation_start (self);
    gst_hip_vmaf_watch_start (self);
  }
  gst_hip_vmaf_settings_clear (&config);
  return ok;
}

static gboolean
gst_hip_vmaf_stop (GstAggregator * agg)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);

  if (self->pairing == NULL)
    return TRUE;
  gst_hip_vmaf_starvation_stop (self);
  gst_hip_vmaf_watch_stop (self);
  gst_hip_vmaf_scorer_stop (self->scorer, &self->ready);
  gst_hip_vmaf_drop_all (self);
  g_clear_pointer (&self->metrics, gst_hip_vmaf_openmetrics_free);
  g_clear_pointer (&self->pairing, gst_hip_vmaf_pairing_free);
  gst_hip_vmaf_waiting_stop (self);
  for (guint side = 0; side < GST_HIP_VMAF_N_SIDES; side++)
    g_clear_pointer (&self->stream[side].format, gst_hip_vmaf_format_unref);
  gst_clear_event (&self->stream_start);
  return TRUE;
}

static gboolean
gst_hip_vmaf_src_activate (GstAggregator * agg, GstPadMode mode,
    gboolean active)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);

  if (self->scorer != NULL)
    gst_hip_vmaf_scorer_interrupt (self->scorer, !active);
  return TRUE;
}

/* Both pads were flushed; the streaming thread is stopped. */
static GstFlowReturn
gst_hip_vmaf_flush (GstAggregator * agg)
{
  GstHipVmaf *self = GST_HIP_VMAF (agg);

  gst_hip_vmaf_drop_all (self);
  gst_hip_vmaf_scorer_interrupt (self->scorer, FALSE);
  g_atomic_int_set (&self->eos_requested, FALSE);
  return GST_FLOW_OK;
}

/* src has the reference's caps, set where its CAPS event stands; there is nothing to choose. */
static gboolean
gst_hip_vmaf_negotiate (GstAggregator * agg)
{
  return TRUE;
}

/* The base class would push EOS on src from the application's thread, past the frames that the
 * streaming thread is about to decide. */
static gboolean
gst_hip_vmaf_send_event (GstElement * element, GstEvent * event)
{
  GstHipVmaf *self = GST_HIP_VMAF (element);

  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS
      || !gst_pad_is_active (GST_AGGREGATOR_SRC_PAD (self)))
    return GST_ELEMENT_CLASS (gst_hip_vmaf_parent_class)->send_event (element,
        event);
  g_atomic_int_set (&self->eos_requested, TRUE);
  gst_hip_vmaf_end_pads (self);
  gst_event_unref (event);
  return TRUE;
}

static void
gst_hip_vmaf_finalize (GObject * object)
{
  GstHipVmaf *self = GST_HIP_VMAF (object);

  g_free (self->model_filename);
  g_free (self->features);
  g_free (self->results_filename);
  g_queue_clear_full (&self->watch_messages,
      (GDestroyNotify) gst_structure_free);
  hv_lock_clear (&self->watch_posting);
  g_free (self->alert_score);
  g_free (self->metrics_location);
  g_free (self->metrics_labels);
  set_log_level (self, GST_HIP_VMAF_LOG_NONE);
  g_clear_pointer (&self->scorer, gst_hip_vmaf_scorer_unref);
  G_OBJECT_CLASS (gst_hip_vmaf_parent_class)->finalize (object);
}

/* The base class makes only request pads. */
static void
add_sink_pad (GstHipVmaf * self, GstHipVmafSide side, const gchar * name)
{
  GstPadTemplate *templ =
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), name);

  self->pad[side] = g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", name,
      "direction", GST_PAD_SINK, "template", templ, NULL);
  gst_pad_add_probe (GST_PAD (self->pad[side]),
      GST_PAD_PROBE_TYPE_QUERY_UPSTREAM | GST_PAD_PROBE_TYPE_PULL,
      gst_hip_vmaf_latency_probe, self, NULL);
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->pad[side]));
}

static void
gst_hip_vmaf_init (GstHipVmaf * self)
{
  self->model_filename = g_strdup (DEFAULT_MODEL_FILENAME);
  self->enable_transform = DEFAULT_ENABLE_TRANSFORM;
  self->phone_model = DEFAULT_PHONE_MODEL;
  self->disable_clip = DEFAULT_DISABLE_CLIP;
  self->conf_interval = DEFAULT_CONF_INTERVAL;
  self->features = g_strdup (DEFAULT_FEATURES);
  self->backend = DEFAULT_BACKEND;
  self->threads = DEFAULT_THREADS;
  self->subsample = DEFAULT_SUBSAMPLE;
  self->frame_message = DEFAULT_FRAME_MESSAGE;
  self->pool_method = DEFAULT_POOL_METHOD;
  self->alignment = DEFAULT_ALIGNMENT;
  self->offset = DEFAULT_OFFSET;
  self->max_offset = DEFAULT_MAX_OFFSET;
  self->max_history_bytes = DEFAULT_MAX_HISTORY_BYTES;
  self->live_policy = DEFAULT_LIVE_POLICY;
  self->timeout = DEFAULT_TIMEOUT;
  self->interval = DEFAULT_INTERVAL;
  self->alert_below = DEFAULT_ALERT_BELOW;
  self->alert_duration = DEFAULT_ALERT_DURATION;
  self->alert_score = g_strdup (DEFAULT_ALERT_SCORE);
  self->metrics_location = g_strdup (DEFAULT_METRICS_LOCATION);
  self->metrics_labels = g_strdup (DEFAULT_METRICS_LABELS);
  self->async_depth = DEFAULT_ASYNC_DEPTH;
  self->device_id = DEFAULT_DEVICE_ID;
  self->gpu_timeout = DEFAULT_GPU_TIMEOUT;
  self->gpu_retry = DEFAULT_GPU_RETRY;
  self->results_filename = g_strdup (DEFAULT_RESULTS_FILENAME);
  self->results_format = DEFAULT_RESULTS_FORMAT;
  self->results_precision = DEFAULT_RESULTS_PRECISION;
  self->log_level = DEFAULT_LOG_LEVEL;
  g_queue_init (&self->ready);
  g_queue_init (&self->watch_messages);
  hv_lock_init (&self->watch_posting);
  g_queue_init (&self->undecided);
  g_queue_init (&self->passed_over);

  add_sink_pad (self, GST_HIP_VMAF_REFERENCE, "ref_sink");
  add_sink_pad (self, GST_HIP_VMAF_DISTORTED, "dist_sink");
  gst_pad_add_probe (GST_AGGREGATOR_SRC_PAD (self),
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER_LIST,
      gst_hip_vmaf_src_probe, self, NULL);
}

static void
install_model_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  gchar *builtin = g_strjoinv (", ", (gchar **) hv_models_builtin_names ());
  gchar *text = g_strdup_printf ("VMAF models, comma-separated: built-in ones "
      "(%s) and paths of libvmaf's JSON files; the first gives the score. "
      "Empty for none", builtin);

  g_object_class_install_property (gobject_class, PROP_MODEL_FILENAME,
      g_param_spec_string ("model-filename", "Model file", text,
          DEFAULT_MODEL_FILENAME, flags & ~G_PARAM_STATIC_BLURB));
  g_free (text);
  g_free (builtin);
  g_object_class_install_property (gobject_class, PROP_ENABLE_TRANSFORM,
      g_param_spec_boolean ("enable-transform", "Enable transform",
          "Transform scores where the model only offers it (vmaf_v0.6.1: as "
          "seen on a phone)", DEFAULT_ENABLE_TRANSFORM, flags));
  g_object_class_install_property (gobject_class, PROP_PHONE_MODEL,
      g_param_spec_boolean ("phone-model", "Phone model",
          "The same as enable-transform", DEFAULT_PHONE_MODEL, flags));
  g_object_class_install_property (gobject_class, PROP_DISABLE_CLIP,
      g_param_spec_boolean ("disable-clip", "Disable clip",
          "Let scores go beyond the model's range", DEFAULT_DISABLE_CLIP,
          flags));
  g_object_class_install_property (gobject_class, PROP_CONF_INTERVAL,
      g_param_spec_boolean ("conf-interval", "Confidence interval",
          "With a bootstrap model such as vmaf_b_v0.6.3: also give bagging "
          "score, standard deviation and 95% interval", DEFAULT_CONF_INTERVAL,
          flags));
}

static void
install_extra_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  g_object_class_install_property (gobject_class, PROP_PSNR,
      g_param_spec_boolean ("psnr", "PSNR",
          "Measure the luma's PSNR, in dB: scores psnr_y and psnr-y. The same "
          "as features=psnr=enable_chroma=false", DEFAULT_EXTRA, flags));
  g_object_class_install_property (gobject_class, PROP_SSIM,
      g_param_spec_boolean ("ssim", "SSIM",
          "Measure SSIM, 1 at best: scores float_ssim and ssim. The same as "
          "features=float_ssim", DEFAULT_EXTRA, flags));
  g_object_class_install_property (gobject_class, PROP_MS_SSIM,
      g_param_spec_boolean ("ms-ssim", "MS-SSIM",
          "Measure MS-SSIM, 1 at best, of pictures from 176x176 up: scores "
          "float_ms_ssim and ms-ssim. The same as features=float_ms_ssim",
          DEFAULT_EXTRA, flags));
}

static void
install_results_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  g_object_class_install_property (gobject_class, PROP_RESULTS_FILENAME,
      g_param_spec_string ("results-filename", "Results file",
          "Where to write every frame's and the pooled scores, as libvmaf does; "
          "complete at EOS, and every few seconds. Unset or empty for nowhere",
          DEFAULT_RESULTS_FILENAME, flags));
  g_object_class_install_property (gobject_class, PROP_RESULTS_FORMAT,
      g_param_spec_enum ("results-format", "Results format",
          "The layout of results-filename", GST_TYPE_HIP_VMAF_RESULTS_FORMAT,
          DEFAULT_RESULTS_FORMAT, flags));
  g_object_class_install_property (gobject_class, PROP_RESULTS_PRECISION,
      g_param_spec_uint ("results-precision", "Results precision",
          "Significant digits of the numbers in results-filename; 17 tell all "
          "doubles apart (0 = six decimals, as libvmaf)", 0, 17,
          DEFAULT_RESULTS_PRECISION, flags));
}

static void
install_alignment_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  g_object_class_install_property (gobject_class, PROP_ALIGNMENT,
      g_param_spec_enum ("alignment", "Alignment",
          "How frames find their partners: by running time as it is, less "
          "offset, or by what they show", GST_TYPE_HIP_VMAF_ALIGNMENT_MODE,
          DEFAULT_ALIGNMENT, flags));
  g_object_class_install_property (gobject_class, PROP_OFFSET,
      g_param_spec_int64 ("offset", "Offset",
          "How late the distorted stream is, in nanoseconds; negative where the "
          "reference is. With alignment=auto, what is assumed until frames tell",
          G_MININT64 / 4, G_MAXINT64 / 4, DEFAULT_OFFSET, flags));
  g_object_class_install_property (gobject_class, PROP_MAX_OFFSET,
      g_param_spec_uint64 ("max-offset", "Maximum offset",
          "The greatest offset, either way, in nanoseconds: frames wait so long "
          "for their partners", 0, G_MAXINT64 / 4, DEFAULT_MAX_OFFSET, flags));
  g_object_class_install_property (gobject_class, PROP_MAX_HISTORY_BYTES,
      g_param_spec_uint64 ("max-history-bytes", "Maximum history",
          "Bytes that copies of waiting frames may take (with alignment)", 0,
          G_MAXINT64, DEFAULT_MAX_HISTORY_BYTES, flags));
}

static void
install_monitor_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  g_object_class_install_property (gobject_class, PROP_INTERVAL,
      g_param_spec_uint64 ("interval", "Interval",
          "Post a message with mean, minimum, maximum, harmonic mean and 5th "
          "percentile of every score for each such stretch of running time, in "
          "nanoseconds (0 = none)", 0, G_MAXINT64, DEFAULT_INTERVAL, flags));
  g_object_class_install_property (gobject_class, PROP_ALERT_BELOW,
      g_param_spec_double ("alert-below", "Alert below",
          "Post an alert message when the mean score over alert-duration is "
          "below this, and a recovered message when it no longer is (the least "
          "number = never)", -G_MAXDOUBLE, G_MAXDOUBLE, DEFAULT_ALERT_BELOW,
          flags));
  g_object_class_install_property (gobject_class, PROP_ALERT_DURATION,
      g_param_spec_uint64 ("alert-duration", "Alert duration",
          "Over how long the score must be low in the mean, or no longer be, in "
          "nanoseconds (0 = one frame is enough)", 0, G_MAXINT64,
          DEFAULT_ALERT_DURATION, flags));
  g_object_class_install_property (gobject_class, PROP_ALERT_SCORE,
      g_param_spec_string ("alert-score", "Alert score",
          "The score that alert-below is about, as messages name it (empty = "
          "the first model's)", DEFAULT_ALERT_SCORE, flags));
  g_object_class_install_property (gobject_class, PROP_METRICS_LOCATION,
      g_param_spec_string ("metrics-location", "Metrics location",
          "A file with counters and the last interval's figures (of 10 s where "
          "interval is 0), in OpenMetrics' text format, rewritten once a "
          "second; for node_exporter its name ends in .prom (empty = none)",
          DEFAULT_METRICS_LOCATION, flags));
  g_object_class_install_property (gobject_class, PROP_METRICS_LABELS,
      g_param_spec_string ("metrics-labels", "Metrics labels",
          "Labels for what is in that file, besides the element's name: "
          "channel=one,site=paris", DEFAULT_METRICS_LABELS, flags));
}

static void
install_live_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  g_object_class_install_property (gobject_class, PROP_FORCE_LIVE,
      g_param_spec_boolean ("force-live", "Force live",
          "Never hold the reference back for the distorted stream, as with "
          "live sources: for feeds that may be absent, late or unqueued",
          DEFAULT_FORCE_LIVE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | G_PARAM_CONSTRUCT_ONLY));
  g_object_class_install_property (gobject_class, PROP_LIVE_POLICY,
      g_param_spec_enum ("live-policy", "Live policy",
          "What is done when measuring cannot keep up",
          GST_TYPE_HIP_VMAF_LIVE_POLICY, DEFAULT_LIVE_POLICY, flags));
  g_object_class_install_property (gobject_class, PROP_TIMEOUT,
      g_param_spec_uint64 ("timeout", "Timeout",
          "Live, post an unpaired message when no frames have found partners for "
          "so long, in nanoseconds, and a paired message when they do again (0 = "
          "never)", 0, G_MAXINT64, DEFAULT_TIMEOUT, flags));
}

static void
install_gpu_properties (GObjectClass * gobject_class, GParamFlags flags)
{
  g_object_class_install_property (gobject_class, PROP_BACKEND,
      g_param_spec_enum ("backend", "Backend",
          "What measures. With auto the CPU takes over where there is no GPU or "
          "where it fails; with hip that is an error. The environment variable "
          "VMAF_HIP_DISPATCH (vif:disable,adm:direct) decides for single metrics",
          GST_TYPE_HIP_VMAF_BACKEND, DEFAULT_BACKEND, flags));
  g_object_class_install_property (gobject_class, PROP_DEVICE_ID,
      g_param_spec_int ("device-id", "Device number",
          "Which GPU to measure on, as the runtime counts them (-1 = the first "
          "that this build has code for)", -1, G_MAXINT, DEFAULT_DEVICE_ID,
          flags));
  g_object_class_install_property (gobject_class, PROP_GPU_TIMEOUT,
      g_param_spec_uint64 ("gpu-timeout", "GPU timeout",
          "A GPU that gives no answer for so long, in nanoseconds, has failed "
          "(0 = wait for ever)", 0, G_MAXINT64, DEFAULT_GPU_TIMEOUT, flags));
  g_object_class_install_property (gobject_class, PROP_GPU_RETRY,
      g_param_spec_uint64 ("gpu-retry", "GPU retry",
          "With backend=auto, try a GPU that failed again after so long, in "
          "nanoseconds, and go back to it when it works (0 = never)", 0,
          G_MAXINT64, DEFAULT_GPU_RETRY, flags));
}

static void
install_properties (GObjectClass * gobject_class)
{
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  install_model_properties (gobject_class, ready);
  install_extra_properties (gobject_class, ready);
  install_results_properties (gobject_class, ready);
  install_alignment_properties (gobject_class, ready);
  install_monitor_properties (gobject_class, ready);
  install_live_properties (gobject_class, ready);
  install_gpu_properties (gobject_class, ready);
  g_object_class_install_property (gobject_class, PROP_FEATURES,
      g_param_spec_string ("features", "Features",
          "Metrics to measure besides those that the models need, with their "
          "options, in libvmaf's spelling: "
          "adm=debug=true:adm_enhn_gain_limit=1.0,vif", DEFAULT_FEATURES,
          ready));
  g_object_class_install_property (gobject_class, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
          "Threads that share each frame's rows (0 = one a processor; at most "
          "256 are used)", 0, G_MAXINT, DEFAULT_THREADS, ready));
  g_object_class_install_property (gobject_class, PROP_SUBSAMPLE,
      g_param_spec_uint ("subsample", "Subsample",
          "Measure one of every N pairs: those whose index is a multiple of N",
          1, 128, DEFAULT_SUBSAMPLE, ready));
  g_object_class_install_property (gobject_class, PROP_FRAME_MESSAGE,
      g_param_spec_boolean ("frame-message", "Frame messages",
          "Post a message with the scores of every measured pair",
          DEFAULT_FRAME_MESSAGE, playing));
  g_object_class_install_property (gobject_class, PROP_POOL_METHOD,
      g_param_spec_enum ("pool-method", "Pool method",
          "How the scores of all frames become the one of the pooled message",
          GST_TYPE_HIP_VMAF_POOL_METHOD, DEFAULT_POOL_METHOD, playing));
  g_object_class_install_property (gobject_class, PROP_ASYNC_DEPTH,
      g_param_spec_uint ("async-depth", "Asynchronous depth",
          "How many pairs may be in flight, measured or waiting for it; each "
          "holds two frames in memory, on a GPU in its memory", 1, 64,
          DEFAULT_ASYNC_DEPTH, ready));
  g_object_class_install_property (gobject_class, PROP_LOG_LEVEL,
      g_param_spec_enum ("log-level", "Log level",
          "What the debug category hipvmaf logs at least, in all elements of "
          "the process; GST_DEBUG may ask for more",
          GST_TYPE_HIP_VMAF_LOG_LEVEL, DEFAULT_LOG_LEVEL, playing));
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Of the run since READY: pairs, ref-frames and dist-frames taken, "
          "ref-unpaired, dist-unpaired, pairs flushed, skipped (too slow), "
          "failed and scored; fps (scored pairs a second), backend, "
          "device and target in use, placement (each metric's backend), "
          "gpu-status (what became of the GPU), interval (the last interval "
          "message), alert (whether the score is low), paired (live: whether "
          "frames find partners), on a GPU platform, slots, "
          "device-memory and device-memory-per-slot (bytes); threads; with "
          "alignment alignment-offset (ns), alignment-confidence, frames repeated "
          "and dropped, repeated-pairs, history-bytes and history-limit",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_hip_vmaf_class_init (GstHipVmafClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *agg_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_hip_vmaf_debug, "hipvmaf", 0,
      "Full-reference video quality");

  gobject_class->set_property = gst_hip_vmaf_set_property;
  gobject_class->get_property = gst_hip_vmaf_get_property;
  gobject_class->finalize = gst_hip_vmaf_finalize;
  install_properties (gobject_class);

  element_class->send_event = gst_hip_vmaf_send_event;
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &src_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &ref_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &dist_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_set_static_metadata (element_class,
      "Full-reference video quality", "Filter/Analyzer/Video",
      "Measures a distorted stream against its reference with libvmaf's metrics "
      "and posts the scores; passes the reference through",
      "The gst-hipvmaf authors");

  agg_class->start = gst_hip_vmaf_start;
  agg_class->stop = gst_hip_vmaf_stop;
  agg_class->src_activate = gst_hip_vmaf_src_activate;
  agg_class->flush = gst_hip_vmaf_flush;
  agg_class->negotiate = gst_hip_vmaf_negotiate;
  agg_class->aggregate = gst_hip_vmaf_aggregate;
  agg_class->get_next_time = gst_hip_vmaf_get_next_time;
  agg_class->sink_event = gst_hip_vmaf_sink_event;
  agg_class->sink_query = gst_hip_vmaf_sink_query;
  agg_class->src_event = gst_hip_vmaf_src_event;
  agg_class->src_query = gst_hip_vmaf_src_query;

  gst_type_mark_as_plugin_api (GST_TYPE_HIP_VMAF_BACKEND, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_HIP_VMAF_POOL_METHOD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_HIP_VMAF_RESULTS_FORMAT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_HIP_VMAF_LOG_LEVEL, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_HIP_VMAF_ALIGNMENT_MODE, 0);
}
