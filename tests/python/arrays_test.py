# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays go in and out without copies; wrong ones are refused with the reason, on all ranks alike."""
import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import ringweave as rw


def test_output_is_the_array_that_was_given(transform, alm):
    out = transform.empty_map()
    address = out.ctypes.data
    assert transform.synthesis(alm, out=out) is out
    assert out.ctypes.data == address
    back = transform.empty_alm()
    assert transform.adjoint_synthesis(out, out=back) is back
    assert transform.analysis(out, out=back)[0] is back
    assert rw.draw_alm({"TT": np.ones(17)}, 1, transform.alm_layout, out=back[:1]).ctypes.data == back.ctypes.data


def test_slices_of_the_callers_memory_go_in_and_out(transform, alm):
    n = transform.map_layout.size
    memory = np.full((2, 5, n + 3), np.nan)
    out = memory[1, ::2, 1:n + 1]
    wide = np.zeros((3, 2, alm.shape[1]), complex)
    wide[:, 1] = alm
    assert transform.synthesis(wide[:, 1], out=out) is out
    assert np.array_equal(out, transform.synthesis(alm))
    assert np.isnan(memory[0]).all() and np.isnan(memory[1, 1::2]).all()
    assert np.isnan(memory[1, :, 0]).all() and np.isnan(memory[1, :, n + 1:]).all()


def test_calls_allocate_no_arrays_of_python(transform, alm):
    out, back = transform.empty_map(), transform.empty_alm()
    transform.synthesis(alm, out=out)
    transform.adjoint_synthesis(out, out=back)
    tracemalloc.start()
    transform.synthesis(alm, out=out)
    transform.adjoint_synthesis(out, out=back)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4096


def test_new_arrays_are_aligned_and_outlive_the_plan(alm):
    t = rw.Transform("healpix:8", 16, spins=(0, 2))
    arrays = [t.empty_map(), t.empty_alm(), t.synthesis(alm)]
    assert all(array.ctypes.data % 64 == 0 for array in arrays if array.size)
    view = arrays[2][:, 1:]
    expected = view.copy()
    gone = weakref.ref(t)
    t.close()
    del t, arrays
    gc.collect()
    assert gone() is None
    assert np.array_equal(view, expected)


def test_leading_axes(transform, alm, same):
    batch = np.stack([alm, 2 * alm])
    maps = transform.synthesis(batch)
    assert maps.shape == (2, 3, transform.map_layout.size)
    same(maps[1], 2 * transform.synthesis(alm))
    out = np.empty((3, 2, transform.map_layout.size)).transpose(1, 0, 2)
    assert transform.synthesis(batch, out=out) is out and np.array_equal(out, maps)
    alms, reports = transform.analysis(maps)
    assert alms.shape == batch.shape and len(reports) == 2
    with rw.Transform("healpix:8", 16) as scalar:
        one = np.ascontiguousarray(scalar.synthesis(rw.draw_alm(np.ones(17), 1, scalar.alm_layout)[0]))
        assert one.shape == (scalar.map_layout.size,)
        assert scalar.adjoint_synthesis(one).shape == (scalar.alm_layout.size,)
        assert scalar.adjoint_synthesis(one[None]).shape == (1, scalar.alm_layout.size)


def test_precision_follows_the_input(transform, alm):
    single = alm.astype(np.complex64)
    map = transform.synthesis(single)
    assert map.dtype == np.float32
    assert np.abs(map - transform.synthesis(alm)).max() < 1e-4
    assert transform.adjoint_synthesis(map).dtype == np.complex64
    assert rw.Transform("healpix:8", 16, dtype="f4").empty_map().dtype == np.float32


def misaligned(alm):
    memory = np.zeros(alm.nbytes + 1, np.uint8)
    return memory[1:].view(alm.dtype).reshape(alm.shape) if alm.size else np.zeros(1)[:0]


