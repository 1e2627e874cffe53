/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Parsing of a metric's options, and the names of scores. */
#include "options.h"

#include <string.h>

#include "error.h"

static void *member(const HvOption *option, void *params)
{
    return (char *)params + option->offset;
}

static double get(const HvOption *option, const void *params)
{
    const void *at = (const char *)params + option->offset;
    switch (option->type) {
    case HV_OPTION_BOOL:
        return *(const gboolean *)at;
    case HV_OPTION_INT:
        return *(const int *)at;
    default:
        return *(const double *)at;
    }
}

static void set(const HvOption *option, void *params, double value)
{
    switch (option->type) {
    case HV_OPTION_BOOL:
        *(gboolean *)member(option, params) = value != 0;
        break;
    case HV_OPTION_INT:
        *(int *)member(option, params) = (int)value;
        break;
    default:
        *(double *)member(option, params) = value;
    }
}

void hv_options_init(const HvOption *table, void *params)
{
    for (const HvOption *option = table; option->name; option++)
        set(option, params, option->fallback);
}

gboolean hv_options_equal(const HvOption *table, const void *a, const void *b)
{
    for (const HvOption *option = table; option->name; option++)
        if (get(option, a) != get(option, b))
            return FALSE;
    return TRUE;
}

static const HvOption *find(const HvOption *table, const char *name)
{
    for (const HvOption *option = table; option->name; option++)
        if (!strcmp(option->name, name) || !g_strcmp0(option->alias, name))
            return option;
    return NULL;
}

static gboolean unknown(const HvOption *table, const char *metric, const char *name, GError **error)
{
    GString *list = g_string_new(NULL);
    for (const HvOption *option = table; option->name; option++) {
        g_string_append_printf(list, "%s%s", list->len ? ", " : "", option->name);
        if (option->alias)
            g_string_append_printf(list, " (%s)", option->alias);
    }
    g_set_error(error, HV_ERROR, HV_ERROR_OPTION, "%s has no option \"%s\"; it has %s", metric,
                name, list->len ? list->str : "none");
    g_string_free(list, TRUE);
    return FALSE;
}

static char *range(const HvOption *option)
{
    char min[G_ASCII_DTOSTR_BUF_SIZE], max[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(min, sizeof min, "%g", option->min);
    g_ascii_formatd(max, sizeof max, "%g", option->max);
    return g_strdup_printf("%s to %s", min, max);
}

/* What is wrong, and which values the option takes. `said` is "name" or "name=value". */
static gboolean malformed(const HvOption *option, const char *metric, const char *said,
                          const char *what, GError **error)
{
    char *limits = range(option);
    char *takes = option->type == HV_OPTION_BOOL ? g_strdup("true or false")
                  : option->type == HV_OPTION_INT
                      ? g_strdup_printf("a whole number from %s", limits)
                      : g_strdup_printf("a number from %s", limits);
    g_set_error(error, HV_ERROR, HV_ERROR_OPTION, "%s of %s %s; it takes %s", said, metric, what,
                takes);
    g_free(takes);
    g_free(limits);
    return FALSE;
}

static gboolean out_of_range(const HvOption *option, const char *metric, const char *said,
                             GError **error)
{
    char *limits = range(option);
    g_set_error(error, HV_ERROR, HV_ERROR_OPTION, "%s of %s is out of range: %s", said, metric,
                limits);
    g_free(limits);
    return FALSE;
}

/* Decimal digits with an optional sign, fraction and exponent, and nothing after them:
 * g_ascii_strtod alone would also take hexadecimal numbers and words. */
static gboolean read_double(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end) + 0.0; /* -0 becomes 0 */
    return *text && !*end && !text[strspn(text, "0123456789.+-eE")];
}

static gboolean read_int(const char *text, double *value)
{
    size_t sign = *text == '-' || *text == '+';
    size_t digits = strspn(text + sign, "0123456789");
    *value = g_ascii_strtod(text, NULL) + 0.0; /* exact as far as an int reaches */
    return digits > 0 && !text[sign + digits];
}

static gboolean read_bool(const char *text, double *value)
{
    *value = !strcmp(text, "true");
    return *value || !strcmp(text, "false");
}

static gboolean read_text(const HvOption *option, const char *text, double *value)
{
    switch (option->type) {
    case HV_OPTION_BOOL:
        return read_bool(text, value);
    case HV_OPTION_INT:
        return read_int(text, value);
    default:
        return read_double(text, value);
    }
}

static gboolean read_value(const HvOption *option, const char *metric, const char *text,
                           void *params, GError **error)
{
    double value;
    char *said = g_strdup_printf("%s=%s", option->name, text);
    gboolean ok = TRUE;
    if (!*text)
        ok = malformed(option, metric, option->name, "has no value", error);
    else if (!read_text(option, text, &value))
        ok = malformed(option, metric, said, "is malformed", error);
    else if (option->type != HV_OPTION_BOOL && !(value >= option->min && value <= option->max))
        ok = out_of_range(option, metric, said, error);
    else
        set(option, params, value);
    g_free(said);
    return ok;
}

/* One "name=value"; `entry` is written to. `given` has a bit set for each option read before. */
static gboolean parse_entry(const HvOption *table, const char *metric, char *entry, void *params,
                            guint64 *given, GError **error)
{
    char *equals = strchr(entry, '=');
    if (equals)
        *equals = 0;
    g_strstrip(entry);
    const HvOption *option = find(table, entry);
    if (!option)
        return unknown(table, metric, entry, error);

    guint64 bit = G_GUINT64_CONSTANT(1) << (option - table);
    if (*given & bit) {
        g_set_error(error, HV_ERROR, HV_ERROR_OPTION, "%s of %s is given twice", option->name,
                    metric);
        return FALSE;
    }
    *given |= bit;
    return read_value(option, metric, equals ? g_strstrip(equals + 1) : "", params, error);
}

gboolean hv_options_parse(const HvOption *table, const char *metric, const char *text, void *params,
                          GError **error)
{
    gboolean ok = TRUE;
    guint64 given = 0;
    char **entries = g_strsplit(text ? text : "", ":", -1);
    for (char **entry = entries; ok && *entry; entry++)
        if (*g_strstrip(*entry))
            ok = parse_entry(table, metric, *entry, params, &given, error);
    g_strfreev(entries);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    const HvOption *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void append_option(GString *name, const HvOption *option, double value)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(name, "_%s", option->alias ? option->alias : option->name);
    switch (option->type) {
    case HV_OPTION_BOOL:
        break;
    case HV_OPTION_INT:
        g_string_append_printf(name, "_%d", (int)value);
        break;
    default:
        g_string_append_printf(name, "_%s", g_ascii_formatd(digits, sizeof digits, "%g", value));
    }
}

char *hv_options_score_name(const HvOption *table, const void *params, const char *base)
{
    GString *name = g_string_new(base);
    GPtrArray *changed = g_ptr_array_new();
    for (const HvOption *option = table; option->name; option++)
        if (option->in_name && get(option, params) != option->fallback)
            g_ptr_array_add(changed, (gpointer)option);
    g_ptr_array_sort(changed, by_name);
    for (unsigned i = 0; i < changed->len; i++) {
        const HvOption *option = g_ptr_array_index(changed, i);
        append_option(name, option, get(option, params));
    }
    g_ptr_array_free(changed, TRUE);
    return g_string_free(name, FALSE);
}
