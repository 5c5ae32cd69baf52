#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that programs and libraries look for others in named folders only: check_runpaths.py FOLDER...

An empty or relative entry of RUNPATH is the current folder, so that a library in a folder of data would be loaded."""
import pathlib
import re
import subprocess
import sys

ENTRY = re.compile(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]")
NAMED = re.compile(r"/|\$(ORIGIN|\{ORIGIN\})(/|$)")


def wrong_entries(listing):
    """Returns the entries in what readelf -d printed that are neither absolute nor relative to the file."""
    entries = [entry for paths in ENTRY.findall(listing) for entry in paths.split(":")]
    return [entry for entry in entries if not NAMED.match(entry)]


def is_program_or_library(path):
    if path.is_symlink() or not path.is_file() or path.suffix in (".o", ".a"):
        return False
    with path.open("rb") as file:
        header = file.read(18)
    # Types 2 and 3: programs and shared objects.
    return header[:4] == b"\x7fELF" and header[16] in (2, 3)


def programs_and_libraries(folders):
    return [path for folder in folders for path in sorted(pathlib.Path(folder).rglob("*"))
            if is_program_or_library(path)]


def main(folders):
    files = programs_and_libraries(folders)
    wrong = []
    for path in files:
        listing = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        wrong += [f"{path}: RUNPATH has the entry '{entry}', which is the current folder or lies in it"
                  for entry in wrong_entries(listing)]
    assert wrong_entries(" 0x1d (RUNPATH)  Library runpath: [/usr/lib::lib:$ORIGIN/../lib:]") == ["", "lib", ""]
    print("\n".join(wrong) if wrong else f"{len(files)} programs and libraries name the folders of others in full")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
