/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pooling: sums and extremes of each score, and its values where percentiles are wanted. */
#include "pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    char *name;
    guint64 frames;
    double min, max, sum, inverse_sum;
    GArray *values; /* of double; NULL where none are kept */
} Entry;

struct HvPool {
    GArray *entries;
    GHashTable *index; /* name (an entry's) -> position + 1 */
    gboolean keeps;
};

static void entry_clear(gpointer data)
{
    Entry *entry = data;
    g_free(entry->name);
    if (entry->values)
        g_array_unref(entry->values);
}

HvPool *hv_pool_new(void)
{
    HvPool *pool = g_new0(HvPool, 1);
    pool->entries = g_array_new(FALSE, TRUE, sizeof(Entry));
    g_array_set_clear_func(pool->entries, entry_clear);
    pool->index = g_hash_table_new(g_str_hash, g_str_equal);
    return pool;
}

HvPool *hv_pool_new_keeping(void)
{
    HvPool *pool = hv_pool_new();
    pool->keeps = TRUE;
    return pool;
}

void hv_pool_free(HvPool *pool)
{
    if (!pool)
        return;
    g_hash_table_destroy(pool->index);
    g_array_free(pool->entries, TRUE);
    g_free(pool);
}

void hv_pool_clear(HvPool *pool)
{
    g_hash_table_remove_all(pool->index);
    g_array_set_size(pool->entries, 0);
}

static Entry *entry_at(const HvPool *pool, unsigned i)
{
    return &g_array_index(pool->entries, Entry, i);
}

/* The entry of that name, made where there is none. `hint` is where it probably is: frame after
 * frame brings the same names in the same order. */
static Entry *entry_for(HvPool *pool, const char *name, unsigned hint)
{
    if (hint < pool->entries->len && !strcmp(entry_at(pool, hint)->name, name))
        return entry_at(pool, hint);
    unsigned position = GPOINTER_TO_UINT(g_hash_table_lookup(pool->index, name));
    if (!position) {
        Entry entry = {.name = g_strdup(name)};
        if (pool->keeps)
            entry.values = g_array_new(FALSE, FALSE, sizeof(double));
        g_array_append_val(pool->entries, entry);
        position = pool->entries->len;
        g_hash_table_insert(pool->index, entry.name, GUINT_TO_POINTER(position));
    }
    return entry_at(pool, position - 1);
}

void hv_pool_add(HvPool *pool, const char *const *names, const double *scores, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        Entry *entry = entry_for(pool, names[i], i);
        double score = scores[i];
        if (isnan(score))
            continue;
        if (!entry->frames || score < entry->min)
            entry->min = score;
        if (!entry->frames || score > entry->max)
            entry->max = score;
        entry->sum += score;
        entry->inverse_sum += 1 / (score + 1);
        entry->frames++;
        if (entry->values)
            g_array_append_val(entry->values, score);
    }
}

unsigned hv_pool_size(const HvPool *pool)
{
    return pool->entries->len;
}

const char *hv_pool_name(const HvPool *pool, unsigned i)
{
    return entry_at(pool, i)->name;
}

guint64 hv_pool_frames(const HvPool *pool, unsigned i)
{
    return entry_at(pool, i)->frames;
}

double hv_pool_value(const HvPool *pool, unsigned i, HvPoolMethod method)
{
    const Entry *entry = entry_at(pool, i);
    if (!entry->frames)
        return NAN;
    switch (method) {
    case HV_POOL_MIN:
        return entry->min;
    case HV_POOL_MAX:
        return entry->max;
    case HV_POOL_HARMONIC:
        return entry->frames / entry->inverse_sum - 1;
    default:
        return entry->sum / entry->frames;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hv_pool_percentile(HvPool *pool, unsigned i, double percent)
{
    Entry *entry = entry_at(pool, i);
    if (!entry->frames)
        return NAN;
    double *values = (double *)entry->values->data;
    qsort(values, entry->frames, sizeof(double), compare);
    double at = (entry->frames - 1) * (percent / 100), part = at - floor(at);
    guint64 below = (guint64)at, above = MIN(below + 1, entry->frames - 1);
    if (part == 0 || values[below] == values[above]) /* infinite ones, too */
        return values[below];
    double step = values[above] - values[below];
    return part < 0.5 ? values[below] + step * part : values[above] - step * (1 - part);
}
