#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the demo spectrum examples/lcdm_cl.txt with CAMB (pip install camb; two to four minutes).

Lensed scalar TT, EE, BB, TE in uK^2 and the lensing potential PP, as C_l without l (l + 1) factors, for
l = 0..8192; zero below l = 2. Flat LCDM with the base parameters of Planck 2018 (arXiv:1807.06209, Table 2,
TT,TE,EE+lowE+lensing).
"""
import argparse

import camb

LMAX = 8192
# Lensing moves power between degrees: the unlensed spectra extend beyond the written degrees.
LENSING_MARGIN = 1500
PARAMETERS = {
    "H0": 67.36,
    "ombh2": 0.02237,
    "omch2": 0.1200,
    "mnu": 0.06,
    "omk": 0.0,
    "tau": 0.0544,
    "As": 2.1e-9,
    "ns": 0.9649,
}
ACCURACY = {"AccuracyBoost": 1.5, "lSampleBoost": 2.5, "lAccuracyBoost": 1.2, "min_l_logl_sampling": 10000}
LENS_POTENTIAL_ACCURACY = 14


def spectra():
    """Returns (TT, EE, BB, TE, PP), each LMAX + 1 values."""
    model = camb.set_params(lmax=LMAX, lens_output_margin=LENSING_MARGIN,
                            lens_potential_accuracy=LENS_POTENTIAL_ACCURACY, **PARAMETERS)
    model.set_accuracy(**ACCURACY)
    # The full range of angles in the lensing integrals: 1e-4 at the highest degrees, 6e-4 in BB at the lowest.
    model.Accuracy.AccurateBB = True
    # CAMB interpolates between degrees with a template of few digits, which leaves noise of 1e-6 at every l.
    model.use_cl_spline_template = False
    powers = camb.get_results(model).get_cmb_power_spectra(
        lmax=LMAX, spectra=["lensed_scalar", "lens_potential"], CMB_unit="muK", raw_cl=True)
    columns = [powers["lensed_scalar"][:, i].copy() for i in range(4)]
    columns.append(powers["lens_potential"][:, 0].copy())
    for column in columns:
        column[:2] = 0.0
    return columns


def listed(settings):
    return ", ".join(f"{name} = {value}" for name, value in settings.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", default="examples/lcdm_cl.txt")
    output = parser.parse_args().output
    columns = spectra()
    with open(output, "w", encoding="ascii") as file:
        file.write("# Angular power spectra C_l, flat LCDM, Planck 2018 base parameters\n")
        file.write("# TT EE BB TE: lensed scalar CMB, thermodynamic temperature, uK^2; PP: lensing potential\n")
        file.write(f"# CAMB {camb.__version__}, scripts/make_lcdm_spectrum.py\n")
        file.write(f"# {listed(PARAMETERS)}\n")
        file.write(f"# {listed(ACCURACY)}, lens_potential_accuracy = {LENS_POTENTIAL_ACCURACY}, "
                   f"lens_output_margin = {LENSING_MARGIN}, AccurateBB, no spline template\n")
        file.write("# l TT EE BB TE PP\n")
        for l in range(LMAX + 1):
            file.write(" ".join([str(l)] + [f"{column[l]:.17g}" for column in columns]) + "\n")


if __name__ == "__main__":
    main()
