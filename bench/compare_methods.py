#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare predicted and measured seconds of `ringweave smooth`, and --method auto's choice with the fastest method.

    bench/compare_methods.py build/release/src/app/ringweave --machine machine.json --json methods.json
    bench/compare_methods.py build/release/src/app/ringweave --ranks 2 --mpirun scripts/mpirun.sh --machine machine2.json

Every case is smoothed by rings and by harmonics with the lmax that --method auto uses. A turn runs all cases, so that
turns of one case are minutes apart; the table has medians over turns. Kernels with a long tail, K_l = sqrt(C_l) b_l, are
also smoothed by a split. Seconds are those of convolving or transforming, without files, planning and new memory.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

# nside, FWHM, --error; both rings and harmonics meet the error in all cases.
CASES = [(nside, fwhm, 1e-5) for nside, widths in (
    (512, ("30arcmin", "1deg", "2deg", "5deg", "10deg", "20deg")),
    (1024, ("15arcmin", "30arcmin", "2deg", "5deg", "10deg", "20deg")),
    (2048, ("7arcmin", "10arcmin", "30arcmin", "2deg", "5deg", "10deg"))) for fwhm in widths
         ] + [(1024, "2deg", 1e-3), (2048, "2deg", 1e-3)]
# nside, FWHM of b_l, --error; by a split, and by harmonics of all degrees to 2 nside.
SPLIT_CASES = [(nside, fwhm_arcmin, error) for nside, fwhm_arcmin in ((512, 28), (1024, 14), (2048, 7)) for error in (1e-3, 1e-5)]


