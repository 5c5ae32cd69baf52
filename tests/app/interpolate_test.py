#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""interpolate gives the values of a_lm at any points, in their order, and the exact transpose."""
import json
import unittest

import program

program.require("numpy", "h5py", "healpy")
import h5py
import healpy
import numpy as np

from files import read_alm

NSIDE, LMAX = 16, 40


class Interpolate(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        l = np.arange(LMAX + 1)
        np.savetxt(cls.folder / "cl.txt", np.column_stack([l, 1 / (l + 1.0), 0.3 / (l + 1.0), 0.1 / (l + 1.0), 0 * l]),
                   header="l TT EE BB TE")
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 5, "--nside", NSIDE, "--lmax", LMAX, "sky.h5", "--save-alm",
                 "alm.h5")
        cls.random = np.random.default_rng(3)
        cls.pixels = cls.random.permutation(12 * NSIDE**2)[:500]
        cls.theta, cls.phi = healpy.pix2ang(NSIDE, cls.pixels)
        cls.psi = cls.random.uniform(0, np.pi, 500)
        np.savetxt(cls.folder / "points.txt", np.column_stack([cls.theta, cls.phi]), fmt="%.17g")
        with h5py.File(cls.folder / "scan.h5", "w") as file:
            file["theta"], file["phi"], file["psi"] = cls.theta, cls.phi, cls.psi
        with h5py.File(cls.folder / "sky.h5") as file:
            cls.sky = file["map"][:][:, cls.pixels]

    def values(self, name):
        with h5py.File(self.folder / name) as file:
            return file["values"][:]

    def test_values_at_pixel_centres_are_those_of_the_map_in_any_order(self):
        for ranks in (1, 3):
            self.done("interpolate", "--alm", "alm.h5", "--points", "points.txt", "values.h5", "--epsilon", 1e-12,
                      "--overwrite", "--report", "report.json", ranks=ranks)
            values = self.values("values.h5")
            for component in range(3):
                error = np.std(values[component] - self.sky[component]) / np.std(self.sky[component])
                self.assertLess(error, 2e-12)
            report = json.loads((self.folder / "report.json").read_text())
            self.assertEqual(report["points"]["points"], 500)
            self.assertIn("value_exchange", report["stages"])
        self.done("interpolate", "--alm", "alm.h5", "--points", "points.txt", "values.txt", "--fields", "T", "--epsilon",
                  1e-12)
        np.testing.assert_allclose(np.loadtxt(self.folder / "values.txt"), self.sky[0], atol=1e-10)

    def test_a_detector_sees_temperature_and_polarisation(self):
        self.done("interpolate", "--alm", "alm.h5", "--points", "scan.h5", "stream.h5", "--epsilon", 1e-12)
        t, q, u = self.sky
        np.testing.assert_allclose(self.values("stream.h5")[0], t + q * np.cos(2 * self.psi) + u * np.sin(2 * self.psi),
                                   atol=1e-10)

    def test_the_adjoint_is_the_transpose(self):
        self.done("interpolate", "--alm", "alm.h5", "--points", "scan.h5", "seen.h5")
        other = self.random.normal(size=500)
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["values"] = other[None]
        seen = self.values("seen.h5")[0]
        for ranks in (1, 3):
            self.done("interpolate", "--adjoint", "other.h5", "--points", "scan.h5", "--lmax", LMAX, "back.h5",
                      "--overwrite", ranks=ranks)
            a, b = (np.array(read_alm(self.folder / name)) for name in ("alm.h5", "back.h5"))
            weight = np.full(a.shape[1], 2.0)
            weight[:LMAX + 1] = 1
            product = np.sum(weight * (a.conj() * b).real)
            self.assertLess(abs(product - seen @ other),
                            1e-12 * np.linalg.norm(seen) * np.linalg.norm(other))

    def test_fields_of_other_spins_are_those_of_healpy(self):
        e_and_b = [np.array(component) for component in read_alm(self.folder / "alm.h5")[1:]]
        for spin in (1, 2, 3):
            self.done("interpolate", "--alm", "alm.h5", "--points", "points.txt", "--fields", "QU", "--spin", spin,
                      "spin.h5", "--epsilon", 1e-12, "--overwrite")
            maps = healpy.alm2map_spin(e_and_b, NSIDE, spin, LMAX)
            for ours, theirs in zip(self.values("spin.h5"), maps):
                self.assertLess(np.std(ours - theirs[self.pixels]), 2e-12 * np.std(theirs))

    def refused(self, code, words, *arguments):
        for ranks in (1, 3):
            result = self.done("interpolate", *arguments, code=code, ranks=ranks)
            self.assertEqual(len(result.messages()), 1, result)
            for word in words:
                self.assertIn(word, result.err)

    def test_bad_input_is_one_clear_error(self):
        np.savetxt(self.folder / "bad.txt", [[0.5, 1.0], [91.0, 1.0]])
        with h5py.File(self.folder / "few.h5", "w") as file:
            file["values"] = np.zeros((1, 7))
        points, alm = ("--points", "points.txt"), ("--alm", "alm.h5")
        self.refused(3, ["bad.txt", "theta"], *alm, "--points", "bad.txt", "none.h5")
        self.refused(2, ["--points"], *alm, "none.h5")
        self.refused(2, ["--alm", "--adjoint"], *points, "none.h5")
        self.refused(2, ["epsilon"], *alm, *points, "none.h5", "--epsilon", 1e-15)
        self.refused(2, ["--lmax"], "--adjoint", "few.h5", *points, "none.h5")
        self.refused(3, ["few.h5", "7", "500"], "--adjoint", "few.h5", *points, "--lmax", 10, "none.h5")
        self.refused(2, ["psi"], *alm, "--points", "scan.h5", "--fields", "T", "none.h5")
        self.refused(2, ["none.fits"], *alm, *points, "none.fits")
        self.assertFalse(list(self.folder.glob("none*")))


if __name__ == "__main__":
    program.main()
