#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds docs/segments.py to its word: what is measured in segments and merged is what an uncut run
measures, to the last bit. Speaks TAP.

  segments_test.py PATH_OF_SEGMENTS_PY
"""
import json
import os
import subprocess
import sys
import tempfile

SCRIPT = sys.argv[1]
FRAMES, RATE, SEGMENTS = 150, "30000/1001", 5
QUEUE = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False, **options)


def launch(text):
    """gst-launch-1.0 of a pipeline without quotes."""
    result = run("gst-launch-1.0", "-q", *text.split())
    assert result.returncode == 0, result.stderr


def encode(folder):
    """A reference and a worse one, each in a container of its own; both begin groups of pictures
    where segments do not."""
    launch(f"videotestsrc num-buffers={FRAMES} pattern=snow ! "
           f"video/x-raw,format=I420,width=160,height=96,framerate={RATE} ! tee name=t "
           f"t. ! {QUEUE} ! x264enc bitrate=2000 key-int-max=48 ! matroskamux ! "
           f"filesink location={folder}/ref.mkv "
           f"t. ! {QUEUE} ! x264enc bitrate=60 key-int-max=40 ! mp4mux ! "
           f"filesink location={folder}/dist.mp4")


def uncut(folder):
    launch(f"hipvmaf name=q results-filename={folder}/uncut.json results-precision=17 ! "
           "fakesink sync=false "
           f"filesrc location={folder}/ref.mkv ! decodebin ! queue ! q.ref_sink "
           f"filesrc location={folder}/dist.mp4 ! decodebin ! queue ! q.dist_sink")
    with open(f"{folder}/uncut.json", encoding="utf-8") as file:
        return json.load(file)


def merged(folder):
    planned = run(SCRIPT, "plan", "--frames", str(FRAMES), "--segments", str(SEGMENTS))
    assert planned.returncode == 0, planned.stderr
    parts = []
    for segment in planned.stdout.split():
        parts.append(f"{folder}/{segment}.json")
        result = run(SCRIPT, "measure", "--frames", segment, "--rate", RATE,
                     f"{folder}/ref.mkv", f"{folder}/dist.mp4", parts[-1])
        assert result.returncode == 0, result.stderr
    assert len(parts) == SEGMENTS, parts
    # In whatever order they come.
    result = run(SCRIPT, "merge", *reversed(parts))
    assert result.returncode == 0, result.stderr
    missing = run(SCRIPT, "merge", parts[0], parts[2])
    assert missing.returncode == 1 and "two files" in missing.stderr, missing.stderr
    return json.loads(result.stdout)


def test(folder):
    """segments merged are the uncut run, to the last bit"""
    encode(folder)
    whole, together = uncut(folder), merged(folder)
    assert len(whole["frames"]) == FRAMES, len(whole["frames"])
    for one, other in zip(whole["frames"], together["frames"], strict=True):
        assert one == other, (one, other)
    assert whole["pooled_metrics"] == together["pooled_metrics"]
    assert together["version"] == whole["version"]


def main():
    print("1..1", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            test(folder)
            print("ok 1 -", test.__doc__)
        except (AssertionError, ValueError, KeyError, OSError, subprocess.SubprocessError) as error:
            print("not ok 1 -", test.__doc__)
            print("#", str(error).replace(os.linesep, "\n# "))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
