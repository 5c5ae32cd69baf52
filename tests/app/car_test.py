#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plate carree (CAR) images of FITS, in and out, against astropy's WCS and closed forms, on 1 and 3 ranks."""
import program

program.require("numpy", "scipy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

from files import is_seen, read_alm
from latlon import LMAX, Harmonics, h5_positions

RANKS = (1, 3)
LENSING = program.DATA / "lensing"


def car_header(n_lat, n_lon, *, poles=True, south_up=True, east_left=True, shift=0.5, crpix=None,
               axes=("RA---CAR", "DEC--CAR")):
    """Returns a header with WCS of a full sky; `shift` is CRVAL1 in pixels."""
    step = 180 / (n_lat - 1 if poles else n_lat)
    header = fits.Header()
    values = {"CTYPE1": axes[0], "CTYPE2": axes[1], "CRPIX1": crpix or n_lon / 2 + 0.5, "CRPIX2": (n_lat + 1) / 2,
              "CDELT1": (-1 if east_left else 1) * 360 / n_lon, "CDELT2": step if south_up else -step,
              "CUNIT1": "deg", "CUNIT2": "deg", "CRVAL1": shift * 360 / n_lon, "CRVAL2": 0.0}
    for name, value in values.items():
        header[name] = value
    return header


def positions(header, n_lat, n_lon):
    """Returns longitudes and latitudes of all pixels in radians by astropy."""
    x, y = np.meshgrid(np.arange(n_lon), np.arange(n_lat))
    wcs = WCS(header, naxis=2)
    wcs.wcs.bounds_check(False, False)  # columns beyond 180 degrees from CRVAL1
    lon, lat = wcs.wcs_pix2world(x, y, 0)
    return np.radians(lon), np.radians(lat)


class Car(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.field = Harmonics(seed=5)

    def write(self, name, header, n_lat, n_lon, *, rows=slice(None), dtype=np.float64, extension=False, planes=1,
              **extra):
        """Writes the field, as plane p times p + 1, at the pixels of the header; returns the plane 0."""
        lon, lat = positions(header, n_lat, n_lon)
        values = self.field(lon, lat)[rows]
        header = header.copy()
        header["CRPIX2"] -= rows.start or 0
        header.update(extra)
        data = np.array([(p + 1) * values for p in range(planes)] if planes > 1 else values, dtype=dtype)
        image = fits.ImageHDU(data, header) if extension else fits.PrimaryHDU(data, header)
        hdus = fits.HDUList([fits.PrimaryHDU(), image] if extension else [image])
        hdus.writeto(self.folder / name, overwrite=True)
        return values

    def check_positions(self, name, bound=1e-12, plane=0, factor=1, ranks=RANKS):
        for n in ranks:
            self.done("convert", name, "read.h5", "--precision", "double", "--overwrite", ranks=n)
            with h5py.File(self.folder / "read.h5") as file:
                values = np.array(file["map"])[plane]
                lon, lat = h5_positions(file)
            self.assertLess(np.abs(values - factor * self.field(lon, lat)).max(), bound * self.field.scale, name)

    def test_pixels_lie_where_astropy_puts_them(self):
        for n_lat, n_lon, options in ((31, 60, {}), (30, 60, {"poles": False}),
                                      (31, 60, {"south_up": False}), (31, 60, {"east_left": False}),
                                      (30, 64, {"poles": False, "south_up": False, "east_left": False}),
                                      (31, 60, {"shift": 0}), (31, 60, {"shift": 17.25}), (31, 60, {"shift": -7}),
                                      (31, 60, {"crpix": 1}), (31, 60, {"crpix": 12.5, "shift": 0}),
                                      (31, 45, {}), (30, 45, {"poles": False, "shift": 0})):
            with self.subTest(n_lat=n_lat, n_lon=n_lon, **options):
                self.write("car.fits", car_header(n_lat, n_lon, **options), n_lat, n_lon)
                self.check_positions("car.fits", ranks=(1,))

    def test_a_lm_are_exact(self):
        for poles, n_lat in ((True, 31), (False, 30)):
            self.write("car.fits", car_header(n_lat, 60, poles=poles, shift=3.5), n_lat, 60, extension=not poles)
            for ranks in RANKS:
                self.done("analyze", "car.fits", "--lmax", LMAX, "--alm", "alm.h5", "--overwrite", ranks=ranks)
                self.assertLess(np.abs(read_alm(self.folder / "alm.h5")[0] - self.field.alm).max(), 1e-13)
                self.check_positions("car.fits")

    def test_the_grid_keeps_its_name(self):
        for shift, poles, name in ((0.5, True, "clenshaw:31,60"), (0, True, "clenshaw:31,60,3"),
                                   (0.5, False, "fejer:31,60"), (0.25, False, "fejer:31,60,4.5")):
            self.write("car.fits", car_header(31, 60, poles=poles, shift=shift), 31, 60)
            self.assertIn(f" {name}, RING", self.done("info", "car.fits").out)

    def test_single_precision_units_and_systems(self):
        self.write("car.fits", car_header(31, 60, axes=("GLON-CAR", "GLAT-CAR")), 31, 60, dtype=np.float32, BUNIT="uK")
        out = self.done("info", "car.fits").out
        self.assertIn("single precision", out)
        self.assertIn("coordinates G", out)
        self.assertIn("uK", out)
        self.check_positions("car.fits", 1e-6)

    def test_u_of_iau_changes_its_sign(self):
        for convention, sign in (("IAU", -1), ("COSMO", 1)):
            self.write("car.fits", car_header(31, 60), 31, 60, planes=3, POLCCONV=convention)
            for plane in range(3):
                self.check_positions("car.fits", plane=plane, factor=(plane + 1) * (sign if plane == 2 else 1))
        self.write("car.fits", car_header(31, 60), 31, 60, planes=3)
        self.assertIn("POLCCONV is missing; U taken as COSMO", self.done("info", "car.fits").out)
        self.check_positions("car.fits", plane=2, factor=3)

    def test_a_band_is_a_partial_map(self):
        values = self.write("band.fits", car_header(30, 60, poles=False), 30, 60, rows=slice(4, 17))
        for ranks in RANKS:
            self.assertIn("partial sky of 780 pixels", self.done("info", "band.fits", ranks=ranks).out)
            self.done("convert", "band.fits", "band.h5", "--overwrite", ranks=ranks)
            self.done("convert", "band.h5", "again.fits", "--overwrite", ranks=ranks)
            with fits.open(self.folder / "again.fits") as hdus:
                self.assertEqual(hdus[0].data.shape, (13, 60))
                self.assertTrue(np.array_equal(hdus[0].data, values))
                lon, lat = positions(hdus[0].header, 13, 60)
                self.assertLess(np.abs(hdus[0].data - self.field(lon, lat)).max(), 1e-12 * self.field.scale)
            self.done("compare", "band.fits", "again.fits", ranks=ranks)
            # Zero outside, as healpy would: the whole sky with zeros has the same a_lm.
            self.done("analyze", "band.fits", "--lmax", LMAX, "--alm", "a.h5", "--overwrite", ranks=ranks)
            whole = np.zeros((30, 60))
            whole[4:17] = values
            fits.writeto(self.folder / "whole.fits", whole, car_header(30, 60, poles=False), overwrite=True)
            self.done("analyze", "whole.fits", "--lmax", LMAX, "--alm", "b.h5", "--overwrite", ranks=ranks)
            self.assertLess(np.abs(read_alm(self.folder / "a.h5") - read_alm(self.folder / "b.h5")).max(), 1e-14)

    def test_nan_is_unobserved(self):
        header = car_header(31, 60)
        lon, lat = positions(header, 31, 60)
        data = self.field(lon, lat)
        data[3, 5:9] = np.nan
        fits.writeto(self.folder / "holes.fits", data, header, overwrite=True)
        for ranks in RANKS:
            self.done("convert", "holes.fits", "holes.h5", "--overwrite", ranks=ranks)
            with h5py.File(self.folder / "holes.h5") as file:
                self.assertEqual(np.count_nonzero(~is_seen(np.array(file["map"]))), 4)
            self.done("convert", "holes.h5", "back.fits", "--overwrite", ranks=ranks)
            self.assertTrue(np.array_equal(fits.getdata(self.folder / "back.fits"), data, equal_nan=True))

    def test_maps_on_such_grids_are_written_as_images(self):
        self.done("convert", self.alm_file(), "alm.fits", "--overwrite")
        for grid, shape in (("clenshaw:31,60", (31, 60)), ("fejer:30", (30, 60)), ("fejer:30,45", (30, 45)),
                            ("clenshaw:21,50,1.25", (21, 50))):
            for ranks in RANKS:
                self.done("synthesize", "--alm", "alm.fits", "--grid", grid, "out.fits", "--overwrite", ranks=ranks)
                with fits.open(self.folder / "out.fits") as hdus:
                    header, data = hdus[0].header, hdus[0].data
                self.assertEqual(data.shape, shape)
                self.assertEqual(header["CRVAL2"], 0)
                lon, lat = positions(header, *shape)
                self.assertLess(np.abs(data - self.field(lon, lat)).max(), 1e-12 * self.field.scale, grid)
                self.assertIn(grid, self.done("info", "out.fits").out)
        self.done("synthesize", "--alm", "alm.fits", "--grid", "clenshaw:31,60", "out.fits.gz", "--precision", "single",
                  "--overwrite")
        self.assertEqual(fits.getheader(self.folder / "out.fits.gz")["BITPIX"], -32)
        # The geometry that pixell.enmap.fullsky_geometry makes.
        self.assertEqual([header[k] for k in ("CRPIX1", "CDELT1")], [25.5, -7.2])

    def alm_file(self):
        with h5py.File(self.folder / "field.h5", "w") as file:
            file["alm/alm"] = self.field.alm[None, :]
            file["alm/alm"].attrs.update(lmax=LMAX, mmax=LMAX)
        return "field.h5"

    def refused(self, *texts):
        for ranks in RANKS:
            result = self.done("info", "bad.fits", code=3, ranks=ranks)
            for text in texts:
                self.assertIn(text, result.err)

    def test_others_are_refused_with_the_reason(self):
        self.write("bad.fits", car_header(31, 60), 31, 60)
        with fits.open(self.folder / "bad.fits") as hdus:
            good, data = hdus[0].header.copy(), hdus[0].data.copy()

        def write(values=data, **changes):
            header = good.copy()
            header.update(changes)
            fits.writeto(self.folder / "bad.fits", values, header, overwrite=True)

        write(np.ascontiguousarray(data[:, :20]))
        self.refused("a patch that does not go round the whole circle")
        write(CRVAL2=5.0)
        self.refused("an oblique plate carree projection")
        write(CTYPE1="RA---TAN", CTYPE2="DEC--TAN")
        self.refused("an image in the projection RA---TAN")
        write(PC1_2=0.1)
        self.refused("rotated against latitude and longitude")
        write(CDELT2=5.9)
        self.refused("latitudes", "are no grid that is known")
        write(CRPIX2=16.5)
        self.refused("lies outside -90 ... 90")
        write(CDELT2=0.0)
        self.refused("the step along axis 2 (CDELT2) is 0")
        write(CUNIT1="rad")
        self.refused("CUNIT1 = 'RAD'; expected deg")
        write()
        with open(self.folder / "bad.fits", "r+b") as file:
            file.truncate(2880 * 3)
        self.refused("cut short")
        self.done("synthesize", "--alm", self.alm_file(), "--grid", "gauss:20", "gauss.fits", code=2)

    @program.unittest.skipUnless(LENSING.is_dir(), "no sample files")
    def test_a_map_by_pixell_has_the_a_lm_it_was_made_of(self):
        self.done("synthesize", "--alm", LENSING / "MM_alm_TEB_lmax400.fits", "--grid", "clenshaw:181,360", "ours.fits",
                  "--overwrite")
        theirs, ours = fits.getdata(LENSING / "MM_unlensed_071123.fits"), fits.getdata(self.folder / "ours.fits")
        for a, b in zip(ours, theirs):
            self.assertLess(np.abs(a - b).max(), 1e-10 * b.std())
        header = fits.getheader(self.folder / "ours.fits")
        for key in ("CTYPE1", "CTYPE2", "CRPIX1", "CRPIX2", "CDELT1", "CDELT2", "CRVAL1", "CRVAL2"):
            self.assertEqual(header[key], fits.getheader(LENSING / "MM_unlensed_071123.fits")[key], key)
        for ranks in RANKS:
            self.done("compare", "ours.fits", LENSING / "MM_unlensed_071123.fits", "--tolerance", "1e-9", ranks=ranks)


if __name__ == "__main__":
    program.main()
