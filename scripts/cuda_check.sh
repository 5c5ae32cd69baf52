#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything that can only be checked on a GPU: its tests, a small case under compute-sanitizer, benches with JSON.
#   scripts/cuda_check.sh PROGRAMS [OUT]    PROGRAMS: a build folder, or bin/ of a bundle (scripts/bundle.sh)
#                                           OUT: where logs and JSON go (default: cuda-check)
# Ends with one summary; exits with 1 when something failed, with 4 when there is no GPU to check on.
set -u
programs=$(cd "$1" && pwd)
out=${2:-cuda-check}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
summary=$out/summary.txt
: >"$summary"
failures=0

# say WORD WHAT...: one line of the summary.
say() { printf '%-8s %s\n' "$1" "${*:2}" | tee -a "$summary"; }
fail() {
  failures=$((failures + 1))
  say FAILED "$*"
}
# The program of that name, wherever it lies.
find_program() { find "$programs" -type f -perm -u+x -name "$1" | head -n 1; }
needs_mpi() { ldd "$1" | grep -q 'libmpi\.so'; }
device_filter=$("$here/device_tests.sh" --filter)

# launch RANKS PROGRAM [ARG...]
launch() {
  if [ "$1" = 0 ]; then "${@:2}"; else MPIRUN_TIMEOUT=${MPIRUN_TIMEOUT:-600} "$here/mpirun.sh" "$@"; fi
}

# run_tests RANKS PROGRAM: its tests that need a device, which must not skip here. 0 ranks: without MPI.
run_tests() {
  local ranks=$1 program=$2 name log skipped passed
  name=$(basename "$program")
  [ "$ranks" = 0 ] || name=$name.$ranks
  log=$out/$name.log
  launch "$ranks" "$program" --gtest_filter="$device_filter" >"$log" 2>&1
  local status=$?
  passed=$(grep -c '^\[       OK' "$log")
  skipped=$(grep 'Skipped$' -A1 "$log" | grep -c 'no CUDA device')
  if [ $status -ne 0 ]; then
    fail "$name: exit $status, $passed tests passed; $log"
    grep '^\[  FAILED' "$log" | sort -u | head -n 8
  elif [ "$skipped" -ne 0 ]; then
    fail "$name: $skipped tests found no device; $log"
  else
    say passed "$name: $passed tests"
  fi
}

# sanitize TOOL RANKS PROGRAM: its small cases (tests named ...SmallCase). 0 ranks: without MPI.
sanitize() {
  local tool=$1 ranks=$2 program=$3 name log
  name=$(basename "$program")
  log=$out/$name.$tool.log
  if ! "$program" --gtest_list_tests --gtest_filter='*SmallCase*' 2>/dev/null | grep -q '^  '; then
    say skipped "$tool: $name has no small case"
    return
  fi
  if launch "$ranks" compute-sanitizer --tool "$tool" --error-exitcode 99 "$program" --gtest_filter='*SmallCase*' >"$log" 2>&1; then
    say passed "$tool: $name"
  elif grep -q -i 'device not supported' "$log"; then
    say skipped "$tool: $name: the tool does not support this device"
  else
    fail "$tool: $name; $log"
  fi
}

# bench NAME RANKS PROGRAM [ARG...]: prints a table and writes JSON.
bench() {
  local name=$1 ranks=$2 program
  program=$(find_program "$3")
  if [ -z "$program" ]; then
    say skipped "$name: $3 is not built"
  elif launch "$ranks" "$program" "${@:4}" --json "$out/$name.json" >"$out/$name.log" 2>&1; then
    cat "$out/$name.log"
    say passed "$name: $out/$name.json"
  else
    tail -n 5 "$out/$name.log"
    fail "$name; $out/$name.log"
  fi
}

device_bench=$(find_program device_bench)
if [ -z "$device_bench" ]; then
  echo "cuda_check: no device_bench in $programs: build with nvcc in reach, -DRINGWEAVE_BENCH=ON -DRINGWEAVE_TESTS=ON" >&2
  exit 4
fi
about=$("$device_bench" --about)
status=$?
say device "$about"
if [ $status -ne 0 ]; then
  echo "cuda_check: nothing was checked, it needs a GPU" >&2
  exit 4
fi

for program in $("$here/device_tests.sh" "$programs"); do
  alone=0
  if needs_mpi "$program"; then
    alone=1
    for ranks in ${CUDA_CHECK_RANKS:-1 2 4 8}; do run_tests "$ranks" "$program"; done
  else
    run_tests 0 "$program"
  fi
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck; do sanitize "$tool" "$alone" "$program"; done
  fi
done
command -v compute-sanitizer >/dev/null || say skipped "memcheck, racecheck, synccheck: no compute-sanitizer in PATH"

read -r -a bench_options <<<"${CUDA_CHECK_BENCH:---host-repeats 3}"
bench device_bench 0 device_bench "${bench_options[@]}"
# Which kind of sums should be the usual one.
while read -r line; do say sums "${line#sums: }"; done < <(grep '^sums: ' "$out/device_bench.log" 2>/dev/null)

echo
cat "$summary"
[ $failures -eq 0 ] && echo "cuda-check: all passed" || echo "cuda-check: $failures failed"
[ $failures -eq 0 ]
