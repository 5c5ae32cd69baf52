# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program: python -m ringweave COMMAND ..."""
import os
import shutil
import sys
from pathlib import Path


def _program():
    own = Path(__file__).resolve().parent / "bin/ringweave"
    if own.exists():
        return str(own)
    # Not the script that is this function.
    script = Path(sys.argv[0]).resolve()
    for folder in os.get_exec_path():
        found = shutil.which("ringweave", path=folder)
        if found and Path(found).resolve() != script and not Path(found).read_bytes()[:2] == b"#!":
            return found
    return None


def main():
    """Becomes the program."""
    program = _program()
    if program is None:
        sys.exit("ringweave: the program is not in this package, nor on PATH")
    os.execv(program, ["ringweave", *sys.argv[1:]])


if __name__ == "__main__":
    main()
