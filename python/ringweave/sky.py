# SPDX-License-Identifier: GPL-3.0-or-later
"""Spectra, random a_lm, rotations and beams."""
import numpy as np

from . import _core
from ._angles import radians
from ._arrays import like
from ._comm import agreed, communicator
from .errors import UsageError
from .layouts import AlmLayout, _output
from .transforms import is_single

_NAMES = ("TT", "EE", "BB", "TE", "EB", "TB", "ET", "BE", "BT", "PP", "TP", "EP")


def _scale(size):
    """Returns l (l + 1) / 2 pi, 1 for l = 0."""
    l = np.arange(size)
    return np.where(l > 0, l * (l + 1.0) / (2 * np.pi), 1.0)


class Spectra:
    """Angular power spectra by name, l = 0..lmax: TT, EE, BB, TE, EB, TB; ET, BE, BT of two skies; PP, TP, EP of the
    lensing potential. spectra["TT"] is an array of the kind that was given."""

    def __init__(self, values, kind="Cl", unit=""):
        """values: {"TT": array, ...}. kind: "Cl", or "Dl" for l (l + 1) C_l / 2 pi."""
        if kind not in ("Cl", "Dl"):
            raise UsageError(f"kind: is {kind!r}; expected Cl or Dl")
        unknown = set(values) - set(_NAMES)
        if unknown or not values:
            raise UsageError(f"spectra: {', '.join(sorted(unknown)) or 'none'}; expected some of {', '.join(_NAMES)}")
        arrays = {name: np.ascontiguousarray(array, dtype=np.float64) for name, array in values.items()}
        size = max(len(array) for array in arrays.values())
        self._values = {name: np.pad(array, (0, size - len(array))) for name, array in arrays.items()}
        self.kind = kind
        self.unit = unit

    lmax = property(lambda self: len(next(iter(self._values.values()))) - 1, doc="Highest degree.")

    @property
    def cl(self):
        """{name: C_l}."""
        if self.kind == "Cl":
            return dict(self._values)
        return {name: array / _scale(len(array)) for name, array in self._values.items()}

    @property
    def dl(self):
        """{name: l (l + 1) C_l / 2 pi}, C_0 for l = 0."""
        if self.kind == "Dl":
            return dict(self._values)
        return {name: array * _scale(len(array)) for name, array in self._values.items()}

    def __getitem__(self, name):
        return self._values[name]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __contains__(self, name):
        return name in self._values

    def keys(self):
        """Returns the names."""
        return self._values.keys()

    @staticmethod
    def read(path, *, kind=None, comm=None):
        """Reads a file, as read_cl(). Collective."""
        from .files import read_cl
        return read_cl(path, kind=kind, comm=comm)

    def write(self, path, *, overwrite=False, comm=None):
        """Writes a file, as write_cl(). Collective."""
        from .files import write_cl
        write_cl(path, self, overwrite=overwrite, comm=comm)

    def __repr__(self):
        unit = f", {self.unit}" if self.unit else ""
        return f"<Spectra {' '.join(self._values)}, {self.kind}, lmax {self.lmax}{unit}>"


def _cl_of(spectra):
    """Returns {name: C_l} of Spectra, a dict, or an array of TT."""
    if isinstance(spectra, Spectra):
        return spectra.cl
    if not isinstance(spectra, dict):
        spectra = {"TT": spectra}
    return Spectra(spectra).cl


def draw_alm(cl, seed, layout, *, ncomp=None, dtype="f8", out=None):
    """Returns Gaussian a_lm of spectra (Spectra, a dict, or an array of C_l of T), the same for one seed on any number
    of ranks and at any lmax. ncomp: None: 1 where there is only TT, 3 (T, E, B) with EE, BB or TE, 4 with a lensing
    potential."""
    cl = _cl_of(cl)
    if ncomp is None:
        ncomp = 4 if set(cl) & {"PP", "TP", "EP"} else 3 if set(cl) & {"EE", "BB", "TE"} else 1
    if out is None:
        out = _core.empty_alm(is_single(dtype), ncomp, layout.size)
    _core.draw_alm(cl, seed, layout._layout, out)
    return out


def alm2cl(a, b=None, layout=None):
    """Returns the spectra of a_lm of T; of E and B; or of T, E and B. b: a second sky, for cross spectra. layout: None:
    all orders on this rank. Collective."""
    layout = _layout_of(a, layout)
    return Spectra(_core.alm2cl(layout.comm, layout._layout, a, b))


def _layout_of(alm, layout):
    """Returns the layout of a_lm: that of all orders up to mmax = lmax on one rank where it is None."""
    if layout is not None:
        return layout
    size = np.shape(alm)[-1]
    lmax = int((np.sqrt(8 * size + 1) - 3) / 2)
    if (lmax + 1) * (lmax + 2) // 2 != size:
        raise UsageError(f"alm: {size} coefficients are not those of any lmax = mmax; give a layout")
    return AlmLayout(lmax, comm=_core.Comm.self())


def rotate_alm(alm, layout, rotation, *, out=None):
    """Returns a_lm rotated: "G->C" and the like between galactic (G), celestial (C) and ecliptic (E) coordinates, a
    matrix that takes directions, or (psi, theta, phi) as in healpy. out=alm works in place. Collective."""
    layout = _layout_of(alm, layout)
    with agreed(layout.comm):
        if isinstance(rotation, str):
            ends = rotation.split("->")
            if len(ends) != 2:
                raise UsageError(f"rotation: {rotation!r}; expected for example G->C")
            angles = _core.euler_between(*ends)
        elif np.shape(rotation) == (3, 3):
            angles = _core.euler_of_matrix([[float(x) for x in row] for row in rotation])
        elif np.shape(rotation) == (3,) or len(rotation) == 3:
            angles = tuple(radians(angle, "rotation") for angle in rotation)
        else:
            raise UsageError("rotation: expected a text, a 3 x 3 matrix or three angles")
        result = _output(alm, out)
    _core.rotate(layout.comm, layout._layout, result, *angles)
    return like(alm, result, out)


def gauss_beam(fwhm, lmax, spin=0):
    """Returns b_l of a Gaussian beam, l = 0..lmax, for fields of a spin."""
    return _core.gauss_beam(radians(fwhm, "fwhm"), lmax, spin)
