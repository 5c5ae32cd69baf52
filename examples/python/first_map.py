#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a sky from spectra, smooths it, measures its spectra and writes it: first_map.py [NSIDE [FOLDER]]

Runs alone or under mpirun, with the same result: mpirun -n 2 python first_map.py
"""
import sys
from pathlib import Path

import numpy as np

try:
    from mpi4py import MPI  # noqa: F401  Ringweave then works on MPI.COMM_WORLD.
except ImportError:
    pass
import ringweave as rw

SPECTRA = Path(__file__).resolve().parents[1] / "lcdm_cl.txt"


def main(nside=128, folder="."):
    grid = rw.Grid.healpix(nside)
    lmax = 2 * nside
    with rw.Transform(grid, lmax, spins=(0, 2)) as t:
        theory = rw.read_cl(SPECTRA)
        alm = rw.draw_alm(theory, seed=2026, layout=t.alm_layout, ncomp=3)
        sky = t.synthesis(alm)
        rw.smooth(sky, layout=t.map_layout, fwhm="1deg", lmax=lmax, out=sky)
        smooth_alm, report = t.analysis(sky)
        measured = rw.alm2cl(smooth_alm, layout=t.alm_layout)
        beam = rw.gauss_beam("1deg", lmax)
        path = Path(folder) / "first_map.fits"
        rw.write_map(path, sky, layout=t.map_layout, units="uK", overwrite=True)
        degrees = slice(10, 60)  # l
        ratio = np.mean((measured["TT"] / beam ** 2)[degrees] / theory["TT"][degrees])
        if t.comm.rank == 0:
            print(f"{path}: {grid.npix} pixels, last residual {report.residuals[-1]:.1e}")
            print(f"C_l of the map over beam and theory, l = 10 to 59: {ratio:.2f}")


if __name__ == "__main__":
    main(*(int(argument) if i == 0 else argument for i, argument in enumerate(sys.argv[1:])))
