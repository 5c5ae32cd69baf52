#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python examples of gyroaverages do what their first lines say: gyro_examples_test.py PROGRAM."""
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "gyroaverage"
PNG = b"\x89PNG"


def run(name, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *arguments], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name} {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    missing = [name for name in ("numpy", "scipy", "h5py", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)}")
        sys.exit(77)
    program = ("--program", sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "vortices.png"
        printed = run("gyroaverage.py", picture, "--nodes", "32", "--rho", "0.1,0.4", *program)
        left = [[int(number) for number in line] for line in re.findall(r"rho [\d.]+: (\d+) %.* (\d+) %", printed)]
        assert len(left) == 2, printed
        assert 100 > left[0][0] > left[1][0] > 0 and 100 > left[0][1] > left[1][1] > 0, printed
        assert picture.read_bytes().startswith(PNG)
        run("figures.py", folder, "--only", "idea", *program)
        assert (Path(folder) / "gyro_idea.png").read_bytes().startswith(PNG)


if __name__ == "__main__":
    main()
