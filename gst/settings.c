/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From the properties to what a run is made of: see settings.h. */

#include "settings.h"

#include "kernels/common/metric.h"

#define GST_CAT_DEFAULT gst_hip_vmaf_debug

/* Of the windows whose figures go to metrics-location, where no interval is asked for. */
#define METRICS_INTERVAL (10 * GST_SECOND)

static gchar *
list_metrics (void)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; hv_metrics[i] != NULL; i++)
    g_string_append_printf (list, "%s%s", i ? ", " : "", hv_metrics[i]->name);
  return g_string_free (list, FALSE);
}

/* A run needs something to measure. */
static gboolean
check_features (GstHipVmaf * self, GPtrArray * features)
{
  gchar *list;

  if (features->len > 0)
    return TRUE;
  list = list_metrics ();
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("There is nothing to measure: model-filename and features are empty. "
          "Metrics are: %s.", list), (NULL));
  g_free (list);
  return FALSE;
}

static gboolean
has_metric (GPtrArray * features, const gchar * name)
{
  for (guint i = 0; i < features->len; i++) {
    const HvFeature *feature = g_ptr_array_index (features, i);

    if (g_str_equal (feature->info->name, name))
      return TRUE;
  }
  return FALSE;
}

/* What the properties psnr, ssim and ms-ssim stand for. A metric that `features` asks for already
 * gives the score, too. */
static gboolean
add_extras (GPtrArray * features, guint extras, GError ** error)
{
  for (guint i = 0; i < GST_HIP_VMAF_N_EXTRAS; i++) {
    const GstHipVmafExtra *extra = &gst_hip_vmaf_extras[i];
    const HvFeature *feature;
    GPtrArray *more;

    if (!(extras & 1u << i) || has_metric (features, extra->metric))
      continue;
    more = hv_features_parse (extra->feature, error);
    if (more == NULL)
      return FALSE;
    feature = g_ptr_array_index (more, 0);
    hv_features_add (features, feature->info, feature->params);
    g_ptr_array_unref (more);
  }
  return TRUE;
}

static gboolean
read_models (GstHipVmaf * self, GstHipVmafScorerConfig * config)
{
  HvModelSettings settings;
  GError *error = NULL;
  gchar *model;

  GST_OBJECT_LOCK (self);
  model = g_strdup (self->model_filename);
  settings.enable_transform = self->enable_transform || self->phone_model;
  settings.disable_clip = self->disable_clip;
  settings.conf_interval = self->conf_interval;
  GST_OBJECT_UNLOCK (self);

  config->models = hv_models_load (model, &settings, &error);
  if (config->models == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message),
        ("model-filename=%s", model));
  g_clear_error (&error);
  g_free (model);
  return config->models != NULL;
}

static gboolean
read_features (GstHipVmaf * self, GstHipVmafScorerConfig * config)
{
  GError *error = NULL;
  gchar *features;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  features = g_strdup (self->features);
  config->extras = self->extras;
  GST_OBJECT_UNLOCK (self);

  config->features = hv_features_parse (features, &error);
  ok = config->features != NULL
      && add_extras (config->features, config->extras, &error);
  if (ok)
    hv_models_add_features (config->models, config->features);
  else
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message),
        ("features=%s", features));
  g_clear_error (&error);
  g_free (features);
  return ok && check_features (self, config->features);
}

/* What of the monitor's settings makes no sense is an error where it would keep an alert from
 * coming, else a warning. */
static gboolean
check_monitor (GstHipVmaf * self, const GstHipVmafScorerConfig * config)
{
  gboolean alerts = config->monitor.alert_below > GST_HIP_VMAF_NO_ALERT;
  gboolean named = config->monitor.alert_score[0] != '\0';
  guint n_models;

  hv_models_score_names (config->models, &n_models);
  if (alerts && !named && n_models == 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("alert-below watches the first model's score, and model-filename is "
            "empty. Name the score to watch, for example "
            "alert-score=integer_adm2."), (NULL));
    return FALSE;
  }
  if (named && !alerts)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("alert-score has no effect without alert-below."), (NULL));
  return TRUE;
}

