# SPDX-License-Identifier: GPL-3.0-or-later
"""Least squares by LSMR, for operators on arrays with norms of their own.

Fong & Saunders (2011), SIAM J. Sci. Comput. 33, 2950: Golub-Kahan bidiagonalisation and two rotations a step. Names are
those of the paper. Residuals are carried along as arrays, where the paper estimates their norm.
"""
import dataclasses
import math

#: What stops the iteration. In the paper's code 4 to 6 are 1 to 3 at the limit of rounding.
_EXACT, _SOLVED, _LEAST_SQUARES, _ILL_CONDITIONED, _MOST_ITERATIONS = 0, 1, 2, 3, 7


@dataclasses.dataclass
class LeastSquares:
    """A solution, and when and why the iteration stopped."""

    x: object  #: the solution
    stop: int  #: 0: the first x is exact; 1: A x = b; 2: least squares; 3: ill-conditioned; 7: most iterations
    iterations: int  #: that were made
    residual: float  #: |r| / |b|
    quality: float  #: |A^T r| / (|A| |r|)


def _rotation(a, b):
    """Returns c, s and r of the rotation that takes (a, b) to (r, 0)."""
    r = math.hypot(a, b)
    return (1.0, 0.0, 0.0) if r == 0 else (a / r, b / r, r)


def lsmr(apply, transpose, norm_x, norm_b, b, x, *, atol, btol, most_condition, most_iterations):
    """Minimises |A x - b| from a first x. apply(x) and transpose(b) return new arrays; norms are those of their inner
    products. x is overwritten."""
    b_norm = norm_b(b)
    r = b - apply(x)
    beta = norm_b(r)
    if beta == 0:
        return LeastSquares(x, _EXACT, 0, 0.0, 0.0)
    u = r / beta
    v = transpose(u)
    alpha = norm_x(v)
    if alpha == 0:
        return LeastSquares(x, _EXACT, 0, beta / b_norm, 0.0)
    v /= alpha
    h, h_bar = v.copy(), v * 0
    a_h, a_h_bar = r * 0, r * 0
    coefficient = 0.0
    alpha_bar, zeta_bar, a_squared = alpha, alpha * beta, alpha ** 2
    rho = rho_bar = c_bar = 1.0
    s_bar, largest, least = 0.0, 0.0, math.inf
    residual, quality = beta / b_norm if b_norm > 0 else beta, 1.0
    for iteration in range(1, most_iterations + 1):
        a_v = apply(v)
        a_h = a_v - coefficient * a_h
        u = a_v - alpha * u
        beta = norm_b(u)
        v_before = v
        if beta > 0:
            u /= beta
            v = transpose(u) - beta * v_before
            alpha = norm_x(v)
            v = v / alpha if alpha > 0 else v
        c, s, rho_new = _rotation(alpha_bar, beta)
        theta_new, alpha_bar = s * alpha, c * alpha
        theta_bar, rho_temporary = s_bar * rho_new, c_bar * rho_new
        rho_bar_before = rho_bar
        c_bar, s_bar, rho_bar = _rotation(rho_temporary, theta_new)
        zeta, zeta_bar = c_bar * zeta_bar, -s_bar * zeta_bar

        factor = theta_bar * rho_new / (rho * rho_bar_before)
        h_bar, a_h_bar = h - factor * h_bar, a_h - factor * a_h_bar
        x += zeta / (rho_new * rho_bar) * h_bar
        r -= zeta / (rho_new * rho_bar) * a_h_bar
        coefficient, rho = theta_new / rho_new, rho_new
        h = v - coefficient * h

        a_squared += beta ** 2
        a_norm = math.sqrt(a_squared)
        a_squared += alpha ** 2
        if iteration > 1:
            least = min(least, rho_bar_before)
        largest = max(largest, rho_bar_before)
        condition = max(largest, rho_temporary) / min(least, rho_temporary)
        r_norm, x_norm = norm_b(r), norm_x(x)
        residual = r_norm / b_norm if b_norm > 0 else r_norm
        quality = abs(zeta_bar) / (a_norm * r_norm) if r_norm > 0 else math.inf
        reach = a_norm * x_norm / b_norm if b_norm > 0 else 0.0
        if residual <= btol + atol * reach or 1 + residual / (1 + reach) <= 1:
            return LeastSquares(x, _SOLVED, iteration, residual, quality)
        if quality <= atol or 1 + quality <= 1:
            return LeastSquares(x, _LEAST_SQUARES, iteration, residual, quality)
        if condition >= most_condition:
            return LeastSquares(x, _ILL_CONDITIONED, iteration, residual, quality)
    return LeastSquares(x, _MOST_ITERATIONS, most_iterations, residual, quality)
