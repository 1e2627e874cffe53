#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds golden values against what gst-launch-1.0 prints, where Python has no GStreamer: such as a
machine that has a GPU and little else.

  launch.py SHARED GOLDEN [--backend BACKEND] CONFIG...

SHARED is a copy of ../shared (its tools and clips are used), GOLDEN a folder of golden files:
the one that tests/golden/check.sh leaves in the build folder, where three are corrected. CONFIG is a
feature set of check_golden.py's. Prints a line a config; exits 1 unless every value came back equal.
"""
import argparse
import ast
import glob
import json
import os
import re
import subprocess
import sys

# Bytes of a sample, and how much smaller chroma is; 0: there is none.
FORMATS = {"I420": (1, 2, 2), "Y42B": (1, 2, 1), "Y444": (1, 1, 1), "GRAY16_LE": (2, 0, 0),
           "I420_10LE": (2, 2, 2), "I420_12LE": (2, 2, 2)}
FIELD = re.compile(r"([\w.-]+)=\((?:double|int|string)\)([^,;]+)")


def feature_sets(shared):
    """The table in check_golden.py, which itself needs GStreamer to be loaded."""
    with open(f"{shared}/tools/check_golden.py") as source:
        tree = ast.parse(source.read())
    wanted = [node for node in tree.body if isinstance(node, ast.Assign)
              and node.targets[0].id in ("V1ADM", "FEATURES")]
    table = {}
    exec(compile(ast.Module(wanted, []), "check_golden.py", "exec"), table)
    return table["FEATURES"]


def source(golden, clip):
    """A raw clip with tightly packed planes."""
    size, across, down = FORMATS[golden["format"]]
    width, height = golden["width"], golden["height"]
    row, luma = width * size, width * height * size
    strides, offsets, total = [row], [0], luma
    if across:
        chroma = -(-width // across) * size
        part = chroma * -(-height // down)
        strides += [chroma, chroma]
        offsets += [luma, luma + part]
        total += 2 * part
    fields = {"format": golden["format"].lower().replace("_", "-"), "width": width,
              "height": height, "framerate": "25/1", "frame-size": total,
              "plane-strides": "<" + ",".join(map(str, strides)) + ">",
              "plane-offsets": "<" + ",".join(map(str, offsets)) + ">"}
    return ["filesrc", f"location={clip}", "!", "rawvideoparse",
            *(f"{name}={value}" for name, value in fields.items()), "!"]


def measure(golden, shared, features, backend):
    """The frame messages' scores, by index; what else was printed."""
    command = ["gst-launch-1.0", "-m", "hipvmaf", "name=q", f"backend={backend}",
               'model-filename=""', f"features={features}", "frame-message=true", "!", "fakesink",
               "sync=false"]
    for side, pad in (("reference", "q.ref_sink"), ("distorted", "q.dist_sink")):
        command += source(golden, f"{shared}/clips/{golden[side]}") + [pad]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=120, check=False)
    frames = {}
    for line in run.stdout.splitlines():
        fields = dict(FIELD.findall(line)) if ": VMAF, " in line else {}
        if fields.get("type") == "frame":
            frames[int(fields["index"])] = fields
    return frames, [line for line in run.stdout.splitlines() if "ERROR" in line]


def hold(config, options, features):
    values = missing = 0
    worst, errors = 0.0, []
    for path in sorted(glob.glob(f"{options.golden}/*.json")):
        with open(path) as file:
            golden = json.load(file)
        if config not in golden["features"]:
            continue
        frames, printed = measure(golden, options.shared, features, options.backend)
        errors += printed
        for name, series in golden["features"][config].items():
            for index, value in enumerate(series):
                if value is None or "motion_sad" in name:
                    continue
                values += 1
                got = frames.get(index, {}).get(name)
                missing += got is None
                worst = max(worst, abs(float(got) - value)) if got is not None else worst
    fine = values and not missing and worst == 0
    print(f"{'ok  ' if fine else 'FAIL'} {config}: {values} values, {missing} missing, largest "
          f"difference {worst:.3g}" + (f"; {errors[0]}" if errors else ""), flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared")
    parser.add_argument("golden")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("config", nargs="+")
    options = parser.parse_args()
    if not os.path.isdir(options.golden):
        parser.error(f"there is no folder {options.golden}")
    table = feature_sets(options.shared)
    results = [hold(config, options, table[config]) for config in options.config]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
