/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rigs whose GPU is the emulator: see emulated.h. */
#include "emulated.h"

#include <dlfcn.h>

const gchar *emulator;

void (*emu_fail) (const gchar * spec);
gulong (*emu_calls) (const gchar * name);
guint (*emu_leaks) (void);

static void
setup (void)
{
  gpointer library = dlopen (emulator, RTLD_NOW);

  fail_unless (library != NULL, "%s", dlerror ());
  *(gpointer *) & emu_fail = dlsym (library, "emu_fail");
  *(gpointer *) & emu_calls = dlsym (library, "emu_calls");
  *(gpointer *) & emu_leaks = dlsym (library, "emu_leaks");
  fail_unless (emu_fail != NULL && emu_calls != NULL && emu_leaks != NULL);
  g_setenv ("HIPVMAF_RUNTIME", emulator, TRUE);
  g_unsetenv ("VMAF_HIP_DISPATCH");
  g_unsetenv ("CHECK_BACKEND");
  emu_fail (NULL);
}

void
emulated_add_fixture (TCase * tcase)
{
  emulator = g_strdup (g_getenv ("HIPVMAF_RUNTIME"));
  tcase_add_checked_fixture (tcase, setup, NULL);
}

Rig *
rig_on (const gchar * backend, const gchar * features)
{
  Rig *rig = rig_new ("features", features, NULL);

  rig->ref.fixed_picture = FALSE;
  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", backend);
  return rig;
}

Rig *
play (const gchar * backend, const gchar * fields)
{
  Rig *rig = rig_on (backend, FEATURES);

  rig_start_streams (rig, fields);
  rig_play (rig, TIMES, TIMES);
  return rig;
}

gchar *
stat_text (Rig * rig, const gchar * inside, const gchar * field)
{
  GstStructure *stats, *structure = NULL;
  gchar *text;

  g_object_get (rig->element, "stats", &stats, NULL);
  if (inside != NULL)
    gst_structure_get (stats, inside, GST_TYPE_STRUCTURE, &structure, NULL);
  text = g_strdup (gst_structure_get_string (inside ? structure : stats,
          field));
  g_clear_pointer (&structure, gst_structure_free);
  gst_structure_free (stats);
  return text;
}

void
expect_stat (Rig * rig, const gchar * inside, const gchar * field,
    const gchar * expected)
{
  gchar *text = stat_text (rig, inside, field);

  fail_unless (g_strcmp0 (text, expected) == 0, "%s is %s, not %s", field,
      text, expected);
  g_free (text);
}

void
expect_status (Rig * rig, const gchar * part)
{
  gchar *text = stat_text (rig, NULL, "gpu-status");

  fail_unless (text != NULL && strstr (text, part) != NULL,
      "\"%s\" is not in \"%s\"", part, text);
  g_free (text);
}

void
expect_silence (Rig * rig)
{
  fail_unless_equals_int (rig_count (rig, ERROR_MESSAGE), 0);
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 0);
}
