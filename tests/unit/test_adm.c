/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * ADM gives the same bits at every processor level and number of threads, those of the plain model
 * (adm_model.c) and, on clips that libvmaf can measure, those of libvmaf; its limits and names. */
#include <math.h>
#include <string.h>

#include "adm_golden.h"
#include "adm_measure.h"
#include "adm_model.h"

#define V1                                                                                         \
    "adm_csf_mode=2:adm_dlm_weight=0.7:adm_enhn_gain_limit=1:adm_noise_weight=0.02:"               \
    "adm_min_val=0.5:adm_norm_view_dist="

static const char *const option_sets[] = {
    "",
    "egl=1",
    "egl=1.2",
    "egl=2.5",
    "egl=2",
    "csf=1",
    "csf=1:scf=50:scfd=50",
    "csf=1:scf=0.03:scfd=0.02",
    "csf=1:scf=0.0208:scfd=0.006:egl=1",
    "csf=1:scf=0:scfd=0",
    "csf=2",
    "csf=3:nvd=5",
    "csf=3:nvd=5:rdh=2160:egl=1",
    "csf=2:nvd=5:rdh=720:dlmw=1",
    V1 "3",
    V1 "5",
    V1 "1.5:rdh=2160",
    "adm_skip_aim=true",
    "adm_skip_scale0=true",
    "adm_skip_scale0=true:adm_skip_aim=true:nw=0",
    "nw=0",
    "nw=1500",
    "nvd=24:rdh=4320",
    "nvd=0.75:rdh=4320:dlmw=0",
    "nvd=7.3:min=0.9",
};

/* Every level and number of threads against the baseline with one thread. */
static void assert_all_agree(const Clip *clip, const char *options)
{
    HvAdmParams params = adm_params(options);
    AdmResult first = adm_measure_clip(&params, clip, (AdmHow){HV_LEVEL_BASELINE});
    for (HvLevel level = 0; level < HV_N_LEVELS; level++)
        for (unsigned threads = 1; threads <= 3 && adm_has_level(level); threads++) {
            AdmResult other = adm_measure_clip(&params, clip, (AdmHow){level, threads});
            adm_assert_same(&first, &other, "%s, %u threads: %ux%u, %u bits, \"%s\"",
                            hv_level_name(level), threads, clip->format.width, clip->format.height,
                            clip->format.depth, options);
        }
}

static void assert_kind_agrees(ClipKind kind, unsigned width, unsigned height, unsigned depth,
                               const char *options)
{
    Clip clip = clip_new(kind, width, height, depth, width * 1000 + height);
    assert_all_agree(&clip, options);
    clip_free(&clip);
}

static void test_levels(void)
{
    for (HvLevel level = 0; level < HV_N_LEVELS; level++)
        g_test_message("%s is %s", hv_level_name(level),
                       adm_has_level(level) ? "tested" : "not there");
}

static void test_every_size(void)
{
    for (unsigned width = 16; width <= 80; width++)
        for (unsigned height = 16; height <= 80; height++)
            assert_kind_agrees(CLIP_NOISE, width, height, 8, "");
}

/* Other depths, contents and options meet every width and every height. */
static void test_every_size_mixed(void)
{
    static const unsigned depths[] = {10, 12, 16, 8, 9};
    unsigned n = 0;
    for (unsigned width = 16; width <= 80; width++)
        for (unsigned height = 16 + width % 4; height <= 80; height += 4, n++)
            assert_kind_agrees(n % CLIP_KINDS, width, height, depths[n % G_N_ELEMENTS(depths)],
                               option_sets[n / 3 % G_N_ELEMENTS(option_sets)]);
}

static void test_contents_and_options(void)
{
    for (unsigned o = 0; o < G_N_ELEMENTS(option_sets); o++)
        for (ClipKind kind = 0; kind < CLIP_KINDS; kind++)
            for (unsigned depth = 8; depth <= 16; depth += 4)
                assert_kind_agrees(kind, 77 + o % 5, 71 - o % 7, depth, option_sets[o]);
}

