#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What SECURITY.md says never happens: commands need no network, write nothing but the outputs they are given, start no
other program, take a name for a name, and load no code from the current folder.

Commands run in a folder that holds their home, their temporary files and their data, without any network but that of
processes of one machine.
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import program

SPECTRUM = pathlib.Path(__file__).resolve().parents[2] / "examples/lcdm_cl.txt"
USAGE, DATA = 2, 3
RANKS = (1, 2)

# Ranks of one machine may need its loopback interface, which a new namespace has switched off.
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""
AS_ROOT = [] if os.geteuid() == 0 else ["--map-root-user"]
NO_NETWORK = ["unshare", "--net", *AS_ROOT, sys.executable, "-c", LOOPBACK_UP]

# Functions of the C library by which a program starts others.
STARTS_OTHERS = re.compile(r"^(system|popen|wordexp|exec[lv]p?e?|execveat|fexecve|posix_spawnp?)$")


def can_leave_the_network():
    try:
        return subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class Sandbox(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = {}
        for variable, name in (("HOME", "home"), ("TMPDIR", "temporary"), ("XDG_CACHE_HOME", "cache"), ("", "data")):
            (cls.folder / name).mkdir()
            if variable:
                cls.environment[variable] = str(cls.folder / name)
        cls.data = cls.folder / "data"
        cls.ran("synthesize", "--cl", SPECTRUM, "--seed", 1, "--nside", 16, "--lmax", 32, "sky.h5",
                "--save-alm", "alm.h5")
        cls.ran("convert", "sky.h5", "sky.fits")

    @classmethod
    def ran(cls, *arguments, ranks=1, code=0, prefix=(), environment=None):
        result = program.start(arguments, ranks=ranks, cwd=cls.data, prefix=prefix,
                               environment={**cls.environment, **(environment or {})})
        if result.code != code:
            raise AssertionError(f"expected exit code {code} of {' '.join(map(str, arguments))}\n{result}")
        return result

    def files(self):
        """Returns what is in the sandbox: the contents of files, None for folders and others."""
        return {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
                for path in self.folder.rglob("*")}

    def check_writes(self, outputs, *arguments, ranks=1, code=0, **options):
        """Checks that the command changes nothing but makes the outputs, which are removed again."""
        with self.subTest(command=" ".join(map(str, arguments)), ranks=ranks):
            before = self.files()
            self.ran(*arguments, ranks=ranks, code=code, **options)
            after = self.files()
            self.assertEqual(sorted(after.keys() - before.keys()), sorted(f"data/{name}" for name in outputs))
            self.assertEqual([name for name, content in before.items() if after.get(name, "gone") != content], [])
            for name in outputs:
                (self.data / name).unlink()


class Commands(Sandbox):
    def commands(self):
        """Returns the names of outputs and the command of each kind of output."""
        spectrum = ("--cl", SPECTRUM, "--seed", 1, "--lmax", 32)
        commands = [
            (("new.fits", "new_alm.fits"),
             ("synthesize", *spectrum, "--nside", 16, "new.fits", "--save-alm", "new_alm.fits")),
            (("new.h5", "new.json"), ("smooth", "sky.h5", "new.h5", "--fwhm", "5deg", "--report", "new.json")),
            (("new.h5",), ("analyze", "sky.fits", "--iter", 0, "--alm", "new.h5")),
            (("new.txt",), ("analyze", "sky.h5", "--iter", 0, "--cl", "new.txt")),
            (("new.fits",), ("convert", "sky.h5", "new.fits")),
            (("new.h5",), ("alm", "alm.h5", "new.h5", "--lmax", 8)),
            ((), ("smooth", "sky.h5", "new.h5", "--fwhm", "5deg", "--dry-run")),
            ((), ("info", "sky.fits")),
            ((), ("compare", "sky.h5", "sky.fits")),
            ((), ("--version",)),
        ]
        if program.draws():
            commands.append((("new.png",), ("plot", "sky.h5", "new.png")))
        return commands

    def test_they_write_their_outputs_and_nothing_else(self):
        for ranks in RANKS:
            for outputs, command in self.commands():
                self.check_writes(outputs, *command, ranks=ranks)

    def test_they_need_no_network(self):
        if not can_leave_the_network():
            self.skipTest("no network namespaces here")
        for ranks in RANKS:
            for outputs, command in self.commands()[:4]:
                self.check_writes(outputs, *command, ranks=ranks, prefix=NO_NETWORK)

    def test_those_that_are_refused_write_nothing(self):
        for ranks in RANKS:
            self.check_writes((), "smooth", "none.h5", "new.h5", "--fwhm", "5deg", ranks=ranks, code=DATA)
            self.check_writes((), "smooth", "sky.h5", "sky.fits", "--fwhm", "5deg", ranks=ranks, code=USAGE)


class Names(Sandbox):
    def test_a_name_is_never_an_address_a_command_or_a_filter(self):
        for name in ("http://localhost/sky.fits", "ftp://localhost/sky.fits", "root://localhost/sky.fits",
                     "mem://sky.fits", "|cat sky.fits", "sh://cat sky.fits", "$(touch new).fits", "`touch new`.fits", "sky.fits[1]",
                     "sky.fits(new.fits)"):
            self.check_writes((), "info", name, code=DATA)

    def test_an_output_has_the_name_that_it_is_given(self):
        for name in ("; touch new .h5", "$(touch new).fits", "!sky.fits", "sky[1].fits", "new file\n.h5", "-.fits"):
            self.check_writes((name,), "convert", "--", "sky.h5", name)


class Code(Sandbox):
    def test_the_program_cannot_start_others(self):
        listing = subprocess.run(["readelf", "-W", "--dyn-syms", program.PROGRAM], capture_output=True, text=True,
                                 check=True).stdout
        imported = set(re.findall(r" UND (\w+)", listing))
        self.assertGreater(len(imported), 50)
        self.assertEqual(sorted(filter(STARTS_OTHERS.match, imported)), [])

    def test_libraries_and_plug_ins_of_the_current_folder_are_not_loaded(self):
        listing = subprocess.run(["readelf", "-dW", program.PROGRAM], capture_output=True, text=True, check=True).stdout
        libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", listing)
        self.assertGreater(len(libraries), 5)
        names = [*libraries, "libcufft.so.11", "libcufft.so.12", "libcuda.so.1"]
        for name in names:
            (self.data / name).write_bytes(b"no library")
        (self.data / "plug_in.so").write_bytes(b"no library")
        for environment in ({}, {"HDF5_PLUGIN_PATH": "."}, {"HDF5_PLUGIN_PATH": str(self.data)}):
            self.check_writes((), "info", "sky.h5", environment=environment)
            self.check_writes(("new.h5",), "smooth", "sky.h5", "new.h5", "--fwhm", "5deg", environment=environment)


if __name__ == "__main__":
    program.main()
