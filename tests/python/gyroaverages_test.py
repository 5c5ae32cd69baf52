# SPDX-License-Identifier: GPL-3.0-or-later
"""Gyroaverages against Bessel functions times the modes of numpy's FFT, and against sums of single circles."""
import numpy as np
import pytest

import ringweave as rw

RADII = [0.0, 0.3, 0.85, 1.7]


@pytest.fixture
def nodes():
    """Returns the nodes of a periodic plane, x and y."""
    return 2 * np.pi * np.arange(15) / 15, np.pi * np.arange(13) / 13


def local(gyro, whole):
    """Returns this rank's part of (radii, fields, y, x) or (fields, y, x)."""
    part = gyro.part
    whole = whole[..., part.fields, part.field_rows, :]
    return np.ascontiguousarray(whole[part.radii] if whole.ndim == 4 else whole)


def total(comm, gyro, parts):
    """Returns (radii, fields, y, x) of all ranks, from results of every radius."""
    return comm.bcast(gyro.gather(parts))


def bessel(x):
    """Returns J0, for |x| below 100, as the mean of a plane wave on a circle."""
    angle = 2 * np.pi * np.arange(256) / 256
    return np.cos(x[..., None] * np.sin(angle)).mean(axis=-1)


def averaged(fields, radii, x, y):
    """Returns the averages of periodic fields by their modes."""
    def wave_numbers(nodes):
        return 2 * np.pi * np.fft.fftfreq(len(nodes), nodes[1] - nodes[0])
    k = np.hypot(wave_numbers(y)[:, None], wave_numbers(x))
    return np.stack([np.fft.ifft2(np.fft.fft2(fields) * bessel(k * rho)).real for rho in radii])


@pytest.mark.parametrize("nfields", [1, 3])
def test_averages_are_bessel_functions_of_modes(nfields, nodes, comm, rng, same):
    x, y = nodes
    fields = rng.normal(size=(nfields, len(y), len(x)))
    expected = averaged(fields, RADII, x, y)
    with rw.Gyroaverage(x, y, RADII, method="dct", boundary="periodic", nfields=nfields) as gyro:
        results = gyro.each(local(gyro, fields))
        same(total(comm, gyro, results), expected)
        many = expected[::-1].copy()
        same(total(comm, gyro, gyro.pairs(local(gyro, many))),
             np.stack([averaged(many[i], RADII[i:i + 1], x, y)[0] for i in range(len(RADII))]))
        weights = np.array([1.0, -2, 3, 0.5])
        summed = gyro.sum(local(gyro, many), weights)
        wanted = sum(w * averaged(many[i], RADII[i:i + 1], x, y)[0] for i, w in enumerate(weights))
        part = gyro.part
        if summed.size:
            same(summed, wanted[part.fields, part.rows])
        out = np.empty_like(results)
        assert gyro.each(local(gyro, fields), out=out) is out and np.array_equal(out, results)
        single = gyro.each(local(gyro, fields).astype("f4"))
        assert single.dtype == np.float32 and np.allclose(single, results, atol=1e-5)
        assert comm.allreduce(gyro.bytes) > 0 and gyro.method == "dct" and np.allclose(gyro.targets[0], x)


@pytest.mark.parametrize("method, boundary", [("bilinear", "zero"), ("bicubic", ("zero", "periodic")),
                                              ("bicubic", "mirror"), ("dct", "zero"), ("chebyshev", "zero")])
