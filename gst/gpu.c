/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The choice of what measures: see gpu.h. */

#include "gpu.h"

#include "kernels/hip/dispatch.h"

GST_DEBUG_CATEGORY_EXTERN (gst_hip_vmaf_debug);
#define GST_CAT_DEFAULT gst_hip_vmaf_debug

guint
gst_hip_vmaf_gpu_count (GPtrArray * features)
{
  guint n = 0;

  for (guint i = 0; i < features->len; i++)
    n += ((HvFeature *) g_ptr_array_index (features, i))->on_gpu != FALSE;
  return n;
}

static void
dispatch (GstElement * element, GPtrArray * features)
{
  gchar *warning = hv_hip_dispatch (g_getenv ("VMAF_HIP_DISPATCH"), features);

  if (warning != NULL)
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS, ("%s", warning), (NULL));
  g_free (warning);
}

/* Whoever asks for the GPU is to know what it does not do. */
static void
warn_about_rest (GstElement * element, GPtrArray * features)
{
  GString *rest = g_string_new (NULL);

  for (guint i = 0; i < features->len; i++) {
    const gchar *name =
        ((HvFeature *) g_ptr_array_index (features, i))->info->name;

    if (!hv_hip_supports (name) && strstr (rest->str, name) == NULL)
      g_string_append_printf (rest, "%s%s", rest->len ? ", " : "", name);
  }
  if (rest->len > 0)
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        ("backend=hip: this build has no GPU kernels for %s: the CPU measures "
            "that.", rest->str), (NULL));
  g_string_free (rest, TRUE);
}

static void
use_cpu (GstHipVmafGpu * gpu, GPtrArray * features, gchar * status)
{
  for (guint i = 0; i < features->len; i++)
    ((HvFeature *) g_ptr_array_index (features, i))->on_gpu = FALSE;
  gpu->status = status;
}

/* No device is opened for nothing, unless it was asked for: then a missing one is to be known. */
static gboolean
is_wanted (GstHipVmafGpu * gpu, GstElement * element, GPtrArray * features)
{
  gchar *code;

  dispatch (element, features);
  if (gpu->required || gst_hip_vmaf_gpu_count (features) > 0)
    return TRUE;
  code = hv_hip_describe_code ();
  use_cpu (gpu, features,
      g_strdup_printf ("none of the metrics is measured on a GPU (this build "
          "has GPU code for: %s)", code));
  g_free (code);
  return FALSE;
}

HvHip *
gst_hip_vmaf_gpu_open_device (const GstHipVmafGpuSettings * settings,
    GError ** error)
{
  HvHip *hip = hv_hip_open (settings->device_id, error);
  gint64 timeout_us = settings->timeout / GST_USECOND;

  if (hip != NULL && settings->timeout > 0
      && !hv_hip_set_timeout (hip, MAX (timeout_us, 1), error))
    g_clear_pointer (&hip, hv_hip_unref);
  return hip;
}

gboolean
gst_hip_vmaf_gpu_open (GstHipVmafGpu * gpu, GstElement * element,
    const GstHipVmafGpuSettings * settings, GPtrArray * features)
{
  GError *error = NULL;

  *gpu = (GstHipVmafGpu) {
  .settings = *settings,.required =
        settings->backend == GST_HIP_VMAF_BACKEND_HIP};
  if (settings->backend == GST_HIP_VMAF_BACKEND_CPU) {
    use_cpu (gpu, features, g_strdup ("not asked for: backend=cpu"));
    return TRUE;
  }
  if (!is_wanted (gpu, element, features))
    return TRUE;
  gpu->hip = gst_hip_vmaf_gpu_open_device (settings, &error);
  if (gpu->hip != NULL) {
    gpu->status = g_strdup ("in use");
    if (gpu->required)
      warn_about_rest (element, features);
  } else if (gpu->required) {
    GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND,
        ("backend=hip: %s. Use backend=cpu, or backend=auto, which takes the "
            "best that there is.", error->message), (NULL));
  } else {
    GST_INFO_OBJECT (element, "the CPU measures: %s", error->message);
    use_cpu (gpu, features, g_strdup (error->message));
  }
  g_clear_error (&error);
  return gpu->hip != NULL || !gpu->required;
}

void
gst_hip_vmaf_gpu_clear (GstHipVmafGpu * gpu)
{
  g_clear_pointer (&gpu->hip, hv_hip_unref);
  g_clear_pointer (&gpu->status, g_free);
}
