#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`smooth --method ring` equals the harmonic method within --error, on 1, 2, 3 and 5 ranks."""
import json
import os
import shutil
import unittest

import program
from program_test import LMAX, N_PIXELS, NSIDE, RANK_INVARIANCE, SINGLE_STORAGE, SkyTest

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np

from files import is_seen, map_header, read_map, rms_difference

ERROR = 1e-5  # default of --error


class RingSmoothing(SkyTest):
    """A kernel of 10 degrees has no power above the degrees that nside 32 holds."""

    width = ("--fwhm", "10deg")

    def smooth(self, *options, source="sky.h5", out="out.h5", **run):
        """Returns the Result and the columns of the output map."""
        result = self.done("smooth", source, out, *options, "--overwrite", **run)
        return result, self.read(out)

    def ring(self, *options, width=width, **run):
        return self.smooth("--method", "ring", *width, *options, **run)

    def harmonic(self, *options, width=width, **run):
        return self.smooth("--method", "harmonic", "--iter", 0, *width, *options, **run)[1]

    def assert_close(self, ours, theirs, bound=ERROR):
        self.assertEqual(ours.shape, theirs.shape)
        for a, b in zip(ours, theirs):
            np.testing.assert_array_equal(is_seen(a), is_seen(b))
            seen = is_seen(a)
            self.assertLessEqual(rms_difference(a[seen], b[seen]), bound)


class Accuracy(RingSmoothing):
    def test_any_number_of_ranks_agrees_with_the_harmonic_method(self):
        expected = self.harmonic("--fields", "T")
        alone = self.ring("--fields", "T")[1]
        self.assert_close(alone, expected)
        for ranks in (2, 3, 5):
            ours = self.ring("--fields", "T", ranks=ranks)[1]
            self.assert_close(ours, alone, RANK_INVARIANCE)

    def test_threads_change_nothing(self):
        alone = self.ring("--threads", 1)[1]
        np.testing.assert_array_equal(self.ring("--threads", 3)[1], alone)

    def test_the_asked_error_is_kept(self):
        expected = self.harmonic("--fields", "T")
        for error in (1e-2, 1e-7, 1e-10):
            ours = self.ring("--fields", "T", "--error", error, ranks=2)[1]
            self.assert_close(ours, expected, error)

    def test_precision_is_that_of_the_input_or_the_one_asked_for(self):
        expected = self.harmonic("--fields", "T")
        self.done("convert", "sky.h5", "single.h5", "--precision", "single", "--overwrite")
        for options in ({"source": "single.h5"}, {"ranks": 3}):
            single = () if "source" in options else ("--precision", "single")
            ours = self.ring("--fields", "T", "--error", 1e-6, *single, **options)[1]
            with h5py.File(self.folder / "out.h5") as file:
                self.assertEqual(file["map"].dtype, np.float32)
            self.assert_close(ours, expected, 1e-6 + SINGLE_STORAGE)

    def test_grids_of_other_kinds(self):
        for grid in ("gauss:95", "clenshaw:193", "fejer:192"):
            self.done("synthesize", "--alm", "alm.h5", "--grid", grid, "grid.h5", "--overwrite")
            expected = self.harmonic(source="grid.h5")
            for ranks in (1, 3):
                self.assert_close(self.ring(source="grid.h5", ranks=ranks)[1], expected)

    def test_a_partial_map_stays_one(self):
        self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "--latitudes", "-10deg:30deg", "band.h5",
                  "--overwrite")
        for ranks in (1, 3):
            for name in ("ring", "harmonic"):
                self.done("smooth", "band.h5", f"{name}.h5", *self.width, "--method", name, "--iter", 0, "--overwrite",
                          ranks=ranks)
            self.assertIn("partial sky", self.done("info", "ring.h5").out)
            self.done("compare", "ring.h5", "harmonic.h5", "--tolerance", 10 * ERROR)

    def test_fits_and_hdf5_give_the_same(self):
        self.done("convert", "sky.h5", "sky.fits")
        fits = self.ring(source="sky.fits", out="out.fits", ranks=2)[1]
        self.assert_close(fits, self.ring(ranks=3)[1], RANK_INVARIANCE)


