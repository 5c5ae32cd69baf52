#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and options that could be misread give the right map, or an error or a warning that says what was assumed."""
import os
import unittest

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits

from files import map_header, read_alm, read_map, read_text, rms_difference, write_map

DATA = program.DATA
USAGE, ERROR_IN_DATA = 2, 3
LMAX = 47
NSIDE = 16
DEGREES = np.arange(LMAX + 1)

needs_data = unittest.skipUnless(DATA.is_dir(), "RINGWEAVE_TEST_DATA names no folder")


class Misread(program.ProgramTest):
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


class KindsOfSpectra(Misread):
    def synthesize(self, table, *options, out="out.h5"):
        return self.done("synthesize", "--cl", table, "--seed", 3, "--nside", NSIDE, out, "--fields", "T", "--overwrite",
                         *options)

    def test_a_header_or_the_option_says_what_the_numbers_are(self):
        self.synthesize("cl.txt", out="expected.h5")
        expected = self.values("expected.h5")
        self.write_table("stated.txt", [self.d_l], "D_l in uK^2")
        self.write_table("unstated.txt", [self.d_l])
        self.write_table("bare_cl.txt", [self.c_l])
        monopole = np.sqrt(self.c_l[0] / (4 * np.pi))
        for table, options, kind, why in (("stated.txt", [], "D_l", "header says"),
                                          ("unstated.txt", ["--cl-kind", "dl"], "D_l", "--cl-kind dl"),
                                          ("bare_cl.txt", ["--cl-kind", "cl"], "C_l", "--cl-kind cl"),
                                          ("bare_cl.txt", [], "C_l", "does not say")):
            with self.subTest(table=table, options=options):
                result = self.synthesize(table, *options)
                self.assertIn(f"{table}: read as {kind}", result.err)
                self.assertIn(why, result.err)
                self.assertEqual(result.err.count("read as"), 1)
                self.assertNotIn("warning", result.err)
                self.assertEqual(map_header(self.folder / "out.h5")["CL_KIND"], kind)
                got = self.values("out.h5")
                # D_l have no monopole.
                difference = got - expected
                np.testing.assert_allclose(difference, difference.mean(), atol=1e-9)
                self.assertLess(abs(difference.mean()), 10 * monopole)

    def test_numbers_that_look_like_the_other_kind_are_warned_about(self):
        degrees = np.arange(301)
        falling = 1000 / (degrees + 10.0) ** 2
        for name, column, warns in (("white.txt", np.ones(301), True), ("falling.txt", falling, False),
                                    ("rising.txt", falling * degrees * (degrees + 1), True)):
            self.write_table(name, [column])
            self.assertEqual("--cl-kind dl" in self.synthesize(name).err.replace("give --cl-kind dl)", ""), warns, name)
            self.assertNotIn("warning", self.synthesize(name, "--cl-kind", "cl").err)

    def test_the_option_overrules_a_header_with_a_warning(self):
        self.write_table("stated.txt", [self.c_l], "D_l in uK^2")
        self.assertIn("its header says D_l; read as C_l", self.synthesize("stated.txt", "--cl-kind", "cl").err)

    def test_split_warns_of_each_file_whose_header_it_overrules(self):
        self.write_table("d_l.txt", [self.d_l], "D_l in uK^2")
        self.write_table("c_l.txt", [self.c_l], "C_l in uK^2")
        split = ("split", "--fwhm", "2deg", "--lmax", LMAX, "--nside", 16, "--cl", "d_l.txt", "--input-cl")
        for other, kind, warned in (("c_l.txt", "cl", ["d_l.txt"]), ("c_l.txt", "dl", ["c_l.txt"]),
                                    ("d_l.txt", "cl", ["d_l.txt"]), ("d_l.txt", "dl", [])):
            warnings = [line for line in self.done(*split, other, "--cl-kind", kind).err.splitlines() if "header says" in line
                        and line.startswith("warning")]
            self.assertEqual([line.split(": ")[1] for line in warnings], warned)
            for line in warnings:
                self.assertTrue(line.endswith(f"read as {kind[0].upper()}_l because of --cl-kind {kind}"), line)
        self.assertNotIn("warning", self.done(*split, "c_l.txt").err)

    @needs_data
    def test_a_file_of_planck_has_the_power_of_the_sky(self):
        table = DATA / "spectra/FFP10_wdipole_lensedCls.dat"
        self.assertIn("warning", self.synthesize(table).err)
        self.synthesize(table, "--cl-kind", "dl")
        values = np.loadtxt(table)[:LMAX, 1]
        degrees = np.arange(1, LMAX + 1)
        expected = np.sqrt(np.sum((2 * degrees + 1) * values / (2 * degrees * (degrees + 1))))
        self.assertAlmostEqual(self.values("out.h5").std() / expected, 1, delta=0.6)

    def test_other_commands_take_the_option(self):
        self.write_table("unstated.txt", [self.d_l])
        self.done("convert", "unstated.txt", "converted.txt", "--cl-kind", "dl")
        np.testing.assert_allclose(read_text(self.folder / "converted.txt")["TT"][1:], self.c_l[1:], rtol=1e-14)
        self.done("compare", "converted.txt", "unstated.txt", "--cl-kind", "dl", "--tolerance", 1e-12)
        self.assertIn("D_l", self.done("info", "unstated.txt", "--cl-kind", "dl").out)
        self.done("plot", "converted.txt", "cl.png", "--theory", "unstated.txt", "--cl-kind", "dl")

    def test_columns_left_out_are_named(self):
        self.write_table("pp.txt", [self.c_l, 0 * self.c_l], "l TT PP")
        self.assertIn("columns left out: PP", self.done("convert", "pp.txt", "pp.fits").err)
        self.assertIn("columns left out: PP", self.done("info", "pp.txt").out)

    def test_spectra_by_healpy_have_eb_and_tb_the_other_way_round(self):
        names = ["TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G"]
        for creator, eb, tb in (("healpy", 4, 5), ("ANAFAST", 5, 4)):
            table = fits.BinTableHDU.from_columns(
                [fits.Column(name=name, format="D", array=np.full(9, i)) for i, name in enumerate(names)])
            table.header["CREATOR"] = creator
            table.writeto(self.folder / "six.fits", overwrite=True)
            result = self.done("convert", "six.fits", "six.txt", "--overwrite")
            self.assertEqual("healpy" in result.err, creator == "healpy")
            read = read_text(self.folder / "six.txt")
            self.assertEqual((read["EB"][0], read["TB"][0]), (eb, tb))


