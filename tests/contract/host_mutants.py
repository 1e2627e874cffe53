#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that faults.c fails when the host's code has a mistake: builds it with one changed source at
a time, and runs it on the emulator.

  host_mutants.py ROOT BUILD EMULATOR LIBRARY...

LIBRARY: the program's own archive first, then what it is linked with. Speaks TAP.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ADM = "kernels/adm/adm_hip.c"
VIF = "kernels/vif/vif_hip.c"
MOTION = "kernels/motion/motion_hip.c"
PSNR = "kernels/psnr/psnr_hip.c"
MOMENT = "kernels/moment/moment_hip.c"
SSIM = "kernels/ssim/ssim_hip.c"
ARENA = "kernels/hip/arena.c"
METRIC = "kernels/hip/metric.c"
GRAPH = "kernels/hip/graph.c"
STAGING = "kernels/hip/staging.c"
DEVICE = "kernels/hip/device.c"
MODULE = "kernels/hip/module.c"


# A mutant: the metric that is run, the source, what stands there, what comes in its place, and
# whether only where it first stands.


def dropped(metric, source, line, once=False):
    """A mutant without that statement."""
    return metric, source, line, "(void)0;", once


def dropped_member(metric, source, member):
    """A mutant without that member of an initializer."""
    return metric, source, member, "", False


def mutants_of(metric, source, buffers, totals):
    """Those of metrics that have memory for each slot."""
    pointers = f"{{hv_pointer({buffers}), hv_pointer(m->fixed_copy),"
    return {
        "the buffer struct is copied before its memory is allocated": (
            metric, source, "make_memory(m, &m->slot[i], error) && make_buffers(m, i, error)",
            "make_buffers(m, i, error) && make_memory(m, &m->slot[i], error)", False),
        "the buffer struct holds a host pointer": (
            metric, source, f".totals = hv_device_pointer({totals})",
            ".totals = m->gpu.result[i].host", False),
        "a picture is named twice": (
            metric, source, "hv_device_pointer(staged->plane[p][0].data)",
            "hv_device_pointer(staged->plane[0][0].data)", False),
        "the pointers of a launch are exchanged": (
            metric, source, pointers,
            f"{{hv_pointer(m->fixed_copy), hv_pointer({buffers}),", False),
        "the struct itself is given to the launch, not its copy": (
            metric, source, pointers,
            "{hv_pointer((uintptr_t)&m->slot[0].buffers), hv_pointer(m->fixed_copy),", False),
        "a picture's pitch and shift are exchanged": (
            metric, source, "hv_u32(r->pitch), hv_u32(r->shift)",
            "hv_u32(r->shift), hv_u32(r->pitch)", False),
    }


ADM_MUTANTS = {
    **mutants_of("adm", ADM, "slot->buffers", "slot->totals"),
    "totals are not cleared": (
        "adm", ADM, "gboolean clean = slot->clean;", "gboolean clean = TRUE;", False),
}

VIF_MUTANTS = {
    **mutants_of("vif", VIF, "m->slot[i].buffers", "m->gpu.result[i].device"),
    "totals are not cleared": dropped_member("vif", VIF, ".adds = TRUE,"),
    "there is no room for totals": (
        "vif", VIF, "HV_VIF_SCALES * sizeof(HvVifSums)}", "4}", False),
    "an image is too small": (
        "vif", VIF, "samples * sizeof(uint16_t), &slot->image", "samples, &slot->image", False),
    "both pictures share an image": (
        "vif", VIF, "hv_device_pointer(slot->image[k][p])", "hv_device_pointer(slot->image[k][0])",
        False),
    "the logarithms are not filled in": dropped(
        "vif", VIF, "fixed->log = hv_vif_log_pieces;"),
    "a launch has more arguments than its kernel": (
        "vif", VIF, "scale ? 2 : n", "n", False),
    "a launch that fails does not end the pair": (
        "vif", VIF,
        "if (!launch_next(m, staged, scale, arguments, G_N_ELEMENTS(arguments), error)) "
        "return FALSE;",
        "launch_next(m, staged, scale, arguments, G_N_ELEMENTS(arguments), error);", False),
    "a row of tiles is left out": (
        "vif", VIF, "rows += hv_divide_up(fixed->height[0], HV_VIF_TILE_ROWS)",
        "rows += fixed->height[0] / HV_VIF_TILE_ROWS", False),
    "the next scale lacks its last row": (
        "vif", VIF, "hv_divide_up(m->plan.height[scale + 1], HV_VIF_NEXT_ROWS)",
        "m->plan.height[scale + 1] / HV_VIF_NEXT_ROWS", False),
    "the scales are made in the wrong order": (
        "vif", VIF, "m->gpu.kernel[scale],", "m->gpu.kernel[IMAGES - 1 - scale],", False),
    "the scales' tiles are confused": (
        "vif", VIF, "fixed->first_tile_row[scale] = tile_row;",
        "fixed->first_tile_row[scale] = 0;", False),
}


