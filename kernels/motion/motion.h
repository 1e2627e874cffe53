/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Motion's parameters, and the window of frames in which differences become scores.
 * docs/motion.md describes the metric. */
#ifndef HV_MOTION_H
#define HV_MOTION_H

#include "kernels/common/metric.h"
#include "kernels/motion/motion_arith.h"

/* libvmaf's options of `motion`, by their names less the prefix. */
typedef struct HvMotionParams {
    gboolean debug, force_zero, five_frame_window, moving_average;
    double blend_factor, blend_offset, fps_weight, max_val;
} HvMotionParams;

/* Frames whose scores can wait for later frames at one time: two before the first difference, and
 * the one that waits for its successor. */
#define HV_MOTION_PENDING 3
#define HV_MOTION_KEPT    (HV_MOTION_PENDING + 1)

/* Where differences become scores, in the order of the frames. Zeroed but for params, it is at the
 * start of a stream. */
typedef struct HvMotionWindow {
    const HvMotionParams *params;
    guint64 frames, delivered;
    double motion[HV_MOTION_KEPT]; /* by frame modulo HV_MOTION_KEPT */
    HvScores *pending[HV_MOTION_KEPT];
    double before; /* motion3 of the frame before, before averaging */
} HvMotionWindow;

/* What an instance of any backend has. */
typedef struct HvMotion {
    HvMotionParams params;
    HvMotionWindow window;
    HvFormat format;
} HvMotion;

void hv_motion_init(HvMotion *motion, const HvMetricSetup *setup);

/* How many frames back the one is that a frame is compared with: 1 or 2. */
unsigned hv_motion_distance(const HvMotionParams *params);

/* Whether the next frame's difference is asked for: not with motion_force_zero, and not for the
 * first frames, which have none to compare with. */
gboolean hv_motion_window_needs(const HvMotionWindow *window);

/* The next frame: `sad` is the sum of absolute filtered differences (ignored where none was needed)
 * over width * height samples. Hands over all scores that are complete by now; `scores` stays in
 * use until then. */
void hv_motion_window_add(HvMotionWindow *window, uint64_t sad, const HvFormat *format,
                          HvScores *scores);

/* Goes on where `from` was, which is at the start of a stream then. */
void hv_motion_window_take_over(HvMotionWindow *window, HvMotionWindow *from);

/* The end of a stream, or a discontinuity: hands over what waits, or forgets it. Then the window
 * is at the start of a stream. */
void hv_motion_window_flush(HvMotionWindow *window, HvFlush how);

extern const HvMetricInfo hv_motion_info;
extern const HvMetricOps hv_motion_cpu_ops;
extern const HvMetricOps hv_motion_hip_ops;

/* Of an instance of the operations of that name, for the others to take over. */
HvMotionWindow *hv_motion_cpu_window(HvMetric *metric);
HvMotionWindow *hv_motion_hip_window(HvMetric *metric);

#endif
