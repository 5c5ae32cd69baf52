# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of healpy 1.20 by Ringweave, with healpy's names, arguments, defaults and order of results:

    import ringweave.healpy_compat as hp

Two arguments are added. comm: a communicator; None as everywhere. distributed: False: every rank has the whole arrays
and gets whole results; True: arrays are those of map_layout() and alm_layout() of this rank. Docs: docs/python.md."""
import contextlib
import warnings

import numpy as np

from . import _core, sky, tables
from ._comm import communicator
from ._nested import to_nested, to_ring
from .errors import ArrayError, ConvergenceWarning, UsageError
from .grids import Grid
from .layouts import AlmLayout, MapLayout, resize_alm as _resize
from .transforms import Transform

__all__ = [
    "Alm", "UNSEEN", "alm2cl", "alm2map", "alm2map_spin", "alm_layout", "almxfl", "anafast", "gauss_beam", "map2alm",
    "map2alm_spin", "map_layout", "patched", "pixwin", "resize_alm", "rotate_alm", "smoothalm", "smoothing", "synalm",
    "synfast",
]

UNSEEN = -1.6375e30
_ALONE = _core.Comm.self()
_FWHM_OVER_SIGMA = (8 * np.log(2)) ** 0.5
_DIAGONAL = ("TT", "EE", "BB", "TE", "EB", "TB")
_BY_ROW = ("TT", "TE", "TB", "EE", "EB", "BB")


def map_layout(nside, comm=None):
    """Returns the layout of maps of distributed=True."""
    return MapLayout(Grid.healpix(nside), comm=comm)


def alm_layout(lmax, mmax=None, comm=None):
    """Returns the layout of a_lm of distributed=True."""
    return AlmLayout(lmax, mmax, comm=comm)


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
        l, m = AlmLayout(lmax, orders=range(lmax + 1), comm=_ALONE).lm()
        return (l, m) if i is None else (l[i], m[i])

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


@contextlib.contextmanager
def _datapath(path):
    """Looks for HEALPix's files in healpy's `datapath` first."""
    if path is None:
        yield
    else:
        with tables.searching(path):
            yield


def map2alm(maps, lmax=None, mmax=None, iter=3, pol=True, use_weights=False, datapath=None, gal_cut=0,
            use_pixel_weights=False, verbose=True, *, comm=None, distributed=False):
    """Returns the a_lm of maps in RING order, T or T, Q, U (pol=False: any number of scalar maps). Missing files of
    weights are an error. Collective."""
    maps, is_one = _as_maps(maps)
    nside = _nside_of(maps, comm, distributed)
    return _map2alm(maps, is_one, nside, lmax, mmax, iter, pol, _weights(use_weights, use_pixel_weights), datapath,
                    gal_cut, comm, distributed)


def _map2alm(maps, is_one, nside, lmax, mmax, iter, pol, weights, datapath, gal_cut, comm, distributed):
    maps[_is_bad(maps)] = 0
    with _Call(nside, lmax, mmax, _spins(len(maps), pol), comm, distributed) as call, _datapath(datapath):
        part = call.enter_map(maps)
        if gal_cut:
            theta, _ = call.transform.map_layout.theta_phi()
            part = np.where(np.abs(np.pi / 2 - theta) < np.radians(gal_cut), 0.0, part)
        alm = call.leave_alm(call.analysis(part, iter, weights))
    return alm[0] if is_one else alm


def alm2map(alms, nside, lmax=None, mmax=None, pixwin=False, fwhm=0.0, sigma=None, pol=True, inplace=False,
            verbose=True, *, comm=None, distributed=False):
    """Returns the map of a_lm, T or T, E, B (pol=False: any number of scalar a_lm). Collective."""
    if not isinstance(alms, (np.ndarray, list, tuple)):
        raise TypeError("alms must be a sequence")
    is_one = not _is_list(alms)
    lmax, mmax = _degrees(alms if is_one else alms[0], lmax, mmax, comm, distributed)
    if fwhm or sigma:
        alms = smoothalm(alms, fwhm=fwhm, sigma=sigma, pol=pol, mmax=mmax, inplace=inplace, comm=comm,
                         distributed=distributed)
    rows = np.array([alms] if is_one else list(alms), dtype=np.complex128)
    with _Call(nside, lmax, mmax, _spins(len(rows), pol), comm, distributed) as call:
        part = call.enter_alm(rows)
        if pixwin:
            windows = tables.pixwin(nside, lmax, pol=True, comm=call.transform.comm)
            for i in range(len(part)):
                window = windows[1 if pol and i else 0]
                call.transform.alm_layout.multiply(part[i], window, out=part[i])
        maps = call.leave_map(call.transform.synthesis(part))
    return maps[0] if is_one else maps


def map2alm_spin(maps, spin, lmax=None, mmax=None, *, comm=None, distributed=False):
    """Returns E and B of two maps that are the real and imaginary part of a field of a spin. Collective."""
    maps, _ = _as_maps(maps)
    nside = _nside_of(maps, comm, distributed)
    maps[_is_bad(maps)] = 0
    with _Call(nside, lmax, mmax, (spin,), comm, distributed) as call:
        alm, _ = call.transform.analysis(call.enter_map(maps), iter=0)
        return list(call.leave_alm(alm))


def alm2map_spin(alms, nside, spin, lmax, mmax=None, *, comm=None, distributed=False):
    """Returns the two maps of E and B of a field of a spin. Collective."""
    rows = np.array(list(alms), dtype=np.complex128)
    with _Call(nside, lmax, mmax, (spin,), comm, distributed) as call:
        return list(call.leave_map(call.transform.synthesis(call.enter_alm(rows))))


def _gauss_factors(fwhm, sigma, beam_window, lmax, n, pol):
    """Returns the factors of every component, None where there is nothing to do."""
    if beam_window is not None:
        if not isinstance(beam_window, (np.ndarray, list)):
            raise ValueError("beam_window must be an array or list")
        return [np.asarray(beam_window, dtype=np.float64)] * n
    sigma = fwhm / _FWHM_OVER_SIGMA if sigma is None else sigma
    if sigma == 0:
        return None
    l = np.arange(lmax + 1.0)
    return [np.exp(-(l * (l + 1) - (4 if pol and i else 0)) * sigma ** 2 / 2) for i in range(n)]


def smoothalm(alms, fwhm=0.0, sigma=None, beam_window=None, pol=True, mmax=None, verbose=True, inplace=True, *,
              comm=None, distributed=False):
    """Returns a_lm times those of a beam; inplace: in the arrays that were given, if they are of complex128."""
    is_one = not _is_list(alms)
    rows = [alms] if is_one else list(alms)
    lmax, mmax = _degrees(rows[0], None, mmax, comm, distributed)
    factors = _gauss_factors(fwhm, sigma, beam_window, lmax, len(rows), pol)
    if factors is None:
        return alms
    results = [almxfl(row, factor, mmax=mmax, inplace=inplace, comm=comm, distributed=distributed)
               for row, factor in zip(rows, factors)]
    if is_one:
        return results[0]
    return alms if all(result is row for result, row in zip(results, alms)) else np.array(results)


def smoothing(map_in, fwhm=0.0, sigma=None, beam_window=None, pol=True, iter=3, lmax=None, mmax=None, use_weights=False,
              use_pixel_weights=False, datapath=None, verbose=True, nest=False, *, comm=None, distributed=False):
    """Returns smoothed maps; UNSEEN pixels count as 0 and stay UNSEEN. A masked array gives one. Collective."""
    rows_in = map_in if _is_list(map_in) else [map_in]
    is_masked = any(isinstance(row, np.ma.MaskedArray) for row in [map_in, *rows_in])
    if nest and distributed:
        raise UsageError("nest: distributed maps are in RING order")
    maps, is_one = _as_maps(map_in, nest)
    bad = _is_bad(maps)
    maps[bad] = 0
    nside = _nside_of(maps, comm, distributed)
    is_pol = pol and not is_one
    with _Call(nside, lmax, mmax, _spins(len(maps), pol), comm, distributed) as call, _datapath(datapath):
        t = call.transform
        alm = call.analysis(call.enter_map(maps), iter, _weights(use_weights, use_pixel_weights))
        factors = _gauss_factors(fwhm, sigma, beam_window, t.lmax, len(maps), is_pol)
        for i in range(len(maps) if factors else 0):
            t.alm_layout.multiply(alm[i], factors[i], out=alm[i])
        result = call.leave_map(t.synthesis(alm))
    result[bad] = UNSEEN
    if nest:
        result = to_nested(result)
        bad = to_nested(bad)
    if is_masked:
        result = np.ma.MaskedArray(result, mask=bad, fill_value=UNSEEN)
    return result[0] if is_one else result


def alm2cl(alms1, alms2=None, lmax=None, mmax=None, lmax_out=None, nspec=None, *, comm=None, distributed=False):
    """Returns the spectra of a_lm, in healpy's order: all of the fields with themselves, then those with their next
    neighbours, and so on. Collective."""
    is_one = not _is_list(alms1)
    first = np.array([alms1] if is_one else list(alms1), dtype=np.complex128)
    second = None if alms2 is None else np.array([alms2] if is_one else list(alms2), dtype=np.complex128)
    lmax, mmax = _degrees(first, lmax, mmax, comm, distributed)
    comm = communicator(comm) if distributed else _ALONE
    layout = AlmLayout(lmax, mmax, comm=comm)
    size = lmax + 1 if lmax_out is None or lmax_out < 0 else lmax_out + 1
    spectra = []
    for step in range(len(first)):
        for i, j in zip(range(len(first) - step), range(step, len(first))):
            spectra.append(_cross(first[i], (first if second is None else second)[j], layout)[:size])
    if is_one:
        return spectra[0]
    return np.array(spectra if nspec is None else spectra[:nspec])


def _cross(a, b, layout):
    return sky.alm2cl(a, None if a is b else b, layout)["TT"]


def anafast(map1, map2=None, nspec=None, lmax=None, mmax=None, iter=3, alm=False, pol=True, use_weights=False,
            datapath=None, gal_cut=0, use_pixel_weights=False, *, comm=None, distributed=False):
    """Returns the spectra of maps, or the cross spectra of two; alm: their a_lm too. Collective."""
    options = {"lmax": lmax, "mmax": mmax, "iter": iter, "pol": pol, "use_weights": use_weights, "datapath": datapath,
               "gal_cut": gal_cut, "use_pixel_weights": use_pixel_weights, "comm": comm, "distributed": distributed}
    alms1 = map2alm(map1, **options)
    alms2 = None if map2 is None else map2alm(map2, **options)
    lmax, mmax = _degrees(alms1, lmax, mmax, comm, distributed)
    cls = alm2cl(alms1, alms2, lmax, mmax, lmax, nspec, comm=comm, distributed=distributed)
    if not alm:
        return cls
    return (cls, alms1) if map2 is None else (cls, alms1, alms2)


def synalm(cls, lmax=None, mmax=None, new=False, verbose=True, *, comm=None, distributed=False):
    """Returns a_lm drawn from spectra: one, four, or six. The seed is drawn from numpy.random on rank 0, so
    numpy.random.seed() makes them the same again; they are not healpy's. Collective."""
    comm = communicator(comm)
    seed = int(comm.broadcast(str(np.random.randint(2 ** 63 - 1, dtype=np.int64)), 0))
    is_one = not any(spectrum is not None and np.ndim(spectrum) > 0 for spectrum in cls)
    spectra = [cls] if is_one else list(cls)
    if lmax is None or lmax < 0:
        lmax = max(len(spectrum) for spectrum in spectra if spectrum is not None) - 1
    mmax = lmax if mmax is None or mmax < 0 else mmax
    if len(spectra) == 4:
        names = ("TT", "EE", "BB", "TE") if new else ("TT", "TE", "EE", "BB")
    elif len(spectra) in (1, 6):
        names = _DIAGONAL if new else _BY_ROW
    else:
        raise TypeError(f"expected 1, 4 or 6 spectra, not {len(spectra)}")
    given = {name: np.asarray(spectrum, dtype=np.float64)[:lmax + 1]
             for name, spectrum in zip(names, spectra) if spectrum is not None}
    layout = AlmLayout(lmax, mmax, comm=comm if distributed else _ALONE)
    alms = sky.draw_alm(given, seed, layout, ncomp=1 if len(spectra) == 1 else 3)
    return alms[0] if len(spectra) == 1 else alms


