#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several maps in one launch: bit for bit the same as one by one; stopped, killed and resumed; refused.

many_maps_test.py PROGRAM RUN_COMMANDS MPIRUN [TEST ...]

RINGWEAVE_KILLS is how often a run is killed (default 10), RINGWEAVE_MAPS how many maps it makes (default 24).
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import program

program.require("h5py", "numpy", "astropy")

import numpy as np  # noqa: E402

import files  # noqa: E402

STOPPED = 75


def pixels(path):
    return files.read_map(path).tobytes()


class ManyMaps(program.ProgramTest):
    """A spectrum, and a folder for each test."""

    def setUp(self):
        self.place = self.folder / self.id().rsplit(".", 1)[-1]
        self.place.mkdir()
        rows = "".join(f"{l} {1 / (l + 1.0)} {0.1 / (l + 1.0)} 0 0\n" for l in range(800))
        (self.place / "cl.txt").write_text("# l TT EE BB TE\n" + rows)

    def run_here(self, *arguments, code=0, **options):
        result = program.run(arguments, cwd=self.place, **options)
        self.assertEqual(result.code, code, f"{' '.join(map(str, arguments))}\n{result}")
        return result

    def draw(self, seeds, output, *arguments, nside=16, **options):
        return self.run_here("synthesize", "--cl", "cl.txt", "--seed", seeds, "--nside", nside, *arguments, output,
                             **options)

    def names(self):
        return sorted(os.listdir(self.place))


class BitForBit(ManyMaps):
    def test_seeds_of_one_launch_are_those_of_many(self):
        for ranks in (1, 2, 3):
            for fields, suffix in (("T", "h5"), ("TQU", "fits")):
                with self.subTest(ranks=ranks, fields=fields):
                    shape = ("--fields", fields, "--fwhm", "3deg")
                    self.draw("1..3,9", f"all_{{seed}}.{suffix}", *shape, "--save-alm", "alm_{seed}.h5", "--overwrite",
                              ranks=ranks, launched=True)
                    for seed in (1, 2, 3, 9):
                        self.draw(seed, f"one_{{seed}}.{suffix}", *shape, "--save-alm", "one_alm.h5", "--overwrite",
                                  ranks=ranks)
                        self.assertEqual(pixels(self.place / f"all_{seed}.{suffix}"),
                                         pixels(self.place / f"one_{seed}.{suffix}"))
                        np.testing.assert_array_equal(files.read_alm(self.place / f"alm_{seed}.h5"),
                                                      files.read_alm(self.place / "one_alm.h5"))

    def smooth_both_ways(self, inputs, ranks, suffix, *options, batch=3):
        options = ("--fwhm", "9deg", "--overwrite", *options)
        self.run_here("smooth", *inputs, f"all_{{name}}.{suffix}", "--batch", batch, *options, ranks=ranks,
                      launched=True)
        for path in inputs:
            name = path.split(".")[0]
            self.run_here("smooth", path, f"one_{{name}}.{suffix}", *options, ranks=ranks)
            self.assertEqual(pixels(self.place / f"all_{name}.{suffix}"), pixels(self.place / f"one_{name}.{suffix}"),
                             f"{name} {ranks} rank(s) {options}")

    def check_smoothing(self, ranks):
        self.draw("1..4", "t{seed}.h5", "--fields", "T")
        self.draw("1..3", "p{seed}.h5")
        masked = files.read_map(self.place / "t2.h5")
        masked[0, 100:900] = files.UNSEEN
        maps = ["t1.h5", "t3.h5", "t4.h5"]
        for seed in (1, 3, 4):
            files.write_map(self.place / f"f{seed}.fits", files.read_map(self.place / f"t{seed}.h5"))
        files.write_map(self.place / "f2.fits", masked)
        scalars = ["f1.fits", "f2.fits", "f3.fits", "f4.fits"]
        self.smooth_both_ways(scalars, ranks, "fits", "--unseen", "normalize", "--remove", "dipole")
        self.smooth_both_ways(scalars, ranks, "h5", "--iter", 0, "--method", "harmonic", batch=4)
        self.smooth_both_ways(maps, ranks, "h5", "--tol", 1e-3, "--lmax", 24)
        self.smooth_both_ways(maps, ranks, "h5", "--method", "ring")
        self.smooth_both_ways(["p1.h5", "p2.h5"], ranks, "h5", "--method", "ring")
        self.smooth_both_ways(["p1.h5", "p2.h5", "p3.h5"], ranks, "h5", "--iter", 1, batch=2)

    def test_maps_smoothed_together_are_those_smoothed_one_by_one(self):
        self.check_smoothing(1)

    def test_the_same_on_two_ranks(self):
        self.check_smoothing(2)

    def test_the_same_on_three_ranks(self):
        self.check_smoothing(3)

    def test_the_list_of_maps_may_be_a_file_and_the_report_counts_them(self):
        self.draw("1..3", "sky_{seed}.h5")
        (self.place / "list.txt").write_text("# skies\nsky_1.h5\n\n  sky_2.h5  # the second\nsky_3.h5\n")
        self.run_here("smooth", "--maps", "list.txt", "{name}_smooth.h5", "--fwhm", "5deg", "--report", "report.json")
        report = json.loads((self.place / "report.json").read_text())
        self.assertEqual(report["maps"]["done"], 3)
        self.assertEqual(report["maps"]["total"], 3)
        self.assertEqual(report["maps"]["skipped"], 0)
        self.assertGreater(report["files"]["bytes_written"], 3 * 3 * 12 * 16**2 * 8)
        self.assertIn("sky_3_smooth.h5", self.names())


