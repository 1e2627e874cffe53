/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A set of models, as the files of this room share it. */
#ifndef HV_MODEL_SET_H
#define HV_MODEL_SET_H

#include "kernels/vmaf/model.h"
#include "kernels/vmaf/model_json.h"

/* Where one input of a model comes from. */
typedef struct HvModelInput {
    const HvMetricInfo *info;
    gpointer params;
    char *score; /* under which name the metric gives it */
} HvModelInput;

typedef struct HvModel {
    char *name;
    const HvModelData *data; /* a built-in one, or file's */
    HvModelFile *file;
    GArray *inputs; /* of HvModelInput */
} HvModel;

struct HvModels {
    gatomicrefcount refs;
    HvModelSettings settings;
    GPtrArray *model; /* of HvModel */
    GPtrArray *names; /* of all scores; ends with a NULL */
};

#endif
