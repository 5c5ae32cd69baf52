# SPDX-License-Identifier: GPL-3.0-or-later
"""A benchmark program that answers commands, a line of JSON for each: points_bench, gyro_bench."""
import json
import os
import subprocess
import sys
from pathlib import Path

MPIRUN = Path(__file__).resolve().parent.parent / "scripts" / "mpirun.sh"


def report(row, path):
    """Prints a line of JSON, and adds it to the file, if there is one."""
    line = json.dumps(row)
    print(line, flush=True)
    if path:
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class AskedBench:
    def __init__(self, program, arguments, threads, ranks=1):
        launcher = [MPIRUN, ranks] if ranks > 1 else []
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MPIRUN_TIMEOUT="36000")
        self.name = Path(program).name
        self.process = subprocess.Popen([str(word) for word in [*launcher, program, *arguments]],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.about = self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()
