# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts: which pixels of a map and which a_lm a rank has, and moves between them."""
import functools
import json
import math

import numpy as np

from . import _core
from ._arrays import like, view
from ._comm import agreed, communicator
from .errors import ArrayError, UsageError
from .grids import as_grid

_NOTHING = np.zeros((0, 3), dtype=np.int64)


def _rows(array, size, name, is_output=False):
    """Returns an array as (rows, size)."""
    array = view(array) if is_output else np.asarray(view(array))
    if not isinstance(array, np.ndarray):
        raise ArrayError(f"{name}: is an object of type {type(array).__name__}; expected an array of numpy")
    if array.ndim < 1 or array.shape[-1] != size:
        raise UsageError(f"{name}: has the shape {array.shape}; expected {size} elements in the last axis")
    if is_output and not array.flags.c_contiguous and array.ndim > 2:
        raise ArrayError(f"{name}: is not contiguous; copy it")
    rows = array.reshape(math.prod(array.shape[:-1]), size)
    if size > 1 and rows.strides[-1] != rows.itemsize:
        if is_output:
            raise ArrayError(f"{name}: has a last axis that is not contiguous; copy it")
        rows = np.ascontiguousarray(rows)
    return rows


class _Layout:
    """What layouts of maps and of a_lm have in common: size, full_size and pieces (number in the whole, place in this
    rank's part, count)."""

    def _whole(self):
        return np.array([[0, 0, self.full_size]], dtype=np.int64)

    def scatter(self, full, *, root=0, out=None):
        """Returns this rank's part of an array that rank `root` has as a whole: (..., full_size). Others give None.
        Any type of elements. Collective."""
        shape = ""
        with agreed(self.comm):
            if self.comm.rank == root:
                if full is None:
                    raise UsageError("full: is None on the root")
                whole = _rows(full, self.full_size, "full")
                shape = json.dumps([whole.dtype.str, np.shape(view(full))[:-1]])
        dtype, leading = json.loads(self.comm.broadcast(shape, root))
        with agreed(self.comm):
            if out is None:
                out = np.empty((*leading, self.size), dtype)
            elif out.dtype != dtype or out.shape != (*leading, self.size):
                raise UsageError(f"out: is {out.dtype} of the shape {out.shape}; expected {np.dtype(dtype)} of "
                                 f"{(*leading, self.size)}")
            part = _rows(out, self.size, "out", is_output=True)
        is_root = self.comm.rank == root
        _core.move(self.comm, whole if is_root else None, self._whole() if is_root else _NOTHING, part, self.pieces)
        return out

    def gather(self, local, *, root=0):
        """Returns the whole array on rank `root`, None on the others. Collective."""
        return self._gathered(local, self.comm.rank == root)

    def allgather(self, local):
        """Returns the whole array on every rank. Collective."""
        return self._gathered(local, True)

    def _gathered(self, local, is_wanted):
        full = None
        with agreed(self.comm):
            part = _rows(local, self.size, "local")
            if is_wanted:
                full = np.empty((*np.shape(view(local))[:-1], self.full_size), part.dtype)
        _core.move(self.comm, part, self.pieces, full.reshape(len(part), self.full_size) if is_wanted else None,
                   self._whole() if is_wanted else _NOTHING)
        return full


