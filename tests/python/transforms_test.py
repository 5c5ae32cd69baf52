# SPDX-License-Identifier: GPL-3.0-or-later
"""Transforms against healpy and ducc0, callbacks, threads, plans."""
import os
import signal
import threading
import warnings

import ducc0
import healpy
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw


def test_synthesis_and_analysis_are_healpys(rng, same):
    nside, lmax = 16, 40
    full = random_alm(rng, lmax, 3)
    with rw.Transform(rw.Grid.healpix(nside), lmax, spins=(0, 2)) as t:
        alm = t.alm_layout.scatter(full)
        map = t.synthesis(alm)
        expected = healpy.alm2map(full, nside)
        same(t.map_layout.allgather(map), expected)
        for iterations in (0, 3):
            result, report = t.analysis(map, iter=iterations)
            same(t.alm_layout.allgather(result), healpy.map2alm(expected, lmax, iter=iterations))
            assert report.iterations == iterations == len(report.residuals)
        result, report = t.analysis(map, weights="ring")
        same(t.alm_layout.allgather(result), healpy.map2alm(expected, lmax, use_weights=True))


@pytest.mark.parametrize("spin", [0, 1, 2, 3])
@pytest.mark.parametrize("name, geometry", [("gauss", "GL"), ("clenshaw", "CC"), ("fejer", "F1")])
def test_grids_are_ducc0s(name, geometry, spin, rng, same):
    lmax, n_rings, n_phi = 20, 24 if name == "gauss" else 49, 50
    grid = rw.Grid.gauss(n_rings - 1, n_phi) if name == "gauss" else getattr(rw.Grid, name)(n_rings, n_phi)
    full = random_alm(rng, lmax, 1 if spin == 0 else 2, spin)
    with rw.Transform(grid, lmax, spins=(spin,)) as t:
        map = t.synthesis(t.alm_layout.scatter(full))
        expected = ducc0.sht.synthesis_2d(alm=full, lmax=lmax, spin=spin, ntheta=n_rings, nphi=n_phi, geometry=geometry)
        same(t.map_layout.allgather(map), expected.reshape(expected.shape[0], -1))
        adjoint = ducc0.sht.adjoint_synthesis_2d(map=expected, lmax=lmax, spin=spin, geometry=geometry)
        same(t.alm_layout.allgather(t.adjoint_synthesis(map)), adjoint)
        back, report = t.analysis(map)
        same(t.alm_layout.allgather(back), full)
        assert report.iterations == 0 and report.converged


def test_rings_are_ducc0s(rng, same):
    theta = np.array([0.3, 1.0, 1.4, 2.5])
    nphi, phi0 = np.array([20, 33, 30, 24]), np.array([0.1, 0.2, 0.3, 0.4])
    start = np.cumsum(nphi) - nphi
    full = random_alm(rng, 9, 1)
    expected = ducc0.sht.synthesis(alm=full, theta=theta, nphi=nphi.astype(np.uint64), phi0=phi0, lmax=9, spin=0,
                                   ringstart=start.astype(np.uint64))
    with rw.Transform(rw.Grid.rings(theta, nphi, phi0, ringstart=start), 9) as t:
        same(t.map_layout.allgather(t.synthesis(t.alm_layout.scatter(full))), expected)


def test_adjoint_is_the_transpose(rng):
    with rw.Transform("healpix:8", 20, spins=(0, 2, 1)) as t:
        a = t.alm_layout.scatter(random_alm(rng, 20, 5, 2))
        f = t.map_layout.scatter(rng.normal(size=(5, 768)))
        left = t.map_layout.allgather(f * t.synthesis(a)).sum()
        assert t.inner(a, t.adjoint_synthesis(f)) == pytest.approx(left, rel=1e-12)
        assert t.norm(a) ** 2 == pytest.approx(t.inner(a, a))
        total = t.adjoint_synthesis(f)
        t.adjoint_synthesis(f, out=total, accumulate=True)
        assert np.allclose(total, 2 * t.adjoint_synthesis(f))
        twice = t.adjoint_synthesis(f, weights=np.full(len(t.map_layout.rings), 2.0))
        assert np.allclose(total, twice)
        assert np.allclose(total, 2 * t.adjoint_synthesis(f.copy(), scratch=True))


def test_conjugate_gradients(rng, same):
    with rw.Transform("healpix:8", 12) as t:
        alm = t.alm_layout.scatter(random_alm(rng, 12, 1))
        back, report = t.analysis(t.synthesis(alm), tol=1e-13)
        same(t.alm_layout.allgather(back), t.alm_layout.allgather(alm), 1e-11)
        assert report.converged and report.residuals[-1] <= 1e-13
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _, report = t.analysis(t.synthesis(alm), tol=1e-13, iter=1)
        assert not report.converged
        assert [w.category for w in caught] == ([rw.ConvergenceWarning] if t.comm.rank == 0 else [])


