#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the parts of a split kernel: kernel_split.py PICTURE.png [--program ringweave] [options of `ringweave split`]

Above: least l_cut for every support, and the kernel and its two parts over l; below: the compact part over theta, and
the relative error of the parts' sum over l. After Figures 3 to 5 of Sutter, Wandelt & Elsner (2012).
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def searched(program, options):
    """Runs `ringweave split`; returns its result."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "split.json"
        subprocess.run([program, "split", *options, "--json", str(path)], check=True)
        return json.loads(path.read_text())


def relative_error(split):
    """Returns the degrees whose K_l is not 0, and |1 - sum of the parts / K_l| there."""
    kernel = np.array(split["kernel"])
    total = np.array(split["compact"])[:len(kernel)]
    harmonic = split["harmonic"]
    total[:len(harmonic)] += harmonic
    degrees = np.flatnonzero(kernel)
    return degrees, np.abs(1 - total[degrees] / kernel[degrees])


def draw(split, picture):
    figure, ((scan, parts), (profile, error)) = plt.subplots(2, 2, figsize=(11, 8), constrained_layout=True)
    found = [candidate for candidate in split["scan"] if candidate["found"]]
    support = [candidate["theta_cut_arcmin"] for candidate in found]
    scan.plot(support, [candidate["l_cut"] for candidate in found], "o-", label="least $l_{cut}$")
    scan.set(xlabel="support, arcmin", ylabel="$l_{cut}$", ylim=(0, None))
    seconds = scan.twinx()
    seconds.plot(support, [candidate["seconds"] for candidate in found], color="tab:red")
    seconds.set(ylim=(0, None))
    seconds.set_ylabel("predicted seconds", color="tab:red")
    degrees = np.arange(len(split["kernel"]))
    for values, name, style in ((split["kernel"], "kernel", "k-"), (split["compact"], "compact part", "C1-"),
                                (split["harmonic"], "harmonic part", "C0-")):
        parts.semilogy(degrees[:len(values)], np.abs(values), style, linewidth=1, label=name)
    parts.set(xlabel="l", ylabel="$|K_l|$")
    parts.legend()
    theta, value = np.array(split["compact_profile"]).T
    profile.plot(theta, value / np.abs(value).max(), "C1")
    profile.set_yscale("symlog", linthresh=1e-6)
    profile.axvline(split["theta_cut_arcmin"], color="gray", linestyle=":")
    profile.set(xlabel="theta, arcmin", ylabel="compact part over its largest value")
    degrees, relative = relative_error(split)
    error.semilogy(degrees, relative, "C3-", linewidth=0.7)
    error.axvline(split["l_cut"], color="gray", linestyle=":")
    error.set(xlabel="l", ylabel="|1 - sum of the parts / $K_l$|")
    for axis in (scan, parts, profile, error):
        axis.grid(alpha=0.3)
    figure.savefig(picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", help="PNG to write")
    parser.add_argument("--program", default="ringweave")
    arguments, options = parser.parse_known_args()
    split = searched(arguments.program, options)
    if "harmonic" not in split:
        parser.exit(1, f"no picture: {split['reason']}\n")
    draw(split, arguments.picture)


if __name__ == "__main__":
    main()
