#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the ranks meet for each file of a run of many: counting_test.py PROGRAM INJECTOR MPIRUN

Where there are more threads than processors each meeting costs a time slice, more than a small file itself.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, INJECTOR, MPIRUN = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:4])
MOST = {"MPI_Iallreduce": 9.5, "MPI_Bcast": 2, "MPI_Allreduce": 1.5}


class Collectives(unittest.TestCase):
    def count(self, folder, n_maps):
        """Returns how often rank 0 makes each call for so many maps in groups of four."""
        log = pathlib.Path(folder, "log")
        log.unlink(missing_ok=True)
        words = f"synthesize --cl cl.txt --seed 1..{n_maps} --nside 4 --batch 4 --overwrite sky_{{seed}}.h5".split()
        variables = {**os.environ, "OMP_NUM_THREADS": "1", "RINGWEAVE_FAULT_LOG": str(log),
                     "RINGWEAVE_FAULT": "call=mpi,rank=0,act=count"}
        preload = ":".join(filter(None, (INJECTOR, os.environ.get("LD_PRELOAD"))))
        subprocess.run([MPIRUN, "2", "env", f"LD_PRELOAD={preload}", PROGRAM, *words], cwd=folder, env=variables,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
        counts = {}
        for line in log.read_text(encoding="utf-8").splitlines():
            fields = dict(word.split("=", 1) for word in line.split()[1:])
            counts[fields["call"]] = int(fields["n"])
        return counts

    def test_are_few_for_each_output(self):
        with tempfile.TemporaryDirectory(prefix="counting_") as folder:
            pathlib.Path(folder, "cl.txt").write_text("".join(f"{l} {1 / (l + 1)}\n" for l in range(12)),
                                                      encoding="utf-8")
            few, many = self.count(folder, 4), self.count(folder, 24)
        for call, most in MOST.items():
            self.assertLessEqual((many[call] - few[call]) / 20, most, call)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
