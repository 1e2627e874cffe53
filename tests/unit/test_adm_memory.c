/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What ADM reads: the samples and nothing else, however a plane lies in memory; and no scratch
 * memory that it has not written for this pair. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adm_measure.h"

typedef struct Case {
    unsigned depth;
    Layout layout;
} Case;

static const Case layouts[] = {
    {8, {.padding = 1}},
    {8, {.padding = 31, .garbage = TRUE}},
    {8, {.padding = 3, .offset = 1}},
    {8, {.offset = 7}},
    {8, {.padding = 4096, .offset = 63, .garbage = TRUE}},
    {10, {.padding = 2, .offset = 2}},
    {10, {.garbage = TRUE}},
    {10, {.padding = 14, .offset = 30, .garbage = TRUE}},
    {10, {.shift = 6}},
    {10, {.shift = 6, .padding = 6, .offset = 2, .garbage = TRUE}},
    {12, {.shift = 4, .garbage = TRUE}},
    {12, {.padding = 2, .offset = 62, .garbage = TRUE}},
    {9, {.garbage = TRUE}},
    {15, {.shift = 1, .garbage = TRUE}},
    {16, {.padding = 2, .offset = 2, .garbage = TRUE}},
};

static AdmResult measure_laid_out(const HvAdmParams *params, const Clip *clip,
                                  const Layout *reference, const Layout *distorted, AdmHow how)
{
    gpointer memory[CLIP_PICTURES];
    HvPicture ref = clip_lay_out(clip, CLIP_REFERENCE, reference, &memory[0]);
    HvPicture dis = clip_lay_out(clip, CLIP_DISTORTED, distorted, &memory[1]);
    AdmResult result = adm_measure(params, &clip->format, &ref, &dis, how);
    g_free(memory[0]);
    g_free(memory[1]);
    return result;
}

static void assert_layout(const Case *c, unsigned width, unsigned height)
{
    static const Layout plain;
    HvAdmParams params = adm_params("egl=1");
    Clip clip = clip_new(CLIP_NOISE, width, height, c->depth, width + height);
    AdmResult expected = adm_measure_clip(&params, &clip, (AdmHow){HV_LEVEL_BASELINE});
    for (HvLevel level = 0; level < HV_N_LEVELS && adm_has_level(level); level++) {
        AdmHow how = {level};
        AdmResult both = measure_laid_out(&params, &clip, &c->layout, &c->layout, how);
        AdmResult one = measure_laid_out(&params, &clip, &plain, &c->layout, how);
        adm_assert_same(&expected, &both, "layout %d, %ux%u, %s", (int)(c - layouts), width, height,
                        hv_level_name(level));
        adm_assert_same(&expected, &one, "plain and layout %d, %ux%u, %s", (int)(c - layouts),
                        width, height, hv_level_name(level));
    }
    clip_free(&clip);
}

static void test_layouts(void)
{
    static const unsigned size[][2] = {{16, 16}, {17, 31}, {40, 23}, {65, 18}, {129, 66}, {97, 61}};
    for (unsigned i = 0; i < G_N_ELEMENTS(layouts); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(size); k++)
            assert_layout(&layouts[i], size[k][0], size[k][1]);
}

/* Memory between two pages that cannot be touched. */
typedef struct Guarded {
    char *all, *first, *end;
    size_t bytes;
} Guarded;

static Guarded guarded_new(size_t bytes)
{
    size_t page = sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;
    Guarded g = {.bytes = inner + 2 * page};
    g.all = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(g.all != MAP_FAILED);
    g.first = g.all + page;
    g.end = g.first + inner;
    g_assert_cmpint(mprotect(g.first, inner, PROT_READ | PROT_WRITE), ==, 0);
    return g;
}

/* Both planes of the pair begin right after an unmapped page, or end right before one; the second
 * with rows that are padded, the last of them not. */
static void measure_guarded(const HvAdmParams *params, const Clip *clip, gboolean at_end,
                            unsigned padding, AdmHow how, AdmResult *result)
{
    Layout layout = {.padding = padding};
    size_t bytes = clip_plane_bytes(clip, &layout);
    Guarded memory[CLIP_PICTURES];
    HvPicture picture[CLIP_PICTURES];
    for (int p = 0; p < CLIP_PICTURES; p++) {
        memory[p] = guarded_new(bytes);
        char *first = at_end ? memory[p].end - bytes : memory[p].first;
        picture[p] = clip_write(clip, p, &layout, first);
    }
    *result = adm_measure(params, &clip->format, &picture[0], &picture[1], how);
    for (int p = 0; p < CLIP_PICTURES; p++)
        munmap(memory[p].all, memory[p].bytes);
}

static void test_guard_pages(void)
{
    static const unsigned depths[] = {8, 10, 12, 16}, heights[] = {16, 17, 33};
    HvAdmParams params = adm_params("");
    for (unsigned width = 16; width <= 80; width++)
        for (unsigned k = 0; k < G_N_ELEMENTS(depths) * G_N_ELEMENTS(heights); k++) {
            Clip clip = clip_new(CLIP_NOISE, width, heights[k / 4], depths[k % 4], width);
            AdmResult expected = adm_measure_clip(&params, &clip, (AdmHow){HV_LEVEL_BASELINE});
            for (HvLevel level = 0; level < HV_N_LEVELS && adm_has_level(level); level++)
                for (unsigned i = 0; i < 4; i++) {
                    AdmResult got;
                    AdmHow how = {level, 1 + i / 2};
                    measure_guarded(&params, &clip, i & 1, i / 2 * 34, how, &got);
                    adm_assert_same(&expected, &got, "guarded %ux%u, %u bits, %s", width,
                                    heights[k / 4], depths[k % 4], hv_level_name(level));
                }
            clip_free(&clip);
        }
}

/* Scratch memory that held other things must not show. */
static void test_scratch(void)
{
    static const char *const options[] = {"", "egl=1.5", "csf=1:scf=0.0208", "ssz=true:nw=0",
                                          "adm_skip_aim=true"};
    static const AdmHow hows[] = {{.fill = 0xff},
                                  {.fill = 0x55},
                                  {.fill = 256},
                                  {.used = TRUE},
                                  {.fill = 256, .threads = 3},
                                  {.used = TRUE, .threads = 2}};
    for (unsigned width = 16; width <= 80; width += 1 + (width > 40) * 3)
        for (unsigned height = 16; height <= 80; height += 1 + (height > 24) * 5) {
            const char *text = options[(width + height) % G_N_ELEMENTS(options)];
            HvAdmParams params = adm_params(text);
            Clip clip = clip_new((width + height) % CLIP_KINDS, width, height, 8 + width % 2 * 2,
                                 width * height);
            AdmResult expected = adm_measure_clip(&params, &clip, (AdmHow){HV_LEVEL_BASELINE});
            for (HvLevel level = 0; level < HV_N_LEVELS && adm_has_level(level); level++)
                for (unsigned i = 0; i < G_N_ELEMENTS(hows); i++) {
                    AdmHow how = hows[i];
                    how.level = level;
                    AdmResult got = adm_measure_clip(&params, &clip, how);
                    adm_assert_same(&expected, &got, "scratch %u, %ux%u, \"%s\", %s", i, width,
                                    height, text, hv_level_name(level));
                }
            clip_free(&clip);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/adm/memory/layouts", test_layouts);
    g_test_add_func("/adm/memory/guard-pages", test_guard_pages);
    g_test_add_func("/adm/memory/scratch", test_scratch);
    int status = g_test_run();
    adm_measure_end();
    return status;
}
