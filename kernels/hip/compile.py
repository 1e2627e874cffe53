#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the compilers of kernels for meson.

  compile.py probe HIPCC TARGET...        prints those targets that HIPCC can build for
  compile.py probe-ptx NVCC               exits 0 if NVCC can
  compile.py bundle HIPCC OUTPUT DEPFILE TARGET,TARGET... ROOT SOURCE
  compile.py ptx NVCC OUTPUT DEPFILE ROOT SOURCE

A bundle holds one code object a target, uncompressed. ROOT is where #include "..." is looked up.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

EMPTY = 'extern "C" __attribute__((global)) void empty(void) {}\n'
# hipcc 7's default code object version is one that older runtimes refuse.
HIPCC = ["--genco", "-O3", "-std=c++17", "-ffp-contract=off", "-mcode-object-version=4",
         "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
# The lowest architecture that this must run on; drivers compile it for the newer ones.
NVCC = ["-x", "cu", "-ptx", "-arch=compute_75", "-O3", "-std=c++17", "--fmad=false",
        "-Werror", "all-warnings"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def run(command):
    """Runs a compiler; returns whether it worked, and what it said of the source."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    said = done.stdout + done.stderr
    if done.returncode == 0:
        # Where there is no AMD driver, hipcc's search for a GPU ends in a harmless traceback.
        said = re.sub(r"Traceback \(most recent call last\):\n(?:  .*\n)*\w+Error: .*\n", "", said)
    return done.returncode == 0, said


def offload(targets):
    return [f"--offload-arch={target}" for target in targets]


def probe(hipcc, targets):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "empty.hip")
        with open(source, "w", encoding="ascii") as file:
            file.write(EMPTY)

        def builds(target):
            return run([hipcc, *HIPCC, *offload([target]), source,
                        "-o", os.path.join(folder, target)])[0]

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            print(*(target for target, good in zip(targets, pool.map(builds, targets)) if good))


def probe_ptx(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "empty.hip")
        with open(source, "w", encoding="ascii") as file:
            file.write(EMPTY)
        good, said = run([nvcc, *NVCC, source, "-o", os.path.join(folder, "empty.ptx")])
    if not good:
        sys.exit(said)


def includes(root, path, found):
    """Every file that path includes from the tree."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name in INCLUDE.findall(text):
        for folder in (os.path.dirname(path), root):
            other = os.path.normpath(os.path.join(folder, name))
            if os.path.exists(other):
                if other not in found:
                    found.add(other)
                    includes(root, other, found)
                break
    return found


def compile_kernels(command, output, depfile, root, source):
    good, said = run([*command, "-I", root, source, "-o", output])
    sys.stderr.write(said)
    if not good:
        sys.exit(f"{source}: {command[0]} failed")
    with open(depfile, "w", encoding="utf-8") as file:
        names = sorted(includes(root, source, {source}))
        file.write(f"{output}: " + " ".join(name.replace(" ", "\\ ") for name in names) + "\n")


def main():
    what, compiler, *rest = sys.argv[1:]
    if what == "probe":
        probe(compiler, rest)
    elif what == "probe-ptx":
        probe_ptx(compiler)
    elif what == "bundle":
        output, depfile, targets, root, source = rest
        compile_kernels([compiler, *HIPCC, *offload(targets.split(","))], output, depfile, root,
                        source)
    elif what == "ptx":
        compile_kernels([compiler, *NVCC], *rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