class Beams(Misread):
    def smoothed(self, beam, *options):
        result = self.done("smooth", "sky.h5", "out.h5", "--beam", beam, "--iter", 0, "--overwrite", *options)
        return self.values("out.h5"), result.err

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.b_l = np.exp(-DEGREES * (DEGREES + 1) / 2 * 0.05 ** 2)
        cls.write_table("b.txt", [cls.b_l])
        cls.done("smooth", "sky.h5", "expected.h5", "--beam", "b.txt", "--iter", 0)

    def expected(self):
        return self.values("expected.h5")

    def write_fits(self, name, *tables):
        fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(self.folder / name, overwrite=True)

    def table(self, extension=None, **columns):
        return fits.BinTableHDU.from_columns([fits.Column(name=name, format="D", array=values)
                                              for name, values in columns.items()], name=extension)

    def test_a_table_that_does_not_begin_near_one_is_warned_about(self):
        np.savetxt(self.folder / "five.txt", np.full(LMAX + 1, 5.0))
        self.assertIn("is it a beam?", self.smoothed("five.txt")[1])
        self.assertNotIn("is it a beam?", self.smoothed("b.txt")[1])

    def test_a_sky_map_is_no_beam(self):
        write_map(self.folder / "map.fits", self.values("sky.h5"))
        self.refused(ERROR_IN_DATA, ["map.fits", "sky map"], "smooth", "sky.h5", "out.h5", "--beam", "map.fits",
                     "--overwrite")

    def test_the_beam_beside_a_map_is_found(self):
        write_map(self.folder / "map.fits", self.values("sky.h5"))
        with fits.open(self.folder / "map.fits") as hdus:
            self.write_fits("smica.fits", hdus[1].copy(), self.table("BEAMTF", INT_BEAM=self.b_l, POL_BEAM=self.b_l))
        np.testing.assert_array_equal(self.smoothed("smica.fits")[0], self.expected())

    def test_columns_are_found_by_their_names(self):
        for columns in ({"T": self.b_l, "E": self.b_l, "B": self.b_l}, {"BL": self.b_l, "ERROR": 0.01 * self.b_l},
                        {"ELL": DEGREES, "POL_BEAM": self.b_l, "INT_BEAM": self.b_l}):
            self.write_fits("named.fits", self.table(None, **columns))
            values, messages = self.smoothed("named.fits")
            np.testing.assert_array_equal(values, self.expected())
            self.assertEqual("ERROR" in messages, "ERROR" in columns)

    def test_an_error_column_is_no_beam_of_polarisation(self):
        self.write_table("wmap.txt", [self.b_l, 1e-3 * self.b_l + 1e-3])
        values, messages = self.smoothed("wmap.txt")
        np.testing.assert_array_equal(values, self.expected())
        self.assertIn("taken for an error and left out", messages)
        self.write_table("named.txt", [self.b_l, 1e-3 * self.b_l + 1e-3], "l T E")
        values, messages = self.smoothed("named.txt")
        self.assertLess(values[1].std(), 0.01 * self.expected()[1].std())
        self.assertNotIn("warning", messages)

    def test_one_column_begins_at_the_monopole(self):
        np.savetxt(self.folder / "one.txt", self.b_l)
        np.testing.assert_array_equal(self.smoothed("one.txt")[0], self.expected())

    def test_a_table_from_the_quadrupole_is_refused(self):
        np.savetxt(self.folder / "two.txt", np.column_stack([DEGREES, self.b_l])[2:])
        self.write_fits("two.fits", self.table(None, L=DEGREES[2:], T=self.b_l[2:]))
        for name in ("two.txt", "two.fits"):
            self.refused(ERROR_IN_DATA, [name, "begins with l = 2", "must begin at l = 0"], "smooth", "sky.h5", "out.h5",
                         "--beam", name, "--overwrite")

    def test_a_beam_that_ends_early_is_warned_about(self):
        self.write_table("short.txt", [self.b_l[:20]])
        self.assertIn("ends at l = 19", self.smoothed("short.txt")[1])
        self.assertNotIn("warning", self.smoothed("b.txt", "--lmax", LMAX)[1])


