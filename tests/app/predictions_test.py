#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`calibrate` writes a machine file, `model` and `split` predict from it, `smooth --method auto` uses it."""
import json
import os
import subprocess
import sys

import program
from program_test import LMAX, NSIDE, SkyTest

program.require("numpy", "h5py", "astropy")
import numpy as np

from files import rms_difference

NUMBER_KEYS = {"legendre_seconds", "ring_fft_seconds", "exchange_seconds", "exchange_seconds_as_printed",
               "dense_exchange_seconds", "dense_exchange_seconds_as_printed", "sent_bytes", "memory_bytes"}


class Predictions(SkyTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.done("calibrate", "--nside", 16, "--repeats", 1, "--out", "machine.json")
        cls.machine = json.loads((cls.folder / "machine.json").read_text())

    def write_machine(self, name, **factors):
        """Writes the calibrated machine with some costs multiplied."""
        machine = json.loads(json.dumps(self.machine))
        for key, factor in factors.items():
            machine[key]["points"] = [[size, cost * factor] for size, cost in machine[key]["points"]]
        (self.folder / name).write_text(json.dumps(machine))
        return name

    def refused(self, *arguments, code, says, **run):
        result = self.done(*arguments, code=code, **run)
        self.assertEqual(len(result.messages()), 1, result)
        for words in says:
            self.assertIn(words, result.messages()[0])


class Calibrate(Predictions):
    def test_every_cost_is_there_with_its_uncertainty(self):
        for ranks in (1, 3):
            name = f"machine{ranks}.json"
            result = self.done("calibrate", "--nside", 16, "--repeats", 2, "--out", name, ranks=ranks)
            self.assertRegex(result.err, r"note: measuring takes about \d+ s")
            self.assertIn("ring FFT", result.out)
            machine = json.loads((self.folder / name).read_text())
            self.assertEqual(machine["ranks"], ranks)
            for key in ("legendre_scalar", "legendre_spin", "ring_fft", "transform_planning", "convolution_planning",
                        "file_read", "file_write"):
                self.assertEqual(len(machine[key]["points"]), 1)
                self.assertGreater(machine[key]["points"][0][1], 0)
                self.assertGreater(machine[key]["uncertainty"], 0)
        self.assertEqual([path.name for path in self.folder.glob("*calibration*")], [])

    def test_warns_of_other_work_and_says_so_in_the_file(self):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
        try:
            result = self.done("calibrate", "--nside", 16, "--repeats", 1, "--out", "disturbed.json")
        finally:
            for process in busy:
                process.kill()
                process.wait()
        self.assertRegex(result.err, r"warning: other programs use \d+\.\d of \d+ processor")
        self.assertRegex(result.err, r"warning: other programs used .* repeat when the machine is idle")
        self.assertIn("disturbed: other programs used", json.loads((self.folder / "disturbed.json").read_text())["notes"])
        self.assertIn("disturbed: ", self.done("model", "--nside", 64, "--machine", "disturbed.json").out)

    def test_a_file_that_exists_is_kept(self):
        self.refused("calibrate", "--nside", 16, "--out", "machine.json", code=2,
                     says=["machine.json", "--overwrite"])
        self.refused("calibrate", "--nside", 16, "--out", "machine.txt", code=2, says=["machine.txt", ".json"])

    def test_a_plan_measures_nothing(self):
        self.assertRegex(self.done("calibrate", "--dry-run", "--out", "new.json").out, r"about \d+ (s|min)")
        self.assertFalse((self.folder / "new.json").exists())

    def test_calibrations_of_several_launches_are_combined(self):
        slow = json.loads((self.folder / "machine.json").read_text())
        for point in slow["legendre_scalar"]["points"]:
            point[1] *= 2
        (self.folder / "slow.json").write_text(json.dumps(slow))
        for ranks in (1, 3):
            self.done("calibrate", "--combine", "machine.json", "slow.json", "slow.json", "--out", "both.json",
                      "--overwrite", ranks=ranks)
            both = json.loads((self.folder / "both.json").read_text())
            self.assertEqual(both["legendre_scalar"]["points"], slow["legendre_scalar"]["points"])
            self.assertGreater(both["legendre_scalar"]["uncertainty"], slow["legendre_scalar"]["uncertainty"])
            self.assertIn("3 calibrations", both["notes"])
        self.refused("calibrate", "--combine", "machine.json", "--out", "one.json", code=2, says=["--combine", "two or more"])
        slow["ranks"] = 2
        (self.folder / "slow.json").write_text(json.dumps(slow))
        self.refused("calibrate", "--combine", "machine.json", "slow.json", "--out", "one.json", code=2, says=["ranks"])
        self.assertFalse((self.folder / "one.json").exists())

    def test_what_is_no_machine_file_is_refused_by_every_command(self):
        (self.folder / "broken.json").write_text("{}")
        # As a name of --config that no file has.
        for file, code, says in (("broken.json", 3, "not a machine file"), ("nothing.json", 2, "nothing.json"),
                                 (self.folder, 3, "folder")):
            self.refused("model", "--nside", 64, "--machine", file, code=code, says=[says])
        self.refused("model", "--nside", 64, "--config", "nothing.toml", code=2, says=["nothing.toml"])
        self.done("model", "--nside", 64, environment={"RINGWEAVE_MACHINE": "broken.json"}, code=3)


class Model(Predictions):
    def rows(self, *options, **run):
        self.done("model", "--json", "model.json", "--overwrite", *options, **run)
        return json.loads((self.folder / "model.json").read_text())

    def test_predicts_any_number_of_ranks(self):
        result = self.rows("--nside", 256, "--lmax", 512, "--ranks", "1,2,16,65536")
        self.assertEqual([row["ranks"] for row in result["rows"]], [1, 2, 16, 65536])
        for row in result["rows"]:
            self.assertLessEqual(NUMBER_KEYS, row.keys())
        one, two, many, _ = result["rows"]
        self.assertEqual(one["exchange_seconds"], 0)
        self.assertAlmostEqual(two["legendre_seconds"] / one["legendre_seconds"], 0.5, delta=0.01)
        # For the mean rank; the largest may need room for modes by order that do not fit its map.
        self.assertAlmostEqual(many["mean_memory_bytes"] / one["memory_bytes"], 1 / 16, delta=0.02)
        self.assertLess(many["memory_bytes"], 1.6 * many["mean_memory_bytes"])
        # Pruned rows: less than the dense exchange.
        self.assertLess(many["exchange_seconds"], many["dense_exchange_seconds"])

    def test_sends_what_a_run_sends(self):
        rows = self.rows("--nside", NSIDE, "--lmax", LMAX, "--ranks", "2")["rows"]
        self.done("synthesize", "--alm", "alm.h5", "--nside", NSIDE, "--fields", "T", "sent.h5", "--report", "report.json",
                  "--overwrite", ranks=2)
        report = json.loads((self.folder / "report.json").read_text())
        mean = report["transform"]["bytes_sent_per_transform"] / 2
        # The model counts the rank that sends most.
        self.assertGreater(rows[0]["sent_bytes"], mean)
        self.assertLess(rows[0]["sent_bytes"], 1.2 * mean)

    def test_predicts_transforms_to_points(self):
        points = ("--points", 100000, "--lmax", 511, "--machine", "machine.json")
        one, many = self.rows(*points, "--ranks", "1,8")["rows"]
        self.assertEqual(one["value_exchange_seconds"], 0)
        self.assertGreater(many["value_exchange_seconds"], 0)
        # Points next to the cut of two bands count on both sides.
        self.assertGreater(many["points_seconds"] / one["points_seconds"], 1 / 8)
        self.assertLess(many["points_seconds"] / one["points_seconds"], 2 / 8)
        for row in (one, many):
            parts = ("legendre", "ring_fft", "exchange", "copies", "points", "value_exchange")
            self.assertAlmostEqual(row["total_seconds"], sum(row[part + "_seconds"] for part in parts))
        slow = self.write_machine("slow_points.json", point_sums=10)
        slower = self.rows(*points[:-1], slow, "--ranks", "1")["rows"][0]
        self.assertAlmostEqual(slower["points_seconds"] / one["points_seconds"], 10, places=6)
        precise = self.rows(*points, "--ranks", "1", "--epsilon", 1e-12)["rows"][0]
        self.assertGreater(precise["points_seconds"], one["points_seconds"])
        self.refused("model", *points, "--nside", 64, code=2, says=["--points", "--nside"])
        self.refused("model", *points, "--backend", "cuda", code=2, says=["--backend cuda", "h100_cluster"])
        self.refused("model", *points[:2], code=2, says=["--points", "--lmax"])
        self.refused("model", "--nside", 64, "--epsilon", 1e-5, code=2, says=["--epsilon", "--points"])

    def test_predicts_lensed_maps(self):
        grid = ("--lens", "--nside", 512, "--lmax", 1023, "--fields", "TQU", "--machine", "machine.json")
        one, many = self.rows(*grid, "--ranks", "1,8")["rows"]
        points, many_points = self.rows("--points", 12 * 512**2, *grid[3:], "--ranks", "1,8")["rows"]
        self.assertGreater(one["deflection_seconds"], 0)
        self.assertEqual(points["deflection_seconds"], 0)
        for part in ("legendre", "ring_fft"):
            self.assertAlmostEqual(one[part + "_seconds"], points[part + "_seconds"], places=9)
        self.assertAlmostEqual(one["total_seconds"], sum(one[part + "_seconds"] for part in (
            "legendre", "ring_fft", "points", "deflection")), places=9)
        # Pixels are moved and turned.
        self.assertGreater(one["points_seconds"], points["points_seconds"])
        self.assertGreater(many["value_exchange_seconds"], 0)
        # d is 16 bytes a pixel, its a_lm 32 bytes a coefficient, the map 24 bytes a pixel; listed points have angles,
        # places and sums beside their values.
        self.assertGreater(one["memory_bytes"], (16 + 24) * 12 * 512**2 + 16 * 1024 * 1025)
        self.assertLess(one["memory_bytes"], points["memory_bytes"])
        self.assertLess(many["memory_bytes"], one["memory_bytes"] / 3)
        self.refused("model", "--lens", "--points", 10, "--lmax", 9, code=2, says=["--points", "--lens"])

    def test_predicts_points_and_lensed_maps_on_gpus(self):
        for what in (("--points", 10**7), ("--lens", "--nside", 1024)):
            job = (*what, "--lmax", 2047, "--machine", "h100_cluster", "--ranks", "1")
            device, host = (self.rows(*job, "--backend", backend)["rows"][0] for backend in ("cuda", "host"))
            self.assertEqual(self.rows(*job)["rows"][0], device)
            for part in ("legendre", "ring_fft", "points"):
                self.assertLess(device[part + "_seconds"], host[part + "_seconds"])
            self.assertEqual(host["copies_seconds"], 0)
            # The rows stay there: copied are a_lm, and modes there and back.
            rows = 8 * 2 * 2048 * 2 * 2048
            self.assertGreater(device["copies_seconds"], 0)
            self.assertLess(device["copies_seconds"], 1.2e-10 * rows)

    def test_sums_most_pixels_where_they_are_if_all_rings_have_one_length(self):
        common = ("--lmax", 1023, "--fields", "TQU", "--machine", "machine.json", "--ranks", "4")
        pixels = self.rows("--lens", "--grid", "gauss:1023", *common)["rows"][0]
        points = self.rows("--points", 1024 * 2048, *common)["rows"][0]
        self.assertLess(pixels["value_exchange_seconds"], 0.5 * points["value_exchange_seconds"])

    def test_takes_its_costs_from_the_machine_file(self):
        slow = self.write_machine("slow.json", legendre_scalar=10)
        usual = self.rows("--nside", 64, "--machine", "machine.json")["rows"][0]
        slower = self.rows("--nside", 64, "--machine", slow)["rows"][0]
        by_environment = self.rows("--nside", 64, environment={"RINGWEAVE_MACHINE": slow})["rows"][0]
        self.assertAlmostEqual(slower["legendre_seconds"] / usual["legendre_seconds"], 10, places=6)
        self.assertEqual(slower, by_environment)

    def test_says_how_evenly_ranks_share_and_what_each_exchange_sends(self):
        result = self.rows("--nside", 64, "--lmax", 191, "--ranks", "1,4,64")
        for row in result["rows"]:
            self.assertGreaterEqual(row["work_imbalance"], 1)
            self.assertGreaterEqual(row["memory_imbalance"], 1)
            self.assertAlmostEqual(row["memory_imbalance"], row["memory_bytes"] / row["mean_memory_bytes"], places=6)
            self.assertEqual(row["messages"], row["ranks"] - 1)
        self.assertEqual(result["rows"][0]["exchanges"], {})
        four = result["rows"][1]
        sent = [four["exchanges"][way]["sent_bytes"] for way in ("dense", "ragged", "folded", "single", "overlapped")]
        self.assertEqual(sent, sorted(sent, reverse=True))
        self.assertEqual(len(set(sent)), 4)
        self.assertEqual(four["sent_bytes"], sent[2])
        single = self.rows("--nside", 64, "--lmax", 191, "--ranks", "4", "--exchange", "single")["rows"][0]
        self.assertEqual(single["sent_bytes"], sent[3])

    def test_finds_the_end_of_scaling(self):
        result = self.rows("--nside", 64, "--lmax", 128)
        self.assertGreater(result["scaling_ends_at"], 1)
        self.assertIn(result["scaling_ends_because"], ("legendre", "ring_fft", "messages", "bytes"))

    def test_described_machines_are_taken_by_name(self):
        for name, backend in (("cpu_cluster", "host"), ("a100_cluster", "cuda"), ("h100_cluster", "cuda")):
            result = self.rows("--nside", 64, "--ranks", "1,4", "--machine", name)
            self.assertIn("not measured", result["machine"])
            self.assertEqual(result["backend"], backend)
            one, four = result["rows"]
            self.assertEqual(one["copies_seconds"] > 0, backend == "cuda")
            self.assertEqual("staged" in four["exchanges"], backend == "cuda")
        host = self.rows("--nside", 64, "--ranks", "4", "--machine", "a100_cluster", "--backend", "host")
        self.assertEqual(host["backend"], "host")
        self.assertIn("overlapped", host["rows"][0]["exchanges"])
        by_environment = self.rows("--nside", 64, environment={"RINGWEAVE_MACHINE": "h100_cluster"})
        self.assertIn("H100", by_environment["machine"])
        self.refused("model", "--nside", 64, "--machine", "abacus", code=2, says=["abacus", "cpu_cluster", "calibrate"])
        self.refused("model", "--nside", 64, "--backend", "cuda", code=2, says=["--backend cuda", "h100_cluster"])

    def test_one_stage_alone_runs_on_a_gpu(self):
        common = ("--nside", 256, "--ranks", "4", "--machine", "h100_cluster")
        def row(*options):
            return self.rows(*common, *options)["rows"][0]
        host = row("--backend", "host")
        self.assertEqual(row("--stage", "legendre=host,fft=host"), host)
        self.assertEqual(row("--stage", "legendre=cuda,fft=cuda"), row("--backend", "cuda"))
        legendre = row("--stage", "legendre=cuda,fft=host")
        fft = row("--stage", "legendre=host,fft=cuda")
        self.assertEqual(legendre["ring_fft_seconds"], host["ring_fft_seconds"])
        self.assertEqual(fft["legendre_seconds"], host["legendre_seconds"])
        for mixed in (legendre, fft):
            self.assertGreater(mixed["copies_seconds"], 0)
            self.assertIn("overlapped", mixed["exchanges"])
        self.assertEqual(self.rows(*common, "--stage", "legendre=cuda,fft=host")["stages"],
                         {"legendre": "cuda", "fft": "host"})
        self.refused("model", "--nside", 64, "--stage", "legendre=cuda,fft=host", code=2,
                     says=["--stage legendre=cuda,fft=host", "h100_cluster"])
        self.refused("model", "--nside", 64, "--stage", "fft=cuda", code=2, says=["--stage", "legendre=PLACE,fft=PLACE"])
        self.refused("model", "--points", 100, "--lmax", 9, "--stage", "legendre=host,fft=host", code=2, says=["--stage"])

    def test_wrong_numbers_of_ranks_are_refused(self):
        for ranks in ("0", "two", "1,,2", "2,-1", "99999999999"):
            self.refused("model", "--nside", 64, "--ranks=" + ranks, code=2, says=["--ranks"])
        self.refused("model", code=2, says=["--nside"])


class Auto(Predictions):
    """A kernel of 10 degrees has no power above the degrees that nside 32 holds."""

    def auto(self, *options, **run):
        result = self.done("smooth", "sky.h5", "auto.h5", "--fwhm", "10deg", *options, "--overwrite", **run)
        return result.out, self.read("auto.h5")

    def setUp(self):
        rings = {key: 1e-6 for key in self.machine if key.startswith("convolution_")}
        self.fast_rings = self.write_machine("fast_rings.json", **rings)
        self.fast_harmonics = self.write_machine(
            "fast_harmonics.json", legendre_scalar=1e-6, legendre_spin=1e-6, ring_fft=1e-6, ring_fft_modes=1e-6,
            transform_planning=1e-6)

    def test_takes_what_is_predicted_to_be_faster_and_computes_the_same(self):
        expected = self.auto("--fields", "T", "--iter", 0, "--method", "harmonic")[1]
        for machine, method in ((self.fast_rings, "ring"), (self.fast_harmonics, "harmonic")):
            for ranks in (1, 2, 3):
                out, map_ = self.auto("--fields", "T", "--iter", 0, "--machine", machine, ranks=ranks)
                self.assertIn(f"method: {method}, predicted to be the fastest", out)
                self.assertIn(f"{method} method", out)
                self.assertLessEqual(rms_difference(map_, expected), 1e-5)

    def test_does_the_same_for_q_and_u(self):
        for fields in ("TQU", "QU"):
            expected = self.auto("--fields", fields, "--iter", 0, "--method", "harmonic")[1]
            for machine, method in ((self.fast_rings, "ring"), (self.fast_harmonics, "harmonic")):
                out, map_ = self.auto("--fields", fields, "--iter", 0, "--machine", machine, ranks=2)
                self.assertIn(f"method: {method}, predicted to be the fastest", out)
                for ours, theirs in zip(map_, expected):
                    self.assertLessEqual(rms_difference(ours, theirs), 1e-5)

    def test_leaves_out_degrees_that_the_error_allows_to_leave_out(self):
        lmax = []
        for error in (1e-3, 1e-6):
            out, _ = self.auto("--fields", "T", "--iter", 0, "--machine", self.fast_harmonics, "--error", error)
            lmax.append(int(out.split("harmonics with lmax ")[1].split()[0]))
        self.assertLess(lmax[0], lmax[1])
        self.assertLess(lmax[1], 95)

    def test_stays_harmonic_where_rings_compute_something_else(self):
        for options, why in ((("--fields", "T"), "--iter 3"), (("--fields", "T", "--tol", 1e-3), "--tol"),
                             (("--fields", "T", "--iter", 0, "--lmax", 8), "lmax = 8"),
                             (("--fields", "T", "--iter", 0, "--error", 1e-30), "rings refuse")):
            out, _ = self.auto(*options, "--machine", self.fast_rings)
            self.assertIn("method: harmonic, because ", out)
            self.assertIn(why, out)

    def test_a_plan_says_what_would_be_taken(self):
        (self.folder / "auto.h5").unlink(missing_ok=True)
        out = self.done("smooth", "sky.h5", "auto.h5", "--fwhm", "10deg", "--fields", "T", "--iter", 0, "--dry-run",
                        "--machine", self.fast_rings).out
        self.assertIn("method: ring", out)
        self.assertIn("for files, as HDF5", out)
        self.assertFalse((self.folder / "auto.h5").exists())


def at_most(*placements):
    """Returns those placements, as (ranks, harmonic ranks), that take no more ranks than RINGWEAVE_MOST_RANKS."""
    most = int(os.environ.get("RINGWEAVE_MOST_RANKS", "7"))
    return [placement for placement in placements if placement[0] <= most]


class LongTail(Predictions):
    """A kernel with a long tail at nside 32."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(LMAX + 1)
        kernel = (1 + degrees * (degrees + 1) / 10) ** -0.75 * np.exp(-((5 * degrees / LMAX) ** 2) / 2)
        np.savetxt(cls.folder / "tail.txt", np.column_stack([degrees, kernel]))

    def smooth(self, method, *options, fields="T", source="sky.h5", **run):
        out = self.done("smooth", source, f"{method}.h5", "--beam", "tail.txt", "--fields", fields, "--method", method,
                        "--lmax", LMAX, *options, "--overwrite", **run).out
        return out, self.read(f"{method}.h5")


class SmoothBySplit(LongTail):
    def test_is_what_auto_takes_where_it_pays(self):
        """Rings would keep this kernel's degrees above lmax."""
        degrees = np.arange(LMAX + 33)
        kernel = (1 + degrees * (degrees + 1) / 10) ** -0.75 * np.exp(-((3.5 * degrees / LMAX) ** 2) / 2)
        np.savetxt(self.folder / "long.txt", np.column_stack([degrees, kernel]))
        machine = self.write_machine("fast_splits.json", legendre_scalar=1e3, split_search=1e-9)
        smooth = ("--beam", "long.txt", "--fields", "T", "--lmax", LMAX, "--iter", 0, "--overwrite")
        self.done("smooth", "sky.h5", "harmonic.h5", *smooth, "--method", "harmonic")
        for ranks in (1, 2):
            out = self.done("smooth", "sky.h5", "auto.h5", *smooth, "--error", 1e-5, "--machine", machine, ranks=ranks).out
            self.assertIn("method: split, predicted to be the fastest", out)
            self.assertIn("split method, l_cut", out)
            self.assertLessEqual(rms_difference(self.read("auto.h5"), self.read("harmonic.h5")), 1e-5)

    def test_is_the_harmonic_method_within_the_error_on_any_ranks_however_placed(self):
        expected = self.smooth("harmonic", "--iter", 0)[1]
        first = None
        for ranks, placed in at_most((1, None), (2, None), (2, 0), (2, 1), (3, None), (3, 2), (5, 0), (5, 2), (5, 4)):
            options = () if placed is None else ("--harmonic-ranks", placed)
            out, ours = self.smooth("split", "--error", 1e-3, "--report", "report.json", *options, ranks=ranks)
            self.assertIn("split method, l_cut", out)
            self.assertLessEqual(rms_difference(ours, expected), 1e-3)
            report = json.loads((self.folder / "report.json").read_text())
            plan = report["plan"]
            side_by_side = plan["harmonic_ranks"] > 0
            if placed is not None:
                self.assertEqual(plan["harmonic_ranks"], placed)
            self.assertEqual(plan["predicted_stages"]["sending"] > 0, side_by_side)
            self.assertEqual("sending" in report["stages"], side_by_side)
            self.assertGreater(report["stages"]["split_search"]["max"], 0)
            self.assertGreater(plan["predicted_search_seconds"], 0)
            first = first or (plan["splits"], ours.tobytes())
            self.assertEqual((plan["splits"], ours.tobytes()), first)

    def test_q_and_u_are_those_of_the_harmonic_method_within_the_error(self):
        """T has one split, Q and U have another, both with one placement."""
        for fields, spins in (("TQU", [0, 2]), ("QU", [2])):
            expected = self.smooth("harmonic", "--iter", 0, fields=fields)[1]
            first = None
            for ranks, placed in at_most((1, None), (2, 0), (2, 1), (3, None), (3, 1)):
                options = () if placed is None else ("--harmonic-ranks", placed)
                out, ours = self.smooth("split", "--error", 1e-3, "--report", "report.json", *options, fields=fields,
                                        ranks=ranks)
                self.assertIn("split method, l_cut", out)
                self.assertLessEqual(rms_difference(ours[-2:], expected[-2:]), 1e-3)
                self.assertLessEqual(rms_difference(ours[0], expected[0]), 1e-3)
                plan = json.loads((self.folder / "report.json").read_text())["plan"]
                splits = plan["splits"]
                self.assertEqual([split["spin"] for split in splits], spins)
                self.assertEqual(plan["l_cut"], max(split["l_cut"] for split in splits))
                if placed is not None:
                    self.assertEqual(plan["harmonic_ranks"], placed)
                first = first or (splits, ours)
                self.assertEqual(splits, first[0])
                self.assertLessEqual(rms_difference(ours, first[1]), 1e-12)
            single = self.smooth("split", "--error", 1e-3, "--precision", "single", fields=fields, ranks=2)[1]
            self.assertLessEqual(rms_difference(single, expected), 1e-3 + 1e-6)

    def test_masks_of_q_and_u_are_smoothed_by_the_split_of_t(self):
        seen = self.masked_sky("holes.h5")
        for fields in ("TQU", "QU"):
            options = ("--unseen", "normalize")
            expected = self.smooth("harmonic", "--iter", 0, *options, fields=fields, source="holes.h5")[1][:, seen]
            for ranks, placed in at_most((1, 0), (3, 0), (3, 1)):
                ours = self.smooth("split", "--error", 1e-3, "--harmonic-ranks", placed, *options, fields=fields,
                                   source="holes.h5", ranks=ranks)[1]
                self.assertLessEqual(rms_difference(ours[:, seen], expected), 1e-3)

    def test_kernels_of_t_and_of_q_and_u_may_differ(self):
        """The narrow kernel of T may go by rings alone, while Q and U have both parts."""
        degrees = np.arange(LMAX + 1)
        tail = np.loadtxt(self.folder / "tail.txt")[:, 1]
        wide = np.exp(-degrees * (degrees + 1) * 0.12**2 / 2)
        np.savetxt(self.folder / "two_kernels.txt", np.column_stack([degrees, wide, tail, tail]), header="l T E B")
        smooth = ("--beam", "two_kernels.txt", "--lmax", LMAX, "--overwrite")
        self.done("smooth", "sky.h5", "harmonic.h5", *smooth, "--iter", 0)
        for ranks, placed in at_most((1, 0), (2, 1), (3, 1), (3, 0)):
            self.done("smooth", "sky.h5", "split.h5", *smooth, "--method", "split", "--error", 1e-3, "--harmonic-ranks",
                      placed, ranks=ranks)
            self.assertLessEqual(rms_difference(self.read("split.h5"), self.read("harmonic.h5")), 1e-3)

    def test_the_plan_of_groups_says_who_needs_what(self):
        out = self.done("smooth", "sky.h5", "none.h5", "--beam", "tail.txt", "--fields", "T", "--method", "split",
                        "--lmax", LMAX, "--error", 1e-3, "--harmonic-ranks", 1, "--dry-run", ranks=3).out
        for words in ("side by side, rings on 2 rank(s) and harmonics on 1", "map, harmonic part",
                      "a_lm, harmonic part", "parts of harmonic maps", "sending"):
            self.assertIn(words, out)
        self.assertFalse((self.folder / "none.h5").exists())

    def test_the_plan_says_how_the_kernel_is_split(self):
        (self.folder / "split.h5").unlink(missing_ok=True)
        out = self.done("smooth", "sky.h5", "split.h5", "--beam", "tail.txt", "--fields", "T", "--method", "split",
                        "--lmax", LMAX, "--error", 1e-3, "--dry-run").out
        for words in ("split method", "l_cut", "harmonic part", "memory high-water", "predicted",
                      "for the search of the split, which took"):
            self.assertIn(words, out)
        self.assertFalse((self.folder / "split.h5").exists())

    def test_the_plan_of_q_and_u_says_how_their_kernel_is_split(self):
        for ranks in (1, 3):
            out = self.done("smooth", "sky.h5", "none.h5", "--beam", "tail.txt", "--method", "split", "--lmax", LMAX,
                            "--error", 1e-3, "--harmonic-ranks", ranks // 2, "--dry-run", ranks=ranks).out
            for words in ("split method, 3 map(s)", "  l_cut", "  Q and U: l_cut", "harmonic part", "predicted"):
                self.assertIn(words, out)
        self.assertFalse((self.folder / "none.h5").exists())

    def test_what_cannot_be_split_is_refused(self):
        usual = ("smooth", "sky.h5", "none.h5", "--beam", "tail.txt", "--method", "split")
        degrees = np.arange(LMAX + 1)
        b_l = np.exp(-degrees * (degrees + 1) * 0.07**2 / 2)
        np.savetxt(self.folder / "two.txt", np.column_stack([degrees, b_l, b_l**1.2, b_l]), header="l T E B")
        for ranks in (1, 3):
            for fields in ("TQU", "QU"):
                self.refused("smooth", "sky.h5", "none.h5", "--beam", "two.txt", "--method", "split", "--fields", fields,
                             code=2, ranks=ranks,
                             says=["--method split smooths Q and U with one beam", "use --method ring or harmonic"])
        self.refused(*usual, "--error", 1e-12, code=2, says=["--method split, Q and U: no compact part keeps the error"])
        for options, says in ((("--fields", "T", "--iter", 2), "--iter"),
                              (("--fields", "T", "--support", "1deg"), "--support"),
                              (("--fields", "T", "--harmonic-ranks", 1), "expected 0 to 0"),
                              (("--fields", "T", "--harmonic-ranks", "-1"), "--harmonic-ranks")):
            self.refused(*usual, *options, code=2, says=[says])
        self.refused(*usual[:5], "--method", "ring", "--harmonic-ranks", 0, code=2, says=["only --method split"])
        self.done("synthesize", "--alm", "alm.h5", "--grid", "gauss:95", "gauss.h5", "--fields", "T", "--overwrite")
        self.refused("smooth", "gauss.h5", *usual[2:], code=2, says=["HEALPix"])
        self.assertFalse((self.folder / "none.h5").exists())


class Split(Predictions):
    """A kernel with a long tail: sqrt(C_l) times a beam."""

    options = ("--fwhm", "30arcmin", "--lmax", 512, "--nside", 256, "--cl", "long.txt", "--supports", "2deg:8deg")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        degrees = np.arange(513)
        tail = (1 + degrees * (degrees + 1) / 100) ** -1.5
        np.savetxt(cls.folder / "long.txt", np.column_stack([degrees, tail]), header="l TT")

    def split(self, *options, **run):
        out = self.done("split", *self.options, *options, "--json", "split.json", "--overwrite", **run).out
        return out, json.loads((self.folder / "split.json").read_text())

    def test_both_parts_make_the_kernel(self):
        out, split = self.split()
        self.assertIn("l_cut", out)
        self.assertLess(split["l_cut"], 512)
        kernel = np.array(split["kernel"])
        made = np.array(split["compact"])
        made[:len(split["harmonic"])] += split["harmonic"]
        weight = 2 * np.arange(len(kernel)) + 1
        missed = np.sqrt(np.sum(weight * (made - kernel) ** 2) / np.sum(weight * kernel**2))
        self.assertLessEqual(split["alpha"] * missed, 1.01 * split["verified_error"]["total"])
        self.assertLessEqual(split["verified_error"]["total"], 1e-5)
        profile = np.abs(np.array(split["compact_profile"])[:, 1])
        self.assertLess(profile[-1], 1e-12 * profile.max())

    def test_ranks_change_predicted_seconds_only(self):
        alone = self.split()[1]
        shared = self.split(ranks=3)[1]
        self.assertEqual([c["l_cut"] for c in alone["scan"]], [c["l_cut"] for c in shared["scan"]])
        out, many = self.split("--ranks", 3)
        for origin in ("command_line", "configuration", "date"):
            self.assertTrue(shared.pop(origin) and many.pop(origin))
        self.assertEqual(many, shared)
        self.assertIn("placement", out)
        self.assertEqual((alone["ranks"], alone["harmonic_ranks"], many["ranks"]), (1, 0, 3))
        for candidate in self.split("--ranks", 16)[1]["scan"]:
            parts = candidate["harmonic_seconds"], candidate["ring_seconds"]
            together = max(parts) + candidate["sending_seconds"] if candidate["harmonic_ranks"] else sum(parts)
            self.assertAlmostEqual(candidate["seconds"] / together, 1)

    def test_seconds_are_those_of_the_machine(self):
        slow = self.write_machine("slow.json", legendre_scalar=1000)
        fast = self.split("--machine", "machine.json")[1]
        self.assertGreater(self.split("--machine", slow)[1]["harmonic_only_seconds"], 10 * fast["harmonic_only_seconds"])

    def test_says_where_there_is_no_split(self):
        np.savetxt(self.folder / "flat.txt", np.column_stack([np.arange(129), np.ones(129)]), header="l TT")
        result = self.done("split", "--beam", "flat.txt", "--lmax", 128, "--nside", 64, "--supports", "1deg:2deg")
        self.assertIn("harmonic: no compact part", result.out)

    def test_warns_where_a_table_ends_before_lmax(self):
        np.savetxt(self.folder / "short.txt", np.column_stack([np.arange(100), np.ones(100)]), header="l TT")
        for options in (("--beam", "short.txt"), ("--fwhm", "3deg", "--cl", "short.txt"),
                        ("--fwhm", "3deg", "--input-cl", "short.txt")):
            result = self.done("split", *options, "--lmax", 128, "--nside", 64)
            self.assertRegex(result.err, "short.txt: ends at l = 99.*degrees up to lmax = 128 are zero")

    def test_wrong_options_are_refused(self):
        usual = ("--lmax", 128, "--nside", 64)
        for options, says in ((usual, "--fwhm"), (("--fwhm", "1deg"), "--lmax"), (("--fwhm", 5, *usual), "unit"),
                              (("--fwhm", "1deg", "--lmax", 400, "--nside", 64), "lmax"),
                              (("--fwhm", "1deg", *usual, "--supports", "1deg"), "LOW:HIGH"),
                              (("--fwhm", "1deg", *usual, "--supports", "3deg:1deg"), "--supports"),
                              (("--fwhm", "1deg", *usual, "--error", "-1"), "--error")):
            self.refused("split", *options, code=2, says=[says])
        self.refused("split", "--fwhm", "1deg", *usual, "--cl", "none.txt", code=3, says=["none.txt"])


if __name__ == "__main__":
    program.main()
