#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""jobs/scaling_study runs what is missing, and writes a page with measurement and prediction."""
import json
import pathlib
import subprocess
import sys

import program

program.require("matplotlib")
STUDY = pathlib.Path(__file__).resolve().parents[2] / "jobs" / "scaling_study"


class Study(program.ProgramTest):
    def study(self, folder, *options, code=0):
        done = subprocess.run([sys.executable, STUDY, self.folder / folder, "--program", program.PROGRAM, "--launch",
                               f"{program.MPIRUN} {{ranks}}", *map(str, options)], text=True, capture_output=True, timeout=120,
                              check=False)
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
