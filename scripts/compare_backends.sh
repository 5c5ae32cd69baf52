#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Compares what the program computes on a GPU with what it computes on the host: every command that takes --backend.
#   scripts/compare_backends.sh PROGRAM RANKS NSIDE TOLERANCE
# Values at points and averages over circles need a Python with h5py and numpy, and are left out without.
set -euo pipefail
program=$(realpath "$1")
ranks=$2
nside=$3
tolerance=$4
lmax=$((2 * nside))
fwhm=$((256 / nside))deg
mpirun=$(cd "$(dirname "$0")" && pwd)/mpirun.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
set -x

run() { "$mpirun" "$ranks" "$program" "$@" --overwrite; }
compare() { "$program" compare "$1" "$2" --tolerance "${3:-$tolerance}"; }

awk 'BEGIN { print "# l TT EE BB TE"; for (l = 0; l <= 6144; ++l) { t = l < 2 ? 0 : 1 / (l * (l + 1)); print l, t, t / 10, t / 20, t / 5 } }' >cl.txt
awk -v n=$((nside * nside)) 'BEGIN { for (i = 0; i < n; ++i) print i * 3.1415 / n, i * 2.4 % 6.28 }' >points.txt
awk 'BEGIN { for (l = 0; l <= 6144; ++l) print l, (l == 0 ? 0 : 0.02 / (l * (l + 1))) }' >small.txt
sky=(--cl cl.txt --cl-kind cl --seed 1 --nside "$nside" --lmax "$lmax" --fields TQU)
scalar=(--fields T --fwhm "$fwhm" --iter 0)
for backend in host cuda; do
  on=(--backend "$backend")
  run synthesize "${sky[@]}" --save-alm "alm_$backend.h5" "${on[@]}" "sky_$backend.h5"
  run smooth sky_host.h5 "smooth_$backend.h5" --fwhm "$fwhm" --lmax "$lmax" --iter 1 --method harmonic "${on[@]}"
  run smooth sky_host.h5 "rings_$backend.h5" --fwhm "$fwhm" --error 1e-12 --method ring "${on[@]}"
  run smooth sky_host.h5 "split_$backend.h5" "${scalar[@]}" --method split --error 1e-4 --input-cl cl.txt --cl-kind cl "${on[@]}"
  run interpolate --alm alm_host.h5 --lmax "$nside" --points points.txt --epsilon 1e-9 "values_$backend.h5" "${on[@]}"
  run interpolate --adjoint values_host.h5 --lmax "$nside" --points points.txt "back_$backend.h5" "${on[@]}"
  [[ -e phi.h5 ]] || "$program" alm alm_host.h5 phi.h5 --take T --multiply small.txt
  lens=(--potential phi.h5 --lmax "$nside" --epsilon 1e-9 "${on[@]}")
  run lens --alm alm_host.h5 --nside "$((nside / 2))" "${lens[@]}" "lensed_$backend.h5"
  run lens --adjoint lensed_host.h5 "${lens[@]}" "unlensed_$backend.h5"
  run lens --inverse lensed_host.h5 --iter 0 "${lens[@]}" "delensed_$backend.h5"
done
for what in sky smooth rings back lensed unlensed delensed; do compare "${what}_host.h5" "${what}_cuda.h5"; done

run synthesize "${sky[@]}" --backend cuda --dry-run sky_planned.h5

# Each backend chooses its own split, so each is compared with the whole kernel, to --error and a margin.
run smooth sky_host.h5 whole.h5 "${scalar[@]}" --method harmonic --backend host
for backend in host cuda; do compare whole.h5 "split_$backend.h5" 2e-4; done

split=(--fwhm "$fwhm" --iter 0 --method split --error 1e-4 --input-cl cl.txt --cl-kind cl)
run smooth sky_host.h5 whole.h5 --fwhm "$fwhm" --iter 0 --method harmonic --backend host
for stage in harmonic=cuda,rings=host harmonic=host,rings=cuda harmonic=cuda,rings=cuda; do
  run smooth sky_host.h5 split_cuda.h5 "${split[@]}" --stage "$stage"
  compare whole.h5 split_cuda.h5 2e-4
done

for stage in legendre=cuda,fft=host legendre=host,fft=cuda; do
  run smooth sky_host.h5 smooth_mixed.h5 --fwhm "$fwhm" --lmax "$lmax" --iter 1 --method harmonic --stage "$stage"
  compare smooth_host.h5 smooth_mixed.h5
done

# Values at points, and fields in the plane. Debian's Python has the packages of scripts/install_dependencies.sh.
python=/usr/bin/python3
[[ -x $python ]] || python=python3
if "$python" -c 'import h5py, numpy' 2>/dev/null; then
  "$python" - "$tolerance" <<'EOF'
import h5py, numpy, sys
with h5py.File("values_host.h5") as host, h5py.File("values_cuda.h5") as cuda:
    for field, expected, values in zip("TQU", host["values"][:], cuda["values"][:], strict=True):
        difference = abs(values - expected).max() / expected.std()
        assert difference <= float(sys.argv[1]), f"{field} at points differs by {difference} of its rms"
random = numpy.random.default_rng(1)
fields = random.uniform(-1, 1, (3, 12, 14))
radii = random.uniform(0, 0.8, (12, 14))
for name, nodes in (("equispaced", lambda n: numpy.linspace(-1, 1, n)),
                    ("chebyshev", lambda n: -numpy.cos(numpy.pi * numpy.arange(n) / (n - 1)))):
    with h5py.File(f"{name}.h5", "w") as file:
        file["phi"] = fields
        file["radius"] = radii
        for axis, n in (("y", 12), ("x", 14)):
            file[axis] = nodes(n)
            file[axis].make_scale(axis)
        file["phi"].dims[1].attach_scale(file["y"])
        file["phi"].dims[2].attach_scale(file["x"])
EOF
  # averages FILE OPTION...: on host and device.
  averages() {
    for backend in host cuda; do run gyroaverage "$1" --field phi "${@:2}" --backend "$backend" "gyro_$backend.h5"; done
    compare gyro_host.h5 gyro_cuda.h5
  }
  for method in bilinear bicubic dct; do averages equispaced.h5 --rho "0.2,0.7" --method "$method"; done
  averages chebyshev.h5 --rho "0.2,0.7"
  averages equispaced.h5 --rho-field radius --method bicubic
  averages equispaced.h5 --rho-field radius --method bilinear --adjoint
fi
