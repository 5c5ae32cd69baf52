#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Point sources through a narrow beam, by spherical harmonics and by rings, after Fig. 6 of Elsner & Wandelt (2011).

  examples/point_sources.py [--nside 2048] [--picture point_sources.png]

Eight pixels of value 1, four of them in the northern polar cap, are smoothed with a Gaussian of 4.7 arcmin (at another
nside: as wide in pixels). The beam has power beyond lmax, so the harmonic method rings all over the sky; the ring
convolution is zero beyond the beam's support. RINGWEAVE names the program (default: ringweave). Needs numpy, healpy
and, for the picture, matplotlib.
"""
import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import healpy
import numpy as np

LATITUDES = (86, 74, 62, 50, 36, 24, 12, 0)
PATCH = 4  # degrees on a side at nside 2048
PICTURE_ELEMENTS = 150  # of a patch's side
FACTORS_OF_TEN = 8
SUPPORT = 3  # widths at half maximum; there the beam has fallen to 1.5e-11
METHODS = {"harmonic": "spherical harmonics", "ring": "rings"}


def ringweave(*words):
    print("$ ringweave", *words, flush=True)
    subprocess.run([os.environ.get("RINGWEAVE", "ringweave"), *map(str, words)], check=True)


def smoothed(nside, fwhm, sources, folder):
    """Returns {method: map} of the smoothed point sources."""
    points = np.zeros(healpy.nside2npix(nside))
    points[sources] = 1
    healpy.write_map(folder / "points.fits", points, dtype=np.float64)
    how = {"harmonic": ("--iter", 0, "--lmax", 2 * nside), "ring": ("--support", f"{SUPPORT * fwhm}arcmin")}
    for method, options in how.items():
        ringweave("smooth", folder / "points.fits", folder / f"{method}.fits", "--method", method, "--fwhm",
                  f"{fwhm}arcmin", *options)
    return {method: np.abs(healpy.read_map(folder / f"{method}.fits", dtype=np.float64)) for method in METHODS}


def patch(map_, centre, nside, radius):
    """Returns a gnomonic view around a direction, north up, east left."""
    z = np.array([0.0, 0.0, 1.0])
    east = np.cross(z, centre) / np.linalg.norm(np.cross(z, centre))
    north = np.cross(centre, east)
    half = np.tan(radius)
    across, up = np.meshgrid(np.linspace(half, -half, PICTURE_ELEMENTS), np.linspace(half, -half, PICTURE_ELEMENTS))
    directions = centre[:, None, None] + across * east[:, None, None] + up * north[:, None, None]
    return map_[healpy.vec2pix(nside, *(directions / np.linalg.norm(directions, axis=0)))]


def between(centre, near, far, nside):
    """Returns the pixels beyond one angle from a direction and within another."""
    disc = healpy.query_disc(nside, centre, far)
    return np.setdiff1d(disc, healpy.query_disc(nside, centre, near), assume_unique=True)


def draw(maps, centres, peak, nside, radius, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.colors import LogNorm
    columns = len(centres) // 2
    figure = pyplot.figure(figsize=(12, 3.5), layout="constrained")
    colours = matplotlib.colormaps["magma_r"].copy()
    colours.set_bad("white")
    halves = figure.subfigures(1, len(METHODS), width_ratios=(1, 1.17))
    for half, (method, title) in zip(halves, METHODS.items()):
        half.suptitle(title)
        axes = half.subplots(2, columns)
        for place, latitude, centre in zip(axes.flat, LATITUDES, centres):
            seen = patch(maps[method], centre, nside, radius) / peak
            image = place.imshow(np.ma.masked_equal(seen, 0), norm=LogNorm(10.0 ** -FACTORS_OF_TEN, 1), cmap=colours,
                                 interpolation="nearest")
            place.set_title(f"{latitude}°", fontsize=8)
            place.set_xticks([])
            place.set_yticks([])
    halves[-1].colorbar(image, ax=axes, shrink=0.9, label="|value| / peak (white: 0)")
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--picture", help="draw here")
    options = parser.parse_args()
    nside = options.nside
    fwhm = 4.7 * 2048 / nside
    places = [healpy.ang2pix(nside, 45 * i, latitude, lonlat=True) for i, latitude in enumerate(LATITUDES)]
    with tempfile.TemporaryDirectory() as folder:
        maps = smoothed(nside, fwhm, places, Path(folder))
    peak = maps["ring"].max()
    support = np.radians(SUPPORT * fwhm / 60)
    radius = np.radians(PATCH / 2 * 2048 / nside)
    centres = [np.array(healpy.pix2vec(nside, place)) for place in places]
    print(f"largest value beyond {np.degrees(support) * 60:.1f} arcmin, within {np.degrees(radius):.1f} degrees, over the peak")
    print("| latitude | " + " | ".join(METHODS.values()) + " |\n| --- | --- | --- |")
    for latitude, centre in zip(LATITUDES, centres):
        beyond = between(centre, 1.001 * support, radius, nside)
        print(f"| {latitude}° | " + " | ".join(f"{maps[method][beyond].max() / peak:.1e}" for method in METHODS) + " |")
    if options.picture:
        draw(maps, centres, peak, nside, radius, options.picture)


if __name__ == "__main__":
    main()
