#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds docs/first-score.py to what the README promises. Speaks TAP.

  first_score_test.py PATH_OF_FIRST_SCORE_PY
"""
import re
import subprocess
import sys
import tempfile

SCRIPT = sys.argv[1]
FRAME = re.compile(r"^ *(\d+) +\d+:\d\d\.\d{3}((?: +\d+\.\d{6})+)$", re.MULTILINE)
POOLED = re.compile(r"^  ([\w.]+) +(\d+\.\d{6})$", re.MULTILINE)


def score(*arguments):
    run = subprocess.run(["/usr/bin/python3", SCRIPT, *arguments], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout, run.stderr


def encode(path, width, height, frames, bitrate):
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", f"num-buffers={frames}",
                    "pattern=zone-plate", "kx2=40", "ky2=40", "kt=1", "!",
                    f"video/x-raw,format=I420,width={width},height={height},framerate=25/1", "!",
                    "x264enc", f"bitrate={bitrate}", "!", "matroskamux", "!",
                    "filesink", f"location={path}"], check=True, stdin=subprocess.DEVNULL)


def check_scores(output, frames):
    """Every frame once and in order, and each pooled score the mean of its column."""
    names = output.splitlines()[0].split()[2:]
    found = FRAME.findall(output)
    assert [int(index) for index, _ in found] == list(range(frames)), output
    columns = zip(*(map(float, scores.split()) for _, scores in found))
    pooled = {name: float(value) for name, value in POOLED.findall(output)}
    assert len(names) >= 7 and names[0] == "score" and len(pooled) >= len(names), output
    for name, column in zip(names, columns, strict=True):
        mean = sum(column) / frames
        given = pooled[name] if name in pooled else pooled["integer_" + name]
        assert abs(mean - given) < 2e-6, (name, mean, given)
    return pooled


def test_picture(_):
    """the test picture through x264enc"""
    status, output, errors = score()
    assert status == 0, errors
    scores = check_scores(output, 50)
    assert 0.5 < scores["integer_adm2"] < 0.999 and 20 < scores["score"] < 95, output


def two_files(folder):
    """two files, and a lower bitrate scores lower"""
    worse = []
    for dist in ("good", "bad"):
        status, output, errors = score(f"{folder}/source.mkv", f"{folder}/{dist}.mkv")
        assert status == 0, errors
        worse.append(check_scores(output, 30)["score"])
    assert worse[0] > worse[1], worse


def same_file(folder):
    """a file against itself scores 1, but for the rounding that libvmaf has too"""
    status, output, errors = score(f"{folder}/source.mkv", f"{folder}/source.mkv")
    assert status == 0, errors
    assert abs(check_scores(output, 30)["integer_adm2"] - 1) < 1e-4, output


def other_size(folder):
    """sizes that differ: the element's error and the way out"""
    status, _, errors = score(f"{folder}/source.mkv", f"{folder}/half.mkv")
    assert status == 1 and "320" in errors and "160" in errors and "--scale" in errors, errors


def scaled(folder):
    """--scale says what it does and scores"""
    status, output, errors = score("--scale", f"{folder}/source.mkv", f"{folder}/half.mkv")
    assert status == 0 and "is scaled" in errors and "width=320" in errors, errors
    check_scores(output, 30)


def no_such_file(folder):
    """a file that is not there"""
    status, _, errors = score(f"{folder}/source.mkv", f"{folder}/nothing.mkv")
    assert status == 2 and "nothing.mkv" in errors, errors


def no_video(folder):
    """a file that is no video"""
    status, _, errors = score(f"{folder}/source.mkv", f"{folder}/text.mkv")
    assert status == 1 and "text.mkv" in errors, errors


def unknown_feature(_):
    """an unknown metric"""
    status, _, errors = score("--features", "no-such")
    assert status == 1 and "no-such" in errors, errors


def wrong_number_of_threads(_):
    """a number of threads that cannot be"""
    for threads in ("-1", "257", "many"):
        status, _, errors = score("--threads", threads)
        assert status == 2 and "--threads" in errors and "Traceback" not in errors, errors


TESTS = (test_picture, two_files, same_file, other_size, scaled, no_such_file, no_video,
         unknown_feature, wrong_number_of_threads)


def main():
    failed = False
    print(f"1..{len(TESTS)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        encode(f"{folder}/source.mkv", 320, 180, 30, 4000)
        encode(f"{folder}/good.mkv", 320, 180, 30, 300)
        encode(f"{folder}/bad.mkv", 320, 180, 30, 40)
        encode(f"{folder}/half.mkv", 160, 90, 30, 300)
        with open(f"{folder}/text.mkv", "w", encoding="utf-8") as text:
            text.write("This is a text.\n" * 100)
        for number, test in enumerate(TESTS, 1):
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}", flush=True)
            except (AssertionError, subprocess.SubprocessError, KeyError) as error:
                failed = True
                reason = "\n".join(f"# {line}" for line in str(error).splitlines())
                print(f"not ok {number} - {test.__doc__}\n{reason}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
