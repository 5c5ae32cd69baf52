# SPDX-License-Identifier: GPL-3.0-or-later
"""Grids, layouts, moves between ranks, communicators and agreement."""
import pickle

import healpy
import numpy as np
import pytest
from conftest import random_alm, run_alone

import ringweave as rw


def test_grids():
    grid = rw.Grid.healpix(8)
    assert (grid.name, grid.nside, grid.npix, grid.nrings, grid.kind) == ("healpix:8", 8, 768, 31, "healpix")
    theta, phi = healpy.pix2ang(8, np.arange(768))
    mine = rw.MapLayout(grid, comm=rw._core.Comm.self()).theta_phi()
    assert np.allclose(mine, (theta, phi), atol=1e-14)
    assert grid.weight.sum() * 0 == 0 and np.dot(grid.weight, grid.nphi) == pytest.approx(4 * np.pi)
    assert grid.default_lmax == 23 and not grid.theta.flags.writeable
    for other in (rw.Grid.gauss(15), rw.Grid.clenshaw(9, 20), rw.Grid.fejer(9), rw.Grid.rings([1, 2], [4, 8], [0, 0]),
                  grid.band("-30deg", "20deg"), grid.where(np.arange(768) < 4)):
        assert pickle.loads(pickle.dumps(other)) == other != grid
        assert len({other, pickle.loads(pickle.dumps(other))}) == 1
    assert rw.Grid.gauss(15).nside is None and rw.Grid.gauss(15).nrings == 16


def test_bands_and_masks():
    grid = rw.Grid.healpix(8)
    band = grid.band("-30deg", np.radians(20))
    assert band.is_subset and np.all(np.abs(np.degrees(band.theta) - 95) <= 25.0001)
    ring = grid.where(np.isin(np.arange(768), [0, 767]))
    assert ring.nrings == 2 and ring.source_pixel.tolist() == [0, 764]
    with pytest.raises(rw.UsageError):
        grid.band("80deg", "70deg")
    with pytest.raises(rw.UsageError, match="shape"):
        grid.where(np.ones(5))
    with pytest.raises(rw.UsageError, match="ringstart"):
        rw.Grid.rings([1, 2], [4, 8], [0, 0], ringstart=[0, 5])


@pytest.mark.parametrize("make", [lambda: rw.Grid.healpix(0), lambda: rw.Grid("healpix:x"), lambda: rw.Grid.gauss(-5),
                                  lambda: rw.Grid.rings([4], [4], [0])])
def test_impossible_grids(make):
    with pytest.raises(rw.UsageError) as caught:
        make()
    assert isinstance(caught.value, ValueError)


def test_map_layout(comm):
    with rw.Transform("healpix:8", 16) as t:
        layout = t.map_layout
        pixels = layout.pixels()
        assert len(pixels) == layout.size and np.array_equal(layout.local(pixels), np.arange(layout.size))
        assert np.count_nonzero(layout.local(np.arange(768)) >= 0) == layout.size
        everything = comm.allgather(pixels)
        assert np.array_equal(np.sort(np.concatenate(everything)), np.arange(768))
        theta, phi = layout.theta_phi()
        assert np.allclose((theta, phi), healpy.pix2ang(8, pixels), atol=1e-14)


def test_alm_layout(comm):
    with rw.Transform("healpix:8", 16, mmax=10) as t:
        layout = t.alm_layout
        l, m = layout.lm()
        assert len(l) == layout.size and np.array_equal(layout.index(l, m), np.arange(layout.size))
        assert all(layout.start(mm) + mm == layout.index(mm, mm) for mm in layout.orders)
        assert sum(comm.allgather(layout.size)) == layout.full_size == healpy.Alm.getsize(16, 10)
        full = np.arange(layout.full_size)
        mine = layout.scatter(full)
        assert np.array_equal(mine, healpy.Alm.getidx(16, l, m))
        with pytest.raises(rw.UsageError):
            layout.index(3, 5)
        alm = np.ones((2, layout.size), complex)
        assert layout.multiply(alm, np.arange(12.0), out=alm) is alm
        assert np.array_equal(alm[1], np.where(l < 12, l, 0))


@pytest.mark.parametrize("dtype, leading", [
    ("f8", ()), ("f4", (3,)), ("c16", (2, 3)), ("i8", ()), ("u1", (3,)), ("?", ())])
def test_scatter_and_gather(dtype, leading, rng, comm):
    for root in {0, comm.size - 1}:
        with rw.Transform("healpix:8", 16) as t:
            for layout in (t.map_layout, t.alm_layout):
                full = rng.integers(0, 100, size=(*leading, layout.full_size)).astype(dtype)
                local = layout.scatter(full if comm.rank == root else None, root=root)
                assert local.dtype == full.dtype and local.shape == (*leading, layout.size)
                out = np.empty_like(local)
                assert layout.scatter(full if comm.rank == root else None, root=root, out=out) is out
                assert np.array_equal(out, local)
                back = layout.gather(local, root=root)
                assert back is None if comm.rank != root else np.array_equal(back, full)
                assert np.array_equal(layout.allgather(local), full)


def test_wrong_scatters(comm):
    with rw.Transform("healpix:8", 16) as t:
        for full in (None, np.zeros(5), np.zeros((3, 5))):
            with pytest.raises(rw.UsageError) as caught:
                t.map_layout.scatter(full if comm.rank == 0 else None)
            assert caught.value.rank == (0 if comm.rank else None)


