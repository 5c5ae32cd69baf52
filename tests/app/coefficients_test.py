#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real coefficients as text: tables of each normalisation and .gfc files, against scipy's Legendre functions."""
import program

program.require("numpy", "scipy", "h5py")
import h5py
import numpy as np
from scipy.special import factorial, lpmv

from files import read_alm
from latlon import h5_positions

LMAX = 12
RANKS = (1, 3)
NORMALISATIONS = ("orthonormal", "4pi", "schmidt")


def function(normalisation, l, m, lat, lon):
    """Returns the real functions of C and S by their definition, without Condon-Shortley phase."""
    legendre = (-1) ** m * lpmv(m, l, np.sin(lat)) * np.sqrt((2 - (m == 0)) * factorial(l - m) / factorial(l + m))
    factor = {"schmidt": 1, "4pi": np.sqrt(2 * l + 1), "orthonormal": np.sqrt((2 * l + 1) / (4 * np.pi))}
    return factor[normalisation] * legendre * np.array([np.cos(m * lon), np.sin(m * lon)])


class Coefficients(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        random = np.random.default_rng(8)
        cls.lm = [(l, m) for l in range(LMAX + 1) for m in range(l + 1)]
        cls.c = {lm: random.normal() for lm in cls.lm}
        cls.s = {(l, m): random.normal() if m else 0.0 for l, m in cls.lm}

    def write_table(self, name, line="{} {} {!r} {!r}\n", head="", lm=None):
        with open(self.folder / name, "w", encoding="utf-8") as file:
            file.write(head)
            for l, m in lm or self.lm:
                file.write(line.format(l, m, self.c[l, m], self.s[l, m]))

    def check_map(self, alm, normalisation, ranks=1):
        """The map of the a_lm must be the sum of the functions."""
        self.done("synthesize", "--alm", alm, "--grid", "gauss:12", "map.h5", "--overwrite", ranks=ranks)
        with h5py.File(self.folder / "map.h5") as file:
            values = np.array(file["map"])[0]
            lon, lat = h5_positions(file)
        expected = 0
        for l, m in self.lm:
            cosine, sine = function(normalisation, l, m, lat, lon)
            expected = expected + self.c[l, m] * cosine + self.s[l, m] * sine
        self.assertLess(np.abs(values - expected).max(), 1e-12 * np.abs(expected).max())

    def check_back(self, name, words=0):
        rows = [line.split()[words:] for line in (self.folder / name).read_text().splitlines()]
        rows = [row for row in rows if len(row) == 4 and row[0].isdigit()]
        self.assertEqual([(int(l), int(m)) for l, m, _, _ in rows], self.lm)
        for l, m, c, s in rows:
            self.assertAlmostEqual(float(c), self.c[int(l), int(m)], delta=1e-14)
            self.assertAlmostEqual(float(s), self.s[int(l), int(m)], delta=1e-14)

    def test_tables_of_each_normalisation(self):
        for normalisation in NORMALISATIONS:
            # SHTOOLS separates by commas.
            self.write_table("in.txt", line="{}, {}, {!r}, {!r}\n")
            for ranks in RANKS:
                for alm in ("alm.h5", "alm.fits"):
                    self.done("convert", "in.txt", alm, "--normalisation", normalisation, "--overwrite", ranks=ranks)
                    self.check_map(alm, normalisation, ranks)
                    self.done("convert", alm, "out.txt", "--normalisation", normalisation, "--overwrite", ranks=ranks)
                    self.check_back("out.txt")
                    self.assertIn(f"{normalisation} normalisation, no Condon-Shortley phase",
                                  (self.folder / "out.txt").read_text())

    def test_simple_functions(self):
        """z, x and y on the sphere, in the definitions of the books."""
        for normalisation, factor in (("orthonormal", np.sqrt(3 / (4 * np.pi))), ("4pi", np.sqrt(3)), ("schmidt", 1)):
            (self.folder / "xyz.txt").write_text("1 0 2 0\n1 1 3 5\n")
            self.done("convert", "xyz.txt", "xyz.h5", "--normalisation", normalisation, "--overwrite")
            self.done("synthesize", "--alm", "xyz.h5", "--grid", "fejer:6", "map.h5", "--overwrite")
            with h5py.File(self.folder / "map.h5") as file:
                lon, lat = h5_positions(file)
                x, y, z = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)
                np.testing.assert_allclose(np.array(file["map"])[0], factor * (2 * z + 3 * x + 5 * y), atol=1e-13)

    HEAD = ("a comment\nproduct_type gravity_field\nmodelname TEST\nearth_gravity_constant 0.3986004415D+15\n"
            "radius 6378136.3\nmax_degree 12\nerrors formal\nnorm fully_normalized\nkey L M C S sigma C sigma S\n"
            "end_of_head ====\n")

    def test_icgem(self):
        self.write_table("in.gfc", line="gfc {} {} {!r} {!r} 1.0D-12 1.0D-12\n", head=self.HEAD)
        for ranks in RANKS:
            self.check_map("in.gfc", "4pi", ranks)
            self.done("convert", "in.gfc", "alm.h5", "--overwrite", ranks=ranks)
            self.done("convert", "alm.h5", "out.gfc", "--overwrite", ranks=ranks)
            self.check_back("out.gfc", words=1)
            text = (self.folder / "out.gfc").read_text()
            for line in ("earth_gravity_constant 398600441500000", "radius 6378136.2999999998", "max_degree 12",
                         "norm fully_normalized", "end_of_head"):
                self.assertIn("\n" + line + "\n", text)
            self.check_map("out.gfc", "4pi", ranks)
        self.done("convert", "in.gfc", "out.txt", "--normalisation", "4pi", "--overwrite")
        self.check_back("out.txt")
        self.assertIn("keyword: modelname = TEST", self.done("info", "in.gfc", "--provenance").out)
        self.write_table("in.gfc", line="gfct {} {} {!r} {!r} 20050101\ntrnd 2 0 1 0\n", head=self.HEAD)
        self.assertIn("varies with time", self.done("info", "in.gfc").out)

    def test_missing_coefficients_are_zero(self):
        self.write_table("part.txt", lm=[(l, m) for l, m in self.lm if l >= 2])
        self.done("convert", "part.txt", "part.h5", "--normalisation", "orthonormal", "--overwrite")
        alm = read_alm(self.folder / "part.h5")[0]
        self.assertEqual(len(alm), len(self.lm))
        self.assertEqual([alm[0], alm[1], alm[LMAX + 1]], [0, 0, 0])

    def refused(self, code, reason, *arguments):
        for ranks in RANKS:
            self.assertIn(reason, self.done("convert", *arguments, "--overwrite", code=code, ranks=ranks).err)

    def test_bad_files_and_options_are_refused(self):
        def bad(text, name="bad.txt"):
            (self.folder / name).write_text(text)

        asked = ("bad.txt", "bad.h5", "--normalisation", "4pi")
        bad("0 0 1 0\n1 2 1 0\n")
        self.refused(3, "line 2: l = 1, m = 2; expected whole numbers", *asked)
        bad("0 0 1 0\n1 0.5 1 0\n")
        self.refused(3, "line 2", *asked)
        bad("0 0 1 0\n0 0 1 0\n")
        self.refused(3, "line 2: l = 0, m = 0 is there already", *asked)
        bad("1 0 1 2\n")
        self.refused(3, "line 1: S of l = 1, m = 0 is not 0", *asked)
        bad("0 1 2\n")
        self.refused(3, "3 columns; expected l m C S", *asked)
        bad(self.HEAD.replace("fully_normalized", "unnormalized") + "gfc 0 0 1 0\n", "bad.gfc")
        self.refused(3, "norm is unnormalized; expected fully_normalized", "bad.gfc", "bad.h5")
        bad("gfc 0 0 1 0\n", "bad.gfc")
        self.refused(3, "has no line end_of_head", "bad.gfc", "bad.h5")
        bad(self.HEAD + "gfc 0 0 1\n", "bad.gfc")
        self.refused(3, "line 11: expected gfc l m C S", "bad.gfc", "bad.h5")
        bad(self.HEAD + "gfc 0 0 one 0\n", "bad.gfc")
        self.refused(3, "line 11: 'one' is not a number", "bad.gfc", "bad.h5")
        self.write_table("in.txt")
        self.done("convert", "in.txt", "alm.h5", "--normalisation", "4pi", "--overwrite")
        self.refused(2, "a_lm become a table `l m C S` in text with --normalisation", "alm.h5", "out.txt")
        self.refused(2, "--normalisation is of a table", "alm.h5", "alm.fits", "--normalisation", "4pi")
        self.refused(2, "--normalisation is of a table", "in.txt", "out.txt", "--normalisation", "4pi")
        with h5py.File(self.folder / "teb.h5", "w") as file:
            file["alm/alm"] = np.zeros((3, 6), dtype=complex)
            file["alm/alm"].attrs.update(lmax=2, mmax=2)
        self.refused(2, "holds one field, these a_lm have 3 components", "teb.h5", "out.gfc")
        for name in ("bad.h5", "out.gfc", "out.txt"):
            self.assertFalse((self.folder / name).exists(), name)


if __name__ == "__main__":
    program.main()
