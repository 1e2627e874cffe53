#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the C++ file that brings one .hip file into the emulator.

  registry.py SOURCE OUTPUT DEPFILE ROOT COMPILER...

It includes the source, and registers every kernel that the preprocessed source declares.
"""
import os
import re
import subprocess
import sys

KERNEL = re.compile(r"void\s+__launch_bounds__\s*\(([^;{]*?)\)\s*(\w+)\s*\([^;{]*\)\s*\{")
HEAD = """\
/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels of {name} for the emulator. Made by registry.py. */
#include "tests/emulator/emulated.h"
#include "{path}"

static EmuKernel registered[] = {{
"""
ENTRY = """\
    EmuSignature<decltype(&{name})>::describe("{name}", {threads},
                                              &EmuSignature<decltype(&{name})>::call<&{name}>),
"""
TAIL = """\
};

__attribute__((constructor, no_sanitize("thread"))) static void register_all(void)
{
    for (EmuKernel &kernel : registered)
        emu_register(&kernel);
}
"""


def main():
    source, output, depfile, root, *compiler = sys.argv[1:]
    command = [*compiler, "-x", "c++", "-std=gnu++17", "-E", "-P", "-DHV_EMULATOR",
               "-DEMU_LIST_KERNELS", "-I", root, "-MD", "-MF", depfile, "-MT", output,
               "-include", os.path.join(root, "tests/emulator/emulated.h"), source]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{source}: the preprocessor failed")
    kernels = KERNEL.findall(done.stdout)
    if not kernels:
        sys.exit(f"{source}: no kernel found; they are declared with HV_KERNEL(threads)")
    with open(output, "w", encoding="utf-8") as file:
        file.write(HEAD.format(name=os.path.basename(source), path=os.path.abspath(source)))
        file.writelines(ENTRY.format(name=name, threads=threads) for threads, name in kernels)
        file.write(TAIL)


if __name__ == "__main__":
    main()
