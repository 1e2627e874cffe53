/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Processor levels: each hot loop is one C file, compiled once for each level that the build
 * supports, and chosen here at run time. */
#ifndef HV_LEVEL_H
#define HV_LEVEL_H

#include <glib.h>

/* x86-64 psABI levels, and the highest with AVX512-VNNI, which adds products to a sum at once;
 * elsewhere only the baseline exists. */
typedef enum HvLevel {
    HV_LEVEL_BASELINE,
    HV_LEVEL_V3,
    HV_LEVEL_V4,
    HV_LEVEL_VNNI,
    HV_N_LEVELS
} HvLevel;

/* The highest level that this build has and this processor runs. HIPVMAF_CPU_LEVEL (baseline, v3,
 * v4, vnni) lowers it, for tests and for comparing; read at every call. Another value is ignored,
 * with one message. From any thread. */
HvLevel hv_level(void);
const char *hv_level_name(HvLevel level);

/* In a hot file: the name of one of its functions at the level that it is compiled for. */
#define HV_JOIN_NAMES(a, b) a##_##b
#define HV_JOIN(a, b)       HV_JOIN_NAMES(a, b)
#define HV_HOT(name)        HV_JOIN(name, HV_LEVEL)

/* Initialises an array of HV_N_LEVELS functions, by level; NULL for those that are not built, which
 * hv_level() never gives. */
#ifdef HV_HAVE_LEVEL_V3
#define HV_AT_V3(name) name##_v3
#else
#define HV_AT_V3(name) NULL
#endif
#ifdef HV_HAVE_LEVEL_V4
#define HV_AT_V4(name) name##_v4
#else
#define HV_AT_V4(name) NULL
#endif
#ifdef HV_HAVE_LEVEL_VNNI
#define HV_AT_VNNI(name) name##_vnni
#else
#define HV_AT_VNNI(name) NULL
#endif
#define HV_AT_LEVELS(name)                                                                         \
    {                                                                                              \
        name##_baseline, HV_AT_V3(name), HV_AT_V4(name), HV_AT_VNNI(name)                          \
    }

#endif
