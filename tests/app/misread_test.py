#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files and options that could be misread give the right map, or an error or a warning that says what was assumed."""
import json
import os

import program
from small_sky import DATA, DEGREES, ERROR_IN_DATA, LMAX, NSIDE, USAGE, SmallSky, needs_data

import h5py
import numpy as np
from astropy.io import fits

from files import UNSEEN, map_header, read_text, rms_difference, write_map


class KindsOfSpectra(SmallSky):
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
        self.write_table("pp.txt", [self.c_l, 0 * self.c_l], "l TT XX")
        self.assertIn("columns left out: XX", self.done("convert", "pp.txt", "pp.fits").err)
        self.assertIn("columns left out: XX", self.done("info", "pp.txt").out)

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


class ComponentsOfAlm(SmallSky):
    """FITS files of a_lm whose last tables, or rows, are missing."""

    synthesize = ("synthesize", "--overwrite", "--nside", NSIDE, "out.h5", "--alm")

    def setUp(self):
        self.done("convert", "alm.h5", "alm.fits", "--overwrite")

    def edit(self, change):
        with fits.open(self.folder / "alm.fits", mode="update") as hdus:
            change(hdus)

    def cut_before(self, number):
        with fits.open(self.folder / "alm.fits") as hdus:
            end = hdus[number].fileinfo()["hdrLoc"]
        with open(self.folder / "alm.fits", "r+b") as file:
            file.truncate(end)

    def test_a_file_states_how_many_it_has(self):
        for number in (3, 2):
            self.cut_before(number)
            words = [f"HDU 2 says ALM_HDUS = 3, the file has {number - 1} table(s) of a_lm"]
            self.refused(ERROR_IN_DATA, words, *self.synthesize, "alm.fits")
            self.refused(ERROR_IN_DATA, words, "convert", "alm.fits", "out.h5", "--overwrite")
            self.refused(ERROR_IN_DATA, words, "info", "alm.fits")

    def test_tables_of_older_versions_say_what_they_hold(self):
        def forget_number(hdus):
            for hdu in hdus[1:]:
                del hdu.header["ALM_HDUS"]

        self.edit(forget_number)
        self.done(*self.synthesize, "alm.fits")
        self.cut_before(3)
        self.assertIn("components T, E,", self.done("info", "alm.fits").out)
        self.refused(ERROR_IN_DATA, ["alm.fits: holds a_lm of T, E", "cut short"], *self.synthesize, "alm.fits")
        for number, name in enumerate("TE"):
            self.done("alm", "alm.fits", "one.h5", "--take", name, "--overwrite")
            np.testing.assert_array_equal(self.alm("one.h5")[0], self.alm("alm.h5")[number])

    def test_rows_that_are_missing_are_warned_about(self):
        def leave_out(hdus):
            for hdu in hdus[1:]:
                hdu.data = hdu.data[:-5]

        self.edit(leave_out)
        self.refused(ERROR_IN_DATA, ["rows, lmax = 47 and mmax = 47 make 1176", "Ringweave wrote all of them"],
                     *self.synthesize, "alm.fits")

        def name_another_program(hdus):
            for hdu in hdus[1:]:
                hdu.header["CREATOR"] = "another"

        self.edit(name_another_program)
        for command in ((*self.synthesize, "alm.fits"), ("convert", "--overwrite", "alm.fits", "out.h5"),
                        ("analyze", "--overwrite", "alm.fits", "--cl", "out.txt"),
                        ("alm", "--overwrite", "alm.fits", "out.h5"), ("compare", "alm.fits", "alm.fits")):
            self.assertIn("warning: alm.fits: HDU 2 has 1171 rows, lmax = 47 and mmax = 47 make 1176; the missing "
                          "coefficients are taken as 0", self.done(*command).err)


class Beams(SmallSky):
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


