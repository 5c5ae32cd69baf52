# SPDX-License-Identifier: GPL-3.0-or-later
"""Ringweave: fields on the sphere, on one processor or on many nodes under MPI.

    import ringweave as rw
    t = rw.Transform(rw.Grid.healpix(64), lmax=128, spins=(0, 2))
    map = t.synthesis(alm)
"""
from ._comm import agree, set_abort_hook
from ._core import version as __version__
from .convolutions import KernelSplit, RadialKernel, RingConvolution, SplitConvolution
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .files import Map, info, read_alm, read_beam, read_cl, read_map, write_alm, write_cl, write_map
from .grids import Grid
from .layouts import AlmLayout, MapLayout, resize_alm
from .sky import Spectra, alm2cl, draw_alm, gauss_beam, rotate_alm
from .smoothing import smooth
from .tables import pixwin
from .transforms import AnalysisReport, Transform

__all__ = [
    "AlmLayout", "AnalysisReport", "Grid", "KernelSplit", "Map", "MapLayout", "RadialKernel", "RingConvolution",
    "Spectra", "SplitConvolution", "Transform", "__version__", "agree", "alm2cl", "draw_alm", "gauss_beam", "info",
    "pixwin", "read_alm", "read_beam", "read_cl", "read_map", "resize_alm", "rotate_alm", "set_abort_hook", "smooth",
    "write_alm", "write_cl", "write_map", *_errors,
]
