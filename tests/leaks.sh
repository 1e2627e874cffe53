#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Pipelines under GStreamer's leaks tracer: whatever way one ends, no object stays alive. Speaks TAP.
# Needs GST_PLUGIN_PATH.
set -uo pipefail
number=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# leakless NAME EXPECTED_STATUSES PIPELINE..., interrupted after $seconds
leakless() {
  local name=$1 expected=$2 status=0 why=
  shift 2
  number=$((number + 1))
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 timeout --preserve-status -s INT -k 20 "${seconds:-60}" \
    gst-launch-1.0 -q "$@" >"$log" 2>&1 </dev/null || status=$?
  [[ " $expected " == *" $status "* ]] || why="exit status $status and not ${expected/ / or }"
  ! grep -q 'object-alive, type-name=(string)[^%]' "$log" || why="objects stay alive"
  if [[ -z $why ]]; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name: $why"
    failed=1
    sed 's/^/# /' "$log"
  fi
}

ref='video/x-raw,format=I420,width=320,height=180,framerate=25/1'
other='video/x-raw,format=I420,width=160,height=90,framerate=25/1'
source="videotestsrc num-buffers=20"
measure="hipvmaf name=q features=adm frame-message=true ! fakesink"

leakless "a whole stream" 0 $measure $source ! $ref ! q.ref_sink $source ! $ref ! q.dist_sink
leakless "sizes that differ" 1 $measure $source ! $ref ! q.ref_sink $source ! $other ! q.dist_sink
leakless "a distorted stream that ends early" 0 \
  $measure $source ! $ref ! q.ref_sink videotestsrc num-buffers=5 ! $ref ! q.dist_sink
leakless "an unknown feature" 255 hipvmaf name=q features=no-such ! fakesink \
  $source ! $ref ! q.ref_sink $source ! $ref ! q.dist_sink
seconds=2 leakless "a pipeline that is told to end" "0 130" -e $measure \
  videotestsrc is-live=true ! $ref ! q.ref_sink videotestsrc is-live=true ! $ref ! q.dist_sink

echo "1..$number"
exit $failed
