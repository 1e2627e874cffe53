/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of metrics, and the parser of the `features` property. */
#include "metric.h"

#include "kernels/adm/adm.h"
#include "kernels/moment/moment.h"
#include "kernels/motion/motion.h"
#include "kernels/psnr/psnr.h"
#include "kernels/ssim/ssim.h"
#include "kernels/vif/vif.h"

#include <string.h>

const HvMetricInfo *const hv_metrics[] = {
    &hv_adm_info,        &hv_vif_info,           &hv_motion_info,
    &hv_psnr_info,       &hv_float_psnr_info,    &hv_moment_info,
    &hv_float_ssim_info, &hv_float_ms_ssim_info, NULL,
};

static void feature_free(gpointer data)
{
    HvFeature *feature = data;
    g_free(feature->params);
    g_free(feature);
}

static const HvMetricInfo *find(const HvMetricInfo *const *metrics, const char *name,
                                GError **error)
{
    GString *list = g_string_new(NULL);
    const HvMetricInfo *found = NULL;
    for (; *metrics && !found; metrics++) {
        if (!strcmp((*metrics)->name, name))
            found = *metrics;
        g_string_append_printf(list, "%s%s", list->len ? ", " : "", (*metrics)->name);
    }
    if (!found)
        g_set_error(error, HV_ERROR, HV_ERROR_UNKNOWN_METRIC,
                    "there is no metric \"%s\"; there are: %s", name,
                    list->len ? list->str : "none");
    g_string_free(list, TRUE);
    return found;
}

/* A copy of the parameters with "debug" set, or NULL where the metric has no such option. */
static gpointer with_debug(const HvMetricInfo *info, const void *params)
{
    gpointer copy = g_memdup2(params, info->params_size);
    for (const HvOption *option = info->options; option->name; option++)
        if (!strcmp(option->name, "debug") && option->type == HV_OPTION_BOOL && !option->in_name) {
            *(gboolean *)((char *)copy + option->offset) = TRUE;
            return copy;
        }
    g_free(copy);
    return NULL;
}

/* Gives the feature's parameters "debug" where that makes them say all that `params` do. */
static gboolean covers(HvFeature *feature, const HvMetricInfo *info, const void *params)
{
    if (feature->info != info)
        return FALSE;
    if (hv_options_equal(info->options, feature->params, params))
        return TRUE;
    gpointer own = with_debug(info, feature->params), other = with_debug(info, params);
    gboolean same = own && hv_options_equal(info->options, own, other);
    if (same) {
        g_free(feature->params);
        feature->params = g_steal_pointer(&own);
    }
    g_free(own);
    g_free(other);
    return same;
}

GPtrArray *hv_features_new(void)
{
    return g_ptr_array_new_with_free_func(feature_free);
}

void hv_features_add(GPtrArray *features, const HvMetricInfo *info, const void *params)
{
    for (unsigned i = 0; i < features->len; i++)
        if (covers(g_ptr_array_index(features, i), info, params))
            return;
    HvFeature *feature = g_new0(HvFeature, 1);
    feature->info = info;
    feature->params = g_memdup2(params, info->params_size);
    g_ptr_array_add(features, feature);
}

gboolean hv_features_remember(const GPtrArray *features)
{
    for (unsigned i = 0; i < features->len; i++) {
        const HvFeature *feature = g_ptr_array_index(features, i);
        if (feature->info->cpu && feature->info->cpu->flush)
            return TRUE;
    }
    return FALSE;
}

unsigned hv_metric_look_back(const HvMetricInfo *info, const void *params)
{
    const HvMetricOps *cpu = info->cpu;
    return cpu && cpu->take_over && cpu->look_back ? cpu->look_back(params) : 0;
}

unsigned hv_features_look_back(const GPtrArray *features)
{
    unsigned most = 0;
    for (unsigned i = 0; i < features->len; i++) {
        const HvFeature *feature = g_ptr_array_index(features, i);
        if (feature->on_gpu)
            most = MAX(most, hv_metric_look_back(feature->info, feature->params));
    }
    return most;
}

/* Adds one "name" or "name=options"; `entry` is written to. */
static gboolean add_entry(GPtrArray *features, const HvMetricInfo *const *metrics, char *entry,
                          GError **error)
{
    char *options = strchr(entry, '=');
    if (options)
        *options++ = 0;
    const HvMetricInfo *info = find(metrics, g_strstrip(entry), error);
    if (!info)
        return FALSE;

    gpointer params = g_malloc0(info->params_size);
    hv_options_init(info->options, params);
    gboolean ok = hv_options_parse(info->options, info->name, options, params, error) &&
                  (!info->validate || info->validate(params, NULL, error));
    if (ok)
        hv_features_add(features, info, params);
    g_free(params);
    return ok;
}

GPtrArray *hv_features_parse_from(const HvMetricInfo *const *metrics, const char *text,
                                  GError **error)
{
    GPtrArray *features = hv_features_new();
    char **entries = g_strsplit(text ? text : "", ",", -1);
    gboolean ok = TRUE;
    for (char **entry = entries; ok && *entry; entry++)
        if (*g_strstrip(*entry))
            ok = add_entry(features, metrics, *entry, error);
    g_strfreev(entries);
    if (ok)
        return features;
    g_ptr_array_unref(features);
    return NULL;
}

GPtrArray *hv_features_parse(const char *text, GError **error)
{
    return hv_features_parse_from(hv_metrics, text, error);
}
