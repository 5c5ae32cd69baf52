# SPDX-License-Identifier: GPL-3.0-or-later
"""Spectra, random a_lm, rotations, smoothing and convolutions."""
import healpy
import numpy as np
import pytest
from conftest import random_alm, relative

import ringweave as rw

NSIDE, LMAX = 16, 32


@pytest.fixture
def transform():
    with rw.Transform(f"healpix:{NSIDE}", LMAX, spins=(0, 2)) as t:
        yield t


@pytest.fixture
def full(rng):
    return random_alm(rng, LMAX, 3) / (1 + np.arange(3)[:, None])


def test_spectra(folder):
    cl = np.arange(5.0)
    spectra = rw.Spectra({"TT": cl, "EE": cl[:3]}, unit="uK^2")
    assert spectra.lmax == 4 and spectra["EE"].tolist() == [0, 1, 2, 0, 0] and set(spectra) == {"TT", "EE"}
    assert rw.Spectra(spectra.dl, kind="Dl").cl["TT"] == pytest.approx(cl)
    spectra.write(folder / "cl.txt")
    again = rw.Spectra.read(folder / "cl.txt")
    assert again.unit == "uK^2" and again["TT"] == pytest.approx(cl)
    with pytest.raises(FileExistsError):
        rw.write_cl(folder / "cl.txt", spectra)
    for wrong in ({"XX": cl}, {}):
        with pytest.raises(rw.UsageError):
            rw.Spectra(wrong)
    assert "TT" in spectra and len(spectra) == 2 and dict(spectra)["TT"] is spectra["TT"]


def test_draws_do_not_depend_on_ranks_or_lmax(transform):
    alone = rw.AlmLayout(LMAX, comm=rw._core.Comm.self())
    cl = {"TT": np.ones(60), "EE": np.ones(60), "TE": np.full(60, 0.5)}
    drawn = transform.alm_layout.allgather(rw.draw_alm(cl, 5, transform.alm_layout))
    assert np.array_equal(drawn, rw.draw_alm(cl, 5, alone))
    low = rw.draw_alm(cl, 5, rw.AlmLayout(20, comm=rw._core.Comm.self()))
    assert np.array_equal(low, np.array(healpy.resize_alm(list(drawn), LMAX, LMAX, 20, 20)))
    assert rw.draw_alm(np.ones(60), 5, alone).shape == (1, alone.size)
    assert rw.draw_alm(cl, 5, alone, dtype="f4").dtype == np.complex64
    with pytest.raises(rw.DataError, match="l = 3|l=3"):
        rw.draw_alm({"TT": np.ones(9), "EE": np.ones(9), "TE": np.where(np.arange(9) == 3, 2.0, 0.0)}, 1, alone)


def test_alm2cl(transform, full, same):
    a = transform.alm_layout.scatter(full)
    auto = rw.alm2cl(a, layout=transform.alm_layout)
    expected = healpy.alm2cl(full)
    for name, spectrum in zip(("TT", "EE", "BB", "TE", "EB", "TB"), expected):
        same(auto[name], spectrum)
    cross = rw.alm2cl(a, 2 * a[::-1].copy(), layout=transform.alm_layout)
    assert set(cross) == {"TT", "EE", "BB", "TE", "EB", "TB", "ET", "BE", "BT"}
    same(cross["TT"], 2 * expected[5])
    same(rw.alm2cl(full[0])["TT"], expected[0])
    with pytest.raises(rw.ArrayError):
        rw.alm2cl(a, a.astype("c8"), transform.alm_layout)


