#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the examples in docs/, which must say the same, and the right thing. Speaks TAP.

  examples_test.py SCORE SCORE_PY
"""
import re
import subprocess
import sys
import tempfile

PROGRAMS = ([sys.argv[1]], ["/usr/bin/python3", sys.argv[2]])
FRAMES = 12
LINE = re.compile(r" *(\d+|pooled) +(\d+\.\d{6}) +(\d+\.\d{6}) dB")


def run(program, *arguments):
    return subprocess.run([*program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False)


def encode(path, bitrate):
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", f"num-buffers={FRAMES}",
                    "pattern=zone-plate", "kx2=40", "ky2=40", "kt=1", "!",
                    "video/x-raw,format=I420,width=160,height=90,framerate=25/1", "!",
                    "x264enc", f"bitrate={bitrate}", "!", "matroskamux", "!",
                    "filesink", f"location={path}"], check=True, stdin=subprocess.DEVNULL)


def scores(folder):
    """frames in order, their means last; from C as from Python"""
    runs = [run(program, f"{folder}/good.mkv", f"{folder}/bad.mkv") for program in PROGRAMS]
    for one in runs:
        assert one.returncode == 0 and one.stderr == "", one.stderr
    assert runs[0].stdout == runs[1].stdout, runs[0].stdout + runs[1].stdout
    lines = [LINE.fullmatch(line).groups() for line in runs[0].stdout.splitlines()]
    assert [line[0] for line in lines] == [*map(str, range(FRAMES)), "pooled"], lines
    for column in 1, 2:
        values = [float(line[column]) for line in lines]
        assert abs(sum(values[:-1]) / FRAMES - values[-1]) < 2e-6, lines
        assert 10 < values[-1] < 90, lines


def failures(folder):
    """a file that is not there is an error, a missing argument another"""
    for program in PROGRAMS:
        one = run(program, f"{folder}/good.mkv", f"{folder}/none.mkv")
        assert one.returncode == 1 and one.stderr, one
        one = run(program, f"{folder}/good.mkv")
        assert one.returncode == 2 and "usage" in one.stderr, one


def main():
    failed = False
    tests = (scores, failures)
    print(f"1..{len(tests)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        encode(f"{folder}/good.mkv", 2000)
        encode(f"{folder}/bad.mkv", 60)
        for number, test in enumerate(tests, 1):
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}", flush=True)
            except (AssertionError, AttributeError, subprocess.SubprocessError) as error:
                failed = True
                reason = "\n".join(f"# {line}" for line in str(error).splitlines())
                print(f"not ok {number} - {test.__doc__}\n{reason}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