/* Barten's factor of scale 0 in fixed point, before it wraps in 16 bits, for adm_csf_scale 1. */
static double barten_factor0(void)
{
    HvAdmParams params = adm_params("csf=1");
    return ldexp(hv_adm_csf_factor(&params, 0, FALSE), 21);
}

static void format_scale(double factor, char *options, gsize size)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(number, sizeof number, factor / barten_factor0());
    g_snprintf(options, size, "csf=1:scf=%s:scfd=%s", number, number);
}

static uint32_t factor0(const char *options)
{
    HvAdmParams params = adm_params(options);
    HvFormat format = {48, 40, 8, 1, 0, 0};
    HvAdmPlan plan;
    hv_adm_plan_init(&plan, &params, &format);
    return plan.scale[0].i_factor[HV_ADM_HORIZONTAL];
}

static void test_factors_of_all_sizes(void)
{
    char options[100];
    for (double factor = 60; factor < 5e7; factor *= 1.043) {
        format_scale(factor, options, sizeof options);
        assert_kind_agrees(CLIP_EXTREME, 96, 80, 8, options);
        assert_kind_agrees(CLIP_NOISE, 48, 40, 10, options);
    }
}

/* Where a weighted coefficient is -32768, its magnitude does not fit 16 bits. Every coefficient
 * below -16384 comes to that with one of these factors. */
static void test_largest_factors(void)
{
    Clip clip = clip_new(CLIP_EXTREME, 40, 32, 8, 1);
    char options[100];
    for (unsigned factor = 60000; factor < 65536; factor++) {
        format_scale(factor + 0.5, options, sizeof options);
        g_assert_cmpuint(factor0(options), ==, factor);
        HvAdmParams params = adm_params(options);
        AdmResult first = adm_measure_clip(&params, &clip, (AdmHow){HV_LEVEL_BASELINE});
        AdmResult other = adm_measure_clip(&params, &clip, (AdmHow){HV_N_LEVELS - 1});
        adm_assert_same(&first, &other, "factor %u", factor);
    }
    clip_free(&clip);
}

/* High enough for several blocks of rows at scales 0 and 1. */
static void test_many_blocks(void)
{
    for (unsigned height = 81; height <= 430; height += 5)
        assert_kind_agrees(height % CLIP_KINDS, 16 + height % 37, height, height & 1 ? 8 : 10,
                           option_sets[height / 5 % G_N_ELEMENTS(option_sets)]);
}

static void test_larger(void)
{
    static const unsigned size[][2] = {{161, 91}, {333, 217}, {641, 363}, {1001, 34}, {33, 700}};
    for (unsigned i = 0; i < G_N_ELEMENTS(size); i++)
        for (unsigned o = 0; o < 5; o++)
            assert_kind_agrees((i + o * 3) % CLIP_KINDS, size[i][0], size[i][1], o % 2 ? 10 : 8,
                               option_sets[(i * 5 + o) % G_N_ELEMENTS(option_sets)]);
}

/* The extremes of every filter: coefficients as large as they can be. */
static void test_largest_coefficients(void)
{
    static const unsigned depths[] = {8, 10, 12, 16};
    for (unsigned d = 0; d < G_N_ELEMENTS(depths); d++)
        for (unsigned seed = 0; seed < 40; seed++) {
            Clip clip = clip_new(CLIP_EXTREME, 96, 64, depths[d], seed);
            assert_all_agree(&clip, option_sets[seed % G_N_ELEMENTS(option_sets)]);
            clip_free(&clip);
        }
}

static void model_scores(const AdmModel *m, double *score)
{
    *score++ = m->adm2;
    *score++ = m->aim;
    *score++ = m->adm3;
    for (int s = 0; s < HV_ADM_SCALES; s++)
        *score++ = m->scale[s];
    *score++ = m->adm2;
    *score++ = m->num;
    *score++ = m->den;
    for (int s = 0; s < HV_ADM_SCALES; s++) {
        *score++ = m->scale_num[s];
        *score++ = m->scale_den[s];
    }
}

