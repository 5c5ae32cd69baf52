#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the results of kernel_split_accuracy, after Figs. 6, 7 and 10 of Sutter, Wandelt & Elsner (2012).

  bench/kernel_split_accuracy_plot.py FILE.json... --spectra PICTURE.png --errors PICTURE.png [--error 1e-5]

--spectra: for one run on each kind of map whose bound is --error (of independent pixels, or a white map without those,
and of a CMB map), the convolved map, its parts, their sum and its difference from the harmonic method; and the relative
error of the power spectrum with its prediction from the parts (needs --with-spectra). --errors: predicted and achieved
errors over l_cut, one panel for each kind of map. Needs numpy, matplotlib.
"""
import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

MAPS = {"white": "white map, no power above lmax", "pixels": "independent pixels", "cmb": "CMB map"}
PAPERS_ALPHA = 5


def title_of(run):
    return (f"{MAPS[run['map']]}: nside {run['nside']}, FWHM {run['fwhm_arcmin']:g}', "
            f"$\\theta_{{cut}}$ {run['theta_cut_arcmin']:g}'")


def draw_run(run, power, error):
    spectra = {name: np.array(values) for name, values in run["spectra"].items()}
    spectra["sum"] = spectra["exact"] * (1 + spectra["relative_error"])
    degrees = np.arange(len(spectra["exact"]))
    kept = spectra["exact"] > 0
    for name, label, colour, width in (("exact", "all degrees by harmonics", "#BBBBBB", 4),
                                       ("harmonic_part", "harmonic part", "#D55E00", 0.6),
                                       ("compact_part", "compact part", "#009E73", 2),
                                       ("sum", "split: sum of the maps of both parts", "black", 0.6),
                                       ("difference", "split - all degrees", "#0072B2", 0.6)):
        shown = kept & (spectra[name] > 0)
        power.semilogy(degrees[shown], spectra[name][shown], color=colour, linewidth=width, label=label)
    power.set(xlabel="l", ylabel="$C_l$ of the convolved map")
    power.set_title(f"{title_of(run)}, l_cut {run['l_cut']}", fontsize=9)
    found, predicted = (np.abs(spectra[name]) for name in ("relative_error", "predicted_relative_error"))
    above = kept & (degrees > run["l_cut"])
    error.semilogy(degrees[above], predicted[above], color="#E69F00", linewidth=2, label="as the parts predict")
    error.semilogy(degrees[kept], found[kept], color="#0072B2", linewidth=0.5, label="achieved")
    error.set(xlabel="l", ylabel="relative error of $C_l$")
    for panel in (power, error):
        panel.axvline(run["l_cut"], color="gray", linestyle=":")
        panel.legend(fontsize=8)


def draw_spectra(runs, picture):
    figure, rows = plt.subplots(len(runs), 2, figsize=(11, 4.2 * len(runs)), layout="constrained", squeeze=False)
    for run, panels in zip(runs, rows):
        draw_run(run, *panels)
    figure.savefig(picture, dpi=80)


def draw_errors(runs, picture):
    kinds = [kind for kind in MAPS if any(run["map"] == kind for run in runs)]
    figure, panels = plt.subplots(1, len(kinds), figsize=(4.2 * len(kinds), 4), sharey=True, layout="constrained",
                                  squeeze=False)
    for panel, kind in zip(panels[0], kinds):
        own = sorted((run for run in runs if run["map"] == kind), key=lambda run: run["l_cut"])
        l_cut = [run["l_cut"] for run in own]
        predicted = [run["predicted"] for run in own]
        papers = [np.hypot(PAPERS_ALPHA * p["fit"], np.hypot(p["aliased"], p["rounding"])) for p in predicted]
        panel.semilogy(l_cut, papers, "--", color="gray", label=f"predicted, alpha = {PAPERS_ALPHA}")
        panel.semilogy(l_cut, [p["total"] for p in predicted], "*-", color="#D55E00",
                       label=f"predicted, alpha = {own[0]['alpha']:g}")
        panel.semilogy(l_cut, [run["achieved"]["map"] for run in own], "o-", color="#009E73", label="map")
        panel.semilogy(l_cut, [run["achieved"]["spectrum"] for run in own], "s-", color="#0072B2", markersize=4,
                       label="power spectrum")
        panel.set_title(title_of(own[0]), fontsize=7.5)
        panel.set_xlabel("l_cut")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("rms error over rms")
    panels[0][0].legend(fontsize=8)
    figure.savefig(picture, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--spectra")
    parser.add_argument("--errors")
    parser.add_argument("--error", type=float, default=1e-5)
    options = parser.parse_args()
    runs = [run for path in options.files for run in json.loads(Path(path).read_text(encoding="utf-8"))["runs"]]
    if options.spectra:
        known = {run["map"]: run for run in reversed(runs) if run["error_allowed"] == options.error and "spectra" in run}
        shown = [known[kind] for kind in ("pixels" if "pixels" in known else "white", "cmb") if kind in known]
        if not shown:
            parser.exit(1, f"no run with spectra and --error {options.error:g}\n")
        draw_spectra(shown, options.spectra)
    if options.errors:
        draw_errors(runs, options.errors)


if __name__ == "__main__":
    main()
