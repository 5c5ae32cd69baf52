#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the fuzz targets of tests/fuzz and runs each for FUZZ_SECONDS (default 600), FUZZ_JOBS (default 2) at a time.
#   scripts/fuzz.sh [TARGET ...]      default: the folders of tests/fuzz/corpora
# Inputs that ended a target, and the reports of the sanitizers, lie in build/fuzz/found/TARGET; those of libhdf5, which
# are no failure, in build/fuzz/found/TARGET/libhdf5.
set -euo pipefail
cd "$(dirname "$0")/.."
export program=build/fuzz/tests/fuzz/fuzz OMP_NUM_THREADS=1
export LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0

# Prints the innermost function of libhdf5 or of this repository on the stack with which an input ended its target.
ended_in() {
  sed -nE '/^ *#[0-9]+ .*(libhdf5|ringweave::)/{s/^ *#[0-9]+ 0x[0-9a-f]+ +(in )?(.{1,150}).*/\2/p;q}' "$1"
}

# Runs a target and sorts what it found.
fuzz() {
  local target=$1 found=build/fuzz/found/$1 grown=build/fuzz/grown/$1 options input report place
  rm -rf "$found"
  mkdir -p "$found/libhdf5" "$grown" "$TMPDIR/$target"
  export FUZZ_TARGET=$target TMPDIR=$TMPDIR/$target
  options=(-timeout=60 -rss_limit_mb=2048 -max_len=20000)
  [[ $target == fits_* ]] && options+=(-dict=tests/fuzz/fits.dict)
  # A child runs the inputs; where one ends it, another goes on.
  ASAN_OPTIONS=log_path=$found/report "$program" "${options[@]}" -artifact_prefix="$found/" -fork=1 -ignore_crashes=1 \
    -ignore_ooms=1 -ignore_timeouts=1 -max_total_time="$FUZZ_SECONDS" "$grown" "tests/fuzz/corpora/$target" \
    2>&1 | grep -v --line-buffered NEW_FUNC >"$found/log" || true
  for input in "$found"/{crash,leak,oom,timeout}-*; do
    [ -f "$input" ] || continue
    "$program" "${options[@]}" "$input" >"$TMPDIR/alone" 2>&1 || true
    place=$(ended_in "$TMPDIR/alone")
    # Where it ends nothing alone, memory that libhdf5 reads beyond its own was there.
    [[ -n $place && $place != *libhdf5* ]] || mv "$input" "$found/libhdf5/"
  done
  for report in "$found"/report.*; do
    # Others are warnings of memory that there was not.
    grep -qs '^ *#0 ' "$report" || { rm -f "$report"; continue; }
    place=$(ended_in "$report")
    echo "$target: $report: ended in ${place:-a place that is not known}"
    [[ $place != *libhdf5* ]] || mv "$report" "$found/libhdf5/"
  done
  grep -E '^#[0-9]+: cov' "$found/log" | sed -n "\$s/^/$target: /p"
  ! compgen -G "$found/*[-.]*" >/dev/null
}
export -f fuzz ended_in

[ $# -gt 0 ] || set -- tests/fuzz/corpora/*
options=()
[ -n "${CI:-}" ] || options=(-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF)
cmake --preset fuzz "${options[@]}"
cmake --build --preset fuzz
export FUZZ_SECONDS=${FUZZ_SECONDS:-600} TMPDIR
TMPDIR=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$TMPDIR"' EXIT
printf '%s\n' "${@##*/}" | xargs -P "${FUZZ_JOBS:-2}" -I{} bash -euo pipefail -c 'fuzz {}'
echo "after $SECONDS s: no target was ended by an input outside libhdf5"
