#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens at an awkward moment: timing_test.py PROGRAM INJECTOR MPIRUN

The injector (ringweave_faults) makes a call wait; meanwhile a signal arrives, another run begins, or a file changes.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, INJECTOR, MPIRUN = sys.argv[1:4]
SECONDS = 30
OLD = b"the old output\n"
# Long enough for a loaded machine to notice; runs that end by a signal do not wait so long.
PAUSE = 4000


class AtAMoment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="moment_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        spectrum = "".join(f"{l} {1 / (l + 1):.6f}\n" for l in range(2, 48))
        (self.folder / "cl.txt").write_text(spectrum, encoding="utf-8")
        self.finish(self.start("synthesize", "--cl", "cl.txt", "--seed", "1", "--fields", "T", "--nside", "32",
                               "sky.h5"))
        self.finish(self.start("convert", "sky.h5", "sky.fits"))

    def start(self, *arguments, rule="", ranks=1):
        preload = ":".join(filter(None, (INJECTOR, os.environ.get("LD_PRELOAD"))))
        command = ["env", f"LD_PRELOAD={preload}", PROGRAM, *arguments]
        if ranks > 1:
            command = [MPIRUN, str(ranks), *command]
        return subprocess.Popen(command, cwd=self.folder, env={**os.environ, "RINGWEAVE_FAULT": rule,
                                                               "OMP_NUM_THREADS": "1"},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, code=0):
        """Returns what a run says on stderr."""
        with process:
            err = process.communicate(timeout=SECONDS)[1]
        self.assertEqual(process.returncode, code, err)
        return err

    def hidden(self):
        return sorted(name for name in os.listdir(self.folder) if name.startswith("."))

    def wait_for(self, happens):
        end = time.monotonic() + SECONDS
        while not happens():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.01)

    def paused_writing(self, *arguments, ranks=1):
        """Starts a run that waits in its first write to a temporary file. Its first write of all is to its lock."""
        process = self.start(*arguments, ranks=ranks,
                             rule=f"call=pwrite|write|fwrite,path=.tmp.,rank=0,n=2,act=delay:{PAUSE}")
        self.wait_for(lambda: any(not name.startswith(".tmp.lock.") for name in self.hidden()))
        time.sleep(0.5)
        return process


class Signals(AtAMoment):
    def check(self, number, *arguments, output, ranks=1):
        with self.subTest(signal=number.name, arguments=arguments, ranks=ranks):
            (self.folder / output).write_bytes(OLD)
            process = self.paused_writing(*arguments, output, "--overwrite", ranks=ranks)
            process.send_signal(number)
            with process:
                process.communicate(timeout=SECONDS)
            self.assertNotEqual(process.returncode, 0)
            self.assertEqual(self.hidden(), [])
            self.assertEqual((self.folder / output).read_bytes(), OLD)

    def test_leave_no_temporary_file(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.check(number, "convert", "sky.h5", output="out.h5")
        self.check(signal.SIGTERM, "convert", "sky.h5", output="out.fits")
        self.check(signal.SIGTERM, "convert", "sky.h5", output="out.fits.gz")
        self.check(signal.SIGINT, "convert", "sky.fits", output="out.h5", ranks=3)


class OtherRuns(AtAMoment):
    def test_cannot_write_the_same_output(self):
        first = self.paused_writing("convert", "sky.h5", "out.h5")
        err = self.finish(self.start("convert", "sky.fits", "out.h5", "--overwrite"), code=2)
        self.assertIn("out.h5: another run is writing it (process ", err)
        self.finish(first)
        self.assertEqual(self.hidden(), [])
        self.finish(self.start("compare", "out.h5", "sky.h5"))

    def test_that_were_killed_are_cleaned_up_after(self):
        killed = self.paused_writing("convert", "sky.h5", "out.h5")
        killed.kill()
        with killed:
            killed.communicate(timeout=SECONDS)
        self.assertNotEqual(self.hidden(), [])
        self.finish(self.start("convert", "sky.h5", "out.h5"))
        self.assertEqual(self.hidden(), [])

    def test_may_not_lose_their_file_that_appeared(self):
        process = self.paused_writing("convert", "sky.h5", "out.h5")
        (self.folder / "out.h5").write_bytes(OLD)
        self.assertIn("appeared during this run", self.finish(process, code=2))
        self.assertEqual((self.folder / "out.h5").read_bytes(), OLD)
        self.assertEqual(self.hidden(), [])


class Inputs(AtAMoment):
    def test_that_are_cut_while_they_are_read_are_errors(self):
        size = os.path.getsize(self.folder / "sky.h5")
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                self.finish(self.start("convert", "sky.fits", "cut.h5", "--overwrite"))
                process = self.start("convert", "cut.h5", "out.fits", ranks=ranks,
                                     rule=f"call=pread,path=cut.h5,n=1,act=delay:{PAUSE // 2}")
                time.sleep(1)
                os.truncate(self.folder / "cut.h5", size // 2)
                err = self.finish(process, code=3)
                self.assertRegex(err, "ringweave: data error: (rank [0-9]: )?cut.h5: ")
                self.assertFalse((self.folder / "out.fits").exists())
                self.assertEqual(self.hidden(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