class MapLayout(_Layout):
    """Pixels of a map that this rank has: rings of a grid, ring by ring from the north. Plain data; methods marked
    collective communicate."""

    def __init__(self, grid, rings=None, comm=None):
        """rings: of the library; None: all on one rank, else bands of about as many pixels."""
        self.grid = as_grid(grid)
        self.comm = communicator(comm)
        self._rings = _core.Rings(self.grid._handle, self._band()) if rings is None else rings
        self.slabs = self._rings.slabs().reshape(-1, 3)
        self.slabs.flags.writeable = False

    def _band(self):
        pixels = np.concatenate([[0], np.cumsum(self.grid.nphi)])
        ends = np.searchsorted(pixels, self.grid.npix * np.arange(self.comm.size + 1) / self.comm.size)
        return [(int(ends[self.comm.rank]), int(ends[self.comm.rank + 1]))]

    pieces = property(lambda self: self.slabs, doc="Slabs: (first pixel of the grid, place in this map, count).")
    size = property(lambda self: self._rings.n_pixels, doc="Pixels of this rank.")
    full_size = property(lambda self: self.grid.npix, doc="Pixels of the grid.")

    @functools.cached_property
    def rings(self):
        """Numbers of the rings of this rank in the grid."""
        return np.concatenate([np.arange(*band) for band in self._rings.bands()] or [np.zeros(0, dtype=np.int64)])

    def pixels(self):
        """Returns the number in the grid of every pixel of this rank."""
        return np.concatenate([np.arange(first, first + count) for first, _, count in self.slabs.tolist()] or
                              [np.zeros(0, dtype=np.int64)])

    def local(self, pixels):
        """Returns the places of pixels of the grid in this rank's map, -1 for those of other ranks."""
        pixels = np.asarray(pixels, dtype=np.int64)
        if not len(self.slabs):
            return np.full(pixels.shape, -1)
        slab = np.maximum(np.searchsorted(self.slabs[:, 0], pixels, side="right") - 1, 0)
        first, place, count = (self.slabs[slab, i] for i in range(3))
        return np.where((pixels >= first) & (pixels < first + count), pixels - first + place, -1)

    def theta_phi(self):
        """Returns colatitude and longitude of every pixel of this rank, radians."""
        nphi = self.grid.nphi[self.rings]
        within = np.arange(self.size) - np.repeat(np.cumsum(nphi) - nphi, nphi)
        phi = np.repeat(self.grid.phi0[self.rings], nphi) + 2 * np.pi * within / np.repeat(nphi, nphi)
        return np.repeat(self.grid.theta[self.rings], nphi), phi

    def is_same(self, other):
        """Tells whether another layout has the same pixels on every rank. Collective."""
        same = self.grid == other.grid and np.array_equal(self.slabs, other.slabs)
        return min(self.comm.all_gather(int(same))) == 1

    def move(self, local, other, *, out=None):
        """Returns an array of this layout in another one of the same grid. Collective."""
        with agreed(self.comm):
            if self.grid != other.grid:
                raise UsageError(f"the layouts are those of {self.grid.name} and of {other.grid.name}")
            part = _rows(local, self.size, "local")
            out = np.empty((*np.shape(view(local))[:-1], other.size), part.dtype) if out is None else out
            moved = _rows(out, other.size, "out", is_output=True)
        _core.move(self.comm, part, self.pieces, moved, other.pieces)
        return out

    def __repr__(self):
        return f"<MapLayout {self.grid.name}: {self.size} of {self.full_size} pixels>"


