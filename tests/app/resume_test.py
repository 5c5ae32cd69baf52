#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--resume keeps whole outputs of the same run, makes broken ones again, and refuses those of another run."""
import json
import shutil

import many_maps_test
import program

import h5py
from astropy.io import fits

import files

UNFINISHED = ".tmp.4711-0123456789abcdef."


def cut(path, size):
    """Cuts a file to its first bytes."""
    path.write_bytes(path.read_bytes()[:size])


class Resumed(many_maps_test.ManyMaps):
    """Maps of two seeds, nside 16, lmax 40."""

    SHAPE = ("--lmax", 40)
    GRIDS = {"h5": ("--nside", 16), "fits": ("--nside", 16), "fits.gz": ("--nside", 16), "nc": ("--grid", "gauss:40")}

    def synthesize(self, suffix, *options, seeds="1..2", cl="cl.txt", **run):
        grid = () if {"--nside", "--grid"} & set(options) else self.GRIDS[suffix]
        shape = () if "--lmax" in options else self.SHAPE
        return self.run_here("synthesize", "--cl", cl, "--seed", seeds, *grid, *shape, *options,
                             f"sky_{{seed}}.{suffix}", **run)

    def path(self, seed, suffix):
        return self.place / f"sky_{seed}.{suffix}"

    def refused(self, result, *words):
        self.assertEqual(len(result.messages()), 1, str(result))
        for word in (*words, "--resume", "--overwrite"):
            self.assertIn(word, result.messages()[0])

    def contents(self):
        return {name: (self.place / name).read_bytes() for name in self.names()}

    def test_a_run_of_other_options_is_refused(self):
        shutil.copy(self.place / "cl.txt", self.place / "other.txt")
        changes = ((("--nside", 32), "healpix:32"), (("--lmax", 30), "--lmax 40"), (("--fields", "T"), "no --fields"),
                   (("--fwhm", "3deg"), "--fwhm 3deg"), (("--precision", "single"), "--precision single"),
                   (("--unit", "K"), "--unit K"))
        for suffix in self.GRIDS:
            self.synthesize(suffix)
            before = self.contents()
            for options, words in changes:
                for ranks in (1, 3) if options[0] == "--lmax" else (1,):
                    with self.subTest(suffix=suffix, options=options, ranks=ranks):
                        result = self.synthesize(suffix, *options, "--resume", code=2, ranks=ranks)
                        self.refused(result, f"sky_1.{suffix}", words, "was made with")
            self.refused(self.synthesize(suffix, "--resume", cl="other.txt", code=2), "--cl cl.txt", "--cl other.txt")
            self.assertEqual(self.contents(), before)

    def test_options_that_do_not_change_a_map_do_not_count(self):
        for suffix in self.GRIDS:
            self.synthesize(suffix)
            for options in (("--threads", 2), ("--batch", 1), ("--progress", "off"), ("--verbose",), ("--dry-run",),
                            ("--machine", "typical"), ("--backend", "host"), ("--report", "report.json"),
                            ("--exchange", "overlap")):
                result = self.synthesize(suffix, *options, "--resume")
                self.assertIn("2 of 2 map(s) are there already, 0 to do", result.out)
            self.assertIn("2 of 2", self.synthesize(suffix, "--resume", cl="./cl.txt", ranks=3).out)
            self.assertIn("2 of 3", self.synthesize(suffix, "--resume", seeds="1..3").out)

    def test_outputs_that_are_empty_or_cut_are_made_again(self):
        for suffix in self.GRIDS:
            self.synthesize(suffix)
            second = self.path(2, suffix)
            whole, before = second.read_bytes(), self.path(1, suffix).read_bytes()
            shutil.copy(second, self.place / f"kept.{suffix}")
            for ranks, content in ((1, b""), (1, whole[:1000]), (3, whole[:2880]), (1, whole[:len(whole) // 2]),
                                   (3, bytes(len(whole)))):
                with self.subTest(suffix=suffix, ranks=ranks, size=len(content)):
                    second.write_bytes(content)
                    result = self.synthesize(suffix, "--resume", "--report", "report.json", ranks=ranks)
                    self.assertIn("1 of 2 map(s) are there already, 1 to do, 1 of them again", result.out)
                    self.assertIn(f"note: --resume: made again: sky_2.{suffix}", result.err)
                    maps = json.loads((self.place / "report.json").read_text())["maps"]
                    self.assertEqual((maps["done"], maps["skipped"], maps["again"]), (1, 1, 1))
                    self.run_here("compare", second.name, f"kept.{suffix}", "--tolerance", 1e-12)
                    self.assertEqual(self.path(1, suffix).read_bytes(), before)

    def test_files_of_others_are_refused(self):
        self.draw(1, "whole.h5")
        values = files.read_map(self.place / "whole.h5")
        files.write_map(self.path(1, "fits"), values)
        with h5py.File(self.path(1, "h5"), "w") as file:
            file["numbers"] = values
        self.path(1, "nc").write_text("words\n")
        before = self.contents()
        for suffix in ("fits", "h5", "nc"):
            for ranks in (1, 3):
                self.refused(self.synthesize(suffix, "--resume", code=2, ranks=ranks), f"sky_1.{suffix}")
        self.assertEqual(self.contents(), before)

    def test_another_seed_or_input_is_refused(self):
        for suffix in ("h5", "fits"):
            self.draw(1, f"sky.{suffix}")
            result = self.draw(2, f"sky.{suffix}", "--resume", code=2)
            self.refused(result, f"sky.{suffix}", "has the seed 1", "seed 2")
            self.assertIn("1 of 1", self.draw(1, f"sky.{suffix}", "--resume").out)
        (self.place / "other").mkdir()
        self.draw(2, "other/sky.h5")
        smooth = ("smoothed_{name}.fits", "--fwhm", "9deg")
        self.run_here("smooth", "sky.h5", *smooth)
        self.refused(self.run_here("smooth", "other/sky.h5", *smooth, "--resume", code=2), "was made of sky.h5")
        other = self.run_here("smooth", "sky.h5", *smooth, "--iter", 1, "--resume", code=2)
        self.refused(other, "no --iter", "--iter 1")
        self.assertIn("1 of 1", self.run_here("smooth", "./sky.h5", *smooth, "--resume").out)
        cut(self.place / "smoothed_sky.fits", 20000)
        self.assertIn("1 of them again", self.run_here("smooth", "sky.h5", *smooth, "--resume").out)
        self.assertIn("1 of 1", self.run_here("smooth", "sky.h5", *smooth, "--resume").out)

    def test_a_lm_count_like_maps(self):
        for kind in ("h5", "fits"):
            save = ("--save-alm", f"alm_{{seed}}.{kind}")
            alm = self.place / f"alm_1.{kind}"
            self.synthesize("h5", *save, "--overwrite")
            shutil.copy(alm, self.place / f"kept.{kind}")
            self.assertIn("2 of 2", self.synthesize("h5", *save, "--resume").out)
            cut(alm, alm.stat().st_size // 2)
            self.assertIn("1 of them again", self.synthesize("h5", *save, "--resume").out)
            self.run_here("compare", alm.name, f"kept.{kind}", "--tolerance", 1e-12)
            self.refused(self.synthesize("h5", "--lmax", 30, *save, "--resume", code=2), "--lmax 40")
            shutil.copy(self.place / "sky_1.h5", self.place / "map_1.h5")
            self.refused(self.synthesize("h5", "--save-alm", "map_{seed}.h5", "--resume", seeds="1", code=2),
                         "map_1.h5", "holds a map")
        with fits.open(self.place / "alm_1.fits") as hdus:
            hdus[:-1].writeto(self.place / "fewer.fits")
        shutil.move(self.place / "fewer.fits", self.place / "alm_1.fits")
        self.assertIn("1 of them again", self.synthesize("h5", "--save-alm", "alm_{seed}.fits", "--resume").out)

    def test_what_a_killed_run_leaves_of_a_gzipped_map_is_removed(self):
        self.synthesize("fits.gz")
        for name in ("sky_1.fits.gz", "sky_2.fits.gz.gz"):
            (self.place / (UNFINISHED + name)).write_text("left over")
        self.assertIn("removed 2 unfinished file(s)", self.synthesize("fits.gz", "--resume").out)
        self.assertFalse([name for name in self.names() if name.startswith(".tmp")])


if __name__ == "__main__":
    program.main()
