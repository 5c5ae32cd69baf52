#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Ringweave with ducc0, SHTns and healpy in one run: seconds, their ratio, the difference of the results.

  bench/compare_peers.py build/release/bench/transform_bench [--cases NAME...] [--json FILE [--update]] [--plot FILE]
  bench/compare_peers.py build/release/bench/transform_bench --grid healpix:512 --lmax 1024 --spin 1
  bench/compare_peers.py --show FILE [--plot FILE]

Every repeat runs each program once (short transforms: many times in a row), in alternating order. Tables show medians
and, in brackets, minima; ratios are Ringweave's seconds over the peer's, pair by pair. ducc0 and SHTns must be built for
this processor (CFLAGS=-march=native pip install --no-binary ducc0,shtns ducc0 shtns): binary wheels use only SSE2, which
would be unfair. `smooth` compares whole programs, files included, with healpy of --healpy-python.
"""
import argparse
import dataclasses
import datetime
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import peer_tables


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    grid: str
    lmax: int
    spin: int = 0
    maps: int = 1
    fields: str = ""
    precision: str = "double"
    directions: tuple = ("synthesis", "adjoint")
    iterations: int = 0


def healpix(name, nside, lmax, **more):
    return Case(name, f"healpix:{nside}", lmax, **more)


GAUSS = ("synthesis", "analysis")
CASES = [
    *(healpix(f"healpix-{nside}", nside, 2 * nside) for nside in (64, 128, 256, 1024, 2048)),
    healpix("batch-8", 1024, 2048, maps=8),
    healpix("spin-2", 1024, 2048, spin=2),
    healpix("teb", 1024, 2048, fields="TEB"),
    healpix("batch-8-2048", 2048, 4096, maps=8),
    healpix("spin-2-2048", 2048, 4096, spin=2),
    healpix("teb-2048", 2048, 4096, fields="TEB"),
    healpix("single", 1024, 2048, precision="single"),
    *(Case(f"gauss-{lmax}", f"gauss:{lmax}", lmax, directions=GAUSS) for lmax in (511, 1023, 2047, 4095)),
    healpix("iter-3", 2048, 4096, directions=("analysis",), iterations=3),
]
NAMES = [case.name for case in CASES] + ["smooth"]
SHORTEST = 0.1  # seconds a measurement lasts, by repeating short transforms
LONG_ENOUGH = 3.0  # seconds of all measurements of a direction; short transforms get more repeats, up to MOST
MOST = 31


def difference(ours, theirs):
    """Returns the rms and the largest difference, over the rms of the peer's values."""
    import numpy as np
    squares = largest = norm = 0.0
    for a, b in zip(ours, theirs):
        gap = np.abs(a - b)
        squares += float(np.sum(gap * gap))
        largest = max(largest, float(gap.max()))
        norm += float(np.vdot(b, b).real)
    return {"rms": (squares / norm) ** 0.5, "max": largest / (norm / ours.size) ** 0.5}


def summary(rows, ours, peers):
    """Returns the medians of one direction's rows."""
    mine = [row[ours.name][1] for row in rows]
    result = {"ringweave": {key: statistics.median(one[key] for one in mine)
                            for key in mine[0] if key not in ("direction", "of_peak", "peak_gflop_per_s")},
              "peers": {}}
    best = result["ringweave"]
    best["repeats"] = len(rows)
    best["least"] = min(one["seconds"] for one in mine)
    best["peak_gflop_per_s"] = max(one["peak_gflop_per_s"] for one in mine)
    best["of_peak"] = best["gflop_per_s"] / best["peak_gflop_per_s"]
    for peer in peers:
        theirs = [row[peer.name][0] for row in rows]
        ratios = [row[ours.name][0] / row[peer.name][0] for row in rows]
        result["peers"][peer.name] = {
            "family": peer.family, "seconds": statistics.median(theirs), "least": min(theirs),
            "ratio": statistics.median(ratios), "ratio_of_least": best["least"] / min(theirs), "every_ratio": ratios}
    return result


def in_turn(programs, direction, count, repeats):
    """Returns [repeat] of {name: (seconds per call, further facts)}."""
    rows = []
    for repeat in range(repeats):
        row = {}
        for program in programs if repeat % 2 == 0 else reversed(programs):
            # Idle threads of one program keep polling for some milliseconds.
            time.sleep(0.02)
            seconds, known = program.time(direction, count)
            row[program.name] = (seconds / count, known)
        rows.append(row)
    return rows