static AdmResult measure_model(const HvAdmParams *p, const Clip *clip)
{
    AdmModel m = {(int)clip->format.width,
                  (int)clip->format.height,
                  (int)clip->format.depth,
                  p->csf_mode,
                  p->ref_display_height,
                  p->skip_aim,
                  p->skip_scale0,
                  p->norm_view_dist,
                  p->csf_scale,
                  p->csf_diag_scale,
                  p->enhn_gain_limit,
                  p->noise_weight,
                  p->dlm_weight,
                  p->min_val};
    AdmResult result = {0};
    for (int s = 0; s < HV_ADM_SCALES && p->csf_mode >= HV_ADM_CSF_BLEND; s++)
        for (int diagonal = 0; diagonal < 2; diagonal++)
            m.factor[s][diagonal] = hv_adm_csf_factor(p, s, diagonal);
    adm_model(&m, clip->sample[0], clip->sample[1]);
    for (int s = 0; s < HV_ADM_SCALES; s++)
        for (int b = 0; b < HV_ADM_ANGLES; b++) {
            result.sums[s].reference[b] = m.reference[s][b];
            result.sums[s].restored[b] = m.restored[s][b];
            result.sums[s].additive[b] = m.additive[s][b];
        }
    model_scores(&m, result.score);
    return result;
}

/* At the baseline and at the highest level; what is skipped has no sums in the model. */
static void assert_as_model(ClipKind kind, unsigned width, unsigned height, unsigned depth,
                            const char *options)
{
    HvAdmParams params = adm_params(options);
    Clip clip = clip_new(kind, width, height, depth, width + 100 * height);
    AdmResult expected = measure_model(&params, &clip);
    for (HvLevel level = 0; level < HV_N_LEVELS; level++) {
        if (!adm_has_level(level))
            continue;
        AdmResult got = adm_measure_clip(&params, &clip, (AdmHow){level, 1 + width % 3});
        adm_assert_same(&expected, &got, "model and %s: %ux%u, %u bits, kind %d, \"%s\"",
                        hv_level_name(level), width, height, depth, kind, options);
    }
    clip_free(&clip);
}

static void test_model_small(void)
{
    for (unsigned width = 16; width <= 40; width++)
        for (unsigned height = 16; height <= 40; height++)
            assert_as_model(CLIP_NOISE, width, height, 8, "");
}

static void test_model_mixed(void)
{
    static const unsigned depths[] = {8, 10, 12, 16};
    unsigned n = 0;
    for (unsigned width = 16; width <= 72; width += 1 + width % 3)
        for (unsigned height = 16; height <= 72; height += 3 + width % 2, n++)
            assert_as_model(n % CLIP_KINDS, width, height, depths[n / 2 % 4],
                            option_sets[n % G_N_ELEMENTS(option_sets)]);
}

static void test_model_larger(void)
{
    for (unsigned o = 0; o < G_N_ELEMENTS(option_sets); o++)
        for (ClipKind kind = 0; kind < CLIP_KINDS; kind++)
            assert_as_model(kind, 97 + 2 * o, 91, 8 + (o + kind) % 9, option_sets[o]);
    assert_as_model(CLIP_BLURRED, 333, 217, 8, "");
    assert_as_model(CLIP_ENHANCED, 640, 363, 10, V1 "3");
}

/* libvmaf prints what is below 1e-6 with 16 decimals. */
static gboolean is_golden(double got, double golden)
{
    if (isnan(golden))
        return isnan(got);
    return fabs(golden) < 1e-6 ? fabs(got - golden) <= 0.5000001e-16 : got == golden;
}

