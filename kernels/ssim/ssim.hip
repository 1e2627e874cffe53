/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * SSIM and MS-SSIM on a GPU: both pictures made smaller, a launch a scale, and the windows' sums,
 * a launch a scale. A block keeps its tile of both pictures in its shared memory.
 *
 * Images are floats: rows of `stride` samples, the distorted picture after the reference. The
 * arithmetic is ssim_arith.h's, as on the CPU. */
#include "kernels/ssim/ssim_device.h"

enum { TILE_X = HV_SSIM_TILE_COLUMNS, TILE_Y = HV_SSIM_TILE_ROWS };
enum { SPAN_X = TILE_X + HV_SSIM_TAPS - 1, SPAN_Y = TILE_Y + HV_SSIM_TAPS - 1 };
enum { SMALL_X = HV_SSIM_SMALL_COLUMNS, SMALL_Y = HV_SSIM_SMALL_ROWS };
enum { PART_X = SMALL_X + HV_SSIM_LOW_REACH, PART_Y = 2 * SMALL_Y + HV_SSIM_LOW_TAPS - 2 };
enum { X, Y, XX, YY, XY, ROWS };

/* One picture of either kind. */
struct Source {
    const uint8_t *data;
    uint32_t pitch; /* bytes */
    int width, height;
    uint32_t shift, mask;
    float unit;
};

HV_INLINE Source luma(const uint8_t *data, uint32_t pitch, uint32_t shift, int width, int height,
                      uint32_t depth, float unit)
{
    return {data, pitch, width, height, shift & 15, (1u << (depth & 31)) - 1, unit};
}

HV_INLINE Source image(const float *data, uint32_t picture, uint32_t stride, int width, int height)
{
    const float *at = data + (uint64_t)picture * stride * (uint32_t)height;
    return {(const uint8_t *)at, 4 * stride, width, height, 0, 0, 1.0f};
}

/* A sample in the range of 8 bits; BYTES is 4 for images. */
template <int BYTES> HV_INLINE float load(const Source &source, int x, int y)
{
    const uint8_t *row = source.data + (uint32_t)y * source.pitch;
    if (BYTES == 4)
        return ((const float *)row)[x];
    if (BYTES == 1)
        return (float)row[x];
    return (float)(((const uint16_t *)row)[x] >> source.shift & source.mask) * source.unit;
}

/* A tile of both pictures, and what the horizontal pass leaves of it. */
struct Memory {
    float in[2][SPAN_Y][SPAN_X];
    float across[ROWS][SPAN_Y][TILE_X];
};

union Shared {
    Memory memory;
    HvSsimTotal part[HV_SSIM_TOTALS][HV_SSIM_BLOCK];
};

template <int BYTES>
HV_INLINE void load_tile(const Source &reference, const Source &distorted, int x0, int y0,
                         Memory *memory)
{
    for (int i = threadIdx.x; i < SPAN_Y * SPAN_X; i += HV_SSIM_BLOCK) {
        int r = i / SPAN_X, c = i % SPAN_X;
        if (y0 + r >= reference.height || x0 + c >= reference.width)
            continue;
        memory->in[0][r][c] = load<BYTES>(reference, x0 + c, y0 + r);
        memory->in[1][r][c] = load<BYTES>(distorted, x0 + c, y0 + r);
    }
}

template <HvSsimCare CARE> HV_INLINE float blur(const float *x, int step, float base)
{
    return CARE == HV_SSIM_EXACT  ? hv_ssim_blur(x, step, base)
           : CARE == HV_SSIM_NEAR ? hv_ssim_blur_near(x, step, base)
                                  : hv_ssim_blur_float(x, step);
}

template <HvSsimCare CARE> HV_INLINE float blur_product(const float *a, const float *b)
{
    float product[HV_SSIM_TAPS];
    HV_UNROLL
    for (int k = 0; k < HV_SSIM_TAPS; k++)
        product[k] = a[k] * b[k];
    return blur<CARE>(product, 1, HV_SSIM_SQUARES);
}

