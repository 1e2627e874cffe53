#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores an encode with hipvmaf and prints the frame and pooled scores.

Without files, a moving test picture goes through x264enc at a low bitrate and back. With two
files, the second is measured against the first; GStreamer decodes both.

Exit status: 0 scored, 1 something failed, 2 wrong arguments.
"""
import argparse
import os
import re
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402  (the version must be named first)

# The reference waits in its queue while the encoder looks ahead; with a queue's usual limits the
# tee would block, and the encoder would never get what it waits for.
UNLIMITED_QUEUE = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"

TEST_PICTURE = f"""
    videotestsrc num-buffers=50 pattern=zone-plate kx2=40 ky2=40 kt=1
      ! video/x-raw,format=I420,width=640,height=360,framerate=25/1 ! tee name=picture
    picture. ! {UNLIMITED_QUEUE} ! measure.ref_sink
    picture. ! x264enc bitrate=150 threads=1 ! avdec_h264 ! {UNLIMITED_QUEUE} ! measure.dist_sink
"""

MEASURE = "hipvmaf name=measure ! fakesink sync=false"


class Failure(Exception):
    """What went wrong, as a sentence for the user."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def short(name):
    return name.removeprefix("integer_")


def clock(nanoseconds):
    minutes, rest = divmod(nanoseconds, 60 * Gst.SECOND)
    return f"{minutes}:{rest / Gst.SECOND:06.3f}"


def scores_of(message):
    """The scores of a VMAF message: its doubles."""
    names = (message.nth_field_name(i) for i in range(message.n_fields()))
    return {n: message.get_value(n) for n in names if isinstance(message.get_value(n), float)}


class Table:
    """Prints frame messages as lines under one header."""

    # Left out where there are more scores than fit a line; the pooled list has them all.
    DETAILS = re.compile("adm_scale|aim|adm3|motion3|^vmaf_|_num|_den")
    COLUMNS = 8

    def __init__(self):
        self.names = None

    def add(self, message):
        scores = scores_of(message)
        if self.names is None:
            self.names = list(scores)
            if len(self.names) > self.COLUMNS:
                self.names = [n for n in self.names if not self.DETAILS.search(n)]
            print(f"{'frame':>6} {'time':>9}", *(f"{short(n):>10}" for n in self.names))
        print(f"{message.get_value('index'):6} {clock(message.get_value('stream-time')):>9}",
              *(f"{scores[n]:{max(10, len(short(n)))}.6f}" for n in self.names))


def print_pooled(message, method):
    print(f"\nPooled over the stream ({method}):")
    for name, score in scores_of(message).items():
        print(f"  {name:22} {score:.6f}")


def print_stats(stats):
    count = {n: stats.get_value(n) for n in ("scored", "ref-unpaired", "dist-unpaired")}
    print(f"\n{count['scored']} frames measured by {stats.get_value('backend')}")
    if count["ref-unpaired"] or count["dist-unpaired"]:
        say(f"Warning: {count['ref-unpaired']} frames of the reference and "
            f"{count['dist-unpaired']} of the distorted stream have no partner at their time.")


def decode_branch(pipeline, path, caps=None):
    """Decodes a file's first video stream; returns the branch's last pad."""
    source = Gst.ElementFactory.make("filesrc")
    source.set_property("location", path)
    decoder = Gst.ElementFactory.make("decodebin")
    decoder.set_property("caps", Gst.Caps.from_string("video/x-raw(ANY)"))
    decoder.set_property("expose-all-streams", False)
    tail = "queue ! videoconvert"
    if caps:
        tail += f' ! videoscale method=lanczos ! videoconvert ! capsfilter caps="{caps}"'
    tail = Gst.parse_bin_from_description(tail, True)
    for element in (source, decoder, tail):
        pipeline.add(element)
    source.link(decoder)

    def link(_, pad):
        sink = tail.get_static_pad("sink")
        if not sink.is_linked():
            pad.link(sink)

    def check(element):
        if not tail.get_static_pad("sink").is_linked():
            error = f"{path} has no video that GStreamer can decode"
            element.post_message(Gst.Message.new_application(
                element, Gst.Structure.from_string(f'no-video, text="{error}"')[0]))

    decoder.connect("pad-added", link)
    decoder.connect("no-more-pads", check)
    return tail.get_static_pad("src")


def error_text(message, files):
    """An error message as text that says which file it is about, if it is about one."""
    error, debug = message.parse_error()
    branch = message.src
    while branch and branch not in files:
        branch = branch.get_parent()
    where = f"{files[branch]}: " if branch else ""
    if error.matches(Gst.CoreError.quark(), Gst.CoreError.MISSING_PLUGIN):
        where += "There is no video in it that this GStreamer can decode. "
    # The first line says where in GStreamer's sources; the others may hold whole stream headers.
    details = [line[:120] for line in (debug or "").splitlines()[1:]]
    return "\n  ".join([where + error.message, *details])


