#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that fails in any one read of an HDF5 input is the error that is said: reading_test.py PROGRAM INJECTOR

libhdf5 only says that it could not do something. A reader may take that for an absent attribute or a broken file.
"""
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, INJECTOR = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
CHUNKED = pathlib.Path(__file__).resolve().parent.parent / "fuzz/corpora/hdf5_map/seed_chunked"


class FailingDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="reading_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "cl.txt").write_text("".join(f"{l} {1 / (l + 1)}\n" for l in range(12)), encoding="utf-8")
        shutil.copyfile(CHUNKED, self.folder / "chunked.h5")
        for words in ("synthesize --cl cl.txt --seed 1 --nside 4 sky.h5",
                      "analyze sky.h5 --iter 0 --cl cl.h5 --alm alm.h5"):
            self.assertEqual(self.run_program(words, "")[0].returncode, 0)

    def run_program(self, words, rule):
        """Returns how a command ends, and whether the rule has let a call fail."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "RINGWEAVE_FAULT": rule, "RINGWEAVE_FAULT_LOG": str(log),
                     "LD_PRELOAD": ":".join(filter(None, (INJECTOR, os.environ.get("LD_PRELOAD"))))}
        result = subprocess.run([PROGRAM, *words.split()], cwd=self.folder, env=variables, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60, check=False)
        return result, log.exists() and "fault " in log.read_text(encoding="utf-8")

    def check_every(self, call, action, expected, words):
        """Lets every such call for the input, the first argument, fail in a run of its own."""
        name = words.split()[1]
        for n in itertools.count(1):
            rule = f"call={call},path={name},n={n},act={action}"
            result, has_failed = self.run_program(words, rule)
            if not has_failed:
                break
            with self.subTest(words=words, rule=rule):
                self.assertEqual(result.returncode, 4, result.stderr)
                self.assertRegex(result.stderr, rf"^ringweave: resource error: {name}: {expected}[^\n]*\n$")
                self.assertEqual([name for name in words.split()[2:] if (self.folder / name).exists()], [])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(n, 3)

    def test_is_the_error_of_every_read(self):
        for words in ("info sky.h5", "info cl.h5", "convert alm.h5 new_alm.fits", "convert chunked.h5 new.fits"):
            self.check_every("pread|read", "EIO", "cannot be read at byte [0-9]+: Input/output error", words)

    def test_is_the_error_of_every_lock(self):
        self.check_every("flock", "ENOLCK", "cannot be locked: No locks available", "info sky.h5")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
