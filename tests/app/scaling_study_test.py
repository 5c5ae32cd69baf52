#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""jobs/scaling_study runs missing points and writes a page with measurements and predictions."""
import json
import os
import pathlib
import subprocess
import sys

import program

program.require("matplotlib")
STUDY = pathlib.Path(__file__).resolve().parents[2] / "jobs" / "scaling_study"


class Study(program.ProgramTest):
    def study(self, folder, *options, code=0, launch=("--launch", f"{program.MPIRUN} {{ranks}}")):
        # mpirun refuses root by default.
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run([sys.executable, STUDY, self.folder / folder, "--program", program.PROGRAM, *launch,
                               *map(str, options)], text=True, capture_output=True, timeout=120, check=False,
                              env=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def reports(self, folder):
        return sorted(path.name for path in (self.folder / folder / "reports").glob("*.json"))

    def test_a_small_study_is_run_once_and_goes_on(self):
        options = ("--nside", 8, 16, "--ranks", 1, 2, "--methods", "synthesize", "smooth-ring", "--fwhm", "20deg")
        self.study("strong", *options, "--repeats", 1)
        self.assertEqual(len(self.reports("strong")), 8)
        page = (self.folder / "strong" / "report.md").read_text(encoding="utf-8")
        for words in ("| synthesize | 16 | 32 | 2 x 1 |", "| smooth-ring | 8 |", "standard deviations", "stages.png"):
            self.assertIn(words, page)
        for name in ("stages.png", "model.png", "efficiency.png", "sizes.png"):
            self.assertGreater((self.folder / "strong" / name).stat().st_size, 1000)
        self.assertEqual(list((self.folder / "strong").glob("study_*")), [], "maps stay behind")
        first = self.folder / "strong" / "reports" / self.reports("strong")[0]
        before = first.stat().st_mtime_ns
        self.study("strong", *options, "--repeats", 2)
        self.assertEqual(len(self.reports("strong")), 16)
        self.assertEqual(first.stat().st_mtime_ns, before)
        self.assertIn("8 cases are there", self.study("strong", *options, "--repeats", 2).stdout)

    def test_a_weak_study_gives_larger_maps_more_ranks(self):
        out = self.study("weak", "--weak", "--nside", 8, 16, "--ranks", 1, "--methods", "analyze", "--repeats", 1).stdout
        self.assertIn("2 cases", out)
        ranks = {json.loads((self.folder / "weak" / "reports" / name).read_text())["ranks"] for name in self.reports("weak")}
        self.assertEqual(ranks, {1, 4})
        self.assertIn("Weak scaling", (self.folder / "weak" / "report.md").read_text(encoding="utf-8"))

    def test_every_method_runs_with_threads_through_mpirun(self):
        if not program.uses_open_mpi():
            self.skipTest("--launcher mpirun has options of Open MPI")
        (self.folder / "all").mkdir()
        kept = self.folder / "all" / "study_notes.txt"
        kept.write_text("mine")
        methods = ("synthesize", "synthesize-overlap", "synthesize-single", "analyze", "smooth-harmonic", "smooth-ring",
                   "smooth-split")
        self.study("all", "--nside", 32, "--ranks", 2, "--threads", 1, "--methods", *methods, "--fwhm", "10deg", "--repeats", 1,
                   launch=("--launcher", "mpirun"))
        self.study("all", "--nside", 32, "--ranks", 1, "--threads", 2, "--methods", *methods, "--fwhm", "10deg", "--repeats", 1,
                   launch=("--launcher", "mpirun"))
        self.assertEqual(len(self.reports("all")), 2 * len(methods))
        self.assertEqual(kept.read_text(), "mine")

    def test_a_weak_study_needs_whole_ranks(self):
        done = self.study("parts", "--weak", "--nside", 8, 12, "--ranks", 1, code=2)
        self.assertIn("2.25 ranks", done.stderr)

    def test_what_fails_is_said_and_the_rest_is_drawn(self):
        done = self.study("partly", "--nside", 8, "--methods", "synthesize", "smooth-harmonic", "--fwhm", "wide", "--repeats", 1,
                          code=1)
        self.assertIn("--fwhm", done.stderr)
        self.assertEqual(len(self.reports("partly")), 1)
        self.assertTrue((self.folder / "partly" / "report.md").exists())

    def test_commands_are_shown_without_running_them(self):
        out = self.study("dry", "--nside", 8, "--ranks", 3, "--machine", "cpu_cluster", "--dry-run").stdout
        self.assertIn(f"{program.MPIRUN} 3 ", out)
        self.assertIn("--machine cpu_cluster", out)
        self.assertFalse((self.folder / "dry").exists())

    def test_options_that_cannot_be_are_refused(self):
        for options, words in ((("--program", "no_such_ringweave"), "no_such_ringweave"), (("--nside", 0), "--nside"),
                               (("--launch", "mpirun -n {cores}"), "{ranks}"), (("--launch", "no_such_launcher"), "no_such"),
                               (("--launch", "", "--ranks", 2), "--launcher"), (("--methods", "guess"), "guess")):
            self.assertIn(words, self.study("refused", *options, code=2).stderr)
        self.assertIn("no report", self.study("refused", "--draw-only", code=2).stderr)


if __name__ == "__main__":
    program.main()