def synfast(cls, nside, lmax=None, mmax=None, alm=False, pol=True, pixwin=False, fwhm=0.0, sigma=None, new=False,
            verbose=True, *, comm=None, distributed=False):
    """Returns maps of a_lm drawn from spectra, as synalm(); alm: the a_lm too. Collective."""
    longest = max(len(spectrum) for spectrum in (cls if _is_list([c for c in cls if c is not None]) else [cls])
                  if spectrum is not None)
    if lmax is None or lmax < 0:
        lmax = min(longest - 1, 3 * nside - 1)
    alms = synalm(cls, lmax, mmax, new, comm=comm, distributed=distributed)
    maps = alm2map(alms, nside, lmax, mmax, pixwin, fwhm, sigma, pol, comm=comm, distributed=distributed)
    return (maps, alms) if alm else maps


def almxfl(alm, fl, mmax=None, inplace=False, *, comm=None, distributed=False):
    """Returns a_lm times factors of l, which are 0 beyond their table. inplace: in `alm`, if it is of complex128."""
    lmax, mmax = _degrees(alm, None, mmax, comm, distributed)
    layout = AlmLayout(lmax, mmax, comm=communicator(comm) if distributed else _ALONE)
    fl = np.asarray(fl)
    if np.iscomplexobj(fl):
        raise UsageError("fl: is complex; expected real factors")
    is_same = inplace and isinstance(alm, np.ndarray) and alm.dtype == np.complex128 and alm.flags.c_contiguous
    alm = alm if is_same else np.array(alm, dtype=np.complex128)
    return layout.multiply(alm, fl, out=alm)