def processes_under(pid):
    """Returns a process and all its descendants, the latest first."""
    found = [pid]
    for parent in found:
        children = subprocess.run(["pgrep", "--parent", str(parent)], text=True, capture_output=True, check=False).stdout
        found += map(int, children.split())
    return found[::-1]


def is_there(pid):
    """Tells whether a process runs, zombies excluded."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def executable(pid):
    """Returns the path of the program that a process runs."""
    return pathlib.Path(f"/proc/{pid}/exe").resolve()


def is_pending(pid, signal_number):
    """Tells whether a signal waits for a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    masks = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (signal_number - 1) & 1 for mask in masks)


class StoppedAndResumed(ManyMaps):
    MAPS = int(os.environ.get("RINGWEAVE_MAPS", "24"))
    SEEDS = range(1, MAPS + 1)
    RUN = ("synthesize", "--cl", "cl.txt", "--seed", f"1..{MAPS}", "--nside", 256, "--fields", "T", "--lmax", 400,
           "--batch", 2, "sky_{seed}.h5")
    INPUTS = ("cl.txt",)
    KILLS = int(os.environ.get("RINGWEAVE_KILLS", "10"))

    @property
    def outputs(self):
        return [f"sky_{seed}.h5" for seed in self.SEEDS]

    def launch(self, *more, ranks=2):
        return subprocess.Popen([program.MPIRUN, str(ranks), program.PROGRAM, *map(str, self.RUN), *more],
                                cwd=self.place, env={**os.environ, "OMP_NUM_THREADS": "1"},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True)

    def wait_for(self, count, process):
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if sum(name in self.outputs for name in os.listdir(self.place)) >= count:
                return
            time.sleep(0.005)

    def reference(self):
        """Returns the pixels of every output of an undisturbed run, and its seconds."""
        cls = type(self)
        if "expected" not in cls.__dict__:
            place = self.folder / "expected"
            place.mkdir()
            for name in self.INPUTS:
                shutil.copy(self.place / name, place)
            result = program.start(self.RUN, cwd=place, ranks=2)
            self.assertEqual(result.code, 0, str(result))
            cls.expected = {name: pixels(place / name) for name in self.outputs}, result.seconds
            shutil.rmtree(place)
        return cls.expected

    def check_outputs(self):
        """All existing outputs are complete."""
        expected, _ = self.reference()
        for name in set(self.names()) & set(self.outputs):
            self.assertEqual(pixels(self.place / name), expected[name], name)

    def check_complete(self):
        self.assertEqual(self.names(), sorted([*self.INPUTS, *self.outputs]))
        self.check_outputs()

    def kill(self, process):
        """Kills every rank and the launcher at once; returns when they are gone."""
        pids = processes_under(process.pid)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.communicate()
        deadline = time.monotonic() + 20
        while any(map(is_there, pids)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse([pid for pid in pids if is_there(pid)])

    def signal_while_ranks_wait(self, process, asked):
        """Sends SIGUSR1 to a process while the ranks are suspended: they cannot end before it reaches one of them."""
        ringweave = pathlib.Path(program.PROGRAM).resolve()
        ranks = [pid for pid in processes_under(process.pid) if executable(pid) == ringweave]
        self.assertTrue(ranks)
        for pid in ranks:
            os.kill(pid, signal.SIGSTOP)
        os.kill(asked, signal.SIGUSR1)
        deadline = time.monotonic() + 20
        while not any(is_pending(pid, signal.SIGUSR1) for pid in ranks) and time.monotonic() < deadline:
            time.sleep(0.005)
        for pid in ranks:
            os.kill(pid, signal.SIGCONT)

    def test_killed_at_any_moment_it_goes_on_where_it_was(self):
        _, seconds = self.reference()
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        kills = 0
        for attempt in range(3 * self.KILLS):
            if kills == self.KILLS:
                break
            with self.subTest(attempt=attempt, seed=seed):
                missing = len(set(self.outputs) - set(self.names()))
                process = self.launch("--resume")
                time.sleep(chance.uniform(0, seconds * missing / len(self.outputs)))
                if process.poll() is None:
                    kills += 1
                    self.kill(process)
                    self.check_outputs()
                    if kills % 2:
                        # Others are killed again before they are complete.
                        continue
                    self.run_here(*self.RUN, "--resume", ranks=2)
                else:
                    out, err = process.communicate()
                    self.assertEqual(process.returncode, 0, out + err)
                self.check_complete()
                for name in self.outputs:
                    (self.place / name).unlink()
        self.assertEqual(kills, self.KILLS, f"of {attempt + 1} runs the others had ended by themselves")
        self.run_here(*self.RUN, "--resume", ranks=2)
        self.check_complete()

    def test_sigusr1_ends_with_75_and_resume_completes(self):
        process = self.launch("--report", "report.json")
        self.wait_for(2, process)
        # The launcher passes it on; MPICH's then loses the exit code at times.
        asked = process.pid if program.uses_open_mpi() else processes_under(process.pid)[0]
        self.signal_while_ranks_wait(process, asked)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, STOPPED, out + err)
        self.assertIn("--resume", out)
        done = [name for name in self.names() if name in self.outputs]
        self.assertIn(f"{len(done)} of {self.MAPS} maps are done", out)
        self.assertLess(len(done), self.MAPS)
        self.assertFalse([name for name in self.names() if name.startswith(".tmp")])
        again = self.run_here(*self.RUN, "--resume", "--report", "report.json", ranks=2)
        self.assertIn(f"{len(done)} of {self.MAPS} map(s) are there already", again.out)
        (self.place / "report.json").unlink()
        self.check_complete()

    def test_sigterm_does_the_same_on_one_rank(self):
        with subprocess.Popen([program.PROGRAM, *map(str, self.RUN)], cwd=self.place, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
            self.wait_for(2, process)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, STOPPED, out + err)
        self.run_here(*self.RUN, "--resume", ranks=2)
        self.check_complete()


