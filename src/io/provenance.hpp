// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string>

namespace ringweave {

/// How an output came to be; written into every file (FITS keywords, HDF5 attributes; docs/files.md
/// names them).
struct Provenance {
  std::string creator = "ringweave";
  std::string version;
  std::string date;  ///< ISO 8601, UTC
  std::string command_line;
  std::string config_json;                ///< the used configuration
  std::string input;                      ///< name of the input file, if any
  std::optional<double> fwhm_degrees;     ///< FWHM
  std::optional<std::string> beam;        ///< BEAM_LEG: file of the beam
  std::optional<std::string> method;      ///< SMETHOD: harmonic, ring
  std::optional<double> support_degrees;  ///< SUPPORT: where the kernel is cut
  std::optional<double> kernel_error;     ///< KERNERR: what the cut costs, relative rms
  std::optional<int> lmax;                ///< MAX-LPOL
  std::optional<int> iterations;          ///< NITERALM
  std::optional<std::string> quadrature;  ///< QUADSCHM: none, ring, pixel
  std::optional<std::string> removed;     ///< LREGRESS: none, monopole, dipole
};

/// The keywords that say what was done to the numbers, in FITS headers and HDF5 attributes.
inline constexpr std::array processing_keywords{"FWHM",     "BEAM_LEG", "SMETHOD",
                                                "SUPPORT",  "KERNERR",  "MAX-LPOL",
                                                "NITERALM", "QUADSCHM", "LREGRESS"};

}  // namespace ringweave
