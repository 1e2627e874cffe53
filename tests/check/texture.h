/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A smooth texture that goes on for ever and repeats nowhere, for clips whose frames tell. */

#ifndef TEXTURE_H
#define TEXTURE_H

#include <glib.h>

static inline guint32
mix (guint32 value)
{
  value = (value ^ (value >> 16)) * 0x7feb352du;
  value = (value ^ (value >> 15)) * 0x846ca68bu;
  return value ^ (value >> 16);
}

static inline gdouble
lattice (gint x, gint y)
{
  return (mix (x * 7919u + mix (y)) & 0xffff) / 65535.0;
}

/* 0 to 1, with features of that many samples. */
static inline gdouble
texture (gdouble x, gdouble y, gint size)
{
  gint x0 = (gint) (x / size), y0 = (gint) (y / size);
  gdouble fx = x / size - x0, fy = y / size - y0;

  return (lattice (x0, y0) * (1 - fx) + lattice (x0 + 1, y0) * fx)
      * (1 - fy) + (lattice (x0, y0 + 1) * (1 - fx)
      + lattice (x0 + 1, y0 + 1) * fx) * fy;
}

#endif
