#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds results files against those that libvmaf 3.2's vmaf tool wrote of the same clip, and kills
pipelines that are writing some. Speaks TAP.

  results_test.py
  results_test.py --make VMAF_TOOL    writes libvmaf.xml, .json, .csv and .sub anew, with the C paths

They are read as libvmaf's own scripts do it (xml.etree, json), and as everybody does (csv).
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from xml.etree import ElementTree

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = ("xml", "json", "csv", "sub")
WIDTH, HEIGHT, FRAMES = 64, 48, 4
# Besides the default model.
FEATURES = ("psnr=enable_apsnr=true", "float_ssim")
# libvmaf writes a sum that is an intermediate result of motion, under the name that it has inside.
INTERNAL = "VMAF_integer_feature_motion_sad_score"


def plane(width, height, frame, coarse):
    samples = bytearray()
    for y in range(height):
        for x in range(width):
            sample = (x * x + 3 * y * y) // 16 + (x * y) // 5 + 9 * frame * (1 + y % 3)
            sample = 16 + sample % 220
            samples.append(sample // coarse * coarse)
    return bytes(samples)


def make_clips(folder):
    paths = []
    for name, coarse in ("ref", 1), ("dis", 12):
        path = pathlib.Path(folder) / f"{name}.yuv"
        path.write_bytes(b"".join(
            plane(WIDTH, HEIGHT, frame, coarse) + 2 * plane(WIDTH // 2, HEIGHT // 2, frame, coarse)
            for frame in range(FRAMES)))
        paths.append(str(path))
    return paths


def make_references(tool):
    with tempfile.TemporaryDirectory() as folder:
        ref, dis = make_clips(folder)
        for layout in FORMATS:
            subprocess.run([tool, "-r", ref, "-d", dis, "-w", str(WIDTH), "-h", str(HEIGHT),
                            "-p", "420", "-b", "8", f"--{layout}", "-o", HERE / f"libvmaf.{layout}",
                            "--cpumask", str(2**32 - 1), "-q",
                            *(f"--feature={feature}" for feature in FEATURES)], check=True)


def measure(clips, path, layout):
    parse = f"rawvideoparse format=i420 width={WIDTH} height={HEIGHT} framerate=25/1"
    run = subprocess.run(
        f"gst-launch-1.0 -q hipvmaf name=v results-filename={path} results-format={layout} "
        f"features={','.join(FEATURES)} ! fakesink "
        f"filesrc location={clips[0]} ! {parse} ! v.ref_sink "
        f"filesrc location={clips[1]} ! {parse} ! v.dist_sink",
        shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr


# Readers: frames as a list of (number, {name: text}), then whatever else the layout has.

def read_xml(path):
    root = ElementTree.parse(path).getroot()
    frames = [(int(frame.attrib.pop("frameNum")), frame.attrib)
              for frame in root.findall("frames/frame")]
    pooled = {metric.attrib.pop("name"): metric.attrib
              for metric in root.findall("pooled_metrics/metric")}
    (aggregate,) = root.findall("aggregate_metrics")
    (params,), (fyi,) = root.findall("params"), root.findall("fyi")
    assert float(fyi.attrib["fps"]) > 0 and list(root.attrib) == ["version"], root.attrib
    return frames, {"root": root.tag, "parts": [part.tag for part in root], "pooled": pooled,
                    "aggregate": aggregate.attrib, "params": params.attrib, "fyi": list(fyi.attrib)}


def read_json(path):
    root = json.loads(pathlib.Path(path).read_text(encoding="utf-8"), parse_float=str)
    frames = [(frame["frameNum"], frame["metrics"]) for frame in root["frames"]]
    assert float(root["fps"]) > 0 and isinstance(root["version"], str)
    return frames, {"parts": list(root), "in a frame": list(root["frames"][0]),
                    "pooled": root["pooled_metrics"], "aggregate": root["aggregate_metrics"]}


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return [(int(row.pop("Frame")), row) for row in rows], {}


def read_sub(path):
    frames = []
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        begin, end, number, scores = re.fullmatch(
            r"\{(\d+)\}\{(\d+)\}frame: (\d+)\|((?:[\w.]+: [^|]+\|)+)", line).groups()
        assert int(begin) == int(number) == int(end) - 1, line
        frames.append((int(number), dict(score.split(": ") for score in scores[:-1].split("|"))))
    return frames, {}


ENDS = {"xml": b"</VMAF>\n", "json": b"\n  }\n}\n", "csv": b",\n", "sub": b"|\n"}
READ = {"xml": read_xml, "json": read_json, "csv": read_csv, "sub": read_sub}


def without_internal(frames, rest):
    for _, scores in frames:
        assert scores.pop(INTERNAL)
    rest.get("pooled", {}).pop(INTERNAL, None)
    return frames, rest


def same_as_libvmaf(folder, layout):
    path = f"{folder}/results.{layout}"
    measure(make_clips(folder), path, layout)
    ours = READ[layout](path)
    theirs = without_internal(*READ[layout](HERE / f"libvmaf.{layout}"))
    assert len(ours[0]) == FRAMES
    assert ours == theirs, f"{ours}\nand not\n{theirs}"


def look_closely(path, layout, seconds):
    """Once it is there, it is there at any moment, to its end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not os.path.exists(path):
            time.sleep(0.01)
            continue
        while time.monotonic() < until:
            with open(path, "rb") as document:
                document.seek(-len(ENDS[layout]), os.SEEK_END)
                assert document.read() == ENDS[layout], "half a document"
            time.sleep(0.0005)


def killed(folder, layout):
    """Until it has been seen to grow, and never half of it."""
    path = f"{folder}/results.{layout}"
    source = "videotestsrc pattern=ball ! video/x-raw,format=I420,width=64,height=48"
    pipeline = subprocess.Popen(
        ["gst-launch-1.0", "-q", *f"hipvmaf name=v features=adm results-filename={path} "
         f"results-format={layout} ! fakesink {source} ! v.ref_sink {source} ! v.dist_sink".split()],
        stdin=subprocess.DEVNULL)
    lengths = set()
    try:
        deadline = time.monotonic() + 60
        while len(lengths) < 3:
            assert time.monotonic() < deadline and pipeline.poll() is None
            look_closely(path, layout, 0.3)
            if pathlib.Path(path).exists():
                lengths.add(len(READ[layout](path)[0]))
    finally:
        pipeline.send_signal(signal.SIGKILL)
        pipeline.wait()
    frames, _ = READ[layout](path)
    assert [number for number, _ in frames] == list(range(len(frames))), "frames are missing"
    assert len(frames) >= max(lengths) > min(lengths) > 0, lengths
    names = {tuple(scores) for _, scores in frames}
    assert len(names) == 1 and "vmaf" in names.pop()


def nearly_full(folder, layout):
    """A disk that has room for the file, but not for two, gets all of it; then one that has not."""
    path = f"{folder}/results.{layout}"
    source = "videotestsrc num-buffers=450 ! video/x-raw,format=I420,width=64,height=48,framerate=90/1"
    pipeline = (f"gst-launch-1.0 hipvmaf name=v features=adm model-filename='\"\"' "
                f"results-filename=/mnt/results results-format={layout} ! fakesink sync=true "
                f"{source} ! v.ref_sink {source} ! v.dist_sink")
    for size, frames in ("200k", range(450, 451)), ("100k", range(100, 400)):
        run = subprocess.run(
            ["unshare", "--mount", "--map-root-user", "sh", "-c",
             f"mount -t tmpfs -o size={size} tmpfs /mnt && echo mounted && {pipeline} && "
             f"cp /mnt/results {path} && ls -A /mnt"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False)
        if not run.stdout.startswith("mounted"):
            raise unittest.SkipTest(run.stderr.strip())
        assert run.returncode == 0 and run.stdout.endswith("\nresults\n"), run.stdout + run.stderr
        numbers = [number for number, _ in READ[layout](path)[0]]
        assert numbers == list(range(len(numbers))) and len(numbers) in frames, len(numbers)
        assert ("No space left" in run.stderr + run.stdout) == (len(numbers) < 450), run.stderr


TESTS = [(f"{layout}: as libvmaf writes it", same_as_libvmaf, layout) for layout in FORMATS] \
    + [(f"{layout}: whole whenever it is there", killed, layout) for layout in FORMATS] \
    + [("json: a disk that is nearly full", nearly_full, "json")]


def outcome(test):
    name, run, layout = test
    try:
        with tempfile.TemporaryDirectory() as folder:
            run(folder, layout)
    except unittest.SkipTest as why:
        return f"ok {{}} - {name} # SKIP {why}"
    except Exception as error:  # pylint: disable=broad-except
        return f"not ok {{}} - {name}\n# {error!r}"
    return f"ok {{}} - {name}"


def main():
    if sys.argv[1:2] == ["--make"]:
        make_references(sys.argv[2])
        return 0
    print(f"1..{len(TESTS)}")
    failed = False
    # Those that are killed mostly wait.
    with concurrent.futures.ThreadPoolExecutor(len(TESTS)) as pool:
        for number, text in enumerate(pool.map(outcome, TESTS), 1):
            print(text.replace("{}", str(number), 1), flush=True)
            failed |= text.startswith("not")
    return failed


if __name__ == "__main__":
    sys.exit(main())
