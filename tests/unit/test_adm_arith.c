/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The quick forms of ADM's arithmetic, which GPUs use, against the plain ones. */
#include <math.h>

#include "adm_reciprocal_lanes.h"
#include "clips.h"
#include "kernels/adm/adm_arith.h"
#include "kernels/cpu/level.h"

/* The largest coefficient of scale 0; see adm_cpu.c. */
#define LARGEST0 22931

static void test_centred(void)
{
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 0; k < 4; k++)
            g_assert_cmpint(hv_adm_centred8(i << 8 * k | (0xa5c35a96u & ~(255u << 8 * k)), k), ==,
                            hv_adm_centred(i, 0, 8));
}

/* floor(2^30 / m), whatever the estimate within its bounds. */
static void test_reciprocal(void)
{
    for (uint32_t m = 1; m <= 32768; m++) {
        uint32_t exact = 0x40000000u / m;
        g_assert_cmpuint(hv_adm_reciprocal(m), ==, exact);
        for (int k = -16; k <= 16; k++) {
            float estimate = (float)(1.0 / m * (1 + k / 16.0 * ldexp(1, -17)));
            if (hv_adm_reciprocal_from(m, estimate) != exact)
                g_error("m %u, estimate off by %d / 16 of 2^-17: %u, not %u", m, k,
                        hv_adm_reciprocal_from(m, estimate), exact);
        }
    }
}

/* The same of vectors, at every level that this processor runs. */
static void test_reciprocal_lanes(void)
{
    unsigned (*const mismatches[HV_N_LEVELS])(void) = HV_AT_LEVELS(adm_reciprocal_mismatches);
    for (HvLevel level = 0; level < HV_N_LEVELS; level++) {
        g_setenv("HIPVMAF_CPU_LEVEL", hv_level_name(level), TRUE);
        if (hv_level() == level)
            g_assert_cmpuint(mismatches[level](), ==, 0);
    }
}

/* The gain as it is defined: by division. */
static int32_t plain_gain(int32_t o, int32_t t)
{
    if (o == 0)
        return 32768;
    int shift = MAX(hv_adm_bits(hv_adm_abs(o)) - 15, 0);
    uint32_t divisor = (hv_adm_abs(o) + ((1u << shift) >> 1)) >> shift;
    int64_t product = (int64_t)(0x40000000u / divisor) * (o < 0 ? -(int64_t)t : (int64_t)t);
    int64_t gain = hv_adm_round_shift(product, 15 + shift);
    return CLAMP(gain, 0, 32768);
}

/* Near others, near powers of two, or anywhere; at most 2^bits in magnitude. */
static int32_t coefficient(uint64_t *state, int32_t near, int bits)
{
    uint64_t r = clip_random(state);
    int64_t most = ((int64_t)1 << bits) - 1, value;
    switch (r & 3) {
    case 0:
        value = near + (int64_t)(r >> 8 & 15) - 8;
        break;
    case 1:
        value = ((int64_t)1 << (r >> 8) % (bits + 1)) + (int64_t)(r >> 16 & 7) - 4;
        break;
    case 2:
        value = (int64_t)(near * (1 + ((int64_t)(r >> 8 & 63) - 32) / 1000.0));
        break;
    default:
        value = (int64_t)((r >> 8) & most) >> (r >> 44) % bits;
    }
    if (r >> 60 & 1)
        value = -value;
    return (int32_t)CLAMP(value, -most, most);
}

static void assert_same(HvAdmSplit a, HvAdmSplit b, int32_t o, int32_t t, int aligned, double limit)
{
    if (a.restored != b.restored || a.additive != b.additive)
        g_error("o %d, t %d, aligned %d, limit %g: restored %d and %d", o, t, aligned, limit,
                a.restored, b.restored);
}

static void test_decouple(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 4000000; i++) {
        int32_t o = coefficient(&state, 0, 31), t = coefficient(&state, o, 31);
        int32_t limit = 1 + i % 100;
        g_assert_cmpint(hv_adm_gain(o, t), ==, plain_gain(o, t));
        for (int aligned = 0; aligned < 2; aligned++)
            assert_same(hv_adm_decouple(o, t, aligned, limit, 0),
                        hv_adm_decouple(o, t, aligned, limit, limit), o, t, aligned, limit);
    }
}

static void assert_scale0(int32_t o, int32_t t, int32_t limit)
{
    g_assert_cmpint(hv_adm_gain0(o, t), ==, plain_gain(o, t));
    for (int aligned = 0; aligned < 2; aligned++)
        assert_same(hv_adm_decouple(o, t, aligned, limit, 0),
                    hv_adm_decouple0(o, t, aligned, limit, limit), o, t, aligned, limit);
    double fraction = limit + (o & 255) / 256.0;
    for (int aligned = 0; aligned < 2; aligned++)
        assert_same(hv_adm_decouple(o, t, aligned, fraction, 0),
                    hv_adm_decouple0(o, t, aligned, fraction, 0), o, t, aligned, fraction);
}

static void test_decouple0(void)
{
    uint64_t state = 2;
    for (int32_t o = -LARGEST0; o <= LARGEST0; o++)
        for (int k = 0; k < 100; k++) {
            int32_t t = coefficient(&state, o, 15);
            assert_scale0(o, CLAMP(t, -LARGEST0, LARGEST0), k + 1);
        }
    for (int32_t o = -300; o <= 300; o++)
        for (int32_t t = -700; t <= 700; t++)
            assert_scale0(o, t, t & 1 ? 1 : 100);
}

/* Also at an angle of one degree, where estimates cannot tell. */
static void test_aligned(void)
{
    uint64_t state = 3;
    unsigned n[2] = {0, 0}, close = 0;
    for (int i = 0; i < 4000000; i++) {
        int bits = i & 1 ? 14 : 30;
        int32_t oh = coefficient(&state, 0, bits), ov = coefficient(&state, oh, bits), th, tv;
        if (i & 2) {
            double angle =
                (clip_random(&state) & 1 ? 1 : -1) * (1 + (i % 8 - 4) * 1e-9) * G_PI / 180;
            double scale = 0.5 + (clip_random(&state) & 1023) / 2048.0;
            th = (int32_t)lrint(scale * (oh * cos(angle) - ov * sin(angle)));
            tv = (int32_t)lrint(scale * (oh * sin(angle) + ov * cos(angle)));
            close++;
        } else {
            th = coefficient(&state, oh, bits);
            tv = coefficient(&state, ov, bits);
        }
        int aligned = hv_adm_aligned(oh, ov, th, tv);
        n[aligned]++;
        if (hv_adm_aligned_soon(oh, ov, th, tv) != aligned)
            g_error("(%d, %d) and (%d, %d)", oh, ov, th, tv);
    }
    g_assert_cmpuint(MIN(n[0], n[1]), >, 100000);
    g_assert_cmpuint(close, >, 1000000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/adm-arith/centred", test_centred);
    g_test_add_func("/adm-arith/reciprocal", test_reciprocal);
    g_test_add_func("/adm-arith/reciprocal-lanes", test_reciprocal_lanes);
    g_test_add_func("/adm-arith/decouple", test_decouple);
    g_test_add_func("/adm-arith/decouple0", test_decouple0);
    g_test_add_func("/adm-arith/aligned", test_aligned);
    return g_test_run();
}
