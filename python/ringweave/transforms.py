# SPDX-License-Identifier: GPL-3.0-or-later
"""Spherical harmonic transforms."""
import dataclasses

import numpy as np

from . import _core
from ._arrays import like
from ._comm import agreed, communicator, warn
from ._plans import TimedPlan
from .errors import ArrayError, ConvergenceWarning, UsageError
from .grids import as_grid
from .layouts import AlmLayout, MapLayout
from .tables import analysis_weights

_MOST_PASSES = 100


@dataclasses.dataclass(frozen=True)
class AnalysisReport:
    """Cost and residuals of an analysis."""

    iterations: int  #: corrections or passes that were made
    transforms: int  #: syntheses and adjoints
    residuals: np.ndarray  #: relative residual at the start of each pass; with a tolerance the final one too
    converged: bool  #: the tolerance was reached, or the residuals fell


def is_single(dtype):
    """Tells whether maps and a_lm of a dtype are of float32 and complex64."""
    name = np.dtype(dtype).str[1:]
    if name not in ("f4", "f8", "c8", "c16"):
        raise UsageError(f"dtype: is {dtype}; expected f8 or f4")
    return name in ("f4", "c8")


def backend_is_cuda(backend):
    """Tells whether a backend is a GPU."""
    if backend not in ("auto", "host", "cuda"):
        raise UsageError(f"backend: is {backend!r}; expected auto, host or cuda")
    return backend == "cuda"


def report_of(values, tolerance, comm):
    """Makes a report of the library's and warns where residuals grow."""
    residuals = values["residuals"]
    if tolerance:
        converged = bool(len(residuals) and residuals[-1] <= tolerance)
        reason = f"did not fall to {tolerance:g} in {values['iterations']} passes"
    else:
        converged = not np.any(np.diff(residuals) > 0) if len(residuals) > 1 else True
        reason = "grow: lmax may be too high for the grid"
    if not converged:
        warn(comm, f"the residuals of the analysis {reason} (last one {residuals[-1]:.2g})", ConvergenceWarning, 4)
    return AnalysisReport(values["iterations"], values["transforms"], residuals, converged)


