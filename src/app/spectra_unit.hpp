// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// The unit of spectra, and the factor to it from the spectra of the a_lm as they are.
struct SpectraUnit {
  std::string name;  ///< empty where it is not known
  double factor = 1;
};

/// Returns the unit of the spectra of one or two skies: uK^2 of uK. Of two units of one temperature
/// it is the square of the first, of others the product "K Jy". Says so where the two differ, and
/// warns where only one is known.
SpectraUnit unit_of_spectra(Run& run, const std::vector<std::string>& paths,
                            const std::vector<std::string>& units);

}  // namespace ringweave::detail::inline app
