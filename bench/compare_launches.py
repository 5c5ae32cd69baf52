#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time many maps in one launch of `ringweave smooth` or `synthesize` against one launch per map, files included.

  bench/compare_launches.py build/release/src/app/ringweave --threads 2 -- --fwhm 10arcmin
  bench/compare_launches.py build/release/src/app/ringweave --synthesize --ranks 2 --json launches.json

Arguments after -- are options of the command. The maps are drawn first, in a temporary folder (--folder keeps them; it
needs twice their size, 100 MB per map at nside 1024). The two ways alternate; outputs are removed before each. Ratios are
the seconds of the one launch over those of the many, turn by turn; nothing else may run meanwhile.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the ringweave of a release build")
    parser.add_argument("--synthesize", action="store_true", help="draw the maps in place of smoothing them")
    parser.add_argument("--maps", type=int, default=16)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--ranks", type=int, default=1, help="more than one: under scripts/mpirun.sh")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the maps are and stay; default: a temporary one")
    parser.add_argument("--json", type=Path)
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:end])
    options.program, options.options = options.program.resolve(), sys.argv[end + 1:]
    return options


class Launches:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        launcher = [ROOT / "scripts" / "mpirun.sh", options.ranks] if options.ranks > 1 else []
        self.prefix = [*launcher, options.program]
        self.environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), MPIRUN_TIMEOUT="36000")
        if options.ranks == 1:
            self.environment.update(OMP_PLACES="cores", OMP_PROC_BIND="close")
        self.draw = ["synthesize", "--cl", ROOT / "examples" / "lcdm_cl.txt", "--nside", options.nside, "--fields", "T"]
        self.seeds = range(1, options.maps + 1)

    def launch(self, *arguments):
        command = [str(word) for word in (*self.prefix, *arguments)]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")

    def prepare(self):
        missing = [seed for seed in self.seeds if not (self.folder / f"sky_{seed}.h5").exists()]
        if not self.options.synthesize and missing:
            self.launch(*self.draw, "--seed", f"1..{self.options.maps}", "sky_{seed}.h5", "--resume")

    def one_by_one(self):
        for seed in self.seeds:
            if self.options.synthesize:
                self.launch(*self.draw, "--seed", seed, f"out_{seed}.h5", *self.options.options)
            else:
                self.launch("smooth", f"sky_{seed}.h5", f"out_{seed}.h5", *self.options.options)

    def together(self):
        if self.options.synthesize:
            self.launch(*self.draw, "--seed", f"1..{self.options.maps}", "out_{seed}.h5", *self.options.options)
        else:
            self.launch("smooth", *[f"sky_{seed}.h5" for seed in self.seeds], "out_{name}.h5", *self.options.options)

    def seconds(self, way):
        for output in self.folder.glob("out_*.h5"):
            output.unlink()
        start = time.perf_counter()
        way()
        return time.perf_counter() - start


def measure(launches, turns):
    launches.prepare()
    rows = []
    print("| turn | one by one, s | one launch, s | ratio |\n| --- | --- | --- | --- |")
    for turn in range(turns):
        apart, together = launches.seconds(launches.one_by_one), launches.seconds(launches.together)
        rows.append({"one_by_one": apart, "one_launch": together, "ratio": together / apart})
        print(f"| {turn + 1} | {apart:.1f} | {together:.1f} | {together / apart:.2f} |", flush=True)
    print(f"| median | {statistics.median(row['one_by_one'] for row in rows):.1f} "
          f"| {statistics.median(row['one_launch'] for row in rows):.1f} "
          f"| {statistics.median(row['ratio'] for row in rows):.2f} |")
    return rows


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = measure(Launches(options, folder.resolve()), options.turns)
        for output in folder.glob("out_*.h5"):
            output.unlink()
    if options.json:
        about = {key: getattr(options, key) for key in ("synthesize", "maps", "nside", "ranks", "threads", "options")}
        options.json.write_text(json.dumps({"about": about, "turns": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
