/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies of pictures. */
#include "picture.h"

#include <string.h>

/* From a row's first sample to its last, where samples lie `step` bytes apart. */
static size_t row_bytes(const HvFormat *format, unsigned plane, unsigned step)
{
    return (size_t)(hv_format_plane_width(format, plane) - 1) * step +
           hv_format_sample_bytes(format);
}

size_t hv_picture_bytes(const HvFormat *format)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < format->n_planes; i++)
        bytes += row_bytes(format, i, (i ? 2 : 1) * hv_format_sample_bytes(format)) *
                 hv_format_plane_height(format, i);
    return bytes;
}

void hv_picture_copy(const HvFormat *format, HvPicture *picture, void *memory)
{
    char *to = memory;
    for (unsigned i = 0; i < format->n_planes; i++) {
        HvPlane *plane = &picture->plane[i];
        if (!plane->data)
            continue;
        size_t bytes = row_bytes(format, i, plane->step);
        const char *from = plane->data;
        plane->data = to;
        for (unsigned y = 0; y < hv_format_plane_height(format, i); y++, to += bytes)
            memcpy(to, from + (ptrdiff_t)y * plane->stride, bytes);
        plane->stride = (ptrdiff_t)bytes;
    }
}
