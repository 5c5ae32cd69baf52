#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A device that fails at any operation ends the program with one error on all ranks, and leaves no output.

  failures_test.py PROGRAM RUN_COMMANDS MPIRUN [TEST ...]     the program on the software device, scripts/mpirun.sh

Copy, kernel or FFT number N of rank 1 fails, or of the only rank, N = 0, 1, 4, ... until the command ends before it.
RINGWEAVE_FAILURES is by how much N grows (default 3; 1: every operation fails in turn).
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "app"))
import program

program.require("numpy", "h5py")
import h5py
import numpy as np

GROWTH = int(os.environ.get("RINGWEAVE_FAILURES", "3"))


class ADeviceFails(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(24)
        np.savetxt(cls.folder / "cl.txt", np.column_stack([degrees, *np.ones((3, 24)), np.zeros(24)]),
                   header="l TT EE BB TE")
        np.savetxt(cls.folder / "small.txt", np.column_stack([degrees, 1e-3 / (1 + degrees) ** 2]))
        np.savetxt(cls.folder / "points.txt", np.random.default_rng(1).uniform([0, 0], [3, 6], (20, 2)))
        np.savetxt(cls.folder / "values.txt", np.ones(20))
        np.savetxt(cls.folder / "weights.txt", [0.5, 2])
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 8, "--fields", "TQU", "--save-alm", "alm.h5",
                 "sky.h5")
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 8, "--fields", "T", "--save-alm", "t_alm.h5",
                 "t.h5")
        cls.done("alm", "t_alm.h5", "phi.h5", "--multiply", "small.txt")
        # Ranks share the rows of these planes, but for method dct.
        for name, shape, nodes in (("equispaced.h5", (400, 40), lambda n: np.arange(n) / 39),
                                   ("chebyshev.h5", (32, 32), lambda n: -np.cos(np.pi * np.arange(n) / (n - 1)))):
            with h5py.File(cls.folder / name, "w") as file:
                file["phi"] = np.random.default_rng(2).normal(size=shape)
                file["y"], file["x"] = map(nodes, shape)

    def check(self, *command, output="out.h5", device=("--backend", "cuda")):
        """Lets operations of a command fail, on 1 rank and on 3."""
        before = sorted(os.listdir(self.folder))
        for ranks in (1, 3):
            number = 0
            while True:
                result = program.start((*command, output, *device), ranks=ranks, cwd=self.folder,
                                       environment={"SOFTDEVICE_FAIL": f"{number} {ranks // 2}"}, timeout=60)
                if result.code == 0:
                    break
                self.assertEqual(result.code, 4, f"operation {number} fails: {result}")
                self.assertEqual(len(result.messages()), 1, result)
                self.assertIn("unspecified launch failure", result.messages()[0])
                self.assertEqual(sorted(os.listdir(self.folder)), before)
                number = GROWTH * number + 1
            (self.folder / output).unlink()
            self.assertGreater(number, GROWTH, "the rank that should fail has nothing to do")

    def test_synthesis(self):
        synthesize = ("synthesize", "--alm", "alm.h5", "--nside", 8, "--fields", "TQU")
        self.check(*synthesize)
        self.check(*synthesize, "--exchange", "single")
        for stages in ("legendre=cuda,fft=host", "legendre=host,fft=cuda"):
            self.check(*synthesize, device=("--stage", stages))

    def test_analysis(self):
        self.check("analyze", "sky.h5", "--fields", "TQU", "--alm", output="out.h5")

    def test_smoothing(self):
        smooth = ("smooth", "sky.h5", "--fwhm", "20deg", "--fields")
        self.check(*smooth, "TQU", "--method", "harmonic")
        for method, fields in (("ring", "TQU"), ("ring", "QU"), ("split", "TQU")):
            self.check(*smooth, fields, "--method", method, "--error", 1e-3)

    def test_points(self):
        self.check("interpolate", "--alm", "alm.h5", "--points", "points.txt")
        self.check("interpolate", "--adjoint", "values.txt", "--points", "points.txt", "--lmax", 20)

    def test_lensing(self):
        self.check("lens", "--alm", "alm.h5", "--potential", "phi.h5", "--nside", 8)
        self.check("lens", "--inverse", "--alm", "alm.h5", "--potential", "phi.h5", "--nside", 8)

    def test_gyroaverages(self):
        radii = ("--rho", "0.05,0.06")
        for nodes in ("equispaced", "chebyshev"):
            self.done("gyroaverage", f"{nodes}.h5", f"averages_{nodes}.h5", *radii)
        self.check("gyroaverage", "equispaced.h5", *radii, "--method", "bilinear")
        self.check("gyroaverage", "averages_equispaced.h5", *radii, "--method", "bicubic", "--combine", "sum",
                   "--weights", "weights.txt")
        self.check("gyroaverage", "equispaced.h5", *radii, "--method", "dct")
        self.check("gyroaverage", "averages_chebyshev.h5", *radii, "--adjoint")


if __name__ == "__main__":
    program.main()
