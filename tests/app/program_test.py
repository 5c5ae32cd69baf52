#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every subcommand and option of the program with valid input, on 1, 2, 3 and 5 ranks."""
import json
import os
import pty
import struct

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits

from files import UNSEEN, is_seen, map_header, read_alm, read_map, read_text, rms_difference, write_map

RANK_INVARIANCE = 1e-13  # the bounds of tests/support/tolerance.hpp
ROUND_TRIP = 1e-12
SINGLE_STORAGE = 1e-6
NSIDE = 32
LMAX = 3 * NSIDE - 1
N_PIXELS = 12 * NSIDE**2


class SkyTest(program.ProgramTest):
    """A polarised spectrum cl.txt and a realisation of it, sky.h5 with alm.h5."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(LMAX + 1)
        cls.spectra = [s / (degrees + 1.0) ** 2 for s in (1, 0.5, 0.1, 0.2)]
        cls.spectra[1][:2] = cls.spectra[2][:2] = cls.spectra[3][:2] = 0
        np.savetxt(cls.folder / "cl.txt", np.column_stack([degrees, *cls.spectra]), header="l TT EE BB TE")
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", NSIDE, "--unit", "K", "--save-alm", "alm.h5",
                 "sky.h5")

    def read(self, name):
        return read_map(self.folder / name)

    def masked_sky(self, name):
        """Writes sky.h5 with a band of UNSEEN pixels; returns which pixels are seen."""
        seen = np.ones(N_PIXELS, dtype=bool)
        seen[4000:6000] = False
        sky = self.read("sky.h5")
        with h5py.File(self.folder / "sky.h5") as source, h5py.File(self.folder / name, "w") as file:
            for key, value in source.attrs.items():
                file.attrs[key] = value
            source.copy("map", file)
            source.copy("crs", file)
            file["map"][...] = np.where(seen, sky, UNSEEN)
        return seen


class Ranks(SkyTest):
    def test_any_number_of_ranks_writes_the_same(self):
        smooth = ("smooth", "sky.h5", "out.h5", "--fwhm", "5deg", "--overwrite")
        analyze = ("analyze", "sky.h5", "--alm", "out_alm.h5", "--overwrite")
        synthesize = ("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", NSIDE, "out_sky.h5", "--overwrite")
        results = {}
        for ranks in (1, 2, 3, 5):
            for command in (smooth, analyze, synthesize):
                self.done(*command, ranks=ranks)
            results[ranks] = self.read("out.h5"), read_alm(self.folder / "out_alm.h5"), self.read("out_sky.h5")
            for ours, alone in zip(results[ranks], results[1]):
                for a, b in zip(ours, alone):
                    self.assertLessEqual(rms_difference(a, b), RANK_INVARIANCE, ranks)

    def test_more_ranks_than_rings_and_orders(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 1, "--lmax", 1, "few.h5", ranks=5)
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 1, "--lmax", 1, "one.h5")
        self.done("compare", "few.h5", "one.h5", "--tolerance", 1e-12, ranks=5)

    def test_threads_change_nothing(self):
        for threads in (1, 2, 4):
            self.done("smooth", "sky.h5", f"t{threads}.h5", "--fwhm", "5deg", "--threads", threads)
            np.testing.assert_array_equal(self.read(f"t{threads}.h5"), self.read("t1.h5"))


class Synthesize(SkyTest):
    def test_a_seed_is_one_realisation(self):
        synthesize = ("synthesize", "--cl", "cl.txt", "--nside", NSIDE, "--overwrite")
        self.done(*synthesize, "--seed", 1, "again.h5", ranks=3)
        self.done("compare", "again.h5", "sky.h5", "--tolerance", 1e-12)
        self.done(*synthesize, "--seed", 2, "other.h5")
        self.done("compare", "other.h5", "sky.h5", "--tolerance", 1e-1, code=1)

    def test_a_fresh_seed_is_printed_and_gives_the_same_again(self):
        synthesize = ("synthesize", "--cl", "cl.txt", "--nside", NSIDE)
        for ranks in (1, 3):
            result = self.done(*synthesize, f"fresh{ranks}.h5", ranks=ranks)
            seed = result.out.split("seed ")[1].split()[0]
            self.done(*synthesize, "--seed", seed, f"repeated{ranks}.h5")
            self.done("compare", f"repeated{ranks}.h5", f"fresh{ranks}.h5", "--tolerance", 1e-12)

    def test_the_saved_alm_give_the_map(self):
        self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "from_alm.h5", ranks=3)
        self.done("compare", "from_alm.h5", "sky.h5", "--tolerance", 1e-12)

    def test_spectra_are_those_asked_for(self):
        self.done("convert", "alm.h5", "alm.fits")
        self.done("analyze", "sky.h5", "--iter", 10, "--cl", "measured.txt")
        self.done("compare", "measured.txt", "cl.txt", "--cosmic-variance", "--lmax", 2 * NSIDE)

    def test_latitudes_make_a_partial_map(self):
        for name in ("band.h5", "band.fits"):
            self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "--latitudes", "-10deg:30deg", name, ranks=3)
            self.assertIn("partial sky", self.done("info", name).out)
            self.done("convert", name, f"again_{name}")
            self.done("compare", f"again_{name}", name)
        self.assertEqual(map_header(self.folder / "band.fits")["OBJECT"], "PARTIAL")
        self.done("compare", "band.fits", "band.h5", "--tolerance", 1e-13)
        with fits.open(self.folder / "band.fits") as hdus:
            pixels, values = np.ravel(hdus[1].data["PIXEL"]), np.ravel(hdus[1].data["TEMPERATURE"])
        np.testing.assert_allclose(values, self.read("sky.h5")[0, pixels], rtol=0, atol=1e-12)
        self.assertLess(abs(pixels.size / N_PIXELS - (0.5 + 0.1736) / 2), 0.02)

    def test_nested_output(self):
        self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "--order", "nested", "nested.fits")
        self.assertEqual(map_header(self.folder / "nested.fits")["ORDERING"].strip(), "NESTED")
        self.done("convert", "nested.fits", "ring.h5", "--order", "ring", ranks=3)
        np.testing.assert_allclose(self.read("ring.h5"), self.read("sky.h5"), rtol=0, atol=1e-12)
        self.assertFalse(np.allclose(self.read("nested.fits"), self.read("sky.h5")))

    def test_precision(self):
        for name, kind in (("single.h5", np.float32), ("single.fits", np.float32)):
            self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "--precision", "single", name, ranks=2)
            for ours, double in zip(self.read(name), self.read("sky.h5")):
                self.assertLessEqual(rms_difference(ours, double), SINGLE_STORAGE)
            self.done("smooth", name, f"smooth_{name}", "--fwhm", "1deg")
        with h5py.File(self.folder / "smooth_single.h5") as file:
            self.assertEqual(file["map"].dtype, np.float32)

    def test_beams_and_windows_multiply(self):
        degrees = np.arange(LMAX + 1)
        beam = np.exp(-degrees / 20.0)
        np.savetxt(self.folder / "beam.txt", np.column_stack([degrees, beam]), header="l b_T")
        self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "--beam", "beam.txt", "--save-alm", "beamed.h5",
                  "beamed_map.h5", ranks=2)
        ell = np.concatenate([np.arange(m, LMAX + 1) for m in range(LMAX + 1)])
        expected = read_alm(self.folder / "alm.h5") * beam[ell]
        np.testing.assert_allclose(read_alm(self.folder / "beamed.h5"), expected, rtol=1e-13)


class Grids(SkyTest):
    def test_exact_grids_give_the_alm_back(self):
        for grid in (f"gauss:{LMAX}", f"clenshaw:{2 * LMAX + 2}", f"fejer:{2 * LMAX + 2}"):
            for ranks in (1, 3):
                with self.subTest(grid=grid, ranks=ranks):
                    self.done("synthesize", "--alm", "alm.h5", "--grid", grid, "exact.h5", "--overwrite", ranks=ranks)
                    self.done("analyze", "exact.h5", "--iter", 0, "--lmax", LMAX, "--alm", "back.h5", "--overwrite",
                              ranks=ranks)
                    ours, theirs = read_alm(self.folder / "back.h5"), read_alm(self.folder / "alm.h5")
                    for a, b in zip(ours, theirs):
                        self.assertLessEqual(rms_difference(a, b), ROUND_TRIP)

    def test_iterations_and_conjugate_gradients_converge_on_healpix(self):
        """A sky of low band limit is recovered."""
        self.done("analyze", "sky.h5", "--lmax", NSIDE, "--iter", 0, "--alm", "low.h5")
        self.done("synthesize", "--alm", "low.h5", "--nside", NSIDE, "low_sky.h5")
        errors = []
        for ranks in (1, 3):
            for method in (("--iter", 0), ("--iter", 3), ("--tol", 1e-13)):
                self.done("analyze", "low_sky.h5", *method, "--lmax", NSIDE, "--alm", "back.h5", "--overwrite",
                          ranks=ranks)
                errors.append(rms_difference(read_alm(self.folder / "back.h5"), read_alm(self.folder / "low.h5")))
            self.assertLess(errors[-2], errors[-3] / 100)
            self.assertLess(errors[-1], ROUND_TRIP)


class Smooth(SkyTest):
    def sigma(self):
        return self.read("sky.h5").std(axis=1)[:, None]

    def test_what_is_done_with_unseen_pixels(self):
        seen = self.masked_sky("masked.h5")
        smooth = ("smooth", "masked.h5", "--fwhm", "5deg", "--overwrite")
        for ranks in (1, 3):
            result = self.done(*smooth, "restore.h5", ranks=ranks)
            self.assertIn("\n2000 UNSEEN pixels: restore\n", result.out)
            self.done(*smooth, "zero.h5", "--unseen", "zero", ranks=ranks)
            restored, zero = self.read("restore.h5"), self.read("zero.h5")
            for row in restored:
                np.testing.assert_array_equal(is_seen(row), seen)
            self.assertTrue(np.all(is_seen(zero)))
            np.testing.assert_allclose(zero[:, seen], restored[:, seen], rtol=0, atol=1e-13)
        self.done(*smooth, "fail.h5", "--unseen", "fail", code=3)

    def test_normalized_smoothing_mends_the_edges(self):
        """A constant stays constant up to the mask's edge; without seen pixels the result stays UNSEEN."""
        seen = self.masked_sky("masked.h5")
        with h5py.File(self.folder / "masked.h5", "r+") as file:
            file["map"][0] = np.where(seen, 5.0, UNSEEN)
        smooth = ("smooth", "masked.h5", "--fwhm", "5deg", "--fields", "T", "--overwrite")
        for ranks in (1, 3):
            self.done(*smooth, "restored.h5", ranks=ranks)
            self.done(*smooth, "normalized.h5", "--unseen", "normalize", ranks=ranks)
            restored, normalized = self.read("restored.h5")[0], self.read("normalized.h5")[0]
            self.assertTrue(np.all(is_seen(normalized[seen])))
            self.assertGreater(np.abs(restored[seen] - 5).max(), 2)
            self.assertLess(np.abs(normalized[seen] - 5).max(), 1e-9)

    def test_compatibility_sets_all_defaults(self):
        self.masked_sky("masked.h5")
        spelled_out = {
            "healpy": ("--iter", 3, "--unseen", "restore"),
            "cxx": ("--iter", 0, "--unseen", "zero", "--remove", "monopole", "--put-back"),
            "f90": ("--iter", 0, "--unseen", "zero", "--lmax", 2 * NSIDE),
        }
        for name, options in spelled_out.items():
            self.done("smooth", "masked.h5", f"{name}.h5", "--fwhm", "5deg", "--compat", name, ranks=2)
            self.done("smooth", "masked.h5", f"{name}_long.h5", "--fwhm", "5deg", *options)
            self.done("compare", f"{name}.h5", f"{name}_long.h5", "--tolerance", 1e-12)

    def test_monopole_and_dipole_are_removed_and_put_back(self):
        result = self.done("smooth", "sky.h5", "without.h5", "--fwhm", "1deg", "--remove", "dipole", ranks=3)
        self.assertIn("removed monopole", result.out)
        self.assertLess(abs(self.read("without.h5")[0].mean()), 1e-5)
        self.done("smooth", "sky.h5", "with.h5", "--fwhm", "1deg", "--remove", "dipole", "--put-back")
        self.done("smooth", "sky.h5", "plain.h5", "--fwhm", "1deg")
        difference = self.read("with.h5")[0] - self.read("without.h5")[0]
        self.assertAlmostEqual(difference.mean(), self.read("sky.h5")[0].mean(), places=10)

    def test_a_beam_file_is_the_same_as_its_width(self):
        (self.folder / "ones.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 1\n" for l in range(LMAX + 1)))
        self.done("convert", "ones.txt", "beam2.txt", "--fwhm", "5deg")
        table = read_text(self.folder / "beam2.txt")
        factors = [np.sqrt(table[name]) for name in ("TT", "EE", "BB")]
        np.savetxt(self.folder / "beam.txt", np.column_stack([table["l"], *factors]), header="l b_T b_E b_B")
        self.done("smooth", "sky.h5", "by_table.h5", "--beam", "beam.txt", ranks=2)
        self.done("smooth", "sky.h5", "by_width.h5", "--fwhm", "5deg")
        self.done("compare", "by_table.h5", "by_width.h5", "--tolerance", 1e-12)

    def test_fits_and_hdf5_give_the_same(self):
        self.done("convert", "sky.h5", "sky.fits")
        self.done("smooth", "sky.fits", "out.fits", "--fwhm", "5deg", ranks=3)
        self.done("smooth", "sky.h5", "out.h5", "--fwhm", "5deg", ranks=2)
        self.done("compare", "out.fits", "out.h5", "--tolerance", 1e-12)
        self.assertEqual(map_header(self.folder / "out.fits")["TUNIT1"], "K")


