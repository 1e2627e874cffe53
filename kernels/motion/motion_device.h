/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What motion's kernel and the host that launches it share: the buffer struct that each slot has
 * one of in device memory, the fixed parameters that each instance has one of, and how pictures are
 * cut into blocks. Sizes and offsets are asserted: both sides must see the same. */
#ifndef HV_MOTION_DEVICE_H
#define HV_MOTION_DEVICE_H

#include "kernels/hip/device.h"

#include "kernels/motion/motion_arith.h"

#include <assert.h>
#include <stddef.h>

enum {
    HV_MOTION_BLOCK = 256, /* threads */
    /* samples of a block's tile */
    HV_MOTION_TILE_COLUMNS = 64,
    HV_MOTION_TILE_ROWS = 32
};

/* In the place of a plane's number: there is none. */
#define HV_MOTION_NO_PLANE UINT32_MAX

typedef unsigned long long HvMotionSum;

/* What one pair's kernel works on: device memory of one slot, and the planes of all. */
typedef struct HvMotionBuffers {
    HV_GLOBAL(const uint8_t) luma; /* as staged: the reference's */
    HV_GLOBAL(uint8_t) planes;     /* copies of it, a frame each, one after the other */
    HV_GLOBAL(HvMotionSum) sum;    /* 0 at first */
} HvMotionBuffers;

/* Every pointer of it. */
#define HV_MOTION_BUFFER_POINTERS 3
static const size_t hv_motion_buffer_pointers[HV_MOTION_BUFFER_POINTERS] = {
    offsetof(HvMotionBuffers, luma), offsetof(HvMotionBuffers, planes),
    offsetof(HvMotionBuffers, sum)};

static_assert(sizeof(HvMotionBuffers) == 8 * HV_MOTION_BUFFER_POINTERS, "pointers only");

/* What no frame changes. */
typedef struct HvMotionFixed {
    int32_t width, height;
    int32_t depth, sample_bytes;
    uint32_t stride; /* bytes from a copy's row to the next one */
    uint32_t padding;
    uint64_t plane_bytes; /* from a copy to the next one */
} HvMotionFixed;

static_assert(sizeof(HvMotionFixed) == 32 && offsetof(HvMotionFixed, plane_bytes) == 24,
              "as on the host");

#endif
