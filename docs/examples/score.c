/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Measures one video file against another and prints every frame's VMAF and PSNR, then the means.
 *
 *   cc -o score score.c $(pkg-config --cflags --libs gstreamer-1.0)
 *   ./score reference.mp4 encoded.mp4
 */
#include <gst/gst.h>

#define PIPELINE "hipvmaf name=measure frame-message=true psnr=true ! fakesink " \
    "filesrc name=reference ! decodebin ! video/x-raw ! queue ! measure.ref_sink " \
    "filesrc name=distorted ! decodebin ! video/x-raw ! queue ! measure.dist_sink"

static void
set_location (GstElement * pipeline, const gchar * name, const gchar * path)
{
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_object_set (source, "location", path, NULL);
  gst_object_unref (source);
}

static void
print_scores (const GstStructure * scores)
{
  gdouble vmaf = 0, psnr = 0;
  gint index;

  gst_structure_get_double (scores, "score", &vmaf);
  gst_structure_get_double (scores, "psnr-y", &psnr);
  if (gst_structure_get_int (scores, "index", &index))
    g_print ("%6d", index);
  else
    g_print ("%6s", gst_structure_get_string (scores, "type"));
  g_print ("  %10.6f  %9.6f dB\n", vmaf, psnr);
}

/* TRUE while there is more to come. */
static gboolean
handle (GstMessage * message, gboolean * failed)
{
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_message_has_name (message, "VMAF"))
        print_scores (gst_message_get_structure (message));
      return TRUE;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      *failed = TRUE;
      break;
    default:
      return FALSE;             /* the end */
  }
  g_printerr ("%s\n", error->message);
  g_error_free (error);
  return !*failed;
}

int
main (int argc, char **argv)
{
  GstElement *pipeline;
  GstMessage *message;
  GstBus *bus;
  gboolean failed = FALSE, more = TRUE;
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (argc != 3) {
    g_printerr ("usage: %s REFERENCE DISTORTED\n", argv[0]);
    return 2;
  }
  pipeline = gst_parse_launch (PIPELINE, &error);
  if (error != NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  set_location (pipeline, "reference", argv[1]);
  set_location (pipeline, "distorted", argv[2]);

  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (more) {
    message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING | GST_MESSAGE_ERROR
        | GST_MESSAGE_EOS);
    more = handle (message, &failed);
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return failed;
}
