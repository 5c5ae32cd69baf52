#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Views and sizes of pictures."""
import unittest

import program

program.require("numpy", "astropy")
import numpy as np

from files import write_map


class Views(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        write_map(cls.folder / "sky.fits", np.arange(12.0 * 8**2))
        np.savetxt(cls.folder / "cl.txt", np.column_stack([np.arange(9), np.ones(9)]))

    def picture(self, name, *options, ranks=1):
        self.done("plot", "sky.fits", name, "--overwrite", *options, ranks=ranks)
        return (self.folder / name).read_bytes()

    def test_any_point_may_be_in_the_middle(self):
        plain = self.picture("plain.png")
        for centre in ("180deg,0deg", "120deg,-60deg"):
            pictures = [self.picture("turned.png", "--centre", centre, ranks=ranks) for ranks in (1, 3)]
            self.assertEqual(pictures[0], pictures[1])
            self.assertNotEqual(pictures[0], plain)
        for arguments, words in ((("sky.fits", "--centre", "1deg"), "expected LON,LAT"),
                                 (("sky.fits", "--centre", "1deg,2deg", "--zoom", "1deg,2deg,3deg"), "give one of them"),
                                 (("cl.txt", "--centre", "1deg,2deg"), "--centre is for maps"),
                                 (("sky.fits", "--dpi", "5"), "--dpi")):
            self.assertIn(words, self.done("plot", arguments[0], "r.png", *arguments[1:], code=2).err)

    def test_coordinates_are_named_in_letters_and_in_planck_s_words(self):
        sky = np.arange(12.0 * 8**2)
        pictures = {}
        for coordinates in ("G", "GALACTIC", "C", None):
            write_map(self.folder / "named.fits", sky, COORDSYS=coordinates)
            self.done("plot", "named.fits", "named.png", "--width", 1000, "--overwrite")
            pictures[coordinates] = (self.folder / "named.png").read_bytes()
        self.assertEqual(pictures["G"], pictures["GALACTIC"])
        self.assertEqual(len(set(pictures.values())), 3)

    def test_the_ends_of_the_range_are_compared(self):
        self.assertIn("--range 5:1: LOW, 5, must be below HIGH, 1",
                      self.done("plot", "sky.fits", "none.png", "--range", "5:1", code=2).err)

    def test_the_size_follows_from_dpi(self):
        for colours in ("viridis", "planck"):
            svg = self.picture("sky.svg", "--dpi", 100, "--colours", colours)
            self.assertIn(b'width="1152pt"', svg)
        self.assertIn(b"pHYs\x00\x00\x2e\x23\x00\x00\x2e\x23\x01", self.picture("sky.png", "--dpi", 300))


if __name__ == "__main__":
    program.main()
