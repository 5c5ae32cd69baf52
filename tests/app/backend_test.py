#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--backend: accepted values, messages, and the agreement of results from device and host."""
import json
import os
import sys

import program

program.require("numpy", "h5py")
import h5py
import numpy as np

from files import read_alm, read_map, rms_difference

AS_THE_HOST = 1e-12
OLD_DRIVER = sys.argv[1 + program.OWN_ARGUMENTS]


def has_cuda():
    """Tells whether this build has CUDA."""
    return program.version()["cuda"].split()[0] != "no"


class Synthesis(program.ProgramTest):
    transform = ("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 16, "out.h5", "--overwrite")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} 1\n" for l in range(48)))
        cls.done(*cls.transform)
        cls.has_cuda = has_cuda()

    def report(self, *arguments, **options):
        self.done(*arguments, "--report", "report.json", **options)
        return json.loads((self.folder / "report.json").read_text())


class WithoutADevice(Synthesis):
    """The program with every device hidden."""

    hidden = {"CUDA_VISIBLE_DEVICES": ""}

    def refused(self, code, words, *arguments, **options):
        result = self.done(*arguments, code=code, environment=self.hidden, **options)
        self.assertEqual(len(result.messages()), 1, result)
        for word in words:
            self.assertIn(word, result.messages()[0])

    def test_cuda_without_a_device(self):
        words = ("--backend cuda", "host")
        for ranks in (1, 3):
            self.refused(4 if self.has_cuda else 2, words, *self.transform, "--backend", "cuda", ranks=ranks)
            self.refused(4 if self.has_cuda else 2, words, *self.transform, "--backend", "cuda", "--dry-run", ranks=ranks)

    def test_stages(self):
        wrong = ("fft", "legendre=cuda", "legendre=cuda,fft=gpu", "fft=cuda,fft=cuda", "legendre=cuda,ring=host")
        for stage in wrong:
            self.refused(2, ("--stage", "legendre=PLACE,fft=PLACE"), *self.transform, "--stage", stage)
        on_host = ("--stage", "legendre=host,fft=host")
        self.refused(2, ("--stage", "--backend"), *self.transform, *on_host, "--backend", "host")
        for ranks in (1, 3):
            self.refused(4 if self.has_cuda else 2, ("--stage legendre=cuda,fft=host",), *self.transform,
                         "--stage", "legendre=cuda,fft=host", ranks=ranks)
        report = self.report(*self.transform, *on_host, environment=self.hidden)
        self.assertEqual(report["backend"], {"name": "host", "because": "--stage says so"})
        for method, words in (("ring", "--method ring"), ("split", "harmonic=PLACE,rings=PLACE")):
            self.refused(2, ("--stage", words), "smooth", "out.h5", "smoothed.h5", "--fwhm", "10deg", "--method", method,
                         *on_host)
        split = ("smooth", "out.h5", "smoothed.h5", "--fwhm", "10deg", "--method", "split", "--stage")
        for stage in ("harmonic=cuda,rings=host", "harmonic=host,rings=cuda", "harmonic=cuda,rings=cuda"):
            self.refused(4 if self.has_cuda else 2, (f"--stage {stage}",), *split, stage)

    def test_auto_without_a_device_takes_the_host_and_says_why(self):
        for ranks in (1, 3):
            result = self.done(*self.transform, "--verbose", ranks=ranks, environment=self.hidden)
            lines = [line for line in result.out.splitlines() if line.startswith("backend: ")]
            self.assertEqual(len(lines), 1, result)
            self.assertTrue(lines[0].startswith("backend: host, because "), result)
            self.assertIn("no device was found" if self.has_cuda else "this build has no CUDA", lines[0])
            backend = self.report(*self.transform, ranks=ranks, environment=self.hidden)["backend"]
            self.assertEqual(backend["name"], "host")
            self.assertEqual(f"backend: host, because {backend['because']}", lines[0])

    def test_auto_says_nothing_without_verbose(self):
        self.assertNotIn("backend", self.done(*self.transform, environment=self.hidden).out)

    def test_the_host_where_it_is_asked_for(self):
        report = self.report(*self.transform, "--backend", "host")
        self.assertEqual(report["backend"]["name"], "host")
        self.assertNotIn("device", report)

    def test_what_has_no_form_for_a_device(self):
        self.refused(2, ("--backend cuda",), "model", "--nside", 16, "--backend", "cuda")

    def test_gyroaverages_need_a_device(self):
        with h5py.File(self.folder / "field.h5", "w") as file:
            file["phi"] = [[0.0] * 12] * 12
            file["radius"] = [[0.1] * 12] * 12
        for radii in ("--rho", "--rho-field"):
            averages = ("gyroaverage", "field.h5", "averages.h5", "--field", "phi", "--domain", "0:1,0:1", radii,
                        0.1 if radii == "--rho" else "radius", "--overwrite")
            self.refused(4 if self.has_cuda else 2, ("--backend cuda",), *averages, "--backend", "cuda")
            self.assertEqual(self.report(*averages, environment=self.hidden)["backend"]["name"], "host")

    def test_points_need_a_device(self):
        (self.folder / "points.txt").write_text("0.5 1.0\n1.5 2.0\n")
        points = ("interpolate", "out.h5", "--points", "points.txt", "values.txt", "--overwrite")
        self.refused(4 if self.has_cuda else 2, ("--backend cuda",), *points, "--backend", "cuda")
        self.assertEqual(self.report(*points, environment=self.hidden)["backend"]["name"], "host")

    def test_lensing_needs_a_device(self):
        (self.folder / "small.txt").write_text("".join(f"{l} {1e-3 / (l + 1)}\n" for l in range(12)))
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 4, "--save-alm", "alm.h5", "sky.h5",
                  "--overwrite")
        self.done("alm", "alm.h5", "phi.h5", "--multiply", "small.txt", "--overwrite")
        lens = ("lens", "--alm", "alm.h5", "--potential", "phi.h5", "--nside", 4, "lensed.h5", "--overwrite")
        adjoint = ("lens", "--adjoint", "sky.h5", "--potential", "phi.h5", "--lmax", 8, "back.h5", "--overwrite")
        inverse = ("lens", "--inverse", "sky.h5", "--potential", "phi.h5", "--lmax", 8, "back.h5", "--overwrite")
        for job in (lens, adjoint, inverse):
            self.refused(4 if self.has_cuda else 2, ("--backend cuda",), *job, "--backend", "cuda")
            self.assertEqual(self.report(*job, environment=self.hidden)["backend"]["name"], "host")

    def test_rings_and_a_split_need_a_device(self):
        for method in ("ring", "split"):
            smooth = ("smooth", "out.h5", "smoothed.h5", "--fwhm", "10deg", "--method", method, "--overwrite")
            self.refused(4 if self.has_cuda else 2, ("--backend cuda",), *smooth, "--backend", "cuda")
        (self.folder / "polarised.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0\n" for l in range(48)))
        self.done("synthesize", "--cl", "polarised.txt", "--seed", 1, "--nside", 16, "--fields", "TQU", "tqu.h5",
                  "--overwrite")
        for fields in ("T", "QU", "TQU"):
            rings = ("smooth", "tqu.h5", "smoothed.h5", "--fwhm", "10deg", "--method", "ring", "--fields", fields,
                     "--overwrite")
            self.refused(4 if self.has_cuda else 2, ("--backend cuda",), *rings, "--backend", "cuda")
            self.assertEqual(self.report(*rings, environment=self.hidden)["backend"]["name"], "host")