def test_transposes(method, boundary, comm, rng):
    n = 14
    nodes = -np.cos(np.pi * np.arange(n) / (n - 1)) if method == "chebyshev" else np.linspace(-1, 1, n)
    radii = [0.1, 0.4, 0.9]
    with rw.Gyroaverage(nodes, nodes, radii, boundary=boundary, method=method, nfields=2) as gyro:
        fields, results = rng.normal(size=(2, n, n)), rng.normal(size=(3, 2, n, n))
        many, weights = rng.normal(size=(3, 2, n, n)), rng.normal(size=3)
        part = gyro.part

        def dot(a, b):
            """Returns the sum over the ranks that share an array."""
            return comm.allreduce(np.sum(a * b))

        of_results = np.ascontiguousarray(results[part.radii, part.fields, part.rows])
        own_results = np.ascontiguousarray(results[0, part.fields, part.rows])
        # Fields that several ranks have count once.
        holders = np.zeros(fields.shape)
        holders[part.fields, part.field_rows] = bool(of_results.size)
        share = local(gyro, 1 / np.maximum(comm.allreduce(holders), 1))
        left = dot(gyro.each(local(gyro, fields)), of_results)
        back = gyro.each_adjoint(of_results)
        if of_results.size == 0:
            back = back * 0
        assert dot(local(gyro, fields) * share, back) == pytest.approx(left, rel=1e-11)
        holders = np.zeros(many.shape)
        holders[part.radii, part.fields, part.field_rows] = bool(of_results.size)
        share = local(gyro, 1 / np.maximum(comm.allreduce(holders), 1))
        left = dot(gyro.pairs(local(gyro, many)), of_results)
        assert dot(local(gyro, many) * share, gyro.pairs_adjoint(of_results)) == pytest.approx(left, rel=1e-11)
        holders = np.zeros((2, n, n))
        holders[part.fields, part.rows] = bool(of_results.size)
        shared = (1 / np.maximum(comm.allreduce(holders), 1))[part.fields, part.rows]
        left = dot(gyro.sum(local(gyro, many), weights), own_results * shared)
        right = gyro.sum_adjoint(own_results, weights)
        assert dot(local(gyro, many) * share, right) == pytest.approx(left, rel=1e-11)


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
def test_single_circles(method, rng, same, comm):
    x, y = np.linspace(0, 2, 14), np.linspace(-1, 1, 12)
    field = rng.normal(size=(12, 14))
    rho = 0.45
    expected = np.empty_like(field)
    matrix = np.zeros((12, 14, 12, 14))
    for j in range(12):
        for i in range(14):
            columns, rows, weights = rw.circle_row(x, y, (x[i], y[j]), rho, method=method)
            expected[j, i] = np.sum(weights * field[rows, columns])
            matrix[j, i, rows, columns] = weights
    with rw.Gyroaverage(x, y, [rho], method=method) as gyro:
        own = local(gyro, field[None])
        results = gyro.each(own)
        same(total(comm, gyro, results)[0, 0], expected)
        # A single field needs no axis.
        if comm.allreduce(own.shape[0]) == comm.size:
            assert np.array_equal(gyro.each(own[0]), results[:, 0])
    radii = np.full(field.shape, rho)
    same(rw.gyroaverage_with_radii(field, radii, x, y, method=method), expected)
    same(rw.gyroaverage_with_radii(field[None], radii[3:5], x, y, method=method, rows=(3, 5))[0], expected[3:5])
    back = rw.gyroaverage_with_radii_adjoint(field, radii, x, y, method=method)
    same(back, np.einsum("jikl,ji->kl", matrix, field))
    again = rw.gyroaverage_with_radii_adjoint(field, radii, x, y, method=method, out=back)
    assert again is back
    same(back, 2 * np.einsum("jikl,ji->kl", matrix, field))
    if method == "bilinear":
        angle = 2 * np.pi * (np.arange(20000) + 0.5) / 20000
        at_x = (x[5] + rho * np.cos(angle)) / (x[1] - x[0])
        at_y = (y[6] + rho * np.sin(angle) + 1) / (y[1] - y[0])
        i, j = np.floor(at_x).astype(int), np.floor(at_y).astype(int)
        u, v = at_x - i, at_y - j
        values = ((1 - u) * field[j, i] + u * field[j, i + 1]) * (1 - v) + (
            (1 - u) * field[j + 1, i] + u * field[j + 1, i + 1]) * v
        assert expected[6, 5] == pytest.approx(values.mean(), abs=1e-5)


def test_chebyshev_and_targets(comm):
    n = 24
    nodes = -np.cos(np.pi * np.arange(n) / (n - 1))
    field = np.exp(-4 * (nodes ** 2 + nodes[:, None] ** 2))
    with rw.Gyroaverage(nodes, nodes, [0.3], targets=(9, 7)) as gyro:
        assert gyro.method == "chebyshev"
        result = total(comm, gyro, gyro.each(local(gyro, field[None])))
        assert result.shape == (1, 1, 7, 9)
        angle = 2 * np.pi * np.arange(64) / 64
        expected = np.mean(np.exp(-4 * ((0.3 * np.cos(angle)) ** 2 + (0.3 * np.sin(angle)) ** 2)))
        assert result[0, 0, 3, 4] == pytest.approx(expected, abs=1e-6)
        assert 0 <= gyro.indicator < 1e-3


def test_wrong_arguments(nodes, comm):
    x, y = nodes
    for wrong in ({"radii": [-1.0]}, {"method": "spline"}, {"boundary": "open"}, {"boundary": ("zero",)},
                  {"x": x ** 2}, {"dtype": "i4"}):
        with pytest.raises(ValueError):
            rw.Gyroaverage(**{"x": x, "y": y, "radii": [0.5], **wrong})
    with rw.Gyroaverage(x, y, [0.5], nfields=2) as gyro:
        fields = np.ones((*(s.stop - s.start for s in (gyro.part.fields, gyro.part.field_rows)), len(x)))
        with pytest.raises(rw.UsageError, match="fields"):
            gyro.each(fields[..., 1:] if comm.rank == comm.size - 1 else fields)
        with pytest.raises(rw.ArrayError, match="contiguous"):
            gyro.each(np.repeat(fields, 2, axis=-1)[..., ::2])
        with pytest.raises(TypeError):
            gyro.each(fields.tolist())
        with pytest.raises(TypeError):
            gyro.each(fields.astype("i8"))
        if fields.size:
            fields[0, 0, 0] = np.nan
        with pytest.raises(rw.DataError):
            gyro.each(fields)
    with pytest.raises(rw.UsageError, match="closed"):
        gyro.each(fields)
