/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The staging pool.
 *
 * A picture is staged as layers: each run of rows that is copied as one. Planar pictures have a
 * layer a plane; interleaved chroma (NV12, P010) is one layer that two planes look into. */
#include "staging.h"

#include <string.h>

enum {
    PITCH_ALIGNMENT = 256,
    KEPT_ALIGNMENT = 16, /* a source's pitch is kept where it is a multiple of this */
    ROOM_ALIGNMENT = 256 /* between layers */
};

/* Where the layer of one kind of picture lies in a slot's memory, and how far it may reach. */
typedef struct Room {
    size_t offset, bytes;
} Room;

typedef struct Slot {
    HvSlot shown;
    HvDevice memory; /* of both pictures, room by room */
    char *bounce;    /* pinned, laid out alike */
    HvHipEvent *end;
} Slot;

struct HvStaging {
    HvHip *hip;
    HvFormat format;
    unsigned n_planes; /* that are staged */
    Room room[2][HV_MAX_PLANES];
    size_t slot_bytes;
    unsigned n_slots;
    Slot slot[];
};

/* Rows of memory on the host. */
typedef struct Layer {
    const char *data;
    ptrdiff_t stride;
    size_t row_bytes, rows;
} Layer;

static size_t round_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

static size_t own_pitch(size_t row_bytes)
{
    return round_up(row_bytes, PITCH_ALIGNMENT);
}

/* Room for our own pitch, or a source's that is wider by the padding that decoders like. */
static size_t room_bytes(size_t row_bytes, size_t rows)
{
    return round_up((own_pitch(row_bytes) + PITCH_ALIGNMENT) * rows, ROOM_ALIGNMENT);
}

static void plan_rooms(HvStaging *staging)
{
    const HvFormat *format = &staging->format;
    size_t sample = hv_format_sample_bytes(format);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < staging->n_planes; i++) {
            size_t bytes = room_bytes(hv_format_plane_width(format, i) * sample,
                                      hv_format_plane_height(format, i));
            staging->room[side][i] = (Room){staging->slot_bytes, bytes};
            staging->slot_bytes += bytes;
        }
}

static gboolean make_slot(HvStaging *staging, Slot *slot, GError **error)
{
    HvHip *hip = staging->hip;
    slot->shown.stream = hv_hip_stream_new(hip, error);
    if (!slot->shown.stream)
        return FALSE;
    slot->end = hv_hip_event_new(hip, error);
    if (!slot->end || !hv_hip_malloc(hip, staging->slot_bytes, &slot->memory, error))
        return FALSE;
    for (unsigned side = 0; side < 2; side++)
        slot->shown.plane[side][0].data = slot->memory + staging->room[side][0].offset;
    slot->bounce = hv_hip_malloc_pinned(hip, staging->slot_bytes, error);
    return slot->bounce != NULL;
}

HvStaging *hv_staging_new(HvHip *hip, const HvFormat *format, unsigned slots, gboolean chroma,
                          GError **error)
{
    HvStaging *staging = g_malloc0(sizeof(HvStaging) + slots * sizeof(Slot));
    staging->hip = hv_hip_ref(hip);
    staging->format = *format;
    staging->n_planes = chroma ? format->n_planes : 1;
    staging->n_slots = slots;
    plan_rooms(staging);
    for (unsigned i = 0; i < slots; i++)
        if (!make_slot(staging, &staging->slot[i], error)) {
            hv_staging_free(staging);
            return NULL;
        }
    return staging;
}

void hv_staging_free(HvStaging *staging)
{
    if (!staging)
        return;
    hv_staging_quiesce(staging);
    for (unsigned i = 0; i < staging->n_slots; i++) {
        Slot *slot = &staging->slot[i];
        hv_hip_event_free(staging->hip, slot->end);
        hv_hip_stream_free(staging->hip, slot->shown.stream);
        hv_hip_free(staging->hip, slot->memory);
        hv_hip_free_pinned(staging->hip, slot->bounce);
    }
    hv_hip_unref(staging->hip);
    g_free(staging);
}

HvHip *hv_staging_hip(const HvStaging *staging)
{
    return staging->hip;
}

unsigned hv_staging_slots(const HvStaging *staging)
{
    return staging->n_slots;
}

const HvSlot *hv_staging_slot(const HvStaging *staging, unsigned slot)
{
    return &staging->slot[slot].shown;
}

/* Copies */

static void copy_rows(char *to, size_t pitch, const Layer *layer)
{
    if (layer->stride == (ptrdiff_t)pitch) {
        memcpy(to, layer->data, (layer->rows - 1) * pitch + layer->row_bytes);
        return;
    }
    for (size_t y = 0; y < layer->rows; y++)
        memcpy(to + y * pitch, layer->data + (ptrdiff_t)y * layer->stride, layer->row_bytes);
}

/* Whether the rows can go as they lie: from the first to the last without a copy on the host. */
static gboolean keeps_pitch(const Layer *layer, const Room *room)
{
    return layer->stride >= (ptrdiff_t)layer->row_bytes && layer->stride % KEPT_ALIGNMENT == 0 &&
           (layer->rows - 1) * layer->stride + layer->row_bytes <= room->bytes;
}

static gboolean is_pinned(HvHip *hip, const Layer *layer)
{
    return layer->stride > 0 &&
           hv_hip_is_pinned(hip, layer->data, (layer->rows - 1) * layer->stride + layer->row_bytes);
}

