#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw power spectra of a map smoothed by rings and of its error, after Fig. 5 of Elsner & Wandelt (2011).

  bench/power_spectrum_plot.py build/release/src/app/ringweave PICTURE.png [--nside 2048] [--fwhm 6]

A sky of examples/lcdm_cl.txt, lmax = 2 nside, is smoothed with a Gaussian (arcmin; no longer band-limited at 6) by rings
and by harmonics without iteration, and compared with the map synthesized from the a_lm times b_l. Spectra are of the
a_lm after three corrections. Left: the difference of the spectra; right: the spectrum of the difference. Both methods
contain the quadrature error, because the map was not made for the quadrature. Needs numpy, healpy, matplotlib.
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import healpy
import numpy as np

SPECTRUM = Path(__file__).resolve().parent.parent / "examples" / "lcdm_cl.txt"
METHODS = {"ring": ("rings", "#0072B2"), "harmonic": ("harmonics, no iteration", "#D55E00")}


def spectra(program, nside, fwhm, folder):
    """Returns degrees, the exact spectrum, and for each method its spectrum and that of its error."""
    lmax = ("--lmax", 2 * nside)
    beam = ("--fwhm", f"{fwhm}arcmin")
    sky, alm, exact = (folder / name for name in ("sky.fits", "alm.fits", "exact.fits"))

    def ringweave(*words):
        print("$ ringweave", *words, flush=True)
        subprocess.run([program, *map(str, words)], check=True)

    def spectrum_of(map_):
        text = folder / "cl.txt"
        ringweave("analyze", map_, *lmax, "--iter", 3, "--cl", text, "--overwrite")
        return np.loadtxt(text, usecols=(0, 1)).T

    ringweave("synthesize", "--cl", SPECTRUM, "--seed", 11, "--nside", nside, *lmax, "--fields", "T", "--save-alm",
              alm, sky)
    ringweave("synthesize", "--alm", alm, "--nside", nside, *beam, exact)
    expected = healpy.read_map(exact, dtype=np.float64)
    degrees, whole = spectrum_of(exact)
    found = {}
    for method in METHODS:
        smooth, error = folder / f"{method}.fits", folder / f"{method}_error.fits"
        more = ("--error", 1e-6) if method == "ring" else ("--iter", 0, *lmax)
        ringweave("smooth", sky, smooth, "--method", method, *beam, *more)
        difference = healpy.read_map(smooth, dtype=np.float64) - expected
        print(f"{method}: rms of the difference / rms {np.std(difference) / np.std(expected):.2e}", flush=True)
        healpy.write_map(error, difference, dtype=np.float64)
        found[method] = (spectrum_of(smooth)[1], spectrum_of(error)[1])
    return degrees, whole, found


def draw(degrees, whole, found, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    kept = degrees >= 2
    scale = (degrees * (degrees + 1) / (2 * np.pi))[kept]
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for panel, which, title in zip(panels, (0, 1), ("difference of the spectra", "spectrum of the difference")):
        panel.semilogy(degrees[kept], scale * whole[kept], "--", color="black", linewidth=1, label="exact convolution")
        for method, (name, colour) in METHODS.items():
            values = np.abs(found[method][0] - whole) if which == 0 else found[method][1]
            panel.semilogy(degrees[kept], scale * values[kept], color=colour, linewidth=0.5, alpha=0.8, label=name)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("l")
    panels[0].set_ylabel("l (l + 1) C_l / 2 pi, uK^2")
    panels[0].legend(fontsize=8)
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("picture")
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--fwhm", type=float, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        degrees, whole, found = spectra(options.program, options.nside, options.fwhm, Path(folder))
    for method, (smooth, error) in found.items():
        kept = degrees >= 2
        print(f"{method}: largest |C_l - exact| / exact {np.max(np.abs(smooth / whole - 1)[kept]):.1e}, "
              f"largest error C_l / exact {np.max((error / whole)[kept]):.1e}")
    draw(degrees, whole, found, options.picture)


if __name__ == "__main__":
    main()
