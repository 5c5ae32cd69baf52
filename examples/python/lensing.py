# SPDX-License-Identifier: GPL-3.0-or-later
# %% [markdown]
# # Lensing the CMB
# A sky and the potential that lenses it are drawn from their spectra. Every pixel looks where its light comes from, and
# E modes become B modes. Then the sky is moved back. Editors open this file as a notebook; it also runs as a script,
# alone or under mpirun: mpirun -n 2 python lensing.py
# %%
from pathlib import Path

import numpy as np

try:
    from mpi4py import MPI  # noqa: F401  Ringweave then works on MPI.COMM_WORLD.
except ImportError:
    pass
import ringweave as rw
from pictures import FOLDER, draw

NSIDE, LMAX = 128, 200

# %% [markdown]
# T, E, B and the potential, which is correlated with T and E.
# %%
grid = rw.Grid.healpix(NSIDE)
theory = rw.read_cl(Path(__file__).resolve().parents[1] / "lcdm_unlensed_cl.txt")
t = rw.Transform(grid, LMAX, spins=(0, 2))
*sky, phi = rw.draw_alm(theory, seed=5, layout=t.alm_layout, ncomp=4)
unlensed = t.synthesis(np.stack(sky))

# %% [markdown]
# The lensed map: where each pixel looks is planned once, and serves any number of skies. Plans of other work deal out
# orders m in other ways, so the a_lm move to those of this one.
# %%
deflection = rw.lensing.Deflection(grid, phi, t.alm_layout, kind="phi")
lensing = rw.lensing.Lensing(deflection, LMAX, (0, 2), epsilon=1e-7)
lensed = lensing.synthesis(rw.alm_redistribute(np.stack(sky), t.alm_layout, lensing.alm_layout))

# %% [markdown]
# Moved back by the inverse deflection. The lensed map has higher degrees than the sky, so more are taken of it.
# %%
back = rw.lensing.Delensing(deflection.inverse(), 3 * NSIDE - 1, (0, 2)).delens(lensed)

# %%
on_grid = lensing.map_layout.move(lensed, t.map_layout)
cl = rw.alm2cl(t.analysis(on_grid)[0], layout=t.alm_layout)
degrees = slice(50, 150)
changes, left = (np.sqrt(np.mean(np.square(lensing.map_layout.allgather(a - b)), axis=-1))
                 for a, b in ((lensed, t.map_layout.move(unlensed, lensing.map_layout)),
                              (back, t.map_layout.move(unlensed, lensing.map_layout))))
rw.write_map(FOLDER / "lensing.fits", on_grid - unlensed, layout=t.map_layout, units="uK", overwrite=True)
draw(t.comm, FOLDER / "lensing.fits", "lensing.png")
if t.comm.rank == 0:
    print(f"deflections of {np.degrees(deflection.rms) * 60:.2f} arcmin rms")
    print(f"B modes from E modes: BB / EE {np.mean(cl['BB'][degrees]) / np.mean(cl['EE'][degrees]):.1e}")
    print(f"lensing changes T by {changes[0]:.1f} uK rms, and {left[0]:.1f} uK are left after moving it back")
t.close()