class AlmLayout(_Layout):
    """The a_lm that this rank has: orders m, ascending, of each l = m..lmax. With all orders this is healpy's order."""

    def __init__(self, lmax, mmax=None, orders=None, comm=None):
        """orders: None: all on one rank, else every size-th."""
        self.comm = communicator(comm)
        if isinstance(lmax, _core.AlmLayout):
            self._layout = lmax
        else:
            mmax = lmax if mmax is None else mmax
            orders = range(self.comm.rank, mmax + 1, self.comm.size) if orders is None else orders
            self._layout = _core.AlmLayout(lmax, mmax, [int(order) for order in orders])
        self.orders = self._layout.orders()
        self.orders.flags.writeable = False
        counts = self.lmax + 1 - self.orders.astype(np.int64)
        self._starts = np.cumsum(counts) - counts

    lmax = property(lambda self: self._layout.lmax, doc="Highest degree.")
    mmax = property(lambda self: self._layout.mmax, doc="Highest order of all ranks.")
    size = property(lambda self: self._layout.size, doc="Coefficients of this rank.")
    full_size = property(lambda self: (self.mmax + 1) * (2 * self.lmax + 2 - self.mmax) // 2,
                         doc="Coefficients of all ranks.")
    pieces = property(lambda self: self._pieces(self.lmax, self.lmax, self.mmax),
                      doc="(place in healpy's order, place in this rank's, count) of every order.")

    def _pieces(self, lmax, most, mmax):
        """Returns pieces in an array of degrees up to lmax, for degrees up to `most`."""
        orders = self.orders.astype(np.int64)
        kept = (orders <= mmax) & (orders <= most)
        first = orders * (2 * lmax + 1 - orders) // 2 + orders
        return np.ascontiguousarray(np.stack([first, self._starts, most + 1 - orders], axis=1)[kept])

    def lm(self):
        """Returns l and m of every coefficient of this rank."""
        counts = self.lmax + 1 - self.orders.astype(np.int64)
        m = np.repeat(self.orders.astype(np.int64), counts)
        return np.arange(self.size) - np.repeat(self._starts, counts) + m, m

    def start(self, m):
        """Returns the place where l = 0 of order m would be, so that (l, m) is at start(m) + l; -1 without m."""
        orders = self.orders
        row = np.searchsorted(orders, m)
        is_here = row < len(orders) and orders[row] == m
        return int(self._starts[row]) - int(m) if is_here else -1

    def index(self, l, m):
        """Returns the place of (l, m), -1 where another rank has it. Takes arrays too."""
        l, m = np.broadcast_arrays(np.asarray(l, dtype=np.int64), np.asarray(m, dtype=np.int64))
        if np.any((l < m) | (m < 0) | (l > self.lmax)):
            raise UsageError(f"(l, m): expected 0 <= m <= l <= {self.lmax}")
        if not len(self.orders):
            result = np.full(l.shape, -1)
        else:
            row = np.minimum(np.searchsorted(self.orders, m), len(self.orders) - 1)
            result = np.where(self.orders[row] == m, self._starts[row] + l - m, -1)
        return result if result.ndim else int(result)

    def multiply(self, alm, fl, *, out=None):
        """Returns a_lm times factors of l, in all components; factors beyond their table are 0. out=alm works in
        place."""
        factors = np.ascontiguousarray(fl, dtype=np.float64)
        result = _output(alm, out)
        _core.multiply(result, self._layout, factors)
        return like(alm, result, out)

    def is_same(self, other):
        """Tells whether another layout has the same coefficients on every rank. Collective."""
        same = (self.lmax, self.mmax) == (other.lmax, other.mmax) and np.array_equal(self.orders, other.orders)
        return min(self.comm.all_gather(int(same))) == 1

    def __repr__(self):
        return f"<AlmLayout lmax {self.lmax}, mmax {self.mmax}: {self.size} of {self.full_size} coefficients>"


def _output(array, out):
    """Returns `out` with the numbers of `array`: a copy where it is None, the array itself where it is that."""
    if out is None:
        return np.array(view(array), order="C", copy=True)
    if out is not array:
        array, target = np.asarray(view(array)), view(out)
        if target.shape != array.shape or target.dtype != array.dtype:
            raise UsageError(f"out: is {target.dtype} of the shape {target.shape}; expected {array.dtype} of "
                             f"{array.shape}")
        target[...] = array
    return out


def resize_alm(alm, layout, new_layout, *, out=None):
    """Returns a_lm in another layout: of other degrees and orders, or on other ranks of the communicator. Coefficients
    that are not there become 0. Collective."""
    comm = layout.comm
    with agreed(comm):
        part = _rows(alm, layout.size, "alm")
        out = np.empty((*np.shape(view(alm))[:-1], new_layout.size), part.dtype) if out is None else out
        moved = _rows(out, new_layout.size, "out", is_output=True)
        moved[...] = 0
        most = min(layout.lmax, new_layout.lmax)
        pieces = layout._pieces(new_layout.lmax, most, min(layout.mmax, new_layout.mmax))
    _core.move(comm, part, pieces, moved, new_layout.pieces)
    return out