class Analyses(SmallSky):
    def test_iterations_that_diverge_are_an_error(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 8, "n8.h5", "--overwrite")
        for command in (("analyze", "n8.h5", "--cl", "none.h5"), ("smooth", "n8.h5", "none.h5", "--fwhm", "1deg")):
            for lmax in (32, 64):
                self.refused(ERROR_IN_DATA, ["n8.h5", "diverges", "--lmax 23"], *command, "--lmax", lmax)
                self.assertFalse((self.folder / "none.h5").exists())

    def test_degrees_beyond_the_grid_are_warned_about(self):
        for command in (("analyze", "sky.h5", "--cl", "out.txt"), ("smooth", "sky.h5", "out.h5", "--fwhm", "1deg"),
                        ("smooth", "sky.h5", "out.h5", "--fwhm", "30deg", "--fields", "T")):
            result = self.done(*command, "--lmax", 3 * NSIDE, "--iter", 0, "--overwrite")
            self.assertIn("warning: sky.h5: lmax = 48", result.err)
            self.assertIn("3 nside - 1", result.err)
            self.assertNotIn("warning", self.done(*command, "--lmax", LMAX, "--iter", 0, "--overwrite").err)

    def test_unseen_pixels_are_counted_by_field_where_fields_differ(self):
        holes = self.values("sky.h5")
        holes[0, :20] = holes[2, :27] = UNSEEN
        write_map(self.folder / "holes.fits", holes)
        smooth = ("smooth", "holes.fits", "out.fits", "--fwhm", "20deg")
        for command, words in (((*smooth, "--iter", 0), ": restore"), ((*smooth, "--method", "ring"), ": restore"),
                               (("analyze", "holes.fits", "--cl", "out.txt", "--iter", 0), " taken as zero")):
            out = self.done(*command, "--overwrite", "--report", "report.json").out
            self.assertIn("20 UNSEEN pixels of T, 27 of U" + words, out)
            if command[0] == "smooth":
                report = json.loads((self.folder / "report.json").read_text())
                self.assertEqual(report["unseen_pixels"], {"T": 20, "Q": 0, "U": 27})

    def test_another_beam_than_that_of_the_header_is_warned_about(self):
        self.done("smooth", "sky.h5", "beam.h5", "--fwhm", "20deg")
        replace = ("smooth", "beam.h5", "out.h5", "--fwhm", "30deg", "--overwrite", "--from-fwhm")
        self.assertIn("warning: beam.h5: its header names a beam of 1200arcmin (FWHM = 20 degrees), and --from-fwhm "
                      "15deg another", self.done(*replace, "15deg").err)
        self.assertNotIn("warning", self.done(*replace, "1200arcmin").err)

    def test_a_beam_without_width_is_noted(self):
        for command in (("smooth", "sky.h5", "out.h5"), ("convert", "alm.h5", "out.h5"),
                        ("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "out.h5")):
            self.assertIn("note: --fwhm 0deg: a beam without width smooths nothing",
                          self.done(*command, "--fwhm", "0deg", "--overwrite").err)

    def test_more_threads_than_cores_are_warned_about(self):
        n_threads = os.cpu_count() + 1
        self.assertIn(f"warning: --threads {n_threads}: ", self.done("info", "cl.txt", "--threads", n_threads).err)
        model = ("model", "--nside", 64, "--ranks", 1, "--threads")
        self.assertNotIn("warning", self.done(*model, n_threads).err)

    def test_a_grid_without_weights_is_not_analysed(self):
        """Users write such files (docs/files.md)."""
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--grid", "gauss:20", "user.h5")
        with h5py.File(self.folder / "user.h5", "r+") as file:
            del file["grid/weight"]
            file["grid"].attrs["name"] = "mine"
        for command in (("analyze", "user.h5", "--cl", "none.txt"), ("smooth", "user.h5", "none.h5", "--fwhm", "9deg"),
                        ("smooth", "user.h5", "none.h5", "--fwhm", "20deg", "--method", "ring", "--fields", "T")):
            self.refused(ERROR_IN_DATA, ["user.h5: its grid", "/grid/weight", "docs/files.md"], *command)
        self.done("plot", "user.h5", "user.png")

    def test_both_commands_print_the_residual(self):
        lines = [self.done(*command, "--overwrite").out.splitlines()[-2:]
                 for command in (("analyze", "sky.h5", "--cl", "out.txt"), ("smooth", "sky.h5", "out.h5", "--fwhm", "1deg"))]
        self.assertRegex(lines[0][0], r"^3 iteration\(s\), relative residual \d")
        self.assertEqual(lines[0][0], lines[1][0])

    def test_exact_grids_need_no_iterations(self):
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--grid", f"gauss:{LMAX}", "gauss.h5")
        for command in (("analyze", "gauss.h5", "--cl", "out.h5"),
                        ("smooth", "gauss.h5", "out.h5", "--fwhm", "1deg", "--method", "harmonic")):
            result = self.done(*command, "--report", "report.json", "--overwrite")
            self.assertNotIn("iteration(s), relative", result.out)
        self.assertEqual(map_header(self.folder / "out.h5")["NITERALM"], 0)


class Units(SmallSky):
    def synthesize(self, *options, out="out.h5"):
        self.done("synthesize", "--nside", NSIDE, out, "--fields", "T", "--overwrite", *options)
        return self.values(out), map_header(self.folder / out).get("TUNIT")

    def test_the_unit_comes_from_the_spectrum_and_is_converted(self):
        self.write_table("uk.txt", [self.c_l], "C_l in muK^2")
        plain, no_unit = self.synthesize("--cl", "cl.txt", "--seed", 3)
        self.assertIsNone(no_unit)
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


class Outputs(SmallSky):
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
        # Nothing is said of a run that does not take place.
        for command in (("smooth", "sky.h5", "old.h5", "--fwhm", "5deg"), (*synthesize, "--nside", 8)):
            self.assertEqual(self.done(*command, code=USAGE).out, "")


class Ranks(SmallSky):
    def test_help_and_versions_need_no_mpi(self):
        broken = {"OMPI_MCA_pml": "none", "OMPI_MCA_btl": "none"}
        for words in (("--help",), ("help", "smooth"), ("-V",)):
            self.assertEqual(self.done(*words, environment=broken).out, self.done(*words).out)
        if program.uses_open_mpi():
            result = program.run(("info", "cl.txt"), cwd=self.folder, environment=broken)
            self.assertNotEqual(result.code, 0, result)
        # Among several ranks one prints.
        self.assertEqual(self.done("--help", ranks=2, launched=True).out.count("Usage: "), 1)

    def test_ranks_that_find_themselves_alone_end_with_an_error(self):
        smooth = ("smooth", "sky.h5", "alone.h5", "--fwhm", "5deg")
        for variables in ({"PMI_SIZE": "2", "PMI_RANK": "1"}, {"OMPI_COMM_WORLD_SIZE": "4"},
                          {"SLURM_NTASKS": "2", "SLURM_PROCID": "1"},
                          {"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}):
            self.refused(USAGE, ["ranks were started", *variables.keys() - {"PMI_RANK", "SLURM_PROCID", "SLURM_NTASKS"}],
                         *smooth, environment=variables, ranks=(1,))
        self.assertFalse((self.folder / "alone.h5").exists())

    def test_one_process_shares_no_folder_with_others(self):
        if not program.uses_open_mpi():
            self.skipTest("the folders are those of Open MPI")
        folder = self.folder / "session"
        folder.mkdir()
        for variables in ({}, {"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "ENVIRONMENT": "BATCH"}):
            changed = folder.stat().st_mtime_ns
            self.done("info", "sky.h5", environment={"TMPDIR": str(folder), **variables})
            self.assertEqual(folder.stat().st_mtime_ns, changed, variables)
            self.assertEqual(list(folder.iterdir()), [])

    def test_one_rank_of_a_larger_job_is_right_where_no_launcher_started_it(self):
        for variables in ({"SLURM_NTASKS": "8"}, {"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "ENVIRONMENT": "BATCH"},
                          {"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}):
            self.done("info", "sky.h5", environment=variables)


if __name__ == "__main__":
    program.main()
