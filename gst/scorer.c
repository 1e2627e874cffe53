/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter and what comes out of it: see scorer.h. */

#include "scorer.h"

#include "pinnedmemory.h"
#include "revival.h"

#include "kernels/common/lock.h"
#include "kernels/cpu/level.h"
#include "kernels/hip/backend.h"

/* Together below the second that a state change may take with a stalled meter. */
#define STOP_DRAIN_US (500 * G_TIME_SPAN_MILLISECOND)
#define STOP_FREE_US (200 * G_TIME_SPAN_MILLISECOND)

/* Memory of pairs that are done: while streams run, none is asked for. Belongs to the scorer and to
 * every pair. */
typedef struct _GstHipVmafSpares
{
  gatomicrefcount refs;
  HvLock lock;
  GstHipVmafPair *first;
} GstHipVmafSpares;

struct _GstHipVmafScorer
{
  gatomicrefcount refs;
  GstElement *element;
  const gint *frame_message;    /* inside element */
  GstHipVmafScorerConfig config;
  GstHipVmafSpares *spares;

  GstHipVmafMonitor *monitor;   /* has a lock of its own */

  HvMeter *meter;               /* written by the streaming thread under lock */
  HvFormat format;              /* that the meter was made for */
  gboolean has_measured, pooled;

  HvLock lock;                  /* for all below */
  gboolean interrupted;
  GstHipVmafStats stats;
  HvPool *pool;
  HvAggregates *aggregates;     /* has a lock of its own */
  gint64 first_us, last_us;     /* when the first pair went in, when the last score came out */
  guint flushes;
  gboolean has_times;           /* whether a frame was measured since the last flush */
  gint64 first_time;            /* running time of the first of them */
  gint64 last_time;             /* and of the last one ever */
  GstHipVmafTimes last;
  GstClockTime flushed_duration;        /* that earlier frames reached over */
  gboolean warned;
  gboolean has_gpu;             /* and metrics that are measured on it */
  gboolean gpu_lost;            /* and the CPU took over */
  GstHipVmafRevival *revival;   /* then, while the GPU is tried again */
  gboolean revived;             /* config.gpu.hip is it, not in use yet */
  gboolean broken;              /* or nothing did */
  gboolean stopped;
};

const GstHipVmafExtra gst_hip_vmaf_extras[GST_HIP_VMAF_N_EXTRAS] = {
  {"psnr-y", "psnr_y", "psnr", "psnr=enable_chroma=false"},
  {"ssim", "float_ssim", "float_ssim", "float_ssim"},
  {"ms-ssim", "float_ms_ssim", "float_ms_ssim", "float_ms_ssim"}
};

/* What a meter knows of us. */
typedef struct
{
  GstHipVmafScorer *scorer;
  HvPredictor *predictor;
  GPtrArray *names;             /* the models', then the meter's, then those of extras */
  GArray *scores;               /* of gdouble, by name */
  guint n_models, n_metrics;
  guint source[GST_HIP_VMAF_N_EXTRAS];  /* where an extra's score is from */
  GArray *columns;              /* of guint: which scores are in the results file */
  GArray *row;                  /* of gdouble: those */
} Listener;

/* Spare memory of pairs */

static GstHipVmafSpares *
spares_new (void)
{
  GstHipVmafSpares *spares = g_new0 (GstHipVmafSpares, 1);

  g_atomic_ref_count_init (&spares->refs);
  hv_lock_init (&spares->lock);
  return spares;
}

static void
spares_unref (GstHipVmafSpares * spares)
{
  GstHipVmafPair *pair;

  if (!g_atomic_ref_count_dec (&spares->refs))
    return;
  while ((pair = spares->first) != NULL) {
    spares->first = pair->next;
    g_free (pair);
  }
  hv_lock_clear (&spares->lock);
  g_free (spares);
}

static GstHipVmafPair *
spares_take (GstHipVmafSpares * spares)
{
  GstHipVmafPair *pair;

  hv_lock (&spares->lock);
  pair = spares->first;
  if (pair != NULL)
    spares->first = pair->next;
  hv_unlock (&spares->lock);
  if (pair != NULL)
    memset (pair, 0, sizeof (*pair));
  else
    pair = g_new0 (GstHipVmafPair, 1);
  g_atomic_ref_count_inc (&spares->refs);
  pair->spares = spares;
  return pair;
}

static void
spares_give (GstHipVmafPair * pair)
{
  GstHipVmafSpares *spares = pair->spares;

  hv_lock (&spares->lock);
  pair->next = spares->first;
  spares->first = pair;
  hv_unlock (&spares->lock);
  spares_unref (spares);
}