WRONG = {
    "real": (lambda alm: alm.real.copy(), rw.ArrayError, "float64; expected an array of complex128"),
    "list": (lambda alm: [1, 2], rw.ArrayError, "type list"),
    "none": (lambda alm: None, rw.ArrayError, "NoneType"),
    "bytes of another order": (lambda alm: alm.astype(">c16"), rw.ArrayError, ">c16"),
    "long double": (lambda alm: alm.astype(np.clongdouble), rw.ArrayError, "clongdouble|complex256"),
    "columns": (lambda alm: np.asfortranarray(alm), rw.ArrayError, "not contiguous"),
    "backwards": (lambda alm: alm[::-1], rw.ArrayError, "backwards"),
    "broadcast": (lambda alm: np.broadcast_to(alm[0], alm.shape), rw.ArrayError, "overlap"),
    "misaligned": (misaligned, rw.ArrayError, "aligned|float64"),
    "many axes": (lambda alm: alm[None, None], rw.ArrayError, "4 axes"),
    "no axes": (lambda alm: np.array(1j), rw.ArrayError, "0 axes"),
    "few components": (lambda alm: alm[:2], rw.UsageError, "shape"),
    "few coefficients": (lambda alm: alm[:, :-1], rw.UsageError, "shape"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("everywhere", [True, False])
def test_wrong_inputs(name, everywhere, transform, alm, comm):
    make, error, reason = WRONG[name]
    wrong = make(alm) if everywhere or comm.rank == comm.size - 1 else alm
    with pytest.raises(error, match=reason) as caught:
        transform.synthesis(wrong)
    assert isinstance(caught.value, (ValueError, TypeError)) and caught.value.exit_code == 2
    if not everywhere and comm.size > 1:
        assert caught.value.rank == comm.size - 1
    transform.synthesis(alm)


def test_wrong_outputs(transform, alm):
    right = np.zeros((3, transform.map_layout.size))
    fixed = right.copy()
    fixed.flags.writeable = False
    for out, error, reason in ((fixed, rw.ArrayError, "read-only"), (right.astype("f4"), rw.ArrayError, "float32"),
                               (right[:2], rw.UsageError, "shape"), (right[None], rw.UsageError, "batch"),
                               (transform.empty_alm(), rw.ArrayError, "complex128")):
        with pytest.raises(error, match=reason):
            transform.synthesis(alm, out=out)
    with pytest.raises(rw.ArrayError, match="read-only"):
        transform.adjoint_synthesis(fixed, scratch=True)
    with pytest.raises(rw.UsageError, match="accumulate"):
        transform.adjoint_synthesis(right, accumulate=True)
    with pytest.raises(rw.UsageError, match="rings"):
        transform.adjoint_synthesis(right, weights=np.ones(1000))
    transform.synthesis(alm, out=right)
    transform.analysis(fixed * 0)


def test_output_within_the_input_is_refused():
    with rw.Transform("gauss:7", 7) as t:
        memory = np.zeros(2 * t.alm_layout.size + t.map_layout.size)
        alm = memory[:2 * t.alm_layout.size].view(complex)
        out = memory[1:t.map_layout.size + 1]
        if alm.size:
            with pytest.raises(rw.UsageError, match="shares memory"):
                t.synthesis(alm, out=out)


def test_torch_like_arrays_by_dlpack(transform, alm):
    class Other:
        """Array that has DLPack alone."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    out = transform.empty_map()
    transform.synthesis(Other(alm), out=Other(out))
    assert np.array_equal(out, transform.synthesis(alm))


def test_a_closed_plan_says_so(alm):
    t = rw.Transform("healpix:8", 16, spins=(0, 2))
    t.close()
    t.close()
    for call in (lambda: t.synthesis(alm), lambda: t.adjoint_synthesis(alm), lambda: t.inner(alm, alm),
                 lambda: t.times, t.release_workspace):
        with pytest.raises(rw.UsageError, match="closed"):
            call()
    assert "closed" in repr(t)
