#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The origin that a file states goes on into the files that are made of it."""
import json
import unittest

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits

from files import map_header, read_map, write_map

NSIDE = 16
LMAX = 47


class Provenance(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(LMAX + 1)
        c_l = 1 / (degrees + 1.0) ** 2
        np.savetxt(cls.folder / "cl.txt", np.column_stack([degrees, c_l, c_l, c_l, 0 * c_l]))
        write_map(cls.folder / "planck.fits", np.random.default_rng(1).standard_normal((3, 12 * NSIDE**2)),
                  FREQ="143", AST_COMP="CMB", RESOLN=7.5, SKYFRAC=1, CLEANED=True)
        with fits.open(cls.folder / "planck.fits", mode="update") as hdus:
            hdus[1].header["HISTORY"] = "made by another program"
            hdus[1].header["HISTORY"] = "from timestreams"

    def header(self, name):
        return map_header(self.folder / name)

    def history(self, name):
        """Returns the steps of a file's history as one text."""
        if name.endswith(".h5"):
            with h5py.File(self.folder / name) as file:
                return file.attrs["history"]
        lines = [str(line) for line in fits.getheader(self.folder / name, 1)["HISTORY"]]
        return "\n".join(lines).replace("\n& ", "")  # lines that go on in the next card


class Storage(Provenance):
    def test_small_integers_do_not_make_a_map_double(self):
        n_pixels = 12 * NSIDE**2
        sky = np.random.default_rng(2).standard_normal(n_pixels).astype(np.float32)
        mask = sky > 0
        for kind, values, letter in (("B", mask.astype(np.uint8), "E"), ("I", 300 * mask.astype(np.int16), "E"),
                                     ("L", mask, "E"), ("J", 2**24 * mask.astype(np.int32) + mask, "D")):
            columns = [fits.Column("T", "E", array=sky), fits.Column("MASK", kind, array=values)]
            table = fits.BinTableHDU.from_columns(columns)
            table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "RING", "NSIDE": NSIDE})
            table.writeto(self.folder / "mixed.fits", overwrite=True)
            become = "float64" if letter == "D" else "float32"
            self.assertIn(f"note: mixed.fits: integers (MASK) become {become}, which is exact\n",
                          self.done("convert", "mixed.fits", "mixed.h5", "--overwrite").err)
            self.done("convert", "mixed.h5", "again.fits", "--overwrite")
            self.assertEqual(self.header("again.fits")["TFORM2"], f"1024{letter}")
            np.testing.assert_array_equal(read_map(self.folder / "again.fits"), [sky, values])
        with h5py.File(self.folder / "bytes.h5", "w") as file:
            file["map"] = mask.astype(np.uint8)[None]
            file["map"].attrs.update({"NSIDE": NSIDE, "ORDERING": "RING"})
        self.assertIn("bytes.h5: integers (TEMPERATURE) become float32, which is exact\n",
                      self.done("convert", "bytes.h5", "again.fits", "--overwrite").err)
        self.assertEqual(self.header("again.fits")["TFORM1"], "1024E")
        self.assertIn("become float32, which is exact up to 2^24\n",
                      self.done("convert", "mixed.fits", "single.h5", "--precision", "single").err)
        self.assertNotIn("integers", self.done("convert", "again.fits", "real.h5").err)

    def test_files_without_dimensions_are_read(self):
        """Files of versions that wrote none."""
        self.done("analyze", "planck.fits", "--alm", "new_alm.h5", "--cl", "new_cl.h5", "--iter", 0)
        self.done("convert", "planck.fits", "new_map.h5")
        for kind, names in (("map", "field cell"), ("alm", "alm/component alm/coefficient"), ("cl", "cl/spectrum cl/ell")):
            with h5py.File(self.folder / f"new_{kind}.h5") as new, h5py.File(self.folder / "old.h5", "w") as old:
                for name in new:
                    new.copy(name, old)
                for name in names.split():
                    del old[name]
                data = old["map" if kind == "map" else f"{kind}/{'alm' if kind == 'alm' else 'spectra'}"]
                del data.attrs["DIMENSION_LIST"]
            self.done("convert", "old.h5", "of_old.fits", "--overwrite")
            self.done("convert", f"new_{kind}.h5", "of_new.fits", "--overwrite")
            with fits.open(self.folder / "of_old.fits") as of_old, fits.open(self.folder / "of_new.fits") as of_new:
                for old, new in zip(of_old, of_new):
                    np.testing.assert_array_equal(old.data, new.data)


