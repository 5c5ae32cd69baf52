#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The injector does to calls what its rules say, and nothing else: injector_test.py CALLS INJECTOR MPIRUN

CALLS is the program injected_calls, INJECTOR the library ringweave_faults, MPIRUN scripts/mpirun.sh.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CALLS, INJECTOR, MPIRUN = sys.argv[1:4]
SECONDS = 60
PATH = "path=/file.0"


class Injected(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringweave_injector_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, rule, ranks=1, **variables):
        preload = ":".join(filter(None, (INJECTOR, os.environ.get("LD_PRELOAD"))))
        command = ["env", f"LD_PRELOAD={preload}", CALLS, str(self.folder)]
        if ranks > 1:
            command = [MPIRUN, str(ranks), *command]
        environment = {**os.environ, "RINGWEAVE_FAULT": rule, "RINGWEAVE_FAULT_LOG": str(self.folder / "log"),
                       **variables}
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run_calls(self, rule, code=0, **options):
        """Returns the seconds that the calls took and what the program, and MPI, said on stderr."""
        begin = time.monotonic()
        with self.start(rule, **options) as process:
            err = process.communicate(timeout=SECONDS)[1]
        self.assertEqual(process.returncode, code, err)
        return time.monotonic() - begin, err

    def said(self, rank=0):
        return (self.folder / f"said.{rank}").read_text(encoding="utf-8").splitlines()

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8").splitlines()

    def results(self, call, rank=0):
        return [line.split(" ", 1)[1] for line in self.said(rank) if line.startswith(f"{call} ")]


class Actions(Injected):
    def check(self, rule, call, *expected):
        """Runs with a rule: the results of the call are these."""
        with self.subTest(rule=rule):
            self.run_calls(rule)
            self.assertEqual(self.results(call), list(expected))

    def test_without_rules_every_call_succeeds(self):
        self.run_calls("")
        self.assertEqual([line for line in self.said() if "-1" in line], [])
        self.assertFalse((self.folder / "log").exists())

    def test_the_nth_call_fails_and_no_other(self):
        self.run_calls("")
        plain = self.said()
        for call, most in (("open", 1), ("write", 3), ("pwrite", 3), ("writev", 1), ("pwritev", 1), ("fallocate", 1),
                           ("ftruncate", 1), ("fdatasync", 1), ("fsync", 1), ("pread", 3), ("readv", 1), ("preadv", 1),
                           ("fstat", 1), ("stat", 1), ("lstat", 1), ("access", 1), ("chmod", 1), ("renameat2", 1),
                           ("link", 1), ("mkdir", 1), ("fopen", 1), ("fflush", 1), ("fclose", 1)):
            with self.subTest(call=call):
                self.run_calls(f"call={call},{PATH},n={most},act=EIO")
                results = self.results(call)
                self.assertEqual(results[-1], "-1 EIO")
                self.assertNotIn("-1 EIO", results[:-1])
                self.assertEqual([line.split()[0] for line in self.said()][: len(results)],
                                 [line.split()[0] for line in plain][: len(results)])

    def test_errors_have_the_number_that_is_asked_for(self):
        self.check(f"call=pwrite,{PATH},n=2,act=ENOSPC", "pwrite", "8", "-1 ENOSPC", "8")
        self.check(f"call=write,{PATH},n=1,act=EDQUOT", "write", "-1 EDQUOT", "8", "8")
        self.check(f"call=posix_fallocate,{PATH},act=ENOSPC", "posix_fallocate", "28")

    def test_sticky_faults_stay(self):
        self.check(f"call=pwrite,{PATH},n=2,act=ENOSPC,sticky=1", "pwrite", "8", "-1 ENOSPC", "-1 ENOSPC")

    def test_short_counts(self):
        self.check(f"call=pwrite,{PATH},n=2,act=short", "pwrite", "8", "4", "8")
        self.check(f"call=pread,{PATH},n=3,act=short", "pread", "8", "8", "4")
        self.check(f"call=writev,{PATH},act=short", "writev", "4")
        self.check(f"call=fwrite,{PATH},n=2,act=short", "fwrite", "8", "4", "8")
        self.assertEqual(self.results("ferror"), ["0", "1", "1"])

    def test_a_stream_that_fails_says_so(self):
        self.check(f"call=fwrite,{PATH},n=2,act=ENOSPC", "fwrite", "8", "0", "8")
        self.assertEqual(self.results("ferror"), ["0", "1", "1"])

    def test_a_rename_that_fails_renames_nothing(self):
        self.check(f"call=rename,{PATH},act=EIO", "rename", "-1 EIO")
        self.assertEqual(self.results("renameat2"), ["-1 ENOENT"])

    def test_memory_is_refused_by_size_caller_and_number(self):
        self.check("call=malloc,n=2,size=100000,act=ENOMEM", "malloc", "0", "-1 ENOMEM", "0")
        self.check("call=malloc,size=100000,act=ENOMEM,sticky=1,from=injected", "malloc", *3 * ["-1 ENOMEM"])
        self.check("call=malloc,size=100000,act=ENOMEM,sticky=1,from=another", "malloc", "0", "0", "0")
        # One more, before MPI_Init.
        self.check("call=malloc,n=2,size=100000,from=injected,after=start,act=ENOMEM", "malloc", "-1 ENOMEM", "0", "0")

    def test_errors_of_mpi_reach_the_error_handler(self):
        self.check("call=MPI_Bcast,n=2,act=error", "MPI_Bcast", "0", "2", "0")
        self.check("call=MPI_Allreduce,act=error", "MPI_Allreduce", "2")
        self.check("call=MPI_Test,act=error", "MPI_Test", "1")  # a request does not tell its communicator

    def test_a_killed_process_ends_and_a_stopped_one_waits(self):
        self.run_calls(f"call=fsync,{PATH},act=kill", code=-signal.SIGKILL)
        self.assertEqual(self.said(), [])  # its buffer is lost
        with self.start(f"call=fsync,{PATH},act=stop") as process:
            state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
            self.assertEqual(state.si_status, signal.SIGSTOP)
            process.kill()
            process.communicate(timeout=SECONDS)

    def test_delays(self):
        plain, _ = self.run_calls("")
        delayed, _ = self.run_calls(f"call=pwrite,{PATH},act=delay:1000")
        self.assertGreater(delayed, 1)
        self.assertGreater(delayed, plain)
        self.run_calls("call=mpi,act=random_delay:3,seed=5,sticky=1")
        self.assertEqual(self.results("MPI_Bcast"), ["0", "0", "0"])

    def test_the_clock_is_fixed(self):
        self.run_calls("", RINGWEAVE_FAULT_TIME="1700000000")
        self.assertEqual(self.results("time"), ["1700000000"])


