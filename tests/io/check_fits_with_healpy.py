#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files written by healpy, HEALPix and others are read and written by us, then read by healpy: nothing may change.

check_fits_with_healpy.py MPIRUN FITS_REWRITE DATA    exits with 77 (skipped) without healpy
DATA is the folder of sample maps; without it only files made here are checked.
"""
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import healpy
    import numpy as np
    from astropy.io import fits
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

warnings.simplefilter("ignore")
UNSEEN = healpy.UNSEEN
failures = []


def check(name, ours, theirs, tolerance=0.0):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        failures.append(f"{name}: shape {ours.shape}, expected {theirs.shape}")
    elif not np.allclose(ours, theirs, rtol=tolerance, atol=0, equal_nan=True):
        worst = np.nanmax(np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-300))
        failures.append(f"{name}: differs by up to {worst:g} of the value")


def read_map(path, **options):
    """Returns all columns as double, RING, UNSEEN where not observed; always two-dimensional."""
    return np.atleast_2d(healpy.read_map(path, field=None, dtype=np.float64, nest=False, **options))


def exact_unseen(columns):
    """UNSEEN differs between float and double storage."""
    return np.where(healpy.mask_bad(columns), UNSEEN, columns.astype(np.float64))


def made_maps(folder):
    """Returns maps in all common layouts: name -> (path, expected content)."""
    rng = np.random.default_rng(1)
    nside, npix = 16, 12 * 16**2
    iqu = rng.standard_normal((3, npix))
    holes = iqu.copy()
    holes[:, rng.permutation(npix)[: npix // 2]] = UNSEEN
    made = {}

    def path(name):
        return os.path.join(folder, name + ".fits")

    def keep(name, expected):
        made[name] = (path(name), np.atleast_2d(expected))

    def table(name, columns, **header):
        hdu = fits.BinTableHDU.from_columns(columns)
        hdu.header.update({"PIXTYPE": "HEALPIX", "ORDERING": "RING", "NSIDE": nside})
        for keyword, value in header.items():
            if value is None:
                hdu.header.remove(keyword)
            else:
                hdu.header[keyword] = value
        hdu.writeto(path(name))

    for dtype in (np.float32, np.float64):
        for nest in (False, True):
            name = f"healpy_{np.dtype(dtype).name}_{'nested' if nest else 'ring'}"
            order = healpy.nest2ring(nside, np.arange(npix)) if nest else np.arange(npix)
            healpy.write_map(path(name), iqu[:, order], nest=nest, dtype=dtype, coord="G", column_units="K")
            keep(name, iqu.astype(dtype))
            healpy.write_map(path(name + "_partial"), holes[:, order], nest=nest, dtype=dtype, partial=True)
            keep(name + "_partial", holes.astype(dtype))
    healpy.write_map(path("repeat_1"), iqu, fits_IDL=False, dtype=np.float64)
    keep("repeat_1", iqu)
    mask = rng.random(npix) > 0.3
    for dtype in (bool, np.uint8, np.int16, np.int32, np.int64):
        name = f"mask_{np.dtype(dtype).name}"
        healpy.write_map(path(name), mask.astype(dtype), dtype=dtype, fits_IDL=False)
        keep(name, mask.astype(float))

    whole = np.arange(npix, dtype=np.int32)
    null = np.where(whole % 7 == 0, -999, whole)
    table("integer_null", [fits.Column("COUNTS", "J", array=null, null=-999)])
    keep("integer_null", np.where(whole % 7 == 0, UNSEEN, whole))
    table("scaled", [fits.Column("T", "I", array=(whole % 100).astype(np.int16))])
    for keyword, value in (("TSCAL1", 0.5), ("TZERO1", 3.0)):
        fits.setval(path("scaled"), keyword, value=value, ext=1)
    keep("scaled", (whole % 100) * 0.5 + 3.0)
    table("bad_data", [fits.Column("T", "D", array=np.where(mask, iqu[0], -32768.0))], BAD_DATA=-32768.0)
    keep("bad_data", np.where(mask, iqu[0], UNSEEN))
    table("iau", [fits.Column(n, "D", array=a) for n, a in zip("QUI", iqu)], POLCCONV="IAU")
    keep("iau", [iqu[0], -iqu[1], iqu[2]])
    table("text_nside", [fits.Column("T", "1024D", array=iqu[0].reshape(-1, 1024))], NSIDE="16")
    keep("text_nside", iqu[0])
    table("bare", [fits.Column("T", "D", array=iqu[0])], NSIDE=None, PIXTYPE=None, ORDERING=None)
    keep("bare", iqu[0])
    table("text_column", [fits.Column("NAME", "3A", array=["abc"] * npix), fits.Column("T", "D", array=iqu[0])])
    keep("text_column", iqu[0])

    listed = rng.permutation(npix)[:500]
    cut = np.full((2, npix), UNSEEN)
    cut[:, listed] = iqu[:2, listed]
    table("pix_unordered", [fits.Column("PIX", "K", array=listed), fits.Column("A", "D", array=iqu[0, listed]),
                            fits.Column("B", "D", array=iqu[1, listed])], OBJECT="PARTIAL")
    keep("pix_unordered", cut)

    # The cut-sky layout of old Fortran HEALPix: one HDU for each Stokes parameter.
    hdus = [fits.PrimaryHDU()]
    old = np.full((9, npix), UNSEEN)
    for stokes in range(3):
        listed = np.sort(rng.permutation(npix)[:300])
        values = [iqu[stokes, listed], np.full(300, 5.0), np.abs(iqu[stokes, listed])]
        for k, row in enumerate((stokes, 3 + 2 * stokes, 4 + 2 * stokes)):
            old[row, listed] = values[k]
        columns = [fits.Column(n, f, array=a)
                   for n, f, a in zip(("PIXEL", "SIGNAL", "N_OBS", "SERROR"), "JDJD", [listed] + values)]
        hdus.append(fits.BinTableHDU.from_columns(columns))
        hdus[-1].header.update({"PIXTYPE": "HEALPIX", "ORDERING": "RING", "NSIDE": nside, "INDXSCHM": "EXPLICIT",
                                "OBJECT": "PARTIAL"})
    fits.HDUList(hdus).writeto(path("old_cut_sky"))
    keep("old_cut_sky", old)

    for name in ("healpy_float32_ring", "healpy_float64_nested_partial"):
        subprocess.run(["gzip", "-k", path(name)], check=True)
        made[name + "_gz"] = (path(name) + ".gz", made[name][1])
    return made


def sample_maps(data):
    found = {}
    for name in ("edge-cases/float_map", "edge-cases/float_map_nest", "edge-cases/int_map", "edge-cases/many_columns",
                 "edge-cases/pol_int_map", "healpix-suite/map", "healpix-suite/map_sm", "healpix-suite/mask",
                 "healpix-suite/map_synfast_seed12345", "masks/mask", "pysm/check2synch_30p0_64",
                 "pysm/check2synch_30p0_64_smoothed1deg", "wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32",
                 "wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked",
                 "wmap/wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked_smoothed10deg_fortran",
                 "wmap/wmap_temperature_analysis_mask_r9_7yr_v4_udgraded32"):
        path = os.path.join(data, name + ".fits")
        # healpy compares NSIDE with a number, but PySM's is text.
        found[name.replace("/", "_")] = (path, read_map(path, verbose=False) if "pysm" not in name else read_text_nside(path))
    return found


def read_text_nside(path):
    table = fits.getdata(path, 1)
    return np.array([table.field(i).ravel().astype(np.float64) for i in range(len(table.columns))])


def made_alms(folder):
    rng = np.random.default_rng(2)
    made = {}
    for name, lmax, mmax, dtype in (("triangle", 33, 33, np.complex128), ("narrow", 40, 9, np.complex64)):
        size = healpy.Alm.getsize(lmax, mmax)
        alms = [(rng.standard_normal(size) + 1j * rng.standard_normal(size)).astype(dtype) for _ in range(3)]
        path = os.path.join(folder, f"{name}_alm.fits")
        healpy.write_alm(path, alms, lmax=lmax, mmax=mmax, mmax_in=mmax, out_dtype=alms[0].real.dtype)
        made[name] = (path, 3)
    return made


def sample_alms(data):
    return {name.replace("/", "_"): (os.path.join(data, name + ".fits"), count) for name, count in (
        ("edge-cases/alm", 1), ("edge-cases/testalm", 1), ("healpix-suite/alm", 3), ("healpix-suite/almdec", 3),
        ("edge-cases/fullskyUnlensedUnabberatedCMB_alm_set00_00000", 3))}


def sample_tables(data):
    """Spectra, windows, weights and beams are read by position."""
    folders = ("spectra", "windows", "wmap", "healpix-suite", "edge-cases")
    names = [os.path.join(f, n) for f in folders for n in sorted(os.listdir(os.path.join(data, f)))]
    wanted = ("_cl_", "cl_", "cl.", "Cltest", "pixel_window", "weight", "cl2maps", "gaussbeam")
    return [os.path.join(data, n) for n in names
            if n.endswith(".fits") and any(w in os.path.basename(n) for w in wanted)]


def table_columns(path):
    with fits.open(path) as hdus:
        if len(hdus) == 1:
            return list(hdus[0].data)
        return [np.asarray(hdus[1].data.field(i), dtype=np.float64).ravel() for i in range(len(hdus[1].columns))]


def check_written_headers(path, single, nested, partial):
    header = fits.getheader(path, 1)
    npix = 12 * header["NSIDE"] ** 2
    form = header["TFORM2" if partial else "TFORM1"]
    repeat = 1 if partial or npix < 1024 else 1024
    expected = {"PIXTYPE": "HEALPIX", "ORDERING": "NESTED" if nested else "RING", "POLCCONV": "COSMO",
                "INDXSCHM": "EXPLICIT" if partial else "IMPLICIT", "OBJECT": "PARTIAL" if partial else "FULLSKY",
                "BAD_DATA": UNSEEN, "CREATOR": "ringweave"}
    for keyword, value in expected.items():
        if header.get(keyword) != value:
            failures.append(f"{path}: {keyword} = {header.get(keyword)!r}, expected {value!r}")
    if form != f"{repeat}{'E' if single else 'D'}":
        failures.append(f"{path}: TFORM {form}")
    if ("LASTPIX" in header) == partial or (not partial and header["LASTPIX"] != npix - 1):
        failures.append(f"{path}: LASTPIX = {header.get('LASTPIX')}")


def check_checksums(path):
    with fits.open(path, checksum=False) as hdus:
        for i, hdu in enumerate(hdus):
            # 1: right, 2: not there.
            if (hdu.verify_datasum(), hdu.verify_checksum()) != (1, 1):
                failures.append(f"{path}, HDU {i}: its checksum is wrong or not there")
            units = [value for keyword, value in hdu.header.items() if keyword.startswith("TUNIT")]
            if any(not str(unit).strip() for unit in units):
                failures.append(f"{path}, HDU {i}: an empty TUNIT")


def main(mpirun, rewrite, data):
    have_data = os.path.isdir(data)
    if not have_data:
        print(f"no sample data in {data}: only files made here are checked")
    with tempfile.TemporaryDirectory() as folder:
        maps = made_maps(folder) | (sample_maps(data) if have_data else {})
        alms = made_alms(folder) | (sample_alms(data) if have_data else {})
        tables = sample_tables(data) if have_data else []
        for ranks in (1, 3):
            check_on(ranks, mpirun, rewrite, folder, maps, alms, tables)
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(maps)} maps, {len(alms)} a_lm files, {len(tables)} tables: {len(failures)} failures")
    sys.exit(1 if failures else 0)


def check_on(ranks, mpirun, rewrite, folder, maps, alms, tables):
    jobs = []
    variants = [("ring", "double", "full", "plain"), ("nested", "single", "full", "gzip"),
                ("ring", "single", "partial", "plain"), ("nested", "double", "partial", "plain")]

    def out(name, *variant, end=".fits"):
        return os.path.join(folder, f"out{ranks}_{name}_{'_'.join(variant)}{end}")

    def map_out(name, variant):
        return out(name, *variant, end=".fits.gz" if variant[3] == "gzip" else ".fits")

    for name, (path, _) in maps.items():
        for variant in variants:
            jobs.append(" ".join(("map", path, map_out(name, variant)) + variant[:3]))
    for name, (path, _) in alms.items():
        jobs += [f"alm {path} {out(name, precision)} {precision}" for precision in ("single", "double")]
    for path in tables:
        jobs += [f"table {path} {out(os.path.basename(path), 'table', end='.txt')}"]
        jobs += [f"spectra {path} {out(os.path.basename(path), 'cl')}"] if "cl" in os.path.basename(path) else []
    with open(os.path.join(folder, "jobs"), "w") as file:
        file.write("\n".join(jobs))
    result = subprocess.run([mpirun, str(ranks), rewrite, file.name])
    if result.returncode != 0:
        failures.append(f"fits_rewrite on {ranks} ranks: exit code {result.returncode}")
        return

    for name, (_, expected) in maps.items():
        for variant in variants:
            ordering, precision, coverage, _ = variant
            single = precision == "single"
            theirs = expected.astype(np.float32).astype(np.float64) if single else expected
            written = map_out(name, variant)
            check(f"{ranks} ranks, {name} {variant}", exact_unseen(read_map(written)), exact_unseen(theirs))
            check_checksums(written)
            check_written_headers(written, single, ordering == "nested", coverage == "partial")
    for name, (path, count) in alms.items():
        hdus = tuple(range(1, count + 1))
        theirs, mmax = healpy.read_alm(path, hdu=hdus, return_mmax=True)
        for precision in ("single", "double"):
            ours, our_mmax = healpy.read_alm(out(name, precision), hdu=hdus, return_mmax=True)
            check_checksums(out(name, precision))
            check(f"{ranks} ranks, {name} {precision}", ours, theirs.astype(ours.dtype))
            check(f"{ranks} ranks, {name} mmax", our_mmax, mmax)
    for path in tables:
        name = os.path.basename(path)
        theirs = table_columns(path)
        with open(out(name, "table", end=".txt")) as file:
            ours = [np.array(line.split(), dtype=np.float64) for line in file]
        check(f"{name} columns", len(ours), len(theirs))
        for i, (our, their) in enumerate(zip(ours, theirs)):
            check(f"{name} column {i}", our, their, 1e-15)
        if "cl" in name:
            n = min(len(theirs), 6)
            check_checksums(out(name, "cl"))
            check(f"{name} as spectra", np.atleast_2d(healpy.read_cl(out(name, "cl")))[:n], theirs[:n], 1e-15)


main(*sys.argv[1:])
