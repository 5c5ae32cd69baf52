#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the results of compare_peers.py: peer_plot.py FILE.json PICTURE.png

Left: Ringweave's seconds over each peer's; right: Ringweave's seconds by stage.
"""
import json
import sys
from pathlib import Path

import peer_tables

MARKS = {"ducc0": ("#0072B2", "o"), "ducc0 theta_interpol": ("#56B4E9", "s"), "SHTns": ("#D55E00", "D"),
         "healpy": ("#009E73", "^")}
STAGES = {"legendre": ("Legendre", "#0072B2"), "exchange": ("exchange", "#D55E00"),
          "ring_fft": ("ring FFT", "#E69F00"), "files": ("files", "#CC79A7"), "rest": ("rest", "#BBBBBB")}


def stage_seconds(mine):
    """Returns the seconds of every stage; whole programs (smooth) name theirs differently and include files."""
    known = mine.get("stages", mine)
    parts = {stage: known.get(stage, 0.0) for stage in STAGES}
    parts["files"] = known.get("read", 0.0) + known.get("write", 0.0)
    parts["rest"] = max(0.0, mine["seconds"] - sum(parts.values()))
    return parts


def draw_ratios(axes, rows):
    for family, (colour, mark) in MARKS.items():
        places = [(peer["ratio"], row) for row, (_, _, measured) in enumerate(rows)
                  if (peer := peer_tables.fastest(measured, family))]
        if places:
            axes.plot(*zip(*places), mark, color=colour, label=family, linestyle="none")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlim(left=0)
    axes.set_xlabel("seconds / seconds of the peer (left of 1: faster)")
    axes.set_yticks(range(len(rows)),
                    [f"{peer_tables.title(case)}: {peer_tables.direction_title(case, direction)}"
                     for case, direction, _ in rows], fontsize=8)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncol=4, frameon=False, columnspacing=1)


def draw_stages(axes, rows):
    labelled = set()
    for row, (_, _, measured) in enumerate(rows):
        mine = measured["ringweave"]
        axes.text(1.02, row, f"{mine['seconds']:.3g} s", va="center", fontsize=8)
        left = 0.0
        for stage, seconds in stage_seconds(mine).items():
            name, colour = STAGES[stage]
            axes.barh(row, seconds / mine["seconds"], left=left, color=colour, height=0.7,
                      label=None if stage in labelled else name)
            labelled.add(stage)
            left += seconds / mine["seconds"]
    axes.set_xlim(0, 1.25)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("share of Ringweave's seconds")
    axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncol=5, frameon=False, columnspacing=1,
                handlelength=1)


def draw(document, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    rows = list(peer_tables.rows_of(document))
    figure, (left, right) = pyplot.subplots(1, 2, sharey=True, figsize=(12, 1.5 + 0.26 * len(rows)))
    draw_ratios(left, rows)
    draw_stages(right, rows)
    left.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2])
