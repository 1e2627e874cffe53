#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzzes the reader of model files for some seconds (60 unless told), under ASan and UBSan.
#   tests/fuzz/run.sh [SECONDS]
# Needs clang with libFuzzer (Debian: clang, libclang-rt-14-dev). What it finds is left in
# build-fuzz; exit status 0 means that it found nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
build=$top/build-fuzz
seconds=${1-60}

[[ -f $build/build.ninja ]] || CC=clang meson setup "$build" "$top" -Dtests=disabled \
  -Dhip=disabled -Dnvidia=disabled -Db_sanitize=address,undefined -Db_lundef=false \
  -Dc_args=-fsanitize=fuzzer-no-link
ninja -C "$build" kernels/libkernels.a
read -ra flags < <(pkg-config --cflags --libs glib-2.0 gmodule-2.0 json-glib-1.0)
clang -g -fsanitize=fuzzer,address,undefined -I"$top" "$here/models.c" \
  "$build/kernels/libkernels.a" "${flags[@]}" -lm -lpthread -o "$build/fuzz_models"
mkdir -p "$build/corpus"
cp "$here/plain.json" "$build/corpus"
# A collection of three of it.
{
  printf '{"0": '
  sed 's/LIBSVMNUSVR/BOOTSTRAP_&/' "$here/plain.json"
  for i in 1 2; do printf ', "%s": ' $i && sed 's/LIBSVMNUSVR/BOOTSTRAP_&/' "$here/plain.json"; done
  printf '}'
} >"$build/corpus/collection.json"
cd "$build"
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ./fuzz_models -dict="$here/words.dict" \
  -max_len=8000 -rss_limit_mb=3000 -max_total_time="$seconds" corpus
