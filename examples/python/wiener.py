# SPDX-License-Identifier: GPL-3.0-or-later
# %% [markdown]
# # A Wiener filter on a masked sky
# Data d = M (Y a + n): a map of a sky with spectrum C_l, white noise n, and a mask M. The most probable a_lm solve
#
#     (C^-1 + Y^T N^-1 Y) a = Y^T N^-1 d,      N^-1 = M / sigma^2
#
# Y is `synthesis`, its transpose `adjoint_synthesis` exactly, and `inner` the inner product in which they are each
# other's transpose, so that conjugate gradients work. Alone or under mpirun: mpirun -n 2 python wiener.py
# %%
from pathlib import Path

import numpy as np

try:
    from mpi4py import MPI  # noqa: F401  Ringweave then works on MPI.COMM_WORLD.
except ImportError:
    pass
import ringweave as rw
from pictures import FOLDER, draw

NSIDE, LMAX, SIGMA = 64, 128, 60.0  # sigma: noise of a pixel in uK

# %% [markdown]
# The data: the galaxy and a disc are masked.
# %%
t = rw.Transform(rw.Grid.healpix(NSIDE), LMAX)
layout, orders = t.map_layout, t.alm_layout
cl = rw.read_cl(Path(__file__).resolve().parents[1] / "lcdm_cl.txt").cl["TT"][:LMAX + 1]
cl[:2] = cl[2]
truth = rw.draw_alm(cl, 7, orders)
theta, phi = layout.theta_phi()
mask = (np.abs(np.pi / 2 - theta) > 0.25) & ((theta - 0.9) ** 2 + (phi - 4) ** 2 > 0.05)
noise = np.random.default_rng(1).normal(scale=SIGMA, size=t.grid.npix)[layout.pixels()]
data = (t.synthesis(truth) + noise) * mask

# %% [markdown]
# Conjugate gradients, preconditioned with the matrix for a full sky. All ranks see the same inner products.
# %%
inverse_noise = mask / SIGMA ** 2
per_degree = t.grid.npix / (4 * np.pi) / SIGMA ** 2
work, answer = t.empty_map(), t.empty_alm()


def apply(alm):
    """Returns (C^-1 + Y^T N^-1 Y) a."""
    t.synthesis(alm, out=work)
    np.multiply(work, inverse_noise, out=work)
    orders.multiply(alm, 1 / cl, out=answer)
    return t.adjoint_synthesis(work, out=answer, accumulate=True)


def precondition(alm):
    """Returns a / (1 / C_l + 1 / N_l)."""
    return orders.multiply(alm, 1 / (1 / cl + per_degree))


alm = np.zeros_like(truth)
residual = t.adjoint_synthesis(data * inverse_noise)
start = t.norm(residual)
direction = precondition(residual)
product = t.inner(residual, direction)
for step in range(200):
    image = apply(direction)
    alpha = product / t.inner(direction, image)
    alm += alpha * direction
    residual -= alpha * image
    if t.norm(residual) < 1e-6 * start:
        break
    scaled = precondition(residual)
    new_product = t.inner(residual, scaled)
    direction = scaled + (new_product / product) * direction
    product = new_product

# %%
filtered = t.synthesis(alm)[0]
sky = t.synthesis(truth)[0]
seen_data = np.where(mask, data, -1.6375e30)[0]
rw.write_map(FOLDER / "wiener_data.fits", seen_data, layout=layout, units="uK", overwrite=True)
rw.write_map(FOLDER / "wiener.fits", filtered, layout=layout, units="uK", overwrite=True)
draw(t.comm, FOLDER / "wiener_data.fits", "wiener_data.png")
draw(t.comm, FOLDER / "wiener.fits", "wiener.png")
full = layout.allgather(np.stack([filtered, sky, noise, mask]))
seen = full[3] > 0
last = t.norm(residual) / start
if t.comm.rank == 0:
    errors = [np.std((full[0] - full[1])[where]) for where in (seen, ~seen)]
    print(f"{step + 1} iterations, residual {last:.1e}")
    print(f"sky {np.std(full[1]):.1f} uK rms, noise {SIGMA:.1f} uK; error {errors[0]:.1f} uK where seen, "
          f"{errors[1]:.1f} uK behind the mask")
t.close()
