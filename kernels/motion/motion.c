/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion as a metric: its options, score names and limits. */
#include "kernels/motion/motion.h"

#include <stddef.h>

#define MEMBER(name) offsetof(HvMotionParams, name)

static const HvOption options[] = {
    {"motion_force_zero", "force_0", "all scores are 0", HV_OPTION_BOOL, TRUE, MEMBER(force_zero),
     FALSE, 0, 1},
    {"motion_blend_factor", "mbf", "how much of motion beyond motion_blend_offset counts",
     HV_OPTION_DOUBLE, TRUE, MEMBER(blend_factor), 1.0, 0.0, 1.0},
    {"motion_blend_offset", "mbo", "motion from which motion_blend_factor applies",
     HV_OPTION_DOUBLE, TRUE, MEMBER(blend_offset), 40.0, 0.0, 1000.0},
    {"motion_fps_weight", "mfw", "weight for the frame rate", HV_OPTION_DOUBLE, TRUE,
     MEMBER(fps_weight), 1.0, 0.0, 5.0},
    {"motion_max_val", "mmxv", "greatest motion; what is above is clipped", HV_OPTION_DOUBLE, TRUE,
     MEMBER(max_val), 10000.0, 0.0, 10000.0},
    {"motion_five_frame_window", "mffw", "compare with the frame before the previous one",
     HV_OPTION_BOOL, TRUE, MEMBER(five_frame_window), FALSE, 0, 1},
    {"motion_moving_average", "mma", "average motion3 with the frame before", HV_OPTION_BOOL, TRUE,
     MEMBER(moving_average), FALSE, 0, 1},
    {"debug", NULL, "also report the motion of each frame by itself", HV_OPTION_BOOL, FALSE,
     MEMBER(debug), FALSE, 0, 1},
    {NULL}};

static const char *const names[] = {"integer_motion2", "integer_motion3", NULL};
static const char *const debug_names[] = {"integer_motion2", "integer_motion3", "integer_motion",
                                          NULL};

static const char *const *score_names(const void *params)
{
    return ((const HvMotionParams *)params)->debug ? debug_names : names;
}

/* Below three rows or columns the mirrored border would reach beyond the other end. */
static gboolean validate(const void *params, const HvFormat *format, GError **error)
{
    if (format && (format->width < 3 || format->height < 3)) {
        g_set_error(error, HV_ERROR, HV_ERROR_SIZE,
                    "motion measures pictures from 3x3 up, not %ux%u", format->width,
                    format->height);
        return FALSE;
    }
    return TRUE;
}

const HvMetricInfo hv_motion_info = {
    .name = "motion",
    .help = "how much the reference moves from frame to frame",
    .options = options,
    .params_size = sizeof(HvMotionParams),
    .score_names = score_names,
    .validate = validate,
    .cpu = &hv_motion_cpu_ops,
    .hip = &hv_motion_hip_ops,
};
