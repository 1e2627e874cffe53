/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A HIP runtime for the tests of kernels/hip: memory is the host's, copies happen at once, kernels
 * only note what they were given. The test reads and sets this struct, which it finds by name. */
#ifndef HV_FAKE_HIP_H
#define HV_FAKE_HIP_H

#include <stddef.h>

typedef struct FakeHip {
    int devices;
    const char *target;      /* what the properties say */
    const char *fails;       /* name of a call that fails, or NULL */
    int at, status;          /* its calls from this one on (counted from 0), with this */
    int calls;               /* of that one so far */
    int total;               /* of all calls */
    int fails_total;         /* the number of the call that fails, whichever it is; -1: none */
    int live;                /* memory, streams, events and modules that were not freed */
    int bad;                 /* calls with what was never made, or without a device set */
    int uploads, uploads_2d; /* counted */
    size_t arguments[4];     /* of the last launch, as far as they are 8 bytes wide */
    unsigned grid[3], block[3];
} FakeHip;

#endif