class Kernels(RingSmoothing):
    def point_source(self, grid):
        """Writes grid.h5 with one pixel of value 1; returns the angle of every pixel and of every pixel's ring to it, and
        its weight."""
        self.done("synthesize", "--alm", "alm.h5", "--grid", grid, "--fields", "T", "grid.h5", "--overwrite")
        with h5py.File(self.folder / "grid.h5", "r+") as file:
            rings = {name: np.array(file["grid"][name]) for name in ("theta", "phi0", "nphi", "weight")}
            theta = np.repeat(rings["theta"], rings["nphi"])
            phi = np.concatenate([phi0 + 2 * np.pi * np.arange(n) / n for phi0, n in zip(rings["phi0"], rings["nphi"])])
            source = theta.size // 3
            file["map"][...] = np.arange(theta.size) == source
            weight = np.repeat(rings["weight"], rings["nphi"])[source]
        cos_angle = (np.cos(theta) * np.cos(theta[source])
                     + np.sin(theta) * np.sin(theta[source]) * np.cos(phi - phi[source]))
        return np.arccos(np.clip(cos_angle, -1, 1)), np.abs(theta - theta[source]), weight

    def test_a_point_source_gives_the_kernel_and_nothing_beyond_its_support(self):
        theta = np.linspace(0, np.radians(31), 4001)
        profile = np.cos(3 * theta) ** 2 + 0.5
        np.savetxt(self.folder / "kernel.txt", np.column_stack([theta, profile]))
        for grid in ("gauss:40", "clenshaw:61"):
            angle, ring_angle, weight = self.point_source(grid)
            for ranks in (1, 3):
                response = self.ring("--error", 1e-12, width=("--kernel", "kernel.txt"), source="grid.h5",
                                     ranks=ranks)[1][0]
                inside = angle < np.radians(31)
                expected = weight * np.interp(angle, theta, profile)
                np.testing.assert_allclose(response[inside], expected[inside], rtol=0, atol=1e-6 * weight)
                np.testing.assert_allclose(response[~inside], 0, rtol=0, atol=1e-14 * weight)
                np.testing.assert_array_equal(response[ring_angle > np.radians(31)], 0)

    @unittest.skipUnless(shutil.which("strace"), "no strace to count what is opened")
    def test_methods_that_are_compared_share_the_beam_that_was_read(self):
        degrees = np.arange(3 * NSIDE)
        np.savetxt(self.folder / "once.txt", np.column_stack([degrees, np.exp(-degrees * (degrees + 1) / 2 * 0.08**2)]))
        trace = ("strace", "-f", "-qq", "-e", "trace=open,openat", "-o", self.folder / "opened")
        # LeakSanitizer ends a program that is traced.
        environment = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        run = self.done("smooth", "sky.h5", "once.h5", "--beam", "once.txt", "--fields", "T", "--iter", 0, prefix=trace,
                        environment=environment)
        self.assertIn("method:", run.out)
        opened = [line for line in (self.folder / "opened").read_text().splitlines() if '"once.txt"' in line]
        self.assertEqual(len(opened), 1, opened)

    def test_width_beam_and_profile_of_one_gaussian_are_the_same(self):
        sigma = np.radians(10) / np.sqrt(8 * np.log(2))
        degrees = np.arange(3 * LMAX)
        b_l = np.exp(-degrees * (degrees + 1) * sigma**2 / 2)
        np.savetxt(self.folder / "beam.txt", np.column_stack([degrees, b_l]))
        theta = np.linspace(0, np.radians(45), 20001)
        profile = np.polynomial.legendre.legval(np.cos(theta), (2 * degrees + 1) / (4 * np.pi) * b_l)
        np.savetxt(self.folder / "profile.txt", np.column_stack([theta, profile]))
        options = ("--fields", "T", "--error", 1e-9)
        by_width = self.ring(*options)[1]
        for width in (("--beam", "beam.txt"), ("--kernel", "profile.txt")):
            self.assert_close(self.ring(*options, width=width, ranks=2)[1], by_width, 1e-7)
            self.assert_close(self.harmonic("--fields", "T", width=width), by_width, 1e-7)

    def test_the_support_is_the_users(self):
        for ranks in (1, 2):
            result = self.ring("--fields", "T", "--support", "20deg", "--report", "report.json", ranks=ranks)[0]
            self.assertIn("support 20 degrees", result.out)
            report = json.loads((self.folder / "report.json").read_text())["convolution"]
            self.assertAlmostEqual(report["support_degrees"], 20)
            self.assertLess(1e-6, report["truncation_error"])
            self.assertLess(report["truncation_error"], 1e-4)

    def test_the_error_can_be_that_of_a_spectrum(self):
        """Steep spectra are smooth maps, where the truncation changes the monopole most."""
        degrees = np.arange(LMAX + 1)
        supports = {}
        for name, slope in (("blue", 2.0), ("red", -4.0)):
            np.savetxt(self.folder / f"{name}.txt", np.column_stack([degrees, (degrees + 1.0) ** slope]), header="l TT")
            self.ring("--fields", "T", "--input-cl", f"{name}.txt", "--report", "report.json")
            report = json.loads((self.folder / "report.json").read_text())["convolution"]
            self.assertLessEqual(report["truncation_error"], ERROR / 2)
            supports[name] = report["support_degrees"]
        self.assertNotAlmostEqual(supports["blue"], supports["red"], places=2)

    def test_a_narrow_kernel_is_warned_of(self):
        result = self.ring("--fields", "T", width=("--fwhm", "2.2deg"))[0]
        self.assertIn("warning: ", result.err)
        self.assertIn("above l = 95", result.err)

    def test_a_dear_kernel_is_warned_of(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 512, "--fields", "T", "--lmax", 8,
                  "--precision", "single", "large.h5")
        (self.folder / "disc.txt").write_text("0 1\n0.5 1\n")
        for ranks in (1, 3):
            result = self.done("smooth", "large.h5", "dry.h5", "--kernel", "disc.txt", "--method", "ring", "--dry-run",
                               ranks=ranks)
            self.assertIn("--method harmonic --iter 0", result.err)


