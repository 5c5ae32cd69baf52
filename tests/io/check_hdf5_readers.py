#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read our HDF5 files as other programs do: h5py, the steps of TOAST3's reader, xarray.

usage: check_hdf5_readers.py WRITER     WRITER: the program that writes the samples
Exit code 77 (skipped) when h5py, healpy or astropy is missing.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import healpy
    import numpy as np
    from astropy import units
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

NSIDE = 16
UNSEEN = -1.6375e30


def expected(component, ring_pixels):
    return component * 100000.0 + ring_pixels + 0.5


def as_toast3_reads(path, n_value):
    """Runs the checks and look-ups of TOAST3's HEALPix HDF5 reader, in its order."""
    with h5py.File(path, "r") as file:
        dataset = file["map"]
        header = dict(dataset.attrs)
        nest = False
        if header["ORDERING"] == "NESTED":
            nest = True
        elif header["ORDERING"] != "RING":
            raise RuntimeError(f"ordering {header['ORDERING']!r}")
        assert header["NSIDE"] == NSIDE
        unit = units.Unit(header["UNITS"])
        assert dataset.shape[0] >= n_value and dataset.shape[1] == 12 * NSIDE**2
        return dataset[:n_value, :], nest, unit, header


def check_toast3(folder):
    for name, dtype in (("ring.h5", np.float64), ("nested.h5", np.float32)):
        values, nest, unit, header = as_toast3_reads(f"{folder}/{name}", 3)
        assert values.dtype == dtype and unit == units.K
        assert nest == (name == "nested.h5")
        pixels = np.arange(12 * NSIDE**2)
        ring = healpy.nest2ring(NSIDE, pixels) if nest else pixels
        for component in range(3):
            np.testing.assert_array_equal(values[component], expected(component, ring).astype(dtype))
        assert header["COORDSYS"] == "G" and header["POLCCONV"] == "COSMO"
        assert header["BAD_DATA"] == UNSEEN and header["FWHM"] == 1.0 and header["MAX-LPOL"] == 47
        assert list(header["TTYPE"]) == ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]
        assert list(header["TUNIT"]) == ["K_CMB"] * 3
        assert header["temperature_scale"] == "CMB thermodynamic"


def check_attributes_are_plain(folder):
    """Every text is str and every number a scalar, in all files."""

    def look(name, item):
        for key, value in item.attrs.items():
            if key in ("TTYPE", "TUNIT", "components", "spectra", "spin") and np.ndim(value) == 1:
                continue
            # HDF5's own, of dimension scales.
            if key in ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"):
                continue
            assert isinstance(value, str) or np.ndim(value) == 0, (name, key, value)
            assert not isinstance(value, (bytes, np.bytes_)), (name, key)
        if isinstance(item, h5py.Dataset) and item.shape:
            assert item.chunks is None, name

    for name in (name for name in os.listdir(folder) if name.endswith(".h5")):
        with h5py.File(f"{folder}/{name}", "r") as file:
            schema = "ringweave-plane" if name == "plane.h5" else "ringweave-sphere"
            assert file.attrs["schema"] == schema and file.attrs["Conventions"] == "CF-1.13"
            assert file.attrs["command_line"].startswith("ringweave smooth")
            look(name, file)
            file.visititems(look)


def check_partial(folder):
    with h5py.File(f"{folder}/partial.h5", "r") as file:
        pixel = file["partial/pixel"][:]
        assert file["partial/pixel"].attrs["standard_name"] == "healpix_index"
        assert np.all(np.diff(pixel) > 0)
        assert file["partial/map"].attrs["INDXSCHM"] == "EXPLICIT"
        ring = healpy.nest2ring(NSIDE, pixel)
        rings = healpy.pix2ring(NSIDE, ring)
        assert sorted(set(rings)) == [4, 21, 41]
        for component in range(3):
            np.testing.assert_array_equal(file["partial/map"][component], expected(component, ring))


def check_grid(folder):
    with h5py.File(f"{folder}/gauss.h5", "r") as file:
        grid = file["grid"]
        assert grid.attrs["name"] == "gauss:23" and file["map"].attrs["GRID"] == "gauss:23"
        nodes, weights = np.polynomial.legendre.leggauss(24)
        np.testing.assert_allclose(np.cos(grid["theta"][:]), nodes[::-1], atol=1e-14)
        np.testing.assert_allclose(grid["weight"][:] * grid["nphi"][:], 2 * np.pi * weights, rtol=1e-12)
        np.testing.assert_array_equal(grid["ringstart"][:], np.cumsum(grid["nphi"][:]) - grid["nphi"][:])
        assert file["map"].shape == (3, grid["nphi"][:].sum())


def check_alm_and_cl(folder):
    with h5py.File(f"{folder}/alm.h5", "r") as file:
        alm = file["alm/alm"]
        assert alm.dtype == np.complex128 and list(alm.attrs["components"]) == ["T", "E", "B"]
        lmax, mmax = alm.attrs["lmax"], alm.attrs["mmax"]
        for m in range(mmax + 1):
            for l in range(m, lmax + 1):
                index = healpy.Alm.getidx(lmax, l, m)
                np.testing.assert_array_equal(alm[:, index], np.array([0, 100, 200]) + l + 1j * m)
    with h5py.File(f"{folder}/cl.h5", "r") as file:
        cl = file["cl/spectra"]
        assert list(cl.attrs["spectra"]) == ["TT", "EE"] and units.Unit(cl.attrs["units"]) == units.K**2
        np.testing.assert_array_equal(cl[1], 100 + np.arange(21))


