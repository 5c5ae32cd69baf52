#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicted seconds of `ringweave smooth` beside measured ones, and what --method auto picks beside the fastest method.

    bench/compare_methods.py build/release/src/app/ringweave --machine machine.json --json methods.json
    bench/compare_methods.py build/release/src/app/ringweave --ranks 2 --mpirun scripts/mpirun.sh --machine machine2.json

Every case is smoothed by rings, by harmonics with the lmax that --method auto would take, and by auto, in turn; medians
over the turns. Seconds are those of convolving or transforming: files, planning and new memory do not count.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

# nside, FWHM, --error; rings and harmonics both keep the error in all of them.
CASES = [(nside, fwhm, 1e-5) for nside, widths in (
    (512, ("30arcmin", "1deg", "2deg", "5deg", "10deg", "20deg")),
    (1024, ("15arcmin", "30arcmin", "2deg", "5deg", "10deg", "20deg")),
    (2048, ("7arcmin", "10arcmin", "30arcmin", "2deg", "5deg", "10deg"))) for fwhm in widths
         ] + [(1024, "2deg", 1e-3), (2048, "2deg", 1e-3)]
STAGES_OF_FILES = {"read", "write", "memory"}


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

    def smooth(self, case, *method):
        """Seconds measured and predicted, uncertainty, and the line that says which method was picked."""
        nside, fwhm, error = case
        out = self.ringweave("smooth", self.sky(nside), "smooth.h5", "--fwhm", fwhm, "--iter", 0, *method, "--overwrite",
                             "--verbose", "--machine", self.options.machine, "--report", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        seconds = sum(stage["max"] for name, stage in report["stages"].items() if name not in STAGES_OF_FILES)
        plan = report["plan"]
        said = re.search(r"method: .*", out)
        return {"seconds": seconds, "predicted": plan["predicted_seconds"],
                "uncertainty": plan["predicted_uncertainty_seconds"], "said": said.group(0) if said else ""}


def measure(runs, case, turns):
    """Rings, harmonics and auto in turn."""
    of_error = ("--error", case[2])
    said = runs.smooth(case, "--method", "auto", *of_error)["said"]
    lmax = re.search(r"lmax (\d+)", said).group(1)
    methods = {"ring": ("--method", "ring", *of_error), "harmonic": ("--method", "harmonic", "--lmax", lmax)}
    taken = {name: [runs.smooth(case, *method) for _ in range(turns)] for name, method in methods.items()}
    row = {"nside": case[0], "fwhm": case[1], "error": case[2], "lmax": int(lmax),
           "picked": re.search(r"method: (\w+)", said).group(1), "said": said}
    for name, samples in taken.items():
        row[name] = {"seconds": statistics.median(sample["seconds"] for sample in samples),
                     "least": min(sample["seconds"] for sample in samples),
                     "predicted": samples[0]["predicted"], "uncertainty": samples[0]["uncertainty"]}
    fastest = min(methods, key=lambda name: row[name]["seconds"])
    row["fastest"] = fastest
    row["slower_by"] = row[row["picked"]]["seconds"] / row[fastest]["seconds"] - 1 if row["picked"] in methods else None
    return row


def show(rows):
    print("| nside | FWHM | error | rings, s: predicted, measured, ratio | harmonics: lmax, predicted, measured, ratio | auto picks | slower than the fastest by |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        def cells(name):
            of = row[name]
            return f"{of['predicted']:.3f}, {of['seconds']:.3f}, {of['predicted'] / of['seconds']:.2f}"
        slower = "" if row["slower_by"] is None else f"{100 * row['slower_by']:.0f} %"
        print(f"| {row['nside']} | {row['fwhm']} | {row['error']:g} | {cells('ring')} | {row['lmax']}, {cells('harmonic')} | "
              f"{row['picked']} | {slower} |")
    good = sum(row["slower_by"] is not None and row["slower_by"] <= 0.1 for row in rows)
    near = [row[name]["predicted"] / row[name]["seconds"] for row in rows for name in ("ring", "harmonic")]
    within = sum(abs(ratio - 1) <= 0.25 for ratio in near)
    print(f"\nauto is the fastest or within 10 % of it in {good} of {len(rows)} cases; "
          f"predictions within 25 % of the measurement in {within} of {len(near)}")


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
    parser.add_argument("--json", help="write the rows here too")
    options = parser.parse_args()
    cases = CASES if options.cases is None else [CASES[i] for i in options.cases]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, Path(folder))
        for case in cases:
            rows.append(measure(runs, case, options.turns))
            if options.json:
                Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
