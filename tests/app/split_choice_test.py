#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`smooth --method split` takes one split for all ranks and threads, or that of a file; `auto` names its method."""
import json

import predictions_test
import program
from program_test import LMAX, NSIDE

from files import map_header


class OneSplit(predictions_test.LongTail):
    def plan(self):
        """Returns the plan in the report of the last run."""
        return json.loads((self.folder / "report.json").read_text())["plan"]

    def test_is_the_same_bit_by_bit_on_any_ranks_and_threads(self):
        """A Gaussian, which rings alone can smooth too: on 7 ranks that would be the fastest split of T."""
        self.done("synthesize", "--alm", "alm.h5", "--nside", 31, "--lmax", 62, "odd.h5", "--overwrite")
        first = None
        for ranks, threads in predictions_test.at_most((1, 1), (1, 3), (2, 1), (3, 1), (5, 1), (7, 1)):
            self.done("smooth", "odd.h5", "smoothed.h5", "--fwhm", "9deg", "--method", "split", "--threads", threads,
                      "--report", "report.json", "--overwrite", ranks=ranks)
            plan = self.plan()
            first = first or (plan["splits"], self.read("smoothed.h5").tobytes())
            self.assertEqual((plan["splits"], self.read("smoothed.h5").tobytes()), first, (ranks, threads))
            header = map_header(self.folder / "smoothed.h5")
            self.assertEqual(header["SMETHOD"], "split")
            self.assertEqual(header["MAX-LPOL"], plan["l_cut"])
            self.assertEqual(header["SUPPORT"], plan["support_degrees"])
            for split in plan["splits"]:
                self.assertIn(f"l_cut {split['l_cut']}, support {split['support_degrees']:.12g} degrees",
                              header["SPLIT"])

    def test_a_file_fixes_the_split_whatever_the_machine_predicts(self):
        rings = [key for key in self.machine if key.startswith("convolution_")]
        slow = self.write_machine("slow_rings.json", **{key: 1e6 for key in rings})
        fast = self.write_machine("fast_rings.json", **{key: 1e-6 for key in rings})
        self.done("split", "--beam", "tail.txt", "--lmax", LMAX, "--nside", NSIDE, "--error", 1e-3, "--machine", slow,
                  "--json", "chosen.json", "--overwrite")
        plan = ("--report", "report.json")
        expected = self.smooth("split", "--error", 1e-3, "--machine", slow, *plan)[1]
        splits = self.plan()["splits"]
        for ranks in (1, 2):
            ours = self.smooth("split", "--split", "chosen.json", "--machine", fast, *plan, ranks=ranks)[1]
            self.assertEqual(ours.tobytes(), expected.tobytes())
            report = self.plan()
            self.assertEqual((report["splits"], report["split_file"]), (splits, "chosen.json"))
        self.smooth("split", "--error", 1e-3, "--machine", fast, *plan)
        self.assertNotEqual(self.plan()["splits"], splits)
        self.smooth("split", "--split", "chosen.json", *plan, fields="TQU")
        of_both = self.plan()["splits"]
        self.assertEqual([split["support_degrees"] for split in of_both], [splits[0]["support_degrees"]] * 2)
        self.assertEqual(of_both[0]["l_cut"], splits[0]["l_cut"])

    def test_a_file_that_does_not_fit_the_map_is_refused(self):
        self.done("split", "--beam", "tail.txt", "--lmax", LMAX, "--nside", NSIDE, "--error", 1e-3, "--json",
                  "of_tail.json", "--overwrite")
        usual = ("smooth", "sky.h5", "none.h5", "--fields", "T", "--split", "of_tail.json")
        for options, says in ((("--beam", "tail.txt", "--lmax", LMAX), "only --method split"),
                              (("--beam", "tail.txt", "--lmax", 60, "--method", "split"), "give --lmax 95"),
                              (("--fwhm", "9deg", "--lmax", LMAX, "--method", "split"), "another kernel"),
                              (("--beam", "tail.txt", "--lmax", LMAX, "--method", "split", "--error", 1e-5), "l_cut")):
            self.refused(*usual, *options, code=2, says=["--split", says])
        self.done("synthesize", "--alm", "alm.h5", "--nside", 40, "other.h5", "--overwrite")
        fits = ("--beam", "tail.txt", "--lmax", LMAX, "--method", "split", "--fields", "T", "--split")
        self.refused("smooth", "other.h5", "none.h5", *fits, "of_tail.json", code=2, says=["nside"])
        whole = (self.folder / "of_tail.json").read_text()
        for text in ("", "{", "[1]", '{"verdict": "split", "scan": [], "l_cut": 3}',
                     whole.replace(f'"nside": {NSIDE}', '"nside": 1e300')):
            (self.folder / "broken.json").write_text(text)
            self.refused("smooth", "sky.h5", "none.h5", *fits, "broken.json", code=3, says=["broken.json"])
        self.assertFalse((self.folder / "none.h5").exists())

    def test_file_and_report_name_the_method_that_auto_takes(self):
        for machine, method in (("slow_rings", "harmonic"), ("fast_rings", "ring")):
            factor = 1e6 if method == "harmonic" else 1e-6
            rings = {key: factor for key in self.machine if key.startswith("convolution_")}
            self.done("smooth", "sky.h5", "auto.h5", "--fwhm", "10deg", "--fields", "T", "--iter", 0, "--machine",
                      self.write_machine(f"{machine}.json", **rings), "--report", "report.json", "--overwrite")
            self.assertEqual(self.plan()["method"], method)
            self.assertIn("predicted to be the fastest", self.plan()["why_method"])
            self.assertEqual(map_header(self.folder / "auto.h5")["SMETHOD"], method)


if __name__ == "__main__":
    program.main()
