#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print a bound of the seconds that transforms take on an A100 and an H100, for each kernel. Nothing is measured.

  device_bounds.py BUILD/bench/device_bench_on_softdevice --nside 2048 --spins 0 2 --maps 1 4
  device_bounds.py BUILD/tests/softdevice/ringweave_on_softdevice --run smooth sky.h5 out.h5 --fwhm 10arcmin --method ring

The second form takes any command of a program; most of what it computes is wrong, since most blocks do not run.

The software device counts what the kernels do (SOFTDEVICE_COUNTS), in about one block of 64, and reads their registers
in the machine code. From that follow, for each kernel, the seconds of

  issue   instructions of warps, one a cycle for each of the four schedulers of a multiprocessor
  FP64    multiply-adds and other operations in double precision; matrix products
  shared  passes over the banks of shared memory, one a cycle
  memory  sectors of 32 bytes at the rate of the memory, each once in a launch; FFTs of cuFFT read and write rows once

at the highest clock. The largest is the bound: a kernel may take longer, because it waits, but hardly less. PTX is
counted: a division is one instruction there and many in the machine, a move may be none.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Data sheets and tuning guides of NVIDIA: multiprocessors, clock in Hz, multiply-adds of doubles a cycle in a
# multiprocessor (by threads, by matrices), bytes a second, bytes of shared memory in a multiprocessor.
DEVICES = {
    "A100": {"capability": "80", "multiprocessors": 108, "clock": 1.41e9, "fma": 32, "matrix": 64, "memory": 2.039e12,
             "shared": 164 << 10},
    "H100": {"capability": "90", "multiprocessors": 132, "clock": 1.98e9, "fma": 64, "matrix": 128, "memory": 3.35e12,
             "shared": 228 << 10},
}
PIPES = ("fp64_fma", "fp64_other", "fp64_matrix", "integer", "memory", "control")
MATRIX_FMAS = 256  # of an m8n8k4 product
LIMITS = ("issue", "FP64", "shared", "memory")


def seconds_of(counts, device):
    """Returns the seconds of each limit for the counts of a kernel."""
    cycles = device["multiprocessors"] * device["clock"]
    lanes = 32 * (counts["fp64_fma"] + counts["fp64_other"])
    return {
        "issue": sum(counts[pipe] for pipe in PIPES) / (4 * cycles),
        "FP64": max(lanes / device["fma"], MATRIX_FMAS * counts["fp64_matrix"] / device["matrix"]) / cycles,
        "shared": counts["shared_passes"] / cycles,
        "memory": 32 * counts["distinct_sectors"] / device["memory"],
    }


def resident_warps(counts, device):
    """Returns the warps that fit a multiprocessor, or None where the registers are not known."""
    registers = counts["registers"].get(device["capability"])
    if registers is None or counts["blocks"] == 0:
        return None
    warps = round(counts["warps"] / counts["blocks"])
    of_warp = -(-32 * registers // 256) * 256
    shared = counts["shared_bytes_of_block"] + 1024
    blocks = min(65536 // (warps * of_warp), device["shared"] // shared, 64 // warps, 32)
    return warps * blocks


def short(kernel):
    """Returns what a kernel is the launch of."""
    launch = re.sub(r"^void .*?run_launch<(.*?) ?>\(.*$", r"\1", kernel)
    return re.sub(r"ringweave::detail::(gpu::)?", "", launch)


def count(program, arguments, sample):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.json"
        settings = {"SOFTDEVICE_COUNTS": str(path), "SOFTDEVICE_SAMPLE": str(sample),
                    "SOFTDEVICE_MEMORY": str(64 << 30)}
        subprocess.run([program, *arguments], env=dict(os.environ, **settings), check=True)
        return [json.loads(line) for line in path.read_text().splitlines()]


def print_bounds(kernels, name, device):
    total = 0
    print(f"  {name}: bound" + "".join(f"{one:>9}" for one in LIMITS) + "  limit    warps  sectors/request  kernel")
    rows = []
    for counts in kernels:
        seconds = seconds_of(counts, device)
        limit = max(LIMITS, key=seconds.get)
        rows.append((seconds[limit], limit, seconds, counts))
        total += seconds[limit]
    for bound, limit, seconds, counts in sorted(rows, key=lambda row: -row[0]):
        if bound < 1e-3 * total:
            continue
        warps = resident_warps(counts, device)
        requests = counts["global_requests"]
        print(f"  {bound:11.6f}" + "".join(f"{seconds[one]:9.6f}" for one in LIMITS)
              + f"  {limit:7} {'' if warps is None else warps:>5}"
              + f"  {counts['global_sectors'] / requests if requests else 0:15.1f}  {short(counts['kernel'])}")
    print(f"  {total:11.6f} all")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="device_bench or another program, linked with the software device")
    parser.add_argument("--run", nargs=argparse.REMAINDER, help="arguments of the program, in place of those below")
    parser.add_argument("--nside", type=int, nargs="+", default=[2048])
    parser.add_argument("--lmax-over-nside", type=float, default=2)
    parser.add_argument("--spins", type=int, nargs="+", default=[0, 2])
    parser.add_argument("--maps", type=int, nargs="+", default=[1])
    parser.add_argument("--sample", type=int, default=64, help="run about one block in so many")
    options = parser.parse_args()
    if options.run:
        kernels = count(options.program, options.run, options.sample)
        print(f"{' '.join(options.run)}: seconds")
        for name, device in DEVICES.items():
            print_bounds(kernels, name, device)
        return
    for nside in options.nside:
        for spin in options.spins:
            for maps in options.maps:
                for direction in ("synthesis", "adjoint"):
                    lmax = int(options.lmax_over_nside * nside)
                    arguments = ["--bounds", direction, "--nside", nside, "--lmax-over-nside", options.lmax_over_nside,
                                 "--spins", spin, "--maps", maps]
                    kernels = count(options.program, list(map(str, arguments)), options.sample)
                    print(f"{direction}, nside {nside}, lmax {lmax}, spin {spin}, maps {maps}, seconds")
                    for name, device in DEVICES.items():
                        print_bounds(kernels, name, device)
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
