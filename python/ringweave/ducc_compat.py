# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of ducc0.sht with its keywords: synthesis, adjoint_synthesis, synthesis_deriv1, pseudo_analysis,
synthesis_general, adjoint_synthesis_general.

They work on one rank and plan anew in each call; Transform and NonuniformTransform plan once, on any number of ranks.
Differences from ducc0: theta_interpol, sigma_min, sigma_max and verbose are taken and have no effect; elements of a new
array that no ring and no (l, m) has are 0; pseudo_analysis takes no ringfactor but 1.
"""
import os

import numpy as np

from . import _core
from ._lsmr import lsmr
from .errors import ArrayError, UsageError
from .grids import Grid
from .points import NonuniformTransform
from .transforms import Transform

_MODES = ("STANDARD", "GRAD_ONLY", "DERIV1")
# Of A and its condition, as in ducc0.
_ROUNDING, _MOST_CONDITION = 1e-14, 1e8


def _threads(nthreads):
    return nthreads or os.cpu_count()


def _array(array, name, types, ncomp, size, axes=(2, 3)):
    """Returns an array as (ntrans, ncomp, elements)."""
    if not isinstance(array, np.ndarray) or array.dtype not in types:
        given = getattr(array, "dtype", type(array).__name__)
        raise ArrayError(f"{name}: is {given}; expected an array of {' or '.join(types)}")
    if array.ndim not in axes or array.shape[-2] != ncomp or array.shape[-1] < size:
        leading = "([ntrans,] " if 3 in axes else "("
        raise UsageError(f"{name}: has the shape {array.shape}; expected {leading}{ncomp}, {size} or more)")
    return array if array.ndim == 3 else array[None]


_COMPLEX, _REAL = ("complex64", "complex128"), ("float32", "float64")


class _Alm:
    """Places of a_lm in ducc0's arrays, and their order in the library's: healpy's."""

    def __init__(self, lmax, mmax, mstart, lstride, spin, mode):
        if mode not in _MODES:
            raise UsageError(f"mode: is {mode!r}; expected {', '.join(_MODES)}")
        self.spin = 1 if mode == "DERIV1" else spin
        if mode != "STANDARD" and self.spin == 0:
            raise UsageError(f"mode: is {mode}; spin 0 has STANDARD alone")
        self.lmax = lmax
        self.mmax = (lmax if mstart is None else len(mstart) - 1) if mmax is None else mmax
        if not 0 <= self.mmax <= lmax:
            raise UsageError(f"mmax: is {self.mmax}; expected 0 to lmax = {lmax}")
        orders = np.arange(self.mmax + 1)
        start = orders * (2 * lmax + 1 - orders) // 2
        m = np.repeat(orders, lmax + 1 - orders)
        l = np.arange(len(m)) - start[m]
        if mstart is not None:
            start = np.asarray(mstart).astype(np.int64)
            if start.shape != orders.shape:
                raise UsageError(f"mstart: has the shape {start.shape}; expected {orders.shape}")
        self.index = start[m] + l * lstride
        if self.index.min() < 0:
            raise UsageError("mstart, lstride: lead before the array")
        self.size = int(self.index.max()) + 1
        self.is_whole = np.array_equal(self.index, np.arange(len(m)))
        self.n_given = 1 if self.spin == 0 or mode != "STANDARD" else 2
        self.n_used = 1 if self.spin == 0 else 2
        self.factor = np.sqrt(l * (l + 1.0)) if mode == "DERIV1" else None
        self.twice = np.where(m > 0, 2.0, 1.0)

    def used(self, alm):
        """Returns (ntrans, n_used, n) of an array of ducc0."""
        part = alm[..., :len(self.index)] if self.is_whole else alm[..., self.index]
        if self.factor is not None:
            part = (part * self.factor).astype(alm.dtype)
        if self.n_used != self.n_given:
            part = np.concatenate([part, np.zeros_like(part)], axis=1)
        return part if part.flags.c_contiguous else np.ascontiguousarray(part)

    def given(self, used, out, like, axes=(2, 3)):
        """Writes a result into an array of ducc0, a new one where it is None."""
        if out is None:
            shape = (*np.shape(like)[:-2], self.n_given, self.size)
            out = np.zeros(shape, used.dtype)
        rows = _array(out, "alm", (str(used.dtype),), self.n_given, self.size, axes)
        part = used[:, :self.n_given]
        rows[..., self.index] = part if self.factor is None else part * self.factor
        return out

    def norm(self, alm):
        """Returns the norm of one (n_used, n), orders m > 0 twice."""
        return float(np.sqrt(np.sum((alm.real ** 2 + alm.imag ** 2) * self.twice)))


