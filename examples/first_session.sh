#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A first session with ringweave, that of README.md and a little more: make a sky, smooth it, measure its spectra, draw
# them. Writes into the current folder, which must not hold these files yet (or give the commands --overwrite).
#   examples/first_session.sh [NSIDE]      RINGWEAVE: the program, default `ringweave`; put a launcher before it with
#                                          LAUNCH, for example LAUNCH="mpirun -n 2"
set -euo pipefail

nside=${1:-512}
spectrum=$(cd "$(dirname "$0")" && pwd)/lcdm_cl.txt
read -ra launch <<<"${LAUNCH:-}"
ringweave() {
  echo "\$ ringweave $*"
  "${launch[@]}" "${RINGWEAVE:-ringweave}" "$@"
}

# A sky from a spectrum: T, Q and U. The same seed gives the same sky on any number of ranks.
ringweave synthesize --cl "$spectrum" --seed 2026 --nside "$nside" --unit uK sky.h5

# Smooth it with a Gaussian beam of 30 arcmin.
ringweave smooth sky.h5 smooth.h5 --fwhm 30arcmin
ringweave info smooth.h5

# Its spectra, and the expectation: the input spectra seen through the same beam.
ringweave analyze smooth.h5 --lmax $((2 * nside)) --cl cl.txt
ringweave convert "$spectrum" expected_cl.txt --fwhm 30arcmin

# Pictures.
ringweave plot smooth.h5 smooth.png --colours sky --width 900 --title "CMB temperature, smoothed to 30 arcmin"
ringweave plot smooth.h5 smooth_q.png --field Q --title "Stokes Q, smoothed to 30 arcmin"
ringweave plot cl.txt cl.png --theory expected_cl.txt --width 1000 \
  --title "Spectra of the smoothed sky, and what is expected"

# The same map as FITS, for other programs, and a check that nothing was lost.
ringweave convert smooth.h5 smooth.fits
ringweave compare smooth.fits smooth.h5