static void test_golden(void)
{
    for (unsigned i = 0; i < adm_n_golden; i++) {
        const AdmGolden *g = &adm_golden[i];
        HvAdmParams params = adm_params(g->options);
        Clip clip = clip_new(g->kind, g->width, g->height, g->depth, g->seed);
        for (HvLevel level = 0; level < HV_N_LEVELS; level++) {
            if (!adm_has_level(level))
                continue;
            AdmResult got = adm_measure_clip(&params, &clip, (AdmHow){level});
            for (int s = 0; s < ADM_SCORES; s++)
                if (!is_golden(got.score[s], g->score[s]))
                    g_error("%ux%u, %u bits, kind %d, \"%s\", score %d at %s: %.17g, not %.17g",
                            g->width, g->height, g->depth, g->kind, g->options, s,
                            hv_level_name(level), got.score[s], g->score[s]);
        }
        clip_free(&clip);
    }
}

/* Above 1080p the denominator of a reference without structure is below the limit that grows with
 * the size, and more than nothing: nothing was lost. */
static void test_no_structure(void)
{
    HvAdmParams params = adm_params("adm_skip_scale0=true:nw=0");
    HvFormat format = {3840, 2160, 8, 1, 0, 0};
    HvAdmSums sums[HV_ADM_SCALES] = {{{0}}};
    HvAdmScores scores;
    HvAdmPlan plan;
    hv_adm_plan_init(&plan, &params, &format);
    hv_adm_score(&plan, sums, &scores);
    g_assert_cmpfloat(scores.adm2, ==, 1);
    g_assert_cmpfloat(scores.aim, ==, 0);
    g_assert_cmpfloat(scores.den, ==, 0);
}

static void assert_refused(const char *options, unsigned width, unsigned height, HvErrorCode code,
                           const char *message)
{
    HvFormat format = {width, height, 8, 1, 0, 0};
    HvAdmParams params;
    GError *error = NULL;
    hv_options_init(hv_adm_info.options, &params);
    if (hv_options_parse(hv_adm_info.options, "adm", options, &params, &error))
        g_assert_false(hv_adm_info.validate(&params, &format, &error));
    g_assert_error(error, HV_ERROR, (int)code);
    g_assert_cmpstr(error->message, ==, message);
    g_error_free(error);
}

static void test_refused(void)
{
    assert_refused("", 15, 16, HV_ERROR_SIZE, "adm measures pictures from 16x16 up, not 15x16");
    assert_refused("", 640, 15, HV_ERROR_SIZE, "adm measures pictures from 16x16 up, not 640x15");
    assert_refused("", 32768, 32769, HV_ERROR_SIZE,
                   "adm measures pictures of up to 2^30 samples, not 32768x32769");
    assert_refused("nvd=2.5", 64, 64, HV_ERROR_OPTION,
                   "adm needs adm_norm_view_dist * adm_ref_display_height of at least 3240, not "
                   "2.5 * 1080");
    assert_refused("rdh=720", 64, 64, HV_ERROR_OPTION,
                   "adm needs adm_norm_view_dist * adm_ref_display_height of at least 3240, not "
                   "3 * 720");
    for (int mode = 2; mode <= 3; mode++) {
        char options[20], message[300];
        g_snprintf(options, sizeof options, "csf=%d:nvd=4", mode);
        g_snprintf(message, sizeof message,
                   "adm_csf_mode=%d of adm has no figures for adm_norm_view_dist=4 with "
                   "adm_ref_display_height=1080; it has adm_norm_view_dist 3 or 5 with "
                   "adm_ref_display_height 1080, 1.5, 3 or 5 with 2160, 5 with 720",
                   mode);
        assert_refused(options, 64, 64, HV_ERROR_OPTION, message);
    }
}

static void test_accepted(void)
{
    static const char *const good[] = {"",
                                       "csf=2",
                                       "csf=2:nvd=5",
                                       "csf=3:nvd=1.5:rdh=2160",
                                       "csf=3:rdh=2160",
                                       "csf=2:nvd=5:rdh=2160",
                                       "csf=3:nvd=5:rdh=720",
                                       "nvd=0.75:rdh=4320",
                                       "nvd=24:rdh=135"};
    HvFormat format = {16, 16, 8, 1, 0, 0};
    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++) {
        HvAdmParams params = adm_params(good[i]);
        g_assert_true(hv_adm_info.validate(&params, &format, NULL));
    }
}