class _Rings:
    """Transforms of rings that lie anywhere in ducc0's maps, `with` them open."""

    def __init__(self, alm, theta, nphi, phi0, ringstart, pixstride, ringfactor, nthreads):
        theta = np.asarray(theta, dtype=np.float64)
        nphi, start = np.asarray(nphi).astype(np.int64), np.asarray(ringstart).astype(np.int64)
        phi0 = np.asarray(phi0, dtype=np.float64)
        factor = np.ones_like(theta) if ringfactor is None else np.asarray(ringfactor, dtype=np.float64)
        if theta.ndim != 1 or any(x.shape != theta.shape for x in (nphi, start, phi0, factor)):
            raise UsageError("theta, nphi, phi0, ringstart, ringfactor: expected one value for each ring")
        self.has_factor = ringfactor is not None
        self.size, self.parts, self.n_pixels = 0, [], int(nphi.sum())
        order = np.argsort(theta, kind="stable")
        # Rings at one theta are in different grids.
        repeated = np.arange(len(theta)) - np.searchsorted(theta[order], theta[order])
        try:
            for turn in range(int(repeated.max(initial=0)) + 1):
                rings = order[repeated == turn]
                within = np.arange(nphi[rings].sum()) - np.repeat(np.cumsum(nphi[rings]) - nphi[rings], nphi[rings])
                index = np.repeat(start[rings], nphi[rings]) + within * pixstride
                if index.min() < 0:
                    raise UsageError("ringstart, pixstride: lead before the array")
                self.size = max(self.size, int(index.max()) + 1)
                transform = Transform(Grid.rings(theta[rings], nphi[rings], phi0[rings]), alm.lmax, alm.mmax,
                                      (alm.spin,), _core.Comm.self(), threads=_threads(nthreads))
                is_whole = np.array_equal(index, np.arange(len(index)))
                self.parts.append((transform, slice(0, len(index)) if is_whole else index, factor[rings],
                                   np.repeat(factor[rings], nphi[rings])))
        except BaseException:
            self.__exit__()
            raise

    def synthesis(self, used, map):
        """Writes the maps of (ntrans, n_used, n) into (ntrans, n_used, pixels)."""
        for transform, index, _, factor in self.parts:
            if isinstance(index, slice) and map.strides[-1] == map.itemsize:
                part = transform.synthesis(used, out=map[..., index])
                if self.has_factor:
                    part *= factor
            else:
                values = transform.synthesis(used)
                map[..., index] = values * factor if self.has_factor else values

    def adjoint(self, map):
        """Returns (ntrans, n_used, n) of maps."""
        total = None
        for transform, index, factor, _ in self.parts:
            part = map[..., index]
            part = part if part.strides[-1] == part.itemsize else np.ascontiguousarray(part)
            total = transform.adjoint_synthesis(part, weights=factor if self.has_factor else None, out=total,
                                                accumulate=total is not None)
        return total

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for part in self.parts:
            part[0].close()


def _real(dtype):
    return np.dtype("f4" if dtype in ("complex64", "float32") else "f8")


def synthesis(*, alm, theta, lmax, mstart=None, nphi, phi0, ringstart, ringfactor=None, spin, lstride=1, pixstride=1,
              nthreads=1, map=None, mmax=None, mode="STANDARD", theta_interpol=False):
    """Returns the maps of (sets of) a_lm on rings, as ducc0.sht.synthesis."""
    places = _Alm(lmax, mmax, mstart, lstride, spin, mode)
    given = _array(alm, "alm", _COMPLEX, places.n_given, places.size)
    with _Rings(places, theta, nphi, phi0, ringstart, pixstride, ringfactor, nthreads) as rings:
        if map is None:
            map = np.zeros((*alm.shape[:-2], places.n_used, rings.size), _real(alm.dtype))
        rings.synthesis(places.used(given), _array(map, "map", (str(_real(alm.dtype)),), places.n_used, rings.size))
    return map


def synthesis_deriv1(*, alm, theta, lmax, mstart=None, nphi, phi0, ringstart, ringfactor=None, lstride=1, pixstride=1,
                     nthreads=1, map=None, mmax=None, theta_interpol=False):
    """Returns the derivatives by theta and by phi over sin(theta), as ducc0.sht.synthesis_deriv1."""
    return synthesis(alm=alm, theta=theta, lmax=lmax, mstart=mstart, nphi=nphi, phi0=phi0, ringstart=ringstart,
                     ringfactor=ringfactor, spin=1, lstride=lstride, pixstride=pixstride, nthreads=nthreads, map=map,
                     mmax=mmax, mode="DERIV1", theta_interpol=theta_interpol)


