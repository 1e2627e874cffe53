#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What GStreamer costs beside the measuring: a frame's instructions in the element, fed by two pads,
less those of the meter alone on the same frames, by callgrind, with one thread and with two. Over 3% is
a failure; so are more allocations a frame than are known, and copying as much as the smallest plane.
Speaks TAP.

  pipeline_cost.py HVBENCH PIPEBENCH [WIDTHxHEIGHT]
"""
import collections
import re
import subprocess
import sys
import tempfile

import callgrind

LIMIT = 0.03
FEW, MANY = 6, 18
# Of each frame: a link of the queue that pairs wait in, and one of each sink pad's, which is the base
# class's; GLib 2.74 keeps such pieces, and asks malloc for none of them outside valgrind. A tenth is for
# what comes once in many frames.
ALLOCATIONS = 3.1
MODEL = "vmaf_v0.6.1"
ALLOCATES = re.compile(r"(g_malloc0?|g_realloc|g_slice_alloc0?|posix_memalign|aligned_alloc)$")
COPIES = re.compile(r"__mem(cpy|move)")


class PerFrame:
    """A frame's share: what MANY frames take more than FEW."""

    def __init__(self, run):
        few, many = run(FEW), run(MANY)
        self.total = self._share(few.total, many.total)
        self.calls = collections.Counter({
            call: self._share(few.calls[call], many.calls[call]) for call in many.calls})
        self.copying = sum(self._share(few.own[name], many.own[name])
                           for name in many.own if COPIES.match(name))

    @staticmethod
    def _share(few, many):
        return (many - few) / (MANY - FEW)

    def allocations(self):
        """How many, and who asked for them; g_slice_alloc() itself allocates with g_malloc()."""
        who = {caller: number for (caller, called), number in self.calls.items()
               if ALLOCATES.match(called) and not ALLOCATES.match(caller) and number >= 0.5}
        return sum(who.values()), who


def compare(hvbench, pipebench, clips, size, threads):
    """Complaints, and a line that says what was found."""
    width, height = size.split("x")
    rest = [width, height, "8", str(threads), "", MODEL]
    meter = PerFrame(lambda frames: callgrind.profile([hvbench, "memory", *clips[frames], *rest]))
    # The buffers are made before, as many for few frames as for many.
    element = PerFrame(lambda frames: callgrind.profile(
        [pipebench, *clips[MANY], *rest, str(frames)], {"GST_REGISTRY_UPDATE": "no"}))
    cost = element.total - meter.total
    allocations, who = element.allocations()
    copied = element.copying - meter.copying
    smallest = int(width) // 2 * int(height) // 2
    complaints = []
    if cost > LIMIT * meter.total:
        complaints.append(f"more than {100 * LIMIT:.0f}%")
    if allocations > ALLOCATIONS:
        complaints.append(f"{allocations:.1f} allocations a frame, by {who}")
    if copied > smallest / 32:
        complaints.append(f"{copied:.0f} instructions that copy: the smallest plane has {smallest} "
                          "bytes")
    return complaints, (f"{threads} thread(s), {size}: {meter.total:.0f} instructions a frame, "
                        f"in the element {cost:.0f} more, {100 * cost / meter.total:.2f}%; "
                        f"{allocations:.1f} allocations, {copied:.0f} instructions that copy")


def main():
    hvbench, pipebench, *rest = sys.argv[1:]
    size = rest[0] if rest else "320x180"
    failed = False
    # The registry is written outside valgrind.
    subprocess.run(["gst-inspect-1.0", "hipvmaf"], stdout=subprocess.DEVNULL, check=True)
    with tempfile.TemporaryDirectory() as folder:
        clips = {frames: [f"{folder}/ref{frames}.yuv", f"{folder}/dist{frames}.yuv"]
                 for frames in (FEW, MANY)}
        for frames, paths in clips.items():
            subprocess.run([hvbench, "make", *paths, *size.split("x"), "8", str(frames)],
                           check=True)
        print("1..2", flush=True)
        for threads in 1, 2:
            complaints, line = compare(hvbench, pipebench, clips, size, threads)
            print(f"{'not ' if complaints else ''}ok {threads} - {line}")
            for complaint in complaints:
                print(f"# {complaint}")
            sys.stdout.flush()
            failed |= bool(complaints)
    return failed


if __name__ == "__main__":
    sys.exit(main())