def sums_mutants(metric, source, result_bytes):
    """Those of metrics that only sum up planes, and keep nothing else on the device."""
    return {
        "totals are not cleared": dropped_member(metric, source, ".adds = TRUE,"),
        "there is no room for totals": (metric, source, f"{result_bytes}}};", "4};", False),
        "totals are a host pointer": (
            metric, source, "hv_pointer(m->gpu.result[slot].device +",
            "hv_pointer((uintptr_t)m->gpu.result[slot].host +", False),
        "a launch that fails does not end the pair": (
            metric, source, ", error)) return FALSE; return TRUE;", ", error)) continue; return TRUE;",
            False),
    }


MOTION_MUTANTS = {
    "the buffer struct holds a host pointer": (
        "motion", MOTION, ".sum = hv_device_pointer(m->gpu.result[i].device)",
        ".sum = m->gpu.result[i].host", False),
    "the pointers of a launch are exchanged": (
        "motion", MOTION, "hv_pointer(m->buffers[i]), hv_pointer(m->fixed_copy),",
        "hv_pointer(m->fixed_copy), hv_pointer(m->buffers[i]),", False),
    "the distorted picture is measured": (
        "motion", MOTION, "staged->plane[0][0].data", "staged->plane[1][0].data", False),
    "a sum is not cleared": dropped_member("motion", MOTION, ".adds = TRUE,"),
    "a plane is written over too soon": (
        "motion", MOTION, "m->n_planes = 2 * m->distance;", "m->n_planes = 2 * m->distance - 1;",
        False),
    "nothing waits for the earlier frame": (
        "motion", MOTION, "hv_hip_stream_wait_event(m->gpu.hip, staged->stream, "
        "m->written[earlier_plane(m)], error)", "TRUE", False),
    "the end of a kernel is not marked": (
        "motion", MOTION, "hv_hip_event_record(m->gpu.hip, m->written[plane_of(m)], "
        "staged->stream, error)", "TRUE", False),
    "its events are not released": dropped(
        "motion", ARENA, "hv_hip_event_free(arena->hip, g_ptr_array_index(arena->events, i));"),
}

PSNR_MUTANTS = {
    **sums_mutants("psnr", PSNR, "HV_MAX_PLANES * sizeof(uint64_t)"),
    "the reference is compared with itself": (
        "psnr", PSNR, "hv_pointer(d->data)", "hv_pointer(r->data)", False),
    "all planes share a total": (
        "psnr", PSNR, "result[slot].device + i * sizeof(uint64_t)", "result[slot].device", False),
    "chroma is compared with luma": (
        "psnr", PSNR, "&staged->plane[1][i]", "&staged->plane[1][0]", False),
    "pitch and shift are exchanged": (
        "psnr", PSNR, "hv_u32(r->pitch), hv_u32(r->shift)", "hv_u32(r->shift), hv_u32(r->pitch)",
        False),
    "a row of tiles is left out": (
        "psnr", PSNR, "hv_divide_up(height, HV_PSNR_ROWS)", "height / HV_PSNR_ROWS", False),
}

