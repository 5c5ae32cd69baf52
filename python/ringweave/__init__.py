# SPDX-License-Identifier: GPL-3.0-or-later
"""Ringweave: fields on the sphere, on one processor or on many nodes under MPI.

    import ringweave as rw
    t = rw.Transform(rw.Grid.healpix(64), lmax=128, spins=(0, 2))
    map = t.synthesis(alm)
"""
from . import lensing
from ._comm import agree, set_abort_hook
from ._core import version as __version__
from .convolutions import KernelSplit, RadialKernel, RingConvolution, SplitConvolution
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .files import Map, info, read_alm, read_beam, read_cl, read_map, write_alm, write_cl, write_map
from .grids import Grid
from .gyroaverages import Gyroaverage, GyroPart, circle_row, gyroaverage_with_radii, gyroaverage_with_radii_adjoint
from .layouts import AlmLayout, MapLayout, resize_alm
from .points import FineField, NonuniformTransform
from .predictions import Machine, calibrate, predict
from .redistribution import Redistribution, alm_redistribute
from .sky import Spectra, alm2cl, draw_alm, gauss_beam, rotate_alm
from .smoothing import smooth
from .tables import pixwin
from .transforms import AnalysisReport, Transform
from .xarrays import to_xarray

#: Machine of predictions: a Machine, its name or file; None: $RINGWEAVE_MACHINE, else the typical one.
machine = None

__all__ = [
    "AlmLayout", "AnalysisReport", "FineField", "Grid", "GyroPart", "Gyroaverage", "KernelSplit", "Machine", "Map",
    "MapLayout", "NonuniformTransform", "RadialKernel", "Redistribution", "RingConvolution", "Spectra",
    "SplitConvolution", "Transform", "__version__", "agree", "alm2cl", "alm_redistribute", "calibrate", "circle_row",
    "draw_alm", "gauss_beam", "gyroaverage_with_radii", "gyroaverage_with_radii_adjoint", "info", "lensing", "pixwin",
    "predict", "read_alm", "read_beam", "read_cl", "read_map", "resize_alm", "rotate_alm", "set_abort_hook", "smooth",
    "to_xarray", "write_alm", "write_cl", "write_map", *_errors,
]
