# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a scaling study as in Figures 11 to 13 of Szydlarski et al. (2012): seconds by size; seconds by stage and ranks;
efficiency; and the model with the measurements."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import study_series

STAGES = {"legendre": "#0072B2", "exchange": "#D55E00", "ring_fft": "#E69F00", "stencil": "#009E73", "sectors": "#56B4E9",
          "modes": "#F0E442", "halo": "#CC79A7", "upload": "#999999", "download": "#666666"}
OTHER = "#BBBBBB"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000")


def save(figure, folder, name):
    figure.savefig(folder / name, dpi=90)
    pyplot.close(figure)


def title_of(name):
    method, nside, lmax = name
    return f"{method}, nside {nside}, lmax {lmax}"


def label_of(one):
    return f"{one.case.ranks} x {one.case.threads}"


def mark(axis, values):
    """Sets ticks on a logarithmic axis at the measured values only."""
    axis.set_ticks(sorted(set(values)), labels=[str(value) for value in sorted(set(values))])
    axis.set_ticks([], minor=True)


def panels(n):
    columns = min(n, 3)
    rows = -(-n // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(4.2 * columns, 3.6 * rows), squeeze=False, layout="constrained")
    for spare in axes.flat[n:]:
        spare.axis("off")
    return figure, list(axes.flat[:n])


def draw_stages(folder, groups):
    """Figures 12 and 13: seconds by stage, over ranks."""
    figure, axes = panels(len(groups))
    for panel, (name, group) in zip(axes, groups.items()):
        below = [0.0] * len(group)
        stages = {stage for one in group for stage in one.computing_stages()}
        for stage in [*(s for s in STAGES if s in stages), *sorted(stages - set(STAGES))]:
            heights = [one.computing_stages().get(stage, 0) for one in group]
            panel.bar([label_of(one) for one in group], heights, bottom=below, color=STAGES.get(stage, OTHER), label=stage)
            below = [low + height for low, height in zip(below, heights)]
        panel.set_title(title_of(name), fontsize=9)
        panel.set(xlabel="ranks x threads", ylim=(0, 1.25 * max(below)))
        panel.legend(fontsize=7, ncols=2)
    axes[0].set_ylabel("seconds")
    save(figure, folder, "stages.png")


def draw_sizes(folder, measured):
    """Figure 11: seconds over size, on the same cores."""
    groups = {name: group for name, group in study_series.series(
        measured, lambda case: (case.method, case.ranks, case.threads)).items() if len({one.case.nside for one in group}) > 1}
    if not groups:
        return False
    figure, (panel,) = panels(1)
    for colour, ((method, ranks, threads), group) in zip(COLOURS * len(groups), groups.items()):
        group = sorted(group, key=lambda one: one.case.nside)
        panel.loglog([one.case.nside for one in group], [one.seconds for one in group], "o-", color=colour, markersize=4,
                     label=f"{method}, {ranks} x {threads}")
    panel.set(xlabel="nside", ylabel="seconds")
    mark(panel.xaxis, [one.case.nside for group in groups.values() for one in group])
    panel.grid(alpha=0.3)
    panel.legend(fontsize=7)
    save(figure, folder, "sizes.png")
    return True


def draw_efficiency(folder, strong, weak):
    kinds = [(groups, values, title) for groups, values, title in (
        (strong, study_series.strong_efficiency, "the same problem"),
        (weak, study_series.weak_efficiency, "as many pixels on every core")) if groups]
    figure, axes = panels(len(kinds))
    for panel, (groups, values, title) in zip(axes, kinds):
        for colour, (name, group) in zip(COLOURS * len(groups), groups.items()):
            label = title_of(name) if groups is strong else name[0]
            panel.semilogx([study_series.cores(one) for one in group], values(group), "o-", color=colour, markersize=4,
                           label=label)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set(xlabel="ranks x threads", ylabel="efficiency", ylim=(0, 1.3), title=title)
        mark(panel.xaxis, [study_series.cores(one) for group in groups.values() for one in group])
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7)
    save(figure, folder, "efficiency.png")


def draw_model(folder, groups):
    """Draws predictions with their standard deviation, measurements with minimum and maximum."""
    figure, axes = panels(len(groups))
    for panel, (name, group) in zip(axes, groups.items()):
        x = [study_series.cores(one) for one in group]
        predicted = [one for one in group if one.predicted is not None]
        at = [study_series.cores(one) for one in predicted]
        panel.fill_between(at, [max(one.predicted - one.sigma, 1e-9) for one in predicted],
                           [one.predicted + one.sigma for one in predicted], color="#0072B2", alpha=0.25, linewidth=0)
        panel.plot(at, [one.predicted for one in predicted], "-", color="#0072B2", label="model, +- one sigma")
        for stage, colour in STAGES.items():
            if any(stage in one.predicted_stages for one in predicted):
                panel.plot(at, [one.predicted_stages.get(stage, 0) or None for one in predicted], "_--", color=colour, linewidth=1)
                panel.plot(x, [one.stages.get(stage, 0) or None for one in group], "s", color=colour, markersize=3, label=stage)
        bars = [[one.seconds - one.least for one in group], [one.most - one.seconds for one in group]]
        panel.errorbar(x, [one.seconds for one in group], yerr=bars, fmt="o", color="black", markersize=4, label="measured")
        panel.set(xscale="log", yscale="log", xlabel="ranks x threads")
        mark(panel.xaxis, x)
        panel.set_title(title_of(name), fontsize=9)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7)
    axes[0].set_ylabel("seconds")
    save(figure, folder, "model.png")


def draw(folder, measured):
    """Writes what there is to draw; words by name of the picture."""
    strong = study_series.strong_series(measured)
    weak = study_series.weak_series(measured)
    groups = study_series.series(measured, lambda case: (case.method, case.nside, case.lmax))
    words = {}
    draw_stages(folder, groups)
    words["stages.png"] = "Seconds by stage over ranks x threads."
    draw_model(folder, groups)
    words["model.png"] = "The model (lines; dashed and bars by stage) and the measurement (points; bars from minimum to maximum)."
    if strong or weak:
        draw_efficiency(folder, strong, weak)
        words["efficiency.png"] = "Efficiency over ranks x threads, relative to the fewest."
    if draw_sizes(folder, measured):
        words["sizes.png"] = "Seconds over the size of the map."
    return words
