#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""gyroaverage averages fields of a file over circles: against averages of the same interpolants, formed here."""
import json
import unittest

import program

program.require("numpy", "h5py", "scipy")
import h5py
import numpy as np
from scipy import special

N = 24
RADII = (0.0, 0.11, 0.5, 1.3)


def equispaced(n):
    return np.linspace(-1, 1, n)


def chebyshev(n):
    return -np.cos(np.pi * np.arange(n) / (n - 1))


def write_field(path, values, x, y, name="phi", axes=()):
    """Writes a data set with dimension scales; `axes` are (name, coordinates) of those before y and x."""
    with h5py.File(path, "a") as file:
        data = file.create_dataset(name, data=values)
        for i, (axis, coordinates) in enumerate([*axes, ("y", y), ("x", x)]):
            if coordinates is None:
                continue
            if axis not in file:
                file[axis] = coordinates
                file[axis].make_scale(axis)
            data.dims[i].attach_scale(file[axis])


def read_field(path, name="phi"):
    with h5py.File(path) as file:
        return file[name][:]


def differences(n):
    """Returns the matrix of derivatives at the nodes, of fourth order, in units of the spacing."""
    d = np.zeros((n, n))
    for i in range(2, n - 2):
        d[i, i - 2:i + 3] = np.array([1, -8, 0, 8, -1]) / 12
    d[0, :5] = np.array([-25, 48, -36, 16, -3]) / 12
    d[1, :5] = np.array([-3, -10, 18, -6, 1]) / 12
    d[-1], d[-2] = -d[0][::-1], -d[1][::-1]
    return d


def rows_of(method, nodes, at):
    """Returns the matrix that takes values at nodes to those of the interpolant at points."""
    n = len(nodes)
    if method == "chebyshev":
        to_values = np.polynomial.chebyshev.chebvander(nodes, n - 1)
        return np.polynomial.chebyshev.chebvander(at, n - 1) @ np.linalg.inv(to_values)
    u = (at - nodes[0]) / (nodes[1] - nodes[0])
    cell = np.clip(u.astype(int), 0, n - 2)
    u = (u - cell)[:, None]
    unit = np.eye(n)
    if method == "bilinear":
        return (1 - u) * unit[cell] + u * unit[cell + 1]
    d = differences(n)
    return ((1 + 2 * u) * (1 - u)**2 * unit[cell] + u**2 * (3 - 2 * u) * unit[cell + 1] + u * (1 - u)**2 * d[cell]
            - u**2 * (1 - u) * d[cell + 1])


def average(method, field, nodes, x, y, rho):
    """Returns the average over one circle, of arcs between grid lines and the edge; the domain is a square."""
    if rho == 0:
        return (rows_of(method, nodes, np.array([y])) @ field @ rows_of(method, nodes, np.array([x])).T).item()
    lines = nodes if method != "chebyshev" else nodes[[0, -1]]
    breaks = [0, 2 * np.pi, *np.linspace(0, 2 * np.pi, 33)]
    for line in lines:
        for centre, angle in ((x, np.arccos), (y, np.arcsin)):
            sine = (line - centre) / rho
            if abs(sine) < 1:
                t = angle(sine)
                breaks += [t % (2 * np.pi), (-t if angle is np.arccos else np.pi - t) % (2 * np.pi)]
    breaks = np.unique(breaks)
    node, weight = np.polynomial.legendre.leggauss(24)
    half = np.diff(breaks)[:, None] / 2
    t = (breaks[:-1, None] + half * (node + 1)).ravel()
    px, py = x + rho * np.cos(t), y + rho * np.sin(t)
    inside = (np.abs(px) <= 1) & (np.abs(py) <= 1)
    w = (half * weight).ravel()[inside] / (2 * np.pi)
    return np.sum(w * ((rows_of(method, nodes, py[inside]) @ field) * rows_of(method, nodes, px[inside])).sum(1))


def bell(x, y, a=40):
    return np.exp(-a * (x[None, :]**2 + y[:, None]**2))


def averaged_bell(x, y, rho, a=40):
    r = np.hypot(x[None, :], y[:, None])
    return np.exp(-a * (r - rho)**2) * special.ive(0, 2 * a * rho * r)


