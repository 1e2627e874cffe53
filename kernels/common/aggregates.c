/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Scores over a whole stream: a row of sums for each. */
#include "aggregates.h"

#include <math.h>
#include <string.h>

#include "lock.h"

typedef struct Entry {
    char *name;
    const HvAggregate *how;
    guint64 pairs;
    double sum[HV_AGGREGATE_SUMS];
} Entry;

struct HvAggregates {
    HvLock lock; /* for all below */
    GPtrArray *entries;
};

static void entry_free(gpointer data)
{
    Entry *entry = data;
    g_free(entry->name);
    g_free(entry);
}

HvAggregates *hv_aggregates_new(void)
{
    HvAggregates *aggregates = g_new0(HvAggregates, 1);
    hv_lock_init(&aggregates->lock);
    aggregates->entries = g_ptr_array_new_with_free_func(entry_free);
    return aggregates;
}

void hv_aggregates_free(HvAggregates *aggregates)
{
    if (!aggregates)
        return;
    g_ptr_array_unref(aggregates->entries);
    hv_lock_clear(&aggregates->lock);
    g_free(aggregates);
}

static Entry *entry_at(const HvAggregates *aggregates, unsigned i)
{
    return g_ptr_array_index(aggregates->entries, i);
}

unsigned hv_aggregates_find(HvAggregates *aggregates, const char *name, const HvAggregate *how)
{
    unsigned i = 0;
    hv_lock(&aggregates->lock);
    while (i < aggregates->entries->len && strcmp(entry_at(aggregates, i)->name, name))
        i++;
    if (i == aggregates->entries->len) {
        Entry *entry = g_new0(Entry, 1);
        entry->name = g_strdup(name);
        entry->how = how;
        g_ptr_array_add(aggregates->entries, entry);
    }
    hv_unlock(&aggregates->lock);
    return i;
}

void hv_aggregates_add(HvAggregates *aggregates, unsigned i, const double *terms)
{
    hv_lock(&aggregates->lock);
    Entry *entry = entry_at(aggregates, i);
    for (unsigned k = 0; k < entry->how->n_sums; k++)
        entry->sum[k] += terms[k];
    entry->pairs++;
    hv_unlock(&aggregates->lock);
}

unsigned hv_aggregates_size(HvAggregates *aggregates)
{
    hv_lock(&aggregates->lock);
    unsigned size = aggregates->entries->len;
    hv_unlock(&aggregates->lock);
    return size;
}

const char *hv_aggregates_name(HvAggregates *aggregates, unsigned i)
{
    hv_lock(&aggregates->lock);
    const char *name = entry_at(aggregates, i)->name;
    hv_unlock(&aggregates->lock);
    return name;
}

double hv_aggregates_value(HvAggregates *aggregates, unsigned i)
{
    hv_lock(&aggregates->lock);
    const Entry *entry = entry_at(aggregates, i);
    double value = entry->pairs ? entry->how->score(entry->sum) : NAN;
    hv_unlock(&aggregates->lock);
    return value;
}
