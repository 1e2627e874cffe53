/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two functions are taken from the linker's hands: the one that gets the integer sums, to see them,
 * and the allocation of scratch memory, to fill it. */
#include "adm_measure.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/cpu/slices.h"

#define MOST_THREADS 3

static HvSlices *slices[MOST_THREADS + 1];
static HvAdmSums seen[HV_ADM_SCALES];
static int scratch_fill;

void __real_hv_adm_deliver(const HvAdmPlan *plan, const HvAdmSums *sums, HvScores *scores);
void __wrap_hv_adm_deliver(const HvAdmPlan *plan, const HvAdmSums *sums, HvScores *scores);
gpointer __real_g_try_malloc0(gsize bytes);
gpointer __wrap_g_try_malloc0(gsize bytes);

void __wrap_hv_adm_deliver(const HvAdmPlan *plan, const HvAdmSums *sums, HvScores *scores)
{
    memcpy(seen, sums, sizeof seen);
    __real_hv_adm_deliver(plan, sums, scores);
}

gpointer __wrap_g_try_malloc0(gsize bytes)
{
    guint8 *memory = __real_g_try_malloc0(bytes);
    uint64_t state = 1;
    for (gsize i = 0; memory && scratch_fill && i < bytes; i++)
        memory[i] = scratch_fill < 256 ? (guint8)scratch_fill : (guint8)clip_random(&state);
    return memory;
}

const int64_t *adm_sums(void)
{
    return (const int64_t *)seen;
}

HvAdmParams adm_params(const char *options)
{
    HvAdmParams params;
    GError *error = NULL;
    hv_options_init(hv_adm_info.options, &params);
    hv_options_parse(hv_adm_info.options, "adm", options, &params, &error);
    g_assert_no_error(error);
    hv_adm_info.validate(&params, NULL, &error);
    g_assert_no_error(error);
    params.debug = TRUE;
    return params;
}

static void set_level(HvLevel level)
{
    g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(level), TRUE);
}

gboolean adm_has_level(HvLevel level)
{
    set_level(level);
    return hv_level() == level;
}

static HvSlices *find_slices(unsigned threads)
{
    GError *error = NULL;
    threads = MAX(threads, 1);
    g_assert_cmpuint(threads, <=, MOST_THREADS);
    if (!slices[threads])
        slices[threads] = hv_slices_new(threads, &error);
    g_assert_no_error(error);
    return slices[threads];
}

void adm_measure_end(void)
{
    for (unsigned threads = 1; threads <= MOST_THREADS; threads++)
        g_clear_pointer(&slices[threads], hv_slices_free);
}

void adm_collect(const HvMetricOps *ops, HvMetric *metric, const HvSubject *subject,
                 AdmResult *result)
{
    HvScores scores = {result->score, NULL};
    GError *error = NULL;
    ops->collect(metric, subject, &scores, &error);
    g_assert_no_error(error);
    memcpy(result->sums, seen, sizeof seen);
}

static void collect(HvMetric *metric, const HvPicture *reference, const HvPicture *distorted,
                    AdmResult *result)
{
    HvSubject subject = {reference, distorted, 0};
    adm_collect(&hv_adm_cpu_ops, metric, &subject, result);
}

/* Leaves what extremes leave in the instance's memory. */
static void collect_extremes(HvMetric *metric, const HvFormat *format)
{
    Layout plain = {0};
    gpointer memory[CLIP_PICTURES];
    HvPicture picture[CLIP_PICTURES];
    AdmResult ignored;
    Clip clip = clip_new(CLIP_EXTREME, format->width, format->height, format->depth, 99);
    for (int p = 0; p < CLIP_PICTURES; p++)
        picture[p] = clip_lay_out(&clip, p, &plain, &memory[p]);
    collect(metric, &picture[0], &picture[1], &ignored);
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(memory[p]);
    clip_free(&clip);
}

AdmResult adm_measure(const HvAdmParams *params, const HvFormat *format, const HvPicture *reference,
                      const HvPicture *distorted, AdmHow how)
{
    AdmResult result = {0};
    GError *error = NULL;
    HvMetricSetup setup = {format, params, find_slices(how.threads), NULL};
    set_level(how.level);
    scratch_fill = how.fill;
    HvMetric *metric = hv_adm_cpu_ops.create(&setup, &error);
    scratch_fill = 0;
    g_assert_no_error(error);
    if (how.used)
        collect_extremes(metric, format);
    collect(metric, reference, distorted, &result);
    hv_adm_cpu_ops.destroy(metric);
    return result;
}

AdmResult adm_measure_clip(const HvAdmParams *params, const Clip *clip, AdmHow how)
{
    Layout plain = {0};
    gpointer memory[CLIP_PICTURES];
    HvPicture picture[CLIP_PICTURES];
    for (int p = 0; p < CLIP_PICTURES; p++)
        picture[p] = clip_lay_out(clip, p, &plain, &memory[p]);
    AdmResult result = adm_measure(params, &clip->format, &picture[0], &picture[1], how);
    for (int p = 0; p < CLIP_PICTURES; p++)
        g_free(memory[p]);
    return result;
}

static void describe(const AdmResult *a, const AdmResult *b, GString *text)
{
    for (int scale = 0; scale < HV_ADM_SCALES; scale++)
        for (int angle = 0; angle < HV_ADM_ANGLES; angle++) {
            const HvAdmSums *x = &a->sums[scale], *y = &b->sums[scale];
            if (x->reference[angle] != y->reference[angle] ||
                x->restored[angle] != y->restored[angle] ||
                x->additive[angle] != y->additive[angle])
                g_string_append_printf(
                    text,
                    "; scale %d band %d: reference %" PRIu64 " %" PRIu64 ", restored %" PRId64
                    " %" PRId64 ", additive %" PRId64 " %" PRId64,
                    scale, angle, x->reference[angle], y->reference[angle], x->restored[angle],
                    y->restored[angle], x->additive[angle], y->additive[angle]);
        }
    for (int i = 0; i < ADM_SCORES; i++)
        if (memcmp(&a->score[i], &b->score[i], sizeof(double)))
            g_string_append_printf(text, "; score %d: %.17g %.17g", i, a->score[i], b->score[i]);
}

void adm_assert_same(const AdmResult *a, const AdmResult *b, const char *format, ...)
{
    if (!memcmp(a->sums, b->sums, sizeof a->sums) && !memcmp(a->score, b->score, sizeof a->score))
        return;
    GString *text = g_string_new(NULL);
    va_list args;
    va_start(args, format);
    g_string_append_vprintf(text, format, args);
    va_end(args);
    describe(a, b, text);
    g_error("%s", text->str);
}
