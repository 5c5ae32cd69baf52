# SPDX-License-Identifier: GPL-3.0-or-later
"""Measured cases of a scaling study: medians of its reports, series of cases, and their efficiency."""
import json
import statistics

import study_cases

# Stages that are not part of the computation.
APART = ("read", "write", "memory", "draw", "split_search")
AT_MOST = 2  # standard deviations between prediction and measurement that count as agreement


class Measured:
    """A case: medians over its repeats, and what was predicted for it."""

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
    """Seconds of the computation, of the slowest rank in each stage."""
    return sum(entry["max"] for name, entry in report["stages"].items() if name not in APART)


def read_reports(folder):
    """Measured by case, ascending."""
    found = {}
    for path in sorted((folder / "reports").glob("*.json")):
        case = study_cases.case_of_report(path)
        if case is not None and study_cases.is_report(path):
            found.setdefault(case, []).append(json.loads(path.read_text(encoding="utf-8")))
    return [Measured(case, reports) for case, reports in sorted(found.items())]


def cores(measured):
    return measured.case.ranks * measured.case.threads


def series(measured, key):
    """Lists of what has one key, ascending in cores."""
    groups = {}
    for one in measured:
        groups.setdefault(key(one.case), []).append(one)
    return {name: sorted(group, key=cores) for name, group in sorted(groups.items())}


def strong_series(measured):
    """The same problem on more and more cores."""
    return {name: group for name, group in series(measured, lambda case: (case.method, case.nside, case.lmax)).items()
            if len({cores(one) for one in group}) > 1}


def weak_series(measured):
    """As many pixels on every core, on more and more cores."""
    groups = series(measured, lambda case: (case.method, case.ranks * case.threads / case.nside**2, case.lmax / case.nside))
    return {name: group for name, group in groups.items() if len({one.case.nside for one in group}) > 1}


def strong_efficiency(group):
    """Of each member beside the first."""
    first = group[0]
    return [first.seconds * cores(first) / (one.seconds * cores(one)) for one in group]


def weak_efficiency(group):
    """Work grows as nside^3 and cores as nside^2."""
    first = group[0]
    return [first.seconds / one.seconds * one.case.nside / first.case.nside for one in group]
