#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Compares what the program computes on the software device and on the host.
#   program_test.sh PROGRAM
set -euo pipefail
program=$1
mpirun=$(cd "$(dirname "$0")/../../scripts" && pwd)/mpirun.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
awk 'BEGIN { print "# l TT EE BB TE"; for (l = 0; l <= 48; ++l) print l, 1, 1, 1, 0.5 }' >cl.txt
for ranks in 1 2 3; do
  for backend in host cuda; do
    "$mpirun" $ranks "$program" synthesize --cl cl.txt --cl-kind cl --seed 1 --nside 16 --lmax 32 --fields TQU \
      --backend $backend --overwrite sky_$backend.h5
    "$mpirun" $ranks "$program" smooth sky_host.h5 smooth_$backend.h5 --fwhm 10deg --lmax 32 --iter 1 \
      --method harmonic --backend $backend --overwrite
    "$mpirun" $ranks "$program" smooth sky_host.h5 rings_$backend.h5 --fields T --fwhm 10deg --error 1e-12 --method ring \
      --backend $backend --overwrite
  done
  # MPI reads and writes the memory of the device itself.
  SOFTDEVICE_MPI=1 RINGWEAVE_DEVICE_MPI=1 "$mpirun" $ranks "$program" synthesize --cl cl.txt --cl-kind cl --seed 1 \
    --nside 16 --lmax 32 --fields TQU --backend cuda --overwrite sky_mpi.h5
  "$program" compare sky_host.h5 sky_mpi.h5 --tolerance 1e-12
  for stage in legendre=cuda,fft=host legendre=host,fft=cuda; do
    "$mpirun" $ranks "$program" smooth sky_host.h5 smooth_mixed.h5 --fwhm 10deg --lmax 32 --iter 1 --method harmonic \
      --stage $stage --overwrite
    "$program" compare smooth_host.h5 smooth_mixed.h5 --tolerance 1e-12
  done
  for what in sky smooth rings; do "$program" compare ${what}_host.h5 ${what}_cuda.h5 --tolerance 1e-12; done
done
