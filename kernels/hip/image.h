/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the build embeds: the kernels' machine code and what their metadata says of their arguments.
 * Made by kernels/hip/ scripts; a build without hipcc and nvcc has no image. */
#ifndef HV_IMAGE_H
#define HV_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#define HV_MAX_ARGUMENTS 12

/* The code of one .hip file. */
typedef struct HvImage {
    const char *name;      /* of the file, without its suffix */
    const uint8_t *bundle; /* a clang offload bundle for AMD targets, or NULL */
    size_t bundle_size;
    const char *ptx; /* for NVIDIA, or NULL */
} HvImage;

/* One kernel's explicit arguments, alike for all targets: the build failed otherwise. */
typedef struct HvKernelInfo {
    const char *name;
    unsigned image;   /* index into hv_images */
    unsigned threads; /* of a block */
    unsigned n_arguments;
    struct {
        uint16_t offset, size; /* bytes, in the argument segment */
        uint16_t is_pointer;
    } argument[HV_MAX_ARGUMENTS];
} HvKernelInfo;

extern const HvImage hv_images[];       /* ends with a NULL name */
extern const HvKernelInfo hv_kernels[]; /* ends with a NULL name */
/* "gfx900;gfx90a;...", or "" where no AMD code was built. */
extern const char *const hv_hip_targets;

#endif
