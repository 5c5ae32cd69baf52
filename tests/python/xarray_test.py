# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps as datasets of xarray."""
import numpy as np
import pytest

import ringweave as rw

xarray = pytest.importorskip("xarray")


@pytest.mark.parametrize("name", ["map.fits", "map.h5"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_maps(name, dtype, folder, comm, rng):
    full = rng.normal(size=(3, 768)).astype(dtype)
    layout = rw.MapLayout("healpix:8")
    rw.write_map(folder / name, layout.scatter(full), layout=layout, units="uK", coordsys="G", nest=True)
    data = rw.to_xarray(folder / name)
    assert data["map"].dims == ("field", "cell") and data["map"].dtype == dtype and data["map"].shape == full.shape
    assert np.array_equal(data["map"].sel(field="U_POLARISATION"), full[2])
    assert np.array_equal(data["map"][1:, 5:700:3], full[1:, 5:700:3])
    assert np.array_equal(data["map"].isel(cell=[5, 3, 700]), full[:, [5, 3, 700]])
    assert np.array_equal(data["map"][1, 7], full[1, 7])
    assert np.array_equal(data["map"], full)
    assert data["map"].attrs == {"grid_mapping": "crs", "units": "uK", "COORDSYS": "G"}
    assert data["crs"].attrs["healpix_nside"] == 8 and data["crs"].attrs["refinement_level"] == 3
    assert float(data["map"].mean()) == pytest.approx(full.mean())


def test_maps_of_other_grids(folder, comm):
    layout = rw.MapLayout("gauss:7")
    values = np.arange(layout.full_size, dtype=float)
    rw.write_map(folder / "gauss.h5", layout.scatter(values[None]), layout=layout)
    data = rw.to_xarray(folder / "gauss.h5")
    assert np.array_equal(data["map"][0], values) and data["crs"].attrs == {"grid_name": "gauss:7"}


def test_only_what_is_used_is_read(folder, comm, monkeypatch):
    layout = rw.MapLayout("healpix:8")
    rw.write_map(folder / "map.fits", np.zeros((3, layout.size)), layout=layout)
    data = rw.to_xarray(folder / "map.fits")
    asked = []
    real = rw._core.empty_map
    monkeypatch.setattr(rw._core, "empty_map", lambda *arguments: asked.append(arguments[1]) or real(*arguments))
    assert float(data["map"][2].sum()) == 0 and asked == [1]


def test_missing_files():
    with pytest.raises(FileNotFoundError):
        rw.to_xarray("no.fits")
