/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fingerprints: see fingerprint.h. */

#include "fingerprint.h"

#include <math.h>
#include <string.h>

#define COLUMNS GST_HIP_VMAF_FINGERPRINT_COLUMNS
#define ROWS GST_HIP_VMAF_FINGERPRINT_ROWS
#define CELLS GST_HIP_VMAF_FINGERPRINT_CELLS

/* Rows that are read of one cell. */
#define SAMPLED 4

/* Samples that are added up at a time: a constant, so that the compiler uses vectors. */
#define BLOCK 64

/* Below this contrast, in steps of 8 bits, noise is not blown up any further. */
#define LEAST_CONTRAST 1.5f

#define SCALE 1024.0f

typedef struct
{
  const HvPlane *luma;
  const HvFormat *format;
  guint columns, rows;
  guint32 *sums;                /* by column of samples, over the rows of one row of cells */
} Reader;

static void
add_bytes (guint32 * restrict sums, const guint8 * restrict samples, guint n)
{
  guint i = 0;

  for (; i + BLOCK <= n; i += BLOCK) {
    for (guint k = 0; k < BLOCK; k++)
      sums[i + k] += samples[i + k];
  }
  for (; i < n; i++)
    sums[i] += samples[i];
}

static void
add_words (guint32 * restrict sums, const guint16 * restrict samples, guint n)
{
  guint i = 0;

  for (; i + BLOCK <= n; i += BLOCK) {
    for (guint k = 0; k < BLOCK; k++)
      sums[i + k] += samples[i + k];
  }
  for (; i < n; i++)
    sums[i] += samples[i];
}

static void
add_row (const Reader * reader, guint y)
{
  const guint8 *row = (const guint8 *) reader->luma->data +
      (ptrdiff_t) y * reader->luma->stride;

  if (reader->format->depth == 8)
    add_bytes (reader->sums, row, reader->format->width);
  else
    add_words (reader->sums, (const guint16 *) row, reader->format->width);
}

/* The means of one row of cells, in steps of 8 bits. */
static void
read_cells (const Reader * reader, guint row, gfloat * means)
{
  guint width = reader->format->width, height = reader->format->height;
  guint first = row * height / reader->rows;
  guint n = (row + 1) * height / reader->rows - first;
  guint read = MIN (n, SAMPLED);
  guint unit = reader->format->depth - 8 + reader->luma->shift;

  memset (reader->sums, 0, width * sizeof (*reader->sums));
  for (guint i = 0; i < read; i++)
    add_row (reader, first + i * n / read);
  for (guint c = 0; c < reader->columns; c++) {
    guint begin = c * width / reader->columns;
    guint end = (c + 1) * width / reader->columns;
    guint64 sum = 0;

    for (guint x = begin; x < end; x++)
      sum += reader->sums[x];
    means[c] = (gfloat) sum / ((end - begin) * read) / (1u << unit);
  }
}

static void
normalise (GstHipVmafFingerprint * print, const gfloat * means)
{
  gdouble sum = 0, squares = 0;
  gfloat mean, factor;

  for (guint i = 0; i < print->n_cells; i++)
    sum += means[i];
  mean = sum / print->n_cells;
  for (guint i = 0; i < print->n_cells; i++)
    squares += (means[i] - mean) * (means[i] - mean);
  print->contrast = MAX (sqrt (squares / print->n_cells), LEAST_CONTRAST);
  factor = SCALE / print->contrast;
  for (guint i = 0; i < print->n_cells; i++)
    print->cell[i] = CLAMP ((means[i] - mean) * factor, -16000, 16000);
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
  return sum / SCALE * print->contrast / MAX (print->n_cells, 1);
}

gfloat
gst_hip_vmaf_fingerprint_spread (const GstHipVmafFingerprint * print,
    const GstHipVmafFingerprint * other)
{
  gdouble sum = 0, squares = 0;

  for (guint i = 0; i < CELLS; i++) {
    gdouble size = difference (print, other, i);

    sum += size;
    squares += size * size;
  }
  return squares > 0 ? sum * sum / squares : 0;
}
