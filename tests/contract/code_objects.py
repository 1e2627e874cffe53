#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the built kernels, code object by code object, against what the host and a GPU need of
them; and shows that each of these checks fails on kernels with that mistake.

  code_objects.py ROOT HIPCC [NAME.bundle|NAME.ptx]...

Speaks TAP. Register counts are printed, for information.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "kernels/hip"))
import codeobject  # noqa: E402
import compile as compiler  # noqa: E402
import image  # noqa: E402

SEGMENT_LIMIT = 64  # bytes of explicit arguments
LDS_LIMIT = 65536   # of shared memory that a block can have on every target
ABI_VERSION = 2     # code object version 4, which ROCm 5 to 7 load

# What each kernel takes, in order. "buffers" is the struct of pointers that each slot has one of.
POINTERS = {"buffers", "fixed", "totals", "sums", "plane"}
SIZES = {**{name: 8 for name in POINTERS}, "u32": 4, "u64": 8}
CONTRACT = {
    "adm": {
        "adm_pyramid": "buffers fixed u32 u32 u32 u32",
        "adm_bands": "buffers fixed u32 u32 u32 u32",
        "adm_finish": "fixed totals sums",  # the reduction
    },
    "moment": {
        "moment_plane": "plane totals u32 u32 u32 u32 u32",
    },
    "motion": {
        "motion_difference": "buffers fixed u32 u32 u32 u32",
    },
    "psnr": {
        "psnr_plane": "plane plane totals" + 9 * " u32",
    },
    "ssim": {
        "ssim_windows_luma": "plane plane totals" + 9 * " u32",
        "ssim_windows_image": "plane totals" + 4 * " u32",
        "ssim_halve_luma": "plane plane" + 7 * " u32",
        "ssim_halve_image": "plane plane" + 4 * " u32",
        "ssim_box": "plane plane" + 10 * " u32",
    },
    "vif": {
        "vif_next0": "buffers fixed u32 u32 u32 u32",
        "vif_next1": "buffers fixed",
        "vif_next2": "buffers fixed",
        "vif_sums": "buffers fixed u32 u32 u32 u32",
    },
}
FORBIDDEN = re.compile(r"^\s+((?:flat|scratch)_(?:load|store|atomic)\w*)", re.MULTILINE)


