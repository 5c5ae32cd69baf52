# SPDX-License-Identifier: GPL-3.0-or-later
"""Radial kernels, convolution on rings, and kernels split between rings and harmonics."""
import numpy as np

from . import _core
from ._angles import radians
from ._arrays import like, view
from ._comm import communicator
from ._plans import Plan, TimedPlan
from .grids import as_grid
from .layouts import MapLayout
from .transforms import is_single

_NO_CL = np.zeros(0)


def _table(values):
    return np.ascontiguousarray(values, dtype=np.float64)


class RadialKernel:
    """Radial kernel K(theta) per steradian, cut at its support. error: of the cut, relative to the rms of white noise;
    None: the whole kernel. support: an angle instead."""

    def __init__(self, core):
        self._core = core

    @classmethod
    def gauss(cls, fwhm, *, error=1e-5, support=None, spin=0):
        """Makes that of a Gaussian beam."""
        return cls(_core.RadialKernel.gauss(radians(fwhm, "fwhm"), _support(support), error or 0.0, spin))

    @classmethod
    def from_bl(cls, bl, *, error=1e-5, support=None, spin=0):
        """Makes that of b_l, l = 0..lmax."""
        return cls(_core.RadialKernel.from_bl(_table(bl), _support(support), error or 0.0, spin))

    @classmethod
    def profile(cls, theta, value, *, error=None, support=None):
        """Makes that of a table of K(theta), theta ascending from 0."""
        return cls(_core.RadialKernel.profile(_table(theta), _table(value), _support(support), error or 0.0))

    support = property(lambda self: self._core.support, doc="Angle where the kernel is cut, radians.")
    spin = property(lambda self: self._core.spin, doc="Spin of the fields that it acts on.")

    def bl(self, lmax):
        """Returns K_l, l = 0..lmax, as cut."""
        return self._core.bl(lmax)

    def __call__(self, theta):
        """Returns K(theta) per steradian; 0 beyond the support."""
        theta = np.asarray(theta, dtype=np.float64)
        return self._core.at(_table(theta).ravel()).reshape(theta.shape)

    def __repr__(self):
        return f"<RadialKernel: support {np.degrees(self.support):.4g} deg, spin {self.spin}>"


def _support(angle):
    return 0.0 if angle is None else radians(angle, "support")


class RingConvolution(TimedPlan):
    """Convolution of maps with a radial kernel, summed over pixels. Planned once; making it, close() and apply() are
    collective. Maps are (ncomp, n), n = map_layout.size; for a kernel of spin ncomp = 2, Q and U."""

    def __init__(self, grid, kernel, comm=None, *, ncomp=None, error=1e-5, dtype="f8", threads=None):
        """error: of the sum, relative to its rms; 0: rounding."""
        self.grid = as_grid(grid)
        self.kernel = kernel
        self.ncomp = (2 if kernel.spin else 1) if ncomp is None else ncomp
        comm = communicator(comm)
        self._core = _core.RingConvolution(comm, self.grid._handle, kernel._core, self.ncomp, error or 0.0,
                                           is_single(dtype), threads or 0)
        self.map_layout = MapLayout(self.grid, self._core.rings(), comm)
        self.plan = {"grid": self.grid.name, "support": kernel.support, "pixels": comm.all_gather(self.map_layout.size),
                     "ranks": comm.size}

    def apply(self, map, *, out=None):
        """Returns the convolved map. Collective."""
        return like(map, self._core.apply(self.ncomp, map, out), out)


class KernelSplit:
    """Search for a split of b_l into a part with few degrees, for a_lm, and a compact one, for rings."""

    def __init__(self, bl, nside, *, cl=None, error=1e-5, ranks=1, threads=1, spin=0):
        """cl: C_l of the maps; None: white noise."""
        cl = _NO_CL if cl is None else _table(cl)
        self._core = _core.KernelSplit(_table(bl), nside, cl, error, ranks, threads, spin)
        self.nside = nside
        self.spin = spin

    verdict = property(lambda self: self._core.verdict, doc="Fastest way, as predicted: split, ring or harmonic.")
    reason = property(lambda self: self._core.reason, doc="The verdict explained.")
    has_parts = property(lambda self: self._core.has_parts, doc="Tells whether a split keeps the error.")
    l_cut = property(lambda self: self._core.best()["l_cut"], doc="Highest degree of the harmonic part.")
    theta_cut = property(lambda self: self._core.best()["theta_cut"], doc="Support of the compact part, radians.")
    error = property(lambda self: self._core.error(), doc="Error of the parts, relative rms.")
    table = property(lambda self: self._core.table(), doc="Candidates of all supports, as dicts.")
    harmonic = property(lambda self: self._core.harmonic(), doc="K_l of the harmonic part.")
    compact = property(lambda self: RadialKernel(self._core.compact()), doc="Kernel of the compact part.")


class SplitConvolution(Plan):
    """Convolution of HEALPix maps with a split kernel. Collective as RingConvolution."""

    def __init__(self, split, comm=None, *, ncomp=None, dtype="f8", threads=None):
        self.grid = as_grid(f"healpix:{split.nside}")
        self.ncomp = (2 if split.spin else 1) if ncomp is None else ncomp
        comm = communicator(comm)
        self._core = _core.SplitConvolution(comm, split._core, self.grid._handle, self.ncomp, is_single(dtype),
                                            threads or 0)
        self.map_layout = MapLayout(self.grid, self._core.rings(), comm)

    def apply(self, map, *, out=None, scratch=False):
        """Returns the convolved map. scratch: may destroy `map`, which is copied otherwise. Collective."""
        part = map if scratch else np.array(view(map), order="C")
        return like(map, self._core.apply(self.ncomp, part, out), out)
