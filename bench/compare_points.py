#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare transforms to points with ducc0 in one run: seconds, their ratio, the difference of the results.

  bench/compare_points.py build/release/bench/points_bench [--lmax 1023 2047] [--spin 0 2] [--epsilon 1e-3 1e-6 1e-10]
  bench/compare_points.py build/release/bench/points_bench --ranks 2 --seconds wall --json points.jsonl

Points are the pixel centres of HEALPix, nside = (lmax + 1) / 2, deflected by 2 arcmin rms (`deflected`), and as many
uniformly random ones (`random`). The programs alternate; one sleeps while the other runs. One JSON line is written for
each case and direction, with the median, the least and all seconds of both programs: `planned` calls of Ringweave, and
`first` calls that also plan the points (synthesis only), beside ducc0.sht.synthesis_general and its adjoint, which plan
in every call. Ratios are of the least seconds. --seconds processor counts processor time, for a machine that is not
idle; wall is right for several threads on an idle one. ducc0 must be built for this processor (CFLAGS=-march=native pip
install --no-binary ducc0 ducc0).
"""
import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from asked_bench import AskedBench, report


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the points_bench of a release build")
    parser.add_argument("--lmax", type=int, nargs="+", default=[1023, 2047])
    parser.add_argument("--points", nargs="+", choices=("deflected", "random"), default=["deflected", "random"])
    parser.add_argument("--spin", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1e-3, 1e-6, 1e-10])
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--ranks", type=int, default=1, help="ducc0 has threads times ranks threads")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", choices=("wall", "processor"), default="processor")
    parser.add_argument("--json", type=Path, help="add the lines to this file, too")
    return parser.parse_args()


class Ringweave(AskedBench):
    def __init__(self, options, lmax, spin, epsilon, points):
        super().__init__(options.program, ["--lmax", lmax, "--spin", spin, "--epsilon", epsilon, "--points", points],
                         options.threads, options.ranks)
        self.key = "seconds" if options.seconds == "wall" else "processor_seconds"

    def time(self, command):
        """Returns seconds, and those of each stage on the wall clock of rank 0."""
        answer = self.ask(command)
        return answer[self.key], answer.get("stages", {})


class Ducc:
    def __init__(self, options, lmax, spin, epsilon, points, alm):
        import ducc0
        import numpy as np
        self.sht, self.version = ducc0.sht, ducc0.__version__
        self.clock = time.perf_counter if options.seconds == "wall" else time.process_time
        self.same = {"spin": spin, "lmax": lmax, "mmax": lmax, "loc": np.ascontiguousarray(points.T),
                     "epsilon": epsilon, "nthreads": options.threads * options.ranks}
        self.alm = alm
        self.values = self.back = None

    def time(self, direction):
        start = self.clock()
        if direction == "evaluate":
            self.values = self.sht.synthesis_general(alm=self.alm, **self.same)
        else:
            self.back = self.sht.adjoint_synthesis_general(map=self.values, **self.same)
        return self.clock() - start


def make_points(kind, lmax):
    """Returns [theta, phi][point]."""
    import numpy as np
    random = np.random.default_rng(1)
    nside = (lmax + 1) // 2
    n = 12 * nside**2
    if kind == "random":
        return np.array([np.arccos(random.uniform(-1, 1, n)), random.uniform(0, 2 * np.pi, n)])
    import ducc0
    theta, phi = ducc0.healpix.Healpix_Base(nside, "RING").pix2ang(np.arange(n)).T
    step = np.radians(2 / 60) / np.sqrt(2) * random.normal(size=(2, n))
    theta = theta + step[0]
    phi = phi + step[1] / np.maximum(np.sin(theta), 1e-3)
    phi = np.where((theta < 0) | (theta > np.pi), phi + np.pi, phi)
    theta = np.abs(theta)
    # ducc0 expects the longitudes of one circle.
    return np.array([np.where(theta > np.pi, 2 * np.pi - theta, theta), np.mod(phi, 2 * np.pi)])


def difference(a, b):
    import numpy as np
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def rows_of(options, lmax, kind, spin, epsilon, folder):
    import numpy as np
    points = make_points(kind, lmax)
    points.tofile(folder / "points")
    ours = Ringweave(options, lmax, spin, epsilon, folder / "points")
    ours.ask("evaluate")
    ours.ask("adjoint")
    ours.ask(f"write {folder}")
    components = 1 if spin == 0 else 2
    alm = np.fromfile(folder / "alm", dtype=complex).reshape(components, -1)
    ducc = Ducc(options, lmax, spin, epsilon, points, alm)
    ducc.time("evaluate")
    ducc.time("adjoint")
    values = np.concatenate([np.fromfile(folder / f"values.{rank}").reshape(components, -1)
                             for rank in range(options.ranks)], axis=1)
    differences = {"evaluate": difference(values, ducc.values),
                   "adjoint": difference(np.fromfile(folder / "adjoint", dtype=complex).reshape(components, -1),
                                         ducc.back)}
    for direction in ("evaluate", "adjoint"):
        seconds = {"planned": [], "ducc0": []} | ({"first": []} if direction == "evaluate" else {})
        stages = []
        for repeat in range(options.repeats):
            for program in ("ours", "ducc0") if repeat % 2 == 0 else ("ducc0", "ours"):
                time.sleep(0.02)
                if program == "ducc0":
                    seconds["ducc0"].append(ducc.time(direction))
                    continue
                plan = ours.time("plan")[0] if direction == "evaluate" else 0
                once, of_stages = ours.time(direction)
                if direction == "evaluate":
                    seconds["first"].append(plan + once)
                # The first call after a plan touches new memory.
                once, of_stages = ours.time(direction) if direction == "evaluate" else (once, of_stages)
                seconds["planned"].append(once)
                stages.append(of_stages)
        least = {name: min(all_seconds) for name, all_seconds in seconds.items()}
        yield {"lmax": lmax, "kind": kind, "spin": spin, "epsilon": epsilon, "direction": direction,
               "clock": options.seconds, "ducc0_version": ducc.version, **ours.about,
               "least": least, "median": {name: statistics.median(every) for name, every in seconds.items()},
               "ratio": {name: least[name] / least["ducc0"] for name in least if name != "ducc0"},
               "stages": {name: min(one[name] for one in stages) for name in stages[0]},
               "difference": differences[direction], "seconds": seconds}
    ours.close()


def main():
    options = parse()
    # Before any library starts its threads.
    os.environ["OMP_NUM_THREADS"] = str(options.threads * options.ranks)
    options.program = options.program.resolve()
    for lmax in options.lmax:
        for kind in options.points:
            for spin in options.spin:
                for epsilon in options.epsilon:
                    with tempfile.TemporaryDirectory() as folder:
                        for row in rows_of(options, lmax, kind, spin, epsilon, Path(folder)):
                            report(row, options.json)


if __name__ == "__main__":
    main()
