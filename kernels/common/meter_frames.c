/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The meter's pairs: on their way, and as pictures that are kept. */
#include "meter_parts.h"

HvMeterFrame *hv_frame_new(const HvMeter *meter)
{
    size_t head = sizeof(HvMeterFrame) + meter->n_tenants * sizeof(HvScores);
    HvMeterFrame *frame = g_malloc0(head + meter->n_values * sizeof(double));
    frame->values = (double *)((char *)frame + head);
    for (unsigned i = 0; i < meter->n_tenants; i++)
        frame->scores[i].value = frame->values + meter->tenants[i].first_value;
    frame->link.data = frame->kept_link.data = frame;
    return frame;
}

HvMeterFrame *hv_frame_pop(GQueue *queue)
{
    GList *link = g_queue_pop_head_link(queue);
    return link ? link->data : NULL;
}

void hv_frames_free(GQueue *queue)
{
    for (HvMeterFrame *frame; (frame = hv_frame_pop(queue));)
        g_free(frame);
}

void hv_scores_done(HvScores *scores)
{
    if (!scores->frame)
        return;
    scores->frame->pending--;
    scores->frame = NULL;
}

gboolean hv_frame_settle(HvMeter *meter, HvMeterFrame *frame)
{
    hv_lock(&meter->lock);
    gboolean alive = !frame->settled && frame->generation == meter->generation;
    if (alive)
        meter->unsettled--;
    hv_unlock(&meter->lock);
    frame->settled = TRUE;
    return alive;
}

/* The owner's last call. */
static void frame_release(HvMeter *meter, HvMeterFrame *frame)
{
    if (!frame->released)
        meter->callbacks.owner_free(frame->pair.owner);
    frame->released = TRUE;
}

void hv_frame_recycle(HvMeter *meter, HvMeterFrame *frame)
{
    frame->through = TRUE;
    if (!frame->kept || frame->copy)
        frame_release(meter, frame);
    if (frame->kept)
        return;
    hv_lock(&meter->lock);
    g_queue_push_head_link(&meter->unused, &frame->link);
    hv_unlock(&meter->lock);
}

void hv_frame_pictures_done(HvMeter *meter, HvMeterFrame *frame)
{
    meter->callbacks.pictures_done(frame->pair.owner);
    if (frame->settled)
        frame_release(meter, frame);
}

void hv_meter_keep_only(HvMeter *meter, unsigned most)
{
    while (meter->kept.length > most) {
        HvMeterFrame *frame = g_queue_pop_head_link(&meter->kept)->data;
        frame->kept = FALSE;
        if (!frame->copy)
            hv_frame_pictures_done(meter, frame);
        g_clear_pointer(&frame->copy, g_free);
        if (frame->through)
            hv_frame_recycle(meter, frame);
    }
}

void hv_meter_keep(HvMeter *meter, HvMeterFrame *frame)
{
    frame->kept = TRUE;
    g_queue_push_tail_link(&meter->kept, &frame->kept_link);
    hv_meter_keep_only(meter, meter->look_back);
}

void hv_frame_copy_pictures(HvMeter *meter, HvMeterFrame *frame)
{
    size_t bytes = hv_picture_bytes(&meter->format);
    frame->copy = g_malloc(2 * bytes);
    hv_picture_copy(&meter->format, &frame->pair.reference, frame->copy);
    hv_picture_copy(&meter->format, &frame->pair.distorted, (char *)frame->copy + bytes);
    hv_frame_pictures_done(meter, frame);
}

HvMeterFrame *hv_meter_first_mapped(const HvMeter *meter)
{
    for (GList *link = meter->kept.head; link; link = link->next)
        if (!((HvMeterFrame *)link->data)->copy)
            return link->data;
    return NULL;
}

void hv_frame_fail(HvMeter *meter, HvMeterFrame *frame, const Tenant *tenant, GError *error)
{
    if (!error)
        error = g_error_new(HV_ERROR, HV_ERROR_BACKEND, "%s could not measure a frame",
                            tenant->info->name);
    if (hv_frame_settle(meter, frame))
        meter->callbacks.failed(meter->user, error);
    g_error_free(error);
}
