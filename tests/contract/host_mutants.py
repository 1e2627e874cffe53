#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that adm_faults fails when the host's code has a mistake: builds it with one changed source
at a time, and runs it on the emulator.

  host_mutants.py ROOT BUILD EMULATOR LIBRARY...

LIBRARY: adm_faults' own archive first, then what it is linked with. Speaks TAP.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ADM = "kernels/adm/adm_hip.c"
ARENA = "kernels/hip/arena.c"
STAGING = "kernels/hip/staging.c"
DEVICE = "kernels/hip/device.c"
MODULE = "kernels/hip/module.c"


def dropped(source, line, once=False):
    """A mutant without that statement; `once`: only where it first stands."""
    return source, line, "(void)0;", once


MUTANTS = {
    "what stays on the device is copied to memory that was not allocated": dropped(
        ARENA, "if (!hv_arena_device(arena, bytes, out, error)) return FALSE;"),
    "the buffer struct is copied before its memory is allocated": (
        ADM, "!make_memory(m, &m->slot[i], error) || !make_buffers(m, i, error)",
        "!make_buffers(m, i, error) || !make_memory(m, &m->slot[i], error)", False),
    "the buffer struct holds a host pointer": (
        ADM, ".totals = hv_device_pointer(slot->totals)", ".totals = (void *)slot->result", False),
    "the pointers of a launch are exchanged": (
        ADM, "{hv_pointer(slot->buffers), hv_pointer(m->fixed_copy),",
        "{hv_pointer(m->fixed_copy), hv_pointer(slot->buffers),", False),
    "the struct itself is given to the launch, not its copy": (
        ADM, "{hv_pointer(slot->buffers), hv_pointer(m->fixed_copy),",
        "{hv_pointer((uintptr_t)&m->slot[0].buffers), hv_pointer(m->fixed_copy),", False),
    "totals are not cleared": (
        ADM, "gboolean clean = slot->clean;", "gboolean clean = TRUE;", False),
    "nothing waits for the results": (
        STAGING, "return hv_hip_event_wait(staging->hip, staging->slot[slot].end, error);",
        "return TRUE;", False),
    "the end of a pair is not marked": (
        STAGING, "return hv_hip_event_record(staging->hip, of->end, of->shown.stream, error);",
        "return TRUE;", False),
    "device memory is not released": dropped(
        ARENA, "hv_hip_free(arena->hip, g_array_index(arena->device, HvDevice, i));"),
    "device memory is released twice": (
        ARENA, "g_array_append_val(arena->device, *out);",
        "g_array_append_val(arena->device, *out); g_array_append_val(arena->device, *out);", False),
    "pinned memory is not released": dropped(
        ARENA, "hv_hip_free_pinned(arena->hip, g_ptr_array_index(arena->pinned, i));"),
    "the device is not let go of": dropped(ARENA, "hv_hip_unref(arena->hip);"),
    "a metric's memory is not released": dropped(ADM, "hv_arena_free(m->arena);"),
    "nothing waits for what stays on the device": (
        ARENA, "hv_hip_stream_wait(arena->hip, arena->stream, error);", "TRUE;", False),
    "a failed instance is not destroyed": dropped(ADM, "destroy(m);", True),
    "events are not released": dropped(STAGING, "hv_hip_event_free(staging->hip, slot->end);"),
    "streams are not released": dropped(
        STAGING, "hv_hip_stream_free(staging->hip, slot->shown.stream);"),
    "staged planes are not released": dropped(STAGING,
                                              "hv_hip_free(staging->hip, slot->memory);"),
    "bounce buffers are not released": dropped(
        STAGING, "hv_hip_free_pinned(staging->hip, slot->bounce);"),
    "a failed staging pool is not released": dropped(STAGING, "hv_staging_free(staging);", True),
    "a device whose kernels do not load is not closed": dropped(DEVICE, "hip_free(hip);", True),
    "modules are not unloaded": (
        MODULE, "hip->runtime.module_unload(hip->modules[--hip->n_modules]);",
        "--hip->n_modules;", False),
    "an error of a launch is not told": (
        MODULE, "return hv_hip_check(hip, status, HV_CALL(launch), info->name, error);",
        "return status >= 0;", False),
}


def mutate(root, source, old, new, once):
    with open(os.path.join(root, source), encoding="utf-8") as file:
        text = file.read()
    # Wherever clang-format broke the line.
    pattern = r"\s+".join(map(re.escape, old.split()))
    text, times = re.subn(pattern, lambda _: new, text, count=1 if once else 0)
    if not times:
        raise RuntimeError(f"{source} has no '{old}'")
    return text


def compile_source(root, build, source, text, output):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entry = next(e for e in json.load(file)
                     if os.path.realpath(os.path.join(e["directory"], e["file"]))
                     == os.path.realpath(os.path.join(root, source)))
    command = shlex.split(entry["command"])
    for flag in ("-o", "-c", "-MF", "-MQ"):
        at = command.index(flag)
        del command[at:at + 2]
    command.remove("-MD")
    mutant = output[:-1] + "c"
    with open(mutant, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([*command, "-w", "-iquote", os.path.join(root, os.path.dirname(source)),
                    "-c", mutant, "-o", output],
                   cwd=entry["directory"], check=True, capture_output=True, text=True)
    return [part for part in command if part.startswith("-fsanitize")], command[0]


def run_mutant(root, build, emulator, libraries, mutant):
    """How the driver ended, and what it said."""
    source, old, new, once = mutant
    with tempfile.TemporaryDirectory() as folder:
        changed = os.path.join(folder, "mutant.o")
        flags, compiler = compile_source(root, build, source,
                                         mutate(root, source, old, new, once), changed)
        packages = subprocess.run(
            ["pkg-config", "--libs", "glib-2.0", "gmodule-no-export-2.0", "json-glib-1.0"],
            capture_output=True, text=True, check=True).stdout.split()
        program = os.path.join(folder, "mutant")
        # The changed object comes first, so that the archive's is not taken.
        subprocess.run([compiler, *flags, "-o", program, changed, "-Wl,--whole-archive",
                        libraries[0], "-Wl,--no-whole-archive", "-Wl,--start-group",
                        *libraries[1:], "-Wl,--end-group", "-Wl,--wrap=hv_adm_deliver",
                        "-Wl,--wrap=g_try_malloc0", *packages, "-lm", "-ldl", "-pthread"],
                       cwd=build, check=True, capture_output=True, text=True)
        done = subprocess.run(["sh", "-c", 'ulimit -c 0; exec "$0"', program], cwd=folder,
                              env={**os.environ, "HIPVMAF_RUNTIME": emulator,
                                   "HIP_EMULATOR_SEED": "1"},
                              capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def why(said):
    lines = [line for line in said.splitlines()
             if "violation" in line or line.startswith(("# ", "not ok", "ERROR", "**"))]
    return (lines or said.strip().splitlines()[-1:] or ["it said nothing"])[0].lstrip("# ")[:200]


def main():
    root, build, emulator, *libraries = map(os.path.abspath, sys.argv[1:])
    bad = 0
    print(f"1..{len(MUTANTS)}")
    for number, (name, mutant) in enumerate(MUTANTS.items(), 1):
        try:
            status, said = run_mutant(root, build, emulator, libraries, mutant)
            good = status not in (0, 77)
        except subprocess.CalledProcessError as error:
            good, said = False, f"it cannot be built: {error.stderr}"
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            good, said = False, str(error)
        bad += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}: seen")
        print(f"# {why(said) if good else said}", flush=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
