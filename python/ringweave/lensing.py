# SPDX-License-Identifier: GPL-3.0-or-later
"""Weak lensing: deflections, lensed maps, their exact adjoint, and the way back.

    deflection = rw.lensing.Deflection(grid, dlm)                # once
    lensing = rw.lensing.Lensing(deflection, lmax, (0, 2))       # once
    map = lensing.synthesis(alm)

deflect(), adjoint(), delens() and angles() do all of it for one call.
"""
import numpy as np

from . import _core
from ._comm import agreed, communicator, warn
from ._plans import Plan, SizedPlan, TimedPlan
from .errors import RingweaveWarning, UsageError
from .grids import as_grid
from .layouts import AlmLayout, MapLayout, resize_alm
from .points import point_options
from .sky import _layout_of
from .transforms import is_single

#: The deflection of the CMB has an rms of 2 to 3 arcmin; beyond this the kind of the potential is probably another.
_LARGE_DEFLECTION = 0.01


def _phi(dlm, layout, kind):
    """Returns phi_lm (complex128) of one component of d, kappa or phi."""
    if kind == "phi":
        return np.ascontiguousarray(dlm, dtype=np.complex128)
    l = layout.lm()[0].astype(np.float64)
    factor = np.zeros_like(l)
    if kind == "deflection":
        factor[l > 0] = 1 / np.sqrt(l[l > 0] * (l[l > 0] + 1))
    elif kind == "kappa":
        factor[l > 0] = 2 / (l[l > 0] * (l[l > 0] + 1))
    else:
        raise UsageError(f"kind: is {kind!r}; expected deflection, phi or kappa")
    return dlm * factor


def _comm_of(comm, *layouts):
    """Returns the communicator that was given, else that of a layout that was, else the default. Collective."""
    if comm is None:
        comm = next((layout.comm for layout in layouts if layout is not None), None)
    return communicator(comm)


class Deflection(Plan):
    """The deflection d = grad phi + curl Omega of the pixels of a grid, in radians: the pixel at n looks at n', the end
    of the geodesic that begins there with the direction and length of d. Making it, close(), magnification() and
    inverse() are collective."""

    def __init__(self, grid, dlm, layout=None, comm=None, *, kind="deflection", threads=None, exchange="double"):
        """dlm: a_lm of this rank, (n,), or (2, n) with those of the curl. kind: "deflection", sqrt(l (l + 1)) phi_lm
        as in lenspyx; "phi"; or "kappa", l (l + 1) / 2 phi_lm. layout: of dlm, with any lmax; None: all orders are on
        this rank, and the same on every rank."""
        comm = _comm_of(comm, layout)
        _, self._threads, _, sends_single = point_options((1,), threads, "auto", exchange)
        with agreed(comm):
            grid = as_grid(grid)
            layout = _layout_of(dlm, layout)
            components = np.asarray(dlm)
            components = components.reshape(1, -1) if components.ndim == 1 else components
            if components.ndim != 2 or components.shape[0] not in (1, 2) or components.shape[1] != layout.size:
                raise UsageError(f"dlm: has the shape {np.shape(dlm)}; expected ({layout.size},), or (2, {layout.size})"
                                 " with the curl")
            if comm.size > 1 and layout.comm.size == 1:
                # Every rank has all orders; each gives some.
                own = AlmLayout(layout.lmax, layout.mmax, comm=comm)
                components = np.stack([row[layout.index(*own.lm())] for row in components])
                layout = own
            potentials = [_phi(row, layout, kind) for row in components]
        self._finish(_core.Deflection(comm, grid._handle, layout._layout, potentials[0],
                                      potentials[1] if len(potentials) > 1 else None, self._threads, sends_single),
                     grid, comm)
        if self.rms > _LARGE_DEFLECTION:
            warn(comm, f"the deflection has an rms of {self.rms:.2g} rad; is dlm of the kind {kind!r}?",
                 RingweaveWarning)

    def _finish(self, core, grid, comm):
        self._core = core
        self.grid, self.comm = grid, comm
        self.map_layout = MapLayout(grid, core.rings(), comm)
        self.rms = core.rms()  #: of the length of d over the sphere, radians
        self.largest = core.largest()  #: length of d of any pixel, radians

    @property
    def vectors(self):
        """d of this rank's pixels, (2, n): to the south and to the east, radians. A read-only view."""
        return self._core.vectors()

    def angles(self):
        """Returns theta, phi and gamma of this rank's pixels: the positions n' that they see, and the angle by which
        fields turn. The field of spin s that a pixel sees is exp(i s gamma) times that at n'."""
        theta, phi = self._core.positions()
        cos_gamma, sin_gamma = self._core.rotation()
        return theta, phi, np.arctan2(sin_gamma, cos_gamma)

    def magnification(self, *, out=None):
        """Returns |A| of this rank's pixels, the area around n' over that around n. Not for an inverse. Collective."""
        return self._core.magnification(out)

    def inverse(self):
        """Returns the deflection that leads back. DataError where this one folds the sphere. Collective."""
        inverse = Deflection.__new__(Deflection)
        inverse._threads = self._threads
        inverse._finish(self._core.inverse(self._threads), self.grid, self.comm)
        return inverse

    def __repr__(self):
        return f"<Deflection {self.grid.name}: rms {self.rms:.3g} rad, largest {self.largest:.3g}>"


