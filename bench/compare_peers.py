#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ringweave beside ducc0, in turn, in one run: seconds of each, their ratio, the difference of the results.

  bench/compare_peers.py TRANSFORM_BENCH [--nside N] [--lmax L] [--spin S] [--threads T] [--ranks P] [--repeats R]

ducc0 must be built for this processor (CFLAGS=-march=native pip install --no-binary ducc0 ducc0): a binary wheel is
SSE2 only and no fair peer. Prints one JSON object; medians over the repeats, ratios pair by pair.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import ducc0
import numpy as np


def peer_alm(lmax, spin):
    """The a_lm of transform_bench, in ducc0's (healpy's) order."""
    n_components = 1 if spin == 0 else 2
    alm = np.zeros((n_components, (lmax + 1) * (lmax + 2) // 2), dtype=np.complex128)
    for m in range(lmax + 1):
        l = np.arange(max(m, spin), lmax + 1)
        index = m * (2 * lmax + 1 - m) // 2 + l
        for c in range(n_components):
            phase = 1e-3 * l * l + 0.7 * m + c
            alm[c, index] = np.cos(phase) + (1j * np.sin(phase) if m > 0 else 0)
    return alm


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", help="the transform_bench of a release build")
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--lmax", type=int, default=2048)
    parser.add_argument("--spin", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()

    geometry = ducc0.healpix.Healpix_Base(options.nside, "RING").sht_info()
    alm = peer_alm(options.lmax, options.spin)
    map_ = np.zeros((alm.shape[0], 12 * options.nside ** 2))
    back = np.zeros_like(alm)
    common = dict(lmax=options.lmax, spin=options.spin, nthreads=options.threads * options.ranks, **geometry)

    launcher = [os.path.join(os.path.dirname(__file__), "..", "scripts", "mpirun.sh"), str(options.ranks)]
    command = (launcher if options.ranks > 1 else []) + [
        options.program, str(options.nside), str(options.lmax), str(options.spin), "1", "0"]
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), MPIRUN_TIMEOUT="3600")
    ours = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    plan = json.loads(ours.stdout.readline())

    rows = []
    for repeat in range(options.repeats + 1):
        ours.stdin.write("\n")
        ours.stdin.flush()
        mine = {r["direction"]: r for r in (json.loads(ours.stdout.readline()) for _ in range(2))}
        start = time.perf_counter()
        ducc0.sht.synthesis(alm=alm, map=map_, **common)
        middle = time.perf_counter()
        ducc0.sht.adjoint_synthesis(map=map_, alm=back, **common)
        end = time.perf_counter()
        if repeat > 0:  # the first touches memory
            rows.append((mine, {"synthesis": middle - start, "adjoint": end - middle}))
    ours.stdin.close()
    ours.wait()

    result = dict(plan, peer="ducc0 " + ducc0.__version__, repeats=options.repeats)
    for direction in ("synthesis", "adjoint"):
        seconds = [mine[direction]["seconds"] for mine, _ in rows]
        result[direction] = {
            "seconds": statistics.median(seconds),
            "peer_seconds": statistics.median(peer[direction] for _, peer in rows),
            "ratio": statistics.median(mine[direction]["seconds"] / peer[direction] for mine, peer in rows),
            "legendre": statistics.median(mine[direction]["legendre"] for mine, _ in rows),
            "ring_fft": statistics.median(mine[direction]["ring_fft"] for mine, _ in rows),
            "exchange": statistics.median(mine[direction]["exchange"] for mine, _ in rows),
            "legendre_gflop_per_s": statistics.median(mine[direction]["legendre_gflop_per_s"] for mine, _ in rows),
        }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
