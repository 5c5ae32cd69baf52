#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the ring convolution of a Gaussian with the harmonic method, ducc0 and the algorithm of the paper.

  bench/compare_smoothing.py build/release/bench/smoothing_bench --json FILE [--update] [--nside N...]
  bench/compare_smoothing.py --show FILE

For every nside and kernel (--fwhm, in arcmin, and --supports, in degrees) all ways smooth the same map in turn, with one
thread, in one run; tables show medians. A harmonic smoothing is an adjoint and a synthesis with lmax = 2 nside, without
iteration: the same quadrature as in the ring convolution; "fitted" stops where b_l falls below --error. ducc0 must be
built for this processor (CFLAGS=-march=native pip install --no-binary ducc0 ducc0). Its products with b_l are not
timed, and after the first kernel of an nside only the faster of its two ways (theta_interpol or not) is continued.
smoothing_plot.py draws FILE.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from compare_peers import difference, machine
from peer_programs import seconds_of
from peer_tables import markdown, seconds as plain_number

SUPPORTS = (0.25, 0.5, 1, 2, 4, 8, 16)


class Ringweave:
    """Runs smoothing_bench, which executes commands and sleeps between them."""

    def __init__(self, program, nside, folder):
        self.folder = Path(folder)
        self.process = subprocess.Popen([program, str(nside)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"smoothing_bench ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._answer()

    def map(self, what):
        path = self.folder / what
        self.ask(f"write {what} {path}")
        values = np.fromfile(path)
        path.unlink()
        return values.reshape(1, -1)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Ducc0:
    """Runs an adjoint and a synthesis of one map."""

    def __init__(self, about, map_, threads, theta_interpol):
        import ducc0
        lmax = about["lmax"]
        self.sht = ducc0.sht
        self.name = f"ducc0 {ducc0.__version__}" + (", theta_interpol" if theta_interpol else "")
        self.options = dict(lmax=lmax, spin=0, nthreads=threads)
        self.options.update(ducc0.healpix.Healpix_Base(about["nside"], "RING").sht_info())
        if theta_interpol:
            self.options["theta_interpol"] = True
        self.weights = np.full(4 * about["nside"] - 1, 4 * np.pi / about["n_pixels"])
        self.map, self.out = map_, np.empty_like(map_)
        self.alm = np.empty((1, (lmax + 1) * (lmax + 2) // 2), np.complex128)
        self.degrees = np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)]).astype(np.float64)

    def smooth(self, fwhm):
        seconds = seconds_of(lambda: self.sht.adjoint_synthesis(map=self.map, alm=self.alm, ringfactor=self.weights,
                                                                **self.options))
        sigma = fwhm / np.sqrt(8 * np.log(2))
        self.alm *= np.exp(-0.5 * self.degrees * (self.degrees + 1) * sigma ** 2)
        return seconds + seconds_of(lambda: self.sht.synthesis(alm=self.alm, map=self.out, **self.options))


class Turns:
    """Returns the ways for one kernel; calling one returns its seconds."""

    def __init__(self, ours, kernel, peers, originals):
        fwhm = np.radians(kernel["fwhm_arcmin"] / 60)
        self.ways = {way: lambda way=way: ours.ask(way) for way in ("ring", "harmonic", "fitted")}
        self.ways.update({peer.name: lambda peer=peer: {"seconds": peer.smooth(fwhm)} for peer in peers})
        self.originals = originals
        self.ours = ours
        self.rows = {way: [] for way in self.ways}

    def measure(self, repeats):
        for repeat in range(repeats + 1):
            for way in self.ways if repeat % 2 == 0 else reversed(self.ways):
                time.sleep(0.02)  # idle threads keep polling for some milliseconds
                answer = self.ways[way]()
                if repeat > 0:  # the first call touches memory, makes plans
                    self.rows[way].append(answer)
        if self.originals:
            self.ours.ask("original")
            self.rows["original"] = [self.ours.ask("original") for _ in range(self.originals)]

    def summary(self):
        result = {}
        for way, rows in self.rows.items():
            parts = rows[0].get("parts", {})
            result[way] = {"seconds": statistics.median(row["seconds"] for row in rows),
                           "least": min(row["seconds"] for row in rows), "repeats": len(rows),
                           "parts": {part: statistics.median(row["parts"][part] for row in rows) for part in parts},
                           "over_ring": statistics.median(row["seconds"] / ring["seconds"]
                                                          for row, ring in zip(rows, self.rows["ring"]))}
        return result


def ours_of(ways):
    return [way for way in ("ring", "harmonic", "fitted", "original") if way in ways]


def compare(ours, peers, how_wide, options):
    kernel = ours.ask(f"{how_wide} {options.error}")
    originals = 0 if kernel["support_degrees"] > options.widest_original else options.originals
    turns = Turns(ours, kernel, peers, originals)
    turns.measure(options.repeats)
    result = {**ours.about, **kernel, "ways": turns.summary()}
    expected = peers[0].out
    for way in ours_of(result["ways"]):
        ours.ask(way)
        result["ways"][way]["difference"] = difference(ours.map("output"), expected)
    return result


def measure_nside(nside, options, folder):
    ours = Ringweave(options.program, nside, folder)
    map_ = ours.map("input")
    peers = [Ducc0(ours.about, map_, options.threads, interpol) for interpol in (False, True)]
    widths = [f"fwhm {fwhm}" for fwhm in options.fwhm] + [f"support {support}" for support in options.supports]
    for width in widths:
        kernel = compare(ours, peers, width, options)
        # Independent of the width.
        peers = [peer for peer in peers if kernel["ways"][peer.name] is least_ducc0(kernel)]
        yield kernel
    ours.close()


def least_ducc0(kernel):
    return min((way for name, way in kernel["ways"].items() if name.startswith("ducc0")), key=lambda way: way["seconds"])


def table(document):
    """Prints seconds over those of the rings, and rms differences from ducc0: rings, lmax fitted, original."""
    heads = ["nside", "FWHM", "support", "rings, s", "harmonic, s", "ratio", "lmax fitted", "s", "ratio", "ducc0, s",
             "ratio", "original, s", "ratio", "differences"]
    rows = []
    for kernel in document["kernels"]:
        ways = kernel["ways"]
        row = [str(kernel["nside"]), f"{kernel['fwhm_arcmin']:.3g}'", f"{kernel['support_degrees']:.2g}°",
               plain_number(ways["ring"]["seconds"])]
        for way in (ways["harmonic"], ways["fitted"], least_ducc0(kernel), ways.get("original")):
            row += [str(kernel["fitted_lmax"])] if way is ways["fitted"] else []
            row += [plain_number(way["seconds"]), f"{way['over_ring']:.1f}"] if way else ["", ""]
        row.append(", ".join(f"{ways[way]['difference']['rms']:.0e}" for way in ours_of(ways) if way != "harmonic"))
        rows.append(row)
    return markdown(heads, rows)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the smoothing_bench of a release build")
    parser.add_argument("--nside", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--fwhm", type=float, nargs="*", default=[4.7], help="arcmin, cut by --error")
    parser.add_argument("--supports", type=float, nargs="*", default=SUPPORTS, help="degrees; Gaussians cut there")
    parser.add_argument("--error", type=float, default=1e-5, help="of the cut and of the sum, relative to the rms")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--originals", type=int, default=1, help="repeats of the original algorithm; 0: none")
    parser.add_argument("--widest-original", type=float, default=16, help="degrees; no original beyond")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", help="write everything here, after every kernel")
    parser.add_argument("--update", action="store_true", help="keep the other kernels that the JSON file holds")
    parser.add_argument("--show", metavar="FILE", help="run nothing, show this JSON file")
    options = parser.parse_args()
    if options.show is None and options.program is None:
        parser.error("give smoothing_bench, or --show FILE")
    return options


def main():
    options = parse()
    if options.show:
        print(table(json.loads(Path(options.show).read_text(encoding="utf-8"))))
        return
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    kernels = []
    if options.update and options.json and Path(options.json).exists():
        kernels = json.loads(Path(options.json).read_text(encoding="utf-8"))["kernels"]
    for nside in options.nside:
        with tempfile.TemporaryDirectory() as folder:
            for kernel in measure_nside(nside, options, folder):
                same = (kernel["nside"], kernel["fwhm_arcmin"])
                kernels = [old for old in kernels if (old["nside"], old["fwhm_arcmin"]) != same] + [kernel]
                kernels.sort(key=lambda one: (one["nside"], one["fwhm_arcmin"]))
                document = {"machine": machine(), "kernels": kernels}
                if options.json:
                    Path(options.json).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
                print(table({"kernels": [kernel]}), flush=True)
    print(table(document))


if __name__ == "__main__":
    main()