/* The scorer */

GstHipVmafScorer *
gst_hip_vmaf_scorer_ref (GstHipVmafScorer * scorer)
{
  g_atomic_ref_count_inc (&scorer->refs);
  return scorer;
}

void
gst_hip_vmaf_scorer_unref (GstHipVmafScorer * scorer)
{
  if (!g_atomic_ref_count_dec (&scorer->refs))
    return;
  g_ptr_array_unref (scorer->config.features);
  gst_hip_vmaf_gpu_clear (&scorer->config.gpu);
  hv_models_unref (scorer->config.models);
  gst_hip_vmaf_results_file_free (scorer->config.results);
  hv_pool_free (scorer->pool);
  gst_hip_vmaf_monitor_free (scorer->monitor);
  hv_aggregates_free (scorer->aggregates);
  gst_hip_vmaf_revival_free (scorer->revival);
  spares_unref (scorer->spares);
  hv_lock_clear (&scorer->lock);
  g_free (scorer);
}

/* Under the lock. */
static gboolean
measures_on_gpu (GstHipVmafScorer * scorer)
{
  return scorer->has_gpu && !scorer->gpu_lost;
}

static void
describe_cpu (GstHipVmafScorer * scorer)
{
  scorer->stats.backend = "cpu";
  scorer->stats.device = "cpu";
  scorer->stats.target = hv_level_name (hv_level ());
  scorer->stats.platform = "";
  scorer->stats.slots = 0;
  scorer->stats.device_memory = 0;
}

/* The names outlive the device. */
static void
describe_gpu (GstHipVmafScorer * scorer)
{
  const HvHip *hip = scorer->config.gpu.hip;

  scorer->stats.backend = "hip";
  scorer->stats.device = g_intern_string (hv_hip_device_name (hip));
  scorer->stats.target = g_intern_string (hv_hip_target (hip));
  scorer->stats.platform = g_intern_string (hv_hip_platform (hip));
}

/* What it holds for us. */
static void
describe_slots (GstHipVmafScorer * scorer)
{
  scorer->stats.slots = scorer->config.depth;
  scorer->stats.device_memory = hv_hip_allocated (scorer->config.gpu.hip);
}

GstHipVmafScorer *
gst_hip_vmaf_scorer_new (GstElement * element,
    GstHipVmafScorerConfig * config, const gint * frame_message)
{
  GstHipVmafScorer *scorer = g_new0 (GstHipVmafScorer, 1);

  g_atomic_ref_count_init (&scorer->refs);
  scorer->element = element;
  scorer->frame_message = frame_message;
  scorer->config = *config;
  memset (&config->gpu, 0, sizeof (config->gpu));
  memset (&config->monitor, 0, sizeof (config->monitor));
  config->results = NULL;
  g_ptr_array_ref (config->features);
  hv_models_ref (config->models);
  hv_lock_init (&scorer->lock);
  scorer->spares = spares_new ();
  scorer->pool = hv_pool_new ();
  scorer->monitor = gst_hip_vmaf_monitor_new (element, &scorer->config.monitor);
  scorer->aggregates = hv_aggregates_new ();
  if (scorer->config.results != NULL)
    gst_hip_vmaf_results_file_set_aggregates (scorer->config.results,
        scorer->aggregates);
  describe_cpu (scorer);
  scorer->has_gpu = scorer->config.gpu.hip != NULL
      && gst_hip_vmaf_gpu_count (config->features) > 0;
  if (scorer->has_gpu)
    describe_gpu (scorer);
  scorer->stats.threads = config->threads;
  return scorer;
}

/* Pairs */

static void
unmap (GstHipVmafPair * pair)
{
  while (pair->mapped > 0)
    gst_video_frame_unmap (&pair->frame[--pair->mapped]);
}

void
gst_hip_vmaf_pair_free (GstHipVmafPair * pair)
{
  unmap (pair);
  g_free (pair->timecode);
  spares_give (pair);
}

static gchar *
timecode_of (GstBuffer * buffer)
{
  GstVideoTimeCodeMeta *meta = gst_buffer_get_video_time_code_meta (buffer);

  return meta != NULL ? gst_video_time_code_to_string (&meta->tc) : NULL;
}