template <HvSsimCare CARE>
HV_INLINE void filter_rows(Memory *memory, int x0, int y0, int width, int height)
{
    for (int i = threadIdx.x; i < SPAN_Y * TILE_X; i += HV_SSIM_BLOCK) {
        int r = i / TILE_X, c = i % TILE_X;
        if (y0 + r >= height || x0 + c >= width - (HV_SSIM_TAPS - 1))
            continue;
        const float *x = &memory->in[0][r][c], *y = &memory->in[1][r][c];
        memory->across[X][r][c] = blur<CARE>(x, 1, HV_SSIM_SAMPLES);
        memory->across[Y][r][c] = blur<CARE>(y, 1, HV_SSIM_SAMPLES);
        memory->across[XX][r][c] = blur_product<CARE>(x, x);
        memory->across[YY][r][c] = blur_product<CARE>(y, y);
        memory->across[XY][r][c] = blur_product<CARE>(x, y);
    }
}

template <HvSsimCare CARE>
HV_INLINE void add_window(HvSsimSums *sums, const HvSsimMoments *moments, bool luminance)
{
    if (CARE == HV_SSIM_EXACT) {
        HvSsimTerms terms = hv_ssim_compare(moments);
        sums->c += hv_ssim_fixed(terms.c);
        sums->s += hv_ssim_fixed(terms.s);
        sums->l += luminance ? hv_ssim_fixed(terms.l) : 0;
        sums->ssim += luminance ? hv_ssim_fixed(terms.l * terms.c * terms.s) : 0;
    } else {
        HvSsimCutTerms terms = hv_ssim_compare_cut(moments);
        sums->c += (int64_t)terms.c * HV_SSIM_CUT_UNIT;
        sums->s += (int64_t)terms.s * HV_SSIM_CUT_UNIT;
        sums->l += luminance ? (int64_t)terms.l * HV_SSIM_CUT_UNIT : 0;
    }
}

template <HvSsimCare CARE>
HV_INLINE void sum_windows(const Memory *memory, int x0, int y0, int width, int height,
                           bool luminance, HvSsimSums *sums)
{
    for (int i = threadIdx.x; i < TILE_Y * TILE_X; i += HV_SSIM_BLOCK) {
        int r = i / TILE_X, c = i % TILE_X;
        if (y0 + r >= height - (HV_SSIM_TAPS - 1) || x0 + c >= width - (HV_SSIM_TAPS - 1))
            continue;
        HvSsimMoments moments = {blur<CARE>(&memory->across[X][r][c], TILE_X, HV_SSIM_SAMPLES),
                                 blur<CARE>(&memory->across[Y][r][c], TILE_X, HV_SSIM_SAMPLES),
                                 blur<CARE>(&memory->across[XX][r][c], TILE_X, HV_SSIM_SQUARES),
                                 blur<CARE>(&memory->across[YY][r][c], TILE_X, HV_SSIM_SQUARES),
                                 blur<CARE>(&memory->across[XY][r][c], TILE_X, HV_SSIM_SQUARES)};
        add_window<CARE>(sums, &moments, luminance);
    }
}

/* Adds up what the block's threads have, and adds that to the scale's totals. */
HV_INLINE void reduce(const HvSsimSums *sums, HvSsimTotal (*part)[HV_SSIM_BLOCK],
                      HvSsimTotal *totals)
{
    uint32_t thread = threadIdx.x;
    part[0][thread] = (HvSsimTotal)sums->ssim;
    part[1][thread] = (HvSsimTotal)sums->l;
    part[2][thread] = (HvSsimTotal)sums->c;
    part[3][thread] = (HvSsimTotal)sums->s;
    for (uint32_t half = HV_SSIM_BLOCK / 2; half; half /= 2) {
        __syncthreads();
        for (uint32_t i = thread; i < HV_SSIM_TOTALS * half; i += HV_SSIM_BLOCK)
            part[i / half][i % half] += part[i / half][i % half + half];
    }
    __syncthreads();
    if (thread < HV_SSIM_TOTALS)
        atomicAdd(totals + thread, part[thread][0]);
}

