#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks with -Wodr that no two sources of the modules define different types of one name. Takes only the first step of a
# link with -flto, on the representation that RINGWEAVE_CHECK_ODR=ON adds to the objects (g++).
#   check_one_definition.sh COMPILER BUILD_FOLDER
set -euo pipefail
lto=$("$1" -print-prog-name=lto1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

check() {
  "$lto" -quiet -fwpa -fltrans-output-list=list -flto-partition=one -Werror=odr -o part "$@"
}

# An object without the representation (device code's) ends the reading without a word.
find "$2/src" "$2/perf_models" -name '*.cpp.o' -exec grep -lF .gnu.lto_ {} + >objects
check @objects

# Two sources that must not pass, after all the others.
for type in int double; do
  echo "namespace ringweave { struct Twice { $type a; }; $type of(Twice& t) { return t.a; } }" >$type.cpp
  "$1" -O1 -flto -c $type.cpp
done
if check @objects int.o double.o 2>/dev/null; then
  echo "two types of one name were not found" >&2
  exit 1
fi
