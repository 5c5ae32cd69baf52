#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a computer cannot give, and names and texts from outside: too many threads, absurd sizes, pipes to which nobody
writes, a full or closed stdout, control characters, names that are not UTF-8, inputs as outputs. Each ends with one
message and the exit code of its kind, and soon.
"""
import json
import os
import threading
import unittest

import program

USAGE, DATA, RESOURCE = 2, 3, 4
SECONDS = 10
SANITIZED = "RINGWEAVE_SANITIZED" in os.environ
NOT_UTF8 = os.fsdecode(b"out\xe9.h5")  # Latin-1


def redirected(redirection):
    """Returns a prefix that starts the program with a redirection of a shell."""
    return ["bash", "-c", f'exec "$0" "$@" {redirection}']


class Limits(program.ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "cl.txt").write_text("# l TT\n" + "".join(f"{l} {1 / (l + 1.0)}\n" for l in range(12)))
        cls.done("synthesize", "--cl", "cl.txt", "--seed", 1, "--nside", 4, "sky.h5", "--unit", "\x1b[2JK")
        cls.done("convert", "sky.h5", "sky.fits")

    def refuse(self, code, words, *arguments, ranks=1, **options):
        """The command must end with this code and one message that has these words, in time."""
        with self.subTest(command=" ".join(map(str, arguments))[:200], ranks=ranks, **options):
            result = program.run(arguments, ranks=ranks, cwd=self.folder, timeout=3 * SECONDS, **options)
            self.assertEqual(result.code, code, str(result))
            self.assertEqual(len(result.messages()), 1, str(result))
            for word in words:
                self.assertIn(word, result.err)
            self.assertLess(result.seconds, SECONDS, str(result))
            return result


class Threads(Limits):
    def test_more_than_there_is_use_for(self):
        self.refuse(USAGE, ["--threads: 100000"], "info", "sky.h5", "--threads", 100000)
        self.refuse(USAGE, ["--threads 60000: expected at most"], "info", "sky.h5", "--threads", 60000)
        many = {"OMP_NUM_THREADS": "100000"}
        for ranks in (1, 3):
            self.refuse(USAGE, ["OMP_NUM_THREADS=100000: expected at most"], "info", "sky.h5", ranks=ranks,
                        environment=many)
        self.refuse(USAGE, ["OMP_NUM_THREADS=400,400"], "info", "sky.h5", environment={"OMP_NUM_THREADS": "400,400"})

    def test_a_variable_that_is_no_number(self):
        for value in ("many", "0", "2,"):
            self.refuse(USAGE, [f"OMP_NUM_THREADS={value}: expected a number"], "info", "sky.h5",
                        environment={"OMP_NUM_THREADS": value})
        self.done("info", "sky.h5", environment={"OMP_NUM_THREADS": "2,1"})
        self.done("info", "sky.h5", environment={"OMP_NUM_THREADS": ""})

    def test_threads_of_another_computer_are_not_started(self):
        result = self.done("model", "--nside", 16, "--ranks", 1, "--threads", 20000)
        self.assertIn("20000 thread(s) a rank", result.out)

    def test_stacks_that_no_thread_can_have(self):
        two = {"OMP_NUM_THREADS": "2"}
        self.refuse(RESOURCE, ["OMP_NUM_THREADS=2", "OMP_STACKSIZE=1000000G"], "info", "sky.h5",
                    environment={**two, "OMP_STACKSIZE": "1000000G"})
        self.refuse(RESOURCE, ["stacks of 64.0 KiB (OMP_STACKSIZE=64)"], "info", "sky.h5",
                    environment={**two, "OMP_STACKSIZE": "64"})

    @unittest.skipIf(SANITIZED, "sanitizers need larger stacks")
    def test_a_small_stack_of_the_process(self):
        self.refuse(RESOURCE, ["stacks of 128.0 KiB (ulimit -s)"], "info", "sky.h5",
                    prefix=["prlimit", f"--stack={128 << 10}"])


class Sizes(Limits):
    def test_grids(self):
        synthesize = ("synthesize", "--cl", "cl.txt", "out.h5")
        self.refuse(USAGE, ["--nside: 20000000", "131072"], *synthesize, "--nside", 20000000)
        for name in ("gauss:10000000", "fejer:10000000", "clenshaw:10000000"):
            self.refuse(USAGE, [name, "1048576"], *synthesize, "--grid", name)
        for command in (("split", "--fwhm", "1deg", "--lmax", 9), ("jobs", "cpu_node"), ("calibrate",),
                        ("smooth", "sky.h5", "out.h5", "--fwhm", "1deg"), ("model",)):
            self.refuse(USAGE, ["--nside"], *command, "--nside", 20000000)

    def test_degrees_and_iterations(self):
        smooth = ("smooth", "sky.h5", "out.h5", "--fwhm", "1deg")
        self.refuse(USAGE, ["--iter"], *smooth, "--iter", 2147483647)
        self.refuse(USAGE, ["--lmax"], *smooth, "--lmax", 2147483647)

    def test_plans_of_the_largest_grids(self):
        """They take seconds at most, whether the maps fit or not."""
        synthesize = ("synthesize", "--cl", "cl.txt", "out.h5", "--lmax", 11, "--dry-run")
        n_rings = 1 << (18 if SANITIZED else 20)
        for grid in ("healpix:131072", f"gauss:{n_rings - 1}", f"fejer:{n_rings}", f"clenshaw:{n_rings}"):
            self.refuse(RESOURCE, ["do not fit"], *synthesize, "--grid", grid)
        self.done("model", "--nside", 2048 if SANITIZED else 32768, "--ranks", 1024, timeout=3 * SECONDS)


class ConfigurationFiles(Limits):
    def test_a_pipe_to_which_nobody_writes(self):
        os.mkfifo(self.folder / "silent")
        self.refuse(USAGE, ["--config silent", "pipe"], "info", "sky.h5", "--config", "silent")

    def test_pipes_with_a_writer(self):
        self.refuse(USAGE, ["line 1: --threads"], "info", "sky.h5", "--config", "/dev/fd/9",
                    prefix=redirected("9< <(echo threads = 0)"))
        os.mkfifo(self.folder / "told")
        writer = threading.Thread(target=(self.folder / "told").write_text, args=("threads = 0\n",))
        writer.start()
        self.refuse(USAGE, ["told, line 1: --threads"], "info", "sky.h5", "--config", "told")
        writer.join()

    def test_what_is_no_configuration(self):
        self.refuse(USAGE, ["--config /dev/zero", "neither a file nor a pipe"], "info", "sky.h5", "--config",
                    "/dev/zero")
        self.refuse(USAGE, ["--config none", "No such file"], "info", "sky.h5", "--config", "none")
        (self.folder / "large").write_bytes(b"#" * 300000)
        self.refuse(USAGE, ["--config large", "256 KiB"], "info", "sky.h5", "--config", "large")
        (self.folder / "deep").write_text(f"[a{'.a' * 20000}]\nlmax = 3\n")
        self.refuse(USAGE, ["deep, line 1", "unknown table"], "info", "sky.h5", "--config", "deep")

    def test_without_permission(self):
        (self.folder / "secret.txt").write_text("sky.h5\n")
        (self.folder / "secret.txt").chmod(0)
        for code, command in ((USAGE, ("info", "sky.h5", "--config", "secret.txt")),
                              (DATA, ("smooth", "--maps", "secret.txt", "out_{name}.h5", "--fwhm", "1deg")),
                              (DATA, ("info", "secret.txt"))):
            self.refuse(code, ["secret.txt", "Permission denied"], *command, prefix=program.without_rights_of_root())


class Lists(Limits):
    def test_lists_that_are_no_files(self):
        os.mkfifo(self.folder / "names")
        for name in ("names", "/dev/zero"):
            self.refuse(DATA, [name, "regular file"], "smooth", "--maps", name, "out_{name}.h5", "--fwhm", "1deg")

    def test_long_words(self):
        long = "a" * 100000
        for option in ("--account", "--partition"):
            self.refuse(USAGE, [option, "100000 letters"], "jobs", "cpu_node", "--nside", 64, option, long)
        (self.folder / "long.toml").write_text(f'account = "{long}"\n')
        self.refuse(USAGE, ["--account"], "jobs", "cpu_node", "--nside", 64, "--config", "long.toml")
        self.refuse(USAGE, ["--time"], "jobs", "cpu_node", "--nside", 64, "--time", long)
        self.refuse(USAGE, ["no option of this name"], "info", "sky.h5", "--" + long)
        self.refuse(DATA, ["File name too long"], "info", "sky.h5", "--machine", long)


class Names(Limits):
    def test_names_that_are_not_utf8(self):
        """They are written as they are, shown with \\xe9, and stand in JSON with a replacement."""
        self.done("convert", "sky.fits", NOT_UTF8, launched=True)
        result = self.done("info", NOT_UTF8, "--report", "report.json", launched=True)
        self.assertIn("out\\xe9.h5: map", result.out)
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        self.assertIn("out\ufffd.h5", report["command_line"])
        self.done("model", "--nside", 4, "--ranks", 1, "--json", os.fsdecode(b"m\xe9.json"), launched=True)
        result = self.done("convert", os.fsdecode(b"none\xe9.h5"), "copy.h5", code=DATA, launched=True)
        self.assertIn("none\\xe9.h5: cannot be read", result.err)

    def test_control_characters_of_files_do_not_reach_the_terminal(self):
        self.assertIn("\\x1b[2JK", self.done("info", "sky.h5").out)
        (self.folder / "job.toml").write_text("\x1b[31mkey\x7f = 1\n")
        for arguments in (("info", "sky.h5"), ("info", "\x1b[31m.fits"), ("info", "sky.h5", "--config", "job.toml"),
                          ("info", "sky.h5", "--\u009b31m"), ("convert", "sky.h5", "\x1b]0;title\x07.h5", "--verbose")):
            result = program.run(arguments, cwd=self.folder)
            for text in (result.out, result.err):
                self.assertFalse(set(text) & {"\x1b", "\x7f", "\x07", "\r", "\u009b"}, repr(text))


class Stdout(Limits):
    def test_a_full_disk(self):
        for arguments in (("jobs", "cpu_node", "--nside", 64), ("model", "--nside", 16, "--ranks", 1),
                          ("info", "sky.h5"), ("compare", "sky.h5", "sky.h5"), ("--help",), ("smooth", "--help"),
                          ("--version",)):
            self.refuse(RESOURCE, ["stdout: cannot be written: No space left"], *arguments,
                        prefix=redirected(">/dev/full"))

    def test_outputs_stay(self):
        self.refuse(RESOURCE, ["stdout"], "convert", "sky.h5", "kept.fits", prefix=redirected(">/dev/full"))
        self.done("compare", "kept.fits", "sky.h5")

    def test_streams_that_are_closed(self):
        """No output gets their numbers, into which messages would be written then."""
        self.refuse(RESOURCE, ["stdout"], "convert", "sky.h5", "closed.fits", prefix=redirected(">&- <&-"))
        self.done("compare", "closed.fits", "sky.h5")
        self.done("convert", "sky.h5", "silent.fits", prefix=redirected("2>&- <&-"))
        self.done("compare", "silent.fits", "sky.h5")

    def test_a_full_stderr(self):
        smooth = ("smooth", "sky.h5", "out.h5", "--fwhm", "9deg", "--overwrite", "--progress", "on")
        self.done(*smooth, prefix=redirected("2>/dev/full"))
        self.done(*smooth, "--lmax", "many", code=USAGE, prefix=redirected("2>/dev/full"))


class Inputs(Limits):
    def keep(self, name, *arguments, **options):
        """The command must not replace this input by its report."""
        before = (self.folder / name).read_bytes()
        self.refuse(USAGE, [name, "is an input of this command"], *arguments, "--report", name, "--overwrite",
                    **options)
        self.assertEqual((self.folder / name).read_bytes(), before)

    def test_no_output_replaces_an_input(self):
        self.keep("sky.h5", "info", "sky.h5")
        self.keep("sky.fits", "compare", "sky.h5", "sky.fits")
        (self.folder / "job.toml").write_text("verbose = true\n")
        self.keep("job.toml", "info", "sky.h5", "--config", "job.toml")
        self.done("calibrate", "--combine", *self.machines(), "--out", "machine.json")
        self.keep("machine.json", "info", "sky.h5", "--machine", "machine.json")
        self.keep("machine.json", "info", "sky.h5", environment={"RINGWEAVE_MACHINE": "machine.json"})

    def test_another_name_of_an_input_is_the_input(self):
        os.link(self.folder / "sky.h5", self.folder / "hard.h5")
        os.symlink("sky.h5", self.folder / "soft.h5")
        for name in ("hard.h5", "soft.h5"):
            self.keep(name, "info", "sky.h5")

    def machines(self):
        """Returns the names of two machine files."""
        names = ("one.json", "two.json")
        for name in names:
            self.done("calibrate", "--nside", 16, "--repeats", 1, "--out", name)
        return names


class Environment(Limits):
    @unittest.skipIf(SANITIZED, "sanitizers have variables of their own")
    def test_none_at_all(self):
        self.done("info", "sky.h5", prefix=["env", "-i"])


if __name__ == "__main__":
    program.main()
