/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The processor level: never above the processor's, lowered by the environment. */
#include <string.h>

#include "kernels/cpu/level.h"

static void test_names(void)
{
    g_assert_cmpstr(hv_level_name(HV_LEVEL_BASELINE), ==, "baseline");
    g_assert_cmpstr(hv_level_name(HV_LEVEL_V3), ==, "v3");
    g_assert_cmpstr(hv_level_name(HV_LEVEL_V4), ==, "v4");
    g_assert_cmpstr(hv_level_name(HV_LEVEL_VNNI), ==, "vnni");
}

/* What Linux says of the processor: it lists a feature only where it saves its registers. */
static gboolean cpu_has(const char *const *features)
{
    char *info = NULL, *line;
    if (!g_file_get_contents("/proc/cpuinfo", &info, NULL, NULL) ||
        !(line = strstr(info, "\nflags"))) {
        g_free(info);
        return FALSE;
    }
    char *flags = g_strndup(line + 1, strcspn(line + 1, "\n"));
    char **words = g_strsplit(flags, " ", -1);
    gboolean all = TRUE;
    for (; *features; features++)
        all &= g_strv_contains((const char *const *)words, *features);
    g_strfreev(words);
    g_free(flags);
    g_free(info);
    return all;
}

static HvLevel level_of_cpu(void)
{
    static const char *const v3[] = {"ssse3", "sse4_2", "popcnt", "cx16", "lahf_lm", "avx2", "bmi1",
                                     "bmi2",  "f16c",   "fma",    "abm",  "movbe",   NULL};
    static const char *const v4[] = {"avx512f",  "avx512bw", "avx512cd",
                                     "avx512dq", "avx512vl", NULL};
    static const char *const vnni[] = {"avx512_vnni", NULL};
    if (!cpu_has(v4))
        return cpu_has(v3) ? HV_LEVEL_V3 : HV_LEVEL_BASELINE;
    return cpu_has(vnni) ? HV_LEVEL_VNNI : HV_LEVEL_V4;
}

static void test_processor(void)
{
    HvLevel built = HV_LEVEL_BASELINE;
#ifdef HV_HAVE_LEVEL_V3
    built = HV_LEVEL_V3;
#endif
#ifdef HV_HAVE_LEVEL_V4
    built = HV_LEVEL_V4;
#endif
#ifdef HV_HAVE_LEVEL_VNNI
    built = HV_LEVEL_VNNI;
#endif
    g_unsetenv("HIPVMAF_CPU_LEVEL");
    g_assert_cmpint(hv_level(), ==, MIN(built, level_of_cpu()));
}

static void test_environment(void)
{
    g_unsetenv("HIPVMAF_CPU_LEVEL");
    HvLevel top = hv_level();
    for (HvLevel level = HV_LEVEL_BASELINE; level < HV_N_LEVELS; level++) {
        g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(level), TRUE);
        g_assert_cmpint(hv_level(), ==, MIN(level, top));
    }
    g_setenv("HIPVMAF_CPU_LEVEL", "", TRUE);
    g_assert_cmpint(hv_level(), ==, top);
}

/* Said once; and no warning, which would end a program that has made warnings fatal. */
static void test_unknown(void)
{
    g_unsetenv("HIPVMAF_CPU_LEVEL");
    HvLevel top = hv_level();
    g_setenv("HIPVMAF_CPU_LEVEL", "v5", TRUE);
    g_test_expect_message(NULL, G_LOG_LEVEL_MESSAGE,
                          "HIPVMAF_CPU_LEVEL=v5 is ignored: it takes baseline, v3, v4 or vnni");
    g_assert_cmpint(hv_level(), ==, top);
    g_test_assert_expected_messages();
    g_test_expect_message(NULL, G_LOG_LEVEL_MESSAGE, "a second one would be the first to come");
    g_assert_cmpint(hv_level(), ==, top);
    g_message("a second one would be the first to come");
    g_test_assert_expected_messages();
    g_unsetenv("HIPVMAF_CPU_LEVEL");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/level/names", test_names);
    g_test_add_func("/level/processor", test_processor);
    g_test_add_func("/level/environment", test_environment);
    g_test_add_func("/level/unknown", test_unknown);
    return g_test_run();
}
