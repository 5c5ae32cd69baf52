#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare gyroaverages with sparse and dense matrices and FFTs of numpy and scipy in one run; time what has no peer.

  bench/compare_gyro.py build/release/bench/gyro_bench --json gyro.jsonl
  bench/compare_gyro.py build/release/bench/gyro_bench --cases csr --n 64 --repeats 5
  bench/compare_gyro.py build/release/bench/gyro_bench --cases threads --threads 2

All on squares with boundary zero. The programs alternate; one sleeps while the other runs. One JSON line is written for
each problem, with the median, the least and all seconds of every contender. `ratio` is the median, over pairs, of a
peer's seconds over ours (`each`).

  csr      bilinear, bicubic: `csr`, the operator as scipy.sparse (its rows by circle_row); `numpy_fft`, `scipy_fft`:
           rfft2 of the padded field, product, irfft2, without the sides that a field which is not zero there needs
  dct      `numpy_fft`, `scipy_fft` likewise, times J0; `scipy_dct`: dctn of the length that we take
  dense    chebyshev: the operator as numpy array, times a vector or, for several fields, a matrix
  sets     3 radii, sets per second: a field for each radius (`pairs`), one field (`each`), sums, transposes (`adjoint`)
  setup    seconds of tables and plans of one radius
  threads  8 radii, one field each: one thread, --threads of them, and as many ranks; every run is a new launch

