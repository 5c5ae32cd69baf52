# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms to points and fields for many sets of them, against ducc0; derivatives, against healpy."""
import os

import ducc0
import healpy
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw

LMAX, N = 24, 301


@pytest.fixture
def loc(rng):
    """Returns theta and phi of points all over the sphere, the poles too."""
    theta = np.arccos(rng.uniform(-1, 1, N))
    theta[:2] = 0, np.pi
    return np.stack([theta, rng.uniform(0, 2 * np.pi, N)], axis=1)


def mine(comm, n=N):
    """Returns the points of this rank: none on rank 1 of several, all numbers modulo the others elsewhere."""
    if comm.size == 1:
        return np.arange(n)
    listing = [rank for rank in range(comm.size) if rank != 1]
    return np.arange(listing.index(comm.rank), n, len(listing)) if comm.rank in listing else np.arange(0)


def together(comm, values):
    """Returns the values of all ranks, in the order of the points."""
    parts, places = comm.allgather(values), comm.allgather(mine(comm))
    whole = np.empty((*values.shape[:-1], N), values.dtype)
    for part, place in zip(parts, places):
        whole[..., place] = part
    return whole


@pytest.mark.parametrize("spin", [0, 1, 2, 3])
def test_values_and_adjoint_are_ducc0s(spin, comm, loc, rng, same):
    full = random_alm(rng, LMAX, 1 if spin == 0 else 2, spin)
    expected = ducc0.sht.synthesis_general(alm=full, spin=spin, lmax=LMAX, loc=loc, epsilon=3e-13)
    back = ducc0.sht.adjoint_synthesis_general(map=expected, spin=spin, lmax=LMAX, loc=loc, epsilon=3e-13)
    own = mine(comm)
    with rw.NonuniformTransform(loc[own], LMAX, spin, epsilon=1e-13) as t:
        values = t.synthesis(t.alm_layout.scatter(full))
        same(together(comm, values), expected)
        assert values.shape == (1 if spin == 0 else 2, len(own))
        alm = t.adjoint(np.ascontiguousarray(expected[:, own]))
        same(t.alm_layout.allgather(alm), back)
        t.adjoint(np.ascontiguousarray(expected[:, own]), out=alm, accumulate=True)
        same(t.alm_layout.allgather(alm), 2 * back)
        assert t.plan["points"] == N and t.plan["predicted_error"] <= 1e-13
        assert {"legendre", "points"} <= set(t.times) and t.bytes > 0


def test_several_fields_and_batches(comm, loc, rng, same):
    own = mine(comm)
    full = np.stack([random_alm(rng, LMAX, 3) for _ in range(2)])
    theta, phi = loc[own].T
    with rw.NonuniformTransform((theta, phi), LMAX, (0, 2), epsilon=1e-13, threads=1) as t:
        alm = t.alm_layout.scatter(full)
        values = t.synthesis(alm)
        assert values.shape == (2, 3, len(own))
        for i in range(2):
            assert np.array_equal(values[i], t.synthesis(alm[i]))
            expected = ducc0.sht.synthesis_general(alm=full[i, 1:], spin=2, lmax=LMAX, loc=loc, epsilon=3e-13)
            same(together(comm, values[i, 1:]), expected)
        out = t.empty_values()
        assert t.synthesis(alm[0], out=out) is out and np.array_equal(out, values[0])
        assert t.synthesis(alm[0].astype("c8")).dtype == np.float32
        with pytest.raises(rw.UsageError, match="alm"):
            t.synthesis(alm[0, :2])
        with pytest.raises(rw.UsageError, match="accumulate"):
            t.adjoint(out, accumulate=True)
        with pytest.raises(TypeError, match="values"):
            t.adjoint(out.astype("i8"))
    with pytest.raises(rw.UsageError, match="closed"):
        t.synthesis(alm[0])


def test_detectors(comm, loc, rng, same):
    own = mine(comm)
    psi = rng.uniform(0, np.pi, N)
    full = random_alm(rng, LMAX, 3)
    with rw.NonuniformTransform(loc[own], LMAX, (0, 2)) as t:
        t_, q, u = t.synthesis(t.alm_layout.scatter(full))
    with rw.NonuniformTransform(loc[own], LMAX, (0, 2), psi=psi[own]) as t:
        assert t.nvalues == 1 and t.ncomp == 3
        signal = t.synthesis(t.alm_layout.scatter(full))
    expected = t_ + q * np.cos(2 * psi[own]) + u * np.sin(2 * psi[own])
    same(together(comm, signal), together(comm, expected[None]))


