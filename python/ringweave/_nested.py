# SPDX-License-Identifier: GPL-3.0-or-later
"""HEALPix's NESTED order of pixels."""
import numpy as np

from .errors import UsageError


def _every_second_bit(bits):
    """Returns the numbers made of bits 0, 2, 4, ..."""
    bits = bits & 0x5555555555555555
    for shift, mask in ((1, 0x3333333333333333), (2, 0x0F0F0F0F0F0F0F0F), (4, 0x00FF00FF00FF00FF),
                        (8, 0x0000FFFF0000FFFF), (16, 0x00000000FFFFFFFF)):
        bits = (bits | (bits >> shift)) & mask
    return bits


def ring_of_nested(nside):
    """Returns the number in RING order of every pixel in NESTED order."""
    if nside & (nside - 1):
        raise UsageError(f"nside: {nside} is no power of two, so it has no NESTED order")
    pixel = np.arange(12 * nside * nside, dtype=np.int64)
    face, within = np.divmod(pixel, nside * nside)
    x, y = _every_second_bit(within), _every_second_bit(within >> 1)
    # Ring from the north, 1 to 4 nside - 1, and its length over 4. Faces are four in the north, at the equator and in
    # the south.
    row, column = np.divmod(face, 4)
    ring = (row + 2) * nside - x - y - 1
    quarter = np.minimum(np.minimum(ring, 4 * nside - ring), nside)
    # On the belt every second ring begins half a pixel later.
    is_shifted = np.where(quarter < nside, 0, (ring - nside) & 1)
    centre = np.where(row == 1, 2 * column, 2 * column + 1)
    place = (centre * quarter + x - y + 1 + is_shifted) // 2 - 1
    place %= 4 * quarter
    before = np.where(ring <= nside, 2 * ring * (ring - 1),
                      np.where(ring <= 3 * nside, 2 * nside * (nside - 1) + (ring - nside) * 4 * nside,
                               12 * nside * nside - 2 * (4 * nside - ring) * (4 * nside - ring + 1)))
    return before + place


def to_ring(maps):
    """Returns maps of NESTED order in RING order."""
    ring = ring_of_nested(round((maps.shape[-1] / 12) ** 0.5))
    result = np.empty_like(maps)
    result[..., ring] = maps
    return result


def to_nested(maps):
    """Returns maps of RING order in NESTED order."""
    return maps[..., ring_of_nested(round((maps.shape[-1] / 12) ** 0.5))]