def check_dimensions(folder, xarray):
    """Every axis has a name; columns, spectra and pixel lists have coordinates; cells take no space."""

    def opened(name, group=None):
        return xarray.open_dataset(f"{folder}/{name}", engine="h5netcdf", group=group)

    names = ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]
    for name in ("ring.h5", "nested.h5", "gauss.h5"):
        with opened(name) as data:
            assert data["map"].dims == ("field", "cell") and list(data["field"].values) == names, data
            assert "cell" not in data.variables
            np.testing.assert_array_equal(data["map"].sel(field="Q_POLARISATION"), data["map"][1])
        with h5py.File(f"{folder}/{name}") as file:
            assert file["cell"].id.get_storage_size() == 0 and file["map"].dims[1][0].name == "/cell"
    with opened("partial.h5", "partial") as data:
        assert data["map"].dims == ("field", "pixel") and list(data["field"].values) == names, data
        with h5py.File(f"{folder}/partial.h5") as file:
            np.testing.assert_array_equal(data["pixel"], file["partial/pixel"])
    with opened("gauss.h5", "grid") as data:
        assert all(data[name].dims == ("ring",) for name in ("theta", "phi0", "nphi", "ringstart", "weight"))
    with opened("alm.h5", "alm") as data:
        assert data["alm"].dims == ("component", "coefficient") and list(data["component"].values) == ["T", "E", "B"]
    with opened("cl.h5", "cl") as data:
        assert data["spectra"].dims == ("spectrum", "ell") and data["spectra"].sel(spectrum="EE", ell=7) == 107


def check_values(folder):
    """In HDF5 and as text, by h5py and numpy."""
    with h5py.File(f"{folder}/values.h5", "r") as file:
        values = file["values"]
        assert list(values.attrs["components"]) == ["T", "Q"] and units.Unit(values.attrs["units"]) == units.K
        np.testing.assert_array_equal(values, [[0, 1 / 3, 2 / 3], [-1, -4 / 3, -5 / 3]])
        assert [axis[0].name for axis in values.dims] == ["/component", "/point"]
        assert list(file["component"].asstr()) == ["T", "Q"] and file["point"].id.get_storage_size() == 0
        np.testing.assert_array_equal(np.loadtxt(f"{folder}/values.txt").T, values)


def check_planes(folder):
    values = 0.5 + np.arange(24).reshape(2, 3, 4)
    for name, field in (("plane.h5", "potential"), ("plane.nc", "run/potential")):
        with h5py.File(f"{folder}/{name}", "r") as file:
            data = file[field]
            np.testing.assert_array_equal(data, values)
            assert data.attrs["units"] == "V" and data.attrs["method"] == "bicubic"
            assert [axis[0].name for axis in data.dims] == ["/rho", "/y", "/x"]
            np.testing.assert_array_equal(file["rho"], [0.25, 0.5])
            assert file["rho"].attrs["units"] == "m" and file["x"].id.get_storage_size() == 0


def check_plane_dimensions(folder, xarray, engine):
    for name, group in (("plane.h5", None), ("plane.nc", "run")):
        with xarray.open_dataset(f"{folder}/{name}", engine=engine, group=group) as data:
            field = data["potential"]
            assert field.dims == ("rho", "y", "x") and field.attrs["long_name"] == "average of the potential", data
            if group is None:  # coordinates lie in the root
                assert float(field.sel(rho=0.5, y=1)[3]) == 23.5 and data["y"].attrs["units"] == "m"
                assert "x" not in data.variables


def check_xarray(folder):
    """xarray opens the file itself where it has a netCDF4 engine, else it gets what h5py reads."""
    if importlib.util.find_spec("xarray") is None:
        print("xarray is not installed: its check is left out")
        return
    import xarray

    engines = ("h5netcdf", "netCDF4")
    found = [name for name in engines if importlib.util.find_spec(name) is not None]
    for name in found:
        for file in ("ring.h5", "nested.h5"):
            with xarray.open_dataset(f"{folder}/{file}", engine=name.lower()) as data:
                assert data["map"].shape == (3, 12 * NSIDE**2)
                assert data["map"].attrs["units"] == "K"
                assert data["crs"].attrs["grid_mapping_name"] == "healpix"
                assert data["crs"].attrs["refinement_level"] == 4
                assert float(data["map"][1, 0]) >= 100000.5
        check_plane_dimensions(folder, xarray, name.lower())
    if "h5netcdf" in found:
        check_dimensions(folder, xarray)
    if not found:
        print("no h5netcdf and no netCDF4: xarray gets what h5py reads")
        with h5py.File(f"{folder}/ring.h5", "r") as file:
            data = xarray.DataArray(file["map"][:], dims=("column", "cell"), attrs=dict(file["map"].attrs))
        assert data.sizes == {"column": 3, "cell": 12 * NSIDE**2} and data.attrs["grid_mapping"] == "crs"


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        check_toast3(folder)
        check_attributes_are_plain(folder)
        check_partial(folder)
        check_grid(folder)
        check_alm_and_cl(folder)
        check_values(folder)
        check_planes(folder)
        check_xarray(folder)


if __name__ == "__main__":
    main()
