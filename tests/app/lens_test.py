#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""lens: lensed maps, their adjoint and inverse, against sums in numpy, healpy and pixell's maps."""
import json
import math
import shutil
import unittest

import program

program.require("numpy", "h5py", "healpy", "astropy")
import h5py
import healpy
import numpy as np
from astropy.io import fits

from files import map_header, read_alm, read_map, rms_difference

LMAX, NSIDE = 40, 16
GRID = "gauss:95"  # more than twice the degrees: what lensing moves beyond LMAX is there
RANK_INVARIANCE = 1e-13  # of tests/support/tolerance.hpp
POTENTIAL = ("--potential", "phi.h5")


def inner_product(a, b, lmax):
    """Returns that of the a_lm of real fields."""
    weight = np.full(a.shape[-1], 2.0)
    weight[:lmax + 1] = 1
    return np.sum(weight * (a.conj() * b).real)


def unit_vectors(theta, phi):
    """Returns the vectors of points, and the tangent vectors to the south and to the east."""
    sin, cos = np.sin(theta), np.cos(theta)
    zero = np.zeros_like(theta)
    return (np.array([sin * np.cos(phi), sin * np.sin(phi), cos]),
            np.array([cos * np.cos(phi), cos * np.sin(phi), -sin]), np.array([-np.sin(phi), np.cos(phi), zero]))


def follow(theta, phi, south, east):
    """Moves points along great circles; returns the vectors there and the southward vectors carried along."""
    n, to_south, to_east = unit_vectors(theta, phi)
    arc = np.hypot(south, east)
    direction = (south * to_south + east * to_east) / arc
    end = np.cos(arc) * n + np.sin(arc) * direction
    along = np.sum(to_south * direction, axis=0)
    carried = to_south + along * (np.cos(arc) * direction - np.sin(arc) * n - direction)
    return end, carried


def scalar_values(alm, lmax, theta, phi):
    """Returns the values of a_lm at points, by recurrences of normalised Legendre functions."""
    x, sine = np.cos(theta), np.sin(theta)
    sum_ = np.zeros_like(theta)
    sectoral = np.full_like(theta, math.sqrt(0.25 / math.pi))
    for m in range(lmax + 1):
        before, now = np.zeros_like(theta), sectoral
        modes = np.zeros_like(theta, dtype=complex)
        for l in range(m, lmax + 1):
            modes += alm[healpy.Alm.getidx(lmax, l, m)] * now
            factor = math.sqrt((4 * (l + 1)**2 - 1) / ((l + 1)**2 - m * m))
            rest = math.sqrt((l * l - m * m) / (4 * l * l - 1)) if l > m else 0.0
            before, now = now, factor * (x * now - rest * before)
        sum_ += (1 if m == 0 else 2) * (modes * np.exp(1j * m * phi)).real
        sectoral = -math.sqrt((2 * m + 3) / (2 * m + 2)) * sine * sectoral
    return sum_


