#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged and hostile inputs: with each, every command that reads it ends within 10 s with an exit code and one
message, and takes no more than a gibibyte; no rank waits for another.

Inputs are made here: files of HDF5's oldest and newest formats in which a few bytes are changed (libhdf5 1.10 crashes
on a tenth of them), headers that promise much, inputs that one rank does not see. In the sample data are more, found by
fuzzing.
"""
import random
import subprocess
import unittest

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np

from files import UNSEEN, read_map

RANKS = (1, 3)
SECONDS = 10
USAGE, DATA = 2, 3
MOST_BYTES = 1 << 30
SAMPLES = program.DATA / "hostile"


def write_dense_file(path, version):
    """Writes a file with many groups, data sets and attributes; the new format has them in trees and heaps."""
    values = np.linspace(-1, 1, 192)
    with h5py.File(path, "w", libver=version) as file:
        sky = file.create_dataset("map", data=np.array([values] * 3), chunks=(1, 48), maxshape=(None, 192),
                                  compression="gzip", fletcher32=True, track_times=False)
        sky.attrs.update({"NSIDE": 4, "ORDERING": "RING", "TTYPE": ["T", "Q", "U"]})
        for i in range(40):
            sky.attrs[f"NUMBER{i}"] = float(i)
            sky.attrs[f"TEXT{i}"] = f"some text {i}"
            file.create_dataset(f"part{i}", data=values[:5], track_times=False)
            file.create_group(f"group{i}")
        file.attrs["history"] = "a line\n" * 300


def damaged(content, seed):
    """Changes three bytes, mostly such that are not zero."""
    rng = random.Random(seed)
    content = bytearray(content)
    for _ in range(3):
        at = rng.randrange(len(content))
        while content[at] == 0 and rng.random() < 0.75:
            at = rng.randrange(len(content))
        content[at] = rng.choice((content[at] ^ 1 << rng.randrange(8), rng.randrange(256), 255))
    return content


class Hostile(program.ProgramTest):
    def ends_well(self, *arguments, ranks, codes=(0, USAGE, DATA)):
        """Runs a command of which nothing is known but that it must end well. Returns the Result."""
        result = program.run(arguments, ranks=ranks, cwd=self.folder, timeout=3 * SECONDS)
        self.assertIn(result.code, codes, str(result))
        self.assertEqual(len(result.messages()), 0 if result.code == 0 else 1, str(result))
        self.assertLess(result.seconds, SECONDS, str(result))
        return result

    def most_memory(self):
        """Returns the most memory that a rank of the launches so far had at once, in bytes."""
        most = 0
        for launch in program.launches.values():
            for rank in ranks_of(launch.process.pid):
                with open(f"/proc/{rank}/status", encoding="utf-8") as file:
                    lines = dict(line.split(":", 1) for line in file)
                most = max(most, 1024 * int(lines.get("VmHWM", "0 kB").split()[0]))
        return most


def ranks_of(process):
    """Returns the process and all that it started."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [process] + [rank for child in found.stdout.split() for rank in ranks_of(int(child))]


class DamagedFiles(Hostile):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} {1 / (l + 1.0)}\n" for l in range(9)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 4, "--save-alm", "alm.h5", "sky.h5")

    def commands(self, name):
        """Returns a command for each kind of contents that the file may have."""
        return [("info", name), ("convert", name, "out.fits", "--overwrite"),
                ("analyze", name, "--lmax", 8, "--iter", 0, "--cl", "out.txt", "--overwrite"),
                ("alm", name, "out_alm.h5", "--overwrite"),
                ("synthesize", "--cl", name, "--seed", 1, "--nside", 4, "out.h5", "--overwrite"),
                ("synthesize", "--alm", name, "--nside", 4, "out.h5", "--overwrite"),
                ("interpolate", "--alm", "alm.h5", "--points", name, "out.h5", "--overwrite"),
                ("gyroaverage", name, "out.h5", "--domain=-1:1,-1:1", "--rho", "0.1", "--overwrite")]

    def check(self, name):
        for ranks in RANKS:
            for command in self.commands(name):
                with self.subTest(command=" ".join(map(str, command)), ranks=ranks):
                    self.ends_well(*command, ranks=ranks)

    def test_files_in_which_bytes_are_changed(self):
        codes = set()
        for version in ("earliest", "latest"):
            write_dense_file(self.folder / "whole.h5", version)
            self.done("info", "whole.h5")
            whole = (self.folder / "whole.h5").read_bytes()
            for seed in range(40):
                (self.folder / "damaged.h5").write_bytes(damaged(whole, seed))
                for ranks in RANKS:
                    with self.subTest(version=version, seed=seed, ranks=ranks):
                        codes.add(self.ends_well("info", "damaged.h5", ranks=ranks).code)
        self.assertEqual(codes, {0, DATA})
        self.assertLess(self.most_memory(), MOST_BYTES)

    def test_all_commands_with_some_of_them(self):
        write_dense_file(self.folder / "whole.h5", "latest")
        whole = (self.folder / "whole.h5").read_bytes()
        for seed in range(40, 46):
            (self.folder / "damaged.h5").write_bytes(damaged(whole, seed))
            self.check("damaged.h5")

    @unittest.skipUnless(SAMPLES.is_dir(), "no damaged sample files")
    def test_sample_files(self):
        files = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".h5", ".fits"))
        self.assertTrue(files)
        for path in files:
            self.check(path)
        self.assertLess(self.most_memory(), MOST_BYTES)


