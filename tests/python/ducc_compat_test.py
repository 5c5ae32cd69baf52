# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions with ducc0's names, against ducc0. Every rank calls them alone."""
import ducc0
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw
from ringweave import ducc_compat

LMAX = 20


@pytest.fixture
def rings():
    """Returns rings in any order, with gaps between pixels, two of them at one theta."""
    theta = np.array([1.4, 0.3, 2.5, 1.0, 1.0, 0.0])
    nphi = np.array([30, 20, 24, 33, 7, 1], dtype=np.uint64)
    start = np.array([5, 200, 100, 300, 4, 450], dtype=np.uint64)
    return {"theta": theta, "nphi": nphi, "phi0": np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.0]), "ringstart": start,
            "pixstride": 2, "ringfactor": np.array([1.0, 2, 3, 0.5, 1, 1])}


@pytest.fixture
def healpix():
    return ducc0.healpix.Healpix_Base(8, "RING").sht_info()


def both(name, **arguments):
    return getattr(ducc_compat, name)(**arguments), getattr(ducc0.sht, name)(**arguments)


@pytest.mark.parametrize("spin, mode", [(0, "STANDARD"), (1, "STANDARD"), (2, "STANDARD"), (2, "GRAD_ONLY"),
                                        (1, "DERIV1")])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_synthesis_and_adjoint(spin, mode, dtype, rings, rng, same):
    error = 1e-12 if dtype == "f8" else 1e-6
    n = 1 if spin == 0 or mode != "STANDARD" else 2
    mmax = 15
    alm = random_alm(rng, LMAX, n, spin, mmax).astype("c16" if dtype == "f8" else "c8")
    map = np.zeros((1 if spin == 0 else 2, 500), dtype)
    arguments = {"lmax": LMAX, "mmax": mmax, "spin": spin, "mode": mode, **rings}
    result, expected = both("synthesis", alm=alm, map=map.copy(), **arguments)
    same(result, expected, error)
    assert result.dtype == dtype
    result = ducc_compat.synthesis(alm=alm, **arguments)
    assert result.shape == (map.shape[0], 451)
    same(result, expected[:, :451], error)
    same(*both("adjoint_synthesis", map=expected, **arguments), error)


def test_sets_and_places_of_coefficients(healpix, rng, same):
    alm = np.stack([random_alm(rng, LMAX, 2, 2) for _ in range(3)])
    result, expected = both("synthesis", alm=alm, lmax=LMAX, spin=2, **healpix)
    same(result, expected)
    same(*both("adjoint_synthesis", map=expected, lmax=LMAX, spin=2, **healpix))
    mmax, lstride = 10, 3
    mstart = (np.arange(mmax + 1)[::-1] * 3 * (LMAX + 1) + 7).astype(np.uint64)
    wide = rng.normal(size=(1, 1000)) + 0j
    places = {"lmax": LMAX, "spin": 0, "mstart": mstart, "lstride": lstride}
    result, expected = both("synthesis", alm=wide, **places, **healpix)
    same(result, expected)
    same(*both("adjoint_synthesis", map=expected, alm=wide.copy(), **places, **healpix))


def test_ring_factors_of_contiguous_rings(healpix, rng, same):
    factor = rng.uniform(0.5, 1.5, len(healpix["theta"]))
    for dtype, error in (("c16", 1e-12), ("c8", 1e-6)):
        alm = random_alm(rng, LMAX, 2, 2).astype(dtype)
        result, expected = both("synthesis", alm=alm, lmax=LMAX, spin=2, ringfactor=factor, **healpix)
        same(result, expected, error)
        same(*both("adjoint_synthesis", map=expected, lmax=LMAX, spin=2, ringfactor=factor, **healpix), error)


def test_derivatives(healpix, rng, same):
    same(*both("synthesis_deriv1", alm=random_alm(rng, LMAX, 1), lmax=LMAX, **healpix))


@pytest.mark.parametrize("spin", [0, 2])
@pytest.mark.parametrize("maxiter, epsilon", [(100, 1e-10), (4, 1e-10), (100, 0.7)])
def test_pseudo_analysis(spin, maxiter, epsilon, healpix, rng, same):
    arguments = {"lmax": LMAX, "spin": spin, "maxiter": maxiter, "epsilon": epsilon, **healpix}
    map = rng.normal(size=(1 if spin == 0 else 2, 768))
    result, expected = both("pseudo_analysis", map=map, **arguments)
    same(result[0], expected[0])
    assert result[1:3] == expected[1:3]
    assert result[3] == pytest.approx(expected[3], rel=1e-9)
    if expected[4] > 1e-12:
        assert result[4] == pytest.approx(expected[4], rel=1e-6)


def test_pseudo_analysis_of_sets_with_a_guess(rings, healpix, rng, same):
    maps = rng.normal(size=(2, 1, 768))
    maps[1] = ducc0.sht.synthesis(alm=random_alm(rng, LMAX, 1), lmax=LMAX, spin=0, **healpix)
    arguments = {"lmax": LMAX, "spin": 0, "maxiter": 50, "epsilon": 1e-11, **healpix}
    result, expected = both("pseudo_analysis", map=maps, **arguments)
    same(result[0], expected[0])
    assert result[1:3] == expected[1:3]
    guess = expected[0][0] + 1e-3
    ours = ducc_compat.pseudo_analysis(map=maps[0], alm=guess.copy(), alm_contains_initial_guess=True, **arguments)
    theirs = ducc0.sht.pseudo_analysis(map=maps[0], alm=guess.copy(), alm_contains_initial_guess=True, **arguments)
    same(ours[0], theirs[0])
    assert ours[1:3] == theirs[1:3]
    none = ducc_compat.pseudo_analysis(map=maps[0], **{**arguments, "maxiter": 0})
    assert none[1:4] == (7, 0, 1.0) and not np.any(none[0])
    with pytest.raises(rw.UsageError, match="ringfactor"):
        ducc_compat.pseudo_analysis(map=np.zeros((1, 500)), lmax=4, spin=0, maxiter=1, epsilon=1, **rings)


@pytest.mark.parametrize("spin, mode", [(0, "STANDARD"), (2, "STANDARD"), (3, "GRAD_ONLY"), (1, "DERIV1")])
def test_points(spin, mode, rng, same):
    loc = np.stack([np.arccos(rng.uniform(-1, 1, 200)), rng.uniform(0, 2 * np.pi, 200)], axis=1)
    n = 1 if spin == 0 or mode != "STANDARD" else 2
    alm = random_alm(rng, LMAX, n, spin, 12)
    arguments = {"lmax": LMAX, "mmax": 12, "spin": spin, "mode": mode, "loc": loc, "epsilon": 3e-13}
    result, expected = both("synthesis_general", alm=alm, **arguments)
    same(result, expected)
    same(*both("adjoint_synthesis_general", map=expected, **arguments))
    out = np.empty_like(result)
    assert ducc_compat.synthesis_general(alm=alm, map=out, **arguments) is out


def test_wrong_arguments(healpix):
    alm = np.zeros((1, 231), dtype="c16")
    for wrong in ({"alm": alm[0]}, {"alm": alm.real}, {"alm": alm[:, :9]}, {"spin": 2}, {"mode": "CURL"},
                  {"mode": "DERIV1", "spin": 0, "alm": np.zeros((2, 231), "c16")}, {"mmax": 21},
                  {"map": np.zeros((1, 768), "f4")}):
        with pytest.raises(ValueError):
            ducc_compat.synthesis(**{"alm": alm, "lmax": LMAX, "spin": 0, **healpix, **wrong})
