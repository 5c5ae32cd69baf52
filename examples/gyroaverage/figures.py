#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the figures of docs/gyroaveraging.md: figures.py FOLDER [--only NAME,...] [--program ringweave]
[--times FILE.jsonl]

  idea     a field, circles about two targets, and their averages
  gallery  the four functions of the accuracy table and their averages over three radii
  errors   errors of the four methods on the four functions over the number of nodes, also printed
  points   errors of 8, 16 and 32 points on the circle of a spline, over the radius, also printed
  times    only with --times, measured by bench/compare_gyro.py (cases sets, csr and dct for several N): seconds of sets
           of three radii, and beside those of numpy and scipy; errors on runge over seconds

Averages are those of `ringweave gyroaverage`. Exact ones are computed here: Gauss-Legendre quadrature of arcs that are
broken where they cross the edge and where the function is not smooth. All figures take about two minutes. Needs numpy,
scipy, h5py and matplotlib. After Bassik (2021), Sect. 5.
"""
import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from gyroaverage import averages
from scipy.interpolate import RectBivariateSpline

RADII = (0.0625, 0.46875, 0.875)
METHODS = ("bilinear", "bicubic", "dct", "chebyshev")
SIZES = (16, 24, 32, 48, 64, 96, 128)
COLOURS = ("#0072B2", "#D55E00", "#009E73")
TITLES = {
    "bell": "bell: smooth, nearly 0 at the edge",
    "runge": "runge: smooth, steep, 0 at the edge",
    "horn": "horn: a point like sqrt(d), a jump at the edge",
    "ridge": "ridge: kinks, 0 at the edge",
}


def bell(x, y):
    return np.exp(-22 * (x**2 + y**2))


def runge(x, y):
    return (1 - x**2) * (1 - y**2) / (1 + 25 * ((x - 0.2)**2 + (y + 0.5)**2))


def horn(x, y):
    return np.sqrt(np.hypot(x - 0.2, y + 0.5))


def ridge(x, y):
    from_ridge = np.abs(x - y)
    return (1 - x**2) * (1 - y**2) * np.maximum(0, 0.75 - from_ridge)**4 * (4 * from_ridge + 1)


FUNCTIONS = {"bell": bell, "runge": runge, "horn": horn, "ridge": ridge}


def equispaced(n):
    return np.linspace(-1, 1, n)


def chebyshev(n):
    return -np.cos(np.pi * np.arange(n) / (n - 1))


def angles_of(ratio, angle):
    """Returns angle(ratio), 0 where a circle does not get there. Circles that touch do not cross."""
    crosses = np.abs(ratio) < 1 - 2e-15
    return np.where(crosses, angle(np.where(crosses, ratio, 0)), 0)


def breaks_of(name, x, y, rho):
    """Returns the angles where the function is not smooth on circles about points, [point][angle]."""
    breaks = [np.full_like(x, k * np.pi / 8) for k in range(16)]
    for edge in (-1, 1):
        to_x, to_y = angles_of((edge - x) / rho, np.arccos), angles_of((edge - y) / rho, np.arcsin)
        breaks += [to_x, -to_x, to_y, np.pi - to_y]
    if name == "horn":  # its point: finer and finer arcs about this direction
        direction = np.arctan2(-0.5 - y, 0.2 - x)
        breaks += [direction + away for step in 0.3 / 4.0**np.arange(11) for away in (-step, step)] + [direction]
    if name == "ridge":
        for difference in (-0.75, 0, 0.75):
            away = angles_of((difference - x + y) / (np.sqrt(2) * rho), np.arccos)
            breaks += [away - np.pi / 4, -away - np.pi / 4]
    return np.sort(np.mod(np.stack(breaks, -1), 2 * np.pi), -1)


def exact_of_points(name, x, y, rho):
    """Returns averages about points, [point]."""
    node, weight = np.polynomial.legendre.leggauss(16)
    breaks = breaks_of(name, x, y, rho)
    ends = np.concatenate([breaks[:, 1:], breaks[:, :1] + 2 * np.pi], -1)
    half, middle = (ends - breaks) / 2, (ends + breaks) / 2
    x, y = np.broadcast_to(x[:, None], half.shape), np.broadcast_to(y[:, None], half.shape)
    counts = ((half > 0) & (np.abs(x + rho * np.cos(middle)) <= 1) & (np.abs(y + rho * np.sin(middle)) <= 1))
    t = middle[counts][:, None] + half[counts][:, None] * node
    values = FUNCTIONS[name](x[counts][:, None] + rho * np.cos(t), y[counts][:, None] + rho * np.sin(t))
    sums = np.zeros(half.shape)
    sums[counts] = half[counts] * (values @ weight)
    return sums.sum(-1) / (2 * np.pi)


def exact(name, nodes, rho):
    """Returns averages about nodes, [y][x]; some rows at a time."""
    rows = []
    for y in np.array_split(nodes, max(1, len(nodes)**2 // 1000)):
        grid = np.meshgrid(nodes, y)
        rows.append(exact_of_points(name, grid[0].ravel(), grid[1].ravel(), rho).reshape(len(y), len(nodes)))
    return np.concatenate(rows)


def error_of(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def sampled(names, nodes):
    return np.array([FUNCTIONS[name](nodes[None, :], nodes[:, None]) for name in names])


def show(panel, values, **options):
    """Draws a plane in few colours, which make a small file. Pixels have the nodes in their middles."""
    end = 1 + 1 / (len(values) - 1)
    image = panel.imshow(values, origin="lower", extent=(-end, end, -end, end), cmap=plt.get_cmap("viridis", 40),
                         **options)
    panel.set(xlim=(-1, 1), ylim=(-1, 1), xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    return image


def save(figure, folder, name):
    path = Path(folder) / f"gyro_{name}.png"
    figure.savefig(path, dpi=80, pil_kwargs={"optimize": True})
    plt.close(figure)
    print(f"{path}: {path.stat().st_size} bytes")


def draw_idea(options):
    nodes, rho = equispaced(128), 0.45
    field = (np.exp(-12 * ((nodes[None, :] + 0.3)**2 + (nodes[:, None] - 0.2)**2)) +
             0.6 * np.exp(-30 * ((nodes[None, :] - 0.55)**2 + (nodes[:, None] + 0.35)**2)))
    averaged = averages(options.program, field, nodes, nodes, [rho])[0]
    spline = RectBivariateSpline(nodes, nodes, field)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    t = np.linspace(0, 2 * np.pi, 721)
    middle.set(xlabel="t / pi", ylabel="f on the circle", title="on the circle: average dashed", xlim=(0, 2))
    # Targets are nodes: the second one is near the edge.
    for (i, j), colour, name in (((45, 82), "white", "A"), ((110, 32), "#FF9933", "B")):
        x, y = nodes[i] + rho * np.cos(t), nodes[j] + rho * np.sin(t)
        inside = (np.abs(x) <= 1) & (np.abs(y) <= 1)
        left.plot(np.where(inside, x, np.nan), y, color=colour)
        left.plot(np.where(inside, np.nan, x), y, ":", color=colour, clip_on=False)
        for panel in (left, right):
            panel.plot(nodes[i], nodes[j], "o", color=colour, markeredgecolor="black")
            panel.text(nodes[i] + 0.05, nodes[j] + 0.05, name, color=colour)
        on_circle = np.where(inside, spline(np.clip(y, -1, 1), np.clip(x, -1, 1), grid=False), 0)
        line = "black" if name == "A" else colour
        middle.plot(t / np.pi, on_circle, color=line, label=f"{name}: {averaged[j, i]:.4f}")
        middle.axhline(averaged[j, i], color=line, linestyle="--", linewidth=1)
    middle.legend(title="average", frameon=False)
    left.set_title("field f")
    right.set_title(f"averages, rho = {rho:g}")
    for panel, values in ((left, field), (right, averaged)):
        figure.colorbar(show(panel, values, vmin=0), ax=panel, shrink=0.8)
    save(figure, options.folder, "idea")


def draw_gallery(options):
    nodes = equispaced(128)
    fields = sampled(FUNCTIONS, nodes)
    averaged = averages(options.program, fields, nodes, nodes, RADII)
    figure, rows = plt.subplots(4, 4, figsize=(9, 9), layout="constrained", sharex=True, sharey=True)
    for i, (name, row) in enumerate(zip(FUNCTIONS, rows)):
        for panel, values, radius in zip(row, (fields[i], *averaged[:, i]), (0, *RADII)):
            show(panel, values)
            panel.set_title(f"{f'rho {radius:g}' if radius else name}: up to {values.max():.2g}", fontsize=9)
    save(figure, options.folder, "gallery")


def errors_of(options, method, n, expected, *more):
    """Returns the errors of a method, {(function, radius): error}."""
    nodes = chebyshev(n) if method == "chebyshev" else equispaced(n)
    if method == "chebyshev":
        more = (*more, "--targets", "equispaced")
    found = averages(options.program, sampled(FUNCTIONS, nodes), nodes, nodes, RADII, "--method", method, *more)
    return {(name, rho): error_of(found[r, i], expected[name, rho])
            for r, rho in enumerate(RADII) for i, name in enumerate(FUNCTIONS)}


def draw_errors(options):
    errors = {}
    for n in SIZES:
        expected = {(name, rho): exact(name, equispaced(n), rho) for name in FUNCTIONS for rho in RADII}
        for method in METHODS:
            padding = ("--padding", n // 2) if method == "dct" else ()
            errors[method, n] = errors_of(options, method, n, expected, *padding)
            for name in FUNCTIONS:
                print(f"{name:6} {method:10} N {n:4}", *(f"{errors[method, n][name, rho]:.2e}" for rho in RADII))
    figure, rows = plt.subplots(4, 4, figsize=(10.5, 10), layout="constrained", sharex=True, sharey=True)
    sizes = np.array(SIZES)
    for method, row in zip(METHODS, rows):
        row[0].set_ylabel(method)
        for name, panel in zip(FUNCTIONS, row):
            for rho, colour, mark in zip(RADII, COLOURS, "o^s"):
                panel.loglog(sizes, [errors[method, n][name, rho] for n in SIZES], mark + "-", color=colour,
                             markersize=4, linewidth=1, label=f"rho {rho:g}")
            order = {"bilinear": 2, "bicubic": 4}.get(method)
            if order:
                first = 2 * errors[method, SIZES[0]][name, RADII[0]]
                panel.loglog(sizes, first * (sizes / sizes[0])**-float(order), ":", color="black", linewidth=1,
                             label=f"order {order}")
            panel.grid(alpha=0.3)
    for name, panel in zip(FUNCTIONS, rows[0]):
        panel.set_title(TITLES[name].replace(": ", "\n", 1), fontsize=9)
    rows[0, 0].set(ylim=(1e-16, 2), xticks=(16, 32, 64, 128), xticklabels=("16", "32", "64", "128"))
    rows[0, 0].minorticks_off()
    for panel in rows[-1]:
        panel.set_xlabel("N")
    for row in rows[:2]:
        row[0].legend(fontsize=8, frameon=False)
    save(figure, options.folder, "errors")


def timed(rows, case, **wanted):
    """Returns the rows of a case that have the wanted values, by ascending n."""
    found = [row for row in rows if row["case"] == case and all(row[key] == value for key, value in wanted.items())]
    return sorted(found, key=lambda row: row["n"])


def draw_sets(panel, rows):
    for method, colour in zip(METHODS, (*COLOURS, "black")):
        sets = timed(rows, "sets", method=method)
        seconds = [row["median"]["pairs"] for row in sets]
        panel.loglog([row["n"] for row in sets], seconds, "o-", color=colour, label=method)
        theirs = [(row["n"], 1 / row["author_sets_per_second"]["20 cores"]) for row in sets
                  if "20 cores" in row["author_sets_per_second"]]
        panel.loglog(*zip(*theirs), "x:", color=colour)
    panel.set(title="3 radii, 3 fields; dotted: the source, 20 cores", xlabel="N", ylabel="seconds")


def draw_peers(panel, rows):
    names = {"ours": "", "csr": ", sparse matrix (scipy)", "numpy_fft": ", padded FFT (numpy)",
             "scipy_fft": ", padded FFT (scipy)", "scipy_dct": ", cosine transform (scipy)"}
    for case, method, mark in (("csr", "bicubic", "o"), ("dct", "dct", "s")):
        one_field = timed(rows, case, method=method, fields=1)
        for (name, label), colour in zip(names.items(), ("black", *COLOURS, "#CC79A7")):
            points = [(row["n"], row["median"][name]) for row in one_field if name in row["median"]]
            if points:
                panel.loglog(*zip(*points), mark + "-", color=colour, markersize=4, label=method + label)
    panel.set(title="1 radius, 1 field", xlabel="N", ylabel="seconds", ylim=(None, 30))  # room for the legend


def draw_error_over_time(panel, rows, options):
    sets = [row for method in METHODS for row in timed(rows, "sets", method=method) if row["n"] <= 128]
    expected = {n: {(name, rho): exact(name, equispaced(n), rho) for name in FUNCTIONS for rho in RADII}
                for n in {row["n"] for row in sets}}
    for method, colour in zip(METHODS, (*COLOURS, "black")):
        points = []
        for row in timed(sets, "sets", method=method):
            errors = errors_of(options, method, row["n"], expected[row["n"]])
            points.append((row["median"]["pairs"], max(errors["runge", rho] for rho in RADII)))
            panel.annotate(row["n"], points[-1], textcoords="offset points", xytext=(4, 3), fontsize=7)
        if points:
            panel.loglog(*zip(*points), "o-", color=colour, label=method)
    panel.set(title="runge: error over the seconds of 3 radii", xlabel="seconds", ylabel="error")


def draw_times(options):
    rows = [json.loads(line) for line in Path(options.times).read_text(encoding="utf-8").splitlines()]
    figure, panels = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    draw_sets(panels[0], rows)
    draw_peers(panels[1], rows)
    draw_error_over_time(panels[2], rows, options)
    for panel in panels:
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    for panel in panels[:2]:
        sizes = sorted({round(x) for line in panel.lines for x in line.get_xdata()})
        panel.set(xticks=sizes, xticklabels=sizes)
        panel.minorticks_off()
    save(figure, options.folder, "times")


def by_points(spline, nodes, rho, n_points):
    """Returns averages of n_points on the circle, of a field that is 0 outside."""
    total = np.zeros((len(nodes), len(nodes)))
    for t in 2 * np.pi * np.arange(n_points) / n_points:
        x, y = nodes + rho * np.cos(t), nodes + rho * np.sin(t)
        values = spline(np.clip(y, -1, 1), np.clip(x, -1, 1))
        total += np.where((np.abs(y) <= 1)[:, None] & (np.abs(x) <= 1)[None, :], values, 0)
    return total / n_points


def draw_points(options):
    nodes, names = equispaced(64), ("bell", "runge")
    radii = np.unique([*RADII, *np.linspace(0.03, 0.9, 16)])
    fields = sampled(names, nodes)
    averaged = averages(options.program, fields, nodes, nodes, radii)
    figure, panels = plt.subplots(2, 2, figsize=(9, 7.2), layout="constrained")
    for i, (name, panel) in enumerate(zip(names, panels[0])):
        spline = RectBivariateSpline(nodes, nodes, fields[i])
        expected = [exact(name, nodes, rho) for rho in radii]
        curves = {f"{n} points of a spline": [by_points(spline, nodes, rho, n) for rho in radii] for n in (8, 16, 32)}
        curves["bicubic, exact arcs"] = averaged[:, i]
        for (label, found), colour in zip(curves.items(), (*COLOURS, "black")):
            errors = [error_of(*pair) for pair in zip(found, expected)]
            panel.semilogy(radii, errors, ".-", color=colour, label=label)
            print(f"{name:6} {label:22}", *(f"{errors[np.searchsorted(radii, rho)]:.2e}" for rho in RADII))
        panel.set(xlabel="rho", title=f"largest error, {name}, N = 64")
        panel.grid(alpha=0.3)
    panels[0, 0].legend(fontsize=8)
    at = np.searchsorted(radii, RADII[2])
    spline = RectBivariateSpline(nodes, nodes, fields[0])
    maps = {"8 points of a spline": by_points(spline, nodes, RADII[2], 8), "exact arcs": averaged[at, 0]}
    largest = max(values.max() for values in maps.values())
    for panel, (name, values) in zip(panels[1], maps.items()):
        image = show(panel, values, vmin=0, vmax=largest)
        panel.set_title(f"bell, rho = {RADII[2]:g}: {name}")
    figure.colorbar(image, ax=panels[1], shrink=0.8)
    save(figure, options.folder, "points")


FIGURES = {"idea": draw_idea, "gallery": draw_gallery, "errors": draw_errors, "points": draw_points,
           "times": draw_times}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where gyro_NAME.png are written")
    parser.add_argument("--only", help="figures, separated by commas. Default: all, times where they are given")
    parser.add_argument("--program", default="ringweave")
    parser.add_argument("--times", help="JSON lines of bench/compare_gyro.py")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [name for name in FIGURES if name != "times" or options.times]
    if not set(names) <= set(FIGURES) or ("times" in names and not options.times):
        parser.error(f"figures are {', '.join(FIGURES)}, and times needs --times")
    for name in names:
        FIGURES[name](options)


if __name__ == "__main__":
    main()
