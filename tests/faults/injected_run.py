# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command with a fault and checks what it leaves."""
import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import cases

SECONDS = 10
# A part of the paths of all files of a run: the folder it is in.
FOLDER = "ringweave_fault"
STDOUT = "stdout"
TIME = "1700000000"
ALLOWED_CODES = (0, 2, 3, 4, 5)
# What MPICH says of a rank that ends the job. Its launcher then kills all ranks at once: other ranks cannot remove their
# files, and the exit code may be the number of a signal.
ABORTED = "application called MPI_Abort("
CODES_OF_KILLED = (signal.SIGKILL, signal.SIGTERM)
IN_PLACE = ("is complete and in its place", "files that it writes are in place")


@dataclasses.dataclass
class Program:
    """What is run: the program, the injector, the launcher for several ranks (scripts/mpirun.sh)."""
    path: str
    injector: str
    launcher: str

    def command(self, arguments, ranks):
        """Returns the command line. On several ranks the injector must not get into the launcher."""
        preload = ":".join(filter(None, (self.injector, os.environ.get("LD_PRELOAD"))))
        start = ["env", f"LD_PRELOAD={preload}", self.path, *arguments]
        return start if ranks == 1 else [self.launcher, str(ranks), *start]


@dataclasses.dataclass
class Outcome:
    code: int
    err: str
    seconds: float
    hangs: bool
    log: list
    files: dict

    def messages(self):
        """Returns the program's error messages, without those of mpirun about a rank that ended with an error, and of
        other ranks about what MPICH tells them of that (an injected error has no stack)."""
        return [line for line in self.err.splitlines()
                if line.startswith("ringweave: ") and not line.endswith("error stack:")]

    def counts(self):
        """Returns how often every rank made every call: {(rank, call): n}."""
        found = {}
        for line in self.log:
            if line.startswith("count "):
                fields = dict(word.split("=", 1) for word in line.split()[1:])
                found[int(fields["rank"]), fields["call"]] = int(fields["n"])
        return found

    def faults(self):
        return [line for line in self.log if line.startswith("fault ")]