class Convert(SkyTest):
    def make_map(self, name, **keywords):
        """A single precision NESTED map with every header entry that must be kept."""
        columns = [fits.Column(name=n, format="E", array=row.astype(np.float32), unit="uK")
                   for n, row in zip(("TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"), self.read("sky.h5"))]
        table = fits.BinTableHDU.from_columns(columns)
        table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "NESTED", "NSIDE": NSIDE, "FIRSTPIX": 0,
                             "LASTPIX": N_PIXELS - 1, "INDXSCHM": "IMPLICIT", "OBJECT": "FULLSKY", "COORDSYS": "G",
                             "POLCCONV": "COSMO", **keywords})
        table.writeto(self.folder / name, overwrite=True)

    def test_maps_keep_values_and_header_in_every_direction(self):
        self.make_map("in.fits")
        for ranks in (1, 3):
            chain = ["in.fits", "a.h5", "b.fits", "c.h5", "d.fits.gz"]
            for source, target in zip(chain, chain[1:]):
                self.done("convert", source, target, "--overwrite", ranks=ranks)
                np.testing.assert_array_equal(self.read(target), self.read("in.fits"), target)
                header = map_header(self.folder / target)
                self.assertEqual(header["ORDERING"].strip(), "NESTED")
                self.assertEqual(header["COORDSYS"].strip(), "G")
                unit = header["TUNIT1"] if "fits" in target else header["TUNIT"][0]
                self.assertEqual(unit.strip(), "uK")
                self.assertIn("single precision", self.done("info", target).out)

    def test_precision_and_order_change_when_asked(self):
        self.make_map("in.fits")
        self.done("convert", "in.fits", "double.h5", "--precision", "double", "--order", "ring", ranks=2)
        with h5py.File(self.folder / "double.h5") as file:
            self.assertEqual(file["map"].dtype, np.float64)
            self.assertEqual(file["map"].attrs["ORDERING"], "RING")
        self.done("convert", "double.h5", "back.fits", "--precision", "single", "--order", "nested", ranks=3)
        np.testing.assert_array_equal(self.read("back.fits"), self.read("in.fits"))

    def test_alm_keep_values(self):
        for ranks in (1, 3):
            self.done("convert", "alm.h5", "alm.fits", "--overwrite", ranks=ranks)
            self.done("convert", "alm.fits", "alm_back.h5", "--overwrite", ranks=ranks)
            np.testing.assert_array_equal(read_alm(self.folder / "alm_back.h5"), read_alm(self.folder / "alm.h5"))

    def test_spectra_keep_values(self):
        for ranks in (1, 3):
            chain = ["cl.txt", "cl.fits", "cl.h5", "cl_back.txt"]
            for source, target in zip(chain, chain[1:]):
                self.done("convert", source, target, "--overwrite", ranks=ranks)
            ours = read_text(self.folder / "cl_back.txt")
            for name, values in zip(("TT", "EE", "BB", "TE"), self.spectra):
                np.testing.assert_allclose(ours[name], values, rtol=1e-15)

    def test_what_is_not_a_number_is_kept_with_a_warning(self):
        self.make_map("nan.fits")
        with fits.open(self.folder / "nan.fits", mode="update") as hdus:
            hdus[1].data["Q_POLARISATION"][[3, 8]] = np.nan, np.inf
        self.done("convert", "alm.h5", "nan_alm.h5")
        with h5py.File(self.folder / "nan_alm.h5", "r+") as file:
            file["alm/alm"][0, 5] = np.nan
        for ranks in (1, 3):
            for source, target, count in (("nan.fits", "nan.h5", 2), ("nan.h5", "back.fits", 2),
                                          ("nan_alm.h5", "alm_back.fits", 1)):
                result = self.done("convert", source, target, "--overwrite", ranks=ranks)
                warnings = result.err.splitlines()
                self.assertEqual(len(warnings), 1, result.err)
                self.assertIn(f"warning: {source}: {count} numbers are NaN or infinite", warnings[0])
            np.testing.assert_array_equal(self.read("back.fits"), self.read("nan.fits"))
            result = self.done("plot", "nan.fits", "nan.png", "--field", "Q", "--overwrite", ranks=ranks)
            self.assertIn("warning: nan.fits: 2 pixels are NaN or infinite; drawn as UNSEEN", result.err)
            self.assertEqual(self.done("plot", "nan.fits", "t.png", "--overwrite", ranks=ranks).err, "")

    def test_the_iau_sign_is_turned_once(self):
        self.make_map("iau.fits", POLCCONV="IAU")
        self.done("convert", "iau.fits", "cosmo.h5")
        np.testing.assert_array_equal(self.read("cosmo.h5")[2], -self.read("iau.fits")[2])
        self.assertEqual(map_header(self.folder / "cosmo.h5")["POLCCONV"], "COSMO")


