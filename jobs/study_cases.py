# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs of a scaling study: their list, their names, and their commands."""
import json
import re
from dataclasses import dataclass

# Method: command, options. The smooth methods are those of --method with scalar fields and no iterations, for which all
# of them compute the same.
METHODS = {
    "synthesize": ("synthesize", ()),
    "synthesize-overlap": ("synthesize", ("--exchange", "overlap")),
    "synthesize-single": ("synthesize", ("--exchange", "single")),
    "analyze": ("analyze", ("--iter", "0")),
    "smooth-harmonic": ("smooth", ("--method", "harmonic", "--iter", "0")),
    "smooth-ring": ("smooth", ("--method", "ring", "--iter", "0")),
    "smooth-split": ("smooth", ("--method", "split", "--iter", "0")),
}
SPECTRUM, OUTPUT, ALM = "study_spectrum.txt", "study_out.h5", "study_alm.h5"
NAME = re.compile(r"(?P<method>[a-z-]+)_nside(?P<nside>\d+)_lmax(?P<lmax>\d+)_ranks(?P<ranks>\d+)_threads(?P<threads>\d+)")


@dataclass(frozen=True, order=True)
class Case:
    method: str
    nside: int
    lmax: int
    ranks: int
    threads: int

    def name(self):
        return f"{self.method}_nside{self.nside}_lmax{self.lmax}_ranks{self.ranks}_threads{self.threads}"

    def report(self, repeat):
        return f"reports/{self.name()}.{repeat}.json"

    def reads_sky(self):
        return METHODS[self.method][0] != "synthesize"

    def sky(self):
        return f"study_sky{self.nside}.h5"

    def sky_arguments(self):
        return ["synthesize", "--cl", SPECTRUM, "--seed", "1", "--nside", str(self.nside), "--lmax", str(self.lmax),
                "--fields", "T", self.sky(), "--overwrite"]

    def arguments(self, fwhm):
        command, options = METHODS[self.method]
        if command == "synthesize":
            return [*self.sky_arguments()[:-2], OUTPUT, *options]
        degrees = [] if self.method in ("smooth-ring", "smooth-split") else ["--lmax", str(self.lmax)]
        if command == "analyze":
            return ["analyze", self.sky(), "--fields", "T", *degrees, "--alm", ALM, *options]
        return ["smooth", self.sky(), OUTPUT, "--fields", "T", *degrees, "--fwhm", fwhm, *options]


def case_of_report(path):
    """Returns the case of a report by its file name, or None."""
    match = NAME.fullmatch(path.name.split(".")[0])
    if match is None:
        return None
    return Case(match["method"], *(int(match[key]) for key in ("nside", "lmax", "ranks", "threads")))


def cases_of(options):
    """Raises ValueError where a weak study would need a fraction of a rank."""
    cases = []
    first = min(options.nside)
    for method in options.methods:
        for nside in sorted(set(options.nside)):
            growth = (nside / first) ** 2 if options.weak else 1
            for ranks in sorted(set(options.ranks)):
                for threads in sorted(set(options.threads)):
                    if growth * ranks != int(growth * ranks):
                        raise ValueError(f"--weak: nside {nside} has {growth:g} times the pixels of {first}, which needs "
                                         f"{growth * ranks:g} ranks; take sizes or ranks that give whole numbers")
                    lmax = round(options.lmax_over_nside * nside)
                    cases.append(Case(method, nside, lmax, int(growth * ranks), threads))
    return cases


def is_report(path):
    """Whether a run has left its report; the program writes it whole or not at all."""
    try:
        return "stages" in json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def write_spectrum(folder, lmax):
    """Writes a spectrum that falls like that of the sky."""
    rows = "".join(f"{l} {1 / ((l + 2) * (l + 3))!r}\n" for l in range(lmax + 1))
    (folder / SPECTRUM).write_text("# l TT\n" + rows, encoding="utf-8")
