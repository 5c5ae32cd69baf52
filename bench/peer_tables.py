# SPDX-License-Identifier: GPL-3.0-or-later
"""Markdown tables of the results of compare_peers.py."""
import math

FAMILIES = ("ducc0", "ducc0 theta_interpol", "SHTns", "healpy")


def rows_of(document):
    for case in document["cases"]:
        for direction, measured in case["directions"].items():
            yield case, direction, measured


def fastest(measured, family):
    """Of several ways of a peer (a batch in one call or map by map), only the faster one counts."""
    ways = [peer for peer in measured["peers"].values() if peer["family"] == family]
    return min(ways, key=lambda peer: peer["seconds"]) if ways else None


def title(case):
    about = case["about"]
    kind, number = about["grid"].split(":")
    words = ["Gauss-Legendre" if kind == "gauss" else f"nside {number}", f"lmax {about['lmax']}"]
    if about["fields"]:
        words.append("T+E+B")
    elif about["spins"][0] != 0:
        words.append(f"spin {about['spins'][0]}")
    if about["maps"] > 1:
        words.append(f"{about['maps']} maps")
    if about["precision"] == "single":
        words.append("single")
    if about["exchange"] != "double":
        words.append(f"exchange {about['exchange']}")
    if about.get("backend") == "cuda":
        words.append("on a GPU")
    if about["ranks"] > 1 or about["threads"] > 1:
        words.append(f"{about['ranks']} ranks x {about['threads']} threads")
    return ", ".join(words)


def direction_title(case, direction):
    iterations = case["about"]["iterations"]
    return f"{direction} --iter {iterations}" if direction in ("analysis", "smooth") and iterations else direction


def seconds(value):
    """Formats three digits as a plain number."""
    if value <= 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def with_least(measured):
    return f"{seconds(measured['seconds'])} ({seconds(measured['least'])})"


def markdown(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def ratio_table(document):
    """Returns the table of seconds: median (min); ratio: median of pairs (of the minima); difference: rms, largest."""
    shown = [family for family in FAMILIES
             if any(fastest(measured, family) for _, _, measured in rows_of(document))]
    heads = ["case", "direction", "Ringweave, s"]
    for family in shown:
        heads += [f"{family}, s", "ratio", "difference"]
    rows = []
    for case, direction, measured in rows_of(document):
        row = [title(case), direction_title(case, direction), with_least(measured["ringweave"])]
        for family in shown:
            peer = fastest(measured, family)
            row += [with_least(peer), f"{peer['ratio']:.2f} ({peer['ratio_of_least']:.2f})",
                    f"{peer['rms']:.0e}, {peer['max']:.0e}"] if peer else ["", "", ""]
        rows.append(row)
    return markdown(heads, rows)


def beside_ducc0(measured):
    """Returns the ratio to the faster way of ducc0, and the rms difference from it."""
    ways = [peer for family in ("ducc0", "ducc0 theta_interpol") if (peer := fastest(measured, family))]
    if not ways:
        return ["", ""]
    peer = min(ways, key=lambda way: way["seconds"])
    return [f"{peer['ratio']:.2f}", f"{peer['rms']:.0e}"]


def stage_table(document):
    """Returns everything about one case and direction in one row."""
    heads = ["grid", "lmax", "spins", "maps", "precision", "exchange mode", "ranks x threads", "direction",
             "seconds", "Legendre", "exchange", "ring FFT", "GFLOP/s", "of peak", "over ducc0", "difference",
             "bytes sent", "planned", "adjointness gap", "round trip", "plan, s"]
    rows = []
    for case, direction, measured in rows_of(document):
        mine = measured["ringweave"]
        if "legendre" not in mine:
            continue
        errors, about = case["errors"], case["about"]
        round_trip = f"{errors['round_trip']:.0e}" if direction == "analysis" else ""
        spins = "0, 2" if about["fields"] else str(about["spins"][0])
        rows.append([about["grid"], str(about["lmax"]), spins, str(about["maps"]), about["precision"],
                     about["exchange"], f"{about['ranks']} x {about['threads']}", direction_title(case, direction)]
                    + [seconds(mine[key]) for key in ("seconds", "legendre", "exchange", "ring_fft")]
                    + [f"{mine['gflop_per_s']:.0f}", f"{100 * mine['of_peak']:.0f} %", *beside_ducc0(measured),
                       f"{mine['bytes_sent']:.0f}", f"{mine['bytes_planned']:.0f}", f"{errors['adjoint_gap']:.0e}",
                       round_trip, f"{about['plan_seconds']:.3f}"])
    return markdown(heads, rows)


def whole(document):
    """Returns both tables, with the machine and the versions of the peers."""
    text = [ratio_table(document), stage_table(document)]
    machines = {(case["machine"]["processor"], case["machine"]["processors"], case["machine"]["date"])
                for case in document["cases"]}
    text += [f"{processor}, {count} processors, {date}" for processor, count, date in sorted(machines)]
    versions = {f"{program} {version}" for case in document["cases"]
                for program, version in case.get("versions", {}).items()}
    peers = {name for _, _, measured in rows_of(document) for name in measured["peers"]}
    repeats = [measured["ringweave"]["repeats"] for _, _, measured in rows_of(document)]
    text.append(f"Versions: {', '.join(sorted(versions)) or 'no peers'}. Peers: {'; '.join(sorted(peers)) or 'none'}. "
                f"Medians (least) of {min(repeats)} to {max(repeats)} in turn.")
    return "\n".join(text)
