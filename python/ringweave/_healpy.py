# SPDX-License-Identifier: GPL-3.0-or-later
"""What the functions with healpy's names share: arrays in and out, sizes, transforms of one call."""
import contextlib
import warnings

import numpy as np

from . import _core, tables
from ._comm import communicator
from ._nested import to_ring
from .errors import ArrayError, ConvergenceWarning, MissingFileError, UsageError
from .grids import Grid
from .layouts import AlmLayout, MapLayout, resize_alm as _resize
from .transforms import Transform

UNSEEN = -1.6375e30
_ALONE = _core.Comm.self()


class Alm:
    """Indices of a_lm, as in healpy."""

    @staticmethod
    def getsize(lmax, mmax=None):
        """Returns the number of a_lm."""
        mmax = lmax if mmax is None or mmax < 0 or mmax > lmax else mmax
        return mmax * (2 * lmax + 1 - mmax) // 2 + lmax + 1

    @staticmethod
    def getidx(lmax, l, m):
        """Returns the place of (l, m)."""
        return m * (2 * lmax + 1 - m) // 2 + l

    @staticmethod
    def getlm(lmax, i=None):
        """Returns l and m of places, of all where i is None."""
        if i is None:
            return AlmLayout(lmax, orders=range(lmax + 1), comm=_ALONE).lm()
        i = np.asarray(i, dtype=np.int64)
        assert np.all((i >= 0) & (i < Alm.getsize(lmax))), f"i: there are {Alm.getsize(lmax)} a_lm"
        b = 2 * lmax + 1
        m = np.ceil((b - np.sqrt(np.float64(b) ** 2 - 8 * (i - lmax))) / 2).astype(np.int64)
        return i - m * (b - m) // 2, m

    @staticmethod
    def getlmax(s, mmax=None):
        """Returns lmax of a number of a_lm, -1 if there is none."""
        if mmax is not None and mmax >= 0:
            lmax = (2 * s + mmax * mmax - mmax - 2) / (2 * mmax + 2)
        else:
            lmax = ((8 * s + 1) ** 0.5 - 3) / 2
        return int(lmax) if lmax == int(lmax) and lmax >= 0 else -1


class _Call:
    """A transform for one call, with the arrays of healpy on all ranks or of this rank."""

    def __init__(self, nside, lmax, mmax, spins, comm, distributed):
        comm = communicator(comm)
        self.transform = Transform(Grid.healpix(nside), lmax, mmax, spins, comm)
        self.is_whole = comm.size == 1
        self.distributed = distributed
        t = self.transform
        self.maps = MapLayout(t.grid, comm=comm) if distributed else None
        self.alms = AlmLayout(t.lmax, t.mmax, comm=comm) if distributed else None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.transform.close()

    def _enter(self, array, layout, outer):
        array = np.ascontiguousarray(array)
        size = outer.size if outer else layout.full_size
        if array.shape[-1] != size:
            raise UsageError(f"an array has the shape {array.shape}; expected {size} elements in the last axis")
        if self.is_whole:
            return array
        if outer:
            return outer.move(array, layout)
        parts = [array[..., first:first + count] for first, _, count in layout.pieces.tolist()]
        return np.concatenate(parts, axis=-1) if parts else np.empty((*array.shape[:-1], 0), array.dtype)

    def _leave(self, array, layout, outer):
        if self.is_whole:
            return array
        return layout.move(array, outer) if outer else layout.allgather(array)

    def analysis(self, map, iterations, weights):
        """Returns the a_lm of a map; with pixel weights without iterations, as in healpy."""
        iterations = 0 if weights == "pixel" else iterations
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # healpy says nothing
            return self.transform.analysis(map, iter=iterations, weights=weights)[0]

    def enter_map(self, map):
        return self._enter(map, self.transform.map_layout, self.maps)

    def leave_map(self, map):
        return self._leave(map, self.transform.map_layout, self.maps)

    def enter_alm(self, alm):
        if not self.is_whole and self.alms:
            return _resize(alm, self.alms, self.transform.alm_layout)
        return self._enter(alm, self.transform.alm_layout, self.alms)

    def leave_alm(self, alm):
        if not self.is_whole and self.alms:
            return _resize(alm, self.transform.alm_layout, self.alms)
        return self._leave(alm, self.transform.alm_layout, self.alms)


def _is_list(arrays):
    return not (np.ndim(arrays[0]) == 0) if len(arrays) else False


def _as_maps(maps, nest=False):
    """Returns maps as (n, pixels) of float64 with UNSEEN for what is masked, and whether there is one alone."""
    if not isinstance(maps, (np.ndarray, list, tuple)):
        raise TypeError("maps must be a sequence")
    is_one = not _is_list(maps)
    rows = [maps] if is_one else list(maps)
    rows = [row.filled(UNSEEN) if isinstance(row, np.ma.MaskedArray) else np.asarray(row) for row in rows]
    if any(np.iscomplexobj(row) for row in rows):
        raise ArrayError("maps: are complex; expected real ones")
    result = np.array(rows, dtype=np.float64)
    return (to_ring(result) if nest else result), is_one


def _nside(size):
    nside = round((size / 12) ** 0.5)
    if 12 * nside * nside != size:
        raise TypeError(f"a map of {size} pixels is none of HEALPix")
    return nside


def _nside_of(maps, comm, distributed):
    size = maps.shape[-1]
    return _nside(sum(communicator(comm).all_gather(size)) if distributed else size)


def _is_bad(maps):
    return np.abs(maps - UNSEEN) < 1e-5 * abs(UNSEEN)


def _degrees(alms, lmax, mmax, comm, distributed):
    """Returns lmax and mmax of a_lm."""
    mmax = None if mmax is None or mmax < 0 else mmax
    if lmax is not None and lmax >= 0:
        return lmax, lmax if mmax is None else mmax
    size = np.shape(alms)[-1]
    size = sum(communicator(comm).all_gather(size)) if distributed else size
    lmax = Alm.getlmax(size, mmax)
    if lmax < 0:
        raise TypeError(f"{size} a_lm are not those of any lmax with mmax = {'lmax' if mmax is None else mmax}")
    return lmax, lmax if mmax is None else mmax


def _spins(n, pol):
    if pol and n not in (1, 3):
        raise TypeError(f"pol=True needs 1 or 3 maps or a_lm, not {n}")
    return (0, 2) if pol and n == 3 else (0,) * n


def _weights(use_weights, use_pixel_weights):
    if use_weights and use_pixel_weights:
        raise RuntimeError("Either use pixel or ring weights")
    return "ring" if use_weights else "pixel" if use_pixel_weights else None


class MissingWeightsError(MissingFileError, RuntimeError):
    """File of weights that is not in the folder that was given."""


@contextlib.contextmanager
def _datapath(path):
    """Looks for HEALPix's files in healpy's `datapath` first."""
    if path is None:
        yield
        return
    with tables.searching(path):
        try:
            yield
        except MissingFileError as error:
            raise MissingWeightsError(str(error)) from None
