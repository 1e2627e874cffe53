/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A results file on disk: see resultsfile.h. */

#define _GNU_SOURCE             /* realpath(), sigtimedwait() */

#include "resultsfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "kernels/common/lock.h"

/* How long the file may be behind; longer where writing would take more than this part of its thread's
 * time, but never longer than a microsecond a byte: a small file that takes long is a busy disk's. */
#define UPDATE_US (2 * G_TIME_SPAN_SECOND)
#define COST_SHARE 20

/* More text than this does not wait for its time; and as much waits for the disk to have room again:
 * an hour of frames. */
#define MAX_PENDING (64 * 1024 * 1024)

struct _GstHipVmafResultsFile
{
  gchar *path;                  /* absolute, links followed */
  gboolean in_place;            /* nothing is renamed to it: it is written at the end */
  int target;                   /* what is no regular file, open; or -1 */
  GstHipVmafResultsFailed failed;
  gpointer user;
  pthread_t thread;

  HvLock writing;               /* for what concerns the disk: */
  int fd;                       /* the last document written, or -1 */
  goffset frames_at, frames_size;       /* its frames */
  guint columns;                /* that it knows of */
  gint64 pause_us;              /* until the next one */
  gboolean said;

  HvLock lock;                  /* for all below; after `writing` where both are held */
  HvCond changed;
  GstHipVmafResults *results;
  HvAggregates *aggregates;
  GString *pending;             /* frames that are not in the file */
  gint64 begin_us, last_us;     /* when measuring began, when the last frame came */
  guint64 frames, lost;
  gboolean incomplete;          /* more is known than the last document holds */
  gboolean failing;             /* the last attempt to write came to nothing */
  gboolean behind;              /* more is known than was completed */
  gboolean closed;
};

/* The disk */

static void
set_error (GError ** error, int code)
{
  g_set_error_literal (error, G_FILE_ERROR, g_file_error_from_errno (code),
      g_strerror (code));
}

static gboolean
write_all (int fd, const gchar * data, gsize size, GError ** error)
{
  while (size > 0) {
    gssize n = write (fd, data, size);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      set_error (error, errno);
      return FALSE;
    }
    data += n;
    size -= n;
  }
  return TRUE;
}

static gboolean
copy (int from, goffset offset, goffset size, int to, GError ** error)
{
  gsize room = 256 * 1024;
  gchar *buffer = g_malloc (room);
  gboolean ok = TRUE;

  while (ok && size > 0) {
    gssize n = pread (from, buffer, MIN ((goffset) room, size), offset);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      set_error (error, n < 0 ? errno : EIO);   /* somebody cut it short */
      ok = FALSE;
      break;
    }
    ok = write_all (to, buffer, n, error);
    offset += n;
    size -= n;
  }
  g_free (buffer);
  return ok;
}

/* A new file beside the one that it will be renamed to; its name is the caller's. */
static int
open_temporary (GstHipVmafResultsFile * file, gchar ** name, GError ** error)
{
  gchar *folder = file->in_place ? g_strdup (g_get_tmp_dir ())
      : g_path_get_dirname (file->path);
  GStatBuf old;
  int fd;

  *name = g_build_filename (folder, ".hipvmaf-XXXXXX", NULL);
  g_free (folder);
  fd = g_mkstemp_full (*name, O_RDWR | O_CLOEXEC, file->in_place ? 0600 : 0666);
  if (fd < 0)
    set_error (error, errno);
  else if (!file->in_place && g_stat (file->path, &old) == 0
      && fchmod (fd, old.st_mode & 07777) != 0)
    g_debug ("mode of %s: %s", *name, g_strerror (errno));
  return fd;
}

