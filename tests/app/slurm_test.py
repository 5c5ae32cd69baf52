#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs that `ringweave jobs` writes, under a Slurm of our own."""
import json
import os
import pathlib
import re
import tempfile
import time
import unittest

# One cluster serves all tests.
os.environ["RINGWEAVE_JOBS"] = "1"
import program

program.require("numpy", "h5py")
import h5py

from slurm_cluster import SlurmCluster, Unavailable

ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY")
SMALL = ("--nside", 32, "--lmax", 64)
STUDY = str(pathlib.Path(__file__).resolve().parents[2] / "jobs" / "scaling_study")

# So many that the job is at work for seconds.
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
        # A path short enough for sockets.
        cls.cluster = SlurmCluster(tempfile.mkdtemp(prefix="slurm_", dir="/tmp"))
        try:
            cls.enterClassContext(cls.cluster)
        except Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        (cls.folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0.2\n" for l in range(65)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 32, "sky.h5")

    def write_job(self, kind, *options, threads=1):
        path = self.folder / f"{kind}.sbatch"
        self.done("jobs", kind, "--nodes", 1, "--threads", threads, *SMALL, *options, "--out", path, "--overwrite")
        return path

    def log(self, job):
        return "\n".join(path.read_text() for path in self.folder.glob(f"ringweave-{job}*.out"))

    def submit(self, *command, **variables):
        return self.cluster.submit(*command, cwd=self.folder, RINGWEAVE=program.PROGRAM, **variables)

    def assert_same(self, expected, found):
        expected, found = values(self.folder / expected), values(self.folder / found)
        self.assertEqual(expected.keys(), found.keys())
        for name, value in expected.items():
            self.assertEqual((found[name].dtype, found[name].shape), (value.dtype, value.shape))
            self.assertEqual(found[name].tobytes(), value.tobytes(), name)

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

    def test_a_study_goes_through_srun(self):
        job = self.submit(self.write_job("scaling", "--tasks-per-node", 2), "--methods", "synthesize", "--repeats", 1,
                          SCALING_STUDY=STUDY)
        self.ended(job)
        ranks = {json.loads(path.read_text())["ranks"] for path in (self.folder / "strong" / "reports").glob("*.json")}
        self.assertEqual(ranks, {1, 2}, self.log(job))
        self.assertIn("| synthesize | 32 |", (self.folder / "strong" / "report.md").read_text(encoding="utf-8"))

    def test_an_array_makes_the_maps_of_one_launch(self):
        script = self.write_job("realisations", "--tasks-per-node", 1, "--maps", 4)
        self.assertEqual(len(self.ended(self.submit(script))), 4)
        self.done("synthesize", "--cl", "cl.txt", "--seed", "1..4", *SMALL, "--fields", "T", "one_{seed}.h5")
        for seed in range(1, 5):
            self.assert_same(f"one_{seed}.h5", f"sky_{seed}.h5")

    def test_a_job_ends_with_the_exit_code_of_the_program(self):
        script = self.write_job("cpu_node", "--tasks-per-node", 2)
        job = self.submit(script, "smooth", "no_such.h5", "out.h5", "--fwhm", "5deg")
        self.ended(job, "FAILED", "3:0")
        self.assertEqual(self.log(job).count("no_such.h5: "), 1, self.log(job))

    def test_a_job_that_is_told_to_stop_queues_itself_again_and_goes_on(self):
        folder = self.folder / "many"
        folder.mkdir()
        script = self.write_job("time_limited", "--tasks-per-node", 2, "--maps", MANY)
        job = self.cluster.submit(script, cwd=folder, RINGWEAVE=program.PROGRAM, SPECTRUM=str(self.folder / "cl.txt"))
        end = time.monotonic() + 20
        while not (folder / "sky_2.h5").exists() and time.monotonic() < end:
            time.sleep(0.1)
        # What --signal sends when the limit is near.
        self.cluster.call("scancel", "--signal=USR1", job)
        self.cluster.wait(job, ("PENDING",))
        log = folder / f"ringweave-{job}.out"
        made = len(list(folder.glob("sky_*.h5")))
        self.assertTrue(2 <= made < MANY, f"{made}\n{log.read_text()}")
        # Slurm lets a job that is queued again wait for two minutes; until the node is free it must.
        self.assertTrue(self.cluster.becomes_true(self.cluster.is_idle, 20), self.cluster.logs())
        # Its permission to run is revoked by the second: what starts within that one is refused.
        time.sleep(2)
        self.cluster.call("scontrol", "update", f"JobId={job}", "StartTime=now")
        task, = self.cluster.wait(job, ENDED)
        self.assertEqual((task["JobState"], task["Restarts"]), ("COMPLETED", "1"), log.read_text() + self.cluster.logs())
        self.assertEqual({path.name for path in folder.iterdir()},
                         {log.name} | {f"sky_{seed}.h5" for seed in range(1, MANY + 1)}, log.read_text())
        self.assertIn("== stopped early; to be queued again", log.read_text())
        self.done("synthesize", "--cl", "cl.txt", "--seed", MANY, *SMALL, "--fields", "T", "last.h5", ranks=2)
        self.assert_same("last.h5", folder / f"sky_{MANY}.h5")


if __name__ == "__main__":
    program.main()
