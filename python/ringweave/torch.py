# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms as differentiable operations of torch, on tensors in the host's memory:

    import ringweave.torch as rwt
    map = rwt.synthesis(t, alm)
    (map ** 2).sum().backward()          # alm.grad

Gradients of a real number L with respect to a_lm are dL/dRe(a_lm) + i dL/dIm(a_lm), as everywhere in torch. A map is
sum_l a_l0 Y_l0 + sum_{l, m > 0} 2 Re(a_lm Y_lm): a coefficient of m > 0 stands for that of -m too, so its gradient is
twice the adjoint synthesis. Imaginary parts of m = 0 have no effect and no gradient. Gradients can be differentiated
again. All functions are collective, and so is backward(): each rank calls it for its part of a sum over all ranks."""
import torch as _torch

from ._arrays import view
from ._orders import order_factors, pixel_weights
from .errors import ArrayError

__all__ = ["adjoint_synthesis", "synthesis"]


def _array(tensor):
    """Returns a tensor as an array of numpy, without a copy where it lies plainly in memory."""
    if not isinstance(tensor, _torch.Tensor):
        raise ArrayError(f"expected a tensor of torch, not an object of type {type(tensor).__name__}")
    return view(tensor.detach().resolve_conj().resolve_neg().contiguous())


def _factors(t, factor, like):
    return _torch.from_dlpack(order_factors(t, factor)).to(like.real.dtype)


class _Synthesis(_torch.autograd.Function):
    @staticmethod
    def forward(context, alm, t):
        context.t = t
        return _torch.from_dlpack(t.synthesis(_array(alm)))

    @staticmethod
    def backward(context, gradient):
        return _Transpose.apply(gradient, context.t), None


class _Transpose(_torch.autograd.Function):
    """Transpose of synthesis as a function of real and imaginary parts."""

    @staticmethod
    def forward(context, map, t):
        context.t = t
        alm = _torch.from_dlpack(t.adjoint_synthesis(_array(map)))
        alm *= _factors(t, 2, alm)
        return alm

    @staticmethod
    def backward(context, gradient):
        return _Synthesis.apply(gradient, context.t), None


def synthesis(t, alm):
    """Returns the map of a_lm, t.synthesis(alm), with gradients. Collective."""
    return _Synthesis.apply(alm, t)


def adjoint_synthesis(t, map, *, weights=None):
    """Returns t.adjoint_synthesis(map, weights=weights) with gradients. weights: of this rank's rings. Collective."""
    if weights is not None:
        map = map * _torch.from_dlpack(pixel_weights(t, weights)).to(map.dtype)
    alm = _Transpose.apply(map, t)
    return alm * _factors(t, 0.5, alm)