GstHipVmafPair *
gst_hip_vmaf_pair_new (GstHipVmafScorer * scorer,
    const GstHipVmafFrame * reference, const GstHipVmafFrame * distorted,
    gint index)
{
  const GstHipVmafFrame *frames[] = { reference, distorted };
  GstHipVmafPair *pair = spares_take (scorer->spares);
  HvPicture *pictures[] = { &pair->pair.reference, &pair->pair.distorted };

  for (guint i = 0; i < GST_HIP_VMAF_N_SIDES; i++) {
    if (!(frames[i]->luma ? gst_hip_vmaf_picture_map_luma :
            gst_hip_vmaf_picture_map) (pictures[i], &pair->frame[i],
            frames[i]->format, frames[i]->buffer)) {
      gst_hip_vmaf_pair_free (pair);
      return NULL;
    }
    pair->mapped++;
  }
  pair->pair.owner = pair;
  pair->format = ((GstHipVmafFormat *) reference->format)->format;
  pair->time = reference->time;
  pair->times.timestamp = reference->pts;
  pair->times.stream_time = reference->stream_time;
  pair->times.running_time = reference->time >= 0 ?
      (GstClockTime) reference->time : GST_CLOCK_TIME_NONE;
  pair->times.duration = reference->duration;
  pair->index = index;
  pair->utc = reference->utc;
  pair->repeated = distorted->repeated;
  pair->timecode = timecode_of (reference->buffer);
  return pair;
}

/* From the meter's thread */

/* What the frames since the last flush reach over. Under the lock. */
static GstClockTime
span (GstHipVmafScorer * scorer)
{
  GstClockTime length = 0;

  if (!scorer->has_times)
    return 0;
  if (scorer->last_time > scorer->first_time)
    length = scorer->last_time - scorer->first_time;
  if (GST_CLOCK_TIME_IS_VALID (scorer->last.duration))
    length += scorer->last.duration;
  return length;
}

/* All the scores of a pair, from the meter's. */
static void
make_scores (Listener * listener, const double *metrics)
{
  gdouble *scores = (gdouble *) listener->scores->data;
  gdouble *extras = scores + listener->n_models + listener->n_metrics;

  hv_predictor_run (listener->predictor, metrics, scores);
  memcpy (scores + listener->n_models, metrics,
      listener->n_metrics * sizeof (*metrics));
  for (guint i = 0; extras + i < scores + listener->scores->len; i++)
    extras[i] = scores[listener->source[i]];
}

static void
write_results (Listener * listener, gint index)
{
  GstHipVmafResultsFile *results = listener->scorer->config.results;

  if (results == NULL)
    return;
  for (guint i = 0; i < listener->columns->len; i++)
    g_array_index (listener->row, gdouble, i) =
        g_array_index (listener->scores, gdouble,
        g_array_index (listener->columns, guint, i));
  gst_hip_vmaf_results_file_add (results, index,
      (const gdouble *) listener->row->data);
}

static void
post_frame (Listener * listener, const GstHipVmafPair * pair)
{
  GstElement *element = listener->scorer->element;
  GstStructure *structure = gst_hip_vmaf_message_frame (&pair->times,
      pair->index, (const gchar * const *) listener->names->pdata,
      (const gdouble *) listener->scores->data, listener->names->len,
      pair->timecode, pair->utc);

  if (pair->repeated)
    gst_structure_set (structure, "repeated", G_TYPE_BOOLEAN, TRUE, NULL);
  gst_element_post_message (element,
      gst_message_new_element (GST_OBJECT (element), structure));
}

static void
on_scored (gpointer user, gpointer owner, const double *metrics)
{
  Listener *listener = user;
  GstHipVmafScorer *scorer = listener->scorer;
  GstHipVmafPair *pair = owner;
  const gchar *const *names = (const gchar * const *) listener->names->pdata;
  const gdouble *scores = (const gdouble *) listener->scores->data;

  make_scores (listener, metrics);
  hv_lock (&scorer->lock);
  hv_pool_add (scorer->pool, names, scores, listener->names->len);
  scorer->stats.scored++;
  scorer->last_us = g_get_monotonic_time ();
  scorer->stats.scored_utc = g_get_real_time ();
  scorer->last = pair->times;
  scorer->last_time = pair->time;
  if (pair->flushes == scorer->flushes) {
    if (!scorer->has_times)
      scorer->first_time = pair->time;
    scorer->has_times = TRUE;
  }
  hv_unlock (&scorer->lock);

  write_results (listener, pair->index);
  gst_hip_vmaf_monitor_add (scorer->monitor, &pair->times, pair->time,
      pair->utc, names, scores, listener->names->len);
  if (g_atomic_int_get (scorer->frame_message))
    post_frame (listener, pair);
}

