#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Holds the element against ../shared/golden, with the corrected files of this folder (see
# README.md) in the place of three, for 1, 2 and 3 threads.
#   tests/golden/check.sh BUILD [CONFIG...]     a CONFIG is a key of the golden files; default: all
#                                               that can be measured
# Prints "expected COUNT", then as many lines "threads=N: ok|FAIL config: ...". Exits 77 where there
# is no ../shared.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
shared=$here/../../../shared
configs=(adm adm.egl1 adm.v1_3d0h adm.v1_5d0h adm.v1_1d5h_2160 vif vif.egl1
         motion motion.v1 motion.v1_hfr motion.force_zero
         vmaf_v0.6.1 vmaf_v0.6.1neg vmaf_4k_v0.6.1 vmaf_4k_v0.6.1neg vmaf_b_v0.6.3
         vmaf_v0.6.1:enable_transform vmaf_v0.6.1:disable_clip)

if (($# < 1)) || [[ ! -d $1 ]]; then
  echo "usage: tests/golden/check.sh BUILD [CONFIG...]" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
shift
(($#)) && configs=("$@")
if [[ ! -f $shared/tools/check_golden.py || ! -d $shared/golden ]]; then
  echo "skipped: there is no folder ../shared with golden values beside the checkout"
  exit 77
fi

golden=$build/golden
rm -rf "$golden" && mkdir -p "$golden" || exit 1
cp "$shared"/golden/*.json "$golden" && chmod u+w "$golden"/*.json \
  && cp "$here"/*.json "$golden" || exit 1

echo "expected $((3 * ${#configs[@]}))"
bad=0
for threads in 1 2 3; do
  GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$build/golden.registry /usr/bin/python3 \
    "$shared/tools/check_golden.py" --golden "$golden" --clips "$shared/clips" --backend cpu \
    --property "threads=$threads" "${configs[@]}" 2>&1 | sed "s/^/threads=$threads: /" || bad=1
done
exit $bad