def test_moves_between_layouts(rng):
    full = rng.normal(size=(2, 768))
    with rw.Transform("healpix:8", 16) as t, rw.Transform("healpix:8", 5, spins=(2,)) as other:
        a, b = t.map_layout, rw.MapLayout("healpix:8")
        assert np.array_equal(a.move(a.scatter(full), b), b.scatter(full))
        assert a.is_same(rw.MapLayout(a.grid, a._rings, a.comm))
        alm = random_alm(rng, 16, 2)
        resized = rw.resize_alm(t.alm_layout.scatter(alm), t.alm_layout, other.alm_layout)
        expected = np.array(healpy.resize_alm(list(alm), 16, 16, 5, 5))
        assert np.array_equal(other.alm_layout.allgather(resized), expected)
        wider = rw.AlmLayout(30, 20)
        resized = rw.resize_alm(t.alm_layout.scatter(alm), t.alm_layout, wider)
        expected = np.array(healpy.resize_alm(list(alm), 16, 16, 30, 20))
        assert np.array_equal(wider.allgather(resized), expected)


def test_agreement(comm):
    last = comm.size - 1
    with rw.agree(comm):
        pass
    with pytest.raises(KeyError if comm.rank == last else rw.PeerError, match="x") as caught:
        with rw.agree():
            if comm.rank == last:
                raise KeyError("x")
    if comm.rank != last:
        assert caught.value.rank == last


def test_ranks_must_ask_for_the_same(comm):
    with rw.Transform("healpix:8", 16) as t:
        alm = np.zeros((1, t.alm_layout.size), complex)
        if comm.size > 1:
            with pytest.raises(rw.UsageError, match="same on all ranks"):
                t.synthesis(alm.astype("c8") if comm.rank else alm)
            with pytest.raises(rw.UsageError, match="same on all ranks"):
                t.synthesis(np.stack([alm, alm]) if comm.rank else alm)


def test_communicators_of_the_caller(comm, rng):
    half = comm.Split(comm.rank % 2, comm.rank)
    with rw.Transform("healpix:8", 16, comm=half) as t:
        assert t.comm.size == half.size
        full = random_alm(rng, 16, 1)
        assert np.allclose(t.map_layout.allgather(t.synthesis(t.alm_layout.scatter(full))),
                           healpy.alm2map(full[0], 8), atol=1e-10)
    half.Free()
    for wrong in ("world", 3):
        with pytest.raises(rw.UsageError, match="communicator"):
            rw.Transform("healpix:8", 16, comm=wrong)


def test_communicators_are_duplicated_once(comm):
    again = comm.Dup()
    for _ in range(3000):
        assert rw._comm.communicator(again).size == comm.size
    again.Free()


def test_import_starts_no_mpi(comm):
    if comm.rank:
        return
    result = run_alone("import sys, ringweave as rw, numpy as np\n"
                       "t = rw.Transform('healpix:8', 16)\n"
                       "t.synthesis(np.zeros((1, t.alm_layout.size), complex))\n"
                       "assert 'mpi4py' not in sys.modules and t.comm.size == 1\n"
                       "from mpi4py import rc; rc.initialize = False\n"
                       "from mpi4py import MPI; assert not MPI.Is_initialized()\n"
                       "import healpy, ringweave.healpy_compat\n")
    assert result.returncode == 0, result.stderr


def test_another_mpi_is_refused(comm):
    if comm.rank:
        return
    result = run_alone("import types, sys, ringweave as rw\n"
                       "fake = types.SimpleNamespace(Get_library_version=lambda: 'MPICH 9', Is_initialized=lambda: True,\n"
                       "  Is_finalized=lambda: False, COMM_WORLD=types.SimpleNamespace(py2f=lambda: 0))\n"
                       "sys.modules['mpi4py.MPI'] = fake\n"
                       "try: rw.Transform('healpix:8', 16)\n"
                       "except rw.UsageError as error: print(error)\n")
    assert "MPICH 9" in result.stdout and rw._core.mpi_library_version().split(",")[0] in result.stdout, result.stderr


def test_lonely_ranks_are_told():
    result = run_alone("import os; os.environ['OMPI_COMM_WORLD_SIZE'] = '3'\n"
                       "import ringweave as rw; rw.Grid.healpix(4); rw.Transform('healpix:4', 4)\n")
    assert "LauncherWarning" in result.stderr and result.returncode == 0


def test_uncaught_exceptions_end_the_job(comm):
    if comm.rank:
        return
    result = run_alone("from mpi4py import MPI\nimport ringweave as rw\nrw.set_abort_hook()\nrw.Grid.healpix(0)\n")
    assert result.returncode != 0 and "UsageError" in result.stderr


def test_ranks_without_rings_or_orders(comm):
    with rw.Transform("healpix:1", 0) as t:
        alm = t.alm_layout.scatter(np.ones((1, 1), complex) if comm.rank == 0 else None)
        map = t.synthesis(alm)
        assert np.allclose(t.map_layout.allgather(map), 1 / np.sqrt(4 * np.pi))
        assert np.allclose(t.alm_layout.allgather(t.analysis(map)[0]), 1)
        assert len(t.map_layout.theta_phi()[0]) == len(t.map_layout.pixels()) == t.map_layout.size
        assert t.alm_layout.index(0, 0) == (0 if t.alm_layout.size else -1)
    alone = rw.MapLayout(rw.Grid.healpix(1).where(np.arange(12) < 4))
    assert sum(comm.allgather(alone.size)) == 4 and set(alone.local([0, 3])) <= {-1, 0, 3}