class CarriedOver(Provenance):
    def test_spectra_as_text_carry_it_in_comments(self):
        write_map(self.folder / "mask.fits", np.ones(12 * NSIDE**2))
        for ranks in (1, 3):
            self.done("analyze", "planck.fits", "--mask", "mask.fits", "--cl", "masked.txt", "--iter", 0, "--overwrite",
                      ranks=ranks)
            lines = (self.folder / "masked.txt").read_text().splitlines()
            for begin, words in (("# C_l", "ringweave"), ("# HISTORY", "from timestreams"),
                                 ("# HISTORY", "analyze planck.fits"), ("# HISTORY", "input: planck.fits"),
                                 ('# KEYWORD MASK = "mask.fits"', ""), ("# KEYWORD FSKY = ", ""),
                                 ("# KEYWORD CLEANED = true", "")):
                self.assertTrue(any(line.startswith(begin) and words in line for line in lines), (begin, words, lines))
            self.done("convert", "masked.txt", "masked.fits", "--overwrite", ranks=ranks)
            header = self.header("masked.fits")
            self.assertEqual((header["FREQ"], header["CLEANED"]), ("143", True))
            self.assertAlmostEqual(header["FSKY"], 1, places=10)
            self.done("convert", "masked.fits", "again.txt", "--overwrite", ranks=ranks)
            again = (self.folder / "again.txt").read_text().splitlines()
            steps = [line for line in lines if line.startswith("# HISTORY")]
            self.assertEqual([line for line in again if line in steps], steps)
            # A name with a line break, or with D_l and a unit in it, misleads no reader.
            self.done("convert", "masked.txt", "D_l in\nmK^2.txt", "--overwrite", ranks=ranks)
            self.assertIn("read as C_l in K^2 (as its header says)",
                          self.done("plot", "D_l in\nmK^2.txt", "cl.svg", "--overwrite").err)

    def test_comments_are_kept_through_every_kind_of_file(self):
        with fits.open(self.folder / "planck.fits") as hdus:
            table = hdus[1].copy()
        for line in ("a first comment", "l(l+1)C_l and " + "x" * 40, "z" * 71):
            table.header["COMMENT"] = line
        table.header["LONG"] = "y" * 90
        table.header["FREQ"] = ("143", "reference [GHz]")
        table.writeto(self.folder / "comments.fits", overwrite=True)
        self.done("smooth", "comments.fits", "c1.h5", "--fwhm", "3deg", "--iter", 0)
        self.done("convert", "c1.h5", "c2.fits")
        self.done("convert", "c2.fits", "c3.fits")
        expected = list(table.header["COMMENT"])
        with h5py.File(self.folder / "c1.h5") as file:
            self.assertEqual(file.attrs["comment"].splitlines(), expected)
            self.assertIn("FREQ: reference [GHz]", file["map"].attrs["keyword_comments"].splitlines())
        header = fits.getheader(self.folder / "c3.fits", 1)
        self.assertEqual([line for line in map(str, header["COMMENT"]) if line in expected], expected)
        self.assertEqual(len(list(header["COMMENT"])), len(list(fits.getheader(self.folder / "c2.fits", 1)["COMMENT"])))
        self.assertEqual(header.comments["FREQ"], "reference [GHz]")
        self.assertNotIn("keyword_comments", header)
        self.done("analyze", "c3.fits", "--cl", "c4.txt", "--iter", 0)
        self.assertIn("# COMMENT a first comment\n", (self.folder / "c4.txt").read_text())
        self.assertIn("comment: a first comment", self.done("info", "--provenance", "c4.txt").out)

    def check(self, name):
        header = self.header(name)
        self.assertEqual([header[key] for key in ("FREQ", "AST_COMP", "RESOLN", "SKYFRAC")], ["143", "CMB", 7.5, 1])
        self.assertTrue(header["CLEANED"])
        self.assertIn("made by another program", self.history(name))

    def test_convert_keeps_everything_in_both_directions(self):
        self.done("convert", "planck.fits", "planck.h5")
        self.done("convert", "planck.h5", "again.fits")
        self.check("planck.h5")
        self.check("again.fits")
        self.assertEqual(self.header("again.fits")["CLEANED"], True)
        for step in ("planck.fits planck.h5", "planck.h5 again.fits"):
            self.assertIn(step, self.history("again.fits"))

    def test_a_map_keeps_the_name_of_its_table(self):
        with fits.open(self.folder / "planck.fits") as hdus:
            hdus[1].header["EXTNAME"] = "FREQ-MAP"
            hdus.writeto(self.folder / "named.fits")
        self.done("convert", "named.fits", "named.h5")
        self.done("smooth", "named.h5", "named_smooth.fits", "--fwhm", "3deg", "--iter", 0)
        self.done("analyze", "named.h5", "--alm", "named_alm.fits", "--cl", "named_cl.fits", "--iter", 0)
        self.done("synthesize", "--alm", "named_alm.fits", "--nside", NSIDE, "drawn.fits")
        for name, extension in (("named_smooth.fits", "FREQ-MAP"), ("named_alm.fits", "A_LM T"),
                                ("named_cl.fits", "POWER SPECTRUM"), ("drawn.fits", "MAP")):
            header = fits.getheader(self.folder / name, 1)
            self.assertEqual(header["EXTNAME"], extension)
            self.assertNotIn("EXTNAME", "".join(map(str, header["HISTORY"])))

    def test_odd_keywords_do_no_harm(self):
        with fits.open(self.folder / "planck.fits") as hdus:
            table = hdus[1].copy()
        table.header["VERS"] = "1.2.3"
        table.header["LONG"] = "x" * 100
        table.header["RESOLN"] = (7.5, "[arcmin]")
        table.header["FWHM"] = (300, "[arcmin] of the beam")
        for text in ("VERS2   = 1.2.3", "DATE1   = 2013-05-01", "TWICE   = 1", "TWICE   = 2", "FAR     = 1E400"):
            table.header.append(fits.Card.fromstring(text), end=True)
        table.header["HISTORY"] = "y" * 72
        table.header["HISTORY"] = "another line"
        table.writeto(self.folder / "odd.fits", overwrite=True, output_verify="ignore")
        long_name = "a" * 50 + " b.h5"
        for ranks in (1, 3):
            self.done("smooth", "odd.fits", long_name, "--fwhm", "12deg", "--iter", 0, "--overwrite", ranks=ranks)
            header = self.header(long_name)
            self.assertEqual([header[key] for key in ("VERS", "VERS2", "LONG", "TWICE")], ["1.2.3", "1.2.3", "x" * 100, 2])
            self.assertAlmostEqual(header["FWHM"], 13, places=12)
            with h5py.File(self.folder / long_name) as file:
                lines = file.attrs["history"].splitlines()
            self.assertLess(lines.index("y" * 72), lines.index("another line"))
            self.done("convert", long_name, "odd_back.fits", "--overwrite", ranks=ranks)
            self.done("convert", "odd_back.fits", "odd_again.h5", "--overwrite", ranks=ranks)
            with h5py.File(self.folder / "odd_again.h5") as file:
                again = file.attrs["history"].splitlines()
            self.assertEqual(again[: len(lines)], lines)
            self.assertAlmostEqual(self.header("odd_again.h5")["FWHM"], 13, places=12)

    def test_attributes_that_would_change_a_fits_table_go_into_its_history(self):
        self.done("convert", "planck.fits", "attributes.h5")
        with h5py.File(self.folder / "attributes.h5", "r+") as file:
            for name, value in (("TSCAL1", 2.0), ("TZERO1", 1.0), ("a=b", "text"), ("lower", 1), ("NAXIS2", 3)):
                file["map"].attrs[name] = value
        self.done("convert", "attributes.h5", "attributes.fits")
        np.testing.assert_array_equal(read_map(self.folder / "attributes.fits"), read_map(self.folder / "planck.fits"))
        self.assertNotIn("TSCAL1", self.header("attributes.fits"))
        self.assertIn("lower = 1", self.history("attributes.fits"))

    def test_every_step_is_appended_in_order(self):
        self.done("smooth", "planck.fits", "first.h5", "--fwhm", "3deg", "--iter", 0)
        self.done("smooth", "first.h5", "second.fits", "--fwhm", "4deg", "--iter", 0)
        self.check("second.fits")
        history = self.history("second.fits")
        steps = [history.index(step) for step in ("from timestreams", "--fwhm 3deg", "--fwhm 4deg")]
        self.assertEqual(steps, sorted(steps))
        self.assertAlmostEqual(self.header("second.fits")["FWHM"], 5, places=12)

    def test_alm_and_spectra_have_it_too(self):
        self.done("analyze", "planck.fits", "--alm", "alm.h5", "--cl", "spectra.fits", "--iter", 0)
        self.done("convert", "alm.h5", "alm.fits", "--fwhm", "5deg")
        self.done("synthesize", "--alm", "alm.fits", "--nside", NSIDE, "back.h5", "--fwhm", "12deg")
        self.check("back.h5")
        self.assertAlmostEqual(self.header("back.h5")["FWHM"], 13, places=12)
        self.done("convert", "spectra.fits", "spectra.h5")
        with h5py.File(self.folder / "spectra.h5") as file:
            self.assertEqual(file["cl/spectra"].attrs["FREQ"], "143")
            self.assertIn("analyze planck.fits", file.attrs["history"])

    def test_info_shows_the_chain(self):
        self.done("smooth", "planck.fits", "shown.h5", "--fwhm", "3deg", "--iter", 0)
        short = self.done("info", "shown.h5").out
        self.assertIn("made with FWHM 3", short)
        self.assertNotIn("from timestreams", short)
        chain = self.done("info", "--provenance", "shown.h5").out
        for words in ("history: from timestreams", "keyword: FREQ = 143", "smooth planck.fits shown.h5"):
            self.assertIn(words, chain)

    def test_info_shows_the_chain_of_tables_or_says_that_there_is_none(self):
        none = "history: none; the file does not say how it was made"
        self.done("analyze", "planck.fits", "--cl", "chain.txt", "--iter", 0)
        for name in ("chain.fits", "chain.h5"):
            self.done("convert", "chain.txt", name)
        beam = np.exp(-np.arange(LMAX + 1.0) ** 2 / 1e3)
        np.savetxt(self.folder / "beam.txt", np.column_stack([np.arange(LMAX + 1), beam]), header="l B_l")
        with open(self.folder / "made_beam.txt", "w", encoding="utf-8") as file:
            file.write("# HISTORY analyze planck.fits of a planet\n" + (self.folder / "beam.txt").read_text())
        table = fits.BinTableHDU.from_columns([fits.Column("INT_BEAM", "D", array=beam)], name="BEAMTF")
        table.writeto(self.folder / "beam.fits")
        table.header["HISTORY"] = "analyze planck.fits of a planet"
        table.writeto(self.folder / "made_beam.fits")
        with h5py.File(self.folder / "cl.h5", "w") as file:
            file["cl/spectra"] = np.ones((1, LMAX + 1))
            file["cl/spectra"].attrs["spectra"] = ["TT"]
        fits.BinTableHDU.from_columns([fits.Column("TT", "D", array=1e3 * beam)]).writeto(self.folder / "cl.fits")
        for ranks in (1, 3):
            for name in ("chain.txt", "chain.fits", "chain.h5", "made_beam.txt", "made_beam.fits", "planck.fits"):
                out = self.done("info", "--provenance", name, ranks=ranks).out
                self.assertIn("history: ", out)
                self.assertIn("made by another program" if name == "planck.fits" else "analyze planck.fits", out)
                self.assertNotIn(none, out)
            for name in ("cl.txt", "cl.fits", "cl.h5", "beam.txt", "beam.fits"):
                self.assertEqual(self.done("info", "--provenance", name, ranks=ranks).out.count(none), 1, name)
                self.assertNotIn("history", self.done("info", name, ranks=ranks).out)

    def test_columns_left_out_are_named(self):
        table = fits.BinTableHDU.from_columns(
            [fits.Column(name=name, format="D", array=np.ones(12 * NSIDE**2)) for name in ("I_STOKES", "HITS", "II_COV")])
        for key, value in (("PIXTYPE", "HEALPIX"), ("ORDERING", "RING"), ("NSIDE", NSIDE)):
            table.header[key] = value
        table.writeto(self.folder / "hits.fits")
        for command in (("smooth", "hits.fits", "smooth_hits.fits", "--fwhm", "3deg"), ("analyze", "hits.fits", "--cl", "c.txt")):
            self.assertIn("columns left out: HITS, II_COV", self.done(*command).err)

    def test_many_columns_of_planck_stay_polarised(self):
        names = ["I_STOKES", "Q_STOKES", "U_STOKES", "HITS", *(f"{pair}_COV" for pair in "II IQ IU QQ QU UU".split())]
        table = fits.BinTableHDU.from_columns(
            [fits.Column(name=name, format="E", array=np.full(12 * NSIDE**2, c)) for c, name in enumerate(names)])
        table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "NESTED", "NSIDE": NSIDE})
        table.writeto(self.folder / "ten.fits")
        self.done("convert", "ten.fits", "ten.h5")
        self.done("convert", "ten.h5", "ten_again.fits")
        with fits.open(self.folder / "ten_again.fits") as hdus:
            self.assertEqual((hdus[1].header["POLAR"], hdus[1].columns.names), (True, names))


