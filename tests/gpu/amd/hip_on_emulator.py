# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts what AMD kernels execute. Loaded by counts.py's emulated HIP runtime in the place of that
runtime's own Python half, which it wraps: instructions of wavefronts by kind, and the distinct lines
of memory that each launch reads and writes. Appends a line of JSON for each launch to $AMD_COUNTS.
"""
import collections
import ctypes
import importlib.util
import json
import os

LINE = 64  # bytes
EXEC = 126
# Registers below it are scalars that can hold an address.
SCALARS = 124
BITS = {"UBYTE": 8, "SBYTE": 8, "BYTE": 8, "U8": 8, "I8": 8, "B8": 8, "USHORT": 16, "SSHORT": 16,
        "SHORT": 16, "U16": 16, "I16": 16, "B16": 16, "DWORD": 32, "B32": 32, "U32": 32, "I32": 32,
        "F32": 32, "DWORDX2": 64, "X2": 64, "B64": 64, "U64": 64, "I64": 64, "DWORDX3": 96, "B96": 96,
        "DWORDX4": 128, "B128": 128}
KINDS = (("DS", "lds"), ("GLOBAL", "global"), ("FLAT", "global"), ("SCRATCH", "scratch"),
         ("SMEM", "scalar"), ("SOP", "scalar"), ("V", "vector"))


def wrapped(folder):
    spec = importlib.util.spec_from_file_location("emulated_hip",
                                                  os.path.join(folder, "hip_on_emulator.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


emulated = wrapped(os.environ["AMD_EMULATOR"])
emu = emulated.emu
counts = collections.Counter()
lines = {"read": set(), "written": set()}


def kind_of(inst):
    name = type(inst).__name__
    return next(kind for prefix, kind in KINDS if name.startswith(prefix))


def operation(inst):
    return inst.op.name.upper()


def width_of(inst):
    """Bytes that a lane loads or stores."""
    name = [part for part in operation(inst).split("_") if part in BITS]
    return BITS[name[-1]] // 8 if name else 4


class Access:
    """The lines that a load or store touches."""

    def __init__(self, inst, wave):
        self.wave, self.width = wave, width_of(inst)
        self.vector = inst.addr.offset - 256
        self.scalar = inst.saddr.offset if inst.saddr.offset < SCALARS else None
        self.offset = inst.offset - 8192 if inst.offset & 4096 else inst.offset
        name = operation(inst)
        self.sides = ["read", "written"] if "ATOMIC" in name else [
            "written" if "STORE" in name else "read"]

    def __call__(self, scalars, vectors):
        low = self.vector * self.wave
        base = self.offset
        if self.scalar is not None:
            base += scalars[self.scalar] | scalars[self.scalar + 1] << 32
        active = scalars[EXEC] | (scalars[EXEC + 1] << 32 if self.wave == 64 else 0)
        for lane in range(self.wave):
            if not active >> lane & 1:
                continue
            at = base + vectors[low + lane]
            if self.scalar is None:
                at += vectors[low + self.wave + lane] << 32
            for side in self.sides:
                counts[side] += self.width
                lines[side].update(range(at // LINE, (at + self.width - 1) // LINE + 1))


class Counted:
    """In the place of a compiled instruction."""

    def __init__(self, runtime, used, inst, wave):
        self.run, self.kind = runtime.fxn, kind_of(inst)
        self.access = None
        if self.kind == "global" and hasattr(inst, "addr"):
            self.access = Access(inst, wave)
            self.scalars, self.vectors = used.index(0), used.index(1)
            self.size = 256 * wave

    def fxn(self, *buffers):
        counts[self.kind] += 1
        if self.access:
            self.access((ctypes.c_uint32 * 128).from_address(buffers[self.scalars].value),
                        (ctypes.c_uint32 * self.size).from_address(buffers[self.vectors].value))
        self.run(*buffers)


decode = emu._decode_at


def decode_counted(pc, arch):
    (program, runtime), inst = decode(pc, arch)
    wave = 64 if arch.startswith("cdna") else 32
    return (program, Counted(runtime, list(program.arg.globals), inst, wave)), inst


emu._decode_at = decode_counted


def launch(handle, *arguments):
    counts.clear()
    for side in lines.values():
        side.clear()
    result = emulated.launch(handle, *arguments)
    kernel = emulated._kernels[handle]
    with open(os.environ["AMD_COUNTS"], "a", encoding="utf-8") as file:
        json.dump({"kernel": kernel.meta[".name"], "grid": arguments[:3], "block": arguments[3:6],
                   "wave": 64 if kernel.arch == "cdna" else 32, **counts,
                   **{f"{side} lines": len(found) * LINE for side, found in lines.items()}}, file)
        file.write("\n")
    return result


load = emulated.load
function = emulated.function
global_address = emulated.global_address
global_size = emulated.global_size
