#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the release and runs its tests, those of large sizes apart; then the tests of ranks, of the program and of the
# installed package with MPICH and without cairo; most tests with modules under AddressSanitizer and
# UndefinedBehaviorSanitizer; the threaded stages under ThreadSanitizer. Skips that tests/allowed_skips.txt does not
# allow are failures.
#   scripts/test.sh [release|large|release-mpich|asan|tsan|fuzz ...]      default: all but fuzz
set -euo pipefail
cd "$(dirname "$0")/.."

# build PRESET "TARGET..." [CMAKE OPTION...]
build() {
  local preset=$1 targets options=("${@:3}")
  read -ra targets <<<"$2"
  # As in `make build`, whose objects stay valid: a warning of a compiler that we do not know stops nobody.
  [ -z "${CI:-}" ] && options+=(-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF)
  cmake --preset "$preset" "${options[@]}"
  cmake --build --preset "$preset" --target "${targets[@]}"
  echo "after $SECONDS s: $preset is built"
}

# run PRESET [CTEST OPTION...]
run() {
  rm -f "build/$1/Testing/Temporary/LastTestsDisabled.log"
  # One more than processors: tests that launch programs wait for them.
  ctest --preset "$1" -j "$(($(nproc) + 1))" "${@:2}"
  scripts/check_skips.py "build/$1"
  echo "after $SECONDS s: tests of $1 have passed"
}

for preset in "${@:-release large release-mpich asan tsan}"; do
  for name in $preset; do
    case $name in
      release) build release all; run release -LE full ;;
      large) build release all; run release -L full ;;
      # Tests that depend on MPI or on cairo, on at most 3 ranks. Optimiser and AVX are tested above.
      release-mpich)
        rank_tests="distribute_ranks transform io_output fits_map fits_alm hdf5_map hdf5_alm hdf5_hostile file_queue"
        programs="bad_input.3 faults faults_short fault_injector sky alm program exchanges ring_smoothing many_maps"
        programs+=" house_consumer house_bill_of_materials house_one_definition"
        also_built="ringweave ringweave_pages run_commands one_rank_fails ringweave_faults injected_calls"
        build release-mpich "${rank_tests// /_test }_test $also_built" \
          "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
        run release-mpich -R "^((${rank_tests// /|})_test\.[123]|${programs// /|})\$"
        ;;
      # Sanitized code is several times slower: tests that repeat results at large sizes or measure memory run in the
      # release only. LeakSanitizer 14 mistakes thread-local memory 16 bytes into a page for that of an old glibc and
      # crashes; a wider redzone moves it.
      # The code of modules is sanitized; the tests, and what they use of headers, are those of the release.
      asan)
        build release all
        build asan all "-DRINGWEAVE_TEST_OBJECTS=$PWD/build/release/tests/objects"
        LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 \
          ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:redzone=64:malloc_fill_byte=254:max_malloc_fill_size=1073741824 \
          run asan -LE full
        ;;
      tsan)
        build tsan threads_test
        TSAN_OPTIONS="ignore_noninstrumented_modules=1" run tsan -L threads
        ;;
      fuzz) FUZZ_SECONDS=${FUZZ_SECONDS:-30} scripts/fuzz.sh ;;
      *) echo "unknown preset $name; expected release, large, release-mpich, asan, tsan or fuzz" >&2; exit 2 ;;
    esac
  done
done