def _is_carried(rotation):
    if rotation not in ("carried", "none"):
        raise UsageError(f"rotation: is {rotation!r}; expected carried or none")
    return rotation == "carried"


class Lensing(SizedPlan):
    """The transform between a_lm and the deflected map, and its exact adjoint, which is no inverse. Maps are
    (components, map_layout.size), a_lm (components, alm_layout.size). Making it, close() and calls are collective."""

    def __init__(self, deflection, lmax, spins=(0, 2), *, mmax=None, epsilon=1e-7, rotation="carried", threads=None,
                 backend="auto", exchange="double"):
        """lmax: of the unlensed fields. epsilon: bound of the rms error over the rms of the field. rotation: "carried"
        turns Q and U as the sky does, "none" copies them."""
        self.spins, threads, is_cuda, sends_single = point_options(spins, threads, backend, exchange)
        self.deflection = deflection
        self._core = _core.Lensing(deflection._core, lmax, -1 if mmax is None else mmax, list(self.spins), epsilon,
                                   _is_carried(rotation), threads, is_cuda, sends_single)
        self.comm = deflection.comm
        self.map_layout = MapLayout(deflection.grid, self._core.rings(), self.comm)
        self.alm_layout = AlmLayout(self._core.alm_layout(), comm=self.comm)
        self.lmax, self.mmax = lmax, self.alm_layout.mmax
        self.ncomp = sum(1 if spin == 0 else 2 for spin in self.spins)

    def synthesis(self, alm, *, out=None):
        """Returns the lensed map of unlensed a_lm. Collective."""
        return self._core.lens(alm, out)

    def adjoint(self, map, *, out=None, accumulate=False):
        """Returns the transpose applied to a map, without weights. accumulate: adds to `out`. Collective."""
        return self._core.adjoint(map, out, accumulate)

    def empty_map(self, dtype="f8"):
        """Returns this rank's part of a map, not initialised, aligned to 64 bytes."""
        return _core.empty_map(is_single(dtype), self.ncomp, self.map_layout.size)

    def empty_alm(self, dtype="f8"):
        """Returns this rank's part of a_lm, not initialised, aligned to 64 bytes."""
        return _core.empty_alm(is_single(dtype), self.ncomp, self.alm_layout.size)


class Delensing(TimedPlan):
    """Moves lensed maps back: analyses them and evaluates the fields, turned, where their pixels came from. Making it,
    close() and calls are collective."""

    def __init__(self, inverse, lmax, spins=(0, 2), *, mmax=None, iter=None, epsilon=1e-7, rotation="carried",
                 threads=None, backend="auto", exchange="double"):
        """inverse: Deflection.inverse(). lmax: of the analysis. iter: its corrections; None: 3 on HEALPix, else 0."""
        self.spins, threads, is_cuda, sends_single = point_options(spins, threads, backend, exchange)
        if iter is None:
            iter = 3 if inverse.grid.kind == "healpix" else 0
        self._core = _core.Delensing(inverse._core, lmax, -1 if mmax is None else mmax, list(self.spins), epsilon, iter,
                                     _is_carried(rotation), threads, is_cuda, sends_single)
        self.comm = inverse.comm
        self.map_layout = MapLayout(inverse.grid, self._core.rings(), self.comm)
        self.lmax = lmax
        self.ncomp = sum(1 if spin == 0 else 2 for spin in self.spins)

    def delens(self, map, *, out=None):
        """Returns the delensed map. Collective."""
        return self._core.delens(map, out)


def _moved(alm, layout, planned, comm):
    """Returns a_lm in the layout of a plan. layout: None: all orders are on every rank. Collective."""
    with agreed(comm):
        layout = _layout_of(alm, layout)
        is_whole = layout.comm.size == 1 and comm.size > 1
        if is_whole:
            index = layout.index(*planned.lm())
            alm = np.ascontiguousarray(np.asarray(alm)[..., index])
    return alm if is_whole or layout.is_same(planned) else resize_alm(alm, layout, planned)


