# SPDX-License-Identifier: GPL-3.0-or-later
"""Derivatives, least squares, changes of nside, random a_lm and files of ringweave.healpy_compat against healpy's,
whole and distributed."""
import warnings

import healpy
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw
import ringweave.healpy_compat as compat

NSIDE, LMAX = 16, 40


@pytest.fixture
def alm(rng):
    return random_alm(rng, LMAX, 3)


@pytest.fixture
def maps(alm):
    return healpy.alm2map(alm, NSIDE)


def test_derivatives(alm, same):
    expected = np.array(healpy.alm2map_der1(alm[0], NSIDE))
    same(compat.alm2map_der1(alm[0], NSIDE), expected)
    low = healpy.resize_alm(alm[0], LMAX, LMAX, LMAX, 10)
    same(compat.alm2map_der1(low, NSIDE, LMAX, 10), healpy.alm2map_der1(low, NSIDE, LMAX, 10))
    layout = compat.alm_layout(LMAX)
    mine = compat.alm2map_der1(layout.scatter(alm[0]), NSIDE, distributed=True)
    same(compat.map_layout(NSIDE).allgather(mine), expected)


def test_spin_0(rng, same):
    alm = list(random_alm(rng, LMAX, 2))
    maps = healpy.alm2map_spin(alm, NSIDE, 0, LMAX)
    same(compat.alm2map_spin(alm, NSIDE, 0, LMAX), maps)
    same(compat.map2alm_spin(maps, 0, LMAX), healpy.map2alm_spin(maps, 0, LMAX))


@pytest.mark.parametrize("cut", [5, 30, 41.810314895778596, 60])
def test_cuts_on_a_ring(cut, maps, same):
    same(compat.map2alm(maps, LMAX, gal_cut=cut), healpy.map2alm(maps, LMAX, gal_cut=cut))


def test_least_squares(alm, maps, rng, same):
    noisy = maps + rng.normal(size=maps.shape)
    for given in (noisy, noisy[0], noisy[:1]):
        theirs = healpy.map2alm_lsq(given, LMAX, LMAX, tol=1e-14, maxiter=100)
        found, residual, iterations = compat.map2alm_lsq(given, LMAX, LMAX, tol=1e-14, maxiter=100)
        same(found, theirs[0])
        assert residual == pytest.approx(theirs[1], rel=1e-10) and 1 < iterations < 100
    found, residual, _ = compat.map2alm_lsq(maps, LMAX, LMAX)
    same(found, alm, 1e-9)
    assert residual < 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compat.map2alm_lsq(noisy, LMAX, LMAX, maxiter=1)[2] == 1
    layout = compat.map_layout(NSIDE)
    mine, residual, _ = compat.map2alm_lsq(layout.scatter(noisy), LMAX, LMAX, tol=1e-14, maxiter=100, distributed=True)
    theirs = healpy.map2alm_lsq(noisy, LMAX, LMAX, tol=1e-14, maxiter=100)
    same(compat.alm_layout(LMAX).allgather(mine), theirs[0])
    assert residual == pytest.approx(theirs[1], rel=1e-10)


BEAM = np.exp(-np.arange(60) / 20.0)
GRADES = [
    {}, {"fwhm_out": None}, {"fwhm_in": 0.1, "fwhm_out": 0.2}, {"lmax": 20, "mmax": 10, "iter": 1},
    {"use_weights": True}, {"pol": False}, {"dtype": np.float32},
    {"beam_window_in": np.array([BEAM, BEAM ** 2]).T, "beam_window_out": np.array([BEAM ** 3, BEAM ** 4]).T},
]


@pytest.mark.parametrize("arguments", GRADES)
@pytest.mark.parametrize("nside", [8, 32])
def test_harmonic_ud_grade(arguments, nside, maps, same):
    arguments = {"pixwin": False, "use_pixel_weights": False, **arguments}
    error = 1e-6 if "dtype" in arguments else 1e-12
    expected = healpy.harmonic_ud_grade(maps, nside, **arguments)
    found = compat.harmonic_ud_grade(maps, nside, **arguments)
    same(found, expected, error)
    assert found.dtype == expected.dtype
    mine = compat.harmonic_ud_grade(compat.map_layout(NSIDE).scatter(maps), nside, distributed=True, **arguments)
    same(compat.map_layout(nside).allgather(mine), expected, error)
    same(compat.harmonic_ud_grade(healpy.ma(maps[0]), nside, **arguments),
         healpy.harmonic_ud_grade(healpy.ma(maps[0]), nside, **arguments), error)


@pytest.mark.parametrize("arguments", [{}, {"lmax": 20}, {"fwhm_out": 0.2}, {"pol": False}])
def test_harmonic_ud_grade_of_alm(arguments, alm, same):
    arguments = {"pixwin": False, "nside_in": NSIDE, "input_type": "alm", **arguments}
    for given in (alm, alm[0], list(alm)):
        same(compat.harmonic_ud_grade(given, 8, **arguments), healpy.harmonic_ud_grade(given, 8, **arguments))
    mine = compat.harmonic_ud_grade(compat.alm_layout(LMAX).scatter(alm), 8, distributed=True, **arguments)
    same(compat.map_layout(8).allgather(mine), healpy.harmonic_ud_grade(alm, 8, **arguments))


