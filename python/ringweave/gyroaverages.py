# SPDX-License-Identifier: GPL-3.0-or-later
"""Averages of fields in the plane over circles: gyroaverages."""
import dataclasses

import numpy as np

from . import _core
from ._comm import agreed, communicator
from ._plans import SizedPlan
from .errors import ArrayError, UsageError
from .transforms import backend_is_cuda, is_single

_NOTHING = np.zeros((0, 3), dtype=np.int64)


@dataclasses.dataclass(frozen=True)
class GyroPart:
    """What a rank has: slices of the radii, of the fields, of the rows of results, and of the rows of fields (all rows
    where the method needs whole fields: dct, chebyshev)."""

    radii: slice
    fields: slice
    rows: slice
    field_rows: slice


def _length(part):
    return part.stop - part.start


def _planes(array, name, shape, plane):
    """Returns an array of the shape (*shape, *plane) as (planes, elements) without a copy. The last number of `shape`
    is that of fields; its axis may be left out where it is 1."""
    if not isinstance(array, np.ndarray):
        if not hasattr(array, "__dlpack__"):
            raise ArrayError(f"{name}: is an object of type {type(array).__name__}; expected an array")
        array = np.from_dlpack(array)
    if array.shape != (*shape, *plane) and (shape[-1] != 1 or array.shape != (*shape[:-1], *plane)):
        raise UsageError(f"{name}: has the shape {array.shape}; expected {(*shape, *plane)} on this rank")
    if array.size:
        if array.strides[-1] != array.itemsize or plane[0] > 1 and array.strides[-2] != array.itemsize * plane[1]:
            raise ArrayError(f"{name}: has planes that are not contiguous; copy it")
        leading = [(n, stride) for n, stride in zip(array.shape[:-2], array.strides) if n > 1]
        if any(outer != n * inner for (_, outer), (n, inner) in zip(leading, leading[1:])):
            raise ArrayError(f"{name}: has radii and fields that are no single sequence of planes; copy it")
    return array.reshape(int(np.prod(shape)), plane[0] * plane[1])


def _axes(x, y, boundary):
    boundaries = (boundary, boundary) if isinstance(boundary, str) else tuple(boundary)
    if len(boundaries) != 2:
        raise UsageError(f"boundary: is {boundary!r}; expected one name, or those of x and y")
    return tuple(_core.PlaneAxis.of_nodes(np.ascontiguousarray(nodes, dtype=np.float64), side, name)
                 for nodes, side, name in ((x, boundaries[0], "x"), (y, boundaries[1], "y")))


def _method_of(method, axes):
    if method is not None:
        return method
    return "chebyshev" if all(axis.is_chebyshev for axis in axes) else "bicubic"


