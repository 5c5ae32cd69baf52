# SPDX-License-Identifier: GPL-3.0-or-later
"""Communicators of mpi4py as those of the library."""
import contextlib
import os
import sys
import warnings

from . import _core, errors
from .errors import LauncherWarning, UsageError

_alone = _core.Comm.self()
_checked = False
_told = False


def _same_text(text):
    return " ".join(text.split()).rstrip("\0 ")


def _check_library(mpi):
    """Refuses a handle of another MPI, which would crash."""
    global _checked
    if _checked:
        return
    theirs = _same_text(mpi.Get_library_version())
    ours = _same_text(_core.mpi_library_version())
    if theirs != ours:
        raise UsageError(f"mpi4py runs '{theirs}', and Ringweave was built with '{ours}'; build one of them with the "
                         "MPI of the other (pip install --force-reinstall --no-cache-dir --no-binary :all:)")
    _checked = True


def _tell_lonely_ranks():
    """Warns once where a launcher started several processes and mpi4py was not imported."""
    global _told
    ranks = next((os.environ[name] for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE") if name in os.environ), "1")
    if not _told and ranks.isdigit() and int(ranks) > 1:
        rank = next((os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ), "0")
        if rank == "0":
            warnings.warn(f"{ranks} processes were started, but mpi4py was not imported: each works alone. Import "
                          "mpi4py.MPI before the first call", LauncherWarning, stacklevel=4)
    _told = True


def communicator(comm=None):
    """Returns the library's communicator for one of mpi4py. None: MPI.COMM_WORLD if mpi4py.MPI was imported, else one
    rank that calls no MPI. A communicator is duplicated once and the duplicate kept until it is freed. The first call
    for a communicator is collective."""
    if isinstance(comm, _core.Comm):
        return comm
    if comm is None:
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized():
            _tell_lonely_ranks()
            return _alone
        comm = mpi.COMM_WORLD
    elif not hasattr(comm, "py2f"):
        raise UsageError(f"comm: is an object of type {type(comm).__name__}; expected a communicator of mpi4py or None")
    else:
        mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None:
        _check_library(mpi)
    return _core.Comm.from_handle(comm.py2f())


@contextlib.contextmanager
def _agreeing(comm, raise_on_others):
    try:
        yield
    except Exception as error:
        comm.first_error(f"{type(error).__name__}: {error}")
        raise
    rank, text = comm.first_error("")
    if rank >= 0:
        raise_on_others(rank, text)


def _raise_peer_error(rank, text):
    raise errors._make("PeerError", f"rank {rank}: {text}")


def _raise_same_error(rank, text):
    name, _, message = text.partition(": ")
    if name not in errors.__all__:
        _raise_peer_error(rank, text)
    raise errors._make(name, f"rank {rank}: {message}")


def agree(comm=None):
    """Lets all ranks know of an exception of one: after `with agree(comm):` the rank that raised it has it still, and
    the others have a PeerError. What is inside must not wait for other ranks. Collective."""
    return _agreeing(communicator(comm), _raise_peer_error)


def agreed(comm):
    """Does the same for checks of this package, whose errors are raised on all ranks. Collective."""
    return _agreeing(comm, _raise_same_error)


def warn(comm, text, category, stacklevel=3):
    """Warns on rank 0."""
    if comm.rank == 0:
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def set_abort_hook(comm=None):
    """Ends the whole job where an exception would end one process, as `python -m mpi4py` does. comm: of mpi4py;
    None: MPI.COMM_WORLD."""
    before = sys.excepthook

    def abort(kind, value, traceback):
        before(kind, value, traceback)
        sys.stderr.flush()
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
            (comm or mpi.COMM_WORLD).Abort(getattr(value, "exit_code", 1))

    sys.excepthook = abort