def test_adjoint_is_the_transpose(comm, loc, rng):
    own = mine(comm)
    f = rng.normal(size=(3, N))[:, own].copy()
    full = random_alm(rng, LMAX, 3, 0)
    full[1:] = random_alm(rng, LMAX, 2, 2)
    with rw.NonuniformTransform(loc[own], LMAX, (0, 2), epsilon=1e-3) as t:
        a = t.alm_layout.scatter(full)
        left = comm.allreduce(np.sum(f * t.synthesis(a)))
        back = t.alm_layout.allgather(t.adjoint(f))
    twice = np.where(rw.AlmLayout(LMAX, orders=range(LMAX + 1), comm=rw._core.Comm.self()).lm()[1] > 0, 2, 1)
    assert np.sum((np.conj(full) * back).real * twice) == pytest.approx(left, rel=1e-12)


def test_field_for_many_sets(comm, loc, rng, same):
    own = mine(comm)
    full = random_alm(rng, LMAX, 3)
    psi = rng.uniform(0, np.pi, N)
    with rw.NonuniformTransform(loc[own], LMAX, (0, 2), epsilon=1e-13) as t, \
            rw.FineField(LMAX, (0, 2), npoints=2 * N, epsilon=1e-13) as field:
        with pytest.raises(rw.UsageError):
            field.evaluate(loc[own])
        field.set(field.alm_layout.scatter(full))
        values = field.evaluate(loc[own])
        same(together(comm, values), together(comm, t.synthesis(t.alm_layout.scatter(full))))
        assert field.evaluate(loc[own][::2]).shape == (3, len(own[::2]))
        signal = field.evaluate(loc[own], psi[own])
        same(together(comm, signal[0]),
             together(comm, values[0] + values[1] * np.cos(2 * psi[own]) + values[2] * np.sin(2 * psi[own])))
        assert field.evaluate(loc[own], out=values) is values
        field.set(field.alm_layout.scatter(full).astype("c8"))
        assert field.evaluate(loc[own]).dtype == np.float32 and field.bytes > 0


def test_many_plans_leave_nothing_behind(loc):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    dlm = np.full(rw.AlmLayout(4).full_size, 1e-4 + 0j)
    x = np.linspace(0, 1, 12)
    comm = rw._core.Comm.self()

    def make(number):
        for _ in range(number):
            with rw.NonuniformTransform(loc, 8, comm=comm) as t:
                t.synthesis(np.zeros_like(t.empty_alm()))
            with rw.lensing.Deflection("gauss:8", dlm, comm=comm) as deflection:
                with rw.lensing.Lensing(deflection, 8, (0,)) as lensing:
                    lensing.synthesis(np.zeros_like(lensing.empty_alm()))
                assert deflection.vectors.shape[0] == 2
            rw.Gyroaverage(x, x, [0.1], comm).close()
    make(10)
    before = resident()
    make(30)
    assert resident() - before < 1 << 20


def test_impossible_points(comm, loc):
    wrong = loc.copy()
    if comm.rank == comm.size - 1:
        wrong[0, 0] = 4
    with pytest.raises(rw.DataError):
        rw.NonuniformTransform(wrong, LMAX)
    with pytest.raises(rw.UsageError):
        rw.NonuniformTransform(loc, LMAX, epsilon=1e-20)
    with pytest.raises(rw.UsageError):
        rw.NonuniformTransform(loc, LMAX, (0,), psi=loc[:, 0])
    # One rank alone has a wrong shape.
    with pytest.raises(rw.UsageError, match="loc"):
        rw.NonuniformTransform(loc.T if comm.rank == 0 else loc, LMAX)
    with pytest.raises(rw.UsageError):
        rw.NonuniformTransform(loc, LMAX, exchange="half")


@pytest.mark.parametrize("spins", [(0,), (0, 2), (2,), (0,) * 5])
def test_derivatives_are_healpys(spins, rng, same):
    nside, lmax = 8, 20
    full = random_alm(rng, lmax, 1)
    expected = np.array(healpy.alm2map_der1(full[0], nside)[1:])
    with rw.Transform(f"healpix:{nside}", lmax, spins=spins) as t:
        alm = t.alm_layout.scatter(full)
        same(t.map_layout.allgather(t.synthesis_deriv1(alm)), expected)
        assert np.array_equal(t.synthesis_deriv1(alm[0]), t.synthesis_deriv1(alm))
        batch = t.synthesis_deriv1(np.stack([alm, 2 * alm]))
        assert batch.shape == (2, 2, t.map_layout.size)
        assert t.synthesis_deriv1(alm.astype("c8")).dtype == np.float32
        out = np.empty((2, t.map_layout.size))
        assert t.synthesis_deriv1(alm, out=out) is out
        with pytest.raises(rw.UsageError):
            t.synthesis_deriv1(np.concatenate([alm, alm]))
    with pytest.raises(rw.UsageError, match="closed"):
        t.synthesis(np.concatenate([alm] * t.ncomp))
