# SPDX-License-Identifier: GPL-3.0-or-later
"""Files, against healpy's; the program."""
import os
import runpy
import subprocess
import sys
from pathlib import Path

import healpy
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw


@pytest.fixture
def whole(rng):
    return rng.normal(size=(3, 12 * 16 ** 2))


@pytest.mark.parametrize("suffix", ["fits", "h5"])
@pytest.mark.parametrize("nest", [False, True])
def test_maps(suffix, nest, folder, whole, comm):
    path = folder / f"map.{suffix}"
    layout = rw.MapLayout("healpix:16")
    rw.write_map(path, layout.scatter(whole), layout=layout, units="uK", nest=nest, coordsys="G", history=["first"],
                 header={"MYKEY": 7, "MYTEXT": "some"})
    with rw.Transform("healpix:16", 20, spins=(0, 2)) as t:
        map = rw.read_map(path, layout=t.map_layout)
        assert np.array_equal(t.map_layout.allgather(map.values), whole)
    map = rw.read_map(path)
    assert np.array_equal(map.layout.allgather(map.values), whole) and np.array_equal(np.asarray(map), map.values)
    assert map.header["units"] == ["uK"] * 3 and map.header["coordsys"] == "G"
    assert map.header["ordering"] == ("NESTED" if nest else "RING") and "first" in map.header["processing"]["history"]
    assert map.header["processing"]["keywords"]["MYKEY"] == 7
    one = rw.read_map(path, field=1, dtype="f4")
    assert one.values.dtype == np.float32 and one.values.shape == (map.layout.size,)
    two = rw.read_map(path, field=["U_POLARISATION", "TEMPERATURE"])
    assert np.array_equal(two.values, map.values[[2, 0]])
    if comm.rank == 0 and suffix == "fits":
        assert np.array_equal(healpy.read_map(path, field=(0, 1, 2)), whole)
    rw.write_map(path, map, overwrite=True)
    assert rw.info(path)["kind"] == "map" and rw.info(path)["columns"] == map.header["columns"]


def test_partial_maps(folder, whole):
    band = rw.Grid.healpix(16).band("-20deg", "20deg")
    layout = rw.MapLayout(band)
    rw.write_map(folder / "band.fits", layout.scatter(whole[0, band.source_pixel[0]:][:band.npix]), layout=layout,
                 partial=True)
    map = rw.read_map(folder / "band.fits")
    full = map.layout.allgather(map.values)
    seen = full > -1e30
    assert map.header["is_partial"] and seen.sum() == band.npix and np.array_equal(full[seen], whole[0][seen])


@pytest.mark.parametrize("suffix", ["fits", "h5"])
def test_alm(suffix, folder, rng, comm):
    full = random_alm(rng, 20, 3, mmax=15)
    layout = rw.AlmLayout(20, 15)
    path = folder / f"alm.{suffix}"
    rw.write_alm(path, layout.scatter(full), layout)
    alm, found = rw.read_alm(path)
    assert np.array_equal(found.allgather(alm), full) and (found.lmax, found.mmax) == (20, 15)
    low, found = rw.read_alm(path, lmax=10)
    assert np.array_equal(found.allgather(low), np.array(healpy.resize_alm(list(full), 20, 15, 10, 10)))
    assert rw.info(path)["components"] == ["T", "E", "B"]
    if comm.rank == 0 and suffix == "fits":
        assert np.array_equal(healpy.read_alm(path, hdu=1), full[0])


def test_errors(folder, whole, comm):
    layout = rw.MapLayout("healpix:16")
    map = layout.scatter(whole[0])
    rw.write_map(folder / "there.fits", map, layout=layout)
    with pytest.raises(FileExistsError, match="overwrite=True") as caught:
        rw.write_map(folder / "there.fits", map, layout=layout)
    assert isinstance(caught.value, rw.UsageError) and caught.value.filename == os.fspath(folder / "there.fits")
    for read in (rw.read_map, rw.read_alm, rw.read_cl, rw.read_beam, rw.info):
        with pytest.raises(FileNotFoundError, match="none.fits") as caught:
            read(folder / "none.fits")
        assert isinstance(caught.value, rw.DataError) and caught.value.exit_code == 3
    if comm.rank == 0:
        (folder / "broken.fits").write_bytes(b"SIMPLE  = nonsense")
    comm.barrier()
    with pytest.raises(rw.DataError, match="broken.fits"):
        rw.read_map(folder / "broken.fits")
    with pytest.raises(rw.UsageError):
        rw.read_map(folder / "map.txt")
    with pytest.raises(rw.UsageError, match="TEMPERATURE"):
        rw.read_map(folder / "there.fits", field="Q")
    with pytest.raises(rw.UsageError):
        rw.read_map(folder / "there.fits", field=5)
    with pytest.raises(rw.UsageError, match="shape"):
        rw.write_map(folder / "new.fits", np.zeros(7), layout=layout)
    assert not (folder / "new.fits").exists()


def test_tables(folder, comm, monkeypatch, write_table):
    window = np.linspace(1, 0.5, 65)
    write_table(folder / "data/pixel_window_n0016.fits", {"TEMPERATURE": window, "POLARIZATION": window ** 2}, NSIDE=16)
    if comm.rank == 0:
        (folder / "beam.txt").write_text("\n".join(f"{l} {b}" for l, b in enumerate(window)))
    comm.barrier()
    monkeypatch.setenv("HEALPIX", str(folder))
    assert np.array_equal(rw.pixwin(16), window[:48])
    t, p = rw.pixwin(16, 30, pol=True)
    assert np.allclose(t ** 2, p) and len(t) == 31
    assert np.allclose(rw.read_beam(folder / "beam.txt"), window)
    with pytest.raises(FileNotFoundError, match="pixel_window_n0032.fits"):
        rw.pixwin(32)


def test_the_example_runs(folder, comm, capsys):
    path = Path(__file__).resolve().parents[2] / "examples/python/first_map.py"
    runpy.run_path(path)["main"](32, folder)
    told = capsys.readouterr().out
    assert told == "" if comm.rank else float(told.split()[-1]) == pytest.approx(1, abs=0.2)
    assert rw.read_map(folder / "first_map.fits").values.shape[0] == 3


def test_the_program_runs_as_a_module(comm):
    if comm.rank:
        return
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))}
    variables["PATH"] = os.path.dirname(os.environ["RINGWEAVE"]) + ":" + variables["PATH"]
    result = subprocess.run([sys.executable, "-m", "ringweave", "--version"], env=variables, capture_output=True,
                            text=True, timeout=60)
    assert result.returncode == 0 and rw.__version__ in result.stdout, result.stderr