class Lens(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        l = np.arange(LMAX + 1)
        falling = 1 / (l + 1.0)**2
        potential = np.where(l > 0, 2e-5 / np.maximum(l * (l + 1.0), 1)**2, 0)  # 7 mrad rms
        cross = 0.4 * np.sqrt(falling * potential)
        cls.cl = np.column_stack([l, falling, 0.3 * falling, 0.1 * falling, 0.1 * falling, potential, cross, 0.3 * cross])
        np.savetxt(cls.folder / "cl.txt", cls.cl, header="C_l in uK^2\nl TT EE BB TE PP TP EP")
        cls.done("lens", "--cl", "cl.txt", "--seed", 7, "--lmax", LMAX, "--nside", NSIDE, "--epsilon", 1e-12,
                 "lensed.h5", "--save-alm", "alm.h5", "--save-potential", "phi.h5", "--deflection", "d.h5", "--report",
                 "report.json")
        cls.alm = read_alm(cls.folder / "alm.h5")
        cls.phi = read_alm(cls.folder / "phi.h5")[0]
        cls.random = np.random.default_rng(3)

    def map_of(self, *arguments, ranks=1):
        self.done("lens", *arguments, "out.h5", "--epsilon", 1e-12, "--overwrite", ranks=ranks)
        return read_map(self.folder / "out.h5")

    def write_potential(self, name, alm):
        """Writes a_lm as the potential's file has them."""
        shutil.copy(self.folder / "phi.h5", self.folder / name)
        with h5py.File(self.folder / name, "r+") as file:
            file["alm/alm"][0] = alm

    def test_temperature_and_polarisation_drawn_are_those_of_synthesize(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 7, "--lmax", LMAX, "--nside", NSIDE, "same.h5", "--save-alm",
                  "same_alm.h5")
        self.assertTrue(np.array_equal(self.alm, read_alm(self.folder / "same_alm.h5")))
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["seed"], 7)
        self.assertLess(report["deflection"]["rms_arcmin"], report["deflection"]["largest_arcmin"])
        self.assertEqual(report["points"]["points"], 12 * NSIDE**2)
        for stage in ("legendre", "rows", "points", "value_exchange", "deflection"):
            self.assertIn(stage, report["stages"])
        with h5py.File(self.folder / "lensed.h5") as file:
            self.assertIn("uK", str(dict(file["map"].attrs)))

    def test_spectra_with_the_potential_are_of_one_sky(self):
        self.done("convert", "cl.txt", "cl.fits")
        self.assertFalse(fits.getheader(self.folder / "cl.fits", 1)["ASYMCL"])

    def test_the_potential_is_correlated_with_the_fields(self):
        columns = self.cl[:, [0, 1, 5, 6]] * [1, 1, 1, 2.5]
        np.savetxt(self.folder / "coupled.txt", columns, header="l TT PP TP")
        self.done("lens", "--cl", "coupled.txt", "--cl-kind", "cl", "--seed", 7, "--lmax", LMAX, "--nside", 4,
                  "coupled_map.h5", "--save-potential", "coupled.h5", "--save-alm", "coupled_alm.h5")
        # Fully correlated: phi is a multiple of T by degree.
        phi, t = read_alm(self.folder / "coupled.h5")[0], read_alm(self.folder / "coupled_alm.h5")[0]
        ratio = np.where(self.cl[:, 5] > 0, np.sqrt(self.cl[:, 5] / self.cl[:, 1]), 0)
        np.testing.assert_allclose(phi, healpy.almxfl(t, ratio), atol=1e-9 * abs(phi).max())

    def test_lensed_maps_are_the_fields_where_great_circles_lead(self):
        theta, phi = healpy.pix2ang(NSIDE, np.arange(12 * NSIDE**2))
        _, south, east = healpy.alm2map_der1(self.phi, NSIDE, LMAX)
        new_theta, new_phi, gamma, d_theta, d_phi = read_map(self.folder / "d.h5")
        np.testing.assert_allclose([d_theta, d_phi], [south, east], atol=1e-15)
        end, carried = follow(theta, phi, south, east)
        there, to_south, to_east = unit_vectors(new_theta, new_phi)
        np.testing.assert_allclose(there, end, atol=1e-14)
        np.testing.assert_allclose(np.sum(carried * to_south, axis=0), np.cos(gamma), atol=1e-13)
        np.testing.assert_allclose(np.sum(carried * to_east, axis=0), -np.sin(gamma), atol=1e-13)
        lensed = read_map(self.folder / "lensed.h5")
        expected = scalar_values(self.alm[0], LMAX, new_theta, new_phi)
        self.assertLess(np.std(lensed[0] - expected), 3e-12 * np.std(expected))
        # Q and U at the points, turned with the frame.
        np.savetxt(self.folder / "points.txt", np.column_stack([new_theta, new_phi]), fmt="%.17g")
        self.done("interpolate", "--alm", "alm.h5", "--points", "points.txt", "values.h5", "--epsilon", 1e-12)
        with h5py.File(self.folder / "values.h5") as file:
            q, u = file["values"][1:]
        turned = (q + 1j * u) * np.exp(2j * gamma)
        self.assertLess(rms_difference(lensed[1] + 1j * lensed[2], turned), 1e-11)
        plain = self.map_of("--alm", "alm.h5", *POTENTIAL, "--nside", NSIDE, "--no-rotation")
        self.assertLess(rms_difference(plain[1:], np.array([q, u])), 1e-11)

    def test_the_same_map_comes_from_files_and_on_several_ranks(self):
        lensed = read_map(self.folder / "lensed.h5")
        for ranks in (1, 3):
            ours = self.map_of("--alm", "alm.h5", *POTENTIAL, "--nside", NSIDE, ranks=ranks)
            self.assertLess(rms_difference(ours, lensed), RANK_INVARIANCE)
        drawn = self.map_of("--cl", "cl.txt", "--seed", 7, "--lmax", LMAX, "--nside", NSIDE, ranks=3)
        self.assertLess(rms_difference(drawn, lensed), RANK_INVARIANCE)
        for fields, rows in (("T", slice(0, 1)), ("QU", slice(1, 3))):
            for source in (("--alm", "alm.h5", *POTENTIAL), ("--cl", "cl.txt", "--seed", 7, "--lmax", LMAX)):
                ours = self.map_of(*source, "--nside", NSIDE, "--fields", fields)
                self.assertLess(rms_difference(ours, lensed[rows]), 1e-11)

    def test_potentials_of_every_kind_are_read(self):
        lensed = read_map(self.folder / "lensed.h5")
        l = np.arange(LMAX + 1.0)
        for kind, factor in (("kappa", l * (l + 1) / 2), ("deflection", np.sqrt(l * (l + 1)))):
            self.write_potential(f"{kind}.h5", healpy.almxfl(self.phi, factor))
            ours = self.map_of("--alm", "alm.h5", "--potential", f"{kind}.h5", "--potential-kind", kind, "--nside", NSIDE)
            self.assertLess(rms_difference(ours, lensed), 1e-12)

    def test_a_curl_potential_deflects_along_its_contours(self):
        self.write_potential("zero.h5", 0 * self.phi)
        self.map_of("--alm", "alm.h5", "--potential", "zero.h5", "--curl", "phi.h5", "--nside", NSIDE, "--deflection",
                    "curl.h5")
        _, south, east = healpy.alm2map_der1(self.phi, NSIDE, LMAX)
        np.testing.assert_allclose(read_map(self.folder / "curl.h5")[3:], [-east, south], atol=1e-15)

    def test_without_deflection_lens_is_synthesize_and_its_weighted_adjoint_the_analysis(self):
        self.write_potential("zero.h5", 0 * self.phi)
        still = ("--potential", "zero.h5")
        self.done("synthesize", "--alm", "alm.h5", "--grid", GRID, "plain.h5", "--overwrite")
        ours = self.map_of("--alm", "alm.h5", *still, "--grid", GRID)
        self.assertLess(rms_difference(ours, read_map(self.folder / "plain.h5")), 2e-12)
        for extra in ((), ("--magnification",)):
            self.done("lens", "--adjoint", "plain.h5", *still, "--lmax", LMAX, "--weights", "quadrature", *extra,
                      "back.h5", "--epsilon", 1e-12, "--overwrite")
            self.assertLess(rms_difference(read_alm(self.folder / "back.h5"), self.alm), 2e-12)

    def test_the_adjoint_is_the_transpose(self):
        other = self.random.normal(size=(3, 12 * NSIDE**2))
        lensed = read_map(self.folder / "lensed.h5")
        shutil.copy(self.folder / "lensed.h5", self.folder / "other.h5")
        with h5py.File(self.folder / "other.h5", "r+") as file:
            file["map"][:] = other
        for ranks in (1, 3):
            self.done("lens", "--adjoint", "other.h5", *POTENTIAL, "--lmax", LMAX, "back.h5", "--epsilon", 1e-12,
                      "--overwrite", ranks=ranks)
            gap = inner_product(self.alm, read_alm(self.folder / "back.h5"), LMAX) - np.sum(lensed * other)
            self.assertLess(abs(gap), 1e-12 * np.linalg.norm(lensed) * np.linalg.norm(other))

    def test_weights_and_magnification_make_the_adjoint_delens(self):
        self.map_of("--alm", "alm.h5", *POTENTIAL, "--grid", GRID)
        self.done("lens", "--adjoint", "out.h5", *POTENTIAL, "--lmax", LMAX, "back.h5", "--weights", "quadrature",
                  "--magnification", "--overwrite")
        self.assertLess(rms_difference(read_alm(self.folder / "back.h5"), self.alm), 3e-3)

    def test_a_lensed_map_that_is_moved_back_is_the_unlensed_one(self):
        self.done("synthesize", "--alm", "alm.h5", "--grid", GRID, "plain.h5", "--overwrite")
        plain = read_map(self.folder / "plain.h5")
        self.map_of("--alm", "alm.h5", *POTENTIAL, "--grid", GRID)
        shutil.copy(self.folder / "out.h5", self.folder / "moved.h5")
        errors = []
        for lmax in (LMAX, 60, 90):
            for ranks in (1, 3) if lmax == 90 else (1,):
                back = self.map_of("--inverse", "moved.h5", *POTENTIAL, "--lmax", lmax, ranks=ranks)
            errors.append(rms_difference(back[0], plain[0]))
        self.assertGreater(errors[0], errors[1])
        self.assertLess(errors[2], 1e-3)
        # The same of a_lm, in either place, and of a map that is cut at this degree.
        self.done("analyze", "moved.h5", "--lmax", 60, "--alm", "lensed_alm.h5")
        back = self.map_of("--inverse", "moved.h5", *POTENTIAL, "--lmax", 60)
        for source in (("--inverse", "lensed_alm.h5"), ("--inverse", "--alm", "lensed_alm.h5")):
            ours = self.map_of(*source, *POTENTIAL, "--grid", GRID)
            self.assertLess(rms_difference(ours, back), 1e-12)
        cut = self.map_of("--alm", "alm.h5", *POTENTIAL, "--grid", GRID, "--lensed-lmax", 60, ranks=3)
        self.assertEqual(map_header(self.folder / "out.h5")["NITERALM"], 0)
        self.done("synthesize", "--alm", "lensed_alm.h5", "--grid", GRID, "cut.h5")
        self.assertLess(rms_difference(cut, read_map(self.folder / "cut.h5")), 1e-12)

    def test_a_dry_run_prints_the_plan_and_writes_nothing(self):
        always = ("taps", "points of a rank", "memory high-water", "in the deflection (legendre",
                  "in one transform to points (Legendre", "rows", "values", "in all of these")
        drawn = ("--cl", "cl.txt", "--nside", NSIDE)
        for form, words in ((("--alm", "alm.h5", "--nside", NSIDE, *POTENTIAL), ()),
                            (("--adjoint", "lensed.h5", "--lmax", LMAX, *POTENTIAL, "--magnification"), ("in |A|",)),
                            (("--inverse", "lensed.h5", *POTENTIAL),
                             ("in the inverse deflection, 8 evaluations", "sorting")),
                            (("--inverse", "--alm", "alm.h5", "--nside", NSIDE, *POTENTIAL), ("inverse deflection",)),
                            (drawn, ())):
            with self.subTest(form=form):
                out = self.done("lens", *form, "dry.h5", "--dry-run", "--report", "dry.json", "--overwrite", ranks=3).out
                for text in always + words:
                    self.assertIn(text, out)
                plan = json.loads((self.folder / "dry.json").read_text())["plan"]
                parts = [plan[name]["predicted_seconds"] for name in
                         ("deflection", "inverse", "interpolation", "magnification") if name in plan]
                self.assertAlmostEqual(plan["predicted_lensing_seconds"], sum(parts))
                self.assertEqual(set(plan["deflection"]["predicted_stages"]), {"legendre", "exchange", "ring_fft"})
        (self.folder / "dry.json").unlink()
        out = self.done("lens", *drawn, "--lensed-lmax", 90, "dry.h5", "--dry-run")
        self.assertIn("lmax = 90, but the grid", out.err)
        self.assertIn("analysis to --lensed-lmax", out.out)
        self.assertIn("in the cut at --lensed-lmax", out.out)
        out = self.done("lens", "--cl", "cl.txt", "--nside", NSIDE, "--lmax", 10, "--deflection", "dry_d.h5", "dry.h5",
                        "--dry-run")
        self.assertIn("map of --deflection", out.out)
        self.assertFalse(list(self.folder.glob("dry*")))

    def test_positions_and_turns_of_pixels_are_predicted_in_every_transform(self):
        seconds = []
        for extra in ((), ("--no-rotation",)):
            self.done("lens", "--alm", "alm.h5", *POTENTIAL, "--nside", NSIDE, *extra, "plan.h5", "--dry-run", "--report",
                      "plan.json", "--overwrite")
            plan = json.loads((self.folder / "plan.json").read_text())["plan"]
            seconds.append(plan["interpolation"]["predicted_stages"]["points"])
        self.assertGreater(seconds[0], seconds[1])

    def test_the_exchange_of_modes_may_overlap(self):
        for form in (("--alm", "alm.h5", "--nside", NSIDE), ("--adjoint", "lensed.h5", "--lmax", LMAX)):
            found = []
            for exchange in ("double", "overlap"):
                self.done("lens", *form, *POTENTIAL, "out.h5", "--exchange", exchange, "--overwrite", ranks=2)
                read = read_map if form[0] == "--alm" else read_alm
                found.append(read(self.folder / "out.h5"))
            np.testing.assert_array_equal(*found)

    def test_deflections_that_are_too_large_are_warned_about(self):
        self.write_potential("large.h5", 1e3 * self.phi)
        large = self.done("lens", "--alm", "alm.h5", "--potential", "large.h5", "--nside", NSIDE, "out.h5", "--overwrite")
        self.assertIn("--potential-kind", large.err)
        fine = self.done("lens", "--alm", "alm.h5", *POTENTIAL, "--nside", NSIDE, "out.h5", "--overwrite", "--lmax", 30)
        self.assertNotIn("warning", fine.err)
        self.assertIn("used to its own lmax", fine.err)
        adjoint = self.done("lens", "--adjoint", "lensed.h5", *POTENTIAL, "--lmax", 30, "back.h5", "--overwrite")
        self.assertIn("used to its own lmax", adjoint.err)
        single = self.done("lens", "--alm", "alm.h5", *POTENTIAL, "--nside", NSIDE, "out.h5", "--overwrite", "--exchange",
                           "single")
        self.assertIn("--epsilon", single.err)
        self.assertLess(rms_difference(read_map(self.folder / "out.h5"), read_map(self.folder / "lensed.h5")), 1e-5)
        mistaken = self.done("lens", "--cl", "cl.txt", "--cl-kind", "cl", "--nside", 2, "--seed", 1, "out.h5",
                             "--overwrite")
        self.assertNotIn("--potential-kind", mistaken.err)

    def refused(self, code, words, *arguments):
        for ranks in (1, 3):
            result = self.done("lens", *arguments, code=code, ranks=ranks)
            self.assertEqual(len(result.messages()), 1, result)
            for word in words:
                self.assertIn(word, result.err)

    def test_bad_input_is_one_clear_error(self):
        alm, grid = ("--alm", "alm.h5"), ("--nside", NSIDE)
        self.write_potential("folded.h5", 300 * self.phi)
        self.write_potential("broken.h5", np.nan * self.phi)
        np.savetxt(self.folder / "no_pp.txt", self.cl[:, :5], header="l TT EE BB TE")
        self.refused(2, ["--alm", "--cl", "--adjoint", "--inverse"], *POTENTIAL, *grid, "none.h5")
        self.refused(2, ["--potential"], *alm, *grid, "none.h5")
        self.refused(2, ["--nside", "--grid"], *alm, *POTENTIAL, "none.h5")
        self.refused(2, ["--lmax"], "--adjoint", "lensed.h5", *POTENTIAL, "none.h5")
        self.refused(2, ["--nside"], "--adjoint", "lensed.h5", *POTENTIAL, "--lmax", 9, *grid, "none.h5")
        self.refused(2, ["lensed.h5", "--inverse"], "lensed.h5", *alm, *POTENTIAL, *grid, "none.h5")
        self.refused(2, ["--inverse"], "--inverse", *POTENTIAL, *grid, "none.h5")
        self.refused(2, ["--adjoint", "--inverse"], "--inverse", "--adjoint", "lensed.h5", *POTENTIAL, "none.h5")
        self.refused(2, ["--cl draws"], "--cl", "cl.txt", *POTENTIAL, *grid, "none.h5")
        for moved in ("lensed.h5", "alm.h5"):
            self.refused(2, ["--cl", "--inverse"], "--inverse", moved, "--cl", "cl.txt", *grid, "none.h5")
        self.refused(2, ["--iter", "alm.h5"], "--inverse", "alm.h5", *POTENTIAL, *grid, "--iter", 3, "none.h5")
        self.refused(2, ["--seed"], *alm, *POTENTIAL, *grid, "--seed", 3, "none.h5")
        self.refused(2, ["--seed"], "--cl", "cl.txt", *grid, "--seed", "1..3", "none.h5", "--dry-run")
        self.refused(2, ["--weights"], *alm, *POTENTIAL, *grid, "--weights", "quadrature", "none.h5")
        self.refused(2, ["--magnification"], *alm, *POTENTIAL, *grid, "--magnification", "none.h5")
        self.refused(2, ["--lensed-lmax"], "--inverse", "lensed.h5", *POTENTIAL, "--lensed-lmax", 9, "none.h5")
        self.refused(2, ["--iter"], *alm, *POTENTIAL, *grid, "--iter", 3, "none.h5")
        self.refused(2, ["epsilon"], *alm, *POTENTIAL, *grid, "none.h5", "--epsilon", 1e-15)
        self.refused(2, ["d.h5", "--overwrite"], *alm, *POTENTIAL, *grid, "none.h5", "--deflection", "d.h5")
        self.refused(2, ["none.fits"], *alm, *POTENTIAL, "--grid", GRID, "none.fits")
        self.refused(3, ["no_pp.txt", "PP"], "--cl", "no_pp.txt", *grid, "none.h5")
        self.refused(3, ["alm.h5", "3 components"], *alm, "--potential", "alm.h5", *grid, "none.h5")
        self.refused(3, ["broken.h5", "NaN"], *alm, "--potential", "broken.h5", *grid, "none.h5")
        for name, dataset, place in (("nan_alm.h5", "alm/alm", (1, 50)), ("nan_lensed.h5", "map", (2, 777))):
            shutil.copy(self.folder / name[4:], self.folder / name)
            with h5py.File(self.folder / name, "r+") as file:
                file[dataset][place] = np.nan
        # m = 0 has the first 41 coefficients, so number 50 is l = 10 of m = 1.
        for form in (("--alm",), ("--inverse", "--alm")):
            self.refused(3, ["nan_alm.h5", "1 a_lm of component E", "l = 10, m = 1"], *form, "nan_alm.h5", *POTENTIAL, *grid,
                         "none.h5")
        self.refused(3, ["nan_lensed.h5", "777"], "--adjoint", "nan_lensed.h5", *POTENTIAL, "--lmax", 9, "none.h5")
        self.refused(3, ["nan_lensed.h5", "777"], "--inverse", "nan_lensed.h5", *POTENTIAL, "none.h5")
        self.refused(3, ["missing.h5"], *alm, "--potential", "missing.h5", *grid, "none.h5")
        self.refused(3, ["folded.h5", "pixel", "|A|"], "--inverse", *alm, "--potential", "folded.h5", *grid, "none.h5")
        self.refused(3, ["cl.txt", "neither"], "--inverse", "cl.txt", *POTENTIAL, *grid, "none.h5")
        self.assertFalse(list(self.folder.glob("none*")))