class Transform(TimedPlan):
    """The transform between a_lm and maps of one grid, its exact adjoint, and analyses. Planned once, then called many
    times; `with` or close() frees it. Making it, closing it and all calls that compute are collective.

    Maps are (components, n) with n = t.map_layout.size, a_lm (components, n) with n = t.alm_layout.size, both of this
    rank. One component may come as (n,), several maps as (batch, components, n). The last axis is contiguous, the
    others have any stride. Either precision is taken; `dtype` is that of empty_map() and empty_alm()."""

    def __init__(self, grid, lmax=None, mmax=None, spins=(0,), comm=None, *, dtype="f8", threads=None, backend="auto",
                 exchange="double", memory_limit=None):
        """spins: (0,) T; (0, 2) T, E, B <-> T, Q, U; (2,), (1,), or (0,) * 8 maps. threads: of OpenMP; None: its own
        choice. exchange: "single" sends half the bytes, with errors of 3e-8. memory_limit: bytes that modes of a rank
        may take; fields are then transformed in groups."""
        self._is_single = is_single(dtype)
        if exchange not in ("double", "single"):
            raise UsageError(f"exchange: is {exchange!r}; expected double or single")
        self.grid = as_grid(grid)
        self.lmax = self.grid.default_lmax if lmax is None else int(lmax)
        self.spins = tuple(int(spin) for spin in ((spins,) if np.isscalar(spins) else spins))
        self.comm = communicator(comm)
        self.backend = "cuda" if backend_is_cuda(backend) else "host"
        self._core = _core.Transform(self.comm, self.grid._handle, self.lmax, -1 if mmax is None else int(mmax),
                                     list(self.spins), threads or 0, self.backend == "cuda", exchange == "single",
                                     memory_limit or 0)
        self.map_layout = MapLayout(self.grid, self._core.rings(), self.comm)
        self.alm_layout = AlmLayout(self._core.alm_layout(), comm=self.comm)
        self.mmax = self.alm_layout.mmax
        self.ncomp = sum(1 if spin == 0 else 2 for spin in self.spins)
        self._threads, self._gradient = threads, None
        self.plan = self._described(threads)

    def _described(self, threads):
        itemsize = 4 if self._is_single else 8
        pixels, coefficients, rings, orders = map(list, zip(*self.comm.all_gather_many(
            [self.map_layout.size, self.alm_layout.size, len(self.map_layout.rings), len(self.alm_layout.orders)])))
        return {
            "grid": self.grid.name, "lmax": self.lmax, "mmax": self.mmax, "spins": self.spins,
            "backend": self.backend, "ranks": self.comm.size, "threads": threads,
            "pixels": pixels, "coefficients": coefficients, "rings": rings, "orders": orders,
            "map_bytes": [self.ncomp * n * itemsize for n in pixels],
            "alm_bytes": [self.ncomp * n * 2 * itemsize for n in coefficients],
        }

    def synthesis(self, alm, *, out=None):
        """Returns the map of a_lm, f = sum a_lm Y_lm. Collective."""
        return like(alm, self._core.synthesis(alm, out), out)

    def synthesis_deriv1(self, alm, *, out=None):
        """Returns the derivatives of the scalar map of a_lm: by theta, and by phi over sin(theta). alm: (n,), (1, n) or
        (batch, 1, n), in alm_layout; the result is (2, n) or (batch, 2, n). The first call plans a transform of spin 1,
        which close() frees. Collective."""
        if self._gradient is None:
            self._gradient = Transform(self.grid, self.lmax, self.mmax, (1,), self.comm, threads=self._threads,
                                       backend=self.backend)
        with agreed(self.comm):
            if not isinstance(alm, np.ndarray) or alm.dtype not in (np.complex64, np.complex128):
                raise ArrayError("alm: expected an array of complex128 or complex64")
            if alm.shape[-1] != self.alm_layout.size or alm.ndim > 3 or (alm.ndim > 1 and alm.shape[-2] != 1):
                raise UsageError(f"alm: has the shape {alm.shape}; expected one component of {self.alm_layout.size}")
            l = self.alm_layout.lm()[0]
            e_and_b = np.zeros((*alm.shape[:-2], 2, alm.shape[-1]), alm.dtype)
            np.multiply(alm, np.sqrt(l * (l + 1.0)), out=e_and_b[..., :1, :] if alm.ndim > 1 else e_and_b[0],
                        casting="same_kind")
        return self._gradient.synthesis(e_and_b, out=out)

    def adjoint_synthesis(self, map, *, weights=None, out=None, accumulate=False, scratch=False):
        """Returns the transpose applied to a map: sum over pixels of w f conj(Y_lm), without any weights of its own.
        weights: of this rank's rings. accumulate: adds to `out`. scratch: may destroy the map, which saves memory.
        Collective."""
        return like(map, self._core.adjoint(map, weights, out, accumulate, scratch), out)

    def analysis(self, map, *, iter=None, tol=None, weights=None, out=None, callback=None):
        """Returns the a_lm of a map, and a report. iter: corrections; None: 3 on HEALPix, 0 where analyses are exact.
        tol: conjugate gradients until the residual has fallen so far, in at most `iter` passes. weights: "ring" or
        "pixel" for HEALPix's files, or steradians of a pixel of this rank's rings. callback(pass, passes, residual) is
        called after each pass; there Ctrl-C ends the call. Collective."""
        ring, pixel = analysis_weights(weights, self.map_layout)
        passes = self._iterations(iter, tol)
        alm, reports = self._core.analysis(map, passes, tol or 0.0, passes, ring, pixel, out, callback)
        reports = [report_of(values, tol, self.comm) for values in reports]
        return like(map, alm, out), reports[0] if len(reports) == 1 else reports

    def _iterations(self, iterations, tolerance):
        if iterations is not None:
            return int(iterations)
        if tolerance:
            return _MOST_PASSES
        is_exact = self.grid.kind != "healpix" and self.lmax <= self.grid.default_lmax and not self.grid.is_subset
        return 0 if is_exact else 3

    def inner(self, a, b):
        """Returns the inner product of a_lm of real fields, in which m > 0 counts twice. Collective."""
        return self._core.inner(a, b)

    def norm(self, a):
        """Returns the root of inner(a, a). Collective."""
        return self._core.inner(a, a) ** 0.5

    def empty_map(self, dtype=None):
        """Returns this rank's part of a map, not initialised, aligned to 64 bytes."""
        single = self._is_single if dtype is None else is_single(dtype)
        return _core.empty_map(single, self.ncomp, self.map_layout.size)

    def empty_alm(self, dtype=None):
        """Returns this rank's part of a_lm, not initialised, aligned to 64 bytes."""
        single = self._is_single if dtype is None else is_single(dtype)
        return _core.empty_alm(single, self.ncomp, self.alm_layout.size)

    def release_workspace(self):
        """Frees the workspace until the next call."""
        self._core.release_workspace()

    def close(self):
        """Frees the plan; calls raise UsageError afterwards. Arrays stay valid. Collective."""
        if self._gradient is not None:
            self._gradient.close()
            self._gradient = None
        super().close()

    def __repr__(self):
        state = "" if self._core.is_open else ", closed"
        return f"<Transform {self.grid.name}, lmax {self.lmax}, spins {self.spins}, {self.comm.size} ranks{state}>"