class Recorded(Provenance):
    def test_every_file_has_its_seed(self):
        synthesize = ("synthesize", "--cl", "cl.txt", "--nside", NSIDE)
        printed = self.done(*synthesize, "drawn.h5", "--report", "drawn.json").out.splitlines()[0]
        seed = self.header("drawn.h5")["SEED"]
        self.assertEqual(printed, f"seed {seed}")
        self.assertEqual(json.loads((self.folder / "drawn.json").read_text())["seed"], int(seed))
        self.done(*synthesize, "{seed}.fits", "--seed", "3..4", "--save-alm", "alm{seed}.fits")
        for one in (3, 4):
            self.assertEqual(self.header(f"{one}.fits")["SEED"], one)
            self.assertEqual(fits.getheader(self.folder / f"alm{one}.fits", 1)["SEED"], one)
        self.done("convert", "drawn.h5", "drawn.fits")
        self.assertEqual(int(self.header("drawn.fits")["SEED"]), int(seed))
        self.done(*synthesize, "large.fits", "--seed", 2**64 - 1)
        self.assertEqual(int(self.header("large.fits")["SEED"]), 2**64 - 1)

    def test_tables_in_json_have_their_origin(self):
        for command in (("split", "--fwhm", "2deg", "--lmax", LMAX, "--nside", NSIDE),
                        ("model", "--nside", NSIDE, "--ranks", "1,2")):
            self.done(*command, "--json", "table.json", "--overwrite")
            table = json.loads((self.folder / "table.json").read_text())
            self.assertIn(" ".join(map(str, command)), table["command_line"])
            self.assertIn("ringweave", table["program"])
            self.assertEqual(table["configuration"]["nside"], NSIDE)

    def test_the_configuration_is_json_and_the_version_has_the_commit(self):
        self.done("smooth", "planck.fits", "config.h5", "--fwhm", "3deg", "--iter", 0)
        with h5py.File(self.folder / "config.h5") as file:
            options = json.loads(file.attrs["config_json"])
            self.assertEqual((options["fwhm"], options["iter"]), ("3deg", 0))
            version = file.attrs["creator_version"]
        information = dict(line.split(None, 1) for line in self.done("--version").out.splitlines() if line)
        self.assertTrue(version.startswith(information["ringweave"].strip()))
        commit = information["commit"].strip()
        self.assertEqual(version.endswith("+" + commit), commit != "unknown")


if __name__ == "__main__":
    program.main()
