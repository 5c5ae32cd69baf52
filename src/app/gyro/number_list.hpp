// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Returns the numbers of "0.1,0.2,0.4", or the N equally spaced ones of "A:B:N". They may be NaN
/// or infinite. Error  UsageError naming `option`.
std::vector<double> parse_numbers(const std::string& text, const std::string& option);

/// Returns the numbers of a file, which no output may replace: text with one on each line, or
/// FILE:DATASET, a data set of rank 1 of an HDF5 file, which may be left out where there is one.
/// Collective. Error  DataError; UsageError naming `option` for another kind of file.
std::vector<double> numbers_of_file(Run& run, const std::string& name, const std::string& option);

}  // namespace ringweave::detail::inline app