class Analyses(Misread):
    def test_iterations_that_diverge_are_an_error(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 8, "n8.h5", "--overwrite")
        for command in (("analyze", "n8.h5", "--cl", "none.h5"), ("smooth", "n8.h5", "none.h5", "--fwhm", "1deg")):
            for lmax in (32, 64):
                self.refused(ERROR_IN_DATA, ["n8.h5", "diverges", "--lmax 23"], *command, "--lmax", lmax)
                self.assertFalse((self.folder / "none.h5").exists())

    def test_degrees_beyond_the_grid_are_warned_about(self):
        for command in (("analyze", "sky.h5", "--cl", "out.txt"), ("smooth", "sky.h5", "out.h5", "--fwhm", "1deg")):
            result = self.done(*command, "--lmax", 3 * NSIDE, "--iter", 0, "--overwrite")
            self.assertIn("warning: sky.h5: lmax = 48", result.err)
            self.assertIn("3 nside - 1", result.err)
            self.assertNotIn("warning", self.done(*command, "--lmax", LMAX, "--iter", 0, "--overwrite").err)

    def test_both_commands_print_the_residual(self):
        lines = [self.done(*command, "--overwrite").out.splitlines()[-2:]
                 for command in (("analyze", "sky.h5", "--cl", "out.txt"), ("smooth", "sky.h5", "out.h5", "--fwhm", "1deg"))]
        self.assertRegex(lines[0][0], r"^3 iterations, relative residual \d")
        self.assertEqual(lines[0][0], lines[1][0])

    def test_exact_grids_need_no_iterations(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--grid", f"gauss:{LMAX}", "gauss.h5")
        for command in (("analyze", "gauss.h5", "--cl", "out.h5"),
                        ("smooth", "gauss.h5", "out.h5", "--fwhm", "1deg", "--method", "harmonic")):
            result = self.done(*command, "--report", "report.json", "--overwrite")
            self.assertNotIn("iterations, relative", result.out)
        self.assertEqual(map_header(self.folder / "out.h5")["NITERALM"], 0)


class OtherKinds(Misread):
    def test_maps_and_alm_are_no_spectra(self):
        write_map(self.folder / "map.fits", self.values("sky.h5"))
        self.done("convert", "alm.h5", "alm.fits")
        for name, words in (("map.fits", "sky map"), ("alm.fits", "a_lm")):
            self.refused(ERROR_IN_DATA, [name, words], "synthesize", "--cl", name, "--nside", 8, "none.h5")
        self.refused(ERROR_IN_DATA, ["alm.fits", "a_lm"], "smooth", "sky.h5", "none.h5", "--beam", "alm.fits")

    def test_spectra_of_as_many_rows_as_a_map_has_pixels_are_spectra(self):
        for lmax in (11, 47):
            table = fits.BinTableHDU.from_columns([fits.Column(name="TEMPERATURE", format="D", array=np.ones(lmax + 1))])
            table.header["CREATOR"] = "healpy"
            table.writeto(self.folder / "rows.fits", overwrite=True)
            self.assertIn(f"spectra TT, lmax {lmax}", self.done("info", "rows.fits").out)

    def test_points_and_values_are_no_spectra(self):
        theta, phi = np.array([0.25, 1.5, 3.0]), np.array([0.0, 6.25, 2.0])
        np.savetxt(self.folder / "points.txt", np.column_stack([theta, phi]))
        with h5py.File(self.folder / "points.h5", "w") as file:
            file["points/theta"], file["points/phi"], file["points/psi"] = theta, phi.astype("f4"), phi
        with h5py.File(self.folder / "values.h5", "w") as file:
            file["values"] = [[1.0, 2.0, 6.0], [2.0, 2.0, 2.0]]
            file["values"].attrs["components"] = ["T", "N"]
        for ranks in (1, 3):
            out = self.done("info", "points.txt", "points.h5", "values.h5", ranks=ranks).out
            for words in ("points.txt: points: 3, psi no, theta 0.25 to 3 rad", "points.h5: points: 3, psi yes",
                          "values.h5: values at 3 points, components T N", "mean 3  sigma 2.16025",
                          "mean 2  sigma 0"):
                self.assertIn(words, out)

    def test_a_file_without_a_name_is_refused(self):
        self.refused(ERROR_IN_DATA, ["cannot be read"], "info", "")


class Windows(Misread):
    @needs_data
    def test_the_window_of_another_nside_is_refused(self):
        windows = DATA / "windows"
        synthesize = ("synthesize", "--alm", "alm.h5", "--overwrite", "out.h5", "--pixel-window")
        self.refused(ERROR_IN_DATA, ["pixel_window_n0032.fits", "nside = 16", "nside = 32"], *synthesize,
                     windows / "pixel_window_n0032.fits", "--nside", 16)
        self.refused(USAGE, ["--pixel-window", "HEALPix"], *synthesize, windows / "pixel_window_n0032.fits", "--grid",
                     "gauss:20")
        self.done(*synthesize, windows / "pixel_window_n0032.fits", "--nside", 32)
        self.assertEqual(map_header(self.folder / "out.h5")["PIXWIN"], str(windows / "pixel_window_n0032.fits"))

    @needs_data
    def test_weights_of_another_nside_are_refused(self):
        for weights, of in (("ring", "weight_ring_n00032.fits"), ("pixel", "healpix_full_weights_nside_0032.fits")):
            self.refused(ERROR_IN_DATA, [of, "nside = 16"], "analyze", "sky.h5", "--cl", "out.txt", "--weights",
                         f"{weights}:{DATA}/windows/{of}")

    def test_means_count_the_area_of_pixels(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--grid", "fejer:30,60", "--fields", "T", "fejer.h5")
        with h5py.File(self.folder / "fejer.h5", "r+") as file:
            theta = np.repeat(np.array(file["grid/theta"]), 60)
            file["map"][0] = np.cos(theta) ** 2
        self.assertIn("mean 0.333333", self.done("info", "fejer.h5").out)


class Units(Misread):
    def synthesize(self, *options, out="out.h5"):
        self.done("synthesize", "--nside", NSIDE, out, "--fields", "T", "--overwrite", *options)
        return self.values(out), map_header(self.folder / out)["TUNIT"]

    def test_the_unit_comes_from_the_spectrum_and_is_converted(self):
        self.write_table("uk.txt", [self.c_l], "C_l in muK^2")
        plain, no_unit = self.synthesize("--cl", "cl.txt", "--seed", 3)
        self.assertEqual(list(no_unit), [""])
        seed = ("--cl", "uk.txt", "--seed", 3)
        for unit, factor in (("", 1), ("uK", 1), ("mK", 1e-3), ("K", 1e-6)):
            values, label = self.synthesize(*seed, *(["--unit", unit] if unit else []))
            self.assertEqual(list(label), [unit or "uK"])
            self.assertLess(rms_difference(values, factor * plain), 1e-14)
        self.refused(USAGE, ["--unit MJy/sr", "uK"], "synthesize", *seed, "--nside", 8, "out2.h5", "--unit", "MJy/sr")

    def test_a_spectrum_without_a_unit_gets_the_one_that_is_given(self):
        plain, _ = self.synthesize("--cl", "cl.txt", "--seed", 3)
        values, label = self.synthesize("--cl", "cl.txt", "--seed", 3, "--unit", "K")
        self.assertEqual(list(label), ["K"])
        np.testing.assert_array_equal(values, plain)

    def test_alm_are_converted_too(self):
        self.write_table("uk.txt", [self.c_l], "C_l in muK^2")
        self.done("synthesize", "--cl", "uk.txt", "--seed", 3, "--nside", NSIDE, "uk.h5", "--save-alm", "uk_alm.h5")
        in_uk, _ = self.synthesize("--alm", "uk_alm.h5")
        in_k, label = self.synthesize("--alm", "uk_alm.h5", "--unit", "K")
        self.assertEqual(list(label), ["K"])
        self.assertLess(rms_difference(in_k, 1e-6 * in_uk), 1e-14)


class Outputs(Misread):
    def unchanged(self, name, *arguments):
        before = (self.folder / name).read_bytes()
        self.refused(USAGE, ["is an input of this command"], *arguments, "--overwrite")
        self.assertEqual((self.folder / name).read_bytes(), before)

    def test_an_input_is_not_replaced(self):
        os.symlink("sky.h5", self.folder / "link.h5")
        self.unchanged("sky.h5", "analyze", "sky.h5", "--cl", "sky.h5")
        self.unchanged("sky.h5", "analyze", "sky.h5", "--alm", "link.h5")
        self.unchanged("sky.h5", "convert", "sky.h5", "sky.h5")
        self.unchanged("alm.h5", "synthesize", "--alm", "alm.h5", "--nside", 8, "alm.h5")
        self.unchanged("cl.txt", "synthesize", "--cl", "cl.txt", "--nside", 8, "out.h5", "--report", "cl.txt")
        self.write_table("beam.txt", [np.ones(LMAX + 1)])
        self.unchanged("sky.h5", "smooth", "sky.h5", "out.h5", "--fwhm", "5deg", "--report", "sky.h5")
        self.unchanged("beam.txt", "smooth", "sky.h5", "out.h5", "--beam", "beam.txt", "--report", "beam.txt")

    def test_a_map_may_be_smoothed_in_its_place(self):
        self.done("convert", "sky.h5", "place.h5")
        self.done("smooth", "place.h5", "place.h5", "--fwhm", "5deg", "--overwrite")
        self.done("smooth", "sky.h5", "other.h5", "--fwhm", "5deg")
        np.testing.assert_array_equal(self.values("place.h5"), self.values("other.h5"))

    def test_options_and_inputs_are_checked_before_outputs(self):
        (self.folder / "old.h5").write_text("precious")
        synthesize = ("synthesize", "--cl", "cl.txt", "old.h5")
        self.refused(USAGE, ["hexagons"], *synthesize, "--grid", "hexagons:8")
        self.refused(USAGE, ["--mmax"], *synthesize, "--nside", 8, "--lmax", 4, "--mmax", 5)
        self.refused(ERROR_IN_DATA, ["none.txt"], *synthesize, "--nside", 8, "--beam", "none.txt")
        self.refused(USAGE, ["unit"], "smooth", "sky.h5", "old.h5", "--fwhm", "5")
        self.assertEqual(self.done("smooth", "sky.h5", "old.h5", "--fwhm", "5", code=USAGE).out, "")
        self.refused(ERROR_IN_DATA, ["none.txt"], "smooth", "sky.h5", "old.h5", "--beam", "none.txt")
        self.refused(USAGE, ["old.h5", "--overwrite"], "smooth", "sky.h5", "old.h5", "--fwhm", "5deg")


class Ranks(Misread):
    def test_ranks_that_find_themselves_alone_end_with_an_error(self):
        smooth = ("smooth", "sky.h5", "alone.h5", "--fwhm", "5deg")
        for variables in ({"PMI_SIZE": "2", "PMI_RANK": "1"}, {"OMPI_COMM_WORLD_SIZE": "4"},
                          {"SLURM_NTASKS": "2", "SLURM_PROCID": "1"},
                          {"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}):
            self.refused(USAGE, ["ranks were started", *variables.keys() - {"PMI_RANK", "SLURM_PROCID", "SLURM_NTASKS"}],
                         *smooth, environment=variables, ranks=(1,))
        self.assertFalse((self.folder / "alone.h5").exists())

    def test_one_rank_of_a_larger_job_is_right_where_no_launcher_started_it(self):
        for variables in ({"SLURM_NTASKS": "8"}, {"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "ENVIRONMENT": "BATCH"},
                          {"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}):
            self.done("info", "sky.h5", environment=variables)


if __name__ == "__main__":
    program.main()