def test_rotations(transform, full, same):
    layout = transform.alm_layout
    a = layout.scatter(full)
    for rotation, healpys in (((0.1, "20deg", 0.3), {"psi": 0.1, "theta": np.radians(20), "phi": 0.3}),
                              ("G->C", {"matrix": healpy.Rotator(coord=["G", "C"]).mat}),
                              (healpy.Rotator(coord=["E", "G"]).mat, {"matrix": healpy.Rotator(coord=["E", "G"]).mat})):
        expected = [row.copy() for row in full]
        healpy.rotate_alm(expected, **healpys)
        rotated = rw.rotate_alm(a, layout, rotation)
        same(layout.allgather(rotated), expected)
    assert np.array_equal(layout.allgather(a), full)
    assert rw.rotate_alm(a, layout, (0.1, 0.2, 0.3), out=a) is a
    for wrong in ("G", "G->X", (1, 2), np.eye(3) * 2):
        with pytest.raises(rw.Error):
            rw.rotate_alm(a, layout, wrong)


def test_beams(same):
    same(rw.gauss_beam("1deg", 100), healpy.gauss_beam(np.radians(1), 100))
    same(rw.gauss_beam(np.radians(1), 100, 2)[2:], healpy.gauss_beam(np.radians(1), 100, pol=True)[2:, 1])
    with pytest.raises(rw.UsageError):
        rw.gauss_beam("1 degree", 10)


def test_harmonic_smoothing_is_healpys(transform, full, same):
    layout = transform.map_layout
    whole = healpy.alm2map(full, NSIDE)
    whole[0, 100:300] = healpy.UNSEEN
    map = layout.scatter(whole)
    smooth = rw.smooth(map, layout=layout, fwhm="10deg", lmax=LMAX)
    expected = healpy.smoothing(whole, fwhm=np.radians(10), lmax=LMAX)
    seen = whole != healpy.UNSEEN
    result = layout.allgather(smooth)
    same(result[seen], expected[seen])
    assert np.array_equal(result == healpy.UNSEEN, ~seen)
    assert np.array_equal(layout.allgather(map), whole)
    assert rw.smooth(map, layout=layout, fwhm="10deg", lmax=LMAX, out=map) is map
    assert np.array_equal(map, smooth)
    # On another layout than the transform's.
    bands = rw.MapLayout(f"healpix:{NSIDE}")
    same(bands.allgather(rw.smooth(bands.scatter(whole), layout=bands, fwhm="10deg", lmax=LMAX))[seen], expected[seen])


def test_beams_replace_each_other(transform, full, same):
    layout = transform.map_layout
    l = np.arange(LMAX + 1)
    map = transform.synthesis(transform.alm_layout.scatter(full))
    once = rw.smooth(map, layout=layout, fwhm="8deg", lmax=LMAX, tol=1e-13)
    twice = rw.smooth(once, layout=layout, fwhm="10deg", fwhm_in="8deg", lmax=LMAX, tol=1e-13)
    same(layout.allgather(twice), layout.allgather(rw.smooth(map, layout=layout, fwhm="10deg", lmax=LMAX, tol=1e-13)),
         1e-10)
    beam = np.exp(-l / 10)
    same(layout.allgather(rw.smooth(map[0], layout=layout, beam=beam, lmax=LMAX)),
         healpy.smoothing(layout.allgather(map[0]), beam_window=beam, lmax=LMAX))
    with pytest.raises(rw.UsageError):
        rw.smooth(map, layout=layout)


def test_smoothing_to_another_grid(transform, full):
    layout = transform.map_layout
    map = transform.synthesis(transform.alm_layout.scatter(full))
    result = rw.smooth(map, layout=layout, fwhm="10deg", lmax=LMAX, tol=1e-13, grid_out="gauss:40")
    with rw.Transform("gauss:40", LMAX, spins=(0, 2)) as other:
        smooth = rw.smooth(map, layout=layout, fwhm="10deg", lmax=LMAX, tol=1e-13)
        alm, _ = transform.analysis(smooth, tol=1e-13)
        expected = other.synthesis(rw.resize_alm(alm, transform.alm_layout, other.alm_layout))
        assert relative(result.layout.allgather(result.values), other.map_layout.allgather(expected)) < 1e-10


