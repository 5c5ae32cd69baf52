# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves between layouts of the library and distributions of the caller."""
import numpy as np

from . import _core
from ._arrays import view
from ._comm import agreed, communicator
from .errors import UsageError
from .layouts import AlmLayout, MapLayout, _rows


def _exchange(comm, sent, sent_counts, received_counts):
    """Sends rows of an array with two axes, in the order of ranks, and returns those of all ranks. Collective."""
    if comm.size == 1:
        return sent
    received = np.empty((int(received_counts.sum()), sent.shape[1]), sent.dtype)
    if sent.shape[1]:
        _core.exchange(comm, np.ascontiguousarray(sent).view(np.uint8), sent_counts, received.view(np.uint8),
                       received_counts)
    return received


def _slabs_of_all(layout):
    """Returns (first pixel, place, rank) of the slabs of all ranks, ascending. Collective."""
    comm = layout.comm
    counts = np.array(comm.all_gather(len(layout.slabs)), dtype=np.int64)
    mine = np.full(comm.size, len(layout.slabs), dtype=np.int64)
    slabs = _exchange(comm, np.tile(layout.slabs[:, :2], (comm.size, 1)), mine, counts)
    slabs = np.column_stack([slabs, np.repeat(np.arange(comm.size), counts)])
    return slabs[np.argsort(slabs[:, 0])]


class Redistribution:
    """Moves of maps between a layout and pixels that a program has dealt out to ranks in its own way: submaps, patches,
    hits of a scan. A pixel may be on several ranks, several times on one, or on none. Planned once; making it and its
    methods are collective."""

    def __init__(self, comm, my_pixels, layout):
        """my_pixels: numbers in the grid of this rank's pixels, in any order. comm: that of the layout, or None."""
        if not isinstance(layout, MapLayout):
            raise UsageError(f"layout: is an object of type {type(layout).__name__}; expected a MapLayout")
        self.layout = layout
        self.comm = layout.comm
        with agreed(self.comm):
            if comm is not None and (communicator(comm).size, communicator(comm).rank) != (self.comm.size,
                                                                                         self.comm.rank):
                raise UsageError("comm: is not the communicator of the layout")
            pixels = np.asarray(my_pixels)
            if pixels.ndim != 1 or (pixels.size and pixels.dtype.kind not in "iu"):
                raise UsageError("my_pixels: expected an array of integers with one axis")
            if pixels.size and (pixels.min() < 0 or pixels.max() >= layout.full_size):
                raise UsageError(f"my_pixels: expected numbers from 0 to {layout.full_size - 1}")
            pixels = pixels.astype(np.int64)
        self.size = len(pixels)
        slabs = _slabs_of_all(layout)
        slab = slabs[np.searchsorted(slabs[:, 0], pixels, side="right") - 1]
        self._order = np.argsort(slab[:, 2], kind="stable")
        self._mine = np.bincount(slab[:, 2], minlength=self.comm.size).astype(np.int64)
        ones = np.ones(self.comm.size, dtype=np.int64)
        self._theirs = _exchange(self.comm, self._mine[:, None], ones, ones)[:, 0]
        places = (pixels - slab[:, 0] + slab[:, 1])[self._order]
        self._places = _exchange(self.comm, places[:, None], self._mine, self._theirs)[:, 0]

    def from_rings(self, map, *, out=None):
        """Returns the values of this rank's pixels, (..., size), of a map of the layout, (..., n). Collective."""
        with agreed(self.comm):
            rows = _rows(map, self.layout.size, "map")
            out, target = _target(out, (*np.shape(view(map))[:-1], self.size), rows.dtype)
        received = _exchange(self.comm, rows[:, self._places].T, self._theirs, self._mine)
        target[:, self._order] = received.T
        return out

    def to_rings(self, values, *, combine="replace", fill=0, out=None):
        """Returns the map, (..., n), of the layout with values of this rank's pixels, (..., size). combine: "replace":
        of a pixel that is there several times the value of the last rank counts; "add": their sum, so that this is the
        transpose of from_rings(). fill: of pixels that no rank has; None: they stay as they are in `out`.
        Collective."""
        with agreed(self.comm):
            if combine not in ("replace", "add"):
                raise UsageError(f"combine: is {combine!r}; expected replace or add")
            if fill is None and out is None:
                raise UsageError("fill: is None, which keeps what is in `out`, but there is none")
            rows = _rows(values, self.size, "values")
            out, target = _target(out, (*np.shape(view(values))[:-1], self.layout.size), rows.dtype)
            if fill is not None:
                target[...] = fill
        received = _exchange(self.comm, rows[:, self._order].T, self._mine, self._theirs)
        if combine == "add":
            target[:, self._places] = 0
            np.add.at(target.T, self._places, received)
        else:
            target[:, self._places] = received.T
        return out

    def __repr__(self):
        return f"<Redistribution {self.layout.grid.name}: {self.size} pixels, {self.layout.size} in rings>"


def _target(out, shape, dtype):
    """Returns an output, and it as rows."""
    if out is None:
        out = np.empty(shape, dtype)
    elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        raise UsageError(f"out: expected an array of numpy of {dtype} with the shape {shape}")
    return out, _rows(out, shape[-1], "out", is_output=True)


def alm_redistribute(alm, A_from, A_to, *, comm=None, out=None):
    """Returns a_lm in another layout: of other degrees or orders, on other ranks, or of a communicator of other ranks,
    for example one group of a split; coefficients that are not there become 0. Ranks without a part of the one or the
    other give None for its layout. Where several groups have the a_lm, those of the group with the lowest rank are
    taken. comm: all ranks that call; None: the larger communicator of the two layouts. Collective over it."""
    if comm is None:
        known = [layout.comm for layout in (A_from, A_to) if layout is not None]
        if not known:
            raise UsageError("comm: is needed on ranks that give no layout")
        comm = max(known, key=lambda one: one.size)
    comm = communicator(comm)
    with agreed(comm):
        for layout, name in ((A_from, "A_from"), (A_to, "A_to")):
            if layout is not None and not isinstance(layout, AlmLayout):
                raise UsageError(f"{name}: is an object of type {type(layout).__name__}; expected an AlmLayout or None")
        part = None if A_from is None else _rows(alm, A_from.size, "alm")
        leading = () if A_from is None else np.shape(view(alm))[:-1]
        dtype = "" if A_from is None else part.dtype.str
        if A_from is None and A_to is not None and out is not None:
            _target(out, out.shape[:-1] + (A_to.size,), out.dtype)
    group = comm.size if A_from is None else min(A_from.comm.all_gather(comm.rank))
    groups = comm.all_gather(group)
    if min(groups) == comm.size:
        raise UsageError("A_from: is None on all ranks")
    root = groups.index(min(groups))
    is_source = group == groups[root]
    shape = comm.broadcast(" ".join([dtype, *map(str, leading)]), root).split()
    lmax = max(comm.all_gather(max([-1] + [layout.lmax for layout in (A_from, A_to) if layout is not None])))
    with agreed(comm):
        moved = None
        if A_to is not None:
            out, moved = _target(out, (*map(int, shape[1:]), A_to.size), np.dtype(shape[0]))
            moved[...] = 0
    _core.move(comm, part if is_source else None, _pieces(A_from if is_source else None, lmax), moved,
               _pieces(A_to, lmax))
    return out if A_to is not None else None


def _pieces(layout, lmax):
    """Returns the pieces of a layout among a_lm of degrees up to lmax."""
    return np.zeros((0, 3), dtype=np.int64) if layout is None else layout._pieces(lmax, layout.lmax, layout.mmax)
