// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "perf_models/estimate.hpp"
#include "perf_models/machine.hpp"

namespace ringweave {

/// The large files of a run.
struct FileWork {
  std::int64_t n_read = 0;
  double read_bytes = 0;  ///< of each
  std::int64_t n_written = 0;
  double written_bytes = 0;  ///< of each
};

/// As if one rank read and wrote them one after the other, as HDF5, the format that is calibrated.
Estimate predict_files(const Machine& machine, const FileWork& work);

}  // namespace ringweave
