#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks with -Wodr that no two sources of the rooms define different types of one name. Takes only the first step of a
# link with -flto, on the representation that RINGWEAVE_CHECK_ODR=ON adds to the objects (g++).
#   check_one_definition.sh COMPILER BUILD_FOLDER
set -euo pipefail
lto=$("$1" -print-prog-name=lto1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
find "$2/src" "$2/perf_models" -name '*.cpp.o' >objects
[ -s objects ] || { echo "no objects in $2" >&2; exit 1; }
"$lto" -quiet -fwpa -fltrans-output-list=list -Werror=odr -o part @objects
