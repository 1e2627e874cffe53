/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pictures as every metric sees them: planes of unsigned samples, little-endian words. */
#ifndef HV_PICTURE_H
#define HV_PICTURE_H

#include <glib.h>
#include <stddef.h>

#define HV_MAX_PLANES 3

/* What both pictures of a pair share. The layout in memory may differ between the two. */
typedef struct HvFormat {
    unsigned width, height;                  /* of luma, in samples; at least 1 */
    unsigned depth;                          /* bits of a sample, 8 to 16 */
    unsigned n_planes;                       /* 1: luma only, 3: luma and two chroma planes */
    unsigned chroma_shift_x, chroma_shift_y; /* log2 of the chroma subsampling */
} HvFormat;

/* One plane. A sample is one byte where the depth is 8, else a 16-bit word; its value is the
 * stored word shifted right by `shift` (6 for P010, 0 for planar formats). */
typedef struct HvPlane {
    const void *data; /* the first sample of the first row; words are aligned to 2 bytes */
    ptrdiff_t stride; /* bytes from a row to the next one, at least the row's bytes */
    unsigned step; /* bytes from a sample to the next: 1 or 2, twice that in interleaved chroma */
    unsigned shift;
} HvPlane;

typedef struct HvPicture {
    HvPlane plane[HV_MAX_PLANES]; /* Y, Cb, Cr; those beyond n_planes are unset */
} HvPicture;

static inline unsigned hv_format_plane_width(const HvFormat *format, unsigned plane)
{
    unsigned shift = plane ? format->chroma_shift_x : 0;
    return (format->width + (1u << shift) - 1) >> shift;
}

static inline unsigned hv_format_plane_height(const HvFormat *format, unsigned plane)
{
    unsigned shift = plane ? format->chroma_shift_y : 0;
    return (format->height + (1u << shift) - 1) >> shift;
}

static inline unsigned hv_format_sample_bytes(const HvFormat *format)
{
    return format->depth > 8 ? 2 : 1;
}

/* Bytes that hold all samples of a picture, in any layout. */
size_t hv_picture_bytes(const HvFormat *format);

/* Copies those planes that are set to `memory`, aligned to words, of hv_picture_bytes(); they are
 * there from now on. */
void hv_picture_copy(const HvFormat *format, HvPicture *picture, void *memory);

#endif
