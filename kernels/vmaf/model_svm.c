/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libsvm's text form of a regression: header lines of a word and its value, "SV", then a line for
 * each support vector: coefficient, and "index:value" for what is not 0. */
#include "kernels/vmaf/model_json.h"

#include <math.h>
#include <string.h>

/* More than any model that could be evaluated for every frame. */
#define MAX_SUPPORTS 10000

typedef struct Lines {
    const char *next;
    unsigned number;
    char *message;
} Lines;

G_GNUC_PRINTF(2, 3)
static gboolean fail(Lines *lines, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    lines->message = g_strdup_printf("line %u: %s", lines->number, what);
    g_free(what);
    return FALSE;
}

/* The next line, without its end; NULL where the text ends. The caller frees it. */
static char *next_line(Lines *lines)
{
    if (!*lines->next)
        return NULL;
    const char *end = lines->next + strcspn(lines->next, "\n");
    char *line = g_strndup(lines->next, end - lines->next);
    lines->next = *end ? end + 1 : end;
    lines->number++;
    return g_strstrip(line);
}

/* A finite number at the start of text; NULL where there is none, else what follows it. */
static const char *read_number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return end > text && isfinite(*value) ? end : NULL;
}

static gboolean read_whole(const char *text, double *value)
{
    const char *end = read_number(text, value);
    return end && !*end;
}

typedef struct Header {
    gboolean has_type, has_kernel, has_gamma, has_rho;
    double n_supports;
} Header;

static gboolean read_header_number(Lines *lines, const char *key, const char *text, double *value)
{
    return read_whole(text, value) || fail(lines, "%s is not followed by a number", key);
}

static gboolean read_header_line(Lines *lines, char *line, Header *header, HvSvr *svr)
{
    double value;
    char *text = line + strcspn(line, " ");
    if (*text)
        *text++ = 0;
    if (!strcmp(line, "svm_type")) {
        header->has_type = TRUE;
        return !strcmp(text, "nu_svr") || fail(lines, "svm_type is not nu_svr");
    }
    if (!strcmp(line, "kernel_type")) {
        header->has_kernel = TRUE;
        return !strcmp(text, "rbf") || fail(lines, "kernel_type is not rbf");
    }
    if (!strcmp(line, "gamma")) {
        header->has_gamma = TRUE;
        return read_header_number(lines, line, text, &svr->gamma) &&
               (svr->gamma >= 0 || fail(lines, "gamma is below 0"));
    }
    if (!strcmp(line, "rho")) {
        header->has_rho = TRUE;
        return read_header_number(lines, line, text, &svr->rho);
    }
    if (!strcmp(line, "total_sv"))
        return read_header_number(lines, line, text, &header->n_supports);
    if (!strcmp(line, "nr_class"))
        return read_header_number(lines, line, text, &value) &&
               (value == 2 || fail(lines, "nr_class of a regression is 2"));
    static const char *const unused[] = {"degree", "coef0", "label", "probA",
                                         "probB",  "nr_sv", NULL};
    return g_strv_contains(unused, line) || fail(lines, "unknown word \"%.32s\"", line);
}

static gboolean read_header(Lines *lines, Header *header, HvSvr *svr)
{
    for (char *line; (line = next_line(lines));) {
        gboolean end = !strcmp(line, "SV");
        gboolean ok = end || !*line || read_header_line(lines, line, header, svr);
        g_free(line);
        if (!ok)
            return FALSE;
        if (end)
            break;
    }
    if (!header->has_type || !header->has_kernel || !header->has_gamma || !header->has_rho)
        return fail(lines, "svm_type, kernel_type, gamma or rho is missing before SV");
    if (!(header->n_supports >= 1 && header->n_supports <= MAX_SUPPORTS) ||
        header->n_supports != floor(header->n_supports))
        return fail(lines, "total_sv is not a whole number from 1 to %d", MAX_SUPPORTS);
    return TRUE;
}

static gboolean read_support(Lines *lines, const char *line, unsigned n_features, double *weight,
                             double *point)
{
    guint64 last = 0;
    const char *at = read_number(line, weight);
    if (!at)
        return fail(lines, "no coefficient");
    for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
        char *end;
        double value;
        guint64 index = g_ascii_strtoull(at, &end, 10);
        if (end == at || *end != ':')
            return fail(lines, "\"%.32s\" is not index:value", at);
        if (index <= last || index > n_features)
            return fail(lines, "index %" G_GUINT64_FORMAT " is not one of %u in rising order",
                        index, n_features);
        at = read_number(end + 1, &value);
        if (!at)
            return fail(lines, "index %" G_GUINT64_FORMAT " has no number", index);
        point[index - 1] = value;
        last = index;
    }
    return TRUE;
}

static gboolean read_supports(Lines *lines, HvSvr *svr, HvSupport *support, double *points,
                              unsigned n_features)
{
    unsigned n = 0;
    gboolean ok = TRUE;
    for (char *line; ok && (line = next_line(lines)); g_free(line)) {
        if (!*line)
            continue;
        if (n == svr->n_supports) {
            ok = fail(lines, "there are more support vectors than total_sv");
            continue;
        }
        support[n].point = n;
        ok = read_support(lines, line, n_features, &support[n].weight,
                          points + (gsize)n * n_features);
        n++;
    }
    if (!ok)
        return FALSE;
    return n == svr->n_supports || fail(lines, "there are %u support vectors, not total_sv", n);
}

gboolean hv_svm_parse(HvModelFile *file, const char *text, unsigned n_features, HvSvr *svr,
                      char **message)
{
    Lines lines = {text, 0, NULL};
    Header header = {0};
    gboolean ok = read_header(&lines, &header, svr);
    if (ok) {
        svr->n_supports = (unsigned)header.n_supports;
        HvSupport *support = hv_model_file_alloc(file, svr->n_supports, sizeof *support);
        double *points =
            hv_model_file_alloc(file, (gsize)svr->n_supports * n_features, sizeof *points);
        svr->support = support;
        svr->points = points;
        ok = read_supports(&lines, svr, support, points, n_features);
    }
    *message = lines.message;
    return ok;
}
