/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element on a GPU, which is the emulator in HIPVMAF_RUNTIME: the CPU's scores to the bit, what
 * decides where a metric is measured, and pinned memory. */
#include "emulated.h"

static const gchar *const formats[] = {
  "format=I420", "format=NV12", "format=YV12", "format=P010_10LE",
  "format=Y444_12LE", "format=GRAY8", "format=GRAY16_LE",
  "format=I420,width=77,height=33", "format=I422_10LE,width=131,height=65"
};

/* The GPU's scores are the CPU's, and stats tell the two apart. */
GST_START_TEST (test_same_scores)
{
  Rig *cpu = play ("cpu", formats[__i__]);
  Rig *hip = play ("auto", formats[__i__]);

  rig_expect_same_scores (cpu, hip);
  fail_unless_equals_int (rig_count (hip, FRAME_MESSAGE), N_PAIRS);
  expect_silence (cpu);
  expect_silence (hip);
  expect_stat (cpu, NULL, "backend", "cpu");
  expect_stat (cpu, "placement", "adm", "cpu");
  expect_status (cpu, "backend=cpu");
  expect_stat (hip, NULL, "backend", "hip");
  expect_stat (hip, NULL, "platform", "amd");
  expect_stat (hip, NULL, "gpu-status", "in use");
  expect_stat (hip, "placement", "adm", "hip");
  expect_stat (hip, "placement", "motion", "hip");
  fail_unless (rig_stat (hip, "device-memory-per-slot") > 2 * WIDTH * HEIGHT);
  fail_unless (emu_calls ("hipModuleLaunchKernel") >= N_PAIRS);
  rig_free (cpu);
  rig_free (hip);
}

GST_END_TEST;

/* Properties that cannot be had are an error of the state change. */
static void
expect_no_start (Rig * rig, const gchar * const *words)
{
  fail_unless_equals_int (rig_start (rig), GST_STATE_CHANGE_FAILURE);
  rig_wait (rig, ERROR_MESSAGE, 1);
  rig_expect_text (rig, ERROR_MESSAGE, words);
  rig_free (rig);
}

GST_START_TEST (test_no_runtime)
{
  static const gchar *const words[] =
      { "backend=hip", "/nowhere/libhip", "backend=cpu", "backend=auto", NULL };
  Rig *rig = rig_new (NULL);

  g_setenv ("HIPVMAF_RUNTIME", "/nowhere/libhip", TRUE);
  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", "hip");
  expect_no_start (rig, words);

  rig = play ("auto", "format=I420");
  expect_silence (rig);
  fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), N_PAIRS);
  expect_stat (rig, NULL, "backend", "cpu");
  expect_stat (rig, NULL, "device", "cpu");
  expect_status (rig, "/nowhere/libhip");
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_device)
{
  static const gchar *const words[] = { "device-id 7", "2 GPUs", NULL };
  Rig *rig = rig_new ("device-id", 1, NULL);
  gchar *first, *second;

  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", "hip");
  rig_start_streams (rig, "format=I420");
  rig_play (rig, TIMES, TIMES);
  expect_silence (rig);
  second = stat_text (rig, NULL, "device");
  rig_free (rig);

  rig = play ("auto", "format=I420");
  first = stat_text (rig, NULL, "device");
  fail_if (g_strcmp0 (first, second) == 0, "both devices are %s", first);
  g_free (first);
  g_free (second);
  rig_free (rig);

  rig = rig_new ("device-id", 7, NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", "hip");
  expect_no_start (rig, words);
}

GST_END_TEST;

GST_START_TEST (test_dispatch)
{
  static const gchar *const off[] = { "adm:disable,motion:none",
    "adm:none,motion:disable", "all:disable"
  };
  static const gchar *const words[] =
      { "VMAF_HIP_DISPATCH", "adm:maybe", "direct", "disable", NULL };
  Rig *rig;

  for (guint i = 0; i < G_N_ELEMENTS (off); i++) {
    g_setenv ("VMAF_HIP_DISPATCH", off[i], TRUE);
    rig = play ("auto", "format=I420");
    expect_silence (rig);
    expect_stat (rig, NULL, "backend", "cpu");
    expect_stat (rig, "placement", "adm", "cpu");
    fail_unless_equals_int (emu_calls ("hipModuleLaunchKernel"), 0);
    rig_free (rig);
  }
  g_setenv ("VMAF_HIP_DISPATCH", "all:disable,adm:direct", TRUE);
  rig = play ("auto", "format=I420");
  expect_silence (rig);
  expect_stat (rig, "placement", "adm", "hip");
  fail_unless (emu_calls ("hipModuleLaunchKernel") >= N_PAIRS);
  rig_free (rig);

  g_setenv ("VMAF_HIP_DISPATCH", "adm:maybe", TRUE);
  rig = play ("auto", "format=I420");
  fail_unless_equals_int (rig_count (rig, WARNING_MESSAGE), 1);
  rig_expect_text (rig, WARNING_MESSAGE, words);
  rig_free (rig);
}

GST_END_TEST;

/* Buffers for upstream */

static GstBufferPool *
pool_offered (Feed * feed, guint expected)
{
  GstCaps *caps = video_caps ("format=I420");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool;
  GstAllocator *allocator;
  guint size, min, max;

  fail_unless (gst_pad_peer_query (feed->pad, query));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  fail_unless (pool != NULL && max == 0);
  fail_unless_equals_int (min, expected);
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  fail_unless_equals_string (allocator->mem_type, "HipVmafPinned");
  gst_object_unref (allocator);
  gst_query_unref (query);
  gst_caps_unref (caps);
  return pool;
}

/* A copy of the picture in a buffer of the pool, or in a part of one. */
static GstBuffer *
pooled_picture (GstBufferPool * pool, GstBuffer * picture)
{
  GstBuffer *buffer;
  GstMapInfo map;

  fail_unless (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL) ==
      GST_FLOW_OK);
  fail_unless (gst_memory_is_type (gst_buffer_peek_memory (buffer, 0),
          "HipVmafPinned"));
  gst_buffer_map (picture, &map, GST_MAP_READ);
  gst_buffer_fill (buffer, 0, map.data, map.size);
  gst_buffer_unmap (picture, &map);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (picture);
  GST_BUFFER_DURATION (buffer) = GST_BUFFER_DURATION (picture);
  gst_buffer_unref (picture);
  return buffer;
}

