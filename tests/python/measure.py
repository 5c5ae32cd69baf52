# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures memory and time of syntheses from Python, as reference.cpp does from C++: measure.py NSIDE LMAX CALLS"""
import json
import sys
import time

import numpy as np

import ringweave as rw


def status(name):
    """Returns a number of bytes in /proc/self/status."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(f"{name}:"))


def main(nside, lmax, calls):
    before = status("VmRSS")
    t = rw.Transform(rw.Grid.healpix(nside), lmax)
    alm, map = t.empty_alm(), t.empty_map()
    alm[...] = 1
    map[...] = 0
    best = np.inf
    for _ in range(calls):
        start = time.perf_counter()
        t.synthesis(alm, out=map)
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"seconds": best, "bytes": status("VmHWM") - before}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
