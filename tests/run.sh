#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs what is needed, builds, and runs all tests:
#   tests/run.sh [MESON_OPTION...]      for example tests/run.sh -Dwerror=true
# Stages run in two lanes, for two cores. What each printed is kept in build/results, and shown
# where it failed. The last line counts the tests themselves, TAP's and gst-check's too.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
top=$PWD
results=$top/build/results
options=("$@")

fail() { printf 'fail\t%s\t%s\n' "$1" "${2-}" >>"$tally"; }
pass() { printf 'pass\t%s\t\n' "$1" >>"$tally"; }
skip() { printf 'skip\t%s\t%s\n' "$1" "$2" >>"$tally"; }

# Runs the command as one test of that name.
expect_success() {
  local name=$1
  shift
  if "$@"; then pass "$name"; else fail "$name" "exit status $?"; fi
}

setup() {
  local build=$1
  shift
  local again=()
  [[ -f $build/build.ninja ]] && again=(--reconfigure)
  # The expansion keeps an empty array from being an error.
  meson setup "$build" "$top" ${again[@]+"${again[@]}"} -Dtests=enabled "$@" \
    ${options[@]+"${options[@]}"} && nice ninja -C "$build"
}

# meson_tests BUILD [ARGUMENT...]: runs tests and writes down each one.
meson_tests() {
  local build=$1
  shift
  rm -f "$build"/meson-logs/testlog*.json
  nice meson test -C "$build" --no-rebuild --print-errorlogs --num-processes 1 "$@"
  local status=$?
  /usr/bin/python3 tests/tally.py "$build"/meson-logs/testlog*.json "$status" >>"$tally"
}