@unittest.skipUnless((program.DATA / "lensing").exists(), "no sample data")
class MapsOfPixell(program.ProgramTest):
    """Maps by pixell, 181 x 360; Q and U are turned by 4 gamma, its own mistake."""

    LENSING = program.DATA / "lensing"

    def pixell(self, name):
        """Returns a map as ours, with rows from the north pole and longitudes that ascend from 0."""
        stored = fits.getdata(self.LENSING / name).astype(np.float64)
        return np.roll(stored[:, ::-1, ::-1], 181, axis=2)

    def test_lensed_maps_are_those_of_pixell(self):
        arguments = ("--alm", self.LENSING / "MM_alm_TEB_lmax400.fits", "--potential",
                     self.LENSING / "MM_alm_phi_lmax400.fits", "--grid", "clenshaw:181,360", "--epsilon", 1e-12)
        result = self.done("lens", *arguments, "lensed.h5", "--no-rotation", "--deflection", "d.h5", "--verbose", ranks=3)
        measured = next(line for line in result.out.splitlines() if line.startswith("measured seconds"))
        for stage in ("deflection", "exchange", "legendre", "points", "rows", "value_exchange"):
            self.assertRegex(measured, rf"[ ,:] {stage} \d")
        self.done("synthesize", *arguments[:2], *arguments[4:6], "unlensed.h5")
        shape = (-1, 181, 360)
        unlensed, lensed = (read_map(self.folder / name).reshape(shape) for name in ("unlensed.h5", "lensed.h5"))
        gamma = read_map(self.folder / "d.h5").reshape(shape)[2]
        theirs = self.pixell("MM_unlensed_071123.fits")
        sigma = theirs.std(axis=(1, 2))
        for ours, other, unit in zip(unlensed, theirs, sigma):
            self.assertLess(np.abs(ours - other).max(), 1e-11 * unit)
        theirs = self.pixell("MM_lensed_071123.fits")
        self.assertLess(np.abs(lensed[0] - theirs[0])[1:-1].max(), 1e-10 * sigma[0])
        turned = ((lensed[1] + 1j * lensed[2]) * np.exp(4j * gamma))[11:-11]
        theirs_of_spin = (theirs[1] + 1j * theirs[2])[11:-11]
        self.assertLess(np.abs(turned - theirs_of_spin).max(), 1e-9 * sigma[1])
        # Turned rightly they differ by this much.
        rightly = ((lensed[1] + 1j * lensed[2]) * np.exp(2j * gamma))[11:-11]
        self.assertAlmostEqual(np.sqrt(np.mean(np.abs(rightly - theirs_of_spin)**2) / 2) / sigma[1], 1.7e-3, delta=3e-4)