static gboolean
read_monitor (GstHipVmaf * self, GstHipVmafScorerConfig * whole)
{
  GstHipVmafMonitorConfig *config = &whole->monitor;

  GST_OBJECT_LOCK (self);
  config->interval = self->interval;
  config->silent = FALSE;
  if (config->interval == 0 && self->metrics_location[0] != '\0') {
    config->interval = METRICS_INTERVAL;
    config->silent = TRUE;
  }
  config->alert_below = self->alert_below;
  config->alert_duration = self->alert_duration;
  config->alert_score = g_strdup (self->alert_score);
  GST_OBJECT_UNLOCK (self);
  return check_monitor (self, whole);
}

/* From the thread that writes. */
static void
on_results_failed (gpointer user, const GError * error)
{
  GstHipVmaf *self = user;
  gchar *path;

  GST_OBJECT_LOCK (self);
  path = g_strdup (self->results_filename);
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("The results file %s is not up to date: %s. Measuring goes on, and "
          "writing is tried again every few seconds and at the end.", path,
          error->message), (NULL));
  g_free (path);
}

static gboolean
open_results (GstHipVmaf * self, GstHipVmafScorerConfig * config)
{
  GstHipVmafResultsFormat format;
  GError *error = NULL;
  guint precision;
  gchar *path;

  GST_OBJECT_LOCK (self);
  path = g_strdup (self->results_filename);
  format = self->results_format;
  precision = self->results_precision;
  GST_OBJECT_UNLOCK (self);

  if (path != NULL && *path != '\0') {
    if (format == GST_HIP_VMAF_RESULTS_NONE)
      format = GST_HIP_VMAF_RESULTS_JSON;
    config->results = gst_hip_vmaf_results_file_new (path, format, precision,
        on_results_failed, self, &error);
  } else if (format != GST_HIP_VMAF_RESULTS_NONE) {
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("results-format is set and results-filename is not: no results file "
            "is written."), (NULL));
  }
  if (error != NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("results-filename: cannot write %s: %s. It takes a path in a folder "
            "that exists and can be written to.", path, error->message),
        (NULL));
  g_free (path);
  if (error == NULL)
    return TRUE;
  g_error_free (error);
  return FALSE;
}

gboolean
gst_hip_vmaf_settings_read (GstHipVmaf * self, GstHipVmafScorerConfig * config)
{
  return read_models (self, config) && read_features (self, config)
      && read_monitor (self, config) && open_results (self, config);
}

void
gst_hip_vmaf_settings_clear (GstHipVmafScorerConfig * config)
{
  gst_hip_vmaf_gpu_clear (&config->gpu);
  g_clear_pointer (&config->monitor.alert_score, g_free);
  g_clear_pointer (&config->results, gst_hip_vmaf_results_file_free);
  g_clear_pointer (&config->features, g_ptr_array_unref);
  g_clear_pointer (&config->models, hv_models_unref);
}

/* FALSE and an error where there is to be a file and cannot be. */
static gboolean
make_metrics (GstHipVmaf * self, const gchar * location, const gchar * labels,
    GError ** error)
{
  gchar *text = gst_hip_vmaf_openmetrics_labels (GST_OBJECT_NAME (self),
      labels, error);

  if (text != NULL && location[0] != '\0')
    self->metrics = gst_hip_vmaf_openmetrics_new (GST_ELEMENT (self),
        self->scorer, location, text, error);
  else if (text != NULL && labels[0] != '\0')
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("metrics-labels has no effect without metrics-location."), (NULL));
  g_free (text);
  return text != NULL && (location[0] == '\0' || self->metrics != NULL);
}

gboolean
gst_hip_vmaf_settings_open_metrics (GstHipVmaf * self)
{
  GError *error = NULL;
  gchar *location, *labels;
  gboolean ok, same;

  GST_OBJECT_LOCK (self);
  same = g_strcmp0 (self->metrics_location, self->results_filename) == 0;
  location = g_strdup (self->metrics_location);
  labels = g_strstrip (g_strdup (self->metrics_labels));
  GST_OBJECT_UNLOCK (self);
  ok = (!same || location[0] == '\0')
      && make_metrics (self, location, labels, &error);
  if (error == NULL && !ok)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("metrics-location and results-filename are the same file: %s.",
            location), (NULL));
  else if (g_error_matches (error, HV_ERROR, HV_ERROR_OPTION))
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s.", error->message),
        (NULL));
  else if (error != NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE, ("metrics-location=%s: %s. "
            "It takes the path of a file in a folder that exists and can be "
            "written to.", location, error->message), (NULL));
  g_clear_error (&error);
  g_free (location);
  g_free (labels);
  return ok;
}
