# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothing of maps with holes, masks and beams."""
import numpy as np

from . import _core
from ._angles import radians
from ._comm import agreed, communicator
from .convolutions import KernelSplit, RadialKernel, RingConvolution, SplitConvolution
from .errors import ArrayError, UsageError
from .files import Map
from .grids import Grid, as_grid
from .layouts import MapLayout, _output
from .sky import gauss_beam
from .tables import analysis_weights
from .transforms import Transform

_METHODS = ("auto", "harmonic", "ring", "split")


def _spins_of(ncomp):
    return {1: (0,), 2: (2,), 3: (0, 2)}.get(ncomp, (0,) * ncomp)


def _factors(beam, fwhm, lmax):
    """Returns (t, e, b) of a beam (b_l, or the rows T, E, B) and a Gaussian."""
    parts = [np.ones(lmax + 1)] * 3
    if fwhm is not None:
        polarised = gauss_beam(fwhm, lmax, 2)
        parts = [gauss_beam(fwhm, lmax), polarised, polarised]
    if beam is not None:
        beam = np.asarray(beam, dtype=np.float64)
        rows = list(beam) if beam.ndim == 2 else [beam]
        rows += [rows[-1]] * (3 - len(rows))
        rows = [np.pad(row[:lmax + 1], (0, max(0, lmax + 1 - len(row)))) for row in rows]
        parts = [part * row for part, row in zip(parts, rows)]
    return parts


def _quotient(factors, old):
    result = []
    for new, before in zip(factors, old):
        if np.any((before == 0) & (new != 0)):
            raise UsageError("beam_in or fwhm_in: is 0 at a degree where the new beam is not")
        result.append(np.divide(new, before, out=np.zeros_like(new), where=before != 0))
    return result


class _Job:
    """A smoothing: its map, options and layouts."""

    def __init__(self, map, grid, layout, spins, comm):
        if isinstance(map, Map):
            map, layout = map.values, map.layout if layout is None else layout
        if not isinstance(map, np.ndarray) or map.dtype.str[1:] not in ("f4", "f8") or not map.dtype.isnative:
            raise ArrayError("map: expected an array of numpy of float64 or float32")
        if layout is None:
            grid = Grid.healpix(round((map.shape[-1] / 12) ** 0.5)) if grid is None else as_grid(grid)
            layout = MapLayout(grid, comm=comm)
            if map.shape[-1] != layout.size and comm.size > 1:
                raise UsageError(f"map: has {map.shape[-1]} pixels; say with layout= which this rank has")
        if map.shape[-1] != layout.size or map.ndim > 2:
            raise UsageError(f"map: has the shape {map.shape}; expected (components, n) with the {layout.size} pixels "
                             "of its layout on this rank")
        self.map = map
        self.layout = layout
        self.grid = layout.grid
        self.ncomp = 1 if map.ndim == 1 else len(map)
        self.spins = _spins_of(self.ncomp) if spins is None else tuple(spins)
        self.dtype = map.dtype.str[1:]

    def smooth_harmonic(self, factors, options, out):
        """Smooths in harmonic space, in `out`, on the layout of the transform."""
        with Transform(self.grid, options["lmax"], spins=self.spins, comm=self.layout.comm, dtype=self.dtype,
                       threads=options["threads"]) as t:
            ring, pixel = analysis_weights(options["weights"], t.map_layout)
            passes = t._iterations(options["iter"], options["tol"])
            is_here = t.map_layout.is_same(self.layout)
            mask = self._mask(options["mask"], None if is_here else t.map_layout)
            common = (*factors, ring, pixel, passes, options["tol"] or 0.0, options["unseen"], mask,
                      options["callback"])
            if options["grid_out"] is not None:
                part = self.map if is_here else self.layout.move(self.map, t.map_layout)
                with Transform(options["grid_out"], t.lmax, spins=self.spins, comm=self.layout.comm, dtype=self.dtype,
                               threads=options["threads"]) as onto:
                    result = _core.smooth_onto(t._core, onto._core, part, *common)
                    return Map(result if self.map.ndim == 2 else result[0], onto.map_layout, None)
            out = _output(self.map, out)
            part = out if is_here else self.layout.move(out, t.map_layout)
            _core.smooth(t._core, part, *common)
            return out if is_here else t.map_layout.move(part, self.layout, out=out)

    def smooth_field(self, convolution, smooth, first, options, out):
        """Smooths the components of one field, from `first` on, by a convolution."""
        with convolution:
            layout = convolution.map_layout
            is_here = layout.is_same(self.layout)
            mask = self._mask(options["mask"], None if is_here else layout)
            source = self.map.reshape(self.ncomp, -1)[first:first + convolution.ncomp]
            target = out.reshape(self.ncomp, -1)[first:first + convolution.ncomp]
            part = np.array(source) if is_here else self.layout.move(source, layout)
            result = target if is_here and out is not self.map else np.empty_like(part)
            smooth(convolution._core, convolution.ncomp, part, result, options["unseen"], mask)
            if not is_here:
                layout.move(result, self.layout, out=target)
            elif result is not target:
                target[...] = result

    def _mask(self, mask, layout):
        if mask is None:
            return None
        with agreed(self.layout.comm):
            mask = np.ascontiguousarray(mask, dtype=np.float64)
            if mask.shape != (self.layout.size,):
                raise UsageError(f"mask: has the shape {mask.shape}; this rank has {self.layout.size} pixels")
        return mask if layout is None else self.layout.move(mask, layout)