class DrawnSky(program.ProgramTest):
    """A sky drawn from spectra by CAMB, beside its lensed spectra."""

    UNLENSED = program.DATA / "spectra" / "FFP10_wdipole_lenspotentialCls.dat"
    LENSED = program.DATA / "spectra" / "FFP10_wdipole_lensedCls.dat"

    def excess(self, lmax, grid, bands, ranks):
        """Returns rows of TT, EE and BB: means over bands of degrees of what lensing changed, less what it should have
        changed (BB: of what there is, less what there should be), over the lensed spectrum."""
        if not self.LENSED.exists():
            self.skipTest("no sample data")
        self.done("lens", "--cl", self.UNLENSED, "--cl-kind", "dl", "--seed", 1, "--lmax", lmax, "--grid", grid, "sky.h5",
                  "--save-alm", "alm.h5", "--report", "report.json", ranks=ranks, timeout=400)
        self.done("analyze", "sky.h5", "--lmax", lmax, "--cl", "lensed.txt", timeout=400)
        self.done("analyze", "alm.h5", "--cl", "unlensed.txt")
        ours = [np.loadtxt(self.folder / name).T for name in ("lensed.txt", "unlensed.txt")]
        theirs = [np.loadtxt(path).T for path in (self.LENSED, self.UNLENSED)]
        rows = []
        for column in (1, 2, 3):
            rows.append([])
            for low, high in bands:
                l = np.arange(low, high)
                lensed, unlensed = (l * (l + 1) / (2 * np.pi) * table[column][l] for table in ours)
                expected, before = (table[column][l - 1] for table in theirs)
                change = lensed - expected - (unlensed - before if column < 3 else 0)
                rows[-1].append(np.mean(change / expected))
        return np.array(rows)


class LensedSpectra(DrawnSky):
    def test_low_degrees_of_temperature_and_e_need_few_more(self):
        excess = self.excess(600, "gauss:600", [(100, 400)], 3)[:, 0]
        report = json.loads((self.folder / "report.json").read_text())
        self.assertAlmostEqual(report["deflection"]["rms_arcmin"], 2.6, delta=0.2)
        self.assertLess(abs(excess[0]), 2e-3)
        self.assertLess(abs(excess[1]), 5e-3)
        self.assertTrue(-0.5 < excess[2] < -0.3, excess)  # BB comes from higher degrees of E


class LargeLensedSpectra(DrawnSky):
    """The same to high degrees, in a minute or two of a core."""

    def test_spectra_of_camb_make_its_lensed_spectra(self):
        bands = [(100, 300), (300, 500), (500, 800), (800, 1100), (1100, 1400), (1400, 1700), (1700, 2000), (2000, 2400)]
        excess = self.excess(3000, "gauss:3400", bands, 1)
        self.assertLess(np.abs(excess[:2]).max(), 2e-3, excess)
        self.assertLess(np.abs(excess[2][:5]).max(), 1e-2, excess)


if __name__ == "__main__":
    program.main()
