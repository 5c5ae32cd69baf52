#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps over latitude and longitude (NetCDF-4), in and out, against closed forms and xarray, on 1, 2 and 3 ranks."""
import program

program.require("numpy", "scipy", "h5py")
import h5py
import numpy as np

from files import UNSEEN, is_seen, read_alm
from latlon import LMAX, Harmonics, h5_positions

RANKS = (1, 2, 3)


def gauss(n):
    return np.degrees(np.arcsin(np.polynomial.legendre.leggauss(n)[0]))


def write_nc(path, latitudes, longitudes, variables, *, names=("lat", "lon"), scales=True, dtype=np.float64,
             units=("degrees_north", "degrees_east"), **storage):
    """Writes variables as netCDF4 and xarray do: {name: (values, attributes)}."""
    with h5py.File(path, "w") as file:
        for name, values, unit in zip(names, (latitudes, longitudes), units):
            file[name] = np.asarray(values, dtype=dtype)
            file[name].attrs["units"] = np.bytes_(unit)
            if scales:
                file[name].make_scale(name)
        file["title"] = "text, which is no map"
        file["time"] = np.arange(3)
        for name, (values, attributes) in variables.items():
            data = file.create_dataset(name, data=values, **storage)
            data.attrs.update(attributes)
            if scales:
                data.dims[data.ndim - 2].attach_scale(file[names[0]])
                data.dims[data.ndim - 1].attach_scale(file[names[1]])


