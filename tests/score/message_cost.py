#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What frame messages cost: the instructions that frame-message adds to a frame, as a part of what a
whole pipeline takes for one, with one thread and with two. More than one percent is a failure.
Speaks TAP.

  message_cost.py [WIDTHxHEIGHT]
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../bench"))
import callgrind  # noqa: E402

LIMIT = 0.01
FRAMES = 10


def instructions(size, threads, frames, messages):
    width, height = size.split("x")
    caps = f"video/x-raw,format=I420,width={width},height={height},framerate=25/1"
    source = f"videotestsrc num-buffers={frames} pattern=ball ! {caps}"
    return callgrind.profile(
        ["gst-launch-1.0", "-q",
         *f"hipvmaf name=q backend=cpu threads={threads} frame-message={messages} ! fakesink "
          f"{source} ! q.ref_sink {source} ! q.dist_sink".split()],
        {"GST_REGISTRY_UPDATE": "no"}).total


def main():
    size = sys.argv[1] if len(sys.argv) > 1 else "320x180"
    # The registry is written outside valgrind.
    subprocess.run(["gst-inspect-1.0", "hipvmaf"], stdout=subprocess.DEVNULL, check=True)
    failed = False
    print("1..2", flush=True)
    for threads in 1, 2:
        silent = instructions(size, threads, 2 * FRAMES, "false")
        frame = (silent - instructions(size, threads, FRAMES, "false")) / FRAMES
        message = (instructions(size, threads, 2 * FRAMES, "true") - silent) / (2 * FRAMES)
        good = message <= LIMIT * frame
        failed |= not good
        print(f"{'' if good else 'not '}ok {threads} - {threads} thread(s), {size}: {frame:.0f} "
              f"instructions a frame, its message {message:.0f}, {100 * message / frame:.2f}%",
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
