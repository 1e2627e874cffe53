/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A metric's options: a table that says which there are, the parser of "name=value:name=value",
 * and the names of scores, which options change by libvmaf's rule. */
#ifndef HV_OPTIONS_H
#define HV_OPTIONS_H

#include <glib.h>
#include <stddef.h>

typedef enum HvOptionType {
    HV_OPTION_BOOL,  /* gboolean; "true" or "false" */
    HV_OPTION_INT,   /* int */
    HV_OPTION_DOUBLE /* double */
} HvOptionType;

/* One option. A table of them ends with an entry whose name is NULL. */
typedef struct HvOption {
    const char *name;  /* libvmaf's spelling */
    const char *alias; /* short name, accepted too and used in score names; or NULL */
    const char *help;
    HvOptionType type;
    gboolean in_name; /* a value other than the default becomes part of the scores' names */
    size_t offset;    /* of the member in the metric's parameter struct */
    double fallback;  /* the default */
    double min, max;  /* inclusive */
} HvOption;

/* Sets every member that the table names to its default. */
void hv_options_init(const HvOption *table, void *params);

/* Whether two parameter structs hold the same values. */
gboolean hv_options_equal(const HvOption *table, const void *a, const void *b);

/* Reads "name=value:name=value" into params, which hv_options_init() has filled; NULL or ""
 * changes nothing. Option names and aliases are taken alike, space around names and values is
 * skipped, and so are empty entries. FALSE and HV_ERROR_OPTION when a name is unknown (the message
 * lists what there is), a value is malformed, out of range (the message says the range), or given
 * twice. Values are read in the C locale. `metric` names the metric in messages. */
gboolean hv_options_parse(const HvOption *table, const char *metric, const char *text, void *params,
                          GError **error);

/* The name under which a score goes: `base`, then for every option that is in_name and not at its
 * default, in alphabetical order of the full option names, "_alias_value" ("_alias" for booleans),
 * numbers printed with %g in the C locale. The caller frees it. */
char *hv_options_score_name(const HvOption *table, const void *params, const char *base);

#endif
