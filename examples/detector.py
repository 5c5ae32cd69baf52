#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the time stream of a turning detector, and a map of it again: detector.py [--lmax 64] [--folder detector]

  1. `ringweave synthesize` draws a_lm of T, Q and U from examples/lcdm_cl.txt.
  2. A scan: a detector with the orientation psi turns about an axis, which precesses, as that of a satellite does.
  3. `ringweave interpolate` makes the time stream T + Q cos(2 psi) + U sin(2 psi).
  4. The a_lm x that fit the stream d best, |Y x - d| least, are those of Y^T Y x = Y^T d. Conjugate gradients need Y
     (`interpolate`) and Y^T (`interpolate --adjoint`) alone. For more speed a program calls the library instead
     (examples/points.cpp).

Needs numpy and h5py. --launch "mpirun -n 4" starts ranks.
"""
import argparse
import shlex
import subprocess
from pathlib import Path

import h5py
import numpy as np

SPECTRUM = Path(__file__).resolve().parent / "lcdm_cl.txt"


def turned(vectors, axis, angle):
    """Returns vectors, [3][sample], turned about the y or z axis."""
    x, y, z = vectors
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x + s * z, y, c * z - s * x] if axis == "y" else [c * x - s * y, s * x + c * y, z])


def scan(n_samples):
    """Returns theta, phi and psi of the samples, all over the sky and in many orientations."""
    time = np.arange(n_samples) / n_samples
    spin, precession, year = (2 * np.pi * turns * time for turns in (1993.7, 40.3, 1))

    def on_sky(x, y, z):
        """Turns from the frame of the spin axis: it precesses about a direction on the equator that goes round."""
        vectors = np.broadcast_arrays(np.cos(spin) * x - np.sin(spin) * y, np.sin(spin) * x + np.cos(spin) * y, z)
        tilted = turned(turned(vectors, "y", np.radians(45)), "z", precession)
        return turned(turned(tilted, "y", np.radians(90)), "z", year)

    opening = np.radians(50)
    sight, motion = on_sky(np.sin(opening), 0.0, np.cos(opening)), on_sky(0.0, 1.0, 0.0)
    theta, phi = np.arccos(np.clip(sight[2], -1, 1)), np.arctan2(sight[1], sight[0])
    south = np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), -np.sin(theta)])
    east = np.array([-np.sin(phi), np.cos(phi), np.zeros(n_samples)])
    return theta, phi, np.arctan2((motion * east).sum(0), (motion * south).sum(0))


class Detector:
    """The time stream of a_lm and its transpose, by files."""

    def __init__(self, options):
        self.options, self.folder = options, Path(options.folder)
        self.points = ("--points", "scan.h5", "--epsilon", options.epsilon)

    def run(self, *arguments):
        command = [*shlex.split(self.options.launch), self.options.program, *map(str, arguments), "--overwrite"]
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def alm(self, name):
        with h5py.File(self.folder / name) as file:
            return np.array(file["alm/alm"])

    def write_alm(self, name, alm):
        with h5py.File(self.folder / name, "r+") as file:
            file["alm/alm"][...] = alm

    def stream(self, name):
        with h5py.File(self.folder / name) as file:
            return file["values"][0]

    def seen(self, alm):
        """Returns Y alm."""
        self.write_alm("guess.h5", alm)
        self.run("interpolate", "--alm", "guess.h5", "seen.h5", *self.points)
        return self.stream("seen.h5")

    def transpose(self, stream):
        """Returns Y^T stream."""
        with h5py.File(self.folder / "residual.h5", "w") as file:
            file["values"] = stream
            file["values"].attrs["components"] = ["SIGNAL"]
        self.run("interpolate", "--adjoint", "residual.h5", "back.h5", "--lmax", self.options.lmax, *self.points)
        return self.alm("back.h5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lmax", type=int, default=64)
    parser.add_argument("--samples", type=int, help="default: 12 lmax^2")
    parser.add_argument("--epsilon", default="1e-9")
    parser.add_argument("--steps", type=int, default=12, help="of conjugate gradients")
    parser.add_argument("--folder", default="detector", help="for files")
    parser.add_argument("--program", default="ringweave")
    parser.add_argument("--launch", default="", help='for example "mpirun -n 4"')
    options = parser.parse_args()
    detector = Detector(options)
    detector.folder.mkdir(exist_ok=True)
    detector.run("synthesize", "--cl", SPECTRUM, "--seed", 1, "--nside", options.lmax // 2, "--lmax", options.lmax,
                 "sky.h5", "--save-alm", "alm.h5")
    sky = detector.alm("alm.h5")
    with h5py.File(detector.folder / "scan.h5", "w") as file:
        for name, angles in zip(("theta", "phi", "psi"), scan(options.samples or 12 * options.lmax**2)):
            file[name] = angles
    detector.run("alm", "alm.h5", "guess.h5")  # a file of the right shape

    data = detector.seen(sky)
    print(f"{len(data)} samples, rms {data.std():.4g}")

    orders = np.concatenate([np.full(options.lmax + 1 - m, m) for m in range(options.lmax + 1)])
    weight = np.where(orders == 0, 1.0, 2.0)  # of an a_lm in inner products

    def product(a, b):
        return np.sum(weight * (a.conj() * b).real)

    alm = np.zeros_like(sky)
    residual = detector.transpose(data)
    direction, power = residual, product(residual, residual)
    first = power
    for step in range(options.steps):
        applied = detector.transpose(detector.seen(direction))
        length = power / product(direction, applied)
        alm, residual = alm + length * direction, residual - length * applied
        before, power = power, product(residual, residual)
        direction = residual + power / before * direction
        error = np.sqrt(product(alm - sky, alm - sky) / product(sky, sky))
        print(f"step {step + 1}: residual {np.sqrt(power / first):.2e}, error of the a_lm {error:.2e}")


if __name__ == "__main__":
    main()
