#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The job scripts do what their headers say.

Slurm and MPI are replaced by small scripts that record their calls.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BATCH_SCRIPTS = sorted((ROOT / "jobs").glob("*.sbatch"))
COMMAND_SCRIPTS = [script for script in BATCH_SCRIPTS if script.stem != "scaling"]
SCRIPTS = [*sorted((ROOT / "jobs").glob("*.sh")), *BATCH_SCRIPTS, *sorted((ROOT / "jobs").glob("*/*.sbatch")),
           *sorted((ROOT / "scripts").glob("*.sh")), *sorted((ROOT / "examples").glob("*.sh")), ROOT / ".ci" / "run"]

RECORDER = """#!/usr/bin/env bash
if [ "${1:-}" = --version ] && [ "$(basename "$0")" = mpirun ]; then echo "mpirun (Open MPI) 4.1.4"; exit 0; fi
echo "$(basename "$0") $* [OMP_NUM_THREADS=$OMP_NUM_THREADS SRUN_CPUS_PER_TASK=${SRUN_CPUS_PER_TASK:-}]" >> "$CALLS"
case " $* " in
  *" --version "* | *" requeue "*) ;;
  *) exit "${PROGRAM_STATUS:-0}" ;;
esac
"""


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("srun", "mpirun", "ringweave", "scontrol", "scaling_study"):
            path = self.folder / name
            path.write_text(RECORDER, encoding="ascii")
            path.chmod(0o755)

    def run_job(self, script, *arguments, **environment):
        calls = self.folder / "calls"
        calls.write_text("", encoding="ascii")
        keep = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM", "SRUN", "OMP_", "RANKS", "THREADS", "RINGWEAVE"))}
        keep.update(PATH=f"{self.folder}:{os.environ['PATH']}", CALLS=str(calls), **environment)
        done = subprocess.run(["bash", ROOT / "jobs" / script, *arguments], env=keep, text=True, capture_output=True,
                              timeout=60, check=False)
        return done, calls.read_text(encoding="ascii").splitlines()

    def test_scripts_are_executable_and_parse(self):
        for script in SCRIPTS:
            with self.subTest(script=script.name):
                self.assertTrue(os.access(script, os.X_OK), "not executable")
                done = subprocess.run(["bash", "-n", script], text=True, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self):
        done = subprocess.run(["shellcheck", *SCRIPTS], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def run_batch_job(self, script, *arguments, **environment):
        return self.run_job(script, *arguments, **{
            "SLURM_CPUS_PER_TASK": "16", "SLURM_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "5", **environment})

    def test_batch_jobs_give_every_rank_its_cores_and_log_the_version(self):
        for script in COMMAND_SCRIPTS:
            with self.subTest(script=script.name):
                # time_limited alone looks at its outputs, and no maps were made.
                done, calls = self.run_batch_job(script.name)
                self.assertEqual(done.returncode, 75 if script.stem == "time_limited" else 0, done.stderr)
                calls = [call for call in calls if not call.startswith("scontrol")]
                self.assertIn("--ntasks=1 ringweave --version", calls[0])
                self.assertIn("--cpu-bind=verbose,cores --kill-on-bad-exit=0 --wait=60 ringweave ", calls[-1])
                for call in calls:
                    self.assertIn("OMP_NUM_THREADS=16 SRUN_CPUS_PER_TASK=16", call)
                self.assertIn("SLURM_JOB_ID=7", done.stdout)

    def test_batch_jobs_run_the_command_they_are_given(self):
        for name in ("cpu_node.sbatch", "cpu_nodes.sbatch", "gpu_nodes.sbatch"):
            with self.subTest(script=name):
                for command in (("info", "sky.h5"), ("gyroaverage", "phi.h5", "averaged.h5", "--rho", "0.02:0.7:35")):
                    _, calls = self.run_batch_job(name, *command)
                    self.assertIn(f"ringweave {' '.join(command)} [", calls[-1])

    def test_a_task_of_the_array_makes_the_map_of_its_seed(self):
        _, calls = self.run_batch_job("realisations.sbatch", "--fwhm", "5arcmin")
        self.assertRegex(calls[-1], r"ringweave synthesize --cl cl\.txt --seed 5 .* --resume sky_5\.h5 --fwhm 5arcmin \[")

    def test_the_job_of_radii_averages_one_file_over_them(self):
        _, calls = self.run_batch_job("gyroaverage.sbatch", "--method", "dct", FIELD="runs/phi.h5", RADII="0.1:0.4:8")
        self.assertRegex(calls[-1], r"ringweave gyroaverage runs/phi\.h5 runs/phi_averaged\.h5 --rho 0\.1:0\.4:8 "
                                    r"--report runs/phi_averaged\.json --verbose --method dct \[")

    def test_batch_jobs_end_with_the_status_of_the_program(self):
        for script in COMMAND_SCRIPTS:
            with self.subTest(script=script.name):
                done, _ = self.run_batch_job(script.name, PROGRAM_STATUS="3")
                self.assertEqual(done.returncode, 3)

    def test_the_study_grows_ranks_and_then_maps(self):
        done, calls = self.run_batch_job("scaling.sbatch", "--repeats", "1", SCALING_STUDY="scaling_study")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--cpu-bind=verbose,cores --kill-on-bad-exit=0 --wait=60 ringweave --version", calls[1])
        common = "--program ringweave --launcher srun --threads 16 --lmax-over-nside 2 --repeats 1 ["
        self.assertIn(f"scaling_study strong --nside 4096 --ranks 1 2 4 8 16 32 {common}", calls[2])
        self.assertIn(f"scaling_study weak --weak --nside 2048 4096 --ranks 8 {common}", calls[3])

    def test_a_job_that_was_stopped_queues_itself_again_but_not_for_ever(self):
        for restarts, again in ((None, True), ("99", True), ("100", False)):
            with self.subTest(restarts=restarts):
                environment = {} if restarts is None else {"SLURM_RESTART_COUNT": restarts}
                done, calls = self.run_batch_job("time_limited.sbatch", PROGRAM_STATUS="75", **environment)
                self.assertEqual(done.returncode, 75)
                self.assertEqual(calls[-1].startswith("scontrol requeue 7 "), again, calls)
                self.assertEqual("is --time too short" in done.stderr, not again)

    def test_directives_come_before_the_first_command(self):
        for script in BATCH_SCRIPTS:
            with self.subTest(script=script.name):
                lines = script.read_text(encoding="ascii").splitlines()
                first_command = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
                last_directive = max(i for i, line in enumerate(lines) if line.startswith("#SBATCH"))
                self.assertLess(last_directive, first_command)

    def test_batch_jobs_launch_alike(self):
        begin, end = "# --- as in every job of this folder", "# --- until here"
        launches = {script.read_text(encoding="ascii").split(begin)[1].split(end)[0] for script in BATCH_SCRIPTS}
        self.assertEqual(len(launches), 1)

    def test_local_job_binds_ranks_that_fit(self):
        done, calls = self.run_job("local.sh", "info", "sky.h5", RANKS="2", THREADS="1", RINGWEAVE="ringweave")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(calls), 1, calls)
        self.assertRegex(calls[0], r"^mpirun -n 2 .*ringweave info sky\.h5 \[OMP_NUM_THREADS=1 ")
        if len(os.sched_getaffinity(0)) == 1:
            self.assertIn("--bind-to none", calls[0])

    def test_local_job_says_when_there_are_more_threads_than_cores(self):
        done, calls = self.run_job("local.sh", "info", "sky.h5", RANKS="2", THREADS="10000", RINGWEAVE="ringweave")
        self.assertIn("not bound", done.stderr)
        self.assertIn("--oversubscribe --bind-to none", calls[0])

    def test_local_job_runs_one_rank_without_a_launcher(self):
        _, calls = self.run_job("local.sh", "info", "sky.h5", RANKS="1", RINGWEAVE=str(self.folder / "ringweave"))
        self.assertTrue(calls[0].startswith("ringweave info sky.h5"), calls)

    def test_local_job_without_a_command_explains_itself(self):
        done, calls = self.run_job("local.sh")
        self.assertEqual((done.returncode, calls), (2, []))
        self.assertIn("jobs/local.sh COMMAND", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