class Fields(RingSmoothing):
    def test_q_and_u_are_those_of_the_harmonic_method(self):
        expected = self.harmonic()
        alone = self.ring()[1]
        self.assert_close(alone, expected)
        self.assert_close(self.ring("--fields", "QU")[1], alone[1:], RANK_INVARIANCE)
        for ranks in (2, 3, 5):
            self.assert_close(self.ring(ranks=ranks)[1], alone, RANK_INVARIANCE)
        self.assert_close(self.ring("--fields", "QU", "--error", 1e-9, ranks=2)[1], expected[1:], 1e-9)

    def test_q_and_u_have_the_beam_of_e_and_b(self):
        degrees = np.arange(LMAX + 1)
        b_l = np.exp(-degrees * (degrees + 1) * 0.07**2 / 2)
        for name, columns in (("one.txt", (b_l, b_l**1.2, b_l**1.2)), ("two.txt", (b_l, b_l**1.2, b_l))):
            np.savetxt(self.folder / name, np.column_stack([degrees, *columns]), header="l T E B")
        for file in ("one.txt", "two.txt"):
            beam = ("--beam", file)
            expected = self.harmonic(width=beam)
            for ranks in (1, 2, 3):
                self.assert_close(self.ring(width=beam, ranks=ranks)[1], expected)
        np.savetxt(self.folder / "cl.txt", np.column_stack([degrees, (degrees + 1.0) ** -2]), header="l EE")
        self.ring("--fields", "QU", "--input-cl", "cl.txt")

    def test_different_beams_of_e_and_b_are_cut_to_the_asked_error(self):
        degrees = np.arange(LMAX + 1)
        e, b = (np.exp(-degrees * (degrees + 1) * width**2 / 2) for width in (0.07, 0.09))
        np.savetxt(self.folder / "two.txt", np.column_stack([degrees, e, e, b]), header="l T E B")
        options = ("--fields", "QU", "--beam", "two.txt")
        expected = self.harmonic(*options, width=())
        supports = []
        for error in (1e-2, 1e-3):
            ours = self.ring(*options, "--error", error, "--report", "report.json", width=())[1]
            self.assert_close(ours, expected, error)
            report = json.loads((self.folder / "report.json").read_text())
            supports.append(report["convolution"]["support_degrees"])
        # E and B are not local, so the kernel falls slowly.
        self.assertGreater(supports[1], 1.5 * supports[0])
        refused = self.done("smooth", "sky.h5", "out.h5", "--method", "ring", *options, "--error", "1e-3", "--support",
                            f"{supports[0]}deg", "--overwrite", code=2)
        self.assertIn(f"--support {supports[1]:.4g}deg would do", refused.err)
        np.savetxt(self.folder / "low.txt", np.column_stack([degrees, degrees < 2]), header="l EE")
        refused = self.done("smooth", "sky.h5", "out.h5", "--method", "ring", *options, "--input-cl", "low.txt",
                            "--overwrite", code=2, ranks=2)
        self.assertIn("the spectrum of --input-cl has no power", refused.err)
        self.masked_sky("masked.h5")
        masks = ("--unseen", "normalize", "--beam", "two.txt")
        expected = self.harmonic(*masks, source="masked.h5", width=())
        for ranks in (1, 3):
            ours = self.ring(*masks, "--error", 1e-3, source="masked.h5", ranks=ranks, width=())[1]
            self.assert_close(ours, expected, 1e-2)  # divided by small sums of weights

    def test_all_columns_as_scalar_maps(self):
        each = []
        for column in range(3):
            with h5py.File(self.folder / "sky.h5") as source, h5py.File(self.folder / "one.h5", "w") as file:
                for key, value in source.attrs.items():
                    file.attrs[key] = value
                file.create_dataset("map", data=source["map"][column:column + 1])
                file["map"].attrs["NSIDE"], file["map"].attrs["ORDERING"] = NSIDE, "RING"
            each.append(self.ring(source="one.h5")[1][0])
        expected = self.harmonic("--fields", "all")
        for ranks in (1, 3):
            together = self.ring("--fields", "all", ranks=ranks)[1]
            self.assert_close(together, np.array(each))
            self.assert_close(together, expected)

    def test_monopole_and_dipole_are_removed_and_put_back(self):
        for options in (("--remove", "dipole"), ("--remove", "dipole", "--put-back"), ("--compat", "cxx")):
            expected = self.harmonic("--fields", "T", *options)
            self.assert_close(self.ring("--fields", "T", *options, ranks=3)[1], expected)

    def test_unseen_pixels_are_treated_as_in_the_harmonic_method(self):
        self.masked_sky("masked.h5")
        for unseen in ("restore", "zero", "normalize"):
            expected = self.harmonic("--unseen", unseen, source="masked.h5")
            for ranks in (1, 3):
                result, ours = self.ring("--unseen", unseen, source="masked.h5", ranks=ranks)
                self.assertRegex(result.out, r"(^|\s)2000 UNSEEN pixels")
                self.assert_close(ours, expected, 2 * ERROR)
            alone = self.ring("--unseen", unseen, "--fields", "QU", source="masked.h5", ranks=2)[1]
            self.assert_close(alone, expected[1:], 2 * ERROR)
            scalars = self.ring("--unseen", unseen, "--fields", "all", source="masked.h5", ranks=2)[1]
            self.assert_close(scalars, self.harmonic("--unseen", unseen, "--fields", "all", source="masked.h5"),
                              2 * ERROR)
        self.done("smooth", "masked.h5", "fail.h5", *self.width, "--method", "ring", "--unseen", "fail", code=3)


