# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves between layouts and distributions of the caller."""
import healpy
import numpy as np
import pytest
from conftest import random_alm

import ringweave as rw

NPIX = 768
FULL = np.random.default_rng(5).normal(size=(2, NPIX))


def owned(comm, kind):
    """Returns numbers of this rank's pixels."""
    rng = np.random.default_rng(comm.rank)
    return {
        "every": np.arange(comm.rank, NPIX, comm.size),
        "shuffled": np.random.default_rng(1).permutation(NPIX)[comm.rank::comm.size],
        "shared": np.arange(NPIX),
        "repeated": rng.integers(0, NPIX, 2000),
        "none": np.arange(NPIX if comm.rank == comm.size - 1 else 0),
    }[kind]


@pytest.mark.parametrize("kind", ["every", "shuffled", "shared", "repeated", "none"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i2"])
def test_pixels_of_the_caller(kind, dtype, comm):
    full = (10 * FULL).astype(dtype)
    with rw.Transform("healpix:8", 16) as t:
        layout = t.map_layout
        mine = owned(comm, kind).astype("i4")
        moves = rw.Redistribution(comm, mine, layout)
        map = layout.scatter(full)
        for part, whole in ((map, full), (map[0], full[0]), (map[None], full[None])):
            values = moves.from_rings(part)
            assert values.dtype == full.dtype and np.array_equal(values, whole[..., mine])
            out = np.empty_like(values)
            assert moves.from_rings(part, out=out) is out and np.array_equal(out, values)
            seen = np.zeros(NPIX, dtype=bool)
            seen[np.concatenate(comm.allgather(mine))] = True
            back = moves.to_rings(values, fill=7)
            assert back.dtype == full.dtype
            assert np.array_equal(back, np.where(seen, whole, 7).astype(dtype)[..., layout.pixels()])
            kept = np.full_like(back, 3)
            assert moves.to_rings(values, fill=None, out=kept) is kept
            assert np.array_equal(kept, np.where(seen, whole, 3).astype(dtype)[..., layout.pixels()])


@pytest.mark.parametrize("kind", ["every", "shared", "repeated", "none"])
def test_sums_are_the_transpose(kind, comm):
    with rw.Transform("healpix:8", 16) as t:
        layout = t.map_layout
        mine = owned(comm, kind)
        moves = rw.Redistribution(None, mine, layout)
        values = np.random.default_rng(100 + comm.rank).normal(size=len(mine))
        expected = comm.allreduce(np.bincount(mine, weights=values, minlength=NPIX))
        found = moves.to_rings(values, combine="add")
        assert np.allclose(found, expected[layout.pixels()], atol=1e-12)
        map = layout.scatter(FULL[0])
        assert comm.allreduce(map @ found) == pytest.approx(comm.allreduce(values @ moves.from_rings(map)), abs=1e-10)
        hits = moves.to_rings(np.ones(len(mine), "i8"), combine="add")
        assert np.array_equal(hits, comm.allreduce(np.bincount(mine, minlength=NPIX))[layout.pixels()])


def test_the_last_rank_wins(comm):
    layout = rw.MapLayout("healpix:8")
    moves = rw.Redistribution(comm, np.arange(NPIX), layout)
    assert np.all(moves.to_rings(np.full(NPIX, comm.rank)) == comm.size - 1)


def test_wrong_pixels(comm):
    layout = rw.MapLayout("healpix:8")
    last = comm.rank == comm.size - 1
    for wrong in (np.array([NPIX]), np.array([-1]), np.array([0.5]), np.zeros((2, 2), int)):
        with pytest.raises(rw.UsageError, match="my_pixels"):
            rw.Redistribution(comm, wrong if last else np.arange(5), layout)
    moves = rw.Redistribution(comm, np.arange(5), layout)
    with pytest.raises(rw.UsageError, match="values"):
        moves.to_rings(np.zeros(6 if last else 5))
    with pytest.raises(rw.UsageError):
        moves.to_rings(np.zeros(5), combine="mean")
    with pytest.raises(rw.UsageError):
        moves.to_rings(np.zeros(5), fill=None)
    with pytest.raises(rw.UsageError):
        rw.Redistribution(comm, np.arange(5), "healpix:8")


def test_alm_of_other_layouts(rng, comm):
    alm = random_alm(rng, 16, 2)
    with rw.Transform("healpix:8", 16) as t, rw.Transform("healpix:8", 24, 10) as other:
        mine = t.alm_layout.scatter(alm)
        moved = rw.alm_redistribute(mine, t.alm_layout, other.alm_layout)
        expected = np.array(healpy.resize_alm(list(alm), 16, 16, 24, 10))
        assert np.array_equal(other.alm_layout.allgather(moved), expected)
        assert np.array_equal(rw.alm_redistribute(mine[0], t.alm_layout, other.alm_layout), moved[0])


def test_alm_to_groups_and_back(rng, comm):
    alm = random_alm(rng, 16, 2)
    group = comm.Split(comm.rank % 2, comm.rank)
    world = rw.AlmLayout(16, comm=comm)
    lmax = 16 - comm.rank % 2
    mine = rw.AlmLayout(lmax, comm=group)
    part = rw.alm_redistribute(world.scatter(alm), world, mine)
    expected = np.array(healpy.resize_alm(list(alm), 16, 16, lmax, lmax))
    assert np.array_equal(mine.allgather(part), expected)
    # Both groups have them; those of rank 0 are taken.
    back = rw.alm_redistribute(part * (1 + comm.rank % 2), mine, world)
    assert np.array_equal(world.allgather(back), alm)
    is_first = comm.rank % 2 == 0
    back = rw.alm_redistribute(part if is_first else None, mine if is_first else None, world)
    assert np.array_equal(world.allgather(back), alm)
    if comm.size > 1:
        there = rw.alm_redistribute(part if is_first else None, mine if is_first else None,
                                    None if is_first else mine, comm=comm)
        assert there is None if is_first else np.array_equal(there, part)
    group.Free()
    with pytest.raises(rw.UsageError):
        rw.alm_redistribute(None, None, world)
    with pytest.raises(rw.UsageError):
        rw.alm_redistribute(None, None, None)
