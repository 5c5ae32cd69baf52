// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

namespace ringweave {

/// How an output came to be; written into every file (FITS keywords, HDF5 attributes; users.md 3.5
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
  std::optional<int> lmax;                ///< MAX-LPOL
  std::optional<int> iterations;          ///< NITERALM
  std::optional<std::string> quadrature;  ///< QUADSCHM: none, ring, pixel
  std::optional<std::string> removed;     ///< LREGRESS: none, monopole, dipole
};

}  // namespace ringweave