Differences are the largest over the largest result: of ours from the peer's, but those of `numpy_fft` and `scipy_fft`
from the sparse matrix, of a field that is zero next to the edge (case dct: from ours; another series, see
docs/gyroaveraging.md). --seconds processor counts processor time, for a machine that is not idle (not in case threads).
numpy must have a fast BLAS: its wheels have OpenBLAS, Debian's package may not.
"""
import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from asked_bench import AskedBench, report

THREE_RADII = [0.0625, 0.46875, 0.875]
EIGHT_RADII = [0.0625 + 0.8125 * i / 7 for i in range(8)]
# Sets of 3 radii per second, of Bassik (2021): 20 cores, and an RTX 8000 with transfers.
AUTHOR = {
    "20 cores": {
        "bilinear": {64: 2500, 80: 1096, 128: 365, 256: 42, 512: 2.8},
        "bicubic": {64: 255, 80: 122, 128: 28, 256: 4.5},
        "dct": {64: 702, 80: 328, 128: 132, 256: 27, 512: 6.7},
        "chebyshev": {64: 2.6, 80: 1.2},
    },
    "RTX 8000": {
        "bilinear": {64: 3420, 80: 2392, 128: 1000, 256: 142},
        "bicubic": {64: 471, 80: 273, 128: 105},
        "chebyshev": {64: 537, 80: 193},
    },
}
# Seconds that one measurement takes at least, in as many calls as needed.
LEAST_SECONDS = 0.1


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="the gyro_bench of a release build")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--n", type=int, nargs="+", help="nodes of an axis, in place of those of the case")
    parser.add_argument("--methods", nargs="+", help="of those of the case")
    parser.add_argument("--fields", type=int, nargs="+", help="of cases csr, dct and dense")
    parser.add_argument("--rho", type=float, default=0.46875, help="below 1; of cases csr, dct and dense")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seconds", choices=("wall", "processor"), default="wall")
    parser.add_argument("--json", type=Path, help="add the lines to this file, too")
    return parser.parse_args()


class Ringweave(AskedBench):
    """A gyro_bench of one problem."""

    def __init__(self, options, method, n, radii, fields=1, threads=None, ranks=1):
        super().__init__(options.program, ["--method", method, "--n", n, "--radii", *radii, "--fields", fields],
                         threads or options.threads, ranks)
        self.key = "seconds" if options.seconds == "wall" else "processor_seconds"
        self.about = {"method": method} | self.about
        self.stages = {}

    def timed(self, command):
        """Returns a function of the number of calls that returns the seconds of one."""
        def measure(calls):
            answer = self.ask(f"{command} {calls}")
            self.stages.setdefault(command, []).append(answer.get("stages", {}))
            return answer[self.key]
        return measure

    def shares(self, command, seconds):
        """Returns the shares of measured peaks: of multiply-adds, and of bytes read if tables are read once."""
        peak = self.ask("peak")
        shares = {"fma_peak": peak["flops"], "read_bandwidth": peak["read_bandwidth"],
                  "of_read_bandwidth": self.about["table_bytes"] / seconds / peak["read_bandwidth"]}
        if command in self.about["flops"]:
            shares["gflops_per_second"] = self.about["flops"][command] / seconds / 1e9
            shares["of_fma_peak"] = self.about["flops"][command] / seconds / peak["flops"]
        return shares

    def stage_medians(self, command):
        every = self.stages.get(command, [])
        return {name: statistics.median(one[name] for one in every) for name in (every[-1] if every else {})}


def timed(options, work):
    clock = time.perf_counter if options.seconds == "wall" else time.process_time

    def measure(calls):
        start = clock()
        for _ in range(calls):
            work()
        return (clock() - start) / calls
    return measure


def alternate(options, contenders):
    """Returns the seconds of a call of every contender, in all repeats."""
    calls = {}
    for name, measure in contenders.items():
        measure(1)
        calls[name] = max(1, round(LEAST_SECONDS / max(measure(1), 1e-6)))
    seconds = {name: [] for name in contenders}
    for repeat in range(options.repeats):
        for name in list(contenders)[:: 1 if repeat % 2 == 0 else -1]:
            time.sleep(0.05)
            seconds[name].append(contenders[name](calls[name]))
    return seconds


def summary(seconds, ours=None):
    row = {"median": {name: statistics.median(every) for name, every in seconds.items()},
           "least": {name: min(every) for name, every in seconds.items()}}
    if ours:
        row["ratio"] = {name: statistics.median(peer / own for peer, own in zip(every, seconds[ours]))
                        for name, every in seconds.items() if name != ours}
    return row | {"seconds": seconds}


def difference(a, b):
    import numpy as np
    return float(np.abs(a - b).max() / np.abs(b).max())


def versions():
    import numpy
    import scipy
    return {"numpy": numpy.__version__, "scipy": scipy.__version__}


class Operator:
    """The operator of the first radius of a gyro_bench, as a sparse matrix."""

    def __init__(self, program):
        import numpy as np
        import scipy.sparse
        n_nodes = program.about["n"] ** 2
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            program.ask(f"rows {folder}")
            self.seconds = time.perf_counter() - start
            begin = np.zeros(n_nodes + 1, dtype=np.int32)
            np.cumsum(np.fromfile(f"{folder}/counts", dtype=np.int64), out=begin[1:])
            columns = np.fromfile(f"{folder}/columns", dtype=np.int32)
            weights = np.fromfile(f"{folder}/weights")
        self.matrix = scipy.sparse.csr_matrix((weights, columns, begin), shape=(n_nodes, n_nodes))
        self.bytes = weights.nbytes + columns.nbytes + begin.nbytes


class Planes:
    """The fields of a gyro_bench and the results of the first radius, [field][node]."""

    def __init__(self, program):
        import numpy as np
        n_nodes = program.about["n"] ** 2
        with tempfile.TemporaryDirectory() as folder:
            program.ask(f"write {folder}")
            self.fields = np.fromfile(f"{folder}/fields").reshape(-1, n_nodes)
            self.results = np.fromfile(f"{folder}/results").reshape(-1, n_nodes)

    def columns(self):
        """Returns one field as a vector, several as a matrix."""
        import numpy as np
        return self.fields[0] if len(self.fields) == 1 else np.ascontiguousarray(self.fields.T)


class PaddedFft:
    """A product with a multiplier between real FFTs of the padded field, of numpy or scipy."""

    def __init__(self, options, name, n, length, multiplier_of):
        self.n, self.size = n, (length, length)
        if name == "numpy_fft":
            import numpy.fft as fft
            self.workers = {}
        else:
            import scipy.fft as fft
            self.workers = {"workers": options.threads}
        self.fft = fft
        self.multiplier = multiplier_of(fft)

    def __call__(self, fields):
        spectra = self.fft.rfft2(fields, s=self.size, axes=(-2, -1), **self.workers)
        spectra *= self.multiplier
        back = self.fft.irfft2(spectra, s=self.size, axes=(-2, -1), **self.workers)
        return back[..., : self.n, : self.n]


FFT_NAMES = ("numpy_fft", "scipy_fft")


def stencil_of(operator, n):
    """Returns the weights of a target in the middle, [dy][dx], and the largest offset."""
    import numpy as np
    middle = n // 2
    row = operator.matrix[middle * n + middle].toarray().reshape(n, n)
    y, x = np.nonzero(row)
    return row, int(max(np.abs(y - middle).max(), np.abs(x - middle).max()))


def csr_rows(options):
    for method in options.methods or ("bilinear", "bicubic"):
        for n in options.n or [200]:
            operator = None
            for fields in options.fields or [1, 8]:
                with Ringweave(options, method, n, [options.rho], fields) as program:
                    operator = operator or Operator(program)
                    yield csr_row(options, program, operator, n)


def csr_row(options, program, operator, n):
    import numpy as np
    import scipy.fft
    stencil, reach = stencil_of(operator, n)
    length = scipy.fft.next_fast_len(n + reach, real=True)
    middle = n // 2

    def multiplier(fft):
        # Even, so its transform is real.
        taps = np.zeros((length, length))
        taps[:n, :n] = stencil
        return fft.rfft2(np.roll(taps, (-middle, -middle), (0, 1))).real
    ffts = {name: PaddedFft(options, name, n, length, multiplier) for name in FFT_NAMES}
    own = Planes(program)
    planes = own.fields.reshape(-1, n, n)
    columns = own.columns()
    differences = {"csr": difference(own.results.T, operator.matrix @ own.fields.T)}
    inside = np.zeros_like(planes)
    inside[:, 5:-5, 5:-5] = planes[:, 5:-5, 5:-5]
    exact = (operator.matrix @ inside.reshape(own.fields.shape).T).T.reshape(inside.shape)
    differences |= {name: difference(fft(inside), exact) for name, fft in ffts.items()}
    contenders = {"ours": program.timed("each"), "csr": timed(options, lambda: operator.matrix @ columns)}
    contenders |= {name: timed(options, lambda fft=fft: fft(planes)) for name, fft in ffts.items()}
    row = summary(alternate(options, contenders), "ours")
    return program.about | row | {
        "rows_seconds": operator.seconds, "csr_bytes": operator.bytes, "fft_length": length,
        "difference": differences, "stages": program.stage_medians("each"), "versions": versions()
    } | program.shares("each", row["median"]["ours"])


def dct_rows(options):
    for n in options.n or [200]:
        for fields in options.fields or [1, 8]:
            with Ringweave(options, "dct", n, [options.rho], fields) as program:
                yield dct_row(options, program, n, fields)


def dct_row(options, program, n, fields):
    import numpy as np
    import scipy.fft
    import scipy.special
    own = Planes(program)
    planes = own.fields.reshape(-1, n, n)
    spacing = 2 / (n - 1)
    length = scipy.fft.next_fast_len(n + int(np.ceil(options.rho / spacing)), real=True)

    def bessel(y, x):
        return scipy.special.j0(options.rho * np.hypot(y[:, None], x[None, :]))

    def multiplier(_):
        return bessel(2 * np.pi * np.fft.fftfreq(length, spacing),
                      2 * np.pi * np.fft.rfftfreq(length, spacing))
    ffts = {name: PaddedFft(options, name, n, length, multiplier) for name in FFT_NAMES}
    cosine_length = program.about["filters"][0][0]
    first = (cosine_length - n) // 2
    wavenumbers = np.pi * np.arange(cosine_length) / (cosine_length * spacing)
    cosine_multiplier = bessel(wavenumbers, wavenumbers)
    padded = np.zeros((fields, cosine_length, cosine_length))

    def scipy_dct():
        inner = slice(first, first + n)
        padded[:, inner, inner] = planes
        spectra = scipy.fft.dctn(padded, axes=(-2, -1), workers=options.threads)
        spectra *= cosine_multiplier
        back = scipy.fft.idctn(spectra, axes=(-2, -1), workers=options.threads, overwrite_x=True)
        return back[:, inner, inner]
    ours = own.results.reshape(planes.shape)
    differences = {"scipy_dct": difference(ours, scipy_dct())}
    differences |= {name: difference(fft(planes), ours) for name, fft in ffts.items()}
    contenders = {"ours": program.timed("each"), "scipy_dct": timed(options, scipy_dct)}
    contenders |= {name: timed(options, lambda fft=fft: fft(planes)) for name, fft in ffts.items()}
    row = summary(alternate(options, contenders), "ours")
    return program.about | row | {
        "fft_length": length, "difference": differences, "stages": program.stage_medians("each"),
        "versions": versions()
    } | program.shares("each", row["median"]["ours"])


def dense_rows(options):
    for n in options.n or [80]:
        matrix = None
        for fields in options.fields or [1, 8, 32]:
            with Ringweave(options, "chebyshev", n, [options.rho], fields) as program:
                if matrix is None:
                    matrix = Operator(program).matrix.toarray()
                own = Planes(program)
                columns = own.columns()
                result = matrix @ columns
                contenders = {"ours": program.timed("each"), "dense": timed(options, lambda: matrix @ columns)}
                row = summary(alternate(options, contenders), "ours")
                yield program.about | row | {
                    "dense_bytes": matrix.nbytes,
                    "difference": {"dense": difference(own.results.T.reshape(result.shape), result)},
                    "stages": program.stage_medians("each"), "versions": versions()
                } | program.shares("each", row["median"]["ours"])


METHODS = ("bilinear", "bicubic", "dct", "chebyshev")


def sets_rows(options):
    for method in options.methods or METHODS:
        for n in options.n or ([64, 80, 128] if method == "chebyshev" else [64, 80, 128, 256, 512]):
            with Ringweave(options, method, n, THREE_RADII) as program:
                calls = ("pairs", "each", "sum", "adjoint")
                row = summary(alternate(options, {call: program.timed(call) for call in calls}))
                rates = {call: 1 / seconds for call, seconds in row["median"].items()}
                author = {machine: table[method][n] for machine, table in AUTHOR.items()
                          if n in table.get(method, {})}
                yield program.about | row | {
                    "sets_per_second": rates, "author_sets_per_second": author,
                    "times_author": {machine: rates["pairs"] / rate for machine, rate in author.items()},
                    "stages": {call: program.stage_medians(call) for call in calls}
                } | program.shares("pairs", row["median"]["pairs"])


def setup_rows(options):
    default = [("chebyshev", 80), ("chebyshev", 128), ("bicubic", 400), ("bilinear", 400), ("dct", 400)]
    for method, n in [(method, n) for method in options.methods or METHODS for n in options.n] if options.n else [
            (method, n) for method, n in default if method in (options.methods or METHODS)]:
        for rho in THREE_RADII:
            with Ringweave(options, method, n, [rho]) as program:
                yield program.about | summary(alternate(options, {"plan": program.timed("plan")}))


def threads_rows(options):
    threads = max(2, options.threads)
    teams = {"one": (1, 1), "threads": (1, threads), "ranks": (threads, 1)}
    for method in options.methods or METHODS:
        for n in options.n or [80 if method == "chebyshev" else 200]:
            seconds = {f"{call}, {team}": [] for call in ("pairs", "each", "sum") for team in teams}
            about = {}
            # Idle ranks wait without sleeping, so each is alone.
            for _ in range(options.repeats):
                for team, (ranks, team_threads) in teams.items():
                    with Ringweave(options, method, n, EIGHT_RADII, 1, team_threads, ranks) as program:
                        program.key = "seconds"
                        about[team] = program.about
                        for call in ("pairs", "each", "sum"):
                            measure = program.timed(call)
                            calls = max(1, round(LEAST_SECONDS / measure(1)))
                            seconds[f"{call}, {team}"].append(measure(calls))
            row = summary(seconds)
            speedup = {f"{call}, {team}": row["median"][f"{call}, one"] / row["median"][f"{call}, {team}"]
                       for call in ("pairs", "each", "sum") for team in ("threads", "ranks")}
            yield about["one"] | row | {"team": threads, "speedup": speedup, "clock": "wall",
                                        "bytes": {team: one["bytes"] for team, one in about.items()}}


CASES = {"csr": csr_rows, "dct": dct_rows, "dense": dense_rows, "sets": sets_rows, "setup": setup_rows,
         "threads": threads_rows}


def main():
    options = parse()
    # Before any library starts its threads.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(options.threads)
    options.program = options.program.resolve()
    for case in options.cases:
        for row in CASES[case](options):
            report({"case": case, "clock": options.seconds} | row, options.json)


if __name__ == "__main__":
    main()