class WithAnOldDriver(Synthesis):
    """A driver that is too old for the CUDA runtime of the build."""

    old = {"LD_LIBRARY_PATH": OLD_DRIVER}

    def setUp(self):
        if not self.has_cuda:
            self.skipTest("this build has no CUDA")

    def test_cuda_says_what_is_missing(self):
        for ranks in (1, 3):
            result = self.done(*self.transform, "--backend", "cuda", ranks=ranks, code=4, environment=self.old)
            self.assertEqual(len(result.messages()), 1, result)
            for words in ("--backend cuda", "driver version is insufficient", "install a newer driver"):
                self.assertIn(words, result.messages()[0])

    def test_auto_takes_the_host_and_says_why(self):
        for ranks in (1, 3):
            result = self.done(*self.transform, "--verbose", ranks=ranks, environment=self.old)
            self.assertRegex(result.out, "backend: host, because no device was found: .*driver version is insufficient")


class WithADevice(Synthesis):
    """The same jobs with and without a device."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        found = program.start((*cls.transform, "--backend", "cuda", "--dry-run"), cwd=cls.folder)
        cls.reason = found.err if found.code != 0 else ""

    def setUp(self):
        if self.reason and "RINGWEAVE_DEVICE_EXPECTED" not in os.environ:
            self.skipTest(self.reason.strip())

    def test_results_are_those_of_the_host(self):
        job = (*self.transform, "--save-alm", "alm.h5")
        self.done(*job, "--backend", "host")
        sky = read_map(self.folder / "out.h5")
        analysis = ("analyze", "out.h5", "--alm", "back.h5", "--iter", 3, "--overwrite")
        self.done(*analysis, "--backend", "host")
        alm = read_alm(self.folder / "back.h5")
        for ranks in (1, 2, 4):
            report = self.report(*job, "--backend", "cuda", ranks=ranks)
            self.assertEqual(report["backend"]["name"], "cuda")
            self.assertTrue(report["device"]["data_on_device"], report["device"])
            self.assertLess(rms_difference(read_map(self.folder / "out.h5"), sky), AS_THE_HOST)
            self.done(*analysis, "--backend", "cuda", ranks=ranks)
            self.assertLess(rms_difference(read_alm(self.folder / "back.h5"), alm), AS_THE_HOST)

    def test_the_parts_of_a_split_are_done_at_once(self):
        degrees = np.arange(129)
        tail = (1 + degrees * (degrees + 1) / 100) ** -0.75 * np.exp(-((3.5 * degrees / 128) ** 2) / 2)
        np.savetxt(self.folder / "tail.txt", np.column_stack([degrees, tail]))
        self.done("synthesize", "--cl", "cl.txt", "--seed", 3, "--nside", 64, "white.h5", "--overwrite")
        smooth = ("smooth", "white.h5", "smoothed.h5", "--beam", "tail.txt", "--lmax", 128, "--fields", "T", "--method",
                  "split", "--overwrite")
        host = self.report(*smooth, "--backend", "host")
        self.assertFalse(host["plan"]["at_once"])
        sky = read_map(self.folder / "smoothed.h5")
        for ranks in (1, 2):
            report = self.report(*smooth, "--backend", "cuda", "--harmonic-ranks", 0, ranks=ranks)
            self.assertEqual(report["backend"]["name"], "cuda")
            self.assertTrue(report["plan"]["at_once"])
            self.assertLess(rms_difference(read_map(self.folder / "smoothed.h5"), sky), 1e-5)
            for harmonic, rings in (("host", "cuda"), ("cuda", "cuda")):
                report = self.report(*smooth, "--stage", f"harmonic={harmonic},rings={rings}", "--harmonic-ranks", 0,
                                     ranks=ranks)
                self.assertEqual(report["plan"]["at_once"], harmonic != rings)
                self.assertLess(rms_difference(read_map(self.folder / "smoothed.h5"), sky), 1e-5)

    def test_a_dry_run_says_what_the_device_holds(self):
        for ranks in (1, 2):
            out = self.done(*self.transform, "--backend", "cuda", "--dry-run", ranks=ranks).out
            for words in ("device: Legendre stage", "device memory", f"{ranks} rank(s) on it"):
                self.assertIn(words, out)

    def test_a_dry_run_says_what_points_take_of_the_device(self):
        self.done(*self.transform, "--save-alm", "alm.h5")
        (self.folder / "points.txt").write_text("1 2\n0.3 4\n")
        for job in (("interpolate", "--alm", "alm.h5", "--points", "points.txt", "values.h5"),
                    ("lens", "--alm", "alm.h5", "--potential", "alm.h5", "--nside", 16, "lensed.h5")):
            for ranks in (1, 2):
                result = self.done(*job, "--backend", "cuda", "--dry-run", "--report", "plan.json", "--overwrite",
                                   ranks=ranks)
                for words in ("device: fine rows and modes", "device: points", "device memory",
                              f"{ranks} rank(s) on it"):
                    self.assertIn(words, result.out)
                plan = json.loads((self.folder / "plan.json").read_text())["plan"]
                self.assertGreater(plan["device"]["planned_bytes"]["min"], 0)


if __name__ == "__main__":
    program.main(extra=1)
