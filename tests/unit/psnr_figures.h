/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What libvmaf 3.2's C code says of streams made from formulas: frame i has contents `kind` + i.
 * Measured with ../shared/tools/oracle.c (cpumask 0xffffffff) on what test_psnr --write writes. */
#ifndef PSNR_FIGURES_H
#define PSNR_FIGURES_H

#include "clips.h"

enum { PSNR_FRAMES = 3 };

typedef struct PsnrFigure {
    const char *name;
    unsigned frame; /* 0 for a score over the whole stream */
    double value;
} PsnrFigure;

typedef struct PsnrFigures {
    ClipKind kind;
    unsigned width, height, depth, sampling;
    PsnrFigure figure[32];
} PsnrFigures;

static const PsnrFigures psnr_figures[] = {
    {CLIP_NEAR,
     37,
     23,
     8,
     420,
     {{"psnr_y", 0, 49.74371819704884},
      {"psnr_cb", 0, 29.740088076199676},
      {"psnr_cr", 0, 24.31536842475216},
      {"mse_cr", 0, 240.73737373737373},
      {"float_psnr", 0, 49.74371819704884},
      {"float_moment_dis1st", 0, 129.90129259694478},
      {"float_moment_ref2nd", 0, 22323.133960047002},
      {"float_moment_dis2nd", 0, 22329.374853113983},
      {"apsnr_y", 0, 27.633856803242153},
      {"apsnr_cb", 0, 26.239389772146104},
      {"apsnr_cr", 0, 26.939433807205198},
      {NULL}}},
    {CLIP_ENHANCED,
     35,
     18,
     10,
     422,
     {{"psnr_y", 1, 23.252098560425935},
      {"psnr_cb", 1, 25.737646928200274},
      {"psnr_cr", 1, 72},
      {"mse_cr", 1, 0},
      {"float_psnr", 1, 23.252098560425935},
      {"float_moment_dis1st", 1, 127.6765873015873},
      {"float_moment_ref2nd", 1, 20894.13740079365},
      {"float_moment_dis2nd", 1, 18881.037003968253},
      {"apsnr_y", 0, 26.715628583501054},
      {"apsnr_cb", 0, 26.562324814657437},
      {"apsnr_cr", 0, 4.759639683268482},
      {NULL}}},
    {CLIP_EQUAL,
     40,
     31,
     12,
     420,
     {{"psnr_y", 2, 0},
      {"psnr_cb", 2, 3.010299956639812},
      {"psnr_cr", 2, 2.98144307426493},
      {"mse_cr", 2, 8440409.25},
      {"float_psnr", 2, 0},
      {"float_moment_dis1st", 2, 127.96875},
      {"float_moment_ref2nd", 2, 32752.001953125},
      {"float_moment_dis2nd", 2, 32752.001953125},
      {"apsnr_y", 0, 1.7609125905568135},
      {"apsnr_cb", 0, 0.7918124604762511},
      {"apsnr_cr", 0, 1.7536803743658425},
      {NULL}}},
    {CLIP_BLURRED,
     33,
     33,
     16,
     444,
     {{"psnr_y", 1, 30.954169457243434},
      {"psnr_cb", 1, 108},
      {"psnr_cr", 1, 0},
      {"mse_cr", 1, 4294836225},
      {"float_psnr", 1, 30.954169457243434},
      {"float_moment_dis1st", 1, 86.33457085055096},
      {"float_moment_ref2nd", 1, 10197.131369850853},
      {"float_moment_dis2nd", 1, 9177.2670008972},
      {"apsnr_y", 0, 27.22139544572295},
      {"apsnr_cb", 0, 4.767727624829892},
      {"apsnr_cr", 0, 1.7609125905567957},
      {NULL}}},
    {CLIP_NOISE,
     481,
     321,
     16,
     420,
     {{"psnr_y", 1, 98.09506445464837},
      {"psnr_cb", 1, 30.26026463941168},
      {"psnr_cr", 1, 22.55134433178613},
      {"mse_cr", 1, 23867788.14734375},
      {"float_psnr", 1, 98.09506445464837},
      {"float_moment_dis1st", 1, 127.89690734273094},
      {"float_moment_ref2nd", 1, 21825.397045220514},
      {"float_moment_dis2nd", 1, 21825.397609984168},
      {"apsnr_y", 0, 12.528892435381493},
      {"apsnr_cb", 0, 26.642643980944065},
      {"apsnr_cr", 0, 26.63258894565841},
      {NULL}}},
    {CLIP_NOISE, 0, 0, 0, 0, {{NULL}}},
};

#endif