static void
on_pictures_done (gpointer owner)
{
  unmap (owner);
}

static void
on_owner_free (gpointer owner)
{
  gst_hip_vmaf_pair_free (owner);
}

static void
on_failed (gpointer user, const GError * error)
{
  GstHipVmafScorer *scorer = ((Listener *) user)->scorer;
  gboolean warned;

  hv_lock (&scorer->lock);
  scorer->stats.failed++;
  warned = scorer->warned;
  scorer->warned = TRUE;
  hv_unlock (&scorer->lock);
  if (!warned)
    GST_ELEMENT_WARNING (scorer->element, STREAM, FAILED,
        ("%s", error->message),
        ("Such pairs are counted as failed in stats; this is said once"));
}

static void
set_status (GstHipVmafScorer * scorer, const GError * error)
{
  g_free (scorer->config.gpu.status);
  scorer->config.gpu.status = g_strdup_printf ("lost: %s", error->message);
}

/* The CPU measures, for now or for good. */
static void
lose_gpu (GstHipVmafScorer * scorer, const GError * error)
{
  const GstHipVmafGpuSettings *settings = &scorer->config.gpu.settings;

  hv_lock (&scorer->lock);
  scorer->gpu_lost = TRUE;
  scorer->revived = FALSE;
  describe_cpu (scorer);
  set_status (scorer, error);
  if (settings->retry > 0 && scorer->revival == NULL && !scorer->stopped)
    scorer->revival = gst_hip_vmaf_revival_new (settings);
  hv_unlock (&scorer->lock);
}

static void
fall_back (GstHipVmafScorer * scorer, const GError * error)
{
  lose_gpu (scorer, error);
  GST_ELEMENT_WARNING (scorer->element, RESOURCE, FAILED,
      ("The GPU failed, and the CPU measures from here on; no pair is lost. %s",
          error->message), (NULL));
}

static void
regain_gpu (GstHipVmafScorer * scorer)
{
  hv_lock (&scorer->lock);
  if (scorer->stopped) {
    hv_unlock (&scorer->lock);
    return;
  }
  scorer->gpu_lost = scorer->revived = FALSE;
  describe_gpu (scorer);
  describe_slots (scorer);
  g_free (scorer->config.gpu.status);
  scorer->config.gpu.status = g_strdup ("in use, after it had failed");
  hv_unlock (&scorer->lock);
  GST_ELEMENT_INFO (scorer->element, RESOURCE, FAILED,
      ("The GPU works again, and measures from here on."), (NULL));
}

static void
on_regained (gpointer user, const GError * error)
{
  GstHipVmafScorer *scorer = ((Listener *) user)->scorer;

  if (error == NULL) {
    regain_gpu (scorer);
    return;
  }
  GST_INFO_OBJECT (scorer->element, "the GPU could not be put to use again: %s",
      error->message);
  lose_gpu (scorer, error);
}

static void
on_fell_back (gpointer user, const GError * error)
{
  fall_back (((Listener *) user)->scorer, error);
}

static void
on_broke (gpointer user, const GError * error)
{
  GstHipVmafScorer *scorer = ((Listener *) user)->scorer;

  hv_lock (&scorer->lock);
  scorer->broken = scorer->warned = TRUE;
  set_status (scorer, error);
  hv_unlock (&scorer->lock);
  GST_ELEMENT_ERROR (scorer->element, RESOURCE, FAILED,
      ("backend=hip: the GPU failed. %s. With backend=auto the CPU would have "
          "taken over.", error->message), (NULL));
}

static void
on_user_free (gpointer user)
{
  Listener *listener = user;

  gst_object_unref (listener->scorer->element);
  gst_hip_vmaf_scorer_unref (listener->scorer);
  hv_predictor_free (listener->predictor);
  g_clear_pointer (&listener->names, g_ptr_array_unref);
  g_clear_pointer (&listener->scores, g_array_unref);
  g_clear_pointer (&listener->columns, g_array_unref);
  g_clear_pointer (&listener->row, g_array_unref);
  g_free (listener);
}

static const HvMeterCallbacks callbacks = {
  .scored = on_scored,
  .pictures_done = on_pictures_done,
  .owner_free = on_owner_free,
  .failed = on_failed,
  .user_free = on_user_free,
  .fell_back = on_fell_back,
  .broke = on_broke,
  .regained = on_regained
};

/* The streaming thread's side */

