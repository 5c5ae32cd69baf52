# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps, a_lm and spectra in files, read and written in parallel."""
import contextlib
import dataclasses
import datetime
import errno
import os
import sys

import numpy as np

from . import _core
from ._comm import communicator, warn
from .errors import DataError, FileWarning, MissingFileError, OutputExistsError, UsageError
from .grids import Grid
from .layouts import AlmLayout, MapLayout
from .sky import Spectra, _cl_of
from .transforms import is_single

_NAMES = {1: ("TEMPERATURE",), 2: ("Q_POLARISATION", "U_POLARISATION"),
          3: ("TEMPERATURE", "Q_POLARISATION", "U_POLARISATION")}
_LETTERS = {1: ("T",), 2: ("E", "B"), 3: ("T", "E", "B")}


@dataclasses.dataclass
class Map:
    """Map with what belongs to it: values of this rank's pixels, (n,) or (components, n), their layout, and the header
    of the file as a dict."""

    values: np.ndarray
    layout: MapLayout
    header: dict | None = None

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype, copy=bool(copy)) if copy else np.asarray(self.values, dtype=dtype)


@contextlib.contextmanager
def _reading(comm, path):
    """Makes MissingFileError of the error about a file that is not there."""
    try:
        yield
    except DataError as error:
        if comm.broadcast("" if os.path.exists(path) else "missing", 0):
            missing = MissingFileError(str(error))
            missing.rank, missing.errno, missing.filename = error.rank, errno.ENOENT, path
            raise missing from None
        raise


@contextlib.contextmanager
def _writing(comm, path, overwrite):
    """Makes OutputExistsError of the error about a file that is there."""
    try:
        yield
    except UsageError as error:
        if not overwrite and "exists" in str(error) and comm.broadcast("there" if os.path.exists(path) else "", 0):
            there = OutputExistsError(str(error).replace("--overwrite", "overwrite=True"))
            there.rank, there.errno, there.filename = error.rank, errno.EEXIST, path
            raise there from None
        raise


def _tell(comm, header):
    for text in header["warnings"]:
        warn(comm, text, FileWarning, 4)


def _path(path):
    return os.fspath(path)


def _provenance(history, keywords):
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    values = [(str(name), value if isinstance(value, (bool, int, float, str)) else str(value))
              for name, value in dict(keywords).items()]
    return _core.Provenance(date, " ".join(map(str, sys.argv)), [str(line) for line in history], values)


def read_map(path, *, field=None, comm=None, layout=None, dtype=None):
    """Reads a map: FITS, HDF5 or NetCDF. field: a column, by number or name, or several; None: all. layout: which
    pixels this rank gets, for example t.map_layout; None: bands of about equal size. Pixels are in RING order whatever
    the file has. Collective."""
    comm = layout.comm if layout is not None else communicator(comm)
    path = _path(path)
    with _reading(comm, path):
        file = _core.MapFile(comm, path, "")
        header = file.header()
        layout = MapLayout(Grid._of(file.grid()), comm=comm) if layout is None else layout
        names = header["columns"]
        fields = list(range(len(names))) if field is None else [field] if isinstance(field, (int, str)) else list(field)
        unknown = [one for one in fields if isinstance(one, str) and one not in names]
        if unknown:
            raise UsageError(f"field: {', '.join(unknown)}; the file has {', '.join(names)}")
        fields = [names.index(one) if isinstance(one, str) else int(one) for one in fields]
        single = is_single(header["dtype"] if dtype is None else dtype)
        values = _core.empty_map(single, len(fields), layout.size)
        file.read(fields, layout._rings, values)
    _tell(comm, header)
    return Map(values[0] if isinstance(field, (int, str)) or len(fields) == 1 else values, layout, header)


