# SPDX-License-Identifier: GPL-3.0-or-later
"""HEALPix's files of weights and pixel windows."""
import contextlib
import importlib.util
import os
from pathlib import Path

import numpy as np

from . import _core
from ._comm import agreed, communicator
from .errors import MissingFileError, UsageError

_NAMES = {
    "pixel_window": ("pixel_window_n{:04}.fits",),
    "ring_weights": ("weight_ring_n{:05}.fits",),
    "pixel_weights": ("weight_pixel_n{:05}.fits", "healpix_full_weights_nside_{:04}.fits"),
}


_searched = []


@contextlib.contextmanager
def searching(folder):
    """Looks in a folder, and in its folders of healpy-data, first."""
    _searched.append(Path(folder))
    try:
        yield
    finally:
        _searched.pop()


def _folders():
    for folder in reversed(_searched):
        yield from (folder, folder / "full_weights", folder / "pixel_window_functions")
    root = os.environ.get("HEALPIX")
    if root:
        yield Path(root) / "data"
        yield Path(root)
    healpy = importlib.util.find_spec("healpy")
    for place in healpy.submodule_search_locations if healpy else ():
        yield Path(place) / "data"


def healpix_file(table, nside, comm):
    """Returns the path of a file of HEALPix, as rank 0 finds it: in $HEALPIX/data or among healpy's. Collective."""
    path = ""
    with agreed(comm):
        if comm.rank == 0:
            names = [name.format(nside) for name in _NAMES[table]]
            found = [folder / name for folder in _folders() for name in names if (folder / name).exists()]
            if not found:
                raise MissingFileError(f"{' or '.join(names)}: not found; set HEALPIX to the folder of HEALPix, whose "
                                       "folder data has it")
            path = str(found[0])
    return comm.broadcast(path, 0)


def pixwin(nside, lmax=None, *, pol=False, comm=None):
    """Returns the pixel window of HEALPix, l = 0..lmax; pol: that of T and that of E and B. Collective."""
    comm = communicator(comm)
    t, e, _ = _core.read_pixel_window(comm, healpix_file("pixel_window", nside, comm), nside)
    lmax = 3 * nside - 1 if lmax is None else lmax
    return (t[:lmax + 1], e[:lmax + 1]) if pol else t[:lmax + 1]


def analysis_weights(weights, layout):
    """Returns the weights of an analysis: of this rank's rings in steradians, and of its pixels or None. Collective."""
    if weights is None:
        return None, None
    if isinstance(weights, str):
        if weights not in ("ring", "pixel"):
            raise UsageError(f"weights: is {weights!r}; expected ring, pixel or an array")
        nside = layout.grid.nside
        if nside is None:
            raise UsageError(f"weights: {weights!r} are HEALPix's; the grid is {layout.grid.name}")
        path = healpix_file(f"{weights}_weights", nside, layout.comm)
        if weights == "ring":
            return layout._rings.ring_weights(_core.read_ring_weights(layout.comm, path, nside)), None
        compressed = _core.read_pixel_weights(layout.comm, path, nside)
        return layout._rings.ring_weights(np.zeros(0)), layout._rings.pixel_weights(compressed)
    return np.ascontiguousarray(weights, dtype=np.float64), None