MOMENT_MUTANTS = {
    **sums_mutants("float_moment", MOMENT, "HV_MOMENT_PICTURES * sizeof(HvMomentSums)"),
    "the reference is measured twice": (
        "float_moment", MOMENT, "&staged->plane[picture][0]", "&staged->plane[0][0]", False),
    "a row of tiles is left out": (
        "float_moment", MOMENT, "hv_divide_up(m->format.height, HV_MOMENT_ROWS)",
        "m->format.height / HV_MOMENT_ROWS", False),
}

SSIM_MUTANTS = {
    "totals are not cleared": dropped_member("float_ssim", SSIM, ".adds = TRUE,"),
    "there is no room for totals": (
        "float_ssim", SSIM, "m->plan.scales * sizeof(HvSsimSums)}", "4}", False),
    "the reference is compared with itself": (
        "float_ssim", SSIM, "hv_pointer(d->data)", "hv_pointer(r->data)", False),
    "pitch and shift are exchanged": (
        "float_ssim", SSIM, "hv_u32(r->pitch), hv_u32(r->shift)",
        "hv_u32(r->shift), hv_u32(r->pitch)", False),
    "a row of tiles is left out": (
        "float_ssim", SSIM, "hv_divide_up(rows - HV_SSIM_TAPS + 1, HV_SSIM_TILE_ROWS)",
        "(rows - HV_SSIM_TAPS + 1) / HV_SSIM_TILE_ROWS", False),
    "a launch that fails does not end the pair": (
        "float_ssim", SSIM, "!launch_windows(m, slot, staged, scale, error)) return FALSE;",
        "!launch_windows(m, slot, staged, scale, error)) continue;", False),
}

# What all metrics stand on.
HIP_MUTANTS = {
    "what stays on the device is copied to memory that was not allocated": dropped(
        "adm", ARENA, "if (!hv_arena_device(arena, bytes, out, error)) return FALSE;"),
    "a metric's memory is not released": dropped(
        "adm", METRIC, "hv_arena_free(gpu->arena);"),
    "a failed metric is not freed": dropped("adm", METRIC, "hv_hip_metric_destroy(metric);"),
    "half of a result is cleared": (
        "vif", METRIC, "0, gpu->result_bytes, staged->stream, error)",
        "0, gpu->result_bytes / 2, staged->stream, error)", False),
    "a result that cannot be cleared does not end the pair": (
        "vif", METRIC, "staged->stream, error)) return FALSE;",
        "staged->stream, error)) (void)0;", False),
    "the results do not come back": (
        "adm", METRIC,
        "hv_hip_download(gpu->hip, result->host, result->device, gpu->result_bytes, "
        "staged->stream, error);", "TRUE;", False),
    "half of the results comes back": (
        "adm", METRIC, "result->device, gpu->result_bytes,",
        "result->device, gpu->result_bytes / 2,", False),
    "nothing waits for the results": (
        "adm", STAGING, "return hv_hip_event_wait(staging->hip, staging->slot[slot].end, error);",
        "return TRUE;", False),
    "the end of a pair is not marked": (
        "adm", STAGING,
        "return hv_hip_event_record(staging->hip, of->end, of->shown.stream, error);",
        "return TRUE;", False),
    "device memory is not released": dropped(
        "adm", ARENA, "hv_hip_free(arena->hip, g_array_index(arena->device, HvDevice, i));"),
    "device memory is released twice": (
        "adm", ARENA, "g_array_append_val(arena->device, *out);",
        "g_array_append_val(arena->device, *out); g_array_append_val(arena->device, *out);", False),
    "pinned memory is not released": dropped(
        "adm", ARENA, "hv_hip_free_pinned(arena->hip, g_ptr_array_index(arena->pinned, i));"),
    "the device is not let go of": dropped("adm", ARENA, "hv_hip_unref(arena->hip);"),
    "nothing waits for what stays on the device": (
        "adm", ARENA, "hv_hip_stream_wait(arena->hip, arena->stream, error);", "TRUE;", False),
    "events are not released": dropped(
        "adm", STAGING, "hv_hip_event_free(staging->hip, slot->end);"),
    "streams are not released": dropped(
        "adm", STAGING, "hv_hip_stream_free(staging->hip, slot->shown.stream);"),
    "staged planes are not released": dropped(
        "adm", STAGING, "hv_hip_free(staging->hip, slot->memory);"),
    "bounce buffers are not released": dropped(
        "adm", STAGING, "hv_hip_free_pinned(staging->hip, slot->bounce);"),
    "a failed staging pool is not released": dropped(
        "adm", STAGING, "hv_staging_free(staging);", True),
    "a device whose kernels do not load is not closed": dropped(
        "adm", DEVICE, "hip_free(hip);", True),
    "modules are not unloaded": (
        "adm", MODULE, "hip->runtime.module_unload(hip->modules[--hip->n_modules]);",
        "--hip->n_modules;", False),
    "an error of a launch is not told": (
        "adm", MODULE, "return hv_hip_check(hip, status, HV_CALL(launch), info->name, error);",
        "return status >= 0;", False),
}