class LatLon(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.field = Harmonics(seed=6)

    def on(self, latitudes, longitudes):
        lon, lat = np.meshgrid(np.radians(longitudes), np.radians(latitudes))
        return self.field(lon, lat)

    def check(self, name, *options, bound=1e-12, column=0, factor=1, ranks=RANKS, seen=None):
        """The values of every pixel must be those of the field at its place."""
        for n in ranks:
            self.done("convert", name, "read.h5", "--precision", "double", "--overwrite", *options, ranks=n)
            with h5py.File(self.folder / "read.h5") as file:
                if seen is None:
                    values, picked = np.array(file["map"])[column], slice(None)
                else:
                    values, picked = np.array(file["partial/map"])[column], np.array(file["partial/pixel"])
                    self.assertEqual(len(picked), seen)
                lon, lat = (angles[picked] for angles in h5_positions(file))
            self.assertLess(np.abs(values - factor * self.field(lon, lat)).max(), bound * self.field.scale, name)

    GRIDS = {"clenshaw:19,36": np.linspace(90, -90, 19), "fejer:18": np.linspace(-85, 85, 18), "gauss:19,36": gauss(20)}

    def test_every_pixel_and_every_a_lm_is_exact(self):
        for name, latitudes in self.GRIDS.items():
            for lat, first, step in ((latitudes, 0, 10), (latitudes[::-1], -180, 10), (latitudes, 355, -10),
                                     (latitudes[::-1], 5, 10)):
                lon = first + step * np.arange(36)
                write_nc(self.folder / "in.nc", lat, lon, {"f": (self.on(lat, lon), {"units": "m"})})
                shift = ",36,5" if first % 10 else ""
                out = self.done("info", "in.nc").out
                self.assertIn(f" {name.split(',')[0] + shift if shift else name}, RING", out)
                self.assertIn("f                  m ", out)
                self.check("in.nc")
                for ranks in RANKS:
                    self.done("analyze", "in.nc", "--lmax", LMAX, "--alm", "alm.h5", "--overwrite", ranks=ranks)
                    self.assertLess(np.abs(read_alm(self.folder / "alm.h5")[0] - self.field.alm).max(), 1e-13)

    def test_names_units_and_files_without_scales(self):
        lat, lon = self.GRIDS["fejer:18"], np.arange(0, 360, 10)
        for names, units in ((("latitude", "longitude"), ("", "")), (("y", "x"), ("degrees_north", "degrees_east")),
                             (("LAT", "LON"), ("degrees", "degrees")), (("a", "b"), ("degree_N", "degreesE"))):
            write_nc(self.folder / "in.h5", lat, lon, {"f": (self.on(lat, lon), {})}, names=names, units=units,
                     scales=False)
            self.check("in.h5")

    def test_coordinates_in_single_precision(self):
        lat, lon = np.linspace(90, -90, 181), np.arange(0, 360, 1)
        write_nc(self.folder / "in.nc", lat, lon, {"f": (self.on(lat, lon), {})}, dtype=np.float32)
        self.check("in.nc", ranks=(1, 3))

    def test_packed_compressed_and_missing_values(self):
        lat, lon = self.GRIDS["clenshaw:19,36"], np.arange(0, 360, 10)
        packed = np.round((self.on(lat, lon) - 1) / 1e-3).astype(np.int16)
        packed[4, 3:8] = -32767
        write_nc(self.folder / "in.nc", lat, lon,
                 {"f": (packed, {"scale_factor": 1e-3, "add_offset": 1.0, "_FillValue": np.int16(-32767)})},
                 chunks=(5, 7), compression="gzip", shuffle=True)
        values = self.on(lat, lon).astype(np.float32)
        values[4, 3:8] = np.nan
        write_nc(self.folder / "nan.nc", lat, lon, {"f": (values, {"_FillValue": np.float32(np.nan)})})
        for ranks in RANKS:
            for name, bound in (("in.nc", 5.1e-4), ("nan.nc", 1e-5)):
                self.done("convert", name, "read.h5", "--overwrite", ranks=ranks)
                with h5py.File(self.folder / "read.h5") as file:
                    read = np.array(file["map"])[0]
                    lon_lat = h5_positions(file)
                self.assertEqual(np.count_nonzero(~is_seen(read)), 5)
                self.assertLess(np.abs(read - self.field(*lon_lat))[is_seen(read)].max(), bound)

    def test_several_variables_and_planes(self):
        lat, lon = self.GRIDS["gauss:19,36"], np.arange(0, 360, 10)
        one = self.on(lat, lon)
        write_nc(self.folder / "in.nc", lat, lon,
                 {"a": (one, {}), "b": (np.array([2 * one, 3 * one, 4 * one]), {}),
                  "c": (np.array([[k * one for k in range(2)] for _ in range(2)]), {}), "d": (one[:, :5], {})})
        out = self.done("info", "in.nc").out
        self.assertIn("8 column(s)", out)
        for name in ("  a ", "  b_1 ", "  b_3 ", "  c_4 "):
            self.assertIn(name, out)
        self.check("in.nc", "--variable", "b", column=2, factor=4)
        self.check("in.nc", "--variable", "c", column=3, factor=1)
        self.check("in.nc", "--variable", "a")
        for ranks in RANKS:
            result = self.done("info", "in.nc", "--variable", "e", ranks=ranks, code=2)
            self.assertIn("--variable e: no variable of this name over latitude and longitude; there is a, b, c",
                          result.err)

    def test_a_repeated_meridian_is_left_out(self):
        lat, lon = self.GRIDS["clenshaw:19,36"], np.arange(0, 361, 10)
        write_nc(self.folder / "in.nc", lat, lon, {"f": (self.on(lat, lon), {})})
        self.assertIn("the last longitude repeats the first", self.done("info", "in.nc").out)
        self.check("in.nc")

    def test_a_band_is_a_partial_map(self):
        lat, lon = np.linspace(-35, 45, 9), np.arange(0, 360, 10)
        write_nc(self.folder / "in.nc", lat, lon, {"f": (self.on(lat, lon), {})})
        self.check("in.nc", seen=9 * 36)
        self.done("convert", "in.nc", "out.nc", "--overwrite", ranks=3)
        with h5py.File(self.folder / "out.nc") as file:
            self.assertEqual(np.count_nonzero(is_seen(np.array(file["f"]))), 9 * 36)
        self.done("compare", "in.nc", "out.nc")

    def test_others_are_refused_with_the_reason(self):
        lat, lon = self.GRIDS["clenshaw:19,36"], np.arange(0, 360, 10)
        for latitudes, longitudes, reason in ((lat, lon[:30], "a patch that does not go round the whole circle"),
                                              (lat * 0.97, lon, "are no grid that is known"),
                                              (lat, lon**1.01, "do not ascend or descend in equal steps")):
            write_nc(self.folder / "bad.nc", latitudes, longitudes, {"f": (self.on(latitudes, longitudes), {})})
            for ranks in RANKS:
                self.assertIn(reason, self.done("info", "bad.nc", ranks=ranks, code=3).err)
        write_nc(self.folder / "bad.nc", lat, lon, {"f": (self.on(lat, lon).T.copy(), {})}, scales=False)
        self.assertIn("no variable has them as its last two dimensions", self.done("info", "bad.nc", code=3).err)
        (self.folder / "bad.nc").write_bytes(b"CDF\x01" + bytes(1000))
        for command in (("info", "bad.nc"), ("analyze", "bad.nc", "--cl", "none.txt")):
            self.assertIn("nccopy -k nc4", self.done(*command, code=3).err)
        self.assertIn("healpix.nc: NetCDF maps are on grids of latitude and longitude, this one is healpix:8",
                      self.done("synthesize", "--alm", self.alm_file(), "--nside", 8, "healpix.nc", code=2).err)

    def alm_file(self):
        with h5py.File(self.folder / "field.h5", "w") as file:
            file["alm/alm"] = self.field.alm[None, :]
            file["alm/alm"].attrs.update(lmax=LMAX, mmax=LMAX)
        return "field.h5"

    def test_written_files_have_dimensions_and_cf_attributes(self):
        alm = self.alm_file()
        for grid in ("clenshaw:19,36", "fejer:18,36,5", "gauss:19,36"):
            for ranks in RANKS:
                self.done("synthesize", "--alm", alm, "--grid", grid, "--unit", "K", "out.nc", "--overwrite",
                          ranks=ranks)
                with h5py.File(self.folder / "out.nc") as file:
                    data = file["TEMPERATURE"]
                    lat, lon = np.array(file["lat"]), np.array(file["lon"])
                    self.assertEqual(data.shape, (len(lat), len(lon)))
                    self.assertEqual([data.dims[d].keys() for d in range(2)], [["lat"], ["lon"]])
                    self.assertEqual(data.attrs["units"], "K")
                    self.assertEqual(data.attrs["_FillValue"], UNSEEN)
                    for name, long_name, unit in (("lat", "latitude", "degrees_north"),
                                                  ("lon", "longitude", "degrees_east")):
                        self.assertEqual(file[name].attrs["units"], unit)
                        self.assertEqual(file[name].attrs["standard_name"], long_name)
                    self.assertTrue(str(file.attrs["Conventions"]).startswith("CF-"))
                    self.assertLess(np.abs(np.array(data) - self.on(lat, lon)).max(), 1e-12 * self.field.scale)
                self.check("out.nc", ranks=(1,))
        try:
            import h5netcdf  # the engine of xarray for such files
            import xarray
        except ImportError:
            return
        with xarray.open_dataset(self.folder / "out.nc", engine="h5netcdf") as data:
            self.assertEqual(data["TEMPERATURE"].dims, ("lat", "lon"))

    def test_polarised_maps_go_round(self):
        degrees = np.arange(LMAX + 1)
        np.savetxt(self.folder / "cl.txt", np.column_stack([degrees] + [1 / (1.0 + degrees)**2] * 3 + [0 * degrees]),
                   header="l TT EE BB TE")
        self.done("synthesize", "--cl", "cl.txt", "--cl-kind", "cl", "--seed", 3, "--grid", "fejer:18", "map.h5")
        for ranks in RANKS:
            self.done("convert", "map.h5", "map.nc", "--overwrite", ranks=ranks)
            self.done("convert", "map.nc", "back.h5", "--overwrite", ranks=ranks)
            with h5py.File(self.folder / "map.h5") as a, h5py.File(self.folder / "back.h5") as b:
                self.assertTrue(np.array_equal(a["map"], b["map"]))
                self.assertEqual(list(a["map"].attrs["TTYPE"]), list(b["map"].attrs["TTYPE"]))
        with h5py.File(self.folder / "map.nc", "r+") as file:
            file["U_POLARISATION"].attrs["POLCCONV"] = "IAU"
        self.done("convert", "map.nc", "back.h5", "--overwrite")
        with h5py.File(self.folder / "map.h5") as a, h5py.File(self.folder / "back.h5") as b:
            self.assertTrue(np.array_equal(a["map"][2], -b["map"][2]))

    def test_commands_take_such_maps(self):
        lat, lon = self.GRIDS["fejer:18"], np.arange(0, 360, 10)
        write_nc(self.folder / "in.nc", lat, lon, {"f": (self.on(lat, lon), {}), "g": (2 * self.on(lat, lon), {})})
        for ranks in RANKS:
            self.done("smooth", "in.nc", "out.nc", "--fwhm", "30deg", "--lmax", LMAX, "--variable", "g", "--overwrite",
                      ranks=ranks)
            degrees = np.array([l for l, _ in self.field.lm])
            sigma = np.radians(30) / np.sqrt(8 * np.log(2))
            smoothed = Harmonics(seed=6)
            smoothed.alm = 2 * self.field.alm * np.exp(-degrees * (degrees + 1) * sigma**2 / 2)
            with h5py.File(self.folder / "out.nc") as file:
                there = np.meshgrid(np.radians(file["lon"]), np.radians(file["lat"]))
                self.assertLess(np.abs(np.array(file["g"]) - smoothed(*there)).max(), 1e-12 * self.field.scale)
        self.done("plot", "in.nc", "out.png", "--variable", "g", "--overwrite")
        self.done("compare", "in.nc", "in.nc", "--variable", "f")
        self.done("analyze", "in.nc", "--lmax", LMAX, "--cl", "cl.txt", "--variable", "f", "--overwrite")


if __name__ == "__main__":
    program.main()
