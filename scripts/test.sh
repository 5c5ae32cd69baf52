#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the release and runs every test; then the same under AddressSanitizer + UndefinedBehaviorSanitizer, and the
# threaded stages under ThreadSanitizer.
#   scripts/test.sh [release|asan|tsan ...]      default: all three
# RINGWEAVE_CHECK_ODR=ON in the environment: compiles the release for the test of types of one name too.
set -euo pipefail
cd "$(dirname "$0")/.."

# run PRESET TARGET [CTEST OPTION...]
run() {
  local preset=$1 target=$2 check_odr=OFF
  shift 2
  [ "$preset" = release ] && check_odr=${RINGWEAVE_CHECK_ODR:-OFF}
  cmake --preset "$preset" -DRINGWEAVE_CHECK_ODR="$check_odr"
  cmake --build --preset "$preset" --target "$target"
  # One more than processors: tests that launch programs wait for them.
  ctest --preset "$preset" -j "$(($(nproc) + 1))" "$@"
}

for preset in "${@:-release asan tsan}"; do
  for name in $preset; do
    case $name in
      release) run release all ;;
      # Sanitized code is several times slower: tests that repeat results at large sizes or measure memory run in the
      # release only. LeakSanitizer 14 mistakes thread-local memory 16 bytes into a page for that of an old glibc and
      # crashes; a wider redzone moves it.
      asan)
        LSAN_OPTIONS=suppressions=$PWD/scripts/lsan.supp:print_suppressions=0 \
          ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0:redzone=64:malloc_fill_byte=254:max_malloc_fill_size=1073741824 \
          run asan all -LE full
        ;;
      tsan) TSAN_OPTIONS="ignore_noninstrumented_modules=1" run tsan threads_test -L threads ;;
      *) echo "unknown preset $name; expected release, asan or tsan" >&2; exit 2 ;;
    esac
  done
done
