#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs scripts/cuda_check.sh on the software device: small cases of test programs, and the program's commands on 1, 2
# and 3 ranks.
#   cuda_check_test.sh NAME_on_softdevice...      ringweave, device_bench and test programs
set -euo pipefail
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/programs"
for program in "$@"; do
  cp "$program" "$work/programs/$(basename "${program%_on_softdevice}")"
done
cd "$work"
export CUDA_CHECK_TESTS='*SmallCase*' CUDA_CHECK_NSIDE=16 CUDA_CHECK_TOLERANCE=1e-12
check() {
  CUDA_CHECK_STEPS=$1 CUDA_CHECK_RANKS=$2 "$scripts/cuda_check.sh" programs out || {
    tail -n 20 out/*.log
    exit 1
  }
}
check "tests program" "1 2 3"
check calibration 1
# MPI reads and writes the memory of the device itself.
awk 'BEGIN { print "# l TT EE BB TE"; for (l = 0; l <= 32; ++l) print l, 1, 1, 1, 0.5 }' >cl.txt
for backend in host cuda; do
  SOFTDEVICE_MPI=1 RINGWEAVE_DEVICE_MPI=1 "$scripts/mpirun.sh" 2 programs/ringweave synthesize --cl cl.txt --cl-kind cl \
    --seed 1 --nside 16 --lmax 32 --fields TQU --backend $backend $backend.h5
done
programs/ringweave compare host.h5 cuda.h5 --tolerance 1e-12
# A device that Q and U do not fit.
smooth() {
  SOFTDEVICE_MEMORY=65536 "$scripts/mpirun.sh" 2 programs/ringweave smooth host.h5 "rings_$1.h5" --fields QU \
    --fwhm 10deg --method ring --backend "$1" 2>&1
}
smooth host
smooth auto | grep "computing on the host, because the device cannot be used: .* more than it may use"
programs/ringweave compare rings_host.h5 rings_auto.h5
# What costs of a device predict.
programs/ringweave smooth host.h5 chosen.h5 --fields QU --fwhm 10deg --method ring --backend auto \
  --machine h100_cluster --verbose | grep "backend: .* it is predicted to take .* s on a device, .* s on the host"
programs/ringweave smooth host.h5 chosen.h5 --fields T --fwhm 16deg --method split --error 1e-4 --input-cl cl.txt \
  --cl-kind cl --backend auto --machine h100_cluster --dry-run --verbose --overwrite |
  grep "backend: .* it is predicted to take .*harmonic=.*,rings="
code=0
smooth cuda || code=$?
[[ $code == 4 ]]