/* Both pads offer pinned memory; buffers of it are measured alike, also after the GPU is lost. */
GST_START_TEST (test_pool)
{
  Rig *cpu = play ("cpu", "format=I420");
  Rig *rig = rig_on ("auto", FEATURES);
  GstBufferPool *pool[2];
  Feed *feeds[] = { &rig->ref, &rig->dist };

  g_object_set (rig->element, "async-depth", 4, NULL);
  if (__i__)
    emu_fail ("hipModuleLaunchKernel:8+");
  rig_start_streams (rig, "format=I420");
  for (guint i = 0; i < 2; i++) {
    feed_settle (feeds[i]);
    pool[i] = pool_offered (feeds[i], 4 + 2 + 2);
    fail_unless (gst_buffer_pool_set_active (pool[i], TRUE));
  }
  for (guint n = 0; n < N_PAIRS; n++)
    for (guint i = 0; i < 2; i++)
      feed_push (feeds[i], pooled_picture (pool[i],
              feed_frame (feeds[i], n * FRAME_MS * GST_MSECOND)));
  rig_play (rig, "", "");
  rig_expect_same_scores (cpu, rig);
  expect_stat (rig, NULL, "backend", __i__ ? "cpu" : "hip");
  for (guint i = 0; i < 2; i++) {
    gst_buffer_pool_set_active (pool[i], FALSE);
    gst_object_unref (pool[i]);
  }
  emu_fail (NULL);
  rig_free (cpu);
  rig_free (rig);
}

GST_END_TEST;

/* Shared parts, alignment and padding of pinned memory are as of any other. */
GST_START_TEST (test_memory)
{
  Rig *rig = rig_new (NULL);
  GstAllocationParams params = { GST_MEMORY_FLAG_ZERO_PADDED, 255, 7, 9, };
  GstMemory *memory, *part;
  GstAllocator *allocator;
  GstBufferPool *pool;
  GstStructure *config;
  GstMapInfo map;

  rig_start_streams (rig, "format=I420");
  pool = pool_offered (&rig->ref, 3 + 2);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_allocator (config, &allocator, NULL);
  memory = gst_allocator_alloc (allocator, 1000, &params);
  gst_memory_map (memory, &map, GST_MAP_READWRITE);
  fail_unless_equals_int (((guintptr) map.data - 7) & 255, 0);
  fail_unless_equals_int (map.size, 1000);
  fail_unless (map.maxsize >= 1009 && map.data[1000] == 0
      && map.data[1008] == 0);
  map.data[500] = 42;
  gst_memory_unmap (memory, &map);
  part = gst_memory_share (memory, 500, -1);
  gst_memory_unref (memory);
  gst_memory_map (part, &map, GST_MAP_READ);
  fail_unless (map.size == 500 && map.data[0] == 42);
  gst_memory_unmap (part, &map);
  gst_memory_unref (part);
  gst_structure_free (config);
  gst_object_unref (pool);
  rig_free (rig);
}

GST_END_TEST;

/* READY and back, and a change of format, with pairs on the device. */
GST_START_TEST (test_again)
{
  Rig *rig = rig_new (NULL);

  for (guint i = 0; i < 3; i++) {
    rig_start_streams (rig, "format=I420");
    feed_script (&rig->ref, "0 40 80");
    feed_script (&rig->dist, "0 40 80");
    feed_caps (&rig->ref, "format=NV12,width=96,height=80");
    feed_caps (&rig->dist, "format=NV12,width=96,height=80");
    rig_play (rig, "120 160", "120 160");
    expect_stat (rig, NULL, "backend", "hip");
    fail_unless_equals_int (rig_count (rig, FRAME_MESSAGE), 5);
    rig_free (rig);
    rig = rig_new ("async-depth", i + 1, NULL);
  }
  rig_free (rig);
}

GST_END_TEST;

static Suite *
hip_suite (void)
{
  Suite *suite = suite_create ("hip");
  TCase *tcase = leak_checked_case (suite, "hip");

  emulated_add_fixture (tcase);
  tcase_set_timeout (tcase, 200);
  tcase_add_loop_test (tcase, test_same_scores, 0, G_N_ELEMENTS (formats));
  tcase_add_test (tcase, test_no_runtime);
  tcase_add_test (tcase, test_device);
  tcase_add_test (tcase, test_dispatch);
  tcase_add_loop_test (tcase, test_pool, 0, 2);
  tcase_add_test (tcase, test_memory);
  tcase_add_test (tcase, test_again);
  return suite;
}

GST_CHECK_MAIN (hip);
