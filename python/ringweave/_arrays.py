# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of other frameworks than numpy, taken and given by DLPack without copies."""
import sys

import numpy as np

from . import _core
from .errors import ArrayError


def _importer(array):
    """Returns the function from_dlpack() of the framework of an array, None where it has none."""
    if hasattr(array, "__array_namespace__"):
        found = getattr(array.__array_namespace__(), "from_dlpack", None)
        if found is not None:
            return found
    module = sys.modules.get(type(array).__module__.partition(".")[0])
    return getattr(module, "from_dlpack", None)


def view(array):
    """Returns an array of any framework as one of numpy with the same memory. Others stay what they are."""
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        return array
    return _core.numpy_view(array)


def like(array, result, out=None):
    """Returns a new array of numpy as one of the framework of `array`, with the same memory; the caller's `out` stays
    what it is."""
    if isinstance(array, np.ndarray):
        return result
    if getattr(array, "requires_grad", False):
        raise ArrayError("the tensor needs gradients, which this call does not carry: use ringweave.torch, or detach()")
    if result is out or not isinstance(result, np.ndarray):
        return result
    importer = _importer(array)
    return result if importer is None else importer(result)
