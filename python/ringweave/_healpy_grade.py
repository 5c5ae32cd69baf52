# SPDX-License-Identifier: GPL-3.0-or-later
"""healpy's harmonic_ud_grade()."""
import os
import warnings

import numpy as np

from . import sky, tables
from ._comm import communicator
from ._healpy import (_ALONE, Alm, MissingWeightsError, _as_maps, _Call, _datapath, _is_list, _nside_of, _spins,
                      _weights)
from .errors import MissingFileError
from .layouts import AlmLayout, resize_alm

# FWHM of the beam of 160 arcmin at nside 64, in roots of a pixel's area.
_BEAM_OVER_PIXEL = np.radians(160 / 60) / np.sqrt(4 * np.pi / (12 * 64 ** 2))


def _beam(window, fwhm, lmax, is_pol, name):
    """Returns b_l of T and of polarisation, None without a beam."""
    if window is None:
        return (sky.gauss_beam(fwhm, lmax), sky.gauss_beam(fwhm, lmax, 2)) if fwhm > 0 else None
    window = np.asarray(window, dtype=np.float64)
    if window.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two axes, not {window.ndim}")
    if len(window) <= lmax:
        raise ValueError(f"{name} has the length {len(window)}; lmax = {lmax} needs {lmax + 1}")
    if window.ndim == 1 and is_pol:
        raise ValueError(f"{name} is 1D, and polarization needs a column of its own: give (lmax + 1, 2)")
    columns = window[:lmax + 1].reshape(lmax + 1, -1)
    return columns[:, 0], columns[:, 1 if is_pol else 0]


def _over(numerator, denominator):
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def _alms(alm, comm, distributed):
    """Returns a_lm as rows, whether there is one alone, and their lmax."""
    is_one = isinstance(alm, np.ndarray) and alm.ndim == 1 or not _is_list(alm)
    rows = [alm] if is_one else list(alm)
    if len(rows) not in (1, 3):
        expected = "2D ndarray with 1 or 3 rows" if isinstance(alm, np.ndarray) else \
            "single 1D alm array or a TEB triplet"
        raise ValueError(f"input_type='alm' supports a {expected}, not {len(rows)} arrays")
    if len({len(row) for row in rows}) != 1:
        raise ValueError("the a_lm of a TEB triplet must have the same size")
    rows = np.array(rows, dtype=np.complex128)
    size = sum(communicator(comm).all_gather(rows.shape[1])) if distributed else rows.shape[1]
    own = Alm.getlmax(size)
    if own < 0:
        raise ValueError(f"{size} a_lm are not those of any lmax")
    return rows, len(rows) == 1, own


def harmonic_ud_grade(map_in, nside_out, nside_in=None, lmax=None, mmax=None, iter=None, pol=True, pixwin=True,
                      fwhm_in=0, fwhm_out=0, beam_window_in=None, beam_window_out=None, use_weights=False,
                      datapath=None, use_pixel_weights=True, dtype=None, input_type="map", *, comm=None,
                      distributed=False):
    """Returns maps of another nside by way of their a_lm, whose beams and pixel windows are replaced; degrees where the
    old ones are 0 become 0. fwhm_out: None: 160 arcmin at nside 64, scaled. Pixel weights are needed unless
    use_pixel_weights=False. Collective."""
    if input_type not in ("map", "alm"):
        raise ValueError(f"input_type must be 'map' or 'alm', not {input_type!r}")
    if fwhm_in < 0:
        raise ValueError(f"fwhm_in must be >= 0, not {fwhm_in}")
    if fwhm_out is not None and fwhm_out < 0:
        raise ValueError(f"fwhm_out must be >= 0 or None, not {fwhm_out}")
    if input_type == "alm":
        if nside_in is None:
            raise ValueError("nside_in must be provided with input_type='alm'")
        for name, value, default in (("iter", iter, None), ("use_weights", use_weights, False),
                                     ("use_pixel_weights", use_pixel_weights, True), ("datapath", datapath, None)):
            if value != default:
                warnings.warn(f"{name} is ignored with input_type='alm'", UserWarning, stacklevel=2)
        rows, is_one, own = _alms(map_in, comm, distributed)
    else:
        rows, is_one = _as_maps(map_in)
        nside_in = _nside_of(rows, comm, distributed)
        own = None
    lmax = min(3 * nside_out - 1, 3 * nside_in - 1) if lmax is None else lmax
    lmax = lmax if own is None else min(lmax, own)
    mmax = lmax if mmax is None else min(mmax, lmax)
    spins = _spins(len(rows), pol) if own is None or pol else (0,) * len(rows)
    beams = (_beam(beam_window_in, fwhm_in, lmax, spins == (0, 2), "beam_window_in"),
             _beam(beam_window_out, _BEAM_OVER_PIXEL * np.sqrt(4 * np.pi / (12 * nside_out ** 2))
                   if fwhm_out is None else fwhm_out, lmax, spins == (0, 2), "beam_window_out"))
    with _Call(nside_out, lmax, mmax, spins, comm, distributed) as onto:
        layout = onto.transform.alm_layout
        if own is None:
            iter = (0 if use_pixel_weights and lmax <= 1.5 * nside_in else 3) if iter is None else iter
            alm = _analysed(rows, nside_in, lmax, mmax, spins, iter, _weights(use_weights, use_pixel_weights), datapath,
                            layout, comm, distributed)
        else:
            outer = communicator(comm) if distributed else _ALONE
            alm = onto.enter_alm(resize_alm(rows, AlmLayout(own, comm=outer), AlmLayout(lmax, mmax, comm=outer)))
        factors = _factors(nside_in, nside_out, lmax, pixwin, spins == (0, 2), *beams, comm)
        for i in range(len(alm) if factors else 0):
            layout.multiply(alm[i], factors[1 if i else 0], out=alm[i])
        maps = onto.leave_map(onto.transform.synthesis(alm))
    maps = maps if dtype is None else maps.astype(dtype)
    return maps[0] if is_one else maps


def _factors(nside_in, nside_out, lmax, pixwin, is_pol, beam_in, beam_out, comm):
    """Returns the factors of T and of others, None where nothing changes."""
    factors = [np.ones(lmax + 1), np.ones(lmax + 1)]
    if not pixwin and beam_in is None and beam_out is None:
        return None
    if pixwin:
        comm = communicator(comm)
        before, after = (tables.pixwin(nside, lmax, pol=True, comm=comm) for nside in (nside_in, nside_out))
        factors = [_over(new, old) for old, new in zip(before, after)]
    if beam_in is not None:
        factors = [_over(factor, beam) for factor, beam in zip(factors, beam_in)]
    if beam_out is not None:
        factors = [factor * beam for factor, beam in zip(factors, beam_out)]
    return factors if is_pol else [factors[0]] * 2


def _analysed(maps, nside, lmax, mmax, spins, iterations, weights, datapath, layout, comm, distributed):
    """Returns the a_lm of maps in another layout. Collective."""
    with _Call(nside, lmax, mmax, spins, comm, distributed) as call, _datapath(datapath):
        try:
            alm = call.analysis(call.enter_map(maps), iterations, weights)
        except MissingFileError as error:
            folder = "" if datapath is None else os.path.join(
                datapath, "full_weights", f"healpix_full_weights_nside_{nside:04d}.fits") + ": "
            raise MissingWeightsError(f"Pixel weights are required by default: {folder}{error}; or say "
                                      "use_pixel_weights=False") from None
        return resize_alm(alm, call.transform.alm_layout, layout)
