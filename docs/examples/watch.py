#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pipeline with hipvmaf for as long as it lasts, and a command for every word of trouble.

  watch.py [--run COMMAND] PIPELINE...        the pipeline as gst-launch-1.0 takes it

Prints a line of JSON for each message of type interval, alignment, alert, recovered, unpaired and
paired. For all but the first two, COMMAND runs in a shell with VMAF_ELEMENT, VMAF_TYPE and the
message's fields in its environment: VMAF_SCORE, VMAF_NAME, VMAF_ALERT_BELOW, VMAF_SILENT,
VMAF_DURATION, ...

Exit status: 0 at the end of the streams, on SIGINT and SIGTERM; 1 after an error, so that whoever
started it starts it again.
"""
import argparse
import json
import os
import signal
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402  (the version must be named first)

TROUBLE = ("alert", "recovered", "unpaired", "paired")


def fields(structure):
    """A message's fields, those of inner structures too, as JSON takes them."""
    found = {}
    for i in range(structure.n_fields()):
        name = structure.nth_field_name(i)
        value = structure.get_value(name)
        found[name] = fields(value) if isinstance(value, Gst.Structure) else value
    return found


def environment(element, message):
    added = {"VMAF_ELEMENT": element}
    for name, value in message.items():
        key = "".join(c if c.isalnum() else "_" for c in name).upper()
        added[f"VMAF_{key}"] = str(value)
    return {**os.environ, **added}


def take(message, command, running):
    """Prints a VMAF message, and starts the command."""
    structure = message.get_structure()
    if structure is None or structure.get_name() != "VMAF":
        return
    kind = structure.get_string("type")
    if kind not in TROUBLE + ("interval", "alignment"):
        return
    found = fields(structure)
    print(json.dumps({"element": message.src.get_name(), **found}), flush=True)
    if command and kind in TROUBLE:
        running.append(subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL,
                                        env=environment(message.src.get_name(), found)))


def watch(pipeline, command):
    running, bus = [], pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            message = bus.timed_pop(Gst.SECOND)
            running = [process for process in running if process.poll() is None]
            if message is None:
                continue
            if message.type == Gst.MessageType.ELEMENT:
                take(message, command, running)
            elif message.type == Gst.MessageType.LATENCY:
                pipeline.recalculate_latency()
            elif message.type == Gst.MessageType.WARNING:
                print(f"Warning: {message.parse_warning()[0].message}", file=sys.stderr, flush=True)
            elif message.type == Gst.MessageType.ERROR:
                error, debug = message.parse_error()
                print(f"{message.src.get_name()}: {error.message}\n{debug}", file=sys.stderr)
                return 1
            elif message.type == Gst.MessageType.EOS:
                return 0
    except KeyboardInterrupt:
        return 0
    finally:
        pipeline.set_state(Gst.State.NULL)
        for process in running:
            process.wait()


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that metrics say it is over
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--run", metavar="COMMAND", help="runs for every word of trouble")
    parser.add_argument("pipeline", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.pipeline:
        parser.error("there is no pipeline")
    Gst.init(None)
    try:
        pipeline = Gst.parse_launchv(options.pipeline)
    except gi.repository.GLib.Error as error:
        print(error.message, file=sys.stderr)
        return 1
    return watch(pipeline, options.run)


if __name__ == "__main__":
    sys.exit(main())
