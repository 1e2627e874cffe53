#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures a long pair of files in segments, each on whatever machine, and merges the results files
into the one that an uncut run writes.

  segments.py plan --frames N --segments K       one line a segment: what to give to measure
  segments.py measure --frames FIRST-LAST --rate 25/1 REF DIST RESULTS.json
  segments.py merge RESULTS.json ... > WHOLE.json

Segments overlap, so that every frame that counts has been measured with its neighbours: metrics that
look at them (motion, and with it VMAF) give what they give in an uncut run. Both files have a constant
frame rate and begin at 0, and can be sought in exactly.
"""
import argparse
import json
import math
import os
import sys
import tempfile
from fractions import Fraction

OVERLAP = 16  # frames; half of them belong to either side


def say(text):
    print(text, file=sys.stderr, flush=True)


# Plan ---------------------------------------------------------------------------------------------


def plan(options):
    """Segments of about the same length, FIRST-LAST, with OVERLAP frames in two of them."""
    for k in range(options.segments):
        first = options.frames * k // options.segments - (OVERLAP // 2 if k else 0)
        last = options.frames * (k + 1) // options.segments - 1
        if k + 1 < options.segments:
            last += OVERLAP // 2
        print(f"{first}-{last}")
    return 0


# Measure ------------------------------------------------------------------------------------------


def branch(name, path):
    return (f'filesrc location="{path}" ! decodebin name={name} caps="video/x-raw(ANY)" '
            f"expose-all-streams=false ! queue name={name}_queue ! measure.{name}_sink ")


class Segment:
    """A pipeline that measures the frames from `first` to `last` and no others."""

    def __init__(self, gst, options, results):
        self.gst, self.rate = gst, options.rate
        self.first, self.last = options.frames
        self.pipeline = gst.parse_launch(
            f'hipvmaf name=measure frame-message=true results-filename="{results}" '
            f'results-format=json results-precision=17 model-filename="{options.model}" '
            f'features="{options.features}" ! fakesink sync=false async=false ' +
            branch("ref", options.ref) + branch("dist", options.dist))
        self.numbers = {}  # of the frames, by index
        self.held = {}

    def hold(self, name):
        """Nothing is measured until both files have been sought in."""
        pad = self.pipeline.get_by_name(f"{name}_queue").get_static_pad("src")

        def on_data(_, info):
            self.held.setdefault(name, info.id)
            return self.gst.PadProbeReturn.OK

        probe = pad.add_probe(
            self.gst.PadProbeType.BLOCK | self.gst.PadProbeType.BUFFER, on_data)
        return pad, probe

    def wait(self, over):
        bus = self.pipeline.get_bus()
        while not over():
            message = bus.timed_pop(20 * self.gst.MSECOND)
            if message is None:
                continue
            if message.type == self.gst.MessageType.ERROR:
                raise RuntimeError(message.parse_error()[0].message)
            structure = message.get_structure()
            if message.type == self.gst.MessageType.EOS:
                return
            if (message.type == self.gst.MessageType.ELEMENT and structure.get_name() == "VMAF"
                    and structure.get_value("type") == "frame"):
                self.numbers[structure.get_value("index")] = round(
                    structure.get_value("timestamp") * self.rate / self.gst.SECOND)

    def seek(self, pads):
        """From before the first frame, in the one before it, to before the one after the last."""
        begin, end = (math.floor((frame - Fraction(6, 10)) / self.rate * self.gst.SECOND)
                      for frame in (self.first, self.last + 1))
        seek = self.gst.Event.new_seek(
            1.0, self.gst.Format.TIME, self.gst.SeekFlags.FLUSH | self.gst.SeekFlags.ACCURATE,
            self.gst.SeekType.SET, max(begin, 0), self.gst.SeekType.SET, end)
        for pad in pads:
            if not pad.send_event(seek.copy()):
                raise RuntimeError("a file cannot be sought in")

    def run(self):
        states = self.gst.State
        held = [self.hold(name) for name in ("ref", "dist")]
        try:
            self.pipeline.set_state(states.PLAYING)
            self.wait(lambda: len(self.held) == 2)
            self.seek([self.pipeline.get_by_name(f"{name}_queue").get_static_pad("src")
                       for name in ("ref", "dist")])
            for pad, probe in held:
                pad.remove_probe(probe)
            self.wait(lambda: False)
        finally:
            self.pipeline.set_state(states.NULL)


def frame_range(text):
    first, last = map(int, text.split("-"))
    if not 0 <= first <= last:
        raise argparse.ArgumentTypeError("FIRST-LAST")
    return first, last


def measure(options):
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.json")
        segment = Segment(Gst, options, path)
        try:
            segment.run()
        except RuntimeError as error:
            say(f"Not measured. {error}")
            return 1
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    for frame in results["frames"]:
        frame["frameNum"] = segment.numbers[frame["frameNum"]]
    results["frames"] = [frame for frame in results["frames"]
                         if segment.first <= frame["frameNum"] <= segment.last]
    numbers = [frame["frameNum"] for frame in results["frames"]]
    if numbers != list(range(segment.first, segment.last + 1)):
        say(f"Not every frame of {segment.first}-{segment.last} was measured, or not once: is the "
            f"frame rate {options.rate}, in both files?")
        return 1
    # They are about more frames than these.
    results["pooled_metrics"] = pooled(results["frames"])
    results["aggregate_metrics"] = {}
    with open(options.results, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=2)
    return 0


# Merge --------------------------------------------------------------------------------------------


def pooled(frames):
    """As libvmaf pools: sums in the order of the frames."""
    values = {}
    for frame in frames:
        for name, value in frame["metrics"].items():
            if value is not None:
                values.setdefault(name, []).append(value)
    result = {}
    for name, scores in values.items():
        total = inverse = 0.0
        for score in scores:
            total += score
            inverse += 1 / (score + 1)
        result[name] = {"min": min(scores), "max": max(scores), "mean": total / len(scores),
                        "harmonic_mean": len(scores) / inverse - 1}
    return result


def merge(options):
    parts = []
    for path in options.results:
        with open(path, encoding="utf-8") as file:
            parts.append(json.load(file))
    parts.sort(key=lambda part: part["frames"][0]["frameNum"])
    frames = []
    for k, part in enumerate(parts):
        first = part["frames"][0]["frameNum"]
        if k:
            common = frames[-1]["frameNum"] + 1 - first
            if common < OVERLAP:
                say(f"Frames {first} to {first + OVERLAP} must be in two files.")
                return 1
            del frames[-(common // 2):]
        have = frames[-1]["frameNum"] if frames else -1
        frames += [frame for frame in part["frames"] if frame["frameNum"] > have]
    whole = dict(parts[0], frames=frames, pooled_metrics=pooled(frames), aggregate_metrics={})
    whole["fps"] = len(frames) / sum(len(part["frames"]) / part["fps"] for part in parts)
    json.dump(whole, sys.stdout, indent=2)
    print()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("plan")
    command.add_argument("--frames", type=int, required=True)
    command.add_argument("--segments", type=int, required=True)
    command.set_defaults(do=plan)
    command = commands.add_parser("measure")
    command.add_argument("--frames", type=frame_range, required=True)
    command.add_argument("--rate", type=Fraction, required=True)
    command.add_argument("--model", default="vmaf_v0.6.1")
    command.add_argument("--features", default="")
    command.add_argument("ref")
    command.add_argument("dist")
    command.add_argument("results")
    command.set_defaults(do=measure)
    command = commands.add_parser("merge")
    command.add_argument("results", nargs="+")
    command.set_defaults(do=merge)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())
