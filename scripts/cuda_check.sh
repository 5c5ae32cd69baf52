#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything that can only be checked on a GPU: its tests, a small case under compute-sanitizer, benches with JSON.
#   scripts/cuda_check.sh PROGRAMS [OUT]    PROGRAMS: a build folder, or bin/ of a bundle (scripts/bundle.sh)
#                                           OUT: folder for logs and JSON (default: cuda-check)
#   CUDA_CHECK_STEPS="tests program sanitizers bench"   steps to run; each may be run by itself where time is short
#   CUDA_CHECK_RANKS="1 2 4 8"   CUDA_CHECK_BENCH="--host-repeats 3"   CUDA_CHECK_TIMEOUT=900   seconds of one program
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
steps=" ${CUDA_CHECK_STEPS:-tests program sanitizers bench} "
time_limit=${CUDA_CHECK_TIMEOUT:-900}
# compute-sanitizer comes with the toolkit, which need not be in PATH.
for folder in ${CUDA_HOME:+"$CUDA_HOME/bin"} /usr/local/cuda/bin; do
  [ -d "$folder" ] && PATH=$PATH:$folder
done

takes() { case $steps in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
# say WORD WHAT...: one line of the summary.
say() { printf '%-8s %s\n' "$1" "${*:2}" | tee -a "$summary"; }
fail() {
  failures=$((failures + 1))
  say FAILED "$*"
}
# find_program NAME: prints its path.
find_program() { find "$programs" -type f -perm -u+x -name "$1" | head -n 1; }
needs_mpi() { ldd "$1" | grep -q 'libmpi\.so'; }
device_filter=$("$here/device_tests.sh" --filter)

# launch RANKS PROGRAM [ARG...]: 0 ranks: without MPI. Several ranks share the cores.
launch() {
  if [ "$1" = 0 ]; then
    timeout -k 10 "$time_limit" "${@:2}"
  else
    local cores=$(($(nproc) / $1))
    OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores > 0 ? cores : 1))} MPIRUN_TIMEOUT=$time_limit "$here/mpirun.sh" "$@"
  fi
}

