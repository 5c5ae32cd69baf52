#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs written by `ringweave jobs`, run under a private Slurm."""
import json
import pathlib
import re
import tempfile
import time
import unittest

import program

program.require("numpy", "h5py")
import h5py

from slurm_cluster import SlurmCluster, Unavailable

ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY")
SMALL = ("--nside", 32, "--lmax", 64)
STUDY = str(pathlib.Path(__file__).resolve().parents[2] / "jobs" / "scaling_study")

# Enough that the job runs for seconds.
MANY = 600


def values(path):
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


class UnderSlurm(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not program.uses_open_mpi():
            raise unittest.SkipTest("srun --mpi=pmix is for Open MPI")
        # Short enough for socket paths.
        cls.cluster = SlurmCluster(tempfile.mkdtemp(prefix="slurm_", dir="/tmp"))
        try:
            cls.enterClassContext(cls.cluster)
        except Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        (cls.folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0.2\n" for l in range(65)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 32, "sky.h5")

    def write_job(self, kind, *options, threads=1, size=SMALL):
        path = self.folder / f"{kind}.sbatch"
        self.done("jobs", kind, "--nodes", 1, "--threads", threads, *size, *options, "--out", path, "--overwrite")
        return path

    def log(self, job):
        return "\n".join(path.read_text() for path in self.folder.rglob(f"ringweave-{job}*.out"))

    def submit(self, *command, **variables):
        return self.cluster.submit(*command, cwd=self.folder, RINGWEAVE=program.PROGRAM, **variables)

    def assert_same(self, expected, found):
        expected, found = values(self.folder / expected), values(self.folder / found)
        self.assertEqual(expected.keys(), found.keys())
        for name, value in expected.items():
            self.assertEqual((found[name].dtype, found[name].shape), (value.dtype, value.shape))
            # Texts are objects, whose bytes are addresses.
            same = found[name].tolist() == value.tolist() if value.dtype == object else (
                found[name].tobytes() == value.tobytes())
            self.assertTrue(same, name)

    def ended(self, job, state="COMPLETED", code="0:0"):
        tasks = self.cluster.wait(job, ENDED)
        for task in tasks:
            self.assertEqual((task["JobState"], task["ExitCode"]), (state, code), self.log(job))
        return tasks

    def test_two_ranks_smooth_a_map_each_on_a_core_of_its_own(self):
        script = self.write_job("cpu_node", "--tasks-per-node", 2)
        job = self.submit(script, "smooth", "sky.h5", "smooth.h5", "--fwhm", "5deg", "--lmax", "64", "--report",
                          "smooth.json")
        self.ended(job)
        report = json.loads((self.folder / "smooth.json").read_text())
        self.assertEqual((report["ranks"], report["threads_per_rank"]), (2, 1))
        masks = re.findall(r"cpu-bind=MASK - .*task +(\d+) .*mask (0x[0-9A-Fa-f]+) set", self.log(job))
        masks = dict(masks[-2:])
        self.assertEqual(sorted(masks), ["0", "1"], self.log(job))
        self.assertEqual(int(masks["0"], 16) & int(masks["1"], 16), 0, masks)
        self.done("smooth", "sky.h5", "here.h5", "--fwhm", "5deg", "--lmax", 64, ranks=2)
        self.assert_same("here.h5", "smooth.h5")

    def test_the_job_of_many_nodes_runs_on_one(self):
        job = self.submit(self.write_job("cpu_nodes", "--tasks-per-node", 2), "smooth", "sky.h5", "smooth_nodes.h5", "--fwhm",
                          "5deg", "--lmax", "64")
        self.ended(job)
        self.done("smooth", "sky.h5", "here_nodes.h5", "--fwhm", "5deg", "--lmax", 64, ranks=2)
        self.assert_same("here_nodes.h5", "smooth_nodes.h5")

    def test_the_job_of_gpu_nodes_gets_a_gpu_for_each_rank(self):
        script = self.write_job("gpu_nodes", "--tasks-per-node", 2)
        smooth = ("--fwhm", "5deg", "--lmax", 64, "--backend", "auto")
        job = self.submit(script, "smooth", "sky.h5", "smooth_gpus.h5", *smooth)
        self.ended(job)
        self.assertIn("\nSLURM_GPUS_ON_NODE=2\n", self.log(job))
        self.done("smooth", "sky.h5", "here_gpus.h5", *smooth, ranks=2)
        self.assert_same("here_gpus.h5", "smooth_gpus.h5")
        # Slurm grants no more than it has.
        script.write_text(script.read_text().replace("--gpus-per-node=2", "--gpus-per-node=3"))
        with self.assertRaisesRegex(AssertionError, "node configuration is not available"):
            self.submit(script)

    def test_a_study_goes_through_srun(self):
        job = self.submit(self.write_job("scaling", "--tasks-per-node", 2), "--methods", "synthesize", "--repeats", 1,
                          SCALING_STUDY=STUDY)
        self.ended(job)
        ranks = {json.loads(path.read_text())["ranks"] for path in (self.folder / "strong" / "reports").glob("*.json")}
        self.assertEqual(ranks, {1, 2}, self.log(job))
        case, = re.findall(r"ranks2_threads1, 1 of 1\n((?:  cpu-bind=.*\n)+)", self.log(job))
        masks = re.findall(r"task +(\d+) .*mask (0x[0-9A-Fa-f]+) set", case)
        self.assertEqual(sorted(task for task, _ in masks), ["0", "1"], case)
        self.assertEqual(int(masks[0][1], 16) & int(masks[1][1], 16), 0, case)
        self.assertIn("| synthesize | 32 |", (self.folder / "strong" / "report.md").read_text(encoding="utf-8"))

    def test_an_array_makes_the_maps_of_one_launch_and_leaves_those_that_are_there(self):
        for fields, maps in (("T", 4), ("TQU", 4)):
            with self.subTest(fields=fields):
                folder = self.folder / fields
                folder.mkdir()
                script = self.write_job("realisations", "--tasks-per-node", 1, "--maps", maps, "--fields", fields)

                def run(*options):
                    job = self.cluster.submit(*options, script, cwd=folder, RINGWEAVE=program.PROGRAM,
                                              SPECTRUM=str(self.folder / "cl.txt"))
                    return len(self.ended(job))

                self.assertEqual(run(), maps)
                self.done("synthesize", "--cl", "cl.txt", "--seed", f"1..{maps}", *SMALL, "--fields", fields,
                          f"{fields}/one_{{seed}}.h5")
                for seed in range(1, maps + 1):
                    self.assert_same(f"{fields}/one_{seed}.h5", f"{fields}/sky_{seed}.h5")
                written = (folder / "sky_2.h5").stat().st_mtime_ns
                self.assertEqual(run("--array=2"), 1)
                self.assertEqual((folder / "sky_2.h5").stat().st_mtime_ns, written)

    def test_a_job_ends_with_the_exit_code_of_the_program(self):
        script = self.write_job("cpu_node", "--tasks-per-node", 2)
        job = self.submit(script, "smooth", "no_such.h5", "out.h5", "--fwhm", "5deg")
        self.ended(job, "FAILED", "3:0")
        self.assertEqual(self.log(job).count("no_such.h5: "), 1, self.log(job))

    def wait_for(self, holds, job):
        # Longer than a launch takes beside other tests.
        self.assertTrue(self.cluster.becomes_true(holds, 120), self.log(job) + self.cluster.logs())

    def wait_for_more_than(self, count, folder, job):
        self.wait_for(lambda: len(list(folder.glob("sky_*.h5"))) > count, job)

    def wait_for_line(self, line, log, job):
        # The output of a running job reaches its log some time after the files that it wrote.
        self.wait_for(lambda: line in log.read_text(), job)

    def start_again(self, job, *changes):
        # Slurm delays a requeued job by two minutes; until the node is free it has to wait.
        self.assertTrue(self.cluster.becomes_true(self.cluster.is_idle, 60), self.cluster.logs())
        # Its credential is revoked with a resolution of seconds: steps started within that second
        # are refused.
        time.sleep(2)
        self.cluster.call("scontrol", "update", f"JobId={job}", "StartTime=now", *changes)

    def test_a_job_that_is_told_to_stop_queues_itself_again_and_goes_on(self):
        folder = self.folder / "many"
        folder.mkdir()
        script = self.write_job("time_limited", "--tasks-per-node", 2, "--maps", MANY)
        job = self.cluster.submit(script, cwd=folder, RINGWEAVE=program.PROGRAM, SPECTRUM=str(self.folder / "cl.txt"))
        self.wait_for_more_than(1, folder, job)
        # The signal that --signal sends shortly before the limit.
        self.cluster.call("scancel", "--signal=USR1", job)
        self.cluster.wait(job, ("PENDING",))
        log = folder / f"ringweave-{job}.out"
        made = len(list(folder.glob("sky_*.h5")))
        self.assertTrue(2 <= made < MANY, f"{made}\n{log.read_text()}")
        self.start_again(job)
        # Ranks bound to cores that others use wait for each other at every map.
        task, = self.cluster.wait(job, ENDED)
        self.assertEqual((task["JobState"], task["Restarts"]), ("COMPLETED", "1"), log.read_text() + self.cluster.logs())
        self.assertEqual({path.name for path in folder.iterdir()},
                         {log.name} | {f"sky_{seed}.h5" for seed in range(1, MANY + 1)}, log.read_text())
        self.assertIn("== stopped early; to be queued again", log.read_text())
        self.done("synthesize", "--cl", "cl.txt", "--seed", MANY, *SMALL, "--fields", "T", "last.h5", ranks=2)
        self.assert_same("last.h5", folder / f"sky_{MANY}.h5")

    def check_it_stopped_and_waits(self, job, folder, log, times, before):
        """Checks that all files are complete and no others exist; returns when each was written."""
        self.cluster.wait(job, ("PENDING",))
        said = log.read_text()
        self.assertEqual((said.count("== exit status 75"), said.count("stopped on request")), (times, times), said)
        self.assertEqual(list(folder.glob(".tmp*")), [])
        return self.check_maps(folder, before)

    def check_maps(self, folder, before):
        """Checks that every map is complete and those of `before` unchanged; returns when each was written."""
        written = {path.name: path.stat().st_mtime_ns for path in folder.glob("sky_*.h5")}
        self.assertEqual({name: written.get(name) for name in before}, before)
        self.assertGreater(len(written), len(before))
        for name in written:
            self.assertEqual(values(folder / name)["map"].shape, (1, 12 * 8**2), name)
        return written

    def test_slurm_itself_stops_a_job_ahead_of_its_limit_and_so_does_scancel(self):
        folder = self.folder / "limit"
        folder.mkdir()
        # Small files of many degrees, enough of them to last longer than a minute.
        maps = 20000
        (folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0.2\n" for l in range(513)))
        script = self.write_job("time_limited", "--tasks-per-node", 2, "--maps", maps, "--time", 1,
                                size=("--nside", 8, "--lmax", 512))
        # Slurm checks every half a minute and may send it that much earlier: 10 to 40 seconds after
        # the start.
        script.write_text(re.sub("(--signal=USR1@).*", r"\g<1>20", script.read_text()))
        job = self.cluster.submit(script, cwd=folder, RINGWEAVE=program.PROGRAM)
        log = folder / f"ringweave-{job}.out"
        self.wait_for_more_than(1, folder, job)
        made = self.check_it_stopped_and_waits(job, folder, log, 1, {})

        # From here on the limit must not stop it.
        self.start_again(job, "TimeLimit=10")
        self.wait_for_line(f"--resume: {len(made)} of {maps} ", log, job)
        self.wait_for_more_than(len(made), folder, job)
        self.cluster.call("scancel", "--signal=TERM", job)
        made = self.check_it_stopped_and_waits(job, folder, log, 2, made)

        self.start_again(job)
        self.wait_for_line(f"--resume: {len(made)} of {maps} ", log, job)
        self.wait_for_more_than(len(made), folder, job)
        self.cluster.call("scancel", job)
        task, = self.cluster.wait(job, ENDED)
        self.assertEqual((task["JobState"], task["Restarts"]), ("CANCELLED", "2"), log.read_text())
        self.assertTrue(self.cluster.becomes_true(self.cluster.is_idle, 60), self.cluster.logs())
        self.assertIn(f"stopped on request: {len(self.check_maps(folder, made))} of {maps} ", log.read_text())


if __name__ == "__main__":
    program.main()
