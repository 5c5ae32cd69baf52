#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory predicted by --dry-run matches the run's (resident high-water over all ranks) within 10 %."""
import json
import re

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits

from files import UNSEEN


class MemoryPlan(program.ProgramTest):
    transform = ("--lmax", 1024, "--overwrite")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0\n" for l in range(1025)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 512, "sky.h5", *cls.transform)

    def check(self, *arguments, ranks=(1, 2), transform=transform, address_limit=None):
        for n in ranks:
            with self.subTest(ranks=n):
                figures = []
                for extra in (("--dry-run",), ()):
                    self.done(*arguments, *transform, *extra, "--report", "report.json", ranks=n, launched=True,
                              address_limit=address_limit)
                    figures.append(json.loads((self.folder / "report.json").read_text()))
                planned = figures[0]["plan"]["memory_high_water_bytes"]
                measured = figures[1]["memory"]["resident_high_water_bytes"]
                self.assertLess(abs(measured / planned - 1), 0.1, f"{measured} bytes, planned {planned}")

    def test_synthesis(self):
        self.check("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 512, "out.h5")

    def test_synthesis_in_single_precision(self):
        self.check("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 512, "out.fits", "--precision", "single",
                   ranks=(2,))

    def test_exchanges_in_passes(self):
        for exchange in ("overlap", "single"):
            self.check("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 512, "out.h5", "--exchange", exchange,
                       ranks=(2,))
            self.check("analyze", "sky.h5", "--iter", 1, "--alm", "out.h5", "--exchange", exchange, ranks=(2,))
            # Orders fold.
            self.check("analyze", "sky.h5", "--iter", 1, "--alm", "out.h5", "--exchange", exchange, ranks=(2,),
                       transform=("--lmax", 1535, "--overwrite"))

    def test_analysis_without_iterations(self):
        self.check("analyze", "sky.h5", "--iter", 0, "--alm", "out.h5", "--cl", "out.txt")

    def test_iterated_analysis(self):
        """Three iterations need no more memory than one, which other tests have."""
        self.check("analyze", "sky.h5", "--iter", 3, "--alm", "out.h5")

    def write_lensing_spectra(self):
        spectra = "".join(f"{l} 1 1 1 0 {1e-7 / max(l * (l + 1), 1)**2}\n" for l in range(1025))
        (self.folder / "lensing.txt").write_text("# l TT EE BB TE PP\n" + spectra)

    def test_lensing(self):
        self.write_lensing_spectra()
        drawn = ("--cl", "lensing.txt", "--seed", 1, "--nside", 512)
        self.check("lens", *drawn, "lensed.h5", "--save-potential", "phi.h5")
        self.check("lens", "--adjoint", "lensed.h5", "--potential", "phi.h5", "--magnification", "out.h5", ranks=(2,))
        self.check("lens", "--adjoint", "lensed.h5", "--potential", "phi.h5", "out.h5", ranks=(1,))
        refused = self.done("lens", *drawn[:4], "--nside", 2048, "none.h5", code=4, address_limit=800 << 20)
        self.assertRegex(refused.err, r"need up to [\d.]+ GB on a rank, which has [\d.]+ GB; start \d+ ranks")
        self.assertFalse((self.folder / "none.h5").exists())

    def test_inverse_lensing(self):
        """The map is analysed after the search for the inverse, which needs most."""
        self.write_lensing_spectra()
        lmax = ("--lmax", 512, "--overwrite")
        self.done("lens", "--cl", "lensing.txt", "--seed", 1, "--nside", 256, "lensed.h5", "--save-potential", "phi.h5",
                  *lmax)
        self.check("lens", "--inverse", "lensed.h5", "--potential", "phi.h5", "out.h5", "--iter", 0, transform=lmax)

    def test_values_at_points(self):
        random = np.random.default_rng(5)
        with h5py.File(self.folder / "points.h5", "w") as file:
            file["theta"] = np.arccos(random.uniform(-1, 1, 2000000))
            file["phi"] = random.uniform(0, 2 * np.pi, 2000000)
        lmax = ("--lmax", 512, "--overwrite", "--points", "points.h5")
        self.done("analyze", "sky.h5", "--iter", 0, "--alm", "few.h5", *lmax[:3])
        self.check("interpolate", "--alm", "few.h5", "values.h5", transform=lmax)
        self.check("interpolate", "--adjoint", "values.h5", "back.h5", transform=lmax)
        self.check("interpolate", "sky.h5", "of_map.h5", "--iter", 0, transform=lmax, ranks=(1,))
        with h5py.File(self.folder / "points.h5", "a") as file:
            file["psi"] = random.uniform(0, np.pi, 2000000)
        self.check("interpolate", "--alm", "few.h5", "signal.h5", transform=lmax)
        self.check("interpolate", "--adjoint", "signal.h5", "back.h5", transform=lmax, ranks=(2,))

    def test_points_beyond_the_memory_are_refused_with_the_ranks_that_would_do(self):
        self.done("analyze", "sky.h5", "--lmax", 64, "--iter", 0, "--alm", "few.h5", "--overwrite")
        (self.folder / "points.txt").write_text("".join(f"{0.006 * i} {i}\n" for i in range(500)))
        points = ("--alm", "few.h5", "--points", "points.txt", "none.h5", "--mmax", 6000)
        large = self.done("interpolate", *points, "--lmax", 6000, code=4, address_limit=800 << 20)
        self.assertRegex(large.err, r"500 points with lmax = 6000 need up to [\d.]+ GB on a rank, which has "
                                    r"[\d.]+ GB; start \d+ ranks")
        # Their angles alone may be too many.
        with h5py.File(self.folder / "scan.h5", "w") as file:
            for name in ("theta", "phi"):
                file.create_dataset(name, 10**8, "f8", chunks=10**6, compression="gzip", fillvalue=0)
        large = self.done("interpolate", "--alm", "few.h5", "--points", "scan.h5", "none.h5", code=4,
                          address_limit=800 << 20)
        self.assertRegex(large.err, r"points of scan.h5 need up to 1.6 GB on a rank, which has [\d.]+ GB; start \d+ ranks")
        self.assertFalse((self.folder / "none.h5").exists())

    def test_fields_that_memory_cannot_hold_are_averaged_in_batches_or_refused(self):
        many = np.zeros((40, 400, 400), "f4")
        many[:, 200, 200] = np.arange(40)
        with h5py.File(self.folder / "many.h5", "w") as file:
            file["phi"] = many
        plane = ("gyroaverage", "many.h5", "--domain=-1:1,-1:1", "--rho")
        self.done(*plane, "0.05:0.1:20", "batches.h5", "--report", "batches.json", address_limit=700 << 20)
        self.assertGreater(json.loads((self.folder / "batches.json").read_text())["gyroaverage"]["batches"], 1)
        self.done(*plane, "0.05:0.1:20", "at_once.h5")
        with h5py.File(self.folder / "batches.h5") as batches, h5py.File(self.folder / "at_once.h5") as at_once:
            for i in range(20):
                np.testing.assert_array_equal(batches["phi"][i], at_once["phi"][i])
        for dry in ((), ("--dry-run",)):
            result = self.done(*plane, "0.05:0.1:600", "never.h5", *dry, code=4, address_limit=700 << 20)
            self.assertIn("MiB on one rank", result.err)
            self.assertEqual("--dry-run lists" in result.err, not dry)
            for words in ("tables", "memory high-water"):
                self.assertEqual(words in result.out, bool(dry))
        # Ranks beyond the fields cannot share the rows of a cosine series.
        with h5py.File(self.folder / "wide.h5", "w") as file:
            file.create_dataset("phi", (4000, 4000), "f8", chunks=(100, 4000), compression="gzip", fillvalue=0)
        result = self.done("gyroaverage", "wide.h5", *plane[2:], 0.1, "never.h5", "--method", "dct", ranks=2, code=4,
                           address_limit=700 << 20)
        self.assertIn("use --method bicubic, whose fields are cut into rows for several ranks (those of dct cannot be)",
                      result.err)
        self.assertEqual(list(self.folder.glob("never*")), [])

    def write_plane(self, name, fields, nodes):
        """Writes fields [...][y][x] on a square, the first axis rho where there are three."""
        with h5py.File(self.folder / name, "w") as file:
            phi = file.create_dataset("phi", data=fields)
            axes = {"rho": np.array([0.1, 0.2, 0.3])[:len(fields)], "y": nodes, "x": nodes}
            for i, axis in enumerate(list(axes)[-phi.ndim:]):
                file[axis] = axes[axis]
                file[axis].make_scale(axis)
                phi.dims[i].attach_scale(file[axis])

    def test_gyroaverages(self):
        """Buffers of 8 MiB and more are whole in memory, others as far as they are used."""
        random = np.random.default_rng(3)
        nodes = np.linspace(-1, 1, 1040)
        self.write_plane("one.h5", random.normal(size=(1040, 1040)), nodes)
        self.write_plane("two.h5", random.normal(size=(2, 1040, 1040)), nodes)
        self.write_plane("small.h5", random.normal(size=(800, 800)), np.linspace(-1, 1, 800))
        self.write_plane("single.h5", random.normal(size=(1480, 1480)), np.linspace(-1, 1, 1480))
        self.write_plane("chebyshev.h5", random.normal(size=(64, 64)), -np.cos(np.pi * np.arange(64) / 63))
        np.savetxt(self.folder / "weights.txt", [1.0, 2.0])
        for ranks, plane in ((1, ("one.h5", "--rho", "0.3,0.8")), (1, ("small.h5", "--rho", "0.3,0.8")),
                             (1, ("one.h5", "--rho", 0.2, "--method", "dct")),
                             (1, ("one.h5", "--rho", "0.3,0.8", "--method", "bilinear")),
                             (1, ("single.h5", "--rho", 0.2, "--precision", "single")), (2, ("two.h5", "--adjoint")),
                             (2, ("two.h5", "--combine", "sum", "--weights", "weights.txt", "--estimate")),
                             (2, ("chebyshev.h5", "--rho", "0.1:0.3:4"))):
            self.check("gyroaverage", *plane, "out.h5", ranks=(ranks,), transform=("--overwrite",))

    def test_gyroaverages_over_radii_of_nodes(self):
        """The transpose holds sixteen parts of each field."""
        nodes = np.linspace(-1, 1, 1040)
        self.write_plane("local.h5", np.ones((2, 1040, 1040)), nodes)
        with h5py.File(self.folder / "local.h5", "a") as file:
            file["radius"] = np.full((1040, 1040), 0.001)
        for more in ((), ("--adjoint",)):
            self.check("gyroaverage", "local.h5", "--field", "phi", "--rho-field", "radius", "--method", "bilinear", *more,
                       "out.h5", ranks=(1,), transform=("--overwrite",))

    def test_operators_that_are_made_anew_some_radii_at_a_time(self):
        """16 operators of 41 MiB: not all fit."""
        self.write_plane("n80.h5", np.ones((80, 80)), -np.cos(np.pi * np.arange(80) / 79))
        self.check("gyroaverage", "n80.h5", "out.h5", "--rho", "0.1:0.4:16", ranks=(1,), transform=("--overwrite",),
                   address_limit=600 << 20)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertLess(report["plan"]["gyroaverage"]["table_bytes"], 600 << 20)

    def test_conjugate_gradients(self):
        self.check("analyze", "sky.h5", "--tol", 1e-2, "--cl", "out.txt", ranks=(2,))

    def test_smoothing_without_iterations(self):
        self.check("smooth", "sky.h5", "out.h5", "--fwhm", "1deg", "--iter", 0)

    def test_smoothing_on_rings(self):
        for width in ("20arcmin", "2deg"):
            self.check("smooth", "sky.h5", "out.h5", "--fwhm", width, "--method", "ring", "--fields", "all", "--overwrite",
                       transform=())
        self.check("smooth", "sky.h5", "out.h5", "--fwhm", "1deg", "--method", "ring", "--overwrite", transform=())

    def test_smoothing_on_rings_takes_little_beside_the_maps(self):
        """Returns input, output, halo, the ring modes of one map, and at most a fifth of input and output."""
        for width in ("20arcmin", "2deg"):
            for ranks in (1, 2):
                self.done("smooth", "sky.h5", "out.h5", "--fwhm", width, "--method", "ring", "--fields", "T", "--overwrite",
                          "--report", "report.json", ranks=ranks, launched=True)
                report = json.loads((self.folder / "report.json").read_text())
                objects = report["plan"]["memory_bytes"]
                maps = objects["map"] + objects["smoothed map"]
                self.assertEqual(maps, 2 * 12 * 512**2 * 8)
                self.assertLess(report["memory"]["buffers_high_water_bytes"],
                                1.2 * maps + objects["ring modes"] + objects["halo of pixels"])

    def test_smoothing_with_split_kernels(self):
        degrees = np.arange(1025)
        tail = (1 + degrees * (degrees + 1) / 100) ** -0.75 * np.exp(-((3.5 * degrees / 1024) ** 2) / 2)
        np.savetxt(self.folder / "tail.txt", np.column_stack([degrees, tail]))
        self.check("smooth", "sky.h5", "out.h5", "--beam", "tail.txt", "--fields", "all", "--method", "split", "--error",
                   1e-4, "--harmonic-ranks", 1, ranks=(2,))
        self.check("smooth", "sky.h5", "out.h5", "--beam", "tail.txt", "--method", "split", "--error", 1e-3, ranks=(1,))

    def test_smoothing(self):
        self.check("smooth", "sky.h5", "out.fits", "--fwhm", "1deg", "--iter", 1)

    def test_analysis_and_smoothing_with_pixel_weights(self):
        n_weights = 513 * 1537 // 4
        weights = fits.BinTableHDU.from_columns([fits.Column(name="COMPRESSED PIXEL WEIGHTS", format="D",
                                                             array=np.zeros(n_weights))])
        weights.writeto(self.folder / "weights.fits", overwrite=True)
        pixel = ("--weights", "pixel:weights.fits", "--fields", "T")
        self.check("analyze", "sky.h5", "--iter", 0, "--alm", "out.h5", *pixel)
        self.check("analyze", "sky.h5", "--iter", 1, "--alm", "out.h5", *pixel, ranks=(1,))
        self.check("smooth", "sky.h5", "out.h5", "--fwhm", "1deg", "--iter", 0, *pixel)

    def refused(self, *arguments, ranks, limits):
        """Returns the Result with the first of these limits on the address space that is too little, that limit, and by
        how many bytes. MPI libraries take different parts of it."""
        for limit in limits:
            result = program.run(arguments, ranks=ranks, cwd=self.folder, address_limit=limit)
            if result.code != 0:
                self.assertEqual(result.code, 4, str(result))
                size, unit = re.search(r"has ([\d.]+) ([KMG]iB) less", result.err).groups()
                return result, limit, float(size) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
        raise AssertionError("no limit is too little")

    def test_fields_go_in_groups_where_memory_is_short(self):
        """A limit short by less than the ring modes of one component: refused at once, done in groups."""
        nside, lmax, mebibyte = 1024, ("--lmax", 1024, "--overwrite"), 1 << 20
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", nside, "large.h5", *lmax)
        smooth = ("smooth", "large.h5", "smooth.h5", "--fwhm", "1deg", "--iter", 0, "--method", "harmonic", *lmax)
        self.done("smooth", "large.h5", "at_once.h5", *smooth[3:])
        self.done("convert", "large.h5", "mask.h5")
        with h5py.File(self.folder / "mask.h5", "r+") as file:
            file["map"][:] = 1
        for ranks, begin, short_by in ((1, 500 * mebibyte, 15), (2, 400 * mebibyte, 8)):
            refused, too_little, missing = self.refused(*smooth, "--dry-run", ranks=ranks,
                                                        limits=(begin, begin - 150 * mebibyte))
            self.assertIn("ulimit -v", refused.err)
            self.assertNotIn("groups", refused.out)
            limit = int(too_little + missing - short_by * mebibyte)
            for extra in (("--dry-run",), ()):
                run = self.done(*smooth, *extra, "--report", "report.json", ranks=ranks, address_limit=limit)
                self.assertRegex(run.out, r"memory is short by [\d.]+ MiB: the fields are transformed in 2 groups")
                plan = json.loads((self.folder / "report.json").read_text())["plan"]
                self.assertEqual(plan["groups_of_fields"], 2)
                if extra:
                    self.assertIn("3 component(s) in 2 groups", run.out)
            self.done("compare", "smooth.h5", "at_once.h5", "--tolerance", 1e-12)
            enough = limit + 2 * short_by * mebibyte
            self.assertNotIn("groups", self.done(*smooth, "--dry-run", ranks=ranks, address_limit=enough).out)
            # A mask takes its part, of 96 MiB on all ranks, before the groups are chosen.
            masked, mask = (*smooth, "--mask", "mask.h5", "--dry-run"), 96 * mebibyte // ranks
            self.assertIn("in 2 groups", self.done(*masked, ranks=ranks, address_limit=limit + mask).out)
            self.assertNotIn("groups", self.done(*masked, ranks=ranks, address_limit=enough + mask).out)
        for name in ("large.h5", "smooth.h5", "at_once.h5", "mask.h5"):
            (self.folder / name).unlink()

    def test_auto_takes_the_fastest_method_that_fits(self):
        """A limit that is too low for rings, but not for the harmonic method."""
        mebibyte = 1 << 20
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 1024, "large.h5", "--fields", "T", *self.transform)
        smooth = ("smooth", "large.h5", "out.h5", "--fwhm", "40arcmin", "--iter", 0, "--overwrite")
        for ranks, begin in ((1, 500 * mebibyte), (2, 400 * mebibyte)):
            _, too_little, missing = self.refused(*smooth, "--method", "ring", "--dry-run", ranks=ranks,
                                                  limits=(begin, begin - 150 * mebibyte))
            enough = int(too_little + missing + 20 * mebibyte)
            self.assertIn("method: ring, predicted to be the fastest to",
                          self.done(*smooth, "--dry-run", ranks=ranks, address_limit=enough).out)
            for extra in (("--dry-run",), ()):
                out = self.done(*smooth, *extra, ranks=ranks, address_limit=enough - 35 * mebibyte).out
                self.assertIn("method: harmonic, predicted to be the fastest", out)
                self.assertIn("--method ring needs more memory than there is", out)
        for name in ("large.h5", "out.h5"):
            (self.folder / name).unlink()

    def test_a_lm_alone(self):
        self.done("analyze", "sky.h5", "--iter", 0, "--alm", "alm.h5", *self.transform)
        self.check("alm", "alm.h5", "out.h5", "--add", "alm.h5")
        self.check("alm", "alm.h5", "out.h5", "--rotate", "10deg,20deg,30deg")
        self.check("analyze", "alm.h5", "alm.h5", "--cl", "out.txt")

    def make_masked_map(self):
        self.done("convert", "sky.h5", "masked.h5", "--overwrite")
        with h5py.File(self.folder / "masked.h5", "r+") as file:
            file["map"][:, 1000000:2000000] = UNSEEN

    def test_normalized_smoothing_of_one_field(self):
        self.make_masked_map()
        smooth = ("smooth", "masked.h5", "out.h5", "--fwhm", "1deg", "--unseen", "normalize", "--fields", "T")
        self.check(*smooth, "--iter", 0)
        self.check(*smooth, "--iter", 1)

    def test_smoothing_of_a_masked_map(self):
        self.make_masked_map()
        self.check("smooth", "masked.h5", "out.h5", "--fwhm", "1deg", "--iter", 0, "--unseen", "normalize")
        self.check("smooth", "masked.h5", "out.h5", "--fwhm", "1deg", "--iter", 1, "--unseen", "normalize", ranks=(2,))
        self.check("smooth", "masked.h5", "out.h5", "--fwhm", "1deg", "--method", "ring", "--unseen", "normalize",
                   ranks=(1,), transform=("--overwrite",))


if __name__ == "__main__":
    program.main()
