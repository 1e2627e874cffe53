#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures speed, one frame's latency and peak memory, and the ratios to libvmaf's.

  bench.py HVBENCH [LIBVMAFBENCH] [--feature NAME | --model NAME] [--runs N] [--frames N]
           [--threads N,N] [--only 1080p8] [--how memory,latency,files,pipeline] [--level v3]

memory   the clips are in memory and both programs are warm before the clock starts
latency  the same, one pair at a time: from handing it over to its score
files    whole processes that read raw clips from memory-backed files, and their peak memory;
         libvmaf's vmaf tool must be on PATH. `reading` is what merely reading the two clips takes

pipeline the element (GST_PLUGIN_PATH), fed by two pads with buffers that are there before the clock
         starts, beside the meter alone on the same frames: what GStreamer costs

Programs run turn about; figures are medians, ratios the medians of each turn's. The rival of memory
and latency is LIBVMAFBENCH, which is built where libvmaf is installed. --level limits both programs
to a processor level. Prints a table as Markdown has them.
"""
import argparse
import os
import re
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
# What libvmaf must not use, so that it has no more than the level: bits of its --cpumask.
CPUMASKS = {"baseline": 0x3e, "v3": 0x30}


def run(command, environment):
    """What one run printed, its seconds and its peak MiB."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={**os.environ, **environment})
    output = child.stdout.read().decode()
    # The peak is the kernel's figure for this child alone; it starts at this script's own few MiB.
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return output, time.monotonic() - start, usage.ru_maxrss / 1024


def milliseconds(how, done, frames):
    """A frame's, of a run."""
    output, seconds, _ = done
    latency = re.search(r"latency_ms=(\S+)", output)
    if how == "files":
        return seconds * 1000 / frames
    if latency:
        return float(latency.group(1))
    measured, taken = re.search(r"frames=(\d+) seconds=(\S+)", output).groups()
    return float(taken) * 1000 / int(measured)


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


def vmaf_tool(options, clip, paths, threads, mask):
    width, height, bits, _ = clip
    return [shutil.which("vmaf"), "--reference", paths[0], "--distorted", paths[1],
            "--width", str(width), "--height", str(height), "--pixel_format", "420",
            "--bitdepth", str(bits), "--threads", str(threads), "--cpumask", mask,
            *(["--model", f"version={options.model}"] if options.model else
              ["--no_prediction", "--feature", options.feature]),
            "--output", os.devnull, "--quiet"]


def commands(options, how, clip, paths, threads):
    """Our command and what is in its environment, and those of what it is compared with."""
    width, height, bits, _ = clip
    measured = [options.feature, options.model] if options.model else [options.feature]
    rest = [*paths, str(width), str(height), str(bits), str(threads), *measured]
    level = {"HIPVMAF_CPU_LEVEL": options.level} if options.level else {}
    mask = str(CPUMASKS.get(options.level, 0))
    if how == "pipeline":
        beside = os.path.dirname(options.hvbench)
        yield "ours", [os.path.join(beside, "pipebench"), *rest], level
        yield "other", [options.hvbench, "memory", *rest], level
        return
    yield "ours", [options.hvbench, "measure" if how == "files" else how, *rest], level
    if how == "files" and shutil.which("vmaf"):
        yield "other", vmaf_tool(options, clip, paths, threads, mask), {}
    if how != "files" and options.libvmafbench:
        yield "other", [options.libvmafbench, how, *rest], {"LIBVMAF_CPUMASK": mask}


class Comparison:
    """One way of measuring one clip with so many threads: the runs of each program, turn about."""

    def __init__(self, options, how, clip, paths, frames, threads):
        self.each, self.peak = {}, {}
        for _ in range(options.runs):
            for who, command, environment in commands(options, how, clip, paths, threads):
                done = run(command, environment)
                self.each.setdefault(who, []).append(milliseconds(how, done, frames))
                self.peak.setdefault(who, []).append(done[2])

    def time(self, who):
        return statistics.median(self.each[who]) if who in self.each else None

    def memory(self, who):
        return statistics.median(self.peak[who]) if who in self.peak else None

    def speed(self):
        """How many times the other's: the median of each turn's."""
        if "other" not in self.each:
            return None
        return statistics.median(theirs / ours for ours, theirs in
                                 zip(self.each["ours"], self.each["other"]))


COLUMNS = {
    "memory": ["ms", "libvmaf's", "speed"],
    "latency": ["latency", "libvmaf's", "of one thread's"],
    "pipeline": ["pipeline", "meter alone", "cost, %"],
    "files": ["whole process", "libvmaf's", "speed", "reading", "MiB", "libvmaf's"],
}


def cells(how, done, alone, read_ms):
    """The figures of COLUMNS. `alone` is the time of one thread."""
    times = [done.time("ours"), done.time("other")]
    if how == "memory":
        return [*times, done.speed()]
    if how == "pipeline":
        return [*times, 100 / done.speed() - 100]
    if how == "latency":
        return [*times, times[0] / alone if alone else None]
    return [*times, done.speed(), read_ms, done.memory("ours"), done.memory("other")]


def print_row(row):
    print(f"| {' | '.join(row)} |", flush=True)


def compare(options, name, clip, paths, frames):
    read_ms = read_seconds(paths) * 1000 / frames
    alone = {}
    for threads in options.threads:
        row = [options.model or options.feature, name, str(threads)]
        for how in options.how:
            done = Comparison(options, how, clip, paths, frames, threads)
            if threads == 1:
                alone[how] = done.time("ours")
            found = cells(how, done, alone.get(how), read_ms)
            row += ["-" if figure is None else f"{figure:.2f}" for figure in found]
        print_row(row)


def roomy_folder(needed):
    """Memory-backed where it has room, so that no disk is measured."""
    shm = "/dev/shm"
    if os.path.isdir(shm) and shutil.disk_usage(shm).free > 2 * needed:
        return shm
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("hvbench")
    parser.add_argument("libvmafbench", nargs="?")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--feature", default="adm")
    what.add_argument("--model", help="measure what this built-in model needs, and predict")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--frames", type=int, help="instead of 48 at 1080p and 24 at 2160p")
    parser.add_argument("--threads", default="1,2",
                        type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--only", choices=CLIPS)
    parser.add_argument("--how", default="memory,latency,files", type=lambda text: text.split(","))
    parser.add_argument("--level", help="the processor level, libvmaf's too: baseline, v3, v4, vnni")
    options = parser.parse_args()
    if options.model:
        options.feature = ""

    if not options.libvmafbench and {"memory", "latency"} & set(options.how):
        print("libvmaf's library is not installed: nothing to compare with from memory")
    if not shutil.which("vmaf") and "files" in options.how:
        print("libvmaf's vmaf tool is not on PATH: nothing to compare with from files")
    print(f"Medians of {options.runs} runs, milliseconds a frame")
    header = ["what", "picture", "threads"] + [name for how in options.how for name in COLUMNS[how]]
    print_row(header)
    print_row(["---"] * len(header))
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
