/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A GPU that failed is tried again: see revival.h. */

#include "revival.h"

#include "kernels/common/lock.h"

GST_DEBUG_CATEGORY_EXTERN (gst_hip_vmaf_debug);
#define GST_CAT_DEFAULT gst_hip_vmaf_debug

struct _GstHipVmafRevival
{
  GstHipVmafGpuSettings settings;

  HvLock lock;                  /* for all below */
  HvCond quits;
  guint holders;                /* the owner and the thread; the last one frees */
  gboolean quit;
  HvHip *hip;
};

/* Under the lock, which is released. */
static void
let_go (GstHipVmafRevival * revival)
{
  gboolean last = --revival->holders == 0;

  hv_unlock (&revival->lock);
  if (!last)
    return;
  hv_hip_unref (revival->hip);
  hv_cond_clear (&revival->quits);
  hv_lock_clear (&revival->lock);
  g_free (revival);
}

/* FALSE when it is over before. Under the lock. */
static gboolean
pause (GstHipVmafRevival * revival)
{
  gint64 until = g_get_monotonic_time ()
      + (gint64) (revival->settings.retry / GST_USECOND);

  while (!revival->quit)
    if (!hv_cond_wait_until (&revival->quits, &revival->lock, until))
      return TRUE;
  return FALSE;
}

static HvHip *
try (const GstHipVmafGpuSettings * settings)
{
  GError *error = NULL;
  HvHip *hip = gst_hip_vmaf_gpu_open_device (settings, &error);

  if (hip != NULL && !hv_hip_probe (hip, &error))
    g_clear_pointer (&hip, hv_hip_unref);
  if (hip == NULL)
    GST_INFO ("the GPU cannot be used yet: %s", error->message);
  g_clear_error (&error);
  return hip;
}

static void *
revival_main (void *data)
{
  GstHipVmafRevival *revival = data;

  hv_lock (&revival->lock);
  while (revival->hip == NULL && pause (revival)) {
    HvHip *hip;

    hv_unlock (&revival->lock);
    hip = try (&revival->settings);
    hv_lock (&revival->lock);
    revival->hip = hip;
  }
  let_go (revival);
  return NULL;
}

GstHipVmafRevival *
gst_hip_vmaf_revival_new (const GstHipVmafGpuSettings * settings)
{
  GstHipVmafRevival *revival = g_new0 (GstHipVmafRevival, 1);
  GError *error = NULL;
  pthread_t thread;

  revival->settings = *settings;
  revival->holders = 2;
  hv_lock_init (&revival->lock);
  hv_cond_init (&revival->quits);
  if (hv_thread_start (&thread, "hv-gpu-retry", revival_main, revival, &error)) {
    pthread_detach (thread);
    return revival;
  }
  GST_WARNING ("the GPU is not tried again: %s", error->message);
  g_error_free (error);
  revival->holders = 1;
  gst_hip_vmaf_revival_free (revival);
  return NULL;
}

HvHip *
gst_hip_vmaf_revival_take (GstHipVmafRevival * revival)
{
  HvHip *hip;

  hv_lock (&revival->lock);
  hip = g_steal_pointer (&revival->hip);
  hv_unlock (&revival->lock);
  return hip;
}

void
gst_hip_vmaf_revival_free (GstHipVmafRevival * revival)
{
  if (revival == NULL)
    return;
  hv_lock (&revival->lock);
  revival->quit = TRUE;
  hv_cond_broadcast (&revival->quits);
  let_go (revival);
}