class Gyroaverage(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = np.random.default_rng(11)
        cls.fields = cls.random.normal(size=(2, N, N))
        cls.nodes = equispaced(N)
        write_field(cls.folder / "phi.h5", cls.fields, cls.nodes, cls.nodes, axes=[("time", np.array([0.5, 1.5]))])
        cls.of_cheb = cls.random.normal(size=(12, 12))
        write_field(cls.folder / "cheb.h5", cls.of_cheb, chebyshev(12), chebyshev(12))
        cls.rho = ("--rho", ",".join(map(str, RADII)))

    def averages(self, *arguments, ranks=1, **options):
        self.done("gyroaverage", *arguments, "out.h5", "--overwrite", ranks=ranks, **options)
        return read_field(self.folder / "out.h5")

    def refused(self, words, *arguments, code=3, ranks=(1, 3)):
        """Expects one message, and no file."""
        for n in ranks:
            result = self.done("gyroaverage", *arguments, "none.h5", ranks=n, code=code)
            self.assertEqual(len(result.messages()), 1, result)
            for word in words if isinstance(words, tuple) else (words,):
                self.assertIn(word, result.err)
            self.assertEqual(list(self.folder.glob("none*")), [])

    def check_targets(self, method, field, nodes, found):
        for i, rho in enumerate(RADII):
            for y, x in ((0, 0), (0, 7), (5, 1), (len(nodes) // 2, len(nodes) - 2), (len(nodes) - 1, 0)):
                expected = average(method, field, nodes, nodes[x], nodes[y], rho)
                self.assertAlmostEqual(found[i, y, x], expected, delta=1e-12, msg=(method, rho, y, x))

    def test_averages_are_those_of_the_interpolant_on_any_number_of_ranks(self):
        for method in ("bilinear", "bicubic"):
            one = self.averages("phi.h5", *self.rho, "--method", method)
            self.assertEqual(one.shape, (4, 2, N, N))
            for time in range(2):
                self.check_targets(method, self.fields[time], self.nodes, one[:, time])
            np.testing.assert_allclose(one[0], self.fields, atol=1e-14)
            for ranks in (3, 8):
                np.testing.assert_allclose(self.averages("phi.h5", *self.rho, "--method", method, ranks=ranks), one,
                                           atol=1e-12)
        one = self.averages("cheb.h5", *self.rho)
        self.check_targets("chebyshev", self.of_cheb, chebyshev(12), one)
        np.testing.assert_allclose(self.averages("cheb.h5", *self.rho, ranks=3), one, atol=1e-12)

    def test_the_file_names_axes_and_says_how_it_was_made(self):
        self.averages("phi.h5", "--rho", "0.1:0.5:3")
        with h5py.File(self.folder / "out.h5") as file:
            data = file["phi"]
            self.assertEqual([dimension.keys()[0] for dimension in data.dims], ["rho", "time", "y", "x"])
            np.testing.assert_allclose(file["rho"][:], [0.1, 0.3, 0.5], rtol=1e-15)
            np.testing.assert_array_equal(file["x"][:], self.nodes)
            np.testing.assert_array_equal(file["time"][:], [0.5, 1.5])
            text = {name: value.decode() if isinstance(value, bytes) else value for name, value in data.attrs.items()}
            self.assertEqual((text["method"], text["boundary"], text["combine"]), ("bicubic", "x=zero,y=zero", "each"))
            self.assertIn("command_line", " ".join(file.attrs).lower().replace(" ", "_") + str(dict(file.attrs)))

    def test_attributes_of_the_field_are_kept_and_errors_told_in_hdf5_and_netcdf(self):
        write_field(self.folder / "units.nc", self.fields[0], self.nodes, self.nodes)
        with h5py.File(self.folder / "units.nc", "a") as file:
            file["phi"].attrs["units"], file["phi"].attrs["long_name"] = "V", "potential"
            file["x"].attrs["units"], file["x"].attrs["axis"] = "cm", "X"
        for out in ("kept.h5", "kept.nc"):
            self.done("gyroaverage", "units.nc", out, "--rho", 0.2, "--method", "dct", ranks=3)
            with h5py.File(self.folder / out) as file:
                text = {name: value.decode() if isinstance(value, bytes) else value
                        for name, value in [*file["phi"].attrs.items(), *[("x " + name, file["x"].attrs[name]) for name in ("units", "axis")]]}
            self.assertEqual((text["units"], text["long_name"], text["x units"], text["x axis"]), ("V", "potential", "cm", "X"))
            edge = max(np.abs(self.fields[0][[0, -1]]).max(), np.abs(self.fields[0][:, [0, -1]]).max())
            self.assertAlmostEqual(text["error_indicator"], edge / np.abs(self.fields[0]).max(), delta=1e-14)
        self.done("gyroaverage", "units.nc", "kept.h5", "--rho", 0.2, "--estimate", "--overwrite")
        with h5py.File(self.folder / "kept.h5") as file:
            self.assertGreater(file["phi"].attrs["estimated_error"], 0)

    def test_ranks_that_a_cosine_series_leaves_idle_are_told(self):
        for ranks, words in ((1, ""), (3, "warning: 1 of 3 ranks have nothing to do")):
            run = self.done("gyroaverage", "phi.h5", "none.h5", "--rho", 0.1, "--method", "dct", "--dry-run", ranks=ranks)
            self.assertIn(words, run.err)
            self.assertEqual("nothing to do" in run.err, ranks == 3)

    def test_every_rank_has_a_radius_where_no_sum_over_radii_is_formed(self):
        write_field(self.folder / "lone.h5", self.fields[0], self.nodes, self.nodes)
        rho = ("--rho", "0.1:0.55:9")
        for method in ("bicubic", "dct"):
            one = self.averages("lone.h5", *rho, "--method", method)
            np.testing.assert_array_equal(self.averages("lone.h5", *rho, "--method", method, ranks=9), one)
            run = self.done("gyroaverage", "lone.h5", "none.h5", *rho, "--method", method, "--dry-run", ranks=9)
            self.assertIn("ranks: 9 for radii x 1 for fields x 1 for rows", run.out)
            self.assertNotIn("idle", run.out)
        self.averages("lone.h5", *rho)
        (self.folder / "out.h5").rename(self.folder / "nine.h5")
        run = self.done("gyroaverage", "nine.h5", "none.h5", "--adjoint", "--dry-run", ranks=9)
        self.assertIn("1 of 9 ranks are idle, because sums over radii are formed of 8 blocks of radii", run.out)

    def averages_of_shared_rows(self, *arguments):
        """Returns the averages of two ranks, which must share rows, and the bytes that they sent of a halo."""
        found = self.averages(*arguments, "--report", "report.json", ranks=2)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["plan"]["gyroaverage"]["row_parts"], 2)
        return found, report["gyroaverage"]["halo_bytes_sent"]

    def test_halo_bytes_are_those_of_all_averages(self):
        write_field(self.folder / "long.h5", self.random.normal(size=(400, 40)), equispaced(40), equispaced(400))
        _, each = self.averages_of_shared_rows("long.h5", "--rho", 0.05)
        self.assertGreater(each, 0)
        _, twice = self.averages_of_shared_rows("long.h5", "--rho", 0.05, "--combine", "double")
        self.assertEqual(twice, 2 * each)

    def test_two_averages_of_chebyshev_are_the_same_where_ranks_share_rows(self):
        nodes = chebyshev(40)
        write_field(self.folder / "shared.h5", self.random.normal(size=(1, 40, 40)), nodes, nodes, axes=[("axis0", None)])
        for more in ((), ("--adjoint",)):
            command = ("shared.h5", "--rho", 0.3, "--combine", "double", *more)
            one = self.averages(*command)
            found, _ = self.averages_of_shared_rows(*command)
            np.testing.assert_allclose(found, one, rtol=0, atol=1e-13 * np.abs(one).max())

    def test_chebyshev_counts_the_radii_whose_tables_are_made(self):
        run = self.done("gyroaverage", "cheb.h5", "out.h5", *self.rho, "--overwrite", "--progress", "on")
        for i in range(1, 5):
            self.assertIn(f"making tables: {i}/4", run.err)

    def test_a_report_has_the_plan_and_the_stages(self):
        self.averages("phi.h5", *self.rho, "--report", "report.json", ranks=3)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["gyroaverage"]["method"], "bicubic")
        self.assertEqual(report["gyroaverage"]["radii"], list(RADII))
        self.assertIn("transform", report["stages"])
        self.assertTrue(report["plan"]["gyroaverage"]["reason"])

    def test_a_dry_run_prints_the_plan_and_writes_nothing(self):
        for ranks in (1, 3):
            run = self.done("gyroaverage", "phi.h5", "dry.h5", *self.rho, "--dry-run", ranks=ranks)
            for words in ("24 equispaced nodes", "method bicubic", "tables", "memory high-water", "for files"):
                self.assertIn(words, run.out)
        self.assertFalse((self.folder / "dry.h5").exists())

    def test_pairs_sums_and_two_averages_are_made_of_single_ones(self):
        each = self.averages("phi.h5", *self.rho)
        # Fields of a file with rho in the middle.
        values = self.random.normal(size=(2, len(RADII), N, N))
        write_field(self.folder / "pairs.h5", values, self.nodes, self.nodes,
                    axes=[("time", np.array([0.5, 1.5])), ("rho", np.array(RADII))])
        weights = self.random.normal(size=len(RADII))
        np.savetxt(self.folder / "weights.txt", weights, fmt="%.17g")
        with h5py.File(self.folder / "weights.h5", "w") as file:
            file["w"], file["other"] = weights, weights
        single = []
        for i, rho in enumerate(RADII):
            write_field(self.folder / f"single{i}.h5", values[:, i], self.nodes, self.nodes,
                        axes=[("time", np.array([0.5, 1.5]))])
            single.append(self.averages(f"single{i}.h5", "--rho", rho)[0])
        for ranks in (1, 3):
            pairs = self.averages("pairs.h5", "--combine", "pairs", ranks=ranks)
            np.testing.assert_allclose(pairs, single, atol=1e-12)
            for file in ("weights.txt", "weights.h5:w"):
                total = self.averages("pairs.h5", "--combine", "sum", "--weights", file, ranks=ranks)
                np.testing.assert_allclose(total, np.tensordot(weights, single, 1), atol=1e-12)
            twice = self.averages("phi.h5", *self.rho, "--combine", "double", ranks=ranks)
            for i, rho in enumerate(RADII):
                write_field(self.folder / f"again{ranks}{i}.h5", each[i], self.nodes, self.nodes,
                            axes=[("time", np.array([0.5, 1.5]))])
                np.testing.assert_allclose(twice[i], self.averages(f"again{ranks}{i}.h5", "--rho", rho)[0], atol=1e-12)

    def test_the_adjoint_is_the_transpose_of_every_combination_and_method(self):
        np.savetxt(self.folder / "four.txt", [0.3, -1, 2, 0.5])
        rho = ("rho", np.array(RADII))
        for method, nodes in (("bilinear", equispaced(14)), ("bicubic", equispaced(14)), ("dct", equispaced(14)),
                              ("chebyshev", chebyshev(9))):
            n = len(nodes)
            for combine in ("each", "pairs", "sum", "double"):
                more = ("--weights", "four.txt") if combine == "sum" else ()
                options = (*self.rho, "--method", method, "--combine", combine, *more)
                shapes = {"each": (1, 4), "pairs": (4, 4), "sum": (4, 1), "double": (1, 4)}[combine]
                for ranks in (1, 3):
                    given = []
                    for name, k in zip(("a.h5", "b.h5"), shapes):
                        (self.folder / name).unlink(missing_ok=True)
                        given.append(self.random.normal(size=(k, n, n) if k > 1 else (n, n)))
                        write_field(self.folder / name, given[-1], nodes, nodes, axes=[rho] if k > 1 else [])
                    forward = self.averages("a.h5", *options, ranks=ranks)
                    back = self.averages("b.h5", *options, "--adjoint", ranks=ranks)
                    self.assertEqual(back.shape, given[0].shape)
                    with self.subTest(method=method, combine=combine, ranks=ranks):
                        size = np.linalg.norm(forward) * np.linalg.norm(given[1]) / np.sqrt(forward.size)
                        self.assertAlmostEqual(np.sum(forward * given[1]), np.sum(back * given[0]), delta=1e-13 * size)

    def test_a_tangent_circle_has_its_whole_average(self):
        nodes = equispaced(21)
        write_field(self.folder / "one.h5", np.ones((21, 21)), nodes, nodes)
        for method in ("bilinear", "bicubic"):
            for k in (1, 3, 10):
                found = self.averages("one.h5", "--rho", repr(k * 0.1), "--method", method)[0]
                np.testing.assert_allclose(found[k:21 - k, k:21 - k], 1, atol=1e-13)

    def test_plane_waves_of_periodic_and_mirrored_axes_are_multiplied_by_a_bessel_function(self):
        x = np.arange(32) / 32
        y = np.linspace(0, 1, 33)
        kx, ky, rho = 2 * np.pi * 3, np.pi * 4, 0.2
        wave = np.cos(ky * y)[:, None] * np.cos(kx * x + 0.4)[None, :]
        write_field(self.folder / "wave.h5", wave, x, y)
        found = self.averages("wave.h5", "--rho", rho, "--boundary", "x=periodic,y=mirror", "--method", "dct")[0]
        np.testing.assert_allclose(found, wave * special.j0(rho * np.hypot(kx, ky)), atol=1e-13)
        found = self.averages("wave.h5", "--rho", rho, "--boundary", "y=mirror,x=periodic", ranks=3)[0]
        np.testing.assert_allclose(found, wave * special.j0(rho * np.hypot(kx, ky)), atol=1e-3)
        write_field(self.folder / "bare.h5", wave, None, None)
        same = self.averages("bare.h5", "--rho", rho, "--boundary", "y=mirror,x=periodic", "--domain", "0:1,0:1", ranks=3)
        np.testing.assert_allclose(same[0], found, atol=1e-14)

    def test_a_periodic_axis_whose_end_repeats_its_beginning_is_refused(self):
        x = np.linspace(0, 1, 33)
        for i, wave in enumerate((np.sin(2 * np.pi * x), np.cos(2 * np.pi * x), self.random.normal(size=33))):
            wave[-1] = wave[0]
            write_field(self.folder / f"end{i}.h5", wave[None, :] * np.sin(x * 4 + 1)[:, None], x, x)
            self.refused("cut the last column", f"end{i}.h5", "--rho", 0.1, "--boundary", "x=periodic")
            self.averages(f"end{i}.h5", "--rho", 0.1, "--boundary", "x=mirror")
        inner = (np.arange(32) + 0.5) / 32
        write_field(self.folder / "open.h5", np.cos(2 * np.pi * inner)[:, None] * np.ones(32), inner, inner)
        self.averages("open.h5", "--rho", 0.1, "--boundary", "periodic")
        # Zero to rounding at both ends, and not beside the first.
        nodes = np.arange(64) / 64
        narrow = np.exp(-((nodes - 0.317) / 0.058)**2)
        write_field(self.folder / "narrow.h5", narrow[:, None] * np.ones(64), nodes, nodes)
        self.averages("narrow.h5", "--rho", 0.1, "--boundary", "y=periodic")

    def test_dct_is_exact_for_fields_that_vanish_and_says_where_they_do_not(self):
        x = equispaced(64)
        write_field(self.folder / "bell.h5", bell(x, x), x, x)
        for padding in ((), ("--padding", 40)):
            run = self.done("gyroaverage", "bell.h5", "out.h5", "--rho", "0.0625,0.875", "--method", "dct", "--overwrite",
                            "--report", "report.json", *padding)
            self.assertNotIn("warning", run.err)
            with h5py.File(self.folder / "out.h5") as file:  # 64 + 2 * 14 nodes are no fast length
                self.assertEqual(file["phi"].attrs["padding_x"], 40 if padding else 16)
            for found, rho in zip(read_field(self.folder / "out.h5"), (0.0625, 0.875)):
                np.testing.assert_allclose(found, averaged_bell(x, x, rho), atol=1e-14)
        report = json.loads((self.folder / "report.json").read_text())["gyroaverage"]
        self.assertEqual(report["padding_x"], 40)
        self.assertLess(report["error_indicator"], 1e-15)
        run = self.done("gyroaverage", "phi.h5", "out.h5", "--rho", 0.1, "--method", "dct", "--overwrite")
        self.assertIn("bicubic or chebyshev", run.err)
        self.refused("pad 14 nodes or more", "bell.h5", "--rho", 0.875, "--method", "dct", "--padding", 12, code=2)

    def test_chebyshev_nodes_are_recognised_and_their_polynomials_averaged(self):
        x = chebyshev(40)
        write_field(self.folder / "smooth.h5", bell(x, x, 10), x, x)
        run = self.done("gyroaverage", "smooth.h5", "out.h5", "--rho", 0.3, "--overwrite")
        self.assertNotIn("warning", run.err)
        exact = averaged_bell(x, x, 0.3, 10)
        inside = np.abs(x) < 0.7
        np.testing.assert_allclose(read_field(self.folder / "out.h5")[0][np.ix_(inside, inside)],
                                   exact[np.ix_(inside, inside)], atol=1e-9)
        targets = self.averages("smooth.h5", "--rho", 0.3, "--targets", "equispaced:21")
        self.assertEqual(targets.shape, (1, 21, 21))
        np.testing.assert_allclose(targets[0, 5:16, 5:16], averaged_bell(equispaced(21), equispaced(21), 0.3, 10)[5:16, 5:16],
                                   atol=1e-9)
        with h5py.File(self.folder / "out.h5") as file:
            np.testing.assert_allclose(file["x"][:], equispaced(21), atol=1e-15)
        write_field(self.folder / "bare_smooth.h5", bell(x, x, 10), None, None)
        same = self.averages("bare_smooth.h5", "--rho", 0.3, "--method", "chebyshev", "--targets", "equispaced:21",
                             "--domain=-1:1,-1:1")
        np.testing.assert_allclose(same, targets, atol=1e-13)
        given = self.random.normal(size=(1, 21, 21))
        write_field(self.folder / "targets.h5", given, equispaced(21), equispaced(21), axes=[("rho", np.array([0.3]))])
        back = self.averages("targets.h5", "--adjoint", "--targets", "equispaced:40")
        self.assertEqual(back.shape, (40, 40))
        self.assertAlmostEqual(np.sum(targets * given), np.sum(back * bell(x, x, 10)), delta=1e-11)
        run = self.done("gyroaverage", "cheb.h5", "out.h5", "--rho", 0.3, "--overwrite")
        self.assertIn("highest tenth of degrees", run.err)

    def test_an_error_indicator_is_the_largest_of_any_field_on_any_number_of_ranks(self):
        nodes = chebyshev(24)
        both = np.array([bell(nodes, nodes, 200), np.full((24, 24), 1e6)])
        write_field(self.folder / "both.h5", both, nodes, nodes, axes=[("time", np.arange(2.0))])
        found = []
        for ranks in (1, 2):
            run = self.done("gyroaverage", "both.h5", "out.h5", "--rho", 0.2, "--overwrite", ranks=ranks)
            self.assertIn("highest tenth of degrees", run.err)
            with h5py.File(self.folder / "out.h5") as file:
                found.append(file["phi"].attrs["error_indicator"])
        self.assertGreater(found[0], 1e-3)
        self.assertAlmostEqual(found[0], found[1], delta=1e-12)
        self.done("gyroaverage", "out.h5", "hidden_back.h5", "--adjoint", "--report", "report.json", "--overwrite")
        self.assertNotIn("error_indicator", json.loads((self.folder / "report.json").read_text())["gyroaverage"])
        with h5py.File(self.folder / "hidden_back.h5") as file:
            self.assertNotIn("error_indicator", file["phi"].attrs)

    def test_an_error_is_estimated_from_every_second_node(self):
        for n in (64, 65):
            x = equispaced(n)
            write_field(self.folder / f"bell{n}.h5", bell(x, x, 22), x, x)
            for method in ("bilinear", "bicubic"):
                found = self.averages(f"bell{n}.h5", "--rho", 0.46875, "--method", method, "--estimate", "--report",
                                      "report.json", ranks=3)
                exact = averaged_bell(x, x, 0.46875, 22)
                # Circles that leave the square see less than the whole bell.
                inside = np.abs(x) < 0.5
                error = np.max(np.abs(found[0] - exact)[np.ix_(inside, inside)]) / np.max(exact)
                estimate = json.loads((self.folder / "report.json").read_text())["gyroaverage"]["estimated_error"]
                self.assertLess(error / 2, estimate)
                self.assertLess(estimate, 4 * error)

    def estimate(self, *arguments, ranks=1):
        """Returns the report of a run with --estimate."""
        self.averages(*arguments, "--estimate", "--report", "report.json", ranks=ranks)
        return json.loads((self.folder / "report.json").read_text())

    def test_an_estimate_of_sums_is_that_of_the_weighted_sum(self):
        write_field(self.folder / "first.h5", self.fields[0], self.nodes, self.nodes)
        for name, fields, radii in (("of_one.h5", self.fields[:1], RADII[1:2]), ("of_two.h5", self.fields, RADII[1:3])):
            write_field(self.folder / name, fields, self.nodes, self.nodes, axes=[("rho", np.array(radii))])

        def of_sum(name, weights, ranks=1):
            np.savetxt(self.folder / "estimated.txt", weights)
            report = self.estimate(name, "--combine", "sum", "--weights", "estimated.txt", ranks=ranks)
            return report["gyroaverage"]["estimated_error"]

        each = self.estimate("first.h5", "--rho", repr(RADII[1]))["gyroaverage"]["estimated_error"]
        self.assertAlmostEqual(of_sum("of_one.h5", [1.0]), each, delta=1e-14)
        both = of_sum("of_two.h5", [1.0, -0.5])
        self.assertAlmostEqual(of_sum("of_two.h5", [-3.0, 1.5], ranks=3), both, delta=1e-14)
        self.assertAlmostEqual(of_sum("of_two.h5", [2.0, 0.0]), each, delta=1e-14)
        self.assertGreater(abs(both - each), 1e-6)

    def test_an_estimate_is_in_the_planned_memory(self):
        write_field(self.folder / "alone.h5", self.fields[0], self.nodes, self.nodes)
        planned = []
        for more in ((), ("--estimate",)):
            self.done("gyroaverage", "alone.h5", "none.h5", "--rho", 0.3, *more, "--dry-run", "--overwrite", "--report",
                      "report.json")
            planned.append(json.loads((self.folder / "report.json").read_text())["plan"]["buffers_high_water_bytes"])
        self.assertGreater(planned[1], planned[0])

    def test_radii_may_differ_from_node_to_node(self):
        radii = self.random.uniform(0, 0.6, (N, N))
        write_field(self.folder / "local.h5", self.fields, self.nodes, self.nodes, axes=[("time", np.array([0.0, 1.0]))])
        write_field(self.folder / "local.h5", radii, self.nodes, self.nodes, name="radius")
        other = self.random.normal(size=(2, N, N))
        write_field(self.folder / "back.h5", other, self.nodes, self.nodes, axes=[("time", np.array([0.0, 1.0]))])
        write_field(self.folder / "back.h5", radii, self.nodes, self.nodes, name="radius")
        for ranks in (1, 3):
            options = ("--field", "phi", "--rho-field", "radius", "--method", "bilinear")
            found = self.averages("local.h5", *options, ranks=ranks)
            self.assertEqual(found.shape, (2, N, N))
            for y, x in ((0, 0), (3, 17), (N - 1, 9)):
                expected = average("bilinear", self.fields[1], self.nodes, self.nodes[x], self.nodes[y], radii[y, x])
                self.assertAlmostEqual(found[1, y, x], expected, delta=1e-12)
            back = self.averages("back.h5", *options, "--adjoint", ranks=ranks)
            self.assertAlmostEqual(np.sum(found * other), np.sum(back * self.fields), delta=1e-11)
        radii[3, 5:8] = 3
        with h5py.File(self.folder / "local.h5", "a") as file:
            file["radius"][...] = radii
        run = self.done("gyroaverage", "local.h5", "out.h5", *options, "--overwrite", "--report", "report.json",
                        ranks=3)
        self.assertIn(f"warning: 3 of {N * N} radii of radius are above the diagonal", run.err)
        np.testing.assert_array_equal(read_field(self.folder / "out.h5")[:, 3, 5:8], 0)
        self.assertEqual(json.loads((self.folder / "report.json").read_text())["gyroaverage"]["fields_of_batch"], 2)
        for wrong, words in ((-0.5, "radius: the radius at (y, x) = (3, 5), counted from 0, is -0.5;"), (np.nan, "/radius is nan at y 3, x 5 "),
                             (9e36, "/radius is missing (9e+36) at y 3, x 5 ")):
            with h5py.File(self.folder / "local.h5", "a") as file:
                file["radius"][3, 5], file["radius"].attrs["_FillValue"] = wrong, 9e36
            self.refused(words, "local.h5", *options)
        for method in ("dct", "chebyshev"):
            self.refused("belongs to --method bilinear and bicubic", "local.h5", "--rho-field", "radius", "--method", method,
                         code=2)
        nodes = chebyshev(12)
        write_field(self.folder / "local_cheb.h5", self.of_cheb, nodes, nodes)
        write_field(self.folder / "local_cheb.h5", np.full((12, 12), 0.1), nodes, nodes, name="radius")
        self.refused("bicubic", "local_cheb.h5", "--field", "phi", "--rho-field", "radius", code=2)

    def test_coordinates_and_radii_of_single_precision_are_right_to_their_rounding(self):
        rounded = np.linspace(0.1, 0.7, N).astype("f4")
        exact = np.linspace(rounded[0], rounded[-1], N, dtype="f8")
        radii = np.array([0.1, 0.3])
        for name, nodes, rho in (("exact.h5", exact, radii), ("rounded.h5", rounded, radii.astype("f4"))):
            write_field(self.folder / name, self.fields, nodes, nodes, axes=[("rho", rho)])
        options = ("--combine", "pairs", "--rho", "0.1,0.3")
        expected = self.averages("exact.h5", *options)
        np.testing.assert_array_equal(self.averages("rounded.h5", *options), expected)
        self.averages("rounded.h5", *options, "--domain", "0.1:0.7,0.1:0.7", ranks=3)
        with h5py.File(self.folder / "out.h5") as file:
            np.testing.assert_allclose(file["x"][:], np.linspace(0.1, 0.7, N), rtol=1e-15)
        self.assertIn("equispaced by 0.0260", self.done("info", "rounded.h5").out)
        write_field(self.folder / "cheb4.h5", self.of_cheb, chebyshev(12).astype("f4"), chebyshev(12).astype("f4"))
        np.testing.assert_array_equal(self.averages("cheb4.h5", "--rho", 0.2), self.averages("cheb.h5", "--rho", 0.2))
        self.refused("0.10001", "rounded.h5", "--combine", "pairs", "--rho", "0.10001,0.3", ranks=(1,))
        rounded[5] += 1e-5
        write_field(self.folder / "crooked4.h5", self.fields[0], rounded, rounded)
        self.refused(("node 5 (from 0)", "single precision"), "crooked4.h5", "--rho", 0.1, ranks=(1,))

    def test_a_data_set_rho_is_refused_where_an_axis_rho_comes(self):
        write_field(self.folder / "named.h5", self.fields[0], self.nodes, self.nodes, name="rho")
        self.refused("axis of radii /rho", "named.h5", "--rho", 0.1, "--dry-run", code=2)
        write_field(self.folder / "named.h5", np.full((N, N), 0.1), self.nodes, self.nodes, name="radius")
        self.done("gyroaverage", "named.h5", "out.h5", "--field", "rho", "--rho-field", "radius", "--overwrite")
        self.assertEqual(read_field(self.folder / "out.h5", "rho").shape, (N, N))

    def test_meshes_of_coordinates_leave_the_domain_to_be_given(self):
        x, y = np.meshgrid(self.nodes, self.nodes)
        with h5py.File(self.folder / "mesh.h5", "w") as file:
            file["phi"], file["x"], file["y"] = self.fields[0], x, y
        self.assertIn("name one of them", self.done("gyroaverage", "mesh.h5", "none.h5", "--rho", 0.1, code=2).err)
        run = self.done("gyroaverage", "mesh.h5", "none.h5", "--field", "phi", "--rho", 0.1, code=2)
        for words in ("/x has 2 dimensions, and coordinates of an axis have one", "--domain X0:X1,Y0:Y1"):
            self.assertIn(words, run.err)
        found = self.averages("mesh.h5", "--field", "phi", "--rho", 0.1, "--domain=-1:1,-1:1", ranks=3)
        np.testing.assert_allclose(found, self.averages("phi.h5", "--rho", 0.1)[:, 0], atol=1e-12)

    def test_radii_beyond_the_diagonal_give_zeros_and_a_warning(self):
        run = self.done("gyroaverage", "phi.h5", "out.h5", "--rho", "0.1,3", "--overwrite")
        self.assertIn("warning: 1 of 2 radii", run.err)
        np.testing.assert_array_equal(read_field(self.folder / "out.h5")[1], 0)

    def test_single_precision_is_kept_and_asked_for(self):
        write_field(self.folder / "single.h5", self.fields.astype("f4"), self.nodes, self.nodes, axes=[("time", np.arange(2.0))])
        self.assertEqual(self.averages("single.h5", "--rho", 0.1).dtype, np.float32)
        self.assertEqual(self.averages("single.h5", "--rho", 0.1, "--precision", "double").dtype, np.float64)
        found = self.averages("phi.h5", "--rho", 0.1, "--precision", "single", ranks=3)
        self.assertEqual(found.dtype, np.float32)
        np.testing.assert_allclose(found, self.averages("phi.h5", "--rho", 0.1), atol=1e-6)

    def test_radii_that_are_none_are_named(self):
        for rho, words in (("0.1,-0.2", "radius -0.2 (number 2)"), ("nan", "radius nan (number 1)"), ("0.1,x", "'x'"),
                           ("0.1:0.2", "A:B:N"), ("0.1,,0.2", "''"), ("0.2:0.1:0", "between A and B")):
            self.refused(words, "phi.h5", f"--rho={rho}", code=2, ranks=(1,))
        self.refused("give the radii", "phi.h5", code=2)
        np.savetxt(self.folder / "negative.txt", [0.1, 0.2, -1])
        self.refused("radius -1 (number 3)", "phi.h5", "--rho-file", "negative.txt")
        np.savetxt(self.folder / "fine.txt", [0.1, 0.2, 0.3], fmt="%.17g")
        np.testing.assert_array_equal(self.averages("phi.h5", "--rho-file", "fine.txt", ranks=3),
                                      self.averages("phi.h5", "--rho", "0.1,0.2,0.3", ranks=3))
        with h5py.File(self.folder / "radii.h5", "w") as file:
            file["fine"], file["missing"] = [0.1, 0.2, 0.3], [0.1, 9.97e36, 0.3]
            file["missing"].attrs["_FillValue"] = 9.97e36
        np.testing.assert_array_equal(self.averages("phi.h5", "--rho-file", "radii.h5:fine"),
                                      self.averages("phi.h5", "--rho", "0.1,0.2,0.3"))
        self.refused("radius nan (number 2)", "phi.h5", "--rho-file", "radii.h5:missing")
        for name, radii in (("rho_hole.h5", [0.1, 9.97e36, 0.3]), ("rho_nan.h5", [0.1, np.nan, 0.3])):
            write_field(self.folder / name, np.ones((3, N, N)), self.nodes, self.nodes, axes=[("rho", np.array(radii))])
            with h5py.File(self.folder / name, "a") as file:
                file["rho"].attrs["_FillValue"] = 9.97e36
            self.refused((f"/rho is {radii[1]}", "at index 1", "give its radii"), name,
                         "--combine", "pairs", code=2)
        # Several missing values: they are not told apart from numbers.
        write_field(self.folder / "rho_list.h5", np.ones((3, N, N)), self.nodes, self.nodes,
                    axes=[("rho", np.array(RADII[:3]))])
        with h5py.File(self.folder / "rho_list.h5", "a") as file:
            file["rho"].attrs["missing_value"] = [-1.0, 9e36]
        self.averages("rho_list.h5", "--combine", "pairs")
        write_field(self.folder / "rho.h5", np.ones((4, N, N)), self.nodes, self.nodes, axes=[("rho", np.array(RADII))])
        self.refused("4 indices of rho", "rho.h5", "--combine", "pairs", "--rho", "0.1,0.2")
        self.refused("index 1 of rho", "rho.h5", "--combine", "pairs", "--rho", "0,0.12,0.5,1.3")
        self.refused("--combine pairs", "rho.h5", "--rho", "0.1,0.2")
        self.refused("needs one named rho", "phi.h5", "--combine", "pairs", "--rho", "0.1,0.2")
        self.refused("has 3 weights, and there are 4 radii", "rho.h5", "--combine", "sum", "--weights", "fine.txt")
        self.refused("give a weight for each radius", "rho.h5", "--combine", "sum", code=2)

    def test_bad_fields_nodes_and_options_are_refused(self):
        broken = self.fields.copy()
        broken[1, 3, 5], broken[1, 3, 6] = np.nan, np.inf
        write_field(self.folder / "nan.h5", broken, self.nodes, self.nodes, axes=[("time", np.arange(2.0))])
        self.refused(("time 1", "2 places"), "nan.h5", "--rho", 0.1)
        crooked = self.nodes.copy()
        crooked[7] += 0.01
        write_field(self.folder / "crooked.h5", self.fields[0], crooked, self.nodes)
        self.refused("node 7 (from 0)", "crooked.h5", "--rho", 0.1)
        write_field(self.folder / "mixed.h5", self.fields[0], self.nodes, chebyshev(N))
        self.refused("the same kind along both axes", "mixed.h5", "--rho", 0.1)
        self.refused("use bilinear, bicubic or dct", "phi.h5", "--rho", 0.1, "--method", "chebyshev")
        self.refused("use --method chebyshev", "cheb.h5", "--rho", 0.1, "--method", "bicubic")
        write_field(self.folder / "few.h5", np.ones((6, 6)), equispaced(6), equispaced(6))
        self.refused("at least 10", "few.h5", "--rho", 0.1, code=2)
        write_field(self.folder / "bare_field.h5", self.fields[0], None, None)
        self.refused("--domain", "bare_field.h5", "--rho", 0.1, code=2)
        self.refused("leave --domain out", "phi.h5", "--rho", 0.1, "--domain", "-1:2,-1:1", code=2)
        for domain in ("1:-1,0:1", "0:1", "0,1", "0:nan,0:1", "0:1,0:1,5", "0:1:2:3,0:1"):
            self.refused("--domain", "bare_field.h5", "--rho", 0.1, f"--domain={domain}", code=2, ranks=(1,))
        for boundary in ("open", "x=zero,x=zero", "x=periodic,z=zero"):
            self.refused("--boundary", "phi.h5", "--rho", 0.1, "--boundary", boundary, code=2, ranks=(1,))
        self.refused("chebyshev knows boundary zero only", "cheb.h5", "--rho", 0.1, "--boundary", "y=mirror", code=2)
        self.refused("--padding belongs", "phi.h5", "--rho", 0.1, "--padding", 3, code=2, ranks=(1,))
        for boundary in ("periodic", "x=mirror,y=periodic"):
            self.refused("--padding belongs to axes with --boundary zero", "phi.h5", "--rho", 0.1, "--method", "dct",
                         "--padding", 3, "--boundary", boundary, code=2, ranks=(1,))
        self.averages("phi.h5", "--rho", 0.1, "--method", "dct", "--padding", 3, "--boundary", "x=periodic")
        self.refused("--targets", "phi.h5", "--rho", 0.1, "--targets", "random", code=2, ranks=(1,))
        self.refused("--targets equispaced belongs", "phi.h5", "--rho", 0.1, "--targets", "equispaced", code=2, ranks=(1,))
        self.refused("--estimate belongs", "phi.h5", "--rho", 0.1, "--estimate", "--adjoint", code=2, ranks=(1,))
        self.refused("--weights belongs", "phi.h5", "--rho", 0.1, "--weights", "w.txt", code=2, ranks=(1,))
        result = self.done("gyroaverage", "phi.h5", "out.fits", "--rho", 0.1, code=2)
        self.assertIn("HDF5 (.h5) or NetCDF-4", result.err)
        result = self.done("gyroaverage", "phi.h5", "phi.h5", "--rho", 0.1, "--overwrite", code=2)
        self.assertIn("is an input", result.err)


if __name__ == "__main__":
    program.main()
