#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cross spectra, masks, and smoothing onto another grid, against healpy, on 1, 2, 3 and 5 ranks."""
import json

import program

program.require("numpy", "healpy", "h5py", "astropy")
import h5py
import healpy
import numpy as np
from astropy.io import fits

from files import UNSEEN, is_seen, map_header, read_map, read_text, rms_difference, write_map

NSIDE = 32
LMAX = 64
RANKS = (1, 2, 3, 5)
BOUND = 1e-12


def alm_of(maps, lmax=LMAX, n_iter=3):
    """Returns healpy's a_lm of one map, or of T, Q and U: components x coefficients."""
    return np.atleast_2d(healpy.map2alm(maps if len(maps) > 1 else maps[0], lmax=lmax, iter=n_iter, pol=True))


def spectrum(x, y):
    return healpy.alm2cl(x, y)


class Sky(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(2 * NSIDE + 1)
        c_l = 1 / (degrees + 1.0) ** 2
        np.savetxt(cls.folder / "cl.txt", np.column_stack([degrees, c_l, c_l / 4, c_l / 9, c_l / 3]),
                   header="l TT EE BB TE")
        for seed, name in enumerate(("a", "b")):
            cls.done("synthesize", "--cl", "cl.txt", "--seed", seed, "--nside", NSIDE, "--unit", "K", f"{name}.fits")
        cls.maps = {name: read_map(cls.folder / f"{name}.fits") for name in "ab"}
        z = healpy.pix2vec(NSIDE, np.arange(12 * NSIDE**2))[2]
        cls.mask = np.where(np.abs(z) < 0.2, 0.0, 1.0)
        cls.soft = cls.mask * (0.25 + 0.75 * np.abs(z))
        write_map(cls.folder / "mask.fits", cls.mask)
        write_map(cls.folder / "soft.fits", cls.soft)


class CrossSpectra(Sky):
    NAMES = ("TT", "EE", "BB", "TE", "EB", "TB", "ET", "BE", "BT")

    def expected(self):
        alms = [dict(zip("TEB", alm_of(self.maps[name]))) for name in "ab"]
        return {name: spectrum(alms[0][name[0]], alms[1][name[1]]) for name in self.NAMES}

    def check(self, found, expected):
        self.assertEqual(set(found) - {"l"}, set(expected))
        for name, values in expected.items():
            # Of a pair of skies that have little in common: relative to what they have.
            scale = np.sqrt(np.mean(expected[name[0] * 2] ** 2 + expected[name[1] * 2] ** 2))
            self.assertLess(np.sqrt(np.mean((found[name] - values) ** 2)), BOUND * scale, name)

    def test_two_polarised_skies_have_nine(self):
        expected = self.expected()
        for ranks in RANKS:
            self.done("analyze", "a.fits", "b.fits", "--lmax", LMAX, "--cl", "x.txt", "--overwrite", ranks=ranks)
            self.check(read_text(self.folder / "x.txt"), expected)

    def test_the_same_from_a_lm_of_files_in_every_kind_of_file(self):
        self.done("analyze", "a.fits", "--lmax", LMAX, "--alm", "a_alm.fits", "--overwrite")
        self.done("analyze", "b.fits", "--lmax", LMAX + 8, "--alm", "b_alm.h5", "--overwrite")
        long_b = alm_of(self.maps["b"], LMAX + 8)
        cut_b = [alm[healpy.Alm.getidx(LMAX + 8, *healpy.Alm.getlm(LMAX))] for alm in long_b]
        alms = dict(zip("TEB", alm_of(self.maps["a"]))), dict(zip("TEB", cut_b))
        expected = {name: spectrum(alms[0][name[0]], alms[1][name[1]]) for name in self.NAMES}
        for ranks in (1, 3):
            for name in ("y.txt", "y.fits", "y.h5"):
                self.done("analyze", "a_alm.fits", "b_alm.h5", "--lmax", LMAX, "--cl", name, "--overwrite", ranks=ranks)
                self.done("convert", name, "as_text.txt", "--overwrite")
                found = read_text(self.folder / "as_text.txt")
                self.check(found, expected)
            self.done("analyze", "b_alm.h5", "--fields", "T", "--cl", "auto.txt", "--overwrite", ranks=ranks)
            auto = read_text(self.folder / "auto.txt")
            self.assertLess(rms_difference(auto["TT"], spectrum(long_b[0], long_b[0])), BOUND)

    def test_fits_files_hold_them_in_the_order_of_healpix(self):
        self.done("analyze", "a.fits", "b.fits", "--lmax", LMAX, "--cl", "z.fits")
        with fits.open(self.folder / "z.fits") as hdus:
            table = hdus[1].data
            found = dict(zip(("TT", "EE", "BB", "TE", "TB", "EB", "ET", "BT", "BE"),
                             (table[name] for name in table.names)))
            self.assertTrue(hdus[1].header["ASYMCL"])
            self.assertEqual(hdus[1].header["TUNIT1"], "K^2")
        self.check(found, self.expected())

    def test_units_that_differ_by_a_factor_are_multiplied_out_and_others_are_named(self):
        self.done("analyze", "a.fits", "b.fits", "--lmax", 8, "--cl", "k.txt")
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", NSIDE, "--unit", "K", "b_k.h5", "--save-alm",
                  "b_k_alm.h5")
        for unit, name in (("uK_CMB", "u"), ("Jy", "jy"), ("", "none")):
            with h5py.File(self.folder / "b_k.h5") as file, h5py.File(self.folder / f"b_{name}.h5", "w") as other:
                for item in ("map", "crs"):
                    file.copy(item, other)
                other["map"].attrs["TUNIT"] = [unit] * 3
                other["map"].attrs["UNITS"] = other["map"].attrs["units"] = ""
        in_k = read_text(self.folder / "k.txt")
        for other, factor, unit, words in (
                ("b_u.h5", 1e-6, "K^2", "note: a.fits is in K and b_u.h5 in uK_CMB; their spectra are in K^2"),
                ("b_jy.h5", 1, "K Jy", "note: a.fits is in K and b_jy.h5 in Jy; their spectra are in K Jy"),
                ("b_none.h5", 1, "", "warning: a.fits is in K and b_none.h5 does not state its unit; their spectra get none")):
            for ranks in (1, 3):
                run = self.done("analyze", "a.fits", other, "--lmax", 8, "--cl", "other.fits", "--overwrite", "--progress",
                                "on", ranks=ranks)
                self.assertIn(words, run.err)
                # Before the transforms, which may take long.
                self.assertLess(run.err.index(words), run.err.index("reading a.fits"))
            with fits.open(self.folder / "other.fits") as hdus:
                self.assertEqual(hdus[1].header.get("TUNIT1", ""), unit)
                table = hdus[1].data
                for column, name in (("TEMPERATURE", "TT"), ("G-T", "TE"), ("T-G", "ET")):
                    self.assertLess(rms_difference(table[column], factor * in_k[name]), BOUND)
        # The same of a_lm.
        self.done("analyze", "b_u.h5", "--lmax", 8, "--alm", "b_u_alm.h5")
        self.done("analyze", "a.fits", "--lmax", 8, "--alm", "a_k_alm.h5")
        run = self.done("analyze", "b_u_alm.h5", "a_k_alm.h5", "--cl", "uk.txt")
        self.assertIn("b_u_alm.h5 is in uK_CMB and a_k_alm.h5 in K; their spectra are in uK_CMB^2", run.err)
        self.assertIn("their spectra get none",
                      self.done("analyze", "a.fits", "b_none.h5", "--cl", "none.txt", "--dry-run").err)
        self.assertLess(rms_difference(read_text(self.folder / "uk.txt")["TT"], 1e6 * in_k["TT"]), BOUND)

    def test_cross_spectra_are_compared_in_units_of_their_fields(self):
        """EB may be rounding alone, with no scale of its own."""
        names = "TT EE BB TE EB TB"
        power = 1 / np.arange(1.0, 66)
        rounding = np.cos(np.arange(65)) * 1e-18
        for file, eb in (("rounding_1.txt", rounding), ("rounding_2.txt", -rounding), ("parity.txt", 0.1 * power)):
            np.savetxt(self.folder / file, np.column_stack([np.arange(65), power, power, power, 0.5 * power, eb, 0 * power]),
                       header=f"l {names}")
        self.done("compare", "rounding_1.txt", "rounding_2.txt", "--tolerance", 1e-12)
        out = self.done("compare", "parity.txt", "rounding_2.txt", "--tolerance", 1e-2, code=1).out
        line = next(line.split() for line in out.splitlines() if line.startswith("EB"))
        self.assertAlmostEqual(float(line[4]), 0.1 / power.std(), places=3)
        for file, eb in (("alone_1.txt", rounding), ("alone_2.txt", -rounding)):
            np.savetxt(self.folder / file, np.column_stack([np.arange(65), eb]), header="l EB")
        self.done("compare", "alone_1.txt", "alone_2.txt", "--tolerance", 1e-12, code=1)

    def test_scalars_have_one(self):
        self.done("analyze", "a.fits", "b.fits", "--fields", "T", "--lmax", LMAX, "--cl", "t.txt")
        found = read_text(self.folder / "t.txt")
        self.assertEqual(list(found), ["l", "TT"])
        self.assertLess(rms_difference(found["TT"], self.expected()["TT"]), 1e-11)

    def test_what_does_not_go_together_is_refused(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 16, "small.fits")
        self.done("analyze", "a.fits", "--fields", "T", "--lmax", 8, "--alm", "t_alm.h5")
        self.done("analyze", "a.fits", "--lmax", 8, "--alm", "p_alm.h5")
        for arguments, message in (
                (("a.fits", "small.fits", "--cl", "r.txt"), "give these to analyze"),
                (("a.fits", "t_alm.h5", "--cl", "r.txt"), "one is a map and one holds a_lm"),
                (("t_alm.h5", "p_alm.h5", "--cl", "r.txt"), "give --fields that both have"),
                (("t_alm.h5", "--iter", 3, "--cl", "r.txt"), "--iter is for maps"),
                (("a.fits", "b.fits", "--alm", "r.h5"), "one map at a time"),
                (("a.fits", "b.fits", "mask.fits", "--cl", "r.txt"), "required but received 3"),
                (("t_alm.h5", "--apodise", "1deg", "--cl", "r.txt"), "--apodise is for maps"),
                (("a.fits", "--mask", "mask.fits", "--alm", "r.h5", "--divide-by-fsky"), "--divide-by-fsky belongs to --cl"),
                (("a.fits", "--fields", "QU", "--remove", "dipole", "--cl", "r.txt"), "use --remove none"),
                (("a.fits", "--cl", "r.txt", "--divide-by-fsky"), "--divide-by-fsky belongs to --mask")):
            for ranks in (1, 3):
                self.assertIn(message, self.done("analyze", *arguments, code=2, ranks=ranks).err)
        self.assertFalse((self.folder / "r.txt").exists())


