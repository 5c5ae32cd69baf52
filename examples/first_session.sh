#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A first session with ringweave: make a sky, smooth it, measure its spectrum, draw both. Writes into the current folder,
# which must not hold these files yet (or give the commands --overwrite).
#   examples/first_session.sh [NSIDE]      RINGWEAVE: the program, default `ringweave`; put a launcher before it with
#                                          LAUNCH, for example LAUNCH="mpirun -n 4"
set -euo pipefail

nside=${1:-128}
spectrum=$(cd "$(dirname "$0")" && pwd)/lcdm_cl.txt
read -ra launch <<<"${LAUNCH:-}"
ringweave() {
  echo "\$ ringweave $*"
  "${launch[@]}" "${RINGWEAVE:-ringweave}" "$@"
}

# A sky from a spectrum: T, Q and U. The same seed gives the same sky on any number of ranks.
ringweave synthesize --cl "$spectrum" --seed 7 --nside "$nside" --unit uK sky.fits
ringweave info sky.fits

# Smooth it with a Gaussian beam of 2 degrees.
ringweave smooth sky.fits smooth.fits --fwhm 2deg

# Its spectrum, and the expectation: the input spectrum seen through the same beam.
ringweave analyze smooth.fits --lmax $((2 * nside)) --cl cl.txt
ringweave convert "$spectrum" expected_cl.txt --fwhm 2deg

# Pictures. Q is column 1; its name works too.
ringweave plot sky.fits sky.png --title "Sky"
ringweave plot smooth.fits smooth.png --title "Smoothed to 2 degrees"
ringweave plot smooth.fits smooth_q.png --field Q
ringweave plot cl.txt cl.png --theory expected_cl.txt

# The same map as HDF5, for parallel reading, and a check that nothing was lost.
ringweave convert smooth.fits smooth.h5
ringweave compare smooth.fits smooth.h5