/* Queues one layer's way to the device; `pitch` gets its pitch there. */
static gboolean stage_layer(HvStaging *staging, Slot *slot, const Room *room, const Layer *layer,
                            uint32_t *pitch, GError **error)
{
    HvHip *hip = staging->hip;
    HvDevice to = slot->memory + room->offset;
    const char *from = layer->data;
    gboolean keep = keeps_pitch(layer, room), pinned = is_pinned(hip, layer);
    *pitch = (uint32_t)(keep ? (size_t)layer->stride : own_pitch(layer->row_bytes));
    if (pinned && !keep && layer->stride % 4 == 0)
        return hv_hip_upload_2d(hip, to, *pitch, from, layer->stride, layer->row_bytes, layer->rows,
                                slot->shown.stream, error);
    /* Also where ROCm would copy a rectangle row by row. */
    if (!pinned || !keep) {
        copy_rows(slot->bounce + room->offset, *pitch, layer);
        from = slot->bounce + room->offset;
    }
    return hv_hip_upload(hip, to, from, (layer->rows - 1) * *pitch + layer->row_bytes,
                         slot->shown.stream, error);
}

static gboolean is_interleaved(const HvStaging *staging, const HvPicture *picture)
{
    return staging->n_planes == HV_MAX_PLANES &&
           picture->plane[1].step > hv_format_sample_bytes(&staging->format);
}

static Layer layer_of(const HvStaging *staging, const HvPicture *picture, unsigned plane)
{
    const HvPlane *of = &picture->plane[plane];
    size_t sample = hv_format_sample_bytes(&staging->format);
    return (Layer){
        .data = of->data,
        .stride = of->stride,
        .row_bytes = (hv_format_plane_width(&staging->format, plane) - 1) * of->step + sample,
        .rows = hv_format_plane_height(&staging->format, plane),
    };
}

static void show(HvStagedPlane *shown, HvDevice data, uint32_t pitch, const HvPlane *plane)
{
    *shown = (HvStagedPlane){data, pitch, plane->shift, plane->step};
}

static gboolean stage_plane(HvStaging *staging, Slot *slot, unsigned side, const HvPicture *picture,
                            unsigned i, GError **error)
{
    const Room *room = &staging->room[side][i];
    Layer layer = layer_of(staging, picture, i);
    uint32_t pitch;
    if (!stage_layer(staging, slot, room, &layer, &pitch, error))
        return FALSE;
    show(&slot->shown.plane[side][i], slot->memory + room->offset, pitch, &picture->plane[i]);
    return TRUE;
}

/* Both chroma planes, which take turns sample by sample, Cb or Cr first. */
static gboolean stage_interleaved(HvStaging *staging, Slot *slot, unsigned side,
                                  const HvPicture *picture, GError **error)
{
    const HvPlane *chroma = &picture->plane[1];
    const Room *rooms = &staging->room[side][1];
    Room room = {rooms[0].offset, rooms[0].bytes + rooms[1].bytes};
    size_t sample = hv_format_sample_bytes(&staging->format);
    unsigned first = (guintptr)chroma[1].data < (guintptr)chroma[0].data;
    Layer layer = layer_of(staging, picture, 1 + first);
    uint32_t pitch;
    layer.row_bytes += sample;
    if (!stage_layer(staging, slot, &room, &layer, &pitch, error))
        return FALSE;
    for (unsigned i = 0; i < 2; i++)
        show(&slot->shown.plane[side][1 + i],
             slot->memory + room.offset + (i == first ? 0 : sample), pitch, &chroma[i]);
    return TRUE;
}

static gboolean stage_picture(HvStaging *staging, Slot *slot, unsigned side,
                              const HvPicture *picture, GError **error)
{
    if (is_interleaved(staging, picture))
        return stage_plane(staging, slot, side, picture, 0, error) &&
               stage_interleaved(staging, slot, side, picture, error);
    for (unsigned i = 0; i < staging->n_planes; i++)
        if (!stage_plane(staging, slot, side, picture, i, error))
            return FALSE;
    return TRUE;
}

gboolean hv_staging_stage(HvStaging *staging, unsigned slot, const HvPicture *reference,
                          const HvPicture *distorted, GError **error)
{
    Slot *to = &staging->slot[slot];
    return stage_picture(staging, to, 0, reference, error) &&
           stage_picture(staging, to, 1, distorted, error);
}

gboolean hv_staging_seal(HvStaging *staging, unsigned slot, GError **error)
{
    Slot *of = &staging->slot[slot];
    return hv_hip_event_record(staging->hip, of->end, of->shown.stream, error);
}

gboolean hv_staging_wait(HvStaging *staging, unsigned slot, GError **error)
{
    return hv_hip_event_wait(staging->hip, staging->slot[slot].end, error);
}

void hv_staging_quiesce(HvStaging *staging)
{
    for (unsigned i = 0; i < staging->n_slots; i++)
        hv_hip_stream_quiesce(staging->hip, staging->slot[i].shown.stream);
}

gboolean hv_staging_check_luma(const HvStaging *staging, unsigned slot, const char *metric,
                               GError **error)
{
    const HvSlot *staged = hv_staging_slot(staging, slot);
    for (int p = 0; p < 2; p++) {
        uint64_t pitch = staged->plane[p][0].pitch;
        if (pitch * staging->format.height <= UINT32_MAX)
            continue;
        g_set_error(error, HV_ERROR, HV_ERROR_BACKEND,
                    "%s on a GPU measures planes of up to 4 GiB, not %u rows of %" G_GUINT64_FORMAT
                    " bytes",
                    metric, staging->format.height, pitch);
        return FALSE;
    }
    return TRUE;
}
