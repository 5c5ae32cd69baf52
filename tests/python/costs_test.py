# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans leave nothing behind; calls take the memory of C++ and hardly more time."""
import gc
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import outside, run_alone

import ringweave as rw

MEASURE = Path(__file__).with_name("measure.py")
status = runpy.run_path(MEASURE)["status"]


def memory():
    gc.collect()
    return status("VmRSS")


def assert_no_growth(use, few, many):
    """Checks that use(many) takes no more memory than use(few) left."""
    use(few)
    before = memory()
    use(many)
    assert memory() - before < 1_500_000


@pytest.mark.parametrize("closes", [True, False])
def test_a_thousand_plans_leave_nothing(closes, comm):
    if comm.size > 1 and not closes:
        pytest.skip("plans of several ranks are closed")

    def use(count):
        for _ in range(count):
            t = rw.Transform("healpix:4", 8, spins=(0, 2))
            map = t.synthesis(np.zeros((3, t.alm_layout.size), complex))
            t.analysis(map, iter=1, callback=lambda *progress: None)
            if closes:
                t.close()

    # On a busy machine ranks wait long for each other.
    few, many = (100, 1000) if comm.size == 1 else (20, 100)
    assert_no_growth(use, few, many)


def test_a_thousand_of_other_things_leave_nothing(comm):
    layout = rw.MapLayout("healpix:4")
    map = np.zeros(layout.size)
    kernel = rw.RadialKernel.gauss("30deg")

    def use(count):
        for _ in range(count):
            with rw.RingConvolution("healpix:4", kernel) as convolution:
                convolution.apply(np.zeros((1, convolution.map_layout.size)))
            moves = rw.Redistribution(None, np.arange(10), layout)
            moves.to_rings(moves.from_rings(map))
            with pytest.raises(rw.UsageError):
                rw.Transform("healpix:4", 8, spins=(0, 2)).synthesis(np.zeros((1, 1), complex))

    few, many = (30, 300) if comm.size == 1 else (10, 40)
    assert_no_growth(use, few, many)


def test_the_end_of_python_finds_nothing_left(comm):
    if comm.rank:
        return
    result = run_alone("import ringweave as rw, numpy as np\n"
                       "t = rw.Transform('healpix:4', 8)\n"
                       "views = [t.synthesis(np.zeros((1, t.alm_layout.size), complex)) for _ in range(3)]\n"
                       "layout = t.map_layout\n")
    assert result.returncode == 0 and "leaked" not in result.stderr, result.stderr


def measured(*arguments):
    """Returns what C++ and Python measure, with one thread."""
    program = os.environ.get("RINGWEAVE_PYTHON_REFERENCE")
    if not program:
        pytest.skip("RINGWEAVE_PYTHON_REFERENCE names no program")
    results = []
    for command in ([program], [sys.executable, str(MEASURE)]):
        output = subprocess.run([*command, *map(str, arguments)], env=outside() | {"OMP_NUM_THREADS": "1"},
                                capture_output=True, text=True, timeout=200, check=True)
        results.append(json.loads(output.stdout))
    return results


def test_a_call_takes_the_memory_of_the_library(comm):
    if comm.rank:
        return
    library, python = measured(512, 1024, 1)
    assert library["bytes"] > 40_000_000
    assert python["bytes"] < 1.01 * library["bytes"] + 500_000


@pytest.mark.parametrize("nside, lmax, calls", [(1, 1, 5000), (64, 128, 200)])
def test_a_call_takes_hardly_longer_than_that_of_the_library(nside, lmax, calls, comm):
    if comm.rank or comm.size > 1:
        return
    # Other work on the machine can only add to the difference.
    differences = []
    for _ in range(5):
        library, python = measured(nside, lmax, calls)
        differences.append(python["seconds"] - library["seconds"])
        if differences[-1] < 20e-6:
            return
    raise AssertionError(f"a call took {min(differences):.1e} s longer")
