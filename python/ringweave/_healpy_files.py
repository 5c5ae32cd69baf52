# SPDX-License-Identifier: GPL-3.0-or-later
"""healpy's functions for files."""
import os

import numpy as np

from . import files
from ._comm import communicator
from ._healpy import _ALONE, UNSEEN, Alm, _is_bad, _is_list, _nside
from ._nested import to_nested, to_ring
from .errors import UsageError
from .grids import Grid
from .layouts import AlmLayout, MapLayout, resize_alm

# Order of healpy's anafast(), and HEALPix's names of the columns.
_SPECTRA = ("TT", "EE", "BB", "TE", "EB", "TB")
_COLUMNS = ("TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-G", "C-T")


def _path(filename, hdu=1):
    if not isinstance(filename, (str, os.PathLike)):
        raise TypeError(f"filename: is an object of type {type(filename).__name__}; expected the name of a file")
    if np.any(np.atleast_1d(hdu) < 1):
        raise UsageError(f"hdu: is {hdu}; expected 1 or more")
    return filename


def _cards(header):
    """Returns what is known of a map's header as (key, value)."""
    cards = [("PIXTYPE", "HEALPIX"), ("ORDERING", header["ordering"]), ("NSIDE", int(header["grid"].split(":")[1])),
             ("INDXSCHM", "EXPLICIT" if header["is_partial"] else "IMPLICIT"),
             ("OBJECT", "PARTIAL" if header["is_partial"] else "FULLSKY")]
    if header["coordsys"]:
        cards.append(("COORDSYS", header["coordsys"]))
    for i, (name, unit) in enumerate(zip(header["columns"], header["units"]), 1):
        cards += [(f"TTYPE{i}", name)] + ([(f"TUNIT{i}", unit)] if unit else [])
    keywords = header["processing"]["keywords"]
    return cards + list(keywords.items() if isinstance(keywords, dict) else keywords)


def read_map(filename, field=0, dtype=None, nest=False, partial=False, hdu=1, h=False, verbose=True, memmap=False, *,
             comm=None, distributed=False):
    """Returns columns of a map, in the file's precision, with UNSEEN where there is nothing; h: its header too. Partial
    maps are recognised. hdu: 1, the first extension with maps. Collective."""
    path = _path(filename, hdu)
    if hdu != 1:
        raise UsageError(f"hdu: is {hdu}; the first one with maps is read")
    if nest and distributed:
        raise UsageError("nest: distributed maps are in RING order")
    names = None if field is None else [field] if isinstance(field, (int, np.integer, str)) else list(field)
    read = files.read_map(path, field=names, comm=communicator(comm) if distributed else _ALONE)
    if not read.header["grid"].startswith("healpix"):
        raise UsageError(f"{filename}: is a map on {read.header['grid']}; expected one of HEALPix")
    maps = np.atleast_2d(read.values)
    if nest or (nest is None and read.header["ordering"] == "NESTED" and not distributed):
        maps = to_nested(maps)
    if isinstance(dtype, (list, tuple)):
        if len(dtype) != len(maps):
            raise ValueError(f"dtype: has {len(dtype)} types for {len(maps)} columns")
        maps = [row.astype(one) for row, one in zip(maps, dtype)]
    elif dtype is not None:
        maps = maps.astype(dtype)
    for row in maps:
        if row.dtype.kind == "f":
            row[_is_bad(row)] = UNSEEN
    result = maps[0] if len(maps) == 1 else maps
    return (result, _cards(read.header)) if h else result


def _single(arrays, dtype):
    """Tells whether all are of float32, or are to be written as such."""
    kinds = [np.dtype(one) for one in dtype] if isinstance(dtype, (list, tuple)) else \
        [array.dtype for array in arrays] if dtype is None else [np.dtype(dtype)]
    return "f4" if all(kind.str[1:] in ("f4", "c8") for kind in kinds) else "f8"