class Masks(Sky):
    def test_spectra_of_a_masked_sky(self):
        alm = alm_of(self.maps["a"] * self.soft)
        f_sky = np.mean(self.soft)
        squares = np.mean(self.soft**2)
        for ranks in RANKS:
            run = self.done("analyze", "a.fits", "--mask", "soft.fits", "--lmax", LMAX, "--cl", "m.txt", "--alm", "m.h5",
                            "--overwrite", ranks=ranks)
            self.assertIn(f"f_sky {f_sky:.6g}, mean of squares {squares:.6g}", run.out)
            found = read_text(self.folder / "m.txt")
            self.assertLess(rms_difference(found["EE"], spectrum(alm[1], alm[1])), BOUND)
            self.assertLess(rms_difference(found["TE"], spectrum(alm[0], alm[1])), BOUND)
            self.done("analyze", "a.fits", "--mask", "soft.fits", "--lmax", LMAX, "--cl", "d.txt", "--divide-by-fsky",
                      "--overwrite", ranks=ranks)
            divided = read_text(self.folder / "d.txt")
            self.assertLess(rms_difference(divided["BB"], spectrum(alm[2], alm[2]) / squares), BOUND)
        with h5py.File(self.folder / "m.h5") as file:
            attributes = dict(file["alm/alm"].attrs)
        self.assertEqual(attributes["MASK"], "soft.fits")
        self.assertAlmostEqual(attributes["FSKY"], f_sky)

    def test_the_mask_may_be_any_column(self):
        write_map(self.folder / "columns.fits", np.array([0 * self.mask, self.soft]))
        for column in ("1", "Q_POLARISATION"):
            for name, options in (("one.txt", ("--mask", "columns.fits", "--mask-column", column)),
                                  ("other.txt", ("--mask", "soft.fits"))):
                self.done("analyze", "a.fits", "--lmax", 8, "--cl", name, "--overwrite", *options)
            one, other = (read_text(self.folder / name) for name in ("one.txt", "other.txt"))
            np.testing.assert_array_equal(one["TT"], other["TT"])

    def test_smoothing_is_that_of_unseen_pixels(self):
        marked = np.where(self.mask > 0, self.maps["a"], UNSEEN)
        write_map(self.folder / "marked.fits", marked)
        for options in ((), ("--unseen", "normalize"), ("--unseen", "zero", "--remove", "dipole"),
                        ("--iter", 0, "--method", "ring", "--fields", "T")):
            self.done("smooth", "a.fits", "by_mask.fits", "--fwhm", "5deg", "--mask", "mask.fits", "--overwrite", *options,
                      ranks=2)
            self.done("smooth", "marked.fits", "by_unseen.fits", "--fwhm", "5deg", "--overwrite", *options)
            ours, theirs = (read_map(self.folder / name) for name in ("by_mask.fits", "by_unseen.fits"))
            np.testing.assert_array_equal(is_seen(ours), is_seen(theirs))
            self.assertLess(rms_difference(ours[is_seen(ours)], theirs[is_seen(ours)]), BOUND)

    def test_a_fractional_mask_is_divided_out_as_it_was_put_in(self):
        t = self.maps["a"][0]
        beam = healpy.gauss_beam(np.radians(5), LMAX)

        def smoothed(values):
            return healpy.alm2map(healpy.almxfl(healpy.map2alm(values, lmax=LMAX, iter=3), beam), NSIDE)
        expected = smoothed(t * self.soft) / smoothed(self.soft)
        for ranks in RANKS:
            self.done("smooth", "a.fits", "n.fits", "--fields", "T", "--fwhm", "5deg", "--lmax", LMAX, "--mask", "soft.fits",
                      "--unseen", "normalize", "--overwrite", ranks=ranks)
            found = read_map(self.folder / "n.fits")[0]
            np.testing.assert_array_equal(is_seen(found), self.mask > 0)
            self.assertLess(rms_difference(found[self.mask > 0], expected[self.mask > 0]), BOUND)
        self.assertEqual(map_header(self.folder / "n.fits")["MASK"], "soft.fits")

    def test_apodisation_is_that_of_the_distance_to_the_nearest_masked_pixel(self):
        nside, angle = 16, np.radians(20)
        vectors = np.array(healpy.pix2vec(nside, np.arange(12 * nside**2)))
        holes = np.ones(12 * nside**2)
        for centre, radius in (((0, 0, 1), 0.1), ((1, 0, 0), 0.2), ((0.99, -0.01, 0.1), 0.1), ((-1, 0.2, -0.5), 0.01)):
            holes[healpy.query_disc(nside, centre, radius)] = 0
        holes[holes > 0] = np.random.default_rng(3).uniform(0.5, 1, int(holes.sum()))
        holes[healpy.ang2pix(nside, 2.5, 6.27)] = 0
        write_map(self.folder / "holes.fits", holes)
        ones = np.ones((1, 12 * nside**2))
        write_map(self.folder / "ones.fits", ones)
        nearest = np.max(vectors.T @ vectors[:, holes == 0], axis=1)
        x = np.minimum(1, np.sqrt(np.maximum(0, 1 - nearest) / (1 - np.cos(angle))))
        weight = holes * (1 - np.cos(np.pi * x)) / 2
        alm = healpy.map2alm(weight, lmax=30, iter=0)
        for ranks in RANKS:
            run = self.done("analyze", "ones.fits", "--lmax", 30, "--iter", 0, "--mask", "holes.fits", "--apodise", "20deg",
                            "--cl", "ap.txt", "--overwrite", ranks=ranks)
            self.assertIn(f"f_sky {weight.mean():.6g}", run.out)
            self.assertLess(rms_difference(read_text(self.folder / "ap.txt")["TT"], spectrum(alm, alm)), BOUND)

    def test_what_is_no_mask_is_refused(self):
        write_map(self.folder / "none.fits", 0 * self.mask)
        write_map(self.folder / "small_mask.fits", np.ones(12 * 16**2))
        for arguments, code, message in (
                (("--mask", "a.fits"), 3, "are not from 0 (masked) to 1 (seen)"),
                (("--mask", "none.fits"), 3, "masks every pixel"),
                (("--mask", "small_mask.fits"), 3, "its grid is healpix:16; the mask of a map on healpix:32"),
                (("--apodise", "5deg"), 2, "--apodise belongs to --mask"),
                (("--mask-column", "1"), 2, "--mask-column belongs to --mask"),
                (("--mask", "mask.fits", "--mask-column", "M"), 2, "--mask-column M: mask.fits has TEMPERATURE"),
                (("--mask", "mask.fits", "--apodise", "0deg"), 2, "expected more than 0")):
            for command in (("analyze", "a.fits", "--cl", "bad.txt"), ("smooth", "a.fits", "bad.fits", "--fwhm", "5deg")):
                for ranks in (1, 3):
                    self.assertIn(message, self.done(*command, *arguments, code=code, ranks=ranks).err)
        self.assertFalse((self.folder / "bad.txt").exists() or (self.folder / "bad.fits").exists())
        self.done("analyze", "a.fits", "--mask", "mask.fits", "--cl", "mask.fits", "--overwrite", code=2)


    def test_the_help_of_masks_has_units_and_examples(self):
        for command in ("analyze", "smooth"):
            text = " ".join(self.done(command, "--help").out.split())
            for words in ("1 where the sky counts and 0 where it is masked", "e.g. --mask-column 1",
                          "e.g. --apodise 2deg or 30arcmin"):
                self.assertIn(words, text)
        self.assertIn("Divide the spectra by the mean of the squares of --mask", " ".join(
            self.done("analyze", "--help").out.split()))


