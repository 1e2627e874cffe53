# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the instructions of a program with valgrind's callgrind: figures that a busy machine does not
change. Used by instructions.py, pipeline_cost.py and ../score/message_cost.py."""
import collections
import os
import re
import subprocess
import tempfile

# A function's clones are the compiler's way to make it; its instructions are those of the function.
CLONE = re.compile(r"(\.(part|isra|constprop|cold)(\.\d+)?)+$")


class Profile:
    """What a run executed: instructions in all, instructions of each function itself, how often which
    function called which, and what the program printed."""

    def __init__(self, text, output):
        self.total = 0
        self.own = collections.Counter()
        self.calls = collections.Counter()
        self.output = output
        self._names = {}
        self._read(text)

    def _name(self, spelled):
        """Names stand in full once, "(12) name", and then as "(12)"."""
        number, _, name = spelled.partition(" ")
        if name:
            self._names[number] = CLONE.sub("", name)
        return self._names[number]

    def _read(self, text):
        function = called = None
        of_a_call = False
        for line in text.splitlines():
            key, equals, value = line.partition("=")
            if line.startswith(tuple("0123456789+-*")):
                # "position cost", where a cost of 0 may be left out; behind "calls=" it is the cost of
                # the call, not of the function.
                if not of_a_call:
                    self.own[function] += sum(map(int, line.split()[1:]))
                of_a_call = False
            elif key == "fn":
                function = self._name(value)
            elif key == "cfn":
                called = self._name(value)
            elif key == "calls":
                self.calls[function, called] += int(value.split()[0])
                of_a_call = True
            elif not equals and line.startswith("totals:"):
                self.total = int(line.split()[1])


def profile(command, environment=None, timeout=600):
    """Runs the command, a list, under callgrind. `environment` is added to this process's own."""
    # Filling freed memory, as meson asks for, would be counted, and it depends on chance.
    variables = {**os.environ, "MALLOC_PERTURB_": "0", **(environment or {})}
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as file:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file.name}", *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=timeout,
            env=variables)
        if run.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {run.returncode}:\n"
                               f"{run.stdout}{run.stderr}")
        with open(file.name, encoding="utf-8") as text:
            return Profile(text.read(), run.stdout)