def adjoint_synthesis(*, map, theta, lmax, mstart=None, nphi, phi0, ringstart, ringfactor=None, spin, lstride=1,
                      pixstride=1, nthreads=1, alm=None, mmax=None, mode="STANDARD", theta_interpol=False):
    """Returns the transpose of synthesis() applied to (sets of) maps, as ducc0.sht.adjoint_synthesis."""
    places = _Alm(lmax, mmax, mstart, lstride, spin, mode)
    with _Rings(places, theta, nphi, phi0, ringstart, pixstride, ringfactor, nthreads) as rings:
        return places.given(rings.adjoint(_array(map, "map", _REAL, places.n_used, rings.size)), alm, map)


def pseudo_analysis(*, map, theta, lmax, mstart=None, nphi, phi0, ringstart, ringfactor=None, spin, lstride=1,
                    pixstride=1, nthreads=1, alm=None, maxiter, epsilon, mmax=None, theta_interpol=False,
                    alm_contains_initial_guess=False):
    """Returns the a_lm whose synthesis is closest to (sets of) maps, by LSMR, with the reason of the stop, iterations,
    relative residuals and quality, as ducc0.sht.pseudo_analysis."""
    if ringfactor is not None and np.any(np.asarray(ringfactor) != 1):
        raise UsageError("ringfactor: is not 1; multiply the map, or leave it out")
    if alm_contains_initial_guess and alm is None:
        raise UsageError("alm: is None; alm_contains_initial_guess=True needs it")
    places = _Alm(lmax, mmax, mstart, lstride, spin, "STANDARD")
    with _Rings(places, theta, nphi, phi0, ringstart, pixstride, None, nthreads) as rings:
        given = _array(map, "map", _REAL, places.n_used, rings.size).astype(np.float64, copy=False)
        seen = np.zeros(given.shape[-1], dtype=bool)
        for _, index, _, _ in rings.parts:
            seen[index] = True

        def apply(x):
            result = np.zeros_like(given[0])
            rings.synthesis(x[None], result[None])
            return result

        solved = []
        for i, one in enumerate(given):
            first = np.zeros((places.n_used, len(places.index)), dtype=np.complex128)
            if alm_contains_initial_guess:
                guess = _array(alm, "alm", _COMPLEX, places.n_given, places.size)
                first[...] = guess[i][..., places.index]
            solved.append(lsmr(apply, lambda r: rings.adjoint(r[None])[0], places.norm,
                               lambda r: float(np.linalg.norm(r)), np.where(seen, one, 0.0), first,
                               atol=_ROUNDING * np.sqrt(rings.n_pixels), btol=epsilon, most_condition=_MOST_CONDITION,
                               most_iterations=maxiter))
        used = np.stack([one.x for one in solved]).astype("c8" if map.dtype == "float32" else "c16")
        result = places.given(used, alm, map)
    reports = [[getattr(one, name) for one in solved] for name in ("stop", "iterations", "residual", "quality")]
    return (result, *(reports if map.ndim == 3 else [values[0] for values in reports]))


def _points(places, loc, epsilon, nthreads):
    least, most = 1e-13, 0.1
    return NonuniformTransform(loc, places.lmax, (places.spin,), _core.Comm.self(), mmax=places.mmax,
                               epsilon=min(max(epsilon, least), most), threads=_threads(nthreads))


def synthesis_general(*, alm, spin, lmax, loc, epsilon, mstart=None, lstride=1, mmax=None, nthreads=1, map=None,
                      sigma_min=1.1, sigma_max=2.6, mode="STANDARD", verbose=False):
    """Returns the values of a_lm at points, as ducc0.sht.synthesis_general. loc: (points, 2), theta and phi."""
    places = _Alm(lmax, mmax, mstart, lstride, spin, mode)
    given = _array(alm, "alm", _COMPLEX, places.n_given, places.size, (2,))
    with _points(places, loc, epsilon, nthreads) as points:
        if map is None:
            map = np.empty((places.n_used, points.npoints), _real(alm.dtype))
        _array(map, "map", (str(_real(alm.dtype)),), places.n_used, points.npoints, (2,))
        return points.synthesis(places.used(given)[0], out=map)


def adjoint_synthesis_general(*, map, spin, lmax, loc, epsilon, mstart=None, lstride=1, mmax=None, nthreads=1, alm=None,
                              sigma_min=1.1, sigma_max=2.6, mode="STANDARD", verbose=False):
    """Returns the transpose of synthesis_general() applied to values, as ducc0.sht.adjoint_synthesis_general."""
    places = _Alm(lmax, mmax, mstart, lstride, spin, mode)
    with _points(places, loc, epsilon, nthreads) as points:
        _array(map, "map", _REAL, places.n_used, points.npoints, (2,))
        return places.given(points.adjoint(map)[None], alm, map, (2,))
