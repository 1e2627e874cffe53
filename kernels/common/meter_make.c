/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a meter is made of: its metrics, and the names of their scores. */
#include "meter_parts.h"

#include <string.h>

static gboolean has_name(const HvMeter *meter, const char *name)
{
    for (unsigned i = 0; i < meter->names->len; i++)
        if (!strcmp(g_ptr_array_index(meter->names, i), name))
            return TRUE;
    return FALSE;
}

/* Two features of one metric may give the same score twice; the first one's is kept. */
static void add_names(HvMeter *meter, const Tenant *tenant)
{
    const HvMetricInfo *info = tenant->info;
    for (const char *const *base = info->score_names(tenant->params); *base; base++) {
        char *name = hv_options_score_name(info->options, tenant->params, *base);
        if (has_name(meter, name)) {
            g_free(name);
        } else {
            g_ptr_array_add(meter->names, name);
            g_array_append_val(meter->source, meter->n_values);
        }
        meter->n_values++;
    }
}

static gboolean is_summed(const HvMeter *meter, unsigned entry)
{
    for (unsigned i = 0; i < meter->summed->len; i++)
        if (g_array_index(meter->summed, Summed, i).entry == entry)
            return TRUE;
    return FALSE;
}

/* The same for scores over the whole stream. */
static void add_aggregates(HvMeter *meter, const Tenant *tenant)
{
    const HvMetricInfo *info = tenant->info;
    if (!info->aggregate)
        return;
    for (const char *const *base = info->aggregate->names(tenant->params); *base; base++) {
        if (meter->aggregates) {
            char *name = hv_options_score_name(info->options, tenant->params, *base);
            Summed summed = {hv_aggregates_find(meter->aggregates, name, info->aggregate),
                             meter->n_values};
            if (!is_summed(meter, summed.entry))
                g_array_append_val(meter->summed, summed);
            g_free(name);
        }
        meter->n_values += info->aggregate->n_sums;
    }
}

static gboolean runs_on_gpu(const HvFeature *feature, const HvBackend *backend)
{
    return backend && feature->on_gpu && feature->info->hip;
}

static gboolean check_tenant(const HvMeter *meter, const Tenant *tenant, GError **error)
{
    const HvMetricInfo *info = tenant->info;
    if (info->needs_chroma && info->needs_chroma(tenant->params) &&
        meter->format.n_planes < HV_MAX_PLANES) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "%s measures chroma, which this format does not have", info->name);
        return FALSE;
    }
    if (!tenant->ops) {
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND, "%s cannot be measured on the CPU",
                    info->name);
        return FALSE;
    }
    return !info->validate || info->validate(tenant->params, &meter->format, error);
}

static gboolean make_tenant(HvMeter *meter, Tenant *tenant, GError **error)
{
    const HvMetricInfo *info = tenant->info;
    if (info->fit)
        info->fit(tenant->params, &meter->format);
    if (!check_tenant(meter, tenant, error))
        return FALSE;
    tenant->metric = tenant->ops->create(&tenant->setup, error);
    return tenant->metric != NULL;
}

static gboolean add_tenant(HvMeter *meter, const HvFeature *feature, GError **error)
{
    Tenant *tenant = &meter->tenants[meter->n_tenants];
    gboolean on_gpu = runs_on_gpu(feature, meter->backend);
    gpointer params = g_memdup2(feature->params, feature->info->params_size);
    *tenant = (Tenant){
        .info = feature->info,
        .ops = on_gpu ? feature->info->hip : feature->info->cpu,
        .setup = {&meter->format, params, meter->slices, on_gpu ? meter->backend : NULL},
        .params = params,
        .on_gpu = on_gpu,
        .first_value = meter->n_values,
    };
    meter->n_tenants++;
    if (!make_tenant(meter, tenant, error))
        return FALSE;
    meter->ahead |= tenant->ops->submit != NULL;
    if (on_gpu && meter->fallback)
        meter->look_back = MAX(meter->look_back, hv_metric_look_back(tenant->info, tenant->params));
    add_names(meter, tenant);
    add_aggregates(meter, tenant);
    return TRUE;
}

gboolean hv_meter_prepare(HvMeter *meter, unsigned threads, GError **error)
{
    meter->slices = hv_slices_new(threads, error);
    if (!meter->slices)
        return FALSE;
    for (unsigned i = 0; i < meter->features->len; i++)
        if (!add_tenant(meter, g_ptr_array_index(meter->features, i), error))
            return FALSE;
    meter->result = g_new(double, meter->names->len + 1); /* not NULL where there are no scores */
    g_ptr_array_add(meter->names, NULL);
    for (unsigned i = 0; i < meter->depth; i++)
        g_queue_push_head_link(&meter->unused, &hv_frame_new(meter)->link);
    return TRUE;
}