GRAPH_MUTANTS = {
    "a graph is used for pictures of another pitch": (
        "vif", METRIC, "a->pitch != b->pitch", "FALSE", False),
    "a metric's graphs are not released": dropped(
        "vif", METRIC, "hv_hip_graph_free(gpu->hip, gpu->repeat[i].graph);"),
    "a graph that is of no use any more is not released": dropped(
        "vif", METRIC, "hv_hip_graph_free(gpu->hip, repeat->graph);"),
    "a capture stays open when a launch fails": (
        "vif", METRIC, "queue(metric, slot, staged, NULL); graph =",
        "graph = !queue(metric, slot, staged, NULL) ? NULL :", False),
    "a pair that is captured is not measured": (
        "vif", METRIC, "return hv_hip_graph_launch(gpu->hip, repeat->graph, staged->stream, error);",
        "return repeat->alike == 2 ? repeat->alike++ : "
        "hv_hip_graph_launch(gpu->hip, repeat->graph, staged->stream, error);", False),
    "a graph that cannot be made ends the pair": (
        "vif", METRIC, "return queue(metric, slot, staged, error); gpu->by_graph++;",
        "return gpu->has_graphs && queue(metric, slot, staged, error); gpu->by_graph++;", False),
    "motion waits within a graph": (
        "motion", MOTION, "return hv_hip_launch(",
        "return wait_for_earlier(m, i, staged, error) && hv_hip_launch(", False),
    "a capture minds other threads": ("vif", GRAPH, "THREAD_LOCAL = 1", "THREAD_LOCAL = 0", False),
    "a graph is not released once it has an instance": dropped(
        "vif", GRAPH, "runtime->graph_destroy(graph);"),
    "a graph that lacks a call is used": (
        "psnr", GRAPH, "nodes >= hv_hip_queued", "TRUE", False),
    "an error of a graph's launch is not told": (
        "vif", GRAPH, "hv_hip_check(hip, hip->runtime.graph_launch(graph, stream), "
        "HV_CALL(graph_launch), NULL, error)", "hip->runtime.graph_launch(graph, stream) >= 0",
        False),
}

MUTANTS = {
    **HIP_MUTANTS,
    **{f"graphs: {name}": mutant for name, mutant in GRAPH_MUTANTS.items()},
    **{f"adm: {name}": mutant for name, mutant in ADM_MUTANTS.items()},
    **{f"vif: {name}": mutant for name, mutant in VIF_MUTANTS.items()},
    **{f"motion: {name}": mutant for name, mutant in MOTION_MUTANTS.items()},
    **{f"psnr: {name}": mutant for name, mutant in PSNR_MUTANTS.items()},
    **{f"float_moment: {name}": mutant for name, mutant in MOMENT_MUTANTS.items()},
    **{f"float_ssim: {name}": mutant for name, mutant in SSIM_MUTANTS.items()},
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
    metric, source, old, new, once = mutant
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
        done = subprocess.run(["sh", "-c", 'ulimit -c 0; exec "$0" "$1"', program, metric],
                              cwd=folder,
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
