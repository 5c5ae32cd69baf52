# SPDX-License-Identifier: GPL-3.0-or-later
"""Every function of ringweave.healpy_compat against healpy's, whole and distributed."""
import inspect

import healpy
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw
import ringweave.healpy_compat as compat
from ringweave import _nested

NSIDE, LMAX = 16, 40


@pytest.fixture
def alm(rng):
    return random_alm(rng, LMAX, 3)


@pytest.fixture
def maps(alm):
    return healpy.alm2map(alm, NSIDE)


@pytest.fixture
def holed(maps):
    holed = maps.copy()
    holed[0, 5:90] = holed[2, 1000:1100] = healpy.UNSEEN
    return holed


def test_signatures_are_healpys():
    for name in compat.__all__:
        if not callable(getattr(compat, name)) or not hasattr(healpy, name) or name == "Alm":
            continue
        ours = list(inspect.signature(getattr(compat, name)).parameters.values())
        theirs = list(inspect.signature(getattr(healpy, name)).parameters.values())
        assert [str(p) for p in ours[:len(theirs)]] == [str(p) for p in theirs], name


@pytest.mark.parametrize("arguments", [
    {}, {"lmax": 30, "mmax": 20, "iter": 1}, {"iter": 0}, {"use_weights": True}, {"gal_cut": 20}, {"pol": False}])
def test_map2alm(arguments, maps, same):
    same(compat.map2alm(maps, **arguments), healpy.map2alm(maps, **arguments))
    same(compat.map2alm(list(maps), **arguments), healpy.map2alm(list(maps), **arguments))
    same(compat.map2alm(maps[0].astype("f4"), **arguments), healpy.map2alm(maps[0].astype("f4"), **arguments))


@pytest.mark.parametrize("arguments", [
    {}, {"fwhm": 0.1}, {"sigma": 0.1}, {"pol": False}, {"lmax": LMAX}, {"fwhm": 0.1, "pol": False}])
def test_alm2map(arguments, alm, same):
    before = alm.copy()
    same(compat.alm2map(alm, NSIDE, **arguments), healpy.alm2map(alm, NSIDE, **arguments))
    same(compat.alm2map(alm[0], NSIDE, **arguments), healpy.alm2map(alm[0], NSIDE, **arguments))
    assert np.array_equal(alm, before)
    low = np.array(healpy.resize_alm(list(alm), LMAX, LMAX, LMAX, 10))
    same(compat.alm2map(low, NSIDE, LMAX, 10), healpy.alm2map(low, NSIDE, LMAX, 10))


def test_other_numbers_of_fields(rng, same):
    alm = random_alm(rng, LMAX, 2)
    same(compat.alm2map(alm, NSIDE, pol=False), healpy.alm2map(alm, NSIDE, pol=False))
    with pytest.raises(TypeError):
        compat.alm2map(alm, NSIDE)
    with pytest.raises(TypeError):
        compat.map2alm(np.zeros(100))


@pytest.mark.parametrize("spin", [1, 2, 3])
def test_spins(spin, rng, same):
    alm = list(random_alm(rng, LMAX, 2, spin))
    maps = healpy.alm2map_spin(alm, NSIDE, spin, LMAX)
    same(compat.alm2map_spin(alm, NSIDE, spin, LMAX), maps)
    same(compat.map2alm_spin(maps, spin, LMAX), healpy.map2alm_spin(maps, spin, LMAX))


def same_where_seen(value, reference, same):
    unseen = reference == healpy.UNSEEN
    assert np.array_equal(np.asarray(value) == healpy.UNSEEN, unseen)
    same(np.asarray(value)[~unseen], np.asarray(reference)[~unseen])


def test_unseen_and_masked(holed, same):
    same(compat.map2alm(holed, LMAX), healpy.map2alm(holed, LMAX))
    masked = healpy.ma(holed)
    same(compat.map2alm(masked, LMAX), healpy.map2alm(masked, LMAX))
    same(compat.anafast(masked), healpy.anafast(masked))
    before = holed.copy()
    same_where_seen(compat.smoothing(holed, 0.1), healpy.smoothing(holed, 0.1), same)
    assert np.array_equal(holed, before)
    for maps in (masked, masked[0]):
        ours, theirs = compat.smoothing(maps, 0.1), healpy.smoothing(maps, 0.1)
        assert isinstance(ours, np.ma.MaskedArray) and np.array_equal(ours.mask, theirs.mask)
        same(ours.filled(0), theirs.filled(0))


