#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts what the kernels execute for a pair, in an emulator of AMD GPUs, where there is no GPU to time:
a table of each kernel's launches, lane instructions a luma sample (a wavefront's times its lanes; scalar
ones, which take its turn too, apart), and bytes a luma sample that it reads and writes, each line of 64
bytes once a launch.

  counts.py BUILD EMULATOR TINYGRAD ARCH [--size WIDTHxHEIGHT] [--depth BITS] METRIC...

BUILD holds tests/gpu/parity and tests/bench/hvbench; EMULATOR a built ../shared/tools/amd-emulator;
TINYGRAD a checkout of it; ARCH a target that is in the build: gfx90a. The pair's scores are held
against the CPU's.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("vector", "lds", "global", "scalar")


def clip(build, folder, size, depth, frames):
    name = "I420" if depth == 8 else f"I420_{depth}LE"
    paths = [f"{folder}/clip_{which}.{size}.{name}.yuv" for which in ("ref", "dis")]
    width, height = size.split("x")
    subprocess.run([f"{build}/tests/bench/hvbench", "make", *paths, width, height, str(depth),
                    str(frames)], check=True)
    return paths


def launches(options, metric):
    """What was launched for the last pair: motion's first has none to be compared with."""
    frames = 2 if metric == "motion" else 1
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(f"{options.emulator}/libamdhip64.so.6"),
                   f"{folder}/libamdhip64.so.6")
        os.symlink(f"{HERE}/hip_on_emulator.py", f"{folder}/hip_on_emulator.py")
        environment = {
            **os.environ, "PYTHONPATH": options.tinygrad, "PYTHONDONTWRITEBYTECODE": "1",
            "HIPVMAF_RUNTIME": f"{folder}/libamdhip64.so.6", "HIP_EMULATOR_ARCH": options.arch,
            "AMD_EMULATOR": os.path.abspath(options.emulator), "AMD_COUNTS": f"{folder}/counts"}
        paths = clip(options.build, folder, options.size, options.depth, frames)
        done = subprocess.run([f"{options.build}/tests/gpu/parity", metric, "clip", *paths,
                               str(frames)], env=environment, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            sys.exit(f"parity {metric}: {done.stdout}{done.stderr}")
        with open(f"{folder}/counts", encoding="utf-8") as file:
            found = [json.loads(line) for line in file]
    # A metric may be measured with more than one set of options.
    pairs = sum(map(int, re.findall(r": (\d+) pairs", done.stdout)))
    return found[-(len(found) // pairs):]


def print_metric(metric, found, samples):
    kernels = {}
    for one in found:
        kernels.setdefault(one["kernel"], []).append(one)
    for kernel, some in kernels.items():
        wave = some[0]["wave"]
        cells = [sum(one.get(kind, 0) for one in some) * wave / samples for kind in KINDS]
        moved = [sum(one[f"{side} lines"] for one in some) / samples for side in ("read", "written")]
        print(f"| `{kernel}` | {len(some)} | {sum(cells[:-1]):.0f} | "
              f"{' | '.join(f'{cell:.1f}' for cell in cells)} | {moved[0]:.2f} | {moved[1]:.2f} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name in ("build", "emulator", "tinygrad", "arch"):
        parser.add_argument(name)
    parser.add_argument("--size", default="576x324")
    parser.add_argument("--depth", default=8, type=int)
    parser.add_argument("metrics", nargs="+")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    print(f"{options.arch}, {options.size}, {options.depth} bits, a pair, by luma sample:")
    print("| kernel | launches | lane instructions | vector | shared memory | global memory | scalar "
          "| bytes read | written |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for metric in options.metrics:
        print_metric(metric, launches(options, metric), width * height)


if __name__ == "__main__":
    main()