class HeadersThatPromiseMuch(Hostile):
    def test_pixels_of_a_large_map_take_the_memory_of_their_rings(self):
        with h5py.File(self.folder / "few.h5", "w") as file:
            file["partial/pixel"] = np.arange(9)
            values = file.create_dataset("partial/map", data=np.arange(1.0, 10.0)[None])
            values.attrs.update({"NSIDE": 16384, "ORDERING": "RING"})
        for ranks in RANKS:
            out = self.done("info", "few.h5", ranks=ranks).out
            self.assertIn("min 1  max 9  mean 5", out)
            self.assertIn(f"unseen {12 * 16384**2 - 9}", out)
        self.assertLess(self.most_memory(), MOST_BYTES)

    def test_few_orders_cost_what_few_orders_cost(self):
        """Otherwise a file of 10 kB, lmax 16384 and mmax 8, would take half a minute and 2 GB."""
        (self.folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} {1 / (l + 1.0)}\n" for l in range(301)))
        self.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 4, "--lmax", 300, "--mmax", 3, "--save-alm",
                  "few.fits", "none.h5")
        synthesize = ("synthesize", "--alm", "few.fits", "--nside", 16)
        self.done(*synthesize, "few.h5", "--report", "few.json")
        self.assertRegex((self.folder / "few.json").read_text(), '"mmax": 3\\b')
        self.done(*synthesize, "all.h5", "--mmax", 300)
        self.done("compare", "few.h5", "all.h5", "--tolerance", 1e-12)

    def test_many_columns_do_not_take_long(self):
        values = np.arange(10000.0)[:, None] + np.arange(12) / 100
        with h5py.File(self.folder / "columns.h5", "w") as file:
            file.create_dataset("map", data=values).attrs.update({"NSIDE": 1, "ORDERING": "RING"})
        for ranks in RANKS:
            result = self.ends_well("info", "columns.h5", ranks=ranks, codes=[0])
            self.assertIn("COLUMN_10000       -        min 9999  max 9999.11", result.out.splitlines()[-1])

    def test_chunks_that_were_never_written_are_not_zero(self):
        with h5py.File(self.folder / "half.h5", "w") as file:
            sky = file.create_dataset("map", (1, 3072), "f8", chunks=(1, 1000))
            sky.attrs.update({"NSIDE": 16, "ORDERING": "RING"})
            sky[0, :2000] = 1
        for ranks in RANKS:
            result = self.ends_well("smooth", "half.h5", "out.h5", "--fwhm", "10deg", "--iter", 0, ranks=ranks,
                                    codes=[DATA])
            self.assertIn("/map is not finished: 2 of its 4 chunks were never written", result.err)

    def test_parts_of_the_sky_that_toast_did_not_write_are_unseen(self):
        with h5py.File(self.folder / "toast.h5", "w") as file:
            sky = file.create_dataset("map", (3, 3072), "f8", chunks=(3, 768))
            sky.attrs.update({"NSIDE": 16, "ORDERING": "NESTED", "UNITS": "K"})
            sky[:, 768:1536] = 1
        for ranks in RANKS:
            self.assertIn("2304 of 3072 pixels were never written", self.done("info", "toast.h5", ranks=ranks).out)
            self.done("convert", "toast.h5", "toast.fits", "--overwrite", ranks=ranks)
            values = read_map(self.folder / "toast.fits")
            self.assertTrue((values[:, 768:1536] == 1).all())
            self.assertTrue(np.isclose(np.delete(values, np.s_[768:1536], 1), UNSEEN).all())


class InputsOfOneNode(Hostile):
    """Another node is a mount namespace of its own, in which a folder is another one."""

    elsewhere = """mount -t tmpfs none "$0" || exit 99
                   exec "$@" """

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        local = cls.folder / "local"
        local.mkdir()
        cls.namespace = ["unshare", "--mount", "sh", "-c", cls.elsewhere, local]
        try:
            usable = subprocess.run([*cls.namespace, "true"], capture_output=True, check=False).returncode == 0
        except OSError:
            usable = False
        if not usable:
            raise unittest.SkipTest("no mount namespaces here")
        (cls.folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} {1 / (l + 1.0)}\n" for l in range(9)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 4, "--save-alm", "alm.h5", "local/sky.h5")
        (local / "points.txt").write_text("0.5 1.5\n0.6 1.6\n")
        with h5py.File(local / "sky.h5") as source, h5py.File(local / "chunks.h5", "w") as file:
            file.create_dataset("map", data=source["map"], chunks=(1, 48)).attrs["NSIDE"] = 4

    def refused(self, *arguments):
        result = program.start([*arguments, ":", "-n", 1, *self.namespace, program.PROGRAM, *arguments, ":", "-n", 1,
                                program.PROGRAM, *arguments], mpmd=True, cwd=self.folder, timeout=3 * SECONDS)
        self.assertEqual(result.code, DATA, str(result))
        self.assertEqual(len(result.messages()), 1, str(result))
        self.assertIn("rank 1: ", result.err)
        self.assertIn("is its folder on a file system that every node sees?", result.err)
        self.assertLess(result.seconds, SECONDS, str(result))

    def test_a_file_that_one_rank_does_not_see_is_an_error_of_all(self):
        self.refused("convert", "local/sky.h5", "out.fits")
        self.refused("convert", "local/chunks.h5", "out.fits")
        self.refused("interpolate", "--alm", "alm.h5", "--points", "local/points.txt", "out.h5")


if __name__ == "__main__":
    program.main()
