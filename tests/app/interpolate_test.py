#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""interpolate gives the values of a map or of a_lm at any points, in their order, and the exact transpose."""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

import program

program.require("numpy", "h5py", "healpy")
import h5py
import healpy
import numpy as np

from files import read_alm, read_map, write_map

NSIDE, LMAX = 16, 40
EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "detector.py"


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

    def test_a_map_is_analysed_first(self):
        mask = np.where(np.arange(12 * NSIDE**2) < 500, 0.5, 1.0)
        write_map(self.folder / "mask.fits", mask)
        points = ("--points", "points.txt", "--epsilon", 1e-10, "--overwrite")
        for options in (("--iter", 2), ("--iter", 1, "--mask", "mask.fits")):
            analysis = ("--lmax", LMAX, *options)
            self.done("analyze", "sky.h5", "--alm", "of_sky.h5", "--overwrite", *analysis)
            self.done("interpolate", "--alm", "of_sky.h5", "of_alm.h5", *points)
            for ranks in (1, 3):
                self.done("interpolate", "sky.h5", "of_map.h5", *points, *analysis, "--report", "report.json", ranks=ranks)
                np.testing.assert_allclose(self.values("of_map.h5"), self.values("of_alm.h5"), atol=1e-12)
                report = json.loads((self.folder / "report.json").read_text())
                self.assertEqual(report["analysis"]["iterations"], options[1])
                self.assertGreater(report["points"]["points_per_second"], 0)
                self.assertLess({"legendre", "rows", "points", "value_exchange"}, set(report["stages"]))

    def test_the_exchange_of_modes_may_overlap_or_be_single(self):
        points = ("--alm", "alm.h5", "--points", "points.txt", "--epsilon", 1e-10, "--overwrite")
        found = {}
        for exchange in ("double", "overlap", "single"):
            warnings = self.done("interpolate", "values.h5", *points, "--exchange", exchange, ranks=3).err
            self.assertEqual("--exchange single leaves errors" in warnings, exchange == "single")
            found[exchange] = self.values("values.h5")
        np.testing.assert_array_equal(found["overlap"], found["double"])
        error = np.std(found["single"] - found["double"]) / np.std(found["double"])
        self.assertGreater(error, 1e-9)
        self.assertLess(error, 1e-6)

    def test_a_dry_run_prints_the_plan_and_writes_nothing(self):
        for ranks in (1, 3):
            for source in (("sky.h5",), ("--alm", "alm.h5")):
                run = self.done("interpolate", *source, "dry.h5", "--points", "points.txt", "--dry-run", "--report",
                                "plan.json", "--overwrite", ranks=ranks)
                for words in ("taps", "fine rows", "predicted error", "points of a rank", "in one transform to points",
                              "memory high-water", "for files"):
                    self.assertIn(words, run.out)
                plan = json.loads((self.folder / "plan.json").read_text())["plan"]
                stages = plan["interpolation"]["predicted_stages"]
                self.assertEqual(list(stages), ["legendre", "exchange", "rows", "points", "value_exchange"])
                self.assertGreater(plan["interpolation"]["predicted_seconds"], max(stages.values()))
                self.assertEqual(plan["interpolation"]["bytes_sent"] > 0, ranks > 1)
                self.assertEqual("transforms" in plan, source == ("sky.h5",))
        self.assertFalse((self.folder / "dry.h5").exists())

    def test_an_epsilon_below_rounding_is_warned_about(self):
        points = ("--alm", "alm.h5", "--points", "points.txt", "values.h5", "--overwrite")
        self.assertIn("warning: --epsilon 1e-13 is below 1.08e-13",
                      self.done("interpolate", *points, "--epsilon", 1e-13).err)
        self.assertNotIn("warning", self.done("interpolate", *points, "--epsilon", 1.1e-13).err)

    @unittest.skipUnless(program.DATA.is_dir(), "RINGWEAVE_TEST_DATA names no folder")
    def test_pixels_of_wmap_on_eight_ranks_come_back_in_order_shuffled_or_lensed_by_nothing(self):
        self.done("analyze", program.DATA / "wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits", "--lmax", 64, "--alm",
                  "wmap.h5", "--precision", "double")
        self.done("synthesize", "--alm", "wmap.h5", "--nside", 32, "wmap_map.h5")
        pixels = self.random.permutation(12 * 32**2)
        np.savetxt(self.folder / "pixels.txt", np.column_stack(healpy.pix2ang(32, pixels)), fmt="%.17g")
        self.done("interpolate", "--alm", "wmap.h5", "--points", "pixels.txt", "wmap_values.h5", "--epsilon", 1e-10, ranks=8)
        self.done("alm", "wmap.h5", "zero_phi.h5", "--take", "T")
        with h5py.File(self.folder / "zero_phi.h5", "r+") as file:
            file["alm/alm"][:] = 0
        self.done("lens", "--alm", "wmap.h5", "--potential", "zero_phi.h5", "--nside", 32, "wmap_lensed.h5", "--epsilon",
                  1e-10, ranks=8)
        expected = read_map(self.folder / "wmap_map.h5")
        lensed = read_map(self.folder / "wmap_lensed.h5")
        for ours, theirs, still in zip(self.values("wmap_values.h5"), expected, lensed):
            self.assertLess(np.std(ours - theirs[pixels]), 1e-10 * np.std(theirs))
            self.assertLess(np.std(still - theirs), 1e-10 * np.std(theirs))

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

    def test_the_example_of_a_detector_finds_the_sky(self):
        run = subprocess.run([sys.executable, EXAMPLE, "--program", program.PROGRAM, "--lmax", "8", "--steps", "6",
                              "--samples", "2000"], cwd=self.folder, capture_output=True, text=True, check=True)
        errors = [float(line.split()[-1]) for line in run.stdout.splitlines() if line.startswith("step")]
        self.assertEqual(len(errors), 6)
        self.assertEqual(errors, sorted(errors, reverse=True))
        self.assertLess(errors[-1], 0.3 * errors[0])

    def refused(self, code, words, *arguments):
        for ranks in (1, 3):
            result = self.done("interpolate", *arguments, code=code, ranks=ranks)
            self.assertEqual(len(result.messages()), 1, result)
            for word in words:
                self.assertIn(word, result.err)

    def test_numbers_that_are_not_finite_are_an_error(self):
        for name, dataset, place in (("nan_alm.h5", "alm/alm", (1, 50)), ("nan_sky.h5", "map", (2, 777))):
            shutil.copy(self.folder / name[4:], self.folder / name)
            with h5py.File(self.folder / name, "r+") as file:
                file[dataset][place] = np.nan
        points = ("--points", "points.txt", "none.h5")
        # m = 0 has the first 41 coefficients, so number 50 is l = 10 of m = 1.
        self.refused(3, ["nan_alm.h5", "1 a_lm of component E", "l = 10, m = 1"], "--alm", "nan_alm.h5", *points)
        self.refused(3, ["nan_sky.h5", "777"], "nan_sky.h5", *points)
        self.assertFalse(list(self.folder.glob("none*")))

    def test_no_points_at_all_are_no_error(self):
        np.savetxt(self.folder / "empty.txt", np.zeros((0, 2)), header="theta phi")
        with h5py.File(self.folder / "empty.h5", "w") as file:
            file["theta"], file["phi"] = np.zeros(0), np.zeros(0)
        with h5py.File(self.folder / "nothing.h5", "w") as file:
            file["values"] = np.zeros((1, 0))
        for ranks in (1, 3):
            for points in ("empty.txt", "empty.h5"):
                self.done("interpolate", "--alm", "alm.h5", "--points", points, "nowhere.h5", "--overwrite", ranks=ranks)
                self.assertEqual(self.values("nowhere.h5").shape, (3, 0))
            self.done("interpolate", "--adjoint", "nothing.h5", "--points", "empty.h5", "--lmax", 10, "zero.h5",
                      "--overwrite", ranks=ranks)
            self.assertFalse(np.any(read_alm(self.folder / "zero.h5")))

    def test_bad_input_is_one_clear_error(self):
        np.savetxt(self.folder / "bad.txt", [[0.5, 1.0], [91.0, 1.0]])
        with h5py.File(self.folder / "few.h5", "w") as file:
            file["values"] = np.zeros((1, 7))
        np.savetxt(self.folder / "nan.txt", [[0.5, 1.0], [0.6, 1.0], [0.7, np.nan]])
        np.savetxt(self.folder / "four.txt", [[0.5, 1.0, 0.0, 1.0]])
        np.savetxt(self.folder / "one.txt", [0.5])
        np.savetxt(self.folder / "latitude.txt", [[0.5, 1.0], [0.6, 1.0], [-0.5, 1.0], [-0.6, 1.0]])
        (self.folder / "uneven.txt").write_text("0.5 1.0\n0.6 1.0 0.3\n")
        with h5py.File(self.folder / "uneven.h5", "w") as file:
            file["theta"], file["phi"] = np.zeros(7), np.zeros(8)
        with h5py.File(self.folder / "short_psi.h5", "w") as file:
            file["theta"], file["phi"], file["psi"] = np.zeros(7), np.zeros(7), np.zeros(6)
        with h5py.File(self.folder / "square.h5", "w") as file:
            file["theta"], file["phi"] = np.zeros((2, 2)), np.zeros((2, 2))
        np.savetxt(self.folder / "few.txt", np.zeros(7))
        np.savetxt(self.folder / "wide.txt", np.zeros((500, 4)), header="columns: A B C D")
        with h5py.File(self.folder / "infinite.h5", "w") as file:
            file["values"] = np.where(np.arange(500) == 77, np.inf, 0.0)[None]
        points, alm = ("--points", "points.txt"), ("--alm", "alm.h5")
        self.refused(3, ["bad.txt", "theta of point 1 (from 0) is 91", "1 of 2 points"], *alm, "--points", "bad.txt",
                     "none.h5")
        self.refused(3, ["nan.txt", "phi of point 2 (from 0) is nan", "at 1 of the points"], *alm, "--points", "nan.txt",
                     "none.h5")
        self.refused(3, ["four.txt: line 1: has 4 columns; expected theta and phi"], *alm, "--points", "four.txt", "none.h5")
        self.refused(3, ["one.txt: line 1: has 1 columns; expected theta and phi"], *alm, "--points", "one.txt", "none.h5")
        self.refused(3, ["latitude.txt", "theta of point 2 (from 0) is -0.5; 2 of 4 points", "latitudes"], *alm, "--points",
                     "latitude.txt", "none.h5")
        self.refused(3, ["uneven.txt", "line 2"], *alm, "--points", "uneven.txt", "none.h5")
        self.refused(3, ["uneven.h5", "/theta has 7 numbers, but /phi has 8"], *alm, "--points", "uneven.h5", "none.h5")
        self.refused(3, ["short_psi.h5", "/theta has 7 numbers, but /psi has 6"], *alm, "--points", "short_psi.h5", "none.h5")
        self.refused(3, ["square.h5", "/theta has 2 dimensions; 1 was expected"], *alm, "--points", "square.h5", "none.h5")
        self.refused(3, ["few.txt", "values at 7 points, but there are 500 points"], "--adjoint", "few.txt", *points,
                     "--lmax", 10, "none.h5")
        for fields, expected in (((), "expected 1 (T), 2 (Q, U) or 3 (T, Q, U)"), (("--fields", "QU"), "2 of --fields QU")):
            self.refused(3, ["wide.txt: has 4 component(s) at each point", expected], "--adjoint", "wide.txt", *points,
                         "--lmax", 10, "none.h5", *fields)
        self.refused(3, ["infinite.h5", "point 77 (from 0) is inf"], "--adjoint", "infinite.h5", *points, "--lmax", 10,
                     "none.h5")
        self.refused(2, ["MAP", "--alm", "--adjoint"], "sky.h5", "none.h5", *alm, *points)
        self.refused(2, ["--iter is for maps, and --alm is given"], *alm, *points, "none.h5", "--iter", 3)
        self.refused(2, ["psi", "Q and U"], "sky.h5", "--points", "scan.h5", "--fields", "T", "none.h5")
        self.refused(2, ["points.txt: is an input"], *alm, *points, "points.txt", "--overwrite")
        self.refused(2, ["--points"], *alm, "none.h5")
        self.refused(2, ["--alm", "--adjoint"], *points, "none.h5")
        for epsilon in (1e-15, 0.2, "nan"):
            self.refused(2, ["--epsilon", "1e-13 to 0.1"], *alm, *points, "none.h5", "--epsilon", epsilon)
        self.refused(2, ["--lmax"], "--adjoint", "few.h5", *points, "none.h5")
        self.refused(3, ["few.h5", "7", "500"], "--adjoint", "few.h5", *points, "--lmax", 10, "none.h5")
        self.refused(2, ["psi"], *alm, "--points", "scan.h5", "--fields", "T", "none.h5")
        self.refused(2, ["none.fits"], *alm, *points, "none.fits")
        self.assertFalse(list(self.folder.glob("none*")))


if __name__ == "__main__":
    program.main()
