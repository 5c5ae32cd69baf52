# SPDX-License-Identifier: GPL-3.0-or-later
"""Time whole programs, files included: `ringweave smooth` and healpy.smoothing, FITS in, FITS out."""
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

FWHM_ARCMIN = 10
ITERATIONS = 3
HERE = Path(__file__).resolve().parent


def timed(command, environment):
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], env=environment, check=True, stdout=subprocess.PIPE,
                          text=True)
    return time.perf_counter() - start, done.stdout


def stages_of(report):
    """Returns the seconds of the slowest rank in each stage, from the program's own report."""
    stages = json.loads(Path(report).read_text(encoding="utf-8"))["stages"]
    return {name: stage["max"] for name, stage in stages.items()}


def run(program, options, folder):
    """One case of compare_peers.py; both smooth the same file with healpy's defaults (lmax = 3 nside - 1)."""
    folder = Path(folder)
    nside = options.smooth_nside
    source, ours, theirs, report = (folder / name for name in ("in.fits", "ours.fits", "theirs.fits", "report.json"))
    launcher = [HERE.parent / "scripts" / "mpirun.sh", options.ranks] if options.ranks > 1 else []
    mine = dict(os.environ, OMP_NUM_THREADS=str(options.threads), MPIRUN_TIMEOUT="3600")
    both = dict(os.environ, OMP_NUM_THREADS=str(options.threads * options.ranks))
    timed([program, "synthesize", "--cl", HERE.parent / "examples" / "lcdm_cl.txt", "--seed", 1, "--nside", nside,
           "--fields", "T", source], mine)
    smooth = launcher + [program, "smooth", source, ours, "--overwrite", "--fwhm", f"{FWHM_ARCMIN}arcmin", "--iter",
                         ITERATIONS, "--exchange", options.exchange, "--report", report]
    healpy = [options.healpy_python, HERE / "healpy_smoothing.py"]
    peer = healpy + ["smooth", source, theirs, FWHM_ARCMIN, ITERATIONS]

    rows = []
    known = {}
    for repeat in range(options.repeats):
        row = {}
        for side in ("ours", "theirs") if repeat % 2 == 0 else ("theirs", "ours"):
            row[side], said = timed(smooth, mine) if side == "ours" else timed(peer, both)
            known = json.loads(said) if side == "theirs" else known
        row["stages"] = stages_of(report)
        rows.append(row)
    gap = json.loads(timed(healpy + ["compare", ours, theirs], both)[1])

    seconds = [row["ours"] for row in rows]
    peer_seconds = [row["theirs"] for row in rows]
    ratios = [row["ours"] / row["theirs"] for row in rows]
    stages = {name: statistics.median(row["stages"].get(name, 0.0) for row in rows) for name in rows[0]["stages"]}
    about = {"grid": f"healpix:{nside}", "lmax": 3 * nside - 1, "spins": [0], "maps": 1, "fields": "",
             "precision": known["precision"], "exchange": options.exchange, "iterations": ITERATIONS,
             "ranks": options.ranks, "threads": options.threads}
    versions = {"healpy": known["version"]}
    return {"name": "smooth", "about": about, "errors": {}, "versions": versions, "directions": {"smooth": {
        "ringweave": dict(seconds=statistics.median(seconds), least=min(seconds), repeats=len(rows), stages=stages),
        "peers": {"healpy": dict(
            family="healpy", seconds=statistics.median(peer_seconds), least=min(peer_seconds),
            ratio=statistics.median(ratios), ratio_of_least=min(seconds) / min(peer_seconds), every_ratio=ratios,
            stages={name: known[name] for name in ("read", "smoothing", "write")}, **gap)}}}}