static void
set_meter (GstHipVmafScorer * scorer, HvMeter * meter)
{
  hv_lock (&scorer->lock);
  scorer->meter = meter;
  if (meter != NULL && scorer->interrupted)
    hv_meter_interrupt (meter, TRUE);
  hv_unlock (&scorer->lock);
}

void
gst_hip_vmaf_scorer_interrupt (GstHipVmafScorer * scorer, gboolean set)
{
  hv_lock (&scorer->lock);
  scorer->interrupted = set;
  if (scorer->meter != NULL)
    hv_meter_interrupt (scorer->meter, set);
  hv_unlock (&scorer->lock);
}

static void
free_meter (GstHipVmafScorer * scorer)
{
  HvMeter *meter = scorer->meter;

  if (meter == NULL)
    return;
  set_meter (scorer, NULL);
  GST_HIP_VMAF_COUNT (scorer, flushed, hv_meter_drop (meter));
  hv_meter_free (meter, STOP_FREE_US);
}

/* What the listener makes of the meter's scores: */

static void
add_extra (Listener * listener, guint extra)
{
  guint index;

  if (!g_ptr_array_find_with_equal_func (listener->names,
          gst_hip_vmaf_extras[extra].score, g_str_equal, &index))
    return;
  listener->source[listener->names->len - listener->n_models
      - listener->n_metrics] = index;
  g_ptr_array_add (listener->names,
      (gpointer) gst_hip_vmaf_extras[extra].field);
}

static gboolean
set_scores (Listener * listener, HvMeter * meter, GError ** error)
{
  const GstHipVmafScorerConfig *config = &listener->scorer->config;
  const char *const *metrics = hv_meter_score_names (meter,
      &listener->n_metrics);
  const char *const *names = hv_models_score_names (config->models,
      &listener->n_models);

  listener->names = g_ptr_array_new ();
  for (guint i = 0; i < listener->n_models; i++)
    g_ptr_array_add (listener->names, (gpointer) names[i]);
  for (guint i = 0; i < listener->n_metrics; i++)
    g_ptr_array_add (listener->names, (gpointer) metrics[i]);
  for (guint i = 0; i < GST_HIP_VMAF_N_EXTRAS; i++) {
    if (config->extras & 1u << i)
      add_extra (listener, i);
  }
  listener->scores = g_array_new (FALSE, TRUE, sizeof (gdouble));
  g_array_set_size (listener->scores, listener->names->len);
  listener->predictor = hv_predictor_new (config->models, metrics,
      listener->n_metrics, error);
  return listener->predictor != NULL
      && gst_hip_vmaf_monitor_begin (listener->scorer->monitor,
      (const gchar * const *) listener->names->pdata, listener->names->len,
      error);
}

static void
add_column (Listener * listener, guint score, GPtrArray * names,
    const gchar * name)
{
  g_array_append_val (listener->columns, score);
  g_ptr_array_add (names, (gpointer) name);
}

/* As libvmaf has it: metrics, then models, under its names. The first model's score, which messages
 * have twice, is "vmaf", for that is what those who read such files look for. */
static void
begin_results (Listener * listener, const HvFormat * format)
{
  GstHipVmafResultsFile *results = listener->scorer->config.results;
  guint n_models = listener->n_models;
  GPtrArray *names;

  if (results == NULL)
    return;
  names = g_ptr_array_new ();
  listener->columns = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = n_models; i < n_models + listener->n_metrics; i++)
    add_column (listener, i, names, g_ptr_array_index (listener->names, i));
  for (guint i = 1; i < n_models; i++)
    add_column (listener, i, names, i == 1 ? "vmaf"
        : g_ptr_array_index (listener->names, i));
  listener->row = g_array_new (FALSE, TRUE, sizeof (gdouble));
  g_array_set_size (listener->row, names->len);
  gst_hip_vmaf_results_file_begin (results,
      (const gchar * const *) names->pdata, names->len, format->width,
      format->height);
  g_ptr_array_unref (names);
}

static gboolean
needs_chroma (GPtrArray * features)
{
  for (guint i = 0; i < features->len; i++) {
    const HvFeature *feature = g_ptr_array_index (features, i);

    if (feature->on_gpu && feature->info->needs_chroma != NULL
        && feature->info->needs_chroma (feature->params))
      return TRUE;
  }
  return FALSE;
}

static HvBackend *
make_backend (GstHipVmafScorer * scorer, const HvFormat * format,
    GError ** error)
{
  return hv_hip_backend_new (scorer->config.gpu.hip, format,
      scorer->config.depth, needs_chroma (scorer->config.features), error);
}

