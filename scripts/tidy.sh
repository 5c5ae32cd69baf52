#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs clang-tidy with the checks of .clang-tidy on the modules that hold layouts, messages and files, and on the
# headers they include, within two to four minutes; or clang's static analyser, which takes several times as long.
#   scripts/tidy.sh [--analyzer] [FOLDER ...]      default: src/base src/sphere src/distribute src/io
# Takes compile commands from build/asan (clang's); configures it and precompiles its headers if need be.
set -euo pipefail
cd "$(dirname "$0")/.."
checks=()
[ "${1:-}" != --analyzer ] || { checks=("--checks=-*,clang-analyzer-*"); shift; }
[ $# -gt 0 ] || set -- src/base src/sphere src/distribute src/io
[ -f build/asan/compile_commands.json ] || cmake --preset asan >/dev/null

# Sources include precompiled headers.
for folder in "$@"; do
  ninja -C build/asan -t targets all | sed -n "s#^\($folder/.*cmake_pch\.hxx\.pch\): .*#\1#p"
done | xargs -r cmake --build build/asan --target >/dev/null

sources=$(for folder in "$@"; do
  sed -n 's/^ *"file": "\(.*\)".*/\1/p' build/asan/compile_commands.json |
    grep -E "^$PWD/($folder|build/asan/$folder/.*/Unity)/" || { echo "$folder has no sources in build/asan" >&2; exit 2; }
done)
xargs -P "$(nproc)" -n 4 clang-tidy -p build/asan --quiet "${checks[@]}" --warnings-as-errors='*' <<<"$sources"
