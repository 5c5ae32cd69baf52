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
smooth auto | grep "computing on the host, because the device cannot be used: .* more than one has for its ranks"
programs/ringweave compare rings_host.h5 rings_auto.h5
# What costs of a device predict.
programs/ringweave smooth host.h5 chosen.h5 --fields QU --fwhm 10deg --method ring --backend auto \
  --machine h100_cluster --verbose | grep "backend: .* it is predicted to take .* s on a device, .* s on the host"
split=(--fields T --fwhm 16deg --method split --error 1e-4 --input-cl cl.txt --cl-kind cl --overwrite)
programs/ringweave smooth host.h5 chosen.h5 "${split[@]}" --machine h100_cluster --verbose |
  grep "backend: .* it is predicted to take .*harmonic=.*,rings="
programs/ringweave smooth host.h5 whole.h5 --fields T --fwhm 16deg --iter 0 --method harmonic --backend host
programs/ringweave compare whole.h5 chosen.h5 --tolerance 2e-4
# The rings of a split that do not fit are left out.
SOFTDEVICE_MEMORY=65536 programs/ringweave smooth host.h5 chosen.h5 "${split[@]}" --machine h100_cluster --dry-run \
  --verbose | grep "backend: .*rings=cuda is left out: .* more than one has for its ranks"
awk 'BEGIN { for (i = 0; i < 400; ++i) print i * 3.1415 / 400, i * 2.4 % 6.28 }' >points.txt
programs/ringweave analyze host.h5 --fields T --lmax 32 --alm alm.h5
points=(interpolate --alm alm.h5 --points points.txt values.h5 --machine h100_cluster --verbose --overwrite)
programs/ringweave "${points[@]}" |
  grep "backend: cuda, because it is predicted to take .* s on a device, .* s on the host"
SOFTDEVICE_MEMORY=65536 programs/ringweave "${points[@]}" 2>&1 | grep "computing on the host, because the device cannot"
# Devices that are too small are refused, and rings and pixels are planned before.
refused() {
  local code=0
  SOFTDEVICE_MEMORY=65536 "$scripts/mpirun.sh" 2 programs/ringweave "$@" >refused.txt 2>&1 || code=$?
  [[ $code == 4 ]]
}
refused smooth host.h5 rings.h5 --fields QU --fwhm 10deg --method ring --backend cuda --dry-run
grep "device: maps and halos" refused.txt
refused lens --alm alm.h5 --potential alm.h5 --nside 16 lensed.h5 --backend cuda --dry-run
grep "device: fine rows and modes" refused.txt
refused interpolate --alm alm.h5 --points points.txt values.h5 --backend cuda --dry-run --overwrite
code=0
smooth cuda || code=$?
[[ $code == 4 ]]
