# SPDX-License-Identifier: GPL-3.0-or-later
"""A band-limited field with known a_lm, evaluated by scipy at any points, and positions of a map file's pixels."""
import numpy as np
from scipy.special import sph_harm

LMAX = 8


class Harmonics:
    """Values of a random field at longitudes and latitudes in radians; `alm` m-major, as the program stores them."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.lm = [(l, m) for m in range(LMAX + 1) for l in range(m, LMAX + 1)]
        self.alm = np.array([complex(random.normal(), random.normal() if m else 0) for _, m in self.lm])
        self.scale = np.sqrt(np.sum(np.abs(self.alm) ** 2))

    def __call__(self, lon, lat):
        return sum((2 if m else 1) * (a * sph_harm(m, l, lon, np.pi / 2 - lat)).real
                   for a, (l, m) in zip(self.alm, self.lm))


def h5_positions(file):
    """Returns longitudes and latitudes in radians of the pixels of an open file's /map."""
    grid = {name: np.array(values) for name, values in file["grid"].items()}
    lon = [phi0 + 2 * np.pi * np.arange(n) / n for phi0, n in zip(grid["phi0"], grid["nphi"])]
    return np.concatenate(lon), np.repeat(np.pi / 2 - grid["theta"], grid["nphi"])
