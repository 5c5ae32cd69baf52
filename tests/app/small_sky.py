# SPDX-License-Identifier: GPL-3.0-or-later
"""Common parts of tests of misread files: a small sky, and checks of refusals."""
import unittest

import program

program.require("numpy", "h5py", "astropy")
import numpy as np

from files import read_alm, read_map

DATA = program.DATA
USAGE, ERROR_IN_DATA = 2, 3
LMAX = 47
NSIDE = 16
DEGREES = np.arange(LMAX + 1)

needs_data = unittest.skipUnless(DATA.is_dir(), "RINGWEAVE_TEST_DATA names no folder")


class SmallSky(program.ProgramTest):
    """Has spectra, the map and the a_lm of a small sky: cl.txt, sky.h5, alm.h5."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.c_l = 1000 / (DEGREES + 1.0) ** 2.5
        cls.d_l = cls.c_l * DEGREES * (DEGREES + 1) / (2 * np.pi)
        cls.write_table("cl.txt", [cls.c_l, 0.1 * cls.c_l, 0.01 * cls.c_l, 0.2 * cls.c_l], "l TT EE BB TE")
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 3, "--nside", NSIDE, "sky.h5", "--save-alm", "alm.h5")

    @classmethod
    def write_table(cls, name, columns, header=""):
        np.savetxt(cls.folder / name, np.column_stack([np.arange(len(columns[0])), *columns]), header=header)

    def refused(self, code, words, *arguments, ranks=(1, 3), **options):
        for n in ranks:
            result = self.done(*arguments, code=code, ranks=n, **options)
            self.assertEqual(len(result.messages()), 1, result)
            for word in words:
                self.assertIn(word, result.err)

    def values(self, name):
        return read_map(self.folder / name)

    def alm(self, name):
        return read_alm(self.folder / name)
