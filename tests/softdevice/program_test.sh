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
# Fields in the plane, where Python can write HDF5: Debian's has the packages of scripts/install_dependencies.sh.
python=/usr/bin/python3
[[ -x $python ]] || python=python3
if "$python" -c 'import h5py, numpy' 2>/dev/null; then
  "$python" - <<'EOF'
import h5py, numpy
fields = numpy.random.default_rng(1).uniform(-1, 1, (3, 12, 14))
for name, nodes in (("equispaced", lambda n: numpy.linspace(-1, 1, n)),
                    ("chebyshev", lambda n: -numpy.cos(numpy.pi * numpy.arange(n) / (n - 1)))):
    with h5py.File(f"{name}.h5", "w") as file:
        file["phi"] = fields
        for axis, n in (("y", 12), ("x", 14)):
            file[axis] = nodes(n)
            file[axis].make_scale(axis)
        file["phi"].dims[1].attach_scale(file["y"])
        file["phi"].dims[2].attach_scale(file["x"])
EOF
fi
awk 'BEGIN { print "# l TT EE BB TE"; for (l = 0; l <= 48; ++l) print l, 1, 1, 1, 0.5 }' >cl.txt
awk 'BEGIN { for (l = 0; l <= 32; ++l) print l, (l == 0 ? 0 : 0.02 / (l * (l + 1))) }' >small.txt
awk 'BEGIN { for (i = 0; i < 60; ++i) print i * 0.0532, i * 2.4 % 6.28 }' >points.txt
for ranks in 1 2 3; do
  for backend in host cuda; do
    "$mpirun" $ranks "$program" synthesize --cl cl.txt --cl-kind cl --seed 1 --nside 16 --lmax 32 --fields TQU \
      --save-alm alm_$backend.h5 --backend $backend --overwrite sky_$backend.h5
    "$mpirun" $ranks "$program" smooth sky_host.h5 smooth_$backend.h5 --fwhm 10deg --lmax 32 --iter 1 \
      --method harmonic --backend $backend --overwrite
    "$mpirun" $ranks "$program" smooth sky_host.h5 rings_$backend.h5 --fields T --fwhm 10deg --error 1e-12 --method ring \
      --backend $backend --overwrite
    "$mpirun" $ranks "$program" interpolate --alm alm_host.h5 --lmax 16 --points points.txt values_$backend.h5 \
      --backend $backend --overwrite
    "$mpirun" $ranks "$program" interpolate --adjoint values_$backend.h5 --lmax 16 --points points.txt \
      back_$backend.h5 --backend $backend --overwrite
    [[ -e phi.h5 ]] || "$program" alm alm_host.h5 phi.h5 --take T --multiply small.txt
    "$mpirun" $ranks "$program" lens --alm alm_host.h5 --potential phi.h5 --lmax 16 --nside 8 lensed_$backend.h5 \
      --backend $backend --overwrite
    "$mpirun" $ranks "$program" lens --adjoint lensed_host.h5 --potential phi.h5 --lmax 16 unlensed_$backend.h5 \
      --backend $backend --overwrite
    # Analysed and moved back.
    [[ $ranks == 2 ]] || continue
    "$mpirun" $ranks "$program" lens --inverse lensed_host.h5 --potential phi.h5 --lmax 16 --iter 0 \
      delensed_$backend.h5 --backend $backend --overwrite
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
  for what in sky smooth rings back lensed unlensed; do
    "$program" compare ${what}_host.h5 ${what}_cuda.h5 --tolerance 1e-12
  done
done
"$program" compare delensed_host.h5 delensed_cuda.h5 --tolerance 1e-12
for method in bilinear bicubic dct chebyshev; do
  field=equispaced.h5
  [[ $method == chebyshev ]] && field=chebyshev.h5
  [[ -e $field ]] || continue
  averages=(gyroaverage "$field" --rho "0.2,0.7" --method "$method" --overwrite)
  "$program" "${averages[@]}" --backend host gyro_host.h5
  "$mpirun" 2 "$program" "${averages[@]}" --backend cuda gyro_cuda.h5
  "$program" compare gyro_host.h5 gyro_cuda.h5 --tolerance 1e-12
done
