#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Lists the tests that need a GPU: those with Device in their names.
#   scripts/device_tests.sh FOLDER      the test programs under it that have such tests
#   scripts/device_tests.sh --filter    the pattern for --gtest_filter
set -u
filter='*Device*'
if [ "$1" = --filter ]; then
  echo "$filter"
  exit
fi
failed=0
for program in $(find "$1" -type f -perm -u+x \( -name 'test_*' -o -name '*_test' \) | sort); do
  if ! list=$("$program" --gtest_list_tests --gtest_filter="$filter" 2>&1 </dev/null); then
    echo "device_tests: $program does not start: $list" >&2
    failed=1
  elif grep -q '^  ' <<<"$list"; then
    echo "$program"
  fi
done
exit $failed
