# SPDX-License-Identifier: GPL-3.0-or-later
"""Deflections and lensed maps, against positions on the sphere in numpy and ducc0's values there."""
import warnings

import ducc0
import numpy as np
import pytest
from conftest import random_alm, relative

import ringweave as rw

LMAX, LMAX_D = 24, 12
ALONE = rw.AlmLayout(LMAX_D, orders=range(LMAX_D + 1), comm=rw._core.Comm.self())


@pytest.fixture
def dlm(rng):
    """Returns gradient and curl of a deflection of an rms of about 5e-3."""
    return 5e-3 / np.sqrt(LMAX_D) / np.arange(1, 3)[:, None] * random_alm(rng, LMAX_D, 2, 1) / 3


@pytest.fixture
def grid():
    return rw.Grid.gauss(40)


@pytest.fixture
def full(rng):
    alm = random_alm(rng, LMAX, 3)
    alm[1:] = random_alm(rng, LMAX, 2, 2)
    return alm


def positions(theta, phi, d):
    """Returns n' at the ends of geodesics, and the angle of the turn, all by vectors in space."""
    south = np.stack([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), -np.sin(theta)])
    east = np.stack([-np.sin(phi), np.cos(phi), 0 * phi])
    n = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    length = np.hypot(*d)
    direction = (d[0] * south + d[1] * east) / length
    moved = n * np.cos(length) + direction * np.sin(length)
    tangent = direction * np.cos(length) - n * np.sin(length)  # the direction, carried along
    to_theta = np.arctan2(np.hypot(moved[0], moved[1]), moved[2])
    to_phi = np.arctan2(moved[1], moved[0])
    south_there = np.stack([np.cos(to_theta) * np.cos(to_phi), np.cos(to_theta) * np.sin(to_phi), -np.sin(to_theta)])
    east_there = np.stack([-np.sin(to_phi), np.cos(to_phi), 0 * phi])
    before = np.arctan2(d[1], d[0])
    after = np.arctan2(np.sum(tangent * east_there, axis=0), np.sum(tangent * south_there, axis=0))
    return to_theta, to_phi, before - after


def test_vectors_and_angles(grid, dlm, same):
    with rw.lensing.Deflection(grid, dlm) as deflection:
        layout = deflection.map_layout
        expected = ducc0.sht.synthesis(alm=dlm, spin=1, lmax=LMAX_D, theta=grid.theta, phi0=grid.phi0,
                                       nphi=grid.nphi.astype(np.uint64), ringstart=grid.first_pixel.astype(np.uint64))
        d = deflection.vectors
        same(layout.allgather(d), expected)
        assert not d.flags.writeable and d.base is not None
        theta, phi, gamma = deflection.angles()
        to_theta, to_phi, turn = positions(*layout.theta_phi(), d)
        assert np.allclose(theta, to_theta, atol=1e-13)
        assert np.allclose(np.exp(1j * phi), np.exp(1j * to_phi), atol=1e-12)
        assert np.allclose(np.exp(1j * gamma), np.exp(1j * turn), atol=1e-11)
        length = np.hypot(*expected)
        assert deflection.largest == pytest.approx(length.max())
        weight = np.repeat(grid.weight, grid.nphi)
        assert deflection.rms == pytest.approx(np.sqrt(np.sum(weight * length ** 2) / np.sum(weight)), rel=1e-6)
    # Views outlive it.
    same(layout.allgather(d), expected)
    with pytest.raises(rw.UsageError, match="closed"):
        deflection.angles()


def test_lensed_maps_are_values_at_the_positions(grid, dlm, full, same, comm):
    with rw.lensing.Deflection(grid, dlm) as deflection, \
            rw.lensing.Lensing(deflection, LMAX, epsilon=1e-13) as lensing:
        map = lensing.synthesis(lensing.alm_layout.scatter(full))
        layout = lensing.map_layout
        whole = layout.allgather(map)
        theta, phi, gamma = (layout.allgather(x) for x in deflection.angles())
        loc = np.stack([theta, phi % (2 * np.pi)], axis=1)
        t = ducc0.sht.synthesis_general(alm=full[:1], spin=0, lmax=LMAX, loc=loc, epsilon=3e-13)
        q, u = ducc0.sht.synthesis_general(alm=full[1:], spin=2, lmax=LMAX, loc=loc, epsilon=3e-13)
        turned = np.exp(2j * gamma) * (q + 1j * u)
        same(whole, np.stack([t[0], turned.real, turned.imag]))
        with rw.lensing.Lensing(deflection, LMAX, (0, 2), epsilon=1e-13, rotation="none") as copied:
            same(layout.allgather(copied.synthesis(copied.alm_layout.scatter(full))), np.stack([t[0], q, u]))
        # The transpose.
        f = layout.scatter(np.cos(np.arange(3.0 * grid.npix)).reshape(3, -1))
        left = comm.allreduce(np.sum(f * map))
        back = lensing.alm_layout.allgather(lensing.adjoint(f))
        twice = np.where(rw.AlmLayout(LMAX, orders=range(LMAX + 1), comm=rw._core.Comm.self()).lm()[1] > 0, 2, 1)
        assert np.sum((np.conj(full) * back).real * twice) == pytest.approx(left, rel=1e-11)
        out = lensing.empty_map()
        assert lensing.synthesis(lensing.alm_layout.scatter(full), out=out) is out and np.array_equal(out, map)
        assert lensing.bytes > 0 and "points" in lensing.times
    # In one call, with a_lm that every rank has, or that are distributed.
    once, its_layout = rw.lensing.deflect(full, dlm, grid, epsilon=1e-13)
    same(its_layout.allgather(once), whole)
    own, d_own = rw.AlmLayout(LMAX), rw.AlmLayout(LMAX_D)
    once, its_layout = rw.lensing.deflect(own.scatter(full), d_own.scatter(dlm), grid, layout=own, dlm_layout=d_own,
                                          epsilon=1e-13)
    same(its_layout.allgather(once), whole)
    alm, alm_layout = rw.lensing.adjoint(whole, dlm, LMAX, grid=grid, epsilon=1e-13)
    again, _ = rw.lensing.adjoint(once, dlm, LMAX, layout=its_layout, epsilon=1e-13)
    same(alm, again)
    assert alm_layout.lmax == LMAX
    theta_phi = rw.lensing.angles(dlm, grid)
    assert np.array_equal(theta_phi[3].allgather(theta_phi[0]), theta)


