#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The demo job, on 2 ranks: a polarised CMB sky from our spectrum, smoothed to 30 arcmin, analysed, compared with the
# expectation, drawn. About a minute.
#   jobs/demo.sh PROGRAM FOLDER [NSIDE]      RANKS: default 2
set -euo pipefail

program=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
nside=${3:-512}
here=$(cd "$(dirname "$0")/.." && pwd)
spectrum=$here/examples/lcdm_cl.txt
ranks=${RANKS:-2}
lmax=$((2 * nside))
beam_lmax=600  # up to where the beam leaves signal
threads=$(($(nproc) / ranks))
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((threads > 0 ? threads : 1))}

run() {
  echo "+ ringweave $*"
  "$here/scripts/mpirun.sh" "$ranks" "$program" "$@" --overwrite
}

cd "$folder"
begin=$SECONDS
echo "Ringweave's main job on $ranks ranks: nside $nside, lmax $lmax, fields T Q U"
run synthesize --cl "$spectrum" --seed 2026 --nside "$nside" --lmax "$lmax" --unit uK sky.h5 --report synthesize.json
run smooth sky.h5 smooth.h5 --fwhm 30arcmin --lmax "$lmax" --report smooth.json
run analyze smooth.h5 --lmax "$lmax" --cl cl.txt --report analyze.json
run convert "$spectrum" expected_cl.txt --fwhm 30arcmin
run convert smooth.h5 smooth.fits

# The realisation must scatter about the expectation with cosmic variance.
run compare cl.txt expected_cl.txt --cosmic-variance --lmax $((lmax < beam_lmax ? lmax : beam_lmax))

run plot sky.h5 sky.png --field T --colours sky --title "CMB temperature"
run plot smooth.h5 smooth.png --field T --colours sky --title "CMB temperature, smoothed to 30 arcmin"
run plot smooth.h5 smooth_q.png --field Q --title "Stokes Q, smoothed to 30 arcmin"
run plot cl.txt cl.png --theory expected_cl.txt --title "Spectra of the smoothed sky, and what is expected"

cat <<END
Done in $((SECONDS - begin)) s. In $folder:
  sky.h5, smooth.h5, smooth.fits       the sky and the smoothed sky, T Q U, nside $nside
  cl.txt, expected_cl.txt              spectra of the smoothed sky, measured and expected
  sky.png smooth.png smooth_q.png cl.png   pictures
  synthesize.json smooth.json analyze.json   where the time and memory went
END
