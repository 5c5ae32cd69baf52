#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""With any invalid input, option or a full disk, the program ends within 10 s with the exit code of its table (0, 1
compare, 2 usage, 3 data, 4 resource, 5 peer), prints one message with what, where and what to do, and leaves no file.

What the command line and text tables may hold is tested without commands: command_line_test.cpp, angle_test.cpp,
map_list_test.cpp, tests/io/table_file_test.cpp. Here is one command for each kind of error and each file that is read.

RINGWEAVE_RANKS chooses the ranks of every command (default 1 3).
"""
import os
import re
import shutil
import stat
import subprocess
import unittest

import program

program.require("numpy", "h5py", "astropy")
import h5py
import numpy as np
from astropy.io import fits

from files import UNSEEN, write_map

RANKS = [int(n) for n in os.environ.get("RINGWEAVE_RANKS", "1 3").split()]
USAGE, DATA, RESOURCE = 2, 3, 4
SECONDS = 10
NSIDE = 16
N_PIXELS = 12 * NSIDE**2


class BadInput(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.inputs = cls.folder / "in"
        cls.inputs.mkdir()
        cls.rng = np.random.default_rng(1)
        cls.sky = cls.rng.standard_normal((3, N_PIXELS))
        write_map(cls.inputs / "sky.fits", cls.sky)
        lmax = 3 * NSIDE - 1
        degrees = np.arange(lmax + 1)
        cls.table = np.column_stack([degrees, *(1 / (degrees + 1.0) ** 2 * s for s in (1, 0.5, 0.1, 0.2))])
        np.savetxt(cls.inputs / "cl.txt", cls.table, header="l TT EE BB TE")
        cls.done("convert", "in/sky.fits", "in/sky.h5")
        cls.done("analyze", "in/sky.fits", "--iter", 0, "--alm", "in/alm.fits")
        cls.done("analyze", "in/sky.fits", "--iter", 0, "--alm", "in/alm.h5")

    def refuse(self, code, words, *arguments, outputs=(), **options):
        """The command must fail as specified on every number of ranks and leave nothing new.

        words    what the message must mention
        outputs  files that exist before and must not change
        """
        if arguments[0] == "plot" and not program.draws():
            return
        for ranks in RANKS:
            with self.subTest(command=" ".join(map(str, arguments)), ranks=ranks):
                before = self.listing()
                kept = {name: (self.folder / name).read_bytes() for name in outputs}
                result = program.run(arguments, ranks=ranks, cwd=self.folder, timeout=3 * SECONDS, **options)
                left = sorted(set(self.listing()) - set(before))
                for name in left:
                    (self.folder / name).unlink()
                self.assertEqual(result.code, code, str(result))
                self.assertEqual(len(result.messages()), 1, str(result))
                for word in words:
                    self.assertIn(word, result.err, str(result))
                self.assertNotIn(".tmp.", result.err, "a name that is gone")
                self.assertLess(result.seconds, SECONDS, str(result))
                self.assertEqual(left, [], "files were left")
                for name, content in kept.items():
                    self.assertEqual((self.folder / name).read_bytes(), content, f"{name} was changed")

    def listing(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def refuse_map(self, name, words, code=DATA):
        self.refuse(code, [name, *words], "smooth", f"in/{name}", "out.fits", "--fwhm", "10deg", "--iter", 0)

    def cut(self, name, share, result):
        content = (self.inputs / name).read_bytes()
        (self.inputs / result).write_bytes(content[: int(len(content) * share)])


class Files(BadInput):
    def test_missing_file(self):
        for name in ("none.fits", "none.h5"):
            self.refuse_map(name, ["No such file"])
        self.refuse(DATA, ["none.txt", "No such file"], "synthesize", "--cl", "none.txt", "--nside", 8, "out.fits")
        self.refuse(DATA, ["none.fits", "No such file"], "synthesize", "--alm", "none.fits", "--nside", 8, "out.fits")

    def test_directory(self):
        for name in ("folder.fits", "folder.h5", "folder.txt"):
            (self.inputs / name).mkdir()
        self.refuse_map("folder.fits", [])
        self.refuse_map("folder.h5", [])
        self.refuse(DATA, ["folder.txt"], "synthesize", "--cl", "in/folder.txt", "--nside", 8, "out.fits")

    def test_empty_file(self):
        for name in ("empty.fits", "empty.h5", "empty.txt"):
            (self.inputs / name).touch()
        self.refuse_map("empty.fits", [])
        self.refuse_map("empty.h5", [])
        self.refuse(DATA, ["empty.txt"], "synthesize", "--cl", "in/empty.txt", "--nside", 8, "out.fits")
        self.refuse(DATA, ["empty.fits"], "info", "in/empty.fits")

    def test_truncated_file(self):
        for kind in ("fits", "h5"):
            for part, share in enumerate((0.01, 0.6, 0.97)):
                self.cut(f"sky.{kind}", share, f"cut{part}.{kind}")
                self.refuse_map(f"cut{part}.{kind}", [])
            self.cut(f"alm.{kind}", 0.6, f"alm_cut.{kind}")
            self.refuse(DATA, [f"alm_cut.{kind}"], "synthesize", "--alm", f"in/alm_cut.{kind}", "--nside", 8,
                        "out.fits")

    def test_text_that_pretends(self):
        for name in ("text.fits", "text.h5"):
            (self.inputs / name).write_text("not what the name says\n" * 400)
            self.refuse_map(name, [])

    def test_unknown_kind(self):
        self.refuse(USAGE, ["sky.xyz", ".fits"], "smooth", "in/sky.xyz", "out.fits", "--fwhm", "1deg")
        self.refuse(USAGE, ["out.xyz", ".fits"], "smooth", "in/sky.fits", "out.xyz", "--fwhm", "1deg")
        self.refuse(USAGE, ["out.txt"], "smooth", "in/sky.fits", "out.txt", "--fwhm", "1deg")

    def test_wrong_nside(self):
        write_map(self.inputs / "nside.fits", self.sky, NSIDE=2 * NSIDE)
        self.refuse_map("nside.fits", ["NSIDE"])
        write_map(self.inputs / "negative.fits", self.sky, NSIDE=-NSIDE)
        self.refuse_map("negative.fits", ["NSIDE"])
        shutil.copy(self.inputs / "sky.h5", self.inputs / "nside.h5")
        with h5py.File(self.inputs / "nside.h5", "r+") as file:
            file["map"].attrs["NSIDE"] = 2 * NSIDE
            file["crs"].attrs["healpix_nside"] = 2 * NSIDE
        self.refuse_map("nside.h5", [])

    def test_size_that_does_not_match(self):
        write_map(self.inputs / "short.fits", self.sky[:, :-5], NSIDE=None, LASTPIX=None)
        self.refuse_map("short.fits", [])
        write_map(self.inputs / "short_nside.fits", self.sky[:, :-5], NSIDE=NSIDE)
        self.refuse_map("short_nside.fits", [str(N_PIXELS - 5)])
        self.refuse(DATA, ["sky.fits", "alm.fits"], "compare", "in/sky.fits", "in/alm.fits")
        write_map(self.inputs / "small.fits", self.sky[:, :192])
        self.refuse(DATA, ["small.fits", "healpix:4", "healpix:16"], "compare", "in/sky.fits", "in/small.fits")

    def test_too_few_columns(self):
        write_map(self.inputs / "t.fits", self.sky[:1])
        self.refuse(DATA, ["t.fits", "TQU"], "smooth", "in/t.fits", "out.fits", "--fwhm", "1deg", "--fields", "TQU")

    def test_nan_and_infinities(self):
        for bad in (np.nan, np.inf, -np.inf):
            broken = self.sky.copy()
            broken[1, 777] = broken[1, 1000] = bad
            write_map(self.inputs / "bad.fits", broken)
            self.refuse_map("bad.fits", ["777", "2"])
        shutil.copy(self.inputs / "sky.h5", self.inputs / "bad.h5")
        with h5py.File(self.inputs / "bad.h5", "r+") as file:
            file["map"][2, 5] = np.nan
        self.refuse_map("bad.h5", ["U_POLARISATION", "5"])
        self.refuse(DATA, ["bad.h5"], "analyze", "in/bad.h5", "--cl", "out.txt")

    def test_nan_in_alm(self):
        shutil.copy(self.inputs / "alm.h5", self.inputs / "bad_alm.h5")
        with h5py.File(self.inputs / "bad_alm.h5", "r+") as file:
            file["alm/alm"][1, 60] = np.nan
        self.refuse(DATA, ["bad_alm.h5", "component E"], "synthesize", "--alm", "in/bad_alm.h5", "--nside", 8,
                    "out.fits")

    def test_all_pixels_unseen(self):
        write_map(self.inputs / "blind.fits", np.full((3, N_PIXELS), UNSEEN))
        for policy in ("restore", "normalize", "fail"):
            self.refuse(DATA, ["blind.fits", "UNSEEN"], "smooth", "in/blind.fits", "out.fits", "--fwhm", "1deg",
                        "--unseen", policy)
        self.refuse(DATA, ["blind.fits", "UNSEEN"], "analyze", "in/blind.fits", "--cl", "out.txt")

    def test_unseen_pixels_that_must_not_be(self):
        masked = self.sky.copy()
        masked[0, 99] = UNSEEN
        write_map(self.inputs / "masked.fits", masked)
        self.refuse(DATA, ["masked.fits", "UNSEEN"], "smooth", "in/masked.fits", "out.fits", "--fwhm", "1deg",
                    "--unseen", "fail")

    def test_weights(self):
        smooth = ("smooth", "in/sky.fits", "out.fits", "--fwhm", "1deg", "--iter", 0, "--weights")
        self.refuse(DATA, ["weight_ring_n00016.fits", "HEALPIX"], *smooth, "ring", environment={"HEALPIX": ""})
        self.refuse(DATA, ["none.fits"], *smooth, "ring:none.fits")
        self.refuse(DATA, ["none.fits"], *smooth, "pixel:none.fits")
        rings = fits.BinTableHDU.from_columns([fits.Column(name="TEMPERATURE WEIGHTS", format="D", array=np.zeros(64))])
        rings.writeto(self.inputs / "weight_ring_n00032.fits")
        self.refuse(DATA, ["weight_ring_n00032.fits", "32"], *smooth, "ring:in/weight_ring_n00032.fits")
        self.refuse(USAGE, ["cl.txt", "FITS"], *smooth, "ring:in/cl.txt")

    def test_inputs_of_a_dry_run(self):
        """A plan does not need the content of these files; the run it plans does."""
        smooth = ("smooth", "in/sky.fits", "out.fits", "--dry-run")
        for weights in ("ring:none.fits", "pixel:none.fits"):
            self.refuse(DATA, ["none.fits", "No such file"], *smooth, "--fwhm", "1deg", "--weights", weights)
            self.refuse(DATA, ["none.fits", "No such file"], "analyze", "in/sky.fits", "--cl", "out.txt", "--dry-run",
                        "--weights", weights)
        for option in ("--beam", "--kernel"):
            self.refuse(DATA, ["none.txt", "No such file"], *smooth, option, "none.txt")
        synthesize = ("synthesize", "--cl", "in/cl.txt", "--seed", 1, "--nside", 8, "out.fits", "--dry-run")
        self.refuse(DATA, ["none.txt", "No such file"], *synthesize, "--beam", "none.txt")
        self.refuse(DATA, ["none.fits", "No such file"], *synthesize, "--pixel-window", "none.fits")
        self.refuse(DATA, ["none.txt", "No such file"], "plot", "in/cl.txt", "out.png", "--theory", "none.txt",
                    "--dry-run")
        self.refuse(DATA, ["none.txt", "No such file"], "convert", "in/alm.h5", "out.h5", "--beam", "none.txt",
                    "--dry-run")

    def test_beam(self):
        smooth = ("smooth", "in/sky.fits", "out.fits", "--beam")
        (self.inputs / "garbage.txt").write_text("these are\nno numbers\n")
        self.refuse(DATA, ["garbage.txt"], *smooth, "in/garbage.txt")
        self.refuse(DATA, ["none.txt"], *smooth, "none.txt")

    def test_spectra(self):
        synthesize = ("synthesize", "--nside", 8, "--seed", 1, "out.fits", "--cl")
        np.savetxt(self.inputs / "gap.txt", np.delete(self.table, 5, axis=0))
        self.refuse(DATA, ["gap.txt", "5"], *synthesize, "in/gap.txt")
        broken = self.table.copy()
        broken[7, 1] = -1.0
        np.savetxt(self.inputs / "broken.txt", broken, header="l TT EE BB TE")
        self.refuse(DATA, ["broken.txt", "l = 7"], *synthesize, "in/broken.txt")

    def test_nothing_in_a_latitude_band(self):
        synthesize = ("synthesize", "--nside", 8, "--seed", 1, "out.fits", "--cl", "in/cl.txt", "--latitudes")
        self.refuse(USAGE, ["--latitudes"], *synthesize, "0.1deg:0.2deg")


class Options(BadInput):
    smooth = ("smooth", "in/sky.fits", "out.fits")
    synthesize = ("synthesize", "--cl", "in/cl.txt", "--seed", 1, "out.fits")

    def test_angles(self):
        self.refuse(USAGE, ["--fwhm", "unit", "5arcmin"], *self.smooth, "--fwhm", "5")
        self.refuse(USAGE, ["--fwhm", "-5deg"], *self.smooth, "--fwhm=-5deg")
        self.refuse(USAGE, ["--fwhm", "-5deg"], *self.synthesize, "--nside", 8, "--fwhm=-5deg")
        self.refuse(USAGE, ["--fwhm", "--beam"], *self.smooth)

    def test_unknown_options(self):
        self.refuse(USAGE, ["--fwhn"], *self.smooth, "--fwhn", "5deg")

    def test_numbers(self):
        self.refuse(USAGE, ["--nside", "0"], *self.synthesize, "--nside", 0)
        self.refuse(USAGE, ["--grid", "--nside"], *self.synthesize)
        self.refuse(USAGE, ["hexagons:8"], *self.synthesize, "--grid", "hexagons:8")
        self.refuse(USAGE, ["--mmax 9", "--lmax 8"], *self.smooth, "--fwhm", "1deg", "--lmax", 8, "--mmax", 9)
        self.refuse(USAGE, ["--seed", "lucky"], "synthesize", "--cl", "in/cl.txt", "--seed", "lucky", "--nside", 8,
                    "out.fits")

    def test_too_large_for_memory(self):
        self.refuse(RESOURCE, ["lmax = 2000000", "GiB"], *self.smooth, "--fwhm", "1deg", "--lmax", 2000000)
        self.refuse(RESOURCE, ["healpix:32768", "GiB"], *self.synthesize, "--nside", 32768)
        self.refuse(RESOURCE, ["healpix:32768", "GiB"], *self.synthesize, "--nside", 32768, "--dry-run")

    def test_configuration(self):
        config = self.inputs / "job.toml"
        config.write_text('fwhm = "1deg"\nfwhn = "2deg"\n')
        self.refuse(USAGE, ["fwhn"], *self.smooth, "--config", "in/job.toml")
        config.write_text("fwhm = 5\n")
        self.refuse(USAGE, ["--fwhm", "unit"], *self.smooth, "--config", "in/job.toml")

    def test_what_this_build_lacks(self):
        """Features that --help calls missing are refused."""
        text = " ".join(self.done("smooth", "--help").out.split())
        found = re.findall(r"(--\w+) [\w|]+ (?:(?! --\w).)*?Not in this build: ([\w, ]+)\.", text)
        for option, values in found:
            for value in values.split(", "):
                self.refuse(USAGE, [f"{option} {value}", "this build does not have it; use"], *self.smooth, "--fwhm",
                            "1deg", option, value)

    def test_contradictions(self):
        self.refuse(USAGE, ["--cl", "--alm"], "synthesize", "--nside", 8, "out.fits")
        self.refuse(USAGE, ["--seed"], "synthesize", "--alm", "in/alm.fits", "--seed", 1, "--nside", 8, "out.fits")
        self.refuse(USAGE, ["--alm", "--cl"], "analyze", "in/sky.fits")
        self.refuse(USAGE, ["--weights"], "analyze", "in/sky.fits", "--cl", "out.txt", "--weights", "heavy")

    def test_plot(self):
        self.refuse(USAGE, ["out.jpg"], "plot", "in/sky.fits", "out.jpg")
        self.refuse(USAGE, ["--field", "columns 0 to 2"], "plot", "in/sky.fits", "out.png", "--field", 3)
        self.refuse(USAGE, ["--range"], "plot", "in/sky.fits", "out.png", "--range", "3:1")


class Launched(BadInput):
    """A launch ends with the code of the error, too (others: FullDisk)."""

    def test_exit_codes(self):
        self.cut("sky.h5", 0.6, "cut.h5")
        smooth = ("smooth", "in/sky.fits", "out.fits", "--fwhm")
        self.refuse(USAGE, ["--fwhm", "unit"], *smooth, "5", launched=True)
        self.refuse(USAGE, ["--nside", "0"], "synthesize", "--cl", "in/cl.txt", "--seed", 1, "out.fits", "--nside", 0,
                    launched=True)
        self.refuse(USAGE, ["less than 1"], *smooth, "20deg", "--method", "ring", "--error", 2, launched=True)
        self.refuse(DATA, ["none.h5"], "smooth", "in/none.h5", "out.h5", "--fwhm", "1deg", launched=True)
        self.refuse(DATA, ["cut.h5"], "smooth", "in/cut.h5", "out.h5", "--fwhm", "1deg", launched=True)
        self.refuse(DATA, ["none.fits"], *smooth, "1deg", "--weights", "pixel:none.fits", launched=True)
        self.refuse(RESOURCE, ["GiB"], *smooth, "1deg", "--lmax", 2000000, launched=True)
        self.refuse(USAGE, ["none/out.fits"], "smooth", "in/sky.fits", "none/out.fits", "--fwhm", "1deg", launched=True)
        write_map(self.inputs / "other.fits", 2 * self.sky)
        for ranks in RANKS:
            self.done("compare", "in/sky.fits", "in/sky.h5", ranks=ranks, launched=True)
            self.done("compare", "in/sky.fits", "in/other.fits", ranks=ranks, code=1, launched=True)
            self.done("compare", "in/alm.fits", "in/sky.h5", ranks=ranks, code=DATA, launched=True)


class Rings(BadInput):
    """`smooth --method ring` refuses impossible requests, or errors it cannot reach."""

    smooth = ("smooth", "in/sky.fits", "out.fits", "--method", "ring")
    of_t = (*smooth, "--fields", "T")
    wide = ("--fwhm", "20deg")

    def test_fields_with_spin(self):
        self.refuse(USAGE, ["--iter", "no meaning with --method ring"], *self.smooth, "--fields", "TQU", *self.wide,
                    "--iter", 1)
        self.refuse(USAGE, ["--remove"], *self.smooth, "--fields", "all", "--remove", "dipole", *self.wide)

    def test_options_of_a_transform(self):
        for option, value in (("--iter", 3), ("--tol", 1e-3), ("--weights", "ring"), ("--lmax", 10), ("--mmax", 10),
                              ("--exchange", "single")):
            self.refuse(USAGE, [option, "no meaning with --method ring"], *self.of_t, *self.wide, option, value)

    def test_options_of_rings_elsewhere(self):
        for option, value in (("--support", "1deg"), ("--input-cl", "in/cl.txt"), ("--error", 1e-4)):
            self.refuse(USAGE, [option, "--method ring"], "smooth", "in/sky.fits", "out.fits", *self.wide, option, value)
        for option, value in (("--error", 1e-4), ("--input-cl", "in/cl.txt")):
            self.refuse(USAGE, [option, "cuts no kernel"], "smooth", "in/sky.fits", "out.fits", *self.wide, "--method",
                        "harmonic", option, value)

    def test_error(self):
        for error in ("2", "1e-15"):
            self.refuse(USAGE, ["--error", "less than 1"], *self.of_t, *self.wide, "--error", error)
        self.refuse(USAGE, ["--error 1e-09", "--precision double"], *self.of_t, *self.wide, "--error", 1e-9, "--precision",
                    "single")

    def test_support(self):
        self.refuse(USAGE, ["--support", "unit"], *self.of_t, *self.wide, "--support", 5)
        for support in ("0deg", "200deg"):
            self.refuse(USAGE, [f"--support {support}", "180deg"], *self.of_t, *self.wide, "--support", support)
        self.refuse(USAGE, ["--support 10deg", "--error 1e-05", "would do"], *self.of_t, *self.wide, "--support", "10deg",
                    "--error", 1e-5)

    def test_kernels(self):
        self.refuse(USAGE, ["--fwhm", "--beam", "--kernel"], *self.of_t)
        self.refuse(USAGE, ["--fwhm 0deg", "--method harmonic"], *self.of_t, "--fwhm", "0deg")
        self.refuse(USAGE, ["narrower than the pixels", "--method harmonic"], *self.of_t, "--fwhm", "20arcmin")
        for name, text, code, words in (("descending", "0 1\n0.2 1\n0.1 1\n", DATA, "line 3"),
                                        ("zero", "0 0\n0.1 0\n", USAGE, "all values are 0")):
            (self.inputs / f"{name}.txt").write_text(text)
            self.refuse(code, [words], *self.of_t, "--kernel", f"in/{name}.txt")
        (self.inputs / "beam.txt").write_text("0 0\n1 0\n")
        self.refuse(USAGE, ["all values are 0"], *self.of_t, "--beam", "in/beam.txt")
        self.refuse(DATA, ["none.txt"], *self.of_t, "--kernel", "none.txt")

    def test_spectrum(self):
        self.refuse(DATA, ["none.txt"], *self.of_t, *self.wide, "--input-cl", "none.txt")
        (self.inputs / "nothing.txt").write_text("# l TT\n0 0\n1 0\n")
        self.refuse(USAGE, ["zero everywhere"], *self.of_t, *self.wide, "--input-cl", "in/nothing.txt")


class Outputs(BadInput):
    smooth = ("smooth", "in/sky.fits", "--fwhm", "10deg", "--iter", 0)

    def test_existing_output(self):
        for name in ("old.fits", "old.h5"):
            (self.folder / name).write_text("precious")
            self.refuse(USAGE, [name, "--overwrite"], *self.smooth, name, outputs=[name])
        (self.folder / "old.json").write_text("precious")
        self.refuse(USAGE, ["old.json", "--overwrite"], *self.smooth, "out.fits", "--report", "old.json",
                    outputs=["old.json"])
        analyze = ("analyze", "in/sky.fits", "--iter", 0)
        synthesize = ("synthesize", "--cl", "in/cl.txt", "--seed", 1, "--nside", 8)
        self.refuse(USAGE, ["old.fits", "--overwrite"], *analyze, "--alm", "old.fits", "--cl", "out.txt",
                    outputs=["old.fits"])
        (self.folder / "old.txt").write_text("precious")
        self.refuse(USAGE, ["old.txt", "--overwrite"], *analyze, "--alm", "out.fits", "--cl", "old.txt",
                    outputs=["old.txt"])
        self.refuse(USAGE, ["old.h5", "--overwrite"], *synthesize, "out.fits", "--save-alm", "old.h5",
                    outputs=["old.h5"])
        self.refuse(USAGE, ["old.h5", "--overwrite"], "convert", "in/sky.fits", "old.h5", outputs=["old.h5"])
        (self.folder / "old.png").write_text("precious")
        self.refuse(USAGE, ["old.png", "--overwrite"], "plot", "in/sky.fits", "old.png", outputs=["old.png"])

    def test_two_outputs_of_one_name(self):
        analyze = ("analyze", "in/sky.fits", "--iter", 0)
        synthesize = ("synthesize", "--cl", "in/cl.txt", "--seed", 1, "--nside", 8)
        self.refuse(USAGE, ["same.h5", "two outputs"], *analyze, "--alm", "same.h5", "--cl", "same.h5")
        self.refuse(USAGE, ["same.h5", "two outputs"], *analyze, "--alm", "same.h5", "--cl", "in/../same.h5",
                    "--overwrite")
        self.refuse(USAGE, ["same.h5", "two outputs"], *synthesize, "same.h5", "--save-alm", "./same.h5")
        self.refuse(USAGE, ["same.txt", "two outputs"], *analyze, "--cl", "same.txt", "--report", "same.txt")
        (self.folder / "kept.h5").write_text("precious")
        os.symlink("kept.h5", self.folder / "link.h5")
        self.refuse(USAGE, ["link.h5", "two outputs"], *synthesize, "kept.h5", "--save-alm", "link.h5", "--overwrite",
                    outputs=["kept.h5"])

    def test_a_kind_that_cannot_hold_the_output_is_refused_before_any_work(self):
        for command in (("analyze", "none.fits", "--alm", "out.txt"), ("smooth", "none.fits", "out.png", "--fwhm", "1deg"),
                        ("analyze", "none.fits", "--cl", "out.png")):
            self.refuse(USAGE, ["out."], *command)

    def test_an_error_keeps_the_old_output(self):
        (self.folder / "kept.fits").write_text("precious")
        self.cut("sky.fits", 0.6, "cut.fits")
        self.refuse(DATA, ["cut.fits"], "smooth", "in/cut.fits", "kept.fits", "--fwhm", "1deg", "--overwrite",
                    outputs=["kept.fits"])

    def test_input_as_output(self):
        self.refuse(USAGE, ["in/sky.fits"], "smooth", "in/sky.fits", "in/sky.fits", "--fwhm", "1deg",
                    outputs=["in/sky.fits"])

    def test_unwritable_folder(self):
        (self.folder / "file").touch()
        for name in ("none/out.fits", "file/out.fits"):
            self.refuse(USAGE, [name], *self.smooth, name)
        for name in ("/proc/out.fits", "/proc/out.h5"):
            self.refuse(RESOURCE, [name], *self.smooth, name)
        self.refuse(USAGE, ["none/out.txt"], "analyze", "in/sky.fits", "--iter", 0, "--cl", "none/out.txt")
        self.refuse(RESOURCE, ["/proc/out.png"], "plot", "in/sky.fits", "/proc/out.png")
        self.refuse(RESOURCE, ["/proc/out.json"], *self.smooth, "out.fits", "--report", "/proc/out.json")
        (self.folder / "folder.fits").mkdir()
        self.refuse(USAGE, ["folder.fits", "folder"], *self.smooth, "folder.fits")

    def test_forbidden_folder(self):
        (self.folder / "forbidden").mkdir(mode=0o555)
        for name in ("forbidden/out.fits", "forbidden/out.h5"):
            self.refuse(RESOURCE, [name], *self.smooth, name, prefix=program.without_rights_of_root())

    def test_forbidden_input(self):
        for kind in ("fits", "h5"):
            name = f"in/secret.{kind}"
            shutil.copy(self.inputs / f"sky.{kind}", self.folder / name)
            (self.folder / name).chmod(0)
            self.refuse(DATA, [name], "smooth", name, "out.fits", "--fwhm", "1deg",
                        prefix=program.without_rights_of_root())

    def test_devices_and_pipes(self):
        os.mkfifo(self.folder / "pipe.fits")
        os.symlink("/dev/null", self.folder / "null.h5")
        for name in ("/dev/null", "/dev/full", "pipe.fits", "null.h5"):
            for extra in ((), ("--overwrite",)):
                self.refuse(USAGE, [name, "device"], *self.smooth, name, *extra)
        self.assertTrue(stat.S_ISFIFO((self.folder / "pipe.fits").stat().st_mode))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.refuse(USAGE, ["/dev/null"], *self.smooth, "out.fits", "--report", "/dev/null", "--overwrite")

    def test_a_pipe_as_input_does_not_block(self):
        os.mkfifo(self.folder / "source.fits")
        self.refuse(DATA, ["source.fits"], "smooth", "source.fits", "out.fits", "--fwhm", "1deg")


class FullDisk(BadInput):
    """Outputs that do not fit: a limit on file sizes, and a full file system."""

    limit = 16 * 1024

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.done("alm", "in/alm.fits", "in/t_alm.fits", "--take", "T")

    def commands(self):
        return {
            "out.fits": ("smooth", "in/sky.fits", "out.fits", "--fwhm", "10deg", "--iter", 0),
            "out.h5": ("smooth", "in/sky.fits", "out.h5", "--fwhm", "10deg", "--iter", 0),
            "alm.fits": ("analyze", "in/sky.fits", "--iter", 0, "--alm", "alm.fits"),
            "alm.h5": ("analyze", "in/sky.fits", "--iter", 0, "--alm", "alm.h5"),
            "out.fits.gz": ("smooth", "in/sky.fits", "out.fits.gz", "--fwhm", "10deg", "--iter", 0),
            "out.png": ("plot", "in/sky.fits", "out.png"),
            "out.pdf": ("plot", "in/sky.fits", "out.pdf"),
            "table.txt": ("convert", "in/t_alm.fits", "table.txt", "--normalisation", "4pi"),
            "sky.fits": ("synthesize", "--alm", "in/alm.fits", "--nside", NSIDE, "sky.fits"),
            "sky.h5": ("synthesize", "--alm", "in/alm.fits", "--nside", NSIDE, "sky.h5"),
            "copy.fits": ("convert", "in/sky.h5", "copy.fits"),
            "copy.h5": ("convert", "in/sky.fits", "copy.h5"),
            "alm_copy.h5": ("convert", "in/alm.fits", "alm_copy.h5"),
        }

    def test_file_size_limit(self):
        for name, command in self.commands().items():
            self.refuse(RESOURCE, [name], *command, file_limit=self.limit)
        self.refuse(RESOURCE, ["cl.txt"], "analyze", "in/sky.fits", "--iter", 0, "--cl", "cl.txt", file_limit=1024)
        self.refuse(RESOURCE, ["out.json"], "info", "in/sky.fits", "--report", "out.json", file_limit=1024)

    def test_an_output_that_does_not_fit_takes_the_others_with_it(self):
        analyze = ("analyze", "in/sky.fits", "--iter", 0)
        synthesize = ("synthesize", "--cl", "in/cl.txt", "--seed", 1, "--fields", "T", "--nside", NSIDE, "--lmax", 20)
        # The others stay below the limits.
        self.refuse(RESOURCE, ["alm.fits"], *analyze, "--lmax", 4, "--alm", "alm.fits", "--cl", "cl.h5",
                    "--report", "report.json", file_limit=20 * 1024)
        self.refuse(RESOURCE, ["map.h5"], *synthesize, "--save-alm", "alm.fits", "map.h5", file_limit=24 * 1024)
        self.refuse(RESOURCE, ["report.json"], *analyze, "--lmax", 4, "--cl", "cl.txt", "--report", "report.json",
                    file_limit=1536)

    def test_old_output_survives_a_full_disk(self):
        for name in ("kept.h5", "kept.fits"):
            (self.folder / name).write_text("precious")
        self.refuse(RESOURCE, ["kept.h5"], "smooth", "in/sky.fits", "kept.h5", "--fwhm", "10deg", "--iter", 0,
                    "--overwrite", file_limit=self.limit, outputs=["kept.h5"])
        self.refuse(RESOURCE, ["kept.h5"], "synthesize", "--cl", "in/cl.txt", "--seed", 1, "--fields", "T", "--nside",
                    NSIDE, "--lmax", 20, "--save-alm", "kept.fits", "kept.h5", "--overwrite", file_limit=24 * 1024,
                    outputs=["kept.h5", "kept.fits"])

    def test_full_file_system(self):
        """Runs in a mount namespace of its own, so that nothing stays mounted."""
        disk = self.folder / "disk"
        disk.mkdir()
        script = """mount -t tmpfs -o size=16k none "$0" || exit 99
                    "$@"
                    code=$?
                    [ -z "$(ls -A "$0")" ] || exit 98
                    exit $code"""
        namespace = ["unshare", "--mount", "bash", "-c", script, disk]
        try:
            usable = subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode == 0
        except OSError:
            usable = False
        if not usable:
            self.skipTest("no mount namespaces here")
        for name, command in self.commands().items():
            command = [f"disk/{part}" if part == name else part for part in command]
            self.refuse(RESOURCE, [name], *command, prefix=namespace)


class Comparison(BadInput):
    def test_exit_codes(self):
        for ranks in RANKS:
            self.done("compare", "in/sky.fits", "in/sky.h5", ranks=ranks)
            self.done("compare", "in/alm.fits", "in/alm.h5", "--tolerance", 1e-15, ranks=ranks)
        other = self.sky.copy()
        other[2, 17] += 1e-3
        write_map(self.inputs / "other.fits", other)
        other[2, 17] = UNSEEN
        write_map(self.inputs / "holes.fits", other)
        for ranks in RANKS:
            self.done("compare", "in/sky.fits", "in/other.fits", ranks=ranks, code=1)
            self.done("compare", "in/sky.fits", "in/other.fits", "--tolerance", 1e-2, ranks=ranks)
            self.done("compare", "in/sky.fits", "in/holes.fits", "--tolerance", 1e-2, ranks=ranks, code=1)
        self.refuse(DATA, ["different things"], "compare", "in/sky.fits", "in/cl.txt")

    def test_what_is_not_a_number_is_not_equal(self):
        """Not even to itself, nor within any tolerance."""
        broken = self.sky.copy()
        broken[1, [5, 7]] = np.nan, np.inf
        write_map(self.inputs / "nan.fits", broken)
        shutil.copy(self.inputs / "alm.h5", self.inputs / "nan_alm.h5")
        with h5py.File(self.inputs / "nan_alm.h5", "r+") as file:
            file["alm/alm"][1, 60] = np.nan
        for ranks in RANKS:
            for a, b in (("nan.fits", "nan.fits"), ("sky.fits", "nan.fits"), ("nan.fits", "sky.fits")):
                result = self.done("compare", f"in/{a}", f"in/{b}", "--tolerance", 1e9, ranks=ranks, code=1)
                self.assertIn("Q_POLARISATION: NaN or infinite at", result.out)
                self.assertIn(f"{2 if a == 'nan.fits' else 0} places of in/{a}", result.out)
            result = self.done("compare", "in/nan_alm.h5", "in/nan_alm.h5", ranks=ranks, code=1)
            self.assertIn("E: NaN or infinite", result.out)


if __name__ == "__main__":
    program.main()