# run_tests RANKS PROGRAM: its tests that need a device, which must not skip here. 0 ranks: without MPI.
run_tests() {
  local ranks=$1 program=$2 name log skipped passed
  name=$(basename "$program")
  [ "$ranks" = 0 ] || name=$name.$ranks
  log=$out/$name.log
  # Under mpirun the output is a terminal for the program, which would colour the words that are counted below.
  GTEST_COLOR=no launch "$ranks" "$program" --gtest_filter="$device_filter" >"$log" 2>&1
  local status=$?
  passed=$(grep -c '^\[       OK' "$log")
  skipped=$(grep 'Skipped$' -A1 "$log" | grep -c 'no CUDA device')
  if [ $status -ne 0 ]; then
    fail "$name: exit $status, $passed tests passed; $log"
    grep '^\[  FAILED' "$log" | sort -u | head -n 8
  elif [ "$skipped" -ne 0 ]; then
    fail "$name: $skipped tests found no device; $log"
  elif [ "$passed" -eq 0 ]; then
    fail "$name: no test ran; $log"
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
about=$("$device_bench" --about 2>"$out/about.log")
status=$?
say device "$about"
if [ $status -eq 4 ]; then
  echo "cuda_check: nothing was checked, it needs a GPU" >&2
  exit 4
elif [ $status -ne 0 ]; then
  fail "device_bench --about: exit $status; $out/about.log"
fi

if takes tests || takes sanitizers; then
  tests=$("$here/device_tests.sh" "$programs") || fail "a test program does not start; see above"
  [ -n "$tests" ] || fail "no test programs in $programs"
fi
if takes tests; then
  for program in $tests; do
    if needs_mpi "$program"; then
      for ranks in ${CUDA_CHECK_RANKS:-1 2 4 8}; do run_tests "$ranks" "$program"; done
    else
      run_tests 0 "$program"
    fi
  done
fi

# compare_backends RANKS: the program's own commands on host and device; a calibration of the device.
compare_backends() {
  local ranks=$1 log=$out/program.$1.log work
  work=$(mktemp -d)
  echo "$spectrum" >"$work/cl.txt"
  awk 'BEGIN { for (l = 0; l <= 256; ++l) print l, 1e-3 / (l + 1) }' >"$work/small.txt"
  awk 'BEGIN { for (i = 0; i < 20000; ++i) print i * 0.000157, i * 2.4 % 6.28 }' >"$work/points.txt"
  (
    cd "$work" || exit
    set -ex
    for backend in host cuda; do
      launch "$ranks" "$ringweave" synthesize --cl cl.txt --seed 1 --nside 128 --lmax 256 --fields TQU --save-alm alm_$backend.h5 --backend $backend sky_$backend.h5
      launch "$ranks" "$ringweave" smooth sky_host.h5 smooth_$backend.h5 --fwhm 2deg --iter 3 --method harmonic --backend $backend
      launch "$ranks" "$ringweave" smooth sky_host.h5 rings_$backend.h5 --fields T --fwhm 2deg --error 1e-12 --method ring --backend $backend
      launch "$ranks" "$ringweave" interpolate --alm alm_host.h5 --points points.txt --epsilon 1e-9 --backend $backend values_$backend.h5
      launch "$ranks" "$ringweave" interpolate --adjoint values_$backend.h5 --points points.txt --lmax 256 --backend $backend back_$backend.h5
      [ -e phi.h5 ] || launch 1 "$ringweave" alm alm_host.h5 phi.h5 --take T --multiply small.txt
      launch "$ranks" "$ringweave" lens --alm alm_host.h5 --potential phi.h5 --nside 128 --epsilon 1e-9 --backend $backend lensed_$backend.h5
      launch "$ranks" "$ringweave" lens --adjoint lensed_host.h5 --potential phi.h5 --lmax 256 --backend $backend unlensed_$backend.h5
      launch "$ranks" "$ringweave" smooth sky_host.h5 split_$backend.h5 --fields T --fwhm 2deg --iter 0 --method split --error 1e-4 --input-cl cl.txt --cl-kind cl --backend $backend
    done
    for what in sky smooth rings back lensed unlensed; do launch 1 "$ringweave" compare ${what}_host.h5 ${what}_cuda.h5 --tolerance 1e-10; done
    # Each backend chooses its own split, so each is compared with the whole kernel, to --error and a margin.
    launch "$ranks" "$ringweave" smooth sky_host.h5 whole.h5 --fields T --fwhm 2deg --iter 0 --method harmonic --backend host
    for backend in host cuda; do launch 1 "$ringweave" compare whole.h5 split_$backend.h5 --tolerance 2e-4; done
    launch "$ranks" "$ringweave" synthesize --cl cl.txt --seed 1 --nside 2048 --fields T --backend cuda --dry-run sky.h5
    launch "$ranks" "$ringweave" calibrate --nside 512 --repeats 3 --backend cuda --out machine.json
    cp machine.json "$out/machine.$ranks.json"
  ) >"$log" 2>&1
  local status=$?
  rm -rf "$work"
  if [ $status -eq 0 ]; then say passed "ringweave on $ranks rank(s)"; else fail "ringweave on $ranks rank(s): exit $status; $log"; fi
}
if takes program; then
  ringweave=$(find_program ringweave)
  spectrum=$(awk 'BEGIN { for (l = 0; l <= 6144; ++l) { t = l < 2 ? 0 : 1 / (l * (l + 1)); print l, t, t / 10, 0, 0 } }')
  for ranks in 1 2; do compare_backends "$ranks"; done
fi

if takes sanitizers; then
  if command -v compute-sanitizer >/dev/null; then
    for program in $tests; do
      alone=0
      needs_mpi "$program" && alone=1
      for tool in memcheck racecheck synccheck; do sanitize "$tool" "$alone" "$program"; done
    done
  else
    # A driver and the CUDA runtime come without it.
    say skipped "memcheck, racecheck, synccheck: no compute-sanitizer in PATH, \$CUDA_HOME/bin or /usr/local/cuda/bin"
  fi
fi

if takes bench; then
  read -r -a bench_options <<<"${CUDA_CHECK_BENCH:---host-repeats 3}"
  bench device_bench 0 device_bench "${bench_options[@]}"
  # Which kind of sums should be the default.
  while read -r line; do say sums "${line#sums: }"; done < <(grep '^sums: ' "$out/device_bench.log" 2>/dev/null)
fi

echo
cat "$summary"
[ $failures -eq 0 ] && echo "cuda-check: all passed" || echo "cuda-check: $failures failed"
[ $failures -eq 0 ]