static HvMeter *
try_meter (GstHipVmafScorer * scorer, const HvFormat * format,
    Listener * listener, gboolean on_gpu, GError ** error)
{
  HvMeterConfig config = {
    .format = *format,
    .features = scorer->config.features,
    .threads = scorer->config.threads,
    .depth = scorer->config.depth,
    .fallback = !scorer->config.gpu.required,
    .aggregates = scorer->aggregates
  };
  HvMeter *meter;

  if (on_gpu) {
    config.backend = make_backend (scorer, format, error);
    if (config.backend == NULL)
      return NULL;
  }
  meter = hv_meter_new (&config, &callbacks, listener, error);
  if (meter == NULL && config.backend != NULL)
    config.backend->ops->free (config.backend);
  return meter;
}

/* On the GPU if that works, or has to. */
static HvMeter *
choose_meter (GstHipVmafScorer * scorer, const HvFormat * format,
    Listener * listener, GError ** error)
{
  GError *why = NULL;
  gboolean on_gpu, revived;
  HvMeter *meter;

  hv_lock (&scorer->lock);
  revived = scorer->revived;
  on_gpu = measures_on_gpu (scorer) || revived;
  hv_unlock (&scorer->lock);
  meter = try_meter (scorer, format, listener, on_gpu, &why);
  if (meter == NULL && on_gpu && !scorer->config.gpu.required
      && g_error_matches (why, HV_ERROR, HV_ERROR_BACKEND)) {
    fall_back (scorer, why);
    g_clear_error (&why);
    meter = try_meter (scorer, format, listener, FALSE, &why);
  } else if (meter != NULL && revived) {
    regain_gpu (scorer);
  }
  if (why != NULL)
    g_propagate_error (error, why);
  if (meter != NULL && on_gpu) {
    hv_lock (&scorer->lock);
    if (measures_on_gpu (scorer))
      describe_slots (scorer);
    hv_unlock (&scorer->lock);
  }
  return meter;
}

static gboolean
make_meter (GstHipVmafScorer * scorer, const HvFormat * format, GError ** error)
{
  Listener *listener = g_new0 (Listener, 1);
  HvMeter *meter;

  listener->scorer = gst_hip_vmaf_scorer_ref (scorer);
  gst_object_ref (scorer->element);
  meter = choose_meter (scorer, format, listener, error);
  if (meter == NULL) {
    on_user_free (listener);
    return FALSE;
  }
  if (!set_scores (listener, meter, error)) {
    hv_meter_free (meter, -1);
    return FALSE;
  }
  begin_results (listener, format);
  scorer->format = *format;
  scorer->has_measured = TRUE;
  set_meter (scorer, meter);
  return TRUE;
}

static gboolean
same_format (const HvFormat * a, const HvFormat * b)
{
  return a->width == b->width && a->height == b->height
      && a->depth == b->depth && a->n_planes == b->n_planes
      && a->chroma_shift_x == b->chroma_shift_x
      && a->chroma_shift_y == b->chroma_shift_y;
}

/* Whether the GPU works again; then it is the one in config. */
static gboolean
is_revived (GstHipVmafScorer * scorer)
{
  HvHip *hip = NULL, *old = NULL;

  hv_lock (&scorer->lock);
  if (scorer->revival != NULL)
    hip = gst_hip_vmaf_revival_take (scorer->revival);
  if (hip != NULL) {
    g_clear_pointer (&scorer->revival, gst_hip_vmaf_revival_free);
    old = scorer->config.gpu.hip;
    scorer->config.gpu.hip = hip;
    scorer->revived = TRUE;
  }
  hv_unlock (&scorer->lock);
  hv_hip_unref (old);
  return hip != NULL;
}

/* It is the present meter's, or the next one's. */
static void
put_revived_to_use (GstHipVmafScorer * scorer)
{
  HvBackend *backend;
  GError *error = NULL;

  if (!is_revived (scorer) || scorer->meter == NULL)
    return;
  backend = make_backend (scorer, &scorer->format, &error);
  if (backend != NULL)
    hv_meter_offer (scorer->meter, backend);
  else
    lose_gpu (scorer, error);
  g_clear_error (&error);
}