def test_wrong_changes_of_nside(maps, alm, tmp_path):
    for wrong, reason in (({"input_type": "x"}, "input_type"), ({"fwhm_in": -1}, "fwhm_in"),
                          ({"fwhm_out": -1}, "fwhm_out"), ({"beam_window_in": BEAM[:5]}, "length"),
                          ({"beam_window_in": BEAM}, "1D"), ({"input_type": "alm"}, "nside_in")):
        with pytest.raises(ValueError, match=reason):
            compat.harmonic_ud_grade(maps, 8, use_pixel_weights=False, pixwin=False, **wrong)
    with pytest.raises(RuntimeError, match="healpix_full_weights_nside_0016.fits.*use_pixel_weights=False"):
        compat.harmonic_ud_grade(maps, 8, datapath=str(tmp_path))
    with pytest.raises(RuntimeError):
        compat.map2alm(maps, use_pixel_weights=True, datapath=str(tmp_path))
    with pytest.warns(UserWarning, match="iter is ignored"):
        compat.harmonic_ud_grade(alm, 8, NSIDE, input_type="alm", iter=2, pixwin=False)


def test_spectra_of_many_fields():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(4, 4))
    covariance = root @ root.T
    by_row = [np.full(2000, covariance[i, j]) for i in range(4) for j in range(i, 4)]
    by_diagonal = [np.full(2000, covariance[i, i + k]) for k in range(4) for i in range(4 - k)]
    np.random.seed(5)
    alm = compat.synalm(by_row, 200)
    np.random.seed(5)
    assert np.array_equal(compat.synalm(by_diagonal, 200, new=True), alm)
    measured = compat.alm2cl(alm)[:, 50:].mean(axis=1)
    expected = [covariance[i, i + k] for k in range(4) for i in range(4 - k)]
    assert np.allclose(measured, expected, atol=0.02 * covariance.max())
    np.random.seed(5)
    assert np.array_equal(compat.synalm(by_row, 100), np.array(healpy.resize_alm(list(alm), 200, 200, 100, 100)))


def test_impossible_covariances_are_cut():
    one = np.ones(100)
    alm = compat.synalm([one, 2 * one, one, -one], new=False)
    cl = compat.alm2cl(alm)
    assert np.allclose(cl[1], 4 * cl[0]) and np.all(cl[2] == 0)
    alm = compat.synalm([0 * one, one, one, one])
    assert np.all(alm[0] == 0) and np.all(compat.alm2cl(alm)[1, 2:] > 0)
    with pytest.raises(TypeError):
        compat.synalm([one] * 5)


def test_arrays_that_are_not_contiguous(alm, same):
    memory = np.zeros((3, 2 * alm.shape[1]), complex)
    strided = memory[:, ::2]
    strided[:] = alm
    expected = alm.copy()
    healpy.rotate_alm(expected, 0.1, 0.2, 0.3)
    compat.rotate_alm(strided, 0.1, 0.2, 0.3)
    same(strided, expected)
    with pytest.raises(rw.ArrayError):
        compat.rotate_alm(alm.astype(np.complex64), 0.1)
    factors = np.exp(1j * np.arange(30))
    same(compat.almxfl(alm[0], factors), healpy.almxfl(alm[0], factors))
    row = alm[0].copy()
    assert compat.almxfl(row, factors, inplace=True) is row
    same(row, healpy.almxfl(alm[0], factors))
    with pytest.raises(AssertionError):
        compat.Alm.getlm(500, 125751)


