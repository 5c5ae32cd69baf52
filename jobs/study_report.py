# SPDX-License-Identifier: GPL-3.0-or-later
"""The results of a scaling study: medians of its reports, a page in Markdown, and the pictures of that page (study_plot)."""
import json
import statistics

import study_cases

# Stages that are not part of the computation.
APART = ("read", "write", "memory", "draw")
AT_MOST = 2  # agreement: at most so many standard deviations between prediction and measurement


class Measured:
    """A case: medians over its repeats, and its prediction."""

    def __init__(self, case, reports):
        self.case = case
        self.repeats = len(reports)
        stages = {name for report in reports for name in report["stages"]}
        self.stages = {name: statistics.median(report["stages"].get(name, {"max": 0})["max"] for report in reports)
                       for name in sorted(stages)}
        totals = [total_of(report) for report in reports]
        self.seconds, self.least, self.most = statistics.median(totals), min(totals), max(totals)
        plan = reports[-1].get("plan", {})
        self.predicted = plan.get("predicted_seconds")
        self.sigma = plan.get("predicted_uncertainty_seconds", 0)
        self.predicted_stages = plan.get("predicted_stages", {})
        self.sent_bytes = reports[-1].get("transform", {}).get("bytes_sent_per_transform")
        self.buffer_bytes = reports[-1].get("memory", {}).get("buffers_high_water_bytes")
        self.version = reports[-1].get("program", {})

    def computing_stages(self):
        return {name: seconds for name, seconds in self.stages.items() if name not in APART}

    def agrees(self):
        return self.predicted is not None and abs(self.seconds - self.predicted) <= AT_MOST * self.sigma


def total_of(report):
    """Returns the seconds of the computation, of the slowest rank in each stage."""
    return sum(entry["max"] for name, entry in report["stages"].items() if name not in APART)


def read_reports(folder):
    """Returns the measured cases, ascending."""
    found = {}
    for path in sorted((folder / "reports").glob("*.json")):
        case = study_cases.case_of_report(path)
        if case is not None and study_cases.is_report(path):
            found.setdefault(case, []).append(json.loads(path.read_text(encoding="utf-8")))
    return [Measured(case, reports) for case, reports in sorted(found.items())]


def cores(measured):
    return measured.case.ranks * measured.case.threads


def series(measured, key):
    """Returns lists of cases with the same key, ascending in cores."""
    groups = {}
    for one in measured:
        groups.setdefault(key(one.case), []).append(one)
    return {name: sorted(group, key=cores) for name, group in sorted(groups.items())}


def strong_series(measured):
    """Returns the same problem on increasing numbers of cores."""
    return {name: group for name, group in series(measured, lambda case: (case.method, case.nside, case.lmax)).items()
            if len({cores(one) for one in group}) > 1}


def weak_series(measured):
    """Returns equal numbers of pixels per core, on increasing numbers of cores."""
    groups = series(measured, lambda case: (case.method, case.ranks * case.threads / case.nside**2, case.lmax / case.nside))
    return {name: group for name, group in groups.items() if len({one.case.nside for one in group}) > 1}


def strong_efficiency(group):
    """Returns the efficiency of each member relative to the first."""
    first = group[0]
    return [first.seconds * cores(first) / (one.seconds * cores(one)) for one in group]


def weak_efficiency(group):
    """Returns weak efficiencies: work grows as nside^3 and cores as nside^2."""
    first = group[0]
    return [first.seconds / one.seconds * one.case.nside / first.case.nside for one in group]


def bytes_text(count):
    if count is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.3g} {unit}"
        count /= 1024
    return ""


def table_of(measured):
    efficiency = {one.case: value for group in strong_series(measured).values()
                  for one, value in zip(group, strong_efficiency(group))}
    lines = ["| method | nside | lmax | ranks x threads | seconds, median (least, most) of repeats | by stage | efficiency "
             "| predicted, s | measured / predicted | sent | buffers |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for one in measured:
        case = one.case
        stages = ", ".join(f"{name} {seconds:.2g}" for name, seconds in one.computing_stages().items())
        predicted = "" if one.predicted is None else f"{one.predicted:.3g} +- {one.sigma:.2g}"
        ratio = "" if not one.predicted else f"{one.seconds / one.predicted:.2f}{'' if one.agrees() else ' (outside)'}"
        share = f"{efficiency[case]:.2f}" if case in efficiency else ""
        lines.append(f"| {case.method} | {case.nside} | {case.lmax} | {case.ranks} x {case.threads} | {one.seconds:.3g} "
                     f"({one.least:.3g}, {one.most:.3g}) of {one.repeats} | {stages} | {share} | {predicted} | {ratio} "
                     f"| {bytes_text(one.sent_bytes)} | {bytes_text(one.buffer_bytes)} |")
    return lines


def weak_table_of(measured):
    groups = weak_series(measured)
    if not groups:
        return []
    lines = ["", "Weak scaling: as many pixels on every core. The Legendre stage grows as nside^3 and the cores as nside^2, so "
             "the ideal is seconds that grow as nside.", "", "| method | nside | ranks x threads | seconds | efficiency |",
             "| --- | --- | --- | --- | --- |"]
    for group in groups.values():
        for one, value in zip(group, weak_efficiency(group)):
            case = one.case
            lines.append(f"| {case.method} | {case.nside} | {case.ranks} x {case.threads} | {one.seconds:.3g} | {value:.2f} |")
    return lines


def verdict(measured):
    predicted = [one for one in measured if one.predicted is not None]
    agreeing = sum(one.agrees() for one in predicted)
    return (f"{agreeing} of {len(predicted)} cases were measured within {AT_MOST} standard deviations of what was predicted."
            if predicted else "No report holds a prediction.")


def pictures_of(folder, measured):
    """Returns the lines of the page; without matplotlib it says so."""
    try:
        import study_plot
    except ImportError as missing:
        return ["", f"No pictures: {missing}. `jobs/scaling_study {folder} --draw-only` draws them where there is matplotlib."]
    return [line for name, words in study_plot.draw(folder, measured).items() for line in ("", f"![{words}]({name})", "", words)]


def write(folder, measured):
    """Writes FOLDER/report.md and its pictures; returns a message about them."""
    page = ["# How ringweave scales here", "",
            f"Program: {', '.join(f'{key} {value}' for key, value in measured[0].version.items() if isinstance(value, str))[:300]}.",
            f"Seconds of the slowest rank in each stage, without {', '.join(APART)}. {verdict(measured)}", ""]
    page += table_of(measured) + weak_table_of(measured) + pictures_of(folder, measured)
    path = folder / "report.md"
    path.write_text("\n".join(page) + "\n", encoding="utf-8")
    return f"{path}: {len(measured)} cases; {verdict(measured)}"
