#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Average two vortices over circles: gyroaverage.py [PICTURE.png] [--rho R,R,R] [--nodes 128] [--program ringweave]

  1. Writes a potential on equispaced nodes to an HDF5 file: two vortices and eddies of many sizes, zero at the edge.
  2. `ringweave gyroaverage` averages it over circles of three radii.
  3. Reads the averages, prints what is left of the largest value and of the steepest slope, and draws them.

Averages take away what is smaller than the circles: the eddies first, then the vortices. Needs numpy and h5py, and
matplotlib where a picture is given.
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import h5py
import numpy as np


def write_fields(path, fields, x, y):
    """Writes fields, [y][x] or [number][y][x], with the coordinates of their nodes."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset("f", data=fields)
        axes = {"number": np.arange(len(fields), dtype=float), "y": y, "x": x}
        for i, name in enumerate(list(axes)[-data.ndim:]):
            file[name] = axes[name]
            file[name].make_scale(name)
            data.dims[i].attach_scale(file[name])


def averages(program, fields, x, y, radii, *options):
    """Returns the averages of fields over every radius, [rho][y][x] or [rho][number][y][x]."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "fields.h5", Path(folder) / "averages.h5"
        write_fields(before, fields, x, y)
        rho = ",".join(repr(float(radius)) for radius in radii)
        subprocess.run([program, "gyroaverage", before, after, "--rho", rho, *map(str, options)], check=True,
                       stdout=subprocess.DEVNULL)
        with h5py.File(after) as file:
            return file["f"][:]


def vortices(x, y):
    """Returns a potential, [y][x], on the square from -1 to 1."""
    random = np.random.default_rng(5)
    x, y = np.meshgrid(x, y)
    eddies = np.zeros_like(x)
    for kx, ky in random.uniform(-40, 40, (60, 2)):
        eddies += np.cos(kx * x + ky * y + random.uniform(0, 2 * np.pi)) / (1 + np.hypot(kx, ky) / 10)
    positive = np.exp(-20 * ((x + 0.35)**2 + (y - 0.1)**2))
    negative = np.exp(-20 * ((x - 0.35)**2 + (y + 0.1)**2))
    return (positive - negative + 0.08 * eddies) * ((1 - x**2) * (1 - y**2))**2


def draw(picture, field, averaged, radii):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(radii) + 1, figsize=(3.1 * len(radii) + 3.4, 3.1), layout="constrained",
                                  sharey=True)
    largest = np.abs(field).max()
    names = ["potential", *(f"rho = {radius:g}" for radius in radii)]
    for panel, values, name, radius in zip(panels, (field, *averaged), names, (0, *radii)):
        image = panel.imshow(values, origin="lower", extent=(-1, 1, -1, 1), vmin=-largest, vmax=largest,
                             cmap=plt.get_cmap("RdBu_r", 41))
        panel.set_title(name)
        if radius > 0:
            panel.add_patch(plt.Circle((-0.35, 0.1), radius, fill=False, linestyle=":"))
    figure.colorbar(image, ax=panels, shrink=0.8)
    figure.savefig(picture, dpi=80, pil_kwargs={"optimize": True})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", help="PNG to write")
    parser.add_argument("--rho", default="0.05,0.2,0.5", help="radii")
    parser.add_argument("--nodes", type=int, default=128, help="along each axis")
    parser.add_argument("--program", default="ringweave")
    options = parser.parse_args()
    radii = [float(radius) for radius in options.rho.split(",")]
    x = np.linspace(-1, 1, options.nodes)
    field = vortices(x, x)
    averaged = averages(options.program, field, x, x, radii)

    def slope(values):
        return np.hypot(*np.gradient(values, x[1] - x[0])).max()

    for radius, values in zip(radii, averaged):
        print(f"rho {radius:g}: {100 * np.abs(values).max() / np.abs(field).max():.0f} % of the largest value left, "
              f"{100 * slope(values) / slope(field):.0f} % of the steepest slope")
    if options.picture:
        draw(options.picture, field, averaged, radii)


if __name__ == "__main__":
    main()
