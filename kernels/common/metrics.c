/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of metrics, and the parser of the `features` property. */
#include "metric.h"

#include "kernels/adm/adm.h"
#include "kernels/motion/motion.h"
#include "kernels/vif/vif.h"

#include <string.h>

const HvMetricInfo *const hv_metrics[] = {&hv_adm_info, &hv_vif_info, &hv_motion_info, NULL};

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

/* One "name" or "name=options"; `entry` is written to. */
static HvFeature *parse_entry(const HvMetricInfo *const *metrics, char *entry, GError **error)
{
    char *options = strchr(entry, '=');
    if (options)
        *options++ = 0;
    const HvMetricInfo *info = find(metrics, g_strstrip(entry), error);
    if (!info)
        return NULL;

    HvFeature *feature = g_new0(HvFeature, 1);
    feature->info = info;
    feature->params = g_malloc0(info->params_size);
    hv_options_init(info->options, feature->params);
    if (!hv_options_parse(info->options, info->name, options, feature->params, error) ||
        (info->validate && !info->validate(feature->params, NULL, error))) {
        feature_free(feature);
        return NULL;
    }
    return feature;
}

static gboolean is_in(const GPtrArray *features, const HvFeature *feature)
{
    for (unsigned i = 0; i < features->len; i++) {
        const HvFeature *other = g_ptr_array_index(features, i);
        if (other->info == feature->info &&
            hv_options_equal(feature->info->options, other->params, feature->params))
            return TRUE;
    }
    return FALSE;
}

GPtrArray *hv_features_parse_from(const HvMetricInfo *const *metrics, const char *text,
                                  GError **error)
{
    GPtrArray *features = g_ptr_array_new_with_free_func(feature_free);
    char **entries = g_strsplit(text ? text : "", ",", -1);
    for (char **entry = entries; features && *entry; entry++) {
        if (!*g_strstrip(*entry))
            continue;
        HvFeature *feature = parse_entry(metrics, *entry, error);
        if (!feature)
            g_clear_pointer(&features, g_ptr_array_unref);
        else if (is_in(features, feature))
            feature_free(feature);
        else
            g_ptr_array_add(features, feature);
    }
    g_strfreev(entries);
    return features;
}

GPtrArray *hv_features_parse(const char *text, GError **error)
{
    return hv_features_parse_from(hv_metrics, text, error);
}
