// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "ringweave/convolution.hpp"

namespace ringweave::detail::inline app {

/// The split of a file that `ringweave split --json` wrote: what fixes it, not its parts.
struct SplitFile {
  std::string path;
  double theta_cut = 0;    ///< radians
  std::int64_t l_cut = 0;  ///< of a scalar kernel
  double error = 0;        ///< allowed
  double alpha = 0;        ///< as KernelSplitSpec::alpha
  std::int64_t nside = 0;
  std::vector<double> kernel;  ///< K_l, l = 0..lmax
};

/// Reads a split. Collective. Error  DataError for another file, one without a split, and one of an
/// earlier version, which lacks its nside.
SplitFile read_split_file(Run& run, const std::string& path);

/// Throws a UsageError unless the file splits this kernel, l = 0..lmax, for maps of this nside.
void require_kernel_of(const SplitFile& file, const std::vector<double>& k_l, std::int64_t nside);

/// Throws a UsageError unless the search at the file's support has found its l_cut.
void require_l_cut_of(const SplitFile& file, const KernelSplit& found, double error);

}  // namespace ringweave::detail::inline app