class SmoothingStoppedAndResumed(StoppedAndResumed):
    INPUTS = ("cl.txt", *map("in_{}.h5".format, StoppedAndResumed.SEEDS))
    RUN = ("smooth", *INPUTS[1:], "--fwhm", "1deg", "--iter", 1, "--batch", 2, "{name}_smooth.h5")

    @property
    def outputs(self):
        return [f"in_{seed}_smooth.h5" for seed in self.SEEDS]

    def setUp(self):
        super().setUp()
        self.draw(f"1..{self.MAPS}", "in_{seed}.h5", "--fields", "T", nside=128)


class NothingToStop(ManyMaps):
    def test_sigusr1_does_not_end_a_run_of_one_map(self):
        with subprocess.Popen([program.PROGRAM, "synthesize", "--cl", "cl.txt", "--seed", "1", "--nside", "512",
                               "--fields", "T", "sky.h5"], cwd=self.place, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
            time.sleep(0.5)
            process.send_signal(signal.SIGUSR1)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)

    def test_with_everything_there_resume_does_nothing(self):
        self.draw("1..3", "sky_{seed}.h5")
        before = (self.place / "sky_2.h5").stat().st_mtime_ns
        (self.place / ".tmp.4711.sky_2.h5").write_text("left over")
        (self.place / ".tmp.4711.report.json").write_text("left over")
        (self.place / ".tmp.4711.other.h5").write_text("another job's")
        result = self.draw("1..3", "sky_{seed}.h5", "--resume", "--report", "report.json")
        self.assertIn("3 of 3 map(s) are there already, 0 to do; removed 2 unfinished file(s)", result.out)
        self.assertEqual((self.place / "sky_2.h5").stat().st_mtime_ns, before)
        self.assertNotIn(".tmp.4711.sky_2.h5", self.names())
        self.assertNotIn(".tmp.4711.report.json", self.names())
        self.assertIn(".tmp.4711.other.h5", self.names())


