/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fingerprints: see fingerprint.h. */

#include "fingerprint.h"

#include <math.h>
#include <string.h>

#define COLUMNS GST_HIP_VMAF_FINGERPRINT_COLUMNS
#define ROWS GST_HIP_VMAF_FINGERPRINT_ROWS
#define CELLS GST_HIP_VMAF_FINGERPRINT_CELLS

/* Rows that are read of one cell; the same ones again where there are fewer. */
#define SAMPLED 4

/* Below this contrast, in steps of 8 bits, noise is not blown up any further. */
#define LEAST_CONTRAST 1.5f

#define SCALE 1024.0f

typedef struct
{
  const HvPlane *luma;
  const HvFormat *format;
  guint columns, rows;
  guint begin[COLUMNS + 1];     /* of each column of cells, and where the last one ends */
  gfloat unit[COLUMNS];         /* a cell's mean, in steps of 8 bits, for each one in its sum */
  guint32 *sums;                /* by column of samples, over the rows of one row of cells */
} Reader;

static void
add_bytes (guint32 * restrict sums, const guint8 * const rows[SAMPLED], gsize n)
{
  const guint8 *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];

  for (gsize i = 0; i < n; i++)
    sums[i] = a[i] + b[i] + c[i] + d[i];
}

static void
add_words (guint32 * restrict sums, const guint8 * const rows[SAMPLED], gsize n)
{
  const guint16 *a = (const guint16 *) rows[0], *b = (const guint16 *) rows[1];
  const guint16 *c = (const guint16 *) rows[2], *d = (const guint16 *) rows[3];

  for (gsize i = 0; i < n; i++)
    sums[i] = a[i] + b[i] + c[i] + d[i];
}

/* The means of one row of cells, in steps of 8 bits. */
static void
read_cells (const Reader * reader, guint row, gfloat * means)
{
  guint width = reader->format->width, height = reader->format->height;
  guint first = row * height / reader->rows;
  guint n = (row + 1) * height / reader->rows - first;
  const guint8 *rows[SAMPLED];

  for (guint i = 0; i < SAMPLED; i++)
    rows[i] = (const guint8 *) reader->luma->data
        + (ptrdiff_t) (first + i * n / SAMPLED) * reader->luma->stride;
  if (reader->format->depth == 8)
    add_bytes (reader->sums, rows, width);
  else
    add_words (reader->sums, rows, width);
  for (guint c = 0; c < reader->columns; c++) {
    guint32 sum = 0;

    for (gsize x = reader->begin[c]; x < reader->begin[c + 1]; x++)
      sum += reader->sums[x];
    means[c] = sum * reader->unit[c];
  }
}

static void
normalise (GstHipVmafFingerprint * print, const gfloat * means)
{
  gdouble sum = 0, squares = 0, variance;
  gfloat mean, factor;

  for (guint i = 0; i < print->n_cells; i++) {
    sum += means[i];
    squares += (gdouble) means[i] * means[i];
  }
  mean = sum / print->n_cells;
  variance = squares / print->n_cells - sum / print->n_cells * mean;
  print->contrast = MAX (sqrt (MAX (variance, 0)), LEAST_CONTRAST);
  factor = SCALE / print->contrast;
  for (guint i = 0; i < print->n_cells; i++)
    print->cell[i] = CLAMP ((means[i] - mean) * factor, -16000, 16000);
}

static void
divide_columns (Reader * reader)
{
  guint shift = reader->format->depth - 8 + reader->luma->shift;

  for (guint c = 0; c <= reader->columns; c++)
    reader->begin[c] = c * reader->format->width / reader->columns;
  for (guint c = 0; c < reader->columns; c++) {
    guint samples = (reader->begin[c + 1] - reader->begin[c]) * SAMPLED;

    reader->unit[c] = 1.0f / (samples << shift);
  }
}

void
gst_hip_vmaf_fingerprint (GstHipVmafFingerprint * print, const HvPlane * luma,
    const HvFormat * format)
{
  gfloat means[CELLS];
  Reader reader = {
    .luma = luma,
    .format = format,
    .columns = MIN (format->width, COLUMNS),
    .rows = MIN (format->height, ROWS),
    .sums = g_new (guint32, format->width)
  };

  memset (print, 0, sizeof (*print));
  print->n_cells = reader.columns * reader.rows;
  divide_columns (&reader);
  for (guint row = 0; row < reader.rows; row++)
    read_cells (&reader, row, means + row * reader.columns);
  g_free (reader.sums);
  normalise (print, means);
}

static guint
difference (const GstHipVmafFingerprint * print,
    const GstHipVmafFingerprint * other, guint cell)
{
  gint16 signed_difference = print->cell[cell] - other->cell[cell];

  return signed_difference < 0 ? -signed_difference : signed_difference;
}

gfloat
gst_hip_vmaf_fingerprint_distance (const GstHipVmafFingerprint * print,
    const GstHipVmafFingerprint * other)
{
  guint32 sum = 0;

  for (guint i = 0; i < CELLS; i++)
    sum += difference (print, other, i);
  return sum / SCALE * MAX (print->contrast, other->contrast)
      / MAX (print->n_cells, 1);
}

gfloat
gst_hip_vmaf_fingerprint_spread (const GstHipVmafFingerprint * print,
    const GstHipVmafFingerprint * other)
{
  guint64 squares = 0;
  guint32 total = 0;

  for (guint i = 0; i < CELLS; i++) {
    guint32 size = difference (print, other, i);

    total += size;
    squares += size * size;
  }
  return squares > 0 ? (gdouble) total / squares * total : 0;
}
