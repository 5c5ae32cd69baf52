#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every instruction that occurs in our kernels is run by a test of the software device itself.
#   opcodes_test.sh PROGRAM_WITH_OUR_KERNELS TESTS_OF_THE_DEVICE
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOFTDEVICE_OPCODES=$work/ours "$1" --gtest_list_tests >/dev/null
SOFTDEVICE_OPCODES=$work/tested "$2" >/dev/null
[[ -s $work/ours && -s $work/tested ]] || { echo "no instructions were written"; exit 1; }
LC_ALL=C comm -23 <(LC_ALL=C sort "$work/ours") <(LC_ALL=C sort "$work/tested") >"$work/missing"
echo "$(wc -l <"$work/ours") instructions in our kernels, $(wc -l <"$work/missing") without a test:"
cat "$work/missing"
[[ ! -s $work/missing ]]
