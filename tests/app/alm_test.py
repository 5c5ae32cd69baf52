#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ringweave alm` against healpy, on 1, 2, 3 and 5 ranks."""
import json

import program

program.require("numpy", "healpy", "h5py", "astropy")
import healpy
import numpy as np

from files import read_alm, read_map, rms_difference

LMAX = 64
RANKS = (1, 2, 3, 5)
BOUND = 1e-12



class Alm(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(LMAX + 1)
        c_l = 1 / (degrees + 1.0) ** 2
        np.savetxt(cls.folder / "cl.txt", np.column_stack([degrees, c_l, c_l / 4, c_l / 9, c_l / 3]), header="l TT EE BB TE")
        for seed, name in enumerate(("a", "b")):
            cls.done("synthesize", "--cl", "cl.txt", "--seed", seed, "--nside", 32, "--lmax", LMAX, "--unit", "K",
                     "--save-alm", f"{name}.h5", f"{name}_map.fits")
        cls.alms = {name: read_alm(cls.folder / f"{name}.h5") for name in "ab"}

    def run_alm(self, *arguments, ranks=1, **options):
        self.done("alm", *arguments, "--overwrite", ranks=ranks, **options)
        return read_alm(self.folder / "out.h5")

    def test_coordinates_go_from_the_map_through_the_alm(self):
        for suffix in ("h5", "fits"):
            sky = read_map(self.folder / "a_map.fits")
            healpy.write_map(self.folder / "g_map.fits", sky, coord="G", dtype=np.float64, overwrite=True)
            self.done("analyze", "g_map.fits", "--alm", f"g.{suffix}", "--overwrite", "--lmax", LMAX)
            self.assertIn("coordinates G", self.done("info", f"g.{suffix}").out)
            wrong = self.done("alm", f"g.{suffix}", "none.h5", "--rotate", "C:E", code=3, ranks=3)
            self.assertIn("give --rotate G:E", wrong.err)
            self.done("alm", f"g.{suffix}", f"c.{suffix}", "--rotate", "G:C", "--overwrite")
            self.assertIn("coordinates C", self.done("info", f"c.{suffix}").out)
            sum_of_both = self.done("alm", f"g.{suffix}", "none.h5", "--add", f"c.{suffix}", code=3)
            self.assertIn("has coordinates C", sum_of_both.err)
            self.done("synthesize", "--alm", f"c.{suffix}", "--nside", 16, "c_map.fits", "--overwrite")
            self.assertIn("coordinates C", self.done("info", "c_map.fits").out)
            self.done("alm", f"g.{suffix}", f"turned.{suffix}", "--rotate", "10deg,20deg,30deg", "--overwrite")
            self.assertIn("coordinates not given", self.done("info", f"turned.{suffix}").out)

    def test_a_dry_run_prints_the_plan_and_writes_nothing(self):
        for command, held in ((("alm", "a.h5", "plan.h5"), 1), (("alm", "a.h5", "plan.h5", "--add", "b.h5"), 2),
                              (("alm", "a.h5", "plan.h5", "--rotate", "10deg,20deg,30deg"), 1),
                              (("analyze", "a.h5", "b.h5", "--cl", "plan.txt"), 2)):
            for ranks in (1, 3):
                run = self.done(*command, "--dry-run", "--report", "plan.json", "--overwrite", ranks=ranks)
                for words in (f"plan: a_lm, lmax {LMAX}, mmax {LMAX}, 3 component(s), {ranks} rank(s)", "orders m",
                              "memory high-water", "predicted"):
                    self.assertIn(words, run.out)
                self.assertEqual("degrees that are rotated" in run.out, "--rotate" in command)
                plan = json.loads((self.folder / "plan.json").read_text())["plan"]
                self.assertGreaterEqual(plan["buffers_high_water_bytes"], held * 3 * 16 * (LMAX + 1) * (LMAX + 2) // 2)
        self.assertFalse((self.folder / "plan.h5").exists() or (self.folder / "plan.txt").exists())

    def test_degrees_are_cut_and_filled_with_zeros(self):
        for lmax in (20, 80):
            kept = min(lmax, LMAX)
            l, m = healpy.Alm.getlm(kept)
            expected = np.zeros((3, healpy.Alm.getsize(lmax)), complex)
            expected[:, healpy.Alm.getidx(lmax, l, m)] = self.alms["a"][:, healpy.Alm.getidx(LMAX, l, m)]
            for ranks in RANKS:
                np.testing.assert_array_equal(self.run_alm("a.h5", "out.h5", "--lmax", lmax, ranks=ranks), expected)

    def test_a_lm_are_added_and_multiplied(self):
        degrees = np.arange(LMAX + 1)
        factors = np.column_stack([degrees, 1 / (1.0 + degrees), np.cos(degrees), np.exp(-degrees / 9.0)])
        np.savetxt(self.folder / "f.txt", factors, header="l T E B")
        total = self.alms["a"] + 2 * self.alms["b"]
        for ranks in RANKS:
            found = self.run_alm("a.h5", "out.h5", "--add", "b.h5", "--add", "b.h5", "--multiply", "f.txt", ranks=ranks)
            for c in range(3):
                expected = healpy.almxfl(total[c], factors[:, c + 1])
                self.assertLess(rms_difference(found[c], expected), BOUND)
        for c, name in enumerate("TEB"):
            found = self.run_alm("a.h5", "out.h5", "--take", name, "--multiply", "f.txt")
            self.assertEqual(found.shape[0], 1)
            self.assertLess(rms_difference(found[0], healpy.almxfl(self.alms["a"][c], factors[:, c + 1])), BOUND)

    def test_rotations_are_those_of_healpy(self):
        degrees = (25.0, 130.0, -40.0)
        for argument, angles in ((",".join(f"{angle}deg" for angle in degrees), np.radians(degrees)), ("G:C", "GC"),
                                 ("E:G", "EG")):
            expected = self.alms["a"].copy()
            if isinstance(angles, str):
                rotator = healpy.Rotator(coord=list(angles))
                expected = [rotator.rotate_alm(alm) for alm in expected]
            else:
                for alm in expected:
                    healpy.rotate_alm(alm, *angles)
            for ranks in RANKS:
                found = self.run_alm("a.h5", "out.h5", f"--rotate={argument}", ranks=ranks)
                self.assertLess(rms_difference(found, np.array(expected)), BOUND, argument)

    def test_one_component_makes_a_map_of_its_own(self):
        self.done("alm", "a.h5", "e.fits", "--take", "E")
        self.done("synthesize", "--alm", "e.fits", "--nside", 32, "e_map.fits")
        expected = healpy.alm2map(self.alms["a"][1], 32, lmax=LMAX)
        self.assertLess(rms_difference(read_map(self.folder / "e_map.fits")[0], expected), BOUND)

    def test_what_does_not_go_together_is_refused(self):
        self.done("alm", "a.h5", "t.h5", "--take", "T", "--overwrite")
        for arguments, code, message in (
                (("a.h5", "r.h5", "--add", "t.h5"), 3, "only the same are added"),
                (("t.h5", "r.h5", "--take", "E"), 2, "--take E: t.h5 holds T"),
                (("a.h5", "r.h5", "--lmax", 8, "--mmax", 9), 2, "--mmax 9 is above lmax = 8"),
                (("a_map.fits", "r.h5"), 3, "a_map.fits"),
                (("a.h5", "r.h5", "--rotate", "G:X"), 2, "--rotate G:X: expected G (galactic)"),
                (("a.h5", "r.h5", "--rotate", "10deg,20deg"), 2, "expected three angles"),
                (("a.h5", "r.h5", "--rotate", "10,20,30"), 2, "--rotate"),
                (("a.h5", "r.h5", "--mmax", 10, "--rotate", "G:C"), 2, "give --mmax 64"),
                (("a.h5", "r.txt"), 2, "r.txt")):
            for ranks in (1, 3):
                self.assertIn(message, self.done("alm", *arguments, code=code, ranks=ranks).err)
        self.assertFalse((self.folder / "r.h5").exists())


if __name__ == "__main__":
    program.main()