class Runs:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.launch = [options.mpirun, str(options.ranks)] if options.mpirun else []

    def ringweave(self, *arguments):
        command = [*self.launch, self.options.program, *map(str, arguments)]
        environment = dict(os.environ, OMP_NUM_THREADS=str(self.options.threads))
        return subprocess.run(command, cwd=self.folder, env=environment, check=True, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout

    def sky(self, nside):
        name = f"sky{nside}.h5"
        if not (self.folder / name).exists():
            self.ringweave("synthesize", "--cl", self.options.cl, "--seed", 1, "--nside", nside, "--lmax", 2 * nside,
                           "--fields", "T", name)
        return name

    def tailed_beam(self, nside, fwhm_arcmin):
        """Writes sqrt(C_l) b_l as a beam file."""
        spectrum = [float(line.split()[1]) for line in open(self.options.cl) if not line.startswith("#")]
        sigma = math.radians(fwhm_arcmin / 60) / math.sqrt(8 * math.log(2))
        name = f"beam{nside}.txt"
        (self.folder / name).write_text("".join(f"{l} {math.sqrt(spectrum[l]) * math.exp(-l * (l + 1) * sigma**2 / 2)!r}\n"
                                                for l in range(2 * nside + 1)))
        return name

    def smooth(self, nside, *method):
        """Returns measured and predicted seconds, the uncertainty, and the line that names the chosen method."""
        out = self.ringweave("smooth", self.sky(nside), "smooth.h5", "--iter", 0, *method, "--overwrite",
                             "--verbose", "--machine", self.options.machine, "--report", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        seconds, plan = report["computing"]["max"], report["plan"]
        said = re.search(r"method: .*", out)
        return {"seconds": seconds, "predicted": plan["predicted_seconds"],
                "uncertainty": plan["predicted_uncertainty_seconds"], "said": said.group(0) if said else "",
                "parts": {name: plan[name] for name in ("l_cut", "support_degrees") if name in plan}}


class Trial:
    """Methods that smooth the same map, and the seconds of their turns."""

    def __init__(self, row, methods):
        self.row, self.methods = row, methods
        self.taken = {name: [] for name in methods}

    def take_turn(self, runs):
        for name, method in self.methods.items():
            self.taken[name].append(runs.smooth(self.row["nside"], *method))

    def result(self):
        """Returns the row: for every method the median and minimum of the seconds, and the prediction."""
        return self.row | {name: {"seconds": statistics.median(sample["seconds"] for sample in samples),
                                  "least": min(sample["seconds"] for sample in samples),
                                  "predicted": samples[0]["predicted"], "uncertainty": samples[0]["uncertainty"],
                                  "parts": samples[0]["parts"]} for name, samples in self.taken.items()}


class MethodTrial(Trial):
    """Compares rings, harmonics and the choice of auto."""

    def __init__(self, runs, case):
        nside, fwhm, error = case
        common = ("--fwhm", fwhm, "--error", error)
        said = runs.smooth(nside, "--method", "auto", *common)["said"]
        lmax = re.search(r"lmax (\d+)", said).group(1)
        super().__init__({"nside": nside, "fwhm": fwhm, "error": error, "lmax": int(lmax),
                          "picked": re.search(r"method: (\w+)", said).group(1), "said": said},
                         {"ring": ("--method", "ring", *common),
                          "harmonic": ("--method", "harmonic", "--lmax", lmax, "--fwhm", fwhm)})

    def result(self):
        row = super().result()
        row["fastest"] = min(self.methods, key=lambda name: row[name]["seconds"])
        picked = row.get(row["picked"])
        row["slower_by"] = picked["seconds"] / row[row["fastest"]]["seconds"] - 1 if picked else None
        return row


class SplitTrial(Trial):
    """Compares a split with harmonics of all degrees."""

    def __init__(self, runs, case):
        nside, fwhm_arcmin, error = case
        common = ("--beam", runs.tailed_beam(nside, fwhm_arcmin), "--lmax", 2 * nside)
        super().__init__({"nside": nside, "fwhm": f"{fwhm_arcmin}arcmin", "error": error},
                         {"split": ("--method", "split", "--error", error, *common),
                          "harmonic": ("--method", "harmonic", *common)})


def cells(row, name):
    of = row[name]
    return f"{of['predicted']:.3f}, {of['seconds']:.3f}, {of['predicted'] / of['seconds']:.2f}"


def show_within(rows, methods):
    ratios = [row[name]["predicted"] / row[name]["seconds"] for row in rows for name in methods]
    print(f"predictions within 25 % of the measurement in {sum(abs(ratio - 1) <= 0.25 for ratio in ratios)} of {len(ratios)}")


def show(rows):
    print("| nside | FWHM | error | rings, s: predicted, measured, ratio | harmonics: lmax, predicted, measured, ratio | auto picks | slower than the fastest by |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        slower = "" if row["slower_by"] is None else f"{100 * row['slower_by']:.0f} %"
        print(f"| {row['nside']} | {row['fwhm']} | {row['error']:g} | {cells(row, 'ring')} | "
              f"{row['lmax']}, {cells(row, 'harmonic')} | "
              f"{row['picked']} | {slower} |")
    good = sum(row["slower_by"] is not None and row["slower_by"] <= 0.1 for row in rows)
    print(f"\nauto is the fastest or within 10 % of it in {good} of {len(rows)} cases")
    show_within(rows, ("ring", "harmonic"))


def show_splits(rows):
    print("\n| nside | FWHM | error | l_cut, support | split, s: predicted, measured, ratio | all degrees, s: the same |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        parts = row["split"]["parts"]
        print(f"| {row['nside']} | {row['fwhm']} | {row['error']:g} | {parts['l_cut']}, {parts['support_degrees'] * 60:.0f}' | "
              f"{cells(row, 'split')} | {cells(row, 'harmonic')} |")
    print()
    show_within(rows, ("split", "harmonic"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--machine", required=True, type=os.path.abspath, help="of `ringweave calibrate` on as many ranks")
    parser.add_argument("--cl", type=os.path.abspath, default=Path(__file__).parent.parent / "examples/lcdm_cl.txt",
                        help="spectrum of the maps")
    parser.add_argument("--mpirun", type=os.path.abspath, help="scripts/mpirun.sh")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--cases", type=int, nargs="*", help="numbers of the cases to run; default: all")
    parser.add_argument("--split-cases", type=int, nargs="*", help="the same of the split kernels")
    parser.add_argument("--json", help="write the rows here too")
    options = parser.parse_args()
    def chosen(cases, numbers):
        return cases if numbers is None else [cases[i] for i in numbers]

    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, Path(folder))
        trials = [MethodTrial(runs, case) for case in chosen(CASES, options.cases)]
        splits = [SplitTrial(runs, case) for case in chosen(SPLIT_CASES, options.split_cases)]
        for _ in range(options.turns):
            for trial in trials + splits:
                trial.take_turn(runs)
    rows, split_rows = ([trial.result() for trial in of] for of in (trials, splits))
    if options.json:
        Path(options.json).write_text(json.dumps({"cases": rows, "splits": split_rows}, indent=1) + "\n")
    show(rows)
    show_splits(split_rows)


if __name__ == "__main__":
    main()