def find_objdump(hipcc):
    """The disassembler of hipcc's own LLVM: another's may not know its targets."""
    said = subprocess.run([hipcc, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"clang version (\d+)", said)
    number = version.group(1) if version else "0"
    folder = re.search(r"InstalledDir: (.*)", said)
    names = [f"/usr/lib/llvm-{number}/bin/llvm-objdump", f"llvm-objdump-{number}",
             os.path.join(folder.group(1) if folder else "", "llvm-objdump"), "llvm-objdump"]
    return next((path for path in map(shutil.which, names) if path), None)


def expected(kinds):
    at, arguments = 0, []
    for kind in kinds.split():
        size = SIZES[kind]
        at = (at + size - 1) // size * size
        arguments.append(codeobject.Argument(at, size, kind in POINTERS))
        at += size
    return tuple(arguments)


def spell(arguments):
    return ", ".join(f"{'pointer' if a.is_pointer else 'value'} of {a.size} at {a.offset}"
                     for a in arguments)


def arguments_complaints(kernel, contract):
    if kernel.name not in contract:
        yield f"{kernel.name}: the contract does not name this kernel"
        return
    wanted = expected(contract[kernel.name])
    if kernel.arguments != wanted:
        yield f"{kernel.name} takes {spell(kernel.arguments)}, not {spell(wanted)}"
    if kernel.segment_size > SEGMENT_LIMIT:
        yield f"{kernel.name}: {kernel.segment_size} bytes of arguments"


def amd_complaints(code, contract, objdump):
    if codeobject.abi_version(code) != ABI_VERSION:
        yield f"ABI version {codeobject.abi_version(code)} is not code object version 4"
    kernels = codeobject.amd_kernels(code)
    for missing in contract.keys() - kernels.keys():
        yield f"{missing}: no such kernel"
    for kernel in kernels.values():
        yield from arguments_complaints(kernel, contract)
        facts = kernel.metadata
        if facts[".private_segment_fixed_size"] or facts.get(".uses_dynamic_stack"):
            yield f"{kernel.name}: {facts['.private_segment_fixed_size']} bytes of scratch a thread"
        if facts[".group_segment_fixed_size"] > LDS_LIMIT:
            yield f"{kernel.name}: {facts['.group_segment_fixed_size']} bytes of shared memory"
    with tempfile.NamedTemporaryFile(suffix=".co") as file:
        file.write(code)
        file.flush()
        listing = subprocess.run([objdump, "-d", file.name], capture_output=True, text=True,
                                 check=True).stdout
    if "s_endpgm" not in listing:
        yield f"{objdump} cannot disassemble it"
    for found in sorted(set(FORBIDDEN.findall(listing))):
        yield f"the instruction {found}"


def ptx_complaints(text, contract):
    kernels = codeobject.ptx_kernels(text)
    for missing in contract.keys() - kernels.keys():
        yield f"{missing}: no such kernel"
    for kernel in kernels.values():
        yield from arguments_complaints(kernel, contract)
    if re.search(r"^\s*\.local\b", text, re.MULTILINE):
        yield "memory of a thread's own (.local)"


def frames(path, ptxas):
    """What ptxas says of stack and registers: {kernel: (frame, spills, registers)}."""
    done = subprocess.run([ptxas, "-v", "-arch=sm_75", path, "-o", os.devnull],
                          capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    found = {}
    for part in said.split("Compiling entry function")[1:]:
        name = re.search(r"'([\w$]+)'", part).group(1)
        frame, stores, loads = map(int, re.search(
            r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
            part).groups())
        found[name] = frame, stores + loads, int(re.search(r"Used (\d+) registers", part).group(1))
    return found


class Tap:
    def __init__(self):
        self.count, self.bad = 0, 0

    def result(self, name, complaints):
        self.count += 1
        complaints = list(complaints)
        self.bad += bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {self.count} - {name}")
        for complaint in complaints:
            print(f"# {complaint}")
        sys.stdout.flush()


# Of a compute unit: SIMDs, and for each of them registers, in what steps they are given out, and the
# most wavefronts. A unit's blocks share 64 KiB.
UNITS = {"gfx90a": (4, 512, 8, 8), "gfx942": (4, 512, 8, 8), "gfx1030": (2, 1024, 16, 16),
         "gfx1100": (2, 1536, 24, 16)}


def wavefronts_a_unit(target, facts):
    """For how many a unit has room, and what limits them."""
    simds, registers, step, most = UNITS[target]
    taken = -(-facts[".vgpr_count"] // step) * step
    by_registers = simds * min(most, registers // max(taken, step))
    a_block = -(-facts[".max_flat_workgroup_size"] // facts[".wavefront_size"])
    by_memory = LDS_LIMIT // max(facts[".group_segment_fixed_size"], 1) * a_block
    if by_memory < by_registers:
        return f"{by_memory}, by shared memory"
    if by_registers < simds * most:
        return f"{by_registers}, by registers"
    return f"{by_registers}, the most there can be"


def print_registers(target, code):
    for kernel in codeobject.amd_kernels(code).values():
        facts = kernel.metadata
        print(f"# {target} {kernel.name}: {facts['.vgpr_count']} vector and "
              f"{facts['.sgpr_count']} scalar registers, {facts['.group_segment_fixed_size']} "
              f"bytes of shared memory, wavefronts of {facts['.wavefront_size']}, "
              f"{kernel.segment_size} bytes of arguments"
              + (f", wavefronts a unit: {wavefronts_a_unit(target, facts)}"
                 if target in UNITS else ""))


def check_bundle(tap, path, objdump):
    name = os.path.basename(path).partition(".")[0]
    with open(path, "rb") as file:
        objects = codeobject.unbundle(file.read())
    for target, code in objects.items():
        tap.result(f"{name}, {target}", amd_complaints(code, CONTRACT.get(name, {}), objdump))
        print_registers(target, code)


def check_ptx(tap, path):
    name = os.path.basename(path).partition(".")[0]
    contract = CONTRACT.get(name, {})
    with open(path, encoding="utf-8") as file:
        tap.result(f"{name}, PTX", ptx_complaints(file.read(), contract))
    ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if not ptxas:
        return
    found = frames(path, ptxas)
    tap.result(f"{name}, PTX's stack frames", [
        f"{kernel}: {frame} bytes of stack frame, {spills} of spills"
        for kernel, (frame, spills, _) in found.items() if frame or spills]
        + [f"ptxas does not tell of {kernel}" for kernel in contract.keys() - found.keys()])
    for kernel, (_, _, registers) in found.items():
        print(f"# sm_75 {kernel}: {registers} registers")


# Kernels with one mistake each: how the text is changed, and what must be said of the result.
PYRAMID = r"(adm_pyramid\()const HvAdmBuffers \*__restrict__ buffers(.*?\)\s*\{)"
MUTANTS = {
    "the buffer struct by value": ("adm.hip", [
        (PYRAMID, r"\1HvAdmBuffers value\2 const HvAdmBuffers *buffers = &value;")],
        "adm_pyramid takes value of 72"),
    "transposed arguments": ("adm.hip", [
        (r"(adm_bands\(const HvAdmBuffers \*__restrict__ buffers, )"
         r"const HvAdmFixed \*__restrict__ fixed,\s*uint32_t reference_pitch",
         r"\1uint32_t reference_pitch, const HvAdmFixed *fixed")],
        "adm_bands takes pointer of 8 at 0, value of 4 at 8"),
    "an argument of the wrong width": ("adm.hip", [
        (r"(adm_bands\([^)]*)uint32_t distorted_shift", r"\1uint64_t distorted_shift")],
        "value of 8 at 32"),
    "an extra buffer argument": ("adm.hip", [
        (r"(adm_pyramid\()", r"\1const HvAdmBuffers *more, ")],
        "adm_pyramid takes pointer of 8 at 0, pointer of 8 at 8, pointer of 8 at 16"),
    "a reduction that takes the buffer struct": ("adm.hip", [
        (r"adm_finish\(const HvAdmFixed \*__restrict__ fixed, HvAdmTotal \*totals",
         "adm_finish(const HvAdmFixed *fixed, const HvAdmBuffers *buffers, HvAdmTotal *totals")],
        "adm_finish takes pointer of 8 at 0, pointer of 8 at 8, pointer of 8 at 16, pointer"),
    "arguments beyond the limit": ("adm.hip", [
        (r"(adm_bands\()", r"\1uint64_t m0, uint64_t m1, uint64_t m2, uint64_t m3, uint64_t m4, ")],
        "72 bytes of arguments"),
    "pointers without their address space": ("device.h", [
        (r"__attribute__\(\(address_space\(1\)\)\)", "")],
        "the instruction flat_load"),
    "a private array that is indexed at run time": ("adm.hip", [
        (r"(adm_finish\([^)]*\)\s*\{)",
         r"\1 volatile int own[40]; own[blockIdx.x % 40] = 1; "
         r"if (own[(blockIdx.x + gridDim.x) % 40] == 12345) return;")],
        "bytes of scratch"),
}
SOURCES = ["kernels/adm/adm.hip", "kernels/adm/adm_device.h", "kernels/adm/adm_arith.h",
           "kernels/hip/device.h"]
TARGETS = ("gfx90a", "gfx1030", "gfx900")


def mutated_tree(folder, name, changes):
    for source in SOURCES:
        path = os.path.join(folder, source)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            text = file.read()
        if os.path.basename(source) == name:
            for pattern, replacement in changes:
                text, times = re.subn(pattern, replacement, text, flags=re.DOTALL)
                if not times:
                    raise RuntimeError(f"{source} has nothing like {pattern}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return os.path.join(folder, SOURCES[0])


def build(hipcc, folder, source, targets, flags=()):
    output = os.path.join(folder, "adm.bundle")
    options = [flag for flag in compiler.HIPCC if flag not in ("-Werror", "-Wall", "-Wextra")]
    good, said = compiler.run([hipcc, *options, "-w", *flags, *compiler.offload(targets), "-I",
                               folder, source, "-o", output])
    if not good:
        raise RuntimeError(said)
    return output


def mutant_complaints(hipcc, objdump, target, change, flags=()):
    """What the checks say of a mutant; what is wrong with that."""
    name, changes, wanted = change
    with tempfile.TemporaryDirectory() as folder:
        try:
            bundle = build(hipcc, folder, mutated_tree(folder, name, changes), [target], flags)
        except RuntimeError as error:
            return [f"the mutant cannot be built: {error}"]
        with open(bundle, "rb") as file:
            code = codeobject.unbundle(file.read())[target]
    said = list(amd_complaints(code, CONTRACT["adm"], objdump))
    if any(wanted in complaint for complaint in said):
        return []
    return [f"'{wanted}' is not among the complaints: {said}"]


def disagreement(hipcc, targets):
    """The build's own check: a kernel that takes something else on one target."""
    change = [(r"uint32_t distorted_shift(\)\s*\{\s*__shared__ PyramidMemory)",
               "\n#ifdef __" + targets[1] + "__\n uint64_t distorted_shift\n#else\n"
               r" uint32_t distorted_shift\n#endif\n\1")]
    with tempfile.TemporaryDirectory() as folder:
        try:
            bundle = build(hipcc, folder, mutated_tree(folder, "adm.hip", change), targets)
        except RuntimeError as error:
            return [f"the mutant cannot be built: {error}"]
        done = subprocess.run([sys.executable, image.__file__, os.path.join(folder, "image.c"),
                               bundle], capture_output=True, text=True, check=False)
    if done.returncode and "kernel adm_pyramid differs" in done.stderr:
        return []
    return [f"image.py took it: {done.returncode} {done.stderr}"]


def main():
    _, _, hipcc, *paths = sys.argv
    objdump = find_objdump(hipcc)
    if not objdump:
        print("1..0 # SKIP hipcc's LLVM has no llvm-objdump here")
        return 77
    tap = Tap()
    built = set()
    for path in paths:
        if path.endswith(".ptx"):
            check_ptx(tap, path)
            continue
        check_bundle(tap, path, objdump)
        with open(path, "rb") as file:
            built |= codeobject.unbundle(file.read()).keys()
    target = next((name for name in TARGETS if name in built), sorted(built)[0])
    for name, change in MUTANTS.items():
        tap.result(f"{name}: seen on {target}",
                   mutant_complaints(hipcc, objdump, target, change))
    tap.result("another code object version: seen", mutant_complaints(
        hipcc, objdump, target, ("adm.hip", [], "is not code object version 4"),
        ["-mcode-object-version=3"]))
    if len(built) > 1:
        tap.result("targets that disagree: the build fails",
                   disagreement(hipcc, sorted(built)[:2]))
    print(f"1..{tap.count}")
    return tap.bad != 0


if __name__ == "__main__":
    sys.exit(main())
