# SPDX-License-Identifier: GPL-3.0-or-later
"""Ringweave: fields on the sphere, on one processor or on many nodes under MPI.

    import ringweave as rw
    t = rw.Transform(rw.Grid.healpix(64), lmax=128, spins=(0, 2))
    map = t.synthesis(alm)
"""
from ._comm import agree, set_abort_hook
from ._core import version as __version__
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .grids import Grid
from .layouts import AlmLayout, MapLayout, resize_alm
from .tables import pixwin
from .transforms import AnalysisReport, Transform

__all__ = ["AlmLayout", "AnalysisReport", "Grid", "MapLayout", "Transform", "__version__", "agree", "pixwin",
           "resize_alm", "set_abort_hook", *_errors]
