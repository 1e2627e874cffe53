#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the instructions that the CPU's hot loops execute against those of the baseline kept beside
this file: a function that takes over 2% more is a failure, as is one that the baseline does not know.
Speaks TAP.

  instructions.py [--update] HVBENCH COMPILER libhot_LEVEL.a...

For every metric, depth and processor level, one small clip is measured by one thread under callgrind.
The functions are those that the level's archive defines. Counts depend on the compiler, so they are
compared only where COMPILER is the baseline's. --update writes the baseline anew.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import callgrind

BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
LIMIT = 0.02
# SSIM's picture is made smaller only where it is large, or where that is asked for.
METRICS = ("adm", "vif", "motion", "psnr", "float_moment", "float_ssim", "float_ssim=scale=2",
           "float_ms_ssim")
DEPTHS = (8, 10)
WIDTH, HEIGHT, FRAMES = 320, 180, 3


def hot_functions(archive):
    """The names of all functions in the archive, static ones too."""
    said = subprocess.run(["nm", "--defined-only", archive], capture_output=True, text=True,
                          check=True).stdout
    return {callgrind.CLONE.sub("", name)
            for name in re.findall(r"^[0-9a-f]+ [tT] (\S+)$", said, re.MULTILINE)}


def measure(hvbench, clip, metric, depth, level):
    return callgrind.profile([hvbench, "measure", *clip, str(WIDTH), str(HEIGHT), str(depth), "1",
                              metric], {"HIPVMAF_CPU_LEVEL": level})


def level_used(profile):
    return re.search(r"level=(\w+)", profile.output).group(1)


def counts(hvbench, clips, level, functions):
    """{"metric, depth": {function: instructions}}, or None where valgrind cannot execute the level."""
    found = {}
    for metric in METRICS:
        for depth in DEPTHS:
            profile = measure(hvbench, clips[depth], metric, depth, level)
            if level_used(profile) != level:
                return None
            found[f"{metric}, {depth} bits"] = {
                name: profile.own[name] for name in sorted(functions) if profile.own[name]}
    return found


def changes(now, before):
    """What is wrong, and what got better: lines about functions."""
    worse, better = [], []
    for name, count in now.items():
        if name not in before:
            worse.append(f"{name}: {count}, not in the baseline")
            continue
        change = count / before[name] - 1
        if abs(change) > LIMIT:
            (worse if change > 0 else better).append(
                f"{name}: {before[name]} -> {count}, {100 * change:+.1f}%")
    better += [f"{name}: {before[name]} -> none" for name in before.keys() - now.keys()]
    return worse, better


class Comparison:
    def __init__(self, baseline):
        self.baseline = baseline["instructions"]
        self.number, self.failed, self.fell = 0, False, False

    def result(self, good, text, lines=()):
        self.number += 1
        print(f"{'' if good else 'not '}ok {self.number} - {text}")
        for line in lines:
            print(f"# {line}")
        sys.stdout.flush()
        self.failed |= not good

    def level(self, level, measured):
        if measured is None:
            self.result(True, f"{level} # SKIP valgrind cannot execute it here")
        elif level not in self.baseline:
            self.result(True, f"{level} # SKIP the baseline has no such level")
        else:
            for what, now in measured.items():
                worse, better = changes(now, self.baseline[level].get(what, {}))
                self.fell |= bool(better)
                each = sum(now.values()) / (WIDTH * HEIGHT * FRAMES)
                self.result(not worse, f"{what}, {level}: {each:.2f} instructions a luma sample",
                            worse + better)


def compare(measured, baseline):
    comparison = Comparison(baseline)
    for level, found in measured:
        comparison.level(level, found)
    print(f"1..{comparison.number}")
    if comparison.failed or comparison.fell:
        print("# Where that is meant: ninja -C BUILD renew-instructions")
    return comparison.failed


def update(compiler, measured, baseline):
    found = {level: counted for level, counted in measured if counted}
    missing = baseline["instructions"].keys() - found.keys()
    if missing:
        sys.exit(f"{', '.join(missing)} cannot be measured here; {BASELINE} stays as it is")
    with open(BASELINE, "w", encoding="utf-8") as file:
        json.dump({"compiler": compiler, "instructions": found}, file, indent=1, sort_keys=True)
        file.write("\n")
    return 0


def read_baseline():
    try:
        with open(BASELINE, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"compiler": "none", "instructions": {}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("hvbench")
    parser.add_argument("compiler")
    parser.add_argument("archives", nargs="+")
    options = parser.parse_args()
    baseline = read_baseline()
    if options.compiler != baseline["compiler"] and not options.update:
        print(f"1..0 # SKIP the baseline is for {baseline['compiler']}, this is {options.compiler}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        clips = {}
        for depth in DEPTHS:
            clips[depth] = [f"{folder}/ref{depth}.yuv", f"{folder}/dist{depth}.yuv"]
            subprocess.run([options.hvbench, "make", *clips[depth], str(WIDTH), str(HEIGHT),
                            str(depth), str(FRAMES)], check=True)
        levels = [(re.search(r"libhot_(\w+)\.a", path).group(1), path) for path in options.archives]
        measured = ((level, counts(options.hvbench, clips, level, hot_functions(path)))
                    for level, path in levels)
        if options.update:
            return update(options.compiler, measured, baseline)
        return compare(measured, baseline)


if __name__ == "__main__":
    sys.exit(main())
