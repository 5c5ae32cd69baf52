#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables, maps and a_lm are taken for what they are: beams, pixel windows, weights, spectra; others are refused."""
import program
from small_sky import DATA, DEGREES, ERROR_IN_DATA, LMAX, NSIDE, USAGE, SmallSky, needs_data

import h5py
import numpy as np
from astropy.io import fits

from files import map_header, write_map


class OtherKinds(SmallSky):
    def test_maps_and_alm_are_no_spectra(self):
        write_map(self.folder / "map.fits", self.values("sky.h5"))
        self.done("convert", "alm.h5", "alm.fits")
        for name, words in (("map.fits", "sky map"), ("alm.fits", "a_lm")):
            self.refused(ERROR_IN_DATA, [name, words], "synthesize", "--cl", name, "--nside", 8, "none.h5")
        self.refused(ERROR_IN_DATA, ["alm.fits", "a_lm"], "smooth", "sky.h5", "none.h5", "--beam", "alm.fits")

    def test_a_file_of_another_kind_is_called_what_it_is(self):
        write_map(self.folder / "map.fits", self.values("sky.h5"))
        self.done("convert", "alm.h5", "of_alm.fits")
        self.done("convert", "cl.txt", "cl.h5")
        self.done("convert", "cl.txt", "cl.fits")
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 8, "--latitudes=0deg:90deg", "part.h5")
        synthesize, analyze = ("synthesize", "--nside", 8, "none.h5"), ("analyze", "--cl", "none.txt")
        for command, option, files, expected in (
                (synthesize, "--cl", {"sky.h5": "a sky map (/map)", "part.h5": "a partial sky map", "alm.h5": "a_lm (/alm)"},
                 "expected spectra"),
                (synthesize, "--alm", {"sky.h5": "a sky map (/map)", "cl.h5": "spectra (/cl)", "map.fits": "a sky map",
                                       "cl.fits": "spectra"}, "expected"),
                (analyze, None, {"cl.h5": "spectra (/cl)", "cl.fits": "spectra"}, "map"),
                (("smooth", "--fwhm", "1deg"), None, {"alm.h5 none.h5": "a_lm (/alm)", "of_alm.fits none.h5": "a_lm"}, "map")):
            for names, held in files.items():
                words = [f"{names.split()[0]}: holds {held}", expected]
                self.refused(ERROR_IN_DATA, words, *command, *([option] if option else []), *names.split())

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
                          "values.h5: values at 3 point(s), components T N", "mean 3  sigma 2.16025",
                          "mean 2  sigma 0"):
                self.assertIn(words, out)

    def test_a_file_without_a_name_is_refused(self):
        self.refused(ERROR_IN_DATA, ["cannot be read"], "info", "")


