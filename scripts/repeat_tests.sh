#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Looks for tests that fail now and then: runs the tests of ranks N times in a row with shared memory between the ranks,
# then N times with TCP (Open MPI's btl self,tcp; MPICH without its local transport). Prints a line for each run and, at
# the end, how often each test failed. Logs stay in build/PRESET/repeat. The preset must be built.
#   scripts/repeat_tests.sh N [PRESET [CTEST OPTION...]]
#   scripts/repeat_tests.sh 20                                before a release
#   scripts/repeat_tests.sh 50 release -R distribute_ranks    some tests
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-}
preset=${2:-release}
case $runs in
  '' | *[!0-9]*) echo "usage: scripts/repeat_tests.sh N [PRESET [CTEST OPTION...]]" >&2; exit 2 ;;
esac
options=("${@:3}")
[ ${#options[@]} -eq 0 ] && options=(-L '^mpi$' -LE full)
build=build/$preset
[ -f "$build/CTestTestfile.cmake" ] || { echo "repeat_tests.sh: $preset is not built: scripts/test.sh $preset" >&2; exit 2; }
logs=$build/repeat
rm -rf "$logs"
mkdir -p "$logs"

# once TRANSPORT RUN [VARIABLE=VALUE...]: one run of the tests; prints its line and keeps the names of what failed.
once() {
  local log=$logs/$1.$2.log begin=$SECONDS tests failed result=0
  env "${@:3}" ctest --preset "$preset" -j "$(($(nproc) + 1))" "${options[@]}" >"$log" 2>&1 || result=$?
  tests=$(grep -cE '^ *[0-9]+/[0-9]+ Test +#' "$log" || true)
  # "12/34 Test  #5: name ....***Failed", also Timeout, Exception, Not Run; skipped and disabled tests have no "***F".
  sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Timeout|Exception|Not Run).*/$1 \1/p" "$log" \
    >"$log.failed"
  failed=$(wc -l <"$log.failed")
  # Without a name: ctest itself.
  if [ "$result" -ne 0 ] && [ "$failed" -eq 0 ]; then
    echo "$1 ctest_exit_code_$result" >"$log.failed"
    failed=1
  fi
  printf '%-14s %4d %6d %7d %8d\n' "$1" "$2" "$tests" "$failed" $((SECONDS - begin))
}

printf '%-14s %4s %6s %7s %8s\n' transport run tests failed seconds
for run in $(seq "$runs"); do once shared_memory "$run"; done
for run in $(seq "$runs"); do once tcp "$run" OMPI_MCA_btl=self,tcp MPIR_CVAR_NOLOCAL=1; done

echo
if [ -z "$(cat "$logs"/*.failed)" ]; then
  echo "no test failed in $runs runs with each transport"
else
  printf '%-14s %-40s %s\n' transport test "failed of $runs runs"
  sort "$logs"/*.failed | uniq -c | sort -rn | while read -r count transport test; do
    printf '%-14s %-40s %d\n' "$transport" "$test" "$count"
  done
  exit 1
fi