@pytest.mark.parametrize("arguments", [
    {"fwhm": 0.1}, {"sigma": 0.05}, {"beam_window": np.linspace(1, 0, 20)}, {"fwhm": 0.1, "pol": False},
    {"fwhm": 0.1, "iter": 1, "lmax": 30, "mmax": 20}, {"fwhm": 0.1, "use_weights": True}, {}])
def test_smoothing(arguments, maps, same):
    if arguments.get("mmax") is None:
        same(compat.smoothing(maps, **arguments), healpy.smoothing(maps, **arguments))
        same(compat.smoothing(maps[0], **arguments), healpy.smoothing(maps[0], **arguments))
    else:
        same(compat.smoothing(maps[0], **arguments), healpy.smoothing(maps[0], **arguments))


def test_nested(maps, holed, same):
    for nside in (1, 2, 4, 32):
        assert np.array_equal(_nested.ring_of_nested(nside), healpy.nest2ring(nside, np.arange(12 * nside ** 2)))
    nested = healpy.reorder(maps, r2n=True)
    same(compat.smoothing(nested, 0.1, nest=True), healpy.smoothing(nested, 0.1, nest=True))
    # healpy puts UNSEEN where the pixels of these numbers are in RING order.
    nested = healpy.reorder(holed, r2n=True)
    same_where_seen(compat.smoothing(nested, 0.1, nest=True),
                    healpy.reorder(healpy.smoothing(holed, 0.1), r2n=True), same)
    with pytest.raises(rw.UsageError):
        _nested.ring_of_nested(3)


def test_spectra(maps, alm, same):
    for arguments in ({}, {"lmax": 20}, {"nspec": 2}, {"pol": False}, {"iter": 0}):
        same(compat.anafast(maps, **arguments), healpy.anafast(maps, **arguments))
        same(compat.anafast(maps, maps[::-1], **arguments), healpy.anafast(maps, maps[::-1], **arguments))
    cl, found = compat.anafast(maps[0], alm=True)
    same(cl, healpy.anafast(maps[0]))
    same(found, healpy.map2alm(maps[0]))
    for arguments in ({}, {"lmax_out": 10}, {"lmax_out": 60}, {"nspec": 3}):
        same(compat.alm2cl(alm, **arguments), healpy.alm2cl(alm, **arguments))
        same(compat.alm2cl(alm, alm[::-1].copy(), **arguments), healpy.alm2cl(alm, alm[::-1].copy(), **arguments))
    same(compat.alm2cl(alm[0], alm[1]), healpy.alm2cl(alm[0], alm[1]))


def test_alm_tools(alm, same):
    same(compat.almxfl(alm[0], np.arange(20.0)), healpy.almxfl(alm[0], np.arange(20.0)))
    row = alm[0].copy()
    assert compat.almxfl(row, np.arange(50.0), inplace=True) is row
    same(row, healpy.almxfl(alm[0], np.arange(50.0)))
    same(compat.smoothalm(alm.copy(), fwhm=0.1), healpy.smoothalm(alm.copy(), fwhm=0.1))
    matrix = healpy.Rotator(coord=["G", "E"]).mat
    for arguments in ({"psi": 0.3, "theta": 0.4, "phi": 0.5}, {"matrix": matrix}):
        ours, theirs = alm.copy(), [row.copy() for row in alm]
        compat.rotate_alm(ours, **arguments)
        healpy.rotate_alm(theirs, **arguments)
        same(ours, theirs)
    same(compat.resize_alm(alm, LMAX, LMAX, 50, 45), np.array(healpy.resize_alm(list(alm), LMAX, LMAX, 50, 45)))
    same(compat.gauss_beam(0.1, 100, True), healpy.gauss_beam(0.1, 100, True))
    same(compat.gauss_beam(0.1), healpy.gauss_beam(0.1))
    for lmax, mmax in ((0, 0), (7, None), (9, 4)):
        size = healpy.Alm.getsize(lmax, mmax)
        assert compat.Alm.getsize(lmax, mmax) == size and compat.Alm.getlmax(size, mmax) == lmax
    assert compat.Alm.getlmax(7) == healpy.Alm.getlmax(7) == -1
    assert np.array_equal(compat.Alm.getlm(7), healpy.Alm.getlm(7))
    assert np.array_equal(compat.Alm.getlm(7, np.array([3, 20])), healpy.Alm.getlm(7, np.array([3, 20])))
    assert compat.Alm.getidx(9, 5, 3) == healpy.Alm.getidx(9, 5, 3)