template <HvSsimCare CARE>
HV_INLINE void measure_tile(Memory *memory, int x0, int y0, int width, int height, bool luminance,
                            HvSsimSums *sums)
{
    filter_rows<CARE>(memory, x0, y0, width, height);
    __syncthreads();
    sum_windows<CARE>(memory, x0, y0, width, height, luminance, sums);
}

template <int BYTES>
HV_INLINE void measure(const Source &reference, const Source &distorted, HvSsimTotal *totals,
                       uint32_t wanted, Shared *shared)
{
    int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    int width = reference.width, height = reference.height;
    bool luminance = wanted & HV_SSIM_LUMINANCE;
    HvSsimSums sums = {0, 0, 0, 0};
    load_tile<BYTES>(reference, distorted, x0, y0, &shared->memory);
    __syncthreads();
    uint32_t care = wanted & HV_SSIM_CARE_MASK;
    if (care == HV_SSIM_EXACT)
        measure_tile<HV_SSIM_EXACT>(&shared->memory, x0, y0, width, height, luminance, &sums);
    else if (care == HV_SSIM_NEAR)
        measure_tile<HV_SSIM_NEAR>(&shared->memory, x0, y0, width, height, luminance, &sums);
    else
        measure_tile<HV_SSIM_FLOAT>(&shared->memory, x0, y0, width, height, luminance, &sums);
    __syncthreads();
    reduce(&sums, shared->part, totals);
}

HV_KERNEL(HV_SSIM_BLOCK)
ssim_windows_luma(const uint8_t *reference, const uint8_t *distorted, HvSsimTotal *totals,
                  uint32_t width, uint32_t height, uint32_t depth, float unit, uint32_t wanted,
                  uint32_t reference_pitch, uint32_t reference_shift, uint32_t distorted_pitch,
                  uint32_t distorted_shift)
{
    __shared__ Shared shared;
    Source r = luma(reference, reference_pitch, reference_shift, width, height, depth, unit);
    Source d = luma(distorted, distorted_pitch, distorted_shift, width, height, depth, unit);
    if (depth == 8)
        measure<1>(r, d, totals, wanted, &shared);
    else
        measure<2>(r, d, totals, wanted, &shared);
}

HV_KERNEL(HV_SSIM_BLOCK)
ssim_windows_image(const float *images, HvSsimTotal *totals, uint32_t width, uint32_t height,
                   uint32_t stride, uint32_t wanted)
{
    __shared__ Shared shared;
    measure<4>(image(images, 0, stride, width, height), image(images, 1, stride, width, height),
               totals, wanted, &shared);
}

/* What a block's samples of the next scale are made from: even and odd columns. */
struct Part {
    float sample[PART_Y][2][PART_X];
};

template <int BYTES> HV_INLINE void load_part(const Source &source, int x0, int y0, Part *part)
{
    for (int i = threadIdx.x; i < PART_Y * 2 * PART_X; i += HV_SSIM_BLOCK) {
        int r = i / (2 * PART_X), c = i % (2 * PART_X);
        int x = 2 * x0 + c - HV_SSIM_LOW_REACH, y = 2 * y0 + r - HV_SSIM_LOW_REACH;
        if (x >= source.width + HV_SSIM_LOW_REACH || y >= source.height + HV_SSIM_LOW_REACH)
            continue;
        part->sample[r][c % 2][c / 2] =
            load<BYTES>(source, hv_ssim_mirror(x, source.width), hv_ssim_mirror(y, source.height));
    }
}

