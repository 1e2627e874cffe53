#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures speed and peak memory, and the ratio to libvmaf's vmaf tool where that is on PATH.

  bench.py HVBENCH [--feature NAME | --model NAME] [--runs N] [--frames N] [--threads N,N] [--only 1080p8]

Both programs are timed as whole processes that read the same raw clips from memory-backed files,
turn about, and the medians are compared. `read` is the share of that time that merely reading the
two clips takes. Set HIPVMAF_CPU_LEVEL to compare processor levels.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

CLIPS = {
    "1080p8": (1920, 1080, 8, 48),
    "1080p10": (1920, 1080, 10, 48),
    "2160p8": (3840, 2160, 8, 24),
    "2160p10": (3840, 2160, 10, 24),
}


def timed(command):
    """Seconds and peak MiB of one run, and what it printed."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = child.stdout.read().decode()
    # The peak is the kernel's figure for this child alone; it starts at this script's own few MiB.
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return time.monotonic() - start, usage.ru_maxrss / 1024, output


def read_seconds(paths):
    """The shortest of three reads of both clips."""
    best = float("inf")
    block = bytearray(1 << 20)
    for _ in range(3):
        start = time.monotonic()
        for path in paths:
            with open(path, "rb", buffering=0) as clip:
                while clip.readinto(block):
                    pass
        best = min(best, time.monotonic() - start)
    return best


def commands(options, clip, paths, threads):
    width, height, bits, _ = clip
    measured = [options.feature, options.model] if options.model else [options.feature]
    yield "hipvmaf", [options.hvbench, "measure", *paths, str(width), str(height), str(bits),
                      str(threads), *measured]
    vmaf = shutil.which("vmaf")
    if vmaf:
        yield "libvmaf", [vmaf, "--reference", paths[0], "--distorted", paths[1],
                          "--width", str(width), "--height", str(height),
                          "--pixel_format", "420", "--bitdepth", str(bits),
                          *(["--model", f"version={options.model}"] if options.model else
                            ["--no_prediction", "--feature", options.feature]),
                          "--threads", str(threads), "--output", os.devnull, "--quiet"]


def compare(options, name, clip, paths, frames):
    read_ms = read_seconds(paths) * 1000 / frames
    for threads in options.threads:
        runs = {}
        for _ in range(options.runs):
            for who, command in commands(options, clip, paths, threads):
                runs.setdefault(who, []).append(timed(command))
        medians = {}
        for who, results in runs.items():
            seconds = statistics.median(r[0] for r in results)
            memory = statistics.median(r[1] for r in results)
            medians[who] = (seconds, memory)
            print(f"{name:8} {threads:7}  {who:8} {frames / seconds:7.1f} "
                  f"{seconds * 1000 / frames:9.2f} {read_ms:6.2f} {memory:9.1f}", flush=True)
        if "libvmaf" in medians:
            ours, theirs = medians["hipvmaf"], medians["libvmaf"]
            print(f"{'':17} speed {theirs[0] / ours[0]:.2f} of libvmaf's, "
                  f"memory {ours[1] / theirs[1]:.2f} of libvmaf's", flush=True)


def roomy_folder(needed):
    """Memory-backed where it has room, so that no disk is measured."""
    shm = "/dev/shm"
    if os.path.isdir(shm) and shutil.disk_usage(shm).free > 2 * needed:
        return shm
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("hvbench")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--feature", default="adm")
    what.add_argument("--model", help="measure what this built-in model needs, and predict")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--frames", type=int, help="instead of 48 at 1080p and 24 at 2160p")
    parser.add_argument("--threads", default="1,2",
                        type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--only", choices=CLIPS)
    options = parser.parse_args()
    if options.model:
        options.feature = ""

    if not shutil.which("vmaf"):
        print("libvmaf's vmaf tool is not on PATH: no comparison")
    print(f"{options.model or options.feature}, medians of {options.runs} runs of whole processes")
    print(f"{'clip':8} {'threads':>7}  {'':8} {'fps':>7} {'ms/frame':>9} {'read':>6} {'peak MiB':>9}")
    for name, clip in CLIPS.items():
        if options.only and name != options.only:
            continue
        width, height, bits, frames = clip
        frames = options.frames or frames
        needed = width * height * 3 * (2 if bits > 8 else 1) * frames
        with tempfile.TemporaryDirectory(dir=roomy_folder(needed)) as folder:
            paths = [f"{folder}/ref.yuv", f"{folder}/dist.yuv"]
            subprocess.run([options.hvbench, "make", *paths, str(width), str(height), str(bits),
                            str(frames)], check=True)
            compare(options, name, clip, paths, frames)


if __name__ == "__main__":
    main()
