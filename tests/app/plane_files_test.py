#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of fields in the plane, made by h5py, as info, compare and plot see them."""
import struct
import unittest

import program

program.require("numpy", "h5py")
import h5py
import numpy as np

RANKS = (1, 3)


def write_plane(path, values, name="f", scales=True, attributes=(), **axes):
    """Writes a data set and its coordinates, by name in the order of its axes; None: a name alone."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset(name, data=values)
        data.attrs.update(dict(attributes))
        for d, (axis, coordinates) in enumerate(axes.items()):
            if coordinates is None:
                continue
            file[axis] = coordinates
            if scales:
                file[axis].make_scale(axis)
                data.dims[d].attach_scale(file[axis])


def chebyshev(n):
    return -np.cos(np.pi * np.arange(n) / (n - 1))


class PlaneFiles(program.ProgramTest):
    X, Y = np.linspace(-1, 1, 9), np.linspace(0, 3, 7)

    def path(self, name):
        return self.folder / name

    def field(self):
        return np.exp(-self.X[None, :] ** 2 - (self.Y[:, None] - 1) ** 2)

    def test_info_tells_axes_nodes_and_range(self):
        write_plane(self.path("in.h5"), self.field(), attributes={"units": "V", "note": "a test"}, y=self.Y, x=self.X)
        for ranks in RANKS:
            out = self.done("info", "in.h5", ranks=ranks).out
            self.assertIn("in.h5: field in the plane, f, double precision, unit V", out)
            self.assertIn("axis y: 7, 0 to 3, equispaced by 0.5", out)
            self.assertIn("axis x: 9, -1 to 1, equispaced by 0.25", out)
            edge = np.max([self.field()[:, 0], self.field()[:, -1]])
            edge = max(edge, self.field()[[0, -1]].max())
            self.assertIn(f"values {self.field().min():.6g} to 1, at the edge up to {edge:.6g}, largest at the edge / "
                          f"largest {edge / self.field().max():.3g}", out)
        self.assertIn("keyword: note = a test", self.done("info", "in.h5", "--provenance").out)

    def test_info_knows_chebyshev_nodes_and_others(self):
        uneven = self.X.copy()
        uneven[3] += 0.01
        write_plane(self.path("in.nc"), np.ones((2, 8, 9), np.float32), name="run/f", rho=None, y=chebyshev(8), x=uneven)
        out = self.done("info", "in.nc").out
        self.assertIn("in.nc: 2 fields in the plane, run/f, single precision, unit -", out)
        self.assertIn("axis axis0: 2, no coordinates", out)
        self.assertIn("axis y: 8, -1 to 1, Chebyshev nodes", out)
        self.assertIn("axis x: 9, -1 to 1, neither equispaced nor Chebyshev nodes (", out)

    def test_info_describes_all_data_sets_or_one(self):
        with h5py.File(self.path("two.h5"), "w") as file:
            file["a"], file["group/b"] = np.ones((3, 4)), np.ones((2, 3, 4))
        out = self.done("info", "two.h5").out
        self.assertIn("two.h5: field in the plane, a,", out)
        self.assertIn("two.h5: 2 fields in the plane, group/b,", out)
        self.assertNotIn(" a,", self.done("info", "two.h5", "--variable", "group/b").out)
        for ranks in RANKS:
            self.assertIn("has several fields; name one of them: a (3 x 4), group/b (2 x 3 x 4)",
                          self.done("compare", "two.h5", "two.h5", ranks=ranks, code=2).err)
            self.assertIn("has no data set c", self.done("info", "two.h5", "--variable", "c", ranks=ranks, code=2).err)

    def test_groups_that_hold_themselves_many_times_take_no_time(self):
        with h5py.File(self.path("circles.h5"), "w") as file:
            for i in range(12):
                file[f"again{i}"] = file["/"]
        self.done("info", "circles.h5", code=3)

    def test_compare_finds_differences_and_refuses_other_axes(self):
        values = np.array([self.field(), 2 * self.field()])
        write_plane(self.path("a.h5"), values, rho=np.array([0.1, 0.2]), y=self.Y, x=self.X)
        write_plane(self.path("same.h5"), values, name="g", rho=np.array([0.1, 0.2]), y=self.Y, x=self.X)
        values[1, 2, 3] += 0.5
        write_plane(self.path("other.h5"), values, rho=np.array([0.1, 0.2]), y=self.Y, x=self.X)
        write_plane(self.path("radii.h5"), values, rho=np.array([0.1, 0.3]), y=self.Y, x=self.X)
        write_plane(self.path("wide.h5"), values[:, :, :8], rho=np.array([0.1, 0.2]), y=self.Y, x=self.X[:8])
        for ranks in RANKS:
            self.assertIn("rho 1", self.done("compare", "a.h5", "same.h5", ranks=ranks).out)
            lines = self.done("compare", "a.h5", "other.h5", ranks=ranks, code=1).out.splitlines()
            self.assertEqual([line[:18].strip() for line in lines[1:]], ["rho 0", "rho 1"])
            self.assertEqual([float(line[18:32]) for line in lines[1:]], [0, 0.5])
            self.assertIn("differ in axis rho: index 1 is at 0.2 and 0.3",
                          self.done("compare", "a.h5", "radii.h5", ranks=ranks, code=3).err)
            self.assertIn("differ in size of axis x: 9 and 8",
                          self.done("compare", "a.h5", "wide.h5", ranks=ranks, code=3).err)

    def test_plot_draws_one_field_to_scale(self):
        values = np.array([self.field(), 2 * self.field()])
        write_plane(self.path("in.h5"), values, rho=np.array([0.1, 0.2]), y=self.Y, x=self.X)
        pictures = {}
        for index in ("0", "1"):
            for ranks in RANKS:
                self.done("plot", "in.h5", "out.png", "--index", index, "--range", "0:2", "--overwrite", ranks=ranks)
                pictures[index, ranks] = self.path("out.png").read_bytes()
        self.assertEqual(pictures["0", 1], pictures["0", 3])
        self.assertNotEqual(pictures["0", 1], pictures["1", 1])
        width, height = struct.unpack(">II", pictures["0", 1][16:24])
        self.assertEqual(width, 1600)
        self.assertGreater(height, width)  # 3 units high, 2 wide
        write_plane(self.path("flat.h5"), self.field(), y=self.Y / 10, x=self.X)
        for name in ("flat.png", "flat.svg", "flat.pdf"):
            self.done("plot", "flat.h5", name, "--field", "f", "--width", 400)
        self.assertLess(struct.unpack(">I", self.path("flat.png").read_bytes()[20:24])[0], 400)
        for index in ("2", "-1", "a", "0,0"):
            self.assertIn(f"--index {index}: expected an index for each of rho from 0 to 1",
                          self.done("plot", "in.h5", "no.png", "--index=" + index, code=2).err)
        self.assertIn("--zoom is for maps or spectra",
                      self.done("plot", "in.h5", "no.png", "--zoom", "1deg,2deg,3deg", code=2).err)

    def test_a_plot_of_logarithms_tells_of_values_without_one(self):
        values = self.field()
        values[2, 3:6] = (0, -1, -2)
        write_plane(self.path("in.h5"), values, y=self.Y, x=self.X)
        for ranks in RANKS:
            run = self.done("plot", "in.h5", "log.png", "--scale", "log", "--width", 300, "--overwrite", ranks=ranks)
            self.assertIn("3 nodes are not positive; --scale log leaves them blank", run.err)
        write_plane(self.path("low.h5"), -self.field(), y=self.Y, x=self.X)
        self.assertIn("has no positive value", self.done("plot", "low.h5", "no.png", "--scale", "log", code=3).err)

    def test_commands_of_the_sphere_refuse_planes(self):
        write_plane(self.path("in.h5"), self.field(), y=self.Y, x=self.X)
        self.assertIn("holds fields in the plane", self.done("convert", "in.h5", "out.fits", code=3).err)

    def test_bad_files_are_data_errors(self):
        broken = self.field()
        broken[3, 4] = np.inf
        broken[5, 6] = np.nan
        write_plane(self.path("broken.h5"), broken, y=self.Y, x=self.X)
        write_plane(self.path("descending.h5"), self.field(), y=self.Y[::-1], x=self.X)
        write_plane(self.path("short.h5"), self.field(), scales=False, y=self.Y, x=self.X[:5])
        write_plane(self.path("turned.h5"), self.field().T, x=self.X, y=self.Y)
        self.path("classic.nc").write_bytes(b"CDF\x05" + bytes(1000))
        write_plane(self.path("cut.h5"), np.ones((100, 100)), y=np.arange(100), x=np.arange(100))
        whole = self.path("cut.h5").read_bytes()
        self.path("cut.h5").write_bytes(whole[:-5000])
        for ranks in RANKS:
            for name, words in (("broken", "/f is inf at y 3, x 4 (from 0), and is not finite or missing at 2 places"),
                                ("descending", "/y does not ascend"), ("turned", "axes in the order x, y"),
                                ("short", "/x has 5 coordinates, but this axis of /f has 9 indices")):
                self.assertIn(words, self.done("info", name + ".h5", ranks=ranks, code=3).err)
            self.assertIn("nccopy -k nc4", self.done("info", "classic.nc", ranks=ranks, code=3).err)
            self.done("info", "cut.h5", ranks=ranks, code=3)


if __name__ == "__main__":
    program.main()
