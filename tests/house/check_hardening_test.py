#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests check_hardening.py with programs that lack one thing each: check_hardening_test.py C_COMPILER"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_hardening

COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "cc"
PROGRAM, LIBRARY = ("-fPIE", "-pie"), ("-fPIC", "-shared")
HARDENED = ("-O1", "-Wl,-z,relro,-z,now,-z,noexecstack", "-fstack-protector-strong")
# A large constant makes the program one that needs a stack protector.
SOURCE = """#include <stdio.h>
const char table[100000] = "x";
int main(int n, char** words) {
  char text[64];
  snprintf(text, sizeof text, "%s%c", words[0], table[n]);
  return text[n];
}
"""


class Hardening(unittest.TestCase):
    def offences(self, *flags, kind=PROGRAM):
        with tempfile.TemporaryDirectory() as folder:
            source, made = pathlib.Path(folder, "made.c"), pathlib.Path(folder, "made")
            source.write_text(SOURCE, encoding="utf-8")
            subprocess.run([COMPILER, *HARDENED, *kind, *flags, source, "-o", made], check=True)
            return [offence.split(": ", 1)[1] for offence in check_hardening.offences_of(made)]

    def expect(self, words, *flags, kind=PROGRAM):
        found = self.offences(*flags, kind=kind)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_hardened_program_and_library_pass(self):
        self.assertEqual(self.offences(), [])
        self.assertEqual(self.offences(kind=LIBRARY), [])

    def test_what_lacks_is_found(self):
        self.expect("position-independent", kind=("-fno-pie", "-no-pie"))
        self.expect("first called", "-Wl,-z,lazy")
        self.expect("writable tables", "-Wl,-z,norelro")
        self.expect("executable stack", "-Wl,-z,execstack")
        self.expect("stack protector", "-fno-stack-protector")

    def test_other_projects_do_not_count(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for inner in ("other", "prefix/bin"):
                (folder / inner).mkdir(parents=True)
            (folder / "CMakeCache.txt").touch()
            (folder / "other/CMakeCache.txt").touch()
            self.assertFalse(check_hardening.is_ours(folder / "other/program", folder))
            self.assertFalse(check_hardening.is_ours(folder / "CMakeFiles/3.25/a.out", folder))
            self.assertTrue(check_hardening.is_ours(folder / "prefix/bin/program", folder))


if __name__ == "__main__":
    unittest.main()