class Noise(Sky):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(9)
        np.savetxt(cls.folder / "zero.txt", np.column_stack([degrees, 0 * degrees]))
        rng = np.random.default_rng(4)
        cls.hits = rng.integers(0, 20, 12 * NSIDE**2).astype(float)
        write_map(cls.folder / "hits.fits", cls.hits, TUNIT1=None)
        write_map(cls.folder / "rms.fits", np.array([cls.mask + 1, 3 * (cls.mask + 1), 5 * (cls.mask + 1)]))

    def drawn(self, *arguments, ranks=1, seed=5, spectrum="zero.txt"):
        self.done("synthesize", "--cl", spectrum, "--seed", seed, "--nside", NSIDE, "--lmax", 8, "n.fits", "--overwrite",
                  *arguments, ranks=ranks)
        return read_map(self.folder / "n.fits")

    def test_noise_is_white_and_that_of_its_seed(self):
        noise = self.drawn("--noise", "rms.fits", "--fields", "TQU", "--unit", "K")
        for component, rms in zip(noise, (1, 3, 5)):
            scaled = component / (rms * (self.mask + 1))
            self.assertLess(abs(np.mean(scaled)), 5 / np.sqrt(scaled.size))
            self.assertLess(abs(np.std(scaled) - 1), 5 / np.sqrt(2 * scaled.size))
            self.assertLess(np.abs(healpy.anafast(scaled, lmax=20)[2:] * scaled.size / (4 * np.pi) - 1).mean(), 0.4)
        self.assertLess(abs(np.corrcoef(noise)[0, 1]), 5 / np.sqrt(self.mask.size))
        for ranks in (2, 3, 5):
            np.testing.assert_array_equal(
                self.drawn("--noise", "rms.fits", "--fields", "TQU", "--unit", "K", ranks=ranks), noise)
        self.assertGreater(rms_difference(self.drawn("--noise", "rms.fits", seed=6)[0], noise[0]), 1)
        self.assertEqual(map_header(self.folder / "n.fits")["SEED"], 6)

    def test_the_seeds_of_sky_and_noise_are_both_recorded(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 7, "--nside", NSIDE, "signal.h5", "--save-alm", "signal_alm.h5",
                  "--noise", "rms.fits", "--unit", "K")
        header = map_header(self.folder / "signal.h5")
        self.assertEqual((header["SEED"], header["NSEED"]), (7, 7))
        with h5py.File(self.folder / "signal_alm.h5") as file:
            self.assertEqual(file["alm/alm"].attrs["SEED"], 7)
            self.assertNotIn("NSEED", file["alm/alm"].attrs)
        for ranks in (1, 3):
            run = self.done("synthesize", "--alm", "signal_alm.h5", "--seed", 9, "--nside", NSIDE, "noisy.fits", "--noise",
                            "rms.fits", "--report", "noisy.json", "--overwrite", ranks=ranks)
            header = map_header(self.folder / "noisy.fits")
            self.assertEqual((header["SEED"], header["NSEED"]), (7, 9), run)
            self.assertEqual(json.loads((self.folder / "noisy.json").read_text())["noise_seed"], 9)
        self.assertIn("SEED 7, NSEED 9", self.done("info", "noisy.fits").out)

    def test_q_and_u_have_the_noise_that_they_have_beside_t(self):
        of_three = self.drawn("--noise", "rms.fits", "--fields", "TQU")
        np.testing.assert_array_equal(self.drawn("--noise", "rms.fits", "--fields", "QU"), of_three[1:])

    def test_it_adds_to_the_sky(self):
        noise = self.drawn("--noise", "rms.fits", "--fields", "TQU")
        sky = self.drawn(spectrum="cl.txt")
        both = self.drawn("--noise", "rms.fits", spectrum="cl.txt")
        self.assertLess(rms_difference(both, sky + noise), BOUND)
        in_uk = self.drawn("--noise", "rms.fits", "--fields", "TQU", "--unit", "uK")
        self.assertLess(rms_difference(in_uk, 1e6 * noise), BOUND)

    def test_hits_make_an_rms_and_pixels_without_are_unseen(self):
        noise = self.drawn("--noise", "hits.fits", "--noise-per-hit", 10)[0]
        np.testing.assert_array_equal(is_seen(noise), self.hits > 0)
        seen = self.hits > 0
        scaled = noise[seen] * np.sqrt(self.hits[seen]) / 10
        self.assertLess(abs(np.std(scaled) - 1), 5 / np.sqrt(2 * scaled.size))

    def test_the_column_may_be_chosen(self):
        write_map(self.folder / "columns.fits", np.array([0 * self.hits, self.mask + 1, self.hits]))
        with fits.open(self.folder / "columns.fits", mode="update") as hdus:
            hdus[1].header["TTYPE2"], hdus[1].header["TTYPE3"] = "RMS", "HITS"
        of_one = self.drawn("--noise", "rms.fits", "--noise-column", "0")
        for column in ("RMS", "1"):
            np.testing.assert_array_equal(self.drawn("--noise", "columns.fits", "--noise-column", column), of_one)
        by_hits = self.drawn("--noise", "columns.fits", "--noise-column", "HITS", "--noise-per-hit", 10, ranks=3)
        self.assertLess(rms_difference(by_hits[is_seen(by_hits)], self.drawn("--noise", "hits.fits", "--noise-per-hit", 10)[
            is_seen(by_hits)]), BOUND)
        np.testing.assert_array_equal(is_seen(by_hits[0]), self.hits > 0)

    def test_what_is_no_rms_is_refused(self):
        write_map(self.folder / "small_rms.fits", np.ones(12 * 16**2))
        for arguments, code, message in (
                (("--noise", "a.fits"), 3, "a.fits: column TEMPERATURE: "),
                (("--noise", "a.fits", "--noise-column", "U_POLARISATION"), 3,
                 "pixels are negative, NaN or infinite; expected the rms"),
                (("--noise", "a.fits", "--noise-column", "M"), 2, "--noise-column M: a.fits has TEMPERATURE, Q_POLARISATION"),
                (("--noise-column", "1"), 2, "--noise-column belongs to --noise"),
                (("--noise", "small_rms.fits"), 3, "noise of a map on healpix:32"),
                (("--noise-per-hit", 3), 2, "--noise-per-hit belongs to --noise"),
                (("--noise", "a.fits", "--noise-per-hit", -1), 2, "--noise-per-hit"),
                (("--noise", "rms.fits", "--unit", "MJy/sr"), 2, "give an rms in the unit of the map")):
            for ranks in (1, 3):
                run = self.done("synthesize", "--cl", "zero.txt", "--seed", 1, "--nside", NSIDE, "r.fits", *arguments,
                                ranks=ranks, code=code)
                self.assertIn(message, run.err)
        self.assertFalse((self.folder / "r.fits").exists())


