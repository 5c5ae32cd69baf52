#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real maps and spectra made by other programs, reproduced with the errors that healpy reaches, and random a_lm against
healpy and ducc0 to 1e-12 rms, lensed against lenspyx.

RINGWEAVE_RANKS sets the rank counts of every command (default 1 3), RINGWEAVE_NSIDE the nside of the random a_lm (default
64, lmax twice that).
"""
import os
import unittest

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits

from files import UNSEEN, max_over_sigma, read_alm, read_map, read_text, rms_difference, write_map

RANKS = [int(n) for n in os.environ.get("RINGWEAVE_RANKS", "1 3").split()]
OTHER_PROGRAMS = 1e-12  # tolerance::other_programs
AT_POINTS = 3e-12  # of two programs with epsilon 1e-12
DATA = program.DATA
WMAP = "wmap_band_iqumap_r9_7yr_W_v4_udgraded32"


needs_data = unittest.skipUnless(DATA.is_dir(), "RINGWEAVE_TEST_DATA names no folder")


@needs_data
class FilesOfOtherPrograms(program.ProgramTest):
    """Bounds max |difference| / sigma of each column by what healpy 1.16 reaches with the same settings: 1.3317e-6 for
    PySM, 4.203e-6 of C_l for TE, elsewhere the bound itself."""

    # Stored as double, because float storage would add its own rounding.
    double = ("--precision", "double")
    ring_weights = ("--weights", f"ring:{DATA}/windows/weight_ring_n00128.fits")

    def check_map(self, bound, reference, *arguments):
        for ranks in RANKS:
            with self.subTest(reference=reference, ranks=ranks):
                self.done(*arguments, "--overwrite", ranks=ranks)
                figures = max_over_sigma(read_map(self.folder / "out.fits"), read_map(DATA / reference))
                self.assertLessEqual(max(figures), bound, figures)

    def test_w_band_smoothed_to_10_degrees_by_the_fortran_program(self):
        self.check_map(3e-7, f"wmap/{WMAP}_smoothed10deg_fortran.fits", "smooth", DATA / f"wmap/{WMAP}.fits",
                       "out.fits", "--fwhm", "10deg", "--lmax", 64, *self.double)

    def test_masked_w_band_smoothed_to_10_degrees_by_the_fortran_program(self):
        self.check_map(3e-7, f"wmap/{WMAP}_masked_smoothed10deg_fortran.fits", "smooth",
                       DATA / f"wmap/{WMAP}_masked.fits", "out.fits", "--fwhm", "10deg", "--lmax", 64, "--unseen",
                       "zero", *self.double)

    def test_synchrotron_smoothed_to_1_degree_by_pysm(self):
        self.check_map(1.34e-6, "pysm/check2synch_30p0_64_smoothed1deg.fits", "smooth",
                       DATA / "pysm/check2synch_30p0_64.fits", "out.fits", "--fields", "T", "--fwhm", "1deg",
                       *self.double)

    def test_map_of_the_suites_alm(self):
        self.check_map(2e-7, "healpix-suite/map.fits", "synthesize", "--alm", DATA / "healpix-suite/alm.fits",
                       "--nside", 128, "out.fits", *self.double)

    def test_smoothed_map_of_the_suite(self):
        self.check_map(3e-7, "healpix-suite/map_sm.fits", "smooth", DATA / "healpix-suite/map.fits", "out.fits",
                       "--fwhm", "420arcmin", "--iter", 0, "--remove", "dipole", "--lmax", 256, *self.ring_weights,
                       *self.double)

    def test_spectra_of_the_suite(self):
        """Errors relative to C_l, degree by degree."""
        with fits.open(DATA / "healpix-suite/cl_out.fits") as hdus:
            columns = {name: np.array(hdus[1].data[column], dtype=np.float64)
                       for name, column in (("TT", "TEMPERATURE"), ("EE", "GRADIENT"), ("BB", "CURL"), ("TE", "TG"))}
        for ranks in RANKS:
            self.done("analyze", DATA / "healpix-suite/map.fits", "--cl", "cl.txt", "--iter", 0, "--remove", "dipole",
                      "--lmax", 256, *self.ring_weights, *self.double, "--overwrite", ranks=ranks)
            ours = read_text(self.folder / "cl.txt")
            for name, theirs in columns.items():
                with self.subTest(spectrum=name, ranks=ranks):
                    figure = np.max(np.abs(ours[name] - theirs)[2:] / np.abs(theirs[2:]))
                    self.assertLessEqual(figure, 4.21e-6 if name == "TE" else 1e-6)
            self.done("compare", "cl.txt", DATA / "healpix-suite/cl_out.fits", "--tolerance", 1e-5, ranks=ranks)

    def test_gaussian_beam_of_10_arcmin(self):
        """C_l = 1 seen through the beam is b_l^2."""
        table = fits.getdata(DATA / "healpix-suite/gaussbeam_10arcmin_lmax512_pol.fits").astype(np.float64)
        (self.folder / "ones.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 1\n" for l in range(513)))
        for ranks in RANKS:
            self.done("convert", "ones.txt", "beam.txt", "--fwhm", "10arcmin", "--overwrite", ranks=ranks)
            ours = read_text(self.folder / "beam.txt")
            for row, name in enumerate(("TT", "EE", "BB")):
                # The polarised table repeats its value at l = 2 in the degrees without
                # polarisation.
                first = 0 if name == "TT" else 2
                figure = np.max(np.abs(np.sqrt(ours[name]) - table[row])[first:])
                self.assertLessEqual(figure, 3e-9, name)


@needs_data
class MaskedSynchrotron(program.ProgramTest):
    def test_normalized_smoothing_cuts_the_error_at_the_masks_edge_tenfold(self):
        """Against the smoothed whole sky, on seen pixels that a beam of 1 degree mixes with the mask."""
        seen = np.load(DATA / "masks/GAL_PlanckMasks_64.npz")["GAL060"] != 0
        sky = read_map(DATA / "pysm/check2synch_30p0_64.fits")[0]
        maps = {"whole": sky, "mask": seen.astype(np.float64), "masked": np.where(seen, sky, UNSEEN)}
        smooth = ("--fwhm", "1deg", "--overwrite")
        for name, values in maps.items():
            write_map(self.folder / f"{name}.fits", values)
            self.done("smooth", f"{name}.fits", f"smooth_{name}.fits", *smooth)
        whole, weight, _ = (read_map(self.folder / f"smooth_{name}.fits")[0] for name in maps)
        edge = seen & (weight < 0.99)
        self.assertGreater(edge.sum(), 500)
        for ranks in RANKS:
            errors = []
            for policy in ("restore", "normalize"):
                self.done("smooth", "masked.fits", "out.fits", "--unseen", policy, *smooth, ranks=ranks)
                difference = (read_map(self.folder / "out.fits")[0] - whole)[edge]
                errors.append(np.sqrt(np.mean(difference**2)) / whole.std())
            self.assertLess(errors[1], errors[0] / 10)
            self.assertLess(errors[1], 0.02)


def normal_alm(rng, m, *shape):
    """Draws a_lm of unit variance for coefficients of orders m, real where m = 0."""
    alm = rng.standard_normal((*shape, m.size)) + 1j * rng.standard_normal((*shape, m.size))
    alm[..., m == 0] = alm[..., m == 0].real
    return alm


class RandomAlm(program.ProgramTest):
    """Spins 0 and 2, through double files, to 1e-12 rms."""

    nside = int(os.environ.get("RINGWEAVE_NSIDE", "64"))
    lmax = 2 * nside

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            import healpy
        except ImportError as missing:
            raise unittest.SkipTest(str(missing))
        cls.healpy = healpy
        rng = np.random.default_rng(7)
        ell, m = healpy.Alm.getlm(cls.lmax)
        cls.alm = normal_alm(rng, m, 3)
        cls.alm[1:, ell < 2] = 0
        healpy.write_alm(cls.folder / "alm.fits", list(cls.alm), out_dtype=np.float64)
        cls.sky = rng.standard_normal((3, 12 * cls.nside**2))
        healpy.write_map(cls.folder / "sky.fits", cls.sky, dtype=np.float64)

    def synthesized(self, ranks, fields):
        self.done("synthesize", "--alm", "alm.fits", "--nside", self.nside, "map.h5", "--fields", fields, "--overwrite",
                  ranks=ranks)
        return read_map(self.folder / "map.h5")

    def analyzed(self, ranks, fields, n_iter):
        self.done("analyze", "sky.fits", "--alm", "out.h5", "--fields", fields, "--lmax", self.lmax, "--iter", n_iter,
                  "--overwrite", ranks=ranks)
        return read_alm(self.folder / "out.h5")

    def check(self, what, ours, theirs, bound=OTHER_PROGRAMS):
        """Tests rows of fields; prints the figures of docs/accuracy.md."""
        rms = max(rms_difference(*pair) for pair in zip(ours, theirs))
        worst = max(np.max(np.abs(a - b)) / np.sqrt(np.mean(np.abs(b) ** 2)) for a, b in zip(ours, theirs))
        print(f"{what}: rms difference {rms:.1e}, max {worst:.1e}")
        self.assertLessEqual(rms, bound, what)


class AgainstHealpy(RandomAlm):
    def test_synthesis_is_healpys(self):
        theirs = self.healpy.alm2map(list(self.alm), self.nside, lmax=self.lmax)
        for ranks in RANKS:
            for fields, rows in (("T", slice(0, 1)), ("QU", slice(1, 3)), ("TQU", slice(0, 3))):
                self.check(f"healpy {self.healpy.__version__}, synthesis of {fields}, {ranks} rank(s)",
                           self.synthesized(ranks, fields), theirs[rows])

    def test_analysis_is_healpys(self):
        """Without iterations an analysis is the adjoint synthesis times the pixel area."""
        for n_iter in (0, 3):
            theirs = self.healpy.map2alm(list(self.sky), lmax=self.lmax, iter=n_iter)
            for ranks in RANKS:
                for fields, rows in (("T", slice(0, 1)), ("QU", slice(1, 3)), ("TQU", slice(0, 3))):
                    self.check(f"healpy {self.healpy.__version__}, analysis of {fields}, {n_iter} iterations, "
                               f"{ranks} rank(s)", self.analyzed(ranks, fields, n_iter), theirs[rows])


class AgainstDucc0(RandomAlm):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            import ducc0
        except ImportError as missing:
            raise unittest.SkipTest(str(missing))
        cls.ducc0 = ducc0

    def test_rotations_are_duccs(self):
        degrees = (25.0, 130.0, -40.0)
        theirs = [self.ducc0.sht.rotate_alm(alm, self.lmax, *np.radians(degrees)) for alm in self.alm]
        for ranks in RANKS:
            self.done("alm", "alm.fits", "turned.h5", "--rotate", ",".join(f"{angle}deg" for angle in degrees), "--overwrite",
                      ranks=ranks)
            self.check(f"ducc0 {self.ducc0.__version__}, rotation, {ranks} rank(s)", read_alm(self.folder / "turned.h5"),
                       theirs)

    def test_values_at_points_and_their_adjoint_are_duccs(self):
        """Both at epsilon 1e-12. Not next to the poles, where ducc0 is wrong for spin 2."""
        random = np.random.default_rng(8)
        theta, phi = np.arccos(random.uniform(-0.9999, 0.9999, 20000)), random.uniform(0, 2 * np.pi, 20000)
        with h5py.File(self.folder / "points.h5", "w") as file:
            file["theta"], file["phi"] = theta, phi
        there = {"loc": np.column_stack([theta, phi]), "lmax": self.lmax, "epsilon": 1e-12}
        points = ("--points", "points.h5", "--epsilon", 1e-12, "--overwrite")
        for ranks in RANKS:
            for fields, rows, spin in (("T", slice(0, 1), 0), ("QU", slice(1, 3), 2)):
                what = f"ducc0 {self.ducc0.__version__}, points, spin {spin}, {ranks} rank(s)"
                self.done("interpolate", "--alm", "alm.fits", *points, "values.h5", "--fields", fields, ranks=ranks)
                with h5py.File(self.folder / "values.h5") as file:
                    values = file["values"][:]
                theirs = self.ducc0.sht.synthesis_general(alm=self.alm[rows], spin=spin, **there)
                self.check(f"{what}, values", values, theirs, AT_POINTS)
                self.done("interpolate", "--adjoint", "values.h5", *points, "--lmax", self.lmax, "back.h5", "--fields",
                          fields, ranks=ranks)
                theirs = self.ducc0.sht.adjoint_synthesis_general(map=values, spin=spin, **there)
                self.check(f"{what}, adjoint", read_alm(self.folder / "back.h5"), theirs, AT_POINTS)

    def test_synthesis_and_adjoint_are_duccs(self):
        ducc0 = self.ducc0
        rings = ducc0.healpix.Healpix_Base(self.nside, "RING").sht_info()
        for ranks in RANKS:
            for fields, rows, spin in (("T", slice(0, 1), 0), ("QU", slice(1, 3), 2)):
                what = f"ducc0 {ducc0.__version__}, spin {spin}, {ranks} rank(s)"
                theirs = ducc0.sht.synthesis(alm=self.alm[rows], lmax=self.lmax, spin=spin, **rings)
                self.check(f"{what}, synthesis", self.synthesized(ranks, fields), theirs)
                adjoint = ducc0.sht.adjoint_synthesis(map=self.sky[rows], lmax=self.lmax, spin=spin, **rings)
                self.check(f"{what}, adjoint", self.analyzed(ranks, fields, 0), adjoint * 4 * np.pi / self.sky.shape[1])


class AgainstLenspyx(RandomAlm):
    """Deflections of 3 arcmin rms and degrees up to 3/4 lmax, with and without a curl; lenspyx takes
    sqrt(l (l + 1)) phi_lm."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            import lenspyx
        except ImportError as missing:
            raise unittest.SkipTest(str(missing))
        cls.lenspyx = lenspyx
        lmax = 3 * cls.lmax // 4
        ell, m = cls.healpy.Alm.getlm(lmax)
        rng = np.random.default_rng(11)
        cls.deflections = {}
        for name in ("gradient", "curl"):
            falling = normal_alm(rng, m) / (ell + 10.0) ** 1.5
            falling[ell == 0] = 0
            variance = np.sum(np.where(m > 0, 2, 1) * np.abs(falling) ** 2) / (4 * np.pi)
            cls.deflections[name] = falling * np.radians(3 / 60) / np.sqrt(variance)
            cls.healpy.write_alm(cls.folder / f"{name}.fits", cls.deflections[name], out_dtype=np.float64)

    def test_lensed_maps_are_those_of_lenspyx(self):
        """Both at epsilon 1e-12; gradient and curl have the same sign and unit in both."""
        for names in (("gradient",), ("gradient", "curl")):
            theirs = self.lenspyx.alm2lenmap(list(self.alm), [self.deflections[name] for name in names], epsilon=1e-12,
                                             geometry=("healpix", {"nside": self.nside}), nthreads=1)
            curl = ("--curl", "curl.fits") if "curl" in names else ()
            for ranks in RANKS:
                self.done("lens", "--alm", "alm.fits", "--potential", "gradient.fits", *curl, "--potential-kind",
                          "deflection", "--nside", self.nside, "--epsilon", 1e-12, "lensed.h5", "--overwrite",
                          ranks=ranks)
                for field, ours, other in zip("TQU", read_map(self.folder / "lensed.h5"), theirs):
                    self.check(f"lenspyx {self.lenspyx.__version__}, {' and '.join(names)}, {field}, {ranks} rank(s)",
                               [ours], [other], AT_POINTS)


if __name__ == "__main__":
    program.main()
