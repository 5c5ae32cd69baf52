#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests scripts/check_skips.py with logs as ctest writes them."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_skips

GOOGLE = """Running main() from gtest_main.cc
[ RUN      ] Device.CopiesThereAndBackAreEqual
/sources/tests/base/device_test.cpp:51: Skipped
no CUDA device: no CUDA-capable device is detected

\x1b[0;32m[  SKIPPED ] \x1b[mDevice.CopiesThereAndBackAreEqual (0 ms)
[ RUN      ] Threads/Calls.AreNone/3
/sources/tests/calls_test.cpp:32: Skipped
a sanitizer has allocations of its own

[  SKIPPED ] Threads/Calls.AreNone/3, where GetParam() = 3 (0 ms)
[  PASSED  ] 1 test.
[  SKIPPED ] 2 tests, listed below:
[  SKIPPED ] Device.CopiesThereAndBackAreEqual
[  SKIPPED ] Threads/Calls.AreNone/3
"""
PYTHON = """test_one (__main__.Sky.test_one) ... ok
test_two (__main__.Sky.test_two) ... skipped 'this build\\ncannot draw'
setUpClass (__main__.Other) ... skipped "No module named 'ducc0'"

----------------------------------------------------------------------
Ran 2 tests in 0.500s

OK (skipped=2)
"""


class CheckSkips(unittest.TestCase):
    def setUp(self):
        self.build = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.logs = self.build / "Testing/Temporary"
        self.logs.mkdir(parents=True)
        self.write("CMakeCache.txt", "RINGWEAVE_CUDA:STRING=OFF\nRINGWEAVE_PLOT:STRING=AUTO\nCAIRO_FOUND:INTERNAL=1\n"
                   "RINGWEAVE_SANITIZE:STRING=\nRINGWEAVE_TEST_DATA:PATH=\n")

    def write(self, name, text):
        (self.build / name).write_text(text, encoding="utf-8")

    def log(self, **outputs):
        line = "-" * 58 + "\n"
        self.write("Testing/Temporary/LastTest.log", "Start testing: Nov 29 14:54 UTC\n" + "".join(
            f"{line}1/2 Testing: {test}\n1/2 Test: {test}\nCommand: \"run\"\nOutput:\n{line}{output}<end of output>\n"
            f"Test time =   0.10 sec\n{line}Test Passed.\n" for test, output in outputs.items()))

    def checked(self):
        """Returns the exit code and what was printed."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = check_skips.main(str(self.build))
        return code, printed.getvalue()

    def test_cases_of_googletest_are_found_with_their_reasons(self):
        self.log(base_test=GOOGLE)
        self.assertEqual(check_skips.all_skips(self.build)[0], [
            ("base_test", "Device.CopiesThereAndBackAreEqual", "no CUDA device: no CUDA-capable device is detected"),
            ("base_test", "Threads/Calls.AreNone/3", "a sanitizer has allocations of its own")])

    def test_cases_of_unittest_are_found_with_their_reasons(self):
        self.log(sky=PYTHON)
        self.assertEqual(check_skips.all_skips(self.build)[0], [
            ("sky", "Sky.test_two", "this build cannot draw"),
            ("sky", "Other", "No module named 'ducc0'")])

    def test_what_gives_no_reason_is_found(self):
        self.log(house_jobs="..s\nRan 3 tests in 0.1s\n\nOK (skipped=1)\n",
                 ranks_test="[==========] Running 0 tests from 0 test suites.\n[  PASSED  ] 0 tests.\n",
                 alm="skipped: No module named 'healpy'\n")
        self.write("Testing/Temporary/LastTestsDisabled.log", "7:house_demo\n8:alm\n")
        reasons = {skip.test: skip.reason for skip in check_skips.all_skips(self.build)[0]}
        self.assertEqual(reasons.pop("house_jobs")[:24], "1 cases without a reason")
        self.assertEqual(reasons, {"ranks_test": "it has run no test", "alm": "No module named 'healpy'",
                                   "house_demo": "disabled"})
        self.assertEqual(self.checked()[0], 1)

    def test_a_skip_is_allowed_where_its_condition_holds(self):
        self.log(base_test="\n".join(GOOGLE.splitlines()[:6]))
        code, printed = self.checked()
        self.assertEqual(code, 0, printed)
        self.assertIn("1 skips, 0 of them not allowed", printed)
        self.log(base_test=GOOGLE)  # one is of sanitized builds
        code, printed = self.checked()
        self.assertEqual(code, 1)
        self.assertIn("Threads/Calls.AreNone/3: a sanitizer", printed)
        self.write("CMakeCache.txt", "RINGWEAVE_SANITIZE:STRING=address\n")
        self.assertEqual(self.checked()[0], 0)

    def test_a_log_without_tests_is_an_error(self):
        self.log()
        self.assertEqual(self.checked()[0], 1)

    def test_every_line_of_the_list_is_understood(self):
        machine = check_skips.Machine(self.build)
        rules = check_skips.rules_of(check_skips.ALLOWED)
        self.assertGreater(len(rules), 20)
        for rule in rules:
            self.assertIn(machine(rule.condition), (True, False), rule)


if __name__ == "__main__":
    unittest.main()
