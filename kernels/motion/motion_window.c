/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From the sums of frames to scores, which look at later frames: the one float tail of every
 * backend. */
#include "kernels/motion/motion.h"

void hv_motion_init(HvMotion *motion, const HvMetricSetup *setup)
{
    motion->params = *(const HvMotionParams *)setup->params;
    motion->window = (HvMotionWindow){.params = &motion->params};
    motion->format = *setup->format;
}

unsigned hv_motion_distance(const HvMotionParams *params)
{
    return params->five_frame_window ? 2 : 1;
}

gboolean hv_motion_window_needs(const HvMotionWindow *window)
{
    return !window->params->force_zero && window->frames >= hv_motion_distance(window->params);
}

static double motion_at(const HvMotionWindow *window, guint64 frame)
{
    return window->motion[frame % HV_MOTION_KEPT];
}

/* What motion3 is made from: less weight above an offset, then the limit. */
static double blend(const HvMotionParams *p, double motion)
{
    double blended =
        motion * p->blend_factor + (1 - p->blend_factor) * MIN(p->blend_offset, motion);
    return MIN(blended, p->max_val);
}

/* The lesser of a frame's motion and the next one's; with the five-frame window, of the frames
 * before and after it, where those have one. */
static double motion2_at(const HvMotionWindow *window, guint64 frame)
{
    unsigned distance = hv_motion_distance(window->params);
    if (frame < distance)
        return 0;
    if (frame + 1 >= window->frames)
        return motion_at(window, frame);
    double next = motion_at(window, frame + 1);
    guint64 earlier = frame - (distance - 1);
    return earlier < distance ? next : MIN(motion_at(window, earlier), next);
}

/* Frames without a difference have the motion3 of the first that has one. */
static double motion3_at(HvMotionWindow *window, guint64 frame, double motion2)
{
    const HvMotionParams *p = window->params;
    unsigned distance = hv_motion_distance(p);
    if (frame < distance) {
        window->before = window->frames > distance ? blend(p, motion_at(window, distance)) : 0;
        return window->before;
    }
    double own = blend(p, motion2), before = window->before;
    window->before = own;
    return p->moving_average ? (own + before) / 2 : own;
}

static void deliver(HvMotionWindow *window)
{
    guint64 frame = window->delivered++;
    HvScores *scores = window->pending[frame % HV_MOTION_KEPT];
    double motion2 = motion2_at(window, frame);
    scores->value[0] = motion2;
    scores->value[1] = motion3_at(window, frame, motion2);
    if (window->params->debug)
        scores->value[2] = motion_at(window, frame);
    hv_scores_done(scores);
}

/* Whether the frame's scores need no later frame. */
static gboolean is_complete(const HvMotionWindow *window, guint64 frame)
{
    return window->frames > MAX(frame + 1, hv_motion_distance(window->params));
}

void hv_motion_window_add(HvMotionWindow *window, uint64_t sad, const HvFormat *format,
                          HvScores *scores)
{
    const HvMotionParams *p = window->params;
    double motion = 0;
    if (hv_motion_window_needs(window)) {
        motion = (double)sad / 256.0 / ((double)format->width * format->height) * p->fps_weight;
        motion = MIN(motion, p->max_val);
    }
    window->motion[window->frames % HV_MOTION_KEPT] = motion;
    window->pending[window->frames % HV_MOTION_KEPT] = scores;
    window->frames++;
    while (window->delivered < window->frames && is_complete(window, window->delivered))
        deliver(window);
}

void hv_motion_window_take_over(HvMotionWindow *window, HvMotionWindow *from)
{
    const HvMotionParams *params = window->params;
    *window = *from;
    window->params = params;
    *from = (HvMotionWindow){.params = from->params};
}

void hv_motion_window_flush(HvMotionWindow *window, HvFlush how)
{
    while (how == HV_FLUSH_END && window->delivered < window->frames)
        deliver(window);
    *window = (HvMotionWindow){.params = window->params};
}