@pytest.mark.parametrize("nest", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_maps_in_files(nest, dtype, maps, folder, same, comm):
    name = str(folder / "map.fits")
    maps[:, 50:300] = healpy.UNSEEN
    maps = maps.astype(dtype)
    if comm.rank == 0:
        healpy.write_map(name, maps, nest=nest, coord="G", column_units="uK", overwrite=True, dtype=dtype)
    comm.barrier()
    for arguments in ({}, {"field": (0, 1, 2)}, {"field": None}, {"nest": True}, {"nest": None, "field": (2, 0)},
                      {"field": 1, "dtype": np.float64}):
        theirs, ours = healpy.read_map(name, **arguments), compat.read_map(name, **arguments)
        assert ours.dtype == theirs.dtype.newbyteorder("=") and np.array_equal(ours, theirs)
    found, header = compat.read_map(name, h=True)
    header = dict(header)
    assert header["ORDERING"] == ("NESTED" if nest else "RING") and header["NSIDE"] == NSIDE
    assert header["COORDSYS"] == "G" and header["TTYPE1"] == "TEMPERATURE" and header["TUNIT1"] == "uK"
    layout = compat.map_layout(NSIDE)
    assert np.array_equal(layout.allgather(compat.read_map(name, distributed=True)), found)
    if nest:
        with pytest.raises(rw.UsageError):
            compat.read_map(name, nest=True, distributed=True)
    own = str(folder / "own.fits")
    compat.write_map(own, healpy.ma(maps), nest=nest, coord="C", column_units=["K", None, "K"],
                     extra_header=[("OBS", "x", "comment")], overwrite=True)
    comm.barrier()
    theirs, header = healpy.read_map(own, field=None, h=True, nest=nest)
    header = dict(header)
    assert theirs.dtype.newbyteorder("=") == dtype and np.array_equal(theirs, maps)
    assert header["ORDERING"].strip() == ("NESTED" if nest else "RING") and header["OBS"] == "x"
    with pytest.raises(OSError):
        compat.write_map(own, maps)
    if not nest:
        compat.write_map(own, layout.scatter(maps), overwrite=True, distributed=True)
        assert np.array_equal(healpy.read_map(own, field=None), maps)
    comm.barrier()
    compat.write_map(own, maps, nest=nest, partial=True, overwrite=True)
    comm.barrier()
    theirs, header = healpy.read_map(own, field=None, h=True, nest=nest)
    assert dict(header)["OBJECT"].strip() == "PARTIAL" and np.array_equal(theirs, maps)
    comm.barrier()


def test_integers_are_written_as_float64(folder, comm):
    name = str(folder / "mask.fits")
    mask = np.arange(12 * NSIDE ** 2) % 2
    compat.write_map(name, mask)
    assert np.array_equal(compat.read_map(name), mask)
    assert np.array_equal(compat.read_map(name, dtype=bool), mask.astype(bool))


def test_alm_in_files(alm, folder, comm):
    name = str(folder / "alm.fits")
    if comm.rank == 0:
        healpy.write_alm(name, list(alm), overwrite=True)
    comm.barrier()
    for hdu in (1, 2, (1, 2, 3)):
        theirs, ours = healpy.read_alm(name, hdu), compat.read_alm(name, hdu)
        assert theirs.dtype == ours.dtype and np.array_equal(theirs, ours)
    layout = compat.alm_layout(LMAX)
    assert np.array_equal(layout.allgather(compat.read_alm(name, (1, 2, 3), distributed=True)), alm)
    for arguments in ({}, {"lmax": 20}, {"lmax": 20, "mmax": 7}, {"out_dtype": np.float32}):
        own, other = str(folder / "own.fits"), str(folder / "other.fits")
        compat.write_alm(own, list(alm), overwrite=True, **arguments)
        if comm.rank == 0:
            healpy.write_alm(other, list(alm), overwrite=True, **arguments)
        comm.barrier()
        theirs = healpy.read_alm(other, (1, 2, 3), return_mmax=True)
        ours = healpy.read_alm(own, (1, 2, 3), return_mmax=True)
        again = compat.read_alm(own, (1, 2, 3), return_mmax=True)
        assert theirs[1] == ours[1] == again[1]
        assert np.array_equal(np.sort_complex(theirs[0]), np.sort_complex(ours[0]))
        assert np.array_equal(again[0], ours[0])
        comm.barrier()
    compat.write_alm(str(folder / "own.fits"), layout.scatter(alm), overwrite=True, distributed=True)
    assert np.array_equal(healpy.read_alm(str(folder / "own.fits"), (1, 2, 3)), alm)
    with pytest.raises(ValueError):
        compat.read_alm(name, 4)
    with pytest.raises(ValueError):
        compat.write_alm(name, alm, lmax=100, overwrite=True)
    with pytest.raises(TypeError):
        compat.read_alm(5)


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_spectra_in_files(n, folder, comm):
    name = str(folder / "cl.fits")
    cl = 1 / np.outer(np.arange(1, n + 1), np.arange(1, 30.0))
    cl = cl[0] if n == 1 else cl
    if comm.rank == 0:
        healpy.write_cl(name, cl, overwrite=True)
    comm.barrier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rw.FileWarning)  # that healpy names EB and TB in the other order
        assert n == 2 or np.array_equal(compat.read_cl(name), healpy.read_cl(name))
    comm.barrier()
    compat.write_cl(name, cl, overwrite=True, column_units="uK2")
    assert np.array_equal(compat.read_cl(name)[:n if n > 1 else None], cl)
    if n == 6:
        theirs = healpy.read_cl(name)
        assert np.array_equal(theirs[:4], cl[:4]) and np.array_equal(theirs[4:], cl[[5, 4]])
    elif n != 2:
        assert np.array_equal(healpy.read_cl(name), cl)
    with pytest.raises(OSError):
        compat.write_cl(name, cl)
    with pytest.raises(ValueError):
        compat.write_cl(name, cl, column_names=["X"] * n)
