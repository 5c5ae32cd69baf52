#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every instruction that occurs in our kernels is run by a test of the software device itself.
#   opcodes_test.sh TESTS_OF_THE_DEVICE PROGRAM_WITH_OUR_KERNELS...
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOFTDEVICE_OPCODES=$work/tested "$1" >/dev/null
shift
for program in "$@"; do
  SOFTDEVICE_OPCODES=$work/of_program "$program" --gtest_list_tests >/dev/null
  cat "$work/of_program" >>"$work/all"
done
LC_ALL=C sort -u "$work/all" >"$work/ours"
[[ -s $work/ours && -s $work/tested ]] || { echo "no instructions were written"; exit 1; }
LC_ALL=C comm -23 "$work/ours" <(LC_ALL=C sort "$work/tested") >"$work/missing"
echo "$(wc -l <"$work/ours") instructions in our kernels, $(wc -l <"$work/missing") without a test:"
cat "$work/missing"
[[ ! -s $work/missing ]]
