# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions and warnings. Every exception is one of Python's own too, so that `except ValueError` works."""
import re

__all__ = [
    "ArrayError", "ConvergenceWarning", "DataError", "Error", "FileWarning", "InternalError", "LauncherWarning",
    "MissingFileError", "OutputExistsError", "PeerError", "ResourceError", "RingweaveWarning", "StoppedEarly",
    "UsageError",
]


class Error(Exception):
    """Base of all exceptions. Collective calls raise the same one on all ranks."""

    kind = "internal error"
    exit_code = 70
    #: Rank that met the error first; None where it is not known, or there is only one.
    rank = None


class UsageError(Error, ValueError):
    """Impossible request: options, shapes, a part that was not built, a plan that was closed."""

    kind = "usage error"
    exit_code = 2


class ArrayError(UsageError, TypeError):
    """Array of the wrong type, strides or device, or one that must not be written to. Nothing is copied silently."""


class OutputExistsError(UsageError, FileExistsError):
    """Output file that exists."""

    def __str__(self):
        return str(self.args[0])


class DataError(Error, ValueError):
    """Missing, broken or inconsistent file or value from outside."""

    kind = "data error"
    exit_code = 3


class MissingFileError(DataError, FileNotFoundError):
    """Input file that is not there."""

    def __str__(self):
        return str(self.args[0])


class ResourceError(Error, MemoryError):
    """Memory, disk or device that ran out or failed."""

    kind = "resource error"
    exit_code = 4


class PeerError(Error, RuntimeError):
    """Failure of another rank or of MPI."""

    kind = "peer error"
    exit_code = 5


class InternalError(Error, RuntimeError):
    """Bug in Ringweave."""


class StoppedEarly(Error):
    """Stop on request before the end."""

    kind = "stopped early"
    exit_code = 75


class RingweaveWarning(UserWarning):
    """Base of all warnings, which rank 0 alone gives."""


class ConvergenceWarning(RingweaveWarning):
    """Analysis whose residuals grow, or did not fall to the tolerance."""


class FileWarning(RingweaveWarning):
    """Oddity of a readable file."""


class LauncherWarning(RingweaveWarning):
    """Processes of one launch that do not work together."""


def _make(name, message):
    """Makes the exception of a class's name; called by the extension."""
    error = globals()[name](message)
    found = re.match(r"rank (\d+): ", message)
    if found:
        error.rank = int(found[1])
    return error
