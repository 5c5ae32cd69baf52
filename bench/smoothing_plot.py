#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the seconds measured by compare_smoothing.py over support: smoothing_plot.py FILE.json PICTURE.png"""
import json
import sys
from pathlib import Path

WAYS = {"ring": ("rings", "#0072B2", "o-"), "harmonic": ("harmonics, lmax = 2 nside", "#D55E00", "D-"),
        "fitted": ("harmonics, lmax as the kernel needs", "#E69F00", "v-"),
        "ducc0": ("ducc0, lmax = 2 nside", "#009E73", "^-"), "original": ("the original algorithm", "#CC79A7", "s--")}


def fastest(kernel, family):
    """Returns the seconds of a way; for ducc0 those of the faster one."""
    seconds = [way["seconds"] for name, way in kernel["ways"].items() if name.startswith(family)]
    return min(seconds) if seconds else None


def draw(document, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    sizes = sorted({kernel["nside"] for kernel in document["kernels"]})
    figure, panels = pyplot.subplots(1, len(sizes), figsize=(4 * len(sizes), 4), sharey=True, layout="constrained")
    for panel, nside in zip(panels, sizes):
        kernels = sorted((kernel for kernel in document["kernels"] if kernel["nside"] == nside),
                         key=lambda kernel: kernel["support_degrees"])
        for family, (name, colour, line) in WAYS.items():
            points = [(kernel["support_degrees"], seconds) for kernel in kernels
                      if (seconds := fastest(kernel, family)) is not None]
            panel.loglog(*zip(*points), line, color=colour, markersize=4, label=name)
        panel.set_title(f"nside {nside}", fontsize=10)
        panel.set_xlabel("support of the Gaussian, degrees")
        panel.set_xticks([0.25, 1, 4, 16], ["0.25", "1", "4", "16"])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("seconds, one thread")
    panels[0].legend(fontsize=8)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2])