def test_windows_and_pixel_weights(maps, alm, folder, rng, write_table, monkeypatch, same):
    window = np.linspace(1, 0.5, 65)
    write_table(folder / "pixel_window_functions/pixel_window_n0016.fits",
                {"TEMPERATURE": window, "POLARIZATION": window ** 2}, NSIDE=16)
    same(compat.pixwin(NSIDE, True, datapath=folder), healpy.pixwin(NSIDE, True, datapath=folder))
    monkeypatch.setenv("HEALPIX", str(folder / "pixel_window_functions"))
    factors = [window ** (2 if i else 1) for i in range(3)]
    expected = healpy.alm2map(np.array([healpy.almxfl(row, f) for row, f in zip(alm, factors)]), NSIDE)
    same(compat.alm2map(alm, NSIDE, pixwin=True), expected)
    write_table(folder / "full_weights/healpix_full_weights_nside_0016.fits",
                {"COMPRESSED PIXEL WEIGHTS": rng.normal(size=(NSIDE + 1) * (3 * NSIDE + 1) // 4) / 100}, NSIDE=16)
    for arguments in ({}, {"iter": 0, "pol": False}):
        same(compat.map2alm(maps, use_pixel_weights=True, datapath=folder, **arguments),
             healpy.map2alm(maps, use_pixel_weights=True, datapath=folder, **arguments))
    with pytest.raises(RuntimeError):
        compat.map2alm(maps, use_weights=True, use_pixel_weights=True)
    with pytest.raises(FileNotFoundError):
        compat.map2alm(maps, use_pixel_weights=True)


def test_random_skies(same):
    cl = 1 / np.arange(1, LMAX + 2.0) ** 2
    maps, alm = compat.synfast(cl, NSIDE, alm=True)
    same(maps, healpy.alm2map(alm, NSIDE))
    np.random.seed(3)
    maps = compat.synfast([cl, cl, cl, cl / 10], NSIDE, new=True)
    np.random.seed(3)
    assert np.array_equal(maps, compat.synfast([cl, cl / 10, cl, cl], NSIDE))
    assert not np.array_equal(maps, compat.synfast([cl, cl / 10, cl, cl], NSIDE))
    white = compat.alm2cl(compat.synalm([np.ones(400), None, None, np.ones(400), None, np.ones(400)]))
    assert np.allclose(white[:3, 2:].mean(axis=1), 1, atol=0.05) and np.all(np.abs(white[3:].mean(axis=1)) < 0.05)
    with pytest.raises(TypeError):
        compat.synalm([cl, cl])


def test_distributed(maps, holed, alm, same, comm):
    layout, orders = compat.map_layout(NSIDE), compat.alm_layout(LMAX)
    mine = layout.scatter(maps)
    same(orders.allgather(compat.map2alm(mine, LMAX, distributed=True)), healpy.map2alm(maps, LMAX))
    same(layout.allgather(compat.alm2map(orders.scatter(alm), NSIDE, LMAX, distributed=True)), maps)
    smooth = layout.allgather(compat.smoothing(layout.scatter(holed), 0.1, lmax=LMAX, distributed=True))
    same_where_seen(smooth, healpy.smoothing(holed, 0.1, lmax=LMAX), same)
    same(compat.anafast(mine, lmax=LMAX, distributed=True), healpy.anafast(maps, lmax=LMAX))
    same(orders.allgather(compat.almxfl(orders.scatter(alm[0]), np.arange(9.0), distributed=True)),
         healpy.almxfl(alm[0], np.arange(9.0)))
    assert layout.size < 12 * NSIDE ** 2 or comm.size == 1


def test_patched(maps, same):
    before = healpy.map2alm
    expected = healpy.smoothing(maps, 0.1)
    with compat.patched(healpy):
        assert healpy.map2alm is healpy.sphtfunc.map2alm is compat.map2alm
        same(healpy.smoothing(maps, 0.1), expected)
        rotated = healpy.Rotator(coord=["G", "C"]).rotate_map_alms(maps[0], use_pixel_weights=False)
    assert healpy.map2alm is before
    same(rotated, healpy.Rotator(coord=["G", "C"]).rotate_map_alms(maps[0], use_pixel_weights=False))