class OtherBeamsAndGrids(Sky):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(4 * NSIDE + 1)
        for nside in (16, 32, 64):
            window = np.exp(-(np.arange(4 * nside + 1) / (3.0 * nside)) ** 2)
            table = fits.BinTableHDU.from_columns([fits.Column(name="TEMPERATURE", format="D", array=window),
                                                   fits.Column(name="POLARIZATION", format="D", array=window**1.1)])
            table.writeto(cls.folder / f"window_{nside}.fits")
        beam = np.exp(-degrees * (degrees + 1) * 1e-3)
        np.savetxt(cls.folder / "beam.txt", np.column_stack([degrees, beam, beam, beam]), header="l T E B")
        cls.beam = beam

    def expected(self, nside, b_t, b_p, lmax=47, n_iter=3):
        alms = alm_of(self.maps["a"], lmax, n_iter)
        for alm, b_l in zip(alms, (b_t, b_p, b_p)):
            alm[:] = healpy.almxfl(alm, b_l[:lmax + 1])
        return healpy.alm2map(alms, nside, lmax=lmax, pol=True)

    @staticmethod
    def gaussian(degrees, lmax=47):
        beams = healpy.gauss_beam(np.radians(degrees), lmax, pol=True)
        return beams[:, 0], beams[:, 1]

    def window(self, nside, lmax=47):
        table = fits.getdata(self.folder / f"window_{nside}.fits")
        return table["TEMPERATURE"][:lmax + 1], table["POLARIZATION"][:lmax + 1]

    def ratio(self, after, before):
        return [np.divide(a, b, out=np.zeros_like(a), where=b != 0) for a, b in zip(after, before)]

    def test_smoothing_onto_fewer_and_more_pixels(self):
        for nside, lmax in ((16, 47), (64, 95)):
            expected = self.expected(nside, *self.gaussian(7, lmax), lmax=lmax)
            for ranks in RANKS:
                self.done("smooth", "a.fits", "onto.fits", "--nside", nside, "--fwhm", "7deg", "--overwrite", "--report", "r.json",
                          ranks=ranks)
                self.assertLess(rms_difference(read_map(self.folder / "onto.fits"), expected), BOUND)
            header = map_header(self.folder / "onto.fits")
            self.assertEqual((header["NSIDE"], header["MAX-LPOL"], header["TUNIT1"]), (nside, lmax, "K"))
            report = json.loads((self.folder / "r.json").read_text())
            synthesis, planned = report["synthesis"], report["plan"]["synthesis"]
            self.assertEqual((synthesis["grid"], synthesis["transforms"]), (f"healpix:{nside}", 1))
            self.assertGreater(synthesis["legendre_gflop_per_s"], 0)
            self.assertGreater(planned["predicted_seconds"], 0)
            self.assertEqual(set(planned["predicted_stages"]), {"legendre", "ring_fft", "exchange"})

    def test_beam_windows_and_grid_in_one_go(self):
        steps = self.ratio([a * w for a, w in zip(self.gaussian(9), self.window(16))],
                           [a * w for a, w in zip(self.gaussian(6), self.window(32))])
        expected = self.expected(16, *steps)
        for ranks in RANKS:
            run = self.done("smooth", "a.fits", "all.h5", "--nside", 16, "--from-fwhm", "6deg", "--fwhm", "9deg",
                            "--from-pixel-window", "window_32.fits", "--pixel-window", "window_16.fits", "--overwrite",
                            ranks=ranks)
            self.assertNotIn("narrower", run.err)
            self.assertLess(rms_difference(read_map(self.folder / "all.h5"), expected), BOUND)
        header = map_header(self.folder / "all.h5")
        self.assertEqual((header["FWHM"], header["PIXWIN"]), (9, "window_16.fits"))

    def test_a_second_pixel_window_is_warned_about(self):
        self.done("smooth", "a.fits", "once.h5", "--fwhm", "6deg", "--pixel-window", "window_32.fits")
        self.done("convert", "once.h5", "once.fits")
        with fits.open(self.folder / "once.fits") as hdus:
            for value, name in ((True, "true.fits"), (False, "false.fits")):
                hdus[1].header["PIXWIN"] = value
                hdus.writeto(self.folder / name)
        window = ("--pixel-window", "window_32.fits")
        for options, first, second in ((window, "PIXWIN = window_32.fits", "PIXWIN = true"), ((), "", ""),
                                       ((*window, "--from-pixel-window", "window_32.fits"), "", "")):
            for ranks in (1, 3):
                for inputs, words in ((("once.h5",), first), (("once.fits", "true.fits"), second), (("false.fits",), ""),
                                      (("a.fits",), "")):
                    err = self.done("smooth", *inputs, "twice_{name}.h5", "--fwhm", "6deg", *options, "--overwrite",
                                    ranks=ranks).err
                    warnings = [line for line in err.splitlines() if "--pixel-window applies" in line]
                    self.assertEqual(len(warnings), len(inputs) if words else 0, err)
                    if words:
                        self.assertTrue(warnings[-1].startswith(f"warning: {inputs[-1]}: "), warnings)
                        self.assertIn(words, warnings[-1])

    def test_a_beam_is_replaced_on_the_same_grid(self):
        self.done("smooth", "a.fits", "six.fits", "--fwhm", "6deg")
        expected = self.expected(NSIDE, *self.ratio(self.gaussian(9, 95), self.gaussian(6, 95)), lmax=95)
        for ranks in (1, 3):
            self.done("smooth", "a.fits", "nine.fits", "--from-fwhm", "6deg", "--fwhm", "9deg", "--overwrite", ranks=ranks)
            self.assertLess(rms_difference(read_map(self.folder / "nine.fits"), expected), BOUND)
        self.done("smooth", "six.fits", "of_six.fits", "--from-fwhm", "6deg", "--fwhm", "9deg")
        self.assertEqual(map_header(self.folder / "of_six.fits")["FWHM"], 9)
        # On rings it is the Gaussian that is missing.
        for options in (("--from-fwhm", "6deg", "--fwhm", "10deg"), ("--fwhm", "8deg")):
            self.done("smooth", "a.fits", f"rings_{len(options)}.fits", *options, "--fields", "T", "--method", "ring",
                      "--error", 1e-9)
        self.assertLess(rms_difference(*(read_map(self.folder / f"rings_{n}.fits") for n in (4, 2))), BOUND)

    def test_beams_of_files(self):
        lmax = 60
        beam = (self.beam[:lmax + 1],) * 2
        expected = self.expected(NSIDE, *self.ratio(self.gaussian(9, lmax), beam), lmax=lmax)
        self.done("smooth", "a.fits", "of_file.fits", "--from-beam", "beam.txt", "--fwhm", "9deg", "--lmax", lmax, ranks=2)
        self.assertLess(rms_difference(read_map(self.folder / "of_file.fits"), expected), BOUND)
        # A table has E and B at l = 0 and 1, which a Gaussian has not.
        self.done("smooth", "a.fits", "to_file.fits", "--from-fwhm", "1deg", "--beam", "beam.txt", "--lmax", lmax)
        expected = self.expected(NSIDE, *self.ratio(beam, self.gaussian(1, lmax)), lmax=lmax)
        self.assertLess(rms_difference(read_map(self.folder / "to_file.fits"), expected), BOUND)

    def test_a_narrower_beam_is_warned_about_and_one_of_nothing_refused(self):
        run = self.done("smooth", "a.fits", "sharp.fits", "--from-fwhm", "6deg", "--fwhm", "3deg", "--lmax", 30)
        self.assertIn("the beam is narrower than the one the map has: a_lm are multiplied by up to", run.err)
        # Only for the method that is chosen, whatever --method auto tries.
        run = self.done("smooth", "a.fits", "sharp.fits", "--from-fwhm", "6deg", "--fwhm", "3deg", "--lmax", 30, "--fields", "T",
                        "--method", "auto", "--iter", 0, "--overwrite")
        self.assertIn("method: harmonic", run.out)
        self.assertEqual(run.err.count("the beam is narrower"), 1, run.err)
        self.assertIn("at l = 30", run.err)
        degrees = np.arange(2 * NSIDE)
        np.savetxt(self.folder / "short.txt", np.column_stack([degrees, np.where(degrees < 40, 1.0, 0.0)]))
        for ranks in (1, 3):
            run = self.done("smooth", "a.fits", "r.fits", "--from-beam", "short.txt", "--fwhm", "1deg", "--fields", "T",
                            ranks=ranks, code=2)
            self.assertIn("is 0 at l = 40, where nothing of the map is left; use --method harmonic with --lmax 39 or less", run.err)
        self.assertFalse((self.folder / "r.fits").exists())

    def test_the_mask_goes_onto_the_new_grid(self):
        marked = np.where(self.mask > 0, self.maps["a"], UNSEEN)
        write_map(self.folder / "marked.fits", marked)
        mask_alm = healpy.map2alm(self.mask, lmax=47, iter=3)
        b_t, b_p = self.gaussian(7)
        left = healpy.alm2map(mask_alm, 16, lmax=47)
        smoothed_mask = healpy.alm2map(healpy.almxfl(mask_alm, b_t), 16, lmax=47)
        alms = alm_of(self.maps["a"] * self.mask, 47)
        for alm, b_l in zip(alms, (b_t, b_p, b_p)):
            alm[:] = healpy.almxfl(alm, b_l)
        zero = healpy.alm2map(alms, 16, lmax=47, pol=True)
        for ranks in (1, 3):
            for policy, expected in (("zero", zero), ("restore", np.where(left < 0.5, UNSEEN, zero)),
                                     ("normalize", np.where(left < 0.5, UNSEEN, zero / smoothed_mask))):
                self.done("smooth", "marked.fits", "m16.fits", "--nside", 16, "--fwhm", "7deg", "--unseen", policy,
                          "--overwrite", ranks=ranks)
                found = read_map(self.folder / "m16.fits")
                np.testing.assert_array_equal(is_seen(found), is_seen(expected))
                self.assertLess(rms_difference(found[is_seen(found)], expected[is_seen(found)]), BOUND)

    def test_a_fractional_mask_is_divided_out_on_the_new_grid_too(self):
        write_map(self.folder / "fraction.fits", 0.5 + self.soft / 2)
        b_t = self.gaussian(7)[0]

        def on_new_grid(values):
            return healpy.alm2map(healpy.almxfl(healpy.map2alm(values, lmax=47, iter=3), b_t), 16, lmax=47)
        weights = 0.5 + self.soft / 2
        expected = on_new_grid(self.maps["a"][0] * weights) / on_new_grid(weights)
        self.done("smooth", "a.fits", "f16.fits", "--fields", "T", "--nside", 16, "--fwhm", "7deg", "--mask",
                  "fraction.fits", "--unseen", "normalize", ranks=2)
        self.assertLess(rms_difference(read_map(self.folder / "f16.fits")[0], expected), BOUND)

    def test_other_grids_and_many_maps(self):
        self.done("smooth", "a.fits", "gauss.h5", "--grid", "gauss:63", "--fwhm", "7deg", "--lmax", 47)
        self.done("smooth", "gauss.h5", "back.h5", "--nside", NSIDE, "--lmax", 47)
        self.assertLess(rms_difference(read_map(self.folder / "back.h5"), self.expected(NSIDE, *self.gaussian(7))), BOUND)
        self.done("smooth", "a.fits", "b.fits", "{name}_16.fits", "--nside", 16, "--fwhm", "7deg", ranks=2)
        self.assertLess(rms_difference(read_map(self.folder / "a_16.fits"), self.expected(16, *self.gaussian(7))), BOUND)
        self.done("smooth", "b.fits", "alone.fits", "--nside", 16, "--fwhm", "7deg")
        np.testing.assert_array_equal(*(read_map(self.folder / name) for name in ("b_16.fits", "alone.fits")))
        self.assertIn("FITS maps are on HEALPix, Clenshaw-Curtis or Fejer grids, this one is gauss:63",
                      self.done("smooth", "a.fits", "r.fits", "--grid", "gauss:63", "--fwhm", "7deg", code=2).err)

    def test_what_keeps_the_grid_does_not_change_it(self):
        for method in ("ring", "split"):
            run = self.done("smooth", "a.fits", "r.fits", "--nside", 16, "--fwhm", "7deg", "--method", method, code=2)
            self.assertIn(f"--method {method} keeps the grid of the map", run.err)
        self.assertIn("give the one that it is to have too",
                      self.done("smooth", "a.fits", "r.fits", "--nside", 16, "--from-fwhm", "7deg", code=2).err)
        plan = self.done("smooth", "a.fits", "r.fits", "--nside", 16, "--fwhm", "7deg", "--dry-run").out
        self.assertIn("map on the new grid", plan)
        self.assertFalse((self.folder / "r.fits").exists())


if __name__ == "__main__":
    program.main()
