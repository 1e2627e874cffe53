# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what compilers made of kernels: clang offload bundles, the metadata in AMD code objects
(ELF notes that hold msgpack), and PTX. For the build (image.py) and for the contract tests."""
import dataclasses
import re
import struct

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
SCALAR = {"8": 1, "16": 2, "32": 4, "64": 8}


class Malformed(Exception):
    """Not what the compilers that we know make."""


@dataclasses.dataclass(frozen=True)
class Argument:
    offset: int
    size: int
    is_pointer: bool


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    arguments: tuple
    threads: int            # of a block
    segment_size: int       # explicit arguments, bytes
    metadata: dict          # everything else that the compiler says of it


def unpack(data, at=0):
    """One msgpack value; returns it and where it ends."""
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind >= 0xe0:
        return kind - 0x100, at
    if kind in (0xc0, 0xc2, 0xc3):
        return {0xc0: None, 0xc2: False, 0xc3: True}[kind], at
    sized = {0xca: ">f", 0xcb: ">d", 0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q",
             0xd0: ">b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}
    if kind in sized:
        return struct.unpack_from(sized[kind], data, at)[0], at + struct.calcsize(sized[kind])
    if kind < 0x90:
        return unpack_map(data, at, kind & 15)
    if kind < 0xa0:
        return unpack_array(data, at, kind & 15)
    if kind < 0xc0:
        return unpack_string(data, at, kind & 31)
    lengths = {0xd9: ">B", 0xda: ">H", 0xdb: ">I", 0xdc: ">H", 0xdd: ">I", 0xde: ">H", 0xdf: ">I"}
    if kind not in lengths:
        raise Malformed(f"msgpack type {kind:#x} in a code object's metadata")
    length = struct.unpack_from(lengths[kind], data, at)[0]
    at += struct.calcsize(lengths[kind])
    read = unpack_string if kind <= 0xdb else unpack_array if kind <= 0xdd else unpack_map
    return read(data, at, length)


def unpack_string(data, at, length):
    return bytes(data[at:at + length]).decode(), at + length


def unpack_array(data, at, length):
    values = []
    for _ in range(length):
        value, at = unpack(data, at)
        values.append(value)
    return values, at


def unpack_map(data, at, length):
    values = {}
    for _ in range(length):
        key, at = unpack(data, at)
        values[key], at = unpack(data, at)
    return values, at


def unbundle(data):
    """{target: code object} of a bundle, "gfx90a" and the like."""
    if data[:len(MAGIC)] != MAGIC:
        raise Malformed("not an uncompressed clang offload bundle")
    at = len(MAGIC)
    (count,) = struct.unpack_from("<Q", data, at)
    at += 8
    objects = {}
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", data, at)
        entry = data[at + 24:at + 24 + length].decode()
        at += 24 + length
        if not entry.startswith("host-"):
            objects[entry.rpartition("-")[2]] = data[offset:offset + size]
    return objects


def metadata(code):
    """What the AMDGPU note of a code object says."""
    if code[:5] != b"\x7fELF\x02":
        raise Malformed("a code object that is no 64-bit ELF file")
    (start,) = struct.unpack_from("<Q", code, 0x20)
    size, count = struct.unpack_from("<HH", code, 0x36)
    for i in range(count):
        header = start + i * size
        (kind,) = struct.unpack_from("<I", code, header)
        if kind != 4:  # PT_NOTE
            continue
        (offset,) = struct.unpack_from("<Q", code, header + 8)
        (length,) = struct.unpack_from("<Q", code, header + 32)
        at = offset
        while at < offset + length:
            name_size, data_size, note = struct.unpack_from("<III", code, at)
            name = code[at + 12:at + 12 + name_size].rstrip(b"\0")
            at += 12 + (name_size + 3) // 4 * 4
            if name == b"AMDGPU" and note == 32:
                return unpack(code, at)[0]
            at += (data_size + 3) // 4 * 4
    raise Malformed("a code object without AMDGPU metadata")


def abi_version(code):
    """Of the ELF header: 2 is code object version 4."""
    return code[8]


def amd_kernels(code):
    kernels = {}
    for kernel in metadata(code)["amdhsa.kernels"]:
        arguments = tuple(Argument(a[".offset"], a[".size"], a[".value_kind"] == "global_buffer")
                          for a in kernel.get(".args", [])
                          if not a[".value_kind"].startswith("hidden_"))
        end = max((a.offset + a.size for a in arguments), default=0)
        kernels[kernel[".name"]] = Kernel(kernel[".name"], arguments,
                                          kernel[".max_flat_workgroup_size"], end, kernel)
    return kernels


def ptx_parameters(name, text):
    """(name, Argument) of each .param, laid out as PTX does: each at its own alignment."""
    at = 0
    for param in filter(None, (part.strip() for part in text.split(","))):
        found = re.fullmatch(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[busf](\d+)\s+"
                             r"(\.ptr\b[^%]*?)?([\w$]+)(?:\[(\d+)\])?", param)
        if not found:
            raise Malformed(f"kernel {name}: PTX parameter '{param}'")
        align, width, pointer, symbol, length = found.groups()
        size = SCALAR[width] * int(length or 1)
        align = int(align or SCALAR[width])
        at = (at + align - 1) // align * align
        yield symbol, Argument(at, size, bool(pointer))
        at += size


def is_ptx_pointer(symbol, body):
    """Whether the parameter is used as an address of global memory: PTX has no other word of it."""
    holders = set(re.findall(rf"ld\.param\.u64\s+(%\w+),\s*\[{re.escape(symbol)}\]", body))
    copies = re.findall(r"mov\.[bu]64\s+(%\w+),\s*(%\w+);", body)
    while True:
        more = {to for to, source in copies if source in holders} - holders
        if not more:
            break
        holders |= more
    used = set(re.findall(r"cvta\.to\.global\.u64\s+%\w+,\s*(%\w+);", body))
    return bool(holders & used)


def ptx_kernels(text):
    kernels = {}
    for found in re.finditer(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)([^{]*)\{(.*?)^\}", text,
                             re.DOTALL | re.MULTILINE):
        name, parameters, directives, body = found.groups()
        block = re.search(r"\.maxntid\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?", directives)
        if not block:
            raise Malformed(f"kernel {name}: no .maxntid; declare it with HV_KERNEL(threads)")
        threads = 1
        for side in block.groups():
            threads *= int(side or 1)
        arguments = tuple(
            dataclasses.replace(argument,
                                is_pointer=argument.is_pointer or is_ptx_pointer(symbol, body))
            for symbol, argument in ptx_parameters(name, parameters))
        end = max((a.offset + a.size for a in arguments), default=0)
        kernels[name] = Kernel(name, arguments, threads, end, {})
    return kernels