def run_case(case, options, folder):
    from peer_programs import Ringweave, peers_of
    ours = Ringweave(options.program, case, options.threads, options.ranks, options.exchange,
                     options.backend, folder)
    errors = ours.ask("check")
    peers = peers_of(case, ours.result("input"), ours.about, options.threads * options.ranks)
    result = {"name": case.name, "about": ours.about, "errors": errors,
              "versions": dict(peer.version for peer in peers), "directions": {}}
    if "synthesis" not in case.directions:
        for peer in peers:
            peer.call("synthesis")  # the map that is analysed
    for direction in case.directions:
        once = ours.time(direction, 1)[0]
        for peer in peers:
            peer.call(direction)  # touches memory, makes plans
        count = max(1, min(1000, round(SHORTEST / once)))
        repeats = max(options.repeats, min(MOST, round(LONG_ENOUGH / (once * count))))
        rows = in_turn([ours, *peers], direction, count, repeats)
        result["directions"][direction] = summary(rows, ours, peers)
        what = "map" if direction == "synthesis" else "alm"
        answer = ours.result(what)
        for peer in peers:
            peer.call(direction)  # the arrays are shared by all peers
            result["directions"][direction]["peers"][peer.name].update(difference(answer, peer.result(what)))
    ours.close()
    return result


def run_named(name, options, folder):
    if name == "smooth":
        import peer_smoothing
        program = options.ringweave or Path(options.program).resolve().parent.parent / "src" / "app" / "ringweave"
        return peer_smoothing.run(program, options, folder)
    if name == "own":
        return run_case(own_case(options), options, folder)
    return run_case(next(case for case in CASES if case.name == name), options, folder)


def own_case(options):
    kind = options.grid.split(":")[0]
    maps = "" if options.maps == 1 else f" x{options.maps}"
    return Case(f"{options.grid} lmax {options.lmax} spin {options.spin}{maps} {options.precision}", options.grid,
                options.lmax, options.spin, options.maps, "", options.precision,
                GAUSS if kind == "gauss" else ("synthesis", "adjoint"))


def machine():
    model = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    return {"processor": model, "processors": os.cpu_count(), "date": datetime.date.today().isoformat()}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the transform_bench of a release build")
    parser.add_argument("--cases", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--grid", help="instead: one case of your own, healpix:NSIDE or gauss:LMAX")
    parser.add_argument("--lmax", type=int)
    parser.add_argument("--spin", type=int, default=0)
    parser.add_argument("--maps", type=int, default=1)
    parser.add_argument("--precision", choices=("double", "single"), default="double")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--exchange", choices=("double", "single", "overlap"), default="double")
    parser.add_argument("--backend", choices=("host", "cuda"), default="host",
                        help="cuda: Ringweave on a GPU, copies to it and back included; peers on the host's threads")
    parser.add_argument("--repeats", type=int, default=7, help="at least; short transforms get more")
    parser.add_argument("--json", help="write everything here, after every case")
    parser.add_argument("--update", action="store_true", help="keep the other cases that the JSON file holds")
    parser.add_argument("--show", metavar="FILE", help="run nothing, show this JSON file")
    parser.add_argument("--plot", help="draw here (PNG or SVG; needs matplotlib)")
    parser.add_argument("--ringweave", help="the program for `smooth`; default: beside transform_bench")
    parser.add_argument("--smooth-nside", type=int, default=2048)
    parser.add_argument("--healpy-python", default=sys.executable, help="a Python that has healpy, for `smooth`")
    options = parser.parse_args()
    if options.show is None and options.program is None:
        parser.error("give transform_bench, or --show FILE")
    if options.grid and options.lmax is None:
        parser.error("--grid needs --lmax")
    return options


def measure(options):
    kept = []
    if options.update and options.json and Path(options.json).exists():
        kept = json.loads(Path(options.json).read_text(encoding="utf-8"))["cases"]
    results = {case["name"]: case for case in kept}
    document = {}
    for name in ["own"] if options.grid else options.cases:
        with tempfile.TemporaryDirectory() as folder:
            result = run_named(name, options, folder)
        result["machine"] = machine()
        results[result["name"]] = result
        ordered = sorted(results.values(), key=lambda r: NAMES.index(r["name"]) if r["name"] in NAMES else len(NAMES))
        document = {"cases": ordered}
        if options.json:
            Path(options.json).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(peer_tables.ratio_table({"cases": [result]}), flush=True)
    return document


def main():
    options = parse()
    # Before any library starts its threads.
    os.environ["OMP_NUM_THREADS"] = str(options.threads * options.ranks)
    if options.show:
        document = json.loads(Path(options.show).read_text(encoding="utf-8"))
    else:
        document = measure(options)
    print(peer_tables.whole(document))
    if options.plot:
        import peer_plot
        try:
            peer_plot.draw(document, options.plot)
        except ImportError:
            sys.exit("this Python has no matplotlib: write --json FILE and give it to peer_plot.py of one that has it")


if __name__ == "__main__":
    main()
