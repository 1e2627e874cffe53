#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds golden values against what gst-launch-1.0 prints, where Python has no GStreamer: such as a
machine that has a GPU and little else.

  launch.py SHARED GOLDEN [--backend BACKEND] [--tolerance X] CONFIG...

SHARED is a copy of ../shared (its tools and clips are used), GOLDEN a folder of golden files:
the one that tests/golden/check.sh leaves in the build folder, where three are corrected. CONFIG is a
feature set or a model of check_golden.py's. Prints a line a config; exits 1 unless every value came
back, none further off than the tolerance (0 unless told).
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
# libvmaf's own plumbing, no scores for a user.
INTERNAL = re.compile(r"motion_sad|vmaf_\d{4}")
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


def properties(config, table):
    """What the element is asked for, as check_golden.py asks."""
    if config in table:
        return ['model-filename=""', f"features={table[config]}"]
    name, *flags = config.split(":")
    return [f"model-filename={name}", *(f"{flag.replace('_', '-')}=true" for flag in flags),
            *(["conf-interval=true"] if "_b_" in name else [])]


def wanted(golden, config):
    """The values of each frame by name, and the pooled ones; nothing where there are none."""
    if config in golden["features"]:
        return golden["features"][config], {}
    model = golden["models"].get(config)
    return (model["frames"], model["pooled"]) if model else ({}, {})


def measure(golden, shared, asked, backend):
    """The frame messages' scores, by index; the pooled message's; what else was printed."""
    command = ["gst-launch-1.0", "-m", "hipvmaf", "name=q", f"backend={backend}", *asked,
               "frame-message=true", "!", "fakesink", "sync=false"]
    for side, pad in (("reference", "q.ref_sink"), ("distorted", "q.dist_sink")):
        command += source(golden, f"{shared}/clips/{golden[side]}") + [pad]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=120, check=False)
    frames, pooled = {}, {}
    for line in run.stdout.splitlines():
        fields = dict(FIELD.findall(line)) if ": VMAF, " in line else {}
        if fields.get("type") == "frame":
            frames[int(fields["index"])] = fields
        elif fields.get("type") == "pooled":
            pooled = fields
    return frames, pooled, [line for line in run.stdout.splitlines() if "ERROR" in line]


def pairs_of(golden, config, frames, pooled):
    """Golden values and what came in their place, or None."""
    series, pools = wanted(golden, config)
    for name, values in series.items():
        field = "score" if name == "vmaf" else name
        if INTERNAL.search(name):
            continue
        for index, value in enumerate(values):
            if value is not None:
                yield value, frames.get(index, {}).get(field)
    for name, pool in pools.items():
        if not INTERNAL.search(name):
            yield pool["mean"], pooled.get("score" if name == "vmaf" else name)


def hold(config, options, table):
    values = missing = 0
    worst, errors = 0.0, []
    for path in sorted(glob.glob(f"{options.golden}/*.json")):
        with open(path) as file:
            golden = json.load(file)
        if not wanted(golden, config)[0]:
            continue
        frames, pooled, printed = measure(golden, options.shared, properties(config, table),
                                          options.backend)
        errors += printed
        for value, got in pairs_of(golden, config, frames, pooled):
            values += 1
            missing += got is None
            worst = max(worst, abs(float(got) - value)) if got is not None else worst
    fine = values and not missing and worst <= options.tolerance
    print(f"{'ok  ' if fine else 'FAIL'} {config}: {values} values, {missing} missing, largest "
          f"difference {worst:.3g}" + (f"; {errors[0]}" if errors else ""), flush=True)
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared")
    parser.add_argument("golden")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--tolerance", type=float, default=0)
    parser.add_argument("config", nargs="+")
    options = parser.parse_args()
    if not os.path.isdir(options.golden):
        parser.error(f"there is no folder {options.golden}")
    table = feature_sets(options.shared)
    results = [hold(config, options, table) for config in options.config]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
