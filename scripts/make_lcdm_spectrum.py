#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the demo spectra in examples with CAMB (pip install camb; two to four minutes).

lcdm_cl.txt: lensed scalar TT, EE, BB, TE in uK^2 and the lensing potential PP, l = 0..8192.
lcdm_unlensed_cl.txt: unlensed TT, EE, BB, TE, and PP, TP (uK), EP (uK), l = 0..5000.
As C_l without l (l + 1) factors; zero below l = 2. Flat LCDM with the base parameters of Planck 2018
(arXiv:1807.06209, Table 2, TT,TE,EE+lowE+lensing).
"""
import argparse
import pathlib

import camb

LMAX = 8192
LMAX_UNLENSED = 5000
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
    """Returns lensed (TT, EE, BB, TE, PP) and unlensed (TT, EE, BB, TE, PP, TP, EP), each LMAX + 1 values."""
    model = camb.set_params(lmax=LMAX, lens_output_margin=LENSING_MARGIN,
                            lens_potential_accuracy=LENS_POTENTIAL_ACCURACY, **PARAMETERS)
    model.set_accuracy(**ACCURACY)
    # The full range of angles in the lensing integrals: 1e-4 at the highest degrees, 6e-4 in BB at the lowest.
    model.Accuracy.AccurateBB = True
    # CAMB interpolates between degrees with a template of few digits, which leaves noise of 1e-6 at every l.
    model.use_cl_spline_template = False
    powers = camb.get_results(model).get_cmb_power_spectra(
        lmax=LMAX, spectra=["lensed_scalar", "unlensed_scalar", "lens_potential"], CMB_unit="muK", raw_cl=True)

    def columns(of_fields, n_of_potential):
        chosen = [powers[of_fields][:, i] for i in range(4)]
        chosen += [powers["lens_potential"][:, i] for i in range(n_of_potential)]
        return [[0.0, 0.0, *column[2:]] for column in chosen]

    return columns("lensed_scalar", 1), columns("unlensed_scalar", 3)


def listed(settings):
    return ", ".join(f"{name} = {value}" for name, value in settings.items())


def write(path, names, columns, lmax, text, digits):
    with open(path, "w", encoding="ascii") as file:
        file.write("# Angular power spectra C_l, flat LCDM, Planck 2018 base parameters\n")
        file.write(f"# TT EE BB TE: {text}\n")
        file.write(f"# CAMB {camb.__version__}, scripts/make_lcdm_spectrum.py\n")
        file.write(f"# {listed(PARAMETERS)}\n")
        file.write(f"# {listed(ACCURACY)}, lens_potential_accuracy = {LENS_POTENTIAL_ACCURACY}, "
                   f"lens_output_margin = {LENSING_MARGIN}, AccurateBB, no spline template\n")
        file.write(f"# l {names}\n")
        for l in range(lmax + 1):
            file.write(" ".join([str(l)] + [f"{column[l]:.{digits}g}" for column in columns]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="examples", type=pathlib.Path)
    folder = parser.parse_args().folder
    lensed, unlensed = spectra()
    write(folder / "lcdm_cl.txt", "TT EE BB TE PP", lensed, LMAX,
          "lensed scalar CMB, thermodynamic temperature, uK^2; PP: lensing potential", 17)
    write(folder / "lcdm_unlensed_cl.txt", "TT EE BB TE PP TP EP", unlensed, LMAX_UNLENSED,
          "unlensed scalar CMB, thermodynamic temperature, uK^2; P: lensing potential, TP and EP in uK", 8)


if __name__ == "__main__":
    main()
