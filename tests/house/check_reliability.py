#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that every test that docs/reliability.md names as `ctest name: case` exists and has this case, and that its rows
are numbered without gaps: check_reliability.py SOURCE_FOLDER"""
import re
import sys
from pathlib import Path

NAMED = re.compile(r"`([a-z0-9_]+): (\w+)`")
CASE = re.compile(r"^TEST(?:_[FP])?\(\w+,\s*(\w+)\)|^    def (test_\w+)\(self", re.MULTILINE)
CALL = re.compile(r"^ *(?:ringweave_\w+|add_test)\((?:NAME )?([\w.${}]+)\s(.*?)\)\n", re.MULTILINE | re.DOTALL)
ROWS = {"P": 16, "F": 36}


def has(program, file, folder):
    """Tells whether a CMakeLists.txt of the folder makes a test of this name from the file."""
    text = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    # The number of ranks does not count. A name with variables is made for each of several files, after which it is called.
    return any(file.name in words and name.split(".")[0] == program or "$" in name and file.stem == program
               for name, words in CALL.findall(text))


def offences(text, tests):
    """Yields what is wrong with the text of the page, given the folder of the tests."""
    files = {}
    for path in tests.rglob("*"):
        if path.suffix in (".cpp", ".py"):
            for case in CASE.findall(path.read_text(encoding="utf-8")):
                files.setdefault("".join(case), []).append(path)
    for program, case in NAMED.findall(text):
        folders = [(file, folder) for file in files.get(case, []) for folder in file.parents
                   if tests in (folder, *folder.parents) and (folder / "CMakeLists.txt").exists()]
        if not any(has(program, file, folder) for file, folder in folders):
            yield f"{program}: {case}: there is no such test"
    for letter, last in ROWS.items():
        numbers = [int(number) for number in re.findall(rf"^\| {letter}(\d+) \|", text, re.MULTILINE)]
        if numbers != list(range(1, last + 1)):
            yield f"rows {letter}1 to {letter}{last} are expected, found {numbers}"


def main(root):
    tests = Path(root, "tests")
    found = list(offences(Path(root, "docs/reliability.md").read_text(encoding="utf-8"), tests))
    for wrong in ("`io_test: NoSuchCase`", "`no_such_test: TellsEveryBitAndTheLength`"):
        assert "no such test" in next(offences(wrong, tests)), wrong
    print("\n".join(f"docs/reliability.md: {offence}" for offence in found) or "every test of docs/reliability.md exists")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
