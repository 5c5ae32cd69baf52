#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# CMB lensing with ringweave: draw an unlensed sky and a lensing potential from their spectra, lens the sky, measure its
# spectra beside the theory, and move the lensed map back. Writes into the current folder, which must not hold these
# files yet (or give the commands --overwrite).
#   examples/lensing.sh [LMAX]      RINGWEAVE: the program, default `ringweave`; put a launcher before it with
#                                   LAUNCH, for example LAUNCH="mpirun -n 2"
set -euo pipefail

lmax=${1:-1000}
here=$(cd "$(dirname "$0")" && pwd)
unlensed=$here/lcdm_unlensed_cl.txt
theory=$here/lcdm_cl.txt
read -ra launch <<<"${LAUNCH:-}"
ringweave() {
  echo "\$ ringweave $*"
  "${launch[@]}" "${RINGWEAVE:-ringweave}" "$@"
}

# A lensed sky. The grid holds higher degrees than lmax, because lensing makes some.
grid=gauss:$((lmax * 3 / 2))
ringweave lens --cl "$unlensed" --seed 2026 --lmax "$lmax" --grid "$grid" lensed.h5 \
  --save-alm alm.h5 --save-potential phi.h5 --verbose
ringweave info lensed.h5

# Its spectra over the theory. The highest degrees have too little power: lensing would bring some from beyond lmax.
ringweave analyze lensed.h5 --lmax "$lmax" --cl lensed_cl.txt
ringweave plot lensed_cl.txt lensed_cl.png --theory "$theory" --width 1000 \
  --title "Spectra of the lensed sky, and what is expected"

# Moved back. With all degrees that the grid holds, little of what lensing moved beyond lmax is lost.
ringweave lens --inverse lensed.h5 delensed.h5 --potential phi.h5 --lmax $((lmax * 3 / 2))
ringweave synthesize --alm alm.h5 --grid "$grid" unlensed.h5
ringweave compare delensed.h5 unlensed.h5 --tolerance 1

# The change by lensing: lensed minus unlensed a_lm.
awk -v lmax="$lmax" 'BEGIN { print "# l f"; for (l = 0; l <= lmax; ++l) print l, -1 }' >minus.txt
ringweave alm alm.h5 minus.h5 --multiply minus.txt
ringweave analyze lensed.h5 --lmax "$lmax" --alm lensed_alm.h5
ringweave alm lensed_alm.h5 change_alm.h5 --add minus.h5
ringweave synthesize --alm change_alm.h5 --grid "$grid" change.h5

# Ten degrees of T: before, after, and the difference.
for name in unlensed lensed; do
  ringweave plot "$name.h5" "$name.png" --zoom 40deg,20deg,10deg --width 600 --range=-350:350 --colours sky \
    --title "T, $name"
done
ringweave plot change.h5 change.png --zoom 40deg,20deg,10deg --width 600 --title "T, lensed - unlensed"