template <HvSsimCare CARE> HV_INLINE float filter_part(const Part *part, int r, int c)
{
    HvSsimSum sum = {0, 0};
    HV_UNROLL
    for (int y = -HV_SSIM_LOW_REACH; y <= HV_SSIM_LOW_REACH; y++) {
        int at = 2 * r + HV_SSIM_LOW_REACH + y;
        HvSsimSum row = hv_ssim_low_pass(&part->sample[at][0][c], &part->sample[at][1][c],
                                         y < 0 ? -y : y, CARE);
        sum.high += row.high;
        sum.low += row.low;
    }
    return sum.high + sum.low;
}

template <int BYTES>
HV_INLINE void halve(const Source &source, float *out, uint32_t out_stride, Part *part)
{
    int x0 = (int)blockIdx.x * SMALL_X, y0 = (int)blockIdx.y * SMALL_Y;
    int width = (source.width + 1) / 2, height = (source.height + 1) / 2;
    int r = (int)threadIdx.x / SMALL_X, c = (int)threadIdx.x % SMALL_X;
    load_part<BYTES>(source, x0, y0, part);
    __syncthreads();
    if (x0 + c < width && y0 + r < height)
        out[((uint64_t)blockIdx.z * (uint32_t)height + (uint32_t)(y0 + r)) * out_stride +
            (uint32_t)(x0 + c)] = hv_ssim_is_large(source.width, source.height)
                                      ? filter_part<HV_SSIM_NEAR>(part, r, c)
                                      : filter_part<HV_SSIM_EXACT>(part, r, c);
}

/* One picture. */
HV_KERNEL(HV_SSIM_BLOCK)
ssim_halve_luma(const uint8_t *picture, float *out, uint32_t width, uint32_t height, uint32_t depth,
                float unit, uint32_t pitch, uint32_t shift, uint32_t out_stride)
{
    __shared__ Part part;
    Source source = luma(picture, pitch, shift, width, height, depth, unit);
    if (depth == 8)
        halve<1>(source, out, out_stride, &part);
    else
        halve<2>(source, out, out_stride, &part);
}

/* Both: blockIdx.z is the picture. */
HV_KERNEL(HV_SSIM_BLOCK)
ssim_halve_image(const float *in, float *out, uint32_t width, uint32_t height, uint32_t stride,
                 uint32_t out_stride)
{
    __shared__ Part part;
    halve<4>(image(in, blockIdx.z, stride, width, height), out, out_stride, &part);
}

/* The mean of factor x factor samples, columns added first; exact until it is rounded. */
template <int BYTES>
HV_INLINE float mean_of_box(const Source &source, int x, int y, int factor, float weight)
{
    double sum = 0;
    for (int i = 0; i < factor; i++) {
        int at = hv_ssim_mirror(x * factor - factor / 2 + i, source.width);
        double column = 0;
        for (int k = 0; k < factor; k++) {
            int row = hv_ssim_mirror(y * factor - factor / 2 + k, source.height);
            column += (double)(load<BYTES>(source, at, row) * weight);
        }
        sum += column;
    }
    return (float)sum;
}

/* One picture. The weight is that of a sample as it is stored. */
HV_KERNEL(HV_SSIM_BLOCK)
ssim_box(const uint8_t *picture, float *out, uint32_t width, uint32_t height, uint32_t depth,
         float weight, uint32_t pitch, uint32_t shift, uint32_t out_stride, uint32_t out_width,
         uint32_t out_height, uint32_t factor)
{
    uint32_t x = blockIdx.x * SMALL_X + threadIdx.x % SMALL_X;
    uint32_t y = blockIdx.y * SMALL_Y + threadIdx.x / SMALL_X;
    Source source = luma(picture, pitch, shift, width, height, depth, 1.0f);
    if (x >= out_width || y >= out_height)
        return;
    out[y * out_stride + x] = depth == 8 ? mean_of_box<1>(source, x, y, factor, weight)
                                         : mean_of_box<2>(source, x, y, factor, weight);
}