@pytest.mark.parametrize("method", ["ring", "split", "auto"])
@pytest.mark.parametrize("ncomp", [1, 2, 3])
def test_smoothing_on_rings(method, ncomp, transform, full):
    layout = transform.map_layout
    map = transform.synthesis(transform.alm_layout.scatter(full))
    map = np.ascontiguousarray(map[0] if ncomp == 1 else map[3 - ncomp:])
    before = map.copy()
    result = rw.smooth(map, layout=layout, fwhm="10deg", method=method, error=1e-4)
    expected = rw.smooth(map, layout=layout, fwhm="10deg", iter=0)
    assert result.shape == map.shape and np.array_equal(map, before)
    bound = 1e-3 if method != "auto" else 0.1
    assert relative(layout.allgather(result), layout.allgather(expected)) < bound


def test_masks_and_unseen(transform, full):
    layout = transform.map_layout
    map = transform.synthesis(transform.alm_layout.scatter(full / 100))[0] + 10
    theta, _ = layout.theta_phi()
    mask = (theta > 1).astype(float)
    for method in ("harmonic", "ring"):
        result = rw.smooth(map, layout=layout, fwhm="10deg", method=method, mask=mask, unseen="normalize")
        assert np.all((result < -1e30) == (mask == 0))
        edge = result[(theta > 1) & (theta < 1.1)]
        assert np.all(edge > 5)
    with pytest.raises(rw.UsageError, match="mask"):
        rw.smooth(map, layout=layout, fwhm="10deg", mask=np.ones(3))
    with pytest.raises(rw.UsageError, match="unseen"):
        rw.smooth(map, layout=layout, fwhm="10deg", unseen="keep")
    map[:] = -1.6375e30
    with pytest.raises(rw.DataError):
        rw.smooth(map, layout=layout, fwhm="10deg", method="harmonic", unseen="fail")


def test_kernels(same):
    kernel = rw.RadialKernel.gauss("5deg", error=1e-8)
    same(kernel.bl(60), rw.gauss_beam("5deg", 60), 1e-6)
    assert kernel(0.0) > kernel(0.01) > 0 == kernel(kernel.support * 1.01)
    assert kernel(np.zeros((2, 3))).shape == (2, 3)
    profile = rw.RadialKernel.profile([0, 0.1], [1, 1])
    assert profile.support == pytest.approx(0.1)
    with pytest.raises(rw.UsageError):
        rw.RadialKernel.gauss(-1.0)
    with pytest.raises(rw.UsageError):
        rw.RadialKernel.from_bl(np.zeros(5))


def test_ring_convolution(transform, full):
    kernel = rw.RadialKernel.gauss("10deg", error=1e-7)
    with rw.RingConvolution(f"healpix:{NSIDE}", kernel) as convolution:
        map = convolution.map_layout.scatter(healpy.alm2map(full[0], NSIDE))
        out = np.empty_like(map)
        assert convolution.apply(map, out=out) is out
        assert np.array_equal(convolution.apply(np.stack([map, map])[:, None])[1, 0], out)
        with pytest.raises(rw.UsageError, match="shares memory"):
            convolution.apply(map, out=map)
        assert sum(convolution.plan["pixels"]) == 12 * NSIDE ** 2
    with pytest.raises(rw.UsageError, match="closed"):
        convolution.apply(map)


def test_kernel_split():
    split = rw.KernelSplit(rw.gauss_beam("5deg", 47), NSIDE, error=1e-4)
    assert split.verdict in ("split", "ring", "harmonic") and split.reason and split.table
    if split.has_parts:
        whole = np.zeros(48)
        whole[:len(split.harmonic)] += split.harmonic
        assert np.allclose(whole + split.compact.bl(47), rw.gauss_beam("5deg", 47), atol=1e-3)
        assert split.error < 1e-4 and split.theta_cut > 0
        with rw.SplitConvolution(split) as convolution:
            map = np.ones(convolution.map_layout.size)
            assert np.allclose(convolution.apply(map), 1, atol=1e-2) and np.all(map == 1)
