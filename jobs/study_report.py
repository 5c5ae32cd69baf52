# SPDX-License-Identifier: GPL-3.0-or-later
"""Report of a scaling study: a page in Markdown with tables of the measured cases and the pictures of study_plot."""
import study_series


def bytes_text(count):
    if count is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.3g} {unit}"
        count /= 1024
    return ""


def table_of(measured):
    efficiency = {one.case: value for group in study_series.strong_series(measured).values()
                  for one, value in zip(group, study_series.strong_efficiency(group))}
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
    groups = study_series.weak_series(measured)
    if not groups:
        return []
    lines = ["", "Weak scaling: as many pixels on every core. The Legendre stage grows as nside^3 and the cores as nside^2, so "
             "the ideal is seconds that grow as nside.", "", "| method | nside | ranks x threads | seconds | efficiency |",
             "| --- | --- | --- | --- | --- |"]
    for group in groups.values():
        for one, value in zip(group, study_series.weak_efficiency(group)):
            case = one.case
            lines.append(f"| {case.method} | {case.nside} | {case.ranks} x {case.threads} | {one.seconds:.3g} | {value:.2f} |")
    return lines


def verdict(measured):
    predicted = [one for one in measured if one.predicted is not None]
    agreeing = sum(one.agrees() for one in predicted)
    return (f"{agreeing} of {len(predicted)} cases were measured within {study_series.AT_MOST} standard deviations of what was predicted."
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
            f"Seconds of the slowest rank in each stage, without {', '.join(study_series.APART)}. {verdict(measured)}", ""]
    page += table_of(measured) + weak_table_of(measured) + pictures_of(folder, measured)
    path = folder / "report.md"
    path.write_text("\n".join(page) + "\n", encoding="utf-8")
    return f"{path}: {len(measured)} cases; {verdict(measured)}"
