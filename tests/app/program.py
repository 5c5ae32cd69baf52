# SPDX-License-Identifier: GPL-3.0-or-later
"""How the tests of this folder start the program, and how they end.

A test file is called as  FILE.py PROGRAM SCRIPTS_MPIRUN [unittest arguments]; `main` takes the first two away.
"""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


class Launch:
    """What is started: set by main()."""

    program = ""
    mpirun = ""


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def messages(self):
        """The program's error messages; what mpirun adds when a rank ends with an error is not ours."""
        return [line for line in self.err.splitlines() if line.startswith("ringweave: ")]

    def __str__(self):
        return f"exit code {self.code} after {self.seconds:.1f} s\nstdout: {self.out}\nstderr: {self.err}"


def start(arguments, *, ranks=1, cwd=None, timeout=120, file_limit=None, environment=None, program=None, prefix=(),
          mpmd=False):
    """Runs the program and returns its Result. One rank runs without mpirun, as a user would.

    file_limit   largest file a rank may write, in bytes
    mpmd         through mpirun also on one rank, for arguments that hold `: -n RANKS PROGRAM ...`
    prefix       a command that starts the program or mpirun, e.g. in a namespace
    """
    command = [program or Launch.program, *map(str, arguments)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
    if file_limit is not None:
        # Shared memory of MPI are files too.
        variables["OMPI_MCA_btl"] = "self,tcp"
        command = ["prlimit", f"--fsize={file_limit}", *command]
    # Alone, a rank would start a daemon of MPI that inherits the limit.
    if ranks > 1 or file_limit is not None or mpmd:
        command = [Launch.mpirun, str(ranks), *command]
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
    """A folder per test class, and runs that must succeed."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringweave_test_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    @classmethod
    def done(cls, *arguments, ranks=1, code=0, **options):
        """Runs in the class's folder and insists on the exit code; returns the Result."""
        result = start(arguments, ranks=ranks, cwd=cls.folder, **options)
        if result.code != code:
            raise AssertionError(f"expected exit code {code} of {' '.join(map(str, arguments))}, {ranks} rank(s)\n{result}")
        return result


def require(*names):
    """Ends as skipped when a module is missing."""
    for name in names:
        try:
            __import__(name)
        except ImportError as missing:
            print(f"skipped: {missing}")
            sys.exit(SKIPPED)


def require_data():
    if not DATA.is_dir():
        print(f"skipped: no sample data in {DATA}")
        sys.exit(SKIPPED)


def main():
    """unittest's main; a run in which every test was skipped ends as skipped."""
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM MPIRUN [unittest arguments]")
    Launch.program, Launch.mpirun = sys.argv[1:3]
    run = unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2, exit=False).result
    if not run.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if run.testsRun and len(run.skipped) == run.testsRun else 0)
