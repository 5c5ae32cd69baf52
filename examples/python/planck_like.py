# SPDX-License-Identifier: GPL-3.0-or-later
# %% [markdown]
# # Smoothing a map like Planck's
# A map of temperature and polarisation at nside 128 with CMB, point sources, a beam of 60 arcmin, and pixels without
# data, which are UNSEEN. It is brought to a resolution of 90 arcmin in three ways. Editors open this file as a
# notebook; it also runs as a script, alone or under mpirun: mpirun -n 2 python planck_like.py
# %%
from pathlib import Path

import numpy as np

try:
    from mpi4py import MPI  # noqa: F401  Ringweave then works on MPI.COMM_WORLD.
except ImportError:
    pass
import ringweave as rw
from pictures import FOLDER, draw

NSIDE, LMAX = 128, 383
UNSEEN = -1.6375e30

# %% [markdown]
# The sky. Every rank works on the pixels of `layout`.
# %%
grid = rw.Grid.healpix(NSIDE)
theory = rw.read_cl(Path(__file__).resolve().parents[1] / "lcdm_cl.txt")
with rw.Transform(grid, LMAX, spins=(0, 2)) as t:
    comm, layout = t.comm, t.map_layout
    alm = rw.draw_alm(theory, seed=12, layout=t.alm_layout, ncomp=3)
    # Point sources: the same numbers on every rank, of which each takes its own pixels.
    chosen = np.random.default_rng(3).integers(0, grid.npix, 40)
    places = layout.local(chosen)
    sources = t.empty_map()
    sources[...] = 0
    sources[0, places[places >= 0]] = 30000
    alm += t.analysis(sources)[0]
    for component, spin in enumerate((0, 2, 2)):
        t.alm_layout.multiply(alm[component], rw.gauss_beam("60arcmin", LMAX, spin), out=alm[component])
    sky = t.synthesis(alm)
theta, phi = layout.theta_phi()
sky[:, (np.abs(theta - 1.3) < 0.1) & (phi > 1) & (phi < 1.5)] = UNSEEN
rw.write_map(FOLDER / "planck_like.fits", sky, layout=layout, units="uK", overwrite=True)
draw(comm, FOLDER / "planck_like.fits", "planck_like.png")

# %% [markdown]
# To 90 arcmin: the beam that the map has is taken into account. UNSEEN pixels count as 0 and stay UNSEEN, or the result
# is divided by the smoothed mask, which keeps the level at the edges.
# %%
restored = rw.smooth(sky, layout=layout, fwhm="90arcmin", fwhm_in="60arcmin", lmax=LMAX)
normalised = rw.smooth(sky, layout=layout, fwhm="90arcmin", fwhm_in="60arcmin", lmax=LMAX, unseen="normalize")
rw.write_map(FOLDER / "planck_like_smooth.fits", normalised, layout=layout, units="uK", overwrite=True)
draw(comm, FOLDER / "planck_like_smooth.fits", "planck_like_smooth.png")

# %% [markdown]
# The same on rings, without harmonics: pixels are summed within the support of the kernel that takes 60 arcmin to
# 90, so that nothing rings.
# %%
on_rings = rw.smooth(sky[:1], layout=layout, fwhm=np.sqrt(np.radians(1.5) ** 2 - np.radians(1) ** 2), method="ring")

# %%
seen = layout.allgather((restored[0] > -1e30).astype(np.uint8)).astype(bool)
whole = layout.allgather(np.stack([sky[0], restored[0], on_rings[0]]))[:, seen]
far = np.abs(layout.allgather(theta)[seen] - 1.3) > 0.2
difference = np.std((whole[1] - whole[2])[far]) / np.std(whole[1][far])
if comm.rank == 0:
    print(f"T: {np.std(whole[0]):.1f} uK rms, after smoothing {np.std(whole[1]):.1f} uK")
    print(f"harmonics and rings differ by {difference:.1e} rms away from the hole")
