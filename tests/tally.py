#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts tests one by one, for run.sh: prints "pass|fail|skip<TAB>name<TAB>reason" a line.

  tally.py TESTLOG.json STATUS      what meson test wrote, and its exit status
  tally.py --tap OUTPUT STATUS      the output and exit status of one program that speaks TAP

Where a program's output says what it ran (TAP, or gst-check's summary), that is counted; else the
program is one test. The output of programs that failed goes to stderr.
"""
import json
import os
import re
import sys

TAP = re.compile(r"^(not )?ok\b\s*(\d*)\s*(?:- )?(.*?)(?:\s*#\s*(skip)\S*\s*(.*))?$",
                 re.IGNORECASE)
CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.MULTILINE)
CHECK_FAILED = re.compile(r"^\S*:-?\d+:[A-Z]:([^:]+:[^:]+:\d+): (.*)$", re.MULTILINE)
FINE = ("OK", "EXPECTEDFAIL")


def tap_lines(name, output):
    for line in output.splitlines():
        found = TAP.match(line)
        if not found:
            continue
        bad, number, title, skipped, reason = found.groups()
        verdict = "fail" if bad else "skip" if skipped else "pass"
        yield verdict, f"{name}: {title or number}", reason or ""


def check_lines(name, output):
    for checks, failures, errors in CHECK.findall(output):
        bad = int(failures) + int(errors)
        yield from [("pass", f"{name}: a check", "")] * (int(checks) - bad)
        named = dict.fromkeys(CHECK_FAILED.findall(output))
        yield from [("fail", f"{name}: {check}", why) for check, why in named][:bad]
        yield from [("fail", f"{name}: a check", "see its log")] * (bad - len(named))


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def program(name, result, output):
    """What one program ran; result is meson's word for how it ended."""
    found = [*tap_lines(name, output), *check_lines(name, output)]
    if result == "SKIP" and not any(verdict == "skip" for verdict, *_ in found):
        found.append(("skip", name, last_line(output)))
    if result not in (*FINE, "SKIP") and not any(verdict == "fail" for verdict, *_ in found):
        found.append(("fail", name, f"ended with {result}"))
    return found or [("pass", name, "")]


def meson_log(path, status):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                output = test.get("stdout", "") + "\n" + test.get("stderr", "")
                if test["result"] not in (*FINE, "SKIP"):
                    print(f"==== {test['name']}\n{output}", file=sys.stderr)
                yield from program(test["name"], test["result"], output)
    elif status:
        yield "fail", os.path.basename(path), f"meson test ended with status {status}"


def main():
    *how, path, status = sys.argv[1:]
    status = int(status)
    if how:
        with open(path, encoding="utf-8", errors="replace") as output:
            name = os.path.splitext(os.path.basename(path))[0]
            tests = program(name, "FAIL" if status else "OK", output.read())
    else:
        tests = list(meson_log(path, status))
        if status and not any(verdict == "fail" for verdict, *_ in tests):
            tests.append(("fail", "meson test", f"status {status} without a failed test"))
    for verdict, name, reason in tests:
        print(verdict, name, reason, sep="\t")


if __name__ == "__main__":
    main()
