/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Processor levels: each hot loop is one C file, compiled once for each level that the build
 * supports, and chosen here at run time. */
#ifndef HV_LEVEL_H
#define HV_LEVEL_H

#include <glib.h>

/* x86-64 psABI levels; elsewhere only the baseline exists. */
typedef enum HvLevel { HV_LEVEL_BASELINE, HV_LEVEL_V3, HV_LEVEL_V4, HV_N_LEVELS } HvLevel;

/* The highest level that this build has and this processor runs. HIPVMAF_CPU_LEVEL (baseline, v3,
 * v4) lowers it, for tests and for comparing; read at every call. Another value is ignored, with
 * one message. From any thread. */
HvLevel hv_level(void);
const char *hv_level_name(HvLevel level);

#endif
