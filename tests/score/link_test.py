#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A link over RTP between two processes, on loopback, as docs/monitoring.md has it: whole, with packets
lost, dead, and whole again, watched by docs/examples/watch.py. Speaks TAP.

  link_test.py PATH_OF_WATCH_PY
"""
import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

WATCH = sys.argv[1]
RTP = "application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96"
FPS = 25


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Link:
    """The near end, and far ends that come and go."""

    def __init__(self, folder, alignment):
        self.there, self.back = free_port(), free_port()
        self.metrics, self.commands = f"{folder}/q.prom", f"{folder}/commands"
        pipeline = (
            f"hipvmaf name=q alignment={alignment} interval=1000000000 alert-below=90 threads=1 "
            f"metrics-location={self.metrics} ! fakesink "
            "videotestsrc is-live=true pattern=ball ! "
            f"video/x-raw,format=I420,width=160,height=96,framerate={FPS}/1 ! tee name=t "
            "t. ! queue ! q.ref_sink "
            "t. ! queue ! x264enc tune=zerolatency bitrate=200 key-int-max=12 threads=1 ! "
            f"rtph264pay config-interval=-1 ! udpsink host=127.0.0.1 port={self.there} "
            f"sync=false async=false udpsrc port={self.back} caps={RTP} ! "
            "rtpjitterbuffer latency=200 ! rtph264depay ! avdec_h264 ! queue ! q.dist_sink")
        self.near = subprocess.Popen(
            ["/usr/bin/python3", WATCH, "--run", f'echo "$VMAF_TYPE $VMAF_SILENT" >> {self.commands}',
             *pipeline.split()],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.messages = []
        threading.Thread(target=self.read, daemon=True).start()
        self.far_end = None

    def read(self):
        for line in self.near.stdout:
            self.messages.append(json.loads(line))

    def far(self, *more):
        self.stop_far()
        self.far_end = subprocess.Popen(
            ["gst-launch-1.0", "-q", "udpsrc", f"port={self.there}", "!", *more, "udpsink",
             "host=127.0.0.1", f"port={self.back}", "sync=false"], stdin=subprocess.DEVNULL)

    def stop_far(self):
        if self.far_end:
            self.far_end.kill()
            self.far_end.wait()
            self.far_end = None

    def wait(self, found, what):
        """Until one of the messages that come from now on is such a one."""
        begin, end = len(self.messages), time.monotonic() + 40
        while time.monotonic() < end:
            for message in self.messages[begin:]:
                if found(message):
                    return message
            assert self.near.poll() is None, self.near.stderr.read()
            time.sleep(0.05)
        raise AssertionError(f"no {what} in {self.messages[begin:]}")

    def wait_for(self, kind):
        return self.wait(lambda message: message["type"] == kind, kind)

    def wait_until_unpaired(self):
        """It may be already: when much is lost the decoder gives nothing."""
        end = time.monotonic() + 40
        states = []
        while states[-1:] != ["unpaired"]:
            assert time.monotonic() < end, self.messages
            time.sleep(0.5)
            states = [message["type"] for message in self.messages
                      if message["type"] in ("paired", "unpaired")]

    def wait_for_good(self):
        self.wait(lambda message: message["type"] == "interval" and message["frames"] > FPS / 2
                  and message["score"] > 90, "good interval")

    def counters(self):
        with open(self.metrics, encoding="utf-8") as file:
            text = file.read()
        pads = {f"{name} {pad}": int(value) for name, pad, value in re.findall(
            r'^hipvmaf_(\w+)_total\{.*pad="(\w+)"\} (\d+)$', text, re.MULTILINE)}
        pairs = {name: int(value) for name, value in re.findall(
            r'^hipvmaf_(\w*pairs)_total\{.*\} (\d+)$', text, re.MULTILINE)}
        return pads, pairs


def expect_all_accounted_for(link):
    pads, pairs = link.counters()
    became = [pairs[f"{what}_pairs"] for what in ("scored", "skipped", "flushed", "failed")]
    assert pairs["pairs"] == sum(became), pairs
    for pad in ("ref_sink", "dist_sink"):
        known = pairs["pairs"] + pads[f"unpaired_frames {pad}"]
        if pad == "ref_sink":
            known -= pairs.get("repeated_pairs", 0)
        assert pads[f"frames {pad}"] == known, (pads, pairs)
    return pads["frames ref_sink"]


def test(folder, alignment):
    """a link that loses packets, dies and comes back: the reference flows, all is said"""
    link = Link(folder, alignment)
    begin = time.monotonic()
    try:
        link.far()
        link.wait_for_good()
        link.far("identity", "drop-probability=0.2", "!")
        link.wait(lambda message: message["type"] in ("alert", "unpaired"), "alert")
        link.stop_far()
        link.wait_until_unpaired()
        link.far()
        link.wait_for("paired")
        link.wait_for_good()
        took = time.monotonic() - begin
    finally:
        link.stop_far()
        link.near.send_signal(2)
        link.near.wait(20)
    assert link.near.returncode == 0, link.near.stderr.read()
    frames = expect_all_accounted_for(link)
    assert frames > took * FPS * 0.7, (frames, took)
    with open(link.commands, encoding="utf-8") as file:
        commands = file.read()
    said = [message for message in link.messages
            if message["type"] not in ("interval", "alignment")]
    assert len(commands.splitlines()) == len(said), (commands, said)
    assert "unpaired " in commands and "\npaired \n" in commands, commands


def main():
    print("1..2", flush=True)
    failed = 0
    for i, alignment in enumerate(("none", "auto"), start=1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder, alignment)
                print(f"ok {i} - alignment={alignment}: {test.__doc__}", flush=True)
            except (AssertionError, KeyError, OSError, subprocess.SubprocessError) as error:
                print(f"not ok {i} - alignment={alignment}: {test.__doc__}")
                print("#", str(error).replace("\n", "\n# "), flush=True)
                failed += 1
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