GstHipVmafSubmit
gst_hip_vmaf_scorer_submit (GstHipVmafScorer * scorer, GstHipVmafPair * pair,
    gboolean wait, GError ** error)
{
  if (scorer->meter != NULL && !same_format (&scorer->format, &pair->format)) {
    if (!hv_meter_drain (scorer->meter, TRUE, wait ? -1 : 0))
      return GST_HIP_VMAF_SUBMIT_LATER;
    gst_hip_vmaf_monitor_end (scorer->monitor);
    free_meter (scorer);
  }
  /* With the GPU lost for good, what comes after a change of caps is measured no more than the rest. */
  if (gst_hip_vmaf_scorer_is_broken (scorer))
    return GST_HIP_VMAF_SUBMIT_LATER;
  put_revived_to_use (scorer);
  if (scorer->meter == NULL && !make_meter (scorer, &pair->format, error))
    return GST_HIP_VMAF_SUBMIT_REFUSED;

  if (pair->begins)
    gst_hip_vmaf_scorer_break (scorer);
  pair->begins = FALSE;
  hv_lock (&scorer->lock);
  if (scorer->first_us == 0)
    scorer->first_us = g_get_monotonic_time ();
  pair->flushes = scorer->flushes;
  hv_unlock (&scorer->lock);
  if (!(wait ? hv_meter_submit (scorer->meter, &pair->pair)
          : hv_meter_try_submit (scorer->meter, &pair->pair)))
    return GST_HIP_VMAF_SUBMIT_LATER;
  return GST_HIP_VMAF_SUBMIT_TAKEN;
}

void
gst_hip_vmaf_scorer_break (GstHipVmafScorer * scorer)
{
  if (scorer->meter != NULL)
    hv_meter_drain (scorer->meter, TRUE, 0);
}

gboolean
gst_hip_vmaf_scorer_pass (GstHipVmafScorer * scorer, GstHipVmafPair * pair,
    guint most)
{
  if (!hv_features_remember (scorer->config.features))
    return FALSE;
  if (pair->begins)
    gst_hip_vmaf_scorer_break (scorer);
  if (scorer->meter != NULL && same_format (&scorer->format, &pair->format)
      && hv_meter_pass (scorer->meter, &pair->pair, most))
    return TRUE;
  gst_hip_vmaf_scorer_break (scorer);
  return FALSE;
}

gboolean
gst_hip_vmaf_scorer_is_broken (GstHipVmafScorer * scorer)
{
  gboolean broken;

  hv_lock (&scorer->lock);
  broken = scorer->broken;
  hv_unlock (&scorer->lock);
  return broken;
}

guint
gst_hip_vmaf_scorer_held (GstHipVmafScorer * scorer)
{
  guint held = scorer->config.depth;

  hv_lock (&scorer->lock);
  if (measures_on_gpu (scorer) && !scorer->config.gpu.required)
    held += hv_features_look_back (scorer->config.features);
  hv_unlock (&scorer->lock);
  return held;
}

GstAllocator *
gst_hip_vmaf_scorer_allocator (GstHipVmafScorer * scorer)
{
  GstAllocator *allocator = NULL;

  hv_lock (&scorer->lock);
  if (measures_on_gpu (scorer) && scorer->config.gpu.hip != NULL)
    allocator = gst_hip_vmaf_pinned_allocator_new (scorer->config.gpu.hip);
  hv_unlock (&scorer->lock);
  return allocator;
}

gboolean
gst_hip_vmaf_scorer_has_measured (GstHipVmafScorer * scorer)
{
  return scorer->has_measured;
}

gboolean
gst_hip_vmaf_scorer_drain (GstHipVmafScorer * scorer)
{
  return scorer->meter == NULL || hv_meter_drain (scorer->meter, FALSE, -1);
}

static GstStructure *
pooled_message (GstHipVmafScorer * scorer, HvPoolMethod method)
{
  GstStructure *structure = NULL;

  hv_lock (&scorer->lock);
  if (!scorer->pooled && scorer->stats.scored > 0) {
    GstHipVmafTimes times = scorer->last;

    times.duration = scorer->flushed_duration + span (scorer);
    structure = gst_hip_vmaf_message_pooled (&times, scorer->pool,
        scorer->aggregates, method);
    scorer->pooled = TRUE;
  }
  hv_unlock (&scorer->lock);
  return structure;
}

gboolean
gst_hip_vmaf_scorer_finish (GstHipVmafScorer * scorer, HvPoolMethod method)
{
  GstStructure *structure;

  if (scorer->meter != NULL && !hv_meter_drain (scorer->meter, TRUE, -1))
    return FALSE;
  gst_hip_vmaf_monitor_end (scorer->monitor);
  if (scorer->config.results != NULL)
    gst_hip_vmaf_results_file_complete (scorer->config.results);
  structure = pooled_message (scorer, method);
  if (structure != NULL)
    gst_element_post_message (scorer->element,
        gst_message_new_element (GST_OBJECT (scorer->element), structure));
  return TRUE;
}

