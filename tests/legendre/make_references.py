#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write references.inc: harmonics at high degree, summed with 80 digits by mpmath.

Each entry is {theta, m, l, lambda_lm(cos theta)}, or for spin 2 {theta, m, l, gradient, curl}: with HEALPix's signs Q = sum
gradient E + i curl B, U = sum gradient B - i curl E. theta is exactly the printed double. Values below 1e-300 are left
out. Run in this folder: python3 make_references.py > references.inc
"""
from mpmath import cos, mp, mpf, pi, sin, sqrt

mp.dps = 80


def harmonics(m, degrees, theta):
    """Returns lambda_lm for the given degrees, by the three-term recurrence upward in l."""
    z, s = cos(mpf(theta)), sin(mpf(theta))
    value = sqrt(1 / (4 * pi))
    for j in range(1, m + 1):
        value *= -sqrt(mpf(2 * j + 1) / (2 * j)) * s
    previous, found = mpf(0), {}
    epsilon = lambda l: sqrt(mpf(l * l - m * m) / (4 * l * l - 1)) if l > m else mpf(0)
    for l in range(m, max(degrees) + 1):
        if l in degrees:
            found[l] = value
        previous, value = value, (z * value - epsilon(l) * previous) / epsilon(l + 1)
    return found


def write_list(name, entries):
    """Prints the definition of a list, as many entries as fit a line of 120 columns."""
    print(f"inline const std::vector<Reference> {name} = {{")
    line = "   "
    for entry in entries:
        if len(line) + len(entry) > 118:
            print(line)
            line = "   "
        line += f" {entry},"
    print(line + "};")


def block(name, thetas, orders, degrees):
    entries = []
    for theta in thetas:
        for m in orders:
            for l, value in harmonics(m, {l for l in degrees if l >= m}, theta).items():
                if abs(value) > mpf("1e-300"):
                    entries.append(f"{{{theta!r}, {m}, {l}, {mp.nstr(value, 20)}}}")
    write_list(name, entries)


def spin_two(m, l, theta, value, lower):
    """Returns gradient and curl from lambda_lm and lambda_{l-1,m} (Kamionkowski, Kosowsky, Stebbins, 1997)."""
    z, s = cos(mpf(theta)), sin(mpf(theta))
    norm = 2 / sqrt(mpf(l + 2) * (l + 1) * l * (l - 1))
    lower = sqrt(mpf(2 * l + 1) / (2 * l - 1) * (l * l - m * m)) * lower
    gradient = (mpf(l - m * m) / s ** 2 + mpf(l * (l - 1)) / 2) * value - z / s ** 2 * lower
    curl = m / s ** 2 * ((l - 1) * z * value - lower)
    return norm * gradient, norm * curl


def spin_two_block(name, thetas, orders, degrees):
    entries = []
    for theta in thetas:
        for m in orders:
            wanted = [l for l in degrees if l >= m]
            found = harmonics(m, {*wanted, *(l - 1 for l in wanted if l > m)}, theta)
            for l in wanted:
                pair = spin_two(m, l, theta, found[l], found.get(l - 1, mpf(0)))
                if max(map(abs, pair)) > mpf("1e-300"):
                    entries.append(f"{{{theta!r}, {m}, {l}, {mp.nstr(pair[0], 20)}, {mp.nstr(pair[1], 20)}}}")
    write_list(name, entries)


if __name__ == "__main__":
    print("// SPDX-License-Identifier: GPL-3.0-or-later")
    print("// Written by make_references.py.")
    # sin(theta) from 0.3 to 1, and the ring of nside 2048 next to the equator.
    mid = [0.3046926540153975] + [0.35 + 0.05 * i for i in range(25)] + [1.5704708, 1.5707963267948966]
    block("mid_latitudes_m0", mid, [0], [1023, 4096, 6001, 8191, 8192])
    block("mid_latitudes_m4096", mid, [4096], [4096, 4097, 4500, 6001, 8191, 8192])
    block("next_to_the_pole", [1e-4, 2e-4, 1e-3, 0.01, 0.1, 0.5, 1.2], range(0, 31, 3), [30, 31, 500, 2001, 4096, 8191, 8192])
    highest = [1e-4, 0.02, 0.5, 1.3], [0, 200, 16000, 31000], [31000, 32767, 32768]
    block("highest_degrees", *highest)
    spin_two_block("highest_degrees_spin_two", *highest)
