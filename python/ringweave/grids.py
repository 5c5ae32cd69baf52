# SPDX-License-Identifier: GPL-3.0-or-later
"""Grids of rings of equal latitude."""
import functools

import numpy as np

from . import _core
from ._angles import radians
from .errors import UsageError

_KINDS = ("healpix", "gauss", "clenshaw", "fejer", "rings")


class Grid:
    """Iso-latitude grid on the sphere: rings from north to south, the same on every rank. Make one with Grid.healpix()
    and the like; equal grids compare and hash as equal, and can be pickled."""

    __slots__ = ("__dict__", "_handle", "_state")

    def __init__(self, name):
        """Makes the grid of a name: "healpix:64", "gauss:127", "clenshaw:129", "fejer:128"."""
        if isinstance(name, Grid):
            self._handle, self._state = name._handle, name._state
        else:
            self._set(_core.Grid.from_name(name))

    def _set(self, handle, state=None):
        self._handle = handle
        self._state = ("name", handle.name) if state is None else state

    @classmethod
    def _of(cls, handle, state=None):
        grid = cls.__new__(cls)
        grid._set(handle, state)
        return grid

    @classmethod
    def healpix(cls, nside):
        """Makes HEALPix's grid in RING order, for any nside from 1 to 131072."""
        return cls._of(_core.Grid.healpix(nside))

    @classmethod
    def gauss(cls, lmax, nphi=None):
        """Makes the Gauss-Legendre grid of lmax + 1 rings, on which analyses up to lmax are exact."""
        return cls._of(_core.Grid.gauss(lmax + 1, nphi or 0))

    @classmethod
    def clenshaw(cls, nrings, nphi=None):
        """Makes the equidistant grid with both poles (Clenshaw-Curtis)."""
        return cls._of(_core.Grid.clenshaw(nrings, nphi or 0))

    @classmethod
    def fejer(cls, nrings, nphi=None):
        """Makes the equidistant grid without poles (Fejer's first rule)."""
        return cls._of(_core.Grid.fejer(nrings, nphi or 0))

    @classmethod
    def rings(cls, theta, nphi, phi0, *, weight=None, ringstart=None):
        """Makes a grid of rings, with ducc0's names. weight: quadrature weight of a pixel of every ring, steradians;
        analyses need it. Pixels lie ring by ring from the north: another ringstart is refused."""
        theta = np.asarray(theta, dtype=np.float64)
        nphi = np.broadcast_to(np.asarray(nphi, dtype=np.int64), theta.shape)
        phi0 = np.broadcast_to(np.asarray(phi0, dtype=np.float64), theta.shape)
        given = np.zeros_like(theta) if weight is None else np.broadcast_to(np.asarray(weight, np.float64), theta.shape)
        if ringstart is not None:
            order = np.argsort(theta, kind="stable")
            start = np.zeros(len(theta), dtype=np.int64)
            start[order] = np.concatenate([[0], np.cumsum(nphi[order])[:-1]])
            if not np.array_equal(np.asarray(ringstart, dtype=np.int64), start):
                raise UsageError("ringstart: expected pixels ring by ring from the north, without gaps")
        handle = _core.Grid.rings(theta.tolist(), nphi.tolist(), phi0.tolist(), given.tolist())
        return cls._of(handle, ("rings", tuple(map(tuple, (theta, nphi, phi0, given)))))

    def _subset(self, kept):
        return Grid._of(self._handle.subset([int(ring) for ring in kept]), ("subset", self, tuple(map(int, kept))))

    def band(self, south, north):
        """Returns the grid of the rings between two latitudes, inclusive: grid.band("-60deg", "20deg")."""
        south, north = radians(south, "south"), radians(north, "north")
        latitude = np.pi / 2 - self.theta
        slack = 1e-12
        return self._subset(np.flatnonzero((latitude >= south - slack) & (latitude <= north + slack)))

    def where(self, mask):
        """Returns the grid of the rings on which a mask of all pixels is not 0 everywhere."""
        mask = np.asarray(mask)
        if mask.shape != (self.npix,):
            raise UsageError(f"mask: has the shape {mask.shape}; the grid has {self.npix} pixels")
        seen = np.add.reduceat(mask != 0, self.first_pixel)
        return self._subset(np.flatnonzero(seen))

    name = property(lambda self: self._handle.name, doc="Name, or a description of rings and subsets.")
    kind = property(lambda self: _KINDS[self._handle.kind], doc="healpix, gauss, clenshaw, fejer or rings.")
    nside = property(lambda self: self._handle.nside or None, doc="Parameter of HEALPix; None for others.")
    npix = property(lambda self: self._handle.n_pixels, doc="Number of pixels.")
    nrings = property(lambda self: self._handle.n_rings, doc="Number of rings.")
    is_subset = property(lambda self: self._handle.is_subset, doc="Tells whether rings were left out.")
    default_lmax = property(lambda self: self._handle.default_lmax, doc="Highest degree of a map by default.")

    @functools.cached_property
    def theta(self):
        """Colatitudes of the rings, radians."""
        return _frozen(self._handle.theta())

    @functools.cached_property
    def phi0(self):
        """Longitudes of the first pixels of the rings, radians."""
        return _frozen(self._handle.phi0())

    @functools.cached_property
    def nphi(self):
        """Numbers of pixels of the rings."""
        return _frozen(self._handle.n_phi())

    @functools.cached_property
    def weight(self):
        """Quadrature weights of a pixel of each ring, steradians; 0 where there are none."""
        return _frozen(self._handle.weight())

    @functools.cached_property
    def first_pixel(self):
        """Numbers of the first pixels of the rings; ducc0's ringstart."""
        return _frozen(self._handle.first_pixel())

    @functools.cached_property
    def source_pixel(self):
        """Numbers of the same pixels in the full grid, of which this may be a subset."""
        return _frozen(self._handle.source_pixel())

    def __eq__(self, other):
        return self._state == other._state if isinstance(other, Grid) else NotImplemented

    def __hash__(self):
        return hash(self._state)

    def __reduce__(self):
        return _restore, (self._state,)

    def __repr__(self):
        return f"<Grid {self.name}: {self.nrings} rings, {self.npix} pixels>"


def _frozen(array):
    array.flags.writeable = False
    return array


def _restore(state):
    if state[0] == "name":
        return Grid(state[1])
    if state[0] == "rings":
        theta, nphi, phi0, weight = state[1]
        return Grid.rings(theta, nphi, phi0, weight=weight)
    return state[1]._subset(state[2])


def as_grid(grid):
    """Returns a grid, also of a name or of HEALPix's nside."""
    if isinstance(grid, Grid):
        return grid
    if isinstance(grid, str):
        return Grid(grid)
    raise UsageError(f"grid: is an object of type {type(grid).__name__}; expected a Grid or its name")
