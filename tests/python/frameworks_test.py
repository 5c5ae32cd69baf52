# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of torch and jax in the host's memory: taken without copies, and results of the same framework."""
import os

import numpy as np
import pytest

import ringweave as rw

os.environ.setdefault("JAX_PLATFORMS", "cpu")


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")

    def make(self, array):
        return self.module.from_dlpack(np.array(array))

    @staticmethod
    def address(array):
        return array.data_ptr()

    @staticmethod
    def numpy(array):
        return np.from_dlpack(array)


class Jax(Torch):
    def __init__(self):
        self.module = pytest.importorskip("jax")
        self.module.config.update("jax_enable_x64", True)

    def make(self, array):
        return self.module.numpy.array(array)

    @staticmethod
    def address(array):
        return array.unsafe_buffer_pointer()


@pytest.fixture(params=[Torch, Jax])
def framework(request):
    return request.param()


@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_results_are_of_the_same_framework(framework, transform, alm, dtype):
    alm = alm.astype(dtype)
    map = transform.synthesis(alm)
    given = framework.make(alm)
    found = transform.synthesis(given)
    assert type(found) is type(given) and np.array_equal(framework.numpy(found), map)
    back = transform.adjoint_synthesis(found)
    assert type(back) is type(given)
    assert np.array_equal(framework.numpy(back), transform.adjoint_synthesis(map))
    back, report = transform.analysis(found, iter=1)
    assert type(back) is type(given) and report.iterations == 1
    assert transform.inner(given, given) == transform.inner(alm, alm)
    layout = transform.alm_layout
    scaled = layout.multiply(given, np.arange(17.0))
    assert type(scaled) is type(given)
    assert np.array_equal(framework.numpy(scaled), layout.multiply(alm, np.arange(17.0)))
    rotated = rw.rotate_alm(given, layout, "G->C")
    assert type(rotated) is type(given) and np.array_equal(framework.numpy(rotated), rw.rotate_alm(alm, layout, "G->C"))
    assert np.array_equal(transform.map_layout.allgather(found), transform.map_layout.allgather(map))


def test_nothing_is_copied(framework, transform, alm):
    map = transform.synthesis(framework.make(alm))
    taken = rw._arrays.view(map)
    assert taken.ctypes.data == framework.address(map) == framework.numpy(map).ctypes.data
    owner = transform.empty_map()
    given = rw._arrays.like(map, owner)
    assert framework.address(given) == owner.ctypes.data and type(given) is type(map)


def test_outputs_of_torch_are_written_in_place(transform, alm):
    torch = pytest.importorskip("torch")
    memory = torch.full((2, 4, transform.map_layout.size + 1), 7.0, dtype=torch.float64)
    out = memory[1, :3, :-1]
    address = out.data_ptr()
    given = torch.from_dlpack(alm.copy())
    assert transform.synthesis(given, out=out) is out and out.data_ptr() == address
    assert np.array_equal(np.from_dlpack(out), transform.synthesis(alm))
    assert bool((memory[0] == 7).all()) and bool((memory[1, 3] == 7).all()) and bool((memory[:, :, -1] == 7).all())
    assert transform.synthesis(alm, out=out) is out
    map = transform.empty_map()
    assert transform.synthesis(given, out=map) is map
    layout = transform.alm_layout
    assert layout.multiply(given, np.arange(17.0), out=given) is given
    assert np.array_equal(np.from_dlpack(given), layout.multiply(alm, np.arange(17.0)))


def test_arrays_of_jax_are_not_written_to(transform, alm):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    out = jax.numpy.zeros((3, transform.map_layout.size))
    with pytest.raises(rw.ArrayError, match="read-only"):
        transform.synthesis(alm, out=out)


def test_tensors_that_need_more_are_refused(transform, alm):
    torch = pytest.importorskip("torch")
    with pytest.raises(rw.ArrayError, match="gradients"):
        transform.synthesis(torch.from_dlpack(alm.copy()).requires_grad_())
    with pytest.raises(rw.ArrayError, match="alm"):
        transform.synthesis(torch.from_dlpack(alm.copy()).to("meta"))
