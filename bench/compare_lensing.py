#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare lensed maps of T, Q, U with lenspyx (alm2lenmap) in one run: seconds from a_lm and potential to the map.

  bench/compare_lensing.py build/release/bench/lensing_bench [--lmax 1023 2047] [--epsilon 1e-6]
  bench/compare_lensing.py build/release/bench/lensing_bench --ranks 2 --seconds wall

HEALPix maps, nside = (lmax + 1) / 2, a deflection of 2 arcmin rms. The programs alternate. One JSON line is written for
each lmax, with the least and all seconds of both; those of Ringweave are deflection, plan and first map together.
--seconds processor counts processor time, for a machine that is not idle; wall is right for several threads on an idle
one. lenspyx takes its transforms from ducc0, which must be built for this processor (CFLAGS=-march=native pip install
--no-binary ducc0 ducc0).
"""
import argparse
import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the lensing_bench of a release build")
    parser.add_argument("--lmax", type=int, nargs="+", default=[1023, 2047])
    parser.add_argument("--epsilon", type=float, default=1e-6)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--ranks", type=int, default=1, help="lenspyx has threads times ranks threads")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", choices=("wall", "processor"), default="processor")
    return parser.parse_args()


def ours(options, lmax):
    """Returns what one run of the program says, and its seconds from potential to map."""
    launcher = [ROOT / "scripts" / "mpirun.sh", options.ranks] if options.ranks > 1 else []
    command = [*launcher, options.program.resolve(), "--lmax", lmax, "--nside", (lmax + 1) // 2, "--epsilon",
               options.epsilon, "--repeats", 1]
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    output = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, env=environment,
                            check=True).stdout
    about = json.loads(output)
    key = "seconds" if options.seconds == "wall" else "processor_seconds"
    stages = {name: stage[key][0] for name, stage in about.pop("stages").items()}
    return about, stages, sum(stages[name] for name in ("deflection", "plan", "lens"))


class Lenspyx:
    def __init__(self, options, lmax):
        import lenspyx
        import numpy as np
        random = np.random.default_rng(1)
        degree = np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])
        order = np.repeat(np.arange(lmax + 1), lmax + 1 - np.arange(lmax + 1))

        def draw(cl):
            alm = random.normal(size=degree.size) + 1j * random.normal(size=degree.size) * (order > 0)
            return alm * np.sqrt(cl / 2)[degree]

        l = np.arange(lmax + 1)
        d = np.where(l < 2, 0, 1 / ((l + 1.0) * (l + 40.0)**2))
        d *= (2 * 2.9e-4)**2 / np.sum((2 * l + 1) / (4 * np.pi) * d)
        self.alms, self.deflection = [draw(np.where(l < 2, 0.0, 1.0)) for _ in range(3)], draw(d)
        self.same = {"geometry": ("healpix", {"nside": (lmax + 1) // 2}), "epsilon": options.epsilon,
                     "nthreads": options.threads * options.ranks, "pol": True}
        self.alm2lenmap = lenspyx.alm2lenmap
        self.clock = time.perf_counter if options.seconds == "wall" else time.process_time

    def time(self):
        start = self.clock()
        self.alm2lenmap(self.alms, [self.deflection], **self.same)
        return self.clock() - start


def main():
    options = parse()
    # Before any library starts its threads.
    os.environ["OMP_NUM_THREADS"] = str(options.threads * options.ranks)
    for lmax in options.lmax:
        lenspyx = Lenspyx(options, lmax)
        lenspyx.time()
        seconds, stages = {"ringweave": [], "lenspyx": []}, []
        for repeat in range(options.repeats):
            for name in ("ringweave", "lenspyx") if repeat % 2 == 0 else ("lenspyx", "ringweave"):
                if name == "lenspyx":
                    seconds[name].append(lenspyx.time())
                    continue
                about, of_stages, total = ours(options, lmax)
                seconds[name].append(total)
                stages.append(of_stages)
        least = {name: min(every) for name, every in seconds.items()}
        print(json.dumps({"lmax": lmax, "epsilon": options.epsilon, "clock": options.seconds, **about, "least": least,
                          "ratio": least["ringweave"] / least["lenspyx"],
                          "stages": {name: min(one[name] for one in stages) for name in stages[0]},
                          "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
