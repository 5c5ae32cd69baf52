# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms as differentiable operations of jax, on arrays in the host's memory, also within jit:

    import ringweave.jax as rwj
    loss = lambda alm: (rwj.synthesis(t, alm) ** 2).sum()
    gradient = jax.grad(loss)(alm)

Gradients of a real number L with respect to a_lm are dL/dRe(a_lm) - i dL/dIm(a_lm), as everywhere in jax; take their
conjugate for a step downhill. A map is sum_l a_l0 Y_l0 + sum_{l, m > 0} 2 Re(a_lm Y_lm): a coefficient of m > 0 stands
for that of -m too, so its gradient is twice the conjugate of the adjoint synthesis. Imaginary parts of m = 0 have no
effect and no gradient. Gradients can be differentiated again, in reverse mode. Double precision needs
jax.config.update("jax_enable_x64", True).

All functions are collective. Under MPI the ranks must run the same jitted program, and calls that do not depend on each
other may come in another order on each rank: let each call depend on the one before."""
import functools

import jax as _jax
import numpy as np

from ._orders import order_factors, pixel_weights

__all__ = ["adjoint_synthesis", "synthesis"]


def _called(function, array, size, dtype):
    """Returns function(array), whose last axis has another size, as an operation of jax."""
    result = _jax.ShapeDtypeStruct((*array.shape[:-1], size), dtype)
    return _jax.pure_callback(lambda values: function(np.ascontiguousarray(values)), result, array,
                              vmap_method="sequential")


@functools.partial(_jax.custom_vjp, nondiff_argnums=(0,))
def synthesis(t, alm):
    """Returns the map of a_lm, t.synthesis(alm), with gradients. Collective."""
    return _called(t.synthesis, alm, t.map_layout.size, alm.real.dtype)


@functools.partial(_jax.custom_vjp, nondiff_argnums=(0,))
def _transpose(t, map):
    """Returns the transpose of synthesis as a function of real and imaginary parts."""
    alm = _called(t.adjoint_synthesis, map, t.alm_layout.size, _jax.numpy.result_type(map.dtype, np.complex64))
    return alm * order_factors(t, 2).astype(map.dtype)


synthesis.defvjp(lambda t, alm: (synthesis(t, alm), None),
                 lambda t, _, map: (_transpose(t, map).conj(),))
_transpose.defvjp(lambda t, map: (_transpose(t, map), None),
                  lambda t, _, alm: (synthesis(t, alm.conj()),))


def adjoint_synthesis(t, map, *, weights=None):
    """Returns t.adjoint_synthesis(map, weights=weights) with gradients. weights: of this rank's rings. Collective."""
    if weights is not None:
        map = map * pixel_weights(t, weights).astype(map.dtype)
    return _transpose(t, map) * order_factors(t, 0.5).astype(map.dtype)