static void assert_names(const char *options, const char *const *names)
{
    HvAdmParams params;
    GError *error = NULL;
    hv_options_init(hv_adm_info.options, &params);
    hv_options_parse(hv_adm_info.options, "adm", options, &params, &error);
    g_assert_no_error(error);
    const char *const *base = hv_adm_info.score_names(&params);
    for (; *names; names++, base++) {
        g_assert_nonnull(*base);
        char *name = hv_options_score_name(hv_adm_info.options, &params, *base);
        g_assert_cmpstr(name, ==, *names);
        g_free(name);
    }
    g_assert_null(*base);
}

static void test_names(void)
{
    static const char *const plain[] = {
        "integer_adm2",       "integer_aim",        "integer_adm3",       "integer_adm_scale0",
        "integer_adm_scale1", "integer_adm_scale2", "integer_adm_scale3", NULL};
#define S "_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_nvd_5"
    static const char *const v1[] = {"integer_adm2" S,
                                     "integer_aim" S,
                                     "integer_adm3" S,
                                     "integer_adm_scale0" S,
                                     "integer_adm_scale1" S,
                                     "integer_adm_scale2" S,
                                     "integer_adm_scale3" S,
                                     "integer_adm" S,
                                     "integer_adm_num" S,
                                     "integer_adm_den" S,
                                     "integer_adm_num_scale0" S,
                                     "integer_adm_den_scale0" S,
                                     "integer_adm_num_scale1" S,
                                     "integer_adm_den_scale1" S,
                                     "integer_adm_num_scale2" S,
                                     "integer_adm_den_scale2" S,
                                     "integer_adm_num_scale3" S,
                                     "integer_adm_den_scale3" S,
                                     NULL};
#undef S
    static const char suffix[] = "_scfd_0.25_csf_1_scf_2_rdh_2160_ssz";
    char *all[8] = {NULL};
    for (int i = 0; i < 7; i++)
        all[i] = g_strconcat(plain[i], suffix, NULL);
    assert_names("", plain);
    assert_names("adm_skip_aim=true", plain);
    assert_names("debug=true:" V1 "5", v1);
    assert_names("ssz=true:rdh=2160:scf=2:scfd=0.25:csf=1", (const char *const *)all);
    for (int i = 0; i < 7; i++)
        g_free(all[i]);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--write-golden-clips"))
        return adm_golden_write(argv[2]);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/adm/levels", test_levels);
    g_test_add_func("/adm/agree/every-size", test_every_size);
    g_test_add_func("/adm/agree/every-size-mixed", test_every_size_mixed);
    g_test_add_func("/adm/agree/contents-and-options", test_contents_and_options);
    g_test_add_func("/adm/agree/factors-of-all-sizes", test_factors_of_all_sizes);
    g_test_add_func("/adm/agree/largest-factors", test_largest_factors);
    g_test_add_func("/adm/agree/many-blocks", test_many_blocks);
    g_test_add_func("/adm/agree/larger", test_larger);
    g_test_add_func("/adm/agree/largest-coefficients", test_largest_coefficients);
    g_test_add_func("/adm/model/small", test_model_small);
    g_test_add_func("/adm/model/mixed", test_model_mixed);
    g_test_add_func("/adm/model/larger", test_model_larger);
    g_test_add_func("/adm/golden", test_golden);
    g_test_add_func("/adm/no-structure", test_no_structure);
    g_test_add_func("/adm/refused", test_refused);
    g_test_add_func("/adm/accepted", test_accepted);
    g_test_add_func("/adm/names", test_names);
    int status = g_test_run();
    adm_measure_end();
    return status;
}
