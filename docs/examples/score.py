#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures one video file against another and prints every frame's VMAF and PSNR, then the means.

  score.py reference.mp4 encoded.mp4
"""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402  (the version must be named first)

PIPELINE = """
    hipvmaf name=measure frame-message=true psnr=true ! fakesink
    filesrc name=reference ! decodebin ! video/x-raw ! queue ! measure.ref_sink
    filesrc name=distorted ! decodebin ! video/x-raw ! queue ! measure.dist_sink
"""


def print_scores(scores):
    found, index = scores.get_int("index")
    name = index if found else scores.get_string("type")
    print(f"{name:>6}  {scores.get_value('score'):10.6f}  {scores.get_value('psnr-y'):9.6f} dB")


def run(pipeline):
    """Prints what comes; returns the exit status."""
    bus = pipeline.get_bus()
    kinds = (Gst.MessageType.ELEMENT | Gst.MessageType.WARNING | Gst.MessageType.ERROR
             | Gst.MessageType.EOS)
    while True:
        message = bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, kinds)
        if message.type == Gst.MessageType.EOS:
            return 0
        if message.type == Gst.MessageType.ERROR:
            print(message.parse_error()[0].message, file=sys.stderr)
            return 1
        if message.type == Gst.MessageType.WARNING:
            print(message.parse_warning()[0].message, file=sys.stderr)
        elif message.has_name("VMAF"):
            print_scores(message.get_structure())


def main():
    Gst.init(None)
    if len(sys.argv) != 3:
        print(f"usage: {sys.argv[0]} REFERENCE DISTORTED", file=sys.stderr)
        return 2
    pipeline = Gst.parse_launch(PIPELINE)
    pipeline.get_by_name("reference").set_property("location", sys.argv[1])
    pipeline.get_by_name("distorted").set_property("location", sys.argv[2])
    pipeline.set_state(Gst.State.PLAYING)
    try:
        return run(pipeline)
    finally:
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    sys.exit(main())
