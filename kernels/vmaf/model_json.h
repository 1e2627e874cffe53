/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads libvmaf's JSON model files. */
#ifndef HV_MODEL_JSON_H
#define HV_MODEL_JSON_H

#include "kernels/vmaf/model_data.h"

/* A model that owns what its tables point at. */
typedef struct HvModelFile {
    HvModelData data;
    GPtrArray *memory;
} HvModelFile;

/* NULL and HV_ERROR_MODEL, whose message begins with `origin` and the place in the file, where the
 * text is not such a model or says what cannot be computed. Any bytes may be given. The name is
 * the caller's to set. */
HvModelFile *hv_model_file_parse(const char *text, gsize length, const char *origin,
                                 GError **error);
void hv_model_file_free(HvModelFile *file);

/* Allocates n zeroed elements that live as long as the file. */
gpointer hv_model_file_alloc(HvModelFile *file, gsize n, gsize size);

/* Reads libsvm's text form of a regression into svr. FALSE and a message that says which line;
 * the caller frees it. */
gboolean hv_svm_parse(HvModelFile *file, const char *text, unsigned n_features, HvSvr *svr,
                      char **message);

#endif
