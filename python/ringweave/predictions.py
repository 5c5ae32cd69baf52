# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted seconds, by the program's `ringweave model`, and machines that they are for."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import errors
from .__main__ import _program
from ._comm import agreed, communicator
from .errors import MissingFileError, OutputExistsError, UsageError
from .grids import as_grid

_FIELDS = {(0,): "T", (0, 2): "TQU", (2,): "QU"}
# What launchers of MPI tell a process; the program would take itself for that process.
_LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "HYDRA_", "HYDI_", "MPI_LOCAL", "MPIR_", "SLURM_", "PALS_")
_EXIT_CODES = {kind.exit_code: kind for kind in (errors.UsageError, errors.DataError, errors.ResourceError,
                                                 errors.PeerError, errors.StoppedEarly, errors.InternalError)}


class Machine:
    """A machine that seconds are predicted for: one of the program's names, or a file of calibrate()."""

    def __init__(self, source):
        self._source = str(source)

    @classmethod
    def typical(cls):
        """Returns the typical one: a present-day core, good to a factor of two."""
        return cls("typical")

    @classmethod
    def named(cls, name):
        """Returns a described one: "cpu_cluster", "h100_cluster" and others, which `ringweave model --help` lists.
        predict() refuses a name that is not there."""
        if os.sep in str(name) or str(name).endswith(".json"):
            raise UsageError(f"machine: {name!r} is a file; expected a name")
        return cls(name)

    @classmethod
    def load(cls, path):
        """Returns that of a file of calibrate()."""
        if not Path(path).is_file():
            raise MissingFileError(f"{path}: not found; expected a machine file")
        return cls(Path(path).resolve())

    source = property(lambda self: self._source, doc="Name, or path of the file.")

    def figures(self):
        """Returns the content of a machine's file; None for a named one."""
        path = Path(self._source)
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def __eq__(self, other):
        return self._source == other._source if isinstance(other, Machine) else NotImplemented

    def __hash__(self):
        return hash(self._source)

    def __repr__(self):
        return f"<Machine {self._source}>"


def _source_of(machine):
    """Returns what --machine takes: an argument, ringweave.machine, or None, for which the program looks itself."""
    if machine is None:
        machine = getattr(sys.modules["ringweave"], "machine", None)
    if machine is None or isinstance(machine, Machine):
        return machine and machine.source
    return os.fspath(machine)


def _run(arguments):
    """Runs the program as one process. Errors of the program are exceptions."""
    program = _program()
    if program is None:
        raise MissingFileError("ringweave: the program, which predicts, is not in this package, nor on PATH")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHERS)}
    done = subprocess.run([program, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        kind = _EXIT_CODES.get(done.returncode, errors.InternalError)
        raise kind(done.stderr.strip() or f"ringweave ended with exit code {done.returncode}")
    return done.stdout


def predict(grid=None, lmax=None, spins=(0,), *, ranks=None, machine=None, npoints=None, lens=False, mmax=None,
            epsilon=None, dtype="f8", exchange="double", backend="auto", threads=None):
    """Returns the prediction of one transform on each number of ranks, as dicts: ranks, total_seconds and those of the
    stages, uncertainty_seconds, memory_bytes, sent_bytes, messages and more. It runs the installed program, on this
    rank alone; nothing is transformed.

    grid: a named one. npoints: instead of a grid, a transform to points. lens: a lensed map with its deflection.
    ranks: numbers; None: powers of two to 65536. machine: a Machine, its name or file; None: ringweave.machine, else
    $RINGWEAVE_MACHINE, else the typical one. epsilon: of points and lensing. spins: (0,), (0, 2) or (2,)."""
    fields = tuple(int(spin) for spin in ((spins,) if isinstance(spins, int) else spins))
    if fields not in _FIELDS:
        raise UsageError(f"spins: are {fields}; the program predicts (0,), (0, 2) and (2,)")
    if (grid is None) == (npoints is None):
        raise UsageError("grid, npoints: give one of them")
    options = {"lmax": lmax, "mmax": mmax, "fields": _FIELDS[fields], "points": npoints, "epsilon": epsilon,
               "machine": _source_of(machine), "threads": threads, "exchange": exchange, "backend": backend,
               "precision": "single" if dtype in ("f4", "c8", "float32", "complex64") else "double"}
    if grid is not None:
        grid = as_grid(grid)
        if grid.is_subset or grid.kind == "rings":
            raise UsageError(f"grid: is {grid.name}; the program predicts grids with a name, without cuts")
        options["grid"] = grid.name
    if ranks is not None:
        options["ranks"] = ",".join(str(int(number)) for number in ((ranks,) if isinstance(ranks, int) else ranks))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        arguments = [text for name, value in options.items() if value is not None for text in (f"--{name}", value)]
        _run(["model", *arguments, *(["--lens"] if lens else []), "--json", path])
        return json.loads(path.read_text(encoding="utf-8"))["rows"]


def calibrate(comm=None, nside=2048, *, path="machine.json", repeats=None, threads=None, backend="auto",
              overwrite=False):
    """Measures this machine and writes a machine file; returns its Machine. It runs the installed program, on one rank:
    on more start `mpirun -n N python -m ringweave calibrate` instead, which measures the exchange too. Takes minutes;
    nothing else should run. Collective."""
    comm = communicator(comm)
    with agreed(comm):
        if comm.size > 1:
            raise UsageError(f"calibrate: needs one rank, not {comm.size}; start `mpirun -n {comm.size} python -m "
                             f"ringweave calibrate --nside {nside} --out {path}` instead, then rw.Machine.load()")
        if Path(path).exists() and not overwrite:
            raise OutputExistsError(f"{path}: exists; overwrite=True replaces it")
    options = {"nside": nside, "out": path, "repeats": repeats, "threads": threads, "backend": backend}
    arguments = [text for name, value in options.items() if value is not None for text in (f"--{name}", value)]
    _run(["calibrate", *arguments, *(["--overwrite"] if overwrite else [])])
    return Machine.load(path)
