# SPDX-License-Identifier: GPL-3.0-or-later
"""Differentiable transforms: values, and gradients against finite differences."""
import os

import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw

os.environ.setdefault("JAX_PLATFORMS", "cpu")
LMAX = 12


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        self.module = pytest.importorskip("ringweave.torch")

    def value_and_gradient(self, loss, x):
        """Returns a real function's value, and dL/dRe + i dL/dIm."""
        x = self.torch.from_dlpack(np.array(x)).requires_grad_()
        value = loss(x)
        value.backward()
        return value.item(), np.from_dlpack(x.grad.resolve_conj())

    def second(self, loss, x):
        """Returns the gradient of the squared norm of the gradient."""
        x = self.torch.from_dlpack(np.array(x)).requires_grad_()
        first, = self.torch.autograd.grad(loss(x), x, create_graph=True)
        self.square(first).backward()
        return np.from_dlpack(x.grad.resolve_conj())

    def make(self, array):
        return self.torch.from_dlpack(np.array(array))

    @staticmethod
    def square(x):
        return (x * x.conj()).real.sum()


class Jax:
    def __init__(self):
        self.jax = pytest.importorskip("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.module = pytest.importorskip("ringweave.jax")
        self.compiled = {}

    def value_and_gradient(self, loss, x):
        if loss not in self.compiled:
            self.compiled[loss] = self.jax.jit(self.jax.value_and_grad(loss))
        value, gradient = self.compiled[loss](self.make(x))
        return float(value), np.conj(gradient)

    def second(self, loss, x):
        return np.conj(self.jax.jit(self.jax.grad(lambda y: self.square(self.jax.grad(loss)(y))))(self.make(x)))

    def make(self, array):
        return self.jax.numpy.array(array)

    square = staticmethod(Torch.square)


@pytest.fixture(params=[Torch, Jax])
def framework(request):
    return request.param()


@pytest.fixture(params=[((0,), None), ((0, 2), 9)], ids=["T", "TEB"])
def transform(request):
    spins, mmax = request.param
    with rw.Transform("healpix:4", LMAX, mmax, spins=spins) as t:
        yield t


def inner(a, b, comm):
    """Returns the inner product of the real and imaginary parts of all ranks."""
    return comm.allreduce(float(np.sum(np.real(np.conj(a) * b))))


def check_gradient(framework, loss, x, directions, comm):
    """Compares the gradient with differences of a quadratic loss, which are exact."""
    _, gradient = framework.value_and_gradient(loss, x)
    for direction in directions:
        step = 0.1
        up, down = (comm.allreduce(framework.value_and_gradient(loss, x + sign * step * direction)[0])
                    for sign in (1, -1))
        expected = (up - down) / (2 * step)
        assert inner(gradient, direction, comm) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def directions_of(t, rng, comm):
    """Returns random a_lm, those of one real or imaginary part, and an imaginary part of m = 0."""
    full = t.alm_layout.full_size
    layout = rw.AlmLayout(t.lmax, t.mmax, orders=range(t.mmax + 1), comm=rw._core.Comm.self())
    yield t.alm_layout.scatter(rng.normal(size=(t.ncomp, full)) + 1j * rng.normal(size=(t.ncomp, full)))
    for l, m, value in ((3, 0, 1), (3, 0, 1j), (5, 2, 1), (5, 2, 1j), (LMAX, t.mmax, 1j)):
        one = np.zeros((t.ncomp, full), complex)
        one[-1, layout.index(l, m)] = value
        yield t.alm_layout.scatter(one)


def test_values(framework, transform, rng):
    t = transform
    alm = t.alm_layout.scatter(random_alm(rng, LMAX, t.ncomp, mmax=t.mmax))
    map = t.synthesis(alm)
    assert np.array_equal(np.from_dlpack(framework.module.synthesis(t, framework.make(alm))), map)
    weights = rng.normal(size=t.grid.nrings)[t.map_layout.rings]
    for given in (None, weights):
        found = np.from_dlpack(framework.module.adjoint_synthesis(t, framework.make(map), weights=given))
        assert np.allclose(found, t.adjoint_synthesis(map, weights=given), rtol=1e-12, atol=1e-12)
    single = framework.module.synthesis(t, framework.make(alm.astype("c8")))
    assert np.array_equal(np.from_dlpack(single), t.synthesis(alm.astype("c8")))


def test_gradients_of_a_synthesis(framework, transform, rng, comm):
    t = transform
    alm = t.alm_layout.scatter(random_alm(rng, LMAX, t.ncomp, mmax=t.mmax))
    data = t.synthesis(alm[:, ::-1].copy())

    def loss(x):
        return framework.square(framework.module.synthesis(t, x) - framework.make(data))

    check_gradient(framework, loss, alm, directions_of(t, rng, comm), comm)


def test_gradients_of_an_adjoint(framework, transform, rng, comm):
    t = transform
    map = t.map_layout.scatter(rng.normal(size=(t.ncomp, t.grid.npix)))
    weights = rng.normal(size=t.grid.nrings)[t.map_layout.rings]
    factors = np.linspace(1, 2, t.alm_layout.size)

    def loss(x):
        return framework.square(framework.module.adjoint_synthesis(t, x, weights=weights) * framework.make(factors))

    check_gradient(framework, loss, map, [t.map_layout.scatter(rng.normal(size=(t.ncomp, t.grid.npix)))], comm)


def test_second_derivatives(framework, transform, rng, comm):
    t = transform
    alm = t.alm_layout.scatter(random_alm(rng, LMAX, t.ncomp, mmax=t.mmax))

    def loss(x):
        return framework.square(framework.module.synthesis(t, x))

    # The loss is x H x / 2, the gradient H x, and that of its squared norm 2 H H x.
    once = framework.value_and_gradient(loss, alm)[1]
    twice = framework.value_and_gradient(loss, np.array(once))[1]
    assert np.allclose(framework.second(loss, alm), 2 * twice, rtol=1e-10, atol=1e-8)


def test_gradcheck_of_torch(transform, comm):
    if comm.size > 1:
        pytest.skip("ranks have different numbers of coefficients to vary")
    torch = pytest.importorskip("torch")
    import ringweave.torch as rwt
    alm = torch.randn(transform.ncomp, transform.alm_layout.size, dtype=torch.complex128).requires_grad_()
    map = torch.randn(transform.ncomp, transform.map_layout.size, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rwt.synthesis(transform, x), alm, fast_mode=True)
    assert torch.autograd.gradcheck(lambda x: rwt.adjoint_synthesis(transform, x), map, fast_mode=True)
    with pytest.raises(rw.ArrayError):
        rwt.synthesis(transform, np.zeros((transform.ncomp, transform.alm_layout.size), complex))


def test_batches_of_jax(transform, rng, comm):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import ringweave.jax as rwj
    alm = np.stack([transform.alm_layout.scatter(random_alm(rng, LMAX, transform.ncomp, mmax=transform.mmax))] * 3)
    expected = transform.synthesis(alm)
    assert np.array_equal(jax.jit(lambda x: rwj.synthesis(transform, x))(alm), expected)
    assert np.array_equal(jax.jit(jax.vmap(lambda x: rwj.synthesis(transform, x)))(alm), expected)
