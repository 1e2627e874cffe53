#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# GStreamer's C style: gst-indent.sh [--check] FILE... rewrites the files, or says how they differ.
set -euo pipefail

style=(--braces-on-if-line --case-brace-indentation0 --case-indentation2
       --braces-after-struct-decl-line --line-length80 --no-tabs --cuddle-else
       --dont-line-up-parentheses --continuation-indentation4 --honour-newlines --tab-size8
       --indent-level2 --leave-preprocessor-space)

check=false
if [[ ${1-} == --check ]]; then
  check=true
  shift
fi

formatted=$(mktemp)
trap 'rm -f "$formatted"' EXIT
status=0
for file in "$@"; do
  # Indent settles only at the second pass for some lines.
  indent "${style[@]}" "$file" -o "$formatted"
  VERSION_CONTROL=none indent "${style[@]}" "$formatted"
  if $check; then
    diff -u --label "$file" --label "$file, indented" "$file" "$formatted" || status=1
  else
    cmp -s "$file" "$formatted" || cat "$formatted" >"$file"
  fi
done
exit $status