def messages(pipeline, files, until):
    """Bus messages until one of a type in `until`; errors are raised."""
    bus = pipeline.get_bus()
    while True:
        message = bus.timed_pop(100 * Gst.MSECOND)
        if not message:
            continue
        if message.type == Gst.MessageType.ERROR:
            raise Failure(error_text(message, files))
        if message.type == Gst.MessageType.APPLICATION:
            raise Failure(message.get_structure().get_value("text"))
        if message.type == Gst.MessageType.WARNING:
            say(f"Warning: {message.parse_warning()[0].message}")
        if message.type == Gst.MessageType.INFO:
            say(f"Note: {message.parse_info()[0].message}")
        yield message
        if message.type in until:
            return


def caps_of(path):
    """What a file decodes to, as caps that name its format and size."""
    pipeline = Gst.Pipeline()
    pad = decode_branch(pipeline, path)
    sink = Gst.ElementFactory.make("fakesink")
    pipeline.add(sink)
    pad.link(sink.get_static_pad("sink"))
    files = {child: path for child in pipeline.children if child != sink}
    try:
        pipeline.set_state(Gst.State.PAUSED)
        for _ in messages(pipeline, files, (Gst.MessageType.ASYNC_DONE,)):
            pass
        caps = pad.get_current_caps().get_structure(0)
    finally:
        pipeline.set_state(Gst.State.NULL)
    return (f"video/x-raw,format={caps.get_value('format')},width={caps.get_value('width')},"
            f"height={caps.get_value('height')}")


def build(options):
    """The pipeline, and which file each of its branches belongs to."""
    files = {}
    if not options.ref:
        return Gst.parse_launch(MEASURE + TEST_PICTURE), files
    pipeline = Gst.parse_launch(MEASURE + " fakesink name=unused")
    pipeline.remove(pipeline.get_by_name("unused"))
    measure = pipeline.get_by_name("measure")
    caps = None
    for path, pad_name in ((options.ref, "ref_sink"), (options.dist, "dist_sink")):
        if options.scale and pad_name == "dist_sink":
            caps = caps_of(options.ref)
            say(f"{path} is scaled and converted to the reference's {caps}")
        before = set(pipeline.children)
        pad = decode_branch(pipeline, path, caps)
        files.update({child: path for child in set(pipeline.children) - before})
        pad.link(measure.get_static_pad(pad_name))
    return pipeline, files


def score(options):
    pipeline, files = build(options)
    measure = pipeline.get_by_name("measure")
    measure.set_property("model-filename", options.model)
    measure.set_property("features", options.features)
    measure.set_property("threads", options.threads)
    measure.set_property("frame-message", True)
    Gst.util_set_object_arg(measure, "pool-method", options.pool)
    table, pooled = Table(), None
    try:
        pipeline.set_state(Gst.State.PLAYING)
        for message in messages(pipeline, files, (Gst.MessageType.EOS,)):
            structure = message.get_structure()
            if message.type != Gst.MessageType.ELEMENT or structure.get_name() != "VMAF":
                continue
            if structure.get_value("type") == "frame":
                table.add(structure)
            else:
                pooled = structure
        stats = measure.get_property("stats")
    finally:
        pipeline.set_state(Gst.State.NULL)
    if not pooled or not table.names:
        raise Failure("Nothing was measured: no frames of the two streams go together in time.")
    print_pooled(pooled, options.pool)
    print_stats(stats)


def thread_count(text):
    count = int(text)
    if not 0 <= count <= 256:
        raise argparse.ArgumentTypeError("0 to 256 threads")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("ref", nargs="?", help="the reference: any file that GStreamer decodes")
    parser.add_argument("dist", nargs="?", help="the distorted version of it")
    parser.add_argument("--model", default="vmaf_v0.6.1", help="VMAF model; '' for none")
    parser.add_argument("--features", default="", help="more metrics, as in the property")
    parser.add_argument("--pool", default="mean", choices=["mean", "min", "max", "harmonic_mean"])
    parser.add_argument("--threads", type=thread_count, default=0, help="0: as many as the processor has")
    parser.add_argument("--scale", action="store_true",
                        help="scale and convert DIST to the size and format of REF")
    options = parser.parse_args()
    if options.ref and not options.dist:
        parser.error("name two files: the reference and the distorted version")
    for path in filter(None, (options.ref, options.dist)):
        if not os.path.isfile(path) or not os.access(path, os.R_OK):
            parser.error(f"cannot read the file {path}")

    Gst.init(None)
    if not Gst.ElementFactory.find("hipvmaf"):
        say("GStreamer does not find hipvmaf: run first-score.sh, or set GST_PLUGIN_PATH")
        return 1
    try:
        score(options)
    except Failure as failure:
        say(f"Not scored. {failure}")
        if options.dist and not options.scale and "videoscale" in str(failure):
            say("With --scale, the second file is scaled and converted to fit the first.")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
