#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the element live for a while on two streams that misbehave, and looks for stalls, for memory
that grows, and for frames that are not accounted for.

  soak.py [--minutes M] [--seed N] [--fps F] [--model MODEL] [--alignment none|auto]

Each stream is 320x180 and comes with jitter; frames are dropped, repeated and replaced by gaps, either
side stops for up to six seconds and comes back, with or without an end of its stream, as a new stream
or as the same, both flush, one flushes, the format changes on both sides or for a while on one only,
and the application holds up messages, so that pairs are skipped. With --alignment auto the distorted
stream also shows what is some frames off, another number each time that it comes back.
Prints a line every ten seconds, and what it found at the end; fails if that is not as it should be.
"""
import argparse
import array
import ctypes
import random
import sys
import threading
import time

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

FORMATS = (("I420", 320, 180, 1), ("I420_10LE", 320, 180, 2), ("I420", 160, 90, 1))
BLOCK = 8               # pixels
MOST_OFF = 20           # frames that the distorted stream may be late, and half as many early
GOOD = 40               # a score that only frames of one moment have
PAGE = 4096


class MallInfo(ctypes.Structure):
    """As mallinfo2(3) has it."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
        "keepcost")]


class Pictures:
    """A texture that wanders at random, now and then is still, and jumps: of each format, as it is and
    distorted."""

    def __init__(self, seed, moments):
        self.random = random.Random(seed)
        self.places = array.array("i", self.wander(moments + 2 * MOST_OFF))
        self.made = {}
        for name, width, height, size in FORMATS:
            across = width // BLOCK + 1
            blocks = [self.random.randrange(64, 160) for _ in range(across * (height // BLOCK + 1))]
            plain = [blocks[i // width // BLOCK * across + i % width // BLOCK]
                     + self.random.randrange(32) for i in range(width * height)]
            worse = [value ^ (12 if i % 7 < 2 else 0) for i, value in enumerate(plain)]
            for side, luma in (("ref", plain), ("dist", worse)):
                self.made[side, name, width] = self.stored(2 * luma, size)

    def wander(self, moments):
        """Where the texture is at each moment: columns and rows, in one number."""
        place, step = 0, (1, 1)
        for i in range(moments):
            if i % 9 == 0:
                step = (self.random.randrange(-4, 5), self.random.randrange(-3, 4))
                if self.random.random() < 0.1:
                    step = (0, 0)
                elif self.random.random() < 0.05:
                    place = self.random.randrange(1 << 20)
            place += (step[1] << 10) + step[0]
            yield place

    @staticmethod
    def stored(samples, size):
        if size == 2:
            return b"".join(bytes((v << 2 & 255, v >> 6)) for v in samples)
        return bytes(samples)

    def buffer(self, side, form, moment):
        name, width, height, size = form
        place = self.places[moment + MOST_OFF]
        start = ((place >> 10) * width + (place & 1023)) % (width * height) * size
        luma = self.made[side, name, width][start:start + width * height * size]
        return Gst.Buffer.new_wrapped(luma + self.stored([128], size) * (width * height // 2))


class Plan:
    """What is to happen at which frame, the same for both sides where it concerns both."""

    def __init__(self, seed, fps):
        self.random = random.Random(seed)
        self.fps = fps
        self.formats = [(0, FORMATS[0])]
        self.flushes = []
        frame = 0
        while frame < 24 * 3600 * fps:
            frame += self.random.randrange(10 * fps, 40 * fps)
            if self.random.random() < 0.7:
                self.formats.append((frame, self.random.choice(FORMATS)))
            else:
                self.flushes.append(frame)

    def format_at(self, frame):
        while len(self.formats) > 1 and self.formats[1][0] <= frame - 10 * self.fps:
            self.formats.pop(0)
        return [form for since, form in self.formats if since <= frame][-1]


class Side(threading.Thread):
    """The source of one pad."""

    def __init__(self, soak, name, seed):
        super().__init__(daemon=True)
        self.soak, self.name_of_pad = soak, name
        self.source = soak.pipeline.get_by_name(name)
        self.random = random.Random(seed)
        self.other_format_until = self.silent_until = 0
        self.comes_back = None
        self.ended = True
        self.off = 0
        self.form = None
        self.pushed = 0

        queue = soak.pipeline.get_by_name(name + "_queue")
        queue.get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, self.on_event)

    def on_event(self, _pad, info):
        if info.get_event().type == Gst.EventType.EOS:
            self.ended = True
        return Gst.PadProbeReturn.OK

    def set_format(self, form):
        if form == self.form:
            return
        self.form = form
        self.source.set_property("caps", Gst.Caps.from_string(
            f"video/x-raw,format={form[0]},width={form[1]},height={form[2]},"
            f"framerate={self.soak.fps}/1"))

    def misbehave(self, frame):
        """Rarely."""
        fps = self.soak.fps
        chance = self.random.random() * fps
        if chance < 0.02:
            self.stop(frame + self.random.randrange(fps // 5, 6 * fps))
        elif chance < 0.03 and self.name_of_pad == "dist":
            self.other_format_until = frame + fps
        elif chance < 0.035:
            self.soak.flush((self,))

    def stop(self, until):
        """Says nothing for a while: as if it were nothing, as a source that restarts, or, if it is not
        the reference, whose end is the end of all, after an end."""
        self.silent_until = until
        self.comes_back = self.random.choice(("on", "anew", "anew after an end"))
        if self.comes_back == "anew after an end" and self.name_of_pad == "dist":
            self.ended = False
            self.source.emit("end-of-stream")

    def come_back(self):
        """Not before the end has left the queue, which does not survive that (GStreamer 1.22)."""
        if not self.ended:
            return False
        if self.comes_back != "on":
            self.source.set_state(Gst.State.READY)
            self.form = None
            self.source.sync_state_with_parent()
            self.soak.counts["restart"] = self.soak.counts.get("restart", 0) + 1
        self.comes_back = None
        if self.name_of_pad == "dist" and self.soak.aligned:
            self.off = self.random.randrange(-MOST_OFF // 2, MOST_OFF)
        return True

    def push(self, frame):
        """One frame, or none, or another one."""
        now = frame * Gst.SECOND // self.soak.fps
        chance = self.random.random()
        if chance < 0.01:
            return
        if chance < 0.02:
            gap = Gst.Event.new_gap(now, Gst.SECOND // self.soak.fps)
            self.source.get_static_pad("src").push_event(gap)
            return
        form = self.soak.plan.format_at(frame)
        if frame < self.other_format_until:
            form = FORMATS[2]
        self.set_format(form)
        late = frame - 1 if chance < 0.04 else frame
        data = self.soak.pictures.buffer(self.name_of_pad, form, late - self.off)
        data.pts = now
        data.duration = Gst.SECOND // self.soak.fps
        self.source.emit("push-buffer", data)
        self.pushed += 1

    def run(self):
        frame = 0
        while not self.soak.over:
            due = self.soak.begin + frame / self.soak.fps + self.random.uniform(0, 0.03)
            time.sleep(max(due - time.monotonic(), 0))
            if self.name_of_pad == "ref" and frame in self.soak.plan.flushes:
                self.soak.flush(self.soak.sides)
            if frame >= self.silent_until and (not self.comes_back or self.come_back()):
                self.misbehave(frame)
            if frame >= self.silent_until and not self.comes_back:
                self.push(frame)
            frame += 1


class Soak:
    """The pipeline and what came of it."""

    def __init__(self, options):
        self.fps, self.over = options.fps, False
        self.random = random.Random(options.seed)
        self.plan = Plan(options.seed, options.fps)
        self.aligned = options.alignment != "none"
        self.pictures = Pictures(options.seed, int((options.minutes * 60 + 60) * options.fps))
        source = ("appsrc name={} is-live=true format=time max-buffers=50 max-bytes=0 "
                  "leaky-type=downstream ! queue name={}_queue max-size-buffers=50 max-size-bytes=0 "
                  "max-size-time=0 ! q.{}_sink ")
        self.pipeline = Gst.parse_launch(
            f"hipvmaf name=q model-filename={options.model} alignment={options.alignment} "
            "frame-message=true interval=1000000000 alert-below=50 ! "
            "fakesink name=sink async=false sync=false " +
            source.format("ref", "ref", "ref") + source.format("dist", "dist", "dist"))
        self.element = self.pipeline.get_by_name("q")
        self.counts = {}
        self.in_intervals = self.good = 0
        self.passed, self.stalled, self.flushing = 0, 0.0, threading.Lock()
        self.problems = []
        self.memory = []
        self.element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_buffer)
        self.bus = self.pipeline.get_bus()
        self.bus.set_sync_handler(self.on_message)
        self.sides = [Side(self, "ref", options.seed + 1), Side(self, "dist", options.seed + 2)]

    def on_buffer(self, _pad, _info):
        self.passed += 1
        return Gst.PadProbeReturn.OK

    def on_message(self, _bus, message):
        """Counts; now and then holds the element's thread up for so long that pairs are skipped."""
        if message.type == Gst.MessageType.ERROR:
            self.problems.append(message.parse_error()[0].message)
        structure = message.get_structure()
        if message.type == Gst.MessageType.EOS:
            self.counts["eos"] = 1
        elif structure is not None and structure.get_name() == "VMAF":
            kind = structure.get_string("type")
            if kind == "alignment":
                kind = structure.get_string("reason")
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind == "interval":
                self.in_intervals += structure.get_uint64("frames")[1]
            if kind == "frame":
                self.good += structure.get_double("score")[1] > GOOD
                if self.random.random() < 0.002 and not self.over:
                    time.sleep(self.random.uniform(1, 4))
        elif message.type == Gst.MessageType.WARNING:
            self.counts["warning"] = self.counts.get("warning", 0) + 1
        return Gst.BusSyncReply.PASS

    def flush(self, sides):
        """As a seek does, with one number."""
        with self.flushing:
            start, stop = Gst.Event.new_flush_start(), Gst.Event.new_flush_stop(False)
            stop.set_seqnum(start.get_seqnum())
            for event in (start, stop):
                for side in sides:
                    side.source.send_event(event)
            self.counts["flush"] = self.counts.get("flush", 0) + 1

    def stats(self):
        structure = self.element.get_property("stats")
        fields = ("pairs", "ref-frames", "dist-frames", "ref-unpaired", "dist-unpaired", "scored",
                  "skipped", "flushed", "failed")
        if self.aligned:
            fields += ("repeated", "repeated-pairs", "dropped", "history-bytes")
        return {field: structure.get_uint64(field)[1] for field in fields}

    def look(self, last):
        """The reference flows on while it comes: a stall is 3 s of frames in and none out."""
        moved = (self.sides[0].pushed, self.passed)
        if not all(side.is_alive() for side in self.sides):
            self.problems.append("a source died")
        if moved[0] > last[0] and moved[1] == last[1]:
            self.stalled += 0.5
        else:
            self.stalled = 0
        if self.stalled >= 3:
            self.problems.append(f"a stall: {self.stats()}")
            self.over = True
        return moved

    def measure_memory(self):
        """What is allocated but for the alignment's copies, which are kept; and what is resident, of
        which the C library keeps what the worst moment so far needed."""
        libc = ctypes.CDLL(None)
        libc.mallinfo2.restype = MallInfo
        info = libc.mallinfo2()
        used = info.uordblks + info.hblkhd - self.stats().get("history-bytes", 0)
        with open("/proc/self/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * PAGE
        self.memory.append((used / 2 ** 20, resident / 2 ** 20))

    def run(self, seconds):
        self.pipeline.set_state(Gst.State.PLAYING)
        self.begin = time.monotonic()
        for side in self.sides:
            side.start()
        last, looks = (0, 0), 0
        while time.monotonic() - self.begin < seconds and not self.over and not self.problems:
            time.sleep(0.5)
            while self.bus.pop():
                pass
            last = self.look(last)
            looks += 1
            if looks % 20 == 0:
                self.measure_memory()
                print(f"{time.monotonic() - self.begin:6.0f} s, {self.memory[-1][0]:.1f} MiB of "
                      f"{self.memory[-1][1]:.1f}, "
                      f"{self.stats()}", flush=True)
        self.over = True
        for side in self.sides:
            side.join()
            side.source.emit("end-of-stream")
        end = time.monotonic() + 20
        while "eos" not in self.counts and time.monotonic() < end:
            time.sleep(0.1)
        if "eos" not in self.counts:
            self.problems.append("no EOS")

    def judge(self):
        stats = self.stats()
        lost = stats["scored"] + stats["skipped"] + stats["flushed"] + stats["failed"]
        if stats["pairs"] != lost:
            self.problems.append(f"pairs are {stats['pairs']}, what became of them {lost}")
        for side in ("ref", "dist"):
            known = stats["pairs"] + stats[f"{side}-unpaired"]
            if side == "ref":
                known -= stats.get("repeated-pairs", 0)
            if stats[f"{side}-frames"] != known:
                self.problems.append(f"{side}: {stats[f'{side}-frames']} taken, {known} known")
        if self.counts.get("frame", 0) != stats["scored"]:
            self.problems.append("not every scored pair has its message")
        if self.in_intervals != stats["scored"]:
            self.problems.append(f"{self.in_intervals} frames in intervals")
        if stats["scored"] < stats["ref-frames"] / 4:
            self.problems.append("most was not measured")
        if self.good < stats["scored"] * 0.9:
            self.problems.append("many pairs were not of one moment")
        if self.counts.get("pooled", 0) != 1:
            self.problems.append("no pooled message")
        self.judge_memory()
        print(f"{self.good} scores are above {GOOD}, as those of frames of one moment are")
        print("messages:", self.counts)
        print("stats:", stats)


    def judge_memory(self):
        """Pairs that wait come and go; what there is without them stays."""
        quarter = max(len(self.memory) // 4, 1)
        early, late = self.memory[quarter:2 * quarter + 1], self.memory[-quarter:]
        if min(late)[0] > min(early)[0] + 2:
            self.problems.append("what is allocated grew")
        most = [max(resident for _, resident in part) for part in (early, late)]
        if most[1] > 1.25 * most[0] + 4:
            self.problems.append("what is resident grew")
        print(f"allocated, at least: {min(early)[0]:.1f} MiB in the second quarter, {min(late)[0]:.1f} in "
              f"the last; resident, at most: {most[0]:.1f} and {most[1]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--fps", type=int, default=25)
    parser.add_argument("--model", default="vmaf_v0.6.1")
    parser.add_argument("--alignment", choices=("none", "auto"), default="none")
    options = parser.parse_args()
    Gst.init(None)
    print("seed", options.seed)
    soak = Soak(options)
    soak.run(options.minutes * 60)
    soak.judge()
    soak.pipeline.set_state(Gst.State.NULL)
    for problem in soak.problems:
        print("PROBLEM:", problem)
    print("failed" if soak.problems else "passed")
    return bool(soak.problems)


if __name__ == "__main__":
    GLib.set_prgname("soak")
    sys.exit(main())
