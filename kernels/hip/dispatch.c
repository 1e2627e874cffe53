/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which metrics are measured on the GPU. */
#include "dispatch.h"

#include <string.h>

#include "image.h"

static const char all[] = "all";

/* The words, and whether they mean the GPU. */
static const struct {
    const char *word;
    gboolean on_gpu;
} words[] = {{"direct", TRUE}, {"disable", FALSE}, {"none", FALSE}};

static const HvMetricInfo *find_metric(const HvMetricInfo *const *metrics, const char *name)
{
    while (*metrics && strcmp((*metrics)->name, name))
        metrics++;
    return *metrics;
}

static gboolean has_image(const char *name)
{
    const HvImage *image = hv_images;
    while (image->name && strcmp(image->name, name))
        image++;
    return image->name && (image->bundle || image->ptx);
}

gboolean hv_hip_supports_from(const HvMetricInfo *const *metrics, const char *metric)
{
    const HvMetricInfo *info = find_metric(metrics, metric);
    return info && info->hip && has_image(info->image ? info->image : info->name);
}

gboolean hv_hip_supports(const char *metric)
{
    return hv_hip_supports_from(hv_metrics, metric);
}

/* -1 where there is no such word. */
static int find_word(const char *word)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        if (!strcmp(words[i].word, word))
            return (int)i;
    return -1;
}

static void append_name(GString *list, const char *name)
{
    g_string_append_printf(list, "%s%s", list->len ? ", " : "", name);
}

/* Those that the GPU can measure, or all. */
static char *list_metrics(const HvMetricInfo *const *metrics, gboolean on_gpu)
{
    GString *list = g_string_new(on_gpu ? NULL : all);
    for (const HvMetricInfo *const *info = metrics; *info; info++)
        if (!on_gpu || hv_hip_supports_from(metrics, (*info)->name))
            append_name(list, (*info)->name);
    if (!list->len)
        g_string_append(list, "none");
    return g_string_free(list, FALSE);
}

static char *list_words(void)
{
    GString *list = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        append_name(list, words[i].word);
    return g_string_free(list, FALSE);
}

static void complain(GString *warning, const char *entry, const char *format, char *list)
{
    g_string_append_printf(warning,
                           "%s\"%s\": ", warning->len ? "; " : "VMAF_HIP_DISPATCH: ", entry);
    g_string_append_printf(warning, format, list);
    g_free(list);
}

/* One "metric:word", or half of one. */
typedef struct Entry {
    const char *metric;
    int word;
} Entry;

static gboolean parse_entry(const HvMetricInfo *const *metrics, const char *text, char **halves,
                            Entry *entry, GString *warning)
{
    const char *metric = halves[0] ? g_strstrip(halves[0]) : "";
    const char *word = halves[0] && halves[1] ? g_strstrip(halves[1]) : "";
    *entry = (Entry){metric, find_word(word)};
    gboolean is_all = !strcmp(metric, all);
    if (!is_all && !find_metric(metrics, metric))
        complain(warning, text, "there is no such metric; there are: %s",
                 list_metrics(metrics, FALSE));
    else if (entry->word < 0)
        complain(warning, text, "after the colon comes one of: %s", list_words());
    else if (!is_all && words[entry->word].on_gpu && !hv_hip_supports_from(metrics, metric))
        complain(warning, text, "this build measures it on the CPU only; on a GPU it measures: %s",
                 list_metrics(metrics, TRUE));
    else
        return TRUE;
    return FALSE;
}

static void apply(const HvMetricInfo *const *metrics, const Entry *entry, GPtrArray *features)
{
    for (unsigned i = 0; i < features->len; i++) {
        HvFeature *feature = g_ptr_array_index(features, i);
        const char *name = feature->info->name;
        if (!strcmp(entry->metric, name) || !strcmp(entry->metric, all))
            feature->on_gpu = words[entry->word].on_gpu && hv_hip_supports_from(metrics, name);
    }
}

char *hv_hip_dispatch_from(const HvMetricInfo *const *metrics, const char *text,
                           GPtrArray *features)
{
    const Entry as_it_is = {all, find_word("direct")};
    GString *warning = g_string_new(NULL);
    char **entries = g_strsplit(text ? text : "", ",", -1);
    apply(metrics, &as_it_is, features);
    for (unsigned pass = 0; pass < 2; pass++) /* all, then single metrics */
        for (char **text_of = entries; *text_of; text_of++) {
            Entry entry;
            char **halves = g_strsplit(g_strstrip(*text_of), ":", 2);
            gboolean is_all = halves[0] && !strcmp(g_strstrip(halves[0]), all);
            if (**text_of && is_all == !pass &&
                parse_entry(metrics, *text_of, halves, &entry, warning))
                apply(metrics, &entry, features);
            g_strfreev(halves);
        }
    g_strfreev(entries);
    return g_string_free(warning, !warning->len);
}

char *hv_hip_dispatch(const char *text, GPtrArray *features)
{
    return hv_hip_dispatch_from(hv_metrics, text, features);
}
