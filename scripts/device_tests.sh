# SPDX-License-Identifier: GPL-3.0-or-later
# Which tests need a GPU: those with Device in their names. Sourced by cuda_check.sh and bundle.sh.
device_filter='*Device*'

# device_tests FOLDER: the test programs under it that have some.
device_tests() {
  local program
  find "$1" -type f -perm -u+x \( -name 'test_*' -o -name '*_test' \) | sort | while read -r program; do
    if "$program" --gtest_list_tests --gtest_filter="$device_filter" 2>/dev/null </dev/null | grep -q '^  '; then
      echo "$program"
    fi
  done
}
