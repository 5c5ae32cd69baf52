# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms to arbitrary points of the sphere."""
import numpy as np

from . import _core
from ._comm import agreed, communicator
from ._plans import SizedPlan
from .errors import UsageError
from .layouts import AlmLayout
from .transforms import backend_is_cuda, is_single

_NO_ANGLES = np.zeros(0)


def point_options(spins, threads, backend, exchange):
    """Returns spins as a tuple, OpenMP threads or 0, and whether the backend is a GPU and modes are sent in single
    precision."""
    if exchange not in ("double", "single"):
        raise UsageError(f"exchange: is {exchange!r}; expected double or single")
    spins = tuple(int(spin) for spin in ((spins,) if np.isscalar(spins) else spins))
    return spins, threads or 0, backend_is_cuda(backend), exchange == "single"


def _angles(loc, psi, comm):
    """Returns theta, phi and psi of this rank's points as contiguous arrays. Collective."""
    with agreed(comm):
        theta, phi = loc if isinstance(loc, (tuple, list)) and len(loc) == 2 else (None, None)
        if theta is None:
            loc = np.asarray(loc, dtype=np.float64)
            if loc.ndim != 2 or loc.shape[1] != 2:
                raise UsageError(f"loc: has the shape {loc.shape}; expected (points, 2), or a tuple of theta and phi")
            theta, phi = loc[:, 0], loc[:, 1]
        angles = [np.ascontiguousarray(angle, dtype=np.float64)
                  for angle in (theta, phi, _NO_ANGLES if psi is None else psi)]
        if any(angle.ndim != 1 for angle in angles):
            raise UsageError(f"theta, phi, psi: have the shapes {', '.join(str(a.shape) for a in angles)}; expected "
                             "arrays of one axis")
    return angles


class NonuniformTransform(SizedPlan):
    """The transform between a_lm and values at points, and its exact adjoint. Each rank lists any points, in any order,
    also none. Planned once, then called many times; making it, close() and all calls that compute are collective.

    Values are (components, points of this rank), a_lm (components, alm_layout.size). One component may come as (n,),
    several sets as (batch, components, n). With psi, the angles of a detector, a value is T + Q cos(2 psi) +
    U sin(2 psi), and values have one component."""

    def __init__(self, loc_local, lmax, spins=(0,), comm=None, *, mmax=None, psi=None, epsilon=1e-7, threads=None,
                 backend="auto", exchange="double"):
        """loc_local: (points, 2) of theta and phi in radians as in ducc0, or a tuple of two arrays. spins: as in
        Transform, or one spin. psi: of the points, with spins (0, 2) or (2,). epsilon: bound of the rms error of values
        over the rms of the field, 1e-13 to 0.1."""
        self.comm = communicator(comm)
        self.spins, threads, is_cuda, sends_single = point_options(spins, threads, backend, exchange)
        theta, phi, psi = _angles(loc_local, psi, self.comm)
        self._core = _core.PointTransform(self.comm, theta, phi, psi, lmax, -1 if mmax is None else mmax,
                                          list(self.spins), epsilon, threads, is_cuda, sends_single)
        self.alm_layout = AlmLayout(self._core.alm_layout(), comm=self.comm)
        self.lmax, self.mmax, self.epsilon = lmax, self.alm_layout.mmax, epsilon
        self.npoints = len(theta)
        self.ncomp = sum(1 if spin == 0 else 2 for spin in self.spins)
        self.nvalues = self._core.n_components
        self.plan = {"lmax": self.lmax, "mmax": self.mmax, "spins": self.spins, "epsilon": epsilon,
                     "ranks": self.comm.size, **self._core.report()}

    def synthesis(self, alm, *, out=None):
        """Returns the values of a_lm at the points. Collective."""
        return self._core.evaluate(alm, out)

    def adjoint(self, values, *, out=None, accumulate=False):
        """Returns the transpose applied to values: the sum over points of value times conj(Y_lm). accumulate: adds to
        `out`. Collective."""
        return self._core.adjoint(values, out, accumulate)

    def empty_alm(self, dtype="f8"):
        """Returns this rank's part of a_lm, not initialised, aligned to 64 bytes."""
        return _core.empty_alm(is_single(dtype), self.ncomp, self.alm_layout.size)

    def empty_values(self, dtype="f8"):
        """Returns this rank's values, not initialised, aligned to 64 bytes."""
        return _core.empty_map(is_single(dtype), self.nvalues, self.npoints)

    def __repr__(self):
        state = "" if self._core.is_open else ", closed"
        return f"<NonuniformTransform: {self.npoints} points, lmax {self.lmax}, spins {self.spins}{state}>"


class FineField(SizedPlan):
    """A field for many sets of points, one after the other: it is kept on fine rows, so that a set costs only its own
    sums. Making it, close(), set() and evaluate() are collective.

        field = rw.FineField(lmax, (0, 2), npoints=10**8)
        field.set(alm)
        for loc in batches: values = field.evaluate(loc)"""

    def __init__(self, lmax, spins=(0,), comm=None, *, npoints, mmax=None, epsilon=1e-7, threads=None, backend="auto",
                 exchange="double"):
        """npoints: of all ranks and all sets, about: many points take fewer taps of finer rows."""
        self.comm = communicator(comm)
        self.spins, threads, is_cuda, sends_single = point_options(spins, threads, backend, exchange)
        self._core = _core.FineField(self.comm, npoints, lmax, -1 if mmax is None else mmax, list(self.spins), epsilon,
                                     threads, is_cuda, sends_single)
        self.alm_layout = AlmLayout(self._core.alm_layout(), comm=self.comm)
        self.lmax, self.mmax = lmax, self.alm_layout.mmax
        self._is_single = False

    def set(self, alm):
        """Computes the field of a_lm, (components, alm_layout.size). Collective."""
        self._core.set(alm)
        self._is_single = is_single(np.asarray(alm).dtype)

    def evaluate(self, loc_local, psi=None, *, out=None):
        """Returns the values at points of this rank, (components, points). loc_local, psi: as NonuniformTransform has
        them; psi is given on all ranks or on none. Collective."""
        theta, phi, angles = _angles(loc_local, psi, self.comm)
        return self._core.evaluate(theta, phi, angles, psi is not None, self._is_single, out)
