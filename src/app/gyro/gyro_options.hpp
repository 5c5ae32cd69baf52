// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include "app/cli/options.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline app {

/// Combinations of fields and radii.
enum class GyroCombination { each, pairs, sum, twice };

/// The boundaries of --boundary.
struct PlaneBoundaries {
  PlaneBoundary x = PlaneBoundary::zero;
  PlaneBoundary y = PlaneBoundary::zero;
};

/// The ends of an axis of --domain.
struct DomainEnds {
  double first = 0;
  double last = 0;  ///< of a periodic axis where it repeats
};
/// The rectangle of --domain.
struct PlaneDomain {
  DomainEnds x{};
  DomainEnds y{};
};

/// The nodes of --targets.
struct GyroTargets {
  bool are_equispaced = false;
  std::int64_t size = 0;  ///< along each axis of OUT; 0: as many as FIELD has
};

/// Throws a UsageError where options of `gyroaverage` contradict each other, or one that is needed
/// is missing, as far as it follows from the options alone.
void check_gyro_options(const GyroaverageOptions& options);

// Error  UsageError.
GyroCombination parse_combination(const std::string& text);
GyroMethod parse_gyro_method(const std::string& text);
PlaneBoundaries parse_boundaries(const std::string& text);
GyroTargets parse_targets(const std::string& text);
/// Nothing where the text is empty.
std::optional<PlaneDomain> parse_domain(const std::string& text);

/// Returns "zero", "periodic" or "mirror".
const char* word_of(PlaneBoundary boundary);
/// Returns the word of --method.
const char* word_of(GyroMethod method);

}  // namespace ringweave::detail::inline app
