# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of examples/python run on every number of ranks, and say and draw what they promise."""
import os
import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/python"


@pytest.fixture
def run(folder, comm, capsys, monkeypatch):
    """Returns a function that runs an example and returns what it said, on every rank, and the folder of its files."""
    def run(name):
        monkeypatch.syspath_prepend(str(EXAMPLES))
        monkeypatch.setenv("RINGWEAVE_PICTURES", str(folder))
        if "RINGWEAVE" in os.environ:
            monkeypatch.setenv("PATH", f"{Path(os.environ['RINGWEAVE']).parent}:{os.environ['PATH']}")
        sys.modules.pop("pictures", None)
        runpy.run_path(EXAMPLES / name)
        said = capsys.readouterr().out
        assert comm.rank == 0 or said == ""
        return comm.bcast(said), folder
    return run


def has_picture(said, folder, name):
    """Tells whether a picture is there, if this build can draw."""
    is_undrawn = "cannot draw" in said or "no picture: ringweave: the program" in said
    return is_undrawn or (folder / name).stat().st_size > 10000


def test_a_map_like_plancks(run):
    said, folder = run("planck_like.py")
    before, after = map(float, re.search(r"T: (\S+) uK rms, after smoothing (\S+) uK", said).groups())
    assert 60 < after < before < 200
    assert float(re.search(r"differ by (\S+) rms", said)[1]) < 0.02
    assert has_picture(said, folder, "planck_like.png") and has_picture(said, folder, "planck_like_smooth.png")


def test_a_wiener_filter(run):
    said, folder = run("wiener.py")
    assert 5 < int(re.search(r"(\d+) iterations", said)[1]) < 150
    sky, noise, seen, masked = map(float, re.search(
        r"sky (\S+) uK rms, noise (\S+) uK; error (\S+) uK where seen, (\S+) uK behind", said).groups())
    assert seen < 0.6 * noise and seen < masked < 1.1 * sky
    assert has_picture(said, folder, "wiener.png") and has_picture(said, folder, "wiener_data.png")


def test_lensing(run):
    said, folder = run("lensing.py")
    assert 2 < float(re.search(r"deflections of (\S+) arcmin", said)[1]) < 3
    assert 1e-5 < float(re.search(r"BB / EE (\S+)", said)[1]) < 1e-2
    changed, left = map(float, re.search(r"changes T by (\S+) uK rms, and (\S+) uK are left", said).groups())
    assert left < 0.1 * changed
    assert has_picture(said, folder, "lensing.png")