def test_callbacks(rng, comm):
    with rw.Transform("healpix:8", 16) as t:
        f = t.map_layout.scatter(rng.normal(size=768))
        calls = []
        t.analysis(f, callback=lambda *values: calls.append(values))
        assert [call[:2] for call in calls] == [(0, 3), (1, 3), (2, 3), (3, 3)]
        assert calls[0][2] is None and 0 < calls[1][2] < 1

        def call_again(*_):
            t.synthesis(t.empty_alm() * 0)
        with pytest.raises(rw.UsageError, match="callback"):
            t.analysis(f, callback=call_again)
        with pytest.raises(rw.UsageError, match="callback"):
            t.analysis(f, callback=lambda *_: t.close())

        def fail_on_the_last(*_):
            if comm.rank == comm.size - 1:
                raise KeyError("mine")
        with pytest.raises(KeyError if comm.rank == comm.size - 1 else rw.PeerError, match="mine"):
            t.analysis(f, callback=fail_on_the_last)
        t.analysis(f)


def test_ctrl_c_ends_a_call_at_a_callback(rng, comm):
    with rw.Transform("healpix:8", 16) as t:
        f = t.map_layout.scatter(rng.normal(size=768))
        passes = []

        def press(number, *_):
            passes.append(number)
            if number == 2 and comm.rank == 0:
                os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt if comm.rank == 0 else rw.PeerError):
            t.analysis(f, iter=50, callback=press)
        assert max(passes) < 5
        t.analysis(f)


def test_python_works_on_meanwhile(rng):
    """The GIL is released: a thread counts while a transform computes."""
    with rw.Transform("healpix:128", 256) as t:
        alm = t.alm_layout.scatter(random_alm(rng, 256, 1))
        counts, done = [], threading.Event()

        def count():
            while not done.wait(1e-4):
                counts.append(1)
        thread = threading.Thread(target=count)
        thread.start()
        before = len(counts)
        for _ in range(5):
            t.synthesis(alm)
        done.set()
        thread.join()
        assert len(counts) - before > 5


def test_threads_of_python_wait_for_each_other(rng, comm):
    with rw.Transform("healpix:32", 64, comm=comm.Split(comm.rank, 0)) as t:
        alm = t.alm_layout.scatter(random_alm(rng, 64, 1))
        expected = t.synthesis(alm)
        results = []
        threads = [threading.Thread(target=lambda: results.extend(t.synthesis(alm) for _ in range(5))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 20 and all(np.array_equal(result, expected) for result in results)


def test_a_plan_is_closed_while_another_thread_works(rng, comm):
    t = rw.Transform("healpix:64", 128, comm=comm.Split(comm.rank, 0))
    alm = t.alm_layout.scatter(random_alm(rng, 128, 1))
    errors, started = [], threading.Event()

    def work():
        try:
            while True:
                t.synthesis(alm)
                started.set()
        except rw.UsageError as error:
            errors.append(str(error))
    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    t.close()
    thread.join()
    assert len(errors) == 1 and "closed" in errors[0]


def test_plan_and_times(rng):
    with rw.Transform("healpix:8", spins=(0, 2), threads=1) as t:
        assert (t.lmax, t.mmax, t.ncomp, t.backend) == (23, 23, 3, "host")
        assert sum(t.plan["pixels"]) == 768 and sum(t.plan["orders"]) == 24 and sum(t.plan["rings"]) == 31
        assert sum(t.plan["map_bytes"]) == 768 * 3 * 8
        t.synthesis(t.empty_alm() * 0)
        assert set(t.times) >= {"legendre", "ring_fft"} and all(seconds >= 0 for seconds in t.times.values())
        t.release_workspace()
        t.synthesis(t.empty_alm() * 0)


@pytest.mark.parametrize("options", [
    {"lmax": -2}, {"lmax": 5, "mmax": 6}, {"spins": ()}, {"spins": (-1,)}, {"dtype": "i4"}, {"exchange": "half"},
    {"backend": "gpu"}])
def test_impossible_plans(options):
    with pytest.raises(ValueError):
        rw.Transform("healpix:8", **options)


def test_many_plans_leave_nothing_behind(comm):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def make(number):
        for _ in range(number):
            with rw.Transform("healpix:4", 8, spins=(0, 2), comm=comm) as t:
                t.synthesis(t.empty_alm() * 0)
    make(50 if comm.size == 1 else 10)
    before = resident()
    make(1000 if comm.size == 1 else 50)
    assert resident() - before < 4 << 20
