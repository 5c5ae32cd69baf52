#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that fail while others wait, ranks that are killed, ranks that disagree: the job ends within 10 s with the exit
code of the error and prints it once.

fault_test.py PROGRAM RUN_COMMANDS MPIRUN HELPER [TEST ...]    HELPER: one_rank_fails
"""
import os
import signal
import subprocess
import sys
import time
import unittest

import program

SECONDS = 10
HELPER = sys.argv[1 + program.OWN_ARGUMENTS]


class OneRankFails(program.ProgramTest):
    def check(self, how, failing_rank, ranks, code):
        with self.subTest(how=how, failing_rank=failing_rank, ranks=ranks):
            result = program.start([how, failing_rank], ranks=ranks, cwd=self.folder, program=HELPER,
                                   timeout=3 * SECONDS)
            self.assertLess(result.seconds, SECONDS, str(result))
            if ranks > 1 and how != "agreed" and not program.uses_open_mpi():
                # The launcher of MPICH kills all ranks of a job that MPI_Abort ends. The failing rank may be killed, by
                # one of several signals, before it exits with its code.
                self.assertNotEqual(result.code, 0, str(result))
            else:
                self.assertEqual(result.code, code, str(result))
            self.assertEqual(len(result.messages()), 1, str(result))
            self.assertIn("sky.fits: pixel 7 is not a number; replace it", result.messages()[0])
            if ranks > 1 and how == "agreed":
                self.assertIn(f"rank {failing_rank}", result.messages()[0])

    def test_an_error_inside_agree_reaches_every_rank(self):
        for ranks, failing_rank in ((1, 0), (3, 0), (3, 1), (3, 2)):
            self.check("agreed", failing_rank, ranks, 3)

    def test_an_error_on_one_rank_while_the_others_are_in_a_collective_ends_the_job(self):
        for ranks, failing_rank in ((1, 0), (3, 0), (3, 1), (3, 2)):
            self.check("alone", failing_rank, ranks, 3)

    def test_an_error_in_a_thread_ends_the_job(self):
        for ranks, failing_rank in ((1, 0), (3, 1)):
            self.check("thread", failing_rank, ranks, 3)

    def test_a_killed_rank_ends_the_job(self):
        for ranks, failing_rank in ((1, 0), (3, 1)):
            with self.subTest(ranks=ranks):
                result = program.start(["killed", failing_rank], ranks=ranks, cwd=self.folder, program=HELPER,
                                       timeout=3 * SECONDS)
                self.assertLess(result.seconds, SECONDS, str(result))
                self.assertNotEqual(result.code, 0, str(result))


class RanksOfTheProgram(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} {1 / (l + 1.0)}\n" for l in range(48)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 16, "sky.h5")

    def differ(self, first, others, words, code=2):
        """Rank 0 gets other arguments than ranks 1 and 2."""
        before = sorted(os.listdir(self.folder))
        result = program.start([*first, ":", "-n", 2, program.PROGRAM, *others], ranks=1, mpmd=True,
                               cwd=self.folder, timeout=3 * SECONDS)
        self.assertLess(result.seconds, SECONDS, str(result))
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(len(result.messages()), 1, str(result))
        for word in words:
            self.assertIn(word, result.err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_ranks_that_disagree_are_refused(self):
        smooth = ["smooth", "sky.h5", "out.h5", "--fwhm", "5deg"]
        self.differ([*smooth, "--lmax", 20], [*smooth, "--lmax", 21], ["ranks disagree"])
        self.differ(smooth, ["info", "sky.h5"], ["ranks disagree"])
        self.differ(smooth, ["--help"], ["ranks disagree"])

    def test_a_bad_option_on_one_rank_is_everybodys_error(self):
        smooth = ["smooth", "sky.h5", "out.h5", "--fwhm", "5deg"]
        self.differ([*smooth, "--weather", "fine"], smooth, ["--weather", "rank 0"])
        self.differ(smooth, [*smooth, "--lmax", "high"], ["high", "rank 1"])

    def test_a_killed_rank_of_the_program_leaves_the_old_output_and_ends_the_job(self):
        """Kills rank 1, found by its environment, of a job that runs long enough."""
        (self.folder / "old.h5").write_text("precious")
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        arguments = ["synthesize", "--cl", "cl.txt", "--seed", "1", "--nside", "1024", "--lmax", "3000", "old.h5",
                     "--overwrite"]
        with subprocess.Popen([program.MPIRUN, "3", program.PROGRAM, *arguments], cwd=self.folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as launcher:
            victim = self.rank_of(launcher.pid, 1)
            os.kill(victim, signal.SIGKILL)
            begin = time.monotonic()
            launcher.communicate(timeout=3 * SECONDS)
            self.assertLess(time.monotonic() - begin, SECONDS)
        self.assertNotEqual(launcher.returncode, 0)
        self.assertEqual((self.folder / "old.h5").read_text(), "precious")

    def rank_of(self, launcher, rank):
        """Returns the process id of a rank among the descendants of mpirun."""
        wanted = {f"{name}={rank}".encode() for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK")}
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            for entry in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{entry}/environ", "rb") as file:
                        if wanted.isdisjoint(file.read().split(b"\0")):
                            continue
                    if launcher in ancestors(int(entry)):
                        return int(entry)
                except OSError:
                    continue
            time.sleep(0.01)
        self.fail(f"mpirun started no rank {rank}")


def ancestors(process):
    """Yields the process ids of the parent, its parent and so on."""
    while process > 1:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            process = int(file.read().rsplit(")", 1)[1].split()[1])
        yield process


if __name__ == "__main__":
    program.main(extra=1)
