# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of healpy 1.20 by Ringweave, with healpy's names, arguments, defaults and order of results:

    import ringweave.healpy_compat as hp

Two arguments are added. comm: a communicator; None as everywhere. distributed: False: every rank has the whole arrays
and gets whole results; True: arrays are those of map_layout() and alm_layout() of this rank. Docs: docs/python.md."""
import contextlib
import math
import warnings

import numpy as np

from . import sky, tables
from ._comm import communicator
from ._healpy import (_ALONE, UNSEEN, Alm, _as_maps, _Call, _datapath, _degrees, _is_bad, _is_list, _nside_of, _spins,
                      _weights)
from ._healpy_files import read_alm, read_cl, read_map, write_alm, write_cl, write_map
from ._healpy_grade import harmonic_ud_grade
from ._nested import to_nested
from .errors import ArrayError, ConvergenceWarning, UsageError
from .grids import Grid
from .layouts import AlmLayout, MapLayout, resize_alm as _resize

__all__ = [
    "Alm", "UNSEEN", "alm2cl", "alm2map", "alm2map_der1", "alm2map_spin", "alm_layout", "almxfl", "anafast",
    "gauss_beam", "harmonic_ud_grade", "map2alm", "map2alm_lsq", "map2alm_spin", "map_layout", "patched", "pixwin",
    "read_alm", "read_cl", "read_map", "resize_alm", "rotate_alm", "smoothalm", "smoothing", "synalm", "synfast",
    "write_alm", "write_cl", "write_map",
]

_FWHM_OVER_SIGMA = (8 * np.log(2)) ** 0.5


def map_layout(nside, comm=None):
    """Returns the layout of maps of distributed=True."""
    return MapLayout(Grid.healpix(nside), comm=comm)


def alm_layout(lmax, mmax=None, comm=None):
    """Returns the layout of a_lm of distributed=True."""
    return AlmLayout(lmax, mmax, comm=comm)


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
            part = np.where(np.abs(_latitudes(call.transform.map_layout)) < gal_cut, 0.0, part)
        alm = call.leave_alm(call.analysis(part, iter, weights))
    return alm[0] if is_one else alm


def _latitudes(layout):
    """Returns the latitudes of this rank's pixels in degrees, rounded as healpy's: where a cut ends on a ring, they
    decide."""
    nside = layout.grid.nside
    ring = layout.rings + 1
    from_pole = np.minimum(ring, 4 * nside - ring)
    step = 4 / (12 * nside ** 2)
    cap = from_pole ** 2 * step
    is_cap = from_pole < nside
    z = np.where(is_cap, np.where(ring < nside, 1 - cap, cap - 1), (2 * nside - ring) * (2 * nside * step))
    # numpy's functions round in another way than those of C.
    theta = [math.atan2(math.sqrt(c * (2 - c)), h) if near and abs(h) > 0.99 else math.acos(h)
             for near, c, h in zip(is_cap.tolist(), cap.tolist(), z.tolist())]
    return np.repeat(90 - np.degrees(theta), layout.grid.nphi[layout.rings])


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
    """Returns E and B of two maps that are the real and imaginary part of a field of a spin. Spin 0: both with the sign
    of E and B of other spins, -a_lm. Collective."""
    maps, _ = _as_maps(maps)
    nside = _nside_of(maps, comm, distributed)
    maps[_is_bad(maps)] = 0
    with _Call(nside, lmax, mmax, (spin,) if spin else (0, 0), comm, distributed) as call:
        alm = call.leave_alm(call.analysis(call.enter_map(maps), 0, None))
        return list(alm if spin else -alm)


def alm2map_spin(alms, nside, spin, lmax, mmax=None, *, comm=None, distributed=False):
    """Returns the two maps of E and B of a field of a spin, with signs as map2alm_spin(). Collective."""
    rows = np.array(list(alms), dtype=np.complex128)
    with _Call(nside, lmax, mmax, (spin,) if spin else (0, 0), comm, distributed) as call:
        return list(call.leave_map(call.transform.synthesis(call.enter_alm(rows if spin else -rows))))


def alm2map_der1(alm, nside, lmax=None, mmax=None, *, comm=None, distributed=False):
    """Returns the map of a_lm, its derivative by theta, and that by phi divided by sin(theta). Collective."""
    lmax, mmax = _degrees(alm, lmax, mmax, comm, distributed)
    with _Call(nside, lmax, mmax, (0, 1), comm, distributed) as call:
        t = call.transform
        scalar = call.enter_alm(np.array(alm, dtype=np.complex128))
        # The gradient is a field of spin 1 whose E is sqrt(l (l + 1)) a_lm.
        rows = np.zeros((3, scalar.size), dtype=np.complex128)
        rows[:2] = scalar
        l = np.arange(lmax + 1.0)
        t.alm_layout.multiply(rows[1], np.sqrt(l * (l + 1)), out=rows[1])
        return call.leave_map(t.synthesis(rows))


def map2alm_lsq(maps, lmax, mmax, pol=True, tol=1e-10, maxiter=20, *, comm=None, distributed=False):
    """Returns the a_lm whose map has the least squared difference from the given one, by conjugate gradients until the
    residual has fallen to `tol`; the norm of the difference over that of the map; the number of iterations.
    Collective."""
    maps, is_one = _as_maps(maps)
    nside = _nside_of(maps, comm, distributed)
    maps[_is_bad(maps)] = 0
    with _Call(nside, lmax, mmax, _spins(len(maps), pol), comm, distributed) as call:
        t = call.transform
        part = call.enter_map(maps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            alm, report = t.analysis(part, iter=maxiter, tol=tol)
        size = _norm(part, t.comm)
        residual = _norm(part - t.synthesis(alm), t.comm) / size if size else 0.0
        alm = call.leave_alm(alm)
    return alm[0] if len(maps) == 1 else alm, residual, report.iterations


def _norm(values, comm):
    """Returns the norm of an array of all ranks. Collective."""
    square = np.float64(np.sum(values * values))
    return float(np.sqrt(np.array(comm.all_gather(int(square.view(np.int64)))).view(np.float64).sum()))


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


def _covariances(spectra, lmax, new):
    """Returns the covariance of n fields at every l, (l, n, n), of n (n + 1) / 2 spectra by row or, `new`, by diagonal;
    four spectra are TT, TE, EE, BB, or TT, EE, BB, TE."""
    if len(spectra) == 4:
        t, te, e, b = (spectra[i] for i in ((0, 3, 1, 2) if new else (0, 1, 2, 3)))
        spectra, new = [t, te, None, e, None, b], False
    n = int((8 * len(spectra) + 1) ** 0.5 - 1) // 2
    if n * (n + 1) // 2 != len(spectra) or n == 0:
        raise TypeError(f"expected 1, 4, or n (n + 1) / 2 spectra, not {len(spectra)}")
    pairs = [(i, i + step) for step in range(n) for i in range(n - step)] if new else \
        [(i, j) for i in range(n) for j in range(i, n)]
    result = np.zeros((lmax + 1, n, n))
    for (i, j), spectrum in zip(pairs, spectra):
        if spectrum is not None:
            values = np.asarray(spectrum, dtype=np.float64)[:lmax + 1]
            result[:len(values), i, j] = result[:len(values), j, i] = values
    return result


def _triangle(covariances):
    """Returns lower triangles L with L L^T = C at every l. Fields without a variance of their own get nothing of it,
    also where it would be negative."""
    lower = np.zeros_like(covariances)
    for j in range(covariances.shape[1]):
        rest = covariances[:, j:, j] - np.einsum("lik,lk->li", lower[:, j:, :j], lower[:, j, :j])
        pivot = np.sqrt(np.maximum(rest[:, 0], 0))
        lower[:, j:, j] = np.divide(rest, pivot[:, None], out=np.zeros_like(rest), where=pivot[:, None] > 0)
        lower[:, j, j] = pivot
    return lower


def synalm(cls, lmax=None, mmax=None, new=False, verbose=True, *, comm=None, distributed=False):
    """Returns a_lm drawn from spectra. The seed is drawn from numpy.random on rank 0, so numpy.random.seed() makes them
    the same again; they are not healpy's. Collective."""
    comm = communicator(comm)
    seed = int(comm.broadcast(str(np.random.randint(2 ** 62, dtype=np.int64)), 0))
    is_one = not any(spectrum is not None and np.ndim(spectrum) > 0 for spectrum in cls)
    spectra = [cls] if is_one else list(cls)
    if lmax is None or lmax < 0:
        lmax = max(len(spectrum) for spectrum in spectra if spectrum is not None) - 1
    lower = _triangle(_covariances(spectra, lmax, new))
    layout = AlmLayout(lmax, lmax if mmax is None or mmax < 0 else mmax, comm=comm if distributed else _ALONE)
    alms = np.zeros((lower.shape[1], layout.size), dtype=np.complex128)
    for j in range(len(alms)):
        white = sky.draw_alm(np.ones(lmax + 1), seed + j, layout)[0]
        for i in range(j, len(alms)):
            alms[i] += layout.multiply(white, lower[:, i, j])
    return alms[0] if len(alms) == 1 else alms


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
        parts = [almxfl(alm, part, mmax, comm=comm, distributed=distributed) for part in (fl.real, fl.imag)]
        result = parts[0] + 1j * parts[1]
        if not inplace:
            return result
        alm[...] = result
        return alm
    is_same = inplace and isinstance(alm, np.ndarray) and alm.dtype == np.complex128 and alm.flags.c_contiguous
    alm = alm if is_same else np.array(alm, dtype=np.complex128)
    return layout.multiply(alm, fl, out=alm)


