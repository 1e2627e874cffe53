#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the C file that embeds the kernels, with the table of their arguments (see image.h).

  image.py OUTPUT [NAME.bundle|NAME.ptx]...

Fails unless all targets' code objects and the PTX of a file agree on every kernel's arguments
(number, sizes, offsets, and on AMD which are pointers) and on its block size.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import codeobject  # noqa: E402

HEAD = """\
/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels, and what their code objects say of their arguments. Made by image.py. */
#include "kernels/hip/image.h"
"""
EMBED = """
__asm__(".pushsection .rodata\\n"
        ".balign 4096\\n"
        ".hidden {symbol}\\n"
        ".globl {symbol}\\n"
        "{symbol}:\\n"
        ".incbin \\"{path}\\"\\n"
        ".byte 0\\n"
        ".popsection\\n");
extern const {type} {symbol}[];
"""


def max_arguments():
    header = os.path.join(os.path.dirname(os.path.abspath(__file__)), "image.h")
    with open(header, encoding="utf-8") as file:
        return int(re.search(r"#define HV_MAX_ARGUMENTS (\d+)", file.read()).group(1))


class File:
    """What was built of one .hip file."""

    def __init__(self, name):
        self.name = name
        self.bundle = self.ptx = None  # paths
        self.kernels = {}              # {"gfx90a" or "PTX": {name: Kernel}}

    def add(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith(".ptx"):
            self.ptx = path
            self.kernels["PTX"] = codeobject.ptx_kernels(data.decode())
        else:
            self.bundle = path
            for target, code in codeobject.unbundle(data).items():
                self.kernels[target] = codeobject.amd_kernels(code)

    def targets(self):
        return sorted((target for target in self.kernels if target != "PTX"),
                      key=lambda target: (len(target), target))


def describe(kernel, pointers):
    arguments = ", ".join(f"{a.size} at {a.offset}" + (" (pointer)" if pointers and a.is_pointer
                                                       else "") for a in kernel.arguments)
    return f"{kernel.threads} threads, arguments: {arguments or 'none'}"


def agreed(file):
    """The kernels of a file in order of name; SystemExit where targets differ."""
    targets = [*file.targets(), *(["PTX"] if file.ptx else [])]
    first = file.kernels[targets[0]]
    for target in targets[1:]:
        other = file.kernels[target]
        if first.keys() != other.keys():
            sys.exit(f"{file.name}.hip: {targets[0]} and {target} differ in kernels: "
                     + " ".join(sorted(first.keys() ^ other.keys())))
        for name, kernel in first.items():
            pointers = target != "PTX"  # PTX only hints at pointers
            if describe(kernel, pointers) != describe(other[name], pointers):
                sys.exit(f"{file.name}.hip: kernel {name} differs:\n"
                         f"  {targets[0]}: {describe(kernel, pointers)}\n"
                         f"  {target}: {describe(other[name], pointers)}")
    for name, kernel in first.items():
        if len(kernel.arguments) > max_arguments():
            sys.exit(f"{file.name}.hip: kernel {name} has {len(kernel.arguments)} arguments, more "
                     f"than HV_MAX_ARGUMENTS of image.h")
    return [first[name] for name in sorted(first)]


def quoted(path):
    return os.path.abspath(path).replace("\\", "\\\\\\\\").replace('"', '\\\\\\"')


def table(files):
    images, kernels, parts = [], [], []
    for index, file in enumerate(files):
        bundle, size, ptx = "NULL", 0, "NULL"
        if file.bundle:
            bundle, size = f"hv_{file.name}_bundle", os.path.getsize(file.bundle)
            parts.append(EMBED.format(symbol=bundle, type="uint8_t", path=quoted(file.bundle)))
        if file.ptx:
            ptx = f"hv_{file.name}_ptx"
            parts.append(EMBED.format(symbol=ptx, type="char", path=quoted(file.ptx)))
        images.append(f'    {{"{file.name}", {bundle}, {size}, {ptx}}},\n')
        for kernel in agreed(file):
            arguments = ", ".join(f"{{{a.offset}, {a.size}, {int(a.is_pointer)}}}"
                                  for a in kernel.arguments)
            kernels.append(f'    {{"{kernel.name}", {index}, {kernel.threads}, '
                           f'{len(kernel.arguments)}, {{{arguments or "{0}"}}}}},\n')
    parts.append("\nconst HvImage hv_images[] = {\n" + "".join(images) + "    {NULL},\n};\n")
    parts.append("\nconst HvKernelInfo hv_kernels[] = {\n" + "".join(kernels) + "    {NULL},\n};\n")
    return "".join(parts)


def main():
    output, *paths = sys.argv[1:]
    files = {}
    for path in paths:
        name = os.path.splitext(os.path.basename(path))[0]
        files.setdefault(name, File(name)).add(path)
    built = [files[name] for name in sorted(files)]
    owner = {}
    for file in built:
        for kernel in agreed(file):
            if owner.setdefault(kernel.name, file.name) != file.name:
                sys.exit(f"kernel {kernel.name} is in {owner[kernel.name]}.hip and {file.name}.hip")
    targets = built[0].targets() if built else []
    with open(output, "w", encoding="utf-8") as file:
        file.write(HEAD + table(built)
                   + f'\nconst char *const hv_hip_targets = "{";".join(targets)}";\n')


if __name__ == "__main__":
    try:
        main()
    except codeobject.Malformed as error:
        sys.exit(f"image.py: {error}")
