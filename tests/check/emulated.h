/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rigs whose GPU is the emulator in HIPVMAF_RUNTIME. */
#ifndef CHECK_EMULATED_H
#define CHECK_EMULATED_H

#include "common.h"

#define TIMES "0 40 80 120 160 200 240"
#define N_PAIRS 7
/* Motion's scores look ahead; with the longer window the CPU needs two pairs to take over. */
#define FEATURES "adm=debug=true,motion=debug=true," \
    "motion=debug=true:motion_five_frame_window=true"

/* What HIPVMAF_RUNTIME was when the program began, and the emulator's own controls. */
extern const gchar *emulator;
extern void (*emu_fail) (const gchar * spec);
extern gulong (*emu_calls) (const gchar * name);
extern guint (*emu_leaks) (void);

/* Each test begins with nothing made to fail. */
void emulated_add_fixture (TCase * tcase);

/* A rig whose reference moves. */
Rig *rig_on (const gchar * backend, const gchar * features);
/* That has played TIMES on both pads. */
Rig *play (const gchar * backend, const gchar * fields);

/* A string of `stats`, or of one of the structures in it. Free it. */
gchar *stat_text (Rig * rig, const gchar * inside, const gchar * field);
void expect_stat (Rig * rig, const gchar * inside, const gchar * field,
    const gchar * expected);
/* Part of "gpu-status". */
void expect_status (Rig * rig, const gchar * part);
/* No error and no warning. */
void expect_silence (Rig * rig);

#endif
