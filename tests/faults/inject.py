#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets every call of every command fail, one in each run, and checks how the program ends (README.md).

inject.py PROGRAM INJECTOR MPIRUN [OPTION...]      INJECTOR: the library ringweave_faults, MPIRUN: scripts/mpirun.sh

Exit status: 0 if every run was as it must be, 1 if not.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

import cases
import injected_run

# What happens to a call: actions, each with 1 where all later calls fail as well.
READS = (("EIO", 0), ("short", 0))
WRITES = (("EIO", 0), ("ENOSPC", 1), ("short", 0), ("kill", 0))
ACTIONS = {
    "open": (("EIO", 0), ("EMFILE", 1)), "fopen": (("EIO", 0), ("EMFILE", 1)),
    "read": READS, "pread": READS, "readv": READS, "preadv": READS, "fread": READS,
    "write": WRITES, "pwrite": WRITES, "writev": WRITES, "pwritev": WRITES, "fwrite": WRITES,
    "close": (("EIO", 0),), "fclose": (("EDQUOT", 0),), "fflush": (("ENOSPC", 0),),
    "fsync": (("EIO", 0), ("kill", 0)), "fdatasync": (("EIO", 0),),
    "ftruncate": (("ENOSPC", 0),), "fallocate": (("ENOSPC", 0), ("EOPNOTSUPP", 1)), "posix_fallocate": (("ENOSPC", 0),),
    "rename": (("EIO", 0), ("kill", 0)), "renameat2": (("EIO", 0), ("EINVAL", 0), ("kill", 0)), "link": (("EIO", 0),),
    "unlink": (("EIO", 0),), "mkdir": (("EACCES", 0),), "rmdir": (("EIO", 0),), "flock": (("ENOLCK", 0),),
    "chmod": (("EPERM", 0),), "access": (("EACCES", 0),), "stat": (("ESTALE", 0),), "lstat": (("ESTALE", 0),),
    "fstat": (("ESTALE", 0),), "malloc": (("ENOMEM", 0), ("ENOMEM", 1)), "mmap": (("ENOMEM", 0),),
}
# Where rules look for each kind of call. Allocations are those of the program: MPI and HDF5 do not survive their own.
PLACES = {"posix": f"path={injected_run.FOLDER}", "mpi": "after=mpi_init",
          "malloc": "size=4096,from=ringweave|libstdc++"}
COUNT = ";".join(f"call={kind},{place},act=count" for kind, place in PLACES.items())
KILLS, DELAYS = 3, 2  # in MPI calls of a rank, evenly spread; seeds of random delays
# Of a short pass with Open MPI, and with MPICH: about one of each kind.
SHORT_RUNS, SHORT_RUNS_OF_MPICH = 120, 70


@dataclasses.dataclass(frozen=True)
class Injection:
    """A fault in a case; `kind` is the call and what happens to it."""
    case: cases.Case
    ranks: int
    rank: int
    kind: str
    rule: str

    def name(self):
        return f"{self.case.name}.{self.ranks} {self.rule}"


def place_of(call):
    return PLACES["mpi" if call.startswith(("MPI_", "mpi")) else "malloc" if call in ("malloc", "mmap") else "posix"]


def spread(count, most):
    """Returns the numbers of all calls, or of `most` of them, evenly spread, with the first and the last."""
    if not most or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / max(most - 1, 1)) for i in range(most)})


def injections_of(case, ranks, counts, most):
    """Returns the injections into a case whose run without faults made these calls: {(rank, call): n}."""
    def add(rank, call, action, sticky, n, more=""):
        found.append(Injection(case, ranks, rank, f"{call} {action}{' sticky' if sticky else ''}",
                               f"call={call},{place_of(call)},rank={rank},n={n},act={action},sticky={sticky}{more}"))

    found = []
    for (rank, call), count in sorted(counts.items()):
        actions = (("error", 0),) if call.startswith("MPI_") else ACTIONS[call]
        for action, sticky in actions:
            for n in spread(count, most):
                add(rank, call, action, sticky, n)
    for rank in range(ranks):
        calls = sum(n for (of, call), n in counts.items() if of == rank and call.startswith("MPI_"))
        for n in spread(calls, KILLS):
            add(rank, "mpi", "kill", 0, n)
        for seed in range(DELAYS if ranks > 1 else 0):
            add(rank, "mpi", "random_delay:5", 1, 1, f",seed={seed}")
    return found


def sample(injections, n):
    """Returns n injections, always the same ones: of each kind in turn, in an order by the checksum of the rule."""
    kinds = collections.defaultdict(list)
    for injection in sorted(injections, key=lambda each: zlib.crc32(each.name().encode())):
        kinds[injection.kind].append(injection)
    chosen = []
    while len(chosen) < min(n, len(injections)):
        for kind in sorted(kinds):
            if kinds[kind]:
                chosen.append(kinds[kind].pop(0))
    return chosen[:n]


