// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <string>

#include "ringweave/alm.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

FieldSet::FieldSet(const std::vector<int>& spins) {
  if (spins.empty()) throw UsageError("a transform needs at least one field");
  for (const int spin : spins) {
    if (spin < 0) throw UsageError("spin " + std::to_string(spin) + "; expected 0 or more");
    fields_.push_back({spin, n_components_});
    n_components_ += spin == 0 ? 1 : 2;
    max_spin_ = std::max(max_spin_, spin);
  }
}

}  // namespace ringweave
