#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find point sources in CMB and noise with a Mexican hat of the second kind, after Gonzalez-Nuevo et al. (2006).

  examples/mexican_hat.py [--nside 1024] [--picture mexican_hat.png]

Makes a sky as seen by an instrument with a beam of 10 arcmin and white noise of 60 uK arcmin, filters it with the
wavelet K_l = (l(l+1))^2 exp(-l(l+1) R^2 / 2) by `ringweave smooth --method ring --beam`, and lists the peaks above five
sigma. The wavelet extends over half a degree, the matched filter b_l / (C_l b_l^2 + N_l), which contains the acoustic
peaks, over degrees; their noise is compared. RINGWEAVE names the program (default: ringweave). Needs numpy, healpy
and, for the picture, matplotlib.
"""
import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import healpy
import numpy as np

FWHM_ARCMIN = 10
NOISE_UK_ARCMIN = 60
SOURCES = 2000
BRIGHTNESS_UK = (50, 500)  # at a source's centre, through the beam; equally many per factor
THRESHOLD = 5  # sigma
PATCH = 10  # degrees on a side
PATCH_ELEMENTS = 160
SPECTRUM = Path(__file__).resolve().parent / "lcdm_cl.txt"


def ringweave(*words):
    print("$ ringweave", *words, flush=True)
    subprocess.run([os.environ.get("RINGWEAVE", "ringweave"), *map(str, words)], check=True)


def gaussian(degrees):
    sigma = np.radians(FWHM_ARCMIN / 60) / np.sqrt(8 * np.log(2))
    return np.exp(-0.5 * degrees * (degrees + 1) * sigma ** 2)


class Filters:
    """K_l of filters, normalised to keep the value at the centre of a source, and the noise after them."""

    def __init__(self):
        table = np.loadtxt(SPECTRUM)
        self.degrees = np.arange(int(table[-1, 0]) + 1)
        self.area = (2 * self.degrees + 1) / (4 * np.pi)
        self.beam = gaussian(self.degrees)
        spectrum = np.zeros(self.degrees.size)
        spectrum[table[:, 0].astype(int)] = table[:, 1]
        self.observed = spectrum * self.beam ** 2 + np.radians(NOISE_UK_ARCMIN / 60) ** 2

    def source_area(self):
        """Returns the flux, in steradians, of a source with unit value at its centre."""
        return 1 / np.sum(self.area * self.beam)

    def keeping_sources(self, kernel):
        return kernel * np.sum(self.area * self.beam) / np.sum(self.area * kernel * self.beam)

    def sigma(self, kernel):
        return np.sqrt(np.sum(self.area * kernel ** 2 * self.observed))

    def matched(self):
        return self.keeping_sources(np.where(self.degrees > 1, self.beam / self.observed, 0))

    def mexican_hat(self):
        """Returns the one of least noise."""
        x = self.degrees * (self.degrees + 1.0)
        radii = np.radians(FWHM_ARCMIN / 60) * np.linspace(0.2, 0.8, 61)
        kernels = [self.keeping_sources(x ** 2 * np.exp(-0.5 * x * radius ** 2)) for radius in radii]
        return min(kernels, key=self.sigma)


def observed_sky(nside, source_area, folder, random):
    """Returns the map, and its sources: pixels and brightness at their centres."""
    ringweave("synthesize", "--cl", SPECTRUM, "--seed", 3, "--nside", nside, "--fields", "T", "--fwhm",
              f"{FWHM_ARCMIN}arcmin", folder / "cmb.fits")
    n_pixels = healpy.nside2npix(nside)
    places = random.choice(n_pixels, SOURCES, replace=False)
    brightness = np.exp(random.uniform(*np.log(BRIGHTNESS_UK), SOURCES))
    points = np.zeros(n_pixels)
    points[places] = brightness * source_area * n_pixels / (4 * np.pi)
    healpy.write_map(folder / "points.fits", points, dtype=np.float64)
    ringweave("smooth", folder / "points.fits", folder / "sources.fits", "--method", "ring", "--fwhm",
              f"{FWHM_ARCMIN}arcmin")
    noise = random.normal(0, NOISE_UK_ARCMIN / 60 / np.degrees(np.sqrt(4 * np.pi / n_pixels)), n_pixels)
    parts = [healpy.read_map(folder / f"{name}.fits", dtype=np.float64) for name in ("cmb", "sources")]
    return sum(parts) + noise, places, brightness


def peaks(map_, threshold):
    """Returns the pixels above a threshold and all their neighbours."""
    nside = healpy.npix2nside(map_.size)
    bright = np.flatnonzero(map_ > threshold)
    around = healpy.get_all_neighbours(nside, bright)
    return bright[np.all((map_[bright] >= map_[around]) | (around < 0), axis=0)]


def nearest(found, places, nside):
    """Returns for every position the nearest found pixel, and its distance in radians."""
    distance = np.arccos(np.clip(np.array(healpy.pix2vec(nside, places)).T @ np.array(healpy.pix2vec(nside, found)),
                                 -1, 1))
    return found[np.argmin(distance, axis=1)], np.min(distance, axis=1)


def draw(maps, places, brightness, sigma, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    nside = healpy.npix2nside(maps["observed"].size)
    centre = places[np.argmax(brightness)]
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    view = healpy.projector.GnomonicProj(rot=healpy.pix2ang(nside, centre, lonlat=True), xsize=PATCH_ELEMENTS,
                                         reso=PATCH * 60 / PATCH_ELEMENTS)
    extent = (PATCH / 2, -PATCH / 2, -PATCH / 2, PATCH / 2)
    for place, (title, map_) in zip(axes, maps.items()):
        seen = view.projmap(map_, lambda x, y, z: healpy.vec2pix(nside, x, y, z))
        width = 5 * (sigma if title == "filtered" else np.std(map_))
        image = place.imshow(seen, origin="lower", extent=extent, cmap="RdBu_r", vmin=-width, vmax=width)
        place.set_title(title)
        place.set_xlabel("degrees")
        figure.colorbar(image, ax=place, shrink=0.85, label="uK")
    inside = healpy.query_disc(nside, healpy.pix2vec(nside, centre), np.radians(PATCH / np.sqrt(2)))
    for source in np.intersect1d(places[brightness > THRESHOLD * sigma], inside):
        x, y = np.degrees(view.ang2xy(*healpy.pix2ang(nside, source, lonlat=True), lonlat=True))
        if max(abs(x), abs(y)) < PATCH / 2:
            axes[1].plot(-x, y, "o", markersize=14, fillstyle="none", color="black", markeredgewidth=0.8)
    figure.savefig(path, dpi=70)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--picture", help="draw here")
    options = parser.parse_args()
    filters = Filters()
    kernel = filters.mexican_hat()
    sigma = filters.sigma(kernel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        random = np.random.default_rng(5)
        observed, places, brightness = observed_sky(options.nside, filters.source_area(), folder, random)
        healpy.write_map(folder / "observed.fits", observed, dtype=np.float64)
        np.savetxt(folder / "filter.txt", np.column_stack([np.arange(kernel.size), kernel]), fmt="%d %.17g",
                   header="l K_l")
        ringweave("smooth", folder / "observed.fits", folder / "filtered.fits", "--method", "ring", "--beam",
                  folder / "filter.txt")
        filtered = healpy.read_map(folder / "filtered.fits", dtype=np.float64)
    found = peaks(filtered, THRESHOLD * sigma)
    near = np.radians(FWHM_ARCMIN / 60 / 2)
    match, distance = nearest(found, places, options.nside)
    seen = (distance < near) & (brightness > THRESHOLD * sigma)
    real = np.count_nonzero(nearest(places, found, options.nside)[1] < near)
    quiet = np.percentile(np.abs(filtered), 68.27)
    print(f"noise: {np.std(observed):.1f} uK in the map, {quiet:.2f} uK filtered; expected {sigma:.2f} uK, "
          f"with the matched filter {filters.sigma(filters.matched()):.2f} uK")
    print(f"{found.size} peaks above {THRESHOLD} sigma, {real} of them at sources; {np.count_nonzero(seen)} of "
          f"{np.count_nonzero(brightness > THRESHOLD * sigma)} sources brighter than that are found")
    scale = filtered[match[seen]] / brightness[seen]
    print(f"brightness found / true: {np.mean(scale):.3f} +- {np.std(scale):.3f}")
    if options.picture:
        draw({"observed": observed, "filtered": filtered}, places, brightness, sigma, options.picture)


if __name__ == "__main__":
    main()