stage_style() {
  local plain gst
  mapfile -t plain < <(find kernels tests/unit tests/gpu tests/bench tests/emulator tests/contract -name '*.[ch]')
  # As in GStreamer, headers are left out: indent takes G_BEGIN_DECLS for a type.
  mapfile -t gst < <(find gst tests/check docs/examples -name '*.c')
  ((${#plain[@]})) && expect_success "clang-format" clang-format --dry-run --Werror "${plain[@]}"
  ((${#gst[@]})) && expect_success "gst-indent" tests/gst-indent.sh --check "${gst[@]}"
}

stage_build() { expect_success "build" setup build; }

stage_tests() { meson_tests build; }

# golden_tests [CHECK_OPTION...]: each line of tests/golden/check.sh is a test.
golden_tests() {
  local run verdict config rest got=0 expected=none
  while read -r run verdict config rest; do
    echo "$run $verdict $config $rest"
    [[ $run == expected ]] && expected=$verdict && continue
    case $verdict in
      ok) pass "golden $run ${config%:}" && got=$((got + 1)) ;;
      FAIL) fail "golden $run ${config%:}" "$rest" && got=$((got + 1)) ;;
    esac
    if [[ $run == skipped: ]]; then
      skip "golden values" "$verdict $config $rest"
      return
    fi
  done < <(nice bash tests/golden/check.sh "$@" build 2>&1)
  [[ $got == "$expected" ]] || fail "golden values" "$got of $expected came back"
}

# The shared folder's golden values, through a real pipeline: for each number of threads, and on the
# emulated GPU for each width of wavefronts.
stage_golden() { golden_tests; }
stage_emulator() {
  golden_tests --emulator
  # Wavefronts of 64 are among the other tests.
  compgen -G "build/kernels/hip/*.bundle" >/dev/null \
    && meson_tests build --setup emulator32 "check-hip formats" "check-hip hip"
}

stage_leaks() {
  GST_PLUGIN_PATH=$top/build/gst GST_REGISTRY=$results/leaks.registry nice \
    bash tests/leaks.sh >"$results/leaks.tap" 2>&1
  local status=$?
  cat "$results/leaks.tap"
  /usr/bin/python3 tests/tally.py --tap "$results/leaks.tap" "$status" >>"$tally"
}

# Reads of memory that nothing wrote, in pictures small enough for a slow processor.
stage_valgrind() {
  meson_tests build --suite small --timeout-multiplier 20 \
    --wrap 'valgrind --quiet --error-exitcode=99 --track-origins=yes'
}

# TSan watches host code: machine code for GPUs would be built for nothing.
host_only=(-Dhip=disabled -Dnvidia=disabled)

stage_asan() {
  # Two targets' machine code, one for each width of wavefronts, is enough for what runs here.
  setup build-asan -Dhip-targets=gfx90a,gfx1030 -Dnvidia=disabled --buildtype=debugoptimized \
    -Db_sanitize=address,undefined -Db_lundef=false \
    || { fail "build with ASan and UBSan"; return; }
  # A process without ASan cannot load the plugin: not the plugin scanner, not score's Python. So
  # plugins are scanned in the test's process, and only those that the tests need: others leak.
  local plugins=$top/build-asan/plugins system name
  system=$(pkg-config --variable=pluginsdir gstreamer-1.0)
  mkdir -p "$plugins"
  for name in coreelements coretracers videotestsrc; do
    ln -sf "$system/libgst$name.so" "$plugins"
  done
  GST_REGISTRY_FORK=no GST_PLUGIN_SYSTEM_PATH_1_0=$plugins CK_TIMEOUT_MULTIPLIER=6 \
    ASAN_OPTIONS=detect_leaks=1:halt_on_error=1:quarantine_size_mb=1 \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    meson_tests build-asan --no-suite score --no-suite contract --no-suite check-hip \
    --timeout-multiplier 6
  ASAN_OPTIONS=detect_leaks=1:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    meson_tests build-asan --suite faults --timeout-multiplier 6
}

stage_tsan() {
  setup build-tsan "${host_only[@]}" --buildtype=debugoptimized \
    -Db_sanitize=thread -Db_lundef=false \
    || { fail "build with TSan"; return; }
  # GCC 12's TSan cannot place its shadow where addresses are spread as widely as Linux 6.5 does.
  local steady=()
  setarch -R true 2>/dev/null && steady=(--wrap 'setarch -R')
  TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
    meson_tests build-tsan --suite unit --timeout-multiplier 10 ${steady[@]+"${steady[@]}"}
}

run_stage() {
  local stage=$1 start=$SECONDS
  tally=$results/$stage.tally
  : >"$tally"
  "stage_$stage" >"$results/$stage.log" 2>&1 </dev/null
  if [[ ! -s $tally ]]; then fail "$stage" "counted no test"; fi
  local failed
  failed=$(grep -c '^fail' "$tally")
  printf '%-9s %4d s  %s\n' "$stage" $((SECONDS - start)) \
    "$(grep -c '^pass' "$tally") passed, $failed failed, $(grep -c '^skip' "$tally") skipped"
  ((failed == 0))
}

# A build that failed has nothing to test.
lane_plain() {
  if run_stage build; then
    local stage
    for stage in tests golden emulator leaks valgrind; do run_stage "$stage"; done
  fi
}

lane_sanitizers() {
  local stage
  for stage in style asan tsan; do run_stage "$stage"; done
}

report() {
  local all=("$results"/*.tally) stage
  for stage in "${all[@]}"; do
    grep -q '^fail' "$stage" || continue
    stage=$(basename "$stage" .tally)
    printf '\n==== %s: the end of %s\n' "$stage" "build/results/$stage.log"
    tail -n 150 "$results/$stage.log"
  done
  echo
  awk -F'\t' '$1 == "skip" { print "skipped: " $2 ": " $3 }
              $1 == "fail" { print "FAILED:  " $2 ($3 ? ": " $3 : "") }' "${all[@]}"
  awk -F'\t' '{ n[$1]++ }
              END { printf "%d passed, %d failed, %d skipped\n", n["pass"], n["fail"], n["skip"]
                    exit n["fail"] > 0 || n["pass"] == 0 }' "${all[@]}"
}

bash docs/install-packages.sh build hip test </dev/null || exit 1
mkdir -p "$results"
rm -f "$results"/*.tally
lane_plain &
lane_sanitizers &
wait
report
