# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads maps, spectra and a_lm from files without the program and without healpy."""
import h5py
import numpy as np
from astropy.io import fits


UNSEEN = -1.6375e30


def write_map(path, values, **keywords):
    """Writes a full HEALPix map in double; keywords replace header entries, None removes one."""
    values = np.atleast_2d(values)
    names = ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]
    table = fits.BinTableHDU.from_columns([fits.Column(name=name, format="D", array=row, unit="K")
                                           for name, row in zip(names, values)])
    n_pixels = values.shape[1]
    entries = {"PIXTYPE": "HEALPIX", "ORDERING": "RING", "NSIDE": round((n_pixels / 12) ** 0.5), "FIRSTPIX": 0,
               "LASTPIX": n_pixels - 1, "INDXSCHM": "IMPLICIT", "OBJECT": "FULLSKY"} | keywords
    for key, value in entries.items():
        if value is not None:
            table.header[key] = value
    table.writeto(path, overwrite=True)


def read_map(path):
    """Returns columns x pixels in the file's order, as double."""
    if str(path).endswith((".h5", ".hdf5")):
        with h5py.File(path) as file:
            return np.array(file["map"], dtype=np.float64)
    with fits.open(path) as hdus:
        table = hdus[1].data
        return np.array([np.ravel(table[name]) for name in table.names], dtype=np.float64)


def map_header(path):
    if str(path).endswith((".h5", ".hdf5")):
        with h5py.File(path) as file:
            return dict(file["map"].attrs)
    return dict(fits.getheader(path, 1))


def read_text(path):
    """Returns rows of a text table by column name, as in the last comment line before the numbers."""
    with open(path, encoding="utf-8") as file:
        names = [line for line in file if line.startswith("#")][-1].lstrip("# ").split()
    return dict(zip(names, np.loadtxt(path, unpack=True)))


def read_alm(path):
    """Returns components x coefficients, m-major, of an HDF5 file."""
    with h5py.File(path) as file:
        return np.array(file["alm/alm"])


def is_seen(values):
    return values > -1e30


def max_over_sigma(ours, theirs):
    """Returns the largest difference of each row in standard deviations of the reference; UNSEEN pixels must agree."""
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    figures = []
    for a, b in zip(ours, theirs):
        assert np.array_equal(is_seen(a), is_seen(b)), "other pixels are UNSEEN"
        seen = is_seen(b)
        figures.append(np.abs(a - b)[seen].max() / b[seen].std())
    return figures


def rms_difference(ours, theirs):
    """Returns the rms of the difference relative to the rms of the reference."""
    return np.sqrt(np.mean(np.abs(ours - theirs) ** 2) / np.mean(np.abs(theirs) ** 2))
