#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the small files from which fuzzing begins, corpora/TARGET/seed_*: make_seeds.py PROGRAM

PROGRAM is build/release/src/app/ringweave. Files of its own kinds are written by it, those of other programs here, with
numpy and h5py.
"""
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

CORPORA = Path(__file__).resolve().parent / "corpora"
SPECTRA = "# D_l in uK^2\n# l TT EE BB TE\n2 3 2 1 0.5\n3 2 1 1D0 -.1\n"
POINTS = "# theta phi psi\n0.1 0.2 0.3\n3.1 -2 1e-1\n"
CONFIG = """# of a run
overwrite = true
[smooth]
input = 'a#b.fits'  # a comment
fwhm = "5' \\" \\\\"
lmax = 12
radii = [1, 2.5,
  3e-1]
out = ["a.h5", "b.fits"]
[analyze]
tolerance = 1e-6
"""


def fits_hdu(cards, data=b""):
    """Returns the bytes of an HDU: cards as (name, value), and its data."""
    def text(value):
        if isinstance(value, str):
            return f"'{value:<8}'"
        return f"{('F', 'T')[value] if isinstance(value, bool) else value:>20}"
    header = "".join(f"{name:<8}= {text(value)}".ljust(80) for name, value in cards) + "END".ljust(80)
    return header.ljust(-len(header) % 2880 + len(header)).encode() + data + bytes(-len(data) % 2880)


def fits_table(columns, n_rows, cards=(), data=None):
    """Returns a FITS file of one binary table: columns as (name, format, bytes of a row)."""
    width = sum(size for _, _, size in columns)
    head = [("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", width), ("NAXIS2", n_rows),
            ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", len(columns))]
    for number, (name, form, _) in enumerate(columns, 1):
        head += [(f"TTYPE{number}", name), (f"TFORM{number}", form)]
    primary = fits_hdu([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
    return primary + fits_hdu([*head, *cards], bytes(range(width * n_rows)) if data is None else data)


def fits_image(bits, dims, cards):
    """Returns a FITS file of an image in the CAR projection."""
    n_lon, n_lat = dims[:2]
    axes = [(f"NAXIS{axis}", size) for axis, size in enumerate(dims, 1)]
    wcs = {"CTYPE1": "RA---CAR", "CTYPE2": "DEC--CAR", "CRPIX1": n_lon / 2 + 0.5, "CRPIX2": (n_lat + 1) / 2,
           "CDELT1": -360 / n_lon, "CDELT2": 180 / n_lat, "CRVAL1": 0.0, "CRVAL2": 0.0, "CUNIT1": "deg"}
    head = [("SIMPLE", True), ("BITPIX", bits), ("NAXIS", len(dims)), *axes, *{**wcs, **cards}.items()]
    return fits_hdu(head, bytes(range(int(np.prod(dims)) * abs(bits) // 8)))


def write_files_of_others():
    maps = {"integers": fits_table([("HITS", "1I", 2), ("T", "1D", 8)], 12,
                                   [("TNULL1", 3), ("TSCAL1", 2.0), ("TZERO1", 32768), ("BAD_DATA", -1.0)]),
            "vectors": fits_table([("T", "12E", 48), ("N", "12J", 48), ("OK", "12L", 12)], 1,
                                  [("PIXTYPE", "HEALPIX"), ("ORDERING", "NESTED"), ("NSIDE", 1), ("COORDSYS", "G")]),
            "listed": fits_table([("PIXEL", "1J", 4), ("SIGNAL", "1E", 4)], 2,
                                 [("NSIDE", 2), ("INDXSCHM", "EXPLICIT"), ("ORDERING", "RING"), ("POLCCONV", "IAU")],
                                 np.array([(5, 1.0), (47, 2.0)], dtype=">i4,>f4").tobytes())}
    tables = {"window": fits_table([("TEMPERATURE", "1D", 8), ("POLARIZATION", "1D", 8)], 5,
                                   [("EXTNAME", "PIXEL WINDOW")]),
              "weights": fits_table([("TEMPERATURE WEIGHTS", "1D", 8)], 2),
              "beam": fits_table([("INT_BEAM", "3E", 12), ("POL_BEAM", "3E", 12)], 1, [("EXTNAME", "BEAM_100")]),
              "spectra": fits_table([("ELL", "1J", 4), ("TT", "1D", 8), ("TE", "1E", 4)], 3, [("TUNIT2", "uK^2")],
                                    np.array([(i, 2.5, 0.5) for i in range(3)], dtype=">i4,>f8,>f4").tobytes())}
    images = {"integers": fits_image(16, [6, 3], {"BSCALE": 0.5, "BZERO": 32768.0, "BLANK": 3}),
              "planes": fits_image(-32, [4, 2, 3], {"PC1_1": 1.0, "BUNIT": "uK", "CTYPE1": "GLON-CAR",
                                                     "CTYPE2": "GLAT-CAR"})}
    for target, files in (("fits_map", maps), ("fits_table", tables), ("fits_car", images)):
        for name, data in files.items():
            put(target, name, data)
    for target, name, text in (
            ("text", "spectra", SPECTRA), ("text", "points", POINTS), ("text", "kernel", "0 2\n0.1 1\n3.1 0\n"),
            ("text", "beam", "# l T E\n0 1.0 1.0\n1 0.9,0.8\n"), ("text", "coefficients", "0 0 1 0\n2 1 -1.5e-3 2\n"),
            ("text", "values", "# unit: uK\n# columns: T Q U\n1 2 3\n-4 5e3 .5\n"), ("config", "job", CONFIG),
            ("config", "flat", "lmax = 5\nfwhm=1deg\nout = [a, 'b c']\n")):
        put(target, name, text.encode())
    for machine in ("typical", "a100_cluster"):
        put("machine", machine, (CORPORA.parents[2] / f"perf_models/machines/{machine}.json").read_bytes())


def write_hdf5_of_others():
    with h5py.File("chunked.h5", "w", libver="latest") as file:
        data = file.create_dataset("map", data=np.arange(24, dtype="f4").reshape(2, 12), chunks=(1, 6), shuffle=True,
                                   compression="gzip", fletcher32=True)
        file["field"] = ["T", "HITS"]
        data.attrs.update({"NSIDE": 1, "ORDERING": "NESTED", "units": "uK"})
    with h5py.File("chunked_alm.h5", "w") as file:
        alm = file.create_dataset("alm/alm", data=np.arange(12).reshape(2, 6) * (1 + 2j), chunks=(1, 3))
        alm.attrs.update({"lmax": 2, "mmax": 2, "components": ["E", "B"]})
    with h5py.File("points.h5", "w") as file:
        for name, data in (("theta", [0.1, 3.0]), ("phi", [1.0, 2.0]), ("psi", [0.5, 0.25])):
            file[f"points/{name}"] = np.array(data, dtype=">f4" if name == "psi" else "f8")
    with h5py.File("plane.nc", "w", libver="latest") as file:
        field = file.create_dataset("run/potential", data=np.ones((2, 3, 4), dtype="f4"), chunks=(1, 3, 4))
        for axis, name in enumerate("tyx"):
            file[name] = np.arange(field.shape[axis]) * 0.5
            file[name].make_scale(name)
            field.dims[axis].attach_scale(file[name])
        field.attrs.update({"units": "V", "coordinates": "t", "valid": [1.0, 2.0]})
    with h5py.File("lat_lon.nc", "w") as file:
        file["lat"], file["lon"] = np.array([-60.0, 0, 60]), np.arange(4) * 90.0
        file["lat"].attrs["units"], file["lon"].attrs["units"] = "degrees_north", "degrees_east"
        file["dust"] = np.arange(12, dtype="i2").reshape(3, 4)
        file["dust"].attrs.update({"_FillValue": np.int16(3), "scale_factor": 0.5, "add_offset": 1.0})


def write_own_files():
    Path("cl.txt").write_text("0 0 0 0 0\n1 0 0 0 0\n2 3 2 1 0.5\n", encoding="utf-8")
    Path("points.txt").write_text("0.1 0.2\n1 2\n", encoding="utf-8")
    for arguments in ("synthesize --cl cl.txt --nside 1 --lmax 2 --seed 1 map.fits --precision single"
                      " --save-alm alm.h5",
                      "convert map.fits map.h5", "convert cl.txt cl.h5", "convert cl.txt cl.fits",
                      "alm alm.h5 t.h5 --take T", "convert t.h5 t.fits", "convert t.h5 t.gfc",
                      "synthesize --alm t.h5 --nside 2 --latitudes 10deg:60deg --order nested part.h5",
                      "convert part.h5 part.fits", "synthesize --alm t.h5 --grid gauss:2 gauss.h5",
                      "synthesize --alm t.h5 --grid fejer:3,6 fejer.fits", "convert fejer.fits fejer.nc",
                      "interpolate --alm alm.h5 --points points.txt values.h5"):
        # The name of the program becomes part of the files.
        subprocess.run(["ringweave", *arguments.split()], executable=PROGRAM, check=True, stdout=subprocess.DEVNULL)


def put(target, name, data):
    folder = CORPORA / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed_{name}").write_bytes(data)


def main():
    for seed in CORPORA.glob("*/seed_*"):
        seed.unlink()
    write_files_of_others()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_own_files()
        write_hdf5_of_others()
        Path("part.fits.gz").write_bytes(gzip.compress(Path("part.fits").read_bytes(), mtime=0))
        for target, names in (("fits_map", "map.fits part.fits.gz"), ("fits_car", "fejer.fits"), ("fits_alm", "t.fits"),
                              ("fits_table", "cl.fits"), ("hdf5_map", "map.h5 part.h5 gauss.h5 chunked.h5"),
                              ("hdf5_alm", "t.h5 chunked_alm.h5"), ("hdf5_points", "points.h5 values.h5 cl.h5"),
                              ("hdf5_plane", "plane.nc lat_lon.nc fejer.nc"), ("icgem", "t.gfc")):
            for name in names.split():
                put(target, name.split(".")[0], Path(name).read_bytes())
        os.chdir("/")


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    main()
