# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs timed by compare_peers.py, each with the same three members:

time(direction, count)  seconds of `count` calls in a row, and further facts
result(what)            "map" or "alm" of the last calls, [component][...], in RING and healpy's order
name, family            the program's name, and its column of the table

Peers also have version: (program, its version).
"""
import errno
import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np


def components_of(spins):
    """(spin, first component, end) of every field."""
    fields, first = [], 0
    for spin in spins:
        end = first + (1 if spin == 0 else 2)
        fields.append((spin, first, end))
        first = end
    return fields


class Ringweave:
    """Runs transform_bench with --commands, which executes commands and sleeps between them."""
    name = family = "Ringweave"

    def __init__(self, program, case, threads, ranks, exchange, backend, folder):
        self.folder = Path(folder)
        commands = self.folder / "commands"
        command = [program, "--grid", case.grid, "--lmax", str(case.lmax), "--maps", str(case.maps),
                   "--precision", case.precision, "--exchange", exchange, "--backend", backend,
                   "--iter", str(case.iterations),
                   "--directions", *case.directions, "--commands", "-" if ranks == 1 else str(commands)]
        command += ["--fields", case.fields] if case.fields else ["--spin", str(case.spin)]
        if ranks > 1:
            launcher = Path(__file__).resolve().parent.parent / "scripts" / "mpirun.sh"
            command = [str(launcher), str(ranks)] + command
            pipes = [f"{commands}.{rank}" for rank in range(ranks)]
            for pipe in pipes:
                os.mkfifo(pipe)
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MPIRUN_TIMEOUT="36000")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.about = self._answer()
        self.inputs = [self.process.stdin] if ranks == 1 else [self._open_pipe(pipe) for pipe in pipes]

    def _open_pipe(self, pipe):
        """Waits until the rank opens its end; fails when the rank has ended."""
        while True:
            try:
                descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO or self.process.poll() is not None:
                    raise
                time.sleep(0.01)
                continue
            os.set_blocking(descriptor, True)
            return os.fdopen(descriptor, "w")

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"transform_bench ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        for stream in self.inputs:
            stream.write(line + "\n")
            stream.flush()
        return self._answer()

    def time(self, direction, count):
        answer = self.ask(f"{direction} {count}")
        return answer["seconds"] * count, answer

    def result(self, what):
        path = self.folder / what
        self.ask(f"write {what} {path}")
        values = np.fromfile(path, dtype=np.float64 if what == "map" else np.complex128)
        path.unlink()
        return values.reshape(components_of(self.about["spins"])[-1][2], -1)

    def close(self):
        for stream in self.inputs:
            stream.close()
        if self.process.wait() != 0:
            raise RuntimeError("transform_bench failed at its end")


class Arrays:
    """The inputs and outputs shared by all peers of a case: eight maps of nside 2048 are stored once, not per peer."""

    def __init__(self, alm, about):
        single = about["precision"] == "single"
        self.alm = alm.astype(np.complex64 if single else np.complex128, copy=False)
        self.back = np.zeros_like(self.alm)
        self.map = np.zeros((self.alm.shape[0], about["n_pixels"]), np.float32 if single else np.float64)


class Peer:
    """A peer's arrays and timing; `call(direction)` returns the seconds of one call."""

    def __init__(self, arrays):
        self.alm, self.back, self.map = arrays.alm, arrays.back, arrays.map

    def time(self, direction, count):
        return sum(self.call(direction) for _ in range(count)), {}

    def result(self, what):
        return self.map if what == "map" else self.back


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Ducc0(Peer):
    """ducc0 on any HEALPix or Gauss-Legendre grid. `together`: a batch of equal spins in one call, by the leading
    dimension of its arrays; otherwise one field after the other (T, then E and B)."""

    def __init__(self, arrays, about, threads, together=False, theta_interpol=False):
        import ducc0
        super().__init__(arrays)
        self.sht = ducc0.sht
        self.version = ("ducc0", ducc0.__version__)
        self.family = "ducc0 theta_interpol" if theta_interpol else "ducc0"
        self.name = "ducc0, theta_interpol" if theta_interpol else "ducc0"
        if about["maps"] > 1:
            self.name += ", maps in one call" if together else ", map by map"
        self.iterations = about["iterations"]
        self.fields = components_of(about["spins"])
        self.together = together
        self.options = dict(lmax=about["lmax"], nthreads=threads)
        self.shape = None  # of a rectangular map
        grid, number = about["grid"].split(":")
        if grid == "gauss":
            self.shape = (about["n_rings"], about["n_pixels"] // about["n_rings"])
            self.options.update(geometry="GL")
        else:
            self.options.update(ducc0.healpix.Healpix_Base(int(number), "RING").sht_info())
            self.options.update({"theta_interpol": True} if theta_interpol else {})
        self.weights = None if self.shape else np.full(about["n_rings"], 4 * np.pi / about["n_pixels"])

    def _calls(self, transform, map_, alm, **more):
        if self.together:
            count = len(self.fields)
            transform(map=map_.reshape(count, -1, map_.shape[1]), alm=alm.reshape(count, -1, alm.shape[1]),
                      spin=self.fields[0][0], **self.options, **more)
            return
        for spin, first, end in self.fields:
            values = map_[first:end].reshape(-1, *self.shape) if self.shape else map_[first:end]
            transform(map=values, alm=alm[first:end], spin=spin, **self.options, **more)

    def call(self, direction):
        if direction == "synthesis":
            transform = self.sht.synthesis_2d if self.shape else self.sht.synthesis
            return seconds_of(lambda: self._calls(transform, self.map, self.alm))
        if direction == "adjoint":
            transform = self.sht.adjoint_synthesis_2d if self.shape else self.sht.adjoint_synthesis
            return seconds_of(lambda: self._calls(transform, self.map, self.back))
        if self.shape:
            return seconds_of(lambda: self._calls(self.sht.analysis_2d, self.map, self.back))
        return self._iterated_analysis()

    def _iterated_analysis(self):
        """Seconds of the 2 iterations + 1 transforms alone, without numpy's sums between them."""
        adjoint, synthesis = self.sht.adjoint_synthesis, self.sht.synthesis
        seconds = seconds_of(lambda: self._calls(adjoint, self.map, self.back, ringfactor=self.weights))
        residual, correction = np.empty_like(self.map), np.empty_like(self.back)
        for _ in range(self.iterations):
            seconds += seconds_of(lambda: self._calls(synthesis, residual, self.back))
            np.subtract(self.map, residual, out=residual)
            seconds += seconds_of(lambda: self._calls(adjoint, residual, correction, ringfactor=self.weights))
            self.back += correction
        return seconds


class Shtns(Peer):
    """SHTns on a Gauss-Legendre grid, scalar fields, maps by rings; it times its algorithms when planning."""
    name = family = "SHTns"

    def __init__(self, arrays, about):
        import shtns  # reads OMP_NUM_THREADS when imported
        super().__init__(arrays)
        self.version = ("SHTns", shtns.__version__)
        rings = about["n_rings"]
        self.shape = (rings, about["n_pixels"] // rings)
        self.plan = shtns.sht(about["lmax"], about["lmax"], norm=shtns.sht_orthonormal)
        self.plan.set_grid(*self.shape, flags=shtns.sht_gauss | shtns.SHT_PHI_CONTIGUOUS | shtns.SHT_SCALAR_ONLY)

    def call(self, direction):
        map_ = self.map[0].reshape(self.shape)
        if direction == "synthesis":
            return seconds_of(lambda: self.plan.SH_to_spat(self.alm[0], map_))
        return seconds_of(lambda: self.plan.spat_to_SH(map_, self.back[0]))


def installed(make):
    """Returns the peers made by make(), or none without their package."""
    try:
        return make()
    except ImportError as missing:
        print(f"{missing.name} is not installed: left out", flush=True)
        return []


def peers_of(case, alm, about, threads):
    """Returns the installed peers that support this case."""
    arrays = Arrays(alm, about)
    gauss = case.grid.startswith("gauss")
    together = case.maps > 1 and not case.fields and not gauss
    ways = [{}] + [{"together": True}] * together
    if not gauss:
        ways.append({"together": together, "theta_interpol": True})
    made = installed(lambda: [Ducc0(arrays, about, threads, **way) for way in ways])
    if gauss and about["spins"] == [0] and case.precision == "double" and "adjoint" not in case.directions:
        made += installed(lambda: [Shtns(arrays, about)])
    return made
