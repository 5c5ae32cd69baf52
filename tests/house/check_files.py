#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that files state their licence, docstrings begin with a verb or a name, modules have READMEs, files and pictures
are small, scripts are executable, the picture of README.md is that of its commands, and the citation has the version of
the headers: check_files.py SOURCE_FOLDER"""
import os
import re
import sys
from pathlib import Path

SPDX = "SPDX-License-Identifier: GPL-3.0-or-later"
SOURCES = {".cpp", ".hpp", ".cu", ".cuh", ".inc", ".py", ".sh", ".cmake", ".in", ".sbatch", ".cff", ".def", ".yaml"}
SOURCE_NAMES = {"CMakeLists.txt", "Makefile", "run", "Dockerfile"}
TOPS = (".ci", "bench", "cmake", "examples", "include", "jobs", "packaging", "perf_models", "python", "scripts", "src", "tests")
DOCSTRING = re.compile(r"\s*///(?!<)")
# Words with which a clause begins that leaves its verb or its subject to be guessed. "Error  " is the title of a
# paragraph, which a sentence about the thing must precede.
NO_BEGINNING = re.compile(r"\s*/// (Error  |--|(After|As|At|Before|Beside|Between|By|For|From|How|If|In|Not|Of|On|Over|"
                          r"So|That|Those|To|What|When|Where|Whether|Which|Who|Why|With|Without)\b)")
MOST_LINES = 600
MOST_BYTES_OF_PICTURE = 300_000


def is_source(path):
    return path.suffix in SOURCES or path.name in SOURCE_NAMES


def file_offences(root, path):
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    # The first line, or the second after "#!".
    if not any(SPDX in line for line in lines[:2]):
        yield f"{path}: its first line must be the licence, {SPDX}"
    if lines[:1] and lines[0].startswith("#!") != os.access(root / path, os.X_OK):
        yield f"{path}: what begins with #! must be executable, and nothing else"
    if path.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
        for before, line in zip(["", *lines], lines):
            if NO_BEGINNING.match(line) and not DOCSTRING.match(before):
                yield f"{path}: begin with a verb or the name of the thing: {line.strip()}"
    if len(lines) > MOST_LINES:
        yield f"{path}: {len(lines)} lines; split it, {MOST_LINES} are the most"


def modules(root):
    """Returns the folders that must have a README: every CMake target, and some other folders."""
    for listing in sorted((root / "src").rglob("CMakeLists.txt")):
        yield listing.parent
    for name in ("perf_models", "python", "jobs", "docs", "examples", "packaging"):
        yield root / name


def citation_offences(root):
    version = re.search(r'VERSION "(.*)"', (root / "include/ringweave/version.hpp").read_text(encoding="utf-8"))[1]
    cited = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    if cited != version:
        yield f"CITATION.cff: version {cited}; include/ringweave/version.hpp has {version}"


def picture_offences(root):
    for path in sorted((root / "docs/images").glob("*.png")):
        if path.stat().st_size > MOST_BYTES_OF_PICTURE:
            yield (f"{path.relative_to(root)}: {path.stat().st_size} bytes; {MOST_BYTES_OF_PICTURE} are the most, draw it "
                   "smaller or with fewer colours")
    # scripts/draw_pictures.sh draws it with the commands of the first session.
    command = re.search(r"^ringweave plot smooth.*$", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    if command not in (root / "examples/first_session.sh").read_text(encoding="utf-8"):
        yield f"examples/first_session.sh: must draw the picture of README.md, {command}"
    width = int.from_bytes((root / "docs/images/smooth.png").read_bytes()[16:20], "big")
    if f"--width {width} " not in command:
        yield f"docs/images/smooth.png: is {width} pixels wide, but {command}; run scripts/draw_pictures.sh"


def offences(root):
    found = []
    paths = [root / name for name in ("CMakeLists.txt", "Makefile", "CITATION.cff", "pyproject.toml")]
    for top in TOPS:
        paths += [path for path in sorted((root / top).rglob("*")) if path.is_file() and is_source(path)]
    for path in paths:
        found += file_offences(root, path.relative_to(root))
    found += citation_offences(root)
    found += picture_offences(root)
    for module in modules(root):
        readme = module / "README.md"
        if not readme.is_file() or not readme.read_text(encoding="utf-8").strip():
            found.append(f"{module.relative_to(root)}: has no README.md that says what is in it")
    return found


def main():
    found = offences(Path(sys.argv[1]))
    print("\n".join(found) if found else "every file has its licence line, every module its README, the citation its version")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
