#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--exchange: overlapped gives the same bits, single precision half the bytes and errors below 1e-6."""
import json

import program

program.require("numpy", "h5py")
import h5py
import numpy as np


def numbers(path):
    """Returns all datasets of a file with more than a few numbers, one after the other."""
    found = []

    def visit(_, item):
        if isinstance(item, h5py.Dataset) and item.size > 1000:
            found.append(np.asarray(item[...]).ravel())

    with h5py.File(path) as file:
        file.visititems(visit)
    return np.concatenate([values.view(np.float64) if values.dtype.kind == "c" else values for values in found])


class Exchanges(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "cl.txt").write_text("# l TT EE BB TE\n" + "".join(f"{l} 1 1 1 0\n" for l in range(192)))

    def results(self, exchange, ranks):
        """Returns map, its a_lm, and the bytes sent in a transform; orders fold at this lmax."""
        options = ("--exchange", exchange, "--overwrite", "--report", "report.json")
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 64, "--lmax", 191, "map.h5", *options,
                  ranks=ranks)
        sky = numbers(self.folder / "map.h5")
        self.done("analyze", "map.h5", "--iter", 1, "--lmax", 191, "--alm", "alm.h5", *options, ranks=ranks)
        report = json.loads((self.folder / "report.json").read_text())
        return sky, numbers(self.folder / "alm.h5"), report["transform"]["bytes_sent_per_transform"]

    def test_all_on_some_ranks(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                sky, alm, sent = self.results("double", ranks)
                self.assertGreater(sky.size, 3 * 12 * 64**2 - 1)
                self.assertEqual(sent > 0, ranks > 1)
                overlapped = self.results("overlap", ranks)
                np.testing.assert_array_equal(overlapped[0], sky)
                np.testing.assert_array_equal(overlapped[1], alm)
                self.assertEqual(overlapped[2], sent)
                single = self.results("single", ranks)
                for values, expected in zip(single, (sky, alm)):
                    error = np.sqrt(np.mean((values - expected) ** 2) / np.mean(expected**2))
                    self.assertLess(error, 1e-6)
                    self.assertGreater(error, 0)
                self.assertEqual(2 * single[2], sent)


if __name__ == "__main__":
    program.main()