def test_kinds_of_potentials(grid, dlm, full, same):
    l = ALONE.lm()[0]
    factor = np.sqrt(l * (l + 1.0))
    phi = np.where(l > 0, dlm[0] / np.where(l > 0, factor, 1), 0)
    vectors = []
    for kind, potential in (("deflection", dlm[0]), ("phi", phi), ("kappa", phi * l * (l + 1) / 2)):
        with rw.lensing.Deflection(grid, potential, kind=kind) as deflection:
            vectors.append(deflection.map_layout.allgather(deflection.vectors))
    same(vectors[1], vectors[0])
    same(vectors[2], vectors[0])
    with pytest.raises(rw.UsageError, match="kind"):
        rw.lensing.Deflection(grid, dlm, kind="psi")
    with pytest.raises(rw.UsageError, match="dlm"):
        rw.lensing.Deflection(grid, np.stack([dlm[0]] * 3))
    with pytest.raises(rw.UsageError, match="rotation"), rw.lensing.Deflection(grid, dlm) as deflection:
        rw.lensing.Lensing(deflection, LMAX, rotation="some")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rw.lensing.Deflection(grid, 5 * dlm).close()
    assert len(caught) == (deflection.comm.rank == 0)


def test_adjoint_with_weights_gives_the_alm(dlm, full):
    grid = rw.Grid.gauss(120)
    lensed, layout = rw.lensing.deflect(full, dlm, grid, epsilon=1e-12)
    alm, alm_layout = rw.lensing.adjoint(lensed, dlm, LMAX, layout=layout, epsilon=1e-12, weights=True,
                                         magnification=True)
    assert relative(alm_layout.allgather(alm), full) < 1e-8
    with rw.lensing.Deflection(grid, dlm) as deflection:
        area = deflection.magnification()
        weight = np.repeat(grid.weight, grid.nphi)
        assert np.sum(weight * deflection.map_layout.allgather(area)) == pytest.approx(4 * np.pi, rel=1e-9)
        with deflection.inverse() as inverse:
            with pytest.raises(rw.UsageError):
                inverse.magnification()


def test_the_way_back(dlm, full, same):
    grid = rw.Grid.gauss(120)
    lensed, layout = rw.lensing.deflect(full, dlm, grid, epsilon=1e-12)
    with rw.Transform(grid, LMAX, spins=(0, 2)) as t:
        unlensed = t.map_layout.allgather(t.synthesis(t.alm_layout.scatter(full)))
    back, back_layout = rw.lensing.delens(lensed, dlm, 120, layout=layout, epsilon=1e-12)
    assert relative(back_layout.allgather(back), unlensed) < 1e-9
    with rw.lensing.Deflection(grid, dlm) as deflection, deflection.inverse() as inverse:
        # n is at the end of the geodesic of d at the point that the inverse finds.
        theta, phi, _ = inverse.angles()
        with rw.NonuniformTransform((theta, phi), LMAX_D, 1, epsilon=1e-13) as t:
            d = t.synthesis(t.alm_layout.scatter(dlm))
        there = positions(theta, phi, d)
        at = inverse.map_layout.theta_phi()
        assert np.allclose(there[0], at[0], atol=1e-11)
        with rw.lensing.Delensing(inverse, 120, epsilon=1e-12) as delensing:
            same(delensing.map_layout.allgather(delensing.delens(lensed)), back_layout.allgather(back))
            assert "analysis" in delensing.times


def test_one_rank_with_wrong_arrays(grid, dlm, comm):
    broken = dlm[:, :-1] if comm.rank == comm.size - 1 else dlm
    with pytest.raises(rw.UsageError, match="dlm|alm"):
        rw.lensing.Deflection(grid, broken)
    with rw.lensing.Deflection(grid, dlm) as deflection, rw.lensing.Lensing(deflection, LMAX, (0,)) as lensing:
        alm = np.zeros_like(lensing.empty_alm())
        with pytest.raises(rw.UsageError):
            lensing.synthesis(np.zeros((2, alm.shape[1]), "c16") if comm.rank == 0 else alm)
        with pytest.raises(TypeError):
            lensing.synthesis(alm.real)
        map = np.zeros_like(lensing.empty_map())
        if comm.rank == comm.size - 1:
            map[0, 0] = np.nan
        with pytest.raises(rw.DataError):
            lensing.adjoint(map)