/* A reader that went away is an error of ours, not the end of the process. */
static gboolean
copy_to_pipe (int from, goffset size, int to, GError ** error)
{
  const struct timespec now = { 0 };
  sigset_t pipe, pending, before;
  gboolean ok;

  sigemptyset (&pipe);
  sigaddset (&pipe, SIGPIPE);
  sigpending (&pending);
  pthread_sigmask (SIG_BLOCK, &pipe, &before);
  ok = copy (from, 0, size, to, error);
  if (!ok && !sigismember (&pending, SIGPIPE))
    while (sigtimedwait (&pipe, NULL, &now) < 0 && errno == EINTR);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return ok;
}

static gboolean
write_in_place (GstHipVmafResultsFile * file, int fd, goffset size,
    GError ** error)
{
  gboolean ok;
  int target;

  if (file->target >= 0)
    return copy_to_pipe (fd, size, file->target, error);
  target = g_open (file->path, O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
  if (target < 0) {
    set_error (error, errno);
    return FALSE;
  }
  ok = copy (fd, 0, size, target, error);
  if (close (target) != 0 && ok) {
    set_error (error, errno);
    ok = FALSE;
  }
  return ok;
}

/* Puts the document in `fd`, named `name`, where it belongs. */
static gboolean
publish (GstHipVmafResultsFile * file, int fd, const gchar * name,
    goffset size, gboolean complete, GError ** error)
{
  if (!file->in_place) {
    if (complete && fsync (fd) != 0) {
      set_error (error, errno);
      return FALSE;
    }
    if (g_rename (name, file->path) == 0)
      return TRUE;
    if (errno != EBUSY) {
      set_error (error, errno);
      return FALSE;
    }
    file->in_place = TRUE;      /* a mount point: a single file that a container was given */
  }
  g_unlink (name);
  return !complete || write_in_place (file, fd, size, error);
}

typedef struct
{
  GString *head, *frames, *tail;
  guint columns;
} Parts;

/* Everything that is known now, but for the frames that the last document holds. */
static Parts
take_parts (GstHipVmafResultsFile * file)
{
  Parts parts = {.head = g_string_new (NULL),.tail = g_string_new (NULL) };
  gdouble fps;

  hv_lock (&file->lock);
  fps = file->frames * (gdouble) G_USEC_PER_SEC
      / (file->last_us - file->begin_us);
  gst_hip_vmaf_results_head (file->results, fps, parts.head);
  parts.frames = file->pending;
  file->pending = g_string_new (NULL);
  parts.columns = gst_hip_vmaf_results_columns (file->results);
  gst_hip_vmaf_results_tail (file->results, file->aggregates, parts.tail);
  file->incomplete = FALSE;
  hv_unlock (&file->lock);
  return parts;
}

static void
put_back (GstHipVmafResultsFile * file, Parts * parts)
{
  hv_lock (&file->lock);
  g_string_append_len (parts->frames, file->pending->str, file->pending->len);
  g_string_free (file->pending, TRUE);
  file->pending = parts->frames;
  parts->frames = NULL;
  file->incomplete = file->failing = TRUE;
  hv_unlock (&file->lock);
}

static void
set_written (GstHipVmafResultsFile * file, gboolean complete)
{
  hv_lock (&file->lock);
  file->failing = FALSE;
  if (complete)
    file->behind = file->incomplete;    /* since then */
  hv_unlock (&file->lock);
}

static gboolean
write_parts (GstHipVmafResultsFile * file, const Parts * parts,
    gboolean complete, GError ** error)
{
  goffset before = file->frames_size;
  gchar *name;
  int fd = open_temporary (file, &name, error);
  gboolean ok = fd >= 0
      && write_all (fd, parts->head->str, parts->head->len, error)
      && copy (file->fd, file->frames_at, before, fd, error)
      && write_all (fd, parts->frames->str, parts->frames->len, error)
      && write_all (fd, parts->tail->str, parts->tail->len, error)
      && publish (file, fd, name, parts->head->len + before
      + parts->frames->len + parts->tail->len, complete, error);

  if (ok) {
    if (file->fd >= 0)
      close (file->fd);
    file->fd = fd;
    file->frames_at = parts->head->len;
    file->frames_size = before + parts->frames->len;
    file->columns = parts->columns;
  } else if (fd >= 0) {
    g_unlink (name);
    close (fd);
  }
  g_free (name);
  return ok;
}

static gboolean
write_at (int fd, goffset offset, const GString * text)
{
  return lseek (fd, offset, SEEK_SET) == offset
      && write_all (fd, text->str, text->len, NULL)
      && ftruncate (fd, offset + text->len) == 0;
}

/* The disk has no room for a second copy, but may have it for what is new: that goes where the tail
 * was. For this moment the file is not whole; where that fails, too, it gets back its tail. */
static gboolean
append_parts (GstHipVmafResultsFile * file, const Parts * parts,
    const GError * why)
{
  goffset end = file->frames_at + file->frames_size;
  GString *text, *tail;
  gboolean ok = FALSE;

  if (!g_error_matches (why, G_FILE_ERROR, G_FILE_ERROR_NOSPC)
      || file->fd < 0 || file->in_place || file->columns != parts->columns)
    return FALSE;
  text = g_string_new_len (parts->frames->str, parts->frames->len);
  g_string_append_len (text, parts->tail->str, parts->tail->len);
  tail = g_string_new (NULL);
  g_string_set_size (tail, lseek (file->fd, 0, SEEK_END) - end);
  if (pread (file->fd, tail->str, tail->len, end) == (gssize) tail->len) {
    ok = write_at (file->fd, end, text);
    if (!ok && !write_at (file->fd, end, tail))
      g_warning ("%s has lost its end: %s", file->path, g_strerror (errno));
  }
  if (ok)
    file->frames_size += parts->frames->len;
  g_string_free (text, TRUE);
  g_string_free (tail, TRUE);
  return ok;
}

static void
update (GstHipVmafResultsFile * file, gboolean complete)
{
  gint64 begin = g_get_monotonic_time ();
  GError *error = NULL;
  Parts parts;

  hv_lock (&file->writing);
  parts = take_parts (file);
  if (write_parts (file, &parts, complete, &error)
      || append_parts (file, &parts, error)) {
    set_written (file, complete);
  } else {
    put_back (file, &parts);
    if (!file->said)
      file->failed (file->user, error);
    file->said = TRUE;
  }
  g_clear_error (&error);
  g_string_free (parts.head, TRUE);
  g_string_free (parts.tail, TRUE);
  if (parts.frames != NULL)
    g_string_free (parts.frames, TRUE);
  file->pause_us = MIN ((g_get_monotonic_time () - begin) * COST_SHARE,
      file->frames_size);
  hv_unlock (&file->writing);
}

/* Whether the thread has something to do at once. Under the lock. */
static gboolean
is_due (GstHipVmafResultsFile * file)
{
  return file->closed || (!file->failing && file->pending->len > MAX_PENDING);
}

/* The thread: waits for something to write, then until it is time to. */
static void *
keep_up_to_date (void *data)
{
  GstHipVmafResultsFile *file = data;
  gint64 pause = 0;

  hv_lock (&file->lock);
  while (!file->closed) {
    gint64 until = g_get_monotonic_time () + MAX (UPDATE_US, pause);

    if (!file->incomplete) {
      hv_cond_wait (&file->changed, &file->lock);
      continue;
    }
    while (!is_due (file) && hv_cond_wait_until (&file->changed, &file->lock,
            until));
    if (file->closed)
      break;
    hv_unlock (&file->lock);
    update (file, FALSE);
    hv_lock (&file->writing);
    pause = file->pause_us;
    hv_unlock (&file->writing);
    hv_lock (&file->lock);
  }
  hv_unlock (&file->lock);
  return NULL;
}

/* The start */

/* What a descriptor leads to is left where it is, also where that happens to be a file. */
static gboolean
is_special (const gchar * path)
{
  GStatBuf info;

  return g_str_has_prefix (path, "/dev/fd/")
      || g_str_has_prefix (path, "/dev/std") || g_str_has_prefix (path,
      "/proc/") || (g_stat (path, &info) == 0 && !S_ISREG (info.st_mode)
      && !S_ISDIR (info.st_mode));
}

/* A file that is not there yet, in a folder that is. */
static gchar *
resolve_new (const gchar * path, GError ** error)
{
  gchar *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  gchar *real = realpath (folder, NULL), *file = NULL;

  if (real == NULL)
    set_error (error, errno);
  else
    file = g_build_filename (real, name, NULL);
  free (real);
  g_free (folder);
  g_free (name);
  return file;
}

/* Where a link leads to, seen from its folder. */
static gchar *
follow (const gchar * path, const gchar * link)
{
  gchar *folder = g_path_get_dirname (path);
  gchar *target = g_path_is_absolute (link) ? g_strdup (link)
      : g_build_filename (folder, link, NULL);

  g_free (folder);
  return target;
}

/* The path without links, as the system resolves it: also of a file that is not there yet, or of a
 * link to one. NULL and an error if there can be none. */
static gchar *
resolve (const gchar * path, GError ** error)
{
  gchar *at = g_strdup (path), *found = NULL;

  for (;;) {
    gchar *real = realpath (at, NULL), *link;

    if (real != NULL) {
      found = g_strdup (real);
      free (real);
      break;
    }
    if (errno != ENOENT) {
      set_error (error, errno); /* links in a ring, too */
      break;
    }
    link = g_file_read_link (at, NULL);
    if (link == NULL) {
      found = resolve_new (at, error);
      break;
    }
    real = follow (at, link);
    g_free (at);
    g_free (link);
    at = real;
  }
  g_free (at);
  return found;
}

/* A pipe that nobody reads would hold up whoever opens it: that is an error (ENXIO). */
static gboolean
open_special (GstHipVmafResultsFile * file, GError ** error)
{
  file->in_place = TRUE;
  file->target = g_open (file->path,
      O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (file->target < 0 || fcntl (file->target, F_SETFL, O_APPEND) != 0) {
    set_error (error, errno);
    return FALSE;
  }
  return TRUE;
}

static gboolean
try_temporary (GstHipVmafResultsFile * file, GError ** error)
{
  gchar *name;
  int fd = open_temporary (file, &name, error);

  if (fd >= 0) {
    close (fd);
    g_unlink (name);
  }
  g_free (name);
  return fd >= 0;
}

/* Whether the path can be written to, and how. */
static gboolean
open_path (GstHipVmafResultsFile * file, const gchar * path, GError ** error)
{
  gchar *absolute = g_canonicalize_filename (path, NULL);
  gboolean special = is_special (absolute), there;

  file->path = special ? g_strdup (absolute) : resolve (path, error);
  g_free (absolute);
  if (file->path == NULL)
    return FALSE;
  if (special || is_special (file->path))
    return open_special (file, error) && try_temporary (file, error);
  there = g_file_test (file->path, G_FILE_TEST_EXISTS);
  if (g_file_test (file->path, G_FILE_TEST_IS_DIR)) {
    set_error (error, EISDIR);
    return FALSE;
  }
  if (there && faccessat (AT_FDCWD, file->path, W_OK, AT_EACCESS) != 0) {
    set_error (error, errno);
    return FALSE;
  }
  if (try_temporary (file, there ? NULL : error))
    return TRUE;
  file->in_place = there;       /* only the file itself may be written to */
  return there && try_temporary (file, error);
}

GstHipVmafResultsFile *
gst_hip_vmaf_results_file_new (const gchar * path,
    GstHipVmafResultsFormat format, guint precision,
    GstHipVmafResultsFailed failed, gpointer user, GError ** error)
{
  GstHipVmafResultsFile *file = g_new0 (GstHipVmafResultsFile, 1);

  file->fd = file->target = -1;
  file->failed = failed;
  file->user = user;
  file->results = gst_hip_vmaf_results_new (format, precision);
  file->pending = g_string_new (NULL);
  file->closed = TRUE;          /* until there is a thread */
  hv_lock_init (&file->writing);
  hv_lock_init (&file->lock);
  hv_cond_init (&file->changed);
  if (open_path (file, path, error)) {
    file->closed = FALSE;
    if (hv_thread_start (&file->thread, "hipvmaf-results", keep_up_to_date,
            file, error))
      return file;
    file->closed = TRUE;
  }
  gst_hip_vmaf_results_file_free (file);
  return NULL;
}

/* The stream */

void
gst_hip_vmaf_results_file_set_aggregates (GstHipVmafResultsFile * file,
    HvAggregates * aggregates)
{
  hv_lock (&file->lock);
  file->aggregates = aggregates;
  hv_unlock (&file->lock);
}

void
gst_hip_vmaf_results_file_begin (GstHipVmafResultsFile * file,
    const gchar * const *names, guint n, guint width, guint height)
{
  hv_lock (&file->lock);
  gst_hip_vmaf_results_begin (file->results, names, n, width, height);
  if (file->begin_us == 0)
    file->begin_us = g_get_monotonic_time ();
  hv_unlock (&file->lock);
}

void
gst_hip_vmaf_results_file_add (GstHipVmafResultsFile * file, gint index,
    const gdouble * scores)
{
  gsize before;

  hv_lock (&file->lock);
  if (!file->closed) {
    before = file->pending->len;
    gst_hip_vmaf_results_add (file->results, index, scores, file->pending);
    if (file->failing && file->pending->len > MAX_PENDING) {
      g_string_truncate (file->pending, before);
      file->lost++;
    }
    file->frames++;
    file->last_us = g_get_monotonic_time ();
    if (!file->incomplete || is_due (file))
      hv_cond_broadcast (&file->changed);
    file->incomplete = file->behind = TRUE;
  }
  hv_unlock (&file->lock);
}

static void
say_lost (GstHipVmafResultsFile * file)
{
  GError *error;

  if (file->lost == 0)
    return;
  error = g_error_new (G_FILE_ERROR, G_FILE_ERROR_NOSPC,
      "%" G_GUINT64_FORMAT " frames are missing in it", file->lost);
  file->failed (file->user, error);
  g_error_free (error);
}

void
gst_hip_vmaf_results_file_complete (GstHipVmafResultsFile * file)
{
  gboolean behind;

  hv_lock (&file->lock);
  behind = file->behind;
  hv_unlock (&file->lock);
  if (behind)
    update (file, TRUE);
}

/* TRUE if that was to be done. */
static gboolean
end_thread (GstHipVmafResultsFile * file)
{
  gboolean running;

  hv_lock (&file->lock);
  running = !file->closed;
  file->closed = TRUE;
  hv_cond_broadcast (&file->changed);
  hv_unlock (&file->lock);
  if (running)
    pthread_join (file->thread, NULL);
  return running;
}

void
gst_hip_vmaf_results_file_close (GstHipVmafResultsFile * file)
{
  if (!end_thread (file))
    return;
  gst_hip_vmaf_results_file_complete (file);
  say_lost (file);
}

void
gst_hip_vmaf_results_file_free (GstHipVmafResultsFile * file)
{
  if (file == NULL)
    return;
  end_thread (file);
  if (file->fd >= 0)
    close (file->fd);
  if (file->target >= 0)
    close (file->target);
  gst_hip_vmaf_results_free (file->results);
  g_string_free (file->pending, TRUE);
  hv_cond_clear (&file->changed);
  hv_lock_clear (&file->lock);
  hv_lock_clear (&file->writing);
  g_free (file->path);
  g_free (file);
}
