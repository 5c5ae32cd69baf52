#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists the tests that ctest's last run in a build folder skipped, wholly or in part, and fails for those that
tests/allowed_skips.txt does not allow: check_skips.py BUILD_FOLDER

Reads the log of ctest, for what GoogleTest, unittest and tests/app/program.py print. A program that runs no test counts
as skipped, and so does a test that is switched off.
"""
import ast
import fnmatch
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, namedtuple
from pathlib import Path

ALLOWED = Path(__file__).resolve().parents[1] / "tests/allowed_skips.txt"

Skip = namedtuple("Skip", "test case reason")
Rule = namedtuple("Rule", "condition test reason")

COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")
TEST = re.compile(r"^\d+/\d+ Test: (\S+)\n(.*?)<end of output>$", re.MULTILINE | re.DOTALL)
GOOGLE_REASON = re.compile(r"^\S+:\d+: Skipped$")
GOOGLE_SKIP = re.compile(r"\[  SKIPPED \] (\S+?),? .*\(\d+ ms\)$")
PYTHON_SKIP = re.compile(r"""(?:^(?P<case>.*?) \.\.\. .*|^.*)\bskipped (?P<reason>(['"]).*\3)$""")
PYTHON_COUNT = re.compile(r"^(?:OK|FAILED) \(.*\bskipped=(\d+)", re.MULTILINE)
WHOLE_SKIP = re.compile(r"^skipped: (.*)$")
NO_TEST = re.compile(r"^(?:\[==========\] Running|Ran) 0 tests ", re.MULTILINE)


def skips_of(test, output):
    """Yields the skips that the output of one test tells of."""
    output = COLOUR.sub("", output)
    found = 0
    of_python = 0
    reason = ""
    lines = output.splitlines()
    for line, after in zip(lines, [*lines[1:], ""]):
        if GOOGLE_REASON.match(line):
            reason = after
        elif skip := GOOGLE_SKIP.search(line):
            found += 1
            yield Skip(test, skip[1], reason)
        elif skip := PYTHON_SKIP.match(line):
            found += 1
            of_python += 1
            case = re.sub(r".*\(__main__\.(.*)\)$", r"\1", skip["case"] or "")
            yield Skip(test, case, " ".join(ast.literal_eval(skip["reason"]).split()))
        elif skip := WHOLE_SKIP.match(line):
            found += 1
            yield Skip(test, "", skip[1])
    silent = sum(map(int, PYTHON_COUNT.findall(output))) - of_python
    if silent > 0:
        yield Skip(test, "", f"{silent} cases without a reason: call unittest.main(verbosity=2)")
    if not found and NO_TEST.search(output):
        yield Skip(test, "", "it has run no test")


def all_skips(build):
    folder = Path(build) / "Testing/Temporary"
    log = (folder / "LastTest.log").read_text(encoding="utf-8", errors="replace")
    skips = []
    tests = TEST.findall(log)
    for test, output in tests:
        skips += skips_of(test, output)
    # What ctest itself calls skipped or disabled.
    disabled = folder / "LastTestsDisabled.log"
    if disabled.exists():
        told = {skip.test for skip in skips}
        names = [line.split(":", 1)[1] for line in disabled.read_text(encoding="utf-8").splitlines()]
        skips += [Skip(name, "", "disabled") for name in names if name not in told]
    return skips, len(tests)


class Machine:
    """Tells which conditions of tests/allowed_skips.txt hold for a build on this machine."""

    def __init__(self, build):
        text = (Path(build) / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace")
        self.cache = dict(re.findall(r"^([^#/\s:]+):[A-Z]+=(.*)$", text, re.MULTILINE))

    def __call__(self, condition):
        kind, _, name = condition.partition(":")
        return getattr(self, "is_" + kind.replace("-", "_"))(*([name] if name else []))

    def variable(self, name):
        return "" if self.cache.get(name, "").endswith("NOTFOUND") else self.cache.get(name, "")

    def is_always(self):
        return True

    def is_sanitized(self):
        return self.variable("RINGWEAVE_SANITIZE") != ""

    def is_mpich(self):
        return "mpich" in self.variable("MPI_C_LIB_NAMES")

    def has(self, option, found):
        return self.variable(option) == "ON" or (self.variable(option) == "AUTO" and found)

    def is_no_cairo(self):
        return not self.has("RINGWEAVE_PLOT", self.variable("CAIRO_FOUND") == "1")

    def is_cairo(self):
        return not self.is_no_cairo()

    def is_no_cuda(self):
        return not self.has("RINGWEAVE_CUDA", self.variable("CMAKE_CUDA_COMPILER") != "" and not self.is_sanitized())

    def is_no_gpu(self):
        return self.is_no_cuda() or not Path("/dev/nvidiactl").exists()

    def is_gpu(self):
        return not self.is_no_gpu()

    def is_no_sample_data(self):
        folder = self.variable("RINGWEAVE_TEST_DATA")
        return not folder or not Path(folder).is_dir()

    def is_no_root(self):
        return os.geteuid() != 0

    def is_one_core(self):
        return len(os.sched_getaffinity(0)) < 2

    def is_no_namespace(self, kind):
        own = [] if os.geteuid() == 0 or kind == "mount" else ["--map-root-user"]
        command = ["unshare", f"--{kind}", *own, "true"]
        return not shutil.which("unshare") or subprocess.run(command, capture_output=True, check=False).returncode != 0

    def is_no_program(self, name):
        return shutil.which(name) is None

    def is_no_nanobind(self):
        return self.variable("nanobind_DIR") == ""

    def is_no_module(self, name):
        python = self.variable("RINGWEAVE_TEST_PYTHON")
        if not python:
            return importlib.util.find_spec(name) is None
        code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{name}') is None)"
        return subprocess.run([python, "-c", code], check=False).returncode != 0


def rules_of(path):
    rules = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|")]
            if len(fields) != 3:
                sys.exit(f"{path}:{number}: expected 'condition | test | reason'")
            rules.append(Rule(*fields))
    return rules


def matches(rule, skip):
    names = (skip.test, f"{skip.test}: {skip.case}")
    return any(fnmatch.fnmatchcase(name, rule.test) for name in names) and fnmatch.fnmatchcase(skip.reason, rule.reason)


def main(build):
    skips, n_tests = all_skips(build)
    machine = Machine(build)
    rules = rules_of(ALLOWED)
    holds = {rule.condition: machine(rule.condition) for rule in rules}
    allowed, wrong = Counter(), []
    for skip in skips:
        rule = next((rule for rule in rules if holds[rule.condition] and matches(rule, skip)), None)
        if rule:
            allowed[rule] += 1
        else:
            wrong.append(skip)
    print(f"{build}: {n_tests} tests, {len(skips)} skips, {len(wrong)} of them not allowed")
    for rule, number in sorted(allowed.items()):
        print(f"{number:6}  {rule.condition:20} {rule.test:40} {rule.reason}")
    for skip in wrong:
        print(f"not allowed by {ALLOWED.name}: {skip.test}: {skip.case}: {skip.reason}")
    if n_tests == 0:
        print("the log tells of no test")
    return 1 if wrong or n_tests == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD_FOLDER")
    sys.exit(main(sys.argv[1]))