class Gyroaverage(SizedPlan):
    """Averages of fields f(x, y) over circles of radius rho about the nodes, for many radii, and their exact
    transposes. Planned once, then called often; making it, close() and all calls are collective.

    A plane is (rows, x), rows of this rank (`part`). Fields are (fields, rows, x), fields of every radius
    (radii, fields, rows, x), with the numbers of this rank; a single field may come as (rows, x). Results have the
    nodes of `targets`. Either precision is taken."""

    def __init__(self, x, y, radii, comm=None, *, method=None, boundary="zero", targets=None, padding=None, nfields=1,
                 sums=True, dtype=None, memory_limit=None, threads=None, backend="auto"):
        """x, y: nodes, equispaced or Chebyshev's. radii: in the same unit. method: bilinear, bicubic, dct or chebyshev;
        None: chebyshev on Chebyshev nodes, else bicubic. boundary: zero, periodic or mirror, or a pair of them for x
        and y. targets: numbers of equispaced nodes of results along x and y (chebyshev). padding: nodes at each end
        (dct). nfields: of each call. sums=False: sum() and each_adjoint() are refused, which saves memory. dtype: "f8"
        refuses float32, which saves memory. memory_limit: bytes of tables that a rank may hold."""
        self.comm = communicator(comm)
        with agreed(self.comm):
            axes = _axes(x, y, boundary)
            self.radii = np.array(radii, dtype=np.float64).reshape(-1)
            self.radii.flags.writeable = False
            self.method = _method_of(method, axes)
            tx, ty = (0, 0) if targets is None else targets
            only_doubles = dtype is not None and not is_single(dtype)
            is_cuda = backend_is_cuda(backend)
        self._core = _core.Gyroaverage(self.comm, *axes, self.radii.tolist(), self.method, tx, ty,
                                       -1 if padding is None else padding, nfields, bool(sums), only_doubles,
                                       memory_limit or 0, threads or 0, is_cuda)
        self.nfields = nfields
        self.x, self.y = (axis.nodes() for axis in axes)
        self.targets = self._core.targets()
        self.part = GyroPart(**{name: slice(*ends) for name, ends in self._core.part().items()})
        self._n = (_length(self.part.radii), _length(self.part.fields))
        self._field_plane = (_length(self.part.field_rows), len(self.x))
        self._result_plane = (_length(self.part.rows), len(self.targets[0]))

    def _call(self, name, array, out, *weights):
        call, is_adjoint = getattr(self._core, name), name.endswith("_adjoint")
        sides = {"each": (False, True), "pairs": (True, True), "sum": (True, False)}[name.split("_")[0]]
        from_radii, to_radii = sides[::-1] if is_adjoint else sides
        planes = (self._field_plane, self._result_plane)
        from_plane, to_plane = planes[::-1] if is_adjoint else planes
        with agreed(self.comm):
            shape = self._n if to_radii else self._n[1:]
            given = _planes(array, "results" if is_adjoint else "fields", self._n if from_radii else self._n[1:],
                            from_plane)
            if out is None:
                lacks_fields = np.ndim(array) == 2 + from_radii
                out = np.empty((*(shape[:-1] if lacks_fields else shape), *to_plane), given.dtype)
            taken = _planes(out, "out", shape, to_plane)
            weights = [np.ascontiguousarray(values, dtype=np.float64).reshape(-1) for values in weights]
        call(given, *weights, taken)
        return out

    def each(self, fields, *, out=None):
        """Returns the averages of every field over every radius: fields -> results of every radius. Collective."""
        return self._call("each", fields, out)

    def pairs(self, fields, *, out=None):
        """Returns the averages of the fields of every radius over that radius. Collective."""
        return self._call("pairs", fields, out)

    def sum(self, fields, weights, *, out=None):
        """Returns the sum of weighted averages over all radii: fields of every radius -> results, on every rank that
        has the same fields and rows. weights: one for each of `radii`. Collective."""
        return self._call("sum", fields, out, weights)

    def each_adjoint(self, results, *, out=None):
        """Returns the transpose of each() applied to results of every radius. Collective."""
        return self._call("each_adjoint", results, out)

    def pairs_adjoint(self, results, *, out=None):
        """Returns the transpose of pairs() applied to results of every radius. Collective."""
        return self._call("pairs_adjoint", results, out)

    def sum_adjoint(self, results, weights, *, out=None):
        """Returns the transpose of sum() applied to results: fields of every radius. Collective."""
        return self._call("sum_adjoint", results, out, weights)

    def _pieces(self, rows, n_rows, n_x):
        """Returns the pieces (place in all planes of all radii, place in this rank's, count) of planes of a rank."""
        first = rows.start * n_x
        count = _length(rows) * n_x
        if not count:
            return _NOTHING
        planes = [(radius * self.nfields + field) * n_rows * n_x + first
                  for radius in range(self.part.radii.start, self.part.radii.stop)
                  for field in range(self.part.fields.start, self.part.fields.stop)]
        return np.array([(place, i * count, count) for i, place in enumerate(planes)],
                        dtype=np.int64).reshape(-1, 3)

    def gather(self, results, *, root=0):
        """Returns results of every radius, (radii, nfields, y, x), on rank `root`; None on the others. Collective."""
        is_root = self.comm.rank == root
        n_x, n_y = (len(nodes) for nodes in self.targets)
        shape = (len(self.radii), self.nfields, n_y, n_x)
        with agreed(self.comm):
            part = _planes(results, "results", self._n, self._result_plane).reshape(1, -1)
            whole = np.empty((1, int(np.prod(shape))), part.dtype) if is_root else None
        pieces = np.array([[0, 0, whole.size]], dtype=np.int64) if is_root else _NOTHING
        _core.move(self.comm, part, self._pieces(self.part.rows, n_y, n_x), whole, pieces)
        return whole.reshape(shape) if is_root else None

    @property
    def indicator(self):
        """Error to expect of the last call, of the fields of this rank: 0 for bilinear and bicubic."""
        return self._core.indicator()

    def __repr__(self):
        state = "" if self._core.is_open else ", closed"
        return f"<Gyroaverage {len(self.x)} x {len(self.y)} nodes, {len(self.radii)} radii, {self.method}{state}>"


def _with_radii(fields, name, radii, x, y, method, boundary, rows, out, is_adjoint, threads, backend):
    axes = _axes(x, y, boundary)
    n_x, n_y = (axis.size for axis in axes)
    begin, end = (0, n_y) if rows is None else rows
    sides = ((n_y, n_x), (end - begin, n_x))
    from_plane, to_plane = sides[::-1] if is_adjoint else sides
    radii = np.ascontiguousarray(radii, dtype=np.float64)
    if radii.shape != sides[1]:
        raise UsageError(f"radii: has the shape {radii.shape}; expected {sides[1]}, one of every node of the rows")
    n_fields = np.shape(fields)[:1] if np.ndim(fields) == 3 else (1,)
    given = _planes(fields, name, n_fields, from_plane)
    if out is None:
        out = (np.zeros if is_adjoint else np.empty)((*np.shape(fields)[:-2], *to_plane), given.dtype)
    _core.average_with_radii(*axes, method, radii.reshape(-1), begin, end,
                             given, _planes(out, "out", n_fields, to_plane), is_adjoint, threads or 0,
                             backend_is_cuda(backend))
    return out


def gyroaverage_with_radii(fields, radii, x, y, *, method="bicubic", boundary="zero", rows=None, out=None, threads=None,
                           backend="auto"):
    """Returns averages over circles whose radius differs from node to node. fields: whole planes, (y, x) or
    (fields, y, x). radii: of every node, (y, x). rows: (begin, end) of results; None: all. method: bilinear or bicubic.
    Not collective."""
    return _with_radii(fields, "fields", radii, x, y, method, boundary, rows, out, False, threads, backend)


def gyroaverage_with_radii_adjoint(results, radii, x, y, *, method="bicubic", boundary="zero", rows=None, out=None,
                                   threads=None, backend="auto"):
    """Returns the transpose of gyroaverage_with_radii(), whole planes. It is added to `out` where that is given. Not
    collective."""
    return _with_radii(results, "results", radii, x, y, method, boundary, rows, out, True, threads, backend)


def circle_row(x, y, at, rho, *, method="bicubic", boundary="zero", padding=None):
    """Returns columns, rows and weights of the nodes whose weighted sum is the average over the circle of radius rho
    about the point at = (x, y). For matrices of your own."""
    return _core.circle_row(*_axes(x, y, boundary), method, *at, rho, -1 if padding is None else padding)
