// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "perf_models/machine.hpp"
#include "ringweave/times.hpp"

namespace ringweave::detail::inline app {

/// Large files of a run.
struct FileWork {
  std::int64_t n_read = 0;
  double read_bytes = 0;  ///< per file
  std::int64_t n_written = 0;
  double written_bytes = 0;  ///< per file
};

/// Predicts files read and written one after the other by one rank, as HDF5, the calibrated format.
Estimate predict_files(const Machine& machine, const FileWork& work);

}  // namespace ringweave::detail::inline app
