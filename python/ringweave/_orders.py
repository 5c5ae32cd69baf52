# SPDX-License-Identifier: GPL-3.0-or-later
"""Factors that the differentiable operations of torch and jax share."""
import numpy as np

from .errors import UsageError


def order_factors(t, factor):
    """Returns a factor for every coefficient of this rank of m > 0, and 1 for those of m = 0."""
    factors = np.full(t.alm_layout.size, float(factor))
    orders = t.alm_layout.orders
    if len(orders) and orders[0] == 0:
        factors[:t.lmax + 1] = 1
    return factors


def pixel_weights(t, weights):
    """Returns the weight of every pixel of this rank for weights of its rings."""
    rings = t.map_layout.rings
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != rings.shape:
        raise UsageError(f"weights: has the shape {weights.shape}; this rank owns {len(rings)} rings")
    return np.repeat(weights, t.grid.nphi[rings])
