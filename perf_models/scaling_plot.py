#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the scaling of a transform as in Figure 4 of Szydlarski et al. (2012): scaling_plot.py PROGRAM PICTURE.png

Runs `ringweave model` for several nside (lmax = 2 nside) and numbers of ranks. Left: seconds against ranks; middle:
against nside at a fixed number of ranks; right: computation over communication against both, above as printed, below
corrected. Communication: all modes of all rings (dense), and those that are not negligible (ours), each by Eqs. 16 and
17 as printed and corrected.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

KINDS = [
    ("dense_exchange_seconds_as_printed", "dense, as printed", "tab:red"),
    ("dense_exchange_seconds", "dense, corrected", "tab:orange"),
    ("exchange_seconds_as_printed", "ours, as printed", "tab:purple"),
    ("exchange_seconds", "ours, corrected", "tab:blue"),
]


def predicted(program, nside, ranks, machine):
    """Returns the rows of `ringweave model` by number of ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        command = [program, "model", "--nside", str(nside), "--lmax", str(2 * nside), "--ranks",
                   ",".join(map(str, ranks)), "--json", str(path)]
        if machine:
            command += ["--machine", machine]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(path.read_text())["rows"]
    return {row["ranks"]: row for row in rows}


def computation(row):
    return row["legendre_seconds"] + row["ring_fft_seconds"]


def curves(axis, x, rows, label, **style):
    axis.loglog(x, [computation(row) for row in rows], color="black", label="computation" if label else None, **style)
    for key, name, colour in KINDS:
        axis.loglog(x, [row[key] for row in rows], color=colour, label=name if label else None, **style)


def draw(table, nsides, ranks, fixed_nside, fixed_ranks, picture):
    figure, panels = plt.subplot_mosaic([["ranks", "nside", "printed"], ["ranks", "nside", "corrected"]],
                                        figsize=(15, 6), constrained_layout=True)
    left, middle = panels["ranks"], panels["nside"]
    for nside in (fixed_nside // 2, fixed_nside, 2 * fixed_nside):
        if nside in nsides:
            main = nside == fixed_nside
            curves(left, ranks, [table[nside][n] for n in ranks], main, linewidth=2 if main else 0.7,
                   linestyle="-" if main else "--")
    left.set(xlabel="ranks", ylabel="seconds of one transform",
             title=f"nside {fixed_nside} (thin: half, twice)")
    left.legend(fontsize=8)
    for n in (fixed_ranks // 2, fixed_ranks, 2 * fixed_ranks):
        if n in ranks:
            main = n == fixed_ranks
            curves(middle, nsides, [table[nside][n] for nside in nsides], False, linewidth=2 if main else 0.7,
                   linestyle="-" if main else "--")
    middle.set(xlabel="nside", title=f"{fixed_ranks} ranks (thin: half, twice)")
    for key, name, colour in KINDS:
        panel = panels["printed" if "printed" in key else "corrected"]
        ratio = np.array([[computation(table[nside][n]) / table[nside][n][key] for n in ranks] for nside in nsides])
        lines = panel.contour(ranks, nsides, np.log10(ratio), levels=[-1, 0, 1, 2], colors=colour,
                              linewidths=[0.7, 2, 0.7, 0.7], linestyles="solid")
        panel.clabel(lines, inline=False, fmt=lambda level: f"{10 ** level:g}", fontsize=8)
    for name in ("printed", "corrected"):
        title = f"computation / communication (thick: 1), {'as ' if name == 'printed' else ''}{name}"
        panels[name].set(xscale="log", yscale="log", ylabel="nside", title=title)
    panels["corrected"].set_xlabel("ranks")
    for axis in panels.values():
        axis.grid(alpha=0.3)
    figure.savefig(picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="ringweave")
    parser.add_argument("picture", help="PNG to write")
    parser.add_argument("--machine", help="machine file or name; the paper's: szydlarski_2012")
    parser.add_argument("--nside", type=int, default=4096, help="of the left panel (default 4096)")
    parser.add_argument("--ranks", type=int, default=512, help="of the middle panel (default 512)")
    arguments = parser.parse_args()
    nsides = [2**k for k in range(8, 15)]
    ranks = [2**k for k in range(1, 17)]
    table = {nside: predicted(arguments.program, nside, ranks, arguments.machine) for nside in nsides}
    draw(table, nsides, ranks, arguments.nside, arguments.ranks, arguments.picture)


if __name__ == "__main__":
    sys.exit(main())
