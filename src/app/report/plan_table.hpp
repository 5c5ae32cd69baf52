// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {

/// Returns "3.2 s +- 10 %".
std::string seconds_text(const Estimate& estimate);

/// Rows of a printed plan: minimum, mean, maximum and sum of a number over ranks. Every member is
/// collective.
class PlanTable {
 public:
  /// Prints the heading.
  explicit PlanTable(Run& run);
  void count(const std::string& name, std::int64_t value);
  void bytes(const std::string& name, std::int64_t value);
  /// Adds a row for each item that any rank has, then the sum, then the seconds it takes.
  void memory(const MemoryEstimate& estimate);

 private:
  void row(const std::string& name, double value, std::string (*text)(double));

  Run& run_;
};

/// Adds bytes and predicted seconds to the report's plan. Collective.
void record_memory(Run& run, const MemoryEstimate& estimate);

/// Into the plan of the report; also said where a plan is asked for. A run of many maps reads and
/// writes during its computation and may hide it. Not collective.
void record_files(Run& run, const FileWork& work);

}  // namespace ringweave::detail::inline app
