/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which processor level to use. */
#include "level.h"

#include <stdatomic.h>
#include <string.h>

static const char *const names[HV_N_LEVELS] = {"baseline", "v3", "v4", "vnni"};

const char *hv_level_name(HvLevel level)
{
    return names[level];
}

/* The builtins check all features of the level, and that the operating system saves the registers
 * that it adds. */
static HvLevel highest(void)
{
#ifdef HV_HAVE_LEVEL_VNNI
    if (__builtin_cpu_supports("x86-64-v4") && __builtin_cpu_supports("avx512vnni"))
        return HV_LEVEL_VNNI;
#endif
#ifdef HV_HAVE_LEVEL_V4
    if (__builtin_cpu_supports("x86-64-v4"))
        return HV_LEVEL_V4;
#endif
#ifdef HV_HAVE_LEVEL_V3
    if (__builtin_cpu_supports("x86-64-v3"))
        return HV_LEVEL_V3;
#endif
    return HV_LEVEL_BASELINE;
}

/* The level that the environment asks for; the top one where it asks for none. */
static HvLevel wanted(void)
{
    static atomic_bool said;
    const char *value = g_getenv("HIPVMAF_CPU_LEVEL");
    if (!value || !*value)
        return HV_N_LEVELS - 1;
    for (unsigned i = 0; i < HV_N_LEVELS; i++)
        if (!strcmp(value, names[i]))
            return i;
    if (!atomic_exchange(&said, TRUE))
        g_message("HIPVMAF_CPU_LEVEL=%s is ignored: it takes baseline, v3, v4 or vnni", value);
    return HV_N_LEVELS - 1;
}

HvLevel hv_level(void)
{
    return MIN(highest(), wanted());
}
