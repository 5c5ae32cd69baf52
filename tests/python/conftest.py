# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests run on every rank of a launch at once; rank 0 reports, and a test that fails on one ends them all."""
import os
import subprocess
import sys

import pytest
from astropy.io import fits
from mpi4py import MPI

import numpy as np
import ringweave as rw

COMM = MPI.COMM_WORLD


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if COMM.rank:
        config.pluginmanager.unregister(name="terminalreporter")


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    # Ranks after a failed one would wait for it.
    if report.failed and COMM.size > 1:
        print(f"rank {COMM.rank}: {report.nodeid}\n{report.longreprtext}", file=sys.stderr, flush=True)
        COMM.Abort(1)


@pytest.fixture
def comm():
    """Returns MPI.COMM_WORLD."""
    return COMM


@pytest.fixture
def folder(tmp_path_factory):
    """Returns a folder that all ranks share."""
    return COMM.bcast(tmp_path_factory.mktemp("shared") if COMM.rank == 0 else None)


@pytest.fixture
def rng():
    """Returns random numbers that are the same on all ranks."""
    return np.random.default_rng(20261129)


def outside():
    """Returns the environment of a process that is not of this launch."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))}


def run_alone(code):
    """Runs Python in a process of its own, outside of the launch."""
    return subprocess.run([sys.executable, "-c", code], env=outside(), capture_output=True, text=True, timeout=120,
                          check=False)


def random_alm(rng, lmax, ncomp, spin=0, mmax=None):
    """Returns the a_lm of all orders, in healpy's order."""
    layout = rw.AlmLayout(lmax, mmax, orders=range((lmax if mmax is None else mmax) + 1), comm=rw._core.Comm.self())
    l, m = layout.lm()
    alm = rng.normal(size=(ncomp, layout.size)) + 1j * rng.normal(size=(ncomp, layout.size))
    alm[:, m == 0] = alm[:, m == 0].real
    if ncomp == 3:
        alm[1:, l < 2] = 0
    alm[:, l < spin] = 0
    return alm


def relative(value, reference):
    """Returns the rms error over the rms of the reference."""
    value, reference = np.asarray(value), np.asarray(reference)
    assert value.shape == reference.shape, (value.shape, reference.shape)
    return np.sqrt(np.mean(np.abs(value - reference) ** 2) / np.mean(np.abs(reference) ** 2))


@pytest.fixture
def write_table():
    """Returns a function that writes a table of FITS from rank 0."""
    def write(path, columns, **keywords):
        if COMM.rank == 0:
            path.parent.mkdir(exist_ok=True)
            table = fits.BinTableHDU.from_columns(
                [fits.Column(name, "D", array=values) for name, values in columns.items()])
            table.header.update(keywords)
            fits.HDUList([fits.PrimaryHDU(), table]).writeto(path)
        COMM.barrier()
    return write


@pytest.fixture
def transform():
    """Returns a small transform of T, Q and U."""
    with rw.Transform("healpix:8", 16, spins=(0, 2)) as t:
        yield t


@pytest.fixture
def alm(transform):
    """Returns a_lm of this rank for the small transform."""
    return rw.draw_alm({"TT": np.ones(17), "EE": np.ones(17), "BB": np.ones(17)}, 1, transform.alm_layout)


@pytest.fixture
def same():
    """Returns a check that two arrays are equal to 1e-12 rms."""
    def check(value, reference, error=1e-12):
        assert relative(value, reference) <= error
    return check