class Rules(Injected):
    def test_other_paths_calls_and_ranks_are_left_alone(self):
        for rule in ("call=pwrite,path=/no_such_file,act=EIO,sticky=1", "call=pwritev2|pread2,act=EIO,sticky=1",
                     "call=pwrite,rank=1,act=EIO,sticky=1"):
            with self.subTest(rule=rule):
                self.run_calls(rule)
                self.assertEqual(self.results("pwrite"), ["8", "8", "8"])

    def test_each_rank_has_its_own_count(self):
        self.run_calls("call=pwrite,path=/file.,rank=1,n=2,act=EIO;call=fsync,path=/file.2,act=EIO", ranks=3)
        for rank in range(3):
            self.assertEqual(self.results("pwrite", rank), ["8", "-1 EIO" if rank == 1 else "8", "8"])
            self.assertEqual(self.results("fsync", rank), ["-1 EIO" if rank == 2 else "0"])

    def test_faults_are_logged(self):
        self.run_calls(f"call=write|pwrite,{PATH},n=4,act=EIO,sticky=1")
        self.assertEqual(self.results("pwrite"), ["-1 EIO"] * 3)
        self.assertEqual(self.log(), [f"fault rank=0 call=pwrite n=4 path={self.folder}/file.0"])

    def test_calls_are_counted(self):
        self.run_calls(f"call=posix,{PATH},act=count;call=mpi,act=count;"
                       "call=malloc,size=100000,from=injected,act=count")
        for line in ("call=open n=1", "call=pwrite n=3", "call=unlink n=1", "call=fclose n=1", "call=MPI_Bcast n=3",
                     "call=malloc n=3"):
            self.assertIn(f"count rank=0 {line}", self.log())

    def test_rules_that_are_not_known_are_refused(self):
        for rule in ("call=pwrite,act=EIEIO", "call=pwrite,number=3", "act=EIO", "call=pwrite,n=many,act=EIO"):
            with self.subTest(rule=rule):
                _, err = self.run_calls(rule, code=99)
                self.assertIn("RINGWEAVE_FAULT: not known: ", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
