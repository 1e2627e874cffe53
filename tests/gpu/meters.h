/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several streams that share a GPU: a meter and a thread that feeds it for each. */
#ifndef METERS_H
#define METERS_H

#include "gpu.h"

/* How long it takes so many meters, all at once, to measure `pairs` times the same pair each; in
 * microseconds, after some pairs that are not timed. Ends the program when something fails. */
gint64 meters_time(HvHip *hip, const HvFormat *format, GPtrArray *features, unsigned slots,
                   unsigned meters, const HvPicture *pair, unsigned pairs);

#endif