class NamesOfTables(SmallSky):
    """Tables are taken for what the names in their headers say."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.b_l = np.exp(-DEGREES * (DEGREES + 1) / 2 * 0.05 ** 2)
        names = ("TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G")
        falling = {name: factor * cls.c_l for name, factor in zip(names, (1, 0.1, 0.01, 0.2, 0, 0))}
        window = np.exp(-(np.arange(4 * NSIDE + 1) / 90) ** 2)
        cls.table("cl_named.fits", None, **falling)
        cls.table("cl_letters.fits", None, TT=cls.c_l, EE=0.1 * cls.c_l, TE=0.2 * cls.c_l)
        cls.table("cl_extension.fits", "BEAM-CORRECTED POWER SPECTRUM", TEMPERATURE=cls.c_l)
        # As healpy.write_cl() writes gauss_beam(pol=True), and IDL's cl2fits wrote beams.
        cls.table("healpy_beam.fits", None, **{name: cls.b_l for name in names[:4]})
        cls.table("idl_beam.fits", "POWER SPECTRUM", TEMPERATURE=cls.b_l)
        cls.table("window.fits", "PIXEL WINDOW", TEMPERATURE=window, POLARIZATION=window, NSIDE=NSIDE)
        cls.table("window_by_nside.fits", None, TEMPERATURE=window, POLARISATION=window, NSIDE=NSIDE)
        cls.table("ring.fits", None, **{"TEMPERATURE WEIGHTS": np.zeros(2 * NSIDE)}, NSIDE=NSIDE)
        cls.table("pixel.fits", None, **{"COMPRESSED PIXEL WEIGHTS": np.zeros((NSIDE + 1) * (3 * NSIDE + 1) // 4)})
        cls.table("beam.fits", "BEAM", TEMPERATURE=cls.b_l, GRADIENT=cls.b_l, CURL=cls.b_l)
        cls.table("beam_named.fits", None, INT_BEAM=cls.b_l, POL_BEAM=cls.b_l)
        for name, header in (("named.txt", "l TT EE BB TE"), ("c_l.txt", "l C_TT"), ("stated.txt", "C_l in uK^2\nl TT")):
            n_columns = len(header.splitlines()[-1].split()) - 1
            cls.write_table(name, [cls.c_l * 0.1 ** c for c in range(n_columns)], header)
        cls.write_table("cl_beside_beam.txt", [cls.c_l, cls.c_l, cls.b_l], "l C_TT err beam_err")
        cls.write_table("beam_of_c_l.txt", [cls.b_l, cls.b_l, cls.b_l], "C_l_obs = C_l b_l^2\nl TT EE BB")
        cls.write_table("beam.txt", [cls.b_l], "l B_l")

    @classmethod
    def table(cls, name, extension, **columns):
        nside = columns.pop("NSIDE", None)
        table = fits.BinTableHDU.from_columns([fits.Column(name=column, format="D", array=values)
                                               for column, values in columns.items()], name=extension)
        if nside:
            table.header["NSIDE"] = nside
        table.writeto(cls.folder / name)

    def test_no_beams(self):
        smooth = ("smooth", "sky.h5", "none.h5", "--beam")
        for name, held in (("cl_named.fits", "spectra"), ("cl_letters.fits", "spectra"), ("cl_extension.fits", "spectra"),
                           ("named.txt", "spectra (its columns are l, TT, EE, BB, TE)"), ("c_l.txt", "spectra"),
                           ("stated.txt", "spectra"), ("ring.fits", "ring weights"), ("pixel.fits", "pixel weights")):
            self.refused(ERROR_IN_DATA, [f"{name}: holds {held}", "expected"], *smooth, name)

    def test_beams_under_the_names_of_spectra(self):
        self.done("smooth", "sky.h5", "expected.h5", "--beam", "beam.txt")
        for name, warning in (("healpy_beam.fits", "names of spectra and begins near 1"),
                              ("idl_beam.fits", "names of spectra and begins near 1"), ("beam_of_c_l.txt", None)):
            result = self.done("smooth", "sky.h5", "out.h5", "--beam", name, "--overwrite")
            if warning:
                self.assertIn(warning, result.err)
            np.testing.assert_array_equal(self.values("out.h5"), self.values("expected.h5"))

    def test_spectra_with_a_column_about_the_beam(self):
        out = self.done("synthesize", "--cl", "cl_beside_beam.txt", "--seed", 1, "--nside", 8, "beside.h5").err
        self.assertIn("columns left out: err, beam_err", out)

    def test_no_spectra(self):
        for name, held in (("beam.fits", "a beam"), ("beam_named.fits", "a beam"), ("beam.txt", "a beam"),
                           ("window.fits", "a pixel window"), ("ring.fits", "ring weights"), ("pixel.fits", "pixel weights")):
            self.refused(ERROR_IN_DATA, [f"{name}: holds {held}", "expected spectra"], "synthesize", "--cl", name, "--nside",
                         8, "none.h5")

    def test_no_windows_and_no_weights(self):
        for name in ("beam.fits", "cl_named.fits"):
            self.refused(ERROR_IN_DATA, [name, "expected a pixel window"], "synthesize", "--alm", "alm.h5", "--nside", NSIDE,
                         "none.h5", "--pixel-window", name)
        self.refused(ERROR_IN_DATA, ["window.fits: holds a pixel window; expected ring weights"], "analyze", "sky.h5", "--cl",
                     "none.txt", "--weights", "ring:window.fits")

    def test_a_pixel_window_is_a_beam_only_where_no_option_takes_windows(self):
        for name in ("window.fits", "window_by_nside.fits"):
            for command, option, instead in ((("smooth", "sky.h5", "none.h5"), "--beam", "--pixel-window"),
                                             (("smooth", "sky.h5", "none.h5", "--fwhm", "5deg"), "--from-beam",
                                              "--from-pixel-window"),
                                             (("synthesize", "--alm", "alm.h5", "--nside", 8, "none.h5"), "--beam",
                                              "--pixel-window")):
                self.refused(ERROR_IN_DATA, [f"{name}: holds a pixel window", f"give the window to {instead}"], *command,
                             option, name)
        self.done("convert", "alm.h5", "by_beam.h5", "--beam", "window.fits")
        self.done("alm", "alm.h5", "multiplied.h5", "--multiply", "window.fits")
        np.testing.assert_array_equal(self.alm("by_beam.h5"), self.alm("multiplied.h5"))

    def test_beam_and_pixel_window_of_one_file_are_found_in_any_order(self):
        smooth = ("smooth", "sky.h5", "--iter", 0, "--overwrite")
        self.done(*smooth, "both.h5", "--beam", "beam.txt", "--pixel-window", "window.fits")
        self.done(*smooth, "beam.h5", "--beam", "beam.txt")
        with fits.open(self.folder / "window.fits") as hdus:
            window = hdus[1].copy()
        small = fits.BinTableHDU.from_columns([fits.Column(name=name, format="D", array=np.ones(33))
                                               for name in ("TEMPERATURE", "POLARIZATION")], name="PIXEL WINDOW")
        tables = []
        for name in ("beam.fits", "beam_named.fits", "idl_beam.fits"):
            with fits.open(self.folder / name) as hdus:
                tables.append(hdus[1].copy())
        tables.append(fits.BinTableHDU.from_columns([fits.Column(name="COL1", format="D", array=self.b_l)]))
        files = [order for beam in tables for order in ([beam, window], [window, beam], [small, window, beam])]
        unnamed = fits.BinTableHDU(window.data)
        files += [[unnamed, tables[0]], [tables[0], unnamed]]
        of_beam = np.append(self.b_l, np.zeros(4 * NSIDE - LMAX))
        for beam, names in (("BL", ("TEMPERATURE", "POLARIZATION")), ("T", ("PIXWIN_T", "PIXWIN_P"))):
            columns = [fits.Column(name=name, format="D", array=window.data[old])
                       for name, old in zip(names, ("TEMPERATURE", "POLARIZATION"))]
            columns.append(fits.Column(name=beam, format="D", array=of_beam))
            for ordered in (columns, columns[::-1]):
                files.append([fits.BinTableHDU.from_columns(ordered, name="PIXEL WINDOW")])
        for hdus in files:
            fits.HDUList([fits.PrimaryHDU(), *hdus]).writeto(self.folder / "tables.fits", overwrite=True)
            with self.subTest(tables=[(hdu.name, hdu.columns.names) for hdu in hdus]):
                for expected, options in (("both.h5", ("--pixel-window", "tables.fits")), ("beam.h5", ())):
                    self.done(*smooth, "out.h5", "--beam", "tables.fits", *options)
                    np.testing.assert_array_equal(self.values("out.h5"), self.values(expected))
        out = self.done("info", "tables.fits", ranks=3).out
        self.assertIn("tables.fits: a pixel window, lmax 64, columns T, PIXWIN_P, PIXWIN_T", out)
        fits.HDUList([fits.PrimaryHDU(), window, tables[0]]).writeto(self.folder / "two.fits")
        self.assertEqual([line.split(",")[0] for line in self.done("info", "two.fits").out.splitlines()],
                         ["two.fits: a pixel window", "two.fits: a beam"])

    def test_info_names_them(self):
        n_pixel = (NSIDE + 1) * (3 * NSIDE + 1) // 4
        for name, text in (("window.fits", f"a pixel window, nside {NSIDE}, lmax {4 * NSIDE}, columns TEMPERATURE, POLARIZ"),
                           ("ring.fits", f"ring weights, nside {NSIDE}, {2 * NSIDE} numbers, columns TEMPERATURE WEIGHTS"),
                           ("pixel.fits", f"pixel weights, {n_pixel} numbers"), ("beam.fits", f"a beam, lmax {LMAX}"),
                           ("cl_named.fits", "spectra TT EE BB TE EB TB")):
            for ranks in (1, 3):
                self.assertIn(f"{name}: {text}", self.done("info", name, ranks=ranks).out)
        write_map(self.folder / "broken.fits", self.values("sky.h5"), NSIDE=2 * NSIDE)
        self.refused(ERROR_IN_DATA, ["broken.fits", "NSIDE = 32 needs"], "info", "broken.fits")
        (self.folder / "short.fits").write_bytes((self.folder / "cl_named.fits").read_bytes()[:6000])
        lines = self.done("info", "short.fits", code=ERROR_IN_DATA).err.strip().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("it was cut short", lines[0])
        np.savetxt(self.folder / "one_column.txt", self.b_l)
        self.write_table("wmap.txt", [self.b_l, 1e-3 * self.b_l + 1e-3])
        for name, text in (("beam.txt", f"a beam, lmax {LMAX}, columns B_l"),
                           ("one_column.txt", f"a beam, lmax {LMAX}, columns 1 without a name"),
                           ("wmap.txt", f"a beam, lmax {LMAX}, columns 1 without a name, 2 without a name"),
                           ("healpy_beam.fits", "odd: TT falls from 1 at l = 0, as a beam does")):
            self.assertIn(text, self.done("info", name, ranks=3).out)
        self.write_table("three.txt", [self.c_l, self.c_l])
        self.refused(ERROR_IN_DATA, ["three.txt: has 3 columns and no header line"], "info", "three.txt")
        for command in (("convert", "ring.fits", "none.h5"), ("compare", "window.fits", "window.fits"),
                        ("convert", "beam.txt", "none.h5"), ("plot", "beam.txt", "none.png")):
            self.refused(ERROR_IN_DATA, ["expected a map, a_lm or spectra"], *command)

    @needs_data
    def test_files_of_healpix(self):
        windows = DATA / "windows"
        for name, text in (("pixel_window_n0512.fits", "a pixel window, nside 512, lmax 2048"),
                           ("weight_ring_n00512.fits", "ring weights, nside 512, 1024 numbers"),
                           ("weight_pixel_n00016.fits", "pixel weights, nside 16, 208 numbers")):
            self.assertIn(text, self.done("info", windows / name).out)
        for name in ("spectra/wmap_lcdm_sz_lens_wmap7_cl_v4.fits", "healpix-suite/cl_out.fits", "edge-cases/Cltest.fits"):
            self.assertIn("spectra TT", self.done("info", DATA / name).out)
            self.refused(ERROR_IN_DATA, ["holds spectra"], "smooth", "sky.h5", "none.h5", "--beam", DATA / name, ranks=(1,))


class Windows(SmallSky):
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

    def tables(self):
        """Makes a folder of HEALPix and returns its data/, with files for NSIDE."""
        data = self.folder / "healpix" / "data"
        if not data.exists():
            data.mkdir(parents=True)
            window = np.exp(-(np.arange(4 * NSIDE + 1) / 90) ** 2)
            for name, columns in ((f"pixel_window_n{NSIDE:04}", {"TEMPERATURE": window, "POLARIZATION": window}),
                                  (f"weight_ring_n{NSIDE:05}", {"TEMPERATURE WEIGHTS": np.full(2 * NSIDE, 0.01)}),
                                  (f"healpix_full_weights_nside_{NSIDE:04}", {
                                      "COMPRESSED PIXEL WEIGHTS": np.full((NSIDE + 1) * (3 * NSIDE + 1) // 4, 0.02)})):
                fits.BinTableHDU.from_columns([fits.Column(name=column, format="D", array=values)
                                               for column, values in columns.items()]).writeto(data / f"{name}.fits")
        return data

    def test_a_folder_stands_for_the_file_of_the_nside(self):
        data = self.tables()
        for option, name, commands in (
                ("--pixel-window", f"pixel_window_n{NSIDE:04}.fits",
                 (("synthesize", "--alm", "alm.h5", "--nside", NSIDE), ("smooth", "sky.h5"))),
                ("--from-pixel-window", f"pixel_window_n{NSIDE:04}.fits", (("smooth", "sky.h5", "--nside", 8),)),
                ("--weights ring:", f"weight_ring_n{NSIDE:05}.fits", (("smooth", "sky.h5", "--fwhm", "9deg"),)),
                ("--weights pixel:", f"healpix_full_weights_nside_{NSIDE:04}.fits",
                 (("smooth", "sky.h5", "--fwhm", "9deg"),))):
            for command in commands:
                outputs = []
                for out, value in (("file.h5", data / name), ("folder.h5", data), ("root.h5", data.parent)):
                    for ranks in (1, 3):
                        words = f"{option}{value}" if option.endswith(":") else f"{option} {value}"
                        self.done(*command, out, *words.split(), "--overwrite", ranks=ranks)
                    outputs.append(self.values(out))
                    if "window" in option and "from" not in option:
                        self.assertEqual(map_header(self.folder / out)["PIXWIN"], str(data / name))
                np.testing.assert_array_equal(outputs[0], outputs[1])
                np.testing.assert_array_equal(outputs[0], outputs[2])

    def test_the_folder_of_healpix_is_found_by_its_variable(self):
        data = self.tables()
        home = {"HEALPIX": str(data.parent)}
        self.done("smooth", "sky.h5", "by_file.h5", "--pixel-window", data / f"pixel_window_n{NSIDE:04}.fits", "--weights",
                  f"pixel:{data}")
        self.done("smooth", "sky.h5", "by_auto.h5", "--pixel-window", "auto", "--weights", "pixel", environment=home)
        np.testing.assert_array_equal(self.values("by_file.h5"), self.values("by_auto.h5"))
        self.done("synthesize", "--alm", "alm.h5", "--nside", 8, "sky8.h5")
        synthesize = ("synthesize", "--alm", "alm.h5", "--nside", 64, "none.h5", "--pixel-window")
        self.refused(ERROR_IN_DATA, ["pixel_window_n0064.fits: not found in ., ", str(data), "HEALPIX"], *synthesize, "auto",
                     environment=home)
        self.refused(ERROR_IN_DATA, ["pixel_window_n0064.fits: not found in .; name it or its folder with --pixel-window, "
                                     "or set HEALPIX"], *synthesize, "auto", environment={"HEALPIX": ""})
        self.refused(ERROR_IN_DATA, [f"pixel_window_n0064.fits: not found in {data}"], *synthesize, data)
        self.refused(ERROR_IN_DATA, ["weight_pixel_n00008.fits or healpix_full_weights_nside_0008.fits: not found in"],
                     "smooth", "sky8.h5", "none.h5", "--fwhm", "9deg", "--weights", f"pixel:{data}")

    @needs_data
    def test_the_names_are_those_of_healpix(self):
        windows = DATA / "windows"
        self.done("synthesize", "--alm", "alm.h5", "--nside", 32, "of_32.h5", "--pixel-window", windows)
        self.assertEqual(map_header(self.folder / "of_32.h5")["PIXWIN"], str(windows / "pixel_window_n0032.fits"))
        for kind, nside in (("ring", 32), ("pixel", 32), ("pixel", 16)):
            self.done("analyze", f"of_{nside}.h5" if nside == 32 else "sky.h5", "--cl", "weighted.txt", "--weights",
                      f"{kind}:{windows}", "--overwrite")

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
        out = self.done("info", "fejer.h5").out
        self.assertIn("mean 0.333333", out)
        self.assertNotIn("over pixels", out)
        with h5py.File(self.folder / "fejer.h5", "r+") as file:
            file["grid"].attrs["name"] = "mine"
            file["grid/weight"][...] = 0
        out = self.done("info", "fejer.h5", ranks=3).out
        self.assertIn(f"mean {(np.cos(theta) ** 2).mean():.6g}", out)
        self.assertIn("mean and sigma are over pixels, not over area: the grid has no weights", out)


if __name__ == "__main__":
    program.main()