def write_map(path, map, *, layout=None, overwrite=False, names=None, units="", coordsys="", nest=False, partial=False,
              dtype=None, history=(), header=()):
    """Writes a map, whole or not at all. map: a Map, or an array with its layout (None: HEALPix by its size). units: of
    all columns, or one for each. nest: NESTED order in the file. partial: only the pixels of a subset of rings.
    header: further keywords. Collective."""
    path = _path(path)
    if isinstance(map, Map):
        layout = map.layout if layout is None else layout
        if map.header:
            names = map.header["columns"] if names is None else names
            units = map.header["units"] if units == "" else units
            coordsys = map.header["coordsys"] if coordsys == "" else coordsys
        map = map.values
    if layout is None:
        layout = MapLayout(Grid.healpix(round((np.shape(map)[-1] / 12) ** 0.5)), comm=_core.Comm.self())
    ncomp = 1 if np.ndim(map) == 1 else len(map)
    names = _NAMES.get(ncomp, tuple(f"COLUMN{i + 1}" for i in range(ncomp))) if names is None else names
    units = [units] * ncomp if isinstance(units, str) else list(units)
    single = is_single(np.asarray(map).dtype if dtype is None else dtype)
    grid = layout.grid
    while grid.is_subset:
        grid = grid._state[1]
    with _writing(layout.comm, path, overwrite):
        _core.write_map(layout.comm, path, overwrite, grid._handle, layout._rings, map, list(names), units, coordsys,
                        nest, partial, single, _provenance(history, header))


def read_alm(path, *, layout=None, comm=None, lmax=None, dtype=None):
    """Reads a_lm: FITS, HDF5 or ICGEM. Returns them, (components, n), and their layout. layout: of the result, for
    example t.alm_layout; None: orders dealt out to ranks, up to lmax. Collective."""
    comm = layout.comm if layout is not None else communicator(comm)
    path = _path(path)
    with _reading(comm, path):
        file = _core.AlmFile(comm, path)
        header = file.header()
        if layout is None:
            degrees = header["lmax"] if lmax is None else lmax
            layout = AlmLayout(degrees, min(header["mmax"], degrees), comm=comm)
        n = len(header["components"])
        alm = _core.empty_alm(is_single(header["dtype"] if dtype is None else dtype), n, layout.size)
        file.read(list(range(n)), layout._layout, alm)
    _tell(comm, header)
    return alm, layout


def write_alm(path, alm, layout, *, overwrite=False, components=None, unit="", coordsys="", dtype=None, history=(),
              header=()):
    """Writes a_lm, whole or not at all. components: names; None: T, or T, E, B, by their number. Collective."""
    path = _path(path)
    ncomp = 1 if np.ndim(alm) == 1 else len(alm)
    components = _LETTERS.get(ncomp, tuple(f"A{i + 1}" for i in range(ncomp))) if components is None else components
    single = is_single(np.asarray(alm).dtype if dtype is None else dtype)
    with _writing(layout.comm, path, overwrite):
        _core.write_alm(layout.comm, path, overwrite, layout._layout, alm, list(components), unit, coordsys, single,
                        _provenance(history, header))


def read_cl(path, *, kind=None, comm=None):
    """Reads spectra as C_l: text, FITS or HDF5. kind: "Cl" or "Dl", what the file's numbers are; None: what it says,
    else C_l. Collective."""
    comm = communicator(comm)
    path = _path(path)
    with _reading(comm, path):
        content = _core.read_cl(comm, path, kind or "")
    _tell(comm, content)
    return Spectra(content["cl"], unit=content["unit"])


def write_cl(path, cl, *, overwrite=False, unit=None, comm=None, history=(), header=()):
    """Writes spectra as C_l. cl: Spectra, a dict or an array of C_l of T. Collective."""
    comm = communicator(comm)
    path = _path(path)
    unit = getattr(cl, "unit", "") if unit is None else unit
    with _writing(comm, path, overwrite):
        _core.write_cl(comm, path, overwrite, _cl_of(cl), unit, _provenance(history, header))


def read_beam(path, *, comm=None):
    """Reads a beam: the rows T, E, B of b_l. Collective."""
    comm = communicator(comm)
    path = _path(path)
    with _reading(comm, path):
        parts, warnings = _core.read_beam(comm, path)
    _tell(comm, {"warnings": warnings})
    size = max(len(part) for part in parts)
    return np.array([np.pad(part, (0, size - len(part))) for part in parts])


def info(path, *, comm=None):
    """Returns what a file says of itself as a dict: "kind" is map, alm or cl. Collective."""
    comm = communicator(comm)
    path = _path(path)
    first = None
    with _reading(comm, path):
        for describe in (lambda: _core.MapFile(comm, path, "").header(), lambda: _core.AlmFile(comm, path).header(),
                         lambda: _core.read_cl(comm, path, "")):
            try:
                return describe()
            except (DataError, UsageError) as error:
                first = first or error
        raise first
