#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that programs and libraries are linked as cmake/Hardening.cmake asks: check_hardening.py FOLDER...

They are position-independent, their tables of addresses are read only once they run, no memory is both written and
executed, and those of some size use the stack protector. What CMake tries and what other projects build inside a FOLDER,
with a CMakeCache.txt of their own, does not count."""
import pathlib
import re
import subprocess
import sys

from check_runpaths import programs_and_libraries

# Smaller ones may have no array to protect.
BYTES_THAT_NEED_A_STACK_PROTECTOR = 64 * 1024


def offences(listing, n_bytes):
    """Yields what is wrong, from what readelf -hldW --dyn-syms printed of a file."""
    segments = {}
    for kind, flags in re.findall(r"^ +([A-Z_]+) +(?:0x[0-9a-f]+ ){5}([R ][W ][E ])", listing, re.MULTILINE):
        segments.setdefault(kind, []).append(flags)
    if not re.search(r"^ *Type: +DYN", listing, re.MULTILINE):
        yield "is not position-independent (-fPIE -pie)"
    if not re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", listing):
        yield "binds functions when they are first called (-z now)"
    if "GNU_RELRO" not in segments:
        yield "has writable tables of addresses (-z relro)"
    if "GNU_STACK" not in segments or any("E" in flags for flags in segments["GNU_STACK"]):
        yield "has an executable stack (-z noexecstack)"
    if any("W" in flags and "E" in flags for flags in segments.get("LOAD", [])):
        yield "has a segment that is both writable and executable"
    if n_bytes >= BYTES_THAT_NEED_A_STACK_PROTECTOR and "__stack_chk_fail" not in listing:
        yield "does not use the stack protector (-fstack-protector-strong)"


def offences_of(path):
    listing = subprocess.run(["readelf", "-hldW", "--dyn-syms", path], capture_output=True, text=True, check=True).stdout
    return [f"{path}: {offence}" for offence in offences(listing, path.stat().st_size)]


def is_ours(path, folder):
    inside = path.relative_to(folder).parents
    return "CMakeFiles" not in path.parts and not any(
        parent != pathlib.Path(".") and (folder / parent / "CMakeCache.txt").exists() for parent in inside)


def main(folders):
    files = [path for folder in map(pathlib.Path, folders) for path in programs_and_libraries([folder])
             if is_ours(path, folder)]
    wrong = [offence for path in files for offence in offences_of(path)]
    print("\n".join(wrong) if wrong else f"{len(files)} programs and libraries are hardened")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