def rotate_alm(alm, psi=0.0, theta=0.0, phi=0.0, matrix=None, lmax=None, mmax=None, *, comm=None, distributed=False):
    """Rotates a_lm in place by angles, or by a matrix of directions. Collective where they are distributed."""
    rows = list(alm) if _is_list(alm) else [alm]
    if any(not isinstance(row, np.ndarray) or row.dtype != np.complex128 for row in rows):
        raise ArrayError("alm: expected arrays of complex128, which are rotated in place")
    lmax, mmax = _degrees(rows[0], lmax, mmax, comm, distributed)
    layout = AlmLayout(lmax, mmax, comm=communicator(comm) if distributed else _ALONE)
    for row in rows:
        whole = np.ascontiguousarray(row, dtype=np.complex128)
        sky.rotate_alm(whole, layout, (psi, theta, phi) if matrix is None else matrix, out=whole)
        if whole is not row:
            row[...] = whole


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


_FILES = {"read_alm", "read_cl", "read_map", "write_alm", "write_cl", "write_map"}


@contextlib.contextmanager
def patched(healpy):
    """Puts these functions into the module healpy while a `with` lasts, for programs that call it. Files stay healpy's,
    which takes HDUs of astropy too."""
    names = [name for name in __all__ if callable(globals()[name]) and name not in _FILES and hasattr(healpy, name)]
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