def smooth(map, *, grid=None, layout=None, fwhm=None, beam=None, kernel=None, method="auto", error=1e-5, lmax=None,
           iter=None, tol=None, weights=None, mask=None, unseen="restore", fwhm_in=None, beam_in=None, grid_out=None,
           spins=None, comm=None, out=None, threads=None, callback=None):
    """Returns a smoothed map, (n,) or (components, n). out=map works in place. Collective.

    grid, layout: of the map; neither: HEALPix by its size. Under MPI the layout says which pixels this rank has.
    fwhm, beam: a Gaussian, b_l (or the rows T, E, B), or their product. kernel: a RadialKernel instead.
    method: "harmonic"; "ring": sums over pixels within the kernel's support; "split": both; "auto": for HEALPix maps
      whatever KernelSplit predicts to be fastest within `error`, else "harmonic". Harmonic options choose "harmonic".
    iter, tol, weights, lmax: of the analysis, as Transform.analysis().
    mask: 0 to 1. unseen: "restore", "zero", "normalize" (divide by the smoothed mask) or "fail".
    fwhm_in, beam_in: beam that the map has, which the new one replaces.
    grid_out: grid of the result, which is then a Map with its layout.
    spins: of the fields; None: T, QU or TQU for 1, 2 or 3 components, else maps."""
    comm = layout.comm if layout is not None else map.layout.comm if isinstance(map, Map) else communicator(comm)
    if method not in _METHODS:
        raise UsageError(f"method: is {method!r}; expected one of {', '.join(_METHODS)}")
    if fwhm is None and beam is None and kernel is None and grid_out is None and fwhm_in is None and beam_in is None:
        raise UsageError("smooth: give fwhm, beam or kernel")
    if kernel is not None and (fwhm is not None or beam is not None):
        raise UsageError("kernel: has a beam of its own; leave out fwhm and beam")
    with agreed(comm):
        job = _Job(map, grid, layout, spins, comm)
        fwhm = None if fwhm is None else radians(fwhm, "fwhm")
        is_of_harmonics = any(option is not None for option in (lmax, iter, tol, weights, fwhm_in, beam_in, grid_out))
        if method in ("ring", "split") and is_of_harmonics:
            raise UsageError(f"method: {method} has no lmax, iter, tol, weights, fwhm_in, beam_in or grid_out")
        degrees = job.grid.default_lmax if lmax is None else lmax
        if kernel is None:
            factors = _factors(beam, fwhm, degrees)
        else:
            factors = [kernel.bl(degrees)] * 3
        if fwhm_in is not None or beam_in is not None:
            factors = _quotient(factors, _factors(beam_in, fwhm_in, degrees))
    options = {"lmax": degrees, "iter": iter, "tol": tol, "weights": weights, "mask": mask, "unseen": unseen,
               "grid_out": grid_out, "threads": threads, "callback": callback}
    splits = {}
    if method == "auto":
        is_split_possible = job.grid.kind == "healpix" and not job.grid.is_subset and kernel is None
        if is_of_harmonics or not is_split_possible or unseen == "normalize" and any(job.spins):
            method = "harmonic"
        else:
            splits = _splits(job, factors, error, comm)
            verdicts = {split.verdict for split in splits.values()}
            method = verdicts.pop() if len(verdicts) == 1 else "harmonic"
    if method == "harmonic":
        return job.smooth_harmonic(factors, options, out)
    with agreed(comm):
        if unseen == "normalize" and any(job.spins):
            raise UsageError("unseen: fields of spin are normalized by method harmonic only")
        out = _output(job.map, out)
    splits = splits or (_splits(job, factors, error, comm) if method == "split" else {})
    first = 0
    for spin in job.spins:
        if method == "split":
            convolution = SplitConvolution(splits[spin], comm, dtype=job.dtype, threads=threads)
            job.smooth_field(convolution, _core.smooth_split, first, options, out)
        else:
            used = kernel or _kernel(fwhm, beam, factors, error, spin)
            convolution = RingConvolution(job.grid, used, comm, error=error, dtype=job.dtype, threads=threads)
            job.smooth_field(convolution, _core.smooth_on_rings, first, options, out)
        first += 1 if spin == 0 else 2
    return out


def _splits(job, factors, error, comm):
    if job.grid.kind != "healpix":
        raise UsageError(f"method: split is for HEALPix; the grid is {job.grid.name}")
    return {spin: KernelSplit(factors[1 if spin else 0], job.grid.nside, error=error, ranks=comm.size, spin=spin)
            for spin in set(job.spins)}


def _kernel(fwhm, beam, factors, error, spin):
    if beam is None:
        return RadialKernel.gauss(fwhm, error=error, spin=spin)
    return RadialKernel.from_bl(factors[1 if spin else 0], error=error, spin=spin)
