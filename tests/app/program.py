# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program for the tests of this folder and checks how it ends.

A test file is called as  FILE.py PROGRAM RUN_COMMANDS MPIRUN [TEST ...]  with scripts/mpirun.sh as MPIRUN. A launch takes
longer than most commands, so tests run theirs in one launch of RUN_COMMANDS (run_commands.cpp) for each number of ranks.
The program itself is launched where that is what is tested.
"""
import functools
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
DATA = pathlib.Path(os.environ.get("RINGWEAVE_TEST_DATA") or "no_sample_files")


# The programs to start, and how many arguments name them.
OWN_ARGUMENTS = 3
if len(sys.argv) <= OWN_ARGUMENTS:
    sys.exit(f"usage: {sys.argv[0]} PROGRAM RUN_COMMANDS MPIRUN [TEST ...]")
PROGRAM, RUN_COMMANDS, MPIRUN = sys.argv[1: 1 + OWN_ARGUMENTS]


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def messages(self):
        """Returns the program's error messages, without those of mpirun about a rank that ended with an error."""
        return [line for line in self.err.splitlines() if line.startswith("ringweave: ")]

    def __str__(self):
        return f"exit code {self.code} after {self.seconds:.1f} s\nstdout: {self.out}\nstderr: {self.err}"


class Launch:
    """A launch of RUN_COMMANDS on some ranks, which runs one command after another."""

    def __init__(self, ranks):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringweave_launch_"))
        self.numbers = itertools.count()
        command = [RUN_COMMANDS] if ranks == 1 else [MPIRUN, str(ranks), RUN_COMMANDS]
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "MPIRUN_TIMEOUT": "3600"}
        with open(self.folder / "launch", "wb") as messages:
            self.process = subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=messages, start_new_session=True)

    def text(self, name):
        path = self.folder / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def run(self, arguments, cwd, timeout):
        """Returns the Result. A command that does not come back ends the launch: is_over()."""
        number = next(self.numbers)
        out, err = f"out{number}", f"err{number}"
        asked = {"folder": str(cwd or pathlib.Path.cwd()), "out": str(self.folder / out),
                 "err": str(self.folder / err), "command": [PROGRAM, *map(str, arguments)]}
        begin = time.monotonic()
        try:
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answered, _, _ = select.select([self.process.stdout], [], [], timeout)
        answer = self.process.stdout.readline() if answered else b""
        seconds = time.monotonic() - begin
        if answer:
            return Result(int(answer), self.text(out), self.text(err), seconds)
        killed = "" if answered and self.ends_within(timeout) else f"\nkilled after {timeout} s"
        if killed:
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        return Result(code, self.text(out), self.text(err) + self.text("launch") + killed, seconds)

    def is_over(self):
        return self.process.returncode is not None

    def ends_within(self, seconds):
        try:
            self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self):
        """Waits for the end of the launch; an error when it does not end well, for example with a leak."""
        seen = self.is_over()  # a test has seen how
        if not self.ends_within(60):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()
        messages = self.text("launch")
        shutil.rmtree(self.folder)
        if self.process.returncode != 0 and not seen:
            raise AssertionError(f"a launch of RUN_COMMANDS ended with {self.process.returncode}\n{messages}")


launches = {}  # by their numbers of ranks


def run(arguments, *, ranks=1, cwd=None, timeout=120, launched=False, **options):
    """Runs a command in the launch for these ranks and returns its Result. With `launched`, or options of start(),
    launches the program for it."""
    if launched or options:
        return start(arguments, ranks=ranks, cwd=cwd, timeout=timeout, **options)
    if ranks not in launches or launches[ranks].is_over():
        launches[ranks] = Launch(ranks)
        unittest.addModuleCleanup(launches[ranks].end)
    return launches[ranks].run(arguments, cwd, timeout)


def start(arguments, *, ranks=1, cwd=None, timeout=120, file_limit=None, address_limit=None, environment=None,
          program=None, prefix=(), mpmd=False):
    """Launches the program and returns its Result. One rank runs without mpirun, as for a user.

    file_limit     largest file a rank may write, in bytes
    address_limit  limit on a rank's address space, in bytes (ulimit -v)
    mpmd           uses mpirun also on one rank, for arguments that hold `: -n RANKS PROGRAM ...`
    prefix         a command that starts the program or mpirun, e.g. in a namespace
    """
    command = [program or PROGRAM, *map(str, arguments)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
    if file_limit is not None:
        # MPI's shared memory consists of files too: without it in Open MPI, by System V in MPICH.
        variables.update({"OMPI_MCA_btl": "self,tcp", "MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "self,sysv"})
        command = ["prlimit", f"--fsize={file_limit}", *command]
    if address_limit is not None:
        command = ["prlimit", f"--as={address_limit}", *command]
    # A single rank would start an MPI daemon that inherits the limit.
    if ranks > 1 or file_limit is not None or address_limit is not None or mpmd:
        command = [MPIRUN, str(ranks), *command]
    begin = time.monotonic()
    with subprocess.Popen([*prefix, *command], cwd=cwd, env=variables, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f"\nkilled after {timeout} s"
        return Result(process.returncode, out, err, time.monotonic() - begin)


def without_rights_of_root():
    """Returns the prefix for start() with which permissions of files hold for root too; without root there is none."""
    return () if os.geteuid() != 0 else ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@functools.cache
def version():
    """Returns what --version says of each part of the program."""
    return dict(line.split(maxsplit=1) for line in start(("--version",)).out.strip().splitlines())


def uses_open_mpi():
    """Tells whether this build has Open MPI, not MPICH."""
    return "Open MPI" in version()["mpi"]


def draws():
    """Tells whether this build has cairo."""
    return version()["cairo"] != "no"


class ProgramTest(unittest.TestCase):
    """Has a folder per test class, and runs commands that must succeed."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringweave_test_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    @classmethod
    def done(cls, *arguments, ranks=1, code=0, **options):
        """Runs in the class's folder and checks the exit code; returns the Result. Skips the test where a picture is to be
        drawn by a build that cannot."""
        if arguments[0] == "plot" and not draws():
            raise unittest.SkipTest("this build cannot draw")
        result = run(arguments, ranks=ranks, cwd=cls.folder, **options)
        if result.code != code:
            command = " ".join(map(str, arguments))
            raise AssertionError(f"expected exit code {code} of {command}, {ranks} rank(s)\n{result}")
        return result


def require(*names):
    """Ends as skipped when a module is missing."""
    for name in names:
        try:
            __import__(name)
        except ImportError as missing:
            print(f"skipped: {missing}")
            sys.exit(SKIPPED)


def main(extra=0):
    """unittest's main; ends as skipped when every test was skipped.

    extra   number of arguments of the test itself after PROGRAM, RUN_COMMANDS and MPIRUN
    """
    wanted = sys.argv[1 + OWN_ARGUMENTS + extra:]
    result = unittest.main(argv=sys.argv[:1] + wanted, verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    # A class skipped as a whole counts as no test run.
    skipped_alone = sum(isinstance(test, unittest.TestCase) for test, _ in result.skipped)
    sys.exit(SKIPPED if result.skipped and skipped_alone == result.testsRun else 0)