void
gst_hip_vmaf_scorer_drop (GstHipVmafScorer * scorer)
{
  guint dropped = scorer->meter != NULL ? hv_meter_drop (scorer->meter) : 0;

  hv_lock (&scorer->lock);
  scorer->stats.flushed += dropped;
  scorer->pooled = FALSE;
  scorer->flushed_duration += span (scorer);
  scorer->has_times = FALSE;
  scorer->flushes++;
  hv_unlock (&scorer->lock);
  if (scorer->meter != NULL)
    gst_hip_vmaf_monitor_end (scorer->monitor);
}

static gint64
time_left (gint64 end)
{
  return MAX (end - g_get_monotonic_time (), 0);
}

void
gst_hip_vmaf_scorer_stop (GstHipVmafScorer * scorer, GQueue * pairs)
{
  gint64 end = g_get_monotonic_time () + STOP_DRAIN_US;
  GstHipVmafPair *pair;

  gst_hip_vmaf_scorer_interrupt (scorer, FALSE);
  while ((pair = g_queue_peek_head (pairs)) != NULL) {
    switch (gst_hip_vmaf_scorer_submit (scorer, pair, FALSE, NULL)) {
      case GST_HIP_VMAF_SUBMIT_TAKEN:
        g_queue_pop_head (pairs);
        continue;
      case GST_HIP_VMAF_SUBMIT_LATER:
        if (!gst_hip_vmaf_scorer_is_broken (scorer)
            && hv_meter_drain (scorer->meter, FALSE, time_left (end)))
          continue;
        break;
      case GST_HIP_VMAF_SUBMIT_REFUSED:
        break;
    }
    break;
  }
  /* Where an application holds a message up, one more would be held up, too. */
  if (scorer->meter != NULL
      && hv_meter_drain (scorer->meter, TRUE, time_left (end)))
    gst_hip_vmaf_monitor_end (scorer->monitor);
  free_meter (scorer);
  if (scorer->config.results != NULL)
    gst_hip_vmaf_results_file_close (scorer->config.results);
  hv_lock (&scorer->lock);
  scorer->stopped = TRUE;
  g_clear_pointer (&scorer->revival, gst_hip_vmaf_revival_free);
  g_clear_pointer (&scorer->config.gpu.hip, hv_hip_unref);
  hv_unlock (&scorer->lock);
}

void
gst_hip_vmaf_scorer_count (GstHipVmafScorer * scorer, gsize member, guint64 n)
{
  hv_lock (&scorer->lock);
  G_STRUCT_MEMBER (guint64, &scorer->stats, member) += n;
  hv_unlock (&scorer->lock);
}

void
gst_hip_vmaf_scorer_set_paired (GstHipVmafScorer * scorer,
    GstHipVmafPairedState paired)
{
  hv_lock (&scorer->lock);
  scorer->stats.paired = paired;
  hv_unlock (&scorer->lock);
}

void
gst_hip_vmaf_scorer_set_offset (GstHipVmafScorer * scorer, gint64 offset,
    gdouble confidence)
{
  hv_lock (&scorer->lock);
  scorer->stats.aligned = TRUE;
  scorer->stats.offset = offset;
  scorer->stats.confidence = confidence;
  hv_unlock (&scorer->lock);
}

/* Under the lock. */
static GstStructure *
placement (GstHipVmafScorer * scorer)
{
  GstStructure *structure = gst_structure_new_empty ("placement");
  gboolean on_gpu = measures_on_gpu (scorer);

  for (guint i = 0; i < scorer->config.features->len; i++) {
    const HvFeature *feature = g_ptr_array_index (scorer->config.features, i);

    gst_structure_set (structure, feature->info->name, G_TYPE_STRING,
        on_gpu && feature->on_gpu ? "hip" : "cpu", NULL);
  }
  return structure;
}

void
gst_hip_vmaf_scorer_stats (GstHipVmafScorer * scorer, GstHipVmafStats * stats)
{
  hv_lock (&scorer->lock);
  *stats = scorer->stats;
  stats->gpu_status = g_strdup (scorer->config.gpu.status);
  stats->placement = placement (scorer);
  if (stats->scored > 0 && scorer->last_us > scorer->first_us)
    stats->fps = stats->scored * (gdouble) G_USEC_PER_SEC
        / (scorer->last_us - scorer->first_us);
  hv_unlock (&scorer->lock);
  gst_hip_vmaf_monitor_stats (scorer->monitor, stats);
}