def deflect(alm, dlm, grid_out, *, layout=None, dlm_layout=None, spins=None, comm=None, epsilon=1e-7,
            kind="deflection", rotation="carried", threads=None):
    """Returns the lensed map of unlensed a_lm, this rank's part in MapLayout(grid_out)'s order, and its layout.
    spins: None: (0,), (2,) or (0, 2) for 1, 2 or 3 components. layout, dlm_layout: of a_lm and dlm; None: all orders
    are on every rank. Collective. For more than one call make a Deflection and a Lensing."""
    comm = _comm_of(comm, layout, dlm_layout)
    with agreed(comm):
        alm_layout = _layout_of(alm, layout)
        spins = _spins_of(alm) if spins is None else spins
    with Deflection(grid_out, dlm, dlm_layout, comm, kind=kind, threads=threads) as deflection:
        with Lensing(deflection, alm_layout.lmax, spins, mmax=alm_layout.mmax, epsilon=epsilon, rotation=rotation,
                     threads=threads) as lensing:
            return lensing.synthesis(_moved(alm, layout, lensing.alm_layout, comm)), lensing.map_layout


def _spins_of(array):
    ncomp = np.shape(array)[0] if np.ndim(array) > 1 else 1
    if ncomp not in (1, 2, 3):
        raise UsageError(f"{ncomp} components; give their spins")
    return {1: (0,), 2: (2,), 3: (0, 2)}[ncomp]


def _grid_and_spins(map, layout, grid, spins, comm):
    """Returns the grid of a map and the spins of its fields. Collective."""
    with agreed(comm):
        if (layout is None) == (grid is None):
            raise UsageError("layout, grid: give one of them")
        return as_grid(grid) if layout is None else layout.grid, _spins_of(map) if spins is None else spins


def adjoint(map, dlm, lmax, *, layout=None, grid=None, dlm_layout=None, mmax=None, spins=None, comm=None,
            epsilon=1e-7, kind="deflection", rotation="carried", magnification=False, weights=False, threads=None):
    """Returns the adjoint of deflect() applied to a map, and the layout of the a_lm. layout: MapLayout of the map;
    grid: instead of it where every rank has the whole map. weights, magnification: multiply pixels by their area and by
    |A| before; with both the result is the unlensed a_lm as far as the grid allows. Collective."""
    comm = _comm_of(comm, layout, dlm_layout)
    grid, spins = _grid_and_spins(map, layout, grid, spins, comm)
    with Deflection(grid, dlm, dlm_layout, comm, kind=kind, threads=threads) as deflection:
        with Lensing(deflection, lmax, spins, mmax=mmax, epsilon=epsilon, rotation=rotation,
                     threads=threads) as lensing:
            part = _own_part(map, layout, lensing.map_layout)
            if weights:
                rings = lensing.map_layout.rings
                part = part * np.repeat(grid.weight[rings], grid.nphi[rings])
            if magnification:
                part = part * deflection.magnification()
            return lensing.adjoint(np.ascontiguousarray(part)), lensing.alm_layout


def _own_part(map, layout, planned):
    """Returns a map in the layout of a plan. layout: None: the map is whole on every rank. Collective."""
    if layout is not None:
        return map if layout.is_same(planned) else layout.move(map, planned)
    with agreed(planned.comm):
        if np.shape(map)[-1] != planned.full_size:
            raise UsageError(f"map: has {np.shape(map)[-1]} pixels; the grid has {planned.full_size}")
        return np.ascontiguousarray(np.asarray(map)[..., planned.pixels()])


def delens(map, dlm, lmax, *, layout=None, grid=None, dlm_layout=None, mmax=None, spins=None, iter=None, comm=None,
           epsilon=1e-7, kind="deflection", rotation="carried", threads=None):
    """Returns a lensed map moved back, and its layout. Arguments as those of adjoint() and Delensing. Collective."""
    comm = _comm_of(comm, layout, dlm_layout)
    grid, spins = _grid_and_spins(map, layout, grid, spins, comm)
    with Deflection(grid, dlm, dlm_layout, comm, kind=kind, threads=threads) as deflection:
        with deflection.inverse() as inverse:
            with Delensing(inverse, lmax, spins, mmax=mmax, iter=iter, epsilon=epsilon, rotation=rotation,
                           threads=threads) as delensing:
                return delensing.delens(_own_part(map, layout, delensing.map_layout)), delensing.map_layout


def angles(dlm, grid, *, dlm_layout=None, comm=None, kind="deflection", threads=None):
    """Returns theta, phi and gamma of this rank's pixels, as Deflection.angles(), and their layout. Collective."""
    with Deflection(grid, dlm, dlm_layout, comm, kind=kind, threads=threads) as deflection:
        return *deflection.angles(), deflection.map_layout