class Refused(ManyMaps):
    def refuse(self, *arguments, words, code=2, ranks=1, launched=False):
        before = self.names()
        result = self.run_here(*arguments, code=code, ranks=ranks, launched=launched)
        self.assertEqual(len(result.messages()), 1, str(result))
        for word in words:
            self.assertIn(word, result.messages()[0])
        return before

    def test_lists_that_make_no_sense(self):
        synthesize = ("synthesize", "--cl", "cl.txt", "--nside", 16)
        self.draw("1..3", "sky_{seed}.h5")
        self.draw(1, "small.h5", nside=8)
        self.draw(1, "scalar.h5", "--fields", "T")
        (self.place / "other").mkdir()
        shutil.copy(self.place / "sky_1.h5", self.place / "other")
        before = self.names()
        self.refuse(*synthesize, "--seed", "1..3", "out.h5", words=["{seed}", "out.h5"])
        self.refuse(*synthesize, "--seed", "1..3", "o_{seed}.h5", "--save-alm", "alm.h5", words=["--save-alm alm.h5"])
        self.refuse(*synthesize, "--seed", "3..1", "o_{seed}.h5", words=["3..1"])
        self.refuse(*synthesize, "--seed", "1,1", "o_{seed}.h5", words=["twice"])
        self.refuse(*synthesize, "--seed", "1,x", "o_{seed}.h5", words=["--seed 1,x"])
        self.refuse(*synthesize, "--seed", "1..3", "sky_{seed}.h5", words=["sky_1.h5", "exists"])
        self.refuse(*synthesize, "--seed", "1..3", "sky_{seed}.h5", "--resume", "--overwrite", words=["--resume"])
        smooth = ("--fwhm", "5deg")
        self.refuse("smooth", "sky_1.h5", *smooth, words=["OUT"])
        self.refuse("smooth", "sky_1.h5", "sky_2.h5", "out.h5", *smooth, words=["{name}"])
        self.refuse("smooth", "sky_1.h5", "other/sky_1.h5", "o_{name}.h5", *smooth,
                    words=["other/sky_1.h5", "o_sky_1.h5"])
        self.refuse("smooth", "sky_1.h5", "small.h5", "o_{name}.h5", *smooth, words=["small.h5", "healpix:8"], code=3)
        self.refuse("smooth", "sky_1.h5", "scalar.h5", "o_{name}.h5", *smooth, words=["scalar.h5", "columns"], code=3,
                    ranks=3)
        self.refuse("smooth", "sky_1.h5", "missing.h5", "o_{name}.h5", *smooth, words=["missing.h5"], code=3)
        self.refuse("smooth", "--maps", "missing.txt", "o_{name}.h5", *smooth, words=["missing.txt"], code=3)
        self.refuse("smooth", "sky_1.h5", "o_sky_1.h5", "o_{name}.h5", *smooth, words=["o_sky_1.h5", "input"])
        self.assertEqual(self.names(), before)

    def test_a_broken_map_in_the_middle_keeps_those_before_it(self):
        self.draw("1..8", "sky_{seed}.h5", "--fields", "T")
        values = files.read_map(self.place / "sky_1.h5")
        inputs = [f"f{i}.fits" for i in range(1, 9)]
        for path in inputs:
            files.write_map(self.place / path, values)
        values[0, 77] = np.nan
        files.write_map(self.place / "f6.fits", values)
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                self.refuse("smooth", *inputs, f"o{ranks}_{{name}}.h5", "--fwhm", "5deg", "--batch", 2,
                            words=["f6.fits", "pixel 77"], code=3, ranks=ranks, launched=True)
                made = [name for name in self.names() if name.startswith(f"o{ranks}_")]
                self.assertEqual(made, [f"o{ranks}_f{i}.h5" for i in range(1, 6)])
                self.assertFalse([name for name in self.names() if name.startswith(".tmp")])

    def test_a_full_disk_ends_the_run_with_one_error(self):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                result = program.start(("synthesize", "--cl", "cl.txt", "--seed", "1..6", "--nside", 64, "--batch", 1,
                                        "--lmax", 60, f"big{ranks}_{{seed}}.h5"), cwd=self.place, ranks=ranks,
                                       file_limit=100000)
                self.assertEqual(result.code, 4, str(result))
                self.assertEqual(len(result.messages()), 1, str(result))
                self.assertFalse([name for name in self.names() if "big" in name])


if __name__ == "__main__":
    program.main()