class Plans(RingSmoothing):
    def test_dry_run_prints_a_plan_and_writes_nothing(self):
        before = sorted(os.listdir(self.folder))
        for ranks in (1, 3):
            for fields in ("T", "TQU"):
                out = self.done("smooth", "sky.h5", "dry.h5", *self.width, "--method", "ring", "--fields", fields,
                                "--dry-run", ranks=ranks).out
                for words in ("plan:", "ring method", f"{ranks} rank(s)", "kernel cut at", "halo sent", "ring modes",
                              "memory high-water", "predicted", "the harmonic way"):
                    self.assertIn(words, out)
                self.assertIn("smoothed map", out)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_the_report_tells_method_error_stages_and_halo(self):
        for ranks in (1, 3):
            for fields, unseen, count in (("T", "restore", 1), ("T", "normalize", 2), ("TQU", "restore", 2),
                                          ("QU", "restore", 1), ("TQU", "normalize", 4)):
                self.masked_sky("masked.h5")
                self.ring("--fields", fields, "--unseen", unseen, "--report", "report.json", source="masked.h5",
                          ranks=ranks)
                report = json.loads((self.folder / "report.json").read_text())
                convolution, plan = report["convolution"], report["plan"]
                self.assertEqual(convolution["method"], "ring")
                self.assertEqual(convolution["convolutions"], count)
                self.assertEqual(convolution["allowed_error"], ERROR)
                self.assertGreater(convolution["truncation_error"], 0)
                self.assertLessEqual(convolution["truncation_error"], ERROR)
                self.assertGreater(convolution["seconds"]["max"], 0)
                self.assertEqual(convolution["halo_bytes_sent"], plan["halo_bytes"])
                self.assertEqual(plan["halo_bytes"] > 0, ranks > 1)
                self.assertGreater(plan["predicted_seconds"], 0)
                self.assertGreater(plan["harmonic_seconds"], 0)
                self.assertEqual(set(plan["predicted_stages"]), {"stencil", "sectors", "ring_fft", "modes", "halo", "copies"})
                for stage in ("read", "write", *(("halo",) if ranks > 1 else ())):
                    self.assertIn(stage, report["stages"])
                self.assertEqual(report["layout"]["pixels"]["mean"] * ranks, N_PIXELS)
                self.assertNotIn("harmonic", plan)
                self.assertNotIn("transform", report)

    def test_the_output_says_how_it_was_made(self):
        for name in ("out.h5", "out.fits"):
            self.ring("--fields", "T", out=name, ranks=2)
            header = map_header(self.folder / name)
            self.assertEqual(header["SMETHOD"].strip(), "ring")
            self.assertAlmostEqual(header["FWHM"], 10)
            self.assertLess(20, header["SUPPORT"])
            self.assertLess(0, header["KERNERR"])
            self.assertLessEqual(header["KERNERR"], ERROR)
            # That of the input: rings have none of their own.
            self.assertEqual(header["MAX-LPOL"], map_header(self.folder / "sky.h5")["MAX-LPOL"])
            for ranks in (1, 3):
                self.assertRegex(self.done("info", name, ranks=ranks).out,
                                 "made with FWHM 10.*, SMETHOD ring, SUPPORT 2.*, KERNERR .*[eE]-06,.* QUADSCHM none")
            self.harmonic(out=name)
            self.assertEqual(map_header(self.folder / name)["SMETHOD"].strip(), "harmonic")


if __name__ == "__main__":
    program.main()