def own_processes(mark):
    """Yields the processes whose environment holds the mark of a run."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    yield int(entry)
        except OSError:
            continue


def end_all(launcher, mark):
    """Ends a run that hangs: the launcher, then what it has left."""
    launcher.terminate()
    try:
        launcher.wait(2)
    except subprocess.TimeoutExpired:
        pass
    for process in own_processes(mark):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    launcher.wait()


def run(program, case, ranks, rule, inputs, scratch):
    """Runs a case in a folder of its own and returns its Outcome; rule: RINGWEAVE_FAULT."""
    outside = pathlib.Path(tempfile.mkdtemp(prefix="run_", dir=scratch))
    folder = outside / FOLDER
    shutil.copytree(inputs, folder)
    if case.replaces:
        for name in case.outputs():
            (folder / name).write_bytes(cases.OLD)
    mark = f"RINGWEAVE_FAULT_LOG={outside / 'log'}"
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "RINGWEAVE_FAULT": rule, "RINGWEAVE_FAULT_TIME": TIME,
                 "RINGWEAVE_FAULT_LOG": str(outside / "log"), "MPIRUN_TIMEOUT": str(10 * SECONDS)}
    begin = time.monotonic()
    with open(folder / STDOUT, "wb") as out, open(outside / "stderr", "wb") as err:
        process = subprocess.Popen(program.command(case.arguments(), ranks), cwd=folder, env=variables,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        hangs = False
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            hangs = True
            end_all(process, mark)
    seconds = time.monotonic() - begin
    log = outside / "log"
    outcome = Outcome(process.returncode, (outside / "stderr").read_text(encoding="utf-8", errors="replace"), seconds,
                      hangs, log.read_text(encoding="utf-8").splitlines() if log.exists() else [],
                      {path.name: path.read_bytes() for path in folder.iterdir()})
    shutil.rmtree(outside)
    return outcome


def describe(program, case, ranks, rule, inputs):
    """Returns lines for a shell that run a case again."""
    words = [f"RINGWEAVE_FAULT={shlex.quote(rule)}", f"RINGWEAVE_FAULT_TIME={TIME}", "OMP_NUM_THREADS=1",
             *map(shlex.quote, program.command(case.arguments(), ranks))]
    old = "".join(f" && echo {shlex.quote(cases.OLD.decode().strip())} >{name}"
                  for name in case.outputs() if case.replaces)
    return (f"rm -rf {FOLDER} && cp -r {shlex.quote(str(inputs))} {FOLDER} && cd {FOLDER}{old}\n"
            f"{' '.join(words)} >{STDOUT}; echo $?; ls -A; cd ..")


def same_output(name, content, reference):
    """Tells whether an output is that of the run without faults: bit for bit, but for the seconds in a report."""
    if not name.startswith("report"):
        return content == reference
    try:
        return json.loads(content).keys() == json.loads(reference).keys()
    except ValueError:
        return False


def failures(case, rule, outcome, reference, inputs):
    """Returns what is wrong with a run, each as a class and a detail; none where the run is as it must be.

    reference   the Outcome without faults
    inputs      {name: content} of the inputs
    """
    found = []
    is_killed = "act=kill" in rule and outcome.faults()
    aborts = not is_killed and (ABORTED in outcome.err or outcome.code in CODES_OF_KILLED)
    kills = is_killed or aborts
    if outcome.hangs:
        found.append(("hang", f"after {SECONDS} s"))
    elif kills and outcome.code == 0:
        found.append(("exit code 0", "of a run with a killed rank"))
    elif aborts and not outcome.messages():
        found.append(("0 messages", f"exit code {outcome.code}"))
    elif not kills and outcome.code not in ALLOWED_CODES:
        name = f"signal {-outcome.code}" if outcome.code < 0 else f"exit code {outcome.code}"
        found.append((name, "allowed: 0, 2, 3, 4, 5"))
    elif not kills and len(outcome.messages()) != (1 if outcome.code else 0):
        found.append((f"{len(outcome.messages())} messages", f"exit code {outcome.code}"))
    ends_well = not outcome.hangs and not kills and outcome.code in ALLOWED_CODES
    found += wrong_files(case, rule, outcome, reference, inputs, ends_well)
    may_be_left = kills or outcome.hangs or "call=unlink" in rule
    for name in outcome.files.keys() - inputs.keys() - set(case.outputs()) - {STDOUT}:
        if not (may_be_left and name.startswith((".tmp", ".lock"))):
            found.append(("leftover", name))
    return found


def wrong_files(case, rule, outcome, reference, inputs, ends_well):
    """Yields what is wrong with inputs and outputs. A run that ends badly may do so when its outputs are there."""
    for name, content in inputs.items():
        if outcome.files.get(name) != content:
            yield "input changed", name
    succeeds = outcome.code == 0 and not outcome.hangs
    if succeeds and outcome.files[STDOUT] != reference.files[STDOUT]:
        yield "stdout lost", f"{len(outcome.files[STDOUT])} of {len(reference.files[STDOUT])} bytes"
    # After the outputs have their names, the folder or stdout may fail, and the message says so, or MPI.
    may_be_late = "call=MPI_" in rule or any(
        words in message for message in outcome.messages() for words in IN_PLACE)
    new = [name for name in case.outputs() if outcome.files.get(name) not in (cases.OLD, None)]
    for name in case.outputs():
        old = cases.OLD if case.replaces else None
        content, expected = outcome.files.get(name), reference.files[name]
        is_whole = content is not None and same_output(name, content, expected)
        if succeeds and not is_whole:
            yield "wrong output", f"{name}, exit code 0, {difference(content, expected)}"
        if not succeeds and content != old:
            if not is_whole:
                yield "damaged output", f"{name}, {difference(content, expected)}"
            elif ends_well and not case.one_by_one and not (may_be_late and new == case.outputs()):
                yield "output of a failed run", name


def difference(content, expected):
    """Says how an output differs from the one that is expected."""
    if content is None:
        return "missing"
    if content == cases.OLD:
        return "the old one"
    first = next((i for i, (a, b) in enumerate(zip(content, expected)) if a != b), min(len(content), len(expected)))
    return f"{len(content)} bytes instead of {len(expected)}, other from byte {first} on"
