/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Model files for libFuzzer: whatever the bytes are, an error that says where, or a model that
 * predicts. run.sh builds and runs it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/vmaf/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void predict(HvModels *models)
{
    static const char *const inputs[] = {"integer_adm2", "integer_motion2", "integer_adm2_egl_1",
                                         "integer_motion2_mma"};
    static const double scores[] = {0.5, 3, 0.75, 4};
    double out[6];
    HvPredictor *predictor = hv_predictor_new(models, inputs, G_N_ELEMENTS(inputs), NULL);
    if (predictor)
        hv_predictor_run(predictor, scores, out);
    hv_predictor_free(predictor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const HvModelSettings settings = {.enable_transform = TRUE};
    GError *error = NULL;
    char *text = g_malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    HvModels *models = hv_models_parse(text, size, "x.json", &settings, &error);
    if (models)
        predict(models);
    else if (!error || error->domain != HV_ERROR || !g_utf8_validate(error->message, -1, NULL))
        abort();
    hv_models_unref(models);
    g_clear_error(&error);
    g_free(text);
    return 0;
}