class Reports(SkyTest):
    def test_plot_draws_maps_and_spectra(self):
        for ranks in (1, 3):
            for arguments in (("sky.h5", "map.png", "--field", "Q", "--range", "-1:1"),
                              ("cl.txt", "cl.png", "--theory", "cl.txt", "--width", 800)):
                self.done("plot", *arguments, "--overwrite", ranks=ranks)
                content = (self.folder / arguments[1]).read_bytes()
                self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
                width, height = struct.unpack(">II", content[16:24])
                self.assertEqual(width, 800 if arguments[0] == "cl.txt" else 1600)
                self.assertGreater(height, 300)
                self.assertGreater(len(content), 5000)
        for picture, begin in (("cl.pdf", b"%PDF-"), ("map.svg", b"<?xml")):
            self.done("plot", "cl.txt" if picture == "cl.pdf" else "sky.h5", picture)
            self.assertTrue((self.folder / picture).read_bytes().startswith(begin))

    def test_plot_says_when_the_build_cannot_draw(self):
        if program.draws():
            self.skipTest("this build draws")
        for ranks in (1, 3):
            result = program.run(("plot", "sky.h5", "map.png"), ranks=ranks, cwd=self.folder)
            self.assertEqual(result.code, 2, str(result))
            self.assertEqual(len(result.messages()), 1, str(result))
            self.assertIn("this build cannot draw", result.err)
            self.assertFalse((self.folder / "map.png").exists())

    def test_plot_draws_a_patch(self):
        for ranks in (1, 3):
            self.done("plot", "sky.h5", "patch.png", "--zoom", "120deg,-60deg,20deg", "--overwrite", ranks=ranks)
            width, height = struct.unpack(">II", (self.folder / "patch.png").read_bytes()[16:24])
            self.assertEqual(width, 1600)
            self.assertGreater(height, 1300)
        for zoom in ("120deg,-60deg", "120deg,-100deg,5deg", "1deg,1deg,150deg", "1,2,3"):
            self.done("plot", "sky.h5", "r.png", "--zoom", zoom, code=2)
        self.assertIn("--zoom is for maps", self.done("plot", "cl.txt", "r.png", "--zoom", "1deg,1deg,1deg", code=2).err)

    def test_plot_spreads_the_colours_as_asked(self):
        for ranks in (1, 3):
            pictures = {}
            for scale in ("linear", "log", "asinh"):
                result = self.done("plot", "sky.h5", "scale.png", "--scale", scale, "--overwrite", ranks=ranks)
                pictures[scale] = (self.folder / "scale.png").read_bytes()
                not_positive = np.count_nonzero(self.read("sky.h5")[0] <= 0)
                told = f"note: sky.h5: {not_positive} pixels are not positive; --scale log leaves them blank"
                self.assertEqual(told in result.err, scale == "log", result.err)
            self.assertEqual(len(set(pictures.values())), 3)
        write_map(self.folder / "negative.fits", -np.ones(12 * 4**2))
        self.assertIn("no positive value", self.done("plot", "negative.fits", "r.png", "--scale", "log", code=3, ranks=3).err)
        for words, *arguments in (("begins above 0", "sky.h5", "--scale", "log", "--range=-1:1"),
                                  ("--scale asinh; give both", "sky.h5", "--linear-range", 1),
                                  ("--linear-range", "sky.h5", "--scale", "asinh", "--linear-range", 0),
                                  ("--scale is for maps", "cl.txt", "--scale", "log"),
                                  ("--theory is for spectra", "sky.h5", "--theory", "cl.txt"),
                                  ("give both", "cl.txt", "--fsky", 0.5)):
            self.assertIn(words, self.done("plot", arguments[0], "r.png", *arguments[1:], code=2).err)
        self.assertFalse((self.folder / "r.png").exists())

    def test_plot_shades_the_cosmic_variance_of_the_theory(self):
        def svg(*arguments):
            self.done("plot", "cl.txt", "band.svg", *arguments, "--overwrite")
            return (self.folder / "band.svg").read_text()

        whole = svg("--theory", "cl.txt")
        self.assertNotEqual(whole, svg("--theory", "cl.txt", "--fsky", 0.5))
        self.assertGreater(whole.count("fill-opacity:0.2;"), svg().count("fill-opacity:0.2;"))
        self.done("plot", "cl.txt", "te.png", "--field", "TE", "--theory", "cl.txt", "--overwrite", ranks=3)
        # Without EE the variance of TE is not known.
        table = read_text(self.folder / "cl.txt")
        np.savetxt(self.folder / "no_ee.txt", np.column_stack([table[name] for name in ("l", "TT", "TE")]), header="l TT TE")
        self.done("plot", "cl.txt", "te.png", "--field", "TE", "--theory", "no_ee.txt", "--overwrite")
        self.assertLess(struct.unpack(">II", (self.folder / "te.png").read_bytes()[16:24])[1], 1100)

    def test_plot_draws_the_spectra_it_is_asked_for(self):
        self.assertIn("not drawn: TE", self.done("plot", "cl.txt", "some.png").err)
        self.assertNotIn("not drawn", self.done("plot", "cl.txt", "te.png", "--field", "TT,TE").err)
        self.assertIn("--field PP: cl.txt holds no PP", self.done("plot", "cl.txt", "r.png", "--field", "PP", code=2).err)

    def test_info_tells_what_files_hold(self):
        self.done("convert", "cl.txt", "cl.fits")
        for ranks in (1, 3):
            out = self.done("info", "sky.h5", "alm.h5", "cl.fits", "cl.txt", ranks=ranks).out
            for words in (f"sky.h5: map, healpix:{NSIDE}, RING, full sky, double precision, 3 column(s)",
                          f"alm.h5: a_lm, lmax {LMAX}, mmax {LMAX}, components T, E, B",
                          f"cl.fits: spectra TT EE BB TE, lmax {LMAX}", f"cl.txt: spectra TT EE BB TE, lmax {LMAX}"):
                self.assertIn(words, out)

    def test_dry_run_prints_a_plan_and_writes_nothing(self):
        before = sorted(os.listdir(self.folder))
        for command in (("synthesize", "--alm", "alm.h5", "--nside", 64, "dry.h5", "--save-alm", "dry_alm.h5"),
                        ("analyze", "sky.h5", "--alm", "dry.h5", "--cl", "dry.txt"),
                        ("smooth", "sky.h5", "dry.fits", "--fwhm", "1deg")):
            for ranks in (1, 3):
                out = self.done(*command, "--dry-run", ranks=ranks).out
                for words in ("plan:", f"{ranks} rank(s)", "rings", "orders m", "memory high-water", "predicted"):
                    self.assertIn(words, out)
        for command in (("convert", "sky.h5", "dry.fits"), ("plot", "sky.h5", "dry.png")):
            self.done(*command, "--dry-run")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_the_report_has_stages_layout_and_memory(self):
        for ranks in (1, 3):
            self.done("smooth", "sky.h5", "out.h5", "--fwhm", "5deg", "--iter", 1, "--report", "report.json",
                      "--overwrite", ranks=ranks)
            report = json.loads((self.folder / "report.json").read_text())
            for stage in ("read", "legendre", "ring_fft", "write", *(("exchange",) if ranks > 1 else ())):
                seconds = report["stages"][stage]
                self.assertEqual(set(seconds), {"min", "mean", "max"})
                self.assertLessEqual(0, seconds["min"])
                self.assertLessEqual(seconds["min"], seconds["mean"] * (1 + 1e-12))
                self.assertLessEqual(seconds["mean"], seconds["max"] * (1 + 1e-12))
            computing, stages = report["computing"], report["stages"]
            of_computing = [name for name in stages if name not in ("read", "write", "memory")]
            self.assertAlmostEqual(computing["mean"], sum(stages[name]["mean"] for name in of_computing), places=9)
            self.assertLessEqual(computing["max"], sum(stages[name]["max"] for name in of_computing) * (1 + 1e-12))
            self.assertEqual(report["ranks"], ranks)
            self.assertEqual(report["transform"]["lmax"], LMAX)
            self.assertEqual(report["transform"]["grid"], f"healpix:{NSIDE}")
            self.assertGreater(report["transform"]["legendre_gflop_per_s"], 0)
            self.assertEqual(report["layout"]["pixels"]["mean"] * ranks, N_PIXELS)
            self.assertGreater(report["memory"]["resident_high_water_bytes"], 0)
            self.assertEqual(report["program"]["mpi"][:4], self.done("--version").out.split("mpi ")[1].split()[0][:4])
            self.assertIn("smooth sky.h5 out.h5", report["command_line"])
            self.assertEqual(report["configuration"]["fwhm"], "5deg")
            self.assertEqual([key for key in report["configuration"] if "." in key], [])
    def check_rates(self, report, ranks, sent_by_mask):
        """Reported rates must follow from the other figures. sent_by_mask: bytes of a scalar transform."""
        transform, stages, plan = report["transform"], report["stages"], report["plan"]
        sent = (transform["bytes_sent_per_transform"] * transform["transforms"]
                + sent_by_mask * transform["mask_transforms"])
        if ranks > 1:
            self.assertAlmostEqual(transform["exchange_gb_per_s"] * stages["exchange"]["max"] * 1e9 / sent, 1, places=6)
        for rate, count, stage in (("read_gb_per_s", "bytes_read", "read"),
                                   ("write_gb_per_s", "bytes_written", "write")):
            self.assertAlmostEqual(report["files"][rate] * stages[stage]["max"] * 1e9 / report["files"][count], 1,
                                   places=6)
        self.assertEqual(set(plan["predicted_stages"]), {"legendre", "ring_fft", "exchange"})
        self.assertGreater(plan["predicted_stages"]["legendre"], 0)
        self.assertLessEqual(plan["predicted_seconds"], sum(plan["predicted_stages"].values()) * (1 + 1e-12))
        self.assertEqual(plan["transforms"], transform["transforms"])
        self.assertEqual(plan["mask_transforms"], transform["mask_transforms"])
        self.assertGreater(plan["memory_high_water_bytes"], 0)

    def test_rates_and_predictions_go_by_the_transforms_that_were_made(self):
        seen = self.masked_sky("masked.h5")
        self.assertLess(np.count_nonzero(seen), N_PIXELS)
        for ranks in (1, 3):
            figures = {}
            for name, arguments in {
                "scalar": ("analyze", "sky.h5", "--fields", "T", "--iter", 0, "--alm", "out_alm.h5"),
                "draw": ("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "out.h5"),
                "once": ("analyze", "sky.h5", "--iter", 0, "--alm", "out_alm.h5"),
                "jacobi": ("analyze", "sky.h5", "--iter", 2, "--alm", "out_alm.h5"),
                "gradients": ("analyze", "sky.h5", "--tol", 1e-3, "--alm", "out_alm.h5"),
                "smooth": ("smooth", "sky.h5", "out.h5", "--fwhm", "5deg", "--tol", 1e-3),
                "normalize": ("smooth", "masked.h5", "out.h5", "--fwhm", "5deg", "--iter", 1, "--unseen", "normalize"),
            }.items():
                self.done(*arguments, "--overwrite", "--report", "report.json", ranks=ranks)
                figures[name] = json.loads((self.folder / "report.json").read_text())
                self.check_rates(figures[name], ranks, figures["scalar"]["transform"]["bytes_sent_per_transform"])
                if arguments[0] != "analyze":
                    self.assertEqual(figures[name]["files"]["bytes_written"], (self.folder / "out.h5").stat().st_size)
            transforms = {name: (figure["transform"]["transforms"], figure["transform"]["mask_transforms"])
                          for name, figure in figures.items()}
            n_iter = figures["gradients"]["analysis"]["iterations"]
            self.assertGreater(n_iter, 0)
            self.assertEqual(transforms, {"scalar": (1, 0), "draw": (1, 0), "once": (1, 0), "jacobi": (5, 0),
                                          "gradients": (3 + 2 * n_iter, 0), "smooth": (4 + 2 * n_iter, 0),
                                          "normalize": (4, 4)})
            self.assertEqual(figures["once"]["files"]["bytes_read"], 3 * N_PIXELS * 8)
            with h5py.File(self.folder / "out_alm.h5") as file:
                self.assertEqual(file["alm/alm"].attrs["NITERALM"], n_iter)
            out = self.done("analyze", "sky.h5", "--tol", 1e-3, "--cl", "dry.txt", "--dry-run", ranks=ranks).out
            self.assertIn("perhaps", out)

    def test_a_report_of_a_command_without_transforms(self):
        self.done("info", "sky.h5", "--report", "info.json")
        self.assertIn("program", json.loads((self.folder / "info.json").read_text()))


class Options(SkyTest):
    def test_a_configuration_file_gives_any_option(self):
        (self.folder / "job.toml").write_text('fwhm = "5deg"\nlmax = 40\niter = 1\noverwrite = true\n'
                                              'report = "job.json"\n')
        self.done("smooth", "sky.h5", "by_option.h5", "--fwhm", "5deg", "--lmax", 40, "--iter", 1)
        for ranks in (1, 3):
            self.done("smooth", "sky.h5", "by_file.h5", "--config", "job.toml", ranks=ranks)
            self.done("compare", "by_file.h5", "by_option.h5", "--tolerance", 1e-12)
        self.assertTrue((self.folder / "job.json").exists())
        self.done("smooth", "sky.h5", "by_both.h5", "--config", "job.toml", "--lmax", 30, "--verbose")
        self.assertEqual(json.loads((self.folder / "job.json").read_text())["transform"]["lmax"], 30)

    def test_version_names_every_part(self):
        for ranks in (1, 3):
            out = self.done("--version", ranks=ranks).out
            for part in ("ringweave", "mpi", "openmp", "fftw", "hdf5", "parallel_hdf5", "cfitsio", "healpix", "cairo",
                         "cli11", "fmt", "json", "random123", "simd_compiled", "simd_chosen", "cuda", "compiler", "flags"):
                self.assertIn(part, out)
            self.assertEqual(out.count("parallel_hdf5"), 1)
            flags = out.split("\nflags")[1]
            for flag in ("-Wall", "-fopenmp", "20", "-fstack-protector-strong"):
                self.assertIn(flag, flags)
            if "build_type     Release" in out:
                self.assertRegex(flags, "-D_FORTIFY_SOURCE=[23]")
            self.assertNotIn("$<", flags)

    def test_help_explains_every_command(self):
        out = self.done("--help").out
        for command in ("synthesize", "analyze", "smooth", "convert", "compare", "plot", "jobs", "info"):
            self.assertIn(command, out)
            for ranks in (1, 3):
                own = self.done(command, "--help", ranks=ranks).out
                for words in (f"Usage: ringweave {command}", "--report FILE", "--config FILE", "ENVIRONMENT",
                              "OMP_NUM_THREADS", "EXIT STATUS", "EXAMPLES"):
                    self.assertIn(words, own)
                self.assertEqual(own.count("Usage:"), 1)
                self.assertLess(max(map(len, own.splitlines())), 100)
                self.assert_examples_are_of(command, own.split("EXAMPLES\n")[1])

    def assert_examples_are_of(self, command, examples):
        """Every example uses only options of its command, with values --help accepts."""
        lines = examples.strip().splitlines()
        self.assertGreater(len(lines), 1)
        for line in lines:
            words = line.split()
            arguments = words[words.index("ringweave") + 1:]
            self.assertEqual(arguments[0], command)
            self.done(*arguments, "--help")

    def test_help_names_types_defaults_and_what_is_missing(self):
        out = " ".join(self.done("smooth", "--help").out.split())
        for words in ("--fwhm ANGLE", "--beam FILE", "--lmax L", "--precision single|double", "--threads N",
                      "Default: healpy.", "Default: restore", "HEALPIX"):
            self.assertIn(words, out)
        analyze = self.done("analyze", "--help").out
        self.assertNotIn("normalize", analyze)
        self.assertIn("restore|zero|fail", analyze)
        synthesize = " ".join(self.done("synthesize", "--help").out.split())
        self.assertIn("--latitudes LOW:HIGH", synthesize)
        self.assertIn("HEALPIX:", synthesize)
        self.assertNotIn("HEALPIX:", self.done("convert", "--help").out)

    def test_results_go_to_stdout_and_nothing_to_stderr(self):
        for ranks in (1, 3):
            result = self.done("smooth", "sky.h5", "quiet.h5", "--fwhm", "5deg", "--backend", "host", "--overwrite",
                               ranks=ranks, launched=True)
            self.assertEqual(result.err, "")
            # The chosen method and the reason, and the work done.
            self.assertEqual([line.split()[0] for line in result.out.splitlines()], ["method:", "3", "quiet.h5:"])

    def test_progress_can_be_asked_for(self):
        result = self.done("smooth", "sky.h5", "loud.h5", "--fwhm", "5deg", "--progress", "on", ranks=2)
        self.assertIn("smoothing: ", result.err)
        self.assertNotIn("\r", result.err)
        self.assertNotIn("smoothing:", result.out)

    def test_progress_shows_on_a_terminal_also_of_mpirun_and_of_a_job(self):
        smooth = [program.PROGRAM, "smooth", "sky.h5", "pty.h5", "--fwhm", "5deg", "--overwrite"]
        launches = [([], {}), ([], {"SLURM_JOB_ID": "1"})]
        # The launcher of MPICH gives its ranks no terminal.
        if program.uses_open_mpi():
            launches.append(([program.MPIRUN, "2"], {}))
        for launcher, job in launches:
            pid, terminal = pty.fork()
            if pid == 0:
                os.chdir(self.folder)
                os.execvpe((launcher + smooth)[0], launcher + smooth, {**os.environ, **job, "OMP_NUM_THREADS": "1"})
            seen = b""
            try:
                while chunk := os.read(terminal, 10000):
                    seen += chunk
            except OSError:  # the end of a terminal
                pass
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, seen)
            os.close(terminal)
            self.assertIn(b"\r\x1b[Ksmoothing: ", seen)


if __name__ == "__main__":
    program.main()