def rotate_alm(alm, psi=0.0, theta=0.0, phi=0.0, matrix=None, lmax=None, mmax=None, *, comm=None, distributed=False):
    """Rotates a_lm in place by angles, or by a matrix of directions. Collective where they are distributed."""
    rows = list(alm) if _is_list(alm) else [alm]
    if any(not isinstance(row, np.ndarray) or row.dtype != np.complex128 for row in rows):
        raise TypeError("alm: expected arrays of complex128, which are rotated in place")
    lmax, mmax = _degrees(rows[0], lmax, mmax, comm, distributed)
    layout = AlmLayout(lmax, mmax, comm=communicator(comm) if distributed else _ALONE)
    for row in rows:
        sky.rotate_alm(row, layout, (psi, theta, phi) if matrix is None else matrix, out=row)


def resize_alm(alm, lmax, mmax, lmax_out, mmax_out):
    """Returns a_lm of other degrees and orders."""
    rows = np.array(alm, dtype=np.complex128)
    return _resize(rows, AlmLayout(lmax, mmax, comm=_ALONE), AlmLayout(lmax_out, mmax_out, comm=_ALONE))


def gauss_beam(fwhm, lmax=512, pol=False):
    """Returns b_l of a Gaussian beam; pol: columns of T, E, B and TE."""
    t = _gauss_factors(fwhm, None, None, lmax, 1, False)
    t = np.ones(lmax + 1) if t is None else t[0]
    if not pol:
        return t
    variance = (fwhm / _FWHM_OVER_SIGMA) ** 2
    return t[:, None] * np.exp(np.array([0, 2, 2, 1]) * variance)


def pixwin(nside, pol=False, lmax=None, datapath=None):
    """Returns the pixel window of T; pol: that of T and that of polarisation."""
    with _datapath(datapath):
        return tables.pixwin(nside, lmax, pol=pol, comm=_ALONE)


@contextlib.contextmanager
def patched(healpy):
    """Puts these functions into the module healpy while a `with` lasts, for programs that call it."""
    names = [name for name in __all__ if callable(globals()[name]) and hasattr(healpy, name)]
    places = [module for module in (healpy, getattr(healpy, "sphtfunc", None), getattr(healpy, "rotator", None))
              if module is not None]
    before = [(place, name, getattr(place, name)) for place in places for name in names if hasattr(place, name)]
    try:
        for place, name, _ in before:
            setattr(place, name, globals()[name])
        yield healpy
    finally:
        for place, name, function in before:
            setattr(place, name, function)
