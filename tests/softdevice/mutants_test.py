#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every barrier, wait, commit, exchange between lanes, vote and matrix product of our kernels, and every wait of a
stream for an event, is missed when left out.

  mutants_test.py PROGRAM FILTER [PROGRAM FILTER ...]     programs on the software device, and tests of theirs to run

The device leaves out each instruction in turn where a launch takes it, and writes what noticed that: a finding, another
end, or other values in memory. All must be noticed by a launch of one of the programs. A wait is noticed by operations
on the same memory that nothing would order without it.
"""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path


# Instructions whose absence nothing notices here: a part of the kernel's name, the opcode, and why.
UNNOTICED = [("SynthesisLaunch<ringweave::detail::gpu::ScalarsByTwo<4>, 3, ringweave::detail::gpu::MeasuredTuning",
              "vote.sync.any", "no small case has a warp of it with some lanes in the range of numbers and some below"),
             ("SynthesisLaunch<ringweave::detail::gpu::ScalarsByOne", "vote.sync.any",
              "near the equator only high orders of high degrees begin below the range of numbers: too long a test"),
             ("copy to the device behind ", "cudaStreamWaitEvent",
              "before modes that arrive are copied to the device, the host has waited for those that were sent, "
              "and so for the work before them")]


def is_excused(mutant):
    return any(kernel in mutant[0] and mutant[1].startswith(opcode) for kernel, opcode, _ in UNNOTICED)


def results(program, tests):
    """Returns what noticed each instruction left out: by kernel, instruction and line of the PTX."""
    command = [*program.split(), f"--gtest_filter={tests}"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(command, env=dict(os.environ, SOFTDEVICE_MUTANTS=folder), check=True)
        lines = [line for path in Path(folder).glob("*.json") for line in path.read_text().splitlines()]
    found = {}
    for one in map(json.loads, lines):
        # A wait is known by its number in a program; every rank must notice that it is missing.
        is_wait = one["instruction"] == "cudaStreamWaitEvent"
        mutant = (f"{one['kernel']}, {program}" if is_wait else one["kernel"], one["instruction"], one["line"])
        if mutant not in found or (found[mutant] in ("", "not taken")) != is_wait:
            found[mutant] = one["noticed"]
    return found


def main():
    noticed = {}
    for program, tests in zip(sys.argv[1::2], sys.argv[2::2]):
        for mutant, by in results(program, tests).items():
            if noticed.get(mutant, "not taken") in ("", "not taken"):
                noticed[mutant] = by
    missed = {mutant: by for mutant, by in noticed.items() if by in ("", "not taken") and not is_excused(mutant)}
    for (kernel, instruction, line), by in sorted(missed.items()):
        print(f"{by or 'not noticed'}: {instruction}, PTX line {line}, {kernel}")
    n_noticed = sum(by not in ("", "not taken") for by in noticed.values())
    n_kernels = len({kernel for kernel, _, _ in noticed})
    print(f"{n_noticed} of {len(noticed)} instructions of {n_kernels} kernels noticed:")
    for (instruction, by), count in sorted(Counter((m[1], by) for m, by in noticed.items()).items()):
        print(f"  {count:4} {instruction}: {by or 'not noticed'}")
    return 1 if missed or not noticed else 0


if __name__ == "__main__":
    sys.exit(main())
