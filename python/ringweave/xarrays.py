# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of any file format as datasets of xarray."""
import numpy as np

from . import _core
from .files import _path, _reading, _tell
from .grids import Grid
from .layouts import MapLayout

_ALONE = _core.Comm.self()


def _lazy(file, header, layout):
    """Returns an array of xarray that reads columns when they are needed."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Columns(BackendArray):
        shape = (len(header["columns"]), layout.size)
        dtype = np.dtype(header["dtype"])

        def __getitem__(self, key):
            return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

        def _read(self, key):
            columns = np.arange(self.shape[0])[key[0]]
            values = _core.empty_map(self.dtype == np.float32, np.size(columns), layout.size)
            file.read([int(column) for column in np.atleast_1d(columns)], layout._rings, values)
            return (values if np.ndim(columns) else values[0])[..., key[1]]

    return indexing.LazilyIndexedArray(Columns())


def to_xarray(path):
    """Returns a dataset of xarray with the map of a file: FITS, HDF5 or NetCDF, in RING order. Its variable `map` has
    the dimensions field and cell, as in Ringweave's HDF5 files, and is read where it is used, whole columns at a time;
    `crs` has the attributes of CF for HEALPix. Every rank has the whole map."""
    import xarray

    path = _path(path)
    with _reading(_ALONE, path):
        file = _core.MapFile(_ALONE, path, "")
        header = file.header()
    _tell(_ALONE, header)
    layout = MapLayout(Grid._of(file.grid()), comm=_ALONE)
    units = set(header["units"])
    attributes = {"grid_mapping": "crs"}
    if len(units) == 1 and units != {""}:
        attributes["units"] = units.pop()
    elif units - {""}:
        attributes["units_of_fields"] = list(header["units"])
    if header["coordsys"]:
        attributes["COORDSYS"] = header["coordsys"]
    grid = {"grid_name": layout.grid.name}
    if layout.grid.nside:
        grid = {"grid_mapping_name": "healpix", "indexing_scheme": "ring", "healpix_nside": layout.grid.nside,
                "healpix_order": "ring"}
        if layout.grid.nside & (layout.grid.nside - 1) == 0:
            grid["refinement_level"] = layout.grid.nside.bit_length() - 1
    data = xarray.Variable(("field", "cell"), _lazy(file, header, layout), attributes)
    return xarray.Dataset({"map": data, "crs": ((), np.int32(0), grid)},
                          coords={"field": list(header["columns"])},
                          attrs={"Conventions": "CF-1.13", "source": str(path)})
