#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Man pages and shell completion of the program, as a build made them: program_pages_test.py PAGES_FOLDER [TEST ...]"""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import program_pages  # noqa: E402

PAGES = Path(sys.argv.pop(1))
COMPLETION = PAGES / "ringweave.bash"
COMMANDS = set(re.findall(r'^    \{"(\w+)", "', (ROOT / "src/app/cli/manual.cpp").read_text(encoding="utf-8"), re.MULTILINE))


def completed(shell_words, shell="bash"):
    """Returns what the last of the words is completed to."""
    script = ('. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ringweave; printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run([shell, "-uc", script, COMPLETION, *shell_words], text=True, capture_output=True, check=True)
    return set(done.stdout.split())


class Completion(unittest.TestCase):
    def test_commands_are_completed(self):
        self.assertEqual(completed(["ringweave", "s"]), {command for command in COMMANDS if command[0] == "s"})
        self.assertEqual(completed(["ringweave", ""]), COMMANDS | {"help"})
        self.assertEqual(completed(["ringweave", "--verbose", "sm"]), {"smooth"})
        self.assertEqual(completed(["ringweave", "help", "sm"]), {"smooth"})

    def test_options_are_those_of_the_command_and_the_common_ones(self):
        self.assertEqual(completed(["ringweave", "smooth", "--fw"]), {"--fwhm"})
        self.assertEqual(completed(["ringweave", "info", "--fw"]), set())
        self.assertEqual(completed(["ringweave", "info", "sky.h5", "--ver"]), {"--version", "--verbose"})
        self.assertEqual(completed(["ringweave", "--he"]), {"--help"})

    def test_values_are_completed_where_they_are_a_list(self):
        self.assertEqual(completed(["ringweave", "smooth", "--compat", ""]), {"healpy", "cxx", "f90"})
        self.assertEqual(completed(["ringweave", "smooth", "--compat", "=", "c"]), {"cxx"})
        self.assertEqual(completed(["ringweave", "smooth", "--compat", "="]), {"healpy", "cxx", "f90"})
        self.assertEqual(completed(["ringweave", "alm", "--take", ""]), {"T", "E", "B"})
        self.assertEqual(completed(["ringweave", "--progress", "o"]), {"on", "off"})
        self.assertIn("h100_cluster", completed(["ringweave", "model", "--machine", "h"]))

    def test_job_scripts_are_completed(self):
        scripts = (ROOT / "jobs").glob("*.sbatch")
        expected = {path.stem for path in scripts if "\n# Made by " in path.read_text()}  # others are written by hand
        self.assertEqual(completed(["ringweave", "jobs", ""]), expected)

    def test_other_words_are_left_to_names_of_files(self):
        self.assertEqual(completed(["ringweave", "smooth", ""]), set())
        self.assertEqual(completed(["ringweave", "smooth", "--beam", "--f"]), set())
        self.assertEqual(completed(["ringweave", "--report", "s"]), set())

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck_has_nothing_to_say(self):
        done = subprocess.run(["shellcheck", COMPLETION], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


class ManPages(unittest.TestCase):
    def test_every_command_has_a_page(self):
        self.assertEqual({path.name for path in (PAGES / "man1").iterdir()},
                         {"ringweave.1", *(f"ringweave-{command}.1" for command in COMMANDS)})

    def test_options_and_sections_are_in_their_page(self):
        page = (PAGES / "man1" / "ringweave-smooth.1").read_text(encoding="utf-8")
        self.assertIn("\\fB\\-\\-fwhm\\fR \\fIANGLE\\fR\n", page)
        names = re.findall(r"^\.S[HS] (.*)$", page, re.MULTILINE)
        self.assertEqual(names, ["NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "Transform", "Analysis",
                                 "Several maps", "Common options", "VALUES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES",
                                 "SEE ALSO"])
        self.assertIn("\\fBHEALPIX\\fR\n", page)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_has_nothing_to_say(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", *(PAGES / "man1").iterdir()], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.stdout, "")


    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_has_nothing_to_say(self):
        for page in sorted((PAGES / "man1").iterdir()):
            with self.subTest(page=page.name):
                done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], text=True, capture_output=True,
                                      env={**os.environ, "MANWIDTH": "80"}, check=True)
                self.assertEqual(done.stderr, "")


class HelpTexts(unittest.TestCase):
    def test_a_paragraph_ends_where_the_next_word_would_have_fitted(self):
        lines = ["a" * 70 + " b", "c" * 9, "d"]
        self.assertEqual(program_pages.paragraphs(lines), [" ".join(lines[:2]), "d"])

    def test_text_cannot_be_taken_for_requests(self):
        self.assertEqual(program_pages.roff(".dat 'x' a\\b `ringweave --help`"),
                         "\\&.dat \\(aqx\\(aq a\\(rsb \\fBringweave \\-\\-help\\fR")


if __name__ == "__main__":
    unittest.main(verbosity=2)
