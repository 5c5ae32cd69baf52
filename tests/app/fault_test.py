#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that fail while others wait, ranks that are killed or stopped, ranks that disagree: the job ends within 10 s
with the exit code of the error and prints it once.

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

    def test_an_error_inside_an_agreement_that_the_others_never_reach_ends_the_job(self):
        for ranks, failing_rank in ((1, 0), (3, 0), (3, 2)):
            self.check("agreed_alone", failing_rank, ranks, 3)
        for waiting_rank in (0, 2):
            self.check("agreed_without", waiting_rank, 3, 3)

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


class Watchdog(program.ProgramTest):
    """The ranks of HELPER have a watchdog that waits for 2 s."""

    def end(self, how, rank, ranks):
        return program.start([how, rank], ranks=ranks, cwd=self.folder, program=HELPER, timeout=3 * SECONDS)

    def test_ranks_without_progress_end_the_job_and_are_named(self):
        for how, rank, ranks, words in (
                ("stopped", 0, 3, "rank 0 does not run any more, last seen in stage sums; ranks 1-2 wait in MPI_"),
                ("stopped", 1, 3, "rank 1 does not run any more, last seen in stage sums; ranks 0, 2 wait in MPI_"),
                ("busy", 2, 3, "rank 2 is in stage sums; ranks 0-1 wait in MPI_Barrier,"),
                ("busy", 0, 1, "rank 0 is in stage sums; check")):
            with self.subTest(how=how, rank=rank, ranks=ranks):
                result = self.end(how, rank, ranks)
                if program.uses_open_mpi() or ranks == 1:
                    self.assertLess(result.seconds, SECONDS, str(result))
                    self.assertEqual(result.code, 5, str(result))
                    self.assertEqual(len(result.messages()), 1, str(result))
                else:  # MPICH's launcher takes long to end a rank that is stopped, and others speak meanwhile
                    self.assertLess(result.seconds, 3 * SECONDS, str(result))
                    self.assertNotEqual(result.code, 0, str(result))
                    self.assertGreaterEqual(len(result.messages()), 1, str(result))
                self.assertIn("has made progress for 2 s", result.messages()[0])
                self.assertIn(words, result.messages()[0])

    def test_a_rank_that_makes_steps_may_work_for_longer(self):
        result = self.end("working", 1, 3)
        self.assertEqual((result.code, result.messages()), (0, []), str(result))
        self.assertGreater(result.seconds, 4)


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

    def test_a_stopped_rank_of_the_program_is_named_after_the_deadline_and_ends_the_job(self):
        (self.folder / "before.h5").write_text("precious")
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "RINGWEAVE_DEADLINE": "600", "MPIRUN_TIMEOUT": "30"}
        arguments = ["smooth", "sky.h5", "before.h5", "--overwrite", "--fwhm", "5deg", "--iter", "1000000",
                     "--deadline", "3", "--progress", "on"]
        with subprocess.Popen([program.MPIRUN, "3", program.PROGRAM, *arguments], cwd=self.folder,
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as launcher:
            victim = self.rank_of(launcher.pid, 1)
            lines = iter(launcher.stderr.readline, "")
            self.assertTrue(any("smoothing: " in line for line in lines))
            time.sleep(1)  # until the watchdog has seen it
            os.kill(victim, signal.SIGSTOP)
            begin = time.monotonic()
            messages = [line for line in launcher.communicate(timeout=3 * SECONDS)[1].splitlines()
                        if line.startswith("ringweave: ")]
            seconds = time.monotonic() - begin
        if program.uses_open_mpi():
            self.assertLess(seconds, SECONDS)
            self.assertEqual(launcher.returncode, 5)
            self.assertEqual(len(messages), 1, messages)
        else:
            self.assertLess(seconds, 3 * SECONDS)
            self.assertNotEqual(launcher.returncode, 0)
            self.assertGreaterEqual(len(messages), 1, messages)
        self.assertRegex(messages[0], r"no rank on \S+ has made progress for 3 s: rank 1 does not run any more, "
                                      r'last seen in .*"smoothing"; rank.* waits? in .*"smoothing"')
        self.assertEqual((self.folder / "before.h5").read_text(), "precious")

    def test_deadlines_are_checked_and_disagreeing_ones_refused(self):
        for words in (["--deadline", "soon"], ["--deadline", "-1"]):
            self.assertIn("--deadline", self.done("info", "sky.h5", *words, code=2).err)
        result = program.start(["info", "sky.h5"], cwd=self.folder, environment={"RINGWEAVE_DEADLINE": "later"})
        self.assertEqual(result.code, 2, str(result))
        self.differ(["info", "sky.h5", "--deadline", 60], ["info", "sky.h5"], ["ranks disagree"])

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
