#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs what is needed, builds, and scores an encode:
#   docs/first-score.sh              a moving test picture through x264enc at a low bitrate
#   docs/first-score.sh REF DIST     two files, any that GStreamer can decode
# Options go to first-score.py (--help lists them).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
build=$top/build
log=$build/first-score.log
mkdir -p "$build"

quietly() {
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    echo "failed: $*; all output is in $log" >&2
    exit 1
  fi
}

: >"$log"
echo "Installing what is missing and building (output in $log)" >&2
quietly bash "$here/install-packages.sh" build score
[[ -f $build/build.ninja ]] || quietly meson setup "$build" "$top" -Dtests=disabled
quietly ninja -C "$build"

export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
exec /usr/bin/python3 "$here/first-score.py" "$@"