def write_map(filename, m, nest=False, dtype=None, fits_IDL=True, coord=None, partial=False, column_names=None,
              column_units=None, extra_header=(), overwrite=False, *, comm=None, distributed=False):
    """Writes maps, as float32 where all are, else as float64. nest: they are in NESTED order, and so is the file.
    partial: without rings of which the first map has seen nothing. Collective."""
    path = _path(filename)
    rows = list(m) if _is_list(m) else [m]
    rows = [row.filled(UNSEEN) if isinstance(row, np.ma.MaskedArray) else np.asarray(row) for row in rows]
    maps = np.array(rows, dtype=_single(rows, dtype))
    comm = communicator(comm)
    if distributed:
        if partial or nest:
            raise UsageError("nest and partial: are of whole maps; these are distributed")
        layout = MapLayout(Grid.healpix(_nside(sum(comm.all_gather(maps.shape[1])))), comm=comm)
    else:
        maps = to_ring(maps) if nest else maps
        grid = Grid.healpix(_nside(maps.shape[1]))
        if partial:
            seen = ~_is_bad(maps[0])
            if not seen.any():
                raise ValueError("the map has no pixel that was seen")
            grid = grid.where(seen)
        layout = MapLayout(grid, comm=comm)
        shifts = np.repeat((grid.source_pixel - grid.first_pixel)[layout.rings], grid.nphi[layout.rings])
        maps = np.ascontiguousarray(maps[:, layout.pixels() + shifts])
    if column_names is None and len(maps) == 6:
        column_names = ["II", "IQ", "IU", "QQ", "QU", "UU"]
    elif column_names is None and len(maps) > 3:
        column_names = [f"COLUMN_{i}" for i in range(1, len(maps) + 1)]
    elif isinstance(column_names, str):
        column_names = [column_names]
    units = column_units or ""
    files.write_map(path, maps, layout=layout, overwrite=overwrite, names=column_names,
                    units=units if isinstance(units, str) else [unit or "" for unit in units], coordsys=coord or "",
                    nest=nest, partial=partial, header=[(card[0], card[1]) for card in extra_header])


def read_alm(filename, hdu=1, return_mmax=False, *, comm=None, distributed=False):
    """Returns the a_lm of extensions, and their mmax if asked for. Collective."""
    alm, layout = files.read_alm(_path(filename, hdu), comm=communicator(comm) if distributed else _ALONE)
    if np.max(hdu) > len(alm):
        raise ValueError(f"hdu: is {hdu}; the file has {len(alm)}")
    rows = alm[np.atleast_1d(hdu) - 1]
    rows = rows[0] if len(rows) == 1 else rows
    return (rows, layout.mmax) if return_mmax else rows


def write_alm(filename, alms, out_dtype=None, lmax=-1, mmax=-1, mmax_in=-1, overwrite=False, *, comm=None,
              distributed=False):
    """Writes a_lm, those of degrees and orders up to lmax and mmax. Collective."""
    path = _path(filename)
    rows = [np.asarray(row) for row in (alms if _is_list(alms) else [alms])]
    rows = np.array(rows, dtype="c8" if _single(rows, out_dtype) == "f4" else "c16")
    comm = communicator(comm)
    outer = comm if distributed else _ALONE
    size = sum(outer.all_gather(rows.shape[1]))
    own = Alm.getlmax(size, mmax_in)
    if own < 0 or lmax > own:
        raise ValueError(f"lmax: is {lmax}; {size} a_lm are those of lmax {own}")
    lmax = own if lmax < 0 else lmax
    mmax_in = own if mmax_in < 0 else mmax_in
    mmax = min(mmax_in, lmax if mmax < 0 else mmax)
    whole = resize_alm(rows, AlmLayout(own, mmax_in, comm=outer), AlmLayout(lmax, mmax, comm=outer))
    layout = AlmLayout(lmax, mmax, comm=comm)
    if not distributed:
        parts = [whole[:, first:first + count] for first, _, count in layout.pieces.tolist()]
        whole = np.concatenate(parts, axis=1) if parts else whole[:, :0].copy()
    files.write_alm(path, whole, layout, overwrite=overwrite)


def read_cl(filename, *, comm=None):
    """Returns the spectra of a file as C_l: TT, or those of TT, EE, BB, TE, EB, TB that it has. Collective."""
    spectra = files.read_cl(_path(filename), comm=comm).cl
    rows = np.array([spectra[name] for name in _SPECTRA if name in spectra])
    return rows[0] if len(rows) == 1 else rows


def write_cl(filename, cl, dtype=None, overwrite=False, column_names=None, column_units=None, extra_header=(), *,
             comm=None):
    """Writes spectra, as float64: C_l of TT, or of TT, EE, BB, TE, EB, TB in this order, that of anafast(), unless
    column_names says with HEALPix's names what they are. Files have one, four or six columns. Collective."""
    rows = [cl] if np.ndim(cl[0]) == 0 else list(cl)
    names = [column_names] if isinstance(column_names, str) else column_names
    names = _COLUMNS[:len(rows)] if names is None else [name.upper() for name in names]
    names = [_SPECTRA[_COLUMNS.index(name)] if name in _COLUMNS else name for name in names]
    if len(names) != len(rows) or not set(names) <= set(_SPECTRA):
        raise ValueError(f"column_names: are {', '.join(names)}; expected {len(rows)} of {', '.join(_COLUMNS)} or "
                         f"{', '.join(_SPECTRA)}")
    units = [column_units] * len(rows) if column_units is None or isinstance(column_units, str) else list(column_units)
    if len(units) != len(rows) or len(set(units)) > 1 or not isinstance(units[0], (str, type(None))):
        raise ValueError(f"column_units: are {units}; expected the same text for all {len(rows)}")
    files.write_cl(_path(filename), dict(zip(names, rows)), overwrite=overwrite, unit=units[0] or "", comm=comm,
                   header=[(card[0], card[1]) for card in extra_header])
