#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Holds the element against ../shared/golden, with the corrected files of this folder (see
# README.md) in the place of three: on the CPU for 1, 2 and 3 threads, or with --emulator on the HIP
# runtime of tests/emulator, with wavefronts of 32 and 64, what has kernels.
#   tests/golden/check.sh [--emulator] BUILD [CONFIG...]
# Prints "threads=N: ok|FAIL config: ..." (or "wavefront=N: ...") a configuration. Exits 77 where
# there is no ../shared, or no emulator or kernels for it.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shared=$here/../../../shared
configs=(adm adm.egl1 adm.v1_3d0h adm.v1_5d0h adm.v1_1d5h_2160 vif vif.egl1
         motion motion.v1 motion.v1_hfr motion.force_zero
         psnr psnr_luma float_psnr float_moment
         vmaf_v0.6.1 vmaf_v0.6.1neg vmaf_4k_v0.6.1 vmaf_4k_v0.6.1neg vmaf_b_v0.6.3
         vmaf_v0.6.1:enable_transform vmaf_v0.6.1:disable_clip
         float_ssim float_ms_ssim)

backend=cpu
if [[ ${1-} == --emulator ]]; then
  backend=hip
  configs=(adm adm.egl1 adm.v1_3d0h adm.v1_5d0h adm.v1_1d5h_2160 vif vif.egl1
           psnr psnr_luma float_psnr float_moment motion motion.v1 motion.v1_hfr motion.force_zero
           vmaf_v0.6.1 vmaf_v0.6.1neg vmaf_b_v0.6.3 # what other models ask for is the same
           float_ssim float_ms_ssim)
  shift
fi

if (($# < 1)) || [[ ! -d $1 ]]; then
  echo "usage: tests/golden/check.sh [--emulator] BUILD [CONFIG...]" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
shift
(($#)) && configs=("$@")
if [[ ! -f $shared/tools/check_golden.py || ! -d $shared/golden ]]; then
  echo "skipped: there is no folder ../shared with golden values beside the checkout"
  exit 77
fi

emulator=$build/tests/emulator/libamdhip64-emulator.so
if [[ $backend == hip ]] && ! compgen -G "$build/kernels/hip/*.bundle" >/dev/null; then
  echo "skipped: the build has no kernels, for want of hipcc"
  exit 77
fi
if [[ $backend == hip && ! -f $emulator ]]; then
  echo "skipped: the build has no emulator, for want of g++"
  exit 77
fi

golden=$build/golden
rm -rf "$golden" && mkdir -p "$golden" || exit 1
cp "$shared"/golden/*.json "$golden" && chmod u+w "$golden"/*.json \
  && cp "$here"/*.json "$golden" || exit 1

# compare NAME=VALUE [OPTION...] CONFIG...
compare() {
  local name=$1
  shift
  GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$build/golden.registry /usr/bin/python3 \
    "$shared/tools/check_golden.py" --golden "$golden" --clips "$shared/clips" \
    --backend "$backend" "$@" 2>&1 | sed "s/^/$name: /" || bad=1
}

# check NAME=VALUE [OPTION...]
check() {
  local exact=() rounded=() config
  for config in "${configs[@]}"; do
    case $config in
      float_ssim | float_ms_ssim) rounded+=("$config") ;;
      *) exact+=("$config") ;;
    esac
  done
  ((${#exact[@]} == 0)) || compare "$@" "${exact[@]}"
  ((${#rounded[@]} == 0)) || compare "$@" --tolerance 1e-6 "${rounded[@]}"
}

bad=0
if [[ $backend == cpu ]]; then
  echo "expected $((3 * ${#configs[@]}))"
  for threads in 1 2 3; do check "threads=$threads" --property "threads=$threads"; done
else
  echo "expected $((2 * ${#configs[@]}))"
  export HIPVMAF_RUNTIME=$emulator HIP_EMULATOR_LEAKS=abort
  for lanes in 32 64; do
    HIP_EMULATOR_WAVEFRONT=$lanes check "wavefront=$lanes" --timeout 600
  done
fi
exit $bad
