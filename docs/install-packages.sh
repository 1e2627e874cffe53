#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the Debian 12 packages for what is named: build, hip, score, test. Needs root only where
# something is missing.
set -euo pipefail

# A C compiler, and the headers of GStreamer and json-glib (for VMAF models).
build=(gcc libc6-dev meson ninja-build pkg-config libjson-glib-dev
       libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev)
# The AMD compiler, whose kernels the plugin embeds; a build without it measures on the CPU.
hip=(hipcc llvm-15)
# gst-launch-1.0, x264enc, and the demuxers, parsers and decoders for whatever file is scored.
score=(python3 python3-gi gir1.2-gstreamer-1.0 gstreamer1.0-tools
       gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
       gstreamer1.0-plugins-ugly gstreamer1.0-libav)
# The elements that the tests use, and what checks the code itself. The sanitizers come with gcc.
test=(python3 python3-gi python3-prometheus-client gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0 gstreamer1.0-tools
      gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly
      gstreamer1.0-libav g++ clang-format indent valgrind libc6-dbg)

wanted=()
for purpose in "$@"; do
  case $purpose in
    build) wanted+=("${build[@]}") ;;
    hip) wanted+=("${hip[@]}") ;;
    score) wanted+=("${score[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    *) echo "usage: $0 [build] [hip] [score] [test]" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $state == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID != 0)); then
  echo "These packages are missing; install them as root: apt-get install ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "Installing ${missing[*]}"
# Waits for another apt to finish, and tries a download again.
patient=(-q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
apt-get "${patient[@]}" update
apt-get "${patient[@]}" -y --no-install-recommends install "${missing[@]}"
