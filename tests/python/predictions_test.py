# SPDX-License-Identifier: GPL-3.0-or-later
"""Predictions and machines, by the program. Each rank runs it alone."""
import json
import os

import pytest

import ringweave as rw

PROGRAM = os.environ.get("RINGWEAVE")
needs_program = pytest.mark.skipif(not PROGRAM, reason="needs the program: RINGWEAVE")


@pytest.fixture(autouse=True)
def program(monkeypatch):
    """Finds the program on PATH, and no machine in the environment."""
    if PROGRAM:
        monkeypatch.setenv("PATH", os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"])
    monkeypatch.delenv("RINGWEAVE_MACHINE", raising=False)


@needs_program
def test_transforms(monkeypatch):
    rows = rw.predict("healpix:64", 128, (0, 2), ranks=(1, 4))
    assert [row["ranks"] for row in rows] == [1, 4]
    assert rows[0]["sent_bytes"] == 0 < rows[1]["sent_bytes"]
    for row in rows:
        stages = row["legendre_seconds"] + row["ring_fft_seconds"] + row["exchange_seconds"]
        assert row["total_seconds"] == pytest.approx(stages) and row["uncertainty_seconds"] > 0
        assert row["memory_bytes"] > 0
    typical, = rw.predict(rw.Grid.healpix(64), ranks=1, machine=rw.Machine.typical())
    named, = rw.predict(rw.Grid.gauss(63, 130), 63, 2, ranks=1, machine="szydlarski_2012")
    assert typical["ranks"] == named["ranks"] == 1
    monkeypatch.setattr(rw, "machine", rw.Machine.named("cpu_cluster"))
    default, = rw.predict("healpix:64", ranks=(16,))
    monkeypatch.setattr(rw, "machine", None)
    assert default["total_seconds"] != rw.predict("healpix:64", ranks=(16,))[0]["total_seconds"]
    monkeypatch.setenv("RINGWEAVE_MACHINE", "cpu_cluster")
    assert default == rw.predict("healpix:64", ranks=(16,))[0]


@needs_program
def test_points_and_lensing():
    points, = rw.predict(lmax=64, npoints=10000, ranks=2, epsilon=1e-5)
    assert points["points_seconds"] > 0 and points["deflection_seconds"] == 0
    lens, = rw.predict("healpix:32", 64, ranks=2, lens=True)
    assert lens["deflection_seconds"] > 0


@needs_program
def test_errors_of_the_program(tmp_path):
    with pytest.raises(rw.UsageError, match="nowhere"):
        rw.predict("healpix:64", ranks=1, machine="nowhere")
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(rw.DataError):
        rw.predict("healpix:64", ranks=1, machine=rw.Machine.load(tmp_path / "broken.json"))
    with pytest.raises(rw.UsageError):
        rw.predict("healpix:64", -5, ranks=1)


def test_wrong_arguments(tmp_path):
    for wrong in ({"spins": (1,)}, {"grid": None}, {"npoints": 5}, {"grid": rw.Grid.healpix(8).band(-1, 0)}):
        with pytest.raises(rw.UsageError):
            rw.predict(**{"grid": "healpix:8", "ranks": 1, **wrong})
    with pytest.raises(FileNotFoundError):
        rw.Machine.load(tmp_path / "none.json")
    with pytest.raises(rw.UsageError):
        rw.Machine.named("machine.json")
    assert rw.Machine.typical() == rw.Machine.named("typical") and "typical" in repr(rw.Machine.typical())
    assert rw.Machine.typical().figures() is None


def test_no_program(monkeypatch):
    monkeypatch.setattr(rw.predictions, "_program", lambda: None)
    with pytest.raises(FileNotFoundError, match="program"):
        rw.predict("healpix:8", ranks=1)


@needs_program
def test_calibration(comm, folder):
    path = folder / "machine.json"
    if comm.size > 1:
        with pytest.raises(rw.UsageError, match="mpirun"):
            rw.calibrate(nside=16, path=path)
        return
    machine = rw.calibrate(nside=16, path=path, repeats=1, threads=1, backend="host")
    assert machine.figures()["format"] == "ringweave machine 1" == json.loads(path.read_text())["format"]
    row, = rw.predict("healpix:16", ranks=1, machine=machine)
    assert row["total_seconds"] > 0
    with pytest.raises(FileExistsError):
        rw.calibrate(nside=16, path=path)
