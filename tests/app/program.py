# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts the program for the tests of this folder and checks how it ends.

A test file is called as  FILE.py PROGRAM MPIRUN [TEST ...]  with scripts/mpirun.sh as MPIRUN.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
DATA = pathlib.Path(os.environ.get("RINGWEAVE_TEST_DATA") or "no_sample_files")


# The programs to start.
PROGRAM, MPIRUN = (sys.argv[1:3] if len(sys.argv) > 2 else sys.exit(f"usage: {sys.argv[0]} PROGRAM MPIRUN [TEST ...]"))


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def messages(self):
        """Returns the program's error messages, without those of mpirun about a rank that ended with an error."""
        return [line for line in self.err.splitlines() if line.startswith("ringweave: ")]

    def __str__(self):
        return f"exit code {self.code} after {self.seconds:.1f} s\nstdout: {self.out}\nstderr: {self.err}"


def start(arguments, *, ranks=1, cwd=None, timeout=120, file_limit=None, address_limit=None, environment=None,
          program=None, prefix=(), mpmd=False):
    """Runs the program and returns its Result. One rank runs without mpirun, as for a user.

    file_limit     largest file a rank may write, in bytes
    address_limit  limit on a rank's address space, in bytes (ulimit -v)
    mpmd           uses mpirun also on one rank, for arguments that hold `: -n RANKS PROGRAM ...`
    prefix         a command that starts the program or mpirun, e.g. in a namespace
    """
    command = [program or PROGRAM, *map(str, arguments)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
    if file_limit is not None:
        # MPI's shared memory consists of files too.
        variables["OMPI_MCA_btl"] = "self,tcp"
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


class ProgramTest(unittest.TestCase):
    """Has a folder per test class, and runs commands that must succeed."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringweave_test_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    @classmethod
    def done(cls, *arguments, ranks=1, code=0, **options):
        """Runs in the class's folder and checks the exit code; returns the Result."""
        result = start(arguments, ranks=ranks, cwd=cls.folder, **options)
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


def names_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names_of(test)
        else:
            yield test.id().removeprefix("__main__.")


def run_side_by_side(names, jobs, extra):
    """Distributes the tests over processes: a launch of MPI sleeps more than it works."""
    groups = [names[first::jobs] for first in range(min(jobs, len(names)))]
    alone = {**os.environ, "RINGWEAVE_JOBS": "1"}
    processes = [subprocess.Popen([sys.executable, *sys.argv[: 3 + extra], *group], env=alone) for group in groups]
    codes = [process.wait() for process in processes]
    if any(code not in (0, SKIPPED) for code in codes):
        sys.exit(1)
    sys.exit(SKIPPED if all(code == SKIPPED for code in codes) else 0)


def main(extra=0):
    """unittest's main; ends as skipped when every test was skipped.

    extra   number of arguments of the test itself after PROGRAM and MPIRUN
    RINGWEAVE_JOBS processes share the tests (default 3).
    """
    wanted = sys.argv[3 + extra:]
    jobs = int(os.environ.get("RINGWEAVE_JOBS", "3"))
    if jobs > 1:
        loader = unittest.defaultTestLoader
        module = sys.modules["__main__"]
        suite = loader.loadTestsFromNames(wanted, module) if wanted else loader.loadTestsFromModule(module)
        run_side_by_side(list(names_of(suite)), jobs, extra)
    run = unittest.main(argv=sys.argv[:1] + wanted, verbosity=2, exit=False).result
    if not run.wasSuccessful():
        sys.exit(1)
    # A class skipped as a whole counts as no test run.
    skipped_alone = sum(isinstance(test, unittest.TestCase) for test, _ in run.skipped)
    sys.exit(SKIPPED if run.skipped and skipped_alone == run.testsRun else 0)
