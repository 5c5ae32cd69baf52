#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ringweave jobs`: the files in jobs/ are its output, and its scripts follow from its options and the model."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

# The figures are those of the typical machine.
os.environ.pop("RINGWEAVE_MACHINE", None)
import program

JOBS = pathlib.Path(__file__).resolve().parents[2] / "jobs"
SHIPPED = sorted(path for path in JOBS.glob("*.sbatch") if path.stem != "gyroaverage")
EXAMPLES = sorted(JOBS.glob("*/*.sbatch"))  # for other machines
MADE_BY = "# Made by             ringweave "


def lines_that_begin(script, begin):
    return [line[len(begin):] for line in script.splitlines() if line.startswith(begin)]


class Jobs(program.ProgramTest):
    def jobs(self, *arguments, **options):
        return self.done("jobs", *arguments, **options)

    def seconds_of(self, script):
        seconds, unit = re.match(r"([\d.]+) (s|min)", lines_that_begin(script, "# Predicted time      ")[0]).groups()
        return float(seconds) * (60 if unit == "min" else 1)

    def test_every_shipped_file_is_what_the_command_writes(self):
        self.assertGreater(len(SHIPPED), 4)
        for path in SHIPPED + EXAMPLES:
            shipped = path.read_text(encoding="ascii")
            command = lines_that_begin(shipped, MADE_BY)[0].split()
            with self.subTest(job=path.relative_to(JOBS)):
                self.assertEqual(command[:2], ["jobs", path.stem])
                self.assertEqual(self.done(*command).out, shipped)

    def test_a_file_holds_what_is_printed_on_any_number_of_ranks(self):
        command = ("jobs", "cpu_nodes", "--nodes", 2, "--nside", 64)
        printed = self.done(*command).out
        for ranks in (1, 3):
            self.done(*command, "--out", "again.sbatch", "--overwrite", ranks=ranks)
            self.assertEqual((self.folder / "again.sbatch").read_text(encoding="ascii"), printed)

    def test_every_number_goes_where_it_belongs(self):
        for path in SHIPPED:
            many = path.stem in ("realisations", "time_limited")
            fields = "T" if path.stem == "scaling" else "QU"
            options = ("--nodes", 1, "--tasks-per-node", 3, "--threads", 5, "--nside", 64, "--lmax", 96, "--fields", fields,
                       "--time", "1-02:03:04", "--account", "ab123", "--partition", "fast", *(("--maps", 7) if many else ()))
            with self.subTest(job=path.name):
                script = self.jobs(path.stem, *options).out
                subprocess.run(["bash", "-n"], input=script, text=True, check=True)
                for directive, value in (("nodes", "1"), ("ntasks-per-node", "3"), ("cpus-per-task", "5"), ("mem", "1G"),
                                         ("time", "1-02:03:04"), ("account", "ab123"), ("partition", "fast")):
                    self.assertEqual(lines_that_begin(script, f"#SBATCH --{directive}="), [value])
                for directive, value in (("array", "1-7"), ("gpus-per-node", "3")):
                    self.assertIn(lines_that_begin(script, f"#SBATCH --{directive}="), ([], [value]))
                for name, value in (("nside", "64"), ("lmax", "96"), ("fields", fields), ("maps", "7"),
                                    ("ranks", "(1 2)"), ("weak_ranks", "0"), ("lmax_over_nside", "1.5")):
                    self.assertIn(lines_that_begin(script, f"{name}="), ([], [value]))
                again = lines_that_begin(script, MADE_BY)[0].split()
                self.assertEqual(self.done(*again).out, script)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_what_is_written_is_clean(self):
        for path in SHIPPED:
            script = self.jobs(path.stem, "--nside", 64, "--account", "ab123").out
            done = subprocess.run(["shellcheck", "-"], input=script, text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_time_and_memory_are_those_of_the_model(self):
        script = self.jobs("cpu_nodes", "--nodes", 4, "--tasks-per-node", 2, "--threads", 8, "--nside", 1024, "--lmax",
                           2048).out
        self.done("model", "--nside", 1024, "--lmax", 2048, "--ranks", 8, "--threads", 8, "--json", "model.json")
        row = json.loads((self.folder / "model.json").read_text())["rows"][0]
        # The model's transform, plus plans, memory and a file.
        self.assertGreater(self.seconds_of(script), row["total_seconds"])
        mebibytes = float(re.match(r"([\d.]+) MiB", lines_that_begin(script, "# Predicted memory    ")[0]).group(1))
        self.assertAlmostEqual(mebibytes, row["memory_bytes"] / 2**20, delta=0.1)

    def test_a_job_on_gpus_is_predicted_for_those_it_names(self):
        for machine, name in (("a100_cluster", "A100 cluster as described, not measured"),
                              ("h100_cluster", "H100 cluster: stages of one GPU measured, network as described, not "
                                               "measured")):
            script = self.jobs("gpu_nodes", "--machine", machine, "--nside", 1024).out
            self.assertIn(f"; machine: {name}", lines_that_begin(script, "# Predicted time      ")[0])
            self.assertIn(f" --machine {machine}", lines_that_begin(script, MADE_BY)[0])
            self.assertEqual(lines_that_begin(script, "#SBATCH --gpus-per-node="), ["4"])

    def test_one_stage_on_the_gpus_is_predicted_and_run_so(self):
        asked = ("--nodes", 1, "--tasks-per-node", 2, "--threads", 8, "--machine", "h100_cluster", "--nside", 2048)
        both = self.jobs("gpu_nodes", *asked).out
        self.assertEqual(lines_that_begin(both, "place="), ["(--backend cuda)"])
        for stage in ("legendre=cuda,fft=host", "legendre=host,fft=cuda"):
            script = self.jobs("gpu_nodes", *asked, "--stage", stage).out
            self.assertEqual(lines_that_begin(script, "place="), [f"(--stage {stage})"])
            self.assertIn(f" --stage {stage}", lines_that_begin(script, MADE_BY)[0])
            self.assertIn("in blocks", lines_that_begin(script, "# Predicted GPU memory  ")[0])
            self.done("model", "--nside", 2048, "--ranks", 2, "--threads", 8, "--machine", "h100_cluster", "--stage", stage,
                      "--json", "mixed.json", "--overwrite")
            row = json.loads((self.folder / "mixed.json").read_text())["rows"][0]
            self.assertGreater(self.seconds_of(script), row["total_seconds"])
            self.assertGreater(self.seconds_of(script), self.seconds_of(both))
        for kind, stage, says in (("cpu_nodes", "legendre=cuda,fft=host", "no GPU"),
                                  ("cpu_nodes", "legendre=host,fft=host", "no GPU"),
                                  ("gpu_nodes", "legendre=host,fft=host", "idle"),
                                  ("gpu_nodes", "legendre=moon,fft=host", "--stage")):
            result = self.done("jobs", kind, "--nside", 64, "--stage", stage, code=2)
            self.assertIn(says, result.messages()[0])

    def test_gpu_memory_is_that_of_the_plan_beside_the_hosts(self):
        def gibibytes(*options):
            script = self.jobs("gpu_nodes", "--nodes", 1, "--nside", 2048, "--lmax", 4096, *options).out
            self.assertEqual(len(lines_that_begin(script, "# Predicted host memory ")), 1)
            self.assertEqual(lines_that_begin(script, "# Predicted memory"), [])
            said = lines_that_begin(script, "# Predicted GPU memory  ")[0]
            number, unit, rank = re.match(r"([\d.]+) ([MG])iB for the (.*);", said).groups()
            return float(number) / (1024 if unit == "M" else 1), rank

        # On one rank: map 0.375, a_lm 0.125, ring modes 0.33 GiB, plus tables and workspace.
        one, rank = gibibytes("--tasks-per-node", 1, "--fields", "T")
        self.assertEqual(rank, "largest rank")
        self.assertTrue(0.83 < one < 2.5, one)
        self.assertLess(gibibytes("--tasks-per-node", 4, "--fields", "T")[0], one)
        self.assertGreater(gibibytes("--tasks-per-node", 1, "--fields", "TQU")[0], 2 * one)
        self.assertEqual(gibibytes("--tasks-per-node", 20)[1], "largest of 16 ranks")

    def test_larger_jobs_ask_for_more(self):
        def asked(*options):
            script = self.jobs("cpu_node", "--nodes", 1, "--tasks-per-node", 1, "--threads", 1, *options).out
            hours, minutes, _ = lines_that_begin(script, "#SBATCH --time=")[0].split(":")
            return 60 * int(hours) + int(minutes), int(lines_that_begin(script, "#SBATCH --mem=")[0].rstrip("G"))

        small, large = asked("--nside", 512), asked("--nside", 4096, "--fields", "TQU")
        self.assertLess(small[0], large[0])
        self.assertLess(small[1], large[1])

    def test_poor_layouts_are_warned_of(self):
        for kind, options, words in (
                ("cpu_nodes", ("--nodes", 100, "--nside", 64), "100 nodes are predicted to take .* of the time on 50"),
                ("cpu_node", ("--nside", 8, "--tasks-per-node", 20), "some will idle"),
                ("cpu_node", ("--nside", 4096, "--node-memory", 1), r"a node needs .* GiB and has 1.00 GiB: use about \d+"),
                ("cpu_node", ("--nside", 8192, "--threads", 1, "--time", "00:01:00"), "less than the"),
                ("time_limited", ("--nside", 64, "--time", "4"), "the signal is due"),
                ("gpu_nodes", ("--nside", 1024), "a machine without GPUs")):
            with self.subTest(kind=kind, options=options):
                result = self.jobs(kind, *options)
                self.assertRegex(result.err, "warning: .*" + words)
                self.assertNotIn("warning", result.out)
        self.assertEqual(self.jobs("cpu_node", "--nside", 2048, "--node-memory", 256).err, "")

    def test_bad_options_are_one_error_and_no_file(self):
        for options, words in (
                (("no_such", "--nside", 64), "no_such"),
                (("cpu_node",), "--nside"),
                (("cpu_node", "--nside", 64, "--nodes", 2), "use cpu_nodes"),
                (("cpu_node", "--nside", 64, "--maps", 2), "makes no realisations"),
                (("cpu_nodes", "--nside", 64, "--nodes", 100000, "--tasks-per-node", 100000), "at most"),
                (("cpu_nodes", "--nside", 64, "--time", "soon"), "--time soon"),
                (("scaling", "--nside", 64, "--fields", "TQU"), "scalar maps"),
                (("cpu_nodes", "--nside", 64, "--account", "a\nb"), "--account"),
                (("cpu_nodes", "--nside", 64, "--partition", "a b"), "--partition")):
            for ranks in (1, 3) if words == "--time soon" else (1,):
                with self.subTest(options=options, ranks=ranks):
                    result = self.jobs(*options, "--out", "bad.sbatch", ranks=ranks, code=2)
                    self.assertEqual(len(result.messages()), 1, result)
                    self.assertIn(words, result.messages()[0])
                    self.assertFalse((self.folder / "bad.sbatch").exists())

    def test_a_file_is_not_replaced_unless_asked(self):
        self.jobs("cpu_node", "--nside", 64, "--out", "job.sbatch")
        self.jobs("cpu_node", "--nside", 64, "--out", "job.sbatch", code=2)
        self.assertIn("sbatch job.sbatch", self.jobs("cpu_node", "--nside", 64, "--out", "job.sbatch", "--overwrite").out)
        self.jobs("cpu_node", "--nside", 64, "--out", "dry.sbatch", "--dry-run")
        self.assertFalse((self.folder / "dry.sbatch").exists())


if __name__ == "__main__":
    program.main()