class Injector:
    """Runs cases in a scratch folder, and keeps what they must give."""

    def __init__(self, program, folder, results):
        self.program, self.folder = program, pathlib.Path(folder)
        self.inputs_folder = self.folder / "inputs"
        self.references, self.failed, self.done, self.missed = {}, [], 0, 0
        self.lock = threading.Lock()
        shutil.rmtree(self.inputs_folder, ignore_errors=True)
        self.inputs_folder.mkdir(parents=True)
        self.results = open(results, "w", encoding="utf-8") if results else None
        cases.make_inputs(self.inputs_folder, self.run_plainly)
        self.inputs = {path.name: path.read_bytes() for path in self.inputs_folder.iterdir()}

    def run_plainly(self, *arguments):
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "RINGWEAVE_FAULT_TIME": injected_run.TIME}
        subprocess.run(self.program.command(arguments, 1), cwd=self.inputs_folder, env=variables, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def has(self, words):
        """Tells whether this build of the program says so of itself, by a pattern for a line of --version."""
        version = subprocess.run([self.program.path, "--version"], text=True, capture_output=True, check=True).stdout
        return re.search(rf"^{words}", version, re.MULTILINE) is not None

    def run(self, case, ranks, rule):
        return injected_run.run(self.program, case, ranks, rule, self.inputs_folder, self.folder)

    def refer(self, case, ranks):
        """Runs a case without faults, keeps the outcome and returns how often calls were made."""
        outcome = self.run(case, ranks, COUNT)
        if outcome.code != 0 or outcome.hangs:
            sys.exit(f"{case.name} fails on {ranks} rank(s) without faults: exit code {outcome.code}\n{outcome.err}")
        if not outcome.counts():
            sys.exit(f"{case.name}: no call was counted; is {self.program.injector} for the MPI of the program?")
        self.references[case, ranks] = outcome
        return outcome.counts()

    def inject(self, injection):
        """Runs an injection and keeps what is wrong."""
        outcome = self.run(injection.case, injection.ranks, injection.rule)
        reference = self.references[injection.case, injection.ranks]
        wrong = injected_run.failures(injection.case, injection.rule, outcome, reference, self.inputs)
        again = injected_run.describe(self.program, injection.case, injection.ranks, injection.rule, self.inputs_folder)
        record = {"case": injection.case.name, "ranks": injection.ranks, "rank": injection.rank, "kind": injection.kind,
                  "rule": injection.rule, "faults": outcome.faults(), "code": outcome.code, "hangs": outcome.hangs,
                  "seconds": round(outcome.seconds, 2), "failures": wrong, "stderr": outcome.err[-2000:],
                  "again": again}
        with self.lock:
            self.done += 1
            self.missed += not outcome.faults()
            if wrong:
                self.failed.append(record)
                print(f"{injection.name()}: {'; '.join(': '.join(each) for each in wrong)}", flush=True)
            if self.results:
                print(json.dumps(record), file=self.results, flush=True)

    def summarize(self):
        """Prints every kind of failure with the cases that have it, and how to repeat the first run of them."""
        kinds = collections.defaultdict(list)
        for record in self.failed:
            for wrong in sorted({wrong for wrong, _ in record["failures"]}):
                kinds[wrong, record["kind"]].append(record)
        print(f"\n{self.done} runs, {len(self.failed)} not as they must be; in {self.missed} the call was not made")
        for (wrong, kind), records in sorted(kinds.items()):
            where = collections.Counter(f"{record['case']}.{record['ranks']}" for record in records)
            first = records[0]
            said = first["stderr"].splitlines()
            messages = [line for line in said if line.startswith("ringweave: ")] or said[-3:]
            times = ", ".join(f"{name} {n} times" for name, n in where.items())
            print(f"\n== {wrong}: {kind}: {times}; the first run:")
            print(first["again"], *(f"   {line}" for line in first["faults"]), f"   exit code {first['code']}",
                  *(f"   {line}" for line in messages), sep="\n")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("injector")
    parser.add_argument("mpirun")
    parser.add_argument("--short", action="store_true", help=f"at most {SHORT_RUNS} runs, always the same ones")
    parser.add_argument("--only", metavar="PATTERN", default="",
                        help="a regular expression for CASE.RANKS RULE, e.g. '^convert_h5.3 call=pwrite'")
    parser.add_argument("--most", type=int, default=0, metavar="N",
                        help="of each call, on each rank, with each action, at most N, evenly spread; default: all")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at the same time; default: 1")
    parser.add_argument("--list", action="store_true", help="print the injections and stop")
    parser.add_argument("--results", metavar="FILE", help="write each run as a line of JSON")
    parser.add_argument("--folder", metavar="FOLDER", help="where inputs are kept and commands run; default: a new one")
    return parser.parse_args()


def plan(injector, options):
    """Runs all cases without faults and returns the injections that are asked for."""
    chosen = [case for case in cases.CASES if not options.short or case.name in cases.SHORT]
    if injector.has(r"cairo\s+no$"):
        chosen = [case for case in chosen if case.name != "plot"]
    # A pattern with the name of a case at its beginning leaves out the others.
    begin = re.match(r"\^(\w+)\\?\.([13])", options.only)
    wanted = [(case, ranks) for case in chosen for ranks in (1, 3)
              if not begin or begin.groups() == (case.name, str(ranks))]
    found = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (case, ranks), counts in zip(wanted, pool.map(lambda each: injector.refer(*each), wanted)):
            found += injections_of(case, ranks, counts, options.most)
    found = [injection for injection in found if re.search(options.only, injection.name())]
    most = SHORT_RUNS_OF_MPICH if injector.has(r"mpi\s+MPICH") else SHORT_RUNS
    return sample(found, most - len(wanted)) if options.short else found


def main():
    options = parse_arguments()
    program = injected_run.Program(*(str(pathlib.Path(path).resolve())
                                     for path in (options.program, options.injector, options.mpirun)))
    folder = options.folder or tempfile.mkdtemp(prefix="injected_")
    injector = Injector(program, pathlib.Path(folder).resolve(), options.results)
    injections = plan(injector, options)
    if options.list:
        print("\n".join(injection.name() for injection in injections))
        return 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(injector.inject, injections))
    injector.summarize()
    if not injector.failed and not options.folder:
        shutil.rmtree(folder)
    return 1 if injector.failed else 0


if __name__ == "__main__":
    sys.exit(main())
